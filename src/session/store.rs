//! Atomic files: written under a temporary name, synced, renamed; private to the user.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use anyhow::{Context, bail};
use jiff::Timestamp;
use rustix::fs::OFlags;
use serde::de::DeserializeOwned;

use csv_agent_types::json::memory_of;
use csv_agent_types::limits::{
    SESSION_FILE_BYTES_MAX, SESSION_LINE_BYTES_MAX, SESSION_MEMORY_BYTES_MAX,
};

use crate::directory::Directory;

/// Returns the current time as RFC 3339, UTC, to the millisecond.
pub fn now_utc() -> String {
    format!("{:.3}", Timestamp::now())
}

/// Replaces a file: after a crash at any moment it has its old content or the new one.
///
/// # Errors
///
/// Fails when the content cannot be written or synced; the old file is then unchanged.
pub fn write(directory: &Directory, name: &str, content: &[u8]) -> anyhow::Result<()> {
    write_with(directory, name, |file| Ok(file.write_all(content)?))
}

/// Replaces a file by the output of a function. Fails as [`write()`] does, and when the function does.
pub(crate) fn write_with(
    directory: &Directory,
    name: &str,
    content: impl FnOnce(&mut File) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let temporary = format!(".{name}.{}.tmp", std::process::id());
    let write = || -> anyhow::Result<()> {
        let mut file = directory.begin_file(&temporary)?;
        content(&mut file)?;
        file.sync_all()?;
        directory.rename(temporary.as_ref(), name.as_ref())?;
        Ok(directory.sync()?)
    };
    let written = write();
    if written.is_err() {
        // The error above is the one to report; leftovers are removed when a session opens.
        let _ = directory.unlink(temporary.as_ref());
    }
    written.with_context(|| format!("cannot write `{}`", directory.path().join(name).display()))
}

/// Appends one complete line, after removing a torn one that a crash left.
///
/// # Errors
///
/// Fails when the line cannot be written, or is longer than readers accept.
pub fn append_line(directory: &Directory, name: &str, line: &str) -> anyhow::Result<()> {
    if SESSION_LINE_BYTES_MAX < line.len() {
        bail!(
            "cannot write a line of {} bytes to `{}`: the limit is {SESSION_LINE_BYTES_MAX} bytes",
            line.len(),
            directory.path().join(name).display()
        );
    }
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

/// The lines of a file, one at a time, so that memory is bounded by one line.
#[derive(Debug)]
pub struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    is_torn: bool,
}

impl Lines {
    /// Opens a file; None when it does not exist.
    ///
    /// # Errors
    ///
    /// Fails when it exists and cannot be opened.
    pub fn open(directory: &Directory, name: &str) -> anyhow::Result<Option<Lines>> {
        let file = directory.file(name)?;
        Ok(file.map(|it| Lines { reader: BufReader::new(it), line: Vec::new(), is_torn: false }))
    }

    /// Returns the next line without its line feed; None at the end. Leaves out a last line without a line
    /// feed. The error for an overlong line continues a sentence that starts with its name. Fails when the file
    /// cannot be read.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<Result<&[u8], String>>> {
        // Frees the memory of a long line before the next is read.
        self.line = Vec::new();
        let mut n_bytes = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                self.is_torn = 0 < n_bytes;
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', buffer);
            let part = &buffer[..end.unwrap_or(buffer.len())];
            n_bytes += part.len();
            if n_bytes <= SESSION_LINE_BYTES_MAX {
                self.line.extend_from_slice(part);
            }
            let n_read = part.len() + usize::from(end.is_some());
            self.reader.consume(n_read);
            if end.is_none() {
                continue;
            }
            if SESSION_LINE_BYTES_MAX < n_bytes {
                let found =
                    format!("it has {n_bytes} bytes; the limit is {SESSION_LINE_BYTES_MAX} bytes");
                return Ok(Some(Err(found)));
            }
            return Ok(Some(Ok(&self.line)));
        }
    }

    /// Returns whether a last line without a line feed was left out. Valid once there is no next line.
    pub fn is_torn(&self) -> bool {
        self.is_torn
    }
}

/// Parses a JSON line. Measures it first, because a short text can need much memory.
///
/// # Errors
///
/// Fails when the budget is exhausted or the line is not of its kind; the reason is a sentence.
pub fn parse<T: DeserializeOwned>(line: &[u8], room: &mut MemoryBudget) -> Result<T, String> {
    room.take(line)?;
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

/// Memory budget for the content of one file, or of several together.
#[derive(Debug)]
pub struct MemoryBudget {
    bytes: u64,
}

impl MemoryBudget {
    /// Returns the full budget.
    pub fn whole() -> MemoryBudget {
        MemoryBudget { bytes: SESSION_MEMORY_BYTES_MAX }
    }

    /// Takes as much of it as another one has given, and returns whether there was so much.
    pub fn take_like(&mut self, other: &MemoryBudget) -> bool {
        let left = self.bytes.checked_sub(SESSION_MEMORY_BYTES_MAX - other.bytes);
        self.bytes = left.unwrap_or(0);
        left.is_some()
    }

    /// Takes room for a line.
    ///
    /// # Errors
    ///
    /// Fails when the budget is exhausted; the reason is a sentence.
    pub fn take(&mut self, line: &[u8]) -> Result<(), String> {
        let wanted = memory_of(line);
        if SESSION_MEMORY_BYTES_MAX < wanted {
            return Err(format!(
                "it needs {wanted} bytes of memory; the limit is {SESSION_MEMORY_BYTES_MAX} bytes"
            ));
        }
        if self.bytes < wanted {
            return Err("the lines up to here need more memory than the limit".to_owned());
        }
        // The other half is free again once the line is parsed.
        self.bytes -= wanted / 2;
        Ok(())
    }
}

/// Reads the complete lines of a file, and whether a torn last one was left out; empty when there is no
/// file.
///
/// # Errors
///
/// Fails when the file exceeds a session's limit, and when a line is not of its kind; the message names the
/// line.
pub fn read_lines<T: DeserializeOwned>(
    directory: &Directory,
    name: &str,
    room: &mut MemoryBudget,
) -> anyhow::Result<(Vec<T>, bool)> {
    let Some(mut lines) = Lines::open(directory, name)? else { return Ok((Vec::new(), false)) };
    directory.measure(name.as_ref(), lines.reader.get_ref(), SESSION_FILE_BYTES_MAX)?;
    let shown = directory.path().join(name);
    let mut parsed = Vec::new();
    while let Some(line) =
        lines.next_line().with_context(|| format!("cannot read `{}`", shown.display()))?
    {
        let line = line.and_then(|it| parse(it, room));
        parsed.push(line.map_err(|reason| {
            let at = parsed.len() + 1;
            let message = format!("cannot read line {at} of `{}`: {reason}", shown.display());
            directory.mendable(message)
        })?);
    }
    Ok((parsed, lines.is_torn))
}

/// Removes temporary files of killed processes from a directory.
pub(crate) fn remove_temporaries(directory: &Directory) {
    for name in directory.names().unwrap_or_default() {
        let shown = name.to_string_lossy();
        if shown.starts_with('.') && shown.ends_with(".tmp") {
            // Another process may remove it first; leftovers are removed the next time.
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

    use super::{MemoryBudget, append_line, read_lines};
    use crate::directory::Directory;
    use csv_agent_types::limits::{
        SESSION_FILE_BYTES_MAX, SESSION_LINE_BYTES_MAX, SESSION_MEMORY_BYTES_MAX,
    };

    #[track_caller]
    fn check(before: &[u8], expected: &[u32], is_torn: bool) {
        let dir = tempfile::tempdir().unwrap();
        let session = Directory::at(dir.path()).unwrap();
        std::fs::write(dir.path().join("log.jsonl"), before).unwrap();
        let found = read_lines::<u32>(&session, "log.jsonl", &mut MemoryBudget::whole()).unwrap();
        assert_eq!(found, (expected.to_vec(), is_torn));
        append_line(&session, "log.jsonl", "7").unwrap();
        let found = read_lines::<u32>(&session, "log.jsonl", &mut MemoryBudget::whole()).unwrap();
        assert_eq!(found, ([expected, &[7]].concat(), false));
    }

    #[test]
    fn a_torn_last_line_is_dropped_and_written_over() {
        check(b"", &[], false);
        check(b"1\n2\n", &[1, 2], false);
        check(b"1\n2", &[1], true);
        check(b"1", &[], true);
    }

    #[test]
    fn a_torn_line_longer_than_a_block_is_found() {
        let mut before = b"1\n".to_vec();
        before.resize(200_000, b'x');
        check(&before, &[1], true);
    }

    #[test]
    fn a_line_is_measured_before_it_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let session = Directory::at(dir.path()).unwrap();
        let error = |content: &[u8]| {
            std::fs::write(dir.path().join("log.jsonl"), content).unwrap();
            format!(
                "{:#}",
                read_lines::<serde_json::Value>(&session, "log.jsonl", &mut MemoryBudget::whole())
                    .unwrap_err()
            )
        };
        let many = format!("1\n[{}0]\n", "{},".repeat(200_000));
        let told = error(many.as_bytes());
        assert!(told.contains("cannot read line 2 of `"), "{told}");
        let at_most = format!("of memory; the limit is {SESSION_MEMORY_BYTES_MAX} bytes");
        assert!(told.ends_with(&at_most), "{told}");
        let line = format!("[{}0]\n", "{},".repeat(100_000));
        let told = error(line.repeat(3).as_bytes());
        assert!(told.contains("line 3 of `"), "{told}");
        assert!(told.ends_with("the lines up to here need more memory than the limit"), "{told}");
        let mut long = vec![b' '; SESSION_LINE_BYTES_MAX + 1];
        long.extend(b"\n1\n");
        let told = error(&long);
        let bytes = SESSION_LINE_BYTES_MAX + 1;
        assert!(told.contains("line 1 of `") && told.contains(&bytes.to_string()), "{told}");
        let file = std::fs::File::create(dir.path().join("log.jsonl")).unwrap();
        file.set_len(SESSION_FILE_BYTES_MAX + 1).unwrap();
        let told = format!(
            "{:#}",
            read_lines::<u32>(&session, "log.jsonl", &mut MemoryBudget::whole()).unwrap_err()
        );
        assert!(told.ends_with(" bytes; the limit is 268435456 bytes"), "{told}");
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
        assert!(error.ends_with("is a hard link: it has more than one name"), "{error}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept\n");
    }
}
