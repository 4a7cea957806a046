//! SQL of the model through the wire: what it reads, what the user gets, and that no Python is needed.

use std::fmt::Write;
use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::{Value, json};

use super::{Turn, ask, code, last_request};
use crate::bench::{Bench, Round, round};

const BY_PRODUCT: &str =
    "select product, sum(revenue) as revenue from sales group by product order by revenue desc";

fn bench() -> Bench {
    Bench::with(["sales.csv"])
}

fn query(call_id: &str, sql: &str, result_name: Option<&str>) -> Round {
    round().calls(call_id, "query_datasets", json!({"sql": sql, "result_name": result_name}))
}

fn table(call_id: &str, name: &str) -> Round {
    let arguments = json!({"df_name": name, "logical_name": "by product"});
    round().calls(call_id, "send_data_to_ui_as_df", arguments)
}

fn chart(call_id: &str, name: &str) -> Round {
    let arguments = json!({"df_name": name, "logical_name": "revenue", "chart_type": "bar",
        "x_field": "product", "x_label": null, "y_label": null,
        "series": [{"name": "Revenue", "y_field": "revenue"}], "title": null, "note": null});
    round().calls(call_id, "send_chart_to_ui", arguments)
}

/// Demands that no Python ran in a turn.
#[track_caller]
fn without_python(turn: &Turn) {
    assert_eq!(turn.phases("worker"), Vec::<&Value>::new());
}

#[test]
fn a_result_is_shown_drawn_and_queried_without_python() {
    let rounds = [
        query("q", BY_PRODUCT, Some("top")),
        table("t", "top"),
        chart("c", "top"),
        query("again", "select count(*) as n, max(revenue) as most from top", None),
        round().says("Done."),
    ];
    let bench = bench().script(rounds);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.results(), ["q ok", "t ok", "c ok", "again ok"]);
    without_python(&turn);
    let result = &turn.result_of("q")["result"];
    assert_eq!(result["kind"], "dataframe");
    assert_eq!(result["columns"], json!(["product", "revenue"]));
    assert_eq!(result["result_name"], "top");
    let sent = turn.one("data_frame");
    assert_eq!(sent["rows"], result["head"]);
    let artifact = bench.session().join(sent["artifact"]["path"].as_str().unwrap());
    let file = SerializedFileReader::new(File::open(artifact).unwrap()).unwrap();
    assert_eq!(json!(file.metadata().file_metadata().num_rows()), sent["row_count"]);
    assert_eq!(turn.one("chart")["data"], result["head"]);
    let again = &turn.result_of("again")["result"]["head"][0];
    assert_eq!(again, &json!({"n": result["row_count"], "most": result["head"][0]["revenue"]}));
    assert!(!bench.session().join("results").exists(), "results last as long as the turn");
}

#[test]
fn python_finds_results_and_its_own_variables_come_first() {
    let twice = "top = load('top')\ntop['revenue'] *= 2\ntop";
    let rounds = [
        query("q", BY_PRODUCT, Some("top")),
        code("twice", twice),
        table("python", "top"),
        query("new", "select 'x' as product, 1 as revenue", Some("top")),
        table("sql", "top"),
        code("loaded", "load('top', ['revenue'])['revenue'].sum()"),
        code("gone", "'top' in globals()"),
        round().says("Done."),
    ];
    let bench = bench().script(rounds);
    let turn = ask(&bench, [], "q", 0);
    assert!(turn.results().iter().all(|it| it.ends_with(" ok")), "{:?}", turn.results());
    let first = |call_id: &str| turn.result_of(call_id)["result"]["head"][0]["revenue"].as_f64();
    let sent: Vec<Option<f64>> =
        turn.all("data_frame").iter().map(|it| it["rows"][0]["revenue"].as_f64()).collect();
    assert_eq!(sent, [first("q").map(|it| 2.0 * it), Some(1.0)]);
    assert_eq!(turn.result_of("loaded")["result"]["text"], "1");
    assert_eq!(turn.result_of("gone")["result"]["text"], "False");
}

#[test]
fn a_saved_variable_does_not_stand_in_for_a_newer_result() {
    let rounds = [
        code("old", "top = pd.DataFrame({'product': ['old'], 'revenue': [0]})"),
        round().says("1"),
    ];
    let bench = bench().script(rounds);
    ask(&bench, [], "q", 0);
    let rounds = [
        query("q", "select 'new' as product, 1 as revenue", Some("top")),
        table("before", "top"),
        code("start", "1 + 1"),
        table("after", "top"),
        round().says("2"),
    ];
    bench.answers(rounds);
    let turn = ask(&bench, [], "q", 0);
    let sent: Vec<&Value> =
        turn.all("data_frame").iter().map(|it| &it["rows"][0]["product"]).collect();
    assert_eq!(sent, ["new", "new"]);
}

#[test]
fn what_is_wrong_with_a_statement_is_said_with_its_place() {
    let rounds = [
        query("column", "select prize from sales", None),
        query("table", "select * from sale", None),
        query("write", "drop table sales", None),
        query("file", "select * from read_csv('/etc/passwd')", None),
        query("taken", "select 1", Some("sales")),
        query("value", "select cast(product as integer) from sales", None),
        table("nothing", "top"),
        round().says("Done."),
    ];
    let bench = bench().script(rounds);
    let turn = ask(&bench, [], "q", 0);
    let mut told = String::new();
    for result in turn.all("tool_result") {
        let text = result["result"]["text"].as_str().unwrap_or_default();
        let code = result["error"]["code"].as_str().unwrap_or_default();
        writeln!(told, "{code}: {text}").unwrap();
    }
    insta::assert_snapshot!(told);
}

#[test]
fn rows_stay_here_when_the_user_keeps_them() {
    let sql = "select product, revenue from sales order by revenue desc limit 1";
    let rounds = [
        query("row", sql, None),
        query("sum", "select count(*) as sales_made from sales", None),
        query("wrong", "select prize from sales", None),
        query("value", "select cast(product as integer) from sales", None),
        round().says("Done."),
    ];
    let bench = bench().script(rounds);
    let turn = ask(&bench, ["--no-rows"], "q", 0);
    assert_eq!(turn.result_of("sum")["result"]["head"][0]["sales_made"], 10);
    let row = &turn.result_of("row")["result"]["head"][0];
    assert_eq!(row["revenue"], "(kept back)", "{row}");
    let text = |call_id: &str| turn.result_of(call_id)["result"]["text"].as_str().unwrap();
    assert_eq!(
        text("wrong"),
        "no column `prize` (line 1, column 8); the columns are date, product, revenue"
    );
    assert!(text("value").starts_with("the statement failed at a value"), "{}", text("value"));
    let sent = last_request(&bench).body.to_string();
    assert!(!sent.contains(&revenue_of(&bench)) && !sent.contains("Tea"), "{sent}");
}

/// Returns the largest revenue, which one row has.
fn revenue_of(bench: &Bench) -> String {
    let sql = "select max(revenue) as most from sales";
    let run = bench.run(["query", "-f", "sales.csv", "--format", "csv", sql]).succeeds();
    run.stdout().lines().nth(1).unwrap().to_owned()
}

#[test]
fn redacted_columns_are_tokens_for_sql_as_well() {
    let rounds = [query("q", "select distinct product from sales", None), round().says("Done.")];
    let bench = bench().script(rounds);
    let turn = ask(&bench, ["--redact", "product"], "q", 0);
    let sent = last_request(&bench).body.to_string();
    assert!(!sent.contains("Coffee"), "{sent}");
    assert!(turn.result_of("q")["result"]["row_count"].as_u64() > Some(1));
}

#[test]
fn without_a_python_a_model_gets_what_works_and_is_told() {
    let rounds = [
        query("q", BY_PRODUCT, Some("top")),
        table("t", "top"),
        table("none", "other"),
        round().runs("code", "1"),
        round().says("Done."),
    ];
    let bench = bench().script(rounds);
    let nowhere = bench.path("nowhere").display().to_string();
    let bench = bench.variable("PATH", "/nonexistent").variable("XDG_CACHE_HOME", &nowhere);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.results(), ["q ok", "t ok", "none error: failed", "code error: unknown_tool"]);
    assert_eq!(
        turn.result_of("none")["result"]["text"],
        "no result `other`; the results are: `top`"
    );
    assert_eq!(turn.events[0]["interpreter"], "none");
    let warning = turn.phases("warning")[0]["message"].as_str().unwrap();
    assert!(warning.contains("until then the model computes only with SQL"), "{warning}");
    let request = bench.request(0).body;
    let tools: Vec<&str> =
        request["tools"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(
        tools,
        [
            "list_datasets",
            "get_dataset_info",
            "find_value_columns",
            "send_data_to_ui_as_df",
            "send_chart_to_ui",
            "query_datasets"
        ]
    );
    let instructions = request["instructions"].as_str().unwrap();
    assert!(instructions.contains("there is no Python on this machine"), "{instructions}");
    assert!(!instructions.contains("python_repl"), "{instructions}");
}

#[test]
fn statements_run_again_and_are_exported() {
    let rounds = [
        query("q", BY_PRODUCT, Some("top")),
        code("share", "(load('top')['revenue'] / load('top')['revenue'].sum()).round(3).tolist()"),
        table("t", "top"),
        round().says("Done."),
    ];
    let bench = bench().script(rounds);
    ask(&bench, [], "q", 0);
    let run = bench.run(["rerun", "--check", "--format", "reply"]).succeeds();
    assert!(run.stdout().contains("Turn 1 gives the same results: table `by product`"), "{run}");
    let sales = std::fs::read_to_string(bench.path("sales.csv")).unwrap();
    std::fs::write(bench.path("new.csv"), sales.replace("2310.00", "2311.00")).unwrap();
    let against = ["rerun", "--against", "sales=new.csv", "--check", "--format", "reply"];
    let run = bench.run(against).fails_with(12);
    assert!(run.stdout().contains("`Coffee`: `revenue` was 8746.8, is 8747.8"), "{run}");
    let script = bench.run(["export", "py"]).succeeds();
    for part in
        [&format!("_TABLES[\"top\"] = top = _query(\"\"\"\n{BY_PRODUCT}\n\"\"\")"), "import duckdb"]
    {
        assert!(script.stdout().contains(part), "{part}: {script}");
    }
    let document = bench.run(["export", "md"]).succeeds();
    assert!(document.stdout().contains(&format!("# SQL of top:\n# {BY_PRODUCT}\n")), "{document}");
}

#[test]
fn the_analyst_needs_no_place_for_packages() {
    let bench = Bench::with(["sales.csv"]);
    let ask = "csv-agent ask --ephemeral -f sales.csv --model builtin 'how many rows'";
    let run = bench.shell(&format!("env -u HOME -u XDG_CACHE_HOME {ask}"), &[]).succeeds();
    assert!(run.stdout().contains("10"), "{run}");
}
