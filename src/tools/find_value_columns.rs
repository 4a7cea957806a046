//! `find_value_columns`: which columns of a dataset contain a value.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_types::catalog::{Catalog, Facts, Query};
use csv_agent_types::chosen::is_named;
use csv_agent_types::event::ToolOutput;
use csv_agent_types::limits::FINDS_MAX;
use csv_agent_worker::protocol::Command;

use crate::strict::{self, object, string};
use crate::{Needs, Plan, Tool, ToolError, ToolJob, dataset, succeeded};

pub(crate) const TOOL: Tool = Tool {
    name: "find_value_columns",
    description: "Finds which columns of a dataset, or of all that match a pattern, contain a value, \
                  and in how \
many rows. Use it when the \
question names a value (a product, a code, a day) and not its column. The whole cell must equal the \
value; text is compared without regard to case and surrounding blanks, numbers by value (7 finds 7.0), \
days and times in ISO form. It does not search within cells: for that use str.contains in Python. \
All rows are searched, without loading the dataset into the REPL. A question may call it 30 times.",
    parameters,
    plan,
    needs: Needs::Nothing,
    only_reads: true,
    allowance: Some(FINDS_MAX),
};

/// How to search within cells of a local dataset.
const PARTS_HERE: &str = "str.contains in Python";
/// The same for a Spark column.
const PARTS_THERE: &str = "F.col(...).contains(...) in Python";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    value: String,
}

fn parameters() -> Value {
    object([
        ("name", string("the dataset's name, or a pattern such as fraud_*; * for all datasets")),
        ("value", string("the value as text: Anvil, 7, 2013-01-01, true")),
    ])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { name, value } = strict::arguments(arguments)?;
    if value.trim().is_empty() {
        let message = "`value` is empty; missing cells are not searched: call `get_dataset_info` for how many \
                       each column has, or `load(name).isna().sum()` in Python";
        return Err(ToolError::new("bad_arguments", message));
    }
    if name.contains(['*', '?', '[']) {
        return in_several(catalog, name, value);
    }
    let Some(path) = dataset(catalog, &name)?.path().map(Path::to_owned) else {
        let command = Command::Find { dataset: name.clone(), value: value.clone() };
        return Ok(Plan::ask(ToolJob::Python(command), move |outcome| {
            Ok(output(&name, &value, &succeeded(outcome)?.result["columns"], PARTS_THERE))
        }));
    };
    let query = Query::FindValue { path, value: value.clone() };
    Ok(Plan::read(query, move |facts| {
        let Facts::Matches(matches) = facts else {
            return Err(ToolError::new("failed", format!("cannot search `{name}`")));
        };
        Ok(output(&name, &value, &json!(matches), PARTS_HERE))
    }))
}

/// Searches the local datasets whose names match.
fn in_several(catalog: &Catalog, pattern: String, value: String) -> Result<Plan, ToolError> {
    let here = catalog.iter().filter(|it| is_named(&pattern, it.0));
    let here = here.filter_map(|(name, it)| Some((name.to_owned(), it.path()?.to_owned())));
    let datasets: Vec<(String, PathBuf)> = here.collect();
    let n_datasets = datasets.len();
    if n_datasets == 0 {
        let message = format!("no dataset on this machine matches `{pattern}`; call list_datasets");
        return Err(ToolError::new("unknown_dataset", message));
    }
    let query = Query::FindValueIn { datasets, value: value.clone() };
    Ok(Plan::read(query, move |facts| {
        let Facts::MatchesIn { found, n_left } = facts else {
            return Err(ToolError::new("failed", format!("cannot search `{pattern}`")));
        };
        let matches: Vec<Value> =
            found.iter().map(|(name, columns)| json!({"name": name, "columns": columns})).collect();
        let mut result = json!({"kind": "matches", "name": pattern, "value": value, "datasets": matches,
            "n_searched": n_datasets - n_left});
        if 0 < n_left {
            let note = format!(
                "{n_left} more datasets were not searched; ask for them with a narrower pattern"
            );
            result["note"] = json!(note);
        } else if matches.is_empty() {
            result["note"] =
                json!(format!("no cell equals the value; for a part of a cell use {PARTS_HERE}"));
        }
        Ok(ToolOutput::json(result))
    }))
}

fn output(name: &str, value: &str, matches: &Value, parts: &str) -> ToolOutput {
    let mut result = json!({"kind": "matches", "name": name, "value": value, "columns": matches});
    if matches.as_array().is_none_or(Vec::is_empty) {
        result["note"] =
            json!(format!("no cell equals the value; for a part of a cell use {parts}"));
    }
    ToolOutput::json(result)
}
