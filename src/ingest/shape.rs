//! Whether a text looks like one value of some type, in the format of any country.
//!
//! Pure, and more lenient than the rules of `parse`: it scores ways to split a line, and decides no
//! type.

use csv_agent_text::calendar::MONTHS;

/// Returns whether `text` looks like a number, a date, a time or both, a truth value or a missing
/// marker; empty text does not.
pub(crate) fn is_value(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.len() <= 40 && (is_number(text) || is_moment(text) || is_word(text) || names_month(text))
}

/// Returns whether `text` looks like a number that counts or measures and so is not a name: with a
/// thousands separator or a currency.
pub(crate) fn is_amount(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let has_group =
        || text.windows(4).any(|it| it[0] == b',' && it[1..].iter().all(u8::is_ascii_digit));
    let is_money = text.contains(&b'$') || text.ends_with("€".as_bytes());
    text.len() <= 40 && is_number(text) && (is_money || has_group())
}

fn is_word(text: &[u8]) -> bool {
    const WORDS: [&str; 10] =
        ["true", "false", "yes", "no", "na", "n/a", "null", "none", "nan", "\\n"];
    WORDS.iter().any(|it| text.eq_ignore_ascii_case(it.as_bytes()))
}

/// A number with a decimal point or comma, a thousands separator, a currency or a percent sign.
fn is_number(text: &[u8]) -> bool {
    let text = text.strip_suffix(b"%").unwrap_or(text).trim_ascii_end();
    let text = ["€", "$", "£"].iter().fold(text, |text, sign| {
        let text = text.strip_prefix(sign.as_bytes()).unwrap_or(text);
        text.strip_suffix(sign.as_bytes()).unwrap_or(text)
    });
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let n_whole = n_digits(text);
    let (whole, rest) = text.split_at(n_whole);
    match rest.split_first() {
        None => 0 < n_whole,
        Some((b'.' | b',', decimals)) if is_fraction(decimals) => {
            // A code split at its comma is more common than such a number.
            rest[0] == b'.' || !(whole.is_empty() || 1 < whole.len() && whole[0] == b'0')
        }
        Some((b'e' | b'E', exponent)) => 0 < n_whole && is_exponent(exponent),
        Some((mark, _)) => (1..=3).contains(&n_whole) && is_grouped(*mark, rest),
    }
}

fn is_fraction(text: &[u8]) -> bool {
    let (digits, rest) = text.split_at(n_digits(text));
    match rest.split_first() {
        None => !digits.is_empty(),
        Some((b'e' | b'E', exponent)) => !digits.is_empty() && is_exponent(exponent),
        Some(_) => false,
    }
}

fn is_exponent(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    !digits.is_empty() && n_digits(digits) == digits.len()
}

/// Groups of three digits, each after `mark`, then possibly a fraction.
fn is_grouped(mark: u8, mut rest: &[u8]) -> bool {
    if !b",. '".contains(&mark) {
        return false;
    }
    while let Some(group) = rest.strip_prefix(&[mark])
        && n_digits(group) == 3
    {
        rest = &group[3..];
    }
    match rest.split_first() {
        None => true,
        Some((point @ (b'.' | b','), decimals)) => *point != mark && is_fraction(decimals),
        Some(_) => false,
    }
}

/// A date, a time, or a date and a time.
fn is_moment(text: &[u8]) -> bool {
    let n_date = text.iter().take_while(|it| it.is_ascii_digit() || b"-/.".contains(it)).count();
    let (date, rest) = text.split_at(n_date);
    if !is_date(date) {
        return is_time(text);
    }
    rest.is_empty() || (matches!(rest[0], b' ' | b'T' | b't') && is_time(rest[1..].trim_ascii()))
}

fn is_date(text: &[u8]) -> bool {
    let Some(mark) = text.iter().find(|it| !it.is_ascii_digit()) else { return false };
    let parts: Vec<&[u8]> = text.split(|it| it == mark).collect();
    let [first, second, third] = parts[..] else { return false };
    let is_digits = |it: &[u8]| !it.is_empty() && n_digits(it) == it.len();
    [first, second, third].into_iter().all(is_digits)
        && [first.len(), second.len(), third.len()].into_iter().all(|it| it <= 4)
        && second.len() <= 2
        && (first.len() <= 2 || third.len() <= 2)
}

fn is_time(text: &[u8]) -> bool {
    let n_clock = text.iter().take_while(|it| it.is_ascii_digit() || **it == b':').count();
    let (clock, rest) = text.split_at(n_clock);
    let parts: Vec<&[u8]> = clock.split(|it| *it == b':').collect();
    let is_clock = matches!(parts.len(), 2 | 3)
        && matches!(parts[0].len(), 1 | 2)
        && parts[1..].iter().all(|it| it.len() == 2);
    let rest = match rest.split_first() {
        Some((b'.' | b',', fraction)) => &fraction[n_digits(fraction)..],
        _ => rest,
    };
    let rest = rest.trim_ascii_start();
    let is_zone = || {
        let digits = rest.strip_prefix(b"+").or_else(|| rest.strip_prefix(b"-"));
        digits.is_some_and(|it| {
            it.len() <= 5 && it.iter().all(|it| it.is_ascii_digit() || *it == b':')
        })
    };
    let is_half =
        || ["z", "am", "pm", "utc"].iter().any(|it| rest.eq_ignore_ascii_case(it.as_bytes()));
    is_clock && (rest.is_empty() || is_half() || is_zone())
}

/// `12 Jan 2024`, `January 12, 2024`.
/// Returns whether `text` looks like a date, a month, a quarter or a year.
pub(crate) fn is_period(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let is_part = |it: &u8| it.is_ascii_digit() || b"-/.QqMWH".contains(it);
    let is_of_year = || n_digits(text) == 4 && text.len() <= 8 && text.iter().all(is_part);
    text.len() <= 40 && (is_moment(text) || names_month(text) || is_of_year())
}

fn names_month(text: &[u8]) -> bool {
    let is_month = |it: &[u8]| {
        let begins = it.get(..3).unwrap_or_default();
        it.iter().all(u8::is_ascii_alphabetic)
            && it.len() <= 9
            && MONTHS.iter().any(|month| begins.eq_ignore_ascii_case(&month.as_bytes()[..3]))
    };
    let parts: Vec<&[u8]> =
        text.split(|it| b" ,-/.".contains(it)).filter(|it| !it.is_empty()).collect();
    let n_months = parts.iter().filter(|it| is_month(it)).count();
    let n_numbers = parts.iter().filter(|it| n_digits(it) == it.len() && it.len() <= 4).count();
    n_months == 1 && (1..=2).contains(&n_numbers) && n_months + n_numbers == parts.len()
}

fn n_digits(text: &[u8]) -> usize {
    text.iter().take_while(|it| it.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::{is_amount, is_value};

    #[test]
    fn values_of_all_countries_are_values() {
        for text in [
            "1",
            "-1.5",
            "1,5",
            "1e-5",
            "1 234 567",
            "1.234,50",
            "1,234.50",
            "12.5 %",
            "€ 5",
            "007",
            "2024-01-01",
            "1/2/24",
            "31.12.2024",
            "2024-01-01 10:30",
            "2024-01-01T10:30:00.5Z",
            "10:30",
            "9:30:00 PM",
            "10:30+02:00",
            "12 Jan 2024",
            "January 12, 2024",
            "true",
            "NA",
        ] {
            assert!(is_value(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn amounts_are_what_no_column_is_called() {
        for text in ["2,600,678", "$10,000", "1,234.5", "12 €"] {
            assert!(is_amount(text.as_bytes()), "{text}");
        }
        for text in ["2020", "10%", "0,5", "1.5", "a,123", "2024-01-01"] {
            assert!(!is_amount(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn parts_of_values_are_none() {
        for text in
            ["", "a", "2024-01-01 10", "00,5", "1,2,3", "1;2", "10:3", "1-2", ",5", "5 apples"]
        {
            assert!(!is_value(text.as_bytes()), "{text}");
        }
    }
}
