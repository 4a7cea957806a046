//! The conversation on disk: one line a finished turn, so that a crash loses a turn whole or not at all.

use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::conversation::Item;
use crate::session::store;

/// What one turn added to the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryTurn {
    /// The turn's number, as its directory is named.
    pub turn: String,
    /// The question, the model's items and the outputs of its calls, in order.
    pub items: Vec<Item>,
}

/// Reads the finished turns, oldest first; none when there is no history.
///
/// Returns whether a torn last line was left out beside them.
///
/// # Errors
///
/// Fails when a whole line is not a turn; the message names the line.
pub fn read(path: &Path) -> anyhow::Result<(Vec<HistoryTurn>, bool)> {
    let (lines, is_torn) = store::read_lines(path)?;
    let parse = |(at, line): (usize, &String)| {
        serde_json::from_str(line)
            .with_context(|| format!("cannot read line {} of `{}`", at + 1, path.display()))
    };
    let turns = lines.iter().enumerate().map(parse).collect::<anyhow::Result<_>>()?;
    Ok((turns, is_torn))
}

/// Appends a finished turn in one write.
///
/// # Errors
///
/// Fails when it cannot be written.
pub fn append(path: &Path, turn: &HistoryTurn) -> anyhow::Result<()> {
    let line = serde_json::to_string(turn).context("cannot write a turn as JSON")?;
    store::append_line(path, &line)
}
