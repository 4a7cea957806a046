//! `python_repl`: run code in the persistent, confined REPL.

use serde::Deserialize;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::event::ToolOutput;
use crate::python::protocol::Command;
use crate::tools::strict::{self, object, string};
use crate::tools::{Plan, Tool, ToolError, succeeded};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "python_repl",
    description: "Runs Python code in a persistent REPL: variables, imports and functions stay for later \
calls and later questions. pandas is imported as pd, numpy as np; `datasets` maps each dataset name to \
its Parquet file, and `load(name, columns=None)` returns one as a DataFrame. The value of the last \
expression comes back as in a notebook, with everything printed: a DataFrame or Series as its first 20 \
rows, shape and dtypes, anything else as text. Long output is cut in the middle, so aggregate instead \
of printing tables; outputs that were too long, of any tool, are whole in the dict `data`, under the \
data_key that came with them. An exception comes back as a short traceback; correct the code and call again. \
There is no network and no file access beyond the datasets; 2 GB of memory. To show a table or a chart \
to the user, build the DataFrame here, then call send_data_to_ui_as_df or send_chart_to_ui: plotting \
libraries and print do not reach the user.",
    parameters,
    plan,
    needs_repl: true,
    only_reads: false,
    allowance: None,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    code: String,
}

fn parameters() -> Value {
    object([("code", string("Python source; end with an expression to see its value"))])
}

fn plan(_: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { code } = strict::arguments(arguments)?;
    if code.trim().is_empty() {
        return Err(ToolError::new("bad_arguments", "`code` is empty; send the code to run"));
    }
    let command = Command::Run { code };
    Ok(Plan::ask(command, |outcome| Ok(ToolOutput::json(succeeded(outcome)?.result))))
}
