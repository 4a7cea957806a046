//! Datasets as rows and documents, for `ingest` and `datasets` alike.

use serde_json::Map;
use serde_json::{Value, json};

use csv_agent_types::catalog::Column;
use csv_agent_types::catalog::Dataset;
use csv_agent_types::frame::Frame;

use super::listing;

/// Returns how many rows a dataset has, with `~` before an estimate.
pub(crate) fn rows_shown(dataset: &Dataset) -> Value {
    let n_rows = dataset.row_count;
    if dataset.is_estimate() { json!(format!("~{n_rows}")) } else { json!(n_rows) }
}

/// Returns every column of every dataset as a row, with notes where there are any.
pub(crate) fn schema_frame<'a>(datasets: impl Iterator<Item = (&'a str, &'a Dataset)>) -> Frame {
    let row = |name: &str, column: &Column| {
        let remarks = column.remarks().join("; ");
        vec![
            json!(name),
            json!(column.name),
            json!(column.dtype.name()),
            json!(column.nulls),
            json!(column.description),
            if remarks.is_empty() { Value::Null } else { json!(remarks) },
        ]
    };
    let mut rows: Vec<Vec<Value>> = datasets
        .flat_map(|(name, dataset)| dataset.columns.iter().map(move |it| row(name, it)))
        .collect();
    let mut columns = vec!["dataset", "column", "dtype", "nulls", "description", "note"];
    // Few files describe their columns, or have something to be remarked.
    for at in [5, 4] {
        if rows.iter().all(|it| it[at].is_null()) {
            for row in &mut rows {
                row.remove(at);
            }
            columns.remove(at);
        }
    }
    listing::frame(&columns, &["nulls"], rows)
}

/// Returns a dataset as one object: its name, then what the catalog has.
pub(crate) fn document(name: &str, dataset: &Dataset) -> Value {
    let mut document = Map::from_iter([("name".to_owned(), json!(name))]);
    if let Ok(Value::Object(members)) = serde_json::to_value(dataset) {
        document.extend(members);
    }
    if let Some(remote) = dataset.remote() {
        // How Spark is told to read it is between the session and the worker.
        document.remove("remote");
        document.extend([
            ("location".to_owned(), json!(remote.endpoint)),
            ("spark_version".to_owned(), json!(remote.version)),
            ("is_estimate".to_owned(), json!(remote.is_estimate)),
            ("files".to_owned(), json!(remote.files)),
            ("partitioned_by".to_owned(), json!(remote.partitioned_by)),
        ]);
    }
    Value::Object(document)
}
