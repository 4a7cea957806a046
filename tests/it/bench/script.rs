//! What the loopback server answers: one [`Round`] a request.

use std::time::Duration;

use serde_json::{Value, json};

use csv_agent_provider::Api;

use super::hosted::{Hosted, Room};
use super::{chat, messages};

/// Starts a round that completes with nothing in it; the methods add to it.
pub fn round() -> Round {
    Round {
        usage: json!({
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 110,
        }),
        ending: "completed",
        id: "resp_1".to_owned(),
        finish: Finish::Close,
        chunk_bytes: usize::MAX,
        ..Round::default()
    }
}

/// One answer of the server.
#[derive(Debug, Clone, Default)]
pub struct Round {
    output: Vec<Value>,
    /// Files that the code of the round leaves in the container: (path, content).
    made: Vec<(String, Vec<u8>)>,
    /// Whether containers expire when it was sent.
    pub(super) is_last_of_container: bool,
    /// The model that answers; none for the one that was asked.
    served: Option<String>,
    usage: Value,
    ending: &'static str,
    ending_reason: Option<String>,
    error: Option<Value>,
    id: String,
    previous_id: Option<String>,
    goes_on: bool,
    /// Instead of the events that the output makes.
    events: Option<Vec<Value>>,
    /// Instead of any events: the bytes of the body.
    raw: Option<Vec<u8>>,
    /// Instead of a response: status and body.
    pub(super) http: Option<(u16, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) delay: Duration,
    pub(super) pause: Duration,
    pub(super) stop_after: Option<usize>,
    pub(super) finish: Finish,
    pub(super) chunk_bytes: usize,
    pub(super) is_mute: bool,
}

/// What the server does when it has sent what it sends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Finish {
    /// Ends the body and closes.
    #[default]
    Close,
    /// Closes within the body.
    Cut,
    /// Keeps the socket open and says nothing.
    Hold,
}

impl Round {
    /// Calls a tool.
    #[expect(clippy::needless_pass_by_value, reason = "`json!({…})` reads better without a `&`")]
    pub fn calls(self, call_id: &str, name: &str, arguments: Value) -> Round {
        self.calls_raw(call_id, name, &arguments.to_string())
    }

    /// Calls a tool with arguments that need not be JSON.
    pub fn calls_raw(self, call_id: &str, name: &str, arguments: &str) -> Round {
        self.item(json!({
            "id": format!("fc_{call_id}"),
            "type": "function_call",
            "status": "completed",
            "call_id": call_id,
            "name": name,
            "arguments": arguments,
        }))
    }

    /// Runs code.
    pub fn runs(self, call_id: &str, code: &str) -> Round {
        self.calls(call_id, "python_repl", json!({"code": code}))
    }

    /// Runs code in the provider's container, which prints this.
    pub fn interprets(self, code: &str, logs: &str) -> Round {
        self.interprets_with(code, json!([{"type": "logs", "logs": logs}]))
    }

    /// Runs code in the provider's container, with these outputs.
    pub fn interprets_with(self, code: &str, outputs: Value) -> Round {
        self.interpretation("completed", code, outputs)
    }

    /// Runs code in the provider's container, which breaks.
    pub fn interpretation_fails(self, code: &str) -> Round {
        self.interpretation("failed", code, json!([]))
    }

    /// Adds a call whose id and container are filled in when the round is answered.
    fn interpretation(self, status: &str, code: &str, outputs: Value) -> Round {
        let mut item = json!({"id": null, "type": "code_interpreter_call", "status": status,
            "container_id": null, "code": code});
        item["outputs"] = outputs;
        self.item(item)
    }

    /// Leaves a file in the provider's container; a path without a root is one of its data.
    pub fn makes_file(mut self, path: &str, content: impl Into<Vec<u8>>) -> Round {
        self.made.push((path.to_owned(), content.into()));
        self
    }

    /// Is sent, and then all containers expire.
    pub fn expires_containers(mut self) -> Round {
        self.is_last_of_container = true;
        self
    }

    /// Says something that cites a file of the provider's container.
    pub fn cites(self, text: &str, filename: &str) -> Round {
        self.cites_all(text, [filename])
    }

    /// Says something that cites files of the provider's container.
    pub fn cites_all<'a>(self, text: &str, names: impl IntoIterator<Item = &'a str>) -> Round {
        let citation = |name: &str| {
            let link = format!("sandbox:/mnt/data/{name}");
            let at = |it: usize| text[..it].chars().count();
            let start = text.find(&link).map_or(0, at);
            let end = text.find(&link).map_or(0, |it| at(it + link.len()));
            json!({"type": "container_file_citation", "container_id": null, "file_id": null,
                "filename": name, "start_index": start, "end_index": end})
        };
        let citations: Vec<Value> = names.into_iter().map(citation).collect();
        self.message(&json!({"type": "output_text", "text": text, "annotations": citations,
            "logprobs": []}))
    }

    /// Says something.
    pub fn says(self, text: &str) -> Round {
        let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
        self.message(&part)
    }

    /// Refuses to answer.
    pub fn refuses(self, text: &str) -> Round {
        self.message(&json!({"type": "refusal", "refusal": text}))
    }

    fn message(self, part: &Value) -> Round {
        let id = format!("msg_{}", self.output.len());
        self.item(json!({
            "id": id,
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }))
    }

    /// Thinks; the seal tells one thought from another.
    pub fn thinks(self, seal: &str) -> Round {
        let id = format!("rs_{}", self.output.len());
        self.item(json!({"id": id, "type": "reasoning", "summary": [], "encrypted_content": seal}))
    }

    /// Thinks aloud, as models with open weights do.
    pub fn thinks_aloud(self, text: &str) -> Round {
        let part = json!({"type": "reasoning_text", "text": text});
        self.item(json!({"type": "reasoning", "summary": [], "content": [part]}))
    }

    /// Thinks in blocks, as `OpenRouter` tells of models that sign or seal their thoughts.
    pub fn thinks_in_blocks(self, blocks: &Value) -> Round {
        self.item(json!({"type": "reasoning", "summary": [], "reasoning_details": blocks}))
    }

    /// Thinks what nobody may read, as Anthropic sends it.
    pub fn thinks_redacted(self, data: &str) -> Round {
        self.item(json!({"type": "reasoning", "summary": [], "redacted": data}))
    }

    /// Signs the call before it, as Gemini does.
    pub fn signed(mut self, signature: &str) -> Round {
        let extra = json!({"google": {"thought_signature": signature}});
        self.output.last_mut().unwrap()["extra_content"] = extra;
        self
    }

    /// Is answered by another model than was asked.
    pub fn served_by(mut self, model: &str) -> Round {
        self.served = Some(model.to_owned());
        self
    }

    /// Adds any item.
    pub fn item(mut self, item: Value) -> Round {
        self.output.push(item);
        self
    }

    /// Costs this many tokens.
    pub fn uses(mut self, input_tokens: u64, output_tokens: u64) -> Round {
        self.usage["input_tokens"] = input_tokens.into();
        self.usage["output_tokens"] = output_tokens.into();
        self.usage["total_tokens"] = (input_tokens + output_tokens).into();
        self
    }

    /// Finds this many of its input tokens in the provider's cache.
    pub fn reads_from_cache(mut self, n_tokens: u64) -> Round {
        self.usage["input_tokens_details"]["cached_tokens"] = n_tokens.into();
        self
    }

    /// Is kept under a name, and says which response it goes on from.
    pub fn kept_as(mut self, id: &str, previous_id: Option<&str>) -> Round {
        id.clone_into(&mut self.id);
        self.previous_id = previous_id.map(str::to_owned);
        self
    }

    /// Wants another request, though nothing was called.
    pub fn goes_on(mut self) -> Round {
        self.goes_on = true;
        self
    }

    /// Ends as incomplete for this reason.
    pub fn ends_early_for(mut self, reason: &str) -> Round {
        self.ending = "incomplete";
        self.ending_reason = Some(reason.to_owned());
        self
    }

    /// Ends as failed, after HTTP said that all is well.
    pub fn fails(mut self, code: &str, message: &str) -> Round {
        self.ending = "failed";
        self.error = Some(json!({"code": code, "message": message}));
        self
    }

    /// Sends exactly these events.
    pub fn events(mut self, events: impl IntoIterator<Item = Value>) -> Round {
        self.events = Some(events.into_iter().collect());
        self
    }

    /// Sends exactly these bytes as the stream.
    pub fn raw(mut self, bytes: impl Into<Vec<u8>>) -> Round {
        self.raw = Some(bytes.into());
        self
    }

    /// Answers with an HTTP status and a body instead of a response.
    pub fn answers(mut self, status: u16, body: &str) -> Round {
        self.http = Some((status, body.to_owned()));
        self
    }

    /// Answers with the error envelope of the Messages API.
    pub fn complains(self, status: u16, kind: &str, message: &str) -> Round {
        let error = json!({"type": kind, "message": message});
        let body = json!({"type": "error", "error": error, "request_id": "req_1"});
        self.answers(status, &body.to_string()).header("request-id", "req_1")
    }

    /// Answers with the usual error envelope.
    pub fn errs(self, status: u16, kind: &str, code: &str, message: &str) -> Round {
        let error = json!({"type": kind, "code": code, "param": null, "message": message});
        self.answers(status, &json!({"error": error}).to_string())
    }

    /// Adds a header; a `content-type` replaces the usual one.
    pub fn header(mut self, name: &str, value: &str) -> Round {
        self.headers.push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    /// Waits before it answers.
    pub fn delayed(mut self, delay: Duration) -> Round {
        self.delay = delay;
        self
    }

    /// Waits between events.
    pub fn pausing(mut self, pause: Duration) -> Round {
        self.pause = pause;
        self
    }

    /// Breaks the connection after so many events.
    pub fn cut_after(mut self, n_events: usize) -> Round {
        self.stop_after = Some(n_events);
        self.finish = Finish::Cut;
        self
    }

    /// Ends the stream in good order after so many events.
    pub fn closed_after(mut self, n_events: usize) -> Round {
        self.stop_after = Some(n_events);
        self.finish = Finish::Close;
        self
    }

    /// Falls silent after so many events.
    pub fn silent_after(mut self, n_events: usize) -> Round {
        self.stop_after = Some(n_events);
        self.finish = Finish::Hold;
        self
    }

    /// Takes the request and never sends a byte.
    pub fn mute(mut self) -> Round {
        self.is_mute = true;
        self
    }

    /// Sends everything and leaves the socket open.
    pub fn left_open(mut self) -> Round {
        self.finish = Finish::Hold;
        self
    }

    /// Sends the body in pieces of so many bytes, wherever that cuts.
    pub fn in_chunks_of(mut self, n_bytes: usize) -> Round {
        self.chunk_bytes = n_bytes;
        self
    }

    /// Returns the items that a client must send back, if the response counts.
    pub(super) fn committed(&self) -> &[Value] {
        let counts = self.http.is_none()
            && self.events.is_none()
            && self.raw.is_none()
            && self.stop_after.is_none()
            && !self.is_mute
            && self.ending == "completed";
        if counts { &self.output } else { &[] }
    }

    /// Fills in what only the server knows: the container, the ids, and whether outputs are told.
    /// Returns what is wrong with the script.
    pub(super) fn settle(
        &mut self,
        hosted: &mut Hosted,
        room: Option<&Room>,
        request: &Value,
    ) -> Vec<String> {
        if self.http.is_some() || self.raw.is_some() || self.events.is_some() || self.is_mute {
            return Vec::new();
        }
        let is_call = |it: &Value| it["type"] == "code_interpreter_call";
        let is_forced = request["tool_choice"]["type"] == "code_interpreter";
        if is_forced && self.ending == "completed" && !self.output.iter().any(is_call) {
            return vec!["the interpreter was demanded, and the round runs no code".to_owned()];
        }
        let is_citation = |it: &Value| it["type"] == "container_file_citation";
        let citations =
            |item: &Value| annotations(item).iter().filter(|it| is_citation(it)).count();
        let cites = self.output.iter().any(|it| 0 < citations(it));
        if self.made.is_empty() && !cites && !self.output.iter().any(is_call) {
            return Vec::new();
        }
        let Some(room) = room else {
            return vec!["the round runs code, and no interpreter was offered".to_owned()];
        };
        let container_id = hosted.enter(room);
        for (path, content) in std::mem::take(&mut self.made) {
            hosted.put(&container_id, &path, content, "assistant", None);
        }
        let container = hosted.containers.iter().find(|it| it.id == container_id).unwrap().clone();
        let included = request["include"].as_array().into_iter().flatten();
        let is_told = included.filter(|it| *it == "code_interpreter_call.outputs").count() == 1;
        let fill = |member: &mut Value, value: &str| {
            if member.is_null() {
                *member = value.into();
            }
        };
        let mut faults = Vec::new();
        for item in &mut self.output {
            if is_call(item) {
                if item["id"].is_null() {
                    item["id"] = hosted.new_id("ci_").into();
                }
                fill(&mut item["container_id"], &container_id);
                if !is_told {
                    item["outputs"] = Value::Null;
                }
                continue;
            }
            let parts = item.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten();
            let parts = parts.filter_map(|it| it.get_mut("annotations")?.as_array_mut());
            for citation in parts.flatten().filter(|it| is_citation(it)) {
                fill(&mut citation["container_id"], &container_id);
                let name = citation["filename"].as_str().unwrap_or_default();
                match container.file(name).map(|it| it.id.clone()) {
                    Some(file_id) => fill(&mut citation["file_id"], &file_id),
                    None if citation["file_id"].is_null() => {
                        faults.push(format!("the round cites `{name}`, which is not there"));
                    }
                    None => {}
                }
            }
        }
        faults
    }

    /// Returns the output of the response.
    pub(super) fn output(&self) -> &[Value] {
        &self.output
    }

    /// Returns what it costs.
    pub(super) fn usage(&self) -> &Value {
        &self.usage
    }

    /// Returns how the response fails, if it does.
    pub(super) fn error(&self) -> Option<&Value> {
        self.error.as_ref()
    }

    /// Returns whether it wants another request.
    pub(super) fn wants_more(&self) -> bool {
        self.goes_on
    }

    /// Returns why the response ends early, if it does.
    pub(super) fn ending_reason(&self) -> Option<&str> {
        self.ending_reason.as_deref()
    }

    /// Returns the pieces of the body, as this request wants it: events of a stream, or one piece of
    /// JSON.
    pub(super) fn pieces(&self, api: Api, request: &Value) -> Vec<Vec<u8>> {
        let asked = request["model"].as_str().unwrap_or_default();
        let model = self.served.as_deref().unwrap_or(asked);
        if let Some((_, body)) = &self.http {
            return vec![body.clone().into_bytes()];
        }
        if let Some(raw) = &self.raw {
            return vec![raw.clone()];
        }
        match api {
            _ if request["stream"] == true => {}
            Api::Responses => return vec![self.response(model).to_string().into_bytes()],
            Api::Chat => return vec![chat::whole(self, model).to_string().into_bytes()],
            Api::Messages => return vec![messages::whole(self, model).to_string().into_bytes()],
        }
        if api == Api::Chat {
            let chunks = self.events.clone().unwrap_or_else(|| chat::chunks(self, model));
            let framed = chunks.iter().map(|it| format!("data: {it}\n\n").into_bytes());
            return framed.chain([b"data: [DONE]\n\n".to_vec()]).collect();
        }
        let events = self.events.clone().unwrap_or_else(|| match api {
            Api::Messages => messages::events(self, model),
            _ => self.as_events(model),
        });
        let framed = events.into_iter().enumerate().map(|(number, mut event)| {
            if api == Api::Responses && event.get("sequence_number").is_none() {
                event["sequence_number"] = number.into();
            }
            let name = event["type"].as_str().unwrap_or_default();
            format!("event: {name}\ndata: {event}\n\n").into_bytes()
        });
        framed.collect()
    }

    fn response(&self, model: &str) -> Value {
        let reason = self.ending_reason.as_ref().map(|it| json!({"reason": it}));
        let mut response = json!({
            "id": self.id,
            "object": "response",
            "created_at": 1,
            "status": self.ending,
            "model": model,
            "error": self.error,
            "incomplete_details": reason,
            "output": self.output,
            "usage": if self.error.is_some() { Value::Null } else { self.usage.clone() },
        });
        // Members that most responses do without.
        if self.goes_on {
            response["end_turn"] = false.into();
        }
        if let Some(previous_id) = &self.previous_id {
            response["previous_response_id"] = previous_id.as_str().into();
        }
        response
    }

    fn as_events(&self, model: &str) -> Vec<Value> {
        let begun = json!({"id": "resp_1", "status": "in_progress", "output": [], "usage": null});
        let mut events = vec![
            json!({"type": "response.created", "response": begun}),
            json!({"type": "response.in_progress", "response": begun}),
        ];
        for (index, item) in self.output.iter().enumerate() {
            events.extend(item_events(index, item));
        }
        let end = format!("response.{}", self.ending);
        events.push(json!({"type": end, "response": self.response(model)}));
        events
    }
}

/// Returns what the first part of a message refers to.
fn annotations(item: &Value) -> &[Value] {
    let annotations = item.pointer("/content/0/annotations").and_then(Value::as_array);
    annotations.map(Vec::as_slice).unwrap_or_default()
}

/// Returns the events in which one item arrives.
fn item_events(index: usize, item: &Value) -> Vec<Value> {
    let id = &item["id"];
    let event = |kind: &str, members: Value| {
        let mut event = json!({"type": kind, "output_index": index});
        event.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        event
    };
    let mut begun = item.clone();
    begun["status"] = "in_progress".into();
    let mut events = Vec::new();
    match item["type"].as_str() {
        Some("function_call") => {
            begun["arguments"] = "".into();
            let arguments = item["arguments"].as_str().unwrap();
            let kind = "response.function_call_arguments.delta";
            events.push(event(kind, json!({"item_id": id, "delta": arguments})));
            let kind = "response.function_call_arguments.done";
            let done = json!({"item_id": id, "name": item["name"], "arguments": arguments});
            events.push(event(kind, done));
        }
        Some("message") => {
            begun["content"] = json!([]);
            let part = &item["content"][0];
            let (kind, text) = match part["text"].as_str() {
                Some(text) => ("output_text", text),
                None => ("refusal", part["refusal"].as_str().unwrap()),
            };
            // Two deltas, so that joining them is tested.
            let (head, tail) = text.split_at(text.ceil_char_boundary(text.len() / 2));
            for delta in [head, tail] {
                let delta = json!({"item_id": id, "content_index": 0, "delta": delta});
                events.push(event(&format!("response.{kind}.delta"), delta));
            }
            for (annotation_index, annotation) in annotations(item).iter().enumerate() {
                let kind = "response.output_text.annotation.added";
                let added = json!({"item_id": id, "content_index": 0, "annotation": annotation,
                    "annotation_index": annotation_index});
                events.push(event(kind, added));
            }
        }
        Some("code_interpreter_call") => {
            begun["code"] = "".into();
            begun["outputs"] = Value::Null;
            let code = item["code"].as_str().unwrap_or_default();
            let said = |name: &str| {
                event(&format!("response.code_interpreter_call{name}"), json!({"item_id": id}))
            };
            events.push(said(".in_progress"));
            let (head, tail) = code.split_at(code.ceil_char_boundary(code.len() / 2));
            let kind = "response.code_interpreter_call_code.delta";
            let delta = |it: &str| event(kind, json!({"item_id": id, "delta": it}));
            events.extend([head, tail].map(delta));
            let kind = "response.code_interpreter_call_code.done";
            events.push(event(kind, json!({"item_id": id, "code": code})));
            events.push(said(".interpreting"));
            if item["status"] == "completed" {
                events.push(said(".completed"));
            }
        }
        _ => {}
    }
    events.insert(0, event("response.output_item.added", json!({"item": begun})));
    events.push(event("response.output_item.done", json!({"item": item})));
    events
}

/// The events of a response that fails after HTTP has said that all is well.
pub struct LateFailure {
    /// The response has begun.
    pub begun: Value,
    /// The error as the API reference has it.
    pub nested: Value,
    /// The error as it also comes.
    pub flat: Value,
    /// The response has failed.
    pub failed: Value,
}

/// Returns the events of a response that meets a rate limit, with these words.
pub fn late_failure(words: &str) -> LateFailure {
    let code = "rate_limit_exceeded";
    let error = json!({"type": "tokens", "code": code, "message": words, "param": null});
    let response = json!({"status": "failed", "error": {"code": code, "message": words}});
    LateFailure {
        begun: json!({"type": "response.created", "response": {"status": "in_progress"}}),
        nested: json!({"type": "error", "error": error}),
        flat: json!({"type": "error", "code": code, "message": words}),
        failed: json!({"type": "response.failed", "response": response}),
    }
}
