//! Reruns the calls of a turn: first the earlier steps that they need, then each call in order.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::anyhow;
use serde_json::Map;

use csv_agent_cluster::ClusterAccess;
use csv_agent_render::inert;
use csv_agent_session::Session;
use csv_agent_session::turns;
use csv_agent_sink::EventSink;
use csv_agent_text::lists::all_names;
use csv_agent_tools::ToolJob;
use csv_agent_types::catalog::Catalog;
use csv_agent_types::conversation::{Reply, ToolCall, Usage};
use csv_agent_types::event::{
    Body, CallStatus, CodePlace, Confinement, DataFrame, ReplyBody, Status,
};
use csv_agent_types::redaction::Redaction;
use csv_agent_types::status::{ExitCodes, Failure, FailureKind, StopReason};
use csv_agent_worker::environment::PythonOptions;
use csv_agent_worker::protocol::Command;
use csv_agent_worker::sandbox::SandboxOptions;
use csv_agent_worker::trusted_script::Study;

use super::cell_dependencies::{DependencyStep, has_code, needed, outlines};
use super::compare;
use super::containers::Containers;
use super::expectation::{Proof, head, plotted, proofs};
use super::stored_turn::{ExecutionPlace, PastCall, PastTurn, number, saved};
use super::whole_tables::WholeTables;
use crate::TurnEnd;
use crate::cluster;
use crate::failure::{cancelled, describe, fail};
use crate::hosted::Interpreter;
use crate::loop_detection::Repeats;
use crate::query::datasets_said;
use crate::repl::Repl;
use crate::round::{Code, Round, output_bytes_max};
use crate::tool_cache::ToolCache;
use crate::turn::{Turn, TurnInterrupt};

/// The name of what makes the calls again.
const RERUN: &str = "rerun";

/// How to rerun calls.
#[derive(Debug, Clone)]
pub struct RerunOptions {
    /// Which Python.
    pub python: PythonOptions,
    /// How its code is confined.
    pub sandbox: SandboxOptions,
    /// Access to the cluster that holds datasets.
    pub cluster: ClusterAccess,
    /// Wall-clock limit of one call.
    pub tool_timeout: Duration,
    /// The directory of the session with the turn.
    pub past_dir: PathBuf,
    /// Whether a difference makes the process fail; a call that fails now always does.
    pub check: bool,
    /// The exit status that the last event of the turn states.
    pub exit_codes: ExitCodes,
}

/// What a rerun has found.
pub struct Rerun {
    /// How it ended.
    pub end: TurnEnd,
    /// How its results differ from the recorded ones, one sentence each.
    pub differences: Vec<String>,
}

/// Reruns the calls of `past` in `session`, a temporary one. `earlier` are the turns before it, oldest
/// first. The reply states the differences.
///
/// # Errors
///
/// Fails only when the turn itself cannot be written to disk.
pub async fn rerun(
    options: &RerunOptions,
    session: &Session,
    sink: &mut dyn EventSink,
    past: &PastTurn,
    earlier: &[PastTurn],
    stop: impl Future<Output = FailureKind>,
) -> anyhow::Result<Rerun> {
    let RerunOptions { python, sandbox, cluster, tool_timeout, .. } = options.clone();
    let repl = Repl::new(python, sandbox, tool_timeout, Redaction::default()).asking_as(cluster);
    let repl = if past.is_of_client { repl.for_a_client() } else { repl };
    let confinement = repl.confinement().await?;
    let dir = session.begin_turn(&past.question)?;
    let mut turn = Turn::begin(session, dir, sink, Box::pin(stop), None, options.exit_codes);
    let containers = Containers::new(options, session);
    let mut rerun = Again { options, session, past, repl, containers };
    let ended = rerun.run(earlier, confinement, &mut turn).await;
    let mut differences = Vec::new();
    let end = match ended {
        Ok(compared) => {
            let end = rerun.reply(&compared, &mut turn);
            differences = compared.differences;
            end
        }
        Err(TurnInterrupt::Stopped(kind)) => Ok(fail(&mut turn, cancelled(kind))),
        Err(TurnInterrupt::Failed(error)) => Ok(fail(&mut turn, describe(&error))),
        Err(TurnInterrupt::TimedOut) => {
            Ok(fail(&mut turn, describe(&anyhow!("the time limit was reached"))))
        }
    };
    rerun.repl.stop().await;
    rerun.containers.stop().await;
    Ok(Rerun { end: end?, differences })
}

/// What was compared, and how.
#[derive(Default)]
struct Compared {
    /// The evidence of the answer, by name.
    names: Vec<String>,
    /// One sentence each.
    differences: Vec<String>,
    /// The first call that had a result and failed now, with the reason.
    failed: Option<String>,
}

struct Again<'a> {
    options: &'a RerunOptions,
    session: &'a Session,
    past: &'a PastTurn,
    repl: Repl,
    containers: Containers<'a>,
}

impl Again<'_> {
    /// Runs the calls, and compares what they give.
    async fn run(
        &mut self,
        earlier: &[PastTurn],
        confinement: Confinement,
        turn: &mut Turn<'_>,
    ) -> Result<Compared, TurnInterrupt> {
        let catalog = self.session.catalog();
        turn.status(Status::Started {
            message: format!("the calls of turn {} are run again", self.past.id),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            model: "none".to_owned(),
            provider: RERUN.to_owned(),
            api: "none".to_owned(),
            datasets: catalog.names().map(str::to_owned).collect(),
            limits: Map::new(),
            question: self.past.question.clone(),
            interpreter: CodePlace::Local,
            sandbox: Box::new(confinement),
            withheld: Box::default(),
        })?;
        self.demand_files(earlier, catalog)?;
        let is_for_repl = |it: &PastCall| {
            it.place == ExecutionPlace::Repl && it.job(catalog).is_some_and(|it| needs_repl(&it))
        };
        if self.past.calls.iter().any(is_for_repl) {
            self.repl.start(self.session, catalog, turn)?;
        }
        let calls = earlier.iter().chain([self.past]).flat_map(|it| &it.calls);
        let hosted: String = calls.map(PastCall::hosted_code).collect();
        if !hosted.is_empty() {
            self.containers.upload(&hosted, turn).await?;
        }
        let preparation = self.preparation(earlier, catalog, turn).await?;
        let prepares_repl =
            |it: &(ExecutionPlace, ToolJob)| it.0 == ExecutionPlace::Repl && needs_repl(&it.1);
        if !self.past.calls.iter().any(is_for_repl) && !preparation.iter().any(prepares_repl) {
            // What shows the result of a statement that fails now would look for it in Python.
            self.repl.lacks_python();
        }
        self.meet_cluster(&preparation, catalog, turn).await?;
        for (place, job) in preparation {
            // A failure here also occurred originally, or makes a call fail that is compared.
            match (place, job) {
                (ExecutionPlace::Container(container), ToolJob::Python(command)) => {
                    let _ = self.containers.run(&container, command, catalog, turn).await?;
                }
                (_, job) => {
                    let _ = self.repl.run(job, self.session, catalog, turn).await?;
                }
            }
        }
        let (mut repeats, mut memory) = (Repeats::default(), ToolCache::default());
        for (at, call) in self.past.calls.iter().enumerate() {
            if let Some(why) = left_out(call, catalog) {
                turn.status(Status::Warning { code: "left_out".to_owned(), message: why })?;
            }
            if !has_run(call, catalog) {
                continue;
            }
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            if let ExecutionPlace::Container(container) = &call.place {
                self.containers.call(number, container, call, turn).await?;
                continue;
            }
            let (repl, repeats) = (&mut self.repl, &mut repeats);
            let (session, memory) = (self.session, &mut memory);
            let mut round = Round {
                number,
                provider: RERUN,
                session,
                catalog,
                interpreter: &Interpreter::Local,
                code: Code::Here(repl),
                repeats,
                memory,
                withheld: &Redaction::default(),
                // Thresholds are flags of `ask`, and the rows are what is compared.
                thresholds: &[],
                output_bytes_max: output_bytes_max(self.past.is_of_client),
            };
            let call: ToolCall = call.call.clone();
            round.run(&[call], turn).await?;
        }
        let (events, _) = turns::events(turn.dir().path())?;
        let now = PastTurn::of(turn.dir().id(), events);
        // Events of a temporary session do not name files.
        let sent = turn.record.tables.iter();
        let sent = sent.filter_map(|it| Some((it.call_id.clone(), it.file.clone()?)));
        let files: HashMap<String, String> = sent.collect();
        let compared = Box::pin(self.compare(&now, &files, catalog));
        let compared = turn.wait(compared).await?;
        let cluster_failure = self.repl.cluster_failure();
        if let Some(error) = cluster_failure.filter(|_| !compared.differences.is_empty()) {
            return Err(TurnInterrupt::Failed(Failure::from(error.clone()).into()));
        }
        Ok(compared)
    }

    /// Compares the results of the original turn with those of this one. `files` has the tables of this one, by call.
    async fn compare(
        &self,
        now: &PastTurn,
        files: &HashMap<String, String>,
        catalog: &Catalog,
    ) -> Compared {
        let then = self.past;
        let again =
            |it: &PastCall| now.calls.iter().find(|now| now.call.call_id == it.call.call_id);
        let failed = |it: &&PastCall| {
            it.status == CallStatus::Ok && again(it).is_some_and(|now| now.status != CallStatus::Ok)
        };
        let is_ordered = then.is_ordered(catalog);
        let whole_tables = WholeTables {
            sandbox: &self.options.sandbox,
            timeout: self.options.tool_timeout,
            past_dir: &self.options.past_dir,
            dir: self.session.dir(),
        };
        let mut compared = Compared::default();
        // Failures after the first failed call are mostly caused by it.
        if let Some(call) = then.calls.iter().find(failed).and_then(again) {
            let told = call.result["text"].as_str().unwrap_or_default().trim();
            let why = told.lines().next_back().unwrap_or_default();
            let failed = format!("`{}` failed: {why}", call.call.name);
            compared.differences.push(failed.clone());
            compared.failed = Some(failed);
        }
        for (at, proof) in proofs(then) {
            let now = again(&then.calls[at]).filter(|it| it.status == CallStatus::Ok);
            let table = now.and_then(table);
            let whole = match (proof, table.and_then(|it| Some((it, files.get(&it.call_id)?)))) {
                (Proof::Table(then), Some((now, file))) => {
                    whole_tables.differences(then, (now, file), is_ordered).await
                }
                _ => None,
            };
            let name = if whole.is_some() { proof.whole_name() } else { proof.name() };
            let texts = match (whole, now) {
                (Some(texts), _) => texts,
                (None, Some(now)) => of_proof(proof, now, is_ordered),
                (None, None) => vec!["it is missing now".to_owned()],
            };
            compared.differences.extend(texts.into_iter().map(|it| format!("{name}: {it}")));
            compared.names.push(name);
        }
        compared
    }

    /// Checks that the files of the datasets named by a call are intact. Otherwise a call would fail, and
    /// rows never read would count as different.
    fn demand_files(&self, earlier: &[PastTurn], catalog: &Catalog) -> Result<(), TurnInterrupt> {
        let hurt = Session::hurt_datasets(self.session.dir(), catalog)?;
        let calls = || earlier.iter().chain([self.past]).flat_map(|it| &it.calls);
        let is_named = |dataset: &str| {
            let names = |it: &PastCall| match it.statement() {
                Some(statement) => datasets_said(&statement.sql, catalog).contains(&dataset),
                None => has_quoted(&it.call.arguments, dataset),
            };
            calls().any(|it| names(it) && has_run(it, catalog))
        };
        match hurt.into_iter().find(|it| is_named(&it.0)) {
            Some((_, failure)) => Err(TurnInterrupt::Failed(failure.into())),
            None => Ok(()),
        }
    }

    /// Checks that the cluster is reachable, if a call names a dataset on it. Otherwise each call would
    /// retry for long, and data never read would count as different.
    async fn meet_cluster(
        &self,
        preparation: &[(ExecutionPlace, ToolJob)],
        catalog: &Catalog,
        turn: &mut Turn<'_>,
    ) -> Result<(), TurnInterrupt> {
        let again = self.past.calls.iter().filter(|it| it.place == ExecutionPlace::Repl);
        let mut again = again.filter_map(|it| it.job(catalog));
        let mut before = preparation.iter().filter(|it| it.0 == ExecutionPlace::Repl);
        if before.any(|it| names_remote(&it.1, catalog))
            || again.any(|it| names_remote(&it, catalog))
        {
            cluster::meet(&self.options.cluster, catalog, None, turn).await?;
        }
        Ok(())
    }

    /// Returns the earlier steps that this turn needs.
    async fn preparation(
        &self,
        earlier: &[PastTurn],
        catalog: &Catalog,
        turn: &mut Turn<'_>,
    ) -> Result<Vec<(ExecutionPlace, ToolJob)>, TurnInterrupt> {
        let steps = |turn| {
            let turn: &PastTurn = turn;
            turn.calls.iter().filter_map(|it| Some((it.job(catalog)?, it)))
        };
        let before = earlier.iter().flat_map(steps);
        // Sending a table or chart changes no variable.
        let sends = |it: &ToolJob| matches!(it, ToolJob::Python(Command::Fetch { .. }));
        let before: Vec<_> = before.filter(|it| !sends(&it.0)).collect();
        if before.is_empty() {
            return Ok(Vec::new());
        }
        let all: Vec<(ToolJob, &PastCall)> =
            before.iter().cloned().chain(steps(self.past)).collect();
        let uploaded: Vec<String> = catalog.names().map(saved).collect();
        // The future that starts a worker is large.
        let finding = Box::pin(async {
            let RerunOptions { python, sandbox, .. } = self.options;
            let mut study = if has_code(&all) {
                Some(Study::start(python, sandbox, Vec::new()).await?)
            } else {
                None
            };
            outlines(study.as_mut(), &all, &uploaded).await
        });
        let outlines = turn.wait(finding).await??.into_iter();
        let steps = outlines.zip(&all).enumerate().map(|(at, (outline, (_, call)))| {
            let (failed, is_wanted) = (call.raised().is_some(), before.len() <= at);
            DependencyStep { place: call.place.clone(), outline, failed, is_wanted }
        });
        let is_needed = needed(&steps.collect::<Vec<_>>());
        let chosen = before.into_iter().zip(is_needed).filter(|it| it.1);
        Ok(chosen.map(|((job, call), _)| (call.place.clone(), job)).collect())
    }

    fn reply(&self, compared: &Compared, turn: &mut Turn) -> anyhow::Result<TurnEnd> {
        let Compared { names, differences, failed } = compared;
        let id = number(&self.past.id);
        let text = match (&differences[..], &names[..]) {
            ([], []) => format!("Turn {id} has no result that can be compared."),
            ([], names) => format!("Turn {id} gives the same results: {}.", names.join(", ")),
            (found, _) => {
                let lines: Vec<String> = found.iter().map(|it| format!("- {it}\n")).collect();
                format!("Turn {id} gives different results:\n\n{}", lines.concat().trim_end())
            }
        };
        let failure = match (&differences[..], &names[..]) {
            _ if failed.is_some() => Some(FailureKind::Replay),
            _ if !self.options.check => None,
            ([], []) => Some(FailureKind::Contract),
            ([], _) => None,
            _ => Some(FailureKind::Replay),
        };
        // The reply was computed here, without a model: none of it is ungrounded.
        let body = turn.reply_body(&text, StopReason::Complete);
        let body = ReplyBody { exit_code: turn.exit_code(failure), ..body };
        turn.dir().write("reply.md", &format!("{}\n", inert::markdown(&text)))?;
        let told = turn.emit(Body::Reply(Box::new(body)));
        let usage = Usage::default();
        let reply = Reply { text, verdict: None, stop_reason: StopReason::Complete, usage };
        let complaint = failed.as_ref().map(|it| format!("turn {id} cannot be repeated: {it}"));
        Ok(TurnEnd::with_reply(reply, told, failure, complaint))
    }
}

/// Returns whether a job certainly needs Python: what shows a frame may show a result of a query.
fn needs_repl(job: &ToolJob) -> bool {
    !matches!(job, ToolJob::Query(_) | ToolJob::Python(Command::Fetch { .. }))
}

/// Returns whether a job names a dataset on a cluster.
fn names_remote(job: &ToolJob, catalog: &Catalog) -> bool {
    let ToolJob::Python(command) = job else { return false };
    catalog.remote().any(|(name, _)| match command {
        Command::Load { dataset, .. } | Command::Find { dataset, .. } => dataset == name,
        Command::Run { code } => has_quoted(code, name),
        Command::Fetch { .. } | Command::Forget { .. } | Command::Keep { .. } => false,
    })
}

/// Returns whether a name occurs in quotes, in code or in arguments that contain code.
fn has_quoted(text: &str, name: &str) -> bool {
    [format!("'{name}'"), format!("\"{name}\""), format!("\"{name}\\\"")]
        .iter()
        .any(|it| text.contains(it))
}

/// Returns whether a call ran anything that can be repeated.
fn has_run(call: &PastCall, catalog: &Catalog) -> bool {
    call.ended() && (!call.is_hosted() || call.job(catalog).is_some())
}

/// Returns what of a call is left out, if anything.
fn left_out(call: &PastCall, catalog: &Catalog) -> Option<String> {
    let name = &call.call.name;
    if !call.ended() {
        return Some(format!("`{name}` did not finish in that turn and is left out"));
    }
    if !has_run(call, catalog) {
        return Some(format!("`{name}` did not run in that turn and is left out"));
    }
    let files = all_names(call.files());
    (!files.is_empty())
        .then(|| format!("{files} of `{name}`: files are made again, but not compared"))
}

/// Returns the table that a call sent.
fn table(call: &PastCall) -> Option<&DataFrame> {
    call.shown.iter().find_map(|it| match it {
        Body::DataFrame(table) => Some(table),
        _ => None,
    })
}

fn of_proof(then: Proof, now: &PastCall, is_ordered: bool) -> Vec<String> {
    match then {
        Proof::Table(then) => {
            let Some(now) = table(now) else { return vec!["it was not sent again".to_owned()] };
            compare::frames(&then.frame(), &now.frame(), is_ordered)
        }
        Proof::Chart(then) => {
            let same = now.shown.iter().find_map(|it| match it {
                Body::Chart(chart) => Some(chart),
                _ => None,
            });
            match same {
                Some(now) => compare::frames(&plotted(then), &plotted(now), is_ordered),
                None => vec!["it was not drawn again".to_owned()],
            }
        }
        Proof::Value(then) if then.is_hosted() => {
            let text = |it: &PastCall| it.result["text"].as_str().unwrap_or("").to_owned();
            compare::logs(&text(then), &text(now)).into_iter().collect()
        }
        Proof::Value(then) => match (head(&then.result), head(&now.result)) {
            (Some(then), Some(now)) => compare::frames(&then, &now, is_ordered),
            _ => ["text", "stdout"]
                .iter()
                .filter_map(|member| {
                    let of = |it: &PastCall| it.result[*member].as_str().unwrap_or("").to_owned();
                    compare::texts(&of(then), &of(now))
                })
                .collect(),
        },
    }
}
