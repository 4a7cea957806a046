//! Words for what a query is made of: operators, parts of dates, units of time.

use csv_agent_text::calendar::{MONTHS, WEEKDAYS};

use crate::lexicon::TimeUnit;
use crate::query::{Agg, Arithmetic, Op, Part, Value};
use crate::sql::unit_name;

/// Returns the name of a value of a part of a date.
pub(super) fn part_of(value: &Value, other: &Value) -> Option<String> {
    let (Value::Number(n), Value::Part(_, part)) = (value, other) else { return None };
    name_of_part(*part, *n)
}

/// Returns the name of a part of a date, if it has one.
pub(super) fn name_of_part(part: Part, n: f64) -> Option<String> {
    let names: &[&str] = match part {
        Part::Weekday => &WEEKDAYS,
        Part::Month => &MONTHS,
        _ => return None,
    };
    let name = names.iter().zip(1_u32..).find(|it| (f64::from(it.1) - n).abs() < 0.5);
    name.map(|it| (*it.0).to_owned())
}

/// Writes a time of day: without seconds if there are none.
pub(super) fn clock(time: jiff::civil::Time) -> String {
    let text = time.to_string();
    text.strip_suffix(":00").filter(|it| it.contains(':')).unwrap_or(&text).to_owned()
}

/// Writes a number of periods: `month`, `3 months`.
pub(super) fn units(n: u32, unit: TimeUnit) -> String {
    let name = unit_name(unit);
    if n == 1 { name.to_owned() } else { format!("{n} {name}s") }
}

pub(super) fn op_word(op: Op) -> &'static str {
    match op {
        Op::Gt => "over",
        Op::Ge => "at least",
        Op::Lt => "under",
        Op::Le => "at most",
        Op::Eq => "equal to",
        Op::Ne => "other than",
    }
}

pub(super) fn sign_word(sign: Arithmetic) -> &'static str {
    match sign {
        Arithmetic::Plus => "plus",
        Arithmetic::Minus => "minus",
        Arithmetic::Times => "times",
        Arithmetic::DividedBy => "divided by",
        Arithmetic::Days => "days from",
    }
}

pub(super) fn agg_word(agg: &Agg) -> &'static str {
    match agg {
        Agg::Count | Agg::Distinct => "number",
        Agg::Sum => "total",
        Agg::Mean => "mean",
        Agg::Median => "median",
        Agg::Min => "smallest",
        Agg::Max => "largest",
        Agg::Std => "standard deviation",
        Agg::Var => "variance",
        Agg::Iqr => "interquartile range",
        Agg::Range => "range",
        Agg::Mode => "most frequent value",
        Agg::First(_) => "first",
        Agg::Last(_) => "last",
        Agg::Grown(_) => "growth from the first to the last",
        Agg::Quantile(_) => "quantile",
        Agg::Share => "share",
        Agg::Correlation(_) => "correlation",
        Agg::Percent(_) => "percentage",
        Agg::Ratio(_) => "ratio",
    }
}

/// Returns what people call a part of a date if it is clear of what it is a part.
pub(super) fn part_word(part: Part) -> &'static str {
    match part {
        Part::Month => "month",
        Part::Weekday => "weekday",
        Part::Hour => "hour",
        part => part_name(part),
    }
}

pub(super) fn part_name(part: Part) -> &'static str {
    match part {
        Part::Year => "year",
        Part::Quarter => "quarter",
        Part::Month => "month of the year",
        Part::Day => "day of the month",
        Part::Weekday => "day of the week",
        Part::Hour => "hour of the day",
    }
}
