//! Finding closing quotes.
//!
//! Pure. Within quotes, a quote closes the cell if a delimiter, a line end or the end of the text
//! follows, possibly after blanks; otherwise it is text. An unclosed quote is text, and so is one
//! followed by another cell that begins with a quote.

use memchr::memchr2;

use csv_agent_types::limits::QUOTED_BYTES_MAX;

use super::delimiter_search::Near;
use super::syntax::{Escape, QUOTE, Syntax};

/// U+FEFF, which may begin a file. In concatenated files it also occurs in the middle.
pub(crate) const BYTE_ORDER_MARK: &[u8; 3] = b"\xef\xbb\xbf";

/// Where an opening quote is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Close {
    /// At this position; escapes may occur between the quotes.
    At { at: usize, is_escaped: bool },
    /// Possibly beyond the available bytes.
    Behind,
    /// Nowhere: the opening quote is text.
    Never,
}

/// Whether a cell ends at a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellEnd {
    Here,
    NotHere,
    /// The available bytes do not show it.
    Behind,
}

/// Finds closing quotes, visiting each byte once even when many quotes are unclosed.
pub(crate) struct Quotes<'a> {
    bytes: &'a [u8],
    syntax: Syntax,
    delimiter: u8,
    quote: u8,
    is_end: bool,
    near: Near<'a>,
    /// No quote before this position closes one that was opened before it, except in the run of quotes
    /// that begins with the opening one.
    searched: usize,
}

impl<'a> Quotes<'a> {
    /// Prepares to search `bytes`; `is_end` means that nothing follows.
    pub(crate) fn new(bytes: &'a [u8], syntax: Syntax, is_end: bool) -> Self {
        let delimiter = syntax.delimiter.first_byte();
        let quote = syntax.quote.unwrap_or(QUOTE);
        let near = Near::new(bytes, quote);
        Quotes { bytes, syntax, delimiter, quote, is_end, near, searched: 0 }
    }

    /// Returns the first quote at or after `from`.
    #[inline]
    pub(crate) fn next(&mut self, from: usize) -> Option<usize> {
        self.near.next(from, self.bytes.len())
    }

    /// Returns whether a quote outside quotes begins a cell of the plain syntax.
    pub(crate) fn opens(&self, quote: usize) -> bool {
        quote == 0 || self.ends_cell(self.bytes[quote - 1]) || self.follows_mark(quote)
    }

    /// Returns whether only a byte order mark is between the beginning of a line and a position.
    fn follows_mark(&self, at: usize) -> bool {
        let before = self.bytes[..at].strip_suffix(BYTE_ORDER_MARK);
        before.is_some_and(|it| it.last().is_none_or(|it| matches!(it, b'\n' | b'\r')))
    }

    #[inline]
    fn ends_cell(&self, byte: u8) -> bool {
        byte == self.delimiter || byte == b'\n' || byte == b'\r'
    }

    #[inline]
    fn end_at<const PLAIN: bool>(&self, at: usize) -> CellEnd {
        if !PLAIN {
            return self.general_end_at(at);
        }
        match self.bytes.get(at) {
            Some(it) if self.ends_cell(*it) => CellEnd::Here,
            Some(b' ' | b'\t') => self.general_end_at(at),
            Some(_) => CellEnd::NotHere,
            None if self.is_end => CellEnd::Here,
            None => CellEnd::Behind,
        }
    }

    fn general_end_at(&self, at: usize) -> CellEnd {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let rest = &rest[self.syntax.n_blanks_behind(rest)..];
        let delimiter = self.syntax.delimiter.bytes();
        match rest.first() {
            Some(b'\n' | b'\r') => CellEnd::Here,
            None if self.is_end => CellEnd::Here,
            None => CellEnd::Behind,
            Some(_) if delimiter.is_empty() => CellEnd::NotHere,
            Some(_) if rest.starts_with(delimiter) => CellEnd::Here,
            Some(_) if !self.is_end && delimiter.starts_with(rest) => CellEnd::Behind,
            Some(_) => CellEnd::NotHere,
        }
    }

    /// Finds the quote that closes the one at `open`.
    #[inline]
    pub(crate) fn close<const PLAIN: bool>(&mut self, open: usize) -> Close {
        if PLAIN || self.syntax.escape == Escape::Doubled {
            self.close_doubled::<PLAIN>(open)
        } else {
            self.close_escaped(open)
        }
    }

    #[inline]
    fn close_doubled<const PLAIN: bool>(&mut self, open: usize) -> Close {
        let quote_byte = self.quote;
        let mut is_escaped = false;
        let mut from = open + 1;
        if open < self.searched {
            // A search for an earlier opening quote has already passed this position without success.
            // After the run that begins here, it saw the same pairs as this one would.
            let run = self.bytes[open..].iter().take_while(|it| **it == quote_byte).count();
            let behind = open + run;
            if run % 2 == 0 && self.end_at::<PLAIN>(behind) != CellEnd::NotHere {
                return self.found::<PLAIN>(behind - 1, 2 < run);
            }
            from = self.searched.max(behind);
            is_escaped = true;
        }
        let stop = self.stop(open);
        // Undoubled quotes within the cell, as in `"x "y""`: after the first of a pair, two quotes at
        // the end are the second of the pair and the closing one.
        let mut is_bare_open = false;
        while let Some(quote) = self.near.next(from, stop) {
            if self.bytes.get(quote + 1) == Some(&quote_byte) {
                if is_bare_open && self.end_at::<PLAIN>(quote + 2) != CellEnd::NotHere {
                    return self.found::<PLAIN>(quote + 1, is_escaped);
                }
                is_escaped = true;
                from = quote + 2;
            } else if self.end_at::<PLAIN>(quote + 1) == CellEnd::NotHere {
                if self.follows_delimiter::<PLAIN>(quote) {
                    return self.overtaken(quote);
                }
                is_bare_open = !is_bare_open;
                from = quote + 1;
            } else {
                return self.found::<PLAIN>(quote, is_escaped);
            }
        }
        self.not_found(from, stop)
    }

    fn close_escaped(&mut self, open: usize) -> Close {
        let escape = match self.syntax.escape {
            Escape::Char(escape) => escape,
            Escape::Doubled | Escape::None => self.quote,
        };
        // A search from an earlier opening quote read the bytes after this one in the same way, since
        // no escape precedes the beginning of a cell.
        let mut from = self.searched.max(open + 1);
        let mut is_escaped = open < self.searched;
        let stop = self.stop(open);
        while let Some(at) =
            self.bytes.get(from..stop).and_then(|it| memchr2(self.quote, escape, it))
        {
            let found = from + at;
            if self.bytes[found] == escape && escape != self.quote {
                is_escaped = true;
                from = found + 2;
            } else if self.end_at::<false>(found + 1) == CellEnd::NotHere {
                if self.follows_delimiter::<false>(found) {
                    return self.overtaken(found);
                }
                from = found + 1;
            } else {
                return self.found::<false>(found, is_escaped);
            }
        }
        self.not_found(from, stop)
    }

    #[inline]
    fn follows_delimiter<const PLAIN: bool>(&self, quote: usize) -> bool {
        if PLAIN {
            return self.bytes[quote - 1] == self.delimiter;
        }
        let delimiter = self.syntax.delimiter.bytes();
        !delimiter.is_empty() && self.bytes[..quote].ends_with(delimiter)
    }

    /// A quote that begins a cell shows that the previous one was never closed.
    fn overtaken(&mut self, quote: usize) -> Close {
        self.searched = quote;
        Close::Never
    }

    fn stop(&self, open: usize) -> usize {
        self.bytes.len().min(open.saturating_add(QUOTED_BYTES_MAX))
    }

    fn not_found(&mut self, from: usize, stop: usize) -> Close {
        self.searched = from.max(stop);
        let is_behind = stop == self.bytes.len() && !self.is_end;
        if is_behind { Close::Behind } else { Close::Never }
    }

    /// The last available byte may be the first of a doubled quote.
    #[inline]
    fn found<const PLAIN: bool>(&self, at: usize, is_escaped: bool) -> Close {
        match self.end_at::<PLAIN>(at + 1) {
            CellEnd::Behind => Close::Behind,
            CellEnd::Here | CellEnd::NotHere => Close::At { at, is_escaped },
        }
    }
}
