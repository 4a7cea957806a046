//! The tools that a client's model sees. Each is made of the tools that a model of our own calls in a turn.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rmcp::model::{JsonObject, Tool as ToolOfClient, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use csv_agent_tools::strict::arguments;
use csv_agent_types::chart::ChartType;
use csv_agent_types::chart_options::{ChartOrder, LogAxis, ValueFormat};
use csv_agent_types::conversation::ToolCall;
use csv_agent_types::dataset_names::quoted;
use csv_agent_types::limits::FINDING_ROWS_MAX;

use crate::names::{READING_FLAGS, RESULT};
use crate::settings::ServerSettings;
use crate::work::{IngestWork, Work};

/// Rows that show what a dataset looks like.
const HEAD_ROWS: usize = 5;

/// Datasets of findings that are looked at.
const CONCERNED_MAX: usize = 20;
/// Columns that a refusal names.
const COLUMNS_NAMED_MAX: usize = 30;

/// Bytes of the code or the statement that names a turn.
const QUESTION_BYTES: usize = 1_000;

/// A tool as clients see it.
pub(crate) struct ClientTool {
    pub name: &'static str,
    title: &'static str,
    description: &'static str,
    /// Its arguments: name, schema, whether it is required.
    arguments: fn() -> Vec<(&'static str, Value, bool)>,
    /// The members of its structured content; none for a tool that shows pictures.
    output: Option<fn() -> Value>,
    change: ChangeKind,
    /// When the server has it.
    kept: Kept,
    read: fn(Value) -> Result<Work, String>,
}

/// What a tool changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    /// Nothing but the record of the session.
    Nothing,
    Variables,
    Datasets,
}

/// When a server has a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Always,
    /// Not with `--read-only` or `--redact`.
    Writing,
    /// Not with `--no-rows`: what it answers cannot be filtered.
    WithRows,
    /// Only where nothing is kept back: it computes with the original values.
    Open,
}

/// Every tool, in the order in which lists have them.
static ALL: [ClientTool; 12] = [
    INGEST, DATASETS, DESCRIBE, QUERY, PYTHON, FIND_VALUES, TABLE, CHART, VERDICT, ASK, RERUN,
    EXPORT,
];

impl ClientTool {
    fn is_kept(&self, settings: &ServerSettings) -> bool {
        let withheld = &settings.withheld;
        match self.kept {
            Kept::Always => true,
            Kept::Writing => settings.can_ingest(),
            Kept::WithRows => !withheld.rows,
            Kept::Open => withheld.is_nothing(),
        }
    }

    fn listed(&self) -> ToolOfClient {
        let mut properties = (self.arguments)();
        properties.push(("session", session(), false));
        let required: Vec<&str> = properties.iter().filter(|it| it.2).map(|it| it.0).collect();
        let members: JsonObject =
            properties.iter().map(|it| (it.0.to_owned(), it.1.clone())).collect();
        let input = json!({
            "type": "object", "properties": members, "required": required, "additionalProperties": false,
        });
        let reads = self.change == ChangeKind::Nothing;
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(reads)
            .destructive(self.change == ChangeKind::Datasets)
            .idempotent(self.change != ChangeKind::Variables)
            .open_world(false);
        let tool = ToolOfClient::new(self.name, self.description, object_of(input))
            .with_title(self.title)
            .with_annotations(hints);
        match self.output {
            Some(output) => tool.with_raw_output_schema(object_of(output()).into()),
            None => tool,
        }
    }
}

fn object_of(value: Value) -> JsonObject {
    match value {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    }
}

/// Returns the tools of a server as lists have them.
pub(crate) fn listed(settings: &ServerSettings) -> Vec<ToolOfClient> {
    ALL.iter().filter(|it| it.is_kept(settings)).map(ClientTool::listed).collect()
}

/// Returns the tool of this name, which this server may have left out. Fails when there is none, with the names of
/// those that it has.
pub(crate) fn named(name: &str, settings: &ServerSettings) -> Result<&'static ClientTool, String> {
    ALL.iter().find(|it| it.name == name).ok_or_else(|| {
        let kept = ALL.iter().filter(|it| it.is_kept(settings));
        let names: Vec<&str> = kept.map(|it| it.name).collect();
        format!("there is no tool `{name}`; the tools are {}", names.join(", "))
    })
}

/// Reads a call: what to do, and in which session. Fails when the server has left out the tool or its arguments are
/// wrong, with what to do instead.
pub(crate) fn read(
    tool: &ClientTool,
    mut given: JsonObject,
    settings: &ServerSettings,
) -> Result<(Work, Option<PathBuf>), String> {
    let name = tool.name;
    if !tool.is_kept(settings) {
        let why = match tool.kept {
            Kept::Writing if settings.is_read_only => {
                "the server was started with --read-only, so datasets cannot change"
            }
            Kept::Writing => {
                "the server keeps columns back, so its user names the files, with -f or `csv-agent ingest`"
            }
            _ => "the server keeps values back, and this tool would show them",
        };
        return Err(format!("`{name}` is not available: {why}; use another tool"));
    }
    // Some clients send null for what they leave out.
    given.retain(|_, value| !value.is_null());
    check_arguments(tool, &given)?;
    let session = match given.shift_remove("session") {
        None => None,
        Some(Value::String(session)) if session.trim().is_empty() => None,
        Some(Value::String(session)) => Some(PathBuf::from(session)),
        Some(_) => return Err("`session` must be the path of a session directory".to_owned()),
    };
    Ok(((tool.read)(Value::Object(given))?, session))
}

/// Checks arguments against the schemas that the tool lists, in words that say what is right.
fn check_arguments(tool: &ClientTool, given: &JsonObject) -> Result<(), String> {
    let mut known = (tool.arguments)();
    known.push(("session", session(), false));
    for name in given.keys() {
        if !known.iter().any(|it| it.0 == name) {
            let names: Vec<String> = known.iter().map(|it| format!("`{}`", it.0)).collect();
            return Err(format!(
                "`{}` has no argument `{name}`; it takes {}",
                tool.name,
                names.join(", ")
            ));
        }
    }
    for (name, schema, is_required) in &known {
        match given.get(*name) {
            Some(value) => check_value(name, value, schema)?,
            None if *is_required => {
                return Err(format!("`{name}` is missing; it must be {}", expected(schema)));
            }
            None => {}
        }
    }
    Ok(())
}

/// Checks a value against a schema. `place` is where it is.
fn check_value(place: &str, value: &Value, schema: &Value) -> Result<(), String> {
    if let Some(choices) = schema["enum"].as_array() {
        let is_one = choices.contains(value);
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let why =
            || format!("`{place}`: `{}` is not one of {}", brief(&shown), listed_values(choices));
        return if is_one { Ok(()) } else { Err(why()) };
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        let fits = forms.iter().any(|it| check_value(place, value, it).is_ok());
        return if fits { Ok(()) } else { Err(mismatch(place, value, schema)) };
    }
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        // All of ours count something.
        Some("integer") => value.is_u64(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    if !fits {
        return Err(mismatch(place, value, schema));
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        check_value(&format!("{place}[{at}]"), item, &schema["items"])?;
    }
    let Some(members) = value.as_object() else { return Ok(()) };
    for (name, member) in members {
        let place = format!("{place}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(_), _) if member.is_null() => {}
            (Some(of_member), _) | (None, of_member @ Value::Object(_)) => {
                check_value(&place, member, of_member)?;
            }
            _ => {
                let known = schema["properties"].as_object().into_iter().flat_map(|it| it.keys());
                let known: Vec<String> = known.map(|it| format!("`{it}`")).collect();
                return Err(format!("there is no `{place}`; the members are {}", known.join(", ")));
            }
        }
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for name in required {
        if members.get(name).is_none_or(Value::is_null) {
            let of_member = &schema["properties"][name];
            return Err(format!("`{place}.{name}` is missing; it must be {}", expected(of_member)));
        }
    }
    Ok(())
}

fn mismatch(place: &str, value: &Value, schema: &Value) -> String {
    let found = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("`{value}`"),
        Value::String(text) => format!("the text `{}`", brief(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    format!("`{place}` must be {}, not {found}", expected(schema))
}

/// Returns what a schema takes, in words.
fn expected(schema: &Value) -> String {
    if let Some(choices) = schema["enum"].as_array() {
        return format!("one of {}", listed_values(choices));
    }
    if let Some(forms) = schema["anyOf"].as_array() {
        return forms.iter().map(expected).collect::<Vec<_>>().join(" or ");
    }
    match schema["type"].as_str() {
        Some("string") => "a text".to_owned(),
        Some("integer") => "a whole number of 0 or more".to_owned(),
        Some("array") => match schema["items"]["type"].as_str() {
            Some("string") => "a list of texts".to_owned(),
            Some("integer") => "a list of whole numbers".to_owned(),
            Some("object") => "a list of objects".to_owned(),
            _ => "a list".to_owned(),
        },
        _ => "an object".to_owned(),
    }
}

fn listed_values(values: &[Value]) -> String {
    values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

fn brief(text: &str) -> String {
    let mut brief: String = text.chars().take(60).collect();
    if brief.len() < text.len() {
        brief.push('…');
    }
    brief
}

fn parsed<T: serde::de::DeserializeOwned>(given: Value) -> Result<T, String> {
    arguments(given).map_err(|it| it.message().to_owned())
}

fn calls<const N: usize>(question: String, calls: [(&str, Value); N]) -> Work {
    let call = |(at, (name, arguments)): (usize, (&str, Value))| ToolCall {
        call_id: format!("call_{}", at + 1),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    };
    Work::Calls {
        question: about(question),
        calls: calls.into_iter().enumerate().map(call).collect(),
    }
}

/// Returns what a turn is about, cut where it is long: the call has all of it.
fn about(mut question: String) -> String {
    if QUESTION_BYTES < question.len() {
        question.truncate(question.floor_char_boundary(QUESTION_BYTES));
        question.push('…');
    }
    question
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn one_of(values: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": values, "description": description})
}

fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn session() -> Value {
    text("directory of the session; leave it out for the server's own")
}

/// Returns the schema of structured content with these members, all of them optional but the record of the call.
fn output<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut properties = JsonObject::new();
    let turn = json!({"type": "string", "description": "number of the turn that records the call"});
    properties.insert("turn".to_owned(), turn);
    for (name, schema) in members {
        properties.insert(name.to_owned(), schema);
    }
    let notes = json!({"type": "array", "items": {"type": "string"}});
    properties.insert("notes".to_owned(), notes);
    let record = json!({"type": "string", "description": "resource with the whole turn"});
    properties.insert("record".to_owned(), record);
    json!({"type": "object", "properties": properties, "required": ["turn"]})
}

fn truncated() -> (&'static str, Value) {
    ("truncated", json!({"type": "boolean", "description": "whether something is left out"}))
}

fn table_members() -> [(&'static str, Value); 5] {
    let column = json!({"type": "object", "properties": {"name": {"type": "string"}, "type": {"type": "string"}}});
    [
        ("columns", json!({"type": "array", "items": column})),
        (
            "rows",
            json!({"type": "array", "items": {"type": "array"},
                "description": "whole numbers beyond 2^53, inf and NaN are texts"}),
        ),
        ("rows_total", json!({"type": "integer", "description": "rows of the whole result"})),
        truncated(),
        (
            "whole",
            json!({"type": "object", "description": "where the whole result is: `uri` of a resource unless it is too large for one, `parquet` file"}),
        ),
    ]
}

const INGEST: ClientTool = ClientTool {
    name: "ingest",
    title: "Read data files",
    description: "Reads data files and keeps each as a typed dataset: CSV, TSV, fixed-width text, Excel, ODS, JSON \
Lines, Parquet, Arrow, SQLite; also .gz, .zst, .zip, directories and patterns such as data/*.csv. Call it first for a \
file that is not a dataset yet; an unchanged file is not read again. Encoding, delimiter, header and types are found \
from the whole file; a type never changes a value. The notes say what was unusual: rows that did not fit, ambiguous \
dates. If the order of day and month or the decimal mark is ambiguous, find out and call it again with date_order or \
decimal. Paths are relative to the directory of the server.",
    arguments: || {
        vec![
            ("paths", texts("files, directories or patterns"), true),
            ("name", text("name of the dataset, for one file; by default that of the file"), false),
            ("delimiter", text("character between cells, such as ;"), false),
            ("encoding", text("such as utf-8, latin1, windows-1252"), false),
            ("decimal", one_of(&[".", ","], "decimal mark of numbers"), false),
            ("date_order", one_of(&["dmy", "mdy", "ymd"], "order of day, month and year"), false),
            ("sheets", texts("sheets of a workbook or tables of a database"), false),
            ("nulls", texts("texts that mean a missing value, besides the usual ones"), false),
            (
                "types",
                json!({"type": "object", "additionalProperties": {"type": "string"},
                    "description": "type of a column, by its name: text, int, float, decimal, bool, date, datetime, \
                        datetime_utc, time, money, percent"}),
                false,
            ),
            (
                "if_exists",
                one_of(
                    &["error", "replace", "skip"],
                    "when another dataset has the name; by default error",
                ),
                false,
            ),
            (
                "flags",
                texts("further flags that a note names, each with its value: --tables all"),
                false,
            ),
        ]
    },
    output: Some(|| {
        output([
            ("schema", json!({"type": ["object", "string"]})),
            ("further_schema", json!({"type": ["object", "string"]})),
            ("found", json!({"type": ["object", "string"]})),
            truncated(),
        ])
    }),
    change: ChangeKind::Datasets,
    kept: Kept::Writing,
    read: |given| {
        let mut work: IngestWork = parsed(given)?;
        if work.paths.is_empty() {
            return Err("`paths` is empty; name the files to read".to_owned());
        }
        work.flags = assigned(&work.flags);
        let name = |it: &str| it.split('=').next().unwrap_or_default().to_owned();
        if let Some(flag) = work.flags.iter().find(|it| !READING_FLAGS.contains(&name(it).as_str()))
        {
            let known = READING_FLAGS.join(", ");
            return Err(format!("`flags`: `{flag}` is not one of {known}; use one of them"));
        }
        Ok(Work::Ingest(Box::new(work)))
    },
};

/// Returns flags as `--name=value`. They come as in a shell: `--name value`, with quotes, or the value as the next text.
fn assigned(given: &[String]) -> Vec<String> {
    let mut flags: Vec<String> = Vec::new();
    for it in given {
        match (flags.last_mut(), it.split_once([' ', '='])) {
            (Some(last), _) if !it.starts_with("--") && !last.contains('=') => {
                *last = format!("{last}={}", unquoted(it));
            }
            (_, Some((name, value))) => flags.push(format!("{name}={}", unquoted(value))),
            (_, None) => flags.push(it.clone()),
        }
    }
    flags
}

fn unquoted(text: &str) -> &str {
    let inner = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"')).unwrap_or(text)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DatasetsArguments {
    pattern: Option<String>,
}

const DATASETS: ClientTool = ClientTool {
    name: "datasets",
    title: "List datasets",
    description: "Lists the datasets of the session with their row and column counts. Call it first to see what \
there is. For the columns of one call describe.",
    arguments: || {
        let about =
            "only datasets whose name matches, such as sales_*, or that have a column of that name";
        vec![("pattern", text(about), false)]
    },
    output: Some(|| output([("found", json!({"type": ["object", "string"]})), truncated()])),
    change: ChangeKind::Nothing,
    kept: Kept::Always,
    read: |given| {
        let DatasetsArguments { pattern } = parsed(given)?;
        let question = match &pattern {
            Some(pattern) => format!("Which datasets match {pattern}?"),
            None => "Which datasets are there?".to_owned(),
        };
        Ok(calls(question, [("list_datasets", json!({"pattern": pattern}))]))
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DescribeArguments {
    dataset: String,
}

const DESCRIBE: ClientTool = ClientTool {
    name: "describe",
    title: "Describe a dataset",
    description: "Returns the columns of one dataset with their types, missing values and how they were read, the row \
count, what was unusual in the file, columns that other datasets share (for joins), and the first 5 rows. Fast at any \
size. Call it before writing SQL or Python over a dataset.",
    arguments: || vec![("dataset", text("its name, as datasets gives it"), true)],
    output: Some(|| {
        output([
            ("schema", json!({"type": ["object", "string"]})),
            ("head", json!({"type": "object"})),
            truncated(),
        ])
    }),
    change: ChangeKind::Nothing,
    kept: Kept::Always,
    read: |given| {
        let DescribeArguments { dataset } = parsed(given)?;
        Ok(described(&dataset))
    },
};

/// Returns the calls that describe a dataset.
pub(crate) fn described(dataset: &str) -> Work {
    let sql = format!("select * from {} limit {HEAD_ROWS}", quoted(dataset));
    calls(
        format!("What is in {dataset}?"),
        [
            ("get_dataset_info", json!({"name": dataset})),
            ("query_datasets", json!({"sql": sql, "result_name": null})),
        ],
    )
}

/// Returns the calls that say what there is of the datasets that findings are about; None where they name none.
pub(crate) fn concerned(verdict: &Work) -> Option<Work> {
    let Work::Verdict { answer, .. } = verdict else { return None };
    let findings = answer["findings"].as_array()?;
    let mut names: Vec<&str> = findings.iter().filter_map(|it| it["dataset"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let call = |(at, name): (usize, &&str)| ToolCall {
        call_id: format!("call_{}", at + 1),
        name: "get_dataset_info".to_owned(),
        arguments: json!({"name": name}).to_string(),
    };
    let calls: Vec<ToolCall> = names.iter().take(CONCERNED_MAX).enumerate().map(call).collect();
    let question = "What is there of the datasets that the findings are about?".to_owned();
    (!calls.is_empty()).then_some(Work::Calls { question, calls })
}

/// Checks that the columns and rows of findings exist, by the schemas of their datasets.
pub(crate) fn check_findings(verdict: &Work, schemas: &[Value]) -> Result<(), String> {
    let Work::Verdict { answer, .. } = verdict else { return Ok(()) };
    for (at, finding) in answer["findings"].as_array().into_iter().flatten().enumerate() {
        let n_named = finding["rows"].as_array().map_or(0, Vec::len);
        if FINDING_ROWS_MAX < n_named {
            return Err(format!(
                "not recorded: finding {} names {n_named} rows, and the limit is {FINDING_ROWS_MAX}; name the first \
                 ones, and say in `message` how many there are",
                at + 1
            ));
        }
        let Some(dataset) = finding["dataset"].as_str() else { continue };
        let Some(schema) = schemas.iter().find(|it| it["name"] == dataset) else { continue };
        let columns = schema["columns"].as_array();
        let columns: Option<Vec<&str>> =
            columns.map(|it| it.iter().filter_map(|it| it["name"].as_str()).collect());
        if let (Some(column), Some(columns)) = (finding["column"].as_str(), columns)
            && !columns.contains(&column)
        {
            let more = if COLUMNS_NAMED_MAX < columns.len() { " and more" } else { "" };
            let shown: Vec<String> =
                columns.iter().take(COLUMNS_NAMED_MAX).map(|it| format!("`{it}`")).collect();
            return Err(format!(
                "not recorded: finding {} names the column `{column}`, but `{dataset}` has {}{more}",
                at + 1,
                shown.join(", ")
            ));
        }
        let rows = finding["rows"].as_array().into_iter().flatten().filter_map(Value::as_u64);
        if let (Some(last), Some(n_rows)) = (rows.max(), schema["row_count"].as_u64())
            && n_rows <= last
        {
            let there = match n_rows {
                0 => "no rows".to_owned(),
                1 => "only the row 0".to_owned(),
                n => format!("the rows 0 to {}", n - 1),
            };
            return Err(format!(
                "not recorded: finding {} names the row {last}, but `{dataset}` has {there}",
                at + 1
            ));
        }
    }
    Ok(())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QueryArguments {
    sql: String,
    name: Option<String>,
}

const QUERY: ClientTool = ClientTool {
    name: "query",
    title: "Query with SQL",
    description: "Runs one SQL SELECT over the datasets, in the dialect of DuckDB, and returns the result with types; \
the tables are the datasets, by their names. Prefer it for counts, filters, joins, aggregates, ranks and running \
totals. The first rows come back (up to 200, fewer if they are wide), with the number of rows in all, `truncated`, and \
where the whole result is as CSV and Parquet. Aggregate, order and limit instead of reading many rows. Results last for \
one call: use WITH for steps. Names with blanks, hyphens or brackets, or a digit first, need double quotes, texts single ones. \
It cannot change data or read other files. An error says where the statement is wrong.",
    arguments: || {
        vec![
            ("sql", text("one SELECT statement, which may begin with WITH"), true),
            (
                "name",
                text("a short name for the result in the record, such as revenue_by_month"),
                false,
            ),
        ]
    },
    output: Some(|| output(table_members())),
    change: ChangeKind::Nothing,
    kept: Kept::Always,
    read: |given| {
        let QueryArguments { sql, name } = parsed(given)?;
        let name = name.filter(|it| !it.trim().is_empty()).unwrap_or_else(|| "result".to_owned());
        Ok(calls(
            sql.clone(),
            [
                ("query_datasets", json!({"sql": sql, "result_name": RESULT})),
                ("send_data_to_ui_as_df", json!({"df_name": RESULT, "logical_name": name})),
            ],
        ))
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PythonArguments {
    code: String,
}

const PYTHON: ClientTool = ClientTool {
    name: "python",
    title: "Run Python",
    description: "Runs Python in a persistent REPL that is confined: no network, and no files but the datasets. \
Variables, imports and functions stay for later calls. pandas is imported as pd, numpy as np, and pyarrow is installed; \
`load(name, columns=None)` returns a dataset as a DataFrame, days as datetime.date; `datasets` maps each name to its \
Parquet file. The value of the last expression comes back as in a notebook, with everything printed: a DataFrame as its \
first 20 rows, shape and types. Prefer query for what SQL can say; use this for statistics, models, text in odd formats and steps that build on \
each other. Long output is cut in the middle and says so. To keep a DataFrame whole call table, to draw it call chart, \
each with the name of the variable. An exception comes back as a short traceback.",
    arguments: || vec![("code", text("source; end with an expression to see its value"), true)],
    output: Some(|| {
        let [columns, rows, total, truncated, whole] = table_members();
        output([
            ("printed", json!({"type": "string"})),
            ("result", json!({"type": "string"})),
            columns,
            rows,
            total,
            truncated,
            whole,
        ])
    }),
    change: ChangeKind::Variables,
    kept: Kept::Always,
    read: |given| {
        let PythonArguments { code } = parsed(given)?;
        Ok(calls(code.clone(), [("python_repl", json!({"code": code}))]))
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindArguments {
    value: String,
    dataset: Option<String>,
}

const FIND_VALUES: ClientTool = ClientTool {
    name: "find_values",
    title: "Find a value",
    description: "Finds which columns contain a value, and in how many rows: use it when a question names a product, a \
code or a day, and not its column. The whole cell must equal the value; text without regard to case and surrounding \
blanks, numbers by value, days in ISO form. All rows are searched.",
    arguments: || {
        vec![
            ("value", text("the value as text: Anvil, 7, 2013-01-01"), true),
            ("dataset", text("its name or a pattern; by default all datasets"), false),
        ]
    },
    output: Some(|| output([("matches", json!({"type": ["object", "string"]})), truncated()])),
    change: ChangeKind::Nothing,
    kept: Kept::Always,
    read: |given| {
        let FindArguments { value, dataset } = parsed(given)?;
        let name = dataset.unwrap_or_else(|| "*".to_owned());
        let question = format!("Which columns of {name} contain {value}?");
        Ok(calls(question, [("find_value_columns", json!({"name": name, "value": value}))]))
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableArguments {
    variable: String,
    name: Option<String>,
}

const TABLE: ClientTool = ClientTool {
    name: "table",
    title: "Keep a table",
    description: "Keeps a DataFrame of the REPL as a table of the session, whole, and returns its first rows and where \
all of it is as CSV and Parquet. Use it for the result that answers the question, so that its owner can show, rerun and \
export it. For the result of SQL this is not needed: query keeps it.",
    arguments: || {
        vec![
            ("variable", text("the DataFrame variable of python"), true),
            ("name", text("a short name for the table, such as revenue_by_month"), false),
        ]
    },
    output: Some(|| output(table_members())),
    change: ChangeKind::Nothing,
    kept: Kept::Always,
    read: |given| {
        let TableArguments { variable, name } = parsed(given)?;
        let name = name.unwrap_or_default();
        let question = format!("Keep the table {variable}.");
        Ok(calls(
            question,
            [("send_data_to_ui_as_df", json!({"df_name": variable, "logical_name": name}))],
        ))
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChartArguments {
    sql: Option<String>,
    variable: Option<String>,
    r#type: String,
    x: String,
    y: ColumnNames,
    color_by: Option<String>,
    #[serde(default)]
    options: Map<String, Value>,
    title: Option<String>,
    x_label: Option<String>,
    y_label: Option<String>,
    note: Option<String>,
    name: Option<String>,
}

/// One name or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum ColumnNames {
    One(String),
    Several(Vec<String>),
}

/// Returns the schema of what a chart does in addition; every member is optional.
fn chart_options() -> Value {
    let orders: Vec<_> = ChartOrder::ALL.iter().map(|it| it.name()).collect();
    let axes: Vec<_> = LogAxis::ALL.iter().map(|it| it.name()).collect();
    let formats: Vec<_> = ValueFormat::ALL.iter().map(|it| it.name()).collect();
    let reference = json!({"type": "object", "required": ["value"], "additionalProperties": false, "properties": {
        "value": {"type": "number"}, "to": {"type": "number", "description": "the end of a band"},
        "label": {"type": "string"}}});
    let error_bars = json!({"type": "object", "required": ["low_field", "high_field"],
        "additionalProperties": false, "properties": {
            "low_field": text("the column of lower ends, as values and not as distances"),
            "high_field": text("the column of upper ends")}});
    let annotation = json!({"type": "object", "required": ["x", "text"], "additionalProperties": false, "properties": {
        "x": text("x of the point, as in the data"), "y": {"type": "number", "description": "its value"},
        "text": text("a few words")}});
    let line_series = json!({"type": "object", "required": ["name"], "additionalProperties": false, "properties": {
        "name": text("the column of y that is a line over the columns"),
        "y_label": text("the label of its own axis, if its unit differs")}});
    json!({"type": "object", "additionalProperties": false, "properties": {
        "order": one_of(&orders, "the order of categories"),
        "log_axis": one_of(&axes, "the logarithmic axis of a line or scatter"),
        "references": {"type": "array", "items": reference, "description": "lines and bands, at most 5"},
        "trend_line": {"type": "boolean", "description": "least squares, with equation and r², for scatter"},
        "number_format": one_of(&formats, "percent: 25 is 25%; share: 0.25 is 25%"),
        "unit": text("the unit of the values"),
        "facet_by": text("the column whose values get a panel each"),
        "error_bars": error_bars,
        "highlight": text("a series, or a category of x of bars, in strong colour; all else is grey"),
        "annotations": {"type": "array", "items": annotation, "description": "texts at points, at most 5"},
        "size_by": text("the numeric column of the sizes of points, for scatter"),
        "line_series": line_series,
        "value_labels": {"type": "boolean", "description": "false leaves out the values at bars and in cells"},
        "bin_width": {"type": "number", "description": "the width of the bins of a histogram"},
    }})
}

const CHART: ClientTool = ClientTool {
    name: "chart",
    title: "Draw a chart",
    description: "Draws a chart of the result of a SELECT, or of a DataFrame of python, and returns the picture (PNG) \
with a description in words. One row is one mark, at most 200 rows (line, area, scatter, heatmap 5000), in the order in \
which they should appear (names in alphabetical order come by value); one column for x and one numeric column for each series, at most 10, or color_by for long data. \
bar lies on its side and suits long labels, column stands, stacked_ types show parts and totals, percent_stacked_column \
shows shares and replaces a pie, line shows change over an ordered x, area fills it, scatter relates two numbers. For \
histogram and box give the raw rows: histogram counts x (y is the same column), box summarises y by the category x. \
heatmap shades y by x and color_by. Give sql or variable, not both.",
    arguments: || {
        let types: Vec<&str> = ChartType::ALL.iter().map(|it| it.name()).collect();
        let y = json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
            "description": "the numeric column, or columns, to plot"});
        vec![
            ("sql", text("a SELECT whose result is drawn"), false),
            ("variable", text("a DataFrame variable of python"), false),
            ("type", one_of(&types, "the shape of the marks"), true),
            ("x", text("the column along the x axis"), true),
            ("y", y, true),
            ("color_by", text("the column whose values become the series of long data"), false),
            ("options", chart_options(), false),
            ("title", text("what the chart shows"), false),
            ("x_label", text("label of the x axis"), false),
            ("y_label", text("label of the y axis, with the unit"), false),
            ("note", text("a caveat or a source, below the chart"), false),
            ("name", text("a short name for the chart"), false),
        ]
    },
    output: None,
    change: ChangeKind::Nothing,
    kept: Kept::Always,
    read: |given| {
        let given: ChartArguments = parsed(given)?;
        let columns = match given.y {
            ColumnNames::One(name) => vec![name],
            ColumnNames::Several(names) => names,
        };
        let series: Vec<Value> =
            columns.iter().map(|it| json!({"name": it, "y_field": it})).collect();
        let mut options = given.options;
        if let Some(column) = given.color_by {
            options.insert("color_by".to_owned(), column.into());
        }
        let options = Some(options).filter(|it| !it.is_empty());
        let frame = match (&given.sql, &given.variable) {
            (Some(_), None) => RESULT.to_owned(),
            (None, Some(variable)) => variable.clone(),
            _ => return Err("give `sql` or `variable`, and not both".to_owned()),
        };
        let name = given.name.or_else(|| given.title.clone()).unwrap_or_else(|| "chart".to_owned());
        let chart = json!({
            "df_name": frame, "logical_name": name, "chart_type": given.r#type, "x_field": given.x,
            "x_label": given.x_label, "y_label": given.y_label, "series": series,
            "title": given.title, "note": given.note, "options": options,
        });
        let about = format!("Draw {} by {}.", columns.join(", "), given.x);
        Ok(match given.sql {
            None => calls(about, [("send_chart_to_ui", chart)]),
            Some(sql) => calls(
                about,
                [
                    ("query_datasets", json!({"sql": sql, "result_name": RESULT})),
                    ("send_chart_to_ui", chart),
                ],
            ),
        })
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictArguments {
    assessment: String,
    text: String,
    #[serde(default)]
    findings: Vec<FindingArguments>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FindingArguments {
    severity: String,
    message: String,
    dataset: Option<String>,
    column: Option<String>,
    #[serde(default)]
    rows: Vec<u64>,
}

const SEVERITIES: [&str; 3] = ["good", "warning", "bad"];

const VERDICT: ClientTool = ClientTool {
    name: "verdict",
    title: "Record a verdict",
    description: "Records your verdict on the data, with findings, after you have checked it with the other tools. \
The session keeps it for its owner. Thresholds that the owner has set are rated as well and may make the assessment \
worse; it comes back with the findings and, where rows are given, their lines in the source file. good: fit for use; \
warning: usable with care; bad: do not rely on it. A finding about a dataset, a column or a row that does not exist \
is refused.",
    arguments: || {
        let finding = json!({
            "type": "object",
            "properties": {
                "severity": one_of(&SEVERITIES, "how much it matters"),
                "message": text("one sentence, with the number of rows"),
                "dataset": text("the dataset that it concerns"),
                "column": text("the column that it concerns"),
                "rows": {"type": "array", "items": {"type": "integer", "minimum": 0}, "description": "numbers of the first rows, at most 20, from 0 in the dataset"},
            },
            "required": ["severity", "message"],
            "additionalProperties": false,
        });
        vec![
            ("assessment", one_of(&SEVERITIES, "of the data as a whole"), true),
            ("text", text("the verdict for people, in a few sentences"), true),
            ("findings", json!({"type": "array", "items": finding}), false),
        ]
    },
    output: Some(|| {
        output([
            ("assessment", json!({"type": ["string", "null"]})),
            ("findings", json!({"type": "array"})),
            truncated(),
        ])
    }),
    change: ChangeKind::Nothing,
    kept: Kept::Always,
    read: |given| {
        let VerdictArguments { assessment, text, findings } = parsed(given)?;
        let severities = [&assessment].into_iter().chain(findings.iter().map(|it| &it.severity));
        if let Some(unknown) = severities.into_iter().find(|it| !SEVERITIES.contains(&it.as_str()))
        {
            return Err(format!(
                "`{unknown}` is not one of {}; use one of them",
                SEVERITIES.join(", ")
            ));
        }
        let findings: Vec<Value> = findings
            .into_iter()
            .map(|it| {
                json!({"severity": it.severity, "message": it.message, "dataset": it.dataset,
                    "column": it.column, "rows": it.rows, "table": null})
            })
            .collect();
        let answer = json!({"text": text, "findings": findings, "assessment": assessment});
        Ok(Work::Verdict { question: "Can the data be relied on?".to_owned(), answer })
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskArguments {
    question: String,
}

const ASK: ClientTool = ClientTool {
    name: "ask",
    title: "Ask the built-in analyst",
    description: "Asks the built-in analyst of csv-agent, which needs no model: it answers plain questions such as \
\"total revenue per month in 2024\", \"top 5 products by margin\", \"how many orders have no email\", in one call, with \
a table and sometimes a chart, and says how it read the question. It knows no follow-up questions and refuses what it \
does not understand; then use query or python. Check how it read the question before you rely on the answer.",
    arguments: || {
        vec![(
            "question",
            text("one question in English that names columns or values of the data"),
            true,
        )]
    },
    output: None,
    change: ChangeKind::Nothing,
    kept: Kept::WithRows,
    read: |given| {
        let AskArguments { question } = parsed(given)?;
        if question.trim().is_empty() {
            return Err("`question` is empty; ask one".to_owned());
        }
        Ok(Work::Ask { question })
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RerunArguments {
    turn: Option<TurnNumber>,
    #[serde(default)]
    against: BTreeMap<String, PathBuf>,
}

/// The number of a turn, as clients write it.
#[derive(Deserialize)]
#[serde(untagged)]
enum TurnNumber {
    Number(u64),
    Text(String),
}

impl TurnNumber {
    /// Returns it as the command line reads it.
    fn text(self) -> Result<String, String> {
        let text = match self {
            TurnNumber::Number(number) => number.to_string(),
            TurnNumber::Text(text) => text.trim().to_owned(),
        };
        let is_number = !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        if is_number || ["last", "all"].contains(&text.as_str()) {
            return Ok(text);
        }
        Err(format!("`{text}` is not a turn; give its number, or last"))
    }
}

fn turn_schema(description: &str) -> Value {
    json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}], "description": description})
}

const RERUN: ClientTool = ClientTool {
    name: "rerun",
    title: "Run a turn again",
    description: "Runs the calls of an earlier turn again, on the data as it is now or on other files, and says whether \
the results are the same. Every result of csv-agent names its turn. Use it to confirm a result, or to apply a finished \
analysis to a new file.",
    arguments: || {
        let files = json!({"type": "object", "additionalProperties": {"type": "string"},
            "description": "a file in place of a dataset, by the name of the dataset"});
        vec![
            ("turn", turn_schema("number of the turn; by default the last"), false),
            ("against", files, false),
        ]
    },
    output: Some(|| {
        json!({"type": "object", "properties": {
            "same": {"type": "boolean", "description": "whether all results are those of the turn"},
            "text": {"type": "string"},
            "tables": {"type": "array"},
            "truncated": truncated().1,
        }, "required": ["same", "text"]})
    }),
    change: ChangeKind::Nothing,
    kept: Kept::Open,
    read: |given| {
        let RerunArguments { turn, against } = parsed(given)?;
        let turn = turn.map_or(Ok("last".to_owned()), TurnNumber::text)?;
        if turn == "all" {
            return Err("one turn is run again at a time; give its number, or last".to_owned());
        }
        Ok(Work::Rerun { turn, against: against.into_iter().collect() })
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportArguments {
    form: String,
    turns: Option<Vec<TurnNumber>>,
}

const FORMS: [&str; 3] = ["py", "ipynb", "md"];

const EXPORT: ClientTool = ClientTool {
    name: "export",
    title: "Export turns",
    description: "Returns earlier turns as a Python script (py) or a notebook (ipynb) that reads the original files, \
runs without csv-agent and fails if its results differ, or as a document in Markdown (md). Use it to hand over an \
analysis. A script with SQL in it needs the Python package duckdb.",
    arguments: || {
        let turn = json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]});
        let turns = json!({"type": "array", "items": turn,
            "description": "numbers of turns, or last, or all; by default the last"});
        vec![("form", one_of(&FORMS, "what to return"), true), ("turns", turns, false)]
    },
    output: Some(|| {
        json!({"type": "object", "properties": {
            "text": {"type": "string"},
            "truncated": {"type": "boolean"},
            "whole": {"type": "string", "description": "how to get all of it"},
        }, "required": ["text", "truncated"]})
    }),
    change: ChangeKind::Nothing,
    kept: Kept::Open,
    read: |given| {
        let ExportArguments { form, turns } = parsed(given)?;
        if !FORMS.contains(&form.as_str()) {
            return Err(format!("`{form}` is not one of {}; use one of them", FORMS.join(", ")));
        }
        let turns = turns.unwrap_or_default().into_iter().map(TurnNumber::text);
        let mut turns = turns.collect::<Result<Vec<_>, _>>()?;
        if turns.is_empty() {
            turns.push("last".to_owned());
        }
        Ok(Work::Export { turns, form })
    },
};

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{assigned, listed, named, read};
    use crate::settings::ServerSettings;
    use csv_agent_types::redaction::Redaction;

    fn names(settings: &ServerSettings) -> Vec<String> {
        listed(settings).iter().map(|it| it.name.to_string()).collect()
    }

    #[test]
    fn a_tool_fits_every_client() {
        let tools = listed(&ServerSettings::default());
        assert_eq!(tools.len(), 12);
        for tool in tools {
            let description = tool.description.unwrap_or_default();
            assert!(description.len() < 2_000, "{}: {}", tool.name, description.len());
            // Cursor takes 60 characters, with the name of the server.
            assert!(format!("mcp__csv-agent__{}", tool.name).len() < 60);
            assert!(tool.input_schema["properties"]["session"].is_object());
            assert!(tool.annotations.is_some_and(|it| it.title.is_some()));
        }
    }

    #[test]
    fn what_would_show_values_that_are_kept_back_is_left_out() {
        let mut settings = ServerSettings { is_read_only: true, ..ServerSettings::default() };
        assert!(!names(&settings).contains(&"ingest".to_owned()));
        settings.withheld = Redaction { columns: ["email".to_owned()].into(), rows: false };
        let redacted = names(&settings);
        assert!(redacted.contains(&"ask".to_owned()) && !redacted.contains(&"rerun".to_owned()));
        settings.withheld.rows = true;
        assert!(!names(&settings).contains(&"ask".to_owned()));
    }

    #[track_caller]
    fn check(name: &str, arguments: &Value, expected: &str) {
        let given = arguments.as_object().cloned().unwrap_or_default();
        let settings = ServerSettings::default();
        let found = named(name, &settings).and_then(|it| read(it, given, &settings));
        assert!(found.as_ref().is_err_and(|it| it.contains(expected)), "{found:?}");
    }

    #[test]
    fn flags_are_read_as_a_shell_reads_them() {
        let given = [
            "--dtype 'a b=int'", "--dtype=\"c=text\"", "--strict", "--null", "not known",
            "--quote \"",
        ];
        let given = given.map(str::to_owned);
        let expected =
            ["--dtype=a b=int", "--dtype=c=text", "--strict", "--null=not known", "--quote=\""];
        assert_eq!(assigned(&given), expected);
    }

    #[test]
    fn arguments_that_are_wrong_say_what_is_right() {
        check("sql", &json!({}), "there is no tool `sql`; the tools are ingest, datasets");
        check("query", &json!({}), "`sql` is missing; it must be a text");
        check("query", &json!({"sql": 1}), "`sql` must be a text, not `1`");
        check(
            "ingest",
            &json!({"paths": "a.csv"}),
            "must be a list of texts, not the text `a.csv`",
        );
        check("ingest", &json!({"paths": [1]}), "`paths[0]` must be a text");
        check("ingest", &json!({"paths": ["a"], "types": {"n": 1}}), "`types.n` must be a text");
        let remote = json!({"paths": ["a"], "flags": ["--strict", "--remote sc://a"]});
        check("ingest", &remote, "`--remote=sc://a` is not one of --tables, --columns");
        check("chart", &json!({"chart_type": "bar"}), "no argument `chart_type`; it takes `sql`");
        let chart = |kind: &str, y: Value| json!({"sql": "x", "type": kind, "x": "a", "y": y});
        check("chart", &chart("pie", json!("b")), "`type`: `pie` is not one of bar, ");
        check("chart", &chart("bar", json!(1)), "`y` must be a text or a list of texts, not `1`");
        check("rerun", &json!({"turn": [1]}), "`turn` must be a text or a whole number");
        check("rerun", &json!({"turn": -1}), "or a whole number of 0 or more, not `-1`");
        let finding = json!({"severity": "bad", "message": "m", "where": "x"});
        let verdict = json!({"assessment": "bad", "text": "", "findings": [finding]});
        check("verdict", &verdict, "no `findings[0].where`; the members are `severity`, `message`");
        check("chart", &json!({"type": "bar", "x": "a", "y": "b"}), "give `sql` or `variable`");
        check("rerun", &json!({"turn": "seven"}), "`seven` is not a turn");
        check("export", &json!({"form": "doc"}), "`doc` is not one of py, ipynb, md");
        check("ingest", &json!({"paths": []}), "`paths` is empty");
        check("verdict", &json!({"assessment": "fine", "text": ""}), "`fine` is not one of good");
    }
}
