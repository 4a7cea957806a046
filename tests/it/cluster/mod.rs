//! Turns over datasets of a Spark cluster: a real server, the real binary, a scripted model.

mod again;
mod attacks;
mod datasets;
mod failures;
mod jobs;
mod questions;

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::bench::{Bench, Run, Spark};

/// A machine with other work may need this long for what is quick otherwise.
const PATIENCE: Duration = Duration::from_mins(5);

const EVENTS: [&str; 2] = ["--format", "jsonl"];

/// Registers datasets of a cluster.
fn ingest(spark: &Spark, bench: &Bench, arguments: &[&str]) -> Run {
    let url = spark.url();
    bench.run([&["ingest", "-q", "--remote", &url], arguments].concat())
}

/// Makes a bench with a file of ten rows, `sales.csv`, that is no dataset yet.
fn bench() -> Bench {
    let bench = Bench::with([]);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/csv/sales.csv");
    fs::copy(source, bench.path("sales.csv")).unwrap();
    bench
}

/// Makes a bench with one dataset, `sales`, that is on the cluster at a URL.
#[track_caller]
fn bench_at(url: &str) -> Bench {
    let bench = bench();
    let sales = format!("sales={}", bench.path("sales.csv").display());
    bench.run(["ingest", "-q", "--remote", url, &sales]).succeeds();
    bench
}

/// Returns what the model read of a call.
#[track_caller]
fn told(bench: &Bench, call_id: &str) -> String {
    bench.request(bench.n_requests() - 1).output_of(call_id).to_owned()
}
