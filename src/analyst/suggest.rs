//! What is said to a question that is not answered: what is not known of it, what it may mean, and questions about this
//! very data that can be answered.

use std::fmt::Write;

use crate::lexicon::Lexicon;
use crate::schema::{Column, Kind, Table};

/// Columns that are named at most.
const NAMES_MAX: usize = 20;
/// Questions that are suggested.
pub(crate) const EXAMPLES_MAX: usize = 3;

/// What is said to a number with a question that is sure.
pub(crate) const ONE_READING: &str = "I am sure what this question means, so it has no readings to pick from. Ask it without `--pick`.";

/// Why a question is not answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Doubt {
    /// These words mean nothing in this data.
    Unknown(Vec<String>),
    /// It may be read in these ways.
    Several(Vec<String>),
    /// The words are known, and do not go together.
    Unread,
    /// It makes two claims, each of which can be judged by itself.
    Two([String; 2]),
    /// The column has no values.
    Empty(String),
    /// The values of the column are kept back.
    KeptBack(String),
    /// The question before, which it takes up, was not understood.
    Lost {
        /// Whether it says enough to be asked by itself.
        is_whole: bool,
    },
}

/// Says what a question may mean.
pub(crate) fn choices(readings: &[String]) -> String {
    let mut text = "This may mean:\n".to_owned();
    for (n, reading) in readings.iter().enumerate() {
        let _ = write!(text, "\n{}. {reading}", n + 1);
    }
    text
}

/// Says why there is no answer, and which questions have one.
pub(crate) fn refusal(doubt: &Doubt, tables: &[Table], examples: &[String]) -> String {
    let mut text = match doubt {
        Doubt::Unknown(words) => {
            let words: Vec<String> = words.iter().map(|it| format!("“{it}”")).collect();
            format!(
                "I do not recognize {} in this data. It has {}.",
                words.join(", "),
                names(tables)
            )
        }
        Doubt::Several(readings) => return choices(readings),
        Doubt::Unread => "I recognize these words but can't tell what to calculate.".to_owned(),
        Doubt::Two(_) => "This claims two things at once. Ask about one at a time.".to_owned(),
        Doubt::Empty(column) => {
            format!("`{column}` has no values, so there is nothing to calculate.")
        }
        Doubt::KeptBack(column) => format!(
            "`--redact` keeps back the values of `{column}`, so I cannot compute with them. I can only count them and \
             group by them."
        ),
        Doubt::Lost { is_whole } => {
            let alone = if *is_whole { ", or use `--fresh` to ask it by itself" } else { "" };
            format!(
                "I did not understand the previous question, so I cannot tell what this one refers to. Ask it in \
                 full{alone}."
            )
        }
    };
    if !examples.is_empty() {
        text += "\n\nI can answer, for example:\n";
    }
    for question in examples {
        let _ = writeln!(text, "- {question}");
    }
    text.trim_end().to_owned()
}

/// Lists the columns that have names in their files, with those of the tables if there are several.
fn names(tables: &[Table]) -> String {
    let is_one = tables.len() < 2;
    let name = |table: &Table, column: &Column| {
        let of = if is_one { String::new() } else { format!("{}.", table.name) };
        format!("`{of}{}`", column.name)
    };
    let named = |table: &Table| {
        let columns = table.columns.iter().filter(|it| !it.is_unnamed);
        columns.map(|it| name(table, it)).collect::<Vec<_>>()
    };
    let all: Vec<String> = tables.iter().flat_map(named).collect();
    match all.len().checked_sub(NAMES_MAX) {
        Some(more) if 0 < more => {
            format!("{} and {more} more columns", all[..NAMES_MAX].join(", "))
        }
        _ => all.join(", "),
    }
}

/// Returns questions about the first table, with its name if there are others, about columns that the question names if
/// there are some. Each is in two ways: with plain names, and with quoted ones.
pub(crate) fn questions(tables: &[Table], said: &[String], lexicon: &Lexicon) -> Vec<[String; 2]> {
    let plain = written(tables, said, lexicon, str::to_owned);
    let quoted = written(tables, said, lexicon, |it| format!("\"{it}\""));
    plain.into_iter().zip(quoted).map(|it| [it.0, it.1]).collect()
}

fn written(
    tables: &[Table],
    said: &[String],
    lexicon: &Lexicon,
    write: impl Fn(&str) -> String,
) -> Vec<String> {
    let Some(table) = tables.first() else { return Vec::new() };
    let find = |suits: &dyn Fn(&Column) -> bool| {
        let of_question = table.columns.iter().filter(|it| said.contains(&it.name));
        of_question.chain(&table.columns).find(|it| suits(it) && !it.is_unnamed && !it.is_kept_back)
    };
    let number = find(&|it| it.kind == Kind::Real && !it.is_key)
        .or_else(|| find(&|it| it.kind == Kind::Whole && !it.is_key && it.unit.is_none()));
    let adds_up = number.is_some_and(|it| lexicon.is_additive(&it.words) == Some(true));
    let number = number.map(|it| write(&it.name));
    let text = find(&|it| it.kind == Kind::Text && !it.is_key && it.values.is_some())
        .or_else(|| find(&|it| it.kind == Kind::Text && !it.is_key))
        .map(|it| write(&it.name));
    let time = find(&|it| it.kind.is_time());
    let of = if 1 < tables.len() { format!(" in {}", write(&table.name)) } else { String::new() };
    let mut questions = Vec::new();
    if let (Some(number), Some(text)) = (&number, &text) {
        questions.push(format!("average {number} by {text}{of}, top 5"));
    }
    if let (Some(number), Some(_)) = (&number, &time) {
        let (combined, word) = if adds_up { ("total ", "total") } else { ("average ", "average") };
        let combined = if number.to_lowercase().contains(word) { "" } else { combined };
        questions.push(format!("{combined}{number} per month{of}"));
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

#[cfg(test)]
mod tests {
    use super::{Doubt, refusal};
    use crate::lexicon::ENGLISH;
    use crate::schema::of_instructions;

    #[test]
    fn columns_of_several_tables_are_named_with_them_and_an_index_is_not_named() {
        let one = "- a: 3 rows, 2 columns\n  - \"column_1\" int64, no name in the file\n  - \"x\" float64\n";
        let other = "- b: 3 rows, 1 column\n  - \"x\" int64\n";
        let told = |text: &str| {
            let tables = of_instructions(text, &ENGLISH);
            refusal(&Doubt::Unknown(vec!["zork".to_owned()]), &tables, &[])
        };
        let (alone, both) = (told(one), told(&format!("{one}{other}")));
        assert!(
            alone.starts_with("I do not recognize “zork” in this data. It has `x`."),
            "{alone}"
        );
        assert!(both.contains("It has `a.x`, `b.x`."), "{both}");
        assert!(!alone.contains("column_1"), "{alone}");
    }
}
