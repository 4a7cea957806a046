//! What each turn leaves behind: `turns/0007/` with its question, events, reply, code, tables, charts, artifacts.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::conversation::Finding;
use crate::event::{Body, Event, ReplyBody};
use crate::limits::{FINDINGS_MAX, FINDINGS_TURNS_MAX, REPLY_EVENT_BYTES_MAX, TURNS_SEARCHED_MAX};
use crate::session::log::Log;
use crate::session::store;

/// The directory of a turn that is under way.
#[derive(Debug)]
pub struct TurnDir {
    id: String,
    dir: PathBuf,
    events: File,
    log: Log,
}

impl TurnDir {
    /// Makes the directory of the session's next turn and writes down its question.
    ///
    /// # Errors
    ///
    /// Fails when the directory or its files cannot be made.
    pub fn create(session_dir: &Path, question: &str) -> anyhow::Result<TurnDir> {
        let turns = session_dir.join("turns");
        store::create_dir(&turns)?;
        let last = ids(&turns)?.last().and_then(|it| it.parse::<u32>().ok()).unwrap_or(0);
        let id = format!("{:04}", last + 1);
        let dir = turns.join(&id);
        store::create_dir(&dir)?;
        store::write(&dir.join("question.txt"), format!("{question}\n").as_bytes())?;
        let path = dir.join("events.jsonl");
        let events = store::create_file(&path)
            .with_context(|| format!("cannot create `{}`", path.display()))?;
        Ok(TurnDir { id, dir, events, log: Log::open(session_dir)? })
    }

    /// Returns the turn's number, as its directory is named.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Appends an event to `events.jsonl` in one write, and what may be shown of it to the log.
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
        store::write(&self.dir.join(name), content.as_bytes())
    }
}

/// A turn as it can be listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSummary {
    /// Its number, as its directory is named.
    pub id: String,
    /// Its directory.
    pub dir: PathBuf,
    /// What was asked.
    pub question: String,
    /// Whether it has no terminal event: the process was killed.
    pub interrupted: bool,
}

/// Returns the turns of a session, oldest first; none when there is no such directory.
///
/// # Errors
///
/// Fails when a turn's events cannot be read.
pub fn list(session_dir: &Path) -> anyhow::Result<Vec<TurnSummary>> {
    let turns = session_dir.join("turns");
    let summary = |id: String| {
        let dir = turns.join(&id);
        let question = std::fs::read_to_string(dir.join("question.txt")).unwrap_or_default();
        let (events, _) = events(&dir)?;
        let interrupted = !events.last().is_some_and(|it| it.body.is_terminal());
        Ok(TurnSummary { id, dir, question: question.trim_end().to_owned(), interrupted })
    };
    ids(&turns)?.into_iter().map(summary).collect()
}

/// Reads the events of a turn, and whether a torn last line was left out.
///
/// # Errors
///
/// Fails when a whole line is no event; the message names the line.
pub fn events(turn_dir: &Path) -> anyhow::Result<(Vec<Event>, bool)> {
    let path = turn_dir.join("events.jsonl");
    let (lines, is_torn) = store::read_lines(&path)?;
    let parse = |(at, line): (usize, &String)| {
        serde_json::from_str(line)
            .with_context(|| format!("cannot read line {} of `{}`", at + 1, path.display()))
    };
    let events = lines.iter().enumerate().map(parse).collect::<anyhow::Result<_>>()?;
    Ok((events, is_torn))
}

/// Returns what the last turns found in the data, newest first, each with the number of its turn.
///
/// # Errors
///
/// Fails when the turns cannot be listed. A turn that cannot be read found nothing.
pub fn findings(session_dir: &Path) -> anyhow::Result<Vec<(u32, Finding)>> {
    let turns = session_dir.join("turns");
    let mut found = Vec::new();
    for id in ids(&turns)?.iter().rev().take(FINDINGS_TURNS_MAX) {
        let number = id.parse().unwrap_or(0);
        let reported = last_event(&turns.join(id)).and_then(|it| match it.body {
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

/// Returns the replies of the last turns, newest first, each with the directory of its turn. A turn without
/// one is left out.
///
/// # Errors
///
/// Fails when the turns cannot be listed.
pub fn replies(session_dir: &Path) -> anyhow::Result<impl Iterator<Item = (PathBuf, ReplyBody)>> {
    let dirs = dirs(session_dir)?.into_iter().rev().take(TURNS_SEARCHED_MAX);
    Ok(dirs.filter_map(|dir| match last_event(&dir)?.body {
        Body::Reply(reply) => Some((dir, *reply)),
        _ => None,
    }))
}

/// Reads the last event of a turn without those before it.
fn last_event(turn_dir: &Path) -> Option<Event> {
    let mut file = File::open(turn_dir.join("events.jsonl")).ok()?;
    let n_bytes = file.metadata().ok()?.len();
    let start = n_bytes.saturating_sub(REPLY_EVENT_BYTES_MAX);
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(REPLY_EVENT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    let line = bytes.strip_suffix(b"\n")?;
    let begin = memchr::memrchr(b'\n', line).map_or(0, |it| it + 1);
    serde_json::from_slice(&line[begin..]).ok()
}

/// Removes the temporary files that a killed process left in the last turn. Those of earlier turns went
/// when the last one began.
///
/// # Errors
///
/// Fails when the turns cannot be listed.
pub fn remove_temporaries(session_dir: &Path) -> anyhow::Result<()> {
    let turns = session_dir.join("turns");
    let last = ids(&turns)?.pop();
    let Some(turn) = last.map(|it| turns.join(it)) else { return Ok(()) };
    for dir in [turn.join("tables"), turn.join("charts"), turn.join("artifacts"), turn] {
        store::remove_temporaries(&dir);
    }
    Ok(())
}

/// Returns the directories of the turns, oldest first.
///
/// # Errors
///
/// Fails when they cannot be listed.
pub fn dirs(session_dir: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let turns = session_dir.join("turns");
    Ok(ids(&turns)?.into_iter().map(|it| turns.join(it)).collect())
}

fn ids(turns: &Path) -> anyhow::Result<Vec<String>> {
    let entries = match std::fs::read_dir(turns) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read `{}`", turns.display()));
        }
    };
    let names = entries.flatten().map(|it| it.file_name().to_string_lossy().into_owned());
    let mut ids: Vec<String> = names.filter(|it| it.parse::<u32>().is_ok()).collect();
    ids.sort_by_key(|it| it.parse::<u32>().unwrap_or(0));
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::{TurnDir, findings, list, remove_temporaries, replies};
    use crate::conversation::{Assessment, Finding};
    use crate::egress::Egress;
    use crate::event::{Body, Event, FindingShown, ReplyBody, Status, UsageReport};
    use crate::status::StopReason;

    fn event(body: Body) -> Event {
        let (session_id, turn_id) = ("s".to_owned(), "0001".to_owned());
        Event { v: 1, seq: 0, ts: "2026-01-01T00:00:00.000Z".into(), session_id, turn_id, body }
    }

    fn reply() -> Body {
        Body::Reply(Box::new(ReplyBody {
            text: "done".into(),
            blocks: Vec::new(),
            ungrounded: Vec::new(),
            computed: true,
            assessment: None,
            output: None,
            findings: Vec::new(),
            stop_reason: StopReason::Complete,
            tables: Vec::new(),
            charts: Vec::new(),
            files: Vec::new(),
            rounds: 1,
            tool_calls: 0,
            usage: UsageReport::default(),
            duration_ms: 1,
            egress: Egress::default(),
            code_path: None,
            exit_code: 0,
        }))
    }

    #[test]
    fn a_turn_without_a_terminal_event_is_interrupted() {
        let session = tempfile::tempdir().unwrap();
        let mut first = TurnDir::create(session.path(), "one?").unwrap();
        first.log(&event(Body::Status(Status::Loading { message: "x".into() }))).unwrap();
        let mut second = TurnDir::create(session.path(), "two?").unwrap();
        second.log(&event(reply())).unwrap();
        let found = list(session.path()).unwrap();
        let found = found.iter().map(|it| (it.id.as_str(), it.question.as_str(), it.interrupted));
        assert_eq!(found.collect::<Vec<_>>(), [("0001", "one?", true), ("0002", "two?", false)]);
    }

    #[test]
    fn what_the_last_turns_found_is_there_newest_first() {
        let session = tempfile::tempdir().unwrap();
        assert_eq!(findings(session.path()).unwrap(), []);
        let found = |message: &str| Finding::new(Assessment::Bad, message.to_owned());
        for message in ["one", "two", "three"] {
            let mut turn = TurnDir::create(session.path(), "q").unwrap();
            turn.log(&event(Body::Status(Status::Loading { message: "x".into() }))).unwrap();
            let Body::Reply(mut body) = reply() else { unreachable!("it is a reply") };
            body.findings.push(FindingShown {
                finding: found(message),
                call_id: None,
                source_file: None,
                source_line: None,
                source_lines: Vec::new(),
            });
            turn.log(&event(Body::Reply(body))).unwrap();
        }
        // One that is under way, and one that is torn.
        TurnDir::create(session.path(), "q").unwrap();
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
        remove_temporaries(session.path()).unwrap();
        let turn = TurnDir::create(session.path(), "one?").unwrap();
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
        remove_temporaries(session.path()).unwrap();
        assert!(!left.iter().any(|it| it.exists()), "{left:?}");
        assert!(kept.exists() && turn.path().join("question.txt").exists());
    }
}
