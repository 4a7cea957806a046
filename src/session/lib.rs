//! The session: a directory that outlives the process, with datasets, history and turns.
//!
//! It stays usable after a kill at any moment. Files appear by rename, logs grow by whole lines, and every
//! change requires the lock.

pub mod egress_store;
pub mod directory;
pub mod history;
pub mod hosted;
pub mod lock;
mod log;
pub mod own_files;
pub mod repair;
mod api_cache;
pub mod store;
pub mod turns;
pub mod input_history;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tempfile::TempDir;
use uuid::Uuid;

use csv_agent_ingest::why_not;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::conversation::Usage;
use csv_agent_types::egress::Record;
use csv_agent_types::json::parse;
use csv_agent_types::limits::{
    CATALOG_BYTES_MAX, DATASET_MEMORY_BYTES_MAX, DOCUMENT_MEMORY_BYTES_MAX, RECORD_FILE_BYTES_MAX,
};
use csv_agent_types::redaction::Redaction;
use csv_agent_types::status::{Failure, hint_of_disk};

use crate::api_cache::Servers;
use crate::directory::{Directory, EntryKind, META, mendable};
use crate::egress_store::EgressFile;
use crate::history::{History, HistoryTurn};
use crate::lock::{Lock, LockRequest};
use crate::turns::TurnDir;

/// Copies of datasets for turns that withhold values. They last as long as the process.
const MASKED: &str = "masked";

/// The worker's directory.
const SCRATCH: &str = "scratch";
/// Results of queries. They last as long as a turn.
const RESULTS: &str = "results";
const CATALOG: &str = "datasets.json";
/// Prefix of a directory of variables that hold tokens in place of values.
const REDACTED: &str = "redacted-";
/// What stays of the turns of a temporary session: stdout cannot carry it, so the answer refers to it.
const KEPT: [&str; 2] = ["charts", "artifacts"];
/// The files of a dataset, by extension.
const ENDINGS: [&str; 3] = ["parquet", "lines", "rejects.jsonl"];

/// The layout that this program writes. A larger number in `session.json` is rejected.
const SCHEMA: u32 = 1;

/// Whether a missing session is created or an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The session must exist.
    Existing,
    /// Creates the session if it does not exist.
    Create,
}

/// What `reset` removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetScope {
    /// History, turns, exports, summary, REPL variables, logs, input history.
    Conversation,
    /// These, and the datasets.
    Datasets,
    /// The whole directory.
    All,
}

/// A session that this process holds exclusively.
#[derive(Debug)]
pub struct Session {
    dir: Directory,
    meta: Box<Meta>,
    catalog: Catalog,
    warnings: Vec<String>,
    // Dropping the session releases the lock. An ephemeral session has a temporary directory instead, which
    // no other process knows and which is deleted on drop.
    keeper: Keeper,
}

/// A session that this process will use again, and that others may use meanwhile.
#[derive(Debug)]
pub struct PausedSession(Session);

impl PausedSession {
    /// Locks the session again. Returns it with whether no other process has used it meanwhile: otherwise its
    /// temporary files are gone, such as those of a running worker.
    ///
    /// # Errors
    ///
    /// Fails as [`Session::open`] does.
    pub fn resume(self, lock: LockRequest) -> anyhow::Result<(Session, bool)> {
        let PausedSession(mut session) = self;
        if !matches!(session.keeper, Keeper::Released) {
            return Ok((session, true));
        }
        // The directory may have been removed and made again.
        let path = session.dir().to_owned();
        Session::require(&path)?;
        let dir = Directory::at(&path)?;
        let (lock, is_untouched) = Lock::acquire_again(&dir, lock)?;
        if !is_untouched {
            return Ok((Session::read(dir, lock)?, false));
        }
        session.keeper = Keeper::Locked { _lock: lock };
        Ok((session, true))
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        self.0.dir()
    }
}

#[derive(Debug)]
enum Keeper {
    Locked {
        _lock: Lock,
    },
    /// Another process may hold the lock.
    Released,
    Temporary(TempDir),
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Meta {
    schema: u32,
    session_id: String,
    created: String,
    model: Option<String>,
    total_tokens: u64,
    total_cost_usd: Option<f64>,
    #[serde(default, skip_serializing_if = "Servers::is_empty")]
    servers: Servers,
    /// What left the machine in turns that were removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    removed_egress: Option<Record>,
    /// The key that derives the tokens of withheld values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    token_key: Option<String>,
}

impl Meta {
    fn new() -> Meta {
        Meta {
            schema: SCHEMA,
            session_id: Uuid::new_v4().to_string(),
            created: store::now_utc(),
            ..Meta::default()
        }
    }
}

impl Session {
    /// Checks that there is a session in `dir`, without opening it.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when there is none.
    pub fn require(dir: &Path) -> anyhow::Result<()> {
        let session = Directory::open(dir)?.ok_or_else(|| missing(dir))?;
        Session::demand(&session)
    }

    /// Checks that a directory is a session.
    fn demand(session: &Directory) -> anyhow::Result<()> {
        if session.path_of(META, EntryKind::File)?.is_some() {
            return Ok(());
        }
        // A kill while a session is created or removed never leaves one of these without the other.
        let rest = [
            (CATALOG, EntryKind::File),
            (history::TURNS, EntryKind::File),
            ("turns", EntryKind::Directory),
        ];
        for (name, kind) in rest {
            if session.path_of(name, kind)?.is_some() {
                return Err(session.refusal(META.as_ref(), "is missing").into());
            }
        }
        Err(missing(session.path()).into())
    }

    /// Returns whether there is a session in `dir`, damaged or not.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it exists and may not be used.
    pub fn is_there(dir: &Path) -> anyhow::Result<bool> {
        let Some(session) = Directory::open(dir)? else { return Ok(false) };
        match Session::demand(&session) {
            Ok(()) => Ok(true),
            Err(_) if session.path_of(CATALOG, EntryKind::File)?.is_none() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Opens the session in `dir` and locks it.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it does not exist and `access` does not create it, when
    /// another process holds its lock for too long, when a newer version wrote it, or when its files cannot
    /// be read or are not the user's.
    pub fn open(dir: &Path, access: Access, lock: LockRequest) -> anyhow::Result<Session> {
        let dir = match access {
            Access::Existing => {
                Session::require(dir)?;
                Directory::at(dir)?
            }
            Access::Create => Directory::create(dir)?,
        };
        let lock = Lock::acquire(&dir, lock)?;
        Session::read(dir, lock)
    }

    /// Reads a session that is locked, and removes what a killed process left in it.
    fn read(dir: Directory, lock: Lock) -> anyhow::Result<Session> {
        let meta = Box::new(open_meta(&dir)?);
        store::remove_temporaries(&dir);
        dir.directory("datasets")?.iter().for_each(store::remove_temporaries);
        turns::remove_temporaries(&dir)?;
        for it in [SCRATCH, RESULTS, MASKED] {
            dir.remove(it)?;
        }
        let catalog = read_catalog(&dir)?;
        let keeper = Keeper::Locked { _lock: lock };
        Ok(Session { dir, meta, catalog, warnings: Vec::new(), keeper })
    }

    /// Lets other processes use the session, until [`PausedSession::resume`].
    pub fn pause(mut self) -> PausedSession {
        if let Keeper::Locked { .. } = self.keeper {
            self.keeper = Keeper::Released;
        }
        PausedSession(self)
    }

    /// Creates a session that is deleted when the process ends, except for charts and files of its answer.
    /// It sees the datasets of `base`, if given.
    ///
    /// # Errors
    ///
    /// Fails when no temporary directory can be created, or the datasets of `base` cannot be read.
    pub fn ephemeral(base: Option<&Path>) -> anyhow::Result<Session> {
        let temporary = tempfile::Builder::new().prefix("csv-agent-").tempdir();
        let temporary = temporary.map_err(|error| no_temporary(&error))?;
        let dir = Directory::at(temporary.path())?;
        let meta = Box::new(open_meta(&dir)?);
        let mut catalog = Catalog::default();
        if let Some(base) = base {
            let base = std::path::absolute(base)?;
            for (name, dataset) in Session::read_catalog(&base)?.iter() {
                catalog.insert(name.to_owned(), dataset.seen_from(&base));
            }
        }
        let keeper = Keeper::Temporary(temporary);
        Ok(Session { dir, meta, catalog, warnings: Vec::new(), keeper })
    }

    /// Reads the datasets of a session without its lock; empty when there is no session.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when `datasets.json` cannot be read.
    pub fn read_catalog(dir: &Path) -> anyhow::Result<Catalog> {
        match Directory::open(dir)? {
            Some(session) => read_catalog(&session),
            None => Ok(Catalog::default()),
        }
    }

    /// Returns the datasets whose file is missing, torn or contains other data, each with its error. Other
    /// datasets are unaffected.
    ///
    /// # Errors
    ///
    /// Fails when a file is not the user's.
    pub fn hurt_datasets(
        dir: &Path,
        catalog: &Catalog,
    ) -> anyhow::Result<BTreeMap<String, Failure>> {
        let mut hurt = BTreeMap::new();
        let Some(session) = Directory::open(dir)? else { return Ok(hurt) };
        let datasets = session.directory("datasets")?;
        for (name, dataset) in catalog.iter() {
            let Some(path) = dataset.path() else { continue };
            let file = match (&datasets, path.strip_prefix("datasets")) {
                (Some(datasets), Ok(name)) => datasets.file(name)?,
                // An ephemeral session refers to files of another session, which were checked when that was
                // read.
                _ if path.is_absolute() => File::open(path).ok(),
                _ => None,
            };
            let found = match file {
                None => "is missing",
                Some(file) => match why_not(&file, dataset) {
                    Some(why) => why,
                    None => continue,
                },
            };
            let base = path.ancestors().nth(2).filter(|it| it.is_absolute());
            let shown = session.path().join(path);
            let message = format!("dataset `{name}`: its file `{}` {found}", shown.display());
            hurt.insert(name.to_owned(), mendable(base.unwrap_or(session.path()), message));
        }
        Ok(hurt)
    }

    /// Returns the requested datasets whose files exist, are complete and match the catalog.
    ///
    /// # Errors
    ///
    /// Fails as [`Session::hurt_datasets`] does.
    pub fn sound_catalog(&self, is_wanted: impl Fn(&str) -> bool) -> anyhow::Result<Catalog> {
        let wanted = self.catalog.filtered(is_wanted);
        let hurt = Session::hurt_datasets(self.dir(), &wanted)?;
        Ok(wanted.filtered(|it| !hurt.contains_key(it)))
    }

    /// Reads what left the machine in turns that a reset removed, without the lock; empty when there is no
    /// session. Fails with `FailureKind::Setup` when `session.json` cannot be read.
    pub(crate) fn removed_egress(dir: &Path) -> anyhow::Result<Record> {
        let Some(session) = Directory::open(dir)? else { return Ok(Record::default()) };
        let meta = read_json::<Meta>(&session, META)?;
        Ok(meta.and_then(|it| it.removed_egress).unwrap_or_default())
    }

    /// Returns the directory.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the UUID.
    pub fn id(&self) -> &str {
        &self.meta.session_id
    }

    /// Returns the datasets.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Returns the input and output tokens of all turns.
    pub fn total_tokens(&self) -> u64 {
        self.meta.total_tokens
    }

    /// Returns the cost of the turns with a known price, in USD; None when there are none.
    pub fn total_cost_usd(&self) -> Option<f64> {
        self.meta.total_cost_usd
    }

    /// Adds a warning about the session's state, for the next turn.
    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// Returns the warnings about the session's state, and clears them.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Returns the directory of the Parquet files, and creates it if needed.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be created.
    pub fn datasets_dir(&self) -> anyhow::Result<PathBuf> {
        // Files of datasets without a catalog mean that the catalog was lost.
        if self.dir.path_of(CATALOG, EntryKind::File)?.is_none() {
            write_json(&self.dir, CATALOG, &self.catalog)?;
        }
        self.subdirectory("datasets")
    }

    /// Returns the worker's directory; it exists, and is empty when the session opens.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be created.
    pub fn scratch_dir(&self) -> anyhow::Result<PathBuf> {
        self.subdirectory(SCRATCH)
    }

    /// Returns the directory of the results of queries; it exists, and is empty when the session opens.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be created.
    pub fn results_dir(&self) -> anyhow::Result<PathBuf> {
        self.subdirectory(RESULTS)
    }

    /// Creates an empty directory for copies of datasets that withhold values; it is deleted on drop. Each
    /// call creates another one, since unfinished copies may still exist.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be created.
    pub fn masked_dir(&self) -> anyhow::Result<TempDir> {
        let beside = std::path::absolute(self.subdirectory(MASKED)?)?;
        let doing = || format!("cannot create a directory in {}", beside.display());
        tempfile::tempdir_in(&beside).with_context(doing)
    }

    /// Returns the key that derives the tokens of values. It stays the same for the life of the session.
    ///
    /// # Errors
    ///
    /// Fails when `session.json` cannot be written.
    pub fn token_key(&mut self) -> anyhow::Result<String> {
        if let Some(key) = &self.meta.token_key {
            return Ok(key.clone());
        }
        let key = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        self.meta.token_key = Some(key.clone());
        write_json(&self.dir, META, &*self.meta)?;
        Ok(key)
    }

    /// Returns whether the session outlives this process.
    pub fn is_kept(&self) -> bool {
        !matches!(self.keeper, Keeper::Temporary(_))
    }

    /// Returns the directory that keeps the REPL's variables between processes; it may not exist. None for
    /// a session that ends with this process.
    ///
    /// Variables with tokens and variables with values have separate directories: a turn of one kind never
    /// sees those of the other.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it exists and is a link, not a directory, or another user's.
    pub fn repl_dir(&self, withheld: &Redaction) -> anyhow::Result<Option<PathBuf>> {
        if !self.is_kept() {
            return Ok(None);
        }
        let mut name = "repl".to_owned();
        if !withheld.columns.is_empty() {
            let mut hasher = Sha256::new();
            for column in &withheld.columns {
                hasher.update(column);
                hasher.update([0]);
            }
            name.push('/');
            name.push_str(REDACTED);
            // Writing to a string cannot fail.
            let _ = write!(name, "{:.16x}", hasher.finalize());
        }
        // The worker opens the files in it, and a pipe would block it.
        if let Some(there) = self.dir.directory(&name)? {
            for entry in there.names()? {
                let is_directory = entry.to_string_lossy().starts_with(REDACTED);
                let kind = if is_directory { EntryKind::Directory } else { EntryKind::File };
                there.path_of(&entry, kind)?;
            }
        }
        Ok(Some(self.dir.path().join(name)))
    }

    /// Adds datasets, or replaces those of the same name. Their Parquet files must be in place. Removes the
    /// files of a dataset that is replaced by one on a cluster.
    ///
    /// # Errors
    ///
    /// Fails when the catalog cannot be written; it is then unchanged.
    pub fn register(&mut self, datasets: Vec<(String, Dataset)>) -> anyhow::Result<()> {
        let mut catalog = self.catalog.clone();
        let mut replaced = Vec::new();
        for (name, dataset) in datasets {
            let before = catalog.get(&name).filter(|_| dataset.remote().is_some());
            replaced.extend(before.map(|it| (name.clone(), it.clone())));
            catalog.insert(name, dataset);
        }
        self.replace_catalog(catalog)?;
        replaced.iter().try_for_each(|(name, dataset)| self.remove_files(name, dataset))
    }

    /// Removes a dataset with its files. Returns whether it existed.
    ///
    /// # Errors
    ///
    /// Fails when the catalog cannot be written.
    pub fn remove_dataset(&mut self, name: &str) -> anyhow::Result<bool> {
        let mut catalog = self.catalog.clone();
        let Some(dataset) = catalog.remove(name) else { return Ok(false) };
        self.replace_catalog(catalog)?;
        self.remove_files(name, &dataset)?;
        Ok(true)
    }

    /// Removes the files of a dataset that is no longer in the catalog.
    fn remove_files(&self, name: &str, dataset: &Dataset) -> anyhow::Result<()> {
        // Only the session's own files: an ephemeral session lists those of another.
        if dataset.path().is_some_and(Path::is_relative) {
            for ending in ENDINGS {
                self.dir.remove(format!("datasets/{name}.{ending}"))?;
            }
        }
        Ok(())
    }

    /// Reads the conversation: the finished turns, and the summary of earlier ones.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it cannot be read.
    pub fn history(&mut self) -> anyhow::Result<History> {
        let (history, is_torn) = history::read(&self.dir)?;
        if is_torn {
            self.warnings
                .push("the last line of `history.jsonl` is incomplete and was left out".into());
        }
        Ok(history)
    }

    /// Replaces the conversation by a shorter one.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written; the previous one remains readable.
    pub fn shorten_history(&self, history: &History) -> anyhow::Result<()> {
        history::replace(&self.dir, history)
    }

    /// Starts a turn.
    ///
    /// # Errors
    ///
    /// Fails when its directory cannot be created.
    pub fn begin_turn(&self, question: &str) -> anyhow::Result<TurnDir> {
        TurnDir::create(&self.dir, question)
    }

    /// Adds a finished turn to the history in one write.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written.
    pub fn commit(&mut self, turn: &HistoryTurn) -> anyhow::Result<()> {
        history::append(&self.dir, turn)
    }

    /// Returns the dialect of this server, if it was detected recently.
    pub fn api_of(&self, server: &str) -> Option<&str> {
        self.meta.servers.api_of(server, Timestamp::now())
    }

    /// Records the dialect of a server. It is written to disk with the cost of the turn.
    pub fn keep_api(&mut self, server: &str, api: &str) {
        self.meta.servers.keep(server, api, Timestamp::now());
    }

    /// Adds the usage of a turn, however it ended. `cost_usd` is None when the price is not known; the
    /// total covers the turns with a known price.
    ///
    /// # Errors
    ///
    /// Fails when `session.json` cannot be written.
    pub fn spend(
        &mut self,
        model: &str,
        usage: &Usage,
        cost_usd: Option<f64>,
    ) -> anyhow::Result<()> {
        self.meta.model = Some(model.to_owned());
        self.meta.total_tokens = self.meta.total_tokens.saturating_add(usage.total_tokens());
        if let Some(cost_usd) = cost_usd {
            self.meta.total_cost_usd = Some(self.meta.total_cost_usd.unwrap_or(0.0) + cost_usd);
        }
        write_json(&self.dir, META, &*self.meta)
    }

    /// Undoes the last turn of the conversation, with all its files, and returns its number. None when
    /// there is none after turn `after`. Its cost and egress stay counted.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Input` when a summary covers the turn, and when something cannot be
    /// written or removed.
    pub fn undo(&mut self, after: u32) -> anyhow::Result<Option<u32>> {
        let mut history = self.history()?;
        let number = history.last_turn();
        if number <= after {
            return Ok(None);
        }
        let Some(turn) = history.turns.pop() else {
            let message = format!("turn {number} is already part of a summary");
            let hint = "forget the whole conversation with `/reset`";
            return Err(Failure::input(message).hint(hint).into());
        };
        let name = format!("turns/{}", turn.turn);
        // Egress first: a kill in between then counts too much rather than too little.
        let sent = EgressFile::of_turn(&self.dir.path().join(&name)).read()?;
        if 0 < sent.all.requests {
            self.meta.removed_egress.get_or_insert_default().add(&sent);
            write_json(&self.dir, META, &*self.meta)?;
        }
        history::replace(&self.dir, &history)?;
        self.dir.remove(&name)?;
        Ok(Some(number))
    }

    /// Removes what `scope` covers, or with `dry_run` only lists it. Returns the paths relative to the
    /// session.
    ///
    /// # Errors
    ///
    /// Fails when something cannot be removed.
    pub fn reset(&mut self, scope: ResetScope, dry_run: bool) -> anyhow::Result<Vec<String>> {
        let conversation = [
            history::TURNS,
            history::SUMMARY,
            "turns",
            "exports",
            "repl",
            "logs",
            input_history::FILE,
        ];
        // Files first: files without a catalog would look like a session that lost it.
        let datasets = ["datasets", CATALOG];
        let rest = [hosted::FILE, META, ".gitignore", SCRATCH, RESULTS, directory::ASIDE, "lock"];
        let names: Vec<&str> = match scope {
            ResetScope::Conversation => conversation.to_vec(),
            ResetScope::Datasets => [&conversation[..], &datasets].concat(),
            ResetScope::All => [&conversation[..], &datasets, &rest].concat(),
        };
        let there = names.into_iter().filter(|it| self.dir.type_of(OsStr::new(it)).is_some());
        let gone: Vec<String> = there.map(str::to_owned).collect();
        if dry_run {
            return Ok(gone);
        }
        if scope != ResetScope::All {
            // Before the turns: a kill in between then counts too much rather than too little.
            let total = egress_store::total(self.dir.path())?;
            if 0 < total.all.requests && self.dir.directory("turns")?.is_some() {
                self.meta.removed_egress = Some(total);
                write_json(&self.dir, META, &*self.meta)?;
            }
        }
        for name in &gone {
            self.dir.remove(name)?;
        }
        match scope {
            ResetScope::Conversation => {}
            ResetScope::Datasets => self.catalog = Catalog::default(),
            ResetScope::All => {
                self.catalog = Catalog::default();
                // Files of others stay, and so does the directory.
                let _ = std::fs::remove_dir(self.dir.path());
            }
        }
        Ok(gone)
    }

    /// Returns the names in a directory that may become a session, if it exists.
    pub fn names_in(dir: &Path) -> Option<BTreeSet<OsString>> {
        let entries = std::fs::read_dir(dir).ok()?;
        Some(entries.filter_map(Result::ok).map(|it| it.file_name()).collect())
    }

    /// Removes a session that this process created. The names that [`names_in`](Self::names_in) returned as
    /// `before` stay, and so does the directory if it existed.
    ///
    /// # Errors
    ///
    /// Fails when something cannot be removed.
    pub fn unmake(&mut self, before: Option<&BTreeSet<OsString>>) -> anyhow::Result<()> {
        let is_ours = |it: &String| before.is_none_or(|names| !names.contains(OsStr::new(it)));
        for name in self.reset(ResetScope::All, true)?.into_iter().filter(is_ours) {
            self.dir.remove(name)?;
        }
        self.catalog = Catalog::default();
        if before.is_none() {
            // Files of others stay, and so does the directory.
            let _ = std::fs::remove_dir(self.dir.path());
        }
        Ok(())
    }

    fn subdirectory(&self, name: &str) -> anyhow::Result<PathBuf> {
        Ok(self.dir.make(name)?.path().to_owned())
    }

    fn replace_catalog(&mut self, catalog: Catalog) -> anyhow::Result<()> {
        let content = json(&catalog)?;
        if CATALOG_BYTES_MAX < content.len() as u64 {
            let message = format!(
                "the list of datasets would have {} bytes; the limit is {CATALOG_BYTES_MAX} bytes",
                content.len()
            );
            let hint = "remove datasets with `csv-agent datasets --rm NAME`, join files that belong \
                        together, or use another session with `--session-dir DIR`";
            return Err(Failure::input(message).hint(hint).into());
        }
        store::write(&self.dir, CATALOG, &content)?;
        self.catalog = catalog;
        Ok(())
    }
}

impl Session {
    /// Deletes the charts of a temporary session, when no answer refers to them.
    pub fn drop_charts(&self) {
        if let Keeper::Temporary(_) = self.keeper {
            self.empty_turns(|name| name != "charts");
        }
    }

    /// Deletes the turns of a temporary session, when no answer refers to their charts and files.
    pub fn drop_turns(&self) {
        if let Keeper::Temporary(_) = self.keeper {
            self.empty_turns(|_| false);
        }
    }

    /// Removes what `stays` does not accept from the directories of the turns.
    fn empty_turns(&self, stays: impl Fn(&OsStr) -> bool) {
        let turns = self.dir.directory("turns").ok().flatten();
        for name in turns.iter().flat_map(|it| it.names().unwrap_or_default()) {
            let Ok(Some(turn)) = self.dir.directory(Path::new("turns").join(name)) else {
                continue;
            };
            for it in turn.names().unwrap_or_default().into_iter().filter(|it| !stays(it)) {
                // What cannot be removed stays in the system's temporary directory.
                let _ = turn.remove(&it);
            }
        }
    }
}

impl Drop for Session {
    /// Empties the scratch directory while the lock is held, and deletes a temporary session. Charts and
    /// files that the answer refers to stay, because stdout cannot carry them.
    fn drop(&mut self) {
        if let Keeper::Released = self.keeper {
            // The files there are of whoever holds the lock.
            return;
        }
        // What cannot be removed is removed when the session is opened again, or with the temporary
        // directory.
        for it in [SCRATCH, RESULTS] {
            let _ = self.dir.remove(it);
        }
        if !matches!(self.keeper, Keeper::Temporary(_)) {
            return;
        }
        let has_kept =
            |it: std::fs::DirEntry| KEPT.iter().any(|name| it.path().join(name).is_dir());
        let turns = std::fs::read_dir(self.dir.path().join("turns"));
        if !turns.is_ok_and(|it| it.flatten().any(has_kept)) {
            return;
        }
        self.empty_turns(|name| KEPT.iter().any(|it| name == *it));
        for name in self.dir.names().unwrap_or_default() {
            if name != "turns" {
                // What cannot be removed stays in the system's temporary directory.
                let _ = self.dir.remove(&name);
            }
        }
        if let Keeper::Temporary(dir) = &mut self.keeper {
            dir.disable_cleanup(true);
        }
    }
}

fn open_meta(dir: &Directory) -> anyhow::Result<Meta> {
    let meta = match read_json::<Meta>(dir, META)? {
        Some(meta) if SCHEMA < meta.schema => {
            let message = format!(
                "`{}` has schema {}; this csv-agent reads up to {SCHEMA}",
                dir.path().join(META).display(),
                meta.schema
            );
            let hint = "use a newer csv-agent, or another `--session-dir`";
            return Err(Failure::setup(message).hint(hint).into());
        }
        Some(meta) => return Ok(meta),
        None => Meta::new(),
    };
    store::write(dir, ".gitignore", b"*\n").map_err(|it| unwritable(&it))?;
    write_json(dir, META, &meta).map_err(|it| unwritable(&it))?;
    Ok(meta)
}

/// Reads the catalog, which is untrusted.
fn read_catalog(session: &Directory) -> anyhow::Result<Catalog> {
    let datasets = session.directory("datasets")?;
    let Some(content) = session.read(CATALOG, CATALOG_BYTES_MAX)? else {
        let names = datasets.map_or(Ok(Vec::new()), |it| it.names())?;
        return if names.iter().any(|it| Path::new(it).extension() == Some("parquet".as_ref())) {
            Err(session.refusal(CATALOG.as_ref(), "is missing, although there are datasets").into())
        } else {
            Ok(Catalog::default())
        };
    };
    let shown = session.path().join(CATALOG);
    let cannot =
        |why: String| session.mendable(format!("cannot read `{}`: {why}", shown.display()));
    let mut catalog = Catalog::default();
    for (name, dataset) in entries(&content).map_err(cannot)? {
        catalog.insert(name, dataset.map_err(cannot)?);
    }
    drop(content);
    for name in catalog.names() {
        let Some(datasets) = &datasets else { continue };
        for ending in ENDINGS {
            // Checks that the existing file is the user's.
            datasets.path_of(format!("{name}.{ending}"), EntryKind::File)?;
        }
    }
    Ok(catalog)
}

/// A dataset's name and its catalog entry, or a sentence when that is invalid.
type CatalogEntry = (String, Result<Dataset, String>);

/// Reads the entries of a catalog one by one: an invalid entry does not affect the others.
fn entries(content: &[u8]) -> Result<Vec<CatalogEntry>, String> {
    let entries = parse::<BTreeMap<String, &RawValue>>(content, DOCUMENT_MEMORY_BYTES_MAX)?;
    let entry = |(name, entry): (String, &RawValue)| {
        let dataset = parse::<Dataset>(entry.get().as_bytes(), DATASET_MEMORY_BYTES_MAX)
            .map_err(|reason| format!("`{}`: {reason}", name.escape_debug()))
            .and_then(|it| it.oddity(&name).map_or(Ok(it), Err));
        (name, dataset)
    };
    Ok(entries.into_iter().map(entry).collect())
}

fn read_json<T: DeserializeOwned>(directory: &Directory, name: &str) -> anyhow::Result<Option<T>> {
    let Some(content) = directory.read(name, RECORD_FILE_BYTES_MAX)? else { return Ok(None) };
    parse(&content, DOCUMENT_MEMORY_BYTES_MAX).map(Some).map_err(|reason| {
        let shown = directory.path().join(name);
        directory.mendable(format!("cannot read `{}`: {reason}", shown.display())).into()
    })
}

fn write_json<T: Serialize>(directory: &Directory, name: &str, value: &T) -> anyhow::Result<()> {
    store::write(directory, name, &json(value)?)
}

fn json<T: Serialize>(value: &T) -> anyhow::Result<Vec<u8>> {
    let mut content = serde_json::to_vec_pretty(value).context("cannot write JSON")?;
    content.push(b'\n');
    Ok(content)
}

fn no_temporary(error: &std::io::Error) -> Failure {
    let message = format!("cannot create a temporary session: {error}");
    let hint = "set `TMPDIR` to an existing directory that you can write to";
    Failure::setup(message).hint(hint)
}

fn missing(dir: &Path) -> Failure {
    let message = format!("no session in `{}`", dir.display());
    Failure::setup(message).hint("create one from a CSV file: `csv-agent ingest FILE.csv`")
}

fn unwritable(error: &anyhow::Error) -> anyhow::Error {
    let hint = hint_of_disk(error)
        .unwrap_or("make the session writable, or use another with `--session-dir DIR`");
    Failure::setup(format!("{error:#}")).hint(hint).into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::time::Duration;

    use super::lock::LockRequest;
    use super::{Access, HistoryTurn, ResetScope, Session};
    use csv_agent_types::conversation::Item;
    use csv_agent_types::redaction::Redaction;
    use csv_agent_types::status::{Failure, FailureKind};

    fn open(dir: &Path, access: Access) -> anyhow::Result<Session> {
        Session::open(
            dir,
            access,
            LockRequest { wait: Duration::ZERO, command: "test", instead: None, tell: None },
        )
    }

    #[test]
    fn a_missing_session_names_the_command_that_makes_one() {
        let dir = tempfile::tempdir().unwrap();
        let error = open(&dir.path().join("s"), Access::Existing).unwrap_err();
        let failure = error.downcast_ref::<Failure>().unwrap();
        assert_eq!(failure.kind, FailureKind::Setup);
        assert!(failure.hint.as_ref().unwrap().contains("csv-agent ingest"));
    }

    #[test]
    fn what_a_session_writes_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let session = open(&dir.path().join("s"), Access::Create).unwrap();
        let turn = session.begin_turn("why?").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(session.dir()), 0o700);
        assert_eq!(mode(&session.dir().join("session.json")), 0o600);
        assert_eq!(mode(&session.dir().join("lock")), 0o600);
        assert_eq!(mode(&turn.path().join("question.txt")), 0o600);
    }

    #[test]
    fn copies_that_keep_values_back_have_a_directory_each_that_goes_with_them() {
        let dir = tempfile::tempdir().unwrap();
        let session = open(dir.path(), Access::Create).unwrap();
        let (first, second) = (session.masked_dir().unwrap(), session.masked_dir().unwrap());
        assert_ne!(first.path(), second.path());
        let gone = first.path().to_owned();
        drop(first);
        assert!(!gone.exists() && second.path().is_absolute() && second.path().is_dir());
    }

    #[test]
    fn a_second_process_is_told_who_holds_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let _held = open(dir.path(), Access::Create).unwrap();
        let refused = |instead| {
            let lock = LockRequest { wait: Duration::ZERO, command: "test", instead, tell: None };
            let error = Session::open(dir.path(), Access::Create, lock).unwrap_err();
            error.downcast::<csv_agent_types::status::Failure>().unwrap()
        };
        let holder = format!("`csv-agent test`, pid {} on ", std::process::id());
        assert!(refused(None).message.contains(&holder));
        let wait = "wait longer with `--lock-wait 5m`";
        assert_eq!(refused(None).hint.unwrap(), wait);
        assert_eq!(refused(Some("do `x`")).hint.unwrap(), format!("{wait}, or do `x`"));
    }

    #[test]
    fn history_is_the_items_of_all_turns_and_goes_with_reset() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = open(dir.path(), Access::Create).unwrap();
        for question in ["one?", "two?"] {
            let turn = session.begin_turn(question).unwrap();
            let items = vec![Item::user(question), Item::assistant("yes")];
            let turn = turn.id().to_owned();
            let (context_tokens, withheld) = (Some(1), Redaction::default());
            let turn = HistoryTurn { turn, context_tokens, withheld, is_builtin: false, items };
            session.commit(&turn).unwrap();
        }
        let items = session.history().unwrap().items();
        let texts = items.iter().map(Item::text).collect::<Vec<_>>();
        assert_eq!(texts, ["one?", "yes", "two?", "yes"]);
        let listed = session.reset(ResetScope::Conversation, true).unwrap();
        assert_eq!(listed, ["history.jsonl", "turns", "logs"]);
        assert_eq!(session.history().unwrap().turns.len(), 2);
        session.reset(ResetScope::Conversation, false).unwrap();
        assert_eq!(session.history().unwrap().items(), []);
        assert_eq!(session.reset(ResetScope::Conversation, false).unwrap(), [] as [&str; 0]);
    }

    #[test]
    fn an_ephemeral_session_is_gone_when_it_is_dropped() {
        let session = Session::ephemeral(None).unwrap();
        let dir = session.dir().to_owned();
        assert!(dir.join("session.json").is_file());
        drop(session);
        assert!(!dir.exists());
    }

    #[test]
    fn charts_and_files_outlive_an_ephemeral_session_and_nothing_else_does() {
        for name in ["charts", "artifacts"] {
            let session = Session::ephemeral(None).unwrap();
            let dir = session.dir().to_owned();
            let turn = session.begin_turn("draw it").unwrap();
            let kept = turn.path().join(name);
            std::fs::create_dir(&kept).unwrap();
            drop(session);
            assert!(kept.is_dir());
            assert!(!kept.with_file_name("question.txt").exists());
            let left = dir.read_dir().unwrap().map(|it| it.unwrap().file_name());
            assert_eq!(left.collect::<Vec<_>>(), ["turns"]);
            std::fs::remove_dir_all(dir).unwrap();
        }
    }
}
