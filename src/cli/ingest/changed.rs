//! Datasets whose files have changed since they were ingested.

use std::collections::{HashMap, HashSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use jiff::Timestamp;
use tempfile::NamedTempFile;

use csv_agent_ingest::{Archive, Entry};
use csv_agent_text::lists::names;
use csv_agent_types::catalog::{DType, Dataset};
use csv_agent_types::limits::{CSV_BYTES_MAX, EXPORT_SOURCE_BYTES_MAX};
use csv_agent_types::named_file;

use super::gone::earlier;
use super::input::Input;
use super::join::{BY_NAME, SAME_COLUMNS, base_name};
use super::origin::{absolute, origin_of};
use super::sources::{self, Search, canonical, split_part};
use crate::tips;

/// Number of datasets that the sentence names.
const NAMED_MAX: usize = 3;

/// Returns a sentence about those of these datasets of a session whose files have changed, if any has, and one about
/// each whose part of a file is gone.
///
/// The size of a file decides, and if it is the same, its content where it was written after the ingest. What is in
/// an archive is compared where the archive was written after it.
pub(crate) fn changed_sources<'a>(
    datasets: impl Iterator<Item = (&'a str, &'a Dataset)>,
    session_dir: &Path,
) -> Vec<String> {
    let base = absolute(session_dir);
    let mut files = Files {
        base: base.canonicalize().unwrap_or(base),
        opened: HashMap::new(),
        tables: HashMap::new(),
    };
    let mut changed: Vec<ChangedDataset> = Vec::new();
    let mut sentences = Vec::new();
    for (name, dataset) in datasets {
        match files.state_of(dataset) {
            SourceState::Same => {}
            SourceState::Changed(how) => {
                changed.push(ChangedDataset { name, dataset, how });
            }
            SourceState::Gone { part } => {
                let shown = shown(dataset, session_dir);
                let file = shown.strip_suffix(&part).map_or(&*shown, |it| it.trim_end_matches('/'));
                let why = format!("`{file}` no longer contains `{part}`");
                sentences.push(earlier(name, &why));
            }
        }
    }
    sentences.extend(sentence(&changed, session_dir));
    sentences
}

/// A dataset whose files have changed.
struct ChangedDataset<'a> {
    name: &'a str,
    dataset: &'a Dataset,
    /// How many of several files changed, and how.
    how: String,
}

/// Returns the sentence about datasets, with the command that reads them again.
fn sentence(changed: &[ChangedDataset<'_>], session_dir: &Path) -> Option<String> {
    let mut arguments: Vec<String> = Vec::new();
    let mut commands: Vec<String> = Vec::new();
    for ChangedDataset { name, dataset, .. } in changed.iter().take(NAMED_MAX) {
        let (list, it) = match reading(name, dataset, session_dir) {
            Reading::Argument(it) => (&mut arguments, it),
            Reading::Command(it) => (&mut commands, it),
        };
        if !list.contains(&it) {
            list.push(it);
        }
    }
    if !arguments.is_empty() {
        let more = if NAMED_MAX < changed.len() { " …" } else { "" };
        commands.insert(0, format!("csv-agent ingest {}{more}", arguments.join(" ")));
    }
    let again = format!("`{}`", commands.join("` and `"));
    match changed {
        [] => None,
        [ChangedDataset { dataset, .. }] if dataset.files.is_empty() => Some(format!(
            "`{}` has changed since it was ingested; {again} reads it again",
            shown(dataset, session_dir)
        )),
        [ChangedDataset { name, how, .. }] => Some(format!(
            "the files of `{name}` have changed since they were joined ({how}); {again} reads them again"
        )),
        _ => {
            let names = names(changed.iter().map(|it| it.name), NAMED_MAX);
            Some(format!(
                "the files of {names} have changed since they were ingested; {again} reads them again"
            ))
        }
    }
}

/// How the files of a dataset are read again.
enum Reading {
    /// By `ingest` with this argument.
    Argument(String),
    /// By a command of its own.
    Command(String),
}

fn reading(name: &str, dataset: &Dataset, session_dir: &Path) -> Reading {
    if dataset.files.is_empty() {
        return Reading::Argument(tips::quoted(&shown(dataset, session_dir)));
    }
    let name = base_name(name, dataset.table_number);
    let places = dataset.origin.iter().flat_map(|it| it.split(", "));
    let path = |(source, origin): (&str, &str)| {
        if origin_of(Path::new(source), session_dir).as_deref() == Some(origin) {
            return source.to_owned();
        }
        absolute(&absolute(session_dir).join(origin)).display().to_string()
    };
    let paths: Vec<String> = dataset.source.split(", ").zip(places).map(path).collect();
    match &paths[..] {
        [one] if !Path::new(one).is_file() => {
            Reading::Argument(tips::quoted(&format!("{name}={one}")))
        }
        _ => {
            let by_name = dataset.dialect.told.iter().any(|it| it == BY_NAME);
            let flag = if by_name { BY_NAME } else { SAME_COLUMNS };
            let paths: Vec<String> = paths.iter().map(|it| tips::quoted(it)).collect();
            let paths = paths.join(" ");
            Reading::Command(format!("csv-agent ingest {flag} --name {name} {paths}"))
        }
    }
}

/// Returns the paths of the files that a dataset was read from. Those of a union are as the user named them.
pub(crate) fn sources_of(dataset: &Dataset, session_dir: &Path) -> Vec<PathBuf> {
    let joined = dataset.files.iter().map(|it| PathBuf::from(&it.source));
    place_of(dataset, session_dir).into_iter().chain(joined).collect()
}

/// Returns a sentence for each column of a dataset that is text now and was not before.
pub(crate) fn became_text<'a>(
    name: &str,
    before: &'a Dataset,
    now: &'a Dataset,
) -> impl Iterator<Item = String> {
    let source = now.source.clone();
    let is_text = |name: &str| {
        let column = now.columns.iter().find(|it| it.name == name);
        column.is_some_and(|it| it.dtype == DType::String)
    };
    let typed = before.columns.iter().filter(|it| it.dtype != DType::String);
    typed.filter(move |it| is_text(&it.name)).map(move |it| {
        format!(
            "column `{}` of `{name}` is text in `{source}`; in the original it is {}",
            it.name,
            it.dtype.name()
        )
    })
}

/// What became of the files of a dataset.
enum SourceState {
    Same,
    /// With how many changed, and how.
    Changed(String),
    /// The file no longer has the part.
    Gone {
        part: String,
    },
}

/// An archive, and its files by their paths.
type OpenedArchive = (Archive, HashMap<String, Entry>);

/// The files of datasets.
struct Files {
    /// The session's directory, without links.
    base: PathBuf,
    /// The archives among them, each opened once; None for other files.
    opened: HashMap<PathBuf, Option<OpenedArchive>>,
    /// The sheets or tables of files that have changed.
    tables: HashMap<PathBuf, Option<Vec<String>>>,
}

impl Files {
    fn state_of(&mut self, dataset: &Dataset) -> SourceState {
        if dataset.remote().is_some() {
            return SourceState::Same;
        }
        if !dataset.files.is_empty() {
            let how = self.change_of_joined(dataset).unwrap_or_default();
            return if how.is_empty() { SourceState::Same } else { SourceState::Changed(how) };
        }
        let Some(place) = dataset.origin.as_ref().map(|it| absolute(&self.base.join(it))) else {
            return SourceState::Same;
        };
        let Dataset { bytes, sha256, ingested_at, .. } = dataset;
        if !self.has_changed(&place, *bytes, sha256, ingested_at) {
            return SourceState::Same;
        }
        match split_part(&place) {
            Some((file, part)) if !self.has_part(file, part) => {
                SourceState::Gone { part: part.to_owned() }
            }
            _ => SourceState::Changed(String::new()),
        }
    }

    /// Returns how the files of a joined dataset have changed; None where that is not known.
    fn change_of_joined(&mut self, dataset: &Dataset) -> Option<String> {
        let (mut n_changed, mut n_gone) = (0, 0);
        let mut known: HashSet<PathBuf> = HashSet::new();
        let mut is_any_opened = false;
        for file in &dataset.files {
            let place = absolute(&self.base.join(file.origin.as_ref()?));
            let (container, part) = split_part(&place).unwrap_or((&place, ""));
            known.insert(canonical(container));
            known.insert(canonical(container).join(part));
            if !container.exists() {
                n_gone += 1;
            } else if self.has_changed(&place, file.bytes, &file.sha256, &dataset.ingested_at) {
                let is_gone = !part.is_empty() && !self.has_part(container, part);
                *(if is_gone { &mut n_gone } else { &mut n_changed }) += 1;
            }
            is_any_opened |= !part.is_empty() && is_newer(container, dataset);
        }
        // A new file need not have a second table.
        let n_new = if dataset.table_number.is_none() {
            self.n_new(dataset, &known, !is_any_opened)
        } else {
            0
        };
        let counts = [(n_changed, "changed"), (n_new, "new"), (n_gone, "gone")];
        let said = counts.iter().filter(|it| 0 < it.0).map(|(n, what)| format!("{n} {what}"));
        Some(said.collect::<Vec<_>>().join(", "))
    }

    /// Returns how many files came to the paths of a joined dataset after it was made; with `is_shallow`, without
    /// those in archives and workbooks.
    fn n_new(&self, dataset: &Dataset, known: &HashSet<PathBuf>, is_shallow: bool) -> usize {
        let places = dataset.origin.iter().flat_map(|it| it.split(", "));
        let paths: Vec<PathBuf> = places.map(|it| absolute(&self.base.join(it))).collect();
        let search = Search { is_shallow, ..Search::of_dataset(dataset, CSV_BYTES_MAX) };
        let Ok(found) = sources::expand(&paths, search, None, &AtomicBool::new(false)) else {
            return 0;
        };
        // Files that could not be joined are older.
        let is_new = |it: &&Input| {
            let (Some(file), Some(path)) = (it.file(), it.path()) else { return false };
            let part = path.strip_prefix(file).unwrap_or(Path::new(""));
            !known.contains(&canonical(file).join(part)) && is_newer(file, dataset)
        };
        found.inputs.iter().filter(is_new).count()
    }

    fn has_changed(&mut self, place: &Path, bytes: u64, sha256: &str, ingested_at: &str) -> bool {
        if let Some((file, part)) = split_part(place) {
            return self.has_part_changed((file, part), bytes, sha256, ingested_at);
        }
        // A file without a length, as in `/proc`, is not read.
        let Ok(found) =
            place.metadata().map(|it: Metadata| (it.is_file(), it.len(), it.modified()))
        else {
            return false;
        };
        match found {
            (false, ..) | (_, 0, _) => false,
            (_, found, _) if found != bytes => true,
            (_, _, Ok(modified)) if bytes <= EXPORT_SOURCE_BYTES_MAX => {
                is_after(modified, ingested_at) && !is_same(place, bytes, sha256)
            }
            _ => false,
        }
    }

    /// Returns whether a sheet, a table or a member has changed. The content of a workbook or a database is that of
    /// its file.
    fn has_part_changed(
        &mut self,
        (file, part): (&Path, &str),
        bytes: u64,
        sha256: &str,
        ingested_at: &str,
    ) -> bool {
        let Ok(metadata) = file.metadata() else { return false };
        let changed = moment_of(&metadata).map(SystemTime::from);
        if changed.is_none_or(|it| !is_after(it, ingested_at)) || is_same(file, bytes, sha256) {
            return false;
        }
        let Some((archive, entries)) = self.archive(file) else { return true };
        let member = entries.values().find(|it| is_within(part, &it.path));
        let Some(member) = member.filter(|it| it.bytes == bytes) else { return true };
        if EXPORT_SOURCE_BYTES_MAX < bytes {
            return false;
        }
        let copied = NamedTempFile::new().ok().and_then(|mut copy| {
            archive.copy(member, copy.as_file_mut(), &AtomicBool::new(false)).ok()?;
            Some(copy)
        });
        copied.is_none_or(|it| !is_same(it.path(), bytes, sha256))
    }

    /// Returns whether a file still has a sheet, a table or a member.
    fn has_part(&mut self, file: &Path, part: &str) -> bool {
        if let Some(only) = csv_agent_ingest::only_member(file) {
            return is_within(part, &only);
        }
        if let Some((_, entries)) = self.archive(file) {
            return entries.values().any(|it| is_within(part, &it.path));
        }
        let open = || {
            let found = csv_agent_ingest::tables(file, "", CSV_BYTES_MAX, &AtomicBool::new(false));
            let names =
                found.ok()??.all().map(|it| it.trim_start_matches('/').to_owned()).collect();
            Some(names)
        };
        let tables: &Option<Vec<String>> = self.tables.entry(file.to_owned()).or_insert_with(open);
        tables.as_ref().is_none_or(|it| it.iter().any(|it| it == part))
    }

    fn archive(&mut self, file: &Path) -> Option<&OpenedArchive> {
        let open = || {
            let opened = Archive::open(file, "", &AtomicBool::new(false)).ok()??;
            let (archive, entries) = opened;
            Some((archive, entries.into_iter().map(|it| (it.path.clone(), it)).collect()))
        };
        self.opened.entry(file.to_owned()).or_insert_with(open).as_ref()
    }
}

/// Returns whether a part of an archive is a member or in it.
fn is_within(part: &str, member: &str) -> bool {
    part.strip_prefix(member).is_some_and(|it| it.is_empty() || it.starts_with('/'))
}

fn is_same(path: &Path, bytes: u64, sha256: &str) -> bool {
    named_file::open(path).is_ok_and(|file| csv_agent_ingest::is_same_file(&file, bytes, sha256))
}

/// Returns whether a file was written, replaced or renamed after a dataset was made.
fn is_newer(file: &Path, dataset: &Dataset) -> bool {
    let made: Option<Timestamp> = dataset.ingested_at.parse().ok();
    let changed = file.metadata().ok().and_then(|it| moment_of(&it));
    changed.is_some() && made < changed
}

/// Returns when a file was last written, replaced or renamed.
fn moment_of(metadata: &Metadata) -> Option<Timestamp> {
    Timestamp::new(metadata.ctime(), i32::try_from(metadata.ctime_nsec()).ok()?).ok()
}

/// Returns the path as the user named it, where that leads to the file from here.
fn shown(dataset: &Dataset, session_dir: &Path) -> String {
    match place_of(dataset, session_dir) {
        Some(place) if origin_of(Path::new(&dataset.source), session_dir) != dataset.origin => {
            place.display().to_string()
        }
        _ => dataset.source.clone(),
    }
}

/// Returns the absolute path of the one file of a dataset.
fn place_of(dataset: &Dataset, session_dir: &Path) -> Option<PathBuf> {
    let is_one_file = dataset.remote().is_none() && dataset.files.is_empty();
    let origin = dataset.origin.as_deref().filter(|_| is_one_file)?;
    let base = absolute(session_dir);
    Some(absolute(&base.canonicalize().unwrap_or(base).join(origin)))
}

/// Returns whether a time is in the second of a moment in RFC 3339, or later.
fn is_after(time: SystemTime, moment: &str) -> bool {
    let (Ok(time), Ok(moment)) = (Timestamp::try_from(time), moment.parse::<Timestamp>()) else {
        return true;
    };
    moment.as_second() <= time.as_second()
}
