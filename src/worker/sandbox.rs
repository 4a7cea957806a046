//! How the worker's process is made: what it may do, its environment, and how it is stopped.
//!
//! The code it runs is hostile by assumption. csv-agent runs itself once more as the [`stage`], which
//! takes every right away that the kernel lets it take and then becomes Python. What holds after that,
//! and what does not, is said by [`Confinement`]; nothing here claims more.

mod layers;
mod memory;
mod monitor;
mod namespaces;
mod policy;
mod raw;
mod remedy;
pub mod stage;

use std::ffi::{CString, NulError, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use nix::sys::prctl::set_dumpable;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

pub use memory::usual_memory_bytes;
pub use policy::{Layer, Report};
pub(super) use policy::{MonitorMessage, Policy};

pub use csv_agent_types::event::Confinement;
use csv_agent_types::limits::{WORKER_FILE_BYTES_MAX, WORKER_PROCESSES_MAX, WORKER_TASKS_MAX};
use csv_agent_types::status::{ExitStatus, Failure};

/// The first argument that makes csv-agent the stage. It is for csv-agent alone.
pub const STAGE: &str = "__sandbox";
/// Where programs and libraries are, and what the loader and libraries look up; those that exist.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
];
/// Devices without a state of their own.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// The rule by which code reads and writes only the files that it was given.
pub const FILES: &str = "files";
/// The rules of the product contract that need the kernel's help.
const RULES: [&str; 7] = [
    "network",
    FILES,
    "names of files outside",
    "other processes",
    "subprocesses",
    "system calls",
    "user",
];
/// What the monitor ends with when the worker's processes had too much memory together.
pub(super) const STOPPED_FOR_MEMORY: i32 = 121;
/// What the monitor ends with when the worker's files were too many or too large together.
pub(super) const STOPPED_FOR_DISK: i32 = 122;
/// What the monitor ends with when the worker's threads and processes were too many together.
pub(super) const STOPPED_FOR_TASKS: i32 = 123;

/// Reads one line, which holds the worker's text and its settings, and runs the text with a copy of
/// the builtins of its own: what code does to `builtins` does not reach the functions of the worker.
const BOOTSTRAP: &str = "import json, sys; \
    start = json.loads(sys.stdin.buffer.readline()); \
    exec(compile(start.pop('program'), '<worker>', 'exec'), {'start': start, \
    '__name__': 'worker', '__builtins__': dict(vars(__import__('builtins')))})";

/// Closes the memory and the environment of this process, where keys are, to other processes of the user:
/// code that nothing confines is one of them. Programs that it runs begin open again, the stage too.
pub fn close_to_others() {
    // It fails for no process that asks for itself.
    let _ = set_dumpable(false);
}

/// How a worker is to be confined.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// csv-agent itself, to run as the stage.
    pub program: PathBuf,
    /// Layers that are left out, to see what the others stop.
    pub without: Vec<Layer>,
    /// What must hold before any code runs.
    pub demand: Demand,
    /// Address space of each process of code.
    pub memory_bytes: u64,
}

/// What must hold before any code runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Demand {
    /// Every rule.
    Everything,
    /// The rule on files: without it, code reads the keys of the user and writes programs that they run.
    #[default]
    Files,
    /// Nothing. The user takes the risk.
    Nothing,
}

impl SandboxOptions {
    /// Makes sure that enough holds for code to run.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Sandbox`], what is missing and what can be done.
    pub fn check(&self, confinement: &Confinement) -> Result<(), Failure> {
        let is_enough = match self.demand {
            Demand::Everything => confinement.missing.is_empty(),
            Demand::Files => confinement.enforces(FILES),
            Demand::Nothing => true,
        };
        if is_enough {
            return Ok(());
        }
        let because = [vec![String::new()], confinement.reasons.clone()].concat().join("; ");
        if self.demand == Demand::Everything {
            let missing = confinement.missing.join(", ");
            let message = format!("`--require-sandbox`: not enforced here: {missing}{because}");
            return Err(Failure::new(ExitStatus::Sandbox, message));
        }
        let message = format!(
            "no code is run: it could read and write every file that you can, because this machine does not \
             confine it{because}"
        );
        let hint = "`csv-agent doctor` says what is missing; if you trust the data and the model with your files, \
                    set `allow_unconfined = true` in your own configuration, or add `--allow-unconfined` to `ask` \
                    or `chat`";
        Err(Failure::new(ExitStatus::Sandbox, message).hint(hint))
    }
}

/// Returns what a report means for someone who does not know the kernel.
pub(super) fn confinement_of(report: &Report, policy: &Policy) -> Confinement {
    let Report { namespaces, landlock, seccomp, counts_processes, is_root, refused } = report;
    // Landlock has rules on files from its first version on, on TCP from its fourth only.
    let files = *namespaces || 1 <= *landlock;
    let subprocesses = match (counts_processes, seccomp) {
        (true, _) => Some(format!("subprocesses: {WORKER_PROCESSES_MAX}")),
        (false, true) => Some("subprocesses: none".to_owned()),
        (false, false) => None,
    };
    let enforced = [
        // Namespaces alone leave the sockets of a virtual machine to its host.
        seccomp.then(|| match policy.relay {
            None => "network: none".to_owned(),
            Some(_) => "network: none but the relay to the cluster".to_owned(),
        }),
        files.then(|| format!("{FILES}: Python and datasets, scratch to write")),
        namespaces.then(|| "names of files outside: not seen".to_owned()),
        (*namespaces || files && *seccomp).then(|| "other processes: not seen".to_owned()),
        subprocesses,
        seccomp.then(|| "system calls: a list".to_owned()),
        match (is_root, namespaces) {
            (false, _) => Some("user: without rights".to_owned()),
            (true, true) => Some("user: root of namespaces, without rights outside".to_owned()),
            (true, false) => None,
        },
    ];
    let left_out = policy.without.iter();
    let left_out = left_out.map(|it| format!("CSV_AGENT_SANDBOX_WITHOUT has {}", it.name()));
    let as_root = (*is_root && !namespaces)
        .then(|| "user: code runs as root, without root's capabilities".to_owned());
    let reasons = left_out.chain(refused.clone()).chain(as_root).collect();
    let mut confinement = Confinement { enforced: Vec::new(), missing: Vec::new(), reasons };
    for (rule, enforced) in RULES.into_iter().zip(enforced) {
        match enforced {
            Some(enforced) => confinement.enforced.push(enforced),
            None => confinement.missing.push(rule.to_owned()),
        }
    }
    confinement.enforced.extend([
        format!("memory: {} MB", policy.memory_bytes >> 20),
        format!("one file: {} MB", policy.file_bytes >> 20),
        format!("threads and processes: {WORKER_TASKS_MAX}"),
        "environment: built from nothing".to_owned(),
    ]);
    confinement
}

/// Returns that of a machine where no process can be confined.
pub fn unconfined(reason: String) -> Confinement {
    let missing = RULES.map(str::to_owned).to_vec();
    Confinement { enforced: Vec::new(), missing, reasons: vec![reason] }
}

/// Says what would be enforced here, without a worker.
///
/// # Errors
///
/// Fails when no process can be confined at all.
pub async fn try_out(options: &SandboxOptions) -> anyhow::Result<Confinement> {
    let scratch = TempDir::new()?;
    let policy = Policy {
        python: None,
        scratch: fs::canonicalize(scratch.path())?,
        reads: Vec::new(),
        data: Vec::new(),
        links: Vec::new(),
        memory_bytes: options.memory_bytes,
        file_bytes: WORKER_FILE_BYTES_MAX,
        relay: None,
        without: options.without.clone(),
    };
    let mut child = spawn(&options.program, &policy, None).await?;
    drop(child.stdin.take());
    let output = child.wait_with_output().await?;
    match serde_json::from_slice(&output.stdout)? {
        MonitorMessage::Confined(report) => Ok(confinement_of(&report, &policy)),
        MonitorMessage::Failed(reason) => Err(anyhow::Error::msg(reason)),
    }
}

/// Starts the stage with three pipes, and gives it the policy.
///
/// It becomes the monitor of the worker: when the request pipe is closed, however csv-agent ended, it
/// kills the worker and all that the worker started. `relay` is what the policy names.
///
/// # Errors
///
/// Fails when a path is not UTF-8, or the stage cannot be run.
pub(super) async fn spawn(
    program: &Path,
    policy: &Policy,
    relay: Option<Arc<OwnedFd>>,
) -> io::Result<Child> {
    let scratch = &policy.scratch;
    let policy = serde_json::to_vec(policy)?;
    let mut command = Command::new(program);
    // The directory says to whoever lists processes which worker this is.
    command.arg(STAGE).arg(policy.len().to_string()).arg(scratch).env_clear().current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A signal to the whole group of csv-agent must leave the monitor there to end the worker.
    command.process_group(0);
    if let Some(relay) = relay {
        raw::inherit(&mut command, relay);
    }
    let mut child = command.spawn()?;
    if let Some(stdin) = &mut child.stdin {
        stdin.write_all(&policy).await?;
    }
    Ok(child)
}

/// What the stage becomes.
struct PythonCommand {
    program: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

/// Returns the Python that runs the worker's text.
///
/// `-I` would be the flag for an untouched environment, but it also ignores the hash seed, without
/// which a set prints in another order each time.
fn python_command(python: &Path, scratch: &Path) -> Result<PythonCommand, NulError> {
    let program = CString::new(python.as_os_str().as_bytes())?;
    let arguments = ["-s", "-B", "-u", "-c", BOOTSTRAP].map(CString::new);
    let arguments: Result<Vec<_>, _> = [Ok(program.clone())].into_iter().chain(arguments).collect();
    let environment = environment(scratch)
        .into_iter()
        .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()));
    let environment = environment.collect::<Result<Vec<_>, _>>()?;
    Ok(PythonCommand { program, arguments: arguments?, environment })
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
        // What scikit-learn would run in pools of threads or processes it runs in this one.
        ("JOBLIB_MULTIPROCESSING", "0"),
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

/// The monitor of a worker, which passes on what is meant for the worker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Monitor(Pid);

impl Monitor {
    /// Takes the number of the process that was spawned and not collected yet.
    pub(crate) fn of(pid: u32) -> Self {
        Monitor(Pid::from_raw(pid.cast_signed()))
    }

    /// Raises in the code that runs; nothing happens when none does.
    pub(crate) fn interrupt(self) {
        // It fails only when the process is gone, which whoever waits for it will see.
        let _ = kill(self.0, Signal::SIGINT);
    }
}
