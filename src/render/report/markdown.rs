//! Markdown for people: the verdict, the answer, and a table of the findings.

use std::fmt::Write as _;

use csv_agent_text::sanitize;

use super::{ReportOutcome, TurnReport, WHOLE, listed, message, place};
use crate::{answer, inert};

pub(super) fn report(turn: &TurnReport) -> String {
    let question = inert::markdown(&sanitize::one_line(turn.question.trim()));
    let (title, body) = match &turn.ending {
        ReportOutcome::Failed(error) => {
            let hint = error
                .hint
                .as_ref()
                .map_or(String::new(), |it| format!("\n\n{}", it.replace('\n', "\n\n")));
            ("no answer".to_owned(), format!("{}{hint}", error.message))
        }
        ReportOutcome::Answered(reply) => {
            let title = reply.assessment.map_or("no verdict", |it| it.name());
            (title.to_owned(), answer::shown(reply.text.trim(), WHOLE).into_owned())
        }
    };
    let body = inert::markdown(&sanitize::for_terminal(&body));
    let mut text = format!("## csv-agent: {title}\n\n> {question}\n\n{body}\n");
    if let Some(reply) = turn.reply().filter(|it| !it.ungrounded.is_empty()) {
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "\nNumbers that no tool result contains: {}", listed(&reply.ungrounded));
    }
    if !turn.findings().is_empty() {
        text += "\n| severity | finding | where |\n|---|---|---|\n";
    }
    for found in turn.findings() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            found.finding.severity.name(),
            cell(&message(found)),
            cell(&place(found).unwrap_or_default())
        );
    }
    text
}

/// Returns a cell of a table.
pub(super) fn cell(text: &str) -> String {
    let text = sanitize::one_line(text).replace('\\', "\\\\").replace('|', "\\|");
    inert::markdown(&text.replace('<', "&lt;"))
}
