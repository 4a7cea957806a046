//! What left the machine: the record of each turn, and of all of them.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::bench::{Bench, round, signal, until, wait};

/// Reads the record of a turn.
fn record(bench: &Bench, turn: &str) -> Value {
    let path = bench.session().join("turns").join(turn).join("egress.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_turn_records_every_request_that_it_sent() {
    let sample = json!({"name": "sales", "df_name": "df", "nrows": 2});
    let code = json!({"code": "print(df)\ndf.head(3)"});
    let bench = Bench::with(["sales.csv"]).script([
        round().answers(500, "later"),
        round().calls("c1", "load_dataset_sample", sample),
        round().calls("c2", "python_repl", code),
        round().says("Two rows."),
    ]);
    let run = bench.ask_with(["--format", "jsonl"], "Show some rows.").succeeds();
    let reply = run.events().pop().unwrap();
    let sent: usize = (0..4).map(|it| bench.request(it).body.to_string().len()).sum();
    let found = record(&bench, "0001");
    assert_eq!(found["bytes"], sent);
    assert_eq!(found["requests"], 4);
    // The two rows that were loaded came again with the code, which has no third.
    assert_eq!(found["rows"], 2);
    assert_eq!(found["columns"], json!(["sales.date", "sales.product", "sales.revenue"]));
    assert!(found["text_bytes"].as_u64().unwrap() > 80, "what was printed: {found}");
    let to = found["destinations"][0].as_str().unwrap();
    assert!(to.starts_with("http://127.0.0.1:") && !to.contains("/v1"), "{to}");
    for field in ["bytes", "rows", "columns", "requests", "destinations", "text_bytes"] {
        assert_eq!(reply["egress"][field], found[field], "{field}");
    }
    let listed = bench.run(["datasets", "--json"]).succeeds();
    let listed: Value = serde_json::from_str(listed.stdout()).unwrap();
    assert_eq!(
        listed[0]["egress"],
        json!({"columns": ["date", "product", "revenue"], "rows": 2, "bytes": sent})
    );
}

#[test]
fn who_answers_on_this_machine_is_sent_nothing() {
    let bench = Bench::with(["sales.csv"]);
    let run =
        bench.ask_with(["--model", "builtin", "--json"], "What is the total revenue?").succeeds();
    let found: Value = serde_json::from_str(run.stdout()).unwrap();
    let nothing = json!({"destinations": [], "requests": 0, "columns": [], "rows": 0, "bytes": 0,
        "text_bytes": 0, "image_bytes": 0, "uploads": 0, "upload_bytes": 0, "downloads": 0,
        "download_bytes": 0, "cluster_requests": 0, "cluster_sent_bytes": 0,
        "cluster_received_bytes": 0});
    assert_eq!(found["egress"], nothing);
    assert!(!bench.session().join("turns/0001/egress.json").exists());
    let shown = bench.run(["show", "--egress"]).succeeds();
    assert_eq!(shown.stdout(), "Turn 0001: nothing was sent\nAll turns: nothing was sent\n");
}

#[test]
fn a_server_that_is_not_there_got_nothing_and_a_turn_that_failed_is_recorded() {
    let bench = Bench::with(["sales.csv"]).script([round().answers(400, "no")]);
    let away = ["--base-url", "http://127.0.0.1:1/v1", "--api", "responses", "--retries", "0"];
    bench.ask_with(away, "q").fails_with(6);
    assert!(!bench.session().join("turns/0001/egress.json").exists());
    let run = bench.ask_with(["--format", "jsonl"], "q").fails_with(6);
    let error = run.events().pop().unwrap();
    assert_eq!(error["egress"]["bytes"], bench.request(0).body.to_string().len());
    assert_eq!(record(&bench, "0002")["requests"], 1);
}

#[test]
fn a_turn_that_is_killed_leaves_its_record() {
    let bench = Bench::with(["sales.csv"]).script([round().mute()]);
    let child = bench.command(["ask", "-f", "sales.csv", "q"]).spawn().unwrap();
    let path = bench.session().join("turns/0001/egress.json");
    until("a request is sent and recorded", || path.exists() && 0 < bench.n_requests());
    signal(&child, Signal::SIGKILL);
    wait(child, "ask".to_owned(), b"");
    bench.forget();
    assert_eq!(record(&bench, "0001")["bytes"], bench.request(0).body.to_string().len());
}

#[test]
fn a_reset_takes_turns_and_no_totals() {
    let bench = Bench::with(["sales.csv"]).script([round().says("One."), round().says("Two.")]);
    bench.ask("one").succeeds();
    bench.run(["reset", "--yes"]).succeeds();
    bench.run(["reset", "--yes"]).succeeds();
    bench.ask("two").succeeds();
    let sent: usize = (0..2).map(|it| bench.request(it).body.to_string().len()).sum();
    let shown = bench.run(["show", "last", "--egress", "--json"]).succeeds();
    let shown: Value = serde_json::from_str(shown.stdout()).unwrap();
    assert_eq!(shown["schema"], "csv-agent.egress/1");
    assert_eq!(shown["egress"]["requests"], 1);
    assert_eq!(shown["total"]["requests"], 2);
    assert_eq!(shown["total"]["bytes"], sent);
    let text = bench.run(["show", "--egress"]).succeeds();
    assert!(
        text.stdout()
            .contains("\n- sales: date, product, revenue; 0 rows\nAll turns: 2 requests to "),
        "{text}"
    );
}

#[test]
fn images_are_counted() {
    let bench = Bench::with(["sales.csv"]);
    // A PNG of one pixel.
    let png = "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082";
    let bytes: Vec<u8> = (0..png.len() / 2)
        .map(|at| u8::from_str_radix(&png[2 * at..2 * at + 2], 16).unwrap())
        .collect();
    fs::write(bench.path("x.png"), bytes).unwrap();
    bench.answers([round().says("A pixel.")]);
    bench.ask_with(["--image", "x.png"], "What is it?").succeeds();
    assert!(record(&bench, "0001")["image_bytes"].as_u64().unwrap() > 90);
}

#[test]
fn a_model_sees_no_values_that_the_builtin_analyst_looked_up() {
    let bench = Bench::with([]).script([round().says("Three.")]);
    let staff = "id,email,pay\n1,ann@x.org,100\n2,bob@x.org,200\n3,eve@x.org,900\n";
    fs::write(bench.path("staff.csv"), staff).unwrap();
    bench.run(["ingest", "staff.csv"]).succeeds();
    bench.run(["ask", "--model", "builtin", "total pay"]).succeeds();
    let dry = bench.run(["ask", "--dry-run", "how many staff"]).succeeds();
    bench.ask("how many staff").succeeds();
    for sent in [dry.stdout(), &bench.request(0).body.to_string()] {
        assert!(sent.contains("total pay") && sent.contains("1,200"), "{sent}");
        assert!(!sent.contains("@x.org"), "{sent}");
    }
    // The analyst itself still has them.
    let follow_up = bench.run(["ask", "--model", "builtin", "total pay by email"]).succeeds();
    assert!(follow_up.stdout().contains("eve@x.org"), "{follow_up}");
}
