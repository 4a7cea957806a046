//! Tables as text: for a terminal, as GitHub Markdown, as CSV and TSV.
//!
//! The first is for reading and fits the width; the others are exact and complete.

mod column;
mod delimited;
pub mod grid;
mod layout;
mod markdown;
pub mod moment;
pub mod number;
mod records;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

use csv_agent_text::{digits::grouped, direction::isolated, fit};
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{TABLE_TTY_LINES_MAX, TABLE_TTY_ROWS_MAX};

use self::column::ColumnLayout;
use self::grid::Grid;

pub use delimited::delimited;
pub use markdown::markdown;

/// Rows from the end of a long table that a terminal shows.
const TAIL_ROWS: usize = 5;
/// Maximum number of rows of a table that has room for multi-line cells.
const TALL_ROWS_MAX: usize = 10;
/// Maximum number of lines for showing a too wide table as records, so that nothing is hidden.
const RECORD_LINES_MAX: usize = 40;
/// Minimum number of columns for a too wide table to be useful.
const COLUMNS_MIN: usize = 3;

/// How a table is formatted for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableStyle {
    /// Cells of a line; `None` for no limit.
    pub width: Option<u16>,
    /// Whether the header is bold and the notes are dim.
    pub colour: bool,
    /// Maximum number of rows to show; `None` for as many as leave room for the answer.
    pub rows_max: Option<usize>,
    /// Maximum number of lines in a cell of a list, whose first column is never empty. `None` for any
    /// other table, where a cell takes as many as leave room for the other rows.
    pub lines_max: Option<usize>,
}

/// A table for a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalTable {
    /// The table and the notes needed to read it, without a final line feed.
    pub text: String,
    /// Number of visible rows.
    pub n_rows: usize,
}

/// Returns the table for a terminal, no line wider than the style allows.
///
/// Numbers, dates and times are written as short as their column allows. The middle of a long table is
/// left out. Of a wide table, the columns that fit are shown and the others are named; where those
/// would say too little, its rows follow one another, one column per line. Cells are made safe.
pub fn text(frame: &Frame, style: &TableStyle) -> TerminalTable {
    let width = style.width.map_or(usize::MAX / 2, usize::from);
    let n_columns = frame.columns.len();
    let shown = rows_shown(frame, style.rows_max.unwrap_or(TABLE_TTY_ROWS_MAX));
    let n_rows = shown.iter().map(ExactSizeIterator::len).sum();
    if n_columns == 0 {
        return TerminalTable { text: fit::cut(" no columns", width).into_owned(), n_rows };
    }
    let n_first = layout::columns_max(width).min(n_columns - 1);
    let mut columns: Vec<ColumnLayout> =
        (0..n_first).map(|at| ColumnLayout::of(frame, at, &shown)).collect();
    columns.push(ColumnLayout::of(frame, n_columns - 1, &shown));
    let chosen = layout::fit(&columns, n_columns, width);
    let is_cut = width < layout::line_width(&chosen.widths);
    let is_short = n_rows == 1 || n_rows * (n_columns + 1) <= RECORD_LINES_MAX;
    let hides = chosen.n_shown() < n_columns;
    if 0 < n_rows && (is_cut || hides && (is_short || chosen.n_shown() < COLUMNS_MIN)) {
        return as_records(frame, style, width);
    }
    let chosen = chosen.within(width);
    as_grid(frame, style, &shown, &mut columns, &chosen, width)
}

/// Returns which rows are shown: all, or the first and the last. If the table continues beyond the
/// available rows, its last rows are not known.
fn rows_shown(frame: &Frame, rows_max: usize) -> [Range<usize>; 2] {
    let n_rows = frame.rows.len();
    if n_rows <= rows_max {
        return [0..n_rows, 0..0];
    }
    if frame.is_truncated() || rows_max < 2 * TAIL_ROWS {
        return [0..rows_max, 0..0];
    }
    [0..rows_max - TAIL_ROWS, n_rows - TAIL_ROWS..n_rows]
}

fn as_grid(
    frame: &Frame,
    style: &TableStyle,
    shown: &[Range<usize>],
    columns: &mut [ColumnLayout],
    chosen: &layout::FittingColumns,
    width: usize,
) -> TerminalTable {
    let n_columns = frame.columns.len();
    let n_rows = shown.iter().map(ExactSizeIterator::len).sum();
    let n_hidden = n_columns - chosen.n_shown();
    let legend = mark_empty(columns);
    let mark = ColumnLayout::mark(n_rows);
    let mut picked: Vec<&ColumnLayout> = columns[..chosen.n_left].iter().collect();
    let mut widths = chosen.widths.clone();
    if chosen.has_last {
        picked.push(&mark);
        picked.extend(columns.last());
        widths.insert(chosen.n_left, 1);
    }
    let gap_at = (n_rows < frame.rows.len()).then(|| shown[0].len());
    let room = if n_rows <= TALL_ROWS_MAX { TABLE_TTY_LINES_MAX } else { 1 };
    let lines_max = style.lines_max.unwrap_or(room);
    // In a list, the first column shows where a row begins.
    let has_rules = style.lines_max.is_none();
    let grid = Grid { columns: picked, widths, lines_max, has_rules, gap_at, colour: style.colour };
    let mut notes: Vec<String> = legend.into_iter().collect();
    if 0 < n_hidden {
        let hidden = &frame.columns[chosen.n_left..chosen.n_left + n_hidden];
        notes.extend(hidden_note(hidden, width));
    }
    TerminalTable { text: grid.draw() + &noted(&notes, width, style.colour), n_rows }
}

fn as_records(frame: &Frame, style: &TableStyle, width: usize) -> TerminalTable {
    let n_columns = records::columns_max(frame.columns.len());
    let rows = match style.rows_max {
        Some(rows_max) => 0..frame.rows.len().min(rows_max),
        None => records::rows(frame.rows.len(), n_columns),
    };
    let shown = [rows.clone(), 0..0];
    let mut columns: Vec<ColumnLayout> =
        (0..n_columns).map(|at| ColumnLayout::of(frame, at, &shown)).collect();
    let mut notes: Vec<String> = mark_empty(&mut columns).into_iter().collect();
    if n_columns < frame.columns.len() {
        notes.extend(hidden_note(&frame.columns[n_columns..], width));
    }
    let lines_max = style.lines_max.unwrap_or(TABLE_TTY_LINES_MAX);
    let text = records::draw(&columns, rows.clone(), width, lines_max, style.colour);
    TerminalTable { text: text + &noted(&notes, width, style.colour), n_rows: rows.len() }
}

/// Marks empty text if there are also nulls, which are blank; returns the explanation.
fn mark_empty(columns: &mut [ColumnLayout]) -> Option<String> {
    if !(columns.iter().any(|it| it.has_nulls) && columns.iter().any(ColumnLayout::has_empty)) {
        return None;
    }
    for column in columns {
        column.mark_empty("\"\"");
    }
    Some("blank: no value · \"\": empty text".to_owned())
}

/// Returns the line under a table of an answer, with its line feed: the table's name, how many of its
/// rows are shown, and where all of them are.
pub fn caption(name: &str, n_rows: u64, n_all: u64, place: Option<&str>, colour: bool) -> String {
    let (dim, plain) = if colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    let place = place.map_or(String::new(), |it| format!(" · all of them in {it}"));
    let (n_rows, n_all) = (grouped(&n_rows.to_string()), grouped(&n_all.to_string()));
    format!("{dim} {name} · {n_rows} of {n_all} rows{place}{plain}\n")
}

/// States how many columns are hidden and, within the line limit of a cell, which.
fn hidden_note(names: &[String], width: usize) -> Vec<String> {
    let columns = if names.len() == 1 { "column" } else { "columns" };
    let n_hidden = grouped(&names.len().to_string());
    let mut lines = vec![format!("{n_hidden} more {columns}:")];
    // More names than fit are not worth their cost: a table may have thousands of columns.
    for (at, name) in names.iter().take(width).enumerate() {
        let comma = if at + 1 < names.len() { "," } else { "" };
        let name = format!("{}{comma}", fit::safe_line(name));
        let n_lines = lines.len();
        let line = lines.last_mut().expect("there is one from the start");
        // One cell precedes each line, and one is reserved for the mark that names are left out.
        if fit::width(line) + fit::width(&name) + 3 <= width {
            *line += " ";
            *line += &name;
        } else if n_lines < TABLE_TTY_LINES_MAX {
            lines.push(fit::cut(&name, width.saturating_sub(2)).into_owned());
        } else {
            *line += "…";
            break;
        }
    }
    lines
}

/// Returns the notes under a table, each on its own line.
fn noted(notes: &[String], width: usize, colour: bool) -> String {
    let (dim, plain) = if colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    let lines =
        notes.iter().flat_map(|it| fit::wrap(it, width.saturating_sub(1), TABLE_TTY_LINES_MAX));
    let lines = lines.map(|it| format!("\n{dim} {}{plain}", isolated(&it)));
    lines.collect::<Vec<_>>().concat()
}

/// Returns a cell as text: null as empty, numbers and truth values as in JSON.
fn plain(cell: &Value) -> Cow<'_, str> {
    match cell {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

#[cfg(test)]
mod tests;
