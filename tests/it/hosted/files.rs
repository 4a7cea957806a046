//! What goes up before code runs at the provider, and the files that come down.

use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{PNG, ask, drawing};
use crate::bench::{Bench, Run, round};

/// Checks a turn that draws, asked with these arguments.
#[track_caller]
fn check_drawing(arguments: &[&str]) {
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    // No Python is needed, nor one that works.
    let bench = bench.variable("CSV_AGENT_PYTHON", "/nonexistent/python3");
    let turn = ask(&bench, arguments, "Plot the revenue.", 0);
    let request = bench.request(0).body;
    let offered: Vec<&Value> = request["tools"].as_array().unwrap().iter().collect();
    let hosted = offered.iter().find(|it| it["type"] == "code_interpreter").unwrap();
    let container = json!({"type": "auto", "memory_limit": "1g", "file_ids": ["file-1"]});
    assert_eq!(hosted["container"], container);
    assert!(!offered.iter().any(|it| it["name"] == "python_repl"));
    let [upload] = &bench.server().files()[..] else { panic!("one upload") };
    let source = fs::read_to_string(bench.path("sales.csv")).unwrap();
    assert_eq!(upload.filename, "sales.csv");
    assert_eq!(upload.content.split(|it| *it == b'\n').count(), source.lines().count() + 1);
    assert!((3600..=2_592_000).contains(&upload.expires_after.unwrap()));
    let call = turn.one("tool_call");
    assert_eq!(call["name"], "code_interpreter");
    assert_eq!((&call["call_id"], &call["round"]), (&json!("ci_1"), &json!(1)));
    assert_eq!(call["arguments"], json!({"code": "plot(df)"}));
    let result = turn.one("tool_result");
    assert_eq!((&result["status"], &result["error"]), (&json!("ok"), &Value::Null));
    let told = &result["result"];
    assert_eq!((&told["kind"], &told["text"]), (&json!("text"), &json!("drawn")));
    assert_eq!(told["container_id"], "cntr_1");
    let [file] = &turn.end()["files"].as_array().unwrap()[..] else { panic!("one file") };
    let path = "turns/0001/artifacts/plot.png";
    assert_eq!((&file["path"], &file["name"]), (&json!(path), &json!("plot.png")));
    assert_eq!((&file["cited"], &file["file_id"]), (&json!(true), &json!("cfile_2")));
    assert_eq!(file["bytes"], PNG.len());
    assert_eq!(fs::read(bench.session().join(path)).unwrap(), PNG);
    assert_eq!(turn.ending(), format!("complete: See [the plot]({path})."));
    let [container] = &turn.phases("container")[..] else { panic!("one container") };
    let facts = [&container["container_id"], &container["memory_limit"]];
    assert_eq!(facts, [&json!("cntr_1"), &json!("1g")]);
    let code = fs::read_to_string(bench.session().join("turns/0001/code.py")).unwrap();
    assert!(code.contains("plot(df)"), "{code}");
}

#[test]
fn what_the_code_drew_comes_with_the_answer() {
    check_drawing(&[]);
    check_drawing(&["--no-stream"]);
}

#[test]
fn a_file_has_a_line_in_the_text() {
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    let run = bench.ask_with(["--interpreter", "hosted"], "Plot the revenue.").succeeds();
    let path = "turns/0001/artifacts/plot.png";
    let lines: Vec<&str> = run.stdout().lines().collect();
    assert!(lines.iter().any(|it| it.starts_with("file: ") && it.ends_with(path)), "{run}");
    let shown = bench.run(["show", "last"]).succeeds();
    assert_eq!(shown.stdout(), run.stdout());
}

#[test]
fn an_image_among_the_outputs_is_a_file() {
    let url = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(PNG));
    let outputs = json!([{"type": "logs", "logs": "a\n"}, {"type": "image", "url": url},
        {"type": "logs", "logs": "b\n"}]);
    let bench = Bench::with(["sales.csv"])
        .script([round().interprets_with("plt.show()", outputs).says("Shown.")]);
    let turn = ask(&bench, &[], "Plot.", 0);
    let [file] = &turn.end()["files"].as_array().unwrap()[..] else { panic!("one file") };
    assert_eq!((&file["name"], &file["file_id"]), (&json!("image_1.png"), &Value::Null));
    let path = bench.session().join(file["path"].as_str().unwrap());
    assert_eq!(fs::read(path).unwrap(), PNG);
    let result = &turn.one("tool_result")["result"];
    assert_eq!(result["files"], json!([file]));
    let text = result["text"].as_str().unwrap();
    assert_eq!(text.lines().filter(|it| !it.is_empty()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_table_that_the_code_saved_is_shown_as_a_local_one_is() {
    let call = json!({"df_name": "top", "logical_name": "best"});
    let bench = Bench::with(["sales.csv"]).script([
        round()
            .interprets("top.to_csv('/mnt/data/top.csv', index=False)", "")
            .makes_file("top.csv", "product,revenue\nTea,12.5\nCoffee,3\n")
            .calls("c1", "send_data_to_ui_as_df", call),
        round().says("There."),
    ]);
    let turn = ask(&bench, &[], "Which are best?", 0);
    let table = turn.one("data_frame");
    assert_eq!([&table["logical_name"], &table["call_id"]], ["best", "c1"]);
    let rows = json!([{"product": "Tea", "revenue": 12.5}, {"product": "Coffee", "revenue": 3.0}]);
    assert_eq!(table["rows"], rows);
    let path = table["artifact"]["path"].as_str().unwrap();
    assert!(bench.session().join(path).is_file(), "{path}");
    // What is a table of the turn is no file besides.
    assert_eq!([&turn.end()["tables"], &turn.end()["files"]], [&json!(["best"]), &json!([])]);
}

#[test]
fn a_frame_that_was_not_saved_is_told_and_its_chart_is_rejected() {
    let chart = json!({"df_name": "top", "logical_name": "top", "chart_type": "bar", "x_field": "a",
        "x_label": null, "y_label": null, "series": [{"name": "b", "y_field": "b"}],
        "title": null, "note": null});
    let bench = Bench::with(["sales.csv"]).script([
        round().interprets("x", "").calls("c1", "send_chart_to_ui", chart).calls(
            "c2",
            "send_data_to_ui_as_df",
            json!({"df_name": "sales", "logical_name": "s"}),
        ),
        round().says("No."),
    ]);
    let turn = ask(&bench, &[], "Show it.", 0);
    let rejected = turn.one("chart_rejected");
    assert_eq!(rejected["code"], "unknown_df");
    let results = turn.all("tool_result");
    let told = |at: usize| results[at]["result"]["text"].as_str().unwrap().to_owned();
    assert!(told(1).contains("no file `/mnt/data/top.csv`"), "{}", told(1));
    assert!(told(2).starts_with("`sales` is a dataset"), "{}", told(2));
}

#[test]
fn a_turn_with_files_is_recorded_and_replayed() {
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    let record = ["--interpreter", "hosted", "--ephemeral", "--record", "c.jsonl", "--json"];
    let replay = ["--interpreter", "hosted", "--ephemeral", "--replay", "c.jsonl", "--json"];
    let told = |run: Run| {
        let found: Value = serde_json::from_str(run.stdout()).unwrap();
        let files = found["files"].as_array().unwrap();
        let files = files.iter().map(|it| [it["path"].clone(), it["sha256"].clone()]);
        (found["text"].clone(), files.collect::<Vec<_>>())
    };
    let recorded = told(bench.ask_with(record, "Plot the revenue.").succeeds());
    let n_calls = bench.server().calls().len();
    let replayed = told(bench.ask_with(replay, "Plot the revenue.").succeeds());
    assert_eq!(recorded, replayed);
    assert_eq!((bench.n_requests(), bench.server().calls().len()), (1, n_calls));
    bench.ask_with(replay, "Plot something else.").fails_with(12);
}

#[test]
fn what_is_uploaded_counts_as_sent() {
    let bench = Bench::with(["sales.csv"]).script([drawing()]);
    let turn = ask(&bench, &[], "Plot the revenue.", 0);
    let sent = &turn.end()["egress"];
    let columns = json!(["sales.date", "sales.product", "sales.revenue"]);
    assert_eq!((&sent["columns"], &sent["rows"]), (&columns, &json!(10)));
    let request = bench.request(0).bytes.len();
    let upload = bench.server().files()[0].content.len();
    let all: usize = bench.server().calls().iter().map(|it| it.bytes.len()).sum();
    let bytes = usize::try_from(sent["bytes"].as_u64().unwrap()).unwrap();
    assert!((request + upload..=request + all).contains(&bytes), "{bytes} of {request} + {all}");
}

#[test]
fn what_a_container_is_called_has_no_say_in_where_files_go() {
    let bench = Bench::with(["sales.csv"]).script([round()
        .interprets("1", "")
        .makes_file("/mnt/data/../../../../work/sales.csv", "x")
        .makes_file("/mnt/data/a\u{1b}[2J\nb.txt", "y")
        .makes_file("/etc/.hidden", "z")
        .says("See [it](sandbox:/mnt/data/never_made.txt).")]);
    let before = fs::read(bench.path("sales.csv")).unwrap();
    let turn = ask(&bench, &[], "Write files.", 0);
    assert_eq!(fs::read(bench.path("sales.csv")).unwrap(), before);
    let files = turn.end()["files"].as_array().unwrap().clone();
    assert!(!files.is_empty());
    for file in &files {
        let path = file["path"].as_str().unwrap();
        let name = path.strip_prefix("turns/0001/artifacts/").unwrap();
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
        assert!(name.chars().all(is_plain) && !name.starts_with('.'), "{path}");
        assert!(bench.session().join(path).is_file(), "{path}");
        assert_eq!(file["cited"], false);
    }
    let text = bench.run(["show", "last"]).succeeds();
    assert!(!text.stdout().contains('\u{1b}'), "{text}");
    assert!(text.stdout().contains("sandbox:/mnt/data/never_made.txt"), "{text}");
}
