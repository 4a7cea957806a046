//! `get_dataset_info`: the schema of a dataset.
//!
//! It is in the catalog. The footer of the Parquet file says the same, and of a wide file of many row
//! groups takes a hundred times as long to read.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalog::{Catalog, Dataset, Facts, Query};
use crate::event::ToolOutput;
use crate::tools::strict::{self, object, string};
use crate::tools::{Plan, Tool, ToolError, dataset};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "get_dataset_info",
    description: "Returns the schema of one dataset: every column with its type and its count of missing \
values, and the row count. No data is read, so it is fast at any size. Call it before loading a dataset \
whose columns the instructions do not show.",
    parameters,
    plan,
    needs_repl: false,
    only_reads: true,
    allowance: None,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

fn parameters() -> Value {
    object([("name", string("the dataset's name, as list_datasets gives it"))])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { name } = strict::arguments(arguments)?;
    let dataset = dataset(catalog, &name)?;
    let Dataset { row_count, columns, .. } = dataset;
    let columns: Vec<Value> = columns
        .iter()
        .map(|it| json!({"name": it.name, "dtype": it.dtype, "nulls": it.nulls}))
        .collect();
    let result =
        json!({"kind": "schema", "name": name, "row_count": row_count, "columns": columns});
    let Some(path) = dataset.path().map(Path::to_owned) else {
        return Ok(Plan::Done(ToolOutput::json(result)));
    };
    Ok(Plan::read(Query::Check { path }, move |facts| match facts {
        Facts::Whole => Ok(ToolOutput::json(result)),
        Facts::Matches(_) | Facts::Rated(_) => {
            Err(ToolError::new("failed", format!("cannot read the schema of `{name}`")))
        }
    }))
}
