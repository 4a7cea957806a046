//! `python_repl`: run code in the persistent, confined REPL.

use serde::Deserialize;
use serde_json::Value;

use csv_agent_types::catalog::Catalog;
use csv_agent_types::event::ToolOutput;
use csv_agent_worker::protocol::Command;

use crate::strict::{self, object, string};
use crate::{CodeRoom, Needs, Plan, Tool, ToolError, ToolJob, succeeded};

pub(crate) const TOOL: Tool = Tool {
    name: "python_repl",
    description: "Runs Python code in a persistent REPL: variables, imports and functions stay for later \
calls and later questions. pandas is imported as pd, numpy as np; `datasets` maps each dataset name to \
its Parquet file, and `load(name, columns=None)` returns one as a DataFrame. The value of the last \
expression comes back as in a notebook, with everything printed: a DataFrame or Series as its first 20 \
rows, shape and dtypes, anything else as text. Long output is cut in the middle, so aggregate instead \
of printing tables; outputs of any tool that were too long are complete in the dict `data`, under the \
key that is shown at the cut or with them. An exception comes back as a short traceback; correct the \
code and call again. \
{packages} There is no network and no file access beyond the datasets; {memory} of memory. To show a table or a chart \
to the user, build the DataFrame here, then call send_data_to_ui_as_df or send_chart_to_ui: what Python \
prints or plots does not reach the user.",
    parameters,
    plan,
    needs: Needs::Repl,
    only_reads: false,
    allowance: None,
};

/// Says what there is on this machine.
pub(crate) fn description(room: &CodeRoom) -> String {
    let CodeRoom { memory_bytes, packages } = room;
    let missing = match &packages.missing[..] {
        [] => String::new(),
        names => format!("; there is no {}", names.join(", no ")),
    };
    let packages = format!(
        "Installed are {} and the standard library{missing}; nothing can be added.",
        packages.listed()
    );
    #[expect(clippy::cast_precision_loss, reason = "it is rounded to one digit behind the point")]
    let memory = format!("{:.1} GB", *memory_bytes as f64 / f64::from(1 << 30));
    TOOL.description
        .replace("{packages}", &packages)
        .replace("{memory}", &memory.replace(".0 ", " "))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    code: String,
}

fn parameters() -> Value {
    object([("code", string("Python source; end with an expression to see its value"))])
}

/// What the model reads of code that shows nothing.
pub const NO_VALUE: &str = "no value: end with an expression or print it";

fn plan(_: &Catalog, arguments: Value) -> Result<Plan, ToolError> {
    let Arguments { code } = strict::arguments(arguments)?;
    if code.trim().is_empty() {
        return Err(ToolError::new("bad_arguments", "`code` is empty; send the code to run"));
    }
    let command = Command::Run { code };
    Ok(Plan::ask(ToolJob::Python(command), |outcome| {
        let mut result = succeeded(outcome)?.result;
        if result["kind"] == "none" && result.get("stdout").is_none() {
            result["text"] = NO_VALUE.into();
        }
        Ok(ToolOutput::json(result))
    }))
}
