//! What a plan means, row by row, in the plainest way.

use std::cmp::Ordering;

use jiff::civil::Date;

use crate::plan::{
    Aggregate, AggregateFunction, ColumnId, DatePart, Expr, Function, JoinKind, Plan, Scalar,
    SortKey, Type,
};

/// Rows with columns.
#[derive(Debug, Clone)]
pub(super) struct Relation {
    pub columns: Vec<ColumnId>,
    pub rows: Vec<Vec<Scalar>>,
}

impl Relation {
    /// Returns some of the columns.
    pub(super) fn only(&self, columns: &[(ColumnId, Type)]) -> Relation {
        let ids: Vec<ColumnId> = columns.iter().map(|it| it.0).collect();
        let rows = self.rows.iter().map(|row| self.cells(row, &ids)).collect();
        Relation { columns: ids, rows }
    }

    fn cells(&self, row: &[Scalar], columns: &[ColumnId]) -> Vec<Scalar> {
        columns.iter().map(|it| self.cell(row, *it).clone()).collect()
    }

    fn cell<'a>(&self, row: &'a [Scalar], column: ColumnId) -> &'a Scalar {
        &row[self.columns.iter().position(|it| *it == column).unwrap()]
    }
}

/// Orders values of one type: null first, NaN after every number.
pub(super) fn compare(a: &Scalar, b: &Scalar) -> Ordering {
    match (a, b) {
        (Scalar::Null, Scalar::Null) => Ordering::Equal,
        (Scalar::Null, _) => Ordering::Less,
        (_, Scalar::Null) => Ordering::Greater,
        (Scalar::Bool(a), Scalar::Bool(b)) => a.cmp(b),
        (Scalar::Int(a), Scalar::Int(b)) | (Scalar::Timestamp(a), Scalar::Timestamp(b)) => a.cmp(b),
        (Scalar::Float(a), Scalar::Float(b)) => {
            a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (Scalar::Text(a), Scalar::Text(b)) => a.cmp(b),
        (Scalar::Date(a), Scalar::Date(b)) => a.cmp(b),
        (a, b) => panic!("{a:?} and {b:?} have different types"),
    }
}

fn is_equal(a: &Scalar, b: &Scalar) -> bool {
    compare(a, b) == Ordering::Equal
}

/// Evaluates a plan over the only table, whose columns have the ids from 0.
pub(super) fn evaluate(plan: &Plan, table: &[Vec<Scalar>]) -> Relation {
    match plan {
        Plan::Scan { columns, .. } => {
            let at: Vec<usize> = columns.iter().map(|it| it.0.parse().unwrap()).collect();
            let cells = |row: &Vec<Scalar>| at.iter().map(|it| row[*it].clone()).collect();
            let columns = columns.iter().map(|it| it.1).collect();
            Relation { columns, rows: table.iter().map(cells).collect() }
        }
        Plan::Numbered { table: _, columns, place } => {
            let at: Vec<usize> = columns.iter().map(|it| it.0.parse().unwrap()).collect();
            let numbered = (0_i64..).zip(table).map(|(number, row)| {
                let cells = at.iter().map(|it| row[*it].clone());
                cells.chain([Scalar::Int(number)]).collect()
            });
            let columns = columns.iter().map(|it| it.1).chain([*place]).collect();
            Relation { columns, rows: numbered.collect() }
        }
        Plan::Filter { input, predicate } => {
            let mut input = evaluate(input, table);
            let rows = std::mem::take(&mut input.rows).into_iter();
            let is_true = |row: &Vec<Scalar>| value(predicate, &input, row) == Scalar::Bool(true);
            let rows = rows.filter(is_true).collect();
            Relation { rows, ..input }
        }
        Plan::Extend { input, columns } => {
            let input = evaluate(input, table);
            let extended = |row: &Vec<Scalar>| {
                let added = columns.iter().map(|it| value(&it.1, &input, row));
                row.iter().cloned().chain(added).collect()
            };
            let rows = input.rows.iter().map(extended).collect();
            let added = columns.iter().map(|it| it.0);
            Relation { columns: input.columns.iter().copied().chain(added).collect(), rows }
        }
        Plan::Select { input, columns } => {
            let input = evaluate(input, table);
            let selected =
                |row: &Vec<Scalar>| columns.iter().map(|it| value(&it.1, &input, row)).collect();
            let rows = input.rows.iter().map(selected).collect();
            Relation { columns: columns.iter().map(|it| it.0).collect(), rows }
        }
        Plan::Aggregate { input, keys, aggregates } => {
            grouped(&evaluate(input, table), keys, aggregates)
        }
        Plan::Distinct { input, on } => {
            let mut input = evaluate(input, table);
            let mut seen: Vec<Vec<Scalar>> = Vec::new();
            let mut rows = Vec::new();
            for row in std::mem::take(&mut input.rows) {
                let key = input.cells(&row, on);
                if !seen.iter().any(|it| it.iter().zip(&key).all(|(a, b)| is_equal(a, b))) {
                    seen.push(key);
                    rows.push(row);
                }
            }
            Relation { rows, ..input }
        }
        Plan::Sort { input, keys } => {
            let input = evaluate(input, table);
            let mut rows = input.rows.clone();
            rows.sort_by(|a, b| {
                let parts = keys
                    .iter()
                    .map(|it| in_order(*it, input.cell(a, it.column), input.cell(b, it.column)));
                parts.fold(Ordering::Equal, Ordering::then)
            });
            Relation { rows, ..input }
        }
        Plan::Limit { input, offset, count } => {
            let input = evaluate(input, table);
            let size = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
            let (offset, count) = (size(*offset), count.map_or(usize::MAX, size));
            let rows = input.rows.iter().skip(offset).take(count).cloned().collect();
            Relation { rows, ..input }
        }
        Plan::Union { inputs, columns } => {
            let part = |(input, ids): &(Plan, Vec<ColumnId>)| {
                let input = evaluate(input, table);
                input.rows.iter().map(|row| input.cells(row, ids)).collect::<Vec<_>>()
            };
            Relation { columns: columns.clone(), rows: inputs.iter().flat_map(part).collect() }
        }
        Plan::Join { left, right, kind, equal, nulls_equal } => {
            let (left, right) = (evaluate(left, table), evaluate(right, table));
            joined(&left, &right, *kind, equal, *nulls_equal)
        }
        other => panic!("no random plan has {other:?}"),
    }
}

fn in_order(key: SortKey, a: &Scalar, b: &Scalar) -> Ordering {
    let nulls = (*a == Scalar::Null).cmp(&(*b == Scalar::Null));
    if nulls != Ordering::Equal {
        return if key.nulls_first { nulls.reverse() } else { nulls };
    }
    if key.descending { compare(b, a) } else { compare(a, b) }
}

fn joined(
    left: &Relation,
    right: &Relation,
    kind: JoinKind,
    equal: &[(ColumnId, ColumnId)],
    nulls_equal: bool,
) -> Relation {
    let are_partners = |a: &Vec<Scalar>, b: &Vec<Scalar>| {
        equal.iter().all(|(x, y)| {
            let (x, y) = (left.cell(a, *x), right.cell(b, *y));
            is_equal(x, y) && (nulls_equal || *x != Scalar::Null)
        })
    };
    let has_partner = |row: &&Vec<Scalar>| right.rows.iter().any(|it| are_partners(row, it));
    if matches!(kind, JoinKind::Semi | JoinKind::Anti) {
        let is_kept = |row: &&Vec<Scalar>| has_partner(row) == (kind == JoinKind::Semi);
        let rows = left.rows.iter().filter(is_kept).cloned().collect();
        return Relation { columns: left.columns.clone(), rows };
    }
    let together = |a: &[Scalar], b: &[Scalar]| a.iter().chain(b).cloned().collect::<Vec<_>>();
    let nulls = |relation: &Relation| vec![Scalar::Null; relation.columns.len()];
    let mut rows = Vec::new();
    for a in &left.rows {
        let partners = right.rows.iter().filter(|b| are_partners(a, b));
        rows.extend(partners.map(|b| together(a, b)));
        if kind != JoinKind::Inner && !has_partner(&a) {
            rows.push(together(a, &nulls(right)));
        }
    }
    if kind == JoinKind::Full {
        let alone = right.rows.iter().filter(|b| !left.rows.iter().any(|a| are_partners(a, b)));
        rows.extend(alone.map(|b| together(&nulls(left), b)));
    }
    Relation { columns: left.columns.iter().chain(&right.columns).copied().collect(), rows }
}

fn grouped(input: &Relation, keys: &[ColumnId], aggregates: &[(ColumnId, Aggregate)]) -> Relation {
    let mut groups: Vec<(Vec<Scalar>, Vec<&Vec<Scalar>>)> = Vec::new();
    if keys.is_empty() {
        groups.push((Vec::new(), Vec::new()));
    }
    for row in &input.rows {
        let key = input.cells(row, keys);
        let same = |it: &&mut (Vec<Scalar>, _)| it.0.iter().zip(&key).all(|(a, b)| is_equal(a, b));
        match groups.iter_mut().find(same) {
            Some(group) => group.1.push(row),
            None => groups.push((key, vec![row])),
        }
    }
    let row = |(key, rows): (Vec<Scalar>, Vec<&Vec<Scalar>>)| {
        let values = aggregates.iter().map(|it| aggregated(&it.1, input, &rows));
        key.into_iter().chain(values).collect()
    };
    let columns = keys.iter().copied().chain(aggregates.iter().map(|it| it.0)).collect();
    Relation { columns, rows: groups.into_iter().map(row).collect() }
}

fn aggregated(aggregate: &Aggregate, input: &Relation, rows: &[&Vec<Scalar>]) -> Scalar {
    use AggregateFunction as F;
    let counts = |row: &&&Vec<Scalar>| {
        aggregate.filter.is_none_or(|it| *input.cell(row, it) == Scalar::Bool(true))
    };
    let rows: Vec<&&Vec<Scalar>> = rows.iter().filter(counts).collect();
    let n = |it: usize| Scalar::Int(it.try_into().unwrap());
    if aggregate.function == F::CountRows {
        return n(rows.len());
    }
    let cells = rows.iter().map(|row| input.cell(row, aggregate.arguments[0]));
    let mut values: Vec<&Scalar> = cells.filter(|it| **it != Scalar::Null).collect();
    if aggregate.distinct {
        values.sort_by(|a, b| compare(a, b));
        values.dedup_by(|a, b| is_equal(a, b));
    }
    if aggregate.function == F::Count {
        return n(values.len());
    }
    if values.is_empty() {
        return Scalar::Null;
    }
    let by = |a: &&&Scalar, b: &&&Scalar| compare(a, b);
    let is_true = |it: &&Scalar| **it == Scalar::Bool(true);
    match aggregate.function {
        F::Minimum => (*values.iter().min_by(by).unwrap()).clone(),
        F::Maximum | F::MaximumFloat => (*values.iter().max_by(by).unwrap()).clone(),
        F::And => Scalar::Bool(values.iter().all(is_true)),
        F::Or => Scalar::Bool(values.iter().any(is_true)),
        F::Average => {
            Scalar::Float(values.iter().map(|it| float(it)).sum::<f64>() / values.len() as f64)
        }
        F::Sum => Scalar::Int(values.iter().map(|it| int(it)).sum()),
        F::SumFloat => Scalar::Float(values.iter().map(|it| float(it)).sum::<f64>()),
        ref other => panic!("no random plan has {other:?}"),
    }
}

fn int(value: &Scalar) -> i64 {
    let Scalar::Int(it) = value else { panic!("{value:?}") };
    *it
}

fn float(value: &Scalar) -> f64 {
    let Scalar::Float(it) = value else { panic!("{value:?}") };
    *it
}

fn text(value: &Scalar) -> &str {
    let Scalar::Text(it) = value else { panic!("{value:?}") };
    it
}

fn value(expr: &Expr, input: &Relation, row: &[Scalar]) -> Scalar {
    match expr {
        Expr::Column(id) => input.cell(row, *id).clone(),
        Expr::Literal(it) => it.clone(),
        Expr::Case { branches, otherwise } => {
            let taken = branches.iter().find(|it| value(&it.0, input, row) == Scalar::Bool(true));
            value(taken.map_or(otherwise, |it| &it.1), input, row)
        }
        Expr::Cast(cast) => match (value(&cast.input, input, row), cast.to) {
            (Scalar::Null, _) => Scalar::Null,
            (Scalar::Int(it), Type::Float) => Scalar::Float(it as f64),
            (Scalar::Int(it), Type::Text) => Scalar::Text(it.to_string()),
            (Scalar::Date(it), Type::Timestamp) => {
                Scalar::Timestamp(i64::from(it) * 86_400_000_000)
            }
            other => panic!("no random plan has the cast {other:?}"),
        },
        Expr::Call(function, arguments) => {
            let values: Vec<Scalar> = arguments.iter().map(|it| value(it, input, row)).collect();
            call(*function, &values)
        }
    }
}

fn call(function: Function, values: &[Scalar]) -> Scalar {
    use Function as F;
    let known = || values.iter().filter(|it| **it != Scalar::Null);
    let has = |wanted: bool| values.contains(&Scalar::Bool(wanted));
    let has_null = known().count() < values.len();
    match function {
        F::And | F::Or => match (has(function == F::Or), has_null) {
            (true, _) => return Scalar::Bool(function == F::Or),
            (false, true) => return Scalar::Null,
            (false, false) => return Scalar::Bool(function == F::And),
        },
        F::IsNull => return Scalar::Bool(has_null),
        F::IsNotDistinct => return Scalar::Bool(is_equal(&values[0], &values[1])),
        F::Coalesce => return known().next().cloned().unwrap_or(Scalar::Null),
        F::Greatest => {
            return known().max_by(|a, b| compare(a, b)).cloned().unwrap_or(Scalar::Null);
        }
        F::Least => return known().min_by(|a, b| compare(a, b)).cloned().unwrap_or(Scalar::Null),
        F::In => {
            let is_found = known().skip(1).any(|it| is_equal(it, &values[0]));
            return match (values[0] == Scalar::Null, is_found, has_null) {
                (true, ..) | (_, false, true) => Scalar::Null,
                (_, is_found, _) => Scalar::Bool(is_found),
            };
        }
        _ if has_null => return Scalar::Null,
        _ => {}
    }
    let ordering = || compare(&values[0], &values[1]);
    let floats = || (float(&values[0]), float(&values[1]));
    let ints = || (int(&values[0]), int(&values[1]));
    let texts = || (text(&values[0]), text(&values[1]));
    match function {
        F::Not => Scalar::Bool(values[0] == Scalar::Bool(false)),
        F::Equal => Scalar::Bool(ordering().is_eq()),
        F::NotEqual => Scalar::Bool(ordering().is_ne()),
        F::Less => Scalar::Bool(ordering().is_lt()),
        F::LessEqual => Scalar::Bool(ordering().is_le()),
        F::Greater => Scalar::Bool(ordering().is_gt()),
        F::GreaterEqual => Scalar::Bool(ordering().is_ge()),
        F::AddInt => Scalar::Int(ints().0 + ints().1),
        F::SubtractInt => Scalar::Int(ints().0 - ints().1),
        F::NegateInt => Scalar::Int(-int(&values[0])),
        F::Add => Scalar::Float(floats().0 + floats().1),
        F::Subtract => Scalar::Float(floats().0 - floats().1),
        F::Multiply => Scalar::Float(floats().0 * floats().1),
        F::Divide => Scalar::Float(floats().0 / floats().1),
        F::Negate => Scalar::Float(-float(&values[0])),
        F::Absolute => Scalar::Float(float(&values[0]).abs()),
        F::Length => Scalar::Int(text(&values[0]).chars().count().try_into().unwrap()),
        F::Concat => Scalar::Text(values.iter().map(text).collect()),
        F::Reverse => Scalar::Text(text(&values[0]).chars().rev().collect()),
        F::Left => {
            let n_chars = usize::try_from(int(&values[1])).unwrap();
            Scalar::Text(text(&values[0]).chars().take(n_chars).collect())
        }
        F::StartsWith => Scalar::Bool(texts().0.starts_with(texts().1)),
        F::Contains => Scalar::Bool(texts().0.contains(texts().1)),
        F::DatePart(part) => {
            let Scalar::Date(days) = values[0] else { panic!("{values:?}") };
            Scalar::Int(date_part(days, part))
        }
        other => panic!("no random plan has {other:?}"),
    }
}

fn date_part(days: i32, part: DatePart) -> i64 {
    let date = Date::constant(1970, 1, 1).checked_add(jiff::Span::new().days(days)).unwrap();
    match part {
        DatePart::Year => date.year().into(),
        DatePart::Month => date.month().into(),
        DatePart::Day => date.day().into(),
        DatePart::DayOfYear => date.day_of_year().into(),
        DatePart::IsoDayOfWeek => date.weekday().to_monday_one_offset().into(),
        DatePart::Week => date.iso_week_date().week().into(),
        other => panic!("no random plan has {other:?}"),
    }
}
