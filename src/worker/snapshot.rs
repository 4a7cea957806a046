//! Variables kept between processes: files that the worker wrote, moved to permanent storage.
//!
//! A snapshot is `manifest.json` and the files it names, each named after its content. New files are
//! written first, then the manifest is renamed over the old one, then files it no longer names are
//! removed: after a kill at any point the directory holds the old snapshot or the new one. Nothing here
//! parses the files; only the worker does, inside its confinement.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tempfile::Builder;

use csv_agent_types::directory;
use csv_agent_types::limits::{SCRATCH_BYTES_MAX, WORKER_FILE_BYTES_MAX};

/// Prefix of the files that the worker writes in scratch. They are directly in scratch: a subdirectory
/// could be a link to anywhere else.
const PREFIX: &str = ".snapshot-";
const MANIFEST: &str = "manifest.json";
/// Prefix of a file that is not complete yet, or never was.
const UNFINISHED: &str = ".unfinished-";

/// What a snapshot holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Saved {
    /// Names of the variables that the next process will have.
    pub kept: Vec<String>,
    /// Name → why it could not be kept.
    pub lost: BTreeMap<String, String>,
}

/// The request to the worker: a snapshot without the files that already exist.
#[derive(Debug, Serialize)]
pub(super) struct SaveRequest {
    command: &'static str,
    have: BTreeMap<String, u64>,
}

impl SaveRequest {
    /// Lists what an earlier snapshot left in `into`. Fails when `into` cannot be created or listed.
    pub(crate) fn into_directory(into: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(into)?;
        let mut have = BTreeMap::new();
        for entry in fs::read_dir(into)? {
            let entry = entry?;
            // Metadata of the directory entry: of a link, not of its target.
            let metadata = entry.metadata()?;
            if let Ok(name) = entry.file_name().into_string()
                && is_content_name(&name)
                && metadata.is_file()
            {
                have.insert(name, metadata.len());
            }
        }
        Ok(SaveRequest { command: "save", have })
    }
}

/// The worker's answer. Its names are checked before they become paths.
#[derive(Debug, Deserialize)]
pub(super) struct SaveReport {
    kept: Vec<String>,
    lost: BTreeMap<String, String>,
    written: Vec<String>,
    used: BTreeSet<String>,
}

/// Moves what the worker wrote in its scratch directory into the snapshot `into`. Fails when a name or a file
/// is not what a worker writes, or the disk write fails. The old snapshot then remains complete.
pub(super) fn adopt(report: SaveReport, scratch: &Path, into: &Path) -> io::Result<Saved> {
    let mut n_bytes_left = SCRATCH_BYTES_MAX;
    let mut take = |name: &str| {
        let from = scratch.join(format!("{PREFIX}{name}"));
        n_bytes_left =
            n_bytes_left.saturating_sub(move_untrusted(&from, &into.join(name), n_bytes_left)?);
        io::Result::Ok(())
    };
    for name in &report.written {
        if !is_content_name(name) {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                format!("`{name}` is not a valid file name"),
            ));
        }
        take(name)?;
    }
    take(MANIFEST)?;
    for entry in fs::read_dir(into)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string()
            && !report.used.contains(&name)
            && (is_content_name(&name) || name.starts_with(UNFINISHED))
        {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(Saved { kept: report.kept, lost: report.lost })
}

/// Moves a regular file that hostile code may have written; `to` appears atomically. Returns its size.
///
/// The content is copied, not renamed: the code could keep the old file open and change it later. Fails when
/// `from` is not a regular file, is larger than the worker may write or than `n_bytes_max`, or on I/O.
fn move_untrusted(from: &Path, to: &Path, n_bytes_max: u64) -> io::Result<u64> {
    let parent = to.parent().unwrap_or(Path::new("."));
    let mut target = Builder::new().prefix(UNFINISHED).tempfile_in(parent)?;
    let n_bytes_max = n_bytes_max.min(WORKER_FILE_BYTES_MAX);
    let n_bytes = copy_bounded(directory::open_file(from)?, target.as_file_mut(), n_bytes_max)?;
    target.persist(to)?;
    fs::remove_file(from)?;
    Ok(n_bytes)
}

fn copy_bounded(source: File, target: &mut File, n_bytes_max: u64) -> io::Result<u64> {
    let n_bytes = io::copy(&mut source.take(n_bytes_max + 1), target)?;
    if n_bytes_max < n_bytes {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "larger than the worker may write"));
    }
    target.flush()?;
    Ok(n_bytes)
}

/// Returns whether a name is one that the worker gives to content.
fn is_content_name(name: &str) -> bool {
    let is_plain =
        |it: &str| it.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
    name.len() <= 80
        && name
            .strip_suffix(".parquet")
            .or(name.strip_suffix(".pickle"))
            .or(name.strip_suffix(".spark"))
            .is_some_and(|stem| !stem.is_empty() && is_plain(stem))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::{SaveReport, SaveRequest, adopt, is_content_name};

    fn report(written: &[&str], used: &[&str]) -> SaveReport {
        let names = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        SaveReport {
            kept: Vec::new(),
            lost: BTreeMap::new(),
            written: names(written),
            used: names(used).into_iter().collect(),
        }
    }

    #[test]
    fn only_names_of_content_become_paths() {
        for name in ["frame-0a.parquet", "value-1.pickle", "plan-7.spark"] {
            assert!(is_content_name(name), "{name}");
        }
        for name in ["../x.parquet", "manifest.json", ".parquet", "a/b.pickle", "x", "A.parquet"] {
            assert!(!is_content_name(name), "{name}");
        }
    }

    #[test]
    fn a_new_snapshot_takes_the_place_of_the_old_one() {
        let (scratch, into) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let from = |name: &str| scratch.path().join(format!(".snapshot-{name}"));
        fs::write(into.path().join("frame-old.parquet"), "old").unwrap();
        fs::write(into.path().join("frame-same.parquet"), "same").unwrap();
        fs::write(from("frame-new.parquet"), "new").unwrap();
        fs::write(from("manifest.json"), "{}").unwrap();

        let used = ["frame-new.parquet", "frame-same.parquet"];
        adopt(report(&["frame-new.parquet"], &used), scratch.path(), into.path()).unwrap();

        let have = SaveRequest::into_directory(into.path()).unwrap().have;
        assert_eq!(have.into_keys().collect::<Vec<_>>(), used);
        assert_eq!(fs::read_to_string(into.path().join("manifest.json")).unwrap(), "{}");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_link_in_scratch_is_not_followed() {
        let (scratch, into) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        fs::write(scratch.path().join("secret"), "key").unwrap();
        let link = scratch.path().join(".snapshot-value-1.pickle");
        symlink(scratch.path().join("secret"), link).unwrap();

        let report = report(&["value-1.pickle"], &["value-1.pickle"]);
        assert!(adopt(report, scratch.path(), into.path()).is_err());
        assert_eq!(fs::read_dir(into.path()).unwrap().count(), 0);
    }
}
