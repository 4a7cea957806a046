//! A look at values: how those that a question names are spelled in the data.

use std::collections::BTreeMap;

use serde_json::Value;

use super::code::quoted;

/// The frame of the columns of text in which values are looked at.
pub(crate) const TEXTS: &str = "texts";
/// The frame of the columns that may say yes and no.
pub(crate) const FLAGS: &str = "flag_columns";
/// Parts of cells from which a column is known to list several values in each.
const PARTS_MIN: usize = 20;
/// How many of the parts must then occur elsewhere.
const SHARED_MIN: f64 = 0.9;
/// Values of a column up to which a misspelled one is looked for.
const NEAR_MAX: u32 = 5_000;

/// Writes code that prints how phrases are spelled in columns: `{phrase: {column: [spelling, …]}}`.
///
/// A phrase that is no value may be nearly one, or a word of some, which then has no spelling. A cell that
/// lists several values holds each of them.
pub(crate) fn code(columns: &[String], phrases: &[String]) -> String {
    let list = |items: &[String]| {
        let quoted: Vec<String> = items.iter().map(|it| quoted(it)).collect();
        quoted.join(", ")
    };
    format!(
        "\
import json
import re
from collections import Counter
from difflib import get_close_matches

spelled = {{}}
for column in [{}]:
    values = {{}}
    for value in {TEXTS}[column].dropna().unique():
        values.setdefault(value.strip().casefold(), []).append(value)
    # Cells with several values: these occur elsewhere too.
    items = {{it: re.split(r\"\\s*[,;|]\\s*\", it) for it in values}}
    often = Counter(item for of in items.values() for item in of)
    parts = [item for of in items.values() if len(of) > 1 for item in of]
    shared = sum(often[item] > 1 for item in parts)
    are_lists = {PARTS_MIN} < len(parts) < shared / {SHARED_MIN}
    lists = {{it: of for it, of in items.items() if are_lists or all(often[i] > 1 for i in of)}}
    for phrase in [{}]:
        near = [phrase] * (phrase in values)
        if not near and len(phrase) > 4 and len(values) <= {NEAR_MAX}:
            near = get_close_matches(phrase, values, 1, 0.85)
            near = [it for it in near if it[0] == phrase[0] and it.count(\" \") == phrase.count(\" \")]
        if near:
            alike = [it for it in values if it == near[0] or near[0] in lists.get(it, ())]
            spelled.setdefault(phrase, {{}})[column] = [it for value in alike for it in values[value]]
        elif len(phrase) > 3:
            word = re.compile(rf\"\\b{{re.escape(phrase)}}\\b\")
            if any(phrase in it and word.search(it) for it in values):
                spelled.setdefault(phrase, {{}})[column] = []
print(json.dumps(spelled))",
        list(columns),
        list(phrases),
    )
}

/// Writes code that prints which of some columns say yes or no, and the text for yes:
/// `{"flags": {column: text or null}}`.
pub(crate) fn flags_code(columns: &[String]) -> String {
    let quoted: Vec<String> = columns.iter().map(|it| quoted(it)).collect();
    format!(
        "\
import json

pairs = [{{\"yes\", \"no\"}}, {{\"y\", \"n\"}}, {{\"true\", \"false\"}}, {{\"t\", \"f\"}}]
flags = {{}}
for column in [{}]:
    values = set({FLAGS}[column].dropna().unique())
    if values == {{0, 1}}:
        flags[column] = None
    elif len(values) == 2 and {{str(it).casefold() for it in values}} in pairs:
        flags[column] = max(values, key=str.casefold)
print(json.dumps({{\"flags\": flags}}))",
        quoted.join(", ")
    )
}

/// Reads which columns say yes or no, each with its text for yes when it has one.
pub(crate) fn flags(output: &Value) -> BTreeMap<String, Option<String>> {
    let printed = output["stdout"].as_str().unwrap_or_default();
    let found = serde_json::from_str::<Value>(printed.trim()).unwrap_or_default();
    serde_json::from_value(found["flags"].clone()).unwrap_or_default()
}

/// Reads what the code printed: phrase, column, spellings; none of a word within values.
pub(crate) fn spelled(output: &Value) -> Vec<(String, String, Vec<String>)> {
    let printed = output["stdout"].as_str().unwrap_or_default();
    let Ok(Value::Object(phrases)) = serde_json::from_str::<Value>(printed.trim()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (phrase, columns) in phrases {
        // What a list stands for is no phrase.
        let Value::Object(columns) = columns else { continue };
        for (column, values) in columns {
            let values: Vec<String> = serde_json::from_value(values).unwrap_or_default();
            found.push((phrase.clone(), column, values));
        }
    }
    found
}
