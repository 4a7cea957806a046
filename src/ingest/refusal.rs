//! Why an ingest ends early: a file that cannot be read, or a user who stops it.

use std::sync::atomic::{AtomicBool, Ordering};

use csv_agent_types::status::{ExitStatus, Failure};

/// Makes the error for a source that cannot be read.
pub(crate) fn refuse(message: String, hint: &str) -> anyhow::Error {
    Failure::new(ExitStatus::Input, message).hint(hint).into()
}

/// Looks whether the user wants to stop.
///
/// # Errors
///
/// Fails when they do.
pub fn check_cancelled(cancelled: &AtomicBool) -> anyhow::Result<()> {
    if cancelled.load(Ordering::Relaxed) {
        return Err(Failure::new(ExitStatus::Interrupted, "interrupted").into());
    }
    Ok(())
}

/// Returns the failure of a source that is no CSV.
pub(crate) fn no_csv(shown_name: &str, found: &str, hint: &str) -> anyhow::Error {
    let message = format!("cannot read `{shown_name}` as CSV: {found}");
    Failure::new(ExitStatus::Input, message).hint(hint).into()
}
