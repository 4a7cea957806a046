//! The choice of a session: a named directory, or the nearest one.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf, absolute};

use anyhow::Context;

use csv_agent_session::Session;
use csv_agent_session::directory::{Directory, NAME};
use csv_agent_types::status::Failure;

use crate::diagnostics;
use crate::environment::Environment;
use crate::flags::{GlobalFlags, NO_ID};
use crate::tips;

/// The session of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionChoice {
    /// Its existing or future path. Absolute, because the worker has another working directory.
    pub dir: PathBuf,
    /// What chose it.
    pub origin: SessionOrigin,
}

/// What chose a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionOrigin {
    /// `--session-dir` or `--session`.
    Flag,
    /// `CSV_AGENT_SESSION_DIR`.
    Environment,
    /// It is the nearest one upward, or the one that would be created here.
    Nearest,
}

impl SessionChoice {
    /// Chooses the session: `--session-dir`, `CSV_AGENT_SESSION_DIR`, `DATA_ROOT`/`--session`, the nearest
    /// `.csv-agent` upward, and last `.csv-agent` here, which need not exist. Fails when `--session` is not a
    /// plain name or lacks `DATA_ROOT`, or the current directory cannot be read.
    pub(crate) fn resolve(
        flags: &GlobalFlags,
        environment: &Environment,
    ) -> anyhow::Result<SessionChoice> {
        let id = flags.session.as_deref().filter(|it| *it != NO_ID).map(check_id).transpose()?;
        let named = |dir: &Path, origin| {
            let dir = absolute(dir).context("cannot read the current directory")?;
            let dir = without_parents(dir);
            check_within(&dir)?;
            Ok(SessionChoice { dir, origin })
        };
        if let Some(dir) = &flags.session_dir {
            return named(dir, SessionOrigin::Flag);
        }
        if let Some(dir) = &environment.session_dir {
            if let Some(id) = id {
                let message =
                    format!("`--session {id}` is ignored: `CSV_AGENT_SESSION_DIR` is set");
                diagnostics::warning(&message, false);
            }
            return named(dir, SessionOrigin::Environment);
        }
        match (id, &environment.data_root) {
            (Some(id), Some(root)) => return named(&root.join(id), SessionOrigin::Flag),
            (Some(id), None) => {
                let message = format!("cannot find session `{id}`: `DATA_ROOT` is not set");
                let hint = "set `DATA_ROOT` to the directory that contains it, or use \
                            `--session-dir`";
                return Err(Failure::usage(message).hint(hint).into());
            }
            (None, _) => {}
        }
        let here = std::env::current_dir().context("cannot read the current directory")?;
        let dir = match nearest(&here, environment.home.as_deref()) {
            Nearest::Ours(dir) => dir,
            // Opening it reports why it is rejected.
            Nearest::Foreign(dir) if dir.parent() == Some(&*here) => dir,
            Nearest::Foreign(dir) => {
                let shown = dir.display();
                let message =
                    format!("the session `{shown}` belongs to another user and is ignored");
                diagnostics::warning(&message, false);
                here.join(NAME)
            }
            Nearest::Nothing => here.join(NAME),
        };
        Ok(SessionChoice { dir, origin: SessionOrigin::Nearest })
    }

    /// Returns whether a flag names it.
    pub(crate) fn is_named(&self) -> bool {
        self.origin == SessionOrigin::Flag
    }

    /// Returns whether the directory exists, or may count as an empty session: a missing one means that a flag
    /// has a typo, or that the user is probably in the wrong directory. A variable may name one that is made
    /// later. Fails with `FailureKind::Setup` when it does not exist, unless a variable names it.
    pub(crate) fn existing(&self) -> anyhow::Result<bool> {
        if Directory::open_unchecked(&self.dir)?.is_some() {
            return Ok(true);
        }
        let (message, hint) = match self.origin {
            SessionOrigin::Environment => return Ok(false),
            SessionOrigin::Flag => (
                format!("no session in `{}`", self.dir.display()),
                "check its name; `csv-agent ingest FILE.csv` with the same flag makes one there",
            ),
            SessionOrigin::Nearest => (
                "no session here: neither this directory nor one of yours above it has `.csv-agent`"
                    .to_owned(),
                "create one with `csv-agent ingest FILE.csv`, or name one with `--session-dir`",
            ),
        };
        Err(Failure::setup(message).hint(hint).into())
    }
}

/// Resolves `..` in a path: a confined process is given a directory by its own path.
fn without_parents(path: PathBuf) -> PathBuf {
    let parts: Vec<Component<'_>> = path.components().collect();
    let Some(at) = parts.iter().rposition(|it| *it == Component::ParentDir) else { return path };
    let (head, tail) = parts.split_at(at + 1);
    // `link/..` is not the directory of the link. A path that does not exist is reported when it is used.
    match head.iter().collect::<PathBuf>().canonicalize() {
        Ok(head) => tail.iter().fold(head, |path, it| path.join(it)),
        Err(_) => path,
    }
}

/// Rejects the directory of a project, whose session is in `.csv-agent` below it.
fn check_within(dir: &Path) -> anyhow::Result<()> {
    let below = dir.join(NAME);
    if !below.is_dir() || Session::is_there(dir)? || !Session::is_there(&below)? {
        return Ok(());
    }
    let message = format!("`{}` is not a session, but contains one", dir.display());
    let hint = format!("use `--session-dir {}`", tips::quoted(&below.to_string_lossy()));
    Err(Failure::setup(message).hint(hint).into())
}

/// Rejects an id that would leave its parent directory.
fn check_id(id: &str) -> anyhow::Result<&str> {
    let plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    if !id.is_empty() && id.len() <= 128 && id.chars().all(plain) && !id.starts_with('.') {
        return Ok(id);
    }
    let message = format!(
        "`{id}` is not a valid session id; use letters, digits, `-` and `_`, and `.` within it"
    );
    Err(Failure::usage(message).into())
}

/// The result of a search upward.
#[derive(Debug, PartialEq, Eq)]
enum Nearest {
    /// A session of the user or of root.
    Ours(PathBuf),
    /// Another user's session, where the search ends.
    Foreign(PathBuf),
    /// No session.
    Nothing,
}

/// Searches upward from `here`. Stops after the home directory, before another file system, and at a
/// directory of another user. An entry of that name in `here` is always taken, so that opening it reports
/// what is wrong.
fn nearest(here: &Path, home: Option<&Path>) -> Nearest {
    let device = |dir: &Path| dir.metadata().ok().map(|it| it.dev());
    let start = device(here);
    for dir in here.ancestors() {
        if device(dir) != start {
            return Nearest::Nothing;
        }
        let candidate = dir.join(NAME);
        let is_here = dir == here;
        match candidate.symlink_metadata() {
            // In a world-writable directory, such as `/tmp`, another user may have created it.
            Ok(found) if (is_here || is_ours(dir)) && !is_owned(&found) => {
                return Nearest::Foreign(candidate);
            }
            Ok(found) if is_here || (is_ours(dir) && found.is_dir()) => {
                return Nearest::Ours(candidate);
            }
            _ if Some(dir) == home || !is_ours(dir) => return Nearest::Nothing,
            _ => {}
        }
    }
    Nearest::Nothing
}

/// Returns whether a directory belongs to the user or to root.
fn is_ours(dir: &Path) -> bool {
    dir.metadata().is_ok_and(|it| is_owned(&it))
}

fn is_owned(found: &Metadata) -> bool {
    [rustix::process::geteuid().as_raw(), 0].contains(&found.uid())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Nearest, check_id, nearest};

    #[test]
    fn the_search_goes_up_and_stops_at_home() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home");
        let project = home.join("project");
        let deep = project.join("a/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir(root.path().join(".csv-agent")).unwrap();
        assert_eq!(nearest(&deep, Some(&home)), Nearest::Nothing);
        std::fs::create_dir(project.join(".csv-agent")).unwrap();
        let found = Nearest::Ours(project.join(".csv-agent"));
        assert_eq!(nearest(&deep, Some(&home)), found);
        assert_eq!(nearest(Path::new("/"), None), Nearest::Nothing);
    }

    #[test]
    fn an_id_cannot_leave_its_root() {
        assert!(check_id("2f1c-9_a.b").is_ok());
        for id in ["", "..", ".hidden", "a/b", "a b", "ü"] {
            assert!(check_id(id).is_err(), "{id}");
        }
    }
}
