//! Subqueries in expressions.
//!
//! The rows of a subquery are joined to the rows that use it. A subquery that uses columns from outside is
//! computed once for each combination of their values: in its plan a scan of [`OUTER`] stands for those
//! combinations, and is replaced when the subquery is attached.

use std::rc::Rc;

use sqlparser::ast::{BinaryOperator, Expr as Ast, Query as AstQuery};

use crate::plan::{
    Aggregate, AggregateFunction, ColumnId, Expr, Function, JoinKind, Plan, Scalar, Type,
};

use super::binder::{Binder, Bound, RowRange, distinct};
use super::env::{Attachment, Env};
use super::error::{Result, SqlError};
use super::expressions::not;
use super::from::{cross, extend};
use super::types::{self, Typed, agree, call};

/// The table that stands for the values from outside; no dataset has such a name.
pub(crate) const OUTER: &str = "\0outer";

/// A bound subquery with what it uses from outside.
struct Subquery {
    bound: Bound,
    /// Columns outside, and the columns that stand for them.
    keys: Vec<(ColumnId, ColumnId)>,
}

impl Binder<'_> {
    fn subquery(&mut self, query: &AstQuery, env: &Env) -> Result<Subquery> {
        let outer = Binder::outer_of(env);
        let bound = self.query(query, Some(&outer))?;
        let keys = Rc::try_unwrap(outer).map(|it| it.keys.into_inner()).unwrap_or_default();
        Ok(Subquery { bound, keys })
    }

    /// Binds a subquery in place of a value. Fails when it has more than one column.
    pub(crate) fn scalar_subquery(&mut self, query: &AstQuery, env: &mut Env) -> Result<Typed> {
        let subquery = self.subquery(query, env)?;
        let [(_, id)] = subquery.bound.output[..] else {
            let n = subquery.bound.output.len();
            let message = format!("a subquery in place of a value has one column, not {n}");
            return Err(SqlError::new(message));
        };
        let dtype = self.type_of(id);
        let value = self.column(dtype);
        if subquery.keys.is_empty() {
            let single = Plan::Single {
                input: Box::new(Plan::Select {
                    input: Box::new(subquery.bound.plan),
                    columns: vec![(value, Expr::Column(id))],
                }),
            };
            env.attach(Attachment {
                plan: single,
                keys: Vec::new(),
                outer: Vec::new(),
                nulls_equal: true,
            });
            return Ok(Typed::new(Expr::Column(value), dtype));
        }
        let inner: Vec<ColumnId> = subquery.keys.iter().map(|it| it.1).collect();
        let only = Aggregate {
            function: AggregateFunction::Only,
            arguments: vec![id],
            distinct: false,
            filter: None,
            order: Vec::new(),
        };
        let plan = Plan::Aggregate {
            input: Box::new(subquery.bound.plan),
            keys: inner,
            aggregates: vec![(value, only)],
        };
        self.attach_correlated(plan, subquery.keys, env);
        Ok(Typed::new(Expr::Column(value), dtype))
    }

    fn attach_correlated(&mut self, plan: Plan, outer: Vec<(ColumnId, ColumnId)>, env: &mut Env) {
        let keys = outer.iter().map(|(out, inner)| (self.value(*out), *inner)).collect();
        env.attach(Attachment { plan, keys, outer, nulls_equal: true });
    }

    /// Binds EXISTS.
    pub(crate) fn exists(
        &mut self,
        query: &AstQuery,
        negated: bool,
        env: &mut Env,
    ) -> Result<Typed> {
        let subquery = self.subquery(query, env)?;
        let found = self.found(subquery, env);
        Ok(if negated { not(found) } else { found })
    }

    /// Returns whether a subquery has rows.
    fn found(&mut self, subquery: Subquery, env: &mut Env) -> Typed {
        if subquery.keys.is_empty() {
            let count = self.column(Type::Int);
            let one = RowRange { offset: 0, count: Some(1) }.apply(subquery.bound.plan);
            let plan = Plan::Aggregate {
                input: Box::new(one),
                keys: Vec::new(),
                aggregates: vec![(count, count_of(AggregateFunction::CountRows, Vec::new()))],
            };
            env.attach(Attachment { plan, keys: Vec::new(), outer: Vec::new(), nulls_equal: true });
            let zero = Expr::Literal(Scalar::Int(0));
            return call(Function::Greater, vec![Expr::Column(count), zero], Type::Bool);
        }
        let inner: Vec<ColumnId> = subquery.keys.iter().map(|it| it.1).collect();
        let marker = self.column(Type::Bool);
        let keep = inner.iter().map(|it| (*it, Expr::Column(*it))).collect();
        let only = Plan::Select { input: Box::new(subquery.bound.plan), columns: keep };
        let plan = extend(distinct(only, &inner), vec![(marker, Typed::bool(true).expr)]);
        self.attach_correlated(plan, subquery.keys, env);
        not(call(Function::IsNull, vec![Expr::Column(marker)], Type::Bool))
    }

    /// Binds IN with a subquery. Fails when it has more than one column, or the types do not go together.
    pub(crate) fn in_subquery(
        &mut self,
        expr: &Ast,
        query: &AstQuery,
        negated: bool,
        env: &mut Env,
    ) -> Result<Typed> {
        let values = match expr {
            Ast::Tuple(items) => self.exprs(items, env)?,
            _ => vec![self.expr(expr, env)?],
        };
        let subquery = self.subquery(query, env)?;
        if subquery.bound.output.len() != values.len() {
            let (n, wanted) = (subquery.bound.output.len(), values.len());
            return Err(SqlError::new(format!(
                "the subquery of IN must have as many columns as are compared, {wanted}, but has {n}"
            )));
        }
        let mut pairs = Vec::new();
        for (value, (_, id)) in values.into_iter().zip(subquery.bound.output.clone()) {
            let (sides, dtype) = agree(vec![value, self.value(id)])?;
            let mut sides = sides.into_iter().map(|it| Typed::new(it, dtype));
            if let (Some(value), Some(item)) = (sides.next(), sides.next()) {
                pairs.push((value, item));
            }
        }
        if !subquery.keys.is_empty() || 1 < pairs.len() {
            return self.in_rows(pairs, subquery, negated, env);
        }
        let Some((value, item)) = pairs.pop() else {
            return Err(SqlError::new("IN compares nothing"));
        };
        let found = self.in_values(value, item, subquery, env)?;
        Ok(if negated { not(found) } else { found })
    }

    /// IN of rows, or of a subquery that uses columns from outside: whether there is an equal row.
    fn in_rows(
        &mut self,
        pairs: Vec<(Typed, Typed)>,
        subquery: Subquery,
        negated: bool,
        env: &mut Env,
    ) -> Result<Typed> {
        if negated {
            let message = "NOT IN with several columns, or columns from outside, is not supported";
            return Err(SqlError::new(message)
                .hint("use NOT EXISTS (select 1 from … where …), which ignores NULL"));
        }
        let marker = self.column(Type::Bool);
        let mut keys: Vec<(Typed, ColumnId)> = Vec::new();
        let mut columns = Vec::new();
        for (value, item) in pairs {
            let id = self.column(item.dtype);
            columns.push((id, item.expr));
            keys.push((value, id));
        }
        for (out, inner) in &subquery.keys {
            columns.push((*inner, Expr::Column(*inner)));
            keys.push((self.value(*out), *inner));
        }
        let ids: Vec<ColumnId> = columns.iter().map(|it| it.0).collect();
        let rows = Plan::Select { input: Box::new(subquery.bound.plan), columns };
        let plan = extend(distinct(rows, &ids), vec![(marker, Typed::bool(true).expr)]);
        env.attach(Attachment { plan, keys, outer: subquery.keys, nulls_equal: false });
        Ok(not(call(Function::IsNull, vec![Expr::Column(marker)], Type::Bool)))
    }

    /// IN of one value in the rows of a subquery, with its three answers: yes, no, and NULL where a NULL may
    /// be equal.
    fn in_values(
        &mut self,
        value: Typed,
        item: Typed,
        subquery: Subquery,
        env: &mut Env,
    ) -> Result<Typed> {
        let one =
            |plan| Attachment { plan, keys: Vec::new(), outer: Vec::new(), nulls_equal: false };
        let list = self.column(item.dtype);
        let rows =
            Plan::Select { input: Box::new(subquery.bound.plan), columns: vec![(list, item.expr)] };
        let (n_rows, n_known) = (self.column(Type::Int), self.column(Type::Int));
        self.copy(&rows, 1)?;
        let counts = Plan::Aggregate {
            input: Box::new(rows.clone()),
            keys: Vec::new(),
            aggregates: vec![
                (n_rows, count_of(AggregateFunction::CountRows, Vec::new())),
                (n_known, count_of(AggregateFunction::Count, vec![list])),
            ],
        };
        env.attach(one(counts));
        let marker = self.column(Type::Bool);
        let plan = extend(distinct(rows, &[list]), vec![(marker, Typed::bool(true).expr)]);
        env.attach(Attachment {
            plan,
            keys: vec![(value.clone(), list)],
            outer: Vec::new(),
            nulls_equal: false,
        });
        let column = Expr::Column;
        let is_null = |it| Expr::Call(Function::IsNull, vec![it]);
        let is_found = Expr::Call(Function::Not, vec![is_null(column(marker))]);
        let is_empty =
            Expr::Call(Function::Equal, vec![column(n_rows), Expr::Literal(Scalar::Int(0))]);
        let has_null = Expr::Call(Function::Less, vec![column(n_known), column(n_rows)]);
        let is_open = Expr::Call(Function::Or, vec![is_null(value.expr), has_null]);
        let branches = vec![
            (is_found, Typed::bool(true).expr),
            (is_empty, Typed::bool(false).expr),
            (is_open, types::null_of(Type::Bool)),
        ];
        let otherwise = Box::new(Typed::bool(false).expr);
        Ok(Typed::new(Expr::Case { branches, otherwise }, Type::Bool))
    }

    /// Binds a comparison with any row of a subquery: true when one row meets it, NULL when none does but a
    /// NULL might. Fails when the subquery has more than one column, or uses columns from outside.
    pub(crate) fn any_of(
        &mut self,
        expr: &Ast,
        op: &BinaryOperator,
        query: &AstQuery,
        env: &mut Env,
    ) -> Result<Typed> {
        use AggregateFunction::{Count, CountRows, Maximum, MaximumFloat, Minimum};
        let (function, extreme) = match op {
            BinaryOperator::Gt => (Function::Greater, Minimum),
            BinaryOperator::GtEq => (Function::GreaterEqual, Minimum),
            BinaryOperator::Lt => (Function::Less, Maximum),
            BinaryOperator::LtEq => (Function::LessEqual, Maximum),
            _ => return Err(SqlError::new(format!("`{op} ANY` is not supported"))),
        };
        let value = self.expr(expr, env)?;
        let subquery = self.subquery(query, env)?;
        let ([(_, id)], true) = (&subquery.bound.output[..], subquery.keys.is_empty()) else {
            let message = "ANY and ALL take a subquery with one column and nothing from outside";
            return Err(SqlError::new(message).hint("use EXISTS (select 1 from … where …)"));
        };
        let (sides, dtype) = agree(vec![value, self.value(*id)])?;
        let [value, item] = <[Expr; 2]>::try_from(sides).map_err(|_| SqlError::new("two sides"))?;
        let list = self.column(dtype);
        let rows =
            Plan::Select { input: Box::new(subquery.bound.plan), columns: vec![(list, item)] };
        let (n_rows, n_known) = (self.column(Type::Int), self.column(Type::Int));
        let best = self.column(dtype);
        let extreme = match (extreme, dtype) {
            (Maximum, Type::Float) => MaximumFloat,
            (extreme, _) => extreme,
        };
        let plan = Plan::Aggregate {
            input: Box::new(rows),
            keys: Vec::new(),
            aggregates: vec![
                (n_rows, count_of(CountRows, Vec::new())),
                (n_known, count_of(Count, vec![list])),
                (best, count_of(extreme, vec![list])),
            ],
        };
        env.attach(Attachment { plan, keys: Vec::new(), outer: Vec::new(), nulls_equal: false });
        let column = Expr::Column;
        let is_met = Expr::Call(function, vec![value.clone(), column(best)]);
        let is_empty =
            Expr::Call(Function::Equal, vec![column(n_rows), Expr::Literal(Scalar::Int(0))]);
        let has_null = Expr::Call(Function::Less, vec![column(n_known), column(n_rows)]);
        let is_open =
            Expr::Call(Function::Or, vec![Expr::Call(Function::IsNull, vec![value]), has_null]);
        let branches = vec![
            (is_met, Typed::bool(true).expr),
            (is_empty, Typed::bool(false).expr),
            (is_open, types::null_of(Type::Bool)),
        ];
        let otherwise = Box::new(Typed::bool(false).expr);
        Ok(Typed::new(Expr::Case { branches, otherwise }, Type::Bool))
    }

    /// Joins subqueries to the rows that use them.
    pub(crate) fn attached(
        &mut self,
        mut plan: Plan,
        attachments: Vec<Attachment>,
    ) -> Result<Plan> {
        for Attachment { plan: subquery, keys, outer, nulls_equal } in attachments {
            if keys.is_empty() {
                plan = cross(plan, subquery);
                continue;
            }
            let subquery = if outer.is_empty() {
                subquery
            } else {
                self.copy(&plan, n_outer(&subquery))?;
                with_outer(subquery, &plan, &outer)
            };
            let (values, columns): (Vec<Typed>, Vec<ColumnId>) = keys.into_iter().unzip();
            let (left, values) = self.as_columns(plan, values);
            plan = Plan::Join {
                left: Box::new(left),
                right: Box::new(subquery),
                kind: JoinKind::Left,
                equal: values.into_iter().zip(columns).collect(),
                nulls_equal,
            };
        }
        Ok(plan)
    }
}

fn count_of(function: AggregateFunction, arguments: Vec<ColumnId>) -> Aggregate {
    Aggregate { function, arguments, distinct: false, filter: None, order: Vec::new() }
}

/// Returns how often the values from outside are used.
fn n_outer(plan: &Plan) -> usize {
    match plan {
        Plan::Scan { table, .. } => usize::from(table == OUTER),
        other => other.inputs().into_iter().map(n_outer).sum(),
    }
}

/// Puts the combinations of values from outside in place of the scan that stands for them.
fn with_outer(plan: Plan, rows: &Plan, outer: &[(ColumnId, ColumnId)]) -> Plan {
    let again = |plan: Box<Plan>| Box::new(with_outer(*plan, rows, outer));
    match plan {
        Plan::Scan { table, .. } if table == OUTER => {
            let columns = outer.iter().map(|(out, inner)| (*inner, Expr::Column(*out))).collect();
            let values = Plan::Select { input: Box::new(rows.clone()), columns };
            let on: Vec<ColumnId> = outer.iter().map(|it| it.1).collect();
            distinct(values, &on)
        }
        Plan::Scan { .. } | Plan::Numbered { .. } | Plan::Values { .. } => plan,
        Plan::Filter { input, predicate } => Plan::Filter { input: again(input), predicate },
        Plan::Extend { input, columns } => Plan::Extend { input: again(input), columns },
        Plan::Select { input, columns } => Plan::Select { input: again(input), columns },
        Plan::Aggregate { input, keys, aggregates } => {
            Plan::Aggregate { input: again(input), keys, aggregates }
        }
        Plan::Windows { input, windows } => Plan::Windows { input: again(input), windows },
        Plan::Join { left, right, kind, equal, nulls_equal } => {
            Plan::Join { left: again(left), right: again(right), kind, equal, nulls_equal }
        }
        Plan::Union { inputs, columns } => {
            let inputs = inputs.into_iter().map(|(it, ids)| (with_outer(it, rows, outer), ids));
            Plan::Union { inputs: inputs.collect(), columns }
        }
        Plan::Distinct { input, on } => Plan::Distinct { input: again(input), on },
        Plan::Sort { input, keys } => Plan::Sort { input: again(input), keys },
        Plan::Limit { input, offset, count } => Plan::Limit { input: again(input), offset, count },
        Plan::Single { input } => Plan::Single { input: again(input) },
    }
}
