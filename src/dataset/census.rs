//! How many rows hold values that are about to be told, so that what only a few rows have can be kept back.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::columnar::guard;
use crate::limits::{CENSUS_BATCH_ROWS_MAX, PARQUET_CELLS_MAX};

/// Microseconds of a day.
const DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// What is looked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Needles {
    /// Whole cells of text.
    pub texts: BTreeSet<String>,
    /// Numbers, by [`number_key`].
    pub numbers: BTreeSet<u64>,
    /// Days and times, in microseconds since 1970.
    pub moments: BTreeSet<i64>,
}

/// How many rows hold what was looked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Census {
    /// Text → rows of the column that has it most.
    pub texts: HashMap<String, u64>,
    /// Number → name of a column that has it, and in how many rows.
    pub numbers: HashMap<u64, Vec<(String, u64)>>,
    /// Moment → rows of the column that has it least.
    pub moments: HashMap<i64, u64>,
}

impl Census {
    /// Adds what datasets hold of which nothing may be told. No more passes for it: text of theirs is
    /// that of few rows, however many have it.
    pub fn narrow(&mut self, unseen: Census) {
        for text in unseen.texts.into_keys() {
            self.texts.entry(text).or_insert(1);
        }
        for (number, holders) in unseen.numbers {
            self.numbers.entry(number).or_default().extend(holders);
        }
        for (moment, n_rows) in unseen.moments {
            let least = self.moments.entry(moment).or_insert(n_rows);
            *least = n_rows.min(*least);
        }
    }
}

/// Returns what stands for a number in a search: 7 and 7.0 are one.
pub fn number_key(number: f64) -> u64 {
    // Zero has two signs.
    if number == 0.0 { 0.0_f64.to_bits() } else { number.to_bits() }
}

/// Adds what the columns of the Parquet file at `path` hold.
///
/// # Errors
///
/// Fails when the file is missing, cannot be read or is damaged.
pub fn add_to_census(path: &Path, needles: &Needles, census: &mut Census) -> anyhow::Result<()> {
    let found = guard::run(|| count(path, needles))?;
    for (column, counts) in found {
        for (text, n_rows) in counts.texts {
            let most = census.texts.entry(text).or_default();
            *most = n_rows.max(*most);
        }
        for (number, n_rows) in counts.numbers {
            census.numbers.entry(number).or_default().push((column.clone(), n_rows));
        }
        for (moment, n_rows) in counts.moments {
            let least = census.moments.entry(moment).or_insert(n_rows);
            *least = n_rows.min(*least);
        }
    }
    Ok(())
}

/// What one column holds of the needles.
#[derive(Default)]
struct Counts {
    texts: HashMap<String, u64>,
    numbers: HashMap<u64, u64>,
    moments: HashMap<i64, u64>,
}

fn count(path: &Path, needles: &Needles) -> anyhow::Result<Vec<(String, Counts)>> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let names = builder.schema().fields().iter().map(|it| it.name().clone());
    let mut found: Vec<(String, Counts)> = names.map(|it| (it, Counts::default())).collect();
    let n_rows = (PARQUET_CELLS_MAX / found.len().max(1)).clamp(1, CENSUS_BATCH_ROWS_MAX);
    for batch in builder.with_batch_size(n_rows).build()? {
        let batch = batch?;
        for (values, (_, counts)) in batch.columns().iter().zip(&mut found) {
            counts.add(values, needles);
        }
    }
    Ok(found)
}

impl Counts {
    fn add(&mut self, values: &ArrayRef, needles: &Needles) {
        match values.data_type() {
            DataType::Utf8 => {
                for text in values.as_string::<i32>().iter().flatten() {
                    if needles.texts.contains(text) {
                        *self.texts.entry(text.to_owned()).or_default() += 1;
                    }
                }
            }
            DataType::Int64 => {
                for number in values.as_primitive::<Int64Type>().iter().flatten() {
                    #[expect(
                        clippy::cast_precision_loss,
                        reason = "JSON has no more of it either"
                    )]
                    self.add_number(number as f64, needles);
                }
            }
            DataType::Float64 => {
                for number in values.as_primitive::<Float64Type>().iter().flatten() {
                    self.add_number(number, needles);
                }
            }
            DataType::Date32 => {
                for days in values.as_primitive::<Date32Type>().iter().flatten() {
                    self.add_moment(i64::from(days) * DAY, needles);
                }
            }
            DataType::Timestamp(..) => {
                for moment in values.as_primitive::<TimestampMicrosecondType>().iter().flatten() {
                    self.add_moment(moment, needles);
                }
            }
            // Of these a value says nothing, or is told as text, which no such column has.
            _ => {}
        }
    }

    fn add_number(&mut self, number: f64, needles: &Needles) {
        let key = number_key(number);
        if needles.numbers.contains(&key) {
            *self.numbers.entry(key).or_default() += 1;
        }
    }

    fn add_moment(&mut self, moment: i64, needles: &Needles) {
        if needles.moments.contains(&moment) {
            *self.moments.entry(moment).or_default() += 1;
        }
    }
}
