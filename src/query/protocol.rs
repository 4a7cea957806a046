//! The messages between csv-agent and the child that runs a query.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::Query;

/// A query for the engine, sent as one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineRequest {
    /// What to run.
    pub query: Query,
    /// Name → absolute path of the Parquet file of each dataset in the plan.
    pub tables: Vec<(String, PathBuf)>,
    /// The Parquet file to write, which does not exist yet.
    pub output: PathBuf,
}

/// The engine's only line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineResponse {
    /// The output is written.
    Written,
    /// The query failed, for this reason.
    Failed(String),
}
