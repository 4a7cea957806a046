//! What the study answers, and what was asked.

use serde::Deserialize;

use csv_agent_ingest::IngestOptions;
use csv_agent_types::catalog::{
    Column, Dataset, Dialect, Location, Remote, SkippedLines, SourceFormat, StrayQuotes,
};

use super::What;

/// The study's answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyAnswer<T> {
    /// What was found.
    Found(T),
    /// What went wrong.
    Error {
        /// `missing`, the name of a gRPC code, or nothing.
        kind: String,
        /// What Spark says.
        text: String,
    },
}

/// Files, and how some of them begin.
#[derive(Debug, Deserialize)]
pub(super) struct FilesFound {
    /// Of Spark.
    pub version: String,
    /// Empty ones included.
    pub n_files: u64,
    /// Whether there are more than were listed.
    pub has_more: bool,
    /// Of all of them.
    pub bytes: u64,
    /// Of names, sizes and times.
    pub sha256: String,
    /// The columns that the names of directories have, with Spark's types.
    pub partitions: Vec<(String, String)>,
    /// Whether it is a Delta table, of which not every file is a part.
    pub is_delta: bool,
    /// Different endings of files that are not empty.
    pub endings: Vec<String>,
    /// Files that are not empty.
    #[serde(default)]
    pub n_filled: u64,
    /// How some of these begin, the first one first.
    #[serde(default)]
    pub heads: Vec<HeadFound>,
    /// What the files say themselves.
    #[serde(default)]
    pub parquet: Option<ParquetFound>,
}

/// The beginning of a file.
#[derive(Debug, Deserialize)]
pub(super) struct HeadFound {
    /// The file.
    pub name: String,
    /// Of the file, as it is stored.
    pub length: u64,
    /// In base64, decompressed.
    pub bytes: String,
    /// Whether that is all.
    pub is_whole: bool,
}

/// Parquet files.
#[derive(Debug, Deserialize)]
pub(super) struct ParquetFound {
    /// With Spark's types, those of directories last.
    pub columns: Vec<(String, String)>,
    /// Of all files.
    pub n_rows: u64,
}

/// A table or view.
#[derive(Debug, Deserialize)]
pub(super) struct TableFound {
    /// Of Spark.
    pub version: String,
    /// With Spark's types.
    pub columns: Vec<(String, String)>,
    /// As the planner knows; 0 if it does not.
    pub bytes: u64,
    /// Counted, or estimated.
    pub n_rows: u64,
    /// Whether it is an estimate.
    pub is_estimate: bool,
    /// The columns that it is partitioned by.
    pub partitions: Vec<String>,
    /// `VIEW`, `MANAGED`, …
    pub r#type: String,
    /// Of what identifies it.
    pub sha256: String,
}

/// What a dataset has.
pub(super) struct Contents {
    /// Of what identifies it.
    pub sha256: String,
    /// Of the source.
    pub bytes: u64,
    /// Counted, or estimated.
    pub row_count: u64,
    /// In their order.
    pub columns: Vec<Column>,
}

/// What was asked.
pub(super) struct StudyQuestion<'a> {
    /// The server, without anything secret.
    pub endpoint: String,
    /// What is to be registered.
    pub what: &'a What,
    /// How it is to be read.
    pub options: &'a IngestOptions,
}

impl StudyQuestion<'_> {
    /// Returns a dialect of what is no text.
    pub(super) fn dialect(&self, format: SourceFormat, reasons: Vec<String>) -> Dialect {
        Dialect {
            format,
            sheet: None,
            encoding: "utf-8".to_owned(),
            delimiter: None,
            quote: None,
            escape: None,
            header: false,
            header_line: None,
            reasons,
            told: self.options.given(),
            damage: None,
            doubt: None,
        }
    }

    /// Returns the dataset that stays there.
    pub(super) fn dataset(&self, remote: Remote, contents: Contents, dialect: Dialect) -> Dataset {
        let Contents { sha256, bytes, row_count, columns } = contents;
        Dataset {
            location: Location::Cluster { remote: Box::new(remote) },
            source: self.what.shown_name().to_owned(),
            origin: None,
            sha256,
            bytes,
            row_count,
            columns,
            dialect,
            padded_rows: 0,
            surplus_rows: 0,
            set_aside: SkippedLines::default(),
            stray_quotes: StrayQuotes::default(),
            notes: Vec::new(),
            unclear_total: None,
            side_by_side: Vec::new(),
            doubts: Vec::new(),
            files: Vec::new(),
            checksums: None,
            ingested_at: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }
}
