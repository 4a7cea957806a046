//! Number formats of zeros: `00000`, `000\\-00\\-0000`.
//!
//! Postal codes, article numbers and the like are stored as numbers and shown with their full number of
//! digits.

use calamine::DataRef;

/// A number format that consists only of zeros and separators.
pub(super) struct Pattern {
    /// A digit, or a separator.
    places: Vec<Option<char>>,
}

impl Pattern {
    /// Parses a number format, if it is one: at least two zeros, and the same format for all numbers.
    pub(super) fn of(format: &str) -> Option<Pattern> {
        let mut places = Vec::new();
        let mut chars = format.chars();
        while let Some(char) = chars.next() {
            match char {
                '0' => places.push(None),
                '\\' => places.push(Some(chars.next()?)),
                '-' | ' ' | '/' | '(' | ')' => places.push(Some(char)),
                '"' => places.extend(chars.by_ref().take_while(|it| *it != '"').map(Some)),
                _ => return None,
            }
        }
        let n_digits = places.iter().filter(|it| it.is_none()).count();
        (2 <= n_digits).then_some(Pattern { places })
    }

    /// Returns a number as the format shows it, if it is whole and unsigned.
    pub(super) fn show(&self, value: &DataRef<'_>) -> Option<String> {
        /// Beyond this, a spreadsheet does not keep all digits of a number.
        const VALUE_MAX: f64 = 1e15;
        let value = match value {
            #[expect(clippy::cast_precision_loss, reason = "it is bounded below")]
            DataRef::Int(value) => *value as f64,
            DataRef::Float(value) => *value,
            _ => return None,
        };
        if value.fract() != 0.0 || !(0.0..VALUE_MAX).contains(&value) {
            return None;
        }
        let n_digits = self.places.iter().filter(|it| it.is_none()).count();
        let digits = format!("{:0>n_digits$}", format!("{value:.0}"));
        // Digits beyond the zeros precede the first zero.
        let (before, digits) = digits.split_at(digits.len() - n_digits);
        let mut digits = digits.chars();
        let mut shown = String::new();
        let first = self.places.iter().position(Option::is_none);
        for (at, place) in self.places.iter().enumerate() {
            if Some(at) == first {
                shown.push_str(before);
            }
            shown.extend(place.or_else(|| digits.next()));
        }
        Some(shown)
    }
}

#[cfg(test)]
mod tests {
    use calamine::DataRef;

    use super::Pattern;

    #[track_caller]
    fn check(format: &str, value: f64, expected: Option<&str>) {
        let shown = Pattern::of(format).and_then(|it| it.show(&DataRef::Float(value)));
        assert_eq!(shown.as_deref(), expected, "{value} as `{format}`");
    }

    #[test]
    fn a_pattern_of_zeros_shows_as_many_digits() {
        check("00000", 2001.0, Some("02001"));
        check("00000", 12_345.0, Some("12345"));
        check("00000", 123_456.0, Some("123456"));
        check("000\\-00\\-0000", 12_345_678.0, Some("012-34-5678"));
        check("\"A\"000", 7.0, Some("A007"));
    }

    #[test]
    fn other_formats_and_numbers_are_none() {
        for format in
            ["0", "General", "0.00", "#,##0", "00.0", "0%", "00E+00", "hh:mm", "[$-407]00"]
        {
            check(format, 7.0, None);
        }
        check("00000", 1.5, None);
        check("00000", -1.0, None);
        check("00000", 1e15, None);
    }
}
