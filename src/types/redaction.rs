//! Redaction: the data that the user withholds, as values of columns or all rows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::dataset_names::meant;

/// The data that must not leave the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Redaction {
    /// Columns, as the user names them: `email`, or `customers.email` for that of one dataset.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub columns: BTreeSet<String>,
    /// The values of rows; aggregates over many rows may leave.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rows: bool,
}

impl Redaction {
    /// Returns whether everything may leave.
    pub fn is_nothing(&self) -> bool {
        self.columns.is_empty() && !self.rows
    }

    /// Returns whether the values of a column are withheld. A dataset may have its short form, and the name that an
    /// older version gave it: a name that means too much withholds too much, and nothing else.
    pub fn has(&self, dataset: &str, column: &str) -> bool {
        let is_of_dataset = |named: &String| {
            let before = named.strip_suffix(column).and_then(|it| it.strip_suffix('.'));
            let older = before.and_then(|it| it.strip_prefix("t_"));
            before.into_iter().chain(older).any(|it| !meant(it, [dataset].into_iter()).is_empty())
        };
        self.columns.contains(column) || self.columns.iter().any(is_of_dataset)
    }

    /// Returns whether items from a turn with this redaction may be repeated in one with `other`.
    pub fn covers(&self, other: &Redaction) -> bool {
        self.columns.is_superset(&other.columns) && (self.rows || !other.rows)
    }

    /// Returns what both withhold.
    #[must_use]
    pub fn common(&self, other: &Redaction) -> Redaction {
        let columns = self.columns.intersection(&other.columns).cloned().collect();
        Redaction { columns, rows: self.rows && other.rows }
    }
}

#[cfg(test)]
mod tests {
    use super::Redaction;

    fn withheld(columns: &[&str], rows: bool) -> Redaction {
        Redaction { columns: columns.iter().map(|&it| it.to_owned()).collect(), rows }
    }

    #[test]
    fn what_kept_back_more_may_be_said_again() {
        let (none, email) = (withheld(&[], false), withheld(&["email"], false));
        let both = withheld(&["email", "a.phone"], true);
        assert!(both.covers(&email) && email.covers(&none) && none.covers(&none));
        assert!(!none.covers(&email) && !email.covers(&both));
        assert_eq!(both.common(&email), email);
        assert!(both.has("a", "phone") && both.has("b", "email") && !both.has("b", "phone"));
        // Files of settings keep the names that older versions gave.
        let older = withheld(&["sales_2024.e.mail", "t_066_ibm_hr.age"], false);
        assert!(older.has("Sales-2024", "e.mail") && older.has("066_IBM_HR", "age"));
        assert!(!older.has("sales_2025", "e.mail") && !older.has("066_IBM_HR", "e.mail"));
    }
}
