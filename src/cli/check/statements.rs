//! Which statement decides a rule: its own, or the one that its claim was compiled to.

use std::collections::HashMap;
use std::path::Path;

use csv_agent_render::report::checks::RuleOutcome;
use csv_agent_session::Session;
use csv_agent_types::catalog::Catalog;
use csv_agent_types::status::Failure;

use super::compile::{Compiled, compile, with_fixed_form};
use super::decide::{DATA_HINT, RuleStatement, text_cause};
use super::file::{CheckRule, RuleBody, USUAL};
use super::lock::{ChecksLock, CompiledClaim};
use super::{model, proof};
use crate::diagnostics;
use crate::options::GlobalOptions;
use crate::options::settings::Settings;

/// The claims that were compiled, and why others were not.
pub(super) struct Statements<'a> {
    checks: &'a Path,
    lock: ChecksLock,
    /// Claims that were refused now, with the reasons.
    refused: HashMap<String, String>,
}

impl<'a> Statements<'a> {
    /// Reads the lock of a file of rules.
    pub(super) fn read(checks: &'a Path) -> anyhow::Result<Statements<'a>> {
        let lock = ChecksLock::read(&ChecksLock::path_of(checks))?;
        Ok(Statements { checks, lock, refused: HashMap::new() })
    }

    /// Compiles the claims that have no statement, or one for data that is not there any more, and writes the
    /// lock. Claims that no rule makes are dropped from it, and a statement stays until its claim has another: its
    /// column may come back. Fails when no claim can be compiled, or the lock
    /// cannot be written.
    pub(super) fn update(
        &mut self,
        rules: &[CheckRule],
        session: &mut Session,
        settings: &Settings,
        options: &GlobalOptions,
    ) -> anyhow::Result<()> {
        let mut claims: Vec<&str> = Vec::new();
        for claim in rules.iter().filter_map(CheckRule::claim) {
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        let is_open = |it: &&str| self.usable(it, session.catalog()).is_err();
        let open: Vec<&str> = claims.iter().copied().filter(is_open).collect();
        let compiled = compiled(&open, session, settings, options)?;
        let mut new: HashMap<String, CompiledClaim> = HashMap::new();
        for (claim, compiled) in open.iter().zip(compiled) {
            match compiled {
                Ok(compiled) => drop(new.insert((*claim).to_owned(), compiled)),
                Err(reason) => drop(self.refused.insert((*claim).to_owned(), reason)),
            }
        }
        let known = |it: &&str| new.remove(*it).or_else(|| self.lock.get(it).cloned());
        let lock = ChecksLock::of(claims.iter().filter_map(known).collect());
        let path = ChecksLock::path_of(self.checks);
        if !claims.is_empty() || path.exists() {
            lock.write(&path)?;
            if options.has_notes() {
                diagnostics::note(&format!("wrote `{}`", path.display()));
            }
        }
        self.lock = lock;
        Ok(())
    }

    /// Demands that the lock has no claims but those of the rules. Fails with `FailureKind::Contract` when it
    /// has others.
    pub(super) fn demand_current(&self, rules: &[CheckRule]) -> anyhow::Result<()> {
        let claims: Vec<&str> = rules.iter().filter_map(CheckRule::claim).collect();
        let Some(claim) = self.lock.left_over(&claims) else { return Ok(()) };
        let path = ChecksLock::path_of(self.checks);
        // A claim in other words is a new one.
        let new = claims.into_iter().find(|it| self.lock.get(it).is_none());
        let (message, does) = match new {
            Some(new) => (
                format!(
                    "`{}` has no statement for `{new}`, and one for `{claim}`, which no rule makes",
                    path.display()
                ),
                "compiles the one and removes the other",
            ),
            None => {
                (format!("no rule makes the claim `{claim}` of `{}`", path.display()), "removes it")
            }
        };
        let hint = format!("`{}` {does}", self.command());
        Err(Failure::contract(message).hint(hint).into())
    }

    /// Returns the statement of a rule on these datasets, or why there is none.
    pub(super) fn of(
        &self,
        rule: &CheckRule,
        catalog: &Catalog,
    ) -> Result<RuleStatement, RuleOutcome> {
        match &rule.body {
            RuleBody::Sql(sql) => Ok(RuleStatement { sql: sql.clone(), reading: None }),
            RuleBody::Claim(claim) => {
                match (self.usable(claim, catalog), self.refused.get(claim)) {
                    (Ok(found), _) => {
                        let (reading, by) = (found.reading.clone(), found.by.clone());
                        Ok(RuleStatement { sql: found.sql.clone(), reading: Some((reading, by)) })
                    }
                    (Err(_), Some(refused)) => {
                        let words = "say it in other words, write the rule as `sql`, or let a model compile it: \
                                     `--model NAME`";
                        let (reason, hint) = match text_cause(claim, catalog) {
                            Some(cause) => (format!("{refused} ({cause})"), DATA_HINT),
                            None => (refused.clone(), words),
                        };
                        Err(RuleOutcome::Undecided(reason, Some(hint.to_owned())))
                    }
                    (Err(reason), None) => {
                        let hint = format!(
                            "`{}` compiles the claim, or says why it cannot",
                            self.command()
                        );
                        Err(RuleOutcome::Undecided(reason, Some(hint)))
                    }
                }
            }
        }
    }

    /// Returns a claim whose statement the data fits, or why there is none.
    fn usable(&self, claim: &str, catalog: &Catalog) -> Result<&CompiledClaim, String> {
        let path = ChecksLock::path_of(self.checks);
        let Some(found) = self.lock.get(claim) else {
            return Err(format!("`{}` has no statement for this claim", path.display()));
        };
        match found.lost(catalog) {
            Some(column) => {
                Err(format!("the column `{column}`, which the claim is about, no longer exists"))
            }
            None => Ok(found),
        }
    }

    /// Returns the command that compiles claims.
    fn command(&self) -> String {
        match self.checks.display().to_string() {
            usual if usual == USUAL => "csv-agent check --update".to_owned(),
            other => format!("csv-agent check --update {other}"),
        }
    }
}

/// Compiles claims: as claims of a fixed form, by the built-in analyst where it is sure, or by the model, if
/// one is configured. A statement that nothing breaks is refused. Fails when no claim can be compiled.
fn compiled(
    claims: &[&str],
    session: &mut Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<Vec<Compiled>> {
    if claims.is_empty() {
        return Ok(Vec::new());
    }
    // A form has a place for each word, and the analyst guesses more.
    let formed = with_fixed_form(claims, session, settings)?;
    let others = claims.iter().zip(&formed).filter(|it| it.1.is_none()).map(|it| *it.0);
    let others: Vec<&str> = others.collect();
    let mut read = compile(&others, session, settings, options)?.into_iter();
    let mut compiled: Vec<Compiled> =
        formed.into_iter().filter_map(|it| it.or_else(|| read.next())).collect();
    let sure: Vec<&CompiledClaim> = compiled.iter().flatten().collect();
    let refusals = proof::refusals(&sure, session, settings)?;
    for (claim, refusal) in compiled.iter_mut().filter(|it| it.is_ok()).zip(refusals) {
        if let Some(reason) = refusal {
            *claim = Err(reason);
        }
    }
    let open = claims.iter().zip(&compiled).filter(|it| it.1.is_err()).map(|it| *it.0);
    let open: Vec<&str> = open.collect();
    if !open.is_empty() && model::is_configured(settings)? {
        let written = model::compile(&open, session, settings, options)?;
        for (claim, other) in compiled.iter_mut().filter(|it| it.is_err()).zip(written) {
            *claim = other;
        }
    }
    Ok(compiled)
}
