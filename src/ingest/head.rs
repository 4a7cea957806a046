//! The first rows of a Parquet file as a frame; the only module that uses polars here.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, ensure};
use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Span};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use polars::prelude::{AnyValue, Column, DataType, ParquetReader, SerReader, TimeUnit};
use serde_json::Value;

use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{DATASET_GROUP_BYTES_MAX, HEAD_BYTES_MAX, PARQUET_FOOTER_BYTES_MAX};
use csv_agent_types::status::Failure;

use super::from_parquet::guard;
use super::from_parquet::pages::Pages;
use super::stored::measure_pages;
use crate::stored::is_whole;

/// The number of an encoding.
const DELTA_BYTE_ARRAY: i64 = 7;
/// Whole numbers beyond this become strings: a JSON reader would round them.
const JSON_INT_MAX: u64 = (1 << 53) - 1;

/// Reads the first `n_rows` of the Parquet file at `path`: `n_rows × columns` cells, fewer rows when
/// the file has fewer. Only the row groups that contain them are read.
///
/// # Errors
///
/// Fails when the file is missing or cannot be read.
pub fn head(path: &Path, n_rows: usize) -> anyhow::Result<Frame> {
    let doing = || format!("cannot read {}", path.display());
    guard::run(|| read(path, 0, n_rows)).with_context(doing)
}

/// Reads `n_rows` rows from row `first` on, as [`head`] does.
///
/// # Errors
///
/// Fails as [`head`] does.
pub fn rows(path: &Path, first: usize, n_rows: usize) -> anyhow::Result<Frame> {
    let doing = || format!("cannot read {}", path.display());
    guard::run(|| read(path, first, n_rows)).with_context(doing)
}

fn read(path: &Path, first: usize, n_rows: usize) -> anyhow::Result<Frame> {
    let file = File::open(path)?;
    measure(&file, first, n_rows)?;
    let mut reader = ParquetReader::new(file);
    let row_count = reader.num_rows()? as u64;
    let table = reader.with_slice(Some((first, n_rows))).finish()?;
    let mut room = HEAD_BYTES_MAX;
    let columns: Vec<Vec<Value>> =
        table.columns().iter().map(|it| cells(it, &mut room)).collect::<anyhow::Result<_>>()?;
    let n_rows = columns.first().map_or(0, Vec::len);
    let mut rows: Vec<Vec<Value>> =
        (0..n_rows).map(|_| Vec::with_capacity(columns.len())).collect();
    for column in columns {
        rows.iter_mut().zip(column).for_each(|(row, cell)| row.push(cell));
    }
    Ok(Frame {
        columns: table.columns().iter().map(|it| it.name().to_string()).collect(),
        dtypes: table.columns().iter().map(|it| pandas_dtype(it.dtype())).collect(),
        rows,
        row_count,
    })
}

/// Requires that the row groups with these rows are within the memory limits of a dataset.
fn measure(file: &File, first: usize, n_rows: usize) -> anyhow::Result<()> {
    is_whole(file, PARQUET_FOOTER_BYTES_MAX)?;
    let n_bytes = file.metadata()?.len();
    let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::new())?;
    let mut n_before = 0;
    for group in metadata.metadata().row_groups() {
        if first.saturating_add(n_rows) as u64 <= n_before {
            break;
        }
        n_before += u64::try_from(group.num_rows()).context("a row group has no number of rows")?;
        if n_before <= first as u64 {
            continue;
        }
        let mut group_bytes = 0_u64;
        for chunk in group.columns() {
            let found =
                measure_pages(&mut Pages::of(file, n_bytes, chunk), group.num_rows(), |page| {
                    // Its texts can be longer than their page, and neither we nor PyArrow write it.
                    ensure!(
                        page.encoding != Some(DELTA_BYTE_ARRAY),
                        "a page has an encoding that no dataset uses"
                    );
                    Ok(())
                });
            group_bytes +=
                found.with_context(|| format!("column `{}`", chunk.column_path().string()))?;
        }
        ensure!(
            group_bytes <= DATASET_GROUP_BYTES_MAX,
            "a row group has {group_bytes} bytes; the limit is {DATASET_GROUP_BYTES_MAX} bytes"
        );
    }
    Ok(())
}

/// Returns the pandas dtype of a column type.
fn pandas_dtype(dtype: &DataType) -> String {
    match dtype {
        DataType::Boolean => "bool".to_owned(),
        DataType::Int64 => "int64".to_owned(),
        DataType::Float64 => "float64".to_owned(),
        DataType::String => "str".to_owned(),
        DataType::Datetime(_, None) => "datetime64[us]".to_owned(),
        DataType::Datetime(_, Some(zone)) => format!("datetime64[us, {zone}]"),
        // Dates and times of day are Python objects in pandas.
        DataType::Date | DataType::Time => "object".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the values of a column. Many rows may refer to one long dictionary text; `room` limits the
/// total.
fn cells(column: &Column, room: &mut usize) -> anyhow::Result<Vec<Value>> {
    if *column.dtype() == DataType::String {
        for row in 0..column.len() {
            let n_bytes = column.get(row)?.get_str().map_or(0, str::len);
            *room = room.checked_sub(n_bytes).ok_or_else(|| {
                let message = format!("these rows have more than {HEAD_BYTES_MAX} bytes of text");
                Failure::input(message).hint("ask for fewer rows")
            })?;
        }
    }
    (0..column.len()).map(|row| Ok(cell(&column.get(row)?))).collect()
}

fn cell(value: &AnyValue<'_>) -> Value {
    match value {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(it) => Value::Bool(*it),
        AnyValue::Int64(it) if it.unsigned_abs() <= JSON_INT_MAX => Value::from(*it),
        AnyValue::Int64(it) => Value::String(it.to_string()),
        // JSON has no such number: `inf`, `-inf` or `NaN`, as in CSV.
        AnyValue::Float64(it) if !it.is_finite() => Value::String(it.to_string()),
        AnyValue::Float64(it) => Value::from(*it),
        AnyValue::String(it) => Value::String((*it).to_owned()),
        // A one-row column returns an owned value, whose `Display` would quote it.
        AnyValue::StringOwned(it) => Value::String(it.to_string()),
        AnyValue::Date(days) => text(day(*days)),
        AnyValue::Datetime(it, unit, zone) => text(moment(*it, *unit, zone.is_some())),
        AnyValue::DatetimeOwned(it, unit, zone) => text(moment(*it, *unit, zone.is_some())),
        AnyValue::Time(ns) => text(time_of_day(*ns)),
        other => Value::String(other.to_string()),
    }
}

/// A timestamp outside the calendar has no text.
fn text(value: Option<String>) -> Value {
    value.map_or(Value::Null, Value::String)
}

fn day(days: i32) -> Option<String> {
    let epoch = Date::constant(1970, 1, 1);
    Some(epoch.checked_add(Span::new().try_days(days).ok()?).ok()?.to_string())
}

fn moment(value: i64, unit: TimeUnit, is_instant: bool) -> Option<String> {
    let since = match unit {
        TimeUnit::Nanoseconds => SignedDuration::from_nanos(value),
        TimeUnit::Microseconds => SignedDuration::from_micros(value),
        TimeUnit::Milliseconds => SignedDuration::from_millis(value),
    };
    let epoch = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
    let moment = epoch.checked_add(since).ok()?;
    Some(format!("{moment}{}", if is_instant { "Z" } else { "" }))
}

fn time_of_day(ns: i64) -> Option<String> {
    Some(Time::midnight().checked_add(SignedDuration::from_nanos(ns)).ok()?.to_string())
}

#[cfg(test)]
mod tests {
    use polars::prelude::{AnyValue, TimeUnit};
    use serde_json::{Value, json};

    use super::cell;

    #[track_caller]
    fn check(value: &AnyValue<'_>, expected: &Value) {
        assert_eq!(cell(value), *expected, "{value:?}");
    }

    #[test]
    fn cells_are_json_that_no_reader_rounds() {
        check(&AnyValue::Int64(9_007_199_254_740_991), &json!(9_007_199_254_740_991_i64));
        check(&AnyValue::Int64(9_007_199_254_740_993), &json!("9007199254740993"));
        check(&AnyValue::Float64(f64::NAN), &json!("NaN"));
        check(&AnyValue::Float64(f64::INFINITY), &json!("inf"));
        check(&AnyValue::Float64(-f64::INFINITY), &json!("-inf"));
        check(&AnyValue::Float64(0.1), &json!(0.1));
    }

    #[test]
    fn days_and_times_are_iso_8601() {
        check(&AnyValue::Date(19_782), &json!("2024-02-29"));
        let noon = 1_709_208_000_000_000;
        let us = TimeUnit::Microseconds;
        check(&AnyValue::Datetime(noon, us, None), &json!("2024-02-29T12:00:00"));
        check(&AnyValue::Datetime(noon + 500_000, us, None), &json!("2024-02-29T12:00:00.5"));
        check(&AnyValue::Time(34_200_000_000_000), &json!("09:30:00"));
    }
}
