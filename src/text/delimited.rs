//! One field of CSV or TSV.

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
