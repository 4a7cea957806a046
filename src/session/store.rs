//! Files that are whole at any instant: written beside their name, synced, renamed; private to the user.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::Context;
use jiff::Timestamp;
use rustix::fs::OFlags;

use crate::limits::SESSION_FILE_BYTES_MAX;
use crate::session::directory::Directory;

/// Returns this instant as RFC 3339, UTC, to the millisecond.
pub fn now_utc() -> String {
    format!("{:.3}", Timestamp::now())
}

/// Replaces a file: after a crash at any instant it has its old content or the new one.
///
/// # Errors
///
/// Fails when the content cannot be written or synced; the old file is then untouched.
pub fn write(directory: &Directory, name: &str, content: &[u8]) -> anyhow::Result<()> {
    let temporary = format!(".{name}.{}.tmp", std::process::id());
    let write = || -> io::Result<()> {
        let mut file = directory.begin_file(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        directory.rename(temporary.as_ref(), name.as_ref())?;
        directory.sync()
    };
    let written = write();
    if written.is_err() {
        // The error that counts is the one above; what is left is removed when a session opens.
        let _ = directory.unlink(temporary.as_ref());
    }
    written.with_context(|| format!("cannot write `{}`", directory.path().join(name).display()))
}

/// Appends one whole line, after cutting off a torn one that a crash left behind.
///
/// # Errors
///
/// Fails when the line cannot be written.
pub fn append_line(directory: &Directory, name: &str, line: &str) -> anyhow::Result<()> {
    let mut file = directory.file_to_write(name, OFlags::empty())?;
    let mut append = || -> io::Result<()> {
        let end = end_of_last_line(&mut file)?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    };
    append()
        .with_context(|| format!("cannot append to `{}`", directory.path().join(name).display()))
}

/// The whole lines of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// Without their line feeds, whatever bytes they are.
    pub lines: Vec<Vec<u8>>,
    /// Whether a last one without a line feed was left out.
    pub is_torn: bool,
}

/// Reads the whole lines of a file; a torn last one is left out. There are none when there is no file.
///
/// # Errors
///
/// Fails when the file is there and cannot be read, or has more than a session keeps.
pub fn read_lines(directory: &Directory, name: impl AsRef<Path>) -> anyhow::Result<Lines> {
    let content = directory.read(name, SESSION_FILE_BYTES_MAX)?.unwrap_or_default();
    let end = memchr::memrchr(b'\n', &content).map_or(0, |at| at + 1);
    let lines = content[..end].split_inclusive(|it| *it == b'\n');
    let lines = lines.map(|it| it[..it.len() - 1].to_vec()).collect();
    Ok(Lines { lines, is_torn: end < content.len() })
}

/// Removes the temporary files that a killed process left in a directory.
pub fn remove_temporaries(directory: &Directory) {
    for name in directory.names().unwrap_or_default() {
        let shown = name.to_string_lossy();
        if shown.starts_with('.') && shown.ends_with(".tmp") {
            // Another process may be faster; what stays is removed the next time.
            let _ = directory.unlink(&name);
        }
    }
}

fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    const BLOCK_BYTES: u64 = 64 * 1024;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = Vec::new();
    while 0 < end {
        let start = end.saturating_sub(BLOCK_BYTES);
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        Read::by_ref(file).take(end - start).read_to_end(&mut block)?;
        if let Some(at) = block.iter().rposition(|it| *it == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Lines, append_line, read_lines};
    use crate::session::directory::Directory;

    fn lines(lines: &[&str], is_torn: bool) -> Lines {
        Lines { lines: lines.iter().map(|it| it.as_bytes().to_vec()).collect(), is_torn }
    }

    #[track_caller]
    fn check(before: &[u8], expected: &[&str], is_torn: bool) {
        let dir = tempfile::tempdir().unwrap();
        let session = Directory::at(dir.path()).unwrap();
        std::fs::write(dir.path().join("log.jsonl"), before).unwrap();
        let found = read_lines(&session, "log.jsonl").unwrap();
        assert_eq!(found, lines(expected, is_torn));
        append_line(&session, "log.jsonl", "next").unwrap();
        let found = read_lines(&session, "log.jsonl").unwrap();
        assert_eq!(found, lines(&[expected, &["next"]].concat(), false));
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_written_over() {
        check(b"", &[], false);
        check(b"one\ntwo\n", &["one", "two"], false);
        check(b"one\ntw", &["one"], true);
        check(b"on", &[], true);
    }

    #[test]
    fn a_torn_line_longer_than_a_block_is_found() {
        let mut before = b"one\n".to_vec();
        before.resize(200_000, b'x');
        check(&before, &["one"], true);
    }

    #[test]
    fn a_line_is_not_appended_to_a_file_that_has_another_name() {
        let dir = tempfile::tempdir().unwrap();
        let (outside, session) = (dir.path().join("outside"), dir.path().join("s"));
        std::fs::create_dir(&session).unwrap();
        std::fs::write(&outside, "kept\n").unwrap();
        let appended =
            |path: &Path| append_line(&Directory::at(path).unwrap(), "log.jsonl", "next");
        std::fs::hard_link(&outside, session.join("log.jsonl")).unwrap();
        let error = format!("{:#}", appended(&session).unwrap_err());
        assert!(error.ends_with("has a second name: it is a hard link"), "{error}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept\n");
    }
}
