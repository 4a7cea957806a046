//! The messages between csv-agent and the child that runs queries.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::Query;

/// Queries for the engine, sent as one line of JSON. They run one after another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineRequest {
    /// What to run.
    pub queries: Vec<EngineQuery>,
    /// Name → absolute path of the Parquet file of each dataset in the plans.
    pub tables: Vec<(String, PathBuf)>,
}

/// A query, and where its result goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EngineQuery {
    /// What to run.
    pub query: Query,
    /// The Parquet file to write, which does not exist yet.
    pub output: PathBuf,
}

/// What became of a query, one line each in the order of the request. An engine that ends early has lines for the
/// first queries only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineResponse {
    /// Its output is written, after so many microseconds.
    Written {
        /// Of wall-clock time.
        micros: u64,
    },
    /// It failed, for this reason. Its output may be there in part.
    Failed(String),
    /// It needed more memory than the child may use.
    OutOfMemory,
}
