//! `check`: the rules of a file, run on its data without a model, a key or Python.

mod baseline;
mod claims;
mod compile;
mod decide;
mod file;
mod listing;
mod lock;
mod misread;
mod model;
mod proof;
mod propose;
mod statements;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use csv_agent_ingest::DateOrder;
use csv_agent_render::report::checks::{ChecksReport, RuleOutcome, RuleReport};
use csv_agent_session::Session;
use csv_agent_session::store::now_utc;
use csv_agent_types::conversation::Assessment;
use csv_agent_types::status::{Failure, FailureKind, one_line};

use crate::ci_reports::ReportFiles;
use crate::diagnostics;
use crate::errors::{self, ExitStatus};
use crate::flags::{SettingFlags, one_of};
use crate::ingest::{ReadFlagsOf, TurnInputs, files_of, ingest_for_turn};
use crate::options::GlobalOptions;
use crate::options::ask::demand_apart;
use crate::options::settings::Settings;
use crate::stdout;
use crate::tips::quoted;
use crate::value_parsers::{self, ReportTarget};

use baseline::Baseline;
use file::{ChecksFile, NamedFiles, USUAL};
use lock::ChecksLock;
use statements::Statements;

pub(crate) use propose::is_key_name;

/// Flags of `check`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct CheckFlags {
    /// The file with the rules [default: checks.toml]
    ///
    /// With `--init`, files with data.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Compile new and changed rules in words, and write them to `checks.lock`
    ///
    /// The lock is beside the rules file. csv-agent shows how it reads each rule, its statement,
    /// and what the statement finds today. Without this flag, csv-agent only runs statements.
    #[arg(long)]
    pub update: bool,

    /// Model to compile rules in words that the built-in analyst does not understand
    ///
    /// Without this flag, csv-agent asks the model that the configuration or `CSV_AGENT_MODEL` names.
    /// It sends the rules, and names and types of columns, but no values. With `builtin`, it asks no
    /// model.
    #[arg(long, value_name = "NAME", value_parser = value_parsers::model, requires = "update", hide_short_help = true)]
    pub model: Option<String>,

    /// URL of the model's server, including `/v1` [default: OpenAI's]
    #[arg(long, value_name = "URL", requires = "update", hide_short_help = true)]
    pub base_url: Option<String>,

    /// Require that `checks.lock` has the rules of the file and no others
    #[arg(long, conflicts_with = "update")]
    pub locked: bool,

    /// Accept the data as it is, and write `checks.baseline.json`
    ///
    /// Later checks compare the data with this baseline: the columns, the number of rows, missing
    /// values, and how values are distributed.
    #[arg(long)]
    pub accept: bool,

    /// Compare with this baseline [default: `checks.baseline.json` beside the rules, if it exists]
    #[arg(long, value_name = "FILE", conflicts_with = "accept", hide_short_help = true)]
    pub against: Option<PathBuf>,

    /// Refuse data with rows that do not fit the table, and data without rows
    ///
    /// The exit status is then 5, and no rule is decided.
    #[arg(long)]
    pub strict: bool,

    /// Order of ambiguous dates such as 01/02/2024 [default: detected]
    #[arg(long, value_name = "ORDER", value_parser = one_of::<DateOrder>(), hide_short_help = true)]
    pub date_order: Option<DateOrder>,

    /// Propose rules for data files, and print them
    ///
    /// The data satisfies all of these rules today. csv-agent writes no file.
    #[arg(long, requires = "files", conflicts_with_all = ["update", "locked", "strict", "accept", "against", "report"])]
    pub init: bool,

    /// Which broken rules make the command exit with 10 or 11
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub fail_on: FailFrom,

    /// Write the results as a report for CI. May be repeated
    ///
    /// `junit=FILE`, `sarif=FILE` and `md=FILE` write a file. `github` writes annotations for
    /// GitHub Actions to stderr. Each rule is a test with its name.
    #[arg(long, value_name = "KIND[=FILE]", value_parser = value_parsers::report)]
    pub report: Vec<ReportTarget>,

    /// Memory limit, such as 8GB [default: half of the machine's, at least 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = value_parsers::memory, hide_short_help = true)]
    pub memory: Option<u64>,

    /// Time limit, such as 90s or 5m [default: 15m]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::some_time, hide_short_help = true)]
    pub timeout: Option<Duration>,
}

/// The rules whose results the exit status has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailFrom {
    /// None of them
    Never,
    /// Those with the severity `bad`: exit with 11
    Bad,
    /// All of them: exit with 11, or with 10 if only rules with the severity `warning` are broken
    #[default]
    Warning,
}

impl CheckFlags {
    /// Returns the file of rules. Fails with `FailureKind::Usage` when there are several.
    fn path(&self) -> Result<PathBuf, Failure> {
        match &self.files[..] {
            [] => Ok(PathBuf::from(USUAL)),
            [path] => Ok(path.clone()),
            _ => {
                let message = "`check` takes one rules file, but several files were named";
                let hint = "to propose rules for several data files, use `--init`";
                Err(Failure::usage(message).hint(hint))
            }
        }
    }

    /// Returns the flags that configuration files can set.
    pub(crate) fn settings(&self) -> SettingFlags {
        let (timeout, memory) = (self.timeout, self.memory);
        let (model, base_url) = (self.model.clone(), self.base_url.clone());
        SettingFlags { timeout, memory, model, base_url, ..SettingFlags::default() }
    }
}

/// Runs the rules, prints their results and writes the reports. Fails when the file or its data cannot be read,
/// or an output cannot be written. The reports then say why.
pub(crate) fn run(
    flags: &CheckFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if flags.init {
        let inputs = [NamedFiles { arguments: flags.files.clone(), read: None }];
        let mut session = ingested(&inputs, flags, options)?;
        diagnostics::warnings(doubts(&mut session), options.terminal.stderr.colour);
        let text = propose::propose(&mut session, settings, options)?;
        stdout::answer(|out| Ok(out.write_all(text.as_bytes())?))?;
        return Ok(ExitStatus::Ok);
    }
    demand_apart(&flags.report)?;
    let path = flags.path()?;
    let file = ChecksFile::read(&path).and_then(|file| {
        let has_baseline =
            flags.accept || flags.against.is_some() || Baseline::path_of(&path).exists();
        if !has_baseline {
            file.demand_rules(&path)?;
        }
        Ok(file)
    });
    demand_no_input(&flags.report, &path, flags.against.as_ref(), file.as_ref().ok())?;
    let summary = settings.environment().step_summary.as_ref();
    let mut files = ReportFiles::open(&flags.report, summary)?;
    let (started, begun) = (now_utc(), Instant::now());
    let mut report = ChecksReport {
        file: path.display().to_string(),
        started,
        ended: String::new(),
        duration: Duration::ZERO,
        // As for a question: where nothing ends the command, reports still have failures.
        fails_from: flags.fail_on.severity().unwrap_or(Assessment::Bad),
        exit_code: 0,
        rules: Vec::new(),
        warnings: Vec::new(),
        trouble: None,
    };
    let ended = file.and_then(|it| check(&path, &it, flags, &mut report, settings, options));
    (report.ended, report.duration) = (now_utc(), begun.elapsed());
    let status = match &ended {
        Ok(()) => status(&report.rules, flags.fail_on),
        Err(error) => errors::status_of(error),
    };
    report.exit_code = errors::exit_code(status);
    if let Err(error) = ended {
        if report.rules.is_empty() {
            report.trouble = Some(one_line(&error));
        }
        // Only the first error helps.
        let _ = files.write(|kind| report.text(kind));
        return Err(error);
    }
    files.write(|kind| report.text(kind))?;
    stdout::answer(|out| listing::write(out, &report, flags.update, options))?;
    tell_undecided(&report.rules, options);
    Ok(status)
}

/// Checks that no report would replace the rules, their lock or the data. Fails with `FailureKind::Usage` when
/// one would.
fn demand_no_input(
    reports: &[ReportTarget],
    path: &Path,
    against: Option<&PathBuf>,
    file: Option<&ChecksFile>,
) -> anyhow::Result<()> {
    if reports.iter().all(|it| it.file.is_none()) {
        return Ok(());
    }
    let mut inputs = vec![path.to_owned(), ChecksLock::path_of(path), Baseline::path_of(path)];
    inputs.extend(against.cloned());
    // What is wrong with the data is said when it is read.
    let data = file.map(ChecksFile::inputs).unwrap_or_default();
    inputs.extend(data.iter().filter_map(|it| files_of(&it.arguments).ok()).flatten());
    let inputs: Vec<PathBuf> = inputs.iter().filter_map(|it| it.canonicalize().ok()).collect();
    let is_input = |it: &&PathBuf| it.canonicalize().is_ok_and(|it| inputs.contains(&it));
    let Some(report) = reports.iter().filter_map(|it| it.file.as_ref()).find(is_input) else {
        return Ok(());
    };
    let message = format!("a report would replace `{}`, which the check reads", report.display());
    Err(Failure::usage(message).hint("write it to another file").into())
}

/// Decides the rules of the file. Where its data cannot be read, none of them is decided. A signal leaves those undecided
/// that were not decided yet.
fn check(
    path: &Path,
    file: &ChecksFile,
    flags: &CheckFlags,
    report: &mut ChecksReport,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let ended = decided(path, file, flags, report, settings, options);
    if let Err(error) = &ended {
        let hint = errors::hint_of(error).map(str::to_owned);
        let outcome = RuleOutcome::Undecided(one_line(error), hint);
        if report.rules.is_empty() {
            let undecided = file.rules.iter().map(|it| it.report(outcome.clone()));
            report.rules = undecided.collect();
        }
        // A history of tests has those of the baseline too. What is wrong with it is the error.
        if let (false, Ok(Some(baseline))) = (flags.accept, baseline(path, flags)) {
            report.rules.extend(baseline.undecided(&outcome));
        }
    }
    ended
}

fn decided(
    path: &Path,
    file: &ChecksFile,
    flags: &CheckFlags,
    report: &mut ChecksReport,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let mut statements = Statements::read(path)?;
    let mut session = ingested(&file.inputs(), flags, options)?;
    let empty = session.catalog().iter().find(|it| it.1.row_count == 0);
    if let (Some((name, _)), true) = (empty, flags.strict) {
        let message = format!("`{name}` has no rows, so no row can break a rule");
        let hint = "leave out `--strict` to check data without rows";
        return Err(Failure::input(message).hint(hint).into());
    }
    report.warnings = doubts(&mut session);
    diagnostics::warnings(report.warnings.iter().cloned(), options.terminal.stderr.colour);
    if flags.update {
        statements.update(&file.rules, &mut session, settings, options)?;
    }
    if flags.locked {
        statements.demand_current(&file.rules)?;
    }
    let catalog = session.catalog();
    let rules: Vec<_> = file.rules.iter().map(|it| (it, statements.of(it, catalog))).collect();
    let (mut decided, interrupted) = decide::decide(&rules, &mut session, settings, options)?;
    if let Some(signal) = interrupted {
        report.rules = decided;
        return Err(signal.into());
    }
    decided.extend(compared(path, flags, &session, settings, options)?);
    report.rules = decided;
    Ok(())
}

/// Returns the command that makes the data of a file of rules the baseline.
fn accept_command(path: &Path) -> String {
    if path == Path::new(USUAL) {
        return "csv-agent check --accept".to_owned();
    }
    format!("csv-agent check {} --accept", quoted(&path.to_string_lossy()))
}

/// Reads the baseline that the data is compared with, if there is one.
fn baseline(path: &Path, flags: &CheckFlags) -> anyhow::Result<Option<Baseline>> {
    let usual = Baseline::path_of(path);
    Baseline::read(flags.against.as_ref().unwrap_or(&usual), &accept_command(path))
}

/// Compares the data with the baseline, if there is one; or makes it the baseline.
fn compared(
    path: &Path,
    flags: &CheckFlags,
    session: &Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<Vec<RuleReport>> {
    let usual = Baseline::path_of(path);
    if flags.accept {
        Baseline::of(session, settings)?.write(&usual)?;
        if options.has_notes() {
            diagnostics::note(&format!("wrote `{}`", usual.display()));
        }
        return Ok(Vec::new());
    }
    let accept = accept_command(path);
    match (baseline(path, flags)?, flags.against.as_ref()) {
        (Some(baseline), _) => baseline.changes(session, settings, &accept),
        (None, None) => Ok(Vec::new()),
        (None, Some(named)) => {
            let message = format!("cannot read `{}`: no such file", named.display());
            let hint = format!("`{accept}` writes a baseline to `{}`", usual.display());
            Err(Failure::input(message).hint(hint).into())
        }
    }
}

/// Ingests data into a temporary session.
fn ingested(
    data: &[NamedFiles],
    flags: &CheckFlags,
    options: &GlobalOptions,
) -> anyhow::Result<Session> {
    let mut session = Session::ephemeral(None)?;
    let (needs_all, joins_names, is_strict) = (true, true, flags.strict);
    for NamedFiles { arguments, read } in data {
        let (date_order, read) = (flags.date_order, read.as_ref());
        let how = TurnInputs {
            needs_all,
            joins_names,
            is_strict,
            date_order,
            read,
            read_flags: ReadFlagsOf::Rules,
            ..TurnInputs::default()
        };
        ingest_for_turn(&mut session, arguments, how, options)?;
    }
    Ok(session)
}

/// Returns what is doubtful about data: rows that do not fit, and data without rows, which breaks no rule.
fn doubts(session: &mut Session) -> Vec<String> {
    let mut doubts = session.take_warnings();
    let empty = session.catalog().iter().filter(|it| it.1.row_count == 0);
    doubts.extend(empty.map(|it| format!("`{}` has no rows, so no row can break a rule", it.0)));
    doubts
}

/// Returns the exit status of results.
fn status(rules: &[RuleReport], fail_on: FailFrom) -> ExitStatus {
    let of = |rule: &RuleReport| match &rule.outcome {
        RuleOutcome::Kept => ExitStatus::Ok,
        RuleOutcome::Undecided(..) => ExitStatus::Failed(FailureKind::Contract),
        RuleOutcome::Broken(..) if fail_on.severity().is_none_or(|it| rule.severity < it) => {
            ExitStatus::Ok
        }
        RuleOutcome::Broken(..) if rule.severity == Assessment::Bad => {
            ExitStatus::Failed(FailureKind::VerdictBad)
        }
        RuleOutcome::Broken(..) => ExitStatus::Failed(FailureKind::VerdictWarning),
    };
    rules.iter().map(of).max().unwrap_or(ExitStatus::Ok)
}

impl FailFrom {
    fn severity(self) -> Option<Assessment> {
        match self {
            FailFrom::Never => None,
            FailFrom::Bad => Some(Assessment::Bad),
            FailFrom::Warning => Some(Assessment::Warning),
        }
    }
}

/// Says on stderr that the exit status is about rules, and not about the data.
fn tell_undecided(rules: &[RuleReport], options: &GlobalOptions) {
    let is_undecided = |it: &&RuleReport| matches!(it.outcome, RuleOutcome::Undecided(..));
    let message = match rules.iter().filter(is_undecided).count() {
        0 => return,
        1 => "1 rule could not be decided".to_owned(),
        n => format!("{n} rules could not be decided"),
    };
    let failure = Failure::contract(message);
    diagnostics::error(&failure.into(), options.terminal.stderr.colour);
}
