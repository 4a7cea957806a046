//! What the user says about the data, as far as it gives a name to a column, to two of them, to a condition or to rows:
//! `turnover means revenue`, `revenue = price × units`, `leavers: Attrition is Yes`, `staff: rows of hr`.
//!
//! A question with such a name is read as if it had what the name stands for.

use std::cmp::Reverse;

use crate::lexicon::{Concept, Lexicon};
use crate::schema::Table;
use crate::words::Token;

/// What the texts begin with in the instructions.
const HEAD: &str = "What the user says about the data, ";
/// What every line of a text begins with there.
const MARK: &str = "| ";
/// What may stand between a name and what it stands for.
const MEANS: [&str; 8] =
    [" means ", " stands for ", " refers to ", " is called ", "=", ":", " is ", " are "];
/// What stands between two columns, and how a question says it.
const SIGNS: [(&str, &str); 13] = [
    ("×", "*"),
    ("*", "*"),
    ("·", "*"),
    (" x ", "*"),
    (" times ", "*"),
    ("÷", "/"),
    ("/", "/"),
    (" divided by ", "/"),
    (" plus ", "+"),
    ("+", "+"),
    (" minus ", "-"),
    ("−", "-"),
    (" - ", "-"),
];
/// What stands before a table whose rows are meant.
const ROWS: [&str; 5] = ["rows of ", "rows in ", "a row of ", "records of ", "records in "];
const WORDS_MAX: usize = 4;
/// Lines that are repeated which nothing could be made of.
const UNUSED_MAX: usize = 3;
/// What the sentence on such lines begins with.
const UNUSED: &str = "I could not use this part of your description of the data: ";

/// What the user says about the data.
pub(crate) struct Glossary {
    /// Names, the longest first, and what each stands for.
    names: Vec<(Vec<String>, String)>,
    /// Lines that give no name to anything of the data.
    unused: Vec<String>,
}

impl Glossary {
    /// Takes it out of the instructions.
    pub(crate) fn of(instructions: &str, tables: &[Table], lexicon: &Lexicon) -> Glossary {
        let mut glossary = Glossary { names: Vec::new(), unused: Vec::new() };
        for line in lines(instructions) {
            match named(line, tables, lexicon) {
                Some(name) => glossary.names.push(name),
                None => glossary.unused.push(line.to_owned()),
            }
        }
        glossary.names.sort_by_key(|it| Reverse(it.0.len()));
        glossary
    }

    /// Returns a question with what its names stand for.
    pub(crate) fn told(&self, question: &str, lexicon: &Lexicon) -> String {
        let tokens = lexicon.words.tokens(question);
        let (mut text, mut at, mut copied) = (String::new(), 0, 0);
        while at < tokens.len() {
            let is_at = |it: &&(Vec<String>, String)| {
                let rest: Vec<&String> = tokens[at..].iter().map(|it| &it.stem).collect();
                it.0.len() <= rest.len() && it.0.iter().eq(rest.into_iter().take(it.0.len()))
            };
            let Some((stems, meant)) = self.names.iter().find(is_at) else {
                at += 1;
                continue;
            };
            let end = at + stems.len();
            text += &question[copied..tokens[at].start];
            text += meant;
            copied = tokens[end - 1].end;
            at = end;
        }
        text + &question[copied..]
    }

    /// Says which lines were of no use, unless a text said so already.
    pub(crate) fn unused(&self, said: impl Fn(&str) -> bool) -> Option<String> {
        if self.unused.is_empty() || said(UNUSED) {
            return None;
        }
        let lines: Vec<String> =
            self.unused.iter().take(UNUSED_MAX).map(|it| format!("“{it}”")).collect();
        let rest = match self.unused.len() - lines.len() {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        Some(format!("{UNUSED}{}{rest}.", lines.join(", ")))
    }
}

/// Returns the lines that say something, without the marks of a list.
fn lines(instructions: &str) -> impl Iterator<Item = &str> {
    let texts = instructions.split_once(HEAD).map_or("", |it| it.1);
    let of_user = texts.lines().skip_while(|it| !it.starts_with(MARK));
    let of_user = of_user
        .take_while(|it| it.starts_with(MARK) || it.starts_with("From ") || it.starts_with('('));
    let lines = of_user.filter_map(|it| it.strip_prefix(MARK));
    let lines = lines.map(|it| it.trim().trim_start_matches(['-', '*', '•']).trim());
    lines.filter(|it| !it.is_empty() && !it.starts_with('#'))
}

/// Returns the name that a line gives, as stems, and what it stands for.
fn named(line: &str, tables: &[Table], lexicon: &Lexicon) -> Option<(Vec<String>, String)> {
    let found = MEANS.iter().filter_map(|it| line.find(it).map(|at| (at, *it)));
    let (at, between) = found.min_by_key(|it| it.0)?;
    let (name, meant) = (bare(&line[..at]), bare(&line[at + between.len()..]));
    let words: Vec<Token> = lexicon.words.tokens(name);
    let is_rate = words
        .iter()
        .any(|it| lexicon.phrase(std::slice::from_ref(&it.lower)) == Some(Concept::Share));
    let stems: Vec<String> = words.into_iter().map(|it| it.stem).collect();
    let is_name = (1..=WORDS_MAX).contains(&stems.len());
    // What is a column already needs no name.
    if !is_name || column(name, tables, lexicon).is_some() {
        return None;
    }
    let meant = meaning(meant, tables, lexicon)?;
    // A `churn rate` is no number of rows.
    let is_of_rows = is_rate && meant.starts_with("rows ");
    Some((stems, if is_of_rows { format!("share of {meant}") } else { meant }))
}

/// Returns how a question says what is meant.
fn meaning(meant: &str, tables: &[Table], lexicon: &Lexicon) -> Option<String> {
    if let Some(column) = column(meant, tables, lexicon) {
        return Some(column);
    }
    let rows = ROWS.iter().find_map(|it| meant.strip_prefix(it)).unwrap_or(meant);
    if let Some(table) = tables.iter().find(|it| it.name.eq_ignore_ascii_case(rows)) {
        return Some(quoted(&table.name));
    }
    for (sign, said) in SIGNS {
        let Some((one, other)) = meant.split_once(sign) else { continue };
        let [one, other] = [one, other].map(|it| column(bare(it), tables, lexicon));
        return Some(format!("{} {said} {}", one?, other?));
    }
    for between in [" is ", " are ", "=", ":"] {
        let Some((of, value)) = meant.split_once(between) else { continue };
        let of = column(bare(of), tables, lexicon)?;
        return Some(format!("rows where {of} is {}", value.trim()));
    }
    None
}

/// Returns the column that a text names: by its whole name, or by words that only one has in its name.
fn column(text: &str, tables: &[Table], lexicon: &Lexicon) -> Option<String> {
    let columns = || tables.iter().flat_map(|it| &it.columns);
    let words = lexicon.words.stems(text);
    let whole = columns().find(|it| it.name.eq_ignore_ascii_case(text) || it.words == words);
    let has_all = |it: &&crate::schema::Column| {
        !words.is_empty()
            && words.len() <= it.words.len()
            && words.iter().all(|word| it.words.contains(word))
    };
    let mut parts = columns().filter(has_all);
    let part = parts.next().filter(|_| parts.next().is_none());
    whole.or(part).map(|it| quoted(&it.name))
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// Returns a text without marks and articles around it.
fn bare(text: &str) -> &str {
    let text = text.trim().trim_end_matches('.').trim_matches(['`', '"', '“', '”', '\'']).trim();
    ["the ", "The ", "our ", "an ", "a "]
        .iter()
        .find_map(|it| text.strip_prefix(it))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::Glossary;
    use crate::lexicon::ENGLISH;
    use crate::schema::of_instructions;

    fn glossary(lines: &[&str]) -> Glossary {
        let said: Vec<String> = lines.iter().map(|it| format!("| {it}\n")).collect();
        let instructions = format!(
            "- hr: 9 rows, 4 columns\n  - \"Unit Price\" float64\n  - \"units\" int64\n  - \"Attrition\" string\n  - \
             \"revenue\" int64\n\nWhat the user says about the data, each line after `| `.\n\nFrom \"a.md\":\n{}\n- none: 1 \
             rows, 0 columns\n",
            said.concat()
        );
        Glossary::of(&instructions, &of_instructions(&instructions, &ENGLISH), &ENGLISH)
    }

    #[track_caller]
    fn check(line: &str, question: &str, told: &str) {
        assert_eq!(glossary(&[line]).told(question, &ENGLISH), told);
    }

    #[test]
    fn names_are_read_as_what_they_stand_for() {
        check("turnover means revenue.", "total turnover by month", "total \"revenue\" by month");
        check(
            "- `sales` = Unit Price × units",
            "Sales, top 3",
            "\"Unit Price\" * \"units\", top 3",
        );
        check("margin: revenue / units", "average margin", "average \"revenue\" / \"units\"");
        check("staff: rows of hr", "how many staff?", "how many \"hr\"?");
        check(
            "Leavers: Attrition is Yes",
            "how many leavers",
            "how many rows where \"Attrition\" is Yes",
        );
        check(
            "churn rate = Attrition is Yes",
            "churn rate by units",
            "share of rows where \"Attrition\" is Yes by units",
        );
        check("unit cost is price", "highest unit costs", "highest \"Unit Price\"");
        check("turnover means revenue", "average price", "average price");
    }

    #[test]
    fn what_is_of_no_use_is_said_once() {
        let lines =
            ["# Notes", "Amounts are in EUR", "units: pieces", "x = y", "turnover = revenue", "z"];
        let glossary = glossary(&lines);
        assert_eq!(
            glossary.unused(|_| false).as_deref(),
            Some(
                "I could not use this part of your description of the data: “Amounts are in EUR”, “units: pieces”, “x = y”, and 1 \
                 more."
            )
        );
        assert_eq!(glossary.unused(|_| true), None);
    }
}
