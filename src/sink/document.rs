//! A turn as one JSON document.

use std::io::Write;

use serde_json::{Value, json};

use csv_agent_types::event::{Body, Event, Status};

use crate::encryption::seal;
use crate::{EventSink, OutputOptions, paths, write};

/// The name and version of the document format.
pub const SCHEMA: &str = "csv-agent.result/1";

/// Collects the events of a turn and writes them as one document when it ends, whether or not it
/// succeeded.
pub struct Document {
    options: OutputOptions,
    out: Box<dyn Write>,
    question: Value,
    model: Value,
    datasets: Value,
    tables: Vec<Value>,
    charts: Vec<Value>,
    rejected: Vec<Value>,
    warnings: Vec<Value>,
}

impl Document {
    /// Creates a sink.
    pub fn new(options: OutputOptions, out: Box<dyn Write>) -> Document {
        Document {
            options,
            out,
            question: Value::Null,
            model: Value::Null,
            datasets: json!([]),
            tables: Vec::new(),
            charts: Vec::new(),
            rejected: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Returns the document for the terminal event. Every member is present, however the turn ended.
    fn document(&mut self, event: &Event, mut ending: Value) -> Value {
        let error = match &event.body {
            Body::Error(_) => ending.clone(),
            _ => Value::Null,
        };
        let mut take = |member: &str| ending.get_mut(member).map(Value::take).unwrap_or_default();
        let text = take(if error.is_null() { "text" } else { "partial_text" });
        let lists = ["blocks", "findings", "ungrounded", "choices", "files"];
        let [blocks, findings, ungrounded, choices, files] = lists.map(|it| match take(it) {
            Value::Null => json!([]),
            items => items,
        });
        json!({
            "schema": SCHEMA,
            "session_id": event.session_id,
            "turn_id": event.turn_id,
            "question": self.question,
            "model": self.model,
            "datasets": self.datasets,
            "text": text,
            "blocks": blocks,
            "assessment": take("assessment"),
            "findings": findings,
            "output": take("output"),
            "ungrounded": ungrounded,
            "computed": take("computed"),
            "stop_reason": take("stop_reason"),
            "choices": choices,
            "tables": std::mem::take(&mut self.tables),
            "charts": std::mem::take(&mut self.charts),
            "files": files,
            "rejected": std::mem::take(&mut self.rejected),
            "warnings": std::mem::take(&mut self.warnings),
            "rounds": take("rounds"),
            "tool_calls": take("tool_calls"),
            "usage": take("usage"),
            "egress": take("egress"),
            "duration_ms": take("duration_ms"),
            "code_path": take("code_path"),
            "events_path": format!("turns/{}/events.jsonl", event.turn_id),
            "exit_code": take("exit_code"),
            "error": error,
        })
    }
}

impl EventSink for Document {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        match &event.body {
            Body::Status(Status::Started { question, model, datasets, .. }) => {
                self.question = json!(question);
                self.model = json!(model);
                self.datasets = json!(datasets);
            }
            Body::Status(Status::Warning { code, message }) => {
                self.warnings.push(json!({"code": code, "message": message}));
            }
            Body::Error(error) if !error.fatal => {
                self.warnings.push(json!({"code": error.code, "message": error.message}));
            }
            Body::DataFrame(_) => self.tables.push(self.body(event)?),
            Body::Chart(_) => self.charts.push(self.body(event)?),
            Body::ChartRejected { .. } => self.rejected.push(self.body(event)?),
            _ if event.body.is_terminal() => {
                let ending = self.body(event)?;
                let mut document = self.document(event, ending);
                if self.options.abs_paths {
                    paths::add_absolute(&mut document, &self.options.session_dir);
                }
                write(&mut *self.out, &crate::line(&document))?;
            }
            _ => {}
        }
        Ok(())
    }
}

impl Document {
    fn body(&self, event: &Event) -> anyhow::Result<Value> {
        let sealed = seal(event, &self.options.seal)?;
        Ok(without_envelope(serde_json::to_value(&*sealed)?))
    }
}

fn without_envelope(mut body: Value) -> Value {
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| {
            !["v", "type", "seq", "ts", "session_id", "turn_id"].contains(&name.as_str())
        });
    }
    body
}
