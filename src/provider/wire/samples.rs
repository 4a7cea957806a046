//! What the tests of all wires send and read.

use serde_json::{Value, json};

use csv_agent_types::conversation::{Item, Request, Response, ToolDeclaration};

use super::opaque::ModelOrigin;
use super::{Api, ResponseReader, StreamStep, Terms};
use crate::error::ProviderError;

/// A question to a model with one tool.
pub(crate) fn request(model: &str) -> Request {
    Request {
        model: model.into(),
        instructions: "I".into(),
        items: vec![Item::user("q")],
        tools: vec![ToolDeclaration::Function {
            name: "f",
            description: "d".into(),
            parameters: json!({"type": "object"}),
        }],
        cache_key: "S".into(),
        ..Request::default()
    }
}

pub(crate) fn conversation(items: Value) -> Request {
    let items = serde_json::from_value(items).unwrap();
    Request { model: "m".into(), instructions: "I".into(), items, ..Request::default() }
}

/// The terms of a server that made the reasoning of a conversation.
pub(crate) fn terms() -> Terms {
    let origin = ModelOrigin { server: "https://a.example/v1".into(), model: "m".into() };
    Terms { origin, ..Terms::default() }
}

/// A message of the user.
pub(crate) fn user(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

pub(crate) fn output(call_id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": call_id, "output": "x"})
}

/// Returns the text that a stream shows, and its outcome.
pub(crate) fn read(api: Api, events: &[Value]) -> (String, Result<Response, ProviderError>) {
    let mut reader = ResponseReader::new(api, "m");
    let mut text = String::new();
    for event in events {
        match reader.event(event) {
            Ok(StreamStep::Quiet | StreamStep::Hosted(_) | StreamStep::Calls(_)) => {}
            Ok(StreamStep::Delta(delta)) => text += &delta,
            Ok(StreamStep::Done(response)) => return (text, Ok(response)),
            Err(error) => return (text, Err(error)),
        }
    }
    (text, reader.closed(None))
}
