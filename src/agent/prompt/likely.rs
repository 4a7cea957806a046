//! Estimates how likely a question is about some data, by its words.

use std::collections::BTreeSet;

use csv_agent_types::catalog::Dataset;
use csv_agent_types::dataset_names::words;

/// Minimum letters of a word that counts.
const WORD_CHARS_MIN: usize = 3;
/// Minimum letters of a word that may be the stem of another: `sale` and `sales`.
const STEM_CHARS_MIN: usize = 4;
/// Weights of words in a name, in a column's name, and in descriptions of columns or the file.
const WEIGHTS: [u64; 3] = [3, 2, 1];

pub(super) struct QuestionWords(BTreeSet<String>);

impl QuestionWords {
    /// Splits a question into words.
    pub(super) fn of(question: &str) -> QuestionWords {
        let words = words(question).into_iter().filter(|it| WORD_CHARS_MIN <= it.chars().count());
        QuestionWords(words.filter(|it| !COMMON.contains(&it.as_str())).collect())
    }

    /// Returns how strongly the question concerns a dataset of this name; 0 for not at all.
    pub(super) fn score(&self, name: &str, dataset: &Dataset) -> u64 {
        let columns = dataset.columns.iter();
        let said = columns.clone().filter_map(|it| it.description.as_deref());
        let texts: [Vec<&str>; 3] = [
            vec![name],
            columns.map(|it| it.name.as_str()).collect(),
            said.chain(dataset.notes.iter().map(String::as_str)).collect(),
        ];
        let known = texts.map(|it| it.into_iter().flat_map(words).collect::<BTreeSet<_>>());
        let of_word = |word: &String| {
            let place = known.iter().position(|it| it.iter().any(|other| is_same(word, other)));
            place.map_or(0, |it| WEIGHTS[it])
        };
        self.0.iter().map(of_word).sum()
    }
}

/// Common words of questions, without a bearing on the data.
const COMMON: [&str; 24] = [
    "all", "and", "are", "average", "count", "does", "each", "for", "from", "has", "have", "how",
    "many", "most", "much", "number", "rows", "than", "that", "the", "total", "what", "which",
    "with",
];

fn is_same(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || (STEM_CHARS_MIN <= short.chars().count() && long.starts_with(short))
}

#[cfg(test)]
mod tests {
    use super::QuestionWords;
    use crate::prompt::tests::dataset;

    #[test]
    fn names_count_more_than_columns_and_these_more_than_notes() {
        let mut sales = dataset(1);
        sales.columns[0].name = "Revenue (EUR)".to_owned();
        sales.columns[0].description = Some("net of taxes".to_owned());
        let score = |question: &str| QuestionWords::of(question).score("sales_2024", &sales);
        assert_eq!(score("How many sales?"), 3);
        assert_eq!(score("Which REVENUE per sale, with tax?"), 5);
        assert_eq!(score("the revenue with taxes"), 3);
        assert_eq!(score("How many rows are there?"), 0);
    }
}
