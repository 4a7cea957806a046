//! Words: a question or the name of a column, cut into tokens with their stems.

use jiff::civil::{Date, Time};
use rust_stemmers::{Algorithm, Stemmer};

/// A piece of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// As it was written, without quotes.
    pub text: String,
    /// In lower case.
    pub lower: String,
    /// Without its ending.
    pub stem: String,
    /// What it is.
    pub kind: TokenKind,
    /// Where it begins in the question, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whether it stands in parentheses.
    pub is_aside: bool,
    /// Whether a question mark follows.
    pub ends_question: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TokenKind {
    /// A word, or a sign that stands for one.
    Word,
    /// An amount.
    Number(f64),
    /// A place in an order: `2nd`.
    Ordinal(u32),
    /// What stood between quotes.
    Quoted,
    /// A day in ISO form: `2013-01-05`.
    Day(Date),
    /// A month in ISO form: `2013-01`, as its first day.
    Month(Date),
    /// A time of day: `21:30`, `9 pm`.
    Clock(Time),
}

/// Cuts text into tokens.
pub(crate) struct Words {
    stemmer: Stemmer,
}

/// Signs that are words of their own.
const SIGNS: [&str; 15] =
    ["<=", ">=", "!=", "<>", "==", "<", ">", "=", "%", "&", ",", "#", "≥", "≤", "*"];
/// Signs that close what they opened.
const QUOTES: [(char, char); 6] =
    [('"', '"'), ('`', '`'), ('“', '”'), ('‘', '’'), ('«', '»'), ('\'', '\'')];

impl Words {
    /// Prepares to cut text of a language; of one that is not known, words are their own stems.
    pub(crate) fn new(language: &str) -> Option<Words> {
        let algorithm = match language {
            "english" => Algorithm::English,
            _ => return None,
        };
        Some(Words { stemmer: Stemmer::create(algorithm) })
    }

    /// Returns a word without its ending.
    pub(crate) fn stem(&self, lower: &str) -> String {
        self.stemmer.stem(lower).into_owned()
    }

    /// Makes a token of a part of the question.
    fn token(&self, question: &str, text: &str, kind: TokenKind) -> Token {
        let lower = text.to_lowercase();
        let start = text.as_ptr() as usize - question.as_ptr() as usize;
        let end = start + text.len();
        let before = &question[..start];
        let is_aside = before.rfind(')') < before.rfind('(') && question[end..].contains(')');
        let behind = question[end..].trim_start_matches(['"', '\'', '”', '’', ')', ' ']);
        Token {
            text: text.to_owned(),
            stem: self.stem(&lower),
            lower,
            kind,
            start,
            end,
            is_aside,
            ends_question: behind.starts_with('?'),
        }
    }

    /// Cuts a question into tokens.
    pub(crate) fn tokens(&self, text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut rest = text;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            if let Some((quoted, after)) = quoted(rest, before) {
                tokens.push(self.token(text, quoted, TokenKind::Quoted));
                (rest, before) = (after, ' ');
            } else if let Some((shown, kind, after)) = iso_date(rest, before)
                .or_else(|| clock(rest, before))
                .or_else(|| number(rest, before))
            {
                tokens.push(self.token(text, shown, kind));
                (rest, before) = (after, '0');
            // A dash at the end is a value, and a plus alone or behind a number a word: `position -`, `80+`.
            } else if (first == '/' || rest == "-" || rest == "+" || rest.starts_with("+ "))
                && before == ' '
                || first == '+' && before == '0' && !rest[1..].starts_with(char::is_alphanumeric)
            {
                tokens.push(self.token(text, &rest[..1], TokenKind::Word));
                (rest, before) = (&rest[1..], ' ');
            } else if let Some(sign) = SIGNS.iter().find(|it| rest.starts_with(**it)) {
                tokens.push(self.token(text, &rest[..sign.len()], TokenKind::Word));
                (rest, before) = (&rest[sign.len()..], ' ');
            } else if first.is_alphanumeric() {
                let (word, after) = word(rest);
                for part in split_name(word) {
                    tokens.push(self.token(text, part, TokenKind::Word));
                }
                (rest, before) = (without_possessive(after), 'a');
            } else {
                rest = &rest[first.len_utf8()..];
                before = first;
            }
        }
        tokens
    }

    pub(crate) fn stems(&self, name: &str) -> Vec<String> {
        let pieces = name.split(|it: char| !it.is_alphanumeric() && it != '%');
        let words = pieces.flat_map(split_name).filter(|it| !it.is_empty());
        words.map(|it| self.stem(&it.to_lowercase())).collect()
    }
}

/// Takes what stands between quotes at the beginning of the text. An apostrophe within a word opens none.
fn quoted(text: &str, before: char) -> Option<(&str, &str)> {
    let first = text.chars().next()?;
    let (open, close) = QUOTES.iter().find(|(open, _)| *open == first)?;
    if before.is_alphanumeric() {
        return None;
    }
    let inner = &text[open.len_utf8()..];
    let end = inner.find(*close)?;
    let (quoted, after) = (inner[..end].trim(), &inner[end + close.len_utf8()..]);
    let is_closed = !after.chars().next().is_some_and(char::is_alphanumeric);
    (!quoted.is_empty() && is_closed).then_some((quoted, after))
}

/// Takes a day or a month in ISO form at the beginning of the text.
fn iso_date(text: &str, before: char) -> Option<(&str, TokenKind, &str)> {
    if before.is_alphanumeric() {
        return None;
    }
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '-').unwrap_or(text.len());
    let (shown, after) = text.split_at(end);
    if shown.len() == 10 {
        return Some((shown, TokenKind::Day(shown.parse().ok()?), after));
    }
    let is_month = shown.len() == 7 && shown.as_bytes()[4] == b'-';
    let day = is_month.then(|| format!("{shown}-01").parse().ok())??;
    Some((shown, TokenKind::Month(day), after))
}

/// Takes a time of day at the beginning of the text: `21:30`, `9 pm`, `9:30:15am`.
fn clock(text: &str, before: char) -> Option<(&str, TokenKind, &str)> {
    if before.is_alphanumeric() {
        return None;
    }
    let end = text.find(|it: char| !it.is_ascii_digit() && it != ':').unwrap_or(text.len());
    let (digits, after) = text.split_at(end);
    let behind = after.trim_start();
    let half = behind.get(..2).map(str::to_lowercase);
    let is_word = behind.get(2..).is_some_and(|it| !it.starts_with(char::is_alphanumeric));
    let half = half.filter(|it| is_word && matches!(it.as_str(), "am" | "pm"));
    let parts: Vec<i8> = digits.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let (hour, minute, second) = match (parts[..].as_ref(), &half) {
        ([hour], Some(_)) => (*hour, 0, 0),
        ([hour, minute], _) if digits.len() <= 5 => (*hour, *minute, 0),
        ([hour, minute, second], _) => (*hour, *minute, *second),
        _ => return None,
    };
    let hour = match half.as_deref() {
        Some("am") if hour == 12 => 0,
        Some("pm") if hour < 12 => hour + 12,
        _ => hour,
    };
    let time = Time::new(hour, minute, second, 0).ok()?;
    let after = if half.is_some() { &behind[2..] } else { after };
    let shown = text[..text.len() - after.len()].trim_end();
    Some((shown, TokenKind::Clock(time), after))
}

/// Whole numbers up to here are exact.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Takes a number at the beginning of the text: `1,000`, `-3.5`, `$20`, `5k`, `10%`, `2nd`.
fn number(text: &str, before: char) -> Option<(&str, TokenKind, &str)> {
    if before.is_alphanumeric() || before == '_' {
        return None;
    }
    let start = text.strip_prefix(['$', '€', '£']).unwrap_or(text);
    let digits = start.strip_prefix('-').unwrap_or(start);
    let is_part = |it: char| it.is_ascii_digit() || it == '.' || it == ',';
    let mut end = digits.find(|it| !is_part(it)).unwrap_or(digits.len());
    while digits[..end].ends_with(['.', ',']) {
        end -= 1;
    }
    let literal = &digits[..end];
    if !literal.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let grouped =
        literal.split(',').skip(1).all(|it| it.split('.').next().unwrap_or(it).len() == 3);
    let plain = if grouped { literal.replace(',', "") } else { return None };
    let mut value: f64 = plain.parse().ok()?;
    // Of longer ones, the last digits would be lost.
    if EXACT_MAX < value {
        return None;
    }
    if start.starts_with('-') {
        value = -value;
    }
    let after = &digits[end..];
    let letters_end = after.find(|it: char| !it.is_alphanumeric()).unwrap_or(after.len());
    let (suffix, behind) = after.split_at(letters_end);
    let shown = &text[..text.len() - after.len()];
    match suffix.to_lowercase().as_str() {
        "" => Some((shown, TokenKind::Number(value), after)),
        "st" | "nd" | "rd" | "th" if value.fract() == 0.0 && (1.0..1e6).contains(&value) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
            let place = value as u32;
            Some((&text[..text.len() - behind.len()], TokenKind::Ordinal(place), behind))
        }
        "k" => Some((shown, TokenKind::Number(value * 1e3), behind)),
        "m" if 0.0 < value => Some((shown, TokenKind::Number(value * 1e6), behind)),
        "bn" => Some((shown, TokenKind::Number(value * 1e9), behind)),
        // A unit without a blank: `20kg`.
        _ if suffix.chars().all(char::is_alphabetic) && suffix.len() <= 3 && 1 < suffix.len() => {
            Some((shown, TokenKind::Number(value), after))
        }
        _ => None,
    }
}

/// Takes a word at the beginning of the text. Apostrophes, hyphens and points within it end it unless
/// letters follow an apostrophe: `don't`.
fn word(text: &str) -> (&str, &str) {
    let mut end = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|it| it.1);
        let is_inside = match letter {
            '\'' | '’' => {
                next.is_some_and(char::is_alphabetic)
                    && !text[at..].starts_with("'s ")
                    && !text[at..].ends_with("'s")
            }
            '_' => true,
            _ => letter.is_alphanumeric(),
        };
        if !is_inside {
            break;
        }
        end = at + letter.len_utf8();
    }
    // A grade has its sign: `A+`.
    let (graded, rest) = (&text[..end], &text[end..]);
    let is_grade = graded.len() == 1 && graded.starts_with(|it: char| it.is_ascii_uppercase());
    let is_signed =
        rest.starts_with(['+', '-']) && !rest[1..].starts_with(|it: char| it.is_alphanumeric());
    text.split_at(if is_grade && is_signed { end + 1 } else { end })
}

fn without_possessive(text: &str) -> &str {
    let stripped = ["'s", "’s"].iter().find_map(|it| text.strip_prefix(it));
    match stripped {
        Some(after) if !after.starts_with(char::is_alphanumeric) => after,
        _ => text,
    }
}

/// Splits a name at separators and where the case turns: `GrossUSD2020` is `Gross USD 2020`.
pub(crate) fn split_name(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let letters: Vec<(usize, char)> = name.char_indices().collect();
    for (n, (at, letter)) in letters.iter().enumerate() {
        if *letter == '_' {
            parts.push(&name[start..*at]);
            start = at + 1;
            continue;
        }
        let Some((_, before)) = n.checked_sub(1).map(|it| letters[it]) else { continue };
        let next = letters.get(n + 1).map(|it| it.1);
        // The plural of an abbreviation is one word: `IDs`.
        let is_plural = n + 2 == letters.len() && next == Some('s');
        let turns = letter.is_uppercase()
            && (before.is_lowercase()
                || before.is_uppercase() && next.is_some_and(char::is_lowercase) && !is_plural);
        if turns && start < *at {
            parts.push(&name[start..*at]);
            start = *at;
        }
    }
    parts.push(&name[start..]);
    parts.retain(|it| !it.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, Words, split_name};

    #[track_caller]
    fn check(text: &str, tokens: &[&str]) {
        let words = Words::new("english").unwrap();
        let found: Vec<String> = words
            .tokens(text)
            .into_iter()
            .map(|it| match it.kind {
                TokenKind::Word => it.lower,
                TokenKind::Number(value) => format!("{value}"),
                TokenKind::Ordinal(place) => format!("#{place}"),
                TokenKind::Quoted => format!("'{}'", it.text),
                TokenKind::Day(day) | TokenKind::Month(day) => format!("@{day}"),
                TokenKind::Clock(time) => format!("{time}"),
            })
            .collect();
        assert_eq!(found, tokens, "{text}");
    }

    #[test]
    fn a_question_is_cut_into_words_numbers_and_quotes() {
        check("How many penguins?", &["how", "many", "penguins"]);
        check("price>=1,000 and <$20.50", &["price", ">=", "1000", "and", "<", "20.5"]);
        check("the 2nd largest body_mass_g", &["the", "#2", "largest", "body", "mass", "g"]);
        check("title contains \"Star Wars\"", &["title", "contains", "'Star Wars'"]);
        check("it's the customer's 5k", &["it", "the", "customer", "5000"]);
        check("don't 10% 9E", &["don't", "10", "%", "9e"]);
        check("2013-01-05 to 2014-02", &["@2013-01-05", "to", "@2014-02-01"]);
        check("grade A+, B- or A", &["grade", "a+", ",", "b-", "or", "a"]);
        check("9 pm or 12:05am, 21:30", &["21:00:00", "or", "00:05:00", ",", "21:30:00"]);
    }

    #[test]
    fn a_name_is_split_where_it_has_parts() {
        assert_eq!(split_name("Miles_per_Gallon"), ["Miles", "per", "Gallon"]);
        assert_eq!(split_name("GrossUSDTotal"), ["Gross", "USD", "Total"]);
        assert_eq!(split_name("sepalLength"), ["sepal", "Length"]);
        assert_eq!(split_name("x1"), ["x1"]);
    }
}
