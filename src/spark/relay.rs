//! The relay: passes on what the worker asks of the cluster, as far as that is allowed.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use tokio::sync::mpsc::UnboundedSender;

use crate::catalog::Read;
use crate::spark::channel::ClusterError;
use crate::spark::endpoint::Endpoint;
use crate::spark::progress::JobProgress;

/// What may be asked of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// Anything: the code in the worker is our own.
    Anything,
    /// To read these, and to compute with what was read: the code in the worker is the model's.
    Registered(Vec<Read>),
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
#[derive(Debug)]
pub struct Relay {
    _end: UnixStream,
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
        _endpoint: Endpoint,
        _allowed: Allowed,
        _tell: UnboundedSender<ClusterNews>,
    ) -> io::Result<(Relay, OwnedFd)> {
        let (ours, theirs) = UnixStream::pair()?;
        Ok((Relay { _end: ours }, theirs.into()))
    }

    /// Returns why the last call that failed for no fault of its own did so.
    pub fn failure(&self) -> Option<ClusterError> {
        None
    }

    /// Interrupts what runs on the cluster, releases the sessions, and waits for that, for
    /// [`CLUSTER_FAREWELL`](crate::limits::CLUSTER_FAREWELL) at most.
    pub async fn stop(self) {}
}
