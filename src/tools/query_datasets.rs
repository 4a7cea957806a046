//! `query_datasets`: SQL over the datasets, without Python.

use serde_json::Value;

use csv_agent_types::catalog::Catalog;
use csv_agent_types::event::ToolOutput;
use csv_agent_types::limits::SQL_BYTES_MAX;

use crate::strict::{self, nullable_string, object, string};
use crate::{Needs, Plan, Statement, Tool, ToolError, ToolJob, succeeded, variable};

pub(crate) const TOOL: Tool = Tool {
    name: "query_datasets",
    description: "Runs one SQL SELECT statement over the datasets, in DuckDB's dialect and without Python; the \
tables are the datasets, by their names. Prefer it for joins, filters, aggregates, ranks and running totals, and \
for datasets too large to load; prefer python_repl for statistics, text in odd formats, and steps that SQL cannot \
express. Returns the first rows, the row count and the types. With `result_name` the whole result is kept for this \
question: later statements read it as a table, send_data_to_ui_as_df and send_chart_to_ui take it as `df_name`, and \
load(\"NAME\") loads it in python_repl. Write what the user will see as it should look: ordered, rounded, with readable \
column names. Put names with blanks, hyphens or \
capitals, or a digit first, in double quotes, texts in single quotes. An error says where the \
statement is wrong; correct it and call again.",
    parameters,
    plan,
    needs: Needs::Engine,
    only_reads: false,
    allowance: None,
};

fn parameters() -> Value {
    object([
        ("sql", string("one SELECT statement, which may begin with WITH")),
        ("result_name", nullable_string("a name for the result, e.g. top_products; null for none")),
    ])
}

fn plan(catalog: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Statement { sql, result_name } = strict::arguments(arguments)?;
    if SQL_BYTES_MAX < sql.len() {
        let message = format!("`sql` has {} bytes; at most {SQL_BYTES_MAX} are allowed", sql.len());
        return Err(ToolError::new("bad_arguments", message));
    }
    let result_name = result_name.map(variable).transpose()?;
    if let Some(name) = result_name.as_ref().filter(|it| catalog.get(it).is_some()) {
        let message = format!("`{name}` is a dataset; give the result another name");
        return Err(ToolError::new("bad_arguments", message));
    }
    let statement = Statement { sql, result_name };
    Ok(Plan::ask(ToolJob::Query(statement), |outcome| {
        Ok(ToolOutput::json(succeeded(outcome)?.result))
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Plan, Statement, ToolJob};
    use csv_agent_types::catalog::Catalog;

    #[track_caller]
    fn check(arguments: Value, expected: Result<Statement, &str>) {
        let found = match super::plan(&Catalog::default(), arguments) {
            Ok(Plan::Ask(ToolJob::Query(statement), _)) => Ok(statement),
            Ok(_) => panic!("it is not for the query engine"),
            Err(error) => Err(error.message().to_owned()),
        };
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn a_result_has_a_name_that_other_tools_take() {
        let statement = |it: Option<&str>| Statement {
            sql: "select 1".to_owned(),
            result_name: it.map(str::to_owned),
        };
        check(json!({"sql": "select 1", "result_name": null}), Ok(statement(None)));
        check(json!({"sql": "select 1", "result_name": "top"}), Ok(statement(Some("top"))));
        check(
            json!({"sql": "select 1", "result_name": "top 10"}),
            Err("`top 10` is not a valid Python variable name; use one like `df` or `sales_q3`"),
        );
    }
}
