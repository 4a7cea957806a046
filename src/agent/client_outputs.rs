//! What the code of a client shows, for the owner of the session: it is the reply of the turn.

use serde_json::{Deserializer, Value};

use csv_agent_render::inert::fence;
use csv_agent_render::table;
use csv_agent_tools::{NO_VALUE, runs_code};
use csv_agent_types::conversation::Item;
use csv_agent_types::frame::Frame;

/// Returns the outputs of the code among the calls of a turn, as Markdown; empty when code shows nothing.
pub(crate) fn shown(items: &[Item]) -> String {
    let calls: Vec<_> = items.iter().filter_map(Item::tool_call).collect();
    let is_of_code = |it: &&Item| {
        calls.iter().any(|call| it.call_id() == Some(&*call.call_id) && runs_code(&call.name))
    };
    let outputs = items.iter().filter(is_of_code).filter_map(|it| it.0["output"].as_str());
    let outputs = outputs.filter(|it| *it != NO_VALUE);
    outputs.map(markdown).filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Returns an output as Markdown. It is text, or JSON that a remark may follow.
fn markdown(output: &str) -> String {
    let json = || Deserializer::from_str(output).into_iter::<Value>().next()?.ok();
    let result = if output.starts_with('{') { json() } else { None }.unwrap_or_default();
    let names = |it: &Value| Some(it.as_str()?.to_owned());
    match (result["kind"].as_str(), result["head"].as_array(), result["columns"].as_array()) {
        (Some("dataframe" | "series"), Some(rows), Some(columns)) => {
            let columns: Vec<String> = columns.iter().filter_map(names).collect();
            let dtype = |it: &str| result["dtypes"][it].as_str().unwrap_or_default().to_owned();
            let n_rows = result["row_count"].as_u64().unwrap_or_default();
            let frame = Frame::of_objects(columns, dtype, rows, n_rows);
            let cut = if frame.is_truncated() {
                format!("\n{} of {n_rows} rows", rows.len())
            } else {
                String::new()
            };
            let printed = block(result["stdout"].as_str().unwrap_or_default());
            let parts = [printed, table::markdown(&frame) + &cut];
            parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n\n")
        }
        (Some("text" | "none"), ..) => {
            let text = result["text"].as_str().filter(|it| *it != NO_VALUE).unwrap_or_default();
            block(&[result["stdout"].as_str().unwrap_or_default(), text].concat())
        }
        (Some("error"), ..) => {
            format!("The call failed.\n\n{}", block(result["text"].as_str().unwrap_or_default()))
        }
        _ => block(output),
    }
}

/// Returns text as a block of code.
fn block(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() {
        return String::new();
    }
    let fence = fence(text);
    format!("{fence}text\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::shown;
    use csv_agent_types::conversation::Item;

    #[track_caller]
    fn check(tool: &str, output: &str, expected: &str) {
        let call =
            json!({"type": "function_call", "call_id": "c", "name": tool, "arguments": "{}"});
        assert_eq!(shown(&[Item(call), Item::output("c", output)]), expected);
    }

    #[test]
    fn code_shows_what_it_prints_and_its_value() {
        check("python_repl", "42\n", "```text\n42\n```");
        check("python_repl", "", "");
        check("python_repl", "a ``` b", "````text\na ``` b\n````");
        let frame = json!({"kind": "dataframe", "head": [{"a": 1}], "columns": ["a"], "row_count": 3,
            "dtypes": {"a": "int64"}, "stdout": "so\n"});
        let table = "```text\nso\n```\n\n| a |\n|---:|\n| 1 |\n\n1 of 3 rows";
        check("python_repl", &format!("{frame}\n(A remark.)"), table);
        let error = json!({"kind": "error", "text": "ZeroDivisionError: division by zero"});
        let text = "The call failed.\n\n```text\nZeroDivisionError: division by zero\n```";
        check("python_repl", &error.to_string(), text);
        check("query_datasets", "42", "");
    }
}
