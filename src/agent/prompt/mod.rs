//! The instructions: parts in a fixed order, the same bytes in every round of a turn.
//!
//! Pure: what changes from turn to turn (the question, the clock) is not in here, and what changes least
//! stands first, so that a provider can cache the beginning of a request, across sessions too. Only where
//! there are too many schemas, the question says which come first. Text of others (headers, knowledge,
//! findings) stands between quotes or after `| `, where it cannot pass for instructions.
//!
//! Each part has a bound of its own, and all together have one. Rules, thresholds and knowledge are never
//! cut for the sake of others; schemas get what these leave, findings what schemas leave.

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
/// Where it is said how to compute.
const COMPUTE: &str = "{compute}";
const LOCAL: &str = include_str!("local.md");
const HOSTED: &str = include_str!("hosted.md");
const BOTH: &str = include_str!("both.md");
const OUTPUT: &str = include_str!("output.md");
const VERDICT: &str = include_str!("verdict.md");
const SCHEMA: &str = include_str!("schema.md");
const REMOTE: &str = include_str!("remote.md");
const JSON: &str = "\
Form: a program reads this answer. Reply with JSON that holds to the schema below, and nothing else: no
Markdown, no fence, no words around it.
";
const OUTPUT_JSON: &str = "- output: the answer as JSON that holds to the schema below.\n";

/// What the user wants the model to know in every turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Briefing {
    /// The language of replies; that of the question when none.
    pub language: Option<String>,
    /// What is said of the data.
    pub knowledge: Vec<Knowledge>,
    /// Which values are good or bad.
    pub thresholds: Vec<Threshold>,
}

/// What the instructions of a turn are made of.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    /// What the user wants the model to know.
    pub briefing: &'a Briefing,
    /// What is asked. Where there is no room for all schemas, it says which come first.
    pub question: &'a str,
    /// The datasets that it may see.
    pub catalog: &'a Catalog,
    /// Whether datasets of one shape are told together.
    pub folds: bool,
    /// Where code runs.
    pub interpreter: &'a Interpreter,
    /// What earlier turns found, newest first.
    pub findings: &'a [PastFinding],
    /// What is kept back from the model.
    pub withheld: &'a Redaction,
    /// Whether a verdict is asked for.
    pub verdict: bool,
    /// The schema that the answer must hold to.
    pub schema: Option<&'a Value>,
}

/// The instructions of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Instructions {
    /// At most [`INSTRUCTIONS_BYTES_MAX`] bytes, and the schema of the answer.
    pub text: String,
    /// What the user should know of it: what was left out, what is about nothing.
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
    };
    let role = ROLE.replace(COMPUTE, compute);
    let ([language, knowledge, thresholds], notes) = said(briefing, catalog);
    let rules = OUTPUT.to_owned();
    let withheld = withheld::withheld(withheld);
    let files = match interpreter {
        Interpreter::Local => String::new(),
        Interpreter::Hosted(_) | Interpreter::Both(_) => {
            container::files(&catalog.here(), CONTAINER_FILES_BYTES_MAX)
        }
    };
    let remote = match catalog.remote().next() {
        Some(_) => REMOTE.replace("{collect_mb}", &(CLUSTER_COLLECT_BYTES_MAX >> 20).to_string()),
        None => String::new(),
    };
    // The schema of the answer is the user's, and takes no room from the datasets.
    let form_alone = form(verdict, None);
    let n_bytes: usize = [
        &role,
        &rules,
        &remote,
        &language,
        &withheld,
        &knowledge,
        &thresholds,
        &form_alone,
        &files,
    ]
    .iter()
    .map(|it| it.len() + 1)
    .sum();
    // Two blank lines belong to the parts that are still to come.
    let room = INSTRUCTIONS_BYTES_MAX.saturating_sub(n_bytes + 2);
    let schemas = datasets::schemas(catalog, question, folds, room.min(SCHEMA_BYTES_MAX));
    let room = room.saturating_sub(schemas.len());
    let findings = findings::findings(findings, catalog, room.min(FINDINGS_BYTES_MAX));
    let form = form(verdict, schema);
    // What never changes comes first, then what changes with the user, the session and the turn.
    let all = [
        role, rules, remote, language, withheld, knowledge, thresholds, form, files, schemas,
        findings,
    ];
    Instructions { text: joined(all), notes }
}

/// Returns what is said of the form of the answer; nothing when any text will do. The schema is one line.
pub fn form(verdict: bool, schema: Option<&Value>) -> String {
    let Some(schema) = schema else {
        return if verdict { VERDICT.to_owned() } else { String::new() };
    };
    let head = if verdict { format!("{VERDICT}{OUTPUT_JSON}") } else { JSON.to_owned() };
    format!("{head}{SCHEMA}| {schema}\n")
}

/// Returns what the user said, for a model that gets no other instructions of these, and what the user
/// should know of it.
pub fn said_by_user(briefing: &Briefing, catalog: &Catalog) -> (String, Vec<String>) {
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
