//! The loop from end to end: the real binary, a scripted server, a real Python.

mod briefing;
mod chain;
mod confinement;
mod failures;
mod history;
mod images;
mod long;
mod queries;
mod rounds;
mod seal;
mod stash;
mod stops;
mod tools;

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::bench::{Bench, Captured, Round, Run, round};

/// A turn as its events tell it.
pub struct Turn {
    pub events: Vec<Value>,
}

/// Asks for events and demands the exit status.
#[track_caller]
fn ask<const N: usize>(bench: &Bench, arguments: [&str; N], question: &str, code: i32) -> Turn {
    let arguments = ["--format", "jsonl"].into_iter().chain(arguments);
    Turn::of(&bench.ask_with(arguments, question).fails_with(code))
}

impl Turn {
    /// Reads the events, and demands the law of their order.
    #[track_caller]
    pub fn of(run: &Run) -> Turn {
        let events = run.events();
        let is_terminal = |it: &&Value| it["type"] == "reply" || it["fatal"] == true;
        assert_eq!(events[0]["phase"], "started", "{run}");
        assert_eq!(events.iter().filter(is_terminal).count(), 1, "{run}");
        let end = events.last().unwrap();
        assert!(is_terminal(&end), "{run}");
        assert_eq!(end["exit_code"], json!(run.code()), "{run}");
        let mut open = HashSet::new();
        for (seq, event) in events.iter().enumerate() {
            assert_eq!((&event["v"], &event["seq"]), (&json!(1), &json!(seq)), "{run}");
            assert_eq!(event["session_id"], events[0]["session_id"], "{run}");
            let call_id = event["call_id"].as_str().unwrap_or_default();
            match event["type"].as_str().unwrap() {
                "tool_call" => assert!(open.insert(call_id), "{run}"),
                "tool_result" => assert!(open.remove(call_id), "{run}"),
                "data_frame" | "chart" | "chart_rejected" => assert!(open.contains(call_id)),
                _ => {}
            }
        }
        assert!(open.is_empty(), "{open:?} without a result: {run}");
        Turn { events }
    }

    pub fn all(&self, kind: &str) -> Vec<&Value> {
        self.events.iter().filter(|it| it["type"] == kind).collect()
    }

    #[track_caller]
    pub fn one(&self, kind: &str) -> &Value {
        let all = self.all(kind);
        assert_eq!(all.len(), 1, "{kind}: {all:#?}");
        all[0]
    }

    /// Returns the terminal event.
    pub fn end(&self) -> &Value {
        self.events.last().unwrap()
    }

    /// Returns the terminal event in a few words: `complete: Hello.`, `provider: it failed`.
    pub fn ending(&self) -> String {
        let end = self.end();
        let text = |key: &str| end[key].as_str().unwrap_or_default();
        match text("type") {
            "reply" => format!("{}: {}", text("stop_reason"), text("text")),
            _ => format!("{}: {}", text("code"), text("message")),
        }
    }

    /// Returns how each call ended, in order of the ends.
    pub fn results(&self) -> Vec<String> {
        let shown = |it: &&Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            match &it["error"] {
                Value::Null => format!("{} {}", text(&it["call_id"]), text(&it["status"])),
                error => {
                    let status = text(&it["status"]);
                    format!("{} {status}: {}", text(&it["call_id"]), text(&error["code"]))
                }
            }
        };
        self.all("tool_result").iter().map(shown).collect()
    }

    #[track_caller]
    pub fn result_of(&self, call_id: &str) -> &Value {
        let is_it = |it: &&&Value| it["call_id"] == call_id;
        self.all("tool_result").iter().find(is_it).expect("the call has a result")
    }

    pub fn phases(&self, phase: &str) -> Vec<&Value> {
        self.events.iter().filter(|it| it["phase"] == phase).collect()
    }
}

/// Starts a round that runs code.
fn code(call_id: &str, source: &str) -> Round {
    round().runs(call_id, source)
}

/// Asks once more and demands that it works.
#[track_caller]
fn goes_on(bench: &Bench) -> Turn {
    bench.answers([round().says("Fine.")]);
    let turn = ask(bench, [], "Still there?", 0);
    assert_eq!(turn.ending(), "complete: Fine.");
    turn
}

/// Returns the items of a request in a few words each.
fn shown(request: &Captured) -> Vec<String> {
    let shown = |item: &Value| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let content = text(&item["content"][0]["text"]);
        match item["type"].as_str().unwrap() {
            "message" => format!("{}: {content}", text(&item["role"])),
            "function_call" => format!("call {}", text(&item["call_id"])),
            "function_call_output" => {
                format!("output {}: {}", text(&item["call_id"]), text(&item["output"]))
            }
            kind => kind.to_owned(),
        }
    };
    request.input().iter().map(shown).collect()
}

#[track_caller]
fn last_request(bench: &Bench) -> Captured {
    bench.request(bench.n_requests() - 1)
}
