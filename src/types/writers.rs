//! Who could have written a file or directory.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// The metadata of a file or directory that shows who could have written it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writers {
    uid: u32,
    gid: u32,
    mode: u32,
}

const OTHER_OWNER: &str = "it belongs to another user";

impl From<&Metadata> for Writers {
    fn from(it: &Metadata) -> Writers {
        Writers { uid: it.uid(), gid: it.gid(), mode: it.mode() }
    }
}

impl Writers {
    /// Returns who else than this user and root could have written it, if anyone.
    ///
    /// The group may write when it is the user's own: many systems give each user one and create files that
    /// are group-writable.
    pub fn others(self) -> Option<&'static str> {
        let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        self.others_than(uid, gid)
    }

    /// Returns whether it belongs to another user than this one and root.
    pub fn other_owner(self) -> Option<&'static str> {
        let is_ours = [rustix::process::geteuid().as_raw(), 0].contains(&self.uid);
        (!is_ours).then_some(OTHER_OWNER)
    }

    fn others_than(self, uid: u32, gid: u32) -> Option<&'static str> {
        if self.uid != uid && self.uid != 0 {
            Some(OTHER_OWNER)
        } else if self.mode & 0o002 != 0 {
            Some("everyone can write to it")
        } else if self.mode & 0o020 != 0 && self.gid != gid && self.gid != self.uid {
            Some("its group can write to it")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Writers;

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
        check(1000, 100, 0o664, Some("its group can write to it"));
        // A group of the owner's own, though not the one of this process.
        let writers = Writers { uid: 1000, gid: 1000, mode: 0o100_664 };
        assert_eq!(writers.others_than(1000, 27), None);
        check(1000, 1000, 0o666, Some("everyone can write to it"));
        check(1001, 1001, 0o600, Some("it belongs to another user"));
    }
}
