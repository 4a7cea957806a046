//! llama.cpp's own server. It speaks all three wires, and binds calls by a grammar.

use super::{Server, installed, make_model, of_type};
use crate::bench::Bench;

fn start(arguments: &[&str]) -> Option<Server> {
    let program = installed("CSV_AGENT_LLAMA_SERVER", "llama/llama-server", "install-llama")?;
    Some(Server::start(&program, "listening", |command, directory, port| {
        let model = directory.join("tiny.gguf");
        make_model(&model, "--sound");
        command.arg("--model").arg(&model).args(["--host", "127.0.0.1", "--port", port]);
        command.args(["--ctx-size", "65536", "--parallel", "1", "--threads", "2"]).args(arguments);
        command.env("LD_LIBRARY_PATH", program.parent().unwrap());
    }))
}

#[test]
fn llama_cpp_calls_a_tool_and_answers_over_each_wire() {
    let Some(llama) = start(&["--jinja"]) else { return };
    for api in ["auto", "responses", "chat", "messages"] {
        for stream in ["--stream", "--no-stream"] {
            let bench = Bench::with(["sales.csv"]);
            let warnings = llama.calls_and_answers(&bench, "tiny", &["--api", api, stream]);
            assert!(warnings.is_empty(), "{warnings:?}");
        }
    }
    // A session goes on over another wire: what it has is put into that one's words, and back.
    let bench = Bench::with(["sales.csv"]);
    for api in ["responses", "chat", "messages", "chat", "responses", "messages"] {
        llama.calls_and_answers(&bench, "tiny", &["--api", api]);
    }
}

#[test]
fn llama_cpp_without_templates_has_no_tools() {
    let Some(llama) = start(&["--no-jinja"]) else { return };
    let bench = Bench::with(["sales.csv"]);
    let events = llama.ends_with(0, &bench, "tiny", &[]);
    assert_eq!(of_type(&events, "reply")[0]["computed"], false);
}
