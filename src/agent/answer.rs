//! The answer of a turn: text from the model's messages, or a sentence that explains why there is none.

use serde_json::Value;

use csv_agent_types::conversation::{Item, ItemKind};
use csv_agent_types::limits::{CHOICE_CHARS_MAX, CHOICES_MAX};
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
    /// The readings that the built-in analyst offers instead of an answer.
    pub choices: Vec<String>,
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

/// Takes the readings that a refusal offers out of its items: no provider of a later turn knows this member.
/// Without an array of strings there are none.
pub(crate) fn take_choices(items: &mut [Item]) -> Vec<String> {
    let parts = items.iter_mut().filter_map(|it| it.0.get_mut("content")?.as_array_mut()).flatten();
    let taken: Vec<Value> =
        parts.filter_map(|it| it.as_object_mut()?.shift_remove("choices")).collect();
    let choices = taken.iter().find_map(Value::as_array).into_iter().flatten();
    let choices =
        choices.take(CHOICES_MAX as usize).map(Value::as_str).collect::<Option<Vec<&str>>>();
    let cut = |it: &str| it.chars().take(CHOICE_CHARS_MAX).collect::<String>();
    choices.unwrap_or_default().into_iter().map(cut).collect()
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
        Answer { text: text_or(said, sentence), stop_reason, rounds, choices: Vec::new() }
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
        Answer { text: text_or(said, sentence), stop_reason, rounds, choices: Vec::new() }
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

    use super::{ModelOutput, said, take_choices};
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

    #[test]
    fn the_readings_of_a_refusal_are_some_short_strings_or_none() {
        let take = |choices: serde_json::Value| {
            let part = json!([{"type": "refusal", "refusal": "no", "choices": choices}]);
            let mut items =
                [Item(json!({"type": "message", "role": "assistant", "content": part}))];
            let taken = take_choices(&mut items);
            assert_eq!(items[0].0["content"], json!([{"type": "refusal", "refusal": "no"}]));
            taken
        };
        assert_eq!(take(json!(["one", "two"])), ["one", "two"]);
        assert_eq!(take(json!(vec!["x"; 11])), vec!["x"; 10]);
        assert_eq!(take(json!(["é".repeat(501)])), ["é".repeat(500)]);
        for odd in [json!(["one", 2]), json!("one"), json!({"1": "one"}), json!(null), json!([])] {
            assert!(take(odd.clone()).is_empty(), "{odd}");
        }
    }
}
