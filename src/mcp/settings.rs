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

impl ServerSettings {
    /// Returns whether clients can read files.
    pub fn can_ingest(&self) -> bool {
        // A file that is read in another way may have a value in any column.
        !self.is_read_only && self.withheld.columns.is_empty()
    }
}
