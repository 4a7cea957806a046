//! JSON dialects: encode requests as JSON and decode responses. Nothing here performs I/O.

pub(crate) mod chat;
pub(crate) mod failure;
pub(crate) mod messages;
pub(crate) mod opaque;
pub(crate) mod responses;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod sse;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use csv_agent_types::conversation::{Effort, Item, ItemKind, Request, Response, ToolChoice};

use crate::error::{ProviderError, ProviderErrorKind};
use failure::one_line;
use opaque::ModelOrigin;

/// A dialect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// The Responses API.
    #[default]
    Responses,
    /// Chat Completions.
    Chat,
    /// Anthropic's Messages API.
    Messages,
}

impl Api {
    /// Returns its name in flags and events.
    pub fn name(self) -> &'static str {
        match self {
            Api::Responses => "responses",
            Api::Chat => "chat",
            Api::Messages => "messages",
        }
    }

    /// Returns its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Api::Responses => "Responses API",
            Api::Chat => "Chat Completions API",
            Api::Messages => "Messages API",
        }
    }

    /// Returns its path below the base URL.
    pub fn path(self) -> &'static str {
        match self {
            Api::Responses => "responses",
            Api::Chat => "chat/completions",
            Api::Messages => "messages",
        }
    }

    /// Returns the dialect to try when a server lacks this one. None for Messages, which is always chosen
    /// explicitly.
    pub fn other(self) -> Option<Api> {
        match self {
            Api::Responses => Some(Api::Chat),
            Api::Chat => Some(Api::Responses),
            Api::Messages => None,
        }
    }

    /// Returns the body of a request.
    pub fn encode(self, request: &Request, terms: &Terms) -> Value {
        match self {
            Api::Responses => responses::encode(request, terms),
            Api::Chat => chat::encode(request, terms),
            Api::Messages => messages::encode(request, terms),
        }
    }
}

/// Returns the outputs of calls as text, by the ids of the calls.
fn outputs(request: &Request) -> HashMap<&str, String> {
    let text = |item: &Item| match item.0.get("output") {
        Some(Value::String(text)) => text.clone(),
        Some(output) => output.to_string(),
        None => String::new(),
    };
    let outputs = request.items.iter().filter(|it| it.kind() == ItemKind::FunctionCallOutput);
    outputs.filter_map(|it| Some((it.call_id()?, text(it)))).collect()
}

/// Reads one answer in its dialect.
#[derive(Debug)]
pub(crate) enum ResponseReader {
    /// Events of the Responses API.
    Responses(responses::ResponsesReader),
    /// Chunks of Chat Completions.
    Chat(chat::ChatReader),
    /// Events of the Messages API.
    Messages(messages::MessagesReader),
}

/// The result of an event.
#[derive(Debug, PartialEq)]
pub(crate) enum StreamStep {
    /// Nothing to show.
    Quiet,
    /// More text of the answer.
    Delta(String),
    /// The provider runs a hosted tool.
    Hosted(&'static str),
    /// A call of the tool of this name begins; its arguments follow.
    Calls(String),
    /// The complete response. Later events are ignored.
    Done(Response),
}

impl ResponseReader {
    /// Makes a reader for one answer of this model.
    pub(crate) fn new(api: Api, model: &str) -> ResponseReader {
        match api {
            Api::Responses => ResponseReader::Responses(responses::ResponsesReader::new(model)),
            Api::Chat => ResponseReader::Chat(chat::ChatReader::new(model)),
            Api::Messages => ResponseReader::Messages(messages::MessagesReader::new(model)),
        }
    }

    /// Processes the next event. Fails when the event reports that the response failed, or when a lost event
    /// may have contained a part of the response.
    pub(crate) fn event(&mut self, event: &Value) -> Result<StreamStep, ProviderError> {
        match self {
            ResponseReader::Responses(reader) => reader.event(event),
            ResponseReader::Chat(reader) => reader.event(event),
            ResponseReader::Messages(reader) => reader.event(event),
        }
    }

    /// Processes a complete answer. Fails when the body is not a response, or is one that failed.
    pub(crate) fn body(&mut self, body: &str) -> Result<Response, ProviderError> {
        match self {
            ResponseReader::Responses(reader) => reader.body(body),
            ResponseReader::Chat(reader) => reader.body(body),
            ResponseReader::Messages(reader) => reader.body(body),
        }
    }

    /// Returns how long to wait for the next event when the response is already decided.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self {
            ResponseReader::Responses(reader) => reader.patience(),
            ResponseReader::Chat(reader) => reader.patience(),
            ResponseReader::Messages(_) => None,
        }
    }

    /// Processes the end of the stream, with the error that broke it, if any. Fails when the response had not
    /// ended before.
    pub(crate) fn closed(self, broken: Option<ProviderError>) -> Result<Response, ProviderError> {
        match self {
            ResponseReader::Responses(reader) => Err(reader.closed(broken)),
            ResponseReader::Chat(reader) => reader.closed(broken),
            ResponseReader::Messages(reader) => reader.closed(broken),
        }
    }
}

/// Returns whether data may be a JSON object that was cut. Data that never started as one is a proxy's sign
/// of life.
fn is_torn(event: &Value) -> bool {
    event.as_str().is_none_or(|it| it.trim_start().starts_with('{'))
}

/// Returns the error for an answer with a lost part. It does not count as a broken stream, which would be
/// retried: a server that writes such events would write them again.
fn torn() -> ProviderError {
    let message = "cannot read a part of the provider's answer: an event is not valid JSON";
    ProviderError::new(ProviderErrorKind::Malformed, message)
        .hint("ask without streaming: `--no-stream`")
}

/// Returns the error for a stream that ends before the response does.
fn broken_off() -> ProviderError {
    ProviderError::transient("the provider's answer ended before it was complete")
}

/// Returns the error for a body that is not an answer.
pub(crate) fn unreadable(body: &str) -> ProviderError {
    let shown = one_line(body);
    let message = if shown.is_empty() {
        "the provider's answer is empty".to_owned()
    } else {
        format!("the provider's answer is not a valid response: {shown}")
    };
    ProviderError::new(ProviderErrorKind::Malformed, message)
        .hint("check `--base-url`: it usually ends in `/v1`")
}

fn tool_choice(choice: ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Hosted(name) => json!({"type": name}),
        ToolChoice::None => "none".into(),
    }
}

fn effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

/// The features that a server is assumed to support.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// `OpenAI`'s own API: items are sent back with all members.
    #[default]
    OpenAi,
    /// Any other server: items are sent back with the members that all servers accept.
    Tolerant,
}

/// How to encode a request for one server.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// The server and model.
    pub origin: ModelOrigin,
    /// The features that the server is assumed to support.
    pub profile: Profile,
    /// Whether to request the answer as a stream.
    pub stream: bool,
    /// Optional fields that were refused before, by name in [`OPTIONAL_FIELDS`].
    pub omitted: BTreeSet<String>,
    /// Whether the server stores the response.
    pub storage: Storage,
}

/// Whether the server stores responses. Only the Responses API can.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Storage {
    /// It does not: each request is complete.
    #[default]
    None,
    /// It stores this one.
    Kept,
    /// It stores this one, which continues another.
    After {
        /// The previous response.
        response_id: String,
        /// Number of the request's items that the server has already.
        n_items: usize,
    },
}

/// Fields of a body that can be left out, with some loss of convenience.
pub(crate) const OPTIONAL_FIELDS: &[&str] = &[
    CACHE_CONTROL,
    "extra_content",
    "include",
    "max_tool_calls",
    "parallel_tool_calls",
    PREVIOUS_RESPONSE,
    "prompt_cache_key",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "reasoning_effort",
    "response_format",
    "stream_options",
    SEALED_REASONING,
];

/// The response that a request continues. Without it the whole conversation is sent.
pub(crate) const PREVIOUS_RESPONSE: &str = "previous_response_id";

/// Where the provider should cache its input.
pub(crate) const CACHE_CONTROL: &str = "cache_control";

/// Reasoning of earlier rounds: sealed by another server or organisation, or no longer known.
pub(crate) const SEALED_REASONING: &str = "input.reasoning";

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

    use super::sse::Decoder;
    use super::{Api, ResponseReader, StreamStep};
    use csv_agent_testing::cases;

    /// Fragments of streams of both dialects, so that the cases are not all noise.
    const PIECES: &[&str] = &[
        "data: ",
        "data:",
        "\n",
        "\n\n",
        "\r\n",
        ": ping\n\n",
        "data: [DONE]\n\n",
        "event: error\n",
        "{}",
        "{",
        "}",
        "null",
        "[",
        "\"type\":\"response.completed\"",
        ",",
        ":",
        "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\"}}\n\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\n",
        "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"slow_down\"}}}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":9,\"function\":{}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
        "data: {\"error\":{\"message\":\"try again in 9d\"}}\n\n",
        "data: {\"type\":\"message_start\",\"message\":{}}\n\n",
        "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\"}}\n\n",
        "data: {\"type\":\"message_stop\"}\n\n",
    ];

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop::sample::select(PIECES).prop_map(|it| it.as_bytes().to_vec());
        let noise = prop::collection::vec(any::<u8>(), 0..9);
        let piece = prop_oneof![4 => piece, 1 => noise, 1 => Just(b"\n\n".to_vec())];
        prop::collection::vec(piece, 0..40).prop_map(|it| it.concat())
    }

    /// Reads a stream in pieces of `n_bytes` bytes. Returns the outcome.
    fn ending(api: Api, bytes: &[u8], n_bytes: usize) -> String {
        let (mut decoder, mut reader) = (Decoder::new(), ResponseReader::new(api, "m"));
        let mut events = Vec::new();
        for chunk in bytes.chunks(n_bytes) {
            if decoder.push(chunk, &mut events).is_err() {
                return "too long".to_owned();
            }
        }
        let _ = decoder.finish(&mut events);
        let n_events = events.len();
        assert!(n_events <= bytes.len(), "an event takes more than a byte");
        for event in events {
            match reader.event(&event) {
                Ok(StreamStep::Done(response)) => return format!("{response:?}"),
                Ok(
                    StreamStep::Quiet
                    | StreamStep::Delta(_)
                    | StreamStep::Hosted(_)
                    | StreamStep::Calls(_),
                ) => {}
                Err(error) => return format!("{error:?}"),
            }
        }
        format!("{:?}", reader.closed(None))
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn any_bytes_end_in_a_response_or_an_error_however_they_are_cut(
            bytes in bytes(),
            n_bytes in 1_usize..9,
        ) {
            for api in [Api::Responses, Api::Chat, Api::Messages] {
                assert_eq!(ending(api, &bytes, n_bytes), ending(api, &bytes, usize::MAX));
                let body = String::from_utf8_lossy(&bytes);
                let _ = ResponseReader::new(api, "m").body(&body);
            }
        }
    }
}
