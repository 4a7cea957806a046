//! Evidence of a finding: the call and the lines of the user's file. Also findings from thresholds, which
//! need no model.

use std::path::Path;

use csv_agent_session::directory::mending;
use csv_agent_types::catalog::{Catalog, Facts, Query};
use csv_agent_types::conversation::{Assessment, Finding};
use csv_agent_types::event::{FindingShown, Status};
use csv_agent_types::status::Failure;
use csv_agent_types::thresholds::{Rated, Ratings};

use crate::prompt::thresholds::Threshold;
use crate::turn::{Turn, TurnInterrupt};
use crate::{Agent, TurnContext};

impl Agent {
    /// Rates the values of the columns that have thresholds. Fails when the turn ends first, a dataset cannot
    /// be read, or the exit status depends on thresholds that rate nothing.
    pub(super) async fn rate(
        &self,
        context: &mut TurnContext<'_, '_>,
    ) -> Result<(), TurnInterrupt> {
        let mut found = Vec::new();
        let mut there = Vec::new();
        for threshold in &self.options.briefing.thresholds {
            // Thresholds of a dataset that the user left out of the question are correct. A warning says that they
            // have no effect.
            if self.depends_on_thresholds()
                && threshold.unknown(context.session.catalog()).is_some()
                && let Some(failure) = threshold.unknown(context.catalog)
            {
                return Err(anyhow::Error::from(failure).into());
            }
            for (name, dataset) in threshold.datasets(context.catalog) {
                if dataset.columns.iter().all(|it| it.name != threshold.column) {
                    continue;
                }
                let Some(path) = dataset.path().map(Path::to_owned) else {
                    there.push((name, dataset, threshold));
                    continue;
                };
                let query = Query::Rate {
                    path,
                    column: threshold.column.clone(),
                    ratings: threshold.ratings,
                };
                let dir = context.session.dir().to_owned();
                let reading =
                    tokio::task::spawn_blocking(move || csv_agent_ingest::answer(&query, &dir));
                let facts = context.turn.wait(reading).await?.map_err(anyhow::Error::from)??;
                let Facts::Rated(rated) = facts else { continue };
                match rated {
                    Some(rated) => {
                        found.extend(findings(name, dataset.row_count, threshold, rated));
                    }
                    None => self.tell_unrated(no_numbers(name, threshold), context.turn)?,
                }
            }
        }
        found.extend(self.rate_there(context.catalog, &there, context.turn).await?);
        // Most severe first.
        found.sort_by_key(|it| std::cmp::Reverse(it.severity));
        context.turn.record.rated = found;
        Ok(())
    }

    /// Returns whether thresholds decide the exit status.
    fn depends_on_thresholds(&self) -> bool {
        self.options.gates.fail_on.is_some()
    }

    /// Reports thresholds that rate nothing: a failure if they decide the exit status, else a warning. Fails if
    /// they do, and as [`Turn::emit`] does.
    pub(crate) fn tell_unrated(
        &self,
        failure: Failure,
        turn: &mut Turn,
    ) -> Result<(), TurnInterrupt> {
        if self.depends_on_thresholds() {
            return Err(anyhow::Error::from(failure).into());
        }
        turn.status(Status::Warning { code: "thresholds".to_owned(), message: failure.message })
    }
}

/// Returns the failure of thresholds for a column without numbers to rate.
pub(crate) fn no_numbers(name: &str, threshold: &Threshold) -> Failure {
    let column = &threshold.column;
    let hint = format!(
        "money and percentages become numbers with `csv-agent ingest FILE --dtype '{column}=money'` (or `=percent`)"
    );
    threshold
        .without_effect(&format!("the column `{column}` of `{name}` has no numbers"))
        .hint(hint)
}

/// Returns a finding each for the values in the bad range, in the warning range, and outside of the good one.
pub(crate) fn findings(
    name: &str,
    row_count: u64,
    threshold: &Threshold,
    rated: Rated,
) -> impl Iterator<Item = Finding> {
    let Ratings { good, warning, bad } = threshold.ratings;
    let told = [
        (Assessment::Bad, rated.bad, bad, "in the bad range"),
        (Assessment::Warning, rated.warning, warning, "in the warning range"),
        (Assessment::Warning, rated.outside, good, "outside of the good range"),
    ];
    let unit = threshold.unit.as_ref().map_or(String::new(), |it| format!(", in {it}"));
    told.into_iter().filter(|it| 0 < it.1.count).filter_map(
        move |(severity, hits, range, place)| {
            let rows = if row_count == 1 { "row" } else { "rows" };
            let have = if hits.count == 1 { "has" } else { "have" };
            let message = format!(
                "{} of {} {rows} {have} `{}` {place} ({}){unit}.",
                hits.count, row_count, threshold.column, range?
            );
            Some(Finding {
                dataset: Some(name.to_owned()),
                column: Some(threshold.column.clone()),
                rows: hits.rows,
                ..Finding::new(severity, message)
            })
        },
    )
}

/// Returns the findings of the thresholds and of the model, each with its evidence, and what is wrong with
/// the line maps.
pub(crate) fn shown(
    said: &[Finding],
    turn: &Turn,
    catalog: &Catalog,
    session_dir: &Path,
) -> (Vec<FindingShown>, Vec<String>) {
    let mut notes = Vec::new();
    // Findings from thresholds come from no call.
    let rated = turn.record.rated.iter().map(|it| (it, None));
    let said = said.iter().map(|it| (it, turn.record.call_of(it.table.as_deref())));
    let shown = rated.chain(said).map(|(finding, call_id)| {
        let mut finding = finding.clone();
        // With one dataset only, a finding about a row is about that dataset.
        if finding.dataset.is_none() && catalog.len() == 1 {
            finding.dataset = catalog.names().next().map(str::to_owned);
        }
        let dataset = finding.dataset.as_ref().and_then(|it| catalog.get(it));
        // Rows on a cluster have no numbers, and no local file has their lines.
        finding
            .rows
            .retain(|row| dataset.is_some_and(|it| it.remote().is_none() && *row < it.row_count));
        let here = dataset.filter(|it| it.remote().is_none());
        let lines = here.map(|it| csv_agent_ingest::source_lines(session_dir, it, &finding.rows));
        let source_lines = match lines {
            Some(Ok(lines)) => lines.unwrap_or_default(),
            Some(Err(error)) => {
                notes
                    .push(format!("{error:#}; repair the session with `{}`", mending(session_dir)));
                Vec::new()
            }
            None => Vec::new(),
        };
        let column = finding.column.as_deref();
        FindingShown {
            call_id,
            source_file: dataset.map(csv_agent_ingest::source_file).filter(|it| it != "-"),
            source_line: source_lines.first().copied(),
            source_cells: here
                .map(|it| csv_agent_ingest::source_cells(it, column, &source_lines))
                .unwrap_or_default(),
            source_lines,
            finding,
        }
    });
    (shown.collect(), notes)
}
