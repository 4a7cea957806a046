//! Frames: the rows around a row that count.

use std::iter::repeat_n;
use std::ops::Range;

use polars::prelude::{DataFrame, DataType, PolarsResult};

use super::codes::{Codes, of_float, to_float};
use super::layout::{Peers, SortedRows};
use super::{column, failure};
use crate::plan::{FrameBound, SortKey, Window};

/// Positions of a frame, in one partition. From one position to the next, neither bound decreases.
pub(super) type Frame = Range<usize>;

/// Returns the frame of each position. Fails when a bound is a distance between values and there is not exactly
/// one key, or the key is neither number nor time.
pub(super) fn frames(
    data: &DataFrame,
    layout: &SortedRows,
    window: &Window,
) -> PolarsResult<Vec<Frame>> {
    let (start, end) = (window.frame.start, window.frame.end);
    if window.frame.in_rows {
        return Ok(row_frames(layout, start, end));
    }
    let is_distance = |bound| !matches!(bound, FrameBound::Unbounded | FrameBound::Offset(0));
    let key = if is_distance(start) || is_distance(end) {
        Some(RangeKey::new(data, layout, &window.order)?)
    } else {
        None
    };
    let mut frames = Vec::with_capacity(layout.rows.len());
    for peers in &layout.peers {
        let distance = |offset, is_end| {
            key.as_ref().map_or(peers.rows.start, |key| key.edge(peers, offset, is_end))
        };
        let first = match start {
            FrameBound::Unbounded => peers.partition.start,
            FrameBound::Offset(0) => peers.rows.start,
            FrameBound::Offset(offset) => distance(offset, false),
        };
        let past = match end {
            FrameBound::Unbounded => peers.partition.end,
            FrameBound::Offset(0) => peers.rows.end,
            FrameBound::Offset(offset) => distance(offset, true),
        };
        frames.extend(repeat_n(first..past.max(first), peers.rows.len()));
    }
    Ok(frames)
}

/// Frames whose bounds are numbers of rows.
fn row_frames(layout: &SortedRows, start: FrameBound, end: FrameBound) -> Vec<Frame> {
    let mut frames = Vec::with_capacity(layout.rows.len());
    for partition in layout.partitions() {
        let shifted = |position: usize, offset: i64| {
            let n_rows = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
            let shifted = if offset < 0 {
                position.saturating_sub(n_rows)
            } else {
                position.saturating_add(n_rows)
            };
            shifted.clamp(partition.start, partition.end)
        };
        frames.extend(partition.clone().map(|position| {
            let first = match start {
                FrameBound::Unbounded => partition.start,
                FrameBound::Offset(offset) => shifted(position, offset),
            };
            let past = match end {
                FrameBound::Unbounded => partition.end,
                FrameBound::Offset(offset) => shifted(position + 1, offset),
            };
            first..past.max(first)
        }));
    }
    frames
}

/// The sort key that frames are distances in.
struct RangeKey {
    /// For each position a number that increases with it; `None` for null.
    values: Vec<Option<u64>>,
    /// How an offset is added to a value.
    unit: Unit,
    descending: bool,
    nulls_first: bool,
}

enum Unit {
    /// An offset of one is so much.
    Whole(i128),
    Float,
}

impl RangeKey {
    fn new(data: &DataFrame, layout: &SortedRows, order: &[SortKey]) -> PolarsResult<Self> {
        let [key] = order else {
            return Err(failure("a RANGE frame with an offset needs exactly one sort key"));
        };
        let column = column(data, key.column)?;
        let unit = match column.dtype() {
            DataType::Float64 => Unit::Float,
            // Times are nanoseconds in polars.
            DataType::Time => Unit::Whole(1000),
            DataType::String | DataType::Boolean => {
                let text =
                    "a RANGE frame with an offset needs a number, date or time as its sort key";
                return Err(failure(text));
            }
            _ => Unit::Whole(1),
        };
        let codes = Codes::of(column)?;
        let flip = if key.descending { u64::MAX } else { 0 };
        let values = layout.rows.iter().map(|row| codes.get(*row).map(|it| it ^ flip)).collect();
        Ok(Self { values, unit, descending: key.descending, nulls_first: key.nulls_first })
    }

    /// Returns the first position at least so far from these peers, or the one after the last position at
    /// most so far. Nulls are near nulls only.
    fn edge(&self, peers: &Peers, offset: i64, is_end: bool) -> usize {
        let Some(value) = self.values[peers.rows.start] else {
            return if is_end { peers.rows.end } else { peers.rows.start };
        };
        let bound = self.add(value, offset);
        let is_before = |other: &Option<u64>| match other {
            None => self.nulls_first,
            Some(other) if is_end => i128::from(*other) <= bound,
            Some(other) => i128::from(*other) < bound,
        };
        let partition = &self.values[peers.partition.clone()];
        peers.partition.start + partition.partition_point(is_before)
    }

    fn add(&self, value: u64, offset: i64) -> i128 {
        let flip = if self.descending { u64::MAX } else { 0 };
        match self.unit {
            // Codes of whole numbers are as far apart as the numbers.
            Unit::Whole(unit) => i128::from(value) + i128::from(offset) * unit,
            Unit::Float => {
                #[expect(clippy::cast_precision_loss, reason = "the key is a float too")]
                let offset = if self.descending { -(offset as f64) } else { offset as f64 };
                i128::from(of_float(to_float(value ^ flip) + offset) ^ flip)
            }
        }
    }
}
