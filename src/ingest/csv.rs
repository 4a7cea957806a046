//! A dataset as CSV, for code that runs where its Parquet file cannot be read.
//!
//! The file is decoded in batches and written continuously, so memory use does not depend on its size.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Float64Type, Int64Type, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, StringViewArray};
use arrow_schema::{DataType, TimeUnit};
use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time};

use csv_agent_text::delimited::delimited_field;
use csv_agent_types::limits::CSV_BATCH_ROWS_MAX;
use csv_agent_types::status::Failure;

use super::from_parquet::guard;
use super::stored::Stored;

/// Bytes to collect before a write.
const CHUNK_BYTES: usize = 256 * 1024;

/// Writes the dataset at `parquet` as CSV: a line of names, then one line per row.
///
/// Lines end with a line feed; cells are separated by `,` and quoted where necessary. No value is
/// rounded or cut:
/// - null is an empty field, empty text is `""`. Where a row has only one cell, null is `""` too:
///   readers skip an empty line;
/// - floats have the fewest digits that identify them, always a point, and an exponent where they are
///   very large or small: `2.0`, `0.1`, `1.0e+22`, `NaN`, `inf`, `-inf`;
/// - truth values are `true` and `false`;
/// - dates and times are in ISO 8601: `2024-02-29`, `2024-02-29T09:30:00`, `09:30:00`, and instants end
///   with `Z`. All values of a column have as many decimals of a second (0, 3 or 6) as its most precise
///   one needs, because readers infer the format of all from the first;
/// - text is verbatim, bytes are hexadecimal, lists, structs and maps are JSON, as stored in the
///   dataset.
///
/// Returns the number of bytes written.
///
/// # Errors
///
/// Fails when the file is missing or damaged, when `into` cannot be written, and with
/// `FailureKind::Input` when the CSV would exceed `bytes_max` bytes.
pub fn csv_of(
    parquet: &Path,
    into: &mut (dyn Write + Send),
    bytes_max: u64,
) -> anyhow::Result<u64> {
    guard::run(|| write(parquet, CsvOutput { into, n_bytes: 0, bytes_max }))
}

fn write(parquet: &Path, mut output: CsvOutput<'_>) -> anyhow::Result<u64> {
    let table = Stored::open(parquet)?;
    let fields = table.metadata.schema().fields();
    let is_alone = fields.len() == 1;
    let mut text = String::new();
    for (at, field) in fields.iter().enumerate() {
        text.push_str(if at == 0 { "" } else { "," });
        delimited_field(Some(field.name()), is_alone, ',', &mut text);
    }
    text.push('\n');
    let digits = digits_of_columns(&table)?;
    for batch in table.batches(None, CSV_BATCH_ROWS_MAX) {
        let batch = batch?;
        let columns = batch.columns().iter().zip(&digits);
        let columns: Vec<ColumnValues<'_>> = columns
            .map(|(array, digits)| ColumnValues::of(array, *digits))
            .collect::<Result<_, _>>()?;
        for row in 0..batch.num_rows() {
            for (at, column) in columns.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                column.write(row, is_alone, &mut text)?;
            }
            text.push('\n');
            if CHUNK_BYTES <= text.len() {
                output.put(&text)?;
                text.clear();
            }
        }
    }
    output.put(&text)?;
    Ok(output.n_bytes)
}

/// The output and its byte count.
struct CsvOutput<'a> {
    into: &'a mut (dyn Write + Send),
    n_bytes: u64,
    bytes_max: u64,
}

impl CsvOutput<'_> {
    fn put(&mut self, text: &str) -> anyhow::Result<()> {
        self.n_bytes += text.len() as u64;
        if self.bytes_max < self.n_bytes {
            let message = format!("as CSV it has more than {} bytes, the limit", self.bytes_max);
            let hint = "ingest a part of it: fewer rows, or only the columns that you need";
            return Err(Failure::input(message).hint(hint).into());
        }
        self.into.write_all(text.as_bytes()).context("cannot write the CSV")
    }
}

/// Returns how many decimals of a second each column needs; 0 where it has no seconds.
fn digits_of_columns(table: &Stored) -> anyhow::Result<Vec<usize>> {
    let fields = table.metadata.schema().fields();
    let has_seconds = |at: &usize| {
        matches!(fields[*at].data_type(), DataType::Timestamp(..) | DataType::Time64(_))
    };
    let places: Vec<usize> = (0..fields.len()).filter(has_seconds).collect();
    let mut digits = vec![0; fields.len()];
    if places.is_empty() {
        return Ok(digits);
    }
    for batch in table.batches(Some(places.clone()), CSV_BATCH_ROWS_MAX) {
        for (at, array) in places.iter().zip(batch?.columns()) {
            digits[*at] = digits[*at].max(ColumnValues::of(array, 0)?.digits());
        }
    }
    Ok(digits)
}

/// The values of one column of a batch. Datasets have few types.
enum ColumnValues<'a> {
    Bool(&'a BooleanArray),
    Int(&'a PrimitiveArray<Int64Type>),
    Float(&'a PrimitiveArray<Float64Type>),
    Date(&'a PrimitiveArray<Date32Type>),
    Moment { values: &'a PrimitiveArray<TimestampMicrosecondType>, is_instant: bool, digits: usize },
    Time { values: &'a PrimitiveArray<Time64MicrosecondType>, digits: usize },
    Text(&'a StringViewArray),
}

impl<'a> ColumnValues<'a> {
    fn of(array: &'a ArrayRef, digits: usize) -> anyhow::Result<Self> {
        Ok(match array.data_type() {
            DataType::Boolean => ColumnValues::Bool(array.as_boolean()),
            DataType::Int64 => ColumnValues::Int(array.as_primitive()),
            DataType::Float64 => ColumnValues::Float(array.as_primitive()),
            DataType::Date32 => ColumnValues::Date(array.as_primitive()),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => ColumnValues::Moment {
                values: array.as_primitive(),
                is_instant: zone.is_some(),
                digits,
            },
            DataType::Time64(TimeUnit::Microsecond) => {
                ColumnValues::Time { values: array.as_primitive(), digits }
            }
            DataType::Utf8View => ColumnValues::Text(array.as_string_view()),
            other => {
                bail!("a dataset cannot have a column of type {other}; ingest its source again")
            }
        })
    }

    fn digits(&self) -> usize {
        match self {
            ColumnValues::Moment { values, .. } => digits_of(values),
            ColumnValues::Time { values, .. } => digits_of(values),
            _ => 0,
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            ColumnValues::Bool(values) => values.is_null(row),
            ColumnValues::Int(values) => values.is_null(row),
            ColumnValues::Float(values) => values.is_null(row),
            ColumnValues::Date(values) => values.is_null(row),
            ColumnValues::Moment { values, .. } => values.is_null(row),
            ColumnValues::Time { values, .. } => values.is_null(row),
            ColumnValues::Text(values) => values.is_null(row),
        }
    }

    fn write(&self, row: usize, is_alone: bool, out: &mut String) -> anyhow::Result<()> {
        if self.is_null(row) {
            delimited_field(None, is_alone, ',', out);
            return Ok(());
        }
        match self {
            ColumnValues::Bool(values) => {
                out.push_str(if values.value(row) { "true" } else { "false" });
            }
            ColumnValues::Int(values) => write!(out, "{}", values.value(row))?,
            ColumnValues::Float(values) => write_float(values.value(row), out),
            ColumnValues::Date(values) => {
                let days = values.value(row);
                let span = SignedDuration::from_hours(i64::from(days) * 24);
                let day = Date::constant(1970, 1, 1).checked_add(span);
                write!(
                    out,
                    "{}",
                    day.with_context(|| format!("{days} days since 1970 is not a valid date"))?
                )?;
            }
            ColumnValues::Moment { values, is_instant, digits } => {
                // Not `Timestamp`: its range ends one day before the last four-digit year does.
                let since = SignedDuration::from_micros(values.value(row));
                let moment = DateTime::constant(1970, 1, 1, 0, 0, 0, 0).checked_add(since)?;
                write!(out, "{moment:.digits$}{}", if *is_instant { "Z" } else { "" })?;
            }
            ColumnValues::Time { values, digits } => {
                let since = SignedDuration::from_micros(values.value(row));
                write!(out, "{:.digits$}", Time::midnight().checked_add(since)?)?;
            }
            ColumnValues::Text(values) => {
                delimited_field(Some(values.value(row)), is_alone, ',', out);
            }
        }
        Ok(())
    }
}

fn digits_of<T: ArrowPrimitiveType<Native = i64>>(values: &PrimitiveArray<T>) -> usize {
    let digits = |micros: i64| match micros {
        it if it % 1_000_000 == 0 => 0,
        it if it % 1_000 == 0 => 3,
        _ => 6,
    };
    values.iter().flatten().map(digits).max().unwrap_or(0)
}

/// A point prevents a column of floats from being read as whole numbers, or as identifiers such as
/// `1e5`.
fn write_float(value: f64, out: &mut String) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(value);
    match text.find('e').filter(|_| !text.contains('.')) {
        Some(at) => out.extend([&text[..at], ".0", &text[at..]]),
        None => out.push_str(text),
    }
}
