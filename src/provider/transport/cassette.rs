//! Cassettes: exchanges with a provider as JSON lines, recorded once and replayed at will.
//!
//! One exchange a line:
//!
//! ```json
//! {"v":1,"key":"5f3a…","request":{…},"status":200,"headers":{…},"events":[{…},…]}
//! {"v":1,"key":"5f3a…","request":{…},"status":429,"headers":{"retry-after":"1"},"body":{…}}
//! {"v":1,"key":"77c0…","call":{"method":"POST","path":"files",…},"status":200,"headers":{},"body":{…}}
//! {"v":1,"key":"a91e…","call":{"method":"GET",…},"status":200,"headers":{},"bytes":"iVBORw…"}
//! ```
//!
//! - `request` is the normalised request (see [`fingerprint`](super::fingerprint)); `key` is a short hash
//!   of it, for people and tools that group lines. A replay compares `request` itself, so a line made by
//!   hand may omit `key`.
//! - `call` replaces it for files or containers of the provider. For an uploaded file, it has the name, the
//!   size, the SHA-256, and the number of turns in the conversation: one cassette may contain several
//!   questions, and each of them uploads the file anew.
//! - `events` contains a stream, event by event, up to its end or break; a string among them is data that
//!   was not JSON. `body` contains a complete answer: JSON, or a string for any other text.
//! - `bytes` contains a downloaded file in Base64; secrets in text are masked first.
//! - `delay_ms`, if present, is the wait before the answer.
//! - `api` is the dialect of the answer, unless that is the Responses API.
//!
//! A request or call uses the first unused line that equals it, or the last equal line when all are used. A
//! failure followed by an answer is thus retried on replay as it was live.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use csv_agent_types::conversation::Request;
use csv_agent_types::limits::{CASSETTE_BYTES_MAX, STREAM_IDLE};
use csv_agent_types::named_file;
use csv_agent_types::status::{Failure, FailureKind};

use crate::error::{ProviderError, ProviderErrorKind};
use crate::key::{Key, mask};
use crate::transport::call::{Download, HttpCall, Received, Reply};
use crate::transport::fingerprint::{Difference, difference, key_of, normalise};
use crate::transport::{Body, Events, Headers, OpenResponse};
use crate::wire::Api;

const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Exchange {
    v: u32,
    #[serde(default)]
    key: String,
    #[serde(flatten)]
    asked: ComparedRequest,
    #[serde(default, skip_serializing_if = "is_usual")]
    api: Api,
    status: u16,
    #[serde(default)]
    headers: Headers,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    events: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delay_ms: Option<u64>,
}

/// The part that a replay compares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ComparedRequest {
    /// A normalised request for a response.
    Request(Value),
    /// A call about files or containers.
    Call(Value),
}

impl ComparedRequest {
    /// Returns how another request of the same kind differs, if it does.
    fn difference(&self, now: &ComparedRequest) -> Option<Difference> {
        match (self, now) {
            (ComparedRequest::Request(recorded), ComparedRequest::Request(now))
            | (ComparedRequest::Call(recorded), ComparedRequest::Call(now)) => {
                difference(recorded, now)
            }
            (ComparedRequest::Request(_), ComparedRequest::Call(_))
            | (ComparedRequest::Call(_), ComparedRequest::Request(_)) => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_usual(api: &Api) -> bool {
    *api == Api::default()
}

impl Exchange {
    /// Returns the complete answer, as received.
    fn text(&self) -> String {
        match &self.body {
            Some(Value::String(text)) => text.clone(),
            Some(json) => json.to_string(),
            None => String::new(),
        }
    }

    /// Returns the downloaded file. A line made by hand may contain it as text.
    fn file(&self) -> Option<Vec<u8>> {
        match (&self.bytes, &self.body) {
            (Some(bytes), _) => BASE64_STANDARD.decode(bytes).ok(),
            (None, Some(Value::String(text))) => Some(text.clone().into_bytes()),
            (None, _) => None,
        }
    }
}

/// A cassette that answers.
#[derive(Debug)]
pub(crate) struct Cassette {
    path: PathBuf,
    exchanges: Vec<Played>,
}

#[derive(Debug)]
struct Played {
    exchange: Exchange,
    /// From 1, to find it in the file.
    line_number: usize,
    was_used: bool,
}

impl Cassette {
    /// Reads a cassette. Fails when the file cannot be read, is too large, contains a line that is not an
    /// exchange, or contains none.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Cassette> {
        let exchanges = read(path)?;
        if exchanges.is_empty() {
            let message = format!("the cassette `{}` is empty", path.display());
            let failure = Failure::new(FailureKind::Replay, message);
            return Err(failure.hint("record one with `--record FILE`").into());
        }
        Ok(Cassette { path: path.to_owned(), exchanges })
    }

    /// Returns the dialect of the recorded answers: that of the last, if they differ, since a server that
    /// was asked in the wrong dialect was asked again.
    pub(crate) fn api(&self) -> Api {
        let asked = self.exchanges.iter().rev().map(|it| &it.exchange);
        let mut requests = asked.filter(|it| matches!(it.asked, ComparedRequest::Request(_)));
        requests.next().map_or_else(Api::default, |it| it.api)
    }

    /// Answers a request with the recorded answer. Fails when no such request was recorded, and states the
    /// difference from the nearest.
    pub(crate) async fn play(&mut self, request: &Request) -> Result<OpenResponse, ProviderError> {
        // A replay has no key; text that looks like one is masked nevertheless.
        let played = self.take(&ComparedRequest::Request(normalise(request, None))).await?;
        let exchange = &played.exchange;
        let body = match &exchange.events {
            Some(events) => Body::Events(Events::played(events.clone())),
            None => Body::Text(exchange.text()),
        };
        let (api, status) = (exchange.api, exchange.status);
        Ok(OpenResponse { api, status, headers: exchange.headers.clone(), body })
    }

    /// Answers a call with the recorded answer, and writes the recorded file. Fails when no such call was
    /// recorded, and states the difference from the nearest; also when the recording lacks the file, or it
    /// cannot be written.
    pub(crate) async fn play_call(
        &mut self,
        call: &HttpCall<'_>,
        download: Option<&mut Download<'_>>,
    ) -> Result<Reply, ProviderError> {
        let played = self.take(&ComparedRequest::Call(call.told(None))).await?;
        let exchange = &played.exchange;
        let (status, headers) = (exchange.status, exchange.headers.clone());
        let reply = Reply { status, headers, body: Received::Text(exchange.text()) };
        let Some(download) = download.filter(|_| reply.is_success()) else { return Ok(reply) };
        let Some(bytes) = exchange.file() else {
            let line_number = played.line_number;
            let message = format!("line {line_number} of the cassette has no `bytes` in Base64");
            return Err(ProviderError::new(ProviderErrorKind::Mismatch, message)
                .hint("record again with `--record FILE`"));
        };
        download.begin(Some(bytes.len() as u64))?;
        download.take(&bytes)?;
        Ok(Reply { body: Received::File, ..reply })
    }

    /// Finds the line to play, and waits as long as it states.
    async fn take(&mut self, now: &ComparedRequest) -> Result<&Played, ProviderError> {
        let is_it = |it: &Played| it.exchange.asked == *now;
        let unused = self.exchanges.iter().position(|it| !it.was_used && is_it(it));
        let index = unused.or_else(|| self.exchanges.iter().rposition(is_it));
        let Some(index) = index else { return Err(self.mismatch(now)) };
        let played = &mut self.exchanges[index];
        played.was_used = true;
        let delay = Duration::from_millis(played.exchange.delay_ms.unwrap_or(0));
        tokio::time::sleep(delay.min(STREAM_IDLE)).await;
        Ok(played)
    }

    fn mismatch(&self, now: &ComparedRequest) -> ProviderError {
        let differing = self.exchanges.iter().filter_map(|it| {
            Some((it.was_used, it.line_number, it.exchange.asked.difference(now)?))
        });
        // Of two equally near ones, the one that is due.
        let nearest = differing.min_by_key(|(was_used, _, it)| (it.n_differing, *was_used));
        let nearest = nearest.map(|(_, line_number, found)| {
            let side = |it: Option<String>| it.map_or("nothing".to_owned(), |it| format!("`{it}`"));
            let (recorded, now) = (side(found.recorded), side(found.now));
            let path = found.path;
            format!(
                "; the nearest is on line {line_number}, where `{path}` is {recorded} and not {now}"
            )
        });
        let (path, nearest) = (self.path.display(), nearest.unwrap_or_default());
        let asked = match now {
            ComparedRequest::Request(_) => "request",
            ComparedRequest::Call(_) => "call",
        };
        let message = format!("the cassette `{path}` has no such {asked}{nearest}");
        ProviderError::new(ProviderErrorKind::Mismatch, message)
            .hint("ask what was recorded, or record again with `--record FILE`")
    }
}

/// Reads the exchanges of a file, in order; may be empty.
fn read(path: &Path) -> anyhow::Result<Vec<Played>> {
    let shown = path.display();
    let bytes = named_file::read(path, CASSETTE_BYTES_MAX).map_err(|reason| {
        let message = format!("cannot read the cassette `{shown}`: {reason}");
        Failure::input(message).hint("check the path, or record one with `--record FILE`")
    })?;
    let mut exchanges = Vec::new();
    for (index, line) in bytes.split(|it| *it == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let line_number = index + 1;
        let refuse = |found: String| {
            let message = format!("line {line_number} of the cassette `{shown}` {found}");
            Failure::new(FailureKind::Replay, message).hint("remove the line, or record again")
        };
        let exchange: Exchange = serde_json::from_slice(line)
            .map_err(|error| refuse(format!("is not a recorded exchange: {error}")))?;
        if exchange.v != VERSION {
            return Err(refuse(format!("has version {}, not {VERSION}", exchange.v)).into());
        }
        exchanges.push(Played { exchange, line_number, was_used: false });
    }
    Ok(exchanges)
}

/// Writes exchanges to a cassette as they occur.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: File,
    key: Option<Key>,
}

impl Recorder {
    /// Opens a cassette for appending, or creates one that only its owner can read. Fails when the file cannot
    /// be written, or exists and is not a cassette.
    pub(crate) fn append(path: &Path, key: Option<Key>) -> anyhow::Result<Recorder> {
        if path.exists() {
            read(path)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        let file = options.open(path).map_err(|error| {
            let reason = named_file::reason(path, &error);
            let message = format!("cannot write the cassette `{}`: {reason}", path.display());
            Failure::input(message).hint("name another file with `--record FILE`")
        });
        let mut file = file?;
        if !ends_with_newline(path).with_context(|| format!("cannot read {}", path.display()))? {
            file.write_all(b"\n").with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(Recorder { file, key })
    }

    /// Appends an exchange, secrets masked, in one write.
    pub(crate) fn write(&mut self, request: &Request, answer: OpenResponse) -> io::Result<()> {
        let request = normalise(request, self.key.as_ref());
        let (events, body) = match answer.body {
            Body::Events(events) => (events.heard, None),
            Body::Text(text) => (None, Some(json_or_text(&text))),
        };
        let exchange = Exchange {
            v: VERSION,
            key: key_of(&request),
            asked: ComparedRequest::Request(request),
            api: answer.api,
            status: answer.status,
            headers: answer.headers,
            events,
            body,
            bytes: None,
            delay_ms: None,
        };
        self.append_line(&exchange, None)
    }

    /// Appends a call and its reply, secrets masked, in one write. Reads a downloaded file again. Fails when
    /// the file cannot be read, or the cassette cannot be written or would be too large for a replay.
    pub(crate) fn write_call(
        &mut self,
        call: &HttpCall<'_>,
        reply: &Reply,
        download: Option<&Download<'_>>,
    ) -> io::Result<()> {
        let told = call.told(self.key.as_ref());
        let (body, bytes) = match (&reply.body, download) {
            (Received::Text(text), _) => (Some(json_or_text(text)), None),
            (Received::File, Some(download)) => (None, Some(self.fetched(download)?)),
            (Received::File, None) => (None, None),
        };
        let exchange = Exchange {
            v: VERSION,
            key: key_of(&told),
            asked: ComparedRequest::Call(told),
            api: Api::default(),
            status: reply.status,
            headers: reply.headers.clone(),
            events: None,
            body,
            bytes: None,
            delay_ms: None,
        };
        self.append_line(&exchange, bytes.as_deref())
    }

    /// Reads a downloaded file, secrets masked, as Base64.
    fn fetched(&self, download: &Download<'_>) -> io::Result<String> {
        self.demand_room(download.bytes())?;
        let mut bytes = vec![0; usize::try_from(download.bytes()).map_err(io::Error::other)?];
        download.file().read_exact_at(&mut bytes, 0)?;
        // Masking works on text only, and the Base64 of binary data may look like a key.
        Ok(match std::str::from_utf8(&bytes) {
            Ok(text) => BASE64_STANDARD.encode(mask(text, self.key.as_ref())),
            Err(_) => BASE64_STANDARD.encode(&bytes),
        })
    }

    /// Appends a line, secrets masked. `bytes` is Base64 already, which contains none.
    fn append_line(&mut self, exchange: &Exchange, bytes: Option<&str>) -> io::Result<()> {
        let mut line = mask(&serde_json::to_string(exchange)?, self.key.as_ref());
        if let Some(bytes) = bytes {
            // Reopens the object.
            line.pop();
            line.push_str(r#","bytes":""#);
            line.push_str(bytes);
            line.push_str(r#""}"#);
        }
        line.push('\n');
        self.demand_room(line.len() as u64)?;
        self.file.write_all(line.as_bytes())
    }

    /// Checks that a replay can still read the cassette with `n_bytes` more.
    fn demand_room(&self, n_bytes: u64) -> io::Result<()> {
        if self.file.metadata()?.len().saturating_add(n_bytes) <= CASSETTE_BYTES_MAX {
            return Ok(());
        }
        let found = format!("the cassette would have more than {CASSETTE_BYTES_MAX} bytes");
        Err(io::Error::other(format!("{found}, and a replay could not read it")))
    }
}

fn json_or_text(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

/// Returns whether a line can be appended directly; true for an empty file.
fn ends_with_newline(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut bytes = [0];
    file.read_exact(&mut bytes)?;
    Ok(bytes.last().is_none_or(|it| *it == b'\n'))
}
