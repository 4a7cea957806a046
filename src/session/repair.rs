//! A session that is hurt, or holds what is not its own: what is wrong with each file, and mending that.
//!
//! Nothing is thrown away. What cannot stay where it is moves to the directory `aside` of the session, under
//! a name that the finding gives. A session that was mended has nothing more to be mended. Memory is that of
//! the longest line that is read, whatever the files hold.

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
use csv_agent_types::catalog::{Catalog, Column, Dataset, is_dataset_name};
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

/// Bytes of the name of what is put aside, without a number. Those of a file system have 255.
const ASIDE_NAME_BYTES_MAX: usize = 200;
/// Directories within directories: a turn's tables are three levels down.
const LEVELS_MAX: usize = 6;
/// Directories whose content nobody reads; that of the first two goes when the session is opened.
const UNREAD: [&str; 3] = ["scratch", "masked", ASIDE];

/// Files that are written in their place.
const APPENDED_TO: [&str; 4] = [history::TURNS, input_history::FILE, "lock", "logs/csv-agent.log"];

/// How something of a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// As it should be.
    Ok,
    /// It was not, and is now.
    Mended,
    /// It is not.
    Problem,
}

/// What was found out about a file, a directory or a dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairFinding {
    /// Its name in the session.
    pub name: String,
    /// How it is.
    pub state: Health,
    /// In words, with what was done about it.
    pub found: String,
}

/// What was found out about a session.
#[derive(Debug, Default)]
pub struct Examined {
    /// In the order in which it was looked at.
    pub findings: Vec<RepairFinding>,
    /// What only the sources of datasets may still have.
    pub lost: Vec<Lost>,
}

/// A dataset that is not whole.
#[derive(Debug)]
pub struct Lost {
    /// Its name.
    pub name: String,
    /// What the catalog says of it.
    pub dataset: Dataset,
    /// Goes on after the name of what is lost: `is missing`.
    pub why: String,
    /// What of it is lost.
    pub part: DatasetPart,
}

/// A file of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatasetPart {
    /// Its rows.
    Table,
    /// Where they are in their source.
    Lines,
}

/// Looks at every file of a session and, with a lock to take, mends what can be mended from what is there.
///
/// # Errors
///
/// Fails with [`ExitStatus::Setup`](csv_agent_types::status::ExitStatus::Setup) when there is no session, it may not be
/// used, or another process holds it for too long; and when a repair cannot be written.
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
    /// Whether a newer csv-agent wrote the session: then its files are none of our business.
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

    /// Returns the name of something, as the session has it.
    fn name_of(&self, directory: &Directory, name: &OsStr) -> String {
        let path = directory.path().join(name);
        path.strip_prefix(self.session.path()).unwrap_or(&path).display().to_string()
    }

    /// Tells what is wrong with something and, when mending, puts it aside.
    fn put_aside(&mut self, directory: &Directory, name: &OsStr, why: &str) {
        let shown = self.name_of(directory, name);
        if !self.mends {
            self.find(shown, Health::Problem, why);
            return;
        }
        match self.move_aside(directory, name) {
            Ok(kept) => self.find(shown, Health::Mended, format!("{why}; kept as `{kept}`")),
            // A directory of another user, such as: only its owner can move it.
            Err(error) => {
                self.find(shown, Health::Problem, format!("{why}, and cannot be moved: {error}"));
            }
        }
    }

    /// Moves something to the directory for what was put aside, and returns its name there.
    fn move_aside(&self, directory: &Directory, name: &OsStr) -> anyhow::Result<String> {
        let shown = self.name_of(directory, name);
        if shown == ASIDE {
            // It is in the way of itself.
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

    /// Tells what is wrong with a file and, when mending, writes it anew; what it was is kept.
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
            kept = format!(", and what it was is kept as `{name}`");
        }
        store::write_with(directory, name, content)?;
        self.find(shown, Health::Mended, format!("{why}; {how}{kept}"));
        Ok(())
    }

    /// Looks for what is no file or directory of the user.
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

    /// Looks at one file or directory, and returns whether it can be opened.
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

    /// Gives a file that is appended to, and has another name elsewhere, a content of its own.
    fn look_at_names(&mut self, directory: &Directory, name: &OsStr) -> anyhow::Result<()> {
        use std::os::unix::fs::MetadataExt;
        let Some(mut file) = directory.file(name)? else { return Ok(()) };
        if file.metadata()?.nlink() < 2 {
            return Ok(());
        }
        let why = "has a second name: it is a hard link";
        self.rewrite(directory, &name.to_string_lossy(), why, "copied", |copy| {
            io::copy(&mut file, copy)?;
            Ok(())
        })
    }

    /// Opens a directory of the session; none when it is not there, or something else has its name.
    fn directory(&self, name: &str) -> Option<Directory> {
        self.session.directory(name).ok().flatten()
    }

    fn look_at_turns(&mut self) -> anyhow::Result<()> {
        let Some(turns) = self.directory("turns") else { return Ok(()) };
        let mut ids = turns::ids(&turns)?;
        if let Some(last) = ids.pop_if(|it| turns::next(it).is_none()) {
            self.put_aside(&turns, last.as_ref(), "has the last of all numbers");
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

    /// Keeps the lines of a file that can be read, and returns how many there are.
    fn look_at_lines<T: DeserializeOwned>(
        &mut self,
        directory: &Directory,
        name: &str,
        what: &str,
    ) -> anyhow::Result<usize> {
        // What is no file was told before.
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
        // A torn last line is left out by whoever reads it; a turn that runs may be writing it.
        let why = match first {
            Some(why) => why,
            None if lines.is_torn() && self.mends => "the last line is torn".to_owned(),
            None => return Ok(n_good),
        };
        let how = format!("written anew with the {n_good} lines that can be read");
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
            // It was told before.
            Err(_) => return Ok(()),
        };
        let mut content =
            serde_json::to_vec_pretty(&self.meta_of_turns()?).context("cannot write JSON")?;
        content.push(b'\n');
        self.rewrite(&session, META, &why, "written anew from the turns", |file| {
            Ok(file.write_all(&content)?)
        })
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
        let (mut catalog, mut why) = self.entries()?;
        let here = catalog.iter().filter(|it| it.1.remote().is_none());
        let names: Vec<String> = here.map(|it| it.0.to_owned()).collect();
        let mut lost = Vec::new();
        for name in names {
            let Some(dataset) = catalog.get(&name) else { continue };
            let path = csv_agent_types::catalog::file_of(&name);
            let found = match session.file(&path) {
                Ok(None) => Err("is missing".to_owned()),
                // It was told before.
                Err(_) => continue,
                Ok(Some(file)) => match dataset_of(&file, &session.path().join(&path), &name) {
                    Ok(found)
                        if agrees(&found, dataset)
                            && (&found.sha256, &found.ingested_at)
                                == (&dataset.sha256, &dataset.ingested_at)
                            && !is_same_table(&found, dataset) =>
                    {
                        Err("is damaged: it has other bytes than were written".to_owned())
                    }
                    Ok(found) if agrees(&found, dataset) && why_not(&file, dataset).is_none() => {
                        Ok(None)
                    }
                    // A process was killed when it had put the file in its place, before the catalog.
                    Ok(found) if !found.sha256.is_empty() => Ok(Some(found)),
                    Ok(_) => Err("is that of other data".to_owned()),
                    Err(error) => Err(format!("cannot be read: {}", error.root_cause())),
                },
            };
            let shown = path.display().to_string();
            match found {
                Ok(None) => {
                    if let Some(why) = why_no_lines(session.path(), dataset) {
                        let dataset = dataset.clone();
                        lost.push(Lost { name, dataset, why, part: DatasetPart::Lines });
                    } else {
                        self.is_ok(shown, format!("{} rows", dataset.row_count));
                    }
                }
                Ok(Some(found)) => {
                    why.get_or_insert(format!("`{name}` is not what its file says"));
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
            let how =
                format!("written anew with {n} {}", if n == 1 { "dataset" } else { "datasets" });
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

    /// Returns the datasets that the catalog has, or should have, and why it is to be written anew, if so.
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

/// Returns whether what a file says of its dataset is what the catalog says.
fn agrees(found: &Dataset, dataset: &Dataset) -> bool {
    let column = |it: &Column| (it.name.clone(), it.dtype);
    found.row_count == dataset.row_count
        && found.columns.iter().map(column).eq(dataset.columns.iter().map(column))
}

/// Returns whether the file of a dataset has the bytes that an ingest wrote, as far as that is known.
fn is_same_table(found: &Dataset, dataset: &Dataset) -> bool {
    let [found, written] = [found, dataset].map(|it| it.checksums.as_ref().map(|it| it.table));
    written.is_none() || found == written
}

/// Returns what has a name in every session; none where either may have it.
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

/// Returns a name for what is put aside that nothing has yet.
fn free_name(aside: &Directory, name: &str) -> String {
    let name = &name[..name.floor_char_boundary(ASIDE_NAME_BYTES_MAX)];
    let numbered = |n: u32| if n == 1 { name.to_owned() } else { format!("{name}.{n}") };
    let free = (1..=u32::MAX).map(numbered).find(|it| aside.type_of(it.as_ref()).is_none());
    free.expect("a directory has fewer entries than there are numbers")
}
