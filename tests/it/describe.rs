//! `describe`, against numbers that are known.

use std::fs;

use serde_json::{Value, json};

use crate::bench::Bench;

/// Describes files and datasets as JSON.
#[track_caller]
fn described(bench: &Bench, arguments: &[&str]) -> Value {
    let run = bench.run(["describe", "--json"].iter().chain(arguments)).succeeds();
    serde_json::from_str(run.stdout()).unwrap()
}

/// Describes a file of this text.
#[track_caller]
fn columns(csv: &str) -> Vec<Value> {
    let bench = Bench::with([]);
    fs::write(bench.path("t.csv"), csv).unwrap();
    let described = described(&bench, &["t.csv"]);
    assert!(!bench.session().exists());
    described[0]["columns"].as_array().unwrap().clone()
}

/// Checks some members of a column.
#[track_caller]
fn check(column: &Value, expected: &Value) {
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&column[name], value, "{name} of {column}");
    }
}

#[test]
fn numbers_have_the_statistics_that_are_computed_by_hand() {
    let found = columns("n,x\n1,0.5\n2,\n3,1.5\n4,2.5\n10,2.5\n");
    // The deviation is the root of 50 / 4; quartiles are at the places 1, 2 and 3 of 0 to 4.
    check(
        &found[0],
        &json!({"name": "n", "type": "int64", "nulls": 0, "distinct": 5, "min": 1, "max": 10,
            "distinct_is_estimate": false, "mean": 4.0, "std": 12.5_f64.sqrt(), "q25": 2.0,
            "median": 3.0, "q75": 4.0, "is_key": true}),
    );
    check(
        &found[1],
        &json!({"type": "float64", "nulls": 1, "distinct": 3, "min": 0.5, "max": 2.5, "mean": 1.75,
            "q25": 1.25, "median": 2.0, "q75": 2.5, "is_key": false,
            "top": [{"value": 2.5, "count": 2}, {"value": 0.5, "count": 1},
                {"value": 1.5, "count": 1}]}),
    );
}

#[test]
fn numbers_that_cannot_be_measured_are_said_and_the_others_measured() {
    let found = columns(
        "id,x\n9007199254740993,1.5\n9007199254740994,inf\n9007199254740995,2.5\n9007199254740996,-inf\n",
    );
    let nothing = json!(null);
    check(
        &found[0],
        &json!({"type": "int64", "min": "9007199254740993", "max": "9007199254740996",
            "distinct": 4, "mean": nothing, "std": nothing, "median": nothing, "histogram": [],
            "notes": ["numbers beyond 2^53 would be rounded, so they are not measured"]}),
    );
    check(
        &found[1],
        &json!({"type": "float64", "nulls": 0, "distinct": 4, "min": 1.5, "max": 2.5, "mean": 2.0,
            "median": 2.0, "notes": ["2 values are not finite, and only counted"]}),
    );
    let bins = found[1]["histogram"].as_array().unwrap();
    assert_eq!((&bins[0]["count"], &bins[9]["count"]), (&json!(1), &json!(1)), "{bins:?}");
}

#[test]
fn bins_have_every_value_once() {
    let days = (1..=28).map(|day| format!("{day},2024-02-{day:02},{},x\n", f64::from(day) / 7.0));
    let found = columns(&format!("n,day,f,t\n{}", days.collect::<String>()));
    for (column, n_bins) in found.iter().zip([10, 10, 10, 0]) {
        let bins = column["histogram"].as_array().unwrap();
        assert_eq!(bins.len(), n_bins, "{column}");
        let sum: u64 = bins.iter().map(|it| it["count"].as_u64().unwrap()).sum();
        assert_eq!(sum, if n_bins == 0 { 0 } else { 28 }, "{column}");
    }
    // 28 whole numbers in 10 bins whose ends are in them.
    let bins = found[0]["histogram"].as_array().unwrap();
    let mut next = 1;
    for bin in bins {
        let [from, to, count] = ["from", "to", "count"].map(|it| bin[it].as_i64().unwrap());
        assert_eq!((from, count), (next, to - from + 1), "{bins:?}");
        next = to + 1;
    }
    assert_eq!(next, 29);
    check(
        &found[1],
        &json!({"type": "date", "min": "2024-02-01", "max": "2024-02-28", "mean": "2024-02-14",
            "q25": "2024-02-07", "std": null}),
    );
    let first = &found[1]["histogram"][0];
    assert_eq!(first["from"], "2024-02-01");
    // Few whole numbers have a bin each.
    let flags = columns("f\n0\n1\n1\n");
    let bins = json!([{"from": 0, "to": 0, "count": 1}, {"from": 1, "to": 1, "count": 2}]);
    assert_eq!(flags[0]["histogram"], bins);
}

#[test]
fn the_numbers_are_those_of_duckdb() {
    // Computed with DuckDB 2.0.1: SUMMARIZE, and quantile_cont for the quartiles.
    let bench = Bench::with([]);
    let sales = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sql/data/sales.csv");
    let described = described(&bench, &[sales]);
    let columns = described[0]["columns"].as_array().unwrap();
    let column = |name: &str| columns.iter().find(|it| it["name"] == name).unwrap();
    check(
        column("price"),
        &json!({"nulls": 24, "distinct": 87, "min": 1.28, "max": 99.64, "q25": 3.5, "median": 10.0,
            "q75": 46.94}),
    );
    let near = |found: &Value, expected: f64| {
        let found = found.as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    };
    near(&column("price")["mean"], 26.991_436_464_088_4);
    near(&column("price")["std"], 30.861_213_235_541_335);
    check(
        column("order_date"),
        &json!({"nulls": 8, "distinct": 168, "min": "2023-01-02", "max": "2024-12-19"}),
    );
    check(
        column("region"),
        &json!({"nulls": 33, "distinct": 4, "top": [{"value": "South", "count": 53},
            {"value": "North", "count": 42}, {"value": "West", "count": 42},
            {"value": "East", "count": 35}]}),
    );
}

#[test]
fn a_table_without_rows_or_values_is_described() {
    let nothing = json!({"nulls": 0, "distinct": 0, "min": null, "max": null, "mean": null,
        "median": null, "top": [], "histogram": [], "is_key": false});
    for column in columns("a,b\n") {
        check(&column, &nothing);
    }
    let found = columns("a,b,c\n1,,x\n2,,x\n");
    check(&found[1], &json!({"nulls": 2, "distinct": 0, "min": null, "is_key": false}));
    check(&found[2], &json!({"nulls": 0, "distinct": 1, "is_key": false}));
    let one = columns("n,t\n7,x\n");
    check(
        &one[0],
        &json!({"min": 7, "max": 7, "mean": 7.0, "std": null, "median": 7.0, "is_key": false,
            "histogram": [{"from": 7, "to": 7, "count": 1}]}),
    );
    let bench = Bench::with([]);
    fs::write(bench.path("nothing.csv"), "").unwrap();
    let run = bench.run(["describe", "nothing.csv"]).fails_with(5);
    assert!(run.stderr().contains("nothing.csv"), "{run}");
}

#[test]
fn what_ingest_knows_of_a_column_is_said() {
    let found = columns("price,share,ok\n$1.50,10%,yes\n$2.50,20%,no\n$3.50,30%,yes\n");
    assert_eq!(found[0]["meaning"], json!({"kind": "money", "currency": "USD"}));
    assert_eq!(found[1]["meaning"], json!({"kind": "percent"}));
    assert_eq!(found[2]["meaning"], json!({"kind": "yes_no"}));
    assert_eq!(found[0]["notes"][0], "money in USD");
}

#[test]
fn every_format_has_a_row_a_column() {
    let bench = Bench::with(["sales.csv"]);
    let of = |format: &str| {
        let run = bench.run(["describe", "sales.csv", "--format", format]).succeeds();
        run.stdout().to_owned()
    };
    let n_columns = described(&bench, &["sales.csv"])[0]["columns"].as_array().unwrap().len();
    assert_eq!(of("csv").lines().count(), 1 + n_columns);
    assert_eq!(of("tsv"), of("text"));
    assert_eq!(of("md").lines().count(), 2 + n_columns);
    assert_eq!(of("jsonl").lines().count(), 1);
    assert!(of("csv").starts_with("dataset,column,type,nulls,distinct,min,max,mean,std,q25,"));
}

#[test]
fn a_cell_cannot_steer_a_terminal() {
    let bench = Bench::with([]);
    fs::write(bench.path("t.csv"), "a\n\u{1b}[31mred\u{1b}[0m\n\u{1b}[31mred\u{1b}[0m\n").unwrap();
    let terminal = "script -qec 'csv-agent describe t.csv --color never' /dev/null";
    for command in ["csv-agent describe t.csv", "csv-agent describe t.csv --format md", terminal] {
        let run = bench.shell(command, &[]).succeeds();
        assert!(run.stdout().contains("red"), "{run}");
        assert!(!run.stdout().contains('\u{1b}'), "{run}");
    }
    // In JSON it is escaped, and means the same.
    let run = bench.run(["describe", "t.csv", "--json"]).succeeds();
    assert!(!run.stdout().contains('\u{1b}'), "{run}");
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(document[0]["columns"][0]["top"][0]["value"], "\u{1b}[31mred\u{1b}[0m");
}

#[test]
fn arguments_are_files_or_datasets_in_their_order() {
    let bench = Bench::with(["sales.csv"]);
    fs::write(bench.path("a.csv"), "x\n1\n").unwrap();
    let names = |arguments: &[&str]| -> Vec<String> {
        let documents = described(&bench, arguments);
        let names = documents.as_array().unwrap().iter();
        names.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["sales.csv", "a.csv"]), ["sales", "a"]);
    assert_eq!(names(&["*.csv"]), ["a", "sales"]);
    let run = bench.run(["describe", "sales"]).fails_with(5);
    assert!(run.stderr().contains("no dataset `sales`"), "{run}");
    assert!(!bench.session().exists());
    bench.run(["ingest", "sales.csv"]).succeeds();
    assert_eq!(names(&[]), ["sales"]);
    assert_eq!(names(&["sal*"]), ["sales"]);
    assert_eq!(names(&["sales", "a.csv"]), ["a", "sales"]);
    let run = bench.run(["describe", "sale"]).fails_with(5);
    assert!(run.stderr().contains("did you mean `sales`?"), "{run}");
    let run = bench.run(["describe", "missing.csv"]).fails_with(5);
    assert!(run.stderr().contains("missing.csv"), "{run}");
}

#[test]
fn neither_python_nor_a_key_is_needed() {
    let bench = Bench::with(["sales.csv"]);
    let script = "PATH=$(dirname $(command -v csv-agent)); csv-agent describe sales.csv --json";
    let run = bench.shell(script, &[]).succeeds();
    assert!(run.stdout().starts_with("[{"), "{run}");
}

#[test]
fn a_file_that_cannot_be_read_does_not_hide_the_others() {
    let bench = Bench::with(["sales.csv"]);
    fs::write(bench.path("empty.csv"), "").unwrap();
    let run = bench.run(["describe", "empty.csv", "sales.csv", "--format", "csv"]).fails_with(5);
    assert!(run.stdout().contains("sales,revenue,"), "{run}");
    assert!(run.stderr().contains("empty.csv"), "{run}");
    fs::create_dir(bench.path("d")).unwrap();
    fs::write(bench.path("d/a.csv"), "x\n1\n").unwrap();
    fs::write(bench.path("d/broken.csv"), "").unwrap();
    let arguments = ["describe", "empty.csv", "no.csv", "d", "--format", "csv"];
    let run = bench.run(arguments).fails_with(5);
    assert!(run.stdout().contains("a,x,int64,"), "{run}");
    let told = |it: &str| run.stderr().matches(it).count();
    let each = ["warning: cannot read `d/broken.csv`", "error: cannot read `empty.csv`"];
    assert_eq!((each.map(told), told("error: cannot read `no.csv`")), ([1, 1], 1), "{run}");
}
