//! The processes that outlive the worker: the monitor outside its namespaces, and their init.

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

use csv_agent_types::limits::{SCRATCH_FILES_MAX, WORKER_TASKS_MAX, worker_tree_bytes_max};

use super::policy::Policy;
use super::raw;

/// Milliseconds between two checks of what the kernel does not limit.
const LOOK_EVERY_MS: u16 = 250;
/// Base of the exit status of a process ended by a signal, as in shells: 128 plus the signal's number.
const SIGNAL_BASE: i32 = 128;
const BLOCK_BYTES: u64 = 512;
const PAGE_BYTES: u64 = 4096;
/// Bytes of a path that a name can still be appended to. Linux accepts 4,096; names have up to 255.
const PATH_BYTES_MAX: usize = 3_500;

/// The signals that the monitor and the init wait for.
fn awaited() -> SigSet {
    [Signal::SIGINT, Signal::SIGCHLD].into_iter().collect()
}

/// Blocks signals for the processes that wait for them. A worker unblocks them before it becomes Python. Does
/// not fail in practice.
pub(super) fn block_signals() -> nix::Result<()> {
    awaited().thread_block()
}

/// Waits as process 1 of the namespaces: forwards interrupts and reaps children. When it returns and
/// exits, the kernel kills the rest.
pub(super) fn be_init(worker: Pid) -> i32 {
    loop {
        match awaited().wait() {
            Ok(Signal::SIGINT) => {
                // Fails when the worker is gone, which the other signal reports.
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

/// Reaps every child that has ended. Returns the worker's exit status if the worker has ended.
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

/// Watches the worker, or the init of its namespaces, until it or csv-agent ends, then ends with the
/// worker's status.
pub(super) fn watch(policy: &Policy, worker: Pid) -> ExitCode {
    let status = wait(policy, worker);
    kill_rest();
    // End by the signal, so that csv-agent sees one.
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
        // While csv-agent is stopped (Ctrl-Z), nothing enforces the time limit of the code.
        let pauses = is_stopped(parent);
        if pauses || is_paused {
            let signal = if pauses { Signal::SIGSTOP } else { Signal::SIGCONT };
            for process in watched() {
                // It may have already died.
                let _ = kill(process, signal);
            }
        }
        is_paused = pauses;
        // Watch stdin only for hang-up, which poll always reports: its bytes are for the worker.
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

/// Kills the worker, and everything it started if no namespace ends with it. Orphans are reparented to
/// this process, so all of them become its children in the end.
fn kill_rest() {
    loop {
        for child in children(Pid::this()) {
            // It may have already died.
            let _ = kill(child, Signal::SIGKILL);
        }
        if waitpid(None, None).is_err() {
            return;
        }
    }
}

/// Returns the exit status to use when the worker exceeds a limit that the kernel cannot enforce.
fn over_limit(policy: &Policy) -> Option<i32> {
    let processes = watched();
    // Where the kernel does not count root's processes, this is the only limit.
    if WORKER_TASKS_MAX < processes.iter().map(|it| tasks(*it).count()).sum() {
        return Some(super::STOPPED_FOR_TASKS);
    }
    let total = |memory: fn(Pid) -> u64| processes.iter().map(|it| memory(*it)).sum::<u64>();
    // Shared memory is counted for each process, until that total exceeds the limit.
    let most = worker_tree_bytes_max(policy.memory_bytes);
    if most < total(memory_bytes) && most < total(own_bytes) {
        return Some(super::STOPPED_FOR_MEMORY);
    }
    let mut usage = Usage::of_directory(&policy.scratch, policy.scratch_bytes);
    for process in processes {
        usage.add_deleted(process);
    }
    usage.is_over(policy.scratch_bytes).then_some(super::STOPPED_FOR_DISK)
}

/// The children of a process, whichever of its threads created them.
fn children(parent: Pid) -> Vec<Pid> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists =
        threads.map(|it| fs::read_to_string(it.path().join("children")).unwrap_or_default());
    let text = lists.collect::<Vec<_>>().join(" ");
    text.split_whitespace().filter_map(|it| it.parse().ok()).map(Pid::from_raw).collect()
}

/// The worker and everything it started. Orphans are reparented to this process.
fn watched() -> Vec<Pid> {
    let mut found = children(Pid::this());
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        found.extend(children(parent));
        at += 1;
    }
    found
}

/// Returns whether a signal has stopped a process.
fn is_stopped(process: Pid) -> bool {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The program name is in parentheses and may itself contain some.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
}

/// The memory of a process, including all shared memory.
fn memory_bytes(process: Pid) -> u64 {
    // The first thread may have ended; its file is then empty.
    let n_pages = tasks(process).filter_map(|it| {
        let text = fs::read_to_string(it.join("statm")).ok()?;
        text.split(' ').nth(1)?.parse::<u64>().ok()
    });
    n_pages.max().unwrap_or(0) * PAGE_BYTES
}

/// The memory of a process, including its proportional share of shared memory, without the pages of files
/// that it maps: the kernel drops those when it needs the memory.
fn own_bytes(process: Pid) -> u64 {
    let own = tasks(process)
        .filter_map(|it| own_kilobytes(&fs::read_to_string(it.join("smaps_rollup")).ok()?));
    own.max().map_or_else(|| memory_bytes(process), |it| it * 1024)
}

/// Reads `Pss:` and `Pss_File:`; kernels before 5.9 do not have the latter.
fn own_kilobytes(rollup: &str) -> Option<u64> {
    let value = |name: &str| {
        let line = rollup.lines().find_map(|it| it.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
    };
    Some(value("Pss:")?.saturating_sub(value("Pss_File:").unwrap_or(0)))
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
    /// Deleted files that are still open and already counted.
    deleted: BTreeSet<(u64, u64)>,
}

/// A directory, by a path short enough for the kernel.
struct DirectoryPath {
    path: PathBuf,
    /// The open directory that the path starts from, if any.
    base: Option<Rc<File>>,
}

impl DirectoryPath {
    /// Returns the same directory by a short path: code can nest directories without limit.
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
    fn is_over(&self, bytes_max: u64) -> bool {
        bytes_max < self.n_bytes || SCRATCH_FILES_MAX < self.n_files
    }

    /// Counts what is below a directory, until that is too much. A link counts as itself.
    fn of_directory(path: &Path, bytes_max: u64) -> Usage {
        let mut usage = Usage::default();
        let mut directories = vec![DirectoryPath { path: path.to_owned(), base: None }];
        while let Some(directory) = directories.pop() {
            let opened = directory.shortened().and_then(|it| Ok((fs::read_dir(&it.path)?, it)));
            let (entries, directory) = match opened {
                Ok(opened) => opened,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                // Unreadable, or thousands of levels deep: it may hold anything.
                Err(_) => {
                    usage.n_files = usize::MAX;
                    return usage;
                }
            };
            for entry in entries.flatten() {
                let Ok(metadata) = entry.metadata() else { continue };
                usage.n_files += 1;
                usage.n_bytes += metadata.blocks() * BLOCK_BYTES;
                if usage.is_over(bytes_max) {
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

    use super::{Usage, own_kilobytes};

    #[test]
    fn the_pages_of_mapped_files_are_not_its_own_memory() {
        let newer = "Rss: 900 kB\nPss:  800 kB\nPss_Anon: 300 kB\nPss_File:  500 kB\n";
        assert_eq!(own_kilobytes(newer), Some(300));
        assert_eq!(own_kilobytes("Rss: 900 kB\nPss:  800 kB\n"), Some(800));
        assert_eq!(own_kilobytes(""), None);
    }

    #[test]
    fn what_is_below_a_path_that_is_too_long_is_counted() {
        const LEVELS: usize = 60;
        let top = TempDir::new().unwrap();
        fs::create_dir(top.path().join("0")).unwrap();
        fs::write(top.path().join("0/file"), "x").unwrap();
        for level in 1..LEVELS {
            // From the innermost outwards: the kernel would reject a path to the innermost.
            let directory = top.path().join(level.to_string());
            fs::create_dir(&directory).unwrap();
            let inner = top.path().join((level - 1).to_string());
            fs::rename(inner, directory.join("a".repeat(200))).unwrap();
        }
        let usage = Usage::of_directory(top.path(), u64::MAX);
        assert_eq!(usage.n_files, LEVELS + 1);
        assert!(0 < usage.n_bytes);
    }
}
