//! Datasets: the typed Parquet tables of a session, and the queries on them that need no Python.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::dataset_names::{is_dataset_name, is_same, meant};
use crate::thresholds::{Rated, Ratings};

/// The type of a column, determined from all of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum DType {
    /// `true` or `false`.
    Bool,
    /// A 64-bit integer.
    Int64,
    /// A 64-bit float.
    Float64,
    /// A calendar date.
    Date,
    /// A date and time without a zone, to the microsecond.
    Timestamp,
    /// An instant: a date and time with an offset, stored in UTC.
    TimestampUtc,
    /// A time of day.
    Time,
    /// Text, exactly as in the file.
    String,
}

impl DType {
    /// Every type, in the order of the help text.
    pub const ALL: [DType; 8] = [
        DType::String,
        DType::Int64,
        DType::Float64,
        DType::Bool,
        DType::Date,
        DType::Timestamp,
        DType::TimestampUtc,
        DType::Time,
    ];

    /// Returns the name shown to users and the model.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One column of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Unique within the dataset; the name in the header, except for repairs.
    pub name: String,
    /// Its type.
    pub dtype: DType,
    /// Rows without a value. None when not counted, as for a remote dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nulls: Option<u64>,
    /// How its values were read, and why, where that is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The file's description of it, in records below its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it is text only because its values are ambiguous.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_ambiguous: bool,
    /// The meaning of its values beyond their type, if all of them share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Meaning>,
    /// Whether the file has no name for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_unnamed: bool,
}

/// The meaning of a column's values, whether text or numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Meaning {
    /// Amounts of money.
    Money {
        /// The ISO code of their single currency. None where the user declares them to be money and no
        /// value has a currency.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        currency: Option<String>,
    },
    /// Percentages. As a number, `12.5%` is 12.5.
    Percent,
    /// Words for yes and no.
    YesNo,
}

impl Meaning {
    /// Returns the meaning in words.
    pub fn words(&self) -> String {
        match self {
            // A catalog may be untrusted: only a currency code is shown.
            Meaning::Money { currency: Some(currency) } => {
                let code = currency.chars().filter(char::is_ascii_alphabetic).take(3);
                format!("money in {}", code.collect::<String>())
            }
            Meaning::Money { currency: None } => "money".to_owned(),
            Meaning::Percent => "percent".to_owned(),
            Meaning::YesNo => "yes or no".to_owned(),
        }
    }
}

/// Returns a size in words: `3 rows, 1 column`.
pub fn size_in_words(n_rows: u64, n_columns: usize) -> String {
    let rows = if n_rows == 1 { "row" } else { "rows" };
    let columns = if n_columns == 1 { "column" } else { "columns" };
    format!("{n_rows} {rows}, {n_columns} {columns}")
}

impl Column {
    /// Returns a column without further facts.
    pub fn new(name: impl Into<String>, dtype: DType, nulls: Option<u64>) -> Self {
        Column {
            name: name.into(),
            dtype,
            nulls,
            note: None,
            description: None,
            is_ambiguous: false,
            meaning: None,
            is_unnamed: false,
        }
    }

    /// Returns what a reader of the schema needs beyond name, type and missing values: the meaning of the
    /// values, whether the name is made up, and how they were read.
    pub fn remarks(&self) -> Vec<String> {
        let meaning = self.meaning.as_ref().map(Meaning::words);
        let unnamed = self.is_unnamed.then(|| "no name in the file".to_owned());
        meaning.into_iter().chain(unnamed).chain(self.note.clone()).collect()
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(it: &bool) -> bool {
    !it
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(it: &u64) -> bool {
    *it == 0
}

/// The file type of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceFormat {
    /// Text with a delimiter.
    #[default]
    Text,
    /// Parquet; names and types are in its footer.
    Parquet,
    /// A table in a cluster's catalogue.
    Table,
    /// Several joined files.
    Files,
    /// A sheet of a workbook.
    Sheet,
    /// JSON, as an array of objects or one object per line.
    Json,
    /// A table or view of a database file.
    Database,
    /// Arrow; names and types are in its schema.
    Arrow,
}

impl SourceFormat {
    /// Returns the name of the numbered places that rows come from, if the source has such.
    pub fn place(self) -> Option<&'static str> {
        match self {
            SourceFormat::Text => Some("line"),
            SourceFormat::Sheet => Some("row"),
            SourceFormat::Json => Some("object"),
            SourceFormat::Database
            | SourceFormat::Parquet
            | SourceFormat::Arrow
            | SourceFormat::Table
            | SourceFormat::Files => None,
        }
    }
}

/// The location of a sheet's table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SheetPlace {
    /// The name of the sheet.
    pub name: String,
    /// The sheet's column that is the dataset's first; A is 0.
    pub first_column: u64,
}

/// The columns of a table within a file or a sheet; the first is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnSpan {
    /// The first column.
    pub first: u64,
    /// The last column.
    pub last: u64,
}

impl std::fmt::Display for ColumnSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last {
            return write!(f, "{}", self.first);
        }
        write!(f, "{}-{}", self.first, self.last)
    }
}

/// How the bytes of the source were read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    /// The file type of the source.
    #[serde(default)]
    pub format: SourceFormat,
    /// The location in the source, if that is a workbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<SheetPlace>,
    /// Name in the WHATWG list, lower case: `utf-8`, `windows-1252`, …
    pub encoding: String,
    /// A few characters, usually one, or `None` for a file of one column or a Parquet file.
    pub delimiter: Option<String>,
    /// The quote character, when any cell was quoted.
    pub quote: Option<char>,
    /// The escape before a quote within quotes, where quotes are not doubled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escape: Option<char>,
    /// Whether a record contains the column names.
    pub header: bool,
    /// The line of that record; the first is 1.
    #[serde(default)]
    pub header_line: Option<u64>,
    /// One sentence for each decision that a user might question.
    pub reasons: Vec<String>,
    /// The user's options, as flags: `--delimiter ;`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// Bytes that are not valid in the encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<Damage>,
    /// Why the encoding may be another one, for the user to check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// Bytes of the source that are not valid in its encoding; U+FFFD replaces them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Number of U+FFFD characters.
    pub n_replaced: u64,
    /// The line of the first one; the first line is 1.
    pub line: u64,
    /// Its offset in the file, in bytes.
    pub offset: u64,
}

/// Counts of the source's records that are not rows of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedLines {
    /// Before the table.
    pub preamble: u64,
    /// Comment lines, anywhere.
    pub comments: u64,
    /// Ruled lines between rows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rules: u64,
    /// Headers repeated among the rows.
    pub repeated_headers: u64,
    /// Notes below the table.
    pub footer: u64,
    /// Records of tables below the first one.
    #[serde(default)]
    pub other_tables: u64,
    /// The line on which the next table begins; 0 when there is none. Not set for several files.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub next_table: u64,
    /// Totals below the table.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub totals: u64,
}

impl SkippedLines {
    /// Returns the total.
    pub fn sum(&self) -> u64 {
        let SkippedLines { preamble, comments, rules, repeated_headers, footer, .. } = self;
        let SkippedLines { other_tables, totals, .. } = self;
        preamble + comments + rules + repeated_headers + footer + other_tables + totals
    }

    /// Returns the counts that are not zero, with the singular and the plural of each kind.
    pub fn counts(&self) -> Vec<(u64, &'static str, &'static str)> {
        let SkippedLines { preamble, comments, rules, repeated_headers, footer, .. } = *self;
        let SkippedLines { other_tables, totals, .. } = *self;
        let mut kinds = vec![
            (preamble, "preamble line", "preamble lines"),
            (comments, "comment line", "comment lines"),
            (rules, "border line of a table", "border lines of a table"),
            (repeated_headers, "repeated header", "repeated headers"),
            (footer, "footer line", "footer lines"),
            (other_tables, "line of another table", "lines of other tables"),
            (totals, "total", "totals"),
        ];
        kinds.retain(|it| 0 < it.0);
        kinds
    }

    /// Returns the same in words.
    pub fn words(&self) -> Vec<String> {
        let counts = self.counts().into_iter();
        counts.map(|(n, one, many)| format!("{n} {}", if n == 1 { one } else { many })).collect()
    }

    /// Adds the counts of another part of the source.
    pub fn add(&mut self, other: SkippedLines) {
        self.preamble += other.preamble;
        self.comments += other.comments;
        self.rules += other.rules;
        self.repeated_headers += other.repeated_headers;
        self.footer += other.footer;
        self.other_tables += other.other_tables;
        self.totals += other.totals;
    }
}

/// Quotes of the source that do not enclose a cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrayQuotes {
    /// Quotes that open a cell and are never closed. They are read as text.
    #[serde(default)]
    pub unclosed: u64,
    /// Records joined by such a quote, which were read line by line.
    #[serde(default)]
    pub split: u64,
    /// Quoted cells that remain one cell, though their lines could be rows.
    #[serde(default)]
    pub doubtful: u64,
    /// The first line with any of these; 0 when there are none.
    #[serde(default)]
    pub line: u64,
}

impl StrayQuotes {
    /// Returns whether there are none.
    pub fn is_none(&self) -> bool {
        *self == StrayQuotes::default()
    }

    /// Returns the sentence for the user, if there are any.
    pub fn sentence(&self) -> Option<String> {
        let StrayQuotes { unclosed, split, doubtful, line } = *self;
        let counted = |n: u64, one: &str, many: &str| {
            (0 < n).then(|| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") })
        };
        let sentences = [
            counted(
                unclosed,
                "quote opens a cell and is never closed, so it is read as text",
                "quotes open a cell and are never closed, so they are read as text",
            ),
            counted(
                split,
                "of them would have swallowed the rows below, which are read as rows",
                "of them would have swallowed the rows below, which are read as rows",
            ),
            counted(
                doubtful,
                "quoted cell has lines that could be rows; it is kept as one cell",
                "quoted cells have lines that could be rows; they are kept as cells",
            ),
        ];
        let sentences: Vec<String> = sentences.into_iter().flatten().collect();
        let kinds = sentences.join(", ");
        (!self.is_none()).then(|| format!("{kinds}; the first is on line {line}"))
    }
}

/// The location of a dataset's rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Location {
    /// On this machine.
    Here {
        /// The Parquet file, relative to the session directory.
        path: PathBuf,
    },
    /// On a Spark cluster.
    Cluster {
        /// How Spark reads them.
        remote: Box<Remote>,
    },
}

impl Default for Location {
    fn default() -> Self {
        Location::Here { path: PathBuf::new() }
    }
}

/// A dataset on a Spark cluster, which is not copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// The server, without credentials: `sc://host:15002/;use_ssl=true`.
    pub endpoint: String,
    /// The server's version of Spark.
    pub version: String,
    /// The source that Spark reads.
    pub source: SparkSource,
    /// How to make each column of the dataset from the source, in column order.
    pub readings: Vec<SparkReading>,
    /// Whether the row count is an estimate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_estimate: bool,
    /// The number of files, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// The partition columns, whose values are in directory names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitioned_by: Vec<String>,
}

/// The source that Spark reads. The relay lets the worker read this and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SparkSource {
    /// A table or view of the catalogue.
    Table {
        /// In SQL syntax: `db.flights`.
        name: String,
    },
    /// Files that the cluster can read.
    Files {
        /// Spark's name of the source: `csv`, `parquet`.
        format: String,
        /// The columns as read, in Spark DDL; empty where the files have a schema.
        schema: String,
        /// Options of the source, by Spark's names.
        options: BTreeMap<String, String>,
        /// The user's paths; Spark expands globs.
        paths: Vec<String>,
    },
}

/// How to make a column's values from what Spark reads.
///
/// Text that does not fit its type ends the job that needs it: no value is lost silently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SparkReading {
    /// Unchanged.
    Same,
    /// Parsed from text: cells that mean a missing value become null.
    Text {
        /// Such cells, verbatim.
        nulls: Vec<String>,
        /// The target of the others.
        value: ValueOfText,
    },
}

/// The value parsed from text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ValueOfText {
    /// Text.
    String,
    /// An integer or a float, according to the column's type.
    Number {
        /// The decimal separator.
        decimal: char,
        /// The thousands separator, if any. A blank matches every kind of blank, an apostrophe every kind of
        /// apostrophe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thousands: Option<char>,
    },
    /// A boolean.
    Bool {
        /// Words for true, lower case.
        yes: Vec<String>,
        /// Words for false, lower case.
        no: Vec<String>,
    },
    /// A date, a time without a zone, or an instant, according to the column's type.
    Moment {
        /// In Spark's letters `y M d H h m s S a`: `d/M/yyyy`, `MMM d, yyyy`, `d.M.yy[ H:mm[:ss]]`. One
        /// letter or two make a difference only for years; two-digit years are 1969 to 2068. The first
        /// pattern that matches applies. Empty for ISO 8601, as programs write it.
        patterns: Vec<String>,
    },
}

/// A table of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// The location of its rows.
    #[serde(flatten)]
    pub location: Location,
    /// The file it came from, as the user named it; `-` for stdin. For a remote dataset, the source that
    /// Spark reads.
    pub source: String,
    /// Its path relative to the session's directory, so that the file is recognised from any working
    /// directory. None for a source without a path, and in entries of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The sheet, table or member that was the only one of its file, so that the origin does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_part: Option<String>,
    /// The number in the name of a further table of its files: 2 for `NAME_2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_number: Option<usize>,
    /// SHA-256 of the source, lower-case hexadecimal. For a remote dataset, over the names, sizes and times
    /// of its files.
    pub sha256: String,
    /// Size of the source.
    pub bytes: u64,
    /// Rows of the table. An estimate for some remote datasets: see [`Dataset::is_estimate`].
    pub row_count: u64,
    /// In the order of the file.
    pub columns: Vec<Column>,
    /// How the source was read.
    pub dialect: Dialect,
    /// Rows with too few cells, padded with nulls.
    pub padded_rows: u64,
    /// Rows with more cells than columns; the surplus is in the column `_extra`.
    pub surplus_rows: u64,
    /// Lines that are not rows.
    #[serde(default)]
    pub set_aside: SkippedLines,
    /// Quotes that do not enclose a cell.
    #[serde(default, skip_serializing_if = "StrayQuotes::is_none")]
    pub stray_quotes: StrayQuotes,
    /// The text above and below the table in the file, one per line, within a limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The line of a last row that is labelled a total and was kept, since its numbers are not the sums of
    /// their columns; the first is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear_total: Option<u64>,
    /// The columns of each of several tables side by side, this one first. Empty for a single table, and
    /// for several that were read as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_by_side: Vec<ColumnSpan>,
    /// Other doubts about how it was read, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The joined files, in the order of their rows; empty for a dataset from one file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SourceFile>,
    /// Checksums of the written files; None for a remote dataset, and in entries of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<Checksums>,
    /// RFC 3339, UTC, to the millisecond; of older sessions, to the second.
    pub ingested_at: String,
}

/// CRC-32 of a dataset's files, to detect damage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksums {
    /// Of the Parquet file.
    pub table: u32,
    /// Modification time of that file, RFC 3339, UTC, at its file system's resolution. A different time
    /// means that it was changed or copied.
    pub modified: String,
    /// Of the line map; None where the dataset has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
}

/// A file of a joined dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// Its path, as named by the user or found.
    pub source: String,
    /// Its path relative to the session's directory. None in entries of an older version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Its SHA-256, lower-case hexadecimal.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// Its rows.
    pub row_count: u64,
}

impl Dialect {
    /// Returns the dialect of a Parquet file, which describes itself.
    pub fn of_parquet(reasons: Vec<String>) -> Self {
        Dialect {
            format: SourceFormat::Parquet,
            encoding: "utf-8".to_owned(),
            header: true,
            reasons,
            ..Dialect::default()
        }
    }
}

impl Dataset {
    /// Returns why no ingest can have made a catalog entry, if so: its name is used in file names, and its
    /// path is opened.
    pub fn oddity(&self, name: &str) -> Option<String> {
        let shown = name.escape_debug();
        if !is_dataset_name(name) {
            return Some(format!("`{shown}` is not the name of a dataset"));
        }
        let expected = file_of(name);
        match self.path() {
            Some(path) if path.as_os_str() != expected.as_os_str() => Some(format!(
                "`{shown}` has the path `{}`, not `{}`",
                path.display().to_string().escape_debug(),
                expected.display()
            )),
            _ => None,
        }
    }

    /// Returns the Parquet file, relative to the session directory; None when the rows are on a cluster.
    pub fn path(&self) -> Option<&Path> {
        match &self.location {
            Location::Here { path } => Some(path),
            Location::Cluster { .. } => None,
        }
    }

    /// Returns the Parquet file within a session's directory.
    ///
    /// # Errors
    ///
    /// Fails when the rows are on a cluster, because the caller needs a file.
    pub fn file_in(&self, session_dir: &Path) -> anyhow::Result<PathBuf> {
        match &self.location {
            Location::Here { path } => Ok(session_dir.join(path)),
            Location::Cluster { remote } => {
                bail!(
                    "`{}` has no file on this machine: its rows are at {}",
                    self.source,
                    remote.endpoint
                )
            }
        }
    }

    /// Returns the dataset as seen from another session: its file, if any, is in `session_dir`.
    #[must_use]
    pub fn seen_from(&self, session_dir: &Path) -> Dataset {
        match self.path() {
            Some(path) => self.with_file(session_dir.join(path)),
            None => self.clone(),
        }
    }

    /// Returns the dataset with its rows in another Parquet file.
    #[must_use]
    pub fn with_file(&self, path: PathBuf) -> Dataset {
        Dataset { location: Location::Here { path }, ..self.clone() }
    }

    /// Returns the remote source of the rows; None when they are local.
    pub fn remote(&self) -> Option<&Remote> {
        match &self.location {
            Location::Here { .. } => None,
            Location::Cluster { remote } => Some(remote),
        }
    }

    /// Returns whether its row count is an estimate.
    pub fn is_estimate(&self) -> bool {
        self.remote().is_some_and(|it| it.is_estimate)
    }

    /// Returns its origin down to the part of the file, which stays the same whatever else the file contains.
    pub fn whole_origin(&self) -> Option<String> {
        let origin = self.origin.clone()?;
        Some(match &self.only_part {
            Some(part) => format!("{origin}/{part}"),
            None => origin,
        })
    }

    /// Returns whether rows were repaired or bytes replaced, which `--strict` forbids.
    pub fn is_repaired(&self) -> bool {
        let n_repaired = self.padded_rows + self.surplus_rows + self.stray_quotes.split;
        0 < n_repaired || self.dialect.damage.is_some()
    }
}

/// Returns the Parquet file of a dataset, relative to the session directory.
pub fn file_of(name: &str) -> PathBuf {
    Path::new("datasets").join(format!("{name}.parquet"))
}

/// The datasets of a session, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Catalog {
    datasets: BTreeMap<String, Dataset>,
}

impl Catalog {
    /// Returns the dataset with this name.
    pub fn get(&self, name: &str) -> Option<&Dataset> {
        self.datasets.get(name)
    }

    /// Returns the name as the session spells it: names that differ only in case are one name, unless an older
    /// version made both.
    pub fn spelled<'a>(&'a self, name: &'a str) -> &'a str {
        if self.datasets.contains_key(name) {
            return name;
        }
        self.names().find(|it| is_same(it, name)).unwrap_or(name)
    }

    /// Returns the dataset that a name in a file of settings means: its own, a short form, or the one that an older
    /// version gave it.
    pub fn meant(&self, name: &str) -> Option<&str> {
        let only = |form: &str| match meant(form, self.names())[..] {
            [name] => Some(name),
            _ => None,
        };
        only(name).or_else(|| only(name.strip_prefix("t_")?))
    }

    /// Returns the dataset with this name in any spelling.
    pub fn alike(&self, name: &str) -> Option<&Dataset> {
        self.get(self.spelled(name))
    }

    /// Returns the datasets, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Dataset)> {
        self.datasets.iter().map(|(name, dataset)| (name.as_str(), dataset))
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.datasets.keys().map(String::as_str)
    }

    /// Returns the number of datasets.
    pub fn len(&self) -> usize {
        self.datasets.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.datasets.is_empty()
    }

    /// Adds a dataset, or replaces the one with this name.
    pub fn insert(&mut self, name: String, dataset: Dataset) {
        self.datasets.insert(name, dataset);
    }

    /// Adds the datasets of another catalog.
    pub fn extend(&mut self, other: Catalog) {
        self.datasets.extend(other.datasets);
    }

    /// Removes a dataset and returns it.
    pub fn remove(&mut self, name: &str) -> Option<Dataset> {
        self.datasets.remove(name)
    }

    /// Returns the local datasets.
    #[must_use]
    pub fn here(&self) -> Catalog {
        self.filtered(|name| self.get(name).is_some_and(|it| it.remote().is_none()))
    }

    /// Returns the datasets on a cluster, sorted by name.
    pub fn remote(&self) -> impl Iterator<Item = (&str, &Remote)> {
        self.iter().filter_map(|(name, dataset)| Some((name, dataset.remote()?)))
    }

    /// Returns those of these datasets that were ingested again after a moment, in RFC 3339 and UTC.
    pub fn newer<'a>(&self, names: &'a [String], moment: &str) -> Vec<&'a str> {
        // Older sessions have the second only.
        const SECOND: usize = "2026-01-01T00:00:00".len();
        let is_later = |it: &str| {
            let has_fraction = it.as_bytes().get(SECOND) == Some(&b'.');
            let shown = |it: &str| {
                let n = if has_fraction { it.len() } else { SECOND };
                it.get(..n).unwrap_or(it).trim_end_matches('Z').to_owned()
            };
            shown(moment) < shown(it)
        };
        let is_newer =
            |name: &&'a String| self.get(name).is_some_and(|it| is_later(&it.ingested_at));
        names.iter().filter(is_newer).map(String::as_str).collect()
    }

    /// Returns the datasets whose names `keep` accepts.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Catalog {
        let datasets = self.datasets.iter().filter(|(name, _)| keep(name));
        Catalog { datasets: datasets.map(|(name, it)| (name.clone(), it.clone())).collect() }
    }
}

/// A query on a dataset's Parquet file that needs no Python.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// Whether the file exists and is complete, judged by its two ends.
    Check {
        /// Relative to the session directory.
        path: PathBuf,
    },
    /// The columns in which some cell equals a value.
    FindValue {
        /// Relative to the session directory.
        path: PathBuf,
        /// As typed by the user: `7`, `7.0`, `2013-01-01`, `true`, or text.
        value: String,
    },
    /// The columns of several datasets in which some cell equals a value.
    FindValueIn {
        /// The datasets, each with its file relative to the session directory.
        datasets: Vec<(String, PathBuf)>,
        /// As for one dataset.
        value: String,
    },
    /// Whether the file exists and is complete, and how many values its columns share with others.
    Overlap {
        /// Relative to the session directory.
        path: PathBuf,
        /// The columns to compare.
        likenesses: Vec<Likeness>,
    },
    /// How many values of a column are good, worth a warning, or bad.
    Rate {
        /// Relative to the session directory.
        path: PathBuf,
        /// The column.
        column: String,
        /// The ranges.
        ratings: Ratings,
    },
}

/// The result of a [`Query`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Facts {
    /// The result of [`Query::Check`].
    Whole,
    /// The result of [`Query::FindValue`], in column order; may be empty.
    Matches(Vec<ValueMatch>),
    /// The result of [`Query::FindValueIn`].
    MatchesIn {
        /// The datasets that contain the value, each with its columns.
        found: Vec<(String, Vec<ValueMatch>)>,
        /// Number of datasets not searched, because time ran out or enough were found.
        n_left: usize,
    },
    /// The result of [`Query::Overlap`]: for each likeness, the overlap with each of its columns, where
    /// known.
    Overlaps(Vec<Vec<Option<Overlap>>>),
    /// The result of [`Query::Rate`]; None when the column is not numeric.
    Rated(Option<Rated>),
}

/// A column, and similar columns of other datasets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Likeness {
    /// The column's name.
    pub column: String,
    /// The file of each other dataset, relative to the session directory, with the name of its column.
    pub others: Vec<(PathBuf, String)>,
}

/// Counts of distinct values in two columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// In the first.
    pub n_here: usize,
    /// In the second.
    pub n_there: usize,
    /// In both.
    pub n_both: usize,
    /// Whether all rows were read.
    pub is_whole: bool,
}

/// A column that contains a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueMatch {
    /// The column's name.
    pub column: String,
    /// The column's type.
    pub dtype: DType,
    /// Rows that contain it.
    pub count: u64,
}
