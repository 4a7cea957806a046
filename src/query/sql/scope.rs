//! The columns that names refer to.

use std::cell::RefCell;
use std::rc::Rc;

use sqlparser::ast::Ident;

use csv_agent_types::dataset_names::nearest;

use crate::plan::ColumnId;

use super::error::{Result, SqlError};
use super::names::identifier;

/// Names in a hint.
const NAMES_MAX: usize = 12;

/// A column of the relations in FROM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScopeColumn {
    /// The alias or the name of its table, if it has one.
    pub qualifier: Option<String>,
    pub name: String,
    pub id: ColumnId,
    /// Whether `*` and a bare name leave it out: USING has merged it with another one.
    pub is_merged: bool,
}

/// The columns of a statement around a subquery.
#[derive(Debug)]
pub(crate) struct Outer {
    pub scope: Rc<[ScopeColumn]>,
    /// Those that the subquery uses, and the columns that stand for them in it.
    pub keys: RefCell<Vec<(ColumnId, ColumnId)>>,
}

/// Returns whether two names are the same: letters of either case are.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// Finds the column of a name, `a` or `t.a`. `None` when there is none. Fails when several columns have the
/// name.
pub(crate) fn find(
    scope: &[ScopeColumn],
    qualifier: Option<&Ident>,
    name: &Ident,
) -> Result<Option<ColumnId>> {
    let is_of_table = |it: &&ScopeColumn| match (qualifier, &it.qualifier) {
        (None, _) => !it.is_merged,
        (Some(wanted), Some(found)) => is_same(&wanted.value, found),
        (Some(_), None) => false,
    };
    let named = scope.iter().filter(is_of_table).filter(|it| is_same(&it.name, &name.value));
    let named: Vec<&ScopeColumn> = named.collect();
    // `Total` and `total` may be two columns: then the exact name decides.
    let exact: Vec<_> = named.iter().copied().filter(|it| it.name == name.value).collect();
    let found = if 1 < named.len() && !exact.is_empty() { exact } else { named };
    match &found[..] {
        [] => Ok(None),
        [column] => Ok(Some(column.id)),
        [first, rest @ ..] if rest.iter().all(|it| it.id == first.id) => Ok(Some(first.id)),
        several => {
            let message = format!("`{}` is ambiguous", name.value);
            let choices: Vec<String> = several.iter().map(|it| full_name(it)).collect();
            let hint = format!("name its table: {}", choices.join(" or "));
            Err(SqlError::new(message).at_name(name).hint(hint))
        }
    }
}

/// Returns the hint for a name that has to be in quotes, since it contains points: `yrs.since.phd`.
pub(crate) fn hint_of_points(scope: &[ScopeColumn], parts: &[Ident]) -> Option<String> {
    let whole = parts.iter().map(|it| it.value.as_str()).collect::<Vec<_>>().join(".");
    let column = scope.iter().find(|it| is_same(&it.name, &whole))?;
    Some(format!("write {}: a name with dots needs quotes", identifier(&column.name)))
}

/// Returns the error for a name that no column has.
pub(crate) fn unknown(scope: &[ScopeColumn], qualifier: Option<&Ident>, name: &Ident) -> SqlError {
    let of_table: Vec<&ScopeColumn> = scope
        .iter()
        .filter(|it| match (qualifier, &it.qualifier) {
            (Some(wanted), Some(found)) => is_same(&wanted.value, found),
            (Some(_), None) => false,
            (None, _) => true,
        })
        .collect();
    if let Some(qualifier) = qualifier
        && of_table.is_empty()
    {
        let mut tables: Vec<&str> = scope.iter().filter_map(|it| it.qualifier.as_deref()).collect();
        tables.dedup();
        let message = format!("no table `{}` in FROM", qualifier.value);
        return SqlError::unknown_name(message)
            .at_name(qualifier)
            .hint(format!("the tables are {}", listed(tables.into_iter())));
    }
    let shown = match qualifier {
        Some(qualifier) => format!("{}.{}", qualifier.value, name.value),
        None => name.value.clone(),
    };
    let mut message = format!("no column `{shown}`");
    if name.quote_style == Some('"') {
        message += "; text is in single quotes";
    }
    let names: Vec<String> = of_table.iter().map(|it| identifier(&it.name)).collect();
    let near = nearest(&name.value, of_table.iter().map(|it| it.name.as_str()));
    let near =
        near.map_or("the".to_owned(), |it| format!("did you mean `{}`? The", identifier(it)));
    let names = listed(names.iter().map(String::as_str));
    SqlError::unknown_name(message).at_name(name).hint(format!("{near} columns are {names}"))
}

/// Lists names for a hint, of which some are left out.
pub(crate) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    let mut text = names.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join(", ");
    if NAMES_MAX < names.len() {
        text = format!("{text} and {} more", names.len() - NAMES_MAX);
    }
    text
}

/// Returns the name with its table.
pub(crate) fn full_name(column: &ScopeColumn) -> String {
    match &column.qualifier {
        Some(qualifier) => format!("`{}.{}`", identifier(qualifier), identifier(&column.name)),
        None => format!("`{}`", column.name),
    }
}
