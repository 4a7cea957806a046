//! A column on a terminal: the text of each cell, and the required width.

use std::ops::Range;

use serde_json::Value;

use csv_agent_text::fit;
use csv_agent_types::frame::{Frame, is_numeric_dtype};
use csv_agent_types::limits::TABLE_TTY_LINES_MAX;

use super::moment::MomentFormat;
use super::number::{NumberFormat, is_amount};

/// Width above which a word in a header may be broken.
const HEADER_PIECE_MAX: usize = 12;
/// Width up to which a run of digits keeps a text column from being narrowed.
const DIGITS_KEPT_MAX: usize = 24;
/// Characters examined in a cell. No terminal shows more of one.
const CELL_CHARS_MAX: usize = 4_096;

/// One column, formatted.
pub(crate) struct ColumnLayout {
    /// Its name.
    pub header: String,
    /// The cells of the visible rows, in order; null is empty.
    pub cells: Vec<String>,
    /// Whether its cells are right-aligned.
    pub is_right: bool,
    /// Whether a cell may be cut or wrapped. A number, a time or a truth value may not.
    pub is_text: bool,
    /// Whether a cell is null.
    pub has_nulls: bool,
    /// The rows whose cell is empty text.
    empty_at: Vec<usize>,
}

impl ColumnLayout {
    /// Formats the rows in `shown` of the column at index `at`.
    pub(crate) fn of(frame: &Frame, at: usize, shown: &[Range<usize>]) -> ColumnLayout {
        let dtype = frame.dtypes.get(at).map_or("", String::as_str);
        let all = || frame.rows.iter().filter_map(move |row| row.get(at));
        let picked: Vec<&Value> = shown
            .iter()
            .flat_map(|it| {
                frame.rows[it.clone()].iter().map(move |row| row.get(at).unwrap_or(&Value::Null))
            })
            .collect();
        let format = Format::of(&frame.columns[at], dtype, all(), &picked);
        ColumnLayout {
            header: fit::safe_line(&frame.columns[at]),
            cells: picked.iter().map(|it| format.write(it)).collect(),
            is_right: matches!(format, Format::Number(_) | Format::Amount),
            is_text: matches!(format, Format::Text),
            has_nulls: picked.iter().any(|it| it.is_null()),
            empty_at: (0..picked.len()).filter(|at| picked[*at].as_str() == Some("")).collect(),
        }
    }

    /// Creates the column that represents hidden ones.
    pub(crate) fn mark(n_rows: usize) -> ColumnLayout {
        ColumnLayout {
            header: "…".to_owned(),
            cells: vec!["…".to_owned(); n_rows],
            is_right: false,
            is_text: false,
            has_nulls: false,
            empty_at: Vec::new(),
        }
    }

    /// Returns whether a cell is empty text.
    pub(crate) fn has_empty(&self) -> bool {
        !self.empty_at.is_empty()
    }

    /// Writes `mark` for each empty text.
    pub(crate) fn mark_empty(&mut self, mark: &str) {
        for at in &self.empty_at {
            mark.clone_into(&mut self.cells[*at]);
        }
    }

    /// Returns the width of the widest cell.
    pub(crate) fn content_width(&self) -> usize {
        self.cells.iter().map(|it| fit::width(it)).max().unwrap_or(0)
    }

    /// Returns the width that the column needs within `width`, with its header wrapped.
    pub(crate) fn tight(&self, width: usize) -> usize {
        let lines = fit::wrap(&self.header, width, TABLE_TTY_LINES_MAX);
        let header = lines.iter().map(|it| fit::width(it)).max().unwrap_or(0);
        header.max(self.content_width()).min(width)
    }

    /// Returns the minimum width of the header: within its lines, only long words may be broken.
    pub(crate) fn header_floor(&self) -> usize {
        let width = fit::width(&self.header);
        let piece = fit::longest_piece(&self.header).min(HEADER_PIECE_MAX);
        (piece..width)
            .find(|it| holds(&self.header, *it))
            .unwrap_or(width)
            .min(HEADER_PIECE_MAX.max(piece))
    }

    /// Returns the minimum width of the column, when a text column keeps `text_min` cells.
    pub(crate) fn floor(&self, text_min: usize) -> usize {
        let content = self.content_width();
        if !self.is_text {
            return content.max(self.header_floor()).max(1);
        }
        let digits = self.cells.iter().map(|it| longest_digits(it)).max().unwrap_or(0);
        let kept = text_min.max(digits.min(DIGITS_KEPT_MAX));
        content.max(fit::width(&self.header)).min(kept).max(self.header_floor().min(kept)).max(1)
    }
}

/// Returns whether a header fits in lines of `cells` cells.
fn holds(header: &str, cells: usize) -> bool {
    fit::wrap(header, cells, TABLE_TTY_LINES_MAX).last().is_none_or(|it| !it.ends_with('…'))
}

/// Returns the width of the longest number or date in a text.
fn longest_digits(text: &str) -> usize {
    let is_kept = |it: char| it.is_ascii_digit() || matches!(it, '.' | ',' | ':' | '-' | '+' | '/');
    let runs = text
        .split(|it: char| !is_kept(it))
        .filter(|it| it.contains(|it: char| it.is_ascii_digit()));
    runs.map(str::len).max().unwrap_or(0)
}

/// The format of a column's cells.
enum Format {
    Number(NumberFormat),
    Moment(MomentFormat),
    /// Text that is a number with its unit, unchanged.
    Amount,
    Truth,
    Text,
}

impl Format {
    /// Chooses by the type and by the values: `all` of the column, and the visible ones.
    fn of<'a>(
        name: &str,
        dtype: &str,
        mut all: impl Iterator<Item = &'a Value> + Clone,
        shown: &[&Value],
    ) -> Format {
        let known = || shown.iter().filter(|it| !it.is_null());
        let is_number = |it: &&Value| it.is_number();
        if is_numeric_dtype(dtype) || known().count() > 0 && known().all(is_number) {
            return Format::Number(NumberFormat::of(name, shown.iter().copied()));
        }
        // A text column is shown as written; other types have no written form.
        let is_moment =
            dtype == "object" || dtype.starts_with("datetime") || dtype.starts_with("timestamp");
        if is_moment && let Some(format) = MomentFormat::of(all.clone()) {
            return Format::Moment(format);
        }
        if all.by_ref().any(|it| !it.is_null()) && known().all(|it| it.is_boolean()) {
            return Format::Truth;
        }
        let amounts = known().all(|it| it.as_str().is_some_and(is_amount));
        if amounts && known().count() > 0 { Format::Amount } else { Format::Text }
    }

    fn write(&self, cell: &Value) -> String {
        match (self, cell) {
            (_, Value::Null) => String::new(),
            (Format::Number(format), Value::Number(_)) => format.write(cell),
            (Format::Moment(format), Value::String(text)) => format.write(text),
            (_, Value::String(text)) => safe_head(text),
            (_, other) => safe_head(&other.to_string()),
        }
    }
}

/// Returns the beginning of a text, safe and on one line. A cell may have megabytes.
fn safe_head(text: &str) -> String {
    match text.char_indices().nth(CELL_CHARS_MAX) {
        Some((end, _)) => fit::safe_line(&text[..end]) + "…",
        None => fit::safe_line(text),
    }
}
