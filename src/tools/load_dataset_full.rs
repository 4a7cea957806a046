//! `load_dataset_full`: a whole dataset as a DataFrame.

use serde::Deserialize;
use serde_json::Value;

use csv_agent_types::catalog::Catalog;
use csv_agent_types::event::ToolOutput;
use csv_agent_types::limits::FULL_LOADS_MAX;
use csv_agent_worker::protocol::Command;

use crate::strict::{self, object, string};
use crate::{Needs, Plan, Tool, ToolError, ToolJob, dataset, new_variable, succeeded};

pub(crate) const TOOL: Tool = Tool {
    name: "load_dataset_full",
    description: "Loads a whole dataset into a DataFrame variable of the REPL. Use it when most columns \
are needed. For a wide or very long dataset prefer load_dataset_columns, which needs far less memory, or \
load_dataset_sample to look at values first. A question may call it 10 times. Returns row count, columns, \
dtypes and the first rows.",
    parameters,
    plan,
    needs: Needs::Repl,
    only_reads: false,
    allowance: Some(FULL_LOADS_MAX),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    df_name: String,
}

fn parameters() -> Value {
    object([
        ("name", string("the dataset's name, as list_datasets gives it")),
        ("df_name", string("the Python variable to assign, e.g. df")),
    ])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { name, df_name } = strict::arguments(arguments)?;
    dataset(catalog, &name)?;
    let variable = new_variable(catalog, df_name)?;
    let command = Command::Load { dataset: name, variable, columns: None, n_rows: None };
    Ok(Plan::ask(ToolJob::Python(command), |outcome| {
        Ok(ToolOutput::json(succeeded(outcome)?.result))
    }))
}
