//! Small files named by a user or a project: settings, knowledge, schemas, keys, images, cassettes.
//!
//! A name may refer to anything: a pipe without a writer, an endless device. So only a regular file is
//! read, up to a limit.

use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// Where the shell puts files that it opens for us, as in `--knowledge <(sort notes.md)`: a pipe with a
/// writer.
const OPENED: [&str; 3] = ["/dev/fd", "/dev/stdin", "/proc/self/fd"];

/// Why a file is not read. Its `Display` follows the name of the file and a colon.
#[derive(Debug)]
pub enum NotRead {
    /// The system reports an error.
    Failed(io::Error),
    /// It is not a regular file but, for example, `a pipe`.
    Other(&'static str),
    /// It has more bytes than this.
    TooLong(u64),
}

impl Display for NotRead {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            NotRead::Failed(error) if error.kind() == io::ErrorKind::NotFound => {
                f.write_str("no such file")
            }
            NotRead::Failed(error) => f.write_str(&plain(error)),
            NotRead::Other(found) => write!(f, "it is {found}, not a regular file"),
            NotRead::TooLong(bytes_max) => write!(f, "it is longer than {bytes_max} bytes"),
        }
    }
}

impl From<io::Error> for NotRead {
    fn from(error: io::Error) -> Self {
        NotRead::Failed(error)
    }
}

/// Returns why the system refuses a path, in words. It follows the path and a colon.
pub fn reason(path: &Path, error: &io::Error) -> String {
    use io::ErrorKind::{AlreadyExists, NotADirectory};
    let is_in_the_way = matches!(error.kind(), AlreadyExists | NotADirectory);
    match path.ancestors().find(|it| is_in_the_way && it.is_file()) {
        Some(file) if file == path => "it is a file, not a directory".to_owned(),
        Some(file) => format!("`{}` is a file, not a directory", file.display()),
        None => plain(error),
    }
}

/// Writes an error of the system without its number.
fn plain(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::IsADirectory {
        return "it is a directory".to_owned();
    }
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

/// Opens a regular file for reading, without blocking.
///
/// # Errors
///
/// Fails when it cannot be opened or is not a regular file.
pub fn open(path: &Path) -> Result<File, NotRead> {
    if OPENED.iter().any(|it| path.starts_with(it)) {
        return Ok(File::open(path)?);
    }
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    // Checked before opening, because opening a device can have side effects.
    let found = path.metadata()?;
    demand_regular(&found)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    demand_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a whole file.
///
/// # Errors
///
/// Fails as [`open`] does, and when the file has more than `bytes_max` bytes.
pub fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, NotRead> {
    read_opened(open(path)?, bytes_max)
}

/// Reads an open file.
///
/// # Errors
///
/// Fails when the file cannot be read or has more than `bytes_max` bytes.
pub fn read_opened(file: File, bytes_max: u64) -> Result<Vec<u8>, NotRead> {
    let mut bytes = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes_max < bytes.len() as u64 { Err(NotRead::TooLong(bytes_max)) } else { Ok(bytes) }
}

fn demand_regular(found: &std::fs::Metadata) -> Result<(), NotRead> {
    let kind = found.file_type();
    match () {
        () if kind.is_file() => Ok(()),
        () if kind.is_dir() => Err(NotRead::Other("a directory")),
        () if kind.is_fifo() => Err(NotRead::Other("a pipe")),
        () if kind.is_socket() => Err(NotRead::Other("a socket")),
        () => Err(NotRead::Other("a device")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::{read, reason};

    #[track_caller]
    fn check(path: &Path, expected: Result<&str, &str>) {
        let found = read(path, 4).map(|it| String::from_utf8(it).unwrap());
        let found = found.map_err(|it| it.to_string());
        assert_eq!(found.as_deref().map_err(String::as_str), expected, "{}", path.display());
    }

    #[test]
    fn only_a_regular_file_of_a_bounded_size_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "text").unwrap();
        std::fs::write(path("long"), "text!").unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        check(&path("file"), Ok("text"));
        check(&path("link"), Ok("text"));
        check(&path("long"), Err("it is longer than 4 bytes"));
        check(&path("pipe"), Err("it is a pipe, not a regular file"));
        check(dir.path(), Err("it is a directory, not a regular file"));
        check(Path::new("/dev/zero"), Err("it is a device, not a regular file"));
        check(&path("none"), Err("no such file"));
        check(&path("file/x"), Err("not a directory"));
    }

    #[test]
    fn the_reason_names_the_file_in_place_of_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "text").unwrap();
        let told = |path: &Path| reason(path, &std::fs::create_dir_all(path).unwrap_err());
        let shown = file.display();
        assert_eq!(told(&file), "it is a file, not a directory");
        assert_eq!(told(&file.join("a/b")), format!("`{shown}` is a file, not a directory"));
        assert_eq!(told(Path::new("/proc/none")), "no such file or directory");
        let error = std::fs::write(dir.path(), "text").unwrap_err();
        assert_eq!(reason(dir.path(), &error), "it is a directory");
    }
}
