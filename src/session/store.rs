//! Files that are whole at any instant: written beside their name, synced, renamed; private to the user.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;

use crate::directory;

/// Returns this instant as RFC 3339, UTC, to the millisecond.
pub fn now_utc() -> String {
    format!("{:.3}", Timestamp::now())
}

/// Makes a directory that only the user can enter, with its parents. One that exists is left alone.
///
/// # Errors
///
/// Fails when it cannot be made; the message names it.
pub fn create_dir(dir: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.with_context(|| format!("cannot create the directory `{}`", dir.display()))
}

/// Replaces a file: after a crash at any instant it has its old content or the new one.
///
/// # Errors
///
/// Fails when the content cannot be written or synced; the old file is then untouched.
pub fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let temporary = temporary_beside(path);
    let written = write_synced(&temporary, content).and_then(|()| {
        std::fs::rename(&temporary, path)?;
        sync_parent(path)
    });
    if written.is_err() {
        // The error that counts is the one above; what is left is removed when a session opens.
        let _ = std::fs::remove_file(&temporary);
    }
    written.with_context(|| format!("cannot write `{}`", path.display()))
}

/// Appends one whole line, after cutting off a torn one that a crash left behind.
///
/// # Errors
///
/// Fails when the line cannot be written.
pub fn append_line(path: &Path, line: &str) -> anyhow::Result<()> {
    let append = || -> io::Result<()> {
        let options = &mut OpenOptions::new();
        let mut file =
            options.create(true).truncate(false).read(true).write(true).mode(0o600).open(path)?;
        let end = end_of_last_line(&mut file)?;
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        file.write_all(format!("{line}\n").as_bytes())?;
        file.sync_data()
    };
    append().with_context(|| format!("cannot append to `{}`", path.display()))
}

/// Reads the whole lines of a file; a torn last one is left out.
///
/// Returns the lines, none when there is no file, and whether one was torn.
///
/// # Errors
///
/// Fails when the file is there and cannot be read as UTF-8.
pub fn read_lines(path: &Path) -> anyhow::Result<(Vec<String>, bool)> {
    let content = match std::fs::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), false)),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read `{}`", path.display()));
        }
    };
    let end = content.iter().rposition(|it| *it == b'\n').map_or(0, |at| at + 1);
    let is_torn = end < content.len();
    let text = std::str::from_utf8(&content[..end])
        .with_context(|| format!("cannot read `{}` as UTF-8", path.display()))?;
    Ok((text.lines().map(str::to_owned).collect(), is_torn))
}

/// Opens a private file for writing; what was in it is gone.
///
/// # Errors
///
/// Fails as [`std::fs::File::create`] does.
pub fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path)
}

/// Removes a file or a directory with all that is in it. What is not there is no error.
///
/// # Errors
///
/// Fails when something cannot be removed.
pub fn remove(path: &Path) -> anyhow::Result<()> {
    directory::remove(path).with_context(|| format!("cannot remove `{}`", path.display()))
}

/// Removes the temporary files that a killed process left in a directory.
pub fn remove_temporaries(dir: &Path) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(".tmp") {
            // Another process may be faster; what stays is removed the next time.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.tmp", std::process::id()))
}

fn write_synced(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create_file(path)?;
    file.write_all(content)?;
    file.sync_all()
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
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
    use super::{append_line, read_lines};

    #[track_caller]
    fn check(before: &[u8], lines: &[&str], is_torn: bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.jsonl");
        std::fs::write(&path, before).unwrap();
        let found = read_lines(&path).unwrap();
        assert_eq!(found, (lines.iter().map(|it| (*it).to_owned()).collect(), is_torn));
        append_line(&path, "next").unwrap();
        let mut lines = lines.to_vec();
        lines.push("next");
        let found = read_lines(&path).unwrap();
        assert_eq!(found, (lines.iter().map(|it| (*it).to_owned()).collect(), false));
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
}
