//! Numbers formatted for people: separators, units, a true minus, as many digits as are significant.

use csv_agent_text::digits;

/// Numbers from here on are abbreviated with k and so on: 12,000 is 12k, 9,000 is not 9k.
const ABBREVIATED_FROM: f64 = 10_000.0;
/// Numbers outside this range are written with an exponent.
pub(crate) const PLAIN_RANGE: (f64, f64) = (1e-4, 1e17);
/// Grouped numbers share a unit, unless one is this many times another.
const SPREAD_MAX: f64 = 1e3;
/// The share of a value that its short form may omit.
const LOST_MAX: f64 = 0.02;
/// Maximum decimals of a short form.
const SHORT_DECIMALS_MAX: usize = 2;
/// From here up a percentage is not a mislabelled share.
const PERCENT_FROM: f64 = 1.5;

/// How values are displayed. It never changes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    /// As numbers.
    Plain,
    /// Shares of one, as percentages: 0.25 is 25%.
    Share,
    /// Already percentages: 25 is 25%.
    Percent,
}

impl Measure {
    /// Returns how to display values with these names: all names must imply the same, and the values
    /// must agree.
    pub(crate) fn of(names: &[&str], range: (f64, f64)) -> Measure {
        let (low, high) = range;
        let all = |says: fn(&str) -> bool| !names.is_empty() && names.iter().all(|it| says(it));
        if all(says_share) && 0.0 <= low && high <= 1.0 && 0.0 < high {
            Measure::Share
        } else if all(says_percent) && PERCENT_FROM <= high.max(-low) {
            Measure::Percent
        } else {
            Measure::Plain
        }
    }

    /// Returns the number to display for a value.
    pub(crate) fn written(self, value: f64) -> f64 {
        if self == Measure::Share { value * 100.0 } else { value }
    }

    /// Returns the suffix of each number except zero.
    pub(crate) fn sign(self) -> &'static str {
        if self == Measure::Plain { "" } else { "%" }
    }
}

fn words(name: &str) -> Vec<String> {
    name.split(|it: char| !it.is_alphanumeric()).map(str::to_lowercase).collect()
}

/// Company shares and earnings per share are not shares of a whole.
fn says_share(name: &str) -> bool {
    let words = words(name);
    let says = |it: &[&str]| words.iter().any(|word| it.contains(&word.as_str()));
    says(&["share", "proportion", "fraction"]) && !says(&["per", "price", "prices"])
}

fn says_percent(name: &str) -> bool {
    name.contains('%')
        || words(name).iter().any(|it| ["percent", "percentage", "pct"].contains(&it.as_str()))
}

/// Returns a value for display next to its mark: short, with at least three significant digits.
pub(crate) fn amount(value: f64, measure: Measure) -> String {
    let value = measure.written(value);
    if value == 0.0 {
        return "0".to_owned() + measure.sign();
    }
    plain(value) + measure.sign()
}

fn plain(value: f64) -> String {
    let size = value.abs();
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

/// Returns values displayed together: with the same unit and the same number of decimals where they are
/// of similar size. A missing value yields empty text.
pub(crate) fn amounts(values: &[Option<f64>], measure: Measure) -> Vec<String> {
    let each = |it: &Option<f64>| it.map_or(String::new(), |it| amount(it, measure));
    let sizes = || values.iter().flatten().map(|it| measure.written(*it).abs());
    let most = sizes().fold(0.0, f64::max);
    let least = sizes().filter(|it| 0.0 < *it).fold(f64::MAX, f64::min);
    let is_alike = most < PLAIN_RANGE.1 && PLAIN_RANGE.0 <= most && most <= least * SPREAD_MAX;
    if !is_alike {
        return values.iter().map(each).collect();
    }
    let unit = if most < 1e6 { (0, "") } else { unit(most) };
    let decimals = (2 - parts(most / decimal(1, unit.0)).1).max(0);
    let decimals = decimals + i32::from(1.0 < most && least * 100.0 < most && decimals < 2);
    fixed(values, measure, unit, usize_of(decimals))
}

/// Returns values like [`amounts`] with few digits, for narrow spaces; `None` where that would lose too
/// much of one.
pub(crate) fn short_amounts(values: &[Option<f64>], measure: Measure) -> Option<Vec<String>> {
    let size = values.iter().flatten().map(|it| measure.written(*it).abs()).fold(0.0, f64::max);
    let unit = if size < 1_000.0 { (0, "") } else { unit(size.max(ABBREVIATED_FROM)) };
    let is_kept = |decimals: &usize| {
        let kept = |it: &f64| {
            let counted = measure.written(*it) / decimal(1, unit.0);
            let text: f64 = format!("{counted:.decimals$}").parse().unwrap_or(0.0);
            (text - counted).abs() <= LOST_MAX * counted.abs()
        };
        values.iter().flatten().all(kept)
    };
    let is_plain = size == 0.0 || (PLAIN_RANGE.0 <= size && size < PLAIN_RANGE.1);
    let decimals = (0..=SHORT_DECIMALS_MAX).find(is_kept).filter(|_| is_plain)?;
    Some(fixed(values, measure, unit, decimals))
}

/// Returns values with the same unit and as few decimals, up to `decimals`, as represent them.
fn fixed(
    values: &[Option<f64>],
    measure: Measure,
    (unit, suffix): (i32, &str),
    decimals: usize,
) -> Vec<String> {
    let text = |value: f64, decimals: usize| {
        format!("{:.*}", decimals, measure.written(value) / decimal(1, unit))
    };
    let is_enough = |fewer: &usize| {
        let same = |it: &f64| trimmed(&text(*it, *fewer)) == trimmed(&text(*it, decimals));
        values.iter().flatten().all(same)
    };
    let decimals = (0..decimals).find(is_enough).unwrap_or(decimals);
    let written = |it: &f64| {
        let text = text(*it, decimals);
        if *it == 0.0 {
            "0".to_owned() + measure.sign()
        } else {
            grouped(&text) + suffix + measure.sign()
        }
    };
    values.iter().map(|it| it.as_ref().map_or(String::new(), written)).collect()
}

/// Returns a number that is a name, such as a year or a code: with every digit and no separator.
pub(crate) fn name(value: f64) -> String {
    let size = value.abs();
    let is_plain = size == 0.0 || (PLAIN_RANGE.0 <= size && size < PLAIN_RANGE.1);
    let text = if is_plain { value.to_string() } else { format!("{value:e}") };
    text.replace('-', "−")
}

/// Returns `digits` × 10^`exponent`, correctly rounded.
pub(crate) fn decimal(digits: i64, exponent: i32) -> f64 {
    format!("{digits}e{exponent}").parse().unwrap_or(0.0)
}

/// Returns the mantissa, from 1 to 10, and the exponent of a positive number.
pub(crate) fn parts(value: f64) -> (f64, i32) {
    let text = format!("{value:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.parse().unwrap_or(1.0), exponent.parse().unwrap_or(0))
}

/// Returns the decimal logarithm of a positive number, with the same bits on every machine.
pub(crate) fn log10(value: f64) -> f64 {
    let (mantissa, exponent) = parts(value);
    // Near 1 the series of the inverse hyperbolic tangent converges fast.
    let root = mantissa.sqrt().sqrt().sqrt();
    let t = (root - 1.0) / (root + 1.0);
    let (mut sum, mut power) = (0.0, t);
    for odd in [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0] {
        sum += power / odd;
        power *= t * t;
    }
    f64::from(exponent) + 16.0 * sum / std::f64::consts::LN_10
}

/// Returns the power of ten of a number's unit, and the unit's suffix.
pub(crate) fn unit(size: f64) -> (i32, &'static str) {
    match size {
        it if it < ABBREVIATED_FROM => (0, ""),
        it if it < 1e6 => (3, "k"),
        it if it < 1e9 => (6, "M"),
        it if it < 1e12 => (9, "B"),
        _ => (12, "T"),
    }
}

/// Returns a number with an exponent.
pub(crate) fn scientific(value: f64, decimals: i32) -> String {
    let text = format!("{value:.*e}", usize_of(decimals.min(6)));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{exponent}", trimmed(mantissa)).replace('-', "−")
}

/// Returns a number of digits, 0 if negative.
pub(crate) fn usize_of(decimals: i32) -> usize {
    usize::try_from(decimals).unwrap_or(0)
}

/// Returns a decimal number with thousands separators and a true minus.
pub(crate) fn grouped(number: &str) -> String {
    let text = digits::grouped(number);
    // A number that rounds to zero has no sign.
    let is_zero = !text.contains(|it: char| ('1'..='9').contains(&it));
    if is_zero { text.replace('-', "") } else { text.replace('-', "−") }
}

/// Returns a decimal number without trailing zeros in its fraction.
fn trimmed(number: &str) -> String {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Measure, amount, amounts, name, short_amounts};

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
            assert_eq!(amount(value, Measure::Plain), text);
        }
        assert_eq!(amount(0.0712, Measure::Share), "7.12%");
        assert_eq!(amount(7.12, Measure::Percent), "7.12%");
    }

    #[track_caller]
    fn check(values: &[f64], long: &[&str], short: Option<&[&str]>) {
        let values: Vec<_> = values.iter().copied().map(Some).collect();
        assert_eq!(amounts(&values, Measure::Plain), long);
        let short = short.map(|it| it.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(short_amounts(&values, Measure::Plain), short);
    }

    #[test]
    fn amounts_that_stand_together_have_the_same_digits() {
        check(&[98.456, 3.0, 12.5], &["98.5", "3.0", "12.5"], Some(&["98.5", "3.0", "12.5"]));
        check(&[1.0, 2.0, 0.0], &["1", "2", "0"], Some(&["1", "2", "0"]));
        check(&[120_400.0, 9_800.0], &["120,400", "9,800"], Some(&["120.4k", "9.8k"]));
        check(&[123_400.0, 98_700.0], &["123,400", "98,700"], Some(&["123k", "99k"]));
        check(&[7.25e6, 12.5e6], &["7.2M", "12.5M"], Some(&["7.2M", "12.5M"]));
        check(&[1e15, 1.0], &["1,000T", "1"], None);
        check(&[-0.001, 0.25], &["−0.001", "0.250"], None);
    }

    #[test]
    fn a_logarithm_is_exact_enough_for_a_pixel() {
        for value in [1e-300, 0.004, 1.0, 2.5, 9.999, 10.0, 123_456.0, 7e250] {
            assert!((super::log10(value) - value.log10()).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn a_name_keeps_its_digits() {
        for (value, text) in
            [(2024.0, "2024"), (10482.0, "10482"), (-0.5, "−0.5"), (1e-12, "1e−12"), (1e18, "1e18")]
        {
            assert_eq!(name(value), text);
        }
    }

    #[test]
    fn only_what_is_called_so_is_a_percentage() {
        use Measure::{Percent, Plain, Share};
        for (names, range, measure) in [
            (&["share"][..], (0.1, 0.9), Share),
            (&["Market share", "share_of_sales"], (0.0, 1.0), Share),
            (&["share"], (0.1, 12.0), Plain),
            (&["share", "revenue"], (0.1, 0.9), Plain),
            (&["earnings per share"], (0.1, 0.9), Plain),
            (&["share price"], (0.1, 0.9), Plain),
            (&["ratio"], (0.1, 0.9), Plain),
            (&["Change in %"], (-3.0, 12.0), Percent),
            (&["pct_late"], (0.0, 31.0), Percent),
            (&["pct_late"], (0.0, 0.9), Plain),
            (&[], (0.0, 0.9), Plain),
        ] {
            assert_eq!(Measure::of(names, range), measure, "{names:?}");
        }
    }
}
