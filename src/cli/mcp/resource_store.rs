//! What a session keeps, for resources: read without the lock, and recorded as sent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use csv_agent_agent::export::document;
use csv_agent_agent::record_sent;
use csv_agent_agent::replay::stored_turn::PastTurn;
use csv_agent_mcp::{
    DATASETS_LISTED_MAX, ResourceBody, ResourceEntry, ResourceStore, Stored, StoredPart,
    TURNS_LISTED_MAX,
};
use csv_agent_session::{Session, turns};
use csv_agent_text::{digits, lists};
use csv_agent_types::limits::PAGE_IMAGE_BYTES_MAX;
use csv_agent_types::redaction::Redaction;

use super::allowed::Allowed;
use crate::options::TurnOptions;

/// Bytes of a resource.
const RESOURCE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Turns that a report names because they are left out.
const TURNS_NAMED_MAX: usize = 50;
/// Characters of a question in the list.
const TITLE_CHARS_MAX: usize = 80;

/// The sessions that a client may read.
pub(super) struct StoredTurns {
    program: PathBuf,
    session_dir: PathBuf,
    allowed: Allowed,
    withheld: Redaction,
    /// Locked until the files of the start are read.
    start: Arc<Mutex<()>>,
}

impl StoredTurns {
    /// Makes a store for the sessions of a server.
    pub(super) fn new(
        options: &TurnOptions,
        allowed: Allowed,
        start: Arc<Mutex<()>>,
    ) -> StoredTurns {
        StoredTurns {
            program: options.agent.sandbox.program.clone(),
            session_dir: options.global.session.dir.clone(),
            allowed,
            withheld: options.agent.withheld.clone(),
            start,
        }
    }

    fn dir(&self, session: Option<&Path>) -> Result<PathBuf, String> {
        let Some(session) = session else { return Ok(self.session_dir.clone()) };
        let dir = std::path::absolute(session).map_err(|it| it.to_string())?;
        if dir != self.session_dir {
            self.allowed.check(&dir)?;
        }
        Ok(dir)
    }

    fn past(&self, turn_dir: &Path) -> Result<PastTurn, String> {
        let (events, _) = turns::events(turn_dir).map_err(|it| format!("{it:#}"))?;
        let name = turn_dir.file_name().unwrap_or_default().to_string_lossy();
        let past = PastTurn::of(&name, events);
        if self.withheld.rows || !past.withheld.covers(&self.withheld) {
            return Err(format!(
                "turn {} may show values that the server keeps back; its owner can see it with `csv-agent show`",
                name.trim_start_matches('0')
            ));
        }
        Ok(past)
    }

    /// Returns a document of all turns that may be shown, the last ones if it would be too long.
    fn report(&self, dir: &Path) -> Result<(PathBuf, String), String> {
        let all = turns::dirs(dir).map_err(|it| format!("{it:#}"))?;
        let Some(last) = all.last().cloned() else {
            return Err("the session has no turn yet; call a tool first".to_owned());
        };
        let (mut parts, mut n_bytes) = (Vec::new(), 0);
        let (mut too_long, mut kept_back) = (Vec::new(), Vec::new());
        for turn_dir in all.iter().rev() {
            let number = number_of(turn_dir).unwrap_or_default();
            match self.past(turn_dir).map(|it| document(&it, dir)) {
                Ok(text) if n_bytes + text.len() <= RESOURCE_BYTES_MAX => {
                    n_bytes += text.len();
                    parts.push(text);
                }
                Ok(_) => too_long.push(number),
                Err(_) => kept_back.push(number),
            }
        }
        // What is missing is said first: readers may not get to the end.
        for (turns, why) in [
            (kept_back, "the server keeps back values that they may show"),
            (too_long, "the document would be too long; csv-agent://turns/N has each of them"),
        ] {
            if !turns.is_empty() {
                let listed = lists::listed(turns.iter().rev(), TURNS_NAMED_MAX);
                let turns = digits::count(turns.len() as u64, "turn");
                parts.push(format!("*Left out: {turns} ({listed}), because {why}.*\n"));
            }
        }
        parts.reverse();
        Ok((last, parts.join("\n\n")))
    }

    /// Returns a table of a turn as CSV, read by a command that takes files of others.
    fn table(&self, dir: &Path, file: &Path) -> Result<String, String> {
        // The command sees the datasets of the session as well.
        let catalog = Session::read_catalog(dir).map_err(|it| format!("{it:#}"))?;
        let mut name = "t".to_owned();
        while catalog.names().any(|it| it.eq_ignore_ascii_case(&name)) {
            name.push('t');
        }
        let mut named = OsString::from(format!("{name}="));
        named.push(file);
        let child = Command::new(&self.program)
            .arg("-S")
            .arg(dir)
            .args(["query", "--format", "csv", "-f"])
            .arg(named)
            .arg(format!("select * from {name}"))
            .stdin(Stdio::null())
            .output();
        let output = child.map_err(|it| format!("cannot start csv-agent: {it}"))?;
        if !output.status.success() {
            return Err(super::child::remarks(&output).join("\n"));
        }
        if RESOURCE_BYTES_MAX < output.stdout.len() {
            return Err(format!(
                "the table has {} MB as CSV, more than a resource may have; read the Parquet file `{}`, or query less",
                output.stdout.len() >> 20,
                file.display()
            ));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl ResourceStore for StoredTurns {
    fn list(&self) -> Result<Vec<ResourceEntry>, String> {
        drop(self.start.lock());
        let dir = &self.session_dir;
        if !Session::is_there(dir).map_err(|it| format!("{it:#}"))? {
            return Ok(Vec::new());
        }
        let catalog = Session::read_catalog(dir).map_err(|it| format!("{it:#}"))?;
        let entry = |part: StoredPart, title: String, about: String| ResourceEntry {
            what: Stored { part, session: None },
            title,
            about,
        };
        let mut entries = Vec::new();
        for (name, dataset) in catalog.iter().take(DATASETS_LISTED_MAX) {
            let rows = digits::count(dataset.row_count, "row");
            let columns = digits::count(dataset.columns.len() as u64, "column");
            let about = format!("columns of `{name}`: {rows} × {columns}");
            entries.push(entry(
                StoredPart::Schema(name.to_owned()),
                format!("{name}: schema"),
                about,
            ));
            let about = format!("first rows of `{name}`");
            entries.push(entry(StoredPart::Head(name.to_owned()), format!("{name}: head"), about));
        }
        let all = turns::dirs(dir).map_err(|it| format!("{it:#}"))?;
        if !all.is_empty() && !self.withheld.rows {
            let about = "all questions, calls and results of the session".to_owned();
            entries.push(entry(StoredPart::Report, "report".to_owned(), about));
        }
        for turn_dir in
            all.iter().rev().take(TURNS_LISTED_MAX).filter(|_| self.withheld.is_nothing())
        {
            let id = turn_dir.file_name().unwrap_or_default().to_string_lossy();
            let number = id.trim_start_matches('0').to_owned();
            let question = turns::text(turn_dir, "question.txt").ok().flatten().unwrap_or_default();
            let title: String = question.trim().chars().take(TITLE_CHARS_MAX).collect();
            let title = format!("turn {number}: {}", title.replace('\n', " "));
            entries.push(entry(
                StoredPart::Turn(number.clone()),
                title,
                "a turn as a document".to_owned(),
            ));
            for name in charts_of(turn_dir) {
                let title = format!("turn {number}: chart {name}");
                let about = "a chart as PNG".to_owned();
                entries.push(entry(StoredPart::Chart(number.clone(), name), title, about));
            }
        }
        Ok(entries)
    }

    fn read(
        &self,
        part: &StoredPart,
        session: Option<&Path>,
        client: &str,
    ) -> Result<ResourceBody, String> {
        let dir = self.dir(session)?;
        let (turn_dir, body) = match part {
            StoredPart::Report => {
                let (last, text) = self.report(&dir)?;
                (last, ResourceBody::Text(text))
            }
            StoredPart::Turn(number) => {
                let turn_dir = find_turn(&dir, number)?;
                let text = document(&self.past(&turn_dir)?, &dir);
                if RESOURCE_BYTES_MAX < text.len() {
                    return Err(format!(
                        "turn {number} has more text than a resource may have; use `csv-agent show {number}`"
                    ));
                }
                (turn_dir, ResourceBody::Text(text))
            }
            StoredPart::Table(number, name) => {
                let turn_dir = find_turn(&dir, number)?;
                self.past(&turn_dir)?;
                let file = file_of(&turn_dir, "tables", name, "parquet")?;
                (turn_dir, ResourceBody::Text(self.table(&dir, &file)?))
            }
            StoredPart::Chart(number, name) => {
                let turn_dir = find_turn(&dir, number)?;
                self.past(&turn_dir)?;
                let file = file_of(&turn_dir, "charts", name, "png")?;
                let name = file.file_name().unwrap_or_default().to_owned();
                let read = turns::open(&turn_dir)
                    .and_then(|it| it.map_or(Ok(None), |it| it.directory("charts")))
                    .and_then(|it| it.map_or(Ok(None), |it| it.read(&name, PAGE_IMAGE_BYTES_MAX)));
                let bytes = read.map_err(|it| format!("{it:#}"))?;
                let bytes = bytes.ok_or_else(|| "the chart is gone; draw it again".to_owned())?;
                (turn_dir, ResourceBody::Png(bytes))
            }
            StoredPart::Schema(_) | StoredPart::Head(_) => {
                return Err("datasets are described by a call".to_owned());
            }
        };
        let (texts, n_bytes) = match &body {
            ResourceBody::Text(text) => (vec![text.clone()], 0),
            ResourceBody::Png(bytes) => (Vec::new(), bytes.len() as u64),
        };
        let catalog = Session::read_catalog(&dir).map_err(|it| format!("{it:#}"))?;
        record_sent(&catalog, &turn_dir, &texts, n_bytes, client, true)
            .map_err(|it| format!("{it:#}"))?;
        Ok(body)
    }
}

/// Returns the directory of a turn.
fn find_turn(dir: &Path, number: &str) -> Result<PathBuf, String> {
    let wanted = number.parse::<u32>().ok();
    let all = turns::dirs(dir).map_err(|it| format!("{it:#}"))?;
    let found = all.iter().find(|it| number_of(it) == wanted && wanted.is_some());
    let last = all.last().and_then(|it| number_of(it));
    found.cloned().ok_or_else(|| match last {
        Some(last) => format!("there is no turn {number}; the last one is {last}"),
        None => "the session has no turn yet; call a tool first".to_owned(),
    })
}

/// Returns the number of a turn.
fn number_of(turn_dir: &Path) -> Option<u32> {
    turn_dir.file_name()?.to_str()?.parse().ok()
}

/// Returns the names of the charts of a turn.
fn charts_of(turn_dir: &Path) -> Vec<String> {
    let directory =
        turns::open(turn_dir).ok().flatten().and_then(|it| it.directory("charts").ok()?);
    let names = directory.and_then(|it| it.names().ok()).unwrap_or_default();
    let mut names: Vec<String> =
        names.iter().filter_map(|it| Some(it.to_str()?.strip_suffix(".png")?.to_owned())).collect();
    names.sort();
    names
}

fn file_of(turn_dir: &Path, kind: &str, name: &str, ending: &str) -> Result<PathBuf, String> {
    let wanted = format!("{name}.{ending}");
    let directory = turns::open(turn_dir).ok().flatten().and_then(|it| it.directory(kind).ok()?);
    let names = directory.as_ref().and_then(|it| it.names().ok()).unwrap_or_default();
    if !names.iter().any(|it| *it == *wanted) {
        return Err(format!("the turn has no such file in `{kind}`: `{name}`"));
    }
    Ok(turn_dir.join(kind).join(wanted))
}
