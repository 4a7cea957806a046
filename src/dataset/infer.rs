//! What the values of a column say about its type.
//!
//! Pure. Every value leaves evidence; evidence adds up, whatever the order; and the evidence of all
//! values decides the type. No value is ever changed to fit: what does not fit makes the column text.

use std::collections::HashSet;

use super::parse::{self, Written};
use crate::catalog::DType;

/// What was seen among the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evidence(u16);

impl Evidence {
    /// A value that no other type can hold.
    pub const TEXT: Evidence = Evidence(1);
    /// `true` or `false`.
    pub const BOOL: Evidence = Evidence(1 << 1);
    /// A whole number.
    pub const INT: Evidence = Evidence(1 << 2);
    /// A whole number that a float would round.
    pub const LONG_INT: Evidence = Evidence(1 << 3);
    /// A number with a point.
    pub const POINT: Evidence = Evidence(1 << 4);
    /// A number with an exponent but no point.
    pub const EXPONENT: Evidence = Evidence(1 << 5);
    /// A day.
    pub const DATE: Evidence = Evidence(1 << 6);
    /// A day and a time of day.
    pub const TIMESTAMP: Evidence = Evidence(1 << 7);
    /// A day, a time of day and an offset.
    pub const INSTANT: Evidence = Evidence(1 << 8);
    /// A time of day.
    pub const TIME: Evidence = Evidence(1 << 9);

    /// Adds what `other` saw.
    #[inline]
    pub fn add(&mut self, other: Evidence) {
        self.0 |= other.0;
    }

    /// Returns whether nothing that is still to come can change the type.
    #[inline]
    pub fn is_settled(self) -> bool {
        self.0 & Self::TEXT.0 != 0
    }

    /// Returns the type that holds all that was seen, unchanged.
    pub fn dtype(self) -> DType {
        let only = |kinds: &[Evidence]| self.0 & !kinds.iter().fold(0, |all, it| all | it.0) == 0;
        let any = |kind: Evidence| self.0 & kind.0 != 0;
        // Nothing seen: text, all of it null.
        if self.0 == 0 || any(Self::TEXT) {
            DType::String
        } else if only(&[Self::BOOL]) {
            DType::Bool
        } else if only(&[Self::INT, Self::LONG_INT]) {
            DType::Int64
        } else if only(&[Self::INT, Self::POINT, Self::EXPONENT]) {
            // `1E5` among whole numbers and no point anywhere: identifiers.
            let is_identifier = any(Self::EXPONENT) && any(Self::INT) && !any(Self::POINT);
            if is_identifier { DType::String } else { DType::Float64 }
        } else if only(&[Self::DATE]) {
            DType::Date
        } else if only(&[Self::DATE, Self::TIMESTAMP]) {
            DType::Timestamp
        } else if only(&[Self::INSTANT]) {
            DType::TimestampUtc
        } else if only(&[Self::TIME]) {
            DType::Time
        } else {
            DType::String
        }
    }
}

impl From<Written> for Evidence {
    #[inline]
    fn from(written: Written) -> Self {
        match written {
            Written::Whole => Evidence::INT,
            Written::LongWhole => Evidence::LONG_INT,
            Written::Point => Evidence::POINT,
            Written::Exponent => Evidence::EXPONENT,
        }
    }
}

/// What stands for a missing value.
#[derive(Debug, Clone)]
pub struct Nulls {
    /// Null in every column, because the user said so.
    told: HashSet<Vec<u8>>,
    /// Null only where the other values are not text: Namibia's code is NA, and people are called
    /// Null.
    usual: &'static [&'static str],
}

const USUAL: &[&str] = &[
    "NA", "N/A", "#N/A", "n/a", "NULL", "null", "NaN", "nan", "None", "nil", "-", ".", "?", "\\N",
];

impl Nulls {
    /// Takes the user's list in place of the usual one, if there is one.
    pub fn new(told: Option<&[String]>) -> Self {
        Nulls {
            told: told.unwrap_or_default().iter().map(|it| it.clone().into_bytes()).collect(),
            usual: if told.is_some() { &[] } else { USUAL },
        }
    }

    /// Returns whether the user named `text` a missing value.
    #[inline]
    pub fn is_told(&self, text: &[u8]) -> bool {
        !self.told.is_empty() && self.told.contains(text)
    }

    /// Returns whether `text` stands for a missing value in a column that is not text.
    #[inline]
    pub fn is_null(&self, text: &[u8]) -> bool {
        let text = text.trim_ascii();
        text.is_empty()
            || (text.len() <= 4 && self.usual.iter().any(|it| it.as_bytes() == text))
            || self.is_told(text)
    }
}

/// Returns what one value says. Blanks around it do not count; `text` has its doubled quotes still.
#[inline]
pub fn classify(text: &[u8], nulls: &Nulls) -> Evidence {
    let trimmed = text.trim_ascii();
    let Some(&first) = trimmed.first() else { return Evidence::default() };
    let evidence = match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => {
            parse::float(trimmed).map(|it| it.1.into()).or_else(|| temporal(trimmed))
        }
        b'i' | b'I' => parse::float(trimmed).map(|it| it.1.into()),
        b't' | b'T' | b'f' | b'F' => parse::bool(trimmed).map(|_| Evidence::BOOL),
        _ => None,
    };
    match evidence {
        Some(evidence) if !nulls.is_told(trimmed) => evidence,
        _ if nulls.is_null(text) => Evidence::default(),
        _ => Evidence::TEXT,
    }
}

fn temporal(text: &[u8]) -> Option<Evidence> {
    match text.get(2) {
        Some(b':') => parse::time(text).map(|_| Evidence::TIME),
        _ if text.len() == 10 => parse::date(text).map(|_| Evidence::DATE),
        _ => parse::timestamp(text).map(|(_, is_instant)| {
            if is_instant { Evidence::INSTANT } else { Evidence::TIMESTAMP }
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, proptest};

    use super::{Evidence, Nulls, classify};
    use crate::catalog::DType;

    fn dtype(values: &[&str]) -> DType {
        let nulls = Nulls::new(None);
        let mut evidence = Evidence::default();
        for value in values {
            evidence.add(classify(value.as_bytes(), &nulls));
        }
        evidence.dtype()
    }

    #[track_caller]
    fn check(values: &[&str], expected: DType) {
        assert_eq!(dtype(values), expected, "{values:?}");
        let reversed: Vec<_> = values.iter().rev().copied().collect();
        assert_eq!(dtype(&reversed), expected, "{reversed:?}");
    }

    #[test]
    fn clean_columns_have_their_type() {
        check(&["1", "-2", "", "9223372036854775807"], DType::Int64);
        check(&["1", "2.5", "1e-3"], DType::Float64);
        check(&["true", "FALSE"], DType::Bool);
        check(&["2024-02-29", "1999-12-31"], DType::Date);
        check(&["2024-02-29", "1999-12-31 10:00"], DType::Timestamp);
        check(&["2024-02-29T10:00:00Z", "2024-02-29T10:00:00+02:00"], DType::TimestampUtc);
        check(&["10:00", "23:59:59.5"], DType::Time);
        check(&["a", "b"], DType::String);
    }

    #[test]
    fn what_would_change_stays_text() {
        check(&["007", "12"], DType::String);
        check(&["12345678901234567890", "1"], DType::String);
        check(&["9007199254740993", "0.5"], DType::String);
        check(&["+491701234567", "5"], DType::String);
        check(&["0.12345678901234567890"], DType::String);
        check(&["2024-01-01 00:00:00.000000001"], DType::String);
    }

    #[test]
    fn mixed_columns_are_text() {
        check(&["1", "a"], DType::String);
        check(&["1", "true"], DType::String);
        check(&["1", "2024-01-01"], DType::String);
        check(&["2024-01-01T10:00:00Z", "2024-01-01T10:00:00"], DType::String);
        check(&["1E5", "12"], DType::String);
        check(&["1E5", "12", "0.5"], DType::Float64);
    }

    #[test]
    fn a_null_marker_says_nothing_and_alone_is_text() {
        check(&["NA", "1", "-", " "], DType::Int64);
        check(&["NA", "", "null"], DType::String);
        check(&["NA", "DE"], DType::String);
    }

    #[test]
    fn only_what_the_user_names_is_null_once_the_user_names_any() {
        let nulls = Nulls::new(Some(&["-99".to_owned()]));
        assert_eq!(classify(b"-99", &nulls), Evidence::default());
        assert_eq!(classify(b"NA", &nulls), Evidence::TEXT);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn whatever_text_arrives_it_is_classified(
            text in "(20[0-9]{2}-[0-9]{2}-[0-9]{2}[ T])?[0-9a-fT:.,eEZ+ \u{7f}é-]{0,20}",
        ) {
            classify(text.as_bytes(), &Nulls::new(None));
        }
    }
}
