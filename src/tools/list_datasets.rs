//! `list_datasets`: the names of the session's datasets.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::catalog::{Catalog, Dataset};
use crate::event::ToolOutput;
use crate::tools::strict::{self, object};
use crate::tools::{Plan, Tool, ToolError, tell_rows};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "list_datasets",
    description: "Lists the names of the datasets in this session, with their row and column counts. \
Call it when the instructions do not show the dataset you need. Nothing is loaded. For the columns of \
one dataset call get_dataset_info.",
    parameters,
    plan,
    needs_repl: false,
    only_reads: true,
    allowance: None,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {}

fn parameters() -> Value {
    object([])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments {} = strict::arguments(arguments)?;
    let row = |(name, dataset): (&str, &Dataset)| {
        let mut row = json!({"name": name});
        tell_rows(&mut row, dataset, "row_count");
        row["column_count"] = json!(dataset.columns.len());
        if let Some(remote) = dataset.remote() {
            row["location"] = json!(remote.endpoint);
        }
        row
    };
    let datasets: Vec<Value> = catalog.iter().map(row).collect();
    Ok(Plan::Done(ToolOutput::json(json!({"kind": "datasets", "datasets": datasets}))))
}
