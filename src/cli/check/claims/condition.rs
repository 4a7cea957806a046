//! A condition of a row, as SQL and in words.

use std::collections::BTreeSet;

use csv_agent_text::sql::identifier;

/// A condition, which is unknown where a value that it needs is missing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowCondition {
    /// In parentheses where it is more than a comparison.
    pub sql: String,
    pub words: String,
    pub columns: BTreeSet<String>,
    /// Whether it is about other rows as well, as `unique` is.
    pub is_window: bool,
    /// Whether it is that a value is missing or present.
    pub is_presence: bool,
    /// What is so in a row that breaks it, where that is said more plainly than with `not`.
    pub broken: Option<String>,
}

impl RowCondition {
    pub(super) fn of(column: &str, sql: String, words: String) -> RowCondition {
        let columns = BTreeSet::from([column.to_owned()]);
        RowCondition::of_columns(columns, sql, words)
    }

    pub(super) fn of_columns(
        columns: BTreeSet<String>,
        sql: String,
        words: String,
    ) -> RowCondition {
        RowCondition { sql, words, columns, is_window: false, is_presence: false, broken: None }
    }

    pub(super) fn of_presence(column: &str, is_present: bool) -> RowCondition {
        let (sql, word) =
            if is_present { ("is not null", "present") } else { ("is null", "missing") };
        let sql = format!("{} {sql}", identifier(column));
        let found = RowCondition::of(column, sql, format!("`{column}` is {word}"));
        RowCondition { is_presence: true, ..found }
    }

    pub(super) fn not(self) -> RowCondition {
        if self.is_presence
            && let Some(column) = self.columns.first()
        {
            return RowCondition::of_presence(column, self.sql.ends_with(" is null"));
        }
        RowCondition {
            sql: format!("not ({})", self.sql),
            words: format!("not ({})", self.words),
            broken: Some(self.sql),
            ..self
        }
    }

    /// Returns what is so in a row that breaks it, as SQL.
    pub(super) fn broken(&self) -> String {
        self.broken.clone().unwrap_or_else(|| format!("not ({})", self.sql))
    }

    /// Joins conditions with `and` or `or`.
    pub(super) fn joined(parts: Vec<RowCondition>, word: &str) -> Option<RowCondition> {
        let between = format!(" {word} ");
        let in_parentheses = |it: &RowCondition| format!("({})", it.sql);
        let mut parts = parts.into_iter();
        let (first, rest) = (parts.next()?, parts.as_slice());
        if rest.is_empty() {
            return Some(first);
        }
        let all = || std::iter::once(&first).chain(rest);
        Some(RowCondition {
            sql: all().map(in_parentheses).collect::<Vec<_>>().join(&between),
            words: all().map(|it| it.words.clone()).collect::<Vec<_>>().join(&between),
            columns: all().flat_map(|it| it.columns.clone()).collect(),
            is_window: all().any(|it| it.is_window),
            is_presence: false,
            broken: None,
        })
    }

    /// Returns the condition that both are true, or none of them. Returns None if one of them is about other rows.
    pub(super) fn equals(self, other: RowCondition) -> Option<RowCondition> {
        (!self.is_window && !other.is_window).then(|| RowCondition {
            sql: format!("({}) = ({})", self.sql, other.sql),
            words: format!("{} if and only if {}", self.words, other.words),
            columns: self.columns.into_iter().chain(other.columns).collect(),
            is_window: false,
            is_presence: false,
            broken: None,
        })
    }

    /// Returns the condition that the second is true wherever the first is. Returns None if one of them is about other
    /// rows, because these may be all rows or some.
    pub(super) fn implies(self, then: RowCondition) -> Option<RowCondition> {
        let is_window = self.is_window || then.is_window;
        (!is_window).then(|| RowCondition {
            sql: format!("not ({}) or ({})", self.sql, then.sql),
            words: format!("if {}, then {}", self.words, then.words),
            columns: self.columns.into_iter().chain(then.columns).collect(),
            is_window,
            is_presence: false,
            broken: Some(format!("({}) and not ({})", self.sql, then.sql)),
        })
    }
}
