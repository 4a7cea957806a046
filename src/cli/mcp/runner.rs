//! The runner: takes the calls of a client one by one, and does each as a turn of a session.
//!
//! Between two calls the session is free for other processes. Variables stay in the worker as long as no other
//! process uses the session; then they are read back from it.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

use csv_agent_agent::{Agent, record_sent};
use csv_agent_mcp::{
    ClientTurn, IngestWork, PendingCall, StopSignal, ToolAnswer, Work, WorkResult,
};
use csv_agent_provider::{ClientCalls, Provider};
use csv_agent_session::{Access, PausedSession, Session, turns};
use csv_agent_sink::EventSink;
use csv_agent_tools::RUNS_CODE;
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::{Question, ToolCall};
use csv_agent_types::event::{Body, Event, Status};
use csv_agent_types::limits::PAGE_IMAGE_BYTES_MAX;
use csv_agent_types::status::{BUILTIN, Failure, FailureKind};

use super::allowed::Allowed;
use super::child;
use crate::diagnostics;
use crate::errors::{self, ExitStatus, exit_code};
use crate::ingest::files_of;
use crate::options::TurnOptions;
use crate::signals::{self, Signals};

/// Rounds of a turn. A client makes few calls in one, and the analyst as many as in any turn.
const ROUNDS_MAX: u32 = 40;
/// New datasets that are described at once.
const DESCRIBED_MAX: usize = 2;
/// Remarks of an ingest that are passed on.
const REMARKS_MAX: usize = 20;

/// Does the work.
pub(super) struct CallRunner {
    options: TurnOptions,
    allowed: Allowed,
    runtime: Runtime,
    signals: Signals,
    /// The signal that ended a call.
    signal: Option<FailureKind>,
    open: Option<OpenSession>,
    /// An agent that is prepared for the first session.
    spare: Option<Agent>,
    /// Why no Python runs.
    lacks_python: Option<String>,
    /// Whether clients can read files.
    has_ingest: bool,
}

/// A turn to make.
struct Asked {
    question: String,
    /// Whether its reply is a verdict.
    verdict: bool,
    provider: Provider,
    /// What was remarked before it.
    remarks: Vec<String>,
}

/// What became of files: the names of their datasets with remarks, or why there are none.
type Ingested = Result<(Vec<String>, Vec<String>), String>;

/// The session of the last call.
struct OpenSession {
    session: PausedSession,
    agent: Agent,
}

/// Collects the events of a turn, and tells the client what is going on.
struct Collector<'a> {
    events: Vec<Event>,
    progress: &'a watch::Sender<String>,
}

impl EventSink for Collector<'_> {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        if let Body::Status(
            Status::Loading { message }
            | Status::Executing { message, .. }
            | Status::Cluster { message, .. }
            | Status::Worker { message, .. },
        ) = &event.body
        {
            self.progress.send_replace(message.clone());
        }
        if !matches!(event.body, Body::Partial { .. }) {
            self.events.push(event.clone());
        }
        Ok(())
    }
}

impl CallRunner {
    pub(super) fn new(
        mut options: TurnOptions,
        allowed: Allowed,
        has_ingest: bool,
    ) -> anyhow::Result<CallRunner> {
        options.agent.limits.rounds_max = ROUNDS_MAX;
        let runtime = signals::runtime()?;
        let signals = runtime.block_on(async { Signals::listen() })?;
        Ok(CallRunner {
            options,
            allowed,
            runtime,
            signals,
            signal: None,
            open: None,
            spare: None,
            lacks_python: None,
            has_ingest,
        })
    }

    /// Takes calls until the client is gone or a signal comes. Returns the status of the signal.
    pub(super) fn work(&mut self, mut queue: UnboundedReceiver<PendingCall>) -> ExitStatus {
        // Meanwhile lists are answered.
        let mut agent = self.agent();
        let prepared = self.runtime.block_on(agent.prepare());
        match prepared {
            Ok(lacks_python) => self.lacks_python = lacks_python,
            // Calls report it as well.
            Err(error) => diagnostics::error(&error, false),
        }
        self.spare = Some(agent);
        loop {
            let CallRunner { runtime, signals, .. } = self;
            let next = runtime.block_on(async {
                // A call that loses stays in the queue.
                tokio::select! {
                    call = queue.recv() => Ok(call),
                    kind = signals.next() => Err(kind),
                }
            });
            let call = match next {
                Ok(Some(call)) => call,
                Ok(None) => break,
                Err(kind) => {
                    self.close();
                    return ExitStatus::Failed(kind);
                }
            };
            if call.stop.is_set() {
                continue;
            }
            let answer = self.answer(&call);
            // A client that has cancelled the call is not there to take the answer.
            let _ = call.reply.send(answer);
            if let Some(kind) = self.signal {
                self.close();
                return ExitStatus::Failed(kind);
            }
        }
        self.close();
        ExitStatus::Ok
    }

    fn agent(&self) -> Agent {
        Agent::new(self.options.agent.clone(), Provider::Client(Box::default()))
    }

    fn close(&mut self) {
        if let Some(OpenSession { agent, .. }) = self.open.take() {
            self.runtime.block_on(agent.close(std::future::pending()));
        }
    }

    /// Returns the directory of the session that a call is about.
    fn session_dir(&self, call: &PendingCall) -> Result<PathBuf, String> {
        let Some(named) = &call.session else {
            return Ok(self.options.global.session.dir.clone());
        };
        let dir = std::path::absolute(named).map_err(|it| it.to_string())?;
        if dir != self.options.global.session.dir {
            self.allowed.check(&dir)?;
        }
        Ok(dir)
    }

    /// Does the work of a call.
    fn answer(&mut self, call: &PendingCall) -> ToolAnswer {
        let done = match self.session_dir(call) {
            Ok(dir) => self.perform(call, &dir),
            Err(message) => return PendingCall::answer(&call.work, Err(message)),
        };
        done.unwrap_or_else(|error| PendingCall::answer(&call.work, Err(told(&error))))
    }

    fn perform(&mut self, call: &PendingCall, dir: &Path) -> anyhow::Result<ToolAnswer> {
        let work = &call.work;
        let mut asked = Asked {
            question: String::new(),
            verdict: false,
            provider: Provider::Builtin,
            remarks: Vec::new(),
        };
        match work {
            Work::Ingest(files) => {
                if let Err(message) = self.allowed.check_files(&files.paths) {
                    return Ok(PendingCall::answer(work, Err(message)));
                }
                let (names, remarks) = match self.ingest(files, dir, Some(&call.stop))? {
                    Ok(ingested) => ingested,
                    Err(message) => return Ok(PendingCall::answer(work, Err(message))),
                };
                let calls;
                (asked.question, calls) = about_new(&names);
                asked.provider = calls_of(call, calls, "The files are read.");
                asked.remarks = remarks;
            }
            Work::Calls { question, calls } => {
                let runs_code = calls.iter().any(|it| it.name == RUNS_CODE);
                if let Some(why) = self.lacks_python.as_ref().filter(|_| runs_code) {
                    return Ok(PendingCall::answer(work, Err(why.clone())));
                }
                asked.question.clone_from(question);
                asked.provider = calls_of(call, calls.clone(), "Done.");
            }
            Work::Verdict { question, answer } => {
                asked.question.clone_from(question);
                asked.verdict = true;
                asked.provider = calls_of(call, Vec::new(), &answer.to_string());
            }
            Work::Ask { question } => {
                if let Some(why) = &self.lacks_python {
                    return Ok(PendingCall::answer(work, Err(why.clone())));
                }
                asked.question.clone_from(question);
            }
            Work::Rerun { turn, against } => return self.rerun(call, dir, turn, against),
            Work::Export { turns, form } => return self.export(call, dir, turns, form),
        }
        self.turn(call, dir, asked)
    }

    /// Takes the session of a call, with the agent that knows its variables.
    fn take(&mut self, dir: &Path, named: Option<&Path>) -> anyhow::Result<(Session, Agent)> {
        let lock = self.options.global.lock("mcp");
        if let Some(OpenSession { session, agent }) = self.open.take() {
            if session.dir() == dir && Session::is_there(dir)? {
                match session.resume(lock)? {
                    (session, true) => return Ok((session, agent)),
                    (session, false) => {
                        // Its worker and its copies of datasets are of a session that has changed.
                        self.runtime.block_on(agent.close(std::future::pending()));
                        return Ok((session, self.agent()));
                    }
                }
            }
            drop(session);
            self.runtime.block_on(agent.close(std::future::pending()));
        }
        if !Session::is_there(dir)? {
            let (message, hint) = match (named, self.has_ingest) {
                (Some(named), has_ingest) => (
                    format!("there is no session in `{}`", named.display()),
                    if has_ingest {
                        "leave `session` out, or call `ingest` with this `session` to create one"
                    } else {
                        "leave `session` out"
                    },
                ),
                (None, true) => (
                    "there is no dataset yet".to_owned(),
                    "call `ingest` with the path of a data file",
                ),
                (None, false) => (
                    "there is no dataset yet".to_owned(),
                    "ask the user to run `csv-agent ingest FILE`, as this server reads no files",
                ),
            };
            return Err(Failure::setup(message).hint(hint).into());
        }
        let session = Session::open(dir, Access::Existing, lock)?;
        Ok((session, self.spare.take().unwrap_or_else(|| self.agent())))
    }

    /// Makes a turn, and puts it into words.
    fn turn(&mut self, call: &PendingCall, dir: &Path, asked: Asked) -> anyhow::Result<ToolAnswer> {
        let Asked { question: text, verdict, provider, remarks } = asked;
        let (mut session, mut agent) = self.take(dir, call.session.as_deref())?;
        // The analyst makes no request to the client, so its answer is one of its own.
        let is_apart = matches!(provider, Provider::Builtin);
        let model = match provider {
            Provider::Builtin => BUILTIN.to_owned(),
            _ => call.client.clone(),
        };
        agent.ask_another(model, None, provider);
        agent.start_afresh();
        let mut sink = Collector { events: Vec::new(), progress: &call.progress };
        let question = Question { text, images: Vec::new(), verdict, pick: None };
        let CallRunner { runtime, signals, signal, .. } = self;
        let stop = async {
            // The signal is kept for the caller; a cancelled call ends only its turn.
            tokio::select! {
                () = call.stop.wait() => FailureKind::Interrupted,
                status = signals.next() => {
                    *signal = Some(status);
                    status
                }
            }
        };
        let end = runtime.block_on(agent.turn(&mut session, &mut sink, question, stop));
        let events = sink.events;
        let answered = end.and_then(|end| {
            let mut remarks = remarks;
            remarks.extend(end.warning);
            let turn = ClientTurn {
                png: png_of(&events, session.dir()),
                events,
                session_dir: session.dir().to_owned(),
                session: call.session.clone(),
                withheld: self.options.agent.withheld.clone(),
                remarks,
            };
            let id = turn.events.first().map(|it| it.turn_id.clone());
            let answer = PendingCall::answer(&call.work, Ok(WorkResult::Turn(Box::new(turn))));
            if let Some(id) = id {
                record(session.catalog(), session.dir(), &id, &answer, &call.client, is_apart)?;
            }
            Ok(answer)
        });
        self.open = Some(OpenSession { session: session.pause(), agent });
        answered
    }

    /// Runs a command of csv-agent. None when the client or a signal has ended it.
    fn command(
        &mut self,
        dir: &Path,
        arguments: Vec<OsString>,
        stop: Option<&StopSignal>,
    ) -> anyhow::Result<Option<Output>> {
        let CallRunner { runtime, signals, signal, options, .. } = self;
        let running = child::run(&options.agent.sandbox.program, dir, arguments, stop);
        runtime.block_on(async {
            // A command that loses is killed.
            tokio::select! {
                ended = running => ended,
                status = signals.next() => {
                    *signal = Some(status);
                    Ok(None)
                }
            }
        })
    }

    /// Reads files with `csv-agent ingest`. Returns the names of their datasets and what there was to remark, or why
    /// there are none.
    fn ingest(
        &mut self,
        files: &IngestWork,
        dir: &Path,
        stop: Option<&StopSignal>,
    ) -> anyhow::Result<Ingested> {
        let mut arguments: Vec<OsString> = ["ingest", "--json", "-v"].map(Into::into).into();
        let mut flag = |name: &str, value: &str| arguments.push(format!("--{name}={value}").into());
        let given = [
            ("name", &files.name),
            ("delimiter", &files.delimiter),
            ("encoding", &files.encoding),
            ("decimal", &files.decimal),
            ("date-order", &files.date_order),
            ("if-exists", &files.if_exists),
        ];
        for (name, value) in given {
            if let Some(value) = value {
                flag(name, value);
            }
        }
        files.sheets.iter().for_each(|it| flag("sheet", it));
        if !files.nulls.is_empty() {
            flag("null", &files.nulls.join(","));
        }
        files.types.iter().for_each(|(column, it)| flag("dtype", &format!("{column}={it}")));
        arguments.extend(files.flags.iter().map(Into::into));
        arguments.push("--".into());
        arguments.extend(files.paths.iter().map(|it| it.as_os_str().to_owned()));
        let Some(output) = self.command(dir, arguments, stop)? else {
            return Ok(Err(
                "the call was cancelled; files that were not finished are not read".into()
            ));
        };
        // What it says about arguments has no values.
        if let Some(usage) = child::usage(&output) {
            return Ok(Err(usage));
        }
        let documents: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let names: Vec<String> =
            documents.iter().filter_map(|it| Some(it["name"].as_str()?.to_owned())).collect();
        let withheld = &self.options.agent.withheld;
        let mut remarks = if withheld.is_nothing() {
            child::remarks(&output)
        } else {
            // Everything else may quote values.
            child::errors_without_values(&output, &names_of(files, dir))
        };
        let mut seen = HashSet::new();
        remarks.retain(|it| !is_usual(it) && seen.insert(it.clone()));
        if names.is_empty() {
            let why = remarks.join("\n");
            return Ok(Err(if why.is_empty() { "no file was read".to_owned() } else { why }));
        }
        let n_more = remarks.len().saturating_sub(REMARKS_MAX);
        remarks.truncate(REMARKS_MAX);
        if 0 < n_more {
            remarks.push(format!("{n_more} more remarks; read fewer files at once to see them"));
        }
        Ok(Ok((names, remarks)))
    }

    /// Reads the files of `-f`. Fails when none of them can be read.
    pub(super) fn read_files(&mut self, files: &[PathBuf]) -> anyhow::Result<()> {
        let work = IngestWork { paths: files.to_vec(), ..IngestWork::default() };
        let dir = self.options.global.session.dir.clone();
        match self.ingest(&work, &dir, None)? {
            Ok((_, remarks)) => remarks.iter().for_each(|it| diagnostics::note(it)),
            Err(message) => {
                let kind = self.signal.unwrap_or(FailureKind::Input);
                return Err(Failure::new(kind, message).into());
            }
        }
        self.options.agent.check_withheld(&Session::read_catalog(&dir)?)?;
        Ok(())
    }

    fn rerun(
        &mut self,
        call: &PendingCall,
        dir: &Path,
        turn: &str,
        against: &[(String, PathBuf)],
    ) -> anyhow::Result<ToolAnswer> {
        let work = &call.work;
        let mut arguments: Vec<OsString> =
            ["rerun", turn, "--json", "--check"].map(Into::into).into();
        for (name, file) in against {
            if let Err(message) = self.allowed.check_files(std::slice::from_ref(file)) {
                return Ok(PendingCall::answer(work, Err(message)));
            }
            let mut value = OsString::from(format!("--against={name}="));
            value.push(file);
            arguments.push(value);
        }
        let Some(output) = self.command(dir, arguments, Some(&call.stop))? else {
            return Ok(PendingCall::answer(work, Err("the call was cancelled".to_owned())));
        };
        let is_different =
            output.status.code() == Some(exit_code(Some(FailureKind::Replay)).into());
        if !output.status.success() && !is_different {
            let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let told = document["error"]["message"].as_str().or(document["text"].as_str());
            let remarks = child::remarks(&output);
            let why = told.into_iter().map(str::to_owned).chain(remarks);
            return Ok(PendingCall::answer(work, Err(why.collect::<Vec<_>>().join("\n"))));
        }
        let document: Value = serde_json::from_slice(&output.stdout)?;
        let done = WorkResult::Rerun(Box::new(document), !is_different);
        let answer = PendingCall::answer(work, Ok(done));
        record_of(turn, dir, &answer, &call.client)?;
        Ok(answer)
    }

    fn export(
        &mut self,
        call: &PendingCall,
        dir: &Path,
        turns: &[String],
        form: &str,
    ) -> anyhow::Result<ToolAnswer> {
        let work = &call.work;
        let mut arguments: Vec<OsString> = vec!["export".into(), form.into()];
        arguments.extend(turns.iter().map(Into::into));
        let Some(output) = self.command(dir, arguments, Some(&call.stop))? else {
            return Ok(PendingCall::answer(work, Err("the call was cancelled".to_owned())));
        };
        if !output.status.success() {
            return Ok(PendingCall::answer(work, Err(child::remarks(&output).join("\n"))));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let answer = PendingCall::answer(work, Ok(WorkResult::Text(text)));
        let last = turns.last().map_or("last", |it| if it == "all" { "last" } else { it });
        record_of(last, dir, &answer, &call.client)?;
        Ok(answer)
    }
}

/// Adds what an answer contains to the record of a turn that is not its own.
fn record_of(turn: &str, dir: &Path, answer: &ToolAnswer, client: &str) -> anyhow::Result<()> {
    let all = turns::dirs(dir)?;
    let number = turn.parse::<u32>().ok();
    let names = all.iter().filter_map(|it| it.file_name()?.to_str());
    let id = match number {
        Some(_) => names.clone().find(|it| it.parse::<u32>().ok() == number),
        None => names.clone().next_back(),
    };
    let Some(id) = id else { return Ok(()) };
    record(&Session::read_catalog(dir)?, dir, id, answer, client, true)
}

/// Adds what an answer contains beyond the outputs of calls to the record of what left the machine.
fn record(
    catalog: &Catalog,
    session_dir: &Path,
    turn: &str,
    answer: &ToolAnswer,
    client: &str,
    is_apart: bool,
) -> anyhow::Result<()> {
    if answer.sent.is_empty() && answer.image_bytes == 0 {
        return Ok(());
    }
    let turn_dir = session_dir.join("turns").join(turn);
    record_sent(catalog, &turn_dir, &answer.sent, answer.image_bytes, client, is_apart)
}

/// Returns the provider of a turn with these calls.
fn calls_of(call: &PendingCall, calls: Vec<ToolCall>, reply: &str) -> Provider {
    let (client, reply) = (call.client.clone(), reply.to_owned());
    Provider::Client(Box::new(ClientCalls { client, calls: calls.into(), reply }))
}

/// Returns the question and the calls that show new datasets.
fn about_new(names: &[String]) -> (String, Vec<ToolCall>) {
    let call = |at: usize, name: &str, arguments: Value| ToolCall {
        call_id: format!("call_{}", at + 1),
        name: name.to_owned(),
        arguments: arguments.to_string(),
    };
    let calls = if names.len() <= DESCRIBED_MAX {
        let all = names.iter().enumerate();
        all.map(|(at, name)| call(at, "get_dataset_info", serde_json::json!({"name": name})))
            .collect()
    } else {
        vec![call(0, "list_datasets", serde_json::json!({"pattern": null}))]
    };
    let shown: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
    let more = if shown.len() < names.len() { " and more" } else { "" };
    (format!("Read {}{more}.", shown.join(", ")), calls)
}

/// Returns the texts of a call, and the names and files of datasets, which a message may repeat.
fn names_of(files: &IngestWork, dir: &Path) -> Vec<String> {
    let catalog = Session::read_catalog(dir).unwrap_or_default();
    let present = catalog.iter().flat_map(|it| [it.0.to_owned(), it.1.source.clone()]);
    let present: Vec<String> = present.collect();
    let paths = files.paths.iter().cloned();
    let found = files_of(&files.paths).unwrap_or_default();
    let paths = paths.chain(found).map(|it| it.display().to_string());
    // A hint shows how to name a file.
    let paths = paths.flat_map(|it| [format!("NAME={it}"), it]);
    let given = [&files.name, &files.delimiter, &files.encoding, &files.decimal, &files.date_order];
    let named = given.into_iter().flatten().chain(&files.sheets).cloned();
    let types = files.types.iter().flat_map(|it| [it.0.clone(), it.1.clone()]);
    paths.chain(named).chain(types).chain(present).collect()
}

/// Returns whether a remark only says how an ordinary file was read, or is in the schema as well.
fn is_usual(remark: &str) -> bool {
    let reason = remark.split_once("`: ").map_or(remark, |it| it.1);
    let reasons = ["encoding ", "delimiter ", "header: ", "column `"];
    reasons.iter().any(|it| reason.starts_with(it)) || reason.contains(", header on line")
}

/// Returns the picture of the last chart of a turn.
fn png_of(events: &[Event], session_dir: &Path) -> Option<Vec<u8>> {
    let chart = events.iter().rev().find_map(|it| match &it.body {
        Body::Chart(chart) => Some(chart),
        _ => None,
    })?;
    let png = chart.files.iter().find(|it| it.format == "png")?;
    if PAGE_IMAGE_BYTES_MAX < png.bytes {
        return None;
    }
    // The turn has just written it; without it, the words and the link remain.
    fs::read(session_dir.join(&png.path)).ok()
}

/// Returns an error as a sentence for the client: what is wrong, and what to do.
fn told(error: &anyhow::Error) -> String {
    let hint = errors::hint_of(error).map(|it| format!("; {}", it.replace('\n', "; ")));
    format!("{error:#}{}", hint.unwrap_or_default())
}
