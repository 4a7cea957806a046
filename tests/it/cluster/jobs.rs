//! Jobs that take long or give too much: what is told of them meanwhile, and what ends them.

use std::process::Child;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::{EVENTS, bench_at, told};
use crate::ask::Turn;
use crate::bench::{Bench, Spark, round, signal, until, wait};

/// Counts on the cluster.
const COUNT: &str = "load('sales').count()";

/// Adds up numbers on the cluster, as many as this, in 24 tasks and one more.
fn sum(n_numbers: u64) -> String {
    format!("spark.range(0, {n_numbers}, 1, 24).selectExpr('sum(id % 7) as sum').toPandas()")
}

/// Returns code of a job that takes years.
pub fn endless() -> String {
    sum(10_u64.pow(18))
}

/// Waits until so many jobs of a user run.
#[track_caller]
pub fn wait_for_jobs(spark: &Spark, user: &str, n_jobs: usize) {
    until(&format!("{n_jobs} jobs run"), || spark.jobs_of(user, "RUNNING") == n_jobs);
}

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    bench
        .command([&["ask", "--format", "jsonl"], arguments, &["--", "q"]].concat())
        .spawn()
        .unwrap()
}

#[test]
fn a_job_that_is_not_waited_for_is_stopped_on_the_cluster() {
    let Some(spark) = Spark::shared() else { return };
    for (user, arguments, sent, code) in [
        ("pressed", &[][..], Some(Signal::SIGINT), 130),
        ("ended", &[], Some(Signal::SIGTERM), 143),
        ("late", &["--timeout", "20s"], None, 7),
    ] {
        let bench = bench_at(&spark.url_of(user));
        bench.answers([round().runs("c1", &endless())]);
        let child = start(&bench, arguments);
        wait_for_jobs(&spark, user, 1);
        if let Some(sent) = sent {
            signal(&child, sent);
        }
        let run = wait(child, "ask".into(), b"").fails_with(code);
        let turn = Turn::of(&run);
        assert_eq!(turn.result_of("c1")["status"], "cancelled", "{run}");
        wait_for_jobs(&spark, user, 0);
        bench.answers([round().runs("c2", COUNT), round().says("Fine.")]);
        let turn = Turn::of(&bench.ask_with(EVENTS, "q").succeeds());
        assert_eq!(turn.result_of("c2")["result"]["text"], "10");
    }
}

#[test]
fn a_call_that_takes_too_long_is_stopped_on_the_cluster_and_the_turn_goes_on() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url_of("patient"));
    bench.answers([
        round().runs("c1", &format!("kept = 7\n{}", endless())),
        round().runs("c2", &format!("kept + {COUNT}")),
        round().says("Done."),
    ]);
    // The second call has no more time than the first, and on a busy machine it needs it.
    let child = start(&bench, &["--tool-timeout", "30s"]);
    wait_for_jobs(&spark, "patient", 1);
    wait_for_jobs(&spark, "patient", 0);
    let run = wait(child, "ask".into(), b"").succeeds();
    let turn = Turn::of(&run);
    assert_eq!(turn.results(), ["c1 timeout: timeout", "c2 ok"], "{run}");
    assert_eq!(turn.result_of("c2")["result"]["text"], "17", "{run}");
}

#[test]
fn a_long_job_tells_how_far_it_is() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url_of("slow"));
    // As many jobs of some seconds as twelve seconds take: machines differ.
    let code = format!(
        "import time\nuntil = time.monotonic() + 12\n\
         while time.monotonic() < until: {}\n",
        sum(6_000_000_000)
    );
    bench.answers([round().runs("c1", &code), round().says("Done.")]);
    let turn = Turn::of(&bench.ask_with(EVENTS, "q").succeeds());
    let told: Vec<&Value> = turn.phases("cluster");
    assert!(!told.is_empty(), "{:#?}", turn.events);
    for status in told {
        let n = |name: &str| status[name].as_u64().unwrap_or_else(|| panic!("{name}: {status}"));
        assert!(n("tasks_done") <= n("tasks") && n("stages_done") <= n("stages"), "{status}");
        assert!(status["message"].as_str().unwrap().contains("tasks"), "{status}");
    }
}

#[test]
fn what_is_too_much_to_collect_is_refused_with_advice_and_the_turn_goes_on() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url_of("greedy"));
    bench.answers([
        round().runs("c1", "many = spark.range(0, 50_000_000, 1, 24)\nmany.toPandas()"),
        round().runs("c2", "len(many.limit(1000).toPandas())"),
        round().says("Done."),
    ]);
    let turn = Turn::of(&bench.ask_with(EVENTS, "q").succeeds());
    assert_eq!(turn.result_of("c1")["status"], "error");
    let told = told(&bench, "c1");
    assert!(told.contains("256 MB") && told.contains("limit()"), "{told}");
    assert_eq!(turn.result_of("c2")["result"]["text"], "1000");
    assert_eq!(spark.jobs_of("greedy", "RUNNING"), 0);
}

#[test]
fn the_worker_stays_small_whatever_the_cluster_reads() {
    let Some(spark) = Spark::shared() else { return };
    let bench = bench_at(&spark.url_of("flat"));
    let peak = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)";
    let counts =
        "spark.range(0, 10**9, 1, 24).groupBy((F.col('id') % 7).alias('rest')).count().toPandas()";
    bench.answers([
        round().runs("c1", &format!("{COUNT}\n{peak}")),
        round().runs(
            "c2",
            &format!("from pyspark.sql import functions as F\nint({counts}['count'].sum())"),
        ),
        round().runs("c3", peak),
        round().says("Done."),
    ]);
    let turn = Turn::of(&bench.ask_with(EVENTS, "q").succeeds());
    assert_eq!(turn.result_of("c2")["result"]["text"], "1000000000");
    let kilobytes = |it: &str| -> u64 {
        let result = &turn.result_of(it)["result"];
        let printed = result["stdout"].as_str().or(result["text"].as_str());
        printed.unwrap_or_else(|| panic!("{result}")).trim().parse().unwrap()
    };
    let (before, after) = (kilobytes("c1"), kilobytes("c3"));
    assert!(after < before + 50_000, "{before} KB, then {after} KB");
}
