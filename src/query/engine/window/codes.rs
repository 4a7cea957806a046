//! Values as numbers that compare as they do.

use polars::prelude::{Column, DataType, PolarsResult};

/// The sign bit, which is flipped so that negative numbers come first.
const SIGN: u64 = 1 << 63;

/// A column of any type, as numbers: equal where the values are equal, smaller where they are smaller.
/// Zeros are equal to each other; NaN equals NaN and is greater than every number.
pub(super) struct Codes {
    /// One for each row; 0 for null.
    pub(super) values: Vec<u64>,
    /// Whether the row is not null.
    pub(super) valid: Vec<bool>,
}

impl Codes {
    /// Reads a column, whose codes compare only with each other. Fails when its type is none of the query's
    /// types.
    pub(super) fn of(column: &Column) -> PolarsResult<Self> {
        let codes = match column.dtype() {
            DataType::Boolean => column.bool()?.iter().map(|it| it.map(u64::from)).unzip_codes(),
            DataType::Float64 => column.f64()?.iter().map(|it| it.map(of_float)).unzip_codes(),
            DataType::String => of_texts(column.str()?.iter()),
            DataType::Null => {
                Self { values: vec![0; column.len()], valid: vec![false; column.len()] }
            }
            _ => {
                let ints = column.to_physical_repr().cast(&DataType::Int64)?;
                ints.i64()?.iter().map(|it| it.map(of_int)).unzip_codes()
            }
        };
        Ok(codes)
    }

    /// Returns the codes of these rows, one after another.
    pub(super) fn in_order(&self, rows: &[usize]) -> Self {
        Self {
            values: rows.iter().map(|row| self.values[*row]).collect(),
            valid: rows.iter().map(|row| self.valid[*row]).collect(),
        }
    }

    /// Returns the code of a row; `None` for null.
    pub(super) fn get(&self, row: usize) -> Option<u64> {
        self.valid[row].then(|| self.values[row])
    }
}

trait UnzipCodes: Iterator<Item = Option<u64>> + Sized {
    fn unzip_codes(self) -> Codes {
        let (values, valid) = self.map(|it| (it.unwrap_or(0), it.is_some())).unzip();
        Codes { values, valid }
    }
}

impl<I: Iterator<Item = Option<u64>>> UnzipCodes for I {}

fn of_int(value: i64) -> u64 {
    value.cast_unsigned() ^ SIGN
}

/// Returns the code of a float.
pub(super) fn of_float(value: f64) -> u64 {
    if value.is_nan() {
        return u64::MAX;
    }
    // The sum turns -0 into 0.
    let bits = (value + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

pub(super) fn to_float(code: u64) -> f64 {
    if code == u64::MAX {
        return f64::NAN;
    }
    f64::from_bits(if code & SIGN == 0 { !code } else { code & !SIGN })
}

/// Numbers the texts by their order, from 0.
fn of_texts<'a>(texts: impl ExactSizeIterator<Item = Option<&'a str>>) -> Codes {
    let n_rows = texts.len();
    let mut sorted = Vec::with_capacity(n_rows);
    sorted.extend(texts.enumerate().filter_map(|(row, text)| text.map(|it| (head(it), it, row))));
    sorted.sort_unstable_by(|left, right| (left.0, left.1).cmp(&(right.0, right.1)));
    let mut codes = Codes { values: vec![0; n_rows], valid: vec![false; n_rows] };
    let mut code = 0;
    let mut before = None;
    for (_, text, row) in sorted {
        if before.replace(text).is_some_and(|it| it != text) {
            code += 1;
        }
        codes.values[row] = code;
        codes.valid[row] = true;
    }
    codes
}

/// Returns the first eight bytes as a number, which decides most comparisons.
fn head(text: &str) -> u64 {
    let mut bytes = [0; 8];
    let n_bytes = text.len().min(8);
    bytes[..n_bytes].copy_from_slice(&text.as_bytes()[..n_bytes]);
    u64::from_be_bytes(bytes)
}
