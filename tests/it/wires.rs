//! The same turns over all dialects: what a user sees does not depend on what the server speaks.

use serde_json::{Value, json};

use csv_agent_provider::Api;

use crate::bench::{Bench, Captured, Round, round};

const APIS: [Api; 3] = [Api::Responses, Api::Chat, Api::Messages];

fn bench(api: Api, rounds: impl IntoIterator<Item = Round>) -> Bench {
    Bench::with(["sales.csv"]).speaking(api).script(rounds)
}

fn apis(bench: &Bench) -> Vec<Api> {
    let requests = (0..bench.n_requests()).map(|it| bench.request(it));
    requests.filter_map(|it: Captured| it.api()).collect()
}

/// The types of the events, and what a program reads of them.
fn story(events: &[Value]) -> Vec<String> {
    let line = |event: &Value| match event["type"].as_str().unwrap() {
        "status" | "partial" => None,
        "tool_result" => {
            Some(format!("{} {} {}", event["call_id"], event["status"], event["result"]["text"]))
        }
        "tool_call" => Some(format!("{} {}", event["name"], event["arguments"])),
        "data_frame" => Some(event["rows"].to_string()),
        "reply" => Some(format!(
            "{} {} {}",
            event["text"], event["rounds"], event["usage"]["total_tokens"]
        )),
        other => Some(other.to_owned()),
    };
    events.iter().filter_map(line).collect()
}

#[test]
fn a_turn_is_the_same_over_all() {
    let told = APIS.map(|api| {
        let rounds = [
            round()
                .says("Let me look.")
                .calls("c1", "list_datasets", json!({}))
                .runs("c2", "1 / 0"),
            round().runs("c3", "top = pd.DataFrame({'a': [1, 2]})").calls_raw("c4", "f", "{oops"),
            round().calls(
                "c5",
                "send_data_to_ui_as_df",
                json!({"df_name": "top", "logical_name": "top"}),
            ),
            round().says("Two rows."),
        ];
        let bench = bench(api, rounds);
        let run = bench.ask_with(["--format", "jsonl", "--api", api.name()], "q").succeeds();
        assert_eq!(run.events()[0]["api"], api.name());
        assert!(bench.request(1).output_of("c2").contains("ZeroDivisionError"));
        assert_eq!(apis(&bench), [api; 4]);
        story(&run.events())
    });
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
    assert_eq!(told[0].last().unwrap(), "\"Two rows.\" 4 440");
}

#[test]
fn a_session_remembers_what_a_server_speaks_and_notices_when_it_no_longer_does() {
    let bench = bench(Api::Chat, [round().says("One."), round().says("Two.")]);
    let first = bench.ask("q").succeeds();
    let said = "warning: the server has no Responses API (status 404): using the Chat Completions \
                    API instead";
    assert!(first.stderr().contains(said), "{first}");
    let second = bench.ask("q").succeeds();
    assert!(!second.stderr().contains("Responses"), "{second}");
    assert_eq!(apis(&bench), [Api::Responses, Api::Chat, Api::Chat]);
    // The server is another one now. The session goes on with what was said by the first.
    let bench =
        bench.speaking(Api::Responses).script([round().says("Three."), round().says("Four.")]);
    let third = bench.ask("q").succeeds();
    assert!(third.stderr().contains("no Chat Completions API"), "{third}");
    let input = bench.request(4).input().to_vec();
    assert_eq!(input[1]["content"][0]["text"], "One.");
    bench.ask("q").succeeds();
    assert_eq!(apis(&bench)[3..], [Api::Chat, Api::Responses, Api::Responses]);
}

#[test]
fn a_verdict_is_asked_for_again_where_tools_and_form_exclude_each_other() {
    let verdict = json!({"text": "All is well.", "findings": [], "assessment": "good"});
    let rounds = [round().says("All is well."), round().says(&verdict.to_string())];
    let bench = bench(Api::Chat, rounds);
    let run = bench.ask_with(["--api", "chat", "--verdict", "--json"], "q").succeeds();
    assert_eq!(run.events()[0]["assessment"], "good", "{run}");
    let second = bench.request(1).body;
    assert_eq!(second["tool_choice"], "none");
    assert_eq!(second["response_format"]["json_schema"]["name"], "verdict");
    assert!(bench.request(0).body.get("response_format").is_none());
}

#[test]
fn what_a_model_thought_is_told_and_sent_back_to_it() {
    let rounds = [
        round().thinks_aloud("I should look.").calls("c1", "list_datasets", json!({})),
        round().says("One."),
    ];
    let bench = bench(Api::Chat, rounds);
    let run = bench.ask_with(["--api", "chat", "--format", "jsonl", "-v"], "q").succeeds();
    let events = run.events();
    let thought = events.iter().find(|it| it["phase"] == "reasoning").unwrap();
    assert_eq!((&thought["text"], &thought["round"]), (&"I should look.".into(), &1.into()));
    assert!(run.stderr().contains("I should look."), "{run}");
    let message = bench.request(1).body["messages"][2].clone();
    assert_eq!(message["reasoning_content"], "I should look.");
}

/// What a turn holds that only the server that sent it may have back: the server of the bench refuses the
/// next round without it.
fn signed_turn() -> [Round; 2] {
    let blocks = json!([
        {"type": "reasoning.text", "text": "Look.", "signature": "s1", "index": 0},
        {"type": "reasoning.encrypted", "data": "x", "id": "r1", "index": 1},
    ]);
    let calls = round()
        .thinks_aloud("Look.")
        .thinks_in_blocks(&blocks)
        .calls("c1", "list_datasets", json!({}))
        .signed("s2")
        .calls("c2", "get_dataset_info", json!({"name": "sales"}));
    [calls, round().thinks_aloud("Done.").says("One.")]
}

#[test]
fn sealed_reasoning_goes_back_to_the_server_that_sealed_it_and_to_no_other() {
    let rounds = [round().thinks("g1").runs("c1", "1"), round().says("One.")];
    let first = bench(Api::Responses, rounds);
    first.ask_with(["-m", "gpt-6.2-sol"], "q").succeeds();
    assert_eq!(first.request(0).body["include"], json!(["reasoning.encrypted_content"]));
    let thought = first.request(1).input()[1].clone();
    assert_eq!((&thought["encrypted_content"], &thought["id"]), (&json!("g1"), &json!("rs_0")));
    let other = bench(Api::Responses, [round().says("Two.")]);
    let session = first.session().display().to_string();
    let ask = ["ask", "-m", "gpt-6.2-sol", "--session-dir", &session, "and?"];
    other.run(ask).succeeds();
    assert!(!other.request(0).body.to_string().contains("g1"));
}

const OPAQUE: [&str; 3] = ["reasoning_content", "reasoning_details", "extra_content"];

#[test]
fn what_a_server_wants_back_is_sent_back_in_later_turns_too() {
    for stream in ["--stream", "--no-stream"] {
        let bench = bench(Api::Chat, signed_turn());
        bench.ask_with(["--api", "chat", stream, "-m", "m"], "q").succeeds();
        bench.answers([round().says("Two.")]);
        bench.ask_with(["--api", "chat", stream, "-m", "m"], "and?").succeeds();
        let messages = bench.request(2).body["messages"].clone();
        let [call, other] = [0, 1].map(|it| messages[2]["tool_calls"][it].clone());
        assert_eq!(call["extra_content"], json!({"google": {"thought_signature": "s2"}}));
        assert_eq!(other.get("extra_content"), None, "it came without");
        assert_eq!(messages[2]["reasoning_details"][0]["signature"], "s1");
        assert_eq!(messages[5]["reasoning_content"], "Done.");
    }
}

#[test]
fn what_a_server_wants_back_is_sent_to_no_other_model_and_no_other_server() {
    let first = bench(Api::Chat, signed_turn());
    first.ask_with(["--api", "chat", "-m", "m"], "q").succeeds();
    first.answers([round().says("Two.")]);
    first.ask_with(["--api", "chat", "-m", "n"], "and?").succeeds();
    let other = bench(Api::Chat, [round().says("Three.")]);
    let session = first.session().display().to_string();
    let ask = ["ask", "--api", "chat", "-m", "m", "--session-dir", &session, "and?"];
    other.run(ask).succeeds();
    let spoken = bench(Api::Responses, [round().says("Four.")]);
    let ask = ["ask", "--api", "responses", "-m", "m", "--session-dir", &session, "and?"];
    spoken.run(ask).succeeds();
    for request in [first.request(2), other.request(0), spoken.request(0)] {
        let body = request.body.to_string();
        assert!(body.contains("One."), "{body}");
        for name in OPAQUE.into_iter().chain(["opaque", "thought_signature"]) {
            assert!(!body.contains(name), "{name} in {body}");
        }
    }
}

#[test]
fn a_server_that_refuses_its_own_reasoning_is_asked_without_it() {
    let refusal = json!({"detail": [{"type": "extra_forbidden", "msg": "Extra inputs are not permitted",
        "loc": ["body", "messages", 2, "assistant", "reasoning_content"]}]});
    // Events of its own: the bench does not demand back what they hold.
    let call = json!({"index": 0, "id": "c1", "type": "function",
        "function": {"name": "list_datasets", "arguments": "{}"}});
    let delta = json!({"reasoning_content": "Look.", "tool_calls": [call]});
    let calls =
        round().events([json!({"choices": [{"delta": delta, "finish_reason": "tool_calls"}]})]);
    let rounds = [calls, round().answers(422, &refusal.to_string()), round().says("One.")];
    let bench = bench(Api::Chat, rounds);
    let run = bench.ask_with(["--api", "chat", "-m", "m"], "q").succeeds();
    let sent =
        [1, 2].map(|it| bench.request(it).body["messages"][2].get("reasoning_content").is_some());
    assert_eq!(sent, [true, false]);
    assert!(run.stderr().contains("asking again without `reasoning_content`"), "{run}");
}

#[test]
fn a_thought_goes_back_within_its_turn_and_stays_with_its_model() {
    for stream in ["--stream", "--no-stream"] {
        let rounds = [
            round().thinks("s1").says("Let me look.").runs("c1", "1"),
            round().thinks_aloud("Hm.").thinks_redacted("x").runs("c2", "2"),
            round().thinks("s3").says("Three."),
            round().thinks("s4").runs("c4", "4"),
            round().says("Four."),
            round().says("Five."),
        ];
        let bench = bench(Api::Messages, rounds);
        let ask = |model: &str, question: &str| {
            bench.ask_with(["--api", "messages", stream, "-m", model], question).succeeds()
        };
        ask("claude-opus-5-5", "q");
        let blocks = |request: usize, message: usize| {
            bench.request(request).body["messages"][message]["content"].clone()
        };
        let signed = json!({"type": "thinking", "thinking": "Hm.", "signature": "signed: Hm."});
        assert_eq!(blocks(2, 1)[0], json!({"type": "thinking", "thinking": "", "signature": "s1"}));
        assert_eq!(blocks(2, 3)[0], signed);
        assert_eq!(blocks(2, 3)[1], json!({"type": "redacted_thinking", "data": "x"}));
        ask("claude-opus-5-5", "and?");
        let later = bench.request(4).body.to_string();
        assert!(later.contains("s4") && !later.contains("s1") && later.contains("Three."));
        ask("claude-haiku-4-5", "and?");
        assert!(!bench.request(5).body.to_string().contains("thinking"));
    }
}

#[test]
fn a_thought_that_is_refused_is_left_out() {
    let words = "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a \
                 different conversation.";
    // Events of its own: the bench does not demand back what they hold.
    let block = json!({"type": "tool_use", "id": "c1", "name": "list_datasets", "input": {}});
    let thought = json!({"type": "thinking", "thinking": "", "signature": "s1"});
    let begins = |at: u32, it: &Value| json!({"type": "content_block_start", "index": at, "content_block": it});
    let calls = round().events([
        json!({"type": "message_start", "message": {"usage": {}}}),
        begins(0, &thought),
        begins(1, &block),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}),
        json!({"type": "message_stop"}),
    ]);
    let refused = round().complains(400, "invalid_request_error", words);
    let bench = bench(Api::Messages, [calls, refused, round().says("One.")]);
    let run = bench.ask_with(["--api", "messages", "-m", "m"], "q").succeeds();
    let sent = [1, 2].map(|it| bench.request(it).body.to_string().contains("s1"));
    assert_eq!(sent, [true, false]);
    assert!(run.stderr().contains("asking again without the reasoning of earlier rounds"), "{run}");
}

#[test]
fn anthropic_has_its_own_key_version_and_marks() {
    let mut rounds = [round().runs("c1", "1"), round().says("One.").uses(100, 10)];
    rounds[1] = rounds[1].clone().reads_from_cache(90);
    let bench =
        bench(Api::Messages, rounds).variable("ANTHROPIC_API_KEY", "sk-ant-test-0123456789");
    let arguments = ["--api", "messages", "-m", "claude-opus-5-5", "--reasoning", "low", "--json"];
    let run = bench.ask_with(arguments, "q").succeeds();
    let request = bench.request(1);
    assert_eq!(request.header("x-api-key"), Some("sk-ant-test-0123456789"));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.body["output_config"], json!({"effort": "low"}));
    let mark = json!({"type": "ephemeral"});
    assert_eq!(request.body["system"][0]["cache_control"], mark);
    assert_eq!(request.body["messages"][2]["content"][0]["cache_control"], mark);
    let usage = run.events()[0]["usage"].clone();
    assert_eq!((&usage["input_tokens"], &usage["cached_input_tokens"]), (&json!(200), &json!(90)));
    assert!(!run.stdout().contains("sk-ant"), "{run}");
}

#[test]
fn a_schema_is_enforced_and_told_in_words_where_it_is_refused() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}},
        "required": ["n"], "additionalProperties": false});
    let bench = bench(
        Api::Messages,
        [
            round().says("{\"n\":1}"),
            round().complains(
                400,
                "invalid_request_error",
                "output_config.format.schema: Too complex",
            ),
            round().says("Two."),
            round().says("{\"n\":2}"),
        ],
    );
    std::fs::write(bench.path("s.json"), schema.to_string()).unwrap();
    let ask = || {
        let arguments = ["--api", "messages", "-m", "m", "--schema", "s.json", "--json"];
        bench.ask_with(arguments, "q").succeeds().events()[0]["output"].clone()
    };
    assert_eq!(ask(), json!({"n": 1}));
    let format = json!({"type": "json_schema", "schema": schema});
    assert_eq!(bench.request(0).body["output_config"]["format"], format);
    assert_eq!(ask(), json!({"n": 2}));
    assert_eq!(bench.request(2).body.get("output_config"), None);
}

#[test]
fn why_an_answer_of_the_messages_api_ends_is_told() {
    let ends = |round: Round, code: i32, words: &str| {
        let bench = bench(Api::Messages, [round]);
        let run = bench
            .ask_with(["--api", "messages", "-m", "m", "--retries", "0"], "q")
            .fails_with(code);
        let told = run.stdout().to_owned() + run.stderr();
        assert!(told.contains(words), "{words}: {run}");
    };
    ends(round().refuses("Not that."), 9, "Not that.");
    ends(round().says("A part").ends_early_for("max_output_tokens"), 7, "output limit");
    ends(
        round().says("A part").fails("overloaded_error", "Overloaded"),
        6,
        "the provider is overloaded",
    );
    let busy = round().complains(529, "overloaded_error", "Overloaded");
    ends(busy, 6, "the provider is overloaded with status 529: Overloaded (request `req_1`)");
    let limit =
        round().complains(429, "rate_limit_error", "Slow down").header("retry-after", "300");
    ends(limit, 6, "rate limit is reached");
    ends(round().complains(413, "request_too_large", "Too large"), 6, "too long for the model");
    let long = "prompt is too long: 209000 tokens > 200000 maximum";
    ends(round().complains(400, "invalid_request_error", long), 6, "too long for the model");
    ends(
        round().complains(401, "authentication_error", "invalid x-api-key"),
        4,
        "refused the API key",
    );
    let poor = "Your credit balance is too low to access the Anthropic API.";
    ends(round().complains(400, "invalid_request_error", poor), 6, "out of credit");
    ends(round().complains(402, "billing_error", "Pay"), 6, "out of credit");
    ends(round().complains(404, "not_found_error", "model: m"), 6, "has the model `m`");
}

#[test]
fn a_turn_that_pauses_goes_on_and_a_busy_server_is_asked_again() {
    let busy = round().complains(529, "overloaded_error", "Overloaded").header("retry-after", "0");
    let bench =
        bench(Api::Messages, [busy, round().says("So far ").goes_on(), round().says("so good.")]);
    let run = bench.ask_with(["--api", "messages", "-m", "m"], "q").succeeds();
    assert!(run.stdout().contains("so good."), "{run}");
    assert_eq!(bench.request(2).body["messages"][1]["content"][0]["text"], "So far ");
}

#[test]
fn pictures_are_blocks_of_the_messages_api() {
    let bench = bench(Api::Messages, [round().says("A dot.")]);
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0";
    std::fs::write(bench.path("dot.png"), png).unwrap();
    bench.ask_with(["--api", "messages", "-m", "m", "--image", "dot.png"], "q").succeeds();
    let source = bench.request(0).body["messages"][0]["content"][1]["source"].clone();
    assert_eq!((&source["type"], &source["media_type"]), (&json!("base64"), &json!("image/png")));
}
