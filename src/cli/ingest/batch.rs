//! Batches the registration of small datasets.
//!
//! Registering writes the catalog, which is one file, and syncs the disk. Doing that for each of a thousand
//! small datasets would take most of the time. When the process is killed before a batch is registered, its
//! datasets are absent, and the next open of the session deletes their files.

use std::time::{Duration, Instant};

use csv_agent_ingest::{DatasetFiles, IngestOptions, sync_dir};
use csv_agent_session::Session;
use csv_agent_types::catalog::Dataset;
use csv_agent_types::status::Failure;

use super::job::{Ingested, Target};
use crate::usage::nearest;

/// Minimum time that a dataset may wait for others.
const WAIT: Duration = Duration::from_millis(100);
/// Maximum wait, as a multiple of the last registration's time: the catalog grows.
const WAITS_MAX: u32 = 8;

/// Datasets with the numbers of their inputs.
#[derive(Debug, Default)]
pub(super) struct Batch {
    done: Vec<(usize, Ingested)>,
    /// When the first unregistered dataset was added.
    waits_since: Option<Instant>,
    /// Duration of the last registration.
    took: Duration,
    /// Columns named by the user that no file has had yet. Until it is empty, nothing is registered.
    missing: Vec<String>,
}

impl Batch {
    /// Starts a batch for several files, at least one of which must have each column in the user's options.
    pub(super) fn of_several(read: &IngestOptions) -> Batch {
        let named = read.dtypes.iter().map(|it| it.0.clone());
        Batch { missing: named.filter(|it| it != "*").collect(), ..Batch::default() }
    }

    /// Returns whether a registration is due.
    pub(super) fn is_due(&self) -> bool {
        let wait = WAIT.max(self.took * WAITS_MAX);
        self.missing.is_empty() && self.waits_since.is_some_and(|it| wait <= it.elapsed())
    }

    /// Adds the result of an input.
    pub(super) fn add(&mut self, at: usize, ingested: Ingested) {
        if ingested.files.is_some() {
            self.waits_since.get_or_insert_with(Instant::now);
        }
        let has = |name: &str| ingested.dataset.columns.iter().any(|it| is_called(&it.name, name));
        self.missing.retain(|it| !has(it));
        self.done.push((at, ingested));
    }

    /// Registers the waiting datasets. Returns the errors of those that failed, which are removed from the
    /// results.
    pub(super) fn commit(&mut self, target: &mut Target) -> Vec<anyhow::Error> {
        let mut errors = Vec::new();
        if !self.missing.is_empty() {
            return errors;
        }
        let Some(session) = target.session().filter(|_| self.waits_since.is_some()) else {
            return errors;
        };
        self.waits_since = None;
        let began = Instant::now();
        let files = self.done.iter_mut().filter_map(|(_, it)| it.files.as_mut());
        let files = files.map(std::mem::take).collect();
        let mut outcomes = DatasetFiles::keep_all(files).into_iter();
        let mut kept = Vec::new();
        self.done.retain_mut(|(_, it)| {
            if it.files.take().is_none() {
                return true;
            }
            match outcomes.next().unwrap_or(Ok(())) {
                Ok(()) => kept.push((it.name.clone(), it.dataset.clone())),
                Err(error) => {
                    errors.push(error);
                    return false;
                }
            }
            true
        });
        let names: Vec<String> = kept.iter().map(|it| it.0.clone()).collect();
        if let Err(error) = register(session, kept) {
            self.done.retain(|it| !names.contains(&it.1.name));
            errors.push(error);
        }
        self.took = began.elapsed();
        errors
    }

    /// Registers the rest at the end. Keeps nothing at all where no file has a column that the user named,
    /// since it is misspelt.
    pub(super) fn finish(&mut self, target: &mut Target) -> Vec<anyhow::Error> {
        if self.missing.is_empty() || self.done.is_empty() {
            return self.commit(target);
        }
        let columns = self.done.iter().flat_map(|it| &it.1.dataset.columns);
        let mut columns: Vec<String> = columns.map(|it| it.name.clone()).collect();
        columns.sort();
        columns.dedup();
        let errors = self.missing.iter().map(|name| {
            let message = format!("none of {} files has a column `{name}`", self.done.len());
            let hint = match nearest(name, &columns).first() {
                Some(near) => format!("did you mean `{near}`? Nothing was ingested"),
                None => "nothing was ingested; `--dry-run` without the flag shows the columns"
                    .to_owned(),
            };
            Failure::usage(message).hint(hint).into()
        });
        let errors = errors.collect();
        self.done.clear();
        errors
    }

    /// Returns the successful results in order.
    pub(super) fn into_done(mut self) -> Vec<Ingested> {
        self.done.sort_by_key(|it| it.0);
        self.done.into_iter().map(|it| it.1).collect()
    }
}

/// Returns whether a column matches the user's name.
fn is_called(column: &str, name: &str) -> bool {
    column.to_lowercase() == name.to_lowercase()
}

fn register(session: &mut Session, datasets: Vec<(String, Dataset)>) -> anyhow::Result<()> {
    if session.is_kept() {
        sync_dir(&session.datasets_dir()?)?;
    }
    session.register(datasets)
}
