//! `show`: a past turn, in any format, or turns as one HTML page.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use csv_agent_agent::replay::stored_turn::number;
use csv_agent_chart::Theme;
use csv_agent_render::page::{Contents, PageTurn, is_image, page};
use csv_agent_render::report::ungrounded;
use csv_agent_session::Session;
use csv_agent_session::directory::Directory;
use csv_agent_session::egress_store::{EgressFile, total};
use csv_agent_session::turns::TurnSummary;
use csv_agent_sink::encryption::Seal;
use csv_agent_sink::{EventSink, Format};
use csv_agent_text::lists::all_names;
use csv_agent_types::event::{self, Body, ErrorBody, Event, Status};
use csv_agent_types::limits::{PAGE_IMAGE_BYTES_MAX, PAGE_IMAGES_BYTES_MAX};
use csv_agent_types::status::{Failure, FailureKind};

use super::diagnostics;
use super::egress_report;
use super::flags::{ImageChoice, SettingFlags, one_of};
use super::options::GlobalOptions;
use super::options::ask::AnswerOptions;
use super::options::demand_table_format;
use super::options::settings::Settings;
use super::stdout;
use super::stored_turns::{self, Together};
use super::terminal_graphics::Images;
use super::tips;
use super::turn_sinks::{TurnSinks, missing_table};
use crate::errors::{ExitStatus, exit_code};

/// Flags of `show`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ShowFlags {
    /// Number of the turn, or `last`
    ///
    /// With `--html`, give one or more turns, or `all`.
    #[arg(value_name = "TURN", default_value = "last")]
    pub turns: Vec<String>,

    /// Write the answer to a file instead of stdout
    ///
    /// Without --format, the ending of its name sets the format: .csv, .tsv, .json, .jsonl or .md. The file
    /// appears only when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Table to write with `--format csv` or `tsv` [default: the last]
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,

    /// How a terminal shows charts [default: auto]
    ///
    /// A pipe or a file always gets the paths of the charts.
    #[arg(long, value_name = "KIND", value_enum)]
    pub images: Option<ImageChoice>,

    /// Background of charts that a terminal shows as pictures [default: light]
    #[arg(long, value_name = "THEME", value_parser = one_of::<Theme>())]
    pub chart_theme: Option<Theme>,

    /// Add absolute paths of tables, charts and files to JSON
    #[arg(long)]
    pub abs_paths: bool,

    /// Show what the turn sent to servers, instead of the answer
    ///
    /// The output also has the total of all turns.
    #[arg(long, conflicts_with_all = ["table", "abs_paths"])]
    pub egress: bool,

    /// Write a page for a browser
    ///
    /// The page contains the questions, answers, tables, charts, files and code, and the steps of
    /// each answer.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "output", "table", "abs_paths", "egress", "format", "json", "images", "chart_theme",
        ]
    )]
    pub html: Option<PathBuf>,
}

impl ShowFlags {
    /// Returns the flags that configuration files can set.
    pub(crate) fn settings(&self) -> SettingFlags {
        SettingFlags {
            images: self.images,
            chart_theme: self.chart_theme,
            ..SettingFlags::default()
        }
    }
}

/// Writes the events of a turn through the same sinks as originally. Fails when there is no such turn, its
/// events cannot be read, or the answer cannot be written.
pub(crate) fn run(
    flags: &ShowFlags,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    if let Some(path) = &flags.html {
        return show_page(path, flags, options);
    }
    let output = stdout::file_of(flags.output.as_deref());
    let options = &options.clone().for_file(output, &["txt"])?;
    demand_table_format(options.format, flags.table.as_deref())?;
    let environment = settings.environment();
    let turn = stored_turns::find(only(&flags.turns)?, options)?;
    if flags.egress {
        return show_egress(&turn, flags, options);
    }
    let colour = options.terminal.stderr.colour;
    let events = events(&turn, &mut Together::new(), colour)?;
    let answer = AnswerOptions {
        output: output.map(Path::to_owned),
        table: flags.table.clone(),
        abs_paths: flags.abs_paths,
        images: Images::of(settings)?,
        keeps_files: true,
        seal: Seal::from_settings(environment.event_encrypt, environment.event_key.as_deref())?,
        ..AnswerOptions::default()
    };
    warn_of_newer_data(&events, options);
    let mut output = TurnSinks::open_quietly(&answer, options, &options.session.dir)?;
    for event in &events {
        output.emit(event)?;
    }
    let mut has_findings = false;
    let tables = match events.last().map(|it| &it.body) {
        Some(Body::Reply(reply)) => {
            if !reply.ungrounded.is_empty() {
                diagnostics::warning(&ungrounded(&reply.ungrounded), colour);
            }
            has_findings = reply.assessment.is_some();
            &reply.tables[..]
        }
        Some(Body::Error(error)) => {
            tell_failure(&turn, error, colour);
            &[]
        }
        _ => &[],
    };
    let failure = missing_table(options.format, flags.table.as_deref(), tables);
    if let Some(failure) = failure.filter(|_| !(has_findings && tables.is_empty())) {
        return Err(failure.into());
    }
    output.finish(true)?;
    Ok(ExitStatus::Ok)
}

/// Warns when the data of a turn has changed since, or was removed.
fn warn_of_newer_data(events: &[Event], options: &GlobalOptions) {
    let started = events.iter().find_map(|it| match &it.body {
        Body::Status(Status::Started { datasets, .. }) => Some((&it.ts, datasets)),
        _ => None,
    });
    // An answer is shown although the list of datasets cannot be read.
    let (Some((moment, names)), Ok(catalog)) =
        (started, Session::read_catalog(&options.session.dir))
    else {
        return;
    };
    let gone = names.iter().filter(|it| catalog.get(it).is_none());
    let gone: Vec<&String> = gone.collect();
    if !gone.is_empty() {
        let message = format!(
            "the session no longer has all data of the answer: {} {} removed",
            all_names(&gone),
            if gone.len() == 1 { "was" } else { "were" }
        );
        diagnostics::warning(&message, options.terminal.stderr.colour);
    }
    let newer = catalog.newer(names, moment);
    if newer.is_empty() {
        return;
    }
    let were = if newer.len() == 1 { "was" } else { "were" };
    let message = format!(
        "the answer was computed from earlier data: {} {were} ingested again since then",
        all_names(&newer)
    );
    diagnostics::warning(&message, options.terminal.stderr.colour);
}

/// Returns the single named turn.
fn only(turns: &[String]) -> anyhow::Result<&str> {
    match turns {
        [turn] if turn != "all" => Ok(turn),
        _ => {
            let message = "`show` writes only one turn at a time, except with `--html`";
            let hint = "name one turn, or write a page of them: `--html FILE`";
            Err(Failure::usage(message).hint(hint).into())
        }
    }
}

/// Reads the events of a turn; the last of them ends it. Fails when its events cannot be read, or there is no
/// room for them beside the others.
pub(crate) fn events(
    turn: &TurnSummary,
    together: &mut Together,
    colour: bool,
) -> anyhow::Result<Vec<Event>> {
    let (mut events, is_torn) = together.events(turn)?;
    if is_torn {
        let message = format!("the last event of turn {} is incomplete and was left out", turn.id);
        diagnostics::warning(&message, colour);
    }
    if turn.interrupted {
        let after = events.last().map_or(0, |it| it.seq + 1);
        let last = events.last().cloned();
        events.push(interrupted(turn, after, last));
    }
    Ok(events)
}

/// Writes turns as one page.
fn show_page(
    path: &Path,
    flags: &ShowFlags,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if ending != "html"
        && let Some(hint) = tips::of_format(&ending)
    {
        return Err(Failure::usage(format!("cannot write a page as `.{ending}`"))
            .hint(hint)
            .into());
    }
    let file = stdout::file_of(Some(path));
    if file.is_none() && options.terminal.stdout.is_tty {
        let failure = Failure::usage("cannot write a page to a terminal");
        return Err(failure.hint("write it to a file: `--html page.html`").into());
    }
    let colour = options.terminal.stderr.colour;
    let mut room = PAGE_IMAGES_BYTES_MAX;
    let mut together = Together::new();
    let page_turn = |turn: &TurnSummary| {
        let events = events(turn, &mut together, colour)?;
        let egress = egress_report::sentence(&EgressFile::of_turn(&turn.dir).read()?.all);
        let images = images(&events, &options.session.dir, &mut room);
        anyhow::Ok(PageTurn { number: number(&turn.id).to_owned(), events, egress, images })
    };
    let turns = stored_turns::choose(&flags.turns, options)?;
    let turns = turns.iter().map(page_turn).collect::<anyhow::Result<Vec<_>>>()?;
    let page = page(&turns, &Session::read_catalog(&options.session.dir)?);
    stdout::answer_to(file, |out| Ok(out.write_all(page.as_bytes())?))?;
    Ok(ExitStatus::Ok)
}

/// Reads the image files of a turn for a page. Missing ones, and those beyond the limit, are left out: the
/// page names them.
pub(crate) fn images(events: &[Event], session_dir: &Path, room: &mut u64) -> Contents {
    let Some(Body::Reply(reply)) = events.last().map(|it| &it.body) else { return Contents::new() };
    let Ok(session) = Directory::at(session_dir) else { return Contents::new() };
    let mut images = Contents::new();
    for artifact in reply.files.iter().map(|it| &it.artifact).filter(|it| is_image(&it.format)) {
        let bytes_max = PAGE_IMAGE_BYTES_MAX.min(*room);
        let Some(file) = session.file(&artifact.path).ok().flatten() else { continue };
        let mut content = Vec::new();
        let read = file.take(bytes_max + 1).read_to_end(&mut content);
        if read.is_ok_and(|it| it as u64 <= bytes_max) {
            *room -= content.len() as u64;
            images.insert(artifact.path.clone(), content);
        }
    }
    images
}

fn show_egress(
    turn: &TurnSummary,
    flags: &ShowFlags,
    options: &GlobalOptions,
) -> anyhow::Result<ExitStatus> {
    let record = EgressFile::of_turn(&turn.dir).read()?;
    let total = total(&options.session.dir)?;
    let content = match options.format {
        Format::Json | Format::Jsonl => {
            csv_agent_sink::line(&egress_report::document(&turn.id, &record, &total))
        }
        _ => egress_report::text(&turn.id, &record, &total),
    };
    stdout::answer_to(flags.output.as_deref(), |out| Ok(out.write_all(content.as_bytes())?))?;
    Ok(ExitStatus::Ok)
}

/// The terminal event that the turn could not write, so that every format is complete.
fn interrupted(turn: &TurnSummary, seq: u64, last: Option<Event>) -> Event {
    Event {
        v: event::VERSION,
        seq,
        ts: last.as_ref().map(|it| it.ts.clone()).unwrap_or_default(),
        session_id: last.map(|it| it.session_id).unwrap_or_default(),
        turn_id: turn.id.clone(),
        body: Body::Error(Box::new(ErrorBody {
            fatal: true,
            code: "interrupted".to_owned(),
            message: "interrupted: the process ended before the turn did".to_owned(),
            hint: Some("ask again".to_owned()),
            retryable: true,
            exit_code: Some(exit_code(Some(FailureKind::Interrupted))),
            ..ErrorBody::default()
        })),
    }
}

/// A failed turn has no answer to show. The exit status reports that `show` itself succeeded.
fn tell_failure(turn: &TurnSummary, error: &ErrorBody, colour: bool) {
    let how = if error.code == "cancelled" { "interrupted" } else { "failed" };
    let message = match error.code.as_str() {
        "interrupted" => format!("turn {} was interrupted", turn.id),
        _ => format!("turn {} {how}: {}", turn.id, error.message),
    };
    diagnostics::warning(&message, colour);
}
