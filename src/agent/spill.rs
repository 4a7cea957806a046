//! Outputs too long for the model: kept whole in the REPL, while the model sees the beginning.
//!
//! Pure: decides what is kept, and writes the summary. The worker keeps outputs of code itself.

use serde_json::{Map, Value, json};

use csv_agent_types::event::ToolOutput;
use csv_agent_types::limits::{STASH_HEAD_BYTES_MAX, STASH_HEAD_ROWS_MAX};
use csv_agent_worker::protocol::Command;

/// Returns the command that keeps an output, if it is too long.
pub(crate) fn keep(tool: &str, output: &ToolOutput, bytes_max: usize) -> Option<Command> {
    let text = output.for_model();
    if text.len() <= bytes_max {
        return None;
    }
    let rows = table(&output.result).map(|(_, rows)| rows.clone());
    let text = rows.is_none().then_some(text);
    Some(Command::Keep { tool: tool.to_owned(), rows, text })
}

/// Returns the model's view of a kept output: its short members, and the shape, schema and first rows of
/// its table. `kept` is the worker's response.
pub(crate) fn summary(result: &Value, kept: &Value) -> Value {
    let (key, place) = (&kept["data_key"], kept["place"].as_str().unwrap_or_default());
    let Some((name, rows)) = table(result) else {
        let text = format!("too long to be shown; in python_repl all of it is the text {place}");
        return json!({"kind": "text", "text": text, "data_key": key});
    };
    let members = result.as_object().into_iter().flatten();
    let mut summary: Map<String, Value> = members
        .filter(|(it, _)| *it != name)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let head = head(rows);
    let (n_rows, n_shown) = (rows.len(), head.len());
    let first = rows.first().and_then(Value::as_object);
    let schema: Map<String, Value> =
        first.into_iter().flatten().map(|(name, it)| (name.clone(), kind(it).into())).collect();
    summary.insert("shape".into(), json!([n_rows, schema.len()]));
    summary.insert("schema".into(), schema.into());
    summary.insert("head".into(), head.into());
    summary.insert("data_key".into(), key.clone());
    let text = format!(
        "`{name}` has {n_rows} rows, of which {n_shown} are shown as `head`; in python_repl all of them \
         are the DataFrame {place}"
    );
    summary.insert("text".into(), text.into());
    summary.into()
}

/// Finds the longest list of objects among the members of a result.
fn table(result: &Value) -> Option<(&str, &Vec<Value>)> {
    let members = result.as_object()?.iter();
    let tables = members.filter_map(|(name, value)| {
        let rows =
            value.as_array().filter(|it| !it.is_empty() && it.iter().all(Value::is_object))?;
        Some((name.as_str(), rows))
    });
    tables.max_by_key(|(_, rows)| rows.len())
}

fn head(rows: &[Value]) -> Vec<Value> {
    let mut n_bytes = 0;
    let fit = rows.iter().take(STASH_HEAD_ROWS_MAX).take_while(|it| {
        n_bytes += it.to_string().len();
        n_bytes <= STASH_HEAD_BYTES_MAX
    });
    fit.cloned().collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns a text of at most about `bytes_max` bytes: its beginning and its end, with a line between
/// them that says what is missing.
pub fn cut_middle(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(bytes_max / 2);
    let tail = text.ceil_char_boundary(text.len() - bytes_max / 2);
    let n_cut = tail - head;
    format!(
        "{}\n… {n_cut} of {} bytes left out; ask for less, or aggregate …\n{}",
        &text[..head],
        text.len(),
        &text[tail..]
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{cut_middle, keep, summary};
    use csv_agent_types::event::ToolOutput;
    use csv_agent_types::limits::TOOL_OUTPUT_BYTES_MAX;
    use csv_agent_worker::protocol::Command;

    fn schema(n_columns: usize) -> Value {
        let column = |at: usize| json!({"name": format!("c{at}"), "dtype": "int64", "nulls": 0});
        let columns: Vec<Value> = (0..n_columns).map(column).collect();
        json!({"kind": "schema", "name": "wide", "columns": columns})
    }

    #[test]
    fn a_short_output_is_not_kept_and_a_long_one_as_a_table_or_as_text() {
        assert_eq!(keep("t", &ToolOutput::json(schema(10)), TOOL_OUTPUT_BYTES_MAX), None);
        let long = keep("t", &ToolOutput::json(schema(5_000)), TOOL_OUTPUT_BYTES_MAX);
        assert!(matches!(long, Some(Command::Keep { rows: Some(rows), text: None, .. })
            if rows.len() == 5_000));
        let text = "x".repeat(TOOL_OUTPUT_BYTES_MAX + 1);
        let long = keep("t", &ToolOutput::text(text.clone()), TOOL_OUTPUT_BYTES_MAX);
        assert_eq!(long, Some(Command::Keep { tool: "t".into(), rows: None, text: Some(text) }));
    }

    #[test]
    fn the_model_sees_shape_schema_head_and_key() {
        let kept = json!({"kind": "kept", "data_key": "t_1", "place": "data[\"t_1\"]"});
        let mut found = summary(&schema(5_000), &kept);
        let head = found["head"].take();
        assert_eq!((head[0]["name"].as_str(), head.as_array().unwrap().len()), (Some("c0"), 20));
        assert_eq!(
            found,
            json!({"kind": "schema", "name": "wide", "shape": [5_000, 3],
                "schema": {"name": "text", "dtype": "text", "nulls": "number"}, "head": null,
                "data_key": "t_1",
                "text": "`columns` has 5000 rows, of which 20 are shown as `head`; in python_repl all of \
                         them are the DataFrame data[\"t_1\"]"})
        );
        let text = summary(&json!({"kind": "text", "text": "long"}), &kept);
        assert_eq!(text["data_key"], "t_1");
    }

    #[test]
    fn a_long_output_is_cut_in_the_middle_and_says_so() {
        let cut = cut_middle(&"é".repeat(100), 20);
        assert_eq!(cut, "ééééé\n… 180 of 200 bytes left out; ask for less, or aggregate …\nééééé");
        assert_eq!(cut_middle("short", 20), "short");
    }
}
