//! Sources that are not text: which reader writes their rows as text.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use csv_agent_text::lists::{all_names, listed};
use csv_agent_types::catalog::SourceFormat;
use csv_agent_types::limits::SNIFF_HEAD_BYTES;
use csv_agent_types::status::Failure;

use super::Watch;
use super::fixed_width::{Aligned, FixedColumns};
use super::source::{Input, Source};
use super::spool::Spool;
use super::{database, fixed_width, json, workbook};
use crate::options::IngestOptions;
use crate::refusal::refuse;
use crate::spool::ForeignTable;
use crate::text_encoding::encoding_of;

/// The reader of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Foreign {
    Workbook(workbook::WorkbookKind),
    Database,
    Json,
}

impl Foreign {
    fn of(head: &[u8], name: &str) -> Option<Self> {
        if let Some(kind) = workbook::WorkbookKind::of(head) {
            return Some(Foreign::Workbook(kind));
        }
        if database::is_of(head) {
            return Some(Foreign::Database);
        }
        (json::is_of(head) || json::is_called(name)).then_some(Foreign::Json)
    }

    /// Returns the word for one of its tables, if it may have several.
    fn noun(self) -> Option<&'static str> {
        match self {
            Foreign::Workbook(_) => Some("sheet"),
            Foreign::Database => Some("table"),
            Foreign::Json => None,
        }
    }

    /// Returns what it is, and what it declares itself.
    fn words(self) -> &'static str {
        match self {
            Foreign::Workbook(_) => "a workbook and has its own cells",
            Foreign::Database => "a database and has its own columns and values",
            Foreign::Json => "JSON and has its own names and values",
        }
    }
}

/// The tables of a file that may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// The word for one of them, such as sheet.
    pub noun: &'static str,
    /// Those that are read unless the user names others.
    pub names: Vec<String>,
    /// The others, each with the reason.
    pub left_out: Vec<(String, &'static str)>,
}

impl Tables {
    fn of(noun: &'static str, parts: Vec<ForeignTable>) -> Self {
        let mut tables = Tables { noun, names: Vec::new(), left_out: Vec::new() };
        for ForeignTable { name, left_out } in parts {
            match left_out {
                None => tables.names.push(name),
                Some(why) => tables.left_out.push((name, why)),
            }
        }
        tables
    }

    /// Returns all names, including tables that are not read.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str).chain(self.left_out.iter().map(|it| it.0.as_str()))
    }

    /// Reports what is left out, if anything.
    pub fn left_out_words(&self) -> Option<String> {
        /// Maximum number of names shown.
        const SHOWN_MAX: usize = 5;
        let words = self.left_out.iter().map(|(name, why)| format!("`{name}` ({why})"));
        let words = listed(words, SHOWN_MAX);
        let noun =
            if self.left_out.len() == 1 { self.noun.to_owned() } else { format!("{}s", self.noun) };
        (!words.is_empty()).then(|| format!("{noun} {words}"))
    }
}

/// Why an unnamed file is not data, if that is worth telling.
pub type NoData = Option<&'static str>;

/// A check of the head of a file for data.
pub type DataCheck = fn(&[u8]) -> Result<(), NoData>;

/// Returns the check of an unnamed file for data, where its extension leaves that open.
pub fn look_of_data(name: &str) -> Option<DataCheck> {
    match name.rsplit_once('.')?.1.to_lowercase().as_str() {
        "json" => Some(|head| json::why_no_table(head).map_or(Ok(()), |why| Err(Some(why)))),
        "db" => Some(|head| if database::is_of(head) { Ok(()) } else { Err(None) }),
        _ => None,
    }
}

/// Returns the tables of a file that may have several; `None` for any other file.
///
/// # Errors
///
/// Fails when the file is damaged or exceeds `bytes_max`, and once `cancelled` is set.
pub fn tables(
    path: &Path,
    shown_name: &str,
    bytes_max: u64,
    cancelled: &AtomicBool,
) -> anyhow::Result<Option<Tables>> {
    // Opening a pipe would block, and reading would consume its bytes.
    let is_file = path.metadata().is_ok_and(|it| it.is_file() && 0 < it.len());
    if !is_file
        || !super::source::head_of(path)
            .is_ok_and(|it| Foreign::of(&it, "").is_some_and(|it| it.noun().is_some()))
    {
        return Ok(None);
    }
    let watch = Watch { progress: &|_| {}, cancelled };
    let temp = std::env::temp_dir();
    let input = Input::open(Source::File(path.to_owned()), shown_name, &temp, bytes_max, &watch)?;
    tables_of(&input, &temp, bytes_max, cancelled)
}

fn tables_of(
    input: &Input,
    dir: &Path,
    bytes_max: u64,
    cancelled: &AtomicBool,
) -> anyhow::Result<Option<Tables>> {
    let foreign = Foreign::of(&input.head(SNIFF_HEAD_BYTES)?, &input.name);
    let Some((foreign, noun)) = foreign.and_then(|it| Some((it, it.noun()?))) else {
        return Ok(None);
    };
    let parts = match foreign {
        Foreign::Workbook(kind) => workbook::sheets(input, kind, bytes_max, cancelled)?,
        Foreign::Database => database::tables(input, dir, cancelled)?,
        Foreign::Json => Vec::new(),
    };
    Ok(Some(Tables::of(noun, parts)))
}

/// Writes the rows of a non-text source as text, next to the dataset, and returns how to read that. Returns
/// `None` for text. Fails when the source is damaged, or has several tables and `options` name none of them;
/// with `FailureKind::Usage` when an option describes how text is read.
pub(super) fn as_text(
    input: &Input,
    dir: &Path,
    options: &IngestOptions,
    watch: &Watch<'_>,
) -> anyhow::Result<Option<(Input, IngestOptions)>> {
    // A file saved in a turn is CSV or nothing.
    if options.is_plain {
        return Ok(None);
    }
    let head = input.head(SNIFF_HEAD_BYTES)?;
    if !options.widths.is_empty() && Foreign::of(&head, "").is_none() {
        let columns = FixedColumns { widths: options.widths.clone(), ruler: None };
        return by_widths(input, dir, options, (&columns, "as specified"), watch).map(Some);
    }
    let Some(foreign) = Foreign::of(&head, &input.name) else {
        if is_open(options)
            && let Some(columns) = fixed_width::ruled(&head)
        {
            let how = (&columns, "a line of dashes below the names shows them");
            return by_widths(input, dir, options, how, watch).map(Some);
        }
        let is_whole = input.bytes <= head.len() as u64;
        let columns = if is_whole { aligned(&head, options) } else { None };
        return match columns.filter(|it| it.is_safe) {
            Some(Aligned { widths, .. }) => {
                let columns = FixedColumns { widths, ruler: None };
                let how = (&columns, "blanks align them in every line");
                by_widths(input, dir, options, how, watch).map(Some)
            }
            None => Ok(None),
        };
    };
    check_options(options, foreign, &input.name)?;
    let bytes_max = options.bytes_max;
    let written = match foreign {
        Foreign::Workbook(kind) => {
            let sheet = chosen(input, "sheet", dir, options, watch)?;
            let mut spool = Spool::new(input, dir, options, SourceFormat::Sheet)?;
            workbook::write(&mut spool, input, kind, &sheet, bytes_max, watch)?;
            spool.finish(None)?
        }
        Foreign::Database => {
            let table = chosen(input, "table", dir, options, watch)?;
            let mut spool = Spool::of_table(input, dir, options, SourceFormat::Database)?;
            let names = database::write(&mut spool, input, &table, dir, watch)?;
            spool.finish(Some(&names))?
        }
        Foreign::Json => {
            let mut spool = Spool::of_table(input, dir, options, SourceFormat::Json)?;
            let names = json::write(&mut spool, input, options.flatten, watch)?;
            spool.finish(Some(&names))?
        }
    };
    let Some((file, written)) = written else {
        let message = format!("cannot read `{}` as a table: it has no values", input.name);
        return Err(refuse(message, "check how the file was made"));
    };
    let input = input.written_to(file, watch.cancelled)?;
    let options = IngestOptions { written: Some(Arc::new(written)), ..options.clone() };
    Ok(Some((input, options)))
}

/// Returns the columns aligned by blanks in a text, if the options leave its layout open.
pub(super) fn aligned(head: &[u8], options: &IngestOptions) -> Option<Aligned> {
    if !is_open(options) || options.encoding.is_some() {
        return None;
    }
    fixed_width::aligned(str::from_utf8(head).ok()?)
}

/// Returns whether the options leave the layout of a text open.
fn is_open(options: &IngestOptions) -> bool {
    let IngestOptions { delimiter, quote, escape, skip_lines, .. } = options;
    delimiter.is_none() && quote.is_none() && escape.is_none() && skip_lines.is_none()
}

fn by_widths(
    input: &Input,
    dir: &Path,
    options: &IngestOptions,
    (columns, why): (&FixedColumns, &str),
    watch: &Watch<'_>,
) -> anyhow::Result<(Input, IngestOptions)> {
    let found = encoding_of(input, options, watch)?;
    let mut spool = Spool::new(input, dir, options, SourceFormat::Text)?;
    fixed_width::write(&mut spool, input, columns, &found, watch)?;
    let widths: Vec<String> = columns.widths.iter().map(ToString::to_string).collect();
    spool.written.reasons = vec![
        format!("encoding {}: {}", found.charset.name(), found.reason),
        format!("columns of {} letters: {why}", widths.join(", ")),
    ];
    let Some((file, written)) = spool.finish(None)? else {
        let message = format!("cannot read `{}`: it has only blank lines", input.name);
        return Err(refuse(message, "check how the file was made"));
    };
    let input = input.written_to(file, watch.cancelled)?;
    let options = IngestOptions { written: Some(Arc::new(written)), ..options.clone() };
    Ok((input, options))
}

/// Returns the name of the one table to read.
fn chosen(
    input: &Input,
    noun: &str,
    dir: &Path,
    options: &IngestOptions,
    watch: &Watch<'_>,
) -> anyhow::Result<String> {
    if let Some(table) = &options.table {
        return Ok(table.clone());
    }
    let name = &input.name;
    let tables = tables_of(input, dir, options.bytes_max, watch.cancelled)?;
    let names = tables.as_ref().map_or(&[][..], |it| &it.names);
    match names {
        [one] => Ok(one.clone()),
        [] => {
            let left_out = tables.as_ref().and_then(Tables::left_out_words);
            let found = left_out.map_or_else(String::new, |it| format!(": {it}"));
            let message = format!("cannot read `{name}`: it has no {noun} with data{found}");
            Err(refuse(message, &format!("name one with `--{noun}`")))
        }
        _ => {
            let message = format!("`{name}` has {} {noun}s: {}", names.len(), all_names(names));
            Err(refuse(message, &format!("name one with `--{noun} '{}'`", names[0])))
        }
    }
}

/// Fails when an option describes how to read text, which this source is not.
fn check_options(
    options: &IngestOptions,
    foreign: Foreign,
    shown_name: &str,
) -> anyhow::Result<()> {
    const OF_TEXT: [&str; 5] = ["--delimiter", "--quote", "--escape", "--encoding", "--widths"];
    const OF_PLACES: [&str; 4] = ["--no-header", "--skip-rows", "--columns", "--comment"];
    let has_place = matches!(foreign, Foreign::Workbook(_));
    let is_wrong = |it: &&str| OF_TEXT.contains(it) || (!has_place && OF_PLACES.contains(it));
    let given = options.given();
    let mut flags = given.iter().filter_map(|it| it.split(' ').next());
    let Some(flag) = flags.find(is_wrong) else { return Ok(()) };
    let what = foreign.words();
    let message = format!("`{flag}` does not apply to `{shown_name}`, which is {what}");
    let hint = format!("ingest it by itself, without `{flag}`");
    Err(Failure::usage(message).hint(hint).into())
}
