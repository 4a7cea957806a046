//! Rows that travel encrypted, and the events beside the answer.

use std::fs;

use serde_json::{Value, json};

use super::{ask, code};
use crate::bench::{Bench, round};

/// Fernet keys: 32 bytes in base64url.
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER_KEY: &str = "HxAeHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgE=";

/// Asks for a table and a chart.
#[track_caller]
fn ask_for_rows(bench: &Bench) -> super::Turn {
    bench.answers([
        code("c1", "df = pd.DataFrame({'city': ['Secretville', 'Bö'], 'n': [1, 2]})"),
        round()
            .calls("c2", "send_data_to_ui_as_df", json!({"df_name": "df", "logical_name": "t"}))
            .calls(
                "c3",
                "send_chart_to_ui",
                json!({"df_name": "df", "logical_name": "c", "chart_type": "bar",
                    "x_field": "city", "x_label": null, "y_label": null,
                    "series": [{"name": "n", "y_field": "n"}], "title": null, "note": null}),
            ),
        round().says("Two rows."),
    ]);
    ask(bench, [], "q", 0)
}

#[test]
fn sealed_rows_are_opened_by_their_key_and_by_no_other() {
    let bench = Bench::with(["sales.csv"])
        .variable("DATA_EVENT_ENCRYPT", "1")
        .variable("DATA_EVENT_KEY", KEY);
    let turn = ask_for_rows(&bench);
    for (kind, rows) in [("data_frame", "rows"), ("chart", "data")] {
        let event = turn.one(kind);
        assert_eq!(event["encoding"], "fernet");
        // The version of a Fernet token, 0x80, in base64url.
        assert!(event[rows].as_str().unwrap().starts_with("gAAAA"), "{event}");
    }
    let blocks = &turn.end()["blocks"];
    assert!(!blocks.to_string().contains("Secretville"), "{blocks}");
    let sealed: Vec<String> = turn.events.iter().map(Value::to_string).collect();
    let sealed = sealed.join("\n");

    let plain = bench.pipe(["decrypt"], sealed.as_bytes()).succeeds().events();
    let rows = json!([{"city": "Secretville", "n": 1}, {"city": "Bö", "n": 2}]);
    let row_of = |kind: &str, rows: &str| {
        let event = plain.iter().find(|it| it["type"] == kind).unwrap();
        assert_eq!(event["encoding"], "json");
        event[rows].clone()
    };
    assert_eq!(row_of("data_frame", "rows"), rows);
    assert_eq!(row_of("chart", "data"), rows);
    let blocks = &plain.last().unwrap()["blocks"];
    assert!(blocks.to_string().contains("Secretville"), "{blocks}");
    let others = |events: &[Value]| {
        let sealed = ["data_frame", "chart", "reply"];
        let is_other = |it: &&Value| !sealed.contains(&it["type"].as_str().unwrap());
        events.iter().filter(is_other).cloned().collect::<Vec<_>>()
    };
    assert_eq!(others(&plain), others(&turn.events));

    let bench = bench.variable("DATA_EVENT_KEY", OTHER_KEY);
    let run = bench.pipe(["decrypt"], sealed.as_bytes()).fails_with(3);
    assert!(!run.stdout().contains("data_frame"), "{run}");
    assert!(run.stderr().contains("cannot decrypt a payload: the key is wrong"), "{run}");
}

#[test]
fn rows_are_never_plain_for_want_of_a_key() {
    let bench = Bench::with(["sales.csv"]).variable("DATA_EVENT_ENCRYPT", "1");
    let run = bench.ask_with(["--format", "jsonl"], "q");
    assert!([2, 3].contains(&run.code().unwrap()), "{run}");
    assert!(run.stderr().contains("DATA_EVENT_KEY"), "{run}");
    assert_eq!(bench.n_requests(), 0);
    let bench = bench.variable("DATA_EVENT_KEY", "short");
    let run = bench.ask_with(["--format", "jsonl"], "q");
    assert!([2, 3].contains(&run.code().unwrap()), "{run}");
    assert_eq!(bench.n_requests(), 0);
}

#[test]
fn events_go_to_a_file_beside_the_answer() {
    let bench = Bench::with(["sales.csv"]).script([code("c1", "1 + 1"), round().says("It is 2.")]);
    let run = bench.ask_with(["--events", "ev.jsonl"], "q").succeeds();
    assert_eq!(run.stdout(), "It is 2.\n");
    let told = fs::read_to_string(bench.path("ev.jsonl")).unwrap();
    // The turn keeps the same events.
    assert_eq!(told, fs::read_to_string(bench.session().join("turns/0001/events.jsonl")).unwrap());
    let last: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["exit_code"]), (&json!("reply"), &json!(0)));
    // A failure is told there too.
    bench.answers([round().answers(400, "{}")]);
    bench.ask_with(["--events", "ev.jsonl"], "q").fails_with(6);
    let told = fs::read_to_string(bench.path("ev.jsonl")).unwrap();
    let last: Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!((&last["fatal"], &last["exit_code"]), (&json!(true), &json!(6)));
}

#[test]
fn the_answer_is_the_only_thing_on_stdout() {
    let bench = Bench::with(["sales.csv"]).script([round().says("Ten rows.")]);
    assert_eq!(bench.ask("How many rows?").succeeds().stdout(), "Ten rows.\n");
}
