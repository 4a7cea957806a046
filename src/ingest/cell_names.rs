//! Names of workbook cells: `Sheet1!B12`.

/// Returns the name of a cell: `Sheet1!B12`. The first row and the first column are 0.
pub(crate) fn cell_name(sheet: &str, row: u64, column: u64) -> String {
    format!("{}!{}{}", quoted(sheet), column_letters(column), row + 1)
}

/// Returns the name of a row: `Sheet1!12:12`. The first row is 1.
pub(crate) fn row_name(sheet: &str, row: u64) -> String {
    format!("{}!{row}:{row}", quoted(sheet))
}

/// Returns the letters of a column; the first is 0.
pub(crate) fn column_letters(column: u64) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while 0 < rest {
        let digit = u8::try_from((rest - 1) % 26).unwrap_or_default();
        letters.insert(0, b'A' + digit);
        rest = (rest - 1) / 26;
    }
    String::from_utf8_lossy(&letters).into_owned()
}

fn quoted(sheet: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || it == '_';
    let begins_plain = sheet.starts_with(|it: char| it.is_alphabetic() || it == '_');
    if begins_plain && sheet.chars().all(is_plain) {
        return sheet.to_owned();
    }
    format!("'{}'", sheet.replace('\'', "''"))
}
