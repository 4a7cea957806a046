//! What tells cells apart: the delimiter, the quote, its escape, and blanks around them.
//!
//! Pure, small and copied freely. [`super::dialect`] finds it out, [`super::records`] follows it.

/// The usual quote.
pub(crate) const QUOTE: u8 = b'"';

/// Bytes of a delimiter, at most: longer ones are not in use.
pub(crate) const DELIMITER_BYTES_MAX: usize = 8;

/// What separates cells: a short text, or nothing in a file of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delimiter {
    bytes: [u8; DELIMITER_BYTES_MAX],
    length: u8,
}

impl Delimiter {
    /// A file of one column.
    pub(crate) const NONE: Delimiter = Delimiter { bytes: [0; DELIMITER_BYTES_MAX], length: 0 };

    /// Returns the delimiter, if `text` can be one: up to [`DELIMITER_BYTES_MAX`] bytes, no line
    /// end, no letter or digit of ASCII, no `"`.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let is_syntax = |it: &u8| !it.is_ascii_alphanumeric() && !b"\0\r\n\"".contains(it);
        let fits = !text.is_empty() && text.len() <= DELIMITER_BYTES_MAX;
        let mut bytes = [0; DELIMITER_BYTES_MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        let length = u8::try_from(text.len()).ok()?;
        (fits && text.bytes().all(|it| is_syntax(&it))).then_some(Delimiter { bytes, length })
    }

    /// Returns its bytes, which are UTF-8; none in a file of one column.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// Returns the text, `None` in a file of one column.
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes()).ok().filter(|it| !it.is_empty())
    }

    /// A line feed is tested for first wherever bytes are told apart, so it stands for none.
    #[inline]
    pub(crate) fn first_byte(&self) -> u8 {
        self.bytes().first().copied().unwrap_or(b'\n')
    }
}

/// Returns whether `text` can separate cells.
pub fn is_delimiter(text: &str) -> bool {
    Delimiter::new(text).is_some()
}

/// What cells are quoted with.
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

/// How a quote is written within quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escape {
    /// Twice.
    Doubled,
    /// Behind this ASCII character, which stands for itself when it stands there twice. In a file
    /// without quotes it goes before delimiters and line ends that are text.
    Char(u8),
    /// Not at all: two quotes are two.
    None,
}

impl Escape {
    /// Returns the character that goes before a quote, where one does.
    pub fn char(self) -> Option<u8> {
        match self {
            Escape::Char(escape) => Some(escape),
            Escape::Doubled | Escape::None => None,
        }
    }
}

/// What blanks behind a delimiter are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Blanks {
    /// Text.
    Kept,
    /// Nothing where they stand between a delimiter and a quote; text elsewhere.
    AroundQuotes,
    /// The first one belongs to the delimiter, if there is one; those around quotes are nothing.
    OneBehindDelimiter,
    /// The delimiter is of blanks, and all that stand there in a row are one; those at the ends of a
    /// line are nothing.
    Aligned,
}

/// How cells are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Syntax {
    /// Between cells.
    pub delimiter: Delimiter,
    /// An ASCII character around cells, if any is.
    pub quote: Option<u8>,
    /// Within quotes.
    pub escape: Escape,
    /// Behind delimiters.
    pub blanks: Blanks,
    /// A record is one line, whatever its cells hold: it is a row of something else than text.
    pub is_of_rows: bool,
}

impl Syntax {
    /// Returns the usual syntax with a delimiter: `"` quotes, and is doubled.
    pub(crate) fn usual(delimiter: Delimiter) -> Self {
        let (escape, blanks) = (Escape::Doubled, Blanks::Kept);
        Syntax { delimiter, quote: Some(QUOTE), escape, blanks, is_of_rows: false }
    }

    /// Returns the syntax of what [`Spool`](super::spool::Spool) writes.
    pub(crate) fn of_rows() -> Self {
        let comma = Delimiter::new(",").unwrap_or(Delimiter::NONE);
        Syntax { is_of_rows: true, ..Syntax::usual(comma) }
    }

    /// Returns the delimiter with the blank that belongs to it; `None` in a file of one column.
    pub(crate) fn delimiter_as_written(&self) -> Option<String> {
        let blank = if self.blanks == Blanks::OneBehindDelimiter { " " } else { "" };
        Some(format!("{}{blank}", self.delimiter.text()?))
    }

    /// Returns whether this is the usual syntax with a delimiter of one byte, for which there is a
    /// fast path.
    pub(crate) fn is_plain(&self) -> bool {
        let Syntax { is_of_rows, .. } = *self;
        self.delimiter.length <= 1
            && *self == Syntax { is_of_rows, ..Syntax::usual(self.delimiter) }
    }

    /// Returns how many blanks of no meaning `text` begins with, should a quote follow them.
    #[inline]
    pub(crate) fn n_blanks(&self, text: &[u8]) -> usize {
        if self.blanks == Blanks::Kept { 0 } else { self.n_blanks_behind(text) }
    }

    /// Returns how many blanks `text` begins with, which mean nothing behind a closing quote.
    #[inline]
    pub(crate) fn n_blanks_behind(&self, text: &[u8]) -> usize {
        let is_blank = |it: &&u8| matches!(it, b' ' | b'\t') && **it != self.delimiter.first_byte();
        text.iter().take_while(is_blank).count()
    }
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
