//! `get_dataset_info`: the schema of a dataset, from the footer of its Parquet file.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalog::{Catalog, Facts, Query};
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
    let path = dataset(catalog, &name)?.path.clone();
    Ok(Plan::read(Query::Schema { path }, move |facts| {
        let Facts::Schema { columns, row_count } = facts else {
            return Err(ToolError::new("failed", format!("cannot read the schema of `{name}`")));
        };
        let result = json!({
            "kind": "schema", "name": name, "row_count": row_count, "columns": columns,
        });
        Ok(ToolOutput::json(result))
    }))
}
