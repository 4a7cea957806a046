//! Queries to facts, straight from Parquet.

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use arrow_schema::{DataType, Schema};
use parquet::arrow::parquet_to_arrow_schema;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::find::find;
use crate::catalog::{Column, DType, Facts, Query};

/// Answers a query about one dataset. Paths of queries are relative to `session_dir`.
///
/// A schema is read from the footer alone, whatever the size of the table.
///
/// # Errors
///
/// Fails when the Parquet file is missing or cannot be read.
pub fn answer(query: &Query, session_dir: &Path) -> anyhow::Result<Facts> {
    match query {
        Query::Schema { path } => {
            let path = session_dir.join(path);
            let (columns, row_count) =
                schema(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(Facts::Schema { columns, row_count })
        }
        Query::FindValue { path, value } => {
            let path = session_dir.join(path);
            let matches =
                find(&path, value).with_context(|| format!("cannot search {}", path.display()))?;
            Ok(Facts::Matches(matches))
        }
    }
}

/// Returns columns and row count of a Parquet file.
fn schema(path: &Path) -> anyhow::Result<(Vec<Column>, u64)> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&File::open(path)?)?;
    let schema = arrow_schema(&metadata)?;
    let columns = schema.fields().iter().enumerate().map(|(at, field)| {
        let chunks = metadata.row_groups().iter().map(|it| it.column(at));
        let nulls = chunks.filter_map(|it| it.statistics()?.null_count_opt()).sum();
        let (name, dtype) = (field.name().clone(), dtype_of(field.data_type()));
        Column { name, dtype, nulls, note: None, is_ambiguous: false }
    });
    let row_count = u64::try_from(metadata.file_metadata().num_rows()).unwrap_or_default();
    Ok((columns.collect(), row_count))
}

/// Returns the Arrow schema that the footer holds or implies.
pub fn arrow_schema(metadata: &ParquetMetaData) -> anyhow::Result<Schema> {
    let file = metadata.file_metadata();
    Ok(parquet_to_arrow_schema(file.schema_descr(), file.key_value_metadata())?)
}

/// Returns the nearest type of ours; what has none is shown as text.
pub fn dtype_of(data_type: &DataType) -> DType {
    match data_type {
        DataType::Boolean => DType::Bool,
        it if it.is_integer() => DType::Int64,
        it if it.is_floating() => DType::Float64,
        DataType::Date32 | DataType::Date64 => DType::Date,
        DataType::Timestamp(_, None) => DType::Timestamp,
        DataType::Timestamp(_, Some(_)) => DType::TimestampUtc,
        DataType::Time32(_) | DataType::Time64(_) => DType::Time,
        _ => DType::String,
    }
}
