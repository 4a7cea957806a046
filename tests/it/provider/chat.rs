//! The provider against servers that speak Chat Completions, each with the oddities seen so far.

use serde_json::{Value, json};

use csv_agent_provider::{Api, Provider, RemoteOptions};
use csv_agent_types::conversation::{AnswerFormat, Item, ToolChoice, ToolDeclaration};

use super::{GOOD, SHORT, check_at, good, options, question, record, request, transcript};
use crate::bench::{Captured, Round, Server, round};

const BROKEN: &str = "the provider's answer ended before it was complete";

fn server(rounds: impl IntoIterator<Item = Round>) -> Server {
    let server = Server::start(rounds);
    server.speak(Api::Chat);
    server
}

#[track_caller]
fn check_with(
    change: impl FnOnce(&mut RemoteOptions),
    rounds: impl IntoIterator<Item = Round>,
    expected: &str,
) {
    let chat = |options: &mut RemoteOptions| {
        options.api = Some(Api::Chat);
        change(options);
    };
    check_at(&server(rounds), chat, expected);
}

#[track_caller]
fn check(rounds: impl IntoIterator<Item = Round>, expected: &str) {
    check_with(|_| {}, rounds, expected);
}

/// Chunks as they come off the wire, each a JSON text.
#[track_caller]
fn check_raw(chunks: &[&str], expected: &str) {
    let raw = chunks.iter().map(|it| ["data: ", it, "\n\n"].concat()).collect::<String>();
    check([round().raw(raw)], expected);
}

#[test]
fn a_tool_of_another_provider_is_refused_before_anything_is_sent() {
    let mut request = question();
    request.tools.push(ToolDeclaration::Hosted {
        name: "code_interpreter",
        provider: "responses",
        configuration: json!({"type": "code_interpreter", "container": {"type": "auto"}}),
        include: &[],
    });
    let refused = |kind: &str| {
        format!(
            "Rejected, Provider: the tool `code_interpreter` belongs to another provider than `{kind}`"
        )
    };
    let server = server([]);
    let options = RemoteOptions { api: Some(Api::Chat), ..options(&server) };
    let mut chat = Provider::remote(options).unwrap();
    assert_eq!(transcript(&mut chat, &request), refused("chat"));
    assert_eq!(transcript(&mut Provider::Builtin, &request), refused("builtin"));
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn an_answer_comes_as_a_stream_or_in_one_piece() {
    check([good()], GOOD);
    check_with(|it| it.stream = false, [good()], "completed: message");
    let two = || {
        let calls = round().thinks_aloud("Hm.").says("Looking.");
        calls.calls("c1", "list_datasets", json!({})).calls("c2", "f", json!({"a": 1}))
    };
    let items = "completed: reasoning message c1=list_datasets({}) c2=f({\"a\":1})";
    check([two()], &format!("text: Looking.\n{items}"));
    check_with(|it| it.stream = false, [two()], items);
    // A server that knows no streams answers in one piece.
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "One table."}}]});
    check([round().answers(200, &whole.to_string())], "completed: message");
}

#[test]
fn a_response_goes_back_as_one_message() {
    let calls = round()
        .says("So.")
        .calls("c1", "list_datasets", json!({}))
        .calls_raw("c2", "nothing", "{\"code\":");
    let server = server([calls, good()]);
    let options = RemoteOptions { api: Some(Api::Chat), ..options(&server) };
    let mut provider = Provider::remote(options).unwrap();
    let mut items = question().items;
    let first = super::block_on(provider.respond(&request(items.clone()), &mut |_| {})).unwrap();
    assert_eq!(first.usage.total_tokens(), 110);
    items.extend(first.items);
    items.push(Item::output("c1", "[\"sales\"]"));
    items.push(Item::output("c2", "no such tool"));
    assert_eq!(transcript(&mut provider, &request(items)), GOOD);
    let second = &server.requests()[1];
    assert_eq!(second.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(second.output_of("c2"), "no such tool");
}

#[test]
fn a_server_is_asked_in_the_dialect_it_speaks() {
    let server = server([good(), good()]);
    let mut provider = Provider::remote(options(&server)).unwrap();
    let switched = "api_switched: the server has no Responses API (status 404): using the Chat Completions \
                    API instead";
    assert_eq!(transcript(&mut provider, &question()), format!("{switched}\n{GOOD}"));
    assert_eq!(provider.api(), Api::Chat);
    assert_eq!(transcript(&mut provider, &question()), GOOD);
    let apis: Vec<_> = server.requests().iter().filter_map(Captured::api).collect();
    assert_eq!(apis, [Api::Responses, Api::Chat, Api::Chat], "it is asked once");
    // It has been updated: what was known of it heals, once it is clear that it is not only away.
    server.speak(Api::Responses);
    server.script([good()]);
    let back = "api_switched: the server has no Chat Completions API (status 404): using the Responses \
                API instead";
    let away = "try 1 of 3: the provider refused the request with status 404: 404 page not found";
    assert_eq!(transcript(&mut provider, &question()), format!("{away}\n{back}\n{GOOD}"));
}

#[test]
fn a_server_that_speaks_neither_is_told_so() {
    let gone = || round().answers(404, "{\"detail\":\"Not Found\"}");
    let server = Server::start([gone()]);
    let found = transcript(&mut Provider::remote(options(&server)).unwrap(), &question());
    let both = "the server offers neither the Responses API nor Chat Completions";
    let refused = "the provider refused the request with status 404: Not Found";
    let switched = "api_switched: the server has no Responses API (status 404): using the Chat Completions \
                    API instead";
    assert_eq!(found, format!("{switched}\nNoEndpoint, Provider: {both}: {refused}"));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn no_other_refusal_changes_the_dialect() {
    let model = round().errs(404, "not_found_error", "", "model \"m\" not found, try pulling it");
    let bad = round().errs(400, "invalid_request_error", "", "No.");
    for refusal in [model, bad] {
        let server = Server::start([refusal]);
        let found = transcript(&mut Provider::remote(options(&server)).unwrap(), &question());
        assert!(found.starts_with("Rejected, Provider"), "{found}");
        assert_eq!(server.requests().len(), 1);
    }
    // Who names a dialect gets that or nothing.
    let server = self::server([]);
    let options = RemoteOptions { api: Some(Api::Responses), ..options(&server) };
    let found = transcript(&mut Provider::remote(options).unwrap(), &question());
    assert!(found.starts_with("NoEndpoint, Provider"), "{found}");
}

#[test]
fn calls_come_in_every_shape() {
    let call = "completed: c1=f({\"a\":1})";
    let end = r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#;
    let whole = r#"{"choices":[{"delta":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}"#;
    check_raw(&[whole, end], call);
    let object = r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":{"a":1}}}]}}]}"#;
    let stopped = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    check_raw(&[object, stopped], call);
    let nameless =
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":""}}]}}]}"#;
    check_raw(&[nameless, end], "completed: call_1=f({})");
    let both = r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f"}},{"function":{"name":"g"}}]},"finish_reason":"stop"}]}"#;
    check_raw(&[both], "completed: call_1=f({}) call_2=g({})");
}

#[test]
fn an_answer_without_an_end_is_broken_and_one_with_an_end_is_not() {
    // Begin, two pieces of text, the end, the count: the count may be missing, and `[DONE]`.
    check([good().closed_after(4)], GOOD);
    check([good().cut_after(4)], GOOD);
    check([good().silent_after(4)], GOOD);
    check([good().left_open()], GOOD);
    let superseded = format!("text: One table.\nsuperseded\ntry 1 of 3: {BROKEN}\n{GOOD}");
    check([good().closed_after(3), good()], &superseded);
    let done = "data: {\"choices\":[]}\n\ndata: [DONE]\n\n";
    check([round().raw(done), good()], &format!("try 1 of 3: {BROKEN}\n{GOOD}"));
    let silent = |it: &mut RemoteOptions| {
        it.idle = SHORT;
        it.retries = 0;
    };
    let quiet = "Transient, Provider: the provider sent nothing for 0.15 s";
    check_with(silent, [round().silent_after(1)], quiet);
}

#[test]
fn an_answer_that_is_cut_says_why() {
    let cut = || round().calls_raw("c1", "python_repl", "{\"code\":\"df = ");
    check(
        [cut().ends_early_for("max_output_tokens")],
        "incomplete for max_output_tokens: c1=python_repl({\"code\":\"df = )",
    );
    check_with(
        |it| it.stream = false,
        [round().says("So").ends_early_for("content_filter")],
        "incomplete for content_filter: message",
    );
    check([round().refuses("I cannot.")], "completed: refusal=\"I cannot.\"");
    check([round()], "completed:");
}

#[test]
fn an_error_among_the_chunks_is_judged_like_any_other() {
    let limit = round().says("One").fails("rate_limit_exceeded", "Please try again in 20ms.");
    let reason = "the provider's rate limit is reached: Please try again in 20ms.";
    check(
        [limit, good()],
        &format!("text: One\nsuperseded\ntry 1 of 3 after 20 ms: {reason}\n{GOOD}"),
    );
    check_raw(
        &[r#"{"error":{"code":400,"message":"bad","type":"invalid_request_error"}}"#],
        "Rejected, Provider: the provider refused the request with status 400: bad",
    );
    check_raw(
        &["{\"choices\":[{\"delta\":"],
        "Malformed, Provider: cannot read a part of the provider's answer: an event is not valid JSON",
    );
    check([round().answers(200, "")], "Malformed, Provider: the provider's answer is empty");
}

#[test]
fn a_refused_field_is_dropped_once_and_for_all() {
    let fault = json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"],
        "msg": "Extra inputs are not permitted"}]});
    let refusal = round().answers(422, &fault.to_string());
    let server = server([refusal, good(), good()]);
    let options = RemoteOptions { api: Some(Api::Chat), ..options(&server) };
    let mut provider = Provider::remote(options).unwrap();
    let found = transcript(&mut provider, &question());
    let dropped = "field_dropped: asking again without `stream_options`: the provider refused the \
                   request with status 422: stream_options: Extra inputs are not permitted";
    assert_eq!(found, format!("{dropped}\n{GOOD}"));
    assert_eq!(transcript(&mut provider, &question()), GOOD);
    let sent = |it: &Captured| it.body.get("stream_options").is_some();
    assert_eq!(server.requests().iter().map(sent).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn the_form_of_an_answer_is_demanded_when_tools_are_over() {
    let schema = json!({"type": "object", "properties": {}, "required": [],
        "additionalProperties": false});
    let mut asked = question();
    asked.format = Some(AnswerFormat { name: "verdict".into(), schema, strict: true });
    let server = server([good(), good()]);
    let options = RemoteOptions { api: Some(Api::Chat), ..options(&server) };
    let mut provider = Provider::remote(options).unwrap();
    assert!(!provider.enforces_format(ToolChoice::Auto));
    transcript(&mut provider, &asked);
    asked.tool_choice = ToolChoice::None;
    assert!(provider.enforces_format(ToolChoice::None));
    transcript(&mut provider, &asked);
    let sent = |it: &Captured| it.body["response_format"]["json_schema"]["name"].clone();
    let sent: Vec<Value> = server.requests().iter().map(sent).collect();
    assert_eq!(sent, [Value::Null, "verdict".into()]);
}

#[test]
fn a_replay_is_what_was_recorded_with_its_change_of_dialect() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("q.cass.jsonl");
    let server = server([good()]);
    let provider = Provider::remote(options(&server)).unwrap();
    let mut provider = provider.recording(&path).unwrap();
    let live = transcript(&mut provider, &question());
    let mut provider = Provider::replay(&path).unwrap();
    assert_eq!((provider.name(), provider.api()), ("replay", Api::Chat));
    assert_eq!(transcript(&mut provider, &question()), live);
    // All are used: the last of the same request answers from now on.
    assert_eq!(transcript(&mut provider, &question()), GOOD);
    // Lines of either dialect may stand in one cassette.
    let mut other = question();
    other.items.push(Item::user("and?"));
    record(&path, vec![good()], &[other.clone()]);
    assert_eq!(transcript(&mut Provider::replay(&path).unwrap(), &other), GOOD);
}

#[test]
fn another_model_than_was_asked_is_told_once() {
    let server = server([good().served_by("n"), good().served_by("n")]);
    let options = RemoteOptions { api: Some(Api::Chat), ..options(&server) };
    let mut provider = Provider::remote(options).unwrap();
    let told = "text: One table.\nmodel_differs: asked the model `m`, but `n` answered\n";
    assert_eq!(transcript(&mut provider, &question()), format!("{told}completed: message"));
    assert_eq!(transcript(&mut provider, &question()), GOOD);
}
