//! One table of a turn as CSV or TSV. A verdict without a table has its findings as the table.

use std::io::Write;

use csv_agent_render::table;
use csv_agent_text::sanitize;
use csv_agent_types::event::{Body, DataFrame, Event, FindingShown, ReplyBody};
use csv_agent_types::frame::Frame;
use serde_json::json;

use crate::{EventSink, OutputOptions, paths, write};

/// Collects the tables of a turn and writes the requested one when the turn succeeds.
pub(crate) struct RowsSink {
    options: OutputOptions,
    delimiter: u8,
    tables: Vec<DataFrame>,
    out: Box<dyn Write>,
    warn: Box<dyn Write>,
}

/// Returns the position of the requested table: by name (the last of that name), else by number from 1,
/// else the last. `None` when there is no such table.
pub fn chosen<T: AsRef<str>>(names: &[T], wanted: Option<&str>) -> Option<usize> {
    let Some(wanted) = wanted else { return names.len().checked_sub(1) };
    let by_name = names.iter().rposition(|it| it.as_ref() == wanted);
    by_name.or_else(|| {
        let at = wanted.parse::<usize>().ok()?.checked_sub(1)?;
        (at < names.len()).then_some(at)
    })
}

impl RowsSink {
    /// Creates a sink that separates fields with `delimiter`.
    pub(crate) fn new(
        options: OutputOptions,
        delimiter: u8,
        out: Box<dyn Write>,
        warn: Box<dyn Write>,
    ) -> RowsSink {
        RowsSink { options, delimiter, tables: Vec::new(), out, warn }
    }

    fn write(&mut self, reply: &ReplyBody) -> anyhow::Result<()> {
        let has_verdict = reply.assessment.is_some() && self.options.table.is_none();
        if self.tables.is_empty() && has_verdict {
            let text = table::delimited(&findings(&reply.findings), self.delimiter);
            let text = if self.options.is_tty { sanitize::for_terminal(&text) } else { text };
            return write(&mut *self.out, &text);
        }
        let names: Vec<_> = self.tables.iter().map(|it| it.logical_name.as_str()).collect();
        let Some(at) = chosen(&names, self.options.table.as_deref()) else { return Ok(()) };
        let table = &self.tables[at];
        let text = table::delimited(&table.frame(), self.delimiter);
        let text = if self.options.is_tty { sanitize::for_terminal(&text) } else { text };
        write(&mut *self.out, &text)?;
        if !table.truncated {
            return Ok(());
        }
        let rest = match &table.artifact {
            Some(artifact) => {
                format!("; all of them are in {}", paths::shown(&self.options, &artifact.path))
            }
            None => String::new(),
        };
        let name = sanitize::one_line(&table.logical_name);
        let (n_rows, n_all) = (table.rows_emitted, table.row_count);
        write(&mut *self.warn, &format!("warning: `{name}`: {n_rows} of {n_all} rows{rest}\n"))
    }
}

impl EventSink for RowsSink {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        match &event.body {
            Body::DataFrame(table) => self.tables.push(table.clone()),
            Body::Reply(reply) => self.write(reply)?,
            _ => {}
        }
        Ok(())
    }
}

fn findings(findings: &[FindingShown]) -> Frame {
    let columns = ["severity", "message", "dataset", "column", "file", "line"];
    let row = |it: &FindingShown| {
        let of = &it.finding;
        let severity = of.severity.name();
        vec![
            json!(severity),
            json!(of.message),
            json!(of.dataset),
            json!(of.column),
            json!(it.source_file),
            json!(it.source_line),
        ]
    };
    let rows: Vec<_> = findings.iter().map(row).collect();
    Frame {
        columns: columns.map(str::to_owned).to_vec(),
        dtypes: columns.map(|_| "object".to_owned()).to_vec(),
        row_count: rows.len() as u64,
        rows,
    }
}
