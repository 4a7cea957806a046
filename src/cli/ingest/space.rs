//! The error of an ingest when a disk is full.

use std::io;
use std::path::Path;

use csv_agent_types::status::{Failure, FailureKind};

/// Reports once which directory is full, with its free bytes and those of the file, and a hint. Other
/// errors are unchanged.
pub(super) fn explain(
    error: anyhow::Error,
    shown_name: Option<&str>,
    bytes: Option<u64>,
    dir: &Path,
    is_kept: bool,
) -> anyhow::Error {
    let is_full = error
        .chain()
        .filter_map(|it| it.downcast_ref::<io::Error>())
        .any(|it| matches!(it.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded));
    if !is_full {
        return error;
    }
    let doing = shown_name.map_or_else(String::new, |it| format!("cannot ingest `{it}`: "));
    let free = free_bytes(dir).map(|it| format!("{it} bytes are free"));
    let needed = bytes.map(|it| format!("the file has {it} bytes"));
    let sizes = free.into_iter().chain(needed).collect::<Vec<_>>().join(", ");
    let dir = dir.display();
    let message = format!("{doing}there is not enough space on the disk of `{dir}` ({sizes})");
    let hint = if is_kept {
        "free some space there, or choose a directory on another disk with `--session-dir`"
    } else {
        "free some space there, or name a directory on another disk in `TMPDIR`"
    };
    Failure::new(FailureKind::Internal, message).hint(hint).into()
}

/// Returns the free space at an existing or future `dir`.
fn free_bytes(dir: &Path) -> Option<u64> {
    let there = dir.ancestors().find(|it| it.is_dir())?;
    let found = rustix::fs::statvfs(there).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::explain;
    use crate::errors;
    use csv_agent_types::status::FailureKind;

    #[test]
    fn a_full_disk_is_named_once_with_a_way_out() {
        let full = || io::Error::new(io::ErrorKind::StorageFull, "no space at `/s/t.tmp`");
        let nested = anyhow::Error::from(io::Error::new(io::ErrorKind::StorageFull, full()));
        let error =
            explain(nested.context("cannot write"), Some("a.csv"), Some(9), Path::new("/s"), true);
        let text = format!("{error:#}");
        let expected = "cannot ingest `a.csv`: there is not enough space on the disk of `/s` (";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with(" bytes are free, the file has 9 bytes)"), "{text}");
        assert!(errors::hint_of(&error).is_some_and(|it| it.contains("`--session-dir`")));
        assert_eq!(errors::kind_of(&error), FailureKind::Internal);
        let other = explain(anyhow::anyhow!("no"), None, None, Path::new("/s"), true);
        assert_eq!(other.to_string(), "no");
    }
}
