//! Why a provider gave no response.

use std::fmt;
use std::time::Duration;

use csv_agent_types::status::FailureKind;

/// Why a provider gave no response. The agent branches on the kind; people read the `Display`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderError {
    /// Each kind requires a different reaction.
    pub kind: ProviderErrorKind,
    /// What happened, in the provider's words where available; never contains the key.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The HTTP status of the answer, if there was one.
    pub http_status: Option<u16>,
    /// The provider's id for the request, if it gave one.
    pub request_id: Option<String>,
    /// Whether nothing was sent, because no connection was established.
    pub is_unsent: bool,
}

/// How to react to a failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// The key or its permissions were refused: stop and explain how to set one.
    Unauthorized,
    /// The account has no credit: stop, although the status is 429.
    QuotaExceeded,
    /// It may work later: wait this long, or the usual back-off, and retry.
    Transient {
        /// The wait that the provider requested.
        retry_after: Option<Duration>,
    },
    /// The server is overloaded: like transient, with longer waits.
    Overloaded {
        /// The wait that the provider requested.
        retry_after: Option<Duration>,
    },
    /// The request has an optional field that this model or server does not know: retry without it.
    UnsupportedField(String),
    /// The conversation no longer fits the model.
    ContextTooLong,
    /// Nothing answers at this path: the server may speak the other dialect, or store no files.
    NoEndpoint,
    /// The model or the server does not support tools.
    NoTools,
    /// The model does not accept images, or not this one.
    NoImages,
    /// The container and its content are gone: continue in a new one.
    ContainerExpired,
    /// An uploaded file, or a file of a container, no longer exists: upload it again.
    NoSuchFile,
    /// The request is invalid, or the model does not exist: stop.
    Rejected,
    /// The cassette does not contain this request: stop.
    Mismatch,
    /// The answer cannot be parsed: stop.
    Malformed,
}

impl ProviderError {
    /// Makes an error without an answer by the provider.
    pub fn new(kind: ProviderErrorKind, message: impl Into<String>) -> ProviderError {
        let message = message.into();
        ProviderError {
            kind,
            message,
            hint: None,
            http_status: None,
            request_id: None,
            is_unsent: false,
        }
    }

    /// Makes a transient error: a broken connection, or a server that stopped responding.
    pub fn transient(message: impl Into<String>) -> ProviderError {
        ProviderError::new(ProviderErrorKind::Transient { retry_after: None }, message)
            .hint("run the command again, or allow more retries with `--retries N`")
    }

    /// Adds a hint at what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> ProviderError {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the provider's id for the request.
    #[must_use]
    pub(crate) fn of_request(mut self, request_id: String) -> ProviderError {
        self.message = format!("{} (request `{request_id}`)", self.message);
        self.request_id = Some(request_id);
        self
    }

    /// Returns whether the same request may work later.
    pub fn may_pass(&self) -> bool {
        matches!(
            self.kind,
            ProviderErrorKind::Transient { .. } | ProviderErrorKind::Overloaded { .. }
        )
    }

    /// Returns how a caller reacts if the error persists.
    pub fn failure_kind(&self) -> FailureKind {
        match self.kind {
            ProviderErrorKind::Unauthorized => FailureKind::Auth,
            ProviderErrorKind::Mismatch => FailureKind::Replay,
            ProviderErrorKind::QuotaExceeded
            | ProviderErrorKind::Transient { .. }
            | ProviderErrorKind::Overloaded { .. }
            | ProviderErrorKind::UnsupportedField(_)
            | ProviderErrorKind::ContextTooLong
            | ProviderErrorKind::NoEndpoint
            | ProviderErrorKind::NoTools
            | ProviderErrorKind::NoImages
            | ProviderErrorKind::ContainerExpired
            | ProviderErrorKind::NoSuchFile
            | ProviderErrorKind::Rejected
            | ProviderErrorKind::Malformed => FailureKind::Provider,
        }
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProviderError {}
