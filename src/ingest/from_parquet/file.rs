//! A Parquet input file: recognised by its first and last bytes, its footer checked, its rows read.

use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::Context;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::{Compression, LogicalType, Type as PhysicalType};
use parquet::column::reader::ColumnReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, PageIndexPolicy, RowGroupMetaData};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;

use csv_agent_types::limits::{
    CSV_COLUMNS_MAX, PARQUET_CELLS_MAX, PARQUET_FOOTER_BYTES_MAX, PARQUET_LEVELS_MAX,
    PARQUET_PAGE_BYTES_MAX, PARQUET_UNPACKED_BYTES_MAX, PARQUET_UNPACKED_RATIO_MAX,
};

use super::convert::{Conversion, as_read};
use super::lengths::{self, WITH_LENGTHS};
use super::pages::Pages;
use super::{guard, thrift};
use crate::Progress;
use crate::from_parquet::bounded_file::BoundedFile;
use crate::header::names_of;
use crate::refusal::{check_cancelled, refuse};
use crate::source::Input;

const MAGIC: &[u8; 4] = b"PAR1";

/// Returns whether a file is Parquet, from its first bytes.
pub(crate) fn is_parquet(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// A Parquet file whose footer has been checked.
pub(super) struct ParquetTable<'a> {
    /// The file.
    pub input: &'a Input,
    pub sources: Vec<SourceColumn>,
    /// The usable name of each column.
    pub names: Vec<String>,
    metadata: ArrowReaderMetadata,
}

/// A column of the file.
pub(super) struct SourceColumn {
    /// Its name in the file.
    pub name: String,
    pub data_type: DataType,
    /// Its type before it became Parquet, if the file states it.
    pub origin: Option<DataType>,
    /// How it is converted to ours.
    pub way: Conversion,
}

impl<'a> ParquetTable<'a> {
    /// Opens the file and validates its footer. Fails when the file is damaged, has too many columns or one of
    /// an unsupported type, is compressed in an unknown way, or contains instants more precise than ours.
    pub(super) fn open(input: &'a Input, cancelled: &AtomicBool) -> anyhow::Result<Self> {
        let refused = |found: &str, hint: &str| {
            refuse(format!("cannot read `{}` as Parquet: {found}", input.name), hint)
        };
        check_ends(input)?;
        let metadata =
            guarded(input, || Ok(ArrowReaderMetadata::load(&BoundedFile::of(input)?, options())?))?;
        check_pages(input, &metadata, cancelled)?;
        let n_leaves = metadata.parquet_schema().num_columns();
        if n_leaves == 0 {
            return Err(refused("it has no columns", "check how the file was made"));
        }
        let chunks = metadata.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
        let mut codecs = chunks.map(ColumnChunkMetaData::compression);
        let is_unknown = |it: &Compression| matches!(it, Compression::BROTLI(_) | Compression::LZO);
        if let Some(codec) = codecs.find(is_unknown) {
            let codec = if codec == Compression::LZO { "lzo" } else { "brotli" };
            let found = format!("it is compressed with {codec}, which csv-agent does not read");
            return Err(refused(&found, "write it with snappy, zstd, gzip or lz4"));
        }
        let origins = guarded(input, || Ok(origins(&metadata)))?;
        let fields: Vec<Field> = metadata
            .schema()
            .fields()
            .iter()
            .zip(&origins)
            .map(|(field, origin)| {
                let data_type = as_read(field, origin.as_ref());
                Field::clone(field).with_data_type(data_type)
            })
            .collect();
        let ways = fields.iter().map(|field| {
            Conversion::first(field.data_type()).ok_or_else(|| {
                let (name, data_type) = (field.name(), field.data_type());
                let found = format!(
                    "column `{name}` has the type {data_type}, which csv-agent does not read"
                );
                refused(&found, "write the file without it, or with another type")
            })
        });
        let ways = ways.collect::<anyhow::Result<Vec<_>>>()?;
        let (sources, metadata) = guarded(input, || prepared(&metadata, fields, origins, ways))?;
        let names = sources.iter().map(|it: &SourceColumn| it.name.clone()).collect();
        let names = names_of(names).into_iter().map(|it| it.0).collect();
        let table = ParquetTable { input, sources, names, metadata };
        // Every cell takes at least one byte.
        table.check_unpacked(table.n_rows().saturating_mul(n_leaves as u64))?;
        guarded(input, || table.check_old_instants(cancelled))?;
        Ok(table)
    }

    /// Requires that the unpacked size of the file is within the limit for its size. Fails when it exceeds the
    /// limit.
    pub(super) fn check_unpacked(&self, n_bytes: u64) -> anyhow::Result<()> {
        let of_size = self.input.bytes.saturating_mul(PARQUET_UNPACKED_RATIO_MAX);
        let bytes_max = PARQUET_UNPACKED_BYTES_MAX.max(of_size);
        if n_bytes <= bytes_max {
            return Ok(());
        }
        let Input { name, bytes, .. } = self.input;
        let message = format!(
            "cannot read `{name}` as Parquet: its {bytes} bytes expand to more than {bytes_max}"
        );
        Err(refuse(message, "write the rows that you need to another file"))
    }

    /// Returns the row count in the footer.
    pub(super) fn n_rows(&self) -> u64 {
        u64::try_from(self.metadata.metadata().file_metadata().num_rows()).unwrap_or_default()
    }

    /// Returns the reading progress after `rows`.
    pub(super) fn progress(&self, rows: u64) -> Progress {
        let (rows_total, bytes_total) = (self.n_rows().max(1), self.input.bytes);
        let bytes = u128::from(bytes_total) * u128::from(rows) / u128::from(rows_total);
        Progress { bytes: u64::try_from(bytes).unwrap_or(bytes_total), bytes_total, rows }
    }

    /// Returns a sentence for each thing that a user might want to know.
    pub(super) fn reasons(&self) -> Vec<String> {
        /// Maximum number of names in a sentence.
        const SHOWN_MAX: usize = 10;
        let footer = self.metadata.metadata();
        let writer = footer.file_metadata().created_by().unwrap_or("an unknown program");
        let n_groups = footer.num_row_groups();
        let mut reasons = vec![format!("Parquet: {n_groups} row groups, written by {writer}")];
        let pairs = self.sources.iter().zip(&self.names);
        let renamed: Vec<_> = pairs
            .filter(|(source, name)| source.name != **name)
            .map(|(source, name)| format!("`{}` is `{name}`", source.name.escape_debug()))
            .collect();
        if !renamed.is_empty() {
            let more = if SHOWN_MAX < renamed.len() { ", …" } else { "" };
            let shown = renamed[..renamed.len().min(SHOWN_MAX)].join(", ");
            reasons.push(format!("names made usable: {shown}{more}"));
        }
        reasons
    }

    /// Begins reading the rows.
    pub(super) fn batches(
        &self,
    ) -> anyhow::Result<impl Iterator<Item = Result<RecordBatch, ArrowError>> + use<>> {
        /// Maximum rows of a batch.
        const ROWS_MAX: usize = 8_192;
        /// Maximum rows of nested values, each of which may be a long list.
        const NESTED_ROWS_MAX: usize = 512;
        let schema = self.metadata.parquet_schema();
        let is_nested = schema.num_columns() != self.sources.len()
            || self.sources.iter().any(|it| it.data_type.is_nested());
        let rows_max = if is_nested { NESTED_ROWS_MAX } else { ROWS_MAX };
        let n_rows = (PARQUET_CELLS_MAX / schema.num_columns()).clamp(1, rows_max);
        let metadata = self.metadata.clone();
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(
            BoundedFile::of(self.input)?,
            metadata,
        )
        .with_batch_size(n_rows)
        .build();
        reader.map_err(|error| self.damaged(&error.to_string()))
    }

    /// Returns the error for a malformed file.
    pub(super) fn damaged(&self, what: &str) -> anyhow::Error {
        damaged(self.input, what)
    }

    /// Fails when instants of the old kind, which count nanoseconds from any day, are more precise than
    /// microseconds or outside every calendar: the reader would truncate or wrap them.
    fn check_old_instants(&self, cancelled: &AtomicBool) -> anyhow::Result<()> {
        /// Julian days of 0001-01-01 and 9999-12-31.
        const DAYS: std::ops::RangeInclusive<u32> = 1_721_426..=5_373_484;
        const VALUES: usize = 8_192;
        let schema = self.metadata.parquet_schema();
        let old: Vec<usize> = (0..schema.num_columns())
            .filter(|it| schema.column(*it).physical_type() == PhysicalType::INT96)
            .collect();
        if old.is_empty() {
            return Ok(());
        }
        let reader = SerializedFileReader::new(BoundedFile::of(self.input)?)?;
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group)?;
            for &column in &old {
                let ColumnReader::Int96ColumnReader(mut values) =
                    group.get_column_reader(column)?
                else {
                    continue;
                };
                let (mut levels, mut lists, mut read) = (Vec::new(), Vec::new(), Vec::new());
                loop {
                    check_cancelled(cancelled)?;
                    levels.clear();
                    lists.clear();
                    read.clear();
                    let levels = Some(&mut levels);
                    let (_, _, n) =
                        values.read_records(VALUES, levels, Some(&mut lists), &mut read)?;
                    if n == 0 {
                        break;
                    }
                    let is_held = |it: &parquet::data_type::Int96| {
                        let parts = it.data();
                        let nanos = u64::from(parts[0]) | u64::from(parts[1]) << 32;
                        DAYS.contains(&parts[2]) && nanos.is_multiple_of(1_000)
                    };
                    if !read.iter().all(is_held) {
                        let path = schema.column(column).path().string();
                        let message = format!(
                            "cannot read column `{path}` of `{}`: it has INT96 instants that are \
                             finer than microseconds, or beyond the years 1 to 9999",
                            self.input.name
                        );
                        return Err(refuse(message, "write it as timestamps or as text"));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns how to read the footer: with Parquet's own types, without page indexes.
fn options() -> ArrowReaderOptions {
    ArrowReaderOptions::new()
        .with_skip_arrow_metadata(true)
        .with_page_index_policy(PageIndexPolicy::Skip)
}

/// Returns the type of each column before it became Parquet, if the file states it.
fn origins(metadata: &ArrowReaderMetadata) -> Vec<Option<DataType>> {
    let schema = metadata.parquet_schema();
    let stored = metadata.metadata().file_metadata().key_value_metadata();
    let origins = parquet_to_arrow_schema(schema, stored).ok();
    let origin = |at: usize| Some(origins.as_ref()?.fields().get(at)?.data_type().clone());
    (0..metadata.schema().fields().len()).map(origin).collect()
}

/// Returns the columns, and how to read them.
fn prepared(
    metadata: &ArrowReaderMetadata,
    mut fields: Vec<Field>,
    origins: Vec<Option<DataType>>,
    ways: Vec<Conversion>,
) -> anyhow::Result<(Vec<SourceColumn>, ArrowReaderMetadata)> {
    let footer = Arc::clone(metadata.metadata());
    let mut sources = Vec::with_capacity(ways.len());
    let roots = metadata.parquet_schema().root_schema().get_fields();
    let parts = fields.iter_mut().zip(roots).zip(origins).zip(ways);
    for (((field, root), origin), way) in parts {
        if root.is_primitive() && root.get_physical_type() == PhysicalType::INT96 {
            let micros = DataType::Timestamp(TimeUnit::Microsecond, None);
            *field = field.clone().with_data_type(micros);
        }
        let is_uuid = root.get_basic_info().logical_type_ref() == Some(&LogicalType::Uuid);
        sources.push(SourceColumn {
            name: field.name().clone(),
            data_type: field.data_type().clone(),
            origin,
            way: if is_uuid { Conversion::Uuid } else { way },
        });
    }
    let options = options().with_schema(Arc::new(Schema::new(fields)));
    Ok((sources, ArrowReaderMetadata::try_new(footer, options)?))
}

/// Checks both ends of the file before anything between them is trusted.
fn check_ends(input: &Input) -> anyhow::Result<()> {
    /// The length of the footer, and the magic.
    const TAIL_BYTES: usize = 8;
    let Some(start) =
        input.bytes.checked_sub(TAIL_BYTES as u64).filter(|it| MAGIC.len() as u64 <= *it)
    else {
        return Err(damaged(input, "it is too short to have a footer"));
    };
    let mut tail = [0; TAIL_BYTES];
    read_at(input, start, &mut tail)?;
    let [a, b, c, d, magic @ ..] = tail;
    if magic != *MAGIC {
        return Err(damaged(input, "it does not end like a Parquet file"));
    }
    let n_footer = u64::from(u32::from_le_bytes([a, b, c, d]));
    if start < n_footer {
        return Err(damaged(input, &format!("its footer would have {n_footer} bytes")));
    }
    let too_large = |what: String, hint: &str| {
        refuse(format!("cannot read `{}` as Parquet: {what}", input.name), hint)
    };
    if PARQUET_FOOTER_BYTES_MAX < n_footer {
        let what =
            format!("its footer has {n_footer} bytes, the limit is {PARQUET_FOOTER_BYTES_MAX}");
        return Err(too_large(what, "write it with larger row groups"));
    }
    let mut footer = vec![0; usize::try_from(n_footer)?];
    read_at(input, start - n_footer, &mut footer)?;
    let outline = thrift::outline(&footer);
    if CSV_COLUMNS_MAX < outline.leaves.len() {
        let what = format!("it has more than {CSV_COLUMNS_MAX} columns");
        return Err(too_large(what, "write the columns that you need to another file"));
    }
    let n_levels = outline.n_levels;
    if PARQUET_LEVELS_MAX < n_levels {
        let what = format!(
            "its types are nested {n_levels} levels deep, the limit is {PARQUET_LEVELS_MAX}"
        );
        return Err(too_large(what, "write it with simpler types"));
    }
    Ok(())
}

fn read_at(input: &Input, at: u64, bytes: &mut [u8]) -> anyhow::Result<()> {
    let read = input.file()?.read_exact_at(bytes, at);
    read.with_context(|| format!("cannot read `{}`", input.name))
}

/// Fails when a page would exceed the memory limit, before any is allocated for it.
fn check_pages(
    input: &Input,
    metadata: &ArrowReaderMetadata,
    cancelled: &AtomicBool,
) -> anyhow::Result<()> {
    let file = input.file()?;
    for chunk in metadata.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns) {
        check_cancelled(cancelled)?;
        let mut pages = Pages::of(&file, input.bytes, chunk);
        let mut has_lengths = false;
        // The decoder handles malformed pages.
        while let Ok(Some(page)) = pages.next_page() {
            has_lengths |= page.encoding.is_some_and(|it| WITH_LENGTHS.contains(&it));
            if PARQUET_PAGE_BYTES_MAX < page.bytes {
                let message = format!(
                    "cannot read `{}` as Parquet: a page of column `{}` has {} bytes, the limit is \
                     {PARQUET_PAGE_BYTES_MAX}",
                    input.name,
                    chunk.column_path().string(),
                    page.bytes
                );
                return Err(refuse(message, "write it with smaller pages"));
            }
        }
        if has_lengths {
            guarded(input, || {
                let measured = lengths::n_bytes(&file, input.bytes, chunk);
                measured.map_err(|error| damaged(input, &error.to_string()))
            })?;
        }
    }
    Ok(())
}

fn damaged(input: &Input, what: &str) -> anyhow::Error {
    let message =
        format!("cannot read `{}`: its Parquet data is damaged or cut short ({what})", input.name);
    refuse(message, "get the file again, or write it again")
}

/// Does work in which damaged bytes may cause a panic, and converts a panic to an error.
fn guarded<T: Send>(
    input: &Input,
    work: impl FnOnce() -> anyhow::Result<T> + Send,
) -> anyhow::Result<T> {
    let done = thread::scope(|scope| anyhow::Ok(guard::spawn(scope, work)?.join()))?;
    let Ok(done) = done else {
        return Err(damaged(input, "its content is not valid Parquet data"));
    };
    done.map_err(|error| match error.downcast::<ParquetError>() {
        Ok(error) => damaged(input, &error.to_string()),
        Err(error) => error,
    })
}
