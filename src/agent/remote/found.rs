//! The messages of a study: its question and its answer.

use serde::Deserialize;

use csv_agent_ingest::IngestOptions;
use csv_agent_types::catalog::{Column, Dataset, Dialect, Location, Remote, SourceFormat};

use super::What;

/// The study's answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StudyAnswer<T> {
    /// The result.
    Found(T),
    /// The error.
    Error {
        /// `missing`, the name of a gRPC code, or empty.
        kind: String,
        /// Spark's message.
        text: String,
    },
}

/// Files, and the heads of some.
#[derive(Debug, Deserialize)]
pub(super) struct FilesFound {
    /// Spark's version.
    pub version: String,
    /// Includes empty ones.
    pub n_files: u64,
    /// Whether there are more than were listed.
    pub has_more: bool,
    /// Total size.
    pub bytes: u64,
    /// Over names, sizes and times.
    pub sha256: String,
    /// Partition columns with Spark's types.
    pub partitions: Vec<(String, String)>,
    /// Whether it is a Delta table, in which not every file is current.
    pub is_delta: bool,
    /// Distinct endings of files that are not empty.
    pub endings: Vec<String>,
    /// Files that are not empty.
    #[serde(default)]
    pub n_filled: u64,
    /// Heads of some of these, that of the first file first.
    #[serde(default)]
    pub heads: Vec<HeadFound>,
    /// The schema in the files.
    #[serde(default)]
    pub parquet: Option<ParquetFound>,
}

/// The head of a file.
#[derive(Debug, Deserialize)]
pub(super) struct HeadFound {
    /// The file's name.
    pub name: String,
    /// Stored size of the file, in bytes.
    pub length: u64,
    /// In base64, decompressed.
    pub bytes: String,
    /// Whether these bytes are the whole file.
    pub is_whole: bool,
}

/// Parquet files.
#[derive(Debug, Deserialize)]
pub(super) struct ParquetFound {
    /// With Spark's types; partition columns last.
    pub columns: Vec<(String, String)>,
    /// Rows of all files.
    pub n_rows: u64,
}

/// A table or view.
#[derive(Debug, Deserialize)]
pub(super) struct TableFound {
    /// Spark's version.
    pub version: String,
    /// With Spark's types.
    pub columns: Vec<(String, String)>,
    /// The planner's estimate; 0 if it has none.
    pub bytes: u64,
    /// Counted, or estimated.
    pub n_rows: u64,
    pub is_estimate: bool,
    /// The partition columns.
    pub partitions: Vec<String>,
    /// `VIEW`, `MANAGED`, …
    pub r#type: String,
    /// Hash of its identifying properties.
    pub sha256: String,
}

/// The properties of a dataset.
pub(super) struct Contents {
    /// Hash of its identifying properties.
    pub sha256: String,
    /// Bytes of the source.
    pub bytes: u64,
    /// Counted, or estimated.
    pub row_count: u64,
    /// In order.
    pub columns: Vec<Column>,
}

pub(super) struct StudyQuestion<'a> {
    /// The server, without credentials.
    pub endpoint: String,
    /// What to register.
    pub what: &'a What,
    /// How to read it.
    pub options: &'a IngestOptions,
}

impl StudyQuestion<'_> {
    pub(super) fn dialect(&self, format: SourceFormat, reasons: Vec<String>) -> Dialect {
        Dialect {
            format,
            encoding: "utf-8".to_owned(),
            reasons,
            told: self.options.given(),
            ..Dialect::default()
        }
    }

    /// Returns the dataset that stays on the cluster.
    pub(super) fn dataset(&self, remote: Remote, contents: Contents, dialect: Dialect) -> Dataset {
        let Contents { sha256, bytes, row_count, columns } = contents;
        Dataset {
            location: Location::Cluster { remote: Box::new(remote) },
            source: self.what.shown_name().to_owned(),
            sha256,
            bytes,
            row_count,
            columns,
            dialect,
            ingested_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
            ..Dataset::default()
        }
    }
}
