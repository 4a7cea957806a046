//! `--schema`: answers that are JSON for a program.

use std::fs;

use serde_json::{Value, json};

use csv_agent_provider::Api;

use crate::bench::{Bench, Run, round};

const COUNT: &str = r#"{"type": "object", "properties": {"n": {"type": "integer", "minimum": 0}}, "required": ["n"], "additionalProperties": false}"#;

fn document(run: &Run) -> Value {
    serde_json::from_str(run.stdout()).unwrap_or_else(|error| panic!("{error}: {run}"))
}

#[test]
fn an_answer_of_the_schema_is_data_of_the_reply() {
    let answers = ["{\"n\": 10}", "```json\n{\"n\": 10}\n```"];
    let bench = Bench::with(["sales.csv"]).script(answers.map(|it| round().says(it)));
    fs::write(bench.path("count.json"), COUNT).unwrap();
    let run = bench.ask_with(["--schema", "count.json", "--json"], "q").succeeds();
    let found = document(&run);
    assert_eq!((&found["output"], &found["text"]), (&json!({"n": 10}), &json!("{\"n\": 10}")));
    let format = &bench.request(0).body["text"]["format"];
    assert_eq!((&format["strict"], &format["name"]), (&json!(true), &json!("answer")));
    assert_eq!(format["schema"], serde_json::from_str::<Value>(COUNT).unwrap());
    let told = bench.request(0).body["instructions"].as_str().unwrap().to_owned();
    assert!(told.contains("\n| {\"type\":\"object\""), "{told}");
    // A program reads stdout, whatever stands around the JSON.
    let run = bench.ask_with(["--schema", COUNT, "--format", "reply"], "q").succeeds();
    assert_eq!(run.stdout(), "{\"n\": 10}\n");
    let shown = bench.run(["show", "last", "--format", "json"]).succeeds();
    assert_eq!(document(&shown)["output"], json!({"n": 10}));
}

#[test]
fn an_answer_that_does_not_hold_is_written_again_once() {
    let bench = Bench::with(["sales.csv"]).script([
        round().says("There are 10 rows."),
        round().says("{\"n\": 10}"),
        round().says("{\"n\": -1}"),
        round().says("{\"m\": 1}"),
        round().says("{\"n\": null}"),
    ]);
    let run = bench.ask_with(["--schema", COUNT, "--json"], "q").succeeds();
    assert_eq!(
        (&document(&run)["output"], &document(&run)["rounds"]),
        (&json!({"n": 10}), &json!(2))
    );
    let second = bench.request(1).body;
    let told = second["input"].as_array().unwrap().last().unwrap()["content"][0]["text"].clone();
    assert!(
        told.as_str().unwrap().contains("it is not valid JSON: expected value at line 1"),
        "{told}"
    );
    assert_eq!(second["tool_choice"], "none");
    let run = bench.ask_with(["--schema", COUNT, "--json"], "q").fails_with(9);
    let why = "the answer does not match the schema: `$.n` is missing; `$.m` is not allowed";
    assert!(run.stderr().contains(why), "{run}");
    let found = document(&run);
    assert_eq!((&found["output"], &found["exit_code"]), (&Value::Null, &json!(9)));
    assert_eq!(found["text"], "{\"m\": 1}");
    // There is no round for another try.
    let run = bench.ask_with(["--schema", COUNT, "--max-rounds", "1"], "q").fails_with(9);
    assert!(run.stderr().contains("`$.n` has type null, not integer"), "{run}");
}

#[test]
fn a_refusal_or_a_limit_stays_what_it_is() {
    let bench = Bench::with(["sales.csv"]).script([
        round().refuses("I cannot."),
        round().runs("c1", "1"),
        round().says("{\"n\": 1"),
        round().says("{\"n\":").ends_early_for("max_output_tokens"),
    ]);
    let run = bench.ask_with(["--schema", COUNT, "--json"], "q").fails_with(9);
    assert_eq!(document(&run)["stop_reason"], "refused");
    bench.ask_with(["--schema", COUNT, "--max-rounds", "2"], "q").fails_with(7);
    bench.ask_with(["--schema", COUNT], "q").fails_with(7);
}

#[test]
fn a_schema_beyond_what_is_enforced_is_sent_as_wished_and_checked_here() {
    let bench = Bench::with(["sales.csv"]).script([
        round().says("{\"name\": \"Tea\"}"),
        round().says("[\"Tea\", \"Tea\"]"),
        round().says("[\"Tea\"]"),
    ]);
    let loose = r#"{"type": "object", "properties": {"name": {"minLength": 1}}}"#;
    bench.ask_with(["--schema", loose], "q").succeeds();
    assert_eq!(bench.request(0).body["text"]["format"]["strict"], false);
    let list = r#"{"type": "array", "uniqueItems": true}"#;
    let run = bench.ask_with(["--schema", list, "--json"], "q").succeeds();
    assert_eq!(document(&run)["output"], json!(["Tea"]));
    assert_eq!(bench.request(1).body.get("text"), None);
    let again = bench.request(2).body["input"].to_string();
    assert!(again.contains("`$` has the same item at 0 and at 1"), "{again}");
}

#[test]
fn a_verdict_and_a_schema_work_together() {
    let finding = json!({"severity": "bad", "message": "m", "dataset": "sales", "column": null,
        "rows": [1], "table": null});
    let answer = |output: Value| {
        json!({"text": "Text.", "findings": [finding], "assessment": "bad", "output": output})
            .to_string()
    };
    let bench = Bench::with(["sales.csv"]).script([
        round().says(&answer(json!({"n": 3}))),
        round().says(&answer(json!({"n": "3"}))),
        round().says(&answer(json!({"n": "4"}))),
    ]);
    let flags = ["--schema", COUNT, "--fail-on", "bad", "--report", "md=r.md", "--json"];
    let run = bench.ask_with(flags, "q").fails_with(11);
    let found = document(&run);
    assert_eq!((&found["output"], &found["text"]), (&json!({"n": 3}), &json!("Text.")));
    assert_eq!(
        (&found["assessment"], &found["findings"][0]["source_line"]),
        (&json!("bad"), &json!(3))
    );
    assert!(fs::read_to_string(bench.path("r.md")).unwrap().contains("| bad | m |"));
    assert_eq!(bench.request(0).body["text"]["format"]["strict"], true);
    // A contract that is not kept says less of the data than a bad verdict, but more of the answer.
    let run = bench.ask_with(flags, "q").fails_with(9);
    assert!(run.stderr().contains("`$.n` has type string, not integer"), "{run}");
    assert_eq!(document(&run)["assessment"], "bad");
}

#[test]
fn a_server_that_binds_tools_to_the_form_gets_it_when_tools_are_over() {
    let bench = Bench::with(["sales.csv"]).speaking(Api::Chat).script([
        round().runs("c1", "10"),
        round().says("There are ten."),
        round().says("{\"n\": 10}"),
    ]);
    let flags = ["--api", "chat", "--schema", COUNT, "--json"];
    let run = bench.ask_with(flags, "q").succeeds();
    assert_eq!(document(&run)["output"], json!({"n": 10}));
    assert_eq!(bench.request(1).body.get("response_format"), None);
    let last = bench.request(2).body;
    assert_eq!(last["response_format"]["json_schema"]["strict"], true);
    assert_eq!(last["tool_choice"], "none");
}

#[test]
fn a_model_without_tools_fills_a_schema_that_counts_only_if_it_may() {
    let words = "registry.ollama.ai/library/gemma:2b does not support tools";
    let ask = |answers: &[&str], arguments: &[&str], code: i32| {
        let refusal = round().errs(400, "invalid_request_error", "", words);
        let bench = Bench::with(["sales.csv"]).speaking(Api::Chat).script([refusal]);
        let bench = bench.script(answers.iter().map(|it| round().says(it)));
        let all = ["--api", "chat", "--json", "--schema", COUNT].into_iter();
        let run = bench.ask_with(all.chain(arguments.iter().copied()), "q").fails_with(code);
        (document(&run), run, bench)
    };
    let (found, run, bench) = ask(&["<think>{}</think>{\"n\": 10}"], &[], 9);
    assert_eq!((&found["output"], &found["computed"]), (&json!({"n": 10}), &json!(false)));
    assert!(run.stderr().contains("`--allow-untooled` lets it pass"), "{run}");
    let body = bench.request(1).body;
    assert_eq!(body["response_format"]["json_schema"]["name"], "answer");
    assert!(!body.to_string().contains("potential_issues"), "{body}");
    let (found, ..) = ask(&["Ten.", "{\"n\": 10}"], &["--allow-untooled"], 0);
    assert_eq!((&found["output"], &found["rounds"]), (&json!({"n": 10}), &json!(2)));
    let (_, run, _) = ask(&["Ten.", "Ten!"], &["--allow-untooled"], 9);
    assert!(
        run.stderr().contains("the answer does not match the schema: it is not valid JSON"),
        "{run}"
    );
    let both = json!({"text": "T.", "findings": [], "assessment": "good", "output": {"n": 1}});
    let (found, ..) = ask(&[&both.to_string()], &["--allow-untooled", "--verdict"], 0);
    assert!(found["text"].as_str().unwrap().starts_with("**Not computed.**"), "{found}");
    assert_eq!((&found["output"]["n"], &found["assessment"]), (&json!(1), &json!("good")));
}

#[test]
fn every_answer_of_a_chat_holds_to_the_schema() {
    let bench =
        Bench::with(["sales.csv"]).script([round().says("{\"n\": 1}"), round().says("{\"n\": 2}")]);
    let chat = ["chat", "-f", "sales.csv", "--schema", COUNT, "--format", "reply"];
    let run = bench.pipe(chat, b"one\ntwo\n").succeeds();
    assert_eq!(run.stdout(), "{\"n\": 1}\n{\"n\": 2}\n");
}

#[test]
fn what_cannot_be_asked_for_is_refused_before_anything_is_asked() {
    let bench = Bench::with(["sales.csv"]);
    let refused = |flags: &[&str], words: &str| {
        let run = bench.ask_with(flags.iter().copied(), "q").fails_with(2);
        assert!(run.stderr().contains(words), "{words}: {run}");
        assert!(!bench.session().exists());
    };
    refused(
        &["--schema", "{"],
        "`--schema` is not valid JSON: EOF while parsing an object at line 1 column 1",
    );
    refused(&["--schema", "{\"type\": 1}"], "cannot use `--schema` as a JSON Schema: `$.type`");
    refused(
        &["--schema", "{\"$ref\": \"http://127.0.0.1:1/x\"}"],
        "and csv-agent does not fetch schemas",
    );
    refused(
        &["--schema", "{\"$ref\": \"sales.csv\"}"],
        "it refers to `sales.csv`, and csv-agent does \
                                                         not fetch schemas",
    );
    refused(&["--schema", "nowhere.json"], "cannot read the schema `nowhere.json`: no such file");
    refused(&["--schema", "sales.csv"], "`sales.csv` is not valid JSON");
    refused(&["--schema", COUNT, "--model", "builtin"], "answers only in sentences");
    assert_eq!(bench.n_requests(), 0);
}

#[test]
fn a_dry_run_shows_the_form_of_the_answer() {
    let bench = Bench::with(["sales.csv"]);
    let run = bench.ask_with(["--schema", COUNT, "--dry-run", "--json"], "q").succeeds();
    assert_eq!(document(&run)["request"]["text"]["format"]["type"], "json_schema");
}
