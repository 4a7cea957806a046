//! The searched value, in each type's representation. Pure.

use arrow_schema::{DataType, TimeUnit};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;

use crate::filter::fold;
use crate::parse::{self, DAY_US};

/// A value in each type's representation.
pub(super) struct Needle {
    int: Option<i64>,
    /// As a number with a fraction.
    pub float: Option<f64>,
    /// As a truth value.
    pub bool: Option<bool>,
    /// Days since 1970.
    pub day: Option<i32>,
    /// Microseconds since 1970 without a zone, and as an instant.
    local: Option<i64>,
    instant: Option<i64>,
    time: Option<i64>,
    /// Trimmed, in lower case.
    text: String,
}

impl Needle {
    /// Parses a value in every way that a column may represent it.
    pub(super) fn new(value: &str) -> Self {
        let value = value.trim();
        let bytes = value.as_bytes();
        let (int, float) = amounts(value);
        let timestamp = parse::timestamp(bytes);
        let midnight = parse::date(bytes).map(|it| i64::from(it) * DAY_US);
        let local = timestamp.filter(|it| !it.1).map(|it| it.0).or(midnight);
        let day = local.filter(|it| it.rem_euclid(DAY_US) == 0).map(|it| it.div_euclid(DAY_US));
        Needle {
            int,
            float,
            bool: parse::bool(bytes).or_else(|| parse::yes_no(bytes).map(|it| it.1)),
            day: day.and_then(|it| i32::try_from(it).ok()),
            local,
            instant: timestamp.map(|it| it.0).or(midnight),
            time: parse::time(bytes),
            text: fold(value),
        }
    }

    /// Returns whether a chunk may contain the value, from the footer alone.
    pub(super) fn may_be_in(&self, chunk: &ColumnChunkMetaData, data_type: &DataType) -> bool {
        let statistics = chunk.statistics();
        let n_nulls = statistics.and_then(Statistics::null_count_opt);
        if n_nulls.is_some_and(|it| i64::try_from(it) == Ok(chunk.num_values())) {
            return false;
        }
        match data_type {
            DataType::Boolean => self.bool.is_some(),
            DataType::Float64 => self.float.is_some_and(|it| match statistics {
                Some(Statistics::Double(range)) => is_within(range.min_opt(), &it, range.max_opt()),
                _ => true,
            }),
            DataType::Date32 => self.day.is_some_and(|it| match statistics {
                Some(Statistics::Int32(range)) => is_within(range.min_opt(), &it, range.max_opt()),
                _ => true,
            }),
            DataType::Utf8View => match statistics {
                Some(Statistics::ByteArray(range)) => {
                    match (range.min_bytes_opt(), range.max_bytes_opt()) {
                        (Some(min), Some(max)) => self.may_be_between(min, max),
                        _ => true,
                    }
                }
                _ => true,
            },
            _ => self.whole(data_type).is_some_and(|it| match statistics {
                Some(Statistics::Int64(range)) => is_within(range.min_opt(), &it, range.max_opt()),
                _ => true,
            }),
        }
    }

    /// Returns the value as the 64-bit number in which a type is stored.
    pub(super) fn whole(&self, data_type: &DataType) -> Option<i64> {
        match data_type {
            DataType::Int64 => self.int,
            DataType::Timestamp(TimeUnit::Microsecond, None) => self.local,
            DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => self.instant,
            DataType::Time64(TimeUnit::Microsecond) => self.time,
            _ => None,
        }
    }

    /// Returns whether texts from `min` to `max`, in byte order, may equal the value.
    fn may_be_between(&self, min: &[u8], max: &[u8]) -> bool {
        let needle = self.text.as_bytes();
        // All of them begin with the common prefix of both ends, and continue within the range of the
        // ends' next bytes.
        let n_shared = min.iter().zip(max).take_while(|(min, max)| min == max).count();
        let shared = &min[..n_shared];
        if !self.text.is_ascii() || needle.is_empty() || shared.first().is_some_and(is_blank) {
            return true;
        }
        let n_begin = n_shared.min(needle.len());
        let (begin, rest) = needle.split_at(n_begin);
        let (same, behind) = shared.split_at(n_begin);
        if !begin.eq_ignore_ascii_case(same) || !behind.iter().all(is_blank) {
            return false;
        }
        let (Some(first), Some(last)) = (min.get(n_shared), max.get(n_shared)) else { return true };
        let is_between = |it: u8| (*first..=*last).contains(&it);
        match rest.first() {
            Some(next) if is_between(*next) || is_between(next.to_ascii_uppercase()) => true,
            // Blanks may precede or follow the value.
            _ if n_shared == 0 || rest.is_empty() => (*first..=*last).any(|it| is_blank(&it)),
            _ => false,
        }
    }

    /// Returns whether a text cell equals the value.
    pub(super) fn is_text(&self, cell: &[u8]) -> bool {
        let needle = self.text.as_bytes();
        if !self.text.is_ascii() {
            return !cell.is_ascii() && fold(&String::from_utf8_lossy(cell)) == self.text;
        }
        if cell.len() <= needle.len() {
            return cell.eq_ignore_ascii_case(needle);
        }
        // Longer: the difference can only be surrounding blanks.
        (cell.first().is_some_and(is_blank) || cell.last().is_some_and(is_blank))
            && str::from_utf8(cell).is_ok_and(|it| it.trim().eq_ignore_ascii_case(&self.text))
    }

    /// Returns a lower-case letter sequence that every cell equal to the value contains, in either
    /// case.
    pub(super) fn letters(&self) -> &str {
        if self.text.is_ascii() {
            return &self.text;
        }
        // Some non-ASCII letters have a lower case that is `k` or begins with `i`.
        let runs = self.text.split(|it: char| !it.is_ascii() || matches!(it, 'k' | 'i'));
        runs.max_by_key(|it| it.len()).unwrap_or_default()
    }

    /// Returns the value after [`fold`].
    pub(super) fn folded(&self) -> &str {
        &self.text
    }

    /// Returns whether a page of dictionary values contains the value.
    pub(super) fn is_in_dictionary(&self, bytes: &[u8], data_type: &DataType) -> bool {
        match data_type {
            DataType::Utf8View => texts(bytes).any(|it| self.is_text(it)),
            DataType::Date32 => {
                let (days, _) = bytes.as_chunks::<4>();
                self.day.is_some_and(|day| days.iter().any(|it| i32::from_le_bytes(*it) == day))
            }
            DataType::Float64 => {
                let (values, _) = bytes.as_chunks::<8>();
                let equals = |float, it: &[u8; 8]| is_equal(f64::from_le_bytes(*it), float);
                self.float.is_some_and(|float| values.iter().any(|it| equals(float, it)))
            }
            _ => {
                let (values, _) = bytes.as_chunks::<8>();
                let whole = self.whole(data_type);
                whole.is_some_and(|whole| values.iter().any(|it| i64::from_le_bytes(*it) == whole))
            }
        }
    }
}

/// Returns the value as a whole number and as a float, where the conversion is exact.
fn amounts(value: &str) -> (Option<i64>, Option<f64>) {
    if let Ok(int) = value.parse::<i64>() {
        #[expect(clippy::cast_precision_loss, reason = "compared back right here")]
        let float = int as f64;
        #[expect(clippy::cast_possible_truncation, reason = "saturates, and is then unequal")]
        let is_exact = float as i128 == i128::from(int);
        return (Some(int), is_exact.then_some(float));
    }
    let float: Option<f64> = value.parse().ok().filter(|it: &f64| !it.is_nan());
    // Whole, and below 2^63: the cast is lossless.
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
    let int = float
        .filter(|it| is_equal(it.fract(), 0.0) && it.abs() < 9_223_372_036_854_775_808.0)
        .map(|it| it as i64);
    (int, float)
}

/// Returns whether two numbers are the same.
#[expect(clippy::float_cmp, reason = "the question is whether two values are the same")]
pub(super) fn is_equal(a: f64, b: f64) -> bool {
    a == b
}

/// Returns whether a byte may belong to a blank, in ASCII or beyond.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "iterators and slices call it so")]
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ' | 0x80..)
}

fn is_within<T: PartialOrd>(min: Option<&T>, value: &T, max: Option<&T>) -> bool {
    min.is_none_or(|it| it <= value) && max.is_none_or(|it| value <= it)
}

/// Splits a page of plain texts: each has four bytes of length, then the bytes.
fn texts(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (text, rest) = rest.split_at_checked(length)?;
        bytes = rest;
        Some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::{Needle, amounts};

    #[test]
    fn amounts_are_equal_however_they_are_written() {
        assert_eq!(amounts("7"), (Some(7), Some(7.0)));
        assert_eq!(amounts("7.0"), (Some(7), Some(7.0)));
        assert_eq!(amounts("7e0"), (Some(7), Some(7.0)));
        assert_eq!(amounts("7.5"), (None, Some(7.5)));
        assert_eq!(amounts("9007199254740993"), (Some(9_007_199_254_740_993), None));
        assert_eq!(amounts("1e300"), (None, Some(1e300)));
        assert_eq!(amounts("seven"), (None, None));
    }

    #[test]
    fn a_day_is_its_midnight() {
        let day = Needle::new("1970-01-02");
        assert_eq!((day.day, day.local, day.instant), (Some(1), Some(86_400_000_000), day.local));
        let midnight = Needle::new("1970-01-02 00:00:00");
        assert_eq!(midnight.day, Some(1));
        assert_eq!(Needle::new("1970-01-02 00:00:01").day, None);
    }

    #[test]
    fn text_is_compared_without_case_and_blanks() {
        let needle = Needle::new(" Äpfel ");
        assert!(needle.is_text("äPFEL".as_bytes()));
        assert!(!needle.is_text(b"apfel"));
        let needle = Needle::new("NA");
        for text in [" na", "NA\t", "\u{a0}Na\u{2003}", "\u{3000}na"] {
            assert!(needle.is_text(text.as_bytes()), "{text:?}");
        }
        for text in ["", "n", "nan", " n a", "naa ", "\u{e9}na"] {
            assert!(!needle.is_text(text.as_bytes()), "{text:?}");
        }
        assert!(Needle::new(" ").is_text(b"") && Needle::new("").is_text(b" \t"));
    }

    #[test]
    fn letters_are_those_that_have_no_other_case_than_that_of_ascii() {
        assert_eq!(Needle::new(" Anvil ").letters(), "anvil");
        assert_eq!(Needle::new("München").letters(), "nchen");
        assert_eq!(Needle::new("Mährisk").letters(), "hr");
        assert_eq!(Needle::new("Öl").letters(), "l");
        let kelvin = Needle::new("5 \u{e9}k");
        assert!(kelvin.is_text("5 \u{c9}\u{212a}".as_bytes()));
    }

    #[test]
    fn text_outside_of_the_range_is_ruled_out_whatever_its_case_and_blanks() {
        let check = |min: &str, max: &str, value: &str, expected: bool| {
            let found = Needle::new(value).may_be_between(min.as_bytes(), max.as_bytes());
            assert_eq!(found, expected, "{min}..{max} {value}");
        };
        check("customer 0", "customer 99", "anvil", false);
        check("customer 0", "customer 99", "cust", false);
        check("cust ", "cust  ", "CUST", true);
        check("customer 0", "customer 99", " CUSTOMER 5", true);
        check("customer 10", "customer 19", "customer 2", false);
        check("Berlin", "München", "berlin", true);
        check("Berlin", "Leipzig", "rostock", false);
        check("Berlin", "Leipzig", "zürich", true);
        check(" x", "Leipzig", "rostock", true);
        check("Leipzig", "Zürich", "\u{fc}", true);
        check("", "b", "c", true);
        check("a", "a", "a", true);
        check("a", "a", "b", false);
        check("ab", "ab \u{a0}", "ab", true);
        check("ab ", "ab.", "ab", true);
        check("\u{a0}b", "\u{a0}c", "b", true);
    }
}
