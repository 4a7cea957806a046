//! Events: the JSONL contract, version 1, and the output of a tool call.
//!
//! Order of a turn's lines: the first is `status` with phase `started`. A `tool_call` precedes its one
//! `tool_result`, with the frames and charts of that call between the two. The last line is the one
//! terminal event, a `reply` or a fatal `error`.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use strum::IntoStaticStr;

use crate::chart::{Chart, ChartRejected, ChartSpec, ChartType, RejectedCode, Series};
use crate::chart_options::ChartOptions;
use crate::conversation::{Assessment, Finding, Usage};
use crate::egress::Egress;
use crate::frame::Frame;
use crate::redaction::Redaction;
use crate::status::StopReason;

/// The version, which every line contains as `v`.
pub const VERSION: u32 = 1;

/// One event, as one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// [`VERSION`].
    pub v: u32,
    /// Position in the turn, from 0, without gaps.
    pub seq: u64,
    /// RFC 3339, UTC, milliseconds.
    pub ts: String,
    /// The session's UUID.
    pub session_id: String,
    /// The turn's number in the session, as in the name of its directory: `0007`.
    pub turn_id: String,
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
}

/// The content of an event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Body {
    /// The state of the turn.
    Status(Status),
    /// Text of the answer as it streams.
    Partial {
        /// The new text.
        delta: String,
        /// The round whose message grows; a later item supersedes an earlier one.
        item: u32,
    },
    /// The model calls a tool.
    ToolCall {
        /// Pairs it with its result.
        call_id: String,
        /// The round it belongs to.
        round: u32,
        /// The name that the model wrote.
        name: String,
        /// A few words for people: the tool and its subject.
        label: String,
        /// The arguments, when they are a JSON object.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        arguments: Option<Value>,
        /// The arguments as received, when they are not.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        arguments_raw: Option<String>,
    },
    /// A tool call has ended.
    ToolResult {
        /// Pairs it with its call.
        call_id: String,
        /// The name that the model wrote.
        name: String,
        /// How it ended.
        status: CallStatus,
        /// Wall-clock time.
        duration_ms: u64,
        /// `{kind, text | head, columns, row_count, dtypes}`, as the model reads it.
        result: Value,
        /// Whether the model got only a part of the output.
        truncated: bool,
        /// Bytes of the text sent to the model.
        bytes_to_model: u64,
        /// The error, unless `status` is ok.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        error: Option<CallError>,
    },
    /// A table for the user.
    DataFrame(DataFrame),
    /// A chart for the user.
    Chart(Box<ChartDrawn>),
    /// A requested chart that cannot be drawn.
    ChartRejected {
        /// The call that requested it.
        call_id: String,
        /// The model's name for it.
        logical_name: String,
        /// One sentence.
        reason: String,
        /// The code for programs.
        code: RejectedCode,
        /// The limit that was exceeded, if any.
        limit: Option<u64>,
        /// The actual value.
        actual: Option<u64>,
        /// The requested spec.
        spec: Box<ChartSpec>,
    },
    /// The turn's answer. Terminal.
    Reply(Box<ReplyBody>),
    /// An error; terminal when it is fatal.
    Error(Box<ErrorBody>),
}

impl Body {
    /// Returns whether the turn ends with this event.
    pub fn is_terminal(&self) -> bool {
        match self {
            Body::Reply(_) => true,
            Body::Error(error) => error.fatal,
            _ => false,
        }
    }
}

/// The confinement of the process that runs code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Confinement {
    /// Rules that hold.
    pub enforced: Vec<String>,
    /// Rules of the contract that do not hold on this machine.
    pub missing: Vec<String>,
    /// Why the mechanisms for these are not available.
    pub reasons: Vec<String>,
}

impl Confinement {
    /// Returns whether a rule holds.
    pub fn enforces(&self, rule: &str) -> bool {
        let name = |it: &String| it.split_once(": ").is_some_and(|(name, _)| name == rule);
        self.enforced.iter().any(name)
    }
}

/// Returns the code or the SQL of a call that runs some, from its arguments.
pub fn code_of(arguments: &Value) -> Option<&str> {
    arguments.get("code").or_else(|| arguments.get("sql"))?.as_str()
}

/// Where the code of a turn runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CodePlace {
    /// In the REPL on this machine.
    #[default]
    Local,
    /// In a container at the provider.
    Hosted,
    /// In either.
    Both,
    /// Nowhere: there is no Python.
    None,
}

/// The state of the turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "phase", rename_all = "snake_case")]
pub enum Status {
    /// The first line of a turn.
    Started {
        /// One sentence.
        message: String,
        /// csv-agent's version.
        version: String,
        /// The user's name for the model.
        model: String,
        /// `responses`, `replay`, …
        provider: String,
        /// The dialect: `responses`, `chat`.
        api: String,
        /// Names of the datasets that the model may see.
        datasets: Vec<String>,
        /// The limits of the turn.
        limits: Map<String, Value>,
        /// As the user asked it.
        question: String,
        /// Where code runs. In turns of earlier versions, on this machine.
        #[serde(default)]
        interpreter: CodePlace,
        /// The confinement of local code. Empty in turns of earlier versions.
        #[serde(default)]
        sandbox: Box<Confinement>,
        /// What the turn withholds from the model; omitted when that is nothing.
        #[serde(default, skip_serializing_if = "is_nothing")]
        withheld: Box<Redaction>,
    },
    /// A request is sent.
    ModelRequest {
        /// From 1.
        round: u32,
        /// One sentence.
        message: String,
    },
    /// A response is complete.
    ModelResponse {
        /// From 1.
        round: u32,
        /// One sentence.
        message: String,
        /// Of this request.
        usage: Usage,
        /// The provider's id for the request, if it gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request_id: Option<String>,
    },
    /// Code runs in a container at the provider, for the first time in the turn.
    Container {
        /// One sentence.
        message: String,
        /// The provider's id.
        container_id: String,
        /// Its memory: `1g`, `4g`, `16g`, `64g`; None when not known.
        memory_limit: Option<String>,
        /// The provider's id for the request, if it gave one.
        request_id: Option<String>,
    },
    /// The model's visible reasoning.
    Reasoning {
        /// From 1.
        round: u32,
        /// One sentence.
        message: String,
        /// The reasoning, or its beginning.
        text: String,
    },
    /// The calls of a round run.
    Executing {
        /// From 1.
        round: u32,
        /// One sentence.
        message: String,
    },
    /// A request failed and is retried.
    Retrying {
        /// One sentence.
        message: String,
        /// The failed attempt, from 1.
        attempt: u32,
        /// Total number of attempts.
        max_attempts: u32,
        /// Wait before the next attempt.
        delay_ms: u64,
        /// What failed.
        reason: String,
        /// The HTTP status of the answer, if there was one.
        http_status: Option<u16>,
    },
    /// Something is being prepared: Python, its packages, a file.
    Loading {
        /// One sentence.
        message: String,
    },
    /// The conversation is too long: its oldest turns are being summarised, or outputs shortened.
    Compacting {
        /// One sentence.
        message: String,
        /// Turns that a summary replaces; 0 when only outputs are shortened.
        turns: usize,
    },
    /// A summary has replaced the oldest turns.
    Compacted {
        /// One sentence.
        message: String,
        /// Turns that it replaced.
        turns: usize,
        /// Turns that were kept unchanged.
        turns_kept: usize,
        /// Tables and charts of the older turns that can still be named.
        kept: Vec<String>,
        /// Usage of the request.
        usage: Usage,
    },
    /// Python is running, with this confinement.
    Worker {
        /// One sentence.
        message: String,
        /// The confinement of this process.
        #[serde(flatten)]
        sandbox: Confinement,
    },
    /// A job runs on the cluster of remote datasets. Emitted once a second at most.
    Cluster {
        /// One sentence.
        message: String,
        /// Completed stages.
        stages_done: u32,
        /// Stages known so far.
        stages: u32,
        /// Completed tasks.
        tasks_done: u64,
        /// Tasks of these stages.
        tasks: u64,
        /// Bytes that its tasks have read.
        bytes_read: u64,
    },
    /// A warning for the user; the turn continues.
    Warning {
        /// The code for programs.
        code: String,
        /// One sentence.
        message: String,
    },
}

/// The code of the warning that the provider cut the answer, as opposed to a limit of the turn.
pub const ANSWER_CUT: &str = "answer_cut";

/// The start of each message of [`Status::Loading`] while Python is being set up.
pub const SETTING_UP: &str = "setting up Python, only once";
/// The message of [`Status::Loading`] once it is.
pub const SETUP_DONE: &str = "Python is ready";

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CallStatus {
    /// It succeeded.
    Ok,
    /// It failed, and the model was given the reason.
    Error,
    /// It took too long and was interrupted; the variables remain.
    Timeout,
    /// The worker exited, and the variables are lost.
    Killed,
    /// The turn ended first.
    Cancelled,
}

/// The error of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallError {
    /// The code for programs: `unknown_tool`, `bad_arguments`, `failed`, `timeout`, …
    pub code: String,
    /// The message for the model.
    pub message: String,
}

/// The encoding of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// As JSON.
    #[default]
    Json,
    /// As base64url of the JSON text.
    Base64url,
    /// As a Fernet token of the JSON text.
    Fernet,
}

/// A table for the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataFrame {
    /// The call that sent it.
    pub call_id: String,
    /// The REPL variable it came from.
    pub df_name: String,
    /// The user's name for it.
    pub logical_name: String,
    /// In order.
    pub columns: Vec<String>,
    /// The pandas dtype of each column.
    pub dtypes: Map<String, Value>,
    /// Rows of the whole table.
    pub row_count: u64,
    /// Rows as objects. A string when `encoding` is not JSON.
    pub rows: Value,
    /// Rows in this event.
    pub rows_emitted: u64,
    /// Whether that is less than `row_count`.
    pub truncated: bool,
    /// The encoding of `rows`.
    pub encoding: Encoding,
    /// The whole table as a file of the turn.
    pub artifact: Option<Artifact>,
}

impl DataFrame {
    /// Returns the rows as a frame; an empty one when they are not plain JSON.
    pub fn frame(&self) -> Frame {
        let dtype =
            |it: &str| self.dtypes.get(it).and_then(Value::as_str).unwrap_or_default().to_owned();
        let rows = self.rows.as_array().map_or(&[][..], Vec::as_slice);
        Frame::of_objects(self.columns.clone(), dtype, rows, self.row_count)
    }
}

/// A chart for the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChartDrawn {
    /// The call that sent it.
    pub call_id: String,
    /// The REPL variable it came from.
    pub df_name: String,
    /// The user's name for it.
    pub logical_name: String,
    /// The shape of the marks.
    pub chart_type: ChartType,
    /// Above the chart.
    pub title: Option<String>,
    /// The column on the x axis.
    pub x_field: String,
    /// The axis label.
    pub x_label: Option<String>,
    /// The axis label.
    pub y_label: Option<String>,
    /// One to ten series.
    pub series: Vec<Series>,
    /// Below the chart.
    pub note: Option<String>,
    /// The plotted rows as objects. A string when `encoding` is not JSON.
    pub data: Value,
    /// Rows plotted.
    pub row_count: u64,
    /// The encoding of `data`.
    pub encoding: Encoding,
    /// The chart in one sentence.
    pub alt: String,
    /// The drawings.
    pub files: Vec<Artifact>,
    /// What the chart does in addition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Box<ChartOptions>>,
    /// The chart as a Vega-Lite specification with its data; None where the rows are encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vega_lite: Option<Value>,
}

impl ChartDrawn {
    /// Returns the chart as drawn; None where its rows are encrypted.
    pub fn chart(&self) -> Option<Chart> {
        let rows = self.data.as_array().filter(|_| self.encoding == Encoding::Json)?;
        let spec = ChartSpec {
            df_name: self.df_name.clone(),
            logical_name: self.logical_name.clone(),
            chart_type: self.chart_type,
            x_field: self.x_field.clone(),
            x_label: self.x_label.clone(),
            y_label: self.y_label.clone(),
            series: self.series.clone(),
            title: self.title.clone(),
            note: self.note.clone(),
            options: self.options.clone(),
        };
        let is_number = |it: &Value| it.is_number() || it.is_null();
        // The y fields were checked to be numeric; of x the event has only the values.
        let dtype = |column: &str| {
            let mut numeric = self.series.iter().map(|it| &it.y_field).chain(spec.measures());
            let is_y = numeric.any(|it| it == column);
            let mut cells = rows.iter().map(|it| &it[column]);
            let is_x = cells.clone().all(is_number) && cells.any(Value::is_number);
            if is_y || is_x { "float64".to_owned() } else { "object".to_owned() }
        };
        let columns = rows.first()?.as_object()?.keys().cloned().collect();
        let frame = Frame::of_objects(columns, dtype, rows, self.row_count);
        spec.check(frame).ok()
    }
}

/// A file made by code at the provider, stored as a file of the turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedFile {
    /// The provider's name for it, which is unrelated to its path here.
    pub name: String,
    /// Whether the answer refers to it.
    pub cited: bool,
    /// The container it was fetched from; None for a file within the response.
    pub container_id: Option<String>,
    /// The provider's id; None for a file within the response.
    pub file_id: Option<String>,
    /// The file itself.
    #[serde(flatten)]
    pub artifact: Artifact,
}

/// A file of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// `parquet`, `svg`, `png`; for a fetched file the ending of its name, or `bin`.
    pub format: String,
    /// Relative to the session directory.
    pub path: String,
    /// Pixels; None for tables.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub width: Option<u32>,
    /// Pixels; None for tables.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub height: Option<u32>,
    /// Its size.
    pub bytes: u64,
    /// Lower-case hexadecimal.
    pub sha256: String,
}

fn is_nothing(withheld: &Redaction) -> bool {
    withheld.is_nothing()
}

fn yes() -> bool {
    true
}

/// Reads a member that is present, which may be null.
fn there<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// A reason for the assessment, with its evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingShown {
    /// The reason.
    #[serde(flatten)]
    pub finding: Finding,
    /// The call that shows it: the one that sent its table, or else the last that ran code.
    #[serde(default)]
    pub call_id: Option<String>,
    /// The source file of the dataset, as the user named it.
    #[serde(default)]
    pub source_file: Option<String>,
    /// The line of the first row in that file; the first line is 1. None for a source without lines.
    #[serde(default)]
    pub source_line: Option<u64>,
    /// The line of each row.
    #[serde(default)]
    pub source_lines: Vec<u64>,
    /// The cell of each row, such as `Sheet1!B12`, where the file is a workbook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_cells: Vec<String>,
}

/// A number of an answer that occurs in nothing the turn has shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ungrounded {
    /// As written.
    pub text: String,
    /// Its offset, in Unicode characters.
    pub offset: u64,
    /// The finding whose message contains it, the first being 0; None for the text of the answer.
    pub finding: Option<u64>,
    /// The member of the answer's JSON whose text or name contains it, as in `$.answer`; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<String>,
    /// Whether it was computed, but from only the first rows of a dataset; absent when not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub sample: bool,
}

/// The turn's answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplyBody {
    /// Markdown; never empty.
    pub text: String,
    /// The answer as text and chart blocks, with charts as Plotly specs.
    pub blocks: Vec<Value>,
    /// Present when a verdict was requested and given.
    pub assessment: Option<Assessment>,
    /// The reasons for the assessment.
    pub findings: Vec<FindingShown>,
    /// The answer as JSON of the given schema; absent without a schema, or when the answer violates it.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "there")]
    pub output: Option<Value>,
    /// Numbers of the text, the findings and the JSON that occur in nothing the turn has shown. Empty in
    /// turns of earlier versions.
    #[serde(default)]
    pub ungrounded: Vec<Ungrounded>,
    /// Whether the model had tools to compute the answer with. True in turns of earlier versions.
    #[serde(default = "yes")]
    pub computed: bool,
    /// Why the turn ended.
    pub stop_reason: StopReason,
    /// The readings that the built-in analyst offers instead of an answer; `--pick 1` is the first. Empty in turns
    /// of earlier versions.
    #[serde(default)]
    pub choices: Vec<String>,
    /// Names of the tables, in order.
    pub tables: Vec<String>,
    /// Names of the charts, in order.
    pub charts: Vec<String>,
    /// Files made by code at the provider and fetched, in order. Empty in turns of earlier versions.
    #[serde(default)]
    pub files: Vec<FetchedFile>,
    /// Requests to the model.
    pub rounds: u32,
    /// Number of tool calls.
    pub tool_calls: u32,
    /// Tokens of the turn.
    pub usage: UsageReport,
    /// What left the machine. Empty in turns of earlier versions.
    #[serde(default)]
    pub egress: Egress,
    /// Wall-clock time of the turn.
    pub duration_ms: u64,
    /// The code that ran, as a file of the turn; None when no code ran.
    pub code_path: Option<String>,
    /// The exit status of the process, if this turn decides it.
    pub exit_code: u8,
}

/// Tokens of a turn and of its session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageReport {
    /// Usage of the turn.
    #[serde(flatten)]
    pub turn: Usage,
    /// Input and output of the turn.
    pub total_tokens: u64,
    /// Input and output of all turns of the session.
    pub session_total_tokens: u64,
    /// None when the price of the model is not known.
    pub cost_usd: Option<f64>,
}

/// An error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ErrorBody {
    /// Whether it ends the turn.
    pub fatal: bool,
    /// The code for programs: `auth_missing`, `network`, `cancelled`, `internal`, …
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Whether the same question may work later.
    pub retryable: bool,
    /// The HTTP status of the provider's answer, if there was one.
    pub http_status: Option<u16>,
    /// The provider's id for the request, if there was one.
    pub request_id: Option<String>,
    /// The part of the answer received so far.
    pub partial_text: Option<String>,
    /// Tokens used so far.
    pub usage: UsageReport,
    /// What had left the machine by then; only when fatal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub egress: Option<Egress>,
    /// The exit status of the process; only when fatal.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<u8>,
}

/// The output of a tool call: a result for the model, and tables and charts for the user.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// `{"kind": "text", "text": …}`, or another kind with more members.
    pub result: Value,
    /// For the user, in order.
    pub shown: Vec<Shown>,
}

/// Output for the user, before it becomes files and an event.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// A table.
    Table {
        /// The REPL variable.
        df_name: String,
        /// The user's name for it.
        logical_name: String,
        /// Cut to the event's limits.
        frame: Frame,
        /// The whole table, a Parquet file in the worker's scratch directory.
        file: Option<String>,
    },
    /// A chart.
    Chart(Chart),
    /// A chart that cannot be drawn.
    Rejected {
        /// The requested spec.
        spec: Box<ChartSpec>,
        /// Why it cannot be drawn.
        rejected: ChartRejected,
    },
}

impl ToolOutput {
    /// Makes an output of plain text.
    pub fn text(text: impl Into<String>) -> ToolOutput {
        ToolOutput::json(serde_json::json!({"kind": "text", "text": text.into()}))
    }

    /// Makes a structured output; `result` is an object with a `kind`.
    pub fn json(result: Value) -> ToolOutput {
        ToolOutput { result, shown: Vec::new() }
    }

    /// Adds an output for the user.
    #[must_use]
    pub fn show(mut self, shown: Shown) -> ToolOutput {
        self.shown.push(shown);
        self
    }

    /// Returns the text for the model: plain text unchanged, printed text before the value, anything else
    /// as compact JSON.
    pub fn for_model(&self) -> String {
        let Some(members) = self.result.as_object() else { return self.result.to_string() };
        let is_text =
            |it: &String| ["kind", "stdout", "text", "stdout_key", "data_key"].contains(&&**it);
        let text = |name: &str| self.result[name].as_str().unwrap_or_default();
        match text("kind") {
            "text" | "none" if members.keys().all(is_text) => {
                let (printed, value) = (text("stdout"), text("text"));
                let between = if printed.is_empty() || printed.ends_with('\n') { "" } else { "\n" };
                if value.is_empty() {
                    printed.to_owned()
                } else {
                    [printed, between, value].concat()
                }
            }
            // The text of an error contains its message.
            "error" if members.contains_key("text") => {
                let members = members.iter().filter(|(name, _)| *name != "error");
                let members: Map<String, Value> =
                    members.map(|(name, value)| (name.clone(), value.clone())).collect();
                Value::Object(members).to_string()
            }
            _ => self.result.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Body, Event, Status};

    #[test]
    fn a_line_reads_back_as_the_event_it_was() {
        let event = Event {
            v: 1,
            seq: 0,
            ts: "2026-01-01T00:00:00.000Z".into(),
            session_id: "s".into(),
            turn_id: "0001".into(),
            body: Body::Status(Status::Loading { message: "starting Python".into() }),
        };
        let line = serde_json::to_value(&event).unwrap();
        assert_eq!(
            line,
            json!({"v": 1, "seq": 0, "ts": "2026-01-01T00:00:00.000Z", "session_id": "s",
                "turn_id": "0001", "type": "status", "phase": "loading",
                "message": "starting Python"})
        );
        assert_eq!(serde_json::from_value::<Event>(line).unwrap(), event);
    }
}
