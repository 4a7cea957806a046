//! Tables and charts where no Python runs here: the model saves a frame as CSV in the container.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tempfile::NamedTempFile;

use csv_agent_provider::Provider;
use csv_agent_provider::error::{ProviderError, ProviderErrorKind};
use csv_agent_session::Session;
use csv_agent_tools::ToolError;
use csv_agent_types::limits::FETCHED_FILE_BYTES_MAX;
use csv_agent_worker::protocol::{Command, Outcome, OutcomeStatus};

use crate::hosted::Hosted;
use crate::hosted::files::fetching;
use crate::progress::listener;
use crate::turn::{Turn, TurnInterrupt};

/// Takes the place of a REPL for the tools that show a frame.
pub(crate) struct AtProvider<'a> {
    /// Runs the code.
    pub provider: &'a mut Provider,
    /// The container's state.
    pub hosted: &'a mut Hosted,
}

impl AtProvider<'_> {
    /// Fetches the frame that a command names.
    ///
    /// Fails when the turn ends first, or the provider cannot be queried at all. An error that the model
    /// can fix is returned to it.
    pub(crate) async fn ask(
        &mut self,
        command: Command,
        session: &Session,
        turn: &mut Turn<'_>,
    ) -> Result<Result<Outcome, ToolError>, TurnInterrupt> {
        let Command::Fetch { variable, columns, rows_max, cells_max, write } = command else {
            return Ok(Err(ToolError::new("unknown_tool", "no Python runs on this machine")));
        };
        if self.hosted.catalog.get(&variable).is_some() {
            let message = format!(
                "`{variable}` is a dataset, whose file later questions read; save the frame under a name that \
                 no dataset has, and call with that"
            );
            return Ok(Ok(failed(&ToolError::new("failed", message))));
        }
        let path = format!("/mnt/data/{variable}.csv");
        let csv = match self.fetch(&path, session, turn).await? {
            Ok(csv) => csv,
            Err(error) => return Ok(Ok(failed(&error))),
        };
        let scratch = session.scratch_dir()?;
        let file = format!("table-{}.parquet", turn.tally.n_calls);
        let parquet = scratch.join(&file);
        let shown = path.clone();
        let (_end, is_over) = CancelOnDrop::of_waiting();
        let reading = tokio::task::spawn_blocking(move || {
            let read = csv_agent_ingest::table_of_csv(
                csv.path(),
                &shown,
                &parquet,
                rows_max,
                cells_max,
                &is_over,
            );
            if !write {
                // A chart stores its own data.
                let _ = fs::remove_file(&parquet);
            }
            read
        });
        let read = turn.wait(reading).await?.map_err(anyhow::Error::from)?;
        let frame = match (read, columns) {
            (Ok(frame), Some(columns)) => frame.with_columns(&columns),
            (Ok(frame), None) => frame,
            (Err(error), _) => {
                let message = format!("`{path}` is not a valid table: {error:#}");
                return Ok(Ok(failed(&ToolError::new("failed", message))));
            }
        };
        Ok(Ok(Outcome {
            status: OutcomeStatus::Ok,
            result: json!({"kind": "text", "text": ""}),
            frame: Some(frame),
            file: write.then_some(file),
        }))
    }

    async fn fetch(
        &mut self,
        path: &str,
        session: &Session,
        turn: &mut Turn<'_>,
    ) -> Result<Result<NamedTempFile, ToolError>, TurnInterrupt> {
        let missing = |found: &str| {
            let message = format!(
                "no file `{path}` in the container: {found}; save the frame there in code_interpreter, with \
                 `to_csv(\"{path}\", index=False)`, and call again"
            );
            Ok(Err(ToolError::new("failed", message)))
        };
        let Some(container_id) = self.hosted.container_id().map(str::to_owned) else {
            return missing("no code has run there");
        };
        let mut on_progress = listener(turn);
        let listing = self.provider.container_files(&container_id, &mut on_progress);
        let listed = turn.wait_sent(listing).await?;
        let listed = match listed {
            Ok(listed) => listed,
            Err(error) => return for_model(error),
        };
        let Some(found) = listed.iter().find(|it| it.path == path) else {
            return missing("it was not saved");
        };
        turn.status(fetching(&found.path, found.bytes.unwrap_or(0)))?;
        let mut csv = temporary(&session.scratch_dir()?)?;
        let fetching = self.provider.fetch_file(
            &container_id,
            &found.id,
            csv.as_file_mut(),
            FETCHED_FILE_BYTES_MAX,
            &mut on_progress,
        );
        let fetched = turn.wait_sent(fetching).await?;
        match fetched {
            Ok(_) => {
                // It is shown as a table or a chart, and is not listed as a file too.
                self.hosted.remember(&container_id, &found.id, found.bytes.unwrap_or(0));
                Ok(Ok(csv))
            }
            Err(error) => for_model(error),
        }
    }
}

/// Signals work on another thread, when dropped, that its result is no longer needed: a runtime waits for
/// blocking work it has started.
pub(crate) struct CancelOnDrop(Arc<AtomicBool>);

impl CancelOnDrop {
    /// Returns the guard and the flag that the work checks.
    pub(crate) fn of_waiting() -> (CancelOnDrop, Arc<AtomicBool>) {
        let is_over = Arc::new(AtomicBool::new(false));
        (CancelOnDrop(Arc::clone(&is_over)), is_over)
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns the outcome of a REPL without such a frame, so that a chart of it is rejected as there.
fn failed(error: &ToolError) -> Outcome {
    let result = error.output.result.clone();
    Outcome { status: OutcomeStatus::Error, result, frame: None, file: None }
}

/// An error that the model cannot fix ends the turn.
fn for_model<T>(error: ProviderError) -> Result<Result<T, ToolError>, TurnInterrupt> {
    if matches!(error.kind, ProviderErrorKind::Mismatch | ProviderErrorKind::Unauthorized) {
        return Err(TurnInterrupt::Failed(error.into()));
    }
    let message = format!("the file could not be fetched from the container: {error}");
    Ok(Err(ToolError::new("failed", message)))
}

fn temporary(directory: &Path) -> anyhow::Result<NamedTempFile> {
    Ok(tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(directory)?)
}
