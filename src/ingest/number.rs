//! Numbers in local forms: `1234,56`, `1.234,56`, `1,234,567`, `1 234`, `1'234.50`.
//!
//! Pure, from bytes, without allocation. `1,234` may be two numbers. Each value therefore rules out
//! forms, and the whole column decides.

use super::parse::{self, NumberFormat};
use super::type_evidence::TypeEvidence;

/// The mark between the whole part of a number and its fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecimalMark {
    /// `0.5`
    Point,
    /// `0,5`
    Comma,
}

/// The mark between thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DigitGrouping {
    /// Nothing.
    None,
    /// `1,234`
    Comma,
    /// `1.234`
    Point,
    /// `1 234`, with a breaking or non-breaking, wide or narrow blank.
    Blank,
    /// `1'234`
    Apostrophe,
}

/// The form of a column's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberForm {
    /// The decimal mark.
    pub decimal: DecimalMark,
    /// The thousands separator.
    pub group: DigitGrouping,
}

impl NumberForm {
    /// The form that programs write.
    pub(crate) const PLAIN: NumberForm =
        NumberForm { decimal: DecimalMark::Point, group: DigitGrouping::None };

    /// All but the plain form, those without a thousands separator first.
    pub(crate) const ALL: [NumberForm; 7] = [
        NumberForm { decimal: DecimalMark::Comma, group: DigitGrouping::None },
        NumberForm { decimal: DecimalMark::Comma, group: DigitGrouping::Point },
        NumberForm { decimal: DecimalMark::Comma, group: DigitGrouping::Blank },
        NumberForm { decimal: DecimalMark::Comma, group: DigitGrouping::Apostrophe },
        NumberForm { decimal: DecimalMark::Point, group: DigitGrouping::Comma },
        NumberForm { decimal: DecimalMark::Point, group: DigitGrouping::Blank },
        NumberForm { decimal: DecimalMark::Point, group: DigitGrouping::Apostrophe },
    ];

    /// Returns the evidence of a value that is invalid in this form.
    pub(super) const fn ruled_out(self) -> TypeEvidence {
        let at = match (self.decimal, self.group) {
            (DecimalMark::Comma, DigitGrouping::Point) => 1,
            (DecimalMark::Comma, DigitGrouping::Blank) => 2,
            (DecimalMark::Comma, DigitGrouping::Apostrophe) => 3,
            (DecimalMark::Comma, _) => 0,
            (DecimalMark::Point, DigitGrouping::Blank) => 5,
            (DecimalMark::Point, DigitGrouping::Apostrophe) => 6,
            (DecimalMark::Point, _) => 4,
        };
        TypeEvidence::not_number(at)
    }

    /// Returns the form in words.
    pub(crate) fn words(self) -> String {
        let group = match self.group {
            DigitGrouping::None if self.decimal == DecimalMark::Point => {
                return "decimal point".to_owned();
            }
            DigitGrouping::None => return "decimal comma".to_owned(),
            DigitGrouping::Comma => "`,`",
            DigitGrouping::Point => "`.`",
            DigitGrouping::Blank => "blanks",
            DigitGrouping::Apostrophe => "`'`",
        };
        match self.decimal {
            DecimalMark::Comma => format!("{group} between thousands, decimal comma"),
            DecimalMark::Point => format!("{group} between thousands"),
        }
    }
}

/// The shape of a number with marks.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is seen by itself")]
struct MarkedNumber {
    n_digits: usize,
    /// Digits before the first mark and after the last.
    n_first: usize,
    n_last: usize,
    n_marks: usize,
    /// The first mark and the last.
    first: DigitGrouping,
    last: DigitGrouping,
    /// Whether all marks but the last are the same, with three digits between them.
    is_even: bool,
    /// Whether they are, with two digits between them, as in India: `12,34,567`.
    is_indian: bool,
    /// Whether it has an exponent.
    is_scientific: bool,
    begins_with_zero: bool,
}

impl MarkedNumber {
    fn of(unsigned: &[u8]) -> Option<Self> {
        let mut shape = MarkedNumber {
            n_digits: 0,
            n_first: 0,
            n_last: 0,
            n_marks: 0,
            first: DigitGrouping::None,
            last: DigitGrouping::None,
            is_even: true,
            is_indian: true,
            is_scientific: false,
            begins_with_zero: unsigned.first() == Some(&b'0'),
        };
        let mut rest = unsigned;
        while let Some(&byte) = rest.first() {
            if byte.is_ascii_digit() {
                shape.n_last += 1;
                shape.n_digits += 1;
                rest = &rest[1..];
                continue;
            }
            if let (b'e' | b'E', 1, 1.., DigitGrouping::Comma) =
                (byte, shape.n_marks, shape.n_last, shape.last)
                && is_exponent(&rest[1..])
            {
                shape.is_scientific = true;
                break;
            }
            let (mark, n) = mark(rest)?;
            if shape.n_marks == 0 {
                (shape.first, shape.n_first) = (mark, shape.n_last);
            } else {
                let is_same = shape.last == shape.first;
                shape.is_even &= is_same && shape.n_last == 3;
                // The last group, which has three digits, may be before the decimal mark.
                let n_group = if mark == shape.first { 2 } else { 3 };
                shape.is_indian &= is_same && shape.n_last == n_group;
            }
            shape.n_marks += 1;
            (shape.last, shape.n_last) = (mark, 0);
            rest = &rest[n..];
        }
        if shape.n_marks == 0 {
            shape.n_first = shape.n_last;
        }
        (0 < shape.n_first && 0 < shape.n_last).then_some(shape)
    }

    fn fits(&self, form: NumberForm) -> bool {
        let is_wide = 3 < self.n_first;
        let is_grouped = form.group != DigitGrouping::None;
        let decimal = match form.decimal {
            DecimalMark::Point => DigitGrouping::Point,
            DecimalMark::Comma => DigitGrouping::Comma,
        };
        if (is_grouped && is_wide) || (1 < self.n_first && self.begins_with_zero) {
            return false;
        }
        let is_whole_group = is_grouped && !self.begins_with_zero && self.first == form.group;
        // Below a hundred thousand, both groupings are the same.
        let is_even = self.is_even
            || (self.is_indian && self.n_first < 3 && form.group == DigitGrouping::Comma);
        match self.n_marks {
            0 => true,
            1 if self.last == decimal => true,
            _ if self.is_scientific => false,
            _ if self.last == decimal => is_whole_group && is_even,
            _ => is_whole_group && is_even && self.last == form.group && self.n_last == 3,
        }
    }
}

/// Returns a mark between digits and its length in bytes.
fn mark(text: &[u8]) -> Option<(DigitGrouping, usize)> {
    match text {
        [b',', ..] => Some((DigitGrouping::Comma, 1)),
        [b'.', ..] => Some((DigitGrouping::Point, 1)),
        [b'\'', ..] => Some((DigitGrouping::Apostrophe, 1)),
        [0xe2, 0x80, 0x99, ..] => Some((DigitGrouping::Apostrophe, 3)),
        [b' ', ..] => Some((DigitGrouping::Blank, 1)),
        [0xc2, 0xa0, ..] => Some((DigitGrouping::Blank, 2)),
        [0xe2, 0x80, 0x89 | 0xaf, ..] => Some((DigitGrouping::Blank, 3)),
        _ => None,
    }
}

/// Returns whether `text` is what follows the `e` of a number.
fn is_exponent(text: &[u8]) -> bool {
    let digits = unsigned(text);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

fn unsigned(text: &[u8]) -> &[u8] {
    if let [b'-' | b'+', rest @ ..] = text { rest } else { text }
}

/// Returns the evidence of a number that is not in the plain form.
#[inline]
pub(crate) fn evidence(text: &[u8]) -> Option<TypeEvidence> {
    let shape = MarkedNumber::of(unsigned(text))?;
    // `+49 170 123` is a phone number.
    if text[0] == b'+' && shape.first == DigitGrouping::Blank {
        return None;
    }
    let must_try = 15 < shape.n_digits || text[0] == b'+' || shape.is_scientific;
    let mut seen = TypeEvidence::LOCAL_NUMBER;
    let mut any = false;
    for form in NumberForm::ALL {
        if shape.fits(form) && (!must_try || normal(text, form, parse::float).is_some()) {
            any = true;
        } else {
            seen.add(form.ruled_out());
        }
    }
    if shape.is_scientific {
        seen.add(TypeEvidence::EXPONENT);
    }
    if 15 < shape.n_digits {
        seen.add(TypeEvidence::LOCAL_LONG);
    }
    if [shape.first, shape.last].contains(&DigitGrouping::Comma) {
        seen.add(TypeEvidence::COMMA);
    }
    if shape.last == DigitGrouping::Point {
        seen.add(TypeEvidence::LAST_POINT);
    }
    if shape.n_first < 3 || shape.first != shape.last {
        seen.add(TypeEvidence::SHORT_GROUP);
    }
    any.then_some(seen)
}

/// Returns the whole number that `text` represents in `form`.
#[inline]
pub(crate) fn int(text: &[u8], form: NumberForm) -> Option<i64> {
    read(text, form, parse::int)
}

/// Returns the number that `text` represents in `form`.
#[inline]
pub(crate) fn float(text: &[u8], form: NumberForm) -> Option<f64> {
    let (value, written) = read(text, form, parse::float)?;
    (written != NumberFormat::LongWhole).then_some(value)
}

fn read<T>(text: &[u8], form: NumberForm, parse: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    if form == NumberForm::PLAIN {
        return parse(text);
    }
    match MarkedNumber::of(unsigned(text)) {
        Some(shape) if shape.fits(form) => normal(text, form, parse),
        // `.5` and `5.` have no shape here, but are numbers with a point.
        None if form.decimal == DecimalMark::Point => parse(text),
        _ => None,
    }
}

/// Parses the number with thousands separators removed and a decimal point.
fn normal<T>(text: &[u8], form: NumberForm, parse: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    /// Longer numbers are longer than any float.
    const NUMBER_BYTES_MAX: usize = 64;
    let mut plain = [0_u8; NUMBER_BYTES_MAX];
    let mut n = 0;
    let mut rest = text;
    while let Some(&byte) = rest.first() {
        let (byte, n_read) = match mark(rest) {
            None => (byte, 1),
            Some((DigitGrouping::Comma, n)) if form.decimal == DecimalMark::Comma => (b'.', n),
            Some((DigitGrouping::Point, n)) if form.decimal == DecimalMark::Point => (b'.', n),
            Some((_, n)) => {
                rest = &rest[n..];
                continue;
            }
        };
        *plain.get_mut(n)? = byte;
        n += 1;
        rest = &rest[n_read..];
    }
    parse(&plain[..n])
}

#[cfg(test)]
mod tests {
    use super::{DecimalMark, DigitGrouping, NumberForm, evidence, float, int};

    const fn form(decimal: DecimalMark, group: DigitGrouping) -> NumberForm {
        NumberForm { decimal, group }
    }
    const COMMA: DecimalMark = DecimalMark::Comma;
    const POINT: DecimalMark = DecimalMark::Point;

    #[test]
    fn a_number_equals_what_was_written_or_is_none() {
        let check = |text: &str, form, expected: Option<f64>| {
            assert_eq!(float(text.as_bytes(), form), expected, "{text}");
        };
        check("1234,56", form(COMMA, DigitGrouping::None), Some(1234.56));
        check("-0,5", form(COMMA, DigitGrouping::None), Some(-0.5));
        check("1.234,56", form(COMMA, DigitGrouping::Point), Some(1234.56));
        check("1.234", form(COMMA, DigitGrouping::Point), Some(1234.0));
        check("12,5", form(COMMA, DigitGrouping::Point), Some(12.5));
        check("1234,5", form(COMMA, DigitGrouping::Point), None);
        check("1.23,5", form(COMMA, DigitGrouping::Point), None);
        check("0.123,5", form(COMMA, DigitGrouping::Point), None);
        check("1,234,567.25", form(POINT, DigitGrouping::Comma), Some(1_234_567.25));
        check("1,234", form(POINT, DigitGrouping::Comma), Some(1234.0));
        check("1,234,56", form(POINT, DigitGrouping::Comma), None);
        check("12,34,567.5", form(POINT, DigitGrouping::Comma), Some(1_234_567.5));
        check("1,23,45,678", form(POINT, DigitGrouping::Comma), Some(12_345_678.0));
        check("1,00,000", form(POINT, DigitGrouping::Comma), Some(100_000.0));
        check("123,45,678", form(POINT, DigitGrouping::Comma), None);
        check("12,34,56", form(POINT, DigitGrouping::Comma), None);
        check("12,345,67,890", form(POINT, DigitGrouping::Comma), None);
        check("12,34.567", form(POINT, DigitGrouping::Comma), None);
        check("1.23.456,5", form(COMMA, DigitGrouping::Point), None);
        check("1,2345", form(POINT, DigitGrouping::Comma), None);
        check("1\u{a0}234,5", form(COMMA, DigitGrouping::Blank), Some(1234.5));
        check("1\u{202f}234.5", form(POINT, DigitGrouping::Blank), Some(1234.5));
        check("1’234'567.5", form(POINT, DigitGrouping::Apostrophe), Some(1_234_567.5));
        check("1,234.567,8", form(COMMA, DigitGrouping::Point), None);
        check("0,12345678901234567890", form(COMMA, DigitGrouping::None), None);
        check("9.007.199.254.740.993,0", form(COMMA, DigitGrouping::Point), None);
        check("007,5", form(COMMA, DigitGrouping::None), None);
        check(",5", form(COMMA, DigitGrouping::None), None);
        check("5,", form(COMMA, DigitGrouping::None), None);
        check("1,5e3", form(COMMA, DigitGrouping::None), Some(1500.0));
        check("-1,25E-04", form(COMMA, DigitGrouping::None), Some(-0.000_125));
        check("1.234,5e3", form(COMMA, DigitGrouping::Point), None);
        check("1,5e", form(COMMA, DigitGrouping::None), None);
        check("1,5e3", form(POINT, DigitGrouping::Comma), None);
    }

    #[test]
    fn whole_numbers_with_thousands_are_exact() {
        let check = |text: &str, group, expected| {
            assert_eq!(int(text.as_bytes(), form(POINT, group)), expected, "{text}");
        };
        check("9,007,199,254,740,993", DigitGrouping::Comma, Some(9_007_199_254_740_993));
        check("-1 234", DigitGrouping::Blank, Some(-1234));
        check("030 123 456", DigitGrouping::Blank, None);
        check("1 23", DigitGrouping::Blank, None);
        check("9,223,372,036,854,775,808", DigitGrouping::Comma, None);
    }

    #[test]
    fn what_is_no_number_in_any_form_is_none() {
        for text in ["1,2,3", "1.2.3", "1 2", "030 123", "+49 170 123", "1,,2", "a", "", "-", "1-2"]
        {
            assert_eq!(evidence(text.as_bytes()), None, "{text}");
        }
    }
}
