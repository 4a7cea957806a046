//! Frames of a cluster in a confined worker, as far as they can be seen without a cluster: a relay that
//! answers every call with a refusal.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;

use csv_agent_types::limits::WORKER_MEMORY_BYTES_MIN;
use csv_agent_worker::protocol::{Command, Outcome, OutcomeStatus};
use csv_agent_worker::sandbox::{Demand, SandboxOptions};
use csv_agent_worker::{Cluster, Worker, WorkerOptions};

use crate::bench::HANG;
use crate::worker::{program, spark_interpreter};

/// As long as the longest that a policy says.
const REFUSAL: &str = "`Sql` is not allowed here: use the DataFrame API, which does what a SELECT does; \
    what is registered can be loaded with load(name)";

struct Bench {
    worker: Worker,
    /// The methods that were called.
    calls: Receiver<String>,
    _scratch: TempDir,
}

impl Bench {
    async fn new(change: impl FnOnce(&mut WorkerOptions)) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (tell, calls) = channel();
        thread::spawn(move || refuse(ours, |method| tell.send(method).is_ok()));
        let scratch = TempDir::new().unwrap();
        let sandbox = SandboxOptions {
            program: program(),
            without: Vec::new(),
            demand: Demand::Files,
            memory_bytes: WORKER_MEMORY_BYTES_MIN,
        };
        let options = WorkerOptions::new(spark_interpreter().await, scratch.path(), sandbox);
        let relay = Arc::new(OwnedFd::from(theirs));
        let cluster = Some(Cluster { relay, datasets: Vec::new(), user: "ann".to_owned() });
        let mut options = WorkerOptions { cluster, ..options };
        change(&mut options);
        Bench { worker: Worker::start(options).await.unwrap(), calls, _scratch: scratch }
    }

    async fn run(&mut self, code: &str) -> Outcome {
        self.worker.ask(Command::Run { code: code.to_owned() }).await.unwrap()
    }

    #[track_caller]
    fn called(&self) -> String {
        self.calls.recv_timeout(HANG).expect("the worker calls the relay")
    }
}

/// Reads frames and refuses each call. Ends when `tell` does not want more.
fn refuse(mut stream: UnixStream, tell: impl Fn(String) -> bool) {
    let mut head = [0; 9];
    while stream.read_exact(&mut head).is_ok() {
        let length = u32::from_be_bytes(head[..4].try_into().unwrap()) as usize;
        let mut payload = vec![0; length - 5];
        stream.read_exact(&mut payload).unwrap();
        if head[4] != 0 {
            continue;
        }
        let end = json!({"code": 7, "message": REFUSAL, "details": null}).to_string();
        let n_bytes = u32::try_from(end.len() + 5).unwrap().to_be_bytes();
        let answer = [&n_bytes[..], &[17], &head[5..], end.as_bytes()].concat();
        let method = String::from_utf8(payload).unwrap();
        if !tell(method) || stream.write_all(&answer).is_err() {
            return;
        }
    }
}

#[tokio::test]
async fn a_refusal_of_the_relay_reaches_the_model_in_full() {
    let mut bench = Bench::new(|_| {}).await;
    let outcome = bench.run("spark.range(3).count()").await;
    assert_eq!(outcome.status, OutcomeStatus::Error);
    assert!(outcome.text().contains(REFUSAL), "{}", outcome.text());
    assert_eq!(outcome.result["stdout"], json!(null), "the client writes nothing of its own");
    assert_eq!(bench.called(), "/spark.connect.SparkConnectService/Config");
}

#[tokio::test]
async fn a_relay_that_is_gone_is_told_at_once_and_the_worker_goes_on() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    drop(ours);
    let relay = Arc::new(OwnedFd::from(theirs));
    let mut bench = Bench::new(|it| {
        it.cluster.as_mut().unwrap().relay = relay;
        // A client that tries again takes ten minutes.
        it.command_timeout = Duration::from_mins(2);
    })
    .await;
    let outcome = bench.run("spark.range(3).count()").await;
    assert!(outcome.text().contains("the relay to the cluster was closed\n"), "{}", outcome.text());
    assert_eq!(bench.run("1 + 1").await.text(), "2");
}

#[tokio::test]
async fn a_lazy_frame_is_kept_between_processes_as_its_plan() {
    let repl = TempDir::new().unwrap();
    let mut first = Bench::new(|_| {}).await;
    first.run("df = spark.range(7)\nodd = df.filter('id % 2 = 1')").await;
    let saved = first.worker.save(repl.path()).await.unwrap();
    assert_eq!((saved.lost.len(), saved.kept), (0, vec!["df".to_owned(), "odd".to_owned()]));
    first.worker.stop().await;

    let saved = Some(repl.path().to_owned());
    let mut second = Bench::new(|it| it.saved.clone_from(&saved)).await;
    let shown = second.run("type(odd).__module__, odd.select('id')._plan is None").await;
    assert_eq!(shown.text(), "('pyspark.sql.connect.dataframe', False)");
    assert!(second.calls.try_recv().is_err(), "nothing is asked of the cluster for it");

    let without = |it: &mut WorkerOptions| (it.saved, it.cluster) = (saved, None);
    let mut third = Bench::new(without).await;
    let outcome = third.run("odd").await;
    let notes = outcome.result["notes"].to_string();
    assert!(notes.contains("`odd` is a frame of a cluster"), "{notes}");
    assert_eq!(third.worker.save(repl.path()).await.unwrap().kept, ["df", "odd"]);
}
