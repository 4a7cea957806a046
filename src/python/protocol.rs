//! What is said to the worker and what it answers: one JSON object a line, with an id.
//!
//! The worker's answers have no authority. They are data: length-checked where they are read,
//! cut to size here, and never the path of a file that this process would parse.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::frame::Frame;

/// What the worker is asked to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Run code in the REPL's namespace and show its last expression as a notebook would.
    Run {
        /// Python source.
        code: String,
    },
    /// Read a dataset, or a part of it, into a variable.
    Load {
        /// The dataset's name.
        dataset: String,
        /// A Python identifier.
        variable: String,
        /// Some columns in this order, or all.
        columns: Option<Vec<String>>,
        /// The first rows, or all.
        n_rows: Option<u64>,
    },
    /// Send the beginning of a variable that holds a frame.
    Fetch {
        /// The variable.
        variable: String,
        /// Some columns in this order, or all. One that does not exist is left out.
        columns: Option<Vec<String>>,
        /// Rows to send at most, whatever the number of columns.
        rows_max: usize,
        /// Cells to send at most.
        cells_max: usize,
        /// Whether the whole frame is also written to a Parquet file in the scratch directory.
        write: bool,
    },
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// It did what was asked.
    Ok,
    /// It raised; `result` has the traceback as text.
    Error,
    /// It was interrupted at its deadline; the variables are there.
    Timeout,
}

/// What the worker answers to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: OutcomeStatus,
    /// `{kind, text}` or `{kind: "dataframe", head, columns, row_count, dtypes}`, with `stdout` when
    /// the code printed something, and `notes` when the worker has something to say (a frame was
    /// pruned, a variable of an earlier process was lost).
    pub result: Value,
    /// The answer to [`Command::Fetch`].
    pub frame: Option<Frame>,
    /// The name of the file that [`Command::Fetch`] wrote, within the scratch directory.
    pub file: Option<String>,
}

impl Outcome {
    /// Returns the text of the result: an error's traceback, or the text that was shown.
    pub fn text(&self) -> &str {
        self.result["text"].as_str().unwrap_or_default()
    }
}
