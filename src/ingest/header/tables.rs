//! Several tables in one file: where the first one ends.
//!
//! Pure. A short file is examined as a whole; a long one is not searched for a second table, and its
//! rows are reported as rows that do not fit.

use std::collections::HashSet;

use super::leading_text;
use super::{are_labels, is_header, resembles_rows};
use crate::counts::{mode, ratio};
use crate::non_rows::AsideRule;
use crate::record_shapes::{RecordShape, records};
use crate::records::texts_of;
use crate::sample::Sample;
use crate::shape::is_value;
use crate::sniff::Windows;
use crate::syntax::Syntax;
use crate::type_evidence::{Nulls, TypeEvidence, classify};
use crate::type_inference::is_typed;

/// Places to examine closely; a file with more is not a sequence of tables.
const PLACES_MAX: usize = 16;
/// Records of names and values above a table; more are a separate table.
const RECORDS_ABOVE_MAX: usize = 12;
/// Gaps in a table that has occasional gaps.
const GAPS_MAX: usize = 4;
/// Titles above a table.
const TITLES_MAX: usize = 3;
/// Minimum number of rows that show the content of a column.
const ROWS_MIN: usize = 2;

/// The start of further tables below the first.
#[derive(Debug, Default)]
pub(crate) struct FurtherTables {
    /// The length of the text before the second table, if there certainly is one, and before the titles
    /// above it.
    pub end: Option<(usize, usize)>,
    /// The first earlier place where a table may begin.
    pub doubt: Option<Doubt>,
}

/// A place where a table may begin; the first line is 0.
#[derive(Debug)]
pub(crate) struct Doubt {
    /// The start of its names.
    pub start: usize,
    /// The line of its names.
    pub line: u32,
    /// The first and last lines of the records above it.
    pub above: (u32, u32),
    /// Its first and last lines.
    pub here: (u32, u32),
}

/// Whether a table begins at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    No,
    Maybe,
    Surely,
}

impl Begin {
    fn maybe(is_it: bool) -> Begin {
        if is_it { Begin::Maybe } else { Begin::No }
    }
}

/// Finds the second table, if one follows a first table that is not much shorter. With `takes_all`,
/// every possible table counts, even after a short one; with `is_further`, the first table is itself
/// below another.
pub(crate) fn find(
    windows: &Windows,
    syntax: Syntax,
    nulls: &Nulls,
    takes_all: bool,
    is_further: bool,
) -> FurtherTables {
    let mut found = FurtherTables::default();
    if !windows.is_whole {
        return found;
    }
    let text = windows.head(syntax);
    let n_lead = leading_text::n_bytes(text);
    let shapes = shapes(text, syntax, n_lead);
    let place = Places { text, syntax, nulls, shapes: &shapes, takes_all, is_further };
    // Records that may belong to another table say nothing about the first.
    let mut first_end = None;
    for at in place.candidates().take(PLACES_MAX) {
        let begin = place.begin(at, first_end.unwrap_or(at));
        // Before a much longer table, a short one is preamble.
        let is_short = 2 * at < place.end(at) - at;
        match begin {
            Begin::No => continue,
            Begin::Surely if takes_all || !is_short => {
                found.end = Some(place.start(at));
                return found;
            }
            Begin::Maybe if takes_all => {
                found.end = Some(place.start(at));
                return found;
            }
            Begin::Maybe | Begin::Surely => {}
        }
        found.doubt.get_or_insert_with(|| place.doubt(at));
        first_end.get_or_insert(at);
        if begin == Begin::Surely {
            return found;
        }
    }
    found
}

/// Returns the shapes of non-empty records. Each is as wide as the widest content in its block: a
/// program that writes several tables gives all records the same number of delimiters.
fn shapes(text: &[u8], syntax: Syntax, n_lead: usize) -> Vec<RecordShape> {
    let mut shapes = records(text, syntax, usize::MAX);
    shapes.retain(|it| n_lead <= it.start);
    let mut is_behind_hollow = false;
    shapes.retain_mut(|it| {
        it.is_behind_blank |= std::mem::replace(&mut is_behind_hollow, it.n_filled == 0);
        0 < it.n_filled
    });
    for block in shapes.chunk_by_mut(|_, it| !it.is_behind_blank) {
        let reach = block.iter().map(|it| it.reach).max().unwrap_or_default();
        for shape in block {
            shape.width = shape.width.min(reach);
        }
    }
    shapes
}

/// The records of a file, between which tables may begin.
struct Places<'a> {
    text: &'a [u8],
    syntax: Syntax,
    nulls: &'a Nulls,
    shapes: &'a [RecordShape],
    takes_all: bool,
    is_further: bool,
}

impl Places<'_> {
    /// Returns indices where the width changes or a blank line precedes, above even records.
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

    /// Returns whether a blank line precedes a record, or a title above it.
    fn is_apart(&self, at: usize) -> bool {
        let before = &self.shapes[at - 1];
        let is_title = before.n_filled == 1 && before.is_first_filled;
        self.shapes[at].is_behind_blank || (is_title && before.is_behind_blank)
    }

    /// Returns the end of the table that begins at an index: where another may begin after a blank
    /// line.
    fn end(&self, at: usize) -> usize {
        let next = self.candidates().find(|it| at + 2 < *it && self.is_apart(*it));
        next.unwrap_or(self.shapes.len())
    }

    /// Returns the records above an index, without titles above the first table and this one.
    fn above(&self, at: usize) -> &[RecordShape] {
        let n_titles = self.shapes[..at].iter().take_while(|it| it.n_filled == 1).count();
        let above = &self.shapes[n_titles..at];
        let n_below = above.iter().rev().take_while(|it| it.n_filled == 1).count();
        &above[..above.len() - n_below]
    }

    /// Judges a place by the records of the first table, which end at `first_end`.
    fn begin(&self, at: usize, first_end: usize) -> Begin {
        let above = self.above(first_end);
        let Some((head, rows)) = self.shapes[at..self.end(at)].split_first() else {
            return Begin::No;
        };
        let (width, share) = width_of(above);
        // Names and values above a table leave cells empty.
        if width < 2 || share < 0.8 || above.first().is_none_or(|it| it.n_filled < width) {
            return Begin::No;
        }
        // A table of the same width begins after a blank line; after one of another width, the first
        // width does not recur.
        let n_back = rows.iter().filter(|it| it.width == width).count();
        if if width == head.width { !self.is_apart(at) } else { rows.len() < 5 * n_back } {
            return Begin::No;
        }
        // In a list of names and values, the second cell is a value, where a table has a name.
        let firsts = self.labels(&above[0]);
        if width == 2
            && width < head.width
            && firsts.get(1).is_some_and(|it| is_value(it.as_bytes()))
        {
            return Begin::No;
        }
        let pair = Pair {
            labels: self.labels(head),
            body: self.sample(
                head.after.0,
                rows.last().map_or(head.after.0, |it| it.after.0),
                head.width,
            ),
            first_labels: firsts,
            first_body: self.sample(above[0].after.0, above[above.len() - 1].after.0, width),
            above,
            head,
            rows,
            is_apart: self.is_apart(at),
        };
        if head.width == width {
            self.begin_of_same_width(&pair)
        } else {
            self.begin_of_other_width(&pair, width)
        }
    }

    /// Judges a place after which records have another width.
    fn begin_of_other_width(&self, pair: &Pair<'_>, width: usize) -> Begin {
        let Pair { head, above, body, first_body, .. } = pair;
        if !self.are_names(&pair.labels) {
            return Begin::No;
        }
        let is_padded = |it: &RecordShape| it.width < self.n_cells(it);
        let n_rows_above = above.len() - 1;
        if !is_padded(head) && !is_padded(&above[0]) {
            // A few names and values above a table are not a table.
            let is_pair = width == 2 && n_rows_above < ROWS_MIN;
            if above.len() <= RECORDS_ABOVE_MAX && (!first_body.is_typed() || is_pair) {
                return Begin::maybe(
                    width != 2 && ROWS_MIN <= n_rows_above && head.is_behind_blank,
                );
            }
            let is_table = pair.is_named(self.nulls) || head.is_behind_blank && !body.is_typed();
            return if is_table { Begin::Surely } else { Begin::No };
        }
        let is_first_named = pair.is_first_named(self.nulls);
        if head.width < width {
            // Text in only the first columns may be rows with empty remaining columns.
            let are_full = pair.rows.iter().all(|it| it.n_filled == head.width);
            let is_text_apart = are_full
                && is_first_named
                && pair.is_apart
                && ROWS_MIN <= pair.rows.len()
                && are_labels(&pair.labels)
                && self.lack_what_all_have(pair)
                && !self.share_values(pair);
            let is_table = pair.is_named(self.nulls) || is_text_apart;
            return if is_table { Begin::Surely } else { Begin::maybe(are_full) };
        }
        // Pairs of names and numbers are just as often metadata of a report.
        let n_rows_min = if width == 2 { ROWS_MIN + 1 } else { ROWS_MIN };
        if is_first_named && n_rows_min <= n_rows_above {
            return Begin::Surely;
        }
        let is_table_above = is_first_named || 2 < width || self.is_further;
        Begin::maybe(ROWS_MIN <= n_rows_above && is_table_above)
    }

    /// Judges a place after a blank line, with records of the same width before and after.
    fn begin_of_same_width(&self, pair: &Pair<'_>) -> Begin {
        let Pair { above, rows, body, first_body, labels, .. } = pair;
        let n_gaps = self.shapes.iter().filter(|it| it.is_behind_blank).count();
        let is_clear = n_gaps <= GAPS_MAX && ROWS_MIN < above.len() && ROWS_MIN <= rows.len();
        if *labels == pair.first_labels {
            // Pages of one table repeat its names as well, so another table begins only when asked.
            return Begin::maybe(self.takes_all);
        }
        if !self.are_names(labels) {
            let is_year = |it: &String| matches!(it.trim().parse(), Ok(1900..=2100));
            let are_years = labels.iter().all(is_year)
                && !rows.iter().any(|row| self.labels(row).iter().any(is_year));
            return Begin::maybe(is_clear && are_years);
        }
        let fits_above = first_body.is_typed() && !is_header(labels, first_body, self.nulls).0;
        if fits_above {
            return Begin::No;
        }
        if pair.is_named(self.nulls) && first_body.is_typed() {
            return Begin::Surely;
        }
        if is_clear
            && (self.are_all_misfits(pair) || (3 <= rows.len() && pair.is_first_text(self.nulls)))
        {
            return Begin::Surely;
        }
        let is_row_above =
            resembles_rows(labels, self.between(&above[0], &above[1..]), self.syntax);
        Begin::maybe(
            is_clear
                && !is_row_above
                && !body.is_typed()
                && are_labels(labels)
                && !self.share_values(pair),
        )
    }

    /// Returns whether each record after a place has a non-matching value in some column, judged by the
    /// column's values above.
    fn are_all_misfits(&self, pair: &Pair<'_>) -> bool {
        let records = || std::iter::once(pair.head).chain(pair.rows).map(|it| self.labels(it));
        let is_misfit = |seen: TypeEvidence, label: &str| {
            let label = classify(label.as_bytes(), self.nulls);
            label != TypeEvidence::default() && !is_typed(seen.and(label))
        };
        let are_misfits = |(at, seen): (usize, &TypeEvidence)| {
            is_typed(*seen)
                && records().all(|it| it.get(at).is_some_and(|label| is_misfit(*seen, label)))
        };
        pair.first_body.all.iter().enumerate().any(are_misfits)
    }

    /// Returns whether a column has a value that occurs both above and after the place.
    fn share_values(&self, pair: &Pair<'_>) -> bool {
        let cells =
            |shape: &RecordShape| self.labels(shape).into_iter().map(|it| it.trim().to_owned());
        let above: HashSet<(usize, String)> =
            pair.above[1..].iter().flat_map(|it| cells(it).enumerate()).collect();
        let mut here = pair.rows.iter().chain([pair.head]).flat_map(|it| cells(it).enumerate());
        here.any(|it| !it.1.is_empty() && above.contains(&it))
    }

    /// Returns whether each record above a place fills a column that those after it do not reach.
    fn lack_what_all_have(&self, pair: &Pair<'_>) -> bool {
        let all: Vec<Vec<String>> = pair.above.iter().map(|it| self.labels(it)).collect();
        let has =
            |cells: &Vec<String>, at: usize| cells.get(at).is_some_and(|it| !it.trim().is_empty());
        let width = all.iter().map(Vec::len).max().unwrap_or_default();
        (pair.head.width..width).any(|at| all.iter().all(|it| has(it, at)))
    }

    /// Returns whether labels are column names, possibly ending with years.
    fn are_names(&self, labels: &[String]) -> bool {
        labels.iter().all(|it| classify(it.as_bytes(), self.nulls).is_name()) || are_labels(labels)
    }

    /// Returns where a table begins, and where the titles directly above it begin.
    fn start(&self, at: usize) -> (usize, usize) {
        let titles = self.shapes[..at].iter().rev().take_while(|it| it.n_filled == 1);
        let titles = titles.take(TITLES_MAX).collect::<Vec<_>>();
        // Below a gap they do not belong to the table above.
        let first = titles.iter().rposition(|it| it.is_behind_blank).map(|it| titles[it].start);
        (self.shapes[at].start, first.unwrap_or(self.shapes[at].start))
    }

    fn doubt(&self, at: usize) -> Doubt {
        let (above, here) = (self.above(at), &self.shapes[at..self.end(at)]);
        let lines = |it: &[RecordShape]| {
            let first = it.first().map_or(0, |it| it.line);
            (first, it.last().map_or(first, |it| it.line))
        };
        let (start, line) = (self.shapes[at].start, self.shapes[at].line);
        Doubt { start, line, above: lines(above), here: lines(here) }
    }

    fn labels(&self, shape: &RecordShape) -> Vec<String> {
        let mut labels = texts_of(&self.text[shape.start..shape.end], self.syntax);
        labels.truncate(shape.width);
        labels
    }

    fn n_cells(&self, shape: &RecordShape) -> usize {
        texts_of(&self.text[shape.start..shape.end], self.syntax).len()
    }

    /// Returns the text of the rows below `head`.
    fn between(&self, head: &RecordShape, rows: &[RecordShape]) -> &[u8] {
        &self.text[head.after.0..rows.last().map_or(head.after.0, |it| it.after.0)]
    }

    fn sample(&self, start: usize, end: usize, width: usize) -> Sample {
        let windows = Windows::whole(&self.text[start..end]);
        Sample::of(&windows, self.syntax, width, 0, self.nulls, &AsideRule::default())
    }
}

/// The records before and after a place.
struct Pair<'a> {
    above: &'a [RecordShape],
    first_labels: Vec<String>,
    first_body: Sample,
    head: &'a RecordShape,
    rows: &'a [RecordShape],
    labels: Vec<String>,
    body: Sample,
    /// A blank line precedes the place.
    is_apart: bool,
}

impl Pair<'_> {
    /// Returns whether the column types show that the records after the place have names.
    fn is_named(&self, nulls: &Nulls) -> bool {
        self.body.is_typed() && is_header(&self.labels, &self.body, nulls).0
    }

    fn is_first_named(&self, nulls: &Nulls) -> bool {
        self.first_body.is_typed() && is_header(&self.first_labels, &self.first_body, nulls).0
    }

    /// Returns whether a column has typed values below its name where the records above have text.
    fn is_first_text(&self, nulls: &Nulls) -> bool {
        let columns = self.first_body.all.iter().zip(&self.body.all);
        let is_other =
            |(above, here): (&TypeEvidence, &TypeEvidence)| above.is_settled() && is_typed(*here);
        self.is_named(nulls) && columns.into_iter().any(is_other)
    }
}

/// Returns the width of most records, and their share.
fn width_of(shapes: &[RecordShape]) -> (usize, f64) {
    let mut widths: Vec<usize> = shapes.iter().map(|it| it.width).collect();
    let (width, n) = mode(&mut widths);
    (width, ratio(n, shapes.len()))
}
