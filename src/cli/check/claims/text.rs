//! What claims say of texts: how long they are, how they begin and end, and which characters they have.

use csv_agent_text::sql::literal;
use csv_agent_types::catalog::DType;

use super::ClaimColumn;
use super::condition::RowCondition;
use super::reader::{ClaimReader, OR_MORE};
use super::tokens::TokenKind;

/// Kinds of characters, each with what stands for it between the brackets of a regular expression.
const KINDS: [(&str, &str); 16] = [
    ("uppercase letter", r"\p{Lu}"),
    ("upper case letter", r"\p{Lu}"),
    ("capital letter", r"\p{Lu}"),
    ("capital", r"\p{Lu}"),
    ("lowercase letter", r"\p{Ll}"),
    ("lower case letter", r"\p{Ll}"),
    ("small letter", r"\p{Ll}"),
    ("alphanumeric character", r"\p{L}0-9"),
    ("letter", r"\p{L}"),
    ("digit", "0-9"),
    ("space", " "),
    ("hyphen", r"\-"),
    ("dash", r"\-"),
    ("underscore", "_"),
    ("comma", ","),
    ("dot", "."),
];
/// What says that a column has something nowhere.
const LACKS: [&str; 16] = [
    "has no",
    "have no",
    "must have no",
    "should have no",
    "contains no",
    "contain no",
    "must contain no",
    "does not contain any",
    "does not contain",
    "do not contain",
    "must not contain",
    "should not contain",
    "never contains",
    "does not have any",
    "does not have",
    "must not have",
];

impl ClaimReader<'_> {
    /// Reads the name of a kind of characters: what is between brackets, the name, and whether it is in the singular.
    fn kind(&mut self) -> Option<(&'static str, &'static str, bool)> {
        KINDS.iter().find_map(|(name, class)| {
            if self.words(name) {
                return Some((*class, *name, true));
            }
            self.words(&format!("{name}s")).then_some((*class, *name, false))
        })
    }

    /// Reads kinds of characters, `digits, spaces and hyphens`, as what is between brackets and in words.
    fn kinds(&mut self) -> Option<(String, String)> {
        let (class, name, _) = self.kind()?;
        let (mut classes, mut names) = (class.to_owned(), format!("{name}s"));
        while let Some((class, name, _)) = self.attempt(|it| {
            let is_joined = it.sign(",") | it.any(&["and", "or"]);
            is_joined.then(|| it.kind()).flatten()
        }) {
            classes.push_str(class);
            names.extend([" or ", name, "s"]);
        }
        Some((classes, names))
    }

    /// `has no digits`, `has no trailing spaces`, `has no missing values`, `has no duplicates`
    pub(super) fn lack(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        self.any(&LACKS).then_some(())?;
        let missing =
            ["missing values", "null values", "empty values", "nulls", "blanks", "missing"];
        if self.any(&missing) {
            return Some(RowCondition::of_presence(&column.name, true));
        }
        if self.any(&["duplicates", "duplicate values", "repeated values"]) {
            return Some(column.unique());
        }
        if column.dtype != DType::String {
            return None;
        }
        if let Some(found) = self.attempt(|it| it.outer_spaces(column)) {
            return Some(found.not());
        }
        self.any(&["a", "any"]);
        let (class, names) = self.kinds()?;
        let sql = format!("regexp_matches({}, {})", column.sql(), literal(&format!("[{class}]")));
        Some(column.condition(&sql, &format!("has {names}")).not())
    }

    /// `leading or trailing spaces`
    fn outer_spaces(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        let sql = column.sql();
        let (trimmed, place) = self.one_of(&[
            ("leading or trailing", ("trim", "at its ends")),
            ("leading and trailing", ("trim", "at its ends")),
            ("leading", ("ltrim", "at its beginning")),
            ("trailing", ("rtrim", "at its end")),
        ])?;
        self.any(&["spaces", "space", "blanks"]).then_some(())?;
        let sql = format!("{sql} <> {trimmed}({sql})");
        Some(column.condition(&sql, &format!("has spaces {place}")))
    }

    /// `consists of letters and digits`, `is in upper case`, `has trailing spaces`
    pub(super) fn characters(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        if column.dtype != DType::String {
            return None;
        }
        let sql = column.sql();
        let is_whole = self.any(&[
            "consists only of", "consist only of", "consists of", "consist of", "contains only",
            "contain only", "only contains", "only contain", "has only", "have only", "only has",
            "only have", "made up of", "made of",
        ]);
        if is_whole {
            self.words("only");
            let (class, names) = self.kinds()?;
            let sql = format!("regexp_full_match({sql}, {})", literal(&format!("[{class}]+")));
            return Some(column.condition(&sql, &format!("has only {names}")));
        }
        let case = self.attempt(|it| {
            it.any(&["in all", "all in", "in", "all"]);
            it.one_of(&[
                ("uppercase", "upper"),
                ("upper case", "upper"),
                ("capitals", "upper"),
                ("lowercase", "lower"),
                ("lower case", "lower"),
            ])
        });
        if let Some(case) = case {
            // `uppercase letters` are characters.
            let is_letters = self.is_at("letter") || self.is_at("letters");
            let words = format!("is in {case} case");
            return (!is_letters)
                .then(|| column.condition(&format!("{sql} = {case}({sql})"), &words));
        }
        self.any(&["has", "have"]).then_some(())?;
        self.outer_spaces(column)
    }

    /// Reads what a text contains.
    pub(super) fn text(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        if column.dtype != DType::String {
            return None;
        }
        let sql = column.sql();
        if self.any(&["matches", "match"]) {
            self.any(&["the regular expression", "the pattern", "the regex", "regex"]);
            let TokenKind::Quoted(pattern) = &self.tokens.get(self.at)?.kind else { return None };
            self.at += 1;
            // Who writes one anchor means that the rest may be anything.
            let (function, part) = if pattern.starts_with('^') == pattern.ends_with('$') {
                ("regexp_full_match", "as a whole")
            } else {
                ("regexp_matches", "in a part")
            };
            let pattern = literal(pattern);
            let words = format!("{part} matches the regular expression {pattern}");
            return Some(column.condition(&format!("{function}({sql}, {pattern})"), &words));
        }
        let (function, words) = self.one_of(&[
            ("starts with", ("starts_with", "begins with")),
            ("start with", ("starts_with", "begins with")),
            ("begins with", ("starts_with", "begins with")),
            ("begin with", ("starts_with", "begins with")),
            ("ends with", ("ends_with", "ends with")),
            ("end with", ("ends_with", "ends with")),
            ("contains", ("contains", "contains")),
            ("contain", ("contains", "contains")),
        ])?;
        let is_one = self.any(&["an", "a", "at least one", "the"]);
        // `contains digits` may mean that it contains nothing else.
        if let Some((class, name, _)) = self.attempt(|it| it.kind().filter(|it| is_one && it.2)) {
            let pattern = match function {
                "starts_with" => format!("^[{class}]"),
                "ends_with" => format!("[{class}]$"),
                _ => format!("[{class}]"),
            };
            let sql = format!("regexp_matches({sql}, {})", literal(&pattern));
            return Some(column.condition(&sql, &format!("{words} a {name}")));
        }
        let token = self.tokens.get(self.at)?;
        let text = match &token.kind {
            TokenKind::Quoted(text) => text.clone(),
            TokenKind::Sign(sign @ "@") => (*sign).to_owned(),
            // As it is written, if it is no word such as `digits` or `spaces`.
            TokenKind::Word(_) if self.at + 1 == self.tokens.len() => {
                let written = &self.claim[token.start..token.end];
                let is_code = written.contains(|it: char| it.is_uppercase() || it.is_ascii_digit());
                is_code.then(|| written.to_owned())?
            }
            _ => return None,
        };
        self.at += 1;
        let mut texts = vec![text];
        // `ends with '.com' or '.org'`: another text in quotes is one more of these, and no value.
        while let Some(text) = self.attempt(|it| {
            let comma = it.sign(",");
            let word = it.words("or");
            let TokenKind::Quoted(text) = &it.tokens.get(it.at)?.kind else { return None };
            it.at += 1;
            (comma || word).then(|| text.clone())
        }) {
            texts.push(text);
        }
        let conditions = texts.iter().map(|it| {
            let text = literal(it);
            column.condition(&format!("{function}({sql}, {text})"), &format!("{words} {text}"))
        });
        RowCondition::joined(conditions.collect(), "or")
    }

    /// Reads how long a text is.
    pub(super) fn length(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        if column.dtype != DType::String {
            return None;
        }
        if let Some(found) = self.attempt(|it| it.longer(column)) {
            return Some(found);
        }
        self.any(&["has", "have"]);
        let sizes = self.sizes()?;
        if self.any(&["characters", "character"]) {
            self.any(&["long", "in length"]);
            let sizes = sizes.iter().map(|it| column.of_length(it.0, it.1));
            return RowCondition::joined(sizes.collect(), "or");
        }
        let (class, name, _) = self.kind()?;
        self.any(&["long", "in length"]);
        // `at least 8 digits` may have other characters between them.
        let exact = sizes.iter().map(|it| it.0.filter(|_| it.0 == it.1));
        let conditions = exact.map(|n| {
            let pattern = literal(&format!("[{class}]{{{}}}", n?));
            let sql = format!("regexp_full_match({}, {pattern})", column.sql());
            let words = format!("is {} {name}s and nothing else", n?);
            Some(column.condition(&sql, &words))
        });
        RowCondition::joined(conditions.collect::<Option<_>>()?, "or")
    }

    /// `longer than 30 characters`
    fn longer(&mut self, column: &ClaimColumn) -> Option<RowCondition> {
        let (is_most, step) = self.one_of(&[
            ("no longer than", (true, 0)),
            ("not longer than", (true, 0)),
            ("longer than", (false, 1)),
            ("no shorter than", (false, 0)),
            ("not shorter than", (false, 0)),
            ("shorter than", (true, 1)),
        ])?;
        let n = self.whole_number()?;
        self.any(&["characters", "character"]);
        Some(if is_most {
            column.of_length(None, Some(n.saturating_sub(step)))
        } else {
            column.of_length(Some(n + step), None)
        })
    }

    /// Reads how many: `exactly 3`, `between 2 and 5`, `3 or 4`, `8 or more`, each as the least and the most.
    fn sizes(&mut self) -> Option<Vec<(Option<u64>, Option<u64>)>> {
        self.words("exactly");
        if self.any(&["between", "from"]) {
            let low = self.whole_number()?;
            self.any(&["and", "to"]).then_some(())?;
            return Some(vec![(Some(low), Some(self.whole_number()?))]);
        }
        if self.any(&["at least", "no fewer than", "no less than"]) {
            return Some(vec![(Some(self.whole_number()?), None)]);
        }
        if self.any(&["more than"]) {
            return Some(vec![(Some(self.whole_number()? + 1), None)]);
        }
        if self.any(&["at most", "no more than", "not more than", "up to"]) {
            return Some(vec![(None, Some(self.whole_number()?))]);
        }
        if self.any(&["fewer than", "less than"]) {
            return Some(vec![(None, Some(self.whole_number()?.checked_sub(1)?))]);
        }
        let n = self.whole_number()?;
        if let Some(op) = self.one_of(&OR_MORE) {
            return Some(vec![if op == ">=" { (Some(n), None) } else { (None, Some(n)) }]);
        }
        if let Some(high) = self.attempt(|it| it.words("to").then(|| it.whole_number()).flatten()) {
            return Some(vec![(Some(n), Some(high))]);
        }
        let mut found = vec![n];
        while let Some(next) = self.attempt(|it| {
            let is_joined = it.sign(",") | it.words("or");
            is_joined.then(|| it.whole_number()).flatten()
        }) {
            found.push(next);
        }
        Some(found.into_iter().map(|it| (Some(it), Some(it))).collect())
    }
}

impl ClaimColumn {
    /// Returns the condition that a text has this many characters, at least and at most.
    fn of_length(&self, low: Option<u64>, high: Option<u64>) -> RowCondition {
        let (test, size) = match (low, high) {
            (Some(low), Some(high)) if low == high => (format!("= {low}"), low.to_string()),
            (Some(low), Some(high)) => {
                (format!("between {low} and {high}"), format!("{low} to {high}"))
            }
            (Some(low), None) => (format!(">= {low}"), format!("at least {low}")),
            (_, high) => {
                let high = high.unwrap_or(u64::MAX);
                (format!("<= {high}"), format!("at most {high}"))
            }
        };
        self.condition(&format!("length({}) {test}", self.sql()), &format!("has {size} characters"))
    }
}
