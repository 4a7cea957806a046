//! The description of a dataset in its own file, for a session that has lost its catalog.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use arrow_schema::FieldRef;
use memchr::memmem;
use parquet::file::metadata::ParquetMetaData;

use csv_agent_types::catalog::{Checksums, Column, Dataset, Dialect, Location, file_of};
use csv_agent_types::directory;
use csv_agent_types::json::parse;
use csv_agent_types::limits::{
    CHECKSUM_ALWAYS_BYTES_MAX, CHECKSUM_BYTES_MAX, DATASET_MEMORY_BYTES_MAX,
};

use super::from_parquet::guard;
use super::from_parquet::thrift::{Outline, outline};
use super::stored::Stored;
use super::write::{ABOUT_KEY, checksum, modified};
use crate::stored::dtype_of;
use crate::stored::footer;

/// Returns the catalog entry for a Parquet file as the dataset `name`.
///
/// An ingest writes it into the footer. A file without it, or with other rows and columns than it
/// states, gets the names, types and counts available in any Parquet file. The checksums are computed
/// from the current files.
///
/// # Errors
///
/// Fails when the file is damaged, is not readable as a dataset, or takes too much memory.
pub fn dataset_of(file: &File, path: &Path, name: &str) -> anyhow::Result<Dataset> {
    let read = || {
        let lines = directory::open_file(&path.with_extension("lines"));
        let lines = lines.and_then(|it| checksum(&it)).ok();
        let written = Checksums { table: checksum(file)?, modified: modified(file)?, lines };
        Ok(Dataset { checksums: Some(written), ..read(file, path, name)? })
    };
    guard::run(read).with_context(|| format!("cannot read {}", path.display()))
}

/// Returns why a Parquet file is not that of a dataset, if its header and footer show it. The pages are
/// checked when the file has been changed or copied, and is not too large for that.
pub fn why_not(file: &File, dataset: &Dataset) -> Option<&'static str> {
    const DAMAGED: Option<&str> = Some("is damaged");
    const OTHER: Option<&str> = Some("belongs to other data");
    let Ok(footer) = footer(file) else { return DAMAGED };
    let Outline { leaves, n_rows: Some(n_rows), .. } = outline(&footer) else { return DAMAGED };
    let names = dataset.columns.iter().map(|it| it.name.as_bytes());
    if u64::try_from(n_rows) != Ok(dataset.row_count) || !names.eq(leaves) {
        return OTHER;
    }
    // The description written by an ingest states from which bytes the dataset was made.
    let says = |it: &str| memmem::find(&footer, it.as_bytes()).is_some();
    if says(ABOUT_KEY) && !says(&dataset.sha256) {
        return OTHER;
    }
    let n_bytes = file.metadata().map_or(0, |it| it.len());
    let is_changed = |it: &Checksums| modified(file).ok().as_ref() != Some(&it.modified);
    let is_compared = |it: &Checksums| {
        n_bytes <= CHECKSUM_ALWAYS_BYTES_MAX || (n_bytes <= CHECKSUM_BYTES_MAX && is_changed(it))
    };
    let is_sound = |it: &Checksums| !is_compared(it) || checksum_once(file).ok() == Some(it.table);
    if dataset.checksums.as_ref().is_none_or(is_sound) { None } else { DAMAGED }
}

/// Returns the CRC-32 of a file, which is read again only when it has changed since this process read it.
fn checksum_once(file: &File) -> io::Result<u32> {
    static READ: Mutex<BTreeMap<[i64; 7], u32>> = Mutex::new(BTreeMap::new());
    let it = file.metadata()?;
    let numbers = [it.dev(), it.ino(), it.len()].map(u64::cast_signed);
    let [dev, ino, n_bytes] = numbers;
    let state = [dev, ino, n_bytes, it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec()];
    let read = || READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = read().get(&state) {
        return Ok(*known);
    }
    let found = checksum(file)?;
    read().insert(state, found);
    Ok(found)
}

fn read(file: &File, path: &Path, name: &str) -> anyhow::Result<Dataset> {
    let stored = Stored::of(file.try_clone()?)?;
    stored.measure_all()?;
    let metadata = stored.metadata;
    let row_count = u64::try_from(metadata.metadata().file_metadata().num_rows())?;
    let fields = metadata.schema().fields();
    let fits = |it: &Dataset| {
        let mut pairs = it.columns.iter().zip(fields);
        let is_same = |(column, field): (&Column, &FieldRef)| {
            column.name == *field.name() && column.dtype == dtype_of(field.data_type())
        };
        it.row_count == row_count && it.columns.len() == fields.len() && pairs.all(is_same)
    };
    if let Some(dataset) =
        about(metadata.metadata()).filter(|it| it.oddity(name).is_none() && fits(it))
    {
        return Ok(dataset);
    }
    let nulls = |at: usize| {
        let chunks = metadata.metadata().row_groups().iter();
        chunks.map(|it| it.columns().get(at)?.statistics()?.null_count_opt()).sum::<Option<u64>>()
    };
    let column =
        |(at, it): (usize, &FieldRef)| Column::new(it.name(), dtype_of(it.data_type()), nulls(at));
    let columns = fields.iter().enumerate().map(column);
    let stat = file.metadata()?;
    let modified = stat.modified().ok().and_then(|it| jiff::Timestamp::try_from(it).ok());
    Ok(Dataset {
        location: Location::Here { path: file_of(name) },
        source: path.display().to_string(),
        // No source file: whatever is ingested under the name is other data.
        sha256: String::new(),
        bytes: stat.len(),
        row_count,
        columns: columns.collect(),
        dialect: Dialect::of_parquet(vec![
            "found without a catalog, so its source is not known".to_owned(),
        ]),
        ingested_at: modified.unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        ..Dataset::default()
    })
}

fn about(metadata: &ParquetMetaData) -> Option<Dataset> {
    let pairs = metadata.file_metadata().key_value_metadata()?;
    let about = pairs.iter().find(|it| it.key == ABOUT_KEY)?;
    parse(about.value.as_deref()?.as_bytes(), DATASET_MEMORY_BYTES_MAX).ok()
}
