//! A Spark Connect server of the Python package `pyspark`, and servers that are none of this kind.
//!
//! `tests/servers/install-spark` installs the package. Where it or Java is not there, tests say so and pass,
//! unless `CSV_AGENT_NEEDS_SPARK` is set, as `.ci/run` does: then they fail. Starting servers and waiting for
//! their jobs takes minutes, so that the plain run leaves them out.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// Time for a server to start on a busy machine; an idle one needs five seconds.
const START_MAX: Duration = Duration::from_mins(3);

/// The oldest Java that Spark 4 runs on.
const JAVA_MIN: u32 = 17;

/// Runs a command until stdin is closed, as it is when whoever holds its other end ends, in whatever way.
/// `$0` is the command's directory, which is removed then; what it writes is in its `log`.
const WATCHED: &str = r#"
    (
        "$@" > "$0/log" 2>&1 < /dev/null &
        echo $! > "$0/pid"
        wait $!
        echo "ended with $?" >> "$0/log"
    ) &
    cat > /dev/null
    kill -9 "$(cat "$0/pid")"
    wait
    rm -rf "$0"
"#;

/// The settings of every server: little memory, quick answers, and no port but on loopback.
const SETTINGS: &[&str] = &[
    "spark.connect.grpc.binding.address=127.0.0.1",
    "spark.connect.grpc.binding.port=0",
    // Its REST interface tells which jobs run.
    "spark.ui.port=0",
    "spark.ui.showConsoleProgress=false",
    "spark.sql.shuffle.partitions=4",
];

/// A program that runs until it is dropped, or the tests end.
struct Watched {
    /// Closing its stdin ends the program.
    watcher: Child,
    directory: PathBuf,
}

impl Watched {
    /// Starts a program whose directory is its working directory.
    fn start(command: &Command, directory: &Path) -> Watched {
        let mut watcher = Command::new("sh");
        watcher.arg("-c").arg(WATCHED).arg(directory);
        watcher.arg(command.get_program()).args(command.get_args()).current_dir(directory);
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => watcher.env(name, value),
                None => watcher.env_remove(name),
            };
        }
        // Ctrl-C in a terminal ends the tests, and that ends the program.
        let watcher = watcher.process_group(0).stdin(Stdio::piped()).stderr(Stdio::null());
        let watcher = watcher.spawn().unwrap();
        Watched { watcher, directory: directory.to_owned() }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// Waits until the log has these words, and returns the number behind them.
    #[track_caller]
    fn wait_for_number(&self, words: &str) -> u16 {
        let deadline = Instant::now() + START_MAX;
        loop {
            let log = self.log();
            let line = log.split_once(words).and_then(|(_, rest)| rest.split_once('\n'));
            if let Some((number, _)) = line {
                return number.trim_end_matches(['.', '\r']).parse().unwrap();
            }
            let is_on = Instant::now() < deadline && !log.contains("\nended with ");
            assert!(is_on, "the server did not start: {log}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn kill(&mut self) {
        drop(self.watcher.stdin.take());
        let _ = self.watcher.wait();
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a server needs.
struct Installed {
    /// Python with `pyspark`.
    python: PathBuf,
    /// Where the package is.
    package: PathBuf,
}

/// Finds what a server needs, or says what is missing.
fn find() -> Result<Installed, String> {
    if !super::is_slow_run() {
        return Err("tests over Spark are in the slow run (`CSV_AGENT_SLOW_TESTS=1`)".to_owned());
    }
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
    // One that was cut off has no version.
    let default = cache.map(|it| it.join("csv-agent-servers/spark"));
    let default = default.filter(|it| it.join("version").is_file());
    let default = default.map(|it| it.join("bin/python"));
    let python = path("CSV_AGENT_SPARK_PYTHON").or(default).filter(|it| it.is_file());
    let python = python.ok_or("no `pyspark`; `tests/servers/install-spark` installs it")?;
    let home = path("JAVA_HOME").filter(|it| !it.as_os_str().is_empty());
    let java = home.map_or(PathBuf::from("java"), |it| it.join("bin/java"));
    let version = Command::new(java).arg("-version").output();
    let version = version.map_err(|error| format!("no Java: {error}"))?.stderr;
    let version = String::from_utf8_lossy(&version).into_owned();
    let number = version.split('"').nth(1).and_then(|it| it.split(['.', '-']).next());
    if number.and_then(|it| it.parse().ok()).is_none_or(|it: u32| it < JAVA_MIN) {
        return Err(format!("Spark needs Java {JAVA_MIN}, found: {version}"));
    }
    let mut asks = Command::new(&python);
    asks.args(["-c", "import importlib.util as it; print(it.find_spec('pyspark').origin, end='')"]);
    let output = asks.output().map_err(|error| error.to_string())?;
    let package = PathBuf::from(String::from_utf8_lossy(&output.stdout).into_owned());
    match package.parent() {
        Some(package) if package.join("bin/spark-submit").is_file() => {
            Ok(Installed { python, package: package.to_owned() })
        }
        _ => Err(format!("{} has no `pyspark` with a server", python.display())),
    }
}

/// Finds what a server needs once; says why not each time, and fails where it must be there.
fn installed() -> Option<&'static Installed> {
    static FOUND: OnceLock<Result<Installed, String>> = OnceLock::new();
    match FOUND.get_or_init(find) {
        Ok(installed) => Some(installed),
        Err(reason) => {
            assert!(std::env::var_os("CSV_AGENT_NEEDS_SPARK").is_none(), "{reason}");
            #[expect(clippy::print_stderr, reason = "who runs the tests should know")]
            {
                eprintln!("skipped: {reason}");
            }
            None
        }
    }
}

/// A directory that outlives the process: the watcher removes it.
fn directory() -> PathBuf {
    TempDir::new().unwrap().keep()
}

struct Server {
    process: Watched,
    port: u16,
    ui: u16,
}

impl Server {
    fn start(installed: &Installed, settings: &[&str]) -> Server {
        let directory = directory();
        let mut command = Command::new(installed.package.join("bin/spark-submit"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SPARK_") {
                command.env_remove(name);
            }
        }
        command.env("SPARK_LOCAL_IP", "127.0.0.1").env("PYSPARK_PYTHON", &installed.python);
        command.args(["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]);
        command.args(["--master", "local[2]", "--driver-memory", "1g", "--driver-java-options"]);
        command.arg(format!("-Djava.io.tmpdir={}", directory.display()));
        let warehouse = format!("spark.sql.warehouse.dir={}", directory.join("tables").display());
        for setting in SETTINGS.iter().chain(settings).chain([&&warehouse[..]]) {
            command.args(["--conf", setting]);
        }
        command.arg("spark-internal");
        let process = Watched::start(&command, &directory);
        let port = process.wait_for_number("Spark Connect server started at: 127.0.0.1:");
        let ui = process.wait_for_number("Successfully started service 'SparkUI' on port ");
        Server { process, port, ui }
    }
}

/// A running server as a test has it. A test that fails shows what the server has logged meanwhile.
pub struct Spark {
    server: Arc<Server>,
    installed: &'static Installed,
    /// Bytes of the log from before the test.
    seen: usize,
}

impl Spark {
    /// Returns the server that all tests share; none where it cannot run.
    pub fn shared() -> Option<Spark> {
        static SHARED: OnceLock<Arc<Server>> = OnceLock::new();
        let installed = installed()?;
        let server = SHARED.get_or_init(|| Arc::new(Server::start(installed, &[])));
        Some(Spark::of(Arc::clone(server), installed))
    }

    /// Starts a server of one's own with more settings, `name=value`; none where it cannot run.
    pub fn with(settings: &[&str]) -> Option<Spark> {
        let installed = installed()?;
        Some(Spark::of(Arc::new(Server::start(installed, settings)), installed))
    }

    fn of(server: Arc<Server>, installed: &'static Installed) -> Spark {
        let seen = server.process.log().len();
        Spark { server, installed, seen }
    }

    /// Returns where it listens.
    pub fn url(&self) -> String {
        format!("sc://127.0.0.1:{}", self.server.port)
    }

    /// Returns where it listens, for a user of that name: see [`Spark::jobs_of`].
    pub fn url_of(&self, user: &str) -> String {
        format!("{}/;user_id={user}", self.url())
    }

    /// Kills a server of one's own.
    #[track_caller]
    pub fn kill(&mut self) {
        Arc::get_mut(&mut self.server).expect("the server is nobody else's").process.kill();
    }

    /// Returns how many jobs of a user are in this state: `RUNNING`, `SUCCEEDED`, `FAILED`.
    #[track_caller]
    pub fn jobs_of(&self, user: &str, state: &str) -> usize {
        let applications = self.get("/api/v1/applications");
        let id = applications[0]["id"].as_str().unwrap();
        let jobs = self.get(&format!("/api/v1/applications/{id}/jobs"));
        let tag = format!("_User_{user}_");
        let is_of_user = |job: &&Value| {
            let tags = job["jobTags"].as_array().into_iter().flatten();
            tags.filter_map(Value::as_str).any(|it| it.contains(&tag))
        };
        let jobs = jobs.as_array().unwrap().iter().filter(is_of_user);
        jobs.filter(|it| it["status"] == state).count()
    }

    /// Asks the server's REST interface.
    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.server.ui)).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// Runs code beside csv-agent, with Spark's own client as `spark`. Returns what it prints.
    #[track_caller]
    pub fn python(&self, code: &str) -> String {
        let url = self.url();
        let start = format!(
            "import warnings; warnings.simplefilter('ignore')\n\
             from pyspark.sql import SparkSession, functions as F\n\
             spark = SparkSession.builder.remote('{url}').getOrCreate()\n"
        );
        run_python(self.installed, &format!("{start}{code}"))
    }
}

impl Drop for Spark {
    fn drop(&mut self) {
        if thread::panicking() {
            let log = self.server.process.log();
            #[expect(clippy::print_stderr, reason = "who runs the tests should know")]
            {
                eprintln!("--- log of the server\n{}", log.get(self.seen..).unwrap_or(&log));
            }
        }
    }
}

#[track_caller]
fn run_python(installed: &Installed, code: &str) -> String {
    let mut command = Command::new(&installed.python);
    command.args(["-c", code]).env_remove("SPARK_REMOTE").env_remove("SPARK_HOME");
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{code}\n{told}");
    String::from_utf8(output.stdout).unwrap()
}

/// A server of another version, which answers the question for it and those for settings, as a server of
/// Spark 4.0 does: one setting that it does not know fails the plain question.
const OTHER_VERSION: &str = r#"
import sys
from concurrent.futures import ThreadPoolExecutor
import grpc
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc


class Server(base_pb2_grpc.SparkConnectServiceServicer):
    def AnalyzePlan(self, request, context):
        answer = base_pb2.AnalyzePlanResponse(session_id=request.session_id)
        answer.spark_version.version = sys.argv[1]
        return answer

    def Config(self, request, context):
        known = {"spark.sql.session.timeZone": "UTC", "spark.sql.timestampType": "TIMESTAMP_LTZ",
                 "spark.sql.session.localRelationCacheThreshold": "67108864"}
        answer = base_pb2.ConfigResponse(session_id=request.session_id)
        if not known.keys() >= set(request.operation.get.keys):
            context.abort(grpc.StatusCode.INTERNAL, "[SQL_CONF_NOT_FOUND]")
        for key in request.operation.get_option.keys:
            answer.pairs.add(key=key, value=known.get(key))
        return answer


server = grpc.server(ThreadPoolExecutor(4))
base_pb2_grpc.add_SparkConnectServiceServicer_to_server(Server(), server)
print("port", server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
server.wait_for_termination()
"#;

/// A server that only says which version it is, and what its settings are.
pub struct OtherVersion {
    _process: Watched,
    port: u16,
}

impl OtherVersion {
    /// Starts it; none where it cannot run.
    pub fn start(version: &str) -> Option<OtherVersion> {
        let installed = installed()?;
        let mut command = Command::new(&installed.python);
        command.args(["-W", "ignore", "-c", OTHER_VERSION, version]);
        let process = Watched::start(&command, &directory());
        let port = process.wait_for_number("port ");
        Some(OtherVersion { _process: process, port })
    }

    /// Returns where it listens.
    pub fn url(&self) -> String {
        format!("sc://127.0.0.1:{}", self.port)
    }
}

/// Starts a server that speaks HTTP/1.1 alone, and returns where it listens.
pub fn no_spark() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    format!("sc://127.0.0.1:{port}")
}

/// Returns where nothing listens.
pub fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("sc://127.0.0.1:{}", listener.local_addr().unwrap().port())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{OtherVersion, Spark, Watched, directory, run_python};
    use crate::bench::until;

    #[test]
    fn a_server_answers_its_own_client_and_tells_whose_jobs_ran() {
        let Some(spark) = Spark::shared() else { return };
        let code = "print(spark.range(7).selectExpr('sum(id)').toPandas().iloc[0, 0])";
        assert_eq!(spark.python(code), "21\n");
        assert_eq!(spark.jobs_of("nobody_at_all", "SUCCEEDED"), 0);
    }

    #[test]
    fn a_server_of_another_version_says_which() {
        let Some(other) = OtherVersion::start("3.3.0") else { return };
        let code = format!(
            "import warnings; warnings.simplefilter('ignore')\n\
             from pyspark.sql.connect.client import SparkConnectClient\n\
             print(SparkConnectClient('{}')._analyze(method='spark_version').spark_version)",
            other.url()
        );
        assert_eq!(run_python(super::installed().unwrap(), &code), "3.3.0\n");
    }

    #[test]
    fn a_watched_program_ends_with_what_watches_it() {
        let directory = directory();
        let mut command = Command::new("sh");
        command.args(["-c", "echo port $$; exec sleep 600"]);
        let mut process = Watched::start(&command, &directory);
        until("it starts", || process.log().contains('\n'));
        let pid: u32 = process.log().trim().rsplit(' ').next().unwrap().parse().unwrap();
        let is_there = || std::path::Path::new(&format!("/proc/{pid}/stat")).exists();
        assert!(is_there());
        process.kill();
        assert!(!is_there() && !directory.exists());
    }
}
