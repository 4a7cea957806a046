//! Wraps the words of help texts.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

/// Appends wrapped words, with `indent` cells before each further line; the first is indented already.
pub(crate) fn wrap(words: &str, indent: usize, width: usize, text: &mut String) {
    let mut at = indent;
    for (nth, word) in words.split(' ').enumerate() {
        let n_cells = UnicodeWidthStr::width(word);
        if 0 < nth && width <= at + 1 + n_cells {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{:indent$}", "");
            at = indent;
        } else if 0 < nth {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += n_cells;
    }
}
