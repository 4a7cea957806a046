//! A turn under way: its events, its clock, what it has used and made.

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
use csv_agent_types::status::{ExitStatus, StopReason};

use crate::egress::Ledger;
use crate::grounding::Grounds;

use clock::{Clock, Waited};
use event_log::EventLog;
use record::TurnRecord;
use tally::Tally;

pub(crate) use clock::Stop;

/// What ends a turn from outside its loop.
#[derive(Debug)]
pub enum TurnInterrupt {
    /// The user, the system, or the reader of stdout.
    Stopped(ExitStatus),
    /// The turn's time is over.
    TimedOut,
    /// Something failed that no further round mends.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for TurnInterrupt {
    fn from(error: anyhow::Error) -> Self {
        TurnInterrupt::Failed(error)
    }
}

/// A turn under way.
pub struct Turn<'a> {
    log: EventLog<'a>,
    clock: Clock<'a>,
    partial: PartialText,
    /// What was used.
    pub(crate) tally: Tally,
    /// What was made.
    pub(crate) record: TurnRecord,
    /// The round under way, from 1.
    pub(crate) round: u32,
    /// Whether the model has tools to compute with.
    pub(crate) is_computed: bool,
    /// How charts are painted.
    pub(crate) chart_style: ChartStyle,
    /// Whether files of the turn are there when the process has ended.
    keeps_files: bool,
}

/// The text of the answer as it streams.
struct PartialText {
    text: String,
    item: u32,
    /// Whether it is shown. Not when the answer is JSON for a program.
    is_shown: bool,
}

impl<'a> Turn<'a> {
    /// Starts a turn of the session, in its directory.
    pub fn begin(
        session: &Session,
        dir: TurnDir,
        sink: &'a mut dyn EventSink,
        stop: Stop<'a>,
        timeout: Option<Duration>,
    ) -> Turn<'a> {
        let mut grounds = Grounds::default();
        // Answers may say as of which day they hold.
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
        }
    }

    /// Shows no text as it streams: the answer is JSON for a program.
    pub(crate) fn hide_partial(&mut self) {
        self.partial.is_shown = false;
    }

    /// Returns the turn's directory.
    pub fn dir(&self) -> &TurnDir {
        self.log.dir()
    }

    /// Returns the time since the turn began.
    pub fn duration_ms(&self) -> u64 {
        self.clock.duration_ms()
    }

    /// Returns the reply as far as the turn itself knows it; the rest is that of an answer without a verdict
    /// that ends well.
    pub fn reply_body(&self, text: &str, stop_reason: StopReason) -> ReplyBody {
        ReplyBody {
            text: text.to_owned(),
            blocks: blocks::blocks(text, &self.record.charts),
            assessment: None,
            findings: Vec::new(),
            output: None,
            ungrounded: Vec::new(),
            computed: self.is_computed,
            stop_reason,
            tables: self.record.tables.iter().map(|it| it.name.clone()).collect(),
            charts: self.record.charts.iter().map(|it| it.logical_name.clone()).collect(),
            files: self.record.files.clone(),
            rounds: 0,
            tool_calls: self.tally.n_calls,
            usage: self.tally.report(),
            egress: self.record.ledger.record().all,
            duration_ms: self.duration_ms(),
            code_path: None,
            exit_code: 0,
        }
    }

    /// Returns the text of the answer as far as it has streamed.
    pub fn partial_text(&self) -> Option<String> {
        let text = &self.partial.text;
        (!text.is_empty()).then(|| text.clone())
    }

    /// Returns where background work sends its messages.
    pub(crate) fn progress(&self) -> UnboundedSender<ProgressMessage> {
        self.clock.sender()
    }

    /// Starts the text of another message.
    pub fn next_message(&mut self) {
        self.partial.text.clear();
        self.partial.item += 1;
    }

    /// Writes an event down and tells it. It is written down even when nobody can be told any more.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written down, or the sink fails: a reader that went away ends the turn.
    pub fn emit(&mut self, body: Body) -> Result<(), TurnInterrupt> {
        self.log.emit(body)
    }

    /// Tells where the turn is.
    ///
    /// # Errors
    ///
    /// Fails as [`Turn::emit`] does.
    pub fn status(&mut self, status: Status) -> Result<(), TurnInterrupt> {
        self.emit(Body::Status(status))
    }

    /// Waits for work, telling its messages meanwhile.
    ///
    /// # Errors
    ///
    /// Fails when the turn is stopped or its time is over first; the work is dropped then.
    pub async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, TurnInterrupt> {
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

    /// Waits for work that sends something away, and demands that this could be written down.
    ///
    /// # Errors
    ///
    /// Fails as [`Turn::wait`] does, and when the record of what left cannot be written.
    pub async fn wait_sent<T>(
        &mut self,
        work: impl Future<Output = T>,
    ) -> Result<T, TurnInterrupt> {
        let done = self.wait(work).await?;
        self.record.ledger.check()?;
        Ok(done)
    }

    /// Tells that the model asks for a tool.
    ///
    /// # Errors
    ///
    /// Fails as [`Turn::emit`] does.
    pub fn open_call(
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

    /// Takes down since when a call runs, for the case that it does not end by itself.
    pub fn call_runs(&mut self, call: &ToolCall, since: Instant) {
        self.log.runs(call, since);
    }

    /// Tells how a call ended.
    ///
    /// # Errors
    ///
    /// Fails as [`Turn::emit`] does.
    pub fn close_call(&mut self, call: &ToolCall, closed: CallResult) -> Result<(), TurnInterrupt> {
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

    /// Closes the calls that the end of the turn left open.
    pub fn cancel_calls(&mut self) {
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
            // The turn is ending for another reason, which the terminal event tells.
            let _ = self.close_call(&call, closed);
        }
    }

    /// Makes the files of what a tool call gave, and the event that shows it.
    ///
    /// # Errors
    ///
    /// Fails when a file cannot be made, or is not what the worker said it is.
    pub fn store(
        &self,
        call: &ToolCall,
        shown: Shown,
        session: &Path,
        scratch: &Path,
    ) -> anyhow::Result<Body> {
        let (turn_dir, chart_style) = (self.log.dir().path(), self.chart_style);
        let files = TurnFiles { session_dir: session, turn_dir, scratch, chart_style };
        let stored = files.store(&call.call_id, shown);
        let mut body = stored.with_context(|| format!("cannot keep what `{}` sent", call.name))?;
        if let Body::DataFrame(table) = &mut body
            && !self.keeps_files
        {
            table.artifact = None;
        }
        Ok(body)
    }

    /// Shows the user what was stored.
    ///
    /// # Errors
    ///
    /// Fails as [`Turn::emit`] does.
    pub fn show(&mut self, body: Body) -> Result<(), TurnInterrupt> {
        self.record.show(&body);
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
pub struct CallResult {
    /// The kind of ending.
    pub status: CallStatus,
    /// Wall-clock time.
    pub duration_ms: u64,
    /// What the model reads, with its structure.
    pub result: Value,
    /// Whether the model got less than there was.
    pub truncated: bool,
    /// Bytes of the text that goes to the model.
    pub bytes_to_model: u64,
    /// What failed.
    pub error: Option<CallError>,
}

/// Returns how long ago something was.
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
