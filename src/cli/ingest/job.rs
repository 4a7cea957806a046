//! The ingest of one input: checks whether it exists already and whether its name is free, and reads it.

use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use strum::IntoStaticStr;
use tempfile::NamedTempFile;

use csv_agent_ingest::{Awaited, DatasetFiles, IngestOptions, Source, why_no_lines};
use csv_agent_session::{Access, Session};
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::status::Failure;

use super::bar::IngestBar;
use super::origin::{is_from, origin};
use super::{IfExists, options_of, space};
use crate::ingest::input::{Input, Member, is_same_file};
use crate::options::GlobalOptions;
use crate::tips::quoted;

/// What became of one input.
#[derive(Debug)]
pub(super) struct Ingested {
    /// The dataset's name.
    pub name: String,
    /// The dataset, as now in the catalog.
    pub dataset: Dataset,
    /// The change to the catalog.
    pub change: Change,
    /// The rows of the dataset that had the name before.
    pub rows_before: Option<u64>,
    /// Files still to be kept and registered.
    pub files: Option<DatasetFiles>,
}

impl Ingested {
    /// Returns whether the file was read now.
    pub(super) fn is_read(&self) -> bool {
        !matches!(self.change, Change::Unchanged | Change::Skipped)
    }

    /// Returns a copy for reports, without files.
    pub(super) fn shown(&self) -> Ingested {
        let (name, dataset) = (self.name.clone(), self.dataset.clone());
        Ingested { name, dataset, files: None, ..*self }
    }
}

/// A change to the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Change {
    /// The name was unused.
    Added,
    /// It replaced other data, or the same file read with other options.
    Replaced,
    /// The content of its file had changed.
    Updated,
    /// The same file was ingested before.
    Unchanged,
    /// The name is used by other data, and `--if-exists skip` keeps that.
    Skipped,
}

impl Change {
    /// Returns the word for the user.
    pub(super) fn name(self) -> &'static str {
        self.into()
    }
}

/// The destination of datasets.
pub(super) enum Target<'a> {
    /// A session that this command opened.
    Own(Session),
    /// A session that the caller opened.
    Open(&'a mut Session),
    /// No session is written; these datasets exist already.
    Nowhere(Catalog),
}

impl Target<'_> {
    pub(super) fn open(dry_run: bool, options: &GlobalOptions) -> anyhow::Result<Target<'static>> {
        let dir = &options.session.dir;
        if dry_run {
            return Ok(Target::Nowhere(Session::read_catalog(dir)?));
        }
        let lock = options.lock("ingest");
        Ok(Target::Own(Session::open(dir, Access::Create, lock)?))
    }

    pub(super) fn catalog(&self) -> &Catalog {
        match self {
            Target::Own(session) => session.catalog(),
            Target::Open(session) => session.catalog(),
            Target::Nowhere(catalog) => catalog,
        }
    }

    /// Returns the session's directory, which need not exist when nothing is stored.
    pub(super) fn session_dir(&self, options: &GlobalOptions) -> PathBuf {
        match self {
            Target::Own(session) => session.dir().to_owned(),
            Target::Open(session) => session.dir().to_owned(),
            Target::Nowhere(_) => options.session.dir.clone(),
        }
    }

    pub(super) fn session(&mut self) -> Option<&mut Session> {
        match self {
            Target::Own(session) => Some(session),
            Target::Open(session) => Some(session),
            Target::Nowhere(_) => None,
        }
    }
}

/// The context shared by all inputs.
pub(super) struct IngestContext<'a> {
    /// The datasets at the start.
    pub catalog: &'a Catalog,
    /// The session's directory of datasets; None when nothing is stored.
    pub dir: Option<&'a Path>,
    /// The session's directory.
    pub session_dir: &'a Path,
    /// Whether there are several files, not all of which have every column that the user names.
    pub are_several: bool,
    /// The options of every command.
    pub options: &'a GlobalOptions,
    /// Set when the user wants to stop.
    pub cancelled: &'a Arc<AtomicBool>,
}

impl IngestContext<'_> {
    /// Returns whether a dataset has lost its rows, or their line numbers.
    fn is_hurt(&self, name: &str) -> anyhow::Result<bool> {
        let Some(session) = self.dir.and_then(Path::parent) else { return Ok(false) };
        let only = self.catalog.filtered(|it| it == name);
        let has_lines = || only.iter().all(|it| why_no_lines(session, it.1).is_none());
        Ok(!Session::hurt_datasets(session, &only)?.is_empty() || !has_lines())
    }
}

/// The ingest of one input.
pub(super) struct Job<'a> {
    /// The source.
    pub input: &'a Input,
    /// The dataset's name.
    pub name: String,
    /// What to do when the name is used.
    pub if_exists: IfExists,
    pub read: &'a IngestOptions,
}

impl Job<'_> {
    /// Reads the input, one of `n_at_once`, unless its name is used. The dataset is not in the catalog yet.
    pub(super) fn run(
        &self,
        place: &IngestContext<'_>,
        n_at_once: usize,
        bar: &IngestBar,
    ) -> anyhow::Result<Ingested> {
        self.ingest(place, n_at_once, bar).map_err(|error| {
            let temp = std::env::temp_dir();
            let is_kept = place.dir.is_some();
            let dir = if is_kept { &place.options.session.dir } else { &temp };
            space::explain(error, Some(&self.input.shown_name()), self.input.bytes(), dir, is_kept)
        })
    }

    fn ingest(
        &self,
        place: &IngestContext<'_>,
        n_at_once: usize,
        bar: &IngestBar,
    ) -> anyhow::Result<Ingested> {
        let IngestContext { catalog, dir, cancelled, .. } = *place;
        let name = self.name.clone();
        let present = catalog.get(&name).cloned();
        let rows_before = present.as_ref().map(|it| it.row_count);
        let shown_name = self.input.shown_name();
        let (file, table) = self.input.parts();
        let kept = match (file, &present) {
            // Comparing with a dataset reads the input twice, so stdin is buffered.
            (Input::Stdin, Some(_)) => Some(keep_stdin(self.read.bytes_max, cancelled)?),
            (Input::Member(member), _) => {
                Some(unpack(member, self.read.bytes_max, dir, cancelled)?)
            }
            _ => None,
        };
        let source = match (&kept, file) {
            (Some(kept), _) => Source::File(kept.path().to_owned()),
            (None, Input::File(path)) => Source::File(path.clone()),
            (None, _) => Source::Stdin(Box::new(stdin(cancelled)?)),
        };
        let change = match &present {
            None => Change::Added,
            Some(dataset) => self.collide(&name, dataset, &source, place)?,
        };
        // Without flags, the file's earlier options apply.
        let told = match present {
            Some(dataset) if matches!(change, Change::Unchanged | Change::Skipped) => {
                return Ok(Ingested { name, dataset, change, rows_before, files: None });
            }
            Some(dataset) if change == Change::Updated && self.read.given().is_empty() => {
                Some(options_of(&dataset)?)
            }
            _ => None,
        };
        let IngestOptions { bytes_max, strict, .. } = *self.read;
        let read = told.unwrap_or_else(|| self.read.clone());
        let may_lack = place.are_several || self.read.may_lack;
        let table = table.map(str::to_owned).or(self.read.table.clone());
        let read = IngestOptions {
            origin: origin(self.input, place.session_dir),
            only_part: self.input.only_part(),
            table_number: self.read.table_number,
            may_lack,
            bytes_max,
            strict,
            n_at_once,
            table,
            ..read
        };
        let progress = |it| bar.show(it);
        let (dataset, files) = match dir {
            None => {
                let dataset = csv_agent_ingest::inspect(
                    source, &shown_name, &name, &read, &progress, cancelled,
                )?;
                (dataset, None)
            }
            Some(dir) => {
                let (dataset, files) = csv_agent_ingest::ingest(
                    source, &shown_name, &name, dir, &read, &progress, cancelled,
                )?;
                (dataset, Some(files))
            }
        };
        Ok(Ingested { name, dataset, change, rows_before, files })
    }

    /// Decides what to do about a used name.
    fn collide(
        &self,
        name: &str,
        present: &Dataset,
        source: &Source,
        place: &IngestContext<'_>,
    ) -> anyhow::Result<Change> {
        let is_same = match source {
            Source::File(path) => is_same_file(path, present)?,
            Source::Stdin(_) => false,
        };
        let is_same = match self.input {
            Input::Table(table) => is_same && table.is_in(present),
            _ => is_same,
        };
        if is_same && place.is_hurt(name)? {
            return Ok(Change::Replaced);
        }
        let is_read_so = is_as_told(present, self.read, self.if_exists)
            && !(self.read.strict && present.is_repaired());
        let is_known = is_from(present, self.input, place.session_dir);
        change_of(is_same, is_known, is_read_so, self.if_exists).ok_or_else(|| {
            NameTaken {
                verb: "ingest",
                source: self.input.shown_name(),
                name: name.to_owned(),
                present: present.source.clone(),
            }
            .into()
        })
    }
}

/// Data from another source has the name of a dataset.
#[derive(Debug)]
pub(super) struct NameTaken {
    /// What cannot be done with it: ingest, join, register.
    pub verb: &'static str,
    pub source: String,
    /// The name of the dataset.
    pub name: String,
    /// The source that the dataset came from.
    pub present: String,
}

impl std::error::Error for NameTaken {}

impl Display for NameTaken {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let NameTaken { verb, source, name, present } = self;
        write!(f, "cannot {verb} `{source}`: the dataset `{name}` ")?;
        if present == source {
            return f.write_str("was read from it in another way");
        }
        write!(f, "comes from another source, `{present}`")
    }
}

impl From<&NameTaken> for Failure {
    fn from(taken: &NameTaken) -> Failure {
        if taken.verb == "join" {
            let hint = "replace it with `--if-exists replace`, or give the new one another name with `--name`";
            return Failure::input(taken.to_string()).hint(hint);
        }
        let source = quoted(&taken.source);
        let named = format!("{}={source}", quoted(&taken.name));
        let (replace, flag) = match taken.verb {
            "register" => ("--if-exists replace".to_owned(), ""),
            _ => (format!("csv-agent ingest --if-exists replace {named}"), " or with `--name`"),
        };
        let hint = format!(
            "replace it with `{replace}`, or give the new one another name, as in `NAME={source}`{flag}"
        );
        Failure::input(taken.to_string()).hint(hint)
    }
}

/// Returns the change for a used name, by whether the data, the file and the options are the same; None for
/// an error.
pub(super) fn change_of(
    is_same: bool,
    is_same_file: bool,
    is_read_so: bool,
    if_exists: IfExists,
) -> Option<Change> {
    match (is_same, if_exists) {
        (true, _) if is_read_so => Some(Change::Unchanged),
        // The same data with other options: its source still has everything.
        (true, IfExists::Ask | IfExists::Error) | (_, IfExists::Replace) => Some(Change::Replaced),
        (_, IfExists::Skip) => Some(Change::Skipped),
        (false, IfExists::Ask | IfExists::Error) => is_same_file.then_some(Change::Updated),
    }
}

/// Returns whether a dataset was made with the current options. Without options now, the earlier ones
/// apply, unless it is to be replaced.
pub(super) fn is_as_told(present: &Dataset, read: &IngestOptions, if_exists: IfExists) -> bool {
    let given = read.given();
    given == present.dialect.told || (given.is_empty() && if_exists != IfExists::Replace)
}

/// Returns stdin, whose reads end when the user wants to stop.
pub(super) fn stdin(cancelled: &Arc<AtomicBool>) -> anyhow::Result<Awaited<Arc<AtomicBool>>> {
    let stdin = io::stdin().as_fd().try_clone_to_owned().context("cannot read stdin")?;
    Ok(Awaited::new(File::from(stdin), Arc::clone(cancelled)))
}

fn keep_stdin(bytes_max: u64, cancelled: &Arc<AtomicBool>) -> anyhow::Result<NamedTempFile> {
    let mut kept = NamedTempFile::new().context("cannot store the data from stdin")?;
    // One byte more than allowed makes the ingest reject it with its own message.
    let mut stdin = stdin(cancelled)?.take(bytes_max.saturating_add(1));
    io::copy(&mut stdin, &mut kept).context("cannot store the data from stdin")?;
    Ok(kept)
}

/// Extracts a file of an archive to a temporary file, deleted on drop.
pub(super) fn unpack(
    member: &Member,
    bytes_max: u64,
    dir: Option<&Path>,
    cancelled: &AtomicBool,
) -> anyhow::Result<NamedTempFile> {
    let Member { archive, of, entry } = member;
    if bytes_max < entry.bytes {
        let message = format!(
            "cannot read `{}/{}`: it has {} bytes, the limit is {bytes_max} bytes",
            of.display(),
            entry.path,
            entry.bytes
        );
        let hint = "raise the limit with `--max-bytes`";
        return Err(Failure::input(message).hint(hint).into());
    }
    let temp = std::env::temp_dir();
    let dir = dir.unwrap_or(&temp);
    // Named like leftovers of a killed ingest, which are deleted when the session is opened.
    let mut kept = tempfile::Builder::new().prefix(".member.").suffix(".tmp").tempfile_in(dir)?;
    archive.copy(entry, kept.as_file_mut(), cancelled)?;
    Ok(kept)
}
