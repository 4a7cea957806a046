//! One row after the other, one column per line: for a table wider than the terminal.

use std::ops::Range;

use csv_agent_text::{direction::isolated, fit};
use csv_agent_types::limits::TABLE_TTY_LINES_MAX;

use super::column::ColumnLayout;

/// Limit on the lines of all records together, when more than one record is shown.
const LINES_MAX: usize = 100;
/// Cells of a bar with a space on each side.
const BAR: usize = 3;
/// Limit on the columns of a record.
const COLUMNS_MAX: usize = 100;

/// Returns how many columns of a frame are shown in records.
pub(super) fn columns_max(n_columns: usize) -> usize {
    n_columns.min(COLUMNS_MAX)
}

/// Returns which rows are shown as records: of the first `n_rows`, as many as fit the screen.
pub(super) fn rows(n_rows: usize, n_columns: usize) -> Range<usize> {
    0..n_rows.min((LINES_MAX / (columns_max(n_columns) + 1)).max(1))
}

/// Returns the rows in `columns`, each as lines of `name │ value`; a value has at most `lines_max`.
pub(super) fn draw(
    columns: &[ColumnLayout],
    rows: Range<usize>,
    width: usize,
    lines_max: usize,
    colour: bool,
) -> String {
    // The value gets half of the line, or more if a number or a date in it needs that to remain whole.
    let whole = columns.iter().filter(|it| !it.is_text).flat_map(|it| &it.cells);
    let whole = whole.map(|it| fit::longest_piece(it)).max().unwrap_or(0);
    let room = width.saturating_sub(BAR);
    let names = columns.iter().map(|it| fit::width(&it.header)).max().unwrap_or(0);
    let names = names.min((room / 2).min(room.saturating_sub(whole)).max(1));
    let room = room.saturating_sub(names).max(1);
    let (bold, plain) = if colour { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let mut lines = Vec::new();
    for row in rows {
        let rule = "─".repeat(names + 1);
        let title = format!(" {}", row + 1);
        lines.push(fit::cut(&format!("{rule}┬{title}"), width).into_owned());
        for column in columns {
            let text = column.cells.get(row).map_or("", String::as_str);
            let values = fit::wrap(text, room, lines_max);
            let headers = fit::wrap(&column.header, names, TABLE_TTY_LINES_MAX);
            for at in 0..values.len().max(headers.len()) {
                let header = headers.get(at).map_or("", String::as_str);
                let gap = " ".repeat(names.saturating_sub(fit::width(header)));
                let value = isolated(values.get(at).map_or("", String::as_str));
                let header = match header {
                    "" => String::new(),
                    name => format!("{bold}{}{plain}", isolated(name)),
                };
                lines.push(format!("{header}{gap} │ {value}").trim_end().to_owned());
            }
        }
    }
    lines.join("\n")
}
