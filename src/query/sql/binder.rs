//! The state while a statement is bound, and queries as a whole.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use sqlparser::ast::{
    Expr as Ast, Fetch, LimitClause, OrderBy, OrderByKind, OrderByOptions, Query as AstQuery,
    SetExpr, SetOperator, SetQuantifier, Value, Values, With,
};

use crate::TableSchema;
use crate::plan::{
    ColumnId, Expr, JoinKind, Plan, Scalar, SortKey, Type, Window, WindowFrame, WindowFunction,
};

use super::env::Env;
use super::error::{Result, SqlError};
use super::scope::{Outer, is_same};
use super::types::{self, Typed};
use super::walk;

/// Levels of nested queries and expressions.
pub(crate) const LEVELS_MAX: usize = 200;

/// Nodes that a plan may get by using a part of it again.
const COPIED_NODES_MAX: usize = 5_000;

/// The state while a statement is bound.
pub(crate) struct Binder<'a> {
    /// The datasets.
    pub tables: &'a [TableSchema],
    /// Microseconds since 1970, for `now()`.
    pub now: i64,
    /// The datasets that are read.
    pub used: BTreeSet<String>,
    /// Named subqueries, innermost last.
    pub ctes: Vec<Cte>,
    /// Levels that are open.
    pub n_levels: usize,
    types: Vec<Type>,
    n_copied: usize,
}

/// A named subquery.
#[derive(Debug, Clone)]
pub(crate) struct Cte {
    pub name: String,
    /// Its rows.
    pub bound: Bound,
}

/// A bound query.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    /// Its rows.
    pub plan: Plan,
    /// Its columns, in order; names may repeat.
    pub output: Vec<(String, ColumnId)>,
}

/// Which rows of a query are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RowRange {
    /// Rows to skip.
    pub offset: u64,
    /// Rows to return at most.
    pub count: Option<u64>,
}

impl RowRange {
    /// Returns whether all rows are kept.
    pub(crate) fn is_all(self) -> bool {
        self == RowRange::default()
    }

    /// Applies the range.
    pub(crate) fn apply(self, plan: Plan) -> Plan {
        if self.is_all() {
            return plan;
        }
        Plan::Limit { input: Box::new(plan), offset: self.offset, count: self.count }
    }
}

impl<'a> Binder<'a> {
    pub(crate) fn new(tables: &'a [TableSchema], now: i64) -> Binder<'a> {
        Binder {
            tables,
            now,
            used: BTreeSet::new(),
            ctes: Vec::new(),
            n_levels: 0,
            types: Vec::new(),
            n_copied: 0,
        }
    }

    pub(crate) fn column(&mut self, dtype: Type) -> ColumnId {
        let id = u32::try_from(self.types.len()).unwrap_or(u32::MAX);
        self.types.push(dtype);
        ColumnId(id)
    }

    pub(crate) fn type_of(&self, column: ColumnId) -> Type {
        self.types[column.0 as usize]
    }

    pub(crate) fn value(&self, column: ColumnId) -> Typed {
        Typed::new(Expr::Column(column), self.type_of(column))
    }

    /// Counts the nodes of a plan that is used again so many times: parts that contain each other would grow
    /// without bound. Fails when there are too many.
    pub(crate) fn copy(&mut self, plan: &Plan, times: usize) -> Result<()> {
        self.n_copied += walk::n_nodes(plan).saturating_mul(times);
        if COPIED_NODES_MAX < self.n_copied {
            return Err(SqlError::new("too many parts of the statement refer to each other").hint(
                "write a part to a file with `csv-agent query -o FILE.parquet`, and query that with `-f`",
            ));
        }
        Ok(())
    }

    /// Opens a level. Fails when there are too many.
    pub(crate) fn descend(&mut self) -> Result<()> {
        self.n_levels += 1;
        if LEVELS_MAX < self.n_levels {
            return Err(SqlError::new(format!(
                "the statement is nested more than {LEVELS_MAX} levels deep"
            ))
            .hint("split it with WITH, or shorten chains of operators"));
        }
        Ok(())
    }

    /// Binds a query. `outer` has the columns around a subquery. Fails with the place that cannot be bound.
    pub(crate) fn query(&mut self, query: &AstQuery, outer: Option<&Rc<Outer>>) -> Result<Bound> {
        self.descend()?;
        let n_ctes = self.ctes.len();
        let bound = self.query_with(query, outer);
        self.ctes.truncate(n_ctes);
        self.n_levels -= 1;
        bound
    }

    fn query_with(&mut self, query: &AstQuery, outer: Option<&Rc<Outer>>) -> Result<Bound> {
        if let Some(with) = &query.with {
            self.named_queries(with)?;
        }
        for (is_there, name) in [
            (!query.locks.is_empty(), "FOR UPDATE"),
            (query.for_clause.is_some(), "FOR"),
            (query.settings.is_some(), "SETTINGS"),
            (query.format_clause.is_some(), "FORMAT"),
            (!query.pipe_operators.is_empty(), "`|>`"),
        ] {
            if is_there {
                return Err(SqlError::new(format!("{name} is not supported")).at(query));
            }
        }
        let range = row_range(query.limit_clause.as_ref(), query.fetch.as_ref())?;
        match &*query.body {
            SetExpr::Select(select) => self.select(select, query.order_by.as_ref(), range, outer),
            SetExpr::Query(inner) if query.order_by.is_none() && range.is_all() => {
                self.query(inner, outer)
            }
            body => {
                let bound = self.set(body)?;
                self.ordered(bound, query.order_by.as_ref(), range)
            }
        }
    }

    fn named_queries(&mut self, with: &With) -> Result<()> {
        for cte in &with.cte_tables {
            let name = &cte.alias.name;
            let is_recursive = with.recursive && mentions(&cte.query, &name.value);
            if is_recursive {
                let message = "recursive queries are not supported";
                return Err(SqlError::new(message)
                    .at_name(name)
                    .hint("join the table with itself once for each level, or ask with Python"));
            }
            let mut bound = self.query(&cte.query, None)?;
            rename(&mut bound, &cte.alias.columns)?;
            self.ctes.push(Cte { name: name.value.clone(), bound });
        }
        Ok(())
    }

    /// Binds what may stand on either side of UNION.
    fn set(&mut self, body: &SetExpr) -> Result<Bound> {
        self.descend()?;
        let bound = match body {
            SetExpr::Select(select) => self.select(select, None, RowRange::default(), None),
            SetExpr::Query(query) => self.query(query, None),
            SetExpr::Values(values) => self.values(values),
            SetExpr::SetOperation { left, op, set_quantifier, right } => {
                let left = self.set(left)?;
                let right = self.set(right)?;
                self.combine(left, *op, *set_quantifier, right).map_err(|it| it.at(body))
            }
            SetExpr::Table(table) => {
                let name = table.table_name.clone().unwrap_or_default();
                Err(SqlError::new("TABLE is not supported").hint(format!("write FROM {name}")))
            }
            _ => Err(SqlError::new("csv-agent only reads data").at(body)),
        };
        self.n_levels -= 1;
        bound
    }

    fn values(&mut self, values: &Values) -> Result<Bound> {
        let mut rows: Vec<Vec<Typed>> = Vec::new();
        for row in &values.rows {
            let mut env = Env::constant();
            let row: Vec<Typed> =
                row.content.iter().map(|it| self.expr(it, &mut env)).collect::<Result<_>>()?;
            if rows.first().is_some_and(|first| first.len() != row.len()) {
                return Err(
                    SqlError::new("the rows of VALUES have different numbers of values").at(values)
                );
            }
            rows.push(row);
        }
        let n_columns = rows.first().map_or(0, Vec::len);
        let mut columns = Vec::new();
        for at in 0..n_columns {
            let cells: Vec<Typed> = rows.iter().map(|row| row[at].clone()).collect();
            let (cells, dtype) = types::agree(cells).map_err(|it| it.at(values))?;
            for (row, cell) in rows.iter_mut().zip(cells) {
                row[at] = Typed::new(cell, dtype);
            }
            columns.push(self.column(dtype));
        }
        let output = columns.iter().enumerate().map(|(at, id)| (format!("col{at}"), *id)).collect();
        let mut inputs = Vec::new();
        let mut literals = Vec::new();
        for row in &rows {
            if let Some(row) = row.iter().map(literal_of).collect::<Option<Vec<Scalar>>>() {
                literals.push(row);
            } else {
                let cells = columns.iter().copied().zip(row.iter().map(|it| it.expr.clone()));
                let input = Box::new(self.one_row());
                inputs.push(Plan::Select { input, columns: cells.collect() });
            }
        }
        if inputs.is_empty() {
            let columns = columns.into_iter().map(|it| (it, self.type_of(it))).collect();
            return Ok(Bound { plan: Plan::Values { columns, rows: literals }, output });
        }
        if !literals.is_empty() {
            let columns = columns.iter().map(|it| (*it, self.type_of(*it))).collect();
            inputs.push(Plan::Values { columns, rows: literals });
        }
        let inputs = inputs.into_iter().map(|it| (it, columns.clone())).collect();
        let plan = Plan::Union { inputs, columns };
        Ok(Bound { plan, output })
    }

    /// Returns a relation with one row.
    pub(crate) fn one_row(&mut self) -> Plan {
        let column = self.column(Type::Int);
        Plan::Values { columns: vec![(column, Type::Int)], rows: vec![vec![Scalar::Int(0)]] }
    }

    fn combine(
        &mut self,
        left: Bound,
        op: SetOperator,
        quantifier: SetQuantifier,
        right: Bound,
    ) -> Result<Bound> {
        let (left, right) = match quantifier {
            SetQuantifier::ByName | SetQuantifier::AllByName | SetQuantifier::DistinctByName => {
                self.by_name(left, right)
            }
            _ => (left, right),
        };
        if left.output.len() != right.output.len() {
            let message = format!(
                "the two sides have {} and {} columns",
                left.output.len(),
                right.output.len()
            );
            return Err(SqlError::new(message));
        }
        let names: Vec<String> = left.output.iter().map(|it| it.0.clone()).collect();
        let (left, right) = self.same_types(left, right)?;
        let ids = |bound: &Bound| bound.output.iter().map(|it| it.1).collect::<Vec<_>>();
        let is_all = matches!(quantifier, SetQuantifier::All | SetQuantifier::AllByName);
        let (left_ids, right_ids) = (ids(&left), ids(&right));
        let (plan, output) = match op {
            SetOperator::Union => {
                let columns: Vec<ColumnId> =
                    left_ids.iter().map(|it| self.column(self.type_of(*it))).collect();
                let inputs = vec![(left.plan, left_ids), (right.plan, right_ids)];
                let union = Plan::Union { inputs, columns: columns.clone() };
                let plan = if is_all { union } else { distinct(union, &columns) };
                (plan, columns)
            }
            SetOperator::Intersect | SetOperator::Except | SetOperator::Minus => {
                let kind =
                    if op == SetOperator::Intersect { JoinKind::Semi } else { JoinKind::Anti };
                let mut equal: Vec<_> = left_ids.iter().copied().zip(right_ids.clone()).collect();
                let (left, right) = if is_all {
                    // The k-th of equal rows meets the k-th of the other side.
                    let (left, nth) = self.numbered(left.plan, &left_ids);
                    let (right, other) = self.numbered(right.plan, &right_ids);
                    equal.push((nth, other));
                    (left, right)
                } else {
                    (distinct(left.plan, &left_ids), right.plan)
                };
                let (left, right) = (Box::new(left), Box::new(right));
                (Plan::Join { left, right, kind, equal, nulls_equal: true }, left_ids)
            }
        };
        Ok(Bound { plan, output: names.into_iter().zip(output).collect() })
    }

    /// Numbers rows that are equal in all columns.
    fn numbered(&mut self, plan: Plan, columns: &[ColumnId]) -> (Plan, ColumnId) {
        let nth = self.column(Type::Int);
        let window = Window {
            function: WindowFunction::RowNumber,
            partition: columns.to_vec(),
            order: Vec::new(),
            frame: WindowFrame::PARTITION,
        };
        (Plan::Windows { input: Box::new(plan), windows: vec![(nth, window)] }, nth)
    }

    /// Brings the columns of both sides into one order by their names; a missing one is null.
    fn by_name(&mut self, left: Bound, right: Bound) -> (Bound, Bound) {
        let mut names: Vec<String> = left.output.iter().map(|it| it.0.clone()).collect();
        for (name, _) in &right.output {
            if !names.iter().any(|it| is_same(it, name)) {
                names.push(name.clone());
            }
        }
        let mut arrange = |bound: Bound| {
            let mut columns = Vec::new();
            let mut output = Vec::new();
            for name in &names {
                let found = bound.output.iter().find(|it| is_same(&it.0, name));
                let value = found.map_or(Typed::null(), |it| self.value(it.1));
                let id = self.column(value.dtype);
                columns.push((id, value.expr));
                output.push((name.clone(), id));
            }
            Bound { plan: Plan::Select { input: Box::new(bound.plan), columns }, output }
        };
        let left = arrange(left);
        let right = arrange(right);
        (left, right)
    }

    /// Converts the columns of both sides to common types.
    fn same_types(&mut self, left: Bound, right: Bound) -> Result<(Bound, Bound)> {
        let mut dtypes = Vec::new();
        for ((name, a), (_, b)) in left.output.iter().zip(&right.output) {
            let (a, b) = (self.type_of(*a), self.type_of(*b));
            if (a == Type::Text || b == Type::Text) && a != Type::Duration && b != Type::Duration {
                dtypes.push(Type::Text);
                continue;
            }
            dtypes.push(types::common(a, b).ok_or_else(|| {
                let (a, b) = (types::name(a), types::name(b));
                SqlError::new(format!("column `{name}` is {a} on one side and {b} on the other"))
                    .hint("cast one of them")
            })?);
        }
        Ok((self.converted(left, &dtypes)?, self.converted(right, &dtypes)?))
    }

    fn converted(&mut self, bound: Bound, dtypes: &[Type]) -> Result<Bound> {
        let is_same = bound.output.iter().zip(dtypes).all(|(it, to)| self.type_of(it.1) == *to);
        let has_repeats = (1..bound.output.len())
            .any(|at| bound.output[..at].iter().any(|it| it.1 == bound.output[at].1));
        if is_same && !has_repeats {
            return Ok(bound);
        }
        let mut columns = Vec::new();
        let mut output = Vec::new();
        for ((name, id), dtype) in bound.output.into_iter().zip(dtypes) {
            let new = self.column(*dtype);
            let value = types::cast(self.value(id), *dtype, false)?;
            columns.push((new, value.expr));
            output.push((name, new));
        }
        Ok(Bound { plan: Plan::Select { input: Box::new(bound.plan), columns }, output })
    }

    /// Sorts and cuts the rows of a set operation, whose keys are output columns.
    fn ordered(
        &mut self,
        bound: Bound,
        order_by: Option<&OrderBy>,
        range: RowRange,
    ) -> Result<Bound> {
        let mut keys = Vec::new();
        match order_by.map(|it| &it.kind) {
            None => {}
            Some(OrderByKind::All(options)) => {
                keys.extend(bound.output.iter().map(|it| sort_key(it.1, *options)));
            }
            Some(OrderByKind::Expressions(exprs)) => {
                for item in exprs {
                    let position = ordinal(&item.expr, bound.output.len())?;
                    let column =
                        position.map(|at| bound.output[at].1).or_else(|| match &item.expr {
                            Ast::Identifier(name) => bound
                                .output
                                .iter()
                                .find(|it| is_same(&it.0, &name.value))
                                .map(|it| it.1),
                            _ => None,
                        });
                    let column = column.ok_or_else(|| {
                        SqlError::new(
                            "ORDER BY of a set operation takes its columns, by name or number",
                        )
                        .at(&item.expr)
                    })?;
                    keys.push(sort_key(column, item.options));
                }
            }
        }
        let mut plan = bound.plan;
        if !keys.is_empty() {
            plan = Plan::Sort { input: Box::new(plan), keys };
        }
        Ok(Bound { plan: range.apply(plan), output: bound.output })
    }

    /// Makes the record of the columns around a subquery.
    pub(crate) fn outer_of(env: &Env) -> Rc<Outer> {
        Rc::new(Outer { scope: env.scope.clone(), keys: RefCell::new(Vec::new()) })
    }
}

/// Returns a literal, also NULL of a type.
fn literal_of(value: &Typed) -> Option<Scalar> {
    match &value.expr {
        Expr::Literal(scalar) => Some(scalar.clone()),
        Expr::Cast(cast) if cast.input == Expr::Literal(Scalar::Null) => Some(Scalar::Null),
        _ => None,
    }
}

/// Returns the first of the rows that are equal in these columns.
pub(crate) fn distinct(plan: Plan, on: &[ColumnId]) -> Plan {
    Plan::Distinct { input: Box::new(plan), on: on.to_vec() }
}

/// Returns a sort key; nulls come last unless stated otherwise.
pub(crate) fn sort_key(column: ColumnId, options: OrderByOptions) -> SortKey {
    SortKey {
        column,
        descending: options.asc == Some(false),
        nulls_first: options.nulls_first.unwrap_or(false),
    }
}

/// Returns the position from 0 that a number in ORDER BY or GROUP BY means. Fails when there is no such column.
pub(crate) fn ordinal(expr: &Ast, n_columns: usize) -> Result<Option<usize>> {
    let Ast::Value(value) = expr else { return Ok(None) };
    let Value::Number(text, _) = &value.value else { return Ok(None) };
    let number = text.parse::<usize>().ok().filter(|it| (1..=n_columns).contains(it));
    let number = number.ok_or_else(|| {
        let message = format!("there is no column number {text}; there are {n_columns}");
        SqlError::new(message).at(expr)
    });
    Ok(Some(number? - 1))
}

/// Gives the columns of a query the names of an alias. Fails when there are more names than columns.
pub(crate) fn rename(
    bound: &mut Bound,
    names: &[sqlparser::ast::TableAliasColumnDef],
) -> Result<()> {
    if bound.output.len() < names.len() {
        let n = bound.output.len();
        let columns = if n == 1 { "column" } else { "columns" };
        let message = format!("{} names for {n} {columns}", names.len());
        return Err(SqlError::new(message).at_name(&names[0].name));
    }
    for (column, name) in bound.output.iter_mut().zip(names) {
        column.0.clone_from(&name.name.value);
    }
    Ok(())
}

/// Returns whether a query reads a table of this name.
fn mentions(query: &AstQuery, name: &str) -> bool {
    let text = query.to_string().to_lowercase();
    let name = name.to_lowercase();
    text.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| it == name)
}

fn row_range(limit: Option<&LimitClause>, fetch: Option<&Fetch>) -> Result<RowRange> {
    let mut range = RowRange::default();
    match limit {
        None => {}
        Some(LimitClause::LimitOffset { limit, offset, limit_by }) => {
            if let Some(by) = limit_by.first() {
                return Err(SqlError::new("LIMIT BY is not supported").at(by));
            }
            range.count = limit.as_ref().map(row_count).transpose()?.flatten();
            if let Some(offset) = offset {
                range.offset = row_count(&offset.value)?.unwrap_or(0);
            }
        }
        Some(LimitClause::OffsetCommaLimit { offset, limit }) => {
            range.count = row_count(limit)?;
            range.offset = row_count(offset)?.unwrap_or(0);
        }
    }
    if let Some(fetch) = fetch {
        if fetch.with_ties || fetch.percent {
            return Err(SqlError::new("FETCH takes a number of rows"));
        }
        range.count = match &fetch.quantity {
            Some(quantity) => row_count(quantity)?,
            None => Some(1),
        };
    }
    Ok(range)
}

/// Reads a number of rows; NULL is no limit.
fn row_count(expr: &Ast) -> Result<Option<u64>> {
    let mut binder = Binder::new(&[], 0);
    let value = binder.expr(expr, &mut Env::constant());
    let fold = |value: &Typed| match value.literal() {
        Some(Scalar::Null) => Some(None),
        Some(Scalar::Int(number)) => u64::try_from(*number).ok().map(Some),
        _ => None,
    };
    value
        .ok()
        .as_ref()
        .and_then(fold)
        .ok_or_else(|| SqlError::new("LIMIT and OFFSET take whole numbers from 0").at(expr))
}
