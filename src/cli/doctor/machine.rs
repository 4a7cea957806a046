//! This machine: a Python that can be confined, disk space, a terminal.

use std::path::Path;

use rustix::fs::Access;
use tempfile::TempDir;

use csv_agent_types::limits::DISK_FREE_BYTES_MIN;
use csv_agent_types::status::FailureKind;
use csv_agent_worker::environment::{self, Extras, Packages, PythonOptions};
use csv_agent_worker::sandbox::{self, Confinement, Demand, FILES, SandboxOptions};
use csv_agent_worker::{Worker, WorkerOptions};

use super::{Check, CheckState};
use crate::errors;
use crate::options::GlobalOptions;
use crate::setup::origin_of;
use crate::terminal_graphics::{self, Images};

/// Bytes of a GB, in decimal units as for disks.
const GB: f64 = 1e9;

/// Runs Python as a question would. Returns its confinement, if it can be confined at all. If Python is missing,
/// `missing` is the state.
pub(super) async fn try_python(
    options: &PythonOptions,
    sandbox: &SandboxOptions,
    missing: CheckState,
) -> anyhow::Result<(Vec<Check>, Option<Confinement>)> {
    let mut checks = Vec::new();
    let mut tell = |state, found: String| checks.push(Check::new("python", state, found));
    let problem = CheckState::Problem(FailureKind::Sandbox);
    match environment::find(options, Extras::default()).await {
        Ok(Some(interpreter)) => {
            let place = interpreter.executable.display().to_string();
            let origin = origin_of(&interpreter, options);
            let spark = spark_client(options).await;
            let packages = told(&interpreter.packages);
            let scratch = TempDir::new()?;
            let options = WorkerOptions::new(interpreter, scratch.path(), sandbox.clone());
            match Worker::start(options).await {
                Ok(worker) => {
                    let versions = worker.versions();
                    tell(CheckState::Ok, format!("{versions}{packages}; {place}, {origin}"));
                    checks.push(spark);
                    let confinement = worker.confinement().clone();
                    worker.stop().await;
                    return Ok((checks, Some(confinement)));
                }
                Err(error) => tell(problem, format!("{error}; {place}, {origin}")),
            }
        }
        Ok(None) => match environment::packages(options).await {
            Ok(_) => {
                let place = options.cache_dir.display();
                let found = format!(
                    "no environment yet; `csv-agent setup` or the first question makes one in {place}"
                );
                tell(missing, found);
            }
            Err(error) => {
                let hint = errors::hint_of(&error).unwrap_or_default();
                let found = format!("{error:#}; until then a model computes only with SQL; {hint}");
                tell(missing, found);
            }
        },
        Err(error) => checks.push(Check::failed("python", &error)),
    }
    match sandbox::try_out(sandbox).await {
        Ok(confinement) => Ok((checks, Some(confinement))),
        Err(error) => {
            checks.push(Check::new("sandbox", problem, error.to_string()));
            Ok((checks, None))
        }
    }
}

/// Lists the packages other than those shown with versions.
fn told(packages: &Packages) -> String {
    let list = |what: &str, names: String| match names.as_str() {
        "" => String::new(),
        names => format!("; {what} {names}"),
    };
    list("with", packages.there.join(", ")) + &list("without", packages.missing.join(", "))
}

/// Checks for a Spark client, which only datasets on a cluster need.
async fn spark_client(options: &PythonOptions) -> Check {
    let (state, found) = match environment::find(options, Extras { spark: true }).await {
        Ok(Some(it)) => {
            (CheckState::Ok, format!("the client is installed: {}", it.executable.display()))
        }
        Ok(None) => {
            let found = "the client is not installed yet; csv-agent installs it for the first \
                         dataset on a cluster";
            (CheckState::Skipped, found.to_owned())
        }
        Err(error) => (CheckState::Skipped, format!("{error:#}")),
    };
    Check::new("spark", state, found)
}

/// Returns the checks skipped because questions run no code here.
pub(super) fn no_python() -> Vec<Check> {
    let found = "questions run no code on this machine: `interpreter` is `hosted`";
    ["python", "sandbox"].map(|it| Check::new(it, CheckState::Skipped, found)).to_vec()
}

/// Returns one line per confinement rule. A required rule that does not hold is a problem.
pub(super) fn rules(confinement: &Confinement, demand: Demand) -> Vec<Check> {
    let lines = |state, texts: &[String]| {
        texts.iter().map(|it| Check::new("sandbox", state, it.clone())).collect::<Vec<_>>()
    };
    let missing = confinement.missing.iter().map(|rule| {
        let state = match demand {
            Demand::Everything => CheckState::Problem(FailureKind::Sandbox),
            Demand::Files if rule == FILES => CheckState::Problem(FailureKind::Sandbox),
            Demand::Files | Demand::Nothing => CheckState::Warning,
        };
        Check::new("sandbox", state, format!("{rule}: not enforced"))
    });
    [
        lines(CheckState::Ok, &confinement.enforced),
        missing.collect(),
        lines(CheckState::Warning, &confinement.reasons),
    ]
    .concat()
}

/// Checks that an existing or future directory can be written, and its free space. `other` says how to use another one.
pub(super) fn disk(directory: &Path, purpose: &str, other: &str) -> Check {
    let Some(there) = directory.ancestors().find(|it| it.is_dir()) else {
        let found = format!("cannot find the disk of {}", directory.display());
        return Check::new("disk", CheckState::Warning, found);
    };
    let place = format!("for {purpose} in {}", directory.display());
    if let Err(error) = rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK) {
        let found = format!("cannot write to {}, {place}: {error}; {other}", there.display());
        return Check::new("disk", CheckState::Warning, found);
    }
    match rustix::fs::statvfs(there) {
        Ok(found) => {
            let (state, free) = room(found.f_bavail.saturating_mul(found.f_frsize));
            Check::new("disk", state, format!("{free} {place}"))
        }
        Err(error) => Check::new(
            "disk",
            CheckState::Warning,
            format!("cannot find out how much space is free {place}: {error}"),
        ),
    }
}

fn room(free_bytes: u64) -> (CheckState, String) {
    #[expect(clippy::cast_precision_loss, reason = "a tenth of a GB is all that is shown")]
    let in_gb = |bytes: u64| bytes as f64 / GB;
    let free = format!("{:.1} GB free", in_gb(free_bytes));
    if DISK_FREE_BYTES_MIN <= free_bytes {
        return (CheckState::Ok, free);
    }
    (CheckState::Warning, format!("only {free}, less than {:.1} GB,", in_gb(DISK_FREE_BYTES_MIN)))
}

/// Describes the form of answers on stdout.
pub(super) fn terminal(options: &GlobalOptions, images: &Images) -> Check {
    let stdout = options.terminal.stdout;
    let what = if stdout.is_tty { "stdout is a terminal" } else { "stdout is not a terminal" };
    let width = match stdout.width {
        Some(width) => format!("{width} columns"),
        None => "lines are not cut".to_owned(),
    };
    let colour = if stdout.colour { "color" } else { "no color" };
    let charts =
        terminal_graphics::described(terminal_graphics::screen(images, &options.terminal).as_ref());
    Check::new("terminal", CheckState::Ok, format!("{what}: {width}, {colour}, charts {charts}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CheckState, disk, room};

    #[test]
    fn little_room_is_a_warning_that_says_how_much_is_wanted() {
        assert_eq!(room(12_340_000_000), (CheckState::Ok, "12.3 GB free".to_owned()));
        let (state, found) = room(40_000_000);
        assert_eq!(state, CheckState::Warning);
        assert_eq!(found, "only 0.0 GB free, less than 1.1 GB,");
    }

    #[test]
    fn the_room_for_a_directory_to_come_is_that_of_the_one_above() {
        let found = disk(Path::new("/nowhere/at/all"), "the session", "use another").found;
        assert!(found.ends_with("free for the session in /nowhere/at/all"), "{found}");
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_a_warning_that_says_what_to_do() {
        // Nobody, not even root, can make files there.
        let check = disk(Path::new("/proc/self/none"), "the session", "choose another");
        assert_eq!(check.state, CheckState::Warning);
        let found = &check.found;
        let starts = found.starts_with("cannot write to /proc/");
        assert!(starts && found.ends_with("; choose another"), "{found}");
    }
}
