//! Descriptions as JSON.

use serde_json::{Value, json};

use csv_agent_query::describe::{Bin, ColumnFacts};
use csv_agent_types::catalog::Column;

use super::described::{Described, remarks};

/// Returns a described dataset as an object, as `csv-agent schema description` explains it.
pub(super) fn document(described: &Described) -> Value {
    let Described { name, dataset, description } = described;
    let columns: Vec<Value> = dataset
        .columns
        .iter()
        .zip(description.facts())
        .map(|(column, facts)| column_document(column, facts))
        .collect();
    json!({
        "name": name,
        "source": dataset.source,
        "row_count": dataset.row_count,
        "columns": columns,
        "notes": dataset.notes,
        "doubts": dataset.doubts,
    })
}

fn column_document(column: &Column, facts: &ColumnFacts) -> Value {
    let top = facts.top.as_ref().map(|top| {
        let value = |it: &(Value, u64)| json!({"value": it.0, "count": it.1});
        top.iter().map(value).collect::<Vec<_>>()
    });
    let bin = |it: &Bin| json!({"from": it.from, "to": it.to, "count": it.count});
    let [q25, median, q75] = &facts.quartiles;
    json!({
        "name": column.name,
        "type": column.dtype.name(),
        "nulls": facts.nulls,
        "distinct": facts.distinct,
        "distinct_is_estimate": facts.is_distinct_estimated,
        "min": facts.min,
        "max": facts.max,
        "mean": facts.mean,
        "std": facts.std,
        "q25": q25,
        "median": median,
        "q75": q75,
        "top": top,
        "histogram": facts.histogram.iter().map(bin).collect::<Vec<_>>(),
        "is_key": facts.is_key,
        "meaning": column.meaning,
        "description": column.description,
        "notes": remarks(column, facts),
    })
}
