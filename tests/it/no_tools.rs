//! Models without tools: one request with a profile of the data, and an answer that says what it is.

use serde_json::{Value, json};

use csv_agent_provider::Api;

use crate::bench::{Bench, Round, round};

const NOT_COMPUTED: &str = "**Not computed.** The model has no tools; it answered from a profile of \
                            the data, so its numbers need a check.";

/// How servers say that there are no tools: dialect, status and message.
const REFUSALS: [(Api, u16, &str); 3] = [
    (Api::Chat, 400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    (Api::Chat, 500, "tools param requires --jinja flag"),
    (Api::Responses, 400, "Unknown parameter: 'tools'."),
];

fn bench(
    (api, status, words): (Api, u16, &str),
    answers: impl IntoIterator<Item = Round>,
) -> Bench {
    let refusal = round().errs(status, "invalid_request_error", "", words);
    Bench::with(["sales.csv"]).speaking(api).script([refusal]).script(answers)
}

fn analysis(assessment: &str) -> Round {
    let answer = json!({"summary": "Coffee leads.", "assessment": assessment, "explanation": "By sum.",
        "potential_issues": ["Few rows."], "recommendations": []});
    round().says(&answer.to_string())
}

#[test]
fn a_question_goes_out_once_with_a_profile_and_comes_back_as_not_computed() {
    for refusal in REFUSALS {
        let bench = bench(refusal, [analysis("warning")]);
        let api = refusal.0.name();
        let run = bench.ask_with(["--format", "jsonl", "--api", api], "q").succeeds();
        let events = run.events();
        let reply = events.last().unwrap();
        let text =
            format!("{NOT_COMPUTED}\n\nCoffee leads.\n\nBy sum.\n\nPotential issues:\n- Few rows.");
        assert_eq!((&reply["text"], &reply["computed"]), (&text.clone().into(), &false.into()));
        assert_eq!(reply["blocks"][0]["content"], text);
        assert_eq!(reply["assessment"], Value::Null, "it was not asked for");
        assert!(events.iter().any(|it| it["code"] == "no_tools"), "{run}");
        assert!(!events.iter().any(|it| it["type"] == "partial"), "{run}");
        let asked = bench.request(1).body.to_string();
        assert!(asked.contains("sales: 10 rows") && asked.contains("potential_issues"), "{asked}");
        assert!(bench.request(1).body.get("tools").is_none());
    }
}

#[test]
fn what_was_not_computed_passes_no_gate_unless_it_may() {
    let ask = |arguments: &[&str], code: i32| {
        let bench = bench(REFUSALS[0], [analysis("good")]);
        let all = ["--api", "chat", "--json"].iter().chain(arguments).copied();
        bench.ask_with(all, "q").fails_with(code)
    };
    let refused = ask(&["--fail-on", "bad"], 9);
    let why = "the answer was not computed, because the model has no tools; `--allow-untooled` lets it \
               pass";
    assert!(refused.stderr().contains(why), "{refused}");
    assert_eq!(refused.events()[0]["computed"], false);
    ask(&["--fail-on", "bad", "--allow-untooled"], 0);
    ask(&["--require", "table", "--allow-untooled"], 9);
    let told = ask(&["--verdict"], 0);
    assert_eq!(told.events()[0]["assessment"], "good");
    assert_eq!(told.events()[0]["findings"][0]["message"], "Few rows.");
}

#[test]
fn a_chat_finds_out_once_and_an_answer_in_any_form_is_told() {
    let bench = bench(REFUSALS[0], [round().says("Who knows."), analysis("good")]);
    let run = bench.pipe(["chat", "-f", "sales.csv", "--api", "chat"], b"one\ntwo\n").succeeds();
    assert!(run.stdout().contains(&format!("{NOT_COMPUTED}\n\nWho knows.")), "{run}");
    assert_eq!(bench.n_requests(), 3);
    let second = bench.request(2).body["messages"].clone();
    assert_eq!(second[2]["content"], format!("{NOT_COMPUTED}\n\nWho knows."), "{second:#}");
}

#[test]
fn what_the_user_said_of_the_data_is_known_without_tools_too() {
    let bench = bench(REFUSALS[0], [analysis("good")]);
    std::fs::write(bench.path("notes.md"), "Prices are net.\n").unwrap();
    let flags = ["--api", "chat", "--knowledge", "notes.md", "--language", "German"];
    bench.ask_with(flags, "q").succeeds();
    let body = bench.request(bench.n_requests() - 1).body.to_string();
    for part in ["| Prices are net.", "labels in German", "Profile of the data"] {
        assert!(body.contains(part), "{part}: {body}");
    }
}
