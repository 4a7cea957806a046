//! Chat Completions on the bench: what a round looks like, and what must hold of every request.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::check::{Demand, check_schema};
use super::script::Round;

/// Returns the chunks of an answer.
pub fn chunks(round: &Round, model: &str) -> Vec<Value> {
    let chunk = |delta: Value, finish_reason: Option<&str>| {
        json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
            "usage": null})
    };
    let message = message(round);
    let mut chunks = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
    for name in ["reasoning_content", "content", "refusal"] {
        let Some(text) = message[name].as_str() else { continue };
        // Two deltas, so that joining them is tested.
        let (head, tail) = text.split_at(text.ceil_char_boundary(text.len() / 2));
        chunks.extend([head, tail].map(|it| chunk(json!({name: it}), None)));
    }
    for block in message["reasoning_details"].as_array().into_iter().flatten() {
        // The signature of a text comes behind it.
        let mut begun = block.clone();
        let signature = begun.as_object_mut().unwrap().shift_remove("signature");
        chunks.push(chunk(json!({"reasoning_details": [begun]}), None));
        if let Some(signature) = signature {
            begun["text"] = "".into();
            begun["signature"] = signature;
            chunks.push(chunk(json!({"reasoning_details": [begun]}), None));
        }
    }
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let mut begun = call.clone();
        begun["index"] = index.into();
        begun["function"]["arguments"] = "".into();
        chunks.push(chunk(json!({"tool_calls": [begun]}), None));
        let arguments = call["function"]["arguments"].as_str().unwrap();
        let (head, tail) = arguments.split_at(arguments.ceil_char_boundary(arguments.len() / 2));
        for piece in [head, tail] {
            let piece = json!({"index": index, "function": {"arguments": piece}});
            chunks.push(chunk(json!({"tool_calls": [piece]}), None));
        }
    }
    if let Some(error) = round.error() {
        chunks.push(json!({"error": error}));
        return chunks;
    }
    chunks.push(chunk(json!({}), Some(finish_reason(round))));
    let mut counted = chunk(json!({}), None);
    counted["choices"] = json!([]);
    counted["usage"] = usage(round);
    chunks.push(counted);
    chunks
}

/// Returns an answer in one piece.
pub fn whole(round: &Round, model: &str) -> Value {
    if let Some(error) = round.error() {
        return json!({"error": error});
    }
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model,
        "choices": [{"index": 0, "message": message(round), "finish_reason": finish_reason(round)}],
        "usage": usage(round)})
}

fn usage(round: &Round) -> Value {
    let usage = round.usage();
    json!({
        "prompt_tokens": usage["input_tokens"],
        "completion_tokens": usage["output_tokens"],
        "total_tokens": usage["total_tokens"],
        "prompt_tokens_details": usage["input_tokens_details"],
        "completion_tokens_details": usage["output_tokens_details"],
    })
}

fn finish_reason(round: &Round) -> &str {
    match round.ending_reason() {
        Some("max_output_tokens") => "length",
        Some(reason) => reason,
        None if round.output().iter().any(|it| it["type"] == "function_call") => "tool_calls",
        None => "stop",
    }
}

/// Returns what a round says as one message.
fn message(round: &Round) -> Value {
    message_of(round.output())
}

fn message_of(output: &[Value]) -> Value {
    let parts = |name: &str| {
        let contents = output.iter().filter_map(|it| it["content"].as_array()).flatten();
        let texts = contents.filter(|it| it["type"] != "reasoning_text");
        let texts = texts.filter_map(|it| it[name].as_str());
        let texts: String = texts.collect();
        if texts.is_empty() { Value::Null } else { texts.into() }
    };
    let thoughts = output.iter().filter_map(|it| it.pointer("/content/0"));
    let thoughts = thoughts.filter(|it| it["type"] == "reasoning_text");
    let thoughts: String = thoughts.filter_map(|it| it["text"].as_str()).collect();
    let calls: Vec<Value> = output.iter().filter_map(call).collect();
    let mut message = json!({"role": "assistant", "content": parts("text")});
    if !thoughts.is_empty() {
        message["reasoning_content"] = thoughts.into();
    }
    let blocks = output.iter().find_map(|it| it.get("reasoning_details"));
    if let Some(blocks) = blocks {
        message["reasoning_details"] = blocks.clone();
    }
    if !parts("refusal").is_null() {
        message["refusal"] = parts("refusal");
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    message
}

fn call(item: &Value) -> Option<Value> {
    let function = json!({"name": item["name"], "arguments": item["arguments"]});
    let mut call = json!({"id": item["call_id"], "type": "function", "function": function});
    if let Some(extra) = item.get("extra_content") {
        call["extra_content"] = extra.clone();
    }
    (item["type"] == "function_call").then_some(call)
}

/// Forgets what a server demands back from the model that it sent it to: another model is asked now.
pub fn forget_reasoning(responses: &mut [Vec<Value>]) {
    for item in responses.iter_mut().flatten().filter_map(Value::as_object_mut) {
        item.retain(|name, _| !matches!(name.as_str(), "extra_content" | "reasoning_details"));
        if item["type"] == "reasoning" {
            item["type"] = "forgotten".into();
            item.shift_remove("content");
        }
    }
}

/// Returns everything that is wrong with a request. `responses` are the outputs that the server has
/// sent so far, as far as they count.
pub fn check(body: &Value, responses: &[Vec<Value>]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut demand = |holds: bool, fault: &str| {
        if !holds {
            faults.push(fault.to_owned());
        }
    };
    demand(body["model"].as_str().is_some_and(|it| !it.is_empty()), "no `model`");
    demand(body["stream"].is_boolean(), "`stream` is not said");
    for name in ["input", "instructions", "store", "include", "text", "reasoning"] {
        demand(body.get(name).is_none(), &format!("`{name}` belongs to the other dialect"));
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        demand(tool["type"] == "function", "a tool is no function");
        let function = &tool["function"];
        let name = function["name"].as_str().unwrap_or_default();
        demand(!name.is_empty(), "a tool has no name");
        demand(function["parameters"]["type"] == "object", "parameters are no object");
        check_schema(&function["parameters"], name, &mut demand);
    }
    let has_tools = body["tools"].as_array().is_some_and(|it| !it.is_empty());
    demand(body.get("tools").is_none() || has_tools, "`tools` is empty");
    demand(has_tools || body.get("tool_choice").is_none(), "a choice among no tools");
    if let Some(format) = body.get("response_format") {
        let is_strict = &format["json_schema"]["strict"];
        demand(is_strict.is_boolean(), "whether the answer's format is strict is not said");
        if *is_strict == true {
            check_schema(&format["json_schema"]["schema"], "response_format", &mut demand);
        }
        demand(!has_tools || body["tool_choice"] == "none", "a format that forbids calls");
    }
    let Some(messages) = body["messages"].as_array() else {
        demand(false, "`messages` is no list");
        return faults;
    };
    check_roles(messages, &mut demand);
    for response in responses {
        check_echo(messages, response, &mut demand);
    }
    faults
}

/// One system message, then users and assistants; behind each assistant's calls their outputs.
fn check_roles(messages: &[Value], demand: &mut Demand) {
    let system = messages.first().filter(|it| it["role"] == "system");
    let instructions = system.and_then(|it| it["content"].as_str());
    demand(instructions.is_some_and(|it| !it.trim().is_empty()), "no instructions");
    let mut open: HashSet<&str> = HashSet::new();
    let mut last_role = "system";
    for message in messages.iter().skip(1) {
        let role = message["role"].as_str().unwrap_or_default();
        if role != "tool" {
            demand(open.is_empty(), &format!("`{role}` before the outputs of {open:?}"));
            open.clear();
        }
        match role {
            "user" => {
                let content = &message["content"];
                let is_text = content.as_str().is_some_and(|it| !it.is_empty());
                demand(is_text || content.is_array(), "a user says nothing");
            }
            "assistant" => {
                demand(last_role != "assistant", "one response is two messages");
                let calls = message["tool_calls"].as_array();
                let says = message["content"].as_str().is_some_and(|it| !it.is_empty());
                demand(says || calls.is_some(), "an assistant says nothing");
                demand(calls.is_none_or(|it| !it.is_empty()), "`tool_calls` is empty");
                for call in calls.into_iter().flatten() {
                    let id = call["id"].as_str().unwrap_or_default();
                    demand(!id.is_empty() && open.insert(id), &format!("two calls are `{id}`"));
                    let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                    let arguments = serde_json::from_str::<Value>(arguments);
                    let is_object = arguments.is_ok_and(|it| it.is_object());
                    demand(is_object, &format!("the arguments of `{id}` are no object"));
                    demand(call["type"] == "function", &format!("`{id}` is no function"));
                }
            }
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                demand(open.remove(id), &format!("the output of `{id}` has no call before it"));
                demand(message["content"].is_string(), &format!("the output of `{id}` is no text"));
            }
            other => demand(false, &format!("a message of `{other}`")),
        }
        last_role = role;
    }
    demand(open.is_empty(), &format!("calls without output: {open:?}"));
    demand(matches!(last_role, "user" | "tool"), "the last word is not the user's");
}

/// When an output of a call of this response is there, the whole response is, with what was thought and signed:
/// `DeepSeek` and Gemini answer 400 to a conversation without.
fn check_echo(messages: &[Value], response: &[Value], demand: &mut Demand) {
    let calls: Vec<Value> = response.iter().filter_map(call).collect();
    let is_of = |message: &Value| calls.iter().any(|it| it["id"] == message["tool_call_id"]);
    if !messages.iter().any(is_of) {
        return;
    }
    let sent = message_of(response);
    let names = |calls: &[Value]| {
        let of = |it: &Value| {
            (it["id"].clone(), it["function"]["name"].clone(), it.get("extra_content").cloned())
        };
        calls.iter().map(of).collect::<Vec<_>>()
    };
    let is_there = messages.iter().any(|it| {
        let made = it["tool_calls"].as_array();
        ["content", "reasoning_content", "reasoning_details"]
            .iter()
            .all(|name| it[name] == sent[name])
            && made.is_some_and(|it| names(it) == names(&calls))
    });
    demand(is_there, &format!("a response did not go back as it came: {calls:?}"));
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    #[track_caller]
    fn check_fault(pointer: &str, value: Value, words: &str) {
        let call = json!({"id": "c1", "type": "function",
            "function": {"name": "f", "arguments": "{}"}});
        let mut body = json!({"model": "m", "stream": true, "messages": [
            {"role": "system", "content": "I"},
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
        ]});
        let item = json!({"type": "function_call", "call_id": "c1", "name": "f"});
        let responses = [vec![item]];
        assert_eq!(check(&body, &responses), [""; 0]);
        *body.pointer_mut(pointer).unwrap() = value;
        let faults = check(&body, &responses);
        assert!(faults.iter().any(|it| it.contains(words)), "{faults:?}");
    }

    #[test]
    fn a_wrong_conversation_is_noticed() {
        check_fault("/messages/0/role", "user".into(), "no instructions");
        check_fault("/messages/1/role", "developer".into(), "a message of `developer`");
        check_fault("/messages/1/role", "assistant".into(), "one response is two messages");
        check_fault("/messages/2/tool_calls", json!([]), "`tool_calls` is empty");
        check_fault("/messages/2/content", "so".into(), "did not go back as it came");
        check_fault("/messages/3/tool_call_id", "c2".into(), "has no call before it");
        check_fault("/messages/3/content", json!({}), "is no text");
        check_fault("/messages/3/role", "user".into(), "`user` before the outputs");
        check_fault("/messages/2/tool_calls/0/function/arguments", "{".into(), "are no object");
    }
}
