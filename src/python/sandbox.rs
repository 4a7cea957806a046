//! How the worker's process is made: its environment, its limits, and how it is stopped.
//!
//! The code it runs is hostile by assumption. What is enforced today and what is not is said by
//! [`Confinement`]; nothing here claims more.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Stdio;

use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use tokio::process::Command;

use crate::python::environment::Interpreter;

/// Reads one line, which holds the worker's text and its settings, and runs the text with a copy of
/// the builtins of its own: what code does to `builtins` does not reach the functions of the worker.
const BOOTSTRAP: &str = "import json, sys; \
    start = json.loads(sys.stdin.buffer.readline()); \
    exec(compile(start.pop('program'), '<worker>', 'exec'), {'start': start, \
    '__name__': 'worker', '__builtins__': dict(vars(__import__('builtins')))})";

/// What the kernel enforces on the worker, and what it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// One short phrase for each rule that holds.
    pub enforced: Vec<String>,
    /// One short phrase for each rule of the contract that does not.
    pub missing: Vec<String>,
}

impl Confinement {
    /// Returns what holds for a worker started by [`command`].
    pub(super) fn of_rlimits(memory_bytes: u64, file_bytes: u64) -> Self {
        let enforced = vec![
            format!("memory: {} MB", memory_bytes >> 20),
            format!("one file: {} MB", file_bytes >> 20),
            "no core dumps".to_owned(),
            "no terminal".to_owned(),
            "environment: built from nothing".to_owned(),
        ];
        // RLIMIT_NPROC counts all processes of the user, and does not count for root at all: set from
        // here it would either do nothing or stop the first thread of a library.
        let missing = ["network", "files", "other processes", "subprocesses"];
        Confinement { enforced, missing: missing.map(str::to_owned).to_vec() }
    }
}

/// Returns the command that starts the worker in its scratch directory, with three pipes.
///
/// What it spawns is a small process that forks the worker and watches it: when the request pipe is
/// closed, however csv-agent ended, it kills the worker and all of its group.
///
/// Nothing is inherited but the pipes: the standard library opens every other descriptor so that it
/// closes here. `-I` would be the flag for an untouched environment, but it also ignores the hash
/// seed, without which a set prints in another order each time.
pub(super) fn command(interpreter: &Interpreter, scratch: &Path) -> Command {
    let mut command = Command::new(&interpreter.executable);
    command.args(["-s", "-B", "-u", "-c", BOOTSTRAP]);
    command.env_clear().envs(environment(scratch)).current_dir(scratch);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A signal to the whole group of csv-agent must leave the watcher there to end the worker.
    command.process_group(0);
    command
}

/// The whole environment of the worker: fixed text, except for its own directory.
fn environment(scratch: &Path) -> Vec<(&'static str, OsString)> {
    let mut environment: Vec<_> = [
        ("PATH", "/usr/bin:/bin"),
        ("LC_ALL", "C.UTF-8"),
        ("TZ", "UTC"),
        ("PYTHONHASHSEED", "0"),
        ("PYTHONSAFEPATH", "1"),
        ("OMP_NUM_THREADS", "1"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("MKL_NUM_THREADS", "1"),
        ("NUMEXPR_NUM_THREADS", "1"),
        ("ARROW_IO_THREADS", "1"),
        // These two keep address space for data: pools reserve it by the gigabyte.
        ("ARROW_DEFAULT_MEMORY_POOL", "system"),
        ("MALLOC_ARENA_MAX", "1"),
    ]
    .map(|(name, value)| (name, OsString::from(value)))
    .to_vec();
    environment.extend(["HOME", "TMPDIR"].map(|name| (name, scratch.as_os_str().to_owned())));
    environment
}

/// Opens a file that hostile code may have put there: never through a link, never a pipe or device.
///
/// # Errors
///
/// Fails when the file cannot be opened or is no regular file.
pub(super) fn open_untrusted(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not a regular file"));
    }
    Ok(file)
}

/// The process that runs code, and every process in its group.
///
/// It is a child of the process that was spawned, which collects it and then ends as it did. So the
/// number stays its own for as long as the spawned process is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessTree(Pid);

impl ProcessTree {
    /// Takes the id of the process that leads the group.
    pub fn of(pid: u32) -> Self {
        ProcessTree(Pid::from_raw(pid.cast_signed()))
    }

    /// Raises in the code that runs; nothing happens when none does.
    pub fn interrupt(self) {
        // It fails only when the process is gone, which whoever waits for it will see.
        let _ = kill(self.0, Signal::SIGINT);
    }

    /// Ends the whole group at once.
    pub fn kill(self) {
        // The leader itself as well: it may have left its group.
        let _ = killpg(self.0, Signal::SIGKILL);
        let _ = kill(self.0, Signal::SIGKILL);
    }
}
