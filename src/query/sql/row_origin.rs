//! Which row of a dataset each row of a result comes from.

use crate::plan::{
    Aggregate, AggregateFunction, ColumnId, Expr, JoinKind, OutputColumn, Plan, SortKey, Type,
};

use super::{Prepared, unique};

/// The id before the first column that is added: statements are too short to have as many.
const LAST_ID: u32 = 1 << 31;

/// The column of a result with the places of the rows that its rows come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowOrigin {
    /// The dataset.
    pub table: String,
    /// The last column of the result: a place from 0, or null where the row comes from none.
    pub column: String,
}

impl Prepared {
    /// Adds a column to the result: for each row the place of the row of a dataset that it comes from. Of a join, that
    /// is the row of the left; of a group, the first of its rows.
    ///
    /// The rows are then in the order of these places, unless the statement orders them.
    ///
    /// Returns None, and changes nothing, where rows come from no row of one dataset, such as a total.
    pub fn with_row_origin(&mut self) -> Option<RowOrigin> {
        let mut plan = self.query.plan.clone();
        let mut last_id = LAST_ID;
        let (table, column) = numbered(&mut plan, &mut last_id)?;
        let names: Vec<String> = self.query.output.iter().map(|it| it.name.clone()).collect();
        let name = unique("row", &names);
        if !is_ordered(&plan) {
            // Rows of a join may come from the same row.
            let others = self.query.output.iter().map(|it| it.column);
            let key = |column| SortKey { column, descending: false, nulls_first: false };
            let keys = [column].into_iter().chain(others).map(key).collect();
            plan = Plan::Sort { input: Box::new(plan), keys };
        }
        self.query.output.push(OutputColumn { column, name: name.clone(), dtype: Type::Int });
        self.query.plan = plan;
        Some(RowOrigin { table, column: name })
    }
}

/// Returns whether the rows of a plan have an order.
fn is_ordered(plan: &Plan) -> bool {
    match plan {
        Plan::Sort { .. } => true,
        Plan::Select { input, .. } | Plan::Extend { input, .. } | Plan::Limit { input, .. } => {
            is_ordered(input)
        }
        _ => false,
    }
}

/// Adds the place to the rows of a plan. Returns the dataset and the column.
fn numbered(plan: &mut Plan, last_id: &mut u32) -> Option<(String, ColumnId)> {
    match plan {
        Plan::Scan { table, columns } => {
            let (table, columns, place) = (table.clone(), columns.clone(), next(last_id));
            *plan = Plan::Numbered { table: table.clone(), columns, place };
            Some((table, place))
        }
        Plan::Numbered { table, place, .. } => Some((table.clone(), *place)),
        Plan::Values { .. } => None,
        Plan::Filter { input, .. }
        | Plan::Extend { input, .. }
        | Plan::Windows { input, .. }
        | Plan::Distinct { input, .. }
        | Plan::Sort { input, .. }
        | Plan::Limit { input, .. }
        | Plan::Single { input } => numbered(input, last_id),
        Plan::Select { input, columns } => {
            let (table, place) = numbered(input, last_id)?;
            columns.push((place, Expr::Column(place)));
            Some((table, place))
        }
        Plan::Aggregate { keys, .. } if keys.is_empty() => None,
        Plan::Aggregate { input, aggregates, .. } => {
            let (table, place) = numbered(input, last_id)?;
            let first = next(last_id);
            let places = Aggregate {
                function: AggregateFunction::Minimum,
                arguments: vec![place],
                distinct: false,
                filter: None,
                order: Vec::new(),
            };
            aggregates.push((first, places));
            Some((table, first))
        }
        Plan::Join { left, right, kind, .. } => numbered(left, last_id).or_else(|| {
            let has_right = !matches!(kind, JoinKind::Semi | JoinKind::Anti);
            if has_right { numbered(right, last_id) } else { None }
        }),
        Plan::Union { inputs, columns } => {
            let mut tables = Vec::new();
            for (input, ids) in inputs {
                let (table, place) = numbered(input, last_id)?;
                ids.push(place);
                tables.push(table);
            }
            tables.dedup();
            let [table] = &tables[..] else { return None };
            let place = next(last_id);
            columns.push(place);
            Some((table.clone(), place))
        }
    }
}

fn next(last_id: &mut u32) -> ColumnId {
    *last_id += 1;
    ColumnId(*last_id)
}
