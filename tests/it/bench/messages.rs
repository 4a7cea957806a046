//! Anthropic's Messages API on the bench: what a round looks like, and what the API refuses.
//!
//! Source: Claude API reference, "Create a Message", "Streaming messages", "Errors" and "Prompt caching"; the
//! words are those of the API, as far as they are known.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::check::Demand;
use super::script::Round;

/// Returns the events of an answer.
pub fn events(round: &Round, model: &str) -> Vec<Value> {
    let mut begun = whole(round, model);
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["stop_details"] = Value::Null;
    begun["usage"]["output_tokens"] = 1.into();
    let mut events =
        vec![json!({"type": "message_start", "message": begun}), json!({"type": "ping"})];
    for (index, block) in content(round).iter().enumerate() {
        let mut empty = block.clone();
        let delta =
            |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let halves = |text: &str| {
            let (head, tail) = text.split_at(text.ceil_char_boundary(text.len() / 2));
            [head.to_owned(), tail.to_owned()]
        };
        let mut deltas = Vec::new();
        match block["type"].as_str().unwrap() {
            "text" => {
                empty["text"] = "".into();
                let pieces = halves(block["text"].as_str().unwrap());
                deltas.extend(pieces.map(|it| delta(json!({"type": "text_delta", "text": it}))));
            }
            "thinking" => {
                empty["thinking"] = "".into();
                empty["signature"] = "".into();
                let pieces = halves(block["thinking"].as_str().unwrap());
                deltas.extend(
                    pieces.map(|it| delta(json!({"type": "thinking_delta", "thinking": it}))),
                );
                let signature = &block["signature"];
                deltas.push(delta(json!({"type": "signature_delta", "signature": signature})));
            }
            "tool_use" => {
                empty["input"] = json!({});
                let pieces = halves(&arguments(round, block));
                deltas.extend(
                    pieces.map(|it| delta(json!({"type": "input_json_delta", "partial_json": it}))),
                );
            }
            _ => {}
        }
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.extend(deltas);
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    if let Some(error) = round.error() {
        let error = json!({"type": error["code"], "message": error["message"]});
        events.push(json!({"type": "error", "error": error}));
        return events;
    }
    let message = whole(round, model);
    let delta = json!({"stop_reason": message["stop_reason"], "stop_sequence": null,
        "stop_details": message["stop_details"]});
    let usage = json!({"output_tokens": message["usage"]["output_tokens"]});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// Returns an answer in one piece.
pub fn whole(round: &Round, model: &str) -> Value {
    let usage = round.usage();
    let cached = usage["input_tokens_details"]["cached_tokens"].as_u64().unwrap();
    let refusal = round.output().iter().find_map(|it| it.pointer("/content/0/refusal"));
    let stop_details =
        refusal.map(|it| json!({"type": "refusal", "category": null, "explanation": it}));
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": model,
        "content": content(round),
        "stop_reason": stop_reason(round),
        "stop_sequence": null,
        "stop_details": stop_details,
        "usage": {
            "input_tokens": usage["input_tokens"].as_u64().unwrap() - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": usage["output_tokens"],
            "output_tokens_details":
                {"thinking_tokens": usage["output_tokens_details"]["reasoning_tokens"]},
        },
    })
}

fn stop_reason(round: &Round) -> &str {
    match round.ending_reason() {
        Some("max_output_tokens") => "max_tokens",
        Some(reason) => reason,
        None if round.output().iter().any(|it| it["type"] == "function_call") => "tool_use",
        None if round.wants_more() => "pause_turn",
        None if round.output().iter().any(|it| it.pointer("/content/0/refusal").is_some()) => {
            "refusal"
        }
        None => "end_turn",
    }
}

fn content(round: &Round) -> Vec<Value> {
    blocks(round.output())
}

/// Returns what a round says as blocks. A thought's signature is its seal, or made of its text.
pub fn blocks(output: &[Value]) -> Vec<Value> {
    let blocks = output.iter().filter_map(|item| match item["type"].as_str()? {
        "reasoning" => Some(match (item.get("redacted"), item.pointer("/content/0/text")) {
            (Some(data), _) => json!({"type": "redacted_thinking", "data": data}),
            (_, Some(text)) => {
                let signature = format!("signed: {}", text.as_str().unwrap());
                json!({"type": "thinking", "thinking": text, "signature": signature})
            }
            (None, None) => {
                json!({"type": "thinking", "thinking": "", "signature": item["encrypted_content"]})
            }
        }),
        "message" => {
            let text = item.pointer("/content/0/text")?;
            Some(json!({"type": "text", "text": text}))
        }
        "function_call" => {
            let input = serde_json::from_str::<Map<String, Value>>(item["arguments"].as_str()?);
            let input = Value::from(input.unwrap_or_default());
            Some(json!({"type": "tool_use", "id": item["call_id"], "name": item["name"], "input": input}))
        }
        _ => None,
    });
    blocks.collect()
}

/// Returns the arguments of a call as they stand in the script, which need not be JSON.
fn arguments(round: &Round, block: &Value) -> String {
    let call = round.output().iter().find(|it| it["call_id"] == block["id"]);
    call.and_then(|it| it["arguments"].as_str()).unwrap().to_owned()
}

/// Returns everything that the API would refuse a request for, or that is not as it should be. `responses` are
/// the outputs that the server has sent so far, as far as they count.
pub fn check(body: &Value, responses: &[Vec<Value>]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut demand = |holds: bool, fault: &str| {
        if !holds {
            faults.push(fault.to_owned());
        }
    };
    let known = [
        "model", "max_tokens", "system", "messages", "tools", "tool_choice", "output_config",
        "stream",
    ];
    for name in body.as_object().into_iter().flatten().map(|it| it.0.as_str()) {
        demand(known.contains(&name), &format!("{name}: Extra inputs are not permitted"));
    }
    demand(body["model"].as_str().is_some_and(|it| !it.is_empty()), "model: Field required");
    let max_tokens = body["max_tokens"].as_u64();
    demand(max_tokens.is_some_and(|it| 0 < it), "max_tokens: Field required");
    demand(body["stream"].is_boolean(), "`stream` is not said");
    let system = body["system"].as_array();
    let is_said = system.is_some_and(|it| it.iter().all(|it| !is_blank(&it["text"])));
    demand(is_said, "system: text content blocks must be non-empty");
    let marks = body.to_string().matches("\"cache_control\"").count();
    let many = format!("A maximum of 4 blocks with cache_control may be provided. Found {marks}.");
    demand(marks <= 4, &many);
    check_tools(body, &mut demand);
    let Some(messages) = body["messages"].as_array().filter(|it| !it.is_empty()) else {
        demand(false, "messages: at least one message is required");
        return faults;
    };
    check_messages(messages, &mut demand);
    // Thoughts go back within a turn: what stands before it may have changed.
    let is_question = |message: &Value| {
        message["role"] == "user" && blocks_of(message).any(|it| it["type"] == "text")
    };
    let turn = messages.iter().rposition(is_question).unwrap_or(0);
    for response in responses {
        check_echo(&messages[turn..], response, &mut demand);
    }
    faults
}

fn check_tools(body: &Value, demand: &mut Demand) {
    let tools = body["tools"].as_array();
    demand(tools.is_none_or(|it| !it.is_empty()), "`tools` is empty");
    demand(tools.is_some() || body.get("tool_choice").is_none(), "a choice among no tools");
    // Forced tool use is an error of the models that think.
    let choice = body.get("tool_choice").map(|it| it["type"].as_str().unwrap_or_default());
    demand(matches!(choice, None | Some("auto" | "none")), "tool_choice: forced tool use");
    for tool in tools.into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        demand(!name.is_empty(), "tools: name: Field required");
        let is_object = tool["input_schema"]["type"] == "object";
        demand(is_object, "tools: input_schema.type: Input should be 'object'");
        demand(
            tool.get("parameters").is_none() && tool.get("function").is_none(),
            "a foreign tool",
        );
    }
    let format = body.pointer("/output_config/format");
    let is_format = |it: &Value| it["type"] == "json_schema" && it["schema"]["type"] == "object";
    demand(format.is_none_or(is_format), "output_config.format: no schema of an object");
    let effort = body.pointer("/output_config/effort").map(|it| it.as_str().unwrap_or_default());
    let is_effort = matches!(effort, None | Some("low" | "medium" | "high" | "xhigh" | "max"));
    demand(is_effort, "output_config.effort: no effort");
}

fn check_messages(messages: &[Value], demand: &mut Demand) {
    demand(messages[0]["role"] == "user", "messages: first message must use the \"user\" role");
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut last_role = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        demand(role == "user" || role == "assistant", &format!("messages.{at}: role `{role}`"));
        demand(role != last_role, "messages: roles must alternate");
        last_role = role;
        demand(
            0 < blocks_of(message).count(),
            &format!("messages.{at}: all messages must have content"),
        );
        let results = blocks_of(message).filter(|it| it["type"] == "tool_result");
        let results: Vec<&str> = results.filter_map(|it| it["tool_use_id"].as_str()).collect();
        let missing: Vec<_> = open.iter().filter(|it| !results.contains(it)).collect();
        let fault = format!(
            "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing:?}"
        );
        demand(missing.is_empty(), &fault);
        let alone: Vec<_> = results.iter().filter(|it| !open.contains(it)).collect();
        let fault = format!(
            "messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {alone:?}"
        );
        demand(alone.is_empty(), &fault);
        let kinds: Vec<_> =
            blocks_of(message).map(|it| it["type"].as_str().unwrap_or_default()).collect();
        let n_results = kinds.iter().take_while(|it| **it == "tool_result").count();
        demand(n_results == results.len(), &format!("messages.{at}: a result behind other blocks"));
        let ends_thinking = kinds.last().is_some_and(|it| it.ends_with("thinking"));
        let fault =
            format!("messages.{at}: The final block in an assistant message cannot be `thinking`");
        demand(!ends_thinking, &fault);
        open.clear();
        for (block, kind) in blocks_of(message).zip(kinds) {
            check_block(block, kind, role, at, demand);
            if kind == "tool_use" {
                let id = block["id"].as_str().unwrap_or_default();
                demand(ids.insert(id), &format!("messages.{at}: `tool_use` ids must be unique"));
                open.push(id);
            }
        }
    }
    demand(open.is_empty(), &format!("calls without result: {open:?}"));
}

fn check_block(block: &Value, kind: &str, role: &str, at: usize, demand: &mut Demand) {
    let is_id = |it: &Value| {
        let is_of = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        it.as_str().is_some_and(|it| !it.is_empty() && it.chars().all(is_of))
    };
    match kind {
        "text" => {
            demand(!is_blank(&block["text"]), "messages: text content blocks must be non-empty");
        }
        "tool_use" => {
            demand(role == "assistant", &format!("messages.{at}: a call of the user's"));
            demand(
                is_id(&block["id"]),
                "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
            );
            demand(
                block["input"].is_object(),
                "tool_use.input: Input should be a valid dictionary",
            );
        }
        "tool_result" => demand(block["content"].is_string(), "tool_result.content: no text"),
        "thinking" => {
            demand(role == "assistant", &format!("messages.{at}: a thought of the user's"));
            demand(!is_blank(&block["signature"]), "thinking.signature: Field required");
            demand(block["thinking"].is_string(), "thinking.thinking: Field required");
            let fault = "thinking.cache_control: Extra inputs are not permitted";
            demand(block.get("cache_control").is_none(), fault);
        }
        "redacted_thinking" => {
            demand(!is_blank(&block["data"]), "redacted_thinking.data: Field required");
        }
        "image" => {
            let kind = block["source"]["type"].as_str();
            demand(matches!(kind, Some("base64" | "url")), "image.source: no source");
        }
        other => demand(false, &format!("messages.{at}: a block of type `{other}`")),
    }
}

/// When an output of a call of this response is there, the whole response is, with its thoughts.
fn check_echo(messages: &[Value], response: &[Value], demand: &mut Demand) {
    let expected = blocks(response);
    let calls: Vec<&Value> = expected.iter().filter_map(|it| it.get("id")).collect();
    let mut results = messages.iter().flat_map(blocks_of).filter_map(|it| it.get("tool_use_id"));
    if !results.any(|it| calls.contains(&it)) {
        return;
    }
    let bare = |block: &Value| {
        let mut block = block.clone();
        block.as_object_mut().map(|it| it.shift_remove("cache_control"));
        block
    };
    let is_there = messages.iter().any(|it| blocks_of(it).map(bare).eq(expected.iter().cloned()));
    let fault =
        format!("Invalid `signature` in `thinking` block, or it is not as it came: {expected:?}");
    demand(is_there, &fault);
}

fn blocks_of(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

fn is_blank(text: &Value) -> bool {
    text.as_str().is_none_or(|it| it.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::check;

    #[track_caller]
    fn check_fault(pointer: &str, value: Value, words: &str) {
        let mut body = json!({"model": "m", "max_tokens": 9, "stream": true,
        "system": [{"type": "text", "text": "I", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "auto"},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "", "signature": "s"},
                {"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "x"}]},
        ]});
        let thought = json!({"type": "reasoning", "encrypted_content": "s"});
        let call =
            json!({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"});
        let responses = [vec![thought, call]];
        assert_eq!(check(&body, &responses), [""; 0]);
        *body.pointer_mut(pointer).unwrap() = value;
        let faults = check(&body, &responses);
        assert!(faults.iter().any(|it| it.contains(words)), "{faults:?}");
    }

    #[test]
    fn what_the_api_refuses_is_noticed() {
        check_fault("/max_tokens", Value::Null, "max_tokens: Field required");
        check_fault("/system/0/text", " ".into(), "must be non-empty");
        check_fault("/messages", json!([]), "at least one message");
        check_fault("/messages/0/role", "assistant".into(), "first message must use");
        check_fault("/messages/0/role", "system".into(), "role `system`");
        check_fault("/messages/1/role", "user".into(), "roles must alternate");
        check_fault("/messages/1/content/0/signature", "".into(), "signature: Field required");
        check_fault("/messages/1/content/0/signature", "t".into(), "Invalid `signature`");
        check_fault("/messages/1/content/1/id", "c.1".into(), "match pattern");
        check_fault("/messages/1/content/1/input", "{}".into(), "valid dictionary");
        check_fault(
            "/messages/2/content/0/tool_use_id",
            "c2".into(),
            "without `tool_result` blocks",
        );
        check_fault("/messages/2/content/0/tool_use_id", "c2".into(), "unexpected `tool_use_id`");
        check_fault("/messages/2/content", json!([]), "must have content");
        check_fault("/tool_choice/type", "any".into(), "forced tool use");
        check_fault("/tools/0/input_schema", json!({}), "Input should be 'object'");
        let marks = vec![json!({"cache_control": {}, "text": "a"}); 5];
        check_fault("/system", marks.into(), "A maximum of 4 blocks");
    }
}
