//! Registers sources on a cluster, and reads their first rows, without a model.
//!
//! A study does this: Python of our own in a worker without a network, whose only connection is a relay. To
//! register, it may query the endpoint for anything; the heads of files come here, to the sniffer that also
//! reads local files. To show the datasets of a session, it may read only those.

mod endings;
mod files;
mod found;
mod types;

use anyhow::Context;
use serde_json::{Value, json};
use tokio::sync::watch;

use csv_agent_cluster::{
    Activity, Allowed, ClusterAccess, Endpoint, Relay, Traffic, beginning, contact,
};
use csv_agent_ingest::IngestOptions;
use csv_agent_types::catalog::{Dataset, Remote, SourceFormat, SparkReading, SparkSource};
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{
    CLUSTER_COUNT_BYTES_MAX, CLUSTER_FILES_MAX, CLUSTER_HEAD_BYTES_MAX, CLUSTER_HEADS_MAX,
    CLUSTER_OTHER_HEAD_BYTES_MAX, CSV_COLUMNS_MAX,
};
use csv_agent_types::status::{Failure, FailureKind};
use csv_agent_worker::WorkerError;
use csv_agent_worker::environment::PythonOptions;
use csv_agent_worker::sandbox::SandboxOptions;
use csv_agent_worker::trusted_script::Study;

use crate::cluster::start_relay;
use found::{Contents, FilesFound, StudyQuestion, TableFound};

pub(crate) use found::StudyAnswer;

/// Inspects the source to register.
const LOOKING: &str = include_str!("ingest.py");

/// Python, its confinement, and access to clusters.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// Which Python.
    pub python: PythonOptions,
    /// How its code is confined.
    pub sandbox: SandboxOptions,
    /// The user's credentials and options for the cluster.
    pub access: ClusterAccess,
}

/// The source to register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A file, a directory, or a glob.
    Files(String),
    /// A table or view of the catalog.
    Table(String),
}

impl What {
    /// Parses the user's text: one with a `/`, a `*` or a file ending is a path.
    pub fn of(text: &str) -> What {
        let text_lower = text.to_lowercase();
        let mut endings = endings::TEXT.iter().chain(endings::PARQUET).chain(endings::COMPRESSED);
        if text.contains(['/', '*']) || endings.any(|it| text_lower.ends_with(it)) {
            What::Files(text.to_owned())
        } else {
            What::Table(text.to_owned())
        }
    }

    /// Returns the user's text.
    pub fn shown_name(&self) -> &str {
        let (What::Files(it) | What::Table(it)) = self;
        it
    }
}

/// A connection to a cluster without a model. [`AtCluster::stop`] ends it.
pub struct AtCluster {
    endpoint: Endpoint,
    study: Study,
    relay: Relay,
}

impl AtCluster {
    /// Starts a worker for a cluster. `datasets` are those that `load` can read; without any, the whole
    /// endpoint is readable. The relay reports the progress of jobs until the connection ends; `progress`
    /// gets the installation steps before that.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Provider` or `FailureKind::Auth` when the cluster does not answer or
    /// refuses the token, when a dataset was not written by an ingest, and when Python is not available or
    /// does not start.
    pub async fn start(
        endpoint: Endpoint,
        options: &ClusterOptions,
        datasets: Vec<(String, Dataset)>,
        progress: &mut (dyn FnMut(&str) + Send),
    ) -> anyhow::Result<(AtCluster, watch::Receiver<Activity>)> {
        // Existing datasets are read from the session, which may be from an untrusted source.
        let remote = datasets.iter().filter_map(|(name, it)| Some((name.as_str(), it.remote()?)));
        let allowed =
            if datasets.is_empty() { Allowed::Anything } else { Allowed::registered(remote)? };
        // Checks the connection first, since preparing Python takes longer.
        contact(&endpoint, &mut Traffic::default()).await.map_err(Failure::from)?;
        let (relay, activity, cluster) = start_relay(endpoint.clone(), allowed, datasets)?;
        let study = Study::at_cluster(&options.python, &options.sandbox, cluster, progress).await?;
        Ok((AtCluster { endpoint, study, relay }, activity))
    }

    /// Inspects `what` as a dataset. Registers nothing yet, and changes nothing on the cluster.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Input` when there is no such file or table, or Spark cannot read it as an
    /// ingest would; with `FailureKind::Provider` when the cluster fails.
    pub async fn look(&mut self, what: &What, options: &IngestOptions) -> anyhow::Result<Dataset> {
        let asked = StudyQuestion { endpoint: self.endpoint.to_string(), what, options };
        match what {
            What::Files(path) => {
                let input = json!({
                    "ask": "files",
                    "paths": [path],
                    "files_max": CLUSTER_FILES_MAX,
                    "head_bytes": CLUSTER_HEAD_BYTES_MAX,
                    "other_head_bytes": CLUSTER_OTHER_HEAD_BYTES_MAX,
                    "heads_max": CLUSTER_HEADS_MAX,
                    "parquet": endings::PARQUET,
                    "compressed": endings::COMPRESSED,
                });
                let found: FilesFound = self.ask(what, &input).await?;
                files::dataset(&asked, &found)
            }
            What::Table(name) => {
                refuse_reading_flags(options, what)?;
                let input = json!({
                    "ask": "table",
                    "table": name,
                    "count_bytes_max": CLUSTER_COUNT_BYTES_MAX,
                });
                let found: TableFound = self.ask(what, &input).await?;
                check_width(what, found.columns.len())?;
                Ok(table(&asked, name, found))
            }
        }
    }

    async fn ask<T: serde::de::DeserializeOwned>(
        &mut self,
        what: &What,
        input: &Value,
    ) -> anyhow::Result<T> {
        let shown_name = what.shown_name();
        let asked = self.study.ask(LOOKING, input).await;
        let failed = |it: String| anyhow::Error::from(Failure::new(FailureKind::Provider, it));
        self.relay.blame()?;
        let answer = asked.with_context(|| format!("cannot look at `{shown_name}`"))?;
        let answer: StudyAnswer<T> =
            serde_json::from_value(answer).context("the answer does not have the expected form")?;
        match answer {
            StudyAnswer::Found(found) => Ok(found),
            StudyAnswer::Error { kind, text } if kind == "missing" => {
                let message =
                    format!("cannot find `{shown_name}` on the cluster: {}", brief(&text));
                let hint = match what {
                    What::Files(_) => "the path must be on the cluster, not on this machine",
                    What::Table(_) => "a path has a `/`; write `./NAME` if a file is meant",
                };
                Err(Failure::input(message).hint(hint).into())
            }
            StudyAnswer::Error { text, .. } => {
                Err(failed(format!("the cluster cannot read `{shown_name}`: {}", brief(&text))))
            }
        }
    }

    /// Returns the first rows of a dataset of this worker.
    ///
    /// # Errors
    ///
    /// Fails when the cluster does; with `FailureKind::Input` when a value does not fit its type.
    pub async fn head(&mut self, name: &str, n_rows: usize) -> anyhow::Result<Frame> {
        let code = format!("load({}, n_rows={n_rows})", json!(name));
        let frame = self.study.table(&code, n_rows).await;
        self.relay.blame()?;
        frame.map_err(|error| {
            let failed =
                |status, why: String| Failure::new(status, format!("cannot show `{name}`: {why}"));
            let gone = error.downcast_ref::<WorkerError>();
            match gone {
                Some(gone) => failed(FailureKind::Sandbox, gone.to_string()),
                None => failed(FailureKind::Input, reason(&error.to_string())).hint(
                    "to read a column as text, register the data with `--dtype COLUMN=string`",
                ),
            }
            .into()
        })
    }

    /// Stops the jobs on the cluster, and waits briefly for that.
    pub async fn stop(self) {
        drop(self.study);
        self.relay.stop().await;
    }
}

/// Fails when flags on reading text are set for a source that is not text.
fn refuse_reading_flags(options: &IngestOptions, what: &What) -> anyhow::Result<()> {
    let given = options.given();
    let Some(first) = given.first() else { return Ok(()) };
    let flag = first.split(' ').next().unwrap_or(first);
    let message =
        format!("`{flag}` does not apply to `{}`, which has its own types", what.shown_name());
    let hint = format!("leave out `{flag}`");
    Err(Failure::usage(message).hint(hint).into())
}

/// Fails when there are more columns than a dataset may have.
fn check_width(what: &What, n_columns: usize) -> anyhow::Result<()> {
    if n_columns <= CSV_COLUMNS_MAX {
        return Ok(());
    }
    let name = what.shown_name();
    let message = format!("`{name}` has {n_columns} columns, the limit is {CSV_COLUMNS_MAX}");
    let hint = "make a view of the columns that you need in the catalog, and register that";
    Err(Failure::input(message).hint(hint).into())
}

/// Returns the last line of a traceback: the error, without its class.
fn reason(traceback: &str) -> String {
    let said = traceback.lines().rfind(|it| it.contains("Error: ") || it.contains("Exception: "));
    let said = said.and_then(|it| it.split_once(": ")).map_or(traceback, |it| it.1);
    brief(said)
}

/// Returns the first line of a server's message, without advice that is meant for code.
pub fn brief(text: &str) -> String {
    const ADVICE: &str = "; load(\"";
    // `[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03`
    let text = text.lines().next().unwrap_or_default();
    let text = text.strip_prefix('[').and_then(|it| it.split_once("] ")).map_or(text, |it| it.1);
    let text = text.split(" SQLSTATE:").next().unwrap_or_default().trim_end_matches('.');
    beginning(text.rsplit_once(ADVICE).map_or(text, |it| it.0))
}

fn table(asked: &StudyQuestion<'_>, name: &str, found: TableFound) -> Dataset {
    let columns = types::columns(&found.columns);
    let kind = if found.r#type == "VIEW" { "view" } else { "table" };
    let mut reasons = vec![format!("{kind} of the catalog, with the types that it has there")];
    if found.is_estimate {
        reasons.push("the number of rows is an estimate from the catalog's statistics".to_owned());
    }
    let readings = vec![SparkReading::Same; columns.len()];
    let remote = Remote {
        endpoint: asked.endpoint.clone(),
        version: found.version,
        source: SparkSource::Table { name: name.to_owned() },
        readings,
        is_estimate: found.is_estimate,
        files: None,
        partitioned_by: found.partitions,
    };
    let contents =
        Contents { sha256: found.sha256, bytes: found.bytes, row_count: found.n_rows, columns };
    asked.dataset(remote, contents, asked.dialect(SourceFormat::Table, reasons))
}

#[cfg(test)]
mod tests {
    use super::{What, brief};

    #[test]
    fn what_spark_says_is_told_without_its_codes() {
        let said = "[PATH_NOT_FOUND] Path does not exist: file:/x. SQLSTATE: 42K03\n\nmore";
        assert_eq!(brief(said), "Path does not exist: file:/x");
        assert_eq!(brief(&"x".repeat(1_000)).chars().count(), 401);
        assert_eq!(brief(""), "");
        let unfit =
            "`a`: \"x\" is not a valid int64; load(\"t\", text=[\"a\"]) reads this column as text";
        assert_eq!(brief(unfit), "`a`: \"x\" is not a valid int64");
    }

    #[test]
    fn what_has_a_slash_a_star_or_an_ending_is_a_path() {
        let is_path = |it| matches!(What::of(it), What::Files(_));
        for text in ["/data/x", "s3a://b/x/", "flights.csv", "a.csv.gz", "*.x", "X.PARQUET"] {
            assert!(is_path(text), "{text}");
        }
        for text in ["flights", "db.flights", "cat.db.flights", "a b"] {
            assert!(!is_path(text), "{text}");
        }
    }
}
