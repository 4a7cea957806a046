//! What an expression may use, and what is found in it.

use std::rc::Rc;

use sqlparser::ast::{Expr as Ast, NamedWindowDefinition};

use crate::plan::{AggregateFunction, ColumnId, Expr, Plan, SortKey, WindowFrame};

use super::scope::{Outer, ScopeColumn};
use super::types::Typed;

/// The part of a statement that an expression is in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Clause {
    #[default]
    Constant,
    /// The condition of a join.
    On,
    /// WHERE.
    Where,
    /// GROUP BY.
    GroupBy,
    /// What follows the grouping: SELECT, HAVING, QUALIFY, ORDER BY.
    Output,
}

/// An aggregate in an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AggregateCall {
    /// What is computed.
    pub function: AggregateFunction,
    pub arguments: Vec<Typed>,
    /// Whether equal arguments count once.
    pub distinct: bool,
    /// The rows that count.
    pub filter: Option<Expr>,
    /// Order of the rows: value, descending, nulls first.
    pub order: Vec<OrderCall>,
}

/// A key of an order that is not a column yet.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OrderCall {
    pub value: Typed,
    /// Whether larger values come first.
    pub descending: bool,
    /// Whether nulls come first.
    pub nulls_first: bool,
}

impl OrderCall {
    pub(crate) fn key(&self, column: ColumnId) -> SortKey {
        SortKey { column, descending: self.descending, nulls_first: self.nulls_first }
    }
}

/// A window function in an expression.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WindowCall {
    /// What is computed.
    pub function: WindowCallFunction,
    /// Equal in the rows of a partition.
    pub partition: Vec<Typed>,
    /// Order of the rows.
    pub order: Vec<OrderCall>,
    /// The rows that count.
    pub frame: WindowFrame,
}

/// What a window function computes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WindowCallFunction {
    /// A function of the position alone, as in the plan.
    Position(crate::plan::WindowFunction),
    /// The value so many rows before, and the default.
    Lag(Typed, i64, Option<Typed>),
    First(Typed),
    Last(Typed),
    Nth(Typed, i64),
    Aggregate(AggregateCall),
}

/// A subquery whose columns are joined to the rows that use it.
#[derive(Debug, Clone)]
pub(crate) struct Attachment {
    /// Its rows: one row, or at most one for each combination of keys.
    pub plan: Plan,
    /// Values of the rows, and the columns of the subquery that equal them; none for one row.
    pub keys: Vec<(Typed, ColumnId)>,
    /// The columns that stand for columns from outside in the plan.
    pub outer: Vec<(ColumnId, ColumnId)>,
    /// Whether a null key finds a null.
    pub nulls_equal: bool,
}

/// A name of SELECT that other clauses may use.
#[derive(Debug, Clone)]
pub(crate) struct Alias {
    pub name: String,
    /// What it stands for.
    pub expr: Rc<Ast>,
}

/// What an expression may use.
#[derive(Debug, Default)]
pub(crate) struct Env {
    pub scope: Rc<[ScopeColumn]>,
    /// The columns around a subquery.
    pub outer: Option<Rc<Outer>>,
    /// Where the expression is.
    pub clause: Clause,
    /// Names of SELECT.
    pub aliases: Vec<Alias>,
    /// Whether they go before columns.
    pub prefers_aliases: bool,
    pub windows_named: Vec<NamedWindowDefinition>,
    /// Aggregates that were found, and the columns that stand for them.
    pub aggregates: Vec<(ColumnId, AggregateCall)>,
    /// Window functions that were found.
    pub windows: Vec<(ColumnId, WindowCall)>,
    /// Subqueries that are joined before the rows are grouped.
    pub before: Vec<Attachment>,
    /// Subqueries that are joined after that.
    pub after: Vec<Attachment>,
    /// Whether the expression is in an aggregate.
    pub in_aggregate: bool,
    /// Whether the expression is in a window function.
    pub in_window: bool,
}

impl Env {
    pub(crate) fn new(scope: Rc<[ScopeColumn]>, outer: Option<Rc<Outer>>, clause: Clause) -> Env {
        Env { scope, outer, clause, ..Env::default() }
    }

    /// Returns the environment of a constant.
    pub(crate) fn constant() -> Env {
        Env::new(Rc::from([]), None, Clause::Constant)
    }

    /// Adds a subquery where its columns are needed.
    pub(crate) fn attach(&mut self, attachment: Attachment) {
        if self.clause == Clause::Output && !self.in_aggregate {
            self.after.push(attachment);
        } else {
            self.before.push(attachment);
        }
    }
}
