//! Studies: our own Python that examines untrusted data, in a worker confined like the model's.

use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::Value;
use tempfile::TempDir;

use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{STUDY_PIECES_MAX, TABLE_CELLS_MAX};

use super::environment::{self, Extras, PythonOptions};
use super::protocol::{Command, Outcome, OutcomeStatus};
use super::sandbox::SandboxOptions;
use super::{Cluster, Worker, WorkerOptions};

/// Holds the answer between the two commands.
const VARIABLE: &str = "study_answer";

/// Characters of a piece; a cell of a frame may have a few more.
const PIECE_CHARS: usize = 30_000;

/// A worker for studies. Dropping it kills the worker.
pub struct Study {
    worker: Worker,
    _scratch: TempDir,
}

impl Study {
    /// Starts the worker. `files` are what it may read, name and absolute path; `datasets` maps the
    /// names to the paths inside.
    ///
    /// # Errors
    ///
    /// Fails when Python is unavailable or cannot be started.
    pub async fn start(
        python: &PythonOptions,
        sandbox: &SandboxOptions,
        files: Vec<(String, PathBuf)>,
    ) -> anyhow::Result<Study> {
        Study::start_with(python, sandbox, files, None, &mut |_| {}).await
    }

    /// Starts the worker with a connection to a cluster: `spark` is the session there, and `load` reads
    /// the datasets of the cluster. `progress` reports what is installed when the client is missing.
    ///
    /// # Errors
    ///
    /// Fails when Python or the Spark client is unavailable or cannot be started.
    pub async fn at_cluster(
        python: &PythonOptions,
        sandbox: &SandboxOptions,
        cluster: Cluster,
        progress: &mut (dyn FnMut(&str) + Send),
    ) -> anyhow::Result<Study> {
        Study::start_with(python, sandbox, Vec::new(), Some(cluster), progress).await
    }

    async fn start_with(
        python: &PythonOptions,
        sandbox: &SandboxOptions,
        files: Vec<(String, PathBuf)>,
        cluster: Option<Cluster>,
        progress: &mut (dyn FnMut(&str) + Send),
    ) -> anyhow::Result<Study> {
        let scratch = tempfile::tempdir().context("cannot create a working directory")?;
        let extras = Extras { spark: cluster.is_some() };
        let interpreter = environment::prepare(python, extras, progress).await?;
        let options = WorkerOptions::new(interpreter, scratch.path(), sandbox.clone());
        let worker = Worker::start(WorkerOptions { datasets: files, cluster, ..options }).await?;
        Ok(Study { worker, _scratch: scratch })
    }

    /// Returns the table that an expression yields, at most `rows_max` rows.
    ///
    /// # Errors
    ///
    /// Fails when the expression fails or is not a table, or the worker is gone.
    pub async fn table(&mut self, expression: &str, rows_max: usize) -> anyhow::Result<Frame> {
        let code = format!("{VARIABLE} = {expression};");
        self.run(code).await?;
        let (cells_max, variable) = (TABLE_CELLS_MAX, VARIABLE.to_owned());
        let fetch = Command::Fetch { variable, columns: None, rows_max, cells_max, write: false };
        self.worker.ask(fetch).await?.frame.context("no table was returned")
    }

    async fn run(&mut self, code: String) -> anyhow::Result<()> {
        let Outcome { status, result, .. } = self.worker.ask(Command::Run { code }).await?;
        if status != OutcomeStatus::Ok {
            bail!("{}", result["text"].as_str().unwrap_or("the code failed"));
        }
        Ok(())
    }

    /// Runs `code`, which defines a function `study`, and returns that function's result for `input`.
    ///
    /// # Errors
    ///
    /// Fails when the code fails, the worker is gone, or the answer is too long or not JSON.
    pub async fn ask(&mut self, code: &str, input: &Value) -> anyhow::Result<Value> {
        // JSON text, encoded once more as a JSON string, is also a Python literal.
        let input = Value::String(input.to_string());
        let code = format!(
            "{code}\n\nimport json\n\
             {VARIABLE} = json.dumps(study(json.loads({input})))\n\
             {VARIABLE} = pd.DataFrame({{'part': [{VARIABLE}[at:at + {PIECE_CHARS}] \
             for at in range(0, len({VARIABLE}), {PIECE_CHARS})]}});"
        );
        self.run(code).await?;
        let fetch = Command::Fetch {
            variable: VARIABLE.to_owned(),
            columns: None,
            rows_max: STUDY_PIECES_MAX,
            cells_max: STUDY_PIECES_MAX,
            write: false,
        };
        let frame = self.worker.ask(fetch).await?.frame.context("no answer was returned")?;
        let text: String = frame.rows.iter().filter_map(|it| it.first()?.as_str()).collect();
        serde_json::from_str(&text).context("the answer is not valid JSON, or it is too long")
    }
}
