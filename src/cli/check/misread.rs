//! Words that the built-in analyst tends to read otherwise than people mean them.
//!
//! A question shows what it was answered from, but a rule that means something else passes unseen. So a claim
//! with such words is refused, unless its statement shows that they were read as meant.

use std::ops::RangeInclusive;

use csv_agent_types::catalog::{Catalog, Column};
use csv_agent_types::dataset_names;

/// Numbers that are rather years.
pub(super) const YEARS: RangeInclusive<f64> = 1900.0..=2099.0;
/// Words that end a period which begins at a year.
const PERIOD_ENDS: [&str; 8] = ["to", "until", "till", "through", "on", "onward", "onwards", "and"];
/// Words before a text that names have to begin with, end with or contain.
const BEFORE_TEXT: [&str; 14] = [
    "with", "contain", "contains", "containing", "include", "includes", "including", "like",
    "word", "text", "and", "or", "nor", "in",
];
/// Words for kinds of characters.
const CHARACTERS: [&str; 10] = [
    "letter", "letters", "digit", "digits", "vowel", "number", "character", "characters",
    "capital", "uppercase",
];
/// Words that compare by a difference: `at least 1 more than`.
const DIFFERENCES: [&str; 14] = [
    "more", "less", "above", "below", "higher", "lower", "greater", "older", "younger", "longer",
    "shorter", "later", "earlier", "after",
];
/// Units of time whose rows can be missing.
const TIMES: [&str; 11] =
    ["day", "days", "week", "weeks", "month", "months", "hour", "hours", "year", "years", "dates"];

/// Returns why a statement probably does not mean what a claim says.
pub(super) fn misread(claim: &str, sql: &str, catalog: &Catalog) -> Option<String> {
    let words = lower_words(claim);
    negated(&words)
        .or_else(|| unknown(&words, sql))
        .or_else(|| gap(&words, catalog))
        .or_else(|| difference(&words, sql))
        .or_else(|| since(&words, sql))
        .or_else(|| counted(&words, sql))
        .or_else(|| pattern(claim, sql))
        .or_else(|| rows_or_value(&words, sql, catalog))
        .or_else(|| sibling(claim, sql, catalog))
}

/// Returns the words and numbers of a claim.
pub(super) fn words(claim: &str) -> impl Iterator<Item = &str> {
    let is_part = |it: char| !it.is_alphanumeric() && !matches!(it, '.' | ',' | '-' | '%' | '_');
    claim.split(is_part).map(|it| it.trim_matches(['.', ',', '-'])).filter(|it| !it.is_empty())
}

fn lower_words(text: &str) -> Vec<String> {
    words(text).map(str::to_lowercase).collect()
}

fn columns(catalog: &Catalog) -> impl Iterator<Item = &Column> {
    catalog.iter().flat_map(|it| &it.1.columns)
}

fn negated(words: &[String]) -> Option<String> {
    let word = words.iter().find(|it| it.starts_with("non-"));
    let word = word.or_else(|| words.first().filter(|it| *it == "not"))?;
    Some(format!("`{word}` is not read reliably: write `that are not …`"))
}

fn unknown(words: &[String], sql: &str) -> Option<String> {
    let is_value = sql.to_lowercase().contains("'unknown'");
    (words.iter().any(|it| it == "unknown") && !is_value).then(|| {
        "no column has the value `Unknown` today: write the rule as `sql`, or `is not missing`"
            .to_owned()
    })
}

fn gap(words: &[String], catalog: &Catalog) -> Option<String> {
    let is_column = |it: &str| {
        columns(catalog).any(|column| {
            let name = column.name.to_lowercase();
            name == it || name == it.trim_end_matches('s')
        })
    };
    let has_gaps = words.iter().any(|it| it == "gap" || it == "gaps");
    let is_missing = |it: &String| it == "missing" || it == "present";
    let is_time = |it: &&String| TIMES.contains(&it.as_str()) && !is_column(it);
    (has_gaps || words.iter().any(is_missing) && words.iter().any(|it| is_time(&it)))
        .then(|| "rows that are not there are not looked for: write the rule as `sql`".to_owned())
}

fn difference(words: &[String], sql: &str) -> Option<String> {
    let is_number = |it: &String| it.parse::<f64>().is_ok();
    let compares = |it: Option<&String>| it.is_some_and(|it| DIFFERENCES.contains(&it.as_str()));
    let at = words.iter().enumerate().position(|(at, it)| {
        let is_bound =
            at.checked_sub(1).is_some_and(|it| words[it] == "least" || words[it] == "most");
        let after = if is_bound { at + 1 } else { at + 3 };
        let is_or_more = words.get(at + 1..at + 3).is_some_and(|it| it == ["or", "more"]);
        is_number(it)
            && (is_bound || is_or_more)
            && (compares(words.get(after)) || is_bound && compares(words.get(after + 1)))
    })?;
    let is_computed = sql.contains(" + ") || sql.contains(" - ");
    (!is_computed).then(|| {
        format!("`{} …` is a difference: write a formula, such as `a - b is at least 1`", words[at])
    })
}

fn since(words: &[String], sql: &str) -> Option<String> {
    let is_year = |it: &String| it.parse::<f64>().is_ok_and(|it| YEARS.contains(&it));
    let at = words.iter().position(|it| it == "from")?;
    let year = words.get(at + 1).filter(|it| is_year(it))?;
    let ends = words[at + 2..].iter().any(|it| PERIOD_ENDS.contains(&it.as_str()));
    (!ends && sql.contains(">=")).then(|| format!("write `in {year}`, or `since {year}`"))
}

fn counted(words: &[String], sql: &str) -> Option<String> {
    let mut pairs = words.iter().zip(words.iter().skip(1));
    let (_, n) = pairs.find(|it| it.0 == "with" && it.1.parse::<f64>().is_ok())?;
    sql.contains("count(distinct")
        .then(|| format!("`with {n}` may be a value, and not a number of different values"))
}

/// Returns why the text that a statement searches for is not the one that the claim names.
fn pattern(claim: &str, sql: &str) -> Option<String> {
    let lower = claim.to_lowercase();
    for rest in sql.split("like '").skip(1) {
        let text = rest.split('\'').next().unwrap_or_default().trim_matches('%').to_lowercase();
        if text.is_empty() || text.contains(['\\', '%']) {
            continue;
        }
        let is_named = lower.match_indices(&text).any(|(at, _)| {
            let (before, after) = (&lower[..at], &lower[at + text.len()..]);
            if before.ends_with(['\'', '"', '“', '‘', '`']) {
                return true;
            }
            let last = lower_words(before).pop().unwrap_or_default();
            let is_whole = after.is_empty()
                || after.starts_with(|it: char| it.is_whitespace() || it == ',')
                || after == ".";
            is_whole
                && before.ends_with(char::is_whitespace)
                && BEFORE_TEXT.contains(&last.as_str())
                && !CHARACTERS.contains(&text.as_str())
        });
        if !is_named {
            return Some(format!("it searches for `{text}`: put the text in quotes"));
        }
    }
    None
}

/// Returns why a noun for all rows was taken for a value: each row of a table with `death_date` may be a death.
fn rows_or_value(words: &[String], sql: &str, catalog: &Catalog) -> Option<String> {
    let of_all = |it: &String| ["all", "every", "each", "no"].contains(&it.as_str());
    let nouns = words.iter().zip(words.iter().skip(1)).filter(|it| of_all(it.0)).map(|it| it.1);
    let literals: Vec<String> = sql.split('\'').skip(1).step_by(2).map(str::to_lowercase).collect();
    let is_in_name = |noun: &str| {
        columns(catalog).any(|column| {
            let parts = dataset_names::words(&column.name);
            1 < parts.len() && parts.iter().any(|it| it == noun)
        })
    };
    let mut nouns = nouns.map(|it| it.strip_suffix('s').unwrap_or(it));
    let noun = nouns.find(|it| literals.iter().any(|value| value == it) && is_in_name(it))?;
    Some(format!(
        "`{noun}` may be all rows, or a value: name the column, as in `where … is {noun}`"
    ))
}

/// Returns why another column may be meant: of `temp_min` and `temp_max`, `hotter` names none.
fn sibling(claim: &str, sql: &str, catalog: &Catalog) -> Option<String> {
    const BOUNDS: [(&str, &str, &str); 2] = [("min", "max", "low"), ("max", "min", "high")];
    let said = dataset_names::words(claim);
    let says = |it: &str| said.iter().any(|word| word.starts_with(it));
    let read = lower_words(sql);
    let names: Vec<&str> = columns(catalog).map(|it| it.name.as_str()).collect();
    for (own, other, _) in BOUNDS.into_iter().filter(|it| !says(it.0) && !says(it.2)) {
        for name in names.iter().filter(|it| read.contains(&it.to_lowercase())) {
            let mut parts = dataset_names::words(name);
            let Some(bound) = parts.iter_mut().find(|it| *it == own) else { continue };
            other.clone_into(bound);
            if let Some(sibling) = names.iter().find(|it| dataset_names::words(it) == parts) {
                return Some(format!("it may be about `{name}` or `{sibling}`: name the column"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use csv_agent_testing::dataset;
    use csv_agent_types::catalog::{Catalog, Column, DType, Dataset};

    use super::misread;

    #[track_caller]
    fn check(claim: &str, sql: &str, is_misread: bool) {
        let mut catalog = Catalog::default();
        let names = ["type", "death_date", "temp_min", "temp_max", "amount", "status", "name"];
        let columns = names.map(|it| Column::new(it, DType::String, Some(0))).into();
        catalog.insert("t".to_owned(), Dataset { columns, ..dataset(3) });
        let why = misread(claim, &format!("select * from t where {sql}"), &catalog);
        assert_eq!(why.is_some(), is_misread, "{claim}: {why:?}");
    }

    #[test]
    fn words_that_are_read_otherwise_than_meant_are_refused() {
        check("non-open orders have an amount above 60", "status = 'open' and amount > 60", true);
        check("not open orders have amount at least 1", "status = 'open' and amount < 1", true);
        check("orders that are not open have an amount above 60", "amount <= 60", false);
        check("name is never Unknown", "name is null", true);
        check("name is never Unknown", "name = 'Unknown'", false);
        check("dates have no gaps", "death_date is null", true);
        check("no day is missing", "death_date is null", true);
        check("no name is missing", "name is null", false);
        check("temp_max is at least 1 more than temp_min", "not (temp_max >= 1)", true);
        check("temp_max is at least 1 degree above temp_min", "not (temp_max >= 1)", true);
        check("temp_max is 1 or more above temp_min", "not (temp_max >= 1)", true);
        check("temp_max is at least 1 more than temp_min", "not (temp_max >= temp_min + 1)", false);
        check("amount is at least 1", "not (amount >= 1)", false);
        check("amount is 1 or more", "not (amount >= 1)", false);
        check("no rows from 1982", "year >= 1982", true);
        check("no rows from 1982 to 1985", "year >= 1982 and year <= 1985", false);
        check("every type has a row with 4 names", "count(distinct name) <> 4", true);
    }

    #[test]
    fn a_searched_text_is_the_one_that_the_claim_names() {
        check("name starts with TR-", "name not ilike 'TR%'", true);
        check("name starts with 'TR-'", "not starts_with(name, 'TR-')", false);
        check("name starts with TR", "name not ilike 'TR%'", false);
        check(
            "name ends with .com or .org",
            "not (name ilike '%.com' or name ilike '%.org')",
            false,
        );
        check("name starts with a letter", "name not ilike 'letter%'", true);
        check("no name contains a question mark", "name ilike '%mark%'", true);
        check("no name contains 'mark'", "name ilike '%mark%'", false);
    }

    #[test]
    fn a_noun_and_a_column_have_one_meaning() {
        check("all deaths happened in 1992", "type = 'Death' and year(death_date) <> 1992", true);
        check("all Accidents happened in 1992", "type = 'Accident'", false);
        check("no day is hotter than 36", "temp_min > 36", true);
        check("temp_min is at most 36", "temp_min > 36", false);
        check("the lowest temperature is at most 36", "temp_min > 36", false);
    }
}
