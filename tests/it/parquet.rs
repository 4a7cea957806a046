//! `ingest` on Parquet files, as pyarrow and pandas write them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use csv_agent_worker::environment::{Extras, PythonOptions, prepare};

use crate::bench::Bench;

/// Runs code in the managed Python, in the working directory of a bench.
pub fn python(bench: &Bench, code: &str) {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap());
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let options = PythonOptions {
        python: std::env::var_os("CSV_AGENT_PYTHON").map(PathBuf::from),
        named_by: "CSV_AGENT_PYTHON".to_owned(),
        cache_dir: cache.unwrap_or_else(|| home.join(".cache")).join("csv-agent"),
        path: std::env::var_os("PATH").unwrap(),
        pip_env: std::env::vars_os().collect::<Vec<(OsString, OsString)>>(),
        ..PythonOptions::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let interpreter = runtime.block_on(prepare(&options, Extras::default(), &mut |_| {})).unwrap();
    let mut command = Command::new(interpreter.executable);
    let output = command.args(["-c", code]).current_dir(bench.path(".")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Shows each column of a dataset: its type, its values, and what is noted.
fn shown(bench: &Bench, file: &str) -> String {
    let dataset =
        bench.run(["ingest", "-v", "--name", "t", "--if-exists", "replace", "--json", file]);
    let dataset: Value = serde_json::from_str(dataset.succeeds().stdout()).unwrap();
    let head = bench.run(["datasets", "t", "--head", "10", "--json"]).succeeds();
    let head: Value = serde_json::from_str(head.stdout()).unwrap();
    let mut lines = Vec::new();
    for column in dataset[0]["columns"].as_array().unwrap() {
        let name = column["name"].as_str().unwrap();
        let rows = head[0]["rows"].as_array().unwrap();
        let values: Vec<String> = rows.iter().map(|it| it[name].to_string()).collect();
        let note = column["note"].as_str().map_or(String::new(), |it| format!(" ({it})"));
        let dtype = column["dtype"].as_str().unwrap();
        lines.push(format!("{name}: {dtype} {}{note}", values.join(" ")));
    }
    lines.join("\n")
}

const EVERY_TYPE: &str = r"
from datetime import date, time
from decimal import Decimal as D
import pyarrow as pa, pyarrow.parquet as pq

def column(values, type=None):
    return pa.array([values[0], None, *values[1:]], type)

table = pa.table({
    'int8': column([1, -128], pa.int8()),
    'int64': column([2**63 - 1, -2**63], pa.int64()),
    'uint32': column([2**32 - 1, 0], pa.uint32()),
    'uint64': column([2**63 - 1, 0], pa.uint64()),
    'uint64_over': column([2**64 - 1, 0], pa.uint64()),
    'half': column([0.5, 2.0], pa.float32()).cast(pa.float16()),
    'float': column([0.1, 2.5], pa.float32()),
    'double': column([0.1, 1e300]),
    'bool': column([True, False]),
    'text': column(['x', '']),
    'large_text': column(['x', ''], pa.large_string()),
    'text_view': column(['x', 'a longer value than twelve letters'], pa.string_view()),
    'category': column(['a', 'b']).dictionary_encode(),
    'day': column([date(2024, 2, 29), date(1, 1, 1)]),
    'day64': column([date(2024, 2, 29), date(1969, 1, 1)], pa.date64()),
    'day_of_nobody': column([-800_000, 0], pa.int32()).cast(pa.date32()),
    'seconds': column([0, 1], pa.timestamp('s')),
    'millis': column([1, -1], pa.timestamp('ms')),
    'micros': column([1, -1], pa.timestamp('us')),
    'nanos': column([1000, -1000], pa.timestamp('ns')),
    'fine_nanos': column([1001, -1], pa.timestamp('ns')),
    'utc': column([1, 2], pa.timestamp('us', 'UTC')),
    'berlin': column([1, 2], pa.timestamp('ms', 'Europe/Berlin')),
    'time32': column([time(9, 30), time(0)], pa.time32('ms')),
    'time64': column([time(9, 30, 15, 5), time(23, 59, 59, 999999)], pa.time64('us')),
    'fine_time': column([1001, 86399999999999], pa.time64('ns')),
    'duration': column([1, 2], pa.duration('us')),
    'money': column([D('12.50'), D('-0.01')], pa.decimal128(10, 2)),
    'long_money': column([D('12345678901234567.50'), D('-0.01')], pa.decimal128(38, 2)),
    'whole': column([D('12'), D('-5')], pa.decimal128(20, 0)),
    'decimal256': column([D('1.5'), D('-5')], pa.decimal256(60, 10)),
    'bytes': column([b'\xff\x00', b'ab'], pa.binary()),
    'bytes_of_text': column(['é'.encode(), b'ab'], pa.binary()),
    'fixed': column([b'abcd', b'\x00\x01\x02\x03'], pa.binary(4)),
    'uuid': pa.array([b'\x01' * 16, None, bytes(16)], pa.uuid()),
    'nothing': pa.nulls(3),
    'list': column([[1, None], []], pa.list_(pa.int32())),
    'pair': column([[1.5, 2.5], [3.0, float('inf')]], pa.list_(pa.float64(), 2)),
    'struct': column([{'a': 1, 'b': 'x'}, {'a': None, 'b': 'y'}]),
    'map': column([[('k', 1), ('l', None)], []], pa.map_(pa.string(), pa.int64())),
    'deep': column([[{'d': date(2024, 1, 2), 't': [D('1.10')]}], []]),
})
pq.write_table(table, 'every.parquet')
pq.write_table(table, 'v2.parquet', compression='zstd', data_page_version='2.0', row_group_size=2)
";

#[test]
fn every_type_is_kept_or_written_out() {
    let bench = Bench::with([]);
    python(&bench, EVERY_TYPE);
    let every = shown(&bench, "every.parquet");
    insta::assert_snapshot!(every, @r#"
    int8: int64 1 null -128
    int64: int64 "9223372036854775807" null "-9223372036854775808"
    uint32: int64 4294967295 null 0
    uint64: int64 "9223372036854775807" null 0
    uint64_over: string "18446744073709551615" null "0" (text: uint64 in the file, beyond int64)
    half: float64 0.5 null 2.0 (float16 in the file, widened)
    float: float64 0.10000000149011612 null 2.5 (float32 in the file, widened)
    double: float64 0.1 null 1e+300
    bool: bool true null false
    text: string "x" null ""
    large_text: string "x" null ""
    text_view: string "x" null "a longer value than twelve letters"
    category: string "a" null "b"
    day: date "2024-02-29" null "0001-01-01"
    day64: date "2024-02-29" null "1969-01-01"
    day_of_nobody: string "-000221-09-04" null "1970-01-01" (text: beyond the years 1 to 9999)
    seconds: timestamp "1970-01-01T00:00:00" null "1970-01-01T00:00:01"
    millis: timestamp "1970-01-01T00:00:00.001" null "1969-12-31T23:59:59.999"
    micros: timestamp "1970-01-01T00:00:00.000001" null "1969-12-31T23:59:59.999999"
    nanos: timestamp "1970-01-01T00:00:00.000001" null "1969-12-31T23:59:59.999999"
    fine_nanos: string "1970-01-01T00:00:00.000001001" null "1969-12-31T23:59:59.999999999" (text: finer than microseconds, or beyond the years 1 to 9999)
    utc: timestamp_utc "1970-01-01T00:00:00.000001Z" null "1970-01-01T00:00:00.000002Z"
    berlin: timestamp_utc "1970-01-01T00:00:00.001Z" null "1970-01-01T00:00:00.002Z" (in UTC; the zone in the file is `Europe/Berlin`)
    time32: time "09:30:00" null "00:00:00"
    time64: time "09:30:15.000005" null "23:59:59.999999"
    fine_time: string "00:00:00.000001001" null "23:59:59.999999999" (text: finer than microseconds)
    duration: int64 1 null 2 (durations, in microseconds)
    money: float64 12.5 null -0.01 (decimal(10, 2) in the file; no value has more than 15 digits, so a float is exact)
    long_money: string "12345678901234567.50" null "-0.01" (text: decimal(38, 2) in the file; more digits than a float can hold)
    whole: int64 12 null -5 (decimal(20, 0) in the file; every value is within int64)
    decimal256: float64 1.5 null -5.0 (decimal(60, 10) in the file; no value has more than 15 digits, so a float is exact)
    bytes: string "ff00" null "6162" (text: bytes in hexadecimal)
    bytes_of_text: string "é" null "ab" (bytes in the file, all of them UTF-8)
    fixed: string "61626364" null "00010203" (text: bytes in hexadecimal)
    uuid: string "01010101-0101-0101-0101-010101010101" null "00000000-0000-0000-0000-000000000000" (text: UUIDs)
    nothing: string null null null
    list: string "[1,null]" null "[]" (text: lists as JSON)
    pair: string "[1.5,2.5]" null "[3,\"inf\"]" (text: lists as JSON)
    struct: string "{\"a\":1,\"b\":\"x\"}" null "{\"a\":null,\"b\":\"y\"}" (text: structs as JSON)
    map: string "{\"k\":1,\"l\":null}" null "{}" (text: maps as JSON)
    deep: string "[{\"d\":\"2024-01-02\",\"t\":[\"1.10\"]}]" null "[]" (text: lists as JSON)
    "#);
    assert_eq!(shown(&bench, "v2.parquet"), every);
}

const OTHERS: &str = r"
import pandas as pd, pyarrow as pa, pyarrow.parquet as pq
frame = pd.DataFrame({'when': pd.to_datetime(['2024-01-02', '2024-01-03']), 'n': [1, 2]})
frame.set_index('when').to_parquet('pandas.parquet')
old = pa.table({'t': pa.array([-10**15, 10**16], pa.timestamp('us'))})
pq.write_table(old, 'old.parquet', use_deprecated_int96_timestamps=True)
fine = pa.table({'t': pa.array([1001], pa.timestamp('ns'))})
pq.write_table(fine, 'fine.parquet', use_deprecated_int96_timestamps=True)
pq.write_table(pa.table({'n': [1]}), 'brotli.parquet', compression='brotli')
pq.write_table(pa.table({'n': pa.array([], pa.int64())}), 'none.parquet')
";

#[test]
fn files_of_other_programs_are_read_or_refused_with_the_reason() {
    let bench = Bench::with(["sales.csv"]);
    python(&bench, OTHERS);
    insta::assert_snapshot!(shown(&bench, "pandas.parquet"), @r#"
    n: int64 1 2
    when: timestamp "2024-01-02T00:00:00" "2024-01-03T00:00:00"
    "#);
    let old = "t: timestamp \"1938-04-24T22:13:20\" \"2286-11-20T17:46:40\"";
    assert_eq!(shown(&bench, "old.parquet"), old);
    let run = bench.run(["ingest", "-v", "none.parquet"]).succeeds();
    assert!(run.stderr().contains("`none`: 0 rows, 1 column, Parquet"), "{}", run.stderr());
    for (file, expected) in [
        ("fine.parquet", "it has INT96 instants that are finer than microseconds"),
        ("brotli.parquet", "it is compressed with brotli, which csv-agent does not read"),
    ] {
        let run = bench.run(["ingest", "-v", file]).fails_with(5);
        assert!(run.stderr().contains(expected), "{}", run.stderr());
    }
    let torn = fs::read(bench.path("pandas.parquet")).unwrap();
    fs::write(bench.path("torn.parquet"), &torn[..torn.len() - 9]).unwrap();
    let run = bench.run(["ingest", "-v", "torn.parquet"]).fails_with(5);
    assert!(run.stderr().contains("damaged or cut short"), "{}", run.stderr());
}

#[test]
fn a_parquet_file_is_a_file_like_any_other() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "-v", "sales.csv"]).succeeds();
    let parquet = bench.session().join("datasets/sales.parquet");
    fs::copy(&parquet, bench.path("copy.parquet")).unwrap();
    let run = bench.run(["ingest", "-v", "copy.parquet"]).succeeds();
    assert!(run.stderr().contains("`copy`: 10 rows, 3 columns, Parquet"), "{}", run.stderr());
    assert!(run.stdout().contains("added"), "{}", run.stdout());
    assert!(bench.run(["ingest", "-v", "copy.parquet"]).succeeds().stdout().contains("unchanged"));
    let schema = |name: &str| {
        let run = bench.run(["datasets", name, "--schema"]).succeeds();
        run.stdout().replace(name, "t")
    };
    assert_eq!(schema("copy"), schema("sales"));
    let piped = fs::read(&parquet).unwrap();
    bench.pipe(["ingest", "-v", "--name", "piped", "-"], &piped).succeeds();
    assert_eq!(schema("piped"), schema("sales"));
    let files = |of: &Path| fs::read_dir(of).unwrap().count();
    let n_files = files(parquet.parent().unwrap());
    let run = bench.run(["ingest", "-v", "--dry-run", "--name", "dry", "copy.parquet"]).succeeds();
    assert!(run.stdout().contains("dry"), "{}", run.stdout());
    assert_eq!(files(parquet.parent().unwrap()), n_files);
    // Each file for itself: what the flag fits is ingested.
    let both = [
        "ingest", "-v", "--if-exists", "replace", "--encoding", "utf-8", "copy.parquet",
        "sales.csv",
    ];
    let run = bench.run(both).fails_with(2);
    assert!(run.stderr().contains("`--encoding` does not apply to"), "{}", run.stderr());
    assert!(run.stdout().contains("sales"), "{}", run.stdout());
}
