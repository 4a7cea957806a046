//! One input on its way into the session: is it there already, may it take its name, read it.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use tempfile::NamedTempFile;

use super::IfExists;
use super::bar::IngestBar;
use super::space;
use super::stdin::StdinReader;
use crate::catalog::{Catalog, Dataset};
use crate::cli::options::GlobalOptions;
use crate::dataset::{self, DatasetFiles, IngestOptions, Progress, Source};
use crate::session::{Access, Session};
use crate::status::{ExitStatus, Failure};

/// Name of the dataset that comes from stdin.
const STDIN_NAME: &str = "stdin";

/// Where data comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// The process's stdin.
    Stdin,
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Input {
        if path.as_os_str() == "-" { Input::Stdin } else { Input::File(path) }
    }
}

impl Input {
    /// Returns the file as the user named it.
    pub fn shown_name(&self) -> String {
        match self {
            Input::File(path) => path.display().to_string(),
            Input::Stdin => "-".to_owned(),
        }
    }

    /// Returns how long a file is, as far as that is known.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Input::File(path) => path.metadata().ok().filter(Metadata::is_file).map(|it| it.len()),
            Input::Stdin => None,
        }
    }

    /// Returns the name of the dataset that it becomes.
    pub fn dataset_name(&self) -> String {
        match self {
            Input::File(path) => dataset::name_of(path),
            Input::Stdin => STDIN_NAME.to_owned(),
        }
    }

    fn open(&self, cancelled: &Arc<AtomicBool>) -> Source {
        match self {
            Input::File(path) => Source::File(path.clone()),
            Input::Stdin => Source::Stdin(Box::new(StdinReader::new(Arc::clone(cancelled)))),
        }
    }
}

/// What became of one input.
#[derive(Debug)]
pub struct Ingested {
    /// The dataset's name.
    pub name: String,
    /// The dataset, as the catalog has it now.
    pub dataset: Dataset,
    /// What was done.
    pub change: Change,
    /// What is still to be kept and registered.
    pub files: Option<DatasetFiles>,
}

/// What was done to the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There was no dataset of that name.
    Added,
    /// Other data stood in its place, or the same file was to be read in another way.
    Replaced,
    /// The same file was ingested before.
    Unchanged,
    /// Other data stands there, and `--if-exists skip` keeps it.
    Skipped,
}

impl Change {
    /// Returns the word that the user reads.
    pub fn name(self) -> &'static str {
        match self {
            Change::Added => "added",
            Change::Replaced => "replaced",
            Change::Unchanged => "unchanged",
            Change::Skipped => "skipped",
        }
    }
}

/// Where datasets go.
pub enum Target<'a> {
    /// A session of this command.
    Own(Session),
    /// A session that somebody else opened.
    Open(&'a mut Session),
    /// Nowhere; these are there already.
    Nowhere(Catalog),
}

impl Target<'_> {
    pub fn open(dry_run: bool, options: &GlobalOptions) -> anyhow::Result<Target<'static>> {
        let dir = &options.session.dir;
        if dry_run {
            return Ok(Target::Nowhere(Session::read_catalog(dir)?));
        }
        let lock = options.lock("ingest");
        Ok(Target::Own(Session::open(dir, Access::Create, lock)?))
    }

    pub fn catalog(&self) -> &Catalog {
        match self {
            Target::Own(session) => session.catalog(),
            Target::Open(session) => session.catalog(),
            Target::Nowhere(catalog) => catalog,
        }
    }

    /// Returns whether a dataset has lost its rows.
    fn is_hurt(&self, name: &str) -> anyhow::Result<bool> {
        let session = match self {
            Target::Own(session) => session,
            Target::Open(session) => session,
            Target::Nowhere(_) => return Ok(false),
        };
        let only = session.catalog().filtered(|it| it == name);
        Ok(!Session::hurt_datasets(session.dir(), &only)?.is_empty())
    }

    pub fn session(&mut self) -> Option<&mut Session> {
        match self {
            Target::Own(session) => Some(session),
            Target::Open(session) => Some(session),
            Target::Nowhere(_) => None,
        }
    }
}

/// One input on its way in.
pub struct Job<'a> {
    /// What is read.
    pub input: &'a Input,
    /// What `--name` says.
    pub name: Option<&'a str>,
    /// What to do when the name is taken.
    pub if_exists: IfExists,
    /// How it is read.
    pub read: &'a IngestOptions,
}

impl Job<'_> {
    /// Returns the dataset's name.
    pub fn dataset_name(&self) -> String {
        self.name.map_or_else(|| self.input.dataset_name(), str::to_owned)
    }

    /// Reads the input, unless its name is taken. The catalog does not have the dataset yet.
    pub fn run(
        &self,
        target: &mut Target,
        options: &GlobalOptions,
        cancelled: &Arc<AtomicBool>,
    ) -> anyhow::Result<Ingested> {
        let is_kept = target.session().is_some();
        self.ingest(target, options, cancelled).map_err(|error| {
            let temp = std::env::temp_dir();
            let dir = if is_kept { &options.session.dir } else { &temp };
            space::explain(error, Some(&self.input.shown_name()), self.input.bytes(), dir, is_kept)
        })
    }

    fn ingest(
        &self,
        target: &mut Target,
        options: &GlobalOptions,
        cancelled: &Arc<AtomicBool>,
    ) -> anyhow::Result<Ingested> {
        let name = self.dataset_name();
        let present = target.catalog().get(&name).cloned();
        let shown_name = self.input.shown_name();
        // What is compared with a dataset is read twice, so stdin is kept until then.
        let kept = match (self.input, &present) {
            (Input::Stdin, Some(_)) => Some(keep_stdin(self.read.bytes_max, cancelled)?),
            _ => None,
        };
        let source = match (&kept, self.input) {
            (Some(kept), _) => Source::File(kept.path().to_owned()),
            (None, input) => input.open(cancelled),
        };
        let change = match &present {
            None => Change::Added,
            Some(dataset) => self.collide(&name, dataset, &source, target)?,
        };
        if let (Some(dataset), Change::Unchanged | Change::Skipped) = (present, change) {
            return Ok(Ingested { name, dataset, change, files: None });
        }
        let bar = IngestBar::new(&shown_name, options);
        let progress = |it: Progress| bar.show(it);
        let read = self.read;
        let (dataset, files) = match target.session() {
            None => {
                let dataset =
                    dataset::inspect(source, &shown_name, &name, read, &progress, cancelled)?;
                (dataset, None)
            }
            Some(session) => {
                let dir = session.datasets_dir()?;
                let (dataset, files) =
                    dataset::ingest(source, &shown_name, &name, &dir, read, &progress, cancelled)?;
                (dataset, Some(files))
            }
        };
        Ok(Ingested { name, dataset, change, files })
    }

    /// Decides what happens to a name that is taken.
    fn collide(
        &self,
        name: &str,
        present: &Dataset,
        source: &Source,
        target: &Target,
    ) -> anyhow::Result<Change> {
        let is_same = match source {
            Source::File(path) => is_same_file(path, present)?,
            Source::Stdin(_) => false,
        };
        if is_same && target.is_hurt(name)? {
            return Ok(Change::Replaced);
        }
        let is_read_so = is_as_told(present, self.read, self.if_exists)
            && !(self.read.strict && present.is_repaired());
        change_of(is_same, is_read_so, self.if_exists).ok_or_else(|| {
            let message = format!(
                "cannot ingest `{}`: dataset `{name}` holds other data, from `{}`",
                self.input.shown_name(),
                present.source
            );
            let hint = "replace it with `csv-agent ingest --if-exists replace`, or give the new one a name \
                        with `--name`";
            Failure::new(ExitStatus::Input, message).hint(hint).into()
        })
    }
}

/// Returns what happens to a name that is taken, by the same data or not, read as now or not; nothing where
/// that is an error.
pub fn change_of(is_same: bool, is_read_so: bool, if_exists: IfExists) -> Option<Change> {
    match (is_same, if_exists) {
        (true, _) if is_read_so => Some(Change::Unchanged),
        // The same data, to be read in another way: nothing is lost that is not in its source.
        (true, IfExists::Error) | (_, IfExists::Replace) => Some(Change::Replaced),
        (_, IfExists::Skip) => Some(Change::Skipped),
        (false, IfExists::Error) => None,
    }
}

/// Returns whether a dataset was made as it is to be read now. Where nothing is said now, what was said then
/// holds, unless it is to be replaced.
pub fn is_as_told(present: &Dataset, read: &IngestOptions, if_exists: IfExists) -> bool {
    let given = read.given();
    given == present.dialect.told || (given.is_empty() && if_exists != IfExists::Replace)
}

/// A file of another size is another file; only one of the same size is read.
fn is_same_file(path: &Path, present: &Dataset) -> anyhow::Result<bool> {
    let is_same_size = path.metadata().is_ok_and(|it| it.is_file() && it.len() == present.bytes);
    Ok(is_same_size && dataset::sha256_file(path)? == present.sha256)
}

fn keep_stdin(bytes_max: u64, cancelled: &Arc<AtomicBool>) -> anyhow::Result<NamedTempFile> {
    let mut kept = NamedTempFile::new().context("cannot keep what comes from stdin")?;
    // One byte more than allowed: the ingest then refuses it in its own words.
    let mut stdin = StdinReader::new(Arc::clone(cancelled)).take(bytes_max.saturating_add(1));
    io::copy(&mut stdin, &mut kept).context("cannot keep what comes from stdin")?;
    Ok(kept)
}
