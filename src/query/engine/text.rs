//! Functions of text, by characters.

use std::borrow::Cow;

use polars::prelude::{
    DataType, Expr, Int64Chunked, IntoSeries, PolarsResult, Series, StringChunked,
};
use regex::Regex;

use super::elementwise::{call, failure, ints, text_to_bool, text_to_text, texts};

/// Bytes of a text that `repeat` and padding make.
const MADE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of a compiled regular expression.
const REGEX_BYTES_MAX: usize = 10 * 1024 * 1024;

/// Joins texts; null where one is null.
pub(super) fn concat(values: Vec<Expr>) -> Expr {
    each_row(values, |row| {
        let parts: Option<Vec<&str>> = row.iter().copied().collect();
        parts.map(|it| it.concat())
    })
}

/// Joins the texts after the first that are not null, separated by the first.
pub(super) fn concat_separated(values: Vec<Expr>) -> Expr {
    each_row(values, |row| {
        let (separator, parts) = row.split_first()?;
        let parts: Vec<&str> = parts.iter().flatten().copied().collect();
        Some(parts.join((*separator)?))
    })
}

/// Replaces each occurrence of the second text by the third.
pub(super) fn replace(values: Vec<Expr>) -> Expr {
    each_row(values, |row| match row {
        // An empty text occurs nowhere.
        [Some(text), Some(""), Some(_)] => Some((*text).to_owned()),
        [Some(text), Some(from), Some(to)] => Some(text.replace(from, to)),
        _ => None,
    })
}

/// Applies a function to the texts of each row.
fn each_row(
    values: Vec<Expr>,
    function: impl Fn(&[Option<&str>]) -> Option<String> + Send + Sync + 'static,
) -> Expr {
    call(values, DataType::String, move |arguments| {
        let columns: Vec<StringChunked> =
            arguments.iter().map(texts).collect::<PolarsResult<_>>()?;
        let n_rows = columns.first().map_or(0, StringChunked::len);
        let mut iterators: Vec<_> = columns.iter().map(StringChunked::iter).collect();
        let mut row = Vec::with_capacity(columns.len());
        let mut results = Vec::with_capacity(n_rows);
        for _ in 0..n_rows {
            row.clear();
            row.extend(iterators.iter_mut().map(|it| it.next().flatten()));
            results.push(function(&row));
        }
        let results: StringChunked = results.into_iter().collect();
        Ok(results.into_series())
    })
}

/// Returns the text in lower case.
pub(super) fn lower(input: Expr) -> Expr {
    text_to_text(input, |it| Cow::Owned(it.to_lowercase()))
}

/// Returns the text in upper case.
pub(super) fn upper(input: Expr) -> Expr {
    text_to_text(input, |it| Cow::Owned(it.to_uppercase()))
}

/// Returns the characters backwards.
pub(super) fn reverse(input: Expr) -> Expr {
    text_to_text(input, |it| Cow::Owned(it.chars().rev().collect()))
}

/// Returns each word with a capital.
pub(super) fn initial_capitals(input: Expr) -> Expr {
    text_to_text(input, |text| {
        let mut result = String::with_capacity(text.len());
        let mut is_inside = false;
        for c in text.chars() {
            if is_inside {
                result.extend(c.to_lowercase());
            } else {
                result.extend(c.to_uppercase());
            }
            is_inside = c.is_alphanumeric();
        }
        Cow::Owned(result)
    })
}

/// Removes characters at the start, the end, or both.
pub(super) fn trim(input: Expr, what: String, at_start: bool, at_end: bool) -> Expr {
    text_to_text(input, move |text| {
        let is_one = |c: char| what.contains(c);
        let text = if at_start { text.trim_start_matches(is_one) } else { text };
        Cow::Borrowed(if at_end { text.trim_end_matches(is_one) } else { text })
    })
}

/// Returns `count` characters from the position `first`, which counts from 1 and may be before the text.
fn part(text: &str, first: i64, count: i64) -> &str {
    let end = first.saturating_add(count.max(0));
    let start = usize::try_from(first.max(1) - 1).unwrap_or(usize::MAX);
    let Ok(n_chars) = usize::try_from(end.saturating_sub(first.max(1))) else { return "" };
    let byte_of = |n: usize, text: &str| text.char_indices().nth(n).map_or(text.len(), |it| it.0);
    let rest = &text[byte_of(start, text)..];
    &rest[..byte_of(n_chars, rest)]
}

/// Returns a part of each text: text, first position, number of characters.
pub(super) fn substring(values: Vec<Expr>) -> Expr {
    call(values, DataType::String, |arguments| {
        let (text, first, count) =
            (texts(&arguments[0])?, ints(&arguments[1])?, ints(&arguments[2])?);
        let rows = text.iter().zip(first.iter()).zip(count.iter());
        let parts: StringChunked =
            rows.map(|((text, first), count)| Some(part(text?, first?, count?))).collect();
        Ok(parts.into_series())
    })
}

/// Returns the first characters; all but the last when `count` is negative.
pub(super) fn left(input: Expr, count: i64) -> Expr {
    text_to_text(input, move |text| {
        let count = if count < 0 { length(text).saturating_add(count) } else { count };
        Cow::Borrowed(part(text, 1, count))
    })
}

/// Returns the last characters; all but the first when `count` is negative.
pub(super) fn right(input: Expr, count: i64) -> Expr {
    text_to_text(input, move |text| {
        let n_left = if count < 0 { count.saturating_neg() } else { (length(text) - count).max(0) };
        Cow::Borrowed(part(text, n_left.saturating_add(1), i64::MAX))
    })
}

fn length(text: &str) -> i64 {
    i64::try_from(text.chars().count()).unwrap_or(i64::MAX)
}

/// Returns the position of the second text in the first.
pub(super) fn position(values: Vec<Expr>) -> Expr {
    call(values, DataType::Int64, |arguments| {
        let (text, wanted) = (texts(&arguments[0])?, texts(&arguments[1])?);
        let find = |text: &str, wanted: &str| match text.find(wanted) {
            Some(at) => length(&text[..at]) + 1,
            None => 0,
        };
        let rows = text.iter().zip(wanted.iter());
        let found: Int64Chunked = rows.map(|(text, wanted)| Some(find(text?, wanted?))).collect();
        Ok(found.into_series())
    })
}

/// Returns the text so many times.
pub(super) fn repeat(input: Expr, count: i64) -> Expr {
    call(vec![input], DataType::String, move |arguments| {
        let count = usize::try_from(count).unwrap_or(0);
        made(arguments, |text| {
            if text.len().saturating_mul(count) <= MADE_BYTES_MAX {
                Some(text.repeat(count))
            } else {
                None
            }
        })
    })
}

/// Fills the text to a length, or cuts it.
pub(super) fn pad(input: Expr, length_wanted: i64, fill: String, at_start: bool) -> Expr {
    call(vec![input], DataType::String, move |arguments| {
        made(arguments, |text| {
            let missing = length_wanted.saturating_sub(length(text));
            if missing <= 0 {
                return Some(part(text, 1, length_wanted).to_owned());
            }
            let n_chars = usize::try_from(missing).ok().filter(|it| *it <= MADE_BYTES_MAX)?;
            let filling: String = fill.chars().cycle().take(n_chars).collect();
            Some(if at_start { filling + text } else { text.to_owned() + &filling })
        })
    })
}

/// Applies a function that returns `None` when a text would be too long.
fn made(arguments: &[Series], function: impl Fn(&str) -> Option<String>) -> PolarsResult<Series> {
    let texts = texts(&arguments[0])?;
    let too_long = || failure(format!("a text would have more than {MADE_BYTES_MAX} bytes"));
    let results: PolarsResult<Vec<Option<String>>> =
        texts.iter().map(|it| it.map(|it| function(it).ok_or_else(too_long)).transpose()).collect();
    let results: StringChunked = results?.into_iter().collect();
    Ok(results.into_series())
}

/// Returns the part with this number, from 1, or backwards from −1.
pub(super) fn split_part(input: Expr, separator: String, number: i64) -> Expr {
    text_to_text(input, move |text| {
        let index = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
        let Some(index) = index.checked_sub(1) else { return Cow::Borrowed("") };
        if separator.is_empty() {
            return Cow::Borrowed(if index == 0 { text } else { "" });
        }
        let found = if 0 < number {
            text.split(&separator).nth(index)
        } else {
            text.rsplit(&separator).nth(index)
        };
        Cow::Borrowed(found.unwrap_or(""))
    })
}

fn compiled(pattern: &str) -> PolarsResult<Regex> {
    let built = regex::RegexBuilder::new(pattern).size_limit(REGEX_BYTES_MAX).build();
    built.map_err(|error| {
        let text = error.to_string();
        let reason =
            text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
        failure(format!("the regular expression `{pattern}` is not valid: {reason}"))
    })
}

/// Returns whether a regular expression matches somewhere. Fails when it is not one, here and below.
pub(super) fn regex_match(input: Expr, pattern: &str) -> PolarsResult<Expr> {
    let regex = compiled(pattern)?;
    Ok(text_to_bool(input, move |it| Ok(Some(regex.is_match(it)))))
}

/// Replaces the first match, or every match. `\1` in the replacement is the first group.
pub(super) fn regex_replace(
    input: Expr,
    pattern: &str,
    with: &str,
    all: bool,
) -> PolarsResult<Expr> {
    let regex = compiled(pattern)?;
    let with = replacement(with);
    Ok(text_to_text(input, move |it| {
        if all { regex.replace_all(it, &with) } else { regex.replace(it, &with) }
    }))
}

/// Translates a replacement of SQL to one of `regex`.
fn replacement(with: &str) -> String {
    let mut result = String::new();
    let mut chars = with.chars();
    while let Some(c) = chars.next() {
        match c {
            '$' => result += "$$",
            '\\' => match chars.next() {
                Some(digit) if digit.is_ascii_digit() => result.extend(['$', '{', digit, '}']),
                Some(other) => result.push(other),
                None => result.push('\\'),
            },
            c => result.push(c),
        }
    }
    result
}

/// Returns the text of a group; empty without a match.
pub(super) fn regex_extract(input: Expr, pattern: &str, group: i64) -> PolarsResult<Expr> {
    let regex = compiled(pattern)?;
    let group = usize::try_from(group).ok().filter(|it| *it < regex.captures_len());
    let group = group
        .ok_or_else(|| failure(format!("the regular expression `{pattern}` has no such group")))?;
    Ok(text_to_text(input, move |it| {
        let found = regex.captures(it).and_then(|it| it.get(group));
        Cow::Borrowed(found.map_or("", |it| it.as_str()))
    }))
}
