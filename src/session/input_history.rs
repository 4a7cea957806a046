//! The input history of chats: one JSON string per line, oldest first.
//!
//! It belongs to the session, as the questions do, and is removed with them.

use std::collections::VecDeque;
use std::path::Path;

use anyhow::Context;

use csv_agent_types::limits::{TYPED_LINE_BYTES_MAX, TYPED_LINES_MAX};

use crate::directory::Directory;
use crate::store::{self, Lines};

/// The file within the session's directory.
pub const FILE: &str = "typed.jsonl";

/// Typed lines, oldest first. Each line occurs once, at its last use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typed(Vec<String>);

impl Typed {
    /// Reads the history of a session; empty when there is no file.
    ///
    /// # Errors
    ///
    /// Fails when the file exists and cannot be read.
    pub fn read(session_dir: &Path) -> anyhow::Result<Typed> {
        let mut typed = Typed::default();
        let Some(session) = Directory::open(session_dir)? else { return Ok(typed) };
        for line in last_lines(&session)?.0 {
            typed.push(&line);
        }
        Ok(typed)
    }

    /// Returns the lines, oldest first.
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    /// Adds a line, and saves it in the session.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written; the line is added nevertheless.
    pub fn keep(&mut self, session_dir: &Path, line: &str) -> anyhow::Result<()> {
        let is_again = self.0.last().is_some_and(|it| it == line);
        self.push(line);
        if is_again || TYPED_LINE_BYTES_MAX < line.len() {
            return Ok(());
        }
        let session = Directory::at(session_dir)?;
        let json = serde_json::to_string(line).context("cannot write JSON")?;
        store::append_line(&session, FILE, &json)?;
        // The file accumulates repeated lines; it is rewritten before there are many.
        if 2 * TYPED_LINES_MAX < last_lines(&session)?.1 {
            let lines = self.0.iter().filter(|it| it.len() <= TYPED_LINE_BYTES_MAX);
            let lines: Result<Vec<_>, _> = lines.map(serde_json::to_string).collect();
            store::write(&session, FILE, (lines?.join("\n") + "\n").as_bytes())?;
        }
        Ok(())
    }

    /// Adds a line for the current chat only.
    pub fn push(&mut self, line: &str) {
        self.0.retain(|it| it != line);
        self.0.push(line.to_owned());
        if TYPED_LINES_MAX < self.0.len() {
            self.0.remove(0);
        }
    }
}

/// Returns the last lines of the file, and its total number of lines.
fn last_lines(session: &Directory) -> anyhow::Result<(VecDeque<String>, usize)> {
    let (mut last, mut n_lines) = (VecDeque::new(), 0);
    let Some(mut lines) = Lines::open(session, FILE)? else { return Ok((last, n_lines)) };
    while let Some(line) = lines.next_line().with_context(|| format!("cannot read `{FILE}`"))? {
        n_lines += 1;
        // A line that is not a JSON string, or is too long, does not come from csv-agent and is ignored.
        let Some(line) = line.ok().and_then(|it| serde_json::from_slice::<String>(it).ok()) else {
            continue;
        };
        if TYPED_LINE_BYTES_MAX < line.len() {
            continue;
        }
        last.push_back(line);
        if 2 * TYPED_LINES_MAX < last.len() {
            last.pop_front();
        }
    }
    Ok((last, n_lines))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{FILE, Typed};
    use csv_agent_types::limits::{TYPED_LINE_BYTES_MAX, TYPED_LINES_MAX};

    #[test]
    fn a_line_is_there_again_once_and_private() {
        let dir = tempfile::tempdir().unwrap();
        let mut typed = Typed::read(dir.path()).unwrap();
        for line in ["one", "two\nlines", "one", "one"] {
            typed.keep(dir.path(), line).unwrap();
        }
        typed.keep(dir.path(), &"x".repeat(TYPED_LINE_BYTES_MAX + 1)).unwrap();
        assert_eq!(typed.lines().len(), 3);
        let again = Typed::read(dir.path()).unwrap();
        assert_eq!(again.lines(), ["two\nlines", "one"]);
        let mode = dir.path().join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_file_does_not_grow_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let lines: Vec<_> = (0..2 * TYPED_LINES_MAX).map(|it| format!("\"{it}\"\n")).collect();
        std::fs::write(&path, lines.concat()).unwrap();
        let mut typed = Typed::read(dir.path()).unwrap();
        assert_eq!(typed.lines().len(), TYPED_LINES_MAX);
        typed.keep(dir.path(), "last").unwrap();
        let lines = std::fs::read_to_string(&path).unwrap();
        assert_eq!(lines.lines().count(), TYPED_LINES_MAX);
        assert_eq!(lines.lines().next_back(), Some("\"last\""));
    }
}
