//! Values from parts of paths: `{state}.csv` in a pattern, and directories such as `year=2024`.

use std::path::Path;

use percent_encoding::percent_decode_str;

/// Hive's directory name for rows without a value.
const HIVE_NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns whether a pattern has named parts: `{state}`.
pub(super) fn has_parts(pattern: &str) -> bool {
    tokens(pattern).iter().any(|it| matches!(it, PatternToken::Part(_)))
}

/// Returns the pattern with its named parts replaced by `*`. Adjacent `*` are merged, because two would
/// match directories.
pub(super) fn glob_of(pattern: &str) -> String {
    let mut text = String::new();
    let mut before = None;
    for token in tokens(pattern) {
        match token {
            PatternToken::Text(it) => text.push_str(it),
            PatternToken::Part(_) if text.ends_with('*') => {}
            PatternToken::Any if matches!(before, Some(PatternToken::Part(_))) => {}
            PatternToken::Part(_) | PatternToken::Any => text.push('*'),
        }
        before = Some(token);
    }
    text
}

/// Returns the name and the value of a directory such as `year=2024`.
pub(super) fn partition(directory: &str) -> Option<(&str, &str)> {
    directory.split_once('=').filter(|it| is_word(it.0))
}

/// Returns the named values in a file's path: those of directories, then those of the pattern that found
/// it.
pub(super) fn values(path: &Path, pattern: Option<&str>) -> Vec<(String, Option<String>)> {
    let text = path.to_string_lossy();
    let parts: Vec<&str> = text.split('/').collect();
    let mut found = Vec::new();
    for part in &parts[..parts.len().saturating_sub(1)] {
        if let Some((key, value)) = partition(part) {
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            found.push((key.to_owned(), Some(value).filter(|it| it != HIVE_NULL)));
        }
    }
    let templates: Vec<&str> = pattern.map(|it| it.split('/').collect()).unwrap_or_default();
    let deep = templates.iter().position(|it| *it == "**");
    for (at, template) in templates.iter().enumerate().filter(|it| has_parts(it.1)) {
        // After `**`, which matches any number of directories, positions are counted from the end.
        let place = match deep {
            Some(deep) if deep < at => parts.len().checked_sub(templates.len() - at),
            _ => Some(at),
        };
        let Some(part) = place.and_then(|it| parts.get(it)) else { continue };
        let mut matched = Vec::new();
        if matches(&tokens(template), part, &mut matched) {
            found.extend(matched.into_iter().map(|(name, value)| (name, Some(value))));
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternToken<'a> {
    Text(&'a str),
    /// `*`.
    Any,
    /// `{state}`.
    Part(&'a str),
}

fn tokens(pattern: &str) -> Vec<PatternToken<'_>> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('*') {
            tokens.push(PatternToken::Any);
            rest = behind;
        } else if let Some((name, behind)) =
            rest.strip_prefix('{').and_then(|it| it.split_once('}')).filter(|it| is_word(it.0))
        {
            tokens.push(PatternToken::Part(name));
            rest = behind;
        } else {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            let end = rest[first..].find(['*', '{']).map_or(rest.len(), |it| first + it);
            tokens.push(PatternToken::Text(&rest[..end]));
            rest = &rest[end..];
        }
    }
    tokens
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || it == '_')
}

/// Returns whether a path component matches; each token matches as little as possible.
fn matches(tokens: &[PatternToken<'_>], text: &str, found: &mut Vec<(String, String)>) -> bool {
    let Some((token, rest)) = tokens.split_first() else { return text.is_empty() };
    match token {
        PatternToken::Text(wanted) => {
            match_text(wanted, text).is_some_and(|it| matches(rest, it, found))
        }
        PatternToken::Any | PatternToken::Part(_) => {
            let ends = text.char_indices().map(|it| it.0).chain([text.len()]);
            for end in ends.skip(usize::from(matches!(token, PatternToken::Part(_)))) {
                let n_found = found.len();
                if let PatternToken::Part(name) = token {
                    found.push(((*name).to_owned(), text[..end].to_owned()));
                }
                if matches(rest, &text[end..], found) {
                    return true;
                }
                found.truncate(n_found);
            }
            false
        }
    }
}

/// Returns the rest after a text without `*`, in which `?` matches any letter; `[ab]` is not interpreted.
fn match_text<'a>(wanted: &str, text: &'a str) -> Option<&'a str> {
    let mut text = text.chars();
    let mut wanted = wanted.chars();
    while let Some(char) = wanted.next() {
        let found = text.next()?;
        if char == '[' {
            wanted.by_ref().find(|it| *it == ']');
        } else if char != '?' && char != found {
            return None;
        }
    }
    Some(text.as_str())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{glob_of, has_parts, values};

    #[track_caller]
    fn check(path: &str, pattern: Option<&str>, expected: &[(&str, Option<&str>)]) {
        let found = values(Path::new(path), pattern);
        let found: Vec<_> = found.iter().map(|it| (it.0.as_str(), it.1.as_deref())).collect();
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn parts_of_a_pattern_are_values() {
        check("d/Kansas.csv", Some("d/{state}.csv"), &[("state", Some("Kansas"))]);
        let pattern = Some("d/{kind}/**/s-{year}-*.csv");
        let expected = [("kind", Some("fraud")), ("year", Some("2024"))];
        check("d/fraud/a/b/s-2024-x-y.csv", pattern, &expected);
        check("d/fraud/s-2024-x.csv", pattern, &expected);
        check("d/x.csv", Some("d/*.csv"), &[]);
        assert_eq!(glob_of("d/{kind}/**/s-{year}*.csv"), "d/*/**/s-*.csv");
        assert_eq!(glob_of("*{year}.csv"), "*.csv");
        assert!(has_parts("{a}.csv") && !has_parts("{a,b}.csv") && !has_parts("{}.csv"));
    }

    #[test]
    fn directories_with_a_name_and_a_value_are_values() {
        let expected = [("year", Some("2024")), ("city", Some("S\u{e3}o Paulo")), ("day", None)];
        let path = "d/year=2024/city=S%C3%A3o%20Paulo/day=__HIVE_DEFAULT_PARTITION__/x=1.csv";
        check(path, None, &expected);
        check("d/a b=2024/x.csv", None, &[]);
    }
}
