//! One column of one row group: how many of its values equal the searched value.
//!
//! Cheapest first: its Bloom filter; its dictionary, where that contains all values; the raw bytes of
//! its pages, without decoding them. Only then are values decoded.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type as Key;
use arrow_schema::{DataType, Field, Schema};
use memchr::memmem;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Encoding, Type};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageReader};
use parquet::column::reader::{get_column_reader, get_typed_column_reader};
use parquet::data_type::{BoolType, DataType as StoredType, DoubleType, Int32Type, Int64Type};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::needle::{Needle, is_equal};
use crate::filter;
use crate::stored::Stored;
use crate::write::is_all_dictionary;

/// Rows decoded at once: enough for speed, few enough for the cache.
const BATCH_ROWS: usize = 8 * 1024;

/// A Parquet file being searched; shared by the threads.
pub(super) struct SearchedFile {
    stored: Stored,
    /// As in the footer.
    pub metadata: ArrowReaderMetadata,
    /// The same with text columns as dictionary keys, so that each text is compared once.
    keyed: ArrowReaderMetadata,
}

pub(super) struct ChunkPosition {
    /// Index of the row group.
    pub row_group: usize,
    /// Index of the column.
    pub column: usize,
}

impl SearchedFile {
    /// Reads the footer.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let stored = Stored::open(path)?;
        let metadata = stored.metadata.clone();
        let keyed = keyed(&metadata)?;
        Ok(SearchedFile { stored, metadata, keyed })
    }

    /// Returns the footer metadata of a chunk.
    pub(super) fn chunk(&self, place: &ChunkPosition) -> &ColumnChunkMetaData {
        self.metadata.metadata().row_group(place.row_group).column(place.column)
    }

    pub(super) fn data_type(&self, place: &ChunkPosition) -> &DataType {
        self.metadata.schema().field(place.column).data_type()
    }

    /// Counts the values of a chunk that equal `needle`.
    pub(super) fn count(
        &self,
        place: &ChunkPosition,
        file: &Arc<File>,
        needle: &Needle,
    ) -> anyhow::Result<u64> {
        let chunk = self.chunk(place);
        let data_type = self.data_type(place);
        let is_text = *data_type == DataType::Utf8View;
        if is_text
            && let Some(filter) = Sbbf::read_from_column_chunk(chunk, &**file)?
            && !filter::may_hold(&filter, needle.folded())
        {
            return Ok(0);
        }
        let are_keys = self.stored.measure(place.row_group, [place.column])?;
        let is_dictionary = is_all_dictionary(chunk) && are_keys;
        if is_dictionary
            && let Some(Page::DictionaryPage { buf, .. }) =
                self.pages(place, file)?.get_next_page()?
            && !needle.is_in_dictionary(&buf, data_type)
        {
            return Ok(0);
        }
        match chunk.column_type() {
            Type::BYTE_ARRAY if is_text && is_dictionary => self.count_keys(place, file, needle),
            Type::BYTE_ARRAY if is_text => {
                if !self.may_be_in_pages(place, file, needle)? {
                    return Ok(0);
                }
                self.count_texts(place, file, needle)
            }
            Type::BOOLEAN => {
                self.count_values::<BoolType>(place, file, |it| Some(*it) == needle.bool)
            }
            Type::DOUBLE => {
                let Some(float) = needle.float else { return Ok(0) };
                self.count_values::<DoubleType>(place, file, |it| is_equal(*it, float))
            }
            Type::INT32 => {
                self.count_values::<Int32Type>(place, file, |it| Some(*it) == needle.day)
            }
            Type::INT64 => {
                let Some(whole) = needle.whole(data_type) else { return Ok(0) };
                self.count_values::<Int64Type>(place, file, |it| *it == whole)
            }
            other => bail!("no search in a column of type {data_type}, stored as {other}"),
        }
    }

    fn pages(
        &self,
        place: &ChunkPosition,
        file: &Arc<File>,
    ) -> anyhow::Result<SerializedPageReader<File>> {
        let n_rows = self.n_rows(place)?;
        Ok(SerializedPageReader::new(Arc::clone(file), self.chunk(place), n_rows, None)?)
    }

    fn n_rows(&self, place: &ChunkPosition) -> anyhow::Result<usize> {
        Ok(usize::try_from(self.metadata.metadata().row_group(place.row_group).num_rows())?)
    }

    /// Counts matches among values stored as numbers. Reads one column at a cost that does not depend
    /// on the width of the file.
    fn count_values<T: StoredType>(
        &self,
        place: &ChunkPosition,
        file: &Arc<File>,
        is_match: impl Fn(&T::T) -> bool,
    ) -> anyhow::Result<u64> {
        let pages = Box::new(self.pages(place, file)?);
        let column = self.chunk(place).column_descr_ptr();
        let mut reader = get_typed_column_reader::<T>(get_column_reader(column, pages));
        let (mut values, mut levels) = (Vec::with_capacity(BATCH_ROWS), Vec::new());
        let mut count = 0;
        loop {
            values.clear();
            levels.clear();
            let (n_rows, ..) =
                reader.read_records(BATCH_ROWS, Some(&mut levels), None, &mut values)?;
            if n_rows == 0 {
                return Ok(count);
            }
            count += values.iter().filter(|it| is_match(it)).count() as u64;
        }
    }

    /// Returns whether the letters of the value occur consecutively in some page.
    ///
    /// Pages store texts verbatim, so this costs no more than decompressing them.
    fn may_be_in_pages(
        &self,
        place: &ChunkPosition,
        file: &Arc<File>,
        needle: &Needle,
    ) -> anyhow::Result<bool> {
        /// Shorter sequences occur somewhere in every page.
        const LETTERS_MIN: usize = 3;
        let letters = needle.letters();
        if letters.len() < LETTERS_MIN {
            return Ok(true);
        }
        let finder = memmem::Finder::new(letters);
        let mut lower = Vec::new();
        let mut pages = self.pages(place, file)?;
        while let Some(page) = pages.get_next_page()? {
            match page.encoding() {
                Encoding::PLAIN | Encoding::DELTA_LENGTH_BYTE_ARRAY => {}
                // Their texts were in the preceding dictionary page.
                Encoding::RLE_DICTIONARY if page.is_data_page() => continue,
                _ => return Ok(true),
            }
            lower.clear();
            lower.extend(page.buffer().iter().map(u8::to_ascii_lowercase));
            if finder.find(&lower).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn count_texts(
        &self,
        place: &ChunkPosition,
        file: &File,
        needle: &Needle,
    ) -> anyhow::Result<u64> {
        let mut count = 0;
        for batch in self.batches(&self.metadata, place, file)? {
            let batch = batch?;
            let texts = batch.column(0).as_string_view().iter().flatten();
            count += texts.filter(|it| needle.is_text(it.as_bytes())).count() as u64;
        }
        Ok(count)
    }

    /// Counts matches among texts that are dictionary keys.
    fn count_keys(
        &self,
        place: &ChunkPosition,
        file: &File,
        needle: &Needle,
    ) -> anyhow::Result<u64> {
        let mut count = 0;
        for batch in self.batches(&self.keyed, place, file)? {
            let batch = batch?;
            let column = batch.column(0).as_dictionary::<Key>();
            let texts = column.values().as_string::<i32>().iter();
            let is_match: Vec<bool> =
                texts.map(|it| it.is_some_and(|it| needle.is_text(it.as_bytes()))).collect();
            let is_key = |it: &i32| usize::try_from(*it).is_ok_and(|it| is_match[it]);
            count += column.keys().iter().flatten().filter(is_key).count() as u64;
        }
        Ok(count)
    }

    fn batches(
        &self,
        metadata: &ArrowReaderMetadata,
        place: &ChunkPosition,
        file: &File,
    ) -> anyhow::Result<ParquetRecordBatchReader> {
        let mask = ProjectionMask::roots(metadata.parquet_schema(), [place.column]);
        let reader =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, metadata.clone())
                .with_row_groups(vec![place.row_group])
                .with_projection(mask)
                .with_batch_size(self.n_rows(place)?.clamp(1, BATCH_ROWS));
        Ok(reader.build()?)
    }
}

/// Returns the metadata with text columns read as dictionary keys.
fn keyed(metadata: &ArrowReaderMetadata) -> anyhow::Result<ArrowReaderMetadata> {
    let keyed = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let fields = metadata.schema().fields().iter().map(|field| match field.data_type() {
        DataType::Utf8View => {
            Arc::new(Field::new(field.name(), keyed.clone(), field.is_nullable()))
        }
        _ => Arc::clone(field),
    });
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let options = ArrowReaderOptions::new().with_schema(schema);
    Ok(ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?)
}
