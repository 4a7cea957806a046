//! Values of rows as polars expressions.

use polars::prelude::{
    DataType, Expr as Polars, LiteralValue, NamedFrom as _, PolarsResult, Scalar as PolarsScalar,
    Series, coalesce, lit, ternary_expr,
};

use crate::plan::{Cast, DatePart, Expr, Function, Scalar, Type};

use super::aggregates::column;
use super::casts::cast;
use super::elementwise::{
    DURATION, TIMESTAMP, by_zero, failure, float_to_float, floats_to_float, instant, int_to_int,
    ints_to_int, overflow,
};
use super::{numbers, text, time};

/// Values of IN from which on they are looked up in a set.
const LIST_FROM: usize = 16;

/// Returns an expression for polars.
///
/// # Errors
///
/// Fails when an argument that has to be a constant is not one, or not of its form.
pub(super) fn lower(expr: &Expr) -> PolarsResult<Polars> {
    Lowering::default().lower(expr)
}

/// How expressions are lowered: polars computes each in every row, also where another branch is taken, and it must not
/// fail there.
#[derive(Default)]
struct Lowering {
    /// Where the value counts; elsewhere, columns are null.
    condition: Option<Polars>,
}

impl Lowering {
    /// Returns the lowering of what counts only where these conditions hold as well. Null counts as false.
    fn within(&self, conditions: &[Polars]) -> PolarsResult<Lowering> {
        let all = self.condition.iter().chain(conditions).cloned();
        Ok(Lowering { condition: Some(joined(all.collect(), Polars::and)?) })
    }

    /// Lowers an expression that counts only where these conditions hold as well.
    fn lower_within(&self, conditions: &[Polars], expr: &Expr) -> PolarsResult<Polars> {
        if conditions.is_empty() || !can_fail(expr) {
            return self.lower(expr);
        }
        self.within(conditions)?.lower(expr)
    }

    fn lower(&self, expr: &Expr) -> PolarsResult<Polars> {
        match expr {
            Expr::Column(id) => Ok(match &self.condition {
                None => column(*id),
                Some(it) => ternary_expr(it.clone(), column(*id), literal(&Scalar::Null)),
            }),
            Expr::Literal(value) => Ok(literal(value)),
            Expr::Call(Function::And, arguments) if arguments.iter().skip(1).any(can_fail) => {
                let mut before: Vec<Polars> = Vec::new();
                for part in arguments {
                    before.push(self.lower_within(&before, part)?);
                }
                joined(before, Polars::and)
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Cast(inner) => {
                let Cast { input, from, to, is_try } = &**inner;
                Ok(cast(self.lower(input)?, *from, *to, *is_try))
            }
            Expr::Case { branches, otherwise } => {
                let mut missed: Vec<Polars> = Vec::new();
                let mut lowered = Vec::new();
                for (condition, then) in branches {
                    let condition = self.lower_within(&missed, condition)?;
                    let is_missed = coalesce(&[condition.clone(), lit(false)]).not();
                    missed.push(condition.clone());
                    lowered.push((condition, self.lower_within(&missed, then)?));
                    missed.pop();
                    missed.push(is_missed);
                }
                let mut value = self.lower_within(&missed, otherwise)?;
                for (condition, then) in lowered.into_iter().rev() {
                    // Null counts as false.
                    value = ternary_expr(condition, then, value);
                }
                Ok(value)
            }
        }
    }

    #[expect(clippy::too_many_lines, reason = "a table of functions")]
    fn call(&self, function: Function, arguments: &[Expr]) -> PolarsResult<Polars> {
        use Function as F;
        if let Some(found) = self.with_constants(function, arguments)? {
            return Ok(found);
        }
        let values: Vec<Polars> =
            arguments.iter().map(|it| self.lower(it)).collect::<PolarsResult<_>>()?;
        let n_values = values.len();
        let mut rest = values.clone().into_iter();
        let mut next = || {
            rest.next().ok_or_else(|| {
                failure(format!("{function:?} takes more than {n_values} arguments"))
            })
        };
        Ok(match function {
            F::And => joined(values, Polars::and)?,
            F::Or => joined(values, Polars::or)?,
            F::Not => next()?.not(),
            F::IsNull => next()?.is_null(),
            F::Equal => next()?.eq(next()?),
            F::NotEqual => next()?.neq(next()?),
            F::Less => next()?.lt(next()?),
            F::LessEqual => next()?.lt_eq(next()?),
            F::Greater => next()?.gt(next()?),
            F::GreaterEqual => next()?.gt_eq(next()?),
            F::IsNotDistinct => next()?.eq_missing(next()?),
            F::In => self.is_in(arguments)?,
            F::Add => next()? + next()?,
            F::AddInt => ints_to_int(next()?, next()?, |a, b| checked(a.checked_add(b))),
            F::Subtract => next()? - next()?,
            F::SubtractInt => ints_to_int(next()?, next()?, |a, b| checked(a.checked_sub(b))),
            F::Multiply => next()? * next()?,
            F::MultiplyInt => ints_to_int(next()?, next()?, |a, b| checked(a.checked_mul(b))),
            // Not `/` of polars, which multiplies by the inverse of a constant.
            F::Divide => floats_to_float(next()?, next()?, |a, b| Some(a / b)),
            F::IntegerDivide => ints_to_int(next()?, next()?, |a, b| match b {
                0 => Err(by_zero()),
                b => checked(a.checked_div(b)),
            }),
            F::Modulo => floats_to_float(next()?, next()?, |a, b| Some(a % b)),
            F::ModuloInt => ints_to_int(next()?, next()?, |a, b| match b {
                0 => Err(by_zero()),
                b => Ok(Some(a.wrapping_rem(b))),
            }),
            F::Negate => float_to_float(next()?, |it| -it),
            F::NegateInt => int_to_int(next()?, |it| checked(it.checked_neg())),
            F::Absolute => float_to_float(next()?, f64::abs),
            F::AbsoluteInt => int_to_int(next()?, |it| checked(it.checked_abs())),
            F::Sign => numbers::sign(next()?),
            F::Floor => float_to_float(next()?, f64::floor),
            F::Ceiling => float_to_float(next()?, f64::ceil),
            F::Truncate => float_to_float(next()?, f64::trunc),
            F::SquareRoot => float_to_float(next()?, f64::sqrt),
            F::Power => floats_to_float(next()?, next()?, |a, b| Some(a.powf(b))),
            F::Exponential => float_to_float(next()?, f64::exp),
            F::NaturalLogarithm => float_to_float(next()?, f64::ln),
            F::Logarithm10 => float_to_float(next()?, f64::log10),
            F::Logarithm2 => float_to_float(next()?, f64::log2),
            F::Sine => float_to_float(next()?, f64::sin),
            F::Cosine => float_to_float(next()?, f64::cos),
            F::Tangent => float_to_float(next()?, f64::tan),
            F::Greatest => joined(values, |a, b| chosen(a.clone().gt_eq(b.clone()), a, b))?,
            F::Least => joined(values, |a, b| chosen(a.clone().lt_eq(b.clone()), a, b))?,
            F::Coalesce => coalesce(&values),
            F::Concat => text::concat(values),
            F::ConcatSeparated => text::concat_separated(values),
            F::Lower => text::lower(next()?),
            F::Upper => text::upper(next()?),
            F::Length => next()?.str().len_chars().cast(DataType::Int64),
            F::Replace => text::replace(values),
            F::Substring => text::substring(values),
            F::Position => text::position(values),
            F::StartsWith => next()?.str().starts_with(next()?),
            F::EndsWith => next()?.str().ends_with(next()?),
            F::Contains => next()?.str().contains_literal(next()?),
            F::Reverse => text::reverse(next()?),
            F::InitialCapitals => text::initial_capitals(next()?),
            F::DatePart(DatePart::Epoch) | F::DurationSeconds => time::seconds(next()?),
            F::DatePart(part) => time::part(next()?, part),
            F::DateTruncate(unit) => time::truncate(next()?, unit),
            F::AddMonths => time::add_months(next()?, next()?),
            F::AddDays => time::add_days(next()?, next()?),
            F::AddDuration | F::AddMicroseconds => time::add_micros(next()?, next()?),
            F::DaysBetween => time::days_between(next()?, next()?),
            F::TimeBetween => time::time_between(next()?, next()?),
            F::BoundariesBetween(unit) => time::boundaries(next()?, next()?, unit),
            F::MakeDate => time::make_date(values),
            F::LastDay => time::last_day(next()?),
            F::MonthName => time::month_name(next()?),
            F::DayName => time::day_name(next()?),
            F::Round
            | F::RoundDecimal
            | F::Trim
            | F::TrimStart
            | F::TrimEnd
            | F::Left
            | F::Right
            | F::RegexMatch
            | F::RegexReplaceFirst
            | F::RegexReplaceAll
            | F::RegexExtract
            | F::SplitPart
            | F::Repeat
            | F::PadStart
            | F::PadEnd
            | F::FormatTime
            | F::ParseTime
            | F::TryParseTime => {
                return Err(failure(format!("{function:?} takes constants")));
            }
        })
    }

    /// Returns whether the first argument equals one of the others, which are literals.
    fn is_in(&self, arguments: &[Expr]) -> PolarsResult<Polars> {
        let Some((value, list)) = arguments.split_first() else {
            return Err(failure("IN of nothing"));
        };
        let value = self.lower(value)?;
        let is_null = |it: &&Expr| matches!(it, Expr::Literal(Scalar::Null));
        let known: Vec<&Expr> = list.iter().filter(|it| !is_null(it)).collect();
        let equal = known.iter().map(|it| Ok(value.clone().eq(self.lower(it)?)));
        let texts: Option<Vec<&str>> = known
            .iter()
            .map(|it| match it {
                Expr::Literal(Scalar::Text(text)) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let numbers: Option<Vec<i64>> = known
            .iter()
            .map(|it| match it {
                Expr::Literal(Scalar::Int(number)) => Some(*number),
                _ => None,
            })
            .collect();
        let found = match (texts, numbers) {
            _ if known.is_empty() => value.is_null().and(lit(false)),
            (Some(texts), _) if LIST_FROM < texts.len() => {
                value.is_in(lit(Series::new("".into(), texts)).implode(false), false)
            }
            (_, Some(numbers)) if LIST_FROM < numbers.len() => {
                value.is_in(lit(Series::new("".into(), numbers)).implode(false), false)
            }
            _ => joined(equal.collect::<PolarsResult<_>>()?, Polars::or)?,
        };
        if known.len() == list.len() {
            return Ok(found);
        }
        // A null in the list may be equal to what was not found.
        Ok(found.or(literal(&Scalar::Null).cast(DataType::Boolean)))
    }

    /// Returns the calls whose further arguments are constants.
    fn with_constants(
        &self,
        function: Function,
        arguments: &[Expr],
    ) -> PolarsResult<Option<Polars>> {
        use Function as F;
        let Some((first, constants)) = arguments.split_first() else { return Ok(None) };
        let text_at = |at: usize| match constants.get(at) {
            Some(Expr::Literal(Scalar::Text(text))) => Ok(text.clone()),
            _ => {
                Err(failure(format!("argument {} of {function:?} is not a constant text", at + 2)))
            }
        };
        let int_at = |at: usize| match constants.get(at) {
            Some(Expr::Literal(Scalar::Int(number))) => Ok(*number),
            _ => Err(failure(format!(
                "argument {} of {function:?} is not a constant number",
                at + 2
            ))),
        };
        let value = || self.lower(first);
        Ok(Some(match function {
            F::Round => {
                let decimals = int_at(0)?;
                float_to_float(value()?, move |it| numbers::round(it, decimals))
            }
            F::RoundDecimal => {
                let decimals = int_at(0)?;
                float_to_float(value()?, move |it| numbers::round_decimal(it, decimals))
            }
            F::Trim => text::trim(value()?, text_at(0)?, true, true),
            F::TrimStart => text::trim(value()?, text_at(0)?, true, false),
            F::TrimEnd => text::trim(value()?, text_at(0)?, false, true),
            F::Left => text::left(value()?, int_at(0)?),
            F::Right => text::right(value()?, int_at(0)?),
            F::Repeat => text::repeat(value()?, int_at(0)?),
            F::PadStart => text::pad(value()?, int_at(0)?, text_at(1)?, true),
            F::PadEnd => text::pad(value()?, int_at(0)?, text_at(1)?, false),
            F::SplitPart => text::split_part(value()?, text_at(0)?, int_at(1)?),
            F::RegexMatch => text::regex_match(value()?, &text_at(0)?)?,
            F::RegexReplaceFirst => {
                text::regex_replace(value()?, &text_at(0)?, &text_at(1)?, false)?
            }
            F::RegexReplaceAll => text::regex_replace(value()?, &text_at(0)?, &text_at(1)?, true)?,
            F::RegexExtract => text::regex_extract(value()?, &text_at(0)?, int_at(1)?)?,
            F::FormatTime => time::format(value()?, text_at(0)?),
            F::ParseTime => time::parse(value()?, text_at(0)?, false),
            F::TryParseTime => time::parse(value()?, text_at(0)?, true),
            _ => return Ok(None),
        }))
    }
}

/// Returns a constant.
pub(super) fn literal(value: &Scalar) -> Polars {
    let micros = |micros: i64, dtype: DataType| lit(micros).cast(dtype);
    match value {
        Scalar::Null => lit(LiteralValue::Scalar(PolarsScalar::null(DataType::Null))),
        Scalar::Bool(value) => lit(*value),
        // Not `lit` of the number: a small one may become one of 32 bits.
        Scalar::Int(value) => lit(LiteralValue::Scalar(PolarsScalar::from(*value))),
        Scalar::Float(value) => lit(LiteralValue::Scalar(PolarsScalar::from(*value))),
        Scalar::Text(text) => lit(text.as_str()),
        Scalar::Date(days) => lit(*days).cast(DataType::Date),
        Scalar::Timestamp(value) => micros(*value, TIMESTAMP),
        Scalar::Instant(value) => micros(*value, instant()),
        Scalar::Time(value) => lit(value.saturating_mul(1_000)).cast(DataType::Time),
        Scalar::Duration(value) => micros(*value, DURATION),
    }
}

fn joined(values: Vec<Polars>, join: fn(Polars, Polars) -> Polars) -> PolarsResult<Polars> {
    // A balanced tree: thousands of parts in a row would be as many levels.
    let mut values = values;
    while 1 < values.len() {
        let mut pairs = Vec::with_capacity(values.len().div_ceil(2));
        let mut rest = values.into_iter();
        while let Some(first) = rest.next() {
            pairs.push(match rest.next() {
                Some(second) => join(first, second),
                None => first,
            });
        }
        values = pairs;
    }
    values.pop().ok_or_else(|| failure("nothing is combined"))
}

/// Returns `a` where the condition holds, else `b`; the other where one is null. Polars has functions for the least and
/// the greatest, which are wrong for some rows with NaN.
fn chosen(is_a: Polars, a: Polars, b: Polars) -> Polars {
    let has_a = a.clone().is_not_null();
    ternary_expr(has_a.and(b.clone().is_null().or(is_a)), a, b)
}

fn checked(value: Option<i64>) -> PolarsResult<Option<i64>> {
    value.map(Some).ok_or_else(overflow)
}

/// Returns whether an expression may fail the query for some values.
pub(super) fn can_fail(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) | Expr::Literal(_) => false,
        Expr::Call(function, arguments) => {
            let fails = matches!(
                function,
                Function::IntegerDivide
                    | Function::ModuloInt
                    | Function::ParseTime
                    | Function::MakeDate
                    | Function::AddInt
                    | Function::SubtractInt
                    | Function::MultiplyInt
                    | Function::NegateInt
                    | Function::AbsoluteInt
                    | Function::AddDays
                    | Function::AddMonths
                    | Function::AddDuration
                    | Function::AddMicroseconds
                    | Function::TimeBetween
                    | Function::Repeat
                    | Function::PadStart
                    | Function::PadEnd
                    | Function::FormatTime
            );
            fails || arguments.iter().any(can_fail)
        }
        Expr::Cast(cast) => {
            !cast.is_try && matches!(cast.from, Type::Text | Type::Float) || can_fail(&cast.input)
        }
        Expr::Case { branches, otherwise } => {
            branches.iter().any(|(condition, value)| can_fail(condition) || can_fail(value))
                || can_fail(otherwise)
        }
    }
}
