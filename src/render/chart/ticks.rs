//! Round values for axes, and numbers as people write them.
//!
//! All arithmetic that decides a label goes through decimal text, so that it is the same everywhere.

use crate::render::digits;

/// Numbers from which thousands and so on are abbreviated: 12,000 is 12k, 9,000 is not 9k.
const ABBREVIATED_FROM: f64 = 10_000.0;
/// Beyond these, numbers are written with an exponent.
const PLAIN_RANGE: (f64, f64) = (1e-4, 1e15);
/// Steps of an axis at most; what asks for more is a bug, and ends here.
const STEPS_MAX: i64 = 40;

/// The ticks of a numeric axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticks {
    /// Ascending; at least two. The axis reaches from the first to the last.
    pub values: Vec<f64>,
    /// As `values`.
    pub labels: Vec<String>,
}

impl Ticks {
    /// Returns about `n_steps` round steps that cover a range.
    pub fn cover(low: f64, high: f64, n_steps: u32) -> Ticks {
        let (low, high) = widen(low, high);
        let (mantissa, exponent) = parts((high - low) / f64::from(n_steps));
        // In tenths: 1, 2, 2.5, 5 and 10 times a power of ten, whichever is nearest.
        let (tens, exponent) = match mantissa {
            it if it <= 1.4 => (10, exponent),
            it if it <= 2.2 => (20, exponent),
            it if it <= 3.2 => (25, exponent),
            it if it <= 7.0 => (50, exponent),
            _ => (10, exponent + 1),
        };
        let step = decimal(tens, exponent - 1);
        let (first, last) = (whole((low / step).floor()), whole((high / step).ceil()));
        let last = last.max(first.saturating_add(1)).min(first.saturating_add(STEPS_MAX));
        let values: Vec<_> =
            (first..=last).map(|it| decimal(it.saturating_mul(tens), exponent - 1)).collect();
        let lowest_digit = if tens == 25 { exponent - 1 } else { exponent };
        let labels = labels(&values, lowest_digit);
        Ticks { values, labels }
    }

    /// Returns the ends of the axis.
    pub fn range(&self) -> (f64, f64) {
        let first = self.values.first().copied().unwrap_or(0.0);
        (first, self.values.last().copied().unwrap_or(1.0))
    }

    /// Drops the abbreviations and separators: 2024 is a year.
    #[must_use]
    pub fn years(mut self) -> Ticks {
        self.labels = self.values.iter().map(ToString::to_string).collect();
        self
    }
}

/// Makes room where there is none, or less than numbers of that size can tell.
fn widen(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if size * 1e-9 < high - low {
        return (low, high);
    }
    let room = if size == 0.0 { 1.0 } else { size * 0.1 };
    (low - room, high + room)
}

/// Returns `digits` × 10^`exponent`, correctly rounded.
fn decimal(digits: i64, exponent: i32) -> f64 {
    format!("{digits}e{exponent}").parse().unwrap_or(0.0)
}

/// Returns the mantissa, from 1 to 10, and the exponent of a positive number.
fn parts(value: f64) -> (f64, i32) {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.parse().unwrap_or(1.0), exponent.parse().unwrap_or(0))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast saturates, and callers bound the range"
)]
fn whole(value: f64) -> i64 {
    value as i64
}

fn labels(values: &[f64], lowest_digit: i32) -> Vec<String> {
    let size = values.iter().fold(0.0_f64, |it, value| it.max(value.abs()));
    let (unit, suffix) = unit(size);
    let decimals = (unit - lowest_digit).max(0);
    let label = |value: &f64| {
        if *value == 0.0 {
            "0".to_owned()
        } else if size < PLAIN_RANGE.0 || PLAIN_RANGE.1 <= size {
            scientific(*value, parts(value.abs()).1 - lowest_digit)
        } else if 3 < decimals && 0 < unit {
            // Millions that differ in their last digits are written out.
            grouped(&format!("{value:.*}", usize_of(-lowest_digit)))
        } else {
            grouped(&format!("{:.*}{suffix}", usize_of(decimals), value / decimal(1, unit)))
        }
    };
    values.iter().map(label).collect()
}

/// Returns the power of ten that a number is counted in, and its sign.
fn unit(size: f64) -> (i32, &'static str) {
    match size {
        it if it < ABBREVIATED_FROM => (0, ""),
        it if it < 1e6 => (3, "k"),
        it if it < 1e9 => (6, "M"),
        it if it < 1e12 => (9, "B"),
        _ => (12, "T"),
    }
}

fn scientific(value: f64, decimals: i32) -> String {
    let text = format!("{value:.*e}", usize_of(decimals.min(6)));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{exponent}", trimmed(mantissa)).replace('-', "−")
}

fn usize_of(decimals: i32) -> usize {
    usize::try_from(decimals).unwrap_or(0)
}

/// Returns a decimal number with separators between thousands and a true minus.
fn grouped(number: &str) -> String {
    digits::grouped(number).replace('-', "−")
}

/// Returns a value as a reader wants it beside its mark: short, with three or more digits that count.
pub fn amount(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if size < PLAIN_RANGE.0 || PLAIN_RANGE.1 <= size {
        return scientific(value, 2);
    }
    let text = if size < 1e6 && value.fract() == 0.0 {
        format!("{value}")
    } else if size < 1.0 {
        format!("{value:.*}", usize_of(2 - parts(size).1))
    } else if size < 1_000.0 {
        format!("{value:.2}")
    } else if size < 1e6 {
        format!("{value:.0}")
    } else {
        let (unit, suffix) = unit(size);
        return grouped(&(trimmed(&format!("{:.2}", value / decimal(1, unit))) + suffix));
    };
    grouped(&trimmed(&text))
}

/// Returns a decimal number without zeros at the end of its fraction.
fn trimmed(number: &str) -> String {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::{Ticks, amount};
    use crate::cases::cases;

    #[track_caller]
    fn check(low: f64, high: f64, labels: &[&str]) {
        assert_eq!(Ticks::cover(low, high, 5).labels, labels);
    }

    #[test]
    fn steps_are_round_and_share_a_unit() {
        check(0.0, 98.0, &["0", "20", "40", "60", "80", "100"]);
        check(0.0, 120_400.0, &["0", "25k", "50k", "75k", "100k", "125k"]);
        check(0.0, 8_000.0, &["0", "2,000", "4,000", "6,000", "8,000"]);
        check(0.0, 7_400_000.0, &["0", "2M", "4M", "6M", "8M"]);
        check(0.0, 1.1e6, &["0", "0.2M", "0.4M", "0.6M", "0.8M", "1.0M", "1.2M"]);
    }

    #[test]
    fn negative_and_tiny_and_huge_values_have_labels() {
        check(-40.0, 55.0, &["−40", "−20", "0", "20", "40", "60"]);
        check(0.0, 0.05, &["0", "0.01", "0.02", "0.03", "0.04", "0.05"]);
        check(0.0, 1e-12, &["0", "2e−13", "4e−13", "6e−13", "8e−13", "1e−12"]);
        check(0.0, 1e15, &["0", "2e14", "4e14", "6e14", "8e14", "1e15"]);
        let close = ["1,000,000.0", "1,000,000.2", "1,000,000.4", "1,000,000.6", "1,000,000.8"];
        check(1_000_000.0, 1_000_000.8, &close);
    }

    #[test]
    fn a_range_without_extent_gets_one() {
        check(5.0, 5.0, &["4.4", "4.6", "4.8", "5.0", "5.2", "5.4", "5.6"]);
        check(0.0, 0.0, &["−1.0", "−0.5", "0", "0.5", "1.0"]);
    }

    #[test]
    fn an_amount_is_short_and_true() {
        for (value, text) in [
            (120_400.0, "120,400"),
            (98.456, "98.46"),
            (-14.0, "−14"),
            (1234.5678, "1,235"),
            (7_412_345.0, "7.41M"),
            (2.0e9, "2B"),
            (0.001_234, "0.00123"),
            (3e-7, "3e−7"),
            (0.5, "0.5"),
        ] {
            assert_eq!(amount(value), text);
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn the_axis_covers_the_range(a in any::<f64>(), b in any::<f64>()) {
            let clip = |it: f64| if it.is_finite() { it.clamp(-1e300, 1e300) } else { 0.0 };
            let (low, high) = (clip(a).min(clip(b)), clip(a).max(clip(b)));
            let ticks = Ticks::cover(low, high, 5);
            let (first, last) = ticks.range();
            // What is smaller than a billionth of the axis is less than a pixel.
            let room = (last / 2.0 - first / 2.0) * 1e-9;
            prop_assert!(first - room <= low && high <= last + room, "{ticks:?}");
            prop_assert!((2..=14).contains(&ticks.values.len()), "{ticks:?}");
            prop_assert!(ticks.values.is_sorted());
        }
    }
}
