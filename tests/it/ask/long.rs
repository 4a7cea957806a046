//! Conversations that outgrow their budget, and those that outgrow the model.

use std::fs;

use serde_json::{Value, json};

use super::{Turn, ask, code, last_request, shown};
use crate::bench::{Bench, round};

/// Tokens that are too many for `--compact-at`, as the tests give it.
const MANY: u64 = 60_000;
const COMPACT_AT: [&str; 2] = ["--compact-at", "50000"];

/// Returns a bench that has answered so many questions, the last of them at great length.
fn bench(n_turns: usize) -> Bench {
    let bench = Bench::with(["sales.csv"]);
    for number in 1..=n_turns {
        let answer = round().says(&format!("answer {number}"));
        bench.answers([if number == n_turns { answer.uses(MANY, 10) } else { answer }]);
        ask(&bench, COMPACT_AT, &format!("question {number}"), 0);
    }
    bench
}

fn too_long() -> crate::bench::Round {
    round().errs(400, "invalid_request_error", "context_length_exceeded", "Too long.")
}

#[test]
fn the_oldest_turns_become_a_summary_and_the_last_ones_stay() {
    let bench = bench(12);
    let [flag, tokens] = COMPACT_AT;
    let dry = bench.run(["ask", "--dry-run", "--format", "json", flag, tokens, "q"]).succeeds();
    bench.answers([round().says("The fact of turn 3 is 42.").uses(900, 90), round().says("42.")]);
    let turn = ask(&bench, COMPACT_AT, "What was the fact?", 0);
    let told = &turn.phases("compacted")[0];
    assert_eq!((&told["turns"], &told["turns_kept"]), (&json!(7), &json!(5)));
    assert_eq!(told["usage"]["input_tokens"], 900);
    assert_eq!(turn.end()["usage"]["requests"], 2);

    // The request for the summary: the turns as text, no tools, nothing of what is kept.
    let request = bench.request(12);
    assert_eq!(request.body.get("tools"), None);
    assert_eq!(serde_json::from_str::<Value>(dry.stdout()).unwrap()["request"], request.body);
    let material = shown(&request).join("\n");
    assert!(
        material.contains("User: question 7") && !material.contains("question 8"),
        "{material}"
    );

    // The question: the summary, the kept turns, the question.
    let first = last_request(&bench);
    let items = shown(&first);
    assert!(items[0].ends_with("\n\nThe fact of turn 3 is 42."), "{}", items[0]);
    assert_eq!(items[1..3], ["user: question 8", "assistant: answer 8"]);
    assert_eq!(items.last().unwrap(), "user: What was the fact?");
    let summary = fs::read_to_string(bench.session().join("summary.md")).unwrap();
    assert_eq!(summary, "<!-- turns up to 7 -->\n\nThe fact of turn 3 is 42.\n");

    // From then on the beginning is the same bytes again.
    bench.answers([round().says("Yes.")]);
    ask(&bench, COMPACT_AT, "Sure?", 0);
    assert_eq!(first.input()[..], last_request(&bench).input()[..first.input().len()]);
}

#[test]
fn a_summary_that_fails_changes_nothing_and_is_tried_again() {
    let bench = bench(7);
    bench.answers([round().answers(400, "{}"), round().says("Here.").uses(MANY, 10)]);
    let turn = ask(&bench, COMPACT_AT, "And now?", 0);
    let warning = &turn.phases("warning")[0];
    assert_eq!(warning["code"], "compaction_failed");
    assert_eq!(shown(&last_request(&bench))[0], "user: question 1");
    // Half a summary would stand for whole turns.
    let half = round().says("Half a").ends_early_for("max_output_tokens");
    bench.answers([half, round().says("Here.").uses(MANY, 10)]);
    let turn = ask(&bench, COMPACT_AT, "And now?", 0);
    assert!(turn.phases("warning")[0]["message"].as_str().unwrap().contains("it was cut"));
    bench.answers([round().says("Much was said."), round().says("Here.")]);
    let turn = ask(&bench, COMPACT_AT, "And now?", 0);
    assert_eq!(turn.phases("compacted")[0]["turns"], 4);
    assert!(shown(&last_request(&bench))[0].ends_with("Much was said."));
}

#[test]
fn a_budget_below_the_instructions_is_told_and_not_compacted_for_again() {
    let bench = Bench::with(["sales.csv"]);
    let small = ["--compact-at", "1000"];
    let mut told = Vec::new();
    for number in 1..=12 {
        let answer = round().says(&format!("answer {number}")).uses(3_000, 10);
        let summary = (number == 7).then(|| round().says("Much was said.").uses(900, 90));
        bench.answers(summary.into_iter().chain([answer]));
        let turn = ask(&bench, small, &format!("question {number}"), 0);
        let phases = turn.events.iter().filter(|it| {
            it["phase"] == "warning" || it["phase"] == "compacting" || it["phase"] == "compacted"
        });
        told.extend(phases.map(|it| (number, it["message"].as_str().unwrap().to_owned())));
    }
    let [(7, warning), (7, _), (7, compacted)] = &told[..] else { panic!("{told:#?}") };
    assert!(warning.contains("but `--compact-at` is 1000: a summary"), "{warning}");
    assert_eq!(compacted, "1 turn summarized, 5 kept");
}

#[test]
fn a_fresh_question_neither_compacts_nor_reads_a_summary() {
    let bench = bench(7);
    bench.answers([round().says("Fresh.")]);
    let [flag, tokens] = COMPACT_AT;
    ask(&bench, [flag, tokens, "--fresh"], "What?", 0);
    assert_eq!(shown(&last_request(&bench)), ["user: What?"]);
}

/// Returns the events of a turn that makes room, in a few words each.
fn room(turn: &Turn) -> Vec<String> {
    let is_room = |it: &&Value| it["phase"] == "compacting" || it["phase"] == "compacted";
    let events = turn.events.iter().filter(is_room);
    events.map(|it| it["message"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_turn_that_is_too_long_for_the_model_makes_room_step_by_step() {
    let bench = Bench::with(["sales.csv"]);
    let long = |call_id: &str| code(call_id, "print('word ' * 1000)");
    bench.answers([long("c1"), round().says("Words.")]);
    ask(&bench, [], &"Words? ".repeat(1_000), 0);
    bench.answers([
        long("c2"),
        long("c3"),
        too_long(), // with everything
        too_long(), // with old outputs shortened
        round().says("There were words."),
        too_long(), // with a summary
        round().says("Many words."),
    ]);
    let turn = ask(&bench, [], "More words?", 0);
    assert_eq!(turn.ending(), "complete: Many words.");
    assert_eq!(
        room(&turn),
        [
            "too long for the model; asking again with 2 old outputs shortened",
            "summarizing 1 older turn",
            "1 turn summarized, 0 kept",
            "too long for the model; asking again with 1 old output shortened",
        ]
    );
    let request = last_request(&bench);
    assert!(request.output_of("c3").len() < 1_024);
    assert!(shown(&request)[0].ends_with("There were words."));
}

#[test]
fn outputs_are_shortened_as_often_as_there_are_new_ones() {
    let long = |call_id: &str| code(call_id, "print('word ' * 1000)");
    let bench = Bench::with(["sales.csv"]).script([
        long("c1"),
        long("c2"),
        too_long(),
        long("c3"),
        too_long(),
        long("c4"),
        too_long(),
        round().says("Words."),
    ]);
    let turn = ask(&bench, [], "Words?", 0);
    assert_eq!(
        room(&turn),
        ["too long for the model; asking again with 1 old output shortened"; 3]
    );
}

#[test]
fn what_a_summary_costs_counts_against_the_turn() {
    let bench = bench(7);
    bench.answers([round().says("Much was said.").uses(5_000, 100)]);
    let [flag, tokens] = COMPACT_AT;
    let turn = ask(&bench, [flag, tokens, "--max-tokens", "2000"], "And now?", 7);
    assert_eq!(turn.end()["stop_reason"], "max_tokens");
}

#[test]
fn what_cannot_be_made_shorter_ends_clearly() {
    let bench = Bench::with(["sales.csv"]).script([too_long()]);
    let turn = ask(&bench, [], "Too much?", 6);
    assert_eq!(room(&turn), [] as [&str; 0]);
    assert!(turn.end()["hint"].is_string(), "{}", turn.end());
}

#[test]
fn two_hundred_turns_stay_within_their_budget() {
    const TURNS: usize = 200;
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    let mut n_compactions = 0;
    for number in 1..=TURNS {
        // Every fifteenth turn the conversation has grown too long.
        if 1 < number && number % 15 == 1 {
            n_compactions += 1;
            bench.answers([round().says("Turn 3 found that coffee costs 4.20.")]);
        }
        let tokens = if number % 15 == 0 { MANY } else { 1_000 };
        bench.answers([round().says(&format!("answer {number}")).uses(tokens, 10)]);
    }
    let questions: Vec<String> = (1..=TURNS).map(|it| format!("question {it}\n")).collect();
    let [flag, tokens] = COMPACT_AT;
    let run =
        bench.pipe(["chat", "--format", "jsonl", flag, tokens], questions.concat().as_bytes());
    let replies = run.succeeds().events();
    let replies = replies.iter().filter(|it| it["type"] == "reply");
    assert_eq!(replies.count(), TURNS);
    assert_eq!(bench.n_requests(), TURNS + n_compactions);
    let request = last_request(&bench);
    let items = shown(&request);
    assert!(items[0].contains("coffee costs 4.20"), "{}", items[0]);
    assert!(items.len() < 2 * 25, "{}", items.len());
    assert_eq!(items.last().unwrap(), "user: question 200");
    let history = fs::read_to_string(bench.session().join("history.jsonl")).unwrap();
    assert!(history.lines().count() < 25, "{}", history.lines().count());
}
