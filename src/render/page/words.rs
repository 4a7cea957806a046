//! Words and numbers of a page. Foreign text is shown only through [`shown`]: it cannot mislead the
//! reader, as a direction override would, and characters that a page cannot contain are spelled out.

use jiff::Timestamp;
use maud::{Markup, html};

use csv_agent_text::{digits::number, sanitize};

/// Returns foreign text, made safe for the page.
pub(super) fn shown(text: &str) -> String {
    sanitize::for_terminal(text)
}

/// Returns foreign text as one line.
pub(super) fn line(text: &str) -> String {
    sanitize::one_line(text.trim())
}

/// Returns the beginning of a text, and its total number of characters if it was cut.
pub(super) fn beginning(text: &str, chars_max: usize) -> (&str, Option<usize>) {
    // A text has at most as many characters as bytes.
    if text.len() <= chars_max {
        return (text, None);
    }
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => (&text[..end], Some(text.chars().count())),
        None => (text, None),
    }
}

/// Returns foreign text, cut to at most `chars_max` characters, with a note of the total.
pub(super) fn clipped(text: &str, chars_max: usize) -> String {
    match beginning(text, chars_max) {
        (all, None) => shown(all),
        (head, Some(n)) => format!("{}… ({} characters in all)", shown(head), number(n)),
    }
}

/// Returns a sentence of this program, with names between backticks, as one line.
pub(super) fn sentence(text: &str) -> Markup {
    let text = line(text);
    let parts: Vec<&str> = text.split('`').collect();
    // A name that contains a backtick leaves the number odd: then no part is treated as a name.
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (at, part) in parts.iter().enumerate() {
            @if at.is_multiple_of(2) { (part) } @else { code { (part) } }
        }
    }
}

/// Returns a time span to the nearest tenth of a second: `375 ms`, `12.3 s`, `2 min 5 s`.
pub(super) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..59_950 => {
            let tenths = (ms + 50) / 100;
            format!("{}.{} s", tenths / 10, tenths % 10)
        }
        _ => {
            let seconds = (ms + 500) / 1_000;
            format!("{} min {} s", seconds / 60, seconds % 60)
        }
    }
}

/// Returns a timestamp: `23 November 2026, 04:00 UTC`.
pub(super) fn moment(at: Timestamp) -> String {
    at.strftime("%-d %B %Y, %H:%M UTC").to_string()
}

/// Returns a sentence with its first letter as a capital.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |it| it.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::{beginning, clipped, duration, sentence};

    #[test]
    fn spans_read_as_people_say_them() {
        assert_eq!(
            [0, 999, 1_250, 4_150, 59_960, 125_400].map(duration),
            ["0 ms", "999 ms", "1.3 s", "4.2 s", "1 min 0 s", "2 min 5 s"]
        );
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(beginning("äöü", 3), ("äöü", None));
        assert_eq!(beginning("äöü", 2), ("äö", Some(3)));
        assert_eq!(clipped("a\u{202e}bc", 2), "a\\u{202e}… (4 characters in all)");
    }

    #[test]
    fn names_in_a_sentence_are_set_apart() {
        assert_eq!(sentence("no column `a<b`").0, "no column <code>a&lt;b</code>");
        assert_eq!(sentence("no column `a`b`").0, "no column `a`b`");
    }
}
