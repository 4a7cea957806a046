//! Reruns calls that ran in a container at the provider: on this machine, without sending anything.
//!
//! A worker stands in for each container, confined like any other. It finds the datasets as the CSV files
//! that were uploaded, and none of the REPL's variables.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::Context;
use serde_json::json;

use csv_agent_session::Session;
use csv_agent_tools::{Plan, TOOLS, ToolError, ToolJob};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::ToolCall;
use csv_agent_types::directory;
use csv_agent_types::event::{CallError, CallStatus, Status, ToolOutput};
use csv_agent_types::limits::{STAND_INS_MAX, WORKER_FILE_BYTES_MAX};
use csv_agent_types::redaction::Redaction;
use csv_agent_worker::protocol::{Command, Outcome, OutcomeStatus};

use super::RerunOptions;
use super::stored_turn::{DIRECTORY, PastCall, names_said, saved};
use crate::hosted::CancelOnDrop;
use crate::repl::{Repl, StandIn};
use crate::turn::{CallResult, Turn, TurnInterrupt, milliseconds_since};

/// The containers of a turn and of earlier turns.
pub(super) struct Containers<'a> {
    options: &'a RerunOptions,
    session: &'a Session,
    /// The files that each container has from the start.
    uploaded: Vec<(String, PathBuf)>,
    stand_ins: BTreeMap<String, (Repl, PathBuf)>,
}

impl<'a> Containers<'a> {
    /// Makes an empty set of containers.
    pub(super) fn new(options: &'a RerunOptions, session: &'a Session) -> Containers<'a> {
        Containers { options, session, uploaded: Vec::new(), stand_ins: BTreeMap::new() }
    }

    /// Writes the datasets that the code may read as CSV. Reports those that cannot be written. Fails when the
    /// turn ends first, or no directory can be made.
    pub(super) async fn upload(
        &mut self,
        code: &str,
        turn: &mut Turn<'_>,
    ) -> Result<(), TurnInterrupt> {
        let dir = self.directory("uploaded")?;
        let session = self.session;
        let catalog = session.catalog();
        for name in names_said(code, catalog) {
            let Some(dataset) = catalog.get(name) else { continue };
            let (from, to) = (dataset.file_in(session.dir())?, dir.join(saved(name)));
            self.uploaded.push((saved(name), to.clone()));
            let writing = tokio::task::spawn_blocking(move || {
                let mut file = File::create(&to)?;
                csv_agent_ingest::csv_of(&from, &mut file, WORKER_FILE_BYTES_MAX)
            });
            let written = turn.wait(writing).await?.map_err(anyhow::Error::from)?;
            if let Err(error) = written {
                self.uploaded.pop();
                let message = format!("`{name}` is left out: {error:#}");
                turn.status(Status::Warning { code: "left_out".to_owned(), message })?;
            }
        }
        Ok(())
    }

    fn directory(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.session.dir().join("containers").join(name);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        // Paths that code prints contain no symbolic links.
        Ok(fs::canonicalize(path)?)
    }

    /// Runs code in a container.
    pub(super) async fn run(
        &mut self,
        container: &str,
        command: Command,
        catalog: &Catalog,
        turn: &mut Turn<'_>,
    ) -> Result<Result<ToolOutput, ToolError>, TurnInterrupt> {
        if !self.stand_ins.contains_key(container) {
            if STAND_INS_MAX <= self.stand_ins.len() {
                let message = format!(
                    "not run: the code used more than the {STAND_INS_MAX} containers that a rerun can replace"
                );
                return Ok(Err(ToolError::new("too_many_containers", message)));
            }
            let scratch = self.directory(&format!("{}", self.stand_ins.len() + 1))?;
            let RerunOptions { python, sandbox, tool_timeout, .. } = self.options.clone();
            let stand_in = StandIn { scratch: scratch.clone(), files: self.uploaded.clone() };
            let repl = Repl::new(python, sandbox, tool_timeout, Redaction::default());
            self.stand_ins.insert(container.to_owned(), (repl.standing_in(stand_in), scratch));
        }
        let Some((repl, scratch)) = self.stand_ins.get_mut(container) else {
            return Err(anyhow::anyhow!("no worker replaces the container").into());
        };
        let asked = repl.ask(command, self.session, catalog, turn).await?;
        Ok(asked.and_then(|it| printed(it, scratch)))
    }

    /// Reruns a call, and reports it in the same form as the original. Fails when the turn ends first, or on an
    /// error that the call did not cause.
    pub(super) async fn call(
        &mut self,
        number: u32,
        container: &str,
        past: &PastCall,
        turn: &mut Turn<'_>,
    ) -> Result<(), TurnInterrupt> {
        let (call, catalog) = (&past.call, self.session.catalog());
        let message = format!("running `{}`", call.name);
        turn.status(Status::Executing { round: number, message })?;
        turn.open_call(call, number, csv_agent_tools::label(call))?;
        let began = Instant::now();
        turn.call_runs(call, began);
        let result = match past.job(catalog) {
            Some(ToolJob::Python(command @ Command::Run { .. })) => {
                self.run(container, command, catalog, turn).await?
            }
            _ => self.send(container, call, turn).await?,
        };
        let (status, code, mut output) = match result {
            Ok(output) => (CallStatus::Ok, None, output),
            Err(error) => (error.status, Some(error.code), error.output),
        };
        for shown in std::mem::take(&mut output.shown) {
            let taken = self.directory("taken")?;
            let body = turn.store(call, shown, self.session.dir(), &taken)?;
            turn.show(body)?;
        }
        let text = output.for_model();
        let error = code.map(|code| CallError { code: code.to_owned(), message: text });
        let closed = CallResult {
            status,
            duration_ms: milliseconds_since(began),
            bytes_to_model: 0,
            result: output.result,
            truncated: false,
            error,
        };
        turn.close_call(call, closed)
    }

    /// Shows a table that code saved.
    async fn send(
        &mut self,
        container: &str,
        call: &ToolCall,
        turn: &mut Turn<'_>,
    ) -> Result<Result<ToolOutput, ToolError>, TurnInterrupt> {
        let tool = csv_agent_tools::find(&call.name, TOOLS.iter());
        let plan = tool.and_then(|it| csv_agent_tools::plan(it, self.session.catalog(), call));
        let (command, finish) = match plan {
            Ok(Plan::Ask(ToolJob::Python(command), finish)) => (command, finish),
            Ok(_) => return Err(anyhow::anyhow!("`{}` sends nothing", call.name).into()),
            Err(error) => return Ok(Err(error)),
        };
        let Some((_, scratch)) = self.stand_ins.get(container) else {
            let message = "no code has saved anything in the container";
            return Ok(Err(ToolError::new("failed", message)));
        };
        let (scratch, taken) = (scratch.clone(), self.directory("taken")?);
        let (_end, is_over) = CancelOnDrop::of_waiting();
        let reading =
            tokio::task::spawn_blocking(move || table(&command, &scratch, &taken, &is_over));
        let outcome = turn.wait(reading).await?.map_err(anyhow::Error::from)?;
        let failed = |it: anyhow::Error| ToolError::new("failed", format!("{it:#}"));
        Ok(outcome.map_err(failed).and_then(finish))
    }

    /// Stops the workers and waits until they have exited.
    pub(super) async fn stop(&mut self) {
        for (repl, _) in self.stand_ins.values_mut() {
            repl.stop().await;
        }
    }
}

/// Returns what code printed, in the form of the container's output.
fn printed(outcome: Outcome, scratch: &Path) -> Result<ToolOutput, ToolError> {
    let stdout = outcome.result["stdout"].as_str().unwrap_or_default();
    let text = format!("{stdout}{}", outcome.text());
    let text = text.replace(&*scratch.to_string_lossy(), DIRECTORY);
    let kind = if outcome.status == OutcomeStatus::Ok { "text" } else { "error" };
    let result = json!({"kind": kind, "text": text});
    let outcome = csv_agent_tools::succeeded(Outcome { result, ..outcome })?;
    Ok(ToolOutput::json(outcome.result))
}

/// Reads a table that code saved in `scratch`. Writes all of it to a file in `taken`.
fn table(
    command: &Command,
    scratch: &Path,
    taken: &Path,
    is_over: &AtomicBool,
) -> anyhow::Result<Outcome> {
    const TABLE: &str = "table-1.parquet";
    let Command::Fetch { variable, columns, rows_max, cells_max, write } = command else {
        anyhow::bail!("this sends no table");
    };
    let (file, copy) = (saved(variable), taken.join("saved.csv"));
    // The code may still be writing, so this reads a copy.
    let from = directory::open_file(&scratch.join(&file))
        .with_context(|| format!("no table `{DIRECTORY}/{file}`"))?;
    io::copy(&mut from.take(WORKER_FILE_BYTES_MAX), &mut File::create(&copy)?)?;
    let shown_name = format!("{DIRECTORY}/{file}");
    let parquet = taken.join(TABLE);
    let frame = csv_agent_ingest::table_of_csv(
        &copy, &shown_name, &parquet, *rows_max, *cells_max, is_over,
    )?;
    let frame = match columns {
        Some(columns) => frame.with_columns(columns),
        None => frame,
    };
    let file = write.then(|| TABLE.to_owned());
    let result = json!({"kind": "none"});
    Ok(Outcome { status: OutcomeStatus::Ok, result, frame: Some(frame), file })
}
