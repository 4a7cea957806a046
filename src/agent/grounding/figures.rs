//! Figures in a text: dates, times of day, and numbers as people and programs write them.
//!
//! Pure and lazy: reads a text of any length only as its figures are requested.

use std::ops::Range;

use super::number::{
    Number, NumberReading, ORDINALS, Run, Suffix, digits, ends_word, exponent, is_of_word,
};
use super::quotable::Quotable;

/// Bytes of a name or quoted text that is skipped as one unit.
const QUOTED_BYTES_MAX: usize = 80;
/// Signs that stand for a currency.
const CURRENCIES: [char; 5] = ['$', '€', '£', '¥', '₹'];
/// Currencies that are written as letters right before the number.
const CURRENCY_CODES: [&str; 8] = ["USD", "EUR", "GBP", "CHF", "JPY", "INR", "CNY", "US"];
/// Words that mark the following number as approximate.
const ABOUT: [&str; 14] = [
    "about", "around", "roughly", "approximately", "approx", "nearly", "almost", "circa", "ca",
    "some", "etwa", "rund", "environ", "unos",
];
/// Months by the start of their names in English, German, French and Spanish.
const MONTHS: [&[&str]; 12] = [
    &["jan", "january", "januar", "janvier", "enero"],
    &["feb", "february", "februar", "février", "febrero"],
    &["mar", "march", "märz", "mars", "marzo"],
    &["apr", "april", "avril", "abril"],
    &["may", "mai", "mayo"],
    &["jun", "june", "juni", "juin", "junio"],
    &["jul", "july", "juli", "juillet", "julio"],
    &["aug", "august", "août", "agosto"],
    &["sep", "sept", "september", "septembre", "septiembre"],
    &["oct", "okt", "october", "oktober", "octobre", "octubre"],
    &["nov", "november", "novembre", "noviembre"],
    &["dec", "dez", "december", "dezember", "décembre", "diciembre"],
];

/// A day of a month, with or without a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Date {
    /// Of the common era, if given.
    pub year: Option<u16>,
    /// From 1.
    pub month: u8,
    /// From 1, if given.
    pub day: Option<u8>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Figure {
    Number(Number),
    /// A day or a month; two when the order of day and month is ambiguous. Never empty.
    Dates(Vec<Date>),
    /// A number next to the name of a month.
    DayOfMonth(Date, Number),
    /// Hour and minute.
    Time(u8, u8),
}

/// Why a text is read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// For its claims. Code, names, quotations of these texts, addresses and list numbers claim nothing.
    Claims(&'a Quotable),
    /// For every figure in it.
    Everything,
}

/// Reads a text from its start.
pub(super) struct Figures<'a> {
    text: &'a str,
    at: usize,
    purpose: Purpose<'a>,
    /// The closing mark of the current fence.
    fence: Option<&'static str>,
}

/// Finds the figures of a text, each with its byte range.
pub(super) fn figures<'a>(text: &'a str, purpose: Purpose<'a>) -> Figures<'a> {
    Figures { text, at: 0, purpose, fence: None }
}

impl Iterator for Figures<'_> {
    type Item = (Range<usize>, Figure);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(letter) = self.rest().chars().next() {
            let claims = self.claims();
            if claims && self.pass_markup(letter) {
                continue;
            }
            let starts = letter.is_ascii_digit()
                || letter == '.' && digits(&self.rest()[1..]) > 0 && !self.is_after_word();
            if starts {
                if let Some(found) = self.figure() {
                    return Some(found);
                }
                continue;
            }
            if claims && is_of_word(letter) {
                self.pass_word();
                continue;
            }
            self.at += letter.len_utf8();
        }
        None
    }
}

impl<'a> Figures<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn before(&self) -> &'a str {
        &self.text[..self.at]
    }

    fn claims(&self) -> bool {
        matches!(self.purpose, Purpose::Claims(_))
    }

    fn is_after_word(&self) -> bool {
        self.before().chars().next_back().is_some_and(char::is_alphanumeric)
    }

    /// Skips markup and text that the author does not assert. Returns whether it skipped any.
    fn pass_markup(&mut self, letter: char) -> bool {
        let start = self.at;
        let rest = self.rest();
        if self.at == 0 || self.before().ends_with('\n') {
            let line = rest.split('\n').next().unwrap_or_default();
            let fence = ["```", "~~~"].into_iter().find(|it| line.trim_start().starts_with(it));
            if let Some(fence) = fence.filter(|it| self.fence.is_none_or(|open| open == *it)) {
                self.pass_fence(line, fence);
                return true;
            }
            let n_bytes = marker(line);
            if 0 < n_bytes {
                self.at += n_bytes;
                return true;
            }
        }
        match letter {
            '`' => self.pass_quoted(&['`']),
            '"' => self.pass_quoted(&['"']),
            '“' => self.pass_quoted(&['”']),
            '„' => self.pass_quoted(&['“', '”']),
            '«' => self.pass_quoted(&['»']),
            // A position in a list.
            '#' => self.at += 1 + digits(&rest[1..]),
            _ => {}
        }
        start < self.at
    }

    /// Skips a line that opens or closes a fence, and the whole fence when it holds code.
    fn pass_fence(&mut self, line: &str, fence: &'static str) {
        let inside = &self.rest()[line.len()..];
        self.at += line.len();
        if self.fence.take().is_some() {
            return;
        }
        let end = inside.find(&format!("\n{fence}"));
        let code = &inside[..end.unwrap_or(inside.len())];
        if matches!(self.purpose, Purpose::Claims(it) if it.is_code(line, code)) {
            self.at += end.map_or(inside.len(), |it| it + 1 + fence.len());
        } else {
            self.fence = Some(fence);
        }
    }

    /// Skips inline code that is not itself a figure, or a quotation of a shown text.
    fn pass_quoted(&mut self, closing: &[char]) {
        let rest = self.rest();
        let open = rest.chars().next().map_or(0, char::len_utf8);
        let near = &rest[open..rest.floor_char_boundary(open + QUOTED_BYTES_MAX)];
        let inside = near.find(closing).map(|it| &near[..it]);
        let inside = inside.filter(|it| !it.contains('\n') && it.chars().any(char::is_alphabetic));
        let inside = inside.filter(|it| match self.purpose {
            Purpose::Claims(told) => rest.starts_with('`') || told.has(it),
            Purpose::Everything => false,
        });
        let close = |it: &str| near[it.len()..].chars().next().map_or(0, char::len_utf8);
        self.at += open + inside.map_or(0, |it| it.len() + close(it));
    }

    /// Skips a word with its digits: `Q3`, `model_2`, `sales.csv:12`.
    fn pass_word(&mut self) {
        let start = self.at;
        while let Some(letter) = self.rest().chars().next() {
            let word = &self.text[start..self.at];
            let next = self.rest()[letter.len_utf8()..].chars().next();
            let goes_on = next.is_some_and(|it| is_of_word(it) || it.is_ascii_digit());
            if self.rest().starts_with("://") {
                let end = self.rest().find(|it: char| it.is_whitespace() || ")>]\"".contains(it));
                self.at += end.unwrap_or(self.rest().len());
                return;
            }
            let belongs = match letter {
                '0'..='9' => !CURRENCY_CODES.contains(&word),
                '-' | '/' | '.' | '\'' | '’' => goes_on,
                // A line of a file.
                ':' => goes_on && word.contains('.'),
                letter => is_of_word(letter),
            };
            if !belongs {
                return;
            }
            self.at += letter.len_utf8();
        }
    }

    fn figure(&mut self) -> Option<(Range<usize>, Figure)> {
        let start = self.at;
        let found = self.date().map(Figure::Dates);
        let found = found.or_else(|| self.time().map(|(hour, minute)| Figure::Time(hour, minute)));
        let found = match found {
            Some(found) => found,
            None => self.number()?,
        };
        Some((start..self.end(start), found))
    }

    /// Returns where the figure just read ends, without white space.
    fn end(&self, start: usize) -> usize {
        start + self.text[start..self.at].trim_end().len()
    }

    /// Reads `2013-01-31`, `31.1.2013`, `1/31/2013` or `2013-01`.
    fn date(&mut self) -> Option<Vec<Date>> {
        let rest = self.rest();
        let number = |from: usize| {
            let n = digits(&rest[from..]);
            rest[from..from + n].parse::<u16>().ok().map(|it| (it, n))
        };
        let (first, n_first) = number(0)?;
        let sign = rest[n_first..].chars().next().filter(|it| "-/.".contains(*it))?;
        let (second, n_second) = number(n_first + 1)?;
        let after = n_first + 1 + n_second;
        let third = rest[after..].strip_prefix(sign).and_then(|_| number(after + 1));
        let (days, end) = match (n_first, n_second, third) {
            (4, 1..=2, Some((day, n @ 1..=2))) => (vec![day_of(first, second, day)], after + 1 + n),
            (1..=2, 1..=2, Some((year, 4))) => {
                (vec![day_of(year, second, first), day_of(year, first, second)], after + 5)
            }
            (4, 2, None) if sign == '-' && (1000..3000).contains(&first) => {
                let month = u8::try_from(second).ok().filter(|it| (1..=12).contains(it));
                (vec![month.map(|month| Date { year: Some(first), month, day: None })], after)
            }
            _ => return None,
        };
        let days: Vec<Date> = days.into_iter().flatten().collect();
        if days.is_empty() || rest[end..].starts_with(|it: char| it.is_ascii_digit()) {
            return None;
        }
        self.at += end;
        if self.rest().starts_with('T') && 0 < digits(&self.rest()[1..]) {
            self.at += 1;
        }
        Some(days)
    }

    /// Reads `9:30` or `09:30:00Z`.
    fn time(&mut self) -> Option<(u8, u8)> {
        let rest = self.rest();
        let hours = digits(rest);
        let minutes = rest[hours..].strip_prefix(':')?;
        if 2 < hours || digits(minutes) != 2 {
            return None;
        }
        let (hour, minute) = (rest[..hours].parse().ok()?, minutes[..2].parse().ok()?);
        if 24 < hour || 59 < minute {
            return None;
        }
        self.at += hours + 3;
        if let Some(seconds) = self.rest().strip_prefix(':').filter(|it| digits(it) == 2) {
            let fraction = seconds[2..].strip_prefix('.').map_or(0, digits);
            self.at += 3 + if 0 < fraction { 1 + fraction } else { 0 };
        }
        if self.rest().starts_with('Z') {
            self.at += 1;
        } else if let Some(offset) = self.rest().strip_prefix(['+', '-'])
            && digits(offset) == 2
            && offset[2..].strip_prefix(':').is_some_and(|it| digits(it) == 2)
        {
            self.at += 6;
        }
        Some((hour, minute))
    }

    /// Reads a number with its sign, currency and suffix. None for a version, an identifier or an ordinal.
    fn number(&mut self) -> Option<Figure> {
        let start = self.at;
        let before = self.before();
        let run = Run::of(self.rest());
        self.at += run.n_bytes;
        let mut number = Number {
            is_negative: is_after_minus(before),
            is_about: is_after_about(before),
            ..Number::default()
        };
        let (exponent, n_bytes) = exponent(self.rest());
        self.at += n_bytes;
        let month = month_before(before).or_else(|| month_after(self.rest()));
        let suffix = Suffix::of(self.rest());
        let claims = self.claims();
        if claims && (run.is_version || suffix.is_identifier) {
            self.at += suffix.n_bytes;
            return None;
        }
        for (whole, fraction) in &run.readings {
            // `3 million` is not three; `3m` may be.
            if suffix.scale.is_none() || suffix.is_open {
                number.readings.extend(NumberReading::new(whole, fraction, exponent));
            }
            if let Some(scale) = suffix.scale {
                number.readings.extend(NumberReading::new(whole, fraction, exponent + scale));
            }
        }
        number.parts = run.parts.iter().filter_map(|it| NumberReading::new(it, "", 0)).collect();
        number.is_percent = suffix.is_percent || is_percent_range(&self.rest()[suffix.n_bytes..]);
        number.is_times = suffix.is_times;
        self.at = (self.at + suffix.n_bytes).max(start + 1);
        let day = number.readings.first().and_then(|it| u8::try_from(it.whole?).ok());
        let day = day.filter(|it| (1..=31).contains(it) && run.parts.len() == 1);
        if let Some((month, day)) = month.zip(day) {
            return Some(Figure::DayOfMonth(Date { year: None, month, day: Some(day) }, number));
        }
        if claims && suffix.is_ordinal || number.readings.is_empty() {
            return None;
        }
        Some(Figure::Number(number))
    }
}

fn day_of(year: u16, month: u16, day: u16) -> Option<Date> {
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    let is_day = (1..=12).contains(&month) && (1..=31).contains(&day);
    is_day.then_some(Date { year: Some(year), month, day: Some(day) })
}

/// Returns the bytes of a list entry's number, with the text before it.
fn marker(line: &str) -> usize {
    let mut rest = line;
    loop {
        let shorter = rest.trim_start_matches([' ', '\t', '>', '#', '*']);
        let shorter = shorter.strip_prefix("- ").or(shorter.strip_prefix("+ ")).unwrap_or(shorter);
        if shorter.len() == rest.len() {
            break;
        }
        rest = shorter;
    }
    let n = digits(rest);
    let after = rest[n..].strip_prefix(['.', ')']);
    let is_marker =
        (1..=2).contains(&n) && after.is_some_and(|it| it.starts_with([' ', '\t', '*']));
    if is_marker { line.len() - rest.len() + n + 1 } else { 0 }
}

fn is_after_minus(before: &str) -> bool {
    let before = before.trim_end_matches(CURRENCIES);
    let Some(before) = before.strip_suffix(['-', '−']) else { return false };
    // Otherwise it is a joiner: `2010-2013`, `5 %-10 %`, `A-1`.
    !before.ends_with(|it: char| it.is_alphanumeric() || ")%]".contains(it))
}

fn word_before(before: &str) -> &str {
    let before =
        before.trim_end_matches(|it: char| " *_.,(".contains(it) || CURRENCIES.contains(&it));
    let letters = before.chars().rev().take_while(|it| it.is_alphabetic());
    &before[before.len() - letters.map(char::len_utf8).sum::<usize>()..]
}

fn is_after_about(before: &str) -> bool {
    let marks = |it: char| " *_".contains(it) || CURRENCIES.contains(&it);
    let is_marked = before.trim_end_matches(marks).ends_with(['~', '≈']);
    is_marked || ABOUT.contains(&word_before(before).to_lowercase().as_str())
}

fn month(word: &str) -> Option<u8> {
    let word = word.to_lowercase();
    let at = MONTHS.iter().position(|it| it.contains(&word.as_str()))?;
    u8::try_from(at + 1).ok()
}

fn month_before(before: &str) -> Option<u8> {
    let last = before.chars().next_back()?;
    if " .".contains(last) { month(word_before(before)) } else { None }
}

fn month_after(rest: &str) -> Option<u8> {
    let ordinal =
        ORDINALS.into_iter().find_map(|it| rest.strip_prefix(it).filter(|it| ends_word(it)));
    let rest = ordinal.or(rest.strip_prefix('.')).unwrap_or(rest).strip_prefix(' ')?;
    let rest = rest.strip_prefix("of ").or(rest.strip_prefix("de ")).unwrap_or(rest);
    let end = rest.find(|it: char| !it.is_alphabetic()).unwrap_or(rest.len());
    month(&rest[..end])
}

/// Returns whether a range ends in a percentage: `10` of `10–20 %`.
fn is_percent_range(rest: &str) -> bool {
    let joined = ["–", "—", "-", " – ", " - ", " to ", " and ", " bis ", " und ", " à "];
    let other = joined.into_iter().find_map(|it| rest.strip_prefix(it));
    let end = other.and_then(|it| it.find(|it: char| !it.is_ascii_digit() && !".,".contains(it)));
    other.zip(end).is_some_and(|(it, end)| 0 < end && it[end..].trim_start().starts_with('%'))
}
