//! Why an ingest ends early: the file cannot be read, or the user cancels.

use std::sync::atomic::{AtomicBool, Ordering};

use csv_agent_types::status::{Failure, FailureKind};

/// Returns the error for a source that cannot be read.
pub(crate) fn refuse(message: String, hint: &str) -> anyhow::Error {
    Failure::input(message).hint(hint).into()
}

/// Checks whether the user has cancelled.
///
/// # Errors
///
/// Fails if so.
pub fn check_cancelled(cancelled: &AtomicBool) -> anyhow::Result<()> {
    if cancelled.load(Ordering::Relaxed) {
        return Err(Failure::new(FailureKind::Interrupted, "interrupted").into());
    }
    Ok(())
}

/// Returns the failure for a source that is not CSV.
pub(crate) fn no_csv(shown_name: &str, found: &str, hint: &str) -> anyhow::Error {
    refuse(format!("cannot read `{shown_name}` as CSV: {found}"), hint)
}
