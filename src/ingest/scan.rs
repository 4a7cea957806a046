//! Queries to facts, straight from Parquet.

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;

use csv_agent_types::catalog::{Facts, Query};
use csv_agent_types::limits::{FIND_TIME_MAX, FOUND_DATASETS_MAX};

use super::find::find;
use super::shared_values::overlaps;
use super::thresholds::rate;
use crate::stored::is_whole;

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
