//! What the user said about a file; everything else is found out.

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

/// What the user said about the file; everything else is found out.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct IngestOptions {
    /// Where the source is from the session's directory, for the catalog.
    pub origin: Option<String>,
    /// What separates cells: a few characters.
    pub delimiter: Option<String>,
    /// What cells are quoted with.
    pub quote: Option<Quote>,
    /// How a quote is written within quotes.
    pub escape: Option<Escape>,
    /// A label of the WHATWG list: `utf-8`, `latin1`, `shift_jis`, …
    pub encoding: Option<String>,
    /// Whether the first record holds names; `Some(false)` is `--no-header`.
    pub header: Option<bool>,
    /// Lines before the table, which then begins with the next record.
    pub skip_lines: Option<u64>,
    /// Whether these lines are of other tables.
    pub is_further: bool,
    /// What may be a table of its own, is one: each is read.
    pub all_tables: bool,
    /// The columns of the file that the table lies in.
    pub columns: Option<ColumnSpan>,
    /// What begins a comment line.
    pub comments: Comments,
    /// What stands for a missing value, in every column, in place of the usual markers.
    pub nulls: Option<Vec<String>>,
    /// What columns are to be, by name; `*` names those that are known as that.
    pub dtypes: Vec<(String, RequestedType)>,
    /// Whether the file may lack such columns.
    pub may_lack: bool,
    /// Of days that can be read in two ways, such as `01/02/2024`.
    pub date_order: Option<DateOrder>,
    /// What precedes the fraction of numbers, in every column.
    pub decimal: Option<DecimalMark>,
    /// Bytes of the source.
    pub bytes_max: u64,
    /// Refuse a file with rows that are shorter or longer than the others, or with bytes that are no
    /// text of its encoding.
    pub strict: bool,
    /// The file is CSV as programs write it, and nobody has edited it: the first record has the names
    /// and every other one is a row, cells are separated by `,` and quoted with `"`, and numbers, days and
    /// truth values are written as programs write them. Anything else is text.
    pub is_plain: bool,
    /// Files that are read at the same time, and share the memory that one would take.
    pub n_at_once: usize,
    /// The file is one of several that become one dataset: what the others say of its columns.
    pub family: Option<Arc<Family>>,
    /// The sheet or table to read, of a file that has several.
    pub table: Option<String>,
    /// Values of nested objects are columns.
    pub flatten: bool,
    /// Letters of each column of a text without delimiters; none where it has some.
    pub widths: Vec<usize>,
    /// The text was written of rows of something else, of which this is known.
    pub written: Option<Arc<SpoolNotes>>,
}

impl Default for IngestOptions {
    fn default() -> Self {
        IngestOptions {
            origin: None,
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
            written: None,
        }
    }
}

impl IngestOptions {
    /// Returns whether a program wrote the table, so that below its names every record is a row.
    pub(crate) fn is_table(&self) -> bool {
        self.is_plain || self.written.as_ref().is_some_and(|it| it.is_table)
    }
}

/// How columns of a file are read since other files of its family say so, by their names.
#[derive(Debug, Clone, Default)]
pub struct Family(pub(crate) BTreeMap<String, ColumnType>);

impl Family {
    /// Puts what the family says in the place of what the file alone says.
    pub(crate) fn decide(&self, readings: &mut [ColumnType], names: &[String]) {
        for (reading, name) in readings.iter_mut().zip(names) {
            if let Some(decided) = self.0.get(name) {
                reading.clone_from(decided);
            }
        }
    }
}

/// What the user said of comment lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Comments {
    /// Nothing.
    #[default]
    FindOut,
    /// There are none.
    None,
    /// They begin with this.
    Begin(char),
}
