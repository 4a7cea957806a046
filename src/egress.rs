//! What of the data left the machine: the record of a turn, and of all of them.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

/// What left the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Egress {
    /// Scheme, host and port of each server; empty when nothing was sent.
    pub destinations: Vec<String>,
    /// Requests, with those that failed and were sent again.
    pub requests: u64,
    /// Columns whose names were sent, and their values perhaps, as `dataset.column`.
    pub columns: Vec<String>,
    /// Rows of tables whose values were shown, of datasets and of what was computed from them.
    pub rows: u64,
    /// Bytes of the bodies of all requests.
    pub bytes: u64,
    /// Bytes of outputs that are text: what code printed, errors, older turns that were summarised. Values
    /// may stand in them that no row counts.
    pub text_bytes: u64,
    /// Bytes of images, as they were sent.
    pub image_bytes: u64,
}

/// What left the machine of one dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatasetEgress {
    /// Names that were sent, in the order of the dataset.
    pub columns: Vec<String>,
    /// Rows of tables that have no columns but those of the dataset.
    pub rows: u64,
    /// Bytes of the requests that name the dataset.
    pub bytes: u64,
}

/// What left the machine, and of which dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// In all.
    #[serde(flatten)]
    pub all: Egress,
    /// Of each dataset that was named.
    pub datasets: BTreeMap<String, DatasetEgress>,
}

impl Record {
    /// Adds another record. A row that was shown in both counts twice.
    pub fn add(&mut self, other: &Record) {
        let Egress { destinations, requests, columns, rows, bytes, text_bytes, image_bytes } =
            &other.all;
        let all = &mut self.all;
        add_names(&mut all.destinations, destinations);
        add_names(&mut all.columns, columns);
        all.requests = all.requests.saturating_add(*requests);
        all.rows = all.rows.saturating_add(*rows);
        all.bytes = all.bytes.saturating_add(*bytes);
        all.text_bytes = all.text_bytes.saturating_add(*text_bytes);
        all.image_bytes = all.image_bytes.saturating_add(*image_bytes);
        for (name, more) in &other.datasets {
            let dataset = self.datasets.entry(name.clone()).or_default();
            add_names(&mut dataset.columns, &more.columns);
            dataset.rows = dataset.rows.saturating_add(more.rows);
            dataset.bytes = dataset.bytes.saturating_add(more.bytes);
        }
    }
}

fn add_names(names: &mut Vec<String>, more: &[String]) {
    let known: HashSet<String> = names.iter().cloned().collect();
    names.extend(more.iter().filter(|it| !known.contains(*it)).cloned());
}

#[cfg(test)]
mod tests {
    use super::{Egress, Record};

    #[test]
    fn records_add_up() {
        let one = Record {
            all: Egress { columns: vec!["a.b".into()], rows: 1, ..Egress::default() },
            ..Record::default()
        };
        let mut sum = one.clone();
        sum.add(&one);
        assert_eq!((sum.all.columns.len(), sum.all.rows), (1, 2));
    }
}
