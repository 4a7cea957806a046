//! Where code runs, as the user chose, and the resulting tools.

use csv_agent_provider::hosted::HostedTool;
use csv_agent_provider::hosted::code_interpreter::{self, ContainerChoice};
use csv_agent_tools::{Needs, TOOLS, Tool};
use csv_agent_types::event::CodePlace;

/// Where code runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interpreter {
    /// In the REPL on this machine.
    Local,
    /// At the provider only: no Python starts here.
    Hosted(HostedOptions),
    /// In either, as the model chooses.
    Both(HostedOptions),
    /// Nowhere: there is no Python. Queries run on this machine.
    Absent,
}

/// How code runs at the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedOptions {
    /// The container.
    pub container: ContainerChoice,
    /// Whether each turn begins with a run.
    pub is_forced: bool,
    /// Whether a new container replaces an expired one; otherwise the turn fails.
    pub renews: bool,
}

impl Interpreter {
    /// Returns the options of code at the provider, if it runs there.
    pub fn hosted(&self) -> Option<&HostedOptions> {
        match self {
            Interpreter::Local | Interpreter::Absent => None,
            Interpreter::Hosted(options) | Interpreter::Both(options) => Some(options),
        }
    }

    /// Returns its name in events.
    pub fn place(&self) -> CodePlace {
        match self {
            Interpreter::Local => CodePlace::Local,
            Interpreter::Hosted(_) => CodePlace::Hosted,
            Interpreter::Both(_) => CodePlace::Both,
            Interpreter::Absent => CodePlace::None,
        }
    }

    /// Returns whether code or queries run on this machine.
    pub fn is_local(&self) -> bool {
        !matches!(self, Interpreter::Hosted(_))
    }

    /// Returns the hosted tools that a turn declares.
    pub fn hosted_tools(&self) -> Vec<&'static HostedTool> {
        self.hosted().map(|_| &code_interpreter::TOOL).into_iter().collect()
    }

    /// Returns csv-agent's own tools in a turn.
    pub fn tools(&self) -> impl Iterator<Item = &'static Tool> + Clone {
        let has = |needs| match self {
            Interpreter::Local | Interpreter::Both(_) => true,
            Interpreter::Absent => needs != Needs::Repl,
            // What queries find would not reach the container.
            Interpreter::Hosted(_) => needs == Needs::Nothing,
        };
        TOOLS.iter().filter(move |it| has(it.needs))
    }

    /// Returns the tool that the first response of a turn must run, if any.
    pub fn forced(&self) -> Option<&'static str> {
        self.hosted().filter(|it| it.is_forced).map(|_| code_interpreter::TOOL.name)
    }
}
