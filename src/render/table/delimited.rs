//! Tables as CSV and TSV: every row, every character.

use std::borrow::Cow;

use csv_agent_text::delimited::delimited_field;
use csv_agent_types::frame::Frame;

use super::plain;

/// Returns the table as RFC 4180 with line feeds: `,` for CSV, a tab for TSV.
///
/// Null is an empty field and empty text is `""`, so the two can be distinguished.
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
