//! Rows that are each quoted as a whole: programs that treat a line as one cell write `a,"x, y",c` as
//! `"a,""x, y"",c"`.
//!
//! Pure. A column of text with commas looks similar, so names with as many cells are required above.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::dialect::DialectHints;
use crate::records::{Cell, Tokeniser};
use crate::sniff::Windows;
use crate::syntax::{Blanks, Delimiter, Escape, QUOTE, Quote, Syntax, USUAL_DELIMITERS};
use crate::type_evidence::{Nulls, TypeEvidence, classify};
use crate::type_inference::is_typed;

/// Rows that are each quoted as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoted {
    /// The delimiter within the rows.
    delimiter: Delimiter,
    /// Cells of a row.
    width: usize,
}

/// Records of the head to examine; more would not change the result.
const RECORDS_MAX: usize = 1_000;

/// How to split rows that are each one cell.
pub(super) const OUTER: Syntax = Syntax {
    delimiter: Delimiter::NONE,
    quote: Some(QUOTE),
    escape: Escape::Doubled,
    blanks: Blanks::Kept,
    is_of_rows: false,
};

impl Quoted {
    /// Returns how rows are wrapped, if they are, and why.
    pub(crate) fn find(windows: &Windows, told: &DialectHints) -> Option<(Quoted, String)> {
        let is_usual = told.quote.is_none_or(|it| it == Quote::Char(QUOTE))
            && told.escape.is_none_or(|it| it == Escape::Doubled);
        let head = &windows.head;
        if !is_usual || !(head.starts_with(b"\"") || begins_with_quote(head)) {
            return None;
        }
        let lines = lines_of(windows.head(OUTER));
        let n_wrapped = lines.iter().filter(|it| it.is_wrapped).count();
        if n_wrapped == 0 {
            return None;
        }
        let usual = USUAL_DELIMITERS.iter().filter_map(|it| Delimiter::new(it));
        let delimiters = told.delimiter.map_or_else(|| usual.collect(), |it| vec![it]);
        let width = delimiters.iter().find_map(|it| Some((*it, width_of(&lines, *it)?)));
        let (delimiter, width) = width?;
        let n = lines.len();
        let reason = format!(
            "rows are quoted as a whole: {n_wrapped} of {n} sampled lines are one quoted cell that \
             contains {width}"
        );
        Some((Quoted { delimiter, width }, reason))
    }

    /// Appends `text`, which must be complete, without the wrapping of its rows. Records without the
    /// table's width are unchanged.
    pub(crate) fn strip(self, text: &[u8], stripped: &mut Vec<u8>) {
        let mut tokeniser = Tokeniser::new(text, OUTER);
        let mut cells = Vec::new();
        let mut at = 0;
        while let Some((start, end)) = tokeniser.record(&mut cells) {
            let inner = cells.first().and_then(|it| inner_of(text, *it, (start, end)));
            if let Some(inner) = inner.filter(|it| self.is_row(it)) {
                stripped.extend_from_slice(&text[at..start]);
                stripped.extend_from_slice(&inner);
                at = end;
            }
        }
        stripped.extend_from_slice(&text[at..]);
    }

    fn is_row(self, inner: &[u8]) -> bool {
        row_of(inner, self.delimiter).is_some_and(|it| it.len() == self.width)
    }
}

/// Returns whether a line after the first begins with a quote.
fn begins_with_quote(head: &[u8]) -> bool {
    [&b"\n\""[..], b"\r\""].iter().any(|it| memchr::memmem::find(head, it).is_some())
}

/// A record without its wrapping.
struct QuotedRecord<'a> {
    text: Cow<'a, [u8]>,
    is_wrapped: bool,
}

fn lines_of(head: &[u8]) -> Vec<QuotedRecord<'_>> {
    let mut tokeniser = Tokeniser::new(head, OUTER);
    let (mut cells, mut lines) = (Vec::new(), Vec::new());
    while lines.len() < RECORDS_MAX
        && let Some((start, end)) = tokeniser.record(&mut cells)
    {
        let inner = cells.first().and_then(|it| inner_of(head, *it, (start, end)));
        let is_wrapped = inner.is_some();
        let text = inner.map_or(Cow::Borrowed(&head[start..end]), Cow::Owned);
        if !text.trim_ascii().is_empty() {
            lines.push(QuotedRecord { text, is_wrapped });
        }
    }
    lines
}

/// Returns the content of a record that is one quoted cell with all inner quotes doubled.
fn inner_of(text: &[u8], cell: Cell, (start, end): (usize, usize)) -> Option<Vec<u8>> {
    let raw = cell.raw(text);
    let is_whole = cell.is_quoted() && raw.len() + 2 == end - start && !raw.is_empty();
    let are_doubled = || raw.split(|it| *it != QUOTE).all(|it| it.len().is_multiple_of(2));
    (is_whole && are_doubled()).then(|| {
        let mut inner = Vec::with_capacity(raw.len());
        cell.unescape(text, &mut inner);
        inner
    })
}

/// Returns the cells of a text that is one record with well-placed quotes.
fn row_of(text: &[u8], delimiter: Delimiter) -> Option<Vec<Cell>> {
    let mut tokeniser = Tokeniser::new(text, Syntax::usual(delimiter));
    let mut cells = Vec::new();
    tokeniser.record(&mut cells)?;
    let is_clean = |it: &Cell| it.is_quoted() || !it.raw(text).contains(&QUOTE);
    let is_one = tokeniser.position() == text.len() && !text.ends_with(b"\n");
    (is_one && tokeniser.n_unclosed() == 0 && cells.iter().all(is_clean)).then_some(cells)
}

/// Returns the width of the rows in these lines, if they certainly contain rows.
fn width_of(lines: &[QuotedRecord<'_>], delimiter: Delimiter) -> Option<usize> {
    let rows: Vec<Option<Vec<Cell>>> = lines.iter().map(|it| row_of(&it.text, delimiter)).collect();
    let (first, below) = lines.split_first()?;
    let names = rows.first()?.as_ref()?;
    let width = names.len();
    // A few rows may be too short or too long.
    let n_even = rows.iter().flatten().filter(|it| it.len() == width).count();
    if width < 2 || lines.len() < 2 || n_even * 20 < lines.len() * 19 {
        return None;
    }
    let wrapped = || lines.iter().zip(&rows).filter(|it| it.0.is_wrapped);
    let wrapped: Vec<(&[u8], &Vec<Cell>)> = wrapped()
        .filter_map(|(line, row)| Some((&*line.text, row.as_ref().filter(|it| it.len() == width)?)))
        .collect();
    let is_prose = wrapped.iter().all(|(text, row)| are_blank_led(text, row));
    if wrapped.is_empty() || is_prose || !are_names(&first.text, names) {
        return None;
    }
    let has_quotes = |(text, _): &(&[u8], &Vec<Cell>)| text.contains(&QUOTE);
    let n_below = below.iter().filter(|it| it.is_wrapped).count();
    let is_sure = if n_below * 20 < below.len() * 19 {
        // Only rows that contain quotes were wrapped, or only the names were.
        let rest = &wrapped[usize::from(first.is_wrapped)..];
        3 <= width && rest.iter().all(has_quotes)
    } else {
        // It could be one text column, under a name with as many delimiters.
        let values = || lines[1..].iter().zip(&rows[1..]);
        let values: Vec<_> =
            values().filter_map(|(line, row)| Some((&*line.text, row.as_ref()?))).collect();
        let is_typed = has_typed(&values, width);
        let is_long = 3 <= width && 3 <= values.len();
        is_long || is_typed || wrapped.iter().any(has_quotes)
    };
    is_sure.then_some(width)
}

/// Returns whether each cell after the first begins with a blank, as in a sentence.
fn are_blank_led(text: &[u8], row: &[Cell]) -> bool {
    row.iter().skip(1).all(|it| it.raw(text).starts_with(b" "))
}

/// Returns whether cells are column names.
fn are_names(text: &[u8], row: &[Cell]) -> bool {
    let nulls = Nulls::new(None);
    let labels: HashSet<&[u8]> = row.iter().map(|it| it.raw(text).trim_ascii()).collect();
    labels.len() == row.len()
        && !are_blank_led(text, row)
        && labels.iter().all(|it| classify(it, &nulls).is_name())
}

/// Returns whether a column has values of a type.
fn has_typed(rows: &[(&[u8], &Vec<Cell>)], width: usize) -> bool {
    let nulls = Nulls::new(None);
    (0..width).any(|column| {
        let mut seen = TypeEvidence::default();
        for (text, row) in rows {
            let value = row.get(column).map_or(&b""[..], |it| it.raw(text));
            seen.add(classify(value, &nulls));
        }
        is_typed(seen)
    })
}

#[cfg(test)]
mod tests {
    use super::Quoted;
    use crate::dialect::DialectHints;
    use crate::sniff::Windows;

    /// Compares what is left of a text; `None` where nothing is around its rows.
    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let windows = Windows::whole(text.as_bytes());
        let found = Quoted::find(&windows, &DialectHints::default()).map(|(it, _)| {
            let mut stripped = Vec::new();
            it.strip(text.as_bytes(), &mut stripped);
            String::from_utf8(stripped).unwrap()
        });
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn rows_that_are_quoted_as_a_whole_lose_those_quotes() {
        check(
            "\"id,name,n\"\n\"1,\"\"x, y\"\",3\"\n\"2,z,4\"\n",
            Some("id,name,n\n1,\"x, y\",3\n2,z,4\n"),
        );
        check("\"a;b;c\"\r\n\r\n\"1;x;2\"\r\n", Some("a;b;c\r\n\r\n1;x;2\r\n"));
        check("\"name,age\"\n\"anna,5\"\n\"bert,6\"", Some("name,age\nanna,5\nbert,6"));
        check("\"a,b,c\"\n\"x,\"\"u\nv\"\",y\"\n", Some("a,b,c\nx,\"u\nv\",y\n"));
    }

    #[test]
    fn the_names_or_rows_without_quotes_may_stand_as_they_are() {
        check("id,name,n\n\"1,x,3\"\n\"2,z,4\"\n", Some("id,name,n\n1,x,3\n2,z,4\n"));
        let some = "id,name,n\n1,x,3\n\"2,\"\"u, v\"\",4\"\n3,y,5\n";
        check(some, Some("id,name,n\n1,x,3\n2,\"u, v\",4\n3,y,5\n"));
        check("\"id,name,n\"\n1,x,3\n2,y,4\n", Some("id,name,n\n1,x,3\n2,y,4\n"));
    }

    #[test]
    fn a_column_of_text_with_commas_stays_one() {
        check("address\n\"1 Main St, Bonn, 53111\"\n\"2 Main St, Bonn, 53111\"\n", None);
        check("\"street, city, code\"\n\"1 Main St, Bonn, 5\"\n\"2 Main St, Ulm, 8\"\n", None);
        check("\"color\"\n\"255,0,0\"\n\"0,255,0\"\n", None);
        check("\"255,0,0\"\n\"0,255,0\"\n\"0,0,255\"\n", None);
        check("\"tags\"\n\"x,y,z\"\n\"u,v,w\"\n\"r,s,t\"\n", None);
        check("\"first, second\"\n\"x,y\"\n\"u,v\"\n", None);
        check("\"one,two\"\n\"x,y\"\n\"u,v\"\n", None);
    }

    #[test]
    fn rows_whose_cells_are_quoted_are_left_alone() {
        check("\"a\",\"b\",\"c\"\n\"1\",\"x, y\",\"3\"\n", None);
        check("a,b,c\n1,x,3\n\"4, 5, 6\"\n7,y,8\n", None);
        check("a,b,c\n1,x,3\n\"4,5,6\"\n7,y,8\n", None);
        check("a,b\n\"x\"\"y\",1\n\"u\"\"v\",2\n", None);
    }

    #[test]
    fn what_does_not_have_the_width_stays() {
        let many = "\"1,x,2\"\n".repeat(40);
        check(
            &format!("\"a,b,c\"\n{many}\"one, two\"\n"),
            Some(&format!("a,b,c\n{}\"one, two\"\n", "1,x,2\n".repeat(40))),
        );
    }
}
