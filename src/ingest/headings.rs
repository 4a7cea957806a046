//! Rows that may be headings of the rows below them: `Checking,,` in a ledger.
//!
//! Pure. A row without values looks the same, so these are kept as rows and reported.

use super::non_rows::Comment;
use super::records::texts_of;
use super::subtotals::KeptRows;
use super::syntax::Syntax;
use super::totals::plain_label;
use super::type_evidence::{Nulls, classify};
use crate::record_shapes::records_within;

/// In a narrower table, such a row lacks only one value.
const WIDTH_MIN: usize = 3;

/// Finds the rows among the records of `text` that have a text in their first cell and nothing in the others, above a
/// row with more, or the label of a total below them. Cells beyond `width_max` are empty.
pub(crate) fn find(
    text: &[u8],
    syntax: Syntax,
    (width, width_max): (usize, usize),
    comment: Option<&Comment>,
    nulls: &Nulls,
) -> Option<KeptRows> {
    if width < WIDTH_MIN {
        return None;
    }
    let mut shapes = records_within(text, syntax, usize::MAX, width_max);
    shapes.retain(|it| {
        0 < it.n_filled && !comment.is_some_and(|comment| comment.marks(&text[it.start..it.end]))
    });
    let mut found = None;
    for (at, row) in shapes.iter().enumerate() {
        if row.n_filled != 1 || !row.is_first_filled {
            continue;
        }
        let cells = texts_of(&text[row.start..row.end], syntax);
        let is_heading = match shapes.get(at + 1) {
            Some(below) => 1 < below.n_filled && classify(cells[0].as_bytes(), nulls).is_name(),
            None => plain_label(&cells).is_some(),
        };
        if is_heading {
            KeptRows::add(&mut found, row.line);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::find;
    use crate::syntax::{Delimiter, Syntax};
    use crate::type_evidence::Nulls;

    #[track_caller]
    fn check(text: &str, expected: Option<(u64, u32)>) {
        let comma = Syntax::usual(Delimiter::new(",").unwrap());
        let widths =
            (text.lines().map(|it| it.matches(',').count() + 1).max().unwrap(), usize::MAX);
        let found = find(text.as_bytes(), comma, widths, None, &Nulls::new(None));
        assert_eq!(found.map(|it| (it.n, it.line)), expected, "{text}");
    }

    #[test]
    fn a_row_with_only_its_first_text_may_be_a_heading() {
        check("Checking,,\na,1,2\nb,3,4\n", Some((1, 0)));
        check("a,1,2\nNorth,,\n\nb,3,4\nSouth\nc,,5\n", Some((2, 1)));
        // Missing values of rows, and lines below the last one.
        check("Checking,\na,1\n", None);
        check("17,,\n18,2,3\n", None);
        check(",x,\na,1,2\n", None);
        check("a,1,2\nb,,\n", None);
        check("a,1,2\nTotal,,\n", Some((1, 1)));
    }
}
