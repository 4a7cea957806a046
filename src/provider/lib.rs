//! Who answers requests: a server that speaks one of three dialects, a cassette in its place, or the analyst
//! inside the binary.
//!
//! A request becomes JSON in `wire`, travels by a `transport`, and comes back as events that `wire`
//! makes a response of. What may pass is tried again here, and which dialect a server speaks is found
//! out here.

mod chain;
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
use csv_agent_types::status::{ExitStatus, Failure};

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

pub use key::{Key, mask};
pub use wire::Api;

/// Where requests go unless `--base-url` says otherwise.
pub const BASE_URL: &str = "https://api.openai.com/v1";

/// Who answers requests.
#[derive(Debug)]
pub enum Provider {
    /// A server, or a cassette that stands for one.
    Remote(Box<Remote>),
    /// The analyst inside the binary.
    Builtin,
}

/// A server and how to talk to it.
#[derive(Debug)]
pub struct Remote {
    name: &'static str,
    /// A name for the server that may be written down; none for a cassette.
    server: Option<String>,
    profile: Profile,
    api: Api,
    /// Whether the other dialect is tried when nothing answers in this one.
    may_switch: bool,
    transport: Transport,
    stream: bool,
    retries: u32,
    /// For masking only; the transport has its own.
    key: Option<Key>,
    /// Optional fields that a model refused: (model, field).
    refused: BTreeSet<(String, String)>,
    chain: Chain,
    /// Whether it has answered in its dialect.
    has_answered: bool,
    /// Models that answered in another's place, as far as the user knows: (asked, served).
    told_served: BTreeSet<(String, String)>,
}

/// How to reach a server.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// Up to and without `/responses`, `/chat/completions` or `/messages`.
    pub base_url: String,
    /// The dialect; found out when none is given.
    pub api: Option<Api>,
    /// A server on this machine needs none.
    pub key: Option<Key>,
    /// `OpenAI-Organization`.
    pub organization: Option<String>,
    /// `OpenAI-Project`.
    pub project: Option<String>,
    /// Whether the server keeps responses, and is sent only what it does not have.
    pub chain: bool,
    /// Whether it runs tools of its own. Then it has the Responses API whole, as `OpenAI` has it.
    pub hosts: bool,
    /// Whether answers are asked for as streams.
    pub stream: bool,
    /// Further tries of a request that failed in a way that may pass.
    pub retries: u32,
    /// Time until the first byte of an answer.
    pub first_event: Duration,
    /// Silence within an answer that counts as a broken one.
    pub idle: Duration,
}

impl RemoteOptions {
    /// Returns the dialect that a server is asked in; none when it is found out.
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

/// What happens while an answer is awaited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress<'a> {
    /// More text of the answer.
    Delta(&'a str),
    /// The text so far came from an attempt that broke; it does not count.
    Superseded,
    /// The provider runs one of its tools, by this name.
    Hosted(&'a str),
    /// A request leaves for a server.
    Sending {
        /// All of it but its headers.
        body: &'a Value,
        /// Scheme, host and port.
        to: &'a str,
    },
    /// A call about files or containers leaves for a server.
    Calling {
        /// Of its body.
        bytes: u64,
        /// Scheme, host and port.
        to: &'a str,
    },
    /// A file leaves for a server.
    Uploading {
        /// Whose rows are in it.
        dataset: &'a str,
        /// What the server will call it.
        filename: &'a str,
        /// Of the file.
        bytes: u64,
        /// Scheme, host and port.
        to: &'a str,
    },
    /// A file came from a server, whole.
    Fetched {
        /// Of the file.
        bytes: u64,
    },
    /// What was to leave did not: the server could not be reached.
    Unsent,
    /// A try failed and there will be another.
    Retrying {
        /// The try that failed, from 1.
        attempt: u32,
        /// Tries in all.
        max_attempts: u32,
        /// Wait before the next.
        delay: Duration,
        /// What failed.
        reason: String,
        /// The status of the answer, if there was one.
        http_status: Option<u16>,
    },
    /// Something the user should know that stops nothing.
    Warning {
        /// What a program branches on: `api_switched`, `chain_broken`, `field_dropped`, `files_unlisted`,
        /// `model_differs`, `recording_failed`.
        code: &'static str,
        /// One sentence.
        message: String,
    },
}

/// Returns the host of a base URL; none of what is no base URL.
pub fn host(base_url: &str) -> Option<String> {
    Endpoint::parse(base_url).ok().map(|it| it.host().to_owned())
}

/// Returns whether a server is on this machine. What is no base URL is on none.
pub fn is_on_this_machine(base_url: &str) -> bool {
    Endpoint::parse(base_url).is_ok_and(|it| it.is_loopback())
}

impl Provider {
    /// Prepares to ask a server. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Auth`] when the server is not on this machine and there is no key,
    /// or none that a header can carry; with [`ExitStatus::Usage`] when the base URL is none.
    pub fn remote(mut options: RemoteOptions) -> anyhow::Result<Provider> {
        let endpoint = Endpoint::parse(&options.base_url)?;
        options.key = options.key.filter(|key| !key.is_empty());
        if options.key.is_none() && !endpoint.is_loopback() {
            let variable =
                if endpoint.is_anthropic() { "ANTHROPIC_API_KEY" } else { "OPENAI_API_KEY" };
            let message = format!(
                "no API key: set {variable}, or `api_key_file` or `api_key_cmd` in your configuration, or use \
                 a server on this machine with `--profile local` or `--base-url`, or ask the analyst inside \
                 csv-agent with `--model builtin`, or replay with `--replay FILE`"
            );
            return Err(Failure::new(ExitStatus::Auth, message).into());
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

    /// Prepares to answer out of a cassette, with no key and no network.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Input`] when the file cannot be read, and with
    /// [`ExitStatus::Replay`] when it is no cassette.
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

    /// Records every exchange from now on, at the end of the cassette at `path`.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be written, or exists and is no cassette.
    pub fn recording(self, path: &Path) -> anyhow::Result<Provider> {
        match self {
            Provider::Remote(mut remote) => {
                remote.transport.record(Recorder::append(path, remote.key.clone())?);
                Ok(Provider::Remote(remote))
            }
            Provider::Builtin => {
                let message = "`--record`: the built-in analyst has no exchange to record";
                let hint = "leave it out: the same question has the same answer every time";
                Err(Failure::new(ExitStatus::Usage, message).hint(hint).into())
            }
        }
    }

    /// Returns who answers: `openai`, `anthropic`, one of them with `-compatible`, `replay` or `builtin`.
    pub fn name(&self) -> &'static str {
        match self {
            Provider::Remote(remote) => remote.name,
            Provider::Builtin => "builtin",
        }
    }

    /// Returns the kind of provider that a tool may belong to: the dialect, or `builtin`.
    pub fn kind(&self) -> &'static str {
        match self {
            Provider::Remote(remote) => remote.api.name(),
            Provider::Builtin => "builtin",
        }
    }

    /// Returns the dialect, as far as it is known: the server may turn out to speak the other.
    pub fn api(&self) -> Api {
        match self {
            Provider::Remote(remote) => remote.api,
            Provider::Builtin => Api::default(),
        }
    }

    /// Returns the server whose dialect is found out, under a name that may be written down. None
    /// when there is nothing to find out.
    pub fn server(&self) -> Option<&str> {
        match self {
            Provider::Remote(remote) => remote.server.as_deref().filter(|_| remote.may_switch),
            Provider::Builtin => None,
        }
    }

    /// Returns the server that keeps files and containers, under a name that may be written down, and
    /// whether what is said to it is recorded. None for a cassette and the analyst, which keep nothing.
    pub fn keeper(&self) -> Option<(&str, bool)> {
        let Provider::Remote(remote) = self else { return None };
        remote.server.as_deref().map(|it| (it, remote.transport.has_cassette()))
    }

    /// Returns whether the form of the answer is demanded with a request that lists tools. Otherwise
    /// it is only asked for in words, and the answer may have another.
    pub fn enforces_format(&self, tool_choice: ToolChoice) -> bool {
        let Provider::Remote(remote) = self else { return true };
        match remote.api {
            Api::Responses => true,
            Api::Chat => {
                wire::chat::enforces_format(tool_choice != ToolChoice::None, remote.profile)
            }
            // Only for schemas that it can, and it may have refused this one.
            Api::Messages => false,
        }
    }

    /// Takes the name of the dialect that the server spoke last, to be asked in it first. If it no
    /// longer does, that is found out again.
    pub fn assume(&mut self, api: &str) {
        let Provider::Remote(remote) = self else { return };
        let known = [Api::Responses, Api::Chat].into_iter().find(|it| it.name() == api);
        if let Some(api) = known.filter(|_| remote.may_switch) {
            remote.api = api;
        }
    }

    /// Returns the body that a request would have.
    pub fn body(&self, request: &Request) -> Value {
        match self {
            Provider::Remote(remote) => remote.encode(request),
            // What a server would get: the analyst reads the request itself.
            Provider::Builtin => Api::Responses.encode(request, &Terms::default()),
        }
    }

    /// Returns where requests go, and the headers that they carry, with the key masked; none when a
    /// cassette answers.
    pub fn destination(&self) -> Option<(String, Vec<(String, String)>)> {
        match self {
            Provider::Remote(remote) => remote.transport.destination(remote.api),
            Provider::Builtin => None,
        }
    }

    /// Returns the scheme, host and port of the server; none when nothing is sent to any.
    pub fn destination_name(&self) -> Option<String> {
        match self {
            Provider::Remote(remote) => remote.transport.server(),
            Provider::Builtin => None,
        }
    }

    /// Asks for a response, again if the first tries fail in a way that may pass.
    ///
    /// Dropping the future closes the connection; the exchange is then not recorded.
    ///
    /// # Errors
    ///
    /// Fails when there is no response that ended well, or cut but readable. The kind says what to
    /// do; it is [`ProviderErrorKind::Transient`] or [`ProviderErrorKind::Overloaded`] when all
    /// tries are used up.
    pub async fn respond(
        &mut self,
        request: &Request,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Response, ProviderError> {
        self.check_tools(request)?;
        match self {
            Provider::Remote(remote) => remote.respond(request, on_progress).await,
            Provider::Builtin => Ok(csv_agent_analyst::respond(request)),
        }
    }
}

impl Provider {
    /// Demands that no tool of another provider's is declared: it would be ignored there, or worse.
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
        // Where nothing answered, so that two dialects are tried and not more.
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
                // What was there a moment ago may only be away: a proxy says so while it is restarted.
                error.kind = ProviderErrorKind::Transient { retry_after: None };
            }
            if error.kind == ProviderErrorKind::NoEndpoint
                && self.may_switch
                && let Some(other) = self.api.other()
            {
                let missing = std::mem::replace(&mut self.api, other);
                if let Some(first) = not_there.replace(error.message.clone()) {
                    let spoken = "the server has neither the Responses API nor Chat Completions";
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
        // What a cassette holds was told when it was recorded.
        if let (Ok(response), Some(_)) = (&outcome, &self.server) {
            self.compare_models(&request.model, response, &answer, on_progress);
        }
        let recorded = self.transport.settle(request, answer);
        tell_unrecorded(recorded, on_progress);
        outcome
    }

    /// Masks the key in a response: a server that knows it could have it shown or written down.
    fn without_key(&self, mut response: Response) -> Response {
        if let Some(key) = &self.key {
            response.items.iter_mut().for_each(|it| key.mask_in(&mut it.0));
            response.request_id = response.request_id.map(|it| key::mask(&it, Some(key)));
        }
        response
    }

    /// Notes who sent what only the sender may have back.
    fn signed(&self, request: &Request, mut response: Response) -> Response {
        let origin = self.origin(request);
        response.items.iter_mut().for_each(|it| opaque::sign(it, &origin));
        response
    }

    fn origin(&self, request: &Request) -> ModelOrigin {
        let server = self.server.clone().unwrap_or_default();
        ModelOrigin { server, model: request.model.clone() }
    }

    /// Masks the key in an error: a server may quote it at the one who sent it.
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

    /// Says once when another model answers than was asked.
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
            let message = format!("asked the model `{asked}`, and `{served}` answered");
            on_progress(Progress::Warning { code: "model_differs", message });
        }
    }

    /// Leaves a field out of all further requests to this model. Returns false when that changes
    /// nothing, so that no request is sent twice as it was.
    fn omit(&mut self, request: &Request, field: &str) -> bool {
        let before = self.encode(request);
        self.refused.insert((request.model.clone(), field.to_owned()));
        before != self.encode(request)
    }
}

/// Reads an answer to its end. Its errors name the request, where the provider does.
async fn read(
    answer: &mut OpenResponse,
    model: &str,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Response, ProviderError> {
    let outcome = read_body(answer, model, on_progress).await;
    outcome.map_err(|error| of_request(error, &answer.headers))
}

/// Adds the provider's name for the request to an error, unless it has it.
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
                StreamStep::Done(response) => break response,
            }
        },
    };
    let header = |name: &str| answer.headers.get(name).cloned();
    let model = response.model.clone().or_else(|| header("openai-model"));
    let request_id = header("x-request-id").map(|it| one_line(&it));
    Ok(Response { request_id, model, ..response })
}

/// Says that a cassette lacks an exchange, which stops nothing.
fn tell_unrecorded(recorded: io::Result<()>, on_progress: &mut dyn FnMut(Progress<'_>)) {
    if let Err(error) = recorded {
        let message = format!("the exchange was not recorded: {error}");
        on_progress(Progress::Warning { code: "recording_failed", message });
    }
}

fn switched(missing: Api, now: Api, http_status: Option<u16>) -> Progress<'static> {
    let status = http_status.map(|it| format!(" (status {it})")).unwrap_or_default();
    let (missing, now) = (missing.title(), now.title());
    let message = format!("the server has no {missing}{status}: asking by the {now}");
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
