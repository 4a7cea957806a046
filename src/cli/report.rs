//! `report`: turns as a document to send on, for a browser, as Markdown or as PDF.

mod browser;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use jiff::Timestamp;

use csv_agent_agent::replay::stored_turn::number;
use csv_agent_render::page::report::{Medium, Report, ReportAnswer, markdown, page};
use csv_agent_session::Session;
use csv_agent_session::turns::TurnSummary;
use csv_agent_sink::Format;
use csv_agent_types::event::{Body, ErrorBody};
use csv_agent_types::limits::PAGE_IMAGES_BYTES_MAX;
use csv_agent_types::status::{ExitStatus, Failure, StopReason};

use crate::diagnostics;
use crate::ingest::demand_other_file;
use crate::options::GlobalOptions;
use crate::options::settings::Settings;
use crate::show::{events, images};
use crate::stdout;
use crate::stored_turns::{self, Together};

use browser::Browser;

/// Flags of `report`.
#[derive(Debug, Clone, Args)]
pub struct ReportFlags {
    /// Numbers of the turns, `last` or `all`
    #[arg(value_name = "TURN", default_value = "all")]
    pub turns: Vec<String>,

    /// Write the report to this file instead of stdout
    ///
    /// The ending of its name sets the form: .html, .md or .pdf. A .pdf needs Chromium, Chrome or Edge.
    /// The charts of a .md are PNG files in a directory beside it. The file appears only when it is
    /// complete.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Title of the report [default: the names of the datasets]
    #[arg(long, value_name = "TITLE")]
    pub title: Option<String>,

    /// Leave out how the answers were computed
    #[arg(long)]
    pub no_code: bool,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportForm {
    Html,
    Markdown,
    Pdf,
}

impl ReportForm {
    /// Returns the form that the ending of the file says, or the format of stdout.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Usage`] when reports do not have that form.
    fn of(output: Option<&Path>, format: Format) -> anyhow::Result<ReportForm> {
        let refused = |what: &str| {
            let message = format!("cannot write a report as {what}");
            let hint = "name a file that ends in .html, .md or .pdf: `-o report.html`";
            Failure::new(ExitStatus::Usage, message).hint(hint).into()
        };
        let Some(path) = output else {
            return match format {
                Format::Text => Ok(ReportForm::Html),
                Format::Md => Ok(ReportForm::Markdown),
                _ => Err(refused("this format")),
            };
        };
        let ending = path.extension().and_then(OsStr::to_str).map(str::to_lowercase);
        match ending.as_deref() {
            Some("html" | "htm") => Ok(ReportForm::Html),
            Some("md" | "markdown") => Ok(ReportForm::Markdown),
            Some("pdf") => Ok(ReportForm::Pdf),
            Some(other) => Err(refused(&format!("`.{other}`"))),
            // Such as `/dev/stdout`.
            None if format == Format::Md => Ok(ReportForm::Markdown),
            None => Ok(ReportForm::Html),
        }
    }
}

/// Writes turns as a report.
///
/// # Errors
///
/// Fails when there is no such turn, none of them has an answer, or the report cannot be written.
pub(crate) fn run(
    flags: &ReportFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let output = flags.output.as_deref().filter(|it| *it != Path::new("-"));
    let form = ReportForm::of(output, options.format)?;
    if output.is_none() && options.terminal.stdout.is_tty {
        let failure = Failure::new(ExitStatus::Usage, "cannot write a report to a terminal");
        return Err(failure.hint("write it to a file: `-o report.html`").into());
    }
    // Before anything is read: who has no browser learns that at once.
    let browser = (form == ReportForm::Pdf).then(|| Browser::find(settings)).transpose()?;
    let turns = stored_turns::choose(&flags.turns, options)?;
    let catalog = Session::read_catalog(&options.session.dir)?;
    demand_other_file(output, &[], catalog.iter(), &options.session.dir)?;
    demand_outside(output, &options.session.dir)?;
    let report = Report {
        title: flags.title.clone(),
        answers: answers(&turns, options)?,
        catalog: &catalog,
        made: Timestamp::now(),
        has_code: !flags.no_code,
    };
    write(&report, form, output, browser.as_ref())?;
    Ok(ExitStatus::Ok)
}

/// Reads the turns that have an answer, and reports the others.
fn answers(turns: &[TurnSummary], options: &GlobalOptions) -> anyhow::Result<Vec<ReportAnswer>> {
    let colour = options.terminal.stderr.colour;
    let (mut together, mut room) = (Together::new(), PAGE_IMAGES_BYTES_MAX);
    let (mut answers, mut left_out) = (Vec::new(), Vec::new());
    for turn in turns {
        let events = events(turn, &mut together, colour)?;
        let number = number(&turn.id).to_owned();
        if let Some(why) = why_not(events.last().map(|it| &it.body)) {
            left_out.push(format!("turn {number} {why}"));
            continue;
        }
        let images = images(&events, &options.session.dir, &mut room);
        answers.push(ReportAnswer { number, events, images });
    }
    if answers.is_empty() {
        let message = format!("there is no answer to report: {}", left_out.join(", "));
        let hint = "ask again, or name other turns; `csv-agent show TURN` says what happened";
        return Err(Failure::new(ExitStatus::Input, message).hint(hint).into());
    }
    if !left_out.is_empty() {
        diagnostics::warning(&format!("not in the report: {}", left_out.join(", ")), colour);
    }
    Ok(answers)
}

/// Returns why a turn that ended so has no answer, if it has none.
fn why_not(end: Option<&Body>) -> Option<&'static str> {
    match end {
        Some(Body::Reply(reply)) if reply.stop_reason == StopReason::Refused => Some("was refused"),
        Some(Body::Reply(_)) => None,
        Some(Body::Error(error)) => Some(how_it_failed(error)),
        _ => Some("has no answer"),
    }
}

fn how_it_failed(error: &ErrorBody) -> &'static str {
    match error.code.as_str() {
        "interrupted" | "cancelled" => "was interrupted",
        _ => "failed",
    }
}

/// Checks that a file to write is not in the session.
///
/// # Errors
///
/// Fails with [`ExitStatus::Usage`] when it is.
fn demand_outside(output: Option<&Path>, session_dir: &Path) -> anyhow::Result<()> {
    let Some(output) = output else { return Ok(()) };
    let dir = output.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let place = output.canonicalize().or_else(|_| dir.canonicalize());
    let session = session_dir.canonicalize();
    if let (Ok(place), Ok(session)) = (place, session)
        && place.starts_with(session)
    {
        let message = format!("`{}` is in the session's directory", output.display());
        let hint = "write the report to another directory";
        return Err(Failure::new(ExitStatus::Usage, message).hint(hint).into());
    }
    Ok(())
}

fn write(
    report: &Report,
    form: ReportForm,
    output: Option<&Path>,
    browser: Option<&Browser>,
) -> anyhow::Result<()> {
    let content = match (form, output, browser) {
        (ReportForm::Markdown, Some(output), _) => return write_markdown(report, output),
        (ReportForm::Markdown, None, _) => markdown(report, None).text.into_bytes(),
        (ReportForm::Pdf, _, Some(browser)) => browser.print(&page(report, Medium::Paper))?,
        (ReportForm::Html | ReportForm::Pdf, ..) => page(report, Medium::Screen).into_bytes(),
    };
    stdout::answer_to(output, |out| Ok(out.write_all(&content)?))
}

/// Writes a report as Markdown, with its pictures in a directory beside it. They come first: a document
/// that is there has all of them.
fn write_markdown(report: &Report, output: &Path) -> anyhow::Result<()> {
    let name = output.file_stem().unwrap_or_default().to_string_lossy();
    let beside = format!("{name}_files");
    let written = markdown(report, Some(&beside));
    let dir = output.with_file_name(&beside);
    stdout::answer_to(Some(output), |out| {
        if !written.pictures.is_empty() && !dir.is_dir() {
            fs::create_dir(&dir).with_context(|| format!("cannot make `{}`", dir.display()))?;
        }
        for (name, content) in &written.pictures {
            stdout::answer_to(Some(&dir.join(name)), |out| Ok(out.write_all(content)?))?;
        }
        Ok(out.write_all(written.text.as_bytes())?)
    })
}
