//! The events of a turn: numbered, written to disk, emitted; and the open calls.

use std::time::Instant;

use csv_agent_session::store::now_utc;
use csv_agent_session::turns::TurnDir;
use csv_agent_sink::EventSink;
use csv_agent_types::conversation::ToolCall;
use csv_agent_types::event::{Body, Event, VERSION};
use csv_agent_types::status::FailureKind;

use super::TurnInterrupt;

/// Emits the events of a turn.
pub(super) struct EventLog<'a> {
    dir: TurnDir,
    sink: &'a mut dyn EventSink,
    session_id: String,
    seq: u64,
    /// Each with the time it began to run, unless it waits for earlier ones.
    open_calls: Vec<(ToolCall, Option<Instant>)>,
}

impl<'a> EventLog<'a> {
    /// Starts an empty log.
    pub(super) fn new(dir: TurnDir, sink: &'a mut dyn EventSink, session_id: &str) -> Self {
        EventLog { dir, sink, session_id: session_id.to_owned(), seq: 0, open_calls: Vec::new() }
    }

    /// Returns the turn's directory.
    pub(super) fn dir(&self) -> &TurnDir {
        &self.dir
    }

    /// Writes an event to disk and emits it. It is written even when the sink is closed. Fails when the event
    /// cannot be written, or the sink fails: a reader that closes early ends the turn.
    pub(super) fn emit(&mut self, body: Body) -> Result<(), TurnInterrupt> {
        let event = Event {
            v: VERSION,
            seq: self.seq,
            ts: now_utc(),
            session_id: self.session_id.clone(),
            turn_id: self.dir.id().to_owned(),
            body,
        };
        self.seq += 1;
        // Live readers get the event even when nothing can be written any more.
        let logged = self.dir.log(&event);
        self.sink.emit(&event).map_err(|error| {
            if is_broken_pipe(&error) {
                return TurnInterrupt::Stopped(FailureKind::BrokenPipe);
            }
            TurnInterrupt::Failed(error)
        })?;
        Ok(logged?)
    }

    /// Marks a call as open.
    pub(super) fn open(&mut self, call: &ToolCall) {
        self.open_calls.push((call.clone(), None));
    }

    /// Records when an open call began to run.
    pub(super) fn runs(&mut self, call: &ToolCall, since: Instant) {
        if let Some(open) = self.open_calls.iter_mut().find(|it| it.0.call_id == call.call_id) {
            open.1 = Some(since);
        }
    }

    /// Marks a call as closed.
    pub(super) fn close(&mut self, call: &ToolCall) {
        self.open_calls.retain(|it| it.0.call_id != call.call_id);
    }

    /// Returns the open calls, each with the time it began to run, and clears them.
    pub(super) fn take_open(&mut self) -> Vec<(ToolCall, Option<Instant>)> {
        std::mem::take(&mut self.open_calls)
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io_error = error.chain().find_map(|it| it.downcast_ref::<std::io::Error>());
    io_error.is_some_and(|it| it.kind() == std::io::ErrorKind::BrokenPipe)
}
