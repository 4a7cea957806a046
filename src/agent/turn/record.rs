//! What a turn has made and shown: tables, charts, files, code and findings, and what left the machine.

use csv_agent_types::conversation::Finding;
use csv_agent_types::event::{Body, ChartDrawn, FetchedFile};

use crate::egress::Ledger;
use crate::grounding::Grounds;

/// The results of a turn so far.
pub(crate) struct TurnRecord {
    /// The tables sent, in order.
    pub(crate) tables: Vec<TableSent>,
    /// The charts sent.
    pub(crate) charts: Vec<ChartDrawn>,
    /// Files made by code at the provider and fetched, in order.
    pub(crate) files: Vec<FetchedFile>,
    /// The code that ran, cell by cell.
    pub(crate) cells: Vec<String>,
    /// Findings of the thresholds, without the model.
    pub(crate) rated: Vec<Finding>,
    /// Sources of the answer's numbers.
    pub(crate) grounds: Grounds,
    /// What left the machine.
    pub(crate) ledger: Ledger,
    /// The last call that ran code.
    pub(super) last_run: Option<String>,
}

/// A table that was sent.
pub(crate) struct TableSent {
    /// Its logical name.
    pub(crate) name: String,
    pub(crate) call_id: String,
    /// The file with all of its rows, within the session's directory.
    pub(crate) file: Option<String>,
}

impl TurnRecord {
    /// Makes an empty record, with only the grounds of any answer.
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

    /// Records what the user is shown.
    pub(super) fn show(&mut self, body: &Body) {
        match body {
            Body::DataFrame(table) => {
                self.grounds.sent(table);
                let (name, call_id) = (table.logical_name.clone(), table.call_id.clone());
                let file = table.artifact.as_ref().map(|it| it.path.clone());
                self.tables.push(TableSent { name, call_id, file });
            }
            Body::Chart(chart) => {
                self.grounds.result(&chart.data);
                self.charts.push(chart.as_ref().clone());
            }
            _ => {}
        }
    }

    /// Returns the call that sent a table, the last of that name, or else the last call that ran code.
    pub(crate) fn call_of(&self, table: Option<&str>) -> Option<String> {
        let sent = self.tables.iter().rev().find(|it| Some(it.name.as_str()) == table);
        sent.map(|it| &it.call_id).or(self.last_run.as_ref()).cloned()
    }
}
