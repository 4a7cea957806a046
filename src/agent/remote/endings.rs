//! File name endings, which indicate the format before a file is opened.

/// Text that may be a table.
pub(super) const TEXT: &[&str] = &[".csv", ".tsv", ".tab", ".txt"];
pub(super) const PARQUET: &[&str] = &[".parquet", ".parq", ".pq"];
/// Appended to the ending of a compressed file.
pub(super) const COMPRESSED: &[&str] = &[".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate"];
/// Prefixes of endings that are neither text nor Parquet.
pub(super) const OTHERS: &[&str] = &[".json", ".orc", ".avro", ".xls", ".zip", ".tar", ".arrow"];
