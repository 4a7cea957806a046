//! Columns without values: nothing shows their type, so that they fit any.

use crate::plan::{ColumnId, Expr, Plan, Scalar, Type};

use super::{Prepared, SqlError, TableSchema, prepare};

/// The id before the first column that is added; those of row origins come after.
const LAST_ID: u32 = 1 << 30;

/// Makes a plan of a statement as [`prepare`] does. If it is refused, the columns for which `is_empty` is true, by
/// dataset and name, are NULL in each row, of whatever type the statement needs.
///
/// # Errors
///
/// Fails as [`prepare`] does.
pub fn prepare_with_empty_columns(
    sql: &str,
    tables: &[TableSchema],
    is_empty: impl Fn(&str, &str) -> bool,
    now: i64,
) -> Result<Prepared, SqlError> {
    let refused = match prepare(sql, tables, now) {
        Ok(prepared) => return Ok(prepared),
        Err(refused) => refused,
    };
    let mut open = tables.to_vec();
    for TableSchema { name, columns } in &mut open {
        let empty = columns.iter_mut().filter(|it| is_empty(name, &it.0));
        empty.for_each(|it| it.1 = Type::Null);
    }
    let Ok(mut prepared) = prepare(sql, &open, now) else { return Err(refused) };
    let mut last_id = LAST_ID;
    without_values(&mut prepared.query.plan, &is_empty, &mut last_id);
    Ok(prepared)
}

/// Replaces empty columns by NULL, of which it is known that it fits.
fn without_values(plan: &mut Plan, is_empty: &dyn Fn(&str, &str) -> bool, last_id: &mut u32) {
    if let Plan::Scan { table, columns } = plan {
        let mut nulls = Vec::new();
        for (_, id) in columns.iter_mut().filter(|it| is_empty(table, &it.0)) {
            *last_id += 1;
            nulls.push((std::mem::replace(id, ColumnId(*last_id)), Expr::Literal(Scalar::Null)));
        }
        if !nulls.is_empty() {
            *plan = Plan::Extend { input: Box::new(plan.clone()), columns: nulls };
        }
        return;
    }
    plan.inputs_mut().into_iter().for_each(|it| without_values(it, is_empty, last_id));
}

#[cfg(test)]
mod tests {
    use super::prepare_with_empty_columns;
    use crate::TableSchema;
    use crate::plan::Type;

    #[track_caller]
    fn check(sql: &str, is_fine: bool) {
        let columns = [("total", Type::Text), ("name", Type::Text), ("n", Type::Int)];
        let columns = columns.map(|it| (it.0.to_owned(), it.1)).to_vec();
        let table = TableSchema { name: "e".to_owned(), columns };
        let is_empty = |_: &str, column: &str| column == "total";
        let prepared = prepare_with_empty_columns(sql, &[table], is_empty, 0);
        assert_eq!(prepared.is_ok(), is_fine, "{sql}: {prepared:?}");
    }

    #[test]
    fn a_column_without_values_fits_any_type() {
        check("select * from e where total < 0", true);
        check("select sum(total) as s from e having sum(total) < 1", true);
        check("select * from e where total > date '2024-01-01' and name = 'x'", true);
        check("select * from e where name < 0", false);
        check("select * from e where amount < 0", false);
    }
}
