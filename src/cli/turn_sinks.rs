//! The outputs of a turn as one sink: the answer, the progress, and `--events`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use csv_agent_chart::screen::Screen;
use csv_agent_sink::jsonl::Jsonl;
use csv_agent_sink::{EventSink, Format, OutputOptions, answer, rows};
use csv_agent_types::event::{Body, Event};
use csv_agent_types::named_file;
use csv_agent_types::status::Failure;

use super::ci_reports::Reports;
use super::flags::ImageChoice;
use super::options::GlobalOptions;
use super::options::ask::{AnswerOptions, EventsTarget};
use super::progress::ProgressReporter;
use super::stdout::{Stdout, WholeFile, open_direct};
use super::terminal::Terminal;
use super::terminal_graphics::{self, Images};

/// All outputs of a turn.
pub(crate) struct TurnSinks {
    story: Option<ProgressReporter>,
    answer: Box<dyn EventSink>,
    events: Option<Box<dyn EventSink>>,
    reports: Option<Reports>,
    file: Option<WholeFile>,
    /// The session, and the directory for charts.
    charts: Option<(PathBuf, PathBuf)>,
    /// How to show charts on this terminal; resolved before the first is shown.
    images: Images,
    terminal: Terminal,
    screen: Rc<OnceCell<Screen>>,
    /// Whether the last event of the turn was passed on.
    has_ended: bool,
}

impl TurnSinks {
    /// Opens the outputs that `options` names. On a terminal, progress starts at once.
    ///
    /// `session_dir` is the base of the paths in events. Fails when a file cannot be created or a descriptor is
    /// not open.
    pub(crate) fn open(
        options: &AnswerOptions,
        global: &GlobalOptions,
        session_dir: &Path,
    ) -> anyhow::Result<TurnSinks> {
        let events = options.events.as_ref().map(|it| open_events(it, options, session_dir));
        let events = events.transpose()?;
        let mut output = TurnSinks::open_quietly(options, global, session_dir)?;
        let is_shown = global.terminal.stdout.is_tty && options.output.is_none();
        let shows_partials = is_shown && options.stream && global.format == Format::Text;
        let files = options.keeps_files.then(|| session_dir.to_owned());
        output.story = Some(ProgressReporter::begin(global, options, shows_partials, files));
        output.events = events;
        output.reports = options.reports.as_ref().map(Reports::open).transpose()?;
        Ok(output)
    }

    /// Opens only the answer, for a past turn. Fails when the file of `-o` cannot be created.
    pub(crate) fn open_quietly(
        options: &AnswerOptions,
        global: &GlobalOptions,
        session_dir: &Path,
    ) -> anyhow::Result<TurnSinks> {
        let file = options.output.as_deref().map(WholeFile::create).transpose()?;
        let out: Box<dyn Write> = match &file {
            Some(file) => Box::new(file.writer()?),
            None => Box::new(Stdout::new()),
        };
        let stdout = global.terminal.stdout;
        // A file is written like a pipe.
        let is_tty = stdout.is_tty && file.is_none();
        let sink = OutputOptions {
            format: global.format,
            is_tty,
            colour: stdout.colour && file.is_none(),
            width: stdout.width.filter(|_| is_tty),
            size: global.terminal.size().filter(|_| is_tty),
            table: options.table.clone(),
            quiet: global.quiet,
            stream: options.stream,
            seal: options.seal.clone(),
            session_dir: session_dir.to_owned(),
            keeps_files: options.keeps_files,
            linked_from: linked_from(options, global.format),
            abs_paths: options.abs_paths,
            screen: Rc::default(),
        };
        let screen = Rc::clone(&sink.screen);
        let answer = answer(sink, out, Box::new(std::io::stderr()));
        let images = Images {
            choice: if is_tty { options.images.choice } else { ImageChoice::Never },
            ..options.images.clone()
        };
        let terminal = global.terminal;
        Ok(TurnSinks {
            story: None,
            answer,
            events: None,
            reports: None,
            file,
            charts: options.charts.clone().map(|dir| (session_dir.to_owned(), dir)),
            images,
            terminal,
            screen,
            has_ended: false,
        })
    }

    /// Returns whether the turn's last event was written.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Puts the file of `-o` in place, if the turn ended with an answer worth keeping. An empty one is not: of a format
    /// for tables, it means that there was no table.
    pub(crate) fn finish(self, keep: bool) -> anyhow::Result<()> {
        match self.file {
            Some(file) if keep && !file.is_empty() => file.finish(),
            _ => Ok(()),
        }
    }
}

impl EventSink for TurnSinks {
    /// Passes the event to each sink, even when one fails; returns the first failure.
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        let moved = self.charts.as_ref().map(|(session, dir)| with_chart_in(dir, session, event));
        // A chart that cannot be copied is shown where it is.
        let (event, copied) = match moved {
            None => (Cow::Borrowed(event), Ok(())),
            Some(Ok(moved)) => (moved, Ok(())),
            Some(Err(error)) => (Cow::Borrowed(event), Err(error)),
        };
        let event = &*event;
        self.has_ended |= event.body.is_terminal();
        if let Some(story) = &mut self.story {
            story.make_way(event);
        }
        if matches!(event.body, Body::Chart(_))
            && self.screen.get().is_none()
            && let Some(screen) = terminal_graphics::screen(&self.images, &self.terminal)
        {
            self.screen.get_or_init(|| screen);
        }
        let answered = self.answer.emit(event);
        let teed = self.events.as_mut().map_or(Ok(()), |it| it.emit(event));
        let told = self.story.as_mut().map_or(Ok(()), |it| it.emit(event));
        let reported = self.reports.as_mut().map_or(Ok(()), |it| it.emit(event));
        answered.and(copied).and(teed).and(told).and(reported)
    }
}

/// Returns the directory of the Markdown file that `options` names.
fn linked_from(options: &AnswerOptions, format: Format) -> Option<PathBuf> {
    let file = options.output.as_deref().filter(|_| format == Format::Md)?;
    let dir = file.parent().filter(|it| !it.as_os_str().is_empty());
    Some(dir.unwrap_or(Path::new(".")).to_owned())
}

/// Copies the files of a chart to a directory, and returns the event with their new paths. Other events are unchanged.
fn with_chart_in<'a>(
    dir: &Path,
    session_dir: &Path,
    event: &'a Event,
) -> anyhow::Result<Cow<'a, Event>> {
    if !matches!(event.body, Body::Chart(_)) {
        return Ok(Cow::Borrowed(event));
    }
    let cannot = |error: std::io::Error| {
        let reason = named_file::reason(dir, &error);
        let message = format!("cannot write charts to `{}`: {reason}", dir.display());
        Failure::input(message).hint("name another directory with `--charts DIR`")
    };
    let mut moved = event.clone();
    if let Body::Chart(chart) = &mut moved.body {
        fs::create_dir_all(dir).map_err(cannot)?;
        let dir = std::path::absolute(dir)?;
        for file in &mut chart.files {
            let from = session_dir.join(&file.path);
            let to = dir.join(from.file_name().unwrap_or_default());
            let whole = WholeFile::create(&to)?;
            std::io::copy(&mut File::open(&from)?, &mut whole.writer()?).map_err(cannot)?;
            whole.finish()?;
            file.path = to.to_string_lossy().into_owned();
        }
    }
    Ok(Cow::Owned(moved))
}

fn open_events(
    target: &EventsTarget,
    options: &AnswerOptions,
    session_dir: &Path,
) -> anyhow::Result<Box<dyn EventSink>> {
    let file = match target {
        EventsTarget::File(path) => {
            let opened =
                open_direct(OpenOptions::new().write(true).create(true).truncate(true), path)?;
            opened.map_err(|error| {
                let reason = named_file::reason(path, &error);
                let message = format!("cannot write events to `{}`: {reason}", path.display());
                Failure::input(message).hint("name another file with `--events`")
            })?
        }
        EventsTarget::Descriptor(number) => open_descriptor(*number)?,
    };
    let abs_dir = options.abs_paths.then(|| session_dir.to_owned());
    Ok(Box::new(Jsonl::new(Box::new(file), options.seal.clone(), abs_dir)))
}

/// Reopens the caller's descriptor `number` for appending.
fn open_descriptor(number: u32) -> anyhow::Result<File> {
    let path = format!("/dev/fd/{number}");
    open_direct(OpenOptions::new().append(true), path.as_ref())?.map_err(|error| {
        let message = format!("cannot write events to descriptor {number}: {error}");
        let hint =
            format!("open it, as in `csv-agent … --events fd:{number} {number}>events.jsonl`");
        Failure::usage(message).hint(hint).into()
    })
}

/// Returns why `format` has nothing to write for a turn with these tables: CSV and TSV write one table, the
/// `wanted` one or the last.
pub(crate) fn missing_table(
    format: Format,
    wanted: Option<&str>,
    tables: &[String],
) -> Option<Failure> {
    let is_table = matches!(format, Format::Csv | Format::Tsv);
    if !is_table || rows::chosen(tables, wanted).is_some() {
        return None;
    }
    Some(match wanted {
        Some(name) if !tables.is_empty() => {
            let message = format!("no table `{name}` in the answer");
            Failure::contract(message).hint(format!("it has {}", tables.join(", ")))
        }
        _ => Failure::contract("no table in the answer")
            .hint("ask for one in the question, or read the answer with `--format reply`"),
    })
}

#[cfg(test)]
mod tests {
    use super::missing_table;
    use csv_agent_sink::Format::{self, Csv, Text};

    #[track_caller]
    fn check(format: Format, wanted: Option<&str>, tables: &[&str], message: Option<&str>) {
        let tables: Vec<String> = tables.iter().map(ToString::to_string).collect();
        let found = missing_table(format, wanted, &tables).map(|it| it.message);
        assert_eq!(found.as_deref(), message);
    }

    #[test]
    fn csv_needs_the_table_that_was_asked_for() {
        check(Text, None, &[], None);
        check(Csv, None, &["a"], None);
        check(Csv, Some("2"), &["a", "b"], None);
        check(Csv, None, &[], Some("no table in the answer"));
        check(Csv, Some("c"), &["a", "b"], Some("no table `c` in the answer"));
    }
}
