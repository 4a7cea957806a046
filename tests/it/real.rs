//! Turns with a server that is none of ours: llama.cpp's own, with a model that the test makes itself.
//!
//! `tests/servers/install-llama` builds the server. Where it is not there, the test says so and passes.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::bench::Bench;

/// Time for the server to load half a megabyte.
const START_MAX: Duration = Duration::from_mins(1);

/// A server that runs until it is dropped.
struct Llama {
    process: Child,
    port: u16,
    directory: TempDir,
}

impl Llama {
    /// Starts the server with a model of its own; none, with the reason, where it is not installed.
    fn start(arguments: &[&str]) -> Option<Llama> {
        let directory = TempDir::new().unwrap();
        let Some(program) = program().filter(|it| it.is_file()) else {
            #[expect(clippy::print_stderr, reason = "who runs the tests should know")]
            {
                eprintln!("skipped: no llama-server; `tests/servers/install-llama` builds one");
            }
            return None;
        };
        let model = directory.path().join("tiny.gguf");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/tiny_model.py");
        let made = Command::new("python3").arg(script).arg(&model).status().unwrap();
        assert!(made.success(), "the model could not be made");
        // Free when it was asked for; the server has no way to choose one and say which.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let log = fs::File::create(directory.path().join("log")).unwrap();
        let mut command = Command::new(&program);
        command.args(["--model", model.to_str().unwrap(), "--host", "127.0.0.1"]);
        command.args(["--port", &port.to_string(), "--ctx-size", "65536", "--parallel", "1"]);
        command.args(["--threads", "2"]).args(arguments);
        command.env("LD_LIBRARY_PATH", program.parent().unwrap());
        let process = command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let llama = Llama { process: process.spawn().unwrap(), port, directory };
        llama.wait();
        Some(llama)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    /// Waits until the model is loaded: the port is open before that.
    fn wait(&self) {
        let deadline = Instant::now() + START_MAX;
        while TcpStream::connect(("127.0.0.1", self.port)).is_err()
            || !self.log().contains("listening")
        {
            assert!(Instant::now() < deadline, "the server did not start: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn ask(&self, bench: &Bench, arguments: &[&str]) -> Vec<Value> {
        let base_url = format!("http://127.0.0.1:{}/v1", self.port);
        let all = ["--base-url", &base_url, "--model", "tiny", "--format", "jsonl"];
        let all = all.iter().chain(arguments).copied();
        let run = bench.ask_with(all, "what data is there?");
        assert_eq!(run.code(), Some(0), "{run}\n{}", self.log());
        run.events()
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn program() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    let installed = cache.map(|it| it.join("csv-agent-servers/llama/llama-server"));
    variable("CSV_AGENT_LLAMA_SERVER").or(installed)
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|it| it["type"] == kind).collect()
}

#[test]
fn llama_cpp_calls_a_tool_and_answers_over_both_dialects() {
    let Some(llama) = Llama::start(&["--jinja"]) else { return };
    for api in ["auto", "responses", "chat"] {
        for stream in ["--stream", "--no-stream"] {
            let bench = Bench::with(["sales.csv"]);
            let events = llama.ask(&bench, &["--api", api, stream]);
            let result = of_type(&events, "tool_result")[0];
            assert_eq!(
                (&result["name"], &result["status"]),
                (&"list_datasets".into(), &"ok".into())
            );
            let reply = of_type(&events, "reply")[0];
            assert_eq!(
                (&reply["text"], &reply["rounds"]),
                (&"One table: sales.".into(), &2.into())
            );
            assert!(1_000 < reply["usage"]["input_tokens"].as_u64().unwrap(), "{reply}");
            assert!(!of_type(&events, "status").iter().any(|it| it["phase"] == "warning"));
        }
    }
    // A session goes on in the other dialect: what it has is put into messages, and back.
    let bench = Bench::with(["sales.csv"]);
    for (api, n_before) in [("responses", 0), ("chat", 1), ("responses", 2)] {
        let events = llama.ask(&bench, &["--api", api]);
        assert_eq!(of_type(&events, "reply")[0]["rounds"], 2, "after {n_before} turns");
    }
}

#[test]
fn llama_cpp_without_templates_has_no_tools() {
    let Some(llama) = Llama::start(&["--no-jinja"]) else { return };
    let bench = Bench::with(["sales.csv"]);
    let events = llama.ask(&bench, &[]);
    assert_eq!(of_type(&events, "reply")[0]["computed"], false);
}
