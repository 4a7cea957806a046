//! Dates in local forms, `31/12/2024`, `12-31-24`, `3 Jan 2024`, `Jan 3, 2024`, with or without a time
//! of day.
//!
//! Pure, from bytes, without allocation. One value seldom shows its order: `01/02/2024` may be two
//! dates. Each value therefore rules out orders, and the whole column decides.

use csv_agent_text::calendar::MONTHS;

use super::parse::{DAY_US, civil, n_digits, time};
use super::type_evidence::TypeEvidence;

/// The order of the parts of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateOrder {
    /// Day, month, year: `31/12/2024`.
    Dmy,
    /// Month, day, year: `12/31/2024`.
    Mdy,
    /// Year, month, day: `2024/12/31`.
    Ymd,
}

impl DateOrder {
    /// All orders.
    pub const ALL: [DateOrder; 3] = [DateOrder::Dmy, DateOrder::Mdy, DateOrder::Ymd];

    /// Returns the order in words.
    pub fn words(self) -> &'static str {
        match self {
            DateOrder::Dmy => "day, month, year",
            DateOrder::Mdy => "month, day, year",
            DateOrder::Ymd => "year, month, day",
        }
    }

    /// Returns the evidence of a value that is invalid in this order.
    pub(super) fn ruled_out(self) -> TypeEvidence {
        match self {
            DateOrder::Dmy => TypeEvidence::NOT_DMY,
            DateOrder::Mdy => TypeEvidence::NOT_MDY,
            DateOrder::Ymd => TypeEvidence::NOT_YMD,
        }
    }
}

/// Two-digit years from here on are in the 20th century, as in POSIX `strptime`.
pub(crate) const PIVOT_YEAR: u32 = 69;

/// A date with its parts as written, whatever they mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Local {
    parts: [u32; 3],
    /// Digits of each part; a named month counts as two.
    lengths: [usize; 3],
    /// Microseconds since midnight.
    time: Option<i64>,
    /// The order, if a named month allows only one.
    order: Option<DateOrder>,
    /// Separator, length of the year, clock.
    form: TypeEvidence,
}

impl Local {
    /// Parses `text`, if it has the shape of a date.
    #[inline]
    pub(crate) fn scan(text: &[u8]) -> Option<Self> {
        let (mut local, rest) = match text.first()? {
            b'0'..=b'9' => begins_with_digits(text)?,
            _ => begins_with_month(text)?,
        };
        let [first, _, third] = local.lengths;
        local.form.add(if first == 4 || third == 4 {
            TypeEvidence::YEAR4
        } else {
            TypeEvidence::YEAR2
        });
        match rest {
            [] => local.form.add(TypeEvidence::LOCAL_DATE),
            [b',', b' ', clock @ ..] | [b' ' | b'T', clock @ ..] => {
                let (us, clock) = clock_time(clock)?;
                local.time = Some(us);
                local.form.add(TypeEvidence::LOCAL_TIMESTAMP);
                local.form.add(clock);
            }
            _ => return None,
        }
        Some(local)
    }

    /// Returns the evidence of the value: [`TypeEvidence::TEXT`] if no order makes it a valid date.
    #[inline]
    pub(crate) fn evidence(&self) -> TypeEvidence {
        let mut seen = self.form;
        let mut any = false;
        for order in DateOrder::ALL {
            match self.day(order) {
                Some(_) => any = true,
                None => seen.add(order.ruled_out()),
            }
        }
        if !any {
            return TypeEvidence::TEXT;
        }
        if seen.has(TypeEvidence::YEAR2) {
            seen.add(TypeEvidence::first_tens(self.parts[0] / 10));
            seen.add(TypeEvidence::third_tens(self.parts[2] / 10));
        }
        seen
    }

    /// Returns the days since 1970-01-01, if the parts are a valid date in this order.
    #[inline]
    pub(crate) fn day(&self, order: DateOrder) -> Option<i32> {
        if self.order.is_some_and(|it| it != order) {
            return None;
        }
        let [first, second, third] = self.parts;
        let (year, month, day, n_year) = match order {
            DateOrder::Dmy => (third, second, first, self.lengths[2]),
            DateOrder::Mdy => (third, first, second, self.lengths[2]),
            DateOrder::Ymd => (first, second, third, self.lengths[0]),
        };
        let year = match n_year {
            4 => year,
            // A four-digit year is in another position, or there is no year.
            _ if n_year != 2 || self.form.has(TypeEvidence::YEAR4) => return None,
            _ if year < PIVOT_YEAR => 2_000 + year,
            _ => 1_900 + year,
        };
        civil(year, month, day)
    }

    /// Returns the microseconds since 1970; a date without a time is its midnight.
    #[inline]
    pub(crate) fn timestamp(&self, order: DateOrder) -> Option<i64> {
        Some(i64::from(self.day(order)?) * DAY_US + self.time.unwrap_or(0))
    }

    /// Returns whether there is a time of day.
    #[inline]
    pub(crate) fn has_time(&self) -> bool {
        self.time.is_some()
    }
}

/// `31/12/2024`, `2024.12.31`, `31-12-24`, `3 Jan 2024`, `03-JAN-24`, `2024-Jan-03`.
fn begins_with_digits(text: &[u8]) -> Option<(Local, &[u8])> {
    let (first, n_first, rest) = number(text)?;
    if n_first == 2 && rest.first()?.is_ascii_alphabetic() {
        return joined(first, rest);
    }
    let (&separator, rest) = rest.split_first()?;
    let mut form = match separator {
        b'/' => TypeEvidence::SLASH,
        b'-' => TypeEvidence::DASH,
        b'.' => TypeEvidence::DOT,
        b' ' => TypeEvidence::BLANK,
        _ => return None,
    };
    let is_named = rest.first()?.is_ascii_alphabetic();
    let (second, n_second, rest) =
        if is_named { month(rest).map(|(it, rest)| (it, 2, rest))? } else { number(rest)? };
    let rest = rest.strip_prefix(&[separator])?;
    let (third, n_third, rest) = number(rest)?;
    let lengths = [n_first, n_second, n_third];
    let is_year2 = n_first <= 2 && n_third <= 2;
    if 2 < n_second || (n_first == 4 && 2 < n_third) {
        return None;
    }
    let mut order = None;
    if is_named {
        form.add(TypeEvidence::NAMED_MONTH);
        order = Some(if n_first == 4 { DateOrder::Ymd } else { DateOrder::Dmy });
    } else if separator == b' ' {
        return None;
    } else if is_year2 && separator != b'/' && lengths != [2, 2, 2] {
        // `1.2.3` is a version, `2-1-10` a result.
        return None;
    } else {
        form.add(TypeEvidence::NUMBERED_MONTH);
    }
    Some((Local { parts: [first, second, third], lengths, time: None, order, form }, rest))
}

/// What follows the day in `03JAN2024`, as SAS writes it. With fewer digits it may be a code.
fn joined(day: u32, rest: &[u8]) -> Option<(Local, &[u8])> {
    let (month, rest) = month(rest).filter(|it| rest.len() - it.1.len() == 3)?;
    let (year, n_year, rest) = number(rest)?;
    let form = TypeEvidence::JOINED.and(TypeEvidence::NAMED_MONTH);
    let (parts, lengths) = ([day, month, year], [2, 2, n_year]);
    let local = Local { parts, lengths, time: None, order: Some(DateOrder::Dmy), form };
    (n_year == 4).then_some((local, rest))
}

/// `Jan 3, 2024`, `January 3 2024`.
fn begins_with_month(text: &[u8]) -> Option<(Local, &[u8])> {
    let (first, rest) = month(text)?;
    let (second, n_second, rest) = number(rest.strip_prefix(b" ")?)?;
    let rest = rest.strip_prefix(b",").unwrap_or(rest).strip_prefix(b" ")?;
    let (third, n_third, rest) = number(rest)?;
    if 2 < n_second || n_third != 4 {
        return None;
    }
    let mut form = TypeEvidence::BLANK;
    form.add(TypeEvidence::NAMED_MONTH);
    let (parts, lengths) = ([first, second, third], [2, n_second, n_third]);
    Some((Local { parts, lengths, time: None, order: Some(DateOrder::Mdy), form }, rest))
}

/// One, two or four digits.
#[inline]
fn number(text: &[u8]) -> Option<(u32, usize, &[u8])> {
    let n = n_digits(text);
    if !matches!(n, 1 | 2 | 4) {
        return None;
    }
    let (digits, rest) = text.split_at(n);
    Some((digits.iter().fold(0, |sum, it| sum * 10 + u32::from(it - b'0')), n, rest))
}

/// An English month, in full or abbreviated to three letters, in any case.
fn month(text: &[u8]) -> Option<(u32, &[u8])> {
    let n = text.iter().take_while(|it| it.is_ascii_alphabetic()).count();
    let (name, rest) = text.split_at(n);
    let is_it = |month: &&str| {
        let month = month.as_bytes();
        name.eq_ignore_ascii_case(month)
            || name.eq_ignore_ascii_case(&month[..3])
            || (name.eq_ignore_ascii_case(b"sept") && month[0] == b'S')
    };
    let at = MONTHS.iter().position(is_it)?;
    Some((u32::try_from(at).ok()? + 1, rest))
}

/// `9:30`, `09:30:15.25`, `9:30 PM`: microseconds since midnight, and the clock.
fn clock_time(text: &[u8]) -> Option<(i64, TypeEvidence)> {
    /// Longer than any time with nanoseconds.
    const CLOCK_BYTES_MAX: usize = 24;
    const NOON_US: i64 = DAY_US / 2;
    let (clock, half) = match text {
        [clock @ .., half @ (b'a' | b'A' | b'p' | b'P'), b'm' | b'M'] => {
            (clock.strip_suffix(b" ").unwrap_or(clock), Some(half.to_ascii_lowercase()))
        }
        _ => (text, None),
    };
    let mut padded = [b'0'; CLOCK_BYTES_MAX];
    let n_pad = usize::from(clock.get(1) == Some(&b':'));
    let end = n_pad + clock.len();
    padded.get_mut(n_pad..end)?.copy_from_slice(clock);
    let us = time(&padded[..end])?;
    let Some(half) = half else { return Some((us, TypeEvidence::CLOCK24)) };
    let hour = us / 3_600_000_000;
    if !(1..=12).contains(&hour) {
        return None;
    }
    let us = if hour == 12 { us - NOON_US } else { us };
    Some((if half == b'p' { us + NOON_US } else { us }, TypeEvidence::CLOCK12))
}

#[cfg(test)]
mod tests {
    use super::{DateOrder, Local};
    use crate::parse;
    use crate::type_evidence::TypeEvidence;
    use DateOrder::{Dmy, Mdy, Ymd};

    /// `orders` are those that the value leaves open, `days` the days they make of it.
    #[track_caller]
    fn check(text: &str, expected: &[(DateOrder, &str)]) {
        let local = Local::scan(text.as_bytes());
        let read = |order| Some((order, local?.day(order)?));
        let found: Vec<_> = DateOrder::ALL.into_iter().filter_map(read).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(order, day)| (*order, parse::date(day.as_bytes()).unwrap()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_day_says_which_orders_it_leaves_open() {
        check("31/12/2024", &[(Dmy, "2024-12-31")]);
        check("12/31/2024", &[(Mdy, "2024-12-31")]);
        check("1/2/2024", &[(Dmy, "2024-02-01"), (Mdy, "2024-01-02")]);
        check("2024/1/2", &[(Ymd, "2024-01-02")]);
        check("2024-1-2", &[(Ymd, "2024-01-02")]);
        check("01.02.0300", &[(Dmy, "0300-02-01"), (Mdy, "0300-01-02")]);
        check("29/02/2024", &[(Dmy, "2024-02-29")]);
        check("29/02/2023", &[]);
        check("31.13.2024", &[]);
        check("00/01/2024", &[]);
        check("01/01/0000", &[]);
    }

    #[test]
    fn a_year_of_two_digits_is_read_as_posix_does() {
        check("31/12/68", &[(Dmy, "2068-12-31")]);
        check("31/12/69", &[(Dmy, "1969-12-31")]);
        check("99-12-31", &[(Ymd, "1999-12-31")]);
        check("1/31/24", &[(Mdy, "2024-01-31")]);
        check("24.01.15", &[(Dmy, "2015-01-24"), (Ymd, "2024-01-15")]);
    }

    #[test]
    fn a_month_in_letters_leaves_one_order() {
        check("3 Jan 2024", &[(Dmy, "2024-01-03")]);
        check("03-JAN-24", &[(Dmy, "2024-01-03")]);
        check("3/sept/2024", &[(Dmy, "2024-09-03")]);
        check("Jan 3, 2024", &[(Mdy, "2024-01-03")]);
        check("January 3 2024", &[(Mdy, "2024-01-03")]);
        check("2024-May-03", &[(Ymd, "2024-05-03")]);
        check("03JAN2024", &[(Dmy, "2024-01-03")]);
        for text in ["31FEB2024", "3JAN2024", "03JAN24", "03JANUARY2024", "03JA2024"] {
            check(text, &[]);
        }
        check("31 Feb 2024", &[]);
        check("3 Jam 2024", &[]);
        check("January 3rd, 2024", &[]);
    }

    #[test]
    fn what_only_resembles_a_day_is_none() {
        for text in ["1.2.3", "3.11.10", "10.0.0.1", "2-1-10", "1/2", "1/2-2024", "1 2 2024"] {
            check(text, &[]);
        }
        for text in ["123/1/2024", "1/2/20245", "1/123/2024", "2024/1/2024", "1/2/", "Jan", ""] {
            check(text, &[]);
        }
    }

    #[test]
    fn a_time_of_day_may_follow() {
        let check = |text: &str, expected: Option<i64>| {
            let found = Local::scan(text.as_bytes()).and_then(|it| it.timestamp(Dmy));
            assert_eq!(found, expected.map(|it| it * 60_000_000), "{text}");
        };
        check("2/1/1970 00:00", Some(1_440));
        check("1/1/1970 9:30", Some(570));
        check("1/1/1970T09:30:00", Some(570));
        check("1/1/1970, 09:30:00.000", Some(570));
        check("1/1/1970 9:30 PM", Some(21 * 60 + 30));
        check("1/1/1970 12:00:00am", Some(0));
        check("1/1/1970 12:00 pm", Some(720));
        check("1 Jan 1970 1:00", Some(60));
        check("1/1/1970 13:00 PM", None);
        check("1/1/1970 0:30 AM", None);
        check("1/1/1970 24:00", None);
        check("1/1/1970 09:30:00+02:00", None);
        check("1/1/1970 ", None);
        check("1/1/1970 09:30:00.00000000000000000000000000", None);
    }

    #[test]
    fn an_impossible_day_is_text() {
        let seen = |text: &str| Local::scan(text.as_bytes()).map(|it| it.evidence());
        assert_eq!(seen("30/02/2024"), Some(TypeEvidence::TEXT));
        assert_eq!(seen("99/99/99"), Some(TypeEvidence::TEXT));
    }
}
