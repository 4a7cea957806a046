//! `ingest`: CSV files become datasets of the session, each file for itself.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::listing::{self, Listing};
use super::options::GlobalOptions;
use super::progress::IngestProgress;
use super::values::{self, Delimiter};
use super::{datasets, out, report, signals};
use crate::catalog::{Catalog, DType, Dataset};
use crate::dataset::{self, IngestOptions, Progress, Source};
use crate::session::lock::LockRequest;
use crate::session::{Access, ResetScope, Session};
use crate::sink::Format;
use crate::status::{ExitStatus, Failure};

/// Name of the dataset that comes from stdin.
const STDIN_NAME: &str = "stdin";
/// Bytes of a name that `--name` gives: with its ending it must be a file's name.
const NAME_BYTES_MAX: usize = 100;
/// Bytes read from stdin at once.
const STDIN_CHUNK_BYTES: usize = 256 * 1024;
/// Time between two looks at whether a silent stdin is still waited for.
const STDIN_LOOK: Duration = Duration::from_millis(100);

/// Flags of `ingest`.
#[derive(Debug, Clone, Args)]
pub struct IngestFlags {
    /// CSV files; `-` reads stdin
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// Name of the dataset [default: the file's name]
    #[arg(short, long, value_name = "NAME")]
    pub name: Option<String>,

    /// What to do when the name is taken by other data
    #[arg(long, value_name = "ACTION", value_enum, default_value_t)]
    pub if_exists: IfExists,

    /// What separates the cells: a character, or comma, tab, semicolon, pipe, space
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = values::delimiter,
        default_value = "auto",
        hide_default_value = true,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub delimiter: Delimiter,

    /// Encoding of the text, such as utf-8, latin1, utf-16le
    #[arg(long, value_name = "NAME", help_heading = "How to read the file [default: find it out]")]
    pub encoding: Option<String>,

    /// The first record is data: columns are named `column_1`, `column_2`, …
    #[arg(long, help_heading = "How to read the file [default: find it out]")]
    pub no_header: bool,

    /// Cells that mean nothing is there, separated by commas, such as NA,-
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "How to read the file [default: find it out]"
    )]
    pub null: Option<Vec<String>>,

    /// Type of a column, such as zip=string. May be repeated
    #[arg(
        long,
        value_name = "COLUMN=TYPE",
        value_parser = values::typed_column,
        help_heading = "How to read the file [default: find it out]"
    )]
    pub dtype: Vec<(String, DType)>,

    /// Refuse a larger file
    #[arg(long, value_name = "SIZE", value_parser = values::size, default_value = MAX_BYTES)]
    pub max_bytes: u64,

    /// Refuse a file whose rows differ in length, instead of padding and setting aside
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

/// Where data comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// The process's stdin.
    Stdin,
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Input {
        if path.as_os_str() == "-" { Input::Stdin } else { Input::File(path) }
    }
}

impl Input {
    /// Returns the file as the user named it.
    pub fn shown_name(&self) -> String {
        match self {
            Input::File(path) => path.display().to_string(),
            Input::Stdin => "-".to_owned(),
        }
    }

    /// Returns the name of the dataset that it becomes.
    pub fn dataset_name(&self) -> String {
        match self {
            Input::File(path) => dataset::name_of(path),
            Input::Stdin => STDIN_NAME.to_owned(),
        }
    }

    fn open(&self, cancelled: &Arc<AtomicBool>) -> Source {
        match self {
            Input::File(path) => Source::File(path.clone()),
            Input::Stdin => Source::Stdin(Box::new(StdinReader::new(Arc::clone(cancelled)))),
        }
    }
}

/// What became of one input.
#[derive(Debug, Clone)]
pub struct Ingested {
    /// The dataset's name.
    pub name: String,
    /// The dataset, as the catalog has it now.
    pub dataset: Dataset,
    /// What was done.
    pub change: Change,
}

/// What was done to the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There was no dataset of that name.
    Added,
    /// Other data stood in its place, or the same file was to be read in another way.
    Replaced,
    /// The same file was ingested before.
    Unchanged,
    /// Other data stands there, and `--if-exists skip` keeps it.
    Skipped,
}

impl Change {
    fn name(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Replaced => "replaced",
            Change::Unchanged => "unchanged",
            Change::Skipped => "skipped",
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
pub fn run(flags: &IngestFlags, options: &GlobalOptions) -> anyhow::Result<ExitStatus> {
    let inputs: Vec<Input> = flags.paths.iter().cloned().map(Input::from).collect();
    check(flags, &inputs)?;
    let was_there = options.session.dir.join("session.json").exists();
    let mut target = Target::open(flags.dry_run, options)?;
    let read = flags.read_options();
    let work = |cancelled: &Arc<AtomicBool>| {
        let mut done = Vec::new();
        let mut status = ExitStatus::Ok;
        for input in &inputs {
            let job =
                Job { input, name: flags.name.as_deref(), if_exists: flags.if_exists, read: &read };
            match job.run(&mut target, options, cancelled) {
                Ok(ingested) => done.push(ingested),
                Err(_) if cancelled.load(Ordering::Relaxed) => break,
                Err(error) => {
                    report::error(&error, options.terminal.stderr.colour);
                    status = status.worst(report::status_of(&error));
                }
            }
        }
        (done, status)
    };
    let ((done, status), signal) = signals::interruptible(work)?;
    if !was_there
        && done.is_empty()
        && let Some(session) = target.session()
    {
        // A session that came with a mistyped path would be found by every later command.
        session.reset(ResetScope::All, false)?;
    }
    for it in &done {
        tell_repairs(it, options);
    }
    print(&done, flags.dry_run, options)?;
    match signal {
        Some(signal) if done.len() < inputs.len() => {
            let message = "interrupted; nothing is kept of a file that was not finished";
            Err(Failure::new(signal, message).into())
        }
        _ => Ok(status),
    }
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
    let read = ReadOptions { options: IngestOptions::default(), is_given: false };
    let mut target = Target::Open(session);
    let work = |cancelled: &Arc<AtomicBool>| {
        let mut names = Vec::new();
        for input in inputs {
            let job = Job { input, name: None, if_exists, read: &read };
            names.push(job.run(&mut target, options, cancelled)?.name);
        }
        anyhow::Ok(names)
    };
    let (names, signal) = signals::interruptible(work)?;
    match (names, signal) {
        (Err(_), Some(signal)) => Err(Failure::new(signal, "interrupted").into()),
        (names, _) => names,
    }
}

fn check(flags: &IngestFlags, inputs: &[Input]) -> anyhow::Result<()> {
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
    if let Some(name) = &flags.name
        && !is_name(name)
    {
        let fitting = dataset::name_of(Path::new(name));
        return usage(
            &format!("`{name}` is no name of a dataset"),
            &format!("try `--name {fitting}`"),
        );
    }
    Ok(())
}

/// A name is a file's name, a word for the model and an identifier of the user's.
fn is_name(name: &str) -> bool {
    let is_word = name.chars().all(|it| it.is_alphanumeric() || it == '_');
    is_word && name.len() <= NAME_BYTES_MAX && name.starts_with(|it: char| it.is_alphabetic())
}

/// How files are read, and whether the user said anything about it.
struct ReadOptions {
    options: IngestOptions,
    is_given: bool,
}

impl IngestFlags {
    fn read_options(&self) -> ReadOptions {
        let options = IngestOptions {
            delimiter: self.delimiter.0,
            encoding: self.encoding.clone().filter(|it| it != "auto"),
            header: self.no_header.then_some(false),
            nulls: self.null.clone(),
            dtypes: self.dtype.clone(),
            bytes_max: self.max_bytes,
            strict: self.strict,
        };
        let is_given = options.delimiter.is_some()
            || options.encoding.is_some()
            || options.header.is_some()
            || options.nulls.is_some()
            || !options.dtypes.is_empty();
        ReadOptions { options, is_given }
    }
}

/// Where datasets go.
enum Target<'a> {
    /// A session of this command.
    Own(Session),
    /// A session that somebody else opened.
    Open(&'a mut Session),
    /// Nowhere; these are there already.
    Nowhere(Catalog),
}

impl Target<'_> {
    fn open(dry_run: bool, options: &GlobalOptions) -> anyhow::Result<Target<'static>> {
        let dir = &options.session.dir;
        if dry_run {
            return Ok(Target::Nowhere(Session::read_catalog(dir)?));
        }
        let lock = LockRequest { wait: options.lock_wait, command: "ingest" };
        Ok(Target::Own(Session::open(dir, Access::Create, lock)?))
    }

    fn catalog(&self) -> &Catalog {
        match self {
            Target::Own(session) => session.catalog(),
            Target::Open(session) => session.catalog(),
            Target::Nowhere(catalog) => catalog,
        }
    }

    fn session(&mut self) -> Option<&mut Session> {
        match self {
            Target::Own(session) => Some(session),
            Target::Open(session) => Some(session),
            Target::Nowhere(_) => None,
        }
    }
}

/// One input on its way in.
struct Job<'a> {
    input: &'a Input,
    name: Option<&'a str>,
    if_exists: IfExists,
    read: &'a ReadOptions,
}

impl Job<'_> {
    fn run(
        &self,
        target: &mut Target,
        options: &GlobalOptions,
        cancelled: &Arc<AtomicBool>,
    ) -> anyhow::Result<Ingested> {
        let name = self.name.map_or_else(|| self.input.dataset_name(), str::to_owned);
        let present = target.catalog().get(&name).cloned();
        let shown_name = self.input.shown_name();
        // What is compared with a dataset is read twice, so stdin is kept until then.
        let kept = match (self.input, &present) {
            (Input::Stdin, Some(_)) => Some(keep_stdin(self.read.options.bytes_max, cancelled)?),
            _ => None,
        };
        let source = match (&kept, self.input) {
            (Some(kept), _) => Source::File(kept.path().to_owned()),
            (None, input) => input.open(cancelled),
        };
        let change = match &present {
            None => Change::Added,
            Some(dataset) => self.collide(&name, dataset, &source)?,
        };
        if let (Some(dataset), Change::Unchanged | Change::Skipped) = (present, change) {
            return Ok(Ingested { name, dataset, change });
        }
        let bar = IngestProgress::new(&shown_name, options);
        let progress = |it: Progress| bar.show(it);
        let read = &self.read.options;
        let dataset = match target.session() {
            None => dataset::inspect(source, &shown_name, &name, read, &progress, cancelled)?,
            Some(session) => {
                let dir = session.datasets_dir()?;
                let dataset =
                    dataset::ingest(source, &shown_name, &name, &dir, read, &progress, cancelled)?;
                session.register(&name, dataset.clone())?;
                dataset
            }
        };
        Ok(Ingested { name, dataset, change })
    }

    /// Decides what happens to a name that is taken.
    fn collide(&self, name: &str, present: &Dataset, source: &Source) -> anyhow::Result<Change> {
        let is_same = match source {
            Source::File(path) => is_same_file(path, present)?,
            Source::Stdin(_) => false,
        };
        match (is_same, self.if_exists) {
            (true, _) if !self.read.is_given => Ok(Change::Unchanged),
            // The same file, to be read in another way: nothing is lost that is not in the file.
            (true, IfExists::Error | IfExists::Replace) | (false, IfExists::Replace) => {
                Ok(Change::Replaced)
            }
            (_, IfExists::Skip) => Ok(Change::Skipped),
            (false, IfExists::Error) => {
                let message = format!(
                    "cannot ingest `{}`: dataset `{name}` holds other data, from `{}`",
                    self.input.shown_name(),
                    present.source
                );
                let hint = "replace it with `csv-agent ingest --if-exists replace`, or give the \
                            new one a name with `--name`";
                Err(Failure::new(ExitStatus::Input, message).hint(hint).into())
            }
        }
    }
}

/// A file of another size is another file; only one of the same size is read.
fn is_same_file(path: &Path, present: &Dataset) -> anyhow::Result<bool> {
    let is_same_size = path.metadata().is_ok_and(|it| it.is_file() && it.len() == present.bytes);
    Ok(is_same_size && dataset::sha256_file(path)? == present.sha256)
}

fn keep_stdin(bytes_max: u64, cancelled: &Arc<AtomicBool>) -> anyhow::Result<NamedTempFile> {
    let mut kept = NamedTempFile::new().context("cannot keep what comes from stdin")?;
    // One byte more than allowed: the ingest then refuses it in its own words.
    let mut stdin = StdinReader::new(Arc::clone(cancelled)).take(bytes_max.saturating_add(1));
    io::copy(&mut stdin, &mut kept).context("cannot keep what comes from stdin")?;
    Ok(kept)
}

/// Says on stderr what a user must know of rows that did not fit, and with `-v` how the file was
/// read.
fn tell_repairs(ingested: &Ingested, options: &GlobalOptions) {
    let Ingested { name, dataset, change } = ingested;
    if matches!(change, Change::Unchanged | Change::Skipped) {
        return;
    }
    let colour = options.terminal.stderr.colour;
    if 0 < options.verbose && !options.quiet {
        for reason in &dataset.dialect.reasons {
            report::note(&format!("`{name}`: {reason}"));
        }
    }
    if 0 < dataset.padded_rows {
        let n_rows = dataset.padded_rows;
        report::warning(
            &format!("`{name}`: {n_rows} rows are short and were padded with null"),
            colour,
        );
    }
    if 0 < dataset.surplus_rows {
        let n_rows = dataset.surplus_rows;
        let message =
            format!("`{name}`: {n_rows} rows have more cells than the header; see column `_extra`");
        report::warning(&message, colour);
    }
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
            json!(it.dataset.row_count),
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

/// Stdin as a reader that gives up when the flag is raised, even while nothing comes.
struct StdinReader {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: io::Cursor<Vec<u8>>,
    cancelled: Arc<AtomicBool>,
}

impl StdinReader {
    /// Starts a thread that reads ahead by one chunk. It ends with stdin or when the reader is gone;
    /// while it waits for input it ends with the process.
    fn new(cancelled: Arc<AtomicBool>) -> StdinReader {
        let (sender, chunks) = sync_channel(1);
        std::thread::spawn(move || {
            loop {
                let mut chunk = vec![0; STDIN_CHUNK_BYTES];
                let read = io::stdin().read(&mut chunk).map(|n| {
                    chunk.truncate(n);
                    chunk
                });
                let is_last = !read.as_ref().is_ok_and(|it| !it.is_empty());
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        StdinReader { chunks, chunk: io::Cursor::default(), cancelled }
    }
}

impl Read for StdinReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.chunk.read(buffer)?;
            if 0 < n || buffer.is_empty() {
                return Ok(n);
            }
            match self.chunks.recv_timeout(STDIN_LOOK) {
                Ok(chunk) => {
                    let chunk = chunk?;
                    if chunk.is_empty() {
                        return Ok(0);
                    }
                    self.chunk = io::Cursor::new(chunk);
                }
                Err(RecvTimeoutError::Timeout) if self.cancelled.load(Ordering::Relaxed) => {
                    return Err(io::Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
    }
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
