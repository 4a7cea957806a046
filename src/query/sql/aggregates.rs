//! Aggregates: functions of the rows of a group.

use sqlparser::ast::OrderByExpr;

use crate::plan::{AggregateFunction, Expr, Scalar, Type};

use super::binder::Binder;
use super::env::{AggregateCall, Clause, Env, OrderCall};
use super::error::{Result, SqlError};
use super::functions::{CallParts, constant_text};
use super::types::{self, Typed, cast, convert};

/// The names of aggregates.
const NAMES: &[&str] = &[
    "count",
    "sum",
    "avg",
    "mean",
    "min",
    "max",
    "median",
    "mode",
    "stddev",
    "stddev_samp",
    "stddev_pop",
    "variance",
    "var_samp",
    "var_pop",
    "quantile",
    "quantile_cont",
    "quantile_disc",
    "percentile_cont",
    "percentile_disc",
    "approx_quantile",
    "string_agg",
    "group_concat",
    "listagg",
    "bool_and",
    "bool_or",
    "every",
    "any_value",
    "arbitrary",
    "arg_min",
    "arg_max",
    "min_by",
    "max_by",
    "corr",
    "covar_samp",
    "covar_pop",
    "count_if",
    "countif",
    "product",
    "approx_count_distinct",
    "first",
    "last",
    "array_agg",
    "list",
    "grouping",
    "entropy",
    "kurtosis",
    "skewness",
    "histogram",
    "regr_slope",
    "regr_intercept",
    "regr_r2",
];

/// Returns whether a function is an aggregate.
pub(crate) fn is_aggregate(name: &str) -> bool {
    NAMES.contains(&name)
}

impl Binder<'_> {
    /// Binds an aggregate of the groups of the statement. Fails where aggregates do not belong.
    pub(crate) fn aggregate_call(&mut self, parts: &CallParts<'_>, env: &mut Env) -> Result<Typed> {
        if env.clause != Clause::Output {
            let place = match env.clause {
                Clause::Where => "WHERE",
                Clause::GroupBy => "GROUP BY",
                Clause::On => "a join condition",
                Clause::Constant | Clause::Output => "a constant",
            };
            let mut error = SqlError::new(format!(
                "`{}` is an aggregate, which {place} cannot have",
                parts.name
            ));
            if env.clause == Clause::Where {
                error = error.hint("put the condition in HAVING, after GROUP BY");
            }
            return Err(error);
        }
        if env.in_aggregate {
            return Err(SqlError::new(format!("`{}` is in another aggregate", parts.name))
                .hint("compute the inner one in a subquery, or with WITH"));
        }
        env.in_aggregate = true;
        let bound = self.aggregate(parts, env);
        env.in_aggregate = false;
        let (aggregate, dtype) = bound?;
        let known = env.aggregates.iter().find(|it| it.1 == aggregate).map(|it| it.0);
        let id = known.unwrap_or_else(|| {
            let id = self.column(dtype);
            env.aggregates.push((id, aggregate));
            id
        });
        Ok(Typed::new(Expr::Column(id), dtype))
    }

    /// Binds the keys of an order that are not columns yet.
    pub(crate) fn order_calls(
        &mut self,
        order: &[OrderByExpr],
        env: &mut Env,
    ) -> Result<Vec<OrderCall>> {
        let call = |item: &OrderByExpr| -> Result<OrderCall> {
            Ok(OrderCall {
                value: self.expr(&item.expr, env)?,
                descending: item.options.asc == Some(false),
                nulls_first: item.options.nulls_first.unwrap_or(false),
            })
        };
        order.iter().map(call).collect()
    }

    /// Binds the function, arguments and filter of an aggregate.
    pub(crate) fn aggregate(
        &mut self,
        parts: &CallParts<'_>,
        env: &mut Env,
    ) -> Result<(AggregateCall, Type)> {
        let mut order = self.order_calls(&parts.order, env)?;
        let filter = match &parts.function.filter {
            Some(filter) => Some(self.condition(filter, env)?),
            None => None,
        };
        let arguments = self.exprs(&parts.arguments, env)?;
        let (function, arguments, dtype) = aggregate_of(parts, arguments, &mut order)?;
        let uses_order = matches!(
            function,
            AggregateFunction::Join(_) | AggregateFunction::First | AggregateFunction::Last
        );
        let order = if uses_order { order } else { Vec::new() };
        let distinct = parts.distinct || parts.name == "approx_count_distinct";
        Ok((AggregateCall { function, arguments, distinct, filter, order }, dtype))
    }
}

type Chosen = (AggregateFunction, Vec<Typed>, Type);

#[expect(clippy::too_many_lines, reason = "a table of functions")]
fn aggregate_of(
    parts: &CallParts<'_>,
    mut arguments: Vec<Typed>,
    order: &mut Vec<OrderCall>,
) -> Result<Chosen> {
    use AggregateFunction as A;
    let name = parts.name.as_str();
    let n_arguments = arguments.len();
    let float = |value: Typed| {
        let value = if value.dtype == Type::Bool { cast(value, Type::Int, false)? } else { value };
        match value.dtype {
            Type::Int | Type::Float | Type::Null => {
                Ok(Typed::new(convert(value, Type::Float)?, Type::Float))
            }
            other => Err(types::takes_numbers(name, other)),
        }
    };
    let one = |arguments: &mut Vec<Typed>| arguments.swap_remove(0);
    match (name, n_arguments) {
        ("count", 0) => Ok((A::CountRows, Vec::new(), Type::Int)),
        ("count" | "approx_count_distinct", 1) => Ok((A::Count, arguments, Type::Int)),
        ("count_if" | "countif", 1) => {
            let condition = convert(one(&mut arguments), Type::Bool)?;
            let one = Expr::Literal(Scalar::Int(1));
            let branches = vec![(condition, one)];
            let otherwise = Box::new(types::null_of(Type::Int));
            let value = Typed::new(Expr::Case { branches, otherwise }, Type::Int);
            Ok((A::Count, vec![value], Type::Int))
        }
        ("sum", 1) => {
            let value = one(&mut arguments);
            let value =
                if value.dtype == Type::Bool { cast(value, Type::Int, false)? } else { value };
            match value.dtype {
                Type::Int => Ok((A::Sum, vec![value], Type::Int)),
                _ => Ok((A::SumFloat, vec![float(value)?], Type::Float)),
            }
        }
        ("min" | "max" | "mode" | "any_value" | "arbitrary", 1) => {
            let value = one(&mut arguments);
            let dtype = value.dtype;
            if dtype == Type::Duration {
                return Err(SqlError::new(format!("`{name}` does not take intervals")));
            }
            let function = match name {
                "min" => A::Minimum,
                "max" if dtype == Type::Float => A::MaximumFloat,
                "max" => A::Maximum,
                "mode" => A::Mode,
                _ => A::First,
            };
            Ok((function, vec![value], dtype))
        }
        // `mode() within group (order by x)`
        ("mode", 0) if order.len() == 1 => {
            let value = order.remove(0).value;
            let dtype = value.dtype;
            Ok((A::Mode, vec![value], dtype))
        }
        (
            "avg" | "mean" | "median" | "stddev" | "stddev_samp" | "stddev_pop" | "variance"
            | "var_samp" | "var_pop" | "product",
            1,
        ) => {
            let function = match name {
                "avg" | "mean" => A::Average,
                "median" => A::QuantileContinuous(0.5),
                "stddev" | "stddev_samp" => A::StandardDeviation,
                "stddev_pop" => A::StandardDeviationPopulation,
                "variance" | "var_samp" => A::Variance,
                "var_pop" => A::VariancePopulation,
                _ => A::Product,
            };
            Ok((function, vec![float(one(&mut arguments))?], Type::Float))
        }
        ("quantile_cont" | "percentile_cont" | "approx_quantile", 2) => {
            let share = share(&arguments[1], name)?;
            Ok((A::QuantileContinuous(share), vec![float(one(&mut arguments))?], Type::Float))
        }
        ("quantile" | "quantile_disc" | "percentile_disc", 2) => {
            let share = share(&arguments[1], name)?;
            let value = one(&mut arguments);
            let dtype = value.dtype;
            Ok((A::QuantileDiscrete(share), vec![value], dtype))
        }
        // `percentile_cont(0.9) within group (order by x desc)`
        ("percentile_cont" | "percentile_disc" | "quantile_cont" | "quantile_disc", 1)
            if order.len() == 1 =>
        {
            let key = order.remove(0);
            let share = share(&arguments[0], name)?;
            let share = if key.descending { 1.0 - share } else { share };
            if name.ends_with("cont") {
                return Ok((A::QuantileContinuous(share), vec![float(key.value)?], Type::Float));
            }
            if key.descending {
                return Err(SqlError::new(format!("`{name}` takes an ascending order")));
            }
            let dtype = key.value.dtype;
            Ok((A::QuantileDiscrete(share), vec![key.value], dtype))
        }
        ("string_agg" | "group_concat" | "listagg", 1 | 2) => {
            let separator = match arguments.get(1) {
                Some(separator) => constant_text(separator, name, "second")?,
                None => parts.separator.clone().unwrap_or_else(|| ",".to_owned()),
            };
            let text = cast(one(&mut arguments), Type::Text, false)?;
            Ok((A::Join(separator), vec![text], Type::Text))
        }
        ("bool_and" | "every" | "bool_or", 1) => {
            let value = convert(one(&mut arguments), Type::Bool)?;
            let function = if name == "bool_or" { A::Or } else { A::And };
            Ok((function, vec![Typed::new(value, Type::Bool)], Type::Bool))
        }
        ("arg_min" | "min_by" | "arg_max" | "max_by", 2) => {
            let dtype = arguments[0].dtype;
            let is_min = matches!(name, "arg_min" | "min_by");
            let function = if is_min { A::ArgumentOfMinimum } else { A::ArgumentOfMaximum };
            Ok((function, arguments, dtype))
        }
        ("corr" | "covar_samp" | "covar_pop", 2) => {
            let function = match name {
                "corr" => A::Correlation,
                "covar_samp" => A::Covariance,
                _ => A::CovariancePopulation,
            };
            let arguments = arguments.into_iter().map(float).collect::<Result<_>>()?;
            Ok((function, arguments, Type::Float))
        }
        ("first" | "last", _) => {
            Err(SqlError::new(format!("`{name}` is not supported as an aggregate"))
                .hint("use any_value(x), arg_min(x, y) or arg_max(x, y)"))
        }
        ("array_agg" | "list" | "histogram", _) => {
            Err(SqlError::new(format!("`{name}` makes a list, which a table cannot have"))
                .hint("use string_agg(x, ', ')"))
        }
        (
            "grouping" | "entropy" | "kurtosis" | "skewness" | "regr_slope" | "regr_intercept"
            | "regr_r2",
            _,
        ) => Err(SqlError::new(format!("`{name}` is not supported"))),
        _ => Err(SqlError::new(format!("wrong number of arguments for `{name}`: {n_arguments}"))),
    }
}

/// Reads the share of a quantile.
fn share(value: &Typed, name: &str) -> Result<f64> {
    let share = match value.literal() {
        Some(Scalar::Float(share)) => Some(*share),
        #[expect(clippy::cast_precision_loss, reason = "only 0 and 1 are taken")]
        Some(Scalar::Int(share)) => Some(*share as f64),
        _ => None,
    };
    share
        .filter(|it| (0.0..=1.0).contains(it))
        .ok_or_else(|| SqlError::new(format!("`{name}` takes a constant from 0 to 1")))
}
