//! `list_datasets`: the names of the session's datasets.

use glob::Pattern;
use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::event::ToolOutput;

use crate::strict::{self, nullable_string, object};
use crate::{Needs, Plan, Tool, ToolError, tell_rows};

pub(crate) const TOOL: Tool = Tool {
    name: "list_datasets",
    description: "Lists the names of the datasets in this session, with their row and column counts. \
Call it when the instructions do not show the dataset you need. Nothing is loaded. For the columns of \
one dataset call get_dataset_info.",
    parameters,
    plan,
    needs: Needs::Nothing,
    only_reads: true,
    allowance: None,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: Option<String>,
}

fn parameters() -> Value {
    let pattern = "only datasets whose name matches, such as fraud_* or *2024*, or that have a column of that \
                   name; null for all";
    object([("pattern", nullable_string(pattern))])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { pattern } = strict::arguments(arguments)?;
    let row = |(name, dataset): (&str, &Dataset)| {
        let mut row = json!({"name": name});
        tell_rows(&mut row, dataset, "row_count");
        row["column_count"] = json!(dataset.columns.len());
        if let Some(remote) = dataset.remote() {
            row["location"] = json!(remote.endpoint);
        }
        row
    };
    let mut result = json!({"kind": "datasets"});
    let matches = match &pattern {
        None => None,
        Some(text) => Some(wanted(text)?),
    };
    let is_wanted = |it: &(&str, &Dataset)| {
        let names = [it.0].into_iter().chain(it.1.columns.iter().map(|it| it.name.as_str()));
        matches
            .as_ref()
            .is_none_or(|wanted| names.into_iter().any(|it| wanted.matches(&it.to_lowercase())))
    };
    let datasets: Vec<Value> = catalog.iter().filter(is_wanted).map(row).collect();
    if let (Some(pattern), true) = (pattern, datasets.is_empty()) {
        let n = catalog.len();
        let note = format!(
            "none of the {n} datasets and their columns matches `{pattern}`; `*` matches any characters"
        );
        result["note"] = json!(note);
    }
    result["datasets"] = json!(datasets);
    Ok(Plan::Done(ToolOutput::json(result)))
}

/// Returns the case-insensitive name pattern.
fn wanted(text: &str) -> Result<Pattern, ToolError> {
    Pattern::new(&text.to_lowercase()).map_err(|error| {
        let message = format!(
            "`{text}` is not a valid pattern: {}; `*` matches any characters, \
             `?` matches one",
            error.msg
        );
        ToolError::new("bad_arguments", message)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::plan;
    use crate::Plan;
    use csv_agent_testing::dataset;
    use csv_agent_types::catalog::Catalog;

    #[track_caller]
    fn check(pattern: &Value, expected: &[&str]) {
        let mut catalog = Catalog::default();
        for name in ["fraud_kansas", "fraud_ohio", "theft_ohio"] {
            catalog.insert(name.to_owned(), dataset(1));
        }
        catalog.insert("other".to_owned(), dataset(2));
        let Ok(Plan::Done(output)) = plan(&catalog, json!({"pattern": pattern})) else {
            panic!("no answer for {pattern}");
        };
        let datasets = output.result["datasets"].as_array().unwrap();
        let names: Vec<&str> = datasets.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{pattern}");
    }

    #[test]
    fn a_pattern_is_of_names_of_datasets_or_columns() {
        check(&Value::Null, &["fraud_kansas", "fraud_ohio", "other", "theft_ohio"]);
        check(&json!("*_OHIO"), &["fraud_ohio", "theft_ohio"]);
        check(&json!("column 1"), &["other"]);
        check(&json!("nothing*"), &[]);
        assert!(plan(&Catalog::default(), json!({"pattern": "["})).is_err());
        assert!(plan(&Catalog::default(), json!({})).is_ok());
    }
}
