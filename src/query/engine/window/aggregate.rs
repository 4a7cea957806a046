//! Aggregates of frames.

use polars::prelude::{Column, DataFrame, DataType, NamedFrom as _, PolarsResult, Series};

use super::codes::Codes;
use super::frames::Frame;
use super::layout::{SortedRows, take, whole};
use super::multiset::{Frequencies, Ranked, sweep};
use super::slide::slide;
use super::statistics::{Moments, Pairs, Total};
use super::{column, failure};
use crate::plan::{
    Aggregate, AggregateFunction as Function, ColumnId, FrameBound, SortKey, Window,
};

/// Bytes of the texts of all frames that are joined. Frames that grow with each row make texts whose size
/// is quadratic in the number of rows.
const JOINED_BYTES_MAX: usize = 1 << 30;

/// An aggregate and the frames to compute it for.
pub(super) struct Aggregation<'a> {
    data: &'a DataFrame,
    layout: &'a SortedRows,
    frames: &'a [Frame],
    aggregate: &'a Aggregate,
    /// Position → whether it counts: the filter is true, no argument is null, and with DISTINCT no other
    /// position of the partition counts for the same values.
    included: Vec<bool>,
}

impl<'a> Aggregation<'a> {
    /// Finds the rows that count. Fails for DISTINCT when a frame begins and ends inside of its partition.
    pub(super) fn new(
        data: &'a DataFrame,
        layout: &'a SortedRows,
        frames: &'a [Frame],
        window: &Window,
        aggregate: &'a Aggregate,
    ) -> PolarsResult<Self> {
        let mut counts = vec![true; data.height()];
        if let Some(filter) = aggregate.filter {
            let filter = column(data, filter)?.cast(&DataType::Boolean)?;
            for (counts, passes) in counts.iter_mut().zip(filter.bool()?.iter()) {
                *counts = passes == Some(true);
            }
        }
        for argument in &aggregate.arguments {
            let is_valid = column(data, *argument)?.is_not_null();
            for (counts, is_valid) in counts.iter_mut().zip(is_valid.iter()) {
                *counts &= is_valid == Some(true);
            }
        }
        let included = layout.rows.iter().map(|row| counts[*row]).collect();
        let mut this = Self { data, layout, frames, aggregate, included };
        if aggregate.distinct && depends_on_distinct(&aggregate.function) {
            this.exclude_duplicates(window)?;
        }
        Ok(this)
    }

    /// Computes the column. Fails when a sum of whole numbers is beyond 64 bits or texts become too large.
    pub(super) fn compute(&self, name: &str) -> PolarsResult<Column> {
        match &self.aggregate.function {
            Function::Only => Err(failure("a window has no single row")),
            Function::CountDistinctEstimate => Err(failure("a window has no estimates")),
            Function::CountRows | Function::Count => {
                let counts = self.slide(|_| 1, |left, right| left + right);
                let counts = counts.into_iter().map(|it| Some(whole(it.unwrap_or(0))));
                Ok(self.layout.ints(name, counts))
            }
            Function::Sum | Function::SumFloat => self.sum(name),
            Function::Average
            | Function::Product
            | Function::StandardDeviation
            | Function::StandardDeviationPopulation
            | Function::Variance
            | Function::VariancePopulation
            | Function::Correlation
            | Function::Covariance
            | Function::CovariancePopulation => {
                Ok(self.layout.floats(name, self.statistic()?.into_iter()))
            }
            Function::QuantileContinuous(share) => self.continuous(name, *share),
            Function::And => {
                let values = self.bools()?;
                let found = self.slide(|it| values[it], |left, right| left && right);
                Ok(self.layout.bools(name, found.into_iter()))
            }
            Function::Or => {
                let values = self.bools()?;
                let found = self.slide(|it| values[it], |left, right| left || right);
                Ok(self.layout.bools(name, found.into_iter()))
            }
            Function::Join(separator) => self.join(name, separator),
            Function::Minimum
            | Function::Maximum
            | Function::MaximumFloat
            | Function::QuantileDiscrete(_)
            | Function::Mode
            | Function::First
            | Function::Last
            | Function::ArgumentOfMinimum
            | Function::ArgumentOfMaximum => {
                let positions = self.selected()?;
                self.layout.gather(name, self.argument(0)?, positions.into_iter())
            }
        }
    }

    fn slide<T: Copy>(&self, at: impl Fn(usize) -> T, join: impl Fn(T, T) -> T) -> Vec<Option<T>> {
        slide(self.frames, &self.included, at, join)
    }

    /// Returns the position of the row whose value is the result, for each frame.
    fn selected(&self) -> PolarsResult<Vec<Option<usize>>> {
        let positions = match self.aggregate.function {
            Function::First => self.slide(|it| it, |left, _| left),
            Function::Last => self.slide(|it| it, |_, right| right),
            Function::Minimum => self.smallest(0)?,
            Function::ArgumentOfMinimum => self.smallest(1)?,
            Function::Maximum | Function::MaximumFloat => self.largest(0)?,
            Function::ArgumentOfMaximum => self.largest(1)?,
            Function::QuantileDiscrete(share) => {
                sweep(self.frames, &self.included, self.ranked()?, |it| it.discrete(share))
            }
            _ => self.mode()?,
        };
        Ok(positions)
    }

    fn smallest(&self, argument: usize) -> PolarsResult<Vec<Option<usize>>> {
        let values = self.codes(argument)?;
        let first = |left, right| if values[right] < values[left] { right } else { left };
        Ok(self.slide(|it| it, first))
    }

    fn largest(&self, argument: usize) -> PolarsResult<Vec<Option<usize>>> {
        let values = self.codes(argument)?;
        let first = |left, right| if values[left] < values[right] { right } else { left };
        Ok(self.slide(|it| it, first))
    }

    fn sum(&self, name: &str) -> PolarsResult<Column> {
        if self.argument(0)?.dtype() == &DataType::Float64 {
            let values = self.floats(0)?;
            let totals = self.slide(|it| Total::of(values[it]), Total::join);
            return Ok(self.layout.floats(name, totals.into_iter().map(|it| it.map(Total::value))));
        }
        let values = self.argument(0)?.cast(&DataType::Int64)?;
        let values: Vec<i64> = values.i64()?.iter().map(Option::unwrap_or_default).collect();
        let at = |position: usize| i128::from(values[self.layout.rows[position]]);
        let sums = self.slide(at, |left, right| left + right).into_iter();
        let sums = sums.map(|sum| sum.map(i64::try_from).transpose());
        let sums = sums.collect::<Result<Vec<_>, _>>();
        let sums = sums.map_err(|_| failure("a whole number is beyond 64 bits"))?;
        Ok(self.layout.ints(name, sums.into_iter()))
    }

    fn statistic(&self) -> PolarsResult<Vec<Option<f64>>> {
        let x = self.floats(0)?;
        let pairs = || {
            let y = self.floats(1)?;
            let pairs = self.slide(|it| Pairs::of(x[it], y[it]), Pairs::join);
            PolarsResult::Ok(pairs.into_iter())
        };
        let moments = || self.slide(|it| Moments::of(x[it]), Moments::join).into_iter();
        let statistic = match self.aggregate.function {
            Function::Product => self.slide(|it| x[it], |left, right| left * right),
            Function::Average => {
                let totals = self.slide(|it| Total::of(x[it]), Total::join);
                totals.into_iter().map(|it| it.map(Total::mean)).collect()
            }
            Function::Variance => moments().map(|it| it?.variance(1)).collect(),
            Function::VariancePopulation => moments().map(|it| it?.variance(0)).collect(),
            Function::StandardDeviation => {
                moments().map(|it| it?.variance(1).map(f64::sqrt)).collect()
            }
            Function::StandardDeviationPopulation => {
                moments().map(|it| it?.variance(0).map(f64::sqrt)).collect()
            }
            Function::Covariance => pairs()?.map(|it| it?.covariance(1)).collect(),
            Function::CovariancePopulation => pairs()?.map(|it| it?.covariance(0)).collect(),
            _ => pairs()?.map(|it| it.map(Pairs::correlation)).collect(),
        };
        Ok(statistic)
    }

    fn continuous(&self, name: &str, share: f64) -> PolarsResult<Column> {
        let values = self.floats(0)?;
        let ranked = self.ranked()?;
        let found = sweep(self.frames, &self.included, ranked, |it| {
            let (low, high, part) = it.around(share)?;
            let (low, high) = (values[low], values[high]);
            // The difference of two infinities is not a number.
            Some(if low.total_cmp(&high).is_eq() { low } else { low + (high - low) * part })
        });
        Ok(self.layout.floats(name, found.into_iter()))
    }

    fn mode(&self) -> PolarsResult<Vec<Option<usize>>> {
        let sorted = self.by_value()?;
        let frequencies = Frequencies::new(self.included.len(), self.equal(&sorted));
        Ok(sweep(self.frames, &self.included, frequencies, Frequencies::mode))
    }

    /// One text for each run of equal frames, shared by their rows.
    fn join(&self, name: &str, separator: &str) -> PolarsResult<Column> {
        let pieces = self.argument(0)?.cast(&DataType::String)?;
        let pieces: Vec<Option<&str>> = pieces.str()?.iter().collect();
        let mut texts: Vec<Option<String>> = Vec::new();
        let mut text_of_position = Vec::with_capacity(self.frames.len());
        let mut last = None;
        let mut n_bytes = 0;
        for frame in self.frames {
            if last.replace(frame) != Some(frame) {
                let included = frame.clone().filter(|it| self.included[*it]);
                let parts = included.filter_map(|it| pieces[self.layout.rows[it]]);
                let mut text: Option<String> = None;
                for part in parts {
                    // Empty texts take time too.
                    n_bytes += part.len() + separator.len() + 1;
                    if JOINED_BYTES_MAX < n_bytes {
                        return Err(failure("the joined texts of the frames exceed 1 GiB"));
                    }
                    match &mut text {
                        Some(text) => text.extend([separator, part]),
                        None => text = Some(part.to_owned()),
                    }
                }
                texts.push(text);
            }
            text_of_position.push(Some(texts.len() - 1));
        }
        let texts = Column::from(Series::new(name.into(), texts));
        take(name, &texts, self.layout.by_row(text_of_position.into_iter()))
    }

    /// Keeps one position of those with equal arguments in a partition.
    fn exclude_duplicates(&mut self, window: &Window) -> PolarsResult<()> {
        let is_peers = !window.frame.in_rows && window.order.is_empty();
        let is_prefix = is_peers || window.frame.start == FrameBound::Unbounded;
        let is_suffix = window.frame.end == FrameBound::Unbounded
            && !matches!(self.aggregate.function, Function::Join(_) | Function::Mode);
        if !is_prefix && !is_suffix {
            return Err(failure(
                "DISTINCT in a window needs a frame that begins with the first row of the partition",
            ));
        }
        let sorted = self.by_value()?;
        let mut included = vec![false; self.included.len()];
        for equal in self.equal(&sorted) {
            let kept = if is_prefix { equal.first() } else { equal.last() };
            if let Some(position) = kept {
                included[*position] = true;
            }
        }
        self.included = included;
        Ok(())
    }

    /// Positions as the rows of a layout: sorted by partition and arguments, which are its partitions. Those
    /// that are not included come last.
    fn by_value(&self) -> PolarsResult<SortedRows> {
        let arguments = self.aggregate.arguments.iter().map(|id| {
            let codes = Codes::of(column(self.data, *id)?)?;
            Ok(codes.in_order(&self.layout.rows))
        });
        let mut keys = vec![self.partition_codes()];
        keys.extend(arguments.collect::<PolarsResult<Vec<_>>>()?);
        Ok(SortedRows::new(self.included.len(), &keys, &[]))
    }

    /// Groups of included positions with equal arguments in the same partition.
    fn equal<'b>(&'b self, sorted: &'b SortedRows) -> impl Iterator<Item = &'b [usize]> {
        sorted.partitions().map(|range| &sorted.rows[range]).filter(|it| self.included[it[0]])
    }

    fn partition_codes(&self) -> Codes {
        let numbers = self.layout.partitions().zip(0_u64..);
        let values = numbers.flat_map(|(rows, number)| rows.map(move |_| number)).collect();
        Codes { values, valid: self.included.clone() }
    }

    /// All positions by the order of the argument.
    fn ranked(&self) -> PolarsResult<Ranked> {
        let codes = Codes::of(self.argument(0)?)?.in_order(&self.layout.rows);
        let key =
            SortKey { column: self.aggregate.arguments[0], descending: false, nulls_first: false };
        let sorted = SortedRows::new(self.included.len(), &[], &[(key, codes)]);
        Ok(Ranked::new(sorted.rows))
    }

    fn argument(&self, number: usize) -> PolarsResult<&'a Column> {
        let id: Option<&ColumnId> = self.aggregate.arguments.get(number);
        column(self.data, *id.ok_or_else(|| failure("an aggregate lacks an argument"))?)
    }

    /// The values of an argument by position, as numbers that compare as they do.
    fn codes(&self, number: usize) -> PolarsResult<Vec<u64>> {
        Ok(Codes::of(self.argument(number)?)?.in_order(&self.layout.rows).values)
    }

    /// The values of an argument by position; 0 for null.
    fn floats(&self, number: usize) -> PolarsResult<Vec<f64>> {
        let values = self.argument(number)?.cast(&DataType::Float64)?;
        let values: Vec<f64> = values.f64()?.iter().map(Option::unwrap_or_default).collect();
        Ok(self.layout.rows.iter().map(|row| values[*row]).collect())
    }

    fn bools(&self) -> PolarsResult<Vec<bool>> {
        let values = self.argument(0)?.cast(&DataType::Boolean)?;
        let values: Vec<bool> = values.bool()?.iter().map(Option::unwrap_or_default).collect();
        Ok(self.layout.rows.iter().map(|row| values[*row]).collect())
    }
}

/// Whether a second row with the same arguments can change the result.
fn depends_on_distinct(function: &Function) -> bool {
    !matches!(
        function,
        Function::CountRows
            | Function::Minimum
            | Function::Maximum
            | Function::MaximumFloat
            | Function::First
            | Function::Last
            | Function::ArgumentOfMinimum
            | Function::ArgumentOfMaximum
            | Function::And
            | Function::Or
    )
}
