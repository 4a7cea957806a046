//! Numbers and lists as people read them.

use csv_agent_text::digits;

/// Writes a number: whole ones with all their digits, others with as many as say something.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return digits::grouped(&format!("{value:.0}"));
    }
    let decimals = match value.abs() {
        it if 1.0 <= it => 2,
        it if 0.01 <= it => 4,
        it => significant(it, 3),
    };
    trimmed(value, decimals)
}

/// Writes a percentage.
pub(super) fn percent(value: f64) -> String {
    let decimals = if value == 0.0 || 1.0 <= value.abs() { 1 } else { significant(value.abs(), 2) };
    format!("{} %", trimmed(value, decimals))
}

/// Returns how many decimals show so many digits of a number below 1.
fn significant(value: f64, n_digits: usize) -> usize {
    let zeros = (1..12).take_while(|it| value * 10f64.powi(*it) < 1.0).count();
    zeros + n_digits
}

fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let text = if text == "-0" { "0" } else { text };
    digits::grouped(text)
}

/// Writes a number with its unit.
pub(super) fn with_unit(number: &str, unit: Option<&str>) -> String {
    match unit {
        None => number.to_owned(),
        Some(sign @ ("$" | "€" | "£")) => match number.strip_prefix('-') {
            Some(number) => format!("-{sign}{number}"),
            None => format!("{sign}{number}"),
        },
        Some(unit) => format!("{number} {unit}"),
    }
}

/// Returns a whole number with its thousands apart.
pub(super) fn grouped(value: u64) -> String {
    digits::number(value)
}

/// Joins names: `a, b and c`.
pub(super) fn listed(names: &[String], joint: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {joint} {last}", first.join(", ")),
    }
}

/// Joins the first few of so many names, and says how many more there are.
pub(super) fn few(names: &[String], n: u64, n_max: usize) -> String {
    let shown = &names[..names.len().min(n_max)];
    let more = n.saturating_sub(shown.len() as u64);
    if 0 < more && !shown.is_empty() {
        format!("{} and {} more", shown.join(", "), grouped(more))
    } else {
        listed(shown, "and")
    }
}

/// Returns text with a capital at its beginning.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::{few, listed, number, percent, with_unit};

    #[test]
    fn a_number_has_as_many_digits_as_say_something() {
        let shown: Vec<String> =
            [4207.0, 4207.257, 43.9, 0.8712, 0.000_123_456, -0.5, 1_234_567.891]
                .into_iter()
                .map(number)
                .collect();
        assert_eq!(
            shown,
            ["4,207", "4,207.26", "43.9", "0.8712", "0.000123", "-0.5", "1,234,567.89"]
        );
        let shown: Vec<String> =
            [20.628, 100.0, 0.0, 0.034_56, -3.17].into_iter().map(percent).collect();
        assert_eq!(shown, ["20.6 %", "100 %", "0 %", "0.035 %", "-3.2 %"]);
        assert_eq!(with_unit("-5", Some("$")), "-$5");
        assert_eq!(with_unit("5", Some("kg")), "5 kg");
    }

    #[test]
    fn a_list_is_cut_where_it_gets_long() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(listed(&names, "and"), "a, b and c");
        assert_eq!(few(&names, 3, 3), "a, b and c");
        assert_eq!(few(&names, 9, 2), "a, b and 7 more");
    }
}
