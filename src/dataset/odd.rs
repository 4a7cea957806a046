//! The values that make a column text although nearly all of its values are of a type.
//!
//! Pure. A sample shows what is usual in a column; then each value that is not leaves a count, and
//! the first of its kind its line.

use super::infer::{Evidence, Nulls, classify};
use crate::catalog::DType;
use crate::render::sanitize;

/// What nearly all values of a text column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usual {
    /// Numbers, or digits.
    Number,
    /// Days, with a time of day or without.
    Day,
    /// Times of day.
    Time,
    /// `true` and `false`.
    Flag,
}

impl Usual {
    const ALL: [Usual; 4] = [Usual::Number, Usual::Day, Usual::Time, Usual::Flag];

    /// Returns what is usual in a column that was taken for `dtype`.
    pub fn of(dtype: DType) -> Option<Self> {
        match dtype {
            DType::Int64 | DType::Float64 => Some(Usual::Number),
            DType::Date | DType::Timestamp | DType::TimestampUtc => Some(Usual::Day),
            DType::Time => Some(Usual::Time),
            DType::Bool => Some(Usual::Flag),
            DType::String => None,
        }
    }

    /// Returns what at least three in four values are.
    pub fn among<'a>(values: impl Iterator<Item = &'a [u8]>, nulls: &Nulls) -> Option<Self> {
        let mut counts = [0_usize; Self::ALL.len()];
        let mut n_values = 0;
        for value in values {
            let seen = classify(value, nulls);
            if seen == Evidence::default() {
                continue;
            }
            n_values += 1;
            let is_number = digits(value.trim_ascii()).is_some();
            let kind = Self::ALL.iter().position(|it| seen.is_only(it.evidence()));
            if let Some(kind) = kind.or(is_number.then_some(0)) {
                counts[kind] += 1;
            }
        }
        let kind = counts.iter().position(|it| 0 < *it && n_values * 3 <= it * 4)?;
        Some(Self::ALL[kind])
    }

    fn evidence(self) -> Evidence {
        match self {
            Usual::Number => Evidence::NUMBERS,
            Usual::Day => Evidence::DAYS,
            Usual::Time => Evidence::TIME,
            Usual::Flag => Evidence::BOOL,
        }
    }

    #[inline]
    fn holds(self, text: &[u8], nulls: &Nulls) -> bool {
        let is_plain = self == Usual::Number
            && matches!(text, [b'1'..=b'9', rest @ ..] if rest.len() < 18 && rest.iter().all(u8::is_ascii_digit));
        is_plain || classify(text, nulls).is_only(self.evidence())
    }

    /// Returns why a value is none of the usual ones.
    fn why(self, text: &[u8]) -> Why {
        let text = text.trim_ascii();
        match digits(text).filter(|_| self == Usual::Number) {
            Some([b'0', _, ..]) => Why::Zeros,
            Some(_) if text.first() == Some(&b'+') => Why::Plus,
            Some(_) => Why::Beyond,
            None => Why::Other,
        }
    }

    /// Returns the kind in words, for one value and for many.
    fn words(self) -> [&'static str; 2] {
        match self {
            Usual::Number => ["number", "numbers"],
            Usual::Day => ["day", "days"],
            Usual::Time => ["time of day", "times of day"],
            Usual::Flag => ["truth value", "truth values"],
        }
    }
}

/// Returns the digits of what is nothing else but a sign before them.
fn digits(text: &[u8]) -> Option<&[u8]> {
    let digits = text.strip_prefix(b"+").or(text.strip_prefix(b"-")).unwrap_or(text);
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some(digits)
}

/// Why a value is none of the usual ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Zeros,
    Plus,
    Beyond,
    Other,
}

/// The values of a column that are not of its usual kind.
#[derive(Debug, Clone, Default)]
pub struct Odds(Vec<Odd>);

#[derive(Debug, Clone)]
struct Odd {
    why: Why,
    n: u64,
    /// Where the first is: a row at first, then a line.
    place: u64,
    value: String,
}

impl Odds {
    /// Counts the value of a row if it is not of the usual kind.
    #[inline]
    pub fn look(&mut self, usual: Usual, row: u64, text: &[u8], nulls: &Nulls) {
        if !usual.holds(text, nulls) {
            self.count(usual.why(text), row, text);
        }
    }

    fn count(&mut self, why: Why, place: u64, text: &[u8]) {
        /// Characters of a value that are shown.
        const SHOWN_CHARS: usize = 40;
        if let Some(odd) = self.0.iter_mut().find(|it| it.why == why) {
            odd.n += 1;
            return;
        }
        let text = String::from_utf8_lossy(text);
        let mut value: String = text.chars().take(SHOWN_CHARS).collect();
        if value.len() < text.len() {
            value.push('…');
        }
        self.0.push(Odd { why, n: 1, place, value: sanitize::one_line(&value) });
    }

    /// Turns rows into lines.
    pub fn locate(&mut self, line_of: impl Fn(u64) -> u64) {
        self.0.iter_mut().for_each(|it| it.place = line_of(it.place));
    }

    /// Adds those of another part of the file, which lies `n_lines` lines further on.
    pub fn add(&mut self, other: Odds, n_lines: u64) {
        for odd in other.0 {
            match self.0.iter_mut().find(|it| it.why == odd.why) {
                Some(known) => known.n += odd.n,
                None => self.0.push(Odd { place: n_lines + odd.place, ..odd }),
            }
        }
    }

    /// Says what made the column text; lines are counted from 0, and `place` says where one is.
    pub fn note(&self, usual: Usual, place_of: impl Fn(u64) -> String) -> Option<String> {
        let told = self.0.iter().map(|Odd { why, n, place, value }| {
            let what = match why {
                Why::Zeros => "with leading zeros".to_owned(),
                Why::Plus => "with a leading `+`".to_owned(),
                Why::Beyond => "beyond int64".to_owned(),
                Why::Other if *n == 1 => format!("that is no {}", usual.words()[0]),
                Why::Other => format!("that are no {}", usual.words()[1]),
            };
            let place = place_of(*place);
            match n {
                1 => format!("1 value {what}, `{value}` {place}"),
                n => format!("{n} values {what}, the first `{value}` {place}"),
            }
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| format!("text: {}", told.join("; ")))
    }
}
