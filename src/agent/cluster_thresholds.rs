//! Rates datasets on a cluster by the thresholds: counted there, one job per column.

use anyhow::Context;
use serde::Deserialize;
use serde_json::{Value, json};

use csv_agent_types::catalog::{Catalog, DType, Dataset};
use csv_agent_types::conversation::Finding;
use csv_agent_types::thresholds::{Hits, Range, Rated, Ratings};
use csv_agent_worker::trusted_script::Study;

use crate::Agent;
use crate::cluster::ClusterLink;
use crate::finding_locations::{findings, no_numbers};
use crate::progress::teller;
use crate::prompt::thresholds::Threshold;
use crate::remote::{StudyAnswer, brief};
use crate::turn::{Turn, TurnInterrupt};

/// Counts values. It runs in a worker of its own, without any model code.
const PROGRAM: &str = include_str!("count.py");

/// Counts of one column, and of all rows of the dataset.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    rows: u64,
    bad: u64,
    warning: u64,
    outside: u64,
}

impl Agent {
    /// Rates the values of columns on a cluster. Rows have no numbers there, so findings name none. Fails when
    /// the turn ends first, or the cluster fails. A column that cannot be counted is reported.
    pub(super) async fn rate_there(
        &self,
        catalog: &Catalog,
        about: &[(&str, &Dataset, &Threshold)],
        turn: &mut Turn<'_>,
    ) -> Result<Vec<Finding>, TurnInterrupt> {
        if about.is_empty() {
            return Ok(Vec::new());
        }
        let Some((mut link, cluster)) = ClusterLink::start(catalog, &self.options.cluster, turn)?
        else {
            return Ok(Vec::new());
        };
        link.open(turn)?;
        let (python, sandbox) = (&self.options.python, &self.options.sandbox);
        let mut tell = teller(turn.progress());
        let starting = Box::pin(Study::at_cluster(python, sandbox, cluster, &mut tell));
        let started = turn.wait(starting).await;
        let counted = match started {
            Ok(Ok(mut study)) => self.count_all(&mut study, &mut link, about, turn).await,
            Ok(Err(error)) => Err(error.into()),
            Err(ended) => Err(ended),
        };
        // The worker is gone by now, and its jobs need not continue.
        link.stop().await;
        counted
    }

    async fn count_all(
        &self,
        study: &mut Study,
        link: &mut ClusterLink,
        about: &[(&str, &Dataset, &Threshold)],
        turn: &mut Turn<'_>,
    ) -> Result<Vec<Finding>, TurnInterrupt> {
        let mut found = Vec::new();
        for (name, dataset, threshold) in about {
            let column = dataset.columns.iter().find(|it| it.name == threshold.column);
            if !column.is_some_and(|it| matches!(it.dtype, DType::Int64 | DType::Float64)) {
                self.tell_unrated(no_numbers(name, threshold), turn)?;
                continue;
            }
            let input = input(name, threshold);
            let counting = link.hearing(study.ask(PROGRAM, &input), turn.progress());
            let answer = turn.wait_sent(counting).await?.and_then(|it| {
                serde_json::from_value(it).context("what the cluster counted cannot be read")
            });
            let counted: Counted = match answer {
                Ok(StudyAnswer::Found(counted)) => counted,
                Ok(StudyAnswer::Error { text, .. }) => {
                    link.blame()?;
                    let reason = format!(
                        "the cluster cannot count the values of `{}` in `{name}`: {}",
                        threshold.column,
                        brief(&text)
                    );
                    self.tell_unrated(threshold.without_effect(&reason), turn)?;
                    continue;
                }
                Err(error) => {
                    link.blame()?;
                    return Err(error.into());
                }
            };
            let hits = |count: u64| Hits { count, rows: Vec::new() };
            let Counted { rows, bad, warning, outside } = counted;
            let rated = Rated { bad: hits(bad), warning: hits(warning), outside: hits(outside) };
            found.extend(findings(name, rows, threshold, rated));
        }
        Ok(found)
    }
}

fn input(name: &str, threshold: &Threshold) -> Value {
    let Ratings { good, warning, bad } = threshold.ratings;
    json!({"dataset": name, "column": threshold.column, "good": bounds(good),
        "warning": bounds(warning), "bad": bounds(bad)})
}

/// Returns the comparisons that define a range; empty without a range.
fn bounds(range: Option<Range>) -> Vec<(&'static str, f64)> {
    let Some(Range { low, high }) = range else { return Vec::new() };
    let low = low.map(|(it, has)| (if has { ">=" } else { ">" }, it));
    let high = high.map(|(it, has)| (if has { "<=" } else { "<" }, it));
    low.into_iter().chain(high).collect()
}

#[cfg(test)]
mod tests {
    use super::bounds;
    use csv_agent_types::thresholds::Range;

    #[test]
    fn a_range_is_asked_for_as_its_comparisons() {
        assert_eq!(bounds(None), []);
        assert_eq!(bounds(Some(Range::parse("5..10").unwrap())), [(">=", 5.0), ("<", 10.0)]);
        assert_eq!(bounds(Some(Range::parse("= 3").unwrap())), [(">=", 3.0), ("<=", 3.0)]);
        assert_eq!(bounds(Some(Range::parse("> 1").unwrap())), [(">", 1.0)]);
    }
}
