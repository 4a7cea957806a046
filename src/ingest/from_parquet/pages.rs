//! The page headers of a column, in order, without the page contents.

use std::fs::File;
use std::os::unix::fs::FileExt;

use anyhow::{Context, ensure};
use parquet::file::metadata::ColumnChunkMetaData;

use csv_agent_types::limits::DATASET_GROUP_VALUES_MAX;

use super::lengths;
use super::thrift;

pub(crate) use super::thrift::PageHead;

/// The page headers of a column in a row group.
pub(crate) struct Pages<'a> {
    file: &'a File,
    file_bytes: u64,
    chunk: &'a ColumnChunkMetaData,
    at: u64,
    end: u64,
    head: Vec<u8>,
}

impl<'a> Pages<'a> {
    /// Starts at the first page of a chunk in a file of `file_bytes`.
    pub(crate) fn of(file: &'a File, file_bytes: u64, chunk: &'a ColumnChunkMetaData) -> Pages<'a> {
        let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
        // A decoder rejects negative numbers.
        let at = u64::try_from(start).unwrap_or(file_bytes);
        let n_bytes = u64::try_from(chunk.compressed_size()).unwrap_or_default();
        let end = at.saturating_add(n_bytes).min(file_bytes);
        Pages { file, file_bytes, chunk, at, end, head: Vec::new() }
    }

    /// Returns the total number of values in all pages, nulls included, in a row group of `n_rows`. Fails when
    /// the footer contradicts that, and when it exceeds the limit of a dataset.
    pub(crate) fn n_values(&self, n_rows: i64) -> anyhow::Result<i64> {
        let n_values = self.chunk.num_values();
        let is_flat = self.chunk.column_descr().max_rep_level() == 0;
        let is_so = n_values == n_rows || !is_flat;
        ensure!(is_so, "a row group of {n_rows} rows has {n_values} values of a column");
        ensure!(
            (0..=DATASET_GROUP_VALUES_MAX).contains(&n_values),
            "a row group has {n_values} values of a column, and at most {DATASET_GROUP_VALUES_MAX} are read"
        );
        Ok(n_values)
    }

    /// Returns the bytes in memory of text lengths, in addition to the pages. Fails when a page has too many
    /// lengths, or is damaged.
    pub(crate) fn n_bytes_of_lengths(&self) -> anyhow::Result<u64> {
        lengths::n_bytes(self.file, self.file_bytes, self.chunk)
    }

    /// Returns the next page; `None` at the end. Fails when its header cannot be read, or is longer than any
    /// without long statistics.
    pub(crate) fn next_page(&mut self) -> anyhow::Result<Option<PageHead>> {
        const HEAD_BYTES_MAX: u64 = 64 * 1024;
        if self.end <= self.at {
            return Ok(None);
        }
        let read = [256, HEAD_BYTES_MAX].into_iter().find_map(|n_bytes| {
            self.head.resize(usize::try_from(n_bytes.min(self.end - self.at)).ok()?, 0);
            self.file.read_exact_at(&mut self.head, self.at).ok()?;
            thrift::page_head(&self.head)
        });
        let page = read.with_context(|| format!("no page begins at byte {}", self.at))?;
        let n_bytes = (page.header_bytes as u64).saturating_add(page.stored_bytes);
        self.at = self.at.saturating_add(n_bytes);
        Ok(Some(page))
    }
}
