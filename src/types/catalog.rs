//! Datasets: the typed Parquet tables of a session, and what can be asked of them without Python.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use serde::{Deserialize, Serialize};

use crate::limits::DATASET_NAME_BYTES_MAX;
use crate::thresholds::{Rated, Ratings};

/// The type of a column, decided over all of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DType {
    /// `true` or `false`.
    Bool,
    /// A whole number of 64 bits.
    Int64,
    /// A number of 64 bits with a fraction or an exponent.
    Float64,
    /// A calendar day.
    Date,
    /// A day and a time of day without a zone, to the microsecond.
    Timestamp,
    /// An instant: a day and a time of day with an offset, kept in UTC.
    TimestampUtc,
    /// A time of day.
    Time,
    /// Text, exactly as it stood in the file.
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

    /// Returns the name that users and the model read.
    pub fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::Int64 => "int64",
            DType::Float64 => "float64",
            DType::Date => "date",
            DType::Timestamp => "timestamp",
            DType::TimestampUtc => "timestamp_utc",
            DType::Time => "time",
            DType::String => "string",
        }
    }
}

/// One column of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Unique within the dataset, as the header has it apart from repairs.
    pub name: String,
    /// Its type.
    pub dtype: DType,
    /// Rows without a value, where they were counted: of a remote dataset nobody counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nulls: Option<u64>,
    /// How its values were read, and why, where that is no matter of course.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What the file says of it in records below its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Text for no other reason than that its values can be read in two ways.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_ambiguous: bool,
    /// What its values are beyond their type, if all of them are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meaning: Option<Meaning>,
    /// The file has no name for it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_unnamed: bool,
}

/// What the values of a column are, be they text or numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Meaning {
    /// Amounts of money.
    Money {
        /// Their one currency, by its ISO code; none where the user says that they are money and no value
        /// has a currency.
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
            // A catalog may have been made by somebody else: nothing but a code is shown.
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
    /// Returns a column of which nothing more is known.
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

    /// Returns what a reader of the schema must know beside name, type and missing values: what the values
    /// mean, whether the name is made up, and how they were read.
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

/// What kind of file a source is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceFormat {
    /// Text with a delimiter.
    #[default]
    Text,
    /// Parquet, whose footer has names and types.
    Parquet,
    /// A table of a cluster's catalogue.
    Table,
    /// Several files, which were joined.
    Files,
    /// A sheet of a workbook.
    Sheet,
    /// JSON, an array of objects or one a line.
    Json,
    /// A table or view of a database in a file.
    Database,
    /// Arrow, whose schema has names and types.
    Arrow,
}

impl SourceFormat {
    /// Returns whether the rows come from places that have numbers, and what those are called.
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

/// Where the table of a sheet lies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SheetPlace {
    /// The name of the sheet.
    pub name: String,
    /// The column of the sheet that is the first of the dataset; A is 0.
    pub first_column: u64,
}

/// Columns of a file or a sheet in which a table lies; the first is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnSpan {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
}

impl std::fmt::Display for ColumnSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.first, self.last)
    }
}

/// How the bytes of the source were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialect {
    /// What kind of file the source is.
    #[serde(default)]
    pub format: SourceFormat,
    /// Where in the source it is, if that is a workbook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<SheetPlace>,
    /// As in the WHATWG list, lower case: `utf-8`, `windows-1252`, …
    pub encoding: String,
    /// A few characters, mostly one, or `None` for a file of one column or a Parquet file.
    pub delimiter: Option<String>,
    /// The quote character, when any cell was quoted.
    pub quote: Option<char>,
    /// What goes before a quote within quotes, where quotes are not doubled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escape: Option<char>,
    /// Whether a record holds the column names.
    pub header: bool,
    /// The line of that record; the first is 1.
    #[serde(default)]
    pub header_line: Option<u64>,
    /// One sentence for each decision that a user might question.
    pub reasons: Vec<String>,
    /// What the user said about it, as flags: `--delimiter ;`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub told: Vec<String>,
    /// What could not be read as text of the encoding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub damage: Option<Damage>,
    /// Why the encoding may be another one, for a user to check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
}

/// Bytes of the source that are no text of its encoding; U+FFFD stands in their place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// How many U+FFFD there are.
    pub n_replaced: u64,
    /// The line of the first one; the first line is 1.
    pub line: u64,
    /// Where it is in the file, in bytes.
    pub offset: u64,
}

/// How many records of the source are no rows of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedLines {
    /// Before the table.
    pub preamble: u64,
    /// Comment lines, wherever they are.
    pub comments: u64,
    /// Lines that are drawn between rows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rules: u64,
    /// Headers that came again among the rows.
    pub repeated_headers: u64,
    /// Notes below the table.
    pub footer: u64,
    /// Of tables below the first one.
    #[serde(default)]
    pub other_tables: u64,
    /// The line on which the next table begins; 0 when there is none. Of several files none is told.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub next_table: u64,
    /// Totals below the table.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub totals: u64,
}

impl SkippedLines {
    /// Returns how many there are in all.
    pub fn sum(&self) -> u64 {
        let SkippedLines { preamble, comments, rules, repeated_headers, footer, .. } = self;
        let SkippedLines { other_tables, totals, .. } = self;
        preamble + comments + rules + repeated_headers + footer + other_tables + totals
    }

    /// Returns how many there are of each kind, as far as there are any, with what one and many are called.
    pub fn counts(&self) -> Vec<(u64, &'static str, &'static str)> {
        let SkippedLines { preamble, comments, rules, repeated_headers, footer, .. } = *self;
        let SkippedLines { other_tables, totals, .. } = *self;
        let mut kinds = vec![
            (preamble, "preamble line", "preamble lines"),
            (comments, "comment line", "comment lines"),
            (rules, "line of a drawing", "lines of a drawing"),
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

    /// Adds those of another part of the source.
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
    /// Quotes that open a cell and are never closed. They are text.
    #[serde(default)]
    pub unclosed: u64,
    /// Records that such a quote had joined, and that were read line by line.
    #[serde(default)]
    pub split: u64,
    /// Quoted cells that stayed one cell, though their lines could be rows.
    #[serde(default)]
    pub doubtful: u64,
    /// The line of the first of all these; 0 when there are none.
    #[serde(default)]
    pub line: u64,
}

impl StrayQuotes {
    /// Returns whether there are none.
    pub fn is_none(&self) -> bool {
        *self == StrayQuotes::default()
    }

    /// Returns what is to be said of them, if there are any.
    pub fn sentence(&self) -> Option<String> {
        let StrayQuotes { unclosed, split, doubtful, line } = *self;
        let counted = |n: u64, one: &str, many: &str| {
            (0 < n).then(|| if n == 1 { format!("1 {one}") } else { format!("{n} {many}") })
        };
        let sentences = [
            counted(
                unclosed,
                "quote opens a cell and is never closed, so it is text",
                "quotes open a cell and are never closed, so they are text",
            ),
            counted(
                split,
                "of them would have taken in the rows below, which are read as rows",
                "of them would have taken in the rows below, which are read as rows",
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

/// Where the rows of a dataset are.
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
        /// How Spark reads it.
        remote: Box<Remote>,
    },
}

/// A dataset of a Spark cluster, which stays there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remote {
    /// The server, without anything secret: `sc://host:15002/;use_ssl=true`.
    pub endpoint: String,
    /// The server's version of Spark.
    pub version: String,
    /// What Spark is asked to read.
    pub source: SparkSource,
    /// How each column of the dataset comes of what is read, in the order of the columns.
    pub readings: Vec<SparkReading>,
    /// Whether the row count is no more than an estimate.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_estimate: bool,
    /// How many files it has, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// The columns whose values are in the names of directories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitioned_by: Vec<String>,
}

/// What Spark is asked to read. The relay lets the worker read this and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SparkSource {
    /// A table or view of the catalogue.
    Table {
        /// As it is written in SQL: `db.flights`.
        name: String,
    },
    /// Files that the cluster reaches.
    Files {
        /// Spark's name of the source: `csv`, `parquet`.
        format: String,
        /// The columns as they are read, in Spark's DDL; empty where the files say it themselves.
        schema: String,
        /// Options of the source, by Spark's names.
        options: BTreeMap<String, String>,
        /// As the user named them; Spark expands what they mean.
        paths: Vec<String>,
    },
}

/// How the values of a column come of what Spark reads.
///
/// Text that does not fit its type ends the job that needs it: no value is lost in silence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum SparkReading {
    /// As it is.
    Same,
    /// From text: what means that nothing is there becomes null.
    Text {
        /// Cells that mean so, exactly as they are written.
        nulls: Vec<String>,
        /// What the rest becomes.
        value: ValueOfText,
    },
}

/// What text becomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ValueOfText {
    /// Text.
    String,
    /// A whole number or a float, as the column's type says.
    Number {
        /// What stands before the fraction.
        decimal: char,
        /// What stands between thousands, if anything: a blank is of any kind, an apostrophe as well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thousands: Option<char>,
    },
    /// A truth value.
    Bool {
        /// What is true, lower case.
        yes: Vec<String>,
        /// What is false, lower case.
        no: Vec<String>,
    },
    /// A day, a time without a zone or an instant, as the column's type says.
    Moment {
        /// In Spark's letters `y M d H h m s S a`: `d/M/yyyy`, `MMM d, yyyy`, `d.M.yy[ H:mm[:ss]]`. One letter
        /// or two make no difference but of years; those of two digits are of 1969 to 2068. The first that
        /// fits is taken. None at all: as programs write them, in ISO 8601.
        patterns: Vec<String>,
    },
}

/// A table of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dataset {
    /// Where its rows are.
    #[serde(flatten)]
    pub location: Location,
    /// The file it came from, as the user named it; `-` for stdin. Of a remote dataset, what Spark is asked
    /// to read.
    pub source: String,
    /// Where that is from the session's directory, so that the file is known again from any working directory;
    /// none of what has no place, and where an older version made the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// Of the source's bytes, lower-case hexadecimal. Of a remote dataset, of the names, sizes and times of
    /// its files.
    pub sha256: String,
    /// Of the source.
    pub bytes: u64,
    /// Rows of the table. Of a remote dataset it may be an estimate: see [`Dataset::is_estimate`].
    pub row_count: u64,
    /// In the order of the file.
    pub columns: Vec<Column>,
    /// How the source was read.
    pub dialect: Dialect,
    /// Rows that were short and padded with nulls.
    pub padded_rows: u64,
    /// Rows that had more cells than columns; the surplus is in the column `_extra`.
    pub surplus_rows: u64,
    /// Lines that are no rows.
    #[serde(default)]
    pub set_aside: SkippedLines,
    /// Quotes that do not enclose a cell.
    #[serde(default, skip_serializing_if = "StrayQuotes::is_none")]
    pub stray_quotes: StrayQuotes,
    /// What the file says above and below its table, one text a line, as far as there is room.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The line of a last row that is called a total and was kept, since its numbers are not the sums of
    /// their columns; the first is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclear_total: Option<u64>,
    /// The columns of each of several tables side by side, this one first. Empty where there is one, and where
    /// they were read as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_by_side: Vec<ColumnSpan>,
    /// What else may be other than it was read, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// The files that were joined, in the order of their rows; none of a dataset that is one file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SourceFile>,
    /// Of what the ingest wrote; none of a remote dataset, and where an older version made the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksums: Option<Checksums>,
    /// RFC 3339, UTC.
    pub ingested_at: String,
}

/// CRC-32 of the files of a dataset, by which damage shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksums {
    /// Of the Parquet file.
    pub table: u32,
    /// When that was written, RFC 3339, UTC, as its file system keeps it: at another time, somebody changed or
    /// copied it.
    pub modified: String,
    /// Of the line map; none where the dataset has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
}

/// A file of a dataset that was joined from several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// As the user named it or found it.
    pub source: String,
    /// Of its bytes, lower-case hexadecimal.
    pub sha256: String,
    /// Of the file.
    pub bytes: u64,
    /// Its rows.
    pub row_count: u64,
}

impl Dialect {
    /// Returns how a Parquet file is read, which says itself what is in it.
    pub fn of_parquet(reasons: Vec<String>) -> Self {
        Dialect {
            format: SourceFormat::Parquet,
            sheet: None,
            encoding: "utf-8".to_owned(),
            delimiter: None,
            quote: None,
            escape: None,
            header: true,
            header_line: None,
            reasons,
            told: Vec::new(),
            damage: None,
            doubt: None,
        }
    }
}

impl Dataset {
    /// Returns why an entry of a catalog is not one that an ingest makes, if so: its name becomes the name of
    /// files, and its path is opened.
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

    /// Returns the Parquet file, relative to the session directory; none when the rows are on a cluster.
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
    /// Fails when the rows are on a cluster: what only files can give was asked for.
    pub fn file_in(&self, session_dir: &Path) -> anyhow::Result<PathBuf> {
        match &self.location {
            Location::Here { path } => Ok(session_dir.join(path)),
            Location::Cluster { remote } => {
                bail!("`{}` has no file here: its rows are at {}", self.source, remote.endpoint)
            }
        }
    }

    /// Returns the dataset as another session sees it: its file, if it has one, is in `session_dir`.
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

    /// Returns where the rows are on a cluster; none when they are here.
    pub fn remote(&self) -> Option<&Remote> {
        match &self.location {
            Location::Here { .. } => None,
            Location::Cluster { remote } => Some(remote),
        }
    }

    /// Returns whether its row count is no more than an estimate.
    pub fn is_estimate(&self) -> bool {
        self.remote().is_some_and(|it| it.is_estimate)
    }

    /// Returns whether rows were repaired or bytes replaced, which `--strict` does not want.
    pub fn is_repaired(&self) -> bool {
        let n_repaired = self.padded_rows + self.surplus_rows + self.stray_quotes.split;
        0 < n_repaired || self.dialect.damage.is_some()
    }
}

/// Returns whether something can be the name of a dataset: a file's name, a word for the model and an
/// identifier of the user's.
pub fn is_dataset_name(name: &str) -> bool {
    let is_word = name.chars().all(|it| it.is_alphanumeric() || it == '_');
    // A name that begins with a digit gets two letters more.
    is_word
        && name.len() <= DATASET_NAME_BYTES_MAX + 2
        && name.starts_with(|it: char| it.is_alphabetic())
}

/// Returns the Parquet file of a dataset, relative to the session directory.
pub fn file_of(name: &str) -> PathBuf {
    Path::new("datasets").join(format!("{name}.parquet"))
}

/// The datasets of a session by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Catalog {
    datasets: BTreeMap<String, Dataset>,
}

impl Catalog {
    /// Returns the dataset of that name.
    pub fn get(&self, name: &str) -> Option<&Dataset> {
        self.datasets.get(name)
    }

    /// Returns the datasets in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Dataset)> {
        self.datasets.iter().map(|(name, dataset)| (name.as_str(), dataset))
    }

    /// Returns the names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.datasets.keys().map(String::as_str)
    }

    /// Returns how many datasets there are.
    pub fn len(&self) -> usize {
        self.datasets.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.datasets.is_empty()
    }

    /// Adds a dataset, or replaces the one of that name.
    pub fn insert(&mut self, name: String, dataset: Dataset) {
        self.datasets.insert(name, dataset);
    }

    /// Adds the datasets of another catalog.
    pub fn extend(&mut self, other: Catalog) {
        self.datasets.extend(other.datasets);
    }

    /// Takes a dataset out.
    pub fn remove(&mut self, name: &str) -> Option<Dataset> {
        self.datasets.remove(name)
    }

    /// Returns the datasets of this machine.
    #[must_use]
    pub fn here(&self) -> Catalog {
        self.filtered(|name| self.get(name).is_some_and(|it| it.remote().is_none()))
    }

    /// Returns the datasets that are on a cluster, in the order of their names.
    pub fn remote(&self) -> impl Iterator<Item = (&str, &Remote)> {
        self.iter().filter_map(|(name, dataset)| Some((name, dataset.remote()?)))
    }

    /// Returns the datasets whose names `keep` accepts.
    #[must_use]
    pub fn filtered(&self, keep: impl Fn(&str) -> bool) -> Catalog {
        let datasets = self.datasets.iter().filter(|(name, _)| keep(name));
        Catalog { datasets: datasets.map(|(name, it)| (name.clone(), it.clone())).collect() }
    }
}

/// What can be read from a dataset's Parquet file without Python.
#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    /// Whether the file is there and whole, as far as its two ends tell.
    Check {
        /// Relative to the session directory.
        path: PathBuf,
    },
    /// The columns in which some cell equals a value.
    FindValue {
        /// Relative to the session directory.
        path: PathBuf,
        /// As the user wrote it: `7`, `7.0`, `2013-01-01`, `true`, or text.
        value: String,
    },
    /// The columns of several datasets in which some cell equals a value.
    FindValueIn {
        /// The datasets, each with its file relative to the session directory.
        datasets: Vec<(String, PathBuf)>,
        /// As for one dataset.
        value: String,
    },
    /// Whether the file is there and whole, and how many values its columns have in common with others.
    Overlap {
        /// Relative to the session directory.
        path: PathBuf,
        /// What is compared.
        likenesses: Vec<Likeness>,
    },
    /// How many values of a column are good, worth a warning, or bad.
    Rate {
        /// Relative to the session directory.
        path: PathBuf,
        /// The column.
        column: String,
        /// Which are what.
        ratings: Ratings,
    },
}

/// What a [`Query`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Facts {
    /// The answer to [`Query::Check`].
    Whole,
    /// The answer to [`Query::FindValue`], in the order of the columns; empty when there is none.
    Matches(Vec<ValueMatch>),
    /// The answer to [`Query::FindValueIn`].
    MatchesIn {
        /// The datasets that hold the value, each with its columns.
        found: Vec<(String, Vec<ValueMatch>)>,
        /// Datasets that were not searched, since there was no time or enough had been found.
        n_left: usize,
    },
    /// The answer to [`Query::Overlap`]: for each likeness, what is known of each of its columns.
    Overlaps(Vec<Vec<Option<Overlap>>>),
    /// The answer to [`Query::Rate`]; none when the column holds no numbers.
    Rated(Option<Rated>),
}

/// A column, and those of other datasets that are like it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Likeness {
    /// The column's name.
    pub column: String,
    /// The file of each other dataset, relative to the session directory, with the name of its column.
    pub others: Vec<(PathBuf, String)>,
}

/// How many different values two columns have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// Of the first.
    pub n_here: usize,
    /// Of the second.
    pub n_there: usize,
    /// Of both.
    pub n_both: usize,
    /// Whether all rows were read.
    pub is_whole: bool,
}

/// A column that holds a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ValueMatch {
    /// The column's name.
    pub column: String,
    /// The column's type.
    pub dtype: DType,
    /// Rows that hold it.
    pub count: u64,
}
