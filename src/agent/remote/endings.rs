//! Endings of file names, which say what is in files before these are looked at.

/// Of text that may be a table.
pub(super) const TEXT: &[&str] = &[".csv", ".tsv", ".tab", ".txt"];
/// Of Parquet.
pub(super) const PARQUET: &[&str] = &[".parquet", ".parq", ".pq"];
/// What stands behind the ending of a file that is compressed.
pub(super) const COMPRESSED: &[&str] = &[".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate"];
/// How endings begin of what is neither text nor Parquet.
pub(super) const OTHERS: &[&str] = &[".json", ".orc", ".avro", ".xls", ".zip", ".tar", ".arrow"];
