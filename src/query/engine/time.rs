//! Functions of dates and times.

use std::fmt::Write as _;

use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::{SignedDuration, civil};
use polars::prelude::{
    ChunkApply, DataType, Expr, Float64Chunked, Int64Chunked, IntoSeries, PolarsResult, Series,
    StringChunked,
};

use csv_agent_text::calendar::{MONTHS, WEEKDAYS};

use crate::plan::{DatePart, DateUnit};

use super::calendar::{self, Civil, DAY, SECOND};
use super::elementwise::{DURATION, TIMESTAMP, call, call_typed, combine, failure, ints, texts};

/// Nanoseconds of a microsecond.
const MICRO_NANOS: i64 = 1_000;
/// Days from 1970 that a date may have.
const DAYS_MAX: i64 = i32::MAX as i64;

/// Returns dates, times and moments as microseconds: since 1970, or since midnight.
pub(super) fn micros(values: &Series) -> PolarsResult<Int64Chunked> {
    match values.dtype() {
        DataType::Date => Ok(ints(&values.cast(&DataType::Int32)?)?.apply_values(|it| it * DAY)),
        DataType::Time => Ok(ints(values)?.apply_values(|it| it / MICRO_NANOS)),
        _ => ints(values),
    }
}

fn days(values: &Series) -> PolarsResult<Int64Chunked> {
    match values.dtype() {
        DataType::Date => ints(&values.cast(&DataType::Int32)?),
        _ => Ok(micros(values)?.apply_values(|it| it.div_euclid(DAY))),
    }
}

/// Returns days since 1970 as dates.
pub(super) fn dates(days: &Int64Chunked) -> PolarsResult<Series> {
    days.clone().into_series().cast(&DataType::Int32)?.cast(&DataType::Date)
}

/// Returns microseconds as the type of `like`.
fn like(micros: Int64Chunked, like: &DataType) -> PolarsResult<Series> {
    match like {
        DataType::Date => dates(&micros.apply_values(|it| it.div_euclid(DAY))),
        DataType::Time => {
            let nanos = micros.apply_values(|it| it.rem_euclid(DAY) * MICRO_NANOS);
            nanos.into_series().cast(&DataType::Time)
        }
        dtype => micros.into_series().cast(dtype),
    }
}

fn out_of_range() -> polars::prelude::PolarsError {
    failure("a date is beyond the calendar")
}

/// Returns a part of a date or time, but not the epoch.
pub(super) fn part(input: Expr, part: DatePart) -> Expr {
    call(vec![input], DataType::Int64, move |arguments| {
        Ok(micros(&arguments[0])?.apply_values(|it| calendar::part(it, part)).into_series())
    })
}

/// Returns microseconds as seconds: of a moment, those since 1970.
pub(super) fn seconds(input: Expr) -> Expr {
    call(vec![input], DataType::Float64, |arguments| {
        #[expect(clippy::cast_precision_loss, reason = "a double has microseconds for 285 years")]
        let seconds: Float64Chunked = micros(&arguments[0])?
            .iter()
            .map(|it| it.map(|it| it as f64 / SECOND as f64))
            .collect();
        Ok(seconds.into_series())
    })
}

/// Returns the beginning of a unit.
pub(super) fn truncate(input: Expr, unit: DateUnit) -> Expr {
    same_type(vec![input], move |arguments| {
        Ok(micros(&arguments[0])?.apply_values(|it| calendar::truncate(it, unit)))
    })
}

/// Applies a function of microseconds whose result has the type of the first argument.
fn same_type(
    inputs: Vec<Expr>,
    function: impl Fn(&[Series]) -> PolarsResult<Int64Chunked> + Send + Sync + 'static,
) -> Expr {
    call_typed(
        inputs,
        |fields| fields[0].dtype().clone(),
        move |arguments| like(function(arguments)?, arguments[0].dtype()),
    )
}

/// Adds months; the last day of a month stays within it.
pub(super) fn add_months(input: Expr, months: Expr) -> Expr {
    same_type(vec![input, months], |arguments| {
        combine(&micros(&arguments[0])?, &ints(&arguments[1])?, |value, months| {
            let day =
                calendar::add_months(value.div_euclid(DAY), months).ok_or_else(out_of_range)?;
            let moment = day.checked_mul(DAY).and_then(|it| it.checked_add(value.rem_euclid(DAY)));
            moment.map(Some).ok_or_else(out_of_range)
        })
    })
}

/// Adds days to dates.
pub(super) fn add_days(input: Expr, number: Expr) -> Expr {
    call(vec![input, number], DataType::Date, |arguments| {
        let sums = combine(&days(&arguments[0])?, &ints(&arguments[1])?, |day, number| {
            let sum = day.checked_add(number).filter(|it| it.abs() <= DAYS_MAX);
            sum.map(Some).ok_or_else(out_of_range)
        })?;
        dates(&sums)
    })
}

/// Adds microseconds; times of day go round.
pub(super) fn add_micros(input: Expr, amount: Expr) -> Expr {
    same_type(vec![input, amount], |arguments| {
        combine(&micros(&arguments[0])?, &ints(&arguments[1])?, |value, amount| {
            value.checked_add(amount).map(Some).ok_or_else(out_of_range)
        })
    })
}

/// Returns the first date minus the second.
pub(super) fn days_between(first: Expr, second: Expr) -> Expr {
    call(vec![first, second], DataType::Int64, |arguments| {
        let between =
            combine(&days(&arguments[0])?, &days(&arguments[1])?, |a, b| Ok(Some(a - b)))?;
        Ok(between.into_series())
    })
}

/// Returns the first moment minus the second.
pub(super) fn time_between(first: Expr, second: Expr) -> Expr {
    call(vec![first, second], DURATION, |arguments| {
        let between = combine(&micros(&arguments[0])?, &micros(&arguments[1])?, |a, b| {
            a.checked_sub(b).map(Some).ok_or_else(out_of_range)
        })?;
        Ok(between.into_series())
    })
}

/// Returns how many boundaries of a unit lie between two moments; of weeks, how many whole ones.
pub(super) fn boundaries(first: Expr, second: Expr, unit: DateUnit) -> Expr {
    call(vec![first, second], DataType::Int64, move |arguments| {
        let count = |a: i64, b: i64| match unit {
            DateUnit::Week => (b.div_euclid(DAY) - a.div_euclid(DAY)) / 7,
            unit => calendar::unit_number(b, unit) - calendar::unit_number(a, unit),
        };
        let found = combine(&micros(&arguments[0])?, &micros(&arguments[1])?, |a, b| {
            Ok(Some(count(a, b)))
        })?;
        Ok(found.into_series())
    })
}

/// Makes dates of years, months and days.
pub(super) fn make_date(values: Vec<Expr>) -> Expr {
    call(values, DataType::Date, |arguments| {
        let (years, months, day) =
            (ints(&arguments[0])?, ints(&arguments[1])?, ints(&arguments[2])?);
        let rows = years.iter().zip(months.iter()).zip(day.iter());
        let made: PolarsResult<Int64Chunked> = rows
            .map(|row| match row {
                ((Some(year), Some(month)), Some(day)) => match Civil::checked(year, month, day) {
                    Some(civil) => Ok(Some(civil.days())),
                    None => Err(failure(format!("{year}-{month}-{day} is not a date"))),
                },
                _ => Ok(None),
            })
            .collect();
        dates(&made?)
    })
}

/// Returns the last day of a month.
pub(super) fn last_day(input: Expr) -> Expr {
    call(vec![input], DataType::Date, |arguments| {
        dates(&days(&arguments[0])?.apply_values(calendar::last_day))
    })
}

pub(super) fn month_name(input: Expr) -> Expr {
    named(input, |day| MONTHS[usize::try_from(Civil::from_days(day).month - 1).unwrap_or(0)])
}

/// Returns the name of the day of the week.
pub(super) fn day_name(input: Expr) -> Expr {
    named(input, |day| WEEKDAYS[usize::try_from(calendar::weekday(day)).unwrap_or(0)])
}

fn named(input: Expr, name: impl Fn(i64) -> &'static str + Send + Sync + 'static) -> Expr {
    call(vec![input], DataType::String, move |arguments| {
        let names: StringChunked = days(&arguments[0])?.iter().map(|it| it.map(&name)).collect();
        Ok(names.into_series())
    })
}

fn civil_of(micros: i64) -> Option<DateTime> {
    let epoch = civil::datetime(1970, 1, 1, 0, 0, 0, 0);
    epoch.checked_add(SignedDuration::from_micros(micros)).ok()
}

/// Writes moments in a format of strftime.
pub(super) fn format(input: Expr, format: String) -> Expr {
    call(vec![input], DataType::String, move |arguments| {
        let format = translated(&format);
        let written = |micros: i64| -> PolarsResult<String> {
            let moment = civil_of(micros).ok_or_else(out_of_range)?;
            let mut text = String::new();
            let written = write!(text, "{}", moment.strftime(&format));
            written
                .map(|()| text)
                .map_err(|_| failure(format!("the format `{format}` is not valid")))
        };
        let texts: PolarsResult<Vec<Option<String>>> =
            micros(&arguments[0])?.iter().map(|it| it.map(&written).transpose()).collect();
        let texts: StringChunked = texts?.into_iter().collect();
        Ok(texts.into_series())
    })
}

/// Reads moments in a format of strptime.
pub(super) fn parse(input: Expr, format: String, is_try: bool) -> Expr {
    call(vec![input], TIMESTAMP, move |arguments| {
        let format = translated(&format);
        let read = |text: &str| -> PolarsResult<Option<i64>> {
            match read_moment(text.trim(), &format) {
                Some(micros) => Ok(Some(micros)),
                None if is_try => Ok(None),
                None => Err(failure(format!(
                    "'{text}' does not have the form '{format}'; `try_strptime` gives NULL instead"
                ))),
            }
        };
        let texts = texts(&arguments[0])?;
        let moments: PolarsResult<Int64Chunked> =
            texts.iter().map(|it| it.map_or(Ok(None), read)).collect();
        Ok(moments?.into_series())
    })
}

fn read_moment(text: &str, format: &str) -> Option<i64> {
    let parts = BrokenDownTime::parse(format, text).ok()?;
    let moment = parts
        .to_datetime()
        .or_else(|_| Ok::<_, jiff::Error>(parts.to_date()?.at(0, 0, 0, 0)))
        .ok()?;
    let since = moment.duration_since(civil::datetime(1970, 1, 1, 0, 0, 0, 0));
    i64::try_from(since.as_micros()).ok()
}

/// Translates what DuckDB writes otherwise: `%f` has six digits, `%g` milliseconds.
fn translated(format: &str) -> String {
    let translations = [
        ("%f", "%6f"),
        ("%g", "%3f"),
        ("%c", "%Y-%m-%d %H:%M:%S"),
        ("%x", "%Y-%m-%d"),
        ("%X", "%H:%M:%S"),
    ];
    let mut format = format.to_owned();
    for (from, to) in translations {
        format = format.replace(from, to);
    }
    format
}
