//! Names of columns as people say them: words, and the unit apart.

use crate::schema::{Column, Table};
use crate::words::split_name;

/// Ends of names that are units, and how these are written.
const UNITS: &[(&str, &str)] = &[
    ("g", "g"),
    ("kg", "kg"),
    ("mg", "mg"),
    ("lb", "lb"),
    ("lbs", "lb"),
    ("tonnes", "t"),
    ("mm", "mm"),
    ("cm", "cm"),
    ("m", "m"),
    ("km", "km"),
    ("mi", "mi"),
    ("miles", "miles"),
    ("ft", "ft"),
    ("m2", "m²"),
    ("sqm", "m²"),
    ("km2", "km²"),
    ("sqkm", "km²"),
    ("sqft", "sq ft"),
    ("ha", "ha"),
    ("ml", "ml"),
    ("cc", "cc"),
    ("hp", "hp"),
    ("kw", "kW"),
    ("mw", "MW"),
    ("kwh", "kWh"),
    ("mwh", "MWh"),
    ("gwh", "GWh"),
    ("hpa", "hPa"),
    ("celsius", "°C"),
    ("mph", "mph"),
    ("kmh", "km/h"),
    ("kph", "km/h"),
    ("ms", "ms"),
    ("sec", "s"),
    ("secs", "s"),
    ("seconds", "seconds"),
    ("minutes", "minutes"),
    ("mins", "minutes"),
    ("hours", "hours"),
    ("hrs", "hours"),
    ("days", "days"),
    ("weeks", "weeks"),
    ("months", "months"),
    ("years", "years"),
    ("usd", "USD"),
    ("eur", "EUR"),
    ("gbp", "GBP"),
    ("chf", "CHF"),
    ("pct", "%"),
    ("percent", "%"),
    ("min", "min"),
    ("percentage", "%"),
    ("kcal", "kcal"),
    ("mb", "MB"),
    ("gb", "GB"),
];
/// Words before `min` where it is no minimum.
const DURATIONS: &[&str] = &["time", "duration", "runtime", "length"];
/// Words that say nothing without the unit behind them.
const BARE: &[&str] =
    &["total", "num", "number", "n", "no", "count", "sum", "avg", "mean", "per", "in", "of"];
/// Letters of what is in parentheses behind a name, if it is a unit.
const UNIT_CHARS_MAX: usize = 12;
/// Letters of an abbreviation, which stays in capitals.
const CAPITALS_MAX: usize = 4;

/// A column's name as people say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// In lower case, except abbreviations.
    pub words: String,
    /// Of its numbers.
    pub unit: Option<String>,
}

/// Returns how people say the name of a column.
pub(super) fn name(table: &Table, column: &Column) -> Name {
    let (bare, mut unit) = without_aside(&column.name, column.is_number);
    let mut pieces = pieces(bare);
    if has_common_first(table) && 1 < pieces.len() {
        pieces.remove(0);
    }
    if let [.., before, last] = &pieces[..]
        && unit.is_none()
        && column.is_number
        && !BARE.contains(&before.to_lowercase().as_str())
        && let Some((_, written)) = UNITS.iter().find(|it| {
            it.0 == last.to_lowercase()
                && (it.0 != "min" || DURATIONS.contains(&before.to_lowercase().as_str()))
        })
    {
        unit = Some((*written).to_owned());
        pieces.pop();
    }
    let all_capitals = !table.columns.iter().any(|it| it.name.contains(char::is_lowercase));
    let words: Vec<String> = pieces
        .iter()
        .map(|it| {
            let is_short =
                1 < it.len() && it.len() <= CAPITALS_MAX && !it.contains(char::is_lowercase);
            if is_short && !all_capitals { (*it).to_owned() } else { it.to_lowercase() }
        })
        .collect();
    let words = if words.is_empty() { column.name.clone() } else { words.join(" ") };
    Name { words, unit }
}

/// Returns a noun for several.
pub(super) fn plural(words: &str) -> String {
    let lower = words.to_lowercase();
    let before_y = lower.strip_suffix('y').and_then(|it| it.chars().last());
    if before_y.is_some_and(|it| !"aeiou".contains(it)) {
        format!("{}ies", &words[..words.len() - 1])
    } else if ["ss", "sh", "ch", "x"].iter().any(|it| lower.ends_with(it)) {
        format!("{words}es")
    } else if lower.ends_with('s') {
        words.to_owned()
    } else {
        format!("{words}s")
    }
}

fn pieces(name: &str) -> Vec<&str> {
    let pieces = name.split(|it: char| !it.is_alphanumeric() && it != '%');
    pieces.flat_map(split_name).filter(|it| !it.is_empty()).collect()
}

/// Returns whether all columns begin with the same word, which then says nothing: `s_name`, `s_phone`.
fn has_common_first(table: &Table) -> bool {
    let first = |it: &Column| {
        let pieces = pieces(&it.name);
        (1 < pieces.len()).then(|| pieces[0].to_lowercase())
    };
    let mut firsts = table.columns.iter().map(first);
    let Some(Some(one)) = firsts.next() else { return false };
    2 < table.columns.len() && firsts.all(|it| it.as_ref() == Some(&one))
}

/// Takes a unit in parentheses off a name: `Price (USD)`.
fn without_aside(name: &str, is_number: bool) -> (&str, Option<String>) {
    let end = name.trim_end();
    let open = match end.chars().last() {
        Some(')') => '(',
        Some(']') => '[',
        _ => return (name, None),
    };
    let Some(at) = end.rfind(open).filter(|it| 0 < *it && is_number) else { return (name, None) };
    let inner = end[at + 1..end.len() - 1].trim();
    let is_unit = !inner.is_empty()
        && inner.chars().count() <= UNIT_CHARS_MAX
        && !inner.starts_with(|it: char| it.is_ascii_digit())
        && inner.split_whitespace().count() <= 2;
    // A word is no name: `(Minutes)`.
    let is_word = inner.len() > 3 && inner.chars().skip(1).all(|it| it.is_lowercase() || it == ' ');
    let unit = if is_word { inner.to_lowercase() } else { inner.to_owned() };
    if is_unit { (&name[..at], Some(unit)) } else { (name, None) }
}

#[cfg(test)]
mod tests {
    use super::{name, plural};
    use crate::answer::tests::table;

    #[track_caller]
    fn check(columns: &[(&str, &str)], words: &[(&str, Option<&str>)]) {
        let table = table("t", 1, columns);
        let found: Vec<_> = table.columns.iter().map(|it| name(&table, it)).collect();
        let found: Vec<_> =
            found.iter().map(|it| (it.words.as_str(), it.unit.as_deref())).collect();
        assert_eq!(found, words);
    }

    #[test]
    fn a_name_is_words_and_a_unit() {
        check(
            &[
                ("body_mass_g", "float64"),
                ("MonthlyIncome", "int64"),
                ("Price (USD)", "float64"),
                ("Share (%)", "float64"),
                ("GDP per capita", "float64"),
                ("total_hours", "int64"),
                ("model_g", "string"),
                ("Population (2020)", "int64"),
                ("Runtime (Minutes)", "int64"),
                ("REGION", "string"),
            ],
            &[
                ("body mass", Some("g")),
                ("monthly income", None),
                ("price", Some("USD")),
                ("share", Some("%")),
                ("GDP per capita", None),
                ("total hours", None),
                ("model g", None),
                ("population 2020", None),
                ("runtime", Some("minutes")),
                ("region", None),
            ],
        );
        check(
            &[("s_name", "string"), ("s_phone", "string"), ("S_ACCT_BAL", "float64")],
            &[("name", None), ("phone", None), ("ACCT BAL", None)],
        );
        check(&[("SEX", "string"), ("AGE", "int64")], &[("sex", None), ("age", None)]);
    }

    #[test]
    fn a_noun_has_a_plural() {
        let found = ["species", "city", "day", "class", "department", "box"].map(plural);
        assert_eq!(found, ["species", "cities", "days", "classes", "departments", "boxes"]);
    }
}
