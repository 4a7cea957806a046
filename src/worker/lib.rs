//! The Python worker: one process that runs the model's code, and the pipes to it.
//!
//! [`Worker::ask`] sends a command and returns its outcome; an exception in the code is an ordinary
//! outcome. A [`WorkerError`] other than [`WorkerError::Unsaved`] means that the process is gone, with
//! its variables.

pub mod engine;
pub mod environment;
mod output;
pub mod protocol;
pub mod sandbox;
mod snapshot;
pub mod trusted_script;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::select;
use tokio::time::{Instant, sleep_until, timeout};
use uuid::Uuid;

use csv_agent_types::catalog::Dataset;
use csv_agent_types::directory;
use csv_agent_types::limits::{
    CLUSTER_SAMPLE_ROWS_MAX, CLUSTER_SENT_BYTES_MAX, CLUSTER_TABLE_ROWS_MAX, REPL_TEXT_BYTES_MAX,
    RESULT_BYTES_MAX, SCRATCH_BYTES_MAX, SCRATCH_FILES_MAX, SNAPSHOT, TOOL_OUTPUT_BYTES_MAX,
    TOOL_TIMEOUT, WORKER_ANSWER_BYTES_MAX, WORKER_FILE_BYTES_MAX, WORKER_GRACE,
    WORKER_PROCESSES_MAX, WORKER_START, WORKER_TASKS_MAX, frames_bytes_max, worker_tree_bytes_max,
};

use crate::environment::{Interpreter, PythonFiles};
use crate::output::Printed;
use crate::protocol::{Command, Outcome, Response, Versions, WorkerRequest};
use crate::sandbox::{
    Confinement, Monitor, MonitorMessage, Policy, Report, SandboxOptions, StagedProgram,
};
use crate::snapshot::{SaveReport, SaveRequest, Saved, adopt};

/// Concatenates the files of the Python program, in order, and lists them.
macro_rules! program {
    ($($file:literal),+ $(,)?) => {
        /// The files of the Python program in `src/worker/program`, in the order in which they are
        /// concatenated. A file uses only names defined in earlier files, and its own imports.
        pub const PROGRAM_FILES: &[&str] = &[$($file),+];
        /// The Python end of the pipes.
        const PROGRAM: &str = concat!($(include_str!(concat!("program/", $file)), "\n\n"),+);
    };
}

program![
    "start_up.py", "state.py", "num.py", "text.py", "sources.py", "frames.py", "snapshot.py",
    "outputs.py", "datasets.py", "tables.py", "container.py", "cells.py", "errors.py",
    "process.py", "protocol.py", "main.py",
];

/// The Python end of the relay.
const CLUSTER_PROGRAM: &str = include_str!("spark.py");
/// How to read datasets of a cluster; it requires only pyspark.
pub const CLUSTER_READING: &str = include_str!("reading.py");
/// Room for printed text next to even the largest result.
const PRINTED_JSON_BYTES_MIN: usize = 1_024;
/// Interval between two interrupts. Code that catches one often does not catch the next.
const INTERRUPT_EVERY: Duration = Duration::from_millis(500);
/// Time to reap a killed process and read its last output.
const BURIAL: Duration = Duration::from_secs(2);
const READ_BYTES: usize = 64 * 1024;

/// The options of a new worker.
#[derive(Debug, Clone)]
pub struct WorkerOptions {
    /// Its permissions.
    pub sandbox: SandboxOptions,
    /// The Python to run.
    pub interpreter: Interpreter,
    /// An existing directory, mode 0700: where the code runs, and the only one it may write to. The
    /// worker empties it first.
    pub scratch: PathBuf,
    /// Name → absolute path of the Parquet file.
    pub datasets: Vec<(String, PathBuf)>,
    /// The directory where results of queries appear as Parquet files, each named after its result.
    pub results: Option<PathBuf>,
    /// Where the worker replaces a provider's container: the uploaded files, file name → absolute path.
    /// The code finds copies in its directory, which `/mnt/data` also refers to, and none of the names
    /// that the REPL predefines.
    pub container: Option<Vec<(String, PathBuf)>>,
    /// The snapshot to restore variables from; it may be missing.
    pub saved: Option<PathBuf>,
    /// Wall-clock limit of one command, after which it is interrupted.
    pub command_timeout: Duration,
    /// Time for interrupted code to end before the process is killed.
    pub grace: Duration,
    /// Bytes of text to show, both printed text and a value that is not a table.
    pub text_bytes: usize,
    /// The cluster that it may query, if any.
    pub cluster: Option<Cluster>,
}

/// A worker's connection to a cluster.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The worker's end of the relay. The caller that starts the worker must not keep a copy: the relay
    /// detects the end of the worker when the last copy is closed.
    pub relay: Arc<OwnedFd>,
    /// The datasets on the cluster, by name.
    pub datasets: Vec<(String, Dataset)>,
    /// The user whose identity the cluster sees.
    pub user: String,
}

impl WorkerOptions {
    /// Returns the options of a worker without data, with the limits of the product contract.
    pub fn new(interpreter: Interpreter, scratch: &Path, sandbox: SandboxOptions) -> Self {
        WorkerOptions {
            sandbox,
            interpreter,
            scratch: scratch.to_owned(),
            datasets: Vec::new(),
            results: None,
            container: None,
            saved: None,
            command_timeout: TOOL_TIMEOUT,
            grace: WORKER_GRACE,
            text_bytes: REPL_TEXT_BYTES_MAX,
            cluster: None,
        }
    }

    /// Resolves links, because these paths must lead to the same files in the worker's file system.
    fn resolved(mut self) -> io::Result<Self> {
        self.scratch = fs::canonicalize(&self.scratch)?;
        // The snapshot may not exist yet.
        self.saved = self.saved.and_then(|it| fs::canonicalize(it).ok());
        self.results = self.results.map(fs::canonicalize).transpose()?;
        for (_, path) in self.datasets.iter_mut().chain(self.container.iter_mut().flatten()) {
            *path = fs::canonicalize(&*path)?;
        }
        Ok(self)
    }

    /// Returns the policy for the stage.
    fn policy(&self) -> io::Result<Policy> {
        let PythonFiles { reads, links } = self.interpreter.files()?;
        // Each file individually: its directory contains datasets that this question does not use.
        let files = self.datasets.iter().chain(self.container.iter().flatten());
        let directories = self.saved.iter().chain(&self.results);
        let data: BTreeSet<_> = files.map(|(_, it)| it).chain(directories).cloned().collect();
        Ok(Policy {
            program: StagedProgram::Python {
                executable: self.interpreter.executable.clone(),
                user_base: self.interpreter.user_base.clone(),
            },
            scratch: self.scratch.clone(),
            reads,
            data: data.into_iter().collect(),
            links,
            memory_bytes: self.sandbox.memory_bytes,
            file_bytes: WORKER_FILE_BYTES_MAX,
            scratch_bytes: SCRATCH_BYTES_MAX,
            relay: self.cluster.as_ref().map(|it| it.relay.as_raw_fd()),
            without: self.sandbox.without.clone(),
        })
    }
}

/// Why there is no outcome. The caller branches on the variant; people and the model read the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerError {
    /// The process ended, or was killed: start another one and report that variables are lost.
    Gone {
        /// How it ended: `exited with status 1`.
        reason: String,
    },
    /// It sent something that its own code never sends, and was killed. Code was tampering with the
    /// pipes.
    Protocol(String),
    /// It never became ready; another start would fail the same way.
    Start(String),
    /// The snapshot could not be written. The worker and the old snapshot are unchanged.
    Unsaved(String),
}

impl std::fmt::Display for WorkerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WorkerError::Gone { reason } => write!(f, "the Python worker {reason}"),
            WorkerError::Protocol(rule) => {
                write!(f, "the Python worker was stopped: it sent {rule}")
            }
            WorkerError::Start(reason) => write!(f, "the Python worker did not start: {reason}"),
            WorkerError::Unsaved(reason) => write!(f, "the variables were not saved: {reason}"),
        }
    }
}

impl std::error::Error for WorkerError {}

/// A running Python process with the variables of the session.
#[derive(Debug)]
pub struct Worker {
    /// The monitor: watches the worker, and ends with the worker's status.
    child: Child,
    /// Delivers interrupts. `None` until the worker is ready, before any code has run in it.
    monitor: Option<Monitor>,
    /// Closing it makes `child` kill the worker.
    requests: Option<ChildStdin>,
    responses: ChildStdout,
    output: ChildStderr,
    /// Bytes of an incomplete response.
    incoming: Vec<u8>,
    printed: Printed,
    /// The request still without a response; it remains here when a caller stops waiting.
    open: Option<OpenRequest>,
    /// Why every further command fails.
    gone: Option<WorkerError>,
    scratch: PathBuf,
    memory_bytes: u64,
    text_bytes: usize,
    command_timeout: Duration,
    grace: Duration,
    versions: Versions,
    confinement: Confinement,
}

#[derive(Debug)]
struct OpenRequest {
    id: String,
    line: Vec<u8>,
    n_sent: usize,
    is_printed: bool,
}

/// The Python program and its settings.
#[derive(Serialize)]
struct Start<'a> {
    program: &'a str,
    packages: String,
    scratch: &'a Path,
    datasets: BTreeMap<&'a str, &'a Path>,
    results: Option<&'a Path>,
    container: Option<BTreeMap<&'a str, &'a Path>>,
    saved: Option<&'a Path>,
    memory_bytes: u64,
    file_bytes: u64,
    /// How many processes it may start; `None` when the kernel does not count them.
    processes: Option<u32>,
    tasks: usize,
    frames_bytes: u64,
    output_bytes: usize,
    result_bytes: usize,
    text_bytes: usize,
    line_bytes: usize,
    cluster: Option<ClusterStart<'a>>,
}

/// The worker's settings for its cluster.
#[derive(Serialize)]
struct ClusterStart<'a> {
    program: &'a str,
    reading: &'a str,
    datasets: BTreeMap<&'a str, &'a Dataset>,
    user: &'a str,
    sent_bytes: usize,
    sample_rows: u64,
    table_rows: u64,
}

impl<'a> ClusterStart<'a> {
    fn of(cluster: &'a Cluster) -> Self {
        ClusterStart {
            program: CLUSTER_PROGRAM,
            reading: CLUSTER_READING,
            datasets: cluster.datasets.iter().map(|(name, it)| (&**name, it)).collect(),
            user: &cluster.user,
            sent_bytes: CLUSTER_SENT_BYTES_MAX,
            sample_rows: CLUSTER_SAMPLE_ROWS_MAX,
            table_rows: CLUSTER_TABLE_ROWS_MAX,
        }
    }
}

fn by_name(files: &[(String, PathBuf)]) -> BTreeMap<&str, &Path> {
    files.iter().map(|(name, it)| (&**name, &**it)).collect()
}

/// Interrupts the command when the caller stops waiting for it.
struct InterruptOnDrop(Option<Monitor>);

impl Drop for InterruptOnDrop {
    fn drop(&mut self) {
        if let Some(monitor) = self.0 {
            monitor.interrupt();
        }
    }
}

impl Worker {
    /// Starts the process and waits until it has imported its packages.
    ///
    /// # Errors
    ///
    /// Fails with [`WorkerError::Start`] when Python cannot be run, cannot import the packages, or is
    /// not ready in time. An unreadable snapshot is not an error: the first outcome reports it.
    pub async fn start(options: WorkerOptions) -> Result<Worker, WorkerError> {
        let python = options.interpreter.executable.display().to_string();
        let cannot_run = |error| WorkerError::Start(format!("cannot run {python}: {error}"));
        let options = options.resolved().map_err(cannot_run)?;
        // Files from an earlier process may exceed the limit, or be a trap for this one.
        directory::empty(&options.scratch).map_err(cannot_run)?;
        let policy = options.policy().map_err(cannot_run)?;
        let relay = options.cluster.as_ref().map(|it| it.relay.clone());
        let spawned = sandbox::spawn(&options.sandbox.program, &policy, relay).await;
        let mut child = spawned.map_err(cannot_run)?;
        let (requests, Some(responses), Some(output)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            unreachable!("the command asks for three pipes");
        };
        let mut worker = Worker {
            child,
            monitor: None,
            requests,
            responses,
            output,
            incoming: Vec::new(),
            printed: Printed::default(),
            open: None,
            gone: None,
            command_timeout: options.command_timeout,
            grace: options.grace,
            versions: Versions::default(),
            confinement: Confinement::default(),
            scratch: options.scratch.clone(),
            memory_bytes: policy.memory_bytes,
            text_bytes: options.text_bytes,
        };
        let report = worker.confined().await?;
        worker.confinement = sandbox::confinement_of(&report, &policy);
        options.sandbox.check(&worker.confinement).map_err(|it| WorkerError::Start(it.message))?;
        let start = Start {
            program: PROGRAM,
            packages: options.interpreter.packages.listed(),
            scratch: &options.scratch,
            datasets: by_name(&options.datasets),
            results: options.results.as_deref(),
            container: options.container.as_deref().map(by_name),
            saved: options.saved.as_deref(),
            memory_bytes: policy.memory_bytes,
            file_bytes: policy.file_bytes,
            processes: report.counts_processes.then_some(WORKER_PROCESSES_MAX),
            tasks: WORKER_TASKS_MAX,
            frames_bytes: frames_bytes_max(policy.memory_bytes),
            output_bytes: TOOL_OUTPUT_BYTES_MAX,
            result_bytes: RESULT_BYTES_MAX,
            text_bytes: options.text_bytes,
            line_bytes: WORKER_ANSWER_BYTES_MAX,
            cluster: options.cluster.as_ref().map(ClusterStart::of),
        };
        let response = worker.exchange(&start, WORKER_START).await;
        match response.map(|it| it.ready) {
            Ok(Some(versions)) => {
                worker.monitor = worker.child.id().map(Monitor::of);
                worker.versions = versions;
            }
            Ok(None) => {
                return Err(WorkerError::Start("it did not report that it was ready".to_owned()));
            }
            Err(WorkerError::Gone { reason }) => return Err(WorkerError::Start(reason)),
            Err(error) => return Err(WorkerError::Start(error.to_string())),
        }
        Ok(worker)
    }

    /// Waits for the stage to report what it could enforce. No code runs before that.
    async fn confined(&mut self) -> Result<Report, WorkerError> {
        let failed = |reason: &str| WorkerError::Start(format!("cannot confine it: {reason}"));
        let line = timeout(WORKER_START, async {
            while !self.incoming.ends_with(b"\n") && self.incoming.len() < READ_BYTES {
                if self.responses.read_buf(&mut self.incoming).await? == 0 {
                    break;
                }
            }
            io::Result::Ok(std::mem::take(&mut self.incoming))
        });
        match line.await.map(|it| it.map(|it| serde_json::from_slice(&it))) {
            Ok(Ok(Ok(MonitorMessage::Confined(report)))) => Ok(report),
            Ok(Ok(Ok(MonitorMessage::Failed(reason)))) => Err(failed(&reason)),
            Ok(Ok(Err(_))) => Err(failed("it ended unexpectedly")),
            Ok(Err(error)) => Err(failed(&error.to_string())),
            Err(_) => Err(failed(&format!("it took more than {} s", WORKER_START.as_secs()))),
        }
    }

    /// Sends a command and waits for its outcome.
    ///
    /// At the deadline the code is interrupted: variables survive, and the outcome's status is
    /// `timeout`. Code that ignores the interrupt is killed after the grace period.
    ///
    /// Dropping the future interrupts the code. The worker remains usable: the next call first waits,
    /// at most for the grace period, until the abandoned command has ended.
    ///
    /// # Errors
    ///
    /// Fails when the process is gone or had to be killed; every later call fails as well.
    pub async fn ask(&mut self, command: Command) -> Result<Outcome, WorkerError> {
        self.settle().await?;
        let response = self.exchange(&command, self.command_timeout).await?;
        let mut outcome = match response.into_outcome(&command) {
            Ok(outcome) => outcome,
            Err(rule) => return Err(self.tampered(rule).await),
        };
        let n_result = outcome.result.to_string().len() + r#","stdout":"""#.len();
        let n_left = TOOL_OUTPUT_BYTES_MAX.saturating_sub(n_result);
        let n_left = n_left.min(self.text_bytes).max(PRINTED_JSON_BYTES_MIN);
        if let Value::Object(result) = &mut outcome.result {
            let place = result.shift_remove("stdout_place");
            let printed = self.printed.take(n_left, place.as_ref().and_then(Value::as_str));
            if !printed.is_empty() {
                // It was printed before the last value was computed.
                result.shift_insert(1.min(result.len()), "stdout".to_owned(), printed.into());
            }
        }
        Ok(outcome)
    }

    /// Writes the variables to the directory `into`, in place of the earlier snapshot.
    ///
    /// # Errors
    ///
    /// Fails as [`Worker::ask`] does, and with [`WorkerError::Unsaved`] when the files cannot be
    /// written in time.
    pub async fn save(&mut self, into: &Path) -> Result<Saved, WorkerError> {
        self.settle().await?;
        let unsaved = |error: io::Error| WorkerError::Unsaved(error.to_string());
        let request = SaveRequest::into_directory(into).map_err(unsaved)?;
        let response = self.exchange(&request, SNAPSHOT).await?;
        let result = response.into_result();
        if let Some(reason) = result["text"].as_str() {
            return Err(WorkerError::Unsaved(reason.to_owned()));
        }
        let Ok(report) = serde_json::from_value::<SaveReport>(result) else {
            return Err(self.tampered("a report of a snapshot that cannot be read").await);
        };
        adopt(report, &self.scratch, into).map_err(unsaved)
    }

    /// Returns the versions of Python and its packages.
    pub fn versions(&self) -> &Versions {
        &self.versions
    }

    /// Returns which rules the kernel enforces on the worker.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Ends the process and its children immediately.
    pub async fn stop(mut self) {
        if self.gone.is_none() {
            self.bury().await;
        }
    }

    /// Sends a request with its own id and waits for the response with that id.
    async fn exchange<T: Serialize>(
        &mut self,
        body: &T,
        time: Duration,
    ) -> Result<Response, WorkerError> {
        let id = Uuid::new_v4().simple().to_string();
        let mut line = serde_json::to_vec(&WorkerRequest { id: &id, body })
            .map_err(|error| WorkerError::Unsaved(error.to_string()))?;
        line.push(b'\n');
        self.open = Some(OpenRequest { id, line, n_sent: 0, is_printed: false });
        self.finish_open(time).await
    }

    /// Finishes the request that an earlier caller abandoned.
    async fn settle(&mut self) -> Result<(), WorkerError> {
        if let Some(error) = &self.gone {
            return Err(error.clone());
        }
        if self.open.is_some() {
            self.finish_open(Duration::ZERO).await?;
            self.printed.take(0, None);
        }
        Ok(())
    }

    /// Transfers bytes until the open request has its response, or the process is gone.
    async fn finish_open(&mut self, time: Duration) -> Result<Response, WorkerError> {
        let mut interrupt = InterruptOnDrop(self.monitor);
        let response = self.await_response(time).await;
        interrupt.0 = None;
        match response {
            Ok(response) => {
                self.open = None;
                Ok(response)
            }
            Err(NoResponse::Process(why)) => {
                let status = self.bury().await;
                let reason = why.unwrap_or_else(|| {
                    describe(status, self.printed.last_line(), self.memory_bytes)
                });
                Err(self.gone.insert(WorkerError::Gone { reason }).clone())
            }
            Err(NoResponse::Tampering(rule)) => Err(self.tampered(rule).await),
        }
    }

    async fn await_response(&mut self, time: Duration) -> Result<Response, NoResponse> {
        let Worker { child, requests, responses, output, incoming, printed, .. } = self;
        let Some(open) = &mut self.open else {
            return Err(NoResponse::Tampering("a line that was not requested"));
        };
        let Some(requests) = requests else { return Err(NoResponse::Process(None)) };
        let mark = [b"\0", open.id.as_bytes(), b"\0"].concat();
        let mut wake = Instant::now() + time;
        let mut end = None;
        let mut chunk = vec![0; READ_BYTES];
        let mut n_searched = 0;
        let line_end = loop {
            let found = incoming[n_searched..].iter().position(|&it| it == b'\n');
            match found.map(|at| at + n_searched) {
                Some(at) if open.is_printed => break at,
                Some(_) => {}
                None if WORKER_ANSWER_BYTES_MAX < incoming.len() => {
                    return Err(NoResponse::Tampering("a line over the limit"));
                }
                None => n_searched = incoming.len(),
            }
            incoming.reserve(READ_BYTES);
            // A branch that loses has moved no byte: tokio's reads and writes are cancel safe.
            select! {
                sent = requests.write(&open.line[open.n_sent..]), if open.n_sent < open.line.len() => {
                    open.n_sent += sent.map_err(|_| NoResponse::Process(None))?;
                }
                read = responses.read_buf(incoming), if found.is_none() => {
                    if matches!(read, Ok(0) | Err(_)) {
                        return Err(NoResponse::Process(None));
                    }
                }
                read = output.read(&mut chunk) => match read {
                    Ok(0) | Err(_) => return Err(NoResponse::Process(None)),
                    Ok(n_bytes) => open.is_printed |= printed.push(&chunk[..n_bytes], &mark),
                },
                _ = child.wait() => return Err(NoResponse::Process(None)),
                () = sleep_until(wake) => {
                    let now = Instant::now();
                    // Counted from the first interrupt, which is late when csv-agent was stopped
                    // meanwhile.
                    let end = *end.get_or_insert(now + self.grace);
                    if end <= now {
                        return Err(NoResponse::Process(Some(killed_at(time, self.grace))));
                    }
                    if let Some(monitor) = self.monitor {
                        monitor.interrupt();
                    }
                    wake = end.min(now + INTERRUPT_EVERY);
                }
            }
        };
        if line_end + 1 < incoming.len() {
            return Err(NoResponse::Tampering("more than one line"));
        }
        // Release the memory of a large answer.
        let line = std::mem::take(incoming);
        Response::read(&line, &open.id).map_err(NoResponse::Tampering)
    }

    /// Kills a worker whose answers can no longer be distinguished from code's output.
    async fn tampered(&mut self, rule: &str) -> WorkerError {
        self.bury().await;
        self.gone.insert(WorkerError::Protocol(rule.to_owned())).clone()
    }

    /// Makes the monitor end the worker, everything it started, and itself.
    fn kill(&mut self) {
        self.requests = None;
        self.monitor = None;
    }

    /// Kills the worker, then reaps the monitor and reads the last output.
    async fn bury(&mut self) -> Option<ExitStatus> {
        self.kill();
        let Ok(status) = timeout(BURIAL, self.child.wait()).await else {
            // The monitor hangs. Killing it kills the worker.
            self.child.kill().await.ok()?;
            return None;
        };
        let status = status.ok();
        let mut chunk = vec![0; READ_BYTES];
        // A process that the monitor missed may hold the pipe open, so this read has a timeout too.
        let drain = async {
            while let Ok(n_bytes @ 1..) = self.output.read(&mut chunk).await {
                self.printed.push(&chunk[..n_bytes], b"\0\0");
            }
        };
        let _ = timeout(INTERRUPT_EVERY, drain).await;
        self.clear();
        status
    }

    /// Removes the files that the code has written: they may include links to other files, which a
    /// program of the user may follow, and may fill the disk.
    fn clear(&self) {
        // The next worker starts by emptying it, and reports a failure.
        let _ = directory::empty(&self.scratch);
    }
}

impl Drop for Worker {
    /// Kills the process tree and waits for its end, so that no process works in a closed session.
    ///
    /// This blocks for some milliseconds, when a turn ends while Python starts or runs.
    fn drop(&mut self) {
        self.kill();
        let until = Instant::now() + BURIAL;
        // The monitor ends last.
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.clear();
    }
}

/// Why there is no response.
enum NoResponse {
    /// The process ended, for the given reason or for the one in its status.
    Process(Option<String>),
    /// It sent something that breaks this rule.
    Tampering(&'static str),
}

fn killed_at(time: Duration, grace: Duration) -> String {
    if time.is_zero() {
        return "was killed: the code did not react to the interrupt".to_owned();
    }
    let (seconds, grace) = (time.as_secs(), grace.as_secs());
    format!(
        "was killed at its deadline of {seconds} s: the code ran for {grace} s more after it was interrupted"
    )
}

/// Describes how a process ended that csv-agent did not kill.
fn describe(status: Option<ExitStatus>, last_line: Option<String>, memory_bytes: u64) -> String {
    let Some(status) = status else { return "ended".to_owned() };
    let words = last_line.map_or(String::new(), |line| {
        format!("; its last output: {}", line.chars().take(300).collect::<String>())
    });
    match (status.code(), status.signal()) {
        (Some(sandbox::STOPPED_FOR_MEMORY), _) => format!(
            "was stopped: its processes took more than {} MB of memory together",
            worker_tree_bytes_max(memory_bytes) >> 20
        ),
        (Some(sandbox::STOPPED_FOR_DISK), _) => format!(
            "was stopped: it wrote more than {} MB or more than {SCRATCH_FILES_MAX} files, or its files \
             could not be counted; they are deleted",
            SCRATCH_BYTES_MAX >> 20
        ),
        (Some(sandbox::STOPPED_FOR_TASKS), _) => {
            format!("was stopped: it had more than {WORKER_TASKS_MAX} threads and processes")
        }
        (Some(code), _) => format!("exited with status {code}{words}"),
        // Only the kernel kills it unasked, when memory runs out. It may also be our own kill of a
        // process that had closed its pipes.
        (None, Some(9)) => "was killed: memory ran out, or it closed its pipes".to_owned(),
        (None, Some(11)) => format!("crashed (segmentation fault){words}"),
        (None, Some(6)) => format!("crashed (abort){words}"),
        (None, signal) => format!("was ended by signal {}{words}", signal.unwrap_or_default()),
    }
}
