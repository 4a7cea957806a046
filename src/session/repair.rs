//! A session that is hurt, or holds what is not its own: what is wrong with each file, and mending that.
//!
//! Nothing is thrown away. What cannot stay where it is keeps its place under another name, `NAME.aside`,
//! which every finding gives. A session that was mended has nothing more to be mended.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::FileType;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toml::Table;
use uuid::Uuid;

use crate::catalog::{Catalog, Dataset, is_dataset_name};
use crate::dataset::dataset_of;
use crate::egress::Record;
use crate::event::{Body, Event};
use crate::limits::{
    CATALOG_BYTES_MAX, CONFIG_BYTES_MAX, KNOWLEDGE_FILE_BYTES_MAX, SESSION_FILE_BYTES_MAX,
    SUMMARY_FILE_BYTES_MAX,
};
use crate::session::departed::EgressFile;
use crate::session::directory::{DIRECTORIES, Directory, FILES, Found, Kind};
use crate::session::history::{self, HistoryTurn};
use crate::session::hosted::{self, HostedState};
use crate::session::lock::{Lock, LockRequest};
use crate::session::{
    CATALOG, META, Meta, REDACTED, SCHEMA, missing, read_json, store, turns, typed, write_json,
};

/// Stands at the end of a name that something was given because it does not belong where it was.
const ASIDE: &str = ".aside";
/// Directories within directories: a turn's tables are three levels down.
const LEVELS_MAX: usize = 6;
/// Directories whose content goes when the session is opened.
const EMPTIED: [&str; 2] = ["scratch", "masked"];

/// How something of a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Ok,
    /// It was not, and is now.
    Mended,
    /// It is not.
    Problem,
}

/// What was found out about a file, a directory or a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its name in the session.
    pub name: String,
    /// How it is.
    pub state: State,
    /// In words, with what was done about it.
    pub found: String,
}

/// What was found out about a session.
#[derive(Debug, Default)]
pub struct Examined {
    /// In the order in which it was looked at.
    pub findings: Vec<Finding>,
    /// Datasets whose rows are lost, with what is wrong. Only their sources may have them.
    pub lost: Vec<(String, Dataset, String)>,
}

/// Returns whether a name is one of something that was put aside.
pub fn is_aside(name: &str) -> bool {
    let numbered = || name.rsplit_once('-').filter(|it| it.1.bytes().all(|it| it.is_ascii_digit()));
    name.ends_with(ASIDE) || numbered().is_some_and(|it| it.0.ends_with(ASIDE))
}

/// Looks at every file of a session and, with a lock to take, mends what can be mended from what is there.
///
/// # Errors
///
/// Fails with [`ExitStatus::Setup`](crate::status::ExitStatus::Setup) when there is no session, it may not be
/// used, or another process holds it for too long; and when a repair cannot be written.
pub fn examine(session_dir: &Path, repair: Option<LockRequest>) -> anyhow::Result<Examined> {
    let session = Directory::open_unchecked(session_dir)?.ok_or_else(|| missing(session_dir))?;
    let known = FILES.iter().chain(&DIRECTORIES);
    if !known.clone().any(|it| session.type_of(OsStr::new(it)).is_some()) {
        return Err(missing(session_dir).into());
    }
    let mends = repair.is_some();
    let mut examiner = Examiner { session, mends, examined: Examined::default(), is_newer: false };
    let lock = OsStr::new("lock");
    if mends && let Found::Odd(reason) = examiner.session.look(lock, Kind::File)? {
        let top = examiner.session.clone();
        examiner.put_aside(&top, lock, &reason)?;
    }
    let _lock = repair.map(|it| Lock::acquire(&examiner.session, it)).transpose()?;
    examiner.look_at_entries(&examiner.session.clone(), 0)?;
    examiner.look_at_turns()?;
    examiner.look_at_meta()?;
    if !examiner.is_newer {
        examiner.look_at_datasets()?;
        examiner.look_at_history()?;
        examiner.look_at_summary()?;
        examiner.look_at_rest()?;
    }
    Ok(examiner.examined)
}

/// Takes a dataset whose rows are lost out of the catalog; what that had of it is kept aside. Returns where.
///
/// # Errors
///
/// Fails when that cannot be written.
pub fn put_entry_aside(
    session_dir: &Path,
    name: &str,
    lock: LockRequest,
) -> anyhow::Result<Option<String>> {
    let session = Directory::at(session_dir)?;
    let _lock = Lock::acquire(&session, lock)?;
    let mut catalog: Catalog = read_json(&session, CATALOG)?.unwrap_or_default();
    let Some(dataset) = catalog.remove(name) else { return Ok(None) };
    let datasets = session.make("datasets")?;
    let kept = free_name(&datasets, OsStr::new(&format!("{name}.json")));
    write_json(&datasets, &kept.to_string_lossy(), &dataset)?;
    write_json(&session, CATALOG, &catalog)?;
    Ok(Some(format!("datasets/{}", kept.display())))
}

struct Examiner {
    session: Directory,
    mends: bool,
    examined: Examined,
    /// Whether a newer csv-agent wrote the session: then its files are none of our business.
    is_newer: bool,
}

impl Examiner {
    fn find(&mut self, name: impl Into<String>, state: State, found: impl Into<String>) {
        let (name, found) = (name.into(), found.into());
        self.examined.findings.push(Finding { name, state, found });
    }

    fn is_ok(&mut self, name: impl Into<String>, found: impl Into<String>) {
        self.find(name, State::Ok, found);
    }

    /// Returns the name of something, as the session has it.
    fn name_of(&self, directory: &Directory, name: &OsStr) -> String {
        let path = directory.path().join(name);
        path.strip_prefix(self.session.path()).unwrap_or(&path).display().to_string()
    }

    /// Tells what is wrong with something and, when mending, gives it another name.
    fn put_aside(&mut self, directory: &Directory, name: &OsStr, why: &str) -> anyhow::Result<()> {
        let shown = self.name_of(directory, name);
        if !self.mends {
            self.find(shown, State::Problem, why);
            return Ok(());
        }
        let kept = move_aside(directory, name)?;
        self.find(
            shown,
            State::Mended,
            format!("{why}; kept as `{}`", self.name_of(directory, &kept)),
        );
        Ok(())
    }

    /// Tells what is wrong with a file and, when mending, writes it anew; what it was is kept.
    fn rewrite(
        &mut self,
        directory: &Directory,
        name: &str,
        why: &str,
        how: &str,
        content: &[u8],
    ) -> anyhow::Result<()> {
        let shown = self.name_of(directory, OsStr::new(name));
        if !self.mends {
            self.find(shown, State::Problem, why);
            return Ok(());
        }
        let mut kept = String::new();
        if directory.type_of(OsStr::new(name)).is_some() {
            let name = move_aside(directory, OsStr::new(name))?;
            kept = format!(", and what it was is kept as `{}`", self.name_of(directory, &name));
        }
        store::write(directory, name, content)?;
        self.find(shown, State::Mended, format!("{why}; {how}{kept}"));
        Ok(())
    }

    /// Looks for what is no file or directory of the user.
    fn look_at_entries(&mut self, directory: &Directory, level: usize) -> anyhow::Result<()> {
        for name in directory.names()? {
            let shown = name.to_string_lossy();
            if is_aside(&shown) {
                continue;
            }
            let is_directory = directory.type_of(&name) == Some(FileType::Directory);
            let found = if is_directory { Kind::Directory } else { Kind::File };
            let kind = kind_of(&self.name_of(directory, &name)).unwrap_or(found);
            let is_known = |names: &[&str]| level == 0 && names.contains(&&*shown);
            if let Found::Odd(reason) = directory.look(&name, kind)? {
                self.put_aside(directory, &name, &reason)?;
                continue;
            }
            let goes_on = kind == Kind::Directory && !is_known(&EMPTIED) && level < LEVELS_MAX;
            if goes_on && let Some(below) = directory.directory(&name)? {
                self.look_at_entries(&below, level + 1)?;
            }
            if kind == Kind::File && is_known(&[history::TURNS, typed::FILE, "lock"]) {
                self.look_at_names(directory, &name)?;
            }
        }
        Ok(())
    }

    /// Gives a file that is appended to, and has another name elsewhere, a content of its own.
    fn look_at_names(&mut self, directory: &Directory, name: &OsStr) -> anyhow::Result<()> {
        use std::os::unix::fs::MetadataExt;
        let Some(file) = directory.file(name)? else { return Ok(()) };
        if file.metadata()?.nlink() < 2 {
            return Ok(());
        }
        let content = directory.read(name, SESSION_FILE_BYTES_MAX)?.unwrap_or_default();
        let why = "has a second name: it is a hard link";
        self.rewrite(directory, &name.to_string_lossy(), why, "copied", &content)
    }

    /// Opens a directory of the session; none when it is not there, or something else has its name.
    fn directory(&self, name: &str) -> Option<Directory> {
        self.session.directory(name).ok().flatten()
    }

    fn look_at_turns(&mut self) -> anyhow::Result<()> {
        let Some(turns) = self.directory("turns") else { return Ok(()) };
        let ids = turns::ids(&turns)?;
        for id in &ids {
            let Ok(Some(turn)) = turns.directory(id) else { continue };
            self.look_at_lines::<Event>(&turn, turns::EVENTS, "event")?;
            self.look_at_json::<Record>(&turn, EgressFile::NAME)?;
        }
        let n = ids.len();
        self.is_ok("turns", format!("{n} {}", if n == 1 { "turn" } else { "turns" }));
        Ok(())
    }

    /// Keeps the lines of a file that can be read.
    fn look_at_lines<T: DeserializeOwned>(
        &mut self,
        directory: &Directory,
        name: &str,
        what: &str,
    ) -> anyhow::Result<()> {
        let lines = match store::read_lines(directory, name) {
            Ok(lines) => lines,
            Err(error) => return self.unreadable(directory, name, &error),
        };
        let (good, bad): (Vec<_>, Vec<_>) = lines
            .lines
            .iter()
            .enumerate()
            .partition(|it| serde_json::from_slice::<T>(it.1).is_ok());
        // A torn last line is left out by whoever reads it; a turn that runs may be writing it.
        if bad.is_empty() && !(lines.is_torn && self.mends) {
            return Ok(());
        }
        let why = match bad.first() {
            Some((at, _)) => format!("line {} is not {what}", at + 1),
            None => "the last line is torn".to_owned(),
        };
        let content: Vec<u8> =
            good.iter().flat_map(|(_, line)| [line.as_slice(), b"\n"]).flatten().copied().collect();
        let how = format!("written anew with the {} lines that can be read", good.len());
        self.rewrite(directory, name, &why, &how, &content)
    }

    /// Puts aside a file that is no JSON of its kind.
    fn look_at_json<T: DeserializeOwned>(
        &mut self,
        directory: &Directory,
        name: &str,
    ) -> anyhow::Result<()> {
        match read_json::<T>(directory, name) {
            Ok(_) => Ok(()),
            Err(error) => self.unreadable(directory, name, &error),
        }
    }

    /// Puts aside a file that cannot be read. One that is no file at all was told before.
    fn unreadable(
        &mut self,
        directory: &Directory,
        name: &str,
        error: &anyhow::Error,
    ) -> anyhow::Result<()> {
        if directory.look(OsStr::new(name), Kind::File)? != Found::Sound {
            return Ok(());
        }
        self.put_aside(directory, OsStr::new(name), &format!("{error:#}"))
    }

    fn look_at_meta(&mut self) -> anyhow::Result<()> {
        let session = self.session.clone();
        let why = match read_json::<Meta>(&session, META) {
            Ok(Some(meta)) if SCHEMA < meta.schema => {
                self.is_newer = true;
                let found =
                    format!("a newer csv-agent wrote it: schema {}, not {SCHEMA}", meta.schema);
                self.find(META, State::Problem, found);
                return Ok(());
            }
            Ok(Some(meta)) => {
                self.is_ok(META, format!("session {}", meta.session_id));
                return Ok(());
            }
            Ok(None) => "is missing".to_owned(),
            Err(error) if session.look(META.as_ref(), Kind::File)? == Found::Sound => {
                format!("{error:#}")
            }
            // It was told before.
            Err(_) => return Ok(()),
        };
        let mut content =
            serde_json::to_vec_pretty(&self.meta_of_turns()?).context("cannot write JSON")?;
        content.push(b'\n');
        self.rewrite(&session, META, &why, "written anew from the turns", &content)
    }

    /// Returns what the turns tell of their session.
    fn meta_of_turns(&self) -> anyhow::Result<Meta> {
        let mut meta = Meta::new();
        let Some(turns) = self.directory("turns") else { return Ok(meta) };
        for id in turns::ids(&turns)? {
            let Ok(Some(turn)) = turns.directory(&id) else { continue };
            let Some(event) = turns::last_event(&turn) else { continue };
            if Uuid::parse_str(&event.session_id).is_ok() {
                meta.session_id = event.session_id;
            }
            let usage = match event.body {
                Body::Reply(reply) => reply.usage,
                Body::Error(error) => error.usage,
                _ => continue,
            };
            meta.total_tokens = meta.total_tokens.saturating_add(usage.total_tokens);
            if let Some(cost_usd) = usage.cost_usd {
                meta.total_cost_usd = Some(meta.total_cost_usd.unwrap_or(0.0) + cost_usd);
            }
        }
        Ok(meta)
    }

    fn look_at_datasets(&mut self) -> anyhow::Result<()> {
        let session = self.session.clone();
        let (mut catalog, why) = self.entries()?;
        if let Some(why) = why {
            let mut content = serde_json::to_vec_pretty(&catalog).context("cannot write JSON")?;
            content.push(b'\n');
            let n = catalog.len();
            let how =
                format!("written anew with {n} {}", if n == 1 { "dataset" } else { "datasets" });
            self.rewrite(&session, CATALOG, &why, &how, &content)?;
            if !self.mends {
                return Ok(());
            }
        }
        catalog = catalog.here();
        for (name, dataset) in catalog.iter() {
            let path = crate::catalog::file_of(name);
            let why = match session.file(&path) {
                Ok(None) => "is missing".to_owned(),
                // It was told before.
                Err(_) => continue,
                Ok(Some(file)) => match dataset_of(&file, &session.path().join(&path), name) {
                    Ok(_) => {
                        self.is_ok(
                            path.display().to_string(),
                            format!("{} rows", dataset.row_count),
                        );
                        continue;
                    }
                    Err(error) => error.root_cause().to_string(),
                },
            };
            if self.mends
                && let Some(datasets) = self.directory("datasets")
            {
                let file = path.file_name().unwrap_or_default();
                if datasets.type_of(file).is_some() {
                    self.put_aside(&datasets, file, "is damaged")?;
                }
            }
            self.examined.lost.push((name.to_owned(), dataset.clone(), why));
        }
        Ok(())
    }

    /// Returns the datasets that the catalog has, or should have, and why it is to be written anew, if so.
    fn entries(&mut self) -> anyhow::Result<(Catalog, Option<String>)> {
        let session = self.session.clone();
        let mut catalog = Catalog::default();
        let content = match session.read(CATALOG, CATALOG_BYTES_MAX) {
            Ok(content) => content,
            Err(error) => {
                let is_file = session.look(CATALOG.as_ref(), Kind::File)? == Found::Sound;
                return if is_file {
                    Ok((self.found_files(|_| true)?, Some(format!("{error:#}"))))
                } else {
                    Ok((catalog, None))
                };
            }
        };
        let Some(content) = content else {
            let found = self.found_files(|_| true)?;
            let why = (!found.is_empty()).then(|| "is missing".to_owned());
            return Ok((found, why));
        };
        let entries = match serde_json::from_slice::<BTreeMap<String, Value>>(&content) {
            Ok(entries) => entries,
            Err(error) => {
                return Ok((self.found_files(|_| true)?, Some(format!("cannot be read: {error}"))));
            }
        };
        let mut odd = Vec::new();
        for (name, entry) in entries {
            let reason = match serde_json::from_value::<Dataset>(entry) {
                Ok(dataset) => match dataset.oddity(&name) {
                    None => {
                        catalog.insert(name, dataset);
                        continue;
                    }
                    Some(reason) => reason,
                },
                Err(error) => format!("`{}`: {error}", name.escape_debug()),
            };
            odd.push((name, reason));
        }
        let Some((_, reason)) = odd.first() else {
            let n = catalog.len();
            self.is_ok(CATALOG, format!("{n} dataset{}", if n == 1 { "" } else { "s" }));
            return Ok((catalog, None));
        };
        let why = reason.clone();
        for (name, dataset) in self.found_files(|it| odd.iter().any(|odd| odd.0 == it))?.iter() {
            catalog.insert(name.to_owned(), dataset.clone());
        }
        Ok((catalog, Some(why)))
    }

    /// Returns what the files of datasets say of themselves.
    fn found_files(&mut self, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<Catalog> {
        let mut catalog = Catalog::default();
        let Some(datasets) = self.directory("datasets") else { return Ok(catalog) };
        for file_name in datasets.names()? {
            let path = PathBuf::from(&file_name);
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_table = path.extension() == Some("parquet".as_ref()) && is_dataset_name(&name);
            if !is_table || !is_wanted(&name) {
                continue;
            }
            let Ok(Some(file)) = datasets.file(&file_name) else { continue };
            match dataset_of(&file, &datasets.path().join(&path), &name) {
                Ok(dataset) => catalog.insert(name.into_owned(), dataset),
                Err(error) => {
                    let why = error.root_cause().to_string();
                    self.put_aside(&datasets, &file_name, &why)?;
                }
            }
        }
        Ok(catalog)
    }

    fn look_at_history(&mut self) -> anyhow::Result<()> {
        let session = self.session.clone();
        self.look_at_lines::<HistoryTurn>(&session, history::TURNS, "a turn")?;
        if let Ok(lines) = store::read_lines(&session, history::TURNS)
            && !lines.lines.is_empty()
        {
            self.is_ok(history::TURNS, format!("{} turns", lines.lines.len()));
        }
        Ok(())
    }

    fn look_at_summary(&mut self) -> anyhow::Result<()> {
        let session = self.session.clone();
        let Err(error) = history::Summary::read(&session) else { return Ok(()) };
        let text = session.read(history::SUMMARY, SUMMARY_FILE_BYTES_MAX).ok().flatten();
        let text = text.and_then(|it| String::from_utf8(it).ok());
        let Some(text) = text.filter(|it| !it.trim().is_empty()) else {
            return self.unreadable(&session, history::SUMMARY, &error);
        };
        let first = store::read_lines(&session, history::TURNS).ok().and_then(|it| {
            let turn: HistoryTurn = serde_json::from_slice(it.lines.first()?).ok()?;
            Some(turn.number().saturating_sub(1))
        });
        let last_id = || turns::ids(&self.directory("turns")?).ok()?.pop()?.parse().ok();
        let last_turn = first.or_else(last_id).unwrap_or_default();
        let content = history::marked(last_turn, &text);
        let how = format!("marked as the summary of the turns up to {last_turn}");
        self.rewrite(
            &session,
            history::SUMMARY,
            "has no mark on its first line",
            &how,
            content.as_bytes(),
        )
    }

    fn look_at_rest(&mut self) -> anyhow::Result<()> {
        let session = self.session.clone();
        self.look_at_json::<HostedState>(&session, hosted::FILE)?;
        if let Err(error) = store::read_lines(&session, typed::FILE) {
            self.unreadable(&session, typed::FILE, &error)?;
        }
        for (name, bytes_max) in
            [("config.toml", CONFIG_BYTES_MAX), ("knowledge.md", KNOWLEDGE_FILE_BYTES_MAX)]
        {
            match session.read(name, bytes_max) {
                Err(error) => self.unreadable(&session, name, &error)?,
                Ok(content) => {
                    let content = content.unwrap_or_default();
                    let why = match std::str::from_utf8(&content) {
                        Err(_) => "is not UTF-8",
                        Ok(text)
                            if name == "config.toml" && toml::from_str::<Table>(text).is_err() =>
                        {
                            "is not TOML"
                        }
                        Ok(_) => continue,
                    };
                    self.put_aside(&session, OsStr::new(name), why)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns what has a name in every session; none where either may have it.
fn kind_of(name: &str) -> Option<Kind> {
    let parts: Vec<&str> = name.split('/').collect();
    let is_file = match parts.as_slice() {
        [name] if FILES.contains(name) => true,
        [name] if DIRECTORIES.contains(name) => false,
        ["datasets" | "logs", _] | ["turns", _, _, _] => true,
        ["repl", name] => !name.starts_with(REDACTED),
        ["turns", name] if name.bytes().all(|it| it.is_ascii_digit()) => false,
        ["turns", _, "tables" | "charts" | "artifacts"] => false,
        ["turns", _, name] => name.contains('.'),
        _ => return None,
    };
    Some(if is_file { Kind::File } else { Kind::Directory })
}

/// Gives something another name in its directory, and returns that.
fn move_aside(directory: &Directory, name: &OsStr) -> anyhow::Result<OsString> {
    let kept = free_name(directory, name);
    let doing = || format!("cannot rename `{}`", directory.path().join(name).display());
    directory.rename(name, &kept).with_context(doing)?;
    directory.sync().with_context(doing)?;
    Ok(kept)
}

/// Returns a name for what is put aside that nothing has yet.
fn free_name(directory: &Directory, name: &OsStr) -> OsString {
    let numbered = |n: u32| {
        let mut kept = name.to_os_string();
        kept.push(ASIDE);
        if 1 < n {
            kept.push(format!("-{n}"));
        }
        kept
    };
    let free = (1..=u32::MAX).map(numbered).find(|it| directory.type_of(it).is_none());
    free.expect("a directory has fewer entries than there are numbers")
}
