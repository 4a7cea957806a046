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
fn what_a_model_thought_is_told_and_not_sent_back() {
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
    assert!(!bench.request(1).body.to_string().contains("I should look."));
}
