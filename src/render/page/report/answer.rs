//! An answer of a report as HTML.

use maud::{Markup, PreEscaped, html};

use csv_agent_text::digits::{count, number};
use csv_agent_types::event::{ChartDrawn, DataFrame, Encoding, ReplyBody};
use csv_agent_types::limits::{PAGE_TEXT_CHARS_MAX, REPORT_ROWS, REPORT_ROWS_MAX};

use super::{AnswerChange, HEADING_CHARS, Medium, ReadAnswer, finding, label, shortened};
use crate::answer::shown as shown_answer;
use crate::page::files::pictures_of;
use crate::page::picture::picture;
use crate::page::prose::{Headings, prose};
use crate::page::table::{PageBudget, TableView, marked_table};
use crate::page::table_marks::TableMarks;
use crate::page::words::{clipped, line, sentence};

/// The headings of a text, below the question.
const HEADINGS: Headings = Headings { names: ["h3", "h4", "h5"], first: None };

/// Draws an answer with its question.
pub(super) fn answer(
    it: &ReadAnswer,
    has_code: bool,
    medium: Medium,
    room: &mut PageBudget,
) -> Markup {
    let id = format!("answer-{}", it.id);
    let whole = format!("turns/{:0>4}/reply.md", it.number);
    html! {
        section id=(id) {
            @if let Some(heading) = &it.heading { (question(heading)) }
            @if let Some(change) = it.change { (changed(change)) }
            (verdict(it.reply))
            @for caveat in it.caveats() { p.note.warning { (sentence(&caveat)) } }
            div.prose { (prose(&shown_answer(&it.reply.text, &whole), HEADINGS)) }
            @for (at, chart) in it.told.charts.iter().enumerate() {
                (chart_figure(chart, &format!("{id}-chart-{}", at + 1), medium))
            }
            (pictures_of(&it.reply.files, it.images))
            @for sent in &it.told.tables { (table_figure(sent, it.change, medium, room)) }
            @if has_code { (origin(it, medium)) }
        }
    }
}

/// Draws a question as a heading; a longer one appears in full below it.
fn question(text: &str) -> Markup {
    let is_long = HEADING_CHARS < text.chars().count();
    html! {
        h2 { (shortened(text)) }
        @if is_long { p.dim { (clipped(text, PAGE_TEXT_CHARS_MAX)) } }
    }
}

/// Says how an answer differs from an earlier one.
fn changed(change: &AnswerChange) -> Markup {
    html! {
        @if change.differences.is_empty() { p.note { (change.headline()) } }
        @else {
            div.change {
                p { b { (change.headline()) } }
                ul { @for it in &change.differences { li { (sentence(it)) } } }
            }
        }
    }
}

/// Draws the verdict of an answer, with its reasons.
fn verdict(reply: &ReplyBody) -> Markup {
    html! {
        @if let Some(assessment) = reply.assessment {
            div.verdict.(assessment.name()) {
                p { b { "Verdict: " (assessment.name()) } }
                @if !reply.findings.is_empty() {
                    ul { @for found in &reply.findings { li { (finding(found)) } } }
                }
            }
        }
    }
}

fn chart_figure(chart: &ChartDrawn, id: &str, medium: Medium) -> Markup {
    let name = label(chart.title.as_ref().unwrap_or(&chart.logical_name));
    let Some(picture) = picture(chart, id) else {
        return html! { p.note { "The rows of the chart " (name) " are encrypted, or cannot be drawn." } };
    };
    let papers = picture.papers.iter().filter(|it| medium == Medium::Screen || it.0 == "light");
    html! {
        figure.chart {
            @for (paper, _, svg) in papers {
                div.paper.wide.(paper).narrow[picture.is_narrow] tabindex="0" role="group" aria-label={ "Chart " (name) } { (PreEscaped(svg)) }
            }
        }
    }
}

fn table_figure(
    sent: &DataFrame,
    change: Option<&AnswerChange>,
    medium: Medium,
    room: &mut PageBudget,
) -> Markup {
    let name = label(&sent.logical_name);
    if sent.encoding != Encoding::Json {
        return html! { p.note { "The rows of the table " (name) " are encrypted." } };
    }
    let mut frame = sent.frame();
    let is_long = REPORT_ROWS_MAX < frame.rows.len();
    if is_long && medium == Medium::Paper {
        frame.rows.truncate(REPORT_ROWS);
    }
    let earlier = change.iter().flat_map(|it| &it.tables).find(|it| it.0 == sent.logical_name);
    let marks = earlier.map_or_else(TableMarks::default, |it| TableMarks::between(&it.1, &frame));
    let TableView { markup, n_rows, is_cut } =
        marked_table(&sent.logical_name, &frame, &marks, room);
    let opens = is_long && medium == Medium::Screen;
    let n_shown = if is_long { REPORT_ROWS } else { n_rows };
    html! {
        figure.data.long[opens] data-name=(line(&sent.logical_name)) data-cut[is_cut] {
            figcaption { (name) }
            div.wide tabindex="0" role="group" aria-label={ "Table " (name) } { (markup) }
            // What it opens are the other rows of the table above.
            @if opens { details.rows { summary { "Show " (count(n_rows as u64, "row")) } } }
            @if (n_shown as u64) < sent.row_count {
                p.note.first[opens] { "The first " (count(n_shown as u64, "row")) " of " (number(sent.row_count)) "." }
            }
            @if opens && (n_rows as u64) < sent.row_count {
                p.note.all { "The first " (count(n_rows as u64, "row")) " of " (number(sent.row_count)) "." }
            }
            @if is_cut { p.note { "Long cells are cut." } }
        }
    }
}

/// Says how an answer was computed.
fn origin(it: &ReadAnswer, medium: Medium) -> Markup {
    html! {
        details.origin open[medium == Medium::Paper] {
            summary { "How this was computed" }
            p { (it.origin()) }
            @for (language, code) in it.code() {
                pre tabindex="0" aria-label=(language) { code { (clipped(code, PAGE_TEXT_CHARS_MAX)) } }
            }
        }
    }
}
