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
    /// Columns in all.
    n_columns: usize,
}

impl TableView {
    /// Reads the table of a result as models get it; None where there is none.
    pub(crate) fn of_result(result: &Value) -> Option<TableView> {
        let head = result["head"].as_array()?;
        let names = result["columns"].as_array()?.iter();
        let columns: Vec<String> = names.filter_map(|it| it.as_str().map(str::to_owned)).collect();
        let dtypes = &result["dtypes"];
        let dtype = |it: &str| dtypes[it].as_str().unwrap_or_default().to_owned();
        let n_columns = result["column_count"].as_u64().map_or(columns.len(), to_usize);
        let row_count = result["row_count"].as_u64().unwrap_or(head.len() as u64);
        let frame = Frame::of_objects(columns, dtype, head, row_count);
        Some(TableView { frame, n_columns })
    }

    /// Returns the first rows of a table that a turn sent, as many as fit.
    pub(crate) fn of_sent(table: &DataFrame) -> TableView {
        let mut frame = table.frame();
        let mut n_bytes = 0;
        let fit = frame.rows.iter().take_while(|it| {
            n_bytes += json!(it).to_string().len();
            n_bytes <= CLIENT_RESULT_BYTES_MAX
        });
        let n_rows = fit.count();
        frame.rows.truncate(n_rows);
        let n_columns = frame.columns.len();
        TableView { frame, n_columns }
    }

    /// Returns whether rows or columns are missing.
    pub(crate) fn is_cut(&self) -> bool {
        self.frame.is_truncated() || self.frame.columns.len() < self.n_columns
    }

    /// Returns a sentence on its size.
    pub(crate) fn size(&self) -> String {
        let (rows, n_shown) = (self.frame.row_count, self.frame.rows.len());
        let word = if rows == 1 { "row" } else { "rows" };
        if self.frame.is_truncated() {
            format!("The first {n_shown} of {rows} {word}:")
        } else {
            format!("{rows} {word}:")
        }
    }

    /// Returns it as a table in Markdown.
    pub(crate) fn text(&self) -> String {
        if self.frame.columns.is_empty() { String::new() } else { markdown(&self.frame) }
    }

    /// Adds it to the structured form of a result.
    pub(crate) fn add_to(&self, structured: &mut Map<String, Value>) {
        let Frame { columns, dtypes, rows, row_count } = &self.frame;
        let column = |(name, dtype): (&String, &String)| json!({"name": name, "type": dtype});
        let columns: Vec<Value> = columns.iter().zip(dtypes).map(column).collect();
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

/// Returns a cell as programs read it exactly: many read whole numbers beyond 2⁵³ with other digits.
fn exact(cell: &Value) -> Value {
    const EXACT_MAX: u64 = 1 << 53;
    let is_long = cell.as_i64().is_some_and(|it| EXACT_MAX < it.unsigned_abs())
        || cell.as_u64().is_some_and(|it| EXACT_MAX < it);
    if is_long { cell.to_string().into() } else { cell.clone() }
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
        let view = TableView::of_result(&result).unwrap();
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
