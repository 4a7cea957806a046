//! Why a provider gave no response.

use std::fmt;
use std::time::Duration;

use csv_agent_types::status::ExitStatus;

/// Why a provider gave no response. The agent branches on the kind; people read the `Display`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderError {
    /// One for each different reaction.
    pub kind: ProviderErrorKind,
    /// What happened, with the provider's own words where it has any; never the key.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// The status of the answer, if there was one.
    pub http_status: Option<u16>,
    /// The provider's name for the request, if it gave one.
    pub request_id: Option<String>,
    /// Whether nothing of the request left: no connection came about.
    pub is_unsent: bool,
}

/// What to do about a failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// The key, or what it may do, was refused: stop and say how to set one.
    Unauthorized,
    /// The account is out of money: stop, though the status is 429.
    QuotaExceeded,
    /// It may work later: wait this long, or the usual back-off, and try again.
    Transient {
        /// What the provider asked for.
        retry_after: Option<Duration>,
    },
    /// The server has too much to do: like transient, with longer steps.
    Overloaded {
        /// What the provider asked for.
        retry_after: Option<Duration>,
    },
    /// The request has an optional field that this model or server does not know: leave it out.
    UnsupportedField(String),
    /// The conversation no longer fits the model.
    ContextTooLong,
    /// Nothing answers at this path: the server may speak the other dialect, or keeps no files.
    NoEndpoint,
    /// The model or the server knows no tools.
    NoTools,
    /// The model reads no images, or not this one.
    NoImages,
    /// The container is gone, with all that was in it: go on in a new one.
    ContainerExpired,
    /// The provider has a file no more that was uploaded, or that a container had: upload it again.
    NoSuchFile,
    /// The request is wrong, or the model does not exist: stop.
    Rejected,
    /// The cassette has no such request: stop.
    Mismatch,
    /// What came back cannot be read: stop.
    Malformed,
}

impl ProviderError {
    /// Makes an error that no answer of the provider stands behind.
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

    /// Makes an error that may pass: a connection that broke, a server that fell silent.
    pub fn transient(message: impl Into<String>) -> ProviderError {
        ProviderError::new(ProviderErrorKind::Transient { retry_after: None }, message)
            .hint("run the command again; `--retries N` tries longer")
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> ProviderError {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the provider's name for the request.
    #[must_use]
    pub fn of_request(mut self, request_id: String) -> ProviderError {
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

    /// Returns the status that the process ends with if nothing helps.
    pub fn exit_status(&self) -> ExitStatus {
        match self.kind {
            ProviderErrorKind::Unauthorized => ExitStatus::Auth,
            ProviderErrorKind::Mismatch => ExitStatus::Replay,
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
            | ProviderErrorKind::Malformed => ExitStatus::Provider,
        }
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProviderError {}
