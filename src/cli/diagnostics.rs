//! Diagnostics on stderr.

use std::io::Write as _;

use csv_agent_text::sanitize;
use csv_agent_types::status::one_line;

use crate::errors::hint_of;

/// Prints an error with its causes on one line, and the hint on the lines below.
pub(crate) fn error(error: &anyhow::Error, colour: bool) {
    tell(&error_text(error, colour));
}

/// Prints a warning; the command continues.
pub(crate) fn warning(message: &str, colour: bool) {
    let label = if colour { "\x1b[1;33mwarning:\x1b[0m" } else { "warning:" };
    tell(&format!("{label} {}\n", sanitize::one_line(message)));
}

/// Prints what to do next, below a message.
pub(crate) fn hint(hint: &str, colour: bool) {
    tell(&hint_text(hint, colour));
}

/// Prints warnings.
pub(crate) fn warnings(messages: impl IntoIterator<Item = String>, colour: bool) {
    messages.into_iter().for_each(|it| warning(&it, colour));
}

/// Prints how something was decided.
pub(crate) fn note(message: &str) {
    tell(&format!("note: {}\n", sanitize::one_line(message)));
}

/// Writes to stderr. A failure to write is ignored, because there is nowhere to report it.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

fn error_text(error: &anyhow::Error, colour: bool) -> String {
    let label = if colour { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    let text = format!("{label} {}\n", sanitize::one_line(&one_line(error)));
    text + &hint_text(hint_of(error).unwrap_or_default(), colour)
}

fn hint_text(hint: &str, colour: bool) -> String {
    let label = if colour { "\x1b[1;32mhint:\x1b[0m" } else { "hint:" };
    hint.lines().fold(String::new(), |told, line| {
        told + &format!("  {label} {}\n", sanitize::one_line(line))
    })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::error_text;
    use crate::errors::kind_of;
    use csv_agent_types::status::{Failure, FailureKind};

    #[test]
    fn an_error_is_one_line_with_its_causes_and_then_the_hint() {
        let failure = Failure::input("no such file\x1b[2J").hint("check the path");
        let error = anyhow::Error::from(failure).context("cannot ingest `a\nb.csv`");
        assert_eq!(
            error_text(&error, false),
            "error: cannot ingest `a b.csv`: no such file\\x1b[2J\n  hint: check the path\n"
        );
        assert_eq!(kind_of(&error), FailureKind::Input);
    }

    #[test]
    fn an_error_without_a_kind_is_ours() {
        let error = std::fs::read("/nowhere/at/all").context("cannot read").unwrap_err();
        assert_eq!(kind_of(&error), FailureKind::Internal);
    }
}
