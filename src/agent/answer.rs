//! The answer of a turn: text from the model's messages, or a sentence that explains why there is none.

use csv_agent_types::conversation::{Item, ItemKind};
use csv_agent_types::status::StopReason;

/// The `incomplete` reason of a provider whose content filter cut the answer.
pub(crate) const CONTENT_FILTER: &str = "content_filter";

/// An answer before it is reported.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Never empty.
    pub text: String,
    /// Why the turn stopped with this answer.
    pub stop_reason: StopReason,
    /// Number of requests up to this answer.
    pub rounds: u32,
}

/// A model's text in a response.
pub(crate) enum ModelOutput {
    /// An answer.
    Text(String),
    /// A refusal to answer.
    Refusal(String),
}

/// Returns the text of the messages among the items: the message marked as final, else the last one with
/// text, else a refusal. None when there is no text.
pub(crate) fn said(items: &[Item]) -> Option<ModelOutput> {
    let messages = items.iter().filter(|it| it.kind() == ItemKind::AssistantMessage);
    let messages: Vec<&Item> = messages.collect();
    let with_text = || messages.iter().filter(|it| !it.text().trim().is_empty());
    let answer = with_text().find(|it| it.is_final_answer()).or_else(|| with_text().next_back());
    if let Some(answer) = answer {
        return Some(ModelOutput::Text(answer.text()));
    }
    messages.iter().find_map(|it| it.refusal()).map(ModelOutput::Refusal)
}

impl Answer {
    /// Returns the answer of a response that the provider cut for this reason.
    pub(crate) fn incomplete(said: Option<ModelOutput>, reason: &str, rounds: u32) -> Answer {
        let (stop_reason, sentence) = match reason {
            CONTENT_FILTER => {
                (StopReason::Refused, "The provider's content filter stopped the answer.")
            }
            _ => (
                StopReason::MaxTokens,
                "The answer was cut at the model's output limit before there was any text.",
            ),
        };
        Answer { text: text_or(said, sentence), stop_reason, rounds }
    }

    /// Returns the answer of a turn that hit a limit before the model was done.
    pub(crate) fn cut(said: Option<ModelOutput>, stop_reason: StopReason, rounds: u32) -> Answer {
        let sentence = match stop_reason {
            StopReason::MaxTokens => "The token limit was reached before there was an answer.",
            StopReason::MaxCost => "The cost limit was reached before there was an answer.",
            StopReason::Timeout => "The time limit was reached before there was an answer.",
            StopReason::Repeated => {
                "The same tool call was repeated too often, and there was no answer."
            }
            StopReason::MaxRounds | StopReason::Complete | StopReason::Refused => {
                "The round limit was reached before there was an answer."
            }
        };
        Answer { text: text_or(said, sentence), stop_reason, rounds }
    }
}

fn text_or(said: Option<ModelOutput>, sentence: &str) -> String {
    match said {
        Some(ModelOutput::Text(text) | ModelOutput::Refusal(text)) => text,
        None => sentence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ModelOutput, said};
    use csv_agent_types::conversation::Item;

    #[track_caller]
    fn check(items: &[Item], text: &str) {
        match said(items) {
            Some(ModelOutput::Text(found) | ModelOutput::Refusal(found)) => assert_eq!(found, text),
            None => panic!("nothing was said"),
        }
    }

    #[test]
    fn the_answer_is_the_final_message_or_the_last_one() {
        let phase = |phase: &str, text: &str| {
            let content = json!([{"type": "output_text", "text": text}]);
            Item(
                json!({"type": "message", "role": "assistant", "phase": phase, "content": content}),
            )
        };
        check(&[Item::assistant("one"), Item::assistant("two"), Item::assistant(" ")], "two");
        check(&[phase("final_answer", "42"), phase("commentary", "let me see")], "42");
        let refusal = json!([{"type": "refusal", "refusal": "no"}]);
        check(&[Item(json!({"type": "message", "role": "assistant", "content": refusal}))], "no");
        assert!(said(&[Item::user("q")]).is_none());
    }
}
