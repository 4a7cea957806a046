//! A frame: a small table in memory, for output to the user.

use serde_json::{Map, Value};

/// A table that its producer cut to size.
///
/// Cells are JSON values: missing values are null, infinite numbers and NaN the strings `inf`, `-inf` and
/// `NaN` (JSON has no such numbers), whole numbers beyond 2^53 − 1 strings of digits (a JSON reader would
/// round them), dates and times ISO 8601 strings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Unique names, in order.
    pub columns: Vec<String>,
    /// The pandas dtype of each column.
    pub dtypes: Vec<String>,
    /// Rows × columns; at most the requested number of rows.
    pub rows: Vec<Vec<Value>>,
    /// Rows of the whole table, of which `rows` is the beginning.
    pub row_count: u64,
}

impl Frame {
    /// Returns whether the frame lacks rows of the whole table.
    pub fn is_truncated(&self) -> bool {
        (self.rows.len() as u64) < self.row_count
    }

    /// Makes a frame from rows as objects; missing members become null.
    pub fn of_objects(
        columns: Vec<String>,
        dtypes: impl Fn(&str) -> String,
        rows: &[Value],
        row_count: u64,
    ) -> Frame {
        let cell = |row: &Value, column: &String| row.get(column).cloned().unwrap_or_default();
        let cells = |row| columns.iter().map(|it| cell(row, it)).collect();
        Frame {
            dtypes: columns.iter().map(|it| dtypes(it)).collect(),
            rows: rows.iter().map(cells).collect(),
            row_count,
            columns,
        }
    }

    /// Returns the position of a column.
    pub fn index_of(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|it| it == column)
    }

    /// Returns the frame with these columns, in that order; unknown names are left out.
    #[must_use]
    pub fn with_columns(&self, names: &[impl AsRef<str>]) -> Frame {
        let places: Vec<usize> = names.iter().filter_map(|it| self.index_of(it.as_ref())).collect();
        let row = |row: &Vec<Value>| places.iter().map(|at| row[*at].clone()).collect();
        Frame {
            columns: places.iter().map(|at| self.columns[*at].clone()).collect(),
            dtypes: places.iter().map(|at| self.dtypes[*at].clone()).collect(),
            rows: self.rows.iter().map(row).collect(),
            row_count: self.row_count,
        }
    }

    /// Returns whether a column of that name exists and is numeric.
    pub fn is_numeric(&self, column: &str) -> bool {
        self.index_of(column).is_some_and(|at| is_numeric_dtype(&self.dtypes[at]))
    }

    /// Returns the rows as objects, keys in the order of the columns. JSON has no infinite numbers: null.
    pub fn objects(&self) -> Vec<Value> {
        let is_float: Vec<bool> = self.dtypes.iter().map(|it| is_numeric_dtype(it)).collect();
        let is_infinite =
            |it: &Value| it.as_str().is_some_and(|it| ["inf", "-inf", "NaN"].contains(&it));
        let cell = |(cell, is_float): (&Value, &bool)| {
            if *is_float && is_infinite(cell) { Value::Null } else { cell.clone() }
        };
        let object = |row: &Vec<Value>| {
            let cells = row.iter().zip(&is_float).map(cell);
            Value::Object(self.columns.iter().cloned().zip(cells).collect::<Map<_, _>>())
        };
        self.rows.iter().map(object).collect()
    }
}

/// Returns whether a pandas dtype is numeric: `int64`, `Int64`, `float32`, `uint8[pyarrow]`, …
pub fn is_numeric_dtype(dtype: &str) -> bool {
    let dtype = dtype.to_ascii_lowercase();
    ["int", "uint", "float", "double", "decimal"].iter().any(|it| dtype.starts_with(it))
}
