//! Quoted cells that contain rows: a stray quote opened a cell, and a later one closed it.
//!
//! Pure. A quoted cell may contain line ends, so only its lines can show whether they are rows. Lines
//! that all have exactly the table's number of cells, of the kinds in its columns, are rows. Cells read
//! as rows, and doubtful ones that remain cells, are counted and reported.

use std::iter::repeat;
use std::ops::Range;

use super::{Cell, Tokeniser, count_line_ends};
use crate::shape::is_value;
use crate::syntax::{Blanks, Syntax};

/// The kind of a column's values, whatever their type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Class {
    /// No value was seen.
    #[default]
    Unknown,
    /// Numbers, dates or times.
    Values,
    Words,
    /// Both.
    Mixed,
}

impl Class {
    /// Adds one cell. An empty one is ignored, as is a word such as `no` or `NA`, which may be either
    /// text or a value.
    pub(crate) fn add(&mut self, cell: &[u8], quote: Option<u8>) {
        let text = cell.trim_ascii();
        let text = text.strip_prefix(quote.as_slice()).unwrap_or(text);
        let text = text.strip_suffix(quote.as_slice()).unwrap_or(text).trim_ascii();
        let class = match (is_value(text), text.iter().any(u8::is_ascii_digit)) {
            _ if text.is_empty() => return,
            (true, false) => return,
            (true, true) => Class::Values,
            (false, _) => Class::Words,
        };
        *self = if *self == Class::Unknown || *self == class { class } else { Class::Mixed };
    }

    /// Returns whether a column of this class may contain the cells of `other`.
    fn allows(self, other: Class) -> bool {
        self == other || matches!(self, Class::Unknown | Class::Mixed) || other == Class::Unknown
    }
}

/// The verdict on a record with a line end in a quoted cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Row,
    /// One row, although its lines could be rows.
    Doubtful,
    /// As many rows as it has lines, unless the file has many such records: then it is written that
    /// way.
    Likely,
    /// As many rows as it has lines.
    Rows,
}

/// The rule that distinguishes the lines of a quoted cell from rows.
#[derive(Debug, Default)]
pub(crate) struct LineRule {
    /// The classes of the first columns; missing entries are unknown.
    pub classes: Vec<Class>,
    /// Whether the file has many cells whose lines are likely rows, which then are not rows.
    pub keeps_likely: bool,
}

/// Up to this many records whose lines are likely rows are damage; a file with more is written that
/// way.
pub(crate) const LIKELY_MAX: u64 = 4;

/// Judges `record`, a record of `bytes` whose quoted cells contain line ends.
///
/// `cells` are its cells in `bytes`, up to the table's width; `is_even` tells whether it has as many as
/// the table has columns.
pub(crate) fn judge(
    bytes: &[u8],
    record: Range<usize>,
    cells: &[Cell],
    is_even: bool,
    (width, classes): (usize, &[Class]),
    syntax: Syntax,
) -> Verdict {
    let Some(lines) = Lines::of(&bytes[record], width, syntax) else { return Verdict::Row };
    let classes = classes.iter().copied().chain(repeat(Class::Unknown));
    let columns = || classes.clone().zip(lines.classes.iter().copied());
    // Kinds that vary between lines are not evidence of rows, unless the column is mixed too.
    let fits = |(column, lines): (Class, Class)| {
        column.allows(lines) && (lines != Class::Mixed || column == Class::Mixed)
    };
    if !columns().all(fits) {
        return Verdict::Doubtful;
    }
    let has_values =
        columns().any(|(column, lines)| lines == Class::Values && column != Class::Mixed);
    let has_bare =
        || cells.iter().any(|it| it.is_quoted() && has_bare_quote(it.raw(bytes), syntax));
    // Two text columns are not enough: a line with one comma is not rare.
    let is_wide = 3 <= width && 3 <= lines.n;
    if !is_even || has_bare() {
        Verdict::Rows
    } else if has_values || is_wide {
        Verdict::Likely
    } else {
        Verdict::Doubtful
    }
}

/// Returns whether lines after a quote that is still open are rows of a table of `width` columns.
pub(crate) fn are_rows(text: &[u8], width: usize, syntax: Syntax) -> bool {
    /// Fewer lines may have the same number of delimiters by chance.
    const LINES_MIN: usize = 8;
    /// More would not change the result.
    const BYTES_MAX: usize = 256 * 1024;
    let end = memchr::memrchr2(b'\n', b'\r', &text[..text.len().min(BYTES_MAX)]);
    let lines = Lines::of(&text[..end.map_or(0, |it| it + 1)], width, syntax);
    lines.is_some_and(|lines| {
        let has_values = 1 < width && lines.classes.contains(&Class::Values);
        LINES_MIN <= lines.n && (has_values || 3 <= width)
    })
}

/// The lines of a record that are rows by their number of cells.
struct Lines {
    n: usize,
    classes: Vec<Class>,
}

impl Lines {
    /// Returns the lines of `text` if all are rows, or at least nine in ten of many.
    fn of(text: &[u8], width: usize, syntax: Syntax) -> Option<Lines> {
        let n_others_max = count_line_ends(text) as usize / 10;
        // For most text, its delimiters alone decide.
        let delimiter = syntax.delimiter.first_byte();
        let is_short = |it: &[u8]| memchr::memchr_iter(delimiter, it).count() + 1 < width;
        if n_others_max < lines_of(text).filter(|it| is_short(it)).take(n_others_max + 1).count() {
            return None;
        }
        let mut n_others = 0;
        let mut lines = Lines { n: 0, classes: Vec::new() };
        let mut cells = Vec::new();
        for line in lines_of(text) {
            let is_record = Tokeniser::new(line, syntax).record(&mut cells).is_some();
            // In prose, a blank follows a comma.
            let begins_blank = |it: &Cell| !it.is_quoted() && it.raw(line).starts_with(b" ");
            let is_prose =
                || syntax.blanks == Blanks::Kept && cells.iter().skip(1).any(begins_blank);
            if !is_record || cells.len() != width || is_prose() {
                n_others += 1;
                if n_others_max < n_others {
                    return None;
                }
                continue;
            }
            lines.n += 1;
            lines.classes.resize(width, Class::Unknown);
            for (class, cell) in lines.classes.iter_mut().zip(&cells) {
                let text = cell.raw(line).trim_ascii();
                if text.is_empty() {
                    // Rows have a value in each line; a column that is empty in one is not evidence.
                    *class = Class::Mixed;
                } else {
                    class.add(text, syntax.quote);
                }
            }
        }
        Some(lines)
    }
}

/// Returns the lines of `text`, without their line ends.
fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let (line, behind) = rest.split_at(end);
        rest = &behind[n_line_end(behind)..];
        Some(line)
    })
}

/// Returns the length of the line end at the start of `text`.
fn n_line_end(text: &[u8]) -> usize {
    let ends: [&[u8]; 4] = [b"\r\r\n", b"\r\n", b"\r", b"\n"];
    ends.into_iter().find(|it| text.starts_with(it)).map_or(0, <[u8]>::len)
}

/// Returns whether a quote in the text of a quoted cell is neither doubled nor escaped.
fn has_bare_quote(text: &[u8], syntax: Syntax) -> bool {
    let Some(quote) = syntax.quote else { return false };
    match syntax.escape.char() {
        Some(escape) => memchr::memchr_iter(quote, text).any(|at| {
            text[..at].iter().rev().take_while(|it| **it == escape).count().is_multiple_of(2)
        }),
        None => text.split(|it| *it != quote).any(|run| !run.len().is_multiple_of(2)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Class, Verdict, judge};
    use crate::records::Tokeniser;
    use crate::syntax::{Delimiter, Syntax};

    #[track_caller]
    fn check(record: &str, classes: &[Class], expected: Verdict) {
        let syntax = Syntax::usual(Delimiter::new(",").unwrap());
        let bytes = record.as_bytes();
        let mut cells = Vec::new();
        let span = Tokeniser::new(bytes, syntax).record(&mut cells).unwrap();
        assert_eq!(span, (0, bytes.len()), "{record:?} is one record");
        let is_even = cells.len() == classes.len();
        let columns = (classes.len(), classes);
        let verdict = judge(bytes, span.0..span.1, &cells, is_even, columns, syntax);
        assert_eq!(verdict, expected, "{record:?}");
    }

    const ANY: Class = Class::Unknown;

    #[test]
    fn lines_of_the_tables_width_and_kinds_are_rows() {
        use Class::{Mixed, Values, Words};
        let stray = "1,\"stray,5\n2,b,6\n3,c x\",7";
        check(stray, &[ANY, ANY, ANY], Verdict::Likely);
        check(stray, &[Values, Words, Values], Verdict::Likely);
        check(stray, &[Values, Mixed, Mixed], Verdict::Likely);
        check(stray, &[Values, Words, Words], Verdict::Doubtful);
        check("1,\"no,5\n2,b,6\n3,c x\",7", &[Values, Words, Values], Verdict::Likely);
        check("x,\"a\ny,b\"", &[Words, Words], Verdict::Doubtful);
        check("x,\"a \"b\" c\ny,b\"", &[Words, Words], Verdict::Rows);
        check("x,\"a,u\ny,b,v\nz,c\",w", &[Words; 3], Verdict::Likely);
    }

    #[test]
    fn text_of_several_lines_is_one_row() {
        check("1,\"two\nlines\",5", &[ANY, ANY, ANY], Verdict::Row);
        check("1,\"12 Main St, Apt 4\nSpringfield, IL\",5", &[ANY, ANY, ANY], Verdict::Row);
        check("1,\"a\n\nb,c\"", &[ANY, ANY], Verdict::Row);
        check("1,\"10,20\n30,40\",x", &[ANY, ANY, ANY], Verdict::Doubtful);
    }
}
