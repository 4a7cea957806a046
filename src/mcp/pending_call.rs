//! A call of a client that waits for its answer: the work, and the ends of what leads back to the client.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use tokio::sync::{oneshot, watch};

use crate::answer::{ToolAnswer, WorkResult, put_into_words};
use crate::work::Work;

/// A call of a client, on its way to whoever does the work.
#[derive(Debug)]
pub struct PendingCall {
    /// What is to be done.
    pub work: Work,
    /// The session, if the client names one.
    pub session: Option<PathBuf>,
    /// The name of the client, for records.
    pub client: String,
    /// Whether the client no longer wants it.
    pub stop: StopSignal,
    /// Takes what is going on, for people.
    pub progress: watch::Sender<String>,
    /// Takes the answer. The client is gone when the other side is.
    pub reply: oneshot::Sender<ToolAnswer>,
}

impl PendingCall {
    /// Puts the result into words for the client's model.
    pub fn answer(work: &Work, done: Result<WorkResult, String>) -> ToolAnswer {
        put_into_words(work, done)
    }
}

/// Whether work is to be stopped.
#[derive(Debug, Clone)]
pub struct StopSignal(pub(crate) watch::Receiver<bool>);

impl StopSignal {
    /// Returns whether it is.
    pub fn is_set(&self) -> bool {
        *self.0.borrow() || self.0.has_changed().is_err()
    }

    /// Waits until it is.
    pub fn wait(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let mut stop = self.0.clone();
        Box::pin(async move {
            // Where the other side is gone, nobody wants it either.
            let _ = stop.wait_for(|it| *it).await;
        })
    }
}
