//! Chat Completions: requests to JSON, chunks to responses.
//!
//! The conversation is stored as items of the Responses API and converted to messages here, so that a
//! session can change servers. Source: `OpenAI` API reference, "Create chat completion"; differences of
//! other servers are from their code.

mod calls;
mod messages;
mod reader;
mod reasoning;
mod thoughts;

use serde_json::{Map, Value, json};

use csv_agent_types::conversation::{Request, ToolChoice, ToolDeclaration};

use crate::wire::{Profile, Terms, effort, tool_choice};

pub(crate) use reader::ChatReader;

/// Returns the body of `POST /chat/completions` for a request.
///
/// The members of every round have the same order, so that the provider's cache works.
pub(crate) fn encode(request: &Request, terms: &Terms) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.as_str().into());
    body.insert("messages".into(), messages::messages(request, terms).into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().filter_map(tool).collect());
        body.insert("tool_choice".into(), tool_choice(request.tool_choice));
        body.insert("parallel_tool_calls".into(), true.into());
    }
    body.insert("stream".into(), terms.stream.into());
    if terms.stream {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if terms.profile == Profile::OpenAi {
        body.insert("prompt_cache_key".into(), request.cache_key.as_str().into());
    }
    let may_call = !request.tools.is_empty() && request.tool_choice != ToolChoice::None;
    let enforces = enforces_format(may_call, terms.profile);
    if let Some(format) = request.format.as_ref().filter(|_| enforces) {
        let schema = json!({"name": format.name, "schema": format.schema, "strict": format.strict});
        let format = json!({"type": "json_schema", "json_schema": schema});
        body.insert("response_format".into(), format);
    }
    if let Some(it) = request.reasoning {
        body.insert("reasoning_effort".into(), effort(it).into());
    }
    body.retain(|name, _| !terms.omitted.contains(name));
    Value::Object(body)
}

/// Returns whether to send the answer form. Ollama, llama.cpp and vLLM apply it to everything that the
/// model writes, which rules out tool calls: they get it only when tools are over.
pub(crate) fn enforces_format(may_call: bool, profile: Profile) -> bool {
    profile == Profile::OpenAi || !may_call
}

/// Tools of another provider are rejected before this.
fn tool(tool: &ToolDeclaration) -> Option<Value> {
    let ToolDeclaration::Function { name, description, parameters } = tool else { return None };
    Some(json!({
        "type": "function",
        "function": {
            "name": name,
            "description": description,
            "parameters": parameters,
            "strict": true,
        },
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::encode;
    use crate::wire::{Profile, Terms, samples};
    use csv_agent_types::conversation::{AnswerFormat, Effort, Request, ToolChoice};

    fn request() -> Request {
        samples::request("M")
    }

    fn terms(profile: Profile) -> Terms {
        Terms { profile, stream: true, ..Terms::default() }
    }

    #[test]
    fn the_body_is_whole() {
        let expected = json!({
            "model": "M",
            "messages": [{"role": "system", "content": "I"}, {"role": "user", "content": "q"}],
            "tools": [{"type": "function", "function": {"name": "f", "description": "d",
                "parameters": {"type": "object"}, "strict": true}}],
            "tool_choice": "auto",
            "parallel_tool_calls": true,
            "stream": true,
            "stream_options": {"include_usage": true},
        });
        let body = encode(&request(), &terms(Profile::Tolerant));
        assert_eq!(body.to_string(), expected.to_string(), "the order counts, too");
    }

    #[track_caller]
    fn check(request: &Request, terms: &Terms, member: &str, value: &Value) {
        let body = encode(request, terms);
        assert_eq!(body.get(member).unwrap_or(&Value::Null), value, "{body}");
    }

    #[test]
    fn what_is_asked_for_is_sent() {
        let (openai, mut terms) = (terms(Profile::OpenAi), terms(Profile::Tolerant));
        let mut request = request();
        check(&request, &openai, "prompt_cache_key", &json!("S"));
        request.reasoning = Some(Effort::High);
        check(&request, &terms, "reasoning_effort", &json!("high"));
        terms.stream = false;
        check(&request, &terms, "stream", &json!(false));
        check(&request, &terms, "stream_options", &Value::Null);
        terms.omitted.insert("reasoning_effort".into());
        check(&request, &terms, "reasoning_effort", &Value::Null);
        request.tools.clear();
        check(&request, &terms, "tool_choice", &Value::Null);
    }

    #[test]
    fn the_form_of_the_answer_never_keeps_a_model_from_calling_tools() {
        let mut request = request();
        request.format =
            Some(AnswerFormat { name: "answer".into(), schema: json!({}), strict: true });
        let format = json!({"type": "json_schema",
            "json_schema": {"name": "answer", "schema": {}, "strict": true}});
        check(&request, &terms(Profile::OpenAi), "response_format", &format);
        check(&request, &terms(Profile::Tolerant), "response_format", &Value::Null);
        request.tool_choice = ToolChoice::None;
        check(&request, &terms(Profile::Tolerant), "response_format", &format);
    }
}
