//! The Responses API: requests to JSON, events to responses.
//!
//! Source: `OpenAI` API reference, "Create a model response" and "Streaming events"; differences of other
//! servers are from their code.

mod echo;
mod reader;

use serde_json::{Map, Value, json};

use csv_agent_types::conversation::{Request, ToolDeclaration};
use csv_agent_types::limits::HOSTED_CALLS_MAX;

use crate::models;
use crate::wire::{PREVIOUS_RESPONSE, Profile, Storage, Terms, effort, tool_choice};

pub(crate) use reader::ResponsesReader;

const INCLUDE: &str = "include";

/// Returns the body of `POST /responses` for a request.
///
/// The members of every round have the same order, so that the provider's cache works.
pub(crate) fn encode(request: &Request, terms: &Terms) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), request.model.as_str().into());
    body.insert("instructions".into(), request.instructions.as_str().into());
    let new = match &terms.storage {
        Storage::None | Storage::Kept => &request.items[..],
        Storage::After { response_id, n_items } => {
            body.insert(PREVIOUS_RESPONSE.into(), response_id.as_str().into());
            request.items.get(*n_items..).unwrap_or_default()
        }
    };
    body.insert("input".into(), echo::input(new, terms).into());
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(tool);
        body.insert("tools".into(), tools.collect());
        body.insert("tool_choice".into(), tool_choice(request.tool_choice));
        body.insert("parallel_tool_calls".into(), true.into());
        if request.tools.iter().any(|it| matches!(it, ToolDeclaration::Hosted { .. })) {
            body.insert("max_tool_calls".into(), HOSTED_CALLS_MAX.into());
        }
    }
    body.insert("store".into(), (terms.storage != Storage::None).into());
    body.insert("stream".into(), terms.stream.into());
    if let Some(include) = include(request, terms) {
        body.insert("include".into(), include);
    }
    if terms.profile == Profile::OpenAi {
        body.insert("prompt_cache_key".into(), request.cache_key.as_str().into());
        if terms.stream {
            body.insert("stream_options".into(), json!({"include_obfuscation": false}));
        }
    }
    if let Some(format) = &request.format {
        let format = json!({
            "type": "json_schema",
            "name": format.name,
            "schema": format.schema,
            "strict": format.strict,
        });
        body.insert("text".into(), json!({"format": format}));
    }
    if let Some(it) = request.reasoning {
        body.insert("reasoning".into(), json!({"effort": effort(it)}));
    }
    // A gateway uses its own name for the field.
    let is_thoughtless = terms.omitted.contains("reasoning_effort");
    body.retain(|name, _| {
        let is_omitted = terms.omitted.contains(name) && name != INCLUDE;
        !(is_omitted || is_thoughtless && name == "reasoning")
    });
    Value::Object(body)
}

/// Returns the additional details to request. Those of hosted tools are not optional: without them, what
/// their code printed would be unknown.
fn include(request: &Request, terms: &Terms) -> Option<Value> {
    // A model that does not reason refuses to seal its reasoning. For unknown models, only `OpenAI` is sent
    // the field.
    let reasons = models::reasons(&request.model).unwrap_or(terms.profile == Profile::OpenAi);
    let sealed = reasons && !terms.omitted.contains(INCLUDE);
    let sealed = sealed.then_some("reasoning.encrypted_content");
    let of_tools = request.tools.iter().flat_map(|it| match it {
        ToolDeclaration::Function { .. } => &[][..],
        ToolDeclaration::Hosted { include, .. } => include,
    });
    let all: Vec<&str> = sealed.into_iter().chain(of_tools.copied()).collect();
    (!all.is_empty()).then(|| json!(all))
}

fn tool(tool: &ToolDeclaration) -> Value {
    match tool {
        ToolDeclaration::Function { name, description, parameters } => json!({
            "type": "function",
            "name": name,
            "description": description,
            "parameters": parameters,
            "strict": true,
        }),
        ToolDeclaration::Hosted { configuration, .. } => configuration.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
    fn the_body_for_openai_is_whole() {
        let body = encode(&request(), &terms(Profile::OpenAi));
        let expected = json!({
            "model": "M",
            "instructions": "I",
            "input": [{"type": "message", "role": "user",
                "content": [{"type": "input_text", "text": "q"}]}],
            "tools": [{"type": "function", "name": "f", "description": "d",
                "parameters": {"type": "object"},
                "strict": true}],
            "tool_choice": "auto",
            "parallel_tool_calls": true,
            "store": false,
            "stream": true,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "S",
            "stream_options": {"include_obfuscation": false},
        });
        assert_eq!(body.to_string(), expected.to_string(), "the order counts, too");
    }

    #[track_caller]
    fn check(request: &Request, terms: &Terms, member: &str, value: &Value) {
        let body = encode(request, terms);
        assert_eq!(body.get(member).unwrap_or(&Value::Null), value, "{body}");
    }

    #[test]
    fn other_servers_get_no_members_that_they_may_not_know() {
        for member in ["include", "prompt_cache_key", "stream_options"] {
            check(&request(), &terms(Profile::Tolerant), member, &Value::Null);
        }
    }

    #[test]
    fn models_that_reason_are_asked_to_seal_it_wherever_they_are_served() {
        let sealed = json!(["reasoning.encrypted_content"]);
        let mut request = request();
        for (model, openai, other) in [
            ("gpt-6.2-sol", &sealed, &sealed),
            ("openai/o4-mini", &sealed, &sealed),
            ("gpt-4.1", &Value::Null, &Value::Null),
            ("ft:new-model", &sealed, &Value::Null),
        ] {
            request.model = model.to_owned();
            check(&request, &terms(Profile::OpenAi), "include", openai);
            check(&request, &terms(Profile::Tolerant), "include", other);
        }
    }

    #[test]
    fn what_is_asked_for_is_sent() {
        let mut request = request();
        request.reasoning = Some(Effort::High);
        request.tool_choice = ToolChoice::None;
        request.format =
            Some(AnswerFormat { name: "answer".into(), schema: json!({}), strict: true });
        let mut terms = terms(Profile::OpenAi);
        check(&request, &terms, "reasoning", &json!({"effort": "high"}));
        check(&request, &terms, "tool_choice", &json!("none"));
        let format = json!({"type": "json_schema", "name": "answer", "schema": {}, "strict": true});
        check(&request, &terms, "text", &json!({"format": format}));
        terms.stream = false;
        check(&request, &terms, "stream", &json!(false));
        check(&request, &terms, "stream_options", &Value::Null);
        terms.omitted.insert("reasoning".into());
        check(&request, &terms, "reasoning", &Value::Null);
        terms.omitted = BTreeSet::from(["reasoning_effort".to_owned()]);
        check(&request, &terms, "reasoning", &Value::Null);
        request.tools.clear();
        check(&request, &terms, "tool_choice", &Value::Null);
    }
}
