//! What goes wrong at the endpoints for files and containers, when a test says so.

use std::time::Duration;

/// An endpoint for files or containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// `POST /files`
    Upload,
    /// `GET /files/ID`
    ShowUpload,
    /// `DELETE /files/ID`
    DeleteUpload,
    /// `POST /containers`
    MakeContainer,
    /// `GET /containers/ID`
    ShowContainer,
    /// `DELETE /containers/ID`
    DeleteContainer,
    /// `GET /containers/ID/files`
    ListFiles,
    /// `POST /containers/ID/files`
    AddFile,
    /// `GET /containers/ID/files/ID`
    ShowFile,
    /// `DELETE /containers/ID/files/ID`
    DeleteFile,
    /// `GET /containers/ID/files/ID/content`
    Content,
}

/// Starts a trouble that an endpoint has once; the methods say which.
pub fn trouble(endpoint: Endpoint) -> Trouble {
    Trouble {
        endpoint,
        name: None,
        times: Some(1),
        instead: None,
        headers: Vec::new(),
        delay: Duration::ZERO,
        stops_after: None,
        claims: None,
        is_measured: true,
        is_mute: false,
    }
}

/// Something that goes wrong at an endpoint. All of it must come about before the test ends.
#[derive(Debug, Clone)]
pub struct Trouble {
    endpoint: Endpoint,
    name: Option<String>,
    /// None: for ever, and maybe never.
    times: Option<usize>,
    /// Status and body in place of what the endpoint would do.
    pub(super) instead: Option<(u16, Vec<u8>)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) delay: Duration,
    pub(super) stops_after: Option<usize>,
    pub(super) claims: Option<usize>,
    pub(super) is_measured: bool,
    pub(super) is_mute: bool,
}

impl Trouble {
    /// Is had with this file alone, by the last part of its name, or with this container.
    pub fn of(mut self, name: &str) -> Trouble {
        self.name = Some(name.to_owned());
        self
    }

    /// Is had so often.
    pub fn times(mut self, times: usize) -> Trouble {
        self.times = Some(times);
        self
    }

    /// Is had from now on, if anybody asks.
    pub fn always(mut self) -> Trouble {
        self.times = None;
        self
    }

    /// Is an answer with this status and the usual error envelope; nothing else is done.
    pub fn errs(self, status: u16, message: &str) -> Trouble {
        let envelope = super::hosted::envelope(message, None, None);
        self.answers(status, envelope.to_string())
    }

    /// Is an answer with this status and body; nothing else is done.
    pub fn answers(mut self, status: u16, body: impl Into<Vec<u8>>) -> Trouble {
        self.instead = Some((status, body.into()));
        self
    }

    /// Adds a header to the answer.
    pub fn header(mut self, name: &str, value: &str) -> Trouble {
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    /// Is a wait before the answer.
    pub fn delayed(mut self, delay: Duration) -> Trouble {
        self.delay = delay;
        self
    }

    /// Breaks the connection after so many bytes of the answer's body.
    pub fn cut_after(mut self, n_bytes: usize) -> Trouble {
        self.stops_after = Some(n_bytes);
        self
    }

    /// Says that the body has so many bytes.
    pub fn claims(mut self, n_bytes: usize) -> Trouble {
        self.claims = Some(n_bytes);
        self
    }

    /// Does not say how long the body is.
    pub fn unmeasured(mut self) -> Trouble {
        self.is_measured = false;
        self
    }

    /// Does what is asked and never says so.
    pub fn mute(mut self) -> Trouble {
        self.is_mute = true;
        self
    }

    /// Returns whether it meets a call, which then counts.
    pub(super) fn meets(&mut self, endpoint: Endpoint, name: &str) -> bool {
        let is_it = self.endpoint == endpoint && self.name.as_deref().is_none_or(|it| it == name);
        if !is_it || self.times == Some(0) {
            return false;
        }
        self.times = self.times.map(|it| it - 1);
        true
    }

    /// Returns whether it has yet to come about.
    pub(super) fn is_due(&self) -> bool {
        self.times.is_some_and(|it| 0 < it)
    }
}
