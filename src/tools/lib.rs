//! The tools: what the model reads about each, and what a call still requires.
//!
//! A tool is a plain value in [`TOOLS`]. Its `plan` is a plain function without process, file, network
//! or clock; the round runs what the plan requests and passes the answer to its `finish`.

mod find_value_columns;
mod get_dataset_info;
mod list_datasets;
mod load_dataset_columns;
mod load_dataset_full;
mod load_dataset_sample;
mod python_repl;
mod query_datasets;
mod send_chart_to_ui;
mod send_data_to_ui_as_df;
pub mod strict;

pub use python_repl::NO_VALUE;

use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_provider::hosted;
use csv_agent_types::catalog::{Catalog, Dataset, Facts, Query};
use csv_agent_types::conversation::{ToolCall, ToolDeclaration};
use csv_agent_types::dataset_names::{TYPO_BYTES_MAX, meant};
use csv_agent_types::event::{CallStatus, ToolOutput};
use csv_agent_worker::environment::Packages;
use csv_agent_worker::protocol::{Command, Outcome, OutcomeStatus};

/// Every tool, in the order in which requests declare them. The order never changes: providers cache
/// the beginning of a request.
pub static TOOLS: [Tool; 10] = [
    python_repl::TOOL,
    list_datasets::TOOL,
    get_dataset_info::TOOL,
    load_dataset_full::TOOL,
    load_dataset_sample::TOOL,
    load_dataset_columns::TOOL,
    find_value_columns::TOOL,
    send_data_to_ui_as_df::TOOL,
    send_chart_to_ui::TOOL,
    query_datasets::TOOL,
];

/// The tool that runs the model's code on this machine.
pub const RUNS_CODE: &str = python_repl::TOOL.name;

/// The tool that runs the model's SQL on this machine.
pub const RUNS_SQL: &str = query_datasets::TOOL.name;
/// The tool that searches all rows for a value.
pub const FINDS_VALUES: &str = find_value_columns::TOOL.name;

/// Returns whether a tool runs the model's code, here or at the provider.
pub fn runs_code(name: &str) -> bool {
    name == RUNS_CODE || hosted::runs_code(name)
}

/// Maximum number of dataset names in an error.
const NAMES_LISTED_MAX: usize = 20;

/// Names in the REPL that a tool must not overwrite.
const RESERVED: [&str; 5] = ["pd", "np", "datasets", "load", "num"];

/// The name of the connection to the cluster, where datasets are on one.
const SESSION: &str = "spark";

/// The member of a result that holds an estimated row count.
pub const ROW_COUNT_ESTIMATE: &str = "row_count_estimate";

/// Words that Python does not accept as a name. Source: Python reference, "Keywords".
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// A tool that the model may call.
pub struct Tool {
    /// The name by which the model calls it.
    pub name: &'static str,
    /// What the model reads: what it does, when to prefer it, what it returns, its limits.
    pub description: &'static str,
    /// Builds the JSON Schema of the arguments.
    pub parameters: fn() -> Value,
    /// Turns arguments into a plan. The catalog contains the datasets that the model may see.
    pub plan: fn(&Catalog, Value) -> Result<Plan, ToolError>,
    /// What it needs on this machine.
    pub needs: Needs,
    /// Whether the same call returns the same answer throughout a turn.
    pub only_reads: bool,
    /// Limit on calls in a turn, for an expensive tool.
    pub allowance: Option<u32>,
}

/// What a tool needs on this machine, beyond the datasets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The query engine.
    Engine,
    /// Python.
    Repl,
}

impl Tool {
    /// Returns the declaration of the tool in a request, for code with these resources.
    pub fn declaration(&self, room: &CodeRoom) -> ToolDeclaration {
        let parameters = (self.parameters)();
        let description = match self.name {
            RUNS_CODE => python_repl::description(room).into(),
            _ => self.description.into(),
        };
        ToolDeclaration::Function { name: self.name, description, parameters }
    }
}

/// The resources of code that differ from machine to machine.
#[derive(Debug, Clone, Default)]
pub struct CodeRoom {
    /// Address space of a process.
    pub memory_bytes: u64,
    /// What can be imported.
    pub packages: Packages,
}

/// What a call still requires.
pub enum Plan {
    /// Nothing.
    Done(ToolOutput),
    /// Facts from a Parquet file. The reads of a round run concurrently.
    Read(Query, Box<dyn FnOnce(Facts) -> Result<ToolOutput, ToolError> + Send>),
    /// The REPL or the query engine. The jobs of a round run in the order of their calls.
    Ask(ToolJob, Box<dyn FnOnce(Outcome) -> Result<ToolOutput, ToolError> + Send>),
}

/// What a call runs on this machine.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolJob {
    /// A command for the REPL.
    Python(Command),
    /// A statement for the query engine.
    Query(Statement),
}

/// A SELECT statement, as a call has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Its text.
    pub sql: String,
    /// The name under which its result is kept for the rest of the turn.
    pub result_name: Option<String>,
}

impl Plan {
    fn read(
        query: Query,
        finish: impl FnOnce(Facts) -> Result<ToolOutput, ToolError> + Send + 'static,
    ) -> Plan {
        Plan::Read(query, Box::new(finish))
    }

    fn ask(
        job: ToolJob,
        finish: impl FnOnce(Outcome) -> Result<ToolOutput, ToolError> + Send + 'static,
    ) -> Plan {
        Plan::Ask(job, Box::new(finish))
    }
}

/// Why a call failed. It is text for the model and never ends a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolError {
    /// How the call ended; not ok.
    pub status: CallStatus,
    /// The code that a program branches on.
    pub code: &'static str,
    /// What the model reads; the user sees it as well.
    pub output: ToolOutput,
}

impl ToolError {
    /// Builds an error from a sentence: what was wanted, what was found, what to do next.
    pub fn new(code: &'static str, message: impl Into<String>) -> ToolError {
        let result = json!({"kind": "error", "text": message.into()});
        ToolError { status: CallStatus::Error, code, output: ToolOutput::json(result) }
    }

    /// Returns the sentence.
    pub fn message(&self) -> &str {
        self.output.result["text"].as_str().unwrap_or_default()
    }
}

/// Finds a tool among those of a turn.
///
/// # Errors
///
/// Fails when there is none. The model reads the reason.
pub fn find(
    name: &str,
    mut tools: impl Iterator<Item = &'static Tool> + Clone,
) -> Result<&'static Tool, ToolError> {
    let names: Vec<&str> = tools.clone().map(|it| it.name).collect();
    tools.find(|it| it.name == name).ok_or_else(|| {
        let names = names.join(", ");
        ToolError::new("unknown_tool", format!("no tool `{name}`; the tools are {names}"))
    })
}

/// Plans a call of a tool.
///
/// # Errors
///
/// Fails when its arguments are not a JSON object or do not match its schema. The model reads the
/// reason.
pub fn plan(tool: &Tool, catalog: &Catalog, call: &ToolCall) -> Result<Plan, ToolError> {
    let arguments = serde_json::from_str::<Value>(&call.arguments).map_err(|error| {
        let message =
            format!("the arguments of `{}` are not JSON: {error}; send them again", tool.name);
        ToolError::new("bad_arguments", message)
    })?;
    (tool.plan)(catalog, arguments)
}

/// Returns a short label for people: the tool, and the subject of this call.
pub fn label(call: &ToolCall) -> String {
    let arguments = serde_json::from_str::<Value>(&call.arguments).unwrap_or_default();
    let text = |key: &str| arguments[key].as_str().map(str::to_owned);
    let about = match text("code") {
        Some(code) if code.trim().lines().count() == 1 => Some("(1 line)".to_owned()),
        Some(code) => Some(format!("({} lines)", code.trim().lines().count())),
        None => ["name", "logical_name", "result_name"].into_iter().find_map(text),
    };
    match about {
        Some(about) => format!("{} {about}", call.name),
        None => call.name.clone(),
    }
}

fn dataset<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Dataset, ToolError> {
    catalog.get(name).ok_or_else(|| {
        let message = match catalog.len() {
            0 => format!("no dataset `{name}`; there are none in this session"),
            _ => format!(
                "no dataset `{name}`{}; the datasets are {}",
                nearest(name, catalog.names()),
                listed(catalog)
            ),
        };
        ToolError::new("unknown_dataset", message)
    })
}

/// Returns the name that was probably meant, as a remark; empty when none is similar.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    /// Similarity from which one name counts as a misspelling of another.
    const ALIKE_MIN: f64 = 0.6;
    let known: Vec<&str> = known.collect();
    if let [meant] = meant(name, known.iter().copied())[..] {
        return format!(" (did you mean `{meant}`?)");
    }
    let name = name.trim().to_lowercase();
    if TYPO_BYTES_MAX < name.len() {
        return String::new();
    }
    let alike = |it: &str| strsim::normalized_damerau_levenshtein(&name, &it.trim().to_lowercase());
    let known =
        known.into_iter().map(|it| (alike(it), it)).filter(|(alike, _)| ALIKE_MIN <= *alike);
    let found = known.max_by(|one, other| one.0.total_cmp(&other.0));
    found.map_or_else(String::new, |(_, it)| format!(" (did you mean `{it}`?)"))
}

/// Adds the row count of a dataset, under a name that distinguishes an estimate from a count.
fn tell_rows(result: &mut Value, dataset: &Dataset, name: &str) {
    let name = if dataset.is_estimate() { ROW_COUNT_ESTIMATE } else { name };
    result[name] = json!(dataset.row_count);
}

fn listed(catalog: &Catalog) -> String {
    let names: Vec<&str> = catalog.names().take(NAMES_LISTED_MAX).collect();
    match catalog.len() - names.len() {
        0 => names.join(", "),
        n_more => format!("{} and {n_more} more; call `list_datasets`", names.join(", ")),
    }
}

/// Checks the name of a new variable: where datasets are on a cluster, `spark` is reserved.
fn new_variable(catalog: &Catalog, name: String) -> Result<String, ToolError> {
    if name == SESSION && catalog.remote().next().is_some() {
        return Err(taken(&name));
    }
    variable(name)
}

fn taken(name: &str) -> ToolError {
    ToolError::new("bad_arguments", format!("`{name}` is taken in the REPL; choose another name"))
}

fn variable(name: String) -> Result<String, ToolError> {
    let mut letters = name.chars();
    let starts = letters.next().is_some_and(|it| it == '_' || it.is_ascii_alphabetic());
    let is_name = starts && letters.all(|it| it == '_' || it.is_ascii_alphanumeric());
    if !is_name || KEYWORDS.contains(&name.as_str()) {
        let message = format!(
            "`{name}` is not a valid Python variable name; use one like `df` or `sales_q3`"
        );
        return Err(ToolError::new("bad_arguments", message));
    }
    if RESERVED.contains(&name.as_str()) {
        return Err(taken(&name));
    }
    Ok(name)
}

/// Passes a successful outcome through; any other becomes the error that the model reads.
///
/// # Errors
///
/// Fails when it is not ok.
pub fn succeeded(outcome: Outcome) -> Result<Outcome, ToolError> {
    let (status, code) = match outcome.status {
        OutcomeStatus::Ok => return Ok(outcome),
        OutcomeStatus::Error => (CallStatus::Error, "failed"),
        OutcomeStatus::Timeout => (CallStatus::Timeout, "timeout"),
    };
    Err(ToolError { status, code, output: ToolOutput::json(outcome.result) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};
    use serde_json::json;

    use super::{Plan, TOOLS, ToolError, find, label, plan, strict};
    use csv_agent_testing::cases;
    use csv_agent_types::catalog::Catalog;
    use csv_agent_types::conversation::ToolCall;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { call_id: "c".into(), name: name.into(), arguments: arguments.into() }
    }

    fn planned(name: &str, arguments: &str) -> Result<Plan, ToolError> {
        let tool = find(name, TOOLS.iter())?;
        plan(tool, &Catalog::default(), &call(name, arguments))
    }

    #[track_caller]
    fn check(name: &str, arguments: &str, message: &str) {
        let found = planned(name, arguments).err();
        assert_eq!(found.as_ref().map(ToolError::message), Some(message));
    }

    #[test]
    fn every_schema_is_strict() {
        for tool in &TOOLS {
            assert_eq!(strict::check(&(tool.parameters)()), Ok(()), "{}", tool.name);
        }
    }

    #[test]
    fn an_allowance_is_in_the_description() {
        for tool in &TOOLS {
            let told = tool.allowance.map(|it| format!("A question may call it {it} times."));
            assert!(tool.description.contains(&told.unwrap_or_default()), "{}", tool.name);
        }
    }

    #[test]
    fn what_cannot_be_planned_is_answered() {
        check(
            "sql",
            "{}",
            "no tool `sql`; the tools are python_repl, list_datasets, get_dataset_info, \
             load_dataset_full, load_dataset_sample, load_dataset_columns, find_value_columns, \
             send_data_to_ui_as_df, send_chart_to_ui, query_datasets",
        );
        check(
            "python_repl",
            "{\"code\": \"df = ",
            "the arguments of `python_repl` are not JSON: EOF while parsing a string at line 1 \
             column 15; send them again",
        );
        check(
            "get_dataset_info",
            "{\"name\": \"slaes\"}",
            "no dataset `slaes`; there are none in this session",
        );
        check(
            "python_repl",
            "{\"cod\": \"1\"}",
            "the arguments do not match the schema: `cod`: unknown field `cod`, expected `code`; send \
             them again",
        );
    }

    #[test]
    fn a_label_says_what_a_call_is_about() {
        assert_eq!(label(&call("python_repl", "{\"code\": \"a\\nb\"}")), "python_repl (2 lines)");
        assert_eq!(
            label(&call("get_dataset_info", "{\"name\": \"sales\"}")),
            "get_dataset_info sales"
        );
        assert_eq!(label(&call("list_datasets", "oops")), "list_datasets");
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn no_arguments_make_a_tool_panic(at in 0..TOOLS.len(), text in any::<String>(), n in any::<i64>()) {
            let name = TOOLS[at].name;
            let odd = json!({"name": text, "df_name": text, "nrows": n, "columns": [text], "code": n});
            for arguments in [text.clone(), odd.to_string()] {
                let _ = planned(name, &arguments);
            }
        }
    }
}
