//! JSON dialects: a request becomes JSON, JSON becomes a response. Nothing here performs I/O.

pub mod failure;
pub mod responses;
pub mod sse;

use std::collections::BTreeSet;

/// What a server is taken to understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The API of `OpenAI` itself: items go back with all that came.
    OpenAi,
    /// Any other server: items go back with what all of them understand.
    Tolerant,
}

/// How a request is put into words for one server.
#[derive(Debug, Clone)]
pub struct Terms {
    /// What the server is taken to understand.
    pub profile: Profile,
    /// Whether the answer is to come as a stream.
    pub stream: bool,
    /// Optional fields that were refused before, by their names in [`OPTIONAL_FIELDS`].
    pub omitted: BTreeSet<String>,
}

/// Fields of a body that can be left out, at the price of comfort.
pub const OPTIONAL_FIELDS: &[&str] = &[
    "include",
    "parallel_tool_calls",
    "prompt_cache_key",
    "reasoning",
    "stream_options",
    SEALED_REASONING,
];

/// Reasoning of earlier rounds: sealed by another server or organisation, or no longer known.
pub const SEALED_REASONING: &str = "input.reasoning";
