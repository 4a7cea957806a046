//! A running turn: its events, its clock, what it has used and made.

mod clock;
mod event_log;
mod record;
mod tally;

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use csv_agent_chart::ChartStyle;
use csv_agent_render::blocks;
use csv_agent_session::Session;
use csv_agent_session::egress_store::EgressFile;
use csv_agent_session::store::now_utc;
use csv_agent_session::turns::TurnDir;
use csv_agent_sink::EventSink;
use csv_agent_sink::artifacts::TurnFiles;
use csv_agent_tools::runs_code;
use csv_agent_types::conversation::ToolCall;
use csv_agent_types::event::{Body, CallError, CallStatus, ReplyBody, Shown, Status, ToolOutput};
use csv_agent_types::status::{ExitCodes, FailureKind, StopReason};

use crate::egress::Ledger;
use crate::grounding::Grounds;

use clock::{Clock, Waited};
use event_log::EventLog;
use record::TurnRecord;
use tally::Tally;

pub(crate) use clock::Stop;

/// Why a turn ends from outside its loop.
#[derive(Debug)]
pub(crate) enum TurnInterrupt {
    /// Stopped by the user, the system, or a closed stdout.
    Stopped(FailureKind),
    /// The turn's time limit is reached.
    TimedOut,
    /// A failure that no further round can repair.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for TurnInterrupt {
    fn from(error: anyhow::Error) -> Self {
        TurnInterrupt::Failed(error)
    }
}

/// A running turn.
pub(crate) struct Turn<'a> {
    log: EventLog<'a>,
    clock: Clock<'a>,
    partial: PartialText,
    /// Tokens, cost and calls used.
    pub(crate) tally: Tally,
    /// Tables, charts, files and findings made.
    pub(crate) record: TurnRecord,
    /// The current round, from 1.
    pub(crate) round: u32,
    /// Whether the model has tools to compute with.
    pub(crate) is_computed: bool,
    /// How charts are drawn.
    pub(crate) chart_style: ChartStyle,
    /// Whether files of the turn remain after the process ends.
    keeps_files: bool,
    exit_codes: ExitCodes,
}

/// The text of the answer as it streams.
struct PartialText {
    text: String,
    item: u32,
    /// Whether it is shown. It is not when the answer is JSON for a program.
    is_shown: bool,
}

impl<'a> Turn<'a> {
    /// Starts a turn in its directory within the session.
    pub(crate) fn begin(
        session: &Session,
        dir: TurnDir,
        sink: &'a mut dyn EventSink,
        stop: Stop<'a>,
        timeout: Option<Duration>,
        exit_codes: ExitCodes,
    ) -> Turn<'a> {
        let mut grounds = Grounds::default();
        // Answers may state today's date.
        grounds.text(now_utc().split('T').next().unwrap_or_default());
        let ledger = Ledger::begin(session.catalog(), EgressFile::of_turn(dir.path()));
        Turn {
            log: EventLog::new(dir, sink, session.id()),
            clock: Clock::new(stop, timeout),
            partial: PartialText { text: String::new(), item: 0, is_shown: true },
            tally: Tally::new(session.total_tokens()),
            record: TurnRecord::new(grounds, ledger),
            round: 0,
            is_computed: true,
            chart_style: ChartStyle::default(),
            keeps_files: session.is_kept(),
            exit_codes,
        }
    }

    /// Stops showing text as it streams: the answer is JSON for a program.
    pub(crate) fn hide_partial(&mut self) {
        self.partial.is_shown = false;
    }

    /// Returns the turn's directory.
    pub(crate) fn dir(&self) -> &TurnDir {
        self.log.dir()
    }

    /// Returns the exit status of a process whose turn ends so.
    pub(crate) fn exit_code(&self, failure: Option<FailureKind>) -> u8 {
        (self.exit_codes)(failure)
    }

    /// Returns the time since the turn began.
    pub(crate) fn duration_ms(&self) -> u64 {
        self.clock.duration_ms()
    }

    /// Returns the reply's members that the turn itself knows; the others have the values of a complete
    /// answer without a verdict.
    pub(crate) fn reply_body(&self, text: &str, stop_reason: StopReason) -> ReplyBody {
        ReplyBody {
            text: text.to_owned(),
            blocks: blocks::blocks(text, &self.record.charts),
            computed: self.is_computed,
            stop_reason,
            tables: self.record.tables.iter().map(|it| it.name.clone()).collect(),
            charts: self.record.charts.iter().map(|it| it.logical_name.clone()).collect(),
            files: self.record.files.clone(),
            tool_calls: self.tally.n_calls,
            usage: self.tally.report(),
            egress: self.record.ledger.record().all,
            duration_ms: self.duration_ms(),
            ..ReplyBody::default()
        }
    }

    /// Returns the text of the answer that has streamed so far.
    pub(crate) fn partial_text(&self) -> Option<String> {
        let text = &self.partial.text;
        (!text.is_empty()).then(|| text.clone())
    }

    /// Returns the sender for messages of background work.
    pub(crate) fn progress(&self) -> UnboundedSender<ProgressMessage> {
        self.clock.sender()
    }

    /// Starts the text of another message.
    pub(crate) fn next_message(&mut self) {
        self.partial.text.clear();
        self.partial.item += 1;
    }

    /// Writes an event to disk and emits it. It is written even when the sink is closed.
    ///
    /// Fails when the event cannot be written, or the sink fails: a reader that closes early ends the turn.
    pub(crate) fn emit(&mut self, body: Body) -> Result<(), TurnInterrupt> {
        self.log.emit(body)
    }

    /// Emits a status event.
    ///
    /// Fails as [`Turn::emit`] does.
    pub(crate) fn status(&mut self, status: Status) -> Result<(), TurnInterrupt> {
        self.emit(Body::Status(status))
    }

    /// Waits for work and reports its messages meanwhile.
    ///
    /// Fails when the turn is stopped or its time is over first; the work is then dropped.
    pub(crate) async fn wait<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, TurnInterrupt> {
        let mut work = std::pin::pin!(work);
        loop {
            match self.clock.wait(work.as_mut()).await? {
                Waited::Progress(message) => self.tell(message)?,
                Waited::Done(done) => {
                    while let Some(message) = self.clock.next_message() {
                        self.tell(message)?;
                    }
                    return Ok(done);
                }
            }
        }
    }

    /// Waits for work that sends data, and checks that the egress record was written. Fails as [`Turn::wait`]
    /// does, and when the egress record cannot be written.
    pub(crate) async fn wait_sent<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, TurnInterrupt> {
        let done = self.wait(work).await?;
        self.record.ledger.check()?;
        Ok(done)
    }

    /// Emits that the model calls a tool. Fails as [`Turn::emit`] does.
    pub(crate) fn open_call(
        &mut self,
        call: &ToolCall,
        round: u32,
        label: String,
    ) -> Result<(), TurnInterrupt> {
        let arguments = serde_json::from_str(&call.arguments).ok();
        let arguments: Option<Value> = arguments.filter(Value::is_object);
        self.log.open(call);
        self.emit(Body::ToolCall {
            call_id: call.call_id.clone(),
            round,
            name: call.name.clone(),
            label,
            arguments_raw: arguments.is_none().then(|| call.arguments.clone()),
            arguments,
        })
    }

    /// Records when a call began to run, in case it does not end by itself.
    pub(crate) fn call_runs(&mut self, call: &ToolCall, since: Instant) {
        self.log.runs(call, since);
    }

    /// Emits how a call ended. Fails as [`Turn::emit`] does.
    pub(crate) fn close_call(
        &mut self,
        call: &ToolCall,
        closed: CallResult,
    ) -> Result<(), TurnInterrupt> {
        if closed.status == CallStatus::Ok && runs_code(&call.name) {
            self.record.last_run = Some(call.call_id.clone());
        }
        self.log.close(call);
        self.tally.n_calls += 1;
        self.record.grounds.call(closed.status, &closed.result);
        self.emit(Body::ToolResult {
            call_id: call.call_id.clone(),
            name: call.name.clone(),
            status: closed.status,
            duration_ms: closed.duration_ms,
            result: closed.result,
            truncated: closed.truncated,
            bytes_to_model: closed.bytes_to_model,
            error: closed.error,
        })
    }

    /// Closes the calls that are still open at the end of the turn.
    pub(crate) fn cancel_calls(&mut self) {
        for (call, began) in self.log.take_open() {
            let message = "the turn ended before the call did".to_owned();
            let closed = CallResult {
                status: CallStatus::Cancelled,
                duration_ms: began.map_or(0, milliseconds_since),
                result: ToolOutput::text(message.clone()).result,
                truncated: false,
                bytes_to_model: 0,
                error: Some(CallError { code: "cancelled".to_owned(), message }),
            };
            // The turn is ending for another reason, which the terminal event reports.
            let _ = self.close_call(&call, closed);
        }
    }

    /// Writes the files of a tool call's output, and returns the event that shows it.
    ///
    /// Fails when a file cannot be written, or does not match the worker's description.
    pub(crate) fn store(
        &self,
        call: &ToolCall,
        shown: Shown,
        session: &Path,
        scratch: &Path,
    ) -> anyhow::Result<Body> {
        let (turn_dir, chart_style) = (self.log.dir().path(), self.chart_style);
        let files = TurnFiles { session_dir: session, turn_dir, scratch, chart_style };
        let stored = files.store(&call.call_id, shown);
        stored.with_context(|| format!("cannot keep what `{}` sent", call.name))
    }

    /// Shows the user what was stored.
    ///
    /// Fails as [`Turn::emit`] does.
    pub(crate) fn show(&mut self, mut body: Body) -> Result<(), TurnInterrupt> {
        self.record.show(&body);
        if let Body::DataFrame(table) = &mut body
            && !self.keeps_files
        {
            table.artifact = None;
        }
        self.emit(body)
    }

    fn tell(&mut self, message: ProgressMessage) -> Result<(), TurnInterrupt> {
        match message {
            ProgressMessage::Delta(delta) => {
                self.partial.text.push_str(&delta);
                if !self.partial.is_shown {
                    return Ok(());
                }
                self.emit(Body::Partial { delta, item: self.partial.item })
            }
            ProgressMessage::Superseded => {
                self.next_message();
                Ok(())
            }
            ProgressMessage::Hosted(name) => {
                let message = format!("the provider runs `{name}`");
                self.status(Status::Executing { round: self.round, message })
            }
            ProgressMessage::Status(status) => self.status(*status),
        }
    }
}

/// How a call ended.
pub(crate) struct CallResult {
    /// The outcome.
    pub status: CallStatus,
    /// Wall-clock time.
    pub duration_ms: u64,
    /// The structured output that the model reads.
    pub result: Value,
    /// Whether the model got only a part of the output.
    pub truncated: bool,
    /// Bytes of the text sent to the model.
    pub bytes_to_model: u64,
    /// The error, if it failed.
    pub error: Option<CallError>,
}

/// Returns the milliseconds since a moment.
pub(crate) fn milliseconds_since(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// What work in the background has to tell while the turn waits for it.
#[derive(Debug)]
pub(crate) enum ProgressMessage {
    /// Text of the answer.
    Delta(String),
    /// The text so far came from an attempt that broke.
    Superseded,
    /// The provider runs one of its tools.
    Hosted(String),
    /// Anything that is an event as it is.
    Status(Box<Status>),
}
