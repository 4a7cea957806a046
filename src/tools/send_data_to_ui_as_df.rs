//! `send_data_to_ui_as_df`: show a frame to the user as a table.

use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_types::catalog::Catalog;
use csv_agent_types::event::{Shown, ToolOutput};
use csv_agent_types::limits::{SHOWN_TEXT_CHARS_MAX, TABLE_CELLS_MAX, TABLE_ROWS_MAX};
use csv_agent_worker::protocol::Command;

use crate::strict::{self, object, string};
use crate::{Needs, Plan, Tool, ToolError, ToolJob, succeeded, variable};

pub(crate) const TOOL: Tool = Tool {
    name: "send_data_to_ui_as_df",
    description: "Shows a DataFrame of the REPL, or a result of query_datasets, to the user as a table. Always use it for tabular \
results; the reply then refers to the table and does not repeat it. The user sees the rows and columns \
as they are, so select, sort, round and name the columns first, and reset the index. Up to 2000 rows \
and 200000 cells are shown; the whole frame is kept as a file. For more rows send the top or an \
aggregate, and say so. Returns how many rows were shown.",
    parameters,
    plan,
    needs: Needs::Nothing,
    only_reads: false,
    allowance: None,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    df_name: String,
    logical_name: String,
}

fn parameters() -> Value {
    object([
        (
            "df_name",
            string("the DataFrame variable in the REPL, or the result_name of query_datasets"),
        ),
        ("logical_name", string("a short name for the table, e.g. revenue_by_product")),
    ])
}

fn plan(_: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { df_name, logical_name } = strict::arguments(arguments)?;
    let df_name = variable(df_name)?;
    let logical_name = if logical_name.trim().is_empty() { df_name.clone() } else { logical_name };
    let n_chars = logical_name.chars().count();
    if SHOWN_TEXT_CHARS_MAX < n_chars {
        let message = format!(
            "the name of the table has {n_chars} characters; it may have at most {SHOWN_TEXT_CHARS_MAX}"
        );
        return Err(ToolError::new("bad_arguments", message));
    }
    let command = Command::Fetch {
        variable: df_name.clone(),
        columns: None,
        rows_max: TABLE_ROWS_MAX,
        cells_max: TABLE_CELLS_MAX,
        write: true,
    };
    Ok(Plan::ask(ToolJob::Python(command), move |outcome| {
        let outcome = succeeded(outcome)?;
        let Some(frame) = outcome.frame else {
            return Err(ToolError::new(
                "failed",
                format!("`{df_name}` could not be read as a table"),
            ));
        };
        let shown = frame.rows.len();
        let mut result = json!({
            "kind": "table_sent", "logical_name": logical_name,
            "row_count": frame.row_count, "rows_shown": shown, "columns": frame.columns,
        });
        if frame.is_truncated() {
            let note = format!("the user sees the first {shown} of {} rows", frame.row_count);
            result["note"] = json!(note);
        }
        let file = outcome.file;
        let table = Shown::Table { df_name, logical_name, frame, file };
        Ok(ToolOutput::json(result).show(table))
    }))
}
