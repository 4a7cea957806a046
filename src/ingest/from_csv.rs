//! A table that code has saved as CSV somewhere else, as a frame.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Context;

use csv_agent_types::frame::Frame;
use csv_agent_types::limits::FETCHED_FILE_BYTES_MAX;
use csv_agent_types::status::{ExitStatus, Failure};

use super::ingest::ingest;
use super::{Source, head};
use crate::options::IngestOptions;

/// Reads the CSV at `csv`, which a program has written: the whole table goes to `into_parquet`, in
/// place of what has that name, and its first rows are returned, at most `rows_max` of them and at most
/// `cells_max` cells. `shown_name` is the file as whoever saved it knows it: `/mnt/data/df.csv`.
///
/// It is read like any file that somebody ingests, as to bounds and what is refused, but not as to what
/// people do to tables: the first record has the names, every other one is a row, and only what
/// programs write as numbers, truth values, days and times is that. `12 %`, `yes` and `NA` stay text. Types
/// of the frame are named as pandas names them.
///
/// # Errors
///
/// Fails when the file is missing, empty, no text, too long, or no CSV, with a message that a model can
/// act on; when `into_parquet` cannot be written; and once `cancelled` is set.
pub fn table_of_csv(
    csv: &Path,
    shown_name: &str,
    into_parquet: &Path,
    rows_max: usize,
    cells_max: usize,
    cancelled: &AtomicBool,
) -> anyhow::Result<Frame> {
    let dir = into_parquet.parent().context("no directory to write the table in")?;
    // A compressed file may hold more than was fetched.
    let bytes_max = FETCHED_FILE_BYTES_MAX;
    let options = IngestOptions { is_plain: true, bytes_max, ..IngestOptions::default() };
    let source = Source::File(csv.to_owned());
    let (dataset, files) = ingest(source, shown_name, "table", dir, &options, &|_| {}, cancelled)
        .map_err(|error| advised(error, shown_name))?;
    files.keep_table(into_parquet)?;
    let n_columns = dataset.columns.len().max(1);
    head(into_parquet, rows_max.min(cells_max / n_columns))
}

/// Says how to save a table that can be read; what a user would be told of flags helps no model.
fn advised(error: anyhow::Error, shown_name: &str) -> anyhow::Error {
    match error.downcast::<Failure>() {
        Ok(Failure { status: ExitStatus::Input, message, .. }) => {
            let how = format!("save a DataFrame with `df.to_csv({shown_name:?}, index=False)`");
            Failure::new(ExitStatus::Input, format!("{message}; {how}")).into()
        }
        Ok(failure) => failure.into(),
        Err(error) => error,
    }
}
