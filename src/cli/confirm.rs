//! Confirmation before something is permanently removed.

use std::io::BufRead;

use csv_agent_text::sanitize;
use csv_agent_types::status::Failure;

use super::diagnostics;
use super::options::GlobalOptions;

/// Returns whether to proceed: `--yes`, or the user's answer on the terminal.
///
/// `what` is the action: `remove …`. Fails with `FailureKind::Usage` when there is no terminal to ask on.
pub(crate) fn confirm(what: &str, yes: bool, options: &GlobalOptions) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !options.may_ask {
        let failure = Failure::usage(format!("cannot ask whether to {what}"));
        return Err(failure.hint("confirm it with `--yes`").into());
    }
    ask(what, std::io::stdin().lock())
}

/// Asks on the terminal, and returns whether the answer that `input` has means yes.
pub(crate) fn ask(what: &str, mut input: impl BufRead) -> anyhow::Result<bool> {
    diagnostics::tell(&format!("{} [y/N] ", question(what)));
    let mut answer = String::new();
    input.read_line(&mut answer)?;
    Ok(is_yes(&answer))
}

/// Returns the question before an irreversible action.
pub(crate) fn question(what: &str) -> String {
    format!("This will {}. Continue?", sanitize::one_line(what))
}

/// Returns whether an answer means yes.
pub(crate) fn is_yes(answer: &str) -> bool {
    matches!(answer.trim(), "y" | "Y" | "yes")
}
