//! A table in a result: its columns with types, its rows as lists, and how many there are in all.

use serde_json::{Map, Value, json};

use csv_agent_render::table::markdown;
use csv_agent_types::event::DataFrame;
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::CLIENT_RESULT_BYTES_MAX;

/// A table, or its first rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TableView {
    /// The rows that are shown.
    frame: Frame,
    n_columns: usize,
    /// Whether the end of a cell is missing.
    has_cut_cells: bool,
}

/// Bytes of the columns of a table that a turn sent.
const HEADER_BYTES_MAX: usize = CLIENT_RESULT_BYTES_MAX / 3;
/// Characters of a cell.
const CELL_CHARS_MAX: usize = 1_024;
/// Characters at which Python cuts cells.
const CUT_AT: [usize; 6] = [1_024, 200, 80, 60, 40, 30];

impl TableView {
    /// Reads the table of a result as models get it, with the whole of it if that was sent; None where there is none.
    pub(crate) fn of_result(
        result: &Value,
        whole: Option<&DataFrame>,
        is_python: bool,
    ) -> Option<TableView> {
        let head = result["head"].as_array()?;
        let names = result["columns"].as_array()?.iter();
        let columns: Vec<String> = names.filter_map(|it| it.as_str().map(str::to_owned)).collect();
        let dtypes = &result["dtypes"];
        let dtype = |it: &str| dtypes[it].as_str().unwrap_or_default().to_owned();
        let n_columns = result["column_count"].as_u64().map_or(columns.len(), to_usize);
        let row_count = result["row_count"].as_u64().unwrap_or(head.len() as u64);
        let frame = Frame::of_objects(columns, dtype, head, row_count);
        let whole = whole.map(DataFrame::frame);
        let is_cut = |(row, column, cell): (usize, usize, &str)| {
            let Some(stem) = cell.strip_suffix('…') else { return false };
            let n_chars = || cell.chars().count();
            match &whole {
                Some(whole) => {
                    let place = whole.index_of(&frame.columns[column]);
                    let cell = place.and_then(|it| whole.rows.get(row)?.get(it)?.as_str());
                    cell.is_some_and(|it| {
                        it.starts_with(stem) && stem.len() + '…'.len_utf8() < it.len()
                    })
                }
                None if is_python => CUT_AT.contains(&n_chars()),
                // SQL counts wide characters twice.
                None => CUT_AT[5] / 2 <= n_chars(),
            }
        };
        let has_cut_cells = texts(&frame).any(is_cut);
        Some(TableView { frame, n_columns, has_cut_cells })
    }

    /// Returns the first rows of a table that a turn sent, as many as fit.
    pub(crate) fn of_sent(table: &DataFrame) -> TableView {
        let mut frame = table.frame();
        let mut has_cut_cells = false;
        for cell in frame.rows.iter_mut().flatten() {
            if let Value::String(text) = cell
                && let Some((at, _)) = text.char_indices().nth(CELL_CHARS_MAX)
            {
                text.truncate(at);
                text.pop();
                text.push('…');
                has_cut_cells = true;
            }
        }
        let n_columns = frame.columns.len();
        // Columns and rows share the room.
        let mut n_bytes = 0;
        let fit = frame.columns.iter().zip(&frame.dtypes).take_while(|it| {
            n_bytes += column(it.0, it.1).to_string().len();
            n_bytes <= HEADER_BYTES_MAX
        });
        let n_fit = fit.count();
        if n_fit < n_columns {
            frame = frame.with_columns(&frame.columns[..n_fit]);
        }
        let fit = frame.rows.iter().take_while(|it| {
            n_bytes += json!(it).to_string().len();
            n_bytes <= CLIENT_RESULT_BYTES_MAX
        });
        let n_rows = fit.count();
        frame.rows.truncate(n_rows);
        TableView { frame, n_columns, has_cut_cells }
    }

    /// Returns whether rows, columns or the ends of cells are missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.lacks_rows() || self.frame.columns.len() < self.n_columns || self.has_cut_cells
    }

    /// Returns whether rows are missing.
    pub(crate) fn lacks_rows(&self) -> bool {
        self.frame.is_truncated()
    }

    /// Returns whether the ends of cells are missing.
    pub(crate) fn has_cut_cells(&self) -> bool {
        self.has_cut_cells
    }

    /// Returns a sentence on its size.
    pub(crate) fn size(&self) -> String {
        let rows = rows_in_words(self.frame.row_count);
        let n_columns = self.frame.columns.len();
        let columns = if n_columns < self.n_columns {
            format!(", {n_columns} of {} columns", self.n_columns)
        } else {
            String::new()
        };
        if self.lacks_rows() {
            format!("The first {} of {rows}{columns}:", self.frame.rows.len())
        } else {
            format!("{rows}{columns}:")
        }
    }

    /// Returns it as a table in Markdown.
    pub(crate) fn text(&self) -> String {
        if self.frame.columns.is_empty() { String::new() } else { markdown(&self.frame) }
    }

    /// Adds it to the structured form of a result.
    pub(crate) fn add_to(&self, structured: &mut Map<String, Value>) {
        let Frame { columns, dtypes, rows, row_count } = &self.frame;
        let columns: Vec<Value> = columns.iter().zip(dtypes).map(|it| column(it.0, it.1)).collect();
        structured.insert("columns".into(), columns.into());
        let rows = rows.iter().map(|row| row.iter().map(exact).collect::<Vec<_>>());
        structured.insert("rows".into(), json!(rows.collect::<Vec<_>>()));
        structured.insert("rows_total".into(), json!(row_count));
        structured.insert("truncated".into(), self.is_cut().into());
        if self.frame.columns.len() < self.n_columns {
            structured.insert("columns_total".into(), self.n_columns.into());
        }
    }

    /// Returns the rows in the form in which records of what left the machine count them.
    pub(crate) fn as_sent(&self) -> String {
        json!({"head": self.frame.objects()}).to_string()
    }
}

fn column(name: &str, dtype: &str) -> Value {
    json!({"name": name, "type": dtype})
}

/// Returns a cell as programs read it exactly: many read whole numbers beyond 2⁵³ with other digits.
fn exact(cell: &Value) -> Value {
    const EXACT_MAX: u64 = 1 << 53;
    let is_long = cell.as_i64().is_some_and(|it| EXACT_MAX < it.unsigned_abs())
        || cell.as_u64().is_some_and(|it| EXACT_MAX < it);
    if is_long { cell.to_string().into() } else { cell.clone() }
}

/// Returns the texts of a frame, each with its row and its column.
fn texts(frame: &Frame) -> impl Iterator<Item = (usize, usize, &str)> {
    frame.rows.iter().enumerate().flat_map(|(row, cells)| {
        let texts = cells.iter().enumerate();
        texts.filter_map(move |(column, it)| Some((row, column, it.as_str()?)))
    })
}

pub(crate) fn rows_in_words(n_rows: u64) -> String {
    if n_rows == 1 { "1 row".to_owned() } else { format!("{n_rows} rows") }
}

/// Estimates the bytes of a whole table as CSV from the rows that were sent; `parquet` are those of its file.
pub(crate) fn csv_bytes(table: &DataFrame, parquet: u64) -> u64 {
    let frame = table.frame();
    let of_cell = |it: &Value| match it {
        Value::Null => 1,
        Value::String(text) => text.len() as u64 + 1,
        other => other.to_string().len() as u64 + 1,
    };
    let n_bytes: u64 = frame.rows.iter().flatten().map(of_cell).sum();
    let n_rows = frame.rows.len() as u64;
    if n_rows == table.row_count {
        return n_bytes;
    }
    // Rows that follow may be longer.
    let expected = n_bytes.checked_div(n_rows).unwrap_or_default().saturating_mul(table.row_count);
    expected.max(parquet)
}

fn to_usize(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::TableView;

    #[test]
    fn whole_numbers_keep_their_digits() {
        let result = json!({"kind": "dataframe", "columns": ["id"], "dtypes": {"id": "int64"},
            "head": [{"id": 9_007_199_254_740_993_i64}, {"id": 7}], "row_count": 5});
        let view = TableView::of_result(&result, None, false).unwrap();
        let mut structured = Map::new();
        view.add_to(&mut structured);
        assert_eq!(structured["rows"], json!([["9007199254740993"], [7]]));
        assert_eq!(
            (&structured["rows_total"], &structured["truncated"]),
            (&json!(5), &json!(true))
        );
        assert!(view.text().contains("9007199254740993"));
        assert_eq!(view.size(), "The first 2 of 5 rows:");
    }
}
