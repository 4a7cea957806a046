//! Exit statuses: how a turn ends is how the process ends.

use std::io::{self, ErrorKind};

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// The exit status of the process. One variant for each different reaction by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray)]
pub enum ExitStatus {
    /// Answered, or the gate passed.
    Ok,
    /// A bug, unexpected I/O, a full disk.
    Internal,
    /// A wrong flag or value, an empty question, a missing `--yes`.
    Usage,
    /// The session is missing, locked, or damaged; the configuration is invalid.
    Setup,
    /// No key for a remote endpoint, or the key was refused.
    Auth,
    /// A file is missing, unreadable, too large, or not a table; an unknown dataset.
    Input,
    /// The provider cannot be reached, fails, or sends an invalid answer.
    Provider,
    /// Rounds, tokens, cost or time ran out first.
    Limit,
    /// Python is missing, cannot start, or cannot be confined as required.
    Sandbox,
    /// Refused, or a required part (verdict, table) is not in the answer.
    Contract,
    /// The verdict is a warning, and `--fail-on warning` was given.
    VerdictWarning,
    /// The verdict is bad, and `--fail-on` was given.
    VerdictBad,
    /// A replay does not match its cassette.
    Replay,
    /// Ended by SIGINT.
    Interrupted,
    /// The reader of stdout closed it during the turn.
    BrokenPipe,
    /// Ended by SIGTERM.
    Terminated,
}

impl ExitStatus {
    /// Returns the number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            ExitStatus::Ok => 0,
            ExitStatus::Internal => 1,
            ExitStatus::Usage => 2,
            ExitStatus::Setup => 3,
            ExitStatus::Auth => 4,
            ExitStatus::Input => 5,
            ExitStatus::Provider => 6,
            ExitStatus::Limit => 7,
            ExitStatus::Sandbox => 8,
            ExitStatus::Contract => 9,
            ExitStatus::VerdictWarning => 10,
            ExitStatus::VerdictBad => 11,
            ExitStatus::Replay => 12,
            ExitStatus::Interrupted => 130,
            ExitStatus::BrokenPipe => 141,
            ExitStatus::Terminated => 143,
        }
    }

    /// Returns the status to exit with when both apply.
    ///
    /// The order is by what a caller must know first: signal > 1 > 8 > 6 > 4 > 7 > 12 > 9 > 11 > 10, then
    /// errors that stop a command before a turn: 5 > 3 > 2.
    #[must_use]
    pub fn worst(self, other: ExitStatus) -> ExitStatus {
        if self.rank() <= other.rank() { self } else { other }
    }

    fn rank(self) -> u8 {
        match self {
            ExitStatus::Interrupted | ExitStatus::Terminated | ExitStatus::BrokenPipe => 0,
            ExitStatus::Internal => 1,
            ExitStatus::Sandbox => 2,
            ExitStatus::Provider => 3,
            ExitStatus::Auth => 4,
            ExitStatus::Limit => 5,
            ExitStatus::Replay => 6,
            ExitStatus::Contract => 7,
            ExitStatus::VerdictBad => 8,
            ExitStatus::VerdictWarning => 9,
            ExitStatus::Input => 10,
            ExitStatus::Setup => 11,
            ExitStatus::Usage => 12,
            ExitStatus::Ok => 13,
        }
    }
}

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
    /// Returns the exit status for this reason alone.
    pub fn exit_status(self) -> ExitStatus {
        match self {
            StopReason::Complete => ExitStatus::Ok,
            StopReason::MaxRounds
            | StopReason::MaxTokens
            | StopReason::MaxCost
            | StopReason::Timeout
            | StopReason::Repeated => ExitStatus::Limit,
            StopReason::Refused => ExitStatus::Contract,
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

/// An error with an exit status and a hint.
///
/// It travels inside an `anyhow::Error`; the code that ends the process finds it in the chain.
#[derive(Debug)]
pub struct Failure {
    /// The status to exit with.
    pub status: ExitStatus,
    /// What happened: wanted, found.
    pub message: String,
    /// What to do next, if known.
    pub hint: Option<String>,
}

impl Failure {
    /// Makes an error with a status.
    pub fn new(status: ExitStatus, message: impl Into<String>) -> Self {
        Failure { status, message: message.into(), hint: None }
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

    use super::ExitStatus::{self, Internal, Limit, Ok, Provider, VerdictBad, VerdictWarning};
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
    fn check(a: ExitStatus, b: ExitStatus, worst: ExitStatus) {
        assert_eq!(a.worst(b), worst);
        assert_eq!(b.worst(a), worst);
    }

    #[test]
    fn a_broken_checker_is_never_told_as_bad_data() {
        check(VerdictBad, Provider, Provider);
        check(VerdictBad, Limit, Limit);
        check(Internal, Provider, Internal);
    }

    #[test]
    fn the_worse_verdict_wins_and_anything_beats_ok() {
        check(VerdictBad, VerdictWarning, VerdictBad);
        check(Ok, VerdictWarning, VerdictWarning);
    }
}
