//! Schemas within the subset that `strict: true` accepts, and parsing of arguments that follow them.
//!
//! Source: OpenAI guide, "Structured outputs": every object lists all of its properties as required and
//! forbids others; an optional value is a union with null.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use csv_agent_types::limits::{
    STRICT_ENUM_CHARS_MAX, STRICT_ENUM_SMALL_MAX, STRICT_ENUM_VALUES_MAX, STRICT_LEVELS_MAX,
};

use crate::ToolError;

/// Builds the schema of an object with these properties, in this order, all required.
pub fn object<const N: usize>(properties: [(&str, Value); N]) -> Value {
    let required: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// Builds the schema of a string.
pub fn string(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// Builds the schema of a string or null; the description says what null means.
pub(crate) fn nullable_string(description: &str) -> Value {
    json!({"type": ["string", "null"], "description": description})
}

/// Builds the schema of a value or null; the description says what null means.
pub fn nullable(schema: Value, description: &str) -> Value {
    let mut nullable = json!({"anyOf": null, "description": description});
    nullable["anyOf"] = vec![schema, json!({"type": "null"})].into();
    nullable
}

/// Builds the schema of one of these strings.
pub fn one_of(values: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": values, "description": description})
}

/// Builds the schema of true or false.
pub fn boolean(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

/// Builds the schema of a number.
pub fn number(description: &str) -> Value {
    json!({"type": "number", "description": description})
}

/// Builds the schema of a whole number.
pub fn integer(description: &str) -> Value {
    json!({"type": "integer", "description": description})
}

/// Builds the schema of an array. The description states limits on its length and the tool checks them,
/// because not every server accepts them here.
pub fn array(items: Value, description: &str) -> Value {
    let mut schema = json!({"type": "array", "description": description});
    schema["items"] = items;
    schema
}

/// Deserialises arguments into the type that a tool declares.
///
/// # Errors
///
/// Fails when a member is missing, unknown, or of the wrong type; the model reads which.
pub fn arguments<T: DeserializeOwned>(arguments: Value) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let place = match error.path().to_string() {
            root if root == "." => String::new(),
            path => format!("`{path}`: "),
        };
        let message = format!(
            "the arguments do not match the schema: {place}{}; send them again",
            error.inner()
        );
        ToolError::new("bad_arguments", message)
    })
}

/// Members allowed in a strict schema: those that all servers of the API accept.
const KEYWORDS: [&str; 22] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "enum",
    "const",
    "$ref",
    "$defs",
    "definitions",
    "title",
    "description",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
];

/// String formats that strict mode supports.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

/// Checks a schema against the rules of strict mode.
///
/// # Errors
///
/// Fails with the path of the first node that breaks a rule, and the rule.
pub fn check(schema: &Value) -> Result<(), String> {
    if schema["type"] != "object" || schema.get("anyOf").is_some() {
        return Err("$: the root must have type `object`".to_owned());
    }
    let mut node = schema.clone();
    if let Some(members) = node.as_object_mut() {
        // This names the draft and is not a rule.
        members.shift_remove("$schema");
    }
    let mut n_enum_values = 0;
    check_node(&node, "$", 1, &mut n_enum_values)?;
    if STRICT_ENUM_VALUES_MAX < n_enum_values {
        return Err(format!(
            "$: {n_enum_values} values of enums; at most {STRICT_ENUM_VALUES_MAX}"
        ));
    }
    Ok(())
}

fn check_node(
    schema: &Value,
    path: &str,
    level: usize,
    n_enum_values: &mut usize,
) -> Result<(), String> {
    let Some(members) = schema.as_object() else {
        return Err(format!("{path}: must be an object"));
    };
    if let Some(reference) = members.get("$ref") {
        let is_local = reference.as_str().is_some_and(|it| it.starts_with('#'));
        if !is_local || 1 < members.len() {
            return Err(format!("{path}: `$ref` must be local and stand alone"));
        }
        return Ok(());
    }
    if let Some(name) = members.keys().find(|it| !KEYWORDS.contains(&it.as_str())) {
        return Err(format!("{path}: `{name}` is not allowed"));
    }
    let format = members.get("format").map(|it| it.as_str().unwrap_or_default());
    if let Some(format) = format.filter(|it| !FORMATS.contains(it)) {
        return Err(format!("{path}: the format `{format}` is not allowed"));
    }
    let values = members.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    *n_enum_values += values.len();
    let n_chars: usize = values.iter().filter_map(Value::as_str).map(|it| it.chars().count()).sum();
    if STRICT_ENUM_SMALL_MAX < values.len() && STRICT_ENUM_CHARS_MAX < n_chars {
        return Err(format!("{path}: an enum with too much text"));
    }
    for name in ["$defs", "definitions"] {
        for (defined, it) in members.get(name).and_then(Value::as_object).into_iter().flatten() {
            check_node(it, &format!("{path}.{name}.{defined}"), 1, n_enum_values)?;
        }
    }
    if let Some(branches) = members.get("anyOf").and_then(Value::as_array) {
        for branch in branches {
            check_node(branch, &format!("{path}.anyOf"), level, n_enum_values)?;
        }
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if members.contains_key("anyOf") => Vec::new(),
        _ => return Err(format!("{path}: needs a `type`")),
    };
    if kinds.contains(&"array") {
        check_node(&schema["items"], &format!("{path}.items"), level + 1, n_enum_values)?;
    }
    if !kinds.contains(&"object") && !members.contains_key("properties") {
        return Ok(());
    }
    if STRICT_LEVELS_MAX < level {
        return Err(format!("{path}: deeper than {STRICT_LEVELS_MAX} levels"));
    }
    if schema["additionalProperties"] != json!(false) {
        return Err(format!("{path}: `additionalProperties` must be false"));
    }
    let properties = schema["properties"].as_object();
    let properties = properties.ok_or_else(|| format!("{path}: needs `properties`"))?;
    let names: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if required.collect::<BTreeSet<_>>() != names {
        return Err(format!("{path}: `required` must list every property"));
    }
    properties.iter().try_for_each(|(name, it)| {
        check_node(it, &format!("{path}.{name}"), level + 1, n_enum_values)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{array, check, nullable_string, object, string};

    #[test]
    fn what_the_builders_make_is_strict() {
        let inner = object([("y", string("a column"))]);
        let schema =
            object([("title", nullable_string("null for none")), ("s", array(inner, "x"))]);
        assert_eq!(check(&schema), Ok(()));
    }

    #[test]
    fn the_first_node_that_breaks_a_rule_is_named() {
        let loose = json!({"type": "object", "properties": {"a": {"type": "string"}},
            "required": [], "additionalProperties": false});
        assert_eq!(check(&loose), Err("$: `required` must list every property".into()));
        let open = object([("s", json!({"type": "object"}))]);
        assert_eq!(check(&open), Err("$.s: `additionalProperties` must be false".into()));
    }

    #[track_caller]
    fn check_member(member: Value, fault: &str) {
        assert_eq!(check(&object([("a", member)])).err().unwrap_or_default(), fault);
    }

    #[test]
    fn what_a_user_writes_is_within_the_subset_or_not() {
        check_member(json!({"type": ["number", "null"], "minimum": 0, "description": "d"}), "");
        check_member(json!({"type": "string", "format": "date", "pattern": "^2"}), "");
        check_member(
            json!({"type": "string", "format": "uri"}),
            "$.a: the format `uri` is not allowed",
        );
        check_member(json!({"anyOf": [{"$ref": "#"}, {"type": "null"}]}), "");
        check_member(
            json!({"$ref": "#", "title": "t"}),
            "$.a: `$ref` must be local and stand alone",
        );
        check_member(json!({"type": "string", "minLength": 1}), "$.a: `minLength` is not allowed");
        check_member(json!({"oneOf": []}), "$.a: `oneOf` is not allowed");
        check_member(json!({"enum": [1]}), "$.a: needs a `type`");
        check_member(json!({"type": "array"}), "$.a.items: must be an object");
        check_member(json!(true), "$.a: must be an object");
        let many: Vec<u32> = (0..1_001).collect();
        check_member(
            json!({"type": "integer", "enum": many}),
            "$: 1001 values of enums; at most 1000",
        );
        let long: Vec<String> = (0..251).map(|it| format!("{it:060}")).collect();
        check_member(json!({"type": "string", "enum": long}), "$.a: an enum with too much text");
        let mut root = object([("a", json!({"$ref": "#/$defs/b"}))]);
        root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
        root["required"] = json!(["a", "a"]);
        root["$defs"] = json!({"b": {"type": "string"}});
        assert_eq!(check(&root), Ok(()));
        root["$defs"]["b"] = json!({"type": "object"});
        assert_eq!(check(&root), Err("$.$defs.b: `additionalProperties` must be false".into()));
        let deep = (0..10).fold(json!({"type": "null"}), |inner, _| object([("a", inner)]));
        assert_eq!(check(&deep), Ok(()));
        assert!(check(&object([("a", deep)])).unwrap_err().ends_with("deeper than 10 levels"));
    }
}
