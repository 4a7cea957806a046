//! A claim as a rule: the statement whose rows break it, for those who check it again without asking.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::answer::describe;
use crate::query::{Check, Contrast, LogicalForm, Place, Shape};
use crate::schema::Table;
use crate::sql;

/// Decimals of fractions in the rows.
const DECIMALS: u32 = 12;

/// Returns the rule of a query that says whether something holds: its statement, its reading, and the columns that it
/// reads.
pub(crate) fn rule(query: &LogicalForm, tables: &[Table]) -> Option<Value> {
    let statement = sql::statement(query, tables, DECIMALS).sql;
    let sql = match &query.body {
        // One row, which says whether it holds.
        Shape::Check(Check::Number(..)) => unless_it_holds(&statement),
        Shape::Compare(it) if matches!(it.asks, Contrast::Holds(_)) => unless_it_holds(&statement),
        Shape::Check(_) => statement,
        _ => return None,
    };
    let mut places = query.places();
    // How many rows there are says nothing about columns.
    let counts_rows = matches!(&query.body, Shape::Check(Check::Number(..)));
    if places.is_empty() && !counts_rows
        || matches!(&query.body, Shape::Check(Check::Unique(of) | Check::Present(of)) if of.is_empty())
    {
        let table = query.from.table;
        places.extend((0..tables[table].columns.len()).map(|column| Place { table, column }));
    }
    let name = |it: &Place| {
        let table = &tables[it.table];
        format!("{}.{}", table.name, table.columns[it.column].name)
    };
    let columns: BTreeSet<String> = places.iter().map(name).collect();
    Some(json!({"sql": sql, "reading": describe(query, tables), "columns": columns}))
}

fn unless_it_holds(statement: &str) -> String {
    format!("select *\nfrom ({statement})\nwhere not coalesce(holds, false)")
}
