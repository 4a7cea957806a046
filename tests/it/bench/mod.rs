//! The bench: the real binary in a home of its own, in front of a scripted server.

mod answers;
mod chat;
mod check;
mod form;
mod hosted;
mod messages;
mod moment;
mod pty;
mod python;
mod script;
mod server;
mod spark;
mod trouble;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use csv_agent_provider::Api;

pub use answers::{Answer, Answers};
pub use hosted::Life;
pub use moment::{Changes, HANG, in_time, in_time_async, signal, sooner_than, until, until_caught};
pub use python::python;
pub use script::{LateFailure, Round, late_failure, round};
pub use server::{Captured, Server};
pub use spark::{OtherVersion, Spark, no_spark, nobody};
pub use trouble::{Endpoint, Trouble, trouble};

/// A key that no server takes. Tests look for it where it must not be.
pub const KEY: &str = "sk-test-0123456789abcdef";

/// Time for the pipes of a process that has ended to be empty.
const LEFT_OPEN_MAX: Duration = Duration::from_secs(30);

/// Variables of the developer that the managed Python may need to be installed, by their prefixes.
const PASSED_ON: &[&str] = &[
    "PATH", "CSV_AGENT_PYTHON", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "PIP_",
    "REQUESTS_CA_BUNDLE", "SSL_CERT_",
];

/// A home, a working directory, a session and a server for one test.
pub struct Bench {
    server: Server,
    home: TempDir,
    datasets: Vec<String>,
    variables: Vec<(String, String)>,
}

impl Bench {
    /// Makes a bench whose working directory holds these files of `fixtures/csv/`.
    pub fn with<const N: usize>(fixtures: [&str; N]) -> Bench {
        let home = TempDir::new().unwrap();
        fs::create_dir(home.path().join("work")).unwrap();
        let bench = Bench {
            server: Server::start([]),
            home,
            datasets: fixtures.map(str::to_owned).into(),
            variables: Vec::new(),
        };
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/csv");
        for name in fixtures {
            fs::copy(source.join(name), bench.path(name)).unwrap();
        }
        bench
    }

    /// Makes the server speak another dialect.
    pub fn speaking(self, api: Api) -> Bench {
        self.server.speak(api);
        self
    }

    /// Says what the server answers to whoever asks for its models.
    pub fn listing(self, round: Round) -> Bench {
        self.server.list(round);
        self
    }

    /// Adds to what the server answers. All of it must be used up when the test ends.
    pub fn script(self, rounds: impl IntoIterator<Item = Round>) -> Bench {
        self.server.script(rounds);
        self
    }

    /// Adds to what the server answers, between two commands.
    pub fn answers(&self, rounds: impl IntoIterator<Item = Round>) {
        self.server.script(rounds);
    }

    /// Forgets what a killed command left of the script.
    pub fn forget(&self) {
        self.server.forget();
    }

    /// Sets a variable for the commands that follow.
    pub fn variable(mut self, name: &str, value: &str) -> Bench {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the path of a file in the working directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join("work").join(name)
    }

    /// Returns the session's directory.
    pub fn session(&self) -> PathBuf {
        self.home.path().join("session")
    }

    /// Asks a question about the bench's files and waits for the end.
    pub fn ask(&self, question: &str) -> Run {
        self.ask_with([], question)
    }

    /// Asks a question with more arguments.
    pub fn ask_with<'a>(
        &'a self,
        arguments: impl IntoIterator<Item = &'a str>,
        question: &'a str,
    ) -> Run {
        let files = self.datasets.iter().flat_map(|it| ["-f", it]);
        let all = ["ask"].into_iter().chain(files).chain(arguments).chain(["--", question]);
        self.run(all)
    }

    /// Runs a command to its end, with nothing on stdin.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.pipe(arguments, b"")
    }

    /// Runs a command to its end, with these bytes on stdin.
    pub fn pipe<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Run {
        let mut command = self.command(arguments);
        let mut shown = format!("{command:?}");
        // A test over the real provider has a real key, and failures are shown to anybody.
        for (_, key) in self.variables.iter().filter(|it| it.0.ends_with("_KEY")) {
            shown = shown.replace(key, "***");
        }
        wait(command.spawn().unwrap(), shown, input)
    }

    /// Returns a command in the bench's home and environment, in a process group of its own, with
    /// all of stdin, stdout and stderr piped.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_csv-agent"));
        command.args(arguments);
        command.env("OPENAI_API_KEY", KEY);
        command.env("OPENAI_BASE_URL", self.server.base_url());
        command.envs(self.variables.iter().cloned());
        command
    }

    /// Returns what a script needs to ask the server.
    pub fn server_settings(&self) -> String {
        format!("export OPENAI_API_KEY={KEY} OPENAI_BASE_URL={}", self.server.base_url())
    }

    /// Runs a script with `csv-agent` on its path, without a key and without the server.
    pub fn shell(&self, script: &str, variables: &[(&str, PathBuf)]) -> Run {
        let binary = Path::new(env!("CARGO_BIN_EXE_csv-agent")).parent().unwrap().to_owned();
        let path = format!("{}:{}", binary.display(), variable("PATH").unwrap_or_default());
        let mut command = self.program("bash");
        command.args(["-c", script]).env("PATH", path);
        command.envs(variables.iter().cloned());
        wait(command.spawn().unwrap(), script.to_owned(), b"")
    }

    fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path(".")).process_group(0).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let is_passed = |name: &str| PASSED_ON.iter().any(|it| name.starts_with(it));
        command.envs(variables().filter(|(name, _)| is_passed(name)));
        // The managed Python is made once for all tests, where the developer has it too.
        let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.or_else(|| Some(Path::new(&variable("HOME")?).join(".cache")));
        command.envs(cache.map(|it| ("XDG_CACHE_HOME", it)));
        command.env("HOME", self.home.path()).env("TMPDIR", self.home.path());
        command.env("CSV_AGENT_SESSION_DIR", self.session());
        // Code that takes all it may have is not to take half of the machine.
        command.env("CSV_AGENT_MEMORY", "2GiB");
        command
    }

    /// Returns the n-th request that the server got, from 0.
    #[track_caller]
    pub fn request(&self, index: usize) -> Captured {
        let requests = self.server.requests();
        let n_requests = requests.len();
        let request = requests.into_iter().nth(index);
        request.unwrap_or_else(|| panic!("no request {index}: there were {n_requests}"))
    }

    /// Returns the server.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns how many requests the server got.
    pub fn n_requests(&self) -> usize {
        self.server.requests().len()
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Run {
    command: String,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    code: Option<i32>,
    peak_mb: u64,
}

impl Run {
    /// Returns the most memory that it has had.
    pub fn peak_mb(&self) -> u64 {
        self.peak_mb
    }

    /// Returns what it wrote to stdout.
    #[track_caller]
    pub fn stdout(&self) -> &str {
        str::from_utf8(&self.stdout).unwrap()
    }

    /// Returns what it wrote to stderr.
    #[track_caller]
    pub fn stderr(&self) -> &str {
        str::from_utf8(&self.stderr).unwrap()
    }

    /// Returns its exit status; none when a signal ended it.
    pub fn code(&self) -> Option<i32> {
        self.code
    }

    /// Returns the lines of stdout as JSON.
    #[track_caller]
    pub fn events(&self) -> Vec<Value> {
        let parse = |line: &str| {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}\n{self}"))
        };
        self.stdout().lines().map(parse).collect()
    }

    /// Demands that it ended with 0.
    #[track_caller]
    pub fn succeeds(self) -> Run {
        self.fails_with(0)
    }

    /// Demands that it ended with this status and without a panic.
    #[track_caller]
    pub fn fails_with(self, code: i32) -> Run {
        assert_eq!(self.code, Some(code), "{self}");
        assert!(!self.stderr().contains("panicked at"), "{self}");
        self
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [stdout, stderr] = [&self.stdout, &self.stderr].map(|it| String::from_utf8_lossy(it));
        let code = self.code;
        write!(
            f,
            "{}\nended with {code:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}",
            self.command
        )
    }
}

/// Returns whether all is tried: the plain run takes a part of what has many cases.
pub fn is_slow_run() -> bool {
    std::env::var_os("CSV_AGENT_SLOW_TESTS").is_some()
}

/// Feeds and drains a process until it ends. One that hangs is killed with all that it started.
///
/// The process must lead a group of its own, with all three streams piped.
#[track_caller]
pub fn wait(child: Child, command: String, input: &[u8]) -> Run {
    wait_at_most(child, command, input, HANG, LEFT_OPEN_MAX)
}

/// Returns the most memory that a process has had so far; 0 when it is gone.
pub fn memory_mb(process: u32) -> u64 {
    // A process that was just started has the memory of this one for a moment, until it is its own program.
    let program = |process: &str| fs::read_link(format!("/proc/{process}/exe")).ok();
    if program(&process.to_string()) == program("self") {
        return 0;
    }
    let text = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = text.lines().find_map(|it| it.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|it| it.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

#[track_caller]
fn wait_at_most(
    mut child: Child,
    command: String,
    input: &[u8],
    limit: Duration,
    left_open_max: Duration,
) -> Run {
    let group = Pid::from_raw(child.id().try_into().unwrap());
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A process that does not read its input is none of the bench's business.
    thread::spawn(move || stdin.write_all(&input));
    let stdout = drain(child.stdout.take().unwrap());
    let stderr = drain(child.stderr.take().unwrap());
    let deadline = Instant::now() + limit;
    let mut peak_mb = 0;
    let status = loop {
        peak_mb = peak_mb.max(memory_mb(child.id()));
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if deadline < Instant::now() => break None,
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    if status.is_none() {
        let _ = killpg(group, Signal::SIGKILL);
        let _ = child.wait();
    }
    // Only a process that was left behind can keep the pipes open now.
    let until = Instant::now() + left_open_max;
    let collect = |pipe: Receiver<Vec<u8>>| {
        pipe.recv_timeout(until.saturating_duration_since(Instant::now()))
    };
    let (stdout, stderr) = (collect(stdout), collect(stderr));
    let was_left_open = stdout.is_err() || stderr.is_err();
    let code = status.and_then(|it| it.code());
    let (stdout, stderr) = (stdout.unwrap_or_default(), stderr.unwrap_or_default());
    let run = Run { command, stdout, stderr, code, peak_mb };
    assert!(status.is_some(), "killed after {limit:?}: {run}");
    if was_left_open {
        let _ = killpg(group, Signal::SIGKILL);
        panic!("a process was left behind that holds stdout or stderr: {run}");
    }
    run
}

/// Reads a pipe to its end, beside everything else.
fn drain(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        sender.send(bytes)
    });
    receiver
}

/// Returns a variable of the developer's environment.
fn variable(name: &str) -> Option<String> {
    variables().find(|it| it.0 == name).map(|it| it.1)
}

/// Returns the developer's environment, as far as it is UTF-8.
fn variables() -> impl Iterator<Item = (String, String)> {
    let text = |it: OsString| it.into_string().ok();
    std::env::vars_os().filter_map(move |(name, value)| Some((text(name)?, text(value)?)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    use std::time::Duration;

    use super::{Bench, HANG, Run, wait_at_most};

    #[track_caller]
    fn shell(script: &str, input: &[u8], limit: Duration, left_open_max: Duration) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", script]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        wait_at_most(command.spawn().unwrap(), script.to_owned(), input, limit, left_open_max)
    }

    #[test]
    fn a_run_tells_all_that_a_process_did() {
        let run = shell("cat; echo oops >&2; exit 7", b"{\"a\":1}\n", HANG, HANG);
        let run = run.fails_with(7);
        assert_eq!((run.stdout(), run.stderr(), run.code()), ("{\"a\":1}\n", "oops\n", Some(7)));
        assert_eq!(run.events(), [serde_json::json!({"a": 1})]);
    }

    #[test]
    #[should_panic(expected = "killed after 50ms")]
    fn a_process_that_hangs_is_killed() {
        shell("sleep 600", b"", Duration::from_millis(50), HANG);
    }

    #[test]
    #[should_panic(expected = "a process was left behind")]
    fn a_process_that_was_left_behind_is_noticed() {
        shell("sleep 600 &", b"", HANG, Duration::from_millis(50));
    }

    #[test]
    #[should_panic(expected = "rounds of the script that nobody asked for")]
    fn a_script_must_be_used_up() {
        let bench = Bench::with([]).script([super::round()]);
        bench.run(["--version"]).succeeds();
    }
}
