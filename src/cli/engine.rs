//! Queries that a command has the engine run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use jiff::Timestamp;
use tempfile::TempDir;

use csv_agent_ingest::rows;
use csv_agent_query::plan::Query;
use csv_agent_query::protocol::{EngineQuery, EngineRequest};
use csv_agent_query::{Prepared, TableSchema, prepare};
use csv_agent_session::Session;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::frame::Frame;
use csv_agent_types::status::{Failure, FailureKind};
use csv_agent_worker::engine::{self, EngineError, EngineOptions};
use csv_agent_worker::sandbox::Demand;

use crate::options::settings::{self, Settings};
use crate::options::{demand, sandbox_options};
use crate::signals::{self, Signals};

/// Time for all queries of a command without `--timeout`.
const TIMEOUT: Duration = Duration::from_mins(15);

/// The Parquet files of results, and the directory that they are deleted with.
pub(crate) struct Results {
    /// One a query, in order.
    pub paths: Vec<PathBuf>,
    _scratch: TempDir,
}

/// Returns the name and the Parquet file of each dataset of a session's catalog, for `command`. Fails when a
/// file is damaged or missing, or a dataset is on a cluster.
pub(crate) fn files_of(
    dir: &Path,
    catalog: &Catalog,
    command: &str,
) -> anyhow::Result<Vec<(String, PathBuf)>> {
    if let Some((_, failure)) = Session::hurt_datasets(dir, catalog)?.pop_first() {
        return Err(failure.into());
    }
    paths_of(dir, catalog, command)
}

/// Returns the same without a look at the files. Fails when a dataset is on a cluster.
pub(crate) fn paths_of(
    dir: &Path,
    catalog: &Catalog,
    command: &str,
) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let file = |(name, dataset): (&str, &Dataset)| {
        let Some(path) = dataset.path() else {
            let message =
                format!("dataset `{name}` is on a cluster, where `{command}` does not run");
            let hint = format!("ask for it: `csv-agent ask -d {name} \"…\"`");
            return Err(Failure::input(message).hint(hint).into());
        };
        Ok((name.to_owned(), dir.join(path)))
    };
    catalog.iter().map(file).collect()
}

/// Runs queries in a confined child, one after another, up to the first that fails. Fails when a query does,
/// needs more memory or time than it may, or a signal came.
pub(crate) fn run(
    queries: impl IntoIterator<Item = Query>,
    tables: Vec<(String, PathBuf)>,
    settings: &Settings,
) -> anyhow::Result<Results> {
    let (results, request, options) = begin(queries, tables, settings)?;
    until_signal(engine::run(&options, &request))?;
    Ok(results)
}

/// What became of queries that were run one after another, whatever became of each.
pub(crate) struct EachRun {
    /// Their results.
    pub results: Results,
    /// How long each took, or why it has no result. Those after a signal have none.
    pub outcomes: Vec<Result<Duration, Failure>>,
    /// The signal that came, as the failure of the command.
    pub interrupted: Option<Failure>,
}

/// Runs queries in a confined child, each whatever becomes of the others, until a signal comes.
pub(crate) fn run_each(
    queries: impl IntoIterator<Item = Query>,
    tables: Vec<(String, PathBuf)>,
    settings: &Settings,
) -> anyhow::Result<EachRun> {
    let (results, request, options) = begin(queries, tables, settings)?;
    let mut outcomes = Vec::new();
    let ended = until_signal(engine::run_each(&options, &request, &mut outcomes));
    let interrupted = match ended {
        Ok(()) => None,
        Err(error) => match error.downcast::<Failure>()? {
            failure if failure.kind == FailureKind::Sandbox => return Err(failure.into()),
            signal => Some(signal),
        },
    };
    let outcomes = outcomes.into_iter().map(|it| it.map_err(failure)).collect();
    Ok(EachRun { results, outcomes, interrupted })
}

/// Prepares statements of csv-agent itself over the datasets of a session.
pub(crate) fn prepared(statements: &[String], session: &Session) -> anyhow::Result<Vec<Prepared>> {
    let tables = session.catalog().iter().map(|(name, it)| engine::table_of(name, it));
    let tables: Vec<TableSchema> = tables.collect();
    let now = Timestamp::now().as_microsecond();
    let prepared = statements.iter().map(|it| prepare(it, &tables, now));
    prepared.map(|it| it.map_err(|error| anyhow!("{error}"))).collect()
}

/// Runs statements over the datasets of a session, for `command`. Returns the first rows of each result.
pub(crate) fn first_rows(
    statements: &[String],
    session: &Session,
    command: &str,
    settings: &Settings,
    n_rows: usize,
) -> anyhow::Result<Vec<Frame>> {
    let queries = prepared(statements, session)?.into_iter().map(|it| it.query);
    let results = run(queries, files_of(session.dir(), session.catalog(), command)?, settings)?;
    results.paths.iter().map(|it| rows(it, 0, n_rows)).collect()
}

/// Makes the request to the child, and the place for its results.
fn begin(
    queries: impl IntoIterator<Item = Query>,
    tables: Vec<(String, PathBuf)>,
    settings: &Settings,
) -> anyhow::Result<(Results, EngineRequest, EngineOptions)> {
    let scratch = tempfile::Builder::new().prefix("csv-agent-").tempdir();
    let scratch = scratch.context("cannot create a temporary directory")?;
    let output = |at: usize| scratch.path().join(format!("{at}.parquet"));
    let queries = queries.into_iter().enumerate();
    let queries = queries.map(|(at, query)| EngineQuery { query, output: output(at) });
    let request = EngineRequest { queries: queries.collect(), tables };
    let demand = match demand(settings)? {
        Demand::Everything => Demand::Everything,
        // The engine is ours, and a statement cannot name files.
        Demand::Files | Demand::Nothing => Demand::Nothing,
    };
    let options = EngineOptions {
        sandbox: sandbox_options(demand, settings)?,
        scratch: scratch.path().to_owned(),
        timeout: settings.choose(&settings::TIMEOUT)?.value.unwrap_or(TIMEOUT),
    };
    let paths = request.queries.iter().map(|it| it.output.clone()).collect();
    Ok((Results { paths, _scratch: scratch }, request, options))
}

/// Waits for the engine, unless a signal comes.
fn until_signal<T>(ended: impl Future<Output = Result<T, EngineError>>) -> anyhow::Result<T> {
    signals::runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        tokio::select! {
            ended = ended => ended.map_err(|error| failure(error).into()),
            status = signals.next() => Err(anyhow::Error::from(Failure::new(status, "interrupted"))),
        }
    })
}

fn failure(error: EngineError) -> Failure {
    match error {
        EngineError::Query(reason) => Failure::usage(reason),
        EngineError::Memory(bytes) => {
            let message = format!("the query needs more than {} MB of memory", bytes >> 20);
            let hint = "raise the limit with `--memory`, or group, filter or limit more in the \
                        query";
            Failure::limit(message).hint(hint)
        }
        EngineError::Disk => {
            let message = "the query needs more disk space than it may use";
            Failure::limit(message).hint("group, filter or limit more in the query")
        }
        EngineError::Time(time) => {
            let message = format!("the query took longer than {} s", time.as_secs_f64());
            Failure::limit(message).hint("raise the limit with `--timeout`")
        }
        EngineError::Child(reason) => Failure::sandbox(format!("the query was not run: {reason}")),
    }
}
