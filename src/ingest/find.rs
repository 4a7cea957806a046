//! Which columns contain a value, and how often, reading no more of a Parquet file than necessary.
//!
//! For each column and row group: can the type represent the value, and do minimum and maximum allow
//! it? The footer answers that. The rest is distributed over threads, each processing a [`chunk`] at a
//! time.

mod chunk;
mod needle;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};

use csv_agent_types::catalog::ValueMatch;
use csv_agent_types::limits::FIND_WORKERS_MAX;

use self::chunk::{ChunkPosition, SearchedFile};
use self::needle::Needle;
use super::from_parquet::guard;
use crate::stored::dtype_of;

/// Returns the columns of the Parquet file at `path` in which some cell equals `value`.
///
/// Equal values count as equal however they are written, in columns whose type can hold them:
/// - numbers by amount: `7`, `7.0` and `7e0` are one, in whole and in other numbers;
/// - days and times by the moment: `2024-01-01` is also its midnight in a column of timestamps; in a
///   column of instants a time without an offset is taken as UTC;
/// - `true` and `false` in any case, and the words that stand for them, such as `yes` and `no`;
/// - text ignoring case and blanks around it. A number in a text column is text: `7` does not find
///   `007`.
///
/// Fails when the file is missing, cannot be read or is damaged.
pub(crate) fn find(path: &Path, value: &str) -> anyhow::Result<Vec<ValueMatch>> {
    guard::run(|| search(path, value))
}

fn search(path: &Path, value: &str) -> anyhow::Result<Vec<ValueMatch>> {
    let needle = Needle::new(value);
    let table = SearchedFile::open(path)?;
    let n_row_groups = table.metadata.metadata().num_row_groups();
    let fields = table.metadata.schema().fields();
    // By row group, so that adjacent chunks of the file are read one after the other.
    let places: Vec<ChunkPosition> = (0..n_row_groups)
        .flat_map(|row_group| {
            (0..fields.len()).map(move |column| ChunkPosition { row_group, column })
        })
        .filter(|it| needle.may_be_in(table.chunk(it), table.data_type(it)))
        .collect();

    let next = AtomicUsize::new(0);
    let count = || -> anyhow::Result<Vec<u64>> {
        // Each thread opens the file itself, so that they share no file position.
        let file = Arc::new(File::open(path)?);
        let mut counts = vec![0; fields.len()];
        while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
            counts[place.column] += table.count(place, &file, &needle)?;
        }
        Ok(counts)
    };
    let n_threads = available_parallelism().map_or(1, usize::from).min(FIND_WORKERS_MAX);
    let counts = thread::scope(|scope| {
        let others = 1..n_threads.min(places.len());
        let others: Vec<_> =
            others.map(|_| guard::spawn(scope, count)).collect::<Result<_, _>>()?;
        let mut counts = count()?;
        for other in others {
            let found = other.join().map_err(|_| guard::damaged())??;
            counts.iter_mut().zip(found).for_each(|(all, it)| *all += it);
        }
        anyhow::Ok(counts)
    })?;
    let matches = fields.iter().zip(counts).filter(|(_, count)| 0 < *count);
    let matches = matches.map(|(field, count)| ValueMatch {
        column: field.name().clone(),
        dtype: dtype_of(field.data_type()),
        count,
    });
    Ok(matches.collect())
}
