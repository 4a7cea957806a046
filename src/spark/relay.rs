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

use crate::catalog::{Read, Remote};
use crate::limits::{RELAY_CALLS_MAX, RELAY_FRAME_BYTES_MAX, RELAY_QUEUE_MAX};
use crate::spark::call::{Call, Shared};
use crate::spark::channel::{Link, Outgoing};
use crate::spark::endpoint::Endpoint;
use crate::spark::error::ClusterError;
use crate::spark::policy::{Policy, check_read};
use crate::spark::progress::JobProgress;
use crate::spark::wire::{self, Frames, Said, Told};
use crate::status::{ExitStatus, Failure};

/// What may be asked of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// Anything: the code in the worker is our own.
    Anything,
    /// To read these, and to compute with what was read: the code in the worker is the model's, or works on
    /// what a session says.
    Registered(Vec<Read>),
}

impl Allowed {
    /// Allows to read what these datasets are.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Input`] when no ingest has made one of them: a session may be somebody else's.
    pub fn registered<'a>(
        datasets: impl Iterator<Item = (&'a str, &'a Remote)>,
    ) -> Result<Allowed, Failure> {
        let read = |(name, remote): (&str, &Remote)| match check_read(&remote.read) {
            Ok(()) => Ok(remote.read.clone()),
            Err(what) => {
                let message =
                    format!("cannot read `{name}` on its cluster: no ingest registers {what}");
                let hint = format!(
                    "remove it with `csv-agent datasets --rm {name}`, and register it anew if you know it"
                );
                Err(Failure::new(ExitStatus::Input, message).hint(hint))
            }
        };
        datasets.map(read).collect::<Result<_, _>>().map(Allowed::Registered)
    }

    fn policy(self, endpoint: &Endpoint) -> Option<Arc<Policy>> {
        let Allowed::Registered(reads) = self else { return None };
        Some(Arc::new(Policy::new(reads, endpoint.user())))
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
        let shared = Arc::new({
            let policy = allowed.policy(&endpoint);
            Shared::new(Link::new(endpoint), policy, tell)
        });
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(run(shared.clone(), worker, stopped));
        Ok((Relay { shared, stop: Some(stop), task }, theirs.into()))
    }

    /// Returns why the last call failed, if that was for no fault of its own: the server is not there, or
    /// refused the token.
    pub fn failure(&self) -> Option<ClusterError> {
        self.shared.failure()
    }

    /// Blames the cluster for what was not done, where it is to be blamed.
    ///
    /// # Errors
    ///
    /// Fails with what [`Relay::failure`] returns, as people are told.
    pub fn blame(&self) -> anyhow::Result<()> {
        self.failure().map_or(Ok(()), |it| Err(Failure::from(it).into()))
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;
    use tokio::sync::mpsc;

    use super::{Allowed, Relay};
    use crate::limits::{CLUSTER_SENT_BYTES_MAX, RELAY_CALLS_MAX};
    use crate::spark::{ClusterError, Endpoint};

    /// A relay to a port where nothing listens, and the worker's end.
    fn bench(allowed: Allowed) -> (Relay, UnixStream, u16) {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let endpoint = Endpoint::parse(&format!("sc://127.0.0.1:{port}")).unwrap();
        let (relay, end) = Relay::start(endpoint, allowed, mpsc::unbounded_channel().0).unwrap();
        let end = std::os::unix::net::UnixStream::from(end);
        end.set_nonblocking(true).unwrap();
        (relay, UnixStream::from_std(end).unwrap(), port)
    }

    fn frame(kind: u8, call: u32, payload: &[u8]) -> Vec<u8> {
        let n_bytes = u32::try_from(payload.len() + 5).unwrap();
        [&n_bytes.to_be_bytes(), &[kind][..], &call.to_be_bytes(), payload].concat()
    }

    /// A call with one message.
    fn call(number: u32, message: &[u8]) -> Vec<u8> {
        let path = b"/spark.connect.SparkConnectService/ExecutePlan";
        [frame(0, number, path), frame(1, number, message), frame(2, number, b"")].concat()
    }

    async fn read_end(worker: &mut UnixStream) -> (u32, serde_json::Value) {
        let n_bytes = worker.read_u32().await.unwrap();
        assert_eq!(worker.read_u8().await.unwrap(), 17);
        let number = worker.read_u32().await.unwrap();
        let mut json = vec![0; n_bytes as usize - 5];
        worker.read_exact(&mut json).await.unwrap();
        (number, serde_json::from_slice(&json).unwrap())
    }

    #[track_caller]
    fn check((number, end): (u32, serde_json::Value), code: i32, message: &str) {
        assert_eq!((number, end["code"].as_i64()), (7, Some(code.into())), "{end}");
        assert!(end["message"].as_str().unwrap().contains(message), "{end}");
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_told_to_worker_and_caller() {
        let (relay, mut worker, port) = bench(Allowed::Anything);
        worker.write_all(&call(7, b"\x0a\x01s")).await.unwrap();
        let message =
            format!("cannot reach the cluster at `sc://127.0.0.1:{port}`: nothing listens there");
        check(read_end(&mut worker).await, 14, &message);
        assert_eq!(relay.failure(), Some(ClusterError::Unreachable(message)));
        relay.stop().await;
        assert_eq!(worker.read(&mut [0]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn what_is_not_registered_never_leaves() {
        let (relay, mut worker, _) = bench(Allowed::Registered(Vec::new()));
        worker.write_all(&call(7, b"\x0a\x01s")).await.unwrap();
        check(read_end(&mut worker).await, 7, "");
        assert_eq!(relay.failure(), None);
    }

    #[tokio::test]
    async fn requests_that_cannot_be_read_or_are_too_large_never_leave() {
        let (relay, mut worker, _) = bench(Allowed::Anything);
        worker.write_all(&call(7, b"\x0a\x05s")).await.unwrap();
        check(read_end(&mut worker).await, 3, "cannot be read");
        worker.write_all(&frame(0, 7, b"/a")).await.unwrap();
        worker.write_all(&frame(2, 7, b"")).await.unwrap();
        check(read_end(&mut worker).await, 3, "without a message");
        worker.write_all(&call(7, &vec![0; CLUSTER_SENT_BYTES_MAX + 1])).await.unwrap();
        check(read_end(&mut worker).await, 8, "larger than the 64 MB");
        assert_eq!(relay.failure(), None);
    }

    #[tokio::test]
    async fn a_call_that_is_cancelled_ends() {
        let (_relay, mut worker, _) = bench(Allowed::Anything);
        let bytes = [frame(0, 7, b"/a"), frame(4, 7, b""), frame(4, 7, b"")].concat();
        worker.write_all(&bytes).await.unwrap();
        check(read_end(&mut worker).await, 1, "cancelled");
    }

    #[tokio::test]
    async fn a_worker_that_breaks_the_rules_has_no_relay() {
        let too_many =
            (0..=u32::try_from(RELAY_CALLS_MAX).unwrap()).flat_map(|it| frame(0, it, b"/a"));
        let twice = [frame(0, 7, b"/a"), frame(0, 7, b"/a")].concat();
        let late = [frame(0, 7, b"/a"), frame(2, 7, b""), frame(1, 7, b"")].concat();
        for bytes in [too_many.collect(), twice, late, frame(9, 7, b"")] {
            let (_relay, mut worker, _) = bench(Allowed::Anything);
            worker.write_all(&bytes).await.unwrap();
            let mut rest = Vec::new();
            // Frames that are not read yet make it a reset.
            let _ = worker.read_to_end(&mut rest).await;
            assert!(worker.write_all(&frame(0, 8, b"/a")).await.is_err());
        }
    }
}
