//! Rounds: what the model asks for, what it gets back, and what ends the turn when it does not end it.

use std::fs;

use serde_json::{Value, json};

use super::{ask, code, goes_on, last_request, shown};
use crate::bench::{Bench, round};

fn bench() -> Bench {
    Bench::with(["sales.csv"])
}

#[test]
fn calls_of_a_round_fail_alone_and_are_answered_in_order() {
    let bench = bench().script([
        round()
            .thinks("gA")
            .says("Let me look.")
            .runs("c1", "a = 1\na")
            .calls("c2", "get_dataset_info", json!({"name": "sales"}))
            .runs("c3", "a + 1 / 0")
            .calls("c4", "get_dataset_info", json!({"name": "nothing"}))
            .runs("c5", "a + 1")
            .calls("c6", "list_datasets", json!({})),
        round().says("Done."),
    ]);
    let turn = ask(&bench, [], "q", 0);
    let results = "c1 ok, c2 ok, c3 error: failed, c4 error: unknown_dataset, c5 ok, c6 ok";
    assert_eq!(turn.results().join(", "), results);
    assert_eq!(turn.ending(), "complete: Done.");
    let request = bench.request(1);
    let kinds: Vec<&Value> = request.input().iter().map(|it| &it["type"]).collect();
    // The reasoning goes back to the server that sealed it.
    let mut expected = vec!["message", "reasoning", "message"];
    expected.extend(["function_call"; 6]);
    expected.extend(["function_call_output"; 6]);
    assert_eq!(kinds, expected);
    let outputs = &request.input()[9..];
    let order = outputs.iter().map(|it| it["call_id"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(order.join(" "), "c1 c2 c3 c4 c5 c6");
    assert!(request.output_of("c3").contains("ZeroDivisionError"), "{}", request.output_of("c3"));
    assert_eq!(request.output_of("c5"), "2");
    // What was said beside the calls is superseded by the answer.
    let items: Vec<_> = turn.all("partial").iter().map(|it| it["item"].as_u64()).collect();
    assert_eq!(items, [Some(0), Some(0), Some(1), Some(1)]);
}

#[test]
fn wrong_arguments_are_told_and_nothing_is_guessed() {
    let load = |members: Value| ("load_dataset_sample", members.to_string());
    let cases = [
        (("python_repl", "{\"code\":".to_owned()), "not JSON"),
        (("python_repl", "[]".to_owned()), ""),
        (("python_repl", String::new()), "not JSON"),
        (("python_repl", json!({}).to_string()), "`code`"),
        (("python_repl", json!({"code": 1}).to_string()), "expected a string"),
        (("python_repl", json!({"code": " "}).to_string()), "`code` is empty"),
        (("python_repl", json!({"code": "1", "x": 1}).to_string()), "`x`"),
        (load(json!({"name": "sales", "df_name": "df"})), "`nrows`"),
        (load(json!({"name": "sales", "df_name": "df", "nrows": "5"})), "do not match the schema"),
        (load(json!({"name": "sales", "df_name": "df", "nrows": 0})), "must be at least 1"),
        (
            load(json!({"name": "sales", "df_name": "1 = x", "nrows": 5})),
            "not a valid Python variable name",
        ),
        (load(json!({"name": "sale", "df_name": "df", "nrows": 5})), "the datasets are sales"),
        (("Python_repl", json!({"code": "1"}).to_string()), "no tool `Python_repl`"),
        (("", json!({}).to_string()), "no tool ``"),
    ];
    let mut calls = round();
    for (at, ((name, arguments), _)) in cases.iter().enumerate() {
        calls = calls.calls_raw(&format!("c{at}"), name, arguments);
    }
    let bench = bench().script([calls, round().says("Done.")]);
    let turn = ask(&bench, [], "q", 0);
    for (at, (call, words)) in cases.iter().enumerate() {
        let result = turn.result_of(&format!("c{at}"));
        assert_eq!(result["status"], "error", "{call:?}");
        let output = bench.request(1).output_of(&format!("c{at}")).to_owned();
        assert!(output.contains(words), "{call:?}: {output}");
    }
    // Arguments that are no object are told as they came.
    let calls = turn.all("tool_call");
    assert_eq!(calls[0]["arguments_raw"], "{\"code\":");
    assert_eq!(calls[3]["arguments"], json!({}));
    goes_on(&bench);
}

#[test]
fn the_last_round_forbids_tools() {
    let bench = bench().script([code("c1", "1"), code("c2", "2"), round().says("So far: 2.")]);
    let turn = ask(&bench, ["--max-rounds", "3"], "q", 7);
    assert_eq!(turn.ending(), "max_rounds: So far: 2.");
    let choices = [0, 1, 2].map(|it| bench.request(it).body["tool_choice"].clone());
    assert_eq!(choices, ["auto", "auto", "none"]);
    // The tools are declared all the same: the beginning of the request stays as it was.
    assert_eq!(bench.request(0).body["tools"], bench.request(2).body["tools"]);
    assert_eq!(bench.request(0).body["instructions"], bench.request(2).body["instructions"]);
    goes_on(&bench);
}

#[test]
fn calls_in_the_last_round_do_not_run_and_are_closed() {
    let bench = bench().script([code("c1", "1"), round().says("Hm.").runs("c2", "2")]);
    let turn = ask(&bench, ["--max-rounds", "2"], "q", 7);
    assert_eq!(turn.ending(), "max_rounds: Hm.");
    assert_eq!(turn.results(), ["c1 ok"]);
    goes_on(&bench);
    assert_eq!(last_request(&bench).output_of("c2"), "aborted: the call was not run");
    bench.answers([code("c3", "3")]);
    let turn = ask(&bench, ["--max-rounds", "1"], "q", 7);
    let none = "max_rounds: The round limit was reached before there was an answer.";
    assert_eq!(turn.ending(), none);
    assert_eq!(last_request(&bench).body["tool_choice"], "none");
    goes_on(&bench);
}

#[test]
fn a_call_that_comes_again_is_told_and_then_ends_the_turn() {
    let again = |n: usize| code(&format!("c{n}"), "1 + 1");
    let bench = bench().script((1..=5).map(again)).script([round().says("It is 2.")]);
    let turn = ask(&bench, [], "q", 7);
    assert_eq!(turn.ending(), "repeated: It is 2.");
    assert_eq!(last_request(&bench).body["tool_choice"], "none");
    let request = last_request(&bench);
    let outputs = ["c1", "c2", "c3", "c4", "c5"].map(|it| request.output_of(it));
    assert_eq!(outputs[..2], ["2", "2"]);
    assert!(outputs[2].starts_with("2\n\n(This is call 3 with the same"), "{}", outputs[2]);
    assert!(outputs[3].starts_with("2\n\n(This is call 4 with the same"), "{}", outputs[3]);
    goes_on(&bench);
    // The same call with another outcome is none.
    let count = |n: usize| code(&format!("d{n}"), "n = globals().get('n', 0) + 1\nn");
    bench.answers((1..=6).map(count));
    bench.answers([round().says("It is 6.")]);
    assert_eq!(ask(&bench, [], "q", 0).ending(), "complete: It is 6.");
}

#[test]
fn tokens_have_a_limit() {
    let bench = bench();
    bench.answers([code("c1", "1").uses(400, 100), code("c2", "2").uses(400, 100)]);
    let turn = ask(&bench, ["--max-tokens", "1000"], "q", 7);
    let none = "max_tokens: The token limit was reached before there was an answer.";
    assert_eq!((turn.ending().as_str(), turn.results()), (none, vec!["c1 ok".to_owned()]));
    assert_eq!(turn.end()["usage"]["total_tokens"], 1000);
    goes_on(&bench);
    // An answer is an answer, whatever it cost.
    bench.answers([round().says("Dear.").uses(4000, 100)]);
    let turn = ask(&bench, ["--max-tokens", "1000"], "q", 0);
    assert_eq!(turn.ending(), "complete: Dear.");
    assert_eq!(turn.end()["usage"]["session_total_tokens"], 1000 + 110 + 4100);
}

#[test]
fn money_has_a_limit_and_is_told() {
    let bench = bench();
    let config = bench.path("../.config/csv-agent/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, "[prices.\"gpt-6.2-sol\"]\ninput = 1\noutput = 10\n").unwrap();
    let total = || {
        let meta = fs::read_to_string(bench.session().join("session.json")).unwrap();
        let meta: Value = serde_json::from_str(&meta).unwrap();
        format!("{:.4}", meta["total_cost_usd"].as_f64().unwrap())
    };
    // 0.0004 for input and 0.001 for output, each time.
    bench.answers([code("c1", "1").uses(400, 100), code("c2", "2").uses(400, 100)]);
    let turn = ask(&bench, ["--max-cost", "0.002"], "q", 7);
    let none = "max_cost: The cost limit was reached before there was an answer.";
    assert_eq!((turn.ending().as_str(), turn.results()), (none, vec!["c1 ok".to_owned()]));
    let cost = turn.end()["usage"]["cost_usd"].as_f64().unwrap();
    assert!((cost - 0.0028).abs() < 1e-9, "{cost}");
    assert_eq!(total(), "0.0028");
    bench.answers([round().says("Dear.").uses(400, 100)]);
    let turn = ask(&bench, ["--max-cost", "0.001"], "q", 0);
    assert_eq!(turn.ending(), "complete: Dear.");
    assert_eq!(total(), "0.0042");
    // A model whose price nobody knows costs an unknown amount.
    bench.answers([round().says("Free?")]);
    let turn = ask(&bench, ["--model", "other"], "q", 0);
    assert_eq!(turn.end()["usage"]["cost_usd"], Value::Null);
    assert_eq!(total(), "0.0042");
}

#[test]
fn two_calls_of_one_id_are_two_calls() {
    let bench = bench();
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "c1",
        "name": "python_repl", "arguments": "{\"code\": \"1 + 1\"}"});
    let end = json!({"type": "response.completed", "response": {"status": "completed",
        "output": [call, call]}});
    bench.answers([round().events([end]), round().says("Done.")]);
    assert_eq!(ask(&bench, [], "q", 0).results(), ["c1 ok", "c1_2 ok"]);
    let expected = ["user: q", "call c1", "call c1_2", "output c1: 2", "output c1_2: 2"];
    assert_eq!(shown(&last_request(&bench)), expected);
    goes_on(&bench);
}

#[test]
fn a_model_that_wants_another_round_gets_it() {
    let bench = bench().script([round().says("First I look.").goes_on(), round().says("42.")]);
    assert_eq!(ask(&bench, [], "q", 0).ending(), "complete: 42.");
    let expected = ["user: q", "assistant: First I look."];
    assert_eq!(shown(&last_request(&bench)), expected);
}

#[test]
fn a_large_output_is_cut_in_the_middle() {
    let bench = bench().script([
        code("c1", "print('head' + 'é' * 50_000 + 'tail')"),
        code("c2", "'x' * 100_000"),
        round().says("Done."),
    ]);
    let turn = ask(&bench, [], "q", 0);
    let request = last_request(&bench);
    for (call_id, note, first, last) in [
        ("c1", " bytes cut; the full text is data[", "head", "tail"),
        ("c2", " characters cut; the full text is data[", "xxx", "xxx"),
    ] {
        let output = request.output_of(call_id);
        assert!(output.len() <= 6 * 1024, "{call_id}: {} bytes", output.len());
        assert_eq!(turn.result_of(call_id)["bytes_to_model"], output.len());
        assert_eq!(turn.result_of(call_id)["truncated"], true);
        let (head, tail) = output.split_once(note).expect(note);
        assert!(head.contains(first) && tail.contains(last), "{output}");
    }
}

#[test]
fn more_calls_than_a_response_may_make_are_not_run() {
    let mut calls = round();
    for at in 0..130 {
        calls = calls.calls(&format!("c{at}"), "list_datasets", json!({}));
    }
    let bench = bench().script([calls, round().says("Done.")]);
    let turn = ask(&bench, [], "q", 7);
    assert_eq!(turn.result_of("c129")["error"]["code"], "too_many_calls");
    goes_on(&bench);
}
