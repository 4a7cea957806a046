//! How the cells of a column look: numbers with as many decimals as tell them apart, times without
//! what is the same in all of them.
//!
//! What is shown may be rounded or shortened; then the value itself goes with it, as JSON.

use std::borrow::Cow;

use serde_json::Value;

use super::words::{beginning, shown};
use crate::frame::is_numeric_dtype;
use crate::limits::PAGE_CELL_CHARS_MAX;
use crate::render::digits::grouped;

/// Whole numbers of a column from which thousands are set apart: years and the like are below.
const GROUPED_MIN: f64 = 10_000.0;
/// Decimals that are shown as they are.
const DECIMALS_WHOLE: usize = 4;
/// Last words of the names of columns whose numbers name things and count nothing.
const LABELS: [&str; 7] = ["id", "code", "zip", "postcode", "year", "phone", "number"];
/// What ends a time that is a day.
const MIDNIGHT: &str = "T00:00:00";

/// How a column is sorted and set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As it is.
    Text,
    /// True before false, or not at all.
    Truth,
    /// On the right.
    Number {
        /// None for as many as each has.
        decimals: Option<usize>,
        /// Whether thousands are set apart.
        is_grouped: bool,
    },
    /// A day, or a day and a time of day.
    Time {
        /// Whether all are midnight.
        is_day: bool,
    },
}

/// A cell as it stands on the page.
pub struct Shown<'a> {
    /// What is seen.
    pub text: Cow<'a, str>,
    /// The value as JSON, where it is not what is seen, separators and the minus sign apart.
    pub exact: Option<String>,
    /// Whether it is the beginning of a longer text, and even `exact` is missing.
    pub is_cut: bool,
}

impl Look {
    /// Decides for a column.
    pub fn of<'a>(name: &str, dtype: &str, cells: impl Iterator<Item = &'a Value> + Clone) -> Look {
        let known = cells.filter(|it| !it.is_null());
        let mut all = known.clone().peekable();
        if all.peek().is_none() {
            return if is_numeric_dtype(dtype) { Look::plain_number() } else { Look::Text };
        }
        if is_numeric_dtype(dtype) || known.clone().all(Value::is_number) {
            return Look::number(name, known);
        }
        if all.all(Value::is_boolean) {
            return Look::Truth;
        }
        if dtype.starts_with("datetime64") {
            let is_midnight = |it: &Value| it.as_str().is_some_and(|it| it.ends_with(MIDNIGHT));
            return Look::Time { is_day: known.clone().all(is_midnight) };
        }
        Look::Text
    }

    fn plain_number() -> Look {
        Look::Number { decimals: None, is_grouped: false }
    }

    fn number<'a>(name: &str, cells: impl Iterator<Item = &'a Value>) -> Look {
        let mut decimals = 0;
        let mut largest = 0.0_f64;
        for cell in cells {
            let text = digits_of(cell);
            // Powers of ten are for numbers that no column of decimals can hold.
            if text.contains(['e', 'E']) {
                return Look::plain_number();
            }
            let fraction = text.split_once('.').map_or("", |it| it.1).trim_end_matches('0');
            decimals = decimals.max(fraction.len());
            largest = largest.max(text.parse().unwrap_or(0.0_f64).abs());
        }
        if DECIMALS_WHOLE < decimals {
            decimals = match largest {
                _ if 100.0 <= largest => 2,
                _ if 1.0 <= largest => DECIMALS_WHOLE,
                _ => 6,
            };
        }
        let name = name.to_lowercase();
        let last = name.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
        let is_grouped = GROUPED_MIN <= largest && !LABELS.contains(&last);
        Look::Number { decimals: Some(decimals), is_grouped }
    }

    /// Returns the word by which the page's script sorts.
    pub fn name(self) -> &'static str {
        match self {
            Look::Text => "text",
            Look::Truth => "truth",
            Look::Number { .. } => "number",
            Look::Time { .. } => "time",
        }
    }

    /// Returns a cell that is not null.
    pub fn show(self, cell: &Value) -> Shown<'_> {
        match (self, cell) {
            (Look::Number { decimals, is_grouped }, cell) => {
                let exact = digits_of(cell);
                let text = rounded(&exact, decimals);
                let is_exact = text == exact;
                let text = if is_grouped { Cow::Owned(grouped(&text)) } else { text };
                let text = match text.strip_prefix('-') {
                    Some(digits) => Cow::Owned(format!("\u{2212}{digits}")),
                    None => Cow::Owned(text.into_owned()),
                };
                Shown { text, exact: (!is_exact).then(|| cell.to_string()), is_cut: false }
            }
            (Look::Time { is_day }, Value::String(time)) => {
                let text = match time.strip_suffix(MIDNIGHT) {
                    Some(day) if is_day => Cow::Borrowed(day),
                    _ => Cow::Owned(time.replacen('T', " ", 1)),
                };
                Shown { text, exact: Some(cell.to_string()), is_cut: false }
            }
            (_, Value::String(text)) => text_shown(text, cell),
            (_, other) => Shown { text: Cow::Owned(other.to_string()), exact: None, is_cut: false },
        }
    }
}

fn text_shown<'a>(text: &'a str, cell: &Value) -> Shown<'a> {
    let (head, n_chars) = beginning(text, PAGE_CELL_CHARS_MAX);
    let is_cut = n_chars.is_some();
    let safe = shown(head);
    let exact = (!is_cut && safe != text).then(|| cell.to_string());
    Shown { text: Cow::Owned(safe), exact, is_cut }
}

/// Returns a number as it is written; whole numbers that JSON readers would round are strings.
fn digits_of(cell: &Value) -> Cow<'_, str> {
    match cell {
        Value::String(digits) => Cow::Borrowed(digits),
        other => Cow::Owned(other.to_string()),
    }
}

/// Returns a number with as many decimals, unless it would look like zero and is not.
fn rounded(text: &str, decimals: Option<usize>) -> Cow<'_, str> {
    let Some(decimals) = decimals else { return Cow::Borrowed(text) };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() <= decimals {
        let zeros = "0".repeat(decimals - fraction.len());
        return match decimals {
            0 => Cow::Borrowed(whole),
            _ => Cow::Owned(format!("{whole}.{fraction}{zeros}")),
        };
    }
    let Ok(number) = text.parse::<f64>() else { return Cow::Borrowed(text) };
    let short = format!("{number:.decimals$}");
    let is_zero = short.bytes().all(|it| matches!(it, b'-' | b'0' | b'.'));
    if is_zero && number != 0.0 { Cow::Borrowed(text) } else { Cow::Owned(short) }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Look;

    /// Shows a column and compares what is seen, and the values that go with it.
    #[track_caller]
    fn check(name: &str, dtype: &str, cells: &[Value], seen: &[&str], exact: &[Option<&str>]) {
        let look = Look::of(name, dtype, cells.iter());
        let shown: Vec<_> = cells.iter().map(|it| look.show(it)).collect();
        assert_eq!(shown.iter().map(|it| &*it.text).collect::<Vec<_>>(), seen);
        let found = shown.iter().map(|it| it.exact.as_deref());
        assert_eq!(found.collect::<Vec<_>>(), exact);
    }

    #[test]
    fn numbers_of_a_column_have_the_same_decimals() {
        let cells = [json!(1_234_567.5), json!(-2.25)];
        check("sum", "float64", &cells, &["1,234,567.50", "−2.25"], &[Some("1234567.5"), None]);
        check(
            "share",
            "float64",
            &[json!(2.0), json!(3.0)],
            &["2", "3"],
            &[Some("2.0"), Some("3.0")],
        );
        let cells = [json!(0.1 + 0.2), json!(1e-7)];
        check("x", "float64", &cells, &["0.30000000000000004", "1e-7"], &[None, None]);
        let cells = [json!(1_234.567_891), json!(0.001)];
        check("x", "float64", &cells, &["1234.57", "0.001"], &[Some("1234.567891"), None]);
    }

    #[test]
    fn thousands_are_set_apart_in_amounts_only() {
        check("revenue", "int64", &[json!(12_000), json!(7)], &["12,000", "7"], &[None, None]);
        check("year", "int64", &[json!(2024)], &["2024"], &[None]);
        check("Customer ID", "int64", &[json!(1_234_567)], &["1234567"], &[None]);
        let digits = json!("9007199254740993");
        check("n", "int64", &[digits], &["9,007,199,254,740,993"], &[None]);
    }

    #[test]
    fn times_are_as_short_as_their_column_allows() {
        let days = [json!("2024-01-01T00:00:00"), json!("2024-01-02T00:00:00")];
        let exact = [Some("\"2024-01-01T00:00:00\""), Some("\"2024-01-02T00:00:00\"")];
        check("day", "datetime64[us]", &days, &["2024-01-01", "2024-01-02"], &exact);
        let time = json!("2024-01-01T09:30:00");
        let exact = [Some("\"2024-01-01T09:30:00\"")];
        check("at", "datetime64[us]", &[time], &["2024-01-01 09:30:00"], &exact);
    }

    #[test]
    fn text_is_as_it_is_or_comes_with_what_it_is() {
        check("t", "str", &[json!("007"), json!("<b>")], &["007", "<b>"], &[None, None]);
        check(
            "t",
            "str",
            &[json!("a\0\u{202e}")],
            &["a\\x00\\u{202e}"],
            &[Some("\"a\\u0000\u{202e}\"")],
        );
        let look = Look::of("t", "str", [json!("x")].iter());
        let long = json!("ä".repeat(5_000));
        let shown = look.show(&long);
        assert_eq!((shown.text.chars().count(), shown.is_cut), (2_000, true));
    }
}
