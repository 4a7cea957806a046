//! Containers and uploads from one turn to the next, and what goes wrong with them.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::{PNG, ask, drawing};
use crate::bench::{Bench, Endpoint, Life, Round, Trouble, round, trouble};

/// A round that runs code and has no more to say.
fn code(text: &str) -> Round {
    round().interprets("print(x)", "1\n").says(text)
}

/// Returns the types of the items that a request holds of earlier turns and this one.
fn kinds(bench: &Bench, request: usize) -> Vec<String> {
    let request = bench.request(request);
    let kinds = request.input().iter().map(|it| it["type"].as_str().unwrap().to_owned());
    kinds.collect()
}

/// Returns how often an endpoint was called, by the beginning of its line.
fn n_calls(bench: &Bench, line: &str) -> usize {
    bench.server().calls().iter().filter(|it| it.line.starts_with(line)).count()
}

#[test]
fn the_next_turn_finds_the_container_and_the_upload() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "First?", 0);
    let turn = ask(&bench, &[], "Second?", 0);
    assert_eq!(turn.one("tool_result")["result"]["container_id"], "cntr_1");
    assert_eq!(bench.server().containers().len(), 1);
    assert_eq!(n_calls(&bench, "POST /v1/files "), 1);
    // The code of the first turn goes back, so that the provider finds its container.
    let kinds = kinds(&bench, 1);
    assert_eq!(kinds.iter().filter(|it| *it == "code_interpreter_call").count(), 1, "{kinds:?}");
}

#[test]
fn a_dataset_that_changed_is_uploaded_again() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "First?", 0);
    fs::write(bench.path("sales.csv"), "date,product,revenue\n2024-01-15,Mate,7.5\n").unwrap();
    bench.run(["ingest", "sales.csv", "--if-exists", "replace"]).succeeds();
    ask(&bench, &[], "Second?", 0);
    let files = bench.server().files();
    assert_eq!(files.len(), 2);
    assert!(str::from_utf8(&files[1].content).unwrap().contains("Mate"));
    let container = bench.server().containers().pop().unwrap();
    assert_eq!(container.file("sales.csv").unwrap().content, files[1].content);
}

#[test]
fn uploads_are_deleted_when_what_was_asked_is_forgotten() {
    let bench = Bench::with(["sales.csv"]).script([code("One.")]);
    ask(&bench, &[], "First?", 0);
    bench.run(["reset", "--yes"]).succeeds();
    assert!(bench.server().files().iter().all(|it| it.is_gone));
}

#[test]
fn an_expired_container_is_told_and_the_next_turn_goes_on() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "First?", 0);
    bench.server().expire_containers();
    let turn = ask(&bench, &[], "Second?", 6);
    let end = turn.end();
    let told = [&end["message"], &end["hint"]].map(|it| it.as_str().unwrap_or_default()).concat();
    assert!(told.contains("cntr_1") && told.contains("--on-expired new"), "{told}");
    let turn = ask(&bench, &[], "Third?", 0);
    assert_eq!(turn.one("tool_result")["result"]["container_id"], "cntr_2");
    assert!(!kinds(&bench, bench.n_requests() - 1).contains(&"code_interpreter_call".to_owned()));
}

#[test]
fn an_expired_container_is_replaced_on_request() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two."), code("Three.")]);
    ask(&bench, &[], "First?", 0);
    bench.server().expire_containers();
    let turn = ask(&bench, &["--on-expired", "new"], "Second?", 0);
    assert_eq!(turn.one("tool_result")["result"]["container_id"], "cntr_2");
    assert_eq!(turn.ending(), "complete: Two.");
    let [old, new] = &bench.server().containers()[..] else { panic!("two containers") };
    assert_eq!((old.life, new.life), (Life::Expired, Life::Running));
    assert!(new.file("sales.csv").is_some());
    assert_eq!(n_calls(&bench, "POST /v1/files "), 1);
    // The new one expires too; dead calls of both stay behind.
    bench.server().expire_containers();
    let turn = ask(&bench, &["--on-expired", "new"], "Third?", 0);
    assert_eq!(turn.one("tool_result")["result"]["container_id"], "cntr_3");
}

#[test]
fn a_container_may_expire_within_a_turn() {
    let last = || {
        let calls = round().thinks("g").interprets("x = 1", "");
        calls.calls("c1", "list_datasets", json!({})).expires_containers()
    };
    let bench = Bench::with(["sales.csv"]).script([last(), code("Done."), last()]);
    let turn = ask(&bench, &["--on-expired", "new"], "First?", 0);
    assert_eq!(turn.results(), ["ci_1 ok", "c1 ok", "ci_2 ok"]);
    assert_eq!(turn.ending(), "complete: Done.");
    let containers = turn.phases("container");
    let ids: Vec<&Value> = containers.iter().map(|it| &it["container_id"]).collect();
    assert_eq!(ids, ["cntr_1", "cntr_2"]);
    bench.server().expire_containers();
    let turn = ask(&bench, &["--fresh"], "Second?", 6);
    assert!(turn.end()["hint"].as_str().unwrap().contains("--on-expired new"));
}

#[test]
fn code_of_an_answer_that_broke_is_not_told() {
    let bench = Bench::with(["sales.csv"]).script([code("Lost.").cut_after(9), code("Kept.")]);
    let turn = ask(&bench, &[], "First?", 0);
    assert_eq!((turn.results(), turn.ending()), (vec!["ci_2 ok".into()], "complete: Kept.".into()));
    // The container of the broken one runs on, and nobody knows of it.
    assert_eq!(turn.one("tool_result")["result"]["container_id"], "cntr_2");
}

#[test]
fn an_upload_that_is_gone_is_made_again() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "First?", 0);
    bench.server().lose_files();
    let turn = ask(&bench, &[], "Second?", 0);
    assert_eq!(turn.ending(), "complete: Two.");
    assert_eq!(bench.server().files().len(), 2);
}

#[test]
fn a_container_of_the_user_is_used_and_left() {
    let bench = Bench::with(["sales.csv"]).script([code("One.")]);
    let id = bench.server().make_container("4g");
    let turn = ask(&bench, &["--container", &id], "First?", 0);
    assert_eq!(turn.one("tool_result")["result"]["container_id"], id);
    let [container] = &bench.server().containers()[..] else { panic!("one container") };
    assert!(container.file("sales.csv").is_some());
    assert_eq!(turn.phases("container")[0]["memory_limit"], "4g");
    bench.run(["reset", "--yes"]).succeeds();
    assert_eq!(bench.server().containers()[0].life, Life::Running);
    let run = bench
        .ask_with(["--interpreter", "hosted", "--container", "cntr_9"], "Second?")
        .fails_with(6);
    assert!(run.stderr().contains("cntr_9"), "{run}");
}

/// Checks that a turn fails for want of an upload.
#[track_caller]
fn check_no_upload(status: u16, code: i32, n_tries: usize) {
    let bench = Bench::with(["sales.csv"]);
    let refused = trouble(Endpoint::Upload).errs(status, "not today");
    bench.server().troubles([refused.header("retry-after-ms", "1").times(n_tries)]);
    let turn = ask(&bench, &["--retries", "2"], "First?", code);
    let message = turn.end()["message"].as_str().unwrap().to_owned();
    assert!(message.contains("not today"), "{message}");
    assert_eq!((bench.n_requests(), n_calls(&bench, "POST /v1/files ")), (0, n_tries));
}

#[test]
fn a_turn_whose_data_cannot_be_uploaded_does_not_begin() {
    check_no_upload(500, 6, 3);
    check_no_upload(413, 6, 1);
    check_no_upload(401, 4, 1);
}

#[test]
fn an_upload_is_tried_again() {
    let bench = Bench::with(["sales.csv"]).script([code("One.")]);
    let late = trouble(Endpoint::Upload).errs(503, "later").header("retry-after-ms", "1");
    bench.server().troubles([late.times(2)]);
    let turn = ask(&bench, &[], "First?", 0);
    assert_eq!(turn.phases("retrying").len(), 2);
    assert_eq!(bench.server().files().len(), 1);
}

/// Checks a turn whose one file comes in spite of this.
#[track_caller]
fn check_file(troubles: impl IntoIterator<Item = Trouble>) {
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    bench.server().troubles(troubles);
    let turn = ask(&bench, &[], "Plot.", 0);
    let path = turn.end()["files"][0]["path"].as_str().unwrap().to_owned();
    assert_eq!(fs::read(bench.session().join(path)).unwrap(), PNG);
}

#[test]
fn a_file_is_fetched_again() {
    let content = || trouble(Endpoint::Content).header("retry-after-ms", "1");
    check_file([content().errs(500, "later").times(2)]);
    check_file([content().cut_after(20)]);
    check_file([content().unmeasured()]);
    check_file([content().unmeasured().cut_after(20)]);
    check_file([trouble(Endpoint::ListFiles).errs(503, "later").header("retry-after-ms", "1")]);
}

/// Checks a turn whose plot cannot be had: the answer comes, with a warning and the other file.
#[track_caller]
fn check_missing(arguments: &[&str], broken: Trouble) {
    let both = drawing().makes_file("notes.txt", "n");
    let bench = Bench::with(["sales.csv"]).script([both]);
    bench.server().troubles([broken.of("plot.png")]);
    let turn = ask(&bench, arguments, "Plot.", 0);
    let files = turn.end()["files"].as_array().unwrap();
    let names: Vec<&Value> = files.iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["notes.txt"]);
    let warnings: Vec<_> = turn.phases("warning");
    let is_named = |it: &&&Value| it["message"].as_str().unwrap().contains("plot.png");
    assert_eq!(warnings.iter().filter(is_named).count(), 1, "{:#?}", turn.events);
    let artifacts = fs::read_dir(bench.session().join("turns/0001/artifacts")).unwrap();
    assert_eq!(artifacts.count(), 1);
}

#[test]
fn a_file_that_cannot_be_had_costs_no_answer() {
    let content = || trouble(Endpoint::Content);
    check_missing(&[], content().errs(404, "gone").always());
    check_missing(&["--retries", "0"], content().errs(500, "down"));
    check_missing(&["--retries", "0"], content().cut_after(20));
    check_missing(&[], content().claims(1 << 40).always());
    check_missing(&["--retries", "0"], content().delayed(Duration::from_millis(10)).cut_after(0));
}

#[test]
fn files_that_nobody_cites_are_fetched_and_what_was_there_is_not_fetched_again() {
    let made = (0..30).fold(code("Made."), |it, n| it.makes_file(&format!("{n:02}.txt"), "x"));
    let bench = Bench::with(["sales.csv"]).script([made, code("Nothing new.")]);
    let turn = ask(&bench, &[], "Make files.", 0);
    let files = turn.end()["files"].as_array().unwrap();
    assert_eq!(files.len(), 30);
    assert!(files.iter().all(|it| it["cited"] == false));
    assert!(!files.iter().any(|it| it["name"] == "sales.csv"));
    let turn = ask(&bench, &[], "And now?", 0);
    assert_eq!(turn.end()["files"], json!([]));
    assert_eq!(bench.server().calls().iter().filter(|it| it.line.contains("/content")).count(), 30);
}
