//! Fingerprints: which requests are equal for a replay, and where two differ.
//!
//! Ids, sealed reasoning and today's date in instructions may differ from run to run; the question, the
//! calls, their outputs and the tools may not.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use csv_agent_types::conversation::{Item, Request, ToolChoice, ToolDeclaration};
use csv_agent_types::limits::MISMATCH_BYTES_MAX;

use crate::key::{Key, mask};
use crate::wire::opaque::OPAQUE;

/// Members of an item that the provider generates anew each time.
const VOLATILE: &[&str] = &["id", "encrypted_content", OPAQUE, "status"];

/// Returns the parts of a request that a replay compares, secrets masked.
pub(crate) fn normalise(request: &Request, key: Option<&Key>) -> Value {
    let mut call_ids = HashMap::new();
    let items = request.items.iter().map(|it| normalise_item(it, &mut call_ids));
    let items: Vec<Value> = items.collect();
    let tools = request.tools.iter();
    let tools = tools.map(|it| match it {
        ToolDeclaration::Function { name, parameters, .. } => {
            json!({"name": name, "parameters": parameters})
        }
        ToolDeclaration::Hosted { configuration, .. } => configuration.clone(),
    });
    let tools: Vec<Value> = tools.collect();
    let tool_choice = match request.tool_choice {
        ToolChoice::Auto => "auto",
        ToolChoice::Hosted(name) => name,
        ToolChoice::None => "none",
    };
    let format = request.format.as_ref();
    let normalised = json!({
        "model": request.model,
        "items": items,
        "tools": tools,
        "tool_choice": tool_choice,
        "format": format.map(|it| json!({"name": it.name, "schema": it.schema})),
    });
    // Text that was masked when it was written must be masked when it is compared.
    serde_json::from_str(&mask(&normalised.to_string(), key)).unwrap_or(normalised)
}

fn normalise_item(item: &Item, call_ids: &mut HashMap<String, usize>) -> Value {
    let Value::Object(members) = &item.0 else { return item.0.clone() };
    let mut kept = Map::new();
    for (name, value) in members {
        if VOLATILE.contains(&name.as_str()) || value.is_null() {
            continue;
        }
        let value = match (name.as_str(), value) {
            ("call_id", Value::String(call_id)) => {
                let next = call_ids.len() + 1;
                let number = call_ids.entry(call_id.clone()).or_insert(next);
                format!("call_{number}").into()
            }
            _ => value.clone(),
        };
        kept.insert(name.clone(), value);
    }
    Value::Object(kept)
}

/// Returns a short hash of a normalised request.
pub(crate) fn key_of(normalised: &Value) -> String {
    format!("{:.16x}", Sha256::digest(sorted(normalised).to_string()))
}

/// Returns the same value with the members of every object sorted by name.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            members.into_iter().map(|(name, it)| (name.clone(), sorted(it))).collect()
        }
        Value::Array(values) => values.iter().map(sorted).collect(),
        _ => value.clone(),
    }
}

/// How two normalised requests differ.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Number of differing values, to find the nearest request.
    pub n_differing: usize,
    /// Path of the first difference, like `items[0].content[0].text`.
    pub path: String,
    /// The value there in the first request, shortened; None when absent.
    pub recorded: Option<String>,
    /// The value there in the second.
    pub now: Option<String>,
}

/// Compares two values and returns how they differ, if they do.
pub(crate) fn difference(recorded: &Value, now: &Value) -> Option<Difference> {
    let mut found = None;
    compare(Some(recorded), Some(now), &mut String::new(), &mut found);
    found
}

fn compare(
    recorded: Option<&Value>,
    now: Option<&Value>,
    path: &mut String,
    found: &mut Option<Difference>,
) {
    let end = path.len();
    match (recorded, now) {
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let added = right.keys().filter(|it| !left.contains_key(*it));
            for name in left.keys().chain(added) {
                let dot = if path.is_empty() { "" } else { "." };
                let _ = write!(path, "{dot}{name}");
                compare(left.get(name), right.get(name), path, found);
                path.truncate(end);
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                let _ = write!(path, "[{index}]");
                compare(left.get(index), right.get(index), path, found);
                path.truncate(end);
            }
        }
        (left, right) if left == right => {}
        (left, right) => match found {
            Some(found) => found.n_differing += 1,
            None => {
                *found = Some(Difference {
                    n_differing: 1,
                    path: path.clone(),
                    recorded: left.map(|it| shortened(it, right)),
                    now: right.map(|it| shortened(it, left)),
                });
            }
        },
    }
}

/// Returns a value as JSON, cut to a window that starts shortly before its first difference from the other.
fn shortened(value: &Value, other: Option<&Value>) -> String {
    const LEAD_BYTES: usize = 20;
    let text = value.to_string();
    let other = other.map(Value::to_string).unwrap_or_default();
    let n_same = text.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let start =
        if text.len() <= MISMATCH_BYTES_MAX { 0 } else { n_same.saturating_sub(LEAD_BYTES) };
    let start = text.floor_char_boundary(start);
    let end = text.floor_char_boundary(start + MISMATCH_BYTES_MAX);
    let head = if start == 0 { "" } else { "…" };
    let tail = if end == text.len() { "" } else { "…" };
    format!("{head}{}{tail}", &text[start..end])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Difference, difference, key_of, normalise};
    use crate::wire::samples;
    use csv_agent_types::conversation::{Item, Request, ToolDeclaration};

    fn request(items: Value) -> Request {
        Request {
            instructions: "today is Monday".into(),
            items: serde_json::from_value(items).unwrap(),
            cache_key: "s1".into(),
            ..samples::request("m")
        }
    }

    #[test]
    fn what_changes_from_run_to_run_is_left_out() {
        let items = |n: u32| {
            json!([
                {"type": "reasoning", "id": format!("rs_{n}"), "summary": [],
                 "encrypted_content": format!("g{n}"), "content": null},
                {"type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_x{n}"),
                 "status": "completed", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": format!("call_x{n}"), "output": "1"},
            ])
        };
        let mut other = request(items(2));
        other.instructions = "today is Tuesday".into();
        other.cache_key = "s2".into();
        let ToolDeclaration::Function { description, .. } = &mut other.tools[0] else {
            panic!("it is a function")
        };
        *description = "better words".into();
        let normalised = normalise(&request(items(1)), None);
        assert_eq!(normalised, normalise(&other, None));
        assert_eq!(key_of(&normalised), key_of(&normalise(&other, None)));
        let expected = json!({
            "model": "m",
            "items": [
                {"type": "reasoning", "summary": []},
                {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "1"},
            ],
            "tools": [{"name": "f", "parameters": {"type": "object"}}],
            "tool_choice": "auto",
            "format": null,
        });
        assert_eq!(normalised.to_string(), expected.to_string());
    }

    #[test]
    fn secrets_are_masked_before_they_are_compared() {
        let mut question = request(json!([]));
        question.items.push(Item::user("is sk-abcdefghijkl valid?"));
        let text = normalise(&question, None).to_string();
        assert!(text.contains("is sk-*** valid?"), "{text}");
    }

    #[track_caller]
    fn check(recorded: &Value, now: &Value, expected: Option<(usize, &str, &str, &str)>) {
        let shown = |it: Difference| {
            let side = |it: Option<String>| it.unwrap_or_else(|| "nothing".to_owned());
            (it.n_differing, it.path, side(it.recorded), side(it.now))
        };
        let expected = expected.map(|(n, path, recorded, now)| {
            (n, path.to_owned(), recorded.to_owned(), now.to_owned())
        });
        assert_eq!(difference(recorded, now).map(shown), expected);
    }

    #[test]
    fn the_first_difference_is_named_by_its_path() {
        check(&json!({"a": 1, "b": [2]}), &json!({"b": [2], "a": 1}), None);
        check(
            &json!({"a": [{"b": "x"}], "c": 1}),
            &json!({"a": [{"b": "y"}], "c": 2}),
            Some((2, "a[0].b", "\"x\"", "\"y\"")),
        );
        check(&json!({"a": [1]}), &json!({"a": [1, 2]}), Some((1, "a[1]", "nothing", "2")));
        check(&json!({"a": null}), &json!({}), Some((1, "a", "null", "nothing")));
    }

    #[test]
    fn long_values_are_cut_to_where_they_differ() {
        let long = |end: &str| json!("ä".repeat(300) + end);
        let found = difference(&long("one"), &long("two")).unwrap();
        assert_eq!(found.recorded.unwrap(), format!("…{}one\"", "ä".repeat(10)));
        let whole = difference(&long(""), &json!("b")).unwrap().recorded.unwrap();
        assert!(whole.starts_with("\"ää") && whole.ends_with("ä…"), "{whole}");
    }
}
