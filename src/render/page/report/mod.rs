//! Turns as a report to send on: each question with its answer, charts and tables, how that was computed,
//! and at the end the data.
//!
//! A report is one file, as HTML for a browser or for paper, or as Markdown. Like a page, it loads nothing
//! and runs nothing of the data. What happened on the way to an answer is not part of it.

mod answer;
mod markdown;
pub mod template;

use std::collections::BTreeSet;

use jiff::Timestamp;
use maud::{Markup, html};
use serde_json::Value;

use csv_agent_text::digits::count;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::event::{Event, FindingShown, ReplyBody, code_of};
use csv_agent_types::frame::Frame;
use csv_agent_types::status::BUILTIN;

use super::files::Contents;
use super::prose::{Headings, prose};
use super::table::PageBudget;
use super::turn_view::TurnView;
use super::words::{beginning, capital, clipped, line, moment, shown};
use super::{Document, PageTheme, file_name};
use crate::report::{place, ungrounded};

use answer::answer;

pub use markdown::{MarkdownReport, markdown};

const STYLE: &str = concat!(
    include_str!("../colours.css"),
    include_str!("../base.css"),
    include_str!("report.css")
);
/// The headings of an author, below the title.
const OF_AUTHOR: Headings = Headings { names: ["h2", "h3", "h4"], first: Some(2) };
const SCRIPT: &str = concat!(include_str!("../saved.js"), include_str!("report.js"));
/// Number of answers from which a report has a table of contents.
const CONTENTS_MIN: usize = 4;
/// Number of datasets that a title names.
const NAMED_MAX: usize = 3;
/// Characters of a question that is the title of the report.
const TITLE_CHARS_MAX: usize = 120;
/// Characters of a heading.
const HEADING_CHARS: usize = 160;

/// What a report says.
pub struct Report<'a> {
    /// The title that the user chose.
    pub title: Option<String>,
    /// In order.
    pub parts: Vec<ReportPart>,
    /// The datasets of the session.
    pub catalog: &'a Catalog,
    /// When it is written.
    pub made: Timestamp,
    /// Whether it says how the answers were computed.
    pub has_code: bool,
    /// The paper of a page.
    pub theme: PageTheme,
}

/// A part of a report.
pub enum ReportPart {
    /// What its author has written: Markdown.
    Text(String),
    /// A question of the author, answered in its place.
    Answer(ReportAnswer),
    /// A question as a heading, and its answer.
    Section(ReportAnswer),
}

/// An answered question of a report.
pub struct ReportAnswer {
    /// The number of its turn.
    pub number: String,
    /// The events of the turn, up to its reply.
    pub events: Vec<Event>,
    /// Files of the turn that may be shown as pictures.
    pub images: Contents,
    /// How it differs from an earlier answer, if there is one.
    pub change: Option<AnswerChange>,
}

/// How an answer differs from an earlier one.
pub struct AnswerChange {
    /// When the earlier one was given: RFC 3339, UTC.
    pub since: String,
    /// Whether the words are still those of the earlier one.
    pub has_older_text: bool,
    /// One sentence each; empty when nothing differs.
    pub differences: Vec<String>,
    /// The tables of the earlier one, each with its name.
    pub tables: Vec<(String, Frame)>,
}

impl AnswerChange {
    /// Says whether anything changed, and since when.
    fn headline(&self) -> String {
        let since = self.since.parse::<Timestamp>().map_or("the last report".to_owned(), day);
        match self.differences[..] {
            [] => format!("Unchanged since {since}."),
            _ => format!("Changed since {since}:"),
        }
    }
}

/// Where a report is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// In a browser, which opens what is closed.
    Screen,
    /// On paper, on which nothing opens.
    Paper,
}

/// A report whose events are read.
struct ReadReport<'a> {
    report: &'a Report<'a>,
    parts: Vec<ReadPart<'a>>,
    title: String,
    /// Names of the datasets that the answers are about.
    datasets: BTreeSet<&'a str>,
}

enum ReadPart<'a> {
    Text(&'a str),
    Answer(Box<ReadAnswer<'a>>),
}

/// An answer whose events are read.
struct ReadAnswer<'a> {
    told: TurnView<'a>,
    reply: &'a ReplyBody,
    number: &'a str,
    images: &'a Contents,
    /// As it was asked; None in a text of the author, and where the title of the report has the question.
    heading: Option<String>,
    /// Names of its datasets that were ingested again since then.
    newer: Vec<&'a str>,
    change: Option<&'a AnswerChange>,
    /// What distinguishes it from the other answers.
    id: usize,
}

impl<'a> ReadReport<'a> {
    fn of(report: &'a Report<'a>) -> ReadReport<'a> {
        let mut parts: Vec<ReadPart> = Vec::new();
        for (at, part) in report.parts.iter().enumerate() {
            let read = |it| ReadAnswer::of(it, report.catalog, at + 1).map(Box::new);
            parts.extend(match part {
                ReportPart::Text(text) => Some(ReadPart::Text(text)),
                ReportPart::Section(it) => read(it).map(ReadPart::Answer),
                ReportPart::Answer(it) => read(it).map(|mut it| {
                    it.heading = None;
                    ReadPart::Answer(it)
                }),
            });
        }
        let answers = parts.iter().filter_map(ReadPart::answer);
        let datasets: BTreeSet<&str> = answers.flat_map(|it| used(&it.told)).collect();
        let title = match (&report.title, &mut parts[..]) {
            (Some(title), _) => line(title),
            (None, [ReadPart::Answer(only)]) if only.is_titled() => {
                only.heading.take().unwrap_or_default()
            }
            (None, _) => usual_title(&datasets),
        };
        ReadReport { report, parts, title, datasets }
    }

    fn answers(&self) -> impl Iterator<Item = &ReadAnswer<'a>> {
        self.parts.iter().filter_map(ReadPart::answer)
    }

    /// Describes each dataset: its name, its file, its size, when it was read.
    fn sources(&self) -> impl Iterator<Item = (&'a str, String)> {
        self.datasets.iter().map(|name| {
            let found = self.report.catalog.get(name);
            (*name, found.map_or("no longer in the session".to_owned(), described))
        })
    }

    /// Says who wrote the report, and when.
    fn signature(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        format!("Written by csv-agent {version} on {}.", moment(self.report.made))
    }
}

impl<'a> ReadPart<'a> {
    fn answer(&self) -> Option<&ReadAnswer<'a>> {
        match self {
            ReadPart::Answer(answer) => Some(answer),
            ReadPart::Text(_) => None,
        }
    }
}

/// Returns the datasets that a turn used: those that its calls name, or else all that it could see.
fn used<'a>(told: &TurnView<'a>) -> Vec<&'a str> {
    let is_said = |name: &str| {
        told.calls().filter_map(|it| it.arguments).any(|it| it.to_string().contains(name))
    };
    let all = || told.datasets.iter().map(String::as_str);
    let said: Vec<&str> = all().filter(|it| is_said(it)).collect();
    if said.is_empty() { all().collect() } else { said }
}

fn usual_title(datasets: &BTreeSet<&str>) -> String {
    let names: Vec<String> = datasets.iter().map(|it| line(it)).collect();
    match &names[..] {
        [only] => format!("Report on {only}"),
        [first @ .., last] if names.len() <= NAMED_MAX => {
            format!("Report on {} and {last}", first.join(", "))
        }
        _ => "Report".to_owned(),
    }
}

fn described(dataset: &Dataset) -> String {
    let about = if dataset.is_estimate() { "about " } else { "" };
    let rows = count(dataset.row_count, "row");
    let columns = count(dataset.columns.len() as u64, "column");
    let read = dataset.ingested_at.parse::<Timestamp>();
    let read = read.map_or(String::new(), |it| format!(", read on {}", day(it)));
    format!("{}: {about}{rows}, {columns}{read}", file_name(dataset))
}

fn day(at: Timestamp) -> String {
    at.strftime("%-d %B %Y").to_string()
}

/// Returns a question as a heading.
fn shortened(question: &str) -> String {
    let (head, n_chars) = beginning(question, HEADING_CHARS);
    let ellipsis = if n_chars.is_some() { "…" } else { "" };
    format!("{}{ellipsis}", shown(head))
}

/// Describes a finding: its severity, its message, its place.
fn finding(found: &FindingShown) -> String {
    let severity = found.finding.severity.name();
    let message = line(&found.finding.message);
    let place = place(found).map_or(String::new(), |it| format!(" ({})", line(&it)));
    format!("{severity}: {message}{place}")
}

/// Returns a name that a program chose as people would write it.
fn label(name: &str) -> String {
    capital(&line(name).replace('_', " "))
}

impl<'a> ReadAnswer<'a> {
    /// Reads the events of an answer; None if they have none.
    fn of(answer: &'a ReportAnswer, catalog: &'a Catalog, id: usize) -> Option<ReadAnswer<'a>> {
        let ReportAnswer { number, events, images, change } = answer;
        let told = TurnView::of(events);
        let reply = told.reply()?;
        let change = change.as_ref();
        // What was computed again is as new as the data.
        let is_dated = change.is_none();
        let started = told.started.filter(|_| is_dated).map(|it| it.to_string());
        let newer = started.map_or(Vec::new(), |it| catalog.newer(told.datasets, &it));
        let used = used(&told);
        let newer = newer.into_iter().filter(|it| used.contains(it)).collect();
        let heading = Some(capital(told.question.trim())).filter(|it| !it.is_empty());
        Some(ReadAnswer { told, reply, number, images, heading, newer, change, id })
    }

    /// Returns whether its question is short enough to be the title of the report.
    fn is_titled(&self) -> bool {
        self.heading.as_ref().is_some_and(|it| it.chars().count() <= TITLE_CHARS_MAX)
    }

    /// Says who answered and when, and what was kept back, in sentences.
    fn origin(&self) -> String {
        let TurnView { model, started, withheld, .. } = &self.told;
        let who = match *model {
            BUILTIN => "the analyst inside csv-agent".to_owned(),
            "" => "a model".to_owned(),
            name => line(name),
        };
        let when = started.map_or(String::new(), |it| format!(" on {}", moment(it)));
        let kept = match withheld {
            Some(it) if it.rows => " No rows of the data were shown to it.".to_owned(),
            Some(it) => {
                let columns: Vec<String> = it.columns.iter().map(|it| line(it)).collect();
                format!(" The values of {} were kept back.", columns.join(", "))
            }
            None => String::new(),
        };
        let asked = match self.heading {
            Some(_) => String::new(),
            None => format!("The question: “{}”. ", line(self.told.question)),
        };
        format!("{asked}Answered by {who}{when}.{kept}")
    }

    /// Returns the code that led to the answer, each with its language: Python that did not fail, and SQL whose
    /// results are shown or used. If there is neither, the last code.
    fn code(&self) -> Vec<(&'static str, &'a str)> {
        let (tables, charts) = (self.told.tables.iter(), self.told.charts.iter());
        let shown: Vec<&String> =
            tables.map(|it| &it.df_name).chain(charts.map(|it| &it.df_name)).collect();
        let ran = self.told.calls().filter(|it| !it.failed()).filter_map(|it| it.arguments);
        let ran: Vec<(&Value, &str)> =
            ran.filter_map(|it| Some((it, code_of(it)?.trim()))).collect();
        let counts = |arguments: &Value, code: &str| {
            let Some(result) = arguments["result_name"].as_str() else {
                return arguments.get("sql").is_none();
            };
            let uses = |other: &&str| *other != code && other.contains(result);
            shown.iter().any(|it| *it == result) || ran.iter().map(|it| &it.1).any(uses)
        };
        let mut wanted: Vec<&(&Value, &str)> = ran.iter().filter(|it| counts(it.0, it.1)).collect();
        if wanted.is_empty() {
            wanted.extend(ran.last());
        }
        let language = |it: &Value| if it.get("sql").is_some() { "sql" } else { "python" };
        wanted.into_iter().map(|(arguments, code)| (language(arguments), *code)).collect()
    }

    /// Returns what a reader must know about the answer before using it.
    fn caveats(&self) -> Vec<String> {
        let ReplyBody { ungrounded: numbers, computed, stop_reason, .. } = self.reply;
        let older = self.change.filter(|it| it.has_older_text).map(|it| {
            let since = it
                .since
                .parse::<Timestamp>()
                .map_or(String::new(), |it| format!("from {}, and ", day(it)));
            format!("This text is {since}about earlier data. The charts and tables are new.")
        });
        let newer = (!self.newer.is_empty()).then(|| {
            let names = self.newer.join(", ");
            format!(
                "This answer was computed from earlier data. Ingested again since then: {names}."
            )
        });
        let stopped = stop_reason.told(self.told.provider).map(|it| format!("{}.", capital(it)));
        let untooled = (!computed).then(|| "None of this was computed from the data.".to_owned());
        let numbers = (!numbers.is_empty()).then(|| format!("{}.", capital(&ungrounded(numbers))));
        [older, newer, stopped, untooled, numbers].into_iter().flatten().collect()
    }
}

/// Returns the report as one HTML file.
pub fn page(report: &Report, medium: Medium) -> String {
    let read = ReadReport::of(report);
    let mut room = PageBudget::new();
    let has_images = read.answers().any(|it| !it.images.is_empty());
    let is_screen = medium == Medium::Screen;
    let document = Document {
        title: &clipped(&read.title, 120),
        style: STYLE,
        script: Some(SCRIPT).filter(|_| is_screen),
        has_images,
        theme: report.theme,
    };
    document.around(&html! {
        main {
            header {
                h1 { (line(&read.title)) }
                p.dim { time datetime=(report.made.strftime("%F")) { (day(report.made)) } }
            }
            @let n_headings = read.answers().filter(|it| it.heading.is_some()).count();
            @if is_screen && CONTENTS_MIN <= n_headings { (contents(&read)) }
            @for part in &read.parts {
                @match part {
                    ReadPart::Text(text) => div.prose { (prose(text, OF_AUTHOR)) },
                    ReadPart::Answer(it) => (answer(it, report.has_code, medium, &mut room)),
                }
            }
            footer {
                @if !read.datasets.is_empty() {
                    h2 { "Data" }
                    ul { @for (name, about) in read.sources() { li { b { (line(name)) } " " (about) } } }
                }
                p { (read.signature()) }
            }
        }
    })
}

fn contents(read: &ReadReport) -> Markup {
    html! {
        nav aria-label="Questions" {
            ol {
                @for it in read.answers() {
                    li { a href={ "#answer-" (it.id) } { (line(&shortened(it.heading.as_deref().unwrap_or_default()))) } }
                }
            }
        }
    }
}
