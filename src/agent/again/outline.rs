//! What each step of a turn reads and makes, and so which earlier steps a turn needs.
//!
//! Variables outlive a turn. To run a turn by itself, the steps of earlier turns that made what it reads
//! must run first, and no others.

use std::collections::BTreeSet;

use anyhow::Context;
use serde::Deserialize;
use serde_json::json;

use crate::python::Worker;
use crate::python::protocol::Command;
use crate::python::study::study;

const OUTLINE: &str = include_str!("outline.py");

/// What a step reads and makes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Outline {
    /// Variables that it needs.
    pub reads: BTreeSet<String>,
    /// Variables that it makes, whatever happens.
    pub binds: BTreeSet<String>,
    /// Variables that it may make.
    pub may_bind: BTreeSet<String>,
    /// Variables that it may change.
    pub touches: BTreeSet<String>,
    /// Where the expression is whose value is shown: first line (from 1) and byte, last line and byte.
    pub last: Option<[usize; 4]>,
}

impl Outline {
    fn makes(&self, name: &String) -> bool {
        self.binds.contains(name) || self.may_bind.contains(name) || self.touches.contains(name)
    }
}

/// Returns the outline of each command.
///
/// # Errors
///
/// Fails when the worker does.
pub async fn outlines(worker: &mut Worker, commands: &[Command]) -> anyhow::Result<Vec<Outline>> {
    let code = commands.iter().filter_map(|it| match it {
        Command::Run { code } => Some(code.as_str()),
        _ => None,
    });
    let code: Vec<&str> = code.collect();
    let mut of_code = Vec::new();
    if !code.is_empty() {
        let found = study(worker, OUTLINE, &json!(code)).await;
        let found = found.context("cannot find out what the code needs")?;
        of_code = serde_json::from_value(found).context("cannot read what the code needs")?;
    }
    let mut of_code = of_code.into_iter();
    let outline = |command: &Command| match command {
        Command::Run { .. } => of_code.next().unwrap_or_default(),
        Command::Load { variable, .. } => {
            Outline { binds: [variable.clone()].into(), ..Outline::default() }
        }
        Command::Fetch { variable, .. } => {
            Outline { reads: [variable.clone()].into(), ..Outline::default() }
        }
        Command::Keep { .. } => Outline::default(),
    };
    Ok(commands.iter().map(outline).collect())
}

/// Returns which of the `earlier` steps the `later` ones need, in order. A step that failed, as the flag
/// says, made some of its variables or none.
pub fn needed(earlier: &[(Outline, bool)], later: &[(Outline, bool)]) -> Vec<bool> {
    let mut wanted = BTreeSet::new();
    for step in later.iter().rev() {
        want(&mut wanted, step);
    }
    let mut needed: Vec<bool> = Vec::new();
    for step in earlier.iter().rev() {
        let is_needed = wanted.iter().any(|it| step.0.makes(it));
        if is_needed {
            want(&mut wanted, step);
        }
        needed.push(is_needed);
    }
    needed.reverse();
    needed
}

fn want(wanted: &mut BTreeSet<String>, (outline, failed): &(Outline, bool)) {
    if !failed {
        wanted.retain(|it| !outline.binds.contains(it));
    }
    wanted.extend(outline.reads.iter().cloned());
}

#[cfg(test)]
mod tests {
    use super::{Outline, needed};

    /// `a b -> c`: reads a and b, makes c. `a ~> a`: changes a. A `!` in front: it failed.
    fn step(text: &str) -> (Outline, bool) {
        let (failed, text) = text.strip_prefix('!').map_or((false, text), |it| (true, it));
        let names = |it: &str| it.split_whitespace().map(str::to_owned).collect();
        let outline = if let Some((reads, touches)) = text.split_once("~>") {
            Outline { reads: names(reads), touches: names(touches), ..Outline::default() }
        } else {
            let (reads, binds) = text.split_once("->").unwrap_or((text, ""));
            Outline { reads: names(reads), binds: names(binds), ..Outline::default() }
        };
        (outline, failed)
    }

    #[track_caller]
    fn check(earlier: &[&str], later: &[&str], expected: &[bool]) {
        let steps = |it: &[&str]| it.iter().map(|it| step(it)).collect::<Vec<_>>();
        assert_eq!(needed(&steps(earlier), &steps(later)), expected);
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
    fn what_changes_a_variable_is_needed_and_so_is_what_made_it() {
        check(&["-> df", "df ~> df", "df"], &["df"], &[true, true, false]);
    }
}
