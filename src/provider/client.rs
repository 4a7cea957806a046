//! A client whose own model has decided the calls of a turn. They run one after the other, and what they give goes
//! back to the client.

use std::collections::VecDeque;

use serde_json::{Value, json};

use csv_agent_types::conversation::{
    Item, ItemKind, Request, Response, ToolCall, ToolChoice, Usage,
};

use crate::Progress;

/// The calls of a client, and what the turn says when they are done.
#[derive(Debug, Clone, Default)]
pub struct ClientCalls {
    /// The client's name, to which outputs are sent.
    pub client: String,
    /// The calls, in call. After one that fails, the others are not made.
    pub calls: VecDeque<ToolCall>,
    /// The reply of the turn.
    pub reply: String,
}

impl ClientCalls {
    /// Returns the next call, or the reply. The client gets nothing before the turn ends: the reply reports the calls
    /// and outputs as sent to it.
    pub(crate) fn respond(
        &mut self,
        request: &Request,
        on_progress: &mut dyn FnMut(Progress<'_>),
    ) -> Response {
        let items = &request.items;
        let asked = items.iter().rposition(|it| it.kind() == ItemKind::UserMessage);
        let exchange = &items[asked.map_or(0, |it| it + 1)..];
        let is_failed = exchange.last().is_some_and(is_error);
        let may_call = request.tool_choice == ToolChoice::Auto && !is_failed;
        let item = if let Some(call) = self.calls.pop_front().filter(|_| may_call) {
            let ToolCall { call_id, name, arguments } = call;
            Item(json!({
                "type": "function_call", "call_id": call_id, "name": name, "arguments": arguments,
            }))
        } else {
            if !exchange.is_empty() {
                let sent: Vec<&Value> = exchange.iter().map(|it| &it.0).collect();
                on_progress(Progress::Sending { body: &json!({"input": sent}), to: &self.client });
            }
            Item::assistant(if is_failed { "The call failed." } else { &self.reply })
        };
        Response {
            items: vec![item],
            usage: Usage { requests: 1, ..Usage::default() },
            ..Response::default()
        }
    }
}

/// Returns whether an output says why its call failed.
fn is_error(output: &Item) -> bool {
    let text = output.0["output"].as_str().unwrap_or_default();
    let read = |text: &str| serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
    // A remark may follow the JSON.
    text.starts_with('{') && read(text).is_some_and(|it| it.is_ok_and(|it| it["kind"] == "error"))
}
