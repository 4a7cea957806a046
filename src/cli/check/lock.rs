//! `checks.lock`: the statements that claims were compiled to.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, value};

use csv_agent_types::catalog::Catalog;
use csv_agent_types::limits::CHECKS_BYTES_MAX;
use csv_agent_types::named_file::{self, NotRead};
use csv_agent_types::status::Failure;

use crate::options::briefing::text;
use crate::stdout::answer_to;

/// The form that this version writes.
const VERSION: u32 = 1;
/// Characters of a digest: enough against mistakes, not against an attacker, who could write the digest as well.
const DIGEST_CHARS: usize = 16;
/// What the file begins with.
const HEADING: &str = "# Made by `csv-agent check --update`. Review it together with the rules, and do not edit it.\n";

/// A claim, and the statement that returns the rows that break it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CompiledClaim {
    /// As in the file of rules.
    pub claim: String,
    /// How it was read, in words.
    pub reading: String,
    /// The statement.
    pub sql: String,
    /// Who compiled it.
    pub by: String,
    /// The columns that the statement reads: `orders.total`.
    pub columns: Vec<String>,
}

/// A claim as the file has it.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct LockedClaim {
    claim: String,
    reading: String,
    sql: String,
    by: String,
    columns: Vec<String>,
    /// Of all others: who edits one by hand, or merges two locks, may change what the claim means.
    digest: String,
}

/// All of them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ChecksLock {
    claims: Vec<CompiledClaim>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LockFile {
    version: u32,
    #[serde(default, rename = "claim")]
    claims: Vec<LockedClaim>,
}

impl CompiledClaim {
    /// Returns what ties its parts together.
    fn digest(&self) -> String {
        let parts = [&self.claim, &self.reading, &self.sql, &self.by];
        let mut hash = Sha256::new();
        for part in parts.into_iter().chain(&self.columns) {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        format!("{:x}", hash.finalize())[..DIGEST_CHARS].to_owned()
    }

    /// Returns a column that the statement reads and the data does not have.
    pub(super) fn lost<'a>(&'a self, catalog: &Catalog) -> Option<&'a str> {
        let is_there = |it: &&String| {
            let Some((dataset, column)) = it.split_once('.') else { return false };
            catalog.get(dataset).is_some_and(|it| it.columns.iter().any(|it| it.name == column))
        };
        self.columns.iter().find(|it| !is_there(it)).map(String::as_str)
    }
}

impl ChecksLock {
    pub(super) fn of(claims: Vec<CompiledClaim>) -> ChecksLock {
        ChecksLock { claims }
    }

    /// Returns the path of the lock of a file of rules, which is beside it.
    pub(super) fn path_of(checks: &Path) -> PathBuf {
        beside(checks, "lock")
    }

    /// Reads a lock. Without a file, there are no claims. Fails with `FailureKind::Input` when it cannot be
    /// read, or this version did not write it.
    pub(super) fn read(path: &Path) -> anyhow::Result<ChecksLock> {
        let bytes = match named_file::read(path, CHECKS_BYTES_MAX) {
            Err(NotRead::Failed(error)) if error.kind() == ErrorKind::NotFound => {
                return Ok(ChecksLock::default());
            }
            bytes => bytes,
        };
        let wrong = |reason: &str| {
            let message = format!("cannot read `{}`: {reason}", path.display());
            let hint = "delete that entry, or the whole file, and compile the claims again with `--update`, \
                        or restore the file from version control";
            Failure::input(message).hint(hint)
        };
        let text = text(path, bytes)?;
        Ok(ChecksLock::parse(&text).map_err(|reason| wrong(&reason))?)
    }

    /// Returns the claims of a file, or why there are none.
    fn parse(text: &str) -> Result<ChecksLock, String> {
        let file: LockFile = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if file.version != VERSION {
            return Err(format!("its version is {}, not {VERSION}", file.version));
        }
        let mut claims: Vec<CompiledClaim> = Vec::new();
        for LockedClaim { claim, reading, sql, by, columns, digest } in file.claims {
            let claim = CompiledClaim { claim, reading, sql, by, columns };
            if claim.digest() != digest {
                return Err(format!("the entry of `{}` was edited", claim.claim));
            }
            if claims.iter().any(|it| it.claim == claim.claim) {
                return Err(format!("`{}` has two entries", claim.claim));
            }
            claims.push(claim);
        }
        Ok(ChecksLock { claims })
    }

    /// Returns the claim with these words.
    pub(super) fn get(&self, claim: &str) -> Option<&CompiledClaim> {
        self.claims.iter().find(|it| it.claim == claim)
    }

    /// Returns a claim that is none of these.
    pub(super) fn left_over(&self, claims: &[&str]) -> Option<&str> {
        let mut own = self.claims.iter().map(|it| it.claim.as_str());
        own.find(|it| !claims.contains(it))
    }

    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = self.text();
        answer_to(Some(path), |out: &mut dyn Write| Ok(out.write_all(text.as_bytes())?))
    }

    fn text(&self) -> String {
        let mut document = DocumentMut::new();
        document["version"] = value(i64::from(VERSION));
        let mut tables = ArrayOfTables::new();
        for claim in &self.claims {
            let mut table = Table::new();
            table["claim"] = value(&claim.claim);
            table["reading"] = value(&claim.reading);
            table["sql"] = value(&claim.sql);
            table["by"] = value(&claim.by);
            table["columns"] = value(claim.columns.iter().collect::<Array>());
            table["digest"] = value(claim.digest());
            tables.push(table);
        }
        document["claim"] = Item::ArrayOfTables(tables);
        format!("{HEADING}{document}")
    }
}

/// Returns the path of a file that belongs to a file of rules: `checks.toml` has `checks.lock`. Files of other endings
/// keep these, so that no two of them share one.
pub(super) fn beside(checks: &Path, ending: &str) -> PathBuf {
    if checks.extension().is_some_and(|it| it == "toml") {
        return checks.with_extension(ending);
    }
    let mut path = checks.as_os_str().to_owned();
    path.push(".");
    path.push(ending);
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ChecksLock, CompiledClaim};

    fn lock() -> ChecksLock {
        let claim = |claim: &str, sql: &str| CompiledClaim {
            claim: claim.to_owned(),
            reading: "is every `id` \"unique\"".to_owned(),
            sql: sql.to_owned(),
            by: "builtin".to_owned(),
            columns: vec!["t.a b".to_owned()],
        };
        ChecksLock::of(vec![
            claim("ids are unique", "select *\nfrom t"),
            claim("é'\"\"\"\\", "'''"),
        ])
    }

    #[test]
    fn what_is_written_is_read_again() {
        let lock = lock();
        assert_eq!(ChecksLock::parse(&lock.text()).as_ref(), Ok(&lock), "{}", lock.text());
        assert_eq!(lock.left_over(&["ids are unique"]), Some("é'\"\"\"\\"));
    }

    #[test]
    fn what_was_edited_is_refused() {
        let text = lock().text();
        let edited = Err("the entry of `ids are unique` was edited".to_owned());
        for (from, to) in [("from t", "from u"), ("is every", "is no"), ("t.a b", "t.a")] {
            assert_eq!(ChecksLock::parse(&text.replacen(from, to, 1)), edited, "{from}");
        }
        let reworded = Err("the entry of `ids` was edited".to_owned());
        assert_eq!(ChecksLock::parse(&text.replacen("ids are unique", "ids", 1)), reworded);
        let mut twice = lock();
        twice.claims.push(twice.claims[0].clone());
        let two = Err("`ids are unique` has two entries".to_owned());
        assert_eq!(ChecksLock::parse(&twice.text()), two);
    }

    #[test]
    fn a_lock_is_beside_its_rules() {
        let path = |it: &str| ChecksLock::path_of(Path::new(it)).display().to_string();
        assert_eq!(path("checks.toml"), "checks.lock");
        assert_eq!(path("ci/a.lock"), "ci/a.lock.lock");
        assert_eq!(path("f2.rules"), "f2.rules.lock");
        assert_eq!(path("f2.v1.toml"), "f2.v1.lock");
    }
}
