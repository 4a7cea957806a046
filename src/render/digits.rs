//! Digits as people read them.

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

#[cfg(test)]
mod tests {
    use super::grouped;

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
