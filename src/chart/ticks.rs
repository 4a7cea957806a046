//! Round values for axes.
//!
//! All arithmetic that decides a label uses decimal text, so that it is the same on every machine.

use super::numbers::{
    Measure, PLAIN_RANGE, amount, decimal, grouped, parts, scientific, unit, usize_of,
};

/// Maximum steps of an axis; a request for more is a bug, and is cut here.
const STEPS_MAX: i64 = 40;

/// The ticks of a numeric axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ticks {
    /// Ascending; at least two. The axis extends from the first to the last.
    pub values: Vec<f64>,
    /// The labels of `values`.
    pub labels: Vec<String>,
    /// The power of ten of the last digit that distinguishes neighbours.
    lowest_digit: i32,
}

impl Ticks {
    /// Returns about `n_steps` round steps that cover a range.
    pub(crate) fn cover(low: f64, high: f64, n_steps: u32) -> Ticks {
        Ticks::of(low, high, n_steps, false)
    }

    /// Returns about `n_steps` round steps of whole numbers, or fewer, that cover a range.
    pub(crate) fn whole(low: f64, high: f64, n_steps: u32) -> Ticks {
        Ticks::of(low, high, n_steps, true)
    }

    fn of(low: f64, high: f64, n_steps: u32, is_whole: bool) -> Ticks {
        let (low, high) = widen(low, high);
        let step_min = if is_whole { 1.0 } else { 0.0 };
        let (mantissa, exponent) = parts(((high - low) / f64::from(n_steps)).max(step_min));
        // In tenths: the nearest of 1, 2, 2.5, 5 and 10 times a power of ten.
        let (tens, exponent) = match mantissa {
            it if it <= 1.4 => (10, exponent),
            it if it <= 2.2 => (20, exponent),
            it if it <= 3.2 && !(is_whole && exponent == 0) => (25, exponent),
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
        Ticks { values, labels, lowest_digit }
    }

    /// Returns ticks at these ascending values, at regular distances.
    pub(crate) fn at(values: Vec<f64>) -> Ticks {
        let step = values.windows(2).next().map_or(1.0, |it| it[1] - it[0]);
        let (mantissa, exponent) = parts(step.abs());
        let lowest_digit = match mantissa {
            it if 9.95 < it => exponent + 1,
            it if (it - it.round()).abs() < 0.05 => exponent,
            _ => exponent - 1,
        };
        let labels = labels(&values, lowest_digit);
        Ticks { values, labels, lowest_digit }
    }

    /// Returns at most about `n_steps` steps of a logarithmic axis that cover a range of positive numbers:
    /// 1, 2, 5, 10 and so on if there is room, else powers of ten.
    pub(crate) fn log(low: f64, high: f64, n_steps: u32, measure: Measure) -> Ticks {
        let fine = log_values((low, high), &[1, 2, 5], 1);
        if usize::try_from(n_steps).is_ok_and(|it| fine.len() <= it + 1) {
            return Ticks::of_log(fine, measure);
        }
        Ticks::decades(low, high, n_steps, measure)
    }

    /// Returns at most `n_steps` steps between powers of ten, all by the same factor, that cover a range of
    /// positive numbers.
    pub(crate) fn decades(low: f64, high: f64, n_steps: u32, measure: Measure) -> Ticks {
        let n_steps = usize::try_from(n_steps.max(1)).unwrap_or(1);
        let mut all = (1..).map(|it| log_values((low, high), &[1], it));
        // Each is shorter than the one before, down to a single step.
        let values = all.find(|it| it.len() <= n_steps + 1).unwrap_or_default();
        Ticks::of_log(values, measure)
    }

    fn of_log(values: Vec<f64>, measure: Measure) -> Ticks {
        let labels = values.iter().map(|it| amount(*it, measure)).collect();
        Ticks { values, labels, lowest_digit: 0 }
    }

    /// Returns the ends of the axis.
    pub(crate) fn range(&self) -> (f64, f64) {
        let first = self.values.first().copied().unwrap_or(0.0);
        (first, self.values.last().copied().unwrap_or(1.0))
    }

    /// Converts the values to percentages where they are shares.
    #[must_use]
    pub(crate) fn measured(mut self, measure: Measure) -> Ticks {
        if measure == Measure::Share {
            let written: Vec<_> = self.values.iter().map(|it| measure.written(*it)).collect();
            self.labels = labels(&written, self.lowest_digit + 2);
        }
        for label in &mut self.labels {
            label.push_str(measure.sign());
        }
        self
    }

    /// Removes abbreviations and separators: 2024 is a year.
    #[must_use]
    pub(crate) fn years(mut self) -> Ticks {
        self.labels = self.values.iter().map(ToString::to_string).collect();
        self
    }
}

/// Returns these multiples of every `stride`-th power of ten, from the last before a range to the first
/// after it.
fn log_values((low, high): (f64, f64), mantissas: &[i64], stride: usize) -> Vec<f64> {
    let decades = (parts(low).1..).step_by(stride);
    let mut values: Vec<f64> = Vec::new();
    for value in decades.flat_map(|it| mantissas.iter().map(move |m| decimal(*m, it))) {
        if value <= low {
            values.clear();
        }
        values.push(value);
        if high <= value && 1 < values.len() {
            break;
        }
    }
    values
}

/// Widens a range that is empty, or too narrow for numbers of that size.
fn widen(low: f64, high: f64) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    if size * 1e-9 < high - low {
        return (low, high);
    }
    let room = if size == 0.0 { 1.0 } else { size * 0.1 };
    (low - room, high + room)
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
            // Millions that differ in their last digits are written in full.
            grouped(&format!("{value:.*}", usize_of(-lowest_digit)))
        } else {
            grouped(&format!("{:.*}{suffix}", usize_of(decimals), value / decimal(1, unit)))
        }
    };
    values.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::{Measure, Ticks};
    use csv_agent_testing::cases;

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
        check(0.0, 1e15, &["0", "200T", "400T", "600T", "800T", "1,000T"]);
        check(0.0, 1e18, &["0", "2e17", "4e17", "6e17", "8e17", "1e18"]);
        let close = ["1,000,000.0", "1,000,000.2", "1,000,000.4", "1,000,000.6", "1,000,000.8"];
        check(1_000_000.0, 1_000_000.8, &close);
    }

    #[test]
    fn a_range_without_extent_gets_one() {
        check(5.0, 5.0, &["4.4", "4.6", "4.8", "5.0", "5.2", "5.4", "5.6"]);
        check(0.0, 0.0, &["−1.0", "−0.5", "0", "0.5", "1.0"]);
    }

    #[test]
    fn whole_numbers_have_whole_steps() {
        for (high, labels) in [
            (1.0, &["0", "1"][..]),
            (3.0, &["0", "1", "2", "3"]),
            (12.0, &["0", "5", "10", "15"]),
            (98.0, &["0", "20", "40", "60", "80", "100"]),
        ] {
            assert_eq!(Ticks::whole(0.0, high, 5).labels, labels);
        }
    }

    #[test]
    fn shares_and_percentages_say_so() {
        let shares = Ticks::cover(0.0, 0.12, 5).measured(Measure::Share);
        assert_eq!(shares.labels, ["0%", "2.5%", "5.0%", "7.5%", "10.0%", "12.5%"]);
        assert_eq!(
            Ticks::cover(0.0, 1.0, 2).measured(Measure::Share).labels,
            ["0%", "50%", "100%"]
        );
        assert_eq!(
            Ticks::cover(0.0, 9.0, 2).measured(Measure::Percent).labels,
            ["0%", "5%", "10%"]
        );
    }

    #[test]
    fn a_logarithmic_axis_has_round_values_at_equal_factors() {
        let check = |low, high, n_steps, labels: &[&str]| {
            assert_eq!(Ticks::log(low, high, n_steps, Measure::Plain).labels, labels);
        };
        check(3.0, 80.0, 5, &["2", "5", "10", "20", "50", "100"]);
        check(3.0, 80_000.0, 5, &["1", "10", "100", "1,000", "10,000", "100,000"]);
        check(1.0, 1e12, 5, &["1", "1,000", "1M", "1B", "1T"]);
        check(5.0, 5.0, 5, &["5", "10"]);
        check(0.004, 0.3, 2, &["0.001", "0.1", "10"]);
        check(0.004, 0.3, 1, &["0.001", "1"]);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn a_logarithmic_axis_covers_the_range(a in -290..290_i32, b in -290..290_i32, n_steps in 1..9_u32) {
            let (low, high) = (super::decimal(3, a.min(b)), super::decimal(7, a.max(b)));
            let ticks = Ticks::log(low, high, n_steps, Measure::Plain);
            prop_assert!(ticks.range().0 <= low && high <= ticks.range().1, "{ticks:?}");
            prop_assert!((2..=11).contains(&ticks.values.len()) && ticks.values.is_sorted());
        }

        #[test]
        fn the_axis_covers_the_range(a in any::<f64>(), b in any::<f64>()) {
            let clip = |it: f64| if it.is_finite() { it.clamp(-1e300, 1e300) } else { 0.0 };
            let (low, high) = (clip(a).min(clip(b)), clip(a).max(clip(b)));
            for ticks in [Ticks::cover(low, high, 5), Ticks::whole(low, high, 5)] {
                let (first, last) = ticks.range();
                // What is smaller than a billionth of the axis is less than a pixel.
                let room = (last / 2.0 - first / 2.0) * 1e-9;
                prop_assert!(first - room <= low && high <= last + room, "{ticks:?}");
                prop_assert!((2..=14).contains(&ticks.values.len()), "{ticks:?}");
                prop_assert!(ticks.values.is_sorted());
            }
        }
    }
}
