//! SELECT: from the rows of FROM to the columns of the result.

use std::rc::Rc;

use sqlparser::ast::{
    Distinct, ExcludeSelectItem, Expr as Ast, GroupByExpr, GroupByWithModifier, Ident, OrderBy,
    OrderByKind, OrderByOptions, RenameSelectItem, Select, SelectItem,
    SelectItemQualifiedWildcardKind, WildcardAdditionalOptions,
};

use crate::plan::{
    Aggregate, ColumnId, Expr, Function, Plan, Scalar, SortKey, Type, Window, WindowFrame,
    WindowFunction,
};

use super::binder::{Binder, Bound, RowRange, distinct, ordinal, sort_key};
use super::env::{
    AggregateCall, Alias, Attachment, Clause, Env, OrderCall, WindowCall, WindowCallFunction,
};
use super::error::{Result, SqlError};
use super::from::{Relation, conjuncts, extend, filter};
use super::scope::{Outer, ScopeColumn, full_name, is_same, unknown};
use super::subqueries::OUTER;
use super::types::{self, Typed};
use super::walk;

/// A column of the result.
#[derive(Debug, Clone)]
struct Item {
    name: String,
    value: Typed,
    /// Where it is in the statement; `None` for a column of `*`.
    ast: Option<Ast>,
}

/// What rows are sorted by.
#[derive(Debug, Clone)]
enum Order {
    /// A column of the result.
    Item(usize, OrderByOptions),
    /// A value of its own.
    Value(Typed, OrderByOptions),
}

/// The expressions of a statement, bound.
struct SelectParts {
    items: Vec<Item>,
    /// The grouping sets; empty when the rows are not grouped.
    sets: Vec<Vec<Typed>>,
    is_grouped: bool,
    having: Option<Expr>,
    qualify: Option<Expr>,
    order: Vec<Order>,
    on: Vec<Typed>,
    is_distinct: bool,
}

impl Binder<'_> {
    /// Binds a SELECT with the ORDER BY and LIMIT that follow it. Fails with the place that cannot be bound.
    pub(crate) fn select(
        &mut self,
        select: &Select,
        order_by: Option<&OrderBy>,
        range: RowRange,
        outer: Option<&Rc<Outer>>,
    ) -> Result<Bound> {
        check_supported(select)?;
        let mut relations = Vec::new();
        for item in &select.from {
            relations.push(self.table_with_joins(item)?);
        }
        check_tables(&relations, select)?;
        let scope: Vec<ScopeColumn> = relations.iter().flat_map(|it| it.scope.clone()).collect();
        let mut env = Env::new(Rc::from(scope), outer.cloned(), Clause::Where);
        env.aliases = aliases(select);
        env.windows_named.clone_from(&select.named_window);
        let mut predicates = Vec::new();
        for part in select.selection.iter().flat_map(conjuncts) {
            predicates.push(self.condition(part, &mut env)?);
        }
        let of_where = std::mem::take(&mut env.before);
        let parts = self.parts(select, order_by, &mut env)?;
        let keys: Vec<ColumnId> = outer
            .map(|it| it.keys.borrow().iter().map(|(_, inner)| *inner).collect())
            .unwrap_or_default();
        let plan = self.rows(relations, &keys, predicates, of_where)?;
        let before = std::mem::take(&mut env.before);
        let plan = self.attached(plan, before)?;
        let (plan, parts) = self.grouped(plan, parts, &keys, &mut env)?;
        let after = std::mem::take(&mut env.after);
        let plan = self.attached(plan, after)?;
        let plan = filter(plan, parts.having.iter().cloned().collect());
        let plan = self.windowed(plan, std::mem::take(&mut env.windows));
        let plan = filter(plan, parts.qualify.iter().cloned().collect());
        self.result(plan, &parts, range, &keys)
    }

    /// Joins and filters the rows of FROM.
    fn rows(
        &mut self,
        mut relations: Vec<Relation>,
        keys: &[ColumnId],
        predicates: Vec<Expr>,
        of_where: Vec<Attachment>,
    ) -> Result<Plan> {
        if !keys.is_empty() {
            // The values from outside are a relation as any other.
            let column = |id: &ColumnId| ScopeColumn {
                qualifier: None,
                name: String::new(),
                id: *id,
                is_merged: true,
            };
            relations.push(Relation {
                plan: Plan::Scan { table: OUTER.to_owned(), columns: Vec::new() },
                scope: keys.iter().map(column).collect(),
            });
        }
        let is_here = |expr: &Expr| {
            let mut is_here = true;
            walk::columns(expr, &mut |id| is_here &= relations.iter().any(|it| it.has(id)));
            is_here
        };
        let (here, later): (Vec<Expr>, Vec<Expr>) = predicates.into_iter().partition(is_here);
        let plan = self.join_all(relations, here);
        let plan = self.attached(plan, of_where)?;
        Ok(filter(plan, later))
    }

    fn parts(
        &mut self,
        select: &Select,
        order_by: Option<&OrderBy>,
        env: &mut Env,
    ) -> Result<SelectParts> {
        env.clause = Clause::Output;
        let aliases = std::mem::take(&mut env.aliases);
        let items = self.items(select, &aliases, env)?;
        env.aliases = aliases;
        env.clause = Clause::GroupBy;
        let sets = self.grouping_sets(&select.group_by, &items, env)?;
        env.clause = Clause::Output;
        env.prefers_aliases = true;
        let having = select.having.as_ref().map(|it| self.condition(it, env)).transpose()?;
        let qualify = select.qualify.as_ref().map(|it| self.condition(it, env)).transpose()?;
        env.prefers_aliases = false;
        let order = self.order(order_by, &items, env)?;
        let on = match &select.distinct {
            Some(Distinct::On(exprs)) => {
                let mut on = Vec::new();
                for expr in exprs {
                    on.push(match ordinal(expr, items.len())? {
                        Some(at) => items[at].value.clone(),
                        None => self.expr(expr, env)?,
                    });
                }
                on
            }
            _ => Vec::new(),
        };
        let is_grouped = !sets.is_empty() || !env.aggregates.is_empty() || having.is_some();
        let is_distinct = matches!(select.distinct, Some(Distinct::Distinct));
        Ok(SelectParts { items, sets, is_grouped, having, qualify, order, on, is_distinct })
    }

    /// Binds the columns of the result. A column may use the names of earlier ones.
    fn items(&mut self, select: &Select, aliases: &[Alias], env: &mut Env) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        let mut n_aliases = 0;
        for item in &select.projection {
            env.aliases = aliases[..n_aliases].to_vec();
            match item {
                SelectItem::UnnamedExpr(expr) => {
                    let value = self.expr(expr, env)?;
                    let name = Self::name_of(expr, &value, env);
                    items.push(Item { name, value, ast: Some(expr.clone()) });
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    let value = self.expr(expr, env)?;
                    items.push(Item { name: alias.value.clone(), value, ast: Some(expr.clone()) });
                    n_aliases += 1;
                }
                SelectItem::Wildcard(options) => {
                    let scope = Rc::clone(&env.scope);
                    let columns: Vec<_> = scope.iter().filter(|it| !it.is_merged).collect();
                    items.extend(self.wildcard(&columns, options, env)?);
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(table),
                    options,
                ) => {
                    let scope = Rc::clone(&env.scope);
                    let table = table.0.last().and_then(|it| it.as_ident()).cloned();
                    let table = table.unwrap_or_else(|| Ident::new(""));
                    let is_of = |it: &&ScopeColumn| {
                        it.qualifier.as_deref().is_some_and(|it| is_same(it, &table.value))
                    };
                    let columns: Vec<&ScopeColumn> = scope.iter().filter(is_of).collect();
                    if columns.is_empty() {
                        return Err(unknown(&scope, Some(&table), &Ident::new("*")).at(item));
                    }
                    items.extend(self.wildcard(&columns, options, env)?);
                }
                other => return Err(SqlError::new(format!("`{other}` is not supported")).at(other)),
            }
        }
        // FROM without SELECT.
        if select.projection.is_empty() {
            let columns = env.scope.iter().filter(|it| !it.is_merged);
            let columns: Vec<(String, ColumnId)> =
                columns.map(|it| (it.name.clone(), it.id)).collect();
            items.extend(columns.into_iter().map(|(name, id)| Item {
                name,
                value: self.value(id),
                ast: None,
            }));
        }
        if items.is_empty() {
            return Err(SqlError::new("the statement has no columns").at(select));
        }
        Ok(items)
    }

    fn name_of(expr: &Ast, value: &Typed, env: &Env) -> String {
        match (expr, &value.expr) {
            (Ast::Identifier(_) | Ast::CompoundIdentifier(_), Expr::Column(id)) => {
                let found = env.scope.iter().find(|it| it.id == *id);
                found.map_or_else(|| written_name(expr), |it| it.name.clone())
            }
            (Ast::Nested(inner), _) => Self::name_of(inner, value, env),
            _ => written_name(expr),
        }
    }

    fn wildcard(
        &mut self,
        columns: &[&ScopeColumn],
        options: &WildcardAdditionalOptions,
        env: &mut Env,
    ) -> Result<Vec<Item>> {
        let mut items: Vec<Item> = columns
            .iter()
            .map(|it| Item { name: it.name.clone(), value: self.value(it.id), ast: None })
            .collect();
        let place = |items: &[Item], name: &Ident| {
            let found = items.iter().position(|it| is_same(&it.name, &name.value));
            found.ok_or_else(|| unknown(&env.scope, None, name))
        };
        let mut excluded: Vec<Ident> = match &options.opt_exclude {
            None => Vec::new(),
            Some(ExcludeSelectItem::Single(name)) => vec![last_part(name)],
            Some(ExcludeSelectItem::Multiple(names)) => names.iter().map(last_part).collect(),
        };
        if let Some(except) = &options.opt_except {
            excluded.push(except.first_element.clone());
            excluded.extend(except.additional_elements.iter().cloned());
        }
        for name in &excluded {
            let at = place(&items, name)?;
            items.remove(at);
        }
        let renames = match &options.opt_rename {
            None => Vec::new(),
            Some(RenameSelectItem::Single(rename)) => vec![rename.clone()],
            Some(RenameSelectItem::Multiple(renames)) => renames.clone(),
        };
        for rename in renames {
            let at = place(&items, &rename.ident)?;
            items[at].name = rename.alias.value;
        }
        let replaced = options.opt_replace.iter().flat_map(|it| &it.items);
        let replaced: Vec<(usize, Ast)> = replaced
            .map(|it| Ok((place(&items, &it.column_name)?, it.expr.clone())))
            .collect::<Result<_>>()?;
        for (at, expr) in replaced {
            items[at].value = self.expr(&expr, env)?;
            items[at].ast = Some(expr);
        }
        if let Some(like) = &options.opt_ilike {
            return Err(SqlError::new(format!("`* {like}` is not supported")));
        }
        Ok(items)
    }

    fn grouping_sets(
        &mut self,
        group_by: &GroupByExpr,
        items: &[Item],
        env: &mut Env,
    ) -> Result<Vec<Vec<Typed>>> {
        let (exprs, modifiers) = match group_by {
            GroupByExpr::All(modifiers) => {
                if !modifiers.is_empty() {
                    return Err(SqlError::new("GROUP BY ALL takes no ROLLUP or CUBE"));
                }
                let is_key = |it: &&Item| {
                    let mut is_key = true;
                    walk::columns(&it.value.expr, &mut |id| {
                        is_key &= !env.aggregates.iter().any(|it| it.0 == id)
                            && !env.windows.iter().any(|it| it.0 == id);
                    });
                    is_key && it.value.literal().is_none()
                };
                return Ok(vec![items.iter().filter(is_key).map(|it| it.value.clone()).collect()]);
            }
            GroupByExpr::Expressions(exprs, modifiers) => (exprs, modifiers),
        };
        if exprs.is_empty() {
            return Ok(Vec::new());
        }
        let mut sets: Vec<Vec<Typed>> = vec![Vec::new()];
        for expr in exprs {
            let of_expr = self.sets_of(expr, items, env)?;
            let crossed =
                sets.iter().flat_map(|set| of_expr.iter().map(|it| [&set[..], it].concat()));
            sets = crossed.collect();
            if 1_000 < sets.len() {
                return Err(SqlError::new("there are more than 1000 grouping sets").at(expr));
            }
        }
        match &modifiers[..] {
            [] => Ok(sets),
            [GroupByWithModifier::Rollup] if sets.len() == 1 => Ok(rollup(&singles(&sets[0]))),
            [GroupByWithModifier::Cube] if sets.len() == 1 => cube(&singles(&sets[0])),
            _ => Err(SqlError::new("this form of GROUP BY is not supported")),
        }
    }

    fn sets_of(&mut self, expr: &Ast, items: &[Item], env: &mut Env) -> Result<Vec<Vec<Typed>>> {
        let mut lists = |lists: &[Vec<Ast>], env: &mut Env| -> Result<Vec<Vec<Typed>>> {
            let each = lists.iter().map(|list| {
                let keys =
                    list.iter().map(|it| self.key(it, items, env)).collect::<Result<Vec<_>>>();
                keys.map(|it| it.concat())
            });
            each.collect()
        };
        match expr {
            Ast::Rollup(written) => Ok(rollup(&lists(written, env)?)),
            Ast::Cube(written) => cube(&lists(written, env)?),
            Ast::GroupingSets(written) => lists(written, env),
            Ast::Tuple(written) => lists(std::slice::from_ref(written), env),
            _ => Ok(vec![self.key(expr, items, env)?]),
        }
    }

    /// Binds a key: a number of a column, an expression, or a name of SELECT.
    fn key(&mut self, expr: &Ast, items: &[Item], env: &mut Env) -> Result<Vec<Typed>> {
        if let Ast::Tuple(written) = expr {
            let keys =
                written.iter().map(|it| self.key(it, items, env)).collect::<Result<Vec<_>>>()?;
            return Ok(keys.concat());
        }
        let value = match ordinal(expr, items.len())? {
            Some(at) => items[at].value.clone(),
            None => self.expr(expr, env)?,
        };
        let mut is_wrong = false;
        walk::columns(&value.expr, &mut |id| {
            is_wrong |= env.aggregates.iter().any(|it| it.0 == id)
                || env.windows.iter().any(|it| it.0 == id);
        });
        if is_wrong {
            return Err(SqlError::new("rows cannot be grouped by an aggregate")
                .at(expr)
                .hint("compute it in a subquery first"));
        }
        Ok(vec![value])
    }

    fn order(
        &mut self,
        order_by: Option<&OrderBy>,
        items: &[Item],
        env: &mut Env,
    ) -> Result<Vec<Order>> {
        let exprs = match order_by.map(|it| &it.kind) {
            None => return Ok(Vec::new()),
            Some(OrderByKind::All(options)) => {
                return Ok((0..items.len()).map(|at| Order::Item(at, *options)).collect());
            }
            Some(OrderByKind::Expressions(exprs)) => exprs,
        };
        let mut order = Vec::new();
        for item in exprs {
            if item.with_fill.is_some() {
                return Err(SqlError::new("WITH FILL is not supported").at(&item.expr));
            }
            // A name of the result goes before a column of FROM.
            let position = ordinal(&item.expr, items.len())?.or_else(|| match &item.expr {
                Ast::Identifier(name) => items.iter().position(|it| is_same(&it.name, &name.value)),
                _ => None,
            });
            order.push(match position {
                Some(at) => Order::Item(at, item.options),
                None => Order::Value(self.expr(&item.expr, env)?, item.options),
            });
        }
        Ok(order)
    }

    /// Groups the rows, if the statement does. Afterwards the expressions use keys and aggregates only.
    fn grouped(
        &mut self,
        plan: Plan,
        parts: SelectParts,
        keys: &[ColumnId],
        env: &mut Env,
    ) -> Result<(Plan, SelectParts)> {
        if !parts.is_grouped {
            return Ok((plan, parts));
        }
        let calls = std::mem::take(&mut env.aggregates);
        let has_sets = !parts.sets.is_empty();
        let sets = if has_sets { parts.sets.clone() } else { vec![Vec::new()] };
        let mut all: Vec<Typed> = Vec::new();
        for key in sets.iter().flatten() {
            if !all.contains(key) {
                all.push(key.clone());
            }
        }
        let (plan, ids) = self.as_columns(plan, all.clone());
        let (plan, aggregates) = self.aggregate_columns(plan, calls);
        let of_keys: Vec<(Expr, ColumnId)> =
            all.iter().map(|it| it.expr.clone()).zip(ids.iter().copied()).collect();
        let plan = if has_sets {
            self.copy(&plan, sets.len() - 1)?;
            self.by_sets(plan, &sets, &of_keys, keys, aggregates.clone())
        } else if keys.is_empty() {
            Plan::Aggregate {
                input: Box::new(plan),
                keys: Vec::new(),
                aggregates: aggregates.clone(),
            }
        } else {
            self.for_each_outer(plan, keys, aggregates.clone())
        };
        let known: Vec<ColumnId> = keys.to_vec();
        let scope = Rc::clone(&env.scope);
        let lift = |expr: &Expr| lifted(expr, &of_keys, &known, &scope);
        let lift_typed = |value: &Typed| Ok(Typed::new(lift(&value.expr)?, value.dtype));
        let SelectParts { items, sets, is_grouped, having, qualify, order, on, is_distinct } =
            parts;
        let mut lifted_items = Vec::new();
        for item in items {
            let value = lift_typed(&item.value).map_err(|it: SqlError| match &item.ast {
                Some(ast) => it.at(ast),
                None => it,
            })?;
            lifted_items.push(Item { value, ..item });
        }
        let order = order.into_iter().map(|it| match it {
            Order::Item(at, options) => Ok(Order::Item(at, options)),
            Order::Value(value, options) => Ok(Order::Value(lift_typed(&value)?, options)),
        });
        let order = order.collect::<Result<_>>()?;
        for (_, window) in &mut env.windows {
            lift_window(window, &lift_typed)?;
        }
        for attachment in &mut env.after {
            for (value, _) in &mut attachment.keys {
                *value = lift_typed(value)?;
            }
            for (out, _) in &attachment.outer {
                lift(&Expr::Column(*out))?;
            }
        }
        let parts = SelectParts {
            items: lifted_items,
            sets,
            is_grouped,
            having: having.as_ref().map(lift).transpose()?,
            qualify: qualify.as_ref().map(lift).transpose()?,
            order,
            on: on.iter().map(lift_typed).collect::<Result<_>>()?,
            is_distinct,
        };
        Ok((plan, parts))
    }

    /// Makes columns of the arguments of aggregates.
    fn aggregate_columns(
        &mut self,
        plan: Plan,
        calls: Vec<(ColumnId, AggregateCall)>,
    ) -> (Plan, Vec<(ColumnId, Aggregate)>) {
        let mut plan = plan;
        let mut aggregates = Vec::new();
        for (id, call) in calls {
            let aggregate;
            (plan, aggregate) = self.aggregate_column(plan, call);
            aggregates.push((id, aggregate));
        }
        (plan, aggregates)
    }

    fn aggregate_column(&mut self, plan: Plan, call: AggregateCall) -> (Plan, Aggregate) {
        let filter: Vec<Typed> =
            call.filter.map(|it| Typed::new(it, Type::Bool)).into_iter().collect();
        let (plan, arguments) = self.as_columns(plan, call.arguments);
        let (plan, filter) = self.as_columns(plan, filter);
        let (plan, order) = self.order_columns(plan, &call.order);
        let filter = filter.first().copied();
        let aggregate = Aggregate {
            function: call.function,
            arguments,
            distinct: call.distinct,
            filter,
            order,
        };
        (plan, aggregate)
    }

    fn order_columns(&mut self, plan: Plan, order: &[OrderCall]) -> (Plan, Vec<SortKey>) {
        let values = order.iter().map(|it| it.value.clone()).collect();
        let (plan, ids) = self.as_columns(plan, values);
        (plan, order.iter().zip(ids).map(|(call, id)| call.key(id)).collect())
    }

    /// Groups by each set of keys; a key that a set does not have is null.
    fn by_sets(
        &mut self,
        plan: Plan,
        sets: &[Vec<Typed>],
        of_keys: &[(Expr, ColumnId)],
        outer: &[ColumnId],
        aggregates: Vec<(ColumnId, Aggregate)>,
    ) -> Plan {
        let ids_of = |set: &[Typed]| -> Vec<ColumnId> {
            let has = |expr: &Expr| set.iter().any(|key| key.expr == *expr);
            let ids = of_keys.iter().filter(|it| has(&it.0)).map(|it| it.1);
            outer.iter().copied().chain(ids).collect()
        };
        if let [set] = sets {
            let mut keys = ids_of(set);
            keys.dedup();
            return Plan::Aggregate { input: Box::new(plan), keys, aggregates };
        }
        let columns: Vec<ColumnId> = outer
            .iter()
            .copied()
            .chain(of_keys.iter().map(|it| it.1))
            .chain(aggregates.iter().map(|it| it.0))
            .collect();
        let mut inputs = Vec::new();
        for set in sets {
            let keys = ids_of(set);
            let missing = of_keys.iter().map(|it| it.1).filter(|it| !keys.contains(it));
            let nulls: Vec<(ColumnId, Expr)> =
                missing.map(|it| (it, types::null_of(self.type_of(it)))).collect();
            let grouped = Plan::Aggregate {
                input: Box::new(plan.clone()),
                keys,
                aggregates: aggregates.clone(),
            };
            inputs.push((extend(grouped, nulls), columns.clone()));
        }
        Plan::Union { inputs, columns }
    }

    /// Aggregates the rows for each combination of values from outside, also where there are none.
    fn for_each_outer(
        &mut self,
        plan: Plan,
        keys: &[ColumnId],
        aggregates: Vec<(ColumnId, Aggregate)>,
    ) -> Plan {
        let counts: Vec<ColumnId> = aggregates
            .iter()
            .filter(|it| {
                use crate::plan::AggregateFunction::{Count, CountRows};
                matches!(it.1.function, Count | CountRows)
            })
            .map(|it| it.0)
            .collect();
        let values: Vec<ColumnId> = aggregates.iter().map(|it| it.0).collect();
        let grouped = Plan::Aggregate { input: Box::new(plan), keys: keys.to_vec(), aggregates };
        let mut equal = Vec::new();
        let mut columns = Vec::new();
        for key in keys {
            let same = self.column(self.type_of(*key));
            columns.push((same, Expr::Column(*key)));
            equal.push((*key, same));
        }
        let mut fresh = Vec::new();
        for value in values {
            let other = self.column(self.type_of(value));
            columns.push((other, Expr::Column(value)));
            let found = Expr::Column(other);
            let zero = Expr::Literal(Scalar::Int(0));
            fresh.push((
                value,
                if counts.contains(&value) {
                    Expr::Call(Function::Coalesce, vec![found, zero])
                } else {
                    found
                },
            ));
        }
        let joined = Plan::Join {
            left: Box::new(Plan::Scan { table: OUTER.to_owned(), columns: Vec::new() }),
            right: Box::new(Plan::Select { input: Box::new(grouped), columns }),
            kind: crate::plan::JoinKind::Left,
            equal,
            nulls_equal: true,
        };
        extend(joined, fresh)
    }

    fn windowed(&mut self, plan: Plan, calls: Vec<(ColumnId, WindowCall)>) -> Plan {
        if calls.is_empty() {
            return plan;
        }
        let mut plan = plan;
        let mut windows = Vec::new();
        for (id, call) in calls {
            let (partition, order, function);
            (plan, partition) = self.as_columns(plan, call.partition);
            (plan, order) = self.order_columns(plan, &call.order);
            (plan, function) = self.window_column(plan, call.function);
            windows.push((id, Window { function, partition, order, frame: call.frame }));
        }
        Plan::Windows { input: Box::new(plan), windows }
    }

    fn window_column(
        &mut self,
        plan: Plan,
        function: WindowCallFunction,
    ) -> (Plan, WindowFunction) {
        let mut one = |plan: Plan, value: Typed| {
            let (plan, ids) = self.as_columns(plan, vec![value]);
            (plan, ids[0])
        };
        match function {
            WindowCallFunction::Position(function) => (plan, function),
            WindowCallFunction::First(value) => {
                let (plan, id) = one(plan, value);
                (plan, WindowFunction::First(id))
            }
            WindowCallFunction::Last(value) => {
                let (plan, id) = one(plan, value);
                (plan, WindowFunction::Last(id))
            }
            WindowCallFunction::Nth(value, n) => {
                let (plan, id) = one(plan, value);
                (plan, WindowFunction::Nth(id, n))
            }
            WindowCallFunction::Lag(value, offset, default) => {
                let (plan, column) = one(plan, value);
                let (plan, default) = match default {
                    None => (plan, None),
                    Some(default) => {
                        let (plan, id) = one(plan, default);
                        (plan, Some(id))
                    }
                };
                (plan, WindowFunction::Lag { column, offset, default })
            }
            WindowCallFunction::Aggregate(call) => {
                let (plan, aggregate) = self.aggregate_column(plan, call);
                (plan, WindowFunction::Aggregate(aggregate))
            }
        }
    }

    /// Projects, removes duplicates, sorts and cuts.
    fn result(
        &mut self,
        plan: Plan,
        parts: &SelectParts,
        range: RowRange,
        outer: &[ColumnId],
    ) -> Result<Bound> {
        let mut columns: Vec<(ColumnId, Expr)> =
            outer.iter().map(|it| (*it, Expr::Column(*it))).collect();
        let mut output = Vec::new();
        for item in &parts.items {
            let id = self.column(item.value.dtype);
            columns.push((id, item.value.expr.clone()));
            output.push((item.name.clone(), id));
        }
        let mut keys = Vec::new();
        for order in &parts.order {
            keys.push(match order {
                Order::Item(at, options) => sort_key(output[*at].1, *options),
                Order::Value(value, options) => {
                    let known = columns.iter().find(|it| it.1 == value.expr).map(|it| it.0);
                    if known.is_none() && parts.is_distinct {
                        let message = "SELECT DISTINCT can be ordered only by its columns";
                        return Err(
                            SqlError::new(message).hint("add the expression to SELECT, or group")
                        );
                    }
                    let id = known.unwrap_or_else(|| {
                        let id = self.column(value.dtype);
                        columns.push((id, value.expr.clone()));
                        id
                    });
                    sort_key(id, *options)
                }
            });
        }
        let mut on = Vec::new();
        for value in &parts.on {
            let id = self.column(value.dtype);
            columns.push((id, value.expr.clone()));
            on.push(id);
        }
        let mut plan = Plan::Select { input: Box::new(plan), columns };
        if parts.is_distinct {
            let ids: Vec<ColumnId> =
                outer.iter().copied().chain(output.iter().map(|it| it.1)).collect();
            plan = distinct(plan, &ids);
        }
        let sort = |plan: Plan, keys: &[SortKey]| match keys {
            [] => plan,
            keys => Plan::Sort { input: Box::new(plan), keys: keys.to_vec() },
        };
        if !on.is_empty() {
            let on: Vec<ColumnId> = outer.iter().copied().chain(on).collect();
            plan = distinct(sort(plan, &keys), &on);
        }
        let plan = if outer.is_empty() {
            range.apply(sort(plan, &keys))
        } else {
            self.range_of_each(plan, range, outer, keys)
        };
        Ok(Bound { plan, output })
    }

    /// Cuts the rows for each combination of values from outside.
    fn range_of_each(
        &mut self,
        plan: Plan,
        range: RowRange,
        outer: &[ColumnId],
        order: Vec<SortKey>,
    ) -> Plan {
        if range.is_all() {
            return plan;
        }
        let number = self.column(Type::Int);
        let window = Window {
            function: WindowFunction::RowNumber,
            partition: outer.to_vec(),
            order,
            frame: WindowFrame::PARTITION,
        };
        let numbered = Plan::Windows { input: Box::new(plan), windows: vec![(number, window)] };
        let int = |value: u64| Expr::Literal(Scalar::Int(i64::try_from(value).unwrap_or(i64::MAX)));
        let mut predicates =
            vec![Expr::Call(Function::Greater, vec![Expr::Column(number), int(range.offset)])];
        if let Some(count) = range.count {
            let last = int(range.offset.saturating_add(count));
            predicates.push(Expr::Call(Function::LessEqual, vec![Expr::Column(number), last]));
        }
        filter(numbered, predicates)
    }
}

/// Returns an expression over keys and aggregates.
fn lifted(
    expr: &Expr,
    of_keys: &[(Expr, ColumnId)],
    known: &[ColumnId],
    scope: &[ScopeColumn],
) -> Result<Expr> {
    walk::replaced(expr, &mut |part: &Expr| {
        if let Some((_, id)) = of_keys.iter().find(|it| it.0 == *part) {
            return Ok(Some(Expr::Column(*id)));
        }
        let Expr::Column(id) = part else { return Ok(None) };
        match scope.iter().find(|it| it.id == *id) {
            Some(column) if !known.contains(id) => {
                let message =
                    format!("{} is neither in GROUP BY nor in an aggregate", full_name(column));
                Err(SqlError::new(message).hint(format!(
                    "add it to GROUP BY, or write any_value({}), min(…), sum(…)",
                    column.name
                )))
            }
            _ => Ok(Some(part.clone())),
        }
    })
}

fn lift_window(window: &mut WindowCall, lift: &dyn Fn(&Typed) -> Result<Typed>) -> Result<()> {
    let each = |values: &mut Vec<Typed>| -> Result<()> {
        for value in values {
            *value = lift(value)?;
        }
        Ok(())
    };
    each(&mut window.partition)?;
    for key in &mut window.order {
        key.value = lift(&key.value)?;
    }
    match &mut window.function {
        WindowCallFunction::Position(_) => {}
        WindowCallFunction::First(value)
        | WindowCallFunction::Last(value)
        | WindowCallFunction::Nth(value, _) => {
            *value = lift(value)?;
        }
        WindowCallFunction::Lag(value, _, default) => {
            *value = lift(value)?;
            if let Some(default) = default {
                *default = lift(default)?;
            }
        }
        WindowCallFunction::Aggregate(call) => {
            each(&mut call.arguments)?;
            if let Some(filter) = &mut call.filter {
                *filter = lift(&Typed::new(filter.clone(), Type::Bool))?.expr;
            }
        }
    }
    Ok(())
}

fn check_supported(select: &Select) -> Result<()> {
    for (is_there, name) in [
        (select.top.is_some(), "TOP"),
        (select.into.is_some(), "INTO"),
        (!select.lateral_views.is_empty(), "LATERAL VIEW"),
        (select.prewhere.is_some(), "PREWHERE"),
        (!select.connect_by.is_empty(), "CONNECT BY"),
        (!select.cluster_by.is_empty(), "CLUSTER BY"),
        (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
        (!select.sort_by.is_empty(), "SORT BY"),
        (select.value_table_mode.is_some(), "AS STRUCT"),
        (select.exclude.is_some(), "EXCLUDE here"),
    ] {
        if is_there {
            let mut error = SqlError::new(format!("{name} is not supported")).at(select);
            if name == "TOP" {
                error = error.hint("write LIMIT at the end");
            }
            return Err(error);
        }
    }
    Ok(())
}

/// Requires that no two items of FROM have the same name.
fn check_tables(relations: &[Relation], select: &Select) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for relation in relations {
        let mut here: Vec<&str> =
            relation.scope.iter().filter_map(|it| it.qualifier.as_deref()).collect();
        here.sort_unstable();
        here.dedup();
        if let Some(twice) = here.iter().find(|it| seen.contains(it)) {
            let message = format!("two tables are called `{twice}`");
            return Err(SqlError::new(message).at(select).hint("give each an alias"));
        }
        seen.extend(here);
    }
    Ok(())
}

fn aliases(select: &Select) -> Vec<Alias> {
    let alias = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { expr, alias } => {
            Some(Alias { name: alias.value.clone(), expr: Rc::new(expr.clone()) })
        }
        _ => None,
    };
    select.projection.iter().filter_map(alias).collect()
}

/// Returns the name of a column without an alias: the expression as it is written.
fn written_name(expr: &Ast) -> String {
    match expr {
        Ast::Identifier(name) => name.value.clone(),
        Ast::CompoundIdentifier(parts) => {
            parts.last().map_or_else(String::new, |it| it.value.clone())
        }
        other => other.to_string(),
    }
}

fn last_part(name: &sqlparser::ast::ObjectName) -> Ident {
    let last = name.0.last().and_then(|it| it.as_ident()).cloned();
    last.unwrap_or_else(|| Ident::new(name.to_string()))
}

fn singles(keys: &[Typed]) -> Vec<Vec<Typed>> {
    keys.iter().map(|it| vec![it.clone()]).collect()
}

/// All keys, all but the last, and so on, to none.
fn rollup(lists: &[Vec<Typed>]) -> Vec<Vec<Typed>> {
    (0..=lists.len()).rev().map(|n| lists[..n].concat()).collect()
}

/// Every combination of keys.
fn cube(lists: &[Vec<Typed>]) -> Result<Vec<Vec<Typed>>> {
    if 8 < lists.len() {
        return Err(SqlError::new("CUBE takes at most 8 keys"));
    }
    let sets = (0..1_usize << lists.len()).rev().map(|set| {
        let chosen = lists.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        chosen.flat_map(|it| it.1.clone()).collect()
    });
    Ok(sets.collect())
}
