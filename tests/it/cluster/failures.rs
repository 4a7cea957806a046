//! What goes wrong with a cluster, and what the user and the model are told.

use std::time::Instant;

use super::jobs::{endless, wait_for_jobs};
use super::{EVENTS, PATIENCE, bench, bench_at};
use crate::ask::Turn;
use crate::bench::{OtherVersion, Spark, no_spark, nobody, round, wait};
use crate::remote;

/// Counts on the cluster.
const COUNT: &str = "load('sales').count()";

/// Demands that a dataset cannot be registered: the status, and words of the reason.
#[track_caller]
fn check_ingest(url: &str, what: &str, code: i32, words: &[&str]) {
    let bench = bench();
    let what = what.replace("HERE", &bench.path(".").display().to_string());
    let started = Instant::now();
    let run = bench.run(["ingest", "--remote", url, &what]).fails_with(code);
    assert!(started.elapsed() < PATIENCE, "{run}");
    for word in words {
        assert!(run.stderr().contains(word), "`{word}` is not said: {run}");
    }
    assert_eq!(bench.run(["datasets", "--json"]).succeeds().stdout().trim(), "[]");
}

#[test]
fn a_dataset_is_not_registered_where_no_server_answers() {
    let url = nobody();
    check_ingest(&url, "sales=HERE/sales.csv", 6, &["cannot reach the cluster", &url]);
    let url = no_spark();
    check_ingest(&url, "sales=HERE/sales.csv", 6, &[&url]);
    check_ingest("sc://", "sales=HERE/sales.csv", 2, &["sc://"]);
    check_ingest("http://127.0.0.1:1", "sales=HERE/sales.csv", 2, &["sc://"]);
}

#[test]
fn a_server_of_a_version_that_is_too_old_is_refused() {
    let Some(server) = OtherVersion::start("3.3.0") else { return };
    check_ingest(&server.url(), "sales=HERE/sales.csv", 6, &["3.3.0"]);
}

#[test]
fn rows_are_sent_to_a_server_that_is_older_than_the_client() {
    let Some(server) = OtherVersion::start("4.0.1") else { return };
    let bench = remote::bench_at(&server.url());
    let code = "type(spark.createDataFrame(pd.DataFrame({'a': [1]}))).__name__";
    bench.answers([round().runs("c1", code), round().says("One.")]);
    // With `-f`, the question would be about the file alone.
    let run = bench.run(["ask"].iter().chain(&EVENTS).chain(&["q"])).succeeds();
    assert_eq!(Turn::of(&run).result_of("c1")["result"]["text"], "'DataFrame'", "{run}");
}

#[test]
fn what_the_cluster_does_not_have_is_not_registered() {
    let Some(spark) = Spark::shared() else { return };
    check_ingest(&spark.url(), "sales=HERE/nothing.csv", 5, &["nothing.csv"]);
    check_ingest(&spark.url(), "sales=no_such_table", 5, &["no_such_table"]);
}

#[test]
fn a_token_that_is_refused_is_told_and_never_shown() {
    let Some(spark) = Spark::with(&["spark.connect.authenticate.token=right-1234"]) else { return };
    let wrong = format!("{}/;token=wrong-5678", spark.url());
    check_ingest(&wrong, "sales=HERE/sales.csv", 4, &["refused the token"]);
    check_ingest(&spark.url(), "sales=HERE/sales.csv", 4, &["SPARK_CONNECT_AUTHENTICATE_TOKEN"]);
    let bench = bench_at(&format!("{}/;token=right-1234", spark.url()));
    for (token, code, ending) in
        [("right-1234", 0, "complete: Ten."), ("wrong-5678", 4, "refused the token")]
    {
        if code == 0 {
            bench.answers([round().runs("c1", COUNT), round().says("Ten.")]);
        }
        let mut command = bench.command(["ask", "--format", "jsonl", "--", "q"]);
        let child = command.env("SPARK_CONNECT_AUTHENTICATE_TOKEN", token).spawn().unwrap();
        let run = wait(child, "ask".into(), b"").fails_with(code);
        assert!(Turn::of(&run).ending().contains(ending), "{run}");
        for secret in ["right-1234", "wrong-5678"] {
            assert!(!run.stdout().contains(secret) && !run.stderr().contains(secret), "{run}");
        }
    }
    // The registration keeps the server, and nothing that opens it.
    let kept = std::fs::read_to_string(bench.session().join("datasets.json")).unwrap();
    assert!(kept.contains("sc://") && !kept.contains("right-1234"), "{kept}");
}

#[test]
fn a_server_that_is_gone_ends_the_turn_before_the_model_is_asked() {
    let Some(mut spark) = Spark::with(&[]) else { return };
    let bench = bench_at(&spark.url());
    spark.kill();
    let started = Instant::now();
    let turn = Turn::of(&bench.ask_with(EVENTS, "q").fails_with(6));
    assert!(started.elapsed() < PATIENCE);
    assert!(turn.ending().contains("cannot reach the cluster"), "{}", turn.ending());
    assert!(turn.ending().contains(&spark.url()), "{}", turn.ending());
    assert_eq!(bench.n_requests(), 0);
    // What is here can be asked about without it.
    bench.run(["ingest", "-q", "--name", "here", "sales.csv"]).succeeds();
    bench.answers([round().runs("c1", "len(load('here'))"), round().says("Ten.")]);
    let arguments = EVENTS.into_iter().chain(["--dataset", "here"]);
    let turn = Turn::of(&bench.ask_with(arguments, "q").succeeds());
    assert_eq!(turn.result_of("c1")["result"]["text"], "10");
}

#[test]
fn a_server_that_goes_away_in_the_middle_of_a_job_ends_the_call_and_not_the_turn() {
    let Some(mut spark) = Spark::with(&[]) else { return };
    let bench = bench_at(&spark.url_of("gone"));
    bench.answers([
        round().runs("c1", &endless()),
        round().runs("c2", "1 + 1"),
        round().says("It broke."),
    ]);
    let child = bench.command(["ask", "--format", "jsonl", "--", "q"]).spawn().unwrap();
    wait_for_jobs(&spark, "gone", 1);
    spark.kill();
    let run = wait(child, "ask".into(), b"").succeeds();
    let turn = Turn::of(&run);
    assert_eq!(turn.result_of("c1")["status"], "error", "{run}");
    assert_eq!(turn.result_of("c2")["result"]["text"], "2", "{run}");
}
