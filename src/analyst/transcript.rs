//! The conversation so far, turn by turn: questions, and the calls that were made for them.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use csv_agent_types::conversation::{Item, ItemKind};

/// How the worker ends a traceback, for those who would write other code.
const KEPT: &str = "\nVariables that were set before this line are kept.";

/// One question and what was done for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    /// The question.
    pub question: String,
    /// The number of the reading to answer it by, if the user says one with the question.
    pub pick: Option<usize>,
    /// The calls that were answered.
    pub calls: Vec<Done>,
}

/// A call that was answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Done {
    /// The tool.
    pub name: String,
    /// What it was asked.
    pub arguments: Value,
    /// What it said.
    pub output: Value,
}

impl Done {
    /// Returns what went wrong, if something did: the last line of a traceback, without the advice to models.
    pub(crate) fn error(&self) -> Option<&str> {
        (self.output["kind"] == "error").then(|| {
            let text = self.output["text"].as_str().unwrap_or_default();
            text.strip_suffix(KEPT).unwrap_or(text)
        })
    }
}

impl Turn {
    /// Returns the answer to a call, when it was made already.
    pub(crate) fn done(&self, name: &str, arguments: &Value) -> Option<&Done> {
        self.calls.iter().find(|it| it.name == name && it.arguments == *arguments)
    }
}

/// Returns the turns of a conversation.
pub(crate) fn turns(items: &[Item]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut calls = BTreeMap::new();
    let mut is_after_question = false;
    for item in items {
        let is_with_question = std::mem::take(&mut is_after_question);
        if let Some(call) = item.tool_call() {
            calls.insert(call.call_id.clone(), call);
            continue;
        }
        match item.kind() {
            ItemKind::UserMessage => {
                let question = item.text();
                match (turns.last_mut().filter(|_| is_with_question), number(&question)) {
                    (Some(turn), Some(n)) => turn.pick = Some(n),
                    _ => turns.push(Turn { question, pick: None, calls: Vec::new() }),
                }
                is_after_question = true;
            }
            ItemKind::FunctionCallOutput => {
                let call = item.call_id().and_then(|it| calls.remove(it));
                let (Some(turn), Some(call)) = (turns.last_mut(), call) else { continue };
                let text = item.0["output"].as_str().unwrap_or_default();
                turn.calls.push(Done {
                    name: call.name,
                    arguments: serde_json::from_str(&call.arguments).unwrap_or_default(),
                    // What is plain text is what code printed.
                    output: serde_json::from_str::<Value>(text)
                        .ok()
                        .filter(|it| it["kind"].is_string())
                        .unwrap_or_else(|| json!({"kind": "none", "stdout": text})),
                });
            }
            _ => {}
        }
    }
    turns
}

/// Returns the number that a message consists of.
pub(crate) fn number(text: &str) -> Option<usize> {
    text.trim().trim_end_matches('.').parse().ok()
}
