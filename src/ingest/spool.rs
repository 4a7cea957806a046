//! Rows of a non-text source, written as text for an ingest to read.
//!
//! Workbooks, databases and JSON have rows of typed cells. They are written as CSV with one record per
//! row, so that all rules for text apply to them: the position of the table, its names, what is left
//! out, the type of each column. What text cannot express is in [`SpoolNotes`].

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::Context;

use csv_agent_types::catalog::{Meaning, SourceFormat};

use super::source::Input;
use super::type_evidence::{Nulls, TypeEvidence, classify};
use crate::options::IngestOptions;
use crate::refusal::refuse;
use crate::spool_notes::SpoolNotes;

/// Rows being written as text: first each cell as it arrives, then what all rows share.
pub(crate) struct Spool<'a> {
    input: &'a Input,
    dir: &'a Path,
    bytes_max: u64,
    nulls: Nulls,
    /// Text that looks like a date remains text.
    days_are_text: bool,
    framed: BufWriter<File>,
    row: Vec<u8>,
    /// The first column of the row, and the one after its last cell.
    span: Option<(usize, usize)>,
    /// Number of rows written.
    n_rows: u64,
    n_bytes: u64,
    n_filled: u64,
    /// The first column, and the one after the last.
    columns: Option<(usize, usize)>,
    table: TableColumns,
    /// What is known about the columns, by their index in the source.
    pub written: SpoolNotes,
}

/// Where rows with several cells begin. Titles above and notes below may begin further left.
#[derive(Debug, Default)]
struct TableColumns {
    first: Option<usize>,
    /// The first column of single-cell rows since the last row with several cells.
    first_between: Option<usize>,
}

impl TableColumns {
    fn add(&mut self, first: usize, end: usize) {
        let least = |it: Option<usize>| Some(it.map_or(first, |it| it.min(first)));
        if end - first == 1 {
            self.first_between = least(self.first_between);
            return;
        }
        let between = self.first_between.take().filter(|_| self.first.is_some());
        self.first = least(self.first).into_iter().chain(between).min();
    }
}

/// Bytes before each row: the row's length, its first column and the one after its last.
const FRAME_BYTES: usize = 12;

impl<'a> Spool<'a> {
    /// Begins a text next to the dataset, which may take as many bytes as the options allow for a source. Fails
    /// when no file can be created in `dir`.
    pub(crate) fn new(
        input: &'a Input,
        dir: &'a Path,
        options: &IngestOptions,
        format: SourceFormat,
    ) -> anyhow::Result<Self> {
        Ok(Spool {
            input,
            dir,
            bytes_max: options.bytes_max,
            nulls: Nulls::new(options.nulls.as_deref()),
            days_are_text: true,
            framed: BufWriter::new(temporary(dir, &input.name)?),
            row: Vec::new(),
            span: None,
            n_rows: 0,
            n_bytes: 0,
            n_filled: 0,
            columns: None,
            table: TableColumns::default(),
            written: SpoolNotes { format, ..SpoolNotes::default() },
        })
    }

    /// Begins a text of a table that a program wrote: the first record contains the names, all others are rows,
    /// and date-like text is a date, since there is no other way to write one. Fails when no file can be
    /// created in `dir`.
    pub(crate) fn of_table(
        input: &'a Input,
        dir: &'a Path,
        options: &IngestOptions,
        format: SourceFormat,
    ) -> anyhow::Result<Self> {
        let mut spool = Spool::new(input, dir, options, format)?;
        spool.days_are_text = false;
        if options.nulls.is_none() {
            spool.nulls = Nulls::of_programs();
        }
        Ok(spool)
    }

    /// Returns the number of rows written.
    pub(crate) fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Adds a text cell, to the right of the existing ones.
    pub(crate) fn text(&mut self, column: usize, text: &str) {
        self.place(column);
        let seen = classify(text.as_bytes(), &self.nulls);
        let days = TypeEvidence::DATE
            .and(TypeEvidence::TIMESTAMP)
            .and(TypeEvidence::INSTANT)
            .and(TypeEvidence::OFFSET)
            .and(TypeEvidence::TIME);
        let is_day = !self.days_are_text && seen.is_only(days);
        if seen != TypeEvidence::default() && !seen.is_settled() && !is_day {
            self.written.column(column).add_text(self.n_rows);
        }
        quote(text, &mut self.row);
    }

    /// Adds a cell with a number, a date, a time or a truth value, in the form that programs write.
    pub(crate) fn value(&mut self, column: usize, text: &str) {
        self.place(column);
        self.row.extend_from_slice(text.as_bytes());
    }

    /// Adds a cell of unknown type, verbatim.
    pub(crate) fn field(&mut self, column: usize, text: &str) {
        self.place(column);
        if !text.is_empty() {
            quote(text, &mut self.row);
        }
    }

    /// Adds an empty cell that nevertheless belongs to the table.
    pub(crate) fn nothing(&mut self, column: usize) {
        self.place(column);
    }

    fn place(&mut self, column: usize) {
        match &mut self.span {
            None => self.span = Some((column, column + 1)),
            Some((_, end)) => {
                for _ in *end..=column {
                    self.row.push(b',');
                }
                *end = column + 1;
            }
        }
    }

    /// Ends a row, which may be empty. Fails when it cannot be written, or the text becomes too long.
    pub(crate) fn end_row(&mut self) -> anyhow::Result<()> {
        let (first, end) = self.span.take().unwrap_or_default();
        if first < end {
            let (least, most) = self.columns.unwrap_or((first, end));
            self.columns = Some((least.min(first), most.max(end)));
            self.table.add(first, end);
            self.n_filled += 1;
        }
        let frame = [self.row.len(), first, end].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        let doing = || format!("cannot write in {}", self.dir.display());
        for part in frame {
            self.framed.write_all(&part.to_le_bytes()).with_context(doing)?;
        }
        self.framed.write_all(&self.row).with_context(doing)?;
        self.n_bytes += self.row.len() as u64 + 1;
        self.n_rows += 1;
        self.row.clear();
        self.check_size()
    }

    /// Adds a note on a column, once all rows are written.
    pub(crate) fn note(&mut self, column: usize, note: String) {
        self.written.column(column).notes.push(note);
    }

    /// Sets the meaning of a column's numbers.
    pub(crate) fn mean(&mut self, column: usize, meaning: Meaning) {
        self.written.column(column).meaning = Some(meaning);
    }

    fn check_size(&self) -> anyhow::Result<()> {
        let width = self.columns.map_or(0, |it| it.1 - it.0) as u64;
        let n_bytes = self.n_bytes.saturating_add(self.n_filled.saturating_mul(width));
        if n_bytes <= self.bytes_max {
            return Ok(());
        }
        let (n_rows, name) = (self.n_rows, &self.input.name);
        let message = format!(
            "cannot read `{name}`: {n_rows} rows of {width} columns are more than {} bytes of text",
            self.bytes_max
        );
        Err(refuse(
            message,
            "raise the limit with `--max-bytes`, or remove cells that are far from the table",
        ))
    }

    /// Writes the text, with `names` as its first record if given. Returns `None` without cells.
    pub(crate) fn finish(
        mut self,
        names: Option<&[String]>,
    ) -> anyhow::Result<Option<(File, SpoolNotes)>> {
        let columns = match names {
            Some(names) => Some((0, names.len())),
            None => self.columns.map(|it| (self.table.first.unwrap_or(it.0), it.1)),
        };
        let Some((first, end)) = columns.filter(|it| it.0 < it.1) else { return Ok(None) };
        self.check_size()?;
        let doing = || format!("cannot write in {}", self.dir.display());
        let mut framed = self.framed.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        framed.seek(SeekFrom::Start(0)).with_context(doing)?;
        let mut framed = BufReader::new(framed);
        let mut out = BufWriter::new(temporary(self.dir, &self.input.name)?);
        if let Some(names) = names {
            let mut record = Vec::new();
            for (at, name) in names.iter().enumerate() {
                if 0 < at {
                    record.push(b',');
                }
                quote(name, &mut record);
            }
            record.push(b'\n');
            out.write_all(&record).with_context(doing)?;
        }
        let mut row = Vec::new();
        for _ in 0..self.n_rows {
            let mut frame = [0; FRAME_BYTES];
            framed.read_exact(&mut frame)?;
            let part = |at: usize| {
                let bytes = [frame[at], frame[at + 1], frame[at + 2], frame[at + 3]];
                u32::from_le_bytes(bytes) as usize
            };
            let (n_bytes, row_first, row_end) = (part(0), part(4), part(8));
            row.clear();
            // A title or a note is placed within the table's columns.
            let row_end = if row_first < row_end { row_end.max(first + 1) } else { row_end };
            let row_first = if row_first < row_end { row_first.max(first) } else { row_first };
            if row_first < row_end {
                row.resize(row_first - first, b',');
            } else if names.is_some() && 1 < end {
                // An empty row is still a row.
                row.resize(end - 1, b',');
            }
            let start = row.len();
            row.resize(start + n_bytes, 0);
            framed.read_exact(&mut row[start..])?;
            if row_first < row_end {
                row.resize(row.len() + end - row_end, b',');
            }
            row.push(b'\n');
            out.write_all(&row).with_context(doing)?;
        }
        let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let n_before = first.min(self.written.columns.len());
        self.written.columns.drain(..n_before);
        if names.is_some() {
            // The names take one row of the text.
            let runs = self.written.columns.iter_mut().flat_map(|it| &mut it.texts);
            runs.for_each(|it| *it = (it.0 + 1, it.1 + 1));
            self.written.is_table = true;
        }
        if let Some(sheet) = &mut self.written.sheet {
            sheet.first_column = first as u64;
        }
        Ok(Some((file, self.written)))
    }
}

/// Writes a text cell. Empty text is quoted, to distinguish it from an empty cell.
fn quote(text: &str, record: &mut Vec<u8>) {
    let is_bare =
        !text.is_empty() && !text.starts_with('\u{feff}') && !text.contains([',', '"', '\n', '\r']);
    if is_bare {
        record.extend_from_slice(text.as_bytes());
        return;
    }
    record.push(b'"');
    for part in text.split_inclusive('"') {
        record.extend_from_slice(part.as_bytes());
        if part.ends_with('"') {
            record.push(b'"');
        }
    }
    record.push(b'"');
}

/// Formats a number as programs do: with a point unless it is whole, and as short as possible.
pub(crate) fn number(value: f64) -> Option<String> {
    /// Above this, not every whole number is a float.
    const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;
    if !value.is_finite() {
        return None;
    }
    if value.fract() == 0.0 && value.abs() <= WHOLE_MAX {
        return Some(format!("{value:.0}").trim_start_matches("-0").to_owned())
            .map(|it| if it.is_empty() { "0".to_owned() } else { it });
    }
    let text = format!("{value:?}");
    Some(match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    })
}

fn temporary(dir: &Path, name: &str) -> anyhow::Result<File> {
    tempfile::tempfile_in(dir)
        .with_context(|| format!("cannot read `{name}`: cannot create a file in {}", dir.display()))
}

/// A sheet of a workbook, or a table of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignTable {
    /// Its name in the file.
    pub name: String,
    /// Why it is not read unless it is named.
    pub left_out: Option<&'static str>,
}

#[cfg(test)]
mod tests {
    use super::{TableColumns, number, quote};

    #[test]
    fn a_title_or_a_note_is_no_column() {
        let check = |rows: &[(usize, usize)], expected: Option<usize>| {
            let mut columns = TableColumns::default();
            for (first, end) in rows {
                columns.add(*first, *end);
            }
            assert_eq!(columns.first, expected, "{rows:?}");
        };
        check(&[(0, 1), (1, 4), (1, 4), (0, 1)], Some(1));
        // The name of a group between rows is a value.
        check(&[(1, 4), (0, 1), (1, 4)], Some(0));
        check(&[(0, 1), (0, 1)], None);
        check(&[(2, 4), (1, 4)], Some(1));
    }

    #[test]
    fn numbers_are_written_so_that_they_are_read_back() {
        let check = |value: f64, expected: &str| {
            let text = number(value).unwrap();
            assert_eq!(text, expected);
            let read: f64 = text.parse().unwrap();
            assert_eq!((read + 0.0).to_bits(), (value + 0.0).to_bits());
        };
        check(5.0, "5");
        check(-12.0, "-12");
        check(0.0, "0");
        check(-0.0, "0");
        check(0.1 + 0.2, "0.30000000000000004");
        check(1e-7, "1.0e-7");
        check(1.5e300, "1.5e300");
        check(9_007_199_254_740_992.0, "9007199254740992");
        check(1e20, "1.0e20");
        assert_eq!(number(f64::NAN), None);
    }

    #[test]
    fn text_is_quoted_where_it_must_be() {
        let check = |text: &str, expected: &str| {
            let mut record = Vec::new();
            quote(text, &mut record);
            assert_eq!(String::from_utf8(record).unwrap(), expected);
        };
        check("a b", "a b");
        check("", "\"\"");
        check("a,b", "\"a,b\"");
        check("a\nb", "\"a\nb\"");
        check("\"a\" b", "\"\"\"a\"\" b\"");
    }
}
