//! Text around the rows of a table that is not part of them: quotes around whole rows, the lines of a
//! drawing, or other columns.
//!
//! Pure. It is removed line by line, so that line numbers do not change; all later stages read the
//! intended text.

mod beside;
mod drawn;
mod quoted;

use super::dialect::DialectHints;
use super::records::cut;
use super::sniff::Windows;
use super::syntax::{Escape, Syntax};
use crate::options::Comments;
pub(crate) use beside::Beside;
pub(crate) use drawn::Rules;
use drawn::TableFrame;
use quoted::Quoted;

/// What is wrapped around rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// Quotes around each whole row.
    Quoted(Quoted),
    /// The lines of a drawing.
    Drawn(TableFrame),
    /// Other columns.
    Beside(Beside),
}

/// What is wrapped around the rows of a file, and its consequences.
pub(crate) struct FoundWrapping {
    pub wrapping: Wrapping,
    /// How records are split into cells without it, where it determines that.
    pub syntax: Option<Syntax>,
    /// Which lines belong only to the drawing.
    pub rules: Option<Rules>,
    /// Why it was detected.
    pub reason: String,
}

/// How to split lines without quotes.
const LINES: Syntax = Syntax { quote: None, escape: Escape::None, ..quoted::OUTER };

/// Returns what is wrapped around the rows in the windows, if anything.
pub(crate) fn find(
    windows: &Windows,
    told: &DialectHints,
    comments: Comments,
) -> Option<FoundWrapping> {
    if let Some((quoted, reason)) = Quoted::find(windows, told) {
        let wrapping = Wrapping::Quoted(quoted);
        return Some(FoundWrapping { wrapping, syntax: None, rules: None, reason });
    }
    // The user decides which lines are not rows.
    let drawn = (comments == Comments::FindOut).then(|| TableFrame::find(windows, told))?;
    let (drawn, syntax, rules, reason) = drawn?;
    let wrapping = Wrapping::Drawn(drawn);
    Some(FoundWrapping { wrapping, syntax: Some(syntax), rules: Some(rules), reason })
}

impl Wrapping {
    /// Returns how many bytes of `text` are complete for this wrapping.
    pub(crate) fn cut(self, text: &[u8], is_end: bool) -> usize {
        let syntax = match self {
            Wrapping::Quoted(_) => quoted::OUTER,
            Wrapping::Drawn(_) => LINES,
            Wrapping::Beside(beside) => beside.syntax,
        };
        cut(text, syntax, is_end)
    }

    /// Appends `text`, which must be complete, without the wrapping of its rows.
    pub(crate) fn strip(self, text: &[u8], stripped: &mut Vec<u8>) {
        match self {
            Wrapping::Quoted(quoted) => quoted.strip(text, stripped),
            Wrapping::Drawn(drawn) => drawn.strip(text, stripped),
            Wrapping::Beside(beside) => beside.strip(text, stripped),
        }
    }

    /// Removes the wrapping of the rows in the windows.
    pub(crate) fn strip_windows(self, windows: &mut Windows) {
        let n_others = windows.others.len();
        let Windows { head, others, is_whole } = windows;
        let stripped = |text: &[u8], is_end: bool| {
            let mut stripped = Vec::with_capacity(text.len());
            self.strip(&text[..self.cut(text, is_end)], &mut stripped);
            stripped
        };
        *head = stripped(head, *is_whole);
        for (at, window) in others.iter_mut().enumerate() {
            // It may begin anywhere.
            let start = memchr::memchr2(b'\n', b'\r', window).map_or(window.len(), |it| it + 1);
            let is_last = at + 1 == n_others;
            let behind = stripped(&window[start..], is_last);
            window.truncate(start);
            window.extend(behind);
        }
    }
}
