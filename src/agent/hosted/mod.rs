//! Code that the provider runs: where, over which files, and what its runs tell.

mod container;
mod files;
mod forget;
mod table;
mod upload;

use std::collections::HashSet;
use std::time::Instant;

use serde_json::Value;

use crate::agent::Agent;
use crate::agent::answer::Answer;
use crate::agent::pairing;
use crate::agent::round::cut_middle;
use crate::agent::turn::{Closed, Ended, Turn, milliseconds_since};
use crate::catalog::Catalog;
use crate::conversation::{Item, Response, ToolDeclaration};
use crate::event::{CallError, CallStatus, CodePlace, Status};
use crate::limits::{HOSTED_CALLS_MAX, PICTURES_KEPT_BYTES_MAX, TOOL_OUTPUT_BYTES_MAX};
use crate::provider::Provider;
use crate::provider::hosted::code_interpreter::{self, ContainerChoice};
use crate::provider::hosted::{self, HostedCall, HostedTool};
use crate::session::Session;
use crate::session::hosted::{HostedState, Kept, KeptContainer};
use crate::status::StopReason;
use crate::tools::{TOOLS, Tool, label};

pub use container::is_about_hosted;
pub use forget::{delete_kept, left_there};
pub use table::{AtProvider, End, chosen};
pub use upload::PlannedUpload;

/// Where code runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interpreter {
    /// In the REPL on this machine.
    Local,
    /// At the provider only: no Python starts here.
    Hosted(HostedOptions),
    /// In either, as the model chooses.
    Both(HostedOptions),
}

/// How code runs at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedOptions {
    /// Where.
    pub container: ContainerChoice,
    /// Whether each turn begins with a run.
    pub is_forced: bool,
    /// Whether another container takes the place of one that expired; otherwise the turn fails.
    pub renews: bool,
}

impl Interpreter {
    /// Returns how code runs at the provider, if it does.
    pub fn hosted(&self) -> Option<&HostedOptions> {
        match self {
            Interpreter::Local => None,
            Interpreter::Hosted(options) | Interpreter::Both(options) => Some(options),
        }
    }

    /// Returns how events name it.
    pub fn place(&self) -> CodePlace {
        match self {
            Interpreter::Local => CodePlace::Local,
            Interpreter::Hosted(_) => CodePlace::Hosted,
            Interpreter::Both(_) => CodePlace::Both,
        }
    }

    /// Returns whether code runs on this machine.
    pub fn is_local(&self) -> bool {
        !matches!(self, Interpreter::Hosted(_))
    }

    /// Returns the hosted tools that a turn declares.
    pub fn hosted_tools(&self) -> Vec<&'static HostedTool> {
        self.hosted().map(|_| &code_interpreter::TOOL).into_iter().collect()
    }

    /// Returns the tools of ours that a turn has.
    pub fn tools(&self) -> impl Iterator<Item = &'static Tool> + Clone {
        let is_local = self.is_local();
        TOOLS.iter().filter(move |it| is_local || !it.needs_repl)
    }

    /// Returns the tool that the first response of a turn must run, if there is one.
    pub fn forced(&self) -> Option<&'static str> {
        self.hosted().filter(|it| it.is_forced).map(|_| code_interpreter::TOOL.name)
    }
}

/// What a process knows of the code that the provider ran for it, and of what the provider keeps for that.
#[derive(Debug, Default)]
pub struct Hosted {
    /// The server under whose name the session knows what it keeps; none for a cassette.
    server: Option<String>,
    kept: Kept,
    is_loaded: bool,
    /// Whether what is kept goes with the process.
    is_temporary: bool,
    /// The datasets that the turn sees, and their uploads.
    catalog: Catalog,
    in_use: Vec<InUse>,
    /// Turns of the conversation before this one.
    n_turns: usize,
    mended: Mended,
    /// Where code runs from now on, instead of where the user said: that container has expired.
    replacement: Option<ContainerChoice>,
    /// Ids of runs and of calls, which events pair by.
    seen: HashSet<String>,
    /// Containers that code of the turn ran in.
    met: Vec<String>,
}

/// The upload of a dataset that the turn sees.
#[derive(Debug, Clone)]
struct InUse {
    dataset: String,
    version: String,
    file_id: String,
}

/// What was put right in a turn, which is done once.
#[derive(Debug, Clone, Copy, Default)]
struct Mended {
    container: bool,
    uploads: bool,
}

impl Hosted {
    /// Learns what the provider keeps for the session. A replay knows nothing of it, and a recording uses
    /// nothing of it, so that the replay can do the same.
    fn load(
        &mut self,
        session: &Session,
        provider: &Provider,
        is_fresh: bool,
    ) -> anyhow::Result<()> {
        if std::mem::replace(&mut self.is_loaded, true) {
            return Ok(());
        }
        self.is_temporary = !session.is_kept();
        let Some((server, is_recorded)) = provider.keeper() else { return Ok(()) };
        self.kept = forget::nameable(HostedState::read(session.dir())?.of(server));
        self.server = Some(server.to_owned());
        if is_recorded {
            self.kept.uploads.iter_mut().for_each(|it| it.version.clear());
        }
        if is_recorded || is_fresh {
            self.kept.container = None;
        }
        Ok(())
    }

    /// Writes down what the provider keeps.
    fn save(&self, session: &Session) -> anyhow::Result<()> {
        match &self.server {
            Some(server) => HostedState::write(session.dir(), server, &self.kept),
            None => Ok(()),
        }
    }

    /// Counts on the uploads of the turn no more: the provider has lost at least one of them.
    fn give_up_uploads(&mut self) {
        for upload in &mut self.kept.uploads {
            if self.in_use.iter().any(|it| it.file_id == upload.file_id) {
                upload.expires = 0;
            }
        }
    }

    /// Returns where code runs.
    fn container<'a>(&'a self, options: &'a HostedOptions) -> &'a ContainerChoice {
        self.replacement.as_ref().unwrap_or(&options.container)
    }

    /// Returns the container that holds the variables of earlier runs.
    fn container_id(&self) -> Option<&str> {
        self.kept.container.as_ref().map(|it| it.container_id.as_str())
    }

    /// Returns the conversation as a request may tell it.
    pub fn conversation(&self, interpreter: &Interpreter, items: Vec<Item>) -> Vec<Item> {
        let container_id = interpreter.hosted().and_then(|_| self.container_id());
        hosted::only_of_container(items, container_id)
    }

    /// Returns the declarations of a request with these items.
    pub fn declarations(&self, interpreter: &Interpreter, items: &[Item]) -> Vec<ToolDeclaration> {
        let Some(options) = interpreter.hosted() else { return Vec::new() };
        let container = match (self.container(options), self.container_id()) {
            // The provider finds the container by the runs in the conversation; where these were
            // summarised, it is named.
            (ContainerChoice::Auto(_), Some(id))
                if items.iter().all(|it| it.container_id() != Some(id)) =>
            {
                &ContainerChoice::Existing(id.to_owned())
            }
            (container, _) => container,
        };
        let file_ids: Vec<String> = self.in_use.iter().map(|it| it.file_id.clone()).collect();
        vec![code_interpreter::declaration(container, &file_ids)]
    }
}

impl Agent {
    /// Returns what a turn would upload first. Its items and the declaration are then as the turn would
    /// send them, but for ids that the provider has not given yet. Nothing is sent or written.
    ///
    /// # Errors
    ///
    /// Fails when a dataset cannot be uploaded, or it cannot be read what the provider keeps.
    pub(super) fn plan_hosted(
        &mut self,
        session: &Session,
        catalog: &Catalog,
        history: &[Item],
        items: &mut Vec<Item>,
    ) -> anyhow::Result<Vec<PlannedUpload>> {
        let Some(options) = self.options.interpreter.hosted().cloned() else {
            return Ok(Vec::new());
        };
        self.hosted.load(session, &self.provider, self.options.fresh)?;
        let planned = self.plan_uploads(session, catalog)?;
        self.plan_container(&options, catalog, history, items);
        Ok(planned)
    }

    /// Tells what the provider ran for a response, as if each run were a call of ours.
    pub(super) fn tell_hosted(
        &mut self,
        session: &Session,
        response: &Response,
        asked: Instant,
        turn: &mut Turn,
    ) -> Result<(), Ended> {
        // How long each took is not told; each was a part of this.
        let duration_ms = milliseconds_since(asked);
        let runs = hosted::calls(&response.items);
        let n_runs_max = HOSTED_CALLS_MAX as usize;
        let calls: HashSet<String> =
            response.items.iter().filter_map(Item::tool_call).map(|it| it.call_id).collect();
        let n_more = runs.len().saturating_sub(n_runs_max);
        for mut run in runs.into_iter().take(n_runs_max) {
            self.meet(session, &run, response.request_id.as_deref(), turn)?;
            let base = run.call.call_id.clone();
            let mut n = 2;
            while calls.contains(&run.call.call_id)
                || !self.hosted.seen.insert(run.call.call_id.clone())
            {
                run.call.call_id = format!("{base}_{n}");
                n += 1;
            }
            turn.open_call(&run.call, turn.round, label(&run.call))?;
            turn.cells.extend(code_of(&run));
            let images = files::keep_images(session, &run.images, turn)?;
            if !images.is_empty() {
                run.output.result["files"] = serde_json::to_value(images).unwrap_or_default();
            }
            turn.close_call(&run.call, closed(&run, duration_ms))?;
        }
        if 0 < n_more {
            let message = format!(
                "the provider ran more tools within one response than the {n_runs_max} that were asked \
                 for; {n_more} are not told"
            );
            turn.status(Status::Warning { code: "runs_not_told".to_owned(), message })?;
        }
        Ok(())
    }

    /// Says when no code ran although the user forces it: not every server heeds that.
    pub(super) fn tell_unforced(
        &self,
        answer: &Answer,
        items: &[Item],
        turn: &mut Turn,
    ) -> Result<(), Ended> {
        let Some(name) = self.options.interpreter.forced() else { return Ok(()) };
        let has_run = hosted::calls(items).iter().any(|it| it.call.name == name);
        if has_run || answer.stop_reason != StopReason::Complete {
            return Ok(());
        }
        let message = format!("`{name}` is forced, and the server has answered without it");
        turn.status(Status::Warning { code: "tool_not_used".to_owned(), message })
    }

    /// Makes the items of a response fit to go back: calls of ours get ids that neither another call nor a
    /// run of the provider's has, and what runs gave is bounded.
    pub(super) fn make_fit(&mut self, sent: &[Item], received: &mut [Item]) {
        keep_short(received);
        pairing::make_call_ids_unique(sent, received, |it| self.hosted.seen.contains(it));
        let calls = received.iter().filter_map(Item::tool_call);
        self.hosted.seen.extend(calls.map(|it| it.call_id));
    }

    /// Takes down where a run was, and tells of the container once a turn.
    fn meet(
        &mut self,
        session: &Session,
        run: &HostedCall,
        request_id: Option<&str>,
        turn: &mut Turn,
    ) -> Result<(), Ended> {
        let Some(options) = self.options.interpreter.hosted() else { return Ok(()) };
        let Some(id) = run.container_id.as_ref() else { return Ok(()) };
        let hosted = &mut self.hosted;
        if hosted.container_id() != Some(id) {
            let (memory_limit, is_ours) = match hosted.container(options) {
                ContainerChoice::Auto(memory) => {
                    (Some(memory.unwrap_or_default().name().to_owned()), true)
                }
                ContainerChoice::Existing(_) => (None, false),
            };
            let in_use = hosted.in_use.iter();
            hosted.kept.container = Some(KeptContainer {
                container_id: id.clone(),
                memory_limit,
                is_ours,
                datasets: in_use.map(|it| (it.dataset.clone(), it.version.clone())).collect(),
                fetched: Vec::new(),
            });
            hosted.save(session)?;
        }
        if hosted.met.contains(id) {
            return Ok(());
        }
        hosted.met.push(id.clone());
        let memory_limit = hosted.kept.container.as_ref().and_then(|it| it.memory_limit.clone());
        let of_memory =
            memory_limit.as_ref().map_or(String::new(), |it| format!(", which has {it} of memory"));
        turn.status(Status::Container {
            message: format!("code runs in the container `{id}`{of_memory}"),
            container_id: id.clone(),
            memory_limit,
            request_id: request_id.map(str::to_owned),
        })
    }
}

/// Shortens what goes back with every request: what code printed, as an output of a call of ours is, and
/// pictures beyond what they may have together, which are files of the turn.
fn keep_short(items: &mut [Item]) {
    for item in items {
        let Some(outputs) = hosted::outputs_mut(item) else { continue };
        let mut room = PICTURES_KEPT_BYTES_MAX;
        outputs.retain(|it| {
            // The provider refuses what it does not send itself.
            let is_whole = match it["type"].as_str() {
                Some("image") => it["url"].is_string(),
                Some("logs") => it["logs"].is_string(),
                _ => it.is_object(),
            };
            if !is_whole {
                return false;
            }
            let n_bytes = it["url"].as_str().map_or(0, str::len);
            let left = room.checked_sub(n_bytes);
            room = left.unwrap_or(room);
            left.is_some()
        });
        for output in outputs {
            let long = output["logs"].as_str().filter(|it| TOOL_OUTPUT_BYTES_MAX < it.len());
            if let Some(cut) = long.map(|it| cut_middle(it, TOOL_OUTPUT_BYTES_MAX)) {
                output["logs"] = cut.into();
            }
        }
    }
}

/// Returns the code of a run, if it was code.
fn code_of(run: &HostedCall) -> Option<String> {
    let arguments: Value = serde_json::from_str(&run.call.arguments).ok()?;
    arguments["code"].as_str().map(|it| it.trim_end().to_owned())
}

/// The provider has shown the model all of it; what is told here is bounded.
fn closed(run: &HostedCall, duration_ms: u64) -> Closed {
    let mut result = run.output.result.clone();
    let (mut truncated, mut bytes_to_model) = (false, 0);
    for name in ["text", "stdout"] {
        let Some(text) = result.get(name).and_then(Value::as_str) else { continue };
        bytes_to_model += text.len() as u64;
        let kept = cut_middle(text, TOOL_OUTPUT_BYTES_MAX);
        truncated |= kept.len() < text.len();
        result[name] = kept.into();
    }
    let message = result["text"].as_str().unwrap_or_default().to_owned();
    let error = (!run.succeeded).then(|| CallError { code: "failed".to_owned(), message });
    Closed {
        status: if run.succeeded { CallStatus::Ok } else { CallStatus::Error },
        duration_ms,
        result,
        truncated,
        bytes_to_model,
        error,
    }
}
