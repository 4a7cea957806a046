//! Turns over datasets that are on a cluster: the way of a worker there, what it tells, and its end.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::agent::Agent;
use crate::agent::egress::Ledger;
use crate::agent::hosted::Interpreter;
use crate::agent::news::News;
use crate::agent::turn::{Ended, Turn};
use crate::catalog::{Catalog, Dataset};
use crate::event::Status;
use crate::limits::CLUSTER_PROGRESS_EVERY;
use crate::provider::Provider;
use crate::python::Cluster;
use crate::spark::{
    Allowed, ClusterAccess, ClusterError, ClusterNews, Endpoint, JobProgress, Relay, Traffic,
    contact,
};
use crate::status::{ExitStatus, Failure};

/// The way of one worker to the cluster. It ends with the worker.
pub struct Link {
    /// None once it was stopped.
    relay: Option<Relay>,
    /// The relay sends, and closes it.
    news: UnboundedReceiver<ClusterNews>,
    /// Scheme, host and port.
    destination: String,
    /// Of the turn that has the worker.
    ledger: Ledger,
    /// What the user was told of its failing.
    told: Option<ClusterError>,
}

impl Link {
    /// Begins a relay for a worker that may read these datasets and nothing else there; none when no
    /// dataset is on a cluster. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails when the session names its cluster wrongly, or has what no ingest registers, or there are no
    /// descriptors left.
    pub fn start(
        catalog: &Catalog,
        access: &ClusterAccess,
        turn: &Turn,
    ) -> anyhow::Result<Option<(Link, Cluster)>> {
        let Some(endpoint) = endpoint(catalog, access)? else { return Ok(None) };
        let user = endpoint.user().to_owned();
        let destination = destination(&endpoint);
        let allowed = Allowed::registered(catalog.remote())?;
        let (tell, news) = unbounded_channel();
        let (relay, end) = Relay::start(endpoint, allowed, tell)
            .context("cannot make the worker's way to the cluster")?;
        let is_there = |it: &(&str, &Dataset)| it.1.remote().is_some();
        let datasets = catalog.iter().filter(is_there);
        let datasets = datasets.map(|(name, it)| (name.to_owned(), it.clone())).collect();
        let link =
            Link { relay: Some(relay), news, destination, ledger: turn.ledger.clone(), told: None };
        Ok(Some((link, Cluster { relay: Arc::new(end), datasets, user })))
    }

    /// Takes down that code of the turn may ask the cluster from now on.
    ///
    /// # Errors
    ///
    /// Fails when this cannot be written down.
    pub fn open(&mut self, turn: &Turn) -> anyhow::Result<()> {
        self.ledger = turn.ledger.clone();
        self.ledger.opens_cluster(&self.destination)
    }

    /// Does work; meanwhile counts what passes the relay, and tells how far a job is that takes its time.
    pub async fn hearing<T>(
        &mut self,
        work: impl Future<Output = T>,
        tell: UnboundedSender<News>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        let mut told = Instant::now();
        loop {
            // What loses is polled again; a message stays in the channel until it is taken.
            let news = tokio::select! {
                biased;
                Some(news) = self.news.recv() => news,
                done = &mut work => {
                    self.hear(None);
                    self.ledger.catch_up();
                    return done;
                }
            };
            if let Some(job) = self.hear(Some(news))
                && CLUSTER_PROGRESS_EVERY <= told.elapsed()
            {
                told = Instant::now();
                // A turn that is over needs no news.
                let _ = tell.send(News::Status(Box::new(status(job))));
            }
        }
    }

    /// Counts what has passed the relay. Returns how far a job is.
    fn hear(&mut self, mut next: Option<ClusterNews>) -> Option<JobProgress> {
        let (mut traffic, mut job) = (Traffic::default(), None);
        while let Some(news) = next.take().or_else(|| self.news.try_recv().ok()) {
            match news {
                ClusterNews::Progress(progress) => job = Some(progress),
                ClusterNews::Traffic { sent, received } => {
                    traffic.requests += u64::from(0 < sent);
                    traffic.sent_bytes += sent;
                    traffic.received_bytes += received;
                }
            }
        }
        self.ledger.count_cluster(traffic);
        job
    }

    /// Blames the cluster for what was not done, where it is to be blamed.
    ///
    /// # Errors
    ///
    /// Fails when the cluster did.
    pub fn blame(&self) -> anyhow::Result<()> {
        self.relay.as_ref().map_or(Ok(()), Relay::blame)
    }

    /// Returns why the cluster failed, where the user was not told.
    pub fn complaint(&mut self) -> Option<String> {
        let failure = self.relay.as_ref()?.failure().filter(|it| self.told.as_ref() != Some(it))?;
        let message = failure.to_string();
        self.told = Some(failure);
        Some(message)
    }

    /// Returns why the cluster failed, where the user was told.
    pub fn told(&self) -> Option<&ClusterError> {
        self.told.as_ref()
    }

    /// Ends what runs on the cluster and waits for that, for some seconds at most.
    pub async fn hang_up(mut self) {
        if let Some(relay) = self.relay.take() {
            relay.stop().await;
        }
        // The farewell is counted as well.
        self.hear(None);
        self.ledger.catch_up();
    }
}

fn status(job: JobProgress) -> Status {
    let JobProgress { stages_done, stages, tasks_done, tasks, bytes_read } = job;
    Status::Cluster { message: job.to_string(), stages_done, stages, tasks_done, tasks, bytes_read }
}

/// Returns the cluster that the datasets are on, with what it is to be told; none when all are here.
fn endpoint(catalog: &Catalog, access: &ClusterAccess) -> anyhow::Result<Option<Endpoint>> {
    // `ingest` takes one address a session, so any dataset names it.
    let Some((name, remote)) = catalog.remote().next() else { return Ok(None) };
    let endpoint = Endpoint::parse(&remote.endpoint);
    let endpoint = endpoint.with_context(|| format!("cannot tell where `{name}` is"))?;
    access.complete(endpoint).map(Some)
}

/// Returns the server alone, without what is told to it.
fn destination(endpoint: &Endpoint) -> String {
    let shown = endpoint.to_string();
    shown.split_once("/;").map_or(shown.as_str(), |it| it.0).to_owned()
}

impl Agent {
    /// Asks the cluster whether it is there, before anybody else is asked anything. Once its worker runs,
    /// the code finds out itself.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be reached, refuses the token or is too old, and when the turn ends first.
    pub(super) async fn meet_cluster(
        &mut self,
        catalog: &Catalog,
        turn: &mut Turn<'_>,
    ) -> Result<(), Ended> {
        if self.repl.is_running() {
            return Ok(());
        }
        let here = catalog.here();
        let others = here.names().next().map(|it| format!("ask without it: `--dataset {it}`"));
        meet(&self.options.cluster, catalog, others, turn).await
    }

    /// Refuses what cannot be had where a dataset is on a cluster, before anything is sent.
    ///
    /// # Errors
    ///
    /// Fails with [`ExitStatus::Usage`]; the hint names the way out.
    pub(super) fn check_cluster(&self, catalog: &Catalog) -> Result<(), Failure> {
        let Some((name, _)) = catalog.remote().next() else { return Ok(()) };
        let withheld = &self.options.withheld;
        let (message, instead) = if matches!(self.provider, Provider::Builtin) {
            let message = format!(
                "the built-in analyst reads files of this machine, and `{name}` is on a cluster"
            );
            (message, "name a model with `--model NAME`")
        } else if withheld.rows {
            (promised_here("--no-rows", name), "leave out `--no-rows`")
        } else if !withheld.columns.is_empty() {
            (promised_here("--redact", name), "leave out `--redact`")
        } else if matches!(self.options.interpreter, Interpreter::Hosted(_)) {
            let message = format!(
                "`--interpreter hosted`: `{name}` is on a cluster, which code at the provider cannot reach"
            );
            (message, "run code on this machine with `--interpreter local` or `both`")
        } else {
            return Ok(());
        };
        Err(refused(message, instead, catalog))
    }
}

/// Asks the cluster whether it is there. What helps where it is not may have a hint.
///
/// # Errors
///
/// Fails when it cannot be reached, refuses the token or is too old, and when the turn ends first.
pub async fn meet(
    access: &ClusterAccess,
    catalog: &Catalog,
    otherwise: Option<String>,
    turn: &mut Turn<'_>,
) -> Result<(), Ended> {
    let Some(endpoint) = endpoint(catalog, access)? else { return Ok(()) };
    // What may not be read is said before anybody is asked.
    Allowed::registered(catalog.remote()).map_err(anyhow::Error::from)?;
    turn.ledger.opens_cluster(&destination(&endpoint))?;
    let mut traffic = Traffic::default();
    let met = turn.wait(contact(&endpoint, &mut traffic)).await;
    turn.ledger.count_cluster(traffic);
    turn.ledger.catch_up();
    let Err(error) = met? else { return Ok(()) };
    let hint = match error {
        ClusterError::Refused(_) => Some(
            "the token comes from `SPARK_CONNECT_AUTHENTICATE_TOKEN` or from `SPARK_REMOTE`, and goes to the \
             server that `SPARK_REMOTE` names"
                .to_owned(),
        ),
        _ => otherwise,
    };
    let failure = Failure { status: error.status(), message: error.to_string(), hint };
    Err(Ended::Failed(failure.into()))
}

/// Refuses a model without tools: the profile that it would answer from is made of files of this machine.
///
/// # Errors
///
/// Fails with [`ExitStatus::Usage`] when a dataset is on a cluster.
pub fn check_untooled(catalog: &Catalog) -> Result<(), Failure> {
    let Some((name, _)) = catalog.remote().next() else { return Ok(()) };
    let message = format!(
        "the model has no tools: it would answer from a profile, and none is made of `{name}`, which is on \
         a cluster"
    );
    Err(refused(message, "name a model that has tools with `--model NAME`", catalog))
}

fn promised_here(flag: &str, name: &str) -> String {
    format!(
        "`{flag}` holds for files of this machine, and `{name}` is on a cluster: code there sees its values"
    )
}

fn refused(message: String, instead: &str, catalog: &Catalog) -> Failure {
    let here = catalog.here();
    let others =
        here.names().next().map(|it| format!(", or leave the dataset out with `--dataset {it}`"));
    let hint = format!("{instead}{}", others.unwrap_or_default());
    Failure::new(ExitStatus::Usage, message).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::{check_untooled, destination};
    use crate::agent::prompt::tests::{catalog, remote};
    use crate::spark::Endpoint;

    #[test]
    fn no_profile_is_made_of_what_is_on_a_cluster() {
        let mut all = catalog(&[("stock", &["item"])]);
        assert!(check_untooled(&all).is_ok());
        all.insert("flights".into(), remote(&["day"], 7));
        let refused = check_untooled(&all).unwrap_err();
        assert_eq!(
            refused.hint.as_deref(),
            Some(
                "name a model that has tools with `--model NAME`, or leave the dataset out with `--dataset \
                 stock`"
            )
        );
        assert!(check_untooled(&all.here()).is_ok());
    }

    #[test]
    fn a_destination_is_scheme_host_and_port() {
        let endpoint = Endpoint::parse("sc://host/;token=s3cret;user_id=me").unwrap();
        assert_eq!(destination(&endpoint), "sc://host:15002");
    }
}
