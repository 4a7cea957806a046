//! Reasoning within the text of an answer, for servers that do not remove it: `<think>…</think>` at its
//! start.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Splits a text that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    place: TextPosition,
    /// Text that may be a part of a tag.
    held: String,
}

/// The position of the next piece in the text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum TextPosition {
    /// Only white space, and perhaps the start of a tag, has arrived.
    #[default]
    Beginning,
    Thought,
    /// Between the tag and the answer.
    Gap,
    Answer,
}

/// A piece, split.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// The reasoning.
    pub thought: String,
    pub answer: String,
}

impl Thoughts {
    /// Processes the next piece.
    pub(super) fn push(&mut self, piece: &str) -> Split {
        self.held.push_str(piece);
        let mut split = Split::default();
        if self.place == TextPosition::Beginning {
            let text = self.held.trim_start();
            if let Some(rest) = text.strip_prefix(OPEN) {
                self.held = rest.to_owned();
                self.place = TextPosition::Thought;
            } else if OPEN.starts_with(text) {
                return split;
            } else {
                self.place = TextPosition::Answer;
            }
        }
        if self.place == TextPosition::Thought {
            if let Some((thought, rest)) = self.held.split_once(CLOSE) {
                thought.clone_into(&mut split.thought);
                self.held = rest.to_owned();
                self.place = TextPosition::Gap;
            } else {
                let end = self.held.len() - begun(&self.held);
                split.thought = self.held.drain(..end).collect();
                return split;
            }
        }
        let held = std::mem::take(&mut self.held);
        split.answer =
            if self.place == TextPosition::Gap { held.trim_start().to_owned() } else { held };
        if !split.answer.is_empty() {
            self.place = TextPosition::Answer;
        }
        split
    }

    /// Processes the end: the held text is not a tag.
    pub(super) fn end(&mut self) -> Split {
        let held = std::mem::take(&mut self.held);
        match self.place {
            TextPosition::Thought => Split { thought: held, ..Split::default() },
            _ => Split { answer: held, ..Split::default() },
        }
    }
}

/// Returns how many bytes at the end of a text may be the start of the closing tag.
fn begun(text: &str) -> usize {
    (1..CLOSE.len()).rev().find(|it| text.ends_with(&CLOSE[..*it])).unwrap_or(0)
}

/// Splits an answer whose opening tag was in the prompt, so that only the closing one arrives, on a line of
/// its own.
pub(super) fn split_unopened(text: &str) -> Option<(&str, &str)> {
    let (thought, answer) = text.split_once(CLOSE)?;
    let is_line = thought.ends_with('\n') && (answer.is_empty() || answer.starts_with('\n'));
    is_line.then(|| (thought.trim(), answer.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::{Split, Thoughts, split_unopened};

    /// Splits a text in pieces of every length.
    #[track_caller]
    fn check(text: &str, thought: &str, answer: &str) {
        for n_chars in 1..=text.chars().count() {
            let (mut thoughts, mut whole) = (Thoughts::default(), Split::default());
            let chars: Vec<char> = text.chars().collect();
            let pieces = chars.chunks(n_chars).map(|it| it.iter().collect::<String>());
            let mut splits: Vec<Split> = pieces.map(|it| thoughts.push(&it)).collect();
            splits.push(thoughts.end());
            for split in splits {
                whole.thought += &split.thought;
                whole.answer += &split.answer;
            }
            let expected = Split { thought: thought.to_owned(), answer: answer.to_owned() };
            assert_eq!(whole, expected, "{n_chars} at a time");
        }
    }

    #[test]
    fn what_stands_between_the_tags_at_the_beginning_is_thought() {
        check("<think>2 + 2 < 5</think>\n\nIt is 4.", "2 + 2 < 5", "It is 4.");
        check("\n <think>\né</thin é</think> 4", "\né</thin é", "4");
        check("<think></think>4", "", "4");
        check("<think>never ended </thi", "never ended </thi", "");
    }

    #[test]
    fn a_tag_elsewhere_is_text() {
        check("It is <think>4</think>.", "", "It is <think>4</think>.");
        check("  a < b", "", "  a < b");
        check("<thi", "", "<thi");
        check("<think>a</think>b <think>c</think>", "a", "b <think>c</think>");
    }

    #[test]
    fn a_closing_tag_on_a_line_of_its_own_ends_what_the_prompt_began() {
        assert_eq!(split_unopened("Hm, 4.\n</think>\n\nIt is 4."), Some(("Hm, 4.", "It is 4.")));
        assert_eq!(split_unopened("write `</think>` there"), None);
        assert_eq!(split_unopened("It is 4."), None);
    }
}
