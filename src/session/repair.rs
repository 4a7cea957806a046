//! Diagnoses and repairs a session with damaged or foreign files.
//!
//! Nothing is deleted. What cannot stay in place moves to the directory `aside` of the session, under a
//! name that the finding states. A repaired session needs no further repair. Peak memory is that of the
//! longest line read, whatever the files contain.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{FileType, Mode};
use serde::de::DeserializeOwned;
use toml::Table;
use uuid::Uuid;

use csv_agent_ingest::{dataset_of, why_no_lines, why_not};
use csv_agent_types::catalog::{Catalog, Column, Dataset};
use csv_agent_types::dataset_names::is_dataset_name;
use csv_agent_types::egress::Record;
use csv_agent_types::event::{Body, Event};
use csv_agent_types::limits::{
    CATALOG_BYTES_MAX, CONFIG_BYTES_MAX, KNOWLEDGE_FILE_BYTES_MAX, SESSION_FILE_BYTES_MAX,
    SUMMARY_FILE_BYTES_MAX,
};

use crate::directory::{ASIDE, DIRECTORIES, Directory, EntryKind, EntryState, FILES, META};
use crate::egress_store::EgressFile;
use crate::history::{self, HistoryTurn};
use crate::hosted::{self, HostedState};
use crate::lock::{Lock, LockRequest};
use crate::store::{Lines, MemoryBudget};
use crate::{
    CATALOG, Meta, REDACTED, SCHEMA, entries, input_history, missing, read_catalog, read_json,
    store, turns, write_json,
};

/// Maximum bytes of a name in `aside`, without a number. File systems allow 255.
const ASIDE_NAME_BYTES_MAX: usize = 200;
/// Maximum nesting of directories: a turn's tables are three levels down.
const LEVELS_MAX: usize = 6;
/// Directories whose content is never read. That of the first two is deleted when the session is opened.
const UNREAD: [&str; 3] = ["scratch", "masked", ASIDE];

/// Files that are written in place.
const APPENDED_TO: [&str; 4] = [history::TURNS, input_history::FILE, "lock", "logs/csv-agent.log"];

/// The state of an entry of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// Correct.
    Ok,
    /// It was damaged and is repaired.
    Mended,
    /// It is damaged.
    Problem,
}

/// The finding about a file, a directory or a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairFinding {
    /// Its name within the session.
    pub name: String,
    /// How it is.
    pub state: Health,
    /// The finding in words, with any repair.
    pub found: String,
}

/// The findings about a session.
#[derive(Debug, Default)]
pub struct Examined {
    /// In the order of the checks.
    pub findings: Vec<RepairFinding>,
    /// Datasets that only their sources may restore.
    pub lost: Vec<Lost>,
}

/// A dataset with a lost file.
#[derive(Debug)]
pub struct Lost {
    /// Its name.
    pub name: String,
    /// Its catalog entry.
    pub dataset: Dataset,
    /// Continues a sentence that starts with the name: `is missing`.
    pub why: String,
    /// The lost part.
    pub part: DatasetPart,
}

/// A file of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatasetPart {
    /// Its rows.
    Table,
    /// The position of each row in the source.
    Lines,
}

/// Checks every file of a session. Given a lock request, also repairs what can be repaired from the files
/// at hand.
///
/// # Errors
///
/// Fails with `FailureKind::Setup` when there is no session,
/// it may not be used, or another process holds it for too long; and when a repair cannot be written.
pub fn examine(session_dir: &Path, repair: Option<LockRequest>) -> anyhow::Result<Examined> {
    let session = Directory::open_unchecked(session_dir)?.ok_or_else(|| missing(session_dir))?;
    let known = FILES.iter().chain(&DIRECTORIES);
    if !known.clone().any(|it| session.type_of(OsStr::new(it)).is_some()) {
        return Err(missing(session_dir).into());
    }
    let mends = repair.is_some();
    let mut examiner = Examiner { session, mends, examined: Examined::default(), is_newer: false };
    if mends {
        let top = examiner.session.clone();
        examiner.look_at_entry(&top, OsStr::new(ASIDE), EntryKind::Directory)?;
        examiner.look_at_entry(&top, OsStr::new("lock"), EntryKind::File)?;
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

/// Removes a dataset with lost rows from the catalog, and keeps its entry in `aside`. Returns where.
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
    let mut catalog = read_catalog(&session)?;
    let Some(dataset) = catalog.remove(name) else { return Ok(None) };
    let aside = session.make(ASIDE)?;
    let kept = free_name(&aside, &format!("{name}.json"));
    write_json(&aside, &kept, &dataset)?;
    write_json(&session, CATALOG, &catalog)?;
    Ok(Some(format!("{ASIDE}/{kept}")))
}

struct Examiner {
    session: Directory,
    mends: bool,
    examined: Examined,
    /// Whether a newer csv-agent wrote the session; its files are then left alone.
    is_newer: bool,
}

impl Examiner {
    fn find(&mut self, name: impl Into<String>, state: Health, found: impl Into<String>) {
        let (name, found) = (name.into(), found.into());
        self.examined.findings.push(RepairFinding { name, state, found });
    }

    fn is_ok(&mut self, name: impl Into<String>, found: impl Into<String>) {
        self.find(name, Health::Ok, found);
    }

    /// Returns the name of an entry, relative to the session.
    fn name_of(&self, directory: &Directory, name: &OsStr) -> String {
        let path = directory.path().join(name);
        path.strip_prefix(self.session.path()).unwrap_or(&path).display().to_string()
    }

    /// Reports a bad entry and, when repairing, moves it to `aside`.
    fn put_aside(&mut self, directory: &Directory, name: &OsStr, why: &str) {
        let shown = self.name_of(directory, name);
        if !self.mends {
            self.find(shown, Health::Problem, why);
            return;
        }
        match self.move_aside(directory, name) {
            Ok(kept) => self.find(shown, Health::Mended, format!("{why}; kept as `{kept}`")),
            // For example another user's directory, which only its owner can move.
            Err(error) => {
                self.find(shown, Health::Problem, format!("{why}, and cannot be moved: {error}"));
            }
        }
    }

    /// Moves an entry to `aside`, and returns its name there.
    fn move_aside(&self, directory: &Directory, name: &OsStr) -> anyhow::Result<String> {
        let shown = self.name_of(directory, name);
        if shown == ASIDE {
            // The entry itself is named `aside`.
            let step = OsStr::new(".aside.tmp");
            self.session.rename(name, step)?;
            let aside = self.session.make(ASIDE)?;
            let kept = free_name(&aside, ASIDE);
            self.session.move_to(step, &aside, kept.as_ref())?;
            return Ok(format!("{ASIDE}/{kept}"));
        }
        let aside = self.session.make(ASIDE)?;
        let kept = free_name(&aside, &shown.replace('/', "-"));
        directory.move_to(name, &aside, kept.as_ref())?;
        directory.sync()?;
        aside.sync()?;
        Ok(format!("{ASIDE}/{kept}"))
    }

    /// Reports a bad file and, when repairing, rewrites it; the old content is kept.
    fn rewrite(
        &mut self,
        directory: &Directory,
        name: &str,
        why: &str,
        how: &str,
        content: impl FnOnce(&mut File) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let shown = self.name_of(directory, OsStr::new(name));
        if !self.mends {
            self.find(shown, Health::Problem, why);
            return Ok(());
        }
        let mut kept = String::new();
        if directory.type_of(OsStr::new(name)).is_some() {
            let name = self.move_aside(directory, OsStr::new(name))?;
            kept = format!(", and the old content is kept as `{name}`");
        }
        store::write_with(directory, name, content)?;
        self.find(shown, Health::Mended, format!("{why}; {how}{kept}"));
        Ok(())
    }

    /// Finds entries that are not files or directories of the user.
    fn look_at_entries(&mut self, directory: &Directory, level: usize) -> anyhow::Result<()> {
        for name in directory.names()? {
            let shown = name.to_string_lossy();
            let is_directory = directory.type_of(&name) == Some(FileType::Directory);
            let found = if is_directory { EntryKind::Directory } else { EntryKind::File };
            let kind = kind_of(&self.name_of(directory, &name)).unwrap_or(found);
            if !self.look_at_entry(directory, &name, kind)? {
                continue;
            }
            let is_read = 0 < level || !UNREAD.contains(&&*shown);
            if kind == EntryKind::Directory
                && is_read
                && level < LEVELS_MAX
                && let Some(below) = directory.directory(&name)?
            {
                self.look_at_entries(&below, level + 1)?;
            }
        }
        Ok(())
    }

    /// Checks one entry, and returns whether it can be opened.
    fn look_at_entry(
        &mut self,
        directory: &Directory,
        name: &OsStr,
        kind: EntryKind,
    ) -> anyhow::Result<bool> {
        match directory.look(name, kind)? {
            EntryState::Nothing => return Ok(false),
            EntryState::Sound => {}
            EntryState::Odd(reason) => {
                self.put_aside(directory, name, &reason);
                return Ok(false);
            }
        }
        let shown = self.name_of(directory, name);
        let is_appended_to = APPENDED_TO.contains(&shown.as_str());
        let wanted = match kind {
            EntryKind::Directory => Mode::RWXU,
            EntryKind::File if is_appended_to => Mode::RUSR | Mode::WUSR,
            EntryKind::File => Mode::RUSR,
        };
        if let Some(mode) = directory.closed(name, wanted) {
            let why = format!("cannot be opened: its mode is {mode:04o}");
            if !self.mends {
                self.find(shown, Health::Problem, why);
                return Ok(false);
            }
            let given = if kind == EntryKind::File { Mode::RUSR | Mode::WUSR } else { wanted };
            if let Err(error) = directory.open_up(name, given) {
                self.put_aside(directory, name, &format!("{why}, and {error}"));
                return Ok(false);
            }
            let found = format!("{why}; made {:04o}", mode | given.as_raw_mode());
            self.find(shown.clone(), Health::Mended, found);
        }
        if is_appended_to {
            self.look_at_names(directory, name)?;
        }
        Ok(true)
    }

    /// Copies an append-only file that has other hard links, so that it has its own content.
    fn look_at_names(&mut self, directory: &Directory, name: &OsStr) -> anyhow::Result<()> {
        use std::os::unix::fs::MetadataExt;
        let Some(mut file) = directory.file(name)? else { return Ok(()) };
        if file.metadata()?.nlink() < 2 {
            return Ok(());
        }
        let why = "is a hard link: it has more than one name";
        self.rewrite(directory, &name.to_string_lossy(), why, "copied", |copy| {
            io::copy(&mut file, copy)?;
            Ok(())
        })
    }

    /// Opens a directory of the session; None when it does not exist, or the name belongs to something
    /// else.
    fn directory(&self, name: &str) -> Option<Directory> {
        self.session.directory(name).ok().flatten()
    }

    fn look_at_turns(&mut self) -> anyhow::Result<()> {
        let Some(turns) = self.directory("turns") else { return Ok(()) };
        let mut ids = turns::ids(&turns)?;
        if let Some(last) = ids.pop_if(|it| turns::next(it).is_none()) {
            self.put_aside(&turns, last.as_ref(), "has the highest possible number");
        }
        let mut n = ids.len();
        for id in &ids {
            let Ok(Some(turn)) = turns.directory(id) else { continue };
            self.look_at_lines::<Event>(&turn, turns::EVENTS, "event")?;
            if let Some(why) = turns::lost_events(&turn)? {
                let why = format!("its `{}` {why}", turns::EVENTS);
                self.put_aside(&turns, id.as_ref(), &why);
                n -= 1;
                continue;
            }
            self.look_at_json::<Record>(&turn, EgressFile::NAME)?;
        }
        self.is_ok("turns", format!("{n} {}", if n == 1 { "turn" } else { "turns" }));
        Ok(())
    }

    /// Keeps the readable lines of a file, and returns their number.
    fn look_at_lines<T: DeserializeOwned>(
        &mut self,
        directory: &Directory,
        name: &str,
        what: &str,
    ) -> anyhow::Result<usize> {
        // Entries that are not files were reported before.
        let Ok(Some(file)) = directory.file(name) else { return Ok(0) };
        if let Err(error) = directory.measure(name.as_ref(), &file, SESSION_FILE_BYTES_MAX) {
            self.unreadable(directory, name, &error.into())?;
            return Ok(0);
        }
        let Some(mut lines) = Lines::open(directory, name)? else { return Ok(0) };
        let (mut is_good, mut first, mut room) = (Vec::new(), None, MemoryBudget::whole());
        while let Some(line) = lines.next_line()? {
            let parsed = line.and_then(|it| store::parse::<T>(it, &mut room).map(drop));
            is_good.push(parsed.is_ok());
            if let Err(reason) = parsed {
                first.get_or_insert(format!("line {} is not {what}: {reason}", is_good.len()));
            }
        }
        let n_good = is_good.iter().filter(|it| **it).count();
        // Readers ignore a torn last line; a running turn may be writing it.
        let why = match first {
            Some(why) => why,
            None if lines.is_torn() && self.mends => "the last line is incomplete".to_owned(),
            None => return Ok(n_good),
        };
        let lines = if n_good == 1 { "line" } else { "lines" };
        let how = format!("rewritten with the {n_good} {lines} that can be read");
        let mut lines = Lines::open(directory, name)?;
        self.rewrite(directory, name, &why, &how, |file| {
            let mut out = BufWriter::new(file);
            for is_good in is_good {
                let line = lines.as_mut().map(Lines::next_line).transpose()?.flatten();
                if let Some(Ok(line)) = line.filter(|_| is_good) {
                    out.write_all(line)?;
                    out.write_all(b"\n")?;
                }
            }
            Ok(out.flush()?)
        })?;
        Ok(n_good)
    }

    /// Moves a file that is not JSON of its kind to `aside`.
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

    /// Moves an unreadable file to `aside`. An entry that is not a file was reported before.
    fn unreadable(
        &mut self,
        directory: &Directory,
        name: &str,
        error: &anyhow::Error,
    ) -> anyhow::Result<()> {
        if directory.look(OsStr::new(name), EntryKind::File)? != EntryState::Sound {
            return Ok(());
        }
        self.put_aside(directory, OsStr::new(name), &format!("{error:#}"));
        Ok(())
    }

    fn look_at_meta(&mut self) -> anyhow::Result<()> {
        let session = self.session.clone();
        let why = match read_json::<Meta>(&session, META) {
            Ok(Some(meta)) if SCHEMA < meta.schema => {
                self.is_newer = true;
                let found =
                    format!("a newer csv-agent wrote it: schema {}, not {SCHEMA}", meta.schema);
                self.find(META, Health::Problem, found);
                return Ok(());
            }
            Ok(Some(meta)) => {
                self.is_ok(META, format!("session {}", meta.session_id));
                return Ok(());
            }
            Ok(None) => "is missing".to_owned(),
            Err(error) if session.look(META.as_ref(), EntryKind::File)? == EntryState::Sound => {
                format!("{error:#}")
            }
            // Reported before.
            Err(_) => return Ok(()),
        };
        let mut content =
            serde_json::to_vec_pretty(&self.meta_of_turns()?).context("cannot write JSON")?;
        content.push(b'\n');
        self.rewrite(&session, META, &why, "rebuilt from the turns", |file| {
            Ok(file.write_all(&content)?)
        })
    }

    /// Reconstructs the session's metadata from its turns.
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
        let (mut catalog, mut why) = self.entries()?;
        let here = catalog.iter().filter(|it| it.1.remote().is_none());
        let names: Vec<String> = here.map(|it| it.0.to_owned()).collect();
        let mut lost = Vec::new();
        for name in names {
            let Some(dataset) = catalog.get(&name) else { continue };
            let path = csv_agent_types::catalog::file_of(&name);
            let found = match session.file(&path) {
                Ok(None) => Err("is missing".to_owned()),
                // Reported before.
                Err(_) => continue,
                Ok(Some(file)) => match dataset_of(&file, &session.path().join(&path), &name) {
                    Ok(found)
                        if agrees(&found, dataset)
                            && (&found.sha256, &found.ingested_at)
                                == (&dataset.sha256, &dataset.ingested_at)
                            && !is_same_table(&found, dataset) =>
                    {
                        Err("is damaged: its content is not what was written".to_owned())
                    }
                    Ok(found) if agrees(&found, dataset) && why_not(&file, dataset).is_none() => {
                        Ok(None)
                    }
                    // A process was killed between the rename of the file and the write of the catalog.
                    Ok(found) if !found.sha256.is_empty() => Ok(Some(found)),
                    Ok(_) => Err("belongs to other data".to_owned()),
                    Err(error) => {
                        let cause = error.root_cause().to_string();
                        // What to do about it is decided here.
                        let cause =
                            cause.strip_suffix("; ingest its source again").unwrap_or(&cause);
                        Err(format!("cannot be read: {cause}"))
                    }
                },
            };
            let shown = path.display().to_string();
            match found {
                Ok(None) => {
                    if let Some(why) = why_no_lines(session.path(), dataset) {
                        let dataset = dataset.clone();
                        lost.push(Lost { name, dataset, why, part: DatasetPart::Lines });
                    } else {
                        let rows = if dataset.row_count == 1 { "row" } else { "rows" };
                        self.is_ok(shown, format!("{} {rows}", dataset.row_count));
                    }
                }
                Ok(Some(found)) => {
                    why.get_or_insert(format!("the entry of `{name}` does not match its file"));
                    catalog.insert(name, found);
                }
                Err(why) => {
                    let dataset = dataset.clone();
                    lost.push(Lost { name, dataset, why, part: DatasetPart::Table });
                }
            }
        }
        if let Some(why) = why {
            let mut content = serde_json::to_vec_pretty(&catalog).context("cannot write JSON")?;
            content.push(b'\n');
            let n = catalog.len();
            let how = format!("rewritten with {n} {}", if n == 1 { "dataset" } else { "datasets" });
            self.rewrite(&session, CATALOG, &why, &how, |file| Ok(file.write_all(&content)?))?;
        }
        for it in &lost {
            if self.mends
                && it.part == DatasetPart::Table
                && let Some(datasets) = self.directory("datasets")
            {
                let path = csv_agent_types::catalog::file_of(&it.name);
                let file = path.file_name().unwrap_or_default();
                if datasets.type_of(file).is_some() {
                    self.put_aside(&datasets, file, &it.why);
                }
            }
        }
        self.examined.lost.extend(lost);
        Ok(())
    }

    /// Returns the datasets that the catalog has, or should have, and the reason to rewrite it, if any.
    fn entries(&mut self) -> anyhow::Result<(Catalog, Option<String>)> {
        let session = self.session.clone();
        let content = match session.read(CATALOG, CATALOG_BYTES_MAX) {
            Ok(content) => content,
            Err(error) => {
                let is_file = session.look(CATALOG.as_ref(), EntryKind::File)? == EntryState::Sound;
                return if is_file {
                    Ok((self.found_files(|_| true)?, Some(format!("{error:#}"))))
                } else {
                    Ok((Catalog::default(), None))
                };
            }
        };
        let Some(content) = content else {
            let found = self.found_files(|_| true)?;
            let why = (!found.is_empty()).then(|| "is missing".to_owned());
            return Ok((found, why));
        };
        let entries = match entries(&content) {
            Ok(entries) => entries,
            Err(reason) => {
                drop(content);
                return Ok((
                    self.found_files(|_| true)?,
                    Some(format!("cannot be read: {reason}")),
                ));
            }
        };
        let (mut catalog, mut why) = (Catalog::default(), None);
        for (name, entry) in entries {
            match entry {
                Ok(dataset) => catalog.insert(name, dataset),
                Err(reason) => {
                    why.get_or_insert(reason);
                }
            }
        }
        drop(content);
        if why.is_none() {
            let n = catalog.len();
            self.is_ok(CATALOG, format!("{n} dataset{}", if n == 1 { "" } else { "s" }));
            return Ok((catalog, None));
        }
        let found = self.found_files(|it| catalog.get(it).is_none())?;
        catalog.extend(found);
        Ok((catalog, why))
    }

    /// Returns the metadata in the files of datasets.
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
                    self.put_aside(&datasets, &file_name, &why);
                }
            }
        }
        Ok(catalog)
    }

    fn look_at_history(&mut self) -> anyhow::Result<()> {
        let session = self.session.clone();
        let n_turns = self.look_at_lines::<HistoryTurn>(&session, history::TURNS, "a turn")?;
        if 0 < n_turns {
            let turns = if n_turns == 1 { "turn" } else { "turns" };
            self.is_ok(history::TURNS, format!("{n_turns} {turns}"));
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
        let first = || {
            let mut lines = Lines::open(&session, history::TURNS).ok()??;
            let turn: HistoryTurn =
                store::parse(lines.next_line().ok()??.ok()?, &mut MemoryBudget::whole()).ok()?;
            Some(turn.number().saturating_sub(1))
        };
        let last_id = || turns::ids(&self.directory("turns")?).ok()?.pop()?.parse().ok();
        let last_turn = first().or_else(last_id).unwrap_or_default();
        let content = history::marked(last_turn, &text);
        let how = format!("marked as the summary of the turns up to {last_turn}");
        self.rewrite(&session, history::SUMMARY, "has no mark on its first line", &how, |file| {
            Ok(file.write_all(content.as_bytes())?)
        })
    }

    fn look_at_rest(&mut self) -> anyhow::Result<()> {
        let session = self.session.clone();
        self.look_at_json::<HostedState>(&session, hosted::FILE)?;
        if let Ok(Some(file)) = session.file(input_history::FILE)
            && let Err(error) =
                session.measure(input_history::FILE.as_ref(), &file, SESSION_FILE_BYTES_MAX)
        {
            self.unreadable(&session, input_history::FILE, &error.into())?;
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
                    self.put_aside(&session, OsStr::new(name), why);
                }
            }
        }
        Ok(())
    }
}

/// Returns whether a file's metadata matches the catalog entry.
fn agrees(found: &Dataset, dataset: &Dataset) -> bool {
    let column = |it: &Column| (it.name.clone(), it.dtype);
    found.row_count == dataset.row_count
        && found.columns.iter().map(column).eq(dataset.columns.iter().map(column))
}

/// Returns whether a dataset's file has the bytes that an ingest wrote, if their hash is known.
fn is_same_table(found: &Dataset, dataset: &Dataset) -> bool {
    let [found, written] = [found, dataset].map(|it| it.checksums.as_ref().map(|it| it.table));
    written.is_none() || found == written
}

/// Returns the kind of a reserved name; None where both kinds are allowed.
fn kind_of(name: &str) -> Option<EntryKind> {
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
    Some(if is_file { EntryKind::File } else { EntryKind::Directory })
}

/// Returns an unused name in `aside`.
fn free_name(aside: &Directory, name: &str) -> String {
    let name = &name[..name.floor_char_boundary(ASIDE_NAME_BYTES_MAX)];
    let numbered = |n: u32| if n == 1 { name.to_owned() } else { format!("{name}.{n}") };
    let free = (1..=u32::MAX).map(numbered).find(|it| aside.type_of(it.as_ref()).is_none());
    free.expect("a directory has fewer entries than there are numbers")
}
