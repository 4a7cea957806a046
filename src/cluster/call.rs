//! One call of the worker, from its first message to its end.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tokio::select;
use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use csv_agent_types::limits::{
    CLUSTER_COLLECT_BYTES_MAX, CLUSTER_FAREWELL, CLUSTER_OPERATIONS_MAX, CLUSTER_SENT_BYTES_MAX,
    CLUSTER_SESSIONS_MAX,
};

use crate::channel::Traffic;
use crate::channel::{Fault, Server};
use crate::error::ClusterError;
use crate::messages::{AnswerHead, Method, RequestHead, SparkSession};
use crate::policy::{Judged, Policy};
use crate::progress::JobProgress;

use crate::wire::{CallEnd, RelayMessage};

/// What the calls of one relay have in common.
pub(crate) struct Shared {
    /// Where they go.
    pub server: Server,
    /// What may be asked; without one, anything may.
    policy: Option<Arc<Policy>>,
    activity: watch::Sender<Activity>,
    known: Mutex<ClusterFacts>,
}

/// What is known of the cluster from the calls so far.
#[derive(Default)]
struct ClusterFacts {
    /// The one that was used last is the last.
    sessions: Vec<SparkSession>,
    /// Bytes of rows that each operation has sent, the newest last.
    collected: VecDeque<(String, u64)>,
    failure: Option<ClusterError>,
}

impl Shared {
    /// Nothing is known yet.
    pub(crate) fn new(
        server: Server,
        policy: Option<Arc<Policy>>,
        activity: watch::Sender<Activity>,
    ) -> Shared {
        Shared { server, policy, activity, known: Mutex::default() }
    }

    fn known<T>(&self, change: impl FnOnce(&mut ClusterFacts) -> T) -> T {
        // No change panics half way.
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns why the last call failed, if it did for no fault of its own.
    pub(crate) fn failure(&self) -> Option<ClusterError> {
        self.known(|it| it.failure.clone())
    }

    /// Keeps why a call failed, and returns what the worker hears of it.
    fn failed(&self, fault: Fault) -> CallEnd {
        let Fault { end, error } = fault;
        let is_own = matches!(error, ClusterError::Failed(_));
        self.known(|it| it.failure = (!is_own).then_some(error));
        end
    }

    fn tell_sent(&self, n_bytes: usize) {
        self.activity.send_modify(|it| {
            it.traffic.requests += 1;
            it.traffic.sent_bytes += n_bytes as u64;
        });
    }

    fn tell_received(&self, n_bytes: usize) {
        self.activity.send_modify(|it| it.traffic.received_bytes += n_bytes as u64);
    }

    /// Asks something that nobody waits for: that it fails changes nothing.
    async fn ask(&self, method: Method, message: Bytes) {
        self.tell_sent(message.len());
        if let Ok(answer) = self.server.ask(method, message).await {
            self.tell_received(answer.len());
        }
    }

    /// Stops all that runs on the server, and ends the sessions there.
    pub(crate) async fn release(&self) {
        let sessions = self.known(|it| std::mem::take(&mut it.sessions));
        if !self.server.was_connected() {
            return;
        }
        let all = async {
            for session in sessions {
                self.ask(Method::Interrupt, session.interrupt(None)).await;
                self.ask(Method::ReleaseSession, session.release()).await;
            }
        };
        // A server that does not answer loses the session by itself, after its idle time.
        let _ = timeout(CLUSTER_FAREWELL, all).await;
    }

    /// Takes the session of a request to the books, unless it may not be made. A client has a new one where the
    /// server has ended the last, so the one that was used longest ago is as good as gone.
    fn admit(&self, session: &SparkSession) -> Result<(), CallEnd> {
        self.known(|known| {
            if let Some(at) = known.sessions.iter().position(|it| it == session) {
                known.sessions[at..].rotate_left(1);
                return Ok(());
            }
            // Ids of other people's sessions are secret, but their names are not.
            let is_other = known.sessions.first().is_some_and(|it| it.user != session.user);
            if self.policy.is_some() && is_other {
                return Err(CallEnd::new(
                    CallEnd::PERMISSION_DENIED,
                    "a cluster accepts one user only",
                ));
            }
            if known.sessions.len() == CLUSTER_SESSIONS_MAX {
                known.sessions.remove(0);
            }
            known.sessions.push(session.clone());
            Ok(())
        })
    }

    /// Counts rows of an operation, and returns how many bytes it has brought by now. What has brought too many
    /// stays known for that.
    fn count(&self, operation: &str, n_bytes: u64) -> u64 {
        self.known(|known| {
            let at = known.collected.iter().position(|(it, _)| it == operation);
            let before = at.and_then(|it| known.collected.remove(it)).map_or(0, |(_, sum)| sum);
            if known.collected.len() == CLUSTER_OPERATIONS_MAX {
                known.collected.pop_front();
            }
            let sum = before.saturating_add(n_bytes);
            known.collected.push_back((operation.to_owned(), sum));
            sum
        })
    }
}

/// A message of the worker that waits to be sent.
pub(crate) struct Queued {
    /// The message.
    pub bytes: Bytes,
    /// The room that it takes up.
    pub permit: OwnedSemaphorePermit,
}

/// The worker's side of a call.
pub(crate) struct ClusterCall {
    pub number: u32,
    /// The path of its method.
    pub path: String,
    /// What the worker sends; closed by its last message.
    pub messages: UnboundedReceiver<Queued>,
    /// How many answers it wants in all.
    pub wanted: watch::Receiver<u64>,
    /// Where the answers go, and the end after them.
    pub told: Sender<(u32, RelayMessage)>,
}

/// What runs on the server because of a call.
#[derive(Default)]
struct Running {
    session: SparkSession,
    operation: Option<String>,
    /// The last that was told.
    progress: JobProgress,
    /// Nothing runs any more.
    is_complete: bool,
    /// What it brought was too much.
    is_over: bool,
    /// Bytes of rows of an operation without a name.
    unnamed_bytes: u64,
}

impl ClusterCall {
    /// Makes the call, and tells its end. `stopped` says why it is to end before the server has said all.
    pub(crate) async fn run(mut self, shared: Arc<Shared>, stopped: oneshot::Receiver<CallEnd>) {
        let mut running = Running::default();
        let (end, is_left) = select! {
            // What is stopped has lost its queues as well, which is no end of its own.
            biased;
            // Dropping it closes the stream of the call, of which a server may take no notice.
            Ok(why) = stopped => (Some(why), true),
            result = self.exchange(&shared, &mut running) => (result.err(), running.is_over),
        };
        // Nothing more is sent; the room that it took up is for others.
        drop(self.messages);
        let tell = self.told.send((self.number, RelayMessage::End(end.unwrap_or_default())));
        let interrupt = async {
            // A server keeps what can be reattached running for some minutes.
            let Some(operation) = running.operation else { return };
            if is_left && !running.is_complete {
                let request = running.session.interrupt(Some(&operation));
                let _ = timeout(CLUSTER_FAREWELL, shared.ask(Method::Interrupt, request)).await;
            }
        };
        // A worker that is gone needs no end; one that does not read must not hold up the other.
        let _ = tokio::join!(tell, interrupt);
    }

    async fn exchange(&mut self, shared: &Shared, running: &mut Running) -> Result<(), CallEnd> {
        let ClusterCall { number, path, messages, wanted, told } = self;
        let mut sending = Sending { path, messages, n_bytes: 0, room: None, judged: None };
        // Nothing is connected for what is not allowed.
        let (first, asked) = sending
            .next(shared)
            .await?
            .ok_or_else(|| CallEnd::new(CallEnd::INVALID_ARGUMENT, "a call without a message"))?;
        running.session = asked.session;
        running.operation = asked.operation;
        let (sender, queue) = mpsc::channel(1);
        let send = async {
            let mut next = Some(first);
            while let Some(message) = next {
                shared.tell_sent(message.len());
                if sender.send(message).await.is_err() {
                    break;
                }
                next = sending.next(shared).await?.map(|(message, _)| message);
            }
            // Closes what the client sends, which a server may wait for.
            drop(sender);
            std::future::pending::<Result<(), CallEnd>>().await
        };
        let receive = receive(shared, running, (path, queue), (*number, wanted, told));
        select! {
            // What is not allowed ends the call: the server has heard a part of it at most.
            refused = send => refused,
            // Messages that were not sent yet are nothing that the server waits for.
            received = receive => received,
        }
    }
}

/// The messages of the worker, each checked before it goes on.
struct Sending<'a> {
    path: &'a str,
    messages: &'a mut UnboundedReceiver<Queued>,
    n_bytes: usize,
    /// The room that all of them take up, until the call has ended.
    room: Option<OwnedSemaphorePermit>,
    /// What the messages so far leave open, once there was one.
    judged: Option<Judged>,
}

impl Sending<'_> {
    /// Returns the next message and what it says of itself; nothing after the last one.
    async fn next(&mut self, shared: &Shared) -> Result<Option<(Bytes, RequestHead)>, CallEnd> {
        let Some(Queued { bytes, permit }) = self.messages.recv().await else { return Ok(None) };
        match &mut self.room {
            Some(room) => room.merge(permit),
            room @ None => *room = Some(permit),
        }
        self.n_bytes += bytes.len();
        if CLUSTER_SENT_BYTES_MAX < self.n_bytes {
            let text = format!(
                "the request is larger than the {} MB that may be sent; keep large tables on the \
                 cluster, or here",
                CLUSTER_SENT_BYTES_MAX >> 20
            );
            return Err(CallEnd::new(CallEnd::RESOURCE_EXHAUSTED, text));
        }
        let unread = |_| CallEnd::new(CallEnd::INVALID_ARGUMENT, "the request cannot be read");
        let asked = RequestHead::read(Method::of(self.path), &bytes).map_err(unread)?;
        if let Some(policy) = shared.policy.clone() {
            self.judge(policy, bytes.clone()).await?;
        }
        shared.admit(&asked.session)?;
        Ok(Some((bytes, asked)))
    }

    async fn judge(&mut self, policy: Arc<Policy>, bytes: Bytes) -> Result<(), CallEnd> {
        let refused = |reason| CallEnd::new(CallEnd::PERMISSION_DENIED, reason);
        let mut judged = match self.judged.take() {
            Some(judged) => judged,
            None => Judged::of(self.path).map_err(refused)?,
        };
        // A large plan takes a while to judge, and others have things to do.
        let judging = spawn_blocking(move || policy.check(&mut judged, &bytes).map(|()| judged));
        let judged = judging.await.unwrap_or_else(|error| Err(error.to_string()));
        self.judged = Some(judged.map_err(refused)?);
        Ok(())
    }
}

/// Makes the call and passes its answers on, as far as they are wanted.
async fn receive(
    shared: &Shared,
    running: &mut Running,
    (path, queue): (&str, Receiver<Bytes>),
    (number, wanted, told): (u32, &mut watch::Receiver<u64>, &Sender<(u32, RelayMessage)>),
) -> Result<(), CallEnd> {
    let runs_a_plan = Method::of(path).runs_a_plan();
    let mut answers = shared.server.call(path, queue).await.map_err(|it| shared.failed(it))?;
    let mut n_told = 0;
    // One answer is fetched ahead, so that the end is told as soon as it is known.
    while let Some(answer) = answers.next().await.map_err(|it| shared.failed(it))? {
        shared.known(|it| it.failure = None);
        shared.tell_received(answer.len());
        if runs_a_plan {
            running.hear(shared, &answer)?;
        }
        // Both ends are gone when the worker is.
        let Ok(_) = wanted.wait_for(|it| n_told < *it).await else { return Ok(()) };
        let Ok(()) = told.send((number, RelayMessage::Message(answer))).await else {
            return Ok(());
        };
        n_told += 1;
    }
    Ok(())
}

impl Running {
    /// Takes note of what a plan gives.
    fn hear(&mut self, shared: &Shared, answer: &[u8]) -> Result<(), CallEnd> {
        let unread =
            |_| CallEnd::new(CallEnd::INTERNAL, "the answer of the cluster cannot be read");
        let answered = AnswerHead::read(answer).map_err(unread)?;
        self.is_complete |= answered.is_complete;
        if let Some(progress) = answered.progress.filter(|it| *it != self.progress) {
            self.progress = progress;
            shared.activity.send_modify(|it| it.job = Some(progress));
        }
        if self.operation.is_none() {
            self.operation = answered.operation;
        }
        if answered.arrow_bytes == 0 {
            return Ok(());
        }
        let n_bytes = if let Some(operation) = &self.operation {
            shared.count(operation, answered.arrow_bytes)
        } else {
            // Without a name it cannot go on in another call.
            self.unnamed_bytes = self.unnamed_bytes.saturating_add(answered.arrow_bytes);
            self.unnamed_bytes
        };
        self.is_over |= CLUSTER_COLLECT_BYTES_MAX < n_bytes;
        if !self.is_over {
            return Ok(());
        }
        let message = format!(
            "the result is more than the {} MB that may be collected; aggregate, filter, select \
             columns or limit() first",
            CLUSTER_COLLECT_BYTES_MAX >> 20
        );
        Err(CallEnd::new(CallEnd::RESOURCE_EXHAUSTED, message))
    }
}

/// What the relay has seen since it was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// What passed, with the relay's own requests.
    pub traffic: Traffic,
    /// How far the job is that was last told of.
    pub job: Option<JobProgress>,
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::{Running, Shared};
    use crate::Endpoint;
    use crate::channel::Server;
    use crate::fields::put_bytes;
    use crate::messages::SparkSession;
    use csv_agent_types::limits::CLUSTER_SESSIONS_MAX;

    fn shared() -> Shared {
        let server = Server::new(Endpoint::parse("sc://localhost").unwrap());
        Shared::new(server, None, watch::Sender::default())
    }

    fn answer(operation: Option<&str>, rows: &[u8]) -> Vec<u8> {
        let (mut batch, mut answer) = (Vec::new(), Vec::new());
        put_bytes(&mut batch, 2, rows);
        put_bytes(&mut answer, 2, &batch);
        if let Some(operation) = operation {
            put_bytes(&mut answer, 12, operation.as_bytes());
        }
        answer
    }

    #[test]
    fn rows_are_counted_whatever_a_server_calls_its_operations() {
        let long = "o".repeat(1_000);
        let rows = vec![0; 64 << 20];
        for name in [None, Some("o-1"), Some(long.as_str())] {
            let shared = shared();
            let mut running = Running::default();
            let answer = answer(name, &rows);
            // The bound is 256 MB.
            for _ in 0..4 {
                assert_eq!(running.hear(&shared, &answer), Ok(()));
            }
            let end = running.hear(&shared, &answer).unwrap_err();
            assert!(end.message.contains("more than the 256 MB"), "{end:?}");
            assert!(running.is_over);
        }
    }

    #[test]
    fn a_session_too_many_takes_the_place_of_that_which_was_used_longest_ago() {
        let shared = shared();
        let session = |at: usize| SparkSession { id: at.to_string(), user: "me".to_owned() };
        for at in (0..CLUSTER_SESSIONS_MAX).chain([0, CLUSTER_SESSIONS_MAX]) {
            assert_eq!(shared.admit(&session(at)), Ok(()));
        }
        let kept = (2..CLUSTER_SESSIONS_MAX).chain([0, CLUSTER_SESSIONS_MAX]).map(session);
        assert_eq!(shared.known(|it| it.sessions.clone()), kept.collect::<Vec<_>>());
    }
}
