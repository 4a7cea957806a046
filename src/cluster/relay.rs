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

use bytes::Bytes;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::select;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedSender};
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use csv_agent_types::catalog::{Remote, SparkSource};
use csv_agent_types::limits::{
    RELAY_CALLS_MAX, RELAY_QUEUE_MAX, RELAY_SENDING_BYTES_MAX, RELAY_SENDING_BYTES_MIN,
};
use csv_agent_types::status::Failure;

use crate::call::Activity;
use crate::call::{ClusterCall, Queued, Shared};
use crate::channel::Server;
use crate::endpoint::Endpoint;
use crate::error::ClusterError;
use crate::policy::{Policy, check_source};
use crate::wire::{self, CallEnd, Frames, RelayMessage, WorkerMessage};

/// What may be asked of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// Anything: the code in the worker is our own.
    Anything,
    /// To read these, and to compute with what was read: the code in the worker is the model's, or works on
    /// what a session says.
    Registered(Vec<SparkSource>),
}

impl Allowed {
    /// Allows to read what these datasets are.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Input` when no ingest has made one of them: a session may be somebody else's.
    pub fn registered<'a>(
        datasets: impl Iterator<Item = (&'a str, &'a Remote)>,
    ) -> Result<Allowed, Failure> {
        let source = |(name, remote): (&str, &Remote)| match check_source(&remote.source) {
            Ok(()) => Ok(remote.source.clone()),
            Err(what) => {
                let message = format!(
                    "cannot read `{name}` on its cluster: csv-agent never registers {what}"
                );
                let hint = format!(
                    "remove it with `csv-agent datasets --rm {name}`, and register it again if you trust it"
                );
                Err(Failure::input(message).hint(hint))
            }
        };
        datasets.map(source).collect::<Result<_, _>>().map(Allowed::Registered)
    }

    fn policy(self, endpoint: &Endpoint) -> Option<Arc<Policy>> {
        let Allowed::Registered(sources) = self else { return None };
        Some(Arc::new(Policy::new(sources, endpoint.user())))
    }
}

/// Passes on what one worker asks, until it is stopped or the worker's end is closed.
pub struct Relay {
    shared: Arc<Shared>,
    /// Ends the task, which then says farewell. It ends by itself when the worker does.
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Relay {
    /// Starts a relay in the runtime that it is called in, and returns the worker's end of its socket. What
    /// passes is told to `activity`, until the relay has ended.
    ///
    /// Nothing is connected yet: the first call connects.
    ///
    /// # Errors
    ///
    /// Fails when there are no descriptors left.
    pub fn start(
        endpoint: Endpoint,
        allowed: Allowed,
        activity: watch::Sender<Activity>,
    ) -> io::Result<(Relay, OwnedFd)> {
        let (ours, theirs) = Pair::pair()?;
        ours.set_nonblocking(true)?;
        let worker = UnixStream::from_std(ours)?;
        let shared = Arc::new({
            let policy = allowed.policy(&endpoint);
            Shared::new(Server::new(endpoint), policy, activity)
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
    /// [`CLUSTER_FAREWELL`](csv_agent_types::limits::CLUSTER_FAREWELL) at most.
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
    shared.release().await;
}

async fn write_all(
    mut writer: OwnedWriteHalf,
    mut queue: Receiver<(u32, RelayMessage)>,
) -> io::Result<()> {
    while let Some((call, told)) = queue.recv().await {
        wire::write(&mut writer, call, told).await?;
    }
    Ok(())
}

/// The calls of the worker.
struct Calls {
    shared: Arc<Shared>,
    told: Sender<(u32, RelayMessage)>,
    open: BTreeMap<u32, Open>,
    /// Each returns its number.
    tasks: JoinSet<u32>,
}

/// The reader's side of a call.
struct Open {
    /// None when the last message was sent. What waits in it has a permit.
    messages: Option<UnboundedSender<Queued>>,
    /// How many answers are wanted in all.
    wanted: watch::Sender<u64>,
    /// Takes why it ends.
    stop: oneshot::Sender<CallEnd>,
}

impl Calls {
    /// Reads frames until the worker's end is closed.
    async fn serve(&mut self, mut frames: Frames<OwnedReadHalf>) -> io::Result<()> {
        let room = Arc::new(Semaphore::new(RELAY_SENDING_BYTES_MAX));
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

    async fn hear(
        &mut self,
        number: u32,
        said: WorkerMessage,
        room: &Arc<Semaphore>,
    ) -> io::Result<()> {
        match said {
            WorkerMessage::Open(path) => self.open(number, path).await?,
            WorkerMessage::Message(message) => self.send(number, message, room)?,
            WorkerMessage::Close => {
                if let Some(open) = self.open.get_mut(&number) {
                    open.messages = None;
                }
            }
            WorkerMessage::More(count) => {
                if let Some(open) = self.open.get(&number) {
                    open.wanted.send_modify(|it| *it = it.saturating_add(count.into()));
                }
            }
            WorkerMessage::Cancel => {
                self.end(number, CallEnd::new(CallEnd::CANCELLED, "the call was cancelled"));
            }
        }
        Ok(())
    }

    /// Ends a call that is open for a reason of this side.
    fn end(&mut self, number: u32, why: CallEnd) {
        if let Some(open) = self.open.remove(&number) {
            // It may have ended meanwhile.
            let _ = open.stop.send(why);
        }
    }

    /// Passes a message to its call, where it waits until the server takes it. Nothing else waits for that: a
    /// cancel may come behind it. Its bytes count until the call has ended: what a server has not taken is
    /// copied on the way to it.
    fn send(&mut self, number: u32, message: Bytes, room: &Arc<Semaphore>) -> io::Result<()> {
        let Some(open) = self.open.get(&number) else { return Ok(()) };
        let Some(messages) = &open.messages else {
            return Err(io::Error::other("a message after the last one"));
        };
        let n_bytes = message.len().max(RELAY_SENDING_BYTES_MIN);
        let n_bytes = u32::try_from(n_bytes).map_err(io::Error::other)?;
        if let Ok(permit) = room.clone().try_acquire_many_owned(n_bytes) {
            // A call that has ended needs no message.
            let _ = messages.send(Queued { bytes: message, permit });
        } else {
            let why = format!(
                "the open calls to the cluster have sent more than {} MB; send less at once",
                RELAY_SENDING_BYTES_MAX >> 20
            );
            self.end(number, CallEnd::new(CallEnd::RESOURCE_EXHAUSTED, why));
        }
        Ok(())
    }

    async fn open(&mut self, number: u32, path: String) -> io::Result<()> {
        if self.open.contains_key(&number) {
            return Err(io::Error::other("the call is already open"));
        }
        if self.tasks.len() == RELAY_CALLS_MAX {
            let why = format!("{RELAY_CALLS_MAX} calls to the cluster are open; use fewer threads");
            let end = RelayMessage::End(CallEnd::new(CallEnd::RESOURCE_EXHAUSTED, why));
            // Who does not take its ends waits with what it says.
            return self.told.send((number, end)).await.map_err(io::Error::other);
        }
        let (messages, queue) = mpsc::unbounded_channel();
        let (wanted, wanted_here) = watch::channel(0);
        let (stop, stopped) = oneshot::channel();
        let told = self.told.clone();
        let call = ClusterCall { number, path, messages: queue, wanted: wanted_here, told };
        let shared = self.shared.clone();
        self.tasks.spawn(async move {
            call.run(shared, stopped).await;
            number
        });
        self.open.insert(number, Open { messages: Some(messages), wanted, stop });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;
    use tokio::sync::watch;
    use tokio::time::timeout;

    use super::{Allowed, Relay};
    use crate::call::Activity;
    use crate::fields::put_bytes;
    use crate::{ClusterError, Endpoint};
    use csv_agent_types::limits::{
        CLUSTER_SENT_BYTES_MAX, RELAY_CALLS_MAX, RELAY_SENDING_BYTES_MAX,
    };

    const PATIENCE: Duration = Duration::from_mins(1);

    /// A relay to a port where nothing listens, and the worker's end.
    fn bench(allowed: Allowed) -> (Relay, UnixStream, u16) {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (relay, worker) = bench_at(port, allowed);
        (relay, worker, port)
    }

    fn bench_at(port: u16, allowed: Allowed) -> (Relay, UnixStream) {
        let endpoint = Endpoint::parse(&format!("sc://127.0.0.1:{port}")).unwrap();
        let activity = watch::Sender::new(Activity::default());
        let (relay, end) = Relay::start(endpoint, allowed, activity).unwrap();
        let end = std::os::unix::net::UnixStream::from(end);
        end.set_nonblocking(true).unwrap();
        (relay, UnixStream::from_std(end).unwrap())
    }

    fn frame(kind: u8, call: u32, payload: &[u8]) -> Vec<u8> {
        let n_bytes = u32::try_from(payload.len() + 5).unwrap();
        [&n_bytes.to_be_bytes(), &[kind][..], &call.to_be_bytes(), payload].concat()
    }

    fn call(number: u32, message: &[u8]) -> Vec<u8> {
        let path = b"/spark.connect.SparkConnectService/ExecutePlan";
        [frame(0, number, path), frame(1, number, message), frame(2, number, b"")].concat()
    }

    async fn read_end(worker: &mut UnixStream) -> (u32, serde_json::Value) {
        let n_bytes = timeout(PATIENCE, worker.read_u32()).await.expect("it ends").unwrap();
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
    async fn a_call_too_many_ends_and_the_others_go_on() {
        let (_relay, mut worker, _) = bench(Allowed::Anything);
        for number in 100..100 + u32::try_from(RELAY_CALLS_MAX).unwrap() {
            worker.write_all(&frame(0, number, b"/a")).await.unwrap();
        }
        worker.write_all(&call(7, b"")).await.unwrap();
        check(read_end(&mut worker).await, 8, "use fewer threads");
        worker.write_all(&frame(4, 100, b"")).await.unwrap();
        let (number, end) = read_end(&mut worker).await;
        assert_eq!((number, end["code"].as_i64()), (100, Some(1)), "{end}");
    }

    /// A message with so many bytes in it.
    fn message(n_bytes: usize) -> Vec<u8> {
        let mut message = Vec::new();
        put_bytes(&mut message, 99, &vec![0; n_bytes]);
        message
    }

    /// A relay to a server that takes connections and then nothing.
    fn bench_at_a_server_that_reads_nothing() -> (Relay, UnixStream, TcpListener) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let (relay, worker) = bench_at(server.local_addr().unwrap().port(), Allowed::Anything);
        (relay, worker, server)
    }

    #[tokio::test]
    async fn a_cancel_is_heard_behind_messages_that_a_server_does_not_take() {
        let (_relay, mut worker, _server) = bench_at_a_server_that_reads_nothing();
        worker.write_all(&frame(0, 7, b"/a")).await.unwrap();
        for _ in 0..8 {
            worker.write_all(&frame(1, 7, &message(1 << 20))).await.unwrap();
        }
        worker.write_all(&frame(4, 7, b"")).await.unwrap();
        check(read_end(&mut worker).await, 1, "cancelled");
    }

    #[tokio::test]
    async fn what_waits_to_be_sent_is_bounded() {
        let (_relay, mut worker, _server) = bench_at_a_server_that_reads_nothing();
        let half = message(RELAY_SENDING_BYTES_MAX / 2 - 1024);
        for number in [5, 6] {
            worker.write_all(&frame(0, number, b"/a")).await.unwrap();
            worker.write_all(&frame(1, number, &half)).await.unwrap();
        }
        worker.write_all(&frame(0, 7, b"/a")).await.unwrap();
        worker.write_all(&frame(1, 7, &message(2048))).await.unwrap();
        check(read_end(&mut worker).await, 8, "have sent more than 128 MB");
    }

    #[tokio::test]
    async fn a_worker_that_breaks_the_rules_has_no_relay() {
        let twice = [frame(0, 7, b"/a"), frame(0, 7, b"/a")].concat();
        let late = [frame(0, 7, b"/a"), frame(2, 7, b""), frame(1, 7, b"")].concat();
        for bytes in [twice, late, frame(9, 7, b"")] {
            let (_relay, mut worker, _) = bench(Allowed::Anything);
            worker.write_all(&bytes).await.unwrap();
            let mut rest = Vec::new();
            // Frames that are not read yet make it a reset.
            let _ = worker.read_to_end(&mut rest).await;
            assert!(worker.write_all(&frame(0, 8, b"/a")).await.is_err());
        }
    }
}
