//! Expands paths, directories, patterns and archives to files.
//!
//! A named file is read whatever its ending. From a directory or an archive, only files with data endings
//! are read; the others are counted, so that none is silently missed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::{fs, io};

use glob::MatchOptions;
use rustix::process::geteuid;

use csv_agent_ingest::{Archive, DataCheck, NoData};
use csv_agent_session::own_files;
use csv_agent_text::lists::{all_names, listed};
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::dataset_names::{is_dataset_name, is_same};
use csv_agent_types::limits::{SOURCE_LEVELS_MAX, SOURCES_MAX};
use csv_agent_types::status::{Failure, FailureKind};

use super::job::unpack;
use super::origin::{origin_of, origin_of_all};
use super::{counted, template};
use crate::diagnostics;
use crate::ingest::input::{Input, Member, SourceTable};
use crate::options::GlobalOptions;

/// Endings of data files.
const DATA: [&str; 18] = [
    "csv", "tsv", "tab", "psv", "parquet", "pq", "xlsx", "xlsm", "xlsb", "xls", "ods", "jsonl",
    "ndjson", "db", "sqlite", "sqlite3", "arrow", "feather",
];
/// Members that an error names.
const NAMED_MAX: usize = 5;

/// Endings of files that may contain several tables.
const WITH_TABLES: [&str; 8] = ["xlsx", "xlsm", "xlsb", "xls", "ods", "db", "sqlite", "sqlite3"];
/// Endings of compressed files.
const COMPRESSED: [&str; 3] = ["gz", "zst", "bz2"];
/// Endings of archives.
const ARCHIVES: [&str; 4] = ["zip", "tar", "tgz", "tbz2"];

/// The result of expanding paths.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The files, each once, ordered by path argument and then by name.
    pub inputs: Vec<Input>,
    /// The files of each path, in order.
    pub groups: Vec<SourceGroup>,
    /// Skipped files of each directory or archive.
    pub skipped: Vec<String>,
    /// Where links in directories lead to that were read elsewhere.
    pub away: Vec<String>,
    /// Those that were not read because somebody else made them.
    pub foreign: Vec<String>,
    /// JSON files of each directory or archive that are not tables.
    pub no_tables: Vec<String>,
    /// Files that are named again, and read once.
    pub n_again: usize,
    /// Why a path yields nothing.
    pub errors: Vec<anyhow::Error>,
    /// Why directories and archives within a path cannot be read.
    pub unread: Vec<anyhow::Error>,
    /// Whether any file may contain several tables.
    pub any_with_tables: bool,
    /// The files that were read in full, each with all its sheets, tables or members.
    pub opened: Vec<(Input, Vec<String>)>,
    seen: HashSet<PathBuf>,
}

impl Sources {
    /// Tells where links in directories lead.
    pub(super) fn tell_links(&self, options: &GlobalOptions) {
        self.foreign.iter().for_each(|it| diagnostics::warning(it, options.terminal.stderr.colour));
        if options.has_notes() {
            self.away.iter().for_each(|it| diagnostics::note(it));
        }
    }
}

/// What one path names.
#[derive(Debug)]
pub(super) struct SourceGroup {
    /// The given name: `NAME=PATH`.
    pub name: Option<String>,
    /// The path without the name.
    pub path: PathBuf,
    /// Its range within the inputs.
    pub inputs: Range<usize>,
    /// Whether it is the path of one file, which is read whatever its ending.
    pub is_file: bool,
    /// Whether it is a directory with the parts of one table.
    pub is_table: bool,
    /// The flags that its files were searched with.
    pub searched: Vec<String>,
}

/// The user's options on paths.
#[derive(Debug, Clone)]
pub(super) struct Search {
    /// Whether to search subdirectories.
    pub is_recursive: bool,
    /// Names or patterns of the sheets or tables to read from files with several; empty for all.
    pub tables: Vec<String>,
    /// Maximum bytes of a file.
    pub bytes_max: u64,
    /// Whether files with several tables or files are not opened.
    pub is_shallow: bool,
    /// Whether the parts of a table below a directory become one dataset.
    pub joins_parts: bool,
}

impl Search {
    /// Returns the search for all that a path has.
    pub(super) fn all(bytes_max: u64) -> Search {
        Search {
            is_recursive: true,
            tables: Vec::new(),
            bytes_max,
            is_shallow: false,
            joins_parts: true,
        }
    }

    /// Returns the flags that joined a dataset's files were searched with.
    pub(super) fn of_dataset(dataset: &Dataset, bytes_max: u64) -> Search {
        let told = || dataset.dialect.told.iter();
        let tables = told().filter_map(|it| it.strip_prefix("--sheet ")).map(str::to_owned);
        let is_recursive = !told().any(|it| it == "--no-recursive");
        let tables = tables.collect();
        Search { is_recursive, tables, joins_parts: false, ..Search::all(bytes_max) }
    }

    /// Returns it as flags.
    fn flags(&self) -> Vec<String> {
        let tables = self.tables.iter().map(|it| format!("--sheet {it}"));
        let flat = (!self.is_recursive).then(|| "--no-recursive".to_owned());
        tables.chain(flat).collect()
    }
}

/// How the files of datasets were searched for when they were joined.
pub(super) struct KeptSearches<'a> {
    catalog: &'a Catalog,
    /// The origin of the paths that `--union` joins.
    union: Option<String>,
    session_dir: &'a Path,
}

impl<'a> KeptSearches<'a> {
    /// Returns those of a catalog; `union` are the paths that are joined without a name.
    pub(super) fn of(
        catalog: &'a Catalog,
        union: Option<&[PathBuf]>,
        session_dir: &'a Path,
    ) -> KeptSearches<'a> {
        let union = union.and_then(|it| origin_of_all(it, session_dir));
        KeptSearches { catalog, union, session_dir }
    }

    fn find(&self, name: Option<&str>, path: &Path, bytes_max: u64) -> Option<Search> {
        let origin = match name {
            Some(_) => origin_of(path, self.session_dir),
            None => self.union.clone(),
        }?;
        let is_it = |it: &(&str, &Dataset)| {
            name.is_none_or(|name| is_same(name, it.0))
                && !it.1.files.is_empty()
                && it.1.origin.as_ref() == Some(&origin)
        };
        let dataset = self.catalog.iter().find(is_it)?.1;
        Some(Search::of_dataset(dataset, bytes_max))
    }
}

/// Expands paths, each as `kept` says or else as `search` does. `-` is stdin. Fails when there are more files than [`SOURCES_MAX`], and once `cancelled` is
/// set.
pub(super) fn expand(
    paths: &[PathBuf],
    search: Search,
    kept: Option<&KeptSearches<'_>>,
    cancelled: &AtomicBool,
) -> anyhow::Result<Sources> {
    let mut sources = Sources::default();
    let (seen_of, part) = (HashMap::new(), None);
    let (joins_parts, tables_of_parts) = (false, Vec::new());
    let mut finder = Finder {
        sources: &mut sources,
        seen_of,
        search,
        kept,
        joins_parts,
        tables_of_parts,
        part,
        cancelled,
    };
    for path in paths {
        if is_lock(path) && path.is_file() && 1 < paths.len() {
            // The shell expands a pattern before we see it.
            let shown = path.display();
            finder.sources.skipped.push(format!("`{shown}`: skipped 1 hidden file"));
            continue;
        }
        finder.group(path)?;
    }
    Ok(sources)
}

/// Splits a path argument into name and path. An existing path with `=` is not split.
pub(super) fn named(path: &Path) -> (Option<&str>, &Path) {
    let Some((name, rest)) = path.to_str().and_then(|it| it.split_once('=')) else {
        return (None, path);
    };
    let matches_as_it_is = || {
        let found = pattern(path).map(|it| matches(it, &AtomicBool::new(false)));
        found.is_some_and(|it| it.is_ok_and(|it| !it.paths.is_empty()))
    };
    if !is_dataset_name(name) || rest.is_empty() || path.exists() || matches_as_it_is() {
        return (None, path);
    }
    (Some(name), Path::new(rest))
}

/// How patterns match paths.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// The matches of a pattern.
#[derive(Debug, Default)]
pub(super) struct Matches {
    /// Files and directories.
    pub paths: Vec<PathBuf>,
    /// Errors of unreadable directories.
    unreadable: Vec<anyhow::Error>,
    /// Why it is not a valid pattern.
    error: Option<&'static str>,
}

/// Returns the matches of a pattern, sorted by path. `**` follows no link to a directory, which may form a
/// loop.
pub(super) fn matches(pattern: &str, cancelled: &AtomicBool) -> anyhow::Result<Matches> {
    let pattern = template::glob_of(pattern);
    // Before the first `**`, the pattern itself bounds the search.
    let parts: Vec<&str> = pattern.split('/').collect();
    let n_above = parts.iter().position(|it| *it == "**").unwrap_or(parts.len());
    let above = parts[..n_above].join("/");
    let mut found = Matches::default();
    let whole = match glob::Pattern::new(&pattern) {
        Ok(whole) => whole,
        Err(error) => return Ok(Matches { error: Some(error.msg), ..found }),
    };
    let mut bases = Vec::new();
    if n_above == 0 {
        bases.push(PathBuf::new());
    } else {
        let above = if above.is_empty() { "/" } else { &above };
        for path in glob::glob_with(above, MATCHING).into_iter().flatten() {
            csv_agent_ingest::check_cancelled(cancelled)?;
            match path {
                Ok(path) => bases.push(path),
                Err(error) => found.unreadable.push(unreadable(error.path(), error.error())),
            }
        }
    }
    if n_above == parts.len() {
        found.paths = bases;
        return Ok(found);
    }
    while let Some(dir) = bases.pop() {
        csv_agent_ingest::check_cancelled(cancelled)?;
        let listed = if dir.as_os_str().is_empty() { Path::new(".") } else { &dir };
        if !listed.is_dir() {
            continue;
        }
        let entries = fs::read_dir(listed).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                found.unreadable.push(unreadable(listed, &error));
                continue;
            }
        };
        for entry in entries {
            let path = dir.join(entry.file_name());
            let is_dir = entry.file_type().is_ok_and(|it| it.is_dir());
            if whole.matches_path_with(&path, MATCHING) && !(is_dir && pattern.ends_with("**")) {
                found.paths.push(path.clone());
            }
            if is_dir && !entry.file_name().as_encoded_bytes().starts_with(b".") {
                bases.push(path);
            }
        }
    }
    found.paths.sort();
    Ok(found)
}

fn unreadable(path: &Path, error: &io::Error) -> anyhow::Error {
    let message = format!("cannot read the directory `{}`: {}", path.display(), error.kind());
    Failure::input(message).hint("make it readable for this user").into()
}

struct Finder<'a> {
    sources: &'a mut Sources,
    /// The files of each named source, which may be given in several arguments.
    seen_of: HashMap<String, HashSet<PathBuf>>,
    search: Search,
    /// Searches of datasets that are joined again.
    kept: Option<&'a KeptSearches<'a>>,
    /// Whether the parts of a table below a directory become a dataset of their own.
    joins_parts: bool,
    /// The directories of these tables.
    tables_of_parts: Vec<PathBuf>,
    /// What the user named within the file: `S1` of `book.xlsx/S1`.
    part: Option<String>,
    cancelled: &'a AtomicBool,
}

impl Finder<'_> {
    fn group(&mut self, argument: &Path) -> anyhow::Result<()> {
        let (name, path) = named(argument);
        let kept = self.kept.and_then(|it| it.find(name, path, self.search.bytes_max));
        let Some(kept) = kept else { return self.group_of(argument) };
        let search = std::mem::replace(&mut self.search, kept);
        let added = self.group_of(argument);
        self.search = search;
        added
    }

    fn levels_max(&self) -> usize {
        if self.search.is_recursive { SOURCE_LEVELS_MAX } else { 1 }
    }

    fn group_of(&mut self, path: &Path) -> anyhow::Result<()> {
        let (name, path) = named(path);
        let name = name.map(str::to_owned);
        let joins_parts = name.is_none() && self.search.joins_parts;
        let is_table = joins_parts && path.is_dir() && is_table_of_parts(path);
        self.joins_parts = joins_parts && !is_table;
        if is_table {
            let shown = path.display().to_string();
            self.sources.skipped.push(format!(
                "`{shown}`: its files were read as the parts of one table; `'{}/*'` reads each part \
                 by itself",
                shown.trim_end_matches('/')
            ));
        }
        let start = self.sources.inputs.len();
        // A named source is a dataset of its own, even if its files also belong to others.
        let seen = name.as_ref().map(|it| {
            let own = self.seen_of.remove(it).unwrap_or_default();
            std::mem::replace(&mut self.sources.seen, own)
        });
        if path.as_os_str() == "-" {
            self.put(Input::Stdin)?;
        } else if is_lock(path) && path.is_file() {
            let message = format!("no data in `{}`: it marks a workbook as open", path.display());
            self.fail(FailureKind::Input, message, "name the workbook, without `~$`");
        } else if let Some(pattern) = pattern(path).filter(|_| split_part(path).is_none()) {
            self.pattern(pattern)?;
        } else {
            self.named(path)?;
        }
        if let (Some(seen), Some(name)) = (seen, &name) {
            let own = std::mem::replace(&mut self.sources.seen, seen);
            self.seen_of.insert(name.clone(), own);
        }
        let inputs = start..self.sources.inputs.len();
        let is_file = pattern(path).is_none()
            && !path.is_dir()
            && self.sources.inputs[inputs.clone()]
                .iter()
                .all(|it| it.path().is_none_or(|it| it == path));
        let (path, searched) = (path.to_owned(), self.search.flags());
        self.sources.groups.push(SourceGroup { name, path, inputs, is_file, is_table, searched });
        for dir in std::mem::take(&mut self.tables_of_parts) {
            self.group(&dir)?;
        }
        Ok(())
    }

    /// Adds the matches of a pattern, as if the shell had expanded it.
    fn pattern(&mut self, pattern: &str) -> anyhow::Result<()> {
        let found = match matches(pattern, self.cancelled)? {
            Matches { error: Some(reason), .. } => {
                let message = format!("`{pattern}` is not a valid pattern: {reason}");
                let hint = "`*` matches any characters, `?` one character, `[ab]` one of these, \
                            and `**` directories";
                self.fail(FailureKind::Usage, message, hint);
                return Ok(());
            }
            found => found,
        };
        self.sources.unread.extend(found.unreadable);
        // `data/*` means the data there; `data/*.txt` is explicit.
        let names_ending = pattern.rsplit('/').next().is_some_and(|it| it.contains('.'));
        let mut others = Others::default();
        let is_any = !found.paths.is_empty();
        for path in found.paths {
            csv_agent_ingest::check_cancelled(self.cancelled)?;
            if is_lock(&path) {
                others.n_hidden += 1;
            } else if path.is_dir() && own_files::within_session(&path).is_some() {
                others.n_own += 1;
            } else if path.is_dir() {
                self.directory(&path, &canonical(&path), self.levels_max(), &mut others)?;
            } else if names_ending && path.is_file() {
                self.named(&path)?;
            } else {
                self.found(&path, &mut others)?;
            }
        }
        self.tell_links(pattern, &others);
        self.skip(pattern, &others);
        if !is_any {
            let message = format!("no file matches `{pattern}`");
            let hint =
                "check the path; `**` matches directories of any depth, as in `data/**/*.csv`";
            self.fail(FailureKind::Input, message, hint);
        }
        Ok(())
    }

    /// Adds a file, or the content of a directory, that the user named.
    fn named(&mut self, path: &Path) -> anyhow::Result<()> {
        if let Some((file, part)) = split_part(path) {
            self.part = Some(part.to_owned());
            let added = self.archive(file, true);
            self.part = None;
            return added;
        }
        if !path.is_dir() {
            return self.archive(path, true);
        }
        if own_files::within_session(path).is_some() {
            let message = format!("`{}` belongs to a session and is not data", path.display());
            let hint = "name the directory of your data; `csv-agent query` reads the datasets";
            self.fail(FailureKind::Input, message, hint);
            return Ok(());
        }
        let mut others = Others::default();
        let known = |it: &Sources| (it.inputs.len(), it.seen.len(), it.n_again, it.unread.len());
        let before = known(self.sources);
        self.directory(path, &canonical(path), self.levels_max(), &mut others)?;
        let shown = path.display().to_string();
        self.tell_links(&shown, &others);
        if known(self.sources) == before && self.tables_of_parts.is_empty() {
            let found = others.words();
            let found = if found.is_empty() {
                "it is empty".to_owned()
            } else {
                format!("it contains {found}")
            };
            let message = format!("no data in `{shown}`: {found}");
            let ending = others.by_ending.keys().find(|it| !it.is_empty());
            let hint = format!(
                "data files end with {}, or `.json` with a list of objects; name other files yourself, as \
                 in `'{}/*{}'`",
                DATA.map(|it| format!("`.{it}`")).join(", "),
                shown.trim_end_matches('/'),
                ending.map_or(".txt", String::as_str),
            );
            self.fail(FailureKind::Input, message, &hint);
        } else {
            self.skip(&shown, &others);
        }
        Ok(())
    }

    /// Adds what is in a directory. `top` is the one that the user named, without links.
    fn directory(
        &mut self,
        dir: &Path,
        top: &Path,
        n_levels: usize,
        others: &mut Others,
    ) -> anyhow::Result<()> {
        csv_agent_ingest::check_cancelled(self.cancelled)?;
        let listed = fs::read_dir(dir).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut entries = match listed {
            Ok(entries) => entries,
            Err(error) => {
                self.sources.unread.push(unreadable(dir, &error));
                return Ok(());
            }
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        let is_session = own_files::is_session(dir);
        for entry in entries {
            if is_session && own_files::is_own(&entry.file_name()) {
                others.n_own += 1;
                continue;
            }
            let path = entry.path();
            let is_hidden = is_hidden(entry.file_name().as_encoded_bytes());
            let is_link = entry.file_type().is_ok_and(|it| it.is_symlink());
            let is_dir = path.is_dir();
            if is_hidden {
                others.n_hidden += 1;
            } else if is_dir && is_link {
                // It may form a loop.
                others.n_links += 1;
            } else if is_dir && n_levels <= 1 {
                others.n_directories += 1;
            } else if is_dir && self.joins_parts && is_table_of_parts(&path) {
                self.tables_of_parts.push(path);
            } else if is_dir {
                self.directory(&path, top, n_levels - 1, others)?;
            } else if let Some(target) = is_link.then(|| canonical(&path))
                && !target.starts_with(top)
            {
                self.linked(&path, &target, others)?;
            } else {
                self.found(&path, others)?;
            }
        }
        Ok(())
    }

    /// Adds a file elsewhere, to which a link in a directory leads. To root, whoever made the link may give a file
    /// that is for root only.
    fn linked(&mut self, link: &Path, target: &Path, others: &mut Others) -> anyhow::Result<()> {
        // Who made the link may give what is theirs.
        let maker = link.symlink_metadata().ok().map(|it| it.uid()).filter(|it| *it != 0);
        let is_foreign = geteuid().is_root()
            && maker.is_some_and(|maker| target.metadata().is_ok_and(|it| it.uid() != maker));
        if is_foreign && target.is_file() {
            others.foreign.add(link, target);
            return Ok(());
        }
        let n_known = |it: &Sources| it.inputs.len() + it.n_again;
        let before = n_known(self.sources);
        self.found(link, others)?;
        if before < n_known(self.sources) {
            others.away.add(link, target);
        }
        Ok(())
    }

    /// Adds a file that nobody named, if it is called as data is.
    fn found(&mut self, path: &Path, others: &mut Others) -> anyhow::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match kind_of(&name) {
            // A pipe would block.
            _ if !path.is_file() => others.n_odd += 1,
            _ if let Some(looks) = csv_agent_ingest::look_of_data(&name) => {
                match csv_agent_ingest::head_of(path).map_or(Err(None), |it| looks(&it)) {
                    Ok(()) => self.add(path, has_tables(&name))?,
                    Err(why) => others.add_no_table(&name, why),
                }
            }
            FileKind::Data => self.add(path, has_tables(&name))?,
            FileKind::Archive => self.archive(path, false)?,
            FileKind::Other(ending) => others.add(&ending),
        }
        Ok(())
    }

    /// Adds a file, or its members if it is an archive.
    fn archive(&mut self, path: &Path, is_named: bool) -> anyhow::Result<()> {
        if self.search.is_shallow {
            return self.add(path, false);
        }
        let shown = path.display().to_string();
        let (archive, entries) = match Archive::open(path, &shown, self.cancelled) {
            Ok(Some(opened)) => opened,
            Ok(None) => {
                if let Some(only) = csv_agent_ingest::only_member(path) {
                    self.sources.opened.push((Input::File(path.to_owned()), vec![only]));
                }
                return self.add(path, true);
            }
            Err(error) => {
                let unread =
                    if is_named { &mut self.sources.errors } else { &mut self.sources.unread };
                unread.push(error);
                return csv_agent_ingest::check_cancelled(self.cancelled);
            }
        };
        let archive = Arc::new(archive);
        let mut others = Others::default();
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let is_new = self.is_new(path);
        let paths = entries.iter().map(|it| it.path.clone()).collect();
        self.sources.opened.push((Input::File(path.to_owned()), paths));
        let part = self.part.clone();
        if let Some(part) = &part
            && !entries.iter().any(|it| within(part, &it.path).is_some())
        {
            let names = entries.iter().take(NAMED_MAX).map(|it| format!("`{}`", it.path));
            let more = if NAMED_MAX < entries.len() { ", …" } else { "" };
            let hint = format!("it contains {}{more}", names.collect::<Vec<_>>().join(", "));
            self.fail(FailureKind::Input, format!("`{shown}` does not contain `{part}`"), &hint);
            return Ok(());
        }
        let mut n_data = 0;
        for entry in entries {
            if let Some(part) = &part {
                let Some(rest) = within(part, &entry.path) else { continue };
                self.part = (!rest.is_empty()).then(|| rest.to_owned());
            }
            let name = entry.path.rsplit('/').next().unwrap_or_default().to_owned();
            let looks = csv_agent_ingest::look_of_data(&name);
            match kind_of(&name) {
                _ if entry.path.split('/').any(|it| is_hidden(it.as_bytes())) => {
                    others.n_hidden += 1;
                }
                FileKind::Archive => others.n_archives += 1,
                FileKind::Other(ending) if looks.is_none() => others.add(&ending),
                _ => {
                    let (archive, of) = (Arc::clone(&archive), path.to_owned());
                    let member = Member { archive, of, entry };
                    if let Some(Err(why)) = looks.map(|it| self.look(&member, it)) {
                        others.add_no_table(&name, why);
                        continue;
                    }
                    n_data += 1;
                    if !is_new {
                        self.sources.n_again += 1;
                    } else if has_tables(&member.entry.path) {
                        self.member_with_tables(member)?;
                    } else {
                        self.put(Input::Member(member))?;
                    }
                }
            }
        }
        if 0 < n_data || !is_named {
            self.skip(&shown, &others);
        } else {
            let message = format!("no data in `{shown}`: it contains {}", others.words());
            self.fail(FailureKind::Input, message, "unpack it and name the files");
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, may_have_tables: bool) -> anyhow::Result<()> {
        if !self.is_new(path) {
            self.sources.n_again += 1;
            return Ok(());
        }
        let input = Input::File(path.to_owned());
        if may_have_tables && !self.search.is_shallow {
            self.tables(input, path)
        } else {
            self.put(input)
        }
    }

    /// Remembers the file, or what is named within it. Returns whether it was unknown.
    fn is_new(&mut self, file: &Path) -> bool {
        let mut path = canonical(file);
        if let Some(part) = &self.part {
            path.push(part);
        }
        self.sources.seen.insert(path)
    }

    /// Checks the start of an archive member for data.
    fn look(&self, member: &Member, looks: DataCheck) -> Result<(), NoData> {
        let copy = unpack(member, self.search.bytes_max, None, self.cancelled).map_err(|_| None)?;
        looks(&csv_agent_ingest::head_of(copy.path()).map_err(|_| None)?)
    }

    fn member_with_tables(&mut self, member: Member) -> anyhow::Result<()> {
        match unpack(&member, self.search.bytes_max, None, self.cancelled) {
            Ok(copy) => self.tables(Input::Member(member), copy.path()),
            // The reader reports the error.
            Err(_) => self.put(Input::Member(member)),
        }
    }

    /// Adds the sheets or tables of a file with several; adds any other file unchanged.
    fn tables(&mut self, input: Input, path: &Path) -> anyhow::Result<()> {
        let Search { tables, bytes_max, .. } = self.search.clone();
        let wanted = self.part.clone().map_or(tables, |it| vec![it]);
        let shown = input.shown_name();
        let tables = match csv_agent_ingest::tables(path, &shown, bytes_max, self.cancelled) {
            Ok(Some(tables)) => tables,
            Ok(None) => match &self.part {
                None => return self.put(input),
                Some(part) => {
                    let message = format!(
                        "cannot read `{shown}/{part}`: `{shown}` is not a workbook, a database or an archive"
                    );
                    self.fail(FailureKind::Input, message, "name the file without the rest");
                    return Ok(());
                }
            },
            Err(_) => {
                csv_agent_ingest::check_cancelled(self.cancelled)?;
                self.sources.any_with_tables = true;
                // The reader reports the error.
                return self.put(input);
            }
        };
        self.sources.any_with_tables = true;
        let names = tables.all().map(|it| it.trim_start_matches('/').to_owned()).collect();
        self.sources.opened.push((input.clone(), names));
        let is_wanted = |name: &str| {
            wanted.iter().any(|it| {
                it.eq_ignore_ascii_case(name)
                    || glob::Pattern::new(&template::glob_of(it)).is_ok_and(|it| it.matches(name))
            })
        };
        let chosen: Vec<&str> = if wanted.is_empty() {
            tables.names.iter().map(String::as_str).collect()
        } else {
            tables.all().filter(|it| is_wanted(it)).collect()
        };
        if chosen.is_empty() && !wanted.is_empty() {
            let noun = tables.noun;
            let message = format!("`{shown}` has no {noun} named `{}`", wanted.join("` or `"));
            self.fail(FailureKind::Input, message, &format!("it has {}", all_names(tables.all())));
            return Ok(());
        }
        if let (true, Some(words)) = (wanted.is_empty(), tables.left_out_words()) {
            self.sources.skipped.push(format!(
                "`{shown}`: not read: {words}; `--{} NAME` reads one of them anyway",
                tables.noun
            ));
        }
        if chosen.is_empty() {
            // The reader reports the error.
            return self.put(input);
        }
        let is_only = chosen.len() == 1 && chosen.iter().eq(&tables.names);
        for name in chosen {
            let (of, name) = (Box::new(input.clone()), name.to_owned());
            self.put(Input::Table(SourceTable { of, name, is_only }))?;
        }
        Ok(())
    }

    fn put(&mut self, input: Input) -> anyhow::Result<()> {
        if SOURCES_MAX <= self.sources.inputs.len() {
            let message = format!("there are more than {SOURCES_MAX} files");
            let hint = "name fewer directories, or join the files with `--union`";
            return Err(Failure::input(message).hint(hint).into());
        }
        self.sources.inputs.push(input);
        Ok(())
    }

    fn tell_links(&mut self, shown: &str, others: &Others) {
        if let Some(links) = others.away.words("") {
            self.sources.away.push(format!("`{shown}`: read {links}"));
        }
        if let Some(links) = others.foreign.words(" of another user") {
            let hint = "to read such a file, name it directly";
            self.sources.foreign.push(format!("`{shown}`: skipped {links}; {hint}"));
        }
    }

    fn skip(&mut self, shown: &str, others: &Others) {
        if !others.no_tables.is_empty() {
            let files = listed(&others.no_tables, NAMED_MAX);
            self.sources.no_tables.push(format!("`{shown}`: skipped {files}"));
        }
        let words = others.words();
        if !words.is_empty() {
            self.sources.skipped.push(format!("`{shown}`: skipped {words}"));
        }
    }

    fn fail(&mut self, kind: FailureKind, message: String, hint: &str) {
        self.sources.errors.push(Failure::new(kind, message).hint(hint).into());
    }
}

/// Returns the names in a directory, without hidden ones; none if it cannot be read.
fn shown_names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.map(|it| it.file_name().to_string_lossy().into_owned());
    names.filter(|it| !it.starts_with('.')).collect()
}

/// Returns whether a directory has the parts of one table, as parallel writers create it.
fn is_table_of_parts(dir: &Path) -> bool {
    let names = shown_names(dir);
    let is_part = |it: &String| kind_of(it) == FileKind::Data && it.starts_with("part-");
    let is_called_so = dir.extension().is_some_and(|it| it.eq_ignore_ascii_case("parquet"));
    let has_mark = names.iter().any(|it| matches!(it.as_str(), "_SUCCESS" | "_metadata"));
    let mut data = names.iter().filter(|it| !it.starts_with('_')).peekable();
    is_called_so || has_mark || data.peek().is_some() && data.all(is_part) || is_partitioned(dir)
}

/// Returns whether a directory has only directories such as `year=2024`, at last with Parquet files, which lack that
/// column.
fn is_partitioned(dir: &Path) -> bool {
    let mut at = dir.to_owned();
    loop {
        let names = shown_names(&at);
        let Some(first) = names.first() else { return false };
        if !names.iter().all(|it| template::partition(it).is_some()) {
            let is_parquet = |it: &String| it.to_lowercase().ends_with(".parquet");
            return at != dir && names.iter().all(is_parquet);
        }
        at.push(first);
    }
}

/// Returns whether a file may contain several tables, by its name.
fn has_tables(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |it| it.1);
    WITH_TABLES.iter().any(|it| it.eq_ignore_ascii_case(ending))
}

/// Splits a path that continues within a file, such as `book.xlsx/S1`, into the file and the rest.
pub(super) fn split_part(path: &Path) -> Option<(&Path, &str)> {
    if path.exists() {
        return None;
    }
    let file = path.ancestors().skip(1).find(|it| it.is_file())?;
    Some((file, path.strip_prefix(file).ok()?.to_str()?))
}

/// Returns what follows an archive's member in the path of a part, which may be a pattern: nothing, or a table of the
/// member.
fn within<'a>(part: &'a str, member: &str) -> Option<&'a str> {
    let is_member = |named: &str| {
        named == member
            || glob::Pattern::new(&template::glob_of(named))
                .is_ok_and(|it| it.matches_with(member, MATCHING))
    };
    let ends = part.match_indices('/').map(|it| it.0).chain([part.len()]);
    let mut ends = ends.filter(|end| *end == part.len() || has_tables(member));
    let end = ends.find(|end| is_member(&part[..*end]))?;
    Some(part[end..].trim_start_matches('/'))
}

/// A missing path equals only itself.
pub(super) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the path as a pattern, unless a file of that name exists.
pub(super) fn pattern(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let is_pattern = text.contains(['*', '?', '[']) || template::has_parts(text);
    (is_pattern && !path.exists()).then_some(text)
}

/// Returns whether a file is hidden.
fn is_hidden(name: &[u8]) -> bool {
    name.starts_with(b".") || is_lock(Path::new(OsStr::from_bytes(name)))
}

/// Returns whether Excel created a file beside a workbook that it has open: `~$book.xlsx`.
fn is_lock(path: &Path) -> bool {
    path.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"~$"))
}

/// Skipped files.
#[derive(Debug, Default)]
struct Others {
    /// Counts of files by ending; empty for files without one.
    by_ending: BTreeMap<String, usize>,
    /// Those with the ending of data that are not a table, and why.
    no_tables: Vec<String>,
    n_archives: usize,
    n_hidden: usize,
    n_links: usize,
    n_directories: usize,
    n_odd: usize,
    /// Files and directories that csv-agent itself writes into a session.
    n_own: usize,
    /// Links to files elsewhere that were read.
    away: Links,
    /// Links to files elsewhere that another user made.
    foreign: Links,
}

/// Links that lead out of a directory.
#[derive(Debug, Default)]
struct Links {
    n: usize,
    /// The first, with where it leads.
    first: String,
}

impl Links {
    fn add(&mut self, link: &Path, target: &Path) {
        if self.n == 0 {
            self.first = format!("`{}` to `{}`", link.display(), target.display());
        }
        self.n += 1;
    }

    /// Returns how many there are and the first; `whose` says whose they are.
    fn words(&self, whose: &str) -> Option<String> {
        match self.n {
            0 => None,
            1 => Some(format!("a link{whose} that points outside: {}", self.first)),
            n => Some(format!("{n} links{whose} that point outside, the first {}", self.first)),
        }
    }
}

impl Others {
    fn add(&mut self, ending: &str) {
        *self.by_ending.entry(ending.to_owned()).or_default() += 1;
    }

    /// Adds a file that is called like a table and is none.
    fn add_no_table(&mut self, name: &str, why: NoData) {
        self.add(&format!(".{}", name.rsplit('.').next().unwrap_or_default()));
        self.no_tables.extend(why.map(|why| format!("`{name}`, which {why}")));
    }

    fn words(&self) -> String {
        /// Number of endings named; the others are counted together.
        const NAMED_MAX: usize = 5;
        let mut by_count: Vec<(&String, &usize)> = self.by_ending.iter().collect();
        by_count.sort_by_key(|(ending, n)| (std::cmp::Reverse(**n), (*ending).clone()));
        let files = |n: usize| if n == 1 { "file" } else { "files" };
        let mut words: Vec<String> = by_count
            .iter()
            .take(NAMED_MAX)
            .map(|(ending, n)| match ending.as_str() {
                "" => format!("{n} {} without an ending", files(**n)),
                ending => format!("{n} {ending} {}", files(**n)),
            })
            .collect();
        let n_more: usize = by_count.iter().skip(NAMED_MAX).map(|it| it.1).sum();
        let kinds = [
            (n_more, "other file", "other files"),
            (self.n_archives, "archive", "archives"),
            (self.n_hidden, "hidden file", "hidden files"),
            (self.n_links, "link to a directory", "links to directories"),
            (self.n_directories, "directory", "directories"),
            (self.n_odd, "pipe or broken link", "pipes or broken links"),
            (self.n_own, "part of a session", "parts of a session"),
            (self.foreign.n, "link of another user", "links of another user"),
        ];
        let kinds = kinds.into_iter().filter(|it| 0 < it.0);
        words.extend(kinds.map(|(n, one, many)| counted(n as u64, one, many)));
        words.join(", ")
    }
}

#[derive(Debug, PartialEq, Eq)]
enum FileKind {
    Data,
    Archive,
    /// Its ending with the dot, if it has one.
    Other(String),
}

fn kind_of(name: &str) -> FileKind {
    /// Longer suffixes do not count as endings.
    const ENDING_CHARS_MAX: usize = 8;
    let name = name.to_lowercase();
    let mut parts = name.rsplit('.');
    let mut last = parts.next().unwrap_or_default();
    let is_compressed = COMPRESSED.contains(&last);
    if is_compressed {
        last = parts.next().unwrap_or_default();
    }
    let has_stem = parts.next().is_some();
    if has_stem && DATA.contains(&last) {
        FileKind::Data
    } else if has_stem && ARCHIVES.contains(&last) && (!is_compressed || last == "tar") {
        FileKind::Archive
    } else {
        let ending = name.rsplit_once('.').map(|it| it.1);
        let ending = ending.filter(|it| !it.is_empty() && it.chars().count() <= ENDING_CHARS_MAX);
        FileKind::Other(ending.map_or_else(String::new, |it| format!(".{it}")))
    }
}

#[cfg(test)]
mod tests {
    use super::{FileKind, Others, kind_of};

    #[test]
    fn data_is_known_by_its_name() {
        for name in ["a.csv", "A.CSV", "a.b.tsv.gz", "a.parquet", "x.csv.zst"] {
            assert_eq!(kind_of(name), FileKind::Data, "{name}");
        }
        for name in ["a.zip", "a.tar", "a.tar.gz", "a.tgz"] {
            assert_eq!(kind_of(name), FileKind::Archive, "{name}");
        }
        for (name, told) in [
            ("README.txt", ".txt"),
            ("csv", ""),
            ("Makefile", ""),
            ("notes.gz", ".gz"),
            ("a.zip.gz", ".gz"),
        ] {
            assert_eq!(kind_of(name), FileKind::Other(told.to_owned()), "{name}");
        }
    }

    #[test]
    fn what_is_not_read_is_counted_by_its_ending() {
        let mut others = Others { n_hidden: 2, n_links: 1, ..Others::default() };
        for ending in [".txt", ".pdf", ".pdf", "", ".b", ".c", ".d", ".d", ".d"] {
            others.add(ending);
        }
        assert_eq!(
            others.words(),
            "3 .d files, 2 .pdf files, 1 file without an ending, 1 .b file, 1 .c file, 1 other file, 2 hidden files, \
             1 link to a directory"
        );
    }
}
