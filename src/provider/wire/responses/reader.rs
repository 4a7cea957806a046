//! Builds a response from the events of an answer.
//!
//! The finished item is authoritative; deltas are for display only. Events before the terminal event do not
//! count if that never arrives.

use std::time::Duration;

use serde_json::Value;

use csv_agent_types::conversation::{FinishReason, Item, Response, Usage};
use csv_agent_types::limits::FAILED_AFTER_ERROR;

use crate::error::{ProviderError, ProviderErrorKind};
use crate::hosted::HOSTED;
use crate::transport::Headers;
use crate::wire::failure::Complaint;
use crate::wire::{StreamStep, broken_off, is_torn, torn, unreadable};

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct ResponsesReader {
    /// The requested model; errors name it.
    model: String,
    items: Vec<Value>,
    /// An `error` event arrived; `response.failed` may say more.
    failure: Option<ProviderError>,
    /// An unparsable event may have been an item.
    has_gap: bool,
}

impl ResponsesReader {
    /// Makes a reader for one answer of this model.
    pub(crate) fn new(model: &str) -> ResponsesReader {
        ResponsesReader { model: model.to_owned(), ..ResponsesReader::default() }
    }

    /// Processes the next event. Fails when the event reports that the response failed, or when a lost event
    /// may have contained a part of it.
    pub(crate) fn event(&mut self, event: &Value) -> Result<StreamStep, ProviderError> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "response.output_text.delta" => {
                let delta = event.get("delta").and_then(Value::as_str).unwrap_or_default();
                return Ok(StreamStep::Delta(delta.to_owned()));
            }
            "response.output_item.added" => {
                let kind = event.pointer("/item/type").and_then(Value::as_str);
                if let Some(tool) = HOSTED.iter().find(|it| Some(it.item) == kind) {
                    return Ok(StreamStep::Hosted(tool.name));
                }
                if kind == Some("function_call")
                    && let Some(name) = event.pointer("/item/name").and_then(Value::as_str)
                {
                    return Ok(StreamStep::Calls(name.to_owned()));
                }
            }
            "response.output_item.done" => {
                self.items.extend(event.get("item").filter(|it| it.is_object()).cloned());
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let fallback = &kind["response.".len()..];
                let response = event.get("response").unwrap_or(&Value::Null);
                return self.conclude(response, fallback).map(StreamStep::Done);
            }
            "error" => self.failure = Some(self.judge(event)),
            // Servers without event types send the envelope of an HTTP error.
            "" if event.get("error").is_some_and(|it| !it.is_null()) => {
                self.failure = Some(self.judge(event));
            }
            // Deltas are for display only, and the terminal event mostly repeats the items, so the gap is
            // ignored until then.
            "" if !event.is_object() => self.has_gap |= is_torn(event),
            _ => {}
        }
        Ok(StreamStep::Quiet)
    }

    /// Processes a complete answer. Fails when the body is not a response, or is one that failed.
    pub(crate) fn body(&mut self, body: &str) -> Result<Response, ProviderError> {
        let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        let has = |name: &str| value.get(name).is_some_and(|it| !it.is_null());
        if has("error") && !has("output") {
            return Err(self.judge(&value));
        }
        if !has("output") {
            return Err(unreadable(body));
        }
        self.conclude(&value, "completed")
    }

    /// Returns how long to wait for `response.failed` after an `error` event.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.failure.is_some().then_some(FAILED_AFTER_ERROR)
    }

    /// Returns why there is no response, when the stream ends without a terminal event.
    pub(crate) fn closed(self, broken: Option<ProviderError>) -> ProviderError {
        self.failure.or(broken).unwrap_or_else(broken_off)
    }

    fn conclude(&mut self, response: &Value, fallback: &str) -> Result<Response, ProviderError> {
        let status = response.get("status").and_then(Value::as_str).unwrap_or(fallback);
        let details = response.get("incomplete_details").filter(|it| !it.is_null());
        let ending = match status {
            "failed" | "cancelled" => {
                let error = response.get("error").filter(|it| !it.is_null());
                let judged = error.map(|it| self.judge(it));
                let failure = self.failure.take().or(judged);
                return Err(failure.unwrap_or_else(|| {
                    ProviderError::transient(format!("the provider's answer is `{status}`"))
                }));
            }
            "queued" | "in_progress" if fallback == "completed" && details.is_none() => {
                let message = format!("the provider's answer is not finished: it is `{status}`");
                return Err(ProviderError::new(ProviderErrorKind::Malformed, message));
            }
            _ if status == "incomplete" || fallback == "incomplete" || details.is_some() => {
                let reason = details.and_then(|it| it.get("reason")).and_then(Value::as_str);
                FinishReason::Incomplete(reason.unwrap_or("unknown").to_owned())
            }
            _ => FinishReason::Completed,
        };
        let output = response.get("output").and_then(Value::as_array).filter(|it| !it.is_empty());
        if output.is_none() && self.has_gap {
            return Err(torn());
        }
        let items = output.cloned().unwrap_or_else(|| std::mem::take(&mut self.items));
        let text = |name: &str| {
            let text = response.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
            text.map(str::to_owned)
        };
        Ok(Response {
            id: text("id"),
            previous_id: text("previous_response_id"),
            request_id: None,
            model: text("model"),
            items: items.into_iter().filter(is_answer).map(item).collect(),
            usage: usage(response.get("usage").unwrap_or(&Value::Null)),
            ending,
            wants_more: response.get("end_turn") == Some(&Value::Bool(false)),
        })
    }

    fn judge(&self, error: &Value) -> ProviderError {
        Complaint::of_json(error).judge(None, &Headers::new(), &self.model)
    }
}

/// Returns whether an item may be part of an answer. Messages of the user cannot come from a server, and a
/// message without content would be refused when it is sent back.
fn is_answer(item: &Value) -> bool {
    let role = item.get("role").and_then(Value::as_str);
    let content = item.get("content").unwrap_or(&Value::Null);
    let has_content = content.is_array() || content.is_string();
    match item.get("type").and_then(Value::as_str) {
        Some("message") | None => has_content && role == Some("assistant"),
        Some(_) => true,
    }
}

/// Gives a call the members that pair it and contain its arguments, where a server named them differently.
fn item(mut item: Value) -> Item {
    if item.get("type").and_then(Value::as_str) == Some("function_call") {
        if item.get("call_id").is_none_or(Value::is_null) {
            item["call_id"] = item.get("id").cloned().unwrap_or_default();
        }
        if item.get("arguments").is_some_and(Value::is_object) {
            item["arguments"] = item["arguments"].to_string().into();
        }
    }
    Item(item)
}

fn usage(usage: &Value) -> Usage {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        requests: 1,
        input_tokens: count("/input_tokens"),
        cached_input_tokens: count("/input_tokens_details/cached_tokens"),
        output_tokens: count("/output_tokens"),
        reasoning_tokens: count("/output_tokens_details/reasoning_tokens"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::{Strategy, prop, proptest};
    use serde_json::{Value, json};

    use super::ResponsesReader;
    use crate::Api;
    use crate::error::{ProviderError, ProviderErrorKind};
    use crate::wire::samples;
    use csv_agent_testing::{cases, json_of};
    use csv_agent_types::conversation::{FinishReason, Item, Response, Usage};

    fn read(events: &[Value]) -> (String, Result<Response, ProviderError>) {
        samples::read(Api::Responses, events)
    }

    fn call(arguments: &str) -> Value {
        json!({"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "c1",
            "name": "list_datasets", "arguments": arguments})
    }

    fn message(text: &str) -> Value {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]})
    }

    #[test]
    fn a_stream_of_openai_becomes_a_response() {
        let sealed = |it: &str| json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": it});
        let usage = json!({"input_tokens": 900, "output_tokens": 40, "total_tokens": 940,
            "input_tokens_details": {"cached_tokens": 7},
            "output_tokens_details": {"reasoning_tokens": 25}});
        let (text, response) = read(&[
            json!({"type": "response.created", "response": {"status": "in_progress", "output": []}}),
            json!({"type": "keepalive"}),
            json!({"type": "response.output_item.added", "item": sealed("gA")}),
            json!({"type": "response.output_item.done", "item": sealed("gAAAAB1")}),
            json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": "One "}),
            json!({"type": "response.something.new", "delta": "not text"}),
            json!({"type": "response.output_text.delta", "item_id": "msg_1", "delta": "table."}),
            json!({"type": "response.output_item.done", "item": message("One table.")}),
            json!({"type": "response.completed", "response": {"id": "resp_1", "model": "m-1",
                "status": "completed", "error": null, "incomplete_details": null,
                "output": [sealed("gAAAAB1"), message("One table.")], "usage": usage}}),
        ]);
        let response = response.unwrap();
        assert_eq!(text, "One table.");
        assert_eq!(response.items.len(), 2);
        assert_eq!(response.items[0].0, sealed("gAAAAB1"));
        assert_eq!(response.items[1].text(), "One table.");
        assert_eq!(response.model.as_deref(), Some("m-1"));
        assert_eq!(response.ending, FinishReason::Completed);
        let usage = Usage {
            requests: 1,
            input_tokens: 900,
            cached_input_tokens: 7,
            output_tokens: 40,
            reasoning_tokens: 25,
        };
        assert_eq!(response.usage, usage);
    }

    #[test]
    fn what_no_model_may_say_is_left_out() {
        let said = |role: &str, content: Value| json!({"type": "message", "role": role, "content": content});
        let part = json!([{"type": "output_text", "text": "Obey."}]);
        let output = json!([
            said("system", part.clone()),
            said("user", part),
            said("assistant", json!(null)),
            {"text": "no type"},
            message("One table."),
        ]);
        let end = json!({"type": "response.completed", "response": {"output": output}});
        assert_eq!(read(&[end]).1.unwrap().items, [Item(message("One table."))]);
    }

    #[test]
    fn finished_items_count_when_the_end_lists_none() {
        for end in
            [json!({"output": []}), json!({"status": "completed", "usage": null}), json!(null)]
        {
            let (_, response) = read(&[
                json!({"type": "response.output_item.done", "item": call("{}")}),
                json!({"type": "response.completed", "response": end}),
            ]);
            assert_eq!(response.unwrap().items[0].0, call("{}"));
        }
    }

    #[test]
    fn an_unreadable_event_matters_only_if_it_may_have_been_an_item() {
        let gap = json!("{\"type\":\"response.output_item.done");
        let end =
            |output: Value| json!({"type": "response.completed", "response": {"output": output}});
        assert!(read(&[gap.clone(), end(json!([message("a")]))]).1.is_ok());
        let error = read(&[gap, end(json!([]))]).1.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::Malformed);
        assert!(read(&[json!("ping"), end(json!([]))]).1.is_ok(), "it never was an event");
    }

    #[test]
    fn an_incomplete_response_says_why() {
        let cut = json!({"type": "response.incomplete", "response": {"status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"}, "output": [call("{\"code\":\"df = ")]}});
        let response = read(&[cut]).1.unwrap();
        assert_eq!(response.ending, FinishReason::Incomplete("max_output_tokens".into()));
        let bare = json!({"type": "response.incomplete", "response": null});
        assert_eq!(read(&[bare]).1.unwrap().ending, FinishReason::Incomplete("unknown".into()));
    }

    #[track_caller]
    fn check_failure(events: &[Value], kind: &ProviderErrorKind) {
        assert_eq!(&read(events).1.unwrap_err().kind, kind);
    }

    #[test]
    fn failures_within_a_stream_are_judged() {
        let soon =
            |ms| ProviderErrorKind::Transient { retry_after: Some(Duration::from_millis(ms)) };
        let limit = json!({"type": "tokens", "code": "rate_limit_exceeded",
            "message": "Please try again in 20ms."});
        let nested = json!({"type": "error", "error": limit});
        let failed = json!({"type": "response.failed", "response": {"status": "failed",
            "error": {"code": "rate_limit_exceeded", "message": "Please try again in 30ms."}}});
        let bare = json!({"type": "response.failed", "response": {"status": "failed"}});
        let flat = json!({"type": "error", "code": "rate_limit_exceeded",
            "message": "Please try again in 40ms.", "param": null});
        check_failure(&[nested.clone(), failed.clone()], &soon(20));
        check_failure(&[nested.clone(), bare.clone()], &soon(20));
        check_failure(&[nested], &soon(20));
        check_failure(&[failed], &soon(30));
        check_failure(&[flat], &soon(40));
        check_failure(&[bare], &ProviderErrorKind::Transient { retry_after: None });
        check_failure(&[], &ProviderErrorKind::Transient { retry_after: None });
        let quota = json!({"type": "response.failed", "response": {"error": {"code": "insufficient_quota"}}});
        check_failure(&[quota], &ProviderErrorKind::QuotaExceeded);
        let chunk =
            json!({"error": {"code": 400, "message": "bad", "type": "invalid_request_error"}});
        check_failure(&[chunk], &ProviderErrorKind::Rejected);
    }

    #[test]
    fn a_body_in_one_piece_is_read_the_same_way() {
        let body = json!({"status": "completed", "output": [message("a")], "model": "m"});
        assert_eq!(ResponsesReader::new("m").body(&body.to_string()).unwrap().items[0].text(), "a");
        let kind = |body: &str| ResponsesReader::new("m").body(body).unwrap_err().kind;
        assert_eq!(kind("<html>"), ProviderErrorKind::Malformed);
        assert_eq!(kind("{\"object\":\"list\"}"), ProviderErrorKind::Malformed);
        assert_eq!(kind("{\"output\":[],\"status\":\"queued\"}"), ProviderErrorKind::Malformed);
        assert_eq!(
            kind(r#"{"error":{"code":"insufficient_quota"}}"#),
            ProviderErrorKind::QuotaExceeded
        );
    }

    #[test]
    fn calls_of_other_servers_get_the_members_that_pair_them() {
        let item = json!({"type": "function_call", "id": "fc_9", "name": "f",
            "arguments": {"a": 1}});
        let end = json!({"type": "response.completed", "response": {"output": [item]}});
        let response = read(&[end]).1.unwrap();
        let call = response.items[0].tool_call().unwrap();
        assert_eq!((call.call_id.as_str(), call.arguments.as_str()), ("fc_9", "{\"a\":1}"));
        assert_eq!(response.items[0].call_id(), Some("fc_9"));
    }

    fn json_value() -> impl Strategy<Value = Value> {
        json_of(vec![
            "type",
            "response",
            "error",
            "item",
            "output",
            "status",
            "usage",
            "delta",
            "code",
            "response.completed",
            "response.failed",
            "response.output_item.done",
            "function_call",
            "response.incomplete",
            "incomplete_details",
            "reason",
            "message",
            "arguments",
            "input_tokens",
            "response.output_text.delta",
            "queued",
        ])
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn no_events_make_it_panic(events in prop::collection::vec(json_value(), 0..6)) {
            let _ = read(&events);
            for event in events {
                let _ = ResponsesReader::new("m").body(&event.to_string());
            }
        }
    }
}
