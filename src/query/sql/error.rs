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
        SqlError { message: message.into(), position: None, hint: None }
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

/// Returns the name that is most like `wanted`, when one is near enough.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = wanted.to_lowercase();
    let distance = |name: &str| strsim::osa_distance(&wanted, &name.to_lowercase());
    let (name, found) = names.map(|it| (it, distance(it))).min_by_key(|it| it.1)?;
    let is_near = found <= 1 + wanted.chars().count() / 4
        || name.to_lowercase().contains(&wanted) && 3 <= wanted.len();
    is_near.then_some(name)
}
