//! `load_dataset_columns`: some columns of a dataset, all rows.

use serde::Deserialize;
use serde_json::Value;

use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::event::ToolOutput;
use csv_agent_worker::protocol::Command;

use crate::strict::{self, array, object, string};
use crate::{Needs, Plan, Tool, ToolError, ToolJob, dataset, nearest, new_variable, succeeded};

pub(crate) const TOOL: Tool = Tool {
    name: "load_dataset_columns",
    description: "Loads some columns of a dataset, all rows, into a DataFrame variable of the REPL. The \
best choice when the question needs a few columns: only these are read. Returns row count, dtypes and \
the first rows.",
    parameters,
    plan,
    needs: Needs::Repl,
    only_reads: false,
    allowance: None,
};

/// Maximum number of column names in an error.
const COLUMNS_LISTED_MAX: usize = 50;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    columns: Vec<String>,
    df_name: String,
}

fn parameters() -> Value {
    object([
        ("name", string("the dataset's name, as list_datasets gives it")),
        ("columns", array(string("a column's exact name"), "the columns to load, in this order")),
        ("df_name", string("the Python variable to assign, e.g. df")),
    ])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { name, columns, df_name } = strict::arguments(arguments)?;
    check_columns(dataset(catalog, &name)?, &name, &columns)?;
    let variable = new_variable(catalog, df_name)?;
    let command = Command::Load { dataset: name, variable, columns: Some(columns), n_rows: None };
    Ok(Plan::ask(ToolJob::Python(command), |outcome| {
        Ok(ToolOutput::json(succeeded(outcome)?.result))
    }))
}

fn check_columns(dataset: &Dataset, name: &str, columns: &[String]) -> Result<(), ToolError> {
    if columns.is_empty() {
        return Err(ToolError::new("bad_arguments", "`columns` is empty; name at least one"));
    }
    let is_there = |column: &String| dataset.columns.iter().any(|it| it.name == *column);
    let names = || dataset.columns.iter().map(|it| it.name.as_str());
    let mut missing: Vec<String> = Vec::new();
    for column in columns.iter().filter(|it| !is_there(it)).take(COLUMNS_LISTED_MAX) {
        let told = format!("`{column}`{}", nearest(column, names()));
        if !missing.contains(&told) {
            missing.push(told);
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let mut there: Vec<&str> = names().take(COLUMNS_LISTED_MAX).collect();
    if COLUMNS_LISTED_MAX < dataset.columns.len() {
        there.push("… (call `get_dataset_info` for all)");
    }
    let kind = if missing.len() == 1 { "column" } else { "columns" };
    let message =
        format!("no {kind} {} in `{name}`; it has {}", missing.join(", "), there.join(", "));
    Err(ToolError::new("unknown_column", message))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::Plan;
    use csv_agent_types::catalog::{Catalog, Column, DType, Dataset, Dialect, Location};

    fn catalog() -> Catalog {
        let column = |name: &str| Column::new(name, DType::Int64, Some(0));
        let dialect = Dialect {
            encoding: "utf-8".into(),
            delimiter: Some(",".to_owned()),
            header: true,
            header_line: Some(1),
            ..Dialect::default()
        };
        let dataset = Dataset {
            location: Location::Here { path: "datasets/sales.parquet".into() },
            source: "sales.csv".into(),
            bytes: 1,
            row_count: 3,
            columns: vec![column("day"), column("sum")],
            dialect,
            ..Dataset::default()
        };
        let mut catalog = Catalog::default();
        catalog.insert("sales".into(), dataset);
        catalog
    }

    #[track_caller]
    fn check(columns: &[&str], df_name: &str, message: Option<&str>) {
        let arguments = json!({"name": "sales", "columns": columns, "df_name": df_name});
        let found = super::plan(&catalog(), arguments);
        assert!(message.is_some() || matches!(found, Ok(Plan::Ask(..))));
        assert_eq!(found.err().map(|it| it.message().to_owned()).as_deref(), message);
    }

    #[test]
    fn columns_and_variables_are_checked_before_python_runs() {
        check(&["sum", "day"], "df", None);
        let near = "no columns `Sum` (did you mean `sum`?), `price` in `sales`; it has day, sum";
        check(&["Sum", "day", "price", "Sum"], "df", Some(near));
        check(&[], "df", Some("`columns` is empty; name at least one"));
        let keyword =
            "`class` is not a valid Python variable name; use one like `df` or `sales_q3`";
        check(&["sum"], "class", Some(keyword));
        check(&["sum"], "pd", Some("`pd` is taken in the REPL; choose another name"));
    }
}
