//! Window functions: a value for each row, from the rows of its partition.
//!
//! Windows with the same partition and order share one sort ([`SortedRows`]). In it, a row has a *position*,
//! and partitions, peers and frames are ranges of positions. Functions give a value, or the position of
//! the row that has the value, for each position; the layout brings them back to rows.

use polars::prelude::{
    BooleanChunked, Column, DataFrame, DataType, Engine, IntoLazy, LazyFrame, NewChunkedArray as _,
    PolarsError, PolarsResult,
};

use self::aggregate::Aggregation;
use self::codes::Codes;
use self::frames::{Frame, frames};
use self::layout::{SortedRows, ratio, whole};
use crate::plan::{ColumnId, SortKey, Window, WindowFunction};

mod aggregate;
mod codes;
mod frames;
mod layout;
mod multiset;
mod slide;
mod statistics;

/// Adds a column for each window, in the same order of rows. Runs the query up to here. Fails when `frame`
/// does, a sum of whole numbers is beyond 64 bits, a frame counts values of a key that is neither number nor
/// time, or a combination is not supported; see [`frames`] and [`Aggregation`].
pub(super) fn with_windows(
    frame: LazyFrame,
    windows: &[(ColumnId, Window)],
) -> PolarsResult<LazyFrame> {
    let mut data = frame.collect_with_engine(Engine::Streaming)?.unwrap_single();
    let mut added: Vec<Option<Column>> = vec![None; windows.len()];
    for (first, (_, window)) in windows.iter().enumerate() {
        if added[first].is_some() {
            continue;
        }
        let layout = arrange(&data, window)?;
        for (column, (id, other)) in added.iter_mut().zip(windows) {
            if window.partition == other.partition && window.order == other.order {
                *column = Some(compute(&data, &layout, *id, other)?);
            }
        }
    }
    for column in added.into_iter().flatten() {
        data.with_column(column)?;
    }
    Ok(data.lazy())
}

/// Returns the name of a column in frames.
fn name(id: ColumnId) -> String {
    id.0.to_string()
}

fn column(data: &DataFrame, id: ColumnId) -> PolarsResult<&Column> {
    data.column(&name(id))
}

fn failure(text: &'static str) -> PolarsError {
    PolarsError::ComputeError(text.into())
}

fn arrange(data: &DataFrame, window: &Window) -> PolarsResult<SortedRows> {
    let codes = |id: ColumnId| Codes::of(column(data, id)?);
    let partition =
        window.partition.iter().map(|id| codes(*id)).collect::<PolarsResult<Vec<_>>>()?;
    let order = window.order.iter().map(|key| Ok((*key, codes(key.column)?)));
    let order = order.collect::<PolarsResult<Vec<(SortKey, Codes)>>>()?;
    Ok(SortedRows::new(data.height(), &partition, &order))
}

fn compute(
    data: &DataFrame,
    layout: &SortedRows,
    id: ColumnId,
    window: &Window,
) -> PolarsResult<Column> {
    let name = name(id);
    let of_frame = |source: ColumnId, row: &dyn Fn(&Frame) -> Option<usize>| {
        let frames = frames(data, layout, window)?;
        layout.gather(&name, column(data, source)?, frames.iter().map(row))
    };
    match &window.function {
        WindowFunction::RowNumber => Ok(layout.ints(&name, row_numbers(layout))),
        WindowFunction::Rank => Ok(layout.ints(&name, ranks(layout))),
        WindowFunction::DenseRank => Ok(layout.ints(&name, dense_ranks(layout))),
        WindowFunction::PercentRank => Ok(layout.floats(&name, percent_ranks(layout))),
        WindowFunction::CumulativeDistribution => Ok(layout.floats(&name, distributions(layout))),
        WindowFunction::Buckets(n_buckets) => {
            let n_buckets = usize::try_from(*n_buckets).ok().filter(|it| *it != 0);
            let n_buckets =
                n_buckets.ok_or_else(|| failure("the number of buckets is not positive"))?;
            Ok(layout.ints(&name, buckets(layout, n_buckets)))
        }
        WindowFunction::Lag { column: source, offset, default } => {
            let default = default.map(|id| column(data, id)).transpose()?;
            lag(layout, &name, column(data, *source)?, *offset, default)
        }
        WindowFunction::First(source) => {
            of_frame(*source, &|frame| (!frame.is_empty()).then_some(frame.start))
        }
        WindowFunction::Last(source) => {
            of_frame(*source, &|frame| (!frame.is_empty()).then(|| frame.end - 1))
        }
        WindowFunction::Nth(source, number) => {
            // As in DuckDB, there is no row with a number below 1.
            let skipped = number.checked_sub(1).and_then(|it| usize::try_from(it).ok());
            of_frame(*source, &|frame| {
                frame.start.checked_add(skipped?).filter(|row| *row < frame.end)
            })
        }
        WindowFunction::Aggregate(aggregate) => {
            let frames = frames(data, layout, window)?;
            Aggregation::new(data, layout, &frames, window, aggregate)?.compute(&name)
        }
    }
}

fn row_numbers(layout: &SortedRows) -> impl Iterator<Item = Option<i64>> {
    layout.partitions().flat_map(|rows| (1..=rows.len()).map(|number| Some(whole(number))))
}

fn ranks(layout: &SortedRows) -> impl Iterator<Item = Option<i64>> {
    layout.each_peer(|peers| Some(whole(peers.rows.start - peers.partition.start + 1)))
}

fn dense_ranks(layout: &SortedRows) -> impl Iterator<Item = Option<i64>> {
    layout.each_peer(|peers| Some(whole(peers.number)))
}

fn percent_ranks(layout: &SortedRows) -> impl Iterator<Item = Option<f64>> {
    layout.each_peer(|peers| {
        let n_before = peers.rows.start - peers.partition.start;
        Some(ratio(n_before, (peers.partition.len() - 1).max(1)))
    })
}

fn distributions(layout: &SortedRows) -> impl Iterator<Item = Option<f64>> {
    layout.each_peer(|peers| {
        Some(ratio(peers.rows.end - peers.partition.start, peers.partition.len()))
    })
}

/// The first buckets have one row more when the rows cannot be divided evenly.
fn buckets(layout: &SortedRows, n_buckets: usize) -> impl Iterator<Item = Option<i64>> {
    layout.partitions().flat_map(move |rows| {
        let (size, n_larger) = (rows.len() / n_buckets, rows.len() % n_buckets);
        let in_larger = n_larger * (size + 1);
        (0..rows.len()).map(move |row| {
            let bucket = if row < in_larger {
                row / (size + 1)
            } else {
                n_larger + (row - in_larger) / size
            };
            Some(whole(bucket + 1))
        })
    })
}

fn lag(
    layout: &SortedRows,
    name: &str,
    source: &Column,
    offset: i64,
    default: Option<&Column>,
) -> PolarsResult<Column> {
    let mut positions = Vec::with_capacity(source.len());
    for rows in layout.partitions() {
        positions.extend(rows.clone().map(|position| {
            let wanted = i128::try_from(position).ok()? - i128::from(offset);
            usize::try_from(wanted).ok().filter(|it| rows.contains(it))
        }));
    }
    let values = layout.gather(name, source, positions.iter().copied())?;
    let Some(default) = default.filter(|it| it.dtype() != &DataType::Null) else {
        return Ok(values);
    };
    let exists = layout.by_row(positions.iter().map(Option::is_some));
    let exists = BooleanChunked::from_slice("".into(), &exists);
    let values = values.cast(default.dtype())?;
    Ok(values.zip_with(&exists, default)?.with_name(name.into()))
}
