//! Whether a server is there and takes the key: one cheap request that asks no model anything.

use std::time::Duration;

use serde_json::Value;

use super::RemoteOptions;
use super::error::ProviderError;
use super::key::mask;
use super::transport::http::{Endpoint, Http};
use super::wire::failure::Complaint;
use crate::status::Failure;

/// What a server answers to whoever asks for its models.
#[derive(Debug)]
pub struct Health {
    /// Its base URL, without what may be secret.
    pub server: String,
    /// Of the answer.
    pub status: u16,
    /// What the answer means when it is no success.
    pub complaint: Option<ProviderError>,
    /// The models, if it says.
    pub models: Vec<String>,
}

impl Health {
    /// Returns whether the server has a model; true when it does not say which it has.
    pub fn may_have(&self, model: &str) -> bool {
        let tagged = format!("{model}:latest");
        self.models.is_empty() || self.models.iter().any(|it| it == model || *it == tagged)
    }
}

/// Returns what a server may be called where everybody can read it.
///
/// # Errors
///
/// Fails when this is no base URL.
pub fn name(base_url: &str) -> Result<String, Failure> {
    Ok(Endpoint::parse(base_url)?.name())
}

/// Asks a server for its models. `model` is the one that a hint may name.
///
/// # Errors
///
/// Fails when the base URL or the key cannot be used, and with a [`ProviderError`] when the server cannot
/// be reached or does not answer within that time.
pub async fn look(
    options: &RemoteOptions,
    model: &str,
    within: Duration,
) -> anyhow::Result<Health> {
    let endpoint = Endpoint::parse(&options.base_url)?;
    let http = Http::new(&endpoint, options)?;
    let (status, headers, body) = http.get("models", within).await?;
    let is_success = (200..300).contains(&status);
    let body = mask(&body, options.key.as_ref());
    let complaint =
        (!is_success).then(|| Complaint::of_body(&body).judge(Some(status), &headers, model));
    let models = if is_success { models(&body) } else { Vec::new() };
    Ok(Health { server: endpoint.name(), status, complaint, models })
}

fn models(body: &str) -> Vec<String> {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let listed = value["data"].as_array().into_iter().flatten();
    listed.filter_map(|it| it["id"].as_str()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::{Health, models};

    #[test]
    fn a_model_may_be_there_unless_the_list_is_without_it() {
        let health = |body: &str| Health {
            server: String::new(),
            status: 200,
            complaint: None,
            models: models(body),
        };
        let listed = r#"{"data":[{"id":"qwen3:latest"},{"id":"gpt-5.1"},{}]}"#;
        for (body, model, expected) in [
            (listed, "gpt-5.1", true),
            (listed, "qwen3", true),
            (listed, "gpt-5", false),
            (r#"{"data":[]}"#, "gpt-5", true),
            ("<html>", "gpt-5", true),
        ] {
            assert_eq!(health(body).may_have(model), expected, "{model} in {body}");
        }
    }
}
