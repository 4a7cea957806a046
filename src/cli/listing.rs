//! Rows about the session itself, in the requested format.

use std::io::Write;

use serde_json::Value;

use csv_agent_render::table::{self, TableStyle};
use csv_agent_sink::Format;
use csv_agent_text::sanitize;
use csv_agent_types::frame::Frame;

use super::options::GlobalOptions;

/// Rows about the session: as a table, and as JSON documents.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
    /// For people and for `cut`.
    pub frame: Frame,
    /// One per row or more detailed; `--json` prints them as one array.
    pub documents: Vec<Value>,
}

/// Makes a frame of text and numbers. `numeric` names the columns of numbers.
pub(crate) fn frame(columns: &[&str], numeric: &[&str], rows: Vec<Vec<Value>>) -> Frame {
    let dtype = |it: &&str| if numeric.contains(it) { "int64" } else { "object" };
    Frame {
        columns: columns.iter().map(ToString::to_string).collect(),
        dtypes: columns.iter().map(|it| dtype(it).to_owned()).collect(),
        row_count: rows.len() as u64,
        rows,
    }
}

impl Listing {
    /// Writes the rows to `out`: a table on a terminal, tab-separated lines in a pipe.
    pub(crate) fn write(&self, out: &mut dyn Write, options: &GlobalOptions) -> anyhow::Result<()> {
        self.write_cells(out, options, None)
    }

    /// Writes the rows like [`Listing::write`], but on a terminal never cuts a cell, since its end often
    /// contains the hint.
    pub(crate) fn write_whole(
        &self,
        out: &mut dyn Write,
        options: &GlobalOptions,
    ) -> anyhow::Result<()> {
        self.write_cells(out, options, Some(usize::MAX))
    }

    fn write_cells(
        &self,
        out: &mut dyn Write,
        options: &GlobalOptions,
        lines_max: Option<usize>,
    ) -> anyhow::Result<()> {
        let stdout = options.terminal.stdout;
        match options.format {
            Format::Json if stdout.is_tty => {
                let json = serde_json::to_string_pretty(&self.documents)?;
                writeln!(out, "{}", sanitize::json_for_terminal(&json))?;
            }
            Format::Json => {
                let json = serde_json::to_string(&self.documents)?;
                writeln!(out, "{}", sanitize::json_for_terminal(&json))?;
            }
            Format::Jsonl => {
                for document in &self.documents {
                    writeln!(out, "{}", sanitize::json_for_terminal(&document.to_string()))?;
                }
            }
            Format::Text | Format::Reply if stdout.is_tty => {
                // These rows were requested: none is left out.
                let rows_max = Some(self.frame.rows.len());
                let (width, colour) = (stdout.width, stdout.colour);
                let style = TableStyle { width, colour, rows_max, lines_max };
                writeln!(out, "{}", table::text(&self.frame, &style).text)?;
            }
            Format::Text | Format::Reply => {
                out.write_all(table::delimited(&safe(&self.frame), b'\t').as_bytes())?;
            }
            Format::Csv | Format::Tsv => {
                let delimiter = if options.format == Format::Csv { b',' } else { b'\t' };
                let text = table::delimited(&self.frame, delimiter);
                // Output for programs is exact; output for a terminal cannot control it.
                let text = if stdout.is_tty { sanitize::for_terminal(&text) } else { text };
                out.write_all(text.as_bytes())?;
            }
            Format::Md => out.write_all(table::markdown(&self.frame).as_bytes())?,
        }
        Ok(())
    }
}

/// Names and paths come from untrusted files; output for people is sanitised.
fn safe(frame: &Frame) -> Frame {
    let cell = |it: &Value| match it {
        Value::String(text) => Value::String(sanitize::one_line(text)),
        other => other.clone(),
    };
    Frame {
        columns: frame.columns.iter().map(|it| sanitize::one_line(it)).collect(),
        rows: frame.rows.iter().map(|row| row.iter().map(cell).collect()).collect(),
        ..frame.clone()
    }
}
