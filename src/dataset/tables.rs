//! Several tables in one file: where the first one ends.
//!
//! Pure. A short file is looked at as a whole; in a long one, a second table is not looked for, and
//! its rows are told as rows that do not fit.

use super::aside::AsideRule;
use super::dialect::{mode, ratio};
use super::extent::{Shape, records};
use super::header::is_header;
use super::infer::{Nulls, classify};
use super::lead;
use super::records::texts_of;
use super::sample::Sample;
use super::shape::is_value;
use super::sniff::Windows;
use super::syntax::Syntax;

/// Places that are looked at closely; a file with more of them is no row of tables.
const PLACES_MAX: usize = 16;
/// Records of names and values above a table; more are a table of their own.
const RECORDS_ABOVE_MAX: usize = 12;

/// Returns the length of the text before the second table, if there is one behind a first one that
/// is not much shorter.
pub fn end_of_first(windows: &Windows, syntax: Syntax, nulls: &Nulls) -> Option<usize> {
    if !windows.is_whole {
        return None;
    }
    let text = windows.head(syntax);
    let mut shapes = records(text, syntax, usize::MAX);
    let n_lead = lead::n_bytes(text);
    shapes.retain(|it| n_lead <= it.start);
    let place = Places { text, syntax, nulls, shapes: &shapes };
    let at = place.candidates().take(PLACES_MAX).find(|at| place.begins_table(*at))?;
    // Before a table that is much longer, a short one is preamble.
    (place.end(at) - at <= 2 * at).then(|| shapes[at].start)
}

/// The records of a file, between which tables may begin.
struct Places<'a> {
    text: &'a [u8],
    syntax: Syntax,
    nulls: &'a Nulls,
    shapes: &'a [Shape],
}

impl Places<'_> {
    /// Returns positions where the width changes, or a blank line stands, above even records.
    fn candidates(&self) -> impl Iterator<Item = usize> {
        (2..self.shapes.len().saturating_sub(1)).filter(|at| {
            let (before, here) = (&self.shapes[at - 1], &self.shapes[*at]);
            let below = self.shapes[at + 1..].iter().take(2);
            let is_change = here.width != before.width || self.is_apart(*at);
            is_change
                && 1 < here.width
                && here.n_filled == here.width
                && below.into_iter().all(|it| it.width == here.width)
        })
    }

    /// Returns whether a blank line stands before a record, or before a title above it.
    fn is_apart(&self, at: usize) -> bool {
        let before = &self.shapes[at - 1];
        let is_title = before.n_filled == 1 && before.is_first_filled;
        self.shapes[at].is_behind_blank || (is_title && before.is_behind_blank)
    }

    /// Returns where the table ends that begins at a position: where another may begin behind a blank line.
    fn end(&self, at: usize) -> usize {
        let next = self.candidates().find(|it| at + 2 < *it && self.is_apart(*it));
        next.unwrap_or(self.shapes.len())
    }

    fn begins_table(&self, at: usize) -> bool {
        // Titles are above the first table.
        let n_titles = self.shapes[..at].iter().take_while(|it| it.n_filled == 1).count();
        let above = &self.shapes[n_titles..at];
        let Some((head, rows)) = self.shapes[at..self.end(at)].split_first() else { return false };
        let (width, share) = width_of(above);
        // Names and values above a table leave cells empty.
        if width < 2 || share < 0.8 || above.first().is_none_or(|it| it.n_filled < width) {
            return false;
        }
        // A table of the same width begins behind a blank line; of the other one, nothing comes again.
        let n_back = rows.iter().filter(|it| it.width == width).count();
        if if width == head.width { !self.is_apart(at) } else { rows.len() < 5 * n_back } {
            return false;
        }
        // Names with their values have a value where a table has a name.
        let firsts = texts_of(&self.text[above[0].start..above[0].end], self.syntax);
        if width == 2
            && width < head.width
            && firsts.get(1).is_some_and(|it| is_value(it.as_bytes()))
        {
            return false;
        }
        let labels = texts_of(&self.text[head.start..head.end], self.syntax);
        if !labels.iter().all(|it| classify(it.as_bytes(), self.nulls).is_name()) {
            return false;
        }
        let end = rows.last().map_or(self.text.len(), |it| it.after.0);
        let behind = self.sample(head.after.0, end, head.width);
        let is_named = behind.is_typed() && is_header(&labels, &behind, self.nulls).0;
        if width != head.width {
            // A few names and values above a table are no table.
            let before = self.sample(above[0].after.0, head.before.0, width);
            if above.len() <= RECORDS_ABOVE_MAX && !before.is_typed() {
                return false;
            }
            return is_named || (head.is_behind_blank && !behind.is_typed());
        }
        let before = self.sample(above[0].after.0, head.before.0, width);
        is_named && before.is_typed() && is_header(&labels, &before, self.nulls).0 && {
            let first = &self.text[above[0].start..above[0].end];
            first != &self.text[head.start..head.end]
        }
    }

    fn sample(&self, start: usize, end: usize, width: usize) -> Sample {
        let windows = Windows::whole(&self.text[start..end]);
        Sample::of(&windows, self.syntax, width, 0, self.nulls, &AsideRule::default())
    }
}

/// Returns the width that most records have, and their share.
fn width_of(shapes: &[Shape]) -> (usize, f64) {
    let mut widths: Vec<usize> = shapes.iter().map(|it| it.width).collect();
    let (width, n) = mode(&mut widths);
    (width, ratio(n, shapes.len()))
}
