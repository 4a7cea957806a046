//! Reports for CI systems: each finding at the lines of the user's file.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, Run, round};

const ORDERS: &str = "# exported\n\nid,note,total\n1,a,5\n2,\"b\nb\",-1\n3,c,900\n4,d,-2\n";

/// What is said of the orders.
const KEPT_OUT: &str = "warning: `my_orders_1`: kept out of the table: 1 comment line\n";

/// Asks the built-in analyst about orders in a file whose name needs care everywhere.
fn ask(bench: &Bench, flags: &str, question: &str) -> Run {
    fs::write(bench.path("my orders, 1.csv"), ORDERS).unwrap();
    let script = format!(
        "csv-agent ask -q --model builtin --ephemeral -f 'my orders, 1.csv' {flags} '{question}'"
    );
    bench.shell(&script, &[])
}

#[test]
fn every_report_has_each_finding_at_its_lines() {
    let bench = Bench::with([]);
    let flags = "--report junit=dq.xml --report sarif=dq.json --report md=dq.md --report github";
    let run = ask(&bench, flags, "no total below 0").succeeds();
    assert_eq!(
        run.stderr(),
        format!(
            "{KEPT_OUT}::error file=my orders%2C 1.csv,line=5,title=csv-agent::In 2 of 4 rows, total is under 0. \
             (also line 8)\n"
        )
    );
    let read = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
    let junit = read("dq.xml");
    for part in [
        "tests=\"2\" failures=\"2\" errors=\"0\"",
        "<testcase classname=\"csv-agent.verdict\" name=\"no total below 0\" time=\"0\">",
        "<testcase classname=\"csv-agent.my_orders_1.total\" name=\"In 2 of 4 rows, total is under 0.\" time=\"0\">",
        ">my orders, 1.csv, lines 5, 8</failure>",
    ] {
        assert!(junit.contains(part), "{part} in {junit}");
    }
    let sarif: Value = serde_json::from_str(&read("dq.json")).unwrap();
    let run = &sarif["runs"][0];
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "in-of-rows-total-is-under");
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], result["ruleId"]);
    let at = |line: u32| {
        json!({"physicalLocation": {"artifactLocation": {"uri": "my%20orders%2C%201.csv"},
            "region": {"startLine": line}}})
    };
    assert_eq!(result["locations"], json!([at(5)]));
    assert_eq!(result["relatedLocations"], json!([at(8)]));
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert!(read("dq.md").starts_with("## csv-agent: bad\n\n> no total below 0\n\n"));
    assert!(
        read("dq.md").ends_with(
            "| bad | In 2 of 4 rows, total is under 0. | my orders, 1.csv, lines 5, 8 |\n"
        )
    );
}

#[test]
fn a_report_of_good_data_has_nothing_that_fails() {
    let bench = Bench::with([]);
    let summary = [("GITHUB_STEP_SUMMARY", bench.path("summary.md"))];
    fs::write(bench.path("my orders, 1.csv"), ORDERS).unwrap();
    let script = "echo before > summary.md; csv-agent ask -q --model builtin --ephemeral -f 'my orders, 1.csv' \
                  --report github --report junit=dq.xml 'ids are unique'";
    let run = bench.shell(script, &summary).succeeds();
    assert_eq!(run.stderr(), KEPT_OUT);
    let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
    assert!(junit.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{junit}");
    let told = fs::read_to_string(bench.path("summary.md")).unwrap();
    assert!(told.starts_with("before\n## csv-agent: good\n"), "{told}");
}

#[test]
fn a_check_that_broke_is_an_error_and_no_failure() {
    let bench = Bench::with([]);
    let flags = "--report junit=dq.xml --report sarif=dq.json --report github";
    let run = ask(&bench, flags, "is the frobnication in order?").fails_with(9);
    assert!(
        run.stderr().contains("::error title=csv-agent::the answer has no verdict\n"),
        "{}",
        run.stderr()
    );
    let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
    assert!(junit.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{junit}");
    let sarif: Value = serde_json::from_slice(&fs::read(bench.path("dq.json")).unwrap()).unwrap();
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["exitCode"], 9);
    // Without a key there is no turn, and the reports say why.
    let script = "csv-agent ask --ephemeral -f 'my orders, 1.csv' --report junit=key.xml q";
    bench.shell(script, &[]).fails_with(4);
    let junit = fs::read_to_string(bench.path("key.xml")).unwrap();
    assert!(junit.contains("<error type=\"auth_missing\""), "{junit}");
}

#[test]
fn a_run_that_cannot_begin_leaves_no_earlier_report() {
    let bench = Bench::with(["sales.csv"]);
    let reports = "--report junit=r.xml --report sarif=r.sarif --report md=r.md";
    let check = |flags: &str, status: i32, message: &str| {
        for name in ["r.xml", "r.sarif", "r.md", "r.json"] {
            fs::write(bench.path(name), "yesterday").unwrap();
        }
        let script = format!(
            "csv-agent ask --model builtin {flags} {reports} -o r.json 'no revenue below 0'"
        );
        let run = bench.shell(&script, &[]).fails_with(status);
        assert_eq!(run.stderr().matches(message).count(), 1, "{run}");
        let read = |name: &str| fs::read_to_string(bench.path(name)).unwrap();
        for name in ["r.xml", "r.sarif", "r.md"] {
            assert!(read(name).contains(message), "{flags}: {}", read(name));
        }
        assert!(read("r.xml").contains("errors=\"1\""), "{}", read("r.xml"));
        // A wrong command line is not a turn, so it has no result.
        if status != 2 {
            let result: Value = serde_json::from_str(&read("r.json")).unwrap();
            assert_eq!(result["exit_code"], status, "{result}");
            assert_eq!(result["error"]["message"], message);
        }
    };
    check("--ephemeral -f missing.csv", 5, "cannot read `missing.csv`: no such file");
    check("--ephemeral -f sales.csv --image a.png", 5, "cannot read `a.png`: no such file");
    check("--ephemeral -f sales.csv --redact a", 5, "no dataset has a column `a` to keep back");
    check("-S elsewhere", 3, &format!("no session in `{}`", bench.path("elsewhere").display()));
    check("--ephemeral -f sales.csv --thresholds a.toml", 2, "cannot read `a.toml`: no such file");
    let script = "csv-agent ask --ephemeral -f missing.csv --model builtin --events e.jsonl --format jsonl q";
    let run = bench.shell(script, &[]).fails_with(5);
    let last: Value = serde_json::from_str(run.stdout().lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["exit_code"]), (&json!("error"), &json!(5)), "{last}");
    assert!(fs::read_to_string(bench.path("e.jsonl")).unwrap().contains("no such file"));
}

#[test]
fn what_a_model_writes_breaks_no_report() {
    let bench = Bench::with(["sales.csv"]);
    let message = "a <b> & \"c\" | d\u{1b}[2J\u{0}]]>\n::error::e %0A\u{ffff}";
    let finding = json!({"severity": "warning", "message": message, "dataset": "sales", "column": "a,b:c",
        "rows": [0], "table": null});
    let answer = json!({"text": "t\u{7}", "assessment": "warning", "findings": [finding]});
    let bench = bench.script([round().says(&answer.to_string())]);
    let flags = "--report junit=r.xml --report md=r.md --report sarif=r.json --report github --fail-on warning";
    let run = bench.ask_with(flags.split(' '), "q\u{1b}").fails_with(10);
    let annotations: Vec<&str> = run.stderr().lines().filter(|it| it.starts_with("::")).collect();
    let told = "::warning file=sales.csv,line=2,title=csv-agent::a <b> & \"c\" | d\\x1b[2J\\x00]]> \
                ::error::e %250A\u{ffff}";
    assert_eq!(annotations, [told]);
    let junit = fs::read_to_string(bench.path("r.xml")).unwrap();
    assert!(junit.contains("a &lt;b&gt; &amp; &quot;c&quot; | d\\x1b[2J\\x00]]&gt;"), "{junit}");
    assert!(junit.contains("failures=\"2\"") && !junit.contains('\u{ffff}'), "{junit}");
    let table = fs::read_to_string(bench.path("r.md")).unwrap();
    assert!(
        table.lines().last().unwrap().starts_with("| warning | a &lt;b> & \"c\" \\| d"),
        "{table}"
    );
}

#[test]
fn a_report_that_cannot_be_written_is_told_before_anything_is_asked() {
    let bench = Bench::with([]);
    ask(&bench, "--report junit=nowhere/dq.xml", "ids are unique").fails_with(5);
    ask(&bench, "--report junit=a --report md=a", "ids are unique").fails_with(2);
    ask(&bench, "--report junit", "ids are unique").fails_with(2);
    ask(&bench, "--report xml=a", "ids are unique").fails_with(2);
}
