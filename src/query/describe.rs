//! What each column of a dataset contains: the plans that find it out, and their results as facts.
//!
//! Two rounds: statistics of every column, then what depends on them: the bins of a histogram between the
//! smallest and the largest value, and the most frequent values where they are few enough to be counted.
//! Pure: steps and rows of JSON go in and out; whoever calls runs the queries.

mod facts;
mod moments;
mod plans;

use serde_json::{Number, Value};

use crate::plan::{Query, Type};
use crate::sql::TableSchema;

pub use facts::{Bin, ColumnFacts};
use facts::{TEXT_CHARS_MAX, is_measured};
use moments::moment;

/// Rows up to which different values are counted exactly, and with them candidate keys.
const EXACT_ROWS_MAX: u64 = 10_000_000;
/// Estimated number of different values up to which each is counted in a table of any size, exactly.
const EXACT_VALUES_MAX: u64 = 100_000;
/// Rows up to which each value is counted, however many there are.
const COUNTED_ROWS_MAX: u64 = 1_000_000;
/// Rows up to which quartiles are computed: all values of a column are in memory for them.
const QUARTILE_ROWS_MAX: u64 = 50_000_000;
/// Bins of a histogram.
const BINS_MAX: u32 = 10;
/// Whole numbers up to here are exact as floats.
const EXACT_WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// A query, and what its rows say.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The query.
    pub query: Query,
    subject: Subject,
}

/// What the rows of a query are about.
#[derive(Debug, Clone, PartialEq)]
enum Subject {
    /// One row: statistics of these columns, one after another.
    Statistics(Vec<usize>),
    /// One row: how many values of these columns are below the edges between bins.
    Histograms(Vec<(usize, Vec<f64>)>),
    /// Number of a column, value, rows with it, different values of the column.
    Top(Vec<usize>),
    /// One row: the different values of a column.
    Distinct(usize),
}

/// A dataset that is being described.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    table: TableSchema,
    n_rows: u64,
    top_max: u64,
    facts: Vec<ColumnFacts>,
}

impl Description {
    /// Makes an empty description of a table with so many rows, which is to have so many frequent values.
    pub fn new(table: TableSchema, n_rows: u64, top_max: u64) -> Description {
        let facts = vec![ColumnFacts::default(); table.columns.len()];
        Description { table, n_rows, top_max, facts }
    }

    /// Returns what is known, in the order of the columns.
    pub fn facts(&self) -> &[ColumnFacts] {
        &self.facts
    }

    /// Returns the first round.
    pub fn first_round(&self) -> Vec<Step> {
        let columns: Vec<usize> = (0..self.facts.len()).collect();
        let steps = columns.chunks(self.columns_at_once()).map(|it| Step {
            query: plans::statistics(&self.table, it, self.has_estimates(), self.has_quartiles()),
            subject: Subject::Statistics(it.to_vec()),
        });
        steps.collect()
    }

    /// Returns the second round, once the rows of the first have been added.
    pub fn second_round(&self) -> Vec<Step> {
        let columns = 0..self.facts.len();
        let binned: Vec<(usize, Vec<f64>)> =
            columns.clone().filter_map(|it| Some((it, self.inner_edges(it)?))).collect();
        let histograms = binned.chunks(self.columns_at_once()).map(|it| Step {
            query: plans::histograms(&self.table, it),
            subject: Subject::Histograms(it.to_vec()),
        });
        let mut counted: Vec<usize> = columns.clone().filter(|it| self.is_counted(*it)).collect();
        // Values of one query have one type.
        counted.sort_by_key(|it| self.table.columns[*it].1 as u8);
        let by_type = counted.chunk_by(|a, b| self.dtype(*a) == self.dtype(*b));
        let top = by_type.flat_map(|it| it.chunks(self.columns_at_once())).map(|it| Step {
            query: plans::most_frequent(&self.table, it, self.top_max),
            subject: Subject::Top(it.to_vec()),
        });
        let distinct = columns.filter(|it| self.is_only_distinct_counted(*it)).map(|it| Step {
            query: plans::distinct(&self.table, it),
            subject: Subject::Distinct(it),
        });
        histograms.chain(top).chain(distinct).collect()
    }

    /// Adds what the rows of a step say.
    pub fn add(&mut self, step: &Step, rows: &[Vec<Value>]) {
        let first: &[Value] = rows.first().map_or(&[], Vec::as_slice);
        match &step.subject {
            Subject::Statistics(columns) => {
                let mut cells = first.iter().cloned();
                let mut next = || cells.next().unwrap_or_default();
                for column in columns {
                    self.add_statistics(*column, &mut next);
                }
            }
            Subject::Histograms(columns) => {
                let mut cells = first.iter();
                for (column, inner) in columns {
                    let below: Vec<u64> = cells.by_ref().take(inner.len()).map(whole).collect();
                    self.facts[*column].histogram = self.bins(*column, inner, &below);
                }
            }
            Subject::Top(columns) => {
                for column in columns {
                    self.facts[*column].top = Some(Vec::new());
                    self.set_distinct(*column, 0);
                }
                for row in rows {
                    let [column, value, count, distinct] = row.as_slice() else { continue };
                    let Ok(column) = usize::try_from(whole(column)) else { continue };
                    let Some(facts) = self.facts.get_mut(column) else { continue };
                    let top = facts.top.get_or_insert_default();
                    top.push((shortened(value.clone()), whole(count)));
                    self.set_distinct(column, whole(distinct));
                }
                for column in columns {
                    let top = self.facts[*column].top.get_or_insert_default();
                    top.sort_by_key(|it| std::cmp::Reverse(it.1));
                    // A row was there for the number of different values.
                    top.truncate(usize::try_from(self.top_max).unwrap_or(usize::MAX));
                }
            }
            Subject::Distinct(column) => {
                self.set_distinct(*column, first.first().map_or(0, whole));
            }
        }
    }

    fn add_statistics(&mut self, column: usize, next: &mut impl FnMut() -> Value) {
        let dtype = self.dtype(column);
        let (has_estimates, has_quartiles) = (self.has_estimates(), self.has_quartiles());
        let facts = &mut self.facts[column];
        let n_values = whole(&next());
        facts.nulls = self.n_rows.saturating_sub(n_values);
        // An estimate is not more than there can be.
        facts.distinct = if has_estimates { whole(&next()).min(n_values) } else { n_values };
        facts.is_distinct_estimated = 0 < n_values;
        facts.top = (n_values == 0).then(Vec::new);
        facts.is_key = (0 < facts.nulls || n_values < 2).then_some(false);
        (facts.min, facts.max) = (shortened(next()), shortened(next()));
        if !is_measured(dtype) {
            return;
        }
        facts.range = next().as_f64().zip(next().as_f64());
        let mut measure = || next().as_f64().map_or(Value::Null, |it| shown(it, dtype));
        facts.mean = measure();
        if has_quartiles {
            facts.quartiles = [measure(), measure(), measure()];
        }
        if matches!(dtype, Type::Int | Type::Float) {
            facts.std = next();
        }
        if dtype == Type::Float {
            facts.not_finite = n_values.saturating_sub(whole(&next()));
        }
        let is_large = |it: (f64, f64)| EXACT_WHOLE_MAX < it.0.abs().max(it.1.abs());
        if dtype == Type::Int && facts.range.is_some_and(is_large) {
            facts.is_inexact = true;
            (facts.range, facts.mean, facts.std) = (None, Value::Null, Value::Null);
            facts.quartiles = Default::default();
        }
    }

    fn set_distinct(&mut self, column: usize, distinct: u64) {
        let n_rows = self.n_rows;
        let facts = &mut self.facts[column];
        facts.distinct = distinct;
        facts.is_distinct_estimated = false;
        // One row says nothing about the next ones.
        facts.is_key = Some(1 < n_rows && facts.nulls == 0 && distinct == n_rows);
    }

    fn dtype(&self, column: usize) -> Type {
        self.table.columns[column].1
    }

    /// Returns whether the first round estimates different values: otherwise the second counts all of them.
    fn has_estimates(&self) -> bool {
        COUNTED_ROWS_MAX < self.n_rows
    }

    fn has_quartiles(&self) -> bool {
        self.n_rows <= QUARTILE_ROWS_MAX
    }

    /// Returns how many columns one query has in memory.
    fn columns_at_once(&self) -> usize {
        const CELLS: u64 = 16_000_000;
        let n_columns = (CELLS / self.n_rows.max(1)).clamp(1, 64);
        usize::try_from(n_columns).unwrap_or(1)
    }

    /// Returns whether the values of a column are counted one by one.
    fn is_counted(&self, column: usize) -> bool {
        let facts = &self.facts[column];
        0 < facts.distinct && (!self.has_estimates() || facts.distinct <= EXACT_VALUES_MAX)
    }

    /// Returns whether the different values of a column are counted without counting each.
    fn is_only_distinct_counted(&self, column: usize) -> bool {
        0 < self.facts[column].distinct && self.n_rows <= EXACT_ROWS_MAX && !self.is_counted(column)
    }

    /// Returns the edges between the bins of a column; None for one without a histogram.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 1 and the maximum"
    )]
    fn inner_edges(&self, column: usize) -> Option<Vec<f64>> {
        let dtype = self.dtype(column);
        let (low, high) = self.facts[column].range?;
        let step = whole_step(dtype);
        let n_bins = match step {
            _ if high <= low => 1,
            Some(step) => ((high - low) / step + 1.0).min(f64::from(BINS_MAX)) as u32,
            None => BINS_MAX,
        };
        // Whole steps: the last bin ends before the value that would follow the largest.
        let end = high + step.unwrap_or(0.0);
        let edge = |at: u32| {
            let share = f64::from(at) / f64::from(n_bins);
            // The difference may be more than a float can have.
            let edge = low * (1.0 - share) + end * share;
            step.map_or(edge, |step| (edge / step).round() * step)
        };
        Some((1..n_bins).map(edge).collect())
    }

    /// Returns the bins from the numbers of values below the inner edges.
    fn bins(&self, column: usize, inner: &[f64], below: &[u64]) -> Vec<Bin> {
        let dtype = self.dtype(column);
        let facts = &self.facts[column];
        let Some((low, high)) = facts.range else { return Vec::new() };
        let n_values = self.n_rows - facts.nulls - facts.not_finite;
        let step = whole_step(dtype).unwrap_or(0.0);
        let starts = [low].into_iter().chain(inner.iter().copied());
        let ends = inner.iter().map(|it| it - step).chain([high]);
        let before = [0].into_iter().chain(below.iter().copied());
        let after = below.iter().copied().chain([n_values]);
        let counts = before.zip(after).map(|(before, after)| after.saturating_sub(before));
        let bins = starts.zip(ends).zip(counts).map(|((from, to), count)| Bin {
            from: edge(from, dtype),
            to: edge(to, dtype),
            count,
        });
        bins.collect()
    }
}

/// Returns the difference between neighbours among the values of a type, which are measured in seconds if
/// they are dates.
fn whole_step(dtype: Type) -> Option<f64> {
    match dtype {
        Type::Int => Some(1.0),
        Type::Date => Some(86_400.0),
        _ => None,
    }
}

/// Returns a measured number as a value of its type.
fn shown(number: f64, dtype: Type) -> Value {
    match dtype {
        Type::Int | Type::Float => Number::from_f64(number).map_or(Value::Null, Value::Number),
        dtype => moment(number, dtype).map_or(Value::Null, Value::String),
    }
}

/// Returns an end of a bin as a value of its type.
fn edge(number: f64, dtype: Type) -> Value {
    if dtype == Type::Int && number.abs() <= EXACT_WHOLE_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the range")]
        return Value::from(number as i64);
    }
    shown(number, dtype)
}

fn shortened(value: Value) -> Value {
    match value {
        Value::String(text) if TEXT_CHARS_MAX < text.chars().count() => {
            Value::String(text.chars().take(TEXT_CHARS_MAX).chain(['…']).collect())
        }
        value => value,
    }
}

fn whole(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
