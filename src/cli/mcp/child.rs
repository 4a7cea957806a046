//! Commands of csv-agent as children: what has a command of its own is done by it, and ends when it is killed.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Output, Stdio};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;

use csv_agent_mcp::StopSignal;

/// Runs a command. None when it was stopped.
///
/// # Errors
///
/// Fails when it cannot be started.
pub(super) async fn run(
    program: &Path,
    session: &Path,
    arguments: Vec<OsString>,
    stop: Option<&StopSignal>,
) -> anyhow::Result<Option<Output>> {
    let mut command = Command::new(program);
    command.args(["-S".into(), session.as_os_str().to_owned(), "--no-input".into()]);
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.kill_on_drop(true).spawn().context("cannot start csv-agent")?;
    let pid = child.id().and_then(|it| Pid::from_raw(i32::try_from(it).ok()?));
    let mut ending = Box::pin(child.wait_with_output());
    let stopped = async {
        match stop {
            Some(stop) => stop.wait().await,
            None => std::future::pending().await,
        }
    };
    // A child that is asked to end ends what it started as well.
    tokio::select! {
        ended = &mut ending => return Ok(Some(ended.context("cannot read from csv-agent")?)),
        () = stopped => {}
    }
    if let Some(pid) = pid {
        let _ = kill_process(pid, Signal::TERM);
    }
    let _ = ending.await;
    Ok(None)
}

/// Returns what a command wrote to stderr, one sentence a line: failures with their hints, warnings and notes.
pub(super) fn remarks(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut remarks: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|it| !it.is_empty()) {
        let plain = ["error: ", "warning: ", "note: "].iter().find_map(|it| line.strip_prefix(it));
        match (line.strip_prefix("hint: "), remarks.last_mut()) {
            (Some(hint), Some(last)) => last.extend(["; ", hint]),
            _ => remarks.push(plain.unwrap_or(line).to_owned()),
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{ExitStatus, Output};

    use super::remarks;

    #[test]
    fn a_hint_belongs_to_its_failure() {
        let text =
            "error: `a.csv`: dates are ambiguous\n  hint: use `--date-order dmy`\nnote: 2 rows\n";
        let output =
            Output { status: ExitStatus::from_raw(0), stdout: Vec::new(), stderr: text.into() };
        let expected = ["`a.csv`: dates are ambiguous; use `--date-order dmy`", "2 rows"];
        assert_eq!(remarks(&output), expected);
    }
}
