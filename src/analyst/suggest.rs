//! What is said to a question that was not understood: what could not be placed, and questions about this
//! very data that can be answered.

use std::collections::HashSet;
use std::fmt::Write;

use super::WORDS_MAX;
use super::lexicon::Lexicon;
use super::parse::Doubt;
use super::schema::{Column, Kind, Table};

/// Columns that are named at most.
const NAMES_MAX: usize = 20;

/// Questions that are suggested.
const EXAMPLES: usize = 3;

/// Says why there is no answer and what to ask instead.
pub(crate) fn refusal(
    doubt: &Doubt,
    nearest: Option<&str>,
    tables: &[Table],
    lexicon: &Lexicon,
    can_read: &dyn Fn(&str) -> bool,
) -> String {
    let mut text = match doubt {
        Doubt::Unplaced(words) => {
            let words: Vec<String> = words.iter().map(|it| format!("“{it}”")).collect();
            let names = names(tables);
            format!("I do not recognise {} in this data. It has {names}.", words.join(", "))
        }
        Doubt::Ambiguous(word, of) => {
            let of: Vec<String> = of.iter().map(|it| format!("`{it}`")).collect();
            format!("“{word}” may mean {}: ask with one of these names.", of.join(" or "))
        }
        Doubt::Unasked => "I recognise these words but can't tell what to calculate.".to_owned(),
        Doubt::Empty(column) => {
            format!("`{column}` has no values, so there is nothing to calculate.")
        }
        Doubt::Lost => {
            "I did not understand the previous question, so I cannot tell what this one refers to. Ask \
             it in full."
                .to_owned()
        }
        Doubt::Two(_) => "This claims two things at once. Ask about one at a time.".to_owned(),
        Doubt::Long(n) => format!(
            "The question has {n} words, but I read at most {WORDS_MAX}. Ask for one thing at a time."
        ),
    };
    text += "\n\nI can answer, for example:\n";
    // A name that is a word of the language, or a number, is understood in quotes.
    let plain = questions(tables, lexicon, str::to_owned);
    let quoted = questions(tables, lexicon, |it| format!("\"{it}\""));
    let mut examples = Vec::new();
    if let Doubt::Two(claims) = doubt {
        examples.extend(claims.iter().cloned());
    }
    if let Doubt::Ambiguous(question, of) = doubt {
        let asked = of.iter().map(|it| in_table(question, it));
        examples.extend(asked.filter(|it| can_read(it)));
    }
    for both in plain.into_iter().zip(quoted) {
        examples.extend([both.0, both.1].into_iter().find(|it| can_read(it)));
    }
    let mut said = HashSet::new();
    examples.retain(|it| said.insert(it.clone()));
    for question in nearest.into_iter().chain(examples.iter().map(String::as_str)).take(EXAMPLES) {
        let _ = writeln!(text, "- {question}");
    }
    text.trim_end().to_owned()
}

fn names(tables: &[Table]) -> String {
    let all: Vec<String> = tables
        .iter()
        .flat_map(|it| it.columns.iter().map(|column| format!("`{}`", column.name)))
        .collect();
    match all.len().checked_sub(NAMES_MAX) {
        Some(more) if 0 < more => {
            format!("{} and {more} more columns", all[..NAMES_MAX].join(", "))
        }
        _ => all.join(", "),
    }
}

/// Returns a question about one of several tables.
fn in_table(question: &str, table: &str) -> String {
    let (text, end) = question.strip_suffix('?').map_or((question, ""), |it| (it, "?"));
    format!("{text} in {table}{end}")
}

/// Returns questions about the first table, with its name if there are others.
fn questions(tables: &[Table], lexicon: &Lexicon, write: impl Fn(&str) -> String) -> Vec<String> {
    let Some(table) = tables.first() else { return Vec::new() };
    let is_key =
        |it: &Column| it.words.iter().any(|word| word == "id" || lexicon.are_synonyms(word, "id"));
    let find = |suits: &dyn Fn(&Column) -> bool| {
        let mut columns = table.columns.iter().filter(|it| suits(it));
        columns.next().map(|it| write(&it.name))
    };
    let number = find(&|it| it.kind == Kind::Real)
        .or_else(|| find(&|it| it.kind == Kind::Whole && !is_key(it)));
    let text = find(&|it| it.kind == Kind::Text && !is_key(it));
    let time = find(&|it| it.kind.is_time());
    let of = if 1 < tables.len() { format!(" in {}", write(&table.name)) } else { String::new() };
    let mut questions = Vec::new();
    if let (Some(number), Some(text)) = (&number, &text) {
        questions.push(format!("average {number} by {text}{of}, top 5"));
    }
    if let (Some(number), Some(_)) = (&number, &time) {
        questions.push(format!("total {number} per month{of}"));
    }
    if let Some(text) = &text {
        questions.push(format!("how many rows per {text}{of}?"));
    }
    if let Some(number) = &number {
        questions.push(format!("distribution of {number}{of}"));
    }
    questions.push(format!("are there duplicate rows{of}?"));
    questions.push(format!("how many missing values are in each column{of}?"));
    questions.push(format!("show the first 5 rows{of}"));
    questions
}
