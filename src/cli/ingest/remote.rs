//! `ingest --remote`: registers data on a cluster as datasets of the session, without copying it.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Instant;

use anyhow::Context;
use tokio::sync::watch;

use csv_agent_agent::remote::{AtCluster, ClusterOptions, What};
use csv_agent_cluster::{Activity, Endpoint};
use csv_agent_ingest::IngestOptions;
use csv_agent_session::Session;
use csv_agent_text::sanitize;
use csv_agent_types::catalog::Dataset;
use csv_agent_types::dataset_names::{is_dataset_name, is_same};
use csv_agent_types::frame::Frame;
use csv_agent_types::status::{Failure, FailureKind};

use super::job::{Change, Ingested, NameTaken, Target, change_of, is_as_told};
use super::{IfExists, IngestFlags, InputOutcomes, options_of};
use crate::diagnostics;
use crate::errors::{self, ExitStatus};
use crate::options::settings::Settings;
use crate::options::{GlobalOptions, cluster_options};
use crate::signals::{self, Signals};
use crate::spinner::Spinner;

/// The source to register, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Registration {
    name: String,
    what: What,
}

/// Parses `NAME=PATH` or `NAME=TABLE`.
fn wanted(text: &str) -> Result<Registration, Failure> {
    let refuse = |message: String, hint: String| Err(Failure::usage(message).hint(hint));
    let example = "write `NAME=PATH` or `NAME=TABLE`, such as `flights=/data/flights/`";
    // A partition directory contains a `=` itself.
    let Some((name, what)) = text.split_once('=').filter(|it| !it.0.contains('/')) else {
        let fitting = csv_agent_ingest::name_of(text.trim_end_matches('/').as_ref());
        let message = format!("`{text}` does not name the dataset");
        return refuse(message, format!("write `{fitting}={text}`"));
    };
    if what.is_empty() {
        return refuse(format!("`{text}` does not name a path or a table"), example.to_owned());
    }
    if !is_dataset_name(name) {
        let fitting = csv_agent_ingest::name_of(name.as_ref());
        let message = format!("`{name}` is not a valid name of a dataset");
        return refuse(message, format!("write `{fitting}={what}`"));
    }
    Ok(Registration { name: name.to_owned(), what: What::of(what) })
}

fn text_of(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| {
        let message = format!("`{}` is not valid UTF-8", path.display());
        Failure::usage(message).hint("name it with a glob: `NAME=DIR/*`")
    })
}

/// Parses all sources.
fn all_wanted(paths: &[PathBuf]) -> anyhow::Result<Vec<Registration>> {
    let mut all: Vec<Registration> = Vec::new();
    for path in paths {
        let next = wanted(text_of(path)?)?;
        if all.iter().any(|it| is_same(&it.name, &next.name)) {
            let message = format!("two datasets cannot both have the name `{}`", next.name);
            return Err(Failure::usage(message).hint("give one of them another name").into());
        }
        all.push(next);
    }
    Ok(all)
}

/// Fails when the flags contradict each other.
pub(super) fn check(flags: &IngestFlags, url: &str) -> anyhow::Result<()> {
    Endpoint::parse(url)?;
    if flags.name.is_some() {
        let message = "`--name` applies only to files on this machine";
        let hint = "with `--remote`, write each dataset as `NAME=PATH` or `NAME=TABLE`";
        return Err(Failure::usage(message).hint(hint).into());
    }
    all_wanted(&flags.paths).map(drop)
}

/// Registers the sources that the flags name, each independently.
pub(super) fn ingest(
    flags: &IngestFlags,
    url: &str,
    target: &mut Target,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<InputOutcomes> {
    let given = Endpoint::parse(url)?;
    if given.has_token() {
        let message = "other users of this machine can see the token in `--remote` in the list of \
                       processes; use `SPARK_CONNECT_AUTHENTICATE_TOKEN` instead";
        diagnostics::warning(message, options.terminal.stderr.colour);
    }
    if given.has_headers() {
        let message = "csv-agent does not store the headers in `--remote`; for later commands, \
                       set `SPARK_REMOTE` to a URL of the same server with these headers";
        diagnostics::warning(message, options.terminal.stderr.colour);
    }
    let cluster = cluster_options(settings)?;
    let endpoint = cluster.access.complete_named(given)?;
    let there = target.catalog().remote().map(|(name, it)| (name, it.endpoint.as_str()));
    check_one_cluster(&endpoint, there)?;
    let wanted = all_wanted(&flags.paths)?;
    let line = LiveLine::new(options, &format!("asking the cluster at {endpoint}"));
    signals::runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let (mut done, mut status, mut cut_by) = (Vec::new(), ExitStatus::Ok, None);
        let mut tell = |it: &str| line.say(it);
        let start = Box::pin(AtCluster::start(endpoint, &cluster, Vec::new(), &mut tell));
        let (mut cluster, mut activity) = match line.wait(start, &mut signals, None).await {
            Ok(started) => started?,
            Err(signal) => return Ok(InputOutcomes::at_cluster(done, status, Some(signal))),
        };
        let read = flags.read_options();
        for it in &wanted {
            line.say(&format!("asking the cluster what {} is", it.what.shown_name()));
            let look = Box::pin(cluster.look(&it.what, &read));
            let found = match line.wait(look, &mut signals, Some(&mut activity)).await {
                Ok(found) => found,
                Err(signal) => {
                    cut_by = Some(signal);
                    break;
                }
            };
            match found.and_then(|dataset| keep(it, dataset, flags.if_exists, &read, target)) {
                Ok(ingested) => done.push(ingested),
                Err(error) => {
                    line.suspend(|| diagnostics::error(&error, options.terminal.stderr.colour));
                    status = status.max(errors::status_of(&error));
                }
            }
        }
        cluster.stop().await;
        Ok(InputOutcomes::at_cluster(done, status, cut_by))
    })
}

/// Registers other paths or tables of the cluster in place of datasets that a temporary session sees, with the
/// same options. Fails on the first that cannot be registered, as `ingest` does; with the signal's status when
/// one came.
pub(crate) fn take_places(
    session: &mut Session,
    places: &[(&str, &Path)],
    options: &GlobalOptions,
    cluster: &ClusterOptions,
) -> anyhow::Result<()> {
    let mut wanted = Vec::new();
    for (name, path) in places {
        let dataset = session.catalog().get(name).filter(|it| it.remote().is_some());
        let dataset = dataset.with_context(|| format!("`{name}` is not on a cluster"))?;
        let what = What::of(text_of(path)?);
        let read = options_of(dataset)
            .with_context(|| format!("cannot read `{}` as `{name}` was read", what.shown_name()))?;
        wanted.push(((*name).to_owned(), what, read));
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let endpoint = cluster.access.endpoint(session.catalog())?;
    let endpoint = endpoint.context("no dataset is on a cluster")?;
    let look = async |cluster: &mut AtCluster| look_at_all(cluster, wanted).await;
    let found = ask(endpoint, Vec::new(), options, cluster, look)?;
    session.register(found)
}

/// Connects to a cluster with a worker that knows these datasets, runs `work`, and disconnects. Fails when the
/// cluster cannot be reached, as `work` does, and with the signal's status when one came.
fn ask<T>(
    endpoint: Endpoint,
    known: Vec<(String, Dataset)>,
    options: &GlobalOptions,
    cluster: &ClusterOptions,
    work: impl AsyncFnOnce(&mut AtCluster) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let line = LiveLine::new(options, &format!("asking the cluster at {endpoint}"));
    signals::runtime()?.block_on(async {
        let mut signals = Signals::listen()?;
        let mut tell = |it: &str| line.say(it);
        let start = Box::pin(AtCluster::start(endpoint, cluster, known, &mut tell));
        let (mut cluster, mut activity) =
            line.wait(start, &mut signals, None).await.map_err(cut)??;
        let working = Box::pin(work(&mut cluster));
        let done = line.wait(working, &mut signals, Some(&mut activity)).await;
        cluster.stop().await;
        done.map_err(cut)?
    })
}

async fn look_at_all(
    cluster: &mut AtCluster,
    wanted: Vec<(String, What, IngestOptions)>,
) -> anyhow::Result<Vec<(String, Dataset)>> {
    let mut found = Vec::new();
    for (name, what, read) in wanted {
        let dataset = cluster.look(&what, &read).await?;
        found.push((name, dataset));
    }
    Ok(found)
}

/// The live line, if there is one.
struct LiveLine(Option<Spinner>);

impl LiveLine {
    fn new(options: &GlobalOptions, message: &str) -> LiveLine {
        let terminal = options.terminal;
        let may_show = terminal.can_redraw && !options.quiet;
        let message = sanitize::one_line(message);
        let start =
            || Spinner::start(message, Instant::now(), terminal.stderr, terminal.is_width_given);
        LiveLine(may_show.then(start))
    }

    fn say(&self, message: &str) {
        if let Some(spinner) = &self.0 {
            spinner.say(sanitize::one_line(message));
        }
    }

    /// Waits for work on a cluster, and shows its progress; fails with the first signal.
    async fn wait<T>(
        &self,
        mut work: Pin<Box<impl Future<Output = T>>>,
        signals: &mut Signals,
        mut activity: Option<&mut watch::Receiver<Activity>>,
    ) -> Result<T, FailureKind> {
        let hear = async |activity: &mut Option<&mut watch::Receiver<Activity>>| {
            let activity = activity.as_deref_mut()?;
            activity.changed().await.ok()?;
            Some(activity.borrow_and_update().job)
        };
        let mut shown = None;
        loop {
            // Signals and progress are kept for the next call. Work that loses continues in it, or is
            // dropped; the caller then stops the jobs on the cluster.
            tokio::select! {
                signal = signals.next() => return Err(signal),
                Some(job) = hear(&mut activity) => {
                    if let Some(progress) = job.filter(|_| job != shown) {
                        self.say(&progress.to_string());
                    }
                    shown = job;
                }
                done = &mut work => return Ok(done),
            }
        }
    }

    fn suspend(&self, write: impl FnOnce()) {
        match &self.0 {
            Some(spinner) => spinner.suspend(write),
            None => write(),
        }
    }
}

/// Fails when the session has datasets at another address (`there` has names and addresses): a turn uses
/// one cluster, as one user.
fn check_one_cluster<'a>(
    endpoint: &Endpoint,
    mut there: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), Failure> {
    let address = endpoint.to_string();
    let Some((name, other)) = there.find(|it| it.1 != address) else { return Ok(()) };
    let message = format!(
        "cannot register data of `{address}`: dataset `{name}` is at `{other}`, and a session can \
         use only one address of a cluster"
    );
    let others = "use another session with `--session NAME`, or remove its datasets with \
                  `csv-agent datasets --rm`";
    let is_same = Endpoint::parse(other).is_ok_and(|it| it.is_same_server(endpoint));
    let hint = if is_same {
        format!("name the cluster as before, with `--remote '{other}'`\nor {others}")
    } else {
        others.to_owned()
    };
    Err(Failure::input(message).hint(hint))
}

/// Adds a dataset to the session, unless its name is used.
fn keep(
    wanted: &Registration,
    dataset: Dataset,
    if_exists: IfExists,
    read: &IngestOptions,
    target: &mut Target,
) -> anyhow::Result<Ingested> {
    let name = target.catalog().spelled(&wanted.name).to_owned();
    let present = target.catalog().get(&name).cloned();
    let change = match &present {
        None => Change::Added,
        Some(present) => collide(&name, present, &dataset, if_exists, read)?,
    };
    if let (Some(dataset), Change::Unchanged | Change::Skipped) = (&present, change) {
        let dataset = dataset.clone();
        return Ok(Ingested { name, dataset, change, rows_before: None, files: None });
    }
    if let Some(session) = target.session() {
        session.register(vec![(name.clone(), dataset.clone())])?;
    }
    Ok(Ingested { name, dataset, change, rows_before: None, files: None })
}

/// Decides what to do about a used name.
fn collide(
    name: &str,
    present: &Dataset,
    dataset: &Dataset,
    if_exists: IfExists,
    read: &IngestOptions,
) -> anyhow::Result<Change> {
    let is_same = present.remote().is_some()
        && (&present.source, &present.sha256) == (&dataset.source, &dataset.sha256);
    let is_read_so = is_as_told(present, read, if_exists);
    change_of(is_same, false, is_read_so, if_exists).ok_or_else(|| {
        let (source, name) = (dataset.source.clone(), name.to_owned());
        let present = present.source.clone();
        Failure::from(&NameTaken { verb: "register", source, name, present }).into()
    })
}

/// Returns the first rows of datasets on a cluster, in order. Fails when the cluster cannot be reached or
/// fails, or a value does not fit its type.
pub(crate) fn heads(
    datasets: &[(&str, &Dataset)],
    n_rows: usize,
    options: &GlobalOptions,
    cluster: &ClusterOptions,
) -> anyhow::Result<Vec<Frame>> {
    let Some(remote) = datasets.iter().find_map(|it| it.1.remote()) else { return Ok(Vec::new()) };
    let endpoint = cluster.access.complete(Endpoint::parse(&remote.endpoint)?)?;
    let known = datasets.iter().map(|(name, it)| ((*name).to_owned(), (*it).clone())).collect();
    let names = datasets.iter().map(|it| it.0);
    let read = async |cluster: &mut AtCluster| read_heads(cluster, names, n_rows).await;
    ask(endpoint, known, options, cluster, read)
}

fn cut(signal: FailureKind) -> Failure {
    Failure::new(signal, "interrupted")
}

async fn read_heads<'a>(
    cluster: &mut AtCluster,
    names: impl Iterator<Item = &'a str>,
    n_rows: usize,
) -> anyhow::Result<Vec<Frame>> {
    let mut heads = Vec::new();
    for name in names {
        heads.push(cluster.head(name, n_rows).await?);
    }
    Ok(heads)
}

#[cfg(test)]
mod tests {
    use super::{check_one_cluster, wanted};
    use csv_agent_agent::remote::What;
    use csv_agent_cluster::Endpoint;

    #[test]
    fn a_dataset_has_a_name_and_what_it_is() {
        let check = |text: &str, name: &str, what: What| {
            let found = wanted(text).unwrap();
            assert_eq!((found.name.as_str(), found.what), (name, what), "{text}");
        };
        check("f=/data/f/", "f", What::Files("/data/f/".to_owned()));
        check("f=/d/year=2024/*.csv", "f", What::Files("/d/year=2024/*.csv".to_owned()));
        check("f=db.flights", "f", What::Table("db.flights".to_owned()));
    }

    #[test]
    fn what_has_no_name_is_told_one() {
        let check = |text: &str, hint: &str| {
            assert_eq!(wanted(text).unwrap_err().hint.as_deref(), Some(hint), "{text}");
        };
        check("/data/Flights 2024/", "write `Flights_2024=/data/Flights 2024/`");
        check("/d/year=2024/a.csv", "write `a=/d/year=2024/a.csv`");
        check("my data=t", "write `my_data=t`");
        check("f=", "write `NAME=PATH` or `NAME=TABLE`, such as `flights=/data/flights/`");
    }

    #[test]
    fn a_session_has_one_address_of_a_cluster() {
        let check = |asked: &str, there: &[(&str, &str)], expected: Option<&str>| {
            let endpoint = Endpoint::parse(asked).unwrap();
            let refused = check_one_cluster(&endpoint, there.iter().copied()).err();
            assert_eq!(refused.as_ref().map(|it| it.message.as_str()), expected, "{asked}");
            refused.and_then(|it| it.hint)
        };
        let there = [("f", "sc://a:1/;user_id=me"), ("g", "sc://a:1/;user_id=me")];
        check("sc://a:1", &[], None);
        check("sc://A:1/;user_id=me", &there, None);
        let hint = check(
            "sc://b:1/;user_id=me",
            &there,
            Some(
                "cannot register data of `sc://b:1/;user_id=me`: dataset `f` is at `sc://a:1/;user_id=me`, \
                 and a session can use only one address of a cluster",
            ),
        );
        assert!(hint.unwrap().starts_with("use another session"));
        let hint = check(
            "sc://a:1",
            &there,
            Some(
                "cannot register data of `sc://a:1`: dataset `f` is at `sc://a:1/;user_id=me`, \
                 and a session can use only one address of a cluster",
            ),
        );
        assert!(hint.unwrap().starts_with(
            "name the cluster as before, with `--remote 'sc://a:1/;user_id=me'`\nor use another session"
        ));
    }
}
