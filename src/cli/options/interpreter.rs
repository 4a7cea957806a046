//! Where code runs, and the options for code that the provider runs.

use csv_agent_agent::hosted::{HostedOptions, Interpreter};
use csv_agent_provider::hosted::code_interpreter::ContainerChoice;
use csv_agent_types::redaction::Redaction;
use csv_agent_types::status::Failure;

use super::settings::{CONTAINER_MEMORY, INTERPRETER, ON_EXPIRED, Settings, ValueOrigin};
use crate::flags::{InterpreterChoice, OnExpired, ToolChoiceFlag};

/// Resolves where code runs. Finds every error before any request. Fails with `FailureKind::Usage` when a flag
/// concerns containers and there is none, a container id is invalid, or an upload would include withheld
/// values.
pub(crate) fn interpreter(
    (container, tool_choice): (Option<&str>, Option<ToolChoiceFlag>),
    settings: &Settings,
    withheld: &Redaction,
) -> anyhow::Result<Interpreter> {
    let memory = settings.choose(&CONTAINER_MEMORY)?;
    let on_expired = settings.choose(&ON_EXPIRED)?;
    let choice = settings.get(&INTERPRETER)?;
    let is_forced = tool_choice == Some(ToolChoiceFlag::CodeInterpreter);
    if choice == InterpreterChoice::Local {
        let given = [
            container.map(|_| "--container"),
            is_forced.then_some("--tool-choice code_interpreter"),
            of_flag(&memory.origin),
            of_flag(&on_expired.origin),
        ];
        if let Some(flag) = given.into_iter().flatten().next() {
            let message = format!("`{flag}`: no code runs at the provider");
            let hint = "add `--interpreter hosted`, or `both`";
            return Err(Failure::usage(message).hint(hint).into());
        }
        return Ok(Interpreter::Local);
    }
    let name = if choice == InterpreterChoice::Hosted { "hosted" } else { "both" };
    if !withheld.is_nothing() {
        let what = if withheld.rows { "--no-rows" } else { "--redact" };
        let message = format!(
            "`{what}` forbids uploads, but `--interpreter {name}` uploads the complete datasets"
        );
        let hint =
            format!("leave out `{what}`, or run code on this machine with `--interpreter local`");
        return Err(Failure::usage(message).hint(hint).into());
    }
    let container = container.unwrap_or("auto");
    // Memory in a file applies to new containers, and the default requests nothing.
    let is_asked = match memory.origin {
        ValueOrigin::Flag(_) => true,
        ValueOrigin::Default => false,
        _ => container == "auto",
    };
    let memory = memory.value.filter(|_| is_asked);
    let options = HostedOptions {
        container: ContainerChoice::parse(container, memory)?,
        is_forced,
        renews: on_expired.value == Some(OnExpired::New),
    };
    Ok(match choice {
        InterpreterChoice::Both => Interpreter::Both(options),
        _ => Interpreter::Hosted(options),
    })
}

fn of_flag(origin: &ValueOrigin) -> Option<&'static str> {
    match origin {
        ValueOrigin::Flag(name) => Some(name),
        _ => None,
    }
}
