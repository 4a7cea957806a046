//! `LiteLLM`, a gateway, in front of MLX's server: it speaks both dialects, translates between them, and
//! has errors of its own.

use std::fs;

use super::{Server, installed, mlx, of_type};
use crate::bench::{Bench, KEY};

/// A gateway and the server behind it.
struct Gateway {
    front: Server,
    _back: Server,
}

/// Starts both. The model `tiny` is asked by Chat Completions whatever the gateway is asked by; for
/// `straight`, each request goes on to the same path.
fn start(behaviour: &str) -> Option<Gateway> {
    let program = installed("CSV_AGENT_LITELLM", "litellm/bin/litellm", "install-litellm")?;
    let back = mlx::start(behaviour)?;
    let models = [("tiny", "lm_studio"), ("straight", "openai")].map(|(name, kind)| {
        let (model, url) = (mlx::MODEL, back.base_url());
        format!(
            "- model_name: {name}\n  litellm_params: \
             {{model: {kind}/{model}, api_base: \"{url}\", api_key: none}}\n"
        )
    });
    let front = Server::start(&program, "Application startup complete", |command, home, port| {
        let config = home.join("config.yaml");
        fs::write(&config, format!("model_list:\n{}", models.concat())).unwrap();
        command.arg("--config").arg(&config).args(["--host", "127.0.0.1", "--port", port]);
        command.env("HOME", home).env("LITELLM_MASTER_KEY", KEY);
        // Prices are not fetched from the network.
        command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    });
    Some(Gateway { front, _back: back })
}

#[test]
fn litellm_calls_a_tool_and_answers_over_both_dialects() {
    let Some(gateway) = start("--sound") else { return };
    for api in ["auto", "responses", "chat"] {
        for stream in ["--stream", "--no-stream"] {
            let bench = Bench::with(["sales.csv"]);
            let warnings = gateway.front.calls_and_answers(&bench, "tiny", &["--api", api, stream]);
            // The name behind the gateway shows in streams of the Responses API.
            let only_names = warnings.iter().all(|it| it == "model_differs");
            assert!(only_names, "{api} {stream}: {warnings:?}");
        }
    }
    let bench = Bench::with(["sales.csv"]);
    for api in ["responses", "chat", "responses"] {
        gateway.front.calls_and_answers(&bench, "tiny", &["--api", api]);
    }
}

#[test]
fn what_litellm_refuses_is_told_with_what_to_do() {
    let Some(gateway) = start("--sound") else { return };
    let gateway = gateway.front;
    // It has the path, and the server behind it has not; then it says to wait some seconds.
    let bench = Bench::with(["sales.csv"]);
    let warnings = gateway.calls_and_answers(&bench, "straight", &[]);
    assert_eq!(warnings, ["api_switched"]);
    for api in ["responses", "chat"] {
        let thinking = ["--api", api, "--no-stream", "--reasoning", "low"];
        let warnings = gateway.calls_and_answers(&Bench::with(["sales.csv"]), "tiny", &thinking);
        assert_eq!(warnings, ["field_dropped"], "{api}");
    }
    let events = gateway.ends_with(6, &bench, "nonesuch", &["--api", "chat"]);
    let error = of_type(&events, "error")[0];
    let hint = "check that the server has the model `nonesuch`, or choose with `--model`";
    assert_eq!(error["hint"], hint, "{error}");
    let bench = bench.variable("OPENAI_API_KEY", "sk-another-0123456789");
    let events = gateway.ends_with(4, &bench, "tiny", &["--api", "chat"]);
    let error = of_type(&events, "error")[0];
    assert_eq!(error["code"], "auth_refused", "{error}");
    assert!(error["hint"].as_str().unwrap().contains("config show"), "{error}");
}
