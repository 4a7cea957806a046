//! What csv-agent itself writes into the directory of a session: never data of the user.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::CATALOG;
use crate::directory::META;

/// Names in the directory of a session, of files and of directories.
const OWN: [&str; 15] = [
    META, CATALOG, "datasets", "turns", "history.jsonl", "summary.md", "hosted.json",
    "typed.jsonl", "lock", "logs", "repl", "results", "scratch", "masked", "aside",
];

/// Returns whether a directory is that of a session, as far as its files say.
pub fn is_session(dir: &Path) -> bool {
    [META, CATALOG].iter().all(|it| dir.join(it).is_file())
}

/// Returns whether csv-agent writes what has this name in the directory of a session.
pub fn is_own(name: &OsStr) -> bool {
    name.to_str().is_some_and(|it| OWN.contains(&it) || it.starts_with("redacted-"))
}

/// Returns the part of a path within a session, if csv-agent itself writes there. Links are followed.
pub fn within_session(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    real.ancestors().skip(1).find_map(|dir| {
        let rest = real.strip_prefix(dir).ok()?;
        match rest.components().next()? {
            Component::Normal(name) if is_own(name) && is_session(dir) => Some(rest.to_owned()),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::within_session;

    #[test]
    fn only_what_a_session_writes_is_its_own() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for file in ["s/session.json", "s/datasets.json", "s/turns/0001/events.jsonl", "s/a.csv"] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), "{}").unwrap();
        }
        fs::create_dir_all(root.join("turns/datasets")).unwrap();
        let found = |path: &str| within_session(&root.join(path));
        assert_eq!(found("s/turns/0001").as_deref(), Some(Path::new("turns/0001")));
        assert_eq!(found("s/datasets.json").as_deref(), Some(Path::new("datasets.json")));
        for path in ["s", "s/a.csv", "turns/datasets", "turns", "s/turns/none"] {
            assert_eq!(found(path), None, "{path}");
        }
    }
}
