//! Tools that a provider runs itself, within a response.
//!
//! A hosted tool is a value in [`HOSTED`]: its provider, the type of its items, and how to read one. Its
//! own file declares it and validates its settings. The provider runs it before it answers, so we send no
//! output.

pub mod code_interpreter;
pub mod store;

use serde_json::{Map, Value};

use csv_agent_types::conversation::{Item, ItemKind, ToolCall};
use csv_agent_types::event::ToolOutput;
use csv_agent_types::status::Failure;

use crate::hosted::store::is_id;

/// A tool that a provider runs.
pub struct HostedTool {
    /// Its name at the provider, in events and in errors.
    pub name: &'static str,
    /// Its provider, as [`Provider::kind`](crate::Provider::kind) returns it.
    pub provider: &'static str,
    /// The type of the items that describe a run.
    pub item: &'static str,
    /// Whether it runs code by the model.
    pub runs_code: bool,
    /// Reads such an item; None where the members common to all such items suffice.
    pub handler: Option<fn(&Item) -> HostedCall>,
}

/// Returns whether a hosted tool runs code by the model.
pub fn runs_code(name: &str) -> bool {
    HOSTED.iter().any(|it| it.runs_code && it.name == name)
}

/// Every hosted tool.
pub const HOSTED: &[HostedTool] = &[code_interpreter::TOOL];

/// A finished run of a hosted tool.
#[derive(Debug, Clone, PartialEq)]
pub struct HostedCall {
    /// Its id is that of the item; the arguments are a JSON object.
    pub call: ToolCall,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// The output that the model read.
    pub output: ToolOutput,
    /// Images that it drew, as data URLs.
    pub images: Vec<String>,
    /// The container that it ran in.
    pub container_id: Option<String>,
}

impl HostedTool {
    /// Rejects the tool unless it belongs to the provider of this kind.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Usage` when it belongs to another.
    pub fn check_provider(&self, kind: &str) -> Result<(), Failure> {
        if self.provider == kind {
            return Ok(());
        }
        let message = format!(
            "the tool `{}` belongs to the provider `{}`, but the provider here is `{kind}`",
            self.name, self.provider
        );
        let hint = "ask a server that speaks the Responses API, or run code on this machine with \
                    `--interpreter local`";
        Err(Failure::usage(message).hint(hint))
    }
}

/// Returns the provider's runs among these items, in order: those of tools in [`HOSTED`], and those that a
/// server ran without a declaration.
pub fn calls(items: &[Item]) -> Vec<HostedCall> {
    items.iter().filter_map(call).collect()
}

/// Reads the item of a run; None for other items.
pub fn call(item: &Item) -> Option<HostedCall> {
    let kind = item.type_name()?;
    // A call for the client to run has a `call_id` for its output.
    if item.kind() != ItemKind::Other || !kind.ends_with("_call") || item.call_id().is_some() {
        return None;
    }
    let tool = HOSTED.iter().find(|it| it.item == kind);
    let read = tool.and_then(|it| it.handler).unwrap_or(read_plainly);
    Some(read(item))
}

/// Reads the members that every run has: an id, a status, its input and its output.
fn read_plainly(item: &Item) -> HostedCall {
    const OF_ITEM: [&str; 6] = ["type", "id", "status", "output", "result", "error"];
    let members = item.0.as_object();
    let asked = members.into_iter().flatten().filter(|it| !OF_ITEM.contains(&it.0.as_str()));
    let asked: Map<String, Value> =
        asked.map(|(name, value)| (name.clone(), value.clone())).collect();
    let told = |name: &str| match item.0.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) | None => None,
        Some(other) => Some(other.to_string()),
    };
    let error = told("error");
    let succeeded = error.is_none() && has_ended_well(item);
    let text = error.or_else(|| told("output")).or_else(|| told("result"));
    let text = text.unwrap_or_else(|| format!("it is {}", status(item)));
    let name = item.type_name().and_then(|it| it.strip_suffix("_call"));
    let name = name.filter(|it| is_id(it)).unwrap_or("unknown");
    HostedCall {
        call: tool_call(item, name, &Value::from(asked)),
        succeeded,
        output: output(succeeded, &text),
        images: Vec::new(),
        container_id: None,
    }
}

/// A file of a container that a message of the model cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation {
    /// The container of the file.
    pub container_id: String,
    /// The provider's id.
    pub file_id: String,
    /// The file's own name, which a server may have made up.
    pub filename: String,
}

/// Returns the files that messages among the items cite, each once.
pub fn citations(items: &[Item]) -> Vec<Citation> {
    let mut found: Vec<Citation> = Vec::new();
    let messages = items.iter().filter(|it| it.kind() == ItemKind::AssistantMessage);
    let list = |value: &'_ Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    for part in messages.flat_map(|it| list(&it.0, "content")) {
        for annotation in list(&part, "annotations") {
            let text = |name: &str| annotation[name].as_str().unwrap_or_default().to_owned();
            if text("type") != "container_file_citation" {
                continue;
            }
            let citation = Citation {
                container_id: text("container_id"),
                file_id: text("file_id"),
                filename: text("filename"),
            };
            let is_known = found.iter().any(|it| it.file_id == citation.file_id);
            if !citation.file_id.is_empty() && !citation.container_id.is_empty() && !is_known {
                found.push(citation);
            }
        }
    }
    found
}

/// Returns the conversation without runs in other containers than this one: their variables are gone, and
/// the provider refuses a request that mentions them. Dependent items of the same response are removed or
/// lose their ids.
pub fn only_of_container(items: Vec<Item>, container_id: Option<&str>) -> Vec<Item> {
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    let mut is_orphaned = false;
    for mut item in items {
        let is_run = HOSTED.iter().any(|it| item.type_name() == Some(it.item));
        match item.kind() {
            ItemKind::Other if is_run && item.container_id() != container_id => {
                while kept.last().is_some_and(|it| it.kind() == ItemKind::Reasoning) {
                    kept.pop();
                    is_orphaned = true;
                }
                continue;
            }
            // Items from here on do not depend on the removed run.
            ItemKind::Reasoning | ItemKind::UserMessage | ItemKind::FunctionCallOutput => {
                is_orphaned = false;
            }
            ItemKind::AssistantMessage | ItemKind::FunctionCall if is_orphaned => {
                item.0.as_object_mut().into_iter().for_each(|it| {
                    it.shift_remove("id");
                });
            }
            _ => {}
        }
        kept.push(item);
    }
    kept
}

/// Returns the outputs of a run in an item, to shorten them; None where there are none.
pub fn outputs_mut(item: &mut Item) -> Option<&mut Vec<Value>> {
    HOSTED.iter().find(|it| item.type_name() == Some(it.item))?;
    item.0.get_mut("outputs")?.as_array_mut()
}

fn status(item: &Item) -> &str {
    item.0["status"].as_str().unwrap_or("completed")
}

fn has_ended_well(item: &Item) -> bool {
    status(item) == "completed"
}

fn tool_call(item: &Item, name: &str, arguments: &Value) -> ToolCall {
    ToolCall {
        // A value that is not an item id is not reported as one.
        call_id: item.0["id"].as_str().filter(|it| is_id(it)).unwrap_or(name).to_owned(),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    }
}

fn output(succeeded: bool, text: &str) -> ToolOutput {
    let kind = if succeeded { "text" } else { "error" };
    ToolOutput::json(serde_json::json!({"kind": kind, "text": text}))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Citation, HOSTED, call, citations, only_of_container};
    use csv_agent_types::conversation::Item;

    fn items(value: &Value) -> Vec<Item> {
        serde_json::from_value(value.clone()).unwrap()
    }

    #[test]
    fn a_tool_is_refused_by_every_other_provider() {
        let tool = &HOSTED[0];
        assert!(tool.check_provider("responses").is_ok());
        for kind in ["chat", "builtin"] {
            let refused = tool.check_provider(kind).unwrap_err().to_string();
            let told = "the tool `code_interpreter` belongs to the provider `responses`, but";
            assert_eq!(refused, format!("{told} the provider here is `{kind}`"));
        }
    }

    #[test]
    fn what_nobody_declared_is_read_plainly() {
        let search = Item(json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
            "action": {"query": "rates"}}));
        let found = call(&search).unwrap();
        assert_eq!((found.call.name.as_str(), found.succeeded), ("web_search", true));
        assert_eq!(found.call.arguments, r#"{"action":{"query":"rates"}}"#);
        assert_eq!(found.output.for_model(), "it is completed");
        let mcp = Item(json!({"type": "mcp_call", "id": "mcp_1", "name": "f", "arguments": "{}",
            "output": null, "error": "no such table"}));
        let found = call(&mcp).unwrap();
        assert_eq!((found.call.call_id.as_str(), found.succeeded), ("mcp_1", false));
        assert_eq!(found.output.result["text"], "no such table");
    }

    #[test]
    fn what_we_are_to_answer_is_no_run_of_the_provider() {
        for item in [
            json!({"type": "custom_tool_call", "call_id": "c1", "name": "f", "input": ""}),
            json!({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}),
            json!({"type": "compaction", "encrypted_content": "g"}),
            json!({"type": "message", "role": "assistant", "content": []}),
            json!(7),
        ] {
            assert_eq!(call(&Item(item)), None);
        }
    }

    #[test]
    fn each_file_that_a_message_names_counts_once() {
        let cited = |file_id: &str| {
            json!({"type": "container_file_citation", "container_id": "cntr_1",
            "file_id": file_id, "filename": "plot.png", "start_index": 0, "end_index": 0})
        };
        let annotations =
            json!([cited("cfile_1"), cited("cfile_1"), cited(""), {"type": "url_citation"}]);
        let part = json!({"type": "output_text", "text": "See.", "annotations": annotations});
        let message = json!({"type": "message", "role": "assistant", "content": [part]});
        let expected = Citation {
            container_id: "cntr_1".into(),
            file_id: "cfile_1".into(),
            filename: "plot.png".into(),
        };
        assert_eq!(citations(&items(&json!([message]))), [expected]);
    }

    #[test]
    fn runs_in_a_container_that_is_gone_go_with_what_led_to_them() {
        let run = |id: &str| json!({"type": "code_interpreter_call", "id": format!("ci_{id}"), "container_id": id});
        let thought = |id: &str| json!({"type": "reasoning", "id": id, "summary": []});
        let said =
            |id: &str| json!({"type": "message", "role": "assistant", "id": id, "content": []});
        let said_anew = json!({"type": "message", "role": "assistant", "content": []});
        let user = json!({"type": "message", "role": "user", "content": "q"});
        let before = items(&json!([
            user,
            thought("rs_1"),
            run("a"),
            said("msg_1"),
            user,
            thought("rs_2"),
            run("a"),
            thought("rs_3"),
            said("msg_2"),
            user,
            thought("rs_4"),
            run("b"),
            said("msg_3"),
        ]));
        let after = items(&json!([
            user,
            said_anew,
            user,
            thought("rs_3"),
            said("msg_2"),
            user,
            thought("rs_4"),
            run("b"),
            said("msg_3"),
        ]));
        assert_eq!(only_of_container(before.clone(), Some("b")), after);
        let none = only_of_container(before, None);
        assert!(none.iter().all(|it| it.type_name() != Some("code_interpreter_call")));
    }
}
