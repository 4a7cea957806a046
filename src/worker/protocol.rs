//! The requests to the worker and its responses: one JSON object per line, with an id.
//!
//! The worker's answers are untrusted data: their length is checked when they are read, they are cut to
//! size here, and they never name a file that this process would parse.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use csv_agent_types::frame::Frame;
use csv_agent_types::json::count_values;
use csv_agent_types::limits::{
    TOOL_OUTPUT_BYTES_MAX, WORKER_ANSWER_BYTES_MAX, WORKER_ANSWER_VALUES_MAX,
};

/// The rule broken by a line that is not a response.
const NO_RESPONSE: &str = "a line that is not a response";

/// A command for the worker.
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
        /// The columns in this order, or all.
        columns: Option<Vec<String>>,
        /// The number of first rows, or all.
        n_rows: Option<u64>,
    },
    /// Send the first rows of a variable that holds a frame.
    Fetch {
        /// The variable.
        variable: String,
        /// The columns in this order, or all. Missing columns are ignored.
        columns: Option<Vec<String>>,
        /// Maximum number of rows to send, whatever the number of columns.
        rows_max: usize,
        /// Maximum number of cells to send.
        cells_max: usize,
        /// Whether to also write the whole frame to a Parquet file in the scratch directory.
        write: bool,
    },
    /// Count the rows with a value in each column of a remote dataset, on its cluster.
    Find {
        /// The dataset's name.
        dataset: String,
        /// As the user wrote it.
        value: String,
    },
    /// Forget a variable: a result of a query has its name now.
    Forget {
        /// The variable, which need not exist.
        variable: String,
    },
    /// Store a tool's findings, and text too long for the model, in a variable for the code.
    Keep {
        /// The tool; its name is part of the key.
        tool: String,
        /// Objects with the same members, which become a frame.
        rows: Option<Vec<Value>>,
        /// Anything else.
        text: Option<String>,
    },
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// It succeeded.
    Ok,
    /// It raised; `result` contains the traceback as text.
    Error,
    /// It was interrupted at its deadline; the variables remain.
    Timeout,
}

/// The worker's answer to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub status: OutcomeStatus,
    /// `{kind, text}` or `{kind: "dataframe", head, columns, row_count, dtypes}`, with `stdout` when
    /// the code printed something, and `notes` when the worker reports something (a frame was pruned, a
    /// variable of an earlier process was lost). Where a value was cut, `data_key` refers to the whole;
    /// where printed text was cut, `stdout_key` does.
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

/// A request as sent over the pipe: the id and the members of the command.
#[derive(Debug, Serialize)]
pub(super) struct WorkerRequest<'a, T> {
    /// Fresh and random, so that code cannot forge an answer in advance.
    pub id: &'a str,
    /// The command.
    #[serde(flatten)]
    pub body: &'a T,
}

/// A response as received from the pipe.
#[derive(Debug)]
pub(super) struct Response {
    /// The answer to the start.
    pub ready: Option<Versions>,
    status: Option<OutcomeStatus>,
    result: Map<String, Value>,
    frame: Option<WireFrame>,
    file: Option<String>,
}

/// A response before it is measured: no value that can grow has been built yet.
#[derive(Deserialize)]
struct Unmeasured<'a> {
    id: Cow<'a, str>,
    ready: Option<Versions>,
    status: Option<OutcomeStatus>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    frame: Option<&'a RawValue>,
    file: Option<String>,
}

/// The versions of Python and its packages in the worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Versions {
    /// The interpreter's version, as in `3.12.4`.
    pub python: String,
    /// The package's version.
    pub pandas: String,
    /// The package's version.
    pub numpy: String,
    /// The package's version.
    pub pyarrow: String,
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Versions { python, pandas, numpy, pyarrow } = self;
        write!(f, "Python {python}, pandas {pandas}, NumPy {numpy}, PyArrow {pyarrow}")
    }
}

#[derive(Debug, Deserialize)]
struct WireFrame {
    columns: Vec<String>,
    dtypes: Vec<String>,
    rows: Vec<Vec<Value>>,
    row_count: u64,
}

impl Response {
    /// Reads the line that answers the request `id`. Values are counted before they are built: the shortest
    /// JSON values take fifty times their length in memory. Fails, with the broken rule, as
    /// [`Response::into_outcome`] does.
    pub(crate) fn read(line: &[u8], id: &str) -> Result<Response, &'static str> {
        let Unmeasured { id: answered, ready, status, result, frame, file } =
            serde_json::from_slice(line).map_err(|_| NO_RESPONSE)?;
        if answered != id {
            return Err("the answer to another request");
        }
        Ok(Response {
            ready,
            status,
            result: result.map(build).transpose()?.unwrap_or_default(),
            frame: frame.map(build).transpose()?,
            file,
        })
    }

    /// Checks a response against its command. Fails, with the broken rule, when the worker's own code would not
    /// send it.
    pub(crate) fn into_outcome(self, command: &Command) -> Result<Outcome, &'static str> {
        let status = self.status.ok_or("no status")?;
        let result = Value::Object(self.result);
        if TOOL_OUTPUT_BYTES_MAX < result.to_string().len() {
            return Err("a result over the limit");
        }
        let Command::Fetch { rows_max, cells_max, write, .. } = command else {
            let has_more = self.frame.is_some() || self.file.is_some();
            return if has_more {
                Err("a frame that was not requested")
            } else {
                Ok(Outcome { status, result, frame: None, file: None })
            };
        };
        if (status == OutcomeStatus::Ok) != self.frame.is_some() {
            return Err("a frame and a status that contradict each other");
        }
        if self.file.as_deref().is_some_and(|it| !write || !is_table_name(it)) {
            return Err("a file that was not requested");
        }
        let frame = self.frame.map(|it| it.check(*rows_max, *cells_max)).transpose()?;
        Ok(Outcome { status, result, frame, file: self.file })
    }

    /// Returns the members of the result, for requests that are not a [`Command`].
    pub(crate) fn into_result(self) -> Value {
        Value::Object(self.result)
    }
}

/// Builds a part of a response, unless it has more values than the worker ever sends.
fn build<T: DeserializeOwned>(raw: &RawValue) -> Result<T, &'static str> {
    if WORKER_ANSWER_VALUES_MAX < count_values(raw.get().as_bytes()) {
        return Err("more values than an answer may have");
    }
    serde_json::from_str(raw.get()).map_err(|_| NO_RESPONSE)
}

impl WireFrame {
    fn check(self, rows_max: usize, cells_max: usize) -> Result<Frame, &'static str> {
        let WireFrame { columns, dtypes, rows, row_count } = self;
        let n_columns = columns.len();
        if dtypes.len() != n_columns || rows.iter().any(|row| row.len() != n_columns) {
            return Err("a frame whose rows and columns do not fit");
        }
        if columns.iter().collect::<BTreeSet<_>>().len() != n_columns {
            return Err("a frame with two columns of the same name");
        }
        let n_rows = rows.len();
        if rows_max < n_rows || cells_max < n_rows * n_columns || row_count < n_rows as u64 {
            return Err("a frame over its bounds");
        }
        // Events and documents repeat the column name with each of its cells.
        let names_bytes = columns.iter().map(String::len).sum::<usize>();
        if WORKER_ANSWER_BYTES_MAX < n_rows * names_bytes {
            return Err("a frame whose names are longer than its cells may be");
        }
        let is_cell = |value: &Value| !value.is_array() && !value.is_object();
        if !rows.iter().flatten().all(is_cell) {
            return Err("a cell that is not a plain value");
        }
        Ok(Frame { columns, dtypes, rows, row_count })
    }
}

/// Returns whether a name has the form that the worker gives to a table: `table-7.parquet`.
pub(super) fn is_table_name(name: &str) -> bool {
    let number = name.strip_prefix("table-").and_then(|it| it.strip_suffix(".parquet"));
    number.is_some_and(|it| {
        !it.is_empty() && it.len() <= 9 && it.bytes().all(|it| it.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Command, NO_RESPONSE, Response};
    use csv_agent_types::limits::WORKER_ANSWER_VALUES_MAX;

    fn fetch(rows_max: usize, cells_max: usize) -> Command {
        let variable = "df".to_owned();
        Command::Fetch { variable, columns: None, rows_max, cells_max, write: true }
    }

    /// Reads the answer to a fetch of at most 2 rows and 3 cells.
    #[track_caller]
    fn check(members: &Value, expected: Result<usize, &str>) {
        let mut response = json!({"id": "1", "status": "ok", "result": {"kind": "none"}});
        for (key, value) in members.as_object().unwrap() {
            response[key] = value.clone();
        }
        let response = Response::read(response.to_string().as_bytes(), "1").unwrap();
        let outcome = response.into_outcome(&fetch(2, 3));
        assert_eq!(outcome.map(|it| it.frame.unwrap().rows.len()), expected);
    }

    #[test]
    fn a_frame_is_taken_only_as_it_was_asked_for() {
        let frame = |columns: Value, rows: Value| {
            let dtypes = vec!["int64"; columns.as_array().unwrap().len()];
            json!({"frame": {"columns": columns, "dtypes": dtypes, "rows": rows, "row_count": 9}})
        };
        check(&frame(json!(["a"]), json!([[1], [null]])), Ok(2));
        check(&frame(json!(["a"]), json!([[1], [2], [3]])), Err("a frame over its bounds"));
        check(&frame(json!(["a", "b"]), json!([[1, 2], [3, 4]])), Err("a frame over its bounds"));
        let uneven = Err("a frame whose rows and columns do not fit");
        check(&frame(json!(["a", "b"]), json!([[1]])), uneven);
        check(
            &frame(json!(["a", "a"]), json!([])),
            Err("a frame with two columns of the same name"),
        );
        check(&frame(json!(["a"]), json!([[[1]]])), Err("a cell that is not a plain value"));
        check(&json!({}), Err("a frame and a status that contradict each other"));
    }

    #[test]
    fn values_are_counted_before_they_are_built() {
        let read = |member: &str, value: &str| {
            let line = format!(r#"{{"id":"1","status":"ok","{member}":{value}}}"#);
            Response::read(line.as_bytes(), "1").map(drop)
        };
        let many = format!("[{}0]", "[],".repeat(WORKER_ANSWER_VALUES_MAX));
        let nested = format!(r#"{{"a":{}{}}}"#, "[".repeat(500), "]".repeat(500));
        let text = r#"{"a":"\",[{\\"}"#;
        let too_many = Err("more values than an answer may have");
        assert_eq!(read("result", &format!(r#"{{"a":{many}}}"#)), too_many);
        assert_eq!(read("frame", &format!(r#"{{"rows":{many}}}"#)), too_many);
        assert_eq!(read("result", &nested), Err(NO_RESPONSE));
        assert_eq!(read("other", &many), Ok(()), "what nobody reads is not built");
        assert_eq!(read("result", text), Ok(()));
    }

    #[test]
    fn names_may_not_be_repeated_into_more_than_an_answer() {
        let columns = vec!["x".repeat(1 << 20)];
        let frame = json!({"columns": columns, "dtypes": ["int64"], "rows": vec![[1]; 40], "row_count": 40});
        let line = json!({"id": "1", "status": "ok", "result": {"kind": "none"}, "frame": frame});
        let response = Response::read(line.to_string().as_bytes(), "1").unwrap();
        let told = Err("a frame whose names are longer than its cells may be");
        assert_eq!(response.into_outcome(&fetch(40, 40)).map(drop), told);
    }

    #[test]
    fn a_file_has_the_name_that_a_worker_gives() {
        let with_file = |file: &str| {
            let frame = json!({"columns": [], "dtypes": [], "rows": [], "row_count": 0});
            json!({"frame": frame, "file": file})
        };
        check(&with_file("table-12.parquet"), Ok(0));
        for file in ["../table-1.parquet", "table-.parquet", "table-1.parquet/..", "x"] {
            check(&with_file(file), Err("a file that was not requested"));
        }
    }
}
