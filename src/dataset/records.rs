//! Bytes to records: where a record ends, and where its cells lie.
//!
//! Pure. [`cut`] finds the last border between records in a buffer, so that the slices before it can
//! be read side by side; [`Tokeniser`] reads one slice. Both follow one rule for quotes, which also
//! reads files that were not quoted well: a quote opens at the beginning of a cell only; within
//! quotes, a quote closes if a delimiter, a line end or the end follows, and is text otherwise, and
//! two of them are one; a quote that nobody closes is text. A line ends with LF, CR or CRLF, and a
//! file may mix them.

use memchr::{memchr, memchr2_iter, memrchr};

use crate::limits::QUOTED_BYTES_MAX;

/// The quote character. Cells quoted otherwise are text with quotes in it.
pub const QUOTE: u8 = b'"';

/// What separates cells: one ASCII character, or nothing in a file of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(Option<u8>);

impl Delimiter {
    /// A file of one column.
    pub const NONE: Delimiter = Delimiter(None);

    /// Returns the delimiter, if `char` can be one.
    pub fn new(char: char) -> Option<Self> {
        let byte = u8::try_from(char).ok().filter(u8::is_ascii)?;
        (!byte.is_ascii_alphanumeric() && !b"\0\r\n\"".contains(&byte))
            .then_some(Delimiter(Some(byte)))
    }

    /// Returns the character.
    pub fn char(self) -> Option<char> {
        self.0.map(char::from)
    }

    /// A line feed is tested for first wherever bytes are told apart, so it stands for none.
    fn byte(self) -> u8 {
        self.0.unwrap_or(b'\n')
    }
}

/// Where a cell's text lies in its slice, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    start: u32,
    end: u32,
}

impl Cell {
    const QUOTED: u32 = 1 << 31;
    const DOUBLED: u32 = 1 << 30;
    const POSITION: u32 = Self::DOUBLED - 1;
    /// What a row that is too short is padded with.
    pub const MISSING: Cell = Cell { start: 0, end: 0 };

    /// A cell of everything between two positions.
    pub fn raw_span(start: usize, end: usize) -> Self {
        Cell::new(start, end, 0)
    }

    #[inline]
    fn new(start: usize, end: usize, flags: u32) -> Self {
        // A slice is shorter than 2^30 bytes: `RECORD_BYTES_MAX` bounds it.
        #[expect(clippy::cast_possible_truncation, reason = "bounded by RECORD_BYTES_MAX")]
        Cell { start: start as u32, end: end as u32 | flags }
    }

    /// Returns the text; where quotes are doubled in it, they still are.
    #[inline]
    pub fn raw(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..(self.end & Self::POSITION) as usize]
    }

    /// Returns whether it was in quotes.
    #[inline]
    pub fn is_quoted(self) -> bool {
        self.end & Self::QUOTED != 0
    }

    /// Returns whether quotes may be doubled in it.
    #[inline]
    pub fn is_doubled(self) -> bool {
        self.end & Self::DOUBLED != 0
    }

    /// Appends the text to `text`, doubled quotes made single.
    #[inline]
    pub fn unescape(self, bytes: &[u8], text: &mut Vec<u8>) {
        let mut rest = self.raw(bytes);
        while self.is_doubled()
            && let Some(at) = memchr(QUOTE, rest)
        {
            text.extend_from_slice(&rest[..=at]);
            rest = &rest[at + 1..];
            rest = rest.strip_prefix(&[QUOTE]).unwrap_or(rest);
        }
        text.extend_from_slice(rest);
    }

    /// Returns the text as it is meant. The bytes of a slice are UTF-8.
    pub fn text(self, bytes: &[u8]) -> String {
        let mut text = Vec::new();
        self.unescape(bytes, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// A row with more cells than columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surplus {
    /// Position of the row in its block.
    pub row: usize,
    /// From the first cell that has no column to the end of the record.
    pub start: usize,
    /// The end of the record, without the line end.
    pub end: usize,
}

/// Some rows: `rows × width` cells.
#[derive(Debug, Default)]
pub struct Block {
    /// Row after row, each padded or cut to the width.
    pub cells: Vec<Cell>,
    /// Of each row, the line it begins on; the first line of the slice is 0.
    pub lines: Vec<u32>,
    /// Of each row, the whole record without the line end.
    pub records: Vec<Cell>,
    /// Rows that were padded, by position.
    pub short: Vec<usize>,
    /// Rows that were cut, in order.
    pub surplus: Vec<Surplus>,
    /// Whether any cell was quoted.
    pub any_quoted: bool,
}

impl Block {
    /// Returns how many rows there are.
    pub fn n_rows(&self) -> usize {
        self.lines.len()
    }

    fn clear(&mut self) {
        self.cells.clear();
        self.lines.clear();
        self.records.clear();
        self.short.clear();
        self.surplus.clear();
    }
}

/// Returns how many bytes of `bytes` are whole records; what follows may go on behind it.
///
/// `bytes` begins with a record. At the end of the input everything is whole.
pub fn cut(bytes: &[u8], delimiter: Delimiter, is_end: bool) -> usize {
    if is_end || bytes.is_empty() {
        return bytes.len();
    }
    let mut quotes = Quotes::new(bytes, delimiter, false);
    let mut border = 0;
    let mut at = 0;
    loop {
        let quote = memchr(QUOTE, &bytes[at..]).map(|it| at + it);
        if let Some(end) = last_line_end(bytes, at, quote.unwrap_or(bytes.len())) {
            border = end + 1;
        }
        let Some(quote) = quote else { return border };
        at = match quotes.opens(quote).then(|| quotes.close(quote)) {
            None | Some(Close::Never) => quote + 1,
            Some(Close::At { at, .. }) => at + 1,
            Some(Close::Behind) => return border,
        };
    }
}

/// Returns the last position from `start` to `end` that surely ends a line: a CR behind which
/// nothing is known may be half a CRLF.
fn last_line_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    let end_of_cr = end.min(bytes.len() - 1).max(start);
    let newline = memrchr(b'\n', &bytes[start..end]);
    newline.or_else(|| memrchr(b'\r', &bytes[start..end_of_cr])).map(|it| start + it)
}

/// Where an opening quote is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Close {
    /// At this position.
    At { at: usize, doubled: bool },
    /// Perhaps behind the bytes at hand.
    Behind,
    /// Nowhere: the opening quote is text.
    Never,
}

/// Finds closing quotes, each byte once even when many quotes are never closed.
struct Quotes<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    is_end: bool,
    /// No quote before this position closes one that was opened before it, except in the run of
    /// quotes that the opening one begins.
    searched: usize,
}

impl<'a> Quotes<'a> {
    fn new(bytes: &'a [u8], delimiter: Delimiter, is_end: bool) -> Self {
        Quotes { bytes, delimiter: delimiter.byte(), is_end, searched: 0 }
    }

    /// Returns whether the quote at `quote`, outside of quotes, begins a cell.
    fn opens(&self, quote: usize) -> bool {
        quote == 0 || self.ends_cell(self.bytes[quote - 1])
    }

    #[inline]
    fn ends_cell(&self, byte: u8) -> bool {
        byte == self.delimiter || byte == b'\n' || byte == b'\r'
    }

    #[inline]
    fn close(&mut self, open: usize) -> Close {
        let mut doubled = false;
        let mut from = open + 1;
        if open < self.searched {
            // An earlier opening quote was followed from before this one in vain. Behind the run
            // that begins here, that search saw the same pairs as this one would.
            let run = self.bytes[open..].iter().take_while(|it| **it == QUOTE).count();
            let behind = open + run;
            if run % 2 == 0 && self.bytes.get(behind).is_none_or(|it| self.ends_cell(*it)) {
                return self.found(behind - 1, 2 < run);
            }
            from = self.searched.max(behind);
            doubled = true;
        }
        let stop = self.bytes.len().min(open.saturating_add(QUOTED_BYTES_MAX));
        while let Some(at) = self.bytes.get(from..stop).and_then(|it| memchr(QUOTE, it)) {
            let quote = from + at;
            match self.bytes.get(quote + 1) {
                Some(&QUOTE) => {
                    doubled = true;
                    from = quote + 2;
                }
                Some(&next) if !self.ends_cell(next) => from = quote + 1,
                _ => return self.found(quote, doubled),
            }
        }
        self.searched = from.max(stop);
        let is_behind = stop == self.bytes.len() && !self.is_end;
        if is_behind { Close::Behind } else { Close::Never }
    }

    /// The last byte at hand may be the first of a doubled quote.
    #[inline]
    fn found(&self, at: usize, doubled: bool) -> Close {
        let is_last = at + 1 == self.bytes.len();
        if is_last && !self.is_end { Close::Behind } else { Close::At { at, doubled } }
    }
}

/// Reads the records of one slice, from its first to its last byte.
pub struct Tokeniser<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    quotes: Quotes<'a>,
    marks: Marks<'a>,
    /// Where the next record begins.
    at: usize,
    /// The line on which it begins.
    line: u32,
    n_blank: u64,
    n_unclosed: u64,
}

impl<'a> Tokeniser<'a> {
    /// Begins with the first byte of `bytes`, which must begin a record.
    pub fn new(bytes: &'a [u8], delimiter: Delimiter) -> Self {
        Tokeniser {
            bytes,
            delimiter: delimiter.byte(),
            quotes: Quotes::new(bytes, delimiter, true),
            marks: Marks::new(bytes, delimiter.byte()),
            at: 0,
            line: 0,
            n_blank: 0,
            n_unclosed: 0,
        }
    }

    /// Returns how many blank lines were passed over.
    pub fn n_blank(&self) -> u64 {
        self.n_blank
    }

    /// Returns how many quotes began a cell, were never closed, and so were text.
    pub fn n_unclosed(&self) -> u64 {
        self.n_unclosed
    }

    /// Returns how many bytes were read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns how many lines were read so far.
    pub fn n_lines(&self) -> u32 {
        self.line
    }

    /// Returns the next record whatever its width; `None` at the end. Blank lines are no records.
    pub fn record(&mut self, cells: &mut Vec<Cell>) -> Option<(usize, usize)> {
        loop {
            cells.clear();
            let record = self.next(cells, usize::MAX)?;
            if !record.is_blank {
                return Some((record.start, record.end));
            }
        }
    }

    /// Fills `block` with up to `n_rows` rows of `width` cells; fewer only at the end of the slice.
    pub fn block(&mut self, block: &mut Block, width: usize, n_rows: usize) {
        block.clear();
        while block.n_rows() < n_rows {
            let n_before = block.cells.len();
            let line = self.line;
            let Some(record) = self.next(&mut block.cells, width) else { return };
            let n_cells = block.cells.len() - n_before;
            if record.is_blank || (1 < width && n_cells == 1 && self.is_blank(&record)) {
                self.n_blank += 1;
                block.cells.truncate(n_before);
                continue;
            }
            let row = block.n_rows();
            if n_cells < width {
                block.cells.resize(n_before + width, Cell::MISSING);
                block.short.push(row);
            } else if let Some(start) = record.surplus_start
                // A delimiter too many at the end of a row surrounds no value.
                && start < record.end
            {
                block.surplus.push(Surplus { row, start, end: record.end });
            }
            block.any_quoted |= record.any_quoted;
            block.lines.push(line);
            block.records.push(Cell::raw_span(record.start, record.end));
        }
    }

    fn is_blank(&self, record: &Record) -> bool {
        self.bytes[record.start..record.end].iter().all(|it| matches!(it, b' ' | b'\t'))
    }

    #[inline]
    fn next(&mut self, cells: &mut Vec<Cell>, width: usize) -> Option<Record> {
        let start = self.at;
        if self.bytes.len() <= start {
            return None;
        }
        let mut record =
            Record { start, end: start, is_blank: false, any_quoted: false, surplus_start: None };
        let mut n_cells = 0;
        loop {
            let cell_start = self.at;
            let (cell, end) = self.cell(cell_start, &mut record);
            if n_cells < width {
                cells.push(cell);
            } else if n_cells == width {
                record.surplus_start = Some(cell_start);
            }
            n_cells += 1;
            match self.bytes.get(end) {
                Some(b'\r') if self.bytes.get(end + 1) == Some(&b'\n') => self.at = end + 2,
                Some(b'\n' | b'\r') => self.at = end + 1,
                Some(_) => {
                    self.at = end + 1;
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

    /// Returns the cell that begins at `start`, and where it ends: a delimiter, a line end, the end.
    #[inline]
    fn cell(&mut self, start: usize, record: &mut Record) -> (Cell, usize) {
        let mut from = start;
        if self.bytes.get(start) == Some(&QUOTE) {
            if let Close::At { at, doubled } = self.quotes.close(start) {
                record.any_quoted = true;
                self.line += count_line_ends(&self.bytes[start + 1..at]);
                let flags = Cell::QUOTED | if doubled { Cell::DOUBLED } else { 0 };
                return (Cell::new(start + 1, at, flags), at + 1);
            }
            self.n_unclosed += 1;
            from = start + 1;
        }
        loop {
            let end = self.marks.next(from);
            // A quote within a cell is text.
            if self.bytes.get(end) == Some(&QUOTE) && self.delimiter != QUOTE {
                from = end + 1;
                continue;
            }
            return (Cell::new(start, end, 0), end);
        }
    }
}

struct Record {
    start: usize,
    end: usize,
    is_blank: bool,
    any_quoted: bool,
    surplus_start: Option<usize>,
}

fn count_line_ends(text: &[u8]) -> u32 {
    let ends = memchr2_iter(b'\n', b'\r', text);
    // The CR of a CRLF is not counted; its LF is.
    let n = ends.filter(|at| text[*at] == b'\n' || text.get(at + 1) != Some(&b'\n')).count();
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Finds delimiters, line ends and quotes, 64 bytes at a time.
///
/// The compiler turns the comparison into vector code; a multiplication gathers eight results into
/// eight bits. This is several times faster than a search per cell, since cells are short.
struct Marks<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    base: usize,
    mask: u64,
}

const LANES: usize = 64;

impl<'a> Marks<'a> {
    fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        let mut marks = Marks { bytes, delimiter, base: 0, mask: 0 };
        marks.load(0);
        marks
    }

    /// Returns the first mark at or behind `from`, or the end of the bytes.
    #[inline]
    fn next(&mut self, from: usize) -> usize {
        if self.base + LANES <= from {
            self.load(from / LANES * LANES);
        }
        let mut mask = self.mask & (u64::MAX << (from - self.base).min(LANES - 1));
        while mask == 0 {
            let base = self.base + LANES;
            if self.bytes.len() <= base {
                return self.bytes.len();
            }
            self.load(base);
            mask = self.mask;
        }
        self.base + mask.trailing_zeros() as usize
    }

    fn load(&mut self, base: usize) {
        self.base = base;
        let rest = self.bytes.get(base..).unwrap_or_default();
        self.mask = if let Some(chunk) = rest.first_chunk::<LANES>() {
            mask_of(chunk, self.delimiter)
        } else {
            let mut chunk = [0; LANES];
            chunk[..rest.len()].copy_from_slice(rest);
            mask_of(&chunk, self.delimiter)
        };
    }
}

#[inline]
fn mask_of(chunk: &[u8; LANES], delimiter: u8) -> u64 {
    let hits: [u8; LANES] = std::array::from_fn(|at| {
        let it = chunk[at];
        u8::from(it == delimiter) | u8::from(it == b'\n' || it == b'\r' || it == QUOTE)
    });
    let (eights, _) = hits.as_chunks::<8>();
    eights.iter().rev().fold(0, |mask, eight| {
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask << 8 | gathered
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{
        Just, ProptestConfig, any, prop, prop_assert_eq, prop_oneof, proptest,
    };

    use super::{Block, Cell, Delimiter, Tokeniser, cut};

    const COMMA: Delimiter = Delimiter(Some(b','));

    fn records(text: &[u8]) -> Vec<Vec<String>> {
        let mut tokeniser = Tokeniser::new(text, COMMA);
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
    fn a_quote_that_nobody_closes_is_text_and_takes_no_rows() {
        check("\"a,b\nc,d\n", &[&["\"a", "b"], &["c", "d"]]);
        check("\"a,\"\",b\n\"c\"x,d\n", &[&["\"a", "", "b"], &["\"c\"x", "d"]]);
    }

    #[test]
    fn empty_cells_stand_between_delimiters() {
        check(",a,\n,,\n", &[&["", "a", ""], &["", "", ""]]);
    }

    #[test]
    fn rows_are_padded_and_cut_to_the_width() {
        let text = b"a,b\nc\nd,e,f,\"g\"\n";
        let mut block = Block::default();
        Tokeniser::new(text, COMMA).block(&mut block, 2, 10);
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
        Tokeniser::new(text, COMMA).block(&mut block, 1, 10);
        assert_eq!(block.lines, [0, 2, 5]);
    }

    #[test]
    fn many_unclosed_quotes_take_no_longer_than_one() {
        let text = "\"x,y\n".repeat(200_000);
        assert_eq!(records(text.as_bytes()).len(), 200_000);
        assert_eq!(cut(text.as_bytes(), COMMA, true), text.len());
    }

    /// Text made mostly of what matters to the tokeniser.
    fn tangle() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            3 => Just(b'"'), 3 => Just(b','), 2 => Just(b'\n'), 1 => Just(b'\r'), 3 => Just(b'x'),
            1 => any::<u8>(),
        ];
        prop::collection::vec(byte, 0..200)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn slices_cut_anywhere_read_as_the_whole(text in tangle(), step in 1_usize..40) {
            let mut sliced = Vec::new();
            let (mut start, mut end) = (0, 0);
            while start < text.len() {
                end = (end + step).min(text.len());
                let length = cut(&text[start..end], COMMA, end == text.len());
                sliced.extend(records(&text[start..start + length]));
                start += length;
            }
            prop_assert_eq!(sliced, records(&text));
        }

        #[test]
        fn every_byte_is_in_a_cell_or_is_syntax(text in tangle()) {
            let count = |of: &[u8]| of.iter().filter(|it| !b"\",\r\n".contains(it)).count();
            let mut tokeniser = Tokeniser::new(&text, COMMA);
            let (mut cells, mut n_bytes) = (Vec::new(), 0);
            while tokeniser.record(&mut cells).is_some() {
                n_bytes += cells.iter().map(|it| count(it.raw(&text))).sum::<usize>();
            }
            prop_assert_eq!(n_bytes, count(&text));
        }
    }
}
