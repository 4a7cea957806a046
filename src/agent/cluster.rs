//! Turns over datasets on a cluster: a worker's connection to it, progress, and shutdown.

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
use csv_agent_types::status::Failure;
use csv_agent_worker::Cluster;

use crate::egress::Ledger;
use crate::hosted::Interpreter;
use crate::turn::ProgressMessage;
use crate::turn::{Turn, TurnInterrupt};
use crate::{Agent, TurnContext};

/// One worker's connection to the cluster. It ends with the worker.
pub(crate) struct ClusterLink {
    /// None once the relay is stopped.
    relay: Option<Relay>,
    /// The relay sends on this channel, and closes it.
    activity: watch::Receiver<Activity>,
    /// The activity already in a ledger.
    counted: Activity,
    /// Scheme, host and port.
    destination: String,
    /// The ledger of the turn that uses the worker.
    ledger: Ledger,
    /// The cluster failure already reported to the user.
    told: Option<ClusterError>,
}

impl ClusterLink {
    /// Starts a relay for a worker that may read these datasets on the cluster and nothing else there. None
    /// when no dataset is on a cluster. Sends nothing yet. Fails when the session's cluster address is invalid,
    /// when a dataset has properties that no ingest writes, or when no file descriptors are left.
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

    /// Records that code of the turn may query the cluster from now on.
    pub(crate) fn open(&mut self, turn: &Turn) -> anyhow::Result<()> {
        self.ledger = turn.record.ledger.clone();
        self.ledger.opens_cluster(&self.destination)
    }

    /// Runs `work`. Meanwhile counts the relay's traffic and reports the progress of long jobs.
    pub(crate) async fn hearing<T>(
        &mut self,
        work: impl Future<Output = T>,
        tell: UnboundedSender<ProgressMessage>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        let mut told = Instant::now();
        loop {
            // The branch that loses is polled again.
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
                // A turn that has ended needs no progress.
                let _ = tell.send(ProgressMessage::Status(Box::new(status(job))));
            }
        }
    }

    /// Counts the traffic since the last call. Returns a job's progress, if that changed.
    fn hear(&mut self) -> Option<JobProgress> {
        let now = *self.activity.borrow_and_update();
        let before = std::mem::replace(&mut self.counted, now);
        self.ledger.count_cluster(now.traffic - before.traffic);
        now.job.filter(|_| now.job != before.job)
    }

    /// Attributes a failure to the cluster when the cluster caused it.
    pub(crate) fn blame(&self) -> anyhow::Result<()> {
        self.relay.as_ref().map_or(Ok(()), Relay::blame)
    }

    /// Returns why the cluster failed, if the user has not seen that yet.
    pub(crate) fn complaint(&mut self) -> Option<String> {
        let failure = self.relay.as_ref()?.failure().filter(|it| self.told.as_ref() != Some(it))?;
        let message = failure.to_string();
        self.told = Some(failure);
        Some(message)
    }

    /// Returns the cluster failure that was reported to the user.
    pub(crate) fn told(&self) -> Option<&ClusterError> {
        self.told.as_ref()
    }

    /// Ends the jobs on the cluster. Waits a few seconds for that at most.
    pub(crate) async fn stop(mut self) {
        if let Some(relay) = self.relay.take() {
            relay.stop().await;
        }
        // The closing requests count as well.
        self.hear();
        self.ledger.catch_up();
    }
}

/// Starts a relay for a worker and passes its end to the worker. Sends nothing yet.
pub(crate) fn start_relay(
    endpoint: Endpoint,
    allowed: Allowed,
    datasets: Vec<(String, Dataset)>,
) -> anyhow::Result<(Relay, watch::Receiver<Activity>, Cluster)> {
    let user = endpoint.user().to_owned();
    let (tell, activity) = watch::channel(Activity::default());
    let (relay, end) = Relay::start(endpoint, allowed, tell)
        .context("cannot connect the worker to the cluster")?;
    Ok((relay, activity, Cluster { relay: Arc::new(end), datasets, user }))
}

fn status(job: JobProgress) -> Status {
    let JobProgress { stages_done, stages, tasks_done, tasks, bytes_read } = job;
    Status::Cluster { message: job.to_string(), stages_done, stages, tasks_done, tasks, bytes_read }
}

impl Agent {
    /// Checks that the cluster is reachable, before any other request. Once its worker runs, the code finds out
    /// itself. Fails when the cluster cannot be reached, refuses the token or is too old, and when the turn
    /// ends first.
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

    /// Rejects options that cannot be combined with a dataset on a cluster, before anything is sent. Fails with
    /// `FailureKind::Usage`; the hint names the alternative.
    pub(super) fn check_cluster(&self, catalog: &Catalog) -> Result<(), Failure> {
        let Some((name, _)) = catalog.remote().next() else { return Ok(()) };
        let withheld = &self.options.withheld;
        let (message, instead) = if matches!(self.provider, Provider::Builtin) {
            let message = format!(
                "the built-in analyst reads only files on this machine, but `{name}` is on a cluster"
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

/// Checks that the cluster is reachable. The error may carry a hint at the remedy. Fails when the cluster
/// cannot be reached, refuses the token or is too old, and when the turn ends first.
pub(crate) async fn meet(
    access: &ClusterAccess,
    catalog: &Catalog,
    otherwise: Option<String>,
    turn: &mut Turn<'_>,
) -> Result<(), TurnInterrupt> {
    let Some(endpoint) = access.endpoint(catalog)? else { return Ok(()) };
    // An unreadable dataset is reported before any request.
    Allowed::registered(catalog.remote()).map_err(anyhow::Error::from)?;
    turn.record.ledger.opens_cluster(&endpoint.server())?;
    let mut traffic = Traffic::default();
    let met = turn.wait(contact(&endpoint, &mut traffic)).await;
    turn.record.ledger.count_cluster(traffic);
    turn.record.ledger.catch_up();
    let Err(error) = met? else { return Ok(()) };
    let hint = match error {
        ClusterError::Refused(_) => Some(
            "the token comes from `SPARK_CONNECT_AUTHENTICATE_TOKEN` or from `SPARK_REMOTE`, and is \
             sent to the server that `SPARK_REMOTE` names"
                .to_owned(),
        ),
        _ => otherwise,
    };
    let failure = Failure { kind: error.kind(), message: error.to_string(), hint };
    Err(TurnInterrupt::Failed(failure.into()))
}

/// Rejects a model without tools: it would answer from a profile, which is made from local files. Fails with
/// `FailureKind::Usage` when a dataset is on a cluster.
pub(crate) fn check_untooled(catalog: &Catalog) -> Result<(), Failure> {
    let Some((name, _)) = catalog.remote().next() else { return Ok(()) };
    let message = format!(
        "the model has no tools: it would answer from a profile, but csv-agent makes no profile of \
         `{name}`, which is on a cluster"
    );
    Err(refused(message, "name a model that has tools with `--model NAME`", catalog))
}

fn promised_here(flag: &str, name: &str) -> String {
    format!(
        "`{flag}` applies to files on this machine, but `{name}` is on a cluster, where code sees its values"
    )
}

fn refused(message: String, instead: &str, catalog: &Catalog) -> Failure {
    let here = catalog.here();
    let others =
        here.names().next().map(|it| format!(", or leave the dataset out with `--dataset {it}`"));
    let hint = format!("{instead}{}", others.unwrap_or_default());
    Failure::usage(message).hint(hint)
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
