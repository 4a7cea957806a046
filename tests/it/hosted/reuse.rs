//! What of uploads and containers is used again, what is made anew, and what the model is told of that.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use csv_agent_provider::Api;

use super::ask;
use crate::ask::Turn;
use crate::bench::{Bench, Endpoint, Life, Round, Server, round, trouble, wait};

/// A round that runs code and ends the turn.
fn code(text: &str) -> Round {
    round().interprets("x", "1\n").says(text)
}

/// Returns what was asked of files and containers, such as `POST files`.
fn calls(bench: &Bench) -> Vec<String> {
    let calls = bench.server().calls();
    let short = |line: &str| line.replace("/v1/", "").replace(" HTTP/1.1", "");
    calls.iter().map(|it| short(&it.line).split('?').next().unwrap().to_owned()).collect()
}

/// Returns the uploads that are there, by name.
fn uploads(bench: &Bench) -> Vec<(String, String)> {
    let files = bench.server().files();
    files.into_iter().filter(|it| !it.is_gone).map(|it| (it.id, it.filename)).collect()
}

fn lives(bench: &Bench) -> Vec<Life> {
    bench.server().containers().iter().map(|it| it.life).collect()
}

/// Returns the types of the items of a request, messages by who said them.
fn kinds(bench: &Bench, index: usize) -> Vec<String> {
    let of = |it: &Value| match it["type"].as_str() {
        Some("message") | None => it["role"].as_str().unwrap_or_default().to_owned(),
        Some(other) => other.to_owned(),
    };
    bench.request(index).input().iter().map(of).collect()
}

/// Returns how often a request says that a container is gone.
fn n_told_gone(bench: &Bench, index: usize) -> usize {
    let input = bench.request(index).input().to_vec();
    input.iter().filter(|it| it.to_string().contains("with its variables and the files")).count()
}

fn put_state(bench: &Bench, change: impl Fn(&mut Value)) {
    let path = bench.session().join("hosted.json");
    let mut state: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    state.as_object_mut().unwrap().values_mut().for_each(change);
    fs::write(path, state.to_string()).unwrap();
}

#[test]
fn a_dataset_that_changes_is_uploaded_anew_and_its_old_file_goes() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "q", 0);
    fs::write(bench.path("sales.csv"), "a\n1\n").unwrap();
    bench.run(["ingest", "sales.csv", "--if-exists", "replace"]).succeeds();
    let run = bench.run(["ask", "--interpreter", "hosted", "--format", "jsonl", "q"]).succeeds();
    let turn = Turn::of(&run);
    assert_eq!(turn.phases("warning")[0]["code"], "container_replaced");
    assert_eq!(uploads(&bench), [("file-2".to_owned(), "sales.csv".to_owned())]);
    assert_eq!(lives(&bench), [Life::Deleted, Life::Running]);
    assert_eq!(n_told_gone(&bench, 1), 1);
    assert!(!kinds(&bench, 1).contains(&"code_interpreter_call".to_owned()));
}

#[test]
fn a_named_container_has_what_a_dataset_is_now_and_not_what_it_was() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    let other = bench.server().make_container("1g");
    ask(&bench, &["--container", &other], "q", 0);
    fs::write(bench.path("sales.csv"), "a\n1\n").unwrap();
    bench.run(["ingest", "sales.csv", "--if-exists", "replace"]).succeeds();
    let args = ["ask", "--interpreter", "hosted", "--container", &other, "q"];
    bench.run(args).succeeds();
    let container = bench.server().containers().pop().unwrap();
    let files: Vec<_> =
        container.files.iter().map(|it| (it.path.as_str(), it.is_deleted)).collect();
    assert_eq!(files, [("/mnt/data/sales.csv", true), ("/mnt/data/sales.csv", false)]);
    assert_eq!(container.files[1].content, b"a\n1\n");
}

#[test]
fn an_upload_near_its_end_is_made_anew_and_the_container_stays() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "q", 0);
    let soon = jiff::Timestamp::now().as_second() + 600;
    put_state(&bench, |it| it["uploads"][0]["expires"] = soon.into());
    let turn = ask(&bench, &[], "q", 0);
    assert_eq!(turn.phases("warning"), Vec::<&Value>::new());
    assert_eq!(uploads(&bench), [("file-2".to_owned(), "sales.csv".to_owned())]);
    assert_eq!(lives(&bench), [Life::Running]);
}

#[test]
fn files_that_the_provider_lost_are_uploaded_again_once() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two."), code("Three.")]);
    ask(&bench, &[], "q", 0);
    bench.server().lose_files();
    let turn = ask(&bench, &[], "q", 0);
    assert_eq!(turn.ending(), "complete: Two.");
    assert_eq!(turn.phases("warning")[0]["code"], "files_expired");
    assert_eq!(uploads(&bench), [("file-2".to_owned(), "sales.csv".to_owned())]);
    let turn = ask(&bench, &[], "q", 0);
    assert_eq!(turn.phases("warning"), Vec::<&Value>::new());
    assert_eq!(lives(&bench), [Life::Running]);
}

#[test]
fn a_lost_file_that_a_named_container_lacks_is_uploaded_again() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "q", 0);
    bench.server().lose_files();
    put_state(&bench, |it| it["container"]["is_ours"] = false.into());
    put_state(&bench, |it| {
        it["container"].as_object_mut().unwrap().retain(|name, _| name == "container_id");
    });
    let turn = ask(&bench, &["--container", "cntr_1"], "q", 0);
    assert_eq!(turn.ending(), "complete: Two.");
    assert_eq!(uploads(&bench).len(), 1);
}

#[test]
fn an_expired_container_ends_the_turn_and_the_next_goes_on_in_a_new_one() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "q", 0);
    bench.server().expire_containers();
    let turn = ask(&bench, &[], "q", 6);
    assert!(turn.end()["hint"].as_str().unwrap().contains("--on-expired new"), "{}", turn.end());
    assert_eq!(bench.n_requests(), 1);
    let turn = ask(&bench, &[], "q", 0);
    assert_eq!(turn.ending(), "complete: Two.");
    assert_eq!(lives(&bench), [Life::Expired, Life::Running]);
    assert_eq!(n_told_gone(&bench, 1), 1, "{:?}", bench.request(1).input());
}

#[test]
fn a_new_container_takes_the_place_of_an_expired_one_before_a_turn() {
    let rounds = [code("One."), code("Two."), code("Three.")];
    let bench = Bench::with(["sales.csv"]).script(rounds);
    ask(&bench, &[], "q", 0);
    bench.server().expire_containers();
    let turn = ask(&bench, &["--on-expired", "new"], "q", 0);
    assert_eq!(turn.phases("warning")[0]["code"], "container_expired");
    assert_eq!(lives(&bench), [Life::Expired, Life::Running]);
    assert_eq!(kinds(&bench, 1), ["user", "assistant", "user", "user"]);
    ask(&bench, &[], "q", 0);
    assert_eq!(n_told_gone(&bench, 2), 1);
    assert_eq!(lives(&bench), [Life::Expired, Life::Running]);
}

/// Returns a bench whose container is refused as expired in the second round of a turn.
fn refused_midway() -> Bench {
    let first = round().thinks("g").interprets("x", "1").calls("c1", "list_datasets", json!({}));
    let words = "Expected container_id: cntr_1 to be active";
    let refused = round().errs(400, "invalid_request_error", "", words);
    Bench::with(["sales.csv"]).script([first, refused])
}

#[test]
fn a_container_that_expires_between_rounds_is_replaced_where_the_user_wants_that() {
    let bench = refused_midway();
    bench.answers([code("Done.")]);
    let turn = ask(&bench, &["--on-expired", "new"], "q", 0);
    assert_eq!(turn.ending(), "complete: Done.");
    let told = turn.phases("warning")[0]["message"].as_str().unwrap().to_owned();
    assert!(told.contains("`cntr_1` has expired"), "{told}");
    let sent = ["user", "function_call", "function_call_output", "user"];
    assert_eq!(kinds(&bench, 2), sent);
    assert_eq!(turn.phases("container").len(), 2);
}

#[test]
fn a_container_that_expires_between_rounds_ends_the_turn_otherwise() {
    let bench = refused_midway();
    let turn = ask(&bench, &[], "q", 6);
    assert!(
        turn.ending().contains("the provider no longer has the container"),
        "{}",
        turn.ending()
    );
    bench.answers([code("Done.")]);
    assert_eq!(ask(&bench, &[], "q", 0).ending(), "complete: Done.");
}

#[test]
fn a_container_that_expires_while_files_are_fetched_costs_only_these() {
    let bench = Bench::with(["sales.csv"])
        .script([round().interprets("x", "").makes_file("a.txt", "a").says("One."), code("Two.")]);
    let gone = "Container is expired.";
    bench.server().troubles([trouble(Endpoint::Content).of("a.txt").errs(400, gone)]);
    let turn = ask(&bench, &[], "q", 0);
    assert_eq!(turn.phases("warning")[0]["code"], "file_not_fetched");
    assert_eq!(turn.end()["files"], json!([]));
    bench.server().expire_containers();
    assert_eq!(ask(&bench, &["--on-expired", "new"], "q", 0).ending(), "complete: Two.");
}

#[test]
fn a_container_that_nobody_knows_is_told_of() {
    let bench = Bench::with(["sales.csv"]);
    let turn = ask(&bench, &["--container", "cntr_nobody"], "q", 6);
    assert!(turn.ending().contains("cntr_nobody"), "{}", turn.ending());
    assert_eq!(bench.n_requests(), 0);
    bench.answers([code("One.")]);
    let turn = ask(&bench, &["--container", "cntr_nobody", "--on-expired", "new"], "q", 0);
    assert_eq!(turn.ending(), "complete: One.");
}

#[test]
fn a_named_container_takes_the_place_of_that_of_the_conversation() {
    let bench = Bench::with(["sales.csv"]).script([
        code("One."),
        code("Two."),
        code("Three."),
        code("Four."),
    ]);
    ask(&bench, &[], "q", 0);
    let other = bench.server().make_container("4g");
    let named = ["--container", other.as_str()];
    ask(&bench, &named, "q", 0);
    assert_eq!(bench.request(1).body["tools"][5]["container"], json!(other));
    assert!(!kinds(&bench, 1).contains(&"code_interpreter_call".to_owned()));
    assert_eq!(n_told_gone(&bench, 1), 1);
    let turn = ask(&bench, &named, "q", 0);
    assert_eq!(n_told_gone(&bench, 2), 1);
    assert_eq!(turn.phases("container")[0]["memory_limit"], "4g");
    let turn = ask(&bench, &[], "q", 0);
    assert_eq!(turn.phases("warning")[0]["code"], "container_replaced");
    assert_eq!(lives(&bench), [Life::Deleted, Life::Running, Life::Running]);
    bench.run(["reset", "--yes"]).succeeds();
    assert_eq!(lives(&bench)[1], Life::Running, "the user manages it");
    assert_eq!(uploads(&bench), []);
}

#[test]
fn what_was_in_a_named_container_before_is_no_file_of_the_turn() {
    let bench = Bench::with(["sales.csv"]);
    let other = bench.server().make_container("1g");
    bench.server().put_file(&other, "before.txt", b"old");
    let made = round().interprets("x", "").makes_file("after.txt", "new").says("One.");
    bench.answers([made]);
    let turn = ask(&bench, &["--container", &other], "q", 0);
    let names = turn.end()["files"].as_array().unwrap().clone();
    assert_eq!(names.iter().map(|it| it["name"].clone()).collect::<Vec<_>>(), ["after.txt"]);
}

#[test]
fn other_memory_means_another_container() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two."), code("Three.")]);
    ask(&bench, &[], "q", 0);
    ask(&bench, &["--container-memory", "4g"], "q", 0);
    // Who asks for no memory takes what is there.
    ask(&bench, &[], "q", 0);
    let memory: Vec<_> =
        bench.server().containers().into_iter().map(|it| it.memory_limit).collect();
    assert_eq!(memory, ["1g", "4g"]);
    assert_eq!(lives(&bench), [Life::Deleted, Life::Running]);
}

#[test]
fn a_fresh_question_begins_in_a_fresh_container() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    ask(&bench, &[], "q", 0);
    ask(&bench, &["--fresh"], "q", 0);
    assert_eq!(kinds(&bench, 1), ["user"]);
    assert_eq!(bench.server().containers().len(), 2);
    assert_eq!(uploads(&bench).len(), 1);
}

#[test]
fn a_container_has_the_datasets_that_questions_were_about() {
    let bench = Bench::with(["sales.csv", "semi.csv"]);
    let bench = bench.script([code("One."), code("Two."), code("Three.")]);
    bench.run(["ingest", "sales.csv", "semi.csv"]).succeeds();
    let about = |names: &[&str]| {
        let flags = ["ask", "--interpreter", "hosted", "q"];
        bench.run(flags.iter().chain(names)).succeeds();
    };
    about(&["-d", "sales"]);
    assert_eq!(uploads(&bench).len(), 1);
    about(&[]);
    assert_eq!(uploads(&bench).len(), 2);
    about(&["-d", "semi"]);
    assert_eq!(lives(&bench), [Life::Running]);
    let container = bench.server().containers().remove(0);
    let names: Vec<_> = container.there().map(|it| it.path.clone()).collect();
    assert_eq!(names, ["/mnt/data/sales.csv", "/mnt/data/semi.csv"]);
}

#[test]
fn more_datasets_than_a_container_takes_are_refused_before_any_is_uploaded() {
    let bench = Bench::with(["sales.csv"]);
    let names: Vec<String> = (0..50).map(|it| format!("d{it}.csv")).collect();
    for name in &names {
        fs::write(bench.path(name), "a\n1\n").unwrap();
    }
    bench.run(["ingest"].into_iter().chain(names.iter().map(String::as_str))).succeeds();
    let turn = ask(&bench, &["-d", "d*"], "q", 7);
    assert!(turn.ending().contains("51 datasets"), "{}", turn.ending());
    assert_eq!((calls(&bench).len(), bench.n_requests()), (0, 0));
}

/// Returns the text of what a request says, as JSON.
fn said(bench: &Bench, index: usize) -> String {
    bench.request(index).body["input"].to_string()
}

#[test]
fn a_summary_is_made_of_what_code_printed_and_the_container_is_found_after_it() {
    let bench = Bench::with(["sales.csv"]);
    for number in 0..10 {
        let answer = round().interprets(&format!("code_{number}"), &format!("printed_{number}"));
        bench.answers([answer.says("So.").uses(60_000, 10)]);
        ask(&bench, &["--compact-at", "100000"], "q", 0);
    }
    let summary = round().says("The sum is 42.").uses(900, 90);
    bench.answers([summary, code("Done.")]);
    let turn = ask(&bench, &["--compact-at", "50000"], "q", 0);
    assert_eq!(turn.phases("compacted").len(), 1);
    assert!(said(&bench, 10).contains("code_0") && said(&bench, 10).contains("printed_0"));
    assert_eq!(bench.server().containers().len(), 1);
    assert_eq!(n_told_gone(&bench, 11), 0);
}

#[test]
fn a_container_whose_runs_are_all_summarised_is_named() {
    let bench = Bench::with(["sales.csv"]);
    bench.answers([code("One.")]);
    ask(&bench, &[], "q", 0);
    for _ in 0..10 {
        bench.answers([round().says("So.").uses(60_000, 10)]);
        ask(&bench, &["--compact-at", "100000"], "q", 0);
    }
    bench.answers([round().says("The sum is 42."), code("Done.")]);
    ask(&bench, &["--compact-at", "50000"], "q", 0);
    let tools = bench.request(12).body["tools"].clone();
    let container = tools.as_array().unwrap().iter().find(|it| it["type"] == "code_interpreter");
    assert_eq!(container.unwrap()["container"], "cntr_1");
    assert_eq!(bench.server().containers().len(), 1);
}

#[test]
fn a_response_and_a_container_may_be_gone_together() {
    let gone = "Previous response with id 'resp_a' not found.";
    let expired = "Expected container_id: cntr_1 to be active";
    let bench = Bench::with(["sales.csv"]).script([
        round()
            .interprets("x", "1")
            .calls("c1", "list_datasets", json!({}))
            .kept_as("resp_a", None),
        round().errs(400, "invalid_request_error", "previous_response_not_found", gone),
        round().errs(400, "invalid_request_error", "", expired),
        code("Done.").kept_as("resp_b", None),
    ]);
    let turn = ask(&bench, &["--chain", "--on-expired", "new"], "q", 0);
    assert_eq!(turn.ending(), "complete: Done.");
    assert_eq!(kinds(&bench, 3), ["user", "function_call", "function_call_output", "user"]);
    assert_eq!(bench.request(3).body.get("previous_response_id"), None);
}

#[test]
fn a_chained_container_that_expired_is_replaced() {
    let expired = "Expected container_id: cntr_1 to be active";
    let bench = Bench::with(["sales.csv"]).script([
        round()
            .interprets("x", "1")
            .calls("c1", "list_datasets", json!({}))
            .kept_as("resp_a", None),
        round().errs(400, "invalid_request_error", "", expired),
        code("Done.").kept_as("resp_b", None),
    ]);
    let turn = ask(&bench, &["--chain", "--on-expired", "new"], "q", 0);
    assert_eq!(turn.ending(), "complete: Done.");
    // The server would find the dead container in what it keeps.
    assert_eq!(bench.request(2).body.get("previous_response_id"), None);
}

const CHAT: [&str; 5] = ["chat", "-f", "sales.csv", "--interpreter", "hosted"];

#[test]
fn a_chat_that_forgets_its_questions_has_what_was_kept_for_them_deleted() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    let chat = bench.on_terminal(CHAT, 120);
    chat.is_ready().press("First?\r").shows("One.").is_ready();
    chat.press("/reset\r").shows("[y/N]").press("y\r").shows("removed").is_ready();
    assert_eq!((uploads(&bench).len(), lives(&bench)), (0, vec![Life::Deleted]));
    chat.press("Second?\r").shows("Two.").is_ready().press("\x04").ends_with(0);
    assert_eq!((uploads(&bench).len(), kinds(&bench, 1).len()), (1, 1));
}

#[test]
fn a_chat_with_another_model_goes_on_in_the_container() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    let chat = bench.on_terminal(CHAT, 120);
    chat.is_ready().press("First?\r").shows("One.").is_ready();
    chat.press("/model builtin\r").shows("code_interpreter").is_ready();
    chat.press("/model other\r").shows("other answers").is_ready();
    chat.press("Second?\r").shows("Two.").is_ready().press("\x04").ends_with(0);
    assert_eq!(lives(&bench), [Life::Running]);
    assert!(kinds(&bench, 1).contains(&"code_interpreter_call".to_owned()));
}

#[test]
fn an_answer_that_is_taken_back_keeps_the_container() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    let chat = bench.on_terminal(CHAT, 120);
    chat.is_ready().press("First?\r").shows("One.").is_ready();
    chat.press("/undo\r").shows("is undone").is_ready();
    chat.press("Second?\r").shows("Two.").is_ready().press("\x04").ends_with(0);
    assert_eq!(lives(&bench), [Life::Running]);
    assert_eq!(kinds(&bench, 1), ["user"]);
    // Another process finds it, too.
    bench.answers([code("Three.")]);
    ask(&bench, &[], "q", 0);
    assert_eq!(lives(&bench), [Life::Running]);
}

#[test]
fn only_one_process_at_a_time_changes_what_is_kept() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), code("Two.")]);
    let slow = Duration::from_millis(300);
    bench.server().troubles([trouble(Endpoint::Upload).delayed(slow)]);
    let arguments = ["ask", "-f", "sales.csv", "--interpreter", "hosted", "--lock-wait", "1h", "q"];
    let first = bench.command(arguments).spawn().unwrap();
    let second = bench.run(arguments).succeeds();
    let first = wait(first, "the first".to_owned(), b"").succeeds();
    let mut said = [first.stdout(), second.stdout()];
    said.sort_unstable();
    assert_eq!(said, ["One.\n", "Two.\n"]);
    assert_eq!((uploads(&bench).len(), lives(&bench)), (1, vec![Life::Running]));
}

#[test]
fn a_question_that_runs_its_code_elsewhere_tells_of_no_run_and_loses_none() {
    let bench = Bench::with(["sales.csv"]).script([code("One."), round().says("Two.")]);
    ask(&bench, &[], "q", 0);
    ask(&bench, &["--interpreter", "local"], "q", 0);
    assert_eq!(kinds(&bench, 1), ["user", "assistant", "user"]);
    bench.run(["ask", "--model", "builtin", "How many rows?"]).succeeds();
    bench.answers([code("Three.")]);
    ask(&bench, &[], "q", 0);
    assert!(kinds(&bench, 2).contains(&"code_interpreter_call".to_owned()));
    assert_eq!((n_told_gone(&bench, 2), lives(&bench)), (0, vec![Life::Running]));
    bench.server().speak(Api::Chat);
    bench.answers([round().says("Four.")]);
    let run = bench.ask_with(["--api", "chat"], "q").succeeds();
    assert_eq!(run.stdout(), "Four.\n");
}

#[test]
fn another_server_has_uploads_and_a_container_of_its_own() {
    let bench = Bench::with(["sales.csv"]).script([code("One.")]);
    ask(&bench, &[], "q", 0);
    let other = Server::start([code("Two."), code("Three.")]);
    let url = other.base_url();
    let run = bench.ask_with(["--interpreter", "hosted", "--base-url", &url], "q").succeeds();
    assert_eq!(run.stdout(), "Two.\n");
    assert_eq!(other.files().len(), 1);
    let input = other.requests()[0].body["input"].to_string();
    assert!(input.contains("with its variables and the files"), "{input}");
    assert!(!input.contains("cntr_"), "{input}");
    ask(&bench, &["--base-url", &url], "q", 0);
    assert_eq!((other.files().len(), other.containers().len()), (1, 1));
    // Each is asked to delete its own, with the key when it is the server of the settings.
    let run = bench.run(["reset", "--yes"]).succeeds();
    assert!(run.stderr().contains(&format!("could not be deleted at {url}")), "{run}");
    assert_eq!(uploads(&bench), []);
    let bench = bench.variable("OPENAI_BASE_URL", &url);
    let run = bench.run(["reset", "--yes"]).succeeds();
    assert!(!run.stderr().contains("could not be"), "{run}");
    assert!(other.files().iter().all(|it| it.is_gone));
}

#[test]
fn the_second_server_that_forgets_a_container_is_the_end() {
    // One that never knows any container would be asked for ever.
    let refused = || round().errs(400, "invalid_request_error", "", "Container is expired.");
    let bench = Bench::with(["sales.csv"]).script([refused(), refused()]);
    let turn = ask(&bench, &["--on-expired", "new"], "q", 6);
    assert!(turn.ending().contains("Container is expired."), "{}", turn.ending());
}

#[test]
fn files_that_are_lost_for_ever_are_uploaded_again_once() {
    let refused = || {
        let words = "No such File object: file-1";
        round().errs(400, "invalid_request_error", "file_not_found", words)
    };
    let bench = Bench::with(["sales.csv"]).script([refused(), refused()]);
    let turn = ask(&bench, &[], "q", 6);
    assert!(turn.ending().contains("No such File object"), "{}", turn.ending());
    assert_eq!(bench.server().files().len(), 2);
    assert_eq!(uploads(&bench).len(), 1, "the first was deleted");
}
