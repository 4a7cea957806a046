//! `generate_series` and `range`: rows of numbers or dates.

use sqlparser::ast::Expr as Ast;

use crate::plan::{Expr, Function, Plan, Scalar, Type};

use super::binder::{Binder, Bound};
use super::constants::{DAY_MICROS, Interval, interval, split_micros};
use super::env::Env;
use super::error::{Result, SqlError};
use super::types::{Typed, cast};

/// Rows of a series.
const ROWS_MAX: usize = 100_000;

impl Binder<'_> {
    /// Makes the rows of a series: from, to, and step, which are constants. A `range` ends before its end, and
    /// begins with 0 when it has one argument. Fails when an argument is not a constant, or there are too many
    /// rows.
    pub(crate) fn series(&mut self, name: &str, arguments: &[Ast]) -> Result<Bound> {
        let is_range = name == "range";
        let step = match arguments {
            [_, _, Ast::Interval(step)] => Some(self.interval_of(step, &mut Env::constant())?.0),
            [_, _, Ast::Value(step)] => {
                step.value.clone().into_string().and_then(|it| interval(&it, None))
            }
            _ => None,
        };
        let n_values = if step.is_some() { 2 } else { arguments.len() };
        let mut values = self.exprs(&arguments[..n_values], &mut Env::constant())?;
        if let Some(step) = step {
            return self.series_of_dates(values, step, is_range);
        }
        if values.len() == 1 && is_range {
            values.insert(0, Typed::int(0));
        }
        let numbers: Option<Vec<i64>> = values
            .iter()
            .map(|it| match it.literal() {
                Some(Scalar::Int(number)) => Some(*number),
                _ => None,
            })
            .collect();
        let (start, end, step) = match numbers.as_deref() {
            Some([start, end]) => (*start, *end, 1),
            Some([start, end, step]) if *step != 0 => (*start, *end, *step),
            _ => {
                let message =
                    format!("`{name}` takes constants: numbers, or dates and an interval");
                return Err(SqlError::new(message).hint(
                    "write generate_series(1, 10), or \
                    generate_series(date '2024-01-01', date '2024-12-31', interval '1 day')",
                ));
            }
        };
        let is_within = |it: i64| match (is_range, 0 < step) {
            (true, true) => it < end,
            (true, false) => end < it,
            (false, true) => it <= end,
            (false, false) => end <= it,
        };
        let numbers = std::iter::successors(Some(start), |it| it.checked_add(step));
        let rows: Vec<Scalar> =
            numbers.take_while(|it| is_within(*it)).take(ROWS_MAX + 1).map(Scalar::Int).collect();
        self.rows_of(name, Type::Int, rows)
    }

    fn series_of_dates(
        &mut self,
        values: Vec<Typed>,
        step: Interval,
        is_range: bool,
    ) -> Result<Bound> {
        let moments: Option<Vec<i64>> = values
            .into_iter()
            .map(|it| match cast(it, Type::Timestamp, false).ok()?.literal() {
                Some(Scalar::Timestamp(micros)) => Some(*micros),
                _ => None,
            })
            .collect();
        let Some([start, end]) = moments.as_deref() else {
            return Err(SqlError::new("a series of dates takes two dates and an interval"));
        };
        let (start, end) = (*start, *end);
        let is_forward = step.months > 0 || step.days > 0 || step.micros > 0;
        if !is_forward || step.months < 0 || step.days < 0 || step.micros < 0 {
            return Err(SqlError::new("a series of dates takes an interval above zero"));
        }
        let mut rows = Vec::new();
        for n in 0_i64.. {
            let Some(moment) = added(start, step, n) else { break };
            let is_over = if is_range { end <= moment } else { end < moment };
            if is_over || ROWS_MAX < rows.len() {
                break;
            }
            rows.push(Scalar::Timestamp(moment));
        }
        self.rows_of("generate_series", Type::Timestamp, rows)
    }

    fn rows_of(&mut self, name: &str, dtype: Type, rows: Vec<Scalar>) -> Result<Bound> {
        if ROWS_MAX < rows.len() {
            let message = format!("`{name}` makes more than {ROWS_MAX} rows");
            return Err(SqlError::new(message));
        }
        let id = self.column(dtype);
        let rows = rows.into_iter().map(|it| vec![it]).collect();
        let plan = Plan::Values { columns: vec![(id, dtype)], rows };
        Ok(Bound { plan, output: vec![(name.to_owned(), id)] })
    }

    /// Binds `time_bucket`: the beginning of the interval that a moment is in. Intervals of days and shorter
    /// are counted from Monday, 3 January 2000. Fails when the interval has months.
    pub(crate) fn time_bucket(&mut self, width: Interval, value: Typed) -> Result<Typed> {
        /// 2000-01-03 in microseconds.
        const ORIGIN: i64 = 10_959 * DAY_MICROS;
        let micros = width.days.checked_mul(DAY_MICROS).and_then(|it| it.checked_add(width.micros));
        let Some(micros @ 1..) = micros.filter(|_| width.months == 0) else {
            return Err(SqlError::new("`time_bucket` takes an interval of weeks, days or shorter")
                .hint("use date_trunc('month', …) for months and longer"));
        };
        let int = |value| Expr::Literal(Scalar::Int(value));
        let origin = match value.dtype {
            Type::Instant => Expr::Literal(Scalar::Instant(ORIGIN)),
            _ => Expr::Literal(Scalar::Timestamp(ORIGIN)),
        };
        let unit = crate::plan::DateUnit::Microsecond;
        let since = Expr::Call(Function::BoundariesBetween(unit), vec![origin.clone(), value.expr]);
        // The remainder has the sign of the dividend.
        let rest = Expr::Call(Function::ModuloInt, vec![since.clone(), int(micros)]);
        let above = Expr::Call(Function::AddInt, vec![rest, int(micros)]);
        let rest = Expr::Call(Function::ModuloInt, vec![above, int(micros)]);
        let begin = Expr::Call(Function::SubtractInt, vec![since, rest]);
        let moment = Expr::Call(Function::AddMicroseconds, vec![origin, begin]);
        Ok(Typed::new(moment, value.dtype))
    }
}

/// Adds an interval so many times.
fn added(start: i64, step: Interval, times: i64) -> Option<i64> {
    let months = i32::try_from(step.months.checked_mul(times)?).ok()?;
    let (days, clock) = split_micros(start);
    let day = super::constants::add_months(days, months)?;
    let micros = step.days.checked_mul(DAY_MICROS)?.checked_add(step.micros)?.checked_mul(times)?;
    i64::from(day).checked_mul(DAY_MICROS)?.checked_add(clock)?.checked_add(micros)
}
