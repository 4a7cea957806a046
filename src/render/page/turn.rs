//! A turn on the page: the question, its outcome in four parts, and the activity next to it.

use maud::{Markup, PreEscaped, html};

use csv_agent_text::digits::{count, number};
use csv_agent_types::conversation::Assessment;
use csv_agent_types::event::{ChartDrawn, DataFrame, Encoding, ErrorBody, FindingShown, ReplyBody};
use csv_agent_types::limits::PAGE_TEXT_CHARS_MAX;

use super::files::{Contents, list_of, pictures_of};
use super::picture::{Picture, picture};
use super::prose::{Headings, prose};
use super::table::{PageBudget, TableView, table};
use super::turn_view::{CallView, TurnOutcome, TurnView};
use super::words::{beginning, capital, clipped, duration, line, moment, sentence, shown};
use super::{PageTurn, activity};
use crate::answer::shown as shown_answer;
use crate::page::{PagePosition, pretty};
use crate::report::{place as place_of, ungrounded};

/// Characters of a question shown as a heading; a longer question appears in full below it.
const HEADING_CHARS: usize = 280;

/// The headings of an answer, below that of its part.
const HEADINGS: Headings = Headings { names: ["h4", "h5", "h6"], first: None };

/// The charts of a turn; `None` for a chart that cannot be drawn.
type Pictures = Vec<Option<Picture>>;

/// Draws a turn.
pub(super) fn article(
    told: &TurnView,
    place: &PagePosition,
    turn: &PageTurn,
    room: &mut PageBudget,
) -> Markup {
    let n_code = told.calls().filter(|it| it.code().is_some()).count();
    let pictures: Pictures = (told.charts.iter().enumerate())
        .map(|(at, chart)| picture(chart, &place.part("chart", at)))
        .collect();
    let parts = [
        ("summary", "Summary", None, summary(told, place, &pictures, &turn.images)),
        ("data", "Data", Some(told.tables.len()), data(told, place, room)),
        ("charts", "Charts", Some(told.charts.len()), charts(told, place, &pictures, room)),
        ("code", "Code", Some(n_code), code(told, place)),
    ];
    let question = told.question.trim();
    let is_long = HEADING_CHARS < question.chars().count();
    html! {
        article.turn.open[place.is_open] id=(place.id) tabindex="-1" aria-labelledby={ (place.id) "-q" } {
            div.center {
                header.ask {
                    p.eyebrow { (eyebrow(told, place)) }
                    h2.question.small[is_long] id={ (place.id) "-q" } {
                        @if is_long { (shown(&question.chars().take(HEADING_CHARS).collect::<String>())) "…" }
                        @else { (shown(question)) }
                    }
                    @if is_long {
                        details { summary { "The whole question" } p.pre { (clipped(question, PAGE_TEXT_CHARS_MAX)) } }
                    }
                }
                nav.tabs aria-label={ "Parts of turn " (place.number) } {
                    @for (part, name, n, _) in &parts {
                        a href={ "#" (place.id) "-" (part) } id={ (place.id) "-tab-" (part) } {
                            (name) @if let Some(n) = n { " " span.n { (number(n)) } }
                        }
                    }
                }
                @for (part, name, n, content) in parts {
                    section.panel.open[part == "summary"].none[n == Some(0)] id={ (place.id) "-" (part) } {
                        h3 { (name) }
                        (content)
                    }
                }
            }
            (activity::pane(told, place, &turn.egress))
        }
    }
}

fn eyebrow(told: &TurnView, place: &PagePosition) -> Markup {
    html! {
        "Turn " (place.number)
        @if let Some(at) = told.started {
            span { time datetime=(at) { (moment(at)) } }
        }
        @if !told.model.is_empty() { span { bdi { (line(told.model)) } } }
    }
}

fn summary(
    told: &TurnView,
    place: &PagePosition,
    pictures: &Pictures,
    images: &Contents,
) -> Markup {
    html! {
        @match told.ending {
            Some(TurnOutcome::Reply(reply)) => (answer(reply, told, place)),
            Some(TurnOutcome::Error(error)) => (failure(error)),
            None => p.none { "The turn has no answer." },
        }
        @let fetched = told.reply().map_or(&[][..], |it| &it.files);
        (pictures_of(fetched, images))
        @if !told.charts.is_empty() {
            ul.cards aria-label="Charts" {
                @for (at, (chart, picture)) in told.charts.iter().zip(pictures).enumerate() {
                    li { a href={ "#" (place.part("chart", at)) } {
                        @if let Some(picture) = picture {
                            @for (paper, id, _) in &picture.papers {
                                // The same drawing, smaller.
                                svg.paper.(paper).narrow[picture.is_narrow] viewBox=(picture.view) aria-hidden="true" { use href={ "#" (id) } {} }
                            }
                        }
                        span.name { (line(chart.title.as_ref().unwrap_or(&chart.logical_name))) }
                    } }
                }
            }
        }
        @if !told.tables.is_empty() {
            ul.shown aria-label="Tables" {
                @for (at, table) in told.tables.iter().enumerate() {
                    li { a href={ "#" (place.part("table", at)) } {
                        span.name { (line(&table.logical_name)) }
                        span.dim { (size(table)) }
                    } }
                }
            }
        }
        (list_of(fetched))
    }
}

fn answer(reply: &ReplyBody, told: &TurnView, place: &PagePosition) -> Markup {
    html! {
        @if let Some(assessment) = reply.assessment { (verdict(assessment, reply, told, place)) }
        @if !place.newer.is_empty() {
            p.note.warning { "This answer was computed from earlier data. Ingested again since then: " (line(&place.newer.join(", "))) }
        }
        @if let Some(why) = reply.stop_reason.told(told.provider) { p.note.warning { (why) } }
        @if !reply.computed {
            p.note.warning { "The model had no tools: none of this was computed from the data." }
        }
        @let whole = format!("turns/{:0>4}/reply.md", place.number);
        div.prose { (prose(&shown_answer(&reply.text, &whole), HEADINGS)) }
        @if !reply.ungrounded.is_empty() {
            p.note.warning { (sentence(&capital(&ungrounded(&reply.ungrounded)))) "." }
        }
        @if let Some(output) = &reply.output {
            h4 { "As JSON" }
            (copied(&clipped(&pretty(output), PAGE_TEXT_CHARS_MAX), "JSON"))
        }
    }
}

fn verdict(
    assessment: Assessment,
    reply: &ReplyBody,
    told: &TurnView,
    place: &PagePosition,
) -> Markup {
    html! {
        section.verdict.(assessment.name()) id={ (place.id) "-verdict" } {
            h4 { "Verdict: " (assessment.name()) }
            @if !reply.findings.is_empty() {
                ul { @for found in &reply.findings { (finding(found, told, place)) } }
            }
        }
    }
}

fn finding(found: &FindingShown, told: &TurnView, place: &PagePosition) -> Markup {
    let table = found.finding.table.as_ref();
    let table = table.and_then(|it| told.tables.iter().rposition(|at| &at.logical_name == it));
    let call = found.call_id.as_ref().and_then(|it| told.calls().find(|call| call.id == it));
    html! {
        li {
            span.mark.(found.finding.severity.name()) { (found.finding.severity.name()) }
            span.what {
                (line(&found.finding.message))
                span.dim {
                    @if let Some(place) = place_of(found) { span { bdi { (line(&place)) } } }
                    @if let Some(at) = table {
                        span { a href={ "#" (place.part("table", at)) } { "table " (line(&told.tables[at].logical_name)) } }
                    }
                    @if let Some(call) = call { span { (call_link(call, place)) } }
                }
            }
        }
    }
}

/// Links to a call: to its code, if it ran any.
fn call_link(call: &CallView, place: &PagePosition) -> Markup {
    let part = if call.code().is_some() { "code-call" } else { "call" };
    html! { a href={ "#" (place.part(part, call.number - 1)) } { "call " (call.number) } }
}

fn failure(error: &ErrorBody) -> Markup {
    let head = match error.code.as_str() {
        "interrupted" | "cancelled" => "Interrupted",
        _ => "Failed",
    };
    html! {
        section.verdict.bad {
            h4 { (head) }
            p { (sentence(&capital(beginning(&error.message, PAGE_TEXT_CHARS_MAX).0))) }
            @if let Some(hint) = &error.hint { p.dim { "What to do: " (sentence(hint)) } }
            p.dim {
                code { (line(&error.code)) }
                @if let Some(status) = error.http_status { " · HTTP " (status) }
                @if let Some(id) = &error.request_id { " · request " (line(id)) }
                @if let Some(code) = error.exit_code { " · exit status " (code) }
            }
        }
        @if let Some(text) = error.partial_text.as_ref().filter(|it| !it.trim().is_empty()) {
            p.note.warning { "The incomplete answer:" }
            div.prose { (prose(text, HEADINGS)) }
        }
    }
}

fn data(told: &TurnView, place: &PagePosition, room: &mut PageBudget) -> Markup {
    html! {
        @for (at, sent) in told.tables.iter().enumerate() { (table_figure(sent, place, at, room)) }
        @if told.tables.is_empty() { p.none { "This turn sent no table." } }
    }
}

fn table_figure(
    sent: &DataFrame,
    place: &PagePosition,
    at: usize,
    room: &mut PageBudget,
) -> Markup {
    let id = place.part("table", at);
    let file = sent.artifact.as_ref().map(|it| shown(&it.path));
    let size = size(sent);
    if sent.encoding != Encoding::Json {
        return html! {
            figure.data id=(id) tabindex="-1" {
                h4 { (line(&sent.logical_name)) }
                p.note { "The rows of this table are encrypted: " (size) "." }
            }
        };
    }
    let TableView { markup, n_rows, is_cut } = table(&sent.logical_name, &sent.frame(), room);
    let is_part = (n_rows as u64) < sent.row_count;
    html! {
        figure.data id=(id) tabindex="-1" data-name=(line(&sent.logical_name)) data-cut[is_cut] {
            h4 { (line(&sent.logical_name)) }
            p.about { (size) @if let Some(file) = &file { span { code { (file) } } } }
            @if is_part {
                p.note {
                    "The first " (count(n_rows as u64, "row")) " of " (number(sent.row_count)) "."
                    @if let Some(file) = &file { " All of them are in " code { (file) } " of the session." }
                }
            }
            @if is_cut {
                p.note {
                    "Long cells are cut."
                    @if let Some(file) = &file { " They are whole in " code { (file) } " of the session." }
                }
            }
            div.wide tabindex="0" role="group" aria-label={ "Table " (line(&sent.logical_name)) } { (markup) }
        }
    }
}

fn size(sent: &DataFrame) -> String {
    let columns = count(sent.columns.len() as u64, "column");
    format!("{} × {columns}", count(sent.row_count, "row"))
}

fn charts(
    told: &TurnView,
    place: &PagePosition,
    pictures: &Pictures,
    room: &mut PageBudget,
) -> Markup {
    html! {
        @for (at, (chart, picture)) in told.charts.iter().zip(pictures).enumerate() {
            (chart_figure(chart, picture.as_ref(), &place.part("chart", at), room))
        }
        @if told.charts.is_empty() { p.none { "This turn drew no chart." } }
    }
}

fn chart_figure(
    chart: &ChartDrawn,
    picture: Option<&Picture>,
    id: &str,
    room: &mut PageBudget,
) -> Markup {
    let name = line(&chart.logical_name);
    let file = chart.files.iter().find(|it| it.format == "svg");
    html! {
        figure.chart id=(id) tabindex="-1" data-name=(name) {
            h4 { (line(chart.title.as_ref().unwrap_or(&chart.logical_name))) }
            @if let Some(picture) = picture {
                @for (paper, _, svg) in &picture.papers {
                    div.paper.wide.(paper) tabindex="0" role="group" aria-label={ "Chart " (name) } { (PreEscaped(svg)) }
                }
            } @else {
                p.note { "The rows of this chart are encrypted, or cannot be drawn." }
            }
            figcaption {
                (line(&chart.alt))
                @if let Some(file) = file { span { code { (shown(&file.path)) } } }
            }
            @if let Some(drawn) = chart.chart() {
                details.data data-name=(name) {
                    summary { "The plotted rows" }
                    div.wide tabindex="0" role="group" aria-label={ "Rows of the chart " (name) } {
                        (table(&chart.logical_name, drawn.frame(), room).markup)
                    }
                }
            }
        }
    }
}

fn code(told: &TurnView, place: &PagePosition) -> Markup {
    let calls: Vec<(&CallView, &str)> =
        told.calls().filter_map(|it| it.code().map(|code| (it, code))).collect();
    html! {
        @for (call, code) in &calls {
            section.ran id=(place.part("code-call", call.number - 1)) tabindex="-1" {
                h4 {
                    "Call " (call.number)
                    span.dim { (line(call.name)) }
                    @if let Some(outcome) = &call.result { span.dim { (duration(outcome.duration_ms)) } }
                    (activity::status(call))
                }
                (copied(&clipped(code, PAGE_TEXT_CHARS_MAX), "code"))
                (activity::outcome(call))
            }
        }
        @if calls.is_empty() { p.none { "This turn ran no code." } }
    }
}

/// Draws text meant for copying: each line is its own element, so that it can be numbered.
fn copied(text: &str, what: &str) -> Markup {
    html! {
        div.copied {
            pre tabindex="0" aria-label=(what) {
                code { @for line in text.trim_end().split('\n') { span { (line) "\n" } } }
            }
        }
    }
}
