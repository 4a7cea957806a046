//! `reset`: removes the conversation from the session; on request also the data.

use clap::Args;
use serde_json::json;

use csv_agent_session::{Access, ResetScope, Session};

use super::confirm::confirm;
use super::delete_remote::forget;
use super::listing::{self, Listing};
use super::options::GlobalOptions;
use super::options::settings::Settings;
use super::{diagnostics, stdout};
use crate::errors::ExitStatus;

/// Flags of `reset`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ResetFlags {
    /// Also remove the datasets
    #[arg(long)]
    pub datasets: bool,

    /// Remove the whole session, with its directory
    #[arg(long, conflicts_with = "datasets")]
    pub all: bool,

    /// Do not ask for confirmation
    #[arg(short, long)]
    pub yes: bool,

    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Removes what the flags select and prints it. Fails when there is no session and none was named, there is
/// neither `--yes` nor a terminal to ask on, or something cannot be removed.
pub(crate) fn run(
    flags: &ResetFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let (scope, what) = match (flags.all, flags.datasets) {
        (true, _) => (ResetScope::All, "remove the whole session, with its datasets"),
        (_, true) => (ResetScope::Datasets, "remove the datasets, and all questions and answers"),
        (false, false) => (ResetScope::Conversation, "remove all questions and answers"),
    };
    let is_there = options.session.existing()? && Session::is_there(&options.session.dir)?;
    if !flags.dry_run && !confirm(what, flags.yes, options)? {
        diagnostics::note("nothing was removed");
        return Ok(ExitStatus::Ok);
    }
    let gone = if is_there {
        let lock = options.lock("reset");
        let mut session = Session::open(&options.session.dir, Access::Existing, lock)?;
        let mut gone = forget(&session, settings, options, flags.dry_run)?;
        gone.extend(session.reset(scope, flags.dry_run)?);
        gone
    } else {
        Vec::new()
    };
    print(&gone, flags.dry_run, options)
}

/// Prints what was removed, or would be, from a session.
pub(crate) fn print(
    gone: &[String],
    dry_run: bool,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if gone.is_empty() && options.has_notes() {
        diagnostics::note("nothing to remove");
    }
    let status = if dry_run { "would be removed" } else { "removed" };
    let rows = gone.iter().map(|it| vec![json!(it), json!(status)]).collect();
    let documents = gone.iter().map(|it| json!({"path": it, "status": status})).collect();
    let listing = Listing { frame: listing::frame(&["path", "status"], &[], rows), documents };
    if !gone.is_empty() || options.format == csv_agent_sink::Format::Json {
        stdout::answer(|out| listing.write(out, options))?;
    }
    Ok(ExitStatus::Ok)
}
