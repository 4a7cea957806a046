//! Numbers of a column on a terminal: as many decimals as they need, the same for all.

use serde_json::Value;

use csv_agent_text::digits::grouped;

/// Maximum decimals of a column. Beyond that a value is rounded, or written with an exponent.
const DECIMALS_MAX: usize = 6;
/// Significant digits of the largest number in a column of non-terminating decimals.
const DIGITS: i32 = 6;
/// Numbers from here on are written with an exponent: a float has no meaningful digit after the
/// fifteenth.
const LARGE: f64 = 1e15;
/// Numbers below this are written with an exponent: [`DECIMALS_MAX`] decimals would show nothing of
/// them.
const SMALL: f64 = 1e-6;
/// Below this a column needs no separators: four digits are easy to read, and are often a year.
const GROUPED_MIN: f64 = 10_000.0;
/// Words in a column's name that mark its numbers as identifiers rather than amounts.
const LABELS: [&str; 60] = [
    "id", "ids", "uid", "uuid", "guid", "pk", "fk", "key", "code", "codes", "zip", "zipcode",
    "postcode", "postal", "plz", "year", "yr", "date", "yyyymmdd", "timestamp", "epoch", "unix",
    "no", "nr", "phone", "tel", "telephone", "fax", "mobile", "isbn", "ean", "upc", "gtin", "sku",
    "serial", "fips", "account", "index", "idx", "postleitzahl", "nummer", "jahr", "annee",
    "année", "ano", "año", "iso", "sic", "naics", "cusip", "isin", "issn", "ssn", "npi", "asn",
    "imei", "port", "pmid", "barcode", "hash",
];
/// Word endings that mean the same: `customerid`, `zipcode`, `Kundennummer`.
const LABEL_ENDS: [&str; 5] = ["id", "code", "number", "nummer", "year"];
/// Words that merely share such an ending.
const NO_LABELS: [&str; 31] = [
    "acid", "aid", "amid", "android", "asteroid", "avid", "bid", "covid", "fluid", "grid", "humid",
    "hybrid", "invalid", "kid", "laid", "lipid", "liquid", "medicaid", "mid", "opioid", "paid",
    "prepaid", "raid", "rapid", "said", "solid", "steroid", "thyroid", "unpaid", "valid", "void",
];
/// Last words of names that count or measure, whatever precedes them: `phone_count`, `account_balance`.
const MEASURES: [&str; 24] = [
    "amount", "average", "avg", "balance", "balances", "cost", "costs", "count", "counts",
    "income", "mean", "median", "orders", "price", "revenue", "sales", "sum", "total", "totals",
    "units", "users", "value", "visits", "volume",
];

/// The format of a column's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberFormat {
    decimals: usize,
    is_grouped: bool,
}

impl NumberFormat {
    /// Chooses the format for the visible cells of the column `name`.
    pub fn of<'a>(name: &str, cells: impl Iterator<Item = &'a Value>) -> NumberFormat {
        let mut floats = Vec::new();
        let (mut largest, mut has_long) = (0.0_f64, false);
        for cell in cells {
            match cell {
                Value::Number(number) => {
                    let value = number.as_f64().unwrap_or_default();
                    largest = largest.max(value.abs());
                    if number.is_f64() && is_plain(value) {
                        floats.push(value);
                    }
                }
                // Whole numbers that a JSON reader would round. They are too large for counts: they are
                // identifiers.
                _ => has_long |= !cell.is_null(),
            }
        }
        let is_amount = !has_long && GROUPED_MIN <= largest && !is_label(name);
        NumberFormat { decimals: decimals(&floats), is_grouped: is_amount }
    }

    /// Returns the number as text. It differs from the number by at most half of its last digit.
    pub fn write(self, cell: &Value) -> String {
        let Value::Number(number) = cell else {
            return cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        };
        let value = number.as_f64().unwrap_or_default();
        let text = if !number.is_f64() {
            let zeros = "0".repeat(self.decimals);
            format!("{number}{}{zeros}", if zeros.is_empty() { "" } else { "." })
        } else if is_plain(value) && !self.loses(value) {
            // Zero has no sign.
            let value = if value == 0.0 { 0.0 } else { value };
            format!("{value:.*}", self.decimals)
        } else {
            return with_exponent(value);
        };
        if self.is_grouped { grouped(&text) } else { text }
    }

    /// Returns whether rounding leaves fewer than two digits of a value that has more.
    fn loses(self, value: f64) -> bool {
        let step = 10_f64.powi(-i32::try_from(self.decimals).unwrap_or(i32::MAX));
        value != 0.0 && value.abs() < 10.0 * step && self.decimals < needed(value)
    }
}

/// Returns whether a number is written without an exponent when there is room for its decimals.
fn is_plain(value: f64) -> bool {
    value == 0.0 || (SMALL..LARGE).contains(&value.abs())
}

fn with_exponent(value: f64) -> String {
    let exact = format!("{value:e}");
    let short = format!("{value:.2e}");
    if exact.len() < short.len() { exact } else { short }
}

/// Returns how many decimals the values of a column need, at most [`DECIMALS_MAX`].
fn decimals(values: &[f64]) -> usize {
    let exact = values.iter().map(|it| needed(*it)).max().unwrap_or(0);
    if exact <= DECIMALS_MAX {
        return exact;
    }
    // Rounding noise in the last digits (8746.799999999999) is not part of the value.
    let without_noise = |it: &f64| format!("{it:.11e}").parse().map_or(0, needed);
    let clean = values.iter().map(without_noise).max().unwrap_or(0);
    if clean <= DECIMALS_MAX {
        return clean;
    }
    let sizes = || values.iter().map(|it| it.abs()).filter(|it| 0.0 < *it);
    let whole = sizes().fold(0.0, f64::max).log10().floor();
    let smallest = sizes().fold(f64::INFINITY, f64::min).log10().floor();
    // Keep two digits of the smallest.
    let places = (f64::from(DIGITS - 1) - whole).max(1.0 - smallest).clamp(2.0, 6.0);
    (2..DECIMALS_MAX)
        .find(|it| places <= f64::from(u8::try_from(*it).unwrap_or(u8::MAX)))
        .unwrap_or(DECIMALS_MAX)
}

/// Returns how many decimals represent the value exactly, so that it parses to the same float.
fn needed(value: f64) -> usize {
    let text = value.to_string();
    text.find('.').map_or(0, |at| text.len() - at - 1)
}

/// Returns whether a name marks its numbers as years, codes or the like.
fn is_label(name: &str) -> bool {
    let words = words(name);
    let words: Vec<_> =
        words.iter().map(|it| it.trim_end_matches(|it: char| it.is_ascii_digit())).collect();
    let (Some(last), n_words) = (words.last(), words.len()) else { return false };
    if 1 < n_words && MEASURES.contains(last) {
        return false;
    }
    let is_compound = |it: &&str| {
        let end = LABEL_ENDS.iter().find(|end| it.ends_with(*end));
        end.is_some_and(|end| end.len() < it.len()) && !NO_LABELS.contains(it)
    };
    let is_numbered = 1 < n_words && ["number", "num"].contains(last);
    is_numbered || words.iter().any(|it| LABELS.contains(it) || is_compound(it))
}

/// Returns the words of a column's name in lower case: `userId`, `USER_ID` and `User id` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for char in name.chars() {
        if !char.is_alphanumeric() || was_lower && char.is_uppercase() {
            words.push(String::new());
        }
        if char.is_alphanumeric() {
            words.last_mut().expect("there is one from the start").extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase();
    }
    words.retain(|it| !it.is_empty());
    words
}

/// Returns whether a text is a number with common affixes: `-18.4%`, `$1,200`, `3.5`.
///
/// Digits alone do not count: codes have them too.
pub fn is_amount(text: &str) -> bool {
    let mut rest =
        text.trim_start_matches(['-', '+', '−']).trim_start_matches(['$', '€', '£', '¥']);
    rest = rest
        .trim_start_matches(['-', '+', '−'])
        .trim_end_matches('%')
        .trim_end_matches(['€', '£'])
        .trim_end();
    let has_marks = rest.len() < text.len() || rest.contains([',', '.']);
    let mut digits = 0;
    let is_number = rest.chars().all(|it| {
        digits += usize::from(it.is_ascii_digit());
        it.is_ascii_digit() || it == '.' || it == ','
    });
    let n_points = rest.matches('.').count();
    has_marks && is_number && 0 < digits && n_points <= 1 && !rest.ends_with([',', '.'])
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert, proptest};
    use serde_json::{Value, json};

    use super::{NumberFormat, is_amount};
    use csv_agent_testing::cases;

    fn shown(name: &str, cells: &[Value]) -> Vec<String> {
        let format = NumberFormat::of(name, cells.iter());
        cells.iter().map(|it| format.write(it)).collect()
    }

    #[track_caller]
    fn check(name: &str, cells: &Value, expected: &[&str]) {
        assert_eq!(shown(name, cells.as_array().unwrap()), expected);
    }

    #[test]
    fn a_column_has_as_many_decimals_as_it_needs() {
        check("x", &json!([1.0, 2.0]), &["1", "2"]);
        check("x", &json!([1.0, 2.5, 3]), &["1.0", "2.5", "3.0"]);
        check("x", &json!([0.125, -0.0]), &["0.125", "0.000"]);
    }

    #[test]
    fn what_arithmetic_leaves_is_not_shown() {
        check("x", &json!([0.1 + 0.2, 917.85]), &["0.30", "917.85"]);
        check("x", &json!([10.0 / 3.0, 2.0]), &["3.33333", "2.00000"]);
        check("x", &json!([20_000.0 / 3.0, 0.5]), &["6666.67", "0.50"]);
        check("x", &json!([2_000.0 / 3.0, 0.012_345_678]), &["666.667", "0.012"]);
    }

    #[test]
    fn the_very_small_and_the_very_large_have_an_exponent() {
        check(
            "p",
            &json!([1e-12, 0.25, 1e15, 1.234_567e300]),
            &["1e-12", "0.25", "1e15", "1.23e300"],
        );
        check("p", &json!([0.000_001_234_567, 1.0 / 3.0]), &["1.23e-6", "0.333333"]);
    }

    #[test]
    fn amounts_have_separators_and_years_and_codes_have_none() {
        check("revenue", &json!([120_400, -7]), &["120,400", "-7"]);
        check("revenue", &json!([1_234_567.5]), &["1,234,567.5"]);
        check("year", &json!([2024, 12_024]), &["2024", "12024"]);
        check("founded", &json!([1987, 2024]), &["1987", "2024"]);
        for name in ["id", "userId", "USER_ID", "zip code", "order number", "Postal.Code", "id2"] {
            check(name, &json!([100_234]), &["100234"]);
        }
        for name in
            ["customerid", "GEOID", "Kundennummer", "Postleitzahl", "countrycode", "birthyear"]
        {
            check(name, &json!([100_234]), &["100234"]);
        }
        for name in ["phone_count", "account balance", "Medicaid", "bid", "number", "CodeTotal"] {
            check(name, &json!([100_234]), &["100,234"]);
        }
        for name in ["number of orders", "width", "yearly income", "paid"] {
            check(name, &json!([100_234]), &["100,234"]);
        }
        check("n", &json!(["9007199254740993", 10_000]), &["9007199254740993", "10000"]);
    }

    #[test]
    fn text_is_an_amount_when_it_says_so() {
        for text in ["-18.4%", "$1,200", "3.5", "+2%", "-$3", "12 €"] {
            assert!(is_amount(text), "{text}");
        }
        for text in ["", "%", "007", "1.2.3", "10.", "12a", "-", "2024-01-01", "$"] {
            assert!(!is_amount(text), "{text}");
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn a_number_that_is_shown_is_the_number_to_its_last_digit(
            floats in vec((-9.99..9.99, -280..280), 1..8),
            mild in vec(-1e6..1e6, 0..8),
            ints in vec(any::<i32>(), 0..3),
        ) {
            let mut cells: Vec<_> = floats.into_iter().map(|it| it.0 * 10_f64.powi(it.1)).chain(mild).map(|it| json!(it)).collect();
            cells.extend(ints.into_iter().map(|it| json!(it)));
            for (text, cell) in shown("x", &cells).iter().zip(&cells) {
                let value = cell.as_f64().unwrap();
                let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
                let places = digits.find('.').map_or(0, |at| digits.len() - at - 1);
                let last = exponent.parse::<i32>().unwrap() - i32::try_from(places).unwrap();
                let back: f64 = text.replace(',', "").parse().unwrap();
                let half = 0.5 * 10_f64.powi(last);
                prop_assert!((back - value).abs() <= half * 1.000_001, "{text} of {value}");
                prop_assert!((back == 0.0) == (value == 0.0), "{text} of {value}");
            }
        }
    }
}
