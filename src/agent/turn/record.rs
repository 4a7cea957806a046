//! What a turn has made and shown: tables, charts, files, code, findings, and what left the machine.

use csv_agent_types::conversation::Finding;
use csv_agent_types::event::{Body, ChartDrawn, FetchedFile};

use crate::egress::Ledger;
use crate::grounding::Grounds;

/// What was made so far.
pub(crate) struct TurnRecord {
    /// The tables sent, in order.
    pub(crate) tables: Vec<TableSent>,
    /// The charts sent.
    pub(crate) charts: Vec<ChartDrawn>,
    /// Files that code at the provider made and that were fetched, in order.
    pub(crate) files: Vec<FetchedFile>,
    /// The code that ran, cell by cell.
    pub(crate) cells: Vec<String>,
    /// What the thresholds found, without the model.
    pub(crate) rated: Vec<Finding>,
    /// What numbers of the answer may come from.
    pub(crate) grounds: Grounds,
    /// What left the machine.
    pub(crate) ledger: Ledger,
    /// The call that ran code last.
    pub(super) last_run: Option<String>,
}

/// A table that was sent.
pub(crate) struct TableSent {
    /// Its logical name.
    pub(crate) name: String,
    /// The call that sent it.
    pub(crate) call_id: String,
}

impl TurnRecord {
    /// Begins with nothing but the grounds that any answer has.
    pub(super) fn new(grounds: Grounds, ledger: Ledger) -> Self {
        TurnRecord {
            tables: Vec::new(),
            charts: Vec::new(),
            files: Vec::new(),
            cells: Vec::new(),
            rated: Vec::new(),
            grounds,
            ledger,
            last_run: None,
        }
    }

    /// Takes down what the user is shown.
    pub(super) fn show(&mut self, body: &Body) {
        match body {
            Body::DataFrame(table) => {
                self.grounds.sent(table);
                let (name, call_id) = (table.logical_name.clone(), table.call_id.clone());
                self.tables.push(TableSent { name, call_id });
            }
            Body::Chart(chart) => {
                self.grounds.result(&chart.data);
                self.charts.push(chart.as_ref().clone());
            }
            _ => {}
        }
    }

    /// Returns the call that sent a table, the last of its name, or else the one that ran code last.
    pub(crate) fn call_of(&self, table: Option<&str>) -> Option<String> {
        let sent = self.tables.iter().rev().find(|it| Some(it.name.as_str()) == table);
        sent.map(|it| &it.call_id).or(self.last_run.as_ref()).cloned()
    }
}
