//! Schemas within the subset that `strict: true` accepts, and arguments read by them.
//!
//! Source: OpenAI guide, "Structured outputs": every object lists all of its properties as required and
//! forbids others; a value that may be left out is a union with null.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::tools::ToolError;

/// Makes the schema of an object with these properties, in this order, all required.
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

/// Makes the schema of a string.
pub fn string(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// Makes the schema of a string or null; the description says what null means.
pub fn nullable_string(description: &str) -> Value {
    json!({"type": ["string", "null"], "description": description})
}

/// Makes the schema of one of these strings.
pub fn one_of(values: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": values, "description": description})
}

/// Makes the schema of a whole number.
pub fn integer(description: &str) -> Value {
    json!({"type": "integer", "description": description})
}

/// Makes the schema of an array. Bounds on its length are said in the description and checked by
/// the tool, because not every server accepts them here.
pub fn array(items: Value, description: &str) -> Value {
    let mut schema = json!({"type": "array", "description": description});
    schema["items"] = items;
    schema
}

/// Reads arguments into the type that a tool declares.
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
        let message =
            format!("the arguments do not fit: {place}{}; send them again", error.inner());
        ToolError::new("bad_arguments", message)
    })
}

/// Checks a schema against the rules of strict mode.
///
/// # Errors
///
/// Fails with the path of the first node that breaks a rule, and the rule.
pub fn check(schema: &Value) -> Result<(), String> {
    if schema["type"] != "object" {
        return Err("$: the root must have type `object`".to_owned());
    }
    check_node(schema, "$")
}

fn check_node(schema: &Value, path: &str) -> Result<(), String> {
    let Some(members) = schema.as_object() else {
        return Err(format!("{path}: must be an object"));
    };
    if let Some(branches) = members.get("anyOf").and_then(Value::as_array) {
        return branches.iter().try_for_each(|it| check_node(it, &format!("{path}.anyOf")));
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return Err(format!("{path}: needs a `type`")),
    };
    if kinds.contains(&"array") {
        check_node(&schema["items"], &format!("{path}.items"))?;
    }
    if !kinds.contains(&"object") {
        return Ok(());
    }
    if schema["additionalProperties"] != json!(false) {
        return Err(format!("{path}: `additionalProperties` must be false"));
    }
    let properties = schema["properties"].as_object();
    let properties = properties.ok_or_else(|| format!("{path}: needs `properties`"))?;
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    if schema["required"] != json!(names) {
        return Err(format!("{path}: `required` must list every property"));
    }
    properties.iter().try_for_each(|(name, it)| check_node(it, &format!("{path}.{name}")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
}
