//! Parquet files to datasets: the footer is checked, and the rows are read in batches and written
//! again, so that a dataset has our types, layout and names whatever its origin.
//!
//! A column becomes our nearest type. If that type cannot represent one of its values, the file is read
//! again and the column becomes text. A separate thread reads the file while another writes: decoding
//! and encoding take about the same time, and damage that makes the decoder panic ends only that
//! thread.

mod convert;
mod bounded_file;
mod file;
pub(crate) mod guard;
pub(crate) mod lengths;
pub(crate) mod pages;
pub(crate) mod text;
pub(crate) mod thrift;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use anyhow::ensure;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::DataType;

use csv_agent_types::catalog::{Column, Dataset, Dialect, Location, file_of};
use csv_agent_types::limits::{RECORD_BYTES_MAX, SLICE_BYTES_MAX};
use csv_agent_types::status::Failure;

use super::Watch;
use super::source::Input;
use super::write::{BuiltColumn, Encoder, ParquetFile, Purpose, RowGroup};
use crate::dataset_files::{DatasetFiles, Target, TempFiles};
use crate::options::IngestOptions;
use crate::refusal::{check_cancelled, refuse};
use convert::{Conversion, repeats};
use file::ParquetTable;

pub(crate) use file::is_parquet;

/// Maximum rows of a written row group.
const GROUP_ROWS_MAX: u64 = 256 * 1024;

/// Reads a Parquet file into `dir`, or only examines it. Fails with `FailureKind::Usage` when an option
/// describes how text is read; with `FailureKind::Input` when the file is damaged, too wide, has a column of
/// an unsupported type, or changes while it is read; and with `FailureKind::Interrupted` once the user
/// cancels.
pub(crate) fn ingest(
    input: &Input,
    name: &str,
    dir: Option<&Path>,
    options: &IngestOptions,
    watch: &Watch<'_>,
) -> anyhow::Result<(Dataset, DatasetFiles)> {
    check_options(options, &input.name, "Parquet")?;
    let table = ParquetTable::open(input, watch.cancelled)?;
    let sha256 = match &input.archive {
        Some(archive) => archive.sha256.clone(),
        None => input.sha256(watch.cancelled)?,
    };
    let purpose = match options.family {
        Some(_) => Purpose::Union,
        None => Purpose::of_dataset(options, input.bytes),
    };
    let target = dir.map(|dir| Target { dir, name, purpose });
    let first: Vec<Conversion> = table.sources.iter().map(|it| it.way).collect();
    let mut ways = first.clone();
    let mut read = read(&table, &mut ways, target, watch)?;
    if ways != first {
        drop(read.file.take());
        let firm = ways.clone();
        read = self::read(&table, &mut ways, target, watch)?;
        ensure!(ways == firm, "the second pass over the file found other values than the first");
    }
    input.check_unchanged()?;
    let parts = table.names.iter().zip(&table.sources).zip(&ways).zip(&read.nulls);
    let columns = parts.map(|(((name, source), way), nulls)| Column {
        note: way.note(&source.data_type, source.origin.as_ref()),
        ..Column::new(name, way.dtype(), Some(*nulls))
    });
    let mut dataset = Dataset {
        location: Location::Here { path: file_of(name) },
        source: input.name.clone(),
        origin: options.origin.clone(),
        only_part: options.only_part.clone(),
        table_number: options.table_number,
        sha256,
        bytes: input.archive.as_ref().map_or(input.bytes, |it| it.bytes),
        row_count: read.n_rows,
        columns: columns.collect(),
        dialect: Dialect::of_parquet(
            [input.archive_reason().into_iter().collect(), table.reasons()].concat(),
        ),
        ingested_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        ..Dataset::default()
    };
    let files = match (read.file, target) {
        (Some(file), Some(target)) => {
            let about = purpose.is_dataset().then_some(&mut dataset);
            TempFiles::of_parquet(file).complete(target, false, about)?
        }
        _ => DatasetFiles::default(),
    };
    Ok((dataset, files))
}

/// Fails when an option describes how to read text: a columnar file defines all of that itself. Fails with
/// `FailureKind::Usage` then.
pub(crate) fn check_options(
    options: &IngestOptions,
    shown_name: &str,
    what: &str,
) -> anyhow::Result<()> {
    let given = options.given();
    let Some(flag) = given.first().and_then(|it| it.split(' ').next()) else { return Ok(()) };
    let message = format!(
        "`{flag}` does not apply to `{shown_name}`, which is {what} and has its own types and \
         names"
    );
    let hint = format!("ingest {what} files by themselves, without `{flag}`");
    Err(Failure::usage(message).hint(hint).into())
}

struct PassResult {
    /// `None` when nothing is written, and when a column turned out to have another type.
    file: Option<ParquetFile>,
    n_rows: u64,
    nulls: Vec<u64>,
}

/// Reads the whole file once. A column whose conversion cannot represent a value gets another
/// conversion, and then no more is written.
fn read(
    table: &ParquetTable<'_>,
    ways: &mut [Conversion],
    target: Option<Target<'_>>,
    watch: &Watch<'_>,
) -> anyhow::Result<PassResult> {
    /// Batches that may wait to be written.
    const WAITING_MAX: usize = 2;
    thread::scope(|scope| {
        let (sender, batches) = sync_channel(WAITING_MAX);
        let reader = guard::spawn(scope, move || send(table, &sender))?;
        let read = write(table, batches, ways, target, watch);
        let sent = reader
            .join()
            .unwrap_or_else(|_| Err(table.damaged("its content is not valid Parquet data")));
        let read = read?;
        sent?;
        let (found, counted) = (read.n_rows, table.n_rows());
        if found != counted {
            let what = format!("it has {found} rows, but its footer says {counted}");
            return Err(table.damaged(&what));
        }
        Ok(read)
    })
}

/// Reads batches until the end, or until the receiver is gone.
fn send(table: &ParquetTable<'_>, batches: &SyncSender<RecordBatch>) -> anyhow::Result<()> {
    for batch in table.batches()? {
        let batch = batch.map_err(|error| table.damaged(&error.to_string()))?;
        let mut parts = Vec::new();
        split(batch, &mut parts);
        for part in parts {
            if batches.send(part).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Halves a batch until the text of each part fits a slice. One value may occur a thousand times and
/// still be stored once.
pub(crate) fn split(batch: RecordBatch, parts: &mut Vec<RecordBatch>) {
    let n_bytes: u64 = batch.columns().iter().map(text_bytes).sum();
    let n_rows = batch.num_rows();
    if n_rows < 2 || n_bytes <= SLICE_BYTES_MAX as u64 {
        parts.push(batch);
        return;
    }
    split(batch.slice(0, n_rows / 2), parts);
    split(batch.slice(n_rows / 2, n_rows - n_rows / 2), parts);
}

fn text_bytes(array: &ArrayRef) -> u64 {
    match array.data_type() {
        DataType::Utf8 => {
            let offsets = array.as_string::<i32>().value_offsets();
            let ends = offsets.first().zip(offsets.last());
            ends.map_or(0, |(first, last)| u64::from((last - first).unsigned_abs()))
        }
        DataType::Utf8View => array.as_string_view().lengths().map(u64::from).sum(),
        DataType::BinaryView => array.as_binary_view().lengths().map(u64::from).sum(),
        _ => 0,
    }
}

fn write(
    table: &ParquetTable<'_>,
    batches: Receiver<RecordBatch>,
    ways: &mut [Conversion],
    target: Option<Target<'_>>,
    watch: &Watch<'_>,
) -> anyhow::Result<PassResult> {
    let mut nulls = vec![0; ways.len()];
    let mut n_rows = 0;
    let mut n_bytes = 0;
    let mut output = None;
    let mut is_built = target.is_some();
    let mut batches = batches.into_iter().peekable();
    if let Some(target) = target {
        let columns = built_columns(table, ways, batches.peek());
        output = Some(ParquetOutput::create(target, &columns)?);
    }
    for batch in batches {
        check_cancelled(watch.cancelled)?;
        let mut columns = Vec::with_capacity(ways.len());
        for (at, (array, way)) in batch.columns().iter().zip(&mut *ways).enumerate() {
            let column = convert(table, at, array, *way)?;
            if column.is_none() {
                *way = Conversion::Text;
                is_built = false;
            }
            nulls[at] += array.logical_null_count() as u64;
            n_bytes += column.as_ref().map_or_else(|| text_bytes(array), text_bytes);
            columns.extend(column);
        }
        table.check_unpacked(n_bytes)?;
        n_rows += batch.num_rows() as u64;
        if let Some(output) = output.as_mut().filter(|_| is_built) {
            output.append(batch.num_rows() as u64, &columns)?;
        }
        (watch.progress)(table.progress(n_rows));
    }
    let file = match output.filter(|_| is_built) {
        Some(output) => Some(output.finish()?),
        None => None,
    };
    Ok(PassResult { file, n_rows, nulls })
}

fn convert(
    table: &ParquetTable<'_>,
    at: usize,
    array: &ArrayRef,
    way: Conversion,
) -> anyhow::Result<Option<ArrayRef>> {
    let failed = |found: &str| {
        let column = &table.sources[at].name;
        let message = format!("cannot read column `{column}` of `{}`: {found}", table.input.name);
        refuse(message, "write the file without it")
    };
    if RECORD_BYTES_MAX as u64 <= text_bytes(array) {
        return Err(failed(&format!("a value has more than {RECORD_BYTES_MAX} bytes")));
    }
    way.convert(array).map_err(|error| failed(&error.to_string()))
}

/// Returns the columns to build; the first rows show whether a dictionary saves space.
fn built_columns(
    table: &ParquetTable<'_>,
    ways: &[Conversion],
    first: Option<&RecordBatch>,
) -> Vec<BuiltColumn> {
    /// Cells to compare; more would not change the result.
    const CELLS_MAX: usize = 200_000;
    const ROWS_MAX: usize = 2_000;
    let n_rows = (CELLS_MAX / ways.len()).clamp(1, ROWS_MAX);
    let parts = table.names.iter().zip(ways).enumerate();
    let columns = parts.map(|(at, (name, way))| BuiltColumn {
        name: name.clone(),
        dtype: way.dtype(),
        repeats: first.is_none_or(|it| repeats(it.column(at), n_rows)),
    });
    columns.collect()
}

/// The Parquet file being written.
struct ParquetOutput {
    file: ParquetFile,
    encoder: Encoder,
    group: Option<RowGroup>,
    n_bytes: usize,
    n_rows: u64,
}

impl ParquetOutput {
    fn create(target: Target<'_>, columns: &[BuiltColumn]) -> anyhow::Result<Self> {
        let name = format!("{}.parquet", target.name);
        let (file, encoder) = ParquetFile::create(target.dir, &name, columns, target.purpose)?;
        Ok(ParquetOutput { file, encoder, group: None, n_bytes: 0, n_rows: 0 })
    }

    /// Appends rows to the open row group, and closes it when it is large enough.
    fn append(&mut self, n_rows: u64, columns: &[ArrayRef]) -> anyhow::Result<()> {
        let mut group = match self.group.take() {
            Some(group) => group,
            None => self.encoder.row_group()?,
        };
        group.write(columns)?;
        self.group = Some(group);
        self.n_rows += n_rows;
        self.n_bytes += columns.iter().map(Array::get_array_memory_size).sum::<usize>();
        if GROUP_ROWS_MAX <= self.n_rows || 2 * SLICE_BYTES_MAX <= self.n_bytes {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> anyhow::Result<()> {
        let Some(group) = self.group.take() else { return Ok(()) };
        self.file.append(self.n_rows, group.close()?)?;
        (self.n_rows, self.n_bytes) = (0, 0);
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<ParquetFile> {
        self.end_group()?;
        Ok(self.file)
    }
}
