//! A past turn, read from its events: its calls and their results.

use serde_json::Value;

use csv_agent_provider::{CLIENT, hosted};
use csv_agent_tools::{Plan, RUNS_SQL, Statement, TOOLS, ToolJob};
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::ToolCall;
use csv_agent_types::event::{Body, CallStatus, CodePlace, Event, ReplyBody, Status};
use csv_agent_types::limits::QUESTION_BYTES_MAX;
use csv_agent_types::redaction::Redaction;
use csv_agent_worker::protocol::Command;

use super::compare::asks_for_order;
use crate::query::is_look_up;

/// The tools that show results of code.
const SENDS: [&str; 2] = ["send_data_to_ui_as_df", "send_chart_to_ui"];
/// The directory of a container's files.
pub const DIRECTORY: &str = "/mnt/data";
/// Substrings of code that sorts rows.
const SORTS: [&str; 8] =
    ["sort", "orderby", "order_by", "order by", "nlargest", "nsmallest", "rank", "value_counts"];
/// Functions that find files without naming them.
const LISTS: [&str; 5] = ["listdir", "scandir", "glob", "iterdir", "walk"];
/// Substrings of code that reads a file of any name.
const READS: [&str; 3] = [DIRECTORY, "read_", "open("];

/// A turn read from disk.
#[derive(Debug, Clone)]
pub struct PastTurn {
    /// Its number, as in the name of its directory.
    pub id: String,
    /// As the user asked it.
    pub question: String,
    /// Whether code ran on this machine.
    pub has_repl: bool,
    /// Whether a client made the calls, which sees more of a result.
    pub is_of_client: bool,
    /// Start time: RFC 3339, UTC.
    pub started: String,
    /// In call order, without those that only looked something up.
    pub calls: Vec<PastCall>,
    /// What it withheld from the model and from code.
    pub withheld: Redaction,
    /// None when the turn has no answer.
    pub reply: Option<ReplyBody>,
}

/// Where the variables and files of a call live. No place sees those of another.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExecutionPlace {
    /// In the REPL of the session.
    #[default]
    Repl,
    /// In a container at the provider, by its id.
    Container(String),
}

/// A call and its result.
#[derive(Debug, Clone)]
pub struct PastCall {
    /// The call.
    pub call: ToolCall,
    /// Where it ran.
    pub place: ExecutionPlace,
    /// How it ended.
    pub status: CallStatus,
    /// The result that the model read.
    pub result: Value,
    /// Tables and charts that it sent.
    pub shown: Vec<Body>,
}

/// Returns the file name of a dataset, or of a table that code saved, in a container.
pub fn saved(name: &str) -> String {
    format!("{name}.csv")
}

/// Returns the datasets that code of a container may read.
pub(crate) fn names_said<'a>(code: &str, catalog: &'a Catalog) -> Vec<&'a str> {
    let is_said = |name: &&str| {
        let texts = [saved(name), format!("'{name}'"), format!("\"{name}\"")];
        texts.iter().any(|it| code.contains(it.as_str()))
    };
    let said: Vec<&str> = catalog.names().filter(is_said).collect();
    let says = |words: &[&str]| words.iter().any(|it| code.contains(it));
    // Code that names none may read any.
    let is_any = said.is_empty() && says(&READS) || says(&LISTS);
    if is_any { catalog.names().collect() } else { said }
}

/// Returns a turn's number for display, from the name of its directory.
pub fn number(id: &str) -> &str {
    id.trim_start_matches('0')
}

impl PastTurn {
    /// Reads the events of a turn.
    pub fn of(id: &str, events: Vec<Event>) -> PastTurn {
        let (question, started) = (String::new(), String::new());
        let mut turn = PastTurn {
            id: id.to_owned(),
            question,
            started,
            has_repl: true,
            is_of_client: false,
            calls: Vec::new(),
            withheld: Redaction::default(),
            reply: None,
        };
        let mut asked = String::new();
        for Event { ts, body, .. } in events {
            match body {
                Body::Status(Status::Started {
                    question, withheld, interpreter, provider, ..
                }) => {
                    turn.is_of_client = provider == CLIENT;
                    asked = provider;
                    (turn.question, turn.started) = (question, ts);
                    // Nobody has asked a longer one.
                    let end = turn.question.floor_char_boundary(QUESTION_BYTES_MAX);
                    turn.question.truncate(end);
                    turn.withheld = *withheld;
                    turn.has_repl = interpreter != CodePlace::Hosted;
                }
                Body::ToolCall { call_id, name, arguments, arguments_raw, .. } => {
                    let arguments = arguments.map(|it| it.to_string()).or(arguments_raw);
                    let call = ToolCall { call_id, name, arguments: arguments.unwrap_or_default() };
                    // Until its result arrives.
                    let status = CallStatus::Cancelled;
                    let (place, result) = (ExecutionPlace::default(), Value::Null);
                    turn.calls.push(PastCall { call, place, status, result, shown: Vec::new() });
                }
                Body::ToolResult { call_id, status, result, .. } => {
                    if let Some(call) = turn.call_mut(&call_id) {
                        (call.status, call.result) = (status, result);
                        if call.is_hosted() {
                            let container = call.result["container_id"].as_str();
                            call.place =
                                ExecutionPlace::Container(container.unwrap_or_default().to_owned());
                        }
                    }
                }
                Body::Reply(reply) => turn.reply = Some(*reply),
                Body::DataFrame(_) | Body::Chart(_) => turn.add_shown(body),
                _ => {}
            }
        }
        let is_look_up = |it: &PastCall| {
            it.planned(&Catalog::default()).is_some_and(|it| is_look_up(&asked, &it))
        };
        turn.calls.retain(|it| !is_look_up(it));
        turn
    }

    /// Forgets what it gave, and keeps what its calls did to variables and files: all that later turns need.
    pub fn keep_deeds(&mut self) {
        const STDOUT: &str = "stdout";
        const KEPT: [&str; 7] =
            ["kind", "error", "data_key", "stdout_key", "files", "container_id", STDOUT];
        self.reply = None;
        for call in &mut self.calls {
            call.shown = Vec::new();
            let Value::Object(members) = &mut call.result else { continue };
            members.retain(|name, _| KEPT.contains(&name.as_str()));
            // That something was printed counts, not what.
            members.entry(STDOUT).and_modify(|it| *it = Value::from(""));
        }
    }

    /// Returns the file that has all of its answer, within the session's directory.
    pub(crate) fn reply_file(&self) -> String {
        format!("turns/{}/reply.md", self.id)
    }

    /// Returns whether the order of the rows that it gave counts: one was asked for, and where data is on a
    /// cluster, which gives rows in any order, code made one.
    pub fn is_ordered(&self, catalog: &Catalog) -> bool {
        let sorts = |it: &PastCall| {
            let code = it.call.arguments.to_lowercase();
            it.computes() && SORTS.iter().any(|word| code.contains(word))
        };
        let is_made = || catalog.remote().next().is_none() || self.calls.iter().any(sorts);
        asks_for_order(&self.question) && is_made()
    }

    fn add_shown(&mut self, body: Body) {
        let call_id = match &body {
            Body::DataFrame(table) => table.call_id.clone(),
            Body::Chart(chart) => chart.call_id.clone(),
            _ => return,
        };
        if let Some(call) = self.call_mut(&call_id) {
            call.shown.push(body);
        }
    }

    fn call_mut(&mut self, call_id: &str) -> Option<&mut PastCall> {
        self.calls.iter_mut().rev().find(|it| it.call.call_id == call_id)
    }
}

/// Determines where calls ran that show results of other calls. Where no code ran on this machine, that is
/// the container of the last code call before them.
pub fn settle<'a>(turns: impl IntoIterator<Item = &'a mut PastTurn>) {
    let mut container = ExecutionPlace::Repl;
    for turn in turns {
        for call in &mut turn.calls {
            if call.is_hosted() {
                container = call.place.clone();
            } else if !turn.has_repl && SENDS.contains(&call.call.name.as_str()) {
                call.place = container.clone();
            }
        }
    }
}

impl PastCall {
    /// Returns the job that changed variables or results, if the call got that far. An interrupted or killed
    /// call would end the same way again.
    pub fn job(&self, catalog: &Catalog) -> Option<ToolJob> {
        // Steps before an exception count.
        let ran = self.status == CallStatus::Ok || self.ended() && self.raised().is_some();
        let hosted = || Some(ToolJob::Python(self.hosted_command()?));
        let job = if self.is_hosted() { hosted() } else { self.planned(catalog) };
        job.filter(|_| ran)
    }

    /// Returns the statement of the call, if it has one.
    pub fn statement(&self) -> Option<Statement> {
        match self.planned(&Catalog::default()) {
            Some(ToolJob::Query(statement)) => Some(statement),
            _ => None,
        }
    }

    fn planned(&self, catalog: &Catalog) -> Option<ToolJob> {
        let tool = csv_agent_tools::find(&self.call.name, TOOLS.iter());
        match tool.and_then(|it| csv_agent_tools::plan(it, catalog, &self.call)) {
            Ok(Plan::Ask(job, _)) => Some(job),
            _ => None,
        }
    }

    fn hosted_command(&self) -> Option<Command> {
        let arguments = serde_json::from_str::<Value>(&self.call.arguments).ok()?;
        Some(Command::Run { code: arguments["code"].as_str()?.to_owned() })
    }

    /// Returns the code that it ran in a container, verbatim; empty for any other call.
    pub(crate) fn hosted_code(&self) -> String {
        match self.hosted_command() {
            Some(Command::Run { code }) if self.is_hosted() => code,
            _ => String::new(),
        }
    }

    /// Returns the names of the files that it made in its container and that were fetched.
    pub fn files(&self) -> Vec<&str> {
        let files = self.result["files"].as_array().map_or(&[][..], Vec::as_slice);
        files.iter().filter_map(|it| it["name"].as_str()).collect()
    }

    /// Returns whether the provider ran it.
    pub fn is_hosted(&self) -> bool {
        hosted::runs_code(&self.call.name)
    }

    /// Returns whether it ran code by the model.
    pub fn runs_code(&self) -> bool {
        self.is_hosted() || self.call.name == csv_agent_tools::RUNS_CODE
    }

    /// Returns whether it computed: by code or SQL of the model.
    pub fn computes(&self) -> bool {
        self.runs_code() || self.call.name == RUNS_SQL
    }

    /// Returns whether it finished on its own, with success or an error.
    pub fn ended(&self) -> bool {
        matches!(self.status, CallStatus::Ok | CallStatus::Error)
    }

    /// Returns the class of the exception that its code raised.
    pub fn raised(&self) -> Option<&str> {
        self.result["error"]["type"].as_str().filter(|_| self.runs_code())
    }
}
