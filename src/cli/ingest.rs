//! `ingest`: CSV and Parquet files become datasets of the session, each file for itself.

mod bar;
mod batch;
mod job;
mod remote;
mod space;
mod stdin;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use clap::{Args, FromArgMatches, ValueEnum};
use serde_json::{Value, json};

use super::listing::{self, Listing};
use super::options::GlobalOptions;
use super::options::settings::Settings;
use super::values::{self, Delimiter, EscapeFlag, QuoteFlag};
use super::{datasets, out, report, signals};
use crate::catalog::{Column, DType, Damage, Dataset, Meaning, SourceFormat, is_dataset_name};
use crate::dataset::{self, Comments, DateOrder, DecimalMark, IngestOptions, Wanted};
use crate::directory;
use crate::session::Session;
use crate::sink::Format;
use crate::spark::SCHEME;
use crate::status::{ExitStatus, Failure};
use batch::Batch;
use job::{Change, Ingested, Job, Target};

pub use job::Input;
pub use remote::{heads, take_places};

/// Flags of `ingest`.
#[derive(Debug, Clone, Args)]
pub struct IngestFlags {
    /// CSV or Parquet files, compressed or not; `-` reads stdin. With `--remote`, NAME=PATH or NAME=TABLE
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// Name of the dataset [default: the file's name]
    #[arg(short, long, value_name = "NAME")]
    pub name: Option<String>,

    /// Register data of this Spark cluster, such as `sc://host:15002`, where it stays
    #[arg(long, value_name = "URL")]
    pub remote: Option<String>,

    /// What to do when the name is taken by other data
    #[arg(long, value_name = "ACTION", value_enum, default_value_t)]
    pub if_exists: IfExists,

    /// What separates the cells: one or a few signs, or comma, tab, semicolon, pipe, space
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = values::delimiter,
        default_value = "auto",
        hide_default_value = true,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub delimiter: Delimiter,

    /// What cells are quoted with: a sign, or none
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = values::quote,
        default_value = "auto",
        hide_default_value = true,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub quote: QuoteFlag,

    /// What makes a quote within quotes text: a sign before it, backslash, doubled, none
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = values::escape,
        default_value = "auto",
        hide_default_value = true,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub escape: EscapeFlag,

    /// Encoding of the text, such as utf-8, latin1, utf-16le
    #[arg(long, value_name = "NAME", help_heading = "How to read the file [default: find it out]")]
    pub encoding: Option<String>,

    /// The first record is data: columns are named `column_1`, `column_2`, …
    #[arg(long, help_heading = "How to read the file [default: find it out]")]
    pub no_header: bool,

    /// Lines to skip before the table, which then begins with its header
    #[arg(
        long,
        value_name = "NUMBER",
        help_heading = "How to read the file [default: find it out]"
    )]
    pub skip_rows: Option<u64>,

    /// What begins a comment line: a character, or none
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = values::comment,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub comment: Option<Comments>,

    /// Cells that mean nothing is there, separated by commas, such as NA,-
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "How to read the file [default: find it out]"
    )]
    pub null: Option<Vec<String>>,

    /// Type of a column, such as zip=text or amount=money. May be repeated
    #[arg(
        long,
        value_name = "COLUMN=TYPE",
        value_parser = values::typed_column,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub dtype: Vec<(String, Wanted)>,

    /// Order of days that can be read in two ways, such as 01/02/2024
    #[arg(
        long,
        value_name = "ORDER",
        value_enum,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub date_order: Option<Order>,

    /// Decimal mark of all numbers, a comma or a point
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = values::decimal,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub decimal: Option<DecimalMark>,

    /// Refuse a larger file
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = values::size,
        default_value = MAX_BYTES,
        conflicts_with = "remote"
    )]
    pub max_bytes: u64,

    /// Refuse a file with rows of other lengths or bytes that are no text, instead of repairing it
    #[arg(long)]
    pub strict: bool,

    /// Show what the file would become and keep nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// [`CSV_BYTES_MAX`](crate::limits::CSV_BYTES_MAX), as the help shows it; a test compares the two.
const MAX_BYTES: &str = "400MiB";

/// What to do when a dataset of that name holds other data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum IfExists {
    /// Fail; the dataset stays as it is
    #[default]
    Error,
    /// Put the new data in its place
    Replace,
    /// Keep the dataset and leave the file
    Skip,
}

/// What comes first in a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Day, month, year
    Dmy,
    /// Month, day, year
    Mdy,
    /// Year, month, day
    Ymd,
}

impl From<Order> for DateOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Dmy => DateOrder::Dmy,
            Order::Mdy => DateOrder::Mdy,
            Order::Ymd => DateOrder::Ymd,
        }
    }
}

/// Ingests what the flags name and prints one row a dataset.
///
/// A file that fails is told on stderr and does not undo the others; the status says so at the end.
///
/// # Errors
///
/// Fails when the flags contradict each other, the session cannot be had, or stdout cannot take the
/// rows.
pub fn run(
    flags: &IngestFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    check(flags)?;
    let dir = &options.session.dir;
    let was_there = Session::is_there(dir)?;
    let before = Session::names_in(dir);
    let mut target = Target::open(flags.dry_run, options)?;
    let attempt = attempt(flags, &mut target, settings, options);
    let is_empty = attempt.as_ref().map_or(true, |it| it.done.is_empty());
    if !was_there
        && is_empty
        && let Some(session) = target.session()
    {
        // A session that came with a mistyped path would be found by every later command.
        session.unmake(before.as_ref())?;
    }
    attempt?.tell(flags, options)
}

/// Ingests what the flags name into a session that is open, and prints one row a dataset.
///
/// # Errors
///
/// Fails as [`run`] does.
pub fn run_in(
    flags: &IngestFlags,
    session: &mut Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    check(flags)?;
    let mut target = if flags.dry_run {
        Target::Nowhere(session.catalog().clone())
    } else {
        Target::Open(session)
    };
    attempt(flags, &mut target, settings, options)?.tell(flags, options)
}

fn attempt(
    flags: &IngestFlags,
    target: &mut Target,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<Attempt> {
    match &flags.remote {
        Some(url) => remote::ingest(flags, url, target, settings, options),
        None => ingest(flags, &flags.inputs(), target, options),
    }
}

/// What became of inputs.
struct Attempt {
    done: Vec<Ingested>,
    status: ExitStatus,
    /// The signal that came before all of them were done.
    cut_by: Option<ExitStatus>,
}

impl Attempt {
    /// Prints what was done, and returns the status that it means.
    fn tell(&self, flags: &IngestFlags, options: &GlobalOptions) -> anyhow::Result<ExitStatus> {
        for it in &self.done {
            tell_repairs(it, options);
        }
        print(&self.done, flags.dry_run, options)?;
        let Some(signal) = self.cut_by else { return Ok(self.status) };
        let message = "interrupted; nothing is kept of a file that was not finished";
        Err(Failure::new(signal, message).into())
    }
}

/// Ingests inputs, each for itself.
fn ingest(
    flags: &IngestFlags,
    inputs: &[Input],
    target: &mut Target,
    options: &GlobalOptions,
) -> anyhow::Result<Attempt> {
    let read = flags.read_options();
    let work = |cancelled: &Arc<AtomicBool>| {
        let mut batch = Batch::default();
        let mut status = ExitStatus::Ok;
        let mut fail = |error: anyhow::Error| {
            let error = space::explain(error, None, None, &options.session.dir, true);
            report::error(&error, options.terminal.stderr.colour);
            status = status.worst(report::status_of(&error));
        };
        for input in inputs {
            let job =
                Job { input, name: flags.name.as_deref(), if_exists: flags.if_exists, read: &read };
            if batch.is_due(&job) {
                batch.commit(target).into_iter().for_each(&mut fail);
            }
            match job.run(target, options, cancelled) {
                Ok(ingested) => batch.add(ingested),
                Err(_) if cancelled.load(Ordering::Relaxed) => break,
                Err(error) => fail(error),
            }
        }
        batch.commit(target).into_iter().for_each(&mut fail);
        (batch.into_done(), status)
    };
    let ((done, status), signal) = signals::interruptible(work)?;
    let cut_by = signal.filter(|_| done.len() < inputs.len());
    Ok(Attempt { done, status, cut_by })
}

/// Ingests the files that `ask` and `chat` are given, into a session that is open.
///
/// Returns the names of the datasets. An ephemeral session is nobody else's, so a name that it sees
/// in another session is taken over.
///
/// # Errors
///
/// Fails on the first file that cannot be ingested, or whose name is taken by other data; with the
/// signal's status when one came.
pub fn ingest_for_turn(
    session: &mut Session,
    inputs: &[Input],
    is_ephemeral: bool,
    options: &GlobalOptions,
) -> anyhow::Result<Vec<String>> {
    let if_exists = if is_ephemeral { IfExists::Replace } else { IfExists::Error };
    let read = IngestOptions::default();
    let mut target = Target::Open(session);
    let work = |cancelled: &Arc<AtomicBool>| {
        let mut batch = Batch::default();
        for input in inputs {
            let job = Job { input, name: None, if_exists, read: &read };
            batch.add(job.run(&mut target, options, cancelled)?);
            if let Some(error) = batch.commit(&mut target).pop() {
                return Err(error);
            }
        }
        anyhow::Ok(batch.into_done().into_iter().map(|it| it.name).collect())
    };
    let (names, signal) = signals::interruptible(work)?;
    match (names, signal) {
        (Err(_), Some(signal)) => Err(Failure::new(signal, "interrupted").into()),
        (names, _) => names,
    }
}

/// Ingests a file in the place of a dataset that a temporary session sees, read as that one was told to
/// be.
///
/// # Errors
///
/// Fails when there is no such dataset, or the file cannot be ingested.
pub fn ingest_in_place(
    session: &mut Session,
    name: &str,
    file: &Path,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let Some(dataset) = session.catalog().get(name) else {
        let names = session.catalog().names().collect::<Vec<_>>().join(", ");
        let message = format!("no dataset `{name}` in this session");
        let hint = format!("there are {names}");
        return Err(Failure::new(ExitStatus::Input, message).hint(hint).into());
    };
    let read = options_of(dataset)
        .with_context(|| format!("cannot read `{}` as `{name}` was read", file.display()))?;
    let input = Input::from(file.to_owned());
    let mut target = Target::Open(session);
    let work = |cancelled: &Arc<AtomicBool>| {
        let job =
            Job { input: &input, name: Some(name), if_exists: IfExists::Replace, read: &read };
        let mut batch = Batch::default();
        batch.add(job.run(&mut target, options, cancelled)?);
        batch.commit(&mut target).pop().map_or(Ok(()), Err)
    };
    let (done, signal) = signals::interruptible(work)?;
    match (done, signal) {
        (Err(_), Some(signal)) => Err(Failure::new(signal, "interrupted").into()),
        (done, _) => done,
    }
}

/// Returns how a dataset was told to be read.
fn options_of(dataset: &Dataset) -> anyhow::Result<IngestOptions> {
    // Written by `IngestOptions::given`; what an older version wrote may mean nothing any more.
    let told = dataset.dialect.told.iter().map(|it| it.replacen(' ', "=", 1));
    let line = ["ingest".to_owned()].into_iter().chain(told).chain(["-".to_owned()]);
    let flags = IngestFlags::augment_args(clap::Command::new("ingest"))
        .try_get_matches_from(line)
        .and_then(|it| IngestFlags::from_arg_matches(&it))?;
    Ok(flags.read_options())
}

fn check(flags: &IngestFlags) -> anyhow::Result<()> {
    if let Some(url) = &flags.remote {
        return remote::check(flags, url);
    }
    let inputs = flags.inputs();
    let usage =
        |message: &str, hint: &str| Err(Failure::new(ExitStatus::Usage, message).hint(hint).into());
    if flags.name.is_some() && 1 < inputs.len() {
        return usage(
            "`--name` names one dataset, and there are several files",
            "ingest them one by one",
        );
    }
    if 1 < inputs.iter().filter(|it| **it == Input::Stdin).count() {
        return usage("stdin can be read once", "give `-` once");
    }
    if inputs.iter().any(|it| it.shown_name().starts_with(SCHEME)) {
        // It may have a token in it, and is not shown.
        return usage(
            &format!("what begins with `{SCHEME}` is a cluster, and no file"),
            "name what is to be read there: `--remote URL NAME=PATH-OR-TABLE`",
        );
    }
    if let Some(name) = &flags.name
        && !is_dataset_name(name)
    {
        let fitting = dataset::name_of(Path::new(name));
        return usage(
            &format!("`{name}` is no name of a dataset"),
            &format!("try `--name {fitting}`"),
        );
    }
    Ok(())
}

impl IngestFlags {
    fn inputs(&self) -> Vec<Input> {
        self.paths.iter().cloned().map(Input::from).collect()
    }

    fn read_options(&self) -> IngestOptions {
        IngestOptions {
            delimiter: self.delimiter.0.clone(),
            quote: self.quote.0,
            escape: self.escape.0,
            encoding: self.encoding.clone().filter(|it| it != "auto"),
            header: self.no_header.then_some(false),
            skip_lines: self.skip_rows,
            comments: self.comment.unwrap_or_default(),
            nulls: self.null.clone(),
            dtypes: self.dtype.clone(),
            date_order: self.date_order.map(DateOrder::from),
            decimal: self.decimal,
            bytes_max: self.max_bytes,
            strict: self.strict,
            is_plain: false,
        }
    }
}

/// Says on stderr in one line how the file was read, then what a user must know of lines that are
/// no rows and of rows that did not fit; with `-v` each decision with its reason.
fn tell_repairs(ingested: &Ingested, options: &GlobalOptions) {
    let Ingested { name, dataset, change, .. } = ingested;
    let told = &dataset.dialect.told;
    if *change == Change::Unchanged && !told.is_empty() && !options.quiet {
        let told = told.join(" ");
        report::note(&format!(
            "`{name}` was read with `{told}`; `--if-exists replace` reads it anew"
        ));
    }
    if matches!(change, Change::Unchanged | Change::Skipped) {
        return;
    }
    let colour = options.terminal.stderr.colour;
    if !options.quiet {
        report::note(&read_as(name, dataset));
    }
    if 0 < options.verbose && !options.quiet {
        for reason in &dataset.dialect.reasons {
            report::note(&format!("`{name}`: {reason}"));
        }
        for column in &dataset.columns {
            if let Some(note) = &column.note {
                report::note(&format!("`{name}`: column `{}`: {note}", column.name));
            }
        }
    }
    for (columns, note) in by_note(dataset, |it| it.is_ambiguous) {
        report::warning(&format!("`{name}`: {columns}: {note}"), colour);
    }
    if !options.quiet {
        // What a flag would read in another way is worth a line.
        for (columns, note) in by_note(dataset, |it| !it.is_ambiguous && names_flag(it)) {
            report::note(&format!("`{name}`: {columns}: {note}"));
        }
        if let Some(amounts) = amounts(dataset) {
            report::note(&format!("`{name}`: {amounts}"));
        }
    }
    if let Some(doubt) = &dataset.dialect.doubt {
        let encoding = &dataset.dialect.encoding;
        report::warning(&format!("`{name}`: encoding {encoding}: {doubt}"), colour);
    }
    if let Some(Damage { n_replaced, line, offset }) = dataset.dialect.damage {
        let encoding = &dataset.dialect.encoding;
        let what = match n_replaced {
            1 => format!("bytes that are no {encoding}, replaced by U+FFFD"),
            n => format!("{n} times bytes that are no {encoding}, each replaced by U+FFFD"),
        };
        let message = format!(
            "`{name}`: {what}; first at line {line}, byte offset {offset}; `--strict` refuses such \
             a file"
        );
        report::warning(&message, colour);
    }
    let rejects = options.session.dir.join(format!("datasets/{name}.rejects.jsonl"));
    let place = |is_row: bool| match first_lines(&rejects, is_row).as_str() {
        // Nothing is listed when nothing was kept, as with `--dry-run`.
        "" => String::new(),
        lines => format!("; first at line {lines}, all in `{}`", rejects.display()),
    };
    let set_aside = dataset.set_aside.words();
    if !set_aside.is_empty() {
        let hint = match dataset.set_aside.other_tables {
            0 => "",
            _ => "; `--skip-rows` begins at another table",
        };
        let (kinds, place) = (set_aside.join(", "), place(false));
        let message = format!("`{name}`: kept out of the table: {kinds}{place}{hint}");
        report::warning(&message, colour);
    }
    if let Some(sentence) = dataset.stray_quotes.sentence() {
        report::warning(&format!("`{name}`: {sentence}"), colour);
    }
    if let Some(line) = dataset.unclear_total {
        let message = format!(
            "`{name}`: the row on line {line} is called a total and was kept: its numbers are not the sums \
             of their columns"
        );
        report::warning(&message, colour);
    }
    let mut repairs = Vec::new();
    if 0 < dataset.padded_rows {
        let rows = counted(dataset.padded_rows, "row", "rows");
        repairs.push(format!("{rows} too short, padded with null"));
    }
    if 0 < dataset.surplus_rows {
        let rows = counted(dataset.surplus_rows, "row", "rows");
        repairs.push(format!("{rows} too long, the surplus in `_extra`"));
    }
    if !repairs.is_empty() {
        let (repairs, place) = (repairs.join(", "), place(true));
        let message = format!("`{name}`: {repairs}{place}; `--strict` refuses such a file");
        report::warning(&message, colour);
    }
}

/// Returns the line that says what was decided about a file.
fn read_as(name: &str, dataset: &Dataset) -> String {
    let dialect = &dataset.dialect;
    let about = if dataset.is_estimate() { "about " } else { "" };
    let mut parts = vec![
        format!("{about}{}", counted(dataset.row_count, "row", "rows")),
        counted(dataset.columns.len() as u64, "column", "columns"),
    ];
    match dialect.format {
        SourceFormat::Parquet => parts.push("Parquet".to_owned()),
        SourceFormat::Table => parts.push("table".to_owned()),
        SourceFormat::Text => {
            parts.push(dialect.encoding.clone());
            parts.extend(dialect.delimiter.iter().map(|it| format!("`{}`", it.escape_debug())));
            parts.push(match dialect.header_line {
                Some(line) => format!("header on line {line}"),
                None => "no header".to_owned(),
            });
            if dataset.columns.iter().any(|it| it.description.is_some()) {
                parts.push("further header rows kept as descriptions".to_owned());
            }
        }
    }
    parts.extend(dataset.set_aside.words());
    if let Some(remote) = dataset.remote() {
        parts.extend(remote.files.map(|it| counted(it, "file", "files")));
        parts.push(format!("at `{}`", remote.endpoint));
    }
    format!("`{name}`: {}", parts.join(", "))
}

/// Returns the columns that `is_it` says, those with the same note together, in the order of the file.
fn by_note(dataset: &Dataset, is_it: impl Fn(&Column) -> bool) -> Vec<(String, &str)> {
    let mut all: Vec<(Vec<&str>, &str)> = Vec::new();
    for column in dataset.columns.iter().filter(|it| is_it(it)) {
        let note = column.note.as_deref().unwrap_or_default();
        match all.iter_mut().find(|it| it.1 == note) {
            Some((names, _)) => names.push(&column.name),
            None => all.push((vec![&column.name], note)),
        }
    }
    all.into_iter().map(|(names, note)| (columns(&names), note)).collect()
}

/// Names columns, the first of many.
fn columns(names: &[&str]) -> String {
    const NAMED_MAX: usize = 5;
    let shown: Vec<String> = names.iter().take(NAMED_MAX).map(|it| format!("`{it}`")).collect();
    match names.len().saturating_sub(NAMED_MAX) {
        0 if names.len() == 1 => format!("column {}", shown.join(", ")),
        0 => format!("columns {}", shown.join(", ")),
        n => format!("columns {} and {n} more", shown.join(", ")),
    }
}

fn names_flag(column: &Column) -> bool {
    column.note.as_deref().is_some_and(|it| it.contains("`--"))
}

/// Says which columns of text are amounts, and the flag that makes numbers of them.
fn amounts(dataset: &Dataset) -> Option<String> {
    let kind = |it: &Column| match (it.dtype, &it.meaning) {
        (DType::String, Some(Meaning::Money { .. })) => Some("money"),
        (DType::String, Some(Meaning::Percent)) => Some("percent"),
        _ => None,
    };
    let known = || dataset.columns.iter().filter_map(|it| Some((it, kind(it)?)));
    let (first, wanted) = known().next()?;
    let mut said: Vec<(String, Vec<&str>)> = Vec::new();
    for (column, _) in known() {
        let words = column.meaning.as_ref().map_or(String::new(), Meaning::words);
        match said.iter_mut().find(|it| it.0 == words) {
            Some((_, names)) => names.push(&column.name),
            None => said.push((words, vec![&column.name])),
        }
    }
    let parts = said.iter().map(|(words, names)| format!("{} ({words})", columns(names)));
    let (parts, name) = (parts.collect::<Vec<_>>().join(", "), &first.name);
    Some(format!("kept as text: {parts}; `--dtype '{name}={wanted}'` makes numbers"))
}

fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Returns the lines of the source of the first entries of the list, as people list them: of rows
/// that were repaired, or of what is no row.
fn first_lines(rejects: &Path, is_row: bool) -> String {
    const LISTED_MAX: usize = 5;
    let Ok(file) = directory::open_file(rejects) else { return String::new() };
    let entries = BufReader::new(file).lines().map_while(Result::ok);
    let entries = entries.filter_map(|it| serde_json::from_str::<Value>(&it).ok());
    let is_listed =
        |it: &Value| it["reason"].as_str().is_some_and(|it| it.ends_with("; no row") != is_row);
    let lines = entries.filter(is_listed).filter_map(|it| it["line"].as_u64()).take(LISTED_MAX);
    lines.map(|it| it.to_string()).collect::<Vec<_>>().join(", ")
}

fn print(done: &[Ingested], dry_run: bool, options: &GlobalOptions) -> anyhow::Result<()> {
    let listing = if dry_run { schemas(done) } else { summary(done) };
    let is_json = matches!(options.format, Format::Json);
    if done.is_empty() && !is_json {
        return Ok(());
    }
    out::answer(|out| listing.write(out, options))
}

fn summary(done: &[Ingested]) -> Listing {
    let row = |it: &Ingested| {
        vec![
            json!(it.name),
            datasets::rows_shown(&it.dataset),
            json!(it.dataset.columns.len()),
            json!(it.change.name()),
            json!(it.dataset.source),
        ]
    };
    let columns = ["name", "rows", "columns", "status", "source"];
    let rows = done.iter().map(row).collect();
    Listing {
        frame: listing::frame(&columns, &["rows", "columns"], rows),
        documents: done.iter().map(document).collect(),
    }
}

/// What the files would become: every column of every dataset.
fn schemas(done: &[Ingested]) -> Listing {
    let datasets = done.iter().map(|it| (it.name.as_str(), &it.dataset));
    Listing {
        frame: datasets::schema_frame(datasets),
        documents: done.iter().map(document).collect(),
    }
}

fn document(ingested: &Ingested) -> Value {
    let mut document = datasets::document(&ingested.name, &ingested.dataset);
    document["status"] = ingested.change.name().into();
    document
}

#[cfg(test)]
mod tests {
    use super::{Input, MAX_BYTES};
    use crate::cli::values;
    use crate::limits::CSV_BYTES_MAX;

    #[test]
    fn the_help_shows_the_default_that_holds() {
        assert_eq!(values::size(MAX_BYTES), Ok(CSV_BYTES_MAX));
    }

    #[test]
    fn a_dash_is_stdin() {
        assert_eq!(Input::from(std::path::PathBuf::from("-")), Input::Stdin);
        assert_eq!(Input::Stdin.dataset_name(), "stdin");
    }
}
