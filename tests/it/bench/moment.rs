//! Moments of a command: reached by what it does, never by time.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::io::ErrorKind;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::process::{PidfdFlags, pidfd_open};

/// What takes longer hangs, however busy the machine is.
pub const HANG: Duration = Duration::from_mins(10);

/// Tries of what must be done in time, the last with 128 times the limit of the first.
const N_TRIES: usize = 8;

/// Waits until something is so.
#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + HANG;
    while !is_so() {
        assert!(Instant::now() < deadline, "it never comes about: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Tries something with a limit of time, and with twice the limit until it comes as far as it should
/// before its time is over. A busy machine needs a longer limit; a fault fails with each.
#[track_caller]
pub fn in_time<T, E: Display>(
    first: Duration,
    mut attempt: impl FnMut(Duration) -> Result<T, E>,
) -> T {
    let mut told = String::new();
    for limit in limits(first) {
        match attempt(limit) {
            Ok(found) => return found,
            Err(error) => told = format!("with a limit of {limit:?}: {error}"),
        }
    }
    panic!("{told}")
}

/// The same as [`in_time`].
pub async fn in_time_async<T, E: Display>(
    first: Duration,
    mut attempt: impl AsyncFnMut(Duration) -> Result<T, E>,
) -> T {
    let mut told = String::new();
    for limit in limits(first) {
        match attempt(limit).await {
            Ok(found) => return found,
            Err(error) => told = format!("with a limit of {limit:?}: {error}"),
        }
    }
    panic!("{told}")
}

fn limits(first: Duration) -> impl Iterator<Item = Duration> {
    std::iter::successors(Some(first), |it| Some(2 * *it)).take(N_TRIES)
}

/// Demands that something is done sooner than `limit`, which it would take if it waited for something.
/// What does not wait is late now and then on a busy machine, and not in each try.
#[track_caller]
pub fn sooner_than(limit: Duration, mut attempt: impl FnMut()) {
    let took: Vec<Duration> = std::iter::repeat_with(|| {
        let began = Instant::now();
        attempt();
        began.elapsed()
    })
    .take(N_TRIES)
    .map_while(|it| (limit <= it).then_some(it))
    .collect();
    assert!(took.len() < N_TRIES, "it takes {took:?}, each time as long as {limit:?}");
}

/// Waits until a command has taken a signal into its own hands.
pub fn until_caught(child: &Child, signal: Signal) {
    let path = format!("/proc/{}/status", child.id());
    until(&format!("{signal} is caught"), || {
        let status = fs::read_to_string(&path).unwrap();
        let caught = status.lines().find_map(|it| it.strip_prefix("SigCgt:")).unwrap();
        let caught = u64::from_str_radix(caught.trim(), 16).unwrap();
        caught & 1 << (signal as u32 - 1) != 0
    });
}

/// Sends a signal to a command and all that it started.
#[track_caller]
pub fn signal(child: &Child, signal: Signal) {
    killpg(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

/// What changes in a directory and below it, as the kernel tells it.
pub struct Changes {
    inotify: OwnedFd,
    directories: HashMap<i32, PathBuf>,
}

impl Changes {
    /// Begins to watch a directory and all that it has.
    pub fn of(directory: &Path) -> Changes {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        let mut changes = Changes { inotify, directories: HashMap::new() };
        changes.watch(directory.to_owned());
        changes
    }

    fn watch(&mut self, directory: PathBuf) {
        let kinds = WatchFlags::CREATE
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE;
        // It may be gone by now.
        let Ok(number) = inotify::add_watch(&self.inotify, &directory, kinds) else { return };
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|it| it.is_dir()) {
                self.watch(entry.path());
            }
        }
        self.directories.insert(number, directory);
    }

    /// Waits for so many changes, or for the end of a process. Returns how many there were.
    pub fn wait_for(&mut self, n_changes: usize, child: &Child) -> usize {
        let pid = rustix::process::Pid::from_child(child);
        let process = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        let mut n_seen = 0;
        while n_seen < n_changes {
            let mut ready = [&self.inotify, &process].map(|it| PollFd::new(it, PollFlags::IN));
            poll(&mut ready, None).unwrap();
            let [has_changed, has_ended] = ready.map(|it| !it.revents().is_empty());
            if has_changed {
                n_seen += self.read(n_changes - n_seen);
            } else if has_ended {
                break;
            }
        }
        n_seen
    }

    /// Reads changes that are there, and watches directories that came.
    fn read(&mut self, n_max: usize) -> usize {
        let mut came = Vec::new();
        let mut n_read = 0;
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.inotify, &mut buffer);
        while n_read < n_max {
            let change = match reader.next() {
                Ok(change) => change,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            };
            n_read += 1;
            if change.events().contains(ReadFlags::CREATE | ReadFlags::ISDIR)
                && let Some(directory) = self.directories.get(&change.wd())
                && let Some(name) = change.file_name()
            {
                came.push(directory.join(name.to_str().unwrap()));
            }
        }
        for directory in came {
            self.watch(directory);
        }
        n_read
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::{Changes, in_time, sooner_than};

    #[test]
    fn changes_are_counted_until_there_are_enough_or_the_process_ends() {
        let directory = tempfile::tempdir().unwrap();
        let script = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]).current_dir(directory.path()).stdin(Stdio::piped());
            let mut changes = Changes::of(directory.path());
            let child = command.spawn().unwrap();
            (changes.wait_for(5, &child), child)
        };
        // Made, written, and closed; a directory has one change.
        let (n_changes, mut ended) = script("echo 1 > a; mkdir b");
        assert_eq!((n_changes, ended.wait().unwrap().code()), (4, Some(0)));
        let (n_changes, mut waits) = script("rm a; echo 1 > b/c; echo 2 > d; read line");
        assert_eq!((n_changes, waits.try_wait().unwrap()), (5, None));
        waits.kill().unwrap();
        waits.wait().unwrap();
    }

    #[test]
    fn what_comes_too_late_has_more_time_in_the_next_try() {
        let limit = in_time(Duration::from_millis(1), |limit| {
            if limit < Duration::from_millis(4) { Err("too late") } else { Ok(limit) }
        });
        assert_eq!(limit, Duration::from_millis(4));
        let n_tries = Cell::new(0);
        let is_late_once = || {
            n_tries.set(n_tries.get() + 1);
            std::thread::sleep(Duration::from_millis(20 * u64::from(n_tries.get() == 1)));
        };
        sooner_than(Duration::from_millis(10), is_late_once);
        assert!(1 < n_tries.get());
    }

    #[test]
    #[should_panic(expected = "each time as long as 1ms")]
    fn what_waits_is_late_in_each_try() {
        sooner_than(Duration::from_millis(1), || std::thread::sleep(Duration::from_millis(2)));
    }
}
