//! The user's options for a file; everything else is detected.

use std::collections::BTreeMap;
use std::sync::Arc;

use csv_agent_types::catalog::ColumnSpan;
use csv_agent_types::limits::CSV_BYTES_MAX;

use crate::local_dates::DateOrder;

use crate::number::DecimalMark;
use crate::requested_types::RequestedType;
use crate::spool_notes::SpoolNotes;
use crate::syntax::{Escape, Quote};
use crate::type_inference::ColumnType;

/// The user's options for a file; everything else is detected.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct IngestOptions {
    /// The source's path relative to the session's directory, for the catalog.
    pub origin: Option<String>,
    /// The only sheet, table or member of the source, for the catalog.
    pub only_part: Option<String>,
    /// The number of a further table of its file, for the catalog.
    pub table_number: Option<usize>,
    /// The delimiter: a few characters.
    pub delimiter: Option<String>,
    /// The quote around cells.
    pub quote: Option<Quote>,
    /// The escape of a quote within quotes.
    pub escape: Option<Escape>,
    /// A label of the WHATWG list: `utf-8`, `latin1`, `shift_jis`, …
    pub encoding: Option<String>,
    /// Whether the first record contains names; `Some(false)` is `--no-header`.
    pub header: Option<bool>,
    /// Lines before the table, which begins with the next record.
    pub skip_lines: Option<u64>,
    /// Whether these lines belong to other tables.
    pub is_further: bool,
    /// Every possible separate table counts as one and is read.
    pub all_tables: bool,
    /// The columns of the file that contain the table.
    pub columns: Option<ColumnSpan>,
    /// The comment marker.
    pub comments: Comments,
    /// The markers of a missing value in every column, instead of the usual ones.
    pub nulls: Option<Vec<String>>,
    /// Requested types of columns, by name; `*` matches the columns with that meaning.
    pub dtypes: Vec<(String, RequestedType)>,
    /// Whether the file may lack such columns.
    pub may_lack: bool,
    /// The order of ambiguous dates, such as `01/02/2024`.
    pub date_order: Option<DateOrder>,
    /// The decimal mark of numbers, in every column.
    pub decimal: Option<DecimalMark>,
    /// Limit on the bytes of the source.
    pub bytes_max: u64,
    /// Reject a file with rows that are shorter or longer than the others, or with bytes that are
    /// invalid in its encoding.
    pub strict: bool,
    /// The file is unedited CSV from a program: the first record contains the names and every other one
    /// is a row, cells are separated by `,` and quoted with `"`, and numbers, dates and truth values
    /// have the form that programs write. Anything else is text.
    pub is_plain: bool,
    /// Number of files read concurrently, which share the memory limit of one.
    pub n_at_once: usize,
    /// The file is one of several that become one dataset: the column types that the others decided.
    pub family: Option<Arc<Family>>,
    /// The sheet or table to read, in a file with several.
    pub table: Option<String>,
    /// Values of nested objects become columns.
    pub flatten: bool,
    /// Width of each column of a text without delimiters, in characters; empty where it has delimiters.
    pub widths: Vec<usize>,
    /// The dataset is removed when the command ends.
    pub is_temporary: bool,
    /// The only statement that will read the dataset: columns that it does not name are not stored.
    pub statement: Option<Arc<str>>,
    /// The text was written from the rows of another format, with these notes.
    pub written: Option<Arc<SpoolNotes>>,
}

impl Default for IngestOptions {
    fn default() -> Self {
        IngestOptions {
            origin: None,
            only_part: None,
            table_number: None,
            delimiter: None,
            quote: None,
            escape: None,
            encoding: None,
            header: None,
            skip_lines: None,
            is_further: false,
            all_tables: false,
            columns: None,
            comments: Comments::FindOut,
            nulls: None,
            dtypes: Vec::new(),
            may_lack: false,
            date_order: None,
            decimal: None,
            bytes_max: CSV_BYTES_MAX,
            strict: false,
            is_plain: false,
            n_at_once: 1,
            family: None,
            table: None,
            flatten: false,
            widths: Vec::new(),
            is_temporary: false,
            statement: None,
            written: None,
        }
    }
}

impl IngestOptions {
    /// Returns which of these columns to store: at least one.
    pub fn stored<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<bool> {
        // Other names may be written in several ways.
        let is_plain = |it: &str| it.is_ascii() && !it.contains(['"', '.']);
        let statement = self.statement.as_ref().map(|it| it.to_lowercase());
        let is_stored = |name: &str| {
            let is_named = |it: &String| it.contains(&name.to_lowercase());
            !is_plain(name) || statement.as_ref().is_none_or(is_named)
        };
        let mut stored: Vec<bool> = names.map(is_stored).collect();
        if let (false, Some(first)) = (stored.contains(&true), stored.first_mut()) {
            *first = true;
        }
        stored
    }

    /// Returns whether a program wrote the table, so that every record below its names is a row.
    pub(crate) fn is_table(&self) -> bool {
        self.is_plain || self.written.as_ref().is_some_and(|it| it.is_table)
    }
}

/// How to read columns, as decided by the other files of the family, by column name.
#[derive(Debug, Clone, Default)]
pub struct Family(pub(crate) BTreeMap<String, ColumnType>);

impl Family {
    /// Replaces the decision for the file alone with the family's decision.
    pub(crate) fn decide(&self, readings: &mut [ColumnType], names: &[String]) {
        for (reading, name) in readings.iter_mut().zip(names) {
            if let Some(decided) = self.0.get(name) {
                reading.clone_from(decided);
            }
        }
    }
}

/// The user's setting for comment lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Comments {
    /// Not set.
    #[default]
    FindOut,
    /// The file has none.
    None,
    /// They begin with this.
    Begin(char),
}
