//! The meaning of error answers, and how to react. Both dialects share the envelope.

use jiff::Timestamp;
use serde_json::Value;

use csv_agent_types::limits::ERROR_BODY_BYTES_MAX;

use crate::error::{ProviderError, ProviderErrorKind};
use crate::retry::stated_delay;
use crate::transport::Headers;
use crate::wire::{OPTIONAL_FIELDS, PREVIOUS_RESPONSE, SEALED_REASONING};

/// Types and codes of exhausted credit: waiting does not help, although the status is 429.
const QUOTA_CODES: &[&str] = &[
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "billing_hard_limit_reached",
    "usage_not_included",
    "billing_error",
];
/// Phrases for exhausted credit from a server without a code for it. Source: Claude API, 400 "Your credit
/// balance is too low to access the Anthropic API".
const QUOTA_WORDS: &[&str] = &["credit balance is too low", "specified api usage limits"];
const OVERLOAD_CODES: &[&str] = &["slow_down", "server_is_overloaded", "overloaded_error"];
/// Codes and types within a stream that a retry cannot fix; a stream has no status to decide by.
const FATAL_CODES: &[&str] = &[
    "invalid_prompt",
    "cyber_policy",
    "bio_policy",
    "data_residency_mismatch",
    "model_not_found",
    "invalid_request_error",
    "not_found_error",
    "permission_denied",
];
const CONTEXT_CODES: &[&str] =
    &["context_length_exceeded", "exceed_context_size_error", "request_too_large"];
/// Phrases for an overlong conversation, from servers without a code.
const CONTEXT_WORDS: &[&str] = &[
    "context window",
    "context length",
    "available context size",
    "context_length_exceeded",
    // Anthropic.
    "prompt is too long",
    "exceed context limit",
];
/// Phrases of errors about reasoning items that this server cannot use.
const SEALED_WORDS: &[&str] = &[
    "items are not persisted when `store`",
    "without its required",
    "encrypted content could not be",
    "invalid_encrypted_content",
    // Anthropic, for reasoning by another model, or after a change to earlier messages.
    "invalid `signature` in `thinking`",
    "blocks in the latest assistant message cannot be modified",
];

/// Phrases of servers or models without tool support.
const NO_TOOLS_WORDS: &[&str] = &[
    "does not support tools",
    "does not support tool",
    "does not support function call",
    "tools are not supported",
    "tool use is not supported",
    "tool calling is not supported",
    "function calling is not supported",
    "functions are not supported",
    "no tool support",
    // OpenRouter, for a model that no provider serves with tools.
    "no endpoints found that support tool use",
    // vLLM and llama.cpp, started without a parser for calls.
    "--enable-auto-tool-choice",
    "tools param requires --jinja",
];
/// Phrases of servers without the model, other than "not found" or "does not exist".
const NO_MODEL_WORDS: &[&str] = &[
    // LiteLLM.
    "invalid model name",
    // OpenRouter.
    "is not a valid model",
    // MLX, which searches its downloads for a model that it was not started with.
    "appropriate cached snapshot folder",
    "unknown model",
];
/// Phrases of servers whose models accept no images, including those sent with 404.
const NO_IMAGES_WORDS: &[&str] = &[
    // MLX, with 404.
    "only 'text' content type is supported",
    // OpenRouter, with 404.
    "no endpoints found that support image input",
];
/// Types of gateways that look up a key in a missing database. Their status is 400.
const UNKNOWN_KEY_CODES: &[&str] =
    &["invalid_api_key", "no_db_connection", "authentication_error", "permission_error"];
/// Codes for a parameter that the server does not know.
const UNKNOWN_CODES: &[&str] = &["unknown_parameter", "unsupported_parameter", "extra_forbidden"];
/// Phrases for a member that a server does not know.
const UNWANTED_WORDS: &[&str] =
    &["unknown", "unsupported", "unrecognized", "extra inputs", "not permitted", "not supported"];
/// Members that are sent back in messages because the server sent them.
const ECHOES: &[&str] = &["extra_content", "reasoning_content", "reasoning_details"];

/// Members of a request by the setting that sends them, with a hint at how to do without.
const SETTINGS: &[(&[&str], &str)] = &[
    (
        &["reasoning", "reasoning_effort", "effort"],
        "leave out `--reasoning`, and `reasoning` in the configuration",
    ),
    (&["stream", "stream_options", "streaming"], "ask without streaming: `--no-stream`"),
    (
        &["response_format", "json_schema", "text_format"],
        "leave out `--schema` and `--verdict`, which ask for an answer in a fixed form",
    ),
    (
        &["tools", "tool_choice", "parallel_tool_calls", "strict"],
        "choose a model that calls tools with `--model`, or another API with `--api chat` or `--api responses`",
    ),
];

/// Phrases for a resource that no longer exists.
const GONE_WORDS: &[&str] =
    &["not found", "no such", "not exist", "expired", "deleted", "invalid file id"];
/// Phrases that name a file at the provider.
const FILE_WORDS: &[&str] = &["file object", "file-", "cfile_", "file id", "file with id"];
/// Phrases that name a container.
const CONTAINER_WORDS: &[&str] = &["cntr_", "container with id", "container not found"];

/// What to do when an existing container has expired.
pub(crate) const CONTAINER_EXPIRED_HINT: &str =
    "continue in a new container with `--on-expired new`; what was only in the old one is lost";

/// The subject of a call, which determines the meaning of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// An upload in progress.
    Upload,
    /// An uploaded file, or a file in a container.
    File,
    Container,
}

/// An error as a provider reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    kind: String,
    code: String,
    param: String,
    message: String,
}

impl Complaint {
    /// Reads an error body: the usual envelope, its variants by proxies, or any text.
    pub(crate) fn of_body(body: &str) -> Complaint {
        let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        let mut complaint = Complaint::of_json(&value);
        if complaint.message.is_empty() {
            complaint.message = one_line(body);
        }
        complaint
    }

    /// Reads an `error` event in either of its shapes, or the `error` member of a response.
    pub(crate) fn of_json(value: &Value) -> Complaint {
        let nested = ["error", "detail"].iter().find_map(|name| value.get(*name));
        let error = nested.filter(|it| !it.is_null()).unwrap_or(value);
        if let Some(complaint) = Complaint::of_validation(error) {
            return complaint;
        }
        if let Value::String(message) = error {
            return Complaint { message: one_line(message), ..Complaint::default() };
        }
        let member = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let kind = member("type");
        Complaint {
            // In the flat form, the type is that of the event.
            kind: if nested.is_none() && kind == "error" { String::new() } else { kind },
            code: member("code"),
            param: member("param"),
            message: one_line(&member("message")),
        }
    }

    /// Reads the first fault of a `FastAPI` validation list: its location and message.
    fn of_validation(faults: &Value) -> Option<Complaint> {
        let fault = faults.as_array()?.first()?;
        let text = |name: &str| fault.get(name).and_then(Value::as_str).unwrap_or_default();
        let steps = fault.get("loc")?.as_array()?.iter().filter_map(Value::as_str);
        let param: Vec<&str> = steps.filter(|it| *it != "body").collect();
        let param = param.join(".");
        Some(Complaint {
            kind: String::new(),
            code: text("type").to_owned(),
            message: one_line(&format!("{param}: {}", text("msg"))),
            param,
        })
    }

    /// Classifies the error. `status` is None for an error within a stream.
    pub(crate) fn judge(
        &self,
        status: Option<u16>,
        headers: &Headers,
        model: &str,
    ) -> ProviderError {
        // Some servers put a status that they can no longer send into the code.
        let status = status.or_else(|| self.code.parse().ok().filter(|it| *it < 600));
        let kind = self.kind(status, headers);
        let hint = self.hint(&kind, status, model);
        self.tell(kind, hint, status, headers)
    }

    /// Classifies the error of a call about files or containers.
    pub(crate) fn judge_call(
        &self,
        status: u16,
        headers: &Headers,
        subject: Subject,
    ) -> ProviderError {
        let kind = self.kind_of_call(status, headers, subject);
        let hint = match kind {
            ProviderErrorKind::Unauthorized if status == 403 => {
                let hint = "check that the key's project may keep files and use containers";
                Some(hint.to_owned())
            }
            ProviderErrorKind::NoEndpoint => {
                let hint = "the server keeps no files or containers: run code on this machine with \
                            `--interpreter local`, or set `--base-url`";
                Some(hint.to_owned())
            }
            ProviderErrorKind::Rejected if !(300..400).contains(&status) => None,
            _ => self.hint(&kind, Some(status), ""),
        };
        self.tell(kind, hint, Some(status), headers)
    }

    fn kind_of_call(&self, status: u16, headers: &Headers, subject: Subject) -> ProviderErrorKind {
        // An untyped 404 page says nothing about the resource.
        let is_told = !self.kind.is_empty() || !self.code.is_empty();
        match self.kind(Some(status), headers) {
            // These concern conversations, which a call does not have.
            ProviderErrorKind::UnsupportedField(_)
            | ProviderErrorKind::ContextTooLong
            | ProviderErrorKind::NoTools
            | ProviderErrorKind::NoImages
            | ProviderErrorKind::NoEndpoint
            | ProviderErrorKind::Rejected => match (status, subject) {
                (404, Subject::Container) if is_told => ProviderErrorKind::ContainerExpired,
                (404, Subject::File) if is_told => ProviderErrorKind::NoSuchFile,
                (404 | 405 | 501, _) => ProviderErrorKind::NoEndpoint,
                _ => ProviderErrorKind::Rejected,
            },
            kind => kind,
        }
    }

    fn tell(
        &self,
        kind: ProviderErrorKind,
        hint: Option<String>,
        status: Option<u16>,
        headers: &Headers,
    ) -> ProviderError {
        let lead = match &kind {
            ProviderErrorKind::Unauthorized if status == Some(403) => {
                "the provider does not allow this with the API key"
            }
            ProviderErrorKind::Unauthorized => "the provider refused the API key",
            ProviderErrorKind::QuotaExceeded => "the account of the API key is out of credit",
            ProviderErrorKind::ContextTooLong => "the conversation is too long for the model",
            ProviderErrorKind::Overloaded { .. } => "the provider is overloaded",
            ProviderErrorKind::Transient { .. } if self.is_rate_limit(status) => {
                "the provider's rate limit is reached"
            }
            ProviderErrorKind::Transient { .. } => "the provider failed",
            ProviderErrorKind::ContainerExpired => "the provider no longer has the container",
            ProviderErrorKind::NoSuchFile => "the provider no longer has a file",
            _ => "the provider refused the request",
        };
        let request_id = headers.get("x-request-id").map(|id| one_line(id));
        let with_status = status.map(|it| format!(" with status {it}")).unwrap_or_default();
        let detail = match (status, self.message.as_str(), self.code.as_str()) {
            (Some(300..400), _, _) => {
                let target = headers.get("location").map_or("nowhere", String::as_str);
                format!(": a redirect to `{}`, which is not followed", one_line(target))
            }
            (_, "", "") => String::new(),
            (_, "", code) => format!(": {}", one_line(code)),
            (_, message, _) => format!(": {message}"),
        };
        let of_request = request_id.as_ref().map(|it| format!(" (request `{it}`)"));
        let of_request = of_request.unwrap_or_default();
        let message = format!("{lead}{with_status}{detail}{of_request}");
        ProviderError { kind, message, hint, http_status: status, request_id, is_unsent: false }
    }

    fn kind(&self, status: Option<u16>, headers: &Headers) -> ProviderErrorKind {
        let is_one_of =
            |codes: &[&str]| codes.iter().any(|it| self.code == *it || self.kind == *it);
        let words = self.message.to_ascii_lowercase();
        let says_one_of = |texts: &[&str]| texts.iter().any(|it| words.contains(it));
        let is_client_error = status.is_none_or(|it| (400..500).contains(&it) && it != 429);
        let retry_after = stated_delay(headers, &self.message, Timestamp::now());

        if is_one_of(QUOTA_CODES) || is_client_error && says_one_of(QUOTA_WORDS) {
            return ProviderErrorKind::QuotaExceeded;
        }
        let too_long = is_one_of(CONTEXT_CODES) || says_one_of(CONTEXT_WORDS);
        if status == Some(413) || (is_client_error && too_long) {
            return ProviderErrorKind::ContextTooLong;
        }
        if matches!(status, Some(401 | 403)) || is_one_of(UNKNOWN_KEY_CODES) {
            return ProviderErrorKind::Unauthorized;
        }
        if is_client_error && self.says_container_gone() {
            return ProviderErrorKind::ContainerExpired;
        }
        if is_client_error && self.says_file_gone() {
            return ProviderErrorKind::NoSuchFile;
        }
        if self.says_no_tools(status) {
            return ProviderErrorKind::NoTools;
        }
        if is_client_error {
            let not_found = words.contains("item with id") && words.contains("not found");
            let sealed = is_one_of(&["invalid_encrypted_content"]) || says_one_of(SEALED_WORDS);
            if sealed || not_found {
                return ProviderErrorKind::UnsupportedField(SEALED_REASONING.to_owned());
            }
            if let Some(field) = self.optional_field() {
                return ProviderErrorKind::UnsupportedField(field.to_owned());
            }
        }
        if is_one_of(OVERLOAD_CODES) {
            return ProviderErrorKind::Overloaded { retry_after };
        }
        let may_pass = match (headers.get("x-should-retry").map(String::as_str), status) {
            (Some("true"), _) => true,
            (Some("false"), _) => false,
            (_, Some(status)) => matches!(status, 408 | 409 | 429 | 500 | 502..=599),
            (_, None) => !is_one_of(FATAL_CODES),
        };
        if may_pass {
            ProviderErrorKind::Transient { retry_after }
        } else if self.is_about_images(status) {
            ProviderErrorKind::NoImages
        } else if matches!(status, Some(404 | 405 | 501)) && !self.is_about_model() {
            ProviderErrorKind::NoEndpoint
        } else {
            ProviderErrorKind::Rejected
        }
    }

    /// Returns the optional field that the error is about.
    fn optional_field(&self) -> Option<&'static str> {
        let words = self.message.to_ascii_lowercase();
        if words.contains("encrypted content is not supported") {
            return Some("include");
        }
        // `previous_response_not_found`, and servers that cannot continue a response at all.
        let is_gone = words.starts_with("response with id") && words.contains("not found");
        if is_gone
            || words.contains(PREVIOUS_RESPONSE)
            || self.code.starts_with("previous_response")
        {
            return Some(PREVIOUS_RESPONSE);
        }
        if let Some(field) = self.unwanted_echo().or_else(|| self.of_output_config()) {
            return Some(field);
        }
        let param = self.parameter()?;
        // `reasoning.effort`, `include[0]`: the whole field is left out.
        let field = param.split(['.', '[']).next()?;
        OPTIONAL_FIELDS.iter().find(|it| **it == field).copied()
    }

    /// Returns a member that came from this server, or one behind it, and is refused within a message. A
    /// complaint that it is missing contains the same name.
    fn unwanted_echo(&self) -> Option<&'static str> {
        let words = format!("{} {}", self.param, self.message).to_ascii_lowercase();
        let is_refused = UNWANTED_WORDS.iter().any(|it| words.contains(it))
            || UNKNOWN_CODES.contains(&self.code.as_str());
        ECHOES.iter().find(|it| is_refused && words.contains(**it)).copied()
    }

    /// Returns the part of an answer form that Anthropic rejects, by its name in the other dialects. The
    /// message starts with its location.
    fn of_output_config(&self) -> Option<&'static str> {
        let words = self.message.to_ascii_lowercase();
        let is_effort =
            words.starts_with("output_config.effort") || words.contains("effort parameter");
        let is_format = words.starts_with("output_config") || words.starts_with("output_format");
        match (is_effort, is_format) {
            (true, _) => Some("reasoning"),
            (_, true) => Some("response_format"),
            _ => None,
        }
    }

    fn is_rate_limit(&self, status: Option<u16>) -> bool {
        status == Some(429) || self.code == "rate_limit_exceeded" || self.kind == "rate_limit_error"
    }

    fn hint(&self, kind: &ProviderErrorKind, status: Option<u16>, model: &str) -> Option<String> {
        let hint = match kind {
            ProviderErrorKind::Unauthorized if status == Some(403) => {
                format!("check that the key's project and region may use the model `{model}`")
            }
            ProviderErrorKind::Unauthorized => {
                "give a key that is valid for this server, in `OPENAI_API_KEY`, in `ANTHROPIC_API_KEY` or as \
                 `csv-agent help config` says; `csv-agent config show` reports where this one comes from"
                    .to_owned()
            }
            ProviderErrorKind::QuotaExceeded => {
                "add credit to the account, or use a local server with `--base-url`".to_owned()
            }
            ProviderErrorKind::Transient { .. } | ProviderErrorKind::Overloaded { .. } => {
                "run the command again later, or allow more retries with `--retries N`".to_owned()
            }
            ProviderErrorKind::ContextTooLong => {
                "start over with `csv-agent reset`, or ask a model with a larger context".to_owned()
            }
            _ if matches!(status, Some(300..400)) => {
                "set `--base-url` to where the server is now".to_owned()
            }
            ProviderErrorKind::NoTools => {
                "choose a model that calls tools with `--model`".to_owned()
            }
            ProviderErrorKind::ContainerExpired => CONTAINER_EXPIRED_HINT.to_owned(),
            ProviderErrorKind::NoSuchFile => {
                "it expired or was deleted there: ask again, and csv-agent uploads or creates it again"
                    .to_owned()
            }
            ProviderErrorKind::NoImages => {
                "check the image, or choose a model that reads images with `--model`".to_owned()
            }
            _ if self.is_about_model() => {
                format!("check that the server has the model `{model}`, or choose with `--model`")
            }
            ProviderErrorKind::NoEndpoint => {
                "check `--base-url`, which usually ends in `/v1`, and `--api`".to_owned()
            }
            _ if self.message.contains("/chat/completions") => {
                "use the Responses API, with `--api responses`".to_owned()
            }
            _ if matches!(status, Some(400 | 422)) => self.way_out(),
            _ => return None,
        };
        Some(hint)
    }

    /// Returns a hint for an unexplained refusal: leave out what the error names, or use the other dialect.
    fn way_out(&self) -> String {
        let said = format!("{} {}", self.param, self.message).to_ascii_lowercase();
        let mut words = said.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let setting = words.find_map(|word| SETTINGS.iter().find(|it| it.0.contains(&word)));
        match setting {
            Some((_, remedy)) => (*remedy).to_owned(),
            None => "use another API, with `--api chat` or `--api responses`; `csv-agent ask --dry-run` shows \
                     what is sent"
                .to_owned(),
        }
    }

    fn is_about_model(&self) -> bool {
        let words = self.message.to_ascii_lowercase();
        // The order matters: a gateway adds its model's name to the message of the server behind it.
        let is_missing = ["not found", "not exist"]
            .iter()
            .any(|it| words.split_once(it).is_some_and(|(before, _)| before.contains("model")));
        self.code == "model_not_found"
            || is_missing
            // Anthropic.
            || self.kind == "not_found_error" && words.starts_with("model:")
            || NO_MODEL_WORDS.iter().any(|it| words.contains(it))
    }

    /// Returns whether the model rejects images. Servers say so in words only, and a page for a missing
    /// path may contain the word by chance.
    fn is_about_images(&self, status: Option<u16>) -> bool {
        let words = self.message.to_ascii_lowercase();
        let may_be_a_page = matches!(status, Some(300..400 | 404 | 405 | 501));
        NO_IMAGES_WORDS.iter().any(|it| words.contains(it))
            || (!may_be_a_page && words.contains("image"))
    }

    /// Returns whether a container is gone: it was deleted, or twenty minutes have passed since its last
    /// use.
    fn says_container_gone(&self) -> bool {
        let words = self.message.to_ascii_lowercase();
        let has_one_of = |texts: &[&str]| texts.iter().any(|it| words.contains(it));
        words.contains("container is expired")
            || words.contains("expected container_id")
            || (!self.kind.is_empty()
                && has_one_of(GONE_WORDS)
                && has_one_of(CONTAINER_WORDS)
                && !has_one_of(FILE_WORDS))
    }

    /// Returns whether a file is gone. Only servers with typed errors store files: the same text on a page
    /// is about the page's own path.
    fn says_file_gone(&self) -> bool {
        let words = self.message.to_ascii_lowercase();
        let has_one_of = |texts: &[&str]| texts.iter().any(|it| words.contains(it));
        let is_file = self.param.contains("file_id")
            || has_one_of(FILE_WORDS)
            || words.starts_with("file not found");
        !self.kind.is_empty() && is_file && has_one_of(GONE_WORDS) && !self.is_about_model()
    }

    /// Returns whether the server rejects tools of any form.
    fn says_no_tools(&self, status: Option<u16>) -> bool {
        let words = self.message.to_ascii_lowercase();
        let is_refusal = matches!(status, Some(400 | 404 | 405 | 422 | 500 | 501));
        // `tools[0].parameters` is a complaint about a single tool.
        let is_unknown = UNKNOWN_CODES.contains(&self.code.as_str())
            || ["unknown", "unsupported", "unrecognized", "extra inputs"]
                .iter()
                .any(|it| words.contains(it));
        let is_member = matches!(self.parameter().as_deref(), Some("tools" | "tool_choice"));
        is_refusal
            && (NO_TOOLS_WORDS.iter().any(|it| words.contains(it)) || is_member && is_unknown)
    }

    /// Returns the parameter that the error is about, from its member or its message.
    fn parameter(&self) -> Option<String> {
        if !self.param.is_empty() {
            return Some(self.param.clone());
        }
        let words = self.message.to_ascii_lowercase();
        // One name, or the first of a list.
        let mut named = ["parameter: ", "parameters: ["].into_iter();
        let (_, rest) = named.find_map(|it| words.split_once(it))?;
        let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"' | '`'))?;
        rest[1..].split_once(quote).map(|(name, _)| name.to_owned())
    }
}

/// Returns the first bytes of an untrusted text as one line that is safe to print.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if ERROR_BODY_BYTES_MAX < line.len() {
            line.truncate(line.floor_char_boundary(ERROR_BODY_BYTES_MAX));
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::error::ProviderErrorKind::{
        self, ContainerExpired, ContextTooLong, NoEndpoint, NoImages, NoSuchFile, NoTools,
        Overloaded, QuotaExceeded, Rejected, Transient, Unauthorized, UnsupportedField,
    };
    use crate::transport::Headers;

    use super::{Complaint, Subject, one_line};

    #[track_caller]
    fn check(status: u16, body: &str, kind: &ProviderErrorKind) {
        let error = Complaint::of_body(body).judge(Some(status), &Headers::new(), "m");
        assert_eq!((&error.kind, error.http_status), (kind, Some(status)));
    }

    fn error(kind: &str, code: &str, param: &str, message: &str) -> String {
        let error = serde_json::json!({
            "type": kind, "code": code, "param": param, "message": message,
        });
        serde_json::json!({"error": error}).to_string()
    }

    fn transient(ms: u64) -> ProviderErrorKind {
        Transient { retry_after: Some(Duration::from_millis(ms)) }
    }

    const SOON: ProviderErrorKind = Transient { retry_after: None };

    #[test]
    fn a_rate_limit_is_told_from_an_empty_account() {
        let limit = "Rate limit reached for m. Please try again in 1.2s.";
        check(429, &error("tokens", "rate_limit_exceeded", "", limit), &transient(1_200));
        check(429, "", &SOON);
        check(429, &error("insufficient_quota", "insufficient_quota", "", ""), &QuotaExceeded);
        check(
            429,
            &error("insufficient_quota", "credit_balance_exhausted", "", ""),
            &QuotaExceeded,
        );
        check(429, &error("billing", "project_spend_limit_exceeded", "", ""), &QuotaExceeded);
    }

    #[test]
    fn what_may_pass_is_told_from_what_may_not() {
        for status in [408, 409, 500, 502, 503, 504, 529] {
            check(status, "<html>bad</html>", &SOON);
        }
        for status in [301, 307, 400, 418, 422] {
            check(status, "", &Rejected);
        }
        let busy = Overloaded { retry_after: None };
        check(503, &error("server_error", "server_is_overloaded", "", ""), &busy);
        check(429, &error("", "slow_down", "", ""), &busy);
    }

    #[test]
    fn a_path_that_is_not_there_is_told_from_a_model_that_is_not() {
        let page = "404 page not found";
        for (status, body) in
            [(404, page), (404, r#"{"detail":"Not Found"}"#), (405, ""), (501, "")]
        {
            check(status, body, &NoEndpoint);
        }
        check(
            404,
            &error("invalid_request_error", "model_not_found", "model", "No `m`."),
            &Rejected,
        );
        let ollama = "model \"m\" not found, try pulling it first";
        check(404, &error("not_found_error", "", "", ollama), &Rejected);
        // The server behind a gateway has no such path.
        let litellm = "litellm.NotFoundError: NotFoundError: OpenAIException - Not Found LiteLLM: model \
                       group 'm' failed with the error above. No fallback was attempted.";
        check(404, &error("", "404", "", litellm), &NoEndpoint);
        let mlx = "Cannot find an appropriate cached snapshot folder for the specified revision";
        check(404, &serde_json::json!({"error": mlx}).to_string(), &Rejected);
    }

    #[test]
    fn a_model_that_is_not_there_is_hinted_at_whatever_the_words() {
        for words in [
            "The model `m` does not exist or you do not have access to it.",
            "/responses: Invalid model name passed in model=m. Call `/v1/models` to view yours.",
            "m is not a valid model ID",
        ] {
            let body = error("invalid_request_error", "400", "", words);
            let told = Complaint::of_body(&body).judge(Some(400), &Headers::new(), "m").hint;
            let hint = "check that the server has the model `m`, or choose with `--model`";
            assert_eq!(told.as_deref(), Some(hint), "{words}");
        }
    }

    #[test]
    fn servers_without_tools_are_told_by_their_words() {
        for words in [
            "registry.ollama.ai/library/gemma:2b does not support tools",
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            "Unknown parameter: 'tools'.",
            "Unsupported parameter: \"tool_choice\"",
        ] {
            check(400, &error("invalid_request_error", "", "", words), &NoTools);
        }
        check(500, &error("server_error", "", "", "tools param requires --jinja flag"), &NoTools);
        let router = "No endpoints found that support tool use. To learn more about provider routing, \
                      visit: https://openrouter.ai/docs/provider-routing";
        check(404, &error("", "404", "", router), &NoTools);
        check(400, &error("", "unknown_parameter", "tools", "What is this?"), &NoTools);
        let fastapi = r#"{"detail":[{"loc":["body","tools"],"type":"extra_forbidden",
            "msg":"Extra inputs are not permitted"}]}"#;
        check(422, fastapi, &NoTools);
        check(400, &error("", "invalid_value", "tools", "Too many tools."), &Rejected);
        let mixed = "Function tools with reasoning_effort are not supported for m in \
                     /v1/chat/completions.";
        check(
            400,
            &error("", "", "reasoning_effort", mixed),
            &UnsupportedField("reasoning_effort".into()),
        );
    }

    #[test]
    fn a_container_and_a_file_that_are_gone_are_told_by_words() {
        let wrong = |param: &str, words: &str| error("invalid_request_error", "", param, words);
        for words in [
            "Container is expired.",
            "Expected container_id: cntr_1.",
            "Container with id 'cntr_1' not found.",
        ] {
            check(400, &wrong("", words), &ContainerExpired);
        }
        check(404, &wrong("", "Container with id 'cntr_1' not found."), &ContainerExpired);
        for (param, words) in [
            ("id", "No such File object: file-abc"),
            ("tools[0].container.file_ids", "Some of these were not found."),
            ("", "File with id 'cfile_1' not found in container 'cntr_1'."),
            ("", "File not found."),
        ] {
            check(404, &wrong(param, words), &NoSuchFile);
            check(400, &wrong(param, words), &NoSuchFile);
        }
        // Other texts about paths, disk images, and models.
        check(404, "File not found.", &NoEndpoint);
        check(502, &wrong("", "the container not found"), &SOON);
        check(404, &wrong("model", "The model `file-1` does not exist"), &Rejected);
        check(400, &wrong("tools[0].container", "Invalid value."), &Rejected);
    }

    #[track_caller]
    fn check_call(status: u16, body: &str, subject: Subject, kind: &ProviderErrorKind) {
        let error = Complaint::of_body(body).judge_call(status, &Headers::new(), subject);
        assert_eq!((&error.kind, error.http_status), (kind, Some(status)), "{body}");
    }

    #[test]
    fn what_is_not_there_for_a_call_is_told_by_what_it_is_about() {
        let told = error("invalid_request_error", "", "", "No.");
        check_call(404, &told, Subject::Container, &ContainerExpired);
        check_call(404, &told, Subject::File, &NoSuchFile);
        check_call(404, &told, Subject::Upload, &NoEndpoint);
        let elsewhere =
            error("invalid_request_error", "", "", "Container with id 'cntr_1' not found.");
        check_call(404, &elsewhere, Subject::File, &ContainerExpired);
        for subject in [Subject::Container, Subject::File, Subject::Upload] {
            check_call(404, "404 page not found", subject, &NoEndpoint);
            check_call(405, &told, subject, &NoEndpoint);
            check_call(413, "too large", subject, &Rejected);
            check_call(400, &told, subject, &Rejected);
            check_call(401, &told, subject, &Unauthorized);
            check_call(429, "", subject, &SOON);
            check_call(500, "", subject, &SOON);
        }
        let hint =
            |status| Complaint::default().judge_call(status, &Headers::new(), Subject::File).hint;
        assert!(hint(405).unwrap().contains("`--interpreter local`"));
        assert_eq!(hint(400), None);
    }

    #[test]
    fn the_server_may_overrule() {
        let says = |it: &str| Headers::from([("x-should-retry".to_owned(), it.to_owned())]);
        let judge = |status, headers: &Headers| {
            Complaint::of_body("").judge(Some(status), headers, "m").kind
        };
        assert_eq!(judge(400, &says("true")), SOON);
        assert_eq!(judge(500, &says("false")), Rejected);
    }

    #[test]
    fn a_refused_key_is_never_tried_again() {
        check(401, "<html>\n<b>no</b>", &Unauthorized);
        check(403, &error("", "unsupported_country_region_territory", "", ""), &Unauthorized);
        check(400, &error("", "invalid_api_key", "", ""), &Unauthorized);
        check(400, &error("no_db_connection", "400", "", "No connected db."), &Unauthorized);
        let told = Complaint::of_body("").judge(Some(401), &Headers::new(), "m").hint.unwrap();
        assert!(told.contains("`OPENAI_API_KEY`") && told.contains("config show"), "{told}");
    }

    #[test]
    fn a_long_conversation_is_told_by_code_or_words() {
        check(400, &error("", "context_length_exceeded", "input", "too long"), &ContextTooLong);
        let words = "Your input exceeds the context window of this model.";
        check(400, &error("invalid_request_error", "", "", words), &ContextTooLong);
        let llama = "the request exceeds the available context size (512 tokens)";
        check(400, &error("exceed_context_size_error", "", "", llama), &ContextTooLong);
        check(413, "<html>Request Entity Too Large</html>", &ContextTooLong);
    }

    #[test]
    fn what_anthropic_complains_of_is_told_by_its_types_and_words() {
        let check = |status: u16, kind: &str, message: &str, expected: &ProviderErrorKind| {
            let error = serde_json::json!({"type": kind, "message": message});
            check(
                status,
                &serde_json::json!({"type": "error", "error": error}).to_string(),
                expected,
            );
        };
        let invalid = "invalid_request_error";
        let field = |name: &str| UnsupportedField(name.to_owned());
        check(529, "overloaded_error", "Overloaded", &Overloaded { retry_after: None });
        check(429, "rate_limit_error", "Slow down", &SOON);
        check(500, "api_error", "Internal server error", &SOON);
        check(504, "timeout_error", "Timed out", &SOON);
        check(413, "request_too_large", "Request too large", &ContextTooLong);
        check(400, invalid, "prompt is too long: 2 tokens > 1 maximum", &ContextTooLong);
        let both = "input length and `max_tokens` exceed context limit: 9 + 9 > 10";
        check(400, invalid, both, &ContextTooLong);
        check(401, "authentication_error", "invalid x-api-key", &Unauthorized);
        check(403, "permission_error", "no", &Unauthorized);
        check(402, "billing_error", "pay", &QuotaExceeded);
        check(400, invalid, "Your credit balance is too low to access the API.", &QuotaExceeded);
        check(404, "not_found_error", "model: claude-0", &Rejected);
        check(404, "not_found_error", "Not Found", &NoEndpoint);
        let thought = "messages.1.content.0: Invalid `signature` in `thinking` block";
        check(400, invalid, thought, &field("input.reasoning"));
        check(
            400,
            invalid,
            "This model does not support the effort parameter.",
            &field("reasoning"),
        );
        check(400, invalid, "output_config.effort: Input should be 'low'", &field("reasoning"));
        check(400, invalid, "output_config.format.schema: no", &field("response_format"));
        check(400, invalid, "max_tokens: Field required", &Rejected);
    }

    #[test]
    fn a_model_that_reads_no_images_says_so_in_words() {
        let words = "Only 'text' content type is supported.";
        check(404, &serde_json::json!({"error": words}).to_string(), &NoImages);
        check(404, &error("", "404", "", "No endpoints found that support image input"), &NoImages);
        check(400, &error("", "", "", "Image input is not supported by m"), &NoImages);
        check(404, "<html><meta property=\"og:image\" content=\"a\">Not here</html>", &NoEndpoint);
    }

    #[test]
    fn an_optional_field_is_named_by_param_or_words() {
        let field = |name: &str| UnsupportedField(name.to_owned());
        let refused = |param: &str, message: &str| {
            error("invalid_request_error", "unsupported_value", param, message)
        };
        check(400, &refused("reasoning.summary", "must be verified"), &field("reasoning"));
        check(400, &refused("reasoning.effort", ""), &field("reasoning"));
        check(400, &refused("include[0]", ""), &field("include"));
        check(
            400,
            &refused("", "m does not support parameters: ['reasoning_effort'], for model=m."),
            &field("reasoning_effort"),
        );
        check(
            400,
            &refused("", "Unknown parameter: 'prompt_cache_key'."),
            &field("prompt_cache_key"),
        );
        check(
            400,
            &refused("", "Unsupported parameter: 'stream_options' is not supported."),
            &field("stream_options"),
        );
        check(
            400,
            &refused("", "Encrypted content is not supported with this model."),
            &field("include"),
        );
        check(
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","messages",2,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]}"#,
            &field("reasoning_content"),
        );
        check(
            400,
            &error("", "", "", "'messages.2': property 'extra_content' is unsupported"),
            &field("extra_content"),
        );
        let missing =
            "The `reasoning_content` in the thinking mode must be passed back to the API.";
        check(400, &error("invalid_request_error", "", "", missing), &Rejected);
        check(400, &refused("model", ""), &Rejected);
        check(400, &refused("tools[0].parameters", ""), &Rejected);
    }

    #[test]
    fn foreign_reasoning_is_told_by_its_errors() {
        let field = UnsupportedField("input.reasoning".to_owned());
        check(400, &error("", "invalid_encrypted_content", "", ""), &field);
        let lost =
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.";
        check(404, &error("", "", "input", lost), &field);
        let split = "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.";
        check(400, &error("", "", "input", split), &field);
    }

    #[test]
    fn errors_in_a_stream_have_no_status() {
        let judge = |json: serde_json::Value| {
            Complaint::of_json(&json).judge(None, &Headers::new(), "m").kind
        };
        let nested = serde_json::json!({"type": "error", "error": {
            "type": "tokens", "code": "rate_limit_exceeded", "message": "Please try again in 20ms."}});
        assert_eq!(judge(nested), transient(20));
        let flat = serde_json::json!({"type": "error", "code": "server_error", "message": "oops"});
        assert_eq!(judge(flat), SOON);
        let quota = serde_json::json!({"type": "error", "error": {"type": "insufficient_quota"}});
        assert_eq!(judge(quota), QuotaExceeded);
        let policy = serde_json::json!({"code": "invalid_prompt", "message": "no"});
        assert_eq!(judge(policy), Rejected);
        let llama = serde_json::json!({"error": {"code": 500, "message": "slot", "type": "x"}});
        assert_eq!(judge(llama), SOON);
    }

    #[test]
    fn a_refusal_that_nobody_knows_has_a_way_out() {
        let hint = |status, message: &str| {
            let body = error("", "", "", message);
            Complaint::of_body(&body).judge(Some(status), &Headers::new(), "m").hint
        };
        for (message, remedy) in [
            ("Value error in field reasoning_effort", "`--reasoning`"),
            ("'stream' must be false", "`--no-stream`"),
            ("json_schema is not allowed here", "`--schema`"),
            ("tools[0].function.strict: Extra inputs", "`--model`"),
            ("upstream said no", "`--api chat` or `--api responses`"),
            ("", "`--api chat` or `--api responses`"),
        ] {
            for status in [400, 422] {
                let told = hint(status, message).unwrap();
                assert!(told.contains(remedy), "{message}: {told}");
            }
        }
    }

    #[test]
    fn the_message_says_what_and_the_hint_what_next() {
        let headers = Headers::from([("x-request-id".to_owned(), "req_7".to_owned())]);
        let body = error("", "model_not_found", "", "The model `gpt-0` does not exist");
        let error = Complaint::of_body(&body).judge(Some(404), &headers, "gpt-0");
        assert_eq!(
            error.message,
            "the provider refused the request with status 404: The model `gpt-0` does not exist \
             (request `req_7`)"
        );
        assert_eq!(
            error.hint.as_deref(),
            Some("check that the server has the model `gpt-0`, or choose with `--model`")
        );
        assert_eq!(error.request_id.as_deref(), Some("req_7"));
    }

    #[test]
    fn a_redirect_names_its_target() {
        let headers = Headers::from([("location".to_owned(), "http://evil.test/".to_owned())]);
        let error = Complaint::of_body("").judge(Some(307), &headers, "m");
        assert_eq!(
            error.message,
            "the provider refused the request with status 307: a redirect to \
             `http://evil.test/`, which is not followed"
        );
    }

    #[test]
    fn other_bodies_are_shown_as_one_safe_line() {
        let message = |body: &str| Complaint::of_body(body).message;
        assert_eq!(message("<html>\n\t<b>no\u{1b}[31m</b>"), "<html> <b>no [31m</b>");
        assert_eq!(message(r#"{"detail":"Not Found"}"#), "Not Found");
        assert_eq!(message(r#"{"error":"text"}"#), "text");
        assert_eq!(message(r#"{"error":null}"#), r#"{"error":null}"#);
        assert_eq!(message(r#"{"detail":[{"loc":1}]}"#), r#"{"detail":[{"loc":1}]}"#);
        let fault = r#"{"detail":[{"loc":["body","stream_options","x"],"msg":"no"}]}"#;
        assert_eq!(message(fault), "stream_options.x: no");
        let long = one_line(&"ä".repeat(900));
        assert_eq!(long.len(), 1_000 + '…'.len_utf8());
    }
}
