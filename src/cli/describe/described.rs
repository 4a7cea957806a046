//! A dataset that is described.

use csv_agent_query::describe::Description;
use csv_agent_types::catalog::Dataset;

/// A dataset with what its columns contain.
pub(crate) struct Described {
    pub name: String,
    /// What the catalog has of it.
    pub dataset: Dataset,
    /// What its columns contain.
    pub description: Description,
}
