//! Who outlives the worker: the monitor outside its namespaces, and their init.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, stdin};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getppid};
use rustix::fs::OFlags;

use csv_agent_types::limits::{
    SCRATCH_BYTES_MAX, SCRATCH_FILES_MAX, WORKER_TASKS_MAX, worker_tree_bytes_max,
};

use super::policy::Policy;
use super::raw;

/// Milliseconds between two looks at what the kernel does not limit.
const LOOK_EVERY_MS: u16 = 250;
/// What a process ends with that a signal ended, as shells have it: 128 and the signal's number.
const SIGNAL_BASE: i32 = 128;
const BLOCK_BYTES: u64 = 512;
const PAGE_BYTES: u64 = 4096;
/// Bytes of a path to which a name can be added. Linux takes 4,096, names have 255.
const PATH_BYTES_MAX: usize = 3_500;

/// The signals that the monitor and the init wait for.
fn awaited() -> SigSet {
    [Signal::SIGINT, Signal::SIGCHLD].into_iter().collect()
}

/// Keeps signals for those who wait for them. A worker unblocks them before it becomes Python.
///
/// # Errors
///
/// Fails never in practice.
pub(super) fn block_signals() -> nix::Result<()> {
    awaited().thread_block()
}

/// Waits as process 1 of the namespaces: passes interrupts on and collects whoever ends. When it
/// returns, and so ends, the kernel kills the rest.
pub(super) fn be_init(worker: Pid) -> i32 {
    loop {
        match awaited().wait() {
            Ok(Signal::SIGINT) => {
                // It fails when the worker is gone, which the other signal says.
                let _ = kill(worker, Signal::SIGINT);
            }
            _ => {
                if let Some(status) = collect(worker) {
                    return status;
                }
            }
        }
    }
}

/// Collects all that has ended. Returns how the worker did, if it did.
fn collect(worker: Pid) -> Option<i32> {
    let mut ended = None;
    loop {
        let status = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) => (pid, code),
            Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, SIGNAL_BASE + signal as i32),
            _ => return ended,
        };
        if status.0 == worker {
            ended = Some(status.1);
        }
    }
}

/// Watches over the worker, or the init of its namespaces, until it ends or csv-agent does; then ends
/// as the worker did.
pub(super) fn watch(policy: &Policy, worker: Pid) -> ExitCode {
    let status = wait(policy, worker);
    kill_rest();
    // The signal, so that csv-agent sees it as one.
    if let Some(Ok(signal)) = (SIGNAL_BASE < status).then(|| Signal::try_from(status - SIGNAL_BASE))
    {
        let _ = SigSet::all().thread_unblock();
        raw::die_by(signal);
    }
    ExitCode::from(u8::try_from(status).unwrap_or(u8::MAX))
}

fn wait(policy: &Policy, worker: Pid) -> i32 {
    let stdin = stdin();
    let Ok(signals) = SignalFd::with_flags(&awaited(), SfdFlags::SFD_CLOEXEC) else { return 1 };
    let parent = getppid();
    let mut is_paused = false;
    loop {
        // While csv-agent is stopped (Ctrl-Z), nobody sees to the time that code may take.
        let pauses = is_stopped(parent);
        if pauses || is_paused {
            let signal = if pauses { Signal::SIGSTOP } else { Signal::SIGCONT };
            for process in watched() {
                // It may have died by itself.
                let _ = kill(process, signal);
            }
        }
        is_paused = pauses;
        // Of the requests only the hang-up, which is always told: the bytes are the worker's.
        let mut events = [
            PollFd::new(stdin.as_fd(), PollFlags::empty()),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        if poll(&mut events, PollTimeout::from(LOOK_EVERY_MS)).is_err() {
            continue;
        }
        let [requests, signal] = events.map(|it| it.any().unwrap_or(false));
        if requests {
            return 0;
        }
        if !signal {
            if let Some(status) = over_limit(policy) {
                return status;
            }
            continue;
        }
        match signals.read_signal() {
            Ok(Some(it)) if it.ssi_signo == Signal::SIGINT as u32 => {
                let _ = kill(worker, Signal::SIGINT);
            }
            _ => {
                if let Some(status) = collect(worker) {
                    return status;
                }
            }
        }
    }
}

/// Kills the worker, and where no namespace ends with it, what it has started: orphans come to this
/// process, so all of them become its children in the end.
fn kill_rest() {
    loop {
        for child in children(Pid::this()) {
            // It may have died by itself.
            let _ = kill(child, Signal::SIGKILL);
        }
        if waitpid(None, None).is_err() {
            return;
        }
    }
}

/// Returns what to end with when the worker uses more than the kernel can be told to give.
fn over_limit(policy: &Policy) -> Option<i32> {
    let processes = watched();
    // Where the kernel counts none of root's, this is the only bound.
    if WORKER_TASKS_MAX < processes.iter().map(|it| tasks(*it).count()).sum() {
        return Some(super::STOPPED_FOR_TASKS);
    }
    let total = |memory: fn(Pid) -> u64| processes.iter().map(|it| memory(*it)).sum::<u64>();
    // What several processes share is counted for each of them, until it matters.
    let most = worker_tree_bytes_max(policy.memory_bytes);
    if most < total(memory_bytes) && most < total(own_bytes) {
        return Some(super::STOPPED_FOR_MEMORY);
    }
    let mut usage = Usage::of_directory(&policy.scratch);
    for process in processes {
        usage.add_deleted(process);
    }
    usage.is_over().then_some(super::STOPPED_FOR_DISK)
}

/// The children of a process, whichever of its threads has made them.
fn children(parent: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists =
        threads.map(|it| fs::read_to_string(it.path().join("children")).unwrap_or_default());
    let text = lists.collect::<Vec<_>>().join(" ");
    text.split_whitespace().filter_map(|it| it.parse().ok()).map(Pid::from_raw).collect()
}

/// The worker and all that it has started. What its parent has left comes to this process.
fn watched() -> Vec<Pid> {
    let mut found = children(Pid::this());
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(children(parent));
        at += 1;
    }
    found
}

/// Returns whether a process was stopped by a signal.
fn is_stopped(process: Pid) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program is in brackets, and may have some of its own.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// The memory of a process, with all that it shares.
fn memory_bytes(process: Pid) -> u64 {
    // The first thread may have ended, and tells nothing then.
    let n_pages = tasks(process).filter_map(|it| {
        let text = fs::read_to_string(it.join("statm")).ok()?;
        text.split(' ').nth(1)?.parse::<u64>().ok()
    });
    n_pages.max().unwrap_or(0) * PAGE_BYTES
}

/// The memory of a process, with its part of what it shares.
fn own_bytes(process: Pid) -> u64 {
    let own = tasks(process).filter_map(|it| {
        let text = fs::read_to_string(it.join("smaps_rollup")).ok()?;
        let line = text.lines().find_map(|it| it.strip_prefix("Pss:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    });
    own.max().map_or_else(|| memory_bytes(process), |it| it * 1024)
}

/// The threads of a process, as directories of `/proc`.
fn tasks(process: Pid) -> impl Iterator<Item = PathBuf> {
    let threads = fs::read_dir(format!("/proc/{process}/task"));
    threads.into_iter().flatten().flatten().map(|it| it.path())
}

/// What a worker has written.
#[derive(Default)]
struct Usage {
    n_bytes: u64,
    n_files: usize,
    /// Of files that have no name any more, those that were counted.
    deleted: BTreeSet<(u64, u64)>,
}

/// A directory, by a path that the kernel takes.
struct DirectoryPath {
    path: PathBuf,
    /// The directory that the path begins at, where it begins at one that is open.
    base: Option<Rc<File>>,
}

impl DirectoryPath {
    /// Returns the same directory by a short path: code makes directories in directories without end.
    fn shortened(self) -> io::Result<DirectoryPath> {
        if self.path.as_os_str().len() < PATH_BYTES_MAX {
            return Ok(self);
        }
        let flags = (OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW).bits().cast_signed();
        let directory = File::options().read(true).custom_flags(flags).open(&self.path)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()));
        Ok(DirectoryPath { path, base: Some(Rc::new(directory)) })
    }
}

impl Usage {
    fn is_over(&self) -> bool {
        SCRATCH_BYTES_MAX < self.n_bytes || SCRATCH_FILES_MAX < self.n_files
    }

    /// Counts what is below a directory. A link counts as itself.
    fn of_directory(path: &Path) -> Usage {
        let mut usage = Usage::default();
        let mut directories = vec![DirectoryPath { path: path.to_owned(), base: None }];
        while let Some(directory) = directories.pop() {
            let opened = directory.shortened().and_then(|it| Ok((fs::read_dir(&it.path)?, it)));
            let (entries, directory) = match opened {
                Ok(opened) => opened,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                // Closed, or thousands of levels down: it may hold anything.
                Err(_) => {
                    usage.n_files = usize::MAX;
                    return usage;
                }
            };
            for entry in entries.flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                usage.n_files += 1;
                usage.n_bytes += metadata.blocks() * BLOCK_BYTES;
                if usage.is_over() {
                    return usage;
                }
                if metadata.is_dir() {
                    directories
                        .push(DirectoryPath { path: entry.path(), base: directory.base.clone() });
                }
            }
        }
        usage
    }

    /// Counts the open files of a process that no directory lists any more.
    fn add_deleted(&mut self, process: Pid) {
        let entries = tasks(process).filter_map(|it| fs::read_dir(it.join("fd")).ok());
        for entry in entries.flatten().flatten() {
            let Ok(metadata) = fs::metadata(entry.path()) else { continue };
            let is_deleted = metadata.is_file() && metadata.nlink() == 0;
            if is_deleted && self.deleted.insert((metadata.dev(), metadata.ino())) {
                self.n_files += 1;
                self.n_bytes += metadata.blocks() * BLOCK_BYTES;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::Usage;

    #[test]
    fn what_is_below_a_path_that_is_too_long_is_counted() {
        const LEVELS: usize = 60;
        let top = TempDir::new().unwrap();
        fs::create_dir(top.path().join("0")).unwrap();
        fs::write(top.path().join("0/file"), "x").unwrap();
        for level in 1..LEVELS {
            // From the inside to the outside: no path to the innermost would be taken.
            let directory = top.path().join(level.to_string());
            fs::create_dir(&directory).unwrap();
            let inner = top.path().join((level - 1).to_string());
            fs::rename(inner, directory.join("a".repeat(200))).unwrap();
        }
        let usage = Usage::of_directory(top.path());
        assert_eq!(usage.n_files, LEVELS + 1);
        assert!(0 < usage.n_bytes);
    }
}
