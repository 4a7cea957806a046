//! The failures that every client should survive, as a user sees them: what is told, how often the
//! server is asked, and that the session goes on. The numbers are those of `provider.rs`.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ask, code, goes_on, last_request, shown};
use crate::bench::{Bench, LateFailure, Round, Server, late_failure, round};

/// Asks with this script, and once more after it.
#[track_caller]
fn check<const N: usize>(bench: &Bench, script: [Round; N], exit: i32, ending: &str) {
    let before = bench.n_requests();
    bench.answers(script);
    let turn = ask(bench, ["--retries", "2"], "q", exit);
    let found = turn.ending();
    assert!(found.starts_with(ending), "{found}\ndoes not begin with\n{ending}");
    assert_eq!(bench.n_requests() - before, N, "requests");
    goes_on(bench);
}

fn good() -> Round {
    round().says("One table.")
}

const GOOD: &str = "complete: One table.";

fn bench() -> Bench {
    Bench::with(["sales.csv"])
}

/// Counts, in the REPL, how often it ran.
const COUNT: &str = "n = globals().get('n', 0) + 1\nn";

#[test]
fn f01_a_rate_limit_passes() {
    let limit = || {
        let words = "Rate limit reached for m. Please try again in 12ms.";
        round().errs(429, "tokens", "rate_limit_exceeded", words)
    };
    let bench = bench();
    check(&bench, [limit(), good()], 0, GOOD);
    check(&bench, [limit().header("retry-after-ms", "5"), good()], 0, GOOD);
    let down = || round().answers(500, "").header("retry-after-ms", "1");
    check(&bench, [down(), down(), good()], 0, GOOD);
    let ending = "provider: the provider failed with status 500; gave up after 3 tries";
    check(&bench, [down(), down(), down()], 6, ending);
    bench.answers([down(), down(), down(), round().errs(400, "invalid_request_error", "", "No.")]);
    let turns = [(); 2].map(|()| ask(&bench, ["--retries", "2"], "q", 6));
    let may_pass = turns.map(|it| it.end()["retryable"].clone());
    assert_eq!(
        may_pass,
        [true, false],
        "what was down may be up again, what was wrong stays wrong"
    );
    check(
        &bench,
        [limit().header("retry-after", "3600")],
        6,
        "provider: the provider's rate limit is reached",
    );
}

#[test]
fn f02_an_empty_account_is_asked_once() {
    let empty = round().errs(429, "insufficient_quota", "credit_balance_exhausted", "No money.");
    let ending = "provider: the account of the API key is out of credit with status 429: No money.";
    check(&bench(), [empty], 6, ending);
}

#[test]
fn f03_a_failure_after_http_said_that_all_is_well_is_one() {
    let words = "Please try again in 20ms.";
    let LateFailure { begun, nested, flat, failed } = late_failure(words);
    let bench = bench();
    check(&bench, [round().events([begun.clone(), nested.clone(), failed]), good()], 0, GOOD);
    check(&bench, [round().events([begun.clone(), flat]), good()], 0, GOOD);
    check(&bench, [round().events([begun, nested]).cut_after(2), good()], 0, GOOD);
    check(&bench, [round().fails("invalid_prompt", "Not this.")], 6, "provider: ");
}

#[test]
fn f04_a_call_of_a_broken_answer_does_not_run() {
    let bench = bench();
    // Six events: two to begin with, four of the call; the terminal one is missing.
    bench.answers([code("c1", COUNT).cut_after(6), code("c1", COUNT), code("c2", COUNT), good()]);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.results(), ["c1 ok", "c2 ok"]);
    assert_eq!(turn.phases("retrying").len(), 1);
    assert_eq!(bench.request(0).body, bench.request(1).body);
    assert_eq!(bench.request(2).output_of("c1"), "1");
    assert_eq!(bench.request(3).output_of("c2"), "2");
    goes_on(&bench);
    // The tries run out: it never ran.
    let broken = || code("c3", COUNT).closed_after(6);
    let ending =
        "provider: the provider's answer ended before it was complete; gave up after 3 tries";
    check(&bench, [broken(), broken(), broken()], 6, ending);
    assert!(!shown(&last_request(&bench)).iter().any(|it| it.contains("c3")));
}

#[test]
fn f05_calls_of_an_incomplete_response_do_not_run() {
    let bench = bench();
    let cut = round().calls_raw("c1", "python_repl", "{\"code\":\"df = ");
    let ending = "max_tokens: The answer was cut at the model's output limit";
    check(&bench, [cut.ends_early_for("max_output_tokens")], 7, ending);
    let whole = round().says("So far").runs("c1", COUNT).ends_early_for("max_output_tokens");
    check(&bench, [whole], 7, "max_tokens: So far");
    // Nobody is sent to a bound of ours that did not do it.
    bench.answers([round().says("So far").ends_early_for("max_output_tokens")]);
    let run = bench.ask("q").fails_with(7);
    let told = run.stderr().lines().filter(|it| it.starts_with("warning")).collect::<Vec<_>>();
    let cut = "warning: the provider cut the answer at an output limit of its own; ask for less at once, or \
               raise the limit where the server is yours";
    assert_eq!(told, [cut]);
    check(&bench, [round().says("It").ends_early_for("content_filter")], 9, "refused: It");
    bench.answers([code("c2", COUNT), good()]);
    ask(&bench, [], "q", 0);
    assert_eq!(last_request(&bench).output_of("c2"), "1");
    assert!(!last_request(&bench).body.to_string().contains("c1"));
}

#[test]
fn f06_signs_of_life_and_an_open_socket_are_no_failure() {
    let bench = bench();
    check(&bench, [good().left_open()], 0, GOOD);
    let alive = (0..5).map(|_| json!({"type": "keepalive"}));
    let item = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "One table."}]});
    let end = json!({"type": "response.completed", "response": {"status": "completed",
        "output": [item]}});
    let events: Vec<Value> = alive.chain([end]).collect();
    let slow = round().events(events).pausing(Duration::from_millis(50)).left_open();
    check(&bench, [slow], 0, GOOD);
}

#[test]
fn f07_it_does_not_matter_how_the_bytes_are_cut() {
    let bench = bench();
    let long = "é".repeat(1 << 16);
    bench.answers([code("c1", COUNT).in_chunks_of(7), round().says(&long).in_chunks_of(1000)]);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.results(), ["c1 ok"]);
    assert_eq!(turn.end()["text"].as_str().unwrap().len(), long.len());
    let deltas = turn.all("partial").into_iter().map(|it| it["delta"].as_str().unwrap());
    assert_eq!(deltas.collect::<String>(), long);
    let item = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "One table."}]});
    let end = json!({"type": "response.completed", "response": {"status": "completed",
        "output": [item]}});
    let raw = format!(
        ": a comment\r\n\r\ndata: {{\"type\":\"what.is.this\"}}\r\n\r\ndata: {end}\r\n\r\ndata: [DONE]\r\n\r\n"
    );
    check(&bench, [round().raw(raw)], 0, GOOD);
    let done = round().raw("data: {\"type\":\"response.created\"}\n\ndata: [DONE]\n\n");
    check(&bench, [done, good()], 0, GOOD);
}

#[test]
fn f08_bad_calls_are_answered_and_the_turn_goes_on() {
    let bench = bench();
    let bad = round().calls_raw("c1", "python_repl", "{oops").calls("c2", "no_tool", json!({}));
    bench.answers([bad, good()]);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.results(), ["c1 error: bad_arguments", "c2 error: unknown_tool"]);
    let request = bench.request(1);
    assert!(request.output_of("c1").contains("not JSON"), "{}", request.output_of("c1"));
    assert!(request.output_of("c2").contains("no tool `no_tool`; the tools are python_repl"));
    goes_on(&bench);
}

#[test]
fn f09_a_refused_field_is_left_out_and_a_long_conversation_is_told() {
    let bench = bench();
    let error = json!({"type": "invalid_request_error", "code": "unsupported_value",
        "param": "parallel_tool_calls", "message": "Not with this model."});
    let refused = round().answers(400, &json!({"error": error}).to_string());
    bench.answers([refused, code("c1", COUNT), good()]);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.phases("warning")[0]["code"], "field_dropped");
    let was_sent = |it| bench.request(it).body.get("parallel_tool_calls").is_some();
    assert_eq!([0, 1, 2].map(was_sent), [true, false, false]);
    goes_on(&bench);
    let long = round().errs(400, "invalid_request_error", "context_length_exceeded", "Too long.");
    check(&bench, [long], 6, "provider: the conversation is too long for the model");
}

#[test]
fn f10_a_refusal_is_told_and_an_empty_answer_is_asked_for_once_more() {
    let bench = bench();
    check(&bench, [round().refuses("I cannot help.")], 9, "refused: I cannot help.");
    let twice = "provider: the model's answer is empty";
    check(&bench, [round(), round()], 6, twice);
    check(&bench, [round().thinks("gA"), round().thinks("gB")], 6, twice);
    check(&bench, [round(), good()], 0, GOOD);
    let nudged = bench.request(bench.n_requests() - 2);
    assert!(shown(&nudged).last().unwrap().starts_with("user: Your last message was empty."));
}

#[test]
fn f11_what_is_no_response_is_shown() {
    let html = |status| {
        round().answers(status, "<html>\n <b>bad day</b>").header("content-type", "text/html")
    };
    let bench = bench();
    let refused = "auth_refused: the provider refused the API key with status 401: <html>";
    check(&bench, [html(401)], 4, refused);
    check(&bench, [html(502).header("retry-after-ms", "1"), good()], 0, GOOD);
    check(&bench, [html(200)], 6, "provider: the provider's answer is not a valid response");
    let unknown = round().errs(404, "invalid_request_error", "model_not_found", "No model `m`.");
    check(&bench, [unknown], 6, "provider: the provider refused the request with status 404");
    let elsewhere = Server::start([]);
    let target = format!("{}/responses", elsewhere.base_url());
    let away = round().answers(307, "").header("location", &target);
    check(&bench, [away], 6, "provider: the provider refused the request with status 307");
    assert!(elsewhere.requests().is_empty());
    let nobody = ["--retries", "0", "--base-url", "http://127.0.0.1:1/v1"];
    let turn = ask(&bench, nobody, "q", 6);
    let ending = "provider: cannot connect to `http://127.0.0.1:1`: connection refused";
    assert_eq!(turn.ending(), ending);
    goes_on(&bench);
}

#[test]
fn f12_small_servers_leave_things_out() {
    let bench = bench();
    let arguments = json!({"code": COUNT}).to_string();
    let call = json!({"type": "function_call", "call_id": "fc_x", "name": "python_repl",
        "arguments": arguments, "status": "completed"});
    let llama = [
        json!({"type": "response.created", "response": {"id": "resp_x"}}),
        json!({"type": "response.output_item.added", "item": call}),
        json!({"type": "response.output_item.done", "item": call}),
        json!({"type": "response.completed", "response": {"usage": {"input_tokens": 1}}}),
    ];
    let lines = llama.map(|it| format!("data: {it}\n\n")).concat();
    let ollama = round().events([
        json!({"type": "response.created", "response": {"id": "resp_7"}}),
        json!({"type": "response.reasoning_summary_text.delta", "delta": "Let me"}),
    ]);
    // It counts its calls from one in every response.
    bench.answers([round().raw(lines.clone()), ollama, round().raw(lines), good()]);
    let turn = ask(&bench, [], "q", 0);
    assert_eq!(turn.results(), ["fc_x ok", "fc_x_2 ok"]);
    assert_eq!(last_request(&bench).output_of("fc_x_2"), "2");
    goes_on(&bench);
}
