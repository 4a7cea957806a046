//! What is described: files, and datasets of the session.

use std::path::{Path, PathBuf};

use csv_agent_session::Session;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::chosen::{chosen, is_named};
use csv_agent_types::status::{Failure, FailureKind};

use crate::diagnostics;
use crate::engine::files_of;
use crate::errors;
use crate::ingest::{changed_sources, ingest_readable};
use crate::options::GlobalOptions;

/// A dataset to describe.
pub(super) struct InputDataset {
    pub name: String,
    /// What the catalog has of it.
    pub dataset: Dataset,
    /// Its Parquet file.
    pub file: PathBuf,
}

/// All inputs, and the temporary session with those that are files.
pub(super) struct Inputs {
    /// Files first, then datasets of the session; each in the order of the arguments.
    pub datasets: Vec<InputDataset>,
    /// Why some files cannot be read.
    pub failures: Vec<anyhow::Error>,
    _session: Option<Session>,
}

impl InputDataset {
    /// Finds the inputs: files are ingested into a temporary session. Without arguments, all local datasets of
    /// the session are inputs. Fails when an argument is neither a file nor a dataset, or a file cannot be
    /// ingested.
    pub(super) fn all(arguments: &[PathBuf], options: &GlobalOptions) -> anyhow::Result<Inputs> {
        let (files, names): (Vec<PathBuf>, Vec<PathBuf>) =
            arguments.iter().cloned().partition(|it| is_file(it));
        let names: Vec<String> = names.iter().map(|it| it.to_string_lossy().into_owned()).collect();
        let (mut inputs, mut failures) = (Vec::new(), Vec::new());
        let mut temporary = None;
        // Before files are read, which may take a while.
        let of_session = if !names.is_empty() || files.is_empty() {
            datasets(&names, options)?
        } else {
            Vec::new()
        };
        if !files.is_empty() {
            let mut session = Session::ephemeral(None)?;
            failures = ingest_readable(&mut session, &files, options)?;
            if let Some(at) = failures.iter().position(|it| !is_about_file(it)) {
                return Err(failures.swap_remove(at));
            }
            diagnostics::warnings(session.take_warnings(), options.terminal.stderr.colour);
            let catalog = session.catalog();
            inputs = with_files(session.dir(), catalog, catalog.iter())?;
            // Each file where it was named, what a directory has by name.
            let paths: Vec<PathBuf> = files.iter().flat_map(std::path::absolute).collect();
            inputs.sort_by_key(|input| {
                let source = std::path::absolute(&input.dataset.source).unwrap_or_default();
                paths.iter().position(|it| source.starts_with(it))
            });
            temporary = Some(session);
        }
        inputs.extend(of_session);
        Ok(Inputs { datasets: inputs, failures, _session: temporary })
    }
}

fn is_about_file(error: &anyhow::Error) -> bool {
    errors::kind_of(error) == FailureKind::Input
}

/// Returns whether an argument means files: they exist, or it cannot be the name of a dataset.
fn is_file(argument: &Path) -> bool {
    let Some(text) = argument.to_str() else { return true };
    let is_word = |it: char| it.is_alphanumeric() || "_-*?[]!".contains(it);
    let is_pattern = text.contains(['*', '?', '[']);
    text == "-"
        || !text.chars().all(is_word)
        || argument.exists()
        || is_pattern && glob::glob(text).is_ok_and(|mut it| it.next().is_some())
}

fn datasets(names: &[String], options: &GlobalOptions) -> anyhow::Result<Vec<InputDataset>> {
    if let Err(error) = options.session.existing() {
        let Some(name) = names.first().filter(|_| !options.session.is_named()) else {
            return Err(error);
        };
        let message = format!("there is no file `{name}`, and no session with such a dataset");
        let hint = "name a file, or add one to a session with `csv-agent ingest FILE`";
        return Err(Failure::input(message).hint(hint).into());
    }
    let dir = &options.session.dir;
    let catalog = Session::read_catalog(dir)?;
    if !names.is_empty() {
        let wanted = catalog.filtered(|name| names.iter().any(|it| is_named(it, name)));
        diagnostics::warnings(changed_sources(wanted.iter(), dir), options.terminal.stderr.colour);
        return with_files(dir, &wanted, chosen(&catalog, names)?.into_iter());
    }
    let here = catalog.here();
    diagnostics::warnings(changed_sources(here.iter(), dir), options.terminal.stderr.colour);
    for (name, remote) in catalog.remote() {
        let endpoint = &remote.endpoint;
        let text =
            format!("dataset `{name}` is left out, because it is on the cluster at {endpoint}");
        diagnostics::warning(&text, options.terminal.stderr.colour);
    }
    with_files(dir, &here, here.iter())
}

/// Returns inputs in the order of `chosen`, which is the catalog in another order.
pub(super) fn with_files<'a>(
    dir: &Path,
    catalog: &Catalog,
    chosen: impl Iterator<Item = (&'a str, &'a Dataset)>,
) -> anyhow::Result<Vec<InputDataset>> {
    let files = files_of(dir, catalog, "describe")?;
    let input = |(name, dataset): (&str, &Dataset)| {
        let file = files.iter().find(|it| it.0 == name)?.1.clone();
        Some(InputDataset { name: name.to_owned(), dataset: dataset.clone(), file })
    };
    Ok(chosen.filter_map(input).collect())
}
