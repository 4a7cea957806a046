//! `doctor`: what it finds of the key, the server and the machine, and how it ends.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, KEY, Round, Run, round, wait};

/// Runs `doctor --json` without a key.
fn keyless(bench: &Bench, arguments: &[&str]) -> Run {
    let mut command = bench.command(["doctor", "--json"].iter().chain(arguments));
    command.env_remove("OPENAI_API_KEY");
    let shown = format!("{command:?}");
    wait(command.spawn().unwrap(), shown, b"")
}

/// Demands that there is one line of this name, and that it begins and ends so.
#[track_caller]
fn check(run: &Run, name: &str, state: &str, words: &str) {
    let checks: Value = serde_json::from_str(run.stdout()).unwrap();
    let found: Vec<&Value> =
        checks.as_array().unwrap().iter().filter(|it| it["check"] == name).collect();
    assert_eq!(found.len(), 1, "{run}");
    assert_eq!(found[0]["state"], state, "{run}");
    assert!(found[0]["found"].as_str().unwrap().contains(words), "{run}");
}

fn server(answer: Round) -> Bench {
    Bench::with([]).listing(answer)
}

#[test]
fn a_server_that_answers_is_asked_once_and_with_the_key() {
    let models = json!({"data": [{"id": "gpt-6.2-sol"}]}).to_string();
    let bench = server(round().answers(200, &models));
    let run = bench.run(["doctor", "--json"]).succeeds();
    check(&run, "key", "ok", "OPENAI_API_KEY is set");
    check(&run, "server", "ok", "/v1: answers");
    check(&run, "python", "ok", "pandas");
    let spark: Value = serde_json::from_str(run.stdout()).unwrap();
    assert!(spark.as_array().unwrap().iter().any(|it| it["check"] == "spark"), "{run}");
    check(&run, "terminal", "ok", "stdout is not a terminal: lines are not cut, no color");
    assert!(run.stdout().contains("GB free for the session in "), "{run}");
    assert!(run.stdout().contains("for Python's packages in "), "{run}");
    assert!(!run.stdout().contains(KEY), "{run}");
    assert_eq!(bench.n_requests(), 1);
    let request = bench.request(0);
    assert_eq!(request.line, "GET /v1/models HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let other = bench.run(["doctor", "--json", "-m", "gpt-6"]).succeeds();
    check(&other, "server", "warning", "`gpt-6` is not among the models that it lists");
}

#[test]
fn a_model_that_ends_is_warned_of() {
    let models = json!({"data": [{"id": "gpt-5.1", "shutdown_date": "2027-04-01"}]}).to_string();
    let bench = server(round().answers(200, &models));
    let run = bench.run(["doctor", "--json", "-m", "gpt-5.1"]).succeeds();
    check(&run, "server", "warning", "but `gpt-5.1` will be retired: 2027-04-01; choose another");
}

#[test]
fn a_key_that_is_refused_is_told_without_the_key() {
    for (status, words) in [(401, "refused the API key"), (403, "does not allow this")] {
        let told = format!("Incorrect API key provided: {KEY}.");
        let bench = server(round().errs(status, "", "invalid_api_key", &told));
        let run = bench.run(["doctor", "--json"]).fails_with(4);
        check(&run, "server", "problem", words);
        assert!(!run.stdout().contains(KEY), "{run}");
    }
    let narrow = "You have insufficient permissions. Missing scopes: api.model.read.";
    let bench = server(round().errs(403, "", "", narrow));
    let run = bench.run(["doctor", "--json"]).succeeds();
    check(&run, "server", "warning", "does not list models for this key");
}

#[test]
fn whatever_else_a_server_answers_it_is_there() {
    for (status, words) in
        [(404, "lists no models (status 404)"), (503, "the provider"), (302, "redirect")]
    {
        let run = server(round().answers(status, "no")).run(["doctor", "--json"]).succeeds();
        check(&run, "server", "warning", words);
    }
    let run = server(round().answers(200, "<html>").silent_after(0)).run(["doctor", "--json"]);
    check(&run.succeeds(), "server", "ok", "answers");
}

#[test]
fn a_server_that_hangs_is_not_waited_for_and_the_waiting_is_told() {
    let bench = server(round().mute());
    let run = bench.run(["doctor", "--json", "-v"]).fails_with(6);
    check(&run, "server", "problem", "did not answer within 5 s");
    assert_eq!(run.stderr(), "checking the server and Python\n");
}

#[test]
fn a_server_that_is_not_there_is_a_problem_unless_nobody_asks_it() {
    let bench = Bench::with([]).variable("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let run = bench.run(["doctor", "--json"]).fails_with(6);
    check(&run, "server", "problem", "cannot connect to `http://127.0.0.1:1`: connection refused");
    let quiet = bench.run(["doctor", "-q"]).fails_with(6);
    assert_eq!(quiet.stderr(), "");
    let run = bench.run(["doctor", "--json", "--offline"]).succeeds();
    check(&run, "server", "skipped", "http://127.0.0.1:1/v1: not contacted, because of --offline");
    let run = bench.run(["doctor", "--json", "--model", "builtin"]);
    check(&run, "server", "ok", "none needed");
}

#[test]
fn nothing_is_asked_offline() {
    let bench = server(round().mute());
    bench.run(["doctor", "--offline"]).succeeds();
    assert_eq!(bench.n_requests(), 0);
}

#[test]
fn a_key_is_missing_only_where_one_is_needed() {
    let bench = Bench::with([]);
    let here = keyless(&bench, &[]).succeeds();
    check(&here, "key", "ok", "none; the server is on this machine");
    check(&here, "server", "ok", "answers");
    let bench = server(round().errs(401, "", "", "No key."));
    let wanted = keyless(&bench, &[]).fails_with(4);
    check(&wanted, "server", "problem", "requires a key (status 401), but no key is set");
    let far = ["--offline", "--base-url", "https://models.example.com/v1"];
    check(&keyless(&bench, &far).fails_with(4), "key", "problem", "OPENAI_API_KEY");
    let builtin = Bench::with([]).variable("CSV_AGENT_MODEL", "builtin");
    check(&keyless(&builtin, &[]).succeeds(), "key", "ok", "none needed");
    assert_eq!(builtin.n_requests(), 0);
}

#[test]
fn the_status_is_that_of_the_worst_problem() {
    let bench = Bench::with([]).variable("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let bench = bench.variable("CSV_AGENT_PYTHON", "/nowhere/python");
    let run = bench.run(["doctor", "--json"]).fails_with(8);
    check(&run, "server", "problem", "connection refused");
    check(&run, "python", "problem", "/nowhere/python");
    let bench = Bench::with([]).variable("OPENAI_BASE_URL", "nonsense");
    let run = bench.run(["doctor", "--json", "--offline"]).fails_with(3);
    check(&run, "server", "problem", "OPENAI_BASE_URL: `nonsense` is not a valid URL of a server");
}

#[test]
fn python_is_nobodys_problem_where_code_runs_at_the_provider() {
    let bench = Bench::with([]).variable("CSV_AGENT_PYTHON", "/nonexistent/python3");
    fs::write(bench.path("hosted.toml"), "interpreter = \"hosted\"\n").unwrap();
    fs::write(bench.path("both.toml"), "interpreter = \"both\"\n").unwrap();
    let doctor = |file: &str| bench.run(["doctor", "--json", "--offline", "--config", file]);
    let run = doctor("hosted.toml").succeeds();
    for name in ["python", "sandbox"] {
        check(&run, name, "skipped", "questions run no code on this machine");
    }
    assert!(!run.stdout().contains("Python's packages"), "{run}");
    check(&doctor("both.toml").fails_with(8), "python", "problem", "/nonexistent/python3");
}

#[test]
fn the_last_line_says_whether_a_question_can_be_asked() {
    let models = json!({"data": [{"id": "gpt-6.2-sol"}]}).to_string();
    let bench = server(round().answers(200, &models));
    let last = |run: Run| run.stdout().lines().last().unwrap().to_owned();
    let lines = |run: &Run| run.stdout().lines().count();
    let run = bench.run(["doctor"]);
    assert!(lines(&run) <= 45, "{run}");
    assert!(last(run.succeeds()).starts_with("You can ask a question"));
    let builtin = bench.run(["doctor", "--model", "builtin"]).succeeds();
    assert!(last(builtin).starts_with("You can ask a question"));
    let away = Bench::with([]).variable("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let told = last(away.run(["doctor"]).fails_with(6));
    let expected = "You cannot ask a model yet, because of the problems above (server), but you can ask the \
                    built-in analyst, which needs no key and no server: `--model builtin`.";
    assert_eq!(told, expected);
    let away = away.variable("CSV_AGENT_PYTHON", "/nonexistent/python3");
    let told = last(away.run(["doctor"]).fails_with(8));
    assert_eq!(
        told,
        "You cannot ask a question yet, because of the problems above: python, server."
    );
}
