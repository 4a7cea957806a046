//! The reasoning of a server of this dialect, in the form that it expects back.
//!
//! `DeepSeek` refuses a conversation whose assistant messages lack the `reasoning_content` that it sent;
//! `reasoning_details` are the equivalent of `OpenRouter`, whose models sign or seal them. Sources:
//! `DeepSeek` API guide, "Thinking mode"; `OpenRouter` documentation, "Preserving reasoning".

use serde_json::{Map, Value};

pub(super) const REASONING_CONTENT: &str = "reasoning_content";
/// Reasoning as a list of blocks.
pub(super) const REASONING_DETAILS: &str = "reasoning_details";

/// Members of a block that arrive in pieces.
const TEXTS: &[&str] = &["text", "summary"];

/// The reasoning of one answer received so far.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    content: Option<String>,
    details: Vec<Value>,
}

impl Reasoning {
    /// Adds the reasoning of a piece of a message.
    pub(super) fn take(&mut self, piece: &Value) {
        self.take_content(piece);
        for block in blocks(piece) {
            match self.details.last_mut().filter(|last| goes_on(last, block)) {
                Some(last) => join(last, block),
                None => self.details.push(block.clone()),
            }
        }
    }

    /// Adds the reasoning of a complete message, whose blocks are always whole.
    pub(super) fn take_whole(&mut self, message: &Value) {
        self.take_content(message);
        self.details.extend(blocks(message).cloned());
    }

    fn take_content(&mut self, message: &Value) {
        if let Some(text) = message.get(REASONING_CONTENT).and_then(Value::as_str) {
            self.content.get_or_insert_default().push_str(text);
        }
    }

    /// Returns the members to send back.
    pub(super) fn into_members(self) -> Map<String, Value> {
        let details = (!self.details.is_empty()).then(|| self.details.into());
        let members =
            [(REASONING_CONTENT, self.content.map(Value::from)), (REASONING_DETAILS, details)];
        members.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?))).collect()
    }
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message.get(REASONING_DETAILS).and_then(Value::as_array).into_iter().flatten()
}

/// Returns whether a block continues the last one: same type and index, with text. A sealed block always
/// arrives whole.
fn goes_on(last: &Value, block: &Value) -> bool {
    let is_same = |name: &str| last.get(name) == block.get(name);
    let has_text =
        |block: &Value| TEXTS.iter().any(|it| block.get(*it).is_some_and(Value::is_string));
    let is_signed = last.get("signature").is_some_and(Value::is_string);
    is_same("type") && is_same("index") && has_text(last) && !(is_signed && has_text(block))
}

fn join(last: &mut Value, block: &Value) {
    let (Some(last), Some(block)) = (last.as_object_mut(), block.as_object()) else { return };
    for (name, value) in block {
        match (last.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more)) if TEXTS.contains(&name.as_str()) => {
                text.push_str(more);
            }
            (Some(Value::Null) | None, _) => {
                last.insert(name.clone(), value.clone());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Reasoning;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`json!([…])` reads better without a `&`")]
    fn check(pieces: Value, expected: Value) {
        let mut reasoning = Reasoning::default();
        pieces.as_array().unwrap().iter().for_each(|it| reasoning.take(it));
        assert_eq!(Value::from(reasoning.into_members()).to_string(), expected.to_string());
    }

    #[expect(clippy::needless_pass_by_value, reason = "`json!({…})` reads better without a `&`")]
    fn details(block: Value) -> Value {
        json!({"reasoning_details": [block]})
    }

    #[test]
    fn a_text_is_joined_and_an_empty_one_is_one() {
        check(
            json!([{"reasoning_content": "a "}, {"reasoning_content": null}, {"reasoning_content": " b"}]),
            json!({"reasoning_content": "a  b"}),
        );
        check(
            json!([{"reasoning_content": ""}, {"content": "a"}]),
            json!({"reasoning_content": ""}),
        );
        check(json!([{"reasoning": "a"}, {"reasoning_details": []}, 7]), json!({}));
    }

    #[test]
    fn blocks_that_come_in_pieces_are_joined_and_others_stay_apart() {
        let text = |text: &str| {
            details(json!({"type": "reasoning.text", "text": text, "signature": null, "index": 0}))
        };
        let signed =
            details(json!({"type": "reasoning.text", "signature": "s", "format": "f", "index": 0}));
        let sealed =
            |id: &str| details(json!({"type": "reasoning.encrypted", "data": id, "index": 0}));
        check(
            json!([text("a"), text("b"), signed, text("c"), sealed("x"), sealed("y")]),
            json!({"reasoning_details": [
                {"type": "reasoning.text", "text": "ab", "signature": "s", "index": 0, "format": "f"},
                {"type": "reasoning.text", "text": "c", "signature": null, "index": 0},
                {"type": "reasoning.encrypted", "data": "x", "index": 0},
                {"type": "reasoning.encrypted", "data": "y", "index": 0},
            ]}),
        );
        let other = details(json!({"type": "reasoning.summary", "summary": "a", "index": 1}));
        check(
            json!([text("a"), other]),
            json!({"reasoning_details": [
                {"type": "reasoning.text", "text": "a", "signature": null, "index": 0},
                {"type": "reasoning.summary", "summary": "a", "index": 1},
            ]}),
        );
    }

    #[test]
    fn blocks_of_a_whole_message_stay_as_they_came() {
        let block = json!({"type": "reasoning.text", "text": "a", "index": 0, "id": null});
        let message = json!({"reasoning_details": [block, block], "reasoning_content": "aa"});
        let mut reasoning = Reasoning::default();
        reasoning.take_whole(&message);
        assert_eq!(Value::from(reasoning.into_members()), message);
    }
}
