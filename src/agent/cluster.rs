//! Turns over datasets that are on a cluster: the way of a worker there, what it tells, and its end.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use csv_agent_cluster::{
    Activity, Allowed, ClusterAccess, ClusterError, Endpoint, JobProgress, Relay, Traffic, contact,
};
use csv_agent_provider::Provider;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::event::Status;
use csv_agent_types::limits::CLUSTER_PROGRESS_EVERY;
use csv_agent_types::status::{ExitStatus, Failure};
use csv_agent_worker::Cluster;

use crate::egress::Ledger;
use crate::hosted::Interpreter;
use crate::turn::ProgressMessage;
use crate::turn::{Turn, TurnInterrupt};
use crate::{Agent, TurnContext};

/// The way of one worker to the cluster. It ends with the worker.
pub(crate) struct ClusterLink {
    /// None once it was stopped.
    relay: Option<Relay>,
    /// The relay sends, and closes it.
    activity: watch::Receiver<Activity>,
    /// What of that is in a ledger.
    counted: Activity,
    /// Scheme, host and port.
    destination: String,
    /// Of the turn that has the worker.
    ledger: Ledger,
    /// What the user was told of its failing.
    told: Option<ClusterError>,
}

impl ClusterLink {
    /// Begins a relay for a worker that may read these datasets and nothing else there; none when no
    /// dataset is on a cluster. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails when the session names its cluster wrongly, or has what no ingest registers, or there are no
    /// descriptors left.
    pub(crate) fn start(
        catalog: &Catalog,
        access: &ClusterAccess,
        turn: &Turn,
    ) -> anyhow::Result<Option<(ClusterLink, Cluster)>> {
        let Some(endpoint) = access.endpoint(catalog)? else { return Ok(None) };
        let destination = endpoint.server();
        let allowed = Allowed::registered(catalog.remote())?;
        let is_there = |it: &(&str, &Dataset)| it.1.remote().is_some();
        let datasets = catalog.iter().filter(is_there);
        let datasets = datasets.map(|(name, it)| (name.to_owned(), it.clone())).collect();
        let (relay, activity, cluster) = start_relay(endpoint, allowed, datasets)?;
        let link = ClusterLink {
            relay: Some(relay),
            activity,
            counted: Activity::default(),
            destination,
            ledger: turn.record.ledger.clone(),
            told: None,
        };
        Ok(Some((link, cluster)))
    }

    /// Takes down that code of the turn may ask the cluster from now on.
    ///
    /// # Errors
    ///
    /// Fails when this cannot be written down.
    pub(crate) fn open(&mut self, turn: &Turn) -> anyhow::Result<()> {
        self.ledger = turn.record.ledger.clone();
        self.ledger.opens_cluster(&self.destination)
    }

    /// Does work; meanwhile counts what passes the relay, and tells how far a job is that takes its time.
    pub(crate) async fn hearing<T>(
        &mut self,
        work: impl Future<Output = T>,
        tell: UnboundedSender<ProgressMessage>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        let mut told = Instant::now();
        loop {
            // What loses is polled again.
            tokio::select! {
                biased;
                Ok(()) = self.activity.changed() => {}
                done = &mut work => {
                    self.hear();
                    self.ledger.catch_up();
                    return done;
                }
            }
            if let Some(job) = self.hear()
                && CLUSTER_PROGRESS_EVERY <= told.elapsed()
            {
                told = Instant::now();
                // A turn that is over needs no news.
                let _ = tell.send(ProgressMessage::Status(Box::new(status(job))));
            }
        }
    }

    /// Counts what has passed the relay. Returns how far a job is, if that is new.
    fn hear(&mut self) -> Option<JobProgress> {
        let now = *self.activity.borrow_and_update();
        let before = std::mem::replace(&mut self.counted, now);
        self.ledger.count_cluster(now.traffic - before.traffic);
        now.job.filter(|_| now.job != before.job)
    }

    /// Blames the cluster for what was not done, where it is to be blamed.
    ///
    /// # Errors
    ///
    /// Fails when the cluster did.
    pub(crate) fn blame(&self) -> anyhow::Result<()> {
        self.relay.as_ref().map_or(Ok(()), Relay::blame)
    }

    /// Returns why the cluster failed, where the user was not told.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        let failure = self.relay.as_ref()?.failure().filter(|it| self.told.as_ref() != Some(it))?;
        let message = failure.to_string();
        self.told = Some(failure);
        Some(message)
    }

    /// Returns why the cluster failed, where the user was told.
    pub(crate) fn told(&self) -> Option<&ClusterError> {
        self.told.as_ref()
    }

    /// Ends what runs on the cluster and waits for that, for some seconds at most.
    pub(crate) async fn stop(mut self) {
        if let Some(relay) = self.relay.take() {
            relay.stop().await;
        }
        // The farewell is counted as well.
        self.hear();
        self.ledger.catch_up();
    }
}

/// Begins a relay for a worker: its end is in what the worker is told. Nothing is sent yet.
///
/// # Errors
///
/// Fails when there are no descriptors left.
pub(crate) fn start_relay(
    endpoint: Endpoint,
    allowed: Allowed,
    datasets: Vec<(String, Dataset)>,
) -> anyhow::Result<(Relay, watch::Receiver<Activity>, Cluster)> {
    let user = endpoint.user().to_owned();
    let (tell, activity) = watch::channel(Activity::default());
    let (relay, end) = Relay::start(endpoint, allowed, tell)
        .context("cannot make the worker's way to the cluster")?;
    Ok((relay, activity, Cluster { relay: Arc::new(end), datasets, user }))
}

fn status(job: JobProgress) -> Status {
    let JobProgress { stages_done, stages, tasks_done, tasks, bytes_read } = job;
    Status::Cluster { message: job.to_string(), stages_done, stages, tasks_done, tasks, bytes_read }
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
        context: &mut TurnContext<'_, '_>,
    ) -> Result<(), TurnInterrupt> {
        if self.repl.is_running() {
            return Ok(());
        }
        let here = context.catalog.here();
        let others = here.names().next().map(|it| format!("ask without it: `--dataset {it}`"));
        meet(&self.options.cluster, context.catalog, others, context.turn).await
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
pub(crate) async fn meet(
    access: &ClusterAccess,
    catalog: &Catalog,
    otherwise: Option<String>,
    turn: &mut Turn<'_>,
) -> Result<(), TurnInterrupt> {
    let Some(endpoint) = access.endpoint(catalog)? else { return Ok(()) };
    // What may not be read is said before anybody is asked.
    Allowed::registered(catalog.remote()).map_err(anyhow::Error::from)?;
    turn.record.ledger.opens_cluster(&endpoint.server())?;
    let mut traffic = Traffic::default();
    let met = turn.wait(contact(&endpoint, &mut traffic)).await;
    turn.record.ledger.count_cluster(traffic);
    turn.record.ledger.catch_up();
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
    Err(TurnInterrupt::Failed(failure.into()))
}

/// Refuses a model without tools: the profile that it would answer from is made of files of this machine.
///
/// # Errors
///
/// Fails with [`ExitStatus::Usage`] when a dataset is on a cluster.
pub(crate) fn check_untooled(catalog: &Catalog) -> Result<(), Failure> {
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
    use super::check_untooled;
    use crate::prompt::tests::{catalog, remote};

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
}
