//! Recorded turns whose code ran at the provider, answered again without it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{PNG, ask, drawing};
use crate::ask::Turn;
use crate::bench::{Bench, Endpoint, Round, round, trouble};

const CSV: &str = "product,revenue\nMate,7.5\nTea,3\n";

/// A turn with a run, a table, a chart and a file.
fn rounds(calls: [&str; 2]) -> [Round; 3] {
    let table = json!({"df_name": "top", "logical_name": "top products"});
    let chart = json!({
        "df_name": "top", "logical_name": "top chart", "chart_type": "bar",
        "x_field": "product", "series": [{"name": "Revenue", "y_field": "revenue"}],
        "title": null, "x_label": null, "y_label": null, "note": null,
    });
    [
        round()
            .interprets("top.to_csv('/mnt/data/top.csv', index=False)", "")
            .makes_file("top.csv", CSV)
            .calls(calls[0], "send_data_to_ui_as_df", table),
        round().calls(calls[1], "send_chart_to_ui", chart),
        drawing(),
    ]
}

/// Asks in a session of its own below the bench, of the server or not.
#[track_caller]
fn ask_in(bench: &Bench, session: &Path, more: &[&str], code: i32) -> Turn {
    let session = session.to_str().unwrap();
    let arguments = ["ask", "-f", "sales.csv", "--interpreter", "hosted", "--format", "jsonl"];
    let session = ["--session-dir", session];
    let arguments = arguments.iter().chain(&session).chain(more);
    Turn::of(&bench.run(arguments.chain(&["--", "q"])).fails_with(code))
}

/// Returns what a turn told, without what differs from run to run.
fn told(turn: &Turn) -> Vec<Value> {
    let is_told = |it: &&Value| {
        let kinds = ["tool_call", "tool_result", "data_frame", "chart", "reply"];
        it["type"].as_str().is_some_and(|it| kinds.contains(&it))
    };
    let plain = |event: &Value| {
        let mut event = event.clone();
        let members = event.as_object_mut().unwrap();
        for name in ["seq", "ts", "session_id", "duration_ms", "egress"] {
            members.shift_remove(name);
        }
        event
    };
    turn.events.iter().filter(is_told).map(plain).collect()
}

#[test]
fn a_recorded_turn_is_answered_again_elsewhere_without_a_network() {
    let bench = Bench::with(["sales.csv"]).script(rounds(["c1", "c2"]));
    let first = ask(&bench, &["--record", "c.jsonl"], "q", 0);
    assert_eq!(first.all("data_frame").len(), 1);
    assert_eq!(first.all("chart").len(), 1);
    let n_calls = bench.server().calls().len();
    let bench = bench.variable("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let elsewhere = bench.path("elsewhere");
    let again = ask_in(&bench, &elsewhere, &["--replay", "c.jsonl"], 0);
    assert_eq!(told(&again), told(&first));
    assert_eq!(bench.server().calls().len(), n_calls);
    let path = again.end()["files"][0]["path"].as_str().unwrap();
    assert_eq!(fs::read(elsewhere.join(path)).unwrap(), PNG);
    let egress = &again.end()["egress"];
    assert_eq!((&egress["requests"], &egress["bytes"]), (&json!(0), &json!(0)), "{egress}");
    assert!(!elsewhere.join("hosted.json").exists());
}

#[test]
fn a_recorded_turn_fits_no_other_data() {
    let bench = Bench::with(["sales.csv"]).script(rounds(["c1", "c2"]));
    ask(&bench, &["--record", "c.jsonl"], "q", 0);
    fs::write(bench.path("sales.csv"), "date,product,revenue\n2024-01-15,Mate,7.5\n").unwrap();
    let turn = ask_in(&bench, &bench.path("elsewhere"), &["--replay", "c.jsonl"], 12);
    assert!(turn.ending().contains("`file.bytes` is"), "{}", turn.ending());
}

#[test]
fn two_recorded_questions_of_a_session_are_answered_again() {
    let bench = Bench::with(["sales.csv"]).script(rounds(["c1", "c2"]));
    ask(&bench, &["--record", "1.jsonl"], "q", 0);
    bench.answers(rounds(["c3", "c4"]));
    ask(&bench, &["--record", "2.jsonl"], "q", 0);
    let elsewhere = bench.path("elsewhere");
    ask_in(&bench, &elsewhere, &["--replay", "1.jsonl"], 0);
    ask_in(&bench, &elsewhere, &["--replay", "2.jsonl"], 0);
    // What was recorded is deleted with the session.
    bench.run(["reset", "--yes"]).succeeds();
    assert!(bench.server().files().iter().all(|it| it.is_gone));
}

#[test]
fn one_cassette_takes_the_questions_of_a_session() {
    let bench = Bench::with(["sales.csv"]).script(rounds(["c1", "c2"]));
    ask(&bench, &["--record", "c.jsonl"], "q", 0);
    bench.answers(rounds(["c3", "c4"]));
    ask(&bench, &["--record", "c.jsonl"], "q", 0);
    let elsewhere = bench.path("elsewhere");
    ask_in(&bench, &elsewhere, &["--replay", "c.jsonl"], 0);
    ask_in(&bench, &elsewhere, &["--replay", "c.jsonl"], 0);
}

#[test]
fn what_went_wrong_is_replayed_too() {
    let bench = Bench::with(["sales.csv"]).script(rounds(["c1", "c2"]));
    let content = trouble(Endpoint::Content).of("plot.png").errs(404, "gone");
    let listing = trouble(Endpoint::ListFiles).errs(503, "later").header("retry-after-ms", "1");
    bench.server().troubles([content, listing]);
    let first = ask(&bench, &["--record", "c.jsonl"], "q", 0);
    assert_eq!(first.end()["files"], json!([]));
    let again = ask_in(&bench, &bench.path("elsewhere"), &["--replay", "c.jsonl"], 0);
    assert_eq!(told(&again), told(&first));
}

#[test]
fn an_expiry_is_replayed_too() {
    let first = round().interprets("x", "1").calls("c1", "list_datasets", json!({}));
    let bench = Bench::with(["sales.csv"])
        .script([first.expires_containers(), round().interprets("x", "1").says("So.")]);
    let arguments = ["--on-expired", "new"];
    let first = ask(&bench, &["--on-expired", "new", "--record", "c.jsonl"], "q", 0);
    let more = [&arguments[..], &["--replay", "c.jsonl"]].concat();
    let again = ask_in(&bench, &bench.path("elsewhere"), &more, 0);
    assert_eq!(told(&again), told(&first));
}

#[test]
fn a_recorded_chat_has_one_container() {
    let code = |text: &str| round().interprets("x", "1").says(text);
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    let chat = |more: [&'static str; 4]| {
        ["chat", "-f", "sales.csv", "--interpreter", "hosted"].into_iter().chain(more)
    };
    let input = b"First?\nSecond?\n";
    let first = bench.pipe(chat(["--session-dir", "a", "--record", "c.jsonl"]), input).succeeds();
    let again = bench.pipe(chat(["--session-dir", "b", "--replay", "c.jsonl"]), input).succeeds();
    assert_eq!(first.stdout(), again.stdout());
    assert_eq!(bench.server().containers().len(), 1);
}
