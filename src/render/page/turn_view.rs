//! A turn as described by its events, for a page: its outcome, and each step in order.

use jiff::Timestamp;
use serde_json::Value;

use csv_agent_types::conversation::Usage;
use csv_agent_types::event::{
    Body, CallError, CallStatus, ChartDrawn, Confinement, DataFrame, ErrorBody, Event, ReplyBody,
    Status, code_of,
};
use csv_agent_types::redaction::Redaction;

/// A turn that can be drawn.
#[derive(Default)]
pub(super) struct TurnView<'a> {
    /// The start of the turn.
    pub started: Option<Timestamp>,
    /// As the user asked it.
    pub question: &'a str,
    /// The name that the user gave.
    pub model: &'a str,
    /// The name of the provider.
    pub provider: &'a str,
    /// The version of csv-agent.
    pub version: &'a str,
    /// Names of the datasets that the model could see.
    pub datasets: &'a [String],
    /// What was withheld; `None` when nothing was.
    pub withheld: Option<&'a Redaction>,
    /// The confinement of its code; `None` when no code ran.
    pub sandbox: Option<&'a Confinement>,
    /// In the order of their events.
    pub tables: Vec<&'a DataFrame>,
    /// In the order of their events.
    pub charts: Vec<&'a ChartDrawn>,
    /// What happened, in order, each with the milliseconds since the turn began.
    pub steps: Vec<(i64, ActivityStep<'a>)>,
    /// The duration of the turn until its last event, in milliseconds.
    pub lasted_ms: i64,
    /// How it ended; `None` when no event reports that.
    pub ending: Option<TurnOutcome<'a>>,
}

/// How a turn ended.
#[derive(Clone, Copy)]
pub(super) enum TurnOutcome<'a> {
    /// With an answer.
    Reply(&'a ReplyBody),
    /// Without one.
    Error(&'a ErrorBody),
}

/// Something that happened.
pub(super) enum ActivityStep<'a> {
    /// A request to the model, and the cost of its response if there was one.
    Round(u32, Option<&'a Usage>),
    /// The model's reasoning.
    Thought(&'a str),
    /// A tool call.
    Call(CallView<'a>),
    /// A progress message.
    Note(&'a str),
    /// A failed request that was retried: the message, and the reason.
    Retry(&'a str, &'a str),
    Warning(&'a str),
}

/// A tool call and its result.
pub(super) struct CallView<'a> {
    /// Pairs the call with its result.
    pub id: &'a str,
    /// Number in the turn, from 1.
    pub number: usize,
    /// As the model wrote it.
    pub name: &'a str,
    /// A short label for people.
    pub label: &'a str,
    /// `None` when they are not a JSON object.
    pub arguments: Option<&'a Value>,
    /// The raw text, when they are not one.
    pub arguments_raw: Option<&'a str>,
    /// `None` when the turn ended first.
    pub result: Option<CallOutcome<'a>>,
    /// Indices of its tables among those of the turn.
    pub tables: Vec<usize>,
    /// Indices of its charts among those of the turn.
    pub charts: Vec<usize>,
    /// Charts that could not be drawn: name and reason.
    pub rejected: Vec<(&'a str, &'a str)>,
}

/// The result of a call.
pub(super) struct CallOutcome<'a> {
    /// How it ended.
    pub status: CallStatus,
    /// Wall-clock time.
    pub duration_ms: u64,
    /// What the model read.
    pub result: &'a Value,
    /// What failed.
    pub error: Option<&'a CallError>,
}

impl<'a> CallView<'a> {
    /// Returns the code that the call ran, if it ran any.
    pub(super) fn code(&self) -> Option<&'a str> {
        code_of(self.arguments?)
    }

    /// Returns whether the call failed or did not finish.
    pub(super) fn failed(&self) -> bool {
        self.result.as_ref().is_none_or(|it| it.status != CallStatus::Ok)
    }
}

impl<'a> TurnView<'a> {
    pub(super) fn of(events: &'a [Event]) -> TurnView<'a> {
        let mut told = TurnView::default();
        for event in events {
            let at = event.ts.parse::<Timestamp>().ok();
            told.started = told.started.or(at);
            let since = match (told.started, at) {
                (Some(from), Some(to)) => to.as_millisecond() - from.as_millisecond(),
                _ => told.lasted_ms,
            };
            told.lasted_ms = since.max(told.lasted_ms);
            told.add(&event.body, since);
        }
        told
    }

    fn add(&mut self, body: &'a Body, at: i64) {
        match body {
            Body::Status(status) => self.add_status(status, at),
            Body::ToolCall { call_id, name, label, arguments, arguments_raw, .. } => {
                let call = CallView {
                    id: call_id,
                    number: self.calls().count() + 1,
                    name,
                    label,
                    arguments: arguments.as_ref(),
                    arguments_raw: arguments_raw.as_deref(),
                    result: None,
                    tables: Vec::new(),
                    charts: Vec::new(),
                    rejected: Vec::new(),
                };
                self.steps.push((at, ActivityStep::Call(call)));
            }
            Body::ToolResult { call_id, status, duration_ms, result, error, .. } => {
                let outcome = CallOutcome {
                    status: *status,
                    duration_ms: *duration_ms,
                    result,
                    error: error.as_ref(),
                };
                if let Some(call) = self.call_mut(call_id) {
                    call.result = Some(outcome);
                }
            }
            Body::DataFrame(table) => {
                let place = self.tables.len();
                self.tables.push(table);
                if let Some(call) = self.call_mut(&table.call_id) {
                    call.tables.push(place);
                }
            }
            Body::Chart(chart) => {
                let place = self.charts.len();
                self.charts.push(chart);
                if let Some(call) = self.call_mut(&chart.call_id) {
                    call.charts.push(place);
                }
            }
            Body::ChartRejected { call_id, logical_name, reason, .. } => {
                if let Some(call) = self.call_mut(call_id) {
                    call.rejected.push((logical_name, reason));
                }
            }
            Body::Reply(reply) => self.ending = Some(TurnOutcome::Reply(reply)),
            Body::Error(error) if error.fatal => self.ending = Some(TurnOutcome::Error(error)),
            Body::Error(error) => self.steps.push((at, ActivityStep::Warning(&error.message))),
            // The reply or the error contains the whole text.
            Body::Partial { .. } => {}
        }
    }

    fn add_status(&mut self, status: &'a Status, at: i64) {
        let step = match status {
            Status::Started { version, model, provider, datasets, question, withheld, .. } => {
                (self.question, self.model, self.version) = (question, model, version);
                self.provider = provider;
                self.datasets = datasets;
                self.withheld = Some(&**withheld).filter(|it| !it.is_nothing());
                return;
            }
            Status::ModelRequest { round, .. } => ActivityStep::Round(*round, None),
            Status::ModelResponse { round, usage, .. } => {
                let asked = self.steps.iter_mut().rev().find_map(|(_, it)| match it {
                    ActivityStep::Round(number, told) if number == round => Some(told),
                    _ => None,
                });
                if let Some(told) = asked {
                    *told = Some(usage);
                }
                return;
            }
            Status::Reasoning { text, .. } => ActivityStep::Thought(text),
            Status::Executing { .. } | Status::Cluster { .. } => return,
            Status::Retrying { message, reason, .. } => ActivityStep::Retry(message, reason),
            Status::Loading { message }
            | Status::Container { message, .. }
            | Status::Compacting { message, .. }
            | Status::Compacted { message, .. } => ActivityStep::Note(message),
            Status::Worker { message, sandbox } => {
                self.sandbox = Some(sandbox);
                ActivityStep::Note(message)
            }
            Status::Warning { message, .. } => ActivityStep::Warning(message),
        };
        self.steps.push((at, step));
    }

    /// Returns the calls in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = &CallView<'a>> {
        self.steps.iter().filter_map(|(_, it)| match it {
            ActivityStep::Call(call) => Some(call),
            _ => None,
        })
    }

    fn call_mut(&mut self, id: &str) -> Option<&mut CallView<'a>> {
        self.steps.iter_mut().rev().find_map(|(_, it)| match it {
            ActivityStep::Call(call) if call.id == id => Some(call),
            _ => None,
        })
    }

    /// Returns the answer, if there is one.
    pub(super) fn reply(&self) -> Option<&'a ReplyBody> {
        match self.ending {
            Some(TurnOutcome::Reply(reply)) => Some(reply),
            _ => None,
        }
    }
}
