//! `load_dataset_sample`: the first rows of a dataset.

use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_types::catalog::Catalog;
use csv_agent_types::event::ToolOutput;
use csv_agent_types::limits::CLUSTER_SAMPLE_ROWS_MAX;
use csv_agent_worker::protocol::Command;

use crate::strict::{self, integer, object, string};
use crate::{Needs, Plan, Tool, ToolError, ToolJob, dataset, new_variable, succeeded, tell_rows};

pub(crate) const TOOL: Tool = Tool {
    name: "load_dataset_sample",
    description: "Loads the first rows of a dataset into a DataFrame variable of the REPL, all columns. \
The cheap way to see what values look like before deciding what to compute. The rows are the beginning \
of the file, not a random sample: never answer from them as if they were the whole dataset. Returns \
columns, dtypes, the first rows, and how many rows the dataset has in all.",
    parameters,
    plan,
    needs: Needs::Repl,
    only_reads: false,
    allowance: None,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    df_name: String,
    nrows: i64,
}

fn parameters() -> Value {
    object([
        ("name", string("the dataset's name, as list_datasets gives it")),
        ("df_name", string("the Python variable to assign, e.g. head")),
        ("nrows", integer("how many rows to load, at least 1")),
    ])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { name, df_name, nrows } = strict::arguments(arguments)?;
    let dataset = dataset(catalog, &name)?;
    let mut rows_in_all = json!({});
    tell_rows(&mut rows_in_all, dataset, "rows_in_dataset");
    let (n_all, is_estimate) = (dataset.row_count, dataset.is_estimate());
    let is_remote = dataset.remote().is_some();
    let variable = new_variable(catalog, df_name)?;
    let n_rows = u64::try_from(nrows).ok().filter(|it| 0 < *it).ok_or_else(|| {
        ToolError::new("bad_arguments", format!("`nrows` is {nrows}; it must be at least 1"))
    })?;
    if is_remote && CLUSTER_SAMPLE_ROWS_MAX < n_rows {
        let message = format!(
            "`nrows` is {nrows}; `{name}` is on the cluster, and a sample has at most \
             {CLUSTER_SAMPLE_ROWS_MAX} rows; aggregate on the cluster instead"
        );
        return Err(ToolError::new("bad_arguments", message));
    }
    let command = Command::Load { dataset: name, variable, columns: None, n_rows: Some(n_rows) };
    Ok(Plan::ask(ToolJob::Python(command), move |outcome| {
        let mut result = succeeded(outcome)?.result;
        let members = result.as_object_mut().zip(rows_in_all.as_object());
        if let Some((result, rows)) = members {
            result.extend(rows.clone());
        }
        if is_estimate || n_rows < n_all {
            let about = if is_estimate { "about " } else { "" };
            result["note"] = json!(format!(
                "{n_rows} of {about}{n_all} rows: load the dataset before computing an answer"
            ));
        }
        Ok(ToolOutput::json(result))
    }))
}
