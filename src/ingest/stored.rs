//! The Parquet file of a dataset in a session: measured before it is decoded.
//!
//! The session may come from someone else. A few bytes of Parquet can expand to gigabytes: a page that
//! repeats one letter, or a long dictionary text that a million rows refer to. Page headers are
//! therefore checked first, only encodings that csv-agent writes are decoded, texts are not copied out
//! of a dictionary, and no batch of rows has more text than a slice.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, Type};
use parquet::file::metadata::PageIndexPolicy;

use csv_agent_types::catalog::DType;
use csv_agent_types::limits::{
    CSV_COLUMNS_MAX, DATASET_GROUP_BYTES_MAX, DATASET_PAGE_BYTES_MAX, PARQUET_CELLS_MAX,
    PARQUET_FOOTER_BYTES_MAX,
};

use super::from_parquet::guard;
use super::from_parquet::lengths::WITH_LENGTHS;
use super::from_parquet::pages::{PageHead, Pages};
use super::from_parquet::split;
use super::from_parquet::thrift::{Outline, outline};

/// Accepted encodings: plain, dictionary keys, runs, differences, also of lengths, and split bytes.
/// With `DELTA_BYTE_ARRAY`, which csv-agent does not write, texts can be longer than their page.
const ENCODINGS: [i64; 7] = [0, 2, 3, 5, 6, 8, 9];

/// Levels of a dataset's schema: the root and its columns.
const FLAT_LEVELS: usize = 2;

/// The encodings of dictionary keys.
const KEYS: [i64; 2] = [2, 8];

/// A dataset's file whose footer has been read.
pub(crate) struct Stored {
    file: File,
    n_bytes: u64,
    /// As in the footer, with texts as views.
    pub metadata: ArrowReaderMetadata,
}

impl Stored {
    /// Opens a dataset's file. Fails when it is missing, damaged or not written by csv-agent.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Stored> {
        Stored::of(File::open(path)?)
    }

    /// Reads the footer of a dataset's file.
    pub(crate) fn of(file: File) -> anyhow::Result<Stored> {
        // The decoder recurses for each level, and allocates for each column.
        let is_flat = {
            let footer = footer(&file)?;
            let Outline { n_levels, leaves, .. } = outline(&footer);
            n_levels <= FLAT_LEVELS && leaves.len() <= CSV_COLUMNS_MAX
        };
        ensure!(is_flat, "a dataset cannot have nested columns, or this many columns");
        let n_bytes = file.metadata()?.len();
        let options = || ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Skip);
        let read = ArrowReaderMetadata::load(&file, options())?;
        let fields = read.schema().fields();
        let leaves = read.parquet_schema().columns();
        ensure!(leaves.len() == fields.len(), "a dataset cannot have nested columns");
        for (leaf, field) in leaves.iter().zip(fields) {
            let is_ours = match field.data_type() {
                DataType::Boolean => leaf.physical_type() == Type::BOOLEAN,
                DataType::Int64
                | DataType::Timestamp(TimeUnit::Microsecond, _)
                | DataType::Time64(TimeUnit::Microsecond) => leaf.physical_type() == Type::INT64,
                DataType::Float64 => leaf.physical_type() == Type::DOUBLE,
                DataType::Date32 => leaf.physical_type() == Type::INT32,
                DataType::Utf8 => leaf.physical_type() == Type::BYTE_ARRAY,
                _ => false,
            };
            if !is_ours || leaf.max_rep_level() != 0 {
                let found = field.data_type();
                bail!("a dataset cannot have a column of type {found}; ingest its source again");
            }
        }
        let as_read = |field: &Arc<Field>| match field.data_type() {
            DataType::Utf8 => Arc::new(Field::clone(field).with_data_type(DataType::Utf8View)),
            _ => Arc::clone(field),
        };
        let schema = Schema::new(fields.iter().map(as_read).collect::<Vec<_>>());
        let options = options().with_schema(Arc::new(schema));
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(read.metadata()), options)?;
        Ok(Stored { file, n_bytes, metadata })
    }

    /// Requires that the whole file is within the limits.
    pub(crate) fn measure_all(&self) -> anyhow::Result<()> {
        let n_columns = self.metadata.schema().fields().len();
        let n_groups = self.metadata.metadata().num_row_groups();
        (0..n_groups).try_for_each(|group| self.measure(group, 0..n_columns).map(drop))
    }

    /// Requires that some columns of a row group are within the memory limits of a dataset. Returns whether all
    /// of their values are dictionary keys. Fails when they exceed them, when a page has an encoding or
    /// compression that csv-agent does not use, and when the file is damaged.
    pub(crate) fn measure(
        &self,
        group: usize,
        columns: impl IntoIterator<Item = usize>,
    ) -> anyhow::Result<bool> {
        let group = self.metadata.metadata().row_group(group);
        let (chunks, n_rows) = (group.columns(), group.num_rows());
        let (mut group_bytes, mut are_keys) = (0, true);
        for chunk in columns.into_iter().filter_map(|it| chunks.get(it)) {
            let codec = chunk.compression();
            let is_ours = matches!(codec, Compression::ZSTD(_) | Compression::UNCOMPRESSED);
            ensure!(
                is_ours,
                "a dataset cannot be compressed with {codec}; ingest its source again"
            );
            let mut pages = Pages::of(&self.file, self.n_bytes, chunk);
            let measured = measure_pages(&mut pages, n_rows, |page| {
                are_keys &= page.is_dictionary || page.encoding.is_none_or(|it| KEYS.contains(&it));
                let is_ours = page.encoding.is_none_or(|it| ENCODINGS.contains(&it));
                ensure!(
                    is_ours,
                    "a page has an encoding that no dataset uses; ingest its source again"
                );
                Ok(())
            });
            group_bytes +=
                measured.with_context(|| format!("column `{}`", chunk.column_path().string()))?;
        }
        ensure!(
            group_bytes <= DATASET_GROUP_BYTES_MAX,
            "a row group has {group_bytes} bytes; the limit is {DATASET_GROUP_BYTES_MAX} bytes"
        );
        Ok(are_keys)
    }

    /// Reads some columns in batches; `None` means all. A batch has at most `rows_max` rows.
    pub(crate) fn batches(
        &self,
        columns: Option<Vec<usize>>,
        rows_max: usize,
    ) -> impl Iterator<Item = anyhow::Result<RecordBatch>> {
        let columns =
            columns.unwrap_or_else(|| (0..self.metadata.schema().fields().len()).collect());
        let n_rows = (PARQUET_CELLS_MAX / columns.len().max(1)).clamp(1, rows_max);
        let n_groups = self.metadata.metadata().num_row_groups();
        (0..n_groups).flat_map(move |group| {
            let read = || -> anyhow::Result<_> {
                self.measure(group, columns.iter().copied())?;
                let schema = self.metadata.parquet_schema();
                let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                    self.file.try_clone()?,
                    self.metadata.clone(),
                );
                let reader = builder
                    .with_row_groups(vec![group])
                    .with_projection(ProjectionMask::leaves(schema, columns.iter().copied()))
                    .with_batch_size(n_rows);
                Ok(reader.build()?)
            };
            let (reader, error) = match read() {
                Ok(reader) => (Some(reader), None),
                Err(error) => (None, Some(Err(error))),
            };
            let batches = reader.into_iter().flatten().flat_map(|batch| match batch {
                Ok(batch) => {
                    let mut parts = Vec::new();
                    split(batch, &mut parts);
                    parts.into_iter().map(Ok).collect()
                }
                Err(error) => vec![Err(error.into())],
            });
            batches.chain(error)
        })
    }
}

/// Sums the sizes of a column's pages in a row group of `n_rows`, checking each page. Fails when a page is too
/// large, its header cannot be read, or `look` fails, and when the pages do not have as many values as there
/// are rows: a decoder allocates what a page declares.
pub(crate) fn measure_pages(
    pages: &mut Pages<'_>,
    n_rows: i64,
    mut look: impl FnMut(&PageHead) -> anyhow::Result<()>,
) -> anyhow::Result<u64> {
    let mut n_missing = pages.n_values(n_rows)?;
    let mut n_bytes = 0_u64;
    let mut has_lengths = false;
    while let Some(page) = pages.next_page()? {
        let found = page.bytes;
        ensure!(
            found <= DATASET_PAGE_BYTES_MAX,
            "a page has {found} bytes; the limit is {DATASET_PAGE_BYTES_MAX} bytes"
        );
        let PageHead { n_values, n_nulls, .. } = page;
        ensure!(
            (0..=n_values).contains(&n_nulls),
            "a page has {n_values} values, {n_nulls} of them null, according to its header"
        );
        if page.is_dictionary {
            let fits = u64::try_from(n_values)? <= found;
            ensure!(
                fits,
                "a dictionary of {found} bytes has {n_values} values, according to its header"
            );
        } else {
            n_missing = n_missing.saturating_sub(n_values);
        }
        look(&page)?;
        n_bytes = n_bytes.saturating_add(found);
        has_lengths |= page.encoding.is_some_and(|it| WITH_LENGTHS.contains(&it));
    }
    ensure!(n_missing == 0, "its pages do not have as many values as there are rows");
    if has_lengths {
        n_bytes = n_bytes.saturating_add(pages.n_bytes_of_lengths()?);
    }
    Ok(n_bytes)
}

/// Reads the raw footer of a Parquet file. Fails when the file does not begin and end as Parquet does, or its
/// footer exceeds the limit.
pub(crate) fn footer(file: &File) -> anyhow::Result<Vec<u8>> {
    is_whole(file, PARQUET_FOOTER_BYTES_MAX)?;
    let end = file.metadata()?.len() - 8;
    let mut length = [0; 4];
    file.read_exact_at(&mut length, end)?;
    let mut footer = vec![0; usize::try_from(u32::from_le_bytes(length))?];
    let begin = end - footer.len() as u64;
    file.read_exact_at(&mut footer, begin)?;
    Ok(footer)
}

/// Returns our nearest type; a type without one is shown as text.
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

/// Requires that a file begins and ends as Parquet does, with room for the footer between.
///
/// # Errors
///
/// Fails when it does not, its footer exceeds `footer_bytes_max` bytes, or it cannot be read.
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
