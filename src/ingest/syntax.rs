//! How records are split into cells: the delimiter, the quote, its escape, and blanks around them.
//!
//! Pure, small and copied freely. [`super::dialect`] detects it, [`super::records`] applies it.

/// The usual quote.
pub(crate) const QUOTE: u8 = b'"';

/// Maximum bytes of a delimiter: longer ones are not in use.
pub(crate) const DELIMITER_BYTES_MAX: usize = 8;

/// The separator of cells: a short text, or nothing in a single-column file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delimiter {
    bytes: [u8; DELIMITER_BYTES_MAX],
    length: u8,
}

impl Delimiter {
    /// The delimiter of a single-column file.
    pub(crate) const NONE: Delimiter = Delimiter { bytes: [0; DELIMITER_BYTES_MAX], length: 0 };

    /// Returns the delimiter, if `text` can be one: up to [`DELIMITER_BYTES_MAX`] bytes, without a line
    /// end, an ASCII letter or digit, or `"`.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let is_syntax = |it: &u8| !it.is_ascii_alphanumeric() && !b"\0\r\n\"".contains(it);
        let fits = !text.is_empty() && text.len() <= DELIMITER_BYTES_MAX;
        let mut bytes = [0; DELIMITER_BYTES_MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        let length = u8::try_from(text.len()).ok()?;
        (fits && text.bytes().all(|it| is_syntax(&it))).then_some(Delimiter { bytes, length })
    }

    /// Returns its bytes, which are UTF-8; empty in a single-column file.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Returns the text, `None` in a single-column file.
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes()).ok().filter(|it| !it.is_empty())
    }

    /// Line feeds are always tested first, so a line feed represents no delimiter.
    #[inline]
    pub(crate) fn first_byte(&self) -> u8 {
        self.bytes().first().copied().unwrap_or(b'\n')
    }
}

/// Returns whether `text` can separate cells.
pub fn is_delimiter(text: &str) -> bool {
    Delimiter::new(text).is_some()
}

/// The quote around cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// Nothing.
    None,
    /// This ASCII character.
    Char(u8),
}

impl Quote {
    /// Returns the character, if there is one.
    pub fn char(self) -> Option<u8> {
        match self {
            Quote::Char(quote) => Some(quote),
            Quote::None => None,
        }
    }
}

/// The escape of a quote within quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// Doubled.
    Doubled,
    /// With this ASCII character before it; the character is doubled to represent itself. In a file
    /// without quotes it escapes delimiters and line ends that are text.
    Char(u8),
    /// None: two quotes are two quotes.
    None,
}

impl Escape {
    /// Returns the escape character before a quote, if any.
    pub fn char(self) -> Option<u8> {
        match self {
            Escape::Char(escape) => Some(escape),
            Escape::Doubled | Escape::None => None,
        }
    }
}

/// The meaning of blanks after a delimiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blanks {
    Kept,
    /// Ignored between a delimiter and a quote; text elsewhere.
    AroundQuotes,
    /// The first one, if any, belongs to the delimiter; those around quotes are ignored.
    OneBehindDelimiter,
    /// The delimiter consists of blanks, and a run of them is one delimiter; blanks at the ends of a
    /// line are ignored.
    Aligned,
}

/// Usual delimiters, in order of preference for equal scores.
pub(crate) const USUAL_DELIMITERS: [&str; 4] = [",", ";", "\t", "|"];

/// How records are split into cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Syntax {
    pub delimiter: Delimiter,
    /// The ASCII quote, if any.
    pub quote: Option<u8>,
    /// The escape within quotes.
    pub escape: Escape,
    /// The meaning of blanks after delimiters.
    pub blanks: Blanks,
    /// A record is one line, whatever its cells contain: it is a row of a non-text source.
    pub is_of_rows: bool,
}

impl Syntax {
    /// Returns the usual syntax with a delimiter: `"` as the quote, doubled to escape it.
    pub(crate) fn usual(delimiter: Delimiter) -> Self {
        let (escape, blanks) = (Escape::Doubled, Blanks::Kept);
        Syntax { delimiter, quote: Some(QUOTE), escape, blanks, is_of_rows: false }
    }

    /// Returns the syntax that [`Spool`](super::spool::Spool) writes.
    pub(crate) fn of_rows() -> Self {
        let comma = Delimiter::new(",").unwrap_or(Delimiter::NONE);
        Syntax { is_of_rows: true, ..Syntax::usual(comma) }
    }

    /// Returns the delimiter with the blank that belongs to it; `None` in a single-column file.
    pub(crate) fn delimiter_as_written(&self) -> Option<String> {
        let blank = if self.blanks == Blanks::OneBehindDelimiter { " " } else { "" };
        Some(format!("{}{blank}", self.delimiter.text()?))
    }

    /// Returns whether this is the usual syntax with a one-byte delimiter, which has a fast path.
    pub(crate) fn is_plain(&self) -> bool {
        let Syntax { is_of_rows, .. } = *self;
        self.delimiter.length <= 1
            && *self == Syntax { is_of_rows, ..Syntax::usual(self.delimiter) }
    }

    /// Returns the number of ignorable blanks at the start of `text`, if a quote follows them.
    #[inline]
    pub(crate) fn n_blanks(&self, text: &[u8]) -> usize {
        if self.blanks == Blanks::Kept { 0 } else { self.n_blanks_behind(text) }
    }

    /// Returns the number of blanks at the start of `text`, which are ignored after a closing quote.
    #[inline]
    pub(crate) fn n_blanks_behind(&self, text: &[u8]) -> usize {
        let is_blank = |it: &&u8| matches!(it, b' ' | b'\t') && **it != self.delimiter.first_byte();
        text.iter().take_while(is_blank).count()
    }
}

/// Returns whether a text has a usual delimiter or a quote. A comma between two digits may be a decimal
/// mark.
pub(crate) fn has_sign(text: &[u8]) -> bool {
    let is_digit =
        |at: Option<usize>| at.and_then(|it| text.get(it)).is_some_and(u8::is_ascii_digit);
    let is_decimal = |at: usize| is_digit(at.checked_sub(1)) && is_digit(at.checked_add(1));
    memchr::memchr3(b';', b'|', b'"', text).is_some()
        || memchr::memchr(b'\t', text).is_some()
        || memchr::memchr_iter(b',', text).any(|it| !is_decimal(it))
}

#[cfg(test)]
mod tests {
    use super::{Delimiter, Syntax};

    #[test]
    fn a_delimiter_is_a_short_text_of_signs() {
        for text in [",", "\t", " ", "||", ", ", "::", "§", "\u{1}"] {
            assert_eq!(
                Delimiter::new(text).and_then(|it| it.text().map(str::to_owned)),
                Some(text.to_owned())
            );
        }
        for text in ["", "a", "7", "\"", "\n", "\r", "\0", "a|", "123456789"] {
            assert_eq!(Delimiter::new(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_fast_path_is_for_one_byte() {
        let is_plain = |text| Delimiter::new(text).map(|it| Syntax::usual(it).is_plain());
        assert_eq!(
            [is_plain(","), is_plain("||"), is_plain("§")],
            [Some(true), Some(false), Some(false)]
        );
        assert!(Syntax::usual(Delimiter::NONE).is_plain());
    }
}
