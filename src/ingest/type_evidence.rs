//! The evidence that the values of a column give about its type.
//!
//! Pure. Every value yields evidence; evidence accumulates in any order; and `decide` derives types
//! from the evidence of all values. No value is ever changed to fit: one that does not fit makes the
//! column text.

use std::collections::HashSet;

use super::amount::{self, CURRENCIES};
use super::local_dates::Local;
use super::number;
use super::parse::{self, NumberFormat};

/// The evidence seen among the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TypeEvidence(u128);

impl TypeEvidence {
    /// A value that no other type can represent.
    pub(crate) const TEXT: TypeEvidence = TypeEvidence(1);
    /// `true` or `false`.
    pub(crate) const BOOL: TypeEvidence = TypeEvidence(1 << 1);
    /// A whole number.
    pub(crate) const INT: TypeEvidence = TypeEvidence(1 << 2);
    /// A whole number that a float would round.
    pub(crate) const LONG_INT: TypeEvidence = TypeEvidence(1 << 3);
    /// A number with a point.
    pub(crate) const POINT: TypeEvidence = TypeEvidence(1 << 4);
    /// A number with an exponent but no point.
    pub(crate) const EXPONENT: TypeEvidence = TypeEvidence(1 << 5);
    /// A date.
    pub(crate) const DATE: TypeEvidence = TypeEvidence(1 << 6);
    /// A date and a time of day.
    pub(crate) const TIMESTAMP: TypeEvidence = TypeEvidence(1 << 7);
    /// A date, a time of day and an offset.
    pub(crate) const INSTANT: TypeEvidence = TypeEvidence(1 << 8);
    /// A time of day.
    pub(crate) const TIME: TypeEvidence = TypeEvidence(1 << 9);

    /// A date in a local form.
    pub(crate) const LOCAL_DATE: TypeEvidence = TypeEvidence(1 << 10);
    /// A date in a local form, and a time of day.
    pub(crate) const LOCAL_TIMESTAMP: TypeEvidence = TypeEvidence(1 << 11);
    /// A date that is invalid as day, month, year.
    pub(crate) const NOT_DMY: TypeEvidence = TypeEvidence(1 << 12);
    /// A date that is invalid as month, day, year.
    pub(crate) const NOT_MDY: TypeEvidence = TypeEvidence(1 << 13);
    /// A date that is invalid as year, month, day.
    pub(crate) const NOT_YMD: TypeEvidence = TypeEvidence(1 << 14);
    /// A date with `/` between its parts.
    pub(crate) const SLASH: TypeEvidence = TypeEvidence(1 << 15);
    /// A date with `-` between its parts that is not ISO 8601.
    pub(crate) const DASH: TypeEvidence = TypeEvidence(1 << 16);
    /// A date with `.` between its parts.
    pub(crate) const DOT: TypeEvidence = TypeEvidence(1 << 17);
    /// A date with blanks between its parts.
    pub(crate) const BLANK: TypeEvidence = TypeEvidence(1 << 18);
    /// A date with a named month.
    pub(crate) const NAMED_MONTH: TypeEvidence = TypeEvidence(1 << 19);
    /// A date with a four-digit year.
    pub(crate) const YEAR4: TypeEvidence = TypeEvidence(1 << 20);
    /// A date with a two-digit year.
    pub(crate) const YEAR2: TypeEvidence = TypeEvidence(1 << 21);
    /// A time of day after a local date, from 0 to 23 hours.
    pub(crate) const CLOCK24: TypeEvidence = TypeEvidence(1 << 22);
    /// A time of day after a local date, with AM or PM.
    pub(crate) const CLOCK12: TypeEvidence = TypeEvidence(1 << 23);

    /// A date with a numeric month that is not ISO 8601.
    pub(crate) const NUMBERED_MONTH: TypeEvidence = TypeEvidence(1 << 32);
    /// A date without separators: `03JAN2024`.
    pub(crate) const JOINED: TypeEvidence = TypeEvidence(1 << 57);
    /// All evidence from dates in local forms.
    pub(crate) const LOCAL_DAYS: TypeEvidence =
        TypeEvidence(((1 << 33) - 1) & !((1 << 10) - 1)).and(Self::JOINED);

    /// A number with marks that programs do not write.
    pub(crate) const LOCAL_NUMBER: TypeEvidence = TypeEvidence(1 << 40);
    /// With more digits than a float certainly represents.
    pub(crate) const LOCAL_LONG: TypeEvidence = TypeEvidence(1 << 41);
    /// With a comma.
    pub(crate) const COMMA: TypeEvidence = TypeEvidence(1 << 42);
    /// With a point as the last mark.
    pub(crate) const LAST_POINT: TypeEvidence = TypeEvidence(1 << 43);
    /// With fewer than three digits before the first mark, or with a fraction.
    pub(crate) const SHORT_GROUP: TypeEvidence = TypeEvidence(1 << 44);
    /// `12 %`
    pub(crate) const PERCENT: TypeEvidence = TypeEvidence(1 << 45);
    /// `$12`
    pub(crate) const CURRENCY: TypeEvidence = TypeEvidence(1 << 46);
    /// `(12)`
    pub(crate) const ACCOUNTING: TypeEvidence = TypeEvidence(1 << 47);
    /// With a point and three digits after it, the last of which is zero: `12.500`.
    pub(crate) const GROUP_ZERO: TypeEvidence = TypeEvidence(1 << 61);
    /// All number forms that values rule out.
    pub(crate) const NOT_NUMBERS: TypeEvidence = TypeEvidence(0x7f << 33);
    /// All evidence from numbers in local forms.
    pub(crate) const LOCAL_NUMBERS: TypeEvidence = TypeEvidence((0x7f << 33) | (0x1f << 40));
    /// All evidence from numbers in the form that programs write.
    pub(crate) const PLAIN_NUMBERS: TypeEvidence = Self::INT
        .and(Self::LONG_INT)
        .and(Self::POINT)
        .and(Self::EXPONENT)
        .and(Self::NOT_NUMBERS)
        .and(Self::GROUP_ZERO);
    /// All words for yes and no.
    pub(crate) const WORDS: TypeEvidence = TypeEvidence(0xffff << 109);

    /// An instant with a non-zero offset.
    pub(crate) const OFFSET: TypeEvidence = TypeEvidence(1 << 56);
    /// All evidence from dates, in any form.
    pub(crate) const DAYS: TypeEvidence =
        Self::DATE.and(Self::TIMESTAMP).and(Self::INSTANT).and(Self::OFFSET).and(Self::LOCAL_DAYS);

    /// The evidence from numbers with a unit sign is shifted by this many bits from that without.
    const AMOUNT_BITS: u32 = 64;
    const CURRENCIES: TypeEvidence = TypeEvidence(((1 << CURRENCIES.len()) - 1) << 70);
    /// All evidence from numbers, in any form.
    pub(crate) const NUMBERS: TypeEvidence = Self::PLAIN_NUMBERS.and(Self::LOCAL_NUMBERS);
    /// All evidence from amounts.
    pub(crate) const AMOUNTS: TypeEvidence = Self::PERCENT
        .and(Self::CURRENCY)
        .and(Self::ACCOUNTING)
        .and(Self::CURRENCIES)
        .and(TypeEvidence::of_amount(Self::NUMBERS));

    /// A number with a unit sign.
    #[must_use]
    pub(crate) const fn of_amount(number: TypeEvidence) -> TypeEvidence {
        TypeEvidence(number.0 << Self::AMOUNT_BITS)
    }

    /// Returns the evidence from numbers, both in amounts and without a unit sign.
    #[must_use]
    pub(crate) const fn numbers(self) -> TypeEvidence {
        TypeEvidence((self.0 | (self.0 >> Self::AMOUNT_BITS)) & Self::NUMBERS.0)
    }

    /// Money of the currency at this index of [`CURRENCIES`].
    pub(crate) fn currency(at: usize) -> TypeEvidence {
        TypeEvidence(1 << (70 + at))
    }

    /// Returns the index in [`CURRENCIES`] of the first currency seen, and the number of currencies
    /// seen.
    pub(crate) fn currencies(self) -> (Option<usize>, u32) {
        let seen = self.0 & Self::CURRENCIES.0;
        let first = (seen != 0).then(|| seen.trailing_zeros() as usize - 70);
        (first, seen.count_ones())
    }

    /// The evidence from an instant written as `text`.
    #[inline]
    pub(crate) fn instant(text: &[u8]) -> TypeEvidence {
        let zeros: [&[u8]; 5] = [b"Z", b"+00:00", b"+0000", b"+00", b" UTC"];
        let is_zero = zeros.iter().any(|it| text.ends_with(it));
        if is_zero {
            TypeEvidence::INSTANT
        } else {
            TypeEvidence::INSTANT.and(TypeEvidence::OFFSET)
        }
    }

    /// A number that is invalid in the form at this index of
    /// [`NumberForm::ALL`](super::number::NumberForm::ALL).
    pub(crate) const fn not_number(at: u32) -> TypeEvidence {
        TypeEvidence(1 << (33 + at))
    }

    /// A word of this pair of [`YES_NO`](parse::YES_NO).
    #[inline]
    pub(crate) fn word(pair: usize, is_yes: bool) -> TypeEvidence {
        TypeEvidence(1 << (109 + 2 * pair + usize::from(is_yes)))
    }

    /// A whole number, written plainly.
    #[inline]
    pub(crate) fn int(value: i64) -> TypeEvidence {
        if parse::is_long(value) {
            TypeEvidence::from(NumberFormat::LongWhole)
        } else if 1_000 <= value.unsigned_abs() {
            TypeEvidence::from(NumberFormat::WideWhole)
        } else {
            TypeEvidence::INT
        }
    }

    /// The tens digit of the first part of a date with a two-digit year; 3 and above count as one.
    #[inline]
    pub(crate) fn first_tens(tens: u32) -> TypeEvidence {
        TypeEvidence(1 << (24 + tens.min(3)))
    }

    /// The tens digit of the third part of a date with a two-digit year; 3 and above count as one.
    #[inline]
    pub(crate) fn third_tens(tens: u32) -> TypeEvidence {
        TypeEvidence(1 << (28 + tens.min(3)))
    }

    /// Returns how many tens occurred in the first and the third parts, as recorded by
    /// [`TypeEvidence::first_tens`] and [`TypeEvidence::third_tens`].
    pub(crate) fn n_tens(self) -> (u32, u32) {
        (((self.0 >> 24) & 0xf).count_ones(), ((self.0 >> 28) & 0xf).count_ones())
    }

    /// Returns whether a value may name a column: it is text, or a word such as `y`.
    pub(crate) fn is_name(self) -> bool {
        self.is_settled() || (self.has(Self::WORDS) && self.is_only(Self::WORDS))
    }

    /// Returns the evidence without `kinds`.
    #[must_use]
    pub(crate) const fn without(self, kinds: TypeEvidence) -> TypeEvidence {
        TypeEvidence(self.0 & !kinds.0)
    }

    /// Returns the evidence of `kinds` alone.
    #[must_use]
    pub(crate) const fn of_kinds(self, kinds: TypeEvidence) -> TypeEvidence {
        TypeEvidence(self.0 & kinds.0)
    }

    /// Returns whether any of `kinds` was seen.
    #[inline]
    pub(crate) fn has(self, kinds: TypeEvidence) -> bool {
        self.0 & kinds.0 != 0
    }

    /// Returns the union of both.
    #[must_use]
    pub(crate) const fn and(self, other: TypeEvidence) -> TypeEvidence {
        TypeEvidence(self.0 | other.0)
    }

    /// Returns whether only `kinds` were seen.
    pub(crate) fn is_only(self, kinds: TypeEvidence) -> bool {
        self.0 & !kinds.0 == 0
    }

    /// Adds the evidence of `other`.
    #[inline]
    pub(crate) fn add(&mut self, other: TypeEvidence) {
        self.0 |= other.0;
    }

    /// Returns whether no further value can change the type.
    #[inline]
    pub(crate) fn is_settled(self) -> bool {
        self.0 & Self::TEXT.0 != 0
    }
}

impl From<NumberFormat> for TypeEvidence {
    #[inline]
    fn from(written: NumberFormat) -> Self {
        // By index in `NumberForm::ALL`.
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
            NumberFormat::GroupZero => {
                TypeEvidence::POINT.and(NOT_COMMA_NOR_GROUPS).and(TypeEvidence::GROUP_ZERO)
            }
            NumberFormat::Scientific => TypeEvidence::POINT.and(TypeEvidence::NOT_NUMBERS),
            NumberFormat::Exponent => TypeEvidence::EXPONENT.and(TypeEvidence::NOT_NUMBERS),
        }
    }
}

/// The markers of a missing value.
#[derive(Debug, Clone)]
pub(crate) struct Nulls {
    /// Null in every column, because the user named it.
    told: HashSet<Vec<u8>>,
    /// Null only where the other values are not text: Namibia's code is NA, and some people are named
    /// Null.
    usual: &'static [&'static str],
    /// Whether `\N` is null in every column.
    has_backslash: bool,
}

/// The markers of a missing value when the user names none.
pub(crate) const USUAL: &[&str] = &[
    "NA", "N/A", "#N/A", "n/a", "NULL", "null", "NaN", "NAN", "nan", "None", "nil", "-", ".", "?",
    "\\N",
];
/// Bytes of the longest marker: longer text is not compared.
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
    /// Uses the user's list instead of the usual one, if there is one.
    pub(crate) fn new(told: Option<&[String]>) -> Self {
        Nulls {
            told: told.unwrap_or_default().iter().map(|it| it.clone().into_bytes()).collect(),
            usual: if told.is_some() { &[] } else { USUAL },
            has_backslash: told.is_none(),
        }
    }

    /// Returns the NaN spellings of programs, for files without a marker for missing values.
    pub(crate) fn of_programs() -> Self {
        Nulls { told: HashSet::new(), usual: &["NaN", "nan"], has_backslash: false }
    }

    /// Returns whether the user named `text` as a missing value.
    #[inline]
    pub(crate) fn is_told(&self, text: &[u8]) -> bool {
        !self.told.is_empty() && self.told.contains(text)
    }

    /// Returns whether `text` means a missing value even in a text column: the values that the user
    /// named, and the `\N` of databases, which is never a real value.
    #[inline]
    pub(crate) fn is_null_text(&self, text: &[u8]) -> bool {
        (text == b"\\N" && self.has_backslash) || self.is_told(text)
    }

    /// Returns whether `text` means a missing value in a column that is not text.
    #[inline]
    pub(crate) fn is_null(&self, text: &[u8]) -> bool {
        let text = text.trim_ascii();
        text.is_empty()
            || (text.len() <= USUAL_BYTES_MAX && self.usual.iter().any(|it| it.as_bytes() == text))
            || self.is_told(text)
    }
}

/// Returns the evidence of one value. Surrounding blanks are ignored; quotes in `text` are still
/// doubled.
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

/// Returns the evidence of a number in any form.
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
