//! Random plans over random tables give what a straightforward evaluator gives.

#[expect(clippy::cast_precision_loss, reason = "a float of a whole number is the nearest one")]
mod evaluator;
mod random;

use std::cmp::Ordering;
use std::path::PathBuf;

use polars::prelude::{AnyValue, Column, DataFrame, Engine};
use proptest::prelude::{prop_assert, proptest};
use tempfile::TempDir;

use csv_agent_testing::slow_cases;

use super::relations::TableFiles;
use super::run;
use crate::plan::{ColumnId, OutputColumn, Plan, Query, Scalar, SortKey, Type};
use crate::protocol::{EngineQuery, EngineRequest};

use evaluator::{Relation, compare, evaluate};
use random::{COLUMNS, plans, tables};

/// Returns the value of a cell. Zero has no sign.
fn scalar(value: &AnyValue) -> Scalar {
    match value {
        AnyValue::Null => Scalar::Null,
        AnyValue::Boolean(it) => Scalar::Bool(*it),
        AnyValue::Int64(it) => Scalar::Int(*it),
        AnyValue::Float64(it) => Scalar::Float(*it + 0.0),
        AnyValue::String(it) => Scalar::Text((*it).to_owned()),
        AnyValue::StringOwned(it) => Scalar::Text(it.to_string()),
        AnyValue::Date(it) => Scalar::Date(*it),
        AnyValue::Datetime(it, ..) | AnyValue::DatetimeOwned(it, ..) => Scalar::Timestamp(*it),
        other => panic!("{other:?} has no scalar"),
    }
}

fn rows(data: &DataFrame) -> Vec<Vec<Scalar>> {
    let cell = |column: &Column, row| scalar(&column.get(row).unwrap());
    (0..data.height())
        .map(|row| data.columns().iter().map(|column| cell(column, row)).collect())
        .collect()
}

/// Writes a table to a Parquet file.
fn write(rows: &[Vec<Scalar>], file: PathBuf) {
    let columns = COLUMNS.to_vec();
    let output = output(&COLUMNS);
    let query = Query { plan: Plan::Values { columns, rows: rows.to_vec() }, output };
    let queries = vec![EngineQuery { query, output: file }];
    run(&EngineRequest { queries, tables: Vec::new() }).unwrap();
}

fn output(columns: &[(ColumnId, Type)]) -> Vec<OutputColumn> {
    let output = |(column, dtype): &(_, Type)| OutputColumn {
        column: *column,
        name: format!("{}", column.0),
        dtype: *dtype,
    };
    columns.iter().map(output).collect()
}

/// Answers a query that is one of two, with so much room for the columns in memory.
fn answer(query: &Query, file: PathBuf, kept_bytes: u64) -> Vec<Vec<Scalar>> {
    let paths = [("t".to_owned(), file)];
    let one = EngineQuery { query: query.clone(), output: PathBuf::new() };
    let queries = [one.clone(), one];
    let frame = TableFiles::new(&paths, &queries, kept_bytes).result(query).unwrap();
    rows(&frame.collect_with_engine(Engine::Streaming).unwrap().unwrap_single())
}

fn by_cells(a: &[Scalar], b: &[Scalar]) -> Ordering {
    let cells = a.iter().zip(b).map(|(a, b)| compare(a, b));
    cells.fold(Ordering::Equal, Ordering::then)
}

/// Sums of floats depend on the order of the rows in their last digits.
fn is_same(a: &Scalar, b: &Scalar) -> bool {
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) if a.is_finite() && b.is_finite() => {
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
        }
        (a, b) => compare(a, b) == Ordering::Equal,
    }
}

#[test]
fn the_end_of_a_range_may_be_far_behind_the_last_row() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("t.parquet");
    let row = |at: i64| {
        let others = vec![Scalar::Null; COLUMNS.len() - 1];
        [vec![Scalar::Int(at)], others].concat()
    };
    write(&[row(3), row(1), row(2)], file.clone());
    let columns = COLUMNS.iter().map(|(id, _)| (id.0.to_string(), *id)).collect();
    let scan = Plan::Scan { table: "t".to_owned(), columns };
    let keys = vec![SortKey { column: COLUMNS[0].0, descending: false, nulls_first: false }];
    let sort = Plan::Sort { input: Box::new(scan), keys };
    for count in [None, Some(1_000_000_000), Some(u64::MAX)] {
        let plan = Plan::Limit { input: Box::new(sort.clone()), offset: 1, count };
        let query = Query { plan, output: output(&COLUMNS[..1]) };
        assert_eq!(answer(&query, file.clone(), 0), [[Scalar::Int(2)], [Scalar::Int(3)]]);
    }
}

proptest! {
    #![proptest_config(slow_cases(200, 1_000))]

    #[test]
    fn random_plans_give_what_they_mean(
        table in tables(), (plan, columns) in plans(), kept_bytes in 0..1_000_u64,
    ) {
        let directory = TempDir::new().unwrap();
        let file = directory.path().join("t.parquet");
        write(&table, file.clone());
        let Relation { mut rows, .. } = evaluate(&plan, &table).only(&columns);
        let is_ordered = matches!(plan, Plan::Sort { .. } | Plan::Limit { .. });
        let query = Query { output: output(&columns), plan };
        let mut found = answer(&query, file, kept_bytes);
        if !is_ordered {
            rows.sort_by(|a, b| by_cells(a, b));
            found.sort_by(|a, b| by_cells(a, b));
        }
        let is_equal = rows.len() == found.len()
            && rows.iter().flatten().zip(found.iter().flatten()).all(|(a, b)| is_same(a, b));
        prop_assert!(is_equal, "{:?}\n{table:?}\n{found:?}\n{rows:?}", query.plan);
    }
}
