//! Rows that omit trailing empty cells, below a header that names all columns.
//!
//! Pure. Programs that do this write rows of any width up to the header's, so no width is typical.

use std::collections::HashSet;

use super::records::texts_of;
use super::syntax::Syntax;
use super::type_evidence::{Nulls, classify};
use crate::record_shapes::RecordShape;

/// Records among which to search for the header.
const RECORDS_ABOVE_MAX: usize = 20;
/// Commas in prose also produce fewer columns.
const WIDTH_MIN: usize = 3;
/// Fewer rows show no pattern.
const ROWS_MIN: usize = 3;
/// Maximum characters of a name; a longer one is a sentence.
const NAME_CHARS_MAX: usize = 60;

/// Returns how many columns the header names, where the rows below it vary in width and none is wider.
pub(crate) fn width(text: &[u8], shapes: &[RecordShape], syntax: Syntax) -> Option<usize> {
    let (at, width) = header(text, shapes, syntax)?;
    let rows = &shapes[at + 1..];
    let n_cut = rows.iter().filter(|it| it.width < width).count();
    let is_uneven = rows.iter().any(|it| it.width != rows[0].width);
    // Rows that determine the width by themselves need no header for it.
    (is_uneven && rows.len() <= n_cut * 2).then_some(width)
}

/// Returns how many columns the first record names, where no row below it has more cells.
pub(crate) fn names_all(text: &[u8], shapes: &[RecordShape], syntax: Syntax) -> Option<usize> {
    header(text, shapes, syntax).filter(|it| it.0 == 0).map(|it| it.1)
}

/// Returns the index and the width of the widest record, if it contains names above rows of cells.
fn header(text: &[u8], shapes: &[RecordShape], syntax: Syntax) -> Option<(usize, usize)> {
    let width = shapes.iter().map(|it| it.width).max().filter(|it| WIDTH_MIN <= *it)?;
    let at = shapes.iter().take(RECORDS_ABOVE_MAX).position(|it| it.width == width)?;
    let (header, rows) = (&shapes[at], &shapes[at + 1..]);
    if header.n_filled < width || header.is_prose || rows.len() < ROWS_MIN {
        return None;
    }
    let n_split = rows.iter().filter(|it| 1 < it.width).count();
    let n_prose = rows.iter().filter(|it| 1 < it.width && it.is_prose).count();
    let are_cells = rows.len() <= n_split * 2 && n_prose * 10 <= n_split;
    let are_named = || are_names(&texts_of(&text[header.start..header.end], syntax));
    (are_cells && are_named()).then_some((at, width))
}

/// Returns whether labels are column names: words, all distinct.
pub(crate) fn are_names(labels: &[String]) -> bool {
    let nulls = Nulls::new(None);
    let is_name = |it: &String| {
        classify(it.as_bytes(), &nulls).is_name() && it.chars().count() <= NAME_CHARS_MAX
    };
    let distinct: HashSet<String> = labels.iter().map(|it| it.trim().to_lowercase()).collect();
    labels.iter().all(is_name) && distinct.len() == labels.len()
}
