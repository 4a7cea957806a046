//! The JSON Schemas of the program's output and input.
//!
//! The schema of events is written by hand. That of the document of `--format json` is derived from it,
//! because the document consists of events; that of configuration files is generated from the settings.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use csv_agent_chart::Theme;
use csv_agent_provider::hosted::code_interpreter::MemoryTier;
use csv_agent_sink::{Format, document};
use csv_agent_types::catalog::DType;
use csv_agent_types::conversation::Effort;

use super::flags::{ApiFlag, ColorChoice, ImageChoice, InterpreterChoice, OnExpired, Worded};
use super::options::config::document::RawValue;
use super::options::config::prices;
use super::options::settings::{AnySetting, SETTINGS, WHOLE_FILE, words};

/// The JSON Schema of an event line.
pub(crate) const EVENTS: &str = include_str!("events.schema.json");

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Members of a reply that the document has as well. For a failed turn they are null or empty.
const OF_REPLY: [&str; 16] = [
    "blocks", "assessment", "findings", "output", "ungrounded", "computed", "stop_reason",
    "choices", "files", "rounds", "tool_calls", "usage", "egress", "duration_ms", "code_path",
    "exit_code",
];

/// Makes the schema of the document that `--format json` writes. Fails when the schema of events is not valid
/// JSON.
pub(crate) fn result() -> anyhow::Result<Value> {
    let events: Value = serde_json::from_str(EVENTS)?;
    let mut definitions = events["$defs"].clone();
    // Events have no type member within the document.
    for name in ["data_frame", "chart", "chart_rejected", "reply", "error"] {
        let definition = &mut definitions[name];
        if let Some(properties) = definition["properties"].as_object_mut() {
            properties.shift_remove("type");
        }
        if let Some(required) = definition["required"].as_array_mut() {
            required.retain(|it| it != "type");
        }
    }
    let text = json!({"type": ["string", "null"]});
    let list = |of: &str| json!({"type": "array", "items": {"$ref": format!("#/$defs/{of}")}});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let warning = json!({
        "type": "object",
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        "required": ["code", "message"],
    });
    let mut properties = json!({
        "schema": {"const": document::SCHEMA},
        "session_id": {"type": "string"},
        "turn_id": {"type": "string"},
        "question": text,
        "model": text,
        "datasets": texts,
        "text": text,
        "tables": list("data_frame"),
        "charts": list("chart"),
        "rejected": list("chart_rejected"),
        "warnings": {"type": "array", "items": warning},
        "events_path": {"type": "string", "description": "Relative to the session directory."},
        "error": {"anyOf": [{"$ref": "#/$defs/error"}, {"type": "null"}]},
    });
    for name in OF_REPLY {
        let of_reply = json!({"$ref": format!("#/$defs/reply/properties/{name}")});
        properties[name] = json!({"anyOf": [of_reply, {"type": "null"}]});
    }
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    Ok(json!({
        "$schema": DIALECT,
        "title": "csv-agent result, version 1",
        "description": "What `--format json` writes at the end of a turn, successful or not. \
                        Ignore fields that you do not know.",
        "type": "object",
        "required": required,
        "properties": properties,
        "$defs": definitions,
    }))
}

/// Makes the schema of the document that `check --json` writes.
pub(crate) fn checks() -> Value {
    let text = json!({"type": "string"});
    let text_or_null = json!({"type": ["string", "null"]});
    let count = json!({"type": "integer", "minimum": 0});
    let row = object(&json!({
        "dataset": text_or_null,
        "source_file": text_or_null,
        "source_line": {"type": ["integer", "null"],
            "description": "The line in the file; for a workbook the row, for JSON the number of the object. The first is 1."},
        "source_cell": {"type": ["string", "null"], "description": "Only for a workbook."},
        "values": {"type": "object", "description": "The columns of the statement."},
    }));
    let rule = object(&json!({
        "name": text,
        "claim": text_or_null,
        "reading": {"type": ["string", "null"], "description": "How csv-agent reads the claim."},
        "compiled_by": {"type": ["string", "null"],
            "description": "The model that compiled the claim; `builtin` is the analyst inside csv-agent."},
        "sql": {"type": ["string", "null"],
            "description": "The statement that returns the rows that break the rule; null for a claim that is not compiled."},
        "severity": {"enum": ["bad", "warning"]},
        "result": {"enum": ["good", "warning", "bad", "undecided"]},
        "row_count": {"type": ["integer", "null"], "minimum": 0,
            "description": "How many rows break the rule; null if it is undecided."},
        "rows": {"type": "array", "items": row, "description": "The first of them."},
        "reason": {"type": ["string", "null"], "description": "Why it is undecided."},
        "hint": {"type": ["string", "null"], "description": "What to do about it."},
        "duration_ms": count,
    }));
    json!({
        "$schema": DIALECT,
        "title": "csv-agent checks",
        "description": "What `check --json` writes, in the order of the file. Ignore fields that you do not know.",
        "type": "array",
        "items": rule,
    })
}

/// Makes the schema of the document that `diff --json` writes.
pub(crate) fn differences() -> Value {
    let text_or_null = json!({"type": ["string", "null"]});
    let object_or_null =
        |description: &str| json!({"type": ["object", "null"], "description": description});
    let difference = object(&json!({
        "change": {"enum": ["column_removed", "column_added", "column_type", "changed", "removed", "added"]},
        "source_file": text_or_null,
        "source_line": {"type": ["integer", "null"],
            "description": "For a removed row, the line in the old version. Otherwise, the line in the new one."},
        "source_cell": {"type": ["string", "null"], "description": "Only for a workbook."},
        "key": object_or_null("For a changed row, the columns that identify it."),
        "cells": object_or_null("For a changed row, `old` and `new` of each column with another value."),
        "values": object_or_null("For a removed or added row, its columns."),
        "column": {"type": ["string", "null"], "description": "For a column that differs, its name."},
        "old": {"type": ["string", "null"], "description": "For a column with another type, the old type."},
        "new": {"type": ["string", "null"], "description": "The new type."},
    }));
    json!({
        "$schema": DIALECT,
        "title": "csv-agent differences",
        "description": "What `diff --json` writes: columns first, then rows. Ignore fields that you do not know.",
        "type": "array",
        "items": difference,
    })
}

/// Makes an object with all of these members.
fn object(properties: &Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    json!({"type": "object", "required": required, "properties": properties})
}

/// Makes the schema of the document that `describe --json` writes.
pub(crate) fn description() -> Value {
    let text = json!({"type": "string"});
    let count = json!({"type": "integer", "minimum": 0});
    let texts = json!({"type": "array", "items": text});
    let value = json!({"$ref": "#/$defs/value"});
    let number_or_moment = json!({"type": ["number", "string", "null"],
        "description": "For numbers, dates and times. Null for other types, and without values."});
    let frequent = object(&json!({"value": value, "count": count}));
    let bin = object(&json!({"from": value, "to": value, "count": count}));
    let column = object(&json!({
        "name": text,
        "type": {"enum": DType::ALL.map(DType::name)},
        "nulls": count,
        "distinct": count,
        "distinct_is_estimate": {"type": "boolean",
            "description": "Whether `distinct` may be 15 % off."},
        "min": value,
        "max": value,
        "mean": number_or_moment,
        "std": {"type": ["number", "null"], "description": "For numbers: the standard deviation of a sample."},
        "q25": number_or_moment,
        "median": number_or_moment,
        "q75": number_or_moment,
        "top": {"type": ["array", "null"], "items": frequent,
            "description": "The most frequent values; null if there are too many different values \
                            to count."},
        "histogram": {"type": "array", "items": bin, "description": "For numbers, dates and times. \
            Whole numbers and dates have `from` and `to` in the bin; other values are below `to`, \
            except in the last bin."},
        "is_key": {"type": ["boolean", "null"],
            "description": "Whether every row has a different value; null if not known."},
        "meaning": {"type": ["object", "null"], "required": ["kind"],
            "properties": {"kind": {"enum": ["money", "percent", "yes_no"]},
                "currency": {"type": ["string", "null"]}}},
        "description": {"type": ["string", "null"], "description": "From the file."},
        "notes": texts,
    }));
    let dataset = object(&json!({
        "name": text,
        "source": text,
        "row_count": count,
        "columns": {"type": "array", "items": column},
        "notes": {"type": "array", "items": text,
            "description": "The text above and below the table in the file."},
        "doubts": {"type": "array", "items": text, "description":
            "Notes on how the file was read."},
    }));
    json!({
        "$schema": DIALECT,
        "title": "csv-agent description",
        "description": "What `describe --json` writes. Ignore fields that you do not know.",
        "type": "array",
        "items": dataset,
        "$defs": {"value": {"type": ["number", "string", "boolean", "null"],
            "description": "Whole numbers beyond 2^53 are strings. Dates and times are strings in \
                            the format of ISO 8601. Longer text is cut after 1,000 characters, \
                            and ends with `…`."}},
    })
}

/// Makes the schema of a configuration file from the settings and their valid values.
pub(crate) fn config() -> Value {
    let settings = |is_in: fn(&str) -> bool| {
        let found = SETTINGS.iter().filter(|it| is_in(it.key()));
        found.map(|it| (it.key().to_owned(), setting(*it))).collect::<Map<_, _>>()
    };
    let profile = json!({
        "type": "object",
        "properties": settings(|it| !WHOLE_FILE.contains(&it)),
        "additionalProperties": false,
    });
    let profiles = json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/profile"}});
    let price = |name: &&str| ((*name).to_owned(), json!({"type": "number", "minimum": 0}));
    let price = json!({
        "type": "object",
        "properties": prices::NAMES.iter().map(price).collect::<Map<_, _>>(),
        "additionalProperties": false,
    });
    let mut properties = settings(|_| true);
    properties.insert("profiles".to_owned(), profiles.clone());
    // A string selects a profile, a table defines some.
    properties.insert("profile".to_owned(), json!({"anyOf": [properties["profile"], profiles]}));
    properties.insert(
        "prices".to_owned(),
        json!({"type": "object", "additionalProperties": price,
            "description": "USD for a million tokens, by the name of the model"}),
    );
    json!({
        "$schema": DIALECT,
        "title": "csv-agent configuration file",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": {"profile": profile},
    })
}

/// Determines the valid values of a setting by testing them.
fn setting(setting: &dyn AnySetting) -> Value {
    let takes_text = |it: &str| setting.check(&RawValue::Text(it.to_owned())).is_ok();
    // Several settings share some words.
    let words: BTreeSet<String> = [
        words::<ApiFlag>(),
        Effort::words(),
        words::<ColorChoice>(),
        Theme::words(),
        words::<ImageChoice>(),
        words::<InterpreterChoice>(),
        MemoryTier::words(),
        words::<OnExpired>(),
        Format::words(),
    ]
    .into_iter()
    .flatten()
    .filter(|it| takes_text(it))
    .collect();
    let mut schema = if setting.check(&RawValue::Switch(true)).is_ok() {
        json!({"type": "boolean"})
    } else if setting.check(&RawValue::Fraction("0.5".to_owned())).is_ok() {
        json!({"type": "number"})
    } else if setting.check(&RawValue::Whole("1000".to_owned())).is_ok()
        || setting.check(&RawValue::Whole("1".to_owned())).is_ok()
    {
        json!({"type": "integer", "minimum": 0})
    } else if ["/a", "a"]
        .iter()
        .any(|it| setting.check(&RawValue::List(vec![(*it).to_owned()])).is_ok())
    {
        json!({"type": "array", "items": {"type": "string"}})
    } else if takes_text("Elvish") {
        json!({"type": "string"})
    } else if takes_text("8GB") {
        json!({"type": "string", "description": "a size, such as 8GB"})
    } else if takes_text("90s") {
        json!({"type": "string", "description": "a time, such as 90s or 5m"})
    } else {
        json!({"enum": words})
    };
    schema["description"] = json!(setting.about());
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::config;
    use crate::options::settings::SETTINGS;

    #[test]
    fn each_setting_is_asked_what_it_takes() {
        let schema = config();
        let type_of = |name: &str| &schema["properties"][name]["type"];
        assert_eq!(type_of("model"), "string");
        assert_eq!(type_of("api_key_cmd"), "array");
        assert_eq!(type_of("stream"), "boolean");
        assert_eq!(type_of("retries"), "integer");
        assert_eq!(type_of("compact_at"), "integer");
        assert_eq!(type_of("max_cost"), "number");
        assert_eq!(type_of("timeout"), "string");
        assert_eq!(type_of("memory"), "string");
        assert_eq!(type_of("python_packages"), "array");
        assert_eq!(
            schema["properties"]["api"]["enum"],
            json!(["auto", "chat", "messages", "responses"])
        );
        assert_eq!(schema["properties"]["reasoning"]["enum"], json!(["high", "low", "medium"]));
        assert_eq!(schema["properties"]["chart_theme"]["enum"], json!(["dark", "light"]));
        let images = ["auto", "blocks", "iterm", "kitty", "never", "sixel", "sketch"];
        assert_eq!(schema["properties"]["images"]["enum"], json!(images));
        for setting in SETTINGS {
            let own = &schema["properties"][setting.key()];
            assert_ne!(own["enum"], json!([]), "nothing is known that `{}` takes", setting.key());
            assert!(!own.is_null());
        }
        assert_eq!(schema["$defs"]["profile"]["properties"]["profile"], Value::Null);
    }
}
