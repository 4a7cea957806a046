//! Columns of a Parquet file to ours: the nearest type that represents every value, else exact text.
//!
//! Pure. A different encoding of the same value is converted; a value that our types would round,
//! truncate or wrap is written as text.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, StringArray};
use arrow_schema::{DataType, Field, TimeUnit};

use csv_agent_types::catalog::DType;

use super::text;
use crate::parse::DAY_US;

/// How the values of a column are converted to ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    /// To our nearest type, as long as that represents every value.
    Nearest(DType),
    /// To text: bytes in hexadecimal, nested values as JSON.
    Text,
    /// Sixteen bytes, in UUID notation.
    Uuid,
}

impl Conversion {
    /// Returns the first conversion to try for a column of the source; `None` for an unsupported type.
    pub(super) fn first(data_type: &DataType) -> Option<Self> {
        Some(Conversion::Nearest(match data_type {
            DataType::Boolean => DType::Bool,
            it if it.is_integer() => DType::Int64,
            DataType::Decimal128(_, 0) | DataType::Decimal256(_, 0) => DType::Int64,
            DataType::Float16
            | DataType::Float32
            | DataType::Float64
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => DType::Float64,
            DataType::Date32 | DataType::Date64 => DType::Date,
            DataType::Timestamp(_, None) => DType::Timestamp,
            DataType::Timestamp(_, Some(_)) => DType::TimestampUtc,
            DataType::Time32(TimeUnit::Second | TimeUnit::Millisecond)
            | DataType::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond) => DType::Time,
            DataType::Utf8View | DataType::BinaryView | DataType::Null => DType::String,
            DataType::FixedSizeBinary(_) => return Some(Conversion::Text),
            DataType::List(item) | DataType::Map(item, _) => {
                return Conversion::first(item.data_type()).map(|_| Conversion::Text);
            }
            DataType::Struct(fields) => {
                let are_read = fields.iter().all(|it| Conversion::first(it.data_type()).is_some());
                return are_read.then_some(Conversion::Text);
            }
            _ => return None,
        }))
    }

    /// Returns the type of the resulting column.
    pub(super) fn dtype(self) -> DType {
        match self {
            Conversion::Nearest(dtype) => dtype,
            Conversion::Text | Conversion::Uuid => DType::String,
        }
    }

    /// Returns the converted values; `None` when the nearest type cannot represent all of them. Fails when a
    /// value is invalid in its own type, such as a date outside the calendar.
    pub(super) fn convert(self, array: &ArrayRef) -> anyhow::Result<Option<ArrayRef>> {
        match self {
            Conversion::Nearest(_) => Ok(nearest(array)),
            Conversion::Text => written(array, &text::write).map(Some),
            Conversion::Uuid => written(array, &text::write_uuid).map(Some),
        }
    }

    /// Returns the note on a converted column: its original type, where that differs.
    pub(super) fn note(self, source: &DataType, origin: Option<&DataType>) -> Option<String> {
        let note = match (source, self) {
            (DataType::Float16, _) => "float16 in the file, widened".to_owned(),
            (DataType::Float32, _) => "float32 in the file, widened".to_owned(),
            (DataType::UInt64, Conversion::Text) => {
                "text: uint64 in the file, beyond int64".to_owned()
            }
            (DataType::Decimal128(digits, scale) | DataType::Decimal256(digits, scale), _) => {
                let why = match self.dtype() {
                    DType::Int64 => "every value is within int64",
                    DType::Float64 => "no value has more than 15 digits, so a float is exact",
                    _ if *scale == 0 => "beyond int64",
                    _ => "more digits than a float can hold",
                };
                let text = if self == Conversion::Text { "text: " } else { "" };
                format!("{text}decimal({digits}, {scale}) in the file; {why}")
            }
            (DataType::Timestamp(..), Conversion::Text) => {
                "text: finer than microseconds, or beyond the years 1 to 9999".to_owned()
            }
            (DataType::Timestamp(..), _) => {
                let Some(DataType::Timestamp(_, Some(zone))) = origin else { return None };
                if matches!(&**zone, "UTC" | "Z" | "+00:00") {
                    return None;
                }
                format!("in UTC; the zone in the file is `{zone}`")
            }
            (DataType::Int64, _) => match origin {
                Some(DataType::Duration(unit)) => format!("durations, in {}", unit_name(*unit)),
                _ => return None,
            },
            (DataType::Date32, Conversion::Text) => "text: beyond the years 1 to 9999".to_owned(),
            (DataType::Date64, Conversion::Text) => {
                "text: days with a time, or beyond the years 1 to 9999".to_owned()
            }
            (DataType::Time32(_) | DataType::Time64(_), Conversion::Text) => {
                "text: finer than microseconds".to_owned()
            }
            (DataType::BinaryView, Conversion::Nearest(_)) => {
                "bytes in the file, all of them UTF-8".to_owned()
            }
            (DataType::BinaryView | DataType::FixedSizeBinary(_), Conversion::Text) => {
                "text: bytes in hexadecimal".to_owned()
            }
            (DataType::FixedSizeBinary(_), Conversion::Uuid) => "text: UUIDs".to_owned(),
            (DataType::List(_), _) => "text: lists as JSON".to_owned(),
            (DataType::Struct(_), _) => "text: structs as JSON".to_owned(),
            (DataType::Map(..), _) => "text: maps as JSON".to_owned(),
            _ => return None,
        };
        Some(note)
    }
}

/// Returns the type to read a column as: text by reference to its page, so that one long value that
/// occurs a thousand times is stored once. Parquet has no types for seconds and for days in
/// milliseconds, so that they are known only from the `origin`, the type before it became Parquet.
pub(super) fn as_read(field: &Field, origin: Option<&DataType>) -> DataType {
    let origin =
        origin.map(|it| if let DataType::Dictionary(_, values) = it { values } else { it });
    let item = |it: &Arc<Field>, origin: Option<&Arc<Field>>| {
        let data_type = as_read(it, origin.map(|it| it.data_type()));
        Arc::new(Field::clone(it).with_data_type(data_type))
    };
    let origin_item = || match origin? {
        DataType::List(it)
        | DataType::LargeList(it)
        | DataType::FixedSizeList(it, _)
        | DataType::Map(it, _) => Some(it),
        _ => None,
    };
    match (field.data_type(), origin) {
        (
            DataType::Int64,
            Some(origin @ (DataType::Timestamp(TimeUnit::Second, _) | DataType::Date64)),
        )
        | (DataType::Int32, Some(origin @ DataType::Time32(TimeUnit::Second))) => origin.clone(),
        (DataType::Utf8, _) => DataType::Utf8View,
        (DataType::Binary, _) => DataType::BinaryView,
        (DataType::List(it), _) => DataType::List(item(it, origin_item())),
        (DataType::Map(it, is_sorted), _) => DataType::Map(item(it, origin_item()), *is_sorted),
        (DataType::Struct(fields), _) => {
            let origin = |at: usize| match origin? {
                DataType::Struct(fields) => fields.get(at),
                _ => None,
            };
            let fields = fields.iter().enumerate();
            DataType::Struct(fields.map(|(at, it)| item(it, origin(at))).collect())
        }
        (other, _) => other.clone(),
    }
}

fn unit_name(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "seconds",
        TimeUnit::Millisecond => "milliseconds",
        TimeUnit::Microsecond => "microseconds",
        TimeUnit::Nanosecond => "nanoseconds",
    }
}

/// Returns values in our nearest type, if that represents them all.
fn nearest(array: &ArrayRef) -> Option<ArrayRef> {
    match array.data_type() {
        DataType::Boolean | DataType::Int64 | DataType::Float64 => Some(Arc::clone(array)),
        DataType::Int8 => Some(wider::<Int8Type, Int64Type>(array)),
        DataType::Int16 => Some(wider::<Int16Type, Int64Type>(array)),
        DataType::Int32 => Some(wider::<Int32Type, Int64Type>(array)),
        DataType::UInt8 => Some(wider::<UInt8Type, Int64Type>(array)),
        DataType::UInt16 => Some(wider::<UInt16Type, Int64Type>(array)),
        DataType::UInt32 => Some(wider::<UInt32Type, Int64Type>(array)),
        DataType::UInt64 => all::<UInt64Type, Int64Type>(array, |it| i64::try_from(it).ok()),
        DataType::Float16 => Some(wider::<Float16Type, Float64Type>(array)),
        DataType::Float32 => Some(wider::<Float32Type, Float64Type>(array)),
        DataType::Decimal128(_, 0) => {
            all::<Decimal128Type, Int64Type>(array, |it| i64::try_from(it).ok())
        }
        DataType::Decimal256(_, 0) => {
            all::<Decimal256Type, Int64Type>(array, |it| i64::try_from(it.to_i128()?).ok())
        }
        DataType::Decimal128(_, scale) => {
            let scale = *scale;
            all::<Decimal128Type, Float64Type>(array, |it| fraction(it, scale))
        }
        DataType::Decimal256(_, scale) => {
            let scale = *scale;
            all::<Decimal256Type, Float64Type>(array, |it| fraction(it.to_i128()?, scale))
        }
        DataType::Date32 => all::<Date32Type, Date32Type>(array, |it| {
            is_of_calendar(i64::from(it).checked_mul(DAY_US)?).then_some(it)
        }),
        DataType::Date64 => all::<Date64Type, Date32Type>(array, |it| {
            let is_day = it % DAY_MS == 0 && is_of_calendar(it.checked_mul(1_000)?);
            is_day.then(|| i32::try_from(it / DAY_MS).ok())?
        }),
        DataType::Timestamp(unit, zone) => {
            let instants = match unit {
                TimeUnit::Second => {
                    instants::<TimestampSecondType>(array, |it| it.checked_mul(1_000_000))
                }
                TimeUnit::Millisecond => {
                    instants::<TimestampMillisecondType>(array, |it| it.checked_mul(1_000))
                }
                TimeUnit::Microsecond => instants::<TimestampMicrosecondType>(array, Some),
                TimeUnit::Nanosecond => instants::<TimestampNanosecondType>(array, micros),
            }?;
            Some(match zone {
                Some(_) => Arc::new(instants.with_timezone("UTC")),
                None => Arc::new(instants),
            })
        }
        DataType::Time32(TimeUnit::Second) => {
            times::<Time32SecondType>(array, |it| i64::from(it).checked_mul(1_000_000))
        }
        DataType::Time32(_) => {
            times::<Time32MillisecondType>(array, |it| i64::from(it).checked_mul(1_000))
        }
        DataType::Time64(TimeUnit::Microsecond) => times::<Time64MicrosecondType>(array, Some),
        DataType::Time64(_) => times::<Time64NanosecondType>(array, micros),
        DataType::Null => Some(Arc::new(StringArray::new_null(array.len()))),
        DataType::Utf8View => {
            Some(Arc::new(array.as_string_view().iter().collect::<StringArray>()))
        }
        DataType::BinaryView => {
            let values = array.as_binary_view().iter();
            let texts = values.map(|it| it.map(str::from_utf8).transpose());
            let texts = texts.collect::<Result<Vec<Option<&str>>, _>>().ok()?;
            Some(Arc::new(StringArray::from(texts)))
        }
        _ => None,
    }
}

/// Milliseconds of a day.
const DAY_MS: i64 = DAY_US / 1_000;

/// The float nearest to a number of at most 15 digits prints as the original.
fn fraction(unscaled: i128, scale: i8) -> Option<f64> {
    const FIFTEEN_DIGITS: i128 = 1_000_000_000_000_000;
    /// Powers of ten up to this one are exact floats, so that a quotient is rounded once.
    const SCALE_MAX: i8 = 22;
    if unscaled.abs() >= FIFTEEN_DIGITS {
        return None;
    }
    if (0..=SCALE_MAX).contains(&scale) {
        #[expect(clippy::cast_precision_loss, reason = "15 digits are below 2^53")]
        let value = unscaled as f64;
        return Some(value / 10_f64.powi(i32::from(scale)));
    }
    format!("{unscaled}e{}", -i32::from(scale)).parse().ok()
}

fn micros(nanos: i64) -> Option<i64> {
    (nanos % 1_000 == 0).then_some(nanos / 1_000)
}

/// Returns whether an instant is within the years 1 to 9999, which every reader supports.
fn is_of_calendar(micros: i64) -> bool {
    const FIRST: i64 = -719_162 * DAY_US;
    const LAST: i64 = 2_932_897 * DAY_US - 1;
    (FIRST..=LAST).contains(&micros)
}

fn wider<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(array: &ArrayRef) -> ArrayRef
where
    To::Native: std::convert::From<From::Native>,
{
    Arc::new(array.as_primitive::<From>().unary::<_, To>(Into::into))
}

/// Returns the values converted to another type, if each of them can be.
fn all<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(
    array: &ArrayRef,
    convert: impl Fn(From::Native) -> Option<To::Native>,
) -> Option<ArrayRef> {
    converted::<From, To>(array, convert).map(|it| Arc::new(it) as ArrayRef)
}

fn converted<From: ArrowPrimitiveType, To: ArrowPrimitiveType>(
    array: &ArrayRef,
    convert: impl Fn(From::Native) -> Option<To::Native>,
) -> Option<PrimitiveArray<To>> {
    let values = array.as_primitive::<From>().unary_opt::<_, To>(convert);
    (values.null_count() == array.null_count()).then_some(values)
}

fn instants<From: ArrowPrimitiveType<Native = i64>>(
    array: &ArrayRef,
    micros: impl Fn(i64) -> Option<i64>,
) -> Option<PrimitiveArray<TimestampMicrosecondType>> {
    converted::<From, TimestampMicrosecondType>(array, |it| {
        micros(it).filter(|it| is_of_calendar(*it))
    })
}

fn times<From: ArrowPrimitiveType>(
    array: &ArrayRef,
    micros: impl Fn(From::Native) -> Option<i64>,
) -> Option<ArrayRef> {
    all::<From, Time64MicrosecondType>(array, |it| micros(it).filter(|it| (0..DAY_US).contains(it)))
}

/// Writes each value as text.
fn written(
    array: &ArrayRef,
    write: &dyn Fn(&dyn Array, usize, &mut String) -> anyhow::Result<()>,
) -> anyhow::Result<ArrayRef> {
    let mut column = StringBuilder::new();
    let mut value = String::new();
    for row in 0..array.len() {
        if array.is_null(row) {
            column.append_null();
        } else {
            value.clear();
            write(array, row, &mut value)?;
            column.append_value(&value);
        }
    }
    Ok(Arc::new(column.finish()))
}

/// Returns whether values repeat, so that a dictionary saves space.
pub(super) fn repeats(array: &ArrayRef, n_rows: usize) -> bool {
    if array.as_any().is::<BooleanArray>() {
        return false;
    }
    let n_rows = n_rows.min(array.len());
    let mut distinct = std::collections::HashSet::new();
    for row in 0..n_rows {
        let mut value = String::new();
        if array.is_valid(row) && text::write(array, row, &mut value).is_err() {
            return false;
        }
        distinct.insert(value);
    }
    distinct.len() * 2 <= n_rows
}
