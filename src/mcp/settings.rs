//! The settings of a server.

use csv_agent_types::redaction::Redaction;

/// The settings of a server.
#[derive(Debug, Clone, Default)]
pub struct ServerSettings {
    /// csv-agent's version.
    pub version: String,
    /// Whether datasets must not change.
    pub is_read_only: bool,
    /// What clients must not see.
    pub withheld: Redaction,
}
