//! What several inputs became, registered together where they are small.
//!
//! The catalog is one file, and the disk is asked whether it has all: done for each of a thousand small datasets,
//! that would take most of the time. Killed before its batch is registered, a dataset is absent and its files go
//! when the session is opened the next time.

use std::time::{Duration, Instant};

use csv_agent_ingest::{DatasetFiles, IngestOptions, sync_dir};
use csv_agent_session::Session;
use csv_agent_types::catalog::Dataset;
use csv_agent_types::status::{ExitStatus, Failure};

use super::job::{Ingested, Target};
use crate::usage::nearest;

/// Time that a dataset may wait for others, at least.
const WAIT: Duration = Duration::from_millis(100);
/// So many times as long as registering took last, a dataset may wait: the catalog grows.
const WAITS_MAX: u32 = 8;

/// Datasets with the numbers of their inputs.
#[derive(Debug, Default)]
pub(super) struct Batch {
    done: Vec<(usize, Ingested)>,
    /// Since when the first of them waits for being registered.
    waits_since: Option<Instant>,
    /// How long it took to register.
    took: Duration,
    /// Columns that the user names and no file has had yet. Until then nothing is registered.
    missing: Vec<String>,
}

impl Batch {
    /// Begins for several files, of which one has to have each column that the user says something about.
    pub(super) fn of_several(read: &IngestOptions) -> Batch {
        let named = read.dtypes.iter().map(|it| it.0.clone());
        Batch { missing: named.filter(|it| it != "*").collect(), ..Batch::default() }
    }

    /// Returns whether nothing may wait any longer.
    pub(super) fn is_due(&self) -> bool {
        let wait = WAIT.max(self.took * WAITS_MAX);
        self.missing.is_empty() && self.waits_since.is_some_and(|it| wait <= it.elapsed())
    }

    /// Takes what became of an input.
    pub(super) fn add(&mut self, at: usize, ingested: Ingested) {
        if ingested.files.is_some() {
            self.waits_since.get_or_insert_with(Instant::now);
        }
        let has = |name: &str| ingested.dataset.columns.iter().any(|it| is_called(&it.name, name));
        self.missing.retain(|it| !has(it));
        self.done.push((at, ingested));
    }

    /// Registers what waits. Returns why anything failed, which is then not among what was done.
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

    /// Registers what waits when there is no more to come. Nothing of all is kept where no file has a column that
    /// the user names, which is mistyped.
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
            Failure::new(ExitStatus::Usage, message).hint(hint).into()
        });
        let errors = errors.collect();
        self.done.clear();
        errors
    }

    /// Returns what became of the inputs that did not fail, in their order.
    pub(super) fn into_done(mut self) -> Vec<Ingested> {
        self.done.sort_by_key(|it| it.0);
        self.done.into_iter().map(|it| it.1).collect()
    }
}

/// Returns whether a column is the one that a user names.
fn is_called(column: &str, name: &str) -> bool {
    column.to_lowercase() == name.to_lowercase()
}

fn register(session: &mut Session, datasets: Vec<(String, Dataset)>) -> anyhow::Result<()> {
    sync_dir(&session.datasets_dir()?)?;
    session.register(datasets)
}
