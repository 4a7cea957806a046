//! Checks: whether what is claimed holds, in a sentence and as a gate reads it.

use serde_json::{Value as Json, json};

use super::Answer;
use super::figure::capital;
use crate::query::{Check, Contrast, Shape};

/// Words that open a question for yes or no.
const OPENERS: &[&str] = &[
    "is", "are", "was", "were", "does", "do", "did", "has", "have", "had", "can", "could", "any",
    "isn't", "aren't",
];
/// Words of a question that claims that something is in order.
const CLAIMS: &[&str] = &[
    "no", "none", "never", "all", "every", "each", "unique", "distinct", "different", "complete",
    "filled", "free", "without", "nobody", "nothing", "always",
];
/// Words of a question for what is out of order, whatever else it has.
const DOUBTS: &[&str] = &[
    "missing", "empty", "blank", "blanks", "null", "nulls", "gaps", "duplicate", "duplicates",
    "duplicated", "repeated", "any", "some", "outlier", "outliers", "twice",
];
/// Words that turn a doubt into a claim.
const DENIALS: &[&str] = &["no", "none", "never", "free", "without", "nothing"];

impl Answer<'_> {
    /// Returns whether a check holds, and a sentence on it; nothing if the question is none.
    pub(crate) fn judgement(&self) -> Option<(bool, String)> {
        match &self.query.body {
            Shape::Check(check) => Some((self.holds(check), capital(&self.judged(check)))),
            Shape::Compare(comparison) => {
                let Contrast::Holds(op) = comparison.asks else { return None };
                let row = self.result.head.first()?;
                let holds = row[self.statement.measures[0].as_str()] == true;
                let text = self.ahead() + &self.compared(comparison, op, holds, row);
                Some((holds, capital(&text)))
            }
            _ => None,
        }
    }

    /// Returns whether rows are worth naming: the check found some.
    pub(crate) fn has_found_rows(&self) -> bool {
        matches!(self.query.body, Shape::Check(_)) && self.judgement().is_some_and(|it| !it.0)
    }

    /// Returns the answer with its verdict, in the form that a gate reads.
    pub(crate) fn document(&self, text: &str, rows: &[u64], table: Option<&str>) -> Json {
        let (assessment, findings) = match self.judgement() {
            None => (Json::Null, Vec::new()),
            Some((true, _)) => (json!("good"), Vec::new()),
            Some((false, message)) => {
                let finding = json!({
                    "severity": "bad", "message": message, "dataset": self.table().name,
                    "column": self.checked_column(), "rows": rows, "table": table,
                });
                (json!("bad"), vec![finding])
            }
        };
        json!({"text": text, "findings": findings, "assessment": assessment})
    }

    /// Says whether a check holds: yes or no first, if the question asked so.
    pub(super) fn checked(&self, check: &Check) -> String {
        let holds = self.holds(check);
        let asks_for_good = match check {
            Check::All(_) | Check::Number(..) | Check::Groups(..) | Check::Refers(_) => Some(true),
            _ => asks_for_good(self.question),
        };
        let text = self.judged(check);
        match asks_for_good {
            Some(good) => format!("{}: {text}", if good == holds { "Yes" } else { "No" }),
            None => text,
        }
    }

    pub(super) fn holds(&self, check: &Check) -> bool {
        match check {
            Check::Number(..) => self.result.head.first().is_some_and(|it| it["holds"] == true),
            _ => self.result.n_rows == 0,
        }
    }

    fn checked_column(&self) -> Option<String> {
        let place = match &self.query.body {
            Shape::Compare(comparison) => comparison.measure.places().first().copied(),
            Shape::Check(check) => match check {
                Check::None(tests) | Check::All(tests) => tests.last()?.places().first().copied(),
                Check::Unique(places)
                | Check::Present(places)
                | Check::Varies(places)
                | Check::Inliers(places) => places.first().copied(),
                Check::Number(measure, ..) => measure.places().first().copied(),
                Check::Groups(groups, ..) => groups.measures.first()?.places().first().copied(),
                Check::Refers(join) => Some(join.left),
            },
            _ => None,
        };
        place.map(|it| self.plain().column(it).name.clone())
    }
}

/// Returns whether yes means that all is in order; nothing if the question neither asks for yes or no nor claims
/// something.
fn asks_for_good(question: &str) -> Option<bool> {
    let lower = question.to_lowercase();
    let words: Vec<&str> = lower
        .split(|it: char| !it.is_alphanumeric() && it != '\'')
        .filter(|it| !it.is_empty())
        .collect();
    let has = |list: &[&str]| words.iter().any(|it| list.contains(it));
    let claims = if has(DOUBTS) { has(DENIALS) } else { has(CLAIMS) };
    let asks = words.first().is_some_and(|it| OPENERS.contains(it));
    (asks || claims).then_some(claims)
}

#[cfg(test)]
mod tests {
    use super::asks_for_good;

    #[test]
    fn yes_means_what_was_asked() {
        for (question, good) in [
            ("Is any body mass over 6000?", Some(false)),
            ("are there duplicates?", Some(false)),
            ("are there no duplicates?", Some(true)),
            ("is the id unique", Some(true)),
            ("Is every sex filled in?", Some(true)),
            ("does anything repeat", Some(false)),
            ("are all values missing", Some(false)),
            ("is the table free of missing values", Some(true)),
            ("no amount below 0", Some(true)),
            ("find the rows below 0", None),
            ("check for outliers", None),
        ] {
            assert_eq!(asks_for_good(question), good, "{question}");
        }
    }
}
