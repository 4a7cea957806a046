//! Memory use of text lengths that a column stores separately from the characters.
//!
//! A decoder allocates memory for as many lengths as a page declares, and equal lengths take no space
//! in the file: a few bytes can expand to billions. The numbers are therefore read before decoding.

use std::fs::File;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use csv_agent_types::limits::PARQUET_PAGE_LENGTHS_MAX;

use super::thrift::Bytes;
use crate::from_parquet::bounded_file::BoundedFile;

/// The number of the encoding with separate lengths, and of the one that also has lengths of shared
/// prefixes.
pub(crate) const WITH_LENGTHS: [i64; 2] = [6, 7];
/// Bytes of a length in memory.
const LENGTH_BYTES: u64 = 4;

/// Returns the bytes in memory of the lengths in all pages of a column. The size of the pages has already been
/// checked. Fails when a page has too many lengths, or is damaged.
pub(crate) fn n_bytes(
    file: &File,
    file_bytes: u64,
    chunk: &ColumnChunkMetaData,
) -> anyhow::Result<u64> {
    let place = Arc::new(BoundedFile::new(Arc::new(file.try_clone()?), file_bytes));
    let column = chunk.column_descr();
    let n_rows = usize::try_from(chunk.num_values())?;
    let mut pages = SerializedPageReader::new(place, chunk, n_rows, None)?;
    let mut n_lengths = 0;
    while let Some(page) = pages.get_next_page()? {
        let encoding = page.encoding();
        let n_streams = match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => continue,
        };
        let body = match &page {
            Page::DataPage { buf, .. } => {
                let mut body = &buf[..];
                for level in [column.max_rep_level(), column.max_def_level()] {
                    if 0 < level {
                        let (length, rest) = body.split_first_chunk().context("no levels")?;
                        let length = usize::try_from(u32::from_le_bytes(*length))?;
                        body = rest.get(length..).context("levels beyond their page")?;
                    }
                }
                body
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
                let n_levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                buf.get(usize::try_from(n_levels)?..).context("levels beyond their page")?
            }
            Page::DictionaryPage { .. } => bail!("a dictionary with lengths apart"),
        };
        n_lengths += of_streams(body, n_streams)?;
    }
    Ok(n_lengths * LENGTH_BYTES)
}

/// Returns the total count of numbers in consecutive streams.
fn of_streams(body: &[u8], n_streams: usize) -> anyhow::Result<u64> {
    let mut body = Bytes(body);
    let mut n_all = 0;
    for at in 0..n_streams {
        let n_block = number(&mut body)?;
        let n_parts = number(&mut body)?;
        let n = number(&mut body)?;
        ensure!(
            n <= PARQUET_PAGE_LENGTHS_MAX,
            "a page has {n} texts, and at most {PARQUET_PAGE_LENGTHS_MAX} are read"
        );
        n_all += n;
        if at + 1 < n_streams {
            skip(&mut body, n_block, n_parts, n)?;
        }
    }
    Ok(n_all)
}

/// Skips the numbers of a stream after its header: blocks with the bit widths of their parts.
fn skip(body: &mut Bytes<'_>, n_block: u64, n_parts: u64, n: u64) -> anyhow::Result<()> {
    // The first number is not a difference.
    number(body)?;
    ensure!(
        0 < n_parts && 0 < n_block && n_block.is_multiple_of(n_parts),
        "parts that do not form a block"
    );
    let n_of_part = n_block / n_parts;
    let mut n_left = n.saturating_sub(1);
    while 0 < n_left {
        number(body)?;
        for width in take(body, n_parts)? {
            if n_left == 0 {
                break;
            }
            let n_bits = n_of_part.checked_mul(u64::from(*width)).context("a part without end")?;
            take(body, n_bits.div_ceil(8))?;
            n_left = n_left.saturating_sub(n_of_part);
        }
    }
    Ok(())
}

fn take<'a>(body: &mut Bytes<'a>, n: u64) -> anyhow::Result<&'a [u8]> {
    let (taken, rest) = body.0.split_at_checked(usize::try_from(n)?).context("a page cut short")?;
    body.0 = rest;
    Ok(taken)
}

fn number(body: &mut Bytes<'_>) -> anyhow::Result<u64> {
    body.unsigned().context("a number without end")
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, Encoding, ZstdLevel};
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use tempfile::TempDir;

    use super::{n_bytes, of_streams};
    use csv_agent_types::limits::PARQUET_PAGE_LENGTHS_MAX;

    #[test]
    fn the_lengths_of_each_page_are_counted_as_writers_write_them() {
        let dir = TempDir::new().unwrap();
        let texts: Vec<Option<String>> =
            (0..5_000).map(|it| (it % 5 != 0).then(|| "ab".repeat(it % 40))).collect();
        let texts: ArrayRef = Arc::new(StringArray::from(texts));
        let batch = RecordBatch::try_from_iter([("a", texts)]).unwrap();
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for (encoding, n_each) in [
                (Encoding::DELTA_LENGTH_BYTE_ARRAY, 4),
                (Encoding::DELTA_BYTE_ARRAY, 8),
                (Encoding::PLAIN, 0),
            ] {
                for codec in [
                    Compression::UNCOMPRESSED,
                    Compression::SNAPPY,
                    Compression::ZSTD(ZstdLevel::default()),
                ] {
                    let properties = WriterProperties::builder()
                        .set_writer_version(version)
                        .set_dictionary_enabled(false)
                        .set_encoding(encoding)
                        .set_compression(codec)
                        .set_data_page_row_count_limit(700)
                        .set_write_batch_size(100)
                        .build();
                    let path = dir.path().join("t.parquet");
                    let file = File::create(&path).unwrap();
                    let mut writer =
                        ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
                    writer.write(&batch).unwrap();
                    writer.close().unwrap();
                    let file = File::open(&path).unwrap();
                    let length = file.metadata().unwrap().len();
                    let reader = SerializedFileReader::new(file.try_clone().unwrap()).unwrap();
                    let chunk = reader.metadata().row_group(0).column(0);
                    let found = n_bytes(&file, length, chunk).unwrap();
                    assert_eq!(found, 4_000 * n_each, "{version:?} {encoding} {codec}");
                }
            }
        }
    }

    #[test]
    fn lengths_that_take_no_room_in_the_file_are_bounded() {
        let varint = |mut value: u64| {
            let mut bytes = Vec::new();
            while 0x80 <= value {
                bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
                value >>= 7;
            }
            bytes.push(u8::try_from(value).unwrap());
            bytes
        };
        // One block of no bits for all numbers.
        let stream = |n: u64| {
            let block = n.next_multiple_of(128);
            [varint(block), varint(1), varint(n), vec![0, 0, 0]].concat()
        };
        let most = PARQUET_PAGE_LENGTHS_MAX;
        assert_eq!(of_streams(&stream(most), 1).unwrap(), most);
        assert_eq!(of_streams(&[stream(9), stream(most)].concat(), 2).unwrap(), 9 + most);
        for (body, n_streams) in [
            (stream(most + 1), 1),
            (stream(1 << 60), 1),
            ([stream(9), stream(1 << 40)].concat(), 2),
            (vec![0xff; 20], 1),
            (Vec::new(), 1),
            (vec![128, 1, 0, 5, 0, 0, 0], 2),
        ] {
            assert!(of_streams(&body, n_streams).is_err(), "{body:?}");
        }
    }
}
