//! Plans as frames of polars. The name of a column is the decimal text of its number.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use polars::prelude::{
    Column, DataFrame, DataType, Expr as Polars, IntoLazy, JoinArgs, JoinCoalesce, JoinType,
    LazyFrame, LazyFrame as Frame, MaintainOrderJoin, NamedFrom as _, ParquetReader, PlRefPath,
    PolarsResult, ScanArgsParquet, SchemaRef, SerReader as _, Series, UnionArgs,
    UniqueKeepStrategy, by_name, concat, lit,
};

use crate::plan::{Aggregate, ColumnId, Expr, JoinKind, OutputColumn, Plan, Query, Scalar, Type};
use crate::protocol::EngineQuery;

use super::aggregates::{aggregate, column, name, sort_keys};
use super::elementwise::{TIMESTAMP, dtype_of, failure};
use super::expressions::{can_fail, lower, step};
use super::window::with_windows;

/// Bytes that a text needs in memory besides its own.
const VIEW_BYTES: u64 = 16;
/// Rows of a range up to which a sort is told of it: polars makes room for as many, however few there are.
const SORTED_RANGE_ROWS_MAX: u64 = 1_000_000;

/// The datasets of the queries, each opened once: the footer of a wide file takes a while to read.
pub(super) struct TableFiles<'a> {
    paths: &'a [(String, PathBuf)],
    queries: &'a [EngineQuery],
    opened: RefCell<HashMap<String, OpenTable>>,
    /// Bytes that further columns in memory may have.
    bytes_left: Cell<u64>,
}

/// A dataset.
#[derive(Clone)]
struct OpenTable {
    frame: Frame,
    schema: SchemaRef,
    /// The columns that several queries read, as far as there is room for them: thousands of scans of a wide
    /// file take minutes.
    kept: Option<Arc<DataFrame>>,
}

impl OpenTable {
    /// Returns a frame that has these columns.
    fn with_columns<'a>(&self, names: impl Iterator<Item = &'a str>) -> PolarsResult<Frame> {
        let Some(kept) = &self.kept else { return Ok(self.frame.clone()) };
        let columns: Option<Vec<Column>> = names.map(|it| kept.column(it).ok().cloned()).collect();
        match columns {
            Some(columns) => Ok(DataFrame::new(kept.height(), columns)?.lazy()),
            None => Ok(self.frame.clone()),
        }
    }
}

impl<'a> TableFiles<'a> {
    /// Makes them from the name and the path of each Parquet file, for these queries. Columns that several
    /// queries read may have so many bytes of memory.
    pub(super) fn new(
        paths: &'a [(String, PathBuf)],
        queries: &'a [EngineQuery],
        kept_bytes: u64,
    ) -> TableFiles<'a> {
        let bytes_left = Cell::new(kept_bytes);
        TableFiles { paths, queries, opened: RefCell::default(), bytes_left }
    }

    /// Returns the frame of a whole query: its output columns with their names. Fails when a dataset cannot be
    /// opened, or a column has a type that no dataset has.
    pub(super) fn result(&self, query: &Query) -> PolarsResult<LazyFrame> {
        let frame = relation(&query.plan, self)?;
        // A predicate that polars moves into a scan panics there when it fails, and compares microseconds of
        // the day in the file with nanoseconds.
        let stays = filters_can_fail(&query.plan) || scans_times(&query.plan, self)?;
        let frame = frame.with_predicate_pushdown(!stays);
        let frame = frame.with_slice_pushdown(!has_large_range(&query.plan));
        let columns = query.output.iter().map(output).collect::<PolarsResult<Vec<Polars>>>()?;
        Ok(frame.select(columns))
    }

    fn open(&self, table: &str) -> PolarsResult<OpenTable> {
        if let Some(opened) = self.opened.borrow().get(table) {
            return Ok(opened.clone());
        }
        let path = self.paths.iter().find(|it| it.0 == table).map(|it| &it.1);
        let path = path.ok_or_else(|| failure(format!("no file for the dataset `{table}`")))?;
        let arguments = ScanArgsParquet { glob: false, ..ScanArgsParquet::default() };
        let mut frame = LazyFrame::scan_parquet(PlRefPath::try_from_path(path)?, arguments)?;
        let schema = frame.collect_schema()?;
        let names = match self.queries {
            [] | [_] => Vec::new(),
            _ => self.names_to_keep(table, path)?,
        };
        let mut kept = None;
        if !names.is_empty() {
            let columns = frame.clone().select([by_name(names, true, false).as_expr()]);
            kept = Some(Arc::new(columns.collect()?));
        }
        let opened = OpenTable { frame, schema, kept };
        self.opened.borrow_mut().insert(table.to_owned(), opened.clone());
        Ok(opened)
    }

    /// Returns those columns of a dataset that the queries read and that there is room for, in the order of the
    /// queries. Fails when the footer of the file cannot be read.
    fn names_to_keep(&self, table: &str, path: &Path) -> PolarsResult<Vec<String>> {
        let bytes = column_bytes(path)?;
        let scans = self.queries.iter().flat_map(|it| scans(&it.query.plan));
        let columns = scans.filter(|it| it.0 == table).flat_map(|it| it.1);
        let mut seen = HashSet::new();
        let new = columns.map(|it| it.0.as_str()).filter(|it| seen.insert(*it));
        let fitting = new.filter(|it| {
            let left = bytes.get(*it).and_then(|it| self.bytes_left.get().checked_sub(*it));
            left.inspect(|it| self.bytes_left.set(*it)).is_some()
        });
        Ok(fitting.map(str::to_owned).collect())
    }
}

/// Returns how many bytes of memory each column of a Parquet file has at most. Fails when its footer cannot be read.
fn column_bytes(path: &Path) -> PolarsResult<HashMap<String, u64>> {
    let mut reader = ParquetReader::new(File::open(path)?);
    let mut bytes = HashMap::new();
    for group in &reader.get_metadata()?.row_groups {
        for chunk in group.parquet_columns() {
            let name = chunk.descriptor().path_in_schema.first().map(ToString::to_string);
            let values = u64::try_from(chunk.num_values()).unwrap_or(u64::MAX);
            let stored = u64::try_from(chunk.uncompressed_size()).unwrap_or(u64::MAX);
            let sum: &mut u64 = bytes.entry(name.unwrap_or_default()).or_default();
            *sum = sum.saturating_add(stored.saturating_add(values.saturating_mul(VIEW_BYTES)));
        }
    }
    Ok(bytes)
}

fn output(output: &OutputColumn) -> PolarsResult<Polars> {
    let value = column(output.column);
    let value = match output.dtype {
        Type::Null => value.cast(DataType::String),
        Type::Duration => {
            let name = &output.name;
            return Err(failure(format!(
                "the result's column `{name}` is a time difference, which a table cannot have; take its \
                 seconds: extract(epoch from …)"
            )));
        }
        dtype => value.cast(dtype_of(dtype)),
    };
    Ok(value.alias(output.name.as_str()))
}

/// Returns the frame of a plan. Fails when a dataset cannot be opened, or a node is not as a plan has to be.
fn relation(plan: &Plan, tables: &TableFiles) -> PolarsResult<Frame> {
    match plan {
        Plan::Scan { table, columns } => scan(table, columns, None, tables),
        Plan::Numbered { table, columns, place } => scan(table, columns, Some(*place), tables),
        Plan::Values { columns, rows } => values(columns, rows),
        Plan::Filter { input, predicate } => {
            let lowered = lower([predicate])?;
            let value = lowered.values[0].clone();
            Ok(with_steps(relation(input, tables)?, lowered.steps, |frame| frame.filter(value)))
        }
        Plan::Extend { input, columns } => extended(relation(input, tables)?, columns.iter()),
        Plan::Select { input, columns } => {
            // Constants alone would be one row, so that all columns are added before the others go.
            let added = columns.iter().filter(|(id, expr)| *expr != Expr::Column(*id));
            let kept: Vec<Polars> = columns.iter().map(|(id, _)| column(*id)).collect();
            Ok(extended(relation(input, tables)?, added)?.select(kept))
        }
        Plan::Aggregate { input, keys, aggregates } => {
            Ok(grouped(relation(input, tables)?, keys, aggregates))
        }
        Plan::Windows { input, windows } => with_windows(relation(input, tables)?, windows),
        Plan::Join { left, right, kind, equal, nulls_equal } => {
            let (left, right) = (relation(left, tables)?, relation(right, tables)?);
            Ok(join(left, right, *kind, equal, *nulls_equal))
        }
        Plan::Union { inputs, columns } => {
            let mut frames = Vec::new();
            for (input, ids) in inputs {
                let renamed =
                    ids.iter().zip(columns).map(|(from, to)| column(*from).alias(name(*to)));
                frames.push(relation(input, tables)?.select(renamed.collect::<Vec<_>>()));
            }
            concat(frames, UnionArgs { to_supertypes: true, ..UnionArgs::default() })
        }
        Plan::Distinct { input, on } => {
            let names: Vec<String> = on.iter().map(|it| name(*it)).collect();
            let frame = relation(input, tables)?;
            Ok(frame.unique_stable(Some(by_name(names, true, false)), UniqueKeepStrategy::First))
        }
        Plan::Sort { input, keys } => {
            let (keys, options) = sort_keys(keys);
            Ok(relation(input, tables)?.sort_by_exprs(keys, options))
        }
        Plan::Limit { input, offset, count } => {
            let offset = i64::try_from(*offset).unwrap_or(i64::MAX);
            let count = count.and_then(|it| u32::try_from(it).ok()).unwrap_or(u32::MAX);
            Ok(relation(input, tables)?.slice(offset, count))
        }
        Plan::Single { input } => single(relation(input, tables)?),
    }
}

/// Returns whether a range of rows has no end, or a far one.
fn has_large_range(plan: &Plan) -> bool {
    let is_here = match plan {
        Plan::Limit { offset, count, .. } => {
            count.is_none_or(|it| SORTED_RANGE_ROWS_MAX < offset.saturating_add(it))
        }
        _ => false,
    };
    is_here || plan.inputs().into_iter().any(has_large_range)
}

/// Returns whether a dataset has a column with times of day that the query reads.
fn scans_times(plan: &Plan, tables: &TableFiles<'_>) -> PolarsResult<bool> {
    let mut is_any = false;
    for (table, columns) in scans(plan) {
        let schema = tables.open(table)?.schema;
        let is_time = |name: &str| schema.get(name).is_some_and(|it| *it == DataType::Time);
        is_any |= columns.iter().any(|it| is_time(&it.0));
    }
    Ok(is_any)
}

/// Returns the datasets that a plan reads.
fn scans(plan: &Plan) -> Vec<(&str, &[(String, ColumnId)])> {
    match plan {
        Plan::Scan { table, columns } | Plan::Numbered { table, columns, .. } => {
            vec![(table, columns)]
        }
        other => other.inputs().into_iter().flat_map(scans).collect(),
    }
}

/// Returns whether a filter may fail the query, alone or with the expressions that it is joined with.
fn filters_can_fail(plan: &Plan) -> bool {
    let is_here = match plan {
        Plan::Filter { predicate, .. } => can_fail(predicate),
        // A filter above may be moved below them, with their expressions in it.
        Plan::Extend { columns, .. } | Plan::Select { columns, .. } => {
            columns.iter().any(|it| can_fail(&it.1))
        }
        _ => false,
    };
    is_here || plan.inputs().into_iter().any(filters_can_fail)
}

fn extended<'a>(
    frame: Frame,
    columns: impl Iterator<Item = &'a (ColumnId, Expr)> + Clone,
) -> PolarsResult<Frame> {
    let lowered = lower(columns.clone().map(|it| &it.1))?;
    let named = columns.zip(lowered.values).map(|((id, _), value)| value.alias(name(*id)));
    let named: Vec<Polars> = named.collect();
    Ok(with_steps(frame, lowered.steps, |frame| frame.with_columns(named)))
}

/// Adds the steps, does something that needs them, and removes them.
fn with_steps(frame: Frame, steps: Vec<Polars>, then: impl FnOnce(Frame) -> Frame) -> Frame {
    if steps.is_empty() {
        return then(frame);
    }
    let names: Vec<String> = (0..steps.len()).map(step).collect();
    let frame = steps.into_iter().fold(frame, |frame, it| frame.with_columns([it]));
    then(frame).drop(by_name(names, true, false))
}

/// Returns some columns of a dataset; with `place`, also which row each one is.
fn scan(
    table: &str,
    columns: &[(String, ColumnId)],
    place: Option<ColumnId>,
    tables: &TableFiles,
) -> PolarsResult<Frame> {
    let opened = tables.open(table)?;
    let mut frame = opened.with_columns(columns.iter().map(|it| it.0.as_str()))?;
    let mut selected = Vec::new();
    if let Some(place) = place {
        // Not a name that a column of the dataset could have.
        let number = format!("{}\0", name(place));
        frame = frame.with_row_index(number.as_str(), None);
        let value = Polars::Column(number.into()).cast(DataType::Int64);
        selected.push(value.alias(name(place)));
    }
    for (from, id) in columns {
        let dtype = opened.schema.get(from.as_str()).ok_or_else(|| {
            failure(format!("the file of the dataset `{table}` has no column `{from}`"))
        })?;
        // Not `col`, which takes `^…$` for a regular expression and `*` for every column.
        let value = Polars::Column(from.as_str().into());
        let value = match dtype {
            it if it.is_integer() && *it != DataType::Int64 => value.strict_cast(DataType::Int64),
            it if it.is_float() && *it != DataType::Float64 => value.cast(DataType::Float64),
            DataType::Datetime(_, None) if *dtype != TIMESTAMP => value.cast(TIMESTAMP),
            DataType::Categorical(..) | DataType::Enum(..) => value.cast(DataType::String),
            _ => value,
        };
        selected.push(value.alias(name(*id)));
    }
    Ok(frame.select(selected))
}

fn values(columns: &[(ColumnId, Type)], rows: &[Vec<Scalar>]) -> PolarsResult<Frame> {
    let mut made: Vec<Column> = Vec::new();
    for (at, (id, dtype)) in columns.iter().enumerate() {
        let cells = rows.iter().map(|row| row.get(at).unwrap_or(&Scalar::Null));
        let int = |cell: &Scalar| match cell {
            Scalar::Int(value)
            | Scalar::Timestamp(value)
            | Scalar::Instant(value)
            | Scalar::Duration(value) => Some(*value),
            Scalar::Date(days) => Some(i64::from(*days)),
            Scalar::Time(micros) => micros.checked_mul(1_000),
            _ => None,
        };
        let name = name(*id);
        let series = match dtype {
            Type::Float => {
                let cells = cells.map(|it| match it {
                    Scalar::Float(value) => Some(*value),
                    _ => None,
                });
                Series::new(name.into(), cells.collect::<Vec<Option<f64>>>())
            }
            Type::Bool => {
                let cells = cells.map(|it| match it {
                    Scalar::Bool(value) => Some(*value),
                    _ => None,
                });
                Series::new(name.into(), cells.collect::<Vec<Option<bool>>>())
            }
            Type::Text | Type::Null => {
                let cells = cells.map(|it| match it {
                    Scalar::Text(text) => Some(text.as_str()),
                    _ => None,
                });
                Series::new(name.into(), cells.collect::<Vec<Option<&str>>>())
            }
            Type::Date => {
                let days = Series::new(name.into(), cells.map(int).collect::<Vec<Option<i64>>>());
                days.cast(&DataType::Int32)?.cast(&DataType::Date)?
            }
            _ => Series::new(name.into(), cells.map(int).collect::<Vec<Option<i64>>>()),
        };
        made.push(series.cast(&dtype_of(*dtype))?.into());
    }
    Ok(DataFrame::new(rows.len(), made)?.lazy())
}

fn grouped(frame: Frame, keys: &[ColumnId], aggregates: &[(ColumnId, Aggregate)]) -> Frame {
    let values: Vec<Polars> =
        aggregates.iter().map(|(id, it)| aggregate(it).alias(name(*id))).collect();
    if keys.is_empty() {
        if values.is_empty() {
            return frame.select([lit(0_i64).alias("none")]).limit(1);
        }
        return frame.select(values);
    }
    let keys: Vec<Polars> = keys.iter().map(|it| column(*it)).collect();
    // In the order of their first rows: the same query gives the same rows in the same order.
    frame.group_by_stable(keys).agg(values)
}

fn join(
    left: Frame,
    right: Frame,
    kind: JoinKind,
    equal: &[(ColumnId, ColumnId)],
    nulls_equal: bool,
) -> Frame {
    if equal.is_empty() {
        return left.cross_join(right, None);
    }
    let how = match kind {
        JoinKind::Inner => JoinType::Inner,
        JoinKind::Left => JoinType::Left,
        JoinKind::Full => JoinType::Full,
        JoinKind::Semi => JoinType::Semi,
        JoinKind::Anti => JoinType::Anti,
    };
    let mut arguments = JoinArgs::new(how).with_coalesce(JoinCoalesce::KeepColumns);
    arguments.nulls_equal = nulls_equal;
    // As for groups.
    arguments.maintain_order = MaintainOrderJoin::LeftRight;
    let (lefts, rights): (Vec<Polars>, Vec<Polars>) =
        equal.iter().map(|(a, b)| (column(*a), column(*b))).unzip();
    left.join(right, lefts, rights, arguments)
}

/// Requires one row at most; without any, returns a row of nulls.
fn single(mut frame: Frame) -> PolarsResult<Frame> {
    let schema = frame.collect_schema()?;
    let only = |data: DataFrame| match data.height() {
        0 => {
            let nulls = data.columns().iter();
            let nulls =
                nulls.map(|it| Column::full_null(it.name().clone(), 1, it.dtype())).collect();
            DataFrame::new(1, nulls)
        }
        1 => Ok(data),
        _ => Err(failure("a subquery in place of a value has more than one row")),
    };
    let schema_of = Arc::clone(&schema);
    Ok(frame.limit(2).map(
        only,
        polars::prelude::AllowedOptimizations::empty(),
        Some(Arc::new(move |_: &_| Ok(Arc::clone(&schema_of)))),
        Some("single row"),
    ))
}
