//! The result of a statement, as far as a call returns it: all columns, and the first rows.

use serde_json::Value;

use csv_agent_types::frame::is_numeric_dtype;

use crate::transcript::Done;

/// The first rows of a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ResultHead {
    /// One object for each row.
    pub head: Vec<Value>,
    /// In the order of the statement.
    pub columns: Vec<String>,
    dtypes: Value,
    /// How many rows the result has.
    pub n_rows: u64,
}

impl ResultHead {
    /// Reads the output of a call.
    pub(crate) fn of(done: &Done) -> ResultHead {
        let output = &done.output;
        let text = |it: &Value| it.as_str().map(str::to_owned);
        ResultHead {
            head: output["head"].as_array().cloned().unwrap_or_default(),
            columns: output["columns"].as_array().into_iter().flatten().filter_map(text).collect(),
            dtypes: output["dtypes"].clone(),
            n_rows: output["row_count"].as_u64().unwrap_or_default(),
        }
    }

    /// Returns whether the first rows are all rows.
    pub(crate) fn is_complete(&self) -> bool {
        self.head.len() as u64 == self.n_rows
    }

    /// Returns how many values it has.
    pub(crate) fn n_cells(&self) -> u64 {
        self.n_rows * self.columns.len() as u64
    }

    /// Returns the type of a column.
    pub(crate) fn dtype(&self, column: &str) -> &str {
        self.dtypes[column].as_str().unwrap_or_default()
    }

    pub(crate) fn is_number(&self, column: &str) -> bool {
        is_numeric_dtype(self.dtype(column))
    }

    /// Returns the fractions in the first rows.
    pub(crate) fn fractions(&self) -> impl Iterator<Item = f64> {
        let columns = self.columns.iter().filter(|it| self.dtype(it).starts_with("float"));
        columns.flat_map(|it| self.head.iter().filter_map(|row| row[it.as_str()].as_f64()))
    }
}

/// Returns a cell as a number.
pub(crate) fn number(row: &Value, column: &str) -> Option<f64> {
    row[column].as_f64()
}
