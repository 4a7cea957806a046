//! The notes of a file above and below its table: titles, sources, the meaning of numbers.
//!
//! Pure. These lines are not rows, but a reader of the table needs them.

use csv_agent_types::limits::{NOTE_BYTES_MAX, NOTES_MAX};

use super::non_rows::NonRows;
use super::records::texts_of;
use super::syntax::Syntax;
use crate::non_rows::LinesBelow;
use crate::record_shapes::records;

/// Returns the texts above a table and the notes below it, up to the limit.
pub(crate) fn of(above: &NonRows, below: Option<&LinesBelow>, syntax: Syntax) -> Vec<String> {
    let is_note = |reason: &str| reason.starts_with("preamble") || reason.starts_with("comment");
    let above = above.listed.iter().filter(|it| is_note(&it.reason));
    let above = above.filter_map(|it| note(it.text.as_bytes(), syntax));
    let below = below.map_or(&[][..], |it| &it.text[it.n_total..it.n_notes]);
    let below = records(below, syntax, NOTES_MAX)
        .into_iter()
        .filter_map(|it| note(&below[it.start..it.end], syntax))
        .collect::<Vec<_>>();
    // Each gets half of the limit, plus what the other leaves.
    let n_above = NOTES_MAX.saturating_sub(below.len().min(NOTES_MAX / 2));
    above.take(n_above).chain(below).take(NOTES_MAX).collect()
}

/// Returns the cells of a record as one text.
fn note(record: &[u8], syntax: Syntax) -> Option<String> {
    let cells = texts_of(record, syntax);
    let cells = cells.iter().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    let cells: Vec<String> = cells.filter(|it| !it.is_empty()).collect();
    let mut text = cells.join(", ").trim_start_matches(['#', '%', '/', '-', '*', ' ']).to_owned();
    text.truncate(text.floor_char_boundary(NOTE_BYTES_MAX));
    text.contains(char::is_alphanumeric).then_some(text)
}
