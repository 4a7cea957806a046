//! The reads and writes of each step of a turn, and so the earlier steps that a turn needs.
//!
//! Variables outlive a turn. To run a turn by itself, only those steps of earlier turns must run first that
//! made what it reads. For code in a container at the provider, the files that it names count as variables.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_tools::{Statement, ToolJob};
use csv_agent_worker::protocol::Command;
use csv_agent_worker::trusted_script::Study;

use super::stored_turn::{ExecutionPlace, PastCall, saved};

const OUTLINE: &str = include_str!("cell_dependencies.py");

/// The variable that holds outputs too long to show.
const STORE: &str = "data";

/// Stands for every variable, where code may access any.
const ANY: &str = "*";

/// Prefix of the name of a query's result among the names of variables.
const RESULT: &str = "result:";
/// Prefix of a file name among the names of variables.
const FILE: &str = "file:";
/// Stands for every file, where code may read any.
const FILES: &str = "file:*";
/// Stands for code that may write any file.
const OPEN: &str = "file:?";

/// The reads and writes of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Outline {
    /// Variables that it reads.
    pub reads: BTreeSet<String>,
    /// Variables that it assigns in every case.
    pub binds: BTreeSet<String>,
    /// Variables that it may assign.
    pub may_bind: BTreeSet<String>,
    /// Variables that it may modify.
    pub touches: BTreeSet<String>,
    /// Location of the last expression, whose value is shown: first line (from 1) and byte, last line and
    /// byte.
    pub last: Option<[usize; 4]>,
    /// Files of its container that it names.
    pub files: BTreeSet<String>,
    /// Files that it writes, where that can be determined.
    pub written: BTreeSet<String>,
    /// Files that it reads, where that can be determined.
    pub taken: BTreeSet<String>,
    /// Whether it may access other files: it composes names, or lists a directory.
    pub is_open: bool,
    /// Packages that it imports, other than the standard library.
    pub imports: BTreeSet<String>,
}

impl Outline {
    /// Treats files as variables that the step reads and may assign. Uploaded files always exist.
    fn count_files(&mut self, is_uploaded: impl Fn(&str) -> bool) {
        let made = self.files.iter().filter(|it| self.written.contains(*it) || !is_uploaded(it));
        let made: BTreeSet<String> = made.map(|it| format!("{FILE}{it}")).collect();
        let is_any = !made.is_empty() || self.is_open;
        self.reads.extend(made.iter().cloned());
        self.touches.extend(made);
        if is_any {
            self.touches.insert(FILES.to_owned());
            self.reads.insert(OPEN.to_owned());
        }
        if self.is_open {
            self.touches.insert(OPEN.to_owned());
            self.reads.insert(FILES.to_owned());
        }
    }

    fn makes(&self, name: &String) -> bool {
        self.touches.contains(ANY)
            || self.binds.contains(name)
            || self.may_bind.contains(name)
            || self.touches.contains(name)
    }
}

/// Returns the name of a query's result among the names of variables.
fn result(name: impl AsRef<str>) -> String {
    format!("{RESULT}{}", name.as_ref())
}

/// Returns whether any call ran Python code, which only Python can outline.
pub fn has_code(ran: &[(ToolJob, &PastCall)]) -> bool {
    ran.iter().any(|it| matches!(it.0, ToolJob::Python(Command::Run { .. })))
}

/// Returns the outline of each call. `uploaded` are the files that a container had from the start. Without code, no
/// Python is needed.
///
/// # Errors
///
/// Fails when the worker does, or there is none for code.
pub async fn outlines(
    study: Option<&mut Study>,
    ran: &[(ToolJob, &PastCall)],
    uploaded: &[String],
) -> anyhow::Result<Vec<Outline>> {
    let code = ran.iter().filter_map(|(job, call)| match job {
        ToolJob::Python(Command::Run { code }) => {
            Some(json!([code, call.result["kind"] != "none", call.is_hosted()]))
        }
        _ => None,
    });
    let code: Vec<Value> = code.collect();
    let mut of_code: Vec<Outline> = Vec::new();
    if !code.is_empty() {
        let study = study.context("code is outlined in Python")?;
        let found = study.ask(OUTLINE, &json!(code)).await;
        let found = found.context("cannot find out what the code needs")?;
        of_code = serde_json::from_value(found).context("cannot read what the code needs")?;
    }
    let mut of_code = of_code.into_iter();
    let results = || {
        ran.iter().filter_map(|(job, _)| match job {
            ToolJob::Query(Statement { result_name, .. }) => result_name.as_deref(),
            ToolJob::Python(_) => None,
        })
    };
    let outline = |(job, call): &(ToolJob, &PastCall)| {
        let command = match job {
            ToolJob::Python(command) => command,
            ToolJob::Query(Statement { sql, result_name }) => {
                let reads = results().filter(|it| sql.contains(it)).map(result).collect();
                // A variable of the name is forgotten.
                let binds = result_name.iter().flat_map(|it| [it.clone(), result(it)]).collect();
                return Outline { reads, binds, ..Outline::default() };
            }
        };
        let mut outline = match command {
            Command::Run { code } => {
                let mut outline = of_code.next().unwrap_or_default();
                outline.reads.extend(results().filter(|it| code.contains(it)).map(result));
                outline
            }
            Command::Load { variable, .. } => {
                Outline { binds: [variable.clone()].into(), ..Outline::default() }
            }
            Command::Fetch { variable, .. } if call.place != ExecutionPlace::Repl => {
                let files = [saved(variable)].into();
                Outline { files, ..Outline::default() }
            }
            Command::Fetch { variable, .. } => {
                let reads = [variable.clone(), result(variable)].into();
                Outline { reads, ..Outline::default() }
            }
            Command::Find { .. } | Command::Forget { .. } | Command::Keep { .. } => {
                Outline::default()
            }
        };
        if ["data_key", "stdout_key"].iter().any(|it| call.result.get(it).is_some()) {
            outline.touches.insert(STORE.to_owned());
        }
        outline.count_files(|it| uploaded.iter().any(|name| name == it));
        outline
    };
    Ok(ran.iter().map(outline).collect())
}

/// A step that may contribute to a result.
#[derive(Debug, Clone, Default)]
pub struct DependencyStep {
    /// Where its variables live.
    pub place: ExecutionPlace,
    /// Its reads and writes.
    pub outline: Outline,
    /// Whether it failed, and so assigned only some of its variables or none.
    pub failed: bool,
    /// Whether its own result is requested.
    pub is_wanted: bool,
}

/// Returns which steps are needed: the requested ones, and those that made what these read.
pub fn needed(steps: &[DependencyStep]) -> Vec<bool> {
    let mut wanted_of: BTreeMap<&ExecutionPlace, BTreeSet<String>> = BTreeMap::new();
    let mut needed: Vec<bool> = Vec::new();
    for DependencyStep { place, outline, failed, is_wanted } in steps.iter().rev() {
        let wanted = wanted_of.entry(place).or_default();
        let is_needed = *is_wanted || wanted.iter().any(|it| outline.makes(it));
        if is_needed && !failed {
            wanted.retain(|it| !outline.binds.contains(it));
        }
        if is_needed {
            wanted.extend(outline.reads.iter().cloned());
        }
        needed.push(is_needed);
    }
    needed.reverse();
    needed
}

#[cfg(test)]
mod tests {
    use super::{DependencyStep, ExecutionPlace, Outline, needed};

    /// `a b -> c`: reads a and b, makes c. `a ~> a`: changes a. A `!` in front: it failed; `@`: in a container.
    fn step(text: &str, is_wanted: bool) -> DependencyStep {
        let (failed, text) = text.strip_prefix('!').map_or((false, text), |it| (true, it));
        let names = |it: &str| it.split_whitespace().map(str::to_owned).collect();
        let (place, text) = text.strip_prefix("@").map_or((ExecutionPlace::Repl, text), |it| {
            (ExecutionPlace::Container("c".to_owned()), it)
        });
        let outline = if let Some((reads, touches)) = text.split_once("~>") {
            Outline { reads: names(reads), touches: names(touches), ..Outline::default() }
        } else {
            let (reads, binds) = text.split_once("->").unwrap_or((text, ""));
            Outline { reads: names(reads), binds: names(binds), ..Outline::default() }
        };
        DependencyStep { place, outline, failed, is_wanted }
    }

    #[track_caller]
    fn check(earlier: &[&str], wanted: &[&str], expected: &[bool]) {
        let before = earlier.iter().map(|it| step(it, false));
        let steps: Vec<DependencyStep> =
            before.chain(wanted.iter().map(|it| step(it, true))).collect();
        assert_eq!(needed(&steps)[..earlier.len()], *expected);
    }

    #[test]
    fn a_step_is_needed_when_it_made_what_is_read() {
        check(&["-> df", "df", "df -> x", "-> y"], &["x"], &[true, false, true, false]);
        check(&["-> df"], &["-> df", "df"], &[false]);
    }

    #[test]
    fn the_last_to_make_a_variable_is_enough_unless_it_failed() {
        check(&["-> df", "-> df"], &["df"], &[false, true]);
        check(&["-> df", "!-> df"], &["df"], &[true, true]);
    }

    #[test]
    fn places_do_not_know_the_variables_of_each_other() {
        check(&["-> df", "@-> df"], &["df"], &[true, false]);
        check(&["-> df", "@-> df", "@ ~> *"], &["@df"], &[false, true, true]);
    }

    #[test]
    fn what_changes_a_variable_is_needed_and_so_is_what_made_it() {
        check(&["-> df", "df ~> df", "df"], &["df"], &[true, true, false]);
    }
}
