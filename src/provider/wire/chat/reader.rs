//! Builds a response from the chunks of an answer.
//!
//! Unlike the events of the Responses API, each chunk is a part of the answer and arrives once.

use std::time::Duration;

use serde_json::{Value, json};

use csv_agent_types::conversation::{FinishReason, Item, Response, Usage};
use csv_agent_types::limits::USAGE_AFTER_FINISH;

use crate::error::{ProviderError, ProviderErrorKind};
use crate::transport::Headers;
use crate::wire::chat::calls::{Calls, TooMany};
use crate::wire::chat::reasoning::{REASONING_CONTENT, Reasoning};
use crate::wire::chat::thoughts::{Split, Thoughts, split_unopened};
use crate::wire::failure::Complaint;
use crate::wire::opaque::{self, OPAQUE};
use crate::wire::sse::DONE;
use crate::wire::{StreamStep, broken_off, is_torn, torn, unreadable};

/// The member of a choice that contains a complete message.
const WHOLE: &str = "message";

/// Reads one answer.
#[derive(Debug, Default)]
pub(crate) struct ChatReader {
    /// The requested model; errors name it.
    asked: String,
    /// The model that the server names.
    served: Option<String>,
    text: String,
    thoughts: Thoughts,
    refusal: String,
    /// Reasoning to show to people.
    thought: String,
    /// Reasoning to send back to the server.
    reasoning: Reasoning,
    calls: Calls,
    usage: Option<Usage>,
    finish: Option<String>,
}

impl ChatReader {
    /// Makes a reader for one answer of this model.
    pub(crate) fn new(model: &str) -> ChatReader {
        ChatReader { asked: model.to_owned(), ..ChatReader::default() }
    }

    /// Processes the next chunk. Fails when the chunk is an error, or cannot be parsed.
    pub(crate) fn event(&mut self, chunk: &Value) -> Result<StreamStep, ProviderError> {
        if chunk == DONE {
            // Some servers signal the end in no other way, and some proxies remove it.
            if self.finish.is_none() && self.is_whole() {
                self.finish = Some("stop".to_owned());
            }
            return Ok(StreamStep::Quiet);
        }
        if !chunk.is_object() {
            return if is_torn(chunk) { Err(torn()) } else { Ok(StreamStep::Quiet) };
        }
        self.refuse_error(chunk)?;
        let delta = self.take(chunk, "delta")?;
        // Some servers send counts in every chunk; after the last one nothing is missing.
        if self.finish.is_some() && self.usage.is_some() && delta.is_empty() {
            return Ok(StreamStep::Done(self.conclude()));
        }
        if !delta.is_empty() {
            return Ok(StreamStep::Delta(delta));
        }
        let name = chunk.pointer("/choices/0/delta/tool_calls/0/function/name");
        let name = name.and_then(Value::as_str).filter(|it| !it.is_empty());
        Ok(name.map_or(StreamStep::Quiet, |it| StreamStep::Calls(it.to_owned())))
    }

    /// Processes a complete answer. Fails when the body is not a response, or is an error.
    pub(crate) fn body(&mut self, body: &str) -> Result<Response, ProviderError> {
        let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
        self.refuse_error(&value)?;
        if !value.pointer("/choices/0/message").is_some_and(Value::is_object) {
            return Err(unreadable(body));
        }
        self.take(&value, WHOLE)?;
        Ok(self.conclude())
    }

    /// Returns how long to wait for the token counts after the end of the answer.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.finish.is_some().then_some(USAGE_AFTER_FINISH)
    }

    /// Processes the end of the stream, with the error that broke it, if any. Fails when no chunk ended the
    /// answer.
    pub(crate) fn closed(
        mut self,
        broken: Option<ProviderError>,
    ) -> Result<Response, ProviderError> {
        if self.finish.is_none() {
            return Err(broken.unwrap_or_else(broken_off));
        }
        Ok(self.conclude())
    }

    fn refuse_error(&self, value: &Value) -> Result<(), ProviderError> {
        let has_error = value.get("error").is_some_and(|it| !it.is_null());
        // The name of the event, where the chunk itself has no type.
        let is_error = value.get("type").is_some_and(|it| it == "error");
        // llama.cpp and vLLM send their error envelope unchanged.
        let is_envelope = value.get("object").is_some_and(|it| it == "error");
        if !has_error && !is_error && !is_envelope {
            return Ok(());
        }
        Err(Complaint::of_json(value).judge(None, &Headers::new(), &self.asked))
    }

    /// Adds the content of a chunk or body. Returns the new text.
    fn take(&mut self, value: &Value, member: &str) -> Result<String, ProviderError> {
        if self.served.is_none() {
            let model = value.get("model").and_then(Value::as_str);
            self.served = model.filter(|it| !it.is_empty()).map(str::to_owned);
        }
        if let Some(counted) = value.get("usage").filter(|it| it.is_object()) {
            self.usage = Some(usage(counted));
        }
        let Some(choice) = value.pointer("/choices/0") else { return Ok(String::new()) };
        // A server that cannot stream may send the whole message as its only chunk.
        let piece = choice.get(member).filter(|_| member != WHOLE);
        let added = piece.or(choice.get(WHOLE)).unwrap_or(&Value::Null);
        let Split { thought, answer } = self.thoughts.push(&text(added.get("content")));
        self.text.push_str(&answer);
        self.thought.push_str(&thought);
        self.refusal.push_str(added.get("refusal").and_then(Value::as_str).unwrap_or_default());
        let thought =
            [REASONING_CONTENT, "reasoning"].iter().find_map(|it| added.get(*it)?.as_str());
        self.thought.push_str(thought.unwrap_or_default());
        match piece {
            Some(_) => self.reasoning.take(added),
            None => self.reasoning.take_whole(added),
        }
        let pieces = added.get("tool_calls").and_then(Value::as_array);
        for (position, call) in pieces.into_iter().flatten().enumerate() {
            let taken = match piece {
                Some(_) => self.calls.take(position, call),
                None => self.calls.take_whole(call),
            };
            taken.map_err(|TooMany| {
                let message = "the provider's answer has more tool calls than can be read";
                ProviderError::new(ProviderErrorKind::Malformed, message)
            })?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        Ok(answer)
    }

    /// Returns whether the content so far can be a complete answer.
    fn is_whole(&self) -> bool {
        let says_something = !self.text.is_empty() || !self.refusal.is_empty();
        (says_something || !self.calls.is_empty()) && self.calls.are_whole()
    }

    fn conclude(&mut self) -> Response {
        let Split { thought, answer } = self.thoughts.end();
        self.thought.push_str(&thought);
        self.text.push_str(&answer);
        if let Some((thought, answer)) = split_unopened(&self.text) {
            self.thought.push_str(thought);
            self.text = answer.to_owned();
        }
        let mut items = Vec::new();
        let mut reasoning = json!({"type": "reasoning", "summary": []});
        if !self.thought.is_empty() {
            reasoning["content"] = json!([{"type": "reasoning_text", "text": self.thought}]);
        }
        opaque::keep(&mut reasoning, std::mem::take(&mut self.reasoning).into_members());
        if reasoning.get("content").is_some() || reasoning.get(OPAQUE).is_some() {
            items.push(reasoning);
        }
        let mut parts = Vec::new();
        if !self.text.is_empty() {
            parts.push(json!({"type": "output_text", "text": self.text}));
        }
        if !self.refusal.is_empty() {
            parts.push(json!({"type": "refusal", "refusal": self.refusal}));
        }
        if !parts.is_empty() {
            items.push(json!({"type": "message", "role": "assistant", "content": parts}));
        }
        items.extend(std::mem::take(&mut self.calls).into_items());
        Response {
            model: self.served.take(),
            items: items.into_iter().map(Item).collect(),
            usage: self.usage.unwrap_or(Usage { requests: 1, ..Usage::default() }),
            ending: match self.finish.as_deref() {
                Some("length") => FinishReason::Incomplete("max_output_tokens".to_owned()),
                Some("content_filter") => FinishReason::Incomplete("content_filter".to_owned()),
                // `stop` also occurs with calls, and `function_call` or `tool_calls` without.
                _ => FinishReason::Completed,
            },
            ..Response::default()
        }
    }
}

/// Returns the text of a content: a string, or parts with a text each.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|it| it.get("text").and_then(Value::as_str)).collect()
        }
        _ => String::new(),
    }
}

fn usage(usage: &Value) -> Usage {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
    Usage {
        requests: 1,
        input_tokens: count("/prompt_tokens"),
        cached_input_tokens: count("/prompt_tokens_details/cached_tokens"),
        output_tokens: count("/completion_tokens"),
        reasoning_tokens: count("/completion_tokens_details/reasoning_tokens"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop, proptest};
    use serde_json::{Value, json};

    use super::ChatReader;
    use crate::Api;
    use crate::error::{ProviderError, ProviderErrorKind};
    use crate::wire::samples;
    use csv_agent_testing::{cases, json_of};
    use csv_agent_types::conversation::{FinishReason, Item, Response, Usage};

    fn read(chunks: &[Value]) -> (String, Result<Response, ProviderError>) {
        samples::read(Api::Chat, chunks)
    }

    #[expect(clippy::needless_pass_by_value, reason = "`json!({…})` reads better without a `&`")]
    fn chunk(delta: Value) -> Value {
        json!({"object": "chat.completion.chunk", "model": "served",
            "choices": [{"index": 0, "delta": delta, "finish_reason": null}], "usage": null})
    }

    fn finish(reason: &str) -> Value {
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    }

    fn counted() -> Value {
        json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4,
            "total_tokens": 13, "prompt_tokens_details": {"cached_tokens": 5},
            "completion_tokens_details": {"reasoning_tokens": 3}}})
    }

    fn items(response: &Response) -> Value {
        response.items.iter().map(|it| it.0.clone()).collect()
    }

    #[test]
    fn chunks_become_items_of_the_other_dialect() {
        let call = json!([{"index": 0, "id": "c1", "type": "function",
            "function": {"name": "f", "arguments": "{}"}}]);
        let (text, response) = read(&[
            chunk(json!({"role": "assistant", "content": ""})),
            chunk(json!({"reasoning_content": "Hm"})),
            chunk(json!({"reasoning": "m."})),
            chunk(json!({"content": "One "})),
            chunk(json!({"content": [{"type": "text", "text": "table."}]})),
            chunk(json!({"tool_calls": call})),
            json!({"type": "keepalive"}),
            finish("tool_calls"),
            counted(),
        ]);
        let response = response.unwrap();
        assert_eq!(text, "One table.");
        assert_eq!(
            items(&response).to_string(),
            json!([
                {"type": "reasoning", "summary": [],
                 "content": [{"type": "reasoning_text", "text": "Hmm."}],
                 "opaque": {"members": {"reasoning_content": "Hm"}}},
                {"type": "message", "role": "assistant",
                 "content": [{"type": "output_text", "text": "One table."}]},
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            ])
            .to_string()
        );
        assert_eq!(response.model.as_deref(), Some("served"));
        assert_eq!(response.ending, FinishReason::Completed);
        let usage = Usage {
            requests: 1,
            input_tokens: 9,
            cached_input_tokens: 5,
            output_tokens: 4,
            reasoning_tokens: 3,
        };
        assert_eq!(response.usage, usage);
    }

    #[test]
    fn an_answer_ends_when_a_chunk_says_so() {
        let said = || chunk(json!({"content": "a"}));
        assert!(read(&[said(), finish("stop")]).1.is_ok(), "the count may be missing");
        let mut whole = finish("stop");
        whole["choices"][0]["delta"] = json!({"content": "a"});
        whole["usage"] = counted()["usage"].clone();
        assert_eq!(read(&[whole]).1.unwrap().usage.input_tokens, 9);
        let done = || json!("[DONE]");
        assert!(read(&[said(), done()]).1.is_ok(), "some servers give no reason");
        let call =
            json!({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{"}}]});
        assert!(read(&[chunk(call), done()]).1.is_err(), "a call that is cut is no end");
        assert!(read(&[done()]).1.is_err(), "nor is nothing at all");
        let error = read(&[said(), counted()]).1.unwrap_err();
        assert_eq!(error.kind, ProviderErrorKind::Transient { retry_after: None });
        assert!(read(&[]).1.is_err());
    }

    #[test]
    fn what_was_thought_is_no_answer() {
        let pieces = ["<th", "ink>Hm", "m.</think>\n", "\nFour."];
        let chunks = pieces.map(|it| chunk(json!({"content": it})));
        let (text, response) = read(&[&chunks[..], &[finish("stop")]].concat());
        let response = response.unwrap();
        assert_eq!(text, "Four.");
        assert_eq!(response.items[0].thought().as_deref(), Some("Hmm."));
        assert_eq!(response.items[1].text(), "Four.");
        let message = json!({"role": "assistant", "content": "Hmm.\n</think>\nFour."});
        let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        let response = ChatReader::new("m").body(&body.to_string()).unwrap();
        assert_eq!(response.items[0].thought().as_deref(), Some("Hmm."));
        assert_eq!(response.items[1].text(), "Four.");
    }

    #[test]
    fn calls_of_a_whole_message_stay_apart_whatever_their_ids() {
        let call = |x: u32| {
            json!({"id": "call", "type": "function", "function": {"name": "f",
                "arguments": json!({"x": x}).to_string()}})
        };
        let message =
            json!({"role": "assistant", "content": null, "tool_calls": [call(1), call(2)]});
        let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
        let body = json!({"choices": [choice]});
        let response = ChatReader::new("m").body(&body.to_string()).unwrap();
        let calls: Vec<_> = response.items.iter().filter_map(Item::tool_call).collect();
        let arguments: Vec<&str> = calls.iter().map(|it| it.arguments.as_str()).collect();
        assert_eq!(arguments, ["{\"x\":1}", "{\"x\":2}"]);
        let (_, streamed) = read(&[body]);
        assert_eq!(items(&streamed.unwrap()), items(&response), "also as the only chunk");
    }

    #[test]
    fn what_the_server_wants_back_is_kept_with_its_item() {
        let extra = json!({"google": {"thought_signature": "s"}});
        let block = json!({"type": "reasoning.encrypted", "data": "x"});
        let begun = json!({"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{"}});
        let mut call = begun.clone();
        call["function"]["arguments"] = "{}".into();
        call["extra_content"] = extra.clone();
        let rest = json!({"index": 0, "extra_content": extra, "function": {"arguments": "}"}});
        let message = json!({"tool_calls": [call], "reasoning_details": [block]});
        let body = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]});
        let whole = ChatReader::new("m").body(&body.to_string()).unwrap();
        let chunks = [
            chunk(json!({"reasoning_details": [block]})),
            chunk(json!({"tool_calls": [begun]})),
            chunk(json!({"tool_calls": [rest]})),
            finish("tool_calls"),
        ];
        let streamed = read(&chunks).1.unwrap();
        for response in [whole, streamed] {
            let kept = items(&response);
            assert_eq!(kept[0]["opaque"]["members"], json!({"reasoning_details": [block]}));
            assert_eq!(kept[1]["opaque"]["members"], json!({"extra_content": extra}));
            assert_eq!(response.items[0].thought(), None, "sealed");
        }
    }

    #[track_caller]
    fn check_ending(reason: &str, ending: &FinishReason) {
        assert_eq!(
            &read(&[chunk(json!({"content": "a"})), finish(reason)]).1.unwrap().ending,
            ending
        );
    }

    #[test]
    fn why_an_answer_was_cut_has_the_names_of_the_other_dialect() {
        let cut = |reason: &str| FinishReason::Incomplete(reason.to_owned());
        check_ending("stop", &FinishReason::Completed);
        check_ending("eos", &FinishReason::Completed);
        check_ending("length", &cut("max_output_tokens"));
        check_ending("content_filter", &cut("content_filter"));
    }

    #[track_caller]
    fn check_failure(chunks: &[Value], kind: &ProviderErrorKind) {
        assert_eq!(&read(chunks).1.unwrap_err().kind, kind);
    }

    #[test]
    fn an_error_among_the_chunks_ends_the_answer() {
        let soon = ProviderErrorKind::Transient { retry_after: None };
        let said = chunk(json!({"content": "a"}));
        let overload = json!({"error": {"message": "oops", "type": "server_error", "code": 500}});
        check_failure(&[said.clone(), overload], &soon);
        let bad =
            json!({"error": {"code": 400, "message": "bad", "type": "invalid_request_error"}});
        check_failure(&[said.clone(), bad], &ProviderErrorKind::Rejected);
        check_failure(&[said.clone(), json!({"error": "out of memory"})], &soon);
        let envelope = json!({"object": "error", "message": "bad", "code": 400});
        check_failure(&[said.clone(), envelope], &ProviderErrorKind::Rejected);
        check_failure(&[said, json!({"type": "error", "message": "oops"})], &soon);
    }

    #[test]
    fn a_chunk_that_cannot_be_read_is_missed_and_a_remark_is_not() {
        let said = chunk(json!({"content": "a"}));
        check_failure(&[said.clone(), json!("{\"choices\":[")], &ProviderErrorKind::Malformed);
        assert!(read(&[said, json!("ping"), finish("stop")]).1.is_ok());
    }

    #[test]
    fn a_body_in_one_piece_is_read_the_same_way() {
        let call = json!({"id": "c1", "type": "function",
            "function": {"name": "f", "arguments": {"a": 1}}});
        let message = json!({"role": "assistant", "content": null, "refusal": "no",
            "tool_calls": [call]});
        let body = json!({"model": "m", "usage": counted()["usage"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
        let response = ChatReader::new("m").body(&body.to_string()).unwrap();
        assert_eq!(response.usage.total_tokens(), 13);
        assert_eq!(response.items[0].refusal().as_deref(), Some("no"));
        assert_eq!(response.items[1].tool_call().unwrap().arguments, "{\"a\":1}");
        let kind = |body: &str| ChatReader::new("m").body(body).unwrap_err().kind;
        assert_eq!(kind("<html>"), ProviderErrorKind::Malformed);
        assert_eq!(kind("{\"choices\":[]}"), ProviderErrorKind::Malformed);
        assert_eq!(
            kind("{\"error\":{\"code\":\"insufficient_quota\"}}"),
            ProviderErrorKind::QuotaExceeded
        );
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let words = vec![
            "choices", "delta", "message", "content", "tool_calls", "index", "id", "function",
            "name", "arguments", "finish_reason", "usage", "prompt_tokens", "error", "code",
            "type", "text", "refusal", "reasoning", "reasoning_content", "reasoning_details",
            "extra_content", "length", "stop", "model", "object",
        ];
        json_of(words)
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn no_chunks_make_it_panic(
            deltas in prop::collection::vec(json_value(), 0..6),
            others in prop::collection::vec(json_value(), 0..6),
        ) {
            let chunks: Vec<Value> = deltas.into_iter().map(chunk).chain(others).collect();
            let _ = read(&chunks);
            for chunk in chunks {
                let _ = ChatReader::new("m").body(&chunk.to_string());
            }
        }
    }
}
