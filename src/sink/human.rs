//! The answer for people: text on a terminal, text in a pipe, the reply alone, Markdown.

use std::fmt::Write as _;
use std::io::Write;

use crate::event::{Body, ChartDrawn, DataFrame, Event, ReplyBody, Status};
use crate::render::chart::screen;
use crate::render::table::{self, TableStyle};
use crate::render::{report, sanitize};
use crate::sink::{EventSink, Format, OutputOptions, paths, write};

/// Writes tables, charts and the reply.
///
/// A terminal shows them as they come. Anything else gets them when the turn has ended well, so that
/// a failed turn leaves nothing that looks like an answer.
pub struct Human {
    options: OutputOptions,
    out: Box<dyn Write>,
    /// What waits for the turn to end well.
    waiting: String,
    /// The text that has been shown and may become the reply, and the item it belongs to.
    live: Option<(u32, String)>,
    /// Charts that a terminal was shown.
    n_charts: u32,
}

impl Human {
    /// Makes a sink for text, reply or md.
    pub fn new(options: OutputOptions, out: Box<dyn Write>) -> Human {
        Human { options, out, waiting: String::new(), live: None, n_charts: 0 }
    }

    fn is_terminal(&self) -> bool {
        self.options.is_tty && self.options.format == Format::Text
    }

    /// Writes a table or a chart: now on a terminal, later elsewhere.
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
            let drawn = table::text(&table.frame(), &TableStyle { width, colour, rows_max: None });
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
        // Colour in a pipe is there only when the user forces it.
        if self.options.colour
            && let Some((header, rows)) = text.split_once('\n')
        {
            text = format!("\x1b[1m{header}\x1b[0m\n{rows}");
        }
        if table.truncated {
            let place = place.map_or(String::new(), |it| format!("; all of them are in {it}"));
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
                let alt = sanitize::one_line(&chart.alt).replace('[', "\\[").replace(']', "\\]");
                // A link with a space needs brackets, and one with brackets has no way out.
                let path = path.replace(' ', "%20").replace('(', "%28").replace(')', "%29");
                format!("![{alt}]({path})\n")
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

    /// Shows text as it comes. What an earlier item or attempt said stays on a line of its own.
    fn partial(&mut self, item: u32, delta: &str) -> anyhow::Result<()> {
        if !(self.is_terminal() && self.options.stream) {
            return Ok(());
        }
        if self.live.as_ref().is_some_and(|it| it.0 != item) {
            self.end_live()?;
        }
        let (_, shown) = self.live.get_or_insert((item, String::new()));
        shown.push_str(delta);
        write(&mut *self.out, &sanitize::for_terminal(delta))
    }

    /// Ends the line of text that has been shown so far; it is not the reply.
    fn end_live(&mut self) -> anyhow::Result<()> {
        match self.live.take() {
            Some((_, shown)) if !shown.is_empty() && !shown.ends_with('\n') => {
                write(&mut *self.out, "\n")
            }
            _ => Ok(()),
        }
    }

    fn reply(&mut self, text: &str) -> anyhow::Result<()> {
        let text = text.trim_end();
        if let Some((_, shown)) = &self.live {
            // The reply has been read as it came; only what is missing is written.
            if text == shown.trim_end() {
                return self.end_live();
            }
            if let Some(rest) = text.strip_prefix(shown.as_str()) {
                let rest = sanitize::for_terminal(rest) + "\n";
                self.live = None;
                return write(&mut *self.out, &rest);
            }
        }
        self.end_live()?;
        let mut answer = std::mem::take(&mut self.waiting);
        answer += &sanitize::for_terminal(text);
        answer.push('\n');
        write(&mut *self.out, &answer)
    }
}

/// Returns the verdict for people: what it is, and each reason with its lines.
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
            Body::Reply(reply) if self.options.format == Format::Reply => self.reply(&reply.text),
            Body::Reply(reply) => {
                let text = format!("{}{}", reply.text.trim_end(), verdict(reply));
                self.reply(&text)
            }
            // The next attempt says it all again.
            Body::Status(Status::Retrying { .. }) => self.end_live(),
            Body::Error(error) if error.fatal => self.end_live(),
            Body::DataFrame(table) if self.options.format != Format::Reply => self.table(table),
            Body::Chart(chart) if self.options.format != Format::Reply => self.chart(chart),
            _ => Ok(()),
        }
    }
}
