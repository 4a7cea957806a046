//! Rules become results: all of them are queries of one run of the engine.

use jiff::Timestamp;

use csv_agent_ingest::rows;
use csv_agent_query::{Prepared, RowOrigin, SqlError, TableSchema, prepare};
use csv_agent_render::report::checks::{RuleOutcome, RuleReport};
use csv_agent_session::Session;
use csv_agent_types::limits::FINDING_ROWS_MAX;
use csv_agent_types::status::{ExitStatus, Failure};
use csv_agent_worker::engine::table_of;

use super::file::{Rule, RuleBody};
use super::places::Places;
use crate::engine;
use crate::options::GlobalOptions;
use crate::options::settings::Settings;

/// A rule that the engine can run.
struct PreparedRule {
    prepared: Prepared,
    origin: Option<RowOrigin>,
}

/// Decides rules on the datasets of a session.
///
/// # Errors
///
/// Fails when no query can be run.
pub(super) fn decide(
    rules: &[Rule],
    session: &mut Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<Vec<RuleReport>> {
    let tables: Vec<TableSchema> =
        session.catalog().iter().map(|(name, it)| table_of(name, it)).collect();
    let now = Timestamp::now().as_microsecond();
    let prepared: Vec<Result<PreparedRule, RuleOutcome>> =
        rules.iter().map(|it| prepared(it, &tables, now)).collect();
    let queries = prepared.iter().flatten().map(|it| it.prepared.query.clone());
    let files = engine::files_of(session.dir(), session.catalog(), "check")?;
    let (results, outcomes) = engine::run_each(queries, files, settings)?;
    let mut results = results.paths.iter().zip(outcomes);
    let mut places = Places::new(session, options);
    let mut reports = Vec::new();
    for (rule, prepared) in rules.iter().zip(prepared) {
        let ready = match prepared {
            Ok(ready) => ready,
            Err(undecided) => {
                reports.push(rule.report(undecided));
                continue;
            }
        };
        let Some((path, outcome)) = results.next() else { break };
        let report = match outcome {
            Ok(duration) => {
                let found = rows(path, 0, FINDING_ROWS_MAX)?;
                let outcome = match found.row_count {
                    0 => RuleOutcome::Kept,
                    n_rows => {
                        RuleOutcome::Broken(n_rows, places.located(found, ready.origin.as_ref())?)
                    }
                };
                RuleReport { duration, ..rule.report(outcome) }
            }
            Err(failure) => rule.report(undecided(failure)?),
        };
        reports.push(report);
    }
    Ok(reports)
}

/// Prepares a rule, with the rows that its results come from.
fn prepared(rule: &Rule, tables: &[TableSchema], now: i64) -> Result<PreparedRule, RuleOutcome> {
    let RuleBody::Sql(sql) = &rule.body else {
        let reason = "rules in words cannot be run yet".to_owned();
        return Err(RuleOutcome::Undecided(reason, Some("write it as `sql`".to_owned())));
    };
    let refused = |it: SqlError| RuleOutcome::Undecided(it.to_string(), it.hint);
    let mut prepared = prepare(sql, tables, now).map_err(refused)?;
    let origin = prepared.with_row_origin();
    Ok(PreparedRule { prepared, origin })
}

/// Returns the result of a rule whose query failed.
///
/// # Errors
///
/// Fails when the engine itself cannot run.
fn undecided(failure: Failure) -> anyhow::Result<RuleOutcome> {
    if failure.status == ExitStatus::Sandbox {
        return Err(failure.into());
    }
    Ok(RuleOutcome::Undecided(failure.message, failure.hint))
}
