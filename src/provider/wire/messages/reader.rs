//! Builds a response from the events of an answer.
//!
//! Each block starts, arrives in pieces, and ends; the meaning of a piece depends on the block.

use serde_json::{Map, Value, json};

use csv_agent_types::conversation::{FinishReason, Item, Response, Usage};
use csv_agent_types::limits::CALLS_READ_MAX;

use crate::error::{ProviderError, ProviderErrorKind};
use crate::transport::Headers;
use crate::wire::failure::Complaint;
use crate::wire::{StreamStep, broken_off, is_torn, opaque, torn, unreadable};

/// The member that stores reasoning as received.
pub(super) const BLOCK: &str = "block";

/// The text for a model that refused without one.
const REFUSED: &str = "the provider refused to answer this";

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct MessagesReader {
    /// The requested model; errors name it.
    asked: String,
    /// The message so far; `null` until it starts.
    message: Value,
    blocks: Vec<Value>,
    /// The arguments of the current call, as JSON in pieces.
    arguments: String,
    /// Whether its last piece is missing, so that the call is incomplete.
    is_open: bool,
}

impl MessagesReader {
    /// Makes a reader for one answer of this model.
    pub(crate) fn new(model: &str) -> MessagesReader {
        MessagesReader { asked: model.to_owned(), ..MessagesReader::default() }
    }

    /// Processes the next event. Fails when the event is an error, or cannot be parsed.
    pub(crate) fn event(&mut self, event: &Value) -> Result<StreamStep, ProviderError> {
        if !event.is_object() {
            return if is_torn(event) { Err(torn()) } else { Ok(StreamStep::Quiet) };
        }
        match event["type"].as_str().unwrap_or_default() {
            "error" => return Err(self.judge(event)),
            "message_start" => self.message = event["message"].clone(),
            "content_block_start" => {
                let block = &event["content_block"];
                self.begin(block)?;
                if let ("tool_use", Some(name)) =
                    (block["type"].as_str().unwrap_or_default(), block["name"].as_str())
                {
                    return Ok(StreamStep::Calls(name.to_owned()));
                }
            }
            "content_block_delta" => return Ok(self.go_on(&event["delta"])),
            "content_block_stop" => self.end(),
            "message_delta" => self.finish(event),
            "message_stop" => return self.conclude().map(StreamStep::Done),
            _ if event.get("error").is_some_and(Value::is_object) => return Err(self.judge(event)),
            _ => {}
        }
        Ok(StreamStep::Quiet)
    }

    /// Processes a complete answer. Fails when the body is not a response, or is an error.
    pub(crate) fn body(&mut self, body: &str) -> Result<Response, ProviderError> {
        let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        if value.get("error").is_some_and(|it| !it.is_null()) {
            return Err(self.judge(&value));
        }
        let Some(blocks) = value.get("content").and_then(Value::as_array) else {
            return Err(unreadable(body));
        };
        for block in blocks {
            self.begin(block)?;
            self.end();
        }
        self.message = value;
        self.conclude()
    }

    /// Processes the end of the stream, with the error that broke it, if any. Fails when no event said why the
    /// answer ends.
    pub(crate) fn closed(
        mut self,
        broken: Option<ProviderError>,
    ) -> Result<Response, ProviderError> {
        match self.message.get("stop_reason").and_then(Value::as_str) {
            Some(_) => self.conclude(),
            None => Err(broken.unwrap_or_else(broken_off)),
        }
    }

    fn judge(&self, event: &Value) -> ProviderError {
        Complaint::of_json(event).judge(None, &Headers::new(), &self.asked)
    }

    fn begin(&mut self, block: &Value) -> Result<(), ProviderError> {
        if CALLS_READ_MAX <= self.blocks.len() {
            let message = "the provider's answer has more blocks than can be read";
            return Err(ProviderError::new(ProviderErrorKind::Malformed, message));
        }
        self.blocks.push(block.clone());
        self.arguments.clear();
        self.is_open = true;
        Ok(())
    }

    /// Adds a piece to the last block. Returns the new text of the answer.
    fn go_on(&mut self, delta: &Value) -> StreamStep {
        let Some(block) = self.blocks.last_mut().filter(|_| self.is_open) else {
            return StreamStep::Quiet;
        };
        let piece = |name: &str| delta[name].as_str().unwrap_or_default();
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => {
                append(block, "text", piece("text"));
                return StreamStep::Delta(piece("text").to_owned());
            }
            "thinking_delta" => append(block, "thinking", piece("thinking")),
            "signature_delta" => append(block, "signature", piece("signature")),
            "input_json_delta" => self.arguments.push_str(piece("partial_json")),
            _ => {}
        }
        StreamStep::Quiet
    }

    fn end(&mut self) {
        let arguments = std::mem::take(&mut self.arguments);
        let block = self.blocks.last_mut().and_then(Value::as_object_mut);
        if let Some(block) = block.filter(|_| !arguments.trim().is_empty()) {
            // Invalid JSON stays text: the output of the call states the error.
            block.insert("input".to_owned(), arguments.into());
        }
        self.is_open = false;
    }

    fn finish(&mut self, event: &Value) {
        let Some(message) = self.message.as_object_mut() else { return };
        for (name, value) in event["delta"].as_object().into_iter().flatten() {
            message.insert(name.clone(), value.clone());
        }
        // Counts are cumulative, and unchanged ones may be missing.
        let counts = event["usage"].as_object().into_iter().flatten();
        let usage = message.entry("usage").or_insert(json!({}));
        if let Some(usage) = usage.as_object_mut() {
            let counts = counts.filter(|(_, it)| !it.is_null());
            usage.extend(counts.map(|(name, it)| (name.clone(), it.clone())));
        }
    }

    fn conclude(&mut self) -> Result<Response, ProviderError> {
        if !self.message.is_object() {
            return Err(broken_off());
        }
        let message = std::mem::take(&mut self.message);
        let blocks = std::mem::take(&mut self.blocks);
        let reason = message["stop_reason"].as_str().unwrap_or("end_turn");
        let text =
            |name: &str| message[name].as_str().filter(|it| !it.is_empty()).map(str::to_owned);
        let items = match reason {
            // Text before the refusal does not count.
            "refusal" => vec![refusal(&message)],
            _ => blocks.iter().filter_map(item).collect(),
        };
        Ok(Response {
            model: text("model"),
            items: items.into_iter().map(Item).collect(),
            usage: usage(&message["usage"]),
            ending: match reason {
                "max_tokens" | "model_context_window_exceeded" => {
                    FinishReason::Incomplete("max_output_tokens".to_owned())
                }
                _ => FinishReason::Completed,
            },
            wants_more: reason == "pause_turn",
            ..Response::default()
        })
    }
}

fn append(block: &mut Value, name: &str, piece: &str) {
    let Some(members) = block.as_object_mut() else { return };
    match members.get_mut(name) {
        Some(Value::String(text)) => text.push_str(piece),
        _ => {
            members.insert(name.to_owned(), piece.into());
        }
    }
}

/// Returns a block as an item. No tools that the provider runs itself are declared.
fn item(block: &Value) -> Option<Value> {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match block["type"].as_str()? {
        "text" => {
            let part = json!({"type": "output_text", "text": text("text")});
            let is_blank = text("text").trim().is_empty();
            (!is_blank).then(|| json!({"type": "message", "role": "assistant", "content": [part]}))
        }
        "thinking" | "redacted_thinking" => {
            let mut item = json!({"type": "reasoning", "summary": []});
            if !text("thinking").is_empty() {
                let part = json!({"type": "reasoning_text", "text": text("thinking")});
                item["content"] = json!([part]);
            }
            opaque::keep(&mut item, Map::from_iter([(BLOCK.to_owned(), block.clone())]));
            Some(item)
        }
        "tool_use" => {
            let arguments = match &block["input"] {
                Value::String(text) => text.clone(),
                Value::Null => "{}".to_owned(),
                input => input.to_string(),
            };
            Some(json!({
                "type": "function_call",
                "call_id": text("id"),
                "name": text("name"),
                "arguments": arguments,
            }))
        }
        _ => None,
    }
}

fn refusal(message: &Value) -> Value {
    let explanation = message.pointer("/stop_details/explanation").and_then(Value::as_str);
    let explanation = explanation.filter(|it| !it.trim().is_empty()).unwrap_or(REFUSED);
    let part = json!({"type": "refusal", "refusal": explanation});
    json!({"type": "message", "role": "assistant", "content": [part]})
}

/// Tokens read from and written to the cache are counted apart from the rest of the input.
fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let cached = count("cache_read_input_tokens");
    let written = count("cache_creation_input_tokens");
    let thinking = usage.pointer("/output_tokens_details/thinking_tokens").and_then(Value::as_u64);
    Usage {
        requests: 1,
        input_tokens: count("input_tokens").saturating_add(cached).saturating_add(written),
        cached_input_tokens: cached,
        output_tokens: count("output_tokens"),
        reasoning_tokens: thinking.unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop, proptest};
    use serde_json::{Value, json};

    use super::MessagesReader;
    use crate::Api;
    use crate::error::{ProviderError, ProviderErrorKind};
    use crate::wire::samples;
    use csv_agent_testing::{cases, json_of};
    use csv_agent_types::conversation::{FinishReason, Response, Usage};

    fn read(events: &[Value]) -> (String, Result<Response, ProviderError>) {
        samples::read(Api::Messages, events)
    }

    fn start() -> Value {
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
            "role": "assistant", "model": "served", "content": [], "stop_reason": null,
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 70,
                "cache_creation_input_tokens": 20, "output_tokens": 1}}})
    }

    #[expect(clippy::needless_pass_by_value, reason = "`json!({…})` reads better without a `&`")]
    fn block(block: Value, deltas: &[Value]) -> Vec<Value> {
        let delta = |it: &Value| json!({"type": "content_block_delta", "index": 0, "delta": it});
        let begun = json!({"type": "content_block_start", "index": 0, "content_block": block});
        let end = json!({"type": "content_block_stop", "index": 0});
        [begun].into_iter().chain(deltas.iter().map(delta)).chain([end]).collect()
    }

    fn text(text: &str) -> Vec<Value> {
        block(json!({"type": "text", "text": ""}), &[json!({"type": "text_delta", "text": text})])
    }

    fn stop(reason: &str) -> Vec<Value> {
        let usage = json!({"output_tokens": 9, "input_tokens": null,
            "output_tokens_details": {"thinking_tokens": 3}});
        vec![
            json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}),
            json!({"type": "message_stop"}),
        ]
    }

    fn items(response: &Response) -> Value {
        response.items.iter().map(|it| it.0.clone()).collect()
    }

    #[test]
    fn events_become_items_of_the_other_dialect() {
        let thinking = block(
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            &[
                json!({"type": "thinking_delta", "thinking": "Hm"}),
                json!({"type": "thinking_delta", "thinking": "m."}),
                json!({"type": "signature_delta", "signature": "s1"}),
            ],
        );
        let redacted = block(json!({"type": "redacted_thinking", "data": "x"}), &[]);
        let call = block(
            json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}),
            &[
                json!({"type": "input_json_delta", "partial_json": "{\"a\": "}),
                json!({"type": "input_json_delta", "partial_json": "1.0}"}),
            ],
        );
        let bare =
            block(json!({"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}}), &[]);
        let ping = vec![json!({"type": "ping"}), json!({"type": "new", "a": 1})];
        let all =
            [vec![start()], thinking, redacted, ping, text("One."), call, bare, stop("tool_use")];
        let (shown, response) = read(&all.concat());
        let response = response.unwrap();
        assert_eq!(shown, "One.");
        assert_eq!(
            items(&response).to_string(),
            json!([
                {"type": "reasoning", "summary": [],
                 "content": [{"type": "reasoning_text", "text": "Hmm."}],
                 "opaque": {"members": {"block":
                    {"type": "thinking", "thinking": "Hmm.", "signature": "s1"}}}},
                {"type": "reasoning", "summary": [],
                 "opaque": {"members": {"block": {"type": "redacted_thinking", "data": "x"}}}},
                {"type": "message", "role": "assistant",
                 "content": [{"type": "output_text", "text": "One."}]},
                {"type": "function_call", "call_id": "toolu_1", "name": "f",
                 "arguments": "{\"a\": 1.0}"},
                {"type": "function_call", "call_id": "toolu_2", "name": "g", "arguments": "{}"},
            ])
            .to_string()
        );
        assert_eq!(response.model.as_deref(), Some("served"));
        assert_eq!((response.ending, response.wants_more), (FinishReason::Completed, false));
        let usage = Usage {
            requests: 1,
            input_tokens: 95,
            cached_input_tokens: 70,
            output_tokens: 9,
            reasoning_tokens: 3,
        };
        assert_eq!(response.usage, usage);
    }

    #[test]
    fn a_body_in_one_piece_is_read_the_same_way() {
        let content = json!([
            {"type": "thinking", "thinking": "Hm.", "signature": "s1"},
            {"type": "text", "text": "One."},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
        ]);
        let body = json!({"type": "message", "role": "assistant", "model": "m",
            "content": content, "stop_reason": "tool_use", "usage": {"input_tokens": 3}});
        let response = MessagesReader::new("m").body(&body.to_string()).unwrap();
        assert_eq!(response.items[0].thought().as_deref(), Some("Hm."));
        assert_eq!(response.items[1].text(), "One.");
        assert_eq!(response.items[2].tool_call().unwrap().arguments, "{\"a\":1}");
        let kind = |body: &str| MessagesReader::new("m").body(body).unwrap_err().kind;
        assert_eq!(kind("<html>"), ProviderErrorKind::Malformed);
        assert_eq!(
            kind(r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#),
            ProviderErrorKind::Overloaded { retry_after: None }
        );
    }

    #[test]
    fn why_an_answer_ends_has_the_names_of_the_other_dialect() {
        let ended = |reason: &str| {
            let response = read(&[vec![start()], text("a"), stop(reason)].concat()).1.unwrap();
            (response.ending, response.wants_more)
        };
        let cut = FinishReason::Incomplete("max_output_tokens".to_owned());
        assert_eq!(ended("end_turn"), (FinishReason::Completed, false));
        assert_eq!(ended("stop_sequence"), (FinishReason::Completed, false));
        assert_eq!(ended("max_tokens"), (cut.clone(), false));
        assert_eq!(ended("model_context_window_exceeded"), (cut, false));
        assert_eq!(ended("pause_turn"), (FinishReason::Completed, true));
    }

    #[test]
    fn a_refusal_replaces_what_came_before_it() {
        let mut refused = stop("refusal");
        let response = read(&[vec![start()], text("Sure, "), refused.clone()].concat()).1.unwrap();
        assert_eq!(response.items.len(), 1);
        assert_eq!(response.items[0].refusal().unwrap(), "the provider refused to answer this");
        refused[0]["delta"]["stop_details"] =
            json!({"type": "refusal", "explanation": "Not that."});
        let response = read(&[vec![start()], refused].concat()).1.unwrap();
        assert_eq!(response.items[0].refusal().as_deref(), Some("Not that."));
    }

    #[test]
    fn an_answer_ends_when_an_event_says_so() {
        let [delta, _] = <[Value; 2]>::try_from(stop("end_turn")).unwrap();
        assert!(read(&[vec![start()], text("a"), vec![delta]].concat()).1.is_ok());
        for events in [vec![], vec![start()], [vec![start()], text("a")].concat()] {
            let error = read(&events).1.unwrap_err();
            assert_eq!(error.kind, ProviderErrorKind::Transient { retry_after: None });
        }
        assert!(read(&[start(), json!("{\"type\":")]).1.is_err());
        assert!(read(&[vec![start()], vec![json!("ping")], stop("end_turn")].concat()).1.is_ok());
    }

    #[test]
    fn an_error_among_the_events_ends_the_answer() {
        let error = |kind: &str| {
            let error = json!({"type": "error", "error": {"type": kind, "message": "m"}});
            read(&[vec![start()], text("a"), vec![error]].concat()).1.unwrap_err().kind
        };
        let soon = ProviderErrorKind::Transient { retry_after: None };
        assert_eq!(error("overloaded_error"), ProviderErrorKind::Overloaded { retry_after: None });
        assert_eq!(error("api_error"), soon);
        assert_eq!(error("rate_limit_error"), soon);
        assert_eq!(error("timeout_error"), soon);
        assert_eq!(error("invalid_request_error"), ProviderErrorKind::Rejected);
        assert_eq!(error("billing_error"), ProviderErrorKind::QuotaExceeded);
        assert_eq!(error("authentication_error"), ProviderErrorKind::Unauthorized);
        assert_eq!(error("request_too_large"), ProviderErrorKind::ContextTooLong);
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let words = vec![
            "type",
            "message",
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
            "content_block",
            "delta",
            "text",
            "text_delta",
            "thinking",
            "thinking_delta",
            "signature",
            "signature_delta",
            "tool_use",
            "input_json_delta",
            "partial_json",
            "id",
            "name",
            "input",
            "usage",
            "stop_reason",
            "refusal",
            "error",
            "content",
            "index",
            "{}",
        ];
        json_of(words)
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn no_events_make_it_panic(
            blocks in prop::collection::vec(json_value(), 0..6),
            deltas in prop::collection::vec(json_value(), 0..6),
            others in prop::collection::vec(json_value(), 0..6),
        ) {
            let blocks = blocks.into_iter().flat_map(|it| block(it, &deltas));
            let events: Vec<Value> = [start()].into_iter().chain(blocks).chain(others).collect();
            let _ = read(&events);
            for event in events {
                let _ = MessagesReader::new("m").body(&event.to_string());
            }
        }
    }
}
