//! GitHub Actions' workflow commands, one line per finding.
//!
//! Source: docs.github.com, "Workflow commands for GitHub Actions", and actions/toolkit, `command.ts`,
//! for the escaping rules.

use std::fmt::Write as _;

use csv_agent_text::sanitize;
use csv_agent_types::conversation::Assessment;
use csv_agent_types::event::FindingShown;

use super::{TurnReport, WHOLE, message};
use crate::answer;

/// Writes the annotations.
pub(super) fn report(turn: &TurnReport) -> String {
    let mut text = String::new();
    turn.findings().iter().for_each(|it| text += &annotation(it));
    if let Some((_, message)) = turn.trouble() {
        text += &failure(&message);
    } else if turn.findings().is_empty()
        && let Some((_, reply)) = turn.failed()
    {
        text += &failure(&answer::shown(reply.text.trim(), WHOLE));
    }
    text
}

/// Returns the line about something that concerns no file.
pub(super) fn failure(message: &str) -> String {
    format!("::error title=csv-agent::{}\n", data(&sanitize::one_line(message)))
}

/// Returns the line about something doubtful that concerns no line of a file.
pub(super) fn warning(message: &str) -> String {
    format!("::warning title=csv-agent::{}\n", data(&sanitize::one_line(message)))
}

/// Returns the line about a finding.
pub(super) fn annotation(found: &FindingShown) -> String {
    let command = match found.finding.severity {
        Assessment::Bad => "error",
        Assessment::Warning => "warning",
        Assessment::Good => "notice",
    };
    let mut place = String::new();
    if let Some(file) = &found.source_file {
        // GitHub does not show an annotation without a line in the file.
        let line = found.source_line.unwrap_or(1);
        let file = file.strip_prefix("./").unwrap_or(file);
        place = format!("file={},line={line},", property(file));
    }
    let mut told = message(found);
    if !found.source_cells.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(told, " ({})", found.source_cells.join(", "));
    } else if let [_, others @ ..] = &found.source_lines[..]
        && !others.is_empty()
    {
        let lines: Vec<String> = others.iter().map(u64::to_string).collect();
        let word = if lines.len() == 1 { "line" } else { "lines" };
        // Writing to a string cannot fail.
        let _ = write!(told, " (also {word} {})", lines.join(", "));
    }
    format!("::{command} {place}title=csv-agent::{}\n", data(&told))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
