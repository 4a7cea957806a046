//! Columns left and right of a table that are not part of it.
//!
//! Pure. A record keeps its lines, so that a line of the remaining text is the same line of the file.

use crate::records::{Cell, Tokeniser, count_line_ends};
use crate::syntax::Syntax;

/// The columns of a table within a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Beside {
    /// How records are split into cells.
    pub syntax: Syntax,
    /// The first column of the table; the first column of the text is 0.
    pub first: usize,
    /// The column after its last one.
    pub end: usize,
}

impl Beside {
    /// Appends `text`, which consists of complete records, without the cells left and right of the
    /// table. A record without content in the table becomes a blank line.
    pub(crate) fn strip(self, text: &[u8], stripped: &mut Vec<u8>) {
        let mut tokeniser = Tokeniser::new(text, self.syntax);
        let mut cells = Vec::new();
        let mut before = 0;
        while let Some((start, end)) = tokeniser.record(&mut cells) {
            let behind = tokeniser.position();
            // Blank lines precede it.
            stripped.extend_from_slice(&text[before..start]);
            let kept = self.kept(text, &cells);
            stripped.extend_from_slice(kept);
            stripped.extend_from_slice(&text[end..behind]);
            if !self.syntax.is_of_rows {
                let n_lines = count_line_ends(&text[start..end]) - count_line_ends(kept);
                stripped.extend((0..n_lines).map(|_| b'\n'));
            }
            before = behind;
        }
        stripped.extend_from_slice(&text[before..]);
    }

    /// Returns the part of a record that belongs to the table.
    fn kept<'a>(self, text: &'a [u8], cells: &[Cell]) -> &'a [u8] {
        let cells = &cells[self.first.min(cells.len())..self.end.min(cells.len())];
        match cells {
            [first, .., last] if cells.iter().any(|it| it.is_filled(text)) => {
                &text[first.span().0..last.span().1]
            }
            [one] if one.is_filled(text) => &text[one.span().0..one.span().1],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Beside;
    use crate::syntax::{Delimiter, Syntax};

    #[test]
    fn a_record_keeps_the_cells_of_the_table_and_its_lines() {
        let check = |text: &str, expected: &str| {
            let syntax = Syntax::usual(Delimiter::new(",").unwrap());
            let mut stripped = Vec::new();
            Beside { syntax, first: 1, end: 3 }.strip(text.as_bytes(), &mut stripped);
            assert_eq!(String::from_utf8(stripped).unwrap(), expected, "{text}");
        };
        check("a,b,c,,d\r\n1,2,3,,4\r\n", "b,c\r\n2,3\r\n");
        check("a,\"b,\"\"x\",c\n\n1,2\n3\n", "\"b,\"\"x\",c\n\n2\n\n");
        // What has nothing is a blank line.
        check("a,,,,d\na,\"\",\"\",,d\na,b,,,d", "\n\nb,");
        check("\"a\nb\",c,d,,\"e\nf\"\n1,\"2\n3\",4\n", "c,d\n\n\n\"2\n3\",4\n");
    }
}
