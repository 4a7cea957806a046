//! The same turns over both dialects: what a user sees does not depend on what the server speaks.

use csv_agent::provider::Api;
use serde_json::{Value, json};

use crate::bench::{Bench, Captured, Round, round};

const APIS: [Api; 2] = [Api::Responses, Api::Chat];

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
fn a_turn_is_the_same_over_both() {
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
    assert_eq!(told[0].last().unwrap(), "\"Two rows.\" 4 440");
}

#[test]
fn a_session_remembers_what_a_server_speaks_and_notices_when_it_no_longer_does() {
    let bench = bench(Api::Chat, [round().says("One."), round().says("Two.")]);
    let first = bench.ask("q").succeeds();
    let said = "warning: the server has no Responses API (status 404): asking by the Chat \
                Completions API";
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
