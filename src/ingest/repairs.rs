//! Rows that did not fit and were repaired, for `NAME.rejects.jsonl`.
//!
//! One JSON object per line: `{"line":7,"reason":"…","text":"…"}`, in file order, the first
//! [`REJECTS_MAX`] of them. The rows themselves are in the table; none is left out of it.

use std::io::Write;

use serde_json::json;

use csv_agent_types::limits::{REJECT_BYTES_MAX, REJECTS_MAX};

/// A padded row, or one with surplus cells in `_extra`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repair {
    /// The line of the source it begins on; the first is 1.
    pub line: u64,
    /// Expected and actual number of cells.
    pub reason: String,
    /// The record as in the file, cut at [`REJECT_BYTES_MAX`].
    pub text: String,
}

impl Repair {
    /// Creates a repair; a long `record` is cut between characters.
    pub(crate) fn new(line: u64, reason: String, record: &[u8]) -> Self {
        let text = String::from_utf8_lossy(record);
        let end = text.floor_char_boundary(REJECT_BYTES_MAX);
        Repair { line, reason, text: text[..end].to_owned() }
    }

    /// Writes the repair as a line.
    pub(crate) fn write(&self, out: &mut impl Write) -> std::io::Result<()> {
        let line = json!({ "line": self.line, "reason": self.reason, "text": self.text });
        writeln!(out, "{line}")
    }
}

/// Returns whether a list of `n` repairs may grow.
pub(crate) fn has_room(n: u64) -> bool {
    n < REJECTS_MAX
}
