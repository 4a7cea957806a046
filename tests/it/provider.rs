//! The provider against a server that answers in every way seen so far, and against cassettes.
//!
//! A case is a script and a transcript: everything the provider reported, in order.

mod chat;
mod store;

use std::fmt::Write;
use std::fs;
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use csv_agent_provider::error::ProviderError;
use csv_agent_provider::{Api, Key, Progress, Provider, RemoteOptions};
use csv_agent_types::conversation::{
    FinishReason, Item, Request, Response, ToolChoice, ToolDeclaration,
};
use csv_agent_types::status::{Failure, FailureKind};

use crate::bench::{HANG, KEY, LateFailure, Round, Server, in_time, late_failure, round};

/// Silence that no test waits for.
const PATIENCE: Duration = HANG;
/// Silence that counts, where nothing else has to be done in that time.
const SHORT: Duration = Duration::from_millis(150);

pub fn request(items: Vec<Item>) -> Request {
    Request {
        model: "m".into(),
        instructions: "Answer.".into(),
        items,
        tools: vec![ToolDeclaration::Function {
            name: "list_datasets",
            description: "Lists.".into(),
            parameters: json!({"type": "object", "properties": {}, "required": [],
                "additionalProperties": false}),
        }],
        tool_choice: ToolChoice::Auto,
        format: None,
        reasoning: None,
        cache_key: "session".into(),
    }
}

fn question() -> Request {
    request(vec![Item::user("what data is there?")])
}

fn options(server: &Server) -> RemoteOptions {
    options_at(server.base_url())
}

fn options_at(base_url: String) -> RemoteOptions {
    RemoteOptions {
        base_url,
        key: Some(Key::new(KEY)),
        retries: 2,
        first_event: PATIENCE,
        idle: PATIENCE,
        ..RemoteOptions::default()
    }
}

/// Waits for the future, but not for ever.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(HANG, future).await.expect("no hang") })
}

/// Asks once and returns everything that was reported, a line each.
fn transcript(provider: &mut Provider, request: &Request) -> String {
    let mut lines = String::new();
    let mut is_in_text = false;
    let outcome = block_on(provider.respond(request, &mut |progress| {
        if !matches!(progress, Progress::Delta(_)) && std::mem::take(&mut is_in_text) {
            lines.push('\n');
        }
        match progress {
            Progress::Delta(delta) => {
                let lead = if is_in_text { "" } else { "text: " };
                is_in_text = true;
                lines += lead;
                lines += delta;
            }
            Progress::Superseded => lines += "superseded\n",
            Progress::Hosted(name) => writeln!(lines, "the provider runs {name}").unwrap(),
            Progress::Retrying { attempt, max_attempts, delay, reason, http_status: _ } => {
                // Without a wish of the server, the delay is random.
                let after = if delay < Duration::from_millis(300) {
                    format!(" after {} ms", delay.as_millis())
                } else {
                    String::new()
                };
                writeln!(lines, "try {attempt} of {max_attempts}{after}: {reason}").unwrap();
            }
            Progress::Warning { code, message } => writeln!(lines, "{code}: {message}").unwrap(),
            Progress::Sending { .. }
            | Progress::Calls(_)
            | Progress::Calling { .. }
            | Progress::Uploading { .. }
            | Progress::Fetched { .. }
            | Progress::Unsent => {}
        }
    }));
    if is_in_text {
        lines.push('\n');
    }
    lines + &shown(outcome)
}

fn shown(outcome: Result<Response, ProviderError>) -> String {
    match outcome {
        Ok(response) => {
            let ending = match response.ending {
                FinishReason::Completed => "completed".to_owned(),
                FinishReason::Incomplete(reason) => format!("incomplete for {reason}"),
            };
            let items = response.items.iter().map(|item| match item.tool_call() {
                Some(call) => format!(" {}={}({})", call.call_id, call.name, call.arguments),
                None => match item.refusal() {
                    Some(refusal) => format!(" refusal={refusal:?}"),
                    None => format!(" {}", item.0["type"].as_str().unwrap()),
                },
            });
            format!("{ending}:{}", items.collect::<String>())
        }
        Err(error) => {
            let kind = format!("{:?}", error.kind);
            let kind = kind.split([' ', '(']).next().unwrap().to_owned();
            format!("{kind}, {:?}: {error}", error.failure_kind())
        }
    }
}

#[track_caller]
fn check_with(
    change: impl FnOnce(&mut RemoteOptions),
    rounds: impl IntoIterator<Item = Round>,
    expected: &str,
) {
    check_at(&Server::start(rounds), change, expected);
}

#[track_caller]
fn check_at(server: &Server, change: impl FnOnce(&mut RemoteOptions), expected: &str) {
    let mut options = options(server);
    change(&mut options);
    let mut provider = Provider::remote(options).unwrap();
    let found = transcript(&mut provider, &question());
    assert_eq!(found.replace(&server.base_url(), "SERVER"), expected);
}

#[track_caller]
fn check(rounds: impl IntoIterator<Item = Round>, expected: &str) {
    check_with(|_| {}, rounds, expected);
}

#[test]
fn a_call_is_announced_before_its_arguments_are_there() {
    for api in [Api::Responses, Api::Chat, Api::Messages] {
        let server = Server::start([round().calls("c", "list_datasets", json!({}))]);
        server.speak(api);
        let mut provider =
            Provider::remote(RemoteOptions { api: Some(api), ..options(&server) }).unwrap();
        let mut announced = Vec::new();
        let mut hear = |progress: Progress<'_>| {
            if let Progress::Calls(name) = progress {
                announced.push(name.to_owned());
            }
        };
        block_on(provider.respond(&question(), &mut hear)).unwrap();
        assert_eq!(announced, ["list_datasets"], "{}", api.name());
    }
}

fn good() -> Round {
    round().says("One table.")
}

const GOOD: &str = "text: One table.\ncompleted: message";

#[test]
fn an_answer_comes_as_a_stream_or_in_one_piece() {
    check([good()], GOOD);
    check_with(|it| it.stream = false, [good()], "completed: message");
    let two = || round().thinks("gA").calls("c1", "list_datasets", json!({})).says("Looking.");
    check([two()], "text: Looking.\ncompleted: reasoning c1=list_datasets({}) message");
    check_with(
        |it| it.stream = false,
        [two()],
        "completed: reasoning c1=list_datasets({}) message",
    );
}

#[test]
fn the_head_carries_the_key_and_the_names_and_nothing_else_does() {
    let server = Server::start([good()]);
    let mut options = options(&server);
    options.organization = Some("org-1".into());
    options.project = Some("proj-1".into());
    let mut provider = Provider::remote(options).unwrap();
    assert_eq!((provider.name(), provider.api()), ("openai-compatible", Api::Responses));
    assert!(!format!("{provider:?}").contains(KEY), "{provider:?}");
    assert_eq!(transcript(&mut provider, &question()), GOOD);
    let request = &server.requests()[0];
    let bearer = format!("Bearer {KEY}");
    assert_eq!(request.header("authorization"), Some(bearer.as_str()));
    assert_eq!(request.header("openai-organization"), Some("org-1"));
    assert_eq!(request.header("openai-project"), Some("proj-1"));
    assert_eq!(request.header("accept"), Some("text/event-stream"));
    assert!(!request.body.to_string().contains(KEY));
}

#[test]
fn a_response_goes_back_as_it_came() {
    let calls = round()
        .thinks("gA")
        .calls("c1", "list_datasets", json!({}))
        .calls_raw("c2", "nothing", "{\"code\":");
    let server = Server::start([calls, good()]);
    let mut provider = Provider::remote(options(&server)).unwrap();
    let mut items = question().items;
    let first = block_on(provider.respond(&request(items.clone()), &mut |_| {})).unwrap();
    assert_eq!(first.usage.total_tokens(), 110);
    assert_eq!(first.model.as_deref(), Some("m"));
    items.extend(first.items);
    items.push(Item::output("c2", "no such tool"));
    items.push(Item::output("c1", "[\"sales\"]"));
    assert_eq!(transcript(&mut provider, &request(items)), GOOD);
    assert_eq!(server.requests()[1].output_of("c1"), "[\"sales\"]");
}

// The numbers in the names are those of the list of failures that every client should survive.

#[test]
fn failure_1_a_rate_limit_passes() {
    let limit = || {
        let words = "Rate limit reached for m. Please try again in 12ms.";
        round().errs(429, "tokens", "rate_limit_exceeded", words)
    };
    let expected = |ms: u32| {
        let lead = "the provider's rate limit is reached with status 429";
        let words = "Rate limit reached for m. Please try again in 12ms.";
        format!("try 1 of 3 after {ms} ms: {lead}: {words}\n{GOOD}")
    };
    check([limit(), good()], &expected(12));
    check([limit().header("retry-after-ms", "7"), good()], &expected(7));
    check([limit().header("retry-after", "0.02"), good()], &expected(20));
    check(
        [limit().header("retry-after", "3600")],
        "Transient, Provider: the provider's rate limit is reached with status 429: Rate \
         limit reached for m. Please try again in 12ms.; the provider asks for a wait of 3600 s, and \
         the limit is 120 s",
    );
}

#[test]
fn failure_1_tries_run_out() {
    let down = || round().answers(500, "").header("retry-after-ms", "1");
    check(
        [down(), down(), down()],
        "try 1 of 3 after 1 ms: the provider failed with status 500\n\
         try 2 of 3 after 1 ms: the provider failed with status 500\n\
         Transient, Provider: the provider failed with status 500; gave up after 3 tries",
    );
    check_with(
        |it| it.retries = 0,
        [down()],
        "Transient, Provider: the provider failed with status 500",
    );
    let overruled = round().answers(500, "").header("x-should-retry", "false");
    check([overruled], "Rejected, Provider: the provider refused the request with status 500");
}

#[test]
fn failure_2_an_empty_account_is_asked_once() {
    check(
        [round().errs(429, "insufficient_quota", "credit_balance_exhausted", "You ran out.")],
        "QuotaExceeded, Provider: the account of the API key is out of credit with status 429: You \
         ran out.",
    );
}

#[test]
fn failure_3_errors_come_after_http_said_that_all_is_well() {
    let words = "Please try again in 20ms.";
    let LateFailure { begun, nested, flat, failed } = late_failure(words);
    let expected =
        format!("try 1 of 3 after 20 ms: the provider's rate limit is reached: {words}\n{GOOD}");
    for events in [
        vec![begun.clone(), nested.clone(), failed.clone()],
        vec![begun.clone(), flat, failed.clone()],
        vec![begun.clone(), nested.clone()],
        vec![begun.clone(), failed],
    ] {
        check([round().events(events), good()], &expected);
    }
    // The failure counts, not the silence or the break after it.
    check([round().events([begun.clone(), nested.clone()]).left_open(), good()], &expected);
    check([round().events([begun, nested]).cut_after(2), good()], &expected);
    check(
        [round().fails("context_length_exceeded", "Too many tokens.")],
        "ContextTooLong, Provider: the conversation is too long for the model: Too many tokens.",
    );
    check(
        [round().fails("invalid_prompt", "Not this.")],
        "Rejected, Provider: the provider refused the request: Not this.",
    );
}

#[test]
fn failure_4_a_call_counts_only_when_the_response_is_complete() {
    // Six events: two to begin with, four of the call; the terminal one is missing.
    let called = || round().calls("c1", "list_datasets", json!({}));
    let closed = "the provider's answer ended before it was complete";
    check([called().closed_after(6), good()], &format!("try 1 of 3: {closed}\n{GOOD}"));
    let server = Server::start([called().cut_after(6), good()]);
    let mut provider = Provider::remote(options(&server)).unwrap();
    let found = transcript(&mut provider, &question());
    let broken = "try 1 of 3: the connection broke within the provider's answer: ";
    assert!(found.starts_with(broken) && found.ends_with(GOOD), "{found}");
    assert!(!found.contains("c1"), "{found}");
    assert_eq!(server.requests()[0].body, server.requests()[1].body);
}

#[test]
fn failure_4_text_of_a_broken_answer_is_superseded() {
    check(
        [round().says("One half").closed_after(4), good()],
        "text: One \nsuperseded\ntry 1 of 3: the provider's answer ended before it was complete\n\
         text: One table.\ncompleted: message",
    );
}

#[test]
fn failure_5_an_incomplete_response_is_told_and_not_repeated() {
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
}

/// Asks a server once with a limit of silence, and with a longer one until the transcript is as expected: a
/// busy machine is slow to say anything.
#[track_caller]
fn check_silence(
    stream: bool,
    round: impl Fn(Duration) -> Round,
    expected: impl Fn(Duration, &str) -> bool,
) {
    in_time(SHORT, |limit| {
        let server = Server::start([round(limit)]);
        let (first_event, idle) = (limit, limit);
        let options = RemoteOptions { first_event, idle, stream, retries: 0, ..options(&server) };
        let found = transcript(&mut Provider::remote(options).unwrap(), &question());
        // Where it was given up before the request came.
        server.forget();
        if expected(limit, &found) { Ok(()) } else { Err(found) }
    });
}

#[test]
fn failure_6_silence_has_a_limit() {
    let quiet = |limit: Duration, found: &str| {
        let seconds = limit.as_secs_f64();
        found == format!("Transient, Provider: the provider sent nothing for {seconds} s")
    };
    check_silence(true, |_| good().silent_after(2), quiet);
    check_silence(true, |_| good().silent_after(0), quiet);
    for stream in [true, false] {
        let late = |limit: Duration, found: &str| {
            found.ends_with(&format!("` did not answer within {} s", limit.as_secs_f64()))
        };
        check_silence(stream, |_| round().mute(), late);
    }
}

#[test]
fn failure_6_signs_of_life_are_no_silence() {
    let mut events = vec![json!({"type": "keepalive"}); 12];
    events.push(json!({"type": "response.completed", "response": {"status": "completed",
        "output": [{"type": "message", "role": "assistant", "content": []}]}}));
    // Twelve pauses of a sixth are twice the limit.
    let alive = |limit| round().events(events.clone()).pausing(limit / 6);
    check_silence(true, alive, |_, found| found == "completed: message");
}

#[test]
fn failure_6_the_end_is_seen_at_once_though_the_socket_stays_open() {
    // Nobody else closes it, and all wait longer than this test may take.
    check([good().left_open()], GOOD);
}

#[test]
fn failure_7_it_does_not_matter_how_the_bytes_are_cut() {
    let item = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "häß€"}]});
    let delta = json!({"type": "response.output_text.delta", "delta": "häß€"});
    let done = json!({"type": "response.output_item.done", "item": item});
    let end = json!({"type": "response.completed", "response": {"output": []}});
    for line_end in ["\n", "\r\n", "\r"] {
        let lines = [
            "\u{feff}: a comment".to_owned(),
            "event: response.created".to_owned(),
            "data: {\"type\":\"response.created\"}".to_owned(),
            String::new(),
            "data: {\"type\":\"response.sneezed\",".to_owned(),
            "data: \"who\":\"bless\"}".to_owned(),
            String::new(),
            format!("data:{delta}"),
            String::new(),
            format!("data: {done}"),
            String::new(),
            format!("data: {end}"),
            String::new(),
            "data: [DONE]".to_owned(),
            String::new(),
        ];
        let bytes = lines.map(|it| it + line_end).concat();
        for n_bytes in [1, 2, 3, 7, 4096] {
            let cut = round().raw(bytes.clone()).in_chunks_of(n_bytes);
            check([cut], "text: häß€\ncompleted: message");
        }
    }
}

#[test]
fn failure_7_a_line_may_be_long() {
    let text = "x".repeat(1 << 20);
    check(
        [round().says(&text).in_chunks_of(64 << 10)],
        &format!("text: {text}\ncompleted: message"),
    );
}

#[test]
fn failure_7_done_without_an_end_is_a_broken_answer() {
    let raw = "data: {\"type\":\"response.created\"}\n\ndata: [DONE]\n\n";
    let broken = "the provider's answer ended before it was complete";
    // The socket stays open: `[DONE]` is enough to know.
    check([round().raw(raw).left_open(), good()], &format!("try 1 of 3: {broken}\n{GOOD}"));
}

#[test]
fn failure_8_bad_calls_are_handed_on_as_they_came() {
    check(
        [round().calls_raw("c1", "python_repl", "{oops").calls("c2", "no_tool", json!({}))],
        "completed: c1=python_repl({oops) c2=no_tool({})",
    );
}

#[test]
fn failure_9_a_refused_field_is_dropped_once_and_for_all() {
    let refusal = |param: &str| {
        let error = json!({"type": "invalid_request_error", "code": "unsupported_value",
            "param": param, "message": "Not with this model."});
        round().answers(400, &json!({"error": error}).to_string())
    };
    let server = Server::start([refusal("parallel_tool_calls"), good(), good()]);
    let mut provider = Provider::remote(options(&server)).unwrap();
    assert_eq!(
        transcript(&mut provider, &question()),
        format!(
            "field_dropped: asking again without `parallel_tool_calls`: the provider refused the \
             request with status 400: Not with this model.\n{GOOD}"
        )
    );
    assert_eq!(transcript(&mut provider, &question()), GOOD);
    let was_sent = |it: &crate::bench::Captured| it.body.get("parallel_tool_calls").is_some();
    let was_sent: Vec<bool> = server.requests().iter().map(was_sent).collect();
    assert_eq!(was_sent, [true, false, false]);

    // A field that is still complained about, or was never sent, is no reason to ask again.
    let refused = "the provider refused the request with status 400: Not with this model.";
    check([refusal("include")], &format!("Rejected, Provider: {refused}"));
    check(
        [refusal("parallel_tool_calls"), refusal("parallel_tool_calls")],
        &format!(
            "field_dropped: asking again without `parallel_tool_calls`: {refused}\n\
             Rejected, Provider: {refused}"
        ),
    );
}

#[test]
fn failure_9_a_conversation_that_is_too_long_is_told() {
    check(
        [round().errs(400, "invalid_request_error", "context_length_exceeded", "Too long.")],
        "ContextTooLong, Provider: the conversation is too long for the model with status 400: Too \
         long.",
    );
}

#[test]
fn failure_10_answers_without_an_answer_are_answers() {
    check([round().refuses("I cannot.")], "completed: refusal=\"I cannot.\"");
    check([round()], "completed:");
    check([round().thinks("gA")], "completed: reasoning");
}

#[test]
fn failure_11_what_is_no_response_is_shown() {
    let html = |status: u16| {
        round().answers(status, "<html>\n <b>bad\u{7} day</b>").header("content-type", "text/html")
    };
    check(
        [html(401)],
        "Unauthorized, Auth: the provider refused the API key with status 401: <html> <b>bad \
         day</b>",
    );
    let failed = "the provider failed with status 502: <html> <b>bad day</b>";
    check(
        [html(502).header("retry-after-ms", "1"), good()],
        &format!("try 1 of 3 after 1 ms: {failed}\n{GOOD}"),
    );
    check(
        [html(200)],
        "Malformed, Provider: the provider's answer is not a valid response: <html> <b>bad day</b>",
    );
    let page = "<html>no stream</html>";
    let no_response =
        format!("Malformed, Provider: the provider's answer is not a valid response: {page}");
    check([round().raw(page)], &no_response);
    check([round().raw(page).header("content-type", "text/plain")], &no_response);
    check(
        [round().errs(404, "invalid_request_error", "model_not_found", "No model `m`.")],
        "Rejected, Provider: the provider refused the request with status 404: No model `m`.",
    );
    check(
        [round().answers(200, "{\"object\":\"list\"}")],
        "Malformed, Provider: the provider's answer is not a valid response: {\"object\":\"list\"}",
    );
    check([round().answers(200, "")], "Malformed, Provider: the provider's answer is empty");
}

#[test]
fn failure_11_a_quoted_key_is_masked() {
    let quoted = format!("Incorrect API key provided: {KEY}.");
    check(
        [round().errs(401, "invalid_request_error", "invalid_api_key", &quoted)],
        "Unauthorized, Auth: the provider refused the API key with status 401: Incorrect API key \
         provided: ***.",
    );
}

#[test]
fn failure_11_the_key_does_not_follow_a_redirect() {
    let elsewhere = Server::start([]);
    let target = format!("{}/responses", elsewhere.base_url());
    for status in [301, 302, 307, 308] {
        check(
            [round().answers(status, "").header("location", &target)],
            &format!(
                "Rejected, Provider: the provider refused the request with status {status}: a \
                 redirect to `{target}`, which is not followed"
            ),
        );
    }
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn failure_11_a_refused_connection_says_so() {
    let options = RemoteOptions {
        base_url: "http://127.0.0.1:1/v1".into(),
        retries: 1,
        ..RemoteOptions::default()
    };
    let mut provider = Provider::remote(options).unwrap();
    let refused = "cannot connect to `http://127.0.0.1:1`: connection refused";
    assert_eq!(
        transcript(&mut provider, &question()),
        format!("try 1 of 2: {refused}\nTransient, Provider: {refused}; gave up after 2 tries")
    );
}

#[test]
fn failure_12_servers_may_leave_out_what_is_not_needed() {
    let call = json!({"type": "function_call", "call_id": "fc_x", "name": "list_datasets",
        "arguments": "{}", "status": "completed"});
    let llama = [
        json!({"type": "response.created", "response": {"id": "resp_x"}}),
        json!({"type": "response.output_item.added", "item": call}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{}"}),
        json!({"type": "response.output_item.done", "item": call}),
        json!({"type": "response.completed", "response": {"usage": {"input_tokens": 1}}}),
    ];
    let lines = llama.map(|it| format!("data: {it}\n\n")).concat();
    check([round().raw(lines)], "completed: fc_x=list_datasets({})");
    let ollama = [
        json!({"type": "response.created", "response": {"id": "resp_7"}}),
        json!({"type": "response.reasoning_summary_text.delta", "delta": "Let me"}),
    ];
    check(
        [round().events(ollama), good()],
        &format!("try 1 of 3: the provider's answer ended before it was complete\n{GOOD}"),
    );
    // A server that knows no streams answers in one piece.
    let whole = json!({"status": "completed", "output": [{"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": "One table."}]}]});
    check([round().answers(200, &whole.to_string())], "completed: message");
}

#[track_caller]
fn check_refused(options: RemoteOptions, status: FailureKind, message: &str) {
    let error = Provider::remote(options).unwrap_err();
    let failure = error.downcast_ref::<Failure>().unwrap();
    assert_eq!((failure.kind, failure.message.as_str()), (status, message));
}

#[test]
fn a_remote_server_needs_a_key() {
    let no_key = "no API key for https://api.openai.com/v1";
    check_refused(RemoteOptions::default(), FailureKind::Auth, no_key);
    let error = Provider::remote(RemoteOptions::default()).unwrap_err();
    let hint = error.downcast_ref::<Failure>().unwrap().hint.clone().unwrap();
    let ways = ["`OPENAI_API_KEY`", "`--model builtin`", "`--profile local", "`api_key_file`"];
    let named: Vec<&str> =
        hint.lines().zip(ways).filter(|it| it.0.contains(it.1)).map(|it| it.1).collect();
    assert_eq!(named, ways, "{hint}");
    let blank = RemoteOptions { key: Some(Key::new(" \n")), ..RemoteOptions::default() };
    check_refused(blank, FailureKind::Auth, no_key);
    let odd = RemoteOptions { key: Some(Key::new("a\nb")), ..RemoteOptions::default() };
    check_refused(
        odd,
        FailureKind::Auth,
        "the API key contains characters that a header cannot have",
    );
    let local =
        RemoteOptions { base_url: "http://localhost:1/v1".into(), ..RemoteOptions::default() };
    assert!(Provider::remote(local).is_ok());
}

/// Plays these rounds to a provider that records, and returns the cassette's lines.
fn record(path: &Path, rounds: Vec<Round>, requests: &[Request]) -> Vec<Value> {
    let server = Server::start(rounds);
    let mut provider = Provider::remote(options(&server)).unwrap().recording(path).unwrap();
    for request in requests {
        transcript(&mut provider, request);
    }
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[test]
fn a_replay_is_what_was_recorded_with_its_failures() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("q.cass.jsonl");
    let limit = || round().answers(429, "slow").header("retry-after-ms", "3");
    let call = || round().thinks("gA").calls("c1", "list_datasets", json!({}));
    let mut second = question();
    second.items.push(Item(call_item("c1")));
    second.items.push(Item::output("c1", "[\"sales\"]"));
    let rounds = vec![limit(), call(), good().closed_after(4), good()];
    let lines = record(&path, rounds, &[question(), second.clone()]);
    let statuses: Vec<&Value> = lines.iter().map(|it| &it["status"]).collect();
    assert_eq!(statuses, [429, 200, 200, 200]);
    assert_eq!(lines[0]["body"], "slow");
    assert_eq!(lines[0]["key"], lines[1]["key"]);
    assert_ne!(lines[1]["key"], lines[2]["key"]);
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // Other ids, as another run has them, are the same request.
    let mut second = question();
    second.items.push(Item(call_item("c9")));
    second.items.push(Item::output("c9", "[\"sales\"]"));
    let mut provider = Provider::replay(&path).unwrap();
    assert_eq!((provider.name(), provider.api()), ("replay", Api::Responses));
    assert_eq!(
        transcript(&mut provider, &question()),
        "try 1 of 5 after 3 ms: the provider's rate limit is reached with status 429: slow\n\
         completed: reasoning c1=list_datasets({})"
    );
    let superseded = "text: One t\nsuperseded\ntry 1 of 5: the provider's answer ended before it was \
                      complete\n";
    assert_eq!(transcript(&mut provider, &second), format!("{superseded}{GOOD}"));
    // All are used: the last of the same request answers from now on.
    assert_eq!(transcript(&mut provider, &second), GOOD);
}

fn call_item(call_id: &str) -> Value {
    json!({"type": "function_call", "call_id": call_id, "name": "list_datasets", "arguments": "{}"})
}

#[test]
fn a_mismatch_names_the_first_difference() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("q.cass.jsonl");
    record(&path, vec![good()], &[question()]);
    let mut provider = Provider::replay(&path).unwrap();
    let other = request(vec![Item::user("what is there to eat?")]);
    let path = path.display();
    assert_eq!(
        transcript(&mut provider, &other),
        format!(
            "Mismatch, Replay: the cassette `{path}` has no such request; the nearest is on line \
             1, where `items[0].content[0].text` is `\"what data is there?\"` and not `\"what is \
             there to eat?\"`"
        )
    );
}

#[test]
fn no_secret_is_recorded_and_lines_are_appended() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("q.cass.jsonl");
    let told = request(vec![Item::user(&format!("my key is {KEY}, Bearer abcdefghijkl"))]);
    let quoted = round().says(&format!("It is {KEY}."));
    record(&path, vec![quoted], &[told]);
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains(KEY) && !text.contains("abcdefghijkl"), "{text}");
    // A line that was cut by hand, or by a full disk, does not spoil the next.
    fs::write(&path, text.trim_end()).unwrap();
    let lines = record(&path, vec![good()], &[question()]);
    assert_eq!(lines.len(), 2);
    let mut provider = Provider::replay(&path).unwrap();
    assert_eq!(transcript(&mut provider, &question()), GOOD);
}

#[test]
fn a_line_made_by_hand_needs_little() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("q.cass.jsonl");
    let lines = record(&path, vec![good()], &[question()]);
    let line = json!({"v": 1, "request": lines[0]["request"], "status": 200, "delay_ms": 20,
        "body": {"output": [{"type": "message", "role": "assistant", "content": "hello"}]}});
    fs::write(&path, format!("\n{line}\n\n")).unwrap();
    let begin = Instant::now();
    let found = transcript(&mut Provider::replay(&path).unwrap(), &question());
    assert_eq!(found, "completed: message");
    assert!(Duration::from_millis(20) <= begin.elapsed());
}

#[track_caller]
fn check_no_cassette(content: Option<&str>, status: FailureKind, words: &str) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("q.cass.jsonl");
    if let Some(content) = content {
        fs::write(&path, content).unwrap();
    }
    let error = Provider::replay(&path).unwrap_err();
    let failure = error.downcast_ref::<Failure>().unwrap();
    assert_eq!(failure.kind, status);
    assert!(failure.message.contains(words), "{}", failure.message);
    if content.is_some_and(|it| !it.is_empty()) {
        let server = Server::start([]);
        let provider = Provider::remote(options(&server)).unwrap();
        assert!(provider.recording(&path).is_err(), "nothing is appended to what is no cassette");
    }
}

#[test]
fn what_is_no_cassette_is_refused() {
    check_no_cassette(None, FailureKind::Input, "cannot read the cassette");
    check_no_cassette(Some(""), FailureKind::Replay, "is empty");
    check_no_cassette(Some("a,b\n1,2\n"), FailureKind::Replay, "line 1 of the cassette");
    let version = r#"{"v":2,"request":{},"status":200}"#;
    check_no_cassette(Some(version), FailureKind::Replay, "has version 2, not 1");
}
