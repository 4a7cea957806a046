//! Turns with servers that are none of ours, and a model that the tests make themselves; and clients of MCP.
//!
//! The scripts in `tests/servers` install them. Where one is not there, its tests say so and pass.

mod litellm;
mod llama;
mod mcp_clients;
mod mlx;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::{Bench, Run};

/// Time for a server to load half a megabyte, and for Python its own modules on a busy machine.
const START_MAX: Duration = Duration::from_mins(3);

/// A server that runs until it is dropped.
struct Server {
    process: Child,
    port: u16,
    directory: TempDir,
}

impl Server {
    /// Starts a program on a free port, and waits until it listens and its log has these words.
    /// `arguments` is given the directory for its files, where the log is too.
    fn start(
        program: &Path,
        ready: &str,
        arguments: impl FnOnce(&mut Command, &Path, &str),
    ) -> Server {
        let directory = TempDir::new().unwrap();
        // Free when it was asked for; the servers have no way to choose one and say which.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = fs::File::create(directory.path().join("log")).unwrap();
        let mut command = Command::new(program);
        arguments(&mut command, directory.path(), &port.to_string());
        let process = command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let server = Server { process: process.spawn().unwrap(), port, directory };
        server.wait(ready);
        server
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    /// Waits until the model is loaded: the port may be open before that.
    fn wait(&self, ready: &str) {
        let deadline = Instant::now() + START_MAX;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() || !self.log().contains(ready) {
            assert!(Instant::now() < deadline, "the server did not start: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    fn ask(&self, bench: &Bench, model: &str, arguments: &[&str]) -> Run {
        let base_url = self.base_url();
        let all = ["--base-url", &base_url, "--model", model, "--format", "jsonl"];
        bench.ask_with(all.iter().chain(arguments).copied(), "what data is there?")
    }

    /// Asks, and fails with all that is known unless the status is this one.
    fn ends_with(&self, code: i32, bench: &Bench, model: &str, arguments: &[&str]) -> Vec<Value> {
        let run = self.ask(bench, model, arguments);
        assert_eq!(run.code(), Some(code), "{arguments:?}\n{run}\n{}", self.log());
        run.events()
    }

    /// Asks a model that calls `list_datasets` and then answers. Returns the codes of the warnings.
    fn calls_and_answers(&self, bench: &Bench, model: &str, arguments: &[&str]) -> Vec<String> {
        let events = self.ends_with(0, bench, model, arguments);
        let result = of_type(&events, "tool_result")[0];
        assert_eq!((&result["name"], &result["status"]), (&"list_datasets".into(), &"ok".into()));
        let reply = of_type(&events, "reply")[0];
        assert_eq!((&reply["text"], &reply["rounds"]), (&"One table: sales.".into(), &2.into()));
        assert!(1_000 < reply["usage"]["input_tokens"].as_u64().unwrap(), "{reply}");
        let statuses = of_type(&events, "status").into_iter();
        let warnings = statuses.filter(|it| it["phase"] == "warning");
        warnings.map(|it| it["code"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Finds a program: where the variable says, or where its script installs it. None, with the reason,
/// where it is not.
fn installed(variable: &str, place: &str, script: &str) -> Option<PathBuf> {
    let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
    let default = cache.map(|it| it.join("csv-agent-servers").join(place));
    let found = path(variable).or(default).filter(|it| it.is_file());
    if found.is_none() {
        #[expect(clippy::print_stderr, reason = "who runs the tests should know")]
        {
            eprintln!("skipped: no {place}; `tests/servers/{script}` installs it");
        }
    }
    found
}

/// Makes a model: a file for llama.cpp, or a directory for others.
fn make_model(path: &Path, behaviour: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/tiny_model.py");
    let made = Command::new("python3").arg(script).arg(path).arg(behaviour).status().unwrap();
    assert!(made.success(), "the model could not be made");
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|it| it["type"] == kind).collect()
}
