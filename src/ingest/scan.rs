//! Queries to facts, straight from Parquet.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use arrow_schema::DataType;

use csv_agent_types::catalog::{DType, Facts, Query};
use csv_agent_types::limits::{FIND_TIME_MAX, FOUND_DATASETS_MAX};

use super::find::find;
use super::from_parquet::guard;
use super::shared_values::overlaps;
use super::thresholds::rate;

/// Answers a query. Paths of queries are relative to `session_dir`.
///
/// # Errors
///
/// Fails when the Parquet file is missing, cannot be read or is damaged.
pub fn answer(query: &Query, session_dir: &Path) -> anyhow::Result<Facts> {
    match query {
        Query::Check { path } => {
            let path = session_dir.join(path);
            let check = || is_whole(&File::open(&path)?, u64::MAX);
            check().with_context(|| format!("cannot read {}", path.display()))?;
            Ok(Facts::Whole)
        }
        Query::Overlap { path, likenesses } => {
            let path = session_dir.join(path);
            let found = overlaps(&path, session_dir, likenesses);
            Ok(Facts::Overlaps(found.with_context(|| format!("cannot read {}", path.display()))?))
        }
        Query::FindValue { path, value } => {
            let path = session_dir.join(path);
            let matches =
                find(&path, value).with_context(|| format!("cannot search {}", path.display()))?;
            Ok(Facts::Matches(matches))
        }
        Query::FindValueIn { datasets, value } => {
            let began = Instant::now();
            let mut found = Vec::new();
            for (at, (name, path)) in datasets.iter().enumerate() {
                if FOUND_DATASETS_MAX <= found.len() || FIND_TIME_MAX <= began.elapsed() {
                    return Ok(Facts::MatchesIn { found, n_left: datasets.len() - at });
                }
                let path = session_dir.join(path);
                let matches = find(&path, value)
                    .with_context(|| format!("cannot search {}", path.display()))?;
                if !matches.is_empty() {
                    found.push((name.clone(), matches));
                }
            }
            Ok(Facts::MatchesIn { found, n_left: 0 })
        }
        Query::Rate { path, column, ratings } => {
            let path = session_dir.join(path);
            let rated = rate(&path, column, ratings);
            Ok(Facts::Rated(rated.with_context(|| format!("cannot read {}", path.display()))?))
        }
    }
}

/// Demands that a file begins and ends as Parquet does, and has room for the footer between.
///
/// # Errors
///
/// Fails when it does not, its footer has more than `footer_bytes_max` bytes, or it cannot be read.
pub fn is_whole(file: &File, footer_bytes_max: u64) -> anyhow::Result<()> {
    const MAGIC: [u8; 4] = *b"PAR1";
    /// The length of the footer, and the magic bytes.
    const END_BYTES: u64 = 8;
    let n_bytes = file.metadata()?.len();
    let mut begin = [0; 4];
    let mut end = [0; 8];
    let is_whole = MAGIC.len() as u64 + END_BYTES <= n_bytes && {
        file.read_exact_at(&mut begin, 0)?;
        file.read_exact_at(&mut end, n_bytes - END_BYTES)?;
        let [a, b, c, d, magic @ ..] = end;
        let n_footer = u64::from(u32::from_le_bytes([a, b, c, d]));
        let has_room = n_footer + MAGIC.len() as u64 + END_BYTES <= n_bytes;
        begin == MAGIC && magic == MAGIC && has_room && n_footer <= footer_bytes_max
    };
    if is_whole { Ok(()) } else { Err(guard::damaged()) }
}

/// Returns the nearest type of ours; what has none is shown as text.
pub(crate) fn dtype_of(data_type: &DataType) -> DType {
    match data_type {
        DataType::Boolean => DType::Bool,
        it if it.is_integer() => DType::Int64,
        it if it.is_floating() => DType::Float64,
        DataType::Date32 | DataType::Date64 => DType::Date,
        DataType::Timestamp(_, None) => DType::Timestamp,
        DataType::Timestamp(_, Some(_)) => DType::TimestampUtc,
        DataType::Time32(_) | DataType::Time64(_) => DType::Time,
        _ => DType::String,
    }
}
