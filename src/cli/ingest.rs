//! `ingest`: makes datasets of the session from CSV and Parquet files, each file independently.

mod bar;
mod batch;
mod changed;
mod flags_elsewhere;
mod gone;
mod input;
mod job;
mod join;
mod names;
mod origin;
mod pool;
mod remarks;
mod remote;
mod sources;
mod space;
mod template;

pub(crate) use changed::{became_text, changed_sources, sources_of};
pub(crate) use flags_elsewhere::ReadFlagsOf;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use clap::{Args, FromArgMatches, ValueEnum};
use serde::Deserialize;
use serde_json::json;

use csv_agent_cluster::SCHEME;
use csv_agent_ingest::{
    Comments, DateOrder, DecimalMark, IngestOptions, RequestedType, TablePlace,
};
use csv_agent_session::Session;
use csv_agent_sink::{Format, sanitize};
use csv_agent_text::lists;
use csv_agent_types::catalog::{
    Catalog, Column, ColumnSpan, DType, Damage, Dataset, Meaning, SourceFormat,
};
use csv_agent_types::dataset_names::is_dataset_name;
use csv_agent_types::directory;
use csv_agent_types::limits::{REJECT_BYTES_MAX, REJECTS_MAX};
use csv_agent_types::status::{Failure, FailureKind};

use super::flags::one_of;
use super::listing::{self, Listing};
use super::options::GlobalOptions;
use super::options::settings::Settings;
use super::value_parsers::{self, Delimiter, EscapeFlag, QuoteFlag};
use super::{background_setup, confirm, dataset_listing, diagnostics, signals, stdout};
use crate::errors::{self, ExitStatus};
use crate::ingest::input::Input;
use bar::IngestBar;
use batch::Batch;
use gone::gone_parts;
use job::{Change, IngestContext, Ingested, Job, NameTaken, Target};
use join::Joining;
use names::NamePattern;
use origin::is_from;
use sources::{KeptSearches, SourceGroup, Sources};

pub(crate) use remote::{heads, take_places};

/// Flags of `ingest`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct IngestFlags {
    /// Files, directories, patterns or archives. `-` reads stdin
    ///
    /// Files can be CSV, Parquet, Arrow or JSON, workbooks, or SQLite databases. They can be
    /// compressed. Quote patterns such as 'data/**/*.csv'. `NAME=PATH` joins the files of a path
    /// into one dataset. With `--remote`, write `NAME=PATH` or `NAME=TABLE`.
    #[arg(value_name = "PATH", required = true)]
    pub paths: Vec<PathBuf>,

    /// Name of the dataset [default: the file's name]
    #[arg(short, long, value_name = "NAME")]
    pub name: Option<String>,

    /// Names of several datasets, made from their paths
    ///
    /// The pattern can contain {stem}, {parent}, {grandparent} and {ending}, such as
    /// '{parent}_{stem}'.
    #[arg(
        long,
        value_name = "PATTERN",
        value_parser = names::name_pattern,
        conflicts_with_all = ["name", "remote"],
        hide_short_help = true
    )]
    pub name_from: Option<NamePattern>,

    /// Join all files into one dataset
    ///
    /// The files must have the same columns.
    #[arg(long, conflicts_with_all = ["name_from", "remote"])]
    pub union: bool,

    /// Join all files into one dataset, even if columns differ
    ///
    /// If a file lacks a column, its rows have null there.
    #[arg(long, conflicts_with_all = ["union", "name_from", "remote"], hide_short_help = true)]
    pub union_by_name: bool,

    /// Sheet or database table to read [default: all]. May be repeated
    ///
    /// A pattern such as 'Q*' selects several. `--table` is another name of this flag. By default,
    /// csv-agent reads all sheets and tables that have data and are not hidden.
    #[arg(long, alias = "table", value_name = "NAME", conflicts_with = "remote")]
    pub sheet: Vec<String>,

    /// Make columns of nested JSON values, such as `address.city`
    #[arg(long, conflicts_with = "remote", hide_short_help = true)]
    pub flatten: bool,

    /// Ignore the subdirectories of a directory
    #[arg(long, hide_short_help = true)]
    pub no_recursive: bool,

    /// Register data that stays on this Spark cluster
    ///
    /// The URL is that of Spark Connect, such as `sc://host:15002`.
    #[arg(long, value_name = "URL", hide_short_help = true)]
    pub remote: Option<String>,

    /// What to do if other data already has the name
    ///
    /// Without --name, a file of another directory gets a name with that directory in it, such as
    /// `march_orders`.
    #[arg(long, value_name = "ACTION", value_enum, default_value_t)]
    pub if_exists: IfExists,

    /// Refuse a file that is larger than this
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = value_parsers::size,
        default_value = MAX_BYTES,
        conflicts_with = "remote",
        hide_short_help = true
    )]
    pub max_bytes: u64,

    /// Refuse a damaged file instead of repairing it
    ///
    /// A damaged file has rows of different lengths, or bytes that are not valid text.
    #[arg(long, hide_short_help = true)]
    pub strict: bool,

    /// Show what the files would become, and keep nothing
    #[arg(long)]
    pub dry_run: bool,

    // The last: its heading is also that of the flags behind it.
    #[command(flatten)]
    pub read: ReadFlags,
}

/// Flags of how a file is read. What they do not say is detected.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "How to read the file [default: detected]")]
pub(crate) struct ReadFlags {
    /// Delimiter of the cells
    ///
    /// One or more characters, or a word: comma, tab, semicolon, pipe, space.
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = value_parsers::delimiter,
        default_value = "auto",
        hide_default_value = true
    )]
    pub delimiter: Delimiter,

    /// Widths of the columns of a file without delimiters, such as 5,10,3
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = value_parsers::column_width,
        conflicts_with_all = ["delimiter", "quote", "escape"],
        hide_short_help = true
    )]
    pub widths: Vec<NonZeroUsize>,

    /// Quote character, or none
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = value_parsers::quote,
        default_value = "auto",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub quote: QuoteFlag,

    /// How a quote is written in a quoted cell
    ///
    /// An escape character, or a word: backslash, doubled, none.
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = value_parsers::escape,
        default_value = "auto",
        hide_default_value = true,
        hide_short_help = true
    )]
    pub escape: EscapeFlag,

    /// Encoding, such as utf-8, latin1 or utf-16le
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<String>,

    /// The first row is data, not a header
    ///
    /// The columns get the names `column_1`, `column_2` and so on.
    #[arg(long, hide_short_help = true)]
    pub no_header: bool,

    /// Number of lines to skip before the header
    #[arg(long, value_name = "NUMBER", value_parser = value_parsers::lines)]
    pub skip_rows: Option<u64>,

    /// Which tables to read if a file has several
    ///
    /// The tables can be one below the other or side by side.
    #[arg(
        long,
        value_name = "WHICH",
        value_enum,
        default_value_t,
        conflicts_with_all = ["remote", "skip_rows"],
        hide_short_help = true
    )]
    pub tables: Tables,

    /// Columns of the table, such as 4-6 or D-F
    ///
    /// csv-agent leaves out all other columns.
    #[arg(
        long,
        value_name = "RANGE",
        value_parser = value_parsers::columns,
        conflicts_with = "remote",
        hide_short_help = true
    )]
    pub columns: Option<ColumnSpan>,

    /// Character that begins a comment line, or none
    #[arg(long, value_name = "CHAR", value_parser = value_parsers::comment, hide_short_help = true)]
    pub comment: Option<Comments>,

    /// Values to treat as missing, such as NA,-
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub null: Option<Vec<String>>,

    /// Type of a column, such as zip=text. May be repeated
    ///
    /// The types are text, int, float, decimal, date, datetime, time, bool, money and percent.
    /// `*=money` converts all columns that csv-agent recognizes as money. The same works for
    /// percent and bool.
    #[arg(long, value_name = "COLUMN=TYPE", value_parser = value_parsers::typed_column)]
    pub dtype: Vec<(String, RequestedType)>,

    /// Order of ambiguous dates such as 01/02/2024
    #[arg(long, value_name = "ORDER", value_parser = one_of::<DateOrder>())]
    pub date_order: Option<DateOrder>,

    /// Decimal mark of all numbers: a comma or a point
    #[arg(long, value_name = "CHAR", value_parser = value_parsers::decimal, hide_short_help = true)]
    pub decimal: Option<DecimalMark>,
}

/// [`CSV_BYTES_MAX`](csv_agent_types::limits::CSV_BYTES_MAX), as the help shows it; a test compares the
/// two.
const MAX_BYTES: &str = "400MiB";

/// What to do when a dataset of that name holds other data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum IfExists {
    /// Ask about a single file on a terminal. Otherwise fail, and keep the dataset
    #[default]
    Ask,
    /// Fail, and keep the dataset
    Error,
    /// Replace the dataset
    Replace,
    /// Keep the dataset, and skip the file
    Skip,
}

/// Which tables of a file become datasets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tables {
    /// Only the first. A message says where the next one begins
    #[default]
    First,
    /// All of them. The second becomes `NAME_2`
    All,
}

/// Ingests the files that the flags name and prints one row per dataset.
///
/// A failed file is reported on stderr and does not undo the others; the exit status reflects it. Fails when
/// the flags contradict each other, the session cannot be opened, or stdout cannot be written.
pub(crate) fn run(
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
        // A session created by a mistyped path would be found by every later command.
        session.unmake(before.as_ref())?;
    }
    let outcomes = attempt?;
    let status = outcomes.tell(flags, options)?;
    let is_for_eyes = options.terminal.stdout.is_tty && options.terminal.stderr.is_tty;
    if is_for_eyes && options.has_notes() && !flags.dry_run && flags.remote.is_none() && !is_empty {
        let name = match outcomes.done.as_slice() {
            [only] => format!(" {}", only.name),
            _ => String::new(),
        };
        diagnostics::note(&format!("`csv-agent describe{name}` shows what the columns contain"));
        if background_setup::begin(settings)? {
            diagnostics::note(
                "Python is being set up in the background, for questions to a model (about 700 MB)",
            );
        }
    }
    Ok(status)
}

/// Ingests the files that the flags name into an open session, and prints one row per dataset.
pub(crate) fn run_in(
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
) -> anyhow::Result<InputOutcomes> {
    match &flags.remote {
        Some(url) => remote::ingest(flags, url, target, settings, options),
        None => ingest(flags, target, options),
    }
}

/// The results of inputs.
struct InputOutcomes {
    done: Vec<Ingested>,
    status: ExitStatus,
    /// The signal that came before all of them were done.
    cut_by: Option<FailureKind>,
    /// Skipped files in directories and archives.
    skipped: Vec<String>,
    /// About datasets whose part of a file is gone, and JSON that is not a table.
    warnings: Vec<String>,
    n_failed: usize,
    /// Whether there were several files, which get shorter reports.
    is_many: bool,
}

impl InputOutcomes {
    /// Makes the results of data that stays on its cluster.
    fn at_cluster(
        done: Vec<Ingested>,
        status: ExitStatus,
        cut_by: Option<FailureKind>,
    ) -> InputOutcomes {
        InputOutcomes {
            done,
            status,
            cut_by,
            skipped: Vec::new(),
            warnings: Vec::new(),
            n_failed: 0,
            is_many: false,
        }
    }

    /// Prints the results, and returns the exit status.
    fn tell(&self, flags: &IngestFlags, options: &GlobalOptions) -> anyhow::Result<ExitStatus> {
        let told = shown(&self.done);
        if self.is_many {
            remarks::tell(&told, options);
        } else {
            for it in &told {
                tell_repairs(it, options);
            }
        }
        diagnostics::warnings(self.warnings.clone(), options.terminal.stderr.colour);
        if options.has_notes() {
            self.skipped.iter().for_each(|it| diagnostics::note(it));
        }
        print(&self.done, flags.dry_run, options)?;
        if self.is_many && !self.done.is_empty() && options.has_notes() {
            for family in remarks::families(&self.done, self.n_failed) {
                diagnostics::note(&family);
            }
            let is_in_full = self.done.iter().any(|it| has_all_tables(&it.dataset));
            let what = if is_in_full { ("table", "tables") } else { ("file", "files") };
            diagnostics::note(&remarks::counts(&self.done, self.n_failed, what));
        }
        let Some(signal) = self.cut_by else { return Ok(self.status) };
        let message = "interrupted; files that were not finished are not ingested";
        Err(Failure::new(signal, message).into())
    }
}

/// Returns copies for reports: tables of a file that are datasets as well are not missing.
fn shown(done: &[Ingested]) -> Vec<Ingested> {
    let in_full = done.iter().map(|it| &it.dataset).filter(|it| has_all_tables(it));
    let in_full: HashSet<&str> = in_full.map(|it| it.source.as_str()).collect();
    let shown = done.iter().map(|it| {
        let mut shown = it.shown();
        if in_full.contains(it.dataset.source.as_str()) {
            let aside = &mut shown.dataset.set_aside;
            (aside.other_tables, aside.next_table) = (0, 0);
        }
        shown
    });
    shown.collect()
}

/// Returns whether the files of a dataset have tables that were not read.
fn has_unread_tables(dataset: &Dataset) -> bool {
    let is_first = dataset.table_number.is_none() && !has_all_tables(dataset);
    is_first && 0 < dataset.set_aside.other_tables.max(dataset.set_aside.next_table)
}

/// Ingests the files that the flags name, each input independently.
fn ingest(
    flags: &IngestFlags,
    target: &mut Target,
    options: &GlobalOptions,
) -> anyhow::Result<InputOutcomes> {
    let read = flags.read_options();
    let session_dir = target.session_dir(options);
    let union = match (flags.union, flags.union_by_name) {
        (true, _) => Some(join::SAME_COLUMNS),
        (false, true) => Some(join::BY_NAME),
        (false, false) => None,
    };
    let how = How {
        union,
        joins_names: false,
        name: flags.name.as_deref(),
        name_from: flags.name_from.as_ref(),
        if_exists: flags.if_exists,
        read: &read,
        session_dir: &session_dir,
    };
    let work = |cancelled: &Arc<AtomicBool>| {
        let search = sources::Search {
            is_recursive: !flags.no_recursive,
            tables: flags.sheet.clone(),
            bytes_max: flags.max_bytes,
            is_shallow: false,
            joins_parts: union.is_none(),
        };
        let is_plain = flags.sheet.is_empty() && !flags.no_recursive;
        let kept = (is_plain && flags.if_exists != IfExists::Replace).then(|| {
            let all = union.map(|_| flags.paths.as_slice());
            KeptSearches::of(target.catalog(), all, &session_dir)
        });
        let mut sources = sources::expand(&flags.paths, search, kept.as_ref(), cancelled)?;
        sources.tell_links(options);
        // What comes from stdin is not known before it is read.
        let any_with_tables = sources.any_with_tables || sources.inputs.contains(&Input::Stdin);
        if !flags.sheet.is_empty() && !any_with_tables && sources.errors.is_empty() {
            let message = "`--sheet` names a sheet or a table, but no file has any";
            let hint = "leave it out, or name a workbook or a database";
            return Err(Failure::usage(message).hint(hint).into());
        }
        let mut status = ExitStatus::Ok;
        let mut n_failed = 0;
        let mut fail = |error: anyhow::Error| {
            let error = space::explain(error, None, None, &options.session.dir, true);
            diagnostics::error(&error, options.terminal.stderr.colour);
            status = status.max(errors::status_of(&error));
            n_failed += 1;
        };
        let is_part = !sources.errors.is_empty() || !sources.unread.is_empty();
        sources.errors.drain(..).chain(sources.unread.drain(..)).for_each(&mut fail);
        let mut plan = IngestPlan::of(&sources, &how, target.catalog())?;
        if is_part {
            plan.joinings.drain(..).for_each(|it| fail(it.refused_as_part().into()));
        }
        let n_planned = plan.jobs.len() + plan.joinings.len();
        let before = target.catalog().clone();
        let done = run_plan(&mut plan, &how, target, options, cancelled, &mut fail);
        let gone = gone_parts(&before, &sources.opened, &done, 0 < n_failed, &session_dir);
        let warnings = [gone, sources.no_tables].concat();
        let (mut skipped, is_many) = (sources.skipped, 1 < n_planned.max(done.len()));
        match sources.n_again {
            0 => {}
            1 => skipped.push("1 file is named more than once, but was read only once".to_owned()),
            n => {
                skipped
                    .push(format!("{n} files are named more than once, but were read only once"));
            }
        }
        let attempt =
            InputOutcomes { done, status, cut_by: None, skipped, warnings, n_failed, is_many };
        anyhow::Ok((attempt, n_planned))
    };
    let (ended, signal) = signals::interruptible(work)?;
    let (attempt, n_planned) = match (ended, signal) {
        (Err(_), Some(signal)) => return Err(Failure::new(signal, "interrupted").into()),
        (ended, _) => ended?,
    };
    let cut_by = signal.filter(|_| attempt.done.len() + attempt.n_failed < n_planned);
    Ok(InputOutcomes { cut_by, ..attempt })
}

/// How files become datasets.
struct How<'a> {
    /// The flag that makes one dataset of all files.
    union: Option<&'static str>,
    /// Paths with one name form one dataset.
    joins_names: bool,
    name: Option<&'a str>,
    name_from: Option<&'a NamePattern>,
    if_exists: IfExists,
    read: &'a IngestOptions,
    /// The session of the new datasets.
    session_dir: &'a Path,
}

/// The plan for all files.
struct IngestPlan<'a> {
    /// Each becomes one dataset.
    jobs: Vec<Job<'a>>,
    /// Groups of files that each become one dataset.
    joinings: Vec<Joining>,
    /// For each job, whether the user named its file.
    are_named: Vec<bool>,
}

impl<'a> IngestPlan<'a> {
    /// Decides what to join, and the names.
    fn of(
        sources: &'a Sources,
        how: &How<'a>,
        catalog: &Catalog,
    ) -> anyhow::Result<IngestPlan<'a>> {
        let Sources { inputs, groups, .. } = sources;
        let groups = || groups.iter().filter(|it| !it.inputs.is_empty());
        let mut joinings = Vec::new();
        let rest: Vec<&SourceGroup> =
            groups().filter(|it| it.name.is_none() && !it.is_table).collect();
        let mut jobs = Vec::new();
        let mut are_named = Vec::new();
        for group in groups() {
            let Some(name) = &group.name else { continue };
            let has_name = |it: &&SourceGroup| it.name.as_ref() == Some(name);
            let same: Vec<&SourceGroup> =
                if how.joins_names { groups().filter(has_name).collect() } else { vec![group] };
            if group.is_file && same.len() == 1 {
                let input = &inputs[group.inputs.start];
                let (if_exists, read) = (how.if_exists, how.read);
                jobs.push(Job { input, name: name.clone(), if_exists, read });
                are_named.push(true);
            } else if std::ptr::eq(same[0], group) {
                joinings.push(Joining::of(Some(name), &same, sources, how.union));
            }
        }
        if how.union.is_some() {
            if !rest.is_empty() {
                joinings.push(Joining::of(how.name, &rest, sources, how.union));
            }
            return IngestPlan { jobs, joinings, are_named }.checked(catalog);
        }
        let single: Vec<&Input> = rest.iter().flat_map(|it| &inputs[it.inputs.clone()]).collect();
        let tables: Vec<&SourceGroup> = groups().filter(|it| it.is_table).collect();
        let table_dirs: Vec<Input> = tables.iter().map(|it| Input::File(it.path.clone())).collect();
        let all: Vec<&Input> = single.iter().copied().chain(&table_dirs).collect();
        let mut names = match (how.name, how.name_from) {
            (Some(_), _) if 1 < all.len() => return Err(several_for_one_name().into()),
            (Some(name), _) => vec![name.to_owned(); all.len()],
            (None, Some(pattern)) => names::by_pattern(&all, pattern)?,
            (None, None) => names::unique(&all, catalog, how.if_exists, how.session_dir),
        };
        for (table, name) in tables.into_iter().zip(names.split_off(single.len())) {
            joinings.push(Joining::of(Some(&name), &[table], sources, None));
        }
        are_named.extend(rest.iter().flat_map(|it| it.inputs.clone().map(|_| it.is_file)));
        for (input, name) in single.into_iter().zip(names) {
            jobs.push(Job { input, name, if_exists: how.if_exists, read: how.read });
        }
        IngestPlan { jobs, joinings, are_named }.checked(catalog)
    }

    /// Spells names as the session does. Fails when two datasets would have the same name, because the second
    /// would replace the first.
    fn checked(mut self, catalog: &Catalog) -> anyhow::Result<IngestPlan<'a>> {
        let names = self.jobs.iter_mut().map(|it| &mut it.name);
        for name in names.chain(self.joinings.iter_mut().map(Joining::name_mut)) {
            *name = catalog.spelled(name).to_owned();
        }
        let jobs = self.jobs.iter().map(|it| (it.name.as_str(), it.input.shown_name()));
        let joinings = self.joinings.iter().map(|it| (it.name(), it.shown_name()));
        let mut known: HashMap<String, String> = HashMap::new();
        for (name, source) in joinings.chain(jobs) {
            if let Some(other) = known.insert(name.to_lowercase(), source.clone()) {
                let message = format!("`{other}` and `{source}` would both have the name `{name}`");
                let hint = "give each its own name, as in `NAME=PATH`\nto join files, use one \
                            pattern or `--union`";
                return Err(Failure::usage(message).hint(hint).into());
            }
        }
        Ok(self)
    }
}

fn run_plan(
    plan: &mut IngestPlan<'_>,
    how: &How<'_>,
    target: &mut Target,
    options: &GlobalOptions,
    cancelled: &Arc<AtomicBool>,
    fail: &mut (dyn FnMut(anyhow::Error) + Send),
) -> Vec<Ingested> {
    let mut done = Vec::new();
    for joining in plan.joinings.drain(..) {
        if cancelled.load(Ordering::Relaxed) {
            break;
        }
        match join(joining, how, target, options, cancelled, fail) {
            Ok(ingested) => done.extend(ingested),
            Err(_) if cancelled.load(Ordering::Relaxed) => break,
            Err(error) => fail(error),
        }
    }
    done.extend(run_with_further(&plan.jobs, how, target, options, cancelled, fail));
    done
}

/// Runs jobs as [`run_jobs`] does, then reads the further tables of files that are read in full.
fn run_with_further(
    jobs: &[Job<'_>],
    how: &How<'_>,
    target: &mut Target,
    options: &GlobalOptions,
    cancelled: &Arc<AtomicBool>,
    fail: &mut (dyn FnMut(anyhow::Error) + Send),
) -> Vec<Ingested> {
    let mut done = run_jobs(jobs, target, options, cancelled, fail);
    let further = further(jobs, &done, how, target, options, cancelled, fail);
    done.extend(further);
    done
}

/// Returns whether all tables of a dataset's files are datasets.
fn has_all_tables(dataset: &Dataset) -> bool {
    dataset.dialect.told.iter().any(|it| it == "--tables all")
}

/// A file with tables still to read.
struct Unread<'a> {
    input: &'a Input,
    /// The name of its first dataset.
    name: String,
    /// The number of the next one.
    number: usize,
    /// How its first table was read.
    read: IngestOptions,
    places: VecDeque<TablePlace>,
}

/// Reads the tables next to and below the first ones, each as a dataset of its own. Returns their results.
fn further(
    jobs: &[Job<'_>],
    first: &[Ingested],
    how: &How<'_>,
    target: &mut Target,
    options: &GlobalOptions,
    cancelled: &Arc<AtomicBool>,
    fail: &mut (dyn FnMut(anyhow::Error) + Send),
) -> Vec<Ingested> {
    let unread = |it: &Ingested| {
        let input = jobs.iter().find(|job| job.name == it.name)?.input;
        let places = TablePlace::default().others(&it.dataset).into();
        let told = it.dataset.dialect.told.iter().map(|it| it.replacen(' ', "=", 1));
        let read = options_of_flags(told).ok()?;
        let IngestOptions { bytes_max, strict, is_temporary, .. } = *how.read;
        let statement = how.read.statement.clone();
        let read = IngestOptions { bytes_max, strict, is_temporary, statement, ..read };
        Some(Unread { input, name: it.name.clone(), number: 2, read, places })
    };
    let in_full = first.iter().filter(|it| has_all_tables(&it.dataset));
    let mut files: Vec<Unread> = in_full.filter_map(unread).collect();
    let mut done = Vec::new();
    loop {
        files.retain(|it| !it.places.is_empty());
        if files.is_empty() || cancelled.load(Ordering::Relaxed) {
            return done;
        }
        let mut next = Vec::new();
        for file in &mut files {
            let Some(place) = file.places.pop_front() else { continue };
            let is_free = |name: &str| {
                let taken = target.catalog().alike(name);
                taken.is_none_or(|it| is_from(it, file.input, how.session_dir))
            };
            // Skips names that other data uses.
            while !is_free(&format!("{}_{}", file.name, file.number)) {
                file.number += 1;
            }
            let table_number = Some(file.number);
            let read = IngestOptions { may_lack: true, table_number, ..file.read.clone() };
            next.push((place, place.read(&read)));
        }
        let mut jobs = Vec::new();
        for (file, (_, read)) in files.iter_mut().zip(&next) {
            let (name, if_exists) = (format!("{}_{}", file.name, file.number), how.if_exists);
            jobs.push(Job { input: file.input, name, if_exists, read });
            file.number += 1;
        }
        let found = run_jobs(&jobs, target, options, cancelled, fail);
        let names: Vec<String> = jobs.into_iter().map(|it| it.name).collect();
        for ((name, (place, _)), file) in names.iter().zip(next).zip(&mut files) {
            if let Some(found) = found.iter().find(|it| it.name == *name) {
                file.places.extend(place.others(&found.dataset));
            }
        }
        done.extend(found);
    }
}

/// Joins files, if all their tables are read those of each position, and registers the resulting datasets: all of
/// them or none. `fail` receives why a file is left out.
fn join(
    joining: Joining,
    how: &How<'_>,
    target: &mut Target,
    options: &GlobalOptions,
    cancelled: &Arc<AtomicBool>,
    fail: &mut dyn FnMut(anyhow::Error),
) -> anyhow::Result<Vec<Ingested>> {
    let catalog = target.catalog().clone();
    let dir = target.session().map(|it| it.datasets_dir()).transpose()?;
    let session_dir = target.session_dir(options);
    let place = IngestContext {
        catalog: &catalog,
        dir: dir.as_deref(),
        session_dir: &session_dir,
        are_several: false,
        options,
        cancelled,
    };
    let mut batch = Batch::default();
    let fail = RefCell::new(fail);
    let mut next = Some(joining);
    for at in 0.. {
        let Some(mut joining) = next else { break };
        let bar = IngestBar::new("", joining.len().max(2), options);
        let fail = |error| bar.suspend(|| fail.borrow_mut()(error));
        let joined = joining.run(&place, how.if_exists, how.read, &bar, &fail)?;
        let is_unchanged = joined.change == Change::Unchanged;
        batch.add(at, joined);
        if is_unchanged {
            let further = joining.unchanged_further(&catalog, &session_dir);
            further.for_each(|it| batch.add(at, it));
        }
        next = joining.next(&catalog, &session_dir);
    }
    if let Some(error) = batch.commit(target).pop() {
        return Err(error);
    }
    Ok(batch.into_done())
}

/// Runs jobs and registers their datasets. Returns the successful results in order.
fn run_jobs(
    jobs: &[Job<'_>],
    target: &mut Target,
    options: &GlobalOptions,
    cancelled: &Arc<AtomicBool>,
    fail: &mut (dyn FnMut(anyhow::Error) + Send),
) -> Vec<Ingested> {
    let [first, ..] = jobs else { return Vec::new() };
    let are_several = 1 < jobs.len();
    let bar = IngestBar::new(&first.input.shown_name(), jobs.len(), options);
    let mut fail = |error| bar.suspend(|| fail(error));
    let catalog = target.catalog().clone();
    let dir = match target.session().map(|it| it.datasets_dir()).transpose() {
        Ok(dir) => dir,
        Err(error) => {
            fail(error);
            return Vec::new();
        }
    };
    let session_dir = target.session_dir(options);
    let place = IngestContext {
        catalog: &catalog,
        dir: dir.as_deref(),
        session_dir: &session_dir,
        are_several,
        options,
        cancelled,
    };
    let mut batch = if are_several && !first.read.may_lack {
        Batch::of_several(first.read)
    } else {
        Batch::default()
    };
    let (small, large) = pool::divided(jobs);
    let mut taken = Vec::new();
    pool::run(jobs, &small, &place, &bar, |at, outcome| {
        match outcome {
            Ok(ingested) => batch.add(at, ingested),
            Err(error) => taken.extend(unless_taken(at, error, &mut fail)),
        }
        if batch.is_due() {
            batch.commit(target).into_iter().for_each(&mut fail);
        }
    });
    if !large.is_empty() {
        batch.commit(target).into_iter().for_each(&mut fail);
    }
    for at in large {
        if cancelled.load(Ordering::Relaxed) {
            break;
        }
        match jobs[at].run(&place, 1, &bar) {
            Ok(ingested) => batch.add(at, ingested),
            Err(_) if cancelled.load(Ordering::Relaxed) => break,
            Err(error) => taken.extend(unless_taken(at, error, &mut fail)),
        }
        bar.count();
        batch.commit(target).into_iter().for_each(&mut fail);
    }
    for (at, taken) in taken {
        let may_ask = options.may_ask && dir.is_some() && jobs[at].if_exists == IfExists::Ask;
        let agreed = may_ask && bar.suspend(|| may_replace(&taken, cancelled));
        if cancelled.load(Ordering::Relaxed) {
            break;
        }
        if !agreed {
            fail(Failure::from(&taken).into());
            continue;
        }
        let job = Job { if_exists: IfExists::Replace, name: jobs[at].name.clone(), ..jobs[at] };
        match job.run(&place, 1, &bar) {
            Ok(ingested) => batch.add(at, ingested),
            Err(_) if cancelled.load(Ordering::Relaxed) => break,
            Err(error) => fail(error),
        }
    }
    batch.finish(target).into_iter().for_each(&mut fail);
    batch.into_done()
}

/// Reports an error, unless it is that the name is taken, about which the user is asked at the end.
fn unless_taken(
    at: usize,
    error: anyhow::Error,
    fail: &mut dyn FnMut(anyhow::Error),
) -> Option<(usize, NameTaken)> {
    match error.downcast::<NameTaken>() {
        Ok(taken) => Some((at, taken)),
        Err(error) => {
            fail(error);
            None
        }
    }
}

/// Asks whether a file replaces the dataset of its name. Ctrl-C ends the wait for an answer.
fn may_replace(taken: &NameTaken, cancelled: &Arc<AtomicBool>) -> bool {
    let NameTaken { source, name, present, .. } = taken;
    let what =
        format!("replace the dataset `{name}`, which comes from `{present}`, with `{source}`");
    let answer = job::stdin(cancelled).and_then(|it| confirm::ask(&what, BufReader::new(it)));
    answer.unwrap_or(false)
}

/// How the inputs of a turn are ingested.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TurnInputs<'a> {
    /// Whether every file of a directory has to be readable.
    pub needs_all: bool,
    /// Whether the files of several `NAME=PATH` with one name are one dataset.
    pub joins_names: bool,
    /// Whether a file with rows that do not fit is refused.
    pub is_strict: bool,
    /// The order of ambiguous dates.
    pub date_order: Option<DateOrder>,
    /// How to read the files, if the user says so.
    pub read: Option<&'a IngestOptions>,
    /// The only statement that will read the datasets, if it names all columns that it reads.
    pub statement: Option<&'a str>,
    /// What warnings name.
    pub warned_of: WarningSubject,
    /// Where the user can say how files are read.
    pub read_flags: ReadFlagsOf,
}

/// What a warning about an input names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum WarningSubject {
    #[default]
    Dataset,
    /// The user did not choose the names of the datasets.
    File,
}

/// Ingests the inputs of `ask` and `chat` into an open session: files, directories, patterns and archives.
/// Returns the names of the datasets. The session receives the warnings about files that have changed.
///
/// An unreadable file of a directory causes only a warning, if there is another. Data from stdin replaces
/// earlier data from stdin. Fails when there is nothing at a path, when a named file cannot be ingested, or its
/// name is used by other data; with the signal's status when one came.
pub(crate) fn ingest_for_turn(
    session: &mut Session,
    paths: &[PathBuf],
    how: TurnInputs<'_>,
    options: &GlobalOptions,
) -> anyhow::Result<Vec<String>> {
    let (names, failures) = ingest_inputs(session, paths, how, true, options)?;
    failures.into_iter().next().map_or(Ok(names), Err)
}

/// Ingests what can be read of the inputs, as [`ingest_for_turn`] does. Returns why named paths cannot be read.
///
/// Fails when two inputs would have the same name; with the signal's status when one came.
pub(crate) fn ingest_readable(
    session: &mut Session,
    paths: &[PathBuf],
    options: &GlobalOptions,
) -> anyhow::Result<Vec<anyhow::Error>> {
    Ok(ingest_inputs(session, paths, TurnInputs::default(), false, options)?.1)
}

/// Returns the names of the datasets, and why paths that the user named cannot be read. With `ends_early`, no file
/// of a directory is read after the first of these.
fn ingest_inputs(
    session: &mut Session,
    paths: &[PathBuf],
    how: TurnInputs<'_>,
    ends_early: bool,
    options: &GlobalOptions,
) -> anyhow::Result<(Vec<String>, Vec<anyhow::Error>)> {
    let TurnInputs { needs_all, joins_names, is_strict, date_order, read, statement, .. } = how;
    let (warned_of, read_flags) = (how.warned_of, how.read_flags);
    // A temporary session replaces nothing of the user's, so there is nothing to ask.
    let if_exists = if session.is_kept() { IfExists::Ask } else { IfExists::Error };
    let read = read.cloned().unwrap_or_default();
    let date_order = read.date_order.or(date_order);
    let is_temporary = !session.is_kept();
    let statement = statement.filter(|_| is_temporary).map(Arc::from);
    let read = IngestOptions { strict: is_strict, date_order, is_temporary, statement, ..read };
    let session_dir = session.dir().to_owned();
    let how = How {
        union: None,
        joins_names,
        name: None,
        name_from: None,
        if_exists,
        read: &read,
        session_dir: &session_dir,
    };
    let mut target = Target::Open(session);
    let work = |cancelled: &Arc<AtomicBool>| {
        let search = sources::Search::all(read.bytes_max);
        let kept = KeptSearches::of(target.catalog(), None, &session_dir);
        let mut sources = sources::expand(paths, search, Some(&kept), cancelled)?;
        sources.tell_links(options);
        let mut failures = std::mem::take(&mut sources.errors);
        if ends_early && let Some(error) = failures.pop() {
            return Err(error);
        }
        let mut unread = std::mem::take(&mut sources.unread);
        let mut plan = IngestPlan::of(&sources, &how, target.catalog())?;
        let mut are_named = std::mem::take(&mut plan.are_named).into_iter();
        let (named, found) = plan.jobs.into_iter().partition(|_| are_named.next().unwrap_or(true));
        plan.jobs = named;
        for job in plan.jobs.iter_mut().filter(|it| *it.input == Input::Stdin) {
            let before = target.catalog().get(&job.name);
            if before.is_none_or(|it| it.source == Input::Stdin.shown_name()) {
                job.if_exists = IfExists::Replace;
            }
        }
        let before = target.catalog().clone();
        let mut tell = |it| failures.push(it);
        let mut done = run_plan(&mut plan, &how, &mut target, options, cancelled, &mut tell);
        if failures.is_empty() || !ends_early {
            let mut tell = |it| unread.push(it);
            let found: Vec<Job> = found;
            done.extend(run_with_further(&found, &how, &mut target, options, cancelled, &mut tell));
            // Without any data, no question can be answered.
            let n_fatal = if needs_all { unread.len() } else { usize::from(done.is_empty()) };
            failures.extend(unread.drain(..n_fatal.min(unread.len())));
        }
        let gone = gone_parts(
            &before,
            &sources.opened,
            &done,
            !failures.is_empty() || !unread.is_empty(),
            &session_dir,
        );
        Ok((done, failures, unread, [gone, sources.no_tables].concat()))
    };
    let (ended, signal) = signals::interruptible(work)?;
    if let Some(signal) = signal {
        return Err(Failure::new(signal, "interrupted").into());
    }
    let (done, failures, unread, warnings) = ended?;
    for it in unread.iter().map(|it| format!("{it:#}")).chain(warnings) {
        session.warn(read_flags.told(&it));
    }
    warn_of(session, &done, warned_of, read_flags);
    let failures = failures.into_iter().map(|it| read_flags.told_error(it)).collect();
    Ok((done.into_iter().map(|it| it.name).collect(), failures))
}

/// Gives a session the warnings about files that have changed, and on how they were read.
fn warn_of(
    session: &mut Session,
    done: &[Ingested],
    warned_of: WarningSubject,
    read_flags: ReadFlagsOf,
) {
    let first = done.iter().filter(|it| it.dataset.table_number.is_none());
    for it in first.filter(|it| it.change == Change::Updated) {
        session.warn(changed(it));
    }
    let doubtful = match &shown(done)[..] {
        [one] if one.is_read() => {
            let rejects = session.is_kept().then(|| rejects_of(session.dir(), &one.name));
            let doubtful = doubtful(&one.name, &one.dataset, rejects.as_deref());
            ambiguous(&one.name, &one.dataset).chain(doubtful).collect()
        }
        [_] => Vec::new(),
        many => remarks::warnings(many, warned_of),
    };
    for it in doubtful {
        session.warn(read_flags.told(&it));
    }
}

/// Returns the sentence about a file that has changed since it was ingested.
fn changed(ingested: &Ingested) -> String {
    let source = &ingested.dataset.source;
    let after = ingested.dataset.row_count;
    let rows = match ingested.rows_before {
        Some(before) if before != after => {
            format!(" ({before} → {})", counted(after, "row", "rows"))
        }
        _ => String::new(),
    };
    format!("`{source}` has changed since it was ingested{rows}; csv-agent has read it again")
}

/// Returns the argument that gives a file a name: `NAME=PATH`.
pub(crate) fn named_argument(name: &str, path: &Path) -> PathBuf {
    let mut argument = OsString::from(name);
    argument.push("=");
    argument.push(path);
    PathBuf::from(argument)
}

/// Returns the path of an argument: `NAME=PATH` has a name before it.
pub(crate) fn path_of(argument: &Path) -> &Path {
    sources::named(argument).1
}

/// Returns the files that paths, directories and patterns lead to; an archive for what is in it. Fails when
/// there are too many.
pub(crate) fn files_of(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let read = IngestOptions::default();
    let search = sources::Search::all(read.bytes_max);
    let sources = sources::expand(paths, search, None, &AtomicBool::new(false))?;
    Ok(sources.inputs.iter().filter_map(|it| it.file().map(Path::to_owned)).collect())
}

/// Ingests a file in place of a dataset that a temporary session sees, with the same options. Fails when there
/// is no such dataset, or the file cannot be ingested.
pub(crate) fn ingest_in_place(
    session: &mut Session,
    name: &str,
    file: &Path,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let Some(dataset) = session.catalog().get(name) else {
        let names = session.catalog().names().collect::<Vec<_>>().join(", ");
        let message = format!("no dataset `{name}` in this session");
        let hint = format!("the datasets are {names}");
        return Err(Failure::input(message).hint(hint).into());
    };
    let mut read = options_of(dataset)
        .with_context(|| format!("cannot read `{}` as `{name}` was read", file.display()))?;
    read.table = dataset.dialect.sheet.as_ref().map(|it| it.name.clone());
    let input = Input::File(file.to_owned());
    let mut target = Target::Open(session);
    let work = |cancelled: &Arc<AtomicBool>| {
        let (if_exists, read) = (IfExists::Replace, &read);
        let jobs = [Job { input: &input, name: name.to_owned(), if_exists, read }];
        let mut errors = Vec::new();
        run_jobs(&jobs, &mut target, options, cancelled, &mut |it| errors.push(it));
        errors.pop().map_or(Ok(()), Err)
    };
    let (done, signal) = signals::interruptible(work)?;
    match (done, signal) {
        (_, Some(signal)) => Err(Failure::new(signal, "interrupted").into()),
        (done, None) => done,
    }
}

/// Returns the options that a dataset was read with. Fails when a version of csv-agent read it that had other
/// options.
pub(crate) fn options_of(dataset: &Dataset) -> anyhow::Result<IngestOptions> {
    // Written by `IngestOptions::given`.
    let told = dataset.dialect.told.iter().map(|it| it.replacen(' ', "=", 1));
    let mut read = options_of_flags(told)?;
    // Of several files read with the same flags, not every one has every column.
    let has =
        |name: &str| dataset.columns.iter().any(|it| it.name.to_lowercase() == name.to_lowercase());
    read.dtypes.retain(|it| it.0 == "*" || has(&it.0));
    Ok(read)
}

/// Returns how these flags of `ingest` read a file: `--delimiter=;`. Fails when `ingest` refuses a flag.
pub(crate) fn options_of_flags(
    flags: impl IntoIterator<Item = String>,
) -> Result<IngestOptions, clap::Error> {
    let line = ["ingest".to_owned()].into_iter().chain(flags).chain(["-".to_owned()]);
    let flags = IngestFlags::augment_args(clap::Command::new("ingest"))
        .try_get_matches_from(line)
        .and_then(|it| IngestFlags::from_arg_matches(&it))?;
    Ok(flags.read_options())
}

fn check(flags: &IngestFlags) -> anyhow::Result<()> {
    if let Some(url) = &flags.remote {
        return remote::check(flags, url);
    }
    let usage = |message: &str, hint: &str| Err(Failure::usage(message).hint(hint).into());
    let is_union = flags.union || flags.union_by_name;
    if flags.name.is_some() && 1 < flags.paths.len() && !is_union {
        return Err(several_for_one_name().into());
    }
    if 1 < flags.paths.iter().filter(|it| it.as_os_str() == "-").count() {
        return usage("cannot read stdin more than once", "give `-` only once");
    }
    if flags.paths.iter().any(|it| it.to_string_lossy().starts_with(SCHEME)) {
        // It may contain a token, so it is not shown.
        return usage(
            &format!("what begins with `{SCHEME}` is the URL of a cluster, not a file"),
            "name what to read there: `--remote URL NAME=PATH-OR-TABLE`",
        );
    }
    if let Some(name) = &flags.name
        && !is_dataset_name(name)
    {
        let fitting = csv_agent_ingest::name_of(Path::new(name));
        return usage(
            &format!("`{name}` is not a valid name of a dataset"),
            &format!("try `--name {fitting}`"),
        );
    }
    Ok(())
}

fn several_for_one_name() -> Failure {
    let message = "`--name` names one dataset, but there are several files";
    let hint = "leave it out, make names from the paths with `--name-from '{parent}_{stem}'`, or \
                join the files with `--union`";
    Failure::usage(message).hint(hint)
}

impl IngestFlags {
    fn read_options(&self) -> IngestOptions {
        let read = &self.read;
        IngestOptions {
            delimiter: read.delimiter.0.clone(),
            quote: read.quote.0,
            escape: read.escape.0,
            encoding: read.encoding.clone().filter(|it| it != "auto"),
            header: read.no_header.then_some(false),
            skip_lines: read.skip_rows,
            all_tables: read.tables == Tables::All,
            columns: read.columns,
            comments: read.comment.unwrap_or_default(),
            nulls: read.null.clone(),
            dtypes: read.dtype.clone(),
            date_order: read.date_order,
            decimal: read.decimal,
            bytes_max: self.max_bytes,
            strict: self.strict,
            flatten: self.flatten,
            table: self.sheet.first().filter(|_| self.sheet.len() == 1).cloned(),
            widths: read.widths.iter().map(|it| it.get()).collect(),
            ..IngestOptions::default()
        }
    }
}

/// Returns the sentence about a delimiter of the user that separates nothing, where another would.
fn unsplit(dataset: &Dataset) -> Option<String> {
    const USUAL: [char; 4] = [',', ';', '\t', '|'];
    let given = dataset.dialect.told.iter().find(|it| it.starts_with("--delimiter "))?;
    let [only] = &dataset.columns[..] else { return None };
    let other = USUAL.iter().find(|it| only.name.contains(**it))?.escape_debug();
    Some(format!(
        "`{given}` separates nothing, so the file has only one column, but its header contains `{other}`; \
         `--if-exists replace` without `--delimiter` reads it again"
    ))
}

/// Prints on stderr one line on how the file was read, then warnings about lines that are not rows and rows
/// that did not fit; with `-v` each decision with its reason.
fn tell_repairs(ingested: &Ingested, options: &GlobalOptions) {
    let Ingested { name, dataset, change, .. } = ingested;
    let told = &dataset.dialect.told;
    let is_told = !told.is_empty() && dataset.files.is_empty();
    if *change == Change::Unchanged && is_told && options.has_notes() {
        let told = told.join(" ");
        diagnostics::note(&format!(
            "`{name}` was read with `{told}`; `--if-exists replace` reads it again"
        ));
    }
    if !ingested.is_read() {
        return;
    }
    let colour = options.terminal.stderr.colour;
    if options.has_notes() {
        if *change == Change::Updated {
            diagnostics::note(&format!("`{name}`: {}", changed(ingested)));
        }
        diagnostics::note(&read_as(name, dataset));
    }
    if 0 < options.verbose && options.has_notes() {
        for reason in &dataset.dialect.reasons {
            diagnostics::note(&format!("`{name}`: {reason}"));
        }
        for column in &dataset.columns {
            if let Some(note) = &column.note {
                diagnostics::note(&format!("`{name}`: column `{}`: {note}", column.name));
            }
        }
    }
    diagnostics::warnings(ambiguous(name, dataset), colour);
    if options.has_notes() {
        // Values that a flag would read differently are worth a line; `-v` has told all notes.
        let is_told = 0 < options.verbose;
        for (columns, note) in by_note(dataset, |it| !it.is_ambiguous && !is_told && names_flag(it))
        {
            diagnostics::note(&format!("`{name}`: {columns}: {note}"));
        }
        if let Some(amounts) = amounts(dataset) {
            diagnostics::note(&format!("`{name}`: {amounts}"));
        }
    }
    tell_reading(name, dataset, options);
}

/// Prints on stderr warnings about what was not read as it is in the file, and guesses.
pub(crate) fn tell_reading(name: &str, dataset: &Dataset, options: &GlobalOptions) {
    let rejects = rejects_of(&options.session.dir, name);
    diagnostics::warnings(doubtful(name, dataset, Some(&rejects)), options.terminal.stderr.colour);
}

/// Returns the file that lists the lines of a dataset that were not read as they are.
fn rejects_of(session_dir: &Path, name: &str) -> PathBuf {
    session_dir.join(format!("datasets/{name}.rejects.jsonl"))
}

/// Returns warnings about columns that can be read in two ways.
fn ambiguous(name: &str, dataset: &Dataset) -> impl Iterator<Item = String> {
    let found = by_note(dataset, |it| it.is_ambiguous).into_iter();
    found.map(move |(columns, note)| format!("`{name}`: {columns}: {note}"))
}

/// Returns warnings about what was not read as it is in the file, and guesses. `rejects` lists the lines.
fn doubtful(name: &str, dataset: &Dataset, rejects: Option<&Path>) -> Vec<String> {
    let mut found: Vec<String> = unsplit(dataset).into_iter().collect();
    if let Some(doubt) = &dataset.dialect.doubt {
        found.push(format!("encoding {}: {doubt}", dataset.dialect.encoding));
    }
    if let Some(Damage { n_replaced, line, offset }) = dataset.dialect.damage {
        let encoding = &dataset.dialect.encoding;
        let what = match n_replaced {
            1 => format!("bytes that are not valid {encoding}, replaced by U+FFFD"),
            n => format!(
                "{n} places with bytes that are not valid {encoding}, each replaced by U+FFFD"
            ),
        };
        found.push(format!(
            "{what}; the first on line {line}, byte offset {offset}; `--strict` refuses such a file"
        ));
    }
    let word = dataset.dialect.format.place().unwrap_or("line");
    let place = |is_row: bool| {
        let Some(rejects) = rejects else { return String::new() };
        match first_lines(rejects, is_row).as_str() {
            // In several files, a line number alone is ambiguous.
            _ if !dataset.files.is_empty() => {
                format!("; all are listed in `{}`", rejects.display())
            }
            // There is no list when nothing was stored, as with `--dry-run`.
            "" => String::new(),
            lines => {
                let s = if lines.contains(',') { "s" } else { "" };
                let list = rejects.display();
                format!("; the first on {word}{s} {lines}; all are listed in `{list}`")
            }
        }
    };
    let set_aside = dataset.set_aside.words();
    if !set_aside.is_empty() {
        let hint = match dataset.set_aside.next_table {
            _ if !has_unread_tables(dataset) => String::new(),
            0 => "; `--tables all` reads the other tables as well".to_owned(),
            line => {
                format!(
                    "; another table begins on {word} {line}, which `--tables all` reads as well"
                )
            }
        };
        let (kinds, place) = (set_aside.join(", "), place(false));
        found.push(format!("kept out of the table: {kinds}{place}{hint}"));
    }
    found.extend(doubts(dataset, word));
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
        found.push(format!("{repairs}{place}; `--strict` refuses such a file"));
    }
    found.into_iter().map(|it| format!("`{name}`: {it}")).collect()
}

/// Returns the doubtful decisions of reading; `word` names the kind of row.
fn doubts(dataset: &Dataset, word: &str) -> Vec<String> {
    let total = dataset.unclear_total.map(|line| {
        format!(
            "the row on {word} {line} is labeled as a total but was kept: its numbers are not \
             the sums of their columns"
        )
    });
    let sentences = dataset.stray_quotes.sentence().into_iter().chain(total);
    sentences.chain(dataset.doubts.iter().cloned()).collect()
}

/// Returns the line that describes the decisions about a file.
pub(crate) fn read_as(name: &str, dataset: &Dataset) -> String {
    let dialect = &dataset.dialect;
    let about = if dataset.is_estimate() { "about " } else { "" };
    let mut parts = vec![
        format!("{about}{}", counted(dataset.row_count, "row", "rows")),
        counted(dataset.columns.len() as u64, "column", "columns"),
    ];
    match dialect.format {
        SourceFormat::Parquet => parts.push("Parquet".to_owned()),
        SourceFormat::Files => {
            parts.push(counted(dataset.files.len() as u64, "file", "files"));
        }
        SourceFormat::Table | SourceFormat::Database => parts.push("table".to_owned()),
        SourceFormat::Arrow => parts.push("Arrow".to_owned()),
        SourceFormat::Json => parts.push("JSON".to_owned()),
        SourceFormat::Sheet => {
            let name = dialect.sheet.as_ref().map_or("", |it| &it.name);
            parts.push(format!("sheet `{}`", sanitize::one_line(name)));
            parts.push(match dialect.header_line {
                Some(row) => format!("header in row {row}"),
                None => "no header".to_owned(),
            });
        }
        SourceFormat::Text => {
            parts.push(dialect.encoding.clone());
            parts.extend(dialect.delimiter.iter().map(|it| format!("`{}`", it.escape_debug())));
            parts.push(match dialect.header_line {
                Some(line) => format!("header on line {line}"),
                None => "no header".to_owned(),
            });
        }
    }
    if dataset.columns.iter().any(|it| it.description.is_some()) {
        parts.push("further header rows kept as descriptions".to_owned());
    }
    if let Some(span) = dataset.side_by_side.first() {
        parts.push(format!("columns {span}"));
    }
    parts.extend(dataset.set_aside.words());
    if let Some(remote) = dataset.remote() {
        parts.extend(remote.files.map(|it| counted(it, "file", "files")));
        parts.push(format!("at `{}`", remote.endpoint));
    }
    format!("`{name}`: {}", parts.join(", "))
}

/// Returns the columns that `is_it` selects, grouped by note, in the order of the file.
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

/// Lists the names of columns; of many, only the first.
fn columns(names: &[&str]) -> String {
    let word = if names.len() == 1 { "column" } else { "columns" };
    format!("{word} {}", lists::names(names, 5))
}

/// Returns whether the note of a column names a flag, a loss or a change.
fn names_flag(column: &Column) -> bool {
    const LOST: [&str; 6] = [
        "`--", "error cell", "no stored value", "renamed", "several currencies",
        "workbook shows as",
    ];
    column.note.as_deref().is_some_and(|note| LOST.iter().any(|it| note.contains(it)))
}

/// Lists text columns that contain amounts, and the flag that reads them as numbers.
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
    Some(format!("kept as text: {parts}; `--dtype '{name}={wanted}'` reads such text as numbers"))
}

fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Returns the source lines of the first entries of the list, formatted for people: of repaired rows, or of
/// lines that are not rows.
fn first_lines(rejects: &Path, is_row: bool) -> String {
    const LISTED_MAX: usize = 5;
    #[derive(Deserialize)]
    struct Entry {
        reason: String,
        line: u64,
    }
    let Ok(file) = directory::open_file(rejects) else { return String::new() };
    // Reads at most a full list, since the file is untrusted.
    let list = file.take(REJECTS_MAX * 2 * REJECT_BYTES_MAX as u64);
    let entries = BufReader::new(list).lines().map_while(Result::ok);
    let entries = entries.filter_map(|it| serde_json::from_str::<Entry>(&it).ok());
    let is_listed = |it: &Entry| it.reason.ends_with("; no row") != is_row;
    let lines = entries.filter(is_listed).map(|it| it.line).take(LISTED_MAX);
    lines.map(|it| it.to_string()).collect::<Vec<_>>().join(", ")
}

fn print(done: &[Ingested], dry_run: bool, options: &GlobalOptions) -> anyhow::Result<()> {
    let listing = if dry_run { schemas(done) } else { summary(done) };
    let is_json = matches!(options.format, Format::Json);
    if done.is_empty() && !is_json {
        return Ok(());
    }
    stdout::answer(|out| listing.write(out, options))
}

fn summary(done: &[Ingested]) -> Listing {
    let row = |it: &Ingested| {
        vec![
            json!(it.name),
            dataset_listing::rows_shown(&it.dataset),
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

/// Returns the resulting schemas: every column of every dataset.
fn schemas(done: &[Ingested]) -> Listing {
    let datasets = done.iter().map(|it| (it.name.as_str(), &it.dataset));
    Listing {
        frame: dataset_listing::schema_frame(datasets),
        documents: done.iter().map(document).collect(),
    }
}

fn document(ingested: &Ingested) -> serde_json::Value {
    let mut document = dataset_listing::document(&ingested.name, &ingested.dataset);
    document["status"] = ingested.change.name().into();
    document
}

#[cfg(test)]
mod tests {
    use super::{Input, MAX_BYTES};
    use crate::value_parsers;
    use csv_agent_types::limits::CSV_BYTES_MAX;

    #[test]
    fn the_help_shows_the_default_that_holds() {
        assert_eq!(value_parsers::size(MAX_BYTES), Ok(CSV_BYTES_MAX));
    }

    #[test]
    fn stdin_has_a_name_of_its_own() {
        assert_eq!(Input::Stdin.dataset_name(), "stdin");
    }
}
