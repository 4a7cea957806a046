//! The queries of a description.

use crate::plan::{
    Aggregate, AggregateFunction, Cast, ColumnId, DatePart, Expr, Function, OutputColumn, Plan,
    Query, Scalar, SortKey, Type, Window, WindowFrame, WindowFunction,
};
use crate::sql::TableSchema;

use super::facts::{TEXT_CHARS_MAX, is_measured};

/// A plan in the making: it numbers its columns.
#[derive(Default)]
struct Maker {
    n_ids: u32,
    output: Vec<OutputColumn>,
}

impl Maker {
    fn id(&mut self) -> ColumnId {
        self.n_ids += 1;
        ColumnId(self.n_ids)
    }

    fn gives(&mut self, column: ColumnId, dtype: Type) {
        let name = self.output.len().to_string();
        self.output.push(OutputColumn { column, name, dtype });
    }

    /// Returns a scan of these columns, and their ids.
    fn scan(
        &mut self,
        table: &TableSchema,
        columns: impl Iterator<Item = usize>,
    ) -> (Plan, Vec<ColumnId>) {
        let named = |it: usize| (table.columns[it].0.clone(), self.id());
        let columns: Vec<(String, ColumnId)> = columns.map(named).collect();
        let ids = columns.iter().map(|it| it.1).collect();
        (Plan::Scan { table: table.name.clone(), columns }, ids)
    }

    fn query(self, plan: Plan) -> Query {
        Query { plan, output: self.output }
    }
}

/// Makes the query of the statistics: for each column the number of values and, if wanted, an estimate of
/// the different ones, the smallest and the largest; for one that is measured also those two as numbers, the mean and, if wanted, the
/// quartiles; for numbers the standard deviation; for floats how many are finite, which alone are measured.
pub(super) fn statistics(
    table: &TableSchema,
    columns: &[usize],
    with_estimates: bool,
    with_quartiles: bool,
) -> Query {
    use AggregateFunction as F;
    let mut maker = Maker::default();
    let (scan, ids) = maker.scan(table, columns.iter().copied());
    let (mut measured, mut aggregates, mut shortened) = (Vec::new(), Vec::new(), Vec::new());
    for (column, value) in columns.iter().zip(ids) {
        let dtype = table.columns[*column].1;
        let number = maker.id();
        let mut add = |function: F, of: ColumnId, dtype: Type| {
            let id = maker.id();
            aggregates.push((id, aggregate(function, Some(of), None)));
            if dtype != Type::Text {
                maker.gives(id, dtype);
                return;
            }
            let short = maker.id();
            shortened.push((short, short_text(id)));
            maker.gives(short, dtype);
        };
        add(F::Count, value, Type::Int);
        if with_estimates {
            add(F::CountDistinctEstimate, value, Type::Int);
        }
        if dtype == Type::Float {
            add(F::Minimum, number, dtype);
            add(F::MaximumFloat, number, dtype);
        } else {
            add(F::Minimum, value, dtype);
            add(F::Maximum, value, dtype);
        }
        if !is_measured(dtype) {
            continue;
        }
        measured.push((number, number_of(value, dtype)));
        let mut add = |function: F| {
            let id = maker.id();
            aggregates.push((id, aggregate(function, Some(number), None)));
            maker.gives(id, Type::Float);
        };
        add(F::Minimum);
        add(F::MaximumFloat);
        add(F::Average);
        if with_quartiles {
            for share in [0.25, 0.5, 0.75] {
                add(F::QuantileContinuous(share));
            }
        }
        if matches!(dtype, Type::Int | Type::Float) {
            add(F::StandardDeviation);
        }
        if dtype == Type::Float {
            let n_finite = maker.id();
            aggregates.push((n_finite, aggregate(F::Count, Some(number), None)));
            maker.gives(n_finite, Type::Int);
        }
    }
    let plan = Plan::Extend { input: Box::new(scan), columns: measured };
    let plan = Plan::Aggregate { input: Box::new(plan), keys: Vec::new(), aggregates };
    maker.query(Plan::Extend { input: Box::new(plan), columns: shortened })
}

/// Makes the query of histograms: for each edge of each column, how many values are below it.
pub(super) fn histograms(table: &TableSchema, columns: &[(usize, Vec<f64>)]) -> Query {
    let mut maker = Maker::default();
    let (scan, ids) = maker.scan(table, columns.iter().map(|it| it.0));
    let (mut numbers, mut conditions, mut aggregates) = (Vec::new(), Vec::new(), Vec::new());
    for ((column, edges), value) in columns.iter().zip(ids) {
        let number = maker.id();
        numbers.push((number, number_of(value, table.columns[*column].1)));
        for edge in edges {
            let (is_below, count) = (maker.id(), maker.id());
            let below = vec![Expr::Column(number), Expr::Literal(Scalar::Float(*edge))];
            conditions.push((is_below, Expr::Call(Function::Less, below)));
            let rows = aggregate(AggregateFunction::CountRows, None, Some(is_below));
            aggregates.push((count, rows));
            maker.gives(count, Type::Int);
        }
    }
    if aggregates.is_empty() {
        // Each column has one bin, whose count is known; a query has a column.
        let rows = maker.id();
        aggregates.push((rows, aggregate(AggregateFunction::CountRows, None, None)));
        maker.gives(rows, Type::Int);
    }
    let plan = Plan::Extend { input: Box::new(scan), columns: numbers };
    let plan = Plan::Extend { input: Box::new(plan), columns: conditions };
    maker.query(Plan::Aggregate { input: Box::new(plan), keys: Vec::new(), aggregates })
}

/// Makes the query of the most frequent values of columns of one type, at least one each: the number of the
/// column, the value, how many rows have it, and how many different values the column has.
pub(super) fn most_frequent(table: &TableSchema, columns: &[usize], top_max: u64) -> Query {
    let mut maker = Maker::default();
    let dtype = columns.first().map_or(Type::Null, |it| table.columns[*it].1);
    let inputs = columns.iter().map(|column| {
        let (plan, value, n_rows) = value_counts(&mut maker, table, *column);
        let (n_values, number, short) = (maker.id(), maker.id(), maker.id());
        let window = Window {
            function: WindowFunction::Aggregate(aggregate(
                AggregateFunction::CountRows,
                None,
                None,
            )),
            partition: Vec::new(),
            order: Vec::new(),
            frame: WindowFrame::PARTITION,
        };
        let plan = Plan::Windows { input: Box::new(plan), windows: vec![(n_values, window)] };
        let key = |column, descending| SortKey { column, descending, nulls_first: false };
        let keys = vec![key(n_rows, true), key(value, false)];
        let plan = Plan::Sort { input: Box::new(plan), keys };
        let plan = Plan::Limit { input: Box::new(plan), offset: 0, count: Some(top_max.max(1)) };
        let shown = if dtype == Type::Text { short_text(value) } else { Expr::Column(value) };
        let at = i64::try_from(*column).unwrap_or(i64::MAX);
        let added = vec![(number, Expr::Literal(Scalar::Int(at))), (short, shown)];
        let plan = Plan::Extend { input: Box::new(plan), columns: added };
        (plan, vec![number, short, n_rows, n_values])
    });
    let inputs: Vec<(Plan, Vec<ColumnId>)> = inputs.collect();
    let columns: Vec<ColumnId> = (0..4).map(|_| maker.id()).collect();
    for (column, dtype) in columns.iter().zip([Type::Int, dtype, Type::Int, Type::Int]) {
        maker.gives(*column, dtype);
    }
    maker.query(Plan::Union { inputs, columns })
}

/// Makes the query of the number of different values of a column.
pub(super) fn distinct(table: &TableSchema, column: usize) -> Query {
    let mut maker = Maker::default();
    let (input, _, _) = value_counts(&mut maker, table, column);
    let count = maker.id();
    maker.gives(count, Type::Int);
    let aggregates = vec![(count, aggregate(AggregateFunction::CountRows, None, None))];
    maker.query(Plan::Aggregate { input: Box::new(input), keys: Vec::new(), aggregates })
}

/// Returns the values of a column, each once, with the number of its rows.
fn value_counts(
    maker: &mut Maker,
    table: &TableSchema,
    column: usize,
) -> (Plan, ColumnId, ColumnId) {
    let (scan, ids) = maker.scan(table, std::iter::once(column));
    let value = ids[0];
    let is_null = Expr::Call(Function::IsNull, vec![Expr::Column(value)]);
    let predicate = Expr::Call(Function::Not, vec![is_null]);
    let input = Box::new(Plan::Filter { input: Box::new(scan), predicate });
    let n_rows = maker.id();
    let aggregates = vec![(n_rows, aggregate(AggregateFunction::CountRows, None, None))];
    (Plan::Aggregate { input, keys: vec![value], aggregates }, value, n_rows)
}

fn aggregate(
    function: AggregateFunction,
    argument: Option<ColumnId>,
    filter: Option<ColumnId>,
) -> Aggregate {
    let arguments = argument.into_iter().collect();
    Aggregate { function, arguments, distinct: false, filter, order: Vec::new() }
}

/// Returns a measured value as a number, null unless it is finite: of a date or time its seconds.
fn number_of(value: ColumnId, dtype: Type) -> Expr {
    let input = Expr::Column(value);
    match dtype {
        Type::Float => {
            let size = Expr::Call(Function::Absolute, vec![input.clone()]);
            let infinity = Expr::Literal(Scalar::Float(f64::INFINITY));
            let is_finite = Expr::Call(Function::Less, vec![size, infinity]);
            let otherwise = Box::new(Expr::Literal(Scalar::Null));
            Expr::Case { branches: vec![(is_finite, input)], otherwise }
        }
        Type::Int => {
            let (from, to) = (Type::Int, Type::Float);
            Expr::Cast(Box::new(Cast { input, from, to, is_try: false }))
        }
        _ => Expr::Call(Function::DatePart(DatePart::Epoch), vec![input]),
    }
}

/// Returns the beginning of a text, one character longer than it may be if it is too long.
fn short_text(text: ColumnId) -> Expr {
    let n_chars = i64::try_from(TEXT_CHARS_MAX).unwrap_or(i64::MAX).saturating_add(1);
    Expr::Call(Function::Left, vec![Expr::Column(text), Expr::Literal(Scalar::Int(n_chars))])
}
