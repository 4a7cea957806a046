//! Thresholds: which values of a column are good, worth a warning, or bad.

use std::fmt::Write;

use csv_agent_types::catalog::{Catalog, Dataset};
use csv_agent_types::thresholds::Ratings;

use super::datasets::quoted;

const HEAD: &str = "\
Thresholds that the user set. If the question is about such a column, rate by them. For a verdict, csv-agent
rates single values of the column; give each group or total outside of the good range as a finding:
";

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
    notes.extend(all.iter().filter(|it| !is_known(it, catalog)).map(unknown));
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

fn is_known(threshold: &Threshold, catalog: &Catalog) -> bool {
    let mut datasets = threshold.datasets(catalog);
    datasets.any(|it| it.1.columns.iter().any(|it| it.name == threshold.column))
}

fn unknown(threshold: &Threshold) -> String {
    let place = match &threshold.dataset {
        Some(dataset) => format!("`{dataset}`"),
        None => "any dataset".to_owned(),
    };
    format!(
        "the thresholds of `{}` have no effect: there is no such column in {place}",
        threshold.column
    )
}
