//! Why a statement is refused, and where.

use std::fmt;

use sqlparser::ast::{Ident, Spanned};
use sqlparser::tokenizer::Location;

/// Why a statement is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError {
    /// What was wanted and what was found.
    pub message: String,
    /// Line and column of the statement, both from 1.
    pub position: Option<(u64, u64)>,
    /// What to do.
    pub hint: Option<String>,
    /// Whether the statement has a name of nothing: of no table, column, function or window.
    pub is_unknown_name: bool,
}

pub(crate) type Result<T> = std::result::Result<T, SqlError>;

impl fmt::Display for SqlError {
    /// Writes the message and its place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.position {
            None => Ok(()),
            Some((line, column)) => write!(f, " (line {line}, column {column})"),
        }
    }
}

impl std::error::Error for SqlError {}

impl SqlError {
    /// Makes an error without a position.
    pub(crate) fn new(message: impl Into<String>) -> SqlError {
        SqlError { message: message.into(), position: None, hint: None, is_unknown_name: false }
    }

    /// Makes an error about a name of nothing.
    pub(crate) fn unknown_name(message: impl Into<String>) -> SqlError {
        SqlError { is_unknown_name: true, ..SqlError::new(message) }
    }

    /// Adds the position of a part of the statement, unless there is a more precise one.
    pub(crate) fn at(mut self, part: &impl Spanned) -> SqlError {
        self.position = self.position.or_else(|| place(part.span().start));
        self
    }

    /// Adds the position of a name.
    pub(crate) fn at_name(mut self, name: &Ident) -> SqlError {
        self.position = self.position.or_else(|| place(name.span.start));
        self
    }

    /// Adds what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> SqlError {
        self.hint = Some(hint.into());
        self
    }
}

fn place(start: Location) -> Option<(u64, u64)> {
    (0 < start.line && 0 < start.column).then_some((start.line, start.column))
}
