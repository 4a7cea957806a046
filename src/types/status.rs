//! Why something failed, and how a turn ended.

use std::io::{self, ErrorKind};

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// The kinds of failure. One variant for each different reaction by the caller.
///
/// The order is by what a caller must know first, the most important last: if several things failed, the
/// greatest decides how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, VariantArray)]
pub enum FailureKind {
    /// An option or a value is wrong, the question is empty, or a confirmation is missing.
    Usage,
    /// The session is missing, locked, or damaged; the configuration is invalid.
    Setup,
    /// A file is missing, unreadable, too large, or not a table; an unknown dataset.
    Input,
    /// The verdict is a warning, and warnings were to fail.
    VerdictWarning,
    /// The verdict is bad, and bad data was to fail.
    VerdictBad,
    /// Refused, or a required part (verdict, table) is not in the answer.
    Contract,
    /// A replay does not match its cassette.
    Replay,
    /// Rounds, tokens, cost or time ran out first.
    Limit,
    /// No key for a remote endpoint, or the key was refused.
    Auth,
    /// The provider cannot be reached, fails, or sends an invalid answer.
    Provider,
    /// Python is missing, cannot start, or cannot be confined as required.
    Sandbox,
    /// A bug, unexpected I/O, a full disk.
    Internal,
    /// The reader of the output closed it during the turn.
    BrokenPipe,
    /// Ended by SIGTERM.
    Terminated,
    /// Ended by SIGINT.
    Interrupted,
}

/// Gives the exit status of a process that ends so; None is success.
pub type ExitCodes = fn(Option<FailureKind>) -> u8;

/// The name of the built-in analyst, as a provider and as a model.
pub const BUILTIN: &str = "builtin";

/// Why a turn ended with a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model had nothing left to do.
    #[default]
    Complete,
    /// The rounds ran out; the last one forbade tools.
    MaxRounds,
    /// The tokens ran out, or the answer was cut at the provider's own limit.
    MaxTokens,
    /// The money ran out.
    MaxCost,
    /// The time ran out.
    Timeout,
    /// The model refused to answer.
    Refused,
    /// The same call was repeated with the same outcome.
    Repeated,
}

impl StopReason {
    /// Returns how the turn failed by this reason alone.
    pub fn failure(self) -> Option<FailureKind> {
        match self {
            StopReason::Complete => None,
            StopReason::MaxRounds
            | StopReason::MaxTokens
            | StopReason::MaxCost
            | StopReason::Timeout
            | StopReason::Repeated => Some(FailureKind::Limit),
            StopReason::Refused => Some(FailureKind::Contract),
        }
    }

    /// Returns the remark on an answer that this provider gave before the work was done.
    pub fn told(self, provider: &str) -> Option<&'static str> {
        match self {
            StopReason::Complete => None,
            StopReason::MaxRounds => {
                Some("the round limit was reached; the answer may be incomplete (--max-rounds)")
            }
            StopReason::MaxTokens => {
                Some("the token limit was reached; the answer may be incomplete (--max-tokens)")
            }
            StopReason::MaxCost => {
                Some("the cost limit was reached; the answer may be incomplete (--max-cost)")
            }
            StopReason::Timeout => {
                Some("the time limit was reached; the answer may be incomplete (--timeout)")
            }
            StopReason::Refused if provider == BUILTIN => {
                Some("the built-in analyst did not answer; the reply says why")
            }
            StopReason::Refused => Some("the model refused to answer"),
            StopReason::Repeated => {
                Some("the model repeated one call without progress; the answer may be incomplete")
            }
        }
    }
}

/// An error with its kind and a hint.
///
/// It travels inside an `anyhow::Error`; the code that reacts to it finds it in the chain.
#[derive(Debug)]
pub struct Failure {
    /// How to react to it.
    pub kind: FailureKind,
    /// What happened: wanted, found.
    pub message: String,
    /// What to do next, if known.
    pub hint: Option<String>,
}

impl Failure {
    /// Makes an error of a kind.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Failure { kind, message: message.into(), hint: None }
    }

    /// Makes an error about a wrong option or value.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Usage, message)
    }

    /// Makes an error about a session or a configuration that cannot be used.
    pub fn setup(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Setup, message)
    }

    /// Makes an error about a missing or refused key.
    pub fn auth(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Auth, message)
    }

    /// Makes an error about data that cannot be read.
    pub fn input(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Input, message)
    }

    /// Makes an error about a limit that was reached.
    pub fn limit(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Limit, message)
    }

    /// Makes an error about Python that cannot run as required.
    pub fn sandbox(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Sandbox, message)
    }

    /// Makes an error about an answer without what was required.
    pub fn contract(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::Contract, message)
    }

    /// Adds a hint at what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Returns the hint for a disk error, wherever it occurred.
pub fn hint_of_disk(error: &anyhow::Error) -> Option<&'static str> {
    let mut kinds = error.chain().filter_map(|it| Some(it.downcast_ref::<io::Error>()?.kind()));
    // An error that names no file concerns one that is not ours, such as stdout.
    let names_file = one_line(error).contains(['`', '"']);
    if names_file && kinds.any(|it| matches!(it, ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
    {
        return Some(
            "the disk is full: free some space there, or use another with `--session-dir` or `TMPDIR`",
        );
    }
    let temporary = std::env::temp_dir();
    let is_meant = || format!("{error:#}").contains(&*temporary.to_string_lossy());
    (!temporary.is_dir() && is_meant())
        .then_some("set `TMPDIR` to an existing directory that you can write to")
}

/// Removes the numbers of system errors from a message: they say no more than the words before them.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |it| it.1))
}

/// Returns an error with its causes on one line, each path once, without the numbers of system errors.
pub fn one_line(error: &anyhow::Error) -> String {
    /// The suffix with an internal path that the temporary-file crate adds.
    const AT_PATH: &str = " at path \"";
    let text = without_numbers(&format!("{error:#}"));
    match text.split_once(AT_PATH) {
        Some((before, rest)) if before.contains('`') => {
            before.to_owned() + rest.split_once('"').map_or("", |it| it.1)
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::FailureKind::{self, Internal, Limit, Provider, VerdictBad, VerdictWarning};
    use super::{hint_of_disk, one_line};

    #[test]
    fn system_errors_have_no_numbers() {
        let error = anyhow::anyhow!("x: Is a directory (os error 21)").context("cannot open `a`");
        assert_eq!(one_line(&error), "cannot open `a`: x: Is a directory");
    }

    #[test]
    fn a_full_disk_has_a_way_out_and_its_path_once() {
        let full = io::Error::new(io::ErrorKind::StorageFull, "no space at path \"/s/.x.tmp\"");
        let error = anyhow::Error::from(full).context("cannot write `/s/x`");
        assert_eq!(one_line(&error), "cannot write `/s/x`: no space");
        assert!(hint_of_disk(&error).is_some_and(|it| it.contains("`--session-dir`")));
        assert_eq!(hint_of_disk(&anyhow::anyhow!("no")), None);
        let alone = anyhow::anyhow!("no space at path \"/s/.x.tmp\"");
        assert_eq!(one_line(&alone), "no space at path \"/s/.x.tmp\"");
    }

    #[track_caller]
    fn check(a: impl Into<Option<FailureKind>>, b: FailureKind, worst: FailureKind) {
        assert_eq!(a.into().max(Some(b)), Some(worst));
    }

    #[test]
    fn a_broken_checker_is_never_told_as_bad_data() {
        check(VerdictBad, Provider, Provider);
        check(VerdictBad, Limit, Limit);
        check(Internal, Provider, Internal);
    }

    #[test]
    fn the_worse_verdict_wins_and_anything_beats_success() {
        check(VerdictBad, VerdictWarning, VerdictBad);
        check(None, VerdictWarning, VerdictWarning);
    }
}
