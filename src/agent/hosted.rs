//! Code that the provider runs: what is declared of it, and what its runs tell.

use std::collections::HashSet;

use crate::agent::turn::{Closed, Ended, Turn};
use crate::conversation::{Item, ToolDeclaration};
use crate::event::{CallError, CallStatus, Status};
use crate::limits::TOOL_OUTPUT_BYTES_MAX;
use crate::provider::hosted::code_interpreter::{self, Container};
use crate::provider::hosted::{self, HostedCall, HostedTool};
use crate::tools::{TOOLS, Tool, label};

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
    pub container: Container,
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

/// What a process knows of the code that the provider ran for it.
#[derive(Debug, Default)]
pub struct Hosted {
    /// The container of the last run.
    container_id: Option<String>,
    /// Ids of runs, which events pair by.
    seen: HashSet<String>,
}

impl Hosted {
    /// Returns the conversation as a request may tell it.
    pub fn conversation(&self, interpreter: &Interpreter, items: Vec<Item>) -> Vec<Item> {
        let container_id = match interpreter.hosted().map(|it| &it.container) {
            None => None,
            Some(Container::Existing(id)) => Some(id.as_str()),
            Some(Container::Auto(_)) => self.container_id.as_deref(),
        };
        hosted::only_of_container(items, container_id)
    }

    /// Returns the declarations of a turn.
    pub fn declarations(&self, interpreter: &Interpreter) -> Vec<ToolDeclaration> {
        let hosted = interpreter.hosted();
        hosted.map(|it| code_interpreter::declaration(&it.container, &[])).into_iter().collect()
    }

    /// Tells what the provider ran for a response, as if each run were a call of ours.
    ///
    /// # Errors
    ///
    /// Fails as [`Turn::emit`] does.
    pub fn tell(
        &mut self,
        received: &[Item],
        request_id: Option<&str>,
        duration_ms: u64,
        turn: &mut Turn,
    ) -> Result<(), Ended> {
        for mut run in hosted::calls(received) {
            self.meet(&run, request_id, turn)?;
            let base = run.call.call_id.clone();
            let mut n = 2;
            while !self.seen.insert(run.call.call_id.clone()) {
                run.call.call_id = format!("{base}_{n}");
                n += 1;
            }
            turn.open_call(&run.call, turn.round, label(&run.call))?;
            turn.cells.extend(code_of(&run));
            turn.close_call(&run.call, closed(&run, duration_ms))?;
        }
        Ok(())
    }

    /// Tells of a container that was not met before.
    fn meet(
        &mut self,
        run: &HostedCall,
        request_id: Option<&str>,
        turn: &mut Turn,
    ) -> Result<(), Ended> {
        let Some(id) = run.container_id.as_ref() else { return Ok(()) };
        if self.container_id.as_ref() == Some(id) {
            return Ok(());
        }
        self.container_id = Some(id.clone());
        turn.status(Status::Container {
            message: format!("code runs in the container `{id}`"),
            container_id: id.clone(),
            memory_limit: None,
            request_id: request_id.map(str::to_owned),
        })
    }
}

/// Returns the code of a run, if it was code.
fn code_of(run: &HostedCall) -> Option<String> {
    let arguments: serde_json::Value = serde_json::from_str(&run.call.arguments).ok()?;
    arguments["code"].as_str().map(|it| it.trim_end().to_owned())
}

/// The provider had shown the model all of it; what we keep is bounded.
fn closed(run: &HostedCall, duration_ms: u64) -> Closed {
    let mut result = run.output.result.clone();
    let text = result["text"].as_str().unwrap_or_default().to_owned();
    let kept = crate::agent::round::cut_middle(&text, TOOL_OUTPUT_BYTES_MAX);
    let truncated = kept.len() < text.len();
    result["text"] = kept.clone().into();
    let error = (!run.succeeded).then(|| CallError { code: "failed".to_owned(), message: kept });
    Closed {
        status: if run.succeeded { CallStatus::Ok } else { CallStatus::Error },
        duration_ms,
        result,
        truncated,
        bytes_to_model: text.len() as u64,
        error,
    }
}
