//! Studies: Python of our own that looks at what must not be trusted, in a worker, confined like the model's.

use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::Value;
use tempfile::TempDir;

use super::environment::{self, Extras, PythonOptions};
use super::protocol::{Command, Outcome, OutcomeStatus};
use super::sandbox::SandboxOptions;
use super::{Worker, WorkerOptions};
use crate::limits::STUDY_PIECES_MAX;

/// Holds the answer between the two commands.
const VARIABLE: &str = "study_answer";

/// Characters of a piece; a cell of a frame may have a few more.
const PIECE_CHARS: usize = 30_000;

/// A worker for studies. It is killed with it.
pub struct Study {
    worker: Worker,
    _scratch: TempDir,
}

impl Study {
    /// Starts the worker. `files` are what it may read, name and absolute path: `datasets` maps the names
    /// to paths there.
    ///
    /// # Errors
    ///
    /// Fails when Python cannot be had or started.
    pub async fn start(
        python: &PythonOptions,
        sandbox: &SandboxOptions,
        files: Vec<(String, PathBuf)>,
    ) -> anyhow::Result<Study> {
        let scratch = tempfile::tempdir().context("cannot make a directory to work in")?;
        let interpreter = environment::prepare(python, Extras::default(), &mut |_| {}).await?;
        let options = WorkerOptions::new(interpreter, scratch.path(), sandbox.clone());
        let worker = Worker::start(WorkerOptions { datasets: files, ..options }).await?;
        Ok(Study { worker, _scratch: scratch })
    }

    /// Runs `code`, which defines a function `study`, and returns what this function makes of `input`.
    ///
    /// # Errors
    ///
    /// Fails when the code does, the worker is gone, or the answer is too long or no JSON.
    pub async fn ask(&mut self, code: &str, input: &Value) -> anyhow::Result<Value> {
        // JSON's text is a Python literal too, once it is a JSON string itself.
        let input = Value::String(input.to_string());
        let code = format!(
            "{code}\n\nimport json\n\
             {VARIABLE} = json.dumps(study(json.loads({input})))\n\
             {VARIABLE} = pd.DataFrame({{'part': [{VARIABLE}[at:at + {PIECE_CHARS}] \
             for at in range(0, len({VARIABLE}), {PIECE_CHARS})]}});"
        );
        let Outcome { status, result, .. } = self.worker.ask(Command::Run { code }).await?;
        if status != OutcomeStatus::Ok {
            bail!("{}", result["text"].as_str().unwrap_or("the code failed"));
        }
        let fetch = Command::Fetch {
            variable: VARIABLE.to_owned(),
            columns: None,
            rows_max: STUDY_PIECES_MAX,
            cells_max: STUDY_PIECES_MAX,
            write: false,
        };
        let frame = self.worker.ask(fetch).await?.frame.context("no answer came")?;
        let text: String = frame.rows.iter().filter_map(|it| it.first()?.as_str()).collect();
        serde_json::from_str(&text).context("the answer is no JSON, or too long")
    }
}
