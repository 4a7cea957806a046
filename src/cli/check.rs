//! `check`: the rules of a file, run on its data without a model, a key or Python.

mod compile;
mod decide;
mod file;
mod listing;
mod lock;
mod places;
mod propose;
mod statements;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use csv_agent_render::report::checks::{ChecksReport, RuleOutcome, RuleReport};
use csv_agent_session::Session;
use csv_agent_session::store::now_utc;
use csv_agent_types::conversation::Assessment;
use csv_agent_types::status::{BUILTIN, ExitStatus, Failure, one_line};

use crate::ci_reports::ReportFiles;
use crate::diagnostics;
use crate::flags::SettingFlags;
use crate::ingest::ingest_for_turn;
use crate::options::GlobalOptions;
use crate::options::ask::demand_apart;
use crate::options::settings::Settings;
use crate::stdout;
use crate::value_parsers::{self, ReportTarget};

use file::{ChecksFile, USUAL};
use statements::Statements;

/// Flags of `check`.
#[derive(Debug, Clone, Args)]
pub struct CheckFlags {
    /// The file with the rules [default: checks.toml]
    ///
    /// With `--init`, files with data.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Compile new and changed rules in words, and write them to `checks.lock`
    ///
    /// The lock is beside the file of rules. csv-agent shows how it reads each rule, its statement,
    /// and what that finds today. Without this flag, it only runs statements.
    #[arg(long)]
    pub update: bool,

    /// What compiles rules in words
    #[arg(
        long,
        value_name = "MODEL",
        value_enum,
        default_value_t,
        requires = "update",
        hide_short_help = true
    )]
    pub model: CompiledBy,

    /// Require that `checks.lock` has the rules of the file and no others
    #[arg(long, conflicts_with = "update")]
    pub locked: bool,

    /// Propose rules for data files, and print them
    ///
    /// The data satisfies all of these rules today. csv-agent writes no file.
    #[arg(long, requires = "files", conflicts_with_all = ["update", "locked", "report"])]
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
    #[arg(long, value_name = "SIZE", value_parser = value_parsers::memory)]
    pub memory: Option<u64>,

    /// Time limit, such as 90s or 5m [default: 15m]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::some_time)]
    pub timeout: Option<Duration>,
}

/// The rules whose results the exit status has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum FailFrom {
    /// None of them
    Never,
    /// Those with the severity `bad`: exit with 11
    Bad,
    /// All of them: exit with 11, or with 10 if only rules with the severity `warning` are broken
    #[default]
    Warning,
}

/// What compiles rules in words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CompiledBy {
    /// The analyst inside csv-agent
    #[default]
    Builtin,
}

impl CheckFlags {
    /// Returns the file of rules.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Usage`] when there are several.
    fn path(&self) -> Result<PathBuf, Failure> {
        match &self.files[..] {
            [] => Ok(PathBuf::from(USUAL)),
            [path] => Ok(path.clone()),
            _ => {
                let message = "`check` takes one rules file, but several files were named";
                let hint = "to propose rules for several data files, use `--init`";
                Err(Failure::new(ExitStatus::Usage, message).hint(hint))
            }
        }
    }

    /// Returns the flags that configuration files can set.
    pub(crate) fn settings(&self) -> SettingFlags {
        let CompiledBy::Builtin = self.model;
        let model = Some(BUILTIN.to_owned());
        let (timeout, memory) = (self.timeout, self.memory);
        SettingFlags { timeout, memory, model, ..SettingFlags::default() }
    }
}

/// Runs the rules, prints their results and writes the reports.
///
/// # Errors
///
/// Fails when the file or its data cannot be read, or an output cannot be written. The reports then say why.
pub(crate) fn run(
    flags: &CheckFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if flags.init {
        let mut session = ingested(&flags.files, options)?;
        let text = propose::propose(&mut session, settings, options)?;
        stdout::answer(|out| Ok(out.write_all(text.as_bytes())?))?;
        return Ok(ExitStatus::Ok);
    }
    demand_apart(&flags.report)?;
    let path = flags.path()?;
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
        trouble: None,
    };
    let ended = check(&path, flags, &mut report.rules, settings, options);
    (report.ended, report.duration) = (now_utc(), begun.elapsed());
    let status = match &ended {
        Ok(()) => status(&report.rules, flags.fail_on),
        Err(error) => diagnostics::status_of(error),
    };
    report.exit_code = status.code();
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

/// Decides the rules of the file. Where its data cannot be read, none of them is decided.
fn check(
    path: &Path,
    flags: &CheckFlags,
    rules: &mut Vec<RuleReport>,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<()> {
    let file = ChecksFile::read(path)?;
    match decided(path, &file, flags, settings, options) {
        Ok(decided) => {
            *rules = decided;
            Ok(())
        }
        Err(error) => {
            let hint = diagnostics::hint_of(&error).map(str::to_owned);
            let outcome = RuleOutcome::Undecided(one_line(&error), hint);
            let undecided = file.rules.iter().map(|it| it.report(outcome.clone()));
            *rules = undecided.collect();
            Err(error)
        }
    }
}

fn decided(
    path: &Path,
    file: &ChecksFile,
    flags: &CheckFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<Vec<RuleReport>> {
    let mut statements = Statements::read(path)?;
    let mut session = ingested(&file.arguments(), options)?;
    if flags.update {
        statements.update(&file.rules, &mut session, settings, options)?;
    }
    if flags.locked {
        statements.demand_current(&file.rules)?;
    }
    let catalog = session.catalog();
    for (name, _) in catalog.iter().filter(|it| it.1.row_count == 0) {
        let warning = format!("`{name}` has no rows, so no row can break a rule");
        diagnostics::warning(&warning, options.terminal.stderr.colour);
    }
    let rules: Vec<_> = file.rules.iter().map(|it| (it, statements.of(it, catalog))).collect();
    decide::decide(&rules, &mut session, settings, options)
}

/// Ingests data into a temporary session: `NAME=PATH`, or paths.
fn ingested(data: &[PathBuf], options: &GlobalOptions) -> anyhow::Result<Session> {
    let mut session = Session::ephemeral(None)?;
    ingest_for_turn(&mut session, data, true, true, options)?;
    diagnostics::warnings(session.take_warnings(), options.terminal.stderr.colour);
    Ok(session)
}

/// Returns the exit status of results.
fn status(rules: &[RuleReport], fail_on: FailFrom) -> ExitStatus {
    let of = |rule: &RuleReport| match &rule.outcome {
        RuleOutcome::Kept => ExitStatus::Ok,
        RuleOutcome::Undecided(..) => ExitStatus::Contract,
        RuleOutcome::Broken(..) if fail_on.severity().is_none_or(|it| rule.severity < it) => {
            ExitStatus::Ok
        }
        RuleOutcome::Broken(..) if rule.severity == Assessment::Bad => ExitStatus::VerdictBad,
        RuleOutcome::Broken(..) => ExitStatus::VerdictWarning,
    };
    rules.iter().map(of).fold(ExitStatus::Ok, ExitStatus::worst)
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
    let failure = Failure::new(ExitStatus::Contract, message);
    diagnostics::error(&failure.into(), options.terminal.stderr.colour);
}
