//! Questions about datasets on a cluster, as far as no cluster is needed.

use std::fs;

use serde_json::{Value, json};

use csv_agent_types::limits::CLUSTER_CONTACT;

use crate::bench::{Bench, Run, round, sooner_than};

/// Where nobody listens.
const NOBODY: &str = "sc://127.0.0.1:9";

/// Makes a session with `sales.csv`, and with flights that are on a cluster where nobody listens.
fn bench() -> Bench {
    bench_at(NOBODY)
}

/// Makes the same with flights at a URL.
pub fn bench_at(url: &str) -> Bench {
    let bench = Bench::with(["sales.csv"]);
    bench.run(["ingest", "sales.csv"]).succeeds();
    move_to(url, &bench);
    bench
}

/// Puts flights on a cluster.
fn move_to(url: &str, bench: &Bench) {
    let path = bench.session().join("datasets.json");
    let mut catalog: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let mut flights = catalog["sales"].clone();
    flights.as_object_mut().unwrap().remove("path");
    flights["source"] = json!("/data/flights/*.csv");
    flights["row_count"] = json!(1_234_567);
    flights["remote"] = json!({
        "endpoint": url, "version": "4.2.1", "is_estimate": true,
        "source": {"kind": "table", "name": "flights"},
        "readings": [{"kind": "same"}, {"kind": "same"}, {"kind": "same"}],
    });
    catalog["flights"] = flights;
    fs::write(&path, catalog.to_string()).unwrap();
}

#[track_caller]
fn check_refused(flags: &[&str], message: &str, hint: &str) {
    let bench = bench();
    let ask = |more: &[&str]| -> Run {
        let arguments = ["ask"].iter().chain(flags).chain(more).chain(&["q"]);
        bench.run(arguments.copied().collect::<Vec<_>>())
    };
    for more in [&[][..], &["--dry-run"], &["--dataset", "flights"]] {
        let run = ask(more).fails_with(2);
        assert!(run.stderr().contains(message), "{run}");
        // Where no other dataset may be asked about, none is the way out.
        assert_eq!(run.stderr().contains(hint), !more.contains(&"flights"), "{run}");
    }
    assert_eq!(bench.n_requests(), 0);
    assert!(!bench.session().join("turns/0001").exists());
    // The way out that the hint names.
    ask(&["--dataset", "sales", "--dry-run"]).succeeds();
}

#[test]
fn what_holds_for_files_only_is_refused_before_anything_is_sent() {
    let leave_out = "leave out `--redact`, or leave the dataset out with `--dataset sales`";
    check_refused(&["--redact", "product"], "`--redact` applies to files", leave_out);
    let no_rows = "leave out `--no-rows`, or leave the dataset out with `--dataset sales`";
    check_refused(&["--no-rows"], "`--no-rows` applies to files", no_rows);
    let local = "`--interpreter local` or `both`, or leave the dataset out with `--dataset sales`";
    let hosted = ["--interpreter", "hosted"];
    check_refused(&hosted, "which code at the provider cannot reach", local);
    let model = "name a model with `--model NAME`, or leave the dataset out with `--dataset sales`";
    check_refused(&["--model", "builtin"], "the built-in analyst reads only files", model);
}

#[test]
fn a_cluster_that_is_not_there_ends_the_turn_before_the_model_is_asked() {
    let bench = bench();
    let run = bench.run(["ask", "--format", "jsonl", "q"]).fails_with(6);
    let error = run.events().pop().unwrap();
    assert!(error["message"].as_str().unwrap().contains("`sc://127.0.0.1:9`"), "{run}");
    assert_eq!(error["hint"], "ask without it: `--dataset sales`");
    assert_eq!(bench.n_requests(), 0);
    // That it was looked for is on record.
    let record = fs::read(bench.session().join("turns/0001/egress.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["destinations"], json!(["sc://127.0.0.1:9"]));
    assert_eq!([&record["requests"], &record["cluster_requests"]], [0, 0]);
}

#[test]
fn the_instructions_say_what_is_on_the_cluster_and_how_to_work_there() {
    let bench = bench();
    let request = |flags: &[&str]| {
        let arguments = ["ask", "--dry-run", "--json"].iter().chain(flags).chain(&["q"]);
        let run = bench.run(arguments.copied().collect::<Vec<_>>()).succeeds();
        let document: Value = serde_json::from_str(run.stdout()).unwrap();
        document["request"]["instructions"].as_str().unwrap().to_owned()
    };
    let told = request(&[]);
    assert!(
        told.contains("\n- flights: about 1234567 rows, 3 columns, on the cluster\n"),
        "{told}"
    );
    assert!(told.contains("\n- sales: 10 rows, 3 columns\n"), "{told}");
    assert!(told.contains("give a lazy Spark DataFrame"), "{told}");
    let told = request(&["--dataset", "sales"]);
    assert!(!told.contains("Spark"), "{told}");
}

/// Makes the dataset of a cluster one that somebody else has written into the session.
fn with_source(source: &Value) -> Bench {
    let bench = bench();
    let path = bench.session().join("datasets.json");
    let mut catalog: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    catalog["flights"]["remote"]["source"] = source.clone();
    fs::write(&path, catalog.to_string()).unwrap();
    bench
}

#[test]
fn a_session_cannot_have_a_cluster_read_what_no_ingest_registers() {
    let files = |format: &str, schema: &str, options: Value| json!({"kind": "files", "format": format, "schema": schema, "options": options, "paths": ["/d"]});
    for (source, what) in [
        (files("jdbc", "", json!({"url": "jdbc:x"})), "files of the format `jdbc`"),
        (files("csv", "", json!({"url": "x"})), "files with the option `url`"),
        (
            files("csv", "a STRING DEFAULT reflect('java.lang.System', 'exit', 1)", json!({})),
            "a schema with more than names and types",
        ),
    ] {
        let bench = with_source(&source);
        for arguments in [&["ask", "q"][..], &["datasets", "--head", "1", "flights"]] {
            let run = bench.run(arguments.iter().copied()).fails_with(5);
            let message =
                format!("cannot read `flights` on its cluster: csv-agent never registers {what}");
            assert!(run.stderr().contains(&message), "{run}");
            assert!(run.stderr().contains("`csv-agent datasets --rm flights`"), "{run}");
        }
        assert_eq!(bench.n_requests(), 0);
    }
}

#[test]
fn a_cluster_that_is_gone_is_no_other_data_to_a_rerun() {
    let bench = Bench::with(["sales.csv"]);
    fs::copy(bench.path("sales.csv"), bench.path("flights.csv")).unwrap();
    bench.run(["ingest", "sales.csv", "flights.csv"]).succeeds();
    for (name, call_id) in [("flights", "c1"), ("sales", "c2")] {
        let code = format!("len(load('{name}'))");
        bench.answers([round().runs(call_id, &code), round().says("Ten.")]);
        bench.run(["ask", name]).succeeds();
    }
    move_to(NOBODY, &bench);
    // Nothing is tried again and again.
    sooner_than(CLUSTER_CONTACT, || {
        let run = bench.run(["rerun", "1", "--check"]).fails_with(6);
        assert!(run.stderr().contains("cannot reach the cluster at `sc://127.0.0.1:9`"), "{run}");
        assert_eq!(run.stdout(), "");
    });
    bench.run(["rerun", "2", "--check"]).succeeds();
}

#[test]
fn doctor_says_that_the_cluster_of_the_session_is_away() {
    let bench = bench();
    let cluster = |run: &Run| -> Value {
        let checks: Vec<Value> = serde_json::from_str(run.stdout()).unwrap();
        checks.into_iter().find(|it| it["check"] == "cluster").unwrap()
    };
    let asked = ["doctor", "--json", "--model", "builtin"];
    let found = cluster(&bench.run(asked).fails_with(6));
    assert_eq!(found["state"], "problem");
    let reason = "cannot reach the cluster at `sc://127.0.0.1:9`: nothing listens there";
    assert_eq!(found["found"], reason);
    let offline = bench.run(asked.into_iter().chain(["--offline"])).succeeds();
    assert_eq!(cluster(&offline)["found"], "sc://127.0.0.1:9: not contacted, because of --offline");
}

#[test]
fn a_cluster_is_no_file_to_ingest() {
    let run = Bench::with([]).run(["ingest", "sc://host:1/;token=s3cret"]).fails_with(2);
    assert!(
        run.stderr().contains("what begins with `sc://` is the URL of a cluster, not a file"),
        "{run}"
    );
    assert!(run.stderr().contains("`--remote URL NAME=PATH-OR-TABLE`"), "{run}");
    assert!(!run.stderr().contains("s3cret"), "{run}");
}

#[test]
fn a_remote_dataset_is_shown_without_what_only_spark_is_told() {
    let run = bench().run(["datasets", "--json", "flights"]).succeeds();
    let [flights]: [Value; 1] = serde_json::from_str(run.stdout()).unwrap();
    assert_eq!(flights["location"], "sc://127.0.0.1:9", "{run}");
    assert_eq!(
        (&flights["is_estimate"], &flights["spark_version"]),
        (&json!(true), &json!("4.2.1"))
    );
    assert_eq!((&flights["files"], &flights["partitioned_by"]), (&json!(null), &json!([])));
    assert!(flights.get("remote").is_none(), "{run}");
}

#[test]
fn a_chat_greets_with_what_is_estimated() {
    let bench = bench();
    let chat = bench.on_terminal(["chat"], 80);
    chat.shows("flights (about 1,234,567 rows), sales (10 rows)").is_ready();
    chat.press("\x04").ends_with(0);
}
