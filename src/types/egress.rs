//! Egress: what of the data left the machine, per turn and in total.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

/// What left the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Egress {
    /// Scheme, host and port of each server, including a cluster; empty when nothing was sent.
    pub destinations: Vec<String>,
    /// Requests, including retries, and calls about files and containers.
    pub requests: u64,
    /// Columns whose names, and perhaps values, were sent, as `dataset.column`.
    pub columns: Vec<String>,
    /// Rows of tables whose values were sent, from datasets or computed from them; all rows of an uploaded
    /// dataset.
    pub rows: u64,
    /// Bytes of all request bodies; for an upload, the size of the file.
    pub bytes: u64,
    /// Bytes of outputs as text: printed text, errors, older turns that were summarised. It may contain
    /// values that no row counts.
    pub text_bytes: u64,
    /// Bytes of images, as they were sent.
    pub image_bytes: u64,
    /// Uploaded files, including retries.
    pub uploads: u64,
    /// Bytes of these files.
    pub upload_bytes: u64,
    /// Fetched files that hosted code made.
    pub downloads: u64,
    /// Bytes of these files.
    pub download_bytes: u64,
    /// Calls to the cluster of remote datasets.
    pub cluster_requests: u64,
    /// Bytes of these calls: plans, and local frames that are joined in.
    pub cluster_sent_bytes: u64,
    /// Bytes received from the cluster. They stay on this machine; `rows` counts what was sent to the
    /// model.
    pub cluster_received_bytes: u64,
}

impl Egress {
    /// Returns whether nothing was sent.
    pub fn is_nothing(&self) -> bool {
        *self == Egress::default()
    }
}

/// The egress of one dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatasetEgress {
    /// Names that were sent, in the dataset's order.
    pub columns: Vec<String>,
    /// Rows of tables that consist of columns of the dataset only; all of its rows once it was uploaded.
    pub rows: u64,
    /// Bytes of the requests that name the dataset, and of its uploads.
    pub bytes: u64,
}

/// The egress in total and per dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// In total.
    #[serde(flatten)]
    pub all: Egress,
    /// For each dataset that was named.
    pub datasets: BTreeMap<String, DatasetEgress>,
}

impl Record {
    /// Adds another record. A row sent in both counts twice.
    pub fn add(&mut self, other: &Record) {
        let Egress { destinations, requests, columns, rows, bytes, .. } = &other.all;
        let Egress { text_bytes, image_bytes, .. } = &other.all;
        let Egress { uploads, upload_bytes, downloads, download_bytes, .. } = &other.all;
        let Egress { cluster_requests, cluster_sent_bytes, cluster_received_bytes, .. } =
            &other.all;
        let all = &mut self.all;
        add_names(&mut all.destinations, destinations);
        add_names(&mut all.columns, columns);
        all.requests = all.requests.saturating_add(*requests);
        all.rows = all.rows.saturating_add(*rows);
        all.bytes = all.bytes.saturating_add(*bytes);
        all.text_bytes = all.text_bytes.saturating_add(*text_bytes);
        all.image_bytes = all.image_bytes.saturating_add(*image_bytes);
        all.uploads = all.uploads.saturating_add(*uploads);
        all.upload_bytes = all.upload_bytes.saturating_add(*upload_bytes);
        all.downloads = all.downloads.saturating_add(*downloads);
        all.download_bytes = all.download_bytes.saturating_add(*download_bytes);
        all.cluster_requests = all.cluster_requests.saturating_add(*cluster_requests);
        all.cluster_sent_bytes = all.cluster_sent_bytes.saturating_add(*cluster_sent_bytes);
        all.cluster_received_bytes =
            all.cluster_received_bytes.saturating_add(*cluster_received_bytes);
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
            all: Egress {
                columns: vec!["a.b".into()],
                rows: 1,
                uploads: 2,
                upload_bytes: 3,
                downloads: 4,
                download_bytes: 5,
                cluster_requests: 6,
                cluster_sent_bytes: 7,
                cluster_received_bytes: 8,
                ..Egress::default()
            },
            ..Record::default()
        };
        let mut sum = one.clone();
        sum.add(&one);
        assert_eq!((sum.all.columns.len(), sum.all.rows), (1, 2));
        let Egress { uploads, upload_bytes, downloads, download_bytes, .. } = sum.all;
        assert_eq!((uploads, upload_bytes, downloads, download_bytes), (4, 6, 8, 10));
        let Egress { cluster_requests, cluster_sent_bytes, cluster_received_bytes, .. } = sum.all;
        assert_eq!((cluster_requests, cluster_sent_bytes, cluster_received_bytes), (12, 14, 16));
    }
}
