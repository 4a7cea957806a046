//! The instructions: parts in a fixed order, the same bytes in every round of a turn.
//!
//! Pure. What changes each turn (the question, the clock) is not in the instructions, and the most stable
//! parts come first, so that a provider can cache the prefix of a request, across sessions too. Only where
//! not all schemas fit does the question decide their order. Untrusted text (headers, knowledge, findings)
//! is quoted or follows `| `, so that it cannot pass for instructions.
//!
//! Each part has a limit of its own, and there is one for the total. Rules, thresholds and knowledge are
//! never cut for other parts; schemas use the space that these leave, findings the space that schemas
//! leave.

pub mod container;
pub mod datasets;
mod likely;
pub mod findings;
pub mod knowledge;
pub mod thresholds;
pub mod withheld;

use serde_json::Value;

use csv_agent_types::catalog::Catalog;
use csv_agent_types::limits::{
    CLUSTER_COLLECT_BYTES_MAX, CONTAINER_FILES_BYTES_MAX, FINDINGS_BYTES_MAX,
    INSTRUCTIONS_BYTES_MAX, KNOWLEDGE_BYTES_MAX, SCHEMA_BYTES_MAX, THRESHOLDS_BYTES_MAX,
};
use csv_agent_types::redaction::Redaction;

use crate::hosted::Interpreter;
use findings::PastFinding;
use knowledge::Knowledge;
use thresholds::Threshold;

const ROLE: &str = include_str!("role.md");
/// Placeholder for the section on how to compute.
const COMPUTE: &str = "{compute}";
const LOCAL: &str = include_str!("local.md");
const HOSTED: &str = include_str!("hosted.md");
const ABSENT: &str = include_str!("absent.md");
const BOTH: &str = include_str!("both.md");
const OUTPUT: &str = include_str!("output.md");
const VERDICT: &str = include_str!("verdict.md");
const SCHEMA: &str = include_str!("schema.md");
const REMOTE: &str = include_str!("remote.md");
const JSON: &str = "\
Form: a program reads this answer. Reply with JSON that matches the schema below, and nothing else: no
Markdown, no fence, no words around it.
";
const OUTPUT_JSON: &str = "- output: the answer as JSON that matches the schema below.\n";

/// The user's context for every turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Briefing {
    /// The language of replies; the question's language when None.
    pub language: Option<String>,
    /// Texts about the data.
    pub knowledge: Vec<Knowledge>,
    /// Which values are good or bad.
    pub thresholds: Vec<Threshold>,
}

/// The inputs to the instructions of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// The user's context.
    pub briefing: &'a Briefing,
    /// The question. It decides which schemas come first where not all fit.
    pub question: &'a str,
    /// The datasets that it may see.
    pub catalog: &'a Catalog,
    /// Whether datasets of one shape are listed together.
    pub folds: bool,
    /// Where code runs.
    pub interpreter: &'a Interpreter,
    /// Findings of earlier turns, newest first.
    pub findings: &'a [PastFinding],
    /// What is withheld from the model.
    pub withheld: &'a Redaction,
    /// Whether the answer must contain a verdict.
    pub verdict: bool,
    /// The schema that the answer must match.
    pub schema: Option<&'a Value>,
}

/// The instructions of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Instructions {
    /// At most [`INSTRUCTIONS_BYTES_MAX`] bytes, plus the schema of the answer.
    pub text: String,
    /// Warnings for the user: what was left out, and what matches no dataset.
    pub notes: Vec<String>,
}

/// Assembles the instructions of a turn.
pub fn instructions(parts: &Parts) -> Instructions {
    let Parts {
        briefing,
        question,
        catalog,
        folds,
        interpreter,
        findings,
        withheld,
        verdict,
        schema,
    } = *parts;
    let compute = match interpreter {
        Interpreter::Local => LOCAL,
        Interpreter::Hosted(_) => HOSTED,
        Interpreter::Both(_) => BOTH,
        Interpreter::Absent => ABSENT,
    };
    let role = ROLE.replace(COMPUTE, compute);
    let ([language, knowledge, thresholds], notes) = said(briefing, catalog);
    let rules = OUTPUT.to_owned();
    let withheld = withheld::withheld(withheld);
    let files = match interpreter {
        Interpreter::Local | Interpreter::Absent => String::new(),
        Interpreter::Hosted(_) | Interpreter::Both(_) => {
            container::files(&catalog.here(), CONTAINER_FILES_BYTES_MAX)
        }
    };
    let remote = match catalog.remote().next() {
        Some(_) => REMOTE.replace("{collect_mb}", &(CLUSTER_COLLECT_BYTES_MAX >> 20).to_string()),
        None => String::new(),
    };
    // The schema of the answer is the user's, and takes no space from the datasets.
    let form_alone = form(verdict, None);
    let n_bytes: usize = [
        &role, &rules, &remote, &language, &withheld, &knowledge, &thresholds, &form_alone, &files,
    ]
    .iter()
    .map(|it| it.len() + 1)
    .sum();
    // Two blank lines are for the parts that follow.
    let room = INSTRUCTIONS_BYTES_MAX.saturating_sub(n_bytes + 2);
    let schemas = datasets::schemas(catalog, question, folds, room.min(SCHEMA_BYTES_MAX));
    let room = room.saturating_sub(schemas.len());
    let findings = findings::findings(findings, catalog, room.min(FINDINGS_BYTES_MAX));
    let form = form(verdict, schema);
    // Constant parts come first, then those that change with the user, the session and the turn.
    let all = [
        role, rules, remote, language, withheld, knowledge, thresholds, form, files, schemas,
        findings,
    ];
    Instructions { text: joined(all), notes }
}

/// Returns the text on the form of the answer; empty when any text will do. The schema is one line.
pub fn form(verdict: bool, schema: Option<&Value>) -> String {
    let Some(schema) = schema else {
        return if verdict { VERDICT.to_owned() } else { String::new() };
    };
    let head = if verdict { format!("{VERDICT}{OUTPUT_JSON}") } else { JSON.to_owned() };
    format!("{head}{SCHEMA}| {schema}\n")
}

/// Returns the user's context alone, for a model that gets none of the other instructions, and the warnings
/// for the user.
pub(crate) fn said_by_user(briefing: &Briefing, catalog: &Catalog) -> (String, Vec<String>) {
    let (parts, notes) = said(briefing, catalog);
    (joined(parts), notes)
}

fn said(briefing: &Briefing, catalog: &Catalog) -> ([String; 3], Vec<String>) {
    let mut notes = Vec::new();
    let language = language(briefing.language.as_deref());
    let knowledge = knowledge::knowledge(&briefing.knowledge, KNOWLEDGE_BYTES_MAX, &mut notes);
    let bytes_max = THRESHOLDS_BYTES_MAX;
    let thresholds = thresholds::thresholds(&briefing.thresholds, catalog, bytes_max, &mut notes);
    ([language, knowledge, thresholds], notes)
}

fn joined<const N: usize>(parts: [String; N]) -> String {
    let there: Vec<String> = parts.into_iter().filter(|it| !it.is_empty()).collect();
    there.join("\n")
}

fn language(language: Option<&str>) -> String {
    match language {
        None => "Language: answer in the language of the question.\n".to_owned(),
        Some(language) => format!(
            "Language: write replies, titles and labels in {language}, whatever the language of the \
             question.\nNames of datasets and columns stay as they are.\n"
        ),
    }
}

#[cfg(test)]
pub mod tests;
