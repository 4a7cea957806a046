//! Digits as people read them: numbers, counts of things, money.

use std::fmt::Display;

/// Returns a decimal number with separators between thousands.
pub fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |it| ("-", it));
    let end = digits.find(|it: char| !it.is_ascii_digit()).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(end);
    let mut text = sign.to_owned();
    for (at, digit) in whole.char_indices() {
        if 0 < at && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// Returns a whole number with separators between thousands.
pub fn number(n: impl Display) -> String {
    grouped(&n.to_string())
}

/// Returns a count with its word: `1 row`, `2,000 rows`.
pub fn count(n: u64, what: &str) -> String {
    format!("{} {what}{}", number(n), if n == 1 { "" } else { "s" })
}

/// Returns a number of bytes in the unit that suits it: `1 byte`, `1.2 kB`, `34 MB`.
pub fn size(n_bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if n_bytes < 1_000 {
        return count(n_bytes, "byte");
    }
    // In tenths of a unit, rounded half up.
    let mut tenths = n_bytes.saturating_add(50) / 100;
    let mut unit = 0;
    while 9_995 <= tenths && unit + 1 < UNITS.len() {
        tenths = tenths.saturating_add(500) / 1_000;
        unit += 1;
    }
    let (whole, tenth, unit) = (tenths / 10, tenths % 10, UNITS[unit]);
    if whole < 10 && tenth != 0 {
        format!("{whole}.{tenth} {unit}")
    } else {
        format!("{} {unit}", number((tenths + 5) / 10))
    }
}

/// Returns an amount of USD: cents where it has some, else its first digits.
pub fn usd(amount: f64) -> String {
    match amount {
        _ if 1.0 <= amount => format!("${amount:.2}"),
        _ if 0.001 <= amount || amount == 0.0 => format!("${amount:.3}"),
        _ => format!("${amount:.5}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{count, grouped, size, usd};

    #[test]
    fn a_count_has_its_word() {
        assert_eq!(count(1, "round"), "1 round");
        assert_eq!(count(0, "row"), "0 rows");
        assert_eq!(count(1_000_000, "token"), "1,000,000 tokens");
    }

    #[test]
    fn a_size_has_the_unit_that_suits_it() {
        let shown = [0, 1, 999, 1_000, 1_234, 12_345, 999_449, 999_500, 1_249_000, 34_000_000];
        assert_eq!(
            shown.map(size),
            [
                "0 bytes", "1 byte", "999 bytes", "1 kB", "1.2 kB", "12 kB", "999 kB", "1 MB",
                "1.2 MB", "34 MB"
            ]
        );
        assert_eq!(size(u64::MAX), "18,446,744 TB");
    }

    #[test]
    fn money_has_the_digits_that_matter() {
        let shown = [0.0, 0.000_42, 0.0093, 0.0512, 1.2345].map(usd);
        assert_eq!(shown, ["$0.000", "$0.00042", "$0.009", "$0.051", "$1.23"]);
    }

    #[test]
    fn thousands_stand_apart() {
        for (number, text) in [
            ("0", "0"),
            ("999", "999"),
            ("1000", "1,000"),
            ("-1234567.8912", "-1,234,567.8912"),
            ("12345k", "12,345k"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
