//! Tables as CSV and TSV: every row, every character.

use std::borrow::Cow;

use super::plain;
use crate::frame::Frame;

/// Returns the table as RFC 4180 with line feeds: `,` for CSV, a tab for TSV.
///
/// Null is an empty field and empty text is `""`, so the two can be told apart.
pub fn delimited(frame: &Frame, delimiter: u8) -> String {
    let delimiter = char::from(delimiter);
    let mut text = String::new();
    let header = frame.columns.iter().map(|it| Some(Cow::Borrowed(it.as_str())));
    delimited_line(header, delimiter, &mut text);
    for row in &frame.rows {
        let fields = row.iter().map(|it| (!it.is_null()).then(|| plain(it)));
        delimited_line(fields, delimiter, &mut text);
    }
    text
}

fn delimited_line<'a>(
    fields: impl ExactSizeIterator<Item = Option<Cow<'a, str>>>,
    delimiter: char,
    text: &mut String,
) {
    let is_alone = fields.len() == 1;
    for (at, field) in fields.enumerate() {
        if 0 < at {
            text.push(delimiter);
        }
        delimited_field(field.as_deref(), is_alone, delimiter, text);
    }
    text.push('\n');
}

/// Appends one field, in quotes where it needs them; `None` is null.
///
/// A null that is alone in its row is `""`: readers skip an empty line, and the row with it.
pub fn delimited_field(field: Option<&str>, is_alone: bool, delimiter: char, text: &mut String) {
    let needs_quotes = |it: char| it == delimiter || matches!(it, '"' | '\r' | '\n');
    match field {
        None if is_alone => text.push_str("\"\""),
        None => {}
        // Where a byte order mark begins a line, readers leave it out.
        Some(field)
            if field.is_empty()
                || field.contains(needs_quotes)
                || field.starts_with('\u{feff}') =>
        {
            text.push('"');
            text.push_str(&field.replace('"', "\"\""));
            text.push('"');
        }
        Some(field) => text.push_str(field),
    }
}
