//! Anthropic's Messages API: requests to JSON, events to responses.
//!
//! The conversation is stored as items of the Responses API and converted to messages here, so that a
//! session can change servers. Source: Claude API reference, "Create a Message", "Streaming messages",
//! "Prompt caching", "Structured outputs" and "Errors"; the types of the Python package anthropic 2.13.0.

mod conversation;
mod reader;

use serde_json::{Map, Value, json};

use csv_agent_types::conversation::{Request, ToolChoice, ToolDeclaration};
use csv_agent_types::limits::{ANSWER_TOKENS_MAX, ANSWER_TOKENS_UNSTREAMED_MAX};

use crate::models;
use crate::wire::{CACHE_CONTROL, Terms, effort};

pub(crate) use reader::MessagesReader;

/// The version of the API. Source: Claude API reference, "Versions".
pub(crate) const VERSION: &str = "2023-06-01";

/// Returns the body of `POST /messages` for a request.
///
/// Parts that stay the same from round to round come first, and two marks tell the provider where to cache:
/// after the tools and instructions, and at the end.
pub(crate) fn encode(request: &Request, terms: &Terms) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.as_str().into());
    body.insert("max_tokens".into(), max_tokens(request, terms).into());
    let mut system = json!({"type": "text", "text": request.instructions});
    mark(&mut system, terms);
    body.insert("system".into(), json!([system]));
    let mut messages = conversation::messages(request, terms);
    let last = messages.last_mut().and_then(|it| it["content"].as_array_mut()?.last_mut());
    if let Some(last) = last.filter(|it| it["type"] != "thinking") {
        mark(last, terms);
    }
    body.insert("messages".into(), messages.into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().filter_map(tool).collect());
        let choice = if request.tool_choice == ToolChoice::None { "none" } else { "auto" };
        body.insert("tool_choice".into(), json!({"type": choice}));
    }
    let output = output_config(request, terms);
    if !output.is_empty() {
        body.insert("output_config".into(), output.into());
    }
    body.insert("stream".into(), terms.stream.into());
    Value::Object(body)
}

/// Returns the maximum length of the answer, which the API requires. A non-streamed answer must not take
/// longer than a connection lasts.
fn max_tokens(request: &Request, terms: &Terms) -> u64 {
    let bound = if terms.stream { ANSWER_TOKENS_MAX } else { ANSWER_TOKENS_UNSTREAMED_MAX };
    models::output_tokens(&request.model).min(bound)
}

fn mark(block: &mut Value, terms: &Terms) {
    if !terms.omitted.contains(CACHE_CONTROL) {
        block[CACHE_CONTROL] = json!({"type": "ephemeral"});
    }
}

/// A schema outside of the enforced subset is only in the instructions.
fn output_config(request: &Request, terms: &Terms) -> Map<String, Value> {
    let mut output = Map::new();
    if let Some(it) = request.reasoning.filter(|_| !terms.omitted.contains("reasoning")) {
        output.insert("effort".into(), effort(it).into());
    }
    let format = request.format.as_ref().filter(|it| it.strict);
    if let Some(format) = format.filter(|_| !terms.omitted.contains("response_format")) {
        output.insert("format".into(), json!({"type": "json_schema", "schema": format.schema}));
    }
    output
}

/// Tools of another provider are rejected before this. Tools are not `strict`: the API limits the optional
/// values in all schemas of a request, and arguments are checked here anyway.
fn tool(tool: &ToolDeclaration) -> Option<Value> {
    let ToolDeclaration::Function { name, description, parameters } = tool else { return None };
    Some(json!({"name": name, "description": description, "input_schema": parameters}))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::encode;
    use crate::wire::{Terms, samples};
    use csv_agent_types::conversation::{AnswerFormat, Effort, Request, ToolChoice};

    fn request() -> Request {
        samples::request("claude-sonnet-5-5")
    }

    fn terms() -> Terms {
        Terms { stream: true, ..Terms::default() }
    }

    #[test]
    fn the_body_is_whole() {
        let mark = json!({"type": "ephemeral"});
        let expected = json!({
            "model": "claude-sonnet-5-5",
            "max_tokens": 64_000,
            "system": [{"type": "text", "text": "I", "cache_control": mark}],
            "messages": [{"role": "user",
                "content": [{"type": "text", "text": "q", "cache_control": mark}]}],
            "tools": [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
            "tool_choice": {"type": "auto"},
            "stream": true,
        });
        let body = encode(&request(), &terms());
        assert_eq!(body.to_string(), expected.to_string(), "the order counts, too");
    }

    #[track_caller]
    fn check(request: &Request, terms: &Terms, member: &str, value: &Value) {
        let body = encode(request, terms);
        assert_eq!(body.get(member).unwrap_or(&Value::Null), value, "{body}");
    }

    #[test]
    fn what_is_asked_for_is_sent() {
        let (mut request, mut terms) = (request(), terms());
        request.reasoning = Some(Effort::High);
        request.tool_choice = ToolChoice::None;
        let mut format =
            AnswerFormat { name: "answer".into(), schema: json!({"a": 1}), strict: true };
        request.format = Some(format.clone());
        let enforced = json!({"type": "json_schema", "schema": {"a": 1}});
        check(&request, &terms, "output_config", &json!({"effort": "high", "format": enforced}));
        check(&request, &terms, "tool_choice", &json!({"type": "none"}));
        terms.omitted.insert("reasoning".into());
        check(&request, &terms, "output_config", &json!({"format": enforced}));
        format.strict = false;
        request.format = Some(format);
        check(&request, &terms, "output_config", &Value::Null);
        terms.stream = false;
        check(&request, &terms, "max_tokens", &json!(20_000));
        request.model = "tiny".into();
        check(&request, &terms, "max_tokens", &json!(16_000));
        request.tools.clear();
        check(&request, &terms, "tool_choice", &Value::Null);
        terms.omitted.insert("cache_control".into());
        assert!(!encode(&request, &terms).to_string().contains("cache_control"));
    }
}
