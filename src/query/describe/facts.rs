//! What is known of a column.

use serde_json::Value;

use crate::plan::Type;

/// Characters of a text among the facts; longer ones are cut.
pub(super) const TEXT_CHARS_MAX: usize = 1_000;

/// What a column contains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnFacts {
    /// Rows without a value.
    pub nulls: u64,
    /// Different values.
    pub distinct: u64,
    /// Whether that number is an estimate, which may be 15 % off.
    pub is_distinct_estimated: bool,
    /// The smallest value, for text the first by code points. Null without values; likewise below.
    pub min: Value,
    /// The largest value.
    pub max: Value,
    /// The mean of numbers, dates or times.
    pub mean: Value,
    /// The standard deviation of a sample of numbers.
    pub std: Value,
    /// The lower quartile, median and upper quartile of numbers, dates or times, interpolated linearly.
    pub quartiles: [Value; 3],
    /// The most frequent values with their counts, the most frequent first. None when they were not counted.
    pub top: Option<Vec<(Value, u64)>>,
    /// How numbers, dates or times are distributed.
    pub histogram: Vec<Bin>,
    /// Whether each row has a value of its own. None when that is not known.
    pub is_key: Option<bool>,
    /// Smallest and largest value as numbers.
    pub(super) range: Option<(f64, f64)>,
    /// Values that are infinite or not a number.
    pub(super) not_finite: u64,
    /// Whether its numbers are too large to be measured.
    pub(super) is_inexact: bool,
}

impl ColumnFacts {
    /// Returns what to know of the facts themselves, one sentence each.
    pub fn remarks(&self) -> Vec<String> {
        let infinite = match self.not_finite {
            0 => None,
            1 => Some("1 value is not finite, and only counted".to_owned()),
            n => Some(format!("{n} values are not finite, and only counted")),
        };
        let inexact = "numbers beyond 2^53 would be rounded, so they are not measured";
        infinite.into_iter().chain(self.is_inexact.then(|| inexact.to_owned())).collect()
    }
}

/// A bin of a histogram. Whole numbers and dates have both ends in it; other values are smaller than `to`,
/// but for the last bin.
#[derive(Debug, Clone, PartialEq)]
pub struct Bin {
    /// Its beginning.
    pub from: Value,
    /// Its end.
    pub to: Value,
    /// How many values are in it.
    pub count: u64,
}

/// Returns whether values of a type have a mean and quartiles.
pub(super) fn is_measured(dtype: Type) -> bool {
    match dtype {
        Type::Int | Type::Float | Type::Date | Type::Timestamp | Type::Instant | Type::Time => true,
        Type::Null | Type::Bool | Type::Text | Type::Duration => false,
    }
}
