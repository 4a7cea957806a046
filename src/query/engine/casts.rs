//! Casts.

use polars::prelude::{
    ChunkApply, DataType, Expr, Float64Chunked, Int64Chunked, IntoSeries, PolarsResult, Series,
    StringChunked,
};

use crate::plan::Type;
use crate::sql::bool_of;

use super::calendar::{Civil, DAY, SECOND};
use super::elementwise::{
    bools, call, dtype_of, failure, floats, ints, overflow, text_to_bool, text_to_int, texts,
};

use super::time::{dates, micros};

/// Returns the value as another type; see [`crate::plan::Cast`].
pub(super) fn cast(input: Expr, from: Type, to: Type, is_try: bool) -> Expr {
    match (from, to) {
        (Type::Float, Type::Int) => float_to_int(input, is_try),
        (Type::Text, _) => from_text(input, to, is_try),
        (_, Type::Text) => to_text(input, from),
        (Type::Int | Type::Float, Type::Bool) => bools(input, |values| {
            Ok(floats(values)?.iter().map(|it| it.map(|it| it != 0.0)).collect())
        }),
        (Type::Timestamp | Type::Instant, Type::Date) => {
            call(vec![input], DataType::Date, |arguments| {
                dates(&micros(&arguments[0])?.apply_values(|it| it.div_euclid(DAY)))
            })
        }
        (Type::Timestamp | Type::Instant, Type::Time) => {
            call(vec![input], DataType::Time, |arguments| {
                let nanos = micros(&arguments[0])?.apply_values(|it| it.rem_euclid(DAY) * 1_000);
                nanos.into_series().cast(&DataType::Time)
            })
        }
        (Type::Date | Type::Timestamp | Type::Instant, Type::Timestamp | Type::Instant) => {
            call(vec![input], dtype_of(to), |arguments| Ok(micros(&arguments[0])?.into_series()))
        }
        (_, to) => input.cast(dtype_of(to)),
    }
}

/// Whole numbers beyond this are not exact in a double, and the double is beyond 64 bits.
const INT_END: f64 = 9_223_372_036_854_775_808.0;

fn float_to_int(input: Expr, is_try: bool) -> Expr {
    call(vec![input], DataType::Int64, move |arguments| {
        let whole = |value: f64| {
            let rounded = value.round_ties_even();
            if (-INT_END..INT_END).contains(&rounded) {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "it is whole and within the range"
                )]
                return Ok(Some(rounded as i64));
            }
            if is_try { Ok(None) } else { Err(overflow()) }
        };
        let results: PolarsResult<Int64Chunked> =
            floats(&arguments[0])?.iter().map(|it| it.map_or(Ok(None), whole)).collect();
        Ok(results?.into_series())
    })
}

fn from_text(input: Expr, to: Type, is_try: bool) -> Expr {
    let wrong = move |text: &str| {
        let name = match to {
            Type::Int => "whole number",
            Type::Float => "number",
            Type::Bool => "truth value",
            Type::Date => "date",
            Type::Time => "time",
            _ => "timestamp",
        };
        failure(format!("'{text}' is not a {name}; `try_cast` gives NULL instead"))
    };
    let or_fail = move |text: &str, found: Option<i64>| match found {
        Some(value) => Ok(Some(value)),
        None if is_try => Ok(None),
        None => Err(wrong(text)),
    };
    match to {
        Type::Int => text_to_int(input, DataType::Int64, move |it| or_fail(it, int_of(it.trim()))),
        Type::Float => call(vec![input], DataType::Float64, move |arguments| {
            let texts = texts(&arguments[0])?;
            let read = |text: &str| match text.trim().parse::<f64>() {
                Ok(value) => Ok(Some(value)),
                Err(_) if is_try => Ok(None),
                Err(_) => Err(wrong(text)),
            };
            let results: PolarsResult<Float64Chunked> =
                texts.iter().map(|it| it.map_or(Ok(None), read)).collect();
            Ok(results?.into_series())
        }),
        Type::Bool => text_to_bool(input, move |it| match bool_of(it) {
            Some(value) => Ok(Some(value)),
            None if is_try => Ok(None),
            None => Err(wrong(it)),
        }),
        Type::Date => call(vec![input], DataType::Date, move |arguments| {
            let texts = texts(&arguments[0])?;
            let read = |text: &str| or_fail(text, moment_of(text).map(|it| it.div_euclid(DAY)));
            let results: PolarsResult<Int64Chunked> =
                texts.iter().map(|it| it.map_or(Ok(None), read)).collect();
            dates(&results?)
        }),
        Type::Time => call(vec![input], DataType::Time, move |arguments| {
            let texts = texts(&arguments[0])?;
            let read = |text: &str| or_fail(text, time_of(text.trim()).map(|it| it * 1_000));
            let results: PolarsResult<Int64Chunked> =
                texts.iter().map(|it| it.map_or(Ok(None), read)).collect();
            results?.into_series().cast(&DataType::Time)
        }),
        to => text_to_int(input, dtype_of(to), move |it| or_fail(it, moment_of(it))),
    }
}

fn int_of(text: &str) -> Option<i64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let value = text.parse::<f64>().ok()?.round();
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the range")]
    (-INT_END..INT_END).contains(&value).then_some(value as i64)
}

/// Reads a date, or a date and a time: microseconds since 1970.
fn moment_of(text: &str) -> Option<i64> {
    let text = text.trim().trim_end_matches('Z');
    let (day, clock) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let mut parts = day.splitn(3, ['-', '/']);
    let mut number = || parts.next()?.parse::<i64>().ok();
    let civil = Civil::checked(number()?, number()?, number()?)?;
    let micros = if clock.is_empty() { 0 } else { time_of(clock)? };
    civil.days().checked_mul(DAY)?.checked_add(micros)
}

/// Reads `HH:MM[:SS[.f]]`: microseconds since midnight.
fn time_of(text: &str) -> Option<i64> {
    let mut parts = text.splitn(3, ':');
    let hour: i64 = parts.next()?.parse().ok()?;
    let minute: i64 = parts.next()?.parse().ok()?;
    let (second, fraction) = match parts.next() {
        None => ("0", ""),
        Some(text) => text.split_once('.').unwrap_or((text, "")),
    };
    let second: i64 = second.parse().ok()?;
    if !fraction.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let digits = format!("{fraction:0<6}");
    let micros: i64 = digits.get(..6)?.parse().ok()?;
    let is_valid =
        (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    is_valid.then_some(((hour * 60 + minute) * 60 + second) * SECOND + micros)
}

fn to_text(input: Expr, from: Type) -> Expr {
    call(vec![input], DataType::String, move |arguments| {
        let values = &arguments[0];
        let texts: StringChunked = match from {
            Type::Bool => values.bool()?.iter().map(|it| it.map(|it| it.to_string())).collect(),
            Type::Int => ints(values)?.iter().map(|it| it.map(|it| it.to_string())).collect(),
            Type::Float => floats(values)?.iter().map(|it| it.map(float_text)).collect(),
            Type::Date => written(values, |it| date_text(it.div_euclid(DAY)))?,
            Type::Time => written(values, clock_text)?,
            Type::Timestamp | Type::Instant => written(values, |it| {
                format!("{} {}", date_text(it.div_euclid(DAY)), clock_text(it.rem_euclid(DAY)))
            })?,
            Type::Null | Type::Text | Type::Duration => return values.cast(&DataType::String),
        };
        Ok(texts.into_series())
    })
}

fn written(values: &Series, text: impl Fn(i64) -> String) -> PolarsResult<StringChunked> {
    Ok(micros(values)?.iter().map(|it| it.map(&text)).collect())
}

fn date_text(days: i64) -> String {
    let Civil { year, month, day } = Civil::from_days(days);
    format!("{year:04}-{month:02}-{day:02}")
}

fn clock_text(micros: i64) -> String {
    let (seconds, fraction) = (micros / SECOND, micros % SECOND);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    if fraction == 0 {
        return clock;
    }
    format!("{clock}.{}", format!("{fraction:06}").trim_end_matches('0'))
}

/// Returns the shortest text that reads as the same double: `1.0`, `0.1`, `1e+20`, `1e-07`.
fn float_text(value: f64) -> String {
    /// Exponents from which on a double is written with one.
    const LARGE: i32 = 16;
    const SMALL: i32 = -5;
    if value.is_nan() {
        return "nan".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf".to_owned() } else { "inf".to_owned() };
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(SMALL < exponent && exponent < LARGE) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let text = value.to_string();
    if text.contains('.') { text } else { text + ".0" }
}
