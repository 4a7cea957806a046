//! Turns whose code runs in a container: what is sent, what is told, what is kept.

use std::fs;

use serde_json::{Value, json};

use csv_agent_provider::Api;

use super::ask;
use crate::ask::Turn;
use crate::bench::{Bench, Round, round};

/// Returns the call and the result that a turn tells, without what differs from run to run.
fn told(turn: &Turn) -> [Value; 2] {
    let plain = |event: &Value| {
        let mut event = event.clone();
        let members = event.as_object_mut().unwrap();
        let own = ["seq", "ts", "session_id", "turn_id", "call_id", "duration_ms"];
        // The provider's model reads what was printed, ours reads it as JSON.
        members.retain(|name, _| !own.contains(&name.as_str()) && name != "bytes_to_model");
        if let Some(result) = members.get_mut("result").and_then(Value::as_object_mut) {
            result.shift_remove("container_id");
        }
        let text = event.to_string().replace("code_interpreter", "python_repl");
        serde_json::from_str(&text).unwrap()
    };
    ["tool_call", "tool_result"].map(|it| plain(turn.one(it)))
}

/// Checks that this code, which shows this, is told as local code is.
#[track_caller]
fn check_told(code: &str, logs: &str, arguments: &[&str]) {
    let bench = Bench::with(["sales.csv"]).script([
        round().interprets(code, logs).says("So.").header("x-request-id", "req_7"),
        round().runs("c1", code),
        round().says("So."),
    ]);
    let hosted = ask(&bench, arguments, "Run it.", 0);
    let [container] = &hosted.phases("container")[..] else { panic!("one container") };
    let container_id = &hosted.one("tool_result")["result"]["container_id"];
    assert_eq!([&container["container_id"], container_id], ["cntr_1"; 2]);
    let told_ids = [container, hosted.phases("model_response")[0]].map(|it| &it["request_id"]);
    assert_eq!(told_ids, ["req_7"; 2]);
    let locally = ["--format", "jsonl"].into_iter().chain(arguments.iter().copied());
    let local = Turn::of(&bench.ask_with(locally, "Run it.").succeeds());
    assert_eq!(told(&hosted), told(&local));
    let code = |turn: &str| fs::read_to_string(bench.session().join(turn).join("code.py")).unwrap();
    assert_eq!(code("turns/0001"), code("turns/0002"));
}

#[test]
fn code_that_the_provider_ran_is_told_as_local_code_is() {
    check_told("6 * 7", "42", &[]);
    check_told("6 * 7", "42", &["--no-stream"]);
}

#[test]
fn no_python_is_needed_where_code_runs_at_the_provider() {
    let bench = Bench::with(["sales.csv"]).script([round().interprets("1", "1\n").says("So.")]);
    let bench = bench.variable("CSV_AGENT_PYTHON", "/nonexistent/python3");
    ask(&bench, &[], "Run it.", 0);
    let tools = bench.request(0).body["tools"].clone();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|it| it["name"].as_str()).collect();
    let expected = [
        "list_datasets",
        "get_dataset_info",
        "find_value_columns",
        "send_data_to_ui_as_df",
        "send_chart_to_ui",
    ];
    assert_eq!(names.iter().flatten().copied().collect::<Vec<_>>(), expected);
    assert_eq!(tools[names.iter().position(Option::is_none).unwrap()]["type"], "code_interpreter");
}

#[test]
fn code_of_the_provider_and_local_tools_share_a_turn() {
    let asks = round()
        .thinks("g")
        .interprets("print(1)", "1\n")
        .calls("c1", "list_datasets", json!({}))
        .interprets("print(2)", "2\n");
    let bench = Bench::with(["sales.csv"]).script([asks, round().says("Done.")]);
    let turn = ask(&bench, &[], "Try both.", 0);
    assert_eq!(turn.results(), ["ci_1 ok", "ci_2 ok", "c1 ok"]);
    let back: Vec<_> = bench.request(1).input().iter().map(|it| it["type"].clone()).collect();
    let expected = [
        "message",
        "reasoning",
        "code_interpreter_call",
        "function_call",
        "code_interpreter_call",
        "function_call_output",
    ];
    assert_eq!(back[back.len() - expected.len()..], expected);
    assert_eq!(turn.phases("container").len(), 1);
    assert_eq!(turn.ending(), "complete: Done.");
}

#[test]
fn code_that_never_ran_goes_back_as_it_came() {
    let unwritten = json!({"type": "code_interpreter_call", "id": null, "status": "incomplete",
        "container_id": null, "code": null, "outputs": []});
    let bench = Bench::with(["sales.csv"]).script([
        round().item(unwritten).calls("c1", "list_datasets", json!({})),
        round().says("So."),
    ]);
    let turn = ask(&bench, &[], "Run it.", 0);
    assert_eq!(turn.results(), ["ci_1 error: failed", "c1 ok"]);
}

#[test]
fn one_chat_has_one_container() {
    let code = |text: &str| round().thinks("g").interprets("x", "1").says(text);
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    let chat = ["chat", "-f", "sales.csv", "--interpreter", "hosted"];
    let run = bench.pipe(chat, b"First?\nSecond?\n").succeeds();
    assert!(run.stdout().contains("One.") && run.stdout().contains("Two."), "{run}");
    assert_eq!(bench.server().containers().len(), 1);
    let back: Vec<_> = bench.request(1).input().iter().map(|it| it["type"].clone()).collect();
    let expected = ["message", "reasoning", "code_interpreter_call", "message", "message"];
    assert_eq!(back[back.len() - expected.len()..], expected);
}

#[test]
fn a_server_that_keeps_responses_keeps_the_container() {
    let list = |call_id| round().interprets("x", "1").calls(call_id, "list_datasets", json!({}));
    let bench = Bench::with(["sales.csv"]).script([
        list("c1").kept_as("resp_a", None),
        list("c2").kept_as("resp_b", Some("resp_a")),
        round().says("So.").kept_as("resp_c", Some("resp_b")),
    ]);
    let turn = ask(&bench, &["--chain"], "Run it.", 0);
    assert_eq!(turn.results(), ["ci_1 ok", "c1 ok", "ci_2 ok", "c2 ok"]);
    assert_eq!(bench.server().containers().len(), 1);
    assert_eq!(bench.request(2).input().len(), 1);
}

#[test]
fn both_interpreters_run_in_one_turn() {
    let bench = Bench::with(["sales.csv"])
        .script([round().interprets("1", "1\n").runs("c1", "print(6 * 7)"), round().says("Both.")]);
    let turn = Turn::of(
        &bench.ask_with(["--interpreter", "both", "--format", "jsonl"], "Try.").succeeds(),
    );
    assert_eq!(turn.results(), ["ci_1 ok", "c1 ok"]);
    assert!(bench.request(1).output_of("c1").contains("42"));
}

/// Checks how code that does not work is told.
#[track_caller]
fn check_failure(fails: Round, text: &str) {
    let bench = Bench::with(["sales.csv"]).script([fails.says("It cannot be divided.")]);
    let turn = ask(&bench, &[], "What is 1/0?", 0);
    let result = turn.one("tool_result");
    assert_eq!((&result["status"], &result["error"]["code"]), (&json!("error"), &json!("failed")));
    assert_eq!(result["result"]["kind"], "error");
    assert_eq!(result["result"]["text"].as_str().unwrap_or_default(), text);
    assert!(result["error"]["message"].as_str().is_some_and(|it| !it.is_empty()));
    assert_eq!(turn.ending(), "complete: It cannot be divided.");
}

#[test]
fn code_that_fails_is_told_as_local_code_is() {
    let trace = "Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\n\
                 ZeroDivisionError: division by zero";
    check_failure(round().interprets("1/0", trace), trace);
    let told = "the provider could not run the code: it is failed";
    check_failure(round().interpretation_fails("1/0"), told);
}

#[test]
fn an_answer_of_a_schema_or_a_verdict_comes_beside_code() {
    let schema = r#"{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}"#;
    let verdict = json!({"text": "Fine.", "findings": [], "assessment": "good"}).to_string();
    let bench = Bench::with(["sales.csv"]).script([
        round().interprets("1", "1\n").says("{\"n\": 10}"),
        round().interprets("2", "2\n").says(&verdict),
    ]);
    let turn = ask(&bench, &["--schema", schema], "How many?", 0);
    assert_eq!(turn.end()["output"], json!({"n": 10}));
    let turn = ask(&bench, &["--verdict"], "In order?", 0);
    assert_eq!(turn.end()["assessment"], "good");
    for index in 0..2 {
        let body = bench.request(index).body;
        assert_eq!(body["text"]["format"]["type"], "json_schema");
        let tools = body["tools"].as_array().unwrap();
        assert!(tools.iter().any(|it| it["type"] == "code_interpreter"));
        assert!(
            body["include"].as_array().unwrap().contains(&"code_interpreter_call.outputs".into())
        );
    }
}

#[test]
fn a_forced_run_of_code_is_forced_once_a_turn() {
    let bench = Bench::with(["sales.csv"]).script([
        round().interprets("1", "").calls("c1", "list_datasets", json!({})),
        round().says("So."),
    ]);
    ask(&bench, &["--tool-choice", "code_interpreter"], "Use Python.", 0);
    let choices = [0, 1].map(|it| bench.request(it).body["tool_choice"].clone());
    assert_eq!(choices, [json!({"type": "code_interpreter"}), json!("auto")]);
}

#[test]
fn an_answer_that_is_filtered_is_a_refusal_whatever_ran() {
    let filtered = || round().interprets("1", "1").says("So").ends_early_for("content_filter");
    let bench = Bench::with(["sales.csv"]).script([filtered(), filtered()]);
    for (arguments, result) in [(&[][..], "ci_1 ok"), (&["--no-stream"], "ci_2 ok")] {
        let turn = ask(&bench, arguments, "Run it.", 9);
        assert_eq!((turn.ending(), turn.results()), ("refused: So".into(), vec![result.into()]));
    }
}

#[test]
fn what_a_server_tells_of_code_is_bounded_and_cannot_write_to_a_terminal() {
    let hostile = |id: &str| {
        json!({"type": "code_interpreter_call", "id": id, "status": "completed",
            "container_id": "cntr_\u{1b}]0;x\u{7}/../..", "code": "\u{1b}[2J1",
            "outputs": [{"type": "logs", "logs": "\u{1b}[31mred\n".repeat(100_000)},
                {"type": "logs"}, {"type": "image", "url": "file:///etc/passwd"}, 7]})
    };
    let bench = Bench::with(["sales.csv"]).script([
        round().item(hostile("ci_\u{1b}[2J")).item(hostile("ci_\u{1b}[2J")).says("So."),
        round().item(hostile("ci_x")).says("So."),
    ]);
    let turn = ask(&bench, &[], "Run it.", 0);
    for result in turn.all("tool_result") {
        assert_eq!(result["truncated"], true);
        assert!(result.to_string().len() < 100_000);
    }
    let run = bench.ask_with(["--interpreter", "hosted", "-vv"], "Run it.").succeeds();
    assert!(!run.stderr().contains('\u{1b}') && !run.stdout().contains('\u{1b}'), "{run}");
    let shown = bench.run(["show", "last", "-vv"]).succeeds();
    assert!(!shown.stderr().contains('\u{1b}') && !shown.stdout().contains('\u{1b}'), "{shown}");
}

/// Demands that a command is refused before anything is sent.
#[track_caller]
fn check_refusal(arguments: &[&str], words: &str) {
    let bench = Bench::with(["sales.csv"]);
    let run = bench.ask_with(arguments.iter().copied(), "q").fails_with(2);
    assert!(run.stderr().contains(words), "{run}");
    assert_eq!((bench.n_requests(), bench.server().calls().len()), (0, 0));
}

#[test]
fn what_has_no_container_is_refused_before_anything_is_sent() {
    let hosted = ["--interpreter", "hosted"];
    let with = |more: &[&'static str]| [&hosted[..], more].concat();
    check_refusal(&with(&["--api", "chat"]), "chat");
    check_refusal(&with(&["--model", "builtin"]), "builtin");
    check_refusal(&with(&["--redact", "product"]), "--redact");
    check_refusal(&with(&["--no-rows"]), "--no-rows");
    check_refusal(&with(&["--container-memory", "2g"]), "2g");
    check_refusal(&with(&["--container", "../files"]), "../files");
    check_refusal(&["--tool-choice", "code_interpreter"], "--interpreter");
    check_refusal(&["--interpreter", "both", "--no-rows"], "--no-rows");
}

#[test]
fn a_cassette_of_the_other_dialect_is_refused() {
    let bench = Bench::with(["sales.csv"]).speaking(Api::Chat).script([round().says("Hi.")]);
    bench.ask_with(["--api", "chat", "--record", "c.jsonl"], "q").succeeds();
    let arguments = ["--interpreter", "hosted", "--replay", "c.jsonl"];
    let run = bench.ask_with(arguments, "q").fails_with(2);
    assert!(run.stderr().contains("chat"), "{run}");
}
