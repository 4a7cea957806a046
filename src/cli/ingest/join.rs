//! Joins several files to one dataset: `--union`, `--union-by-name` and `NAME='data/sales-*.csv'`.
//!
//! If all tables of the files are read, the second tables of all files form one dataset, and so on.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use csv_agent_ingest::{IngestOptions, Opened, TablePlace, Union, files_at_once};
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::status::Failure;

use super::bar::IngestBar;
use super::job::{Change, IngestContext, Ingested, NameTaken, unpack};
use super::origin::{absolute, origin, origin_of_all};
use super::sources::{SourceGroup, Sources, pattern};
use super::{IfExists, has_all_tables, options_of, template};
use crate::ingest::input::Input;

/// Joins files that have the same columns.
pub(super) const SAME_COLUMNS: &str = "--union";
/// Joins files whose columns may differ.
pub(super) const BY_NAME: &str = "--union-by-name";

/// Files that form one dataset.
pub(super) struct Joining {
    name: String,
    /// The user's paths.
    paths: Vec<PathBuf>,
    inputs: Vec<Input>,
    /// Columns from parts of paths, with the value of each file.
    path_columns: Vec<(String, Vec<Option<String>>)>,
    /// The tables of each file that are not read yet; the first is next.
    places: Vec<VecDeque<TablePlace>>,
    /// The number of these tables, if not the first.
    table_number: Option<usize>,
    /// `--union` or `--union-by-name`, if the user gave it.
    flag: Option<&'static str>,
    /// The flags that chose the files.
    searched: Vec<String>,
}

/// How files are joined.
struct JoinFlags {
    by_name: bool,
    read: IngestOptions,
    /// As flags.
    told: Vec<String>,
}

impl Joining {
    /// Makes a join of the files of groups.
    pub(super) fn of(
        name: Option<&str>,
        groups: &[&SourceGroup],
        sources: &Sources,
        flag: Option<&'static str>,
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
        let places = vec![[TablePlace::default()].into(); inputs.len()];
        let searched = groups.first().map(|it| it.searched.clone()).unwrap_or_default();
        let table_number = None;
        Joining { name, paths, inputs, path_columns, places, table_number, flag, searched }
    }

    /// Returns the join of the next tables of the files; None when no file has more.
    pub(super) fn next(&self, catalog: &Catalog, session_dir: &Path) -> Option<Joining> {
        let with_more = || self.places.iter().zip(0..).filter(|it| !it.0.is_empty()).map(|it| it.1);
        let name = base_name(&self.name, self.table_number);
        let is_free = |number: usize| {
            let taken = catalog.alike(&format!("{name}{}", suffix(Some(number))));
            taken.is_none_or(|it| self.is_source_of(it, session_dir))
        };
        let mut number = self.table_number.unwrap_or(1) + 1;
        // Skips names that other data uses.
        while !is_free(number) {
            number += 1;
        }
        let table_number = Some(number);
        let of =
            |values: &[Option<String>]| with_more().map(|at: usize| values[at].clone()).collect();
        with_more().next()?;
        Some(Joining {
            name: format!("{name}{}", suffix(table_number)),
            paths: self.paths.clone(),
            inputs: with_more().map(|at| self.inputs[at].clone()).collect(),
            path_columns: self.path_columns.iter().map(|it| (it.0.clone(), of(&it.1))).collect(),
            places: with_more().map(|at| self.places[at].clone()).collect(),
            table_number,
            flag: self.flag,
            searched: self.searched.clone(),
        })
    }

    /// Returns whether a dataset was joined from these paths.
    fn is_source_of(&self, dataset: &Dataset, session_dir: &Path) -> bool {
        !dataset.files.is_empty()
            && dataset.origin.is_some()
            && dataset.origin == self.origin(session_dir)
    }

    /// Returns how to join: as before, if the user gives no other flags.
    fn flags(
        &self,
        present: Option<&Dataset>,
        read: &IngestOptions,
        if_exists: IfExists,
        session_dir: &Path,
    ) -> anyhow::Result<JoinFlags> {
        let is_kept = |it: &&Dataset| {
            let has = |flag: &str| it.dialect.told.iter().any(|told| told == flag);
            if_exists != IfExists::Replace
                && read.given().is_empty()
                && self.is_source_of(it, session_dir)
                && self.flag.is_none_or(has)
                && self.searched.iter().all(|it| has(it))
        };
        let Some(present) = present.filter(is_kept) else {
            let flag = self.flag.unwrap_or(SAME_COLUMNS).to_owned();
            let told = [read.given(), vec![flag], self.searched.clone()].concat();
            let by_name = self.flag == Some(BY_NAME);
            return Ok(JoinFlags { by_name, read: read.clone(), told });
        };
        let IngestOptions { bytes_max, strict, is_temporary, .. } = *read;
        let kept = options_of(present)?;
        let read = IngestOptions { bytes_max, strict, is_temporary, ..kept };
        let told = present.dialect.told.clone();
        Ok(JoinFlags { by_name: told.iter().any(|it| it == BY_NAME), read, told })
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

    /// Joins the next tables of the files, unless the session has the same join. The dataset is not in the catalog
    /// yet. `fail` receives why a file cannot be read; it is then left out. Fails when no file can be read, the
    /// files do not match, or the name is used by other data.
    pub(super) fn run(
        &mut self,
        place: &IngestContext<'_>,
        if_exists: IfExists,
        read: &IngestOptions,
        bar: &IngestBar,
        fail: &dyn Fn(anyhow::Error),
    ) -> anyhow::Result<Ingested> {
        let temp = tempfile::tempdir()?;
        let dir = place.dir.unwrap_or(temp.path());
        let present = place.catalog.get(&self.name);
        let JoinFlags { by_name, read, told } =
            self.flags(present, read, if_exists, place.session_dir)?;
        let next: Vec<TablePlace> =
            self.places.iter_mut().map(|it| it.pop_front().unwrap_or_default()).collect();
        let open = |at: usize| {
            let opened = self.open(at, place, &read)?;
            Ok(Opened { place: next[at], ..opened })
        };
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
        let origins: Vec<Option<String>> =
            self.inputs.iter().map(|it| origin(it, place.session_dir)).collect();
        let further: RefCell<Vec<Vec<TablePlace>>> = RefCell::new(vec![Vec::new(); next.len()]);
        let union = Union {
            shown_name: &self.shown_name(),
            files: &files,
            origins: &origins,
            open: &open,
            path_columns: &self.path_columns,
            by_name,
            seen: &|at, dataset| further.borrow_mut()[at] = next[at].others(dataset),
            fail,
        };
        let n_at_once = files_at_once().min(self.inputs.len()).max(1);
        let (origin, table_number) = (self.origin(place.session_dir), self.table_number);
        let all_tables = read.all_tables;
        let read = IngestOptions { origin, table_number, n_at_once, ..read.clone() };
        let count = || bar.count();
        let joined =
            csv_agent_ingest::union(&union, &self.name, dir, &read, place.cancelled, &count);
        for (places, found) in self.places.iter_mut().zip(further.take()) {
            places.extend(found.into_iter().filter(|_| all_tables));
        }
        let (mut dataset, files) = joined?;
        dataset.dialect.told = told;
        let files = place.dir.is_some().then_some(files);
        Ok(Ingested { name: self.name.clone(), dataset, change, rows_before, files })
    }

    /// Returns the datasets of the tables behind these, if the join of these has not changed.
    pub(super) fn unchanged_further<'a>(
        &'a self,
        catalog: &'a Catalog,
        session_dir: &'a Path,
    ) -> impl Iterator<Item = Ingested> + 'a {
        let further = catalog.iter().filter(|it| self.table_number < it.1.table_number);
        let own = further.filter(|it| self.is_source_of(it.1, session_dir));
        own.map(|(name, dataset)| Ingested {
            name: name.to_owned(),
            dataset: dataset.clone(),
            change: Change::Unchanged,
            rows_before: Some(dataset.row_count),
            files: None,
        })
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

    /// Returns their location, if all have one.
    fn origin(&self, session_dir: &Path) -> Option<String> {
        origin_of_all(&self.paths, session_dir)
    }

    fn open(
        &self,
        at: usize,
        place: &IngestContext<'_>,
        read: &IngestOptions,
    ) -> anyhow::Result<Opened> {
        let at_first = TablePlace::default();
        let (file, table) = self.inputs[at].parts();
        let table = table.map(str::to_owned);
        match file {
            Input::File(path) => {
                Ok(Opened { path: path.clone(), copy: None, table, place: at_first })
            }
            Input::Member(member) => {
                let copy = unpack(member, read.bytes_max, place.dir, place.cancelled)?;
                let path = copy.path().to_owned();
                Ok(Opened { path, copy: Some(copy), table, place: at_first })
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
        let is_read_so = present.dialect.told == told;
        let mut further = self.unchanged_further(place.catalog, place.session_dir);
        let has_further = present.set_aside.other_tables == 0 || further.next().is_some();
        let is_whole = has_further || self.table_number.is_some() || !has_all_tables(present);
        if is_read_so && is_whole && self.has_same_files(present, open)? {
            let has = |name: &str| {
                present.columns.iter().any(|it| it.name.trim_start_matches('_') == name)
            };
            let has_all = self.path_columns.iter().all(|it| has(it.0.trim_start_matches('_')));
            return Ok(if has_all { Change::Unchanged } else { Change::Replaced });
        }
        // The same files and others, or with changed content: the existing dataset was made from the
        // current source.
        let is_same_source = self.is_source_of(present, place.session_dir);
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

/// Returns the name of the dataset of the first tables, by that of the tables of a number.
pub(super) fn base_name(name: &str, table_number: Option<usize>) -> &str {
    name.strip_suffix(&suffix(table_number)).unwrap_or(name)
}

/// Returns what follows the name in that of a further table.
fn suffix(table_number: Option<usize>) -> String {
    table_number.map_or_else(String::new, |it| format!("_{it}"))
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
