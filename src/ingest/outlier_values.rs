//! The values that make a column text although nearly all of its values have a type.
//!
//! Pure. A sample shows the usual kind of a column; each other value is then counted, and the first of
//! each kind is recorded with its line.

use csv_agent_text::sanitize;
use csv_agent_types::catalog::DType;

use super::type_evidence::{Nulls, TypeEvidence, classify};

/// The kind of nearly all values of a text column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Usual {
    /// Numbers, or digits.
    Number,
    /// Dates, with or without a time of day.
    Day,
    /// Times of day.
    Time,
    /// `true` and `false`.
    Flag,
    /// Percentages, including numbers without a sign.
    Percentage,
    /// Money, including numbers without a sign.
    Money,
    /// Amounts with mixed signs, or in parentheses.
    Amount,
}

impl Usual {
    /// Kinds that a single value shows.
    const SINGLE: [Usual; 4] = [Usual::Number, Usual::Day, Usual::Time, Usual::Flag];

    /// Returns the usual kind of a column that was guessed to be `dtype`.
    pub(crate) fn of(dtype: DType) -> Option<Self> {
        match dtype {
            DType::Int64 | DType::Float64 => Some(Usual::Number),
            DType::Date | DType::Timestamp | DType::TimestampUtc => Some(Usual::Day),
            DType::Time => Some(Usual::Time),
            DType::Bool => Some(Usual::Flag),
            DType::String => None,
        }
    }

    /// Returns the kind of at least two thirds of the values.
    pub(crate) fn among<'a>(values: impl Iterator<Item = &'a [u8]>, nulls: &Nulls) -> Option<Self> {
        let mut counts = [0_usize; Self::SINGLE.len()];
        let (mut n_values, mut n_amounts, mut amounts) = (0, 0, TypeEvidence::default());
        for value in values {
            let seen = classify(value, nulls);
            if seen == TypeEvidence::default() {
                continue;
            }
            n_values += 1;
            let is_number = digits(value.trim_ascii()).is_some();
            let kind = Self::SINGLE.iter().position(|it| seen.is_only(it.evidence()));
            if let Some(kind) = kind.or(is_number.then_some(0)) {
                counts[kind] += 1;
            } else if seen.is_only(Self::Amount.evidence()) {
                n_amounts += 1;
                amounts.add(seen);
            }
        }
        let is_most = |n: usize| 0 < n && n_values * 2 <= n * 3;
        if 0 < n_amounts && is_most(n_amounts + counts[0]) {
            let has = |kind| amounts.has(kind);
            return Some(match (has(TypeEvidence::PERCENT), has(TypeEvidence::CURRENCY)) {
                (true, false) => Usual::Percentage,
                (false, true) => Usual::Money,
                _ => Usual::Amount,
            });
        }
        let kind = counts.iter().position(|it| is_most(*it))?;
        Some(Self::SINGLE[kind])
    }

    fn evidence(self) -> TypeEvidence {
        match self {
            Usual::Number => TypeEvidence::NUMBERS,
            Usual::Day => TypeEvidence::DAYS,
            Usual::Time => TypeEvidence::TIME,
            Usual::Flag => TypeEvidence::BOOL,
            Usual::Percentage | Usual::Money | Usual::Amount => {
                TypeEvidence::AMOUNTS.and(TypeEvidence::NUMBERS)
            }
        }
    }

    #[inline]
    fn holds(self, text: &[u8], nulls: &Nulls) -> bool {
        let is_plain = self == Usual::Number
            && matches!(text, [b'1'..=b'9', rest @ ..] if rest.len() < 18 && rest.iter().all(u8::is_ascii_digit));
        is_plain || classify(text, nulls).is_only(self.evidence())
    }

    /// Returns why a value is not of the usual kind.
    fn why(self, text: &[u8]) -> Why {
        let text = text.trim_ascii();
        match digits(text).filter(|_| self == Usual::Number) {
            Some([b'0', _, ..]) => Why::Zeros,
            Some(_) if text.first() == Some(&b'+') => Why::Plus,
            Some(_) => Why::Beyond,
            None => Why::Other,
        }
    }

    /// Returns the kind in words, singular and plural.
    fn words(self) -> [&'static str; 2] {
        match self {
            Usual::Number => ["a number", "numbers"],
            Usual::Day => ["a day", "days"],
            Usual::Time => ["a time of day", "times of day"],
            Usual::Flag => ["a truth value", "truth values"],
            Usual::Percentage => ["a percentage", "percentages"],
            Usual::Money => ["an amount of money", "amounts of money"],
            Usual::Amount => ["an amount", "amounts"],
        }
    }
}

/// Returns the digits of a text with only a sign before them.
fn digits(text: &[u8]) -> Option<&[u8]> {
    let digits = text.strip_prefix(b"+").or(text.strip_prefix(b"-")).unwrap_or(text);
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some(digits)
}

/// Why a value is not of the usual kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Zeros,
    Plus,
    Beyond,
    Other,
}

/// The values of a column that are not of its usual kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutlierValues {
    found: Vec<OutlierValue>,
    /// A value of the usual kind that shows the written form, and its position.
    example: Option<(u64, String)>,
}

#[derive(Debug, Clone)]
struct OutlierValue {
    why: Why,
    n: u64,
    /// The position of the first: a row at first, then a line.
    place: u64,
    value: String,
}

impl OutlierValues {
    /// Counts the value of a row if it is not of the usual kind.
    #[inline]
    pub(crate) fn look(&mut self, usual: Usual, row: u64, text: &[u8], nulls: &Nulls) {
        if !usual.holds(text, nulls) {
            self.count(usual.why(text), row, text);
        } else if self.example.is_none() && is_written_by_people(text) {
            self.example = Some((row, shown(text)));
        }
    }

    fn count(&mut self, why: Why, place: u64, text: &[u8]) {
        if let Some(odd) = self.found.iter_mut().find(|it| it.why == why) {
            odd.n += 1;
            return;
        }
        self.found.push(OutlierValue { why, n: 1, place, value: shown(text) });
    }

    /// Converts rows to lines.
    pub(crate) fn locate(&mut self, line_of: impl Fn(u64) -> u64) {
        let found = self.found.iter_mut().map(|it| &mut it.place);
        let example = self.example.iter_mut().map(|it| &mut it.0);
        found.chain(example).for_each(|it| *it = line_of(*it));
    }

    /// Adds the values of another part of the file, which is `n_lines` lines further on.
    pub(crate) fn add(&mut self, other: OutlierValues, n_lines: u64) {
        for odd in other.found {
            match self.found.iter_mut().find(|it| it.why == odd.why) {
                Some(known) => known.n += odd.n,
                None => self.found.push(OutlierValue { place: n_lines + odd.place, ..odd }),
            }
        }
        let example = other.example.map(|(place, value)| (n_lines + place, value));
        self.example = self.example.take().or(example);
    }

    /// Returns a value that shows how people wrote some of them, and where it is; lines are counted from 0.
    pub(crate) fn example(&self, place_of: impl Fn(u64) -> String) -> Option<String> {
        self.example.as_ref().map(|(place, value)| format!("`{value}` {}", place_of(*place)))
    }

    /// Explains what made the column text; lines are counted from 0, and `place_of` names a place.
    pub(crate) fn note(&self, usual: Usual, place_of: impl Fn(u64) -> String) -> Option<String> {
        let told = self.found.iter().map(|OutlierValue { why, n, place, value }| {
            let what = match why {
                Why::Zeros => "with leading zeros".to_owned(),
                Why::Plus => "with a leading `+`".to_owned(),
                Why::Beyond => "beyond int64".to_owned(),
                Why::Other if *n == 1 => format!("that is not {}", usual.words()[0]),
                Why::Other => format!("that are not {}", usual.words()[1]),
            };
            let place = place_of(*place);
            match n {
                1 => format!("1 value {what}, `{value}` {place}"),
                n => format!("{n} values {what}, the first `{value}` {place}"),
            }
        });
        let told: Vec<String> = told.collect();
        let example =
            self.example.as_ref().map_or(String::new(), |it| format!("; e.g. `{}`", it.1));
        (!told.is_empty()).then(|| format!("text: {}{example}", told.join("; ")))
    }
}

/// Returns whether a value has a digit and a character that programs do not write in numbers, dates and
/// times, such as `26,474` and `12 %`.
fn is_written_by_people(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit)
        && text.iter().any(|it| !it.is_ascii_alphanumeric() && !b" +-.:".contains(it))
}

/// Returns a value for display.
fn shown(text: &[u8]) -> String {
    /// Maximum characters of a displayed value.
    const SHOWN_CHARS: usize = 40;
    let text = String::from_utf8_lossy(text);
    let mut value: String = text.chars().take(SHOWN_CHARS).collect();
    if value.len() < text.len() {
        value.push('…');
    }
    sanitize::one_line(&value)
}
