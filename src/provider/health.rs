//! Checks that a server is reachable and accepts the key, with one cheap request that runs no model.

use std::time::Duration;

use serde_json::Value;

use csv_agent_types::status::Failure;

use super::RemoteOptions;
use super::error::ProviderError;
use super::key::mask;
use super::transport::http::{Endpoint, Http};
use super::wire::failure::{Complaint, one_line};

/// A server's answer to the request for its models.
#[derive(Debug)]
pub struct Health {
    /// Its base URL, without parts that may be secret.
    pub server: String,
    /// The HTTP status.
    pub status: u16,
    /// The meaning of an unsuccessful answer.
    pub complaint: Option<ProviderError>,
    /// The models, if the server lists all of them.
    pub models: Vec<Listed>,
}

/// A model in a server's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name in requests.
    pub name: String,
    /// The announced or past date of its retirement.
    pub end: Option<String>,
}

impl Health {
    /// Returns whether the server has a model; true when it does not list its models.
    pub fn may_have(&self, model: &str) -> bool {
        self.models.is_empty() || self.find(model).is_some()
    }

    /// Returns when a model is retired, if the server announces that.
    pub fn end_of(&self, model: &str) -> Option<&str> {
        self.find(model)?.end.as_deref()
    }

    fn find(&self, model: &str) -> Option<&Listed> {
        let tagged = format!("{model}:latest");
        self.models.iter().find(|it| it.name == model || it.name == tagged)
    }
}

/// Returns a server's name without secrets.
///
/// # Errors
///
/// Fails when this is not a base URL.
pub fn name(base_url: &str) -> Result<String, Failure> {
    Ok(Endpoint::parse(base_url)?.name())
}

/// Requests the models of a server. `model` is the one that a hint may name.
///
/// # Errors
///
/// Fails when the base URL or the key cannot be used, and with a [`ProviderError`] when the server cannot
/// be reached or does not answer in time.
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

/// Reads a list of models. A first page of several says nothing about models that it lacks, so it does not
/// count.
fn models(body: &str) -> Vec<Listed> {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let is_whole = value["has_more"] != true;
    let listed = value["data"].as_array().filter(|_| is_whole).into_iter().flatten();
    let listed = listed.filter_map(|it| {
        let name = it["id"].as_str()?.to_owned();
        // `OpenAI` and Anthropic; the latter still lists retired models.
        let end = ["shutdown_date", "retires_at"].iter().find_map(|name| it[*name].as_str());
        let end = end.or_else(|| it["lifecycle"].as_str().filter(|it| *it != "active"));
        Some(Listed { name, end: end.map(one_line) })
    });
    listed.collect()
}

#[cfg(test)]
mod tests {
    use super::{Health, models};

    fn health(body: &str) -> Health {
        Health { server: String::new(), status: 200, complaint: None, models: models(body) }
    }

    #[test]
    fn a_model_may_be_there_unless_the_list_is_without_it() {
        let listed = r#"{"data":[{"id":"qwen3:latest"},{"id":"gpt-5.1"},{}]}"#;
        let page = r#"{"data":[{"id":"gpt-5.1"}],"has_more":true}"#;
        for (body, model, expected) in [
            (listed, "gpt-5.1", true),
            (listed, "qwen3", true),
            (listed, "gpt-5", false),
            (r#"{"data":[]}"#, "gpt-5", true),
            ("<html>", "gpt-5", true),
            (page, "gpt-5", true),
        ] {
            assert_eq!(health(body).may_have(model), expected, "{model} in {body}");
        }
    }

    #[test]
    fn the_end_of_a_model_is_a_day_or_a_word() {
        let listed = r#"{"data":[
            {"id":"a","shutdown_date":"2027-04-01"},{"id":"b","shutdown_date":null},
            {"id":"c","lifecycle":"deprecated","retires_at":"2027-05-01T00:00:00Z"},
            {"id":"d","lifecycle":"retired","retires_at":null},{"id":"e","lifecycle":"active"}]}"#;
        for (model, end) in [
            ("a", Some("2027-04-01")),
            ("b", None),
            ("c", Some("2027-05-01T00:00:00Z")),
            ("d", Some("retired")),
            ("e", None),
            ("f", None),
        ] {
            assert_eq!(health(listed).end_of(model), end, "{model}");
        }
    }
}
