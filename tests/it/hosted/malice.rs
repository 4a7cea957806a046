//! A server that is broken, or means harm, with code that it says it ran: turns end, soon and whole.

use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{PNG, ask, drawing};
use crate::ask::Turn;
use crate::bench::{Bench, Endpoint, Round, round, trouble};

/// A run of code, as an item.
fn run(id: &str, outputs: &Value) -> Value {
    json!({"type": "code_interpreter_call", "id": id, "status": "completed",
        "container_id": "cntr_1", "code": "x", "outputs": outputs})
}

/// A response in one piece, which nothing checks.
fn answer(items: &[Value]) -> Round {
    let body = json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m",
        "output": items});
    round().answers(200, &body.to_string())
}

/// A page of files of a container.
fn page(files: &[Value], has_more: bool) -> String {
    json!({"object": "list", "data": files, "has_more": has_more}).to_string()
}

/// Returns how often the server was asked for this.
fn n_calls(bench: &Bench, words: &str) -> usize {
    bench.server().calls().iter().filter(|it| it.line.contains(words)).count()
}

/// Returns the warnings of a turn with this code.
fn warnings<'a>(turn: &'a Turn, code: &str) -> Vec<&'a str> {
    let warnings = turn.phases("warning").into_iter().filter(|it| it["code"] == code);
    warnings.map(|it| it["message"].as_str().unwrap()).collect()
}

#[test]
fn of_more_runs_than_were_asked_for_the_others_are_counted() {
    let logs = json!([{"type": "logs", "logs": "1"}]);
    let runs = (0..3_000).fold(round(), |it, _| it.item(run("ci_1", &logs)));
    let bench = Bench::with(["sales.csv"]).script([runs.says("So.")]);
    let turn = ask(&bench, &[], "Run it.", 0);
    assert_eq!((turn.all("tool_result").len(), turn.ending()), (64, "complete: So.".into()));
    let told = "the provider ran more tools within one response than the 64 that were allowed; 2936 are \
                not reported";
    assert_eq!(warnings(&turn, "runs_not_told"), [told]);
}

#[test]
fn no_two_calls_of_a_turn_have_one_id() {
    let logs = json!([{"type": "logs", "logs": "1"}]);
    let list = |it: Round, id: &str| it.calls(id, "list_datasets", json!({}));
    let bench = Bench::with(["sales.csv"]).script([
        list(round().item(run("ci_1", &logs)), "ci_1"),
        list(round().item(run("ci_1", &logs)).item(run("ci_2", &logs)), "c1"),
        round().says("So."),
    ]);
    let turn = ask(&bench, &[], "Run it.", 0);
    assert_eq!(turn.results(), ["ci_1_2 ok", "ci_1 ok", "ci_1_3 ok", "ci_2 ok", "c1 ok"]);
}

#[test]
fn what_is_no_id_is_not_told_as_one() {
    let id = format!("ci_\u{1b}]0;{}", "x".repeat(100_000));
    let item = json!({"type": format!("{id}_call"), "id": id, "status": "completed"});
    let bench = Bench::with(["sales.csv"])
        .script([round().item(run(&id, &json!(null))).item(item).says("So.")]);
    let turn = ask(&bench, &[], "Run it.", 0);
    assert_eq!(turn.results(), ["code_interpreter ok", "unknown ok"]);
}

#[test]
fn pictures_are_files_and_never_fetched_from_elsewhere() {
    let picture = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(PNG));
    let image = |url: &str| json!({"type": "image", "url": url});
    let bench = Bench::with(["sales.csv"]);
    let elsewhere = [bench.server().base_url(), "/containers/cntr_1/files".to_owned()].concat();
    let mut outputs = vec![
        image("data:image/svg+xml;base64,PHN2Zy8+"),
        image("data:text/html,<script>"),
        image("file:///etc/passwd"),
        image(&elsewhere),
        json!({"type": "image", "url": {"detail": "high"}}),
    ];
    outputs.extend(std::iter::repeat_n(image(&picture), 1_000));
    bench.answers([round().item(run("ci_1", &json!(outputs))).says("So.")]);
    let listing = trouble(Endpoint::ListFiles).answers(200, page(&[], false));
    bench.server().troubles([listing]);
    let turn = ask(&bench, &[], "Plot.", 0);
    let files = turn.end()["files"].as_array().unwrap();
    assert_eq!((files.len(), n_calls(&bench, "GET ")), (100, 1));
    assert_eq!(files[99]["path"], "turns/0001/artifacts/image_100.png");
    let told =
        "left out 904 pictures that code drew: too large, too many, or of a kind that is not kept";
    assert_eq!(warnings(&turn, "file_not_fetched"), [told]);
}

/// Checks a turn over a server that always answers the list of files so.
#[track_caller]
fn check_listing(page: String, n_lists: usize, n_files: usize) {
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    let [listing, content] = [Endpoint::ListFiles, Endpoint::Content].map(trouble);
    bench.server().troubles([listing.answers(200, page).always()]);
    bench.server().troubles([content.answers(200, "x").always()]);
    let turn = ask(&bench, &[], "Plot.", 0);
    assert_eq!(n_calls(&bench, "/files?"), n_lists);
    assert_eq!(turn.end()["files"].as_array().unwrap().len(), n_files, "{:#?}", turn.end());
}

#[test]
fn a_list_of_files_ends_whatever_it_says() {
    let file =
        |id: &str| json!({"id": id, "path": "/mnt/data/a.txt", "bytes": 1, "source": "assistant"});
    // The plot is cited and therefore fetched, listed or not.
    check_listing(page(&[file("cfile_8"), file("cfile_8")], true), 2, 2);
    check_listing(page(&[], true), 1, 1);
    let many: Vec<Value> = (0..1_500).map(|it| file(&format!("cfile_{it}0"))).collect();
    check_listing(page(&many, false), 1, 100);
    let odd = [
        json!(null),
        json!([]),
        json!({"id": null, "path": "/mnt/data/a.txt"}),
        json!({"id": "../cfile_1", "path": "/mnt/data/a.txt"}),
        json!({"id": "cfile_7", "path": null}),
        json!({"id": "cfile_6", "path": "/mnt/data/b.txt", "bytes": "many", "source": 7}),
    ];
    check_listing(page(&odd, false), 1, 2);
    check_listing("[1, 2]".to_owned(), 1, 1);
    check_listing("<html>".to_owned(), 1, 1);
}

#[test]
fn files_that_cannot_be_had_are_not_asked_for_without_end() {
    let made = (0..50).fold(drawing(), |it, n| it.makes_file(&format!("{n}.txt"), "x"));
    let bench = Bench::with(["sales.csv"]).script([made]);
    bench.server().troubles([trouble(Endpoint::Content).errs(404, "gone").always()]);
    let turn = ask(&bench, &[], "Plot.", 0);
    assert_eq!((n_calls(&bench, "/content"), turn.end()["files"].clone()), (5, json!([])));
    let told =
        "files that code made, left in the container: 46 (none of the last ones could be fetched)";
    assert_eq!(warnings(&turn, "files_left"), [told]);
}

#[test]
fn a_download_goes_nowhere_else() {
    let elsewhere = Bench::with(["sales.csv"]);
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    let to = [elsewhere.server().base_url(), "/files/file-1".to_owned()].concat();
    let moved = trouble(Endpoint::Content).answers(302, "").header("location", &to);
    bench.server().troubles([moved]);
    let turn = ask(&bench, &[], "Plot.", 0);
    assert_eq!((n_calls(&elsewhere, ""), elsewhere.n_requests()), (0, 0));
    let [told] = warnings(&turn, "file_not_fetched")[..] else { panic!("{:#?}", turn.events) };
    assert!(told.contains("a redirect to") && told.contains("not followed"), "{told}");
}

#[test]
fn a_file_that_is_cited_is_no_path() {
    let cited = |container_id: Value, file_id: Value, filename: Value| {
        json!({"type": "container_file_citation", "container_id": container_id, "file_id": file_id,
            "filename": filename, "start_index": 0, "end_index": 0})
    };
    let annotations = json!([
        cited("cntr_1".into(), "../../files/file-1".into(), "x".repeat(100_000).into()),
        cited("../../files".into(), "cfile_1".into(), "b".into()),
        cited(7.into(), Value::Null, json!([])),
        "odd",
    ]);
    let text = "[a](sandbox:/mnt/data/../../etc/passwd) [b](sandbox:/mnt/data/a%2f..%2fb.png)";
    let content = json!([{"type": "output_text", "text": text, "annotations": annotations}]);
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant",
        "status": "completed", "content": content});
    let answer = answer(&[run("ci_1", &json!([])), message]);
    let bench = Bench::with(["sales.csv"]).script([answer]);
    let listing = trouble(Endpoint::ListFiles).answers(200, page(&[], false));
    bench.server().troubles([listing]);
    let turn = ask(&bench, &["--no-stream"], "Plot.", 0);
    assert_eq!((n_calls(&bench, "/content"), n_calls(&bench, "/files?")), (0, 1));
    assert_eq!(turn.ending(), format!("complete: {text}"));
    let told = warnings(&turn, "file_not_fetched");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(turn.phases("loading").iter().all(|it| it.to_string().len() < 1_000));
    assert!(told.iter().all(|it| it.len() < 1_000), "{told:?}");
}

#[test]
fn what_was_in_a_container_before_is_no_file_of_the_turn() {
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    let id = bench.server().make_container("1g");
    bench.server().put_file(&id, "diary.txt", b"Monday");
    let turn = ask(&bench, &["--container", &id], "Plot.", 0);
    let files = turn.end()["files"].as_array().unwrap();
    assert_eq!(files.iter().map(|it| &it["name"]).collect::<Vec<_>>(), ["plot.png"]);
}

#[test]
fn code_that_was_forced_and_did_not_run_is_told() {
    let content = json!([{"type": "output_text", "text": "42.", "annotations": []}]);
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant",
        "status": "completed", "content": content});
    let bench = Bench::with(["sales.csv"]).script([answer(&[message]), drawing()]);
    let told = |turn: &Turn| warnings(turn, "tool_not_used").len();
    let forced = ["--tool-choice", "code_interpreter", "--no-stream"];
    assert_eq!(told(&ask(&bench, &forced, "Plot.", 0)), 1);
    assert_eq!(told(&ask(&bench, &forced, "Plot.", 0)), 0);
}

#[test]
fn a_table_has_a_name_of_ours_whatever_it_is_called() {
    let name = "d".repeat(300);
    let saved = round().interprets("save", "").makes_file(&format!("{name}.csv"), "a\n1\n");
    let send = json!({"df_name": name, "logical_name": name});
    let bench = Bench::with(["sales.csv"])
        .script([saved.calls("c1", "send_data_to_ui_as_df", send), round().says("Sent.")]);
    let turn = ask(&bench, &[], "Show it.", 0);
    assert_eq!(turn.one("data_frame")["row_count"], 1);
    assert_eq!(turn.end()["files"], json!([]));
}

#[test]
fn a_file_that_is_no_table_is_told_to_the_model() {
    let saved = round().interprets("save", "").makes_file("df.csv", PNG);
    let send = json!({"df_name": "df", "logical_name": "t"});
    let bench = Bench::with(["sales.csv"])
        .script([saved.calls("c1", "send_data_to_ui_as_df", send), round().says("It failed.")]);
    let turn = ask(&bench, &[], "Show it.", 0);
    assert_eq!(turn.results(), ["ci_1 ok", "c1 error: failed"]);
    let told = "`/mnt/data/df.csv` is not a valid table: cannot read `/mnt/data/df.csv` as CSV: it is a \
                PNG image; save \
                a DataFrame with `df.to_csv(\"/mnt/data/df.csv\", index=False)`";
    assert_eq!(turn.result_of("c1")["result"]["text"], told);
}

#[test]
fn a_session_cannot_say_which_server_deletes_something() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    let elsewhere = Bench::with(["sales.csv"]);
    let server = elsewhere.server().base_url();
    let container = json!({"container_id": "cntr_1", "is_ours": true});
    let upload = json!({"file_id": "file-1", "dataset": "sales", "version": "1", "bytes": 1,
        "expires": 99_999_999_999_u64});
    let kept = json!({&server: {"uploads": [upload], "container": container}}).to_string();
    fs::write(bench.session().join("hosted.json"), &kept).unwrap();
    let run = bench.run(["reset", "--yes"]).succeeds();
    assert_eq!((n_calls(&elsewhere, ""), n_calls(&bench, "")), (0, 0));
    assert!(run.stderr().contains("it is not the server in your settings"), "{run}");
}

#[test]
fn a_project_cannot_have_data_uploaded() {
    for line in ["interpreter = \"hosted\"", "container_memory = \"64g\""] {
        let bench = Bench::with(["sales.csv"]);
        fs::write(bench.path("csv-agent.toml"), line).unwrap();
        let key = line.split(' ').next().unwrap();
        bench.answers([round().says("So.")]);
        let run = bench.ask("How many?").succeeds();
        assert!(run.stderr().contains(&format!("`{key}` is ignored:")), "{run}");
        assert_eq!(n_calls(&bench, ""), 0);
    }
}

#[test]
fn what_code_gave_goes_back_in_short() {
    let picture =
        |n| json!({"type": "image", "url": format!("data:image/png;base64,{}", "A".repeat(n))});
    let outputs = json!([
        {"type": "logs", "logs": "x".repeat(5_000_000)},
        picture(4_000_000),
        picture(4_000),
        {"type": "image", "url": null},
    ]);
    let bench = Bench::with(["sales.csv"])
        .script([round().interprets_with("x", outputs).says("One."), round().says("Two.")]);
    ask(&bench, &[], "First?", 0);
    ask(&bench, &[], "Second?", 0);
    let request = bench.request(1);
    let back = request.input().iter().find(|it| it["type"] == "code_interpreter_call").unwrap();
    let outputs = back["outputs"].as_array().unwrap();
    let kinds: Vec<_> = outputs.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["logs", "image"]);
    assert!(outputs[0]["logs"].as_str().unwrap().contains("of 5000000 bytes left out"));
    assert_eq!(outputs[1], picture(4_000));
    assert!(fs::metadata(bench.session().join("history.jsonl")).unwrap().len() < 100_000);
}

#[test]
fn a_session_that_names_no_files_of_a_provider_is_used_and_reset_all_the_same() {
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    let container =
        json!({"container_id": "../files/file-1", "is_ours": true, "memory_limit": "1g"});
    let upload = json!({"file_id": "../x\u{1b}[31m", "dataset": "s", "version": "1", "bytes": 1,
        "expires": i64::MAX});
    let kept = json!({bench.server().base_url(): {"uploads": [upload], "container": container}});
    let path = bench.session().join("hosted.json");
    fs::write(&path, kept.to_string()).unwrap();
    bench.run(["reset", "--yes"]).succeeds();
    assert!(!path.exists());
    fs::write(&path, kept.to_string()).unwrap();
    assert_eq!(ask(&bench, &[], "Plot.", 0).end()["files"][0]["name"], "plot.png");
    assert!(bench.server().calls().iter().all(|it| !it.line.contains("..")));
    for scope in [&["--yes"][..], &["--all", "--yes"]] {
        fs::write(&path, "[1").unwrap();
        let run = bench.run([&["reset"], scope].concat()).succeeds();
        assert!(
            run.stderr().contains("cannot delete the uploads and containers of this session"),
            "{run}"
        );
        assert!(!path.exists());
    }
}
