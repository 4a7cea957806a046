//! Values of a Parquet file as exact text: scalars as in CSV, nested values as JSON.
//!
//! Pure. JSON is written directly as text, so that keys keep their order and none is lost.

use std::fmt::{Display, Write};

use anyhow::{Context, bail};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::source::hex;

/// Writes one non-null value. Fails when it is invalid in its type, such as a date outside the calendar.
pub(crate) fn write(array: &dyn Array, row: usize, out: &mut String) -> anyhow::Result<()> {
    match array.data_type() {
        DataType::Boolean => put(out, array.as_boolean().value(row)),
        DataType::Int8 => put(out, value::<Int8Type>(array, row)),
        DataType::Int16 => put(out, value::<Int16Type>(array, row)),
        DataType::Int32 => put(out, value::<Int32Type>(array, row)),
        DataType::Int64 => put(out, value::<Int64Type>(array, row)),
        DataType::UInt8 => put(out, value::<UInt8Type>(array, row)),
        DataType::UInt16 => put(out, value::<UInt16Type>(array, row)),
        DataType::UInt32 => put(out, value::<UInt32Type>(array, row)),
        DataType::UInt64 => put(out, value::<UInt64Type>(array, row)),
        DataType::Float16 => put(out, value::<Float16Type>(array, row)),
        DataType::Float32 => put(out, value::<Float32Type>(array, row)),
        DataType::Float64 => put(out, value::<Float64Type>(array, row)),
        DataType::Decimal128(..) => {
            put(out, array.as_primitive::<Decimal128Type>().value_as_string(row))
        }
        DataType::Decimal256(..) => {
            put(out, array.as_primitive::<Decimal256Type>().value_as_string(row))
        }
        DataType::Date32 => {
            let days = value::<Date32Type>(array, row);
            let span = SignedDuration::from_hours(i64::from(days) * 24);
            let day = Date::constant(1970, 1, 1).checked_add(span);
            put(out, day.with_context(|| format!("{days} days since 1970 is not a valid date"))?)
        }
        DataType::Date64 => {
            let instant = Timestamp::from_millisecond(value::<Date64Type>(array, row))?;
            let time = Offset::UTC.to_datetime(instant);
            if time.time() == Time::midnight() { put(out, time.date()) } else { put(out, time) }
        }
        DataType::Timestamp(unit, zone) => {
            let instant = instant(array, row, *unit)?;
            match zone {
                Some(_) => put(out, instant),
                None => put(out, Offset::UTC.to_datetime(instant)),
            }
        }
        DataType::Time32(_) | DataType::Time64(_) => {
            let nanos = nanos(array, row).context("not a time of day")?;
            let time = Time::midnight().checked_add(SignedDuration::from_nanos(nanos));
            put(out, time.with_context(|| format!("{nanos} ns are not a time of day"))?)
        }
        DataType::Utf8View => put(out, array.as_string_view().value(row)),
        DataType::Utf8 => put(out, array.as_string::<i32>().value(row)),
        DataType::BinaryView => put(out, hex(array.as_binary_view().value(row))),
        DataType::FixedSizeBinary(_) => put(out, hex(array.as_fixed_size_binary().value(row))),
        DataType::List(_) => items(&array.as_list::<i32>().value(row), out),
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            members((0..entries.len()).map(|at| (at, entries.column(0), entries.column(1))), out)
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns();
            out.push('{');
            for (at, (field, column)) in fields.iter().zip(columns).enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                quoted(field.name(), out)?;
                out.push(':');
                json(column, row, out)?;
            }
            out.push('}');
            Ok(())
        }
        other => bail!("{other} is not read"),
    }
}

/// Writes sixteen bytes in UUID notation. Fails when the values are not bytes.
pub(crate) fn write_uuid(array: &dyn Array, row: usize, out: &mut String) -> anyhow::Result<()> {
    let bytes = array.as_fixed_size_binary_opt().context("a UUID has 16 bytes")?.value(row);
    let digits = hex(bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|it| &digits[it]);
    out.push_str(&parts.join("-"));
    Ok(())
}

fn value<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> T::Native {
    array.as_primitive::<T>().value(row)
}

fn put(out: &mut String, value: impl Display) -> anyhow::Result<()> {
    Ok(write!(out, "{value}")?)
}

fn instant(array: &dyn Array, row: usize, unit: TimeUnit) -> anyhow::Result<Timestamp> {
    let (count, instant) = match unit {
        TimeUnit::Second => {
            let count = value::<TimestampSecondType>(array, row);
            (count, Timestamp::from_second(count))
        }
        TimeUnit::Millisecond => {
            let count = value::<TimestampMillisecondType>(array, row);
            (count, Timestamp::from_millisecond(count))
        }
        TimeUnit::Microsecond => {
            let count = value::<TimestampMicrosecondType>(array, row);
            (count, Timestamp::from_microsecond(count))
        }
        TimeUnit::Nanosecond => {
            let count = value::<TimestampNanosecondType>(array, row);
            (count, Timestamp::from_nanosecond(i128::from(count)))
        }
    };
    instant.with_context(|| format!("{count} {unit:?}s since 1970 is not a valid instant"))
}

fn nanos(array: &dyn Array, row: usize) -> Option<i64> {
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => {
            i64::from(value::<Time32SecondType>(array, row)).checked_mul(1_000_000_000)
        }
        DataType::Time32(_) => {
            i64::from(value::<Time32MillisecondType>(array, row)).checked_mul(1_000_000)
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            value::<Time64MicrosecondType>(array, row).checked_mul(1_000)
        }
        _ => Some(value::<Time64NanosecondType>(array, row)),
    }
}

/// Writes one value as JSON: numbers, truth values and nested values unquoted, all others quoted.
fn json(array: &ArrayRef, row: usize, out: &mut String) -> anyhow::Result<()> {
    if array.is_null(row) {
        out.push_str("null");
        return Ok(());
    }
    let is_bare = match array.data_type() {
        DataType::Boolean | DataType::List(_) | DataType::Map(..) | DataType::Struct(_) => true,
        DataType::Float16 => value::<Float16Type>(array, row).is_finite(),
        DataType::Float32 => value::<Float32Type>(array, row).is_finite(),
        DataType::Float64 => value::<Float64Type>(array, row).is_finite(),
        other => other.is_integer(),
    };
    if is_bare {
        return write(array, row, out);
    }
    let mut text = String::new();
    write(array, row, &mut text)?;
    quoted(&text, out)
}

fn quoted(text: &str, out: &mut String) -> anyhow::Result<()> {
    put(out, Value::String(text.to_owned()))
}

fn items(array: &ArrayRef, out: &mut String) -> anyhow::Result<()> {
    out.push('[');
    for row in 0..array.len() {
        out.push_str(if row == 0 { "" } else { "," });
        json(array, row, out)?;
    }
    out.push(']');
    Ok(())
}

fn members<'a>(
    entries: impl Iterator<Item = (usize, &'a ArrayRef, &'a ArrayRef)>,
    out: &mut String,
) -> anyhow::Result<()> {
    out.push('{');
    for (at, keys, values) in entries {
        out.push_str(if at == 0 { "" } else { "," });
        let mut key = String::new();
        write(keys, at, &mut key)?;
        quoted(&key, out)?;
        out.push(':');
        json(values, at, out)?;
    }
    out.push('}');
    Ok(())
}
