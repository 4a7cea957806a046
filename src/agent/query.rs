//! Statements of the model: run by the query engine; their results last as long as the turn.
//!
//! A result has one of two homes for the tools that show it: where Python runs, it loads the file like a dataset, and
//! its own variables come first, since they are newer; otherwise the file is read here.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use csv_agent_ingest::{TOKEN, rows};
use csv_agent_query::protocol::{EngineQuery, EngineRequest};
use csv_agent_query::{Prepared, SqlError, TableSchema, prepare_with_empty_columns};
use csv_agent_session::Session;
use csv_agent_text::{fit::cut, lists::all_names};
use csv_agent_tools::{Statement, ToolError, ToolJob};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::dataset_names::short_forms;
use csv_agent_types::directory;
use csv_agent_types::event::{CallStatus, ToolOutput};
use csv_agent_types::limits::{CLIENT_RESULT_BYTES_MAX, QUERY_RESULTS_MAX, RESULT_BYTES_MAX};
use csv_agent_types::redaction::Redaction;
use csv_agent_types::status::BUILTIN;
use csv_agent_worker::engine::{self, EngineError, EngineOptions, is_empty_column, table_of};
use csv_agent_worker::protocol::{Outcome, OutcomeStatus};
use csv_agent_worker::sandbox::SandboxOptions;

use crate::turn::{Turn, TurnInterrupt};

/// Rows, columns and characters of a cell: the first combination that fits is shown, as for code.
const HEADS: [(usize, usize, usize); 8] = [
    (20, 200, 1024),
    (20, 200, 200),
    (20, 100, 80),
    (10, 60, 60),
    (5, 40, 40),
    (2, 30, 30),
    (1, 12, 30),
    (0, 8, 30),
];

/// The same for a client, whose model gets a result at once instead of a question's worth of small ones.
const HEADS_OF_CLIENT: [(usize, usize, usize); 4] =
    [(200, 200, 1024), (100, 200, 1024), (50, 200, 200), (30, 200, 200)];

/// How much of a result is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum HeadSize {
    /// As much as of a table of the REPL.
    #[default]
    Model,
    /// As much as a client takes.
    Client,
}

/// The results that a turn keeps by name.
#[derive(Debug, Default)]
pub(crate) struct QueryResults {
    kept: Vec<QueryTable>,
}

/// A dataset or a result as a statement reads it.
#[derive(Debug, Clone)]
struct QueryTable {
    schema: TableSchema,
    path: PathBuf,
    /// The columns of tokens in place of values.
    kept_back: BTreeSet<String>,
}

/// How the engine runs a statement.
pub(crate) struct QueryOptions<'a> {
    /// How it is confined.
    pub sandbox: &'a SandboxOptions,
    /// Its wall-clock limit.
    pub timeout: Duration,
    /// How much of its result is shown.
    pub head: HeadSize,
    /// Which columns have tokens in place of values.
    pub withheld: &'a Redaction,
}

impl QueryResults {
    /// Removes all results: a turn begins.
    pub(crate) fn clear(&mut self, session: &Session) -> anyhow::Result<()> {
        if !self.kept.is_empty() {
            directory::empty(&session.results_dir()?).context("cannot remove old results")?;
            self.kept.clear();
        }
        Ok(())
    }

    /// Runs a statement over the datasets of this machine and the results so far, and keeps its result if it
    /// has a name. Fails when the turn ends first, or the session's directory cannot be written.
    pub(crate) async fn run(
        &mut self,
        statement: &Statement,
        options: &QueryOptions<'_>,
        session: &Session,
        catalog: &Catalog,
        turn: &mut Turn<'_>,
    ) -> Result<Result<Outcome, ToolError>, TurnInterrupt> {
        let name = statement.result_name.as_deref();
        let there = self.tables(session, catalog, options.withheld)?;
        if let Some(name) = name
            && self.get(name).is_none()
            && QUERY_RESULTS_MAX <= self.kept.len()
        {
            let message = format!(
                "not run: a question keeps {QUERY_RESULTS_MAX} results; take the name of one that is no longer needed"
            );
            return Ok(Err(ToolError::new("too_many_results", message)));
        }
        let schemas: Vec<TableSchema> = there.iter().map(|it| it.schema.clone()).collect();
        let is_empty = |dataset: &str, column: &str| is_empty_column(catalog, dataset, column);
        let now = Timestamp::now().as_microsecond();
        let prepared = match prepare_with_empty_columns(&statement.sql, &schemas, is_empty, now) {
            Ok(prepared) => prepared,
            Err(error) => return Ok(Err(refused(&error))),
        };
        let kept_back = prepared.kept_back_use(TOKEN, |table, column| {
            there.iter().any(|it| it.schema.name == table && it.kept_back.contains(column))
        });
        if let Some(column) = kept_back.compared {
            return Ok(Err(kept_back_from(&column)));
        }
        let Prepared { query, tables } = prepared;
        let schema = query.output.iter().map(|it| (it.name.clone(), it.dtype)).collect();
        let used = there.into_iter().map(|it| (it.schema.name, it.path));
        let used = used.filter(|it| tables.contains(&it.0)).collect();
        let dir = session.results_dir()?;
        let scratch = tempfile::tempdir_in(&dir).context("cannot create a directory")?;
        let output = scratch.path().join("result.parquet");
        let queries = vec![EngineQuery { query, output: output.clone() }];
        let request = EngineRequest { queries, tables: used };
        let head = options.head;
        let options = EngineOptions {
            sandbox: options.sandbox.clone(),
            scratch: scratch.path().to_owned(),
            timeout: options.timeout,
        };
        if let Err(error) = turn.wait(engine::run(&options, &request)).await? {
            return Ok(Err(failed(&error)));
        }
        let mut result = shown(&output, head)?;
        if let Some(name) = name {
            let path = dir.join(format!("{name}.parquet"));
            fs::rename(&output, &path).context("cannot keep the result")?;
            self.kept.retain(|it| it.schema.name != name);
            self.kept.push(QueryTable {
                schema: TableSchema { name: name.to_owned(), columns: schema },
                path,
                kept_back: kept_back.output,
            });
            result["result_name"] = json!(name);
        }
        Ok(Ok(Outcome { status: OutcomeStatus::Ok, result, frame: None, file: None }))
    }

    /// Returns the datasets on this machine and the results.
    fn tables(
        &self,
        session: &Session,
        catalog: &Catalog,
        withheld: &Redaction,
    ) -> anyhow::Result<Vec<QueryTable>> {
        let hurt = Session::hurt_datasets(session.dir(), catalog)?;
        let sound = catalog.iter().filter(|it| !hurt.contains_key(it.0));
        let datasets = sound.filter_map(|(name, it)| {
            let path = session.dir().join(it.path()?);
            let names = it.columns.iter().map(|it| it.name.clone());
            let kept_back = names.filter(|it| withheld.has(name, it)).collect();
            Some(QueryTable { schema: table_of(name, it), path, kept_back })
        });
        Ok(datasets.chain(self.kept.iter().cloned()).collect())
    }

    fn get(&self, name: &str) -> Option<&QueryTable> {
        self.kept.iter().find(|it| it.schema.name == name)
    }

    /// Returns whether a result has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns a sentence with the names of the results.
    pub(crate) fn listed(&self) -> String {
        if self.kept.is_empty() {
            return "there is no result yet; make one with query_datasets".to_owned();
        }
        format!("the results are: {}", all_names(self.kept.iter().map(|it| &it.schema.name)))
    }

    /// Returns the first rows of a result, as the REPL would return those of a variable. With `write`, the file
    /// is also copied to the scratch directory. Fails when the file cannot be read or copied.
    pub(crate) fn fetch(
        &self,
        name: &str,
        columns: Option<&[String]>,
        bounds: (usize, usize),
        write: bool,
        scratch: &Path,
    ) -> anyhow::Result<Outcome> {
        let kept = self.get(name).context("there is no such result")?;
        let (rows_max, cells_max) = bounds;
        let n_columns = columns.map_or(kept.schema.columns.len(), <[String]>::len);
        let whole = rows(&kept.path, 0, rows_max.min(cells_max / n_columns.max(1)))?;
        let mut result = json!({"kind": "none"});
        let frame = match columns {
            None => whole,
            Some(columns) => {
                let mut wanted: Vec<&String> = Vec::new();
                for column in columns {
                    if !wanted.contains(&column) {
                        wanted.push(column);
                    }
                }
                let missing = wanted.extract_if(.., |it| whole.index_of(it).is_none());
                let missing: Vec<&String> = missing.collect();
                if !missing.is_empty() {
                    let there = all_names(&whole.columns);
                    let kind = if missing.len() == 1 { "column" } else { "columns" };
                    result["lacks"] = json!(format!(
                        "no {kind} {}; the columns are: {there}",
                        all_names(missing)
                    ));
                }
                whole.with_columns(&wanted)
            }
        };
        let file = write.then(|| format!("result-{name}.parquet"));
        if let Some(file) = &file {
            fs::copy(&kept.path, scratch.join(file)).context("cannot copy the result")?;
        }
        Ok(Outcome { status: OutcomeStatus::Ok, result, frame: Some(frame), file })
    }
}

/// Returns a result as the model sees it: shape, types and the first rows.
fn shown(path: &Path, head: HeadSize) -> anyhow::Result<Value> {
    let heads: Vec<_> = match head {
        HeadSize::Model => HEADS.iter().map(|it| (*it, RESULT_BYTES_MAX)).collect(),
        HeadSize::Client => {
            let wide = HEADS_OF_CLIENT.iter().map(|it| (*it, CLIENT_RESULT_BYTES_MAX));
            wide.chain(HEADS.iter().map(|it| (*it, RESULT_BYTES_MAX))).collect()
        }
    };
    let whole = rows(path, 0, heads[0].0.0)?;
    let n_columns = whole.columns.len();
    let mut result = Value::Null;
    for ((n_rows, columns, chars), bytes_max) in heads {
        let shown = n_columns.min(columns);
        let head = whole.rows.iter().take(n_rows).map(|row| {
            let cells = whole.columns.iter().zip(row).take(shown);
            let cells = cells.map(|(name, it)| (name.clone(), cut_cell(it, chars)));
            Value::Object(cells.collect())
        });
        let dtypes = whole.columns.iter().zip(&whole.dtypes).take(shown);
        let dtypes: Map<String, Value> =
            dtypes.map(|(name, it)| (name.clone(), it.as_str().into())).collect();
        result = json!({
            "kind": "dataframe", "head": head.collect::<Vec<_>>(), "columns": whole.columns[..shown],
            "row_count": whole.row_count, "dtypes": dtypes,
        });
        if shown < n_columns {
            result["column_count"] = json!(n_columns);
            result["notes"] = json!([format!("{shown} of {n_columns} columns are shown")]);
        }
        if result.to_string().len() <= bytes_max {
            break;
        }
    }
    Ok(result)
}

fn cut_cell(value: &Value, chars: usize) -> Value {
    match value {
        Value::String(text) => cut(text, chars).into(),
        other => other.clone(),
    }
}

/// The error code of a statement whose values made it fail; the text may quote one.
const FAILED: &str = "failed";

/// Replaces what may quote a value in an error of a statement; all other errors quote only names and the statement.
pub(crate) fn without_values(error: &mut ToolError) {
    if error.code == FAILED {
        let text = "the statement failed at a value, which is kept back; `try_cast` gives NULL where a value does not fit";
        error.output = ToolOutput::json(json!({"kind": "error", "text": text}));
    }
}

/// Returns what the model reads of a statement that is not run.
fn refused(error: &SqlError) -> ToolError {
    let hint = error.hint.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
    ToolError::new("bad_sql", format!("{error}{hint}"))
}

/// Returns what the model reads of a statement that compares tokens with a value.
fn kept_back_from(column: &str) -> ToolError {
    let message = format!(
        "not run: the values of `{column}` are kept back, and tokens replace them, so that no comparison with a \
         constant can be true; count, group or join by it, or test `is null`"
    );
    ToolError::new("kept_back", message)
}

/// Returns what the model reads of a statement that has no result.
fn failed(error: &EngineError) -> ToolError {
    let (status, code, text) = match error {
        EngineError::Query(reason) => (CallStatus::Error, FAILED, reason.clone()),
        EngineError::Memory(bytes) => {
            let text = format!(
                "the statement needs more than {} MB of memory; filter, group or limit more, or do it in steps",
                bytes >> 20
            );
            (CallStatus::Error, "memory", text)
        }
        EngineError::Disk => {
            let text = "the statement needs more disk than it may use; filter, group or limit more";
            (CallStatus::Error, "disk", text.to_owned())
        }
        EngineError::Time(time) => {
            let text = format!(
                "the statement took longer than {} s; filter earlier, or join on equal values",
                time.as_secs_f64()
            );
            (CallStatus::Timeout, "timeout", text)
        }
        EngineError::Child(reason) => {
            (CallStatus::Error, "not_run", format!("the statement was not run: {reason}"))
        }
    };
    let output = ToolOutput::json(json!({"kind": "error", "text": text}));
    ToolError { status, code, output }
}

/// Returns the datasets that a statement may read.
pub(crate) fn datasets_said<'a>(sql: &str, catalog: &'a Catalog) -> Vec<&'a str> {
    let lower = sql.to_lowercase();
    let short: Vec<&str> = short_forms(sql, &catalog.names()).into_iter().map(|it| it.1).collect();
    let is_said = |it: &&str| lower.contains(&it.to_lowercase()) || short.contains(it);
    catalog.names().filter(is_said).collect()
}

/// Returns whether a call only looks something up: the built-in analyst names each result that its answer is of.
pub(crate) fn is_look_up(provider: &str, job: &ToolJob) -> bool {
    provider == BUILTIN && matches!(job, ToolJob::Query(Statement { result_name: None, .. }))
}

/// Returns a statement as a comment of Python code.
pub(crate) fn as_comment(statement: &Statement) -> String {
    let Statement { sql, result_name } = statement;
    let name = result_name.as_deref().unwrap_or("a result without a name");
    // Python ends a line at a lone carriage return as well.
    let lines = sql.trim().split(['\n', '\r']).map(|it| format!("\n# {it}"));
    format!("# SQL of {name}:{}", lines.collect::<String>())
}
