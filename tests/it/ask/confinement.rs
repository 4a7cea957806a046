//! What a turn says of the confinement of its code, and when it refuses to run any.

use std::fs;

use serde_json::json;

use super::{ask, code};
use crate::bench::{Bench, round};

fn bench(without: &str) -> Bench {
    let bench = Bench::with(["sales.csv"]).script([code("c1", "1 + 1"), round().says("It is 2.")]);
    bench.variable("CSV_AGENT_SANDBOX_WITHOUT", without)
}

#[test]
fn a_rule_that_does_not_hold_is_told() {
    let turn = ask(&bench("namespaces"), [], "q", 0);
    let worker = &turn.phases("worker")[0];
    assert_eq!(worker["missing"], json!(["names of files outside"]));
    assert_eq!(worker["reasons"], json!(["CSV_AGENT_SANDBOX_WITHOUT has namespaces"]));
    let run = bench("namespaces,landlock").ask("q").succeeds();
    let told = "warning: code is not confined in: files, names of files outside, other processes\n";
    assert!(run.stderr().contains(told), "{}", run.stderr());
}

#[test]
fn the_log_has_what_holds_and_nothing_of_the_data() {
    let bench = Bench::with(["sales.csv"])
        .script([code("c1", "'p' + 'ear'"), round().says("It is a secret.")]);
    ask(&bench, [], "what fruit?", 0);
    let log = fs::read_to_string(bench.session().join("logs/csv-agent.log")).unwrap();
    let lines: Vec<serde_json::Value> =
        log.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert!(lines[0]["sandbox"]["enforced"][0] == "network: none", "{}", lines[0]);
    assert_eq!(lines.last().unwrap()["exit_code"], 0);
    for word in ["fruit", "pear", "ear'", "secret"] {
        assert!(!log.contains(word), "`{word}` is in {log}");
    }
}

#[test]
fn no_code_runs_when_the_whole_confinement_is_wanted_and_not_there() {
    let bench = bench("namespaces");
    let run = bench.ask_with(["--require-sandbox"], "q").fails_with(8);
    bench.forget();
    let told = "`--require-sandbox`: not enforced here: names of files outside; \
                CSV_AGENT_SANDBOX_WITHOUT has namespaces";
    assert!(run.stderr().contains(told), "{}", run.stderr());
    let run = bench.run(["doctor", "--require-sandbox"]).fails_with(8);
    assert!(run.stdout().contains("names of files outside: not enforced"), "{}", run.stdout());
}

#[test]
fn the_doctor_has_a_line_for_each_thing() {
    let bench = Bench::with([]);
    let run = bench.run(["doctor", "--json"]).succeeds();
    let checks: serde_json::Value = serde_json::from_str(run.stdout()).unwrap();
    let of = |name: &str| {
        let found = checks.as_array().unwrap().iter().filter(|it| it["check"] == name);
        found.map(|it| it["state"].as_str().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((of("key"), of("python")), (vec!["ok"], vec!["ok"]));
    assert!(5 < of("sandbox").len());
}
