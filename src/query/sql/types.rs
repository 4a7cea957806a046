//! Types of expressions, and how they are made to agree.

use crate::plan::{Cast, Expr, Function, Scalar, Type};

use super::constants::{DAY_MICROS, date, date_text, split_micros, time, timestamp};
use super::error::{Result, SqlError};

/// An expression with its type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Typed {
    /// The expression.
    pub expr: Expr,
    pub dtype: Type,
}

impl Typed {
    pub(crate) fn new(expr: Expr, dtype: Type) -> Typed {
        Typed { expr, dtype }
    }

    pub(crate) fn null() -> Typed {
        Typed::new(Expr::Literal(Scalar::Null), Type::Null)
    }

    pub(crate) fn int(value: i64) -> Typed {
        Typed::new(Expr::Literal(Scalar::Int(value)), Type::Int)
    }

    pub(crate) fn text(value: impl Into<String>) -> Typed {
        Typed::new(Expr::Literal(Scalar::Text(value.into())), Type::Text)
    }

    pub(crate) fn bool(value: bool) -> Typed {
        Typed::new(Expr::Literal(Scalar::Bool(value)), Type::Bool)
    }

    /// Returns the constant, if the expression is one.
    pub(crate) fn literal(&self) -> Option<&Scalar> {
        match &self.expr {
            Expr::Literal(value) => Some(value),
            _ => None,
        }
    }

    fn is_text_literal(&self) -> bool {
        matches!(self.literal(), Some(Scalar::Text(_)))
    }
}

/// Makes a call whose result has the type `dtype`.
pub(crate) fn call(function: Function, arguments: Vec<Expr>, dtype: Type) -> Typed {
    Typed::new(Expr::Call(function, arguments), dtype)
}

/// Returns the name of a type, as SQL and messages write it.
pub(crate) fn name(dtype: Type) -> &'static str {
    match dtype {
        Type::Null => "NULL",
        Type::Bool => "boolean",
        Type::Int => "bigint",
        Type::Float => "double",
        Type::Text => "text",
        Type::Date => "date",
        Type::Timestamp => "timestamp",
        Type::Instant => "timestamp with time zone",
        Type::Time => "time",
        Type::Duration => "interval",
    }
}

/// Returns the type that values of both types are converted to without loss of meaning.
pub(crate) fn common(a: Type, b: Type) -> Option<Type> {
    Some(match (a, b) {
        (a, b) if a == b => a,
        (Type::Null, it) | (it, Type::Null) => it,
        (Type::Int, Type::Float) | (Type::Float, Type::Int) => Type::Float,
        (Type::Date, Type::Timestamp) | (Type::Timestamp, Type::Date) => Type::Timestamp,
        (Type::Date | Type::Timestamp, Type::Instant)
        | (Type::Instant, Type::Date | Type::Timestamp) => Type::Instant,
        _ => return None,
    })
}

/// Makes the expressions agree on one type: literals of text become what the others are. Fails when they have
/// no type in common.
pub(crate) fn agree(values: Vec<Typed>) -> Result<(Vec<Expr>, Type)> {
    let is_literal = |it: &Typed| it.is_text_literal();
    let mut dtype = Type::Null;
    for value in values.iter().filter(|it| !is_literal(it)) {
        dtype = common(dtype, value.dtype).ok_or_else(|| disagree(dtype, value.dtype))?;
    }
    if dtype == Type::Null && values.iter().any(is_literal) {
        dtype = Type::Text;
    }
    // A literal may have more than the others: a time of day beside dates.
    if dtype == Type::Date {
        let has_time = |it: &Typed| match it.literal() {
            Some(Scalar::Text(text)) => date(text).is_none() && timestamp(text).is_some(),
            _ => false,
        };
        if values.iter().any(has_time) {
            dtype = Type::Timestamp;
        }
    }
    if dtype == Type::Int {
        let is_fraction = |it: &Typed| match it.literal() {
            Some(Scalar::Text(text)) => {
                text.trim().parse::<i64>().is_err() && text.trim().parse::<f64>().is_ok()
            }
            _ => false,
        };
        if values.iter().any(is_fraction) {
            dtype = Type::Float;
        }
    }
    let exprs = values.into_iter().map(|it| convert(it, dtype)).collect::<Result<_>>()?;
    Ok((exprs, dtype))
}

/// Returns the error for a value that is no number. `what` needs one.
pub(crate) fn takes_numbers(what: &str, found: Type) -> SqlError {
    let error = SqlError::new(format!("`{what}` takes numbers, not {}", name(found)));
    if found == Type::Text {
        error.hint("write cast(… as double), or try_cast, which gives NULL for other text")
    } else {
        error
    }
}

fn disagree(a: Type, b: Type) -> SqlError {
    let message = format!("{} and {} cannot be combined", name(a), name(b));
    let is_day = |it| matches!(it, Type::Date | Type::Timestamp | Type::Instant);
    let is_number = |it| matches!(it, Type::Int | Type::Float);
    if (is_day(a) && is_number(b)) || (is_number(a) && is_day(b)) {
        return SqlError::new(message).hint("write a date as '2024-12-31', or compare `year(…)`");
    }
    SqlError::new(message).hint(format!(
        "convert one of them: `cast(… as {})`, or `try_cast`, which gives NULL for values that do not fit",
        name(if a == Type::Text { b } else { a })
    ))
}

/// Converts an expression where SQL does so by itself: numbers to floats, dates to timestamps, literals of text
/// to anything. Fails when the types do not allow it, or a literal is not of the type.
pub(crate) fn convert(value: Typed, dtype: Type) -> Result<Expr> {
    if value.dtype == dtype || dtype == Type::Null {
        return Ok(value.expr);
    }
    if value.dtype == Type::Null {
        return Ok(cast(value, dtype, false)?.expr);
    }
    let is_implicit = common(value.dtype, dtype) == Some(dtype) || value.is_text_literal();
    if !is_implicit {
        return Err(disagree(value.dtype, dtype));
    }
    Ok(cast(value, dtype, false)?.expr)
}

/// Casts an expression. The cast of a literal is a literal. Fails when there is no such cast, or a literal is
/// not of the type.
pub(crate) fn cast(value: Typed, to: Type, is_try: bool) -> Result<Typed> {
    let from = value.dtype;
    if from == to {
        return Ok(value);
    }
    if let Some(literal) = value.literal()
        && let Some(found) = cast_literal(literal, to)
    {
        return match found {
            Literal::Value(scalar) => Ok(Typed::new(Expr::Literal(scalar), to)),
            Literal::NotOfType if is_try => Ok(Typed::new(null_of(to), to)),
            Literal::NotOfType => {
                let text = match literal {
                    Scalar::Text(text) => format!("'{text}'"),
                    other => format!("{other:?}"),
                };
                let error = SqlError::new(format!("{text} is not a {}", name(to)));
                Err(match to {
                    Type::Date => error.hint("write a date as '2024-12-31'"),
                    Type::Timestamp => error.hint("write a timestamp as '2024-12-31 23:59:59'"),
                    _ => error,
                })
            }
        };
    }
    if !is_castable(from, to) {
        return Err(SqlError::new(format!("a {} cannot become a {}", name(from), name(to))));
    }
    let cast = Cast { input: value.expr, from, to, is_try };
    Ok(Typed::new(Expr::Cast(Box::new(cast)), to))
}

/// Returns NULL as a value of a type.
pub(crate) fn null_of(dtype: Type) -> Expr {
    let null = Expr::Literal(Scalar::Null);
    if dtype == Type::Null {
        return null;
    }
    Expr::Cast(Box::new(Cast { input: null, from: Type::Null, to: dtype, is_try: false }))
}

fn is_castable(from: Type, to: Type) -> bool {
    use Type::{Bool, Date, Duration, Float, Instant, Int, Null, Text, Time, Timestamp};
    match (from, to) {
        (Duration, _) | (_, Duration | Null) => false,
        (Null | Text, _)
        | (_, Text)
        | (Bool | Int | Float, Bool | Int | Float)
        | (Date | Timestamp | Instant, Date | Timestamp | Instant)
        | (Timestamp | Instant, Time) => true,
        _ => false,
    }
}

/// Casts a literal to a type that it may not be of; `None` leaves the cast to the engine.
fn cast_literal(literal: &Scalar, to: Type) -> Option<Literal> {
    let found = match (literal, to) {
        (Scalar::Text(text), Type::Int) => match text.trim().parse() {
            Ok(value) => Some(Scalar::Int(value)),
            // The engine rounds decimals.
            Err(_) if text.trim().parse::<f64>().is_ok() => return None,
            Err(_) => None,
        },
        (Scalar::Text(text), Type::Float) => text.trim().parse().ok().map(Scalar::Float),
        (Scalar::Text(text), Type::Bool) => bool_of(text).map(Scalar::Bool),
        (Scalar::Text(text), Type::Date) => match date(text) {
            Some(days) => Some(Scalar::Date(days)),
            None => timestamp(text).map(|it| Scalar::Date(split_micros(it).0)),
        },
        (Scalar::Text(text), Type::Timestamp) => timestamp(text).map(Scalar::Timestamp),
        (Scalar::Text(text), Type::Instant) => timestamp(text).map(Scalar::Instant),
        (Scalar::Text(text), Type::Time) => time(text).map(Scalar::Time),
        // A decimal in the text is rounded half away from zero.
        #[expect(clippy::cast_possible_truncation, reason = "checked to be small")]
        (Scalar::Float(value), Type::Int) if value.abs() < 9e15 => {
            Some(Scalar::Int(value.round() as i64))
        }
        #[expect(clippy::cast_precision_loss, reason = "SQL converts whole numbers to doubles")]
        (Scalar::Int(value), Type::Float) => Some(Scalar::Float(*value as f64)),
        (Scalar::Date(days), Type::Timestamp) => {
            i64::from(*days).checked_mul(DAY_MICROS).map(Scalar::Timestamp)
        }
        (Scalar::Date(days), Type::Instant) => {
            i64::from(*days).checked_mul(DAY_MICROS).map(Scalar::Instant)
        }
        (Scalar::Timestamp(micros), Type::Instant) => Some(Scalar::Instant(*micros)),
        (Scalar::Timestamp(micros), Type::Date) => Some(Scalar::Date(split_micros(*micros).0)),
        (Scalar::Date(days), Type::Text) => date_text(*days).map(Scalar::Text),
        (Scalar::Int(value), Type::Text) => Some(Scalar::Text(value.to_string())),
        (Scalar::Bool(value), Type::Text) => Some(Scalar::Text(value.to_string())),
        (Scalar::Int(value @ (0 | 1)), Type::Bool) => Some(Scalar::Bool(*value == 1)),
        _ => return None,
    };
    Some(found.map_or(Literal::NotOfType, Literal::Value))
}

/// The cast of a literal.
enum Literal {
    Value(Scalar),
    /// It has no counterpart.
    NotOfType,
}

/// Reads a truth value.
pub(crate) fn bool_of(text: &str) -> Option<bool> {
    match text.trim().to_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" | "on" => Some(true),
        "false" | "f" | "no" | "n" | "0" | "off" => Some(false),
        _ => None,
    }
}
