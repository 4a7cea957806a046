//! The right pane: the cost of the turn, and what happened, in order.

use maud::{Markup, html};
use serde_json::Value;

use csv_agent_text::digits::{count, number, usd};
use csv_agent_types::conversation::Usage;
use csv_agent_types::event::{CallStatus, UsageReport};
use csv_agent_types::limits::PAGE_TEXT_CHARS_MAX;
use csv_agent_types::redaction::Redaction;

use super::turn_view::{ActivityStep, CallView, TurnOutcome, TurnView};
use super::words::{beginning, capital, clipped, duration, line, sentence};
use crate::page::{PagePosition, pretty};

/// Characters of an error in the pane.
const ERROR_CHARS_MAX: usize = 600;

/// Draws the pane. It opens and closes.
pub(super) fn pane(told: &TurnView, place: &PagePosition, egress: &str) -> Markup {
    html! {
        aside.activity aria-label={ "Activity of turn " (place.number) } {
            // A page closes it where it would be below the answer on a small screen.
            details open {
                summary { h3 { "Activity" } }
                (log(told, place, egress))
            }
        }
    }
}

fn log(told: &TurnView, place: &PagePosition, egress: &str) -> Markup {
    html! {
        dl.facts { (facts(told, place)) }
        ol.steps {
            @for (at, step) in &told.steps {
                li.(kind(step)) {
                    span.at { (since(*at)) }
                    div.what { (what(step, told, place)) }
                }
            }
            li.end {
                span.at { (since(told.lasted_ms)) }
                div.what { (end(told)) }
            }
        }
        h4 { "What left this machine" }
        p { (line(&capital(egress))) "." }
        @if let Some(withheld) = told.withheld {
            h4 { "What was kept back" }
            p { (kept_back(withheld)) }
        }
        @if let Some(sandbox) = told.sandbox {
            h4 { "How the code was confined" }
            details {
                summary {
                    (count(sandbox.enforced.len() as u64, "rule")) " enforced"
                    @if !sandbox.missing.is_empty() { ", " (sandbox.missing.len()) " not enforced" }
                }
                ul {
                    @for rule in &sandbox.enforced { li { (line(rule)) } }
                    @for rule in &sandbox.missing { li.missing { "not enforced: " (line(rule)) } }
                }
            }
        }
    }
}

fn facts(told: &TurnView, place: &PagePosition) -> Markup {
    let (usage, duration_ms) = match told.ending {
        Some(TurnOutcome::Reply(reply)) => (Some(reply.usage), Some(reply.duration_ms)),
        Some(TurnOutcome::Error(error)) => (Some(error.usage), None),
        None => (None, None),
    };
    let ms = duration_ms.unwrap_or(told.lasted_ms.unsigned_abs());
    let n_failed = told.calls().filter(|it| it.failed()).count();
    let count_of = |is: fn(&ActivityStep) -> bool| told.steps.iter().filter(|it| is(&it.1)).count();
    let n_rounds = count_of(|it| matches!(it, ActivityStep::Round(..)));
    let n_retries = count_of(|it| matches!(it, ActivityStep::Retry(..)));
    let n_warnings = count_of(|it| matches!(it, ActivityStep::Warning(_)));
    let verdict =
        told.reply().and_then(|it| it.assessment.map(|verdict| (verdict, it.findings.len())));
    html! {
        @if let Some((verdict, n)) = verdict {
            dt { "Verdict" }
            dd {
                span.mark.(verdict.name()) { (verdict.name()) }
                a href={ "#" (place.id) "-verdict" } { (count(n as u64, "finding")) }
            }
        }
        dt { "Time" } dd { (duration(ms)) }
        dt { "Rounds" } dd { (n_rounds) }
        dt { "Tool calls" }
        dd { (told.calls().count()) @if 0 < n_failed { span.dim { (n_failed) " failed" } } }
        @if let Some(usage) = usage { (tokens(&usage)) }
        @if 0 < n_retries { dt { "Retries" } dd { (n_retries) } }
        @if 0 < n_warnings { dt { "Warnings" } dd { (n_warnings) } }
    }
}

fn tokens(usage: &UsageReport) -> Markup {
    let UsageReport { turn, cost_usd, .. } = usage;
    html! {
        dt { "Tokens" }
        @if turn.total_tokens() == 0 { dd { "none" } }
        @else { (token_counts(turn)) }
        @if let Some(cost) = cost_usd { dt { "Cost" } dd { (usd(*cost)) } }
    }
}

fn token_counts(turn: &Usage) -> Markup {
    html! {
        dd {
            (number(turn.input_tokens)) " in"
            @if 0 < turn.cached_input_tokens { span.dim { (number(turn.cached_input_tokens)) " cached" } }
        }
        dd {
            (number(turn.output_tokens)) " out"
            @if 0 < turn.reasoning_tokens { span.dim { (number(turn.reasoning_tokens)) " reasoning" } }
        }
    }
}

fn kind(step: &ActivityStep) -> &'static str {
    match step {
        ActivityStep::Round(..) | ActivityStep::Thought(_) | ActivityStep::Note(_) => "quiet",
        ActivityStep::Call(call) if call.failed() => "failed",
        ActivityStep::Call(_) => "called",
        ActivityStep::Retry(..) | ActivityStep::Warning(_) => "warned",
    }
}

fn since(ms: i64) -> String {
    let ms = ms.unsigned_abs();
    match ms {
        0..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{}:{:02}", ms / 60_000, ms % 60_000 / 1_000),
    }
}

fn what(step: &ActivityStep, told: &TurnView, place: &PagePosition) -> Markup {
    match step {
        ActivityStep::Round(round, usage) => html! {
            "Round " (round) @if let Some(usage) = usage { (round_tokens(usage)) }
        },
        ActivityStep::Thought(text) => html! {
            details { summary { "Thought" } p.pre { (clipped(text.trim(), PAGE_TEXT_CHARS_MAX)) } }
        },
        ActivityStep::Call(call) => call_step(call, told, place),
        ActivityStep::Note(text) => sentence(&capital(text)),
        ActivityStep::Retry(text, reason) if text.contains(*reason) => sentence(&capital(text)),
        ActivityStep::Retry(text, reason) => {
            html! { (sentence(&capital(text))) p { (clipped(reason, 400)) } }
        }
        ActivityStep::Warning(text) => sentence(&capital(beginning(text, PAGE_TEXT_CHARS_MAX).0)),
    }
}

fn round_tokens(usage: &Usage) -> Markup {
    html! {
        @if 0 < usage.total_tokens() {
            span.dim { (number(usage.input_tokens)) " in, " (number(usage.output_tokens)) " out" }
        }
    }
}

fn call_step(call: &CallView, told: &TurnView, place: &PagePosition) -> Markup {
    let id = place.part("call", call.number - 1);
    html! {
        div.call id=(id) tabindex="-1" {
            @if call.code().is_some() {
                a.head href={ "#" (place.part("code-call", call.number - 1)) } { (head(call)) }
            } @else {
                details {
                    summary.head { (head(call)) }
                    pre tabindex="0" aria-label="Arguments" { (arguments(call)) }
                    (gave(call))
                }
            }
        }
        @for at in &call.tables {
            p.sent { a href={ "#" (place.part("table", *at)) } { (line(&told.tables[*at].logical_name)) } }
        }
        @for at in &call.charts {
            p.sent { a href={ "#" (place.part("chart", *at)) } { (line(&told.charts[*at].logical_name)) } }
        }
        @for (name, reason) in &call.rejected {
            p.error { "chart " bdi { (line(name)) } " was not drawn: " (line(reason)) }
        }
        @if let Some(error) = call.result.as_ref().and_then(|it| it.error) {
            p.error { (sentence(beginning(told_of(call, error.message.trim()), ERROR_CHARS_MAX).0)) }
        }
    }
}

/// Returns the part of an error to show here: of a traceback the exception, as the rest is with the
/// code.
fn told_of<'a>(call: &CallView, message: &'a str) -> &'a str {
    match call.code() {
        Some(_) => raised(message),
        None => message,
    }
}

/// Returns the first line after the last frame of a traceback; for any other text the last line.
fn raised(message: &str) -> &str {
    let after = message.rfind("\n  File \"").map_or("", |at| &message[at + 1..]);
    let line = after.lines().find(|it| !it.starts_with(' ') && !it.trim().is_empty());
    line.or_else(|| message.lines().last()).unwrap_or(message)
}

/// Draws the name of the call, its duration, and its subject.
fn head(call: &CallView) -> Markup {
    let about = call.label.strip_prefix(call.name).unwrap_or(call.label).trim();
    let about = about.strip_prefix('(').and_then(|it| it.strip_suffix(')')).unwrap_or(about);
    // Its tables and charts are named below.
    let is_told = !call.tables.is_empty() || !call.charts.is_empty();
    html! {
        span.name { (line(call.name)) }
        (status(call))
        @if let Some(outcome) = &call.result { span.took { (duration(outcome.duration_ms)) } }
        @if !about.is_empty() && !is_told { span.subject { (line(about)) } }
    }
}

fn arguments(call: &CallView) -> String {
    let text = match (call.arguments, call.arguments_raw) {
        (Some(arguments), _) => pretty(arguments),
        (None, Some(raw)) => raw.to_owned(),
        (None, None) => String::new(),
    };
    clipped(&text, PAGE_TEXT_CHARS_MAX)
}

/// Draws how a call ended, unless it succeeded.
pub(super) fn status(call: &CallView) -> Markup {
    let word = match call.result.as_ref().map(|it| it.status) {
        Some(CallStatus::Ok) => return html! {},
        Some(CallStatus::Error) => "failed",
        Some(CallStatus::Timeout) => "took too long",
        Some(CallStatus::Killed) => "killed",
        Some(CallStatus::Cancelled) => "cancelled",
        None => "did not finish",
    };
    html! { span.mark.bad { (word) } }
}

/// Draws the result of a call, as the model read it, in a collapsed element; a failed one is expanded.
pub(super) fn outcome(call: &CallView) -> Markup {
    html! {
        @if has_result(call) {
            details.gave open[call.failed()] {
                summary { "Result" }
                (gave(call))
            }
        }
    }
}

fn gave(call: &CallView) -> Markup {
    let text = call.result.as_ref().map(|it| read(it.result)).unwrap_or_default();
    html! {
        @if !text.is_empty() { pre tabindex="0" aria-label="Result" { (clipped(&text, PAGE_TEXT_CHARS_MAX)) } }
    }
}

fn has_result(call: &CallView) -> bool {
    call.result.as_ref().is_some_and(|it| !read(it.result).is_empty())
}

/// Returns a result as text: text and printed output unchanged, the rest as JSON, one row per line.
fn read(result: &Value) -> String {
    let Some(members) = result.as_object() else { return pretty(result) };
    let mut parts = Vec::new();
    for (name, value) in members {
        match (name.as_str(), value) {
            ("kind", _) | (_, Value::Null) => {}
            // The text says the same, with the location; the timeline names the container.
            ("error" | "container_id", _) if members.contains_key("text") => {}
            ("text" | "stdout", Value::String(text)) => parts.push(text.trim_end().to_owned()),
            // The answer shows their paths.
            ("files", Value::Array(files)) if members.contains_key("container_id") => {
                let names = files.iter().filter_map(|it| it["name"].as_str());
                parts.push(format!("files: {}", names.collect::<Vec<_>>().join(", ")));
            }
            (name, Value::Array(rows)) => {
                let rows: Vec<String> = rows.iter().map(|it| format!("  {it}")).collect();
                parts.push(format!("{name}:\n{}", rows.join("\n")));
            }
            (name, value) => parts.push(format!("{name}: {value}")),
        }
    }
    parts.join("\n")
}

fn kept_back(withheld: &Redaction) -> String {
    let columns: Vec<String> = withheld.columns.iter().map(|it| line(it)).collect();
    match (withheld.rows, columns.is_empty()) {
        (true, true) => "All rows: the model saw schemas and aggregates only.".to_owned(),
        (true, false) => format!("All rows, and the values of {}.", columns.join(", ")),
        (false, _) => format!("The values of {}.", columns.join(", ")),
    }
}

fn end(told: &TurnView) -> &'static str {
    match told.ending {
        Some(TurnOutcome::Reply(_)) => "Answered",
        Some(TurnOutcome::Error(_)) => "Ended without an answer",
        None => "No record of how it ended",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{raised, read};

    #[test]
    fn of_a_run_at_the_provider_only_what_it_gave_is_told() {
        let mut result = json!({"kind": "text", "text": "42\n", "container_id": "cntr_1"});
        assert_eq!(read(&result), "42");
        result["files"] =
            json!([{"name": "image_1.png", "path": "turns/0001/artifacts/image_1.png"}]);
        assert_eq!(read(&result), "42\nfiles: image_1.png");
        let silent = json!({"kind": "text", "text": "", "container_id": "cntr_1"});
        assert_eq!(read(&silent), "");
    }

    #[test]
    fn of_a_traceback_what_was_raised_is_told() {
        let frames = "Traceback (most recent call last):\n  File \"<cell>\", line 2, in <module>\n    f(x)\n";
        let message =
            format!("{frames}ValueError: cannot parse `x`; try\n    - a format\n- `mixed`");
        assert_eq!(raised(&message), "ValueError: cannot parse `x`; try");
        let syntax = "  File \"<cell>\", line 1\n    1 +\n       ^\nSyntaxError: invalid syntax";
        assert_eq!(raised(syntax), "SyntaxError: invalid syntax");
        assert_eq!(raised("the worker ended\nkilled by signal 9"), "killed by signal 9");
    }
}
