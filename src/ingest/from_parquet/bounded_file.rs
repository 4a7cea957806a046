//! A Parquet file for its reader: no read is larger than the file.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};

use crate::source::Input;

/// The file as the Parquet reader requires it. Whatever length a damaged file states, no more memory is
/// allocated for it than the file's size.
pub(super) struct BoundedFile {
    file: Arc<File>,
    at: u64,
    end: u64,
}

impl BoundedFile {
    /// Takes a file of `n_bytes`.
    pub(super) fn new(file: Arc<File>, n_bytes: u64) -> BoundedFile {
        BoundedFile { file, at: 0, end: n_bytes }
    }

    pub(super) fn of(input: &Input) -> anyhow::Result<Self> {
        Ok(BoundedFile::new(Arc::new(input.file()?), input.bytes))
    }
}

impl Read for BoundedFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.file.read_at(buffer, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl Length for BoundedFile {
    fn len(&self) -> u64 {
        self.end
    }
}

impl ChunkReader for BoundedFile {
    type T = BufReader<BoundedFile>;

    fn get_read(&self, start: u64) -> ParquetResult<BufReader<BoundedFile>> {
        /// Buffer size for a page header.
        const HEADER_BYTES: usize = 1_024;
        let place = BoundedFile { file: Arc::clone(&self.file), at: start, end: self.end };
        Ok(BufReader::with_capacity(HEADER_BYTES, place))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let is_within = start.checked_add(length as u64).is_some_and(|it| it <= self.end);
        if !is_within {
            let what = format!("{length} bytes at offset {start} of a file of {}", self.end);
            return Err(ParquetError::EOF(what));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start)?;
        Ok(bytes.into())
    }
}
