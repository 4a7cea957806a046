//! Numbers of an answer that no tool result contains: listed, told, and a gate.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, round};

/// A turn in which code shows two numbers and the model says this.
fn answering(text: &str) -> Bench {
    let code = json!({"code": "{'Tea': 4625.75, 'Coffee': 8746.8}"});
    let script = [round().calls("c1", "python_repl", code), round().says(text)];
    Bench::with(["sales.csv"]).script(script)
}

#[test]
fn a_number_that_no_result_contains_is_listed_and_told() {
    let text = "1. Coffee made **8,747**, 89% more than Tea.\n2. Cocoa made 917.85 of 10 rows.";
    let run = answering(text).ask_with(["--json", "-q"], "Who made most?").succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    let number = json!([{"text": "917.85", "offset": 59, "finding": null}]);
    assert_eq!(document["ungrounded"], number);
    assert_eq!(
        run.stderr(),
        "warning: no tool result contains these numbers of the answer: `917.85`\n"
    );
    assert_eq!(document["warnings"][0]["code"], "ungrounded");
}

#[test]
fn it_is_a_gate_that_asks_for_no_verdict() {
    let bench = answering("Coffee made 8,746.8 and Tea 4,652.75.");
    let run = bench.ask_with(["--fail-on", "ungrounded"], "Who made most?").fails_with(9);
    assert!(run.stdout().contains("4,652.75"), "the answer is there all the same");
    let told = "error: no tool result contains these numbers of the answer: `4,652.75`\n";
    assert!(run.stderr().ends_with(told), "{}", run.stderr());
    assert!(!run.stderr().contains("warning:"), "{}", run.stderr());
    let bench = answering("Coffee made 8,746.8 and Tea 4,625.75.");
    bench.ask_with(["--fail-on", "ungrounded"], "Who made most?").succeeds();
}

#[test]
fn with_a_verdict_findings_are_read_as_well_and_reports_say_what_is_wrong() {
    let finding = |message: &str| {
        json!({"severity": "warning", "message": message, "dataset": null, "column": null, "rows": [],
            "table": null})
    };
    let findings = [finding("Coffee made 8,746.8"), finding("Tea made 77 less")];
    let answer = json!({"text": "Odd.", "assessment": "warning", "findings": findings});
    let bench = answering(&answer.to_string());
    let flags = "--fail-on bad,ungrounded --report junit=dq.xml --report md=dq.md --json";
    let run = bench.ask_with(flags.split(' '), "Is all well?").fails_with(9);
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    let number = json!([{"text": "77", "offset": 9, "finding": 1}]);
    assert_eq!(document["ungrounded"], number);
    let junit = fs::read_to_string(bench.path("dq.xml")).unwrap();
    let told = "<error type=\"ungrounded\" message=\"no tool result contains these numbers of the answer: `77`\"";
    assert!(junit.contains(told), "{junit}");
    let markdown = fs::read_to_string(bench.path("dq.md")).unwrap();
    let told = "\n\nOdd.\n\nNumbers that no tool result contains: `77`\n";
    assert!(markdown.contains(told), "{markdown}");
    let run = bench.shell("csv-agent show last", &[]).succeeds();
    let told = "warning: no tool result contains these numbers of the answer: `77`\n";
    assert_eq!(run.stderr(), told);
}

#[test]
fn a_later_answer_may_say_again_what_an_earlier_turn_has_shown() {
    let code = json!({"code": "4625.75"});
    let bench = Bench::with(["sales.csv"]).script([
        round().calls("c1", "python_repl", code),
        round().says("Tea made 4,625.75."),
        round().says("As I said, 4,625.75, which is not 4,625.57."),
    ]);
    bench.ask("What did Tea make?").succeeds();
    let run = bench.ask_with(["--json"], "What was it?").succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    let texts: Vec<&Value> =
        document["ungrounded"].as_array().unwrap().iter().map(|it| &it["text"]).collect();
    assert_eq!(texts, ["4,625.57"]);
}

#[test]
fn whole_tables_count_that_the_model_sees_the_beginning_of() {
    let code = json!({"code": "df = pd.DataFrame({'n': range(1000, 1100)})\ndf"});
    let send = json!({"df_name": "df", "logical_name": "all"});
    let bench = Bench::with(["sales.csv"]).script([
        round().calls("c1", "python_repl", code),
        round().calls("c2", "send_data_to_ui_as_df", send),
        round().says("It goes up to 1,099, and not to 1,199."),
    ]);
    let run = bench.ask_with(["--json"], "How far?").succeeds();
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(document["ungrounded"][0]["text"], "1,199");
    assert_eq!(document["ungrounded"].as_array().unwrap().len(), 1);
}

#[test]
fn json_of_a_schema_is_read_with_a_verdict_and_without() {
    let schema = r#"{"type": "object", "properties": {"answer": {"type": "string"}},
        "required": ["answer"], "additionalProperties": false}"#;
    let today = jiff::Timestamp::now().to_string();
    let text = format!("As of {}, Tea made 4,625.75 and not 98765 kr", &today[..10]);
    let output = json!({"answer": text});
    let whole = json!({"text": "Fine.", "assessment": "warning", "findings": [], "output": output});
    for (answer, gate) in [(output, "ungrounded"), (whole, "bad,ungrounded")] {
        let bench = answering(&answer.to_string());
        fs::write(bench.path("answer.json"), schema).unwrap();
        let flags = ["--schema", "answer.json", "--json", "--fail-on", gate];
        let run = bench.ask_with(flags, "Who?").fails_with(9);
        let document: Value = serde_json::from_str(run.stdout()).unwrap();
        let number = json!([{"text": "98765", "offset": 44, "finding": null, "path": "$.answer"}]);
        assert_eq!(document["ungrounded"], number);
    }
}

#[test]
fn a_number_that_was_computed_of_the_first_rows_only_is_told_as_such() {
    let sample = json!({"name": "sales", "df_name": "head", "nrows": 2});
    let bench = Bench::with(["sales.csv"]).script([
        round()
            .calls("c1", "load_dataset_sample", sample)
            .runs("c2", "average = head.revenue.mean()"),
        round().runs("c3", "average"),
        round().says("On average 1,755.25."),
        round().runs("c4", "average"),
        round().says("On average 1,755.25, of 2,310 and others, but 17."),
        round().runs("c5", "average = load('sales').revenue.mean()\naverage"),
        round().says("On average 1,429.04."),
    ]);
    let run = bench.ask_with(["--json", "-q"], "What is it on average?").succeeds();
    let told = "warning: these numbers of the answer come from the first rows of a dataset only: `1,755.25`\n";
    assert_eq!(run.stderr(), told);
    let document: Value = serde_json::from_str(run.stdout()).unwrap();
    let number = json!([{"text": "1,755.25", "offset": 11, "finding": null, "sample": true}]);
    assert_eq!(document["ungrounded"], number);
    // Another process knows it still.
    let run = bench.ask_with(["-q"], "And now?").succeeds();
    let told = "warning: no tool result contains these numbers of the answer: `17`; these numbers of the answer \
                come from the first rows of a dataset only: `1,755.25`\n";
    assert_eq!(run.stderr(), told);
    let run = bench.ask_with(["-q"], "Of all rows?").succeeds();
    assert_eq!(run.stderr(), "");
}
