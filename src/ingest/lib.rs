//! CSV and Parquet files to datasets, and queries that Parquet answers without Python.
//!
//! The path of a file: `source` opens it, through `compression` if necessary, and returns windows and
//! slices. `encoding` detects the `charset` of its text, by `language_fit` where necessary; `wrap` what
//! is wrapped around its rows; `dialect` how they are split into cells; `side_by_side`, `header`,
//! `header::tables`, `table_bounds` and `multi_row_header` the position of the table and the names of
//! its columns; `totals` and `subtotals` which of its records are not rows. `pass` parses slices
//! concurrently with `slice`: `records` finds the cells, `records::swallowed` the rows that a stray
//! quote has joined, `non_rows` removes what is not a row, `builder` builds columns by the rules of
//! `parse`, `local_dates` and `number`, `type_evidence` records what was seen, `outlier_values` what is
//! unusual, and `type_inference` decides. `write` writes row groups. `ingest` decides whether a second
//! pass is necessary, and names the files on success. A Parquet file takes the path of `from_parquet`
//! instead.
//!
//! Reading a dataset: `scan` answers queries, `find` searches, `head` returns the first rows, `footer`
//! the catalog entry, `mask` copies a dataset without the values of some columns, `value_counts` counts
//! the rows with given values, `csv` writes a dataset as CSV for code that runs elsewhere,
//! `pandas_reader` returns the Python line that reads it, `from_csv` reads what such code has saved,
//! and `read_spec` describes how another program reads texts as an ingest would.

mod amount;
mod archive;
mod arrow_file;
mod non_rows;
mod builder;
mod value_counts;
mod charset;
mod from_parquet;
mod compression;
mod csv;
mod type_inference;
mod database;
mod dialect;
mod enclosed_table;
mod encoding;
mod table_bounds;
mod table_place;
pub mod families;
mod family;
mod fields;
mod filter;
mod fixed_width;
mod find;
mod footer;
mod foreign;
mod read_flags;
mod head;
mod headings;
mod header;
mod type_evidence;
mod ingest;
mod read_spec;
mod json;
mod multi_row_header;
mod leading_text;
mod language_fit;
mod line_map;
mod local_dates;
mod null_markers;
mod delimiter_search;
mod mask;
mod notes;
mod number;
mod outlier_values;
mod shared_values;
mod parse;
mod pass;
mod python_json;
mod quotes;
mod thresholds;
mod pandas_reader;
mod records;
mod repairs;
mod sample;
mod from_csv;
mod scan;
mod shape;
mod side_by_side;
mod slice;
mod sniff;
mod source;
mod spool;
mod spool_notes;
mod text_encoding;
mod stored;
mod subtotals;
mod syntax;
mod requested_types;
mod short_rows;
mod totals;
mod trailing_text;
mod workbook;
mod wrap;
mod counts;
mod record_shapes;
mod options;
mod dataset_files;
mod cell_names;
mod refusal;
mod write;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::AtomicBool;

pub use crate::dataset_files::DatasetFiles;
pub use crate::options::Comments;
pub use crate::options::Family;
pub use crate::options::IngestOptions;
pub use crate::refusal::check_cancelled;
pub use crate::stored::is_whole;
pub use archive::{Archive, Entry, only_member};
pub use csv::csv_of;
pub(crate) use family::most_common;
pub use family::{FILE_COLUMN, Opened, Union, union};
pub use footer::{dataset_of, why_not};
pub use foreign::{DataCheck, NoData, Tables, look_of_data, tables};
pub use from_csv::table_of_csv;
pub use head::{head, rows};
pub use ingest::{files_at_once, ingest, inspect};
pub use line_map::{
    is_same_file, line_runs, source_cells, source_file, source_lines, source_trouble, why_no_lines,
};
pub use local_dates::DateOrder;
pub use mask::{TOKEN, masked, masked_schema, without_quotations};
pub use number::DecimalMark;
pub use pandas_reader::reading_recipe;
pub use read_spec::{HeadOfFile, Instructions, instructions};
pub use requested_types::RequestedType;
pub use scan::answer;
pub use source::{Awaited, Source, head_of, sha256_file};
pub use syntax::{Escape, Quote, is_delimiter};
pub use table_place::TablePlace;
pub use value_counts::{Needles, ValueCounts, add_to_census, moment, number_key};
pub use write::sync_dir;

use csv_agent_types::limits::DATASET_NAME_BYTES_MAX;

/// Reading progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the source read so far. Reading restarts at 0 after decompression and in a second pass.
    pub bytes: u64,
    /// Total bytes of the source.
    pub bytes_total: u64,
    /// Rows so far.
    pub rows: u64,
}

/// Observes the reading, and can cancel it.
struct Watch<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
    cancelled: &'a AtomicBool,
}

/// Returns the name of a dataset made from a file: `066_IBM_HR.csv` becomes `066_IBM_HR`, and
/// `Sales 2024.csv` becomes `Sales_2024`.
///
/// Letters, digits, `_` and `-` are kept; extensions such as `.csv.gz` are removed; everything else between
/// two letters or digits becomes one `_`. The name begins and ends with a letter or a digit.
pub fn name_of(path: &Path) -> String {
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_kept = |it: char| matches!(it, '_' | '-');
    let (mut name, mut between) = (String::new(), String::new());
    for char in stem_of(&file_name).chars() {
        if !char.is_alphanumeric() {
            between.push(char);
            continue;
        }
        if !name.is_empty() {
            name.push_str(if between.chars().all(is_kept) { &between } else { "_" });
        }
        between.clear();
        name.push(char);
    }
    name.truncate(name.floor_char_boundary(DATASET_NAME_BYTES_MAX));
    name.truncate(name.trim_end_matches(is_kept).len());
    if name.is_empty() { "data".to_owned() } else { name }
}

/// Returns a file name without extensions such as `.csv.gz`.
pub fn stem_of(file_name: &str) -> &str {
    const ENDINGS: [&str; 27] = [
        "gz", "zst", "zip", "bz2", "csv", "tsv", "tab", "txt", "parquet", "pq", "psv", "tar",
        "tgz", "tbz2", "xlsx", "xlsm", "xlsb", "xls", "ods", "json", "jsonl", "ndjson", "db",
        "sqlite", "sqlite3", "arrow", "feather",
    ];
    let mut stem = file_name;
    while let Some((before, ending)) = stem.rsplit_once('.')
        && ENDINGS.iter().any(|it| it.eq_ignore_ascii_case(ending))
    {
        stem = before;
    }
    stem
}
