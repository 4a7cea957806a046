//! Values for groups of rows.

use polars::prelude::{
    Column, DataType, Expr, Field, Float64Chunked, Int64Chunked, IntoColumn, IntoSeries,
    LiteralValue, PolarsResult, QuantileMethod, SortMultipleOptions, SortOptions, apply_multiple,
    col, cov, len, lit, pearson_corr, when,
};

use super::elementwise::overflow;
use super::exact_sum;
use crate::plan::{Aggregate, AggregateFunction, ColumnId, SortKey};

/// Returns the polars name of a column.
pub(super) fn name(column: ColumnId) -> String {
    column.0.to_string()
}

/// Returns a column as an expression.
pub(super) fn column(column: ColumnId) -> Expr {
    col(name(column))
}

/// Returns NULL as an expression of any type.
pub(super) fn null() -> Expr {
    lit(LiteralValue::Scalar(polars::prelude::Scalar::null(DataType::Null)))
}

/// Returns keys for polars, and its options for a stable sort by them.
pub(super) fn sort_keys(keys: &[SortKey]) -> (Vec<Expr>, SortMultipleOptions) {
    let options = SortMultipleOptions::default()
        .with_order_descending_multi(keys.iter().map(|it| it.descending))
        .with_nulls_last_multi(keys.iter().map(|it| !it.nulls_first))
        .with_maintain_order(true);
    (keys.iter().map(|it| column(it.column)).collect(), options)
}

/// Returns the aggregate as an expression that gives one value a group.
pub(super) fn aggregate(aggregate: &Aggregate) -> Expr {
    use AggregateFunction as F;
    let rows = Rows(aggregate);
    match &aggregate.function {
        F::CountRows => match aggregate.filter {
            None => len().cast(DataType::Int64),
            Some(filter) => column(filter).cast(DataType::Int64).sum(),
        },
        F::Count if aggregate.distinct => {
            rows.argument(0).drop_nulls().n_unique().cast(DataType::Int64)
        }
        F::CountDistinctEstimate => {
            rows.argument(0).drop_nulls().approx_n_unique().cast(DataType::Int64)
        }
        F::Count => rows.argument(0).count().cast(DataType::Int64),
        F::Sum => {
            // Makes room for the sum of as many whole numbers as there can be.
            let sum = rows.values().cast(DataType::Int128).sum();
            let sum =
                sum.map(narrow, |_, field| Ok(Field::new(field.name().clone(), DataType::Int64)));
            rows.unless_none(sum)
        }
        F::SumFloat => rows.unless_none(exact_sum::sum(&rows.values())),
        F::Average => {
            let n_rows = rows.values().count().cast(DataType::Float64);
            rows.unless_none(exact_sum::sum(&rows.values()) / n_rows)
        }
        F::Minimum => rows.argument(0).min(),
        F::Maximum => rows.argument(0).max(),
        F::MaximumFloat => {
            let dtype = |dtype: DataType| {
                move |_: &_, field: &Field| Ok(Field::new(field.name().clone(), dtype.clone()))
            };
            let largest = rows.argument(0).map(ordered, dtype(DataType::Int64)).max();
            largest.map(unordered, dtype(DataType::Float64))
        }
        F::QuantileContinuous(share) => {
            rows.values().drop_nulls().quantile(lit(*share), QuantileMethod::Linear)
        }
        F::QuantileDiscrete(share) => discrete(rows.values(), *share),
        F::Mode => most_frequent(rows.sorted()),
        F::StandardDeviation => rows.values().std(1),
        F::StandardDeviationPopulation => rows.values().std(0),
        F::Variance => rows.values().var(1),
        F::VariancePopulation => rows.values().var(0),
        F::Correlation => rows.unless_none(pearson_corr(rows.argument(0), rows.argument(1))),
        F::Covariance => rows.unless_fewer(2, cov(rows.argument(0), rows.argument(1), 1)),
        F::CovariancePopulation => rows.unless_none(cov(rows.argument(0), rows.argument(1), 0)),
        F::First => rows.sorted().first_non_null(),
        F::Only => only(rows.argument(0)),
        F::Last => rows.sorted().last_non_null(),
        F::ArgumentOfMinimum => rows.argument_of(false),
        F::ArgumentOfMaximum => rows.argument_of(true),
        F::Join(separator) => {
            let separator = separator.clone();
            let distinct = aggregate.distinct;
            per_group(rows.sorted(), move |values| {
                let values = if distinct { values.unique_stable()? } else { values.clone() };
                let texts: Vec<&str> = values.str()?.iter().flatten().collect();
                Ok(Column::new(values.name().clone(), [texts.join(&separator)]))
            })
        }
        F::And => rows.unless_none(rows.argument(0).all(true)),
        F::Or => rows.unless_none(rows.argument(0).any(true)),
        F::Product => rows.unless_none(rows.values().product()),
    }
}

struct Rows<'a>(&'a Aggregate);

impl Rows<'_> {
    /// Returns an argument, with null in the rows that do not count.
    fn argument(&self, index: usize) -> Expr {
        let arguments = &self.0.arguments;
        let others = (0..arguments.len()).filter(|it| *it != index);
        let conditions = others.map(|it| column(arguments[it]).is_not_null());
        let conditions = self.0.filter.map(column).into_iter().chain(conditions);
        match conditions.reduce(Expr::and) {
            None => column(arguments[index]),
            Some(counts) => when(counts).then(column(arguments[index])).otherwise(null()),
        }
    }

    /// Returns the first argument, each value once when it is distinct, in any order.
    fn values(&self) -> Expr {
        if self.0.distinct { self.argument(0).unique() } else { self.argument(0) }
    }

    /// Returns the first argument in order.
    fn sorted(&self) -> Expr {
        let (keys, options) = sort_keys(&self.0.order);
        let values = self.argument(0);
        if keys.is_empty() { values } else { values.sort_by(keys, options) }
    }

    /// Returns the first argument where the second is extreme.
    fn argument_of(&self, is_maximum: bool) -> Expr {
        let (keys, _) = sort_keys(&self.0.order);
        let order = &self.0.order;
        let options = SortMultipleOptions::default()
            .with_order_descending_multi(
                std::iter::once(is_maximum).chain(order.iter().map(|it| it.descending)),
            )
            .with_nulls_last_multi(
                std::iter::once(true).chain(order.iter().map(|it| !it.nulls_first)),
            )
            .with_maintain_order(true);
        let keys: Vec<Expr> = std::iter::once(self.argument(1)).chain(keys).collect();
        self.argument(0).sort_by(keys, options).first()
    }

    /// Returns the value, or null when no row counts.
    fn unless_none(&self, value: Expr) -> Expr {
        self.unless_fewer(1, value)
    }

    /// Returns the value, or null when fewer rows count.
    fn unless_fewer(&self, n_rows: u32, value: Expr) -> Expr {
        when(self.argument(0).count().gt_eq(lit(n_rows))).then(value).otherwise(null())
    }
}

/// Numbers floats in their order, where NaN is larger than every number: `max` of polars ignores NaN.
#[expect(clippy::needless_pass_by_value, reason = "polars gives the column away")]
fn ordered(values: Column) -> PolarsResult<Column> {
    let number = |value: f64| {
        let bits =
            if value.is_nan() { f64::NAN.abs() } else { value + 0.0 }.to_bits().cast_signed();
        if bits < 0 { bits ^ i64::MAX } else { bits }
    };
    let numbers: Int64Chunked = values.f64()?.iter().map(|it| it.map(number)).collect();
    Ok(numbers.into_series().with_name(values.name().clone()).into_column())
}

#[expect(clippy::needless_pass_by_value, reason = "polars gives the column away")]
fn unordered(values: Column) -> PolarsResult<Column> {
    let float = |number: i64| {
        let bits = if number < 0 { number ^ i64::MAX } else { number };
        f64::from_bits(bits.cast_unsigned())
    };
    let floats: Float64Chunked = values.i64()?.iter().map(|it| it.map(float)).collect();
    Ok(floats.into_series().with_name(values.name().clone()).into_column())
}

/// Returns the only value of a group.
fn only(values: Expr) -> Expr {
    let function = |columns: &mut [Column]| match columns[0].len() {
        0 => Ok(Column::full_null(columns[0].name().clone(), 1, columns[0].dtype())),
        1 => Ok(columns[0].clone()),
        _ => {
            Err(super::elementwise::failure("a subquery in place of a value has more than one row"))
        }
    };
    apply_multiple(function, [values], |_, fields| Ok(fields[0].clone()), true)
}

/// Returns the sum of whole numbers in 64 bits.
#[expect(clippy::needless_pass_by_value, reason = "polars gives the column away")]
fn narrow(sums: Column) -> PolarsResult<Column> {
    sums.strict_cast(&DataType::Int64).map_err(|_| overflow())
}

/// Returns the first value with `share` of the values at or before it.
fn discrete(values: Expr, share: f64) -> Expr {
    per_group(values, move |values| {
        let sorted = values.sort(SortOptions::default())?;
        let n_values = sorted.len();
        Ok((n_values - below(n_values, share)).max(1) - 1)
            .map(|index| sorted.new_from_index(index, 1))
    })
}

/// Returns how many of `n_values` come after the quantile.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a group has fewer than 2^52 rows, and the result is between 0 and their number"
)]
fn below(n_values: usize, share: f64) -> usize {
    (n_values as f64 - n_values as f64 * share).floor() as usize
}

/// Returns the most frequent value, the first of several.
fn most_frequent(values: Expr) -> Expr {
    per_group(values, |values| {
        let series = values.as_materialized_series();
        let groups = series.group_tuples(true, true)?;
        // Groups come in the order of their first rows; of several, the first is taken.
        let largest = groups.iter().map(|it| (it.len(), it.first()));
        let largest = largest.reduce(|best, it| if best.0 < it.0 { it } else { best });
        let first = largest.map_or(0, |it| it.1);
        Ok(values.new_from_index(first as usize, 1))
    })
}

/// Returns the expression of a function of a group's values that are not null, of which there is at least
/// one, to one value of the same type. Without any it is null.
fn per_group(
    values: Expr,
    function: impl Fn(&Column) -> PolarsResult<Column> + Send + Sync + 'static,
) -> Expr {
    let function = move |columns: &mut [Column]| {
        let values = columns[0].drop_nulls();
        let name = columns[0].name().clone();
        if values.is_empty() {
            return Ok(Column::full_null(name, 1, columns[0].dtype()));
        }
        Ok(function(&values)?.with_name(name).into_column())
    };
    apply_multiple(function, [values], |_, fields| Ok(fields[0].clone()), true)
}
