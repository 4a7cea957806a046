//! Columns to row groups of zstd Parquet, under a temporary name until the file is complete.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anyhow::{Context, ensure};
use arrow_array::ArrayRef;
use arrow_schema::{Schema, SchemaRef};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::arrow::{ArrowSchemaConverter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::bloom_filter::Sbbf;
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{ColumnChunkMetaData, KeyValue, ParquetMetaData};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use tempfile::{NamedTempFile, TempPath};

use csv_agent_types::catalog::{DType, Dataset};
use csv_agent_types::limits::WRITERS_MAX;

use super::builder::field;
use super::filter;
use crate::options::IngestOptions;

/// zstd at level 1 is twice as fast as at 3, and its output a few percent larger.
const ZSTD_LEVEL: i32 = 1;
/// Rows of a page: the least that a search has to decode.
const PAGE_ROWS: usize = 20_000;

/// Up to this many bytes of source, the table of one statement is not compressed. A larger one might fill the disk.
const RAW_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Bytes between two syncs, which run while other data is parsed: at the end little remains to sync.
const SYNC_BYTES: usize = 4 * 1024 * 1024;
const CANNOT_WRITE: &str = "cannot write the Parquet file";

/// What a Parquet file is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A dataset of a session: it is synced to disk.
    Dataset,
    /// Another file, which takes its row groups. Then it is removed.
    Union,
    /// One command, which removes it.
    Command,
    /// One statement, after which it is removed: not even worth compressing.
    Statement,
}

impl Purpose {
    /// Returns the purpose of a dataset that is read from `bytes`.
    pub(crate) fn of_dataset(options: &IngestOptions, bytes: u64) -> Self {
        match (&options.statement, options.is_temporary) {
            (Some(_), _) if bytes <= RAW_BYTES_MAX => Purpose::Statement,
            (_, true) => Purpose::Command,
            (_, false) => Purpose::Dataset,
        }
    }

    /// Returns whether it is a dataset of its own.
    pub(crate) fn is_dataset(self) -> bool {
        self != Purpose::Union
    }

    fn compression(self) -> anyhow::Result<Compression> {
        Ok(match self {
            Purpose::Statement => Compression::UNCOMPRESSED,
            _ => Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuiltColumn {
    /// Unique.
    pub name: String,
    /// Its type.
    pub dtype: DType,
    /// Whether its values repeat, so that a dictionary saves space.
    pub repeats: bool,
}

impl BuiltColumn {
    fn encode_in(properties: WriterPropertiesBuilder, column: &Self) -> WriterPropertiesBuilder {
        let path = || ColumnPath::new(vec![column.name.clone()]);
        let properties = properties.set_column_dictionary_enabled(path(), column.repeats);
        match column.dtype {
            // As many bits as the numbers of a page require.
            DType::Int64 | DType::Date | DType::Timestamp | DType::TimestampUtc | DType::Time => {
                properties.set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED)
            }
            // Lengths are stored separately from the characters.
            DType::String => {
                properties.set_column_encoding(path(), Encoding::DELTA_LENGTH_BYTE_ARRAY)
            }
            DType::Bool | DType::Float64 => properties,
        }
    }
}

/// Encodes columns; shared by the threads of a pass.
pub(crate) struct Encoder {
    /// One factory for each group of columns, because a factory creates all its writers at once.
    parts: Arc<[ArrowRowGroupWriterFactory]>,
    schema: SchemaRef,
    purpose: Purpose,
}

impl Encoder {
    /// Creates an encoder of these columns.
    pub(crate) fn of(columns: &[BuiltColumn], purpose: Purpose) -> anyhow::Result<Encoder> {
        let factory = |it: &[BuiltColumn]| {
            let writer = writer(io::sink(), it, purpose)?;
            Ok(ArrowRowGroupWriterFactory::new(&writer, schema_of(it)))
        };
        let parts = columns.chunks(WRITERS_MAX).map(factory).collect::<anyhow::Result<_>>()?;
        Ok(Encoder { parts, schema: schema_of(columns), purpose })
    }

    /// Begins a row group that is filled in parts.
    pub(crate) fn row_group(&self) -> anyhow::Result<RowGroup> {
        let writers = match &*self.parts {
            [all] => all.create_column_writers(0)?,
            _ => Vec::new(),
        };
        let (parts, schema) = (Arc::clone(&self.parts), Arc::clone(&self.schema));
        Ok(RowGroup { writers, waiting: Vec::new(), parts, schema })
    }

    /// Encodes and compresses the columns of one row group, one at a time. Fails when a column does not have
    /// its type in the schema.
    pub(crate) fn encode(
        &self,
        columns: impl Iterator<Item = anyhow::Result<ArrayRef>>,
    ) -> anyhow::Result<Vec<ArrowColumnChunk>> {
        let mut encoded = Vec::with_capacity(self.schema.fields().len());
        for ((column, writer), field) in columns.zip(writers(&self.parts)).zip(self.schema.fields())
        {
            let (column, mut writer) = (column?, writer?);
            for leaf in compute_leaves(field, &column)? {
                writer.write(&leaf)?;
            }
            let filter = match self.purpose {
                Purpose::Dataset | Purpose::Union => filter::of_column(&column)?,
                Purpose::Command | Purpose::Statement => None,
            };
            // Free the column before the next is built.
            drop(column);
            let mut chunk = writer.close()?;
            // A dictionary of all values is more precise than a filter.
            if !is_all_dictionary(&chunk.close().metadata) {
                chunk.close_mut().bloom_filter = filter;
            }
            encoded.push(chunk);
        }
        Ok(encoded)
    }
}

/// Creates a writer for each column in turn.
fn writers(
    parts: &[ArrowRowGroupWriterFactory],
) -> impl Iterator<Item = anyhow::Result<ArrowColumnWriter>> {
    parts.iter().flat_map(|it| match it.create_column_writers(0) {
        Ok(writers) => writers.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error.into())],
    })
}

/// A row group that is filled in parts.
pub(crate) struct RowGroup {
    writers: Vec<ArrowColumnWriter>,
    /// The rows, where there are too many columns for each to have an open writer.
    waiting: Vec<Vec<ArrayRef>>,
    parts: Arc<[ArrowRowGroupWriterFactory]>,
    schema: SchemaRef,
}

impl RowGroup {
    /// Appends rows to each column. Fails when a column does not have its type in the schema.
    pub(crate) fn write(&mut self, columns: &[ArrayRef]) -> anyhow::Result<()> {
        if self.writers.is_empty() {
            self.waiting.push(columns.to_vec());
            return Ok(());
        }
        let fields = self.schema.fields();
        for ((column, writer), field) in columns.iter().zip(&mut self.writers).zip(fields) {
            for leaf in compute_leaves(field, column)? {
                writer.write(&leaf)?;
            }
        }
        Ok(())
    }

    /// Completes the columns.
    pub(crate) fn close(self) -> anyhow::Result<Vec<ArrowColumnChunk>> {
        if !self.writers.is_empty() {
            return self.writers.into_iter().map(|it| Ok(it.close()?)).collect();
        }
        let mut encoded = Vec::with_capacity(self.schema.fields().len());
        for (at, (writer, field)) in writers(&self.parts).zip(self.schema.fields()).enumerate() {
            let mut writer = writer?;
            for columns in &self.waiting {
                for leaf in compute_leaves(field, &columns[at])? {
                    writer.write(&leaf)?;
                }
            }
            encoded.push(writer.close()?);
        }
        Ok(encoded)
    }
}

/// A column of a row group, ready to be written.
pub(crate) enum GroupColumn {
    /// Its values were encoded.
    Encoded(ArrowColumnChunk),
    /// It is copied from another file in its encoded form.
    Copied(Arc<File>, ColumnCloseResult),
}

impl From<ArrowColumnChunk> for GroupColumn {
    fn from(chunk: ArrowColumnChunk) -> Self {
        GroupColumn::Encoded(chunk)
    }
}

impl GroupColumn {
    /// Takes the column at `at` of a row group. `metadata` belongs to `file`.
    pub(crate) fn copied(
        file: &Arc<File>,
        metadata: &ParquetMetaData,
        group: usize,
        at: usize,
    ) -> anyhow::Result<GroupColumn> {
        let row_group = metadata.row_group(group);
        let pages = metadata.page_index_for_row_group(group);
        let column = row_group.column(at);
        let closed = ColumnCloseResult {
            bytes_written: u64::try_from(column.compressed_size())?,
            rows_written: u64::try_from(row_group.num_rows())?,
            metadata: column.clone(),
            bloom_filter: Sbbf::read_from_column_chunk(column, &**file)?,
            column_index: pages.column_index(at).cloned(),
            offset_index: pages.offset_index(at).cloned(),
        };
        Ok(GroupColumn::Copied(Arc::clone(file), closed))
    }
}

/// The footer key under which a dataset file stores its catalog entry.
pub(crate) const ABOUT_KEY: &str = "csv-agent.dataset";

/// A Parquet file being written.
pub(crate) struct ParquetFile {
    writer: SerializedFileWriter<Summed>,
    n_rows: u64,
    /// Bytes certainly synced to disk; `None` for a file that is not kept.
    n_synced: Option<usize>,
}

impl ParquetFile {
    /// Creates a temporary file in `dir` that is removed unless it is kept.
    pub(crate) fn create(
        dir: &Path,
        name: &str,
        columns: &[BuiltColumn],
        purpose: Purpose,
    ) -> anyhow::Result<(Self, Encoder)> {
        let writer = writer(Summed::new(temporary(dir, name)?), columns, purpose)?;
        let n_synced = (purpose == Purpose::Dataset).then_some(0);
        Ok((ParquetFile { writer, n_rows: 0, n_synced }, Encoder::of(columns, purpose)?))
    }

    /// Appends a row group of `n_rows`.
    pub(crate) fn append(
        &mut self,
        n_rows: u64,
        columns: impl IntoIterator<Item = impl Into<GroupColumn>>,
    ) -> anyhow::Result<()> {
        let mut row_group = self.writer.next_row_group()?;
        for column in columns {
            match column.into() {
                GroupColumn::Encoded(chunk) => chunk.append_to_row_group(&mut row_group)?,
                GroupColumn::Copied(file, column) => row_group.append_column(&*file, column)?,
            }
        }
        row_group.close()?;
        self.n_rows += n_rows;
        let n_written = self.writer.bytes_written();
        if self.n_synced.is_some_and(|it| SYNC_BYTES <= n_written - it) {
            self.writer.inner().temp.as_file().sync_data().context(CANNOT_WRITE)?;
            self.n_synced = Some(n_written);
        }
        Ok(())
    }

    /// Stores the catalog entry of a dataset in the footer.
    pub(crate) fn describe(&mut self, dataset: &Dataset) -> anyhow::Result<()> {
        let about = serde_json::to_string(dataset).context("cannot write JSON")?;
        self.writer.append_key_value_metadata(KeyValue::new(ABOUT_KEY.to_owned(), about));
        Ok(())
    }

    /// Finishes the file and reads its footer back. The caller that keeps the file must sync it. Also returns
    /// its CRC-32. Fails when the file cannot be written, or does not contain the rows that were appended.
    pub(crate) fn finish(mut self) -> anyhow::Result<(NamedTempFile, u32)> {
        // Of a full disk, the writer's own error would keep no more than the text.
        self.writer.flush().context(CANNOT_WRITE)?;
        let mut summed = self.writer.into_inner()?;
        summed.flush()?;
        let (temp, checksum) = summed.finish();
        if self.n_synced.is_none() {
            // The reader counts the rows.
            return Ok((temp, checksum));
        }
        let footer = SerializedFileReader::new(temp.reopen()?)?;
        let n_rows = footer.metadata().file_metadata().num_rows();
        ensure!(
            u64::try_from(n_rows).ok() == Some(self.n_rows),
            "wrote {} rows but the Parquet file counts {n_rows}; the disk may be failing",
            self.n_rows
        );
        Ok((temp, checksum))
    }
}

/// A temporary file whose checksum is computed as it is written.
pub(crate) struct Summed {
    temp: NamedTempFile,
    hasher: crc32fast::Hasher,
}

impl Summed {
    fn new(temp: NamedTempFile) -> Self {
        Summed { temp, hasher: crc32fast::Hasher::new() }
    }

    /// Returns the file and its CRC-32.
    pub(crate) fn finish(self) -> (NamedTempFile, u32) {
        (self.temp, self.hasher.finalize())
    }
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_written = self.temp.write(bytes)?;
        self.hasher.update(&bytes[..n_written]);
        Ok(n_written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temp.flush()
    }
}

/// Returns when a file was last modified, in the catalog's format. Fails when the file system does not report
/// it.
pub(crate) fn modified(file: &File) -> anyhow::Result<String> {
    Ok(jiff::Timestamp::try_from(file.metadata()?.modified()?)?.to_string())
}

/// Returns the CRC-32 of a file.
pub(crate) fn checksum(file: &File) -> io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 256 * 1024];
    let mut at = 0;
    loop {
        match file.read_at(&mut buffer, at)? {
            0 => return Ok(hasher.finalize()),
            n => {
                hasher.update(&buffer[..n]);
                at += n as u64;
            }
        }
    }
}

fn schema_of(columns: &[BuiltColumn]) -> SchemaRef {
    let fields: Vec<_> = columns.iter().map(|it| field(&it.name, it.dtype)).collect();
    Arc::new(Schema::new(fields))
}

/// Begins a Parquet file with these columns.
fn writer<W: Write + Send>(
    out: W,
    columns: &[BuiltColumn],
    purpose: Purpose,
) -> anyhow::Result<SerializedFileWriter<W>> {
    let schema = schema_of(columns);
    let properties = WriterProperties::builder()
        .set_created_by(concat!("csv-agent version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(purpose.compression()?)
        .set_data_page_row_count_limit(PAGE_ROWS);
    let mut properties = columns.iter().fold(properties, BuiltColumn::encode_in).build();
    let parquet_schema = ArrowSchemaConverter::new().convert(&schema)?;
    add_encoded_arrow_schema_to_metadata(&schema, &mut properties);
    let root = parquet_schema.root_schema_ptr();
    Ok(SerializedFileWriter::new(out, root, Arc::new(properties))?)
}

/// A temporary file that is created on the first write.
pub(crate) struct LateFile {
    dir: PathBuf,
    name: String,
    temp: Option<Summed>,
}

impl LateFile {
    /// Names a file in `dir` without creating it.
    pub(crate) fn new(dir: &Path, name: String) -> Self {
        LateFile { dir: dir.to_owned(), name, temp: None }
    }

    /// Returns the file, if anything was written.
    pub(crate) fn into_temporary(self) -> Option<Summed> {
        self.temp
    }
}

impl Write for LateFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let temp = match self.temp.take() {
            Some(temp) => temp,
            None => Summed::new(temporary(&self.dir, &self.name).map_err(io::Error::other)?),
        };
        self.temp.insert(temp).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.temp.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Creates a file in `dir` that is removed unless it is kept, readable by its owner only.
pub(crate) fn temporary(dir: &Path, name: &str) -> anyhow::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(&format!(".{name}."))
        .suffix(".tmp")
        .tempfile_in(dir)
        .with_context(|| format!("cannot write in {}", dir.display()))
}

/// Renames a temporary file to its final name, replacing any existing file.
pub(crate) fn keep(temp: TempPath, path: &Path) -> anyhow::Result<()> {
    temp.persist(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(())
}

/// Syncs each of these files to disk, and returns the results in order. Syncing many concurrently takes
/// little longer than one.
pub(crate) fn sync_files(paths: &[&Path]) -> Vec<anyhow::Result<()>> {
    const AT_ONCE_MAX: usize = 16;
    let sync = |path: &Path| File::open(path).and_then(|it| it.sync_all()).context(CANNOT_WRITE);
    let share = paths.len().div_ceil(AT_ONCE_MAX).max(1);
    thread::scope(|scope| {
        let works = paths
            .chunks(share)
            .map(|share| scope.spawn(move || share.iter().map(|it| sync(it)).collect::<Vec<_>>()));
        let works: Vec<_> = works.collect();
        works.into_iter().flat_map(|it| it.join().expect("it does not panic")).collect()
    })
}

/// Makes renames in `dir` survive a power cut.
///
/// # Errors
///
/// Fails when the directory cannot be opened.
pub fn sync_dir(dir: &Path) -> anyhow::Result<()> {
    let doing = || format!("cannot write {}", dir.display());
    File::open(dir).and_then(|it| it.sync_all()).with_context(doing)
}

/// Returns whether every value of a chunk is a key into its dictionary.
pub(crate) fn is_all_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    let is_key =
        |it: &Encoding| matches!(it, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
    chunk.dictionary_page_offset().is_some()
        && chunk.page_encoding_stats_mask().is_some_and(|mask| {
            let mut encodings = mask.encodings();
            encodings.all(|it| is_key(&it))
        })
}
