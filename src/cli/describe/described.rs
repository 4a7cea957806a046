//! A dataset that is described.

use csv_agent_query::describe::{ColumnFacts, Description};
use csv_agent_types::catalog::{Column, Dataset};

/// A dataset with what its columns contain.
pub(crate) struct Described {
    pub name: String,
    /// What the catalog has of it.
    pub dataset: Dataset,
    /// What its columns contain.
    pub description: Description,
}

/// Returns the notes on a column, and those on its facts.
pub(super) fn remarks(column: &Column, facts: &ColumnFacts) -> Vec<String> {
    let mut remarks = column.remarks();
    remarks.extend(facts.remarks());
    remarks
}
