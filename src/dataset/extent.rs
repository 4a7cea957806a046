//! Where the table lies in a file: behind a preamble, above a footer, with comments in between.
//!
//! Pure. Everything is judged by the shape of records: how many cells they have, how many of them
//! hold something, whether a blank line precedes them. Types decide in `header` where shape leaves
//! a doubt.

use super::aside::{Comment, is_marked};
use super::dialect::mode;
use super::records::{Cell, Tokeniser, count_line_ends, texts_of};
use super::sniff::Windows;
use super::syntax::Syntax;
use crate::limits::FOOTER_RECORDS_MAX;

/// Records of a window whose shape is looked at; more would not change the picture.
pub const RECORDS_MAX: usize = 1_000;

/// The shape of one record that holds something.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Where the record before it ends, line end included, and the line there.
    pub before: (usize, u32),
    /// Where it ends, line end included, and the line there.
    pub after: (usize, u32),
    /// Where it begins.
    pub start: usize,
    /// Where it ends, without its line end.
    pub end: usize,
    /// The line it begins on; the first is 0.
    pub line: u32,
    /// Cells.
    pub width: usize,
    /// Cells that hold more than blanks.
    pub n_filled: usize,
    /// Whether the first cell is one of them.
    pub is_first_filled: bool,
    /// Whether each cell behind the first goes on like a sentence: with a blank.
    pub is_prose: bool,
    /// Whether a blank line stands before it.
    pub is_behind_blank: bool,
}

impl Shape {
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
        Shape {
            before,
            after,
            start,
            end,
            line: before.1 + n_blank_lines,
            width: cells.len(),
            n_filled: cells.iter().filter(is_filled).count(),
            is_first_filled: cells.first().as_ref().is_some_and(is_filled),
            is_prose: cells.first().is_some_and(|it| it.raw(text).contains(&b' '))
                && cells.iter().skip(1).all(begins_blank),
            is_behind_blank: 0 < n_blank_lines,
        }
    }

    /// Returns whether it may be a row or the header of a table of `width` columns: a title in the
    /// first of many cells is none.
    pub fn is_full(&self, width: usize) -> bool {
        self.width == width && width.min(3) <= self.n_filled + 1 && 0 < self.n_filled
    }

    /// Returns whether it may stand below a table of `width` columns.
    fn is_note(&self, width: usize) -> bool {
        self.n_filled == 0
            || (self.n_filled == 1 && self.is_first_filled)
            || (self.width != width && self.is_prose)
    }
}

/// Returns the shapes of the first `n` records of `text`; lines of blanks count as blank.
pub fn records(text: &[u8], syntax: Syntax, n: usize) -> Vec<Shape> {
    let mut tokeniser = Tokeniser::new(text, syntax);
    let (mut cells, mut shapes) = (Vec::new(), Vec::new());
    let mut before = (0, 0);
    while shapes.len() < n
        && let Some(span) = tokeniser.record(&mut cells)
    {
        let after = (tokeniser.position(), tokeniser.n_lines());
        let shape = Shape::new(text, &cells, span, before, after);
        if shape.n_filled == 0 && shape.width == 1 {
            continue;
        }
        shapes.push(shape);
        before = after;
    }
    shapes
}

/// Returns how many columns the table has that most of the records make.
pub fn width_of(shapes: &[Shape]) -> usize {
    let mut widths: Vec<usize> = shapes.iter().map(|it| it.width).filter(|it| 1 < *it).collect();
    let (width, n) = mode(&mut widths);
    if let (2 | 3, Some(width)) = (width, width_below_pairs(shapes)) {
        return width;
    }
    if shapes.len() <= 2 * n || width == 0 {
        return width.max(1);
    }
    // Many lines of prose may have the same number of commas. The table is what has most cells.
    let runs = widths.chunk_by(|a, b| a == b);
    runs.max_by_key(|it| it.len() * it[0]).map_or(width, |it| it[0])
}

/// Returns the width of a small table below a few names with their values, where all of its records have it.
///
/// A name may have a unit beside its value, and a delimiter at the end, where a blank line sets the table apart.
fn width_below_pairs(shapes: &[Shape]) -> Option<usize> {
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
    let is_named = |(width, names): &(usize, &Shape)| names.n_filled == *width;
    let is_apart =
        |(width, names): &(usize, &Shape)| names.is_behind_blank && *width <= names.n_filled + 1;
    let found = below(2).filter(is_named).or_else(|| below(3).filter(is_apart));
    found.map(|it| it.0)
}

/// Returns what begins the comment lines among the records, if there are any.
///
/// A marker is one only where no row begins with it: `#3,x` in a table of two columns is a row, unless
/// nearly all lines that begin so are none. The lines at the top are left out of that, since a header may be commented as well.
pub fn comment_of(windows: &Windows, syntax: Syntax, width: usize) -> Option<Comment> {
    const MARKERS: [&str; 4] = ["#", "//", "%", ";"];
    /// So many comments for each that has as many cells as a row by chance.
    const N_SURE: usize = 10;
    if width < 2 {
        return None;
    }
    let head = windows.head(syntax);
    let mut parts = vec![(head, records(head, syntax, RECORDS_MAX))];
    parts.extend(windows.others(syntax).map(|it| (it, records(it, syntax, RECORDS_MAX))));
    let is_comment = |marker: &&&str| {
        let marked = |text: &[u8], it: &Shape| is_marked(&text[it.start..it.end], marker);
        let (text, shapes) = &parts[0];
        let n_lead = shapes.iter().take_while(|it| marked(text, it)).count();
        let (mut n_fit, mut n_other) = (0, n_lead);
        for (at, (text, shapes)) in parts.iter().enumerate() {
            let skipped = if at == 0 { n_lead } else { 0 };
            for shape in shapes.iter().skip(skipped).filter(|it| marked(text, it)) {
                *(if shape.width == width { &mut n_fit } else { &mut n_other }) += 1;
            }
        }
        match n_fit {
            0 => (0 < n_other).then_some(false),
            _ => (N_SURE * n_fit <= n_other).then_some(true),
        }
    };
    let mut markers = MARKERS
        .iter()
        .filter(|it| !syntax.delimiter.text().is_some_and(|text| it.starts_with(text)));
    let (marker, is_sure) = markers.find_map(|it| Some((it, is_comment(&it)?)))?;
    Some(Comment::Marked { marker: (*marker).to_owned(), is_sure })
}

/// Notes below a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footer {
    /// Bytes from its first character to the end of the file.
    pub bytes: usize,
    /// Whether a blank line or a row of empty cells sets it apart from the table. In a table of two
    /// columns, a row without its second cell below a row without any may be one as well.
    pub is_apart: bool,
    /// Whether a row of delimiters stands above it, and no row of the table lacks its second cell.
    pub is_below_hollow: bool,
}

/// Returns whether a record with no more than its first cell begins as notes do.
fn begins_as_note(shape: &Shape, text: &[u8], syntax: Syntax) -> bool {
    const BEGINNINGS: [&str; 6] = ["source:", "sources:", "note:", "notes:", "©", "* "];
    let begins = |text: &str| BEGINNINGS.iter().any(|it| text.starts_with(it));
    shape.n_filled == 1 && shape.is_first_filled && {
        let first = texts_of(&text[shape.start..shape.end], syntax).into_iter().next();
        first.is_some_and(|it| begins(&it.trim().to_lowercase()))
    }
}

/// Returns the notes at the end of `tail`, which is the end of a file, as far as shape tells.
pub fn footer_of(
    tail: &[u8],
    syntax: Syntax,
    width: usize,
    comment: Option<&Comment>,
) -> Option<Footer> {
    if width < 2 {
        return None;
    }
    let shapes = records(tail, syntax, usize::MAX);
    let is_comment =
        |it: &Shape| comment.is_some_and(|comment| comment.marks(&tail[it.start..it.end]));
    let is_note = |it: &&Shape| it.is_note(width) || is_comment(it);
    let n_notes = shapes.iter().rev().take(FOOTER_RECORDS_MAX + 1).take_while(is_note).count();
    if FOOTER_RECORDS_MAX < n_notes {
        return None;
    }
    let first = shapes.len() - n_notes;
    // Where blank lines stand between rows, one more says nothing.
    let is_apart = |at: usize| {
        shapes[at].n_filled == 0
            || (shapes[at].is_behind_blank && (at < 2 || !shapes[at - 1].is_behind_blank))
    };
    // A row of a drawn table has its bars even where its cells are empty.
    let n_narrow = if matches!(comment, Some(Comment::Drawn(_))) { 2 } else { 3 };
    let begins = |at: &usize| {
        let notes = &shapes[*at..];
        let is_narrow = n_narrow <= width && notes.iter().all(|it| it.width == 1);
        let Some(above) = at.checked_sub(1).map(|it| &shapes[it]) else { return false };
        let has_note = notes.iter().any(|it| 0 < it.n_filled && !is_comment(it));
        let is_of_table = above.width == width || (above.width < width && is_apart(*at));
        is_of_table
            && has_note
            && (is_narrow || is_apart(*at) || begins_as_note(&notes[0], tail, syntax))
    };
    let at = (first..shapes.len()).find(begins)?;
    let may_be_rows =
        width == 2 && shapes[at..].iter().all(|it| it.width == width && !it.is_behind_blank);
    let mut table = shapes[..at].iter().skip_while(|it| it.n_filled <= 1);
    let is_below_hollow = shapes[at].n_filled == 0 && table.all(|it| it.n_filled != 1);
    let is_apart = is_apart(at) && !may_be_rows;
    Some(Footer { bytes: tail.len() - shapes[at].start, is_apart, is_below_hollow })
}
