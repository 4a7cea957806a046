//! The clock of a turn, and what may interrupt a wait: its timeout, a stop signal, or a progress message.

use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use csv_agent_types::status::FailureKind;

use super::{TurnInterrupt, milliseconds_since};
use crate::turn::ProgressMessage;

/// The stop signal: resolves, at most once, to how the turn then fails.
pub(crate) type Stop<'a> = Pin<Box<dyn Future<Output = FailureKind> + 'a>>;

/// When a turn began and must end, and its stop signal.
pub(super) struct Clock<'a> {
    started: Instant,
    deadline: Option<Instant>,
    stop: Stop<'a>,
    // The provider's callback and the task that starts Python hold senders. Both end with the turn at the
    // latest; messages still in the channel then are dropped.
    progress: (UnboundedSender<ProgressMessage>, UnboundedReceiver<ProgressMessage>),
}

/// The result of a wait.
pub(super) enum Waited<T> {
    /// A message of background work; the work continues.
    Progress(ProgressMessage),
    /// The result of the work.
    Done(T),
}

impl<'a> Clock<'a> {
    /// Starts the clock.
    pub(super) fn new(stop: Stop<'a>, timeout: Option<Duration>) -> Self {
        let started = Instant::now();
        let deadline = timeout.map(|it| started + it);
        Clock { started, deadline, stop, progress: unbounded_channel() }
    }

    /// Returns the time since the turn began.
    pub(super) fn duration_ms(&self) -> u64 {
        milliseconds_since(self.started)
    }

    /// Returns the sender for messages of background work.
    pub(super) fn sender(&self) -> UnboundedSender<ProgressMessage> {
        self.progress.0.clone()
    }

    /// Returns a message that was sent and not yet received.
    pub(super) fn next_message(&mut self) -> Option<ProgressMessage> {
        self.progress.1.try_recv().ok()
    }

    /// Waits for work or for a message, whichever comes first. Fails when the turn is stopped or its time is
    /// over first.
    pub(super) async fn wait<T>(
        &mut self,
        mut work: Pin<&mut impl Future<Output = T>>,
    ) -> Result<Waited<T>, TurnInterrupt> {
        loop {
            let deadline = async {
                match self.deadline {
                    Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
                    None => std::future::pending().await,
                }
            };
            // The next wait polls the losing branch again. Only the end of the turn drops the work, and
            // with it the request or the wait for the worker.
            let message = tokio::select! {
                biased;
                status = &mut self.stop => return Err(TurnInterrupt::Stopped(status)),
                () = deadline => return Err(TurnInterrupt::TimedOut),
                message = self.progress.1.recv() => message,
                done = &mut work => return Ok(Waited::Done(done)),
            };
            if let Some(message) = message {
                return Ok(Waited::Progress(message));
            }
        }
    }
}
