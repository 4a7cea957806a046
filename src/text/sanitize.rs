//! Text made safe for a terminal.
//!
//! Cells and model text are hostile: an escape sequence can redraw the screen, set the title or hide
//! a line, and a direction override can make text read as something else. Each such character is
//! shown instead, as `\x1b` or `\u{202e}`. The rule looks at one character and the one before it, so
//! text that arrives in pieces is as safe as text that arrives whole.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns the text with everything that could steer a terminal shown instead of sent.
///
/// Line feeds and tabs stay; a carriage return before a line feed goes.
pub fn for_terminal(text: &str) -> String {
    safe(text, show).into_owned()
}

/// Returns JSON that means the same, with everything that could steer a terminal as JSON escapes it.
pub fn json_for_terminal(json: &str) -> Cow<'_, str> {
    safe(json, escape)
}

fn safe(text: &str, show: fn(char, &mut String)) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        if char == '\r' && rest.peek() == Some(&'\n') {
            continue;
        }
        if is_harmless(char, before) {
            safe.push(char);
        } else {
            show(char, &mut safe);
        }
        before = char;
    }
    Cow::Owned(safe)
}

/// Returns the text as one line: like [`for_terminal`], with line feeds and tabs as spaces.
pub fn one_line(text: &str) -> String {
    let mut line = for_terminal(text);
    if line.contains(['\n', '\t']) {
        line = line.replace(['\n', '\t'], " ");
    }
    line
}

/// Returns whether a character neither steers the terminal nor hides.
///
/// The joiners are letters' and emoji's business when they stand after one; after ASCII they can
/// only hide.
fn is_harmless(char: char, before: char) -> bool {
    match char {
        '\n' | '\t' | ' '..='~' => true,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{ad}' => false,
        '\u{200c}' | '\u{200d}' => !before.is_ascii() && !is_invisible(before),
        _ => !is_invisible(char),
    }
}

/// Returns whether a character is a direction mark, has no width, is a tag or a line separator, or is
/// none at all: what Unicode leaves to a program's own use.
fn is_invisible(char: char) -> bool {
    matches!(char,
        '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

fn show(char: char, safe: &mut String) {
    let code = u32::from(char);
    let shown =
        if code <= 0xff { write!(safe, "\\x{code:02x}") } else { write!(safe, "\\u{{{code:x}}}") };
    shown.expect("a String takes any text");
}

fn escape(char: char, safe: &mut String) {
    for unit in char.encode_utf16(&mut [0; 2]) {
        write!(safe, "\\u{unit:04x}").expect("a String takes any text");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    use super::{for_terminal, one_line};
    use csv_agent_testing::cases;

    #[track_caller]
    fn check(text: &str, safe: &str) {
        assert_eq!(for_terminal(text), safe);
    }

    #[test]
    fn sequences_are_shown_and_not_sent() {
        check("\x1b[2Jgone", "\\x1b[2Jgone");
        check("\x1b]0;title\x07", "\\x1b]0;title\\x07");
        check("\u{9b}31m", "\\x9b31m");
        check("over\rwritten\x08", "over\\x0dwritten\\x08");
    }

    #[test]
    fn text_that_pretends_to_be_other_text_is_shown() {
        check("user\u{202e}txt.exe", "user\\u{202e}txt.exe");
        check("pass\u{200b}word\u{feff}", "pass\\u{200b}word\\u{feff}");
        check("a\u{200d}b", "a\\u{200d}b");
        check("no\u{fdd0}character", "no\\u{fdd0}character");
    }

    #[test]
    fn ordinary_text_stays() {
        check("naïve — 東京 🙂\n\tindented", "naïve — 東京 🙂\n\tindented");
        check("👩\u{200d}🔬 می\u{200c}خواهم", "👩\u{200d}🔬 می\u{200c}خواهم");
        check("a\r\nb", "a\nb");
        assert_eq!(one_line("a\nb\tc"), "a b c");
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn no_control_character_is_left(text in any::<String>()) {
            let safe = for_terminal(&text);
            prop_assert!(!safe.chars().any(|it| it.is_control() && it != '\n' && it != '\t'));
            prop_assert_eq!(for_terminal(&safe), safe.clone());
            prop_assert!(!one_line(&text).contains('\n'));
        }
    }
}
