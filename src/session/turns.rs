//! The files of each turn: `turns/0007/` with its question, events, reply, code, tables, charts, artifacts.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::OFlags;

use csv_agent_types::conversation::Finding;
use csv_agent_types::event::{Body, Event, ReplyBody};
use csv_agent_types::limits::{
    FINDINGS_MAX, FINDINGS_TURNS_MAX, QUESTION_FILE_BYTES_MAX, REPLY_EVENT_BYTES_MAX,
    SESSION_LINE_BYTES_MAX, TURN_TEXT_BYTES_MAX, TURNS_SEARCHED_MAX,
};

use crate::directory::Directory;
use crate::log::Log;
use crate::store::{self, MemoryBudget};

/// The directory that contains one directory per turn.
const TURNS: &str = "turns";
/// The events of a turn, one per line.
pub const EVENTS: &str = "events.jsonl";
/// What was asked; the first file of a turn.
const QUESTION: &str = "question.txt";

/// The directory of a running turn.
#[derive(Debug)]
pub struct TurnDir {
    id: String,
    dir: Directory,
    events: File,
    log: Log,
}

impl TurnDir {
    /// Creates the directory of the session's next turn and writes its question.
    ///
    /// # Errors
    ///
    /// Fails when the directory or its files cannot be created.
    pub fn create(session: &Directory, question: &str) -> anyhow::Result<TurnDir> {
        let turns = session.make(TURNS)?;
        let id = match ids(&turns)?.pop() {
            None => "0001".to_owned(),
            // An untrusted session may contain a turn of any number.
            Some(last) => next(&last).ok_or_else(|| {
                turns.refusal(
                    last.as_ref(),
                    "has the highest possible number: no turn can follow it",
                )
            })?,
        };
        let dir = turns.make(&id)?;
        store::write(&dir, QUESTION, format!("{question}\n").as_bytes())?;
        let events = events_file(&dir)?;
        Ok(TurnDir { id, dir, events, log: Log::open(session)? })
    }

    /// Returns the turn's number, as in the name of its directory.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Appends an event to `events.jsonl` in one write, and its loggable part to the log.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written.
    pub fn log(&mut self, event: &Event) -> anyhow::Result<()> {
        let line = serde_json::to_string(event).context("cannot write an event as JSON")?;
        let written = self.events.write_all(format!("{line}\n").as_bytes());
        written.with_context(|| format!("cannot write the events of turn {}", self.id))?;
        self.log.append(&line)
    }

    /// Writes a file of the turn: `reply.md`, `code.py`.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written.
    pub fn write(&self, name: &str, content: &str) -> anyhow::Result<()> {
        store::write(&self.dir, name, content.as_bytes())
    }
}

/// Opens a turn's event file. Truncates it only after checking that it has no other hard link.
fn events_file(turn: &Directory) -> anyhow::Result<File> {
    let file = turn.file_to_write(EVENTS, OFlags::empty())?;
    let cannot = || format!("cannot write `{}`", turn.path().join(EVENTS).display());
    file.set_len(0).with_context(cannot)?;
    Ok(file)
}

/// A turn in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSummary {
    /// Its number, as in the name of its directory.
    pub id: String,
    /// Its directory.
    pub dir: PathBuf,
    /// The question.
    pub question: String,
    /// Whether it has no terminal event, because the process was killed.
    pub interrupted: bool,
}

/// Returns the turns of a session, oldest first; empty when there is no such directory.
///
/// # Errors
///
/// Fails when the turns cannot be listed. A turn whose end cannot be read counts as interrupted.
pub fn list(session_dir: &Path) -> anyhow::Result<Vec<TurnSummary>> {
    let Some(turns) = all(session_dir)? else { return Ok(Vec::new()) };
    let summary = |id: String| {
        let turn = turns.directory(&id)?;
        let dir = turns.path().join(&id);
        let question = turn.as_ref().and_then(|it| it.file(QUESTION).ok().flatten());
        let mut text = Vec::new();
        if let Some(file) = question {
            // An unreadable question is shown as empty.
            let _ = file.take(QUESTION_FILE_BYTES_MAX).read_to_end(&mut text);
        }
        let question = String::from_utf8_lossy(&text).trim_end().to_owned();
        let last = turn.as_ref().and_then(last_event);
        let interrupted = !last.is_some_and(|it| it.body.is_terminal());
        Ok(TurnSummary { id, dir, question, interrupted })
    };
    ids(&turns)?.into_iter().map(summary).collect()
}

/// Opens a turn's directory, within the session's directory of turns; None when it does not exist.
///
/// # Errors
///
/// Fails with `FailureKind::Setup` when something on the path
/// is a link, of the wrong kind, or another user's.
pub fn open(turn_dir: &Path) -> anyhow::Result<Option<Directory>> {
    let parts = (turn_dir.parent().and_then(Path::parent), turn_dir.file_name());
    let (Some(session_dir), Some(id)) = parts else { return Ok(None) };
    match Directory::open(session_dir)? {
        Some(session) => session.directory(Path::new(TURNS).join(id)),
        None => Ok(None),
    }
}

/// Reads a text file of a turn; None when it does not exist.
///
/// # Errors
///
/// Fails as [`open`] does, and when the file exceeds a session's limit.
pub fn text(turn_dir: &Path, name: &str) -> anyhow::Result<Option<String>> {
    let Some(turn) = open(turn_dir)? else { return Ok(None) };
    let content = turn.read(name, TURN_TEXT_BYTES_MAX)?;
    Ok(content.map(|it| String::from_utf8_lossy(&it).into_owned()))
}

/// Reads the events of a turn, and whether a torn last line was left out.
///
/// # Errors
///
/// Fails with `FailureKind::Setup` when a complete line is not
/// an event; the message names the line.
pub fn events(turn_dir: &Path) -> anyhow::Result<(Vec<Event>, bool)> {
    events_within(turn_dir, &mut MemoryBudget::whole())
}

/// Reads the events of a turn into so much room.
///
/// # Errors
///
/// Fails as [`events`] does.
pub fn events_within(
    turn_dir: &Path,
    room: &mut MemoryBudget,
) -> anyhow::Result<(Vec<Event>, bool)> {
    let Some(turn) = open(turn_dir)? else { return Ok((Vec::new(), false)) };
    let (events, is_torn) = store::read_lines(&turn, EVENTS, room)?;
    if events.is_empty()
        && let Some(why) = lost_events(&turn)?
    {
        let path = turn.path().join(EVENTS);
        return Err(turn.mendable(format!("`{}` {why}", path.display())).into());
    }
    Ok((events, is_torn))
}

/// Returns why a turn has no events that has left something else. One that was killed at its beginning has
/// a question at most.
pub(super) fn lost_events(turn: &Directory) -> anyhow::Result<Option<&'static str>> {
    let why = match turn.file(EVENTS) {
        Ok(None) => "is missing",
        Ok(Some(file)) if file.metadata()?.len() == 0 => "is empty",
        // Whatever it is, it is told when it is read.
        _ => return Ok(None),
    };
    let is_left = |name: &OsString| {
        ![QUESTION, EVENTS].iter().any(|it| name == it)
            && !name.as_encoded_bytes().starts_with(b".")
    };
    Ok(turn.names()?.iter().any(is_left).then_some(why))
}

/// Returns the findings of the last turns, newest first, each with the number of its turn.
///
/// # Errors
///
/// Fails when the turns cannot be listed. An unreadable turn counts as without findings.
pub fn findings(session_dir: &Path) -> anyhow::Result<Vec<(u32, Finding)>> {
    let mut found = Vec::new();
    let Some(turns) = all(session_dir)? else { return Ok(found) };
    for id in ids(&turns)?.iter().rev().take(FINDINGS_TURNS_MAX) {
        let number = id.parse().unwrap_or(0);
        let turn = turns.directory(id)?;
        let reported = turn.as_ref().and_then(last_event).and_then(|it| match it.body {
            Body::Reply(reply) => Some(reply.findings.into_iter().map(|it| it.finding)),
            _ => None,
        });
        found.extend(reported.into_iter().flatten().map(|it| (number, it)));
        if FINDINGS_MAX <= found.len() {
            break;
        }
    }
    found.truncate(FINDINGS_MAX);
    Ok(found)
}

/// Returns the replies of the last turns, newest first, each with the directory of its turn. Omits turns
/// without a reply.
///
/// # Errors
///
/// Fails when the turns cannot be listed.
pub fn replies(session_dir: &Path) -> anyhow::Result<impl Iterator<Item = (PathBuf, ReplyBody)>> {
    let turns = all(session_dir)?;
    let ids = turns.as_ref().map_or(Ok(Vec::new()), ids)?;
    let reply = move |id: String| {
        let turns = turns.as_ref()?;
        match last_event(&turns.directory(&id).ok()??)?.body {
            Body::Reply(reply) => Some((turns.path().join(id), *reply)),
            _ => None,
        }
    };
    Ok(ids.into_iter().rev().take(TURNS_SEARCHED_MAX).filter_map(reply))
}

/// Reads the last event of a turn without those before it.
pub(super) fn last_event(turn: &Directory) -> Option<Event> {
    // An answer may be longer than usual.
    let at_most = [REPLY_EVENT_BYTES_MAX, SESSION_LINE_BYTES_MAX as u64];
    at_most.into_iter().find_map(|n_bytes| last_event_within(turn, n_bytes))
}

/// Reads the last event of a turn if it is within the last `n_bytes` bytes.
fn last_event_within(turn: &Directory, n_bytes: u64) -> Option<Event> {
    let mut file = turn.file(EVENTS).ok()??;
    let start = file.metadata().ok()?.len().saturating_sub(n_bytes);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(n_bytes).read_to_end(&mut bytes).ok()?;
    bytes.pop_if(|it| *it == b'\n')?;
    // Drops earlier events, so that only the last is in memory.
    bytes.drain(..memchr::memrchr(b'\n', &bytes).map_or(0, |it| it + 1));
    bytes.shrink_to_fit();
    store::parse(&bytes, &mut MemoryBudget::whole()).ok()
}

/// Removes temporary files of killed processes from the last turn. Those of earlier turns were removed when the
/// last one began. Fails when the turns cannot be listed.
pub(crate) fn remove_temporaries(session: &Directory) -> anyhow::Result<()> {
    let Some(turns) = session.directory(TURNS)? else { return Ok(()) };
    let Some(last) = ids(&turns)?.pop() else { return Ok(()) };
    let Some(turn) = turns.directory(last)? else { return Ok(()) };
    for name in ["tables", "charts", "artifacts"] {
        turn.directory(name)?.iter().for_each(store::remove_temporaries);
    }
    store::remove_temporaries(&turn);
    Ok(())
}

/// Returns the directories of the turns, oldest first.
///
/// # Errors
///
/// Fails when they cannot be listed.
pub fn dirs(session_dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let Some(turns) = all(session_dir)? else { return Ok(Vec::new()) };
    Ok(ids(&turns)?.into_iter().map(|it| turns.path().join(it)).collect())
}

/// Opens the directory of all turns; None when there is no turn.
fn all(session_dir: &Path) -> anyhow::Result<Option<Directory>> {
    match Directory::open(session_dir)? {
        Some(session) => session.directory(TURNS),
        None => Ok(None),
    }
}

/// Returns the directory name of the turn after `id`, if a number is left.
pub(super) fn next(id: &str) -> Option<String> {
    Some(format!("{:04}", id.parse::<u32>().ok()?.checked_add(1)?))
}

/// Returns the names of the turns' directories, oldest first.
pub(super) fn ids(turns: &Directory) -> anyhow::Result<Vec<String>> {
    let is_id = |it: &String| it.bytes().all(|it| it.is_ascii_digit()) && it.parse::<u32>().is_ok();
    let names = turns.names()?.into_iter().filter_map(|it| it.into_string().ok());
    let mut ids: Vec<String> = names.filter(is_id).collect();
    ids.sort_by_key(|it| it.parse::<u32>().unwrap_or(0));
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::{TurnDir, events_file, findings, list, remove_temporaries, replies};
    use crate::directory::Directory;
    use csv_agent_types::conversation::{Assessment, Finding};
    use csv_agent_types::event::{Body, Event, FindingShown, ReplyBody, Status};

    fn event(body: Body) -> Event {
        let (session_id, turn_id) = ("s".to_owned(), "0001".to_owned());
        Event { v: 1, seq: 0, ts: "2026-01-01T00:00:00.000Z".into(), session_id, turn_id, body }
    }

    fn reply() -> Body {
        Body::Reply(Box::new(ReplyBody {
            text: "done".into(),
            computed: true,
            rounds: 1,
            duration_ms: 1,
            ..ReplyBody::default()
        }))
    }

    #[test]
    fn a_turn_without_a_terminal_event_is_interrupted() {
        let session = tempfile::tempdir().unwrap();
        let mut first = TurnDir::create(&Directory::at(session.path()).unwrap(), "one?").unwrap();
        first.log(&event(Body::Status(Status::Loading { message: "x".into() }))).unwrap();
        let mut second = TurnDir::create(&Directory::at(session.path()).unwrap(), "two?").unwrap();
        second.log(&event(reply())).unwrap();
        let found = list(session.path()).unwrap();
        let found = found.iter().map(|it| (it.id.as_str(), it.question.as_str(), it.interrupted));
        assert_eq!(found.collect::<Vec<_>>(), [("0001", "one?", true), ("0002", "two?", false)]);
    }

    #[test]
    fn a_file_that_has_another_name_is_not_emptied() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, session) = (dir.path().join("outside"), dir.path().join("s"));
        std::fs::write(&outside, "kept").unwrap();
        std::fs::create_dir_all(session.join("turns")).unwrap();
        // Another process creates it just as the turn begins.
        std::fs::create_dir(session.join("turns/0001")).unwrap();
        std::fs::hard_link(&outside, session.join("turns/0001/events.jsonl")).unwrap();
        let turn = Directory::at(&session.join("turns/0001")).unwrap();
        assert!(events_file(&turn).is_err());
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept");
    }

    #[test]
    fn what_the_last_turns_found_is_there_newest_first() {
        let session = tempfile::tempdir().unwrap();
        assert_eq!(findings(session.path()).unwrap(), []);
        let found = |message: &str| Finding::new(Assessment::Bad, message.to_owned());
        for message in ["one", "two", "three"] {
            let mut turn = TurnDir::create(&Directory::at(session.path()).unwrap(), "q").unwrap();
            turn.log(&event(Body::Status(Status::Loading { message: "x".into() }))).unwrap();
            let Body::Reply(mut body) = reply() else { unreachable!("it is a reply") };
            body.findings.push(FindingShown {
                finding: found(message),
                call_id: None,
                source_file: None,
                source_line: None,
                source_lines: Vec::new(),
                source_cells: Vec::new(),
            });
            turn.log(&event(Body::Reply(body))).unwrap();
        }
        // A running turn, and a torn one.
        TurnDir::create(&Directory::at(session.path()).unwrap(), "q").unwrap();
        let torn = session.path().join("turns/0002/events.jsonl");
        std::fs::write(&torn, &std::fs::read(&torn).unwrap()[..200]).unwrap();
        let expected = [(3, found("three")), (1, found("one"))];
        assert_eq!(findings(session.path()).unwrap(), expected);
        let replied = replies(session.path()).unwrap();
        let replied: Vec<_> =
            replied.filter_map(|it| it.0.file_name().map(ToOwned::to_owned)).collect();
        assert_eq!(replied, ["0003", "0001"]);
    }

    #[test]
    fn what_a_killed_process_left_in_a_turn_goes() {
        let session = tempfile::tempdir().unwrap();
        remove_temporaries(&Directory::at(session.path()).unwrap()).unwrap();
        let turn = TurnDir::create(&Directory::at(session.path()).unwrap(), "one?").unwrap();
        let tables = turn.path().join("tables");
        let artifacts = turn.path().join("artifacts");
        std::fs::create_dir(&tables).unwrap();
        std::fs::create_dir(&artifacts).unwrap();
        let files = [turn.path().join(".reply.md.7.tmp"), tables.join(".x1.tmp")];
        let left = files.into_iter().chain([artifacts.join(".y2.tmp")]);
        let left: Vec<_> = left.collect();
        let kept = tables.join("top.parquet");
        for path in left.iter().chain([&kept]) {
            std::fs::write(path, "x").unwrap();
        }
        remove_temporaries(&Directory::at(session.path()).unwrap()).unwrap();
        assert!(!left.iter().any(|it| it.exists()), "{left:?}");
        assert!(kept.exists() && turn.path().join("question.txt").exists());
    }
}
