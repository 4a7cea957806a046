//! The conversation with a model: requests, responses, and the outcome of a turn.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use strum::IntoStaticStr;

use crate::limits::FINDING_ROWS_MAX;
use crate::status::StopReason;

/// The user's question of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Not blank.
    pub text: String,
    /// Its images, as data URLs.
    pub images: Vec<String>,
    /// Whether a verdict is requested in addition to the answer.
    pub verdict: bool,
    /// The number of the reading to answer it by, of those that the built-in analyst offers.
    pub pick: Option<u32>,
}

impl Question {
    /// Returns the messages for the model: the question, and the number of the picked reading.
    pub fn items(&self) -> Vec<Item> {
        let pick = self.pick.map(|it| Item::user(&it.to_string()));
        std::iter::once(self.item()).chain(pick).collect()
    }

    /// Returns the message with the question.
    pub fn item(&self) -> Item {
        let mut item = Item::user(&self.text);
        if let Some(Value::Array(parts)) = item.0.get_mut("content") {
            let images = self.images.iter();
            parts.extend(images.map(|it| json!({"type": "input_image", "image_url": it})));
        }
        item
    }
}

/// One entry of the conversation, in wire format.
///
/// An item is stored as the received JSON, because it must be sent back unchanged, including unknown
/// members. Accessors interpret it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Item(pub Value);

/// The kind of an item, as far as the loop distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// A message of the user.
    UserMessage,
    /// A message of the model.
    AssistantMessage,
    /// A tool call.
    FunctionCall,
    /// The output of a tool call.
    FunctionCallOutput,
    /// The model's reasoning, usually sealed.
    Reasoning,
    /// Anything else; passed through unchanged.
    Other,
}

impl Item {
    /// Makes a user message.
    pub fn user(text: &str) -> Item {
        Item(json!({
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": text}],
        }))
    }

    /// Makes an assistant message.
    pub fn assistant(text: &str) -> Item {
        Item(json!({
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text}],
        }))
    }

    /// Makes the output of a tool call.
    pub fn output(call_id: &str, text: &str) -> Item {
        Item(json!({"type": "function_call_output", "call_id": call_id, "output": text}))
    }

    /// Returns the kind of the item.
    pub fn kind(&self) -> ItemKind {
        match (self.str("type"), self.str("role")) {
            (Some("message") | None, Some("assistant")) => ItemKind::AssistantMessage,
            (Some("message") | None, Some("user")) => ItemKind::UserMessage,
            (Some("function_call"), _) => ItemKind::FunctionCall,
            (Some("function_call_output"), _) => ItemKind::FunctionCallOutput,
            (Some("reasoning"), _) => ItemKind::Reasoning,
            _ => ItemKind::Other,
        }
    }

    /// Returns the type in wire format.
    pub fn type_name(&self) -> Option<&str> {
        self.str("type")
    }

    /// Returns the id of the provider's container that an item mentions.
    pub fn container_id(&self) -> Option<&str> {
        self.str("container_id")
    }

    /// Returns the id that pairs a call and its output.
    pub fn call_id(&self) -> Option<&str> {
        self.str("call_id")
    }

    /// Returns the tool call, when the item is one.
    pub fn tool_call(&self) -> Option<ToolCall> {
        if self.kind() != ItemKind::FunctionCall {
            return None;
        }
        Some(ToolCall {
            call_id: self.str("call_id").or(self.str("id"))?.to_owned(),
            name: self.str("name").unwrap_or_default().to_owned(),
            arguments: self.str("arguments").unwrap_or_default().to_owned(),
        })
    }

    /// Returns the text of a message: its `output_text` and `input_text` parts, joined.
    pub fn text(&self) -> String {
        match self.0.get("content") {
            Some(Value::String(text)) => text.clone(),
            _ => self.parts("text", &["output_text", "input_text", "text"]),
        }
    }

    /// Returns the model's visible reasoning: the text of a reasoning item, or its summary.
    pub fn thought(&self) -> Option<String> {
        if self.kind() != ItemKind::Reasoning {
            return None;
        }
        let texts = |member: &str| {
            let parts = self.0.get(member).and_then(Value::as_array);
            let texts = parts.into_iter().flatten().filter_map(|it| it.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        };
        let told = [texts("content"), texts("summary")];
        told.into_iter().find(|it| !it.trim().is_empty())
    }

    /// Returns the reason of a refusal, if a message is one.
    pub fn refusal(&self) -> Option<String> {
        let refusal = self.parts("refusal", &["refusal"]);
        (!refusal.is_empty()).then_some(refusal)
    }

    /// Returns whether a message is the model's answer rather than an interim remark.
    pub fn is_final_answer(&self) -> bool {
        self.str("phase") == Some("final_answer")
    }

    fn parts(&self, member: &str, kinds: &[&str]) -> String {
        let parts = self.0.get("content").and_then(Value::as_array);
        let texts = parts.into_iter().flatten().filter_map(|part| {
            let kind = part.get("type")?.as_str()?;
            kinds.contains(&kind).then(|| part.get(member)?.as_str())?
        });
        texts.collect()
    }

    fn str(&self, member: &str) -> Option<&str> {
        self.0.get(member)?.as_str()
    }
}

/// A model's call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Pairs the call with its output.
    pub call_id: String,
    /// The tool's name; the tool may not exist.
    pub name: String,
    /// JSON text; may be invalid.
    pub arguments: String,
}

/// A tool's declaration for the model.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolDeclaration {
    /// A function that csv-agent runs: each call needs an output.
    Function {
        /// Matches `[a-zA-Z0-9_-]{1,64}`.
        name: &'static str,
        /// The description for the model.
        description: Cow<'static, str>,
        /// A JSON Schema within the strict subset.
        parameters: Value,
    },
    /// A tool that the provider runs itself, within a response.
    Hosted {
        /// The provider's name for it.
        name: &'static str,
        /// The kind of its provider; no other is asked to run it.
        provider: &'static str,
        /// Its declaration for the provider, with its type.
        configuration: Value,
        /// Details of its runs to request, as values of `include`.
        include: &'static [&'static str],
    },
}

impl ToolDeclaration {
    /// Returns its name in events and errors.
    pub fn name(&self) -> &'static str {
        match self {
            ToolDeclaration::Function { name, .. } | ToolDeclaration::Hosted { name, .. } => name,
        }
    }
}

/// Whether the model may call tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// It may.
    #[default]
    Auto,
    /// It must run this hosted tool.
    Hosted(&'static str),
    /// It may not, though the tools are listed: the answer is due.
    None,
}

/// The reasoning effort of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little.
    Low,
    /// The provider's default.
    Medium,
    /// Much.
    High,
}

/// The required form of the final answer.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerFormat {
    /// Matches `[a-zA-Z0-9_-]{1,64}`.
    pub name: String,
    /// A JSON Schema whose root is an object.
    pub schema: Value,
    /// Whether it is within the subset that providers can enforce.
    pub strict: bool,
}

/// One request to a provider: the whole conversation, because requests are stateless.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// The user's name for the model.
    pub model: String,
    /// The same bytes in every round of a turn, so that the provider's cache works.
    pub instructions: String,
    /// Every call followed by its one output.
    pub items: Vec<Item>,
    /// In a fixed order, for the same reason.
    pub tools: Vec<ToolDeclaration>,
    /// Whether they may be called.
    pub tool_choice: ToolChoice,
    /// The form of the answer; None for plain text.
    pub format: Option<AnswerFormat>,
    /// Sent only when the user set it.
    pub reasoning: Option<Effort>,
    /// One per session; at most 64 characters.
    pub cache_key: String,
}

/// A provider's successful response; a broken or failed one is an error instead.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Response {
    /// The server's id, with which a later request can continue it.
    pub id: Option<String>,
    /// The id of the response that this one continued.
    pub previous_id: Option<String>,
    /// The provider's id for the request, if it gave one.
    pub request_id: Option<String>,
    /// The model that answered, if the provider reports it.
    pub model: Option<String>,
    /// In the order received.
    pub items: Vec<Item>,
    /// Its token usage.
    pub usage: Usage,
    /// Whether the response is complete.
    pub ending: FinishReason,
    /// Whether the model wants another request, even without calls.
    pub wants_more: bool,
}

/// How a response ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum FinishReason {
    /// The model finished.
    #[default]
    Completed,
    /// Cut by the provider for this reason: `max_output_tokens`, `content_filter`, … Its calls are
    /// incomplete and must not run.
    Incomplete(String),
}

/// Tokens of one or more requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of answered requests.
    pub requests: u64,
    /// All input, cached or not.
    pub input_tokens: u64,
    /// The part of the input that came from the provider's cache.
    pub cached_input_tokens: u64,
    /// All output, reasoning included.
    pub output_tokens: u64,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Returns the sum of input and output.
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Adds the usage of another request.
    pub fn add(&mut self, other: &Usage) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_input_tokens =
            self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}

/// The price of a model's tokens, in USD per million of each kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// Input that was not cached.
    pub input: f64,
    /// Cached input.
    pub cached_input: f64,
    /// Output, reasoning included.
    pub output: f64,
}

impl Price {
    /// Returns the cost of this usage, in USD.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        // Token counts are far below what a float represents exactly.
        #[expect(clippy::cast_precision_loss, reason = "no usage comes near 2^53 tokens")]
        let of = |n_tokens: u64, price: f64| n_tokens as f64 * price / 1e6;
        of(usage.input_tokens - cached, self.input)
            + of(cached, self.cached_input)
            + of(usage.output_tokens, self.output)
    }
}

/// An answer's rating of the data.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Assessment {
    /// Nothing is wrong.
    Good,
    /// Something deserves attention.
    Warning,
    /// Something is wrong.
    Bad,
}

impl Assessment {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One reason for an assessment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How severe this one is.
    pub severity: Assessment,
    /// One sentence.
    pub message: String,
    /// The dataset it is about.
    pub dataset: Option<String>,
    /// The column it is about.
    pub column: Option<String>,
    /// Rows of the dataset that show it; the first row is 0.
    #[serde(default, deserialize_with = "row_numbers")]
    pub rows: Vec<u64>,
    /// The name of the table that was sent to show it.
    #[serde(default)]
    pub table: Option<String>,
}

impl Finding {
    /// Makes a finding without a dataset, column or rows.
    pub fn new(severity: Assessment, message: String) -> Finding {
        Finding { severity, message, dataset: None, column: None, rows: Vec::new(), table: None }
    }
}

/// Reads row numbers. Drops invalid ones: a finding is worth more than its rows.
fn row_numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    let rows = Option::<Vec<Value>>::deserialize(from)?.unwrap_or_default();
    Ok(rows.iter().filter_map(Value::as_u64).take(FINDING_ROWS_MAX).collect())
}

/// An assessment with its reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Of the data as a whole; None when the question has no such answer.
    pub assessment: Option<Assessment>,
    /// Most severe first.
    pub findings: Vec<Finding>,
}

/// The outcome of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The model's answer, or a sentence that explains why there is none; never empty.
    pub text: String,
    /// Present when it was requested and given.
    pub verdict: Option<Verdict>,
    /// Why the turn ended.
    pub stop_reason: StopReason,
    /// The sum of all its requests.
    pub usage: Usage,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Item, ItemKind, Price, Usage};

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = Price { input: 2.0, cached_input: 0.5, output: 8.0 };
        let usage = Usage {
            requests: 1,
            input_tokens: 1_000_000,
            cached_input_tokens: 400_000,
            output_tokens: 500_000,
            reasoning_tokens: 300_000,
        };
        assert!((price.cost(&usage) - (1.2 + 0.2 + 4.0)).abs() < 1e-12);
        let odd = Usage { input_tokens: 1, cached_input_tokens: 9, ..Usage::default() };
        assert!((price.cost(&odd) - 0.5e-6).abs() < 1e-18, "a server may count nonsense");
    }

    #[test]
    fn an_item_is_told_by_its_type_and_role() {
        assert_eq!(Item::user("q").kind(), ItemKind::UserMessage);
        assert_eq!(Item::assistant("a").kind(), ItemKind::AssistantMessage);
        assert_eq!(Item::output("c", "x").kind(), ItemKind::FunctionCallOutput);
        assert_eq!(Item(json!({"role": "user", "content": "q"})).kind(), ItemKind::UserMessage);
        assert_eq!(Item(json!({"type": "compaction"})).kind(), ItemKind::Other);
        assert_eq!(Item(json!(7)).kind(), ItemKind::Other);
    }

    #[test]
    fn a_thought_is_its_text_or_its_summary() {
        let part = |text: &str| json!([{"type": "reasoning_text", "text": text}]);
        let thought = |summary, content| {
            Item(json!({"type": "reasoning", "summary": summary, "content": content})).thought()
        };
        assert_eq!(thought(part("short"), part("Hm.")).as_deref(), Some("Hm."));
        assert_eq!(thought(part("short"), json!(null)).as_deref(), Some("short"));
        assert_eq!(thought(json!([]), json!([])), None);
        assert_eq!(Item::user("q").thought(), None);
    }

    #[test]
    fn the_text_of_a_message_is_its_parts_joined() {
        let parts = json!([
            {"type": "output_text", "text": "one "},
            {"type": "refusal", "refusal": "no"},
            {"type": "output_text", "text": "two"},
        ]);
        let item = Item(json!({"type": "message", "role": "assistant", "content": parts}));
        assert_eq!(item.text(), "one two");
        assert_eq!(item.refusal().as_deref(), Some("no"));
    }
}
