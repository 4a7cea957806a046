//! Directories in which hostile code may have written: safe reading, and removal whatever their content.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

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

/// Removes the content of a directory, but not the directory itself.
///
/// Nested content is moved up before it is removed, so that any depth works.
///
/// # Errors
///
/// Fails when something cannot be removed.
pub fn empty(directory: &Path) -> io::Result<()> {
    open(directory)?;
    let mut n_moved = 0_u64;
    loop {
        let entries: Vec<_> = fs::read_dir(directory)?.collect::<Result<_, _>>()?;
        if entries.is_empty() {
            return Ok(());
        }
        for entry in entries {
            let path = entry.path();
            if !fs::symlink_metadata(&path)?.is_dir() {
                fs::remove_file(&path)?;
                continue;
            }
            open(&path)?;
            for child in fs::read_dir(&path)? {
                let child = child?.path();
                if fs::symlink_metadata(&child)?.is_dir() {
                    // Moving a directory writes to it, because its parent entry changes.
                    open(&child)?;
                }
                let target = loop {
                    n_moved += 1;
                    // Code may have used this name.
                    let target = directory.join(format!(".removed-{n_moved}"));
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

fn open(directory: &Path) -> io::Result<()> {
    fs::set_permissions(directory, Permissions::from_mode(0o700))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

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
}
