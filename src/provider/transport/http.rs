//! HTTP: the only module that opens a connection or sees the key.
//!
//! Redirects are not followed, because they would forward the key. Every wait has a limit.

use std::collections::VecDeque;
use std::error::Error;
use std::fs::File;
use std::io::{self, Seek};
use std::pin::pin;
use std::time::Duration;

use anyhow::Context;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::multipart;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use csv_agent_types::limits::{
    CONNECT, ERROR_BODY_BYTES_MAX, ERROR_BODY_BYTES_READ_MAX, RESPONSE_BYTES_MAX, STREAM_BYTES_MAX,
};
use csv_agent_types::status::Failure;

use crate::RemoteOptions;
use crate::error::{ProviderError, ProviderErrorKind};
use crate::models::ANTHROPIC;
use crate::transport::call::{Download, HttpCall, Method, Payload, Received, Reply, UploadForm};
use crate::transport::{Body, Events, Headers, OpenResponse, Outgoing};
use crate::wire::sse::{Decoder, TooLong};
use crate::wire::unreadable;
use crate::wire::{Api, messages};

/// The headers of an answer that are used. Cassettes contain them, so all others are dropped, such as
/// cookies and account names.
const KEPT_HEADERS: &[&str] = &[
    "content-type", "location", "openai-model", "retry-after", "retry-after-ms", REQUEST_ID,
    "x-should-retry",
];

/// The header of the request id, for most servers and for Anthropic.
const REQUEST_ID: &str = "x-request-id";
const ANTHROPIC_REQUEST_ID: &str = "request-id";

/// The address of a server.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    url: Url,
}

impl Endpoint {
    /// Checks a base URL, such as `https://api.openai.com/v1`. Fails when it is not an `http` or `https` URL,
    /// or contains a password.
    pub(crate) fn parse(base_url: &str) -> Result<Endpoint, Failure> {
        let failure = |found: &str| {
            let message = format!("no base URL for the model: {found}");
            Failure::usage(message).hint("give one like `--base-url http://127.0.0.1:11434/v1`")
        };
        let url = Url::parse(base_url)
            .map_err(|error| failure(&format!("`{base_url}` is not a valid URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(failure(&format!("`{base_url}` is neither http nor https")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(failure("it contains a user or password, which messages would show"));
        }
        let mut endpoint = Endpoint { url };
        // Anthropic's own clients take the base URL without the version.
        if endpoint.is_anthropic() && endpoint.url.path() == "/" {
            endpoint.url.set_path("/v1");
        }
        Ok(endpoint)
    }

    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns whether the server is on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.host();
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        match address {
            Ok(address) => address.is_loopback(),
            Err(_) => host == "localhost" || host.ends_with(".localhost"),
        }
    }

    /// Returns whether the server is `OpenAI`'s own.
    pub(crate) fn is_openai(&self) -> bool {
        let host = self.host();
        host == "api.openai.com" || host.ends_with(".api.openai.com")
    }

    /// Returns whether the server is Anthropic's own.
    pub(crate) fn is_anthropic(&self) -> bool {
        self.host() == ANTHROPIC
    }

    /// Returns the server's name without secrets: the base URL without its query.
    pub(crate) fn name(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        url.to_string()
    }

    /// Returns the URL of a path below the base, with the base's query.
    fn join(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/'));
        }
        url
    }
}

/// A client for one server.
#[derive(Debug)]
pub(crate) struct Http {
    client: Client,
    endpoint: Endpoint,
    headers: HeaderMap,
    first_event: Duration,
    idle: Duration,
}

impl Http {
    /// Prepares a client. Sends nothing yet. Fails when the key or a name cannot be sent in a header, or TLS
    /// has no trusted certificates.
    pub(crate) fn new(endpoint: &Endpoint, options: &RemoteOptions) -> anyhow::Result<Http> {
        let mut headers = HeaderMap::new();
        let speaks_messages = options.api_at(endpoint) == Some(Api::Messages);
        if let Some(key) = &options.key {
            let (name, value) = if speaks_messages {
                (HeaderName::from_static("x-api-key"), key.expose().to_owned())
            } else {
                (AUTHORIZATION, format!("Bearer {}", key.expose()))
            };
            let value = HeaderValue::from_str(&value);
            let Ok(mut value) = value else {
                let message = "the API key contains characters that a header cannot have";
                let failure = Failure::auth(message);
                let hint =
                    "check it for line breaks; `csv-agent config show` reports where it comes from";
                return Err(failure.hint(hint).into());
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if speaks_messages {
            let version = HeaderValue::from_static(messages::VERSION);
            headers.insert(HeaderName::from_static("anthropic-version"), version);
        }
        let named =
            [("openai-organization", &options.organization), ("openai-project", &options.project)];
        for (name, value) in named {
            let Some(value) = value else { continue };
            let header = HeaderValue::from_str(value)
                .map_err(|_| Failure::usage(format!("`{name}` cannot be `{value}`")))?;
            headers.insert(HeaderName::from_static(name), header);
        }
        let mut client = Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .user_agent(concat!("csv-agent/", env!("CARGO_PKG_VERSION")));
        if endpoint.url.scheme() == "http" {
            // Loading the system's certificates takes time and fails where there are none.
            client = client.tls_certs_only([]);
        }
        if endpoint.is_loopback() {
            client = client.no_proxy();
        }
        Ok(Http {
            client: client.build().context("cannot prepare the connection to the provider")?,
            endpoint: endpoint.clone(),
            headers,
            first_event: options.first_event,
            idle: options.idle,
        })
    }

    /// Returns the URL and the identifying headers, with the key masked.
    pub(crate) fn shown(&self, api: Api) -> (String, Vec<(String, String)>) {
        let shown = |name: &HeaderName, value: &HeaderValue| match value.to_str() {
            Ok(text) if !value.is_sensitive() => text.to_owned(),
            _ if name == AUTHORIZATION => "Bearer ***".to_owned(),
            _ => "***".to_owned(),
        };
        let headers = self.headers.iter().map(|(name, it)| (name.to_string(), shown(name, it)));
        let content = (CONTENT_TYPE.to_string(), "application/json".to_owned());
        (self.endpoint.join(api.path()).to_string(), headers.chain([content]).collect())
    }

    /// Sends a body and waits for the headers of the answer, and for all of it when it is not a stream. Fails
    /// when the server cannot be reached, disconnects, stops responding, or sends too much.
    pub(crate) async fn send(
        &self,
        outgoing: &Outgoing<'_>,
    ) -> Result<OpenResponse, ProviderError> {
        let stream = outgoing.stream;
        let accept = if stream { "text/event-stream" } else { "application/json" };
        let request = self
            .client
            .post(self.endpoint.join(outgoing.api.path()))
            .headers(self.headers.clone())
            .header(ACCEPT, accept)
            .header(CONTENT_TYPE, "application/json")
            .body(outgoing.body.to_string());
        // A non-streamed answer begins when the model has finished.
        let patience = if stream { self.first_event } else { self.first_event.max(self.idle) };
        let deadline = Instant::now() + patience;
        let response = match timeout_at(deadline, request.send()).await {
            Ok(sent) => sent.map_err(|error| self.cannot_send(&error))?,
            Err(_) => return Err(self.silent(patience)),
        };
        let status = response.status().as_u16();
        let headers = kept(response.headers());
        let content_type = headers.get("content-type").map_or("", String::as_str);
        let is_events = content_type.contains("event-stream")
            || (stream && !content_type.contains("json") && !content_type.contains("html"));
        let body = if is_events && (200..300).contains(&status) {
            Body::Events(Events::over_http(HttpEvents {
                response,
                decoder: Decoder::new(),
                ready: VecDeque::new(),
                n_events: 0,
                n_bytes: 0,
                head: Vec::new(),
                has_ended: false,
                first_deadline: deadline,
                first_event: self.first_event,
                idle: self.idle,
            }))
        } else {
            Body::Text(self.text(response, (200..300).contains(&status)).await?)
        };
        Ok(OpenResponse { api: outgoing.api, status, headers, body })
    }

    /// Makes a call and reads its reply. An upload is read while it is sent, and a download is written while it
    /// arrives, so neither is in memory. Fails when the server cannot be reached, disconnects, stops
    /// responding, or sends too much, or a file cannot be read or written.
    pub(crate) async fn call(
        &self,
        call: &HttpCall<'_>,
        download: Option<&mut Download<'_>>,
    ) -> Result<Reply, ProviderError> {
        let (request, upload) = self.prepare(call, download.is_some())?;
        let response = match upload {
            Some(file) => self.head_of_upload(request, file).await?,
            None => match timeout_at(Instant::now() + self.first_event, request.send()).await {
                Ok(sent) => sent.map_err(|error| self.cannot_send(&error))?,
                Err(_) => return Err(self.silent(self.first_event)),
            },
        };
        let (status, headers) = (response.status(), kept(response.headers()));
        let body = match download.filter(|_| status.is_success()) {
            Some(download) => {
                self.write(response, download).await?;
                Received::File
            }
            None => Received::Text(self.text(response, status.is_success()).await?),
        };
        Ok(Reply { status: status.as_u16(), headers, body })
    }

    /// Builds the request of a call, and returns it with the file that it will read.
    fn prepare(
        &self,
        call: &HttpCall<'_>,
        is_download: bool,
    ) -> Result<(RequestBuilder, Option<File>), ProviderError> {
        let mut url = self.endpoint.join(&call.path);
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        let request = match call.method {
            Method::Get => self.client.get(url),
            Method::Post => self.client.post(url),
            Method::Delete => self.client.delete(url),
        };
        let accept = if is_download { "*/*" } else { "application/json" };
        let request = request.headers(self.headers.clone()).header(ACCEPT, accept);
        Ok(match &call.payload {
            Payload::Nothing => (request, None),
            Payload::Json(value) => {
                let body = value.to_string();
                (request.header(CONTENT_TYPE, "application/json").body(body), None)
            }
            Payload::Form(form) => {
                let (form, file) =
                    multipart(form).map_err(|error| unreadable_file(form, &error))?;
                (request.multipart(form), Some(file))
            }
        })
    }

    /// Sends a file and waits for the headers of the answer. While more of the file is read, the upload is
    /// alive, however slow it is; when all is read, the system still buffers some megabytes. `file` shares
    /// its position with the file that is sent.
    async fn head_of_upload(
        &self,
        request: RequestBuilder,
        mut file: File,
    ) -> Result<reqwest::Response, ProviderError> {
        let patience = self.first_event.max(self.idle);
        let mut sending = pin!(request.send());
        let mut last_place = None;
        loop {
            if let Ok(sent) = timeout_at(Instant::now() + patience, &mut sending).await {
                return sent.map_err(|error| self.cannot_send(&error));
            }
            let place = file.stream_position().ok();
            if place == last_place {
                return Err(self.silent(patience));
            }
            last_place = place;
        }
    }

    /// Writes a body to a file as it arrives.
    async fn write(
        &self,
        mut response: reqwest::Response,
        download: &mut Download<'_>,
    ) -> Result<(), ProviderError> {
        download.begin(response.content_length())?;
        loop {
            let chunk = match timeout_at(Instant::now() + self.idle, response.chunk()).await {
                Ok(chunk) => chunk.map_err(|error| broken(&error))?,
                Err(_) => return Err(fell_silent(self.idle)),
            };
            let Some(chunk) = chunk else { return Ok(()) };
            download.take(&chunk)?;
        }
    }

    /// Requests a path. Of the body, the part received in time is enough: it may be empty. Fails when the
    /// server cannot be reached, disconnects, or stays silent for that long.
    pub(crate) async fn get(
        &self,
        path: &str,
        within: Duration,
    ) -> Result<(u16, Headers, String), ProviderError> {
        let deadline = Instant::now() + within;
        let request = self.client.get(self.endpoint.join(path)).headers(self.headers.clone());
        let request = request.header(ACCEPT, "application/json");
        let response = match timeout_at(deadline, request.send()).await {
            Ok(sent) => sent.map_err(|error| self.cannot_send(&error))?,
            Err(_) => return Err(self.silent(within)),
        };
        let (status, headers) = (response.status(), kept(response.headers()));
        let body = timeout_at(deadline, self.text(response, status.is_success())).await;
        let text = body.ok().and_then(Result::ok).unwrap_or_default();
        Ok((status.as_u16(), headers, text))
    }

    /// Reads a complete body. Of an error body, the part received before a break or timeout is enough.
    async fn text(
        &self,
        mut response: reqwest::Response,
        is_success: bool,
    ) -> Result<String, ProviderError> {
        let bytes_max = if is_success { RESPONSE_BYTES_MAX } else { ERROR_BODY_BYTES_READ_MAX };
        let mut bytes = Vec::new();
        let mut deadline = Instant::now() + self.idle;
        loop {
            if is_success {
                deadline = Instant::now() + self.idle;
            }
            let chunk = match timeout_at(deadline, response.chunk()).await {
                Ok(chunk) => chunk.map_err(|error| broken(&error)),
                Err(_) => Err(fell_silent(self.idle)),
            };
            match chunk {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Err(error) if is_success => return Err(error),
                Ok(None) | Err(_) => break,
            }
            if bytes_max < bytes.len() {
                if is_success {
                    return Err(too_long());
                }
                break;
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn cannot_send(&self, error: &reqwest::Error) -> ProviderError {
        let (server, reason) = (format!("`{}`", self.server()), reason(error));
        if error.is_connect() {
            let message = format!("cannot connect to {server}: {reason}");
            let error = ProviderError::transient(message).hint(
                "check that a server runs there and that the network is up, or set `--base-url`, then \
                 run the command again; `--retries N` allows more retries",
            );
            ProviderError { is_unsent: true, ..error }
        } else {
            ProviderError::transient(format!("the connection to {server} broke: {reason}"))
        }
    }

    fn silent(&self, patience: Duration) -> ProviderError {
        let (server, seconds) = (self.server(), patience.as_secs_f32());
        ProviderError::transient(format!("`{server}` did not answer within {seconds} s"))
    }

    /// Returns the scheme, host and port: a path or query may contain secrets.
    pub(crate) fn server(&self) -> String {
        self.endpoint.url.origin().ascii_serialization()
    }
}

/// The events of one HTTP answer as they arrive. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct HttpEvents {
    response: reqwest::Response,
    decoder: Decoder,
    ready: VecDeque<Value>,
    n_events: usize,
    n_bytes: usize,
    /// The first bytes, to show when they contain no event.
    head: Vec<u8>,
    has_ended: bool,
    /// Deadline for the first byte. Any later byte, even a comment, is a sign of life.
    first_deadline: Instant,
    first_event: Duration,
    idle: Duration,
}

impl HttpEvents {
    /// See [`Events::next`].
    pub(crate) async fn next(
        &mut self,
        within: Option<Duration>,
    ) -> Result<Option<Value>, ProviderError> {
        let within = within.map(|it| Instant::now() + it);
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.has_ended || self.decoder.is_done() {
                return Ok(None);
            }
            let is_first = self.n_bytes == 0;
            let deadline = if is_first { self.first_deadline } else { Instant::now() + self.idle };
            let earliest = within.map_or(deadline, |it| it.min(deadline));
            // The timeout loses a chunk for good; the answer ends here anyway.
            let Ok(chunk) = timeout_at(earliest, self.response.chunk()).await else {
                if within.is_some_and(|it| it <= deadline) {
                    return Ok(None);
                }
                return Err(fell_silent(if is_first { self.first_event } else { self.idle }));
            };
            self.take(chunk.map_err(|error| broken(&error))?.as_deref())?;
        }
    }

    /// Processes the next bytes, or the end.
    fn take(&mut self, chunk: Option<&[u8]>) -> Result<(), ProviderError> {
        let mut events = Vec::new();
        let decoded = if let Some(bytes) = chunk {
            self.n_bytes += bytes.len();
            if STREAM_BYTES_MAX < self.n_bytes {
                return Err(too_long());
            }
            let room = ERROR_BODY_BYTES_MAX.saturating_sub(self.head.len());
            self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
            self.decoder.push(bytes, &mut events)
        } else {
            self.has_ended = true;
            self.decoder.finish(&mut events)
        };
        decoded.map_err(|TooLong| too_long())?;
        self.n_events += events.len();
        self.ready.extend(events);
        if self.has_ended && self.n_events == 0 && !self.began_as_events() {
            return Err(unreadable(&String::from_utf8_lossy(&self.head)));
        }
        Ok(())
    }

    /// Returns whether this may be an event stream that ended before its first event.
    fn began_as_events(&self) -> bool {
        let head = self.head.trim_ascii_start();
        head.is_empty()
            || [&b":"[..], b"data", b"event", b"id:", b"retry:"]
                .iter()
                .any(|it| head.starts_with(it))
    }
}

/// Builds the form that sends a file, and returns it with a handle that shares its file position.
fn multipart(form: &UploadForm<'_>) -> anyhow::Result<(multipart::Form, File)> {
    let file = File::open(form.path)?;
    let handle = file.try_clone()?;
    let body = reqwest::Body::from(tokio::fs::File::from_std(file));
    let part = multipart::Part::stream_with_length(body, form.bytes);
    let part = part.file_name(form.filename.to_owned()).mime_str("application/octet-stream")?;
    let fields = form.fields.iter();
    let made =
        fields.fold(multipart::Form::new(), |it, (name, value)| it.text(*name, value.clone()));
    Ok((made.part("file", part), handle))
}

fn unreadable_file(form: &UploadForm<'_>, error: &anyhow::Error) -> ProviderError {
    let message = format!("cannot read `{}` to upload it: {error:#}", form.path.display());
    ProviderError::new(ProviderErrorKind::Rejected, message)
        .hint("check that the file is there, and run the command again")
}

fn kept(headers: &HeaderMap) -> Headers {
    let value = |name: &&str| {
        let value = String::from_utf8_lossy(headers.get(*name)?.as_bytes()).into_owned();
        Some(((*name).to_owned(), value))
    };
    let mut kept: Headers = KEPT_HEADERS.iter().filter_map(value).collect();
    if let Some((_, request_id)) = value(&ANTHROPIC_REQUEST_ID) {
        kept.entry(REQUEST_ID.to_owned()).or_insert(request_id);
    }
    kept
}

fn broken(error: &reqwest::Error) -> ProviderError {
    let reason = reason(error);
    ProviderError::transient(format!("the connection broke within the provider's answer: {reason}"))
}

fn fell_silent(limit: Duration) -> ProviderError {
    let seconds = limit.as_secs_f32();
    ProviderError::transient(format!("the provider sent nothing for {seconds} s"))
}

fn too_long() -> ProviderError {
    let message = format!("the provider's answer is longer than {RESPONSE_BYTES_MAX} bytes");
    ProviderError::new(ProviderErrorKind::Malformed, message)
}

/// Returns the innermost cause, which is the one that a reader can act on.
fn reason(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
        let kind = innermost.downcast_ref::<io::Error>().map(io::Error::kind);
        match kind {
            Some(io::ErrorKind::ConnectionRefused) => return "connection refused".to_owned(),
            Some(io::ErrorKind::ConnectionReset) => return "connection reset".to_owned(),
            Some(io::ErrorKind::TimedOut) => return "timed out".to_owned(),
            _ => {}
        }
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::Endpoint;

    #[track_caller]
    fn check(base_url: &str, url: &str, is_loopback: bool, is_openai: bool) {
        let endpoint = Endpoint::parse(base_url).unwrap();
        assert_eq!(endpoint.join("responses").as_str(), url);
        let chat = url.replace("responses", "chat/completions");
        assert_eq!(endpoint.join("chat/completions").as_str(), chat);
        assert_eq!((endpoint.is_loopback(), endpoint.is_openai()), (is_loopback, is_openai));
    }

    #[test]
    fn the_path_is_put_below_the_base() {
        let openai = "https://api.openai.com/v1/responses";
        check("https://api.openai.com/v1", openai, false, true);
        check("https://api.openai.com/v1/", openai, false, true);
        check("http://localhost:11434/v1", "http://localhost:11434/v1/responses", true, false);
        check("http://[::1]:8080", "http://[::1]:8080/responses", true, false);
        check("http://127.9.9.9/v1?a=1", "http://127.9.9.9/v1/responses?a=1", true, false);
        check(
            "http://api.openai.com.evil.test/",
            "http://api.openai.com.evil.test/responses",
            false,
            false,
        );
    }

    #[test]
    fn anthropic_may_be_told_without_the_version() {
        for base_url in ["https://api.anthropic.com", "https://api.anthropic.com/v1/"] {
            let endpoint = Endpoint::parse(base_url).unwrap();
            assert_eq!(endpoint.join("messages").as_str(), "https://api.anthropic.com/v1/messages");
            assert!(endpoint.is_anthropic());
        }
        assert!(!Endpoint::parse("https://api.anthropic.com.evil.test").unwrap().is_anthropic());
    }

    #[test]
    fn the_name_of_a_server_holds_no_secret() {
        let name = |base_url: &str| Endpoint::parse(base_url).unwrap().name();
        assert_eq!(name("https://host/v1?api-key=secret"), "https://host/v1");
    }

    #[test]
    fn what_is_no_base_url_is_refused() {
        for base_url in ["", "api.openai.com/v1", "file:///etc/passwd", "http://u:p@host/v1"] {
            let failure = Endpoint::parse(base_url).unwrap_err();
            assert!(failure.message.starts_with("no base URL for the model: "), "{base_url}");
            assert!(!failure.message.contains("u:p"), "{base_url}");
        }
    }
}
