//! The text of one cell as a number, a date or a time, if that preserves the text.
//!
//! Pure, from bytes, without allocation: these run once for every cell of a file.

use csv_agent_text::calendar::days_from_civil;

/// Microseconds of a day.
pub(crate) const DAY_US: i64 = 86_400_000_000;

/// The form of a number, which decides which numbers may share a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberFormat {
    /// One to three digits alone: `42`.
    Whole,
    /// More digits alone: `4200`.
    WideWhole,
    /// Digits alone, more than a 64-bit float holds exactly: `9007199254740993`.
    LongWhole,
    /// With a point: `4.2`.
    Point,
    /// With a point and four or more digits before it: `4200.5`.
    WidePoint,
    /// With a point and three digits after it, which may be a thousands group: `4.215`.
    GroupPoint,
    /// The same with a zero at the end, which only people and fixed formats write: `4.200`.
    GroupZero,
    /// With a point and an exponent, or infinite.
    Scientific,
    /// With an exponent and no point: `1E5`, which may also be an identifier.
    Exponent,
}

/// Returns the whole number that `text` represents, if it is in canonical form.
///
/// `007` and `+491701234567` are identifiers, not numbers: writing them back would change them.
#[inline]
pub(crate) fn int(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] if digits.len() < 8 => (false, digits),
        digits => (false, digits),
    };
    match digits {
        [] | [b'0', _, ..] => return None,
        _ if 19 < digits.len() => return None,
        _ => {}
    }
    // Nineteen digits always fit in an unsigned 64-bit integer.
    let mut value: u64 = 0;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if 9 < digit {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    if negative { 0i64.checked_sub_unsigned(value) } else { i64::try_from(value).ok() }
}

/// Returns whether `value` is beyond the range in which a 64-bit float represents every whole number.
#[inline]
pub(crate) fn is_long(value: i64) -> bool {
    (1 << 53) < value.unsigned_abs()
}

/// Returns the number that `text` represents, and its form.
///
/// A number with more digits than a 64-bit float represents is rejected, since it would be changed.
/// Digits that the float itself would print are accepted, however many: `0.1000000000000000055511151`.
#[inline]
pub(crate) fn float(text: &[u8]) -> Option<(f64, NumberFormat)> {
    let unsigned = if let [b'-' | b'+', rest @ ..] = text { rest } else { text };
    match unsigned {
        [b'0'..=b'9' | b'.', ..] => {}
        [b'i' | b'I', ..] => {
            return infinite(text, unsigned).map(|it| (it, NumberFormat::Scientific));
        }
        _ => return None,
    }
    let (n_whole, whole) = digits(unsigned, 0);
    if 1 < n_whole && unsigned[0] == b'0' {
        return None;
    }
    let mut rest = &unsigned[n_whole..];
    if rest.is_empty() {
        let value = int(text)?;
        let written = match n_whole {
            ..=3 => NumberFormat::Whole,
            _ if is_long(value) => NumberFormat::LongWhole,
            _ => NumberFormat::WideWhole,
        };
        // A column of floats contains no long whole numbers: `type_inference` makes it text.
        #[expect(clippy::cast_precision_loss, reason = "exact below 2^53; above it is not used")]
        return Some((if text[0] == b'-' && value == 0 { -0.0 } else { value as f64 }, written));
    }
    let (mut n_fraction, mut all) = (0, whole);
    let mut written = NumberFormat::Exponent;
    if let [b'.', fraction @ ..] = rest {
        (n_fraction, all) = digits(fraction, whole);
        if n_whole + n_fraction == 0 {
            return None;
        }
        rest = &fraction[n_fraction..];
        written = match n_whole {
            _ if !rest.is_empty() => NumberFormat::Scientific,
            4.. => NumberFormat::WidePoint,
            1.. if n_fraction == 3 && unsigned[0] != b'0' => match text.last() {
                Some(b'0') => NumberFormat::GroupZero,
                _ => NumberFormat::GroupPoint,
            },
            _ => NumberFormat::Point,
        };
    }
    if rest.is_empty() && n_whole + n_fraction <= DIGITS_EXACT {
        // Both are exact, so their quotient is rounded only once, correctly.
        #[expect(clippy::cast_precision_loss, reason = "below 10^15")]
        let value = all as f64 / POWERS[n_fraction];
        return Some((if text[0] == b'-' { -value } else { value }, written));
    }
    match rest {
        [] => {}
        [b'e' | b'E', b'-' | b'+', digits @ ..] | [b'e' | b'E', digits @ ..]
            if !digits.is_empty() && n_digits(digits) == digits.len() => {}
        _ => return None,
    }
    let value: f64 = fast_float2::parse(text).ok()?;
    let mantissa = &unsigned[..unsigned.len() - rest.len()];
    is_exact(value, mantissa).then_some((value, written))
}

/// Decimal digits that a 64-bit float always represents.
const DIGITS_EXACT: usize = 15;
/// Powers of ten that a 64-bit float represents exactly.
const POWERS: [f64; DIGITS_EXACT + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Returns the number of leading digits of `text`, and the value of `before` extended by them, which is
/// meaningless for more than nineteen digits in all.
#[inline]
fn digits(text: &[u8], before: u64) -> (usize, u64) {
    let (mut n, mut value) = (0, before);
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if 9 < digit {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        n += 1;
    }
    (n, value)
}

/// Returns the number of leading digits of `text`.
#[inline]
pub(crate) fn n_digits(text: &[u8]) -> usize {
    text.iter().take_while(|it| it.is_ascii_digit()).count()
}

fn infinite(text: &[u8], unsigned: &[u8]) -> Option<f64> {
    let named = ["inf", "infinity"].iter().any(|it| unsigned.eq_ignore_ascii_case(it.as_bytes()));
    let value = if text[0] == b'-' { f64::NEG_INFINITY } else { f64::INFINITY };
    named.then_some(value)
}

/// Returns whether `value` represents all the digits of `mantissa`.
fn is_exact(value: f64, mantissa: &[u8]) -> bool {
    /// Limit on a double's own digits in practice; longer text is kept as text.
    const DIGITS_MAX: usize = 64;
    if !value.is_finite() {
        return false;
    }
    let mut digits = [0u8; DIGITS_MAX];
    let Some(n) = significant(mantissa, &mut digits) else { return false };
    if n == 0 {
        return true;
    }
    if value == 0.0 {
        return false;
    }
    if n <= 15 && f64::MIN_POSITIVE <= value.abs() {
        return true;
    }
    let mut printed = [0u8; DIGITS_MAX];
    let mut buffer = zmij::Buffer::new();
    let shortest = buffer.format_finite(value.abs()).as_bytes();
    let shortest = shortest.split(|it| *it == b'e').next().unwrap_or_default();
    if significant(shortest, &mut printed) == Some(n) && printed[..n] == digits[..n] {
        return true;
    }
    // The same number of digits, correctly rounded: what `printf("%.17g")` wrote.
    let rounded = format!("{:.*e}", n - 1, value.abs());
    let rounded = rounded.split('e').next().unwrap_or_default();
    significant(rounded.as_bytes(), &mut printed) == Some(n) && printed[..n] == digits[..n]
}

/// Copies the digits without leading and trailing zeros; returns their number, `None` if too many.
fn significant(mantissa: &[u8], digits: &mut [u8]) -> Option<usize> {
    let (mut n, mut n_kept) = (0, 0);
    for &byte in mantissa.iter().filter(|it| **it != b'.') {
        if n == 0 && byte == b'0' {
            continue;
        }
        if byte != b'0' && digits.len() <= n {
            return None;
        }
        if n < digits.len() {
            digits[n] = byte;
        }
        n += 1;
        if byte != b'0' {
            n_kept = n;
        }
    }
    Some(n_kept)
}

/// Parses `true` or `false` in any case.
#[inline]
pub(crate) fn bool(text: &[u8]) -> Option<bool> {
    match text.len() {
        4 if text.eq_ignore_ascii_case(b"true") => Some(true),
        5 if text.eq_ignore_ascii_case(b"false") => Some(false),
        _ => None,
    }
}

/// Words for yes and no, in any case. They remain text unless the user requests truth values.
pub(crate) const YES_NO: [[&str; 2]; 8] = [
    ["yes", "no"],
    ["y", "n"],
    ["t", "f"],
    ["on", "off"],
    ["ja", "nein"],
    ["oui", "non"],
    ["wahr", "falsch"],
    ["vrai", "faux"],
];

/// Returns the pair of [`YES_NO`] that a word belongs to, and whether it means yes.
#[inline]
pub(crate) fn yes_no(text: &[u8]) -> Option<(usize, bool)> {
    /// Length of the longest word.
    const WORD_BYTES_MAX: usize = 6;
    if WORD_BYTES_MAX < text.len() {
        return None;
    }
    let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    let at = YES_NO.iter().position(|pair| pair.iter().any(|it| is(it)))?;
    Some((at, is(YES_NO[at][0])))
}

/// Returns the days since 1970-01-01 of a date written `2024-02-29`.
#[inline]
pub(crate) fn date(text: &[u8]) -> Option<i32> {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = text else { return None };
    let year = u32::from(two(y0, y1)?) * 100 + u32::from(two(y2, y3)?);
    civil(year, u32::from(two(m0, m1)?), u32::from(two(d0, d1)?))
}

/// Returns the days since 1970-01-01 of a calendar date, from the year 1 to 9999.
#[inline]
pub(crate) fn civil(year: u32, month: u32, day: u32) -> Option<i32> {
    if year == 0 || month == 0 || 12 < month || day == 0 || days_in_month(year, month) < day {
        return None;
    }
    i32::try_from(days_from_civil(year.into(), month.into(), day.into())).ok()
}

/// Returns the microseconds since midnight of a time written `09:30`, `09:30:15` or `09:30:15.25`.
#[inline]
pub(crate) fn time(text: &[u8]) -> Option<i64> {
    let (&[h0, h1, b':', m0, m1], rest) = text.split_first_chunk()? else { return None };
    let (hour, minute) = (two(h0, h1)?, two(m0, m1)?);
    let (second, fraction) = match rest {
        [] => (0, 0),
        [b':', s0, s1] => (two(*s0, *s1)?, 0),
        [b':', s0, s1, b'.' | b',', digits @ ..] => (two(*s0, *s1)?, microseconds(digits)?),
        _ => return None,
    };
    if 23 < hour || 59 < minute || 59 < second {
        return None;
    }
    let seconds = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second);
    Some(seconds * 1_000_000 + fraction)
}

/// Returns the microseconds since 1970 of a date and a time separated by a blank or a `T`, and whether
/// an offset (`Z`, `+02:00`, `-0330`, ` +0100`, ` UTC`) made it an instant.
#[inline]
pub(crate) fn timestamp(text: &[u8]) -> Option<(i64, bool)> {
    if text.len() < 16 || !matches!(text[10], b' ' | b'T') {
        return None;
    }
    let days = i64::from(date(&text[..10])?);
    let clock = &text[11..];
    let (clock, offset_us) = match clock.iter().position(|it| matches!(it, b'Z' | b'+' | b'-')) {
        None => match clock.strip_suffix(b" UTC") {
            Some(clock) => (clock, Some(0)),
            None => (clock, None),
        },
        Some(at) => {
            let local = &clock[..at];
            (local.strip_suffix(b" ").unwrap_or(local), Some(offset(&clock[at..])?))
        }
    };
    let local = days * DAY_US + time(clock)?;
    Some((local - offset_us.unwrap_or(0), offset_us.is_some()))
}

fn offset(text: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match *text {
        [b'Z'] => return Some(0),
        [sign, h0, h1] => (sign, two(h0, h1)?, 0),
        [sign, h0, h1, m0, m1] | [sign, h0, h1, b':', m0, m1] => (sign, two(h0, h1)?, two(m0, m1)?),
        _ => return None,
    };
    if 23 < hours || 59 < minutes {
        return None;
    }
    let us = (i64::from(hours) * 60 + i64::from(minutes)) * 60_000_000;
    Some(if sign == b'-' { -us } else { us })
}

/// Parses the digits after the point. Nanoseconds would be truncated, so they are rejected.
fn microseconds(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || 9 < digits.len() || n_digits(digits) < digits.len() {
        return None;
    }
    let (kept, cut) = digits.split_at(digits.len().min(6));
    if cut.iter().any(|it| *it != b'0') {
        return None;
    }
    let value = kept.iter().fold(0, |sum, it| sum * 10 + i64::from(it - b'0'));
    Some((kept.len()..6).fold(value, |it, _| it * 10))
}

#[inline]
fn two(tens: u8, ones: u8) -> Option<u8> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| tens * 10 + ones)
}

fn days_in_month(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::{DAY_US, NumberFormat, date, float, int, time, timestamp};

    #[test]
    fn whole_numbers_are_those_that_print_as_they_were_written() {
        let check = |text: &str, value| assert_eq!(int(text.as_bytes()), value, "{text}");
        check("0", Some(0));
        check("-42", Some(-42));
        check("+42", Some(42));
        check("9223372036854775807", Some(i64::MAX));
        check("-9223372036854775808", Some(i64::MIN));
        check("9223372036854775808", None);
        check("12345678901234567890", None);
        check("007", None);
        check("00", None);
        check("+491701234567", None);
        check("", None);
        check("-", None);
        check("1_000", None);
        check("0x1F", None);
    }

    #[test]
    fn a_float_keeps_every_digit_or_is_none() {
        let check = |text: &str, value: Option<f64>| {
            assert_eq!(float(text.as_bytes()).map(|it| it.0), value, "{text}");
        };
        check("4.2", Some(4.2));
        check("-.5", Some(-0.5));
        check("5.", Some(5.0));
        check("1.10", Some(1.1));
        check("1e-7", Some(1e-7));
        check("0.30000000000000004", Some(0.300_000_000_000_000_04));
        check("0.1000000000000000055511151231257827", Some(0.1));
        check("5.684341886080802e-14", Some(5.684_341_886_080_802e-14));
        check("0.12345678901234567890", None);
        check("9007199254740993.0", None);
        check("12345678901234567890.5", None);
        check("00.5", None);
        check("1e999", None);
        check("1e-999", None);
        check("0e5", Some(0.0));
        check("inf", Some(f64::INFINITY));
        check("-Infinity", Some(f64::NEG_INFINITY));
        check("information", None);
        check("1.2.3", None);
        check(".", None);
        check("1e", None);
        check("1e+", None);
        check("NaN", None);
    }

    #[test]
    fn a_number_knows_how_it_was_written() {
        assert_eq!(float(b"42").map(|it| it.1), Some(NumberFormat::Whole));
        assert_eq!(float(b"9007199254740993").map(|it| it.1), Some(NumberFormat::LongWhole));
        assert_eq!(float(b"1E5").map(|it| it.1), Some(NumberFormat::Exponent));
        assert_eq!(float(b"1.0E5").map(|it| it.1), Some(NumberFormat::Scientific));
        assert_eq!(float(b"inf").map(|it| it.1), Some(NumberFormat::Scientific));
        assert_eq!(float(b"-4200").map(|it| it.1), Some(NumberFormat::WideWhole));
        assert_eq!(float(b"4.2").map(|it| it.1), Some(NumberFormat::Point));
        assert_eq!(float(b"4200.5").map(|it| it.1), Some(NumberFormat::WidePoint));
        assert_eq!(float(b"4.201").map(|it| it.1), Some(NumberFormat::GroupPoint));
        assert_eq!(float(b"4.200").map(|it| it.1), Some(NumberFormat::GroupZero));
        assert_eq!(float(b"0.200").map(|it| it.1), Some(NumberFormat::Point));
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let check = |text: &str, value| assert_eq!(date(text.as_bytes()), value, "{text}");
        check("1970-01-01", Some(0));
        check("1969-12-31", Some(-1));
        check("2000-02-29", Some(11_016));
        check("0001-01-01", Some(-719_162));
        check("9999-12-31", Some(2_932_896));
        check("1900-02-29", None);
        check("2024-13-01", None);
        check("2024-04-31", None);
        check("0000-01-01", None);
        check("2024-1-1", None);
        check("2é24-01-1", None);
        check("\u{7f}\u{7f}24-01-01", None);
    }

    #[test]
    fn times_stop_before_what_a_day_or_a_microsecond_can_hold() {
        let check = |text: &str, value| assert_eq!(time(text.as_bytes()), value, "{text}");
        check("00:00", Some(0));
        check("23:59:59.999999", Some(DAY_US - 1));
        check("09:30:15.25", Some(34_215_250_000));
        check("09:30:15.000001000", Some(34_215_000_001));
        check("09:30:15.0000001", None);
        check("24:00", None);
        check("23:59:60", None);
        check("9:30", None);
    }

    #[test]
    fn an_offset_makes_an_instant() {
        let check = |text: &str, value| assert_eq!(timestamp(text.as_bytes()), value, "{text}");
        check("1970-01-01 00:00", Some((0, false)));
        check("1970-01-01T00:00:01.5", Some((1_500_000, false)));
        check("1970-01-01T00:00:00Z", Some((0, true)));
        check("1970-01-01T02:00:00+02:00", Some((0, true)));
        check("1969-12-31T20:30-0330", Some((0, true)));
        check("1970-01-01 01:00:00 +0100", Some((0, true)));
        check("1970-01-01 00:00:00 UTC", Some((0, true)));
        check("1970-01-01 00:00:00  +0100", None);
        check("1970-01-01 00:00:00 CET", None);
        check("1970-01-01T00:00:00 ", None);
        check("1970-01-01", None);
    }
}
