//! The session's lock: one process at a time changes a session.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use anyhow::Context;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use csv_agent_types::status::Failure;

use crate::directory::Directory;

/// The file of a session.
const FILE: &str = "lock";
/// Upper bound on the size of the holder's description.
const HOLDER_BYTES_MAX: u64 = 4 * 1024;

/// Interval between two attempts to take a lock that another process holds.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// A longer wait is reported: most commands finish sooner.
const TOLD_AFTER: Duration = Duration::from_millis(300);

/// How a session is to be locked.
#[derive(Debug, Clone, Copy)]
pub struct LockRequest {
    /// How long to wait for another process.
    pub wait: Duration,
    /// The command of this process, for other processes that wait.
    pub command: &'static str,
    /// What the user can do instead of waiting, by a flag that the command has; None if there is no such flag.
    pub instead: Option<&'static str>,
    /// Called once when the wait begins; None for a silent wait.
    pub tell: Option<fn(&str)>,
}

/// Held while the process works on the session. The kernel releases it when the process ends, however it
/// ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

#[derive(Debug, Serialize, Deserialize)]
struct Holder {
    pid: u32,
    host: String,
    command: String,
}

impl Lock {
    /// Takes the lock, and waits for another process as long as the request says. Fails with
    /// `FailureKind::Setup` when another process holds it all that time; the message names that process.
    pub(crate) fn acquire(session: &Directory, request: LockRequest) -> anyhow::Result<Lock> {
        Ok(Lock::acquire_again(session, request)?.0)
    }

    /// Takes the lock, and returns it with whether this process was the last to hold it. Fails as
    /// [`Lock::acquire`] does.
    pub(crate) fn acquire_again(
        session: &Directory,
        request: LockRequest,
    ) -> anyhow::Result<(Lock, bool)> {
        let begun = Instant::now();
        let deadline = begun + request.wait;
        let mut tell = request.tell;
        let mut file = open(session, request.instead)?;
        loop {
            match file.try_lock() {
                Ok(()) if is_same_file(&file, session) => break,
                // `reset --all` removed the file during the wait.
                Ok(()) => file = open(session, request.instead)?,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    if TOLD_AFTER <= begun.elapsed()
                        && let Some(tell) = tell.take()
                    {
                        let (holder, wait) = (holder(&mut file), request.wait.as_secs_f64());
                        tell(&format!(
                            "{holder} is using the session; waiting up to {wait} s for it to finish"
                        ));
                    }
                    std::thread::sleep(LOOK_AGAIN);
                }
                Err(TryLockError::WouldBlock) => return Err(in_use(&mut file, request).into()),
                Err(TryLockError::Error(error)) => {
                    let shown = session.path().join(FILE);
                    return Err(error)
                        .with_context(|| format!("cannot lock `{}`", shown.display()));
                }
            }
        }
        let host = nix::unistd::gethostname().map_err(std::io::Error::from);
        let is_ours = read_holder(&mut file).is_some_and(|it| {
            it.pid == std::process::id()
                && host.as_ref().is_ok_and(|host| host.to_string_lossy() == it.host)
        });
        let shown = session.path().join(FILE);
        write_holder(&mut file, request.command)
            .with_context(|| format!("cannot write the lock `{}`", shown.display()))?;
        Ok((Lock { _file: file }, is_ours))
    }
}

fn open(session: &Directory, instead: Option<&str>) -> anyhow::Result<File> {
    session.file_to_write(FILE, OFlags::empty()).map_err(|error| {
        match error.downcast_ref::<Failure>() {
            Some(it) if it.hint.is_none() => {
                let hint = or_instead("make the session writable", instead);
                Failure::setup(it.message.clone()).hint(hint).into()
            }
            _ => error,
        }
    })
}

/// Returns whether the path still refers to this file.
fn is_same_file(file: &File, session: &Directory) -> bool {
    match (file.metadata(), session.file(FILE)) {
        (Ok(ours), Ok(Some(there))) => there
            .metadata()
            .is_ok_and(|there| (ours.dev(), ours.ino()) == (there.dev(), there.ino())),
        _ => false,
    }
}

/// Returns the holder of the lock, from what it wrote into the file.
fn holder(file: &mut File) -> String {
    match read_holder(file) {
        Some(it) => format!("`csv-agent {}`, pid {} on {}", it.command, it.pid, it.host),
        None => "another process".to_owned(),
    }
}

/// Returns who holds the lock, or held it last; None where that cannot be read.
fn read_holder(file: &mut File) -> Option<Holder> {
    let mut content = String::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    Read::by_ref(file).take(HOLDER_BYTES_MAX).read_to_string(&mut content).ok()?;
    serde_json::from_str(&content).ok()
}

/// Returns a hint, with what the user can do instead.
fn or_instead(hint: &str, instead: Option<&str>) -> String {
    instead.map_or_else(|| hint.to_owned(), |it| format!("{hint}, or {it}"))
}

fn in_use(file: &mut File, request: LockRequest) -> Failure {
    let (holder, wait) = (holder(file), request.wait.as_secs_f64());
    let message = format!("the session is in use by {holder}; waited {wait} s for it to finish");
    Failure::setup(message).hint(or_instead("wait longer with `--lock-wait 5m`", request.instead))
}

fn write_holder(file: &mut File, command: &str) -> std::io::Result<()> {
    let host = nix::unistd::gethostname().map_err(std::io::Error::from)?;
    let holder = Holder {
        pid: std::process::id(),
        host: host.to_string_lossy().into_owned(),
        command: command.to_owned(),
    };
    let content = serde_json::to_string(&holder).map_err(std::io::Error::from)?;
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(content.as_bytes())
}
