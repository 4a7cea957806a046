//! What a file is: text or not, its header, each with the reason.
//!
//! Pure. Everything is judged from windows: the head of the file and some further ones spread over
//! it, so that what comes late has a say.

use std::collections::HashSet;

use super::decide::is_typed;
use super::dialect::mode;
use super::infer::{Evidence, Nulls, classify};
use super::records::{Block, Tokeniser, cut};
use super::syntax::Syntax;

/// Parts of a file as text.
#[derive(Debug)]
pub struct Windows {
    /// From the beginning of the file.
    pub head: Vec<u8>,
    /// From further on, beginning and ending anywhere.
    pub others: Vec<Vec<u8>>,
    /// Whether `head` is the whole file.
    pub is_whole: bool,
}

impl Windows {
    /// Returns the whole records of the head.
    pub fn head(&self, syntax: Syntax) -> &[u8] {
        &self.head[..cut(&self.head, syntax, self.is_whole)]
    }

    /// Returns what seem to be whole records of the others. A line end may lie within quotes, so
    /// they may mislead.
    pub fn others(&self, syntax: Syntax) -> impl Iterator<Item = &[u8]> {
        self.others.iter().map(move |window| {
            let start = memchr::memchr2(b'\n', b'\r', window).map_or(window.len(), |it| it + 1);
            let window = &window[start..];
            &window[..cut(window, syntax, false)]
        })
    }
}

/// What is known about the columns before the file is read.
#[derive(Debug)]
pub struct Header {
    /// Unique names; made up where there are none.
    pub names: Vec<String>,
    /// Whether the first record holds them.
    pub is_present: bool,
    /// What the windows show of each column.
    pub evidence: Vec<Evidence>,
    /// Of each column, whether it is text for certain.
    pub is_settled: Vec<bool>,
    /// Bytes of text before the first row.
    pub body_start: usize,
    /// Lines before the first row, as far as blank lines do not precede it.
    pub body_line: u32,
    /// Of each column, whether its values come again and again.
    pub repeats: Vec<bool>,
    /// Whether rows with more cells than columns were seen.
    pub has_surplus: bool,
    /// Bytes of an average row.
    pub row_bytes: usize,
}

/// Returns what a file that is no text is, from its first bytes.
pub fn binary_kind(head: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PAR1", "a Parquet file"),
        (b"ARROW1", "an Arrow file"),
        (b"\x1f\x8b", "gzip-compressed"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
        (b"BZh", "bzip2-compressed"),
        (b"\xfd7zXZ\0", "xz-compressed"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x7fELF", "a program"),
    ];
    if head.starts_with(b"PK\x03\x04") {
        let is_workbook = [&b"xl/"[..], b"[Content_Types].xml"]
            .iter()
            .any(|it| memchr::memmem::find(head, it).is_some());
        return Some(if is_workbook { "an Excel workbook" } else { "zip-compressed" });
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some("a tar archive");
    }
    let by_magic = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|it| it.1);
    by_magic.or_else(|| {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let begins = |with: &str| {
            head.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with.as_bytes()))
        };
        if begins("<!doctype html") || begins("<html") {
            Some("an HTML page")
        } else if begins("<?xml") {
            Some("an XML document")
        } else {
            None
        }
    })
}

/// Returns where the first control character stands, if there are too many of them for text.
pub fn first_control(text: &[u8]) -> Option<usize> {
    /// In a short file a few are still text.
    const A_FEW: usize = 3;
    // Hive separates cells with 0x01.
    let is_control = |it: &u8| matches!(it, 0 | 2..=6 | 0x0e..=0x1a | 0x7f);
    let n_control = text.iter().filter(|it| is_control(it)).count();
    // One in a hundred. An odd NUL in a cell is kept as it is.
    let is_binary = A_FEW < n_control && text.len() < n_control * 100;
    is_binary.then(|| text.iter().position(is_control))?
}

/// Decides header, width, names and first guesses of the types.
pub fn header(
    windows: &Windows,
    syntax: Syntax,
    told: Option<bool>,
    nulls: &Nulls,
    reasons: &mut Vec<String>,
) -> Header {
    let mut first = Vec::new();
    let head = windows.head(syntax);
    let mut tokeniser = Tokeniser::new(head, syntax);
    tokeniser.record(&mut first);
    let (body_start, body_line) = (tokeniser.position(), tokeniser.n_lines());
    let labels: Vec<String> = first.iter().map(|it| it.text(head)).collect();

    let (modal, n_records) = modal_width(tokeniser);
    let body = Sample::of(windows, syntax, labels.len().max(modal), body_start, nulls);
    let is_present = told.unwrap_or_else(|| {
        let (is_present, reason) = is_header(&labels, &body, nulls);
        reasons.push(format!("{}: {reason}", if is_present { "header" } else { "no header" }));
        is_present
    });

    let mut names = if is_present { labels } else { vec![String::new(); labels.len()] };
    let mut width = names.len();
    if 1 < n_records && width < modal {
        let n_missing = modal - width;
        // R writes row names without a label, in front; a delimiter at the end of each row makes
        // an empty cell behind.
        let is_in_front = is_present && n_missing == 1 && !body.is_empty(modal - 1);
        for _ in 0..n_missing {
            names.insert(if is_in_front { 0 } else { names.len() }, String::new());
        }
        let place = if is_in_front { "first" } else { "last" };
        let reason = format!("most rows have {modal} cells, the first has {width}");
        reasons.push(format!("{n_missing} unnamed {place}: {reason}"));
        width = modal;
    }
    let (body_start, body_line) = if is_present { (body_start, body_line) } else { (0, 0) };
    let body = Sample::of(windows, syntax, width, body_start, nulls);
    Header {
        names: names_of(names),
        is_present,
        body_start,
        body_line,
        is_settled: body.head.iter().map(|it| it.is_settled()).collect(),
        evidence: body.all,
        repeats: body.repeats,
        has_surplus: body.has_surplus,
        row_bytes: body.row_bytes,
    }
}

fn modal_width(mut tokeniser: Tokeniser<'_>) -> (usize, usize) {
    const RECORDS_MAX: usize = 1_000;
    let (mut cells, mut widths) = (Vec::new(), Vec::new());
    while widths.len() < RECORDS_MAX && tokeniser.record(&mut cells).is_some() {
        widths.push(cells.len());
    }
    let (modal, _) = mode(&mut widths);
    (modal, widths.len())
}

/// The evidence of the windows.
struct Sample {
    /// Of all windows: a guess, since a window may begin within quotes.
    all: Vec<Evidence>,
    /// Of the head alone, which is certain.
    head: Vec<Evidence>,
    /// Whether the values of a column come again and again in the head.
    repeats: Vec<bool>,
    has_surplus: bool,
    row_bytes: usize,
}

impl Sample {
    fn of(windows: &Windows, syntax: Syntax, width: usize, start: usize, nulls: &Nulls) -> Self {
        let mut sample = Sample {
            all: vec![Evidence::default(); width],
            head: vec![Evidence::default(); width],
            repeats: repeats(windows.head(syntax), syntax, width, start),
            has_surplus: false,
            row_bytes: 1,
        };
        if width == 0 {
            return sample;
        }
        let body = &windows.head(syntax)[start..];
        let n_rows = look(body, syntax, &mut sample.head, &mut sample.has_surplus, nulls);
        sample.row_bytes = (body.len() / n_rows.max(1)).max(1);
        sample.all.copy_from_slice(&sample.head);
        for window in windows.others(syntax) {
            look(window, syntax, &mut sample.all, &mut sample.has_surplus, nulls);
        }
        sample
    }

    fn is_empty(&self, column: usize) -> bool {
        self.all.get(column).is_none_or(|it| *it == Evidence::default())
    }
}

/// Returns for each column whether less than half of its values in the first rows are distinct.
fn repeats(head: &[u8], syntax: Syntax, width: usize, start: usize) -> Vec<bool> {
    /// Cells that are compared; more would not change the picture.
    const CELLS_MAX: usize = 200_000;
    const ROWS_MAX: usize = 2_000;
    let body = &head[start..];
    let mut block = Block::default();
    let n_rows = (CELLS_MAX / width.max(1)).clamp(1, ROWS_MAX);
    Tokeniser::new(body, syntax).block(&mut block, width, n_rows);
    let is_repeated = |column: usize| {
        let cells = block.cells[column..].iter().step_by(width);
        let distinct: HashSet<&[u8]> = cells.map(|it| it.raw(body)).collect();
        distinct.len() * 2 <= block.n_rows()
    };
    (0..if block.n_rows() == 0 { 0 } else { width }).map(is_repeated).collect()
}

fn look(
    window: &[u8],
    syntax: Syntax,
    evidence: &mut [Evidence],
    has_surplus: &mut bool,
    nulls: &Nulls,
) -> usize {
    let width = evidence.len();
    let mut tokeniser = Tokeniser::new(window, syntax);
    let mut block = Block::default();
    tokeniser.block(&mut block, width, usize::MAX);
    for row in block.cells.chunks_exact(width) {
        for (seen, cell) in evidence.iter_mut().zip(row) {
            if !seen.is_settled() {
                seen.add(classify(cell.raw(window), nulls));
            }
        }
    }
    *has_surplus |= !block.surplus.is_empty();
    block.n_rows()
}

/// Returns whether the first record holds names, and why.
fn is_header(labels: &[String], body: &Sample, nulls: &Nulls) -> (bool, &'static str) {
    let typed: Vec<_> = body
        .all
        .iter()
        .zip(labels)
        .filter(|(seen, _)| is_typed(**seen))
        .map(|(seen, label)| (*seen, classify(label.as_bytes(), nulls), label.as_str()))
        .collect();
    let has_body = body.all.iter().any(|it| *it != Evidence::default());
    if !has_body {
        let is_text =
            labels.iter().all(|it| classify(it.as_bytes(), nulls).is_name() || it.is_empty());
        return (is_text, "there is no other record to compare with");
    }
    if typed.is_empty() {
        return (true, "all columns are text, so the first record names them");
    }
    let fits = |(seen, label, _): &(Evidence, Evidence, &str)| {
        let mut both = *seen;
        both.add(*label);
        is_typed(both)
    };
    if !typed.iter().all(fits) {
        return (true, "the first record does not fit the types of the columns");
    }
    if typed.iter().all(|it| it.1 == Evidence::default()) {
        return (true, "the first record has no values where the others have");
    }
    if labels.first().is_some_and(|it| classify(it.as_bytes(), nulls).is_name())
        && are_years(typed.iter().map(|it| it.2))
    {
        return (true, "the labels count years");
    }
    (false, "the first record fits the types of the columns")
}

/// Returns whether labels are consecutive years, up or down.
fn are_years<'a>(labels: impl Iterator<Item = &'a str>) -> bool {
    let years: Option<Vec<i32>> = labels.map(|it| it.trim().parse().ok()).collect();
    let Some(years) = years else { return false };
    let steps: HashSet<i32> = years.windows(2).map(|it| it[1] - it[0]).collect();
    years.iter().all(|it| (1900..=2100).contains(it))
        && steps.len() == 1
        && steps.iter().all(|it| *it != 0)
}

/// Makes names usable: trimmed, on one line, never empty, and unique whatever their case.
pub fn names_of(labels: Vec<String>) -> Vec<String> {
    let one_line = |it: String| it.trim().replace("\r\n", " ").replace(['\r', '\n'], " ");
    let labels: Vec<String> = labels.into_iter().map(one_line).collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut names = Vec::with_capacity(labels.len());
    for (at, label) in labels.into_iter().enumerate() {
        let base = if label.is_empty() { format!("column_{}", at + 1) } else { label };
        let mut name = base.clone();
        let mut n = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{base}_{n}");
            n += 1;
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{Windows, binary_kind, header, names_of};
    use crate::dataset::dialect::{self, Told};
    use crate::dataset::infer::Nulls;
    use crate::dataset::syntax::{Delimiter, Syntax};

    fn windows(text: &[u8]) -> Windows {
        Windows { head: text.to_vec(), others: Vec::new(), is_whole: true }
    }

    #[track_caller]
    fn check_header(text: &str, expected: Option<&[&str]>) {
        let comma = Syntax::usual(Delimiter::new(",").unwrap());
        let found = header(&windows(text.as_bytes()), comma, None, &Nulls::new(None), &mut vec![]);
        let names = found.is_present.then_some(found.names);
        let expected = expected.map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names, expected, "{text}");
    }

    #[test]
    fn a_first_record_that_fits_the_types_is_data() {
        check_header("anna,1\nbert,2\n", None);
        check_header("2024-01-01,1\n2024-01-02,2\n", None);
        check_header("name,1\nbert,2\nname,x\n", Some(&["name", "1"]));
        check_header("name,age\nbert,2\n", Some(&["name", "age"]));
        check_header("a,b\nc,d\n", Some(&["a", "b"]));
        check_header("product,2019,2020\nx,5,6\n", Some(&["product", "2019", "2020"]));
        check_header("a,b\n", Some(&["a", "b"]));
        check_header("1,2\n", None);
    }

    #[test]
    fn an_unnamed_index_is_named_and_a_delimiter_at_the_end_is_a_column() {
        check_header("a,b\nx,1,2\ny,3,4\n", Some(&["column_1", "a", "b"]));
        check_header("a,b\n1,2,\n3,4,\n", Some(&["a", "b", "column_3"]));
    }

    #[test]
    fn names_are_trimmed_and_unique() {
        let labels = [" a ", "A", "", "b\r\nc", "a_2"].map(str::to_owned).to_vec();
        assert_eq!(names_of(labels), ["a", "A_2", "column_3", "b c", "a_2_2"]);
    }

    proptest! {
        #[test]
        fn whatever_bytes_arrive_nothing_panics(text in prop::collection::vec(any::<u8>(), 0..300)) {
            binary_kind(&text);
            let windows = windows(&text);
            let (syntax, _) = dialect::find(&windows, &Told::default());
            header(&windows, syntax, None, &Nulls::new(None), &mut vec![]);
        }
    }
}
