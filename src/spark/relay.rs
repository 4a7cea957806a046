//! The relay: passes on what the worker asks of the cluster, as far as that is allowed.
//!
//! ```text
//! worker ── frames ── relay ── gRPC ── server
//! ```
//!
//! One task reads the frames, with one task for each open call below it. When the worker's end is closed,
//! or the relay is stopped, all calls are dropped, and then the server is told to stop what it still does.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Pair;
use std::sync::Arc;

use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::select;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedSender};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::catalog::Read;
use crate::limits::{RELAY_CALLS_MAX, RELAY_FRAME_BYTES_MAX, RELAY_QUEUE_MAX};
use crate::spark::call::{Call, Check, Shared};
use crate::spark::channel::{Link, Outgoing};
use crate::spark::endpoint::Endpoint;
use crate::spark::error::ClusterError;
use crate::spark::progress::JobProgress;
use crate::spark::wire::{self, Frames, Said, Told};

/// What may be asked of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// Anything: the code in the worker is our own.
    Anything,
    /// To read these, and to compute with what was read: the code in the worker is the model's.
    Registered(Vec<Read>),
}

impl Allowed {
    fn check(self) -> Check {
        match self {
            Allowed::Anything => None,
            // Without a policy, nothing is known to be harmless.
            Allowed::Registered(_) => Some(Arc::new(|_, _| Err("nothing is allowed".to_owned()))),
        }
    }
}

/// What the relay has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClusterNews {
    /// How far a job is.
    Progress(JobProgress),
    /// A message went by: one with `sent` is a request of the worker or the relay, one with `received` a part
    /// of an answer. The bytes are those of this message alone.
    Traffic {
        /// Bytes that went to the cluster.
        sent: u64,
        /// Bytes that came from it.
        received: u64,
    },
}

/// Passes on what one worker asks, until it is stopped or the worker's end is closed.
pub struct Relay {
    shared: Arc<Shared>,
    /// Ends the task, which then says farewell. It ends by itself when the worker does.
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Relay {
    /// Starts a relay in the runtime that it is called in, and returns the worker's end of its socket.
    ///
    /// Nothing is connected yet: the first call connects.
    ///
    /// # Errors
    ///
    /// Fails when there are no descriptors left.
    pub fn start(
        endpoint: Endpoint,
        allowed: Allowed,
        tell: UnboundedSender<ClusterNews>,
    ) -> io::Result<(Relay, OwnedFd)> {
        let (ours, theirs) = Pair::pair()?;
        ours.set_nonblocking(true)?;
        let worker = UnixStream::from_std(ours)?;
        let shared = Arc::new(Shared::new(Link::new(endpoint), allowed.check(), tell));
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(run(shared.clone(), worker, stopped));
        Ok((Relay { shared, stop: Some(stop), task }, theirs.into()))
    }

    /// Returns why the last call failed, if that was for no fault of its own: the server is not there, or
    /// refused the token.
    pub fn failure(&self) -> Option<ClusterError> {
        self.shared.failure()
    }

    /// Interrupts what runs on the cluster, releases the sessions, and waits for that, for
    /// [`CLUSTER_FAREWELL`](crate::limits::CLUSTER_FAREWELL) at most.
    pub async fn stop(mut self) {
        drop(self.stop.take());
        // It ends by itself, in bounded time, and tells nothing.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Relay {
    /// Closes the connections. The server is told nothing: it ends what ran after some time of its own.
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves the worker, then says farewell to the server.
async fn run(shared: Arc<Shared>, worker: UnixStream, stopped: oneshot::Receiver<()>) {
    let (reader, writer) = worker.into_split();
    let (told, queue) = mpsc::channel(RELAY_QUEUE_MAX);
    let mut calls =
        Calls { shared: shared.clone(), told, open: BTreeMap::new(), tasks: JoinSet::new() };
    select! {
        // Whichever ends first ends the relay; what the others were at is dropped with the calls.
        _ = calls.serve(Frames::new(reader)) => {}
        _ = write_all(writer, queue) => {}
        // The sender is dropped, or the relay is.
        _ = stopped => {}
    }
    // Nothing new may be asked of the server while it is told to stop.
    calls.tasks.shutdown().await;
    shared.say_farewell().await;
}

async fn write_all(mut writer: OwnedWriteHalf, mut queue: Receiver<(u32, Told)>) -> io::Result<()> {
    while let Some((call, told)) = queue.recv().await {
        wire::write(&mut writer, call, told).await?;
    }
    Ok(())
}

/// The calls of the worker.
struct Calls {
    shared: Arc<Shared>,
    told: Sender<(u32, Told)>,
    open: BTreeMap<u32, Open>,
    /// Each returns its number.
    tasks: JoinSet<u32>,
}

/// The reader's side of a call.
struct Open {
    /// None when the last message was sent.
    messages: Option<Sender<Outgoing>>,
    /// How many answers are wanted in all.
    wanted: watch::Sender<u64>,
    cancel: oneshot::Sender<()>,
}

impl Calls {
    /// Reads frames until the worker's end is closed.
    async fn serve(&mut self, mut frames: Frames<OwnedReadHalf>) -> io::Result<()> {
        let room = Arc::new(Semaphore::new(RELAY_FRAME_BYTES_MAX));
        loop {
            select! {
                // It loses no byte.
                frame = frames.next() => match frame? {
                    Some((number, said)) => self.hear(number, said, &room).await?,
                    None => return Ok(()),
                },
                // It takes one that has ended, or none.
                Some(ended) = self.tasks.join_next() => {
                    self.open.remove(&ended.map_err(io::Error::other)?);
                }
            }
        }
    }

    async fn hear(&mut self, number: u32, said: Said, room: &Arc<Semaphore>) -> io::Result<()> {
        match said {
            Said::Open(path) => self.open(number, path)?,
            Said::Message(message) => {
                let Some(open) = self.open.get(&number) else { return Ok(()) };
                let Some(messages) = &open.messages else {
                    return Err(io::Error::other("a message after the last one"));
                };
                // What waits for a slow server is bounded by not reading on.
                let n_bytes = u32::try_from(message.len()).map_err(io::Error::other)?;
                let permit = room.clone().acquire_many_owned(n_bytes).await;
                // A call that has ended needs no message.
                let message = Outgoing::new(message, permit.ok());
                let _ = messages.send(message).await;
            }
            Said::Close => {
                if let Some(open) = self.open.get_mut(&number) {
                    open.messages = None;
                }
            }
            Said::More(count) => {
                if let Some(open) = self.open.get(&number) {
                    open.wanted.send_modify(|it| *it = it.saturating_add(count.into()));
                }
            }
            Said::Cancel => {
                if let Some(open) = self.open.remove(&number) {
                    // It may have ended meanwhile.
                    let _ = open.cancel.send(());
                }
            }
        }
        Ok(())
    }

    fn open(&mut self, number: u32, path: String) -> io::Result<()> {
        if self.tasks.len() == RELAY_CALLS_MAX {
            return Err(io::Error::other("too many calls are open"));
        }
        if self.open.contains_key(&number) {
            return Err(io::Error::other("the call is open"));
        }
        let (messages, queue) = mpsc::channel(1);
        let (wanted, wanted_here) = watch::channel(0);
        let (cancel, cancelled) = oneshot::channel();
        let told = self.told.clone();
        let call = Call { number, path, messages: queue, wanted: wanted_here, told };
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            call.run(shared, cancelled).await;
            number
        });
        self.open.insert(number, Open { messages: Some(messages), wanted, cancel });
        Ok(())
    }
}
