//! Whose word counts: who could have written a file, and which projects the user trusts.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use csv_agent_session::directory::NAME;

/// What of a file tells who could have written it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Writers {
    uid: u32,
    gid: u32,
    mode: u32,
}

impl From<&Metadata> for Writers {
    fn from(it: &Metadata) -> Writers {
        Writers { uid: it.uid(), gid: it.gid(), mode: it.mode() }
    }
}

impl Writers {
    /// Returns who but this user and root could have written the file, if anybody.
    ///
    /// A group may write when it is the user's own: many systems give each user one and create files
    /// that it may write.
    pub(super) fn others(self) -> Option<&'static str> {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        self.others_than(uid, gid)
    }

    fn others_than(self, uid: u32, gid: u32) -> Option<&'static str> {
        if self.uid != uid && self.uid != 0 {
            Some("it belongs to another user")
        } else if self.mode & 0o002 != 0 {
            Some("everybody may write it")
        } else if self.mode & 0o020 != 0 && self.gid != gid {
            Some("its group may write it")
        } else {
            None
        }
    }
}

/// Returns whether the user trusts what stands in `dir`: it is listed, a session in it belongs to a
/// directory that is listed, or a directory above it is listed as `DIR/*`.
pub(super) fn is_trusted(dir: &Path, trusted: &[PathBuf]) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    let project = match dir.parent() {
        Some(parent) if dir.ends_with(NAME) => parent,
        _ => &dir,
    };
    trusted.iter().any(|it| match it.file_name() {
        Some(name) if name == "*" => {
            let above = it.parent().and_then(|it| it.canonicalize().ok());
            above.is_some_and(|above| project != above && project.starts_with(above))
        }
        _ => it.canonicalize().is_ok_and(|it| it == project || it == dir),
    })
}

#[cfg(test)]
mod tests {
    use super::{Writers, is_trusted};

    #[track_caller]
    fn check(uid: u32, gid: u32, mode: u32, others: Option<&str>) {
        let writers = Writers { uid, gid, mode: 0o100_000 | mode };
        assert_eq!(writers.others_than(1000, 1000), others, "{writers:?}");
    }

    #[test]
    fn a_file_that_others_could_have_written_is_told() {
        check(1000, 1000, 0o644, None);
        check(0, 0, 0o644, None);
        check(1000, 1000, 0o664, None);
        check(1000, 100, 0o664, Some("its group may write it"));
        check(1000, 1000, 0o666, Some("everybody may write it"));
        check(1001, 1001, 0o600, Some("it belongs to another user"));
    }

    #[test]
    fn a_project_is_trusted_by_name_and_with_its_session() {
        let root = tempfile::tempdir().unwrap();
        let (a, b) = (root.path().join("a"), root.path().join("b"));
        for dir in [&a.join(".csv-agent"), &b.join("c")] {
            std::fs::create_dir_all(dir).unwrap();
        }
        let listed = [a.clone()];
        assert!(is_trusted(&a, &listed));
        assert!(is_trusted(&a.join(".csv-agent"), &listed));
        assert!(!is_trusted(&b, &listed));
        assert!(!is_trusted(&b.join("c"), std::slice::from_ref(&b)), "only the directory itself");
        assert!(is_trusted(&b.join("c"), &[b.join("*")]));
        assert!(!is_trusted(&b, &[b.join("*")]));
        assert!(!is_trusted(&root.path().join("nowhere"), &[root.path().join("nowhere")]));
    }
}
