//! Code that attacks: each snippet of `tests/hostile` ends contained, and the worker stays usable or is
//! replaced.
//!
//! A snippet's last value is `reached` when the attack has worked. `# next call` and `# next process`
//! begin a part that looks at what the one before has left; its value is `fine` then.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use nix::unistd::geteuid;
use tempfile::TempDir;

use csv_agent_types::limits::{REPL_TEXT_BYTES_MAX, WORKER_GRACE, WORKER_MEMORY_BYTES_MIN};
use csv_agent_worker::protocol::{Command as Ask, Outcome, OutcomeStatus};
use csv_agent_worker::sandbox::{Demand, Layer, SandboxOptions};
use csv_agent_worker::{Worker, WorkerError, WorkerOptions};

use crate::bench::{HANG, is_slow_run};
use crate::worker::{interpreter, processes_of, program, until};

/// Attacks that work for any user where nothing confines the code, and harm nothing but the bait.
const WORKS_UNCONFINED: [&str; 22] = [
    "change_the_mode_of_a_file",
    "change_the_time_of_a_file",
    "connect_to_a_local_socket",
    "connect_to_a_server",
    "connect_to_an_abstract_socket",
    "delete_a_dataset",
    "kill_a_process",
    "leave_the_directory_upwards",
    "limit_a_process",
    "list_a_directory",
    "overwrite_a_dataset",
    "read_a_file_of_the_user",
    "read_a_file_through_a_symbolic_link",
    "read_a_file_with_a_program",
    "read_a_file_with_arrow",
    "read_a_file_with_ctypes",
    "read_a_file_with_pandas",
    "see_that_a_file_exists",
    "send_a_datagram",
    "send_from_a_pair_of_sockets",
    "truncate_a_file",
    "write_outside",
];

/// Attacks that run until they are killed. Each has a session of its own and less time.
pub const ENDLESS: [&str; 5] = [
    "catch_every_exception",
    "ignore_every_signal",
    "steal_the_next_command",
    "take_memory_in_small_parts",
    "wait_in_native_code",
];

/// The user who is called `nobody` nearly everywhere.
const USER: u32 = 65_534;

/// What an attack is after.
struct Bait {
    directory: TempDir,
    victim: Child,
    connections: TcpListener,
    datagrams: UdpSocket,
    local: UnixListener,
    local_datagrams: UnixDatagram,
    unnamed: UnixListener,
    secret_at_start: (u32, i64, u64),
}

impl Bait {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::create_dir(at("outside")).unwrap();
        fs::create_dir(at("datasets")).unwrap();
        fs::write(at("outside/secret.csv"), "key\nsk-secret\n").unwrap();
        fs::set_permissions(at("outside/secret.csv"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(at("datasets/sales.parquet"), "data").unwrap();
        let abstract_name = format!("csv-agent-{}", directory.path().display());
        let unnamed = SocketAddr::from_abstract_name(abstract_name).unwrap();
        let bait = Bait {
            victim: Command::new("sleep").arg("600").spawn().unwrap(),
            connections: TcpListener::bind("127.0.0.1:0").unwrap(),
            datagrams: UdpSocket::bind("127.0.0.1:0").unwrap(),
            local: UnixListener::bind(at("socket")).unwrap(),
            local_datagrams: UnixDatagram::bind(at("datagrams")).unwrap(),
            unnamed: UnixListener::bind_addr(&unnamed).unwrap(),
            secret_at_start: secret(&at("outside/secret.csv")),
            directory,
        };
        bait.connections.set_nonblocking(true).unwrap();
        bait.datagrams.set_nonblocking(true).unwrap();
        bait.local.set_nonblocking(true).unwrap();
        bait.local_datagrams.set_nonblocking(true).unwrap();
        bait.unnamed.set_nonblocking(true).unwrap();
        bait
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Tells a snippet where everything is.
    fn prelude(&self) -> String {
        let [secret, outside, dataset, socket, datagrams] =
            ["outside/secret.csv", "outside", "datasets/sales.parquet", "socket", "datagrams"]
                .map(|it| self.at(it).display().to_string());
        format!(
            "SECRET = '{secret}'; OUTSIDE = '{outside}'; DATASET = '{dataset}'; \
             SOCKET = '{socket}'; DATAGRAMS = '{datagrams}'; UNNAMED = '\\0csv-agent-{}'; \
             PORT = {}; DATAGRAM_PORT = {}; VICTIM = {}\n",
            self.directory.path().display(),
            self.connections.local_addr().unwrap().port(),
            self.datagrams.local_addr().unwrap().port(),
            self.victim.id(),
        )
    }

    /// Fails when something of it was reached, whatever the code said.
    fn check(&mut self, name: &str) {
        assert!(self.victim.try_wait().unwrap().is_none(), "{name} killed the victim");
        assert!(self.connections.accept().is_err(), "{name} connected to a server");
        assert!(self.datagrams.recv(&mut [0; 9]).is_err(), "{name} sent a datagram");
        assert!(self.local.accept().is_err(), "{name} connected to a local socket");
        assert!(self.local_datagrams.recv(&mut [0; 9]).is_err(), "{name} sent to a local socket");
        assert!(self.unnamed.accept().is_err(), "{name} connected to an abstract socket");
        assert_eq!(secret(&self.at("outside/secret.csv")), self.secret_at_start, "{name}");
        assert_eq!(fs::read_dir(self.at("outside")).unwrap().count(), 1, "{name} wrote outside");
        assert_eq!(fs::read(self.at("datasets/sales.parquet")).unwrap(), b"data", "{name}");
        assert_eq!(fs::read_dir(self.at("datasets")).unwrap().count(), 1, "{name}");
    }
}

impl Drop for Bait {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn secret(path: &Path) -> (u32, i64, u64) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.mode(), metadata.mtime(), metadata.len())
}

/// The snippets, each with its name.
pub fn snippets() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let files = fs::read_dir(directory).unwrap().map(|it| it.unwrap().path());
    let mut snippets: Vec<_> = files
        .map(|it| (it.file_stem().unwrap().display().to_string(), fs::read_to_string(it).unwrap()))
        .collect();
    snippets.sort();
    assert!(70 < snippets.len());
    snippets
}

/// The REPL of a session under attack.
pub struct Target {
    /// Time of one call. Attacks that go on for ever take it whole.
    pub command_timeout: Duration,
    grace: Duration,
    without: Vec<Layer>,
    bait: Bait,
    scratch: TempDir,
    saved: TempDir,
    worker: Option<Worker>,
}

impl Target {
    /// Makes one whose confinement lacks these layers.
    pub fn new(without: &[Layer]) -> Self {
        let [scratch, saved] = [(); 2].map(|()| TempDir::new().unwrap());
        Target {
            command_timeout: Duration::from_secs(3),
            grace: WORKER_GRACE,
            without: without.to_vec(),
            bait: Bait::new(),
            scratch,
            saved,
            worker: None,
        }
    }

    /// Returns where the code runs.
    pub fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// Runs code, in a new process if there is none.
    pub async fn run(&mut self, code: &str) -> Result<Outcome, WorkerError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => self.start().await,
        };
        let outcome = worker.ask(Ask::Run { code: code.to_owned() }).await;
        if outcome.is_ok() {
            self.worker = Some(worker);
        } else {
            worker.stop().await;
            until(|| processes_of(self.scratch.path()).is_empty()).await;
        }
        outcome
    }

    async fn start(&self) -> Worker {
        let options = WorkerOptions {
            cluster: None,
            interpreter: interpreter().await,
            scratch: self.scratch.path().to_owned(),
            datasets: vec![("sales".to_owned(), self.bait.at("datasets/sales.parquet"))],
            container: None,
            results: None,
            saved: Some(self.saved.path().to_owned()),
            command_timeout: self.command_timeout,
            grace: self.grace,
            text_bytes: REPL_TEXT_BYTES_MAX,
            sandbox: SandboxOptions {
                program: program(),
                without: self.without.clone(),
                demand: Demand::Nothing,
                memory_bytes: WORKER_MEMORY_BYTES_MIN,
            },
        };
        Worker::start(options).await.unwrap()
    }

    /// Ends the process, if there is one, and keeps its variables as far as they can be kept.
    pub async fn stop(&mut self) {
        if let Some(mut worker) = self.worker.take() {
            let _ = worker.save(self.saved.path()).await;
            worker.stop().await;
        }
    }

    /// Runs the parts of a snippet. Returns the last value.
    pub async fn attack(&mut self, snippet: &str) -> Option<String> {
        let mut value = None;
        for (at, process) in snippet.split("# next process\n").enumerate() {
            if 0 < at {
                self.stop().await;
            }
            for call in process.split("# next call\n") {
                let code = self.bait.prelude() + call;
                let outcome = self.run(&code).await.ok();
                let ok = outcome.filter(|it| it.status == OutcomeStatus::Ok);
                value = ok.map(|it| it.text().trim_matches('\'').to_owned());
            }
        }
        value
    }

    /// Ends the process, and demands that nothing of it is left. What attacks have left in its variables
    /// may take minutes to keep, and nobody needs it.
    async fn end(&mut self) {
        if let Some(worker) = self.worker.take() {
            worker.stop().await;
        }
        until(|| processes_of(self.scratch.path()).is_empty()).await;
    }

    /// Attacks with a snippet and sees that nothing was reached and work goes on.
    async fn check(&mut self, name: &str, snippet: &str) {
        let value = self.attack(snippet).await;
        assert_ne!(value.as_deref(), Some("reached"), "{name}");
        if snippet.contains("# next ") {
            assert!(matches!(value.as_deref(), None | Some("fine")), "{name}: {value:?}");
        }
        // Of a command that was stolen nobody hears: then the worker is replaced. And a busy machine may
        // need longer for it than attacks are given.
        let (mut n_gone, mut n_late) = (0, 0);
        let goes_on = loop {
            match self.run("1 + 1").await {
                Err(_) if n_gone == 0 => n_gone += 1,
                Ok(it) if it.status == OutcomeStatus::Timeout && n_late < 9 => n_late += 1,
                outcome => break outcome.unwrap(),
            }
        };
        assert_eq!(goes_on.text(), "2", "after {name}");
        self.bait.check(name);
    }
}

/// Returns whether all is tried: in a slow run, of which [`an_ordinary_user_is_as_safe`] starts a part.
fn is_whole_run() -> bool {
    is_slow_run() || std::env::var_os("CSV_AGENT_TEST_PROGRAM").is_some()
}

/// Attacks with every snippet that these layers leave something against. But for a slow run, that is every
/// third one, from this one on, and with all layers those that need a certain one: each is tried somewhere.
async fn check_all(without: &[Layer], first: usize) {
    let mut target = Target::new(without);
    let is_whole = is_whole_run();
    for (at, (name, snippet)) in snippets().into_iter().enumerate() {
        let needs_all = without.is_empty() && snippet.contains("# Needs ");
        if !is_whole && !needs_all && at % 3 != first {
            continue;
        }
        if without.iter().any(|it| snippet.contains(&format!("# Needs {} ", it.name()))) {
            continue;
        }
        if !ENDLESS.contains(&name.as_str()) {
            target.check(&name, &snippet).await;
            continue;
        }
        let mut target = Target::new(without);
        (target.command_timeout, target.grace) = (Duration::from_secs(1), Duration::from_secs(1));
        target.check(&name, &snippet).await;
        target.end().await;
    }
    target.end().await;
}

#[tokio::test]
async fn all_layers_contain_every_snippet() {
    check_all(&[], 0).await;
}

#[tokio::test]
async fn namespaces_and_seccomp_contain_every_snippet() {
    check_all(&[Layer::Landlock], 1).await;
}

#[tokio::test]
async fn landlock_and_seccomp_contain_every_snippet() {
    check_all(&[Layer::Namespaces], 2).await;
}

#[tokio::test]
async fn threads_are_bounded_whatever_is_missing() {
    let name = "start_threads_without_end";
    let snippet = snippets().into_iter().find(|it| it.0 == name).unwrap().1;
    for without in [&[][..], &[Layer::Namespaces], &Layer::ALL] {
        let mut target = Target::new(without);
        target.command_timeout = HANG;
        target.check(name, &snippet).await;
        target.end().await;
    }
}

#[tokio::test]
async fn without_confinement_the_attacks_work() {
    let snippets = snippets();
    for name in WORKS_UNCONFINED {
        let (_, snippet) = snippets.iter().find(|(it, _)| it == name).unwrap();
        let mut target = Target::new(&Layer::ALL);
        target.command_timeout = HANG;
        assert_eq!(target.attack(snippet).await.as_deref(), Some("reached"), "{name}");
    }
}

/// The same as a user who has no rights, in a slow run as root.
#[tokio::test]
async fn an_ordinary_user_is_as_safe() {
    if !geteuid().is_root() || !is_whole_run() {
        return;
    }
    let home = TempDir::new().unwrap();
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let at = |name: &str| home.path().join(name);
    fs::copy(program(), at("csv-agent")).unwrap();
    fs::copy(std::env::current_exe().unwrap(), at("tests")).unwrap();
    let python = interpreter().await.executable;
    let environment = python.parent().and_then(Path::parent).unwrap();
    let copied = Command::new("cp").arg("-a").arg(environment).arg(at("python")).status().unwrap();
    assert!(copied.success());
    // Where root has its Python, nobody else may look.
    let base = fs::canonicalize(&python).unwrap();
    let name = base.file_name().unwrap().to_owned();
    let mut bases =
        [base, Path::new("/usr/bin").join(&name), Path::new("/usr/local/bin").join(&name)]
            .into_iter();
    let runs = |it: &PathBuf| {
        Command::new(it)
            .args(["-c", ""])
            .uid(USER)
            .gid(USER)
            .current_dir("/")
            .status()
            .is_ok_and(|it| it.success())
    };
    let base = bases.find(runs).expect("no Python of this version that every user can run");
    fs::remove_file(at("python/bin/python3")).unwrap();
    symlink(&base, at("python/bin/python3")).unwrap();
    let settings = format!("home = {}\n", base.parent().unwrap().display());
    fs::write(at("python/pyvenv.cfg"), settings).unwrap();
    fs::create_dir(at("tmp")).unwrap();
    for (name, mode) in [("python", 0o755), ("tmp", 0o777)] {
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let status = Command::new(at("tests"))
        .args(["hostile::", "chaos::", "--skip", "an_ordinary_user"])
        .env_remove("CSV_AGENT_SLOW_TESTS")
        .env("HOME", at("tmp"))
        .env("TMPDIR", at("tmp"))
        .env("CSV_AGENT_PYTHON", at("python/bin/python"))
        .env("CSV_AGENT_TEST_PROGRAM", at("csv-agent"))
        .uid(USER)
        .gid(USER)
        .current_dir(at("tmp"))
        .status()
        .unwrap();
    assert!(status.success());
}
