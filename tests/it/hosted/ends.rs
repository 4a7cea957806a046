//! Turns with uploads and containers that end from outside, and what is deleted at the end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::ask;
use crate::ask::Turn;
use crate::bench::{
    Bench, Captured, Endpoint, Life, Round, Trouble, in_time, round, signal, trouble, until, wait,
};

fn code(text: &str) -> Round {
    round().interprets("x", "1\n").says(text)
}

fn bench() -> Bench {
    Bench::with(["sales.csv"])
}

/// A moment at which a turn waits for the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Uploading,
    Looking,
    Responding,
    Listing,
    Fetching,
}

const ALL: [At; 5] = [At::Uploading, At::Looking, At::Responding, At::Listing, At::Fetching];

/// Returns a bench whose server falls silent at this moment of the next turn.
fn silent_at(at: At) -> Bench {
    let bench = bench();
    let made = || round().interprets("x", "1\n").makes_file("a.txt", "a").says("One.");
    if at == At::Looking {
        bench.answers([code("Before.")]);
        ask(&bench, &[], "q", 0);
    }
    let troubles = |endpoint: Endpoint| -> Trouble { trouble(endpoint).mute() };
    match at {
        At::Uploading => bench.server().troubles([troubles(Endpoint::Upload)]),
        At::Looking => bench.server().troubles([troubles(Endpoint::ShowContainer)]),
        // After the events of the run.
        At::Responding => bench.answers([made().silent_after(9)]),
        At::Listing => bench.server().troubles([troubles(Endpoint::ListFiles)]),
        At::Fetching => bench.server().troubles([troubles(Endpoint::Content)]),
    }
    if matches!(at, At::Listing | At::Fetching) {
        bench.answers([made()]);
    }
    bench
}

/// Returns whether the server was asked for what it is silent about.
fn is_asked(bench: &Bench, at: At, n_requests: usize) -> bool {
    let calls = bench.server().calls();
    let has = |it: &dyn Fn(&str) -> bool| calls.iter().any(|call| it(&call.line));
    match at {
        At::Uploading => has(&|it| it.starts_with("POST /v1/files ")),
        At::Looking => has(&|it| it.starts_with("GET /v1/containers/cntr_1 ")),
        At::Responding => n_requests < bench.n_requests(),
        At::Listing => has(&|it| it.starts_with("GET /v1/containers/cntr_1/files?")),
        At::Fetching => has(&|it| it.contains("/content ")),
    }
}

/// Waits until the server was asked for what it is silent about.
#[track_caller]
fn wait_for(bench: &Bench, at: At, n_requests: usize) {
    until("the server is asked", || is_asked(bench, at, n_requests));
}

fn start(bench: &Bench, more: &[&str]) -> Child {
    let arguments = ["ask", "--format", "jsonl", "-f", "sales.csv", "--interpreter", "hosted"];
    let arguments = arguments.iter().chain(more).chain(&["--", "q"]);
    bench.command(arguments).spawn().unwrap()
}

#[track_caller]
fn ended(child: Child, sent: Signal) -> Turn {
    signal(&child, sent);
    let code = if sent == Signal::SIGINT { 130 } else { 143 };
    Turn::of(&wait(child, "ask".to_owned(), b"").fails_with(code))
}

/// Returns the files of a directory that were never finished.
fn unfinished(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().unwrap().is_dir() {
            found.extend(unfinished(&entry.path()));
        } else if entry.file_name().to_str().unwrap().starts_with('.')
            && entry.file_name() != ".gitignore"
        {
            found.push(entry.path());
        }
    }
    found
}

#[track_caller]
fn check_signal(at: At, signal: Signal) {
    let bench = silent_at(at);
    let n_requests = bench.n_requests();
    let child = start(&bench, &[]);
    wait_for(&bench, at, n_requests);
    let turn = ended(child, signal);
    assert!(turn.ending().starts_with("cancelled"), "{at:?}: {}", turn.ending());
    assert_eq!(unfinished(&bench.session()), [""; 0].map(PathBuf::from), "{at:?}");
    bench.answers([code("Again.")]);
    assert_eq!(ask(&bench, &[], "q", 0).ending(), "complete: Again.", "{at:?}");
}

#[test]
fn a_signal_ends_a_turn_wherever_it_waits_for_the_provider() {
    for at in ALL {
        check_signal(at, Signal::SIGINT);
        check_signal(at, Signal::SIGTERM);
    }
}

/// Checks how a turn ends whose time is over at this moment.
#[track_caller]
fn check_timeout(at: At, code_wanted: i32, ending: &str) {
    let bench = in_time(Duration::from_secs(1), |time| {
        let bench = silent_at(at);
        let n_requests = bench.n_requests();
        let limit = format!("{}s", time.as_secs());
        let run = bench
            .ask_with(["--interpreter", "hosted", "--format", "jsonl", "--timeout", &limit], "q");
        if is_asked(&bench, at, n_requests) {
            let turn = Turn::of(&run.fails_with(code_wanted));
            assert_eq!(turn.ending(), ending, "{at:?}");
            return Ok(bench);
        }
        bench.forget();
        Err(run)
    });
    assert_eq!(unfinished(&bench.session()), [""; 0].map(PathBuf::from), "{at:?}");
    bench.answers([code("Again.")]);
    assert_eq!(ask(&bench, &[], "q", 0).ending(), "complete: Again.", "{at:?}");
}

#[test]
fn the_time_of_a_turn_is_that_of_all_that_it_asks_the_provider() {
    let none = "timeout: The time limit was reached before there was an answer.";
    check_timeout(At::Uploading, 7, none);
    check_timeout(At::Looking, 7, none);
    check_timeout(At::Responding, 7, none);
    // The answer is there and counts without the files.
    check_timeout(At::Listing, 0, "complete: One.");
    check_timeout(At::Fetching, 0, "complete: One.");
}

#[test]
fn a_killed_upload_leaves_no_data_behind() {
    let bench = silent_at(At::Uploading);
    let mut child = start(&bench, &[]);
    wait_for(&bench, At::Uploading, 0);
    signal(&child, Signal::SIGKILL);
    child.wait().unwrap();
    bench.answers([code("Again.")]);
    assert_eq!(ask(&bench, &[], "q", 0).ending(), "complete: Again.");
    assert_eq!(unfinished(&bench.session()), [""; 0].map(PathBuf::from));
}

#[track_caller]
fn is_clean(bench: &Bench) {
    assert!(bench.server().files().iter().all(|it| it.is_gone));
    assert!(bench.server().containers().iter().all(|it| it.life == Life::Deleted));
}

#[test]
fn what_leaves_nothing_behind_leaves_nothing_at_the_provider() {
    let bench = bench().script([code("One.")]);
    ask(&bench, &["--ephemeral"], "q", 0);
    is_clean(&bench);
    // After a failed answer, too.
    bench.answers([round().errs(400, "invalid_request_error", "", "no")]);
    ask(&bench, &["--ephemeral"], "q", 6);
    is_clean(&bench);
}

#[test]
fn an_interrupt_leaves_nothing_at_the_provider() {
    for at in [At::Responding, At::Listing, At::Fetching] {
        let bench = silent_at(at);
        let child = start(&bench, &["--ephemeral"]);
        wait_for(&bench, at, 0);
        ended(child, Signal::SIGINT);
        assert!(bench.server().files().iter().all(|it| it.is_gone), "{at:?}");
        if at != At::Responding {
            is_clean(&bench);
        }
    }
}

#[test]
fn what_cannot_be_deleted_is_told_and_changes_nothing() {
    let bench = bench().script([code("One.")]);
    let down = |it: Endpoint| trouble(it).errs(500, "down").header("retry-after-ms", "1").always();
    bench.server().troubles([down(Endpoint::DeleteUpload)]);
    let hosted = ["--interpreter", "hosted", "--ephemeral"];
    let run = bench.ask_with(hosted, "q").succeeds();
    assert_eq!(run.stdout(), "One.\n");
    assert!(run.stderr().contains("1 upload of this session could not be deleted"), "{run}");
    assert_eq!(bench.server().containers()[0].life, Life::Deleted);
}

#[test]
fn a_second_interrupt_ends_the_wait_for_a_deletion() {
    let bench = silent_at(At::Fetching);
    bench.server().troubles([trouble(Endpoint::DeleteContainer).mute()]);
    let child = start(&bench, &["--ephemeral"]);
    wait_for(&bench, At::Fetching, 0);
    signal(&child, Signal::SIGINT);
    let is_deletion = |it: &Captured| it.line.starts_with("DELETE");
    until("something is deleted", || bench.server().calls().iter().any(is_deletion));
    signal(&child, Signal::SIGINT);
    let run = wait(child, "ask".to_owned(), b"").fails_with(130);
    assert!(Turn::of(&run).ending().starts_with("cancelled"), "{run}");
    // Neither was it done, nor was its time over.
    assert!(
        run.stderr().contains("could not be deleted") && run.stderr().contains(": interrupted"),
        "{run}"
    );
}

/// Returns what a command prints as JSON.
fn listed(bench: &Bench, arguments: &[&str]) -> Vec<String> {
    let run = bench.run(arguments.iter().copied().chain(["--format", "json"])).succeeds();
    let listed: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
    listed.iter().map(|it| it["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_reset_says_what_it_deletes_at_the_provider_and_does_it() {
    let bench = bench().script([code("One.")]);
    ask(&bench, &[], "q", 0);
    let planned = listed(&bench, &["reset", "--dry-run"]);
    let server = bench.server().base_url();
    let there =
        [format!("{server}/containers/cntr_1"), format!("{server}/files/file-1 (sales.csv)")];
    assert_eq!(planned[..2], there);
    assert!(bench.server().files().iter().all(|it| !it.is_gone));
    let gone = listed(&bench, &["reset", "--all", "--yes"]);
    assert_eq!(gone[..planned.len()], planned);
    is_clean(&bench);
}

#[test]
fn a_reset_goes_on_when_the_provider_refuses_and_asks_again_the_next_time() {
    let bench = bench().script([code("One.")]);
    ask(&bench, &[], "q", 0);
    let refused = |it: Endpoint| trouble(it).errs(401, "bad key");
    bench.server().troubles([refused(Endpoint::DeleteContainer)]);
    let run = bench.run(["reset", "--yes"]).succeeds();
    let told = "the container and 1 upload of this session could not be deleted";
    assert!(run.stderr().contains(told), "{run}");
    assert!(run.stderr().contains("bad key"), "{run}");
    assert!(!bench.session().join("turns").exists());
    let run = bench.run(["reset", "--yes"]).succeeds();
    assert!(!run.stderr().contains("could not"), "{run}");
    is_clean(&bench);
    assert!(!bench.session().join("hosted.json").exists());
}

#[test]
fn one_thing_that_cannot_be_deleted_does_not_keep_the_others() {
    let bench = bench().script([code("One.")]);
    ask(&bench, &[], "q", 0);
    bench.server().troubles([trouble(Endpoint::DeleteContainer).errs(400, "busy")]);
    let run = bench.run(["reset", "--yes"]).succeeds();
    assert!(run.stderr().contains("the container of this session could not be deleted"), "{run}");
    assert!(bench.server().files().iter().all(|it| it.is_gone));
    bench.run(["reset", "--yes"]).succeeds();
    is_clean(&bench);
}

#[test]
fn a_reset_does_without_a_server_that_is_gone() {
    let bench = bench().script([code("One.")]);
    ask(&bench, &[], "q", 0);
    let bench = bench.variable("OPENAI_BASE_URL", "http://127.0.0.1:9/v1");
    let run = bench.run(["reset", "--all", "--yes"]).succeeds();
    assert!(run.stderr().contains("could not be deleted"), "{run}");
    assert!(!bench.session().exists());
}

#[test]
fn a_key_goes_to_no_server_that_a_session_names() {
    let bench = bench().script([code("One.")]);
    ask(&bench, &[], "q", 0);
    let path = bench.session().join("hosted.json");
    let state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let kept = state.as_object().unwrap().values().next().unwrap();
    // Another server on this machine, and one elsewhere: neither is asked.
    let other = crate::bench::Server::start([]);
    let foreign = "https://evil.example/v1\u{1b}]0;x\u{7}";
    let state = json!({(other.base_url()): kept, foreign: kept});
    fs::write(&path, state.to_string()).unwrap();
    let run = bench.run(["reset", "--yes"]).succeeds();
    assert!(run.stderr().contains("it is not the server in your settings"), "{run}");
    assert!(!run.stderr().contains('\u{1b}') && !run.stdout().contains('\u{1b}'), "{run}");
    assert!(other.calls().is_empty());
    assert!(bench.server().files().iter().all(|it| !it.is_gone));
}

#[test]
fn what_a_server_says_of_an_upload_is_told() {
    for (status, words) in [(500, "no room"), (400, "Invalid extension")] {
        let bench = bench();
        let failing = trouble(Endpoint::Upload).errs(status, words).header("retry-after-ms", "1");
        bench.server().troubles([failing.always()]);
        let turn = ask(&bench, &["--retries", "1"], "q", 6);
        assert!(turn.ending().contains(words), "{}", turn.ending());
        assert_eq!(bench.n_requests(), 0);
    }
}

#[test]
fn an_upload_waits_as_long_as_the_server_says() {
    let bench = bench().script([code("One.")]);
    let limited = trouble(Endpoint::Upload).errs(429, "slow down").header("retry-after", "1");
    bench.server().troubles([limited]);
    let asked = Instant::now();
    let turn = ask(&bench, &[], "q", 0);
    assert!(Duration::from_secs(1) <= asked.elapsed());
    assert_eq!(turn.phases("retrying")[0]["http_status"], 429);
    let uploads: Vec<_> = turn.phases("loading");
    assert_eq!(bench.server().files().len(), 1, "{uploads:?}");
    // What left twice counts twice.
    let egress = &turn.end()["egress"];
    assert!(egress["requests"].as_u64().unwrap() >= 3, "{egress}");
}

#[test]
fn an_answer_that_is_filtered_keeps_no_run_in_the_conversation() {
    let filtered = round().interprets("1", "1").says("So").ends_early_for("content_filter");
    let bench = bench().script([filtered, code("Fine.")]);
    ask(&bench, &[], "q", 9);
    assert_eq!(ask(&bench, &[], "q", 0).ending(), "complete: Fine.");
}

#[test]
fn only_code_on_this_machine_needs_a_python_or_a_sandbox() {
    let bench = bench().script([code("One."), code("Two.")]);
    let bench = bench.variable("CSV_AGENT_PYTHON", "/nonexistent").variable("PATH", "");
    ask(&bench, &[], "q", 0);
    ask(&bench, &["--require-sandbox"], "q", 0);
    bench.answers([round().runs("c1", "1")]);
    let both = ["--interpreter", "both"];
    let run = bench.ask_with(both, "q").fails_with(8);
    assert!(run.stderr().contains("/nonexistent"), "{run}");
}

#[test]
fn a_session_that_does_not_say_what_is_kept_can_be_removed() {
    let bench = bench().script([code("One.")]);
    ask(&bench, &[], "q", 0);
    fs::write(bench.session().join("hosted.json"), "{\"a\":").unwrap();
    let run = bench.run(["reset", "--all", "--yes"]).succeeds();
    assert!(
        run.stderr()
            .contains("cannot delete the uploads and containers of this session: cannot read"),
        "{run}"
    );
    assert!(!bench.session().exists());
}

#[test]
fn files_of_an_answer_that_was_cut_are_those_of_its_turn() {
    let cut = round().interprets("x", "").makes_file("a.txt", "a").says("So");
    let bench = bench().script([cut.ends_early_for("max_output_tokens"), code("Two.")]);
    let turn = ask(&bench, &[], "q", 7);
    assert_eq!(turn.end()["files"][0]["name"], "a.txt", "{}", turn.end());
    assert_eq!(ask(&bench, &[], "q", 0).end()["files"], json!([]));
}

#[test]
fn what_another_session_file_names_cannot_write_to_a_terminal() {
    let bench = bench().script([code("One.")]);
    ask(&bench, &[], "q", 0);
    let path = bench.session().join("hosted.json");
    let state = fs::read_to_string(&path).unwrap().replace("file-1", "file-\\u001b[2J1");
    fs::write(&path, state).unwrap();
    let dry = bench.run(["reset", "--dry-run"]).succeeds();
    let run = bench.run(["reset", "--yes"]).succeeds();
    for run in [dry, run] {
        assert!(!run.stderr().contains('\u{1b}') && !run.stdout().contains('\u{1b}'), "{run}");
    }
    assert_eq!(bench.server().containers()[0].life, Life::Deleted);
}
