//! The conversation as messages of blocks: user and assistant alternate, and the outputs of an assistant's
//! calls start the next message.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use csv_agent_types::conversation::{Item, ItemKind, Request};

use crate::wire::messages::reader::BLOCK;
use crate::wire::{SEALED_REASONING, Terms, opaque, outputs};

/// Returns the `messages` member.
///
/// Reasoning is sent back within its turn only. Models refuse reasoning when anything before it has
/// changed, and the items before a turn do: the instructions describe the datasets, and old outputs are
/// shortened. Source: Claude API, "Preserved thinking".
pub(super) fn messages(request: &Request, terms: &Terms) -> Vec<Value> {
    let outputs = outputs(request);
    let asked = request.items.iter().rposition(|it| it.kind() == ItemKind::UserMessage);
    let mut messages = Messages::default();
    let mut said = AssistantMessage::default();
    for (at, item) in request.items.iter().enumerate() {
        let kind = item.kind();
        // Items after the outputs of calls belong to the next response.
        if said.is_answered && kind != ItemKind::FunctionCallOutput {
            said.flush(&outputs, &mut messages);
        }
        match kind {
            ItemKind::Reasoning if asked < Some(at) => said.blocks.extend(thought(item, terms)),
            ItemKind::AssistantMessage => said.blocks.extend(texts(item)),
            ItemKind::FunctionCall => {
                said.blocks.push(call(item));
                said.call_ids.extend(item.call_id());
            }
            ItemKind::FunctionCallOutput => said.is_answered = true,
            ItemKind::UserMessage => {
                said.flush(&outputs, &mut messages);
                messages.add("user", content(item));
            }
            // Reasoning by another server, and items that no server of this dialect knows.
            ItemKind::Reasoning | ItemKind::Other => {}
        }
    }
    said.flush(&outputs, &mut messages);
    messages.0
}

#[derive(Default)]
struct Messages(Vec<Value>);

impl Messages {
    /// Adds blocks, to the last message when it has the same role.
    fn add(&mut self, role: &str, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        let last = self.0.last_mut().filter(|it| it["role"] == role);
        match last.and_then(|it| it["content"].as_array_mut()) {
            Some(content) => content.extend(blocks),
            None => self.0.push(json!({"role": role, "content": blocks})),
        }
    }
}

/// The part of a response read so far.
#[derive(Default)]
struct AssistantMessage<'a> {
    blocks: Vec<Value>,
    call_ids: Vec<&'a str>,
    is_answered: bool,
}

impl AssistantMessage<'_> {
    /// Appends the message, and the outputs of its calls.
    fn flush(&mut self, outputs: &HashMap<&str, String>, messages: &mut Messages) {
        let AssistantMessage { mut blocks, call_ids, .. } = std::mem::take(self);
        // The API refuses a message that ends with reasoning.
        while blocks.last().is_some_and(is_thought) {
            blocks.pop();
        }
        messages.add("assistant", blocks);
        let results = call_ids.into_iter().map(|call_id| {
            let content = outputs.get(call_id).map_or("", String::as_str);
            json!({"type": "tool_result", "tool_use_id": id(call_id), "content": content})
        });
        messages.add("user", results.collect());
    }
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// Returns reasoning as received, with its signature.
fn thought(item: &Item, terms: &Terms) -> Option<Value> {
    let block = opaque::kept(item, BLOCK, &terms.origin)?;
    (is_thought(block) && !terms.omitted.contains(SEALED_REASONING)).then(|| block.clone())
}

/// Returns the texts of a message, each a block as received. The API refuses blank ones.
fn texts(item: &Item) -> Vec<Value> {
    let parts = item.0.get("content").and_then(Value::as_array);
    let parts = parts.into_iter().flatten().filter_map(|it| it.get("text").or(it.get("refusal")));
    let texts: Vec<&str> = match item.0.get("content") {
        Some(Value::String(text)) => vec![text],
        _ => parts.filter_map(Value::as_str).collect(),
    };
    let texts = texts.into_iter().filter(|it| !it.trim().is_empty());
    texts.map(|it| json!({"type": "text", "text": it})).collect()
}

fn call(item: &Item) -> Value {
    let member = |name: &str| item.0.get(name).and_then(Value::as_str).unwrap_or_default();
    // Arguments that are not an object cannot be sent; the output states the error.
    let input: Map<String, Value> = serde_json::from_str(member("arguments")).unwrap_or_default();
    json!({"type": "tool_use", "id": id(member("call_id")), "name": member("name"), "input": input})
}

/// Returns a call's id in a form that the API accepts; ids of other servers may contain more characters.
fn id(call_id: &str) -> String {
    call_id.replace(|it: char| !it.is_ascii_alphanumeric() && it != '_' && it != '-', "_")
}

/// Returns a user's message: texts and images.
fn content(item: &Item) -> Vec<Value> {
    let parts = item.0.get("content").and_then(Value::as_array);
    let images = parts.into_iter().flatten().filter(|it| it["type"] == "input_image");
    let images = images.filter_map(|it| image(it["image_url"].as_str()?));
    texts(item).into_iter().chain(images).collect()
}

fn image(url: &str) -> Option<Value> {
    let source = match url.strip_prefix("data:") {
        Some(data) => {
            let (media_type, data) = data.split_once(";base64,")?;
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
        None => json!({"type": "url", "url": url}),
    };
    Some(json!({"type": "image", "source": source}))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::messages;
    use crate::wire::samples::{self, output, terms, user};
    use crate::wire::{SEALED_REASONING, Terms};

    #[track_caller]
    fn check(items: Value, expected: Value) {
        check_with(&terms(), items, expected);
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`json!([…])` reads better without a `&`")]
    fn check_with(terms: &Terms, items: Value, expected: Value) {
        let request = samples::conversation(items);
        assert_eq!(Value::from(messages(&request, terms)).to_string(), expected.to_string());
    }

    fn says(text: &str) -> Value {
        json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": text}]})
    }

    fn calls(call_id: &str, arguments: &str) -> Value {
        json!({"type": "function_call", "call_id": call_id, "name": "f", "arguments": arguments})
    }

    fn thinks(signature: &str) -> Value {
        let block = thinking(signature);
        json!({"type": "reasoning", "summary": [], "opaque": {"members": {"block": block},
            "server": "https://a.example/v1", "model": "m"}})
    }

    fn thinking(signature: &str) -> Value {
        json!({"type": "thinking", "thinking": "", "signature": signature})
    }

    fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    fn tool_use(id: &str, input: &Value) -> Value {
        json!({"type": "tool_use", "id": id, "name": "f", "input": input})
    }

    fn result(id: &str) -> Value {
        json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
    }

    #[test]
    fn blocks_stay_in_order_and_outputs_begin_the_next_message() {
        check(
            json!([
                user("q"),
                thinks("s1"),
                says("Let me see."),
                calls("c1", "{\"a\":1.0}"),
                calls("c2", "{}"),
                output("c2"),
                output("c1"),
                thinks("s2"),
                calls("c3", "{}"),
                output("c3"),
            ]),
            json!([
                {"role": "user", "content": [text("q")]},
                {"role": "assistant", "content": [thinking("s1"), text("Let me see."),
                    tool_use("c1", &json!({"a": 1.0})), tool_use("c2", &json!({}))]},
                {"role": "user", "content": [result("c1"), result("c2")]},
                {"role": "assistant", "content": [thinking("s2"), tool_use("c3", &json!({}))]},
                {"role": "user", "content": [result("c3")]},
            ]),
        );
    }

    #[test]
    fn thoughts_of_earlier_turns_other_models_and_other_servers_stay_behind() {
        let items = json!([
            user("q"),
            thinks("s1"),
            says("One."),
            user("and?"),
            thinks("s2"),
            calls("c1", "{}"),
            output("c1")
        ]);
        let expected = |blocks: Value| {
            json!([
                {"role": "user", "content": [text("q")]},
                {"role": "assistant", "content": [text("One.")]},
                {"role": "user", "content": [text("and?")]},
                {"role": "assistant", "content": blocks},
                {"role": "user", "content": [result("c1")]},
            ])
        };
        let bare = || expected(json!([tool_use("c1", &json!({}))]));
        check(items.clone(), expected(json!([thinking("s2"), tool_use("c1", &json!({}))])));
        let mut refused = terms();
        refused.omitted.insert(SEALED_REASONING.to_owned());
        check_with(&refused, items.clone(), bare());
        let mut other = terms();
        other.origin.model = "n".to_owned();
        check_with(&other, items, bare());
    }

    #[test]
    fn what_the_api_would_refuse_is_left_out_or_put_right() {
        let foreign = json!({"type": "reasoning", "summary": [], "encrypted_content": "g"});
        let refusal = json!({"type": "message", "role": "assistant",
            "content": [{"type": "refusal", "refusal": "I cannot."}]});
        check(
            json!([
                user("q"),
                foreign,
                calls("functions.f:0", "{\"code\":"),
                output("functions.f:0"),
                says(" "),
                thinks("s1"),
                user("go on"),
                refusal,
                user(""),
                user("and?")
            ]),
            json!([
                {"role": "user", "content": [text("q")]},
                {"role": "assistant", "content": [tool_use("functions_f_0", &json!({}))]},
                {"role": "user", "content": [result("functions_f_0"), text("go on")]},
                {"role": "assistant", "content": [text("I cannot.")]},
                {"role": "user", "content": [text("and?")]},
            ]),
        );
    }

    #[test]
    fn pictures_are_blocks() {
        let images = ["data:image/png;base64,AA", "https://a.example/b.png"]
            .map(|it| json!({"type": "input_image", "image_url": it}));
        let [data, url] = images;
        let seen = json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "q"}, data, url]});
        check(
            json!([seen]),
            json!([{"role": "user", "content": [
                text("q"),
                {"type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
                {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
            ]}]),
        );
    }
}
