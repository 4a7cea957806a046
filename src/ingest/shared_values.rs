//! How many values of a column also occur in a column of another dataset, to suggest joins.
//!
//! Values are compared as written: `7` is the number, whole or float, and the one-digit text.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use arrow_array::Array;

use csv_agent_types::catalog::{Likeness, Overlap};
use csv_agent_types::limits::{OVERLAP_ROWS_MAX, OVERLAP_TIME_MAX};

use super::from_parquet::{guard, text};
use super::stored::Stored;

/// Compares columns with similar ones. The result is unknown for a missing or damaged file, and once time has
/// run out. Fails when the file at `path` is missing, cannot be read or is damaged.
pub(crate) fn overlaps(
    path: &Path,
    session_dir: &Path,
    likenesses: &[Likeness],
) -> anyhow::Result<Vec<Vec<Option<Overlap>>>> {
    let began = Instant::now();
    let hasher = RandomState::new();
    let stored = guard::run(|| Stored::open(path))?;
    let mut found = Vec::new();
    for likeness in likenesses {
        let is_late = || OVERLAP_TIME_MAX <= began.elapsed();
        let own = if is_late() {
            None
        } else {
            Some(guard::run(|| values(&stored, &likeness.column, &hasher))?)
        };
        let compare = |other: &(PathBuf, String)| {
            let own = own.as_ref().filter(|_| !is_late())?;
            let read = || values(&Stored::open(&session_dir.join(&other.0))?, &other.1, &hasher);
            let theirs = guard::run(read).ok()?;
            Some(Overlap {
                n_here: own.values.len(),
                n_there: theirs.values.len(),
                n_both: own.values.intersection(&theirs.values).count(),
                is_whole: own.is_whole && theirs.is_whole,
            })
        };
        found.push(likeness.others.iter().map(compare).collect());
    }
    Ok(found)
}

/// The distinct values of a column.
struct DistinctValues {
    /// As hashes; among a million, a collision is very unlikely.
    values: HashSet<u64>,
    /// Whether all rows were read.
    is_whole: bool,
}

fn values(stored: &Stored, column: &str, hasher: &RandomState) -> anyhow::Result<DistinctValues> {
    let (at, _) = stored.metadata.schema().column_with_name(column).context("no such column")?;
    let mut values = HashSet::new();
    let mut n_rows = 0;
    let mut written = String::new();
    for batch in stored.batches(Some(vec![at]), OVERLAP_ROWS_MAX) {
        let batch = batch?;
        let array = batch.column(0);
        for row in (0..array.len()).filter(|it| array.is_valid(*it)) {
            written.clear();
            text::write(array, row, &mut written)?;
            let whole = written.strip_suffix(".0").unwrap_or(&written);
            values.insert(hasher.hash_one(whole));
        }
        n_rows += batch.num_rows();
        if OVERLAP_ROWS_MAX <= n_rows {
            break;
        }
    }
    let n_all = stored.metadata.metadata().file_metadata().num_rows();
    Ok(DistinctValues { values, is_whole: usize::try_from(n_all)? <= n_rows })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Cursor;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use tempfile::TempDir;

    use super::overlaps;
    use crate::{DatasetFiles, IngestOptions, Source, ingest};
    use csv_agent_types::catalog::{Likeness, Overlap};

    fn ingested(dir: &Path, name: &str, csv: &str) {
        let source = Source::Stdin(Box::new(Cursor::new(csv.as_bytes().to_vec())));
        let (options, cancelled) = (IngestOptions::default(), AtomicBool::new(false));
        let (_, files) = ingest(source, "-", name, dir, &options, &|_| {}, &cancelled).unwrap();
        DatasetFiles::keep_all(vec![files]).remove(0).unwrap();
    }

    fn overlap(here: &str, there: &str) -> Option<Overlap> {
        let dir = TempDir::new().unwrap();
        ingested(dir.path(), "a", here);
        ingested(dir.path(), "b", there);
        let others = vec![("b.parquet".into(), "k".to_owned())];
        let likeness = Likeness { column: "k".to_owned(), others };
        overlaps(&dir.path().join("a.parquet"), dir.path(), &[likeness]).unwrap()[0][0]
    }

    #[test]
    fn values_are_one_however_their_column_is_typed() {
        let all =
            |n_here, n_there, n_both| Some(Overlap { n_here, n_there, n_both, is_whole: true });
        assert_eq!(overlap("k\n1\n2\n2\n3\n", "k\n2\n3\n9\n"), all(3, 3, 2));
        assert_eq!(overlap("k\n1\n2\n", "k\n1.0\n2.5\n"), all(2, 2, 1));
        assert_eq!(overlap("k\n1\n2\n", "k\n1\nx\n"), all(2, 2, 1));
        assert_eq!(overlap("k\nA\nb\n", "k\na\nb\n"), all(2, 2, 1));
        assert_eq!(overlap("k\n2024-01-01\n", "k\n2024-01-01\n2024-01-02\n"), all(1, 2, 1));
        assert_eq!(overlap("k\n007\n", "k\n7\n"), all(1, 1, 0));
    }

    #[test]
    fn nothing_is_known_of_a_damaged_file_but_of_the_others() {
        let dir = TempDir::new().unwrap();
        ingested(dir.path(), "a", "k\n1\n");
        ingested(dir.path(), "b", "k\n1\n");
        fs::write(dir.path().join("c.parquet"), "PAR1").unwrap();
        let of = |name: &str, column: &str| (name.into(), column.to_owned());
        let others = vec![
            of("c.parquet", "k"),
            of("gone.parquet", "k"),
            of("b.parquet", "z"),
            of("b.parquet", "k"),
        ];
        let likeness = Likeness { column: "k".to_owned(), others };
        let found = overlaps(&dir.path().join("a.parquet"), dir.path(), &[likeness]).unwrap();
        let known: Vec<bool> = found[0].iter().map(Option::is_some).collect();
        assert_eq!(known, [false, false, false, true]);
    }
}
