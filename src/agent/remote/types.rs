//! Maps Spark's types to ours.

use csv_agent_types::catalog::{Column, DType};

/// Returns Spark's columns as columns of a dataset. A note names the Spark type of values without a type of
/// ours; these values are unchanged.
pub(super) fn columns(found: &[(String, String)]) -> Vec<Column> {
    found.iter().map(|(name, spark_type)| column(name, spark_type)).collect()
}

pub(super) fn column(name: &str, spark_type: &str) -> Column {
    let (dtype, is_exact) = dtype(spark_type);
    let shown: String = spark_type.chars().take(80).collect();
    let note = (!is_exact).then(|| format!("`{shown}` on the cluster"));
    Column { note, ..Column::new(name, dtype, None) }
}

/// Returns our nearest type, and whether it is exact.
fn dtype(spark_type: &str) -> (DType, bool) {
    let base = spark_type.split(['(', '<']).next().unwrap_or_default().trim();
    match base {
        "boolean" => (DType::Bool, true),
        "tinyint" | "smallint" | "int" | "bigint" => (DType::Int64, true),
        "float" | "double" => (DType::Float64, true),
        "decimal" if spark_type.ends_with(",0)") => (DType::Int64, false),
        "decimal" => (DType::Float64, false),
        "date" => (DType::Date, true),
        "timestamp" => (DType::TimestampUtc, true),
        "timestamp_ntz" => (DType::Timestamp, true),
        "time" => (DType::Time, true),
        "string" | "varchar" | "char" => (DType::String, true),
        _ => (DType::String, false),
    }
}

#[cfg(test)]
mod tests {
    use super::column;
    use csv_agent_types::catalog::DType;

    #[test]
    fn a_type_that_is_not_ours_is_told() {
        let check = |spark_type: &str, dtype: DType, note: Option<&str>| {
            let found = column("x", spark_type);
            assert_eq!((found.dtype, found.note.as_deref()), (dtype, note), "{spark_type}");
        };
        check("smallint", DType::Int64, None);
        check("float", DType::Float64, None);
        check("decimal(10,2)", DType::Float64, Some("`decimal(10,2)` on the cluster"));
        check("decimal(18,0)", DType::Int64, Some("`decimal(18,0)` on the cluster"));
        check("timestamp", DType::TimestampUtc, None);
        check("timestamp_ntz", DType::Timestamp, None);
        check("varchar(20)", DType::String, None);
        check("array<int>", DType::String, Some("`array<int>` on the cluster"));
        check("binary", DType::String, Some("`binary` on the cluster"));
    }
}
