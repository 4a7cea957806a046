//! Values of rows as polars expressions.

use std::cell::RefCell;

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

/// Expressions for polars.
pub(super) struct Lowered {
    /// Columns to add before, one after the other: each may need those before it.
    pub steps: Vec<Polars>,
    /// The expressions, in order.
    pub values: Vec<Polars>,
}

/// Returns expressions for polars. Fails when an argument that has to be a constant is not one, or not of its
/// form.
pub(super) fn lower<'a>(exprs: impl IntoIterator<Item = &'a Expr>) -> PolarsResult<Lowered> {
    let steps = RefCell::default();
    let lowering = Lowering { condition: None, steps: &steps };
    let values = exprs.into_iter().map(|it| lowering.lower(it)).collect::<PolarsResult<_>>()?;
    Ok(Lowered { steps: steps.into_inner(), values })
}

/// Returns the name of the `index`th column of [`Lowered::steps`]. No column of a plan has it.
pub(super) fn step(index: usize) -> String {
    format!("step {index}")
}

/// How expressions are lowered: polars computes each in every row, also where another branch is taken, and it must not
/// fail there.
#[derive(Clone)]
struct Lowering<'a> {
    /// Where the value counts; elsewhere, columns are null.
    condition: Option<Polars>,
    /// See [`Lowered::steps`].
    steps: &'a RefCell<Vec<Polars>>,
}

impl Lowering<'_> {
    /// Returns the value as a column that is computed before. What is used several times has to be one: an expression
    /// is a tree, and would grow by that factor with each level.
    fn kept(&self, value: Polars) -> Polars {
        if matches!(value, Polars::Column(_) | Polars::Literal(_)) {
            return value;
        }
        let mut steps = self.steps.borrow_mut();
        let name = step(steps.len());
        steps.push(value.alias(name.as_str()));
        Polars::Column(name.into())
    }

    /// Returns the lowering of what counts only where this condition holds as well. Null counts as false.
    fn within(&self, condition: Polars) -> Self {
        let condition = match &self.condition {
            Some(outer) => outer.clone().and(condition),
            None => condition,
        };
        Lowering { condition: Some(self.kept(condition)), steps: self.steps }
    }

    /// Returns AND of expressions, of which each is computed only where those before it are not false.
    fn all(&self, parts: &[Expr]) -> PolarsResult<Polars> {
        let mut here = self.clone();
        let mut lowered = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let value = if can_fail(part) { here.lower(part)? } else { self.lower(part)? };
            let value = if parts[at + 1..].iter().any(can_fail) {
                let value = self.kept(value);
                here = here.within(value.clone());
                value
            } else {
                value
            };
            lowered.push(value);
        }
        joined(lowered, Polars::and)
    }

    /// Returns CASE, of which each branch is computed only where none before it is taken.
    fn case(&self, branches: &[(Expr, Expr)], otherwise: &Expr) -> PolarsResult<Polars> {
        let mut here = self.clone();
        let mut lowered = Vec::new();
        let lower =
            |here: &Self, expr| if can_fail(expr) { here.lower(expr) } else { self.lower(expr) };
        for (at, (condition, then)) in branches.iter().enumerate() {
            let mut condition = lower(&here, condition)?;
            let rest = &branches[at + 1..];
            let is_rest_safe =
                !can_fail(otherwise) && !rest.iter().any(|it| can_fail(&it.0) || can_fail(&it.1));
            if can_fail(then) || !is_rest_safe {
                condition = self.kept(condition);
            }
            let then = if can_fail(then) {
                here.within(condition.clone()).lower(then)?
            } else {
                self.lower(then)?
            };
            if !is_rest_safe {
                // Null counts as false.
                here = here.within(coalesce(&[condition.clone(), lit(false)]).not());
            }
            lowered.push((condition, then));
        }
        let mut value = lower(&here, otherwise)?;
        for (condition, then) in lowered.into_iter().rev() {
            value = ternary_expr(condition, then, value);
        }
        Ok(value)
    }

    fn lower(&self, expr: &Expr) -> PolarsResult<Polars> {
        match expr {
            Expr::Column(id) => Ok(match &self.condition {
                None => column(*id),
                Some(it) => ternary_expr(it.clone(), column(*id), literal(&Scalar::Null)),
            }),
            Expr::Literal(value) => Ok(literal(value)),
            Expr::Call(Function::And, arguments) => self.all(arguments),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Cast(inner) => {
                let Cast { input, from, to, is_try } = &**inner;
                Ok(cast(self.lower(input)?, *from, *to, *is_try))
            }
            Expr::Case { branches, otherwise } => self.case(branches, otherwise),
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
            F::Greatest => joined(values, |a, b| self.chosen(a, b, Polars::gt_eq))?,
            F::Least => joined(values, |a, b| self.chosen(a, b, Polars::lt_eq))?,
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
            F::And => return Err(failure("AND is lowered by itself")),
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

    /// Returns `a` where it is before `b`, else `b`; the other where one is null. Polars has functions for the least and
    /// the greatest, which are wrong for some rows with NaN.
    fn chosen(&self, a: Polars, b: Polars, is_before: fn(Polars, Polars) -> Polars) -> Polars {
        let (a, b) = (self.kept(a), self.kept(b));
        let is_a = is_before(a.clone(), b.clone());
        ternary_expr(a.clone().is_not_null().and(b.clone().is_null().or(is_a)), a, b)
    }

    /// Returns whether the first argument equals one of the others, which are literals.
    fn is_in(&self, arguments: &[Expr]) -> PolarsResult<Polars> {
        let Some((value, list)) = arguments.split_first() else {
            return Err(failure("IN of nothing"));
        };
        let value = self.kept(self.lower(value)?);
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

fn joined(values: Vec<Polars>, join: impl Fn(Polars, Polars) -> Polars) -> PolarsResult<Polars> {
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

#[cfg(test)]
mod tests {
    use polars::prelude::Expr as Polars;

    use super::{Lowered, lower};
    use crate::plan::{ColumnId, Expr, Function, Scalar};

    fn call(function: Function, arguments: Vec<Expr>) -> Expr {
        Expr::Call(function, arguments)
    }

    /// Returns `column * number`, which can fail.
    fn product(number: i64) -> Expr {
        let number = Expr::Literal(Scalar::Int(number));
        call(Function::MultiplyInt, vec![Expr::Column(ColumnId(0)), number])
    }

    fn is_less(number: i64) -> Expr {
        call(Function::Less, vec![product(number), product(7)])
    }

    fn n_nodes(expr: &Expr) -> usize {
        let Lowered { steps, values } = lower([expr]).unwrap();
        steps.iter().chain(&values).map(|it: &Polars| it.into_iter().count()).sum()
    }

    #[test]
    fn an_expression_grows_with_what_it_is_made_of() {
        let case = |n: i64| {
            let branches = (0..n).map(|it| (is_less(it), product(it))).collect();
            Expr::Case { branches, otherwise: Box::new(product(n)) }
        };
        let within = |n: i64| {
            (0..n).fold(product(n), |inner, it| Expr::Case {
                branches: vec![(is_less(it), inner)],
                otherwise: Box::new(product(it)),
            })
        };
        let all = |n: i64| call(Function::And, (0..n).map(is_less).collect());
        let nested = |n: i64| {
            (0..n).fold(product(n), |inner, it| call(Function::Greatest, vec![inner, product(it)]))
        };
        let made: [(&str, &dyn Fn(i64) -> Expr); 4] =
            [("case", &case), ("within", &within), ("and", &all), ("greatest", &nested)];
        for (name, made) in made {
            let (few, many) = (n_nodes(&made(8)), n_nodes(&made(32)));
            assert!(many < 5 * few, "{name}: {few} for 8, {many} for 32");
        }
    }
}
