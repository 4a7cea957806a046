//! The current activity of a turn, as one line.
//!
//! Pure: takes events, returns a line. The least important part is last, where a narrow terminal cuts.

use serde_json::Value;

use csv_agent_text::{digits, sanitize};
use csv_agent_types::conversation::{Price, Usage};
use csv_agent_types::event::{Body, Event, Status, code_of};

/// Maximum characters of the first line of code. A terminal cuts it sooner.
const DETAIL_CHARS_MAX: usize = 200;

/// The current activity, and its cost so far.
#[derive(Debug, Default)]
pub(crate) struct StatusLine {
    price: Option<Price>,
    /// The text of the event that began it.
    doing: String,
    round: u32,
    usage: Usage,
    /// Rows of the last table read.
    rows: Option<u64>,
    /// Running calls, by start time.
    calls: Vec<RunningCall>,
}

/// A running tool call.
#[derive(Debug)]
struct RunningCall {
    id: String,
    name: String,
    label: String,
    /// The description in its code.
    detail: Option<String>,
    /// The progress of its job on the cluster.
    job: Option<String>,
}

impl StatusLine {
    /// Begins a turn. Without a price no cost is shown.
    pub(crate) fn begin(price: Option<Price>) -> StatusLine {
        StatusLine { price, doing: "starting".to_owned(), ..StatusLine::default() }
    }

    /// Processes an event.
    pub(crate) fn hear(&mut self, event: &Event) {
        match &event.body {
            Body::Status(status) => self.hear_status(status),
            Body::Partial { .. } => "writing the answer".clone_into(&mut self.doing),
            Body::ToolCall { call_id, name, label, arguments, .. } => {
                self.calls.push(RunningCall {
                    id: call_id.clone(),
                    name: name.clone(),
                    label: label.clone(),
                    detail: arguments.as_ref().and_then(code_of).and_then(first_line),
                    job: None,
                });
            }
            Body::ToolResult { call_id, result, .. } => {
                self.calls.retain(|it| it.id != *call_id);
                self.rows = result.get("row_count").and_then(Value::as_u64).or(self.rows);
            }
            _ => {}
        }
    }

    fn hear_status(&mut self, status: &Status) {
        match status {
            Status::Started { model, .. } => self.doing = format!("preparing to ask {model}"),
            Status::ModelRequest { round, message } => {
                self.round = *round;
                self.doing.clone_from(message);
            }
            Status::ModelResponse { usage, .. } => self.usage.add(usage),
            Status::Compacted { message, usage, .. } => {
                self.usage.add(usage);
                self.doing.clone_from(message);
            }
            Status::Executing { message, .. }
            | Status::Compacting { message, .. }
            | Status::Loading { message } => self.doing.clone_from(message),
            // Calls that use the cluster run sequentially.
            Status::Cluster { message, .. } => match self.calls.first_mut() {
                Some(call) => call.job = Some(message.clone()),
                None => self.doing.clone_from(message),
            },
            Status::Retrying { .. } => "waiting to try again".clone_into(&mut self.doing),
            Status::Reasoning { .. }
            | Status::Container { .. }
            | Status::Worker { .. }
            | Status::Warning { .. } => {}
        }
    }

    /// Returns the label of a running call.
    pub(crate) fn label(&self, call_id: &str) -> Option<String> {
        self.calls.iter().find(|it| it.id == call_id).map(|it| sanitize::one_line(&it.label))
    }

    /// Returns whether a call of this tool runs.
    pub(crate) fn runs(&self, name: &str) -> bool {
        self.calls.iter().any(|it| sanitize::one_line(&it.name) == name)
    }

    /// Returns the current activity, safe for a terminal.
    pub(crate) fn line(&self) -> String {
        let mut parts = Vec::new();
        let call = self.calls.first();
        parts.push(match (call, self.calls.len()) {
            (None, _) => self.doing.clone(),
            (Some(call), 1) => call.label.clone(),
            (Some(call), n_calls) => format!("{} and {} more", call.label, n_calls - 1),
        });
        parts.extend(call.and_then(|it| it.job.clone()));
        if 1 < self.round {
            parts.push(format!("round {}", self.round));
        }
        let n_tokens = self.usage.total_tokens();
        if 0 < n_tokens {
            parts.push(digits::count(n_tokens, "token"));
            parts.extend(self.price.map(|it| digits::usd(it.cost(&self.usage))));
        }
        if let Some(rows) = self.rows {
            parts.push(digits::count(rows, "row"));
        }
        parts.extend(call.and_then(|it| it.detail.clone()));
        sanitize::one_line(&parts.join(" · "))
    }
}

/// Returns the first line of code that is not blank: a comment states the purpose of the code.
fn first_line(code: &str) -> Option<String> {
    let line = code.lines().map(str::trim).find(|it| !it.is_empty())?;
    Some(line.chars().take(DETAIL_CHARS_MAX).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::StatusLine;
    use csv_agent_types::conversation::Price;
    use csv_agent_types::event::Event;

    #[track_caller]
    fn check(now: &mut StatusLine, body: &Value, line: &str) {
        let mut event = json!({"v": 1, "seq": 0, "ts": "", "session_id": "s", "turn_id": "0001"});
        event.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        now.hear(&serde_json::from_value::<Event>(event).unwrap());
        assert_eq!(now.line(), line);
    }

    fn call(id: &str, label: &str, code: &str) -> Value {
        json!({"type": "tool_call", "call_id": id, "round": 1, "name": "t", "label": label,
            "arguments": {"code": code}})
    }

    fn result(id: &str, result: &Value) -> Value {
        json!({"type": "tool_result", "call_id": id, "name": "t", "status": "ok", "duration_ms": 1,
            "result": result, "truncated": false, "bytes_to_model": 1})
    }

    #[test]
    fn the_line_tells_what_happens_and_what_it_has_cost() {
        let price = Price { input: 2.0, cached_input: 1.0, output: 10.0 };
        let mut now = StatusLine::begin(Some(price));
        assert_eq!(now.line(), "starting");
        let request = |round: u32| {
            json!({"type": "status", "phase": "model_request", "round": round,
                "message": "asking m"})
        };
        check(&mut now, &request(1), "asking m");
        let response = json!({"type": "status", "phase": "model_response", "round": 1,
            "message": "", "usage": {"requests": 1, "input_tokens": 3_000,
            "cached_input_tokens": 0, "output_tokens": 412, "reasoning_tokens": 0}});
        check(&mut now, &response, "asking m · 3,412 tokens · $0.010");
        let code = "\n# change by product\ndf.diff()";
        let one = "python_repl (2 lines)";
        let line = format!("{one} · 3,412 tokens · $0.010 · # change by product");
        check(&mut now, &call("a", one, code), &line);
        let line = format!("{one} and 1 more · 3,412 tokens · $0.010 · # change by product");
        check(&mut now, &call("b", "list_datasets", " "), &line);
        let frame = json!({"kind": "dataframe", "row_count": 1_234_567});
        let line = "list_datasets · 3,412 tokens · $0.010 · 1,234,567 rows";
        check(&mut now, &result("a", &frame), line);
        check(
            &mut now,
            &result("b", &json!({"kind": "text"})),
            "asking m · 3,412 tokens · $0.010 · 1,234,567 rows",
        );
        let line = "asking m · round 2 · 3,412 tokens · $0.010 · 1,234,567 rows";
        check(&mut now, &request(2), line);
    }

    #[test]
    fn a_job_of_the_cluster_is_told_with_the_call_that_waits_for_it() {
        let mut now = StatusLine::begin(None);
        let job = |message: &str| {
            json!({"type": "status", "phase": "cluster", "message": message, "stages_done": 1,
                "stages": 2, "tasks_done": 3, "tasks": 4, "bytes_read": 5})
        };
        check(
            &mut now,
            &call("a", "python_repl (1 line)", "df.count()"),
            "python_repl (1 line) · df.count()",
        );
        let line = "python_repl (1 line) · stage 1 of 2 · df.count()";
        check(&mut now, &job("stage 1 of 2"), line);
        let line = "python_repl (1 line) · stage 2 of 2 · df.count()";
        check(&mut now, &job("stage 2 of 2"), line);
        check(&mut now, &result("a", &json!({"kind": "text"})), "starting");
    }

    #[test]
    fn what_a_model_writes_cannot_steer_the_terminal() {
        let line = "x\\x1b[2J · 東京\\x07";
        check(&mut StatusLine::begin(None), &call("a", "x\u{1b}[2J", "東京\u{7}"), line);
    }
}
