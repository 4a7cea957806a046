//! Destinations of answers: stdout, or a file that appears complete or not at all.
//!
//! Every write reports failure. A closed stdout is distinguished from other failures, because the work was
//! done by then.

use std::fmt;
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use tempfile::NamedTempFile;

use csv_agent_types::named_file;
use csv_agent_types::status::Failure;

use super::signals;

/// The reader of stdout has closed it.
#[derive(Debug)]
pub(crate) struct StdoutClosed;

impl fmt::Display for StdoutClosed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reader of stdout closed it")
    }
}

impl std::error::Error for StdoutClosed {}

/// Returns the file to write to, if it is one: `-` is stdout.
pub(crate) fn file_of(output: Option<&Path>) -> Option<&Path> {
    output.filter(|it| *it != Path::new("-"))
}

/// Returns whether an error comes from a closed stdout.
pub(crate) fn is_stdout_closed(error: &anyhow::Error) -> bool {
    error.chain().any(|it| {
        let inner = it.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        it.is::<StdoutClosed>() || inner.and_then(|it| it.downcast_ref::<StdoutClosed>()).is_some()
    })
}

/// Stdout as a writer whose errors name it. Flush it: nothing is flushed on drop.
#[derive(Debug)]
pub(crate) struct Stdout(BufWriter<io::Stdout>);

impl Stdout {
    /// Makes a writer for stdout.
    pub(crate) fn new() -> Stdout {
        Stdout(BufWriter::new(io::stdout()))
    }
}

impl Default for Stdout {
    fn default() -> Self {
        Stdout::new()
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| of_stdout(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|error| of_stdout(&error))
    }
}

fn of_stdout(error: &io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::BrokenPipe => io::Error::new(ErrorKind::BrokenPipe, StdoutClosed),
        ErrorKind::Interrupted => ErrorKind::Interrupted.into(),
        kind => io::Error::new(kind, format!("cannot write to stdout: {error}")),
    }
}

/// Writes a complete answer to stdout. Fails when `write` does, or stdout cannot be written.
pub(crate) fn answer(
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut stdout = Stdout::new();
    write(&mut stdout)?;
    stdout.flush().map_err(anyhow::Error::from)
}

/// Writes a complete answer to a file, or to stdout when there is none. Fails when `write` does, or the file or
/// stdout cannot be written.
pub(crate) fn answer_to(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let Some(path) = path else { return answer(write) };
    let file = WholeFile::create(path)?;
    write(&mut file.writer()?).map_err(|error| {
        if error.is::<io::Error>() { error.context(cannot_write(path)) } else { error }
    })?;
    file.finish()
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write `{}`", path.display())
}

/// Opens a file that is written directly. Waits for the reader of a named pipe. Fails when a signal comes
/// meanwhile. The inner result is the error of opening the file.
pub(crate) fn open_direct(
    options: &mut OpenOptions,
    path: &Path,
) -> anyhow::Result<io::Result<File>> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    // Without O_NONBLOCK, opening a pipe would block, and no signal would end that.
    let options = options.custom_flags(flags.bits().cast_signed());
    signals::until(|| match options.open(path) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) && is_pipe(path) => None,
        opened => Some(opened.and_then(|file| {
            fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
            Ok(file)
        })),
    })
}

fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|it| it.file_type().is_fifo())
}

/// A file that appears under its name when it is complete.
///
/// Anything but a regular file (`/dev/null`, a named pipe) cannot be replaced and is written directly.
#[derive(Debug)]
pub(crate) enum WholeFile {
    /// A temporary file beside its final name.
    Beside(NamedTempFile, PathBuf),
    /// Not a regular file.
    Direct(File),
}

impl WholeFile {
    /// Starts a file that will be at `path`. Fails when the directory does not exist or cannot be written.
    pub(crate) fn create(path: &Path) -> anyhow::Result<WholeFile> {
        let cannot = || cannot_write(path);
        let before = path.metadata().ok();
        if before.as_ref().is_some_and(Metadata::is_dir) {
            let message = format!("cannot write `{}`: it is a directory", path.display());
            return Err(Failure::input(message).hint("name a file").into());
        }
        if before.as_ref().is_some_and(|it| !it.is_file()) {
            let opened = open_direct(OpenOptions::new().write(true), path)?;
            return Ok(WholeFile::Direct(opened.with_context(cannot)?));
        }
        let dir = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
        // The default mode of a new file; the umask restricts it further.
        let builder =
            tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).to_owned();
        let file = builder.tempfile_in(dir).map_err(|error| {
            // Its text names the temporary file, which the user does not know.
            let (reason, hint) = match error.kind() {
                ErrorKind::NotFound => ("no such directory".to_owned(), "make the directory first"),
                _ => (named_file::reason(path, &error), "check the path of the output file"),
            };
            let message = format!("cannot write `{}`: {reason}", path.display());
            Failure::input(message).hint(hint)
        })?;
        // An existing file keeps its mode.
        if let Some(before) = before {
            file.as_file().set_permissions(before.permissions()).with_context(cannot)?;
        }
        Ok(WholeFile::Beside(file, path.to_owned()))
    }

    /// Returns whether nothing was written to a file that is to be put in place.
    pub(crate) fn is_empty(&self) -> bool {
        let WholeFile::Beside(file, _) = self else { return false };
        file.as_file().metadata().is_ok_and(|it| it.len() == 0)
    }

    /// Returns a writer of the file's content.
    pub(crate) fn writer(&self) -> anyhow::Result<File> {
        let file = match self {
            WholeFile::Beside(file, _) => file.as_file(),
            WholeFile::Direct(file) => file,
        };
        file.try_clone().context("cannot write to the file of `--output`")
    }

    /// Puts the file in place.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        if let WholeFile::Beside(file, path) = self {
            let cannot = || cannot_write(&path);
            file.as_file().sync_all().with_context(cannot)?;
            file.persist(&path).with_context(cannot)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::{WholeFile, answer_to};

    #[test]
    fn a_file_appears_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        let file = WholeFile::create(&path).unwrap();
        file.writer().unwrap().write_all(b"{}").unwrap();
        assert!(!path.exists());
        file.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"{}");
    }

    #[test]
    fn a_file_that_was_there_stays_as_private_as_it_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        answer_to(Some(&path), |out| Ok(out.write_all(b"new")?)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let path = Path::new("/dev/full");
        let error = answer_to(Some(path), |out| Ok(out.write_all(b"x")?)).unwrap_err();
        assert_eq!(error.to_string(), "cannot write `/dev/full`");
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let file = WholeFile::create(&dir.path().join("r.json")).unwrap();
        file.writer().unwrap().write_all(b"{").unwrap();
        drop(file);
        assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    }
}
