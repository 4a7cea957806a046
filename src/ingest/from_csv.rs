//! A table that code has saved as CSV elsewhere, as a frame.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Context;

use csv_agent_types::frame::Frame;
use csv_agent_types::limits::FETCHED_FILE_BYTES_MAX;
use csv_agent_types::status::{Failure, FailureKind};

use super::ingest::ingest;
use super::{Source, head};
use crate::options::IngestOptions;

/// Reads the CSV at `csv`, which a program has written. Writes the whole table to `into_parquet`,
/// replacing any existing file, and returns its first rows: at most `rows_max` rows and at most
/// `cells_max` cells. `shown_name` is the file's name for the program that saved it:
/// `/mnt/data/df.csv`.
///
/// The limits and refusals are those of any ingest, but not the rules for manual edits to tables: the
/// first record contains the names, every other record is a row, and only program forms of numbers,
/// truth values, dates and times are recognised. `12 %`, `yes` and `NA` remain text. The frame's types
/// have their pandas names.
///
/// # Errors
///
/// Fails when the file is missing, empty, not text, too long, or not CSV, with a message that a model
/// can act on; when `into_parquet` cannot be written; and once `cancelled` is set.
pub fn table_of_csv(
    csv: &Path,
    shown_name: &str,
    into_parquet: &Path,
    rows_max: usize,
    cells_max: usize,
    cancelled: &AtomicBool,
) -> anyhow::Result<Frame> {
    let dir = into_parquet.parent().context("no directory to write the table in")?;
    // A compressed file may expand to more than was fetched.
    let bytes_max = FETCHED_FILE_BYTES_MAX;
    let options = IngestOptions { is_plain: true, bytes_max, ..IngestOptions::default() };
    let source = Source::File(csv.to_owned());
    let (dataset, files) = ingest(source, shown_name, "table", dir, &options, &|_| {}, cancelled)
        .map_err(|error| advised(error, shown_name))?;
    files.keep_table(into_parquet)?;
    let n_columns = dataset.columns.len().max(1);
    head(into_parquet, rows_max.min(cells_max / n_columns))
}

/// Advises how to save a readable table; hints about flags do not help a model.
fn advised(error: anyhow::Error, shown_name: &str) -> anyhow::Error {
    match error.downcast::<Failure>() {
        Ok(Failure { kind: FailureKind::Input, message, .. }) => {
            let how = format!("save a DataFrame with `df.to_csv({shown_name:?}, index=False)`");
            Failure::input(format!("{message}; {how}")).into()
        }
        Ok(failure) => failure.into(),
        Err(error) => error,
    }
}
