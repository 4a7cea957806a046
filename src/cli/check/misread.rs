//! Words that the built-in analyst tends to read otherwise than people mean them.
//!
//! A question shows what it was answered from, but a rule that means something else passes unseen. So a claim
//! with such words is refused, unless its statement shows that they were read as meant.

use std::ops::RangeInclusive;

use csv_agent_types::catalog::{Catalog, Column, DType};
use csv_agent_types::dataset_names;

use super::claims::NUMBERS;

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
/// Words for values that are missing or not.
const PRESENCE: [&str; 10] = [
    "missing", "null", "nulls", "empty", "blank", "given", "present", "known", "filled",
    "populated",
];
/// Words for what is computed of many values.
const FIGURES: [&str; 17] = [
    "average", "mean", "median", "total", "sum", "minimum", "min", "smallest", "lowest", "maximum",
    "max", "largest", "highest", "biggest", "latest", "newest", "earliest",
];
/// What computes them, in a statement.
const FUNCTIONS: [&str; 8] =
    ["avg(", "median(", "sum(", "min(", "max(", "quantile_cont(", "count(", "limit "];
/// What to write for keys of several columns.
const UNIQUE: &str = "write `… and … together are unique`, or a rule for each column";
/// Units of time whose rows can be missing.
const TIMES: [&str; 11] =
    ["day", "days", "week", "weeks", "month", "months", "hour", "hours", "year", "years", "dates"];

/// Returns why a statement probably does not mean what a claim says.
pub(super) fn misread(claim: &str, sql: &str, catalog: &Catalog) -> Option<String> {
    let words = lower_words(claim);
    negated(&words)
        .or_else(|| unknown(&words, sql))
        .or_else(|| gap(&words, catalog))
        .or_else(|| presence(&words, sql, catalog))
        .or_else(|| figure(&words, sql, catalog))
        .or_else(|| number_of(&words, sql, catalog))
        .or_else(|| alternatives(claim, sql))
        .or_else(|| each_or_all(&words, sql))
        .or_else(|| no_more(&words, sql))
        .or_else(|| none_of(&words, sql, catalog))
        .or_else(|| ordered_text(sql, catalog))
        .or_else(|| condition(&words, sql))
        .or_else(|| difference(&words, sql))
        .or_else(|| since(&words, sql))
        .or_else(|| counted(&words, sql, catalog))
        .or_else(|| pattern(claim, sql))
        .or_else(|| rows_or_value(&words, sql, catalog))
        .or_else(|| sibling(claim, sql, catalog))
}

/// Returns what to write instead of a claim that is not understood, where its words tell.
pub(super) fn advice(claim: &str) -> Option<&'static str> {
    let words = lower_words(claim);
    let has = |all: &[&str]| words.iter().any(|it| all.contains(&it.as_str()));
    let has_quotes = claim.contains(['\'', '"', '“']);
    let is_pattern = claim.contains(['^', '[', '\\', '*', '+', '$', '{']);
    if !has_quotes && is_pattern && has(&["matches", "match"]) {
        return Some("put the regular expression in quotes");
    }
    let is_of_text = has(&["starts", "ends", "begins", "contains"]) && has(&["with", "contains"]);
    if !has_quotes && is_of_text && !has(&PRESENCE) {
        return Some("put the text in quotes");
    }
    if has(&["ascending", "descending", "sorted", "increasing", "decreasing", "increases"]) {
        return Some("claims are not about the order of rows: write the rule as `sql`");
    }
    let compares =
        ["most", "least", "exactly", "above", "below", "over", "under", "than", "between"];
    if has(&["maximum", "max", "minimum", "min", "highest", "lowest"]) && !has(&compares) {
        return Some("write `is at most …`, `is at least …` or `is exactly …`");
    }
    if has(&["unique"]) && has(&["and"]) {
        return Some(UNIQUE);
    }
    let is_number = |it: &String| it.parse::<f64>().is_ok();
    let is_counted = words.first().is_some_and(|it| it == "there")
        && words.iter().any(|it| is_number(it) || NUMBERS.contains(&it.as_str()));
    let is_open = is_counted && !has(&["row", "rows"]);
    is_open.then_some("count `rows`, or `different` values, as in `there are 6 different …`")
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
    if words.iter().any(|it| !TIMES.contains(&it.as_str()) && is_column(it)) {
        return None;
    }
    let has_gaps = words.iter().any(|it| it == "gap" || it == "gaps");
    let is_missing = |it: &String| it == "missing" || it == "present";
    let is_time = |it: &&String| TIMES.contains(&it.as_str()) && !is_column(it);
    (has_gaps || words.iter().any(is_missing) && words.iter().any(|it| is_time(&it)))
        .then(|| "rows that are not there are not looked for: write the rule as `sql`".to_owned())
}

/// Returns whether a word is a part of a column's name, or of a text of the statement.
fn is_name_or_text(word: &str, sql: &str, catalog: &Catalog) -> bool {
    let texts = sql.to_lowercase();
    let mut texts = texts.split('\'').skip(1).step_by(2);
    columns(catalog).any(|it| dataset_names::words(&it.name).iter().any(|it| it == word))
        || texts.any(|it| it.contains(word))
}

/// Returns why a word for missing values was left out: `price is given from 2000 to 2010`.
fn presence(words: &[String], sql: &str, catalog: &Catalog) -> Option<String> {
    // At the end of a statement, it only leaves rows out.
    let is_tested =
        ["is null", "is not null)", "is not null and", "is not null\n", "count(distinct"];
    let word = words.iter().find(|it| PRESENCE.contains(&it.as_str()))?;
    let is_read =
        is_tested.iter().any(|it| sql.contains(it)) || is_name_or_text(word, sql, catalog);
    (!is_read).then(|| format!("`{word}` is left out: write `… is not missing if …`"))
}

/// Returns why a word for a number of many values was left out: `the latest day is 2024-01-01`.
fn figure(words: &[String], sql: &str, catalog: &Catalog) -> Option<String> {
    let word = words.iter().find(|it| FIGURES.contains(&it.as_str()))?;
    // `minimum temperature` is `temp_min`.
    let is_name = |column: &Column| {
        let parts = dataset_names::words(&column.name);
        parts.iter().any(|it| 2 < it.len() && word.starts_with(it.as_str()))
    };
    let is_read = FUNCTIONS.iter().any(|it| sql.contains(it))
        || is_name_or_text(word, sql, catalog)
        || columns(catalog).any(is_name);
    (!is_read).then(|| format!("`{word}` is left out: write `the {word} COLUMN is at least …`"))
}

/// Returns why several columns were taken for one key: each of them may be meant.
fn each_or_all(words: &[String], sql: &str) -> Option<String> {
    const TOGETHER: [&str; 7] =
        ["together", "combination", "combinations", "combined", "pair", "pairs", "key"];
    let key = sql.split("partition by ").nth(1)?.split(')').next()?;
    let has = |all: &[&str]| words.iter().any(|it| all.contains(&it.as_str()));
    let is_open = key.contains(", ") && has(&["unique", "distinct"]) && !has(&TOGETHER);
    is_open.then(|| UNIQUE.to_owned())
}

/// Returns why `no` was taken for the opposite of what follows: `a is no more than 5`.
fn no_more(words: &[String], sql: &str) -> Option<String> {
    let mut places = words.windows(3).enumerate().skip(1);
    let (_, bound) =
        places.find(|it| it.1[0] == "no" && it.1[2] == "than" && words[it.0 - 1] != "and")?;
    let is_opposite = !sql.contains("not (") && !sql.contains(" holds ");
    is_opposite.then(|| {
        format!("`{}` is not read reliably: write `at most` or `at least`", bound.join(" "))
    })
}

/// Returns why a number may be 0 and not missing: `have no discount`.
fn none_of(words: &[String], sql: &str, catalog: &Catalog) -> Option<String> {
    let is_number = |it: &&Column| matches!(it.dtype, DType::Int64 | DType::Float64);
    let name = words.windows(3).find_map(|it| {
        let has_none = ["have", "has"].contains(&&*it[0]) && it[1] == "no";
        let mut numbers = columns(catalog).filter(is_number);
        numbers.find(|column| has_none && column.name.to_lowercase() == it[2])
    })?;
    let name = &name.name;
    (sql.contains(" is null") && !words.iter().any(|it| PRESENCE.contains(&it.as_str()))).then(
        || format!("`no {name}` may be 0 or missing: write `{name} is 0` or `{name} is missing`"),
    )
}

/// Returns why the order of texts was taken for their length or for a number: `every name wins at least one round`.
fn ordered_text(sql: &str, catalog: &Catalog) -> Option<String> {
    let is_ordered = |it: &&Column| {
        let places = sql.match_indices(&*it.name).map(|place| sql.split_at(place.0));
        let mut places = places.map(|(before, rest)| (before, &rest[it.name.len()..]));
        it.dtype == DType::String
            && places.any(|(before, rest)| {
                let is_part = before.ends_with(|it: char| it.is_alphanumeric() || it == '_');
                let rest = rest.trim_start_matches('"');
                !is_part && [" > ", " < ", " >= ", " <= "].iter().any(|it| rest.starts_with(it))
            })
    };
    let column = &columns(catalog).find(is_ordered)?.name;
    Some(format!(
        "`{column}` is text, which is not more or less: name a number of characters, or write the rule as `sql`"
    ))
}

/// Returns why a condition was taken for a part of the rule: `where the winner is A, B is below C`.
fn condition(words: &[String], sql: &str) -> Option<String> {
    const CONDITIONS: [&str; 4] = ["if", "when", "whenever", "where"];
    let word = words.iter().find(|it| CONDITIONS.contains(&it.as_str()))?;
    sql.contains("\nwhere not (").then(|| {
        format!("`{word}` is not read reliably: write `if …, then …`, or the rule as `sql`")
    })
}

/// Returns why a number of things was taken for their values, `there are between 5 and 9 flights`, or one of values for
/// one of rows, `there are eleven firms`.
fn number_of(words: &[String], sql: &str, catalog: &Catalog) -> Option<String> {
    let is_number = |it: &&String| it.parse::<f64>().is_ok();
    let is_number_of = words.first().is_some_and(|it| it == "there");
    let counted = sql.split(" as holds\nfrom ").nth(1).and_then(|it| it.split(')').next());
    let is_of_all = counted.is_some_and(|it| !it.contains("where"));
    let values = words.get(2..4).and_then(|it| it.iter().find(|it| is_values(it, catalog)));
    if let Some(values) = values.filter(|_| is_number_of && is_of_all) {
        return Some(format!("it counts rows: write `… different {values}`, or `… rows`"));
    }
    let n = words.iter().take(6).find(is_number).filter(|it| *it != "1")?;
    (is_number_of && sql.contains("count(*) >= 1 as holds"))
        .then(|| format!("`{n} …` may be a number of rows: write `{n} rows`, or `{n} different …`"))
}

/// Returns whether a word is a column in the plural, and no table.
fn is_values(word: &str, catalog: &Catalog) -> bool {
    let is_plural =
        |name: &str| dataset_names::words(name).pop().is_some_and(|it| format!("{it}s") == word);
    let is_table = |name: &str| dataset_names::words(name).pop().is_some_and(|it| it == word);
    columns(catalog).any(|it| is_plural(&it.name)) && !catalog.iter().any(|it| is_table(it.0))
}

/// Returns why one of several values was taken for a condition of its own: `they are a, b or c`.
fn alternatives(claim: &str, sql: &str) -> Option<String> {
    let claim = claim.to_lowercase();
    let text = |it: &str| it.split('\'').next().unwrap_or_default().to_lowercase();
    let mut single = sql.split("= '").skip(1).map(text);
    let all: Vec<String> = sql.split('\'').skip(1).step_by(2).map(str::to_lowercase).collect();
    let value = single.find(|it| {
        let is_listed = |next: &String| {
            [", ", " or ", ", or "]
                .iter()
                .any(|between| claim.contains(&format!("{it}{between}{next}")))
        };
        claim.contains(" or ") && all.iter().any(|next| next != it && is_listed(next))
    })?;
    Some(format!("`{value}` is a value of another column than the others: name the column"))
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

/// Returns why a number may be no number of different values: `with 8 cylinders`, `8 cylinder cars`, and in
/// `flights`, `at least 5 flights`.
fn counted(words: &[String], sql: &str, catalog: &Catalog) -> Option<String> {
    let name = sql.split("count(distinct ").nth(1)?.split(')').next()?.trim_matches('"');
    if words.iter().any(|it| ["different", "distinct", "unique"].contains(&it.as_str())) {
        return None;
    }
    let stem = |it: &str| {
        let it = it.trim_end_matches('s').to_lowercase();
        it.strip_suffix("ie").map(|it| format!("{it}y")).unwrap_or(it)
    };
    let noun = dataset_names::words(name).pop().map(|it| stem(&it))?;
    // Of `death_date`, 5 deaths are no dates.
    if !words.iter().any(|it| stem(it) == noun) {
        return Some(format!("it counts `{name}`: write `… different {name}`, or `… rows`"));
    }
    let is_table = catalog.iter().any(|it| {
        let last = dataset_names::words(it.0).pop();
        last.is_some_and(|it| stem(&it) == noun) && words.iter().any(|it| stem(it) == noun)
    });
    let n = words.iter().enumerate().find_map(|(at, n)| {
        n.parse::<f64>().ok().filter(|it| (*it - 1.0).abs() > f64::EPSILON)?;
        let is_after_with = at.checked_sub(1).is_some_and(|it| words[it] == "with");
        let is_singular = words.get(at + 1).is_some_and(|it| *it == noun && !it.ends_with('s'));
        (is_after_with || is_singular || is_table).then_some(n)
    })?;
    Some(format!(
        "`{n}` may be a number of rows or a value: write `{n} different …`, or `{n} rows`"
    ))
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
            let other = names.iter().find(|it| dataset_names::words(it) == parts);
            if let Some(sibling) = other.filter(|it| !read.contains(&it.to_lowercase())) {
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
        let texts = ["type", "status", "name"].map(|it| Column::new(it, DType::String, Some(0)));
        let numbers = ["temp_min", "temp_max", "amount", "price"];
        let numbers = numbers.map(|it| Column::new(it, DType::Int64, Some(0)));
        let mut columns: Vec<Column> = texts.into_iter().chain(numbers).collect();
        columns.push(Column::new("death_date", DType::Date, Some(0)));
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
        check("every type has 4 name rows", "count(distinct name) <> 4", true);
        check("every type has 4 names", "count(distinct name) <> 4", false);
        check("every type has 4 ts", "count(distinct t) <> 4", true);
        check("every type has 4 different ts", "count(distinct t) <> 4", false);
        let given = "not (amount >= 1 and amount <= 5) and amount is not null";
        check("amount is given from 1 to 5", given, true);
        check("no amount is given", "amount is not null and amount > 5", false);
        check("the latest death_date is 1992-01-01", "death_date <> date '1992-01-01'", true);
        check("the average amount is 5", "not (avg(amount) = 5)", false);
        check("there are between 5 and 9 names", "count(*) >= 1 as holds", true);
        check("there is at least 1 name", "count(*) >= 1 as holds", false);
        check("there are eleven names", "count(*) = 11 as holds\nfrom t)", true);
        check("there are eleven names", "count(*) = 11 as holds\nfrom t\nwhere a)", false);
        check("there are eleven ts", "count(*) = 11 as holds\nfrom t)", false);
        check("amount is no more than 5 at any time", "amount <= 5", true);
        check("amount is no more than 5", "not (amount <= 5)", false);
        check("no amount is more than 5", "amount > 5", false);
        check("the rows have no amount", "amount is not null and amount > 0", false);
        check("the rows have no price", "not (price is null)", true);
        check("the rows have no name", "not (name is null)", false);
        check("name is longer than status", "not (name > status)", true);
        check("every status has at least one name", "not (status >= name)", true);
        check("name is not status", "not (name <> status)", false);
        check("price is longer than 5", "not (price > 5)", false);
        check("where name is a, price is 5", "x\nwhere not (name = 'a' and price = 5)", true);
        check("where name is a, price is 5", "x\nwhere name = 'a' and not (price = 5)", false);
        check("every type has at most 5 deaths", "count(distinct death_date) > 5", true);
        check("every type has at most 5 dates", "count(distinct death_date) > 5", false);
        let both = "qualify count(*) over (partition by type, name) > 1";
        check("type and name are unique", both, true);
        check("type and name together are unique", both, false);
        check("no two rows have the same type and name", both, false);
        let split = "not (type = 'MSFT' and name in ('IBM', 'AAPL'))";
        check("they are MSFT, IBM or AAPL", split, true);
        check("MSFT has IBM or AAPL", split, false);
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
        check("low temperatures are at most 36", "temp_min > 36", false);
    }
}
