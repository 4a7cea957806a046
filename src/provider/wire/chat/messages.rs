//! The conversation as messages: each response is one message, directly followed by the outputs of its
//! calls.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use csv_agent_types::conversation::{Item, ItemKind, Request};

use crate::wire::chat::calls::EXTRA_CONTENT;
use crate::wire::chat::reasoning::{REASONING_CONTENT, REASONING_DETAILS};
use crate::wire::{Terms, opaque, outputs};

/// Returns the `messages` member: the instructions, then the conversation.
pub(super) fn messages(request: &Request, terms: &Terms) -> Vec<Value> {
    let outputs = outputs(request);
    let mut messages = vec![json!({"role": "system", "content": request.instructions})];
    let mut said = AssistantMessage::new(terms);
    for item in &request.items {
        match item.kind() {
            ItemKind::AssistantMessage => {
                // Items after the outputs of calls belong to the next response.
                if said.is_answered {
                    said.flush(&outputs, &mut messages);
                }
                said.texts.extend(text_of(item));
            }
            ItemKind::FunctionCall => {
                if said.is_answered {
                    said.flush(&outputs, &mut messages);
                }
                said.calls.push(item);
            }
            ItemKind::FunctionCallOutput => said.is_answered = true,
            ItemKind::UserMessage => {
                said.flush(&outputs, &mut messages);
                messages.push(json!({"role": "user", "content": content(item)}));
            }
            ItemKind::Reasoning => {
                if said.is_answered {
                    said.flush(&outputs, &mut messages);
                }
                said.reasoning = Some(item);
            }
            // Servers of this dialect know no other items.
            ItemKind::Other => {}
        }
    }
    said.flush(&outputs, &mut messages);
    messages
}

/// The part of a response read so far.
struct AssistantMessage<'a> {
    terms: &'a Terms,
    reasoning: Option<&'a Item>,
    texts: Vec<String>,
    calls: Vec<&'a Item>,
    is_answered: bool,
}

impl<'a> AssistantMessage<'a> {
    fn new(terms: &'a Terms) -> AssistantMessage<'a> {
        AssistantMessage {
            terms,
            reasoning: None,
            texts: Vec::new(),
            calls: Vec::new(),
            is_answered: false,
        }
    }

    /// Appends the message, and an output for each of its calls.
    fn flush(&mut self, outputs: &HashMap<&str, String>, messages: &mut Vec<Value>) {
        let AssistantMessage { terms, reasoning, texts, calls, .. } =
            std::mem::replace(self, AssistantMessage::new(self.terms));
        if texts.is_empty() && calls.is_empty() {
            return;
        }
        let text = texts.join("\n\n");
        let mut message = Map::new();
        message.insert("role".into(), "assistant".into());
        message.insert("content".into(), if text.is_empty() { Value::Null } else { text.into() });
        for name in [REASONING_CONTENT, REASONING_DETAILS] {
            let kept = reasoning.and_then(|it| kept(it, name, terms));
            message.extend(kept.map(|it| (name.to_owned(), it.clone())));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".into(), calls.iter().map(|it| call(it, terms)).collect());
        } else if message["content"].is_null() {
            return;
        }
        messages.push(message.into());
        for item in calls {
            let call_id = item.call_id().unwrap_or_default();
            let content = outputs.get(call_id).map_or("", String::as_str);
            messages.push(json!({"role": "tool", "tool_call_id": call_id, "content": content}));
        }
    }
}

fn text_of(item: &Item) -> Option<String> {
    Some(item.text()).filter(|it| !it.is_empty()).or_else(|| item.refusal())
}

/// Returns a member of an item that the server expects back, unless it refused that before.
fn kept<'a>(item: &'a Item, name: &str, terms: &Terms) -> Option<&'a Value> {
    opaque::kept(item, name, &terms.origin).filter(|_| !terms.omitted.contains(name))
}

fn call(item: &Item, terms: &Terms) -> Value {
    let member = |name: &str| item.0.get(name).and_then(Value::as_str).unwrap_or_default();
    let arguments = member("arguments");
    // One call with invalid JSON makes some servers refuse the whole request. The output that follows
    // states the error.
    let is_object = serde_json::from_str::<Map<String, Value>>(arguments).is_ok();
    let mut call = json!({
        "id": member("call_id"),
        "type": "function",
        "function": {
            "name": member("name"),
            "arguments": if is_object { arguments } else { "{}" },
        },
    });
    if let Some(extra) = kept(item, EXTRA_CONTENT, terms) {
        call[EXTRA_CONTENT] = extra.clone();
    }
    call
}

/// Returns a user's message: text, or parts when it contains images.
fn content(item: &Item) -> Value {
    let parts = item.0.get("content").and_then(Value::as_array);
    let is_image = |part: &Value| part["type"] == "input_image";
    let Some(parts) = parts.filter(|it| it.iter().any(is_image)) else {
        return item.text().into();
    };
    let part = |part: &Value| {
        if is_image(part) {
            json!({"type": "image_url", "image_url": {"url": part["image_url"]}})
        } else {
            json!({"type": "text", "text": part["text"]})
        }
    };
    parts.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::messages;
    use crate::wire::Terms;
    use crate::wire::samples::{self, output, terms, user};

    #[track_caller]
    fn check(items: Value, expected: Value) {
        check_with(&terms(), items, expected);
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`json!([…])` reads better without a `&`")]
    fn check_with(terms: &Terms, items: Value, expected: Value) {
        let request = samples::conversation(items);
        let mut found = messages(&request, terms);
        assert_eq!(found.remove(0), json!({"role": "system", "content": "I"}));
        assert_eq!(Value::from(found).to_string(), expected.to_string());
    }

    fn says(text: &str) -> Value {
        json!({"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
    }

    fn calls(call_id: &str, arguments: &str) -> Value {
        json!({"type": "function_call", "id": "fc_1", "call_id": call_id, "name": "f",
            "arguments": arguments})
    }

    fn call(call_id: &str, arguments: &str) -> Value {
        json!({"id": call_id, "type": "function",
            "function": {"name": "f", "arguments": arguments}})
    }

    fn tool(call_id: &str) -> Value {
        json!({"role": "tool", "tool_call_id": call_id, "content": "x"})
    }

    #[test]
    fn a_round_is_one_message_with_its_outputs_behind_it() {
        let thought = json!({"type": "reasoning", "summary": [], "encrypted_content": "g"});
        check(
            json!([
                user("q"),
                thought,
                says("Let me see."),
                calls("c1", "{\"a\":1}"),
                calls("c2", "{}"),
                output("c2"),
                output("c1"),
                says("Done."),
                user("and?"),
            ]),
            json!([
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "Let me see.",
                 "tool_calls": [call("c1", "{\"a\":1}"), call("c2", "{}")]},
                tool("c1"),
                tool("c2"),
                {"role": "assistant", "content": "Done."},
                {"role": "user", "content": "and?"},
            ]),
        );
    }

    #[test]
    fn rounds_stay_apart_and_text_after_a_call_stays_with_it() {
        check(
            json!([
                user("q"),
                calls("c1", "{}"),
                says("I look."),
                output("c1"),
                calls("c2", "{}"),
                output("c2"),
            ]),
            json!([
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": "I look.", "tool_calls": [call("c1", "{}")]},
                tool("c1"),
                {"role": "assistant", "content": null, "tool_calls": [call("c2", "{}")]},
                tool("c2"),
            ]),
        );
    }

    #[test]
    fn what_a_server_would_refuse_is_left_out() {
        let refusal = json!({"type": "message", "role": "assistant",
            "content": [{"type": "refusal", "refusal": "I cannot."}]});
        let unknown = json!({"type": "compaction", "encrypted_content": "g"});
        check(
            json!([user("q"), calls("c1", "{\"code\":"), output("c1"), unknown, refusal, says("")]),
            json!([
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": null, "tool_calls": [call("c1", "{}")]},
                tool("c1"),
                {"role": "assistant", "content": "I cannot."},
            ]),
        );
        check(json!([user("q"), says("")]), json!([{"role": "user", "content": "q"}]));
    }

    /// Adds members to an item that only its sender may get back.
    #[expect(clippy::needless_pass_by_value, reason = "`json!({…})` reads better without a `&`")]
    fn keeps(mut item: Value, members: Value) -> Value {
        item["opaque"] =
            json!({"members": members, "server": "https://a.example/v1", "model": "m"});
        item
    }

    #[test]
    fn the_sender_gets_back_what_it_sent_and_nobody_else_does() {
        let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
        let thought = |text: &str| {
            let members =
                json!({"reasoning_content": text, "reasoning_details": details, "role": "user"});
            keeps(json!({"type": "reasoning", "summary": []}), members)
        };
        let signed = json!({"google": {"thought_signature": "s"}});
        let items = json!([
            user("q"),
            thought("Look."),
            keeps(calls("c1", "{}"), json!({"extra_content": signed, "id": "c9"})),
            output("c1"),
            thought("Done."),
            says("Done."),
        ]);
        let mut terms = terms();
        let mut called = call("c1", "{}");
        called["extra_content"] = signed.clone();
        check_with(
            &terms,
            items.clone(),
            json!([
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": null, "reasoning_content": "Look.",
                 "reasoning_details": details, "tool_calls": [called]},
                tool("c1"),
                {"role": "assistant", "content": "Done.", "reasoning_content": "Done.",
                 "reasoning_details": details},
            ]),
        );
        terms.omitted.insert("reasoning_details".to_owned());
        check_with(
            &terms,
            items.clone(),
            json!([
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": null, "reasoning_content": "Look.",
                 "tool_calls": [called]},
                tool("c1"),
                {"role": "assistant", "content": "Done.", "reasoning_content": "Done."},
            ]),
        );
        terms.origin.model = "n".to_owned();
        check_with(
            &terms,
            items,
            json!([
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": null, "tool_calls": [call("c1", "{}")]},
                tool("c1"),
                {"role": "assistant", "content": "Done."},
            ]),
        );
    }

    #[test]
    fn pictures_are_parts() {
        let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AA"});
        let seen = json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "q"}, image]});
        check(
            json!([seen]),
            json!([{"role": "user", "content": [
                {"type": "text", "text": "q"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
            ]}]),
        );
    }
}
