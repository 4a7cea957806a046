//! Datasets as CSV, and how pandas and others read it.

use std::fs::{self, File};
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use csv_agent_ingest::{csv_of, reading_recipe, table_of_csv};
use csv_agent_types::catalog::Column;
use csv_agent_types::limits::{TABLE_CELLS_MAX, TABLE_ROWS_MAX};

use crate::bench::Bench;
use crate::parquet::python;

/// Ingests a file as dataset `t`, writes `t.csv` and, into `recipe.py`, how to read it; returns what the
/// catalogue has of it.
#[track_caller]
fn carry(bench: &Bench, file: &str) -> Value {
    let run = bench.run(["ingest", "--name", "t", "--if-exists", "replace", "--json", file]);
    let mut datasets: Vec<Value> = serde_json::from_str(run.succeeds().stdout()).unwrap();
    let dataset = datasets.remove(0);
    let columns: Vec<Column> = serde_json::from_value(dataset["columns"].clone()).unwrap();
    let parquet = bench.session().join("datasets/t.parquet");
    let mut csv = File::create(bench.path("t.csv")).unwrap();
    csv_of(&parquet, &mut csv, u64::MAX).unwrap();
    let recipe = reading_recipe("t", &columns).replace("/mnt/data/t.csv", "t.csv");
    fs::write(bench.path("recipe.py"), recipe).unwrap();
    dataset
}

/// Has pandas read a dataset's CSV as the recipe says: the values have to be those of the REPL. Then the
/// CSV is read back as a table.
#[track_caller]
fn check(bench: &Bench, file: &str) {
    let dataset = carry(bench, file);
    let parquet = bench.session().join("datasets/t.parquet");
    python(bench, &format!("parquet = {:?}\n{SAME}", parquet.display().to_string()));
    let (csv, back) = (bench.path("t.csv"), bench.path("back.parquet"));
    let frame = table_of_csv(
        &csv,
        "t.csv",
        &back,
        TABLE_ROWS_MAX,
        TABLE_CELLS_MAX,
        &AtomicBool::new(false),
    )
    .unwrap();
    let names =
        dataset["columns"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap());
    assert_eq!(frame.columns, names.collect::<Vec<_>>(), "{file}");
    assert_eq!(frame.row_count, dataset["row_count"].as_u64().unwrap(), "{file}");
}

/// Compares what `load` gives in the REPL, which is done here as there, with what the recipe reads.
const SAME: &str = r#"
import datetime, warnings
import pandas as pd, pyarrow as pa, pyarrow.parquet as pq

table = pq.read_table(parquet)
nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
exact = [it.name for it in table.schema if it.type in nullable and table[it.name].null_count]
exact = table.select(exact).to_pandas(types_mapper=nullable.get)
loaded = table.to_pandas()
for name in exact:
    loaded[name] = exact[name]

with warnings.catch_warnings():
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", "The 'float_precision' argument is deprecated")
    with open("recipe.py", encoding="utf-8") as recipe:
        read = eval(recipe.read())
assert list(read) == list(loaded), (list(read), list(loaded))
assert len(read) == len(loaded), (len(read), len(loaded))
for name in loaded:
    wanted, found = loaded[name], read[name]
    kind = table.schema.field(name).type
    what = f"{name}: {kind}"
    if pa.types.is_date(kind):
        wanted = wanted.map(lambda it: it and datetime.datetime.combine(it, datetime.time()))
        found = found.astype(object).where(found.notna(), None)
    elif pa.types.is_time(kind):
        found = found.map(lambda it: None if pd.isna(it) else datetime.time.fromisoformat(it))
    elif len(loaded) and int(pd.__version__.split(".")[0]) >= 3:
        assert found.dtype == wanted.dtype, (what, found.dtype, wanted.dtype)
    missing = wanted.isna()
    assert missing.tolist() == found.isna().tolist(), (what, wanted.tolist(), found.tolist())
    wanted, found = wanted[~missing].tolist(), found[~missing].tolist()
    assert wanted == found, (what, [it for it in zip(wanted, found) if it[0] != it[1]][:5])
"#;

const TANGLED: &str = r#"
from datetime import date, datetime, time, timedelta
from decimal import Decimal as D
import pyarrow as pa, pyarrow.parquet as pq

def column(values, type=None):
    return pa.array([values[0], None, *values[1:]], type)

pq.write_table(pa.table({
    "full": pa.array([2**63 - 1, -2**63, 0, 2**53 + 1]),
    "uint64": column([2**63 - 1, 0, 2**53 + 1], pa.uint64()),
    "uint64_over": column([2**64 - 1, 0, 1], pa.uint64()),
    "half": column([0.5, 2.0, 3.0], pa.float32()).cast(pa.float16()),
    "float": column([0.1, 2.5, 3.0], pa.float32()),
    "double": column([0.30000000000000004, 5e-324, 1.7976931348623157e308]),
    "whole": pa.array([1.0, 2.0, 1e22, -0.0]),
    "odd": column([float("nan"), float("inf"), float("-inf")]),
    "no_odd": pa.array([float("nan"), 1.0, 2.0, 3.0], from_pandas=False),
    "bool": column([True, False, True]),
    "full bool": pa.array([True, False, True, False]),
    "text": pa.array(["007", "NA", "", "null"]),
    "with, \"quotes\"": column(["a,b", "say \"no\"", " blanks "]),
    "it's": column(["1\n2", "3\r\n4", "5\r6"]),
    "digits": column(["12345678901234567890", "1e5", "0x10"]),
    "words": column(["true", "NaN", "nan"]),
    "day": column([date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)]),
    "at": column([datetime(2024, 2, 29, 12), datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999)]),
    "seconds": pa.array([datetime(2024, 2, 29, 12)] * 4),
    "millis": column([1, -1, 0], pa.timestamp("ms")),
    "nanos": column([1000, -1000, 0], pa.timestamp("ns")),
    "fine": column([1001, -1, 0], pa.timestamp("ns")),
    "utc": column([1, 2_000_000, 0], pa.timestamp("us", "UTC")),
    "berlin": column([1, 2, 0], pa.timestamp("ms", "Europe/Berlin")),
    "time": column([time(9, 30), time(23, 59, 59, 999999), time(0)]),
    "span": column([timedelta(seconds=5), timedelta(days=-1), timedelta(0)]),
    "money": column([D("1.50"), D("-2.25"), D("3.00")]),
    "precise": column([D("12345678901234567.89"), D("0.01"), D("1.00")]),
    "bytes": column([b"\x00\xff", b"b", b"a"]),
    "list": column([[1, None], [], [2]]),
    "struct": column([{"a": 1, "b": "x, \"y\""}, {"a": None, "b": ""}, {"a": 2, "b": "z"}]),
    "nothing": pa.nulls(4),
}), "tangled.parquet")
one = {"text": ["x", None, "y"], "int": [1, None, 3], "float": [1.5, None, 2.0], "bool": [True, None, False],
       "day": [date(2024, 1, 1), None, date(2024, 1, 2)], "time": [time(1), None, time(2)]}
for name, values in one.items():
    pq.write_table(pa.table({name: values}), f"one_{name}.parquet")
pq.write_table(pa.table({"a": pa.array([], pa.string()), "n": pa.array([], pa.int64())}), "empty.parquet")
"#;

#[test]
fn pandas_reads_values_of_every_type_as_the_repl_has_them() {
    let bench = Bench::with([]);
    python(&bench, TANGLED);
    check(&bench, "tangled.parquet");
    check(&bench, "empty.parquet");
}

#[test]
fn a_missing_value_that_is_alone_in_its_row_is_a_row() {
    let bench = Bench::with([]);
    python(&bench, TANGLED);
    for name in ["text", "int", "float", "bool", "day", "time"] {
        check(&bench, &format!("one_{name}.parquet"));
    }
}

#[test]
fn pandas_reads_what_was_ingested_as_the_repl_has_it() {
    let files = [
        "big_ints.csv",
        "blank_lines.csv",
        "bom.csv",
        "duplicate_names.csv",
        "evil.csv",
        "instants.csv",
        "latin1.csv",
        "leading_zeros.csv",
        "long_digits.csv",
        "mixed_types.csv",
        "nan.csv",
        "null_markers.csv",
        "ragged.csv",
        "sales.csv",
        "stray_quotes.csv",
        "unnamed_index.csv",
    ];
    let bench = Bench::with(files);
    for file in files {
        check(&bench, file);
    }
}

const WIDE: &str = r#"
from datetime import date, datetime
import pyarrow as pa, pyarrow.parquet as pq

kinds = [["007", None], [2**60 + 1, None], [True, None], [0.1 + 0.2, None], [date(2024, 2, 29), None],
         [datetime(2024, 2, 29, 12), None]]
pq.write_table(pa.table({f"column {at}": kinds[at % len(kinds)] for at in range(300)}), "wide.parquet")
"#;

/// Reads all as text and does what the comment says.
const CONVERTED: &str = r#"
import pandas as pd
with open("recipe.py", encoding="utf-8") as recipe:
    recipe = recipe.read()
read, (code, words) = eval(recipe), recipe.split("  # ")
whole = read["column 1"].replace("", pd.NA).astype("Int64")
assert whole[0] == 2**60 + 1 and whole[1] is pd.NA, whole
floats = read["column 3"].replace("", "nan").astype("float64")
assert floats[0] == 0.1 + 0.2 and pd.isna(floats[1]), floats
truths = read["column 2"].map({"true": True, "false": False})
assert truths[0] == True and pd.isna(truths[1]), truths
days = pd.to_datetime(read["column 4"])
assert days[0] == pd.Timestamp("2024-02-29") and pd.isna(days[1]), days
moments = pd.to_datetime(read["column 5"])
assert moments[0] == pd.Timestamp("2024-02-29 12:00") and pd.isna(moments[1]), moments
assert read["column 0"].tolist() == ["007", ""]
for conversion in ['.replace("", pd.NA).astype("Int64")', '.replace("", "nan").astype("float64")',
                   '.map({"true": True, "false": False})', "pd.to_datetime()"]:
    assert conversion in words, conversion
"#;

#[test]
fn a_dataset_of_too_many_names_is_read_as_text_and_converted() {
    let bench = Bench::with([]);
    python(&bench, WIDE);
    carry(&bench, "wide.parquet");
    python(&bench, CONVERTED);
}
