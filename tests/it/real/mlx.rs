//! MLX's server, which speaks Chat Completions alone and answers in at most 512 tokens unless it is told
//! otherwise.

use super::{Server, installed, make_model, of_type};
use crate::bench::Bench;

/// What the server calls the model that it was started with.
pub const MODEL: &str = "default_model";

/// Starts the server with a model that behaves in this way.
pub fn start(behaviour: &str) -> Option<Server> {
    let program = installed("CSV_AGENT_MLX_SERVER", "mlx/bin/mlx_lm.server", "install-mlx")?;
    Some(Server::start(&program, "Starting httpd", |command, directory, port| {
        let model = directory.join("tiny");
        make_model(&model, behaviour);
        command.arg("--model").arg(&model).args(["--host", "127.0.0.1", "--port", port]);
        // A name that it does not know is looked up nowhere.
        command.env("HF_HOME", directory).env("HF_HUB_OFFLINE", "1");
    }))
}

#[test]
fn mlx_calls_a_tool_and_answers_over_chat_completions() {
    let Some(mlx) = start("--sound") else { return };
    for stream in ["--stream", "--no-stream"] {
        let bench = Bench::with(["sales.csv"]);
        for (api, expected) in [("chat", &[][..]), ("auto", &["api_switched"]), ("auto", &[])] {
            let warnings = mlx.calls_and_answers(&bench, MODEL, &["--api", api, stream]);
            assert_eq!(warnings, expected, "{api} {stream}");
        }
        let events = mlx.ends_with(6, &bench, MODEL, &["--api", "responses", stream]);
        let error = of_type(&events, "error")[0];
        assert_eq!(error["http_status"], 404, "{error}");
        assert!(error["hint"].as_str().unwrap().contains("`--api`"), "{error}");
    }
    // It looks for the model among those that were downloaded, and says 404 as for the other path.
    let events = mlx.ends_with(6, &Bench::with(["sales.csv"]), "nonesuch", &[]);
    let error = of_type(&events, "error")[0];
    let hint = "check that the server has the model `nonesuch`, or choose with `--model`";
    assert_eq!(error["hint"], hint, "{error}");
}

#[test]
fn mlx_without_eyes_is_told_as_such() {
    let Some(mlx) = start("--sound") else { return };
    let bench = Bench::with(["sales.csv"]);
    std::fs::write(bench.path("dot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    // It says 404 for the other dialect, and for this too.
    let events = mlx.ends_with(6, &bench, MODEL, &["--image", "dot.png"]);
    let error = of_type(&events, "error")[0];
    assert!(error["message"].as_str().unwrap().ends_with("content type is supported."), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("reads images"), "{error}");
}

#[test]
fn nonsense_of_mlx_is_told_as_such() {
    let Some(mlx) = start("--half-a-call") else { return };
    for stream in ["--stream", "--no-stream"] {
        let bench = Bench::with(["sales.csv"]);
        let events = mlx.ends_with(6, &bench, MODEL, &["--api", "chat", stream]);
        let error = of_type(&events, "error")[0];
        let message = "the model's answer is empty: no text and no tool call";
        assert_eq!(error["message"], message, "{error}");
    }
}

#[test]
fn an_answer_that_mlx_cuts_is_told_as_cut_by_the_server() {
    let Some(mlx) = start("--endless") else { return };
    for stream in ["--stream", "--no-stream"] {
        let bench = Bench::with(["sales.csv"]);
        let events = mlx.ends_with(7, &bench, MODEL, &["--api", "chat", stream]);
        let warnings = of_type(&events, "status").into_iter().filter(|it| it["phase"] == "warning");
        let codes: Vec<_> = warnings.map(|it| it["code"].as_str().unwrap()).collect();
        assert_eq!(codes, ["answer_cut"]);
        let reply = of_type(&events, "reply")[0];
        assert_eq!(reply["usage"]["output_tokens"], 512, "{reply}");
    }
}
