//! Reads conditions of rows: columns, what is said of them, and how they are joined.

use csv_agent_text::sql::{identifier, literal};
use csv_agent_types::catalog::DType;
use csv_agent_types::dataset_names::words;

use super::condition::RowCondition;
use super::tokens::{ClaimToken, TokenKind};
use super::{ClaimColumn, ClaimTable, ROWS};

/// Words for numbers.
pub(in crate::check) const NUMBERS: [&str; 11] =
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
/// Words between a column and what is said of it. Those with `not` turn it into the opposite.
pub(super) const AUXILIARIES: [(&str, bool); 51] = [
    ("are all", false),
    ("are both", false),
    ("are each", false),
    ("must all be", false),
    ("must both be", false),
    ("should all be", false),
    ("should both be", false),
    ("is always", false),
    ("are always", false),
    ("must always be", false),
    ("should always be", false),
    ("must never be", true),
    ("should never be", true),
    ("must not be", true),
    ("should not be", true),
    ("has to be", false),
    ("have to be", false),
    ("needs to be", false),
    ("need to be", false),
    ("must be", false),
    ("should be", false),
    ("shall be", false),
    ("cannot be", true),
    ("can not be", true),
    ("can never be", true),
    ("can never", true),
    ("can not", true),
    ("cannot", true),
    ("may never be", true),
    ("may not be", true),
    ("may never", true),
    ("may not", true),
    ("is never", true),
    ("are never", true),
    ("is not", true),
    ("are not", true),
    ("was not", true),
    ("is either", false),
    ("are either", false),
    ("is", false),
    ("are", false),
    ("was", false),
    ("were", false),
    ("must not", true),
    ("should not", true),
    ("does not", true),
    ("do not", true),
    ("never", true),
    ("always", false),
    ("must", false),
    ("should", false),
];
/// Comparisons, the longer ones first.
const COMPARISONS: [(&str, &str); 39] = [
    ("greater than or equal to", ">="),
    ("more than or equal to", ">="),
    ("less than or equal to", "<="),
    ("not less than", ">="),
    ("no less than", ">="),
    ("no fewer than", ">="),
    ("not lower than", ">="),
    ("not below", ">="),
    ("not under", ">="),
    ("not before", ">="),
    ("no earlier than", ">="),
    ("not earlier than", ">="),
    ("not more than", "<="),
    ("no more than", "<="),
    ("not greater than", "<="),
    ("not above", "<="),
    ("not over", "<="),
    ("not after", "<="),
    ("no later than", "<="),
    ("not later than", "<="),
    ("on or after", ">="),
    ("on or before", "<="),
    ("at least", ">="),
    ("at most", "<="),
    ("up to", "<="),
    ("greater than", ">"),
    ("higher than", ">"),
    ("larger than", ">"),
    ("more than", ">"),
    ("later than", ">"),
    ("less than", "<"),
    ("lower than", "<"),
    ("smaller than", "<"),
    ("fewer than", "<"),
    ("earlier than", "<"),
    ("above", ">"),
    ("over", ">"),
    ("below", "<"),
    ("under", "<"),
];
const MORE_COMPARISONS: [(&str, &str); 9] = [
    ("exceed", ">"),
    ("exceeds", ">"),
    ("after", ">"),
    ("before", "<"),
    ("equal to", "="),
    ("the same as", "="),
    ("differs from", "<>"),
    ("differ from", "<>"),
    ("different from", "<>"),
];
/// What follows a number that is a bound: `0 or more`.
pub(super) const OR_MORE: [(&str, &str); 11] = [
    ("or more", ">="),
    ("or greater", ">="),
    ("or higher", ">="),
    ("or above", ">="),
    ("or later", ">="),
    ("or less", "<="),
    ("or lower", "<="),
    ("or below", "<="),
    ("or fewer", "<="),
    ("or earlier", "<="),
    ("or over", ">="),
];
/// How far apart computed numbers may be that are equal: as far as rounding takes them.
pub(super) const TOLERANCE: &str = "0.000001";
const MISSING: [&str; 8] =
    ["null", "missing", "empty", "blank", "absent", "unset", "left empty", "left blank"];
const PRESENT: [&str; 10] = [
    "present", "given", "set", "filled in", "filled", "populated", "non null", "available",
    "complete", "there",
];

/// Where the reading of a claim is.
pub(super) struct ClaimReader<'a> {
    pub claim: &'a str,
    pub tokens: &'a [ClaimToken],
    pub at: usize,
    pub table: &'a ClaimTable,
    /// Whether the claim names the table.
    pub names_table: bool,
}

impl<'a> ClaimReader<'a> {
    /// Tries to read something. Where it is not there, nothing is read.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (at, names_table) = (self.at, self.names_table);
        let found = read(self);
        if found.is_none() {
            (self.at, self.names_table) = (at, names_table);
        }
        found
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.tokens.len()
    }

    pub(super) fn words(&mut self, phrase: &str) -> bool {
        let mut at = self.at;
        for word in phrase.split(' ') {
            match self.tokens.get(at).map(|it| &it.kind) {
                Some(TokenKind::Word(found)) if found == word => at += 1,
                _ => return false,
            }
        }
        self.at = at;
        true
    }

    /// Reads one of these phrases, of which the longer ones come first.
    pub(super) fn any(&mut self, phrases: &[&str]) -> bool {
        phrases.iter().any(|it| self.words(it))
    }

    pub(super) fn one_of<T: Copy>(&mut self, phrases: &[(&str, T)]) -> Option<T> {
        phrases.iter().find(|it| self.words(it.0)).map(|it| it.1)
    }

    pub(super) fn sign(&mut self, sign: &str) -> bool {
        let is_there = matches!(self.tokens.get(self.at).map(|it| &it.kind), Some(TokenKind::Sign(it)) if *it == sign);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads a number, as digits.
    pub(super) fn number(&mut self) -> Option<String> {
        let found = match &self.tokens.get(self.at)?.kind {
            TokenKind::Number(text) => text.clone(),
            TokenKind::Word(word) => NUMBERS.iter().position(|it| it == word)?.to_string(),
            _ => return None,
        };
        self.at += 1;
        Some(found)
    }

    pub(super) fn whole_number(&mut self) -> Option<u64> {
        self.attempt(|it| it.number()?.parse().ok())
    }

    /// Reads a name, in words. The last word may be in the plural.
    fn name(&self, name: &[String]) -> Option<(usize, bool)> {
        let (last, first) = name.split_last()?;
        let word = |at: usize| self.tokens.get(self.at + at)?.word();
        if !first.iter().enumerate().all(|(at, it)| word(at) == Some(it)) {
            return None;
        }
        let found = word(first.len())?;
        let is_exact = found == last;
        let stem = last.strip_suffix('y').map(|it| format!("{it}ies"));
        let is_plural = found.strip_suffix('s') == Some(last)
            || found.strip_suffix("es") == Some(last)
            || stem.as_deref() == Some(found);
        (is_exact || is_plural).then_some((name.len(), is_exact))
    }

    /// Reads the name of the table, or a word for its rows.
    pub(super) fn table_name(&mut self) -> bool {
        let name = words(&self.table.name);
        let singular = name.split_last().and_then(|(last, first)| {
            let last = last.strip_suffix('s')?.to_owned();
            Some([first, &[last]].concat())
        });
        let found = self.name(&name).or_else(|| self.name(&singular?)).map(|it| it.0);
        if let Some(n) = found {
            self.at += n;
            self.names_table = true;
        }
        found.is_some()
    }

    /// Reads a column, with what may be around it: `the email column of customers`.
    pub(super) fn column(&mut self) -> Option<&'a ClaimColumn> {
        // A column may be named `a`.
        self.attempt(Self::bare_column).or_else(|| {
            self.attempt(|it| {
                it.any(&["each", "every", "all"]);
                it.any(&["the value of", "the values of", "values of", "the", "an", "a"]);
                it.bare_column()
            })
        })
    }

    pub(super) fn bare_column(&mut self) -> Option<&'a ClaimColumn> {
        self.attempt(|it| {
            it.attempt(|it| (it.table_name() && it.sign(".")).then_some(()));
            it.words("column");
            let columns = it.table.columns.iter();
            let mut found: Vec<_> =
                columns.filter_map(|column| Some((it.name(&column.words)?, column))).collect();
            found.sort_by_key(|it| std::cmp::Reverse(it.0));
            let ((n, is_exact), column) = *found.first()?;
            if found.get(1).is_some_and(|it| it.0 == (n, is_exact)) {
                return None;
            }
            it.at += n;
            // `total value` may be another column.
            for word in column.nouns() {
                let mut columns = it.table.columns.iter().map(|it| it.words.as_slice());
                let is_column =
                    columns.any(|it| it == [*word] || it == [word.trim_end_matches('s')]);
                if !is_column && it.words(word) {
                    break;
                }
            }
            it.attempt(|it| {
                let is_of = it.any(&[
                    "in the", "of the", "in each", "of each", "of every", "of an", "of a", "in",
                    "of",
                ]);
                (is_of && it.table_name()).then_some(())
            });
            Some(column)
        })
    }

    /// Reads columns: `a, b and c`. Returns the word that joins them.
    pub(super) fn columns(&mut self) -> Option<(Vec<&'a ClaimColumn>, &'static str)> {
        self.words("both");
        let mut found = vec![self.column()?];
        let mut word = "and";
        while let Some(column) = self.attempt(|it| it.sign(",").then(|| it.column()).flatten()) {
            found.push(column);
        }
        for joined in ["and", "or"] {
            if let Some(column) = self.attempt(|it| {
                it.sign(",");
                it.words(joined).then(|| it.column()).flatten()
            }) {
                found.push(column);
                word = joined;
                return Some((found, word));
            }
        }
        (found.len() == 1).then_some((found, word))
    }

    /// Reads a condition: clauses that are joined by `and`, or by `or`.
    pub(super) fn condition(&mut self) -> Option<RowCondition> {
        let mut parts = vec![self.clause()?];
        let mut joined: Option<&str> = None;
        loop {
            let next = self.attempt(|it| {
                it.sign(",");
                let word = ["and", "or"].into_iter().find(|word| it.words(word))?;
                Some((word, it.clause()?))
            });
            let Some((word, part)) = next else { break };
            if joined.is_some_and(|it| it != word) {
                return None;
            }
            joined = Some(word);
            parts.push(part);
        }
        RowCondition::joined(parts, joined.unwrap_or("and"))
    }

    fn clause(&mut self) -> Option<RowCondition> {
        for form in [Self::arithmetic, Self::chain, Self::neither, Self::pair] {
            if let Some(found) = self.attempt(form) {
                return Some(found);
            }
        }
        self.attempt(|it| {
            let (columns, word) = it.columns()?;
            let is_several = 1 < columns.len();
            let at = it.at;
            let mut parts = Vec::new();
            let mut end = at;
            for column in columns {
                it.at = at;
                let (found, is_negative) = it.predicate(column)?;
                // `a or b is not null` may mean that none of them is.
                if is_negative && word == "or" {
                    return None;
                }
                parts.push(found);
                end = it.at;
            }
            it.at = end;
            // `a and b are unique`: each of them, or both together.
            RowCondition::joined(parts, word).filter(|it| !(is_several && it.is_window))
        })
    }

    /// `0 < a <= 5`
    fn chain(&mut self) -> Option<RowCondition> {
        let low = self.number()?;
        let first = ["<=", "<"].into_iter().find(|it| self.sign(it))?;
        let column = self.column().filter(|it| it.is_number())?;
        let second = ["<=", "<"].into_iter().find(|it| self.sign(it))?;
        let high = self.number()?;
        let lowest = column.compared(if first == "<" { ">" } else { ">=" }, &low);
        RowCondition::joined(vec![lowest, column.compared(second, &high)], "and")
    }

    /// `neither a nor b is missing`
    fn neither(&mut self) -> Option<RowCondition> {
        self.words("neither").then_some(())?;
        let first = self.column()?;
        self.words("nor").then_some(())?;
        let second = self.column()?;
        let at = self.at;
        let (one, is_negative) = self.forbidden(first)?;
        self.at = at;
        let (other, _) = self.forbidden(second)?;
        let is_plain = !is_negative && !one.is_window;
        is_plain.then(|| RowCondition::joined(vec![one.not(), other.not()], "and"))?
    }

    /// `a and b are both present or both missing`, `a and b are never the same`
    fn pair(&mut self) -> Option<RowCondition> {
        let (columns, "and") = self.columns()? else { return None };
        let [first, second] = columns[..] else { return None };
        let (one, other) = (first.sql(), second.sql());
        let columns = [first, second].map(|it| it.name.clone()).into();
        let of = |sql: String, words: String| Some(RowCondition::of_columns(columns, sql, words));
        let is_verb = self.any(&["are", "must be", "should be", "must", "should", "have to be"]);
        let is_either = self.words("either");
        if is_verb && self.words("both") {
            let is_present = self.presence_word()?;
            self.words("or").then_some(())?;
            self.any(&["are both", "both", "neither"]).then_some(())?;
            (self.presence_word()? != is_present).then_some(())?;
            return of(
                format!("({one} is null) = ({other} is null)"),
                format!("{one} and {other} are both present or both missing"),
            );
        }
        if is_either {
            return None;
        }
        if is_verb && self.any(&["not both", "never both"]) {
            let rest = if self.presence_word()? { "is not null" } else { "is null" };
            let words = if rest == "is null" { "missing" } else { "present" };
            return of(
                format!("not ({one} {rest} and {other} {rest})"),
                format!("{one} and {other} are not both {words}"),
            );
        }
        let op = self.one_of(&[
            ("never the same", "<>"),
            ("never equal", "<>"),
            ("never identical", "<>"),
            ("not the same", "<>"),
            ("not equal", "<>"),
            ("always different", "<>"),
            ("different", "<>"),
            ("always differ", "<>"),
            ("differ", "<>"),
            ("always the same", "="),
            ("always equal", "="),
            ("the same", "="),
            ("equal", "="),
            ("identical", "="),
        ])?;
        let words = format!("{one} {op} {other}");
        if first.is_like(second) { of(words.clone(), words) } else { None }
    }

    fn presence_word(&mut self) -> Option<bool> {
        if self.any(&MISSING) {
            return Some(false);
        }
        self.any(&PRESENT).then_some(true)
    }

    /// Reads what is said of a column, and whether it is the opposite of something.
    pub(super) fn predicate(&mut self, column: &ClaimColumn) -> Option<(RowCondition, bool)> {
        if let Some(found) = self.attempt(|it| it.lack(column)) {
            return Some((found, true));
        }
        let is_negative = match self.one_of(&AUXILIARIES) {
            Some(is_negative) => is_negative,
            None if self.is_at_verb() => false,
            None => return None,
        };
        self.said(column, is_negative)
    }

    /// Reads what no value may be, with the verb: `may be null`.
    pub(super) fn forbidden(&mut self, column: &ClaimColumn) -> Option<(RowCondition, bool)> {
        if self.any(&["may be", "can be", "may ever be", "can ever be"]) {
            return self.said(column, false);
        }
        self.predicate(column)
    }

    /// Reads what comes after the verb.
    fn said(&mut self, column: &ClaimColumn, is_negative: bool) -> Option<(RowCondition, bool)> {
        // `contains only digits` is read with the characters.
        if self.is_at("only")
            && !["contains", "contain", "has", "have"].iter().any(|it| self.is_next(it))
        {
            return None;
        }
        self.words("either");
        let mut parts = vec![self.test(column)?];
        let mut joined: Option<&str> = None;
        loop {
            let next = self.attempt(|it| {
                it.sign(",");
                let word = ["or", "and", "but"].into_iter().find(|word| it.words(word))?;
                let word = if word == "but" { "and" } else { word };
                it.words("is");
                // `1 and 2` are not one value.
                let part = if word == "or" { it.test(column) } else { it.property(column) };
                Some((word, part?))
            });
            let Some((word, part)) = next else { break };
            if joined.is_some_and(|it| it != word) {
                return None;
            }
            joined = Some(word);
            parts.push(part);
        }
        match joined {
            // `is not null and positive`
            Some("and") if is_negative => {
                let first = parts.remove(0);
                if !first.is_presence {
                    return None;
                }
                parts.insert(0, first.not());
                Some((RowCondition::joined(parts, "and")?, true))
            }
            word => {
                let found = RowCondition::joined(parts, word.unwrap_or("and"))?;
                Some((if is_negative { found.not() } else { found }, is_negative))
            }
        }
    }

    /// Returns whether this word comes next.
    pub(super) fn is_at(&self, word: &str) -> bool {
        self.is_word(self.at, word)
    }

    /// Returns whether this word comes after the next one.
    fn is_next(&self, word: &str) -> bool {
        self.is_word(self.at + 1, word)
    }

    fn is_word(&self, at: usize, word: &str) -> bool {
        matches!(self.tokens.get(at), Some(ClaimToken { kind: TokenKind::Word(it), .. }) if it == word)
    }

    /// Returns whether a comparison or a verb comes next, which needs no auxiliary.
    fn is_at_verb(&self) -> bool {
        let verbs = [
            "contains", "contain", "starts", "start", "begins", "begin", "ends", "end", "matches",
            "match", "has", "have", "equals", "equal", "exceeds", "exceed", "lies", "lie", "comes",
            "come", "follows", "follow", "precedes", "consists", "consist", "only", "differs",
            "differ", "takes", "take",
        ];
        if self.is_at("not") && self.is_next("in") {
            return true;
        }
        let is_list = matches!(
            self.tokens.get(self.at + 1),
            Some(ClaimToken { kind: TokenKind::Sign("("), .. })
        );
        match self.tokens.get(self.at).map(|it| &it.kind) {
            Some(TokenKind::Word(word)) => {
                verbs.contains(&word.as_str()) || is_list && word == "in"
            }
            Some(TokenKind::Sign(sign)) => ["=", "<>", "<", ">", "<=", ">="].contains(sign),
            _ => false,
        }
    }

    /// Reads one thing that is said of a column.
    pub(super) fn test(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        self.property(column)
            .or_else(|| self.attempt(|it| it.only_values(column)))
            .or_else(|| self.attempt(|it| it.one_of_values(column)))
    }

    /// Reads one thing that is said of a column, but not its value.
    fn property(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        if self.words("not") {
            return self.test(column).map(RowCondition::not);
        }
        self.attempt(|it| it.presence(column))
            .or_else(|| self.attempt(|it| it.length(column)))
            .or_else(|| self.attempt(|it| it.characters(column)))
            .or_else(|| self.attempt(|it| it.text(column)))
            .or_else(|| self.attempt(|it| it.sign_of_number(column)))
            .or_else(|| self.attempt(|it| it.multiple(column)))
            .or_else(|| self.attempt(|it| it.in_time(column)))
            .or_else(|| self.attempt(|it| it.bounds(column)))
    }

    fn presence(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        if self.any(&["unique", "distinct"]) {
            return Some(column.unique());
        }
        let is_present = self.presence_word()?;
        Some(RowCondition::of_presence(&column.name, is_present))
    }

    fn sign_of_number(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        if !column.is_number() {
            return None;
        }
        let sql = column.sql();
        let article = self.any(&["a", "an"]);
        let sign = self.one_of(&[
            ("non negative", ">= 0"),
            ("nonnegative", ">= 0"),
            ("not negative", ">= 0"),
            ("positive", "> 0"),
            ("negative", "< 0"),
            ("non zero", "<> 0"),
            ("nonzero", "<> 0"),
        ]);
        let is_whole = self.any(&["whole number", "whole numbers", "integer", "integers"]);
        let is_number = is_whole || self.any(&["number", "numbers", "amount", "value"]);
        if article && !is_number {
            return None;
        }
        let sign = sign.map(|it| column.condition(&format!("{sql} {it}"), &format!("is {it}")));
        let whole = is_whole
            .then(|| column.condition(&format!("{sql} = floor({sql})"), "is a whole number"));
        // `a whole number from 1 to 5`
        let bounds = if is_whole { self.attempt(|it| it.bounds(column)) } else { None };
        RowCondition::joined(sign.into_iter().chain(whole).chain(bounds).collect(), "and")
    }

    /// `a multiple of 5`, `even`
    fn multiple(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        if column.dtype != DType::Int64 {
            return None;
        }
        let sql = column.sql();
        if let Some((rest, words)) =
            self.one_of(&[("even", ("= 0", "is even")), ("odd", ("<> 0", "is odd"))])
        {
            return Some(column.condition(&format!("{sql} % 2 {rest}"), words));
        }
        self.any(&["a multiple of", "multiples of", "divisible by"]).then_some(())?;
        let n = self.whole_number().filter(|it| *it != 0)?;
        Some(column.condition(&format!("{sql} % {n} = 0"), &format!("is a multiple of {n}")))
    }

    fn in_time(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        let now = match column.dtype {
            DType::Date => "current_date",
            DType::Timestamp | DType::TimestampUtc => "now()",
            _ => return None,
        };
        let (op, words) = self.one_of(&[
            ("in the future", (">", "is in the future")),
            ("in the past", ("<", "is in the past")),
        ])?;
        Some(column.condition(&format!("{} {op} {now}", column.sql()), words))
    }

    /// Reads a comparison with a value, or with two.
    pub(super) fn bounds(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        let sql = column.value_sql();
        self.any(&["lies", "lie", "comes", "come"]);
        let is_range = self.any(&[
            "between",
            "in the range from",
            "in the range of",
            "in the range",
            "in the interval from",
            "in the interval of",
            "within",
            "from",
        ]);
        if is_range {
            if let Some(found) = self.attempt(|it| it.between_columns(column)) {
                return Some(found);
            }
            let low = self.value(column)?;
            if !(self.words("and") || self.words("to") || self.sign("-")) {
                return None;
            }
            let high = self.value(column)?;
            let range = format!("{sql} between {low} and {high}");
            return Some(column.condition(&range, &format!("is from {low} to {high}")));
        }
        let op = self.comparison();
        if op.is_none()
            && let Some((value, op)) = self.attempt(|it| {
                let value = it.value(column)?;
                Some((value, it.one_of(&OR_MORE)?))
            })
        {
            return Some(column.compared(op, &value));
        }
        let op = op?;
        let other = self.attempt(|it| it.column().filter(|it| column.is_like(it)));
        if let Some(other) = other.filter(|it| it.name != column.name) {
            let other_sql = other.sql();
            let compared = format!("{} {op} {other_sql}", column.sql());
            let mut found = column.condition(&compared, &format!("{op} {other_sql}"));
            found.columns.insert(other.name.clone());
            return Some(found);
        }
        let value = self.value(column)?;
        Some(column.compared(op, &value))
    }

    /// `between low and high`, which are columns
    fn between_columns(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        let is_other = |it: &&ClaimColumn| column.is_like(it) && it.name != column.name;
        let low = self.column().filter(is_other)?;
        self.words("and").then_some(())?;
        let high = self.column().filter(is_other)?;
        let range = format!("between {} and {}", low.sql(), high.sql());
        let mut found =
            column.condition(&format!("{} {range}", column.sql()), &format!("is {range}"));
        found.columns.extend([low.name.clone(), high.name.clone()]);
        Some(found)
    }

    pub(super) fn comparison(&mut self) -> Option<&'static str> {
        let sign = ["<=", ">=", "<>", "<", ">", "="].into_iter().find(|it| self.sign(it));
        sign.or_else(|| self.one_of(&COMPARISONS))
            .or_else(|| self.one_of(&MORE_COMPARISONS))
            .or_else(|| self.any(&["equals", "equal"]).then_some("="))
    }

    /// Reads one of several values, or one.
    fn one_of_values(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        let is_list =
            self.any(&["one of the values", "one of the following", "one of", "any of", "in"]);
        self.words("exactly");
        let is_open = self.sign("(");
        let mut values = vec![self.value(column)?];
        let words: &[&str] = if is_open { &["or", "and"] } else { &["or"] };
        let more = self.attempt(|it| it.more_values(column, words, is_list || is_open));
        values.extend(more.into_iter().flatten());
        if is_open && !self.sign(")") {
            return None;
        }
        // `at 5 or more` is a bound.
        if self.one_of(&OR_MORE).is_some() {
            return None;
        }
        Some(column.one_of(&values))
    }

    /// Reads the rest of a list: `, b or c`. Where nothing says that there is one, a list without such a word is none:
    /// the comma may begin what comes after a condition, as in `if a is x, y is 5`.
    fn more_values(
        &mut self,
        column: &ClaimColumn,
        words: &[&str],
        is_list: bool,
    ) -> Option<Vec<String>> {
        let mut values = Vec::new();
        let mut is_list = is_list;
        while let Some((value, is_joined)) = self.attempt(|it| {
            let comma = it.sign(",");
            let is_joined = it.any(words);
            if comma || is_joined { Some((it.value(column)?, is_joined)) } else { None }
        }) {
            values.push(value);
            is_list |= is_joined;
        }
        is_list.then_some(values)
    }

    /// `takes only the values a, b and c`
    fn only_values(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        self.any(&[
            "takes only the values",
            "take only the values",
            "only takes the values",
            "takes one of the values",
            "has only the values",
            "only has the values",
            "contains only the values",
            "only contains the values",
        ])
        .then_some(())?;
        self.list(column)
    }

    /// `the allowed values of status are a, b and c`
    pub(super) fn allowed_values(&mut self) -> Option<RowCondition> {
        self.words("the");
        self.words("only");
        self.any(&["allowed values", "permitted values", "valid values", "possible values"])
            .then_some(())?;
        self.any(&["of", "for", "in"]).then_some(())?;
        let column = self.column()?;
        self.words("are").then_some(())?;
        self.list(column)
    }

    /// `a, b and c`, which are all values
    fn list(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        let mut values = vec![self.value(column)?];
        values.extend(self.more_values(column, &["and", "or"], false)?);
        Some(column.one_of(&values))
    }

    /// Reads a value of the type of a column, as SQL.
    pub(super) fn value(&mut self, column: &ClaimColumn) -> Option<String> {
        match column.dtype {
            DType::Int64 | DType::Float64 => {
                let number = self.number()?;
                (!self.sign("%")).then_some(number)
            }
            DType::Bool => self.one_of(&[("true", "true"), ("false", "false")]).map(str::to_owned),
            DType::Date | DType::Timestamp | DType::TimestampUtc => {
                let TokenKind::Day(day) = &self.tokens.get(self.at)?.kind else {
                    return self.words("today").then(|| "current_date".to_owned());
                };
                self.at += 1;
                Some(format!("date '{day}'"))
            }
            DType::String => {
                if let TokenKind::Quoted(text) = &self.tokens.get(self.at)?.kind {
                    self.at += 1;
                    return Some(literal(text));
                }
                self.known_value(column).map(|it| literal(&it))
            }
            DType::Time => None,
        }
    }

    /// Reads a value that only one column contains.
    pub(super) fn only_value(&mut self) -> Option<(&'a ClaimColumn, String)> {
        let (at, table) = (self.at, self.table);
        let mut found = Vec::new();
        for column in &table.columns {
            self.at = at;
            if let Some(value) = self.known_value(column) {
                found.push((self.at, column, value));
            }
        }
        let (end, column, value) = found.pop().filter(|_| found.is_empty())?;
        self.at = end;
        // `of pending orders`, where the table may be `old_orders`
        let last = words(&table.name).pop().unwrap_or_default();
        let is_rows = self.table_name() || self.any(&ROWS) || self.words(&last);
        let _ = is_rows || self.words(&format!("{last}s"));
        Some((column, value))
    }

    /// Reads a value that the column contains.
    pub(super) fn known_value(&mut self, column: &ClaimColumn) -> Option<String> {
        let word = |at: usize| self.tokens.get(self.at + at)?.word();
        let is_here = |words: &[String]| {
            !words.is_empty() && words.iter().enumerate().all(|(at, it)| word(at) == Some(it))
        };
        let values = column.values.iter().map(|it| (words(it), it));
        let mut found: Vec<_> = values.filter(|it| is_here(&it.0)).collect();
        found.sort_by_key(|it| std::cmp::Reverse(it.0.len()));
        let (words, value) = found.first()?;
        let n_words = words.len();
        let same: Vec<&String> =
            found.iter().filter(|it| it.0.len() == n_words).map(|it| it.1).collect();
        let (start, end) = (self.tokens[self.at].start, self.tokens[self.at + n_words - 1].end);
        let written = &self.claim[start..end];
        let value = match same[..] {
            [_] => (*value).clone(),
            // `US` and `us` are two values.
            _ => (*same.iter().find(|it| **it == written)?).clone(),
        };
        self.at += n_words;
        Some(value)
    }
}

impl ClaimColumn {
    pub(super) fn sql(&self) -> String {
        identifier(&self.name)
    }

    /// Returns words that may come after the name, and say no more than it.
    fn nouns(&self) -> &'static [&'static str] {
        match self.dtype {
            DType::String => {
                &["column", "field", "values", "value", "codes", "code", "names", "name"]
            }
            DType::Date => &["column", "field", "values", "value", "dates", "date"],
            _ => &["column", "field", "values", "value"],
        }
    }

    pub(super) fn is_number(&self) -> bool {
        matches!(self.dtype, DType::Int64 | DType::Float64)
    }

    /// Returns whether values of both can be compared.
    pub(super) fn is_like(&self, other: &ClaimColumn) -> bool {
        self.dtype == other.dtype || self.is_number() && other.is_number()
    }

    pub(super) fn condition(&self, sql: &str, words: &str) -> RowCondition {
        RowCondition::of(&self.name, sql.to_owned(), format!("`{}` {words}", self.name))
    }

    /// Returns the column as values that a claim names are compared with it: a day is the whole day, in times as well.
    pub(super) fn value_sql(&self) -> String {
        match self.dtype {
            DType::Timestamp | DType::TimestampUtc => format!("cast({} as date)", self.sql()),
            _ => self.sql(),
        }
    }

    pub(super) fn unique(&self) -> RowCondition {
        let sql = self.sql();
        let sql = format!("{sql} is null or count(*) over (partition by {sql}) = 1");
        RowCondition { is_window: true, ..self.condition(&sql, "is in no other row") }
    }

    fn one_of(&self, values: &[String]) -> RowCondition {
        if let [value] = values {
            return self.compared("=", value);
        }
        let list = values.join(", ");
        let sql = format!("{} in ({list})", self.value_sql());
        self.condition(&sql, &format!("is one of {list}"))
    }

    pub(super) fn compared(&self, op: &str, value: &str) -> RowCondition {
        self.condition(&format!("{} {op} {value}", self.value_sql()), &format!("{op} {value}"))
    }
}

impl ClaimReader<'_> {
    /// Reads a comparison of computed numbers: `total = quantity * price within 0.01`.
    fn arithmetic(&mut self) -> Option<RowCondition> {
        if let Some(found) = self.attempt(Self::added).or_else(|| self.attempt(Self::apart)) {
            return Some(found);
        }
        let left = self.sum()?;
        let is_said =
            self.any(&["must always be", "must be", "should be", "is always", "is", "are", "must"]);
        // `total is quantity times price`
        let op = self.comparison().or(is_said.then_some("="))?;
        let right = self.sum()?;
        // `1-5` is a range, and nothing to compute.
        let is_constant = |it: &Amount| it.is_computed && it.columns.is_empty();
        if !left.is_computed && !right.is_computed || is_constant(&left) || is_constant(&right) {
            return None;
        }
        match (op, self.tolerance()) {
            ("=", tolerance) => Some(left.equals(right, tolerance)),
            (_, Some(_)) => None,
            (op, None) => {
                let words = format!("{} {op} {}", left.sql, right.sql);
                let columns = left.columns.into_iter().chain(right.columns).collect();
                Some(RowCondition::of_columns(columns, words.clone(), words))
            }
        }
    }

    /// `within 0.01`
    fn tolerance(&mut self) -> Option<String> {
        self.attempt(|it| {
            it.sign(",");
            it.any(&["to within", "within", "give or take"]).then(|| it.number()).flatten()
        })
    }

    /// `a, b and c add up to total`
    fn added(&mut self) -> Option<RowCondition> {
        let (columns, "and") = self.columns()? else { return None };
        self.any(&["must", "should", "always", "must always"]);
        self.any(&["add up to", "sum up to", "sum to"]).then_some(())?;
        let left = Amount::of_all(&columns, "+")?;
        let right = self.sum()?;
        Some(left.equals(right, self.tolerance()))
    }

    /// `a and b differ by at most 3`
    fn apart(&mut self) -> Option<RowCondition> {
        let (columns, "and") = self.columns()? else { return None };
        let is_never = self.any(&["never differ", "do not differ", "must not differ"]);
        (is_never || self.any(&["differ", "must differ", "may differ", "should differ"]))
            .then_some(())?;
        self.words("by").then_some(())?;
        let op = self.comparison()?;
        let [first, second] = columns[..] else { return None };
        let difference = Amount::of_all(&[first, second], "-")?;
        let words = format!("abs{} {op} {}", difference.sql, self.number()?);
        let columns = difference.columns.into_iter().collect();
        let found = RowCondition::of_columns(columns, words.clone(), words);
        Some(if is_never { found.not() } else { found })
    }

    fn sum(&mut self) -> Option<Amount> {
        if self.any(&["the difference between", "difference between"]) {
            let (columns, "and") = self.columns()? else { return None };
            let [first, second] = columns[..] else { return None };
            let sql = format!("abs({} - {})", first.sql(), second.sql());
            let columns = [first, second].map(|it| it.name.clone()).into();
            let is_number = first.is_number() && second.is_number();
            return is_number.then_some(Amount { sql, columns, is_computed: true });
        }
        if self.any(&["the ratio of", "ratio of"]) {
            let over = self.factor()?;
            self.words("to").then_some(())?;
            return Some(over.with("/", self.factor()?));
        }
        let list = [("the sum of", "+"), ("the product of", "*")];
        if let Some(sign) = self.one_of(&list) {
            let (columns, "and") = self.columns()? else { return None };
            return Amount::of_all(&columns, sign);
        }
        let mut found = self.product()?;
        while let Some(next) = self.attempt(|it| {
            let sign = ["+", "-"].into_iter().find(|sign| it.sign(sign));
            let sign = sign.or_else(|| it.one_of(&[("plus", "+"), ("minus", "-")]))?;
            Some((sign, it.product()?))
        }) {
            found = found.with(next.0, next.1);
        }
        Some(found)
    }

    fn product(&mut self) -> Option<Amount> {
        let mut found = self.factor()?;
        while let Some(next) = self.attempt(|it| {
            let sign = ["*", "/"].into_iter().find(|sign| it.sign(sign));
            let words = [("times", "*"), ("multiplied by", "*"), ("divided by", "/")];
            let sign = sign.or_else(|| it.one_of(&words))?;
            Some((sign, it.factor()?))
        }) {
            found = found.with(next.0, next.1);
        }
        Some(found)
    }

    fn factor(&mut self) -> Option<Amount> {
        if self.sign("(") {
            let inner = self.sum()?;
            let sql = format!("({})", inner.sql);
            return self.sign(")").then_some(Amount { sql, ..inner });
        }
        let part = self.one_of(&[
            ("half of the", "0.5"),
            ("half of", "0.5"),
            ("half the", "0.5"),
            ("half", "0.5"),
            ("twice the", "2"),
            ("twice", "2"),
        ]);
        if let Some(part) = part {
            let whole = self.factor()?;
            let part = Amount { sql: part.to_owned(), columns: Vec::new(), is_computed: false };
            return Some(part.with("*", whole));
        }
        if let Some(number) = self.attempt(Self::number) {
            return Some(Amount { sql: number, columns: Vec::new(), is_computed: false });
        }
        let column = self.column().filter(|it| it.is_number())?;
        Some(Amount { sql: column.sql(), columns: vec![column.name.clone()], is_computed: false })
    }
}

/// A computed number.
struct Amount {
    sql: String,
    columns: Vec<String>,
    /// Whether it is more than a column or a number.
    is_computed: bool,
}

impl Amount {
    /// Joins columns of numbers, which are at least two.
    fn of_all(columns: &[&ClaimColumn], sign: &str) -> Option<Amount> {
        let is_number = columns.iter().all(|it| it.is_number());
        let names: Vec<String> = columns.iter().map(|it| it.sql()).collect();
        let columns: Vec<String> = columns.iter().map(|it| it.name.clone()).collect();
        let sql = format!("({})", names.join(&format!(" {sign} ")));
        (is_number && 1 < names.len()).then_some(Amount { sql, columns, is_computed: true })
    }

    fn equals(self, other: Amount, tolerance: Option<String>) -> RowCondition {
        let told = tolerance.as_ref().map(|it| format!(" within {it}")).unwrap_or_default();
        let tolerance = tolerance.unwrap_or_else(|| TOLERANCE.to_owned());
        let sql = format!("abs({} - ({})) <= {tolerance}", self.sql, other.sql);
        let words = format!("{} = {}{told}", self.sql, other.sql);
        let columns = self.columns.into_iter().chain(other.columns).collect();
        RowCondition::of_columns(columns, sql, words)
    }

    fn with(self, sign: &str, other: Amount) -> Amount {
        let sql = format!("{} {sign} {}", self.sql, other.sql);
        Amount { sql, columns: [self.columns, other.columns].concat(), is_computed: true }
    }
}
