//! Parquet files in, datasets out; and what becomes of files that are none.

use std::fs;
use std::io::Cursor;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::builder::{ListBuilder, StringBuilder, TimestampSecondBuilder};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date64Array, Decimal128Array, DictionaryArray,
    Float64Array, Int32Array, RecordBatch, StringArray, StructArray, Time32SecondArray,
    TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{WriterProperties, WriterVersion};
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};
use tempfile::TempDir;

use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::Dataset;
use csv_agent_types::limits::WRITERS_MAX;
use csv_agent_types::status::{Failure, FailureKind};

use crate::{DatasetFiles, IngestOptions, Progress, Source, head, ingest};

fn read(bytes: &[u8], dir: &TempDir, options: &IngestOptions) -> anyhow::Result<Dataset> {
    let source = Source::Stdin(Box::new(Cursor::new(bytes.to_vec())));
    let cancelled = AtomicBool::new(false);
    let (dataset, files) =
        ingest(source, "-", "t", dir.path(), options, &|_: Progress| {}, &cancelled)?;
    DatasetFiles::keep_all(vec![files]).remove(0)?;
    Ok(dataset)
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    write(&RecordBatch::try_from_iter(columns).unwrap(), WriterProperties::new())
}

fn write(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// Ingests one column and shows its type, its values and its note.
#[track_caller]
fn check(values: ArrayRef, expected: &str) {
    let dir = TempDir::new().unwrap();
    let dataset = read(&parquet(vec![("a", values)]), &dir, &IngestOptions::default()).unwrap();
    let column = &dataset.columns[0];
    let rows = head(&dir.path().join("t.parquet"), 100).unwrap().rows;
    let values: Vec<_> = rows.iter().map(|it| it[0].to_string()).collect();
    let note = column.note.as_deref().unwrap_or("-");
    assert_eq!(format!("{}: {}; {note}", column.dtype.name(), values.join(", ")), expected);
}

#[track_caller]
fn check_refused(bytes: &[u8], options: &IngestOptions, status: FailureKind, expected: &str) {
    let dir = TempDir::new().unwrap();
    let error = read(bytes, &dir, options).unwrap_err();
    let failure = error.downcast_ref::<Failure>().unwrap();
    assert_eq!((failure.kind, failure.message.as_str()), (status, expected));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_type_is_kept_as_long_as_it_holds_every_value() {
    let over = u64::try_from(i64::MAX).unwrap() + 1;
    check(Arc::new(UInt64Array::from(vec![over - 1])), "int64: \"9223372036854775807\"; -");
    check(
        Arc::new(UInt64Array::from(vec![1, over])),
        "string: \"1\", \"9223372036854775808\"; text: uint64 in the file, beyond int64",
    );
    check(
        Arc::new(TimestampNanosecondArray::from(vec![1_000])),
        "timestamp: \"1970-01-01T00:00:00.000001\"; -",
    );
    check(
        Arc::new(TimestampNanosecondArray::from(vec![1_001]).with_timezone("UTC")),
        "string: \"1970-01-01T00:00:00.000001001Z\"; text: finer than microseconds, or beyond the \
         years 1 to 9999",
    );
    check(
        Arc::new(BinaryArray::from_vec(vec![b"a\xff"])),
        "string: \"61ff\"; text: bytes in hexadecimal",
    );
}

#[test]
fn seconds_and_days_in_milliseconds_are_known_from_the_stored_arrow_schema() {
    const DAY_MS: i64 = 86_400_000;
    let seconds = TimestampSecondArray::from(vec![Some(1_672_876_801), None, Some(-1)]);
    check(
        Arc::new(seconds.clone()),
        "timestamp: \"2023-01-05T00:00:01\", null, \"1969-12-31T23:59:59\"; -",
    );
    check(
        Arc::new(seconds.with_timezone("Europe/Paris")),
        "timestamp_utc: \"2023-01-05T00:00:01Z\", null, \"1969-12-31T23:59:59Z\"; in UTC; the zone in \
         the file is `Europe/Paris`",
    );
    check(Arc::new(Time32SecondArray::from(vec![3_661])), "time: \"01:01:01\"; -");
    check(
        Arc::new(Date64Array::from(vec![0, -DAY_MS, 19_362 * DAY_MS])),
        "date: \"1970-01-01\", \"1969-12-31\", \"2023-01-05\"; -",
    );
    check(
        Arc::new(Date64Array::from(vec![0, 1_000])),
        "string: \"1970-01-01\", \"1970-01-01T00:00:01\"; text: days with a time, or beyond the years 1 \
         to 9999",
    );
    let keys = Int32Array::from(vec![Some(0), None]);
    let days = Arc::new(TimestampSecondArray::from(vec![0]));
    check(
        Arc::new(DictionaryArray::new(keys, days)),
        "timestamp: \"1970-01-01T00:00:00\", null; -",
    );
    let mut lists = ListBuilder::new(TimestampSecondBuilder::new());
    lists.append_value([Some(0), None]);
    check(
        Arc::new(lists.finish()),
        "string: \"[\\\"1970-01-01T00:00:00\\\",null]\"; text: lists as JSON",
    );
}

#[test]
fn a_decimal_is_a_number_only_if_a_float_prints_it_again() {
    let decimals = |unscaled: Vec<i128>, scale| {
        Arc::new(Decimal128Array::from(unscaled).with_precision_and_scale(38, scale).unwrap())
    };
    check(
        decimals(vec![999_999_999_999_999, -5], 2),
        "float64: 9999999999999.99, -0.05; decimal(38, 2) in the file; no value has more than 15 \
         digits, so a float is exact",
    );
    check(
        decimals(vec![1_000_000_000_000_000, -5], 2),
        "string: \"10000000000000.00\", \"-0.05\"; text: decimal(38, 2) in the file; more digits than a \
         float can hold",
    );
    check(
        decimals(vec![i128::from(i64::MAX) + 1], 0),
        "string: \"9223372036854775808\"; text: decimal(38, 0) in the file; beyond int64",
    );
    check(
        decimals(vec![1], 30),
        "float64: 1e-30; decimal(38, 30) in the file; no value has more than 15 digits, so a float is exact",
    );
}

#[test]
fn names_follow_the_rules_of_headers() {
    let column = || Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    let fields = ["a", "A", "", " b\n"].map(|it| Field::new(it, DataType::Int32, true));
    let schema = Arc::new(arrow_schema::Schema::new(fields.to_vec()));
    let batch = RecordBatch::try_new(schema, vec![column(), column(), column(), column()]).unwrap();
    let dir = TempDir::new().unwrap();
    let bytes = write(&batch, WriterProperties::new());
    let dataset = read(&bytes, &dir, &IngestOptions::default()).unwrap();
    let names: Vec<_> = dataset.columns.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["a", "A_2", "column_3", "b"]);
    assert_eq!(
        dataset.dialect.reasons[1],
        "names made usable: `A` is `A_2`, `` is `column_3`, ` b\\n` is `b`"
    );
}

#[test]
fn an_option_for_text_is_refused() {
    let bytes = parquet(vec![("a", Arc::new(Int32Array::from(vec![1])))]);
    let options = IngestOptions { skip_lines: Some(1), ..IngestOptions::default() };
    let expected = "`--skip-rows` does not apply to `-`, which is Parquet and has its own \
                    types and names";
    check_refused(&bytes, &options, FailureKind::Usage, expected);
    let strict = IngestOptions { strict: true, ..IngestOptions::default() };
    read(&bytes, &TempDir::new().unwrap(), &strict).unwrap();
}

#[test]
fn what_is_cut_short_is_refused_wherever_it_is_cut() {
    let bytes = parquet(vec![("a", Arc::new(Int32Array::from(vec![1, 2, 3])))]);
    for n_bytes in 4..bytes.len() {
        let dir = TempDir::new().unwrap();
        let error = read(&bytes[..n_bytes], &dir, &IngestOptions::default()).unwrap_err();
        assert_eq!(error.downcast_ref::<Failure>().unwrap().kind, FailureKind::Input, "{n_bytes}");
    }
    let mut bytes = bytes;
    let at = bytes.len() - 8;
    bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    check_refused(
        &bytes,
        &IngestOptions::default(),
        FailureKind::Input,
        "cannot read `-`: its Parquet data is damaged or cut short (its footer would have \
         4294967295 bytes)",
    );
}

#[test]
fn a_long_value_that_is_stored_once_is_read_part_by_part() {
    let long = "x".repeat(1_000_000);
    let values = Arc::new(StringArray::from(vec![long.as_str(); 100]));
    let dir = TempDir::new().unwrap();
    let dataset = read(&parquet(vec![("a", values)]), &dir, &IngestOptions::default()).unwrap();
    assert_eq!(dataset.row_count, 100);
    let rows = head(&dir.path().join("t.parquet"), 100).unwrap().rows;
    assert!(rows.iter().all(|it| it[0] == long));
}

#[test]
fn types_that_are_nested_too_deeply_are_refused() {
    let group = [0x48, 1, b'a', 0x15, 2, 0].repeat(100_000);
    let footer =
        [&[0x15, 2, 0x19, 0xfc, 0xa1, 0x8d, 0x06][..], &group, &[0x48, 1, b'a', 0]].concat();
    let n_footer = u32::try_from(footer.len()).unwrap().to_le_bytes();
    let bytes = [b"PAR1", &footer[..], &n_footer, b"PAR1"].concat();
    let expected =
        "cannot read `-` as Parquet: its types are nested 100001 levels deep, the limit is 64";
    check_refused(&bytes, &IngestOptions::default(), FailureKind::Input, expected);
}

#[test]
fn a_page_that_would_take_all_memory_is_refused() {
    let mut bytes = mixed(1, false);
    // The header of the first page: its kind, then its size, as a number of two bytes.
    assert_eq!((bytes[4], bytes[6]), (0x15, 0x15));
    let header = [0x15, 0x04, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0x02, 0];
    bytes[4..4 + header.len()].copy_from_slice(&header);
    let expected = "cannot read `-` as Parquet: a page of column `numbers` has 2147483647 bytes, \
                    the limit is 268435456";
    check_refused(&bytes, &IngestOptions::default(), FailureKind::Input, expected);
}

#[test]
fn a_footer_that_counts_more_than_a_file_of_its_size_holds_is_refused() {
    let mut bytes = parquet(vec![("a", Arc::new(Int32Array::from(vec![1])))]);
    // One row, then a list of one row group.
    let at = bytes.windows(4).rposition(|it| it == [0x16, 2, 0x19, 0x1c]).unwrap();
    let rows = [0x80, 0x80, 0x80, 0x80, 0x80, 0x40];
    bytes.splice(at + 1..at + 2, rows);
    let length = bytes.len() - 8;
    bytes[length] += 5;
    let expected = format!(
        "cannot read `-` as Parquet: its {} bytes expand to more than 4294967296",
        bytes.len()
    );
    check_refused(&bytes, &IngestOptions::default(), FailureKind::Input, &expected);
}

#[test]
fn more_columns_than_have_writers_at_once_keep_their_places() {
    let n_columns = 2 * WRITERS_MAX + 1;
    let names: Vec<String> = (0..n_columns).map(|it| format!("c{it}")).collect();
    let column = |at| {
        let first = i32::try_from(at).unwrap();
        Arc::new(Int32Array::from(vec![first, first + 1])) as ArrayRef
    };
    let columns = names.iter().enumerate().map(|(at, name)| (name.as_str(), column(at)));
    let line = |first: usize| {
        (first..first + n_columns).map(|it| it.to_string()).collect::<Vec<_>>().join(",")
    };
    let text = format!("{}\n{}\n{}\n", names.join(","), line(0), line(1));
    for bytes in [parquet(columns.collect()), text.into_bytes()] {
        let dir = TempDir::new().unwrap();
        let dataset = read(&bytes, &dir, &IngestOptions::default()).unwrap();
        assert!(dataset.columns.iter().map(|it| &it.name).eq(&names));
        let rows = head(&dir.path().join("t.parquet"), 100).unwrap().rows;
        let first = [0, 1].map(|row: usize| rows[row].iter().map(ToString::to_string));
        let [found, next] = first.map(|it| it.collect::<Vec<_>>().join(","));
        assert_eq!((found, next), (line(0), line(1)));
    }
}

/// A file with a column of every kind of encoding.
fn mixed(codec: usize, is_v2: bool) -> Vec<u8> {
    let n = 300;
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in 0..n {
        (0..row % 4).for_each(|it| lists.values().append_value(format!("{it}{row}")));
        lists.append(row % 7 != 0);
    }
    let numbers = Arc::new((0..n).map(|it| (it % 5 != 0).then_some(it)).collect::<Int32Array>());
    let field = Arc::new(Field::new("n", DataType::Int32, true));
    let nested = StructArray::from(vec![(field, Arc::clone(&numbers) as ArrayRef)]);
    let words = (0..n).map(|it| (it % 11 != 0).then(|| format!("word {}", it % 20)));
    let decimals = Decimal128Array::from_iter_values((0..n).map(i128::from));
    let batch = RecordBatch::try_from_iter(vec![
        ("numbers", numbers as ArrayRef),
        ("floats", Arc::new((0..n).map(|it| Some(f64::from(it))).collect::<Float64Array>())),
        ("flags", Arc::new((0..n).map(|it| Some(it % 3 == 0)).collect::<BooleanArray>())),
        ("words", Arc::new(words.collect::<StringArray>())),
        ("decimals", Arc::new(decimals.with_precision_and_scale(20, 3).unwrap())),
        ("lists", Arc::new(lists.finish())),
        ("nested", Arc::new(nested)),
    ]);
    let codecs = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(parquet::basic::GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    let version = if is_v2 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
    let properties = WriterProperties::builder()
        .set_compression(codecs[codec % codecs.len()])
        .set_writer_version(version)
        .set_data_page_row_count_limit(100)
        .set_max_row_group_row_count(Some(200));
    write(&batch.unwrap(), properties.build())
}

#[test]
fn every_usual_codec_is_read() {
    let dir = TempDir::new().unwrap();
    for codec in 0..6 {
        for is_v2 in [false, true] {
            let dataset = read(&mixed(codec, is_v2), &dir, &IngestOptions::default()).unwrap();
            assert_eq!(dataset.row_count, 300);
            let rows = head(&dir.path().join("t.parquet"), 300).unwrap().rows;
            let last = serde_json::json!([
                299,
                299.0,
                false,
                "word 19",
                0.299,
                r#"["0299","1299","2299"]"#,
                r#"{"n":299}"#
            ]);
            assert_eq!(serde_json::json!(rows[299]), last);
        }
    }
}

proptest! {
    #![proptest_config(slow_cases(300, 3_000))]

    #[test]
    fn whatever_is_damaged_there_is_a_table_or_an_error(
        codec in 0_usize..6,
        is_v2 in any::<bool>(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..4),
    ) {
        let mut bytes = mixed(codec, is_v2);
        let n_footer = usize::try_from(u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap())).unwrap();
        for (at, bits, is_footer) in flips {
            let start = if is_footer { bytes.len() - 8 - n_footer } else { 0 };
            let at = start + at.index(bytes.len() - start);
            bytes[at] ^= bits;
        }
        bytes[..4].copy_from_slice(b"PAR1");
        let dir = TempDir::new().unwrap();
        match read(&bytes, &dir, &IngestOptions::default()) {
            Ok(dataset) => {
                let rows = head(&dir.path().join("t.parquet"), 1_000).unwrap().rows;
                prop_assert_eq!(dataset.row_count, rows.len() as u64);
            }
            Err(error) => {
                let failure = error.downcast_ref::<Failure>();
                prop_assert!(failure.is_some(), "{error:?}");
                prop_assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
            }
        }
    }
}
