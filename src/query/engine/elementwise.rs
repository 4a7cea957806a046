//! Functions of the rows' values as polars expressions.

use std::borrow::Cow;

use polars::prelude::{
    BooleanChunked, ChunkApply, Column, DataType, Expr, Field, Float64Chunked, Int64Chunked,
    IntoColumn, IntoSeries, PolarsError, PolarsResult, Series, StringChunked, TimeUnit,
    map_multiple,
};

use crate::plan::Type;

pub(super) const TIMESTAMP: DataType = DataType::Datetime(TimeUnit::Microseconds, None);
/// Differences of timestamps.
pub(super) const DURATION: DataType = DataType::Duration(TimeUnit::Microseconds);

pub(super) fn instant() -> DataType {
    DataType::Datetime(TimeUnit::Microseconds, Some(polars::prelude::TimeZone::UTC))
}

/// Returns the polars type of a type.
pub(super) fn dtype_of(dtype: Type) -> DataType {
    match dtype {
        Type::Null => DataType::Null,
        Type::Bool => DataType::Boolean,
        Type::Int => DataType::Int64,
        Type::Float => DataType::Float64,
        Type::Text => DataType::String,
        Type::Date => DataType::Date,
        Type::Timestamp => TIMESTAMP,
        Type::Instant => instant(),
        Type::Time => DataType::Time,
        Type::Duration => DURATION,
    }
}

/// Returns an error that is shown to the user.
pub(super) fn failure(reason: impl Into<String>) -> PolarsError {
    PolarsError::ComputeError(reason.into().into())
}

/// Returns the error of arithmetic on whole numbers.
pub(super) fn overflow() -> PolarsError {
    failure("a whole number is beyond 64 bits")
}

/// Returns the error of a division of whole numbers.
pub(super) fn by_zero() -> PolarsError {
    failure("a number is divided by zero; `nullif(x, 0)` gives NULL instead")
}

/// Returns the expression that applies `function` to the arguments, all of one length, which is the
/// length of what it returns. The type is the one that `dtype` finds from the types of the arguments.
pub(super) fn call_typed(
    arguments: Vec<Expr>,
    dtype: impl Fn(&[Field]) -> DataType + Send + Sync + 'static,
    function: impl Fn(&[Series]) -> PolarsResult<Series> + Send + Sync + 'static,
) -> Expr {
    let function = move |columns: &mut [Column]| {
        // A literal comes as one row.
        let n_rows = columns.iter().map(Column::len).find(|rows| *rows != 1).unwrap_or(1);
        let arguments: Vec<Series> = columns
            .iter()
            .map(|it| if it.len() == n_rows { it.clone() } else { it.new_from_index(0, n_rows) })
            .map(Column::take_materialized_series)
            .collect();
        Ok(function(&arguments)?.with_name(columns[0].name().clone()).into_column())
    };
    map_multiple(function, arguments, move |_, fields| {
        Ok(Field::new(fields[0].name().clone(), dtype(fields)))
    })
}

/// The same with a known type.
pub(super) fn call(
    arguments: Vec<Expr>,
    dtype: DataType,
    function: impl Fn(&[Series]) -> PolarsResult<Series> + Send + Sync + 'static,
) -> Expr {
    let target = dtype.clone();
    let function = move |arguments: &[Series]| {
        let result = function(arguments)?;
        if *result.dtype() == target { Ok(result) } else { result.cast(&target) }
    };
    call_typed(arguments, move |_| dtype.clone(), function)
}

pub(super) fn texts(values: &Series) -> PolarsResult<StringChunked> {
    Ok(values.cast(&DataType::String)?.str()?.clone())
}

/// Returns the values as whole numbers.
pub(super) fn ints(values: &Series) -> PolarsResult<Int64Chunked> {
    Ok(values.cast(&DataType::Int64)?.i64()?.clone())
}

pub(super) fn floats(values: &Series) -> PolarsResult<Float64Chunked> {
    Ok(values.cast(&DataType::Float64)?.f64()?.clone())
}

/// Returns the expression of a function from text to text.
pub(super) fn text_to_text(
    input: Expr,
    function: impl for<'a> Fn(&'a str) -> Cow<'a, str> + Send + Sync + 'static,
) -> Expr {
    call(vec![input], DataType::String, move |arguments| {
        let texts = texts(&arguments[0])?;
        let results: StringChunked = texts.iter().map(|it| it.map(&function)).collect();
        Ok(results.into_series())
    })
}

/// Returns the expression of a function from text to a whole number, of any integer-like type.
pub(super) fn text_to_int(
    input: Expr,
    dtype: DataType,
    function: impl Fn(&str) -> PolarsResult<Option<i64>> + Send + Sync + 'static,
) -> Expr {
    call(vec![input], dtype, move |arguments| {
        let texts = texts(&arguments[0])?;
        let results: PolarsResult<Int64Chunked> =
            texts.iter().map(|it| it.map_or(Ok(None), &function)).collect();
        Ok(results?.into_series())
    })
}

/// Returns the expression of a function from text to truth.
pub(super) fn text_to_bool(
    input: Expr,
    function: impl Fn(&str) -> PolarsResult<Option<bool>> + Send + Sync + 'static,
) -> Expr {
    call(vec![input], DataType::Boolean, move |arguments| {
        let texts = texts(&arguments[0])?;
        let results: PolarsResult<BooleanChunked> =
            texts.iter().map(|it| it.map_or(Ok(None), &function)).collect();
        Ok(results?.into_series())
    })
}

/// Returns the expression of a function from float to float.
pub(super) fn float_to_float(
    input: Expr,
    function: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static,
) -> Expr {
    call(vec![input], DataType::Float64, move |arguments| {
        Ok(floats(&arguments[0])?.apply_values(function).into_series())
    })
}

/// Returns the expression of a function from two floats to a float or null.
pub(super) fn floats_to_float(
    left: Expr,
    right: Expr,
    function: impl Fn(f64, f64) -> Option<f64> + Copy + Send + Sync + 'static,
) -> Expr {
    call(vec![left, right], DataType::Float64, move |arguments| {
        let (left, right) = (floats(&arguments[0])?, floats(&arguments[1])?);
        let pairs = left.iter().zip(right.iter());
        let results: Float64Chunked = pairs.map(|(a, b)| function(a?, b?)).collect();
        Ok(results.into_series())
    })
}

/// Returns the expression of a function from a whole number to a whole number or null.
pub(super) fn int_to_int(
    input: Expr,
    function: impl Fn(i64) -> PolarsResult<Option<i64>> + Copy + Send + Sync + 'static,
) -> Expr {
    call(vec![input], DataType::Int64, move |arguments| {
        let results: PolarsResult<Int64Chunked> =
            ints(&arguments[0])?.iter().map(|it| it.map_or(Ok(None), function)).collect();
        Ok(results?.into_series())
    })
}

/// Returns the expression of a function from two whole numbers to a whole number or null.
pub(super) fn ints_to_int(
    left: Expr,
    right: Expr,
    function: impl Fn(i64, i64) -> PolarsResult<Option<i64>> + Copy + Send + Sync + 'static,
) -> Expr {
    call(vec![left, right], DataType::Int64, move |arguments| {
        Ok(combine(&ints(&arguments[0])?, &ints(&arguments[1])?, function)?.into_series())
    })
}

/// Applies a function to the pairs of values that are not null.
pub(super) fn combine(
    left: &Int64Chunked,
    right: &Int64Chunked,
    function: impl Fn(i64, i64) -> PolarsResult<Option<i64>>,
) -> PolarsResult<Int64Chunked> {
    let pairs = left.iter().zip(right.iter());
    pairs
        .map(|pair| match pair {
            (Some(a), Some(b)) => function(a, b),
            _ => Ok(None),
        })
        .collect()
}

/// Returns truth values of texts or numbers.
pub(super) fn bools(
    input: Expr,
    function: impl Fn(&Series) -> PolarsResult<BooleanChunked> + Send + Sync + 'static,
) -> Expr {
    call(
        vec![input],
        DataType::Boolean,
        move |arguments| Ok(function(&arguments[0])?.into_series()),
    )
}
