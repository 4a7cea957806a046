//! The directories whose files a client may name.

use std::path::{Component, Path, PathBuf};

use csv_agent_session::own_files;
use csv_agent_types::status::Failure;

use crate::ingest::{files_of, path_of};

/// The directories, without links. None where nothing is allowed.
#[derive(Debug, Clone)]
pub(super) struct Allowed {
    dirs: Vec<PathBuf>,
}

impl Allowed {
    /// Allows these directories, or the current one if there are none. Fails when one of them is not a
    /// directory.
    pub(super) fn of(dirs: &[PathBuf]) -> anyhow::Result<Allowed> {
        if dirs.is_empty() {
            let here = std::env::current_dir().ok().and_then(|it| it.canonicalize().ok());
            // A client that starts servers in the root directory has not chosen it.
            let dirs = here.filter(|it| it.parent().is_some()).into_iter().collect();
            return Ok(Allowed { dirs });
        }
        let real = |dir: &PathBuf| {
            let found = dir.canonicalize().ok().filter(|it| it.is_dir());
            found.ok_or_else(|| {
                let message = format!("`--allow {}` is not a directory", dir.display());
                Failure::input(message).hint("name a directory that exists")
            })
        };
        let dirs = dirs.iter().map(real).collect::<Result<Vec<_>, _>>()?;
        Ok(Allowed { dirs })
    }

    /// Checks a path that need not exist. Links are followed. Fails when it leads elsewhere, with a sentence
    /// for the client.
    pub(super) fn check(&self, path: &Path) -> Result<(), String> {
        self.check_place(path, path)
    }

    /// Checks where a path is, and calls it by another in the message.
    fn check_place(&self, place: &Path, path: &Path) -> Result<(), String> {
        let real = real(place);
        if real.is_some_and(|real| self.dirs.iter().any(|it| real.starts_with(it))) {
            return Ok(());
        }
        let shown: Vec<String> = self.dirs.iter().map(|it| format!("`{}`", it.display())).collect();
        Err(match &shown[..] {
            [] => format!(
                "`{}` is not allowed: the server was started in `/`, so it reads no files; its user can add \
                 `--allow DIR` to its arguments",
                path.display()
            ),
            dirs => format!(
                "`{}` is not allowed: the server reads only files below {}; use one of these, or ask the user to \
                 add `--allow DIR` to its arguments",
                path.display(),
                dirs.join(" and ")
            ),
        })
    }

    /// Checks files, directories and patterns, and the files that they lead to. Fails as [`Allowed::check`]
    /// does, and for what is not data: pipes and devices, and files of a session except the tables of its
    /// turns.
    pub(super) fn check_files(&self, paths: &[PathBuf]) -> Result<(), String> {
        for path in paths.iter().map(|it| path_of(it)) {
            if path.as_os_str() == "-" {
                return Err(
                    "`-` is not a file here: stdin has the messages of the client; name a file"
                        .into(),
                );
            }
            self.check_place(&fixed_part(path), path)?;
            check_kind(path)?;
        }
        // What cannot be expanded is reported when it is read.
        let files = files_of(paths).unwrap_or_default();
        files.iter().try_for_each(|it| {
            self.check(it)?;
            check_kind(it)
        })
    }
}

/// Checks that what exists can be read as data. A pipe would block, and a device may never end.
fn check_kind(path: &Path) -> Result<(), String> {
    if path.metadata().is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        return Err(format!(
            "`{}` is a pipe or a device; name a file or a directory",
            path.display()
        ));
    }
    let is_table =
        |it: &Path| it.starts_with("turns") && it.parent().is_some_and(|it| it.ends_with("tables"));
    match own_files::within_session(path) {
        Some(within) if !is_table(&within) => Err(format!(
            "`{}` belongs to a session and is not data; name other files",
            path.display()
        )),
        _ => Ok(()),
    }
}

/// Returns the part of a pattern before its first special component; a path that exists is none.
fn fixed_part(path: &Path) -> PathBuf {
    if path.exists() {
        return path.to_owned();
    }
    let is_fixed =
        |it: &Component| !it.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let fixed: PathBuf = path.components().take_while(is_fixed).collect();
    // A pattern without a directory is one of the current directory.
    if fixed.as_os_str().is_empty() { PathBuf::from(".") } else { fixed }
}

/// Returns where a path leads; of one that does not exist, where it would be.
fn real(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut rest = Vec::new();
    let mut known = path.as_path();
    loop {
        if let Ok(real) = known.canonicalize() {
            return Some(rest.iter().rev().fold(real, |it, name| it.join(name)));
        }
        // A link to nothing leads somewhere when the target appears, and `..` leads back.
        if known.symlink_metadata().is_ok() {
            return None;
        }
        match known.components().next_back()? {
            Component::Normal(name) => rest.push(name.to_owned()),
            _ => return None,
        }
        known = known.parent()?;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::Allowed;

    #[test]
    fn links_and_dots_lead_out_of_a_directory_in_vain() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        fs::create_dir_all(root.join("in/deep")).unwrap();
        fs::create_dir_all(root.join("out")).unwrap();
        for file in ["in/a.csv", "in/deep/b.csv", "out/c.csv"] {
            fs::write(root.join(file), "a,b\n1,2\n").unwrap();
        }
        symlink(root.join("out/c.csv"), root.join("in/link.csv")).unwrap();
        symlink(root.join("out"), root.join("in/dir")).unwrap();
        symlink(root.join("gone"), root.join("in/nothing")).unwrap();
        let allowed = Allowed::of(&[root.join("in")]).unwrap();
        let is_allowed = |path: &str| allowed.check_files(&[root.join(path)]).is_ok();
        for path in ["in/a.csv", "in/deep/../a.csv", "in/deep", "in/deep/*.csv", "in/none.csv"] {
            assert!(is_allowed(path), "{path}");
        }
        for path in [
            "out/c.csv",
            "in/link.csv",
            "in/dir/c.csv",
            "in/dir",
            "in/../out/c.csv",
            "out/*.csv",
            "in/l*.csv",
            "in/*",
            "in",
            "in/nothing",
            "in/gone/../../out/c.csv",
        ] {
            assert!(!is_allowed(path), "{path}");
        }
        assert!(allowed.check_files(&["-".into()]).is_err());
    }
}
