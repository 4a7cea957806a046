//! What shows a finding: the call, and the lines of the user's file. What thresholds find by themselves.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, round};

/// Two lines that are no rows, a header, and a cell with a line end in it.
const ORDERS: &str = "# exported\n\nid,note,total\n1,a,5\n2,\"b\nb\",-1\n3,c,900\n4,d,-2\n";

#[test]
fn a_finding_has_the_lines_of_its_rows_and_the_call_that_shows_it() {
    let bench = Bench::with([]);
    fs::write(bench.path("orders.csv"), ORDERS).unwrap();
    let script =
        "csv-agent ask --model builtin -f orders.csv --json --fail-on bad 'no total below 0'";
    let run = bench.shell(script, &[]).fails_with(11);
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    let finding = &document["findings"][0];
    assert_eq!(finding["source_file"], "orders.csv");
    assert_eq!(finding["rows"], json!([1, 3]));
    assert_eq!((&finding["source_line"], &finding["source_lines"]), (&json!(5), &json!([5, 8])));
    assert_eq!(finding["call_id"], document["tables"][0]["call_id"]);
    // People read the lines as well.
    let run = bench.shell("csv-agent show last", &[]).succeeds();
    let told =
        "Verdict: bad\n\n- bad: In 2 of 4 rows, total is under 0. (orders.csv, lines 5, 8)\n";
    assert!(run.stdout().ends_with(told), "{}", run.stdout());
}

#[test]
fn a_finding_of_a_model_is_about_rows_that_there_are() {
    let bench = Bench::with(["sales.csv"]);
    let finding = |rows: Value, dataset: Value| {
        json!({"severity": "warning", "message": "m", "dataset": dataset, "column": null,
            "rows": rows, "table": "none"})
    };
    let findings =
        [finding(json!([0, 3, 9_999]), Value::Null), finding(json!([0]), json!("nowhere"))];
    let answer = json!({"text": "t", "assessment": "warning", "findings": findings}).to_string();
    let code = round().calls("c1", "python_repl", json!({"code": "1 + 1"}));
    let bench = bench.script([code, round().says(&answer)]);
    let run = bench.ask_with(["--verdict", "--json"], "q").succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    let [known, unknown] = [0, 1].map(|at| &document["findings"][at]);
    assert_eq!((&known["rows"], &known["source_lines"]), (&json!([0, 3]), &json!([2, 5])));
    // No such table was sent: what ran last shows it.
    assert_eq!(known["call_id"], "c1");
    assert_eq!((&unknown["rows"], &unknown["source_file"]), (&json!([]), &Value::Null));
}

#[test]
fn thresholds_decide_what_they_can_without_the_model() {
    let bench = Bench::with([]);
    fs::write(bench.path("orders.csv"), ORDERS).unwrap();
    let rules = "[total]\ngood = '0..100'\nbad = '< -1'\nunit = 'EUR'\n[note]\nbad = '> 1'\n";
    fs::write(bench.path("rules.toml"), rules).unwrap();
    let ask = |flags: &str| {
        let question = "is any id below 0?";
        let script = format!(
            "csv-agent ask --model builtin --ephemeral -f orders.csv --thresholds rules.toml {flags} '{question}'"
        );
        bench.shell(&script, &[])
    };
    let run = ask("--json --fail-on warning").fails_with(11);
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(document["assessment"], "bad");
    let told: Vec<(&str, &Value)> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["message"].as_str().unwrap(), &it["source_lines"]))
        .collect();
    assert_eq!(
        told,
        [
            ("1 of 4 rows have `total` in the bad range (< -1), in EUR.", &json!([8])),
            (
                "2 of 4 rows have `total` outside of the good range (>= 0 and < 100), in EUR.",
                &json!([5, 7])
            ),
        ]
    );
    // A column of text has no numbers to rate, and that is told.
    assert_eq!(document["warnings"][0]["code"], "thresholds");
    // Without a verdict they decide nothing.
    ask("--format reply").succeeds();
}
