//! What left the machine, for eyes and for programs.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::egress::{Egress, Record};
use crate::render::digits::{count, number};
use crate::render::sanitize;

/// The name and version of the document.
const SCHEMA: &str = "csv-agent.egress/1";

/// Returns the record of a turn and that of all turns as one document.
pub fn document(turn: &str, record: &Record, total: &Record) -> Value {
    json!({"schema": SCHEMA, "turn_id": turn, "egress": record, "total": total})
}

/// Returns the record of a turn as text, with a line on all turns.
pub fn text(turn: &str, record: &Record, total: &Record) -> String {
    let mut text = format!("Turn {turn}: {}\n", sentence(&record.all));
    let Egress { text_bytes, image_bytes, .. } = record.all;
    // Writing to a string cannot fail.
    if 0 < text_bytes {
        let bytes = number(text_bytes);
        let _ = writeln!(text, "- outputs that are text: {bytes} bytes, in which values may stand");
    }
    if 0 < image_bytes {
        let _ = writeln!(text, "- images: {} bytes", number(image_bytes));
    }
    for (name, dataset) in &record.datasets {
        let columns = match &dataset.columns[..] {
            [] => "no column".to_owned(),
            columns => columns.join(", "),
        };
        let _ = writeln!(text, "- {name}: {columns}; {}", count(dataset.rows, "row"));
    }
    let _ = writeln!(text, "All turns: {}", sentence(&total.all));
    sanitize::for_terminal(&text)
}

/// Returns what left the machine in one sentence without a full stop.
pub fn sentence(egress: &Egress) -> String {
    if egress.requests == 0 {
        return "nothing was sent".to_owned();
    }
    let to = egress.destinations.join(", ");
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
    sentence
}

#[cfg(test)]
mod tests {
    use super::sentence;
    use crate::egress::Egress;

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
}
