//! `report`: turns as a document to send on, for a browser, as Markdown or as PDF.

mod browser;
mod questions;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use jiff::Timestamp;

use csv_agent_agent::replay::stored_turn::number;
use csv_agent_render::page::PageTheme;
use csv_agent_render::page::report::template::{Template, TemplatePart, template};
use csv_agent_render::page::report::{Medium, Report, ReportAnswer, ReportPart, markdown, page};
use csv_agent_session::turns::TurnSummary;
use csv_agent_session::{Access, Session};
use csv_agent_sink::Format;
use csv_agent_types::catalog::Catalog;
use csv_agent_types::event::{Body, ErrorBody};
use csv_agent_types::limits::{PAGE_IMAGES_BYTES_MAX, REPORT_TEMPLATE_BYTES_MAX};
use csv_agent_types::named_file;
use csv_agent_types::status::{Failure, StopReason};

use crate::diagnostics;
use crate::errors::{self, ExitStatus};
use crate::flags::{SettingFlags, TurnFlags, Worded, one_of};
use crate::options::settings::{Settings, ValueOrigin};
use crate::options::{GlobalOptions, TurnOptions};
use crate::show::{events, images};
use crate::stdout;
use crate::stored_turns::{self, Together};
use crate::value_parsers;

use browser::Browser;
use questions::ReportQuestions;

/// Flags of `report`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReportFlags {
    /// Numbers of the turns, `last` or `all`
    #[arg(value_name = "TURN", default_value = "all")]
    pub turns: Vec<String>,

    /// Answer the questions of this Markdown file, and put each answer in place of its question
    ///
    /// A question is a fenced block with the language `csv-agent`. csv-agent asks it once. Later, it takes
    /// the answer from the session if the data is the same. If the data has changed, it runs the calls of
    /// the answer again, without a model, and the report says what differs.
    #[arg(long, value_name = "FILE", conflicts_with = "turns")]
    pub from: Option<PathBuf>,

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

    /// Background of the HTML [default: auto]
    ///
    /// Paper and PDF are white.
    #[arg(long, value_name = "THEME", value_parser = one_of::<PageTheme>())]
    pub theme: Option<PageTheme>,

    /// Ask about this file or directory only. May be repeated
    ///
    /// csv-agent ingests it first, and reads it again if it has changed.
    #[arg(short, long, value_name = "FILE", requires = "from", help_heading = "Questions")]
    pub file: Vec<PathBuf>,

    /// Ask about this dataset only. May be repeated
    #[arg(short, long, value_name = "NAME", requires = "from", help_heading = "Questions")]
    pub dataset: Vec<String>,

    /// Model to ask [default: gpt-6.2-sol]
    ///
    /// `builtin` is an analyst inside csv-agent. It needs no key and no server.
    #[arg(short, long, value_name = "NAME", value_parser = value_parsers::model, requires = "from", help_heading = "Questions")]
    pub model: Option<String>,

    /// URL of the model's server, including `/v1` [default: OpenAI's]
    #[arg(
        long,
        value_name = "URL",
        requires = "from",
        help_heading = "Questions",
        hide_short_help = true
    )]
    pub base_url: Option<String>,

    /// Time limit for each answer, such as 90s or 5m [default: none]
    #[arg(long, value_name = "DURATION", value_parser = value_parsers::some_time, requires = "from", help_heading = "Questions", hide_short_help = true)]
    pub timeout: Option<Duration>,

    /// Replay the model's responses from a cassette
    ///
    /// Needs no key and no network. The code of the model runs again.
    #[arg(
        long,
        value_name = "CASSETTE",
        requires = "from",
        help_heading = "Questions",
        hide_short_help = true
    )]
    pub replay: Option<PathBuf>,
}

impl ReportFlags {
    /// Returns the flags that configuration files can set.
    pub(crate) fn settings(&self) -> SettingFlags {
        SettingFlags {
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            timeout: self.timeout,
            ..SettingFlags::default()
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportForm {
    Html,
    Markdown,
    Pdf,
}

impl ReportForm {
    /// Returns the form that the ending of the file says, or the format of stdout. Fails with
    /// `FailureKind::Usage` when reports do not have that form.
    fn of(output: Option<&Path>, options: &GlobalOptions) -> anyhow::Result<ReportForm> {
        let format = options.format;
        let refused = |what: &str| {
            let message = format!("cannot write a report as {what}");
            let hint = "name a file that ends in .html, .md or .pdf: `-o report.html`";
            Failure::usage(message).hint(hint).into()
        };
        let Some(path) = output else {
            return match format {
                Format::Text => Ok(ReportForm::Html),
                Format::Md => Ok(ReportForm::Markdown),
                _ => Err(refused("this format")),
            };
        };
        let ending = path.extension().and_then(OsStr::to_str).map(str::to_lowercase);
        let form = match ending.as_deref() {
            Some("html" | "htm") => ReportForm::Html,
            Some("md" | "markdown") => ReportForm::Markdown,
            Some("pdf") => ReportForm::Pdf,
            Some(other) => return Err(refused(&format!("`.{other}`"))),
            // Such as `/dev/stdout`.
            None if format == Format::Md => ReportForm::Markdown,
            None => ReportForm::Html,
        };
        let fits = match format {
            Format::Text => form != ReportForm::Markdown,
            Format::Md => form == ReportForm::Markdown,
            _ => false,
        };
        if matches!(options.format_origin, ValueOrigin::Flag(_)) && !fits {
            let (word, file) = (format.word(), path.display());
            let message = format!("`--format {word}` does not fit the name of the file, `{file}`");
            let hint = "leave out `--format`: the ending of the name sets the form";
            return Err(Failure::usage(message).hint(hint).into());
        }
        Ok(form)
    }
}

/// Writes turns as a report. Fails when there is no such turn, none of them has an answer, or the report cannot
/// be written.
pub(crate) fn run(
    flags: &ReportFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let output = stdout::file_of(flags.output.as_deref());
    let form = ReportForm::of(output, options)?;
    if output.is_none() && options.terminal.stdout.is_tty {
        let failure = Failure::usage("cannot write a report to a terminal");
        return Err(failure.hint("write it to a file: `-o report.html`").into());
    }
    // Before anything is read: who has no browser learns that at once.
    let browser = (form == ReportForm::Pdf).then(|| Browser::find(settings)).transpose()?;
    let write = |title: Option<String>, parts: Vec<ReportPart>, catalog: &Catalog| {
        let title = flags.title.clone().or(title);
        let (made, has_code) = (Timestamp::now(), !flags.no_code);
        let theme = flags.theme.unwrap_or_default();
        let report = Report { title, parts, catalog, made, has_code, theme };
        write(&report, form, output, browser.as_ref())
    };
    if let Some(path) = &flags.from {
        let (template, mut questions) = open(path, output, flags, settings, options)?;
        let parts = answered(template.parts, &mut questions)?;
        write(template.title, parts, questions.session().catalog())?;
        questions.finish();
        return Ok(ExitStatus::Ok);
    }
    let turns = stored_turns::choose(&flags.turns, options)?;
    let catalog = Session::read_catalog(&options.session.dir)?;
    demand_outside(output, &options.session.dir)?;
    write(None, sections(&turns, options)?, &catalog)?;
    Ok(ExitStatus::Ok)
}

/// Reads a template, and opens the session with the data that its questions are about.
fn open<'a>(
    path: &Path,
    output: Option<&Path>,
    flags: &ReportFlags,
    settings: &'a Settings,
    options: &GlobalOptions,
) -> anyhow::Result<(Template, ReportQuestions<'a>)> {
    let shown = path.display();
    let refused = |what: String| Failure::input(format!("cannot read `{shown}`{what}"));
    let bytes = named_file::read(path, REPORT_TEMPLATE_BYTES_MAX)
        .map_err(|reason| refused(format!(": {reason}")))?;
    let text = String::from_utf8(bytes).map_err(|_| refused(" as UTF-8".to_owned()))?;
    let template = template(&text).map_err(|error| {
        let failure = refused(format!(": line {} has {}", error.line, error.found));
        failure.hint("write each question in a fenced block of its own, between paragraphs")
    })?;
    let flags = TurnFlags {
        file: flags.file.clone(),
        dataset: flags.dataset.clone(),
        replay: flags.replay.clone(),
        fresh: true,
        ..TurnFlags::default()
    };
    let mut turn = TurnOptions::resolve(flags, options.clone(), settings)?;
    let access = if turn.files.is_empty() { Access::Existing } else { Access::Create };
    let mut session = Session::open(&options.session.dir, access, options.lock("report"))?;
    let visible = turn.inputs().ingest(&mut session, options)?;
    diagnostics::warnings(session.take_warnings(), options.terminal.stderr.colour);
    demand_outside(output, session.dir())?;
    if !template.parts.iter().any(|it| matches!(it, TemplatePart::Question(..))) {
        let colour = options.terminal.stderr.colour;
        diagnostics::warning(&format!("`{shown}` has no questions"), colour);
        diagnostics::hint("write each in a fenced block that begins with ```csv-agent", colour);
    }
    turn.agent.datasets = visible;
    Ok((template, ReportQuestions::new(turn, settings, session)?))
}

/// Replaces each question by its answer. Without all of them there is no report: those that were found are in the
/// session, and the next run takes them from there.
fn answered(
    parts: Vec<TemplatePart>,
    questions: &mut ReportQuestions,
) -> anyhow::Result<Vec<ReportPart>> {
    let answered = |part: TemplatePart| match part {
        TemplatePart::Text(text) => Ok(ReportPart::Text(text)),
        TemplatePart::Question(question, line) => match questions.answer(&question) {
            Ok(answer) => Ok(ReportPart::Answer(answer)),
            Err(error) => {
                let kind = errors::kind_of(&error);
                let hint = errors::hint_of(&error).map(str::to_owned);
                let message = format!("the question on line {line} has no answer: {error:#}");
                let failure = Failure::new(kind, message);
                Err(hint.into_iter().fold(failure, Failure::hint).into())
            }
        },
    };
    parts.into_iter().map(answered).collect()
}

/// Reads the turns that have an answer, and reports the others.
fn sections(turns: &[TurnSummary], options: &GlobalOptions) -> anyhow::Result<Vec<ReportPart>> {
    let colour = options.terminal.stderr.colour;
    let (mut together, mut room) = (Together::new(), PAGE_IMAGES_BYTES_MAX);
    let (mut sections, mut left_out) = (Vec::new(), Vec::new());
    for turn in turns {
        let events = events(turn, &mut together, colour)?;
        let number = number(&turn.id).to_owned();
        if let Some(why) = why_not(events.last().map(|it| &it.body)) {
            left_out.push((number, why));
            continue;
        }
        let images = images(&events, &options.session.dir, &mut room);
        let answer = ReportAnswer { number, events, images, change: None };
        sections.push(ReportPart::Section(answer));
    }
    if sections.is_empty() {
        let message = format!("there is no answer to report: {}", in_words(&left_out));
        let hint = "ask again, or name other turns; `csv-agent show TURN` says what happened";
        return Err(Failure::input(message).hint(hint).into());
    }
    if !left_out.is_empty() {
        diagnostics::warning(&format!("not in the report: {}", in_words(&left_out)), colour);
    }
    Ok(sections)
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

/// Returns turns with the reasons for which they have no answer: `turns 2, 5 were refused, turn 3 failed`.
fn in_words(left_out: &[(String, &'static str)]) -> String {
    let mut reasons: Vec<&'static str> = left_out.iter().map(|it| it.1).collect();
    let mut seen = HashSet::new();
    reasons.retain(|it| seen.insert(*it));
    let parts = reasons.into_iter().map(|why| {
        let turns = left_out.iter().filter(|it| it.1 == why).map(|it| it.0.as_str());
        let turns: Vec<&str> = turns.collect();
        if let [turn] = turns[..] {
            return format!("turn {turn} {why}");
        }
        let why = why.replace("was ", "were ").replace("has ", "have ");
        format!("turns {} {why}", turns.join(", "))
    });
    parts.collect::<Vec<_>>().join("; ")
}

fn how_it_failed(error: &ErrorBody) -> &'static str {
    match error.code.as_str() {
        "interrupted" | "cancelled" => "was interrupted",
        _ => "failed",
    }
}

/// Checks that a file to write is not in the session. Fails with `FailureKind::Usage` when it is.
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
        return Err(Failure::usage(message).hint(hint).into());
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
