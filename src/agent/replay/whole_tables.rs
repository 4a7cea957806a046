//! Whole tables of a turn and its rerun, compared from their files: events have only the first rows.
//!
//! Code wrote these files, so that the confined engine reads them, and writes what it read for us.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::ensure;
use tempfile::TempDir;

use csv_agent_ingest::rows;
use csv_agent_query::plan::{ColumnId, OutputColumn, Plan, Query, Type};
use csv_agent_query::protocol::{EngineQuery, EngineRequest};
use csv_agent_session::directory::{Directory, EntryKind};
use csv_agent_types::event::DataFrame;
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::RESULT_CHUNK_ROWS;
use csv_agent_worker::engine::{self, EngineOptions};
use csv_agent_worker::sandbox::SandboxOptions;

use super::compare::Comparison;

/// How the files are read.
pub(super) struct WholeTables<'a> {
    /// How the engine is confined.
    pub sandbox: &'a SandboxOptions,
    /// Wall-clock limit of reading two tables.
    pub timeout: Duration,
    /// The directory of the session with the original turn.
    pub past_dir: &'a Path,
    /// The directory of the session with the rerun.
    pub dir: &'a Path,
}

impl WholeTables<'_> {
    /// Returns the differences between two tables. None when the events have all their rows, or a file is not
    /// there or not readable.
    pub(super) async fn differences(
        &self,
        then: &DataFrame,
        (now, new_file): (&DataFrame, &str),
        is_ordered: bool,
    ) -> Option<Vec<String>> {
        if !then.truncated && !now.truncated {
            return None;
        }
        let old_file = file(self.past_dir, &then.artifact.as_ref()?.path)?;
        let new_file = file(self.dir, new_file)?;
        let heads = (then.frame(), now.frame());
        let comparison = Comparison::new(&heads.0, &heads.1);
        let shared = comparison.shared();
        if shared.is_empty() {
            return None;
        }
        let scratch = TempDir::new().ok()?;
        let query = |table: &str, head: &Frame| EngineQuery {
            query: reading(table, shared, head),
            output: scratch.path().join(format!("{table}.parquet")),
        };
        let queries = vec![query("then", &heads.0), query("now", &heads.1)];
        let outputs: Vec<PathBuf> = queries.iter().map(|it| it.output.clone()).collect();
        let tables = vec![("then".to_owned(), old_file), ("now".to_owned(), new_file)];
        let options = EngineOptions {
            sandbox: self.sandbox.clone(),
            scratch: scratch.path().to_owned(),
            timeout: self.timeout,
        };
        engine::run(&options, &EngineRequest { queries, tables }).await.ok()?;
        // A file has less than its table when that is on a cluster and very large.
        let n_rows = (then.row_count, now.row_count);
        let compare = move || compared(comparison, [&outputs[0], &outputs[1]], n_rows, is_ordered);
        // The directory outlives the reading of what is in it.
        tokio::task::spawn_blocking(compare).await.ok()?.ok()
    }
}

/// Returns the path of a table's file, if it is there.
fn file(session_dir: &Path, name: &str) -> Option<PathBuf> {
    Directory::open(session_dir).ok()??.path_of(name, EntryKind::File).ok()?
}

/// Makes the query of some columns of a table.
fn reading(table: &str, columns: &[String], head: &Frame) -> Query {
    let ids = || (1..).map(ColumnId);
    let scanned = columns.iter().cloned().zip(ids()).collect();
    let output = columns.iter().zip(ids()).map(|(name, column)| OutputColumn {
        column,
        name: name.clone(),
        dtype: head.index_of(name).map_or(Type::Text, |at| type_of(&head.dtypes[at])),
    });
    Query {
        output: output.collect(),
        plan: Plan::Scan { table: table.to_owned(), columns: scanned },
    }
}

/// Returns the type for a pandas dtype; text for what has no type of ours.
fn type_of(dtype: &str) -> Type {
    let dtype = dtype.to_ascii_lowercase();
    let is = |prefix: &str| dtype.starts_with(prefix);
    match () {
        () if is("int") || is("uint") => Type::Int,
        () if is("float") || is("double") => Type::Float,
        () if is("bool") => Type::Bool,
        () if is("datetime64") && dtype.contains(',') => Type::Instant,
        () if is("datetime64") => Type::Timestamp,
        () => Type::Text,
    }
}

/// Compares two files with the same columns. Fails when one cannot be read, or has another number of rows than
/// `n_rows` says.
fn compared(
    mut comparison: Comparison,
    files: [&Path; 2],
    n_rows: (u64, u64),
    is_ordered: bool,
) -> anyhow::Result<Vec<String>> {
    let mut first = 0;
    loop {
        let then = rows(files[0], first, RESULT_CHUNK_ROWS)?;
        let now = rows(files[1], first, RESULT_CHUNK_ROWS)?;
        ensure!((then.row_count, now.row_count) == n_rows, "a file is not the whole table");
        comparison.add(then.rows, now.rows);
        first += RESULT_CHUNK_ROWS;
        if n_rows.0.max(n_rows.1) <= first as u64 {
            return Ok(comparison.differences(is_ordered));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::type_of;
    use csv_agent_query::plan::Type;

    #[test]
    fn dtypes_of_pandas_have_types() {
        for (dtype, expected) in [
            ("int8", Type::Int),
            ("UInt32", Type::Int),
            ("Float64", Type::Float),
            ("double[pyarrow]", Type::Float),
            ("boolean", Type::Bool),
            ("datetime64[ns]", Type::Timestamp),
            ("datetime64[us, Europe/Oslo]", Type::Instant),
            ("object", Type::Text),
            ("category", Type::Text),
        ] {
            assert_eq!(type_of(dtype), expected, "{dtype}");
        }
    }
}
