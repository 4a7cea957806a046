//! Joins several files to one dataset: `--union`, `--union-by-name` and `NAME='data/sales-*.csv'`.

use std::path::{Path, PathBuf};

use csv_agent_ingest::{IngestOptions, Opened, Union, files_at_once};
use csv_agent_types::catalog::Dataset;
use csv_agent_types::status::Failure;

use super::bar::IngestBar;
use super::job::{Change, IngestContext, Ingested, NameTaken, unpack};
use super::origin::{absolute, origin_of};
use super::sources::{SourceGroup, Sources, pattern};
use super::{IfExists, template};
use crate::ingest::input::Input;

/// Files that form one dataset.
pub(super) struct Joining {
    name: String,
    /// The user's paths.
    paths: Vec<PathBuf>,
    inputs: Vec<Input>,
    /// Columns from parts of paths, with the value of each file.
    path_columns: Vec<(String, Vec<Option<String>>)>,
    by_name: bool,
}

impl Joining {
    /// Makes a join of the files of groups.
    pub(super) fn of(
        name: Option<&str>,
        groups: &[&SourceGroup],
        sources: &Sources,
        by_name: bool,
    ) -> Joining {
        let paths: Vec<PathBuf> = groups.iter().map(|it| it.path.clone()).collect();
        let name = name.map_or_else(|| name_of(groups), str::to_owned);
        let mut inputs = Vec::new();
        let mut path_columns: Vec<(String, Vec<Option<String>>)> = Vec::new();
        for group in groups {
            for input in &sources.inputs[group.inputs.clone()] {
                let path = input.path().unwrap_or_default();
                for (column, value) in template::values(&path, pattern(&group.path)) {
                    let at =
                        path_columns.iter().position(|it| it.0 == column).unwrap_or_else(|| {
                            path_columns.push((column, Vec::new()));
                            path_columns.len() - 1
                        });
                    path_columns[at].1.resize(inputs.len(), None);
                    path_columns[at].1.push(value);
                }
                inputs.push(input.clone());
            }
        }
        for (_, values) in &mut path_columns {
            values.resize(inputs.len(), None);
        }
        Joining { name, paths, inputs, path_columns, by_name }
    }

    /// Returns the name of the dataset.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of the dataset, to change it.
    pub(super) fn name_mut(&mut self) -> &mut String {
        &mut self.name
    }

    /// Returns the number of files.
    pub(super) fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Joins the files, unless the session has the same join. The dataset is not in the catalog yet. `fail`
    /// receives why a file cannot be read; it is then left out. Fails when no file can be read, the files do
    /// not match, or the name is used by other data.
    pub(super) fn run(
        &self,
        place: &IngestContext<'_>,
        if_exists: IfExists,
        read: &IngestOptions,
        bar: &IngestBar,
        fail: &dyn Fn(anyhow::Error),
    ) -> anyhow::Result<Ingested> {
        let temp = tempfile::tempdir()?;
        let dir = place.dir.unwrap_or(temp.path());
        let open = |at: usize| self.open(at, place, read);
        let mut told = read.given();
        told.push(self.flag().to_owned());
        let present = place.catalog.get(&self.name);
        let rows_before = present.map(|it| it.row_count);
        let change = match present {
            None => Change::Added,
            Some(present) => {
                let change = self.change(place, present, &told, if_exists, &open)?;
                if matches!(change, Change::Unchanged | Change::Skipped) {
                    let (name, dataset) = (self.name.clone(), present.clone());
                    return Ok(Ingested { name, dataset, change, rows_before, files: None });
                }
                change
            }
        };
        let files: Vec<String> = self.inputs.iter().map(Input::shown_name).collect();
        let union = Union {
            shown_name: &self.shown_name(),
            files: &files,
            open: &open,
            path_columns: &self.path_columns,
            by_name: self.by_name,
            fail,
        };
        let n_at_once = files_at_once().min(self.inputs.len()).max(1);
        let origin = self.origin(place.session_dir);
        let read = IngestOptions { origin, n_at_once, ..read.clone() };
        let count = || bar.count();
        let (mut dataset, files) =
            csv_agent_ingest::union(&union, &self.name, dir, &read, place.cancelled, &count)?;
        dataset.dialect.told = told;
        let files = place.dir.is_some().then_some(files);
        Ok(Ingested { name: self.name.clone(), dataset, change, rows_before, files })
    }

    /// Returns the error for files that are not joined because some could not even be listed.
    pub(super) fn refused_as_part(&self) -> Failure {
        let message =
            format!("cannot join `{}`: not all of its files can be read", self.shown_name());
        let hint = "make them readable, or name only the files to join";
        Failure::input(message).hint(hint)
    }

    /// Returns the user's paths, as in the catalog.
    pub(super) fn shown_name(&self) -> String {
        let paths = self.paths.iter().map(|it| it.display().to_string());
        paths.collect::<Vec<_>>().join(", ")
    }

    /// Returns their location, if there is a common one.
    fn origin(&self, session_dir: &Path) -> Option<String> {
        let origins = self.paths.iter().map(|it| origin_of(it, session_dir));
        Some(origins.collect::<Option<Vec<_>>>()?.join(", "))
    }

    fn flag(&self) -> &'static str {
        if self.by_name { "--union-by-name" } else { "--union" }
    }

    fn open(
        &self,
        at: usize,
        place: &IngestContext<'_>,
        read: &IngestOptions,
    ) -> anyhow::Result<Opened> {
        let (file, table) = self.inputs[at].parts();
        let table = table.map(str::to_owned);
        match file {
            Input::File(path) => Ok(Opened { path: path.clone(), copy: None, table }),
            Input::Member(member) => {
                let copy = unpack(member, read.bytes_max, place.dir, place.cancelled)?;
                Ok(Opened { path: copy.path().to_owned(), copy: Some(copy), table })
            }
            Input::Table(_) | Input::Stdin => {
                let message = "cannot join stdin with files";
                let hint = "write it to a file first";
                Err(Failure::usage(message).hint(hint).into())
            }
        }
    }

    /// Decides what to do about a used name.
    fn change(
        &self,
        place: &IngestContext<'_>,
        present: &Dataset,
        told: &[String],
        if_exists: IfExists,
        open: &dyn Fn(usize) -> anyhow::Result<Opened>,
    ) -> anyhow::Result<Change> {
        let is_read_so = present.dialect.told == told
            || (told.len() == 1
                && if_exists != IfExists::Replace
                && present.dialect.told.contains(&told[0]));
        if is_read_so && self.has_same_files(present, open)? {
            let has = |name: &str| {
                present.columns.iter().any(|it| it.name.trim_start_matches('_') == name)
            };
            let has_all = self.path_columns.iter().all(|it| has(it.0.trim_start_matches('_')));
            return Ok(if has_all { Change::Unchanged } else { Change::Replaced });
        }
        // The same files and others, or with changed content: the existing dataset was made from the
        // current source.
        let is_same_source = !present.files.is_empty() && present.origin.is_some();
        let is_same_source = is_same_source && present.origin == self.origin(place.session_dir);
        match if_exists {
            IfExists::Replace => Ok(Change::Replaced),
            IfExists::Skip => Ok(Change::Skipped),
            IfExists::Ask | IfExists::Error if is_same_source => Ok(Change::Updated),
            IfExists::Ask | IfExists::Error => {
                let (source, name) = (self.shown_name(), self.name.clone());
                let present = present.source.clone();
                let taken = NameTaken { verb: "join", source, name, present };
                Err(Failure::from(&taken).into())
            }
        }
    }

    fn has_same_files(
        &self,
        present: &Dataset,
        open: &dyn Fn(usize) -> anyhow::Result<Opened>,
    ) -> anyhow::Result<bool> {
        if present.files.len() != self.inputs.len() {
            return Ok(false);
        }
        for (at, (input, known)) in self.inputs.iter().zip(&present.files).enumerate() {
            if input.shown_name() != known.source || input.bytes() != Some(known.bytes) {
                return Ok(false);
            }
            let opened = open(at)?;
            if csv_agent_ingest::sha256_file(&opened.path)? != known.sha256 {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the name of joined groups: that of the directory, or the common part of a pattern's file names.
fn name_of(groups: &[&SourceGroup]) -> String {
    let Some(first) = groups.first() else { return String::new() };
    let path = absolute(&first.path);
    let parts = path.components().rev().map(|it| it.as_os_str().to_string_lossy().into_owned());
    let names = parts.map(|part| {
        let kept = template::glob_of(&part).replace(['*', '?', '[', ']'], "_");
        csv_agent_ingest::name_of(&PathBuf::from(csv_agent_ingest::stem_of(&kept)))
    });
    // A part without letters or digits is not a name.
    names.into_iter().find(|it| it != "data" || first.path.ends_with("data")).unwrap_or_default()
}
