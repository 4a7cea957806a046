//! A reply on a terminal while it is being written.
//!
//! Text that can no longer change is written once. The open block is laid out again with each piece of
//! text and written over its previous lines where they differ. Pure: takes text, returns what to write
//! to the terminal.

use super::{ProseStyle, block, blocks, follows_blank};

/// A piece of text shorter than this fraction of its block waits for the next one, so that a long block
/// is not laid out for every word.
const PIECES_PER_BLOCK: usize = 128;

/// The terminal's current state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// How prose is formatted.
    pub style: ProseStyle,
    /// Lines that may be overwritten; 0 where none can be.
    pub rows: usize,
}

/// Text in progress.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Live {
    /// The source from the beginning of the open block.
    open: String,
    /// Bytes at its end that are not shown yet.
    n_waiting: usize,
    /// Settled lines of the open block that were written.
    n_done: usize,
    /// Whether a blank line belongs before the open block.
    is_apart: bool,
    /// Whether any line is above it.
    has_lines: bool,
    /// Lines that can be overwritten. The cursor is after the last one.
    shown: Vec<String>,
    /// Whether the cursor is after text.
    is_in_line: bool,
    /// Whether everything was written as if it were complete, and other output may be below.
    is_parked: bool,
}

impl Live {
    /// Takes the next piece of text and returns what to write.
    pub fn push(&mut self, piece: &str, window: &Window) -> String {
        if piece.is_empty() {
            return String::new();
        }
        if std::mem::take(&mut self.is_parked) {
            self.resume(piece);
        }
        self.open.push_str(piece);
        self.n_waiting += piece.len();
        if self.n_waiting * PIECES_PER_BLOCK < self.open.len() {
            return String::new();
        }
        self.refresh(window, false)
    }

    /// Writes everything as if the text were complete, and leaves the cursor on a new line.
    ///
    /// More text may follow; a block that it continues is then written again.
    pub fn park(&mut self, window: &Window) -> String {
        if std::mem::replace(&mut self.is_parked, true) {
            return String::new();
        }
        let mut written = self.refresh(window, true);
        if std::mem::take(&mut self.is_in_line) {
            written.push('\n');
        }
        written
    }

    /// Continues after [`Live::park`]: a finished block is left alone, an unfinished one begins again.
    fn resume(&mut self, piece: &str) {
        let tail = &self.open[self.open.trim_end().len()..];
        let head = &piece[..piece.len() - piece.trim_start().len()];
        let n_line_feeds = tail.matches('\n').count() + head.matches('\n').count();
        if 2 <= n_line_feeds && !self.open.trim().is_empty() {
            self.open.clear();
            (self.is_apart, self.has_lines) = (true, true);
        }
    }

    /// Lays out the open text and returns what brings the terminal up to date.
    fn refresh(&mut self, window: &Window, is_whole: bool) -> String {
        self.n_waiting = 0;
        let parts = self.parts(&window.style);
        let n_open = match parts.last() {
            _ if is_whole => 0,
            // The start of a block is certain once its first line is complete: `#` alone may become
            // `#1`.
            Some(last) if self.open[last.start..].contains('\n') => 1,
            _ => 2,
        };
        let n_over = parts.len().saturating_sub(n_open);
        let mut lines = Vec::new();
        let mut n_settled = 0;
        for (at, part) in parts.iter().enumerate() {
            if at <= n_over {
                let n_lines = if at < n_over { part.lines.len() } else { part.n_settled };
                n_settled = lines.len() + n_lines;
            }
            lines.extend_from_slice(&part.lines);
        }
        // After the last block, the last block itself may continue.
        let kept = n_over.min(parts.len().saturating_sub(1));
        if let Some(part) = parts.get(kept) {
            self.has_lines |= parts[..kept].iter().any(|it| !it.lines.is_empty());
            self.is_apart = part.is_apart;
            self.n_done = if is_whole { 0 } else { part.n_done };
            self.open.drain(..part.start);
        }
        self.write(&lines, n_settled, window.rows)
    }

    /// Returns the blocks of the open text, as they would be if nothing followed.
    fn parts(&self, style: &ProseStyle) -> Vec<OpenBlock> {
        let mut has_lines = self.has_lines;
        let mut parts = Vec::new();
        for (at, range) in blocks(&self.open).into_iter().enumerate() {
            let start = range.start;
            let is_apart = match at {
                0 => self.is_apart,
                _ => has_lines && follows_blank(&self.open, start),
            };
            let mut shown = block::lines(&self.open[range], style);
            has_lines |= !shown.lines.is_empty();
            let n_before = if at == 0 { self.n_done.min(shown.lines.len()) } else { 0 };
            let n_done = shown.n_settled.max(n_before);
            shown.lines.drain(..n_before);
            let mut n_settled = n_done - n_before;
            if is_apart && n_before == 0 && !shown.lines.is_empty() {
                shown.lines.insert(0, String::new());
                n_settled += usize::from(0 < n_settled);
            }
            parts.push(OpenBlock { start, is_apart, lines: shown.lines, n_settled, n_done });
        }
        parts
    }

    /// Returns the output that makes the terminal show `lines`, the first of which are settled.
    ///
    /// Of the others, only the last ones that can be overwritten are shown, until they settle.
    fn write(&mut self, lines: &[String], n_settled: usize, rows: usize) -> String {
        let (settled, open) = lines.split_at(n_settled);
        let window = &open[open.len().saturating_sub(rows)..];
        let target: Vec<&String> = settled.iter().chain(window).collect();
        let n_same = self.shown.iter().zip(&target).take_while(|it| it.0 == *it.1).count();
        let mut written = String::new();
        let mut n_kept = n_same;
        if n_same < self.shown.len() {
            let longer = target.get(n_same).and_then(|it| it.strip_prefix(&self.shown[n_same]));
            if let Some(rest) = longer.filter(|_| n_same + 1 == self.shown.len()) {
                written.push_str(rest);
                n_kept += 1;
            } else {
                n_kept = n_same.min(target.len().saturating_sub(1));
                let n_up = self.shown.len() - 1 - n_kept;
                if 0 < n_up {
                    written.extend(["\x1b[", &n_up.to_string(), "A"]);
                }
                written.push_str("\r\x1b[J");
                self.is_in_line = false;
            }
        }
        for line in &target[n_kept..] {
            if std::mem::replace(&mut self.is_in_line, true) {
                written.push('\n');
            }
            written.push_str(line);
        }
        self.shown = window.to_vec();
        written
    }
}

struct OpenBlock {
    /// Its start in the source.
    start: usize,
    /// Whether a blank line belongs before it.
    is_apart: bool,
    /// Its lines to show, including the blank line before it.
    lines: Vec<String>,
    /// How many of these are settled.
    n_settled: usize,
    /// Settled lines of the block, including those written before.
    n_done: usize,
}
