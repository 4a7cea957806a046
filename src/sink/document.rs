//! A turn as one JSON document.

use std::io::Write;

use serde_json::{Value, json};

use csv_agent_types::event::{Body, Event, Status};

use crate::encryption::seal;
use crate::{EventSink, OutputOptions, paths, write};

/// The name and version of the document.
pub const SCHEMA: &str = "csv-agent.result/1";

/// Collects the events of a turn and writes them as one document when it has ended, well or not.
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
    /// Makes a sink.
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

    /// Returns the document for the terminal event. Every member is there, whichever way it ended.
    fn document(&mut self, event: &Event, ending: &Value) -> Value {
        let error = match &event.body {
            Body::Error(_) => without_envelope(ending),
            _ => Value::Null,
        };
        let text = if error.is_null() { &ending["text"] } else { &error["partial_text"] };
        let or_empty = |member: &str| match &ending[member] {
            Value::Null => json!([]),
            items => items.clone(),
        };
        json!({
            "schema": SCHEMA,
            "session_id": event.session_id,
            "turn_id": event.turn_id,
            "question": self.question,
            "model": self.model,
            "datasets": self.datasets,
            "text": text,
            "blocks": or_empty("blocks"),
            "assessment": ending["assessment"],
            "findings": or_empty("findings"),
            "output": ending["output"],
            "ungrounded": or_empty("ungrounded"),
            "computed": ending["computed"],
            "stop_reason": ending["stop_reason"],
            "tables": std::mem::take(&mut self.tables),
            "charts": std::mem::take(&mut self.charts),
            "files": or_empty("files"),
            "rejected": std::mem::take(&mut self.rejected),
            "warnings": std::mem::take(&mut self.warnings),
            "rounds": ending["rounds"],
            "tool_calls": ending["tool_calls"],
            "usage": ending["usage"],
            "egress": ending["egress"],
            "duration_ms": ending["duration_ms"],
            "code_path": ending["code_path"],
            "events_path": format!("turns/{}/events.jsonl", event.turn_id),
            "exit_code": ending["exit_code"],
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
                let mut document = self.document(event, &ending);
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
        Ok(without_envelope(&serde_json::to_value(&sealed)?))
    }
}

fn without_envelope(event: &Value) -> Value {
    let mut body = event.clone();
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, _| {
            !["v", "type", "seq", "ts", "session_id", "turn_id"].contains(&name.as_str())
        });
    }
    body
}
