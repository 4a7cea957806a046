//! The stage between csv-agent and what it confines: it gives up every privilege, then becomes Python or the
//! query engine.
//!
//! csv-agent runs itself as `csv-agent __sandbox BYTES SCRATCH`, a single-threaded process, and sends
//! it a policy of that length. This process stays outside as the monitor: it kills the worker when
//! csv-agent exits, stops it while csv-agent is stopped, forwards interrupts, and enforces the limits
//! that the kernel does not. It starts the worker's processes in the most confined way that works:
//!
//! ```text
//! monitor ── init (process 1 of new namespaces) ── worker
//! monitor ── worker                                where there are no namespaces
//! ```

use std::fs::File;
use std::io::{Read, Write, stdin, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use anyhow::Context;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl::{set_child_subreaper, set_dumpable, set_no_new_privs, set_pdeathsig};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::stat::{Mode, umask};
use nix::sys::wait::waitpid;
use nix::unistd::{Gid, Pid, Uid, execve, getegid, geteuid, pipe2, setsid};
use rustix::thread::{CapabilitySet, CapabilitySets};
use serde::{Deserialize, Serialize};

use csv_agent_types::limits::{WORKER_PROCESSES_MAX, WORKER_TASKS_MAX};

use super::layers::{self, Extra};
use super::namespaces::OtherUser;
use super::policy::{Layer, MonitorMessage, Policy, RELAY, Report, StagedProgram};
use super::{monitor, namespaces, raw, remedy};

/// Limit on processes and threads while a worker starts; the worker lowers the limit itself.
const STARTING_PROCESSES_MAX: u64 = WORKER_PROCESSES_MAX as u64 + 32;
const OPEN_FILES_MAX: u64 = 256;
/// Processes and threads that a user may add to the existing ones while a worker runs.
const USER_GROWTH_MAX: u64 = 256;
/// More than any user runs.
const USER_TASKS_MAX: u64 = 1 << 22;
const POLICY_PART_BYTES: usize = 64 * 1024;
/// The first descriptor after stdin, stdout and stderr.
const AFTER_STDIO: u32 = 3;

/// How a worker is isolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsolationMode {
    /// Namespaces created by root, with a user that no one else uses.
    OtherUserInNamespaces,
    /// Namespaces inside a user namespace.
    UserNamespaces,
    /// The same user in the same file system.
    InPlace,
}

impl IsolationMode {
    /// The modes to try, best first.
    fn all(policy: &Policy) -> Vec<IsolationMode> {
        let mut ways = vec![IsolationMode::InPlace];
        if !policy.without.contains(&Layer::Namespaces) {
            ways.push(IsolationMode::UserNamespaces);
            if geteuid().is_root() {
                ways.push(IsolationMode::OtherUserInNamespaces);
            }
        }
        ways.reverse();
        ways
    }

    fn namespaces(self) -> i32 {
        match self {
            IsolationMode::OtherUserInNamespaces => namespaces::ALL,
            IsolationMode::UserNamespaces => namespaces::ALL | libc::CLONE_NEWUSER,
            IsolationMode::InPlace => 0,
        }
    }
}

/// What a starting worker reports to the monitor.
#[derive(Debug, Serialize, Deserialize)]
enum Message {
    /// It is about to become the program.
    Ready(Report),
    /// It cannot continue, for this reason.
    Failed(String),
}

/// Runs `csv-agent __sandbox BYTES SCRATCH`. `engine` is the query engine: it reads a request from
/// stdin, writes its response to stdout, and returns its exit status.
pub fn run(policy_bytes: &str, engine: fn() -> i32) -> ExitCode {
    let started = read_policy(policy_bytes).and_then(|it| start(it, engine));
    let (line, worker) = match started {
        Ok((report, worker)) => (MonitorMessage::Confined(report), worker),
        Err(error) => (MonitorMessage::Failed(format!("{error:#}")), None),
    };
    let told = serde_json::to_string(&line).map(|it| writeln!(stdout(), "{it}"));
    match (told, worker) {
        (Ok(Ok(())), Some((policy, worker))) => monitor::watch(&policy, worker),
        (Ok(Ok(())), None) => ExitCode::SUCCESS,
        // The caller is gone; the worker dies with this process.
        _ => ExitCode::FAILURE,
    }
}

type Started = (Report, Option<(Policy, Pid)>);

/// Reads the policy and not a byte beyond it: the rest is for the worker.
fn read_policy(policy_bytes: &str) -> anyhow::Result<Policy> {
    let n_bytes = policy_bytes.parse().context("cannot read the length of the policy")?;
    let mut policy = Vec::new();
    while policy.len() < n_bytes {
        let mut part = vec![0; (n_bytes - policy.len()).min(POLICY_PART_BYTES)];
        match nix::unistd::read(stdin(), &mut part).context("cannot read the policy")? {
            0 => anyhow::bail!("the policy is incomplete"),
            n_read => policy.extend_from_slice(&part[..n_read]),
        }
    }
    serde_json::from_slice(&policy).context("cannot read the policy")
}

fn start(policy: Policy, engine: fn() -> i32) -> anyhow::Result<Started> {
    // The code must not see what csv-agent inherited from its caller.
    let first = take_relay(&policy).context("cannot take over the connection to the cluster")?;
    raw::close_from(first).context("cannot close inherited files")?;
    umask(Mode::from_bits_truncate(0o077));
    set_child_subreaper(true)?;
    // This process may have to end by the signal that ended the worker.
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    monitor::block_signals()?;
    let mut refused = Vec::new();
    for way in IsolationMode::all(&policy) {
        let attempt = Attempt { way, policy: &policy, engine, user: geteuid(), group: getegid() };
        match attempt.make() {
            Ok((mut report, worker)) => {
                // The relay detects the end of the worker only when no other process holds its end.
                raw::close_from(AFTER_STDIO).context("cannot close the worker's files")?;
                report.refused.splice(0..0, refused);
                let is_trial = policy.program == StagedProgram::Trial;
                return Ok((report, (!is_trial).then_some((policy, worker))));
            }
            Err(error) if way == IsolationMode::InPlace => return Err(error),
            Err(error) if way == IsolationMode::UserNamespaces => {
                refused.push(refusal("namespaces", &error, Layer::Namespaces));
            }
            Err(error) => refused.push(format!("namespaces as root: {error:#}")),
        }
    }
    anyhow::bail!("there is no way to start")
}

fn refusal(name: &str, error: &anyhow::Error, layer: Layer) -> String {
    format!("{name}: {error:#}; {}", remedy::of(layer))
}

/// Moves the worker's connection to the cluster, if any, to its descriptor. Returns the first
/// descriptor after all those that the worker inherits.
fn take_relay(policy: &Policy) -> anyhow::Result<u32> {
    let Some(relay) = policy.relay else { return Ok(AFTER_STDIO) };
    raw::move_to(relay, RELAY)?;
    Ok(AFTER_STDIO + 1)
}

/// The pipe to the monitor, until the worker is ready.
type Messages = Option<File>;

/// One attempt with one isolation mode.
struct Attempt<'a> {
    way: IsolationMode,
    policy: &'a Policy,
    engine: fn() -> i32,
    /// The calling user. Inside a new user namespace the process can no longer look it up.
    user: Uid,
    group: Gid,
}

impl Attempt<'_> {
    /// Creates a worker. On failure, nothing of it remains.
    fn make(&self) -> anyhow::Result<(Report, Pid)> {
        // Created outside: within new namespaces, `/proc` would still be the old one.
        let is_other = self.way == IsolationMode::OtherUserInNamespaces;
        let other = is_other.then(OtherUser::take).transpose()?;
        let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
        match raw::clone(self.way.namespaces()).context("the kernel gives none")? {
            raw::ForkSide::Child => {
                drop(reader);
                let mut messages = Some(File::from(writer));
                let status = self.live(other.as_ref(), &mut messages).unwrap_or_else(|error| {
                    let _ = tell(&mut messages, &Message::Failed(format!("{error:#}")));
                    1
                });
                raw::exit(status)
            }
            raw::ForkSide::Parent(child) => {
                drop(writer);
                let text = match read_while_asked(reader, &stdout()) {
                    Ok(text) => text,
                    Err(error) => {
                        end(child);
                        return Err(error);
                    }
                };
                match text.lines().last().map(serde_json::from_str) {
                    Some(Ok(Message::Ready(report))) => Ok((report, child)),
                    Some(Ok(Message::Failed(reason))) => {
                        end(child);
                        Err(anyhow::Error::msg(reason))
                    }
                    _ => {
                        end(child);
                        Err(anyhow::anyhow!("the worker died before it ran"))
                    }
                }
            }
        }
    }

    /// Runs as the cloned process: as the worker, or as the init of its namespaces.
    fn live(&self, other: Option<&OtherUser>, messages: &mut Messages) -> anyhow::Result<i32> {
        die_with_parent()?;
        match self.way {
            IsolationMode::InPlace => {}
            IsolationMode::UserNamespaces => {
                namespaces::map_user(self.user, self.group)?;
                namespaces::replace_root(self.policy, None)?;
            }
            IsolationMode::OtherUserInNamespaces => {
                let user = other.context("there is no other user")?;
                namespaces::replace_root(self.policy, Some(user))?;
                drop_bounding_set();
                namespaces::become_user(user.id)?;
                // A change of user clears the parent-death signal.
                die_with_parent()?;
                namespaces::check_readable(self.policy)?;
            }
        }
        give_up_rights()?;
        if self.way == IsolationMode::InPlace {
            return self.become_worker(messages);
        }
        set_dumpable(false)?;
        match raw::clone(0)? {
            raw::ForkSide::Child => self.become_worker(messages),
            // The monitor waits for the message pipe to close, so only the worker may hold its other
            // end.
            raw::ForkSide::Parent(worker) => {
                raw::close_from(0)?;
                Ok(monitor::be_init(worker))
            }
        }
    }

    /// Drops the remaining privileges and becomes the program.
    fn become_worker(&self, messages: &mut Messages) -> anyhow::Result<i32> {
        setsid()?;
        let Policy { program, scratch, without, .. } = self.policy;
        std::env::set_current_dir(scratch).context("cannot enter scratch")?;
        let is_apart = self.way != IsolationMode::InPlace;
        // The kernel does not count root's processes.
        let counts_processes = match self.way {
            IsolationMode::OtherUserInNamespaces => true,
            IsolationMode::UserNamespaces => !self.user.is_root(),
            IsolationMode::InPlace => false,
        };
        self.limit_resources(counts_processes)?;
        let is_root = self.user.is_root() && self.way != IsolationMode::OtherUserInNamespaces;
        let mut report =
            Report { namespaces: is_apart, counts_processes, is_root, ..Report::default() };
        if !without.contains(&Layer::Landlock) {
            match layers::landlock(self.policy, is_apart) {
                Ok(version) => report.landlock = version,
                Err(error) => report.refused.push(refusal("Landlock", &error, Layer::Landlock)),
            }
        }
        SigSet::empty().thread_set_mask()?;
        let command = match program {
            StagedProgram::Python { executable, user_base } => {
                Some(super::python_command(executable, user_base.as_deref(), scratch)?)
            }
            StagedProgram::Trial | StagedProgram::Engine => None,
        };
        if !without.contains(&Layer::Seccomp) {
            let no_processes = !counts_processes || *program == StagedProgram::Engine;
            let extra = Extra { no_processes, is_shared: !is_apart };
            match layers::seccomp(extra) {
                Ok(()) => report.seccomp = true,
                Err(error) => report.refused.push(refusal("seccomp", &error, Layer::Seccomp)),
            }
        }
        tell(messages, &Message::Ready(report))?;
        let Some(command) = command else {
            // The monitor waits until this end of the pipe is closed, as exec does.
            *messages = None;
            return Ok(if *program == StagedProgram::Engine { (self.engine)() } else { 0 });
        };
        let Err(error) = execve(&command.program, &command.arguments, &command.environment);
        Err(error).with_context(|| format!("cannot run {}", command.program.to_string_lossy()))
    }

    /// Sets limits that survive exec and cannot be raised again.
    fn limit_resources(&self, counts_processes: bool) -> anyhow::Result<()> {
        let memory = match self.policy.program {
            // It maps datasets, which may be larger than its memory: the kernel drops their pages at will.
            StagedProgram::Engine => Resource::RLIMIT_DATA,
            StagedProgram::Trial | StagedProgram::Python { .. } => Resource::RLIMIT_AS,
        };
        let mut bounds = vec![
            (memory, self.policy.memory_bytes),
            (Resource::RLIMIT_FSIZE, self.policy.file_bytes),
            (Resource::RLIMIT_CORE, 0),
            (Resource::RLIMIT_NOFILE, OPEN_FILES_MAX),
        ];
        if counts_processes {
            let n_processes = match self.policy.program {
                // All of them are threads: it may start no process.
                StagedProgram::Engine => WORKER_TASKS_MAX as u64,
                StagedProgram::Trial | StagedProgram::Python { .. } => STARTING_PROCESSES_MAX,
            };
            bounds.push((Resource::RLIMIT_NPROC, n_processes));
        } else if !self.user.is_root() {
            // The kernel counts everything the user runs, which may grow meanwhile. The monitor counts
            // exactly.
            let n_there = count_tasks_of_user()?;
            bounds.push((Resource::RLIMIT_NPROC, n_there + USER_GROWTH_MAX));
        }
        for (resource, bound) in bounds {
            let bound = bound.min(getrlimit(resource)?.1);
            setrlimit(resource, bound, bound)?;
        }
        Ok(())
    }
}

/// Returns how many processes and threads this user has, as the kernel counts them: it tries to fork
/// under one limit after another. `/proc` may show only some of them.
fn count_tasks_of_user() -> anyhow::Result<u64> {
    let (_, most) = getrlimit(Resource::RLIMIT_NPROC)?;
    let (mut too_few, mut enough) = (0, most.min(USER_TASKS_MAX));
    while too_few + 1 < enough {
        let bound = u64::midpoint(too_few, enough);
        setrlimit(Resource::RLIMIT_NPROC, bound, most)?;
        match raw::clone(0) {
            Ok(raw::ForkSide::Child) => raw::exit(0),
            Ok(raw::ForkSide::Parent(child)) => {
                waitpid(child, None)?;
                enough = bound;
            }
            Err(_) => too_few = bound,
        }
    }
    Ok(enough)
}

/// Reads the worker's messages until it becomes its program, which closes its end, or dies. Fails when the
/// reader of `asker` is gone, because csv-agent has exited. A step of the worker may block forever, as on a
/// file server that does not answer, and no one would end it.
fn read_while_asked(reader: OwnedFd, asker: &impl AsFd) -> anyhow::Result<String> {
    let mut reader = File::from(reader);
    let mut text = String::new();
    loop {
        // The poll reports an error once the other end has no reader.
        let mut events = [
            PollFd::new(reader.as_fd(), PollFlags::POLLIN),
            PollFd::new(asker.as_fd(), PollFlags::empty()),
        ];
        match poll(&mut events, PollTimeout::NONE) {
            Err(Errno::EINTR) => continue,
            polled => polled?,
        };
        let [speaks, is_alone] = events.map(|it| it.any().unwrap_or(false));
        if speaks {
            let mut part = [0; 4096];
            match reader.read(&mut part)? {
                0 => return Ok(text),
                n_read => text.push_str(&String::from_utf8_lossy(&part[..n_read])),
            }
        } else if is_alone {
            anyhow::bail!("csv-agent is gone");
        }
    }
}

fn end(child: Pid) {
    // It may have already died.
    let _ = kill(child, Signal::SIGKILL);
    let _ = waitpid(child, None);
}

fn tell(messages: &mut Messages, message: &Message) -> anyhow::Result<()> {
    let Some(messages) = messages else { return Ok(()) };
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(messages.write_all(&line)?)
}

fn die_with_parent() -> anyhow::Result<()> {
    set_pdeathsig(Signal::SIGKILL).context("cannot ask to die with the monitor")
}

/// Ensures that no program can regain a privilege.
fn give_up_rights() -> anyhow::Result<()> {
    drop_bounding_set();
    rustix::thread::clear_ambient_capability_set()?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).context("cannot give up all capabilities")?;
    set_no_new_privs().context("cannot give up new rights")
}

fn drop_bounding_set() {
    for capability in (0..64).map(|it| CapabilitySet::from_bits_retain(1 << it)) {
        // Fails for a capability that the kernel does not know, and for all of them without the
        // privilege to drop. Nothing is then left that `no_new_privs` would not block.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write, pipe};

    use super::read_while_asked;

    #[test]
    fn a_worker_that_does_not_get_ready_is_waited_for_while_somebody_asks() {
        let (reader, mut writer) = pipe().unwrap();
        let (asks, asker) = pipe().unwrap();
        writer.write_all(b"ready").unwrap();
        drop(writer);
        assert_eq!(read_while_asked(reader.into(), &asker).unwrap(), "ready");

        let (reader, _silent) = pipe().unwrap();
        drop(asks);
        let error = read_while_asked(reader.into(), &asker).unwrap_err();
        assert_eq!(error.to_string(), "csv-agent is gone");
    }
}
