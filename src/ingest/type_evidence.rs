//! What the values of a column say about its type.
//!
//! Pure. Every value leaves evidence; evidence adds up, whatever the order; and `decide` makes types
//! of the evidence of all values. No value is ever changed to fit: what does not fit makes the
//! column text.

use std::collections::HashSet;

use super::amount::{self, CURRENCIES};
use super::local_dates::Local;
use super::number;
use super::parse::{self, NumberFormat};

/// What was seen among the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TypeEvidence(u128);

impl TypeEvidence {
    /// A value that no other type can hold.
    pub const TEXT: TypeEvidence = TypeEvidence(1);
    /// `true` or `false`.
    pub const BOOL: TypeEvidence = TypeEvidence(1 << 1);
    /// A whole number.
    pub const INT: TypeEvidence = TypeEvidence(1 << 2);
    /// A whole number that a float would round.
    pub const LONG_INT: TypeEvidence = TypeEvidence(1 << 3);
    /// A number with a point.
    pub const POINT: TypeEvidence = TypeEvidence(1 << 4);
    /// A number with an exponent but no point.
    pub const EXPONENT: TypeEvidence = TypeEvidence(1 << 5);
    /// A day.
    pub const DATE: TypeEvidence = TypeEvidence(1 << 6);
    /// A day and a time of day.
    pub const TIMESTAMP: TypeEvidence = TypeEvidence(1 << 7);
    /// A day, a time of day and an offset.
    pub const INSTANT: TypeEvidence = TypeEvidence(1 << 8);
    /// A time of day.
    pub const TIME: TypeEvidence = TypeEvidence(1 << 9);

    /// A day as people write it.
    pub const LOCAL_DATE: TypeEvidence = TypeEvidence(1 << 10);
    /// A day as people write it, and a time of day.
    pub const LOCAL_TIMESTAMP: TypeEvidence = TypeEvidence(1 << 11);
    /// A day that is none as day, month, year.
    pub const NOT_DMY: TypeEvidence = TypeEvidence(1 << 12);
    /// A day that is none as month, day, year.
    pub const NOT_MDY: TypeEvidence = TypeEvidence(1 << 13);
    /// A day that is none as year, month, day.
    pub const NOT_YMD: TypeEvidence = TypeEvidence(1 << 14);
    /// A day with `/` between its parts.
    pub const SLASH: TypeEvidence = TypeEvidence(1 << 15);
    /// A day with `-` between its parts, and not of ISO 8601.
    pub const DASH: TypeEvidence = TypeEvidence(1 << 16);
    /// A day with `.` between its parts.
    pub const DOT: TypeEvidence = TypeEvidence(1 << 17);
    /// A day with blanks between its parts.
    pub const BLANK: TypeEvidence = TypeEvidence(1 << 18);
    /// A day with its month in letters.
    pub const NAMED_MONTH: TypeEvidence = TypeEvidence(1 << 19);
    /// A day with a year of four digits.
    pub const YEAR4: TypeEvidence = TypeEvidence(1 << 20);
    /// A day with a year of two digits.
    pub const YEAR2: TypeEvidence = TypeEvidence(1 << 21);
    /// A time of day after a local day, from 0 to 23 hours.
    pub const CLOCK24: TypeEvidence = TypeEvidence(1 << 22);
    /// A time of day after a local day, with AM or PM.
    pub const CLOCK12: TypeEvidence = TypeEvidence(1 << 23);

    /// A day with its month in digits, and not of ISO 8601.
    pub const NUMBERED_MONTH: TypeEvidence = TypeEvidence(1 << 32);
    /// A day with nothing between its parts: `03JAN2024`.
    pub const JOINED: TypeEvidence = TypeEvidence(1 << 57);
    /// All that days tell as people write them.
    pub const LOCAL_DAYS: TypeEvidence =
        TypeEvidence(((1 << 33) - 1) & !((1 << 10) - 1)).and(Self::JOINED);

    /// A number with marks in it that programs do not write.
    pub const LOCAL_NUMBER: TypeEvidence = TypeEvidence(1 << 40);
    /// Of more digits than a float holds for certain.
    pub const LOCAL_LONG: TypeEvidence = TypeEvidence(1 << 41);
    /// With a comma.
    pub const COMMA: TypeEvidence = TypeEvidence(1 << 42);
    /// With a point as the last mark.
    pub const LAST_POINT: TypeEvidence = TypeEvidence(1 << 43);
    /// With less than three digits before the first mark, or with a fraction.
    pub const SHORT_GROUP: TypeEvidence = TypeEvidence(1 << 44);
    /// `12 %`
    pub const PERCENT: TypeEvidence = TypeEvidence(1 << 45);
    /// `$12`
    pub const CURRENCY: TypeEvidence = TypeEvidence(1 << 46);
    /// `(12)`
    pub const ACCOUNTING: TypeEvidence = TypeEvidence(1 << 47);
    /// All forms of numbers that values rule out.
    pub const NOT_NUMBERS: TypeEvidence = TypeEvidence(0x7f << 33);
    /// All that numbers tell as people write them.
    pub const LOCAL_NUMBERS: TypeEvidence = TypeEvidence((0x7f << 33) | (0x1f << 40));
    /// All that numbers tell as programs write them.
    pub const PLAIN_NUMBERS: TypeEvidence =
        Self::INT.and(Self::LONG_INT).and(Self::POINT).and(Self::EXPONENT).and(Self::NOT_NUMBERS);
    /// All words for yes and no.
    pub const WORDS: TypeEvidence = TypeEvidence(0xffff << 109);

    /// An instant with another offset than zero.
    pub const OFFSET: TypeEvidence = TypeEvidence(1 << 56);
    /// All that days tell, however they are written.
    pub const DAYS: TypeEvidence =
        Self::DATE.and(Self::TIMESTAMP).and(Self::INSTANT).and(Self::OFFSET).and(Self::LOCAL_DAYS);

    /// What numbers tell beside a sign of what they count is as far as this from where it is without.
    const AMOUNT_BITS: u32 = 64;
    /// All currencies.
    const CURRENCIES: TypeEvidence = TypeEvidence(((1 << CURRENCIES.len()) - 1) << 70);
    /// All that numbers tell, however they are written.
    pub const NUMBERS: TypeEvidence = Self::PLAIN_NUMBERS.and(Self::LOCAL_NUMBERS);
    /// All that amounts tell.
    pub const AMOUNTS: TypeEvidence = Self::PERCENT
        .and(Self::CURRENCY)
        .and(Self::ACCOUNTING)
        .and(Self::CURRENCIES)
        .and(TypeEvidence::of_amount(Self::NUMBERS));

    /// A number with a sign of what it counts.
    #[must_use]
    pub const fn of_amount(number: TypeEvidence) -> TypeEvidence {
        TypeEvidence(number.0 << Self::AMOUNT_BITS)
    }

    /// Returns what the numbers of amounts tell, and those without a sign.
    #[must_use]
    pub const fn numbers(self) -> TypeEvidence {
        TypeEvidence((self.0 | (self.0 >> Self::AMOUNT_BITS)) & Self::NUMBERS.0)
    }

    /// Money of the currency at this place of [`CURRENCIES`].
    pub fn currency(at: usize) -> TypeEvidence {
        TypeEvidence(1 << (70 + at))
    }

    /// Returns the first currency that was seen by its place in [`CURRENCIES`], and how many were.
    pub fn currencies(self) -> (Option<usize>, u32) {
        let seen = self.0 & Self::CURRENCIES.0;
        let first = (seen != 0).then(|| seen.trailing_zeros() as usize - 70);
        (first, seen.count_ones())
    }

    /// An instant, as `text` has it.
    #[inline]
    pub fn instant(text: &[u8]) -> TypeEvidence {
        let zeros: [&[u8]; 5] = [b"Z", b"+00:00", b"+0000", b"+00", b" UTC"];
        let is_zero = zeros.iter().any(|it| text.ends_with(it));
        if is_zero {
            TypeEvidence::INSTANT
        } else {
            TypeEvidence::INSTANT.and(TypeEvidence::OFFSET)
        }
    }

    /// A number that is none in the form at this place of
    /// [`NumberForm::ALL`](super::number::NumberForm::ALL).
    pub const fn not_number(at: u32) -> TypeEvidence {
        TypeEvidence(1 << (33 + at))
    }

    /// A word of this pair of [`YES_NO`](parse::YES_NO).
    #[inline]
    pub fn word(pair: usize, is_yes: bool) -> TypeEvidence {
        TypeEvidence(1 << (109 + 2 * pair + usize::from(is_yes)))
    }

    /// A whole number, written plainly.
    #[inline]
    pub fn int(value: i64) -> TypeEvidence {
        if parse::is_long(value) {
            TypeEvidence::from(NumberFormat::LongWhole)
        } else if 1_000 <= value.unsigned_abs() {
            TypeEvidence::from(NumberFormat::WideWhole)
        } else {
            TypeEvidence::INT
        }
    }

    /// The first part of a day with a year of two digits lies in these tens, 3 and above as one.
    #[inline]
    pub fn first_tens(tens: u32) -> TypeEvidence {
        TypeEvidence(1 << (24 + tens.min(3)))
    }

    /// The third part of a day with a year of two digits lies in these tens, 3 and above as one.
    #[inline]
    pub fn third_tens(tens: u32) -> TypeEvidence {
        TypeEvidence(1 << (28 + tens.min(3)))
    }

    /// Returns of how many tens the first and the third parts are that [`TypeEvidence::first_tens`] and
    /// [`TypeEvidence::third_tens`] told.
    pub fn n_tens(self) -> (u32, u32) {
        (((self.0 >> 24) & 0xf).count_ones(), ((self.0 >> 28) & 0xf).count_ones())
    }

    /// Returns whether a value may name a column: it is text, or a word such as `y`.
    pub fn is_name(self) -> bool {
        self.is_settled() || (self.has(Self::WORDS) && self.is_only(Self::WORDS))
    }

    /// Returns what was seen but for `kinds`.
    #[must_use]
    pub const fn without(self, kinds: TypeEvidence) -> TypeEvidence {
        TypeEvidence(self.0 & !kinds.0)
    }

    /// Returns whether any of `kinds` was seen.
    #[inline]
    pub fn has(self, kinds: TypeEvidence) -> bool {
        self.0 & kinds.0 != 0
    }

    /// Returns all that either saw.
    #[must_use]
    pub const fn and(self, other: TypeEvidence) -> TypeEvidence {
        TypeEvidence(self.0 | other.0)
    }

    /// Returns whether nothing but `kinds` was seen.
    pub fn is_only(self, kinds: TypeEvidence) -> bool {
        self.0 & !kinds.0 == 0
    }

    /// Adds what `other` saw.
    #[inline]
    pub fn add(&mut self, other: TypeEvidence) {
        self.0 |= other.0;
    }

    /// Returns whether nothing that is still to come can change the type.
    #[inline]
    pub fn is_settled(self) -> bool {
        self.0 & Self::TEXT.0 != 0
    }
}

impl From<NumberFormat> for TypeEvidence {
    #[inline]
    fn from(written: NumberFormat) -> Self {
        // By place in `NumberForm::ALL`.
        const NOT_COMMA: TypeEvidence = TypeEvidence(0b000_1111 << 33);
        const NOT_GROUPED: TypeEvidence = TypeEvidence(0b111_1110 << 33);
        const NOT_COMMA_NOR_GROUPS: TypeEvidence = TypeEvidence(0b000_1101 << 33);
        match written {
            NumberFormat::Whole => TypeEvidence::INT,
            NumberFormat::WideWhole => TypeEvidence::INT.and(NOT_GROUPED),
            NumberFormat::LongWhole => TypeEvidence::LONG_INT.and(NOT_GROUPED),
            NumberFormat::Point => TypeEvidence::POINT.and(NOT_COMMA),
            NumberFormat::WidePoint => TypeEvidence::POINT.and(NOT_COMMA).and(NOT_GROUPED),
            NumberFormat::GroupPoint => TypeEvidence::POINT.and(NOT_COMMA_NOR_GROUPS),
            NumberFormat::Scientific => TypeEvidence::POINT.and(TypeEvidence::NOT_NUMBERS),
            NumberFormat::Exponent => TypeEvidence::EXPONENT.and(TypeEvidence::NOT_NUMBERS),
        }
    }
}

/// What stands for a missing value.
#[derive(Debug, Clone)]
pub(crate) struct Nulls {
    /// Null in every column, because the user said so.
    told: HashSet<Vec<u8>>,
    /// Null only where the other values are not text: Namibia's code is NA, and people are called
    /// Null.
    usual: &'static [&'static str],
    /// Whether `\N` is null in every column.
    has_backslash: bool,
}

/// What stands for a missing value where the user names nothing.
pub(crate) const USUAL: &[&str] = &[
    "NA", "N/A", "#N/A", "n/a", "NULL", "null", "NaN", "nan", "None", "nil", "-", ".", "?", "\\N",
];
/// Bytes of the longest of them: longer text is not compared.
const USUAL_BYTES_MAX: usize = longest(USUAL);

const fn longest(words: &[&str]) -> usize {
    let (mut longest, mut at) = (0, 0);
    while at < words.len() {
        if longest < words[at].len() {
            longest = words[at].len();
        }
        at += 1;
    }
    longest
}

impl Nulls {
    /// Takes the user's list in place of the usual one, if there is one.
    pub(crate) fn new(told: Option<&[String]>) -> Self {
        Nulls {
            told: told.unwrap_or_default().iter().map(|it| it.clone().into_bytes()).collect(),
            usual: if told.is_some() { &[] } else { USUAL },
            has_backslash: told.is_none(),
        }
    }

    /// Returns what programs write for a number that is none, where nothing stands for what is missing.
    pub(crate) fn of_programs() -> Self {
        Nulls { told: HashSet::new(), usual: &["NaN", "nan"], has_backslash: false }
    }

    /// Returns whether the user named `text` a missing value.
    #[inline]
    pub(crate) fn is_told(&self, text: &[u8]) -> bool {
        !self.told.is_empty() && self.told.contains(text)
    }

    /// Returns whether `text` stands for a missing value even in a column of text: what the user named, and
    /// the `\N` of databases, which nobody is called.
    #[inline]
    pub(crate) fn is_null_text(&self, text: &[u8]) -> bool {
        (text == b"\\N" && self.has_backslash) || self.is_told(text)
    }

    /// Returns whether `text` stands for a missing value in a column that is not text.
    #[inline]
    pub(crate) fn is_null(&self, text: &[u8]) -> bool {
        let text = text.trim_ascii();
        text.is_empty()
            || (text.len() <= USUAL_BYTES_MAX && self.usual.iter().any(|it| it.as_bytes() == text))
            || self.is_told(text)
    }
}

/// Returns what one value says. Blanks around it do not count; `text` has its doubled quotes still.
#[inline]
pub(crate) fn classify(text: &[u8], nulls: &Nulls) -> TypeEvidence {
    let trimmed = text.trim_ascii();
    let Some(&first) = trimmed.first() else { return TypeEvidence::default() };
    let evidence = match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => {
            number(trimmed).or_else(|| temporal(trimmed)).or_else(|| amount::evidence(trimmed))
        }
        b'i' | b'I' if let Some((_, written)) = parse::float(trimmed) => Some(written.into()),
        b'$' | b'(' | 0xc2 | 0xe0 | 0xe2 => amount::evidence(trimmed),
        b't' | b'T' | b'f' | b'F' if parse::bool(trimmed).is_some() => Some(TypeEvidence::BOOL),
        it if it.is_ascii_alphabetic() => {
            let word =
                parse::yes_no(trimmed).map(|(pair, is_yes)| TypeEvidence::word(pair, is_yes));
            word.or_else(|| local(trimmed)).or_else(|| amount::evidence(trimmed))
        }
        _ => None,
    };
    match evidence {
        Some(evidence) if !nulls.is_told(trimmed) => evidence,
        _ if nulls.is_null(text) => TypeEvidence::default(),
        _ => TypeEvidence::TEXT,
    }
}

/// Returns what a number says, however it is written.
#[inline]
pub(crate) fn number(text: &[u8]) -> Option<TypeEvidence> {
    parse::float(text).map(|it| it.1.into()).or_else(|| number::evidence(text))
}

fn temporal(text: &[u8]) -> Option<TypeEvidence> {
    let iso = match text.get(2) {
        Some(b':') => return parse::time(text).map(|_| TypeEvidence::TIME),
        _ if text.len() == 10 => parse::date(text).map(|_| TypeEvidence::DATE),
        _ => parse::timestamp(text).map(|(_, is_instant)| {
            if is_instant { TypeEvidence::instant(text) } else { TypeEvidence::TIMESTAMP }
        }),
    };
    iso.or_else(|| local(text))
}

fn local(text: &[u8]) -> Option<TypeEvidence> {
    Local::scan(text).map(|it| it.evidence())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::proptest;

    use super::{Nulls, TypeEvidence, classify};
    use csv_agent_testing::cases;

    #[test]
    fn only_what_the_user_names_is_null_once_the_user_names_any() {
        let nulls = Nulls::new(Some(&["-99".to_owned()]));
        assert_eq!(classify(b"-99", &nulls), TypeEvidence::default());
        assert_eq!(classify(b"NA", &nulls), TypeEvidence::TEXT);
    }

    proptest! {
        #![proptest_config(cases(5_000))]

        #[test]
        fn whatever_text_arrives_it_is_classified(
            text in "(20[0-9]{2}-[0-9]{2}-[0-9]{2}[ T])?[0-9a-fT:.,eEZ+ \u{7f}é-]{0,20}",
        ) {
            classify(text.as_bytes(), &Nulls::new(None));
        }
    }
}
