//! One turn through every format.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use serde_json::{Value, json};

use csv_agent_types::event::{Body, ErrorBody, Event};

use super::{Format, OutputOptions, answer, encryption::Seal};

/// What a sink wrote.
#[derive(Clone, Default)]
struct Pipe(Rc<RefCell<Vec<u8>>>);

impl Pipe {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn event(body: &Value) -> Event {
    let mut event = json!({"v": 1, "seq": 0, "ts": "2026-01-01T00:00:00.000Z",
        "session_id": "s", "turn_id": "0007"});
    event.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    serde_json::from_value(event).unwrap()
}

fn started() -> Event {
    event(&json!({"type": "status", "phase": "started", "message": "started", "version": "0.1.0",
        "model": "m", "provider": "replay", "api": "responses", "datasets": ["sales"],
        "limits": {}, "question": "Which product lost revenue?"}))
}

fn table(name: &str, cell: &str, row_count: u64) -> Event {
    event(&json!({"type": "data_frame", "call_id": "c1", "df_name": "df", "logical_name": name,
        "columns": ["product", "Q3"], "dtypes": {"product": "object", "Q3": "int64"},
        "row_count": row_count, "rows": [{"product": cell, "Q3": 98_210}], "rows_emitted": 1,
        "truncated": 1 < row_count, "encoding": "json",
        "artifact": {"format": "parquet", "path": format!("turns/0007/tables/{name}.parquet"),
            "bytes": 1, "sha256": "00"}}))
}

fn chart() -> Event {
    event(&json!({"type": "chart", "call_id": "c2", "df_name": "df", "logical_name": "by_quarter",
        "chart_type": "column", "title": null, "x_field": "q", "x_label": null, "y_label": null,
        "series": [{"name": "n", "y_field": "n"}], "note": null, "data": [{"q": "Q3", "n": 1}],
        "row_count": 1, "encoding": "json", "alt": "Column chart: n by q.",
        "files": [{"format": "svg", "path": "turns/0007/charts/by_quarter.svg", "width": 960,
            "height": 540, "bytes": 1, "sha256": "00"}]}))
}

fn partial(item: u32, delta: &str) -> Event {
    event(&json!({"type": "partial", "delta": delta, "item": item}))
}

fn reply(text: &str) -> Event {
    let usage = json!({"requests": 2, "input_tokens": 10, "cached_input_tokens": 0,
        "output_tokens": 5, "reasoning_tokens": 0, "total_tokens": 15,
        "session_total_tokens": 15, "cost_usd": null});
    event(&json!({"type": "reply", "text": text, "blocks": [], "assessment": null, "findings": [],
        "stop_reason": "complete", "tables": ["q3"], "charts": [], "rounds": 2, "tool_calls": 1,
        "usage": usage, "duration_ms": 4_200, "code_path": null, "exit_code": 0}))
}

/// A reply with files; its text has what a model writes and what is made of it.
fn filed(text: &str) -> Event {
    let mut event = reply(text);
    let Body::Reply(body) = &mut event.body else { panic!() };
    for (name, path) in [("plot.png", "plot.png"), ("b\u{1b}[2J]_(x).csv", "b_2j__x.csv")] {
        let file = json!({"name": name, "cited": true, "container_id": "c", "file_id": "f",
            "format": "x", "path": format!("turns/0007/artifacts/{path}"), "bytes": 1,
            "sha256": "00"});
        body.files.push(serde_json::from_value(file).unwrap());
    }
    event
}

fn failed() -> Event {
    let mut event = started();
    let error = ErrorBody {
        fatal: true,
        code: "network".into(),
        message: "connection refused".into(),
        partial_text: Some("so far".into()),
        exit_code: Some(6),
        ..ErrorBody::default()
    };
    event.body = Body::Error(Box::new(error));
    event
}

fn options(format: Format) -> OutputOptions {
    OutputOptions {
        format,
        width: Some(60),
        seal: Seal::Plain,
        session_dir: ".csv-agent".into(),
        keeps_files: true,
        ..OutputOptions::default()
    }
}

/// Returns what goes to stdout and to stderr.
fn run(options: OutputOptions, events: &[Event]) -> (String, String) {
    let (out, warn) = (Pipe::default(), Pipe::default());
    let mut sink = answer(options, Box::new(out.clone()), Box::new(warn.clone()));
    for event in events {
        sink.emit(event).unwrap();
    }
    (out.text(), warn.text())
}

fn turn() -> Vec<Event> {
    vec![started(), table("q3", "Anvil", 1), chart(), reply("Only **Anvil** fell.\n")]
}

#[test]
fn the_name_of_a_table_is_no_picture_in_a_viewer() {
    let table = table("![x](http://x.example)", "Anvil", 9);
    for format in [Format::Text, Format::Md] {
        let (out, _) = run(options(format), &[started(), table.clone(), reply("Done.\n")]);
        assert!(out.contains("\\!\\[x\\](http://x.example): 1 of 9 rows"), "{out}");
    }
}

#[test]
fn a_pipe_gets_tables_charts_and_the_reply() {
    let (out, warn) = run(options(Format::Text), &turn());
    insta::assert_snapshot!(out, @r"
    | product | Q3 |
    |---|---:|
    | Anvil | 98210 |

    chart: .csv-agent/turns/0007/charts/by_quarter.svg

    Only **Anvil** fell.
    ");
    assert_eq!(warn, "");
}

#[test]
fn a_terminal_gets_a_grid_and_a_caption() {
    let options = OutputOptions { is_tty: true, ..options(Format::Text) };
    insta::assert_snapshot!(run(options, &turn()).0, @r"
    ┌─────────┬────────┐
    │ product │     Q3 │
    ╞═════════╪════════╡
    │ Anvil   │ 98,210 │
    └─────────┴────────┘
     q3 · 1 of 1 rows
    chart 1: by_quarter → .csv-agent/turns/0007/charts/by_quarter.svg
    Only **Anvil** fell.
    ");
}

#[test]
fn markdown_is_one_text_with_images() {
    insta::assert_snapshot!(run(options(Format::Md), &turn()).0, @r"
    | product | Q3 |
    |---|---:|
    | Anvil | 98210 |

    ![Column chart: n by q.](.csv-agent/turns/0007/charts/by_quarter.svg)

    Only **Anvil** fell.
    ");
}

#[test]
fn files_are_told_by_where_they_are() {
    let turn = [chart(), filed("See [it](turns/0007/artifacts/plot.png).\n")];
    insta::assert_snapshot!(run(options(Format::Text), &turn).0, @r"
    chart: .csv-agent/turns/0007/charts/by_quarter.svg

    file: .csv-agent/turns/0007/artifacts/plot.png
    file: .csv-agent/turns/0007/artifacts/b_2j__x.csv

    See [it](.csv-agent/turns/0007/artifacts/plot.png).
    ");
    insta::assert_snapshot!(run(options(Format::Md), &turn).0, @r"
    ![Column chart: n by q.](.csv-agent/turns/0007/charts/by_quarter.svg)

    - [plot.png](.csv-agent/turns/0007/artifacts/plot.png)
    - [b\\x1b\[2J\]\_(x).csv](.csv-agent/turns/0007/artifacts/b_2j__x.csv)

    See [it](.csv-agent/turns/0007/artifacts/plot.png).
    ");
    let terminal = OutputOptions { is_tty: true, quiet: true, ..options(Format::Text) };
    insta::assert_snapshot!(run(terminal, &turn).0, @r"
    chart 1: by_quarter → .csv-agent/turns/0007/charts/by_quarter.svg
    See it (.csv-agent/turns/0007/artifacts/plot.png).
    file: .csv-agent/turns/0007/artifacts/plot.png
    file: .csv-agent/turns/0007/artifacts/b_2j__x.csv
    ");
    let of_reply = "See [it](turns/0007/artifacts/plot.png).\n";
    assert_eq!(run(options(Format::Reply), &turn).0, of_reply);
}

#[test]
fn live_text_with_links_to_files_is_not_repeated() {
    let live = OutputOptions { is_tty: true, stream: true, ..options(Format::Text) };
    let events = [
        partial(1, "See [it](sandbox:/mnt/"),
        partial(1, "data/plot.png), and"),
        filed("See [it](turns/0007/artifacts/plot.png), and that."),
    ];
    insta::assert_snapshot!(run(live, &events).0, @r"
    See it, and that.
    file: .csv-agent/turns/0007/artifacts/plot.png
    file: .csv-agent/turns/0007/artifacts/b_2j__x.csv
    ");
}

#[test]
fn reply_is_the_text_and_one_line_feed() {
    assert_eq!(run(options(Format::Reply), &turn()).0, "Only **Anvil** fell.\n");
}

#[test]
fn live_text_is_not_repeated() {
    let live = OutputOptions { is_tty: true, stream: true, ..options(Format::Text) };
    let events = [
        partial(1, "Let me "),
        partial(1, "look."),
        partial(2, "Only "),
        event(&json!({"type": "status", "phase": "retrying", "message": "again", "attempt": 1,
            "max_attempts": 4, "delay_ms": 1, "reason": "reset", "http_status": null})),
        partial(2, "Only **Anvil**"),
        partial(2, " fell.\n"),
        reply("Only **Anvil** fell.\n"),
    ];
    assert_eq!(run(live.clone(), &events).0, "Let me look.\nOnly\nOnly **Anvil** fell.\n");
    let other = [partial(1, "A draft"), reply("The answer")];
    assert_eq!(run(live.clone(), &other).0, "A draft\nThe answer\n");
    let cut = [partial(1, "The "), reply("The answer")];
    assert_eq!(run(live, &cut).0, "The answer\n");
    assert_eq!(run(options(Format::Text), &other).0, "The answer\n");
}

#[test]
fn no_escape_code_gets_through() {
    let evil = [
        table("q\u{1b}[2J", "\u{1b}]0;x\u{7}", 3),
        partial(1, "\u{1b}[2"),
        partial(1, "J\u{9b}"),
        reply("\u{1b}[2J\u{9b}gone"),
    ];
    for format in
        [Format::Text, Format::Reply, Format::Md, Format::Json, Format::Jsonl, Format::Csv]
    {
        for is_tty in [false, true] {
            let options = OutputOptions { is_tty, stream: is_tty, ..options(format) };
            let (out, warn) = run(options, &evil);
            let is_exact = format == Format::Csv && !is_tty;
            assert!(is_exact || !out.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{format:?} {out}");
            assert!(!warn.contains('\u{1b}'));
        }
    }
}

#[test]
fn csv_is_the_last_table_or_the_named_one() {
    let events = [table("a", "1", 1), table("b", "2", 51_230), reply("x")];
    let (out, warn) = run(options(Format::Csv), &events);
    assert_eq!(out, "product,Q3\n2,98210\n");
    assert_eq!(
        warn,
        "warning: `b`: 1 of 51230 rows; all of them are in .csv-agent/turns/0007/tables/b.parquet\n"
    );
    for (wanted, found) in [("a", "1"), ("b", "2"), ("1", "1"), ("2", "2")] {
        let options = OutputOptions { table: Some(wanted.into()), ..options(Format::Tsv) };
        assert_eq!(run(options, &events).0, format!("product\tQ3\n{found}\t98210\n"));
    }
    for wanted in ["c", "0", "3"] {
        let options = OutputOptions { table: Some(wanted.into()), ..options(Format::Csv) };
        assert_eq!(run(options, &events), (String::new(), String::new()));
    }
    assert_eq!(run(options(Format::Csv), &[reply("x")]), (String::new(), String::new()));
}

#[test]
fn a_failed_turn_leaves_nothing_that_looks_like_an_answer() {
    let events = [started(), table("a", "1", 1), failed()];
    for format in [Format::Text, Format::Reply, Format::Md, Format::Csv, Format::Tsv] {
        assert_eq!(run(options(format), &events), (String::new(), String::new()), "{format:?}");
    }
    assert_eq!(run(options(Format::Jsonl), &events).0.lines().count(), 3);
    let document: Value = serde_json::from_str(&run(options(Format::Json), &events).0).unwrap();
    assert_eq!(document["exit_code"], 6);
    assert_eq!(document["text"], "so far");
    assert_eq!(document["error"]["code"], "network");
    assert_eq!(document["tables"][0]["logical_name"], "a");
}

#[test]
fn json_is_one_document_with_everything() {
    let (out, _) = run(options(Format::Json), &turn());
    assert_eq!(out.lines().count(), 1);
    let document: Value = serde_json::from_str(&out).unwrap();
    for (member, expected) in [
        ("schema", json!("csv-agent.result/1")),
        ("question", json!("Which product lost revenue?")),
        ("datasets", json!(["sales"])),
        ("text", json!("Only **Anvil** fell.\n")),
        ("exit_code", json!(0)),
        ("error", Value::Null),
        ("rejected", json!([])),
        ("warnings", json!([])),
        ("events_path", json!("turns/0007/events.jsonl")),
    ] {
        assert_eq!(document[member], expected, "{member}");
    }
    assert_eq!(document["tables"][0]["rows"], json!([{"product": "Anvil", "Q3": 98_210}]));
    assert_eq!(document["charts"][0]["alt"], "Column chart: n by q.");
    assert_eq!(document["usage"]["total_tokens"], 15);
    assert_eq!(document["files"], json!([]));
    let document: Value =
        serde_json::from_str(&run(options(Format::Json), &[filed("x")]).0).unwrap();
    assert_eq!(document["files"][0]["path"], "turns/0007/artifacts/plot.png");
}

#[test]
fn absolute_paths_are_given_beside_the_relative_ones() {
    let jsonl = OutputOptions { abs_paths: true, ..options(Format::Jsonl) };
    let out = run(OutputOptions { session_dir: "/s".into(), ..jsonl.clone() }, &turn()).0;
    let lines: Vec<Value> = out.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines[1]["artifact"]["abs_path"], "/s/turns/0007/tables/q3.parquet");
    assert_eq!(lines[2]["files"][0]["abs_path"], "/s/turns/0007/charts/by_quarter.svg");
    let Body::Reply(reply) = filed("x").body else { panic!() };
    let result = json!({"kind": "text", "text": "", "container_id": "c", "files": reply.files});
    let called = event(&json!({"type": "tool_result", "call_id": "c", "name": "code_interpreter",
        "status": "ok", "duration_ms": 1, "result": result, "truncated": false,
        "bytes_to_model": 0}));
    let jsonl_there = OutputOptions { session_dir: "/s".into(), ..jsonl.clone() };
    for (told, pointer) in [(filed("x"), "/files/0"), (called, "/result/files/0")] {
        let line: Value = serde_json::from_str(&run(jsonl_there.clone(), &[told]).0).unwrap();
        let file = line.pointer(pointer).unwrap();
        assert_eq!(file["abs_path"], "/s/turns/0007/artifacts/plot.png");
    }
    let json = OutputOptions { format: Format::Json, session_dir: "/s".into(), ..jsonl };
    let document: Value = serde_json::from_str(&run(json, &turn()).0).unwrap();
    assert_eq!(
        document["charts"][0]["files"][0]["abs_path"],
        "/s/turns/0007/charts/by_quarter.svg"
    );
}

#[test]
fn sealed_data_is_nowhere_plain() {
    let seal =
        Seal::from_settings(true, Some("cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4=")).unwrap();
    let mut answer = reply("x");
    let Body::Reply(body) = &mut answer.body else { panic!() };
    body.blocks = vec![json!({"type": "chart", "content": null, "chart": {"data": ["Anvil"]}})];
    let events = [table("q3", "Anvil", 1), chart(), answer];
    for format in [Format::Jsonl, Format::Json] {
        let out = run(OutputOptions { seal: seal.clone(), ..options(format) }, &events).0;
        assert!(!out.contains("Anvil") && out.contains("gAAAA"), "{out}");
        let Seal::Fernet(key) = &seal else { panic!() };
        for line in out.lines() {
            let opened = super::encryption::unseal_line(line, Some(key)).unwrap();
            assert!(!opened.contains("gAAAA"), "{opened}");
        }
    }
}

#[test]
fn a_closed_pipe_is_an_error_that_can_be_told() {
    for format in [Format::Text, Format::Json, Format::Jsonl] {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let mut sink = answer(options(format), Box::new(writer), Box::new(io::sink()));
        let error = sink.emit(&reply("x")).unwrap_err();
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        assert_eq!(kind, Some(io::ErrorKind::BrokenPipe));
    }
}
