//! The answer for people: text on a terminal, text in a pipe, the reply alone, or Markdown.

use std::fmt::Write as _;
use std::io::Write;

use csv_agent_chart::screen;
use csv_agent_render::table::{self, TableStyle};
use csv_agent_render::terminal_markdown::live::{Live, Window};
use csv_agent_render::terminal_markdown::{self, ProseStyle};
use csv_agent_render::{answer, inert, links, report};
use csv_agent_text::sanitize;
use csv_agent_types::event::{Body, ChartDrawn, DataFrame, Event, FetchedFile, ReplyBody, Status};

use crate::{EventSink, Format, OutputOptions, paths, write};

/// Columns assumed when the terminal reports none.
const WIDTH_UNKNOWN: u16 = 80;

/// Writes tables, charts and the reply.
///
/// A terminal shows them as they arrive. Any other output receives them when the turn has succeeded, so
/// that a failed turn leaves nothing that looks like an answer.
pub(crate) struct Human {
    options: OutputOptions,
    out: Box<dyn Write>,
    /// Output held until the turn succeeds.
    waiting: String,
    live: Option<Partial>,
    /// Charts already shown on a terminal.
    n_charts: u32,
}

impl Human {
    /// Creates a sink for text, reply or md.
    pub(crate) fn new(options: OutputOptions, out: Box<dyn Write>) -> Human {
        Human { options, out, waiting: String::new(), live: None, n_charts: 0 }
    }

    fn is_terminal(&self) -> bool {
        self.options.is_tty && self.options.format == Format::Text
    }

    /// Writes a table or a chart: immediately on a terminal, later elsewhere.
    fn show(&mut self, text: &str) -> anyhow::Result<()> {
        if self.is_terminal() {
            self.end_live()?;
            return write(&mut *self.out, text);
        }
        self.waiting.push_str(text);
        self.waiting.push('\n');
        Ok(())
    }

    fn table(&mut self, table: &DataFrame) -> anyhow::Result<()> {
        let name = sanitize::one_line(&table.logical_name);
        let place = table.artifact.as_ref().map(|it| paths::shown(&self.options, &it.path));
        let (n_rows, n_all) = (table.rows_emitted, table.row_count);
        if self.is_terminal() {
            let (width, colour) = (self.options.width, self.options.colour);
            let style = TableStyle { width, colour, rows_max: None, lines_max: None };
            let drawn = table::text(&table.frame(), &style);
            let n_rows = drawn.n_rows as u64;
            let mut text = drawn.text + "\n";
            if !self.options.quiet || n_rows < n_all {
                let place = place.filter(|_| n_rows < n_all);
                text += &table::caption(&name, n_rows, n_all, place.as_deref(), colour);
            }
            return self.show(&text);
        }
        let place = place.filter(|_| table.truncated);
        let mut text = table::markdown(&table.frame());
        // A pipe gets colour only when the user forces it.
        if self.options.colour
            && let Some((header, rows)) = text.split_once('\n')
        {
            text = format!("\x1b[1m{header}\x1b[0m\n{rows}");
        }
        if table.truncated {
            let place = place.map_or(String::new(), |it| format!("; all of them are in {it}"));
            let name = inert::text(&name);
            writeln!(text, "\n{name}: {n_rows} of {n_all} rows{place}")?;
        }
        self.show(&text)
    }

    fn chart(&mut self, chart: &ChartDrawn) -> anyhow::Result<()> {
        let Some(file) = chart.files.first() else { return Ok(()) };
        let path = paths::shown(&self.options, &file.path);
        let name = sanitize::one_line(&chart.logical_name);
        let text = match self.options.format {
            Format::Md => {
                let alt = inert::text(&sanitize::one_line(&chart.alt));
                format!("![{alt}]({})\n", links::destination(&path))
            }
            _ if self.is_terminal() => {
                self.n_charts += 1;
                let picture = match self.options.screen.get().zip(chart.chart()) {
                    Some((screen, chart)) => screen::show(&chart, screen)?,
                    None => String::new(),
                };
                format!("{picture}chart {}: {name} → {path}\n", self.n_charts)
            }
            _ => format!("chart: {path}\n"),
        };
        self.show(&text)
    }

    /// Returns the locations of a reply's files, one per line.
    fn files(&self, reply: &ReplyBody) -> String {
        let line = |file: &FetchedFile| {
            let path = paths::shown(&self.options, &file.artifact.path);
            if self.options.format != Format::Md {
                return format!("file: {path}\n");
            }
            let name = inert::text(&sanitize::one_line(&file.name));
            format!("- [{name}]({})\n", links::destination(&path))
        };
        reply.files.iter().map(line).collect()
    }

    /// Returns text of a reply with links to its files rewritten to their local paths.
    fn linked(&self, text: &str, reply: &ReplyBody) -> String {
        // Text that was shown as it arrived still has the model's links.
        let text = links::to_fetched(text, &reply.files);
        links::to_place(&text, &reply.files, |it| paths::shown(&self.options, it))
    }

    /// Shows text as it arrives. The text of an earlier item or attempt remains on its own lines.
    fn partial(&mut self, item: u32, delta: &str) -> anyhow::Result<()> {
        if !(self.is_terminal() && self.options.stream) {
            return Ok(());
        }
        if self.live.as_ref().is_some_and(|it| it.item != item) {
            self.end_live()?;
        }
        let window = self.window();
        let live = self.live.get_or_insert_with(|| Partial { item, ..Partial::default() });
        live.text.push_str(delta);
        let text = live.shown.push(delta, &window);
        write(&mut *self.out, &text)
    }

    /// Makes room for other output: moves the cursor to a new line.
    fn park(&mut self) -> anyhow::Result<()> {
        let window = self.window();
        match &mut self.live {
            Some(live) => {
                let text = live.shown.park(&window);
                write(&mut *self.out, &text)
            }
            None => Ok(()),
        }
    }

    /// Leaves the text shown so far unchanged; it is not the reply.
    fn end_live(&mut self) -> anyhow::Result<()> {
        self.park()?;
        self.live = None;
        Ok(())
    }

    fn window(&self) -> Window {
        let size = self.options.size.map(|look| look());
        let width = size.and_then(|it| it.columns).or(self.options.width).unwrap_or(WIDTH_UNKNOWN);
        let style = ProseStyle { width: width.into(), colour: self.options.colour };
        // Reserves two lines: one for what is above, one for a cursor that a full line has pushed down.
        Window { style, rows: size.map_or(0, |it| usize::from(it.rows).saturating_sub(2)) }
    }

    fn reply(&mut self, reply: &ReplyBody, turn_id: &str) -> anyhow::Result<()> {
        let whole = if self.options.keeps_files {
            paths::shown(&self.options, &format!("turns/{turn_id}/reply.md"))
        } else {
            "--format reply".to_owned()
        };
        let linked = self.linked(reply.text.trim_end(), reply);
        // A verdict is shown below however much of the text is.
        let shown = answer::shown(&linked, &whole).into_owned() + &verdict(reply);
        if self.is_terminal() {
            self.reply_on_terminal(&(linked + &verdict(reply)), &shown, reply)?;
            let files = self.files(reply);
            return write(&mut *self.out, &files);
        }
        let mut answer = std::mem::take(&mut self.waiting);
        if !reply.files.is_empty() && self.options.format != Format::Reply {
            answer += &self.files(reply);
            answer.push('\n');
        }
        // The reply alone is for programs, verbatim; the others may be opened in a viewer.
        answer += &match self.options.format {
            Format::Reply => sanitize::for_terminal(reply.text.trim_end()),
            _ => inert::markdown(&sanitize::for_terminal(shown.trim_end())),
        };
        answer.push('\n');
        write(&mut *self.out, &answer)
    }

    fn reply_on_terminal(
        &mut self,
        text: &str,
        cut: &str,
        reply: &ReplyBody,
    ) -> anyhow::Result<()> {
        let text = text.trim_end();
        // Trailing space is not part of the reply, and more text may follow it.
        let rest =
            |shown: &str| text.strip_prefix(shown).or_else(|| text.strip_prefix(shown.trim_end()));
        if let Some(live) = &self.live
            && let Some(rest) = rest(&self.linked(&live.text, reply))
        {
            // The reply has been shown as it arrived; write only what is missing.
            let (item, rest) = (live.item, rest.to_owned());
            self.partial(item, &rest)?;
            return self.end_live();
        }
        self.end_live()?;
        let shown = terminal_markdown::text(cut.trim_end(), &self.window().style);
        write(&mut *self.out, &(shown + "\n"))
    }
}

/// Text of a response still in progress.
#[derive(Debug, Default)]
struct Partial {
    /// The item that it belongs to.
    item: u32,
    /// The whole text, which may become the reply.
    text: String,
    /// The part of it that the terminal shows.
    shown: Live,
}

/// Returns the verdict for people: its name, and each finding with its location.
fn verdict(reply: &ReplyBody) -> String {
    let Some(assessment) = reply.assessment else { return String::new() };
    let mut text = format!("\n\nVerdict: {}\n", assessment.name());
    for shown in &reply.findings {
        let finding = &shown.finding;
        // Writing to a string cannot fail.
        let _ = write!(text, "\n- {}: {}", finding.severity.name(), finding.message.trim_end());
        if let Some(place) = report::place(shown) {
            let _ = write!(text, " ({place})");
        }
    }
    text
}

impl EventSink for Human {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        match &event.body {
            Body::Partial { delta, item } => self.partial(*item, delta),
            Body::Reply(reply) => self.reply(reply, &event.turn_id),
            // The next attempt repeats all of it.
            Body::Status(Status::Retrying { .. }) => self.end_live(),
            Body::Error(error) if error.fatal => self.end_live(),
            Body::DataFrame(table) if self.options.format != Format::Reply => self.table(table),
            Body::Chart(chart) if self.options.format != Format::Reply => self.chart(chart),
            // Progress messages appear below what has been shown.
            _ => self.park(),
        }
    }
}
