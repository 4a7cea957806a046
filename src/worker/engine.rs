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
use csv_agent_types::catalog::{DType, Dataset};
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

/// Runs queries. Their outputs are then in the scratch directory, where the request has them.
///
/// Dropping the future ends the child.
///
/// # Errors
///
/// Fails when a query does, or the child cannot be confined as required.
pub async fn run(options: &EngineOptions, request: &EngineRequest) -> Result<(), EngineError> {
    match timeout(options.timeout, exchange(options, request)).await {
        Ok(answered) => answered,
        Err(_) => Err(EngineError::Time(options.timeout)),
    }
}

async fn exchange(options: &EngineOptions, request: &EngineRequest) -> Result<(), EngineError> {
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
    line.clear();
    let read = responses.read_line(&mut line).await;
    if let (Ok(1..), Ok(response)) = (read, serde_json::from_str(&line)) {
        return match response {
            EngineResponse::Written => Ok(()),
            EngineResponse::Failed(reason) => Err(EngineError::Query(reason)),
            EngineResponse::OutOfMemory => Err(EngineError::Memory(policy.memory_bytes)),
        };
    }
    drop(requests);
    let status = child.wait().await.map_err(cannot_start)?;
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
        reads: Vec::new(),
        data: data.into_iter().collect(),
        links: Vec::new(),
        memory_bytes: options.sandbox.memory_bytes,
        file_bytes: ENGINE_FILE_BYTES_MAX,
        scratch_bytes: ENGINE_SCRATCH_BYTES_MAX,
        relay: None,
        without: options.sandbox.without.clone(),
    })
}
