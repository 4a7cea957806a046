//! Whole files in, datasets out, read back with the Parquet reader.

mod above_rows;
mod accounts;
mod amounts;
mod beside;
mod carried;
mod evidence;
mod joined;
mod large;
mod printed;
mod saved;
mod several;
mod stray;
mod structure;
mod units;
mod wrapped;
mod written;

use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float64Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::{Just, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use tempfile::TempDir;

use csv_agent_testing::slow_cases;
use csv_agent_types::catalog::{ColumnSpan, DType, Damage, Dataset, Facts, Query, ValueMatch};
use csv_agent_types::limits::QUOTED_BYTES_MAX;
use csv_agent_types::status::{Failure, FailureKind};
use csv_agent_types::thresholds::{Range, Ratings};

use super::ingest::{Tuning, ingest_input};
use super::line_map::lines_at;
use super::source::Input;
use super::{
    Comments, DateOrder, DecimalMark, IngestOptions, Progress, RequestedType, Source, Watch,
    answer, head, ingest, inspect, name_of,
};
use crate::dataset_files::DatasetFiles;

/// A directory of datasets for one test.
struct Bench {
    dir: TempDir,
    options: IngestOptions,
}

impl Bench {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("datasets")).unwrap();
        Bench { dir, options: IngestOptions::default() }
    }

    fn with(mut self, set: impl FnOnce(&mut IngestOptions)) -> Self {
        set(&mut self.options);
        self
    }

    fn datasets(&self) -> PathBuf {
        self.dir.path().join("datasets")
    }

    fn ingest(&self, source: Source, name: &str) -> anyhow::Result<Dataset> {
        let progress = |_: Progress| {};
        let cancelled = AtomicBool::new(false);
        let dir = self.datasets();
        let (dataset, files) =
            ingest(source, name, "t", &dir, &self.options, &progress, &cancelled)?;
        DatasetFiles::keep_all(vec![files]).remove(0)?;
        Ok(dataset)
    }

    fn bytes(&self, bytes: impl AsRef<[u8]>) -> anyhow::Result<Dataset> {
        let bytes = Cursor::new(bytes.as_ref().to_vec());
        self.ingest(Source::Stdin(Box::new(bytes)), "-")
    }

    fn sliced(&self, bytes: &[u8], slice_bytes: usize) -> anyhow::Result<Dataset> {
        let source = Source::Stdin(Box::new(Cursor::new(bytes.to_vec())));
        let cancelled = AtomicBool::new(false);
        let watch = Watch { progress: &|_| {}, cancelled: &cancelled };
        let dir = self.datasets();
        let input = Input::open(source, "-", &dir, self.options.bytes_max, &watch)?;
        let tuning = Tuning { slice_bytes, n_workers: 2 };
        let (dataset, files) =
            ingest_input(&input, "-", "t", Some(&dir), &self.options, tuning, &watch)?;
        DatasetFiles::keep_all(vec![files]).remove(0)?;
        Ok(dataset)
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.datasets()).unwrap();
        let mut names: Vec<_> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn rows(&self) -> Vec<Vec<Option<String>>> {
        rows(&self.datasets().join("t.parquet"))
    }

    fn find(&self, value: &str) -> Vec<ValueMatch> {
        let query = Query::FindValue { path: "datasets/t.parquet".into(), value: value.to_owned() };
        match answer(&query, self.dir.path()).unwrap() {
            Facts::Matches(matches) => matches,
            _ => unreachable!("a search was asked for"),
        }
    }
}

/// Reads a Parquet file with the Arrow reader; values as text that shows them exactly.
fn rows(path: &Path) -> Vec<Vec<Option<String>>> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let batches = reader.with_batch_size(1_000).build().unwrap();
    let mut rows = Vec::new();
    for batch in batches {
        let batch = batch.unwrap();
        let cell = |column: &ArrayRef, row| column.is_valid(row).then(|| shown(column, row));
        let row = |row| batch.columns().iter().map(|it| cell(it, row)).collect();
        rows.extend((0..batch.num_rows()).map(row));
    }
    rows
}

fn shown(column: &ArrayRef, row: usize) -> String {
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Date32 => {
            column.as_primitive::<Date32Type>().value_as_date(row).unwrap().to_string()
        }
        DataType::Timestamp(..) => {
            let values = column.as_primitive::<TimestampMicrosecondType>();
            values.value_as_datetime(row).unwrap().to_string()
        }
        DataType::Time64(_) => {
            let values = column.as_primitive::<Time64MicrosecondType>();
            values.value_as_time(row).unwrap().to_string()
        }
        other => unreachable!("no column has type {other}"),
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/csv").join(name)
}

/// Shows a table as people write it: `name:type` and rows with `|` between cells, `~` for null,
/// quotes around what would not be seen.
fn table(bench: &Bench, dataset: &Dataset) -> String {
    let columns = dataset.columns.iter().map(|it| format!("{}:{}", it.name, it.dtype.name()));
    let mut lines = vec![columns.collect::<Vec<_>>().join(" | ")];
    for row in bench.rows() {
        let cell = |it: Option<String>| match it {
            None => "~".to_owned(),
            Some(text) if text.is_empty() || text.trim() != text => format!("{text:?}"),
            Some(text) => text.replace('\n', "⏎"),
        };
        lines.push(row.into_iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    lines.join("\n")
}

/// Ingests text and compares the whole table.
#[track_caller]
fn check(text: impl AsRef<[u8]>, expected: &str) {
    check_with(&Bench::new(), text, expected);
}

#[track_caller]
fn check_with(bench: &Bench, text: impl AsRef<[u8]>, expected: &str) {
    let dataset = bench.bytes(text.as_ref()).unwrap();
    let lines = expected.lines().map(str::trim).filter(|it| !it.is_empty());
    assert_eq!(table(bench, &dataset), lines.collect::<Vec<_>>().join("\n"));
    assert_eq!(dataset.row_count, bench.rows().len() as u64);
}

/// Ingests a fixture and compares the whole table.
#[track_caller]
fn check_file(name: &str, expected: &str) -> Dataset {
    let bench = Bench::new();
    let dataset = bench.ingest(Source::File(fixture(name)), name).unwrap();
    let lines = expected.lines().map(str::trim).filter(|it| !it.is_empty());
    assert_eq!(table(&bench, &dataset), lines.collect::<Vec<_>>().join("\n"));
    dataset
}

/// Ingests what must be refused; compares message and hint; nothing may be left behind.
#[track_caller]
fn check_refused(bench: &Bench, result: anyhow::Result<Dataset>, expected: &str) {
    let error = result.unwrap_err();
    let failure =
        error.downcast_ref::<Failure>().unwrap_or_else(|| panic!("no failure: {error:?}"));
    let hint = failure.hint.as_deref().unwrap_or("no hint");
    assert_eq!(format!("{} / {hint}", failure.message), expected);
    assert_eq!(failure.kind, FailureKind::Input);
    assert_eq!(bench.files(), Vec::<String>::new());
}

#[test]
fn an_ordinary_file_has_its_types() {
    let dataset = check_file(
        "sales.csv",
        "date:date | product:string | revenue:float64
         2024-01-15 | Tea | 1200.5
         2024-01-22 | Coffee | 2310
         2024-02-03 | Tea | 980.25
         2024-02-17 | Cocoa | 415.75
         2024-02-28 | Coffee | 2105.4
         2024-03-09 | Tea | 1340
         2024-03-14 | Cocoa | 502.1
         2024-03-30 | Coffee | 1890.6
         2024-04-11 | Tea | 1105
         2024-04-25 | Coffee | 2440.8",
    );
    assert_eq!(dataset.path(), Some(Path::new("datasets/t.parquet")));
    assert_eq!(dataset.source, "sales.csv");
    assert_eq!(dataset.bytes, fs::metadata(fixture("sales.csv")).unwrap().len());
    assert_eq!(dataset.sha256, super::sha256_file(&fixture("sales.csv")).unwrap());
    assert_eq!((dataset.row_count, dataset.padded_rows, dataset.surplus_rows), (10, 0, 0));
    assert_eq!(dataset.dialect.encoding, "utf-8");
    assert_eq!(dataset.dialect.delimiter.as_deref(), Some(","));
    assert_eq!(dataset.dialect.quote, None);
    assert!(dataset.dialect.header);
    assert_eq!(
        dataset.dialect.reasons,
        [
            "encoding utf-8: the whole file is valid UTF-8",
            "delimiter `,`: 11 of 11 sampled records have 3 cells",
            "header: the first record does not fit the types of the columns",
        ]
    );
}

#[test]
fn a_semicolon_separates_as_well() {
    let bench = Bench::new();
    let dataset = bench.ingest(Source::File(fixture("semi.csv")), "semi.csv").unwrap();
    assert_eq!(dataset.dialect.delimiter.as_deref(), Some(";"));
    assert_eq!((dataset.columns.len(), dataset.row_count), (3, 10));
}

#[test]
fn latin1_is_read_as_windows_1252() {
    let dataset = check_file(
        "latin1.csv",
        "name:string | city:string | visits:int64
         José | Málaga | 3
         Zoë | Köln | 12
         François | Orléans | 7",
    );
    assert_eq!(dataset.dialect.encoding, "windows-1252");
}

#[test]
fn what_a_terminal_would_obey_is_kept_as_it_is() {
    check_file(
        "evil.csv",
        "id:int64 | note field:string | text:string
         1 | \u{1b}]0;x\u{7} | plain
         2 | ok | \u{1b}[2J
         3 | <b>bold</b> | =1+1",
    );
}

#[test]
fn whole_numbers_are_exact_to_the_last_digit() {
    check_file(
        "big_ints.csv",
        "id:int64 | amount:int64
         9007199254740993 | 1
         9007199254740992 | 2
         9223372036854775807 | 3
         -9223372036854775808 | 4",
    );
}

#[test]
fn no_number_is_null_and_infinity_is_a_number() {
    check_file(
        "nan.csv",
        "sensor:string | reading:float64
         a | 1.5
         b | ~
         c | inf
         d | ~
         e | -inf
         f | -0.25",
    );
}

#[test]
fn blank_lines_are_no_rows() {
    let dataset = check_file("blank_lines.csv", "a:int64 | b:string\n 1 | x\n 2 | y");
    assert_eq!(dataset.dialect.reasons[3], "3 blank lines skipped");
}

#[test]
fn a_byte_order_mark_is_no_text() {
    check_file("bom.csv", "name:string | n:int64\n Äpfel | 3\n Birnen | 4");
    let dataset = check_file("utf16.csv", "name:string | n:int64\n Äpfel | 3\n 日本 | 4");
    assert_eq!(dataset.dialect.encoding, "utf-16le");
}

#[test]
fn wide_text_needs_no_mark_where_its_encoding_is_told() {
    for (label, n_zeros) in [("utf-16le", 1), ("utf-32le", 3)] {
        let bench = Bench::new().with(|it| it.encoding = Some(label.to_owned()));
        let wide = |it: u8| [vec![it], vec![0; n_zeros]].concat();
        let bytes: Vec<u8> = "\n\na,b\n1,x\n".bytes().flat_map(wide).collect();
        check_with(&bench, [bytes, wide(b'2')].concat(), "a:int64 | b:string\n1 | x\n2 | ~");
    }
}

#[test]
fn any_line_end_will_do() {
    check_file("cr_only.csv", "a:int64 | b:string\n 1 | x\n 2 | y");
    check_file("mixed_ends.csv", "a:int64 | b:string\n 1 | x\n 2 | y\n 3 | z");
}

#[test]
fn names_become_unique_and_are_never_empty() {
    check_file(
        "duplicate_names.csv",
        "id:int64 | Name:string | name_2:string | column_4:string | name_3:string
         1 | a | b | c | d",
    );
}

#[test]
fn a_file_without_header_has_made_up_names() {
    let expected = "column_1:date | column_2:string | column_3:int64
         2024-01-01 | Tea | 3
         2024-01-02 | Coffee | 5";
    assert!(!check_file("no_header.csv", expected).dialect.header);
    let bench = Bench::new().with(|it| it.header = Some(false));
    check_with(&bench, "a,b\nc,d\n", "column_1:string | column_2:string\na | b\nc | d");
}

#[test]
fn uneven_rows_are_kept_counted_and_listed() {
    let bench = Bench::new();
    let dataset = bench.ingest(Source::File(fixture("ragged.csv")), "ragged.csv").unwrap();
    assert_eq!(
        table(&bench, &dataset),
        "a:int64 | b:int64 | c:int64 | _extra:string\n\
         1 | 2 | 3 | ~\n\
         4 | 5 | ~ | ~\n\
         6 | 7 | 8 | 9,\"x,y\"\n\
         10 | 11 | 12 | ~"
    );
    assert_eq!((dataset.padded_rows, dataset.surplus_rows), (1, 1));
    assert_eq!(bench.files(), ["t.parquet", "t.rejects.jsonl"]);
    assert_eq!(
        fs::read_to_string(bench.datasets().join("t.rejects.jsonl")).unwrap(),
        "{\"line\":3,\"reason\":\"fewer than 3 cells; padded with null\",\"text\":\"4,5\"}\n\
         {\"line\":4,\"reason\":\"more than 3 cells; the surplus is in `_extra`\",\
         \"text\":\"6,7,8,9,\\\"x,y\\\"\"}\n"
    );
    let strict = Bench::new().with(|it| it.strict = true);
    let result = strict.ingest(Source::File(fixture("ragged.csv")), "ragged.csv");
    check_refused(
        &strict,
        result,
        "cannot read `ragged.csv`: line 3 has fewer than 3 cells: `4,5` / leave out `--strict` to read such lines all the same; \
         csv-agent then reports what it did",
    );
}

#[test]
fn identifiers_stay_text() {
    check_file(
        "leading_zeros.csv",
        "zip:string | phone:string | count:int64
         01067 | +493511234567 | 3
         80331 | +49891234567 | 12",
    );
    check_file(
        "long_digits.csv",
        "card:string | ratio:string
         12345678901234567890 | 0.1
         1 | 0.12345678901234567890",
    );
}

#[test]
fn quotes_hold_line_ends_and_quotes() {
    check_file(
        "quoted_newlines.csv",
        "id:int64 | text:string
         1 | first line⏎second, line
         2 | said \"no\"
         3 | \"\"
         4 | ~",
    );
    check_file(
        "stray_quotes.csv",
        "id:int64 | size:string | text:string
         1 | 5\" pipe | a \"b\" c
         2 | 6\" pipe | it\"s",
    );
    let dataset = check_file(
        "unclosed_quote.csv",
        "id:int64 | text:string
         1 | \"never closed
         2 | b
         3 | c",
    );
    let reason =
        "1 quote opens a cell and is never closed, so it is read as text; the first is on line 2";
    assert_eq!(dataset.dialect.reasons[3], reason);
}

#[test]
fn a_line_of_excel_says_the_delimiter() {
    check_file("excel_sep.csv", "a:int64 | b:string\n 1 | x\n 2 | y");
}

#[test]
fn a_column_without_a_name_is_kept() {
    check_file(
        "unnamed_index.csv",
        "column_1:string | mpg:float64 | cyl:int64
         Mazda RX4 | 21 | 6
         Datsun 710 | 22.8 | 4",
    );
    check_file(
        "trailing_delimiter.csv",
        "a:int64 | b:string | column_3:string\n 1 | x | ~\n 2 | y | ~",
    );
}

#[test]
fn a_null_marker_is_text_among_text() {
    check_file(
        "null_markers.csv",
        "country:string | population:int64 | since:date
         NA | 2600000 | 1990-03-21
         DE | ~ | ~
         FR | ~ | 1958-10-04",
    );
    let bench = Bench::new().with(|it| it.nulls = Some(vec!["DE".into(), "-9".into()]));
    check_with(
        &bench,
        "a,b,c\nDE,-9,NA\nNA,1,2\n",
        "a:string | b:int64 | c:string\n~ | ~ | NA\nNA | 1 | 2",
    );
}

#[test]
fn kinds_of_one_family_share_a_column() {
    check_file(
        "mixed_types.csv",
        "number:float64 | when:timestamp | flag:bool
         1 | 2024-01-01 00:00:00 | true
         2.5 | 2024-01-02 10:30:00 | false
         3 | 2024-01-03 00:00:00.250 | true",
    );
    check_file(
        "instants.csv",
        "at:timestamp_utc | local:timestamp | clock:time
         2024-03-31 00:30:00 | 2024-03-31 01:30:00 | 01:30:00
         2024-03-31 01:30:00 | 2024-03-31 03:30:15.500 | 03:30:15.500",
    );
}

#[test]
fn values_may_have_blanks_around_them_unless_they_are_text() {
    check("a, b\n1, x\n 2 , y \n  ,z\n", "a:int64 | b:string\n1 | \" x\"\n2 | \" y \"\n~ | z");
}

#[test]
fn one_late_value_decides_the_type_of_its_column() {
    let mut text = "n,x,t\n".to_owned();
    text.extend((0..50_000).map(|it| format!("{it},1.5,2024-01-01\n")));
    text.push_str("0x,2,2024-01-01 12:00\n");
    let bench = Bench::new();
    let dataset = bench.sliced(text.as_bytes(), 64 * 1024).unwrap();
    let dtypes: Vec<_> = dataset.columns.iter().map(|it| it.dtype).collect();
    assert_eq!(dtypes, [DType::String, DType::Float64, DType::Timestamp]);
    let rows = bench.rows();
    assert_eq!((rows.len(), rows[49_999][0].as_deref()), (50_001, Some("49999")));
    assert_eq!(rows[50_000][0].as_deref(), Some("0x"));
}

#[test]
fn late_surplus_cells_are_kept_as_well() {
    let text = format!("a,b\n{}1,2,3\n", "1,2\n".repeat(200_000));
    let bench = Bench::new();
    let dataset = bench.sliced(text.as_bytes(), 64 * 1024).unwrap();
    assert_eq!(dataset.surplus_rows, 1);
    assert_eq!(bench.rows()[200_000][2].as_deref(), Some("3"));
}

#[test]
fn long_text_with_line_ends_in_it_is_read_once() {
    let line = "and so, on \"\"and\"\" on\n".repeat(30);
    let rows = (0..2_000).map(|it| format!("{it},\"title, {it}\",\"{line}\"\n"));
    let text = format!("id,title,body\n{}", rows.collect::<String>());
    let dataset = Bench::new().bytes(text).unwrap();
    assert_eq!(dataset.columns[0].dtype, DType::Int64);
    let read_twice = |it: &String| it.contains("read twice");
    assert!(!dataset.dialect.reasons.iter().any(read_twice), "{:?}", dataset.dialect.reasons);
}

/// Many lines of ASCII, with others in a place that no window shows.
fn with_late(late: &[u8]) -> Vec<u8> {
    let mut text = b"a,b\n".to_vec();
    (0..200_000).for_each(|_| text.extend_from_slice(b"1,x\n"));
    let far = text.len() / 2 / 4 * 4;
    text.splice(far..far, late.iter().copied());
    text
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn compressed_files_are_read_as_what_they_hold() {
    let text = b"a,b\n1,x\n2,y\n";
    let (first, second) = text.split_at(6);
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
    let zipped =
        [("d/", &b""[..]), ("__MACOSX/d/._t.csv", b"x"), (".note", b"x"), ("d/t.csv", text)];
    let cases = [
        ("gzip", gzip(text)),
        ("gzip", [gzip(first), gzip(second)].concat()),
        ("zstd", zstd(text)),
        ("zstd", [zstd(first), zstd(second)].concat()),
        ("bzip2", bzip2(text)),
        ("zip", zip(&zipped)),
    ];
    for (name, bytes) in cases {
        let bench = Bench::new();
        let dataset = bench.bytes(&bytes).unwrap();
        assert_eq!(table(&bench, &dataset), "a:int64 | b:string\n1 | x\n2 | y");
        let told = format!("{name}-compressed, 12 bytes decompressed");
        assert_eq!(dataset.dialect.reasons[0], told);
        let source = bench.dir.path().join("source");
        fs::write(&source, &bytes).unwrap();
        let of_source = (bytes.len() as u64, super::sha256_file(&source).unwrap());
        assert_eq!((dataset.bytes, dataset.sha256), of_source);
    }
}

#[test]
fn a_first_cell_beyond_all_bounds_is_refused() {
    let body = "all work and no play\n".repeat(QUOTED_BYTES_MAX / 21 + 1);
    let error = Bench::new().bytes(format!("id,body\n1,\"{body}\"\n2,x\n")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot read `-` as CSV: a quote on line 2 opens a cell that does not end within 33554432 bytes"
    );
}

#[test]
fn a_first_cell_longer_than_the_head_is_one_cell() {
    for delimiter in [',', ';'] {
        let body = "He said:, \"\"no; not\"\" at all\n".repeat(40_000);
        let rows =
            [format!("1{delimiter}\"{body}\"\n"), format!("2{delimiter}\"short\"\n")].concat();
        let bench = Bench::new();
        let dataset = bench.bytes(format!("id{delimiter}body\n{rows}")).unwrap();
        assert_eq!(dataset.row_count, 2);
        let names: Vec<_> = dataset.columns.iter().map(|it| (it.name.as_str(), it.dtype)).collect();
        assert_eq!(names, [("id", DType::Int64), ("body", DType::String)]);
        assert_eq!(bench.rows()[0][1], Some(body.replace("\"\"", "\"")));
    }
}

#[test]
fn cells_longer_than_any_window_are_cells() {
    let body = "of this, and that; and more\n".repeat(30_000);
    let rows = (0..4).map(|it| format!("{it};\"a title\";\"{body}\"\n")).collect::<Vec<_>>();
    let dataset = Bench::new().bytes(format!("id;title;body\n{}", rows.concat())).unwrap();
    let dtypes: Vec<_> = dataset.columns.iter().map(|it| it.dtype).collect();
    assert_eq!(dtypes, [DType::Int64, DType::String, DType::String]);
    let read_twice = |it: &String| it.contains("read twice");
    assert!(!dataset.dialect.reasons.iter().any(read_twice), "{:?}", dataset.dialect.reasons);
    assert_eq!(dataset.row_count, 4);
}

#[test]
fn compressed_files_that_hold_no_one_table_are_refused() {
    let check = |bytes: &[u8], expected: &str| {
        let bench = Bench::new().with(|it| it.bytes_max = 100_000);
        let result = bench.bytes(bytes);
        check_refused(&bench, result, expected);
    };
    check(
        &gzip(&vec![b'1'; 1_000_000]),
        "cannot read `-`: it has more, the limit is 100000 bytes / raise the limit with \
         `--max-bytes`",
    );
    check(
        &zip(&[("a.csv", b"a\n1\n"), ("b.csv", b"b\n1\n")]),
        "cannot read `-`: the zip archive contains 2 files: `a.csv`, `b.csv` / unpack it and name the \
         files",
    );
    check(
        &gzip(b""),
        "cannot read `-`: it is empty once decompressed (0 bytes) / check how the file was made",
    );
    let mut tar = vec![b'a'; 1_024];
    tar[257..262].copy_from_slice(b"ustar");
    check(
        &gzip(&tar),
        "cannot read `-` as CSV: it is a tar archive / export the table as CSV, or name another \
         file",
    );
    let whole = "a,b\n1,2\n".repeat(1_000);
    let zstd = zstd::encode_all(whole.as_bytes(), 1).unwrap();
    let zipped = zip(&[("a.csv", whole.as_bytes())]);
    for bytes in [gzip(whole.as_bytes()), zstd, bzip2(whole.as_bytes()), zipped] {
        let bench = Bench::new();
        let error = bench.bytes(&bytes[..bytes.len() - 9]).unwrap_err();
        let failure = error.downcast_ref::<Failure>().unwrap();
        assert!(failure.message.contains("data is damaged or cut short"), "{}", failure.message);
        assert_eq!((failure.kind, bench.files()), (FailureKind::Input, vec![]));
    }
}

#[test]
fn decompression_is_shown_and_can_be_interrupted() {
    let mut text = b"a\n".to_vec();
    (0..200_000_u64).for_each(|it| writeln!(text, "{}", it * it).unwrap());
    let bench = Bench::new();
    let path = bench.dir.path().join("t.csv.gz");
    let bytes = gzip(&text);
    fs::write(&path, &bytes).unwrap();
    let n_bytes = bytes.len() as u64;
    let cancelled = AtomicBool::new(false);
    let ingest = |progress: &(dyn Fn(Progress) + Sync)| {
        let source = Source::File(path.clone());
        ingest(source, "s", "t", &bench.datasets(), &bench.options, progress, &cancelled)
    };
    let shown = Mutex::new(Vec::new());
    drop(ingest(&|it| shown.lock().unwrap().push(it)).unwrap());
    let shown = shown.into_inner().unwrap();
    let n_shown = shown.iter().take_while(|it| it.bytes_total == n_bytes).count();
    let bytes: Vec<u64> = shown[..n_shown].iter().map(|it| it.bytes).collect();
    assert!(bytes.is_sorted() && 2 < bytes.len() && bytes.last() == Some(&n_bytes), "{bytes:?}");
    assert_eq!(shown.last().map(|it| it.rows), Some(200_000));

    let error = ingest(&|_| cancelled.store(true, Ordering::Relaxed)).unwrap_err();
    let status = error.downcast_ref::<Failure>().unwrap().kind;
    assert_eq!((status, bench.files()), (FailureKind::Interrupted, vec![]));
}

#[test]
fn late_bytes_that_are_damage_are_replaced_counted_and_told() {
    let late = "2,é\n2,ñ\n2,ü\n".as_bytes();
    let late = [late, b"2,caf\xe9\n"].concat();
    let bench = Bench::new();
    let dataset = bench.bytes(with_late(&late)).unwrap();
    assert_eq!(dataset.dialect.encoding, "utf-8");
    let damage = Damage { n_replaced: 1, line: 100_004, offset: 400_020 };
    assert_eq!(dataset.dialect.damage, Some(damage));
    assert_eq!(
        dataset.dialect.reasons[0],
        "encoding utf-8: nearly the whole file is valid UTF-8; U+FFFD replaces the invalid bytes, 1 in \
         all, the first on line 100004 at byte offset 400020"
    );
    assert!(bench.rows().iter().any(|it| it[1].as_deref() == Some("caf\u{fffd}")));
    assert!(bench.rows().iter().any(|it| it[1].as_deref() == Some("ñ")));

    let bench = Bench::new().with(|it| it.strict = true);
    let result = bench.bytes(with_late(&late));
    check_refused(
        &bench,
        result,
        "cannot read `-` as utf-8: the bytes at offset 400020, on line 100004, are not valid / leave \
         out `--strict` to replace such bytes with U+FFFD, or name another encoding with `--encoding`",
    );
}

#[test]
fn text_is_read_in_the_encoding_that_its_letters_fit() {
    let check = |label: &str, text: &str| {
        let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap();
        let expected = table_of(text);
        for bytes in [encoding.encode(text).0.into_owned(), with_late(&encoding.encode(text).0)] {
            let bench = Bench::new();
            let dataset = bench.bytes(&bytes).unwrap();
            assert_eq!(dataset.dialect.encoding, encoding.name().to_ascii_lowercase());
            assert!(bench.rows().contains(&expected), "{label}");
        }
    };
    check("shift_jis", "1,田中さくら\n2,鈴木けんじ\n");
    check("gbk", "1,上海的天气很好\n2,北京\n");
    check("windows-1251", "1,Новосибирск\n2,Москва\n");
}

/// The first row of a text without quotes.
fn table_of(text: &str) -> Vec<Option<String>> {
    text.lines().next().unwrap().split(',').map(|it| Some(it.to_owned())).collect()
}

#[test]
fn wide_text_is_read_with_and_without_a_mark() {
    let expected = "a:int64 | b:string\n1 | é\n2 | 名";
    let text = "a,b\n1,é\n2,名\n";
    let utf16 = |mark: &str, is_big: bool| -> Vec<u8> {
        let units = mark.encode_utf16().chain(text.encode_utf16());
        units.flat_map(|it| if is_big { it.to_be_bytes() } else { it.to_le_bytes() }).collect()
    };
    let utf32 = |is_big: bool| -> Vec<u8> {
        let units = "\u{feff}".chars().chain(text.chars()).map(u32::from);
        units.flat_map(|it| if is_big { it.to_be_bytes() } else { it.to_le_bytes() }).collect()
    };
    let cases = [
        (utf16("\u{feff}", false), "utf-16le"),
        (utf16("\u{feff}", true), "utf-16be"),
        (utf16("", false), "utf-16le"),
        (utf16("", true), "utf-16be"),
        (utf32(false), "utf-32le"),
        (utf32(true), "utf-32be"),
    ];
    for (bytes, name) in cases {
        for padding in [0, 4, 100_000] {
            let bench = Bench::new();
            let dataset = bench.bytes([bytes.clone(), vec![0; padding]].concat()).unwrap();
            assert_eq!(dataset.dialect.encoding, name);
            assert_eq!(table(&bench, &dataset), expected, "{name} and {padding} zeros");
        }
    }
}

#[test]
fn what_fills_the_last_block_of_a_file_is_no_text() {
    let long = vec![0; 70_000];
    for padding in [&b"\x1a"[..], b"\0\0\0", b"\x1a\0\0\0\0", &long] {
        let bench = Bench::new();
        let bytes = [b"a,b\n1,x\0y\n", padding].concat();
        let dataset = bench.bytes(&bytes).unwrap();
        assert_eq!(table(&bench, &dataset), "a:int64 | b:string\n1 | x\0y");
        let told = format!("padding of NUL or ^Z after the text left out: {} B", padding.len());
        assert_eq!(dataset.dialect.reasons[1], told);
        assert_eq!(dataset.bytes, bytes.len() as u64);
        let source = bench.dir.path().join("source");
        fs::write(&source, &bytes).unwrap();
        assert_eq!(dataset.sha256, super::sha256_file(&source).unwrap());
    }
}

#[test]
fn late_bytes_of_another_encoding_are_read_in_it() {
    let mut text = b"a,b\n".to_vec();
    (0..200_000).for_each(|_| text.extend_from_slice(b"1,x\n"));
    let far = text.len() / 2 / 4 * 4;
    text.splice(far..far, *b"2,\xe9\n");
    let bench = Bench::new();
    let dataset = bench.bytes(&text).unwrap();
    assert_eq!(dataset.dialect.encoding, "windows-1252");
    assert!(bench.rows().iter().any(|it| it[1].as_deref() == Some("é")));
}

#[test]
fn a_type_that_the_user_wants_is_given_or_the_value_is_named() {
    let told = |dtype| {
        Bench::new().with(|it: &mut IngestOptions| {
            it.dtypes = vec![("a".to_owned(), RequestedType::Type(dtype))];
        })
    };
    check_with(&told(DType::Int64), "a,b\n007,1\n", "a:int64 | b:int64\n7 | 1");
    check_with(&told(DType::String), "a,b\n7,1\n", "a:string | b:int64\n7 | 1");
    let bench = told(DType::Int64);
    let result = bench.bytes("a,b\n7,1\n\nx,2\n");
    check_refused(
        &bench,
        result,
        "cannot read column `a` of `-` as int64: line 4 has `x` / leave out `--dtype a=int64`, or name the \
         value in `--null`",
    );
    let error = told(DType::Int64).bytes("b,c\n1,2\n").unwrap_err();
    assert_eq!(error.to_string(), "no column `a` to read as int64");
}

#[test]
fn days_may_be_written_as_people_do() {
    check(
        "a,b,c,d,e\n31/12/2024,12/31/24 9:30 PM,3 Jan 2024,31.01.2024 10:00,1/2/2024\n\
         1/2/2024,1/2/24 10:00 AM,29 Feb 2024,NA,02/03/2024\n",
        "a:date | b:timestamp | c:date | d:timestamp | e:string
         2024-12-31 | 2024-12-31 21:30:00 | 2024-01-03 | 2024-01-31 10:00:00 | 1/2/2024
         2024-02-01 | 2024-01-02 10:00:00 | 2024-02-29 | ~ | 02/03/2024",
    );
    check("a,b\n13/2/2024,1/2/2024\n", "a:date | b:date\n2024-02-13 | 2024-02-01");
    let told = Bench::new().with(|it| it.date_order = Some(DateOrder::Mdy));
    check_with(&told, "a\n1/2/2024\n", "a:date\n2024-01-02");
    let told = Bench::new()
        .with(|it| it.dtypes = vec![("a".to_owned(), RequestedType::Type(DType::Date))]);
    check_with(&told, "a\n13/2/2024\n", "a:date\n2024-02-13");
}

#[test]
fn numbers_and_flags_may_be_written_as_people_do() {
    check(
        "price;total;n;ok;share;day\n1234,5;1.234,56;1 234;yes;5 %;1/2/2024\n\
         -0,25;7,00;56;No;7,5 %;3/4/2024\n;NA;;;;\n",
        "price:float64 | total:float64 | n:int64 | ok:string | share:string | day:date
         1234.5 | 1234.56 | 1234 | yes | 5 % | 2024-02-01
         -0.25 | 7 | 56 | No | 7,5 % | 2024-04-03
         ~ | ~ | ~ | ~ | ~ | ~",
    );
    check("a,b\n\"1,234\",0.5\n", "a:int64 | b:float64\n1234 | 0.5");
    check("a,b\n\"1,234\",x\n", "a:int64 | b:string\n1234 | x");
    check("a,b\n\"1,234\",\"3,5\"\n", "a:string | b:string\n1,234 | 3,5");
    let told = Bench::new().with(|it| it.decimal = Some(DecimalMark::Comma));
    check_with(&told, "a,b\n\"1,234\",1.234\n", "a:float64 | b:int64\n1.234 | 1234");
    let bench = Bench::new();
    let dataset = bench.sliced(b"a\n\"1,234\"\n12\n\"5,678,901\"\n", 8).unwrap();
    assert_eq!(table(&bench, &dataset), "a:int64\n1234\n12\n5678901");
}

#[test]
fn a_header_of_short_words_is_a_header() {
    check("x,y\n", "x:string | y:string\n");
    check("no,y\n1,2\n", "no:int64 | y:int64\n1 | 2");
}

#[test]
fn the_last_row_may_settle_the_order_of_days() {
    let bench = Bench::new();
    let dataset = bench.sliced(b"a\n1/2/2024\n3/4/2024\n31/1/2024\n", 8).unwrap();
    assert_eq!(table(&bench, &dataset), "a:date\n2024-02-01\n2024-04-03\n2024-01-31");
    let dataset = bench.sliced(b"a\n13/2/2024\n3/4/2024\n1/31/2024\n", 8).unwrap();
    assert_eq!(table(&bench, &dataset), "a:string\n13/2/2024\n3/4/2024\n1/31/2024");
}

#[test]
fn what_is_no_table_is_refused_with_the_reason() {
    let check = |name: &str, expected: &str| {
        let bench = Bench::new();
        let result = bench.ingest(Source::File(fixture(name)), name);
        check_refused(&bench, result, expected);
    };
    check("nope.csv", "cannot read `nope.csv`: no such file / check the path");
    check(
        "empty.csv",
        "cannot read `empty.csv`: it is empty (0 bytes) / check how the file was made",
    );
    check(
        "blank.csv",
        "cannot read `blank.csv` as CSV: it has only blank lines / check how the file was made",
    );
    check("", "cannot read ``: it is a directory / name the files in it");
    let hint = "export the table as CSV, or name another file";
    check("page.html", &format!("cannot read `page.html` as CSV: it is an HTML page / {hint}"));
    let noise =
        format!("cannot read `noise.bin` as CSV: it is binary (byte 0x18 at offset 3) / {hint}");
    check("noise.bin", &noise);
}

#[test]
fn what_is_no_text_is_told_by_its_first_bytes() {
    let check = |bytes: &[u8], expected: &str| {
        let bench = Bench::new();
        let error = bench.bytes(bytes).unwrap_err().to_string();
        assert_eq!(error, format!("cannot read `-` as CSV: it is {expected}"));
        assert_eq!(bench.files(), Vec::<String>::new());
    };
    check(b"\x89PNG\r\n\x1a\n\0\0", "a PNG image");
    check(b"%PDF-1.7\n", "a PDF document");
    check(b"FEA1\0\0\0\0", "a Feather file of version 1");
    check(b"\xfd7zXZ\0", "xz-compressed");
    check(b"a,b\n1,\0\0\0\0\n", "binary (byte 0x00 at offset 6)");
    // Even if it is short.
    check(b"\0\x01\x02", "binary (byte 0x00 at offset 0)");
    check(b"\0", "binary (byte 0x00 at offset 0)");
    check(b"PK\x05\x06\0\0\0\0", "binary (byte 0x05 at offset 2)");
    check(b"\xfe\xff\0", "binary");
}

#[test]
fn a_short_text_may_have_a_letter_that_a_converter_could_not_write() {
    let bench = Bench::new();
    let dataset = bench.bytes("x\n\x1a\n\x1a\n").unwrap();
    assert_eq!(table(&bench, &dataset), "x:string\n\x1a\n\x1a");
}

#[test]
fn letters_that_a_converter_could_not_write_make_no_binary() {
    let bench = Bench::new();
    let dataset = bench.bytes("a,b\n1,member\x1a\x1a\x1a\x1as\n").unwrap();
    assert_eq!(table(&bench, &dataset), "a:int64 | b:string\n1 | member\x1a\x1a\x1a\x1as");
}

#[test]
fn limits_and_encodings_are_kept_to() {
    let bench = Bench::new().with(|it| it.bytes_max = 5);
    let result = bench.bytes("a,b\n1,2\n");
    check_refused(
        &bench,
        result,
        "cannot read `-`: it has more, the limit is 5 bytes / raise the limit with `--max-bytes`",
    );
    let bench = Bench::new().with(|it| it.bytes_max = 5);
    let result = bench.ingest(Source::File(fixture("bom.csv")), "bom.csv");
    check_refused(
        &bench,
        result,
        "cannot read `bom.csv`: it has 28 bytes, the limit is 5 bytes / raise the limit with \
         `--max-bytes`",
    );
    let bench = Bench::new().with(|it| it.encoding = Some("utf-8".to_owned()));
    let result = bench.ingest(Source::File(fixture("latin1.csv")), "latin1.csv");
    check_refused(
        &bench,
        result,
        "cannot read `latin1.csv`: the bytes at about offset 20 are not valid utf-8 / leave out \
         `--encoding` so that csv-agent detects it, or try `--encoding windows-1252`",
    );
    let bench = Bench::new().with(|it| it.encoding = Some("klingon".to_owned()));
    let error = bench.bytes("a,b\n").unwrap_err();
    assert_eq!(error.downcast_ref::<Failure>().unwrap().kind, FailureKind::Usage);
}

#[test]
fn an_interrupted_ingest_leaves_nothing_and_touches_nothing() {
    let bench = Bench::new();
    let cancelled = AtomicBool::new(true);
    let source = Source::File(fixture("sales.csv"));
    let options = &bench.options;
    let error =
        ingest(source, "s", "t", &bench.datasets(), options, &|_| {}, &cancelled).unwrap_err();
    let status = error.downcast_ref::<Failure>().unwrap().kind;
    assert_eq!((status, bench.files()), (FailureKind::Interrupted, vec![]));

    bench.bytes("a,b\n1,2\n").unwrap();
    let before = bench.rows();
    bench.ingest(Source::File(fixture("noise.bin")), "noise.bin").unwrap_err();
    assert_eq!((bench.rows(), bench.files()), (before, vec!["t.parquet".to_owned()]));
}

#[test]
fn files_of_an_earlier_dataset_of_that_name_do_not_stay() {
    let bench = Bench::new();
    bench.bytes("a,b\n1,2\n\n3\n").unwrap();
    assert_eq!(bench.files(), ["t.lines", "t.parquet", "t.rejects.jsonl"]);
    bench.bytes("a,b\n1,2\n3,4\n").unwrap();
    assert_eq!(bench.files(), ["t.parquet"]);
}

#[test]
fn a_header_alone_is_a_table_without_rows() {
    check("a,b\n", "a:string | b:string");
}

#[test]
fn a_look_at_a_file_says_what_ingesting_it_would() {
    let bench = Bench::new();
    let ingested = bench.ingest(Source::File(fixture("ragged.csv")), "r").unwrap();
    let cancelled = AtomicBool::new(false);
    let source = Source::File(fixture("ragged.csv"));
    let mut looked = inspect(source, "r", "t", &bench.options, &|_| {}, &cancelled).unwrap();
    looked.ingested_at.clone_from(&ingested.ingested_at);
    // Nothing is written.
    looked.checksums.clone_from(&ingested.checksums);
    assert_eq!(looked, ingested);
}

#[test]
fn the_first_rows_are_json() {
    let bench = Bench::new();
    bench.bytes("i,f,s,d,t,u,c,b\n9007199254740993,0.5,x,2024-02-29,2024-02-29 10:00,2024-02-29T10:00:00Z,10:00,true\n,inf,,,,,,\n1,1,1,2024-02-29,2024-02-29 10:00,2024-02-29T10:00:00Z,10:00,true\n").unwrap();
    let frame = head(&bench.datasets().join("t.parquet"), 2).unwrap();
    assert_eq!(
        serde_json::to_string(&frame.rows).unwrap(),
        "[[\"9007199254740993\",0.5,\"x\",\"2024-02-29\",\"2024-02-29T10:00:00\",\
         \"2024-02-29T10:00:00Z\",\"10:00:00\",true],[null,\"inf\",null,null,null,null,null,null]]"
    );
    let dtypes = ["int64", "float64", "str", "object", "datetime64[us]", "datetime64[us, UTC]"];
    assert_eq!(frame.dtypes[..6], dtypes);
    assert_eq!((frame.row_count, frame.columns[7].as_str()), (3, "b"));
}

#[test]
fn a_value_is_found_in_every_column_that_can_hold_it() {
    let bench = Bench::new();
    let text = "whole,real,text,day,moment,flag\n\
                7,7.0, Tea ,2024-01-01,2024-01-01 00:00,true\n\
                8,7.5,tea,2024-01-02,2024-01-01 00:01,false\n\
                7,8,7,2024-01-01,2024-01-03 00:00,true\n";
    bench.sliced(text.as_bytes(), 60).unwrap();
    let check = |value: &str, expected: &[(&str, u64)]| {
        let found = bench.find(value);
        let found: Vec<_> = found.iter().map(|it| (it.column.as_str(), it.count)).collect();
        assert_eq!(found, expected, "{value}");
    };
    check("7", &[("whole", 2), ("real", 1), ("text", 1)]);
    check("7.0", &[("whole", 2), ("real", 1)]);
    check("7.5", &[("real", 1)]);
    check("TEA", &[("text", 2)]);
    check("2024-01-01", &[("day", 2), ("moment", 1)]);
    check("2024-01-01T00:01", &[("moment", 1)]);
    check("TRUE", &[("flag", 2)]);
    check("9", &[]);
    check("", &[]);
}

#[test]
fn values_are_rated_row_by_row_over_batches() {
    // More rows than a batch has; every 10,000th is out of bounds, and one is missing.
    let row = |row: u32| match row {
        3 => ",,a\n".to_owned(),
        row if row % 10_000 == 0 => "-5,-5.5,a\n".to_owned(),
        row => format!("{row},{row}.5,a\n"),
    };
    let text = "n,x,note\n".to_owned() + &(0..70_000).map(row).collect::<String>();
    let bench = Bench::new();
    bench.sliced(text.as_bytes(), 1 << 20).unwrap();
    let rate = |column: &str| {
        let range = |it: &str| Some(Range::parse(it).unwrap());
        let ratings =
            Ratings { good: range("0..50000"), warning: range(">= 69999"), bad: range("< 0") };
        let path = "datasets/t.parquet".into();
        let query = Query::Rate { path, column: column.to_owned(), ratings };
        match answer(&query, bench.dir.path()) {
            Ok(Facts::Rated(rated)) => rated,
            other => unreachable!("{other:?}"),
        }
    };
    for column in ["n", "x"] {
        let rated = rate(column).unwrap();
        let rows: Vec<u64> = (0..7).map(|it| it * 10_000).collect();
        assert_eq!((rated.bad.count, &rated.bad.rows), (7, &rows), "{column}");
        assert_eq!(rated.warning.rows, [69_999], "{column}");
        // 50,001 to 69,998 without 60,000.
        assert_eq!((rated.outside.count, rated.outside.rows.len()), (19_997, 20), "{column}");
    }
    assert_eq!(rate("note"), None);
}

#[test]
fn rows_are_found_in_the_source_whatever_the_slices() {
    let text = b"\nid,text\n1,\"a\nb\"\n\n2,c\n3,\"\r\n\r\n\"\n\n\n4,d\n5,e\n";
    for slice_bytes in [1, 7, 1 << 20] {
        let bench = Bench::new();
        bench.sliced(text, slice_bytes).unwrap();
        let lines = fs::read(bench.datasets().join("t.lines")).unwrap();
        let lines = lines_at(&lines[..], &[0, 1, 2, 3, 4]).unwrap();
        assert_eq!(lines, [3, 6, 7, 12, 13], "{slice_bytes}");
    }
}

/// Ingests text; compares the table, then what is listed as `line reason`.
#[track_caller]
fn check_aside(text: &str, expected: &str, listed: &[&str]) {
    let bench = Bench::new();
    check_with(&bench, text, expected);
    assert_eq!(listed_in(&bench), listed);
}

fn listed_in(bench: &Bench) -> Vec<String> {
    let rejects = fs::read_to_string(bench.datasets().join("t.rejects.jsonl")).unwrap_or_default();
    let entries = rejects.lines().map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap());
    let show = |it: serde_json::Value| {
        let reason = it["reason"].as_str().unwrap();
        let kind = reason.strip_suffix("; no row").unwrap_or(reason);
        format!("{} {kind}", it["line"])
    };
    entries.map(show).collect()
}

#[test]
fn what_stands_before_the_header_is_preamble() {
    let table = "id:int64 | name:string | n:float64\n 1 | anna | 2.5\n 2 | bert | 3.5";
    let rows = "id,name,n\n1,anna,2.5\n2,bert,3.5\n";
    let listed: &[&str] = &["1 preamble", "2 preamble"];
    check_aside(&format!("Sales report\nGenerated 2024-01-02\n{rows}"), table, listed);
    check_aside(&format!("Sales report\nRegion: x, y\n\n{rows}"), table, listed);
    check_aside(&format!("PREAMBLE,,\n,,\n{rows}"), table, listed);
    check_aside(&format!("Title\n\n\nfrom:,2024\n\n{rows}"), table, &["1 preamble", "4 preamble"]);
    check_aside(
        "Title\n\nA,B,C\nx,y,z\nu,v,w\n",
        "A:string | B:string | C:string\nx | y | z\nu | v | w",
        &["1 preamble"],
    );
    check_aside(
        "Title\n\n1,x,2\n2,y,3\n3,z,4\n",
        "column_1:int64 | column_2:string | column_3:int64\n1 | x | 2\n2 | y | 3\n3 | z | 4",
        &["1 preamble"],
    );
}

#[test]
fn a_first_row_of_another_width_is_no_preamble() {
    check_aside(
        "a,b\nx,1,2\ny,3,4\n",
        "column_1:string | a:int64 | b:int64\nx | 1 | 2\ny | 3 | 4",
        &[],
    );
    check_aside(
        "a,b\nx,p,q\ny,r,s\n",
        "column_1:string | a:string | b:string\nx | p | q\ny | r | s",
        &[],
    );
    check_aside(
        "1,2\n3,4,5\n6,7,8\n9,10,11\n",
        "column_1:int64 | column_2:int64 | column_3:int64\n1 | 2 | ~\n3 | 4 | 5\n6 | 7 | 8\n9 | 10 | 11",
        &["1 fewer than 3 cells; padded with null"],
    );
    check_aside(
        "value\nx,1\ny,2\nz,3\n",
        "column_1:string | value:int64\nx | 1\ny | 2\nz | 3",
        &[],
    );
}

#[test]
fn comment_lines_are_no_rows_unless_rows_begin_so() {
    let table = "id:int64 | n:float64\n 1 | 2.5\n 2 | 3.5";
    check_aside(
        "# made by hand\n# twice\nid,n\n1,2.5\n# a, b, c\n2,3.5\n# end\n",
        table,
        &["1 comment", "2 comment", "5 comment", "7 comment"],
    );
    let many = "# x\n1,2.5\n".repeat(20);
    let text = format!("id,n\n1,2.5\n# 2,7\n{many}");
    let bench = Bench::new();
    assert_eq!(bench.bytes(text).unwrap().row_count, 21);
    check_aside("% made\nid,n\n1,2.5\n2,3.5\n", table, &["1 comment"]);
    check_aside("// made\nid,n\n1,2.5\n2,3.5\n", table, &["1 comment"]);
    check_aside("id,n\n#3,x\n#4,y\n", "id:string | n:string\n#3 | x\n#4 | y", &[]);
    check_aside("#id,n\n1,2.5\n2,3.5\n", table, &[]);
    check_aside("# made by hand\n# id,n\n1,2.5\n2,3.5\n", table, &["1 comment"]);
    check_aside("# a, b\nid,n\n1,2.5\n2,3.5\n", table, &["1 comment"]);
}

#[test]
fn a_header_that_comes_again_is_no_row() {
    check_aside(
        "id,n\n1,2.5\nid,n\n2,3.5\n",
        "id:int64 | n:float64\n 1 | 2.5\n 2 | 3.5",
        &["3 repeated header"],
    );
    check_aside("a,b\nx,y\na,b\nu,v\n", "a:string | b:string\nx | y\na | b\nu | v", &[]);
}

#[test]
fn notes_below_the_table_are_a_footer() {
    let table = "id:int64 | name:string | n:float64\n 1 | anna | 2.5\n 2 | bert | 3.5";
    let rows = "id,name,n\n1,anna,2.5\n2,bert,3.5\n";
    check_aside(&format!("{rows}\nSource: x, y\nsecond note"), table, &["5 footer", "6 footer"]);
    check_aside(&format!("{rows}Total rows: 2\n"), table, &["4 footer"]);
    check_aside(&format!("{rows},,\n\"Source: \"\"x\"\"\",,\n"), table, &["4 footer", "5 footer"]);
    check_aside(
        "name,a,b\nanna,1,2\nbert,3,4\nSource: me\n",
        "name:string | a:int64 | b:int64\nanna | 1 | 2\nbert | 3 | 4",
        &["4 footer"],
    );
    check_aside(
        "name,a\nanna,1\nbert,3\n\nSource: me\n",
        "name:string | a:int64\nanna | 1\nbert | 3",
        &["5 footer"],
    );
}

#[test]
fn notes_may_be_padded_to_the_width_of_the_table() {
    let rows = "day,for,amount\n2024-01-02,rent,-850\n2024-01-15,salary,2450\n";
    let table = "day:date | for:string | amount:int64\n\
                 2024-01-02 | rent | -850\n2024-01-15 | salary | 2450";
    let listed: &[&str] = &["1 preamble", "2 preamble", "3 preamble"];
    check_aside(&format!("Account,DE00 1234,\nFrom,January,\n,,\n{rows}"), table, listed);
    check_aside(&format!("Account,DE00 1234,\nFrom,January,\nTo,May,\n{rows}"), table, listed);
    check_aside(&format!("Account,DE00 1234,\n\n{rows}"), table, &["1 preamble"]);
}

#[test]
fn columns_may_be_aligned_by_blanks() {
    check_aside(
        "  place      n  share\n  New York   5   0.25 \n  Bonn      12   0.75\n  \"a  b\"    7   1.5\n",
        "place:string | n:int64 | share:float64\n\
         New York | 5 | 0.25\n Bonn | 12 | 0.75\n a  b | 7 | 1.5",
        &[],
    );
}

#[test]
fn a_header_may_span_records() {
    let rows = "North,1,2.5,3,4\nSouth,5,6.5,7,8\nEast,9,1.5,2,3\nWest,4,5.5,6,7\n";
    let table = "\nNorth | 1 | 2.5 | 3 | 4\nSouth | 5 | 6.5 | 7 | 8\n East | 9 | 1.5 | 2 | 3\n West | 4 | 5.5 | 6 | 7";
    let groups = ",2022,,2023,\nRegion,Sales,Cost,Sales,Cost\n";
    let columns =
        "Region:string | 2022 Sales:int64 | 2022 Cost:float64 | 2023 Sales:int64 | 2023 Cost:int64";
    check_aside(&format!("{groups}{rows}"), &format!("{columns}{table}"), &[]);
    let units = "Place,a,b,c,d\n,kg,m/s,°C,%\n";
    let columns = "Place:string | a:int64 | b:float64 | c:int64 | d:int64";
    check_aside(&format!("{units}{rows}"), &format!("{columns}{table}"), &[]);
    let years = "Region,Sales,,Cost,\n,2022,2023,2022,2023\n";
    let columns =
        "Region:string | Sales 2022:int64 | Sales 2023:float64 | Cost 2022:int64 | Cost 2023:int64";
    check_aside(&format!("{years}{rows}"), &format!("{columns}{table}"), &[]);
}

#[test]
fn a_first_row_with_words_for_numbers_is_no_header() {
    let rows = "anna,1,2\nbert,3,4\ncarl,5,6\ndora,7,8\n";
    let table = "anna | 1 | 2\nbert | 3 | 4\ncarl | 5 | 6\ndora | 7 | 8";
    check_aside(
        &format!("name,a,b\nzoe,unknown,unknown\n{rows}"),
        &format!("name:string | a:string | b:string\n zoe | unknown | unknown\n{table}"),
        &[],
    );
    check_aside(
        &format!("name,a,b\nzoe,not measured,no answer\n{rows}"),
        &format!("name:string | a:string | b:string\n zoe | not measured | no answer\n{table}"),
        &[],
    );
}

#[test]
fn a_table_below_the_first_is_kept_out_of_it() {
    let first = "id,name,n\n1,anna,2.5\n2,bert,3.5\n3,carl,4.5\n";
    let table =
        "id:int64 | name:string | n:float64\n 1 | anna | 2.5\n 2 | bert | 3.5\n 3 | carl | 4.5";
    let below: &[&str] = &["5 another table", "6 another table", "7 another table"];
    check_aside(&format!("{first}id,name,n,more\n1,anna,2.5,4\n2,bert,3.5,5\n"), table, below);
    check_aside(&format!("{first}key,value\n1,2\n3,4\n"), table, below);
    let behind: &[&str] = &["5 footer", "7 another table", "8 another table", "9 another table"];
    check_aside(&format!("{first}Total: 3\n\nkey,value\n1,2\n3,4\n"), table, behind);
    let behind: &[&str] = &["6 another table", "7 another table", "8 another table"];
    check_aside(&format!("{first}\nname,key,k\nanna,1,2\nbert,3,4\n"), table, behind);
}

#[test]
fn rows_with_more_cells_from_some_line_on_are_no_other_table() {
    let reason = "more than 2 cells; the surplus is in `_extra`";
    let listed = [4, 5, 6].map(|line| format!("{line} {reason}"));
    check_aside(
        "id,name\n1,anna\n2,bert\n3,carl,x\n4,dora,y\n5,emil,z\n",
        "id:int64 | name:string | _extra:string\n\
         1 | anna | ~\n 2 | bert | ~\n 3 | carl | x\n 4 | dora | y\n 5 | emil | z",
        &listed.each_ref().map(String::as_str),
    );
}

#[test]
fn a_last_row_that_may_be_cut_short_is_no_footer() {
    let short: &[&str] = &["4 fewer than 3 cells; padded with null"];
    check_aside(
        "id,a,b\n1,1,2\n2,3,4\n3\n",
        "id:int64 | a:int64 | b:int64\n1 | 1 | 2\n2 | 3 | 4\n3 | ~ | ~",
        short,
    );
    check_aside(
        "name,a,b\nanna,1,2\nbert,3,4\nclara\n",
        "name:string | a:int64 | b:int64\nanna | 1 | 2\nbert | 3 | 4\nclara | ~ | ~",
        short,
    );
    check_aside(
        "name,a,b\nanna,1,2\nbert,3,4\nTotal,4,7\n",
        "name:string | a:int64 | b:int64\nanna | 1 | 2\nbert | 3 | 4\nTotal | 4 | 7",
        &[],
    );
    check_aside(
        "name,note\nanna,x\nbert,\n,\ncarl,\n",
        "name:string | note:string\nanna | x\nbert | ~\ncarl | ~",
        &[],
    );
    check_aside("name,note\nanna,x\n,\n*,\n", "name:string | note:string\nanna | x\n* | ~", &[]);
    check_aside(
        "name,note\nanna,x\nbert,\n,\nSource: y,\n",
        "name:string | note:string\nanna | x\nbert | ~",
        &["4 footer", "5 footer"],
    );
    check_aside(
        "id,a,b\n1,1,x\n2,3,\"y\n\nSource: z\"\n",
        "id:int64 | a:int64 | b:string\n1 | 1 | x\n2 | 3 | y⏎⏎Source: z",
        &[],
    );
}

#[test]
fn the_user_may_say_where_the_table_begins_and_what_a_comment_is() {
    let skip = Bench::new().with(|it| it.skip_lines = Some(2));
    check_with(&skip, "x,y\n\"z\na,b\n1,2\n", "a:int64 | b:int64\n1 | 2");
    assert_eq!(listed_in(&skip), ["1 preamble", "2 preamble"]);
    let stay = Bench::new().with(|it| it.skip_lines = Some(0));
    check_with(&stay, "Title\na,b\nc,d\n", "column_1:string | Title:string\na | b\nc | d");
    let none = Bench::new().with(|it| it.comments = Comments::None);
    check_with(&none, "a,b\n1,2\n# x\n", "a:string | b:int64\n1 | 2\n# x | ~");
    let bang = Bench::new().with(|it| it.comments = Comments::Begin('!'));
    check_with(&bang, "!x,y\na,b\n!3,4\n1,2\n", "a:int64 | b:int64\n1 | 2");
    assert_eq!(listed_in(&bang), ["1 comment", "3 comment"]);
    let far = Bench::new().with(|it| it.skip_lines = Some(9));
    let result = far.bytes("a,b\n1,2\n");
    check_refused(
        &far,
        result,
        "cannot read `-` as CSV: it has no lines after the first 9 / give a smaller number to `--skip-rows`",
    );
}

#[test]
fn the_user_may_name_the_columns_that_the_table_lies_in() {
    let text =
        "Region,Sales,,\"Name\",Age\nNorth,10,,\"Ann\nB\",30\nSouth,20,,Bob,31,x\n,,,Cid,32\n";
    let columns = |first: u64, last: u64| {
        Bench::new().with(|it| it.columns = Some(ColumnSpan { first, last }))
    };
    check_with(&columns(1, 2), text, "Region:string | Sales:int64\nNorth | 10\nSouth | 20");
    let right = columns(4, 5);
    check_with(&right, text, "Name:string | Age:int64\nAnn⏎B | 30\nBob | 31\nCid | 32");
    assert_eq!(right.sliced(text.as_bytes(), 8).unwrap().dialect.told, ["--columns 4-5"]);
    assert_eq!(right.rows().len(), 3);
    let lines = File::open(right.datasets().join("t.lines")).unwrap();
    assert_eq!(lines_at(lines, &[0, 1, 2]).unwrap(), [2, 4, 5]);
    let none = columns(8, 9);
    check_refused(
        &none,
        none.bytes(text),
        "cannot read columns 8-9 of `-`: its cells are in columns 1 to 6 / name columns among these, as in \
         `--columns 1-6`",
    );
}

#[test]
fn datasets_keep_the_names_of_their_files() {
    let check = |path: &str, name: &str| assert_eq!(name_of(Path::new(path)), name, "{path}");
    check("066_IBM_HR.csv", "066_IBM_HR");
    check("data/Sales 2024.csv", "Sales_2024");
    check("sales.csv.gz", "sales");
    check("2024-q1.tsv", "2024-q1");
    check("Übersicht (final).csv", "Übersicht_final");
    check("a__b - c--d.csv", "a__b_c--d");
    check("_-private-_.csv", "private");
    check("--.csv", "data");
    check("v1.2.csv", "v1_2");
    check("", "data");
}

proptest! {
    #![proptest_config(slow_cases(100, 1_000))]

    #[test]
    fn numbers_in_one_form_are_read_as_those_numbers_or_stay_text(
        numbers in prop::collection::vec((-99_999_999_i64..99_999_999, 0_u8..100), 1..20),
        (decimal, group) in prop_oneof![
            Just((',', "")), Just((',', ".")), Just((',', " ")), Just((',', "\u{a0}")),
            Just((',', "'")), Just(('.', ",")), Just(('.', " ")), Just(('.', "'")),
        ],
        (has_fraction, is_told, slice_bytes) in (any::<bool>(), any::<bool>(), 1_usize..100),
    ) {
        let grouped = |whole: i64| {
            let digits = whole.unsigned_abs().to_string();
            let n_first = (digits.len() + 2) % 3 + 1;
            let mut text = digits[..n_first].to_owned();
            for at in (n_first..digits.len()).step_by(3) {
                text.push_str(group);
                text.push_str(&digits[at..at + 3]);
            }
            format!("{}{text}", if whole < 0 { "-" } else { "" })
        };
        let written: Vec<_> = numbers
            .iter()
            .map(|(whole, hundredths)| {
                let fraction = format!("{decimal}{hundredths:02}");
                let whole = grouped(*whole);
                if has_fraction { whole + &fraction } else { whole }
            })
            .collect();
        let quoted: Vec<_> = written.iter().map(|it| format!("\"{it}\"")).collect();
        let text = format!("number\n{}\n", quoted.join("\n"));
        let bench = Bench::new().with(|it| {
            it.delimiter = Some(";".to_owned());
            it.header = Some(true);
            let told = if decimal == ',' { DecimalMark::Comma } else { DecimalMark::Point };
            it.decimal = is_told.then_some(told);
        });
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        let read: Vec<_> = bench.rows().into_iter().map(|mut it| it.remove(0).unwrap()).collect();
        let plain: Vec<f64> = numbers
            .iter()
            .map(|(whole, hundredths)| {
                let fraction = if has_fraction { format!(".{hundredths:02}") } else { String::new() };
                format!("{whole}{fraction}").parse().unwrap()
            })
            .collect();
        let is_wide = numbers.iter().any(|it| 999_999 < it.0.abs());
        if dataset.columns[0].dtype == DType::String {
            prop_assert_eq!(&read, &written);
            prop_assert!(!(has_fraction || (is_told && group != " " && group != "\u{a0}")), "{}", text);
        } else if has_fraction || is_told || is_wide || decimal == ',' && group != "." {
            let read: Vec<f64> = read.iter().map(|it| it.parse().unwrap()).collect();
            prop_assert_eq!(read, plain, "{}", text);
        }
    }

    #[test]
    fn days_in_one_form_are_read_as_those_days_or_stay_text(
        days in prop::collection::vec((1900_i16..2068, 1_i8..13, 1_i8..29), 1..20),
        (separator, order, is_padded) in (
            prop_oneof![Just('/'), Just('-'), Just('.')],
            prop_oneof![Just(DateOrder::Dmy), Just(DateOrder::Mdy), Just(DateOrder::Ymd)],
            any::<bool>(),
        ),
        (is_told, slice_bytes) in (any::<bool>(), 1_usize..100),
    ) {
        let written: Vec<_> = days
            .iter()
            .map(|(year, month, day)| {
                let width = if is_padded { 2 } else { 1 };
                let (day, month) = (format!("{day:0width$}"), format!("{month:0width$}"));
                let year = year.to_string();
                match order {
                    DateOrder::Dmy => [day, month, year],
                    DateOrder::Mdy => [month, day, year],
                    DateOrder::Ymd => [year, month, day],
                }
                .join(&separator.to_string())
            })
            .collect();
        let text = format!("day\n{}\n", written.join("\n"));
        let bench = Bench::new().with(|it| {
            it.delimiter = Some(",".to_owned());
            it.date_order = is_told.then_some(order);
        });
        let dataset = bench.sliced(text.as_bytes(), slice_bytes).unwrap();
        let read: Vec<_> = bench.rows().into_iter().map(|mut it| it.remove(0).unwrap()).collect();
        let settled = match order {
            DateOrder::Dmy => separator == '.' || days.iter().any(|it| 12 < it.2),
            DateOrder::Mdy => days.iter().any(|it| 12 < it.2),
            DateOrder::Ymd => true,
        };
        let iso: Vec<_> =
            days.iter().map(|(year, month, day)| format!("{year}-{month:02}-{day:02}")).collect();
        if is_told || settled {
            prop_assert_eq!(read, iso, "{}", text);
        } else if separator != '.' {
            prop_assert_eq!(read, written);
            prop_assert!(dataset.columns[0].is_ambiguous);
        }
    }

    #[test]
    fn whatever_bytes_arrive_there_is_a_table_or_an_error(
        bytes in prop::collection::vec(
            prop_oneof![4 => any::<u8>(), 4 => prop_oneof![Just(b'"'), Just(b','), Just(b'\n'),
                Just(b'\r'), Just(b'1')]],
            0..300,
        ),
        slice_bytes in 1_usize..100,
    ) {
        let bench = Bench::new();
        if let Ok(dataset) = bench.sliced(&bytes, slice_bytes) {
            prop_assert_eq!(bench.rows().len() as u64, dataset.row_count);
        } else {
            prop_assert_eq!(bench.files(), Vec::<String>::new());
        }
    }

    #[test]
    fn the_slices_change_nothing(text in "[a1,\"\n\r]{1,200}", slice_bytes in 1_usize..50) {
        let read = |slice_bytes| {
            let bench = Bench::new();
            let mut dataset = bench.sliced(text.as_bytes(), slice_bytes).ok()?;
            dataset.ingested_at.clear();
            let file = |ending: &str| fs::read(bench.datasets().join(format!("t.{ending}"))).ok();
            Some((dataset, bench.rows(), file("lines"), file("rejects.jsonl")))
        };
        let (mut sliced, mut whole) = (read(slice_bytes), read(1 << 20));
        // How often the file was read depends on where the first surplus cell is met.
        for it in [&mut sliced, &mut whole].into_iter().flatten() {
            it.0.dialect.reasons.clear();
            it.0.checksums = None;
        }
        prop_assert_eq!(sliced, whole);
    }
}
