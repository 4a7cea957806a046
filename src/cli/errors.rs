//! What the process ends with: the exit status of each kind of failure, and what an error says to do next.

use strum::VariantArray as _;

use csv_agent_provider::error::ProviderError;
use csv_agent_types::status::{Failure, FailureKind, hint_of_disk};

use crate::stdout;

/// How a command ended. If several things ended, the greatest decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
    /// Answered, or the gate passed.
    Ok,
    Failed(FailureKind),
}

impl From<Option<FailureKind>> for ExitStatus {
    fn from(failure: Option<FailureKind>) -> ExitStatus {
        failure.map_or(ExitStatus::Ok, ExitStatus::Failed)
    }
}

impl ExitStatus {
    /// Returns all statuses, in the order of their numbers.
    pub(crate) fn all() -> Vec<ExitStatus> {
        let failed = FailureKind::VARIANTS.iter().map(|it| ExitStatus::Failed(*it));
        let mut all: Vec<ExitStatus> = [ExitStatus::Ok].into_iter().chain(failed).collect();
        all.sort_by_key(|it| it.explained().0);
        all
    }

    /// Returns the number that the shell sees, the name, and when the process ends with it.
    pub(crate) fn explained(self) -> (u8, &'static str, &'static str) {
        let ExitStatus::Failed(kind) = self else {
            return (0, "ok", "the question is answered, or the check passed");
        };
        match kind {
            FailureKind::Internal => {
                (1, "internal", "a bug, an unexpected I/O error, or a full disk")
            }
            FailureKind::Usage => (
                2,
                "usage",
                "a flag or a value is invalid, the file of --knowledge, --thresholds or --schema does not \
                 exist, or the question or --yes is missing",
            ),
            FailureKind::Setup => (
                3,
                "setup",
                "the session is missing, locked or damaged, a setting is invalid, the file of --config \
                 does not exist, or there is no browser for a PDF",
            ),
            FailureKind::Auth => {
                (4, "auth", "the key, or the token of a cluster, is missing or was refused")
            }
            FailureKind::Input => (
                5,
                "input",
                "a file does not exist (but see 2 and 3), is unreadable, too large, or not a table, an \
                 output cannot be written, a dataset does not exist, or with --fail-on, a threshold \
                 matches no column",
            ),
            FailureKind::Provider => (
                6,
                "provider",
                "the model's server or the cluster cannot be reached or fails, or the container has \
                 expired",
            ),
            FailureKind::Limit => (
                7,
                "limit",
                "a limit on rounds, tokens, cost or time was reached before the answer was complete, \
                 or there is too much data to upload",
            ),
            FailureKind::Sandbox => (
                8,
                "sandbox",
                "Python is missing, does not start or has crashed, or cannot be confined",
            ),
            FailureKind::Contract => (
                9,
                "contract",
                "the model refused, or the answer does not meet --verdict, --schema, --require or \
                 --fail-on ungrounded, or `check` could not decide a rule",
            ),
            FailureKind::VerdictWarning => (
                10,
                "gate-warning",
                "the verdict is a warning, with --fail-on warning, or `check` found only warnings",
            ),
            FailureKind::VerdictBad => (
                11,
                "gate-bad",
                "the verdict is bad, with --fail-on bad or warning, or the data breaks a rule of \
                 `check`",
            ),
            FailureKind::Replay => (
                12,
                "replay",
                "a replay does not match its cassette, or `rerun --check` or `diff` found a \
                 difference",
            ),
            FailureKind::Interrupted => (130, "interrupted", "stopped by Ctrl-C (SIGINT)"),
            FailureKind::BrokenPipe => {
                (141, "broken-pipe", "the reader of stdout closed it during a turn")
            }
            FailureKind::Terminated => (143, "terminated", "stopped by SIGTERM"),
        }
    }
}

/// Returns the number that the shell sees when a turn or a command ends so.
pub(crate) fn exit_code(ended: impl Into<ExitStatus>) -> u8 {
    ended.into().explained().0
}

/// Returns what the process ends with after an error.
pub(crate) fn status_of(error: &anyhow::Error) -> ExitStatus {
    if stdout::is_stdout_closed(error) {
        // All output was complete by then. A turn that is cut short reports that with a status.
        return ExitStatus::Ok;
    }
    ExitStatus::Failed(kind_of(error))
}

/// Returns the kind of an error. One without a kind is ours.
pub(crate) fn kind_of(error: &anyhow::Error) -> FailureKind {
    let failure = error.chain().find_map(|it| it.downcast_ref::<Failure>()).map(|it| it.kind);
    let provider = || error.chain().find_map(|it| it.downcast_ref::<ProviderError>());
    failure.or_else(|| provider().map(ProviderError::failure_kind)).unwrap_or(FailureKind::Internal)
}

/// Returns what to do next after an error, if that is known.
pub(crate) fn hint_of(error: &anyhow::Error) -> Option<&str> {
    let said = error.chain().find_map(|it| {
        let failure = it.downcast_ref::<Failure>().and_then(|it| it.hint.as_deref());
        failure.or_else(|| it.downcast_ref::<ProviderError>().and_then(|it| it.hint.as_deref()))
    });
    said.or_else(|| hint_of_disk(error))
}
