//! The agent's handle on the worker: started while the first request is in flight, replaced when it dies.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::task::JoinHandle;

use csv_agent_cluster::{ClusterAccess, ClusterError};
use csv_agent_session::Session;
use csv_agent_tools::{ToolError, ToolJob};
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::event::{CallStatus, Status, ToolOutput};
use csv_agent_types::limits::{REPL_TEXT_BYTES_MAX, SNAPSHOT, TOOL_OUTPUT_BYTES_MAX};
use csv_agent_types::redaction::Redaction;
use csv_agent_types::status::Failure;
use csv_agent_worker::environment::{self, Extras, PythonOptions};
use csv_agent_worker::protocol::{Command, Outcome};
use csv_agent_worker::sandbox::{self, Confinement, SandboxOptions};
use csv_agent_worker::{Worker, WorkerOptions};

use crate::cluster::ClusterLink;
use crate::progress::teller;
use crate::query::{HeadSize, QueryOptions, QueryResults};
use crate::turn::{Turn, TurnInterrupt};

/// Replaces the reason that a process ended for.
const KEPT_BACK: &str =
    "it took too much memory or time, crashed or ended itself (which of these is kept back)";

/// The REPL of an agent, and the query engine, whose results it can load.
pub(crate) struct Repl {
    python: PythonOptions,
    /// Whether there is a Python to run, as far as is known.
    has_python: bool,
    results: QueryResults,
    sandbox: SandboxOptions,
    command_timeout: Duration,
    text_bytes: usize,
    head: HeadSize,
    /// Data that the saved variables must not contain.
    withheld: Redaction,
    stand_in: Option<StandIn>,
    state: WorkerState,
    is_dirty: bool,
    access: ClusterAccess,
    /// The worker's connection to the cluster. It lives only as long as the worker.
    link: Option<ClusterLink>,
}

/// The files of a REPL that stands in for a container at the provider.
#[derive(Debug, Clone)]
pub(crate) struct StandIn {
    /// The working directory of its code, in place of `/mnt/data`.
    pub scratch: PathBuf,
    /// Uploaded files: file name → absolute path.
    pub files: Vec<(String, PathBuf)>,
}

enum WorkerState {
    Idle,
    Starting(JoinHandle<anyhow::Result<Worker>>),
    Ready(Box<Worker>),
}

impl Repl {
    /// Makes a REPL that is not running yet.
    pub(crate) fn new(
        python: PythonOptions,
        sandbox: SandboxOptions,
        command_timeout: Duration,
        withheld: Redaction,
    ) -> Repl {
        Repl {
            python,
            has_python: true,
            results: QueryResults::default(),
            sandbox,
            command_timeout,
            text_bytes: REPL_TEXT_BYTES_MAX,
            head: HeadSize::Model,
            withheld,
            stand_in: None,
            state: WorkerState::Idle,
            is_dirty: false,
            access: ClusterAccess::default(),
            link: None,
        }
    }

    /// Shows as much as a client takes, and a tool output's text in full, for a program that reads it.
    #[must_use]
    pub(crate) fn for_a_client(self) -> Repl {
        Repl { head: HeadSize::Client, text_bytes: TOOL_OUTPUT_BYTES_MAX, ..self }
    }

    /// Sets the access to the cluster that holds datasets.
    #[must_use]
    pub(crate) fn asking_as(self, access: ClusterAccess) -> Repl {
        Repl { access, ..self }
    }

    /// Sets that there is no Python on this machine: only queries run.
    pub(crate) fn lacks_python(&mut self) {
        self.has_python = false;
    }

    /// Removes the results of queries: a turn begins.
    pub(crate) fn begin_turn(&mut self, session: &Session) -> anyhow::Result<()> {
        self.results.clear(session)
    }

    /// Returns whether a worker runs or is being started.
    pub(crate) fn is_running(&self) -> bool {
        !matches!(self.state, WorkerState::Idle)
    }

    /// Returns why the cluster failed, if it did since the worker was started.
    pub(crate) fn cluster_failure(&self) -> Option<&ClusterError> {
        self.link.as_ref().and_then(ClusterLink::told)
    }

    /// Makes the REPL stand in for a container, without the session's datasets and variables.
    #[must_use]
    pub(crate) fn standing_in(self, stand_in: StandIn) -> Repl {
        Repl { stand_in: Some(stand_in), ..self }
    }

    /// Tests the confinement, without a worker. Fails when it is weaker than the user requires.
    pub(crate) async fn confinement(&self) -> anyhow::Result<Confinement> {
        let tried = sandbox::try_out(&self.sandbox).await;
        let confinement = tried.unwrap_or_else(|error| sandbox::unconfined(format!("{error:#}")));
        self.sandbox.check(&confinement)?;
        Ok(confinement)
    }

    /// Starts the worker in the background, unless it runs already.
    pub(crate) fn start(
        &mut self,
        session: &Session,
        catalog: &Catalog,
        turn: &Turn,
    ) -> anyhow::Result<()> {
        if self.is_running() {
            return Ok(());
        }
        let (python, sandbox) = (self.python.clone(), self.sandbox.clone());
        let (mut datasets, mut saved, mut container) = (Vec::new(), None, None);
        let mut results = None;
        let mut cluster = None;
        let scratch = if let Some(StandIn { scratch, files }) = &self.stand_in {
            container = Some(files.clone());
            scratch.clone()
        } else {
            // A missing file would keep Python from starting.
            let hurt = Session::hurt_datasets(session.dir(), catalog)?;
            let sound = catalog.iter().filter(|it| !hurt.contains_key(it.0));
            let path = |it: &Dataset| Some(session.dir().join(it.path()?));
            let here = sound.filter_map(|(name, it)| Some((name.to_owned(), path(it)?)));
            datasets = here.collect();
            results = Some(session.results_dir()?);
            saved = session.repl_dir(&self.withheld)?.filter(|it| it.is_dir());
            (self.link, cluster) = ClusterLink::start(catalog, &self.access, turn)?.unzip();
            session.scratch_dir()?
        };
        let (command_timeout, text_bytes) = (self.command_timeout, self.text_bytes);
        let mut tell = teller(turn.progress());
        self.state = WorkerState::Starting(tokio::spawn(async move {
            let extras = Extras { spark: cluster.is_some() };
            let interpreter = environment::prepare(&python, extras, &mut tell).await?;
            let options = WorkerOptions {
                datasets,
                results,
                container,
                saved,
                command_timeout,
                text_bytes,
                cluster,
                ..WorkerOptions::new(interpreter, &scratch, sandbox)
            };
            let started = Worker::start(options).await;
            Ok(started.map_err(|it| Failure::sandbox(it.to_string()))?)
        }));
        Ok(())
    }

    /// Runs a job: a statement in the query engine, a command in the worker. What shows a result starts no
    /// worker. Fails when the worker cannot be started, or the turn ends first; the worker is then stopped.
    pub(crate) async fn run(
        &mut self,
        job: ToolJob,
        session: &Session,
        catalog: &Catalog,
        turn: &mut Turn<'_>,
    ) -> Result<Result<Outcome, ToolError>, TurnInterrupt> {
        let command = match job {
            ToolJob::Query(statement) => {
                let options = QueryOptions {
                    sandbox: &self.sandbox,
                    timeout: self.command_timeout,
                    head: self.head,
                    withheld: &self.withheld,
                };
                let ran = self.results.run(&statement, &options, session, catalog, turn).await?;
                if let (Ok(_), Some(variable), true) =
                    (&ran, statement.result_name, self.is_running())
                {
                    // Were it to die now, the variable would be gone as well.
                    let _ = self.ask(Command::Forget { variable }, session, catalog, turn).await?;
                }
                return Ok(ran);
            }
            ToolJob::Python(command) => command,
        };
        match &command {
            Command::Fetch { variable, columns, rows_max, cells_max, write }
                if !self.is_running() && self.results.has(variable) =>
            {
                let bounds = (*rows_max, *cells_max);
                let (columns, scratch) = (columns.as_deref(), session.scratch_dir()?);
                let fetched = self.results.fetch(variable, columns, bounds, *write, &scratch);
                Ok(fetched.map_err(|it| ToolError::new("failed", format!("{it:#}"))))
            }
            Command::Fetch { variable, .. } if !self.has_python => {
                let message = format!("no result `{variable}`; {}", self.results.listed());
                Ok(Err(ToolError::new("failed", message)))
            }
            _ if !self.has_python => {
                Ok(Err(ToolError::new("unknown_tool", "there is no Python on this machine")))
            }
            _ => self.ask(command, session, catalog, turn).await,
        }
    }

    /// Sends a command to the worker. If the worker dies, the call fails, and the next call starts another.
    /// Fails when the worker cannot be started, or the turn ends first; the worker is then stopped.
    pub(crate) async fn ask(
        &mut self,
        command: Command,
        session: &Session,
        catalog: &Catalog,
        turn: &mut Turn<'_>,
    ) -> Result<Result<Outcome, ToolError>, TurnInterrupt> {
        self.start(session, catalog, turn)?;
        let asked = self.exchange(command, turn).await;
        if !matches!(asked, Ok(Ok(_))) {
            // Without the worker, nothing else ends its jobs on the cluster.
            self.stop_link().await;
        }
        asked
    }

    async fn exchange(
        &mut self,
        command: Command,
        turn: &mut Turn<'_>,
    ) -> Result<Result<Outcome, ToolError>, TurnInterrupt> {
        let mut worker = match std::mem::replace(&mut self.state, WorkerState::Idle) {
            WorkerState::Ready(worker) => worker,
            WorkerState::Starting(starting) => {
                let started = turn.wait(starting).await?;
                let worker = Box::new(started.map_err(anyhow::Error::from)??);
                turn.status(described(&worker))?;
                worker
            }
            WorkerState::Idle => return Err(anyhow::anyhow!("the worker was not started").into()),
        };
        self.is_dirty = true;
        let asking = worker.ask(command);
        let asked = match &mut self.link {
            None => turn.wait(asking).await?,
            Some(link) => {
                link.open(turn)?;
                turn.wait_sent(link.hearing(asking, turn.progress())).await?
            }
        };
        match asked {
            Ok(outcome) => {
                self.state = WorkerState::Ready(worker);
                if let Some(message) = self.link.as_mut().and_then(ClusterLink::complaint) {
                    turn.status(Status::Warning { code: "cluster".to_owned(), message })?;
                }
                Ok(Ok(outcome))
            }
            Err(error) => {
                // Code chooses the process's last output and its exit status.
                let why = if self.withheld.rows { KEPT_BACK.to_owned() } else { error.to_string() };
                let text = format!(
                    "the Python process ended: {why}. The variables and files of this question are \
                     lost. Those of earlier questions are restored. Load the data again, and load less \
                     at once"
                );
                let output = ToolOutput::json(json!({"kind": "error", "text": text}));
                Ok(Err(ToolError { status: CallStatus::Killed, code: "worker_gone", output }))
            }
        }
    }

    /// Saves the variables for the next process, if any code ran since the last save. The next process reports
    /// to the model what could not be saved. Fails when nothing could be saved; the variables of the previous
    /// turn remain.
    pub(crate) async fn save(&mut self, into: &Path) -> anyhow::Result<()> {
        let WorkerState::Ready(worker) = &mut self.state else { return Ok(()) };
        if !std::mem::take(&mut self.is_dirty) {
            return Ok(());
        }
        let saved = tokio::time::timeout(SNAPSHOT, worker.save(into)).await;
        let failed = match saved {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(error)) => anyhow::Error::from(error),
            Err(_) => anyhow::anyhow!("it took more than {} s", SNAPSHOT.as_secs()),
        };
        self.state = WorkerState::Idle;
        self.stop_link().await;
        Err(failed.context("cannot keep the variables for the next question"))
    }

    /// Stops the worker and waits until it has exited.
    pub(crate) async fn stop(&mut self) {
        match std::mem::replace(&mut self.state, WorkerState::Idle) {
            WorkerState::Ready(worker) => worker.stop().await,
            WorkerState::Starting(starting) => {
                // Aborting the task drops the starting process, which kills it.
                starting.abort();
                let _ = starting.await;
            }
            WorkerState::Idle => {}
        }
        self.stop_link().await;
    }

    async fn stop_link(&mut self) {
        if let Some(link) = self.link.take() {
            link.stop().await;
        }
    }
}

fn described(worker: &Worker) -> Status {
    Status::Worker { message: worker.versions().to_string(), sandbox: worker.confinement().clone() }
}
