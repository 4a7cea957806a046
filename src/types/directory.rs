//! Directories in which hostile code may have written: safe reading, and removal whatever their content.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Opens a file for reading; never through a link, never a pipe or a device.
///
/// # Errors
///
/// Fails when the file cannot be opened or is not a regular file.
pub fn open_file(path: &Path) -> io::Result<File> {
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidData, "not a regular file"));
    }
    Ok(file)
}

/// Removes a file, or a directory with its content. A missing one is not an error.
///
/// # Errors
///
/// Fails when something cannot be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => {
            // Fast, but fails on directories without permissions, or nested deeper than descriptors allow.
            if fs::remove_dir_all(path).is_err() {
                empty(path)?;
                fs::remove_dir(path)?;
            }
            Ok(())
        }
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes all that is in a directory, and not the directory.
///
/// What is in its directories is moved up before it is removed, so that no depth matters. Each directory is
/// reached by its descriptor: code that exchanges one for a link meanwhile leads nowhere.
///
/// # Errors
///
/// Fails when something cannot be removed.
pub fn empty(directory: &Path) -> io::Result<()> {
    let top = HeldDirectory::open(directory)?;
    let mut n_moved = 0_u64;
    loop {
        let entries: Vec<_> = fs::read_dir(&top.path)?.collect::<Result<_, _>>()?;
        if entries.is_empty() {
            return Ok(());
        }
        for entry in entries {
            let path = top.path.join(entry.file_name());
            if !fs::symlink_metadata(&path)?.is_dir() {
                fs::remove_file(&path)?;
                continue;
            }
            let held = HeldDirectory::open(&path)?;
            for child in fs::read_dir(&held.path)? {
                let child = held.path.join(child?.file_name());
                if fs::symlink_metadata(&child)?.is_dir() {
                    // To move a directory is to write in it: its parent changes.
                    HeldDirectory::open(&child)?;
                }
                let target = loop {
                    n_moved += 1;
                    // Code may have used the name.
                    let target = top.path.join(format!(".removed-{n_moved}"));
                    if fs::symlink_metadata(&target).is_err() {
                        break target;
                    }
                };
                fs::rename(&child, target)?;
            }
            fs::remove_dir(&path)?;
        }
    }
}

/// A directory that its owner may write in, held by a descriptor.
struct HeldDirectory {
    /// Leads to it whatever has its name by now.
    path: PathBuf,
    _fd: OwnedFd,
}

impl HeldDirectory {
    /// Opens a directory, never through a link, and gives its owner all rights.
    fn open(directory: &Path) -> io::Result<HeldDirectory> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(directory, flags, Mode::empty())?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
        fs::set_permissions(&path, Permissions::from_mode(0o700))?;
        Ok(HeldDirectory { path, _fd: fd })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use tempfile::TempDir;

    use super::{empty, remove};

    #[test]
    fn what_is_deep_closed_or_linked_goes_and_nothing_else() {
        let directory = TempDir::new().unwrap();
        let (top, outside) = (directory.path().join("top"), directory.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "kept").unwrap();
        let mut deep = top.join("a");
        while deep.as_os_str().len() < 3_900 {
            deep = deep.join("a");
        }
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir_all(top.join("closed/within")).unwrap();
        fs::write(top.join(".removed-1"), "taken").unwrap();
        symlink(&outside, top.join("link")).unwrap();
        fs::set_permissions(top.join("closed"), Permissions::from_mode(0o000)).unwrap();
        empty(&top).unwrap();
        assert_eq!(fs::read_dir(&top).unwrap().count(), 0);
        assert_eq!(fs::read_to_string(outside.join("file")).unwrap(), "kept");
        remove(&top).unwrap();
        remove(&top).unwrap();
        assert!(!top.exists());
    }

    #[test]
    fn a_directory_that_is_exchanged_for_a_link_meanwhile_leads_nowhere() {
        let directory = TempDir::new().unwrap();
        let (top, outside) = (directory.path().join("top"), directory.path().join("outside"));
        fs::create_dir(&outside).unwrap();
        fs::set_permissions(&outside, Permissions::from_mode(0o755)).unwrap();
        let link = directory.path().join("link");
        symlink(&outside, &link).unwrap();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let flags = RenameFlags::EXCHANGE;
                    let _ = renameat_with(CWD, top.join("a/b"), CWD, &link, flags);
                }
            });
            for _ in 0..2_000 {
                fs::create_dir_all(top.join("a/b")).unwrap();
                if !link.is_symlink() {
                    let _ = fs::remove_dir(&link);
                    let _ = symlink(&outside, &link);
                }
                // It fails where something was exchanged for a link just then, and is called again.
                let _ = empty(&top);
            }
            is_over.store(true, Ordering::Relaxed);
        });
        let mode = fs::metadata(&outside).unwrap().permissions().mode() & 0o777;
        assert_eq!(format!("{mode:o}"), "755");
    }
}
