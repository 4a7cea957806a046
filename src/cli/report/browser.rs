//! A browser that prints a page as PDF.
//!
//! It runs with a profile of its own, which is removed, and without a network. The page has no script and
//! a policy that lets it load nothing.

use std::env::split_paths;
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use csv_agent_text::sanitize;
use csv_agent_types::limits::{BROWSER_TIME, BROWSER_TOLD_CHARS_MAX};
use csv_agent_types::status::Failure;

use crate::options::settings::Settings;
use crate::signals::{self, Signals};

/// The files of a run.
const PAGE: &str = "report.html";
const PDF: &str = "report.pdf";
const TOLD: &str = "stderr";

/// Names of browsers that print without a window, as packages install them.
const NAMES: [&str; 8] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "microsoft-edge-stable",
    "brave-browser",
];

/// What keeps a browser to this one page.
const FLAGS: [&str; 14] = [
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pdf-header-footer",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    // No name is found, and what needs none is sent where nobody listens.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
];

/// A browser of this machine.
pub(super) struct Browser {
    program: PathBuf,
    search_path: OsString,
}

impl Browser {
    /// Finds a browser on `PATH`. Fails with `FailureKind::Setup` when there is none.
    pub(super) fn find(settings: &Settings) -> anyhow::Result<Browser> {
        let search_path = settings.environment().path.clone();
        let of_name = |name: &&str| {
            split_paths(&search_path).map(|it| it.join(name)).find(|it| is_program(it))
        };
        if let Some(program) = NAMES.iter().find_map(of_name) {
            return Ok(Browser { program, search_path });
        }
        let message = "cannot write PDF: there is no Chromium, Chrome or Edge on `PATH`";
        let hint = "install one, such as with `apt-get install chromium`, or write `-o report.html` and print that \
                    from any browser";
        Err(Failure::setup(message).hint(hint).into())
    }

    /// Prints a page as PDF. Fails with `FailureKind::Setup` when the browser does not start, fails, or takes
    /// too long, and when a signal comes.
    pub(super) fn print(&self, page: &str) -> anyhow::Result<Vec<u8>> {
        // Without this, a signal would end this process alone.
        let _signals = signals::runtime()?.block_on(async { Signals::listen() })?;
        let dir = tempfile::Builder::new().prefix("csv-agent-report-").tempdir();
        let dir = dir.context("cannot create a temporary directory for the browser")?;
        fs::write(dir.path().join(PAGE), page).context("cannot write the page for the browser")?;
        // A browser refuses to run as root, or where the kernel lets it confine nothing, unless it is not confined.
        // The page runs nothing, so that loses nothing.
        let first = if geteuid().is_root() { None } else { self.attempt(dir.path(), &[])? };
        match first {
            Some(pdf) => Ok(pdf),
            None => match self.attempt(dir.path(), &["--no-sandbox"])? {
                Some(pdf) => Ok(pdf),
                None => Err(self.failure(&format!("wrote no PDF: {}", told(dir.path()))).into()),
            },
        }
    }

    /// Runs the browser once. Returns the PDF if it wrote one.
    fn attempt(&self, dir: &Path, more: &[&str]) -> anyhow::Result<Option<Vec<u8>>> {
        let told = File::create(dir.join(TOLD)).context("cannot create a temporary file")?;
        let mut command = Command::new(&self.program);
        command.args(FLAGS).args(more);
        command.arg(format!("--user-data-dir={}", dir.join("profile").display()));
        command.arg(format!("--print-to-pdf={}", dir.join(PDF).display()));
        command.arg(dir.join(PAGE)).current_dir(dir);
        // What it keeps for its user goes with the directory.
        command.env_clear().env("PATH", &self.search_path).env("HOME", dir).env("TMPDIR", dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(told).process_group(0);
        let child = command.spawn();
        let mut child = PrintingBrowser(
            child.map_err(|error| self.failure(&format!("cannot start: {error}")))?,
        );
        let deadline = Instant::now() + BROWSER_TIME;
        let ended = signals::until(|| match child.0.try_wait() {
            Ok(None) if Instant::now() < deadline => None,
            ended => Some(ended),
        })?;
        let Some(status) = ended.context("cannot wait for the browser")? else {
            let message = format!("did not end within {} s", BROWSER_TIME.as_secs());
            return Err(self.failure(&message).into());
        };
        let pdf = fs::read(dir.join(PDF)).ok().filter(|it| it.starts_with(b"%PDF"));
        Ok(pdf.filter(|_| status.success()))
    }

    fn failure(&self, what: &str) -> Failure {
        let message = format!("cannot write PDF: `{}` {what}", self.program.display());
        let hint = "write `-o report.html` and print that from any browser";
        Failure::setup(message).hint(hint)
    }
}

/// A browser that is killed with its children when it is dropped.
struct PrintingBrowser(Child);

impl Drop for PrintingBrowser {
    fn drop(&mut self) {
        if let Some(group) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by now, which is fine.
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

/// Returns the last line that the browser wrote to stderr.
fn told(dir: &Path) -> String {
    let told = fs::read(dir.join(TOLD)).unwrap_or_default();
    let text = String::from_utf8_lossy(&told);
    let last = text.lines().rev().find(|it| !it.trim().is_empty()).unwrap_or("it says nothing");
    sanitize::one_line(last).chars().take(BROWSER_TOLD_CHARS_MAX).collect()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
