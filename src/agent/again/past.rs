//! A turn of the past, as its events tell it: what was called, and what each call gave.

use serde_json::Value;

use crate::catalog::Catalog;
use crate::conversation::ToolCall;
use crate::event::{Body, CallStatus, Event, ReplyBody, Status};
use crate::python::protocol::Command;
use crate::tools::{self, Plan, TOOLS};
use crate::withheld::Withheld;

/// A turn that has been written down.
#[derive(Debug, Clone)]
pub struct PastTurn {
    /// Its number, as its directory is named.
    pub id: String,
    /// As the user asked it.
    pub question: String,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// In the order in which they were made.
    pub calls: Vec<PastCall>,
    /// What it kept back from the model, and from its own code.
    pub withheld: Withheld,
    /// None when the turn has no answer.
    pub reply: Option<ReplyBody>,
}

/// A call, and what it gave.
#[derive(Debug, Clone)]
pub struct PastCall {
    /// What was called.
    pub call: ToolCall,
    /// How it ended.
    pub status: CallStatus,
    /// What the model read.
    pub result: Value,
    /// Tables and charts that it sent.
    pub shown: Vec<Body>,
}

/// Returns a turn's number as people say it, from the name of its directory.
pub fn number(id: &str) -> &str {
    id.trim_start_matches('0')
}

impl PastTurn {
    /// Reads the events of a turn.
    pub fn of(id: &str, events: Vec<Event>) -> PastTurn {
        let (question, started) = (String::new(), String::new());
        let mut turn = PastTurn {
            id: id.to_owned(),
            question,
            started,
            calls: Vec::new(),
            withheld: Withheld::default(),
            reply: None,
        };
        for Event { ts, body, .. } in events {
            match body {
                Body::Status(Status::Started { question, withheld, .. }) => {
                    (turn.question, turn.started) = (question, ts);
                    turn.withheld = *withheld;
                }
                Body::ToolCall { call_id, name, arguments, arguments_raw, .. } => {
                    let arguments = arguments.map(|it| it.to_string()).or(arguments_raw);
                    let call = ToolCall { call_id, name, arguments: arguments.unwrap_or_default() };
                    // Until its result comes.
                    let status = CallStatus::Cancelled;
                    let call = PastCall { call, status, result: Value::Null, shown: Vec::new() };
                    turn.calls.push(call);
                }
                Body::ToolResult { call_id, status, result, .. } => {
                    if let Some(call) = turn.call_mut(&call_id) {
                        (call.status, call.result) = (status, result);
                    }
                }
                Body::Reply(reply) => turn.reply = Some(*reply),
                Body::DataFrame(_) | Body::Chart(_) => turn.add_shown(body),
                _ => {}
            }
        }
        turn
    }

    fn add_shown(&mut self, body: Body) {
        let call_id = match &body {
            Body::DataFrame(table) => table.call_id.clone(),
            Body::Chart(chart) => chart.call_id.clone(),
            _ => return,
        };
        if let Some(call) = self.call_mut(&call_id) {
            call.shown.push(body);
        }
    }

    fn call_mut(&mut self, call_id: &str) -> Option<&mut PastCall> {
        self.calls.iter_mut().rev().find(|it| it.call.call_id == call_id)
    }
}

impl PastCall {
    /// Returns what the REPL was asked to do, if the call got so far. What was interrupted or killed
    /// would be so again.
    pub fn command(&self, catalog: &Catalog) -> Option<Command> {
        // What came before an exception counts.
        let ran = self.status == CallStatus::Ok || self.ended() && self.raised().is_some();
        let tool = tools::find(&self.call.name, TOOLS.iter());
        match tool.and_then(|it| tools::plan(it, catalog, &self.call)) {
            Ok(Plan::Ask(command, _)) if ran => Some(command),
            _ => None,
        }
    }

    /// Returns whether it came to an end of its own, good or bad.
    pub fn ended(&self) -> bool {
        matches!(self.status, CallStatus::Ok | CallStatus::Error)
    }

    /// Returns the class of the exception that its code raised.
    pub fn raised(&self) -> Option<&str> {
        self.result["error"]["type"].as_str().filter(|_| self.call.name == tools::RUNS_CODE)
    }
}
