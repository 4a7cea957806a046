//! What ends a turn from outside: its time, a signal, a reader that went away. The session stays usable.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{Turn, ask, code, goes_on, last_request, shown};
use crate::bench::{Bench, Round, in_time, round, signal, until, wait};

/// Tells by a file that it runs, and does not end.
const RUNS_ON: &str = "open('runs', 'w').close()\nimport time\ntime.sleep(600)";

fn bench() -> Bench {
    Bench::with(["sales.csv"])
}

/// Starts a turn whose events are read from a pipe.
fn start(bench: &Bench) -> Child {
    let arguments = ["ask", "--format", "jsonl", "-f", "sales.csv", "--", "q"];
    bench.command(arguments).spawn().unwrap()
}

/// Waits until the code of [`RUNS_ON`] runs.
#[track_caller]
fn wait_until_it_runs(bench: &Bench) {
    until("the code runs", || has_file(&bench.session().join("scratch"), "runs"));
}

fn has_file(dir: &Path, name: &str) -> bool {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.map(|it| it.path()).any(|it| it.ends_with(name) || it.is_dir() && has_file(&it, name))
}

/// Asks with a limit of time that is over when the turn has come as far as it should. Returns what it ended
/// with, and its bench.
#[track_caller]
fn late(
    first_ms: u64,
    limit: &str,
    rounds: &[Round],
    code_wanted: i32,
    is_far: impl Fn(&Bench, &Turn) -> bool,
) -> (Bench, Turn) {
    in_time(Duration::from_millis(first_ms), |time| {
        let bench = bench().script(rounds.iter().cloned());
        let turn = ask(&bench, [limit, &format!("{}ms", time.as_millis())], "q", code_wanted);
        if is_far(&bench, &turn) {
            return Ok((bench, turn));
        }
        bench.forget();
        Err(format!("{:?}, {}", turn.results(), turn.ending()))
    })
}

#[test]
fn time_runs_out_while_the_model_is_silent() {
    let (bench, turn) =
        late(300, "--timeout", &[round().mute()], 7, |bench, _| bench.n_requests() == 1);
    let none = "timeout: The time limit was reached before there was an answer.";
    assert_eq!(turn.ending(), none);
    goes_on(&bench);
    // What was said until then is the answer.
    let cut = round().says("It is 42").silent_after(4);
    let (bench, _) = late(500, "--timeout", &[cut], 7, |_, turn| turn.ending() == "timeout: It i");
    goes_on(&bench);
    let slow = round().says("Late.").delayed(Duration::from_millis(200));
    bench.answers([slow]);
    assert_eq!(ask(&bench, ["--timeout", "1h"], "q", 0).ending(), "complete: Late.");
}

#[test]
fn time_runs_out_while_python_runs() {
    let rounds =
        [code("c0", "x = 1"), round().says("Set."), code("c1", "x = 2"), code("c2", RUNS_ON)];
    let (bench, turn) = in_time(Duration::from_secs(2), |time| {
        let bench = bench().script(rounds.clone());
        ask(&bench, [], "q", 0);
        let turn = ask(&bench, ["--timeout", &format!("{}s", time.as_secs())], "q", 7);
        if turn.results() == ["c1 ok", "c2 cancelled: cancelled"] {
            return Ok((bench, turn));
        }
        bench.forget();
        Err(format!("{:?}, {}", turn.results(), turn.ending()))
    });
    assert!(turn.ending().starts_with("timeout: "), "{}", turn.ending());
    // The call is closed in the conversation; the variables are those of the last whole turn.
    bench.answers([code("c3", "x"), round().says("Done.")]);
    ask(&bench, [], "q", 0);
    assert_eq!(last_request(&bench).output_of("c2"), "aborted: the call was not run");
    assert_eq!(last_request(&bench).output_of("c3"), "1");
}

#[test]
fn a_call_that_takes_too_long_is_interrupted_and_keeps_its_variables() {
    let rounds =
        [code("c1", "x = 1\nimport time\ntime.sleep(600)"), code("c2", "x"), round().says("Done.")];
    late(500, "--tool-timeout", &rounds, 0, |bench, turn| {
        turn.results() == ["c1 timeout: timeout", "c2 ok"]
            && last_request(bench).output_of("c2") == "1"
    });
}

#[test]
fn a_signal_closes_the_call_that_runs_and_the_turn() {
    for (sent, code_wanted) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let slow = format!("import time; time.sleep(0.05)\n{RUNS_ON}");
        let bench = bench().script([code("c1", "x = 1").runs("c2", &slow).runs("c3", "2")]);
        let child = start(&bench);
        wait_until_it_runs(&bench);
        signal(&child, sent);
        let run = wait(child, "ask".into(), b"").fails_with(code_wanted);
        let turn = Turn::of(&run);
        assert_eq!(turn.end()["code"], "cancelled");
        let cancelled = ["c1 ok", "c2 cancelled: cancelled", "c3 cancelled: cancelled"];
        assert_eq!(turn.results(), cancelled);
        // The one that ran took its time; the one behind it never began.
        let duration = |id: &str| turn.result_of(id)["duration_ms"].as_u64().unwrap();
        assert!(0 < duration("c2") && duration("c3") == 0, "{:?}", turn.events);
        bench.answers([code("c4", "'x' in globals()"), round().says("Done.")]);
        let turn = ask(&bench, [], "q", 0);
        assert_eq!(turn.result_of("c4")["result"]["text"], "False");
        let request = last_request(&bench);
        assert_eq!(shown(&request), ["user: q", "call c4", "output c4: False"]);
    }
}

#[test]
fn a_second_signal_is_not_needed_while_the_model_is_silent() {
    let bench = bench().script([round().says("It is").silent_after(4)]);
    let mut child = start(&bench);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    // The first words have come.
    while !seen.iter().any(|it: &Value| it["type"] == "partial") {
        seen.push(serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap());
    }
    signal(&child, Signal::SIGINT);
    seen.extend(lines.map(|it| serde_json::from_str::<Value>(&it.unwrap()).unwrap()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let end = seen.last().unwrap();
    assert_eq!((&end["code"], &end["partial_text"]), (&"cancelled".into(), &"It".into()));
    goes_on(&bench);
}

#[test]
fn a_reader_that_goes_away_ends_the_turn() {
    let bench = bench().script([code("c1", "1")]);
    let mut child = start(&bench);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(141), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
    let turns = bench.run(["show"]).succeeds();
    assert!(turns.stderr().contains("cancelled"), "{turns}");
    goes_on(&bench);
}
