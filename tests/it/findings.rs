//! What shows a finding: the call, and the lines of the user's file. What thresholds find by themselves.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, Run, round};

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
    let rules = "[total]\ngood = '0..100'\nbad = '< -1'\nunit = 'EUR'\n";
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
            ("1 of 4 rows has `total` in the bad range (< -1), in EUR.", &json!([8])),
            (
                "2 of 4 rows have `total` outside of the good range (>= 0 and < 100), in EUR.",
                &json!([5, 7])
            ),
        ]
    );
    // Without a verdict they decide nothing.
    ask("--format reply").succeeds();
}

/// What is said of the orders.
const KEPT_OUT: &str = "warning: `orders`: kept out of the table: 1 comment line\n";

/// Asks the built-in analyst about the orders with these thresholds.
fn rate(bench: &Bench, rules: &str, flags: &str, question: &str) -> Run {
    fs::write(bench.path("orders.csv"), ORDERS).unwrap();
    fs::write(bench.path("rules.toml"), rules).unwrap();
    let ask = "csv-agent ask --model builtin --ephemeral -f orders.csv --thresholds rules.toml";
    bench.shell(&format!("{ask} {flags} '{question}'"), &[])
}

#[test]
fn a_gate_does_not_pass_with_thresholds_that_rate_nothing() {
    let bench = Bench::with([]);
    let check = |rules: &str, reason: &str, hint: &str| {
        let fails = "--fail-on bad --report junit=r.xml";
        let run = rate(&bench, rules, fails, "is any id below 0?").fails_with(5);
        let error = format!("error: the thresholds {reason}\n  hint: {hint}\n");
        assert_eq!(run.stderr(), format!("{KEPT_OUT}{error}"));
        let report = fs::read_to_string(bench.path("r.xml")).unwrap();
        assert!(report.contains("errors=\"1\""), "{report}");
        // Without a gate it is a warning.
        let run = rate(&bench, rules, "--verdict", "is any id below 0?").succeeds();
        assert!(
            run.stderr().starts_with(&format!("{KEPT_OUT}warning: the thresholds {reason}")),
            "{}",
            run.stderr()
        );
    };
    let range = "bad = '< 0'\n[id]\nbad = '< 0'\n";
    let none = "have no effect: no dataset";
    check(
        &format!("[ordrs.total]\n{range}"),
        &format!("`[ordrs.total]` {none} `ordrs`"),
        "did you mean `orders`?",
    );
    let reason = "`[orders.totl]` have no effect: `orders` has no column `totl`";
    check(&format!("[orders.totl]\n{range}"), reason, "did you mean `total`?");
    let reason = format!("`[xyzzy]` {none} has a column `xyzzy`");
    check(&format!("[xyzzy]\n{range}"), &reason, "the columns are `id`, `note`, `total`");
    let hint = "money and percentages become numbers with `csv-agent ingest FILE --dtype 'note=money'` (or `=percent`)";
    let reason = "`[note]` have no effect: the column `note` of `orders` has no numbers";
    check(&format!("[note]\n{range}"), reason, hint);
}

#[test]
fn a_gate_does_not_pass_without_the_thresholds_of_an_untrusted_project() {
    let bench = Bench::with([]);
    fs::write(bench.path("orders.csv"), ORDERS).unwrap();
    fs::write(bench.path("../rules.toml"), "[total]\nbad = '< 0'\n").unwrap();
    fs::write(bench.path("csv-agent.toml"), "thresholds = '../rules.toml'\n").unwrap();
    let ask = |flags: &str| {
        let question = "'ids are unique'";
        let script = format!("csv-agent ask --model builtin -f orders.csv {flags} {question}");
        bench.shell(&script, &[])
    };
    let run = ask("--fail-on bad").fails_with(3);
    assert!(run.stderr().contains("csv-agent.toml:1: `thresholds` is ignored"), "{run}");
    assert!(
        run.stderr().ends_with("hint: name the thresholds with `--thresholds FILE`\n"),
        "{run}"
    );
    ask("--fail-on bad --thresholds ../rules.toml").fails_with(11);
    ask("--verdict").succeeds();
}

#[test]
fn thresholds_of_a_dataset_that_was_left_out_do_not_fail_a_gate() {
    let bench = Bench::with([]);
    fs::write(bench.path("orders.csv"), ORDERS).unwrap();
    fs::write(bench.path("others.csv"), "age\n7\n").unwrap();
    fs::write(bench.path("rules.toml"), "[others.age]\nbad = '> 5'\n").unwrap();
    let script = "csv-agent ingest -q orders.csv others.csv; csv-agent ask -q --model builtin -d orders --thresholds \
                  rules.toml --fail-on bad --format reply 'ids are unique'";
    let run = bench.shell(script, &[]).succeeds();
    assert!(
        run.stderr().ends_with(
            "warning: the thresholds `[others.age]` have no effect: no dataset `others`\n"
        ),
        "{}",
        run.stderr()
    );
}

#[test]
fn the_verdict_of_thresholds_is_not_denied() {
    let bench = Bench::with([]);
    // A total is no check, but the data is bad whatever the answer is.
    let run =
        rate(&bench, "[total]\nbad = '< -1'\n", "--fail-on bad", "total by note").fails_with(11);
    assert!(run.stdout().contains("Verdict: bad") && run.stderr() == KEPT_OUT, "{}", run.stderr());
    // They say nothing about what was asked.
    let run =
        rate(&bench, "[total]\nwarning = '< -1'\n", "--fail-on bad", "total by note").fails_with(9);
    let expected = "error: the verdict is that of the thresholds alone, because the answer to the question has none; \
                    ask for a check, such as `no amount below 0`\n";
    assert_eq!(run.stderr(), format!("{KEPT_OUT}{expected}"));
}
