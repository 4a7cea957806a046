//! What several inputs became, registered together where they are small.
//!
//! The catalog is one file: written again for each of a thousand small datasets, it would take most
//! of the time. Killed before its batch is registered, a dataset is absent and its files go when the
//! session is opened the next time.

use std::time::{Duration, Instant};

use super::job::{Ingested, Target};
use crate::catalog::Dataset;
use crate::dataset::{DatasetFiles, sync_dir};
use crate::session::Session;

/// Time that a dataset may wait for others.
const WAIT: Duration = Duration::from_millis(100);

/// Datasets with the numbers of their inputs.
#[derive(Debug, Default)]
pub struct Batch {
    done: Vec<(usize, Ingested)>,
    /// Since when the first of them waits for being registered.
    waits_since: Option<Instant>,
}

impl Batch {
    /// Returns whether nothing may wait any longer.
    pub fn is_due(&self) -> bool {
        self.waits_since.is_some_and(|it| WAIT <= it.elapsed())
    }

    /// Takes what became of an input.
    pub fn add(&mut self, at: usize, ingested: Ingested) {
        if ingested.files.is_some() {
            self.waits_since.get_or_insert_with(Instant::now);
        }
        self.done.push((at, ingested));
    }

    /// Registers what waits. Returns why anything failed, which is then not among what was done.
    pub fn commit(&mut self, target: &mut Target) -> Vec<anyhow::Error> {
        let mut errors = Vec::new();
        let Some(session) = target.session().filter(|_| self.waits_since.is_some()) else {
            return errors;
        };
        self.waits_since = None;
        let mut kept = Vec::new();
        self.done.retain_mut(|(_, it)| match it.files.take().map(DatasetFiles::keep) {
            None => true,
            Some(Ok(())) => {
                kept.push((it.name.clone(), it.dataset.clone()));
                true
            }
            Some(Err(error)) => {
                errors.push(error);
                false
            }
        });
        let names: Vec<String> = kept.iter().map(|it| it.0.clone()).collect();
        if let Err(error) = register(session, kept) {
            self.done.retain(|it| !names.contains(&it.1.name));
            errors.push(error);
        }
        errors
    }

    /// Returns what became of the inputs that did not fail, in their order.
    pub fn into_done(mut self) -> Vec<Ingested> {
        self.done.sort_by_key(|it| it.0);
        self.done.into_iter().map(|it| it.1).collect()
    }
}

fn register(session: &mut Session, datasets: Vec<(String, Dataset)>) -> anyhow::Result<()> {
    sync_dir(&session.datasets_dir()?)?;
    session.register(datasets)
}
