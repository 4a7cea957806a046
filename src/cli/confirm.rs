//! Asking before something is removed for good.

use std::io::BufRead;

use csv_agent_types::status::{ExitStatus, Failure};

use super::diagnostics;
use super::options::GlobalOptions;

/// Returns whether to go on: `--yes`, or the answer of whoever sits at the terminal.
///
/// `what` is what would be done: `remove …`.
///
/// # Errors
///
/// Fails with [`ExitStatus::Usage`] when there is nobody to ask.
pub(crate) fn confirm(what: &str, yes: bool, options: &GlobalOptions) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    if !options.may_ask {
        let failure = Failure::new(ExitStatus::Usage, format!("cannot ask whether to {what}"));
        return Err(failure.hint("confirm it with `--yes`").into());
    }
    diagnostics::tell(&format!("{} [y/N] ", question(what)));
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(is_yes(&answer))
}

/// Returns what is asked before something is done that cannot be undone.
pub(crate) fn question(what: &str) -> String {
    format!("This will {what}. Go on?")
}

/// Returns whether an answer agrees.
pub(crate) fn is_yes(answer: &str) -> bool {
    matches!(answer.trim(), "y" | "Y" | "yes")
}
