//! Turns over the real provider, which cost money: they run where `OPENAI_API_KEY` is set.
//!
//! `CSV_AGENT_LIVE_MODEL` names the model to ask.

use std::fs;

use serde_json::Value;

use crate::ask::Turn;
use crate::bench::Bench;

/// Makes a bench that asks the real provider; none where there is no key.
fn bench() -> Option<Bench> {
    let variable = |name: &str| std::env::var(name).ok().filter(|it| !it.is_empty());
    let Some(key) = variable("OPENAI_API_KEY") else {
        #[expect(clippy::print_stderr, reason = "who runs the tests should know")]
        {
            eprintln!("skipped: no OPENAI_API_KEY in the environment");
        }
        return None;
    };
    let base_url = variable("OPENAI_BASE_URL");
    let base_url = base_url.as_deref().unwrap_or(csv_agent_provider::BASE_URL);
    let bench = Bench::with(["sales.csv"])
        .variable("OPENAI_API_KEY", &key)
        .variable("OPENAI_BASE_URL", base_url);
    Some(match variable("CSV_AGENT_LIVE_MODEL") {
        Some(model) => bench.variable("CSV_AGENT_MODEL", &model),
        None => bench,
    })
}

#[track_caller]
fn ask(bench: &Bench, question: &str) -> Turn {
    let arguments =
        ["--interpreter", "hosted", "--tool-choice", "code_interpreter", "--format", "jsonl"];
    Turn::of(&bench.ask_with(arguments, question).succeeds())
}

/// Returns the container in which all code of a turn ran.
#[track_caller]
fn container(turn: &Turn) -> String {
    let results = turn.all("tool_result");
    let ids = results.iter().filter_map(|it| it["result"]["container_id"].as_str());
    let ids: std::collections::BTreeSet<&str> = ids.collect();
    assert_eq!(ids.len(), 1, "{:#?}", turn.events);
    ids.into_iter().next().unwrap().to_owned()
}

#[test]
fn the_real_provider_runs_code_keeps_its_container_and_hands_out_what_it_drew() {
    let Some(bench) = bench() else { return };
    let first = ask(&bench, "With Python, print 12345678 * 87654321. Answer with the number.");
    let printed = first.all("tool_result");
    let printed = printed.iter().filter_map(|it| it["result"]["text"].as_str());
    let printed: String = printed.collect();
    assert!(printed.contains("1082152022374638"), "{:#?}", first.events);
    let said = first.ending().replace([',', ' ', '\u{202f}', '_'], "");
    assert!(said.contains("1082152022374638"), "{said}");
    let second = ask(
        &bench,
        "Sum the revenue by product in the dataset, plot it as bars with matplotlib, save the plot \
         as /mnt/data/revenue.png and link that file in your answer.",
    );
    assert_eq!(container(&second), container(&first));
    let files = second.end()["files"].as_array().unwrap();
    let is_plot = |it: &&Value| it["format"] == "png" && it["cited"] == true;
    let cited = files.iter().find(is_plot);
    let cited = cited.unwrap_or_else(|| panic!("no plot is cited: {:#?}", second.events));
    let picture = fs::read(bench.session().join(cited["path"].as_str().unwrap())).unwrap();
    assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(cited["container_id"].as_str(), Some(&container(&first)[..]));
    // Leaves nothing behind at the provider.
    bench.run(["reset", "--yes"]).succeeds();
}
