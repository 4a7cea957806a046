//! The providers of responses: a server that speaks one of three dialects, a cassette in its place, the
//! built-in analyst, or a client that makes the calls itself.
//!
//! `wire` encodes a request as JSON, a `transport` carries it, and `wire` builds the response from the
//! events that come back. This module retries transient failures and detects a server's dialect.

mod chain;
mod client;
pub mod error;
pub mod health;
pub mod hosted;
mod key;
pub mod models;
mod retry;
mod transport;
mod wire;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use csv_agent_types::conversation::{Request, Response, ToolChoice, ToolDeclaration};
use csv_agent_types::limits::{FIRST_EVENT, STREAM_IDLE};
use csv_agent_types::status::{BUILTIN, Failure};

use chain::Chain;
use error::{ProviderError, ProviderErrorKind};
use models::is_same_model;
use retry::Tries;
use transport::cassette::{Cassette, Recorder};
use transport::http::{Endpoint, Http};
use transport::{Body, Headers, OpenResponse, Outgoing, Transport};
use wire::failure::{Complaint, one_line};
use wire::opaque::{self, ModelOrigin};
use wire::{
    OPTIONAL_FIELDS, PREVIOUS_RESPONSE, Profile, ResponseReader, SEALED_REASONING, StreamStep,
    Terms,
};

pub use client::ClientCalls;
pub use key::{Key, mask};
pub use wire::Api;

/// The base URL unless `--base-url` sets another.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// The name of a client that makes the calls itself.
pub const CLIENT: &str = "mcp";

/// The provider of responses.
#[derive(Debug)]
pub enum Provider {
    /// A server, or a cassette that replaces one.
    Remote(Box<Remote>),
    /// The built-in analyst.
    Builtin,
    /// A client that makes the calls of a turn itself.
    Client(Box<ClientCalls>),
}

/// A server and how to talk to it.
#[derive(Debug)]
pub struct Remote {
    name: &'static str,
    /// The server's name without secrets; None for a cassette.
    server: Option<String>,
    profile: Profile,
    api: Api,
    /// Whether to try the other dialect when nothing answers in this one.
    may_switch: bool,
    transport: Transport,
    stream: bool,
    retries: u32,
    /// For masking only; the transport has its own.
    key: Option<Key>,
    /// Optional fields that a model refused: (model, field).
    refused: BTreeSet<(String, String)>,
    chain: Chain,
    /// Whether the server has answered in its dialect.
    has_answered: bool,
    /// Models reported to the user as answering in another's place: (asked, served).
    told_served: BTreeSet<(String, String)>,
}

/// How to reach a server.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// Without `/responses`, `/chat/completions` or `/messages`.
    pub base_url: String,
    /// The dialect; detected when None.
    pub api: Option<Api>,
    /// Optional for a server on this machine.
    pub key: Option<Key>,
    /// `OpenAI-Organization`.
    pub organization: Option<String>,
    /// `OpenAI-Project`.
    pub project: Option<String>,
    /// Whether the server stores responses, so that requests contain only what it lacks.
    pub chain: bool,
    /// Whether it runs hosted tools. It then has the full Responses API, as `OpenAI` has it.
    pub hosts: bool,
    /// Whether to request answers as streams.
    pub stream: bool,
    /// Number of retries after transient failures.
    pub retries: u32,
    /// Timeout for the first byte of an answer.
    pub first_event: Duration,
    /// Silence within an answer after which it counts as broken.
    pub idle: Duration,
}

impl RemoteOptions {
    /// Returns the dialect to use at a server; None when it must be detected.
    fn api_at(&self, endpoint: &Endpoint) -> Option<Api> {
        self.api.or_else(|| endpoint.is_anthropic().then_some(Api::Messages))
    }
}

impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            base_url: BASE_URL.to_owned(),
            api: None,
            key: None,
            organization: None,
            project: None,
            chain: false,
            hosts: false,
            stream: true,
            retries: 4,
            first_event: FIRST_EVENT,
            idle: STREAM_IDLE,
        }
    }
}

/// Progress while waiting for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress<'a> {
    /// More text of the answer.
    Delta(&'a str),
    /// The text so far came from a failed attempt and does not count.
    Superseded,
    /// The provider runs the hosted tool of this name.
    Hosted(&'a str),
    /// The response calls the tool of this name; the arguments are still to come.
    Calls(&'a str),
    /// A request is sent to a server.
    Sending {
        /// The whole request, except its headers.
        body: &'a Value,
        /// Scheme, host and port.
        to: &'a str,
    },
    /// A call about files or containers is sent to a server.
    Calling {
        /// Size of its body.
        bytes: u64,
        /// Scheme, host and port.
        to: &'a str,
    },
    /// A file is uploaded to a server.
    Uploading {
        /// The dataset whose rows it contains.
        dataset: &'a str,
        /// Its name at the server.
        filename: &'a str,
        /// Size of the file.
        bytes: u64,
        /// Scheme, host and port.
        to: &'a str,
    },
    /// A file was downloaded completely.
    Fetched {
        /// Size of the file.
        bytes: u64,
    },
    /// Nothing was sent: the server could not be reached.
    Unsent,
    /// An attempt failed and another follows.
    Retrying {
        /// The failed attempt, from 1.
        attempt: u32,
        /// Total number of attempts.
        max_attempts: u32,
        /// Wait before the next attempt.
        delay: Duration,
        /// What failed.
        reason: String,
        /// The HTTP status of the answer, if there was one.
        http_status: Option<u16>,
    },
    /// A warning for the user; the request continues.
    Warning {
        /// The code for programs: `api_switched`, `chain_broken`, `field_dropped`, `files_unlisted`,
        /// `model_differs`, `recording_failed`.
        code: &'static str,
        /// One sentence.
        message: String,
    },
}

/// Returns the host of a base URL; None for an invalid one.
pub fn host(base_url: &str) -> Option<String> {
    Endpoint::parse(base_url).ok().map(|it| it.host().to_owned())
}

/// Returns whether a server is on this machine; false for an invalid base URL.
pub fn is_on_this_machine(base_url: &str) -> bool {
    Endpoint::parse(base_url).is_ok_and(|it| it.is_loopback())
}

impl Provider {
    /// Prepares a server connection. Sends nothing yet.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Auth` when the server is not on this machine and there is no key, or the
    /// key cannot be sent in a header; with `FailureKind::Usage` when the base URL is invalid.
    pub fn remote(mut options: RemoteOptions) -> anyhow::Result<Provider> {
        let endpoint = Endpoint::parse(&options.base_url)?;
        options.key = options.key.filter(|key| !key.is_empty());
        if options.key.is_none() && !endpoint.is_loopback() {
            let variable =
                if endpoint.is_anthropic() { "ANTHROPIC_API_KEY" } else { "OPENAI_API_KEY" };
            let message = format!("no API key for {}", endpoint.name());
            let hint = format!(
                "set the environment variable `{variable}`\n\
                 or ask without a key: `--model builtin` is an analyst inside csv-agent\n\
                 or use a server on this machine: `--profile local --model NAME`\n\
                 or set `api_key_file` or `api_key_cmd`: see `csv-agent help config`"
            );
            return Err(Failure::auth(message).hint(hint).into());
        }
        let api = options.api_at(&endpoint);
        let name = match api {
            Some(Api::Messages) if endpoint.is_anthropic() => "anthropic",
            Some(Api::Messages) => "anthropic-compatible",
            _ if endpoint.is_openai() => "openai",
            _ => "openai-compatible",
        };
        let is_whole = endpoint.is_openai() || options.hosts;
        let profile = if is_whole { Profile::OpenAi } else { Profile::Tolerant };
        let http = Http::new(&endpoint, &options)?;
        Ok(Provider::Remote(Box::new(Remote {
            name,
            server: Some(endpoint.name()),
            profile,
            api: api.unwrap_or_default(),
            may_switch: api.is_none() && profile == Profile::Tolerant,
            transport: Transport::http(http),
            stream: options.stream,
            retries: options.retries,
            key: options.key,
            refused: BTreeSet::new(),
            chain: Chain::new(options.chain),
            has_answered: false,
            told_served: BTreeSet::new(),
        })))
    }

    /// Prepares to answer from a cassette, without a key or network.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Input` when the file cannot be read, and with `FailureKind::Replay` when
    /// it is not a cassette.
    pub fn replay(path: &Path) -> anyhow::Result<Provider> {
        let defaults = RemoteOptions::default();
        let cassette = Cassette::open(path)?;
        Ok(Provider::Remote(Box::new(Remote {
            name: "replay",
            server: None,
            profile: Profile::OpenAi,
            api: cassette.api(),
            may_switch: true,
            transport: Transport::cassette(cassette),
            stream: defaults.stream,
            retries: defaults.retries,
            key: None,
            refused: BTreeSet::new(),
            chain: Chain::default(),
            has_answered: false,
            told_served: BTreeSet::new(),
        })))
    }

    /// Appends every exchange from now on to the cassette at `path`.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be written, or exists and is not a cassette.
    pub fn recording(self, path: &Path) -> anyhow::Result<Provider> {
        match self {
            Provider::Remote(mut remote) => {
                remote.transport.record(Recorder::append(path, remote.key.clone())?);
                Ok(Provider::Remote(remote))
            }
            Provider::Builtin => {
                let message = "`--record`: the built-in analyst has no exchange to record";
                let hint = "leave it out: the same question has the same answer every time";
                Err(Failure::usage(message).hint(hint).into())
            }
            Provider::Client(_) => Ok(self),
        }
    }

    /// Returns the provider's name: `openai`, `anthropic`, one of them with `-compatible`, `replay` `mcp` or
    /// `builtin`.
    pub fn name(&self) -> &'static str {
        match self {
            Provider::Remote(remote) => remote.name,
            Provider::Builtin => BUILTIN,
            Provider::Client(_) => CLIENT,
        }
    }

    /// Returns the provider's kind, which a hosted tool may require: the dialect, or `builtin`.
    pub fn kind(&self) -> &'static str {
        match self {
            Provider::Remote(remote) => remote.api.name(),
            Provider::Builtin => BUILTIN,
            Provider::Client(_) => CLIENT,
        }
    }

    /// Returns the dialect that is currently assumed; the server may turn out to speak the other.
    pub fn api(&self) -> Api {
        match self {
            Provider::Remote(remote) => remote.api,
            Provider::Builtin | Provider::Client(_) => Api::default(),
        }
    }

    /// Returns the name, without secrets, of the server whose dialect is detected. None when the dialect is
    /// fixed.
    pub fn server(&self) -> Option<&str> {
        match self {
            Provider::Remote(remote) => remote.server.as_deref().filter(|_| remote.may_switch),
            Provider::Builtin | Provider::Client(_) => None,
        }
    }

    /// Returns the name, without secrets, of the server that stores files and containers, and whether its
    /// exchanges are recorded. None for a cassette and the analyst, which store nothing.
    pub fn keeper(&self) -> Option<(&str, bool)> {
        let Provider::Remote(remote) = self else { return None };
        remote.server.as_deref().map(|it| (it, remote.transport.has_cassette()))
    }

    /// Returns whether the provider enforces the answer form in a request with tools. Otherwise only the
    /// instructions ask for it, and the answer may differ.
    pub fn enforces_format(&self, tool_choice: ToolChoice) -> bool {
        let Provider::Remote(remote) = self else { return true };
        match remote.api {
            Api::Responses => true,
            Api::Chat => {
                wire::chat::enforces_format(tool_choice != ToolChoice::None, remote.profile)
            }
            // It enforces only some schemas, and it may have refused this one.
            Api::Messages => false,
        }
    }

    /// Sets the dialect that the server spoke last, to try it first. If that no longer works, the dialect
    /// is detected again.
    pub fn assume(&mut self, api: &str) {
        let Provider::Remote(remote) = self else { return };
        let known = [Api::Responses, Api::Chat].into_iter().find(|it| it.name() == api);
        if let Some(api) = known.filter(|_| remote.may_switch) {
            remote.api = api;
        }
    }

    /// Returns the body of a request.
    pub fn body(&self, request: &Request) -> Value {
        match self {
            Provider::Remote(remote) => remote.encode(request),
            // What a server would get; the analyst reads the request itself.
            Provider::Builtin | Provider::Client(_) => {
                Api::Responses.encode(request, &Terms::default())
            }
        }
    }

    /// Returns the URL of requests and their headers, with the key masked; None when a cassette answers.
    pub fn destination(&self) -> Option<(String, Vec<(String, String)>)> {
        match self {
            Provider::Remote(remote) => remote.transport.destination(remote.api),
            Provider::Builtin | Provider::Client(_) => None,
        }
    }

    /// Returns the scheme, host and port of the server; None when nothing is sent.
    pub fn destination_name(&self) -> Option<String> {
        match self {
            Provider::Remote(remote) => remote.transport.server(),
            Provider::Builtin => None,
            Provider::Client(client) => Some(client.client.clone()),
        }
    }

    /// Requests a response, and retries after transient failures.
    ///
    /// Dropping the future closes the connection; the exchange is then not recorded.
    ///
    /// # Errors
    ///
    /// Fails when there is no response that is complete, or cut but readable. The kind determines the
    /// reaction; it is [`ProviderErrorKind::Transient`] or [`ProviderErrorKind::Overloaded`] when all
    /// attempts are used up.
    pub async fn respond(
        &mut self,
        request: &Request,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Response, ProviderError> {
        self.check_tools(request)?;
        match self {
            Provider::Remote(remote) => remote.respond(request, on_progress).await,
            Provider::Builtin => Ok(csv_agent_analyst::respond(request)),
            Provider::Client(client) => Ok(client.respond(request, on_progress)),
        }
    }
}

impl Provider {
    /// Checks that no tool of another provider is declared: this provider might ignore or misread it.
    fn check_tools(&self, request: &Request) -> Result<(), ProviderError> {
        let kind = self.kind();
        let foreign = request.tools.iter().find_map(|it| match it {
            ToolDeclaration::Hosted { name, provider, .. } if *provider != kind => Some(name),
            _ => None,
        });
        let Some(name) = foreign else { return Ok(()) };
        let message = format!("the tool `{name}` belongs to another provider than `{kind}`");
        let error = ProviderError::new(ProviderErrorKind::Rejected, message);
        Err(error.hint("run code on this machine with `--interpreter local`"))
    }
}

impl Remote {
    async fn respond(
        &mut self,
        request: &Request,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Response, ProviderError> {
        let mut tries = Tries::new(self.retries);
        // Set once nothing has answered in a dialect, so that at most two are tried.
        let mut not_there = None;
        loop {
            let mut has_text = false;
            let mut watch = |progress: Progress<'_>| {
                has_text |= matches!(progress, Progress::Delta(_));
                on_progress(progress);
            };
            let storage = self.chain.storage(request);
            let attempt = self.attempt(request, &mut watch).await;
            let mut error = match attempt.map(|it| self.signed(request, it)) {
                Ok(response) => match self.chain.extend(request, &storage, &response) {
                    Ok(()) => {
                        self.has_answered = true;
                        return Ok(self.without_key(response));
                    }
                    Err(reason) => {
                        on_progress(Progress::Superseded);
                        on_progress(unchained(reason));
                        continue;
                    }
                },
                Err(error) => error,
            };
            if has_text {
                on_progress(Progress::Superseded);
            }
            error = self.without_key_in(error);
            if let ProviderErrorKind::UnsupportedField(field) = &error.kind {
                if field == PREVIOUS_RESPONSE && self.chain.break_off() {
                    on_progress(unchained(&error.message));
                    continue;
                }
                if self.omit(request, field) {
                    on_progress(field_dropped(field, &error.message));
                    continue;
                }
                error.kind = ProviderErrorKind::Rejected;
            }
            if error.kind == ProviderErrorKind::NoEndpoint && std::mem::take(&mut self.has_answered)
            {
                // An endpoint that existed a moment ago may be temporarily away: a proxy answers so while
                // it restarts.
                error.kind = ProviderErrorKind::Transient { retry_after: None };
            }
            if error.kind == ProviderErrorKind::NoEndpoint
                && self.may_switch
                && let Some(other) = self.api.other()
            {
                let missing = std::mem::replace(&mut self.api, other);
                if let Some(first) = not_there.replace(error.message.clone()) {
                    let spoken = "the server offers neither the Responses API nor Chat Completions";
                    error.message = format!("{spoken}: {first}");
                    return Err(error);
                }
                on_progress(switched(missing, other, error.http_status));
                if self.api == Api::Chat && self.chain.is_wanted() {
                    self.chain.give_up();
                    on_progress(unchained("Chat Completions keeps no responses"));
                }
                continue;
            }
            tries.wait(error, on_progress).await?;
        }
    }

    /// Sends the request once and reads the answer.
    async fn attempt(
        &mut self,
        request: &Request,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Response, ProviderError> {
        let body = self.encode(request);
        let outgoing = Outgoing { request, api: self.api, body: &body, stream: self.stream };
        if let Some(to) = self.transport.server() {
            on_progress(Progress::Sending { body: &body, to: &to });
        }
        let mut answer = match self.transport.send(outgoing).await {
            Ok(answer) => answer,
            Err(error) => {
                if error.is_unsent {
                    on_progress(Progress::Unsent);
                }
                return Err(error);
            }
        };
        // A cassette may have been recorded in the other one.
        self.api = answer.api;
        let outcome = read(&mut answer, &request.model, on_progress).await;
        // The recording has reported the content of a cassette already.
        if let (Ok(response), Some(_)) = (&outcome, &self.server) {
            self.compare_models(&request.model, response, &answer, on_progress);
        }
        let recorded = self.transport.settle(request, answer);
        tell_unrecorded(recorded, on_progress);
        outcome
    }

    /// Masks the key in a response: a server knows it and could have it displayed or stored.
    fn without_key(&self, mut response: Response) -> Response {
        if let Some(key) = &self.key {
            response.items.iter_mut().for_each(|it| key.mask_in(&mut it.0));
            response.request_id = response.request_id.map(|it| key::mask(&it, Some(key)));
        }
        response
    }

    /// Records the sender of members that only the sender may get back.
    fn signed(&self, request: &Request, mut response: Response) -> Response {
        let origin = self.origin(request);
        response.items.iter_mut().for_each(|it| opaque::sign(it, &origin));
        response
    }

    fn origin(&self, request: &Request) -> ModelOrigin {
        let server = self.server.clone().unwrap_or_default();
        ModelOrigin { server, model: request.model.clone() }
    }

    /// Masks the key in an error, because a server may quote it.
    fn without_key_in(&self, mut error: ProviderError) -> ProviderError {
        error.message = key::mask(&error.message, self.key.as_ref());
        error.request_id = error.request_id.map(|it| key::mask(&it, self.key.as_ref()));
        error
    }

    fn terms(&self, request: &Request) -> Terms {
        let of_model = self.refused.iter().filter(|(model, _)| *model == request.model);
        Terms {
            origin: self.origin(request),
            profile: self.profile,
            stream: self.stream,
            omitted: of_model.map(|(_, field)| field.clone()).collect(),
            storage: self.chain.storage(request),
        }
    }

    fn encode(&self, request: &Request) -> Value {
        self.api.encode(request, &self.terms(request))
    }

    /// Warns once when another model answers than the requested one.
    fn compare_models(
        &mut self,
        asked: &str,
        response: &Response,
        answer: &OpenResponse,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) {
        let served = [response.model.as_ref(), answer.headers.get("openai-model")];
        let Some(served) = served.into_iter().flatten().find(|it| !is_same_model(asked, it)) else {
            return;
        };
        if self.told_served.insert((asked.to_owned(), served.clone())) {
            let served = key::mask(&one_line(served), self.key.as_ref());
            let message = format!("asked the model `{asked}`, but `{served}` answered");
            on_progress(Progress::Warning { code: "model_differs", message });
        }
    }

    /// Leaves a field out of all further requests to this model. Returns false when that changes nothing,
    /// so that no request is repeated unchanged.
    fn omit(&mut self, request: &Request, field: &str) -> bool {
        let before = self.encode(request);
        self.refused.insert((request.model.clone(), field.to_owned()));
        before != self.encode(request)
    }
}

/// Reads an answer to its end. Its errors contain the request id, where the provider sends one.
async fn read(
    answer: &mut OpenResponse,
    model: &str,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Response, ProviderError> {
    let outcome = read_body(answer, model, on_progress).await;
    outcome.map_err(|error| of_request(error, &answer.headers))
}

/// Adds the provider's id for the request to an error, unless it has one.
fn of_request(error: ProviderError, headers: &Headers) -> ProviderError {
    match headers.get("x-request-id") {
        Some(request_id) if error.request_id.is_none() => error.of_request(one_line(request_id)),
        _ => error,
    }
}

async fn read_body(
    answer: &mut OpenResponse,
    model: &str,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Response, ProviderError> {
    let mut reader = ResponseReader::new(answer.api, model);
    let response = match &mut answer.body {
        Body::Text(text) if !(200..300).contains(&answer.status) => {
            return Err(Complaint::of_body(text).judge(
                Some(answer.status),
                &answer.headers,
                model,
            ));
        }
        Body::Text(text) => reader.body(text)?,
        Body::Events(events) => loop {
            let event = match events.next(reader.patience()).await {
                Ok(Some(event)) => event,
                Ok(None) => break reader.closed(None)?,
                Err(error) => break reader.closed(Some(error))?,
            };
            match reader.event(&event)? {
                StreamStep::Quiet => {}
                StreamStep::Delta(text) => on_progress(Progress::Delta(&text)),
                StreamStep::Hosted(name) => on_progress(Progress::Hosted(name)),
                StreamStep::Calls(name) => on_progress(Progress::Calls(&name)),
                StreamStep::Done(response) => break response,
            }
        },
    };
    let header = |name: &str| answer.headers.get(name).cloned();
    let model = response.model.clone().or_else(|| header("openai-model"));
    let request_id = header("x-request-id").map(|it| one_line(&it));
    Ok(Response { request_id, model, ..response })
}

/// Warns that a cassette lacks an exchange; the turn continues.
fn tell_unrecorded(recorded: io::Result<()>, on_progress: &mut dyn FnMut(Progress<'_>)) {
    if let Err(error) = recorded {
        let message = format!("the exchange was not recorded: {error}");
        on_progress(Progress::Warning { code: "recording_failed", message });
    }
}

fn switched(missing: Api, now: Api, http_status: Option<u16>) -> Progress<'static> {
    let status = http_status.map(|it| format!(" (status {it})")).unwrap_or_default();
    let (missing, now) = (missing.title(), now.title());
    let message = format!("the server has no {missing}{status}: using the {now} instead");
    Progress::Warning { code: "api_switched", message }
}

fn unchained(reason: &str) -> Progress<'static> {
    let message = format!("sending the whole conversation: {reason}");
    Progress::Warning { code: "chain_broken", message }
}

fn field_dropped(field: &str, reason: &str) -> Progress<'static> {
    debug_assert!(OPTIONAL_FIELDS.contains(&field), "only optional fields are dropped");
    let what = match field {
        SEALED_REASONING => "the reasoning of earlier rounds".to_owned(),
        field => format!("`{field}`"),
    };
    let message = format!("asking again without {what}: {reason}");
    Progress::Warning { code: "field_dropped", message }
}
