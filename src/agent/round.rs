//! The calls of one round: planned, run, reported, answered.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use csv_agent_ingest::{Needles, ValueCounts};
use csv_agent_session::Session;
use csv_agent_text::lists::all_names;
use csv_agent_tools::{FINDS_VALUES, Plan, RUNS_SQL, Tool, ToolError, ToolJob};
use csv_agent_types::catalog::{Catalog, Dataset, Facts, Query};
use csv_agent_types::chosen::chosen;
use csv_agent_types::conversation::{Item, ToolCall};
use csv_agent_types::event::{CallError, CallStatus, Shown, Status, ToolOutput};
use csv_agent_types::limits::{
    CALLS_PER_ROUND_MAX, CLIENT_OUTPUT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX,
};
use csv_agent_types::redaction::Redaction;
use csv_agent_worker::protocol::{Command, Outcome, OutcomeStatus};

use crate::chart_thresholds;
use crate::hosted::{AtProvider, Interpreter};
use crate::loop_detection::{Repeats, Repetition};
use crate::output_filter::{self, KnownNames, OutputFilter};
use crate::prompt::thresholds::Threshold;
use crate::query::{as_comment, is_look_up, without_values};
use crate::repl::Repl;
use crate::spill;
use crate::spill::cut_middle;
use crate::tool_cache::{FROM_MEMORY, ToolCache};
use crate::turn::{CallResult, Turn, TurnInterrupt, milliseconds_since};

/// The error code of a call whose worker exited without a response.
const GONE: &str = "worker_gone";

/// The context of a round's calls.
pub(crate) struct Round<'a> {
    /// From 1.
    pub number: u32,
    /// Who makes the calls.
    pub provider: &'a str,
    /// The session they belong to.
    pub session: &'a Session,
    /// The datasets that the model may see.
    pub catalog: &'a Catalog,
    /// Where code runs, which determines the tools.
    pub interpreter: &'a Interpreter,
    /// Where code keeps its variables.
    pub code: Code<'a>,
    /// Counts of repeated calls in the turn so far.
    pub repeats: &'a mut Repeats,
    /// The turn's cache of calls.
    pub memory: &'a mut ToolCache,
    /// What the model does not see.
    pub withheld: &'a Redaction,
    /// The bounds that charts of their columns show.
    pub thresholds: &'a [Threshold],
    /// Bytes of an output that the model reads.
    pub output_bytes_max: usize,
}

/// Where the variables are.
pub(crate) enum Code<'a> {
    /// In the REPL on this machine.
    Here(&'a mut Repl),
    /// In a container at the provider.
    AtProvider(AtProvider<'a>),
}

/// Returns the bytes of an output that the model reads, ours or that of an MCP client.
pub(crate) fn output_bytes_max(is_for_a_client: bool) -> usize {
    if is_for_a_client { CLIENT_OUTPUT_BYTES_MAX } else { TOOL_OUTPUT_BYTES_MAX }
}

impl Code<'_> {
    async fn run(
        &mut self,
        job: ToolJob,
        session: &Session,
        catalog: &Catalog,
        turn: &mut Turn<'_>,
    ) -> Result<Result<Outcome, ToolError>, TurnInterrupt> {
        match (self, job) {
            (Code::Here(repl), job) => repl.run(job, session, catalog, turn).await,
            (Code::AtProvider(provider), ToolJob::Python(command)) => {
                provider.ask(command, session, turn).await
            }
            (Code::AtProvider(_), ToolJob::Query(_)) => {
                Ok(Err(ToolError::new("unknown_tool", "no query runs on this machine")))
            }
        }
    }
}

/// The results of a round's calls.
pub(crate) struct Answered {
    /// One output item per call, in call order.
    pub outputs: Vec<Item>,
    /// Whether a call was repeated so often that the turn should end.
    pub is_stuck: bool,
}

type FinishRead = Box<dyn FnOnce(Facts) -> Result<ToolOutput, ToolError> + Send>;
type FinishAsk = Box<dyn FnOnce(Outcome) -> Result<ToolOutput, ToolError> + Send>;

/// A call in progress. Reads run already; REPL calls wait their turn.
enum Running {
    Remembered(ToolOutput),
    Done(Result<ToolOutput, ToolError>),
    Reading(JoinHandle<anyhow::Result<Facts>>, FinishRead),
    Asking(ToolJob, FinishAsk),
}

impl Round<'_> {
    /// Runs the calls: all reads concurrently, all REPL calls in order. A failed call gets the reason as its
    /// output and does not stop the others. Fails when the turn ends first, or on an error that the call did
    /// not cause.
    pub(crate) async fn run(
        &mut self,
        calls: &[ToolCall],
        turn: &mut Turn<'_>,
    ) -> Result<Answered, TurnInterrupt> {
        turn.next_message();
        let message = match calls {
            [call] => format!("running `{}`", call.name),
            calls => format!("running {} tools", calls.len()),
        };
        turn.status(Status::Executing { round: self.number, message })?;
        for call in calls {
            turn.open_call(call, self.number, csv_agent_tools::label(call))?;
        }
        let started = Instant::now();
        let mut running = Vec::new();
        for (at, call) in calls.iter().enumerate() {
            running.push(self.begin(at, call, turn));
        }
        let mut answered = Answered { outputs: Vec::new(), is_stuck: false };
        for (call, running) in calls.iter().zip(running) {
            let asked = Instant::now();
            let began = if matches!(running, Running::Asking(..)) { asked } else { started };
            let is_remembered = matches!(running, Running::Remembered(_));
            let is_of_code = matches!(running, Running::Asking(..));
            turn.call_runs(call, began);
            let mut result = self.finish(running, turn).await?;
            if let Ok(output) = &mut result {
                chart_thresholds::bound(output, self.thresholds);
                if call.name == FINDS_VALUES {
                    self.note_unsearched(output);
                }
            }
            match &mut result {
                _ if is_remembered => {}
                // Reads return facts of the files, and calls that were not run get our own text.
                result if self.withheld.rows && is_of_code => {
                    self.keep_rows_back(call, result, turn).await?;
                }
                Ok(output) => self.keep_aside(call, output, turn).await?,
                Err(_) => {}
            }
            let (text, is_stuck) = self.answer(call, result, is_remembered, began, turn)?;
            answered.outputs.push(Item::output(&call.call_id, &text));
            answered.is_stuck |= is_stuck;
        }
        Ok(answered)
    }

    fn begin(&mut self, at: usize, call: &ToolCall, turn: &mut Turn) -> Running {
        if CALLS_PER_ROUND_MAX <= at {
            let message = format!(
                "not run: a response may make {CALLS_PER_ROUND_MAX} calls; send the rest later"
            );
            return Running::Done(Err(ToolError::new("too_many_calls", message)));
        }
        let remembered = self.tool(call).ok().and_then(|it| self.memory.answer(it, call));
        if let Some(output) = remembered {
            return Running::Remembered(output);
        }
        match self.plan(call) {
            Err(error) => Running::Done(Err(error)),
            Ok(Plan::Done(output)) => Running::Done(Ok(output)),
            Ok(Plan::Read(query, finish)) => Running::Reading(self.read(query), finish),
            Ok(Plan::Ask(job, finish)) => {
                if !is_look_up(self.provider, &job) {
                    turn.record.cells.extend(cell(&job));
                    if let ToolJob::Query(statement) = &job {
                        turn.record.grounds.statement(&statement.sql);
                    }
                }
                Running::Asking(job, finish)
            }
        }
    }

    fn plan(&mut self, call: &ToolCall) -> Result<Plan, ToolError> {
        let tool = self.tool(call)?;
        let plan = csv_agent_tools::plan(tool, self.catalog, call)?;
        self.memory.allow(tool)?;
        Ok(plan)
    }

    fn tool(&self, call: &ToolCall) -> Result<&'static Tool, ToolError> {
        csv_agent_tools::find(&call.name, self.interpreter.tools())
    }

    /// Keeps an output in the REPL when it is too long for the model. When that fails, the output is cut.
    async fn keep_aside(
        &mut self,
        call: &ToolCall,
        output: &mut ToolOutput,
        turn: &mut Turn<'_>,
    ) -> Result<(), TurnInterrupt> {
        if !self.interpreter.is_local() {
            return Ok(());
        }
        let Some(command) = spill::keep(&call.name, output, self.output_bytes_max) else {
            return Ok(());
        };
        let job = ToolJob::Python(command);
        let kept = self.code.run(job, self.session, self.catalog, turn).await?;
        if let Ok(Outcome { status: OutcomeStatus::Ok, result, .. }) = kept {
            output.result = spill::summary(&output.result, &result);
        }
        Ok(())
    }

    /// Says which columns a search could not compare with the value.
    fn note_unsearched(&self, output: &mut ToolOutput) {
        let wanted = output.result["name"].as_str().unwrap_or_default().to_owned();
        let searched = chosen(self.catalog, &[wanted]).unwrap_or_default();
        let columns = searched.iter().flat_map(|(dataset, it)| {
            let names = it.columns.iter().map(|it| &it.name);
            names.filter(|it| self.withheld.has(dataset, it))
        });
        let columns: BTreeSet<&String> = columns.collect();
        if !columns.is_empty() {
            let columns = all_names(columns);
            let note = format!("not searched, because their values are kept back: {columns}");
            output.result["kept_back"] = json!(note);
        }
    }

    /// Removes values that only few rows have from the result of code.
    async fn keep_rows_back(
        &self,
        call: &ToolCall,
        result: &mut Result<ToolOutput, ToolError>,
        turn: &mut Turn<'_>,
    ) -> Result<(), TurnInterrupt> {
        let output = match result {
            Err(error) if error.code == GONE => return Ok(()),
            Err(error) if call.name == RUNS_SQL => {
                without_values(error);
                return Ok(());
            }
            Err(error) => &mut error.output,
            Ok(output) => output,
        };
        let needles = output_filter::needles(&output.result);
        let path = |(_, it): (&str, &Dataset)| Some(self.session.dir().join(it.path()?));
        let seen: Vec<PathBuf> = self.catalog.iter().filter_map(path).collect();
        // Variables of earlier turns may contain values of datasets that this turn may not see.
        let unseen = self.session.sound_catalog(|it| self.catalog.get(it).is_none())?;
        let unseen: Vec<PathBuf> = unseen.iter().filter_map(path).collect();
        let counting = tokio::task::spawn_blocking(move || {
            let mut census = count(&seen, &needles)?;
            census.narrow(count(&unseen, &needles)?);
            anyhow::Ok(census)
        });
        let census = turn.wait(counting).await?.map_err(anyhow::Error::from)??;
        let known = KnownNames::of(self.catalog, &call.arguments);
        let rejected = output.shown.iter().find_map(|it| match it {
            Shown::Rejected { rejected, .. } => serde_json::to_value(rejected.code).ok(),
            Shown::Table { .. } | Shown::Chart(_) => None,
        });
        let rejected = rejected.and_then(|it| it.as_str().map(str::to_owned));
        output.result = OutputFilter { known: &known, census: &census }
            .result(&output.result, rejected.as_deref());
        Ok(())
    }

    fn read(&self, query: Query) -> JoinHandle<anyhow::Result<Facts>> {
        let session_dir = self.session.dir().to_owned();
        tokio::task::spawn_blocking(move || csv_agent_ingest::answer(&query, &session_dir))
    }

    async fn finish(
        &mut self,
        running: Running,
        turn: &mut Turn<'_>,
    ) -> Result<Result<ToolOutput, ToolError>, TurnInterrupt> {
        match running {
            Running::Remembered(output) => Ok(Ok(output)),
            Running::Done(result) => Ok(result),
            Running::Reading(reading, finish) => {
                let read = turn.wait(reading).await?;
                let facts = read.map_err(anyhow::Error::from)?;
                Ok(facts
                    .map_err(|error| ToolError::new("failed", format!("{error:#}")))
                    .and_then(finish))
            }
            Running::Asking(job, finish) => {
                let asked = self.code.run(job, self.session, self.catalog, turn).await?;
                Ok(asked.and_then(finish))
            }
        }
    }

    fn answer(
        &mut self,
        call: &ToolCall,
        result: Result<ToolOutput, ToolError>,
        is_remembered: bool,
        began: Instant,
        turn: &mut Turn,
    ) -> Result<(String, bool), TurnInterrupt> {
        let tool = self.tool(call).ok();
        let (mut status, mut code, mut output) = match result {
            Ok(output) => {
                if let Some(tool) = tool {
                    self.memory.remember(tool, call, &output);
                }
                (CallStatus::Ok, None, output)
            }
            Err(error) => (error.status, Some(error.code), error.output),
        };
        let scratch = self.session.scratch_dir()?;
        for shown in std::mem::take(&mut output.shown) {
            match turn.store(call, shown, self.session.dir(), &scratch) {
                Ok(body) => turn.show(body)?,
                // The worker's file does not match its outcome, or the disk is full: the call failed.
                Err(error) => {
                    let failed = ToolError::new("not_kept", format!("{error:#}"));
                    (status, code, output) = (failed.status, Some(failed.code), failed.output);
                }
            }
        }
        let whole = output.for_model();
        let mut text = cut_middle(&whole, self.output_bytes_max);
        let is_aside = |key| output.result.get(key).is_some();
        let truncated = text.len() < whole.len() || is_aside("data_key") || is_aside("stdout_key");
        match tool {
            _ if is_remembered => text.push_str(FROM_MEMORY),
            Some(tool) if code.is_none() => text += &self.memory.note(tool).unwrap_or_default(),
            _ => {}
        }
        let repetition = self.repeats.count(call, &whole);
        if let Repetition::Told(n) = repetition {
            let note = format!(
                "\n\n(This is call {n} with the same arguments and the same result. Use the result, \
                 or do something else.)"
            );
            text.push_str(&note);
        }
        let error = code
            .map(|code| CallError { code: code.to_owned(), message: error_text(&output.result) });
        let closed = CallResult {
            status,
            duration_ms: milliseconds_since(began),
            result: output.result,
            truncated,
            bytes_to_model: text.len() as u64,
            error,
        };
        turn.close_call(call, closed)?;
        Ok((text, repetition == Repetition::Stop))
    }
}

fn count(paths: &[PathBuf], needles: &Needles) -> anyhow::Result<ValueCounts> {
    let mut census = ValueCounts::default();
    for path in paths {
        csv_agent_ingest::add_to_census(path, needles, &mut census)
            .with_context(|| format!("cannot read {}", path.display()))?;
    }
    Ok(census)
}

fn error_text(result: &Value) -> String {
    result["text"].as_str().map_or_else(|| result.to_string(), str::to_owned)
}

/// Returns the code of a job, as written to `code.py`.
fn cell(job: &ToolJob) -> Option<String> {
    let command = match job {
        ToolJob::Python(command) => command,
        ToolJob::Query(statement) => return Some(as_comment(statement)),
    };
    match command {
        Command::Run { code } => Some(code.trim_end().to_owned()),
        Command::Load { dataset, variable, columns, n_rows } => {
            let columns = match columns {
                Some(columns) => format!(", {}", serde_json::json!(columns)),
                None => String::new(),
            };
            let head = n_rows.map_or_else(String::new, |it| format!(".head({it})"));
            Some(format!("{variable} = load({}{columns}){head}", serde_json::json!(dataset)))
        }
        Command::Fetch { .. }
        | Command::Find { .. }
        | Command::Forget { .. }
        | Command::Keep { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::cell;

    use csv_agent_tools::{Statement, ToolJob};
    use csv_agent_worker::protocol::Command;

    #[test]
    fn a_statement_is_kept_as_a_comment_whatever_ends_its_lines() {
        let statement = Statement { sql: "select 1 --\rprint(1)\nas a".into(), result_name: None };
        let text = cell(&ToolJob::Query(statement)).unwrap();
        assert!(text.split(['\n', '\r']).all(|it| it.starts_with('#')), "{text}");
    }

    #[test]
    fn a_load_is_kept_as_the_code_that_does_the_same() {
        let load = Command::Load {
            dataset: "sales".into(),
            variable: "df".into(),
            columns: Some(vec!["day".into()]),
            n_rows: Some(5),
        };
        assert_eq!(
            cell(&ToolJob::Python(load)).unwrap(),
            "df = load(\"sales\", [\"day\"]).head(5)"
        );
    }
}
