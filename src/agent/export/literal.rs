//! Values as Python writes them.

use serde_json::Value;

/// Returns a text as a Python string literal. JSON strings are valid ones.
pub(super) fn string(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns a JSON value as a value of Python.
pub(super) fn value(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(self::value).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Object(members) => {
            let member =
                |(name, it): (&String, &Value)| format!("{}: {}", string(name), self::value(it));
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// Returns a JSON value as a Python value, with long ones over several lines. `depth` is the indentation of
/// the line on which it starts.
pub(super) fn laid_out(value: &Value, depth: usize) -> String {
    const WIDTH: usize = 90;
    let flat = self::value(value);
    let parts: Vec<String> = match value {
        _ if flat.len() < WIDTH => return flat,
        Value::Array(parts) => parts.iter().map(|it| laid_out(it, depth + 1)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, it)| format!("{}: {}", string(name), laid_out(it, depth + 1)))
            .collect(),
        _ => return flat,
    };
    let (begin, end) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    let indent = "    ".repeat(depth);
    let parts = parts.join(&format!(",\n{indent}    "));
    format!("{begin}\n{indent}    {parts},\n{indent}{end}")
}

pub(super) fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|it| string(it)).collect();
    format!("[{}]", texts.join(", "))
}

/// Returns rows as a list of tuples, one a line.
pub(super) fn rows(rows: &[Vec<Value>]) -> String {
    let row = |cells: &Vec<Value>| {
        let cells: Vec<String> = cells.iter().map(value).collect();
        let comma = if cells.len() == 1 { "," } else { "" };
        format!("    ({}{comma}),\n", cells.join(", "))
    };
    format!("[\n{}]", rows.iter().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{laid_out, value};

    #[test]
    fn values_of_json_are_values_of_python() {
        let given = json!({"a\"": [null, true, 1.5], "b": {}});
        assert_eq!(value(&given), r#"{"a\"": [None, True, 1.5], "b": {}}"#);
    }

    #[test]
    fn what_is_long_goes_over_several_lines() {
        let long = "x".repeat(90);
        let found = laid_out(&json!({"a": [1, 2], "b": [long]}), 1);
        assert_eq!(
            found,
            format!(
                "{{\n        \"a\": [1, 2],\n        \"b\": [\n            \"{long}\",\n        ],\n    }}"
            )
        );
    }
}
