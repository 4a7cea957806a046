//! Transports carry a request or a call and its answer: over HTTP, or from a cassette.
//!
//! A transport carries JSON without interpreting it. Recording wraps either kind.

pub(crate) mod call;
pub(crate) mod cassette;
pub(crate) mod fingerprint;
pub(crate) mod http;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use csv_agent_types::conversation::Request;

use crate::error::ProviderError;
use crate::wire::Api;
use call::{Download, HttpCall, Reply};
use cassette::{Cassette, Recorder};
use http::{Http, HttpEvents};

/// Headers of an answer that are used here, with lower-case names.
pub(crate) type Headers = BTreeMap<String, String>;

/// One request to send.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing<'a> {
    /// The request; a cassette compares this.
    pub request: &'a Request,
    /// The dialect, which determines the path.
    pub api: Api,
    /// The encoded request, which is sent.
    pub body: &'a Value,
    /// Whether to request the answer as a stream.
    pub stream: bool,
}

/// An answer whose headers have arrived.
#[derive(Debug)]
pub(crate) struct OpenResponse {
    /// Its dialect: that of the request, or the recorded one.
    pub api: Api,
    /// The HTTP status.
    pub status: u16,
    /// Of the head.
    pub headers: Headers,
    pub body: Body,
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Body {
    /// A complete body: JSON on success, an error page otherwise.
    Text(String),
    /// A stream of events.
    Events(Events),
}

/// The events of one answer.
#[derive(Debug)]
pub(crate) struct Events {
    source: EventSource,
    /// The events so far, when they are recorded.
    heard: Option<Vec<Value>>,
}

#[derive(Debug)]
enum EventSource {
    Http(Box<HttpEvents>),
    Played(std::vec::IntoIter<Value>),
}

impl Events {
    fn over_http(events: HttpEvents) -> Events {
        Events { source: EventSource::Http(Box::new(events)), heard: None }
    }

    fn played(events: Vec<Value>) -> Events {
        Events { source: EventSource::Played(events.into_iter()), heard: None }
    }

    /// Waits for the next event: a JSON object, or a JSON string for data that could not be parsed. Returns
    /// None when the stream has ended, or no event came `within` this time. Fails when the connection breaks,
    /// stops responding, or carries no events at all.
    pub(crate) async fn next(
        &mut self,
        within: Option<Duration>,
    ) -> Result<Option<Value>, ProviderError> {
        let event = match &mut self.source {
            EventSource::Http(events) => events.next(within).await?,
            EventSource::Played(events) => events.next(),
        };
        if let Some(heard) = &mut self.heard {
            heard.extend(event.clone());
        }
        Ok(event)
    }
}

/// How requests travel.
#[derive(Debug)]
pub(crate) struct Transport {
    source: ResponseSource,
    recorder: Option<Recorder>,
}

#[derive(Debug)]
enum ResponseSource {
    Http(Http),
    Cassette(Cassette),
}

impl Transport {
    /// Sends requests over HTTP.
    pub(crate) fn http(http: Http) -> Transport {
        Transport { source: ResponseSource::Http(http), recorder: None }
    }

    /// Answers requests from a cassette and sends nothing.
    pub(crate) fn cassette(cassette: Cassette) -> Transport {
        Transport { source: ResponseSource::Cassette(cassette), recorder: None }
    }

    /// Returns the URL of requests and their headers, with the key masked; None when a cassette answers.
    pub(crate) fn destination(&self, api: Api) -> Option<(String, Vec<(String, String)>)> {
        match &self.source {
            ResponseSource::Http(http) => Some(http.shown(api)),
            ResponseSource::Cassette(_) => None,
        }
    }

    /// Returns the scheme, host and port of the server; None when a cassette answers.
    pub(crate) fn server(&self) -> Option<String> {
        match &self.source {
            ResponseSource::Http(http) => Some(http.server()),
            ResponseSource::Cassette(_) => None,
        }
    }

    /// Records every exchange from now on.
    pub(crate) fn record(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Sends a request and waits for the headers of its answer. Fails when the server cannot be reached or does
    /// not respond, or the cassette does not contain the request.
    pub(crate) async fn send(
        &mut self,
        outgoing: Outgoing<'_>,
    ) -> Result<OpenResponse, ProviderError> {
        let mut answer = match &mut self.source {
            ResponseSource::Http(http) => http.send(&outgoing).await?,
            ResponseSource::Cassette(cassette) => cassette.play(outgoing.request).await?,
        };
        if let (Some(_), Body::Events(events)) = (&self.recorder, &mut answer.body) {
            events.heard = Some(Vec::new());
        }
        Ok(answer)
    }

    /// Makes a call and reads its reply. A file in the reply is written to `download`, if given. Fails when the
    /// server cannot be reached or does not respond, the file cannot be written, or the cassette does not
    /// contain the call. An unsuccessful reply is not an error here.
    pub(crate) async fn call(
        &mut self,
        call: &HttpCall<'_>,
        download: Option<&mut Download<'_>>,
    ) -> Result<Reply, ProviderError> {
        match &mut self.source {
            ResponseSource::Http(http) => http.call(call, download).await,
            ResponseSource::Cassette(cassette) => cassette.play_call(call, download).await,
        }
    }

    /// Returns whether a cassette plays or records, which compares the bytes of files.
    pub(crate) fn has_cassette(&self) -> bool {
        self.recorder.is_some() || matches!(self.source, ResponseSource::Cassette(_))
    }

    /// Records a call with its reply, if a recorder is set. Fails when the cassette cannot be written or would
    /// be too large, or the download cannot be read again.
    pub(crate) fn settle_call(
        &mut self,
        call: &HttpCall<'_>,
        reply: &Reply,
        download: Option<&Download<'_>>,
    ) -> std::io::Result<()> {
        match &mut self.recorder {
            Some(recorder) => recorder.write_call(call, reply, download),
            None => Ok(()),
        }
    }

    /// Finishes an answer, whether read to its end or not, and records the exchange if a recorder is set.
    pub(crate) fn settle(
        &mut self,
        request: &Request,
        answer: OpenResponse,
    ) -> std::io::Result<()> {
        match &mut self.recorder {
            Some(recorder) => recorder.write(request, answer),
            None => Ok(()),
        }
    }
}
