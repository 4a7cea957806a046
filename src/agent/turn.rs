//! A turn under way: its events, its clock, and what may end it from outside.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use csv_agent_chart::ChartStyle;
use csv_agent_render::blocks;
use csv_agent_session::Session;
use csv_agent_session::egress_store::EgressFile;
use csv_agent_session::store::now_utc;
use csv_agent_session::turns::TurnDir;
use csv_agent_sink::EventSink;
use csv_agent_sink::artifacts::TurnFiles;
use csv_agent_tools::runs_code;
use csv_agent_types::conversation::{Finding, Price, ToolCall, Usage};
use csv_agent_types::event::{
    Body, CallError, CallStatus, ChartDrawn, Event, FetchedFile, ReplyBody, Shown, Status,
    ToolOutput, UsageReport, VERSION,
};
use csv_agent_types::status::{ExitStatus, StopReason};

use crate::egress::Ledger;
use crate::grounding::Grounds;
use crate::progress::ProgressMessage;

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

/// The stop signal: resolves, at most once, to the status that the signal asks for.
pub(crate) type Stop<'a> = Pin<Box<dyn Future<Output = ExitStatus> + 'a>>;

/// A turn under way.
pub struct Turn<'a> {
    dir: TurnDir,
    sink: &'a mut dyn EventSink,
    session_id: String,
    session_tokens: u64,
    // Whether files of the turn are there when the process has ended.
    keeps_files: bool,
    /// How charts are painted.
    pub chart_style: ChartStyle,
    seq: u64,
    started: Instant,
    deadline: Option<Instant>,
    stop: Stop<'a>,
    // Senders are given to the provider's call-back and to the task that starts Python. Both end with
    // the turn at the latest; what is still in the channel then is not told.
    news: (UnboundedSender<ProgressMessage>, UnboundedReceiver<ProgressMessage>),
    /// Each with when it began to run, unless it waits for those before it.
    open_calls: Vec<(ToolCall, Option<Instant>)>,
    partial: String,
    partial_item: u32,
    /// Whether text is shown as it streams. Not when the answer is JSON for a program.
    pub shows_partial: bool,
    /// Whether the model has tools to compute with.
    pub is_computed: bool,
    /// The round under way, from 1.
    pub round: u32,
    /// Tokens so far.
    pub usage: Usage,
    /// What they cost, if somebody said so.
    pub price: Option<Price>,
    /// Tokens of the last request and its response: what the conversation has grown to.
    pub context_tokens: u64,
    /// The tables sent, in order.
    pub tables: Vec<TableSent>,
    // The call that ran code last.
    last_run: Option<String>,
    /// Logical names of the charts sent.
    pub charts: Vec<ChartDrawn>,
    /// Files that code at the provider made and that were fetched, in order.
    pub files: Vec<FetchedFile>,
    /// What the thresholds found, without the model.
    pub rated: Vec<Finding>,
    /// What numbers of the answer may come from.
    pub grounds: Grounds,
    /// Tool calls answered.
    pub n_calls: u32,
    /// What left the machine.
    pub ledger: Ledger,
    /// The code that ran, cell by cell.
    pub cells: Vec<String>,
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
        let started = Instant::now();
        let mut grounds = Grounds::default();
        // Answers may say as of which day they hold.
        grounds.text(now_utc().split('T').next().unwrap_or_default());
        let ledger = Ledger::begin(session.catalog(), EgressFile::of_turn(dir.path()));
        Turn {
            dir,
            sink,
            session_id: session.id().to_owned(),
            session_tokens: session.total_tokens(),
            keeps_files: session.is_kept(),
            chart_style: ChartStyle::default(),
            seq: 0,
            started,
            deadline: timeout.map(|it| started + it),
            stop,
            news: unbounded_channel(),
            open_calls: Vec::new(),
            partial: String::new(),
            partial_item: 0,
            shows_partial: true,
            is_computed: true,
            round: 0,
            usage: Usage::default(),
            price: None,
            context_tokens: 0,
            tables: Vec::new(),
            last_run: None,
            charts: Vec::new(),
            files: Vec::new(),
            rated: Vec::new(),
            grounds,
            n_calls: 0,
            ledger,
            cells: Vec::new(),
        }
    }

    /// Returns the turn's directory.
    pub fn dir(&self) -> &TurnDir {
        &self.dir
    }

    /// Returns the time since the turn began.
    pub fn duration_ms(&self) -> u64 {
        milliseconds_since(self.started)
    }

    /// Returns the tokens of the turn and of its session.
    pub fn usage_report(&self) -> UsageReport {
        let total_tokens = self.usage.total_tokens();
        UsageReport {
            turn: self.usage,
            total_tokens,
            session_total_tokens: self.session_tokens.saturating_add(total_tokens),
            cost_usd: self.cost_usd(),
        }
    }

    /// Returns the reply as far as the turn itself knows it; the rest is that of an answer without a verdict
    /// that ends well.
    pub fn reply_body(&self, text: &str, stop_reason: StopReason) -> ReplyBody {
        ReplyBody {
            text: text.to_owned(),
            blocks: blocks::blocks(text, &self.charts),
            assessment: None,
            findings: Vec::new(),
            output: None,
            ungrounded: Vec::new(),
            computed: self.is_computed,
            stop_reason,
            tables: self.tables.iter().map(|it| it.name.clone()).collect(),
            charts: self.charts.iter().map(|it| it.logical_name.clone()).collect(),
            files: self.files.clone(),
            rounds: 0,
            tool_calls: self.n_calls,
            usage: self.usage_report(),
            egress: self.ledger.record().all,
            duration_ms: self.duration_ms(),
            code_path: None,
            exit_code: 0,
        }
    }

    /// Returns what the turn has cost so far, if the price of its model is known.
    pub fn cost_usd(&self) -> Option<f64> {
        self.price.map(|it| it.cost(&self.usage))
    }

    /// Returns whether the turn has cost this much, in USD.
    pub fn has_cost(&self, usd: f64) -> bool {
        self.cost_usd().is_some_and(|it| usd <= it)
    }

    /// Returns the text of the answer as far as it has streamed.
    pub fn partial_text(&self) -> Option<String> {
        (!self.partial.is_empty()).then(|| self.partial.clone())
    }

    /// Returns where background work sends its news.
    pub fn news(&self) -> UnboundedSender<ProgressMessage> {
        self.news.0.clone()
    }

    /// Starts the text of another message.
    pub fn next_message(&mut self) {
        self.partial.clear();
        self.partial_item += 1;
    }

    /// Writes an event down and tells it. It is written down even when nobody can be told any more.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written down, or the sink fails: a reader that went away ends the turn.
    pub fn emit(&mut self, body: Body) -> Result<(), TurnInterrupt> {
        let event = Event {
            v: VERSION,
            seq: self.seq,
            ts: now_utc(),
            session_id: self.session_id.clone(),
            turn_id: self.dir.id().to_owned(),
            body,
        };
        self.seq += 1;
        // Who reads along is told even when nothing can be written down any more.
        let logged = self.dir.log(&event);
        self.sink.emit(&event).map_err(|error| {
            if is_broken_pipe(&error) {
                return TurnInterrupt::Stopped(ExitStatus::BrokenPipe);
            }
            TurnInterrupt::Failed(error)
        })?;
        Ok(logged?)
    }

    /// Tells where the turn is.
    ///
    /// # Errors
    ///
    /// Fails as [`Turn::emit`] does.
    pub fn status(&mut self, status: Status) -> Result<(), TurnInterrupt> {
        self.emit(Body::Status(status))
    }

    /// Waits for work, telling its news meanwhile.
    ///
    /// # Errors
    ///
    /// Fails when the turn is stopped or its time is over first; the work is dropped then.
    pub async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Result<T, TurnInterrupt> {
        let mut work = std::pin::pin!(work);
        loop {
            let deadline = async {
                match self.deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                    None => std::future::pending().await,
                }
            };
            // Whichever branch loses is polled again in the next turn of the loop; only when the turn
            // ends is the work dropped, and with it the request or the wait for the worker.
            let news = tokio::select! {
                biased;
                status = &mut self.stop => return Err(TurnInterrupt::Stopped(status)),
                () = deadline => return Err(TurnInterrupt::TimedOut),
                news = self.news.1.recv() => news,
                done = &mut work => {
                    while let Ok(news) = self.news.1.try_recv() {
                        self.tell(news)?;
                    }
                    return Ok(done);
                }
            };
            if let Some(news) = news {
                self.tell(news)?;
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
        self.ledger.check()?;
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
        self.open_calls.push((call.clone(), None));
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
        if let Some(open) = self.open_calls.iter_mut().find(|it| it.0.call_id == call.call_id) {
            open.1 = Some(since);
        }
    }

    /// Tells how a call ended.
    ///
    /// # Errors
    ///
    /// Fails as [`Turn::emit`] does.
    pub fn close_call(&mut self, call: &ToolCall, closed: CallResult) -> Result<(), TurnInterrupt> {
        if closed.status == CallStatus::Ok && runs_code(&call.name) {
            self.last_run = Some(call.call_id.clone());
        }
        self.open_calls.retain(|it| it.0.call_id != call.call_id);
        self.n_calls += 1;
        self.grounds.call(closed.status, &closed.result);
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

    /// Returns the call that sent a table, the last of its name, or else the one that ran code last.
    pub fn call_of(&self, table: Option<&str>) -> Option<String> {
        let sent = self.tables.iter().rev().find(|it| Some(it.name.as_str()) == table);
        sent.map(|it| &it.call_id).or(self.last_run.as_ref()).cloned()
    }

    /// Closes the calls that the end of the turn left open.
    pub fn cancel_calls(&mut self) {
        for (call, began) in std::mem::take(&mut self.open_calls) {
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
        let (turn_dir, chart_style) = (self.dir.path(), self.chart_style);
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
        match &body {
            Body::DataFrame(table) => {
                self.grounds.sent(table);
                let (name, call_id) = (table.logical_name.clone(), table.call_id.clone());
                self.tables.push(TableSent { name, call_id });
            }
            Body::Chart(chart) => {
                self.grounds.result(&chart.data);
                self.charts.push(chart.as_ref().clone());
            }
            _ => {}
        }
        self.emit(body)
    }

    fn tell(&mut self, news: ProgressMessage) -> Result<(), TurnInterrupt> {
        match news {
            ProgressMessage::Delta(delta) => {
                self.partial.push_str(&delta);
                if !self.shows_partial {
                    return Ok(());
                }
                self.emit(Body::Partial { delta, item: self.partial_item })
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

/// A table that was sent.
pub struct TableSent {
    /// Its logical name.
    pub name: String,
    /// The call that sent it.
    pub call_id: String,
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

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io_error = error.chain().find_map(|it| it.downcast_ref::<std::io::Error>());
    io_error.is_some_and(|it| it.kind() == std::io::ErrorKind::BrokenPipe)
}
