//! `setup`: the Python environment before a question needs it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::bench::Bench;

fn bench() -> Bench {
    Bench::with([]).variable("CSV_AGENT_PYTHON", "")
}

/// With a cache that has no environment yet.
fn empty() -> Bench {
    let bench = bench();
    let cache = bench.path("cache").display().to_string();
    bench.variable("XDG_CACHE_HOME", &cache)
}

#[test]
fn an_environment_that_exists_is_shown_with_its_place_and_size() {
    let bench = bench();
    let json = bench.run(["setup", "--json"]).succeeds();
    let found: Value = serde_json::from_str(json.stdout()).unwrap();
    let (place, bytes) = (found[0]["python"].as_str().unwrap(), found[0]["bytes"].as_u64());
    assert!(100_000_000 < bytes.unwrap() && place.contains("/csv-agent/python-3."), "{json}");
    let text = bench.run(["setup"]).succeeds();
    let expected = format!("Python is ready: {place} (made by csv-agent, ");
    assert!(text.stdout().starts_with(&expected), "{text}");
    assert_eq!(text.stderr(), "");
}

#[test]
fn what_cannot_be_made_is_an_error_that_says_what_to_do() {
    let none = empty().variable("PATH", "/nonexistent");
    let run = none.run(["setup"]).fails_with(8);
    assert!(run.stderr().contains("csv-agent needs a Python 3.10 to 3.14"), "{run}");
    // A machine without a network, and without a directory of wheels.
    let offline = empty().variable("PIP_NO_INDEX", "1").variable("PIP_FIND_LINKS", "");
    let run = offline.run(["setup"]).fails_with(8);
    let steps = "setting up Python, only once: creating an environment";
    assert!(run.stderr().starts_with(steps), "{run}");
    for way in ["HTTPS_PROXY", "PIP_INDEX_URL", "CSV_AGENT_PYTHON"] {
        assert!(run.stderr().contains(way), "{run}");
    }
    assert_eq!(run.stdout(), "");
}

#[test]
fn removal_takes_the_environments_and_nothing_else() {
    let bench = empty();
    let cache = bench.path("cache/csv-agent");
    for name in ["python-3.12-0badcafe", "target"] {
        fs::create_dir_all(cache.join(name)).unwrap();
    }
    let run = bench.run(["setup", "--remove", "--format", "csv"]).succeeds();
    let place = cache.join("python-3.12-0badcafe");
    assert_eq!(run.stdout(), format!("path,status\n{},removed\n", place.display()));
    assert!(!place.exists() && cache.join("target").exists());
    assert_eq!(bench.run(["setup", "--remove"]).succeeds().stdout(), "");
}

#[test]
fn ingest_on_a_terminal_begins_it_where_a_model_can_be_asked() {
    let bench = Bench::with([]);
    fs::write(bench.path("a.csv"), "x\n1\n").unwrap();
    fs::create_dir(bench.path("bin")).unwrap();
    // It says when it is started, and what for.
    let python = format!("#!/bin/sh\necho \"$@\" >{}\nexit 1\n", bench.path("started").display());
    fs::write(bench.path("bin/python3"), python).unwrap();
    fs::set_permissions(bench.path("bin/python3"), Permissions::from_mode(0o755)).unwrap();
    let ingest = |key: &str, run: &str, and: &str| {
        let script = format!(
            "export PATH=$PWD/bin:$PATH XDG_CACHE_HOME=$PWD/cache CSV_AGENT_PYTHON= OPENAI_API_KEY={key}
             rm -f started; mkfifo started
             {run} 'csv-agent ingest --if-exists replace a.csv' {and}"
        );
        bench.shell(&script, &[]).succeeds().stdout().to_owned()
    };
    let (on_terminal, note) = ("script -qec", "Python is being set up in the background");
    let shown = ingest("sk-test", on_terminal, "/dev/null; timeout 100 cat started");
    assert!(shown.contains(note) && shown.contains("import json, sys"), "{shown}");
    // Nobody is there to ask, or nobody who reads a terminal.
    assert!(!ingest("", on_terminal, "/dev/null").contains(note));
    assert!(!ingest("sk-test", "sh -c", "2>&1").contains(note));
}

#[test]
fn doctor_expects_no_python_for_the_builtin_analyst() {
    let state = |model: &str| {
        let run = empty().run(["doctor", "--json", "--offline", "--model", model]);
        let checks: Value = serde_json::from_str(run.stdout()).unwrap();
        let found = checks.as_array().unwrap().iter().find(|it| it["check"] == "python");
        found.unwrap()["state"].clone()
    };
    assert_eq!([state("builtin"), state("gpt-6.2-sol")], ["skipped", "warning"]);
}
