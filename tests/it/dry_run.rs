//! `ask --dry-run`: it shows exactly what would be sent, and does nothing else.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{Bench, KEY, round, wait};

#[test]
fn what_is_shown_is_what_is_sent() {
    let frame = serde_json::json!({"name": "sales", "df_name": "df", "nrows": 2});
    let bench = Bench::with(["sales.csv"]).script([
        round().calls("c1", "load_dataset_sample", frame),
        round().says("Loaded."),
        round().says("Ten."),
    ]);
    bench.ask("Load two rows.").succeeds();
    let ask = ["ask", "--format", "json", "And how many rows are there?"];
    let dry = bench.run([&ask[..], &["--dry-run"]].concat()).succeeds();
    assert_eq!(bench.n_requests(), 2, "nothing is sent");
    assert!(!bench.session().join("turns/0002").exists(), "nothing is written");
    assert!(!dry.stdout().contains(KEY), "{dry}");
    bench.run(ask).succeeds();
    let dry: Value = serde_json::from_str(dry.stdout()).unwrap();
    let sent = bench.request(2);
    assert_eq!(dry["request"], sent.body);
    assert_eq!(dry["egress"]["bytes"], sent.body.to_string().len());
    assert_eq!(dry["egress"]["columns"].as_array().unwrap().len(), 3);
    assert_eq!(dry["headers"]["authorization"], "Bearer ***");
    assert!(dry["url"].as_str().unwrap().ends_with("/v1/responses"));
    assert_eq!(dry["schema"], "csv-agent.dry-run/1");
}

#[test]
fn files_are_looked_at_and_not_added() {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    fs::write(bench.path("other.csv"), "a,b\n1,2\n").unwrap();
    let dry = bench.run(["ask", "-f", "other.csv", "--dry-run", "q", "--json", "-o", "dry.json"]);
    assert_eq!(dry.succeeds().stdout(), "");
    let dry: Value = serde_json::from_slice(&fs::read(bench.path("dry.json")).unwrap()).unwrap();
    let columns = dry["egress"]["columns"].to_string();
    assert!(columns.contains("other.a") && !columns.contains("sales."), "{columns}");
    let listed = bench.run(["datasets", "--names"]).succeeds();
    assert_eq!(listed.stdout(), "sales\n");
    let nowhere = bench.run(["ask", "--dry-run", "-d", "nothing", "q"]).fails_with(5);
    assert!(nowhere.stderr().contains("no dataset `nothing`"), "{nowhere}");
    let both = bench.run(["ask", "--dry-run", "--record", "c.jsonl", "q"]).fails_with(2);
    assert!(both.stderr().contains("--record"), "{both}");
}

/// Shows what a question would send, and asks it then.
#[track_caller]
fn shown_and_sent(bench: &Bench, arguments: &[&str]) -> (Value, Value) {
    let ask = ["ask", "--format", "json", "--interpreter", "hosted", "Once more."];
    let ask = [&ask[..], arguments].concat();
    let dry = bench.run([&ask[..], &["--dry-run"]].concat()).succeeds();
    let n_requests = bench.n_requests();
    bench.run(ask).succeeds();
    (serde_json::from_str(dry.stdout()).unwrap(), bench.request(n_requests).body)
}

#[test]
fn files_that_would_be_uploaded_are_named_and_counted() {
    let bench = Bench::with(["sales.csv"]).script([round().interprets("1", "1\n").says("So.")]);
    let ask = ["--dry-run", "--json", "--interpreter", "hosted"];
    let mut command = bench.command(["ask", "-f", "sales.csv"].iter().chain(&ask).chain(&["q"]));
    let shown = format!("{:?}", command.env_remove("OPENAI_API_KEY").env_remove("OPENAI_BASE_URL"));
    let dry = wait(command.spawn().unwrap(), shown, b"").succeeds();
    assert!(bench.server().calls().is_empty() && bench.n_requests() == 0, "nothing is sent");
    assert!(!bench.session().exists(), "nothing is written");
    bench.ask_with(["--interpreter", "hosted"], "Run it.").succeeds();
    let [file] = &bench.server().files()[..] else { panic!("one file") };
    let bytes = file.content.len();
    let text = String::from_utf8(file.content.clone()).unwrap();
    let rows = text.lines().count() - 1;
    let dry: Value = serde_json::from_str(dry.stdout()).unwrap();
    let expected = json!([{"dataset": "sales", "filename": "sales.csv", "rows": rows, "bytes": bytes, "file_id": null}]);
    assert_eq!(dry["uploads"], expected);
    let egress = &dry["egress"];
    assert_eq!([&egress["uploads"], &egress["upload_bytes"], &egress["rows"]], [1, bytes, rows]);
    let body = dry["request"].to_string().len();
    assert_eq!([&egress["requests"], &egress["bytes"]], [2, bytes + body]);
    let declared = dry["request"]["tools"].as_array().unwrap().last().unwrap();
    let container = json!({"type": "auto", "memory_limit": "1g", "file_ids": []});
    assert_eq!(declared, &json!({"type": "code_interpreter", "container": container}));
}

#[test]
fn what_the_provider_has_already_is_shown_as_it_is_sent() {
    let says = || round().says("So.");
    let bench = Bench::with(["sales.csv"]).script([
        round().interprets("1", "1\n").says("So."),
        says(),
        says(),
        says(),
    ]);
    bench.ask_with(["--interpreter", "hosted"], "Run it.").succeeds();
    for arguments in [&[][..], &["--fresh"], &["--container-memory", "4g"]] {
        let (dry, sent) = shown_and_sent(&bench, arguments);
        assert_eq!(dry["request"], sent, "{arguments:?}");
        assert_eq!(dry["uploads"][0]["file_id"], "file-1", "{arguments:?}");
        assert_eq!(dry["egress"]["uploads"], 0, "{arguments:?}");
    }
    let text = bench.run(["ask", "--dry-run", "--interpreter", "both", "q"]).succeeds();
    let bytes = bench.server().files()[0].content.len();
    let told =
        format!("sales.csv: 10 rows, {bytes} bytes, already uploaded as `file-1`\n\nIt would ");
    assert!(text.stdout().contains(&told), "{text}");
}
