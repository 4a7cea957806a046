//! Cassettes: exchanges with a provider as JSON lines, recorded once and replayed at will.
//!
//! One exchange a line:
//!
//! ```json
//! {"v":1,"key":"5f3a…","request":{…},"status":200,"headers":{…},"events":[{…},…]}
//! {"v":1,"key":"5f3a…","request":{…},"status":429,"headers":{"retry-after":"1"},"body":{…}}
//! ```
//!
//! - `request` is the normalised request (see [`fingerprint`](super::fingerprint)); `key` is a short
//!   hash of it, for people and tools that group lines. A replay compares `request` itself, so a
//!   line made by hand may leave `key` out.
//! - `events` holds a stream, event by event, as far as it went; a string among them is data that
//!   were no JSON. `body` holds an answer in one piece: JSON, or a string for any other text.
//! - `delay_ms`, if present, is waited before the answer.
//! - `api` is the dialect of the answer, unless that is the Responses API.
//!
//! A request takes the first unused line that equals it, and the last one that equals it when all
//! were used. A failure followed by an answer is thus retried on replay as it was live.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::conversation::Request;
use crate::limits::{CASSETTE_BYTES_MAX, STREAM_IDLE};
use crate::provider::error::{ProviderError, ProviderErrorKind};
use crate::provider::key::{Key, mask};
use crate::provider::transport::fingerprint::{difference, key_of, normalise};
use crate::provider::transport::{Answer, Body, Events, Headers};
use crate::provider::wire::Api;
use crate::status::{ExitStatus, Failure};

const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Exchange {
    v: u32,
    #[serde(default)]
    key: String,
    request: Value,
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
    delay_ms: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn is_usual(api: &Api) -> bool {
    *api == Api::default()
}

/// A cassette that answers.
#[derive(Debug)]
pub struct Cassette {
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
    /// Reads a cassette.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read, is too large, holds a line that is no exchange, or none.
    pub fn open(path: &Path) -> anyhow::Result<Cassette> {
        let exchanges = read(path)?;
        if exchanges.is_empty() {
            let message = format!("the cassette `{}` is empty", path.display());
            let failure = Failure::new(ExitStatus::Replay, message);
            return Err(failure.hint("record one with `--record FILE`").into());
        }
        Ok(Cassette { path: path.to_owned(), exchanges })
    }

    /// Returns the dialect of the recorded answers: of the last, if they differ, since a server that
    /// was asked in the wrong one was asked again.
    pub fn api(&self) -> Api {
        self.exchanges.last().map_or_else(Api::default, |it| it.exchange.api)
    }

    /// Answers a request as it was answered when it was recorded.
    ///
    /// # Errors
    ///
    /// Fails when no such request was recorded, and says where it differs from the nearest.
    pub async fn play(&mut self, request: &Request) -> Result<Answer, ProviderError> {
        // No key is at hand in a replay; what looks like one is masked all the same.
        let now = normalise(request, None);
        let unused =
            self.exchanges.iter().position(|it| !it.was_used && it.exchange.request == now);
        let index =
            unused.or_else(|| self.exchanges.iter().rposition(|it| it.exchange.request == now));
        let Some(index) = index else { return Err(self.mismatch(&now)) };
        self.exchanges[index].was_used = true;
        let exchange = &self.exchanges[index].exchange;
        let delay = Duration::from_millis(exchange.delay_ms.unwrap_or(0));
        tokio::time::sleep(delay.min(STREAM_IDLE)).await;
        let body = match (&exchange.events, &exchange.body) {
            (Some(events), _) => Body::Events(Events::played(events.clone())),
            (None, Some(Value::String(text))) => Body::Text(text.clone()),
            (None, Some(json)) => Body::Text(json.to_string()),
            (None, None) => Body::Text(String::new()),
        };
        let (api, status) = (exchange.api, exchange.status);
        Ok(Answer { api, status, headers: exchange.headers.clone(), body })
    }

    fn mismatch(&self, now: &Value) -> ProviderError {
        let differing = self.exchanges.iter().filter_map(|it| {
            Some((it.was_used, it.line_number, difference(&it.exchange.request, now)?))
        });
        // Of two that are equally near, the one whose turn it would be.
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
        let message = format!("the cassette `{path}` has no such request{nearest}");
        ProviderError::new(ProviderErrorKind::Mismatch, message)
            .hint("ask what was recorded, or record anew with `--record FILE`")
    }
}

/// Reads the exchanges of a file, in order. There may be none.
fn read(path: &Path) -> anyhow::Result<Vec<Played>> {
    let shown = path.display();
    let unreadable = |error: io::Error| {
        Failure::new(ExitStatus::Input, format!("cannot read the cassette `{shown}`: {error}"))
            .hint("check the path, or record one with `--record FILE`")
    };
    let n_bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if CASSETTE_BYTES_MAX < n_bytes {
        let message = format!(
            "the cassette `{shown}` has {n_bytes} bytes; at most {CASSETTE_BYTES_MAX} are read"
        );
        return Err(Failure::new(ExitStatus::Input, message).into());
    }
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let mut exchanges = Vec::new();
    for (index, line) in bytes.split(|it| *it == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let line_number = index + 1;
        let refuse = |found: String| {
            let message = format!("line {line_number} of the cassette `{shown}` {found}");
            Failure::new(ExitStatus::Replay, message).hint("remove the line, or record anew")
        };
        let exchange: Exchange = serde_json::from_slice(line)
            .map_err(|error| refuse(format!("is no recorded exchange: {error}")))?;
        if exchange.v != VERSION {
            return Err(refuse(format!("has version {}, not {VERSION}", exchange.v)).into());
        }
        exchanges.push(Played { exchange, line_number, was_used: false });
    }
    Ok(exchanges)
}

/// Writes exchanges to a cassette as they happen.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    key: Option<Key>,
}

impl Recorder {
    /// Opens a cassette to append to, or makes one that only its owner can read.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be written, or exists and is no cassette.
    pub fn append(path: &Path, key: Option<Key>) -> anyhow::Result<Recorder> {
        if path.exists() {
            read(path)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true).mode(0o600);
        let file = options.open(path).map_err(|error| {
            let message = format!("cannot write the cassette `{}`: {error}", path.display());
            Failure::new(ExitStatus::Input, message)
        });
        let mut file = file?;
        if !ends_with_newline(path).with_context(|| format!("cannot read {}", path.display()))? {
            file.write_all(b"\n").with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(Recorder { file, key })
    }

    /// Appends an exchange, secrets masked, in one write.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be written.
    pub fn write(&mut self, request: &Request, answer: Answer) -> io::Result<()> {
        let request = normalise(request, self.key.as_ref());
        let (events, body) = match answer.body {
            Body::Events(events) => (events.heard, None),
            Body::Text(text) => {
                (None, Some(serde_json::from_str(&text).unwrap_or(Value::String(text))))
            }
        };
        let exchange = Exchange {
            v: VERSION,
            key: key_of(&request),
            request,
            api: answer.api,
            status: answer.status,
            headers: answer.headers,
            events,
            body,
            delay_ms: None,
        };
        let line = serde_json::to_string(&exchange)?;
        self.file.write_all(format!("{}\n", mask(&line, self.key.as_ref())).as_bytes())
    }
}

/// Returns whether a line can be appended as it is; an empty file counts.
fn ends_with_newline(path: &Path) -> io::Result<bool> {
    let bytes = std::fs::read(path)?;
    Ok(bytes.last().is_none_or(|it| *it == b'\n'))
}
