//! The open directory of a session. Its content is reached from the directory's descriptor, without
//! following links.
//!
//! A session may come from an untrusted source, such as a repository or another user's directory. So
//! nothing in it decides what is opened, written or removed elsewhere. Every name is looked up one
//! component at a time from an open directory, and must be a plain file or directory of the user or of
//! root.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use nix::unistd::{Uid, User};
use rustix::fs::{Access, AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use csv_agent_types::directory;
use csv_agent_types::named_file;
use csv_agent_types::status::Failure;

/// The session's directory when the user names none.
pub const NAME: &str = ".csv-agent";

/// The file that identifies the session.
pub(crate) const META: &str = "session.json";
/// The reserved names in a session.
pub const FILES: [&str; 10] = [
    META, "lock", "datasets.json", "history.jsonl", "summary.md", "typed.jsonl", "hosted.json",
    "knowledge.md", "config.toml", ".gitignore",
];
/// The directories among them.
pub(crate) const DIRECTORIES: [&str; 9] =
    ["datasets", "turns", "repl", "exports", "logs", "scratch", "masked", "containers", ASIDE];
/// The directory for entries that do not belong in a session. Nothing reads its content.
pub(crate) const ASIDE: &str = "aside";

/// A directory of a session, or the session itself.
#[derive(Debug, Clone)]
pub struct Directory {
    path: PathBuf,
    /// The session that contains it.
    session: Arc<Path>,
    fd: Arc<OwnedFd>,
}

/// The expected kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file with content.
    File,
    /// A directory.
    Directory,
}

/// The state of a name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryState {
    /// There is no such entry.
    Nothing,
    /// An entry of the expected kind.
    Sound,
    /// Anything else. The reason continues a sentence that starts with the name: `is a link`.
    Odd(String),
}

impl Directory {
    /// Opens a session; None when there is no such directory.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when the directory, or an entry with a reserved name, is a link, of
    /// the wrong kind, or another user's.
    pub fn open(session_dir: &Path) -> anyhow::Result<Option<Directory>> {
        let Some(session) = Directory::open_unchecked(session_dir)? else { return Ok(None) };
        let files = FILES.iter().map(|it| (it, EntryKind::File));
        for (name, kind) in files.chain(DIRECTORIES.iter().map(|it| (it, EntryKind::Directory))) {
            if let EntryState::Odd(reason) = session.look(OsStr::new(name), kind)? {
                return Err(session.refusal(Path::new(name), &reason).into());
            }
        }
        Ok(Some(session))
    }

    /// Opens an existing session.
    ///
    /// # Errors
    ///
    /// Fails as [`Directory::open`] does, and when there is none.
    pub fn at(session_dir: &Path) -> anyhow::Result<Directory> {
        let missing = || format!("no session in `{}`", session_dir.display());
        Directory::open(session_dir)?.with_context(missing)
    }

    /// Opens a session without checking its content; None when there is no such directory.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it is a link, not a directory, or another user's.
    pub fn open_unchecked(session_dir: &Path) -> anyhow::Result<Option<Directory>> {
        let path: PathBuf = std::path::absolute(session_dir)
            .context("cannot read the current directory")?
            // A trailing slash would make the system follow a link.
            .components()
            .collect();
        let cannot = |error: Errno| {
            let reason = named_file::reason(&path, &told(error));
            let message = format!("cannot open the session `{}`: {reason}", path.display());
            let failure = Failure::setup(message);
            if error == Errno::NOTDIR {
                return failure.hint("name another session with `--session-dir DIR`");
            }
            if error != Errno::ACCESS {
                return failure;
            }
            let shown = path.to_string_lossy();
            let quoted = shlex::try_quote(&shown).unwrap_or(shown.clone());
            failure.hint(format!(
                "if it is yours, open it with `chmod u+rwx {quoted}`; otherwise use another with `--session-dir DIR`"
            ))
        };
        let found = match rustix::fs::lstat(&path) {
            Ok(found) => found,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(cannot(error).into()),
        };
        if let Some(reason) = oddity(&found, EntryKind::Directory) {
            return Err(refused_session(&path, &found, &reason).into());
        }
        let fd =
            rustix::fs::open(&path, FLAGS | OFlags::DIRECTORY, Mode::empty()).map_err(cannot)?;
        let opened = rustix::fs::fstat(&fd).map_err(cannot)?;
        if let Some(reason) = oddity(&opened, EntryKind::Directory) {
            return Err(refused_session(&path, &opened, &reason).into());
        }
        let is_sticky = Mode::from_raw_mode(opened.st_mode).contains(Mode::SVTX);
        let has_meta = || rustix::fs::statat(&fd, META, AtFlags::SYMLINK_NOFOLLOW).is_ok();
        // Another directory, named by mistake, stays as it is; so does one such as `/tmp`.
        if path.ends_with(NAME) || (!is_sticky && has_meta()) {
            close_to_others(&fd, &opened);
        }
        let session = Arc::from(path.as_path());
        Ok(Some(Directory { path, session, fd: Arc::new(fd) }))
    }

    /// Opens a session's directory, and creates it with its parents if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails as [`Directory::open`] does, and when it cannot be created.
    pub fn create(session_dir: &Path) -> anyhow::Result<Directory> {
        if let Some(session) = Directory::open(session_dir)? {
            return Ok(session);
        }
        let made = DirBuilder::new().recursive(true).mode(0o700).create(session_dir);
        made.map_err(|error| {
            let shown = session_dir.display();
            let reason = named_file::reason(session_dir, &error);
            let message = format!("cannot create the directory `{shown}`: {reason}");
            let hint = "keep the session elsewhere with `--session-dir DIR`";
            Failure::setup(message).hint(hint)
        })?;
        Directory::at(session_dir)
    }

    /// Returns the path, for people and for programs that need one.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path that stays valid when a parent directory is moved or replaced.
    pub fn reached(&self) -> PathBuf {
        let reached = PathBuf::from(format!("/proc/self/fd/{}", self.fd.as_raw_fd()));
        if reached.is_dir() { reached } else { self.path.clone() }
    }

    /// Opens a subdirectory; None when it does not exist.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it, or a directory above it, is a link, of the wrong kind, or
    /// another user's.
    pub fn directory(&self, name: impl AsRef<Path>) -> anyhow::Result<Option<Directory>> {
        let mut directory = self.clone();
        for part in parts(name.as_ref())? {
            match directory.child(part)? {
                Some(child) => directory = child,
                None => return Ok(None),
            }
        }
        Ok(Some(directory))
    }

    /// Opens a subdirectory, and creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// Fails as [`Directory::directory`] does, and when it cannot be created.
    pub fn make(&self, name: &str) -> anyhow::Result<Directory> {
        let mut directory = self.clone();
        for part in parts(name.as_ref())? {
            if let Some(child) = directory.child(part)? {
                directory = child;
                continue;
            }
            let shown = directory.path.join(part);
            match rustix::fs::mkdirat(&*directory.fd, part, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => {
                    let doing = || format!("cannot create `{}`", shown.display());
                    return Err(io::Error::from(error)).with_context(doing);
                }
            }
            let gone = || format!("`{}` was removed in the meantime", shown.display());
            directory = directory.child(part)?.with_context(gone)?;
        }
        Ok(directory)
    }

    /// Opens a file for reading; None when it does not exist.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it, or a directory above it, is a link, of the wrong kind, or
    /// another user's.
    pub fn file(&self, name: impl AsRef<Path>) -> anyhow::Result<Option<File>> {
        let Some((directory, name)) = self.holder(name.as_ref())? else { return Ok(None) };
        directory.open_file(&name, OFlags::RDONLY)
    }

    /// Opens a file of this directory for reading and writing in place. Creates it, private to the user, if it
    /// does not exist. Fails as [`Directory::file`] does, when the file has other hard links, and when it
    /// cannot be created.
    pub(crate) fn file_to_write(&self, name: &str, more: OFlags) -> anyhow::Result<File> {
        let flags = OFlags::CREATE | OFlags::RDWR | more;
        let opened = self.open_file(OsStr::new(name), flags)?;
        opened.with_context(|| format!("cannot create `{}`", self.path.join(name).display()))
    }

    /// Reads a whole file; None when it does not exist.
    ///
    /// # Errors
    ///
    /// Fails as [`Directory::file`] does, and when the file has more than `bytes_max` bytes.
    pub fn read(&self, name: impl AsRef<Path>, bytes_max: u64) -> anyhow::Result<Option<Vec<u8>>> {
        let name = name.as_ref();
        let Some(file) = self.file(name)? else { return Ok(None) };
        self.measure(name, &file, bytes_max)?;
        let shown = self.path.join(name);
        let mut content = Vec::new();
        // It may grow while it is read.
        let read = file.take(bytes_max).read_to_end(&mut content);
        read.with_context(|| format!("cannot read `{}`", shown.display()))?;
        Ok(Some(content))
    }

    /// Checks that a file of this directory has at most `bytes_max` bytes.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it has more.
    pub fn measure(&self, name: &Path, file: &File, bytes_max: u64) -> Result<(), Failure> {
        match file.metadata() {
            Ok(it) if bytes_max < it.len() => {
                let reason = format!("has {} bytes; the limit is {bytes_max} bytes", it.len());
                Err(self.refusal(name, &reason))
            }
            _ => Ok(()),
        }
    }

    /// Returns the path of an entry, for code that cannot take a descriptor; None when it does not exist.
    ///
    /// # Errors
    ///
    /// Fails as [`Directory::file`] does.
    pub fn path_of(
        &self,
        name: impl AsRef<Path>,
        kind: EntryKind,
    ) -> anyhow::Result<Option<PathBuf>> {
        let name = name.as_ref();
        let Some((directory, last)) = self.holder(name)? else { return Ok(None) };
        match directory.look(&last, kind)? {
            EntryState::Nothing => Ok(None),
            EntryState::Sound => Ok(Some(self.path.join(name))),
            EntryState::Odd(reason) => Err(self.refusal(name, &reason).into()),
        }
    }

    /// Returns the state of a name in this directory, without following links.
    ///
    /// # Errors
    ///
    /// Fails when the directory cannot be searched.
    pub fn look(&self, name: &OsStr, kind: EntryKind) -> anyhow::Result<EntryState> {
        match rustix::fs::statat(&*self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(oddity(&stat, kind).map_or(EntryState::Sound, EntryState::Odd)),
            Err(Errno::NOENT) => Ok(EntryState::Nothing),
            Err(error) => {
                let message =
                    format!("cannot read `{}`: {}", self.path.join(name).display(), told(error));
                Err(Failure::setup(message).into())
            }
        }
    }

    /// Returns the type of an entry, without following links; None when it does not exist.
    pub fn type_of(&self, name: &OsStr) -> Option<FileType> {
        let stat = rustix::fs::statat(&*self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(FileType::from_raw_mode(stat.st_mode))
    }

    /// Returns the names in the directory, sorted.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be listed.
    pub fn names(&self) -> anyhow::Result<Vec<OsString>> {
        use std::os::unix::ffi::OsStrExt;
        let doing = || format!("cannot read `{}`", self.path.display());
        let listing = Dir::read_from(&*self.fd).map_err(io::Error::from).with_context(doing)?;
        let mut names = Vec::new();
        for entry in listing {
            let entry = entry.map_err(io::Error::from).with_context(doing)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Renames a file within this directory, and replaces any entry of the new name.
    ///
    /// # Errors
    ///
    /// Fails as [`std::fs::rename`] does.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&*self.fd, from, &*self.fd, to)?)
    }

    /// Moves an entry of this directory into another, and replaces any entry of that name there.
    ///
    /// # Errors
    ///
    /// Fails as [`std::fs::rename`] does.
    pub fn move_to(&self, name: &OsStr, into: &Directory, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&*self.fd, name, &*into.fd, to)?)
    }

    /// Returns the mode of one of the user's own entries in this directory, if it denies the user access.
    pub fn closed(&self, name: &OsStr, wanted: Mode) -> Option<u32> {
        let stat = rustix::fs::statat(&*self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let user = rustix::process::geteuid();
        let is_open = user.is_root() || Mode::from_raw_mode(stat.st_mode).contains(wanted);
        (!is_open && stat.st_uid == user.as_raw()).then_some(stat.st_mode & 0o7777)
    }

    /// Restores the user's access to an entry of this directory that has no other hard link. Fails when it is
    /// another user's, or has another hard link.
    pub(crate) fn open_up(&self, name: &OsStr, wanted: Mode) -> io::Result<()> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&*self.fd, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let has_one_name = kind.is_file() && stat.st_nlink == 1;
        if !kind.is_dir() && !has_one_name {
            return Err(io::Error::other("it is a hard link: it has more than one name"));
        }
        let mode = Mode::from_raw_mode(stat.st_mode) | wanted;
        // A descriptor of this kind has no `fchmod`. Its path here is not a link that leads elsewhere.
        Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", fd.as_raw_fd()), mode)?)
    }

    /// Creates a temporary file, and removes any entry of its name. Fails when it cannot be created.
    pub(crate) fn begin_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(&*self.fd, name, flags, Mode::RUSR | Mode::WUSR);
        let fd = match open() {
            // A killed process with the same id left it, or an attacker guessed the name.
            Err(Errno::EXIST) => {
                self.unlink(OsStr::new(name))?;
                open()?
            }
            opened => opened?,
        };
        Ok(File::from(fd))
    }

    /// Removes a file, not a directory, from this directory. Fails as [`std::fs::remove_file`] does.
    pub(crate) fn unlink(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&*self.fd, name, AtFlags::empty())?)
    }

    /// Syncs the directory, so that renames survive a power failure.
    ///
    /// # Errors
    ///
    /// Fails when the disk does.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&*self.fd)?)
    }

    /// Removes an entry with all its content. A missing entry is not an error.
    ///
    /// # Errors
    ///
    /// Fails when something cannot be removed, or a directory above it is a link.
    pub fn remove(&self, name: impl AsRef<Path>) -> anyhow::Result<()> {
        let name = name.as_ref();
        let Some((directory, last)) = self.holder(name)? else { return Ok(()) };
        let doing = || format!("cannot remove `{}`", self.path.join(name).display());
        directory::remove(&directory.reached().join(last)).with_context(doing)
    }

    /// Returns the error for an entry that does not belong in a session.
    pub fn refusal(&self, name: &Path, reason: &str) -> Failure {
        let message = format!("`{}` {reason}", self.path.join(name).display());
        self.mendable(message)
    }

    /// Returns the error for damage that one command repairs.
    pub fn mendable(&self, message: impl Into<String>) -> Failure {
        mendable(&self.session, message)
    }

    /// Opens the parent directory of an entry, and returns the entry's name in it.
    fn holder(&self, name: &Path) -> anyhow::Result<Option<(Directory, OsString)>> {
        let Some(last) = parts(name)?.last().map(|it| it.to_os_string()) else {
            bail!("`{}` is not a name", name.display());
        };
        let above = self.directory(name.parent().unwrap_or(Path::new("")))?;
        Ok(above.map(|it| (it, last)))
    }

    fn child(&self, name: &OsStr) -> anyhow::Result<Option<Directory>> {
        match self.look(name, EntryKind::Directory)? {
            EntryState::Nothing => return Ok(None),
            EntryState::Odd(reason) => return Err(self.refusal(Path::new(name), &reason).into()),
            EntryState::Sound => {}
        }
        let path = self.path.join(name);
        let flags = FLAGS | OFlags::DIRECTORY;
        let fd = match rustix::fs::openat(&*self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.cannot_open(name, error)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|it| self.cannot_open(name, it))?;
        if let Some(reason) = oddity(&stat, EntryKind::Directory) {
            return Err(self.refusal(Path::new(name), &reason).into());
        }
        close_to_others(&fd, &stat);
        Ok(Some(Directory { path, session: Arc::clone(&self.session), fd: Arc::new(fd) }))
    }

    fn open_file(&self, name: &OsStr, flags: OFlags) -> anyhow::Result<Option<File>> {
        // Checked before opening, because opening a device can have side effects.
        if let EntryState::Odd(reason) = self.look(name, EntryKind::File)? {
            return Err(self.refusal(Path::new(name), &reason).into());
        }
        let fd = match rustix::fs::openat(&*self.fd, name, flags | FLAGS, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.cannot_open(name, error)),
        };
        let stat = rustix::fs::fstat(&fd).map_err(|it| self.cannot_open(name, it))?;
        let is_shared = flags.contains(OFlags::RDWR) && 1 < stat.st_nlink;
        let reason = oddity(&stat, EntryKind::File)
            .or_else(|| is_shared.then(|| "is a hard link: it has more than one name".to_owned()));
        if let Some(reason) = reason {
            return Err(self.refusal(Path::new(name), &reason).into());
        }
        // The mode of another name of it is none of our business.
        if stat.st_nlink == 1 {
            close_to_others(&fd, &stat);
        }
        Ok(Some(File::from(fd)))
    }

    /// Returns whether something belongs to this user.
    fn is_own(&self, name: &OsStr) -> bool {
        let stat = rustix::fs::statat(&*self.fd, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|it| it.st_uid == rustix::process::geteuid().as_raw())
    }

    fn cannot_open(&self, name: &OsStr, error: Errno) -> anyhow::Error {
        let message = format!("cannot open `{}`: {}", self.path.join(name).display(), told(error));
        match error {
            Errno::NOSPC | Errno::DQUOT => {
                anyhow::Error::from(io::Error::from(error)).context(message)
            }
            Errno::ACCESS if self.is_own(name) => self.mendable(message).into(),
            Errno::ACCESS => {
                let hint = "use another session with `--session-dir DIR`";
                Failure::setup(message).hint(hint).into()
            }
            _ => Failure::setup(message).into(),
        }
    }
}

/// Returns the error for damage in a session that one command repairs.
pub fn mendable(session_dir: &Path, message: impl Into<String>) -> Failure {
    let hint = format!("repair the session with `{}`", mending(session_dir));
    Failure::setup(message).hint(hint)
}

/// Returns the command that repairs a session.
pub fn mending(session_dir: &Path) -> String {
    const COMMAND: &str = "csv-agent doctor --session --repair";
    if session_dir.ends_with(NAME) {
        // The nearest session, which the command uses by default.
        return COMMAND.to_owned();
    }
    let shown = session_dir.to_string_lossy();
    let quoted = shlex::try_quote(&shown).unwrap_or(shown.clone());
    format!("{COMMAND} --session-dir {quoted}")
}

/// Without `O_NONBLOCK`, opening a pipe would wait for its other end.
const FLAGS: OFlags = OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK);

/// Returns the components of a name; each must be a plain one.
fn parts(name: &Path) -> anyhow::Result<Vec<&OsStr>> {
    let parts = name.components().map(|it| match it {
        Component::Normal(part) => Ok(part),
        _ => bail!("`{}` points outside the session", name.display()),
    });
    parts.collect()
}

/// Returns how an entry differs from the expected kind, if it does.
fn oddity(stat: &Stat, kind: EntryKind) -> Option<String> {
    let found = FileType::from_raw_mode(stat.st_mode);
    let is_kind = match kind {
        EntryKind::File => found.is_file(),
        EntryKind::Directory => found.is_dir(),
    };
    if !is_kind {
        let (wanted, found) = match (kind, found) {
            (_, FileType::Symlink) => {
                return Some(
                    "is a link, and csv-agent does not follow links in a session".to_owned(),
                );
            }
            (EntryKind::File, FileType::Directory) => ("a file", "a directory"),
            (EntryKind::Directory, FileType::RegularFile) => ("a directory", "a file"),
            (EntryKind::File, FileType::Fifo) => ("a file", "a pipe"),
            (EntryKind::File, _) => ("a file", "a device or socket"),
            (EntryKind::Directory, _) => ("a directory", "a pipe, device or socket"),
        };
        return Some(format!("is {found}, not {wanted}"));
    }
    let ours = [rustix::process::geteuid().as_raw(), 0];
    (!ours.contains(&stat.st_uid)).then(|| format!("belongs to {}, not to you", user(stat.st_uid)))
}

/// Revokes write access to a directory from everyone but its owner, since others could replace its content
/// while it is in use. Failures are ignored: then the file system has no permissions, or the directory is
/// root's.
fn close_to_others(fd: &OwnedFd, stat: &Stat) {
    let mode = Mode::from_raw_mode(stat.st_mode);
    let others = Mode::WGRP | Mode::WOTH;
    if mode.intersects(others) {
        let _ = rustix::fs::fchmod(fd, mode - others);
    }
}

fn user(uid: u32) -> String {
    match User::from_uid(Uid::from_raw(uid)) {
        Ok(Some(user)) => format!("`{}`", user.name),
        _ => format!("user {uid}"),
    }
}

/// Returns the error for a session that cannot be used as it is. No command repairs it.
fn refused_session(path: &Path, stat: &Stat, reason: &str) -> Failure {
    let shown = path.to_string_lossy();
    let quoted = shlex::try_quote(&shown).unwrap_or(shown.clone());
    let hint = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => match path.canonicalize() {
            Ok(target) => {
                format!(
                    "if you trust it, name the directory itself: `--session-dir {}`",
                    target.display()
                )
            }
            Err(_) => {
                "remove the link, or name another session with `--session-dir DIR`".to_owned()
            }
        },
        FileType::Directory if rustix::process::geteuid().is_root() => format!(
            "if you trust everything in it, make it yours with `chown -R 0 {quoted}`; otherwise use \
             another with `--session-dir DIR`"
        ),
        // Whoever may not read it cannot copy it.
        FileType::Directory if !may_read(path) => {
            "name another session with `--session-dir DIR`".to_owned()
        }
        FileType::Directory => format!(
            "if you trust everything in it, copy it with `cp -R {quoted} DIR` and use `--session-dir DIR`"
        ),
        _ => "name another session with `--session-dir DIR`".to_owned(),
    };
    Failure::setup(format!("the session `{}` {reason}", path.display())).hint(hint)
}

/// Returns whether the user may list and search a directory.
fn may_read(path: &Path) -> bool {
    rustix::fs::access(path, Access::READ_OK | Access::EXEC_OK).is_ok()
}

fn told(error: Errno) -> io::Error {
    io::Error::from(error)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use tempfile::TempDir;

    use super::{Directory, EntryKind, mending};

    #[track_caller]
    fn check(make: impl FnOnce(&Path), reason: &str) {
        let dir = TempDir::new().unwrap();
        let (session, outside) = (dir.path().join("s"), dir.path().join("outside"));
        fs::create_dir_all(session.join("turns/0001")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("question.txt"), "kept").unwrap();
        make(&session);
        let opened = Directory::open(&session);
        let read = opened.and_then(|it| it.unwrap().read("turns/0001/question.txt", 8));
        let error = format!("{:#}", read.unwrap_err());
        assert!(error.ends_with(reason), "{error}");
        assert_eq!(fs::read_to_string(outside.join("question.txt")).unwrap(), "kept");
    }

    #[test]
    fn what_is_no_plain_file_of_the_session_is_refused_by_name() {
        let file = "s/turns/0001/question.txt`";
        check(
            |it| {
                symlink("../../../outside/question.txt", it.join("turns/0001/question.txt"))
                    .unwrap();
            },
            &format!("{file} is a link, and csv-agent does not follow links in a session"),
        );
        check(
            |it| fs::create_dir(it.join("turns/0001/question.txt")).unwrap(),
            &format!("{file} is a directory, not a file"),
        );
        check(
            |it| mkfifo(&it.join("turns/0001/question.txt"), Mode::S_IRWXU).unwrap(),
            &format!("{file} is a pipe, not a file"),
        );
        check(
            |it| fs::write(it.join("turns/0001/question.txt"), "123456789").unwrap(),
            &format!("{file} has 9 bytes; the limit is 8 bytes"),
        );
        check(
            |it| {
                fs::remove_dir_all(it.join("turns/0001")).unwrap();
                symlink("../../outside", it.join("turns/0001")).unwrap();
            },
            "s/turns/0001` is a link, and csv-agent does not follow links in a session",
        );
        check(
            |it| symlink("nowhere", it.join("repl")).unwrap(),
            "s/repl` is a link, and csv-agent does not follow links in a session",
        );
    }

    #[test]
    fn nobody_else_may_write_in_a_session_that_is_used() {
        let check = |path: &str, mode: u32, expected: u32| {
            let dir = TempDir::new().unwrap();
            let session = dir.path().join(".csv-agent");
            fs::create_dir_all(session.join("turns/0001")).unwrap();
            fs::create_dir_all(dir.path().join("shared")).unwrap();
            let path = dir.path().join(path);
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            for session in [session, dir.path().join("shared")] {
                let _ = Directory::at(&session).unwrap().directory("turns/0001").unwrap();
            }
            let found = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            assert_eq!(format!("{found:o}"), format!("{expected:o}"), "{}", path.display());
        };
        for path in [".csv-agent", ".csv-agent/turns", ".csv-agent/turns/0001"] {
            check(path, 0o777, 0o755);
            check(path, 0o2770, 0o2750);
            check(path, 0o1777, 0o1755);
        }
        check("shared", 0o777, 0o777);
    }

    #[test]
    fn a_name_stays_in_the_session() {
        let dir = TempDir::new().unwrap();
        let session = Directory::at(dir.path()).unwrap();
        for name in ["../x", "/etc/passwd", "a/../../x", ""] {
            assert!(session.file(name).is_err(), "{name}");
        }
        assert!(session.path_of("datasets/x.parquet", EntryKind::File).unwrap().is_none());
    }

    #[test]
    fn a_link_for_a_session_names_the_directory_itself() {
        let dir = TempDir::new().unwrap();
        symlink(dir.path(), dir.path().join("link")).unwrap();
        for path in ["link", "link/"] {
            let error = Directory::open(&dir.path().join(path)).unwrap_err();
            let failure = error.downcast_ref::<csv_agent_types::status::Failure>().unwrap();
            let target = dir.path().canonicalize().unwrap();
            let expected = format!("`--session-dir {}`", target.display());
            assert!(failure.hint.as_ref().unwrap().ends_with(&expected), "{:?}", failure.hint);
        }
    }

    #[test]
    fn the_command_that_mends_names_the_session_unless_it_is_the_nearest() {
        assert_eq!(mending(Path::new("/x/.csv-agent")), "csv-agent doctor --session --repair");
        let named = "csv-agent doctor --session --repair --session-dir '/x/a b'";
        assert_eq!(mending(Path::new("/x/a b")), named);
    }
}
