//! What is withheld from the model, so that it does not search for it.

use std::fmt::Write;

use csv_agent_ingest::TOKEN;
use csv_agent_types::redaction::Redaction;

use super::datasets::quoted;

/// Writes what is withheld; empty when nothing is.
pub fn withheld(withheld: &Redaction) -> String {
    let mut text = String::new();
    if !withheld.columns.is_empty() {
        let names: Vec<String> = withheld.columns.iter().map(|it| quoted(it)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "The user keeps back values of these columns: {}. Texts that begin with {TOKEN} replace them, the \
             same text for the same value, so counting, grouping and joining work. Tell the user where a reply or \
             a table has them.",
            names.join(", ")
        );
    }
    if withheld.rows {
        text += "The user keeps back rows: ";
        text += ROWS;
    }
    text
}

/// Instructions for working without rows.
const ROWS: &str =
    "of outputs you see schemas, aggregates of at most 20 rows, and values that many rows share; \
a note replaces the rest, and printed text is not shown. Compute aggregates, end the code with the \
frame or number, and send tables to the user, who sees all of them.
";
