//! `query`: statements give what DuckDB gives, or are refused with the way to say it.
//!
//! `tests/sql/golden.jsonl` has the answers of DuckDB, written by `tests/sql/golden.py`, and
//! `golden_random.jsonl` those to random statements, written by `random_statements.py`.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;

use csv_agent_ingest::{IngestOptions, rows};
use csv_agent_query::protocol::{EngineQuery, EngineRequest};
use csv_agent_query::{Prepared, TableSchema, engine, names_its_columns, prepare};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::frame::Frame;
use csv_agent_worker::engine::table_of;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::bench::{Bench, Run};

/// Statements whose answer differs from DuckDB's on purpose.
const DIFFERENT: &[(&str, &str)] = &[
    ("agg/sum-overflow", "a sum beyond 64 bits is an error"),
    ("date/ts-diff", "a time difference has no column"),
    ("hunt4/lower-tr", "lower case of İ keeps its dot, as Unicode has it"),
    ("hunt4/numeric-round-g", "a decimal is rounded once, as PostgreSQL does"),
    ("misc/explain", "types have their names in lower case"),
    ("hunt2/fmt-n", "%n is a line feed"),
    ("hunt4/cast-real", "every float has 64 bits"),
];

/// Statements that DuckDB refuses, in the words of other databases, or because its types are narrower.
const OURS: &[&str] = &[
    "agg/listagg",
    "agg/bool-and",
    "str/initcap",
    "null/ifnull",
    "null/if",
    "hunt2/lit-mul",
    "hunt2/cast-int-range",
    "hunt2/fmt-d",
    "hunt2/fmt-F",
    "hunt3/int32-mul",
];

/// Of a hundred statements of daily work, how many may be refused.
const REFUSED_MAX: usize = 5;

/// The datasets of `tests/sql/data`, ingested.
struct Data {
    bench: Bench,
    tables: Vec<TableSchema>,
}

impl Data {
    fn ingested() -> Data {
        let bench = Bench::with([]);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql/data");
        let mut files: Vec<PathBuf> =
            fs::read_dir(&source).unwrap().map(|it| it.unwrap().path()).collect();
        files.retain(|it| !it.ends_with("empty.csv"));
        files.sort();
        let files = files.iter().map(|it| it.to_str().unwrap());
        bench.run(["ingest", "-q"].into_iter().chain(files)).succeeds();
        let empty = source.join("empty.csv");
        let types = [
            "--dtype", "id=int64", "--dtype", "x=int64", "--dtype", "y=float64", "--dtype",
            "d=date",
        ];
        let ingest = ["ingest", "-q", empty.to_str().unwrap()];
        bench.run(ingest.into_iter().chain(types)).succeeds();
        let text = fs::read(bench.session().join("datasets.json")).unwrap();
        let catalog: Catalog = serde_json::from_slice(&text).unwrap();
        let tables = catalog.iter().map(|(name, it)| table_of(name, it)).collect();
        Data { bench, tables }
    }

    /// Returns the whole result of a statement, or why there is none.
    fn run(&self, sql: &str) -> Result<Frame, String> {
        self.run_prepared(self.prepared(sql)?)
    }

    /// Returns the same without the places of its rows, after they were found.
    fn run_with_places(&self, sql: &str) -> Result<Frame, String> {
        let mut prepared = self.prepared(sql)?;
        let origin = prepared.with_row_origin();
        let mut frame = self.run_prepared(prepared)?;
        if let Some(origin) = origin {
            assert_eq!(frame.columns.pop(), Some(origin.column));
            frame.dtypes.pop();
            frame.rows.iter_mut().for_each(|it| _ = it.pop());
        }
        Ok(frame)
    }

    /// Returns whether a statement means the same without the columns that `query -f` would not store for it.
    fn needs_named_columns_only(&self, sql: &str) -> bool {
        let statement = names_its_columns(sql).then(|| sql.into());
        let options = IngestOptions { statement, ..IngestOptions::default() };
        let mut tables = self.tables.clone();
        for table in &mut tables {
            let stored = options.stored(table.columns.iter().map(|it| it.0.as_str()));
            let mut stored = stored.into_iter();
            table.columns.retain(|_| stored.next().unwrap());
        }
        let output = |tables: &[TableSchema]| {
            let prepared = prepare(sql, tables, 1_700_000_000_000_000).ok()?;
            let columns = prepared.query.output.into_iter().map(|it| (it.name, it.dtype));
            Some(columns.collect::<Vec<_>>())
        };
        output(&tables) == output(&self.tables)
    }

    fn prepared(&self, sql: &str) -> Result<Prepared, String> {
        prepare(sql, &self.tables, 1_700_000_000_000_000).map_err(|it| it.message)
    }

    fn run_prepared(&self, prepared: Prepared) -> Result<Frame, String> {
        let path = |name: &String| self.bench.session().join(format!("datasets/{name}.parquet"));
        let tables = prepared.tables.iter().map(|it| (it.clone(), path(it))).collect();
        let dir = TempDir::new().unwrap();
        let output = dir.path().join("result.parquet");
        let request = EngineRequest {
            queries: vec![EngineQuery { query: prepared.query, output: output.clone() }],
            tables,
        };
        engine::run(&request).map_err(|it| it.to_string())?;
        Ok(rows(&output, 0, usize::MAX).unwrap())
    }
}

/// The text that rows without an order are sorted by, as `golden.py` makes it.
fn key(row: &[Value]) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::Null => "0".to_owned(),
        Value::Bool(it) => format!("1{it}"),
        Value::Number(it) => {
            let text = format!("{:.5e}", it.as_f64().unwrap());
            let (digits, exponent) = text.split_once('e').unwrap();
            let exponent: i32 = exponent.parse().unwrap();
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("2{digits}e{sign}{:02}", exponent.abs())
        }
        other => format!("3{}", other.as_str().unwrap()),
    };
    row.iter().map(text).collect()
}

/// Compares two cells; numbers with a relative tolerance of 1e-9.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()) + 1e-12
        }
        (Value::String(a), Value::String(b)) => {
            let plain = |it: &str| {
                let it = it.replace('T', " ").replace('Z', "");
                if it.contains(':') {
                    it.trim_end_matches('0').trim_end_matches('.').to_owned()
                } else {
                    it
                }
            };
            a == b || plain(a) == plain(b)
        }
        (a, b) => a == b,
    }
}

/// Returns how a result differs from the golden one.
fn difference(frame: &Frame, golden: &Value) -> Option<String> {
    let theirs = golden["rows"].as_array().unwrap();
    if frame.row_count != golden["n_rows"].as_u64().unwrap() {
        return Some(format!("{} rows instead of {}", frame.row_count, golden["n_rows"]));
    }
    let mut ours = frame.rows.clone();
    for row in &mut ours {
        for (cell, dtype) in row.iter_mut().zip(golden["types"].as_array().unwrap()) {
            // Whole numbers beyond 2^53 are texts.
            if *dtype == "BIGINT" || *dtype == "HUGEINT" {
                let number = cell.as_str().and_then(|it| it.parse::<i64>().ok());
                *cell = number.map_or(cell.take(), Value::from);
            } else if *dtype == "DOUBLE" && cell == "NaN" {
                *cell = Value::from("nan");
            }
        }
    }
    if !golden["ordered"].as_bool().unwrap() {
        ours.sort_by_key(|it| key(it));
    }
    for (ours, theirs) in ours.iter().zip(theirs) {
        let theirs = theirs.as_array().unwrap();
        if ours.len() != theirs.len() || !ours.iter().zip(theirs).all(|(a, b)| is_same(a, b)) {
            return Some(format!("{ours:?} instead of {theirs:?}"));
        }
    }
    None
}

/// Compares results whose rows may be in another order.
fn is_same_result(one: &Frame, other: &Frame) -> bool {
    let sorted = |frame: &Frame| {
        let mut rows: Vec<Vec<String>> = frame.rows.iter().map(|it| key(it)).collect();
        rows.sort();
        rows
    };
    one.columns == other.columns && sorted(one) == sorted(other)
}

/// How statements compare with DuckDB.
#[derive(Default)]
struct Compared {
    n_daily: usize,
    /// Daily ones that are refused here.
    refused: Vec<String>,
    wrong: Vec<String>,
}

/// Runs the statements of a file of `tests/sql`.
fn compared(file: &'static str) -> Compared {
    // polars descends into expressions: the engine has such a stack too.
    let thread = thread::Builder::new().stack_size(256 << 20).spawn(move || compare(file));
    thread.unwrap().join().unwrap()
}

fn compare(file: &str) -> Compared {
    let data = Data::ingested();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sql").join(file);
    let golden = fs::read_to_string(path).unwrap();
    let different: BTreeMap<&str, &str> = DIFFERENT.iter().copied().collect();
    let Compared { mut n_daily, mut refused, mut wrong } = Compared::default();
    for line in golden.lines() {
        let golden: Value = serde_json::from_str(line).unwrap();
        let (name, sql) = (golden["name"].as_str().unwrap(), golden["sql"].as_str().unwrap());
        let is_daily = !name.starts_with("hunt");
        n_daily += usize::from(is_daily);
        match (data.run(sql), golden["error"].as_str()) {
            (Err(_), Some(_)) => {}
            (Ok(_), Some(_)) if OURS.contains(&name) => {}
            (Ok(_), Some(error)) => {
                wrong.push(format!("{name}: {sql}\n  DuckDB refuses it: {error}"));
            }
            (Err(reason), None) => {
                if is_daily && !different.contains_key(name) {
                    refused.push(format!("{name}: {sql}\n  {reason}"));
                }
            }
            (Ok(frame), None) => match difference(&frame, &golden) {
                Some(found) if !different.contains_key(name) => {
                    wrong.push(format!("{name}: {sql}\n  {found}"));
                }
                None if different.contains_key(name) => {
                    wrong.push(format!("{name}: it is the same"));
                }
                _ if !data.needs_named_columns_only(sql) => {
                    wrong.push(format!("{name}: {sql}\n  it reads a column that it does not name"));
                }
                _ => match data.run_with_places(sql) {
                    Err(reason) => wrong.push(format!("{name}: with places: {reason}")),
                    Ok(placed) if is_same_result(&placed, &frame) => {}
                    Ok(_) => wrong.push(format!("{name}: {sql}\n  places change its rows")),
                },
            },
        }
    }
    assert!(n_daily != 0, "{file} is empty");
    Compared { n_daily, refused, wrong }
}

#[test]
fn a_statement_without_data_needs_no_session() {
    let bench = Bench::with([]);
    let run = bench.run(["query", "select 1 + 1 as a"]).succeeds();
    assert_eq!(run.stdout(), "| a |\n|---:|\n| 2 |\n");
    assert!(!bench.session().exists());
    let run =
        bench.shell("unset CSV_AGENT_SESSION_DIR; csv-agent query 'select 1 from orders'", &[]);
    let run = run.fails_with(3);
    assert!(run.stderr().starts_with("error: no session here"), "{run}");
}

#[test]
fn statements_give_what_duckdb_gives_or_are_refused() {
    let Compared { n_daily, refused, wrong } = compared("golden.jsonl");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    let is_enough = refused.len() * 100 <= REFUSED_MAX * n_daily;
    assert!(is_enough, "{} of {n_daily} are refused:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn random_statements_give_what_duckdb_gives() {
    let Compared { refused, wrong, .. } = compared("golden_random.jsonl");
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused.is_empty(), "{} are refused:\n{}", refused.len(), refused.join("\n"));
}

#[test]
fn a_statement_about_a_file_reads_the_columns_that_it_names() {
    let bench = Bench::with([]);
    let rows = "Order ID,a.b,Größe,total,all\n1,x,2,2.5,p\n2,y,3,1.5,q\n";
    fs::write(bench.path("t.csv"), rows).unwrap();
    bench.run(["ingest", "-q", "t.csv"]).succeeds();
    let statements = [
        "select * from t",
        "select distinct * from t order by 1",
        "select t.* from t",
        "select 1 as one, * from t",
        "select count(*) from t",
        "select count(*), 2 * total from t group by all order by 2",
        "select \"order id\", größe from t",
        "select sum(a.\"ORDER ID\") from t a natural join t b",
        "select * exclude (total) from t",
        "with x as (select total from t) select * from x",
        "from t",
        "select \"a.b\" from t where exists (select 1 from t)",
    ];
    for sql in statements {
        let stored = bench.run(["query", "--format", "csv", sql]);
        let read = bench.run(["query", "--format", "csv", "-f", "t.csv", sql]);
        assert_eq!(read.stdout(), stored.stdout(), "{sql}: {read}");
        assert_eq!(read.stderr(), stored.stderr(), "{sql}: {read}");
    }
}

/// Runs a statement over `sales.csv` of the working directory.
fn query(bench: &Bench, arguments: &[&str]) -> Run {
    bench.run(["query", "-f", "sales.csv"].into_iter().chain(arguments.iter().copied()))
}

#[test]
fn an_infinite_number_is_no_missing_value_but_in_json_that_has_none() {
    let bench = Bench::with(["sales.csv"]);
    let sql =
        "select 1.0 / 0 as a, -1.0 / 0 as b, 0.0 / 0 as c, null::double as d from sales limit 1";
    let text =
        |format: &str| query(&bench, &["--format", format, sql]).succeeds().stdout().to_owned();
    assert_eq!(text("csv"), "a,b,c,d\ninf,-inf,NaN,\n");
    assert_eq!(text("tsv"), "a\tb\tc\td\ninf\t-inf\tNaN\t\n");
    assert!(text("md").ends_with("| inf | -inf | NaN |  |\n"), "{}", text("md"));
    assert_eq!(text("jsonl"), "{\"a\":null,\"b\":null,\"c\":null,\"d\":null}\n");
    // What was written is read as the same numbers.
    query(&bench, &["-o", "out.csv", sql]).succeeds();
    let again =
        bench.run(["query", "-f", "out.csv", "--format", "csv", "select a + 1 as a, b from out"]);
    assert_eq!(again.succeeds().stdout(), "a,b\ninf,-inf\n");
}

#[test]
fn a_result_is_the_same_in_every_format() {
    let bench = Bench::with(["sales.csv"]);
    let sql = "select product, count(*) as n from sales group by 1 order by 1 limit 2";
    let rows: Value =
        serde_json::from_str(query(&bench, &["--json", sql]).succeeds().stdout()).unwrap();
    let lines = query(&bench, &["--format", "jsonl", sql]).succeeds();
    let lines: Vec<Value> =
        lines.stdout().lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(rows, Value::Array(lines));
    let cell = |row: usize, name: &str| rows[row][name].to_string().replace('"', "");
    for (format, separator) in [("csv", ","), ("tsv", "\t")] {
        let text = query(&bench, &["--format", format, sql]).succeeds().stdout().to_owned();
        let lines = (0..2).map(|row| [cell(row, "product"), cell(row, "n")].join(separator));
        let lines: Vec<String> =
            [["product", "n"].join(separator)].into_iter().chain(lines).collect();
        assert_eq!(
            text,
            lines.join(
                "
"
            ) + "
"
        );
    }
    let table = query(&bench, &[sql]).succeeds().stdout().to_owned();
    assert_eq!(table, query(&bench, &["--format", "md", sql]).succeeds().stdout());
    assert!(table.starts_with("| product | n |\n"), "{table}");
    query(&bench, &["-o", "out.parquet", sql]).succeeds();
    let again = bench.run(["query", "-f", "out.parquet", "--json", "select * from out"]).succeeds();
    assert_eq!(serde_json::from_str::<Value>(again.stdout()).unwrap(), rows);
    query(&bench, &["-o", "out.csv", sql]).succeeds();
    assert_eq!(
        fs::read_to_string(bench.path("out.csv")).unwrap(),
        query(&bench, &["--format", "csv", sql]).succeeds().stdout()
    );
    assert!(!bench.path(".csv-agent").exists());
}

#[test]
fn a_result_without_rows_is_whole_in_every_format() {
    let bench = Bench::with(["sales.csv"]);
    let sql = "select revenue, product from sales where false";
    let text = |format| query(&bench, &["--format", format, sql]).succeeds().stdout().to_owned();
    assert_eq!(text("json").split_whitespace().collect::<String>(), "[]");
    assert_eq!(text("jsonl"), "");
    assert_eq!(text("csv"), "revenue,product\n");
}

#[test]
fn a_statement_that_is_refused_says_where_and_what_else_there_is() {
    let bench = Bench::with(["sales.csv"]);
    for (sql, words) in [
        (
            "select revenu from sales",
            ["no column `revenu` (line 1, column 8)", "did you mean `revenue`?"],
        ),
        ("select *\nfrom salez", ["no table `salez` (line 2, column 6)", "did you mean `sales`?"]),
        ("select lenght(product) from sales", ["no function `lenght`", "did you mean `length`?"]),
        (
            "select product, sum(revenue) from sales",
            ["neither in GROUP BY nor in an aggregate", "any_value"],
        ),
        ("select avg(product) from sales", ["`avg` takes numbers, not text", "try_cast"]),
        ("drop table sales", ["DROP is not a query", "SHOW TABLES"]),
        ("select * from read_csv('/etc/passwd')", ["is not a table", "-f FILE"]),
        ("select * from '/etc/passwd'", ["no table `/etc/passwd`", "-f '/etc/passwd'"]),
        ("select 1; select 2", ["several statements", "one after another"]),
        ("select cast(product as bigint) from sales", ["is not a whole number", "try_cast"]),
    ] {
        let run = query(&bench, &[sql]).fails_with(2);
        for part in words {
            assert!(run.stderr().contains(part), "{sql}: {}", run.stderr());
        }
        assert_eq!(run.stdout(), "");
    }
}

#[test]
fn the_name_that_is_meant_is_in_an_error_for_programs() {
    let bench = Bench::with(["sales.csv"]);
    for (sql, meant) in [
        ("select revenu from sales", json!(["revenue"])),
        ("select * from salez", json!(["sales"])),
        ("select lenght(product) from sales", json!(["length"])),
        ("select q from sales", json!([])),
    ] {
        let run = query(&bench, &["--json", sql]).fails_with(2);
        let error: Value = serde_json::from_str(run.stderr()).unwrap();
        assert_eq!(error["error"]["did_you_mean"], meant, "{sql}: {error}");
    }
}

#[test]
fn a_sum_of_floats_has_the_same_digits_in_each_run() {
    let bench = Bench::with([]);
    let value = |at: i32| f64::from(at).sin() * 1e6;
    let there = (0..100_000).map(|at| format!("{},{},{0}\n", at % 7, value(at)));
    // Each value comes again with the other sign, far from the first one.
    let back = (0..100_000).rev().map(|at| format!("{},{},{}\n", at % 7, -value(at), at % 3));
    fs::write(bench.path("t.csv"), format!("g,x,h\n{}", there.chain(back).collect::<String>()))
        .unwrap();
    bench.run(["ingest", "-q", "t.csv"]).succeeds();
    let csv =
        |sql: &str| bench.run(["query", "--format", "csv", sql]).succeeds().stdout().to_owned();
    let found = csv("select g, sum(x) as s, avg(x) as a from t group by g order by g");
    let zeros = found.lines().skip(1).filter(|it| it.ends_with(",0.0,0.0"));
    assert_eq!(zeros.count(), 7, "{found}");
    let sql = "select h, sum(x) as s, avg(x) as a from t group by h order by h";
    let first = csv(sql);
    assert!((0..3).all(|_| csv(sql) == first));
}

#[test]
fn a_query_needs_no_python_and_no_key() {
    let bench = Bench::with(["sales.csv"]);
    let mut command = bench.command([
        "query",
        "-f",
        "sales.csv",
        "--format",
        "csv",
        "select count(*) as n from sales",
    ]);
    command.env_clear().env("HOME", bench.path("nowhere")).env("PATH", "/nonexistent");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
}

#[test]
fn constants_need_not_be_finite() {
    let bench = Bench::with(["sales.csv"]);
    for (sql, expected) in [
        ("select 'nan'::double = 'nan'::double as x", "true"),
        ("select -'inf'::double < 0 as x", "true"),
        ("select count(*) as x from sales where revenue < 'Infinity'", "10"),
        ("select count(*) as x from sales where revenue in (1.5, 'inf')", "0"),
    ] {
        let run = bench.run(["query", "-f", "sales.csv", "--format", "csv", sql]).succeeds();
        assert_eq!(run.stdout(), format!("x\n{expected}\n"), "{sql}");
    }
}

#[test]
fn a_query_ends_at_its_bounds() {
    let bench = Bench::with([]);
    let rows: Vec<String> = (0..20_000).map(|it| format!("{it},{}", it % 7)).collect();
    fs::write(bench.path("n.csv"), format!("id,g\n{}\n", rows.join("\n"))).unwrap();
    bench.run(["ingest", "-q", "n.csv"]).succeeds();
    let slow = "select sum(a.id * b.id % 7) from n a, n b, n c";
    let run = bench.run(["query", "--timeout", "1s", slow]).fails_with(7);
    assert!(run.stderr().contains("longer than 1 s"), "{}", run.stderr());
    let deep = format!("select {}", vec!["1"; 20_000].join("+"));
    let run = bench.pipe(["query", "-"], deep.as_bytes()).fails_with(2);
    assert!(run.stderr().contains("levels deep"), "{}", run.stderr());
    let tables = (1..40).map(|it| {
        let before = it - 1;
        format!("t{it} as (select x.a from t{before} x cross join t{before} y)")
    });
    let tables: Vec<String> = tables.collect();
    let nested = format!("with t0 as (select 1 as a), {} select * from t39", tables.join(", "));
    let run = bench.run(["query", &nested]).fails_with(2);
    assert!(run.stderr().contains("refer to each other"), "{}", run.stderr());
    // Deep, but not too deep.
    let sum = vec!["id"; 150].join("+");
    let run =
        bench.run(["query", "--format", "csv", &format!("select {sum} as s from n where id = 2")]);
    assert_eq!(run.succeeds().stdout(), "s\n300\n");
}

/// Moves the footer of a Parquet file behind a hole: what it points to stays where it was.
fn stretch(path: &Path, hole_bytes: u64) {
    let bytes = fs::read(path).unwrap();
    let length = &bytes[bytes.len() - 8..bytes.len() - 4];
    let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
    let footer = &bytes[bytes.len() - 8 - length..];
    let mut file = OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::End(i64::try_from(hole_bytes).unwrap())).unwrap();
    file.write_all(footer).unwrap();
}

#[test]
fn a_dataset_may_be_larger_than_the_memory() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "-q", "sales.csv"]).succeeds();
    let sql = "select count(*) as n, max(revenue) as most from sales";
    let arguments = ["query", "--memory", "1GiB", "--format", "csv", sql];
    let expected = bench.run(arguments).succeeds().stdout().to_owned();
    stretch(&bench.session().join("datasets/sales.parquet"), 3 << 30);
    assert_eq!(bench.run(arguments).succeeds().stdout(), expected);
    let twice =
        "select count(*) as n from sales a join sales b using (revenue) where a.revenue is null";
    let run = bench.run(["query", "--memory", "1GiB", "--format", "csv", twice]).succeeds();
    assert_eq!(run.stdout(), "n\n0\n");
}

#[test]
fn what_needs_more_memory_than_it_may_use_says_so() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "-q", "sales.csv"]).succeeds();
    let series = |name: &str, column: &str| format!("generate_series(0, 9999) as {name}({column})");
    let (a, b) = (series("a", "i"), series("b", "j"));
    let many = format!("(select a.i * 10000 + b.j as i from {a}, {b})");
    for sql in [
        format!("select i, i % 7 as g from {many} m order by g, i"),
        format!("select distinct i, -i as j from {many} m"),
        format!("select i, count(*) as n, sum(-i) as j from {many} m group by i"),
        format!("select m.i, n.i as j from {many} m join {many} n on m.i = n.i"),
        format!("select i, lag(i) over (order by -i) as j from {many} m"),
    ] {
        let run = bench.run(["query", "--memory", "1GiB", "-o", "out.parquet", &sql]).fails_with(7);
        assert!(run.stderr().contains("needs more than 1024 MB of memory"), "{sql}: {run}");
        assert!(run.stderr().contains("`--memory`"), "{sql}: {run}");
        assert!(!bench.path("out.parquet").exists(), "{sql}");
    }
}

#[test]
fn a_format_that_the_name_of_the_file_does_not_say_is_warned_about_and_a_dash_is_stdout() {
    let bench = Bench::with(["sales.csv"]);
    let query = |flags: &str| {
        let script = format!("csv-agent query -f sales.csv 'select 1 as one' {flags}");
        bench.shell(&script, &[]).succeeds()
    };
    let run = query("-o - --format csv");
    assert_eq!((run.stdout(), bench.path("-").exists()), ("one\n1\n", false));
    let run = query("-o x.csv --format json");
    assert!(run.stderr().contains("warning: `x.csv` gets json, because `--format`"), "{run}");
    let run = query("-o x.gz --format csv");
    assert!(run.stderr().is_empty() && bench.path("x.gz").is_file(), "{run}");
}

#[test]
fn a_column_without_values_fits_any_type() {
    let bench = Bench::with([]);
    fs::write(bench.path("e.csv"), "total,name\n,x\n,y\n").unwrap();
    let query = |sql: &str| {
        let run = bench.run(["query", "-f", "e.csv", "--format", "csv", sql]).succeeds();
        run.stdout().to_owned()
    };
    assert_eq!(query("select name from e where total < 0 or name = 'y'"), "name\ny\n");
    assert_eq!(query("select sum(total) as s, count(*) as n from e"), "s,n\n,2\n");
}
