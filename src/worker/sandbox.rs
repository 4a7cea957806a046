//! Starting the worker's process: its permissions, its environment, and how it is stopped.
//!
//! The code it runs is assumed hostile. csv-agent runs itself again as the [`stage`], which drops every
//! privilege that the kernel lets it drop and then becomes Python. [`Confinement`] states which rules
//! then hold and which do not; nothing here claims more.

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
use std::thread::available_parallelism;

use nix::sys::prctl::set_dumpable;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

pub use memory::usual_memory_bytes;
pub use policy::{Layer, Report};
pub(super) use policy::{MonitorMessage, Policy, StagedProgram};

pub use csv_agent_types::event::Confinement;
use csv_agent_types::limits::{
    SCRATCH_BYTES_MAX, WORKER_FILE_BYTES_MAX, WORKER_PROCESSES_MAX, WORKER_TASKS_MAX,
};
use csv_agent_types::status::Failure;

/// The first argument that turns csv-agent into the stage. Only csv-agent uses it.
pub const STAGE: &str = "__sandbox";
/// Directories of programs and libraries, and files that the loader and libraries look up, where they
/// exist.
const SYSTEM: [&str; 12] = [
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/localtime",
];
/// Stateless devices.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// The rule that code reads and writes only the files it was given.
pub const FILES: &str = "files";
/// The rules of the product contract that need the kernel's support.
const RULES: [&str; 7] = [
    "network",
    FILES,
    "names of files outside",
    "other processes",
    "subprocesses",
    "system calls",
    "user",
];
/// Exit status of the monitor when the worker's processes together used too much memory.
pub(super) const STOPPED_FOR_MEMORY: i32 = 121;
/// Exit status of the monitor when the worker's files together were too many or too large.
pub(super) const STOPPED_FOR_DISK: i32 = 122;
/// Exit status of the monitor when the worker's threads and processes together were too many.
pub(super) const STOPPED_FOR_TASKS: i32 = 123;

/// Threads of each pool of the query engine.
const ENGINE_THREADS_MAX: usize = 16;

/// Reads one line with the worker's program and its settings, and runs the program with its own copy of
/// the builtins: code that changes `builtins` does not affect the worker's functions.
const BOOTSTRAP: &str = "import json, sys; \
    start = json.loads(sys.stdin.buffer.readline()); \
    exec(compile(start.pop('program'), '<worker>', 'exec'), {'start': start, \
    '__name__': 'worker', '__builtins__': dict(vars(__import__('builtins')))})";

/// Denies other processes of the user access to the memory and the environment of this process, which
/// contain keys: unconfined code is such a process. Programs that it runs start accessible again,
/// including the stage.
pub fn close_to_others() {
    // It does not fail for the calling process itself.
    let _ = set_dumpable(false);
}

/// How to confine a worker.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    /// csv-agent itself, to run as the stage.
    pub program: PathBuf,
    /// Layers to leave out, to test what the others stop.
    pub without: Vec<Layer>,
    /// The rules required before any code runs.
    pub demand: Demand,
    /// Address space of each process that runs code.
    pub memory_bytes: u64,
}

/// The rules required before any code runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Demand {
    /// Every rule.
    Everything,
    /// The rule on files: without it, code can read the user's keys and write programs that the user
    /// runs.
    #[default]
    Files,
    /// None. The user accepts the risk.
    Nothing,
}

impl SandboxOptions {
    /// Ensures that the required rules hold.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Sandbox`, the missing rules and a remedy.
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
            return Err(Failure::sandbox(message));
        }
        let message = format!(
            "no code is run: it could read and write every file that you can, because this machine does not \
             confine it{because}"
        );
        let hint = "`csv-agent doctor` reports what is missing; if you trust the data and the model \
                    with your files, \
                    set `allow_unconfined = true` in your own configuration, or add `--allow-unconfined` to `ask` \
                    or `chat`";
        Err(Failure::sandbox(message).hint(hint))
    }
}

/// Translates a report for readers who do not know the kernel.
pub(super) fn confinement_of(report: &Report, policy: &Policy) -> Confinement {
    let Report { namespaces, landlock, seccomp, counts_processes, is_root, refused } = report;
    // Landlock supports rules on files from its first version, on TCP only from its fourth.
    let files = *namespaces || 1 <= *landlock;
    let subprocesses = match (counts_processes, seccomp) {
        (true, _) => Some(format!("subprocesses: {WORKER_PROCESSES_MAX}")),
        (false, true) => Some("subprocesses: none".to_owned()),
        (false, false) => None,
    };
    let enforced = [
        // Namespaces alone leave a virtual machine's sockets to its host open.
        seccomp.then(|| match policy.relay {
            None => "network: none".to_owned(),
            Some(_) => "network: none but the relay to the cluster".to_owned(),
        }),
        files.then(|| format!("{FILES}: Python and datasets, scratch to write")),
        namespaces.then(|| "names of files outside: hidden".to_owned()),
        (*namespaces || files && *seccomp).then(|| "other processes: hidden".to_owned()),
        subprocesses,
        seccomp.then(|| "system calls: only those on a list".to_owned()),
        match (is_root, namespaces) {
            (false, _) => Some("user: unprivileged".to_owned()),
            (true, true) => {
                Some("user: root inside the namespaces, unprivileged outside".to_owned())
            }
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
        "environment: only variables that csv-agent sets".to_owned(),
    ]);
    confinement
}

/// Returns the confinement of a machine that cannot confine any process.
pub fn unconfined(reason: String) -> Confinement {
    let missing = RULES.map(str::to_owned).to_vec();
    Confinement { enforced: Vec::new(), missing, reasons: vec![reason] }
}

/// Reports what would be enforced here, without a worker.
///
/// # Errors
///
/// Fails when no process can be confined at all.
pub async fn try_out(options: &SandboxOptions) -> anyhow::Result<Confinement> {
    let scratch = TempDir::new()?;
    let policy = Policy {
        program: StagedProgram::Trial,
        scratch: fs::canonicalize(scratch.path())?,
        memory_bytes: options.memory_bytes,
        file_bytes: WORKER_FILE_BYTES_MAX,
        scratch_bytes: SCRATCH_BYTES_MAX,
        without: options.without.clone(),
        ..Policy::default()
    };
    let mut child = spawn(&options.program, &policy, None).await?;
    drop(child.stdin.take());
    let output = child.wait_with_output().await?;
    match serde_json::from_slice(&output.stdout)? {
        MonitorMessage::Confined(report) => Ok(confinement_of(&report, &policy)),
        MonitorMessage::Failed(reason) => Err(anyhow::Error::msg(reason)),
    }
}

/// Starts the stage with three pipes, and sends it the policy.
///
/// The stage becomes the worker's monitor: when the request pipe closes, however csv-agent ended, it kills the
/// worker and everything that the worker started. `relay` is the descriptor in the policy. Fails when a path is
/// not UTF-8, or the stage cannot be run.
pub(super) async fn spawn(
    program: &Path,
    policy: &Policy,
    relay: Option<Arc<OwnedFd>>,
) -> io::Result<Child> {
    let scratch = &policy.scratch;
    let mut command = Command::new(program);
    // In a process list, the directory identifies the worker.
    command.env_clear().current_dir("/");
    if policy.program == StagedProgram::Engine {
        command.envs(engine_environment(scratch));
    }
    let policy = serde_json::to_vec(policy)?;
    command.arg(STAGE).arg(policy.len().to_string()).arg(scratch);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A signal to csv-agent's whole process group must leave the monitor running to end the worker.
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

/// The program that the stage becomes.
struct PythonCommand {
    program: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

/// Returns the Python command that runs the worker's program.
///
/// `-I` would be the usual flag for isolation, but it also ignores the hash seed, without which a set
/// prints in a different order each time.
fn python_command(
    python: &Path,
    user_base: Option<&Path>,
    scratch: &Path,
) -> Result<PythonCommand, NulError> {
    let program = CString::new(python.as_os_str().as_bytes())?;
    // Without a user base, there are no packages of the user.
    let flag = if user_base.is_some() { "-B" } else { "-Bs" };
    let arguments = [flag, "-u", "-c", BOOTSTRAP].map(CString::new);
    let arguments: Result<Vec<_>, _> = [Ok(program.clone())].into_iter().chain(arguments).collect();
    let user_base = user_base.map(|it| ("PYTHONUSERBASE", it.as_os_str().to_owned()));
    let environment = environment(scratch)
        .into_iter()
        .chain(user_base)
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
        // Makes scikit-learn run its pools of threads or processes in this one.
        ("JOBLIB_MULTIPROCESSING", "0"),
        ("MKL_NUM_THREADS", "1"),
        ("NUMEXPR_NUM_THREADS", "1"),
        ("ARROW_IO_THREADS", "1"),
        // These two save address space for data: pools reserve it by the gigabyte.
        ("ARROW_DEFAULT_MEMORY_POOL", "system"),
        ("MALLOC_ARENA_MAX", "1"),
    ]
    .map(|(name, value)| (name, OsString::from(value)))
    .to_vec();
    environment.extend(["HOME", "TMPDIR"].map(|name| (name, scratch.as_os_str().to_owned())));
    environment
}

/// The settings of the query engine, which polars reads from its environment.
fn engine_environment(scratch: &Path) -> Vec<(&'static str, OsString)> {
    let n_threads = available_parallelism().map_or(1, |it| it.get().min(ENGINE_THREADS_MAX));
    let mut environment = vec![
        ("TZ", OsString::from("UTC")),
        ("POLARS_MAX_THREADS", OsString::from(n_threads.to_string())),
        // Pools reserve address space by the gigabyte.
        ("MALLOC_ARENA_MAX", OsString::from("2")),
    ];
    let directories = ["HOME", "TMPDIR", "POLARS_TEMP_DIR_BASE_PATH", "POLARS_OOC_SPILL_DIR"];
    environment.extend(directories.map(|name| (name, scratch.as_os_str().to_owned())));
    environment
}

/// The monitor of a worker, which forwards signals to the worker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Monitor(Pid);

impl Monitor {
    /// Takes the id of a process that was spawned and not yet reaped.
    pub(crate) fn of(pid: u32) -> Self {
        Monitor(Pid::from_raw(pid.cast_signed()))
    }

    /// Raises an interrupt in running code; does nothing when no code is running.
    pub(crate) fn interrupt(self) {
        // It fails only when the process is gone, which its waiting caller will detect.
        let _ = kill(self.0, Signal::SIGINT);
    }
}
