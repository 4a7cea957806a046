//! Turns as a document for people: question, answer, tables, charts, code.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use csv_agent_render::{answer, inert, table};
use csv_agent_text::sanitize;
use csv_agent_types::event::Body;

use super::script::named;
use crate::query::as_comment;
use crate::replay::stored_turn::{PastCall, PastTurn};

/// Writes the part of the document that is a turn. Charts are linked where they are, in the session.
pub fn document(turn: &PastTurn, session_dir: &Path) -> String {
    let question = inert::markdown(&sanitize::one_line(turn.question.trim()));
    let mut text = format!("# {question}\n\n*csv-agent, {}*\n", inert::text(&named(turn)));
    text += &answered(turn);
    for shown in turn.calls.iter().flat_map(|it| &it.shown) {
        // Writing to a string cannot fail.
        match shown {
            Body::DataFrame(sent) => {
                let name = inert::text(&sanitize::one_line(&sent.logical_name));
                let _ = write!(text, "\n## {name}\n\n{}", table::markdown(&sent.frame()));
                if sent.truncated {
                    let _ = write!(text, "\n{} of {} rows\n", sent.rows_emitted, sent.row_count);
                }
            }
            Body::Chart(chart) => {
                let file = chart.files.iter().find(|it| it.format == "svg");
                let path = file.map(|it| session_dir.join(&it.path).display().to_string());
                let alt = inert::text(&sanitize::one_line(&chart.alt));
                let _ = write!(text, "\n![{alt}](<{}>)\n", path.unwrap_or_default());
            }
            _ => {}
        }
    }
    let code: Vec<String> = turn.calls.iter().filter_map(code).collect();
    if !code.is_empty() {
        let code = code.join("\n\n");
        let fence = inert::fence(&code);
        let _ = write!(text, "\n## Code\n\n{fence}python\n{code}\n{fence}\n");
    }
    text
}

fn answered(turn: &PastTurn) -> String {
    let Some(reply) = &turn.reply else { return "\nThe turn has no answer.\n".to_owned() };
    let shown = answer::shown(reply.text.trim(), &turn.reply_file());
    let mut text = format!("\n{}\n", inert::markdown(&sanitize::for_terminal(&shown)));
    if let Some(assessment) = reply.assessment {
        let _ = write!(text, "\n**Verdict: {}**\n", assessment.name());
    }
    if !reply.findings.is_empty() {
        text.push('\n');
    }
    for found in &reply.findings {
        let message = inert::markdown(&sanitize::one_line(found.finding.message.trim()));
        let _ = writeln!(text, "- {}: {message}", found.finding.severity.name());
    }
    text
}

fn code(call: &PastCall) -> Option<String> {
    if let Some(statement) = call.statement() {
        return Some(sanitize::for_terminal(&as_comment(&statement)));
    }
    if !call.runs_code() {
        let (name, arguments) = (&call.call.name, &call.call.arguments);
        return Some(format!("# {} {}", sanitize::one_line(name), sanitize::one_line(arguments)));
    }
    let arguments = serde_json::from_str::<Value>(&call.call.arguments).ok()?;
    Some(sanitize::for_terminal(arguments["code"].as_str()?.trim_end()))
}
