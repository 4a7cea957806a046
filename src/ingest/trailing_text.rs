//! Lines below a table that are not part of it: notes such as those of a report, after a blank line.
//!
//! Pure. They do not influence the detected delimiter: several notes below a small table would outweigh
//! it.

use super::records::Tokeniser;
use super::syntax::{Delimiter, Syntax, USUAL_DELIMITERS};

/// Minimum records of a table, with its header.
const RECORDS_MIN: usize = 2;

/// Returns how many bytes at the end of `head` are lines with a single cell, after a blank line below
/// records that all have the same number of cells, if there are more of them than records.
pub(crate) fn n_bytes(head: &[u8]) -> usize {
    let usual = USUAL_DELIMITERS.iter().filter_map(|it| Delimiter::new(it));
    usual.filter_map(|it| below(head, Syntax::usual(it))).max().unwrap_or(0)
}

fn below(head: &[u8], syntax: Syntax) -> Option<usize> {
    let mut tokeniser = Tokeniser::new(head, syntax);
    let mut cells = Vec::new();
    let (mut width, mut n_records, mut n_notes, mut end) = (0, 0, 0, 0);
    let mut at = 0;
    while let Some((start, _)) = tokeniser.record(&mut cells) {
        let is_behind_blank = head[at..start].contains(&b'\n');
        if n_notes == 0 && (n_records == 0 || cells.len() == width) && 1 < cells.len() {
            (width, n_records) = (cells.len(), n_records + 1);
        } else if cells.len() == 1 && (0 < n_notes || is_behind_blank) {
            end = if n_notes == 0 { at } else { end };
            n_notes += 1;
        } else {
            return None;
        }
        at = tokeniser.position();
    }
    let is_clear = RECORDS_MIN <= n_records && n_records < n_notes && tokeniser.n_unclosed() == 0;
    is_clear.then_some(head.len() - end)
}

#[cfg(test)]
mod tests {
    use super::n_bytes;

    #[test]
    fn notes_below_a_small_table_are_told_from_it() {
        let check = |text: &str, below: &str| {
            let all = format!("{text}{below}");
            assert_eq!(n_bytes(all.as_bytes()), below.len(), "{all}");
        };
        let notes = "\n\"Won deals\"\nCopyright\nConfidential\n\nAnn\n";
        check("\"a\",\"b\"\n\"1, 2\",\"3\"\n", notes);
        check("a;b\r\n1;2\r\n", notes);
        // Fewer notes than records change nothing.
        check("a,b\n1,2\n\nnote\n", "");
        check("Hello, world\n\nand so it\ngoes\non\n", "");
        check("a,b\n1,2\nx\ny\nz\n", "");
        check("a,b\n1\n\nx\ny\nz\n", "");
    }
}
