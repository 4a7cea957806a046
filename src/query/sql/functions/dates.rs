//! Functions of dates and times.

use crate::plan::{DateUnit, Expr, Function, Scalar, Type};

use super::super::binder::Binder;
use super::super::constants::split_micros;
use super::super::error::{Result, SqlError};
use super::super::types::{Typed, call, cast, convert};
use super::{constant_text, moment, text_of};

impl Binder<'_> {
    /// Binds a function of dates that needs no unit; `None` when the name is of another kind.
    pub(super) fn date_function_of_one(
        &mut self,
        name: &str,
        mut values: Vec<Typed>,
    ) -> Result<Option<Typed>> {
        let n_values = values.len();
        let texts = |values: Vec<Typed>| {
            values.into_iter().map(|it| text_of(it, name)).collect::<Result<Vec<_>>>()
        };
        let found = match (name, n_values) {
            ("epoch_ms", 1) => {
                let value = moment(values.swap_remove(0), name)?;
                let start = cast(
                    Typed::new(Expr::Literal(Scalar::Timestamp(0)), Type::Timestamp),
                    value.dtype,
                    false,
                )?;
                Ok(call(
                    Function::BoundariesBetween(DateUnit::Millisecond),
                    vec![start.expr, value.expr],
                    Type::Int,
                ))
            }
            ("to_timestamp", 1) => {
                let seconds = convert(values.swap_remove(0), Type::Float)?;
                let million = Expr::Literal(Scalar::Float(1e6));
                let micros =
                    Typed::new(Expr::Call(Function::Multiply, vec![seconds, million]), Type::Float);
                let micros = cast(micros, Type::Int, false)?.expr;
                let start = Expr::Literal(Scalar::Instant(0));
                Ok(call(Function::AddMicroseconds, vec![start, micros], Type::Instant))
            }
            ("strftime" | "format_date" | "date_format", 2) => {
                // The format may come first.
                let at =
                    usize::from(values[0].dtype != Type::Text || values[1].dtype == Type::Text);
                let format =
                    constant_text(&values[at], name, if at == 0 { "first" } else { "second" })?;
                let value = moment(values.swap_remove(1 - at), name)?;
                let values = vec![value.expr, Typed::text(format).expr];
                Ok(call(Function::FormatTime, values, Type::Text))
            }
            ("to_char", _) => Err(SqlError::new("`to_char` is not supported")
                .hint("use strftime(date, '%Y-%m-%d'), with a format such as %Y, %m, %d, %H, %M")),
            ("strptime" | "try_strptime", 2) => {
                constant_text(&values[1], name, "second")?;
                let function =
                    if name == "strptime" { Function::ParseTime } else { Function::TryParseTime };
                Ok(call(function, texts(values)?, Type::Timestamp))
            }
            ("make_date", 3) => {
                let parts =
                    values.into_iter().map(|it| convert(it, Type::Int)).collect::<Result<_>>()?;
                Ok(call(Function::MakeDate, parts, Type::Date))
            }
            ("date" | "to_date", 1) => cast(values.swap_remove(0), Type::Date, false),
            ("timestamp" | "datetime", 1) => cast(values.swap_remove(0), Type::Timestamp, false),
            ("last_day" | "monthname" | "dayname", 1) => {
                let value = moment(values.swap_remove(0), name)?;
                let date = cast(value, Type::Date, false)?.expr;
                Ok(match name {
                    "last_day" => call(Function::LastDay, vec![date], Type::Date),
                    "monthname" => call(Function::MonthName, vec![date], Type::Text),
                    _ => call(Function::DayName, vec![date], Type::Text),
                })
            }
            (
                "year" | "quarter" | "month" | "week" | "day" | "dayofmonth" | "dayofweek"
                | "weekday" | "isodow" | "dayofyear" | "hour" | "minute" | "second" | "epoch"
                | "weekofyear" | "isoyear",
                1,
            ) => {
                let value = values.swap_remove(0);
                self.date_part(name, value)
            }
            ("age", 2) => Err(SqlError::new("`age` is not supported")
                .hint("use date_diff('day', start, end), or end - start")),
            ("now" | "current_timestamp" | "localtimestamp", 0) => {
                Ok(Typed::new(Expr::Literal(Scalar::Timestamp(self.now)), Type::Timestamp))
            }
            ("current_date" | "today", 0) => {
                let (days, _) = split_micros(self.now);
                Ok(Typed::new(Expr::Literal(Scalar::Date(days)), Type::Date))
            }
            _ => return Ok(None),
        };
        found.map(Some)
    }
}
