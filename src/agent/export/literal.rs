//! Values as Python writes them.

use serde_json::Value;

/// Returns a text as a string of Python. JSON's strings are such.
pub fn string(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns a JSON value as a value of Python.
pub fn value(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(self::value).collect();
            format!("[{}]", parts.join(", "))
        }
        // Cells are no objects.
        Value::Object(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// Returns texts as a list.
pub fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|it| string(it)).collect();
    format!("[{}]", texts.join(", "))
}

/// Returns rows as a list of tuples, one a line.
pub fn rows(rows: &[Vec<Value>]) -> String {
    let row = |cells: &Vec<Value>| {
        let cells: Vec<String> = cells.iter().map(value).collect();
        let comma = if cells.len() == 1 { "," } else { "" };
        format!("    ({}{comma}),\n", cells.join(", "))
    };
    format!("[\n{}]", rows.iter().map(row).collect::<String>())
}
