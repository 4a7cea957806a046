//! Rules become results: all of them are queries of one run of the engine.

use std::time::Duration;

use jiff::Timestamp;

use csv_agent_ingest::rows;
use csv_agent_query::{Prepared, RowOrigin, SqlError, TableSchema, prepare_with_empty_columns};
use csv_agent_render::report::checks::{RuleOutcome, RuleReport};
use csv_agent_session::Session;
use csv_agent_types::catalog::{Catalog, DType};
use csv_agent_types::limits::FINDING_ROWS_MAX;
use csv_agent_types::status::{Failure, FailureKind};
use csv_agent_worker::engine::{is_empty_column, table_of};

use super::file::CheckRule;
use crate::engine::{self, EachRun};
use crate::options::GlobalOptions;
use crate::options::settings::Settings;
use crate::row_places::RowPlaces;

/// What to do about a column that is text because of some of its values.
pub(super) const DATA_HINT: &str =
    "correct the data, or read the column in another way under `[data]`";

/// The statement that decides a rule.
pub(super) struct RuleStatement {
    /// It returns the rows that break the rule.
    pub sql: String,
    /// How the words of the rule were read, and by whom, if it has words.
    pub reading: Option<(String, String)>,
}

/// A rule that the engine can run.
struct PreparedRule {
    prepared: Prepared,
    origin: Option<RowOrigin>,
}

/// Decides rules on the datasets of a session, each by its statement, if it has one. A signal leaves the rest
/// undecided, and is returned. Fails when no query can be run.
pub(super) fn decide(
    rules: &[(&CheckRule, Result<RuleStatement, RuleOutcome>)],
    session: &mut Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<(Vec<RuleReport>, Option<Failure>)> {
    let tables: Vec<TableSchema> =
        session.catalog().iter().map(|(name, it)| table_of(name, it)).collect();
    let now = Timestamp::now().as_microsecond();
    let ready = |statement: &Result<RuleStatement, RuleOutcome>| match statement {
        Ok(statement) => prepared(&statement.sql, &tables, session.catalog(), now)
            .map_err(|it| refused(it, session.catalog(), &statement.sql)),
        Err(undecided) => Err(undecided.clone()),
    };
    let prepared: Vec<Result<PreparedRule, RuleOutcome>> =
        rules.iter().map(|it| ready(&it.1)).collect();
    let queries = prepared.iter().flatten().map(|it| it.prepared.query.clone());
    let files = engine::files_of(session.dir(), session.catalog(), "check")?;
    let EachRun { results, outcomes, interrupted } = engine::run_each(queries, files, settings)?;
    let mut results = results.paths.iter().zip(outcomes);
    let mut places = RowPlaces::new(session, options);
    let mut reports = Vec::new();
    for ((rule, statement), prepared) in rules.iter().zip(prepared) {
        let (duration, outcome) = match prepared {
            Err(undecided) => (Duration::ZERO, undecided),
            Ok(ready) => {
                match results.next() {
                    // A signal came first.
                    None => {
                        let reason = RuleOutcome::Undecided("interrupted".to_owned(), None);
                        (Duration::ZERO, reason)
                    }
                    Some((_, Err(failure))) => (Duration::ZERO, undecided(failure)?),
                    Some((path, Ok(duration))) => {
                        let found = rows(path, 0, FINDING_ROWS_MAX)?;
                        let n_rows = found.row_count;
                        let rows = places.located(found, ready.origin.as_ref())?;
                        let is_kept = n_rows == 0;
                        let broken = RuleOutcome::Broken(n_rows, rows);
                        (duration, if is_kept { RuleOutcome::Kept } else { broken })
                    }
                }
            }
        };
        let mut report = RuleReport { duration, ..rule.report(outcome) };
        if let Ok(RuleStatement { sql, reading }) = statement {
            report.sql = Some(sql.clone());
            (report.reading, report.compiled_by) = reading.clone().unzip();
        }
        reports.push(report);
    }
    Ok((reports, interrupted))
}

/// Prepares a statement, with the rows that its results come from.
fn prepared(
    sql: &str,
    tables: &[TableSchema],
    catalog: &Catalog,
    now: i64,
) -> Result<PreparedRule, SqlError> {
    let is_empty = |dataset: &str, column: &str| is_empty_column(catalog, dataset, column);
    let mut prepared = prepare_with_empty_columns(sql, tables, is_empty, now)?;
    let origin = prepared.with_row_origin();
    Ok(PreparedRule { prepared, origin })
}

/// Returns the result of a refused statement, with the values that made its column text, if that is why.
fn refused(error: SqlError, catalog: &Catalog, sql: &str) -> RuleOutcome {
    let reason = error.to_string();
    let is_type = error.message.contains("text") && !error.is_unknown_name;
    let (line, column) = error.position.unwrap_or((1, 1));
    let skipped = |n: u64| usize::try_from(n.saturating_sub(1)).unwrap_or(usize::MAX);
    let lines: String = sql.split_inclusive('\n').skip(skipped(line)).collect();
    let rest: String = lines.chars().skip(skipped(column)).collect();
    match text_cause(&rest, catalog).filter(|_| is_type) {
        Some(cause) => {
            RuleOutcome::Undecided(format!("{cause} ({reason})"), Some(DATA_HINT.to_owned()))
        }
        None => RuleOutcome::Undecided(reason, error.hint),
    }
}

/// Returns why the text column that these words name first is text, if its values look like those of another type.
pub(super) fn text_cause(words: &str, catalog: &Catalog) -> Option<String> {
    let words = words.to_lowercase();
    let columns = catalog.iter().flat_map(|(name, it)| it.columns.iter().map(move |it| (name, it)));
    let text = columns.filter(|it| it.1.dtype == DType::String);
    let noted = text.filter_map(|(dataset, column)| {
        let note = column.note.as_deref()?.strip_prefix("text: ")?;
        let name = column.name.to_lowercase();
        let place =
            place_of(&name, &words).or_else(|| place_of(&name.replace('_', " "), &words))?;
        Some((place, dataset, column, note))
    });
    let (_, dataset, column, note) = noted.min_by_key(|it| it.0)?;
    Some(format!("column `{}` of `{dataset}` is text: {note}", column.name))
}

/// Returns where words have a name, also in the plural. A part of another name is not it.
fn place_of(name: &str, words: &str) -> Option<usize> {
    let is_apart = |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric() && it != '_');
    let mut places = words.match_indices(name).map(|it| it.0);
    places.find(|at| {
        let (before, after) = (&words[..*at], &words[at + name.len()..]);
        let after = after.strip_prefix('s').unwrap_or(after);
        is_apart(before.chars().next_back()) && is_apart(after.chars().next())
    })
}

/// Returns the result of a rule whose query failed. Fails when the engine itself cannot run.
fn undecided(failure: Failure) -> anyhow::Result<RuleOutcome> {
    if failure.kind == FailureKind::Sandbox {
        return Err(failure.into());
    }
    Ok(RuleOutcome::Undecided(failure.message, failure.hint))
}
