//! Turns as one page for a browser: the answers, their tables and charts, the code, and the activity.
//!
//! All content is static HTML, so the page reads and prints without its script, which adds tabs,
//! sorting, paging and searching. The page is one self-contained file: its policy allows its one script
//! and its one style by their digests, and forbids everything else. Pictures of a turn are embedded.
//! The templates escape all foreign text, which `words::shown` has already made safe.

mod activity;
mod files;
mod look;
mod picture;
mod prose;
pub mod report;
mod table;
mod table_marks;
mod turn_view;
mod turn;
mod words;

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use csv_agent_text::digits::{count, number};
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::event::Event;
use csv_agent_types::limits::PAGE_COLUMNS_MAX;

use table::PageBudget;

use turn_view::{TurnOutcome, TurnView};
use words::line;

pub use files::{Contents, is_image};

const STYLE: &str =
    concat!(include_str!("colours.css"), include_str!("base.css"), include_str!("page.css"));
const SCRIPT: &str = concat!(include_str!("saved.js"), include_str!("page.js"));

/// A turn on the page.
pub struct PageTurn {
    /// Its number.
    pub number: String,
    /// Up to the terminal event.
    pub events: Vec<Event>,
    /// What was sent from the machine, in one sentence.
    pub egress: String,
    /// Files of the turn that may be shown as pictures, if they exist and are small enough.
    pub images: Contents,
}

/// Returns the page of these turns, oldest first, and of the datasets that they could see.
pub fn page(turns: &[PageTurn], catalog: &Catalog) -> String {
    let told: Vec<TurnView> = turns.iter().map(|it| TurnView::of(&it.events)).collect();
    let places: Vec<PagePosition> = turns
        .iter()
        .enumerate()
        .map(|(at, it)| PagePosition {
            number: &it.number,
            id: format!("turn-{}", it.number),
            is_open: at == 0,
            newer: match told[at].started {
                Some(moment) => catalog.newer(told[at].datasets, &moment.to_string()),
                None => Vec::new(),
            },
        })
        .collect();
    // A reader begins with the first turn, so where space is short, later turns give way.
    let mut room = PageBudget::new();
    let articles: Vec<Markup> = (0..turns.len())
        .map(|at| turn::article(&told[at], &places[at], &turns[at], &mut room))
        .collect();
    let title = match &told[..] {
        [only] => line(only.question),
        all => format!("{} turns", all.len()),
    };
    let document = Document {
        title: &format!("{} · csv-agent", words::clipped(&title, 120)),
        style: STYLE,
        script: Some(SCRIPT),
        has_images: turns.iter().any(|it| !it.images.is_empty()),
        theme: PageTheme::Auto,
    };
    document.around(&html! {
        a.skip href="#main" { "Skip to the answer" }
        header.bar {
            span.brand { "csv-agent" }
            h1 { (heading(&places)) }
            div.tools.js {
                button #theme type="button" { "Dark" }
                button #print type="button" { "Print" }
            }
        }
        div.page {
            (rail(&told, &places, catalog))
            main #main tabindex="-1" { @for article in articles { (article) } }
        }
    })
}

/// A self-contained file for a browser.
struct Document<'a> {
    title: &'a str,
    style: &'a str,
    script: Option<&'a str>,
    has_images: bool,
    theme: PageTheme,
}

/// The paper of a page on a screen. In print, it is white.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PageTheme {
    /// As the reader's browser prefers.
    #[default]
    Auto,
    /// White.
    Light,
    /// Dark.
    Dark,
}

impl PageTheme {
    /// Returns the name of the paper, and what the browser draws itself; no name for the reader's own.
    fn names(self) -> (Option<&'static str>, &'static str) {
        match self {
            PageTheme::Auto => (None, "light dark"),
            PageTheme::Light => (Some("light"), "light"),
            PageTheme::Dark => (Some("dark"), "dark"),
        }
    }
}

impl Document<'_> {
    /// Returns the file with this content.
    fn around(&self, body: &Markup) -> String {
        let (theme, scheme) = self.theme.names();
        let page = html! {
            (DOCTYPE)
            html lang="en" data-theme=[theme] {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(self.policy());
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="referrer" content="no-referrer";
                    meta name="color-scheme" content=(scheme);
                    meta name="generator" content=(concat!("csv-agent ", env!("CARGO_PKG_VERSION")));
                    title { (self.title) }
                    style { (PreEscaped(self.style)) }
                    @if let Some(script) = self.script { script { (PreEscaped(script)) } }
                }
                body { (body) }
            }
        };
        page.into_string()
    }

    /// Returns the policy: this file's one style and its script, embedded pictures, and nothing from
    /// elsewhere.
    fn policy(&self) -> String {
        let images = if self.has_images { "img-src data:; " } else { "" };
        let digest = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
        let script = self.script.map(|it| format!("script-src 'sha256-{}'; ", digest(it)));
        let (script, style) = (script.unwrap_or_default(), digest(self.style));
        format!(
            "default-src 'none'; {script}style-src 'sha256-{style}'; {images}base-uri 'none'; form-action 'none'"
        )
    }
}

fn heading(places: &[PagePosition]) -> String {
    match places {
        [only] => format!("Turn {}", only.number),
        [first, .., last] => format!("{} turns, {} to {}", places.len(), first.number, last.number),
        [] => String::new(),
    }
}

/// Draws the left pane: turns and datasets.
fn rail(told: &[TurnView], places: &[PagePosition], catalog: &Catalog) -> Markup {
    let names: BTreeSet<&String> = told.iter().flat_map(|it| it.datasets).collect();
    html! {
        nav.rail aria-label="Turns and datasets" {
            h2 { "Turns" }
            ol.turns {
                @for (told, place) in told.iter().zip(places) {
                    li { a href={ "#" (place.id) } {
                        span.no { (place.number) }
                        span.q { (words::clipped(&line(told.question), 140)) }
                        @if let Some((class, word)) = mark(told) { span.mark.(class) { (word) } }
                    } }
                }
            }
            @if !names.is_empty() {
                details open {
                    summary { h2 { "Datasets" } }
                    ul.datasets {
                        @for name in names { li { (dataset(name, catalog.get(name))) } }
                    }
                }
            }
        }
    }
}

/// Returns the badge of a turn in the list of turns: its class and its word.
fn mark(told: &TurnView) -> Option<(&'static str, &'static str)> {
    match told.ending {
        Some(TurnOutcome::Reply(reply)) => reply.assessment.map(|it| (it.name(), it.name())),
        Some(TurnOutcome::Error(error))
            if ["interrupted", "cancelled"].contains(&error.code.as_str()) =>
        {
            Some(("bad", "interrupted"))
        }
        Some(TurnOutcome::Error(_)) => Some(("bad", "failed")),
        None => None,
    }
}

fn dataset(name: &str, dataset: Option<&Dataset>) -> Markup {
    let Some(dataset) = dataset else {
        return html! { span.name { (line(name)) } span.dim { "no longer in the session" } };
    };
    let n_columns = dataset.columns.len();
    html! {
        span.name { (line(name)) }
        span.dim {
            @if dataset.is_estimate() { "about " } (count(dataset.row_count, "row")) ", from " bdi { (file_name(dataset)) }
        }
        details {
            summary { (count(n_columns as u64, "column")) }
            ul.columns {
                @for column in dataset.columns.iter().take(PAGE_COLUMNS_MAX) {
                    li { span { (line(&column.name)) } span.dim { (column.dtype.name()) } }
                }
                @if PAGE_COLUMNS_MAX < n_columns {
                    li.dim { "and " (number(n_columns - PAGE_COLUMNS_MAX)) " more" }
                }
            }
        }
    }
}

/// Returns the name of the file of a dataset. The directories say nothing about the data, and much about
/// whose machine it is on.
fn file_name(dataset: &Dataset) -> String {
    match dataset.source.trim_end_matches('/').rsplit('/').next() {
        Some("-") => "standard input".to_owned(),
        name => line(name.unwrap_or_default()),
    }
}

/// The position of a turn on the page.
pub(super) struct PagePosition<'a> {
    /// The turn's number.
    pub number: &'a str,
    /// The id of its element; the ids of its parts begin with it.
    pub id: String,
    /// Whether the page opens with it.
    pub is_open: bool,
    /// Datasets that were ingested again after it.
    pub newer: Vec<&'a str>,
}

impl PagePosition<'_> {
    /// Returns the id of a part, such as `turn-7-table-2`; `at` counts from 0, the id from 1.
    pub(super) fn part(&self, what: &str, at: usize) -> String {
        format!("{}-{what}-{}", self.id, at + 1)
    }
}

/// Returns JSON formatted for people.
pub(super) fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
