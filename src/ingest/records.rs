//! Bytes to records: where records end, and where their cells are.
//!
//! Pure. [`cut`] finds the last record boundary in a buffer, so that the slices before it can be parsed
//! concurrently; [`Tokeniser`] reads one slice. Both follow one rule for quotes, which also handles
//! badly quoted files. A quote opens only at the beginning of a cell. Within quotes, a quote closes the
//! cell if a delimiter, a line end or the end of the text follows, possibly after blanks; otherwise it
//! is text, and two quotes mean one. An unclosed quote is text. A line ends with LF, CR, CRLF or
//! CRCRLF, and a file may mix them.
//!
//! The plain syntax (a one-byte delimiter, doubled `"`) has its own code path, chosen once per slice.

pub(crate) mod swallowed;

use memchr::{memchr, memchr2, memchr2_iter, memrchr};

use super::delimiter_search::Marks;
use super::quotes::{BYTE_ORDER_MARK, Close, Quotes};
use super::syntax::{Blanks, Escape, QUOTE, Syntax};
use swallowed::{LineRule, Verdict, judge};

/// Up to this many bytes, a byte-by-byte scan takes less time than starting a search.
const NEAR_BYTES: usize = 16;

/// The position of a cell's text in its slice, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    start: u32,
    end: u32,
}

impl Cell {
    // Four bits of `start` and three of `end` contain the cell's ASCII escape character.
    const POSITION_BITS: u32 = 28;
    const POSITION: u32 = (1 << Self::POSITION_BITS) - 1;
    const QUOTED: u32 = 1 << 31;
    /// The padding cell of a row that is too short.
    pub(crate) const MISSING: Cell = Cell { start: 0, end: 0 };

    /// A cell of everything between two positions.
    #[inline]
    pub(crate) fn raw_span(start: usize, end: usize) -> Self {
        // A slice is shorter than 2^28 bytes: `RECORD_BYTES_MAX` bounds it.
        #[expect(clippy::cast_possible_truncation, reason = "bounded by RECORD_BYTES_MAX")]
        Cell { start: start as u32, end: end as u32 }
    }

    /// A cell between its quotes; `escape` is 0 when it contains no escape.
    #[inline]
    fn quoted(start: usize, end: usize, escape: u8) -> Self {
        let Cell { start, end } = Cell::raw_span(start, end).escaped(escape);
        Cell { start, end: end | Self::QUOTED }
    }

    #[inline]
    fn escaped(self, escape: u8) -> Self {
        let escape = u32::from(escape & 0x7f);
        let start = self.start | (escape & 0xf) << Self::POSITION_BITS;
        Cell { start, end: self.end | (escape >> 4) << Self::POSITION_BITS }
    }

    /// Returns its escape character, 0 if it has none.
    #[inline]
    fn escape(self) -> u8 {
        let [.., low] = (self.start >> Self::POSITION_BITS).to_be_bytes();
        let [.., high] = (self.end >> Self::POSITION_BITS & 7).to_be_bytes();
        low | high << 4
    }

    /// Returns the text, still escaped.
    #[inline]
    pub(crate) fn raw(self, bytes: &[u8]) -> &[u8] {
        &bytes[(self.start & Self::POSITION) as usize..(self.end & Self::POSITION) as usize]
    }

    /// Returns its start and end, including its quotes.
    pub(crate) fn span(self) -> (usize, usize) {
        let n_quotes = usize::from(self.is_quoted());
        let [start, end] = [self.start, self.end].map(|it| (it & Self::POSITION) as usize);
        (start - n_quotes, end + n_quotes)
    }

    /// Returns whether it contains more than blanks.
    pub(crate) fn is_filled(self, bytes: &[u8]) -> bool {
        !self.raw(bytes).trim_ascii().is_empty()
    }

    /// Returns whether it was quoted.
    #[inline]
    pub(crate) fn is_quoted(self) -> bool {
        self.end & Self::QUOTED != 0
    }

    /// Returns whether it may contain an escape.
    #[inline]
    pub(crate) fn is_escaped(self) -> bool {
        self.escape() != 0
    }

    /// Returns whether a blank precedes the opening quote.
    pub(crate) fn follows_blank(self, bytes: &[u8]) -> bool {
        let open = ((self.start & Self::POSITION) as usize).saturating_sub(1);
        0 < open && bytes[open - 1] == b' '
    }

    /// Appends the decoded text to `text`: doubled quotes made single, escapes removed.
    #[inline]
    pub(crate) fn unescape(self, bytes: &[u8], text: &mut Vec<u8>) {
        let mut rest = self.raw(bytes);
        let escape = self.escape();
        // The closing quote follows the text.
        let quote = bytes.get((self.end & Self::POSITION) as usize).filter(|_| self.is_quoted());
        while escape != 0
            && let Some(at) = memchr(escape, rest)
        {
            let is_escape = rest.get(at + 1).is_some_and(|next| match quote {
                Some(quote) => next == quote || *next == escape,
                None => !next.is_ascii_alphanumeric(),
            });
            let n_kept = at + usize::from(!is_escape);
            text.extend_from_slice(&rest[..n_kept]);
            rest = &rest[at + 1..];
            // An escaped character is not an escape itself.
            if let Some((next, behind)) =
                rest.split_first().filter(|_| is_escape || Some(&escape) != quote)
            {
                text.push(*next);
                rest = behind;
            }
        }
        text.extend_from_slice(rest);
    }

    /// Returns the decoded text. The bytes of a slice are UTF-8.
    pub(crate) fn text(self, bytes: &[u8]) -> String {
        let mut text = Vec::new();
        self.unescape(bytes, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// A row with more cells than columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Surplus {
    /// Index of the row in its block.
    pub row: usize,
    /// Start of the first cell without a column.
    pub start: usize,
    /// The end of the record, without the line end.
    pub end: usize,
}

/// Several rows: `rows × width` cells.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Row by row, each padded or cut to the width.
    pub cells: Vec<Cell>,
    /// For each row, the line it begins on; the first line of the slice is 0.
    pub lines: Vec<u32>,
    /// For each row, the whole record without the line end.
    pub records: Vec<Cell>,
    /// Padded rows, by index.
    pub short: Vec<usize>,
    /// Cut rows, in order.
    pub surplus: Vec<Surplus>,
    /// Rows that a stray quote had joined into one record, by index: the first row of each.
    pub split: Vec<usize>,
    /// How many of those records would be one row, if the file had many of them.
    pub n_likely: u64,
    /// Rows with a quoted cell whose lines could also be rows, by index.
    pub doubtful: Vec<usize>,
    /// Whether any cell was quoted.
    pub any_quoted: bool,
}

impl Block {
    pub(crate) fn n_rows(&self) -> usize {
        self.lines.len()
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.lines.clear();
        self.records.clear();
        self.short.clear();
        self.surplus.clear();
        self.split.clear();
        self.n_likely = 0;
        self.doubtful.clear();
    }
}

/// Returns the texts of the cells of one record, without the form feed that begins a page.
pub(crate) fn texts_of(record: &[u8], syntax: Syntax) -> Vec<String> {
    let record = without_form_feed(record);
    let mut cells = Vec::new();
    Tokeniser::new(record, syntax).record(&mut cells);
    cells.iter().map(|it| it.text(record)).collect()
}

/// Returns a record without the form feed with which a page of a printed report begins.
pub(crate) fn without_form_feed(record: &[u8]) -> &[u8] {
    record.strip_prefix(b"\x0c").unwrap_or(record)
}

/// Returns how many bytes of `bytes` are complete records; the last one may continue beyond the buffer.
///
/// `bytes` begins with a record. At the end of the input every record is complete.
pub(crate) fn cut(bytes: &[u8], syntax: Syntax, is_end: bool) -> usize {
    if is_end || bytes.is_empty() {
        return bytes.len();
    }
    if !syntax.is_plain() {
        return cut_by_reading(bytes, syntax);
    }
    let mut quotes = Quotes::new(bytes, syntax, false);
    let mut border = 0;
    let mut at = 0;
    loop {
        let quote = quotes.next(at);
        if let Some(end) = last_line_end(bytes, at, quote.unwrap_or(bytes.len())) {
            border = end + 1;
        }
        let Some(quote) = quote else { return border };
        at = match quotes.opens(quote).then(|| quotes.close::<true>(quote)) {
            None | Some(Close::Never) => quote + 1,
            Some(Close::At { at, .. }) => at + 1,
            Some(Close::Behind) => return border,
        };
    }
}

/// Returns the last position from `start` to `end` that certainly ends a line.
#[inline]
fn last_line_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let last = |byte: u8, text: &[u8]| {
        if text.len() <= NEAR_BYTES {
            text.iter().rposition(|it| *it == byte)
        } else {
            memrchr(byte, text)
        }
    };
    if let Some(newline) = last(b'\n', &bytes[start..end]) {
        return Some(start + newline);
    }
    let mut end = end;
    while let Some(at) = last(b'\r', &bytes[start..end]) {
        if is_line_end(bytes, start + at + 1) {
            return Some(start + at);
        }
        end = start + at;
    }
    None
}

/// Returns whether the line end before `at` is complete: a CR followed by unknown bytes, or by another
/// CR, may begin a CRLF or a CRCRLF.
fn is_line_end(bytes: &[u8], at: usize) -> bool {
    let is_newline = 0 < at && bytes[at - 1] == b'\n';
    is_newline || bytes.get(at).is_some_and(|it| !matches!(it, b'\r' | b'\n'))
}

/// The slow path: where a syntax is not plain, only reading from the beginning shows what a quote
/// means.
fn cut_by_reading(bytes: &[u8], syntax: Syntax) -> usize {
    let mut tokeniser = Tokeniser::new(bytes, syntax);
    tokeniser.quotes = Quotes::new(bytes, syntax, false);
    let mut cells = Vec::new();
    let mut border = 0;
    while let Some((_, end)) = tokeniser.record(&mut cells) {
        let at = tokeniser.position();
        if end < at && is_line_end(bytes, at) {
            border = at;
        }
    }
    border
}

/// Reads the records of one slice, from its first to its last byte.
pub(crate) struct Tokeniser<'a> {
    bytes: &'a [u8],
    syntax: Syntax,
    is_plain: bool,
    delimiter: u8,
    /// Bytes in a delimiter.
    n_delimiter: usize,
    quotes: Quotes<'a>,
    marks: Marks<'a>,
    /// Start of the next record.
    at: usize,
    /// The line on which it begins.
    line: u32,
    n_blank: u64,
    n_hollow: u64,
    keeps_hollow: bool,
    n_unclosed: u64,
    unclosed_line: Option<u32>,
    n_marks: u64,
    mark_line: Option<u32>,
    /// The rule that distinguishes the lines of a quoted cell from rows, if known.
    line_rule: Option<&'a LineRule>,
    /// Before this position, a quote that is not closed on its own line is text.
    lines_until: usize,
}

impl<'a> Tokeniser<'a> {
    /// Starts at the first byte of `bytes`, which must begin a record.
    pub(crate) fn new(bytes: &'a [u8], syntax: Syntax) -> Self {
        let delimiter = syntax.delimiter.first_byte();
        // Quotes within a cell are found in order to be skipped; an escape is searched for where it has
        // a meaning outside quotes.
        let other = match (syntax.quote, syntax.escape) {
            (Some(quote), _) => quote,
            (None, Escape::Char(escape)) => escape,
            (None, _) => b'\n',
        };
        Tokeniser {
            bytes,
            syntax,
            is_plain: syntax.is_plain(),
            delimiter,
            n_delimiter: syntax.delimiter.bytes().len(),
            quotes: Quotes::new(bytes, syntax, true),
            marks: Marks::new(bytes, [delimiter, other]),
            at: 0,
            line: 0,
            n_blank: 0,
            n_hollow: 0,
            keeps_hollow: false,
            n_unclosed: 0,
            unclosed_line: None,
            n_marks: 0,
            mark_line: None,
            line_rule: None,
            lines_until: 0,
        }
    }

    /// Sets the rule that distinguishes the lines of a quoted cell from rows that a stray quote has
    /// joined.
    #[must_use]
    pub(crate) fn with_lines(self, rule: &'a LineRule) -> Self {
        Tokeniser { line_rule: Some(rule), ..self }
    }

    /// Returns how many blank lines were skipped.
    pub(crate) fn n_blank(&self) -> u64 {
        self.n_blank
    }

    /// Returns how many records with only delimiters were skipped.
    pub(crate) fn n_hollow(&self) -> u64 {
        self.n_hollow
    }

    /// Treats records with only delimiters as rows of missing values, as programs write them.
    pub(crate) fn keep_hollow(&mut self) {
        self.keeps_hollow = true;
    }

    /// Returns how many quotes opened a cell, were never closed, and were therefore text.
    pub(crate) fn n_unclosed(&self) -> u64 {
        self.n_unclosed
    }

    /// Returns the line of the first of them; the first line is 0.
    pub(crate) fn unclosed_line(&self) -> Option<u32> {
        self.unclosed_line
    }

    /// Returns how many records began with a byte order mark, which is not text: files were
    /// concatenated.
    pub(crate) fn n_marks(&self) -> u64 {
        self.n_marks
    }

    /// Returns the line of the first of them; the first line is 0.
    pub(crate) fn mark_line(&self) -> Option<u32> {
        self.mark_line
    }

    #[cold]
    fn pass_mark(&mut self) {
        if self.bytes[self.at..].starts_with(BYTE_ORDER_MARK) {
            self.at += BYTE_ORDER_MARK.len();
            self.n_marks += 1;
            self.mark_line.get_or_insert(self.line);
        }
    }

    #[cold]
    fn count_unclosed(&mut self) {
        self.n_unclosed += 1;
        self.unclosed_line.get_or_insert(self.line);
    }

    /// Returns how many bytes have been read.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns how many lines have been read.
    pub(crate) fn n_lines(&self) -> u32 {
        self.line
    }

    /// Returns the next record of any width; `None` at the end. Blank lines are not records.
    pub(crate) fn record(&mut self, cells: &mut Vec<Cell>) -> Option<(usize, usize)> {
        loop {
            cells.clear();
            let record = if self.is_plain {
                self.next::<true>(cells, usize::MAX)?
            } else {
                self.next::<false>(cells, usize::MAX)?
            };
            if !record.is_blank {
                return Some((record.start, record.end));
            }
        }
    }

    /// Fills `block` with up to `n_rows` rows of `width` cells; fewer only at the end of the slice.
    pub(crate) fn block(&mut self, block: &mut Block, width: usize, n_rows: usize) {
        if self.is_plain {
            self.fill::<true>(block, width, n_rows);
        } else {
            self.fill::<false>(block, width, n_rows);
        }
    }

    fn fill<const PLAIN: bool>(&mut self, block: &mut Block, width: usize, n_rows: usize) {
        block.clear();
        while block.n_rows() < n_rows {
            let n_before = block.cells.len();
            let line = self.line;
            let start = self.at;
            let Some(record) = self.next::<PLAIN>(&mut block.cells, width) else { return };
            let n_cells = block.cells.len() - n_before;
            let row = block.n_rows();
            if record.any_quoted && line + 1 < self.line && 1 < width {
                match self.judge(&record, &block.cells[n_before..], width) {
                    Verdict::Row => {}
                    Verdict::Likely if self.line_rule.is_some_and(|it| it.keeps_likely) => {
                        block.doubtful.push(row);
                    }
                    Verdict::Doubtful => block.doubtful.push(row),
                    verdict @ (Verdict::Likely | Verdict::Rows) => {
                        block.n_likely += u64::from(verdict == Verdict::Likely);
                        block.cells.truncate(n_before);
                        block.split.push(row);
                        self.read_lines(start, line, record.end);
                        continue;
                    }
                }
            }
            let is_row = self.keeps_hollow && self.syntax.is_of_rows;
            let is_blank = record.is_blank || (1 < width && n_cells == 1 && self.is_blank(&record));
            if is_blank && !is_row {
                self.n_blank += 1;
                block.cells.truncate(n_before);
                continue;
            }
            if 1 < width && !self.keeps_hollow && self.is_hollow(record.start, record.end) {
                self.n_hollow += 1;
                block.cells.truncate(n_before);
                continue;
            }
            if n_cells < width {
                block.cells.resize(n_before + width, Cell::MISSING);
                block.short.push(row);
            } else if let Some(start) = record.surplus_start
                // Surplus delimiters at the end of a row do not enclose a value.
                && !self.is_hollow(start, record.end)
            {
                block.surplus.push(Surplus { row, start, end: record.end });
            }
            block.any_quoted |= record.any_quoted;
            block.lines.push(line);
            block.records.push(Cell::raw_span(record.start, record.end));
        }
    }

    #[cold]
    fn judge(&self, record: &Record, cells: &[Cell], width: usize) -> Verdict {
        let is_even = cells.len() == width && record.surplus_start.is_none();
        let span = record.start..record.end;
        let classes = self.line_rule.map_or(&[][..], |it| &it.classes);
        judge(self.bytes, span, cells, is_even, (width, classes), self.syntax)
    }

    /// Returns to `start` on `line`, to read the text before `end` line by line.
    fn read_lines(&mut self, start: usize, line: u32, end: usize) {
        let fresh = Tokeniser::new(self.bytes, self.syntax);
        (self.quotes, self.marks) = (fresh.quotes, fresh.marks);
        (self.at, self.line, self.lines_until) = (start, line, end);
    }

    /// Finds the quote that closes the one at `open`, on the same line in line-by-line mode.
    #[inline]
    fn close<const PLAIN: bool>(&mut self, open: usize) -> Close {
        if open < self.lines_until {
            self.close_on_line(open)
        } else {
            self.quotes.close::<PLAIN>(open)
        }
    }

    #[cold]
    fn close_on_line(&self, open: usize) -> Close {
        let rest = &self.bytes[open..];
        let end = memchr2(b'\n', b'\r', rest).map_or(self.bytes.len(), |it| open + it);
        Quotes::new(&self.bytes[..end], self.syntax, true).close::<false>(open)
    }

    /// Returns whether only delimiters and blanks are between two positions.
    fn is_hollow(&self, start: usize, end: usize) -> bool {
        let delimiter = self.syntax.delimiter.bytes();
        self.bytes[start..end].iter().all(|it| delimiter.contains(it) || matches!(it, b' ' | b'\t'))
    }

    fn is_blank(&self, record: &Record) -> bool {
        self.bytes[record.start..record.end].iter().all(|it| matches!(it, b' ' | b'\t'))
    }

    #[inline]
    fn next<const PLAIN: bool>(&mut self, cells: &mut Vec<Cell>, width: usize) -> Option<Record> {
        if *self.bytes.get(self.at)? == BYTE_ORDER_MARK[0] {
            self.pass_mark();
        }
        let start = self.at;
        let mut record =
            Record { start, end: start, is_blank: false, any_quoted: false, surplus_start: None };
        let mut n_cells = 0;
        loop {
            let cell_start = self.at;
            let (cell, end) = if PLAIN {
                self.cell(cell_start, &mut record)
            } else {
                self.general_cell(cell_start, &mut record)?
            };
            if n_cells < width {
                cells.push(cell);
            } else if n_cells == width {
                record.surplus_start = Some(cell_start);
            }
            n_cells += 1;
            match self.bytes.get(end) {
                Some(b'\n') => self.at = end + 1,
                Some(b'\r') => {
                    let rest = &self.bytes[end + 1..];
                    let n_more = if rest.starts_with(b"\n") {
                        1
                    } else if rest.starts_with(b"\r\n") {
                        2
                    } else {
                        0
                    };
                    self.at = end + 1 + n_more;
                }
                Some(_) => {
                    self.at = end + if PLAIN { 1 } else { self.n_delimiter };
                    continue;
                }
                None => self.at = end,
            }
            record.end = end;
            record.is_blank = end == start;
            self.line += 1;
            return Some(record);
        }
    }

    /// Returns the cell that begins at `start`, and where it ends: at a delimiter, a line end, or the
    /// end.
    #[inline]
    fn cell(&mut self, start: usize, record: &mut Record) -> (Cell, usize) {
        let mut from = start;
        if self.bytes.get(start) == Some(&QUOTE) {
            if let Close::At { at, is_escaped } = self.close::<true>(start) {
                record.any_quoted = true;
                if !self.syntax.is_of_rows {
                    self.line += count_line_ends(&self.bytes[start + 1..at]);
                }
                let escape = if is_escaped { QUOTE } else { 0 };
                let n_blanks = self.syntax.n_blanks_behind(&self.bytes[at + 1..]);
                return (Cell::quoted(start + 1, at, escape), at + 1 + n_blanks);
            }
            self.count_unclosed();
            from = start + 1;
        }
        loop {
            let end = self.marks.next(from);
            // A quote within a cell is text.
            if self.bytes.get(end) == Some(&QUOTE) && self.delimiter != QUOTE {
                from = end + 1;
                continue;
            }
            return (Cell::raw_span(start, end), end);
        }
    }

    /// Returns the same for any syntax; `None` when the cell may continue beyond the available bytes.
    fn general_cell(&mut self, start: usize, record: &mut Record) -> Option<(Cell, usize)> {
        let syntax = self.syntax;
        let Syntax { quote, escape, blanks, .. } = syntax;
        let is_aligned = blanks == Blanks::Aligned;
        let start = if is_aligned { start + n_spaces(&self.bytes[start..]) } else { start };
        let mut from = start;
        let open = start + self.syntax.n_blanks(&self.bytes[start..]);
        if quote.is_some() && self.bytes.get(open).copied() == quote {
            match self.close::<false>(open) {
                Close::At { at, is_escaped } => {
                    record.any_quoted = true;
                    self.line += count_line_ends(&self.bytes[open + 1..at]);
                    let escape = match escape {
                        Escape::Char(escape) => escape,
                        Escape::Doubled => quote.unwrap_or_default(),
                        Escape::None => 0,
                    };
                    let cell = Cell::quoted(open + 1, at, if is_escaped { escape } else { 0 });
                    let end = at + 1 + self.syntax.n_blanks_behind(&self.bytes[at + 1..]);
                    return Some((cell, if is_aligned { self.end_of_gap(end) } else { end }));
                }
                Close::Behind => return None,
                Close::Never => {
                    self.count_unclosed();
                    from = open + 1;
                }
            }
        }
        let delimiter = syntax.delimiter.bytes();
        let mut escape_found = 0;
        let end = loop {
            let at = self.marks.next(from);
            from = match (self.bytes.get(at), escape) {
                (None | Some(b'\n' | b'\r'), _) => break at,
                (Some(byte), Escape::Char(escape)) if quote.is_none() && *byte == escape => {
                    escape_found = escape;
                    at + 2
                }
                _ if 0 < self.n_delimiter && self.bytes[at..].starts_with(delimiter) => break at,
                _ => at + 1,
            };
        };
        let end = end.min(self.bytes.len());
        if is_aligned {
            let text = self.bytes[start..end].trim_ascii_end();
            return Some((Cell::raw_span(start, start + text.len()), self.end_of_gap(end)));
        }
        let is_behind_delimiter = record.start < start && blanks == Blanks::OneBehindDelimiter;
        let begins_blank = start < end && self.bytes[start] == b' ';
        let n_blanks = usize::from(is_behind_delimiter && begins_blank);
        let cell = Cell::raw_span(start + n_blanks, end).escaped(escape_found);
        if escape_found != 0 {
            self.line += count_line_ends(cell.raw(self.bytes));
        }
        Some((cell, end))
    }

    /// Returns the end of a cell in aligned columns that is followed by blanks at `at`: at the last
    /// blanks that form a delimiter, or at the line end after them.
    fn end_of_gap(&self, at: usize) -> usize {
        let end = at + n_spaces(&self.bytes[at..]);
        let is_last = matches!(self.bytes.get(end), None | Some(b'\n' | b'\r'));
        if is_last { end } else { end - self.n_delimiter.min(end - at) }
    }
}

fn n_spaces(text: &[u8]) -> usize {
    text.iter().take_while(|it| **it == b' ').count()
}

struct Record {
    start: usize,
    end: usize,
    is_blank: bool,
    any_quoted: bool,
    surplus_start: Option<usize>,
}

/// Returns the number of line ends in `text`.
pub(crate) fn count_line_ends(text: &[u8]) -> u32 {
    if text.len() <= NEAR_BYTES && !text.iter().any(|it| matches!(it, b'\n' | b'\r')) {
        return 0;
    }
    let ends = memchr2_iter(b'\n', b'\r', text);
    // The CR of a CRLF or CRCRLF is not counted; its LF is.
    let is_counted = |at: &usize| {
        let rest = &text[at + 1..];
        text[*at] == b'\n' || !(rest.starts_with(b"\n") || rest.starts_with(b"\r\n"))
    };
    u32::try_from(ends.filter(is_counted).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop, prop_assert_eq, prop_oneof, proptest};
    use proptest::sample::select;

    use super::{Block, Cell, Tokeniser, cut};
    use crate::syntax::{Blanks, Delimiter, Escape, Syntax};
    use csv_agent_testing::slow_cases;

    fn comma() -> Syntax {
        Syntax::usual(Delimiter::new(",").unwrap())
    }

    fn records(text: &[u8]) -> Vec<Vec<String>> {
        records_in(text, comma())
    }

    fn records_in(text: &[u8], syntax: Syntax) -> Vec<Vec<String>> {
        let mut tokeniser = Tokeniser::new(text, syntax);
        let mut cells: Vec<Cell> = Vec::new();
        let mut records = Vec::new();
        while tokeniser.record(&mut cells).is_some() {
            records.push(cells.iter().map(|it| it.text(text)).collect());
        }
        records
    }

    #[track_caller]
    fn check(text: &str, expected: &[&[&str]]) {
        assert_eq!(records(text.as_bytes()), expected, "{text:?}");
    }

    #[test]
    fn lines_end_with_lf_cr_or_crlf_in_one_file() {
        check("a,b\nc,d\re,f\r\ng,h", &[&["a", "b"], &["c", "d"], &["e", "f"], &["g", "h"]]);
    }

    #[test]
    fn blank_lines_are_no_records() {
        check("\n\na,b\r\n\r\n\r\nc\n\n", &[&["a", "b"], &["c"]]);
    }

    #[test]
    fn quotes_hold_delimiters_line_ends_and_doubled_quotes() {
        check("\"a,\"\"b\"\"\r\nc\",d\n", &[&["a,\"b\"\r\nc", "d"]]);
        check("\"\",\"\"\"\"\n", &[&["", "\""]]);
    }

    #[test]
    fn a_quote_that_does_not_end_its_cell_is_text() {
        check("\"a\"b\",c\n", &[&["a\"b", "c"]]);
        check("5\" pipe,a\"b\"\n", &[&["5\" pipe", "a\"b\""]]);
    }

    #[test]
    fn blanks_behind_a_closing_quote_are_no_text() {
        check("\"a\" ,\"b,c\" \t\nd,\"e\"  ", &[&["a", "b,c"], &["d", "e"]]);
        check("\"a\" b,c\n", &[&["\"a\" b", "c"]]);
    }

    #[test]
    fn a_quote_that_nobody_closes_is_text_and_takes_no_rows() {
        check("\"a,b\nc,d\n", &[&["\"a", "b"], &["c", "d"]]);
        check("\"a,\"\",b\n\"c\"x,d\n", &[&["\"a", "", "b"], &["\"c\"x", "d"]]);
    }

    #[test]
    fn a_quote_that_another_cell_overtakes_is_text() {
        check("\"a,\"b,c\",d\n", &[&["\"a", "b,c", "d"]]);
        check("a,\"\nb,\"c\"\n", &[&["a", "\""], &["b", "c"]]);
        check("\"a, \"b\" c\",d\n", &[&["a, \"b\" c", "d"]]);
        check("\"a \"\"b\"\", c\",\"d\"\n", &[&["a \"b\", c", "d"]]);
    }

    #[test]
    fn empty_cells_stand_between_delimiters() {
        check(",a,\n,,\n", &[&["", "a", ""], &["", "", ""]]);
    }

    #[test]
    fn rows_are_padded_and_cut_to_the_width() {
        let text = b"a,b\nc\nd,e,f,\"g\"\n";
        let mut block = Block::default();
        Tokeniser::new(text, comma()).block(&mut block, 2, 10);
        let cells: Vec<_> = block.cells.iter().map(|it| it.text(text)).collect();
        assert_eq!(cells, ["a", "b", "c", "", "d", "e"]);
        assert_eq!(block.short, [1]);
        let surplus = block.surplus[0];
        assert_eq!((surplus.row, &text[surplus.start..surplus.end]), (2, &b"f,\"g\""[..]));
    }

    #[test]
    fn a_row_knows_the_line_it_begins_on() {
        let text = b"a\n\n\"b\nb\r\nb\"\nc\n";
        let mut block = Block::default();
        Tokeniser::new(text, comma()).block(&mut block, 1, 10);
        assert_eq!(block.lines, [0, 2, 5]);
    }

    #[test]
    fn many_unclosed_quotes_take_no_longer_than_one() {
        let text = "\"x,y\n".repeat(200_000);
        assert_eq!(records(text.as_bytes()).len(), 200_000);
        assert_eq!(cut(text.as_bytes(), comma(), true), text.len());
    }

    #[track_caller]
    fn check_in(syntax: Syntax, text: &str, expected: &[&[&str]]) {
        assert_eq!(records_in(text.as_bytes(), syntax), expected, "{text:?}");
    }

    #[test]
    fn a_delimiter_may_be_long() {
        let usual = |text| Syntax::usual(Delimiter::new(text).unwrap());
        check_in(usual("||"), "a||b|c||\"d||e\"\n", &[&["a", "b|c", "d||e"]]);
        check_in(usual(", "), "a,b, \"c, d\", e\n", &[&["a,b", "c, d", "e"]]);
        check_in(usual("§"), "a§ü§\"§\"\n", &[&["a", "ü", "§"]]);
    }

    #[test]
    fn quotes_may_be_single_or_none() {
        let single = Syntax { quote: Some(b'\''), ..comma() };
        check_in(single, "'a,''b''c',\"c\n", &[&["a,'b'c", "\"c"]]);
        let none = Syntax { quote: None, escape: Escape::None, ..comma() };
        check_in(none, "\"a,b\"\n\"c\n", &[&["\"a", "b\""], &["\"c"]]);
    }

    #[test]
    fn a_backslash_may_escape() {
        let escaped = Syntax { escape: Escape::Char(b'\\'), ..comma() };
        check_in(escaped, r#""a\",b","c\\",\"d\"#, &[&["a\",b", "c\\", "\\\"d\\"]]);
        check_in(escaped, r#""a\n""b",c"#, &[&[r#"a\n""b"#, "c"]]);
        let bare = Syntax { quote: None, ..escaped };
        check_in(bare, "a\\,b,\\N,c\\\nd\n", &[&["a,b", "\\N", "c\nd"]]);
    }

    #[test]
    fn blanks_may_mean_nothing() {
        let around = Syntax { blanks: Blanks::AroundQuotes, ..comma() };
        check_in(around, "a, \"b, c\" , d\n", &[&["a", "b, c", " d"]]);
        let one = Syntax { blanks: Blanks::OneBehindDelimiter, ..comma() };
        check_in(one, " a, b,c,  d, \"e\"\n", &[&[" a", "b", "c", " d", "e"]]);
    }

    #[test]
    fn two_cr_and_a_lf_are_one_line_end() {
        let text = b"a\r\r\nb\r\r\n\"c\r\r\nc\"\r\r\nd";
        let mut block = Block::default();
        Tokeniser::new(text, comma()).block(&mut block, 1, 10);
        assert_eq!(block.lines, [0, 1, 2, 4]);
    }

    /// Every syntax of use.
    fn syntaxes() -> impl Strategy<Value = Syntax> {
        let delimiters = select(vec![",", ";", "\t", " ", "|", ":", "||", ", ", "::", "§"]);
        let quotes = select(vec![Some(b'"'), Some(b'\''), None]);
        let escapes = select(vec![Escape::Doubled, Escape::Char(b'\\'), Escape::None]);
        let all = [Blanks::Kept, Blanks::AroundQuotes, Blanks::OneBehindDelimiter];
        (delimiters, quotes, escapes, select(all.to_vec())).prop_map(
            |(delimiter, quote, escape, blanks)| {
                let blanks = if delimiter.contains(' ') { Blanks::Kept } else { blanks };
                let delimiter = Delimiter::new(delimiter).unwrap();
                Syntax { quote, escape, blanks, ..Syntax::usual(delimiter) }
            },
        )
    }

    /// Writes a cell so that it is read back; what cannot be written in the syntax is left out.
    fn written(cell: &str, syntax: &Syntax) -> String {
        let Syntax { quote, escape, .. } = *syntax;
        let escape_char = escape.char().map(char::from);
        let Some(quote) = quote.map(char::from) else {
            let is_plain = |it: &char| it.is_ascii_alphanumeric();
            let Some(escape) = escape_char else { return cell.chars().filter(is_plain).collect() };
            let escaped = |it: char| {
                let before = if is_plain(&it) { None } else { Some(escape) };
                before.into_iter().chain([it])
            };
            return cell.chars().flat_map(escaped).collect();
        };
        let mut text = String::from(quote);
        for char in cell.chars() {
            match (char == quote, escape) {
                (true, Escape::None) => continue,
                (true, Escape::Doubled) => text.push(quote),
                (_, Escape::Char(escape)) if [quote, char::from(escape)].contains(&char) => {
                    text.push(char::from(escape));
                }
                _ => {}
            }
            text.push(char);
        }
        text.push(quote);
        text
    }

    /// Text made mostly of what matters to the tokeniser.
    fn tangle() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            3 => Just(b'"'), 3 => Just(b','), 2 => Just(b'\n'), 1 => Just(b'\r'), 3 => Just(b'x'),
            1 => select(b"'\\| :\xc2\xa7;".to_vec()), 1 => any::<u8>(),
        ];
        prop::collection::vec(byte, 0..200)
    }

    proptest! {
        #![proptest_config(slow_cases(500, 2_000))]

        #[test]
        fn slices_cut_anywhere_read_as_the_whole(
            text in tangle(),
            step in 1_usize..40,
            syntax in prop_oneof![Just(comma()), syntaxes()],
        ) {
            let mut sliced = Vec::new();
            let (mut start, mut end) = (0, 0);
            while start < text.len() {
                end = (end + step).min(text.len());
                let length = cut(&text[start..end], syntax, end == text.len());
                sliced.extend(records_in(&text[start..start + length], syntax));
                start += length;
            }
            prop_assert_eq!(sliced, records_in(&text, syntax));
        }

        #[test]
        fn what_is_written_in_a_syntax_is_read_back(
            rows in prop::collection::vec(
                prop::collection::vec("[a-c,;| :\"'\\\\\r\n§é]{0,6}", 1..4), 1..4),
            syntax in syntaxes(),
            end in select(vec!["\n", "\r\n", "\r", "\r\r\n"]),
        ) {
            let delimiter = syntax.delimiter_as_written().unwrap();
            let line = |row: &Vec<String>| {
                row.iter().map(|it| written(it, &syntax)).collect::<Vec<_>>().join(&delimiter)
            };
            let text: String = rows.iter().map(|row| line(row) + end).collect();
            let writable = |it: &String| match (syntax.quote, syntax.escape) {
                (Some(quote), Escape::None) => it.replace(char::from(quote), ""),
                (None, Escape::None | Escape::Doubled) => {
                    it.chars().filter(char::is_ascii_alphanumeric).collect()
                }
                _ => it.clone(),
            };
            let is_blank = |row: &&Vec<String>| {
                syntax.quote.is_none() && row.len() == 1 && writable(&row[0]).is_empty()
            };
            let wanted: Vec<Vec<String>> = rows
                .iter()
                .filter(|it| !is_blank(it))
                .map(|row| row.iter().map(writable).collect())
                .collect();
            prop_assert_eq!(records_in(text.as_bytes(), syntax), wanted);
        }

        #[test]
        fn every_byte_is_in_a_cell_or_is_syntax(text in tangle()) {
            // Blanks behind a closing quote are no text.
            let count = |of: &[u8]| of.iter().filter(|it| !b"\", \t\r\n".contains(it)).count();
            let mut tokeniser = Tokeniser::new(&text, comma());
            let (mut cells, mut n_bytes) = (Vec::new(), 0);
            while tokeniser.record(&mut cells).is_some() {
                n_bytes += cells.iter().map(|it| count(it.raw(&text))).sum::<usize>();
            }
            prop_assert_eq!(n_bytes, count(&text));
        }
    }
}
