//! The query engine in a confined child of csv-agent.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::signal::Signal;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use csv_agent_query::TableSchema;
use csv_agent_query::plan::Type;
use csv_agent_query::protocol::{EngineRequest, EngineResponse};
use csv_agent_types::catalog::{Catalog, DType, Dataset};
use csv_agent_types::limits::{
    ENGINE_ANSWER_BYTES_MAX, ENGINE_FILE_BYTES_MAX, ENGINE_SCRATCH_BYTES_MAX, WORKER_START,
};

use crate::sandbox::{
    self, MonitorMessage, Policy, STOPPED_FOR_DISK, STOPPED_FOR_MEMORY, SandboxOptions,
    StagedProgram, confinement_of,
};

/// How queries are run.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// How the child is confined.
    pub sandbox: SandboxOptions,
    /// An existing directory, mode 0700, the only one that the child may write to.
    pub scratch: PathBuf,
    /// Wall-clock limit.
    pub timeout: Duration,
}

/// Why a query has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineError {
    /// The engine refused it, or a value did not fit.
    Query(String),
    /// It needed more than these bytes of memory.
    Memory(u64),
    /// It needed more disk than a query may use.
    Disk,
    /// It took longer than this.
    Time(Duration),
    /// The child could not be started, or ended in a way of its own.
    Child(String),
}

/// Returns the names and types that queries see of a dataset.
pub fn table_of(name: &str, dataset: &Dataset) -> TableSchema {
    let columns = dataset.columns.iter().map(|it| (it.name.clone(), type_of(it.dtype)));
    TableSchema { name: name.to_owned(), columns: columns.collect() }
}

/// Returns whether a column of a dataset has no value that would show its type.
pub fn is_empty_column(catalog: &Catalog, dataset: &str, column: &str) -> bool {
    let Some(dataset) = catalog.get(dataset) else { return false };
    let column = dataset.columns.iter().find(|it| it.name == column);
    column.is_some_and(|it| it.dtype == DType::String && it.nulls == Some(dataset.row_count))
}

fn type_of(dtype: DType) -> Type {
    match dtype {
        DType::Bool => Type::Bool,
        DType::Int64 => Type::Int,
        DType::Float64 => Type::Float,
        DType::Date => Type::Date,
        DType::Timestamp => Type::Timestamp,
        DType::TimestampUtc => Type::Instant,
        DType::Time => Type::Time,
        DType::String => Type::Text,
    }
}

/// How long a query took, or why it has no result.
pub(crate) type QueryOutcome = Result<Duration, EngineError>;

/// Runs queries up to the first that fails. Their outputs are then in the scratch directory, where the request has
/// them.
///
/// Dropping the future ends the child.
///
/// # Errors
///
/// Fails when a query does, or the child cannot be confined as required.
pub async fn run(options: &EngineOptions, request: &EngineRequest) -> Result<(), EngineError> {
    let mut outcomes = Vec::new();
    match timeout(options.timeout, exchange(options, request, &mut outcomes, true)).await {
        Ok(answered) => answered?,
        Err(_) => return Err(EngineError::Time(options.timeout)),
    }
    outcomes.into_iter().try_for_each(|it| it.map(drop))
}

/// Runs queries, each whatever became of the others, and adds their outcomes in order. A query that ends the child
/// costs the start of another for the rest. The time limit is for all of them: those that have no result by then get
/// [`EngineError::Time`].
///
/// Dropping the future ends the child. The outcomes have then those queries that were run.
///
/// # Errors
///
/// Fails when the child cannot be started, or not be confined as required.
pub async fn run_each(
    options: &EngineOptions,
    request: &EngineRequest,
    outcomes: &mut Vec<QueryOutcome>,
) -> Result<(), EngineError> {
    let all = async {
        while outcomes.len() < request.queries.len() {
            let queries = request.queries[outcomes.len()..].to_vec();
            let rest = EngineRequest { queries, tables: request.tables.clone() };
            match exchange(options, &rest, outcomes, false).await {
                Ok(()) => {}
                Err(EngineError::Child(reason)) => return Err(EngineError::Child(reason)),
                Err(error) => outcomes.push(Err(error)),
            }
        }
        Ok(())
    };
    if let Ok(ended) = timeout(options.timeout, all).await {
        ended?;
    }
    outcomes.resize(request.queries.len(), Err(EngineError::Time(options.timeout)));
    Ok(())
}

/// Has a child run queries. Adds the outcome of each, up to the first failure if that ends the exchange. Fails
/// when the child ended in a query, or could not begin.
async fn exchange(
    options: &EngineOptions,
    request: &EngineRequest,
    outcomes: &mut Vec<QueryOutcome>,
    ends_at_failure: bool,
) -> Result<(), EngineError> {
    let cannot_start = |error: io::Error| EngineError::Child(format!("cannot start: {error}"));
    // The child cannot walk through directories that it may not see, so no path has `..` or a link.
    let tables = request.tables.iter();
    let tables = tables.map(|(name, path)| Ok((name.clone(), fs::canonicalize(path)?)));
    let tables = tables.collect::<io::Result<_>>().map_err(cannot_start)?;
    let request = &EngineRequest { queries: request.queries.clone(), tables };
    let policy = policy(options, request).map_err(cannot_start)?;
    let spawned = sandbox::spawn(&options.sandbox.program, &policy, None).await;
    let mut child = spawned.map_err(cannot_start)?;
    let (Some(mut requests), Some(responses)) = (child.stdin.take(), child.stdout.take()) else {
        unreachable!("the command asks for pipes");
    };
    let mut responses = BufReader::new(responses.take(ENGINE_ANSWER_BYTES_MAX));
    let mut line = String::new();
    let confined = timeout(WORKER_START, responses.read_line(&mut line)).await;
    match confined.map(|read| read.map(|_| serde_json::from_str(&line))) {
        Ok(Ok(Ok(MonitorMessage::Confined(report)))) => {
            let confinement = confinement_of(&report, &policy);
            let checked = options.sandbox.check(&confinement);
            checked.map_err(|failure| EngineError::Child(failure.message))?;
        }
        Ok(Ok(Ok(MonitorMessage::Failed(reason)))) => {
            return Err(EngineError::Child(format!("cannot confine it: {reason}")));
        }
        _ => return Err(EngineError::Child("cannot confine it: it ended unexpectedly".to_owned())),
    }
    let text = serde_json::to_string(request).map_err(|it| cannot_start(it.into()))? + "\n";
    // A child that has died already explains itself below.
    let _ = requests.write_all(text.as_bytes()).await;
    let mut n_left = request.queries.len();
    let n_before = outcomes.len();
    while 0 < n_left {
        line.clear();
        responses.get_mut().set_limit(ENGINE_ANSWER_BYTES_MAX);
        let read = responses.read_line(&mut line).await;
        let (Ok(1..), Ok(response)) = (read, serde_json::from_str(&line)) else { break };
        let outcome = match response {
            EngineResponse::Written { micros } => Ok(Duration::from_micros(micros)),
            EngineResponse::Failed(reason) => Err(EngineError::Query(reason)),
            EngineResponse::OutOfMemory => Err(EngineError::Memory(policy.memory_bytes)),
        };
        n_left = if ends_at_failure && outcome.is_err() { 0 } else { n_left - 1 };
        outcomes.push(outcome);
    }
    if n_left == 0 {
        return Ok(());
    }
    drop(requests);
    let status = child.wait().await.map_err(cannot_start)?;
    // It has said why it ended in a query. The caller starts another for the rest.
    if status.success() && !ends_at_failure && n_before < outcomes.len() {
        return Ok(());
    }
    Err(match (status.code(), status.signal()) {
        (Some(STOPPED_FOR_MEMORY), _) => EngineError::Memory(policy.memory_bytes),
        (Some(STOPPED_FOR_DISK), _) => EngineError::Disk,
        // Rust aborts when memory cannot be allocated; the kernel kills when there is none.
        (_, Some(signal)) if [Signal::SIGABRT as i32, Signal::SIGKILL as i32].contains(&signal) => {
            EngineError::Memory(policy.memory_bytes)
        }
        (_, Some(signal)) if signal == Signal::SIGXFSZ as i32 => EngineError::Disk,
        _ => EngineError::Child(format!("it ended with {status}")),
    })
}

fn policy(options: &EngineOptions, request: &EngineRequest) -> io::Result<Policy> {
    // Each file individually: its directory has datasets that this query does not use.
    let data: BTreeSet<PathBuf> = request.tables.iter().map(|it| it.1.clone()).collect();
    Ok(Policy {
        program: StagedProgram::Engine,
        scratch: fs::canonicalize(&options.scratch)?,
        data: data.into_iter().collect(),
        memory_bytes: options.sandbox.memory_bytes,
        file_bytes: ENGINE_FILE_BYTES_MAX,
        scratch_bytes: ENGINE_SCRATCH_BYTES_MAX,
        without: options.sandbox.without.clone(),
        ..Policy::default()
    })
}
