//! Arrow files, which are Feather files of version 2: their record batches, converted to Parquet.
//!
//! All rules for the columns of a Parquet file apply to them as well, so they are first converted to
//! Parquet. The bytes are untrusted: the declared size of a buffer is checked before memory is
//! allocated for it.

use std::io::{BufReader, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;

use arrow_ipc::reader::FileReader;
use arrow_ipc::{root_as_footer, root_as_message};
use parquet::arrow::ArrowWriter;

use super::Watch;
use super::from_parquet::guard;
use super::source::Input;
use crate::refusal::{check_cancelled, refuse};

const MAGIC: &[u8] = b"ARROW1";

/// Returns whether a file is an Arrow file, from its first bytes.
pub(crate) fn is_of(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Returns the same rows in an unnamed Parquet file. Fails when the file is damaged, would take more than
/// `bytes_max`, or has types that Parquet lacks.
pub(crate) fn as_parquet(
    input: &Input,
    dir: &Path,
    bytes_max: u64,
    watch: &Watch<'_>,
) -> anyhow::Result<Input> {
    let out = tempfile::tempfile_in(dir)?;
    let work = || {
        let damaged = |error: &dyn std::fmt::Display| damaged(&input.name, &error.to_string());
        check(input, bytes_max)?;
        let mut file = input.file()?;
        file.seek(SeekFrom::Start(0))?;
        let reader = FileReader::try_new(BufReader::new(file), None).map_err(|it| damaged(&it))?;
        let mut writer = ArrowWriter::try_new(out.try_clone()?, reader.schema(), None)
            .map_err(|error| unreadable(&input.name, &error.to_string()))?;
        for batch in reader {
            check_cancelled(watch.cancelled)?;
            let batch = batch.map_err(|it| damaged(&it))?;
            writer.write(&batch).map_err(|error| unreadable(&input.name, &error.to_string()))?;
        }
        writer.close().map_err(|error| unreadable(&input.name, &error.to_string()))?;
        anyhow::Ok(())
    };
    let done = std::thread::scope(|scope| anyhow::Ok(guard::spawn(scope, work)?.join()))?;
    done.unwrap_or_else(|_| Err(damaged(&input.name, "its content is not valid Arrow data")))?;
    input.written_to(out, watch.cancelled)
}

/// Fails when a part of the file would take more than the file has, or than is allowed.
fn check(input: &Input, bytes_max: u64) -> anyhow::Result<()> {
    /// The length of the footer, and the magic.
    const TAIL_BYTES: u64 = 10;
    let damaged = |what: &str| damaged(&input.name, what);
    let file = input.file()?;
    let read = |start: u64, n_bytes: u64| -> anyhow::Result<Vec<u8>> {
        if start.checked_add(n_bytes).is_none_or(|end| input.bytes < end) {
            return Err(damaged("a part of it is beyond the end of the file"));
        }
        let mut bytes = vec![0; usize::try_from(n_bytes)?];
        file.read_exact_at(&mut bytes, start)?;
        Ok(bytes)
    };
    let Some(start) = input.bytes.checked_sub(TAIL_BYTES) else {
        return Err(damaged("it is too short"));
    };
    let tail = read(start, TAIL_BYTES)?;
    if &tail[4..] != MAGIC {
        return Err(damaged("it does not end like an Arrow file"));
    }
    let n_footer = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    let start = start.checked_sub(n_footer).ok_or_else(|| damaged("its footer is too long"))?;
    let footer = read(start, n_footer)?;
    let footer = root_as_footer(&footer).map_err(|it| damaged(&it.to_string()))?;
    let dictionaries = footer.dictionaries().into_iter().flatten();
    let mut n_left = bytes_max;
    for block in dictionaries.chain(footer.recordBatches().into_iter().flatten()) {
        let number = |it: i64| u64::try_from(it).map_err(|_| damaged("a length is negative"));
        let start = number(block.offset())?;
        let n_head = number(block.metaDataLength().into())?;
        let n_body = number(block.bodyLength())?;
        let head = read(start, n_head)?;
        read(start.saturating_add(n_head).saturating_add(n_body), 0)?;
        let skipped = if head.starts_with(&[0xff; 4]) { 8 } else { 4 };
        let message = head.get(skipped..).ok_or_else(|| damaged("a message is too short"))?;
        let message = root_as_message(message).map_err(|it| damaged(&it.to_string()))?;
        let batch = message
            .header_as_record_batch()
            .or_else(|| message.header_as_dictionary_batch().and_then(|it| it.data()));
        let Some(batch) = batch else { continue };
        let is_compressed = batch.compression().is_some();
        for buffer in batch.buffers().into_iter().flatten() {
            let n_stored = number(buffer.length())?;
            let at = start.saturating_add(n_head).saturating_add(number(buffer.offset())?);
            let n_bytes = if is_compressed && 8 <= n_stored {
                let prefix = read(at, 8)?;
                let n = i64::from_le_bytes(prefix.try_into().unwrap_or_default());
                // -1 marks an uncompressed buffer.
                if n < 0 { n_stored } else { number(n)? }
            } else {
                n_stored
            };
            let Some(left) = n_left.checked_sub(n_bytes) else {
                let message = format!(
                    "cannot read `{}`: decompressed it has more than {bytes_max} bytes",
                    input.name
                );
                return Err(refuse(message, "raise the limit with `--max-bytes`"));
            };
            n_left = left;
        }
    }
    Ok(())
}

fn damaged(name: &str, what: &str) -> anyhow::Error {
    let message = format!("cannot read `{name}`: its Arrow data is damaged or cut short ({what})");
    refuse(message, "get the file again, or write it again")
}

fn unreadable(name: &str, what: &str) -> anyhow::Error {
    let message = format!("cannot read `{name}` as Arrow: {what}");
    refuse(message, "write it as Parquet")
}
