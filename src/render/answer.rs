//! The text of an answer, laid out for people: a very long one is cut, with a note on where the rest
//! is.

use std::borrow::Cow;

use csv_agent_text::digits::count;
use csv_agent_types::limits::ANSWER_SHOWN_BYTES_MAX;

/// Returns the text; one longer than people read is cut. `whole` names where all of it is: a file, a
/// flag.
pub fn shown<'a>(text: &'a str, whole: &str) -> Cow<'a, str> {
    if text.len() <= ANSWER_SHOWN_BYTES_MAX {
        return Cow::Borrowed(text);
    }
    let begin = &text[..text.floor_char_boundary(ANSWER_SHOWN_BYTES_MAX)];
    let left_out = count((text.len() - begin.len()) as u64, "more byte");
    Cow::Owned(format!(
        "{begin}\n\n… {left_out} of the answer are left out here; `{whole}` has all of it"
    ))
}

#[cfg(test)]
mod tests {
    use super::shown;
    use csv_agent_types::limits::ANSWER_SHOWN_BYTES_MAX;

    #[test]
    fn of_a_long_answer_the_beginning_is_shown_and_where_all_of_it_is() {
        let most = "x".repeat(ANSWER_SHOWN_BYTES_MAX);
        assert_eq!(shown(&most, "reply.md"), most);
        let longer = most[1..].to_owned() + "éé";
        let rest = "\n\n… 4 more bytes of the answer are left out here; `reply.md` has all of it";
        assert_eq!(shown(&longer, "reply.md"), most[1..].to_owned() + rest);
    }
}
