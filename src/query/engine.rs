//! The child's side: one request is read, run on polars, and written as Parquet.
//!
//! This runs in a confined process of its own. It may abort: the parent reports that as a failed query.

mod aggregates;
mod calendar;
mod casts;
mod elementwise;
mod exact_sum;
mod expressions;
mod numbers;
mod relations;
mod text;
#[cfg(test)]
mod tests;
mod time;
mod window;

use std::io::{BufRead, ErrorKind, Write, stdin, stdout};
use std::panic::set_hook;
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use polars::lazy::dsl::{Engine, FileWriteFormat, SinkDestination, SinkTarget, UnifiedSinkArgs};
use polars::polars_utils::compression::ZstdLevel;
use polars::prelude::{
    LazyFrame, ParquetCompression, ParquetWriteOptions, PlRefPath, PolarsError, PolarsResult,
};
use serde::Deserialize as _;
use serde_json::Deserializer;

use crate::protocol::{EngineQuery, EngineRequest, EngineResponse};

use relations::TableFiles;

/// Level of zstd: as for datasets.
const ZSTD_LEVEL: i32 = 1;
/// Bytes of the stack of the thread that runs a query.
const STACK_BYTES: usize = 256 * 1024 * 1024;
/// Rows of a row group of the output.
const GROUP_ROWS: usize = 256 * 1024;

/// Bytes of the columns that several queries have in memory: a quarter of the least memory that a child may use.
const KEPT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Answers the one request on stdin on stdout. Returns the exit status of the process.
pub fn serve() -> i32 {
    // The response has the message.
    set_hook(Box::new(|_| {}));
    // Plans are nested, and polars descends into them.
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(|| match read_request() {
        Ok(request) => answer(&request),
        Err(error) => tell(&EngineResponse::Failed(format!("cannot read the query: {error}"))),
    });
    let told = match thread.map(JoinHandle::join) {
        Ok(Ok(told)) => told,
        // It ended in the query that has no line yet.
        Ok(Err(panic)) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let reason = format!("the engine failed: {}", text.unwrap_or("no reason"));
            tell(&EngineResponse::Failed(reason))
        }
        Err(error) => tell(&EngineResponse::Failed(format!("cannot start: {error}"))),
    };
    // The parent is gone when it cannot be written.
    i32::from(told.is_err())
}

fn tell(response: &EngineResponse) -> std::io::Result<()> {
    writeln!(stdout(), "{}", serde_json::to_string(response)?)
}

fn read_request() -> std::io::Result<EngineRequest> {
    let mut line = Vec::new();
    stdin().lock().read_until(b'\n', &mut line)?;
    let mut reader = Deserializer::from_slice(&line);
    // The binder bounds the levels of a plan.
    reader.disable_recursion_limit();
    Ok(EngineRequest::deserialize(&mut reader)?)
}

/// Runs the queries, and says what became of each.
fn answer(request: &EngineRequest) -> std::io::Result<()> {
    let tables = TableFiles::new(&request.tables, &request.queries, KEPT_BYTES_MAX);
    request.queries.iter().try_for_each(|it| {
        let begun = Instant::now();
        tell(&match run_one(it, &tables) {
            Ok(()) => EngineResponse::Written {
                micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
            },
            Err(error) if is_out_of_memory(&error) => EngineResponse::OutOfMemory,
            Err(error) => EngineResponse::Failed(reason(&error)),
        })
    })
}

/// Returns whether the system refused memory. Where Rust itself asks for it, the process ends instead.
fn is_out_of_memory(error: &PolarsError) -> bool {
    match error {
        PolarsError::IO { error, .. } => error.kind() == ErrorKind::OutOfMemory,
        PolarsError::Context { error, .. } | PolarsError::ExprContext { error, .. } => {
            is_out_of_memory(error)
        }
        _ => false,
    }
}

/// Returns the text of an error, without the plan that polars appends.
fn reason(error: &PolarsError) -> String {
    let text = error.to_string();
    let end = text.find("\n\nResolved plan until failure").unwrap_or(text.len());
    text[..end].trim().to_owned()
}

/// Runs the queries and writes their outputs.
///
/// # Errors
///
/// Fails when polars does, or a value does not fit the type of its result.
pub fn run(request: &EngineRequest) -> PolarsResult<()> {
    let tables = TableFiles::new(&request.tables, &request.queries, KEPT_BYTES_MAX);
    request.queries.iter().try_for_each(|it| run_one(it, &tables))
}

fn run_one(query: &EngineQuery, tables: &TableFiles) -> PolarsResult<()> {
    write(tables.result(&query.query)?, &query.output)
}

fn write(frame: LazyFrame, output: &Path) -> PolarsResult<()> {
    let options = ParquetWriteOptions {
        compression: ParquetCompression::Zstd(Some(ZstdLevel::try_new(ZSTD_LEVEL)?)),
        row_group_size: Some(GROUP_ROWS),
        ..ParquetWriteOptions::default()
    };
    let target = SinkTarget::Path(PlRefPath::try_from_path(output)?);
    let format = FileWriteFormat::Parquet(options.into());
    let sink = frame.sink(SinkDestination::File { target }, format, UnifiedSinkArgs::default())?;
    sink.collect_with_engine(Engine::Streaming)?;
    Ok(())
}
