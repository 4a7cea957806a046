//! The questions of a template and their answers: the earlier answer if its data is the same, the earlier calls
//! on new data, or a new answer.
//!
//! The session remembers the answers: that of a question is its last turn with these words.

use std::collections::BTreeSet;

use tokio::runtime::Runtime;

use csv_agent_agent::Agent;
use csv_agent_agent::replay::compare::{asks_for_order, frames};
use csv_agent_agent::replay::stored_turn::number;
use csv_agent_agent::replay::{Rerun, RerunOptions, rerun};
use csv_agent_render::page::report::{AnswerChange, ReportAnswer};
use csv_agent_session::Session;
use csv_agent_session::turns::{self, TurnSummary};
use csv_agent_sink::EventSink;
use csv_agent_types::chosen::chosen;
use csv_agent_types::conversation::Question;
use csv_agent_types::event::{Body, DataFrame, Encoding, Event, Status};
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::PAGE_IMAGES_BYTES_MAX;
use csv_agent_types::status::{BUILTIN, Failure, FailureKind, StopReason};

use crate::ask::{key, provider};
use crate::diagnostics;
use crate::errors;
use crate::options::settings::{Settings, TOOL_TIMEOUT};
use crate::options::{TurnOptions, cluster_options};
use crate::show::{events, images};
use crate::signals::{self, Signals};
use crate::stored_turns::{self, Together};

/// An earlier answer to a question.
struct Earlier {
    turn: TurnSummary,
    events: Vec<Event>,
    started: String,
    provider: String,
    datasets: BTreeSet<String>,
}

impl Earlier {
    /// Reads a turn; None if it has no answer, or something was kept back.
    fn of(turn: TurnSummary) -> anyhow::Result<Option<Earlier>> {
        let events = events(&turn, &mut Together::new(), false)?;
        let begun = events.iter().find_map(|it| match &it.body {
            Body::Status(Status::Started { datasets, provider, withheld, .. }) => {
                Some((it.ts.clone(), datasets, provider, withheld.is_nothing()))
            }
            _ => None,
        });
        let Some((started, datasets, provider, true)) = begun.filter(|_| is_answered(&events))
        else {
            return Ok(None);
        };
        let (datasets, provider) = (datasets.iter().cloned().collect(), provider.clone());
        Ok(Some(Earlier { turn, events, started, provider, datasets }))
    }

    /// Says how a later answer differs.
    fn change(&self, question: &str, now: &[Event]) -> AnswerChange {
        AnswerChange {
            since: self.started.clone(),
            has_older_text: false,
            differences: differences(question, &self.events, now),
            tables: named_frames(&self.events),
        }
    }
}

/// Returns whether a turn ended with an answer.
fn is_answered(events: &[Event]) -> bool {
    match events.last().map(|it| &it.body) {
        Some(Body::Reply(reply)) => reply.stop_reason != StopReason::Refused,
        _ => false,
    }
}

/// Answers questions one after the other.
pub(super) struct ReportQuestions<'a> {
    options: TurnOptions,
    settings: &'a Settings<'a>,
    session: Session,
    runtime: Runtime,
    signals: Signals,
    /// Made for the first question that needs it: who has answers needs no key.
    agent: Option<Agent>,
    /// Bytes left for pictures.
    room: u64,
}

impl<'a> ReportQuestions<'a> {
    /// Answers questions about the datasets that the options make visible.
    pub(super) fn new(
        options: TurnOptions,
        settings: &'a Settings<'a>,
        session: Session,
    ) -> anyhow::Result<ReportQuestions<'a>> {
        let runtime = signals::runtime()?;
        let signals = runtime.block_on(async { Signals::listen() })?;
        let room = PAGE_IMAGES_BYTES_MAX;
        Ok(ReportQuestions { options, settings, session, runtime, signals, agent: None, room })
    }

    /// Returns the session with the datasets.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Answers a question. Fails when it has no answer.
    pub(super) fn answer(&mut self, question: &str) -> anyhow::Result<ReportAnswer> {
        let catalog = self.session.catalog();
        let wanted = &self.options.agent.datasets;
        let visible: BTreeSet<String> = if wanted.is_empty() {
            catalog.names().map(str::to_owned).collect()
        } else {
            chosen(catalog, wanted)?.into_iter().map(|it| it.0.to_owned()).collect()
        };
        let mut found = self.earlier(question)?;
        let Some(earlier) = found.next().transpose()? else {
            return self.ask(question, None);
        };
        let names: Vec<String> = earlier.datasets.iter().cloned().collect();
        let is_same_data = catalog.newer(&names, &earlier.started).is_empty();
        if is_same_data && visible == earlier.datasets {
            // A second report on the same data says the same as the first.
            let change = found.next().transpose()?;
            let change = change.map(|it| it.change(question, &earlier.events));
            return Ok(self.report_answer(&earlier.turn.id, earlier.events, change));
        }
        // Asking the analyst again costs nothing, and its text is that of the new data.
        if earlier.provider != BUILTIN
            && earlier.datasets.is_subset(&visible)
            && let Some(answer) = self.repeat(&earlier)?
        {
            return Ok(answer);
        }
        self.ask(question, Some(&earlier))
    }

    /// Finds the answers to a question for which nothing was kept back, newest first.
    fn earlier<'q>(
        &self,
        question: &'q str,
    ) -> anyhow::Result<impl Iterator<Item = anyhow::Result<Earlier>> + use<'q>> {
        let turns = turns::list(self.session.dir())?.into_iter().rev();
        let turns = turns.filter(move |it| it.question.trim() == question && !it.interrupted);
        Ok(turns.filter_map(|it| Earlier::of(it).transpose()))
    }

    /// Runs the calls of an earlier answer on the data of now. None if one of them fails.
    fn repeat(&mut self, earlier: &Earlier) -> anyhow::Result<Option<ReportAnswer>> {
        let (turn, before) = stored_turns::read(&earlier.turn.id, &self.options.global)?;
        let cluster = cluster_options(self.settings)?;
        let options = RerunOptions {
            python: cluster.python,
            sandbox: cluster.sandbox,
            cluster: cluster.access,
            tool_timeout: self.settings.get(&TOOL_TIMEOUT)?,
            past_dir: self.session.dir().to_owned(),
            check: false,
            exit_codes: errors::exit_code,
        };
        let session = Session::ephemeral(Some(self.session.dir()))?;
        let mut seen = Seen::default();
        let stop = self.signals.next();
        let repeated = rerun(&options, &session, &mut seen, &turn, &before, stop);
        let Rerun { end, differences } = self.runtime.block_on(repeated)?;
        session.drop_turns();
        if end.failure.is_some() || end.reply.is_none() {
            demand_going_on(end.failure)?;
            return Ok(None);
        }
        // The words are those of then, the tables and charts those of now.
        let is_own = |it: &&Event| {
            !it.body.is_terminal() && !matches!(it.body, Body::Status(Status::Started { .. }))
        };
        let (begun, ended) = (earlier.events.first(), earlier.events.last());
        let events = begun.into_iter().chain(seen.0.iter().filter(is_own)).chain(ended);
        let has_older_text = !differences.is_empty();
        let differences = without_only_name(differences, &tables(&seen.0));
        let since = earlier.started.clone();
        let tables = named_frames(&earlier.events);
        let change = AnswerChange { since, has_older_text, differences, tables };
        let events = events.cloned().collect();
        Ok(Some(self.report_answer(&earlier.turn.id, events, Some(change))))
    }

    /// Asks a question, and says what differs from an earlier answer.
    fn ask(&mut self, question: &str, earlier: Option<&Earlier>) -> anyhow::Result<ReportAnswer> {
        if self.agent.is_none() {
            let provider = provider(&self.options, key(&self.options)?)?;
            self.agent = Some(Agent::new(self.options.agent.clone(), provider));
        }
        let Some(agent) = &mut self.agent else { unreachable!("it was made") };
        // Each question is read by itself, so that its answer does not depend on which others were asked.
        agent.start_afresh();
        let asked = Question {
            text: question.to_owned(),
            images: Vec::new(),
            verdict: self.options.agent.gates.verdict,
            pick: None,
        };
        let mut seen = Seen::default();
        let turn = agent.turn(&mut self.session, &mut seen, asked, self.signals.next());
        let end = self.runtime.block_on(turn)?;
        diagnostics::warnings(end.warning.clone(), self.options.global.terminal.stderr.colour);
        demand_going_on(end.failure)?;
        if end.failure.is_some() || !is_answered(&seen.0) {
            return Err(unanswered(end.failure, end.complaint, seen.0.last()).into());
        }
        let change = earlier.map(|it| it.change(question, &seen.0));
        let id = seen.0.last().map(|it| it.turn_id.clone()).unwrap_or_default();
        Ok(self.report_answer(&id, seen.0, change))
    }

    /// Ends what runs, and keeps the variables of its code.
    pub(super) fn finish(mut self) {
        if let Some(agent) = self.agent {
            let warning = self.runtime.block_on(agent.close(self.signals.next()));
            diagnostics::warnings(warning, self.options.global.terminal.stderr.colour);
        }
    }

    fn report_answer(
        &mut self,
        id: &str,
        events: Vec<Event>,
        change: Option<AnswerChange>,
    ) -> ReportAnswer {
        let images = images(&events, self.session.dir(), &mut self.room);
        ReportAnswer { number: number(id).to_owned(), events, images, change }
    }
}

/// The events of a turn.
#[derive(Default)]
struct Seen(Vec<Event>);

impl EventSink for Seen {
    fn emit(&mut self, event: &Event) -> anyhow::Result<()> {
        self.0.push(event.clone());
        Ok(())
    }
}

/// Checks that no signal asks to end.
fn demand_going_on(failure: Option<FailureKind>) -> anyhow::Result<()> {
    match failure {
        Some(kind @ (FailureKind::Interrupted | FailureKind::Terminated)) => {
            Err(Failure::new(kind, "interrupted").into())
        }
        _ => Ok(()),
    }
}

/// Says why a question has no answer.
fn unanswered(
    failure: Option<FailureKind>,
    complaint: Option<String>,
    end: Option<&Event>,
) -> Failure {
    let (why, hint) = match end.map(|it| &it.body) {
        Some(Body::Error(error)) => (error.message.clone(), error.hint.clone()),
        Some(Body::Reply(reply)) => {
            let first = reply.text.split("\n\n").next().unwrap_or_default();
            (complaint.unwrap_or_else(|| first.to_owned()), None)
        }
        _ => (complaint.unwrap_or_else(|| "the turn has no end".to_owned()), None),
    };
    let failure = Failure::new(failure.unwrap_or(FailureKind::Contract), why);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// Returns what differs between two answers to a question, one sentence each. Empty if their words and all their
/// tables are equal.
fn differences(question: &str, then: &[Event], now: &[Event]) -> Vec<String> {
    let (old, new) = (tables(then), tables(now));
    let is_ordered = asks_for_order(question);
    let mut found = Vec::new();
    for table in &new {
        if let Some(other) = old.iter().find(|it| it.logical_name == table.logical_name) {
            let texts = frames(&other.frame(), &table.frame(), is_ordered);
            found.extend(
                texts.into_iter().map(|it| format!("table `{}`: {it}", table.logical_name)),
            );
        }
    }
    let (before, after) = (words(then), words(now));
    // A table that both answers have says what differs more plainly than their words.
    if found.is_empty() && before != after {
        found.push(format!("the answer was: {}", before.replace("**", "")));
    }
    found.extend(without(&old, &new).map(|it| format!("there was a table `{it}`")));
    found.extend(without(&new, &old).map(|it| format!("the table `{it}` is new")));
    without_only_name(found, &new)
}

/// Returns the names of the tables that have no counterpart of that name.
fn without<'a>(
    tables: &'a [&DataFrame],
    others: &'a [&DataFrame],
) -> impl Iterator<Item = &'a str> {
    let names = tables.iter().map(|it| it.logical_name.as_str());
    names.filter(|name| others.iter().all(|it| it.logical_name != *name))
}

/// Leaves out the name of the table where there is only one.
fn without_only_name(differences: Vec<String>, tables: &[&DataFrame]) -> Vec<String> {
    let [only] = tables else { return differences };
    let prefix = format!("table `{}`: ", only.logical_name);
    let plain = |it: String| it.strip_prefix(&prefix).map_or(it.clone(), str::to_owned);
    differences.into_iter().map(plain).collect()
}

fn tables(events: &[Event]) -> Vec<&DataFrame> {
    let tables = events.iter().filter_map(|it| match &it.body {
        Body::DataFrame(table) if table.encoding == Encoding::Json => Some(table),
        _ => None,
    });
    tables.collect()
}

fn named_frames(events: &[Event]) -> Vec<(String, Frame)> {
    tables(events).into_iter().map(|it| (it.logical_name.clone(), it.frame())).collect()
}

/// Returns the first paragraph of an answer.
fn words(events: &[Event]) -> &str {
    match events.last().map(|it| &it.body) {
        Some(Body::Reply(reply)) => reply.text.split("\n\n").next().unwrap_or_default(),
        _ => "",
    }
}
