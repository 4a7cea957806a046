//! What is read: a file, a file in an archive, a table of a file, stdin.

use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use csv_agent_ingest::{Archive, Entry};
use csv_agent_types::catalog::Dataset;

/// Where data comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    File(PathBuf),
    /// A file in an archive.
    Member(Member),
    /// A sheet of a workbook, or a table of a database.
    Table(SourceTable),
    /// The process's stdin.
    Stdin,
}

impl Input {
    /// Returns the file as the user named it.
    pub(super) fn shown_name(&self) -> String {
        match self {
            Input::File(path) => path.display().to_string(),
            Input::Member(member) => format!("{}/{}", member.of.display(), member.entry.path),
            Input::Table(table) if table.is_only => table.of.shown_name(),
            Input::Table(table) => format!("{}/{}", table.of.shown_name(), table.name),
            Input::Stdin => "-".to_owned(),
        }
    }

    /// Returns the file, and the table of it that is meant, if it has several.
    pub(super) fn parts(&self) -> (&Input, Option<&str>) {
        match self {
            Input::Table(table) => (&table.of, Some(&table.name)),
            file => (file, None),
        }
    }

    /// Returns the file that is opened to read it.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Input::File(path) => Some(path),
            Input::Member(member) => Some(&member.of),
            Input::Table(table) => table.of.file(),
            Input::Stdin => None,
        }
    }

    /// Returns where it is: of what is in a file, as if that were a directory.
    pub(super) fn path(&self) -> Option<PathBuf> {
        match self {
            Input::Table(table) if table.is_only => table.of.path(),
            Input::Table(table) => Some(table.of.path()?.join(table.name.trim_start_matches('/'))),
            Input::File(path) => Some(path.clone()),
            Input::Member(member) => Some(member.of.join(&member.entry.path)),
            Input::Stdin => None,
        }
    }

    /// Returns the sheet, table or member that is the only one of its file, so that the path does not name it.
    pub(super) fn only_part(&self) -> Option<String> {
        match self {
            Input::Table(table) => {
                table.is_only.then(|| table.name.trim_start_matches('/').to_owned())
            }
            Input::File(path) => csv_agent_ingest::only_member(path),
            Input::Member(_) | Input::Stdin => None,
        }
    }

    /// Returns whether a dataset was made of a file with the same content.
    pub(super) fn is_same_as(&self, dataset: &Dataset) -> bool {
        match self {
            Input::File(path) => is_same_file(path, dataset).unwrap_or(false),
            Input::Table(table) => table.is_in(dataset) && table.of.is_same_as(dataset),
            // What a member holds is known when it is read.
            Input::Member(_) | Input::Stdin => false,
        }
    }

    /// Returns how long a file is, as far as that is known.
    pub(super) fn bytes(&self) -> Option<u64> {
        match self {
            Input::File(path) => path.metadata().ok().filter(Metadata::is_file).map(|it| it.len()),
            Input::Member(member) => Some(member.entry.bytes),
            Input::Table(table) => table.of.bytes(),
            Input::Stdin => None,
        }
    }

    /// Returns the name of the dataset that it becomes.
    pub(super) fn dataset_name(&self) -> String {
        self.path().map_or_else(|| STDIN_NAME.to_owned(), |it| csv_agent_ingest::name_of(&it))
    }
}

/// A file in an archive.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// The archive, which the members share.
    pub archive: Arc<Archive>,
    /// The archive's file.
    pub of: PathBuf,
    /// Where in it the file is.
    pub entry: Entry,
}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        self.of == other.of && self.entry == other.entry
    }
}

impl Eq for Member {}

/// A sheet of a workbook, or a table of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceTable {
    /// The file, which may be one of an archive.
    pub of: Box<Input>,
    /// What the file calls it.
    pub name: String,
    /// It is the only one that is read unless others are named, so that it is called as the file is.
    pub is_only: bool,
}

impl SourceTable {
    /// Returns whether a dataset was made of a table of this name.
    pub(super) fn is_in(&self, dataset: &Dataset) -> bool {
        self.is_only
            || dataset.only_part.as_deref() == Some(self.name.trim_start_matches('/'))
            || dataset.source.strip_suffix(&self.name).is_some_and(|it| it.ends_with('/'))
    }
}

/// A file of another size is another file; only one of the same size is read.
pub(super) fn is_same_file(path: &Path, present: &Dataset) -> anyhow::Result<bool> {
    let is_same_size = path.metadata().is_ok_and(|it| it.is_file() && it.len() == present.bytes);
    Ok(is_same_size && csv_agent_ingest::sha256_file(path)? == present.sha256)
}

/// Name of the dataset that comes from stdin.
pub(super) const STDIN_NAME: &str = "stdin";
