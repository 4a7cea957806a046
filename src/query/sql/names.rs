//! Names of tables that need double quotes.

use csv_agent_types::dataset_names::{is_same, quoted, table_words};
use sqlparser::ast::{SetExpr, Statement, TableFactor};

use crate::TableSchema;

use super::error::SqlError;
use super::parse;

/// Returns a name as a statement writes it: in double quotes, if it needs them.
pub(crate) fn identifier(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { quoted(name) }
}

/// Adds to an error that a statement lacks the quotes of a table's name.
pub(crate) fn explained(error: SqlError, sql: &str, tables: &[TableSchema]) -> SqlError {
    let words = table_words(sql);
    let mut bare = words.iter().filter(|it| !it.is_quoted).map(|it| it.text);
    let named = bare.find_map(|word| tables.iter().find(|it| is_same(&it.name, word)));
    match named.filter(|it| !is_plain(&it.name)) {
        Some(table) => {
            let hint = format!(
                "the name of the table needs double quotes: FROM {}",
                identifier(&table.name)
            );
            error.hint(hint)
        }
        None => error,
    }
}

/// Returns whether a statement may name a table so without quotes.
fn is_plain(name: &str) -> bool {
    // The parser knows its reserved words.
    let Ok(Statement::Query(query)) = parse(&format!("SELECT * FROM {name}")) else { return false };
    let SetExpr::Select(select) = *query.body else { return false };
    match &select.from[..] {
        [only] if only.joins.is_empty() => match &only.relation {
            TableFactor::Table { name: found, alias: None, .. } => found.to_string() == name,
            _ => false,
        },
        _ => false,
    }
}
