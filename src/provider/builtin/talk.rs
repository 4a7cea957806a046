//! The conversation so far, turn by turn: questions, and the calls that were made for them.

use serde_json::Value;

use crate::conversation::{Item, ItemKind};

/// One question and what was done for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The question.
    pub question: String,
    /// The calls that were answered.
    pub calls: Vec<Done>,
}

/// A call that was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The tool.
    pub name: String,
    /// What it was asked.
    pub arguments: Value,
    /// What it said.
    pub output: Value,
}

impl Done {
    /// Returns what went wrong, if something did.
    pub fn error(&self) -> Option<&str> {
        (self.output["kind"] == "error").then(|| self.output["text"].as_str().unwrap_or_default())
    }
}

impl Turn {
    /// Returns the answer to a call, when it was made already.
    pub fn done(&self, name: &str, arguments: &Value) -> Option<&Done> {
        self.calls.iter().find(|it| it.name == name && it.arguments == *arguments)
    }
}

/// Returns the turns of a conversation.
pub fn turns(items: &[Item]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for item in items {
        match item.kind() {
            ItemKind::UserMessage => {
                turns.push(Turn { question: item.text(), calls: Vec::new() });
            }
            ItemKind::FunctionCallOutput => {
                let Some(turn) = turns.last_mut() else { continue };
                let call = items
                    .iter()
                    .filter_map(Item::tool_call)
                    .find(|it| Some(it.call_id.as_str()) == item.call_id());
                let Some(call) = call else { continue };
                let text = item.0["output"].as_str().unwrap_or_default();
                turn.calls.push(Done {
                    name: call.name,
                    arguments: serde_json::from_str(&call.arguments).unwrap_or_default(),
                    output: serde_json::from_str(text).unwrap_or_default(),
                });
            }
            _ => {}
        }
    }
    turns
}
