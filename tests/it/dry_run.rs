//! `ask --dry-run`: it shows exactly what would be sent, and does nothing else.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, KEY, round};

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
    assert!(columns.contains("other.a") && columns.contains("sales."), "{columns}");
    let listed = bench.run(["datasets", "--names"]).succeeds();
    assert_eq!(listed.stdout(), "sales\n");
    let nowhere = bench.run(["ask", "--dry-run", "-d", "nothing", "q"]).fails_with(5);
    assert!(nowhere.stderr().contains("no dataset `nothing`"), "{nowhere}");
    let both = bench.run(["ask", "--dry-run", "--record", "c.jsonl", "q"]).fails_with(2);
    assert!(both.stderr().contains("--record"), "{both}");
}
