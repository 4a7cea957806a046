//! FROM: tables, subqueries and joins.

use std::rc::Rc;

use sqlparser::ast::{
    BinaryOperator, Expr as Ast, FunctionArg, FunctionArgExpr, Ident, Join, JoinConstraint,
    JoinOperator, ObjectName, ObjectNamePart, TableAlias, TableFactor, TableWithJoins,
};

use csv_agent_types::dataset_names::{meant, nearest};

use crate::plan::{ColumnId, Expr, Function, JoinKind, Plan, Type};

use super::binder::{Binder, Bound, distinct, rename};
use super::env::{Clause, Env};
use super::error::{Result, SqlError};
use super::names::identifier;
use super::refused;
use super::scope::{ScopeColumn, is_same, listed};
use super::types::{self, Typed, call};

/// Rows with the columns that names refer to.
#[derive(Debug, Clone)]
pub(crate) struct Relation {
    /// The rows.
    pub plan: Plan,
    pub scope: Vec<ScopeColumn>,
}

impl Relation {
    pub(crate) fn has(&self, id: ColumnId) -> bool {
        self.scope.iter().any(|it| it.id == id)
    }
}

/// The condition of a join, taken apart.
#[derive(Debug, Default)]
struct JoinCondition {
    /// Values of the left and of the right that are equal.
    equal: Vec<(Typed, Typed)>,
    /// Conditions on the right alone.
    right: Vec<Expr>,
    /// All others.
    rest: Vec<Expr>,
}

impl Binder<'_> {
    /// Binds one item of FROM. Fails when there is no such table, or something that is not supported.
    pub(crate) fn table_with_joins(&mut self, item: &TableWithJoins) -> Result<Relation> {
        self.descend()?;
        let mut relation = self.table_factor(&item.relation)?;
        for join in &item.joins {
            relation = self.join(relation, join)?;
        }
        self.n_levels -= 1;
        Ok(relation)
    }

    fn table_factor(&mut self, factor: &TableFactor) -> Result<Relation> {
        match factor {
            TableFactor::Table { name, alias, args, sample: None, .. } => {
                let Some(arguments) = args else { return self.table(name, alias.as_ref()) };
                self.rows_of_function(name, &arguments.args, alias.as_ref())
                    .map_err(|it| it.at(factor))
            }
            TableFactor::Derived { lateral: false, subquery, alias, sample: None } => {
                let bound = self.query(subquery, None)?;
                self.named(bound, alias.as_ref())
            }
            TableFactor::NestedJoin { table_with_joins, alias: None } => {
                self.table_with_joins(table_with_joins)
            }
            TableFactor::Function { name, args, alias, .. } => {
                self.rows_of_function(name, args, alias.as_ref()).map_err(|it| it.at(factor))
            }
            TableFactor::TableFunction { expr, .. } => {
                Err(function_in_from(&expr.to_string()).at(factor))
            }
            TableFactor::Table { sample: Some(_), .. } => Err(refused("tablesample").at(factor)),
            TableFactor::Derived { lateral: true, .. } => Err(refused("lateral").at(factor)),
            TableFactor::Pivot { .. } => Err(refused("pivot").at(factor)),
            TableFactor::Unpivot { .. } => Err(refused("unpivot").at(factor)),
            _ => {
                let text = factor.to_string();
                let word = text.split_whitespace().next().unwrap_or_default().to_owned();
                let message =
                    format!("FROM takes tables, subqueries and joins, but not `{word} …`");
                Err(SqlError::new(message).at(factor))
            }
        }
    }

    fn rows_of_function(
        &mut self,
        name: &ObjectName,
        arguments: &[FunctionArg],
        alias: Option<&TableAlias>,
    ) -> Result<Relation> {
        let lower = name.to_string().to_lowercase();
        if !["generate_series", "range"].contains(&lower.as_str()) {
            return Err(function_in_from(&lower));
        }
        let values: Option<Vec<Ast>> = arguments
            .iter()
            .map(|it| match it {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => Some(value.clone()),
                _ => None,
            })
            .collect();
        let values = values.ok_or_else(|| SqlError::new(format!("`{lower}` takes constants")))?;
        let bound = self.series(&lower, &values)?;
        self.relation(bound, alias, Some(&lower))
    }

    fn table(&mut self, name: &ObjectName, alias: Option<&TableAlias>) -> Result<Relation> {
        let parts: Vec<&Ident> = name
            .0
            .iter()
            .map(|part| match part {
                ObjectNamePart::Identifier(name) => Ok(name),
                ObjectNamePart::Function(_) => Err(function_in_from(&name.to_string()).at(part)),
            })
            .collect::<Result<_>>()?;
        let table = match &parts[..] {
            [table] => *table,
            // DuckDB's and PostgreSQL's names of the usual schema.
            [schema, table] if ["main", "public"].contains(&schema.value.as_str()) => *table,
            _ => {
                return Err(SqlError::unknown_name(format!(
                    "no table `{name}`; tables have no schema"
                ))
                .at(name));
            }
        };
        if let Some(cte) = self.ctes.iter().rev().find(|it| is_same(&it.name, &table.value)) {
            let bound = cte.bound.clone();
            self.copy(&bound.plan, 1).map_err(|it| it.at(name))?;
            let bound = self.renumbered(bound);
            return self.relation(bound, alias, Some(&table.value));
        }
        let meant = meant(&table.value, self.tables.iter().map(|it| it.name.as_str()));
        let found = match meant[..] {
            [name] => self.tables.iter().find(|it| it.name == name),
            _ => None,
        };
        let Some(found) = found else { return Err(self.no_table(table, &meant)) };
        self.used.insert(found.name.clone());
        let mut columns = Vec::new();
        let mut output = Vec::new();
        for (name, dtype) in found.columns.clone() {
            let id = self.column(dtype);
            columns.push((name.clone(), id));
            output.push((name, id));
        }
        let plan = Plan::Scan { table: found.name.clone(), columns };
        self.relation(Bound { plan, output }, alias, Some(&table.value))
    }

    fn no_table(&self, table: &Ident, meant: &[&str]) -> SqlError {
        let tables = self.tables.iter().map(|it| identifier(&it.name));
        let tables: Vec<String> =
            tables.chain(self.ctes.iter().map(|it| identifier(&it.name))).collect();
        let names = || tables.iter().map(String::as_str);
        if 1 < meant.len() {
            let message = format!("`{}` is the short form of several tables", table.value);
            let meant: Vec<String> = meant.iter().map(|it| identifier(it)).collect();
            let hint = format!("write one of {}", listed(meant.iter().map(String::as_str)));
            return SqlError::new(message).at_name(table).hint(hint);
        }
        let error = SqlError::unknown_name(format!("no table `{}`", table.value)).at_name(table);
        if table.value.contains(['.', '/']) {
            let path = &table.value;
            return error.hint(format!(
                "a statement cannot name files: name the file with `-f '{path}'`, and its table has the \
                 name of the file without the ending; the tables are {}",
                listed(names())
            ));
        }
        let near = nearest(&table.value, names());
        let near = near.map_or("the".to_owned(), |it| format!("did you mean `{it}`? The"));
        if names().next().is_none() {
            return error.hint("there are no tables");
        }
        error.hint(format!("{near} tables are {}", listed(names())))
    }

    /// Gives a query new columns, so that it can be used twice.
    fn renumbered(&mut self, bound: Bound) -> Bound {
        let mut columns = Vec::new();
        let mut output = Vec::new();
        for (name, id) in bound.output {
            let new = self.column(self.type_of(id));
            columns.push((new, Expr::Column(id)));
            output.push((name, new));
        }
        Bound { plan: Plan::Select { input: Box::new(bound.plan), columns }, output }
    }

    /// Makes a relation of a subquery in FROM.
    fn named(&mut self, bound: Bound, alias: Option<&TableAlias>) -> Result<Relation> {
        // Its columns may repeat one column.
        let bound = self.renumbered(bound);
        self.relation(bound, alias, None)
    }

    fn relation(
        &mut self,
        mut bound: Bound,
        alias: Option<&TableAlias>,
        name: Option<&str>,
    ) -> Result<Relation> {
        if let Some(alias) = alias {
            rename(&mut bound, &alias.columns)?;
        }
        let qualifier = alias.map(|it| it.name.value.clone()).or(name.map(str::to_owned));
        let column =
            |(name, id)| ScopeColumn { qualifier: qualifier.clone(), name, id, is_merged: false };
        let scope = bound.output.into_iter().map(column).collect();
        Ok(Relation { plan: bound.plan, scope })
    }

    fn join(&mut self, left: Relation, join: &Join) -> Result<Relation> {
        let right = self.table_factor(&join.relation)?;
        let tables = |relation: &Relation| -> Vec<String> {
            relation.scope.iter().filter_map(|it| it.qualifier.clone()).collect()
        };
        if let Some(twice) = tables(&left).iter().find(|it| tables(&right).contains(it)) {
            let message = format!("two tables are called `{twice}`");
            return Err(SqlError::new(message).at(&join.relation).hint("give each an alias"));
        }
        let (constraint, how) = match &join.join_operator {
            JoinOperator::Join(on) | JoinOperator::Inner(on) | JoinOperator::CrossJoin(on) => {
                (on, How::Inner)
            }
            JoinOperator::Left(on) | JoinOperator::LeftOuter(on) => (on, How::Left),
            JoinOperator::Right(on) | JoinOperator::RightOuter(on) => (on, How::Right),
            JoinOperator::FullOuter(on) => (on, How::Full),
            JoinOperator::Semi(on) | JoinOperator::LeftSemi(on) => (on, How::Semi),
            JoinOperator::Anti(on) | JoinOperator::LeftAnti(on) => (on, How::Anti),
            other => {
                let text = format!("{other:?}");
                let word = text.split(['(', ' ']).next().unwrap_or_default().to_owned();
                return Err(
                    SqlError::new(format!("the join {word} is not supported")).at(&join.relation)
                );
            }
        };
        let names = match constraint {
            JoinConstraint::On(on) => return self.join_on(left, right, how, on),
            JoinConstraint::None if how == How::Inner => {
                let plan = cross(left.plan, right.plan);
                return Ok(Relation { plan, scope: [left.scope, right.scope].concat() });
            }
            JoinConstraint::None => {
                return Err(SqlError::new("the join has no condition")
                    .at(&join.relation)
                    .hint("add ON … or USING (…)"));
            }
            JoinConstraint::Using(names) => names
                .iter()
                .filter_map(|it| it.0.last()?.as_ident().cloned())
                .collect::<Vec<Ident>>(),
            JoinConstraint::Natural => {
                let is_shared = |it: &&ScopeColumn| {
                    !it.is_merged && right.scope.iter().any(|other| is_same(&other.name, &it.name))
                };
                let shared = left.scope.iter().filter(is_shared);
                let shared: Vec<Ident> = shared.map(|it| Ident::new(it.name.clone())).collect();
                if shared.is_empty() {
                    return Err(SqlError::new(
                        "NATURAL JOIN: no column has the same name on both sides",
                    )
                    .at(&join.relation));
                }
                shared
            }
        };
        self.join_using(left, right, how, &names)
    }

    fn join_on(&mut self, left: Relation, right: Relation, how: How, on: &Ast) -> Result<Relation> {
        let scope: Vec<ScopeColumn> = [left.scope.clone(), right.scope.clone()].concat();
        let mut condition = JoinCondition::default();
        for part in conjuncts(on) {
            let mut env = Env::new(Rc::from(scope.clone()), None, Clause::On);
            let value = self.condition(part, &mut env)?;
            if !env.before.is_empty() {
                let message = "a join condition cannot have a subquery";
                return Err(SqlError::new(message)
                    .at(part)
                    .hint("filter in WHERE, or join the subquery"));
            }
            sort_condition(value, &left, &right, &mut condition);
        }
        self.joined(left, right, how, condition)
    }

    fn join_using(
        &mut self,
        left: Relation,
        right: Relation,
        how: How,
        names: &[Ident],
    ) -> Result<Relation> {
        let mut condition = JoinCondition::default();
        let mut pairs = Vec::new();
        for name in names {
            let side = |relation: &Relation| {
                let found = super::scope::find(&relation.scope, None, name)?;
                found.ok_or_else(|| super::scope::unknown(&relation.scope, None, name))
            };
            let (a, b) = (side(&left)?, side(&right)?);
            let (exprs, dtype) =
                types::agree(vec![self.value(a), self.value(b)]).map_err(|it| it.at_name(name))?;
            let [x, y] = <[Expr; 2]>::try_from(exprs).map_err(|_| SqlError::new("two sides"))?;
            condition.equal.push((Typed::new(x.clone(), dtype), Typed::new(y.clone(), dtype)));
            pairs.push((name, a, b, call(Function::Coalesce, vec![x, y], dtype)));
        }
        let mut joined = self.joined(left, right, how, condition)?;
        for (name, a, b, either) in pairs {
            let merged = match how {
                How::Inner | How::Left | How::Semi | How::Anti => a,
                How::Right => b,
                How::Full => {
                    let id = self.column(either.dtype);
                    joined.plan = extend(joined.plan, vec![(id, either.expr)]);
                    id
                }
            };
            for column in &mut joined.scope {
                column.is_merged |= column.id == a || column.id == b;
            }
            let at = joined.scope.iter().position(|it| it.id == a).unwrap_or(0);
            let column = ScopeColumn {
                qualifier: None,
                name: name.value.clone(),
                id: merged,
                is_merged: false,
            };
            // The merged column takes the place of the left one in `*`.
            if merged == a {
                joined.scope[at].is_merged = false;
            } else {
                joined.scope.insert(at, column);
            }
        }
        Ok(joined)
    }

    fn joined(
        &mut self,
        left: Relation,
        right: Relation,
        how: How,
        condition: JoinCondition,
    ) -> Result<Relation> {
        let scope = match how {
            How::Semi | How::Anti => left.scope.clone(),
            _ => [left.scope.clone(), right.scope.clone()].concat(),
        };
        let JoinCondition { equal, right: on_right, rest } = condition;
        let plan = match how {
            How::Inner => {
                let predicates = [on_right, rest].concat();
                filter(self.join_plans(left.plan, right.plan, JoinKind::Inner, equal), predicates)
            }
            How::Left => self.outer_join(left, right, equal, on_right, rest)?,
            How::Right => {
                let swapped = equal.into_iter().map(|(a, b)| (b, a)).collect();
                let (on_left, others): (Vec<Expr>, Vec<Expr>) =
                    rest.into_iter().partition(|it| uses_only(it, &left));
                let others = [others, on_right].concat();
                self.outer_join(right, left, swapped, on_left, others)?
            }
            How::Full => {
                if !on_right.is_empty() || !rest.is_empty() || equal.is_empty() {
                    let message = "FULL JOIN takes equalities between the two sides";
                    return Err(SqlError::new(message).hint(
                        "filter each side in a subquery, or combine LEFT JOIN and UNION ALL",
                    ));
                }
                self.join_plans(left.plan, right.plan, JoinKind::Full, equal)
            }
            How::Semi | How::Anti => {
                let kind = if how == How::Semi { JoinKind::Semi } else { JoinKind::Anti };
                self.half_join(left, right, kind, equal, [on_right, rest].concat())?
            }
        };
        Ok(Relation { plan, scope })
    }

    /// Joins on equal values.
    pub(crate) fn join_plans(
        &mut self,
        left: Plan,
        right: Plan,
        kind: JoinKind,
        equal: Vec<(Typed, Typed)>,
    ) -> Plan {
        let (lefts, rights): (Vec<Typed>, Vec<Typed>) = equal.into_iter().unzip();
        let (left, lefts) = self.as_columns(left, lefts);
        let (right, rights) = self.as_columns(right, rights);
        Plan::Join {
            left: Box::new(left),
            right: Box::new(right),
            kind,
            equal: lefts.into_iter().zip(rights).collect(),
            nulls_equal: false,
        }
    }

    pub(crate) fn as_columns(&mut self, plan: Plan, values: Vec<Typed>) -> (Plan, Vec<ColumnId>) {
        let mut new = Vec::new();
        let mut ids = Vec::new();
        for value in values {
            match value.expr {
                Expr::Column(id) => ids.push(id),
                expr => {
                    let known = new.iter().find(|(_, it)| *it == expr).map(|(id, _)| *id);
                    let id = known.unwrap_or_else(|| {
                        let id = self.column(value.dtype);
                        new.push((id, expr));
                        id
                    });
                    ids.push(id);
                }
            }
        }
        (extend(plan, new), ids)
    }

    /// Joins so that every row of the left remains.
    fn outer_join(
        &mut self,
        left: Relation,
        right: Relation,
        equal: Vec<(Typed, Typed)>,
        on_right: Vec<Expr>,
        rest: Vec<Expr>,
    ) -> Result<Plan> {
        let right_plan = filter(right.plan, on_right);
        if rest.is_empty() && !equal.is_empty() {
            return Ok(self.join_plans(left.plan, right_plan, JoinKind::Left, equal));
        }
        // Pairs that meet the whole condition, and the rows whose values meet it nowhere. Whether a row has
        // a partner depends on the values in the condition alone.
        self.copy(&left.plan, 2)?;
        self.copy(&right_plan, 1)?;
        let deciding = columns_of(equal.iter().map(|it| &it.0.expr).chain(&rest), &left);
        let pairs =
            filter(self.join_plans(left.plan.clone(), right_plan, JoinKind::Inner, equal), rest);
        let left_ids: Vec<ColumnId> = left.scope.iter().map(|it| it.id).collect();
        let right_ids: Vec<ColumnId> = right.scope.iter().map(|it| it.id).collect();
        let new: Vec<ColumnId> = deciding.iter().map(|it| self.column(self.type_of(*it))).collect();
        let alone = if deciding.is_empty() {
            // The condition holds for all rows of the left or for none.
            let marker = self.column(Type::Bool);
            let any = Plan::Select {
                input: Box::new(Plan::Limit {
                    input: Box::new(pairs.clone()),
                    offset: 0,
                    count: Some(1),
                }),
                columns: vec![(marker, Typed::bool(true).expr)],
            };
            let on_left = self.column(Type::Bool);
            let left = extend(left.plan, vec![(on_left, Typed::bool(true).expr)]);
            Plan::Join {
                left: Box::new(left),
                right: Box::new(any),
                kind: JoinKind::Anti,
                equal: vec![(on_left, marker)],
                nulls_equal: true,
            }
        } else {
            let met = Plan::Select {
                input: Box::new(pairs.clone()),
                columns: new
                    .iter()
                    .copied()
                    .zip(deciding.iter().map(|it| Expr::Column(*it)))
                    .collect(),
            };
            Plan::Join {
                left: Box::new(left.plan),
                right: Box::new(distinct(met, &new)),
                kind: JoinKind::Anti,
                equal: deciding.into_iter().zip(new).collect(),
                nulls_equal: true,
            }
        };
        let nulls = right_ids.iter().map(|it| (*it, types::null_of(self.type_of(*it))));
        let kept = left_ids.iter().map(|it| (*it, Expr::Column(*it)));
        let columns = kept.chain(nulls).collect();
        let alone = Plan::Select { input: Box::new(alone), columns };
        let all = [left_ids, right_ids].concat();
        let inputs = vec![(pairs, all.clone()), (alone, all.clone())];
        Ok(Plan::Union { inputs, columns: all })
    }

    /// Keeps the rows of the left that have a partner, or that have none.
    fn half_join(
        &mut self,
        left: Relation,
        right: Relation,
        kind: JoinKind,
        equal: Vec<(Typed, Typed)>,
        rest: Vec<Expr>,
    ) -> Result<Plan> {
        self.copy(&left.plan, 1)?;
        let deciding = columns_of(equal.iter().map(|it| &it.0.expr).chain(&rest), &left);
        let pairs =
            filter(self.join_plans(left.plan.clone(), right.plan, JoinKind::Inner, equal), rest);
        let new: Vec<ColumnId> = deciding.iter().map(|it| self.column(self.type_of(*it))).collect();
        let columns = new.iter().copied().zip(deciding.iter().map(|it| Expr::Column(*it)));
        let met = Plan::Select { input: Box::new(pairs), columns: columns.collect() };
        Ok(Plan::Join {
            left: Box::new(left.plan),
            right: Box::new(distinct(met, &new)),
            kind,
            equal: deciding.into_iter().zip(new).collect(),
            nulls_equal: true,
        })
    }

    /// Joins the items of FROM by the equalities of WHERE, and filters by the rest.
    pub(crate) fn join_all(&mut self, relations: Vec<Relation>, predicates: Vec<Expr>) -> Plan {
        let mut relations = relations.into_iter();
        let Some(mut joined) = relations.next() else {
            let plan = self.one_row();
            return filter(plan, predicates);
        };
        let mut waiting: Vec<Relation> = relations.collect();
        let mut predicates = predicates;
        while !waiting.is_empty() {
            let edges_to = |relation: &Relation| {
                predicates.iter().filter(|it| edge(it, &joined, relation).is_some()).count()
            };
            let at = waiting.iter().position(|it| 0 < edges_to(it)).unwrap_or(0);
            let next = waiting.remove(at);
            let mut equal = Vec::new();
            predicates.retain(|it| match edge(it, &joined, &next) {
                Some(pair) => {
                    equal.push(pair);
                    false
                }
                None => true,
            });
            let plan = self.join_plans(joined.plan, next.plan, JoinKind::Inner, equal);
            joined = Relation { plan, scope: [joined.scope, next.scope].concat() };
        }
        filter(joined.plan, predicates)
    }
}

/// The kinds of joins that SQL has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Inner,
    Left,
    Right,
    Full,
    Semi,
    Anti,
}

fn function_in_from(name: &str) -> SqlError {
    let name = name.split('(').next().unwrap_or_default();
    SqlError::new(format!("`{name}(…)` is not a table")).hint(
        "a statement cannot name files or make rows: give files with `-f FILE`, rows with VALUES",
    )
}

/// Returns the parts of a condition that all have to hold.
pub(crate) fn conjuncts(condition: &Ast) -> Vec<&Ast> {
    let mut parts = Vec::new();
    let mut open = vec![condition];
    while let Some(part) = open.pop() {
        match part {
            Ast::BinaryOp { left, op: BinaryOperator::And, right } => {
                open.extend([&**right, &**left]);
            }
            Ast::Nested(inner)
                if matches!(**inner, Ast::BinaryOp { op: BinaryOperator::And, .. }) =>
            {
                open.push(inner);
            }
            part => parts.push(part),
        }
    }
    parts
}

/// Puts a part of a condition where it belongs.
fn sort_condition(value: Expr, left: &Relation, right: &Relation, condition: &mut JoinCondition) {
    if let Some(pair) = edge(&value, left, right) {
        condition.equal.push(pair);
    } else if uses_only(&value, right) {
        condition.right.push(value);
    } else {
        condition.rest.push(value);
    }
}

/// Returns the sides of an equality between two relations.
fn edge(predicate: &Expr, left: &Relation, right: &Relation) -> Option<(Typed, Typed)> {
    let Expr::Call(Function::Equal, sides) = predicate else { return None };
    let [a, b] = &sides[..] else { return None };
    let is_of = |expr: &Expr, side: &Relation| uses_some(expr) && uses_only(expr, side);
    let typed = |expr: &Expr| Typed::new(expr.clone(), Type::Null);
    if is_of(a, left) && is_of(b, right) {
        return Some((typed(a), typed(b)));
    }
    (is_of(b, left) && is_of(a, right)).then(|| (typed(b), typed(a)))
}

/// Returns rows where all predicates hold.
pub(crate) fn filter(plan: Plan, predicates: Vec<Expr>) -> Plan {
    let mut predicates = predicates.into_iter();
    let predicate = match (predicates.next(), predicates.len()) {
        (None, _) => return plan,
        (Some(one), 0) => one,
        (Some(first), _) => {
            Expr::Call(Function::And, std::iter::once(first).chain(predicates).collect())
        }
    };
    Plan::Filter { input: Box::new(plan), predicate }
}

/// Adds columns, if there are any.
pub(crate) fn extend(plan: Plan, columns: Vec<(ColumnId, Expr)>) -> Plan {
    if columns.is_empty() {
        return plan;
    }
    Plan::Extend { input: Box::new(plan), columns }
}

/// Pairs each row of one relation with each of the other.
pub(crate) fn cross(left: Plan, right: Plan) -> Plan {
    Plan::Join {
        left: Box::new(left),
        right: Box::new(right),
        kind: JoinKind::Inner,
        equal: Vec::new(),
        nulls_equal: false,
    }
}

fn uses_some(expr: &Expr) -> bool {
    let mut found = false;
    super::walk::columns(expr, &mut |_| found = true);
    found
}

fn uses_only(expr: &Expr, relation: &Relation) -> bool {
    let mut is_only = true;
    super::walk::columns(expr, &mut |id| is_only &= relation.has(id));
    is_only
}

/// Returns the columns of a relation that the expressions use.
fn columns_of<'a>(exprs: impl Iterator<Item = &'a Expr>, relation: &Relation) -> Vec<ColumnId> {
    let mut found = Vec::new();
    for expr in exprs {
        super::walk::columns(expr, &mut |id| {
            if relation.has(id) && !found.contains(&id) {
                found.push(id);
            }
        });
    }
    found
}
