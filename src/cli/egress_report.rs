//! Egress reports, for people and for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use csv_agent_text::{
    digits::{count, number},
    sanitize,
};
use csv_agent_types::egress::{Egress, Record};

/// The name and version of the document.
const SCHEMA: &str = "csv-agent.egress/1";

/// Scheme of a cluster's address.
const CLUSTER: &str = "sc://";

/// Returns the egress of a turn and of all turns as one document.
pub(crate) fn document(turn: &str, record: &Record, total: &Record) -> Value {
    json!({"schema": SCHEMA, "turn_id": turn, "egress": record, "total": total})
}

/// Returns the egress of a turn as text, with a line on all turns.
pub(crate) fn text(turn: &str, record: &Record, total: &Record) -> String {
    let mut text = format!("Turn {turn}: {}\n", sentence(&record.all));
    let Egress { text_bytes, image_bytes, .. } = record.all;
    // Writing to a string cannot fail.
    if 0 < text_bytes {
        let bytes = number(text_bytes);
        let _ = writeln!(text, "- text outputs: {bytes} bytes, which may contain values");
    }
    if 0 < image_bytes {
        let _ = writeln!(text, "- images: {} bytes", number(image_bytes));
    }
    for (name, dataset) in &record.datasets {
        let columns = match &dataset.columns[..] {
            [] => "no columns".to_owned(),
            columns => columns.join(", "),
        };
        let _ = writeln!(text, "- {name}: {columns}; {}", count(dataset.rows, "row"));
    }
    let _ = writeln!(text, "All turns: {}", sentence(&total.all));
    sanitize::for_terminal(&text)
}

/// Returns the egress in one sentence without a full stop.
pub(crate) fn sentence(egress: &Egress) -> String {
    let (clusters, servers): (Vec<&str>, Vec<&str>) =
        egress.destinations.iter().map(String::as_str).partition(|it| it.starts_with(CLUSTER));
    let cluster = (!clusters.is_empty()).then(|| to_cluster(egress, &clusters));
    if egress.requests == 0 {
        return cluster.unwrap_or_else(|| "nothing was sent".to_owned());
    }
    let to = servers.join(", ");
    let (requests, bytes) = (count(egress.requests, "request"), number(egress.bytes));
    let columns = count(egress.columns.len() as u64, "column");
    let rows = count(egress.rows, "row");
    let mut sentence =
        format!("{requests} to {to}, {bytes} bytes, the names of {columns}, {rows} shown");
    let files = [
        (egress.uploads, egress.upload_bytes, "uploaded"),
        (egress.downloads, egress.download_bytes, "fetched"),
    ];
    for (n_files, n_bytes, what) in files {
        if 0 < n_files {
            let files = count(n_files, "file");
            // Writing to a string cannot fail.
            let _ = write!(sentence, ", {files} {what} ({})", count(n_bytes, "byte"));
        }
    }
    match cluster {
        Some(cluster) => format!("{sentence}; {cluster}"),
        None => sentence,
    }
}

/// Returns what was sent to the cluster of remote datasets.
fn to_cluster(egress: &Egress, clusters: &[&str]) -> String {
    let calls = count(egress.cluster_requests, "call");
    let sent = count(egress.cluster_sent_bytes, "byte");
    let received = number(egress.cluster_received_bytes);
    format!("{calls} to the cluster at {}, {sent}, and {received} received", clusters.join(", "))
}

#[cfg(test)]
mod tests {
    use super::sentence;
    use csv_agent_types::egress::Egress;

    #[track_caller]
    fn check(change: impl FnOnce(&mut Egress), end: &str) {
        let mut egress = Egress {
            destinations: vec!["https://host".to_owned()],
            requests: 2,
            bytes: 1_234,
            ..Egress::default()
        };
        change(&mut egress);
        let lead = "2 requests to https://host, 1,234 bytes, the names of 0 columns, 0 rows shown";
        assert_eq!(sentence(&egress), format!("{lead}{end}"));
    }

    #[test]
    fn files_are_told_where_there_are_any() {
        check(|_| {}, "");
        check(|it| (it.uploads, it.upload_bytes) = (1, 1_200), ", 1 file uploaded (1,200 bytes)");
        check(|it| (it.downloads, it.download_bytes) = (2, 1), ", 2 files fetched (1 byte)");
    }

    #[test]
    fn a_cluster_is_told_apart_from_who_answers() {
        let to = "3 calls to the cluster at sc://host:15002, 1,200 bytes, and 34,000 received";
        let called = |it: &mut Egress| {
            it.destinations.push("sc://host:15002".to_owned());
            it.cluster_requests = 3;
            it.cluster_sent_bytes = 1_200;
            it.cluster_received_bytes = 34_000;
        };
        check(called, &format!("; {to}"));
        let mut alone = Egress::default();
        called(&mut alone);
        assert_eq!(sentence(&alone), to);
    }
}
