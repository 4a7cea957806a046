//! Which values of a column are good, worth a warning, or bad, in batches.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use csv_agent_types::thresholds::{Range, Rated, Ratings};

use super::from_parquet::guard;
use super::stored::Stored;

/// Rows decoded at once.
const BATCH_ROWS: usize = 64 * 1024;

/// Rates the values of a column of the Parquet file at `path`. `None` when the column is not numeric. Fails
/// when the file is missing, cannot be read, is damaged, or has no such column.
pub(crate) fn rate(path: &Path, column: &str, ratings: &Ratings) -> anyhow::Result<Option<Rated>> {
    guard::run(|| read(path, column, ratings))
}

fn read(path: &Path, column: &str, ratings: &Ratings) -> anyhow::Result<Option<Rated>> {
    let table = Stored::open(path)?;
    let schema = table.metadata.schema();
    let at = schema.index_of(column)?;
    if !matches!(schema.field(at).data_type(), DataType::Int64 | DataType::Float64) {
        return Ok(None);
    }
    let (mut rated, mut first) = (Rated::default(), 0);
    for batch in table.batches(Some(vec![at]), BATCH_ROWS) {
        let batch = batch?;
        add(&mut rated, batch.column(0), first, ratings);
        first += batch.num_rows() as u64;
    }
    Ok(Some(rated))
}

/// Adds the values of a batch whose first row is `first`.
fn add(rated: &mut Rated, values: &ArrayRef, first: u64, ratings: &Ratings) {
    let whole = values.as_primitive_opt::<Int64Type>();
    let real = values.as_primitive_opt::<Float64Type>();
    for (row, at) in (first..).zip(0..values.len()) {
        if values.is_null(at) {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "a bound needs no finer number")]
        let number = match (whole, real) {
            (Some(values), _) => values.value(at) as f64,
            (None, Some(values)) => values.value(at),
            (None, None) => continue,
        };
        let is_in = |range: Option<Range>| range.is_some_and(|it| it.has(number));
        if is_in(ratings.bad) {
            rated.bad.add(row);
        } else if is_in(ratings.warning) {
            rated.warning.add(row);
        } else if ratings.good.is_some_and(|it| !it.has(number)) {
            rated.outside.add(row);
        }
    }
}
