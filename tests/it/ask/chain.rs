//! `--chain`: the server keeps responses and is sent only what is new.

use serde_json::Value;

use super::{Turn, ask, code, shown};
use crate::bench::{Bench, Captured, round};

/// Returns which response a request goes on from, whether its own is kept, and its items.
fn chained(request: &Captured) -> (Option<&str>, bool, Vec<String>) {
    let previous = request.body.get("previous_response_id").and_then(Value::as_str);
    (previous, request.body["store"] == true, shown(request))
}

fn is_whole(request: &Captured) -> bool {
    request.body.get("previous_response_id").is_none() && shown(request)[0] == "user: q"
}

fn warnings(turn: &Turn) -> Vec<String> {
    let codes = turn.phases("warning");
    codes.iter().map(|it| it["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_server_that_keeps_responses_is_sent_what_is_new_with_instructions_and_tools() {
    let bench = Bench::with(["sales.csv"]).script([
        code("c1", "1 + 1").kept_as("resp_a", None),
        code("c2", "2 + 2").kept_as("resp_b", Some("resp_a")),
        round().says("Done.").kept_as("resp_c", Some("resp_b")),
    ]);
    let turn = ask(&bench, ["--chain"], "q", 0);
    assert_eq!(turn.ending(), "complete: Done.");
    assert_eq!(warnings(&turn), [] as [&str; 0]);
    let [first, second, third] = [0, 1, 2].map(|it| bench.request(it));
    assert_eq!(chained(&first), (None, true, vec!["user: q".to_owned()]));
    assert_eq!(chained(&second), (Some("resp_a"), true, vec!["output c1: 2".to_owned()]));
    assert_eq!(chained(&third), (Some("resp_b"), true, vec!["output c2: 4".to_owned()]));
    for name in ["instructions", "tools"] {
        assert_eq!(third.body[name], first.body[name]);
    }
    // Another process knows no response, and begins with all of it.
    bench.answers([round().says("Yes.")]);
    ask(&bench, ["--chain"], "Sure?", 0);
    assert!(is_whole(&bench.request(3)));
}

#[test]
fn a_response_that_is_gone_or_refused_is_replaced_by_the_whole_conversation() {
    for (status, code_, message) in [
        (400, "previous_response_not_found", "Previous response with id 'resp_a' not found."),
        (400, "", "llama.cpp does not support 'previous_response_id'."),
        (404, "previous_response_not_found", "Not found."),
        (404, "", "Response with id 'resp_a' not found."),
    ] {
        let bench = Bench::with(["sales.csv"]).script([
            code("c1", "1 + 1").kept_as("resp_a", None),
            round().errs(status, "invalid_request_error", code_, message),
            round().says("Done."),
        ]);
        let turn = ask(&bench, ["--chain"], "q", 0);
        assert_eq!(warnings(&turn), ["chain_broken"], "{message}");
        assert_eq!(bench.n_requests(), 3);
        assert!(is_whole(&bench.request(2)), "{message}");
    }
}

#[test]
fn a_server_that_takes_no_notice_is_asked_again_with_everything() {
    let bench = Bench::with(["sales.csv"]).script([
        code("c1", "1 + 1").kept_as("resp_a", None),
        round().says("What?").kept_as("resp_b", None),
        code("c2", "3").kept_as("resp_c", None),
        round().says("Done."),
    ]);
    let turn = ask(&bench, ["--chain"], "q", 0);
    assert_eq!(turn.ending(), "complete: Done.");
    assert_eq!(warnings(&turn), ["chain_broken"]);
    let [ignored, whole, next] = [1, 2, 3].map(|it| bench.request(it));
    assert_eq!(chained(&ignored).0, Some("resp_a"));
    assert!(is_whole(&whole) && is_whole(&next));
    assert_eq!(next.body["store"], false);
}

#[test]
fn a_chain_is_refused_where_nothing_keeps_responses() {
    let bench = Bench::with(["sales.csv"]);
    let run = bench.ask_with(["--chain", "--api", "chat"], "q").fails_with(2);
    assert!(
        run.stderr().contains("Chat Completions API does not store responses"),
        "{}",
        run.stderr()
    );
    bench.ask_with(["--chain", "--replay", "x.cass.jsonl"], "q").fails_with(2);
}
