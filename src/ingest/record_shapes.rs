//! The shape of records: how many cells they have, and how many of them are filled.
//!
//! Pure.

use crate::counts::mode;
use crate::records::{Cell, Tokeniser, count_line_ends};
use crate::syntax::Syntax;

/// The shape of one non-empty record.
#[derive(Debug, Clone)]
pub(crate) struct RecordShape {
    /// The end of the previous record, including its line end, and the line there.
    pub before: (usize, u32),
    /// The end of this record, including its line end, and the line there.
    pub after: (usize, u32),
    pub start: usize,
    /// Its end, without the line end.
    pub end: usize,
    /// The line it begins on; the first is 0.
    pub line: u32,
    /// Number of cells.
    pub width: usize,
    /// Cells that contain more than blanks.
    pub n_filled: usize,
    /// Number of cells up to the last filled one.
    pub reach: usize,
    /// Whether the first cell is filled.
    pub is_first_filled: bool,
    /// Whether each cell after the first begins with a blank, as in a sentence.
    pub is_prose: bool,
    /// Whether a blank line precedes it.
    pub is_behind_blank: bool,
}

impl RecordShape {
    fn new(
        text: &[u8],
        cells: &[Cell],
        (start, end): (usize, usize),
        before: (usize, u32),
        after: (usize, u32),
    ) -> Self {
        let is_filled = |it: &&Cell| !it.raw(text).trim_ascii().is_empty();
        let n_blank_lines = count_line_ends(&text[before.0..start]);
        let begins_blank = |it: &Cell| it.raw(text).starts_with(b" ");
        RecordShape {
            before,
            after,
            start,
            end,
            line: before.1 + n_blank_lines,
            width: cells.len(),
            n_filled: cells.iter().filter(is_filled).count(),
            reach: cells.iter().rposition(|it| is_filled(&it)).map_or(0, |at| at + 1),
            is_first_filled: cells.first().as_ref().is_some_and(is_filled),
            is_prose: cells.first().is_some_and(|it| it.raw(text).contains(&b' '))
                && cells.iter().skip(1).all(begins_blank),
            is_behind_blank: 0 < n_blank_lines,
        }
    }

    /// Returns whether it may be a row or the header of a table of `width` columns: a title in the
    /// first of many cells is neither.
    pub(crate) fn is_full(&self, width: usize) -> bool {
        self.width == width && width.min(3) <= self.n_filled + 1 && 0 < self.n_filled
    }

    /// Returns whether it may be a note below a table of `width` columns.
    pub(crate) fn is_note(&self, width: usize) -> bool {
        self.n_filled == 0
            || (self.n_filled == 1 && self.is_first_filled)
            || (self.width != width && self.is_prose)
    }
}

/// Returns the shapes of the first `n` records of `text`, limited to `width_max` cells: those beyond
/// are empty.
pub(crate) fn records_within(
    text: &[u8],
    syntax: Syntax,
    n: usize,
    width_max: usize,
) -> Vec<RecordShape> {
    let within = |it: RecordShape| RecordShape { width: it.width.min(width_max), ..it };
    records(text, syntax, n).into_iter().map(within).collect()
}

/// Returns the shapes of the first `n` records of `text`; lines of blanks count as blank.
pub(crate) fn records(text: &[u8], syntax: Syntax, n: usize) -> Vec<RecordShape> {
    let mut tokeniser = Tokeniser::new(text, syntax);
    let (mut cells, mut shapes) = (Vec::new(), Vec::new());
    let mut before = (0, 0);
    while shapes.len() < n
        && let Some(span) = tokeniser.record(&mut cells)
    {
        let after = (tokeniser.position(), tokeniser.n_lines());
        let shape = RecordShape::new(text, &cells, span, before, after);
        if shape.n_filled == 0 && shape.width == 1 {
            continue;
        }
        shapes.push(shape);
        before = after;
    }
    shapes
}

/// Returns how many columns the table formed by most of the records has.
pub(crate) fn width_of(shapes: &[RecordShape]) -> usize {
    let mut widths: Vec<usize> = shapes.iter().map(|it| it.width).filter(|it| 1 < *it).collect();
    let (width, n) = mode(&mut widths);
    if let (2 | 3, Some(width)) = (width, width_below_pairs(shapes)) {
        return width;
    }
    if shapes.len() <= 2 * n || width == 0 {
        return width.max(1);
    }
    // Many lines of prose may have the same number of commas. The table is the run with the most cells.
    let runs = widths.chunk_by(|a, b| a == b);
    runs.max_by_key(|it| it.len() * it[0]).map_or(width, |it| it[0])
}

/// Returns the width of a small table below a few names with values, where all of its records have that
/// width.
///
/// A name may have a unit next to its value, and a trailing delimiter, where a blank line separates the
/// table.
fn width_below_pairs(shapes: &[RecordShape]) -> Option<usize> {
    const PAIRS_MAX: usize = 12;
    const RECORDS_MIN: usize = 3;
    let below = |width_max: usize| {
        let n_above = shapes.iter().take_while(|it| it.width <= width_max).count();
        let (above, rest) = shapes.split_at(n_above);
        let width = rest.first()?.width;
        let n_pairs = above.iter().filter(|it| it.n_filled <= 2).count();
        let is_table = RECORDS_MIN <= rest.len() && rest.iter().all(|it| it.width == width);
        let are_pairs = n_above <= PAIRS_MAX && 2 * n_above <= 3 * n_pairs;
        (is_table && are_pairs).then_some((width, &rest[0]))
    };
    let is_named = |(width, names): &(usize, &RecordShape)| names.n_filled == *width;
    let is_apart = |(width, names): &(usize, &RecordShape)| {
        names.is_behind_blank && *width <= names.n_filled + 1
    };
    let found = below(2).filter(is_named).or_else(|| below(3).filter(is_apart));
    found.map(|it| it.0)
}
