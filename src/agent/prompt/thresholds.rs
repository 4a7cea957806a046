//! Thresholds: which values of a column are good, worth a warning, or bad.

use std::fmt::Write;

use csv_agent_text::lists;
use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::chosen::none;
use csv_agent_types::dataset_names::nearest;
use csv_agent_types::status::Failure;
use csv_agent_types::thresholds::Ratings;

use super::datasets::quoted;

const HEAD: &str = "\
Thresholds that the user set. If the question is about such a column, rate by them. For a verdict, csv-agent
rates single values of the column; give each group or total outside of the good range as a finding:
";

/// Number of columns in a hint.
const COLUMNS_SHOWN_MAX: usize = 10;

/// The ranges of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The dataset; when None, every dataset with the column.
    pub dataset: Option<String>,
    /// The column.
    pub column: String,
    /// Which values are good, worth a warning, or bad.
    pub ratings: Ratings,
    /// The unit of the values.
    pub unit: Option<String>,
}

impl Threshold {
    /// Returns the datasets that it applies to.
    pub(crate) fn datasets<'a>(
        &self,
        catalog: &'a Catalog,
    ) -> impl Iterator<Item = (&'a str, &'a Dataset)> {
        // One name is looked up once: a form that no dataset has is compared with all.
        let meant = self.dataset.as_ref().map(|it| catalog.meant(it));
        let one = meant.flatten().and_then(|name| Some((name, catalog.get(name)?)));
        let all = meant.is_none().then(|| catalog.iter());
        all.into_iter().flatten().chain(one)
    }

    /// Returns the failure of thresholds that rate nothing, for this reason.
    pub(crate) fn without_effect(&self, reason: &str) -> Failure {
        let place = self.dataset.as_ref().map_or(String::new(), |it| format!("{it}."));
        let message = format!("the thresholds `[{place}{}]` have no effect: {reason}", self.column);
        Failure::input(message)
    }

    /// Returns why they rate nothing in a catalog: there is no such dataset or column. The hint has the nearest name.
    pub(crate) fn unknown(&self, catalog: &Catalog) -> Option<Failure> {
        let found: Vec<_> = self.datasets(catalog).collect();
        let columns = || found.iter().flat_map(|it| &it.1.columns).map(|it| it.name.as_str());
        if columns().any(|it| it == self.column) {
            return None;
        }
        let (reason, hint) = match (&self.dataset, &found[..]) {
            (Some(dataset), []) => {
                let none = none(catalog, dataset);
                (none.message, none.hint.unwrap_or_default())
            }
            (dataset, _) => {
                let place = dataset
                    .as_ref()
                    .map_or("no dataset has a".to_owned(), |_| format!("`{}` has no", found[0].0));
                let reason = format!("{place} column `{}`", self.column);
                let hint = match nearest(&self.column, columns()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the columns are {}", listed(columns())),
                };
                (reason, hint)
            }
        };
        Some(self.without_effect(&reason).hint(hint))
    }
}

/// Writes the thresholds in at most `bytes_max` bytes plus about a hundred around them; empty when there
/// are none. `notes` gets those left out and those whose column does not exist.
pub fn thresholds(
    all: &[Threshold],
    catalog: &Catalog,
    bytes_max: usize,
    notes: &mut Vec<String>,
) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut text = HEAD.to_owned();
    for (at, threshold) in all.iter().enumerate() {
        let line = line(threshold);
        if HEAD.len() + bytes_max < text.len() + line.len() {
            let n = all.len() - at;
            let _ = writeln!(text, "({n} more are left out.)");
            notes.push(format!(
                "the model does not read the last {n} thresholds: there are too many"
            ));
            break;
        }
        text.push_str(&line);
    }
    for threshold in all {
        let Some(failure) = threshold.unknown(catalog) else { continue };
        // A dataset that is left out of the question may be meant, and no other name is then right.
        let is_there = threshold.datasets(catalog).next().is_some();
        let hint = failure.hint.filter(|_| is_there).map_or(String::new(), |it| format!("; {it}"));
        notes.push(failure.message + &hint);
    }
    text
}

fn line(threshold: &Threshold) -> String {
    let column = quoted(&threshold.column);
    let mut line = match &threshold.dataset {
        Some(dataset) => format!("- {column} of {}", quoted(dataset)),
        None => format!("- {column}"),
    };
    let Ratings { good, warning, bad } = threshold.ratings;
    let ranges = [("good", good), ("warning", warning), ("bad", bad)];
    let told = ranges.into_iter().filter_map(|(name, range)| Some(format!("{name} {}", range?)));
    let _ = write!(line, ": {}", told.collect::<Vec<_>>().join("; "));
    if let Some(unit) = &threshold.unit {
        let _ = write!(line, " (in {})", quoted(unit));
    }
    line + "\n"
}

/// Lists the first names, each once.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.dedup();
    lists::names(names, COLUMNS_SHOWN_MAX)
}
