//! Egress records: what left the machine, per turn and in total.
//!
//! Each turn has its own record. Records of turns that a reset removes are added up in `session.json`, so
//! that no total omits what was sent.

use std::path::{Path, PathBuf};

use anyhow::Context;

use csv_agent_types::egress::Record;

use crate::{Session, read_json, store, turns};

/// The file for a turn's record.
#[derive(Debug, Clone)]
pub struct EgressFile {
    turn_dir: PathBuf,
}

impl EgressFile {
    /// The file name of a turn's record.
    pub const NAME: &str = "egress.json";

    /// Returns the file of a turn, which need not exist.
    pub fn of_turn(turn_dir: &Path) -> EgressFile {
        EgressFile { turn_dir: turn_dir.to_owned() }
    }

    /// Replaces the record. Writes no file when nothing was sent.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be written.
    pub fn write(&self, record: &Record) -> anyhow::Result<()> {
        let gone = || format!("there is no turn `{}`", self.turn_dir.display());
        let turn = turns::open(&self.turn_dir)?.with_context(gone)?;
        if record.all.is_nothing() {
            return turn.remove(Self::NAME);
        }
        let mut content = serde_json::to_vec_pretty(record).context("cannot write JSON")?;
        content.push(b'\n');
        store::write(&turn, Self::NAME, &content)
    }

    /// Reads the record; empty when nothing was sent.
    ///
    /// # Errors
    ///
    /// Fails with `FailureKind::Setup` when it cannot be read.
    pub fn read(&self) -> anyhow::Result<Record> {
        let Some(turn) = turns::open(&self.turn_dir)? else { return Ok(Record::default()) };
        Ok(read_json(&turn, Self::NAME)?.unwrap_or_default())
    }
}

/// Returns what left the machine in all turns of a session, including those that a reset removed. Without
/// the session's lock, a running turn may be counted in part.
///
/// # Errors
///
/// Fails when a record cannot be read.
pub fn total(session_dir: &Path) -> anyhow::Result<Record> {
    let mut total = Session::removed_egress(session_dir)?;
    for dir in turns::dirs(session_dir)? {
        total.add(&EgressFile::of_turn(&dir).read()?);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::{EgressFile, total};
    use csv_agent_types::egress::{Egress, Record};

    #[test]
    fn what_was_sent_adds_up_and_nothing_sent_is_no_file() {
        let session = tempfile::tempdir().unwrap();
        assert_eq!(total(session.path()).unwrap(), Record::default());
        for turn in ["0001", "0002"] {
            let dir = session.path().join("turns").join(turn);
            std::fs::create_dir_all(&dir).unwrap();
            let all = Egress { requests: 1, bytes: 10, ..Egress::default() };
            let record = Record { all, ..Record::default() };
            let file = EgressFile::of_turn(&dir);
            file.write(&record).unwrap();
            assert_eq!(file.read().unwrap(), record);
        }
        assert_eq!(total(session.path()).unwrap().all.bytes, 20);
        let file = EgressFile::of_turn(&session.path().join("turns/0002"));
        file.write(&Record::default()).unwrap();
        assert_eq!(total(session.path()).unwrap().all.bytes, 10);
    }
}
