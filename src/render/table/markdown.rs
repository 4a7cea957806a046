//! Tables as GitHub Markdown: every row, rendered exactly as the cells contain it.

use std::borrow::Cow;

use serde_json::Value;

use csv_agent_text::sanitize;
use csv_agent_types::frame::{Frame, is_numeric_dtype};

use super::number::is_amount;
use super::plain;

/// Returns the table as GitHub Markdown, every row on one line, with a final line feed. A frame without
/// columns yields an empty string.
///
/// Numeric columns are right-aligned. Cells are made safe, and Markdown syntax in them is escaped.
pub fn markdown(frame: &Frame) -> String {
    if frame.columns.is_empty() {
        return String::new();
    }
    let mut text = String::new();
    line(frame.columns.iter().map(|it| cell(it)), &mut text);
    for at in 0..frame.columns.len() {
        text.push_str(if is_right(frame, at) { "|---:" } else { "|---" });
    }
    text.push_str("|\n");
    for row in &frame.rows {
        let cells = row.iter().map(|it| match it {
            Value::String(text) => cell(text),
            other => plain(other),
        });
        line(cells, &mut text);
    }
    text
}

/// Returns whether a column contains numbers, or texts that are numbers with a unit.
fn is_right(frame: &Frame, at: usize) -> bool {
    if is_numeric_dtype(frame.dtypes.get(at).map_or("", String::as_str)) {
        return true;
    }
    let mut known = frame.rows.iter().filter_map(|row| row.get(at)).filter(|it| !it.is_null());
    let is_number = |it: &Value| it.is_number() || it.as_str().is_some_and(is_amount);
    known.next().is_some_and(is_number) && known.all(is_number)
}

fn line<'a>(cells: impl Iterator<Item = Cow<'a, str>>, text: &mut String) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&cell);
        text.push_str(" |");
    }
    text.push('\n');
}

/// Returns a text that Markdown renders literally: a line feed as a break, the rest escaped where it
/// would be syntax.
fn cell(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b',' | b'-' | b'%'))
    {
        return Cow::Borrowed(text);
    }
    let text = sanitize::for_terminal(text);
    let mut escaped = String::with_capacity(text.len() + 8);
    let start = text.len() - text.trim_start_matches(is_blank).len();
    let end = text.trim_end_matches(is_blank).len();
    let mut before = ' ';
    let mut is_escaped = false;
    for (at, char) in text.char_indices() {
        match char {
            '\n' => escaped.push_str("<br>"),
            // Markdown would turn a tab into a space, and trims the ends of a cell.
            ' ' | '\t' if char == '\t' || !(start..end).contains(&at) => {
                escaped.push_str(if char == '\t' { "&#9;" } else { "&#32;" });
                is_escaped = true;
            }
            _ => {
                if is_mark(char, before, &text[at + char.len_utf8()..]) {
                    escaped.push('\\');
                    is_escaped = true;
                }
                escaped.push(char);
            }
        }
        before = char;
    }
    if is_escaped {
        // GitHub turns an address into a link, and shows the escapes in it literally.
        escaped = escaped.replace("://", "&#58;//").replace("www.", "www&#46;");
    }
    Cow::Owned(escaped)
}

fn is_blank(char: char) -> bool {
    matches!(char, ' ' | '\t')
}

/// Returns whether Markdown could interpret a character between `before` and `rest` as syntax.
fn is_mark(char: char, before: char, rest: &str) -> bool {
    let next = rest.chars().next();
    match char {
        '|' | '[' | ']' => true,
        // They come in pairs, and end with the cell.
        '*' | '`' | '~' => rest.contains(char),
        '\\' => next.is_none_or(|it| it.is_ascii_punctuation() || it.is_ascii_whitespace()),
        // Within a word it is an ordinary character.
        '_' => !(before.is_alphanumeric() && next.is_some_and(char::is_alphanumeric)),
        '<' => {
            let opens = |it: char| it.is_ascii_alphabetic() || matches!(it, '/' | '!' | '?');
            next.is_some_and(opens) || rest.contains('>')
        }
        '&' => next.is_some_and(|it| it == '#' || it.is_ascii_alphabetic()) && rest.contains(';'),
        _ => false,
    }
}
