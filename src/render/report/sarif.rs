//! SARIF 2.1.0: one result per finding, and a rule for each kind of message.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use csv_agent_text::sanitize;
use csv_agent_types::conversation::Assessment;
use csv_agent_types::event::FindingShown;
use csv_agent_types::limits::RULE_ID_BYTES_MAX;

use super::{ReportOutcome, TurnReport, message};

/// The location of the schema that the report follows.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Characters to escape in a path: all but separators and what RFC 3986 leaves unreserved.
const NOT_OF_PATHS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

pub(super) fn report(turn: &TurnReport) -> anyhow::Result<String> {
    let mut rules: Vec<(String, &FindingShown)> = Vec::new();
    let mut results = Vec::new();
    for found in turn.findings() {
        let id = rule_id(found);
        let index = rules.iter().position(|it| it.0 == id).unwrap_or_else(|| {
            rules.push((id.clone(), found));
            rules.len() - 1
        });
        results.push(result(found, &id, index, None));
    }
    let rules: Vec<Value> =
        rules.iter().map(|(id, found)| rule(id, &message(found), found.finding.severity)).collect();
    let trouble = turn.trouble();
    let exit_code = match &turn.ending {
        ReportOutcome::Answered(reply) => Some(reply.exit_code),
        ReportOutcome::Failed(error) => error.exit_code,
    };
    let notifications: Vec<Value> = trouble.iter().map(|(_, it)| notification(it)).collect();
    let invocation = invocation(&turn.started, &turn.ended, exit_code, &notifications);
    let properties = json!({"question": sanitize::one_line(&turn.question)});
    log(&rules, &results, &invocation, &properties)
}

/// Returns the whole file.
pub(super) fn log(
    rules: &[Value],
    results: &[Value],
    invocation: &Value,
    properties: &Value,
) -> anyhow::Result<String> {
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "csv-agent",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "invocations": [invocation],
            "results": results,
            "properties": properties,
        }],
    });
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

/// Returns how the run went. Any notification makes it a failed one.
pub(super) fn invocation(
    started: &str,
    ended: &str,
    exit_code: Option<u8>,
    notifications: &[Value],
) -> Value {
    let mut invocation = json!({
        "executionSuccessful": notifications.is_empty(),
        "startTimeUtc": started,
        "endTimeUtc": ended,
    });
    if let Some(code) = exit_code {
        invocation["exitCode"] = json!(code);
    }
    if !notifications.is_empty() {
        invocation["toolExecutionNotifications"] = json!(notifications);
    }
    invocation
}

/// Returns a message about the run itself.
pub(super) fn notification(message: &str) -> Value {
    json!({"level": "error", "message": {"text": sanitize::one_line(message)}})
}

/// Returns a message about something that may be wrong with the data, and does not make the run a failed one.
pub(super) fn doubt(message: &str) -> Value {
    json!({"level": "warning", "message": {"text": sanitize::one_line(message)}})
}

/// Returns the definition of a rule.
pub(super) fn rule(id: &str, description: &str, severity: Assessment) -> Value {
    json!({
        "id": id,
        "shortDescription": {"text": description},
        "defaultConfiguration": {"level": level(severity)},
    })
}

/// Returns the result of the rule with this id, the `index`th of all. If it has no place in the data, it is where the
/// rule is, in a file and perhaps a line: GitHub refuses a result without a location.
pub(super) fn result(
    found: &FindingShown,
    id: &str,
    index: usize,
    rule: Option<(&str, Option<usize>)>,
) -> Value {
    let in_file = || {
        let (file, line) = rule?;
        let mut place = json!({"artifactLocation": {"uri": uri(file)}});
        if let Some(line) = line {
            place["region"] = json!({"startLine": line});
        }
        Some(json!({"physicalLocation": place}))
    };
    let places = locations(found);
    let mut places = if places.is_empty() { Vec::from_iter(in_file()) } else { places }.into_iter();
    let mut result = json!({
        "ruleId": id,
        "ruleIndex": index,
        "level": level(found.finding.severity),
        "message": {"text": message(found)},
        "locations": places.next().into_iter().collect::<Vec<_>>(),
    });
    let others: Vec<Value> = places.collect();
    if !others.is_empty() {
        result["relatedLocations"] = json!(others);
    }
    result
}

fn level(severity: Assessment) -> &'static str {
    match severity {
        Assessment::Bad => "error",
        Assessment::Warning => "warning",
        Assessment::Good => "note",
    }
}

fn locations(found: &FindingShown) -> Vec<Value> {
    let Some(file) = &found.source_file else { return Vec::new() };
    let artifact = json!({"uri": uri(file)});
    let at = |line: &u64| json!({"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": line}}});
    if found.source_lines.is_empty() {
        return vec![json!({"physicalLocation": {"artifactLocation": artifact}})];
    }
    found.source_lines.iter().map(at).collect()
}

/// Returns the id of a rule: the words of the message without its numbers, so that a finding keeps it
/// when the data changes.
fn rule_id(found: &FindingShown) -> String {
    let message = found.finding.message.to_lowercase();
    let words = message.split(|it: char| !it.is_alphanumeric());
    let words = words.filter(|it| it.chars().any(char::is_alphabetic));
    let mut id = words.collect::<Vec<_>>().join("-");
    id.truncate(id.floor_char_boundary(RULE_ID_BYTES_MAX));
    let id = id.trim_end_matches('-');
    if id.is_empty() { "finding".to_owned() } else { id.to_owned() }
}

/// Returns a path as a URI reference, by RFC 3986.
fn uri(path: &str) -> String {
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    let path = path.strip_prefix("./").unwrap_or(path);
    format!("{scheme}{}", utf8_percent_encode(path, NOT_OF_PATHS))
}
