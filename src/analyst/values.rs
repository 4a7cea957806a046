//! A look at the data: the few values of columns, the range of numbers, and which columns hold what a question says.

use std::collections::HashMap;

use csv_agent_text::sql::{identifier, literal};
use serde_json::json;
use strsim::damerau_levenshtein;

use crate::lexicon::{Concept, Lexicon};
use crate::link::{Facts, Held, is_known, singulars};
use crate::query::Place;
use crate::schema::{Column, Kind, Table};
use crate::transcript::Turn;
use crate::words::{Token, TokenKind};
use crate::{Call, float};

/// The tool that looks.
const TOOL: &str = "query_datasets";
/// Values of a column up to which all are listed.
const VALUES_MAX: usize = 40;
/// Between values of a list; hardly in one.
const BETWEEN: &str = " ¦ ";
/// Letters of a value that is a word without its end.
const CUT_MIN: usize = 4;
/// Columns that one statement looks at: the tool shows as many rows.
const COLUMNS_MAX: usize = 20;
/// Columns of one table that are looked at.
const LOOKED_MAX: usize = 60;
/// Columns of one table that are tried as dates.
const DATED_MAX: usize = 4;
/// How text writes dates, in terms of strptime; the likelier first.
const DATE_FORMS: [&str; 15] = [
    "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y", "%b %d %Y",
    "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M",
];
/// Rows up to which all values are looked at.
const ROWS_MAX: u64 = 5_000_000;
/// Rows up to which different values are counted.
const COUNTED_MAX: u64 = 200_000;
/// Phrases that are looked up.
const PHRASES_MAX: usize = 90;
/// Words of the longest phrase.
const PHRASE_WORDS_MAX: usize = 4;
/// Letters from which a phrase is looked for within values.
const PART_MIN: usize = 3;

/// Returns the calls that look at a table before any question is read.
pub(crate) fn profile(table: &Table) -> Vec<Call> {
    if ROWS_MAX < table.n_rows {
        return Vec::new();
    }
    let name = identifier(&table.name);
    let rows: Vec<String> = table
        .columns
        .iter()
        .filter(|it| it.kind.is_number() || it.kind.is_time() || it.kind == Kind::Text)
        .take(LOOKED_MAX)
        .map(|column| {
            let of = identifier(&column.name);
            let values = if matches!(column.kind, Kind::Whole | Kind::Text) {
                format!(
                "(select string_agg(cast(v as text), {} order by v) from (select distinct {of} as v from {name} where {of} is \
                 not null limit {}) having count(*) <= {VALUES_MAX})",
                literal(BETWEEN),
                VALUES_MAX + 1
                )
            } else {
                "cast(null as text)".to_owned()
            };
            let range = if column.kind.is_time() {
                format!(
                    "cast(date_diff('day', date '1970-01-01', min({of})) as double) as least, cast(date_diff('day', date \
                     '1970-01-01', max({of})) as double) as most"
                )
            } else if column.kind.is_number() {
                format!("cast(min({of}) as double) as least, cast(max({of}) as double) as most")
            } else {
                "cast(null as double) as least, cast(null as double) as most".to_owned()
            };
            let n = if table.n_rows <= COUNTED_MAX { format!("count(distinct {of})") } else { "cast(null as bigint)".to_owned() };
            format!(
                "select {} as \"column\", {values} as \"values\", {range}, {n} as n from {name}",
                literal(&column.name)
            )
        })
        .collect();
    let dated = dated(table);
    let statements = rows
        .chunks(COLUMNS_MAX)
        .chain(dated.chunks(COLUMNS_MAX))
        .map(|it| it.join("\nunion all\n"));
    statements.map(|it| (TOOL, json!({"sql": it, "result_name": null}))).collect()
}

/// Returns statements that find how columns of text write dates.
fn dated(table: &Table) -> Vec<String> {
    let name = identifier(&table.name);
    let columns = table.columns.iter().filter(|it| it.may_be_dated).take(DATED_MAX);
    columns
        .map(|column| {
            let of = identifier(&column.name);
            let cases = DATE_FORMS.map(|form| {
                let form = literal(form);
                format!("when count(try_strptime({of}, {form})) * 20 >= count({of}) * 19 then {form}")
            });
            let column = literal(&column.name);
            format!("select {column} as \"column\", case when count({of}) = 0 then null {} end as form from {name}", cases.join(" "))
        })
        .collect()
}

/// Takes what the look at a table has shown.
pub(crate) fn set_profile(table: &mut Table, turns: &[Turn], lexicon: &Lexicon) {
    for call in profile(table) {
        let Some(done) = turns.iter().find_map(|it| it.done(call.0, &call.1)) else { continue };
        for row in done.output["head"].as_array().into_iter().flatten() {
            let Some(at) = row["column"].as_str().and_then(|it| table.column(it)) else { continue };
            let column = &mut table.columns[at];
            if let Some(form) = row["form"].as_str() {
                column.kind = if form.contains("%H") { Kind::Moment } else { Kind::Day };
                column.form = Some(form.to_owned());
            }
            if row.get("values").is_none() {
                continue;
            }
            column.range = row["least"].as_f64().zip(row["most"].as_f64());
            column.n_distinct = row["n"].as_u64();
            column.values = row["values"]
                .as_str()
                .filter(|it| it.chars().count() < 1_000)
                .map(|it| it.split(BETWEEN).map(str::to_owned).collect());
            set_flag(column);
        }
    }
    for column in &mut table.columns {
        column.is_key |= numbers_things(column, table.n_rows, lexicon);
    }
}

/// Returns whether whole numbers are those of things, one after another or each once: of an `order`, a `ticket`.
fn numbers_things(column: &Column, n_rows: u64, lexicon: &Lexicon) -> bool {
    let (Kind::Whole, [word], Some(n), Some((least, most))) =
        (column.kind, &column.words[..], column.n_distinct, column.range)
    else {
        return false;
    };
    let name = column.name.to_lowercase();
    // `orders` count them.
    let is_thing = lexicon.noun_cues(&name).is_some() && singulars(&name).is_empty();
    let is_row = 2 < n && n + column.n_missing == n_rows;
    let is_series = KEYS_MIN <= n && most - least + 1.0 <= float(n) && 0.0 < least;
    let is_amount = ["revenue", "debt", "cost"].iter().any(|it| lexicon.are_synonyms(word, it));
    is_thing && !is_amount && (is_row || is_series)
}

/// Numbers one after another, from which on they are hardly a few classes.
const KEYS_MIN: u64 = 20;

/// Takes a column of nothing but 0 and 1, or of two texts for yes and no, for one that says yes or no.
fn set_flag(column: &mut Column) {
    let Some(values) = &column.values else { return };
    let [one, other] = &values[..] else { return };
    if column.kind == Kind::Whole {
        if one == "0" && other == "1" {
            column.kind = Kind::Bool;
        }
        return;
    }
    // `1. Yes`
    let pair = |it: &str| {
        let bare = it.trim_start_matches(|it: char| it.is_ascii_digit());
        let is_numbered = bare.len() < it.len() && bare.starts_with(['.', ')']);
        let bare = if is_numbered { bare[1..].trim() } else { it };
        bare.to_lowercase()
    };
    let lower = [pair(one), pair(other)];
    let pairs = [["no", "yes"], ["n", "y"], ["false", "true"], ["f", "t"]];
    for pair in pairs {
        if let [Some(_), Some(yes)] = pair.map(|it| lower.iter().position(|value| value == it)) {
            column.yes = Some(values[yes].clone());
            column.kind = Kind::Bool;
        }
    }
}

/// Returns the calls that find which columns hold what a question may name.
pub(crate) fn finds(
    question: &str,
    tokens: &[Token],
    tables: &[Table],
    lexicon: &Lexicon,
) -> Vec<Call> {
    let phrases = phrases(question, tokens, lexicon);
    if phrases.is_empty() {
        return Vec::new();
    }
    let listed: Vec<String> = phrases.iter().map(|it| literal(it)).collect();
    let listed = listed.join(", ");
    let words: Vec<String> =
        phrases.iter().filter(|it| PART_MIN < it.chars().count()).map(|it| escaped(it)).collect();
    let mut calls = Vec::new();
    for table in tables {
        let name = identifier(&table.name);
        let texts = table
            .columns
            .iter()
            .filter(|it| it.kind == Kind::Text || it.yes.is_some() || it.form.is_some());
        let mut parts = Vec::new();
        for column in texts.take(LOOKED_MAX) {
            let of = identifier(&column.name);
            parts.push(format!(
                "select {0} as \"column\", 'whole' as found, {of} as \"value\", count(*) as n from {name} where \
                 lower(trim({of})) in ({listed}) group by {of}",
                literal(&column.name)
            ));
            if !words.is_empty() {
                let pattern = literal(&format!("\\b({})\\b", words.join("|")));
                let found = format!("regexp_extract(lower({of}), {pattern}, 1)");
                parts.push(format!(
                    "select {0}, 'part', {found}, count(*) from {name} where regexp_matches(lower({of}), {pattern}) and \
                     lower(trim({of})) not in ({listed}) group by {found}",
                    literal(&column.name)
                ));
            }
        }
        if !parts.is_empty() {
            let sql = format!(
                "select *\nfrom ({})\norder by found desc, n desc, \"value\"",
                parts.join("\nunion all\n")
            );
            calls.push((TOOL, json!({"sql": sql, "result_name": null})));
        }
    }
    calls
}

/// Returns what the calls for a question have found.
pub(crate) fn facts(
    question: &str,
    tokens: &[Token],
    tables: &[Table],
    turn: &Turn,
    lexicon: &Lexicon,
) -> Facts {
    let mut facts: Facts = HashMap::new();
    for (index, table) in tables.iter().enumerate() {
        for call in finds(question, tokens, std::slice::from_ref(table), lexicon) {
            let Some(done) = turn.done(call.0, &call.1) else { continue };
            for row in done.output["head"].as_array().into_iter().flatten() {
                let (Some(column), Some(value)) =
                    (row["column"].as_str().and_then(|it| table.column(it)), row["value"].as_str())
                else {
                    continue;
                };
                let is_whole = row["found"] == "whole";
                let place = Place { table: index, column };
                let n_rows = row["n"].as_u64().unwrap_or_default();
                put(
                    &mut facts,
                    &value.trim().to_lowercase(),
                    place,
                    is_whole.then(|| value.to_owned()),
                    n_rows,
                );
            }
        }
        // `HR` is `Human Resources`.
        for token in tokens.iter().filter(|it| it.kind == TokenKind::Word && it.text != it.lower) {
            let is_short =
                (2..5).contains(&token.text.len()) && token.text.chars().all(char::is_uppercase);
            if !is_short
                || facts
                    .get(&token.lower)
                    .is_some_and(|it| it.iter().any(|it| !it.spellings.is_empty()))
            {
                continue;
            }
            for (column, it) in table.columns.iter().enumerate() {
                let Some(values) = it.values.as_ref().filter(|_| it.kind == Kind::Text) else {
                    continue;
                };
                let is_meant = |it: &&String| {
                    let words =
                        it.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
                    words.filter_map(|it| it.chars().next()).collect::<String>() == token.text
                };
                if let Some(value) = values.iter().find(is_meant) {
                    facts.remove(&token.lower);
                    put(
                        &mut facts,
                        &token.lower,
                        Place { table: index, column },
                        Some(value.clone()),
                        0,
                    );
                }
            }
        }
        cut_values(question, tokens, (index, table), &mut facts, lexicon);
        // What is written with one letter more or less, among the few values of a column.
        for token in tokens.iter().filter(|it| it.kind == TokenKind::Word && 4 < it.lower.len()) {
            if facts.contains_key(&token.lower) || is_known(token, lexicon) {
                continue;
            }
            for (column, it) in table.columns.iter().enumerate() {
                let Some(values) = it.values.as_ref().filter(|_| it.kind == Kind::Text) else {
                    continue;
                };
                let near = values.iter().find(|it| {
                    let lower = it.to_lowercase();
                    lower.chars().next() == token.lower.chars().next()
                        && damerau_levenshtein(&lower, &token.lower) == 1
                });
                if let Some(value) = near {
                    put(
                        &mut facts,
                        &token.lower,
                        Place { table: index, column },
                        Some(value.clone()),
                        0,
                    );
                }
            }
        }
    }
    others(question, tokens, &mut facts, lexicon);
    facts
}

/// Finds words that one value alone cuts short, among the few values of a column: `professors` of `Prof`, `associate
/// professors` of `AssocProf`.
fn cut_values(
    question: &str,
    tokens: &[Token],
    (index, table): (usize, &Table),
    facts: &mut Facts,
    lexicon: &Lexicon,
) {
    for n in [1, 2] {
        for (start, span) in tokens.windows(n).enumerate() {
            let is_word = |it: &Token| it.kind == TokenKind::Word && CUT_MIN < it.lower.len();
            let is_known = |it: &Token| is_known(it, lexicon);
            if span.last().is_none_or(is_known) || span.iter().any(|it| lexicon.is_stop(&it.stem)) {
                continue;
            }
            let text = question[span[0].start..tokens[start + n - 1].end].to_lowercase();
            // `popularity` is a column, and not the value `popular` of another.
            let is_named = |it: &Token| {
                let mut names = table.columns.iter().map(|it| &it.words).chain([&table.words]);
                names.any(|words| words.contains(&it.stem))
            };
            if !span.iter().all(is_word) || span.iter().any(is_named) || facts.contains_key(&text) {
                continue;
            }
            for (column, it) in table.columns.iter().enumerate() {
                let Some(values) = it.values.as_ref().filter(|_| it.kind == Kind::Text) else {
                    continue;
                };
                // `Sun` is Sunday.
                let is_of_calendar = |it: &Token| {
                    lexicon.weekday(&it.lower).is_some() || lexicon.month(&it.lower).is_some()
                };
                let n_min = if span.iter().all(is_of_calendar) { 3 } else { CUT_MIN };
                let long = || values.iter().filter(|it| n_min <= it.len());
                let sole = |is_start: bool| {
                    let mut cut = long().filter(|it| is_cut_short(it, span, is_start));
                    cut.next().filter(|_| cut.next().is_none())
                };
                if let Some(value) = sole(true).or_else(|| sole(false)) {
                    let place = Place { table: index, column };
                    put(facts, &text, place, Some(value.clone()), 0);
                }
            }
        }
    }
}

/// Returns whether a value is a word without its end, or two words in one, each cut short; the first of them to its start,
/// or to some of its letters.
fn is_cut_short(value: &str, span: &[Token], is_start: bool) -> bool {
    let value = value.to_lowercase();
    let begins = |part: &str, word: &str| part.len() < word.len() && word.starts_with(part);
    match span {
        [word] => begins(&value, &word.lower),
        [one, other] => {
            let cuts = |part: &str, word: &str| {
                let mut letters = word.chars();
                3 <= part.len()
                    && (!is_start || word.starts_with(part))
                    && part.chars().next() == word.chars().next()
                    && part.chars().all(|it| letters.any(|letter| letter == it))
            };
            let mut splits = (3..value.len()).filter(|it| value.is_char_boundary(*it));
            splits.any(|at| cuts(&value[..at], &one.lower) && begins(&value[at..], &other.lower))
        }
        _ => false,
    }
}

fn put(facts: &mut Facts, text: &str, place: Place, spelling: Option<String>, n_rows: u64) {
    let all = facts.entry(text.to_owned()).or_default();
    match all.iter_mut().find(|it| it.place == place) {
        Some(held) => {
            held.spellings.extend(spelling.filter(|it| !held.spellings.contains(it)));
            held.n_rows += n_rows;
        }
        None => all.push(Held {
            place,
            spellings: spelling.into_iter().collect(),
            text: text.to_owned(),
            n_rows,
        }),
    }
}

/// Adds what a plural or another word for a value names.
fn others(question: &str, tokens: &[Token], facts: &mut Facts, lexicon: &Lexicon) {
    for start in 0..tokens.len() {
        for end in start + 1..=tokens.len().min(start + PHRASE_WORDS_MAX) {
            let text = question[tokens[start].start..tokens[end - 1].end].to_lowercase();
            let is_whole = |it: &Vec<Held>| it.iter().any(|it| !it.spellings.is_empty());
            if facts.get(&text).is_some_and(is_whole) {
                continue;
            }
            let mut other = lexicon.written(&text).iter().cloned().chain(singulars(&text));
            let found = other.find_map(|it| facts.get(&it).filter(|it| is_whole(it)).cloned());
            let found = found.or_else(|| {
                let singulars = singulars(&text);
                singulars
                    .iter()
                    .find_map(|it| facts.get(it).cloned())
                    .filter(|_| !facts.contains_key(&text))
            });
            if let Some(held) = found {
                facts.insert(text, held);
            }
        }
    }
}

/// Returns whether a word stands between others, or says what is computed of them, and so neither begins nor ends a value.
fn joins(token: &Token, lexicon: &Lexicon) -> bool {
    matches!(
        lexicon.phrase(std::slice::from_ref(&token.lower)),
        Some(
            Concept::Of
                | Concept::By
                | Concept::And
                | Concept::Or
                | Concept::Which
                | Concept::Mean
                | Concept::Median
                | Concept::Sum
                | Concept::Max
                | Concept::Min
                | Concept::HowMany
                | Concept::Share
                | Concept::Each
                | Concept::Than
                | Concept::Versus
                | Concept::Compare
                | Concept::Difference
                | Concept::Chart
                | Concept::List
                | Concept::Sorted
        )
    )
}

/// Returns the phrases of a question that may be values, in lower case; the likelier first.
fn phrases(question: &str, tokens: &[Token], lexicon: &Lexicon) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for start in 0..tokens.len() {
        for end in start + 1..=tokens.len().min(start + PHRASE_WORDS_MAX) {
            let span = &tokens[start..end];
            let says = |it: &Token| match it.kind {
                TokenKind::Quoted => true,
                TokenKind::Word => {
                    let is_short =
                        (2..5).contains(&it.text.len()) && it.text.chars().all(char::is_uppercase);
                    let is_capital =
                        0 < it.start && it.text.starts_with(char::is_uppercase) || is_short;
                    let is_small = lexicon.is_stop(&it.stem) && !lexicon.is_filler(&it.stem);
                    is_capital || !is_small && !joins(it, lexicon)
                }
                _ => 1 < span.len(),
            };
            let is_listed = span.iter().any(|it| it.lower == ",");
            let (Some(first), Some(last)) = (span.first(), span.last()) else { continue };
            if is_listed || !says(first) || !says(last) {
                continue;
            }
            let words: Vec<String> = span.iter().map(|it| it.lower.clone()).collect();
            let n_known = span.iter().filter(|it| is_known(it, lexicon)).count();
            let is_phrase = lexicon.phrase(&words).is_some();
            if is_phrase && 1 < span.len()
                || span.iter().all(|it| matches!(it.kind, TokenKind::Number(_)))
            {
                continue;
            }
            let text = question[first.start..last.end].to_lowercase();
            let rank = n_known * 4 + span.len();
            found.push((rank, text.clone()));
            for other in lexicon.written(&text) {
                found.push((rank + 1, other.clone()));
            }
            for other in singulars(&text) {
                found.push((rank + 1, other));
            }
        }
    }
    found.sort_by_key(|it| it.0);
    let mut phrases: Vec<String> = Vec::new();
    for (_, phrase) in found {
        if !phrases.contains(&phrase) && phrases.len() < PHRASES_MAX {
            phrases.push(phrase);
        }
    }
    phrases
}

/// Writes a text so that a regular expression finds it as it is.
fn escaped(text: &str) -> String {
    let escape = |it: char| (!it.is_alphanumeric() && it != ' ' && it.is_ascii()).then_some('\\');
    text.chars().flat_map(|it| escape(it).into_iter().chain([it])).collect()
}
