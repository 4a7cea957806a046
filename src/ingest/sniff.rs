//! Whether a file is text, and what else it may be.
//!
//! Pure. Everything is judged from windows: the head of the file and several more spread over it, so
//! that later content counts too.

use super::records::{Tokeniser, cut};
use super::syntax::Syntax;
use crate::records::swallowed;

/// Parts of a file as text.
#[derive(Debug)]
pub(crate) struct Windows {
    /// From the beginning of the file.
    pub head: Vec<u8>,
    /// From further on, beginning and ending at arbitrary positions.
    pub others: Vec<Vec<u8>>,
    /// Whether `head` is the whole file.
    pub is_whole: bool,
}

impl Windows {
    /// Takes a complete text.
    pub(crate) fn whole(text: &[u8]) -> Self {
        Windows { head: text.to_vec(), others: Vec::new(), is_whole: true }
    }

    /// Returns the complete records of the head.
    ///
    /// Where a quote is open at the end of the head and the lines after it are rows like those before,
    /// the quote is text, and the head ends with its last complete line.
    pub(crate) fn head(&self, syntax: Syntax) -> &[u8] {
        let border = cut(&self.head, syntax, self.is_whole);
        if self.is_most_of_head(border) {
            return &self.head[..border];
        }
        let n_lines = memchr::memrchr2(b'\n', b'\r', &self.head).map_or(0, |it| it + 1);
        let is_border = n_lines <= border || !are_rows(&self.head, border, n_lines, syntax);
        &self.head[..if is_border { border } else { n_lines }]
    }

    /// Returns the start of the record that fills most of the head and ends beyond it, such as one with
    /// a long quoted text: more of the file is needed to detect the dialect.
    pub(crate) fn cut_record(&self, syntax: Syntax) -> Option<usize> {
        let n_whole = self.head(syntax).len();
        (!self.is_most_of_head(n_whole)).then_some(n_whole)
    }

    fn is_most_of_head(&self, n_bytes: usize) -> bool {
        self.is_whole || self.head.len() <= 2 * n_bytes
    }

    /// Returns the end of the file, starting at what appears to be a complete record.
    pub(crate) fn tail(&self, syntax: Syntax) -> &[u8] {
        if self.is_whole {
            return self.head(syntax);
        }
        let last = self.others.last().map_or(&[][..], Vec::as_slice);
        let start = memchr::memchr2(b'\n', b'\r', last).map_or(last.len(), |it| it + 1);
        &last[start..]
    }

    /// Removes the last `n` bytes of the file and returns them.
    pub(crate) fn hide_end(&mut self, n: usize) -> Vec<u8> {
        let last = self.last_mut();
        last.split_off(last.len() - n)
    }

    /// Restores what [`hide_end`](Self::hide_end) removed.
    pub(crate) fn show_end(&mut self, end: &[u8]) {
        self.last_mut().extend_from_slice(end);
    }

    fn last_mut(&mut self) -> &mut Vec<u8> {
        match self.others.last_mut() {
            Some(last) if !self.is_whole => last,
            _ => &mut self.head,
        }
    }

    /// Returns what appear to be complete records of the other windows. A line end may be within
    /// quotes, so they may be wrong.
    pub(crate) fn others(&self, syntax: Syntax) -> impl Iterator<Item = &[u8]> {
        self.others.iter().map(move |window| {
            let start = memchr::memchr2(b'\n', b'\r', window).map_or(window.len(), |it| it + 1);
            let window = &window[start..];
            &window[..cut(window, syntax, false)]
        })
    }

    /// Returns the complete records of the other windows in a table of `width` columns. Where a window
    /// may begin inside or outside quotes, the reading with fewer uneven records is used; where most
    /// are uneven, as within one long cell, there are none.
    pub(crate) fn rows_of_others(
        &self,
        syntax: Syntax,
        width: usize,
    ) -> impl Iterator<Item = &[u8]> {
        let uneven = move |window: &[u8]| {
            let mut tokeniser = Tokeniser::new(window, syntax);
            let (mut cells, mut n_records, mut n_uneven) = (Vec::new(), 0, 0);
            while tokeniser.record(&mut cells).is_some() {
                n_records += 1;
                n_uneven += usize::from(cells.len() != width);
            }
            (n_uneven, n_records < 2 * n_uneven)
        };
        self.others(syntax).zip(&self.others).map(move |(outside, window)| {
            let within = behind_quoted(window, syntax);
            let within = &within[..cut(within, syntax, false)];
            let is_within = !within.is_empty() && uneven(within).0 < uneven(outside).0;
            let rows = if is_within { within } else { outside };
            if uneven(rows).1 { &[] } else { rows }
        })
    }
}

/// Returns whether the lines from `border` to `end` are rows of the same table as the records before
/// `border`, if a quote open at `end` is text.
fn are_rows(head: &[u8], border: usize, end: usize, syntax: Syntax) -> bool {
    let mut cells = Vec::new();
    let mut before = Tokeniser::new(&head[..border], syntax);
    let mut width = None;
    while before.record(&mut cells).is_some() {
        width = Some(cells.len());
    }
    let lines = &head[border..end];
    let width = width.unwrap_or_else(|| {
        Tokeniser::new(lines, syntax).record(&mut cells);
        cells.len()
    });
    swallowed::are_rows(lines, width, syntax)
}

/// Returns the text after the record in whose quoted cell `window` may begin.
fn behind_quoted(window: &[u8], syntax: Syntax) -> &[u8] {
    let Some(quote) = syntax.quote.filter(|it| memchr::memchr(*it, window).is_some()) else {
        return &[];
    };
    let opened = [&[quote], window].concat();
    let mut tokeniser = Tokeniser::new(&opened, syntax);
    tokeniser.record(&mut Vec::new());
    &window[tokeniser.position().saturating_sub(1)..]
}

/// The name and the content of the first part of an OpenDocument spreadsheet.
const OPEN_DOCUMENT: &[u8] = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet";

/// Returns whether a zip archive has the files of an Excel workbook: another archive may contain whole
/// workbooks, or a directory with a file of one of these names. Source: ECMA-376, part 2; APPNOTE.TXT,
/// 4.3.7.
fn is_workbook(head: &[u8]) -> bool {
    const PLACES: [&[u8]; 5] =
        [b"[Content_Types].xml", b"_rels/", b"docProps/", b"customXml/", b"xl/"];
    const PARTS: [&[u8]; 4] = [b".xml", b".rels", b".bin", b"/"];
    const WORKBOOKS: [&[u8]; 4] = [b".xlsx", b".xlsm", b".xlsb", b".ods"];
    for at in memchr::memmem::find_iter(head, b"PK\x03\x04") {
        // The name follows thirty bytes of header, two of which contain its length.
        let header = &head[at..];
        let n_bytes = header.get(26..28).map_or(0, |it| u16::from_le_bytes([it[0], it[1]]));
        let name = header.get(30..30 + usize::from(n_bytes)).unwrap_or_default();
        let ends = |with: &[&[u8]]| with.iter().any(|it| name.ends_with(it));
        if ends(&WORKBOOKS) {
            return false;
        }
        if ends(&PARTS) && PLACES.iter().any(|it| name.starts_with(it)) {
            return true;
        }
    }
    false
}

/// Returns the kind of a non-text file, from its first bytes.
pub(crate) fn binary_kind(head: &[u8]) -> Option<&'static str> {
    const MAGIC: &[(&[u8], &str)] = &[
        (b"\x89PNG\r\n\x1a\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PAR1", "a Parquet file"),
        (b"ARROW1", "an Arrow file"),
        (b"FEA1", "a Feather file of version 1"),
        (b"\x1f\x8b", "gzip-compressed"),
        (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
        (b"BZh", "bzip2-compressed"),
        (b"\xfd7zXZ\0", "xz-compressed"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Office file"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x7fELF", "a program"),
    ];
    if head.starts_with(b"PK\x03\x04") {
        return Some(if head.get(30..).is_some_and(|it| it.starts_with(OPEN_DOCUMENT)) {
            "an OpenDocument spreadsheet"
        } else if is_workbook(head) {
            "an Excel workbook"
        } else {
            "zip-compressed"
        });
    }
    if head.get(257..262) == Some(b"ustar") {
        return Some("a tar archive");
    }
    let by_magic = MAGIC.iter().find(|(magic, _)| head.starts_with(magic)).map(|it| it.1);
    by_magic.or_else(|| document_kind(head))
}

/// Returns the kind of a text that is not a table, from its first words.
pub(crate) fn document_kind(text: &[u8]) -> Option<&'static str> {
    /// In lower case. None of them can begin a table.
    const FIRST_WORDS: &[(&str, &str)] = &[
        ("<!doctype html", "an HTML page"),
        ("<html", "an HTML page"),
        ("<?xml", "an XML document"),
        ("<svg", "an SVG image"),
        ("version https://git-lfs.github.com/spec/", "a Git LFS pointer"),
        ("/annex/objects/", "a git-annex pointer"),
        ("{\\rtf", "an RTF document"),
        ("%!ps-", "a PostScript document"),
        ("-----begin certificate", "a certificate"),
        ("-----begin private key", "a key"),
        ("-----begin rsa private key", "a key"),
        ("-----begin openssh private key", "a key"),
        ("-----begin pgp ", "a PGP message"),
        ("begin:vcard", "a vCard"),
        ("begin:vcalendar", "an iCalendar file"),
        ("windows registry editor version", "a Windows registry export"),
        ("-- mysql dump", "an SQL dump"),
        ("-- mariadb dump", "an SQL dump"),
        ("-- phpmyadmin sql dump", "an SQL dump"),
        ("--\n-- postgresql database", "an SQL dump"),
        ("pragma foreign_keys=off;", "an SQL dump"),
        ("create table ", "an SQL script"),
        ("drop table if exists ", "an SQL script"),
        ("diff --git ", "a diff"),
        ("id;pwxl", "a SYLK file"),
    ];
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii_start();
    let begins = |with: &str| {
        text.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with.as_bytes()))
    };
    FIRST_WORDS.iter().find(|it| begins(it.0)).map(|it| it.1)
}

/// Returns the position of the first control character, if there are too many of them for text.
pub(crate) fn first_control(text: &[u8]) -> Option<usize> {
    /// A few in a short file are still text.
    const A_FEW: usize = 3;
    // Hive separates cells with 0x01, and converters write 0x1A for characters that they could not
    // encode.
    let is_control = |it: &u8| matches!(it, 0 | 2..=6 | 0x0e..=0x19 | 0x7f);
    let n_control = text.iter().filter(|it| is_control(it)).count();
    // One in a hundred, or half of a few bytes. A stray NUL in a cell is kept.
    let is_binary =
        A_FEW < n_control && text.len() < n_control * 100 || text.len() <= n_control * 2;
    is_binary.then(|| text.iter().position(is_control))?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{binary_kind, document_kind, first_control};
    use csv_agent_testing::cases;

    #[test]
    fn documents_are_known_by_their_first_words() {
        let check = |text: &str, expected| assert_eq!(document_kind(text.as_bytes()), expected);
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
        check(pointer, Some("a Git LFS pointer"));
        check("{\\rtf1\\ansi\\deff0 {\\fonttbl;}\n", Some("an RTF document"));
        check("\u{feff}\n <!DOCTYPE html>", Some("an HTML page"));
        check("Windows Registry Editor Version 5.00\r\n", Some("a Windows registry export"));
        check("-----BEGIN CERTIFICATE-----\n", Some("a certificate"));
        check("version,name\n1,a\n", None);
        check("ID;Price\n1;2\n", None);
        check("-- a comment\na,b\n", None);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn whatever_bytes_arrive_nothing_panics(text in prop::collection::vec(any::<u8>(), 0..300)) {
            binary_kind(&text);
            first_control(&text);
        }
    }
}
