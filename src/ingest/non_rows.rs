//! Lines that are not rows: before the table, below it, and among its rows.
//!
//! Pure. They are excluded from the table, counted, and listed with the repairs, so that no line of a
//! file disappears silently.

use memchr::memchr2;

use csv_agent_types::catalog::SkippedLines;

use super::records::{Block, Tokeniser, without_form_feed};
use super::repairs::{Repair, has_room};
use super::syntax::Syntax;
use super::wrap::Rules;
use crate::record_shapes::records;

/// How to recognise a comment line among the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Comment {
    /// It begins with a comment marker.
    Marked {
        /// The first characters of the line, ignoring leading blanks.
        marker: String,
        /// The user said so, or nearly all lines that begin so are no rows: then one that has as
        /// many cells as a row is a comment too.
        is_sure: bool,
    },
    /// The table is drawn, and the line belongs to the drawing.
    Drawn(Rules),
}

impl Comment {
    /// Returns whether a record is a comment, unless it is a row.
    pub(crate) fn marks(&self, record: &[u8]) -> bool {
        match self {
            Comment::Marked { marker, .. } => is_marked(record, marker),
            Comment::Drawn(rules) => rules.hold(record),
        }
    }

    /// Returns whether a marked record is not a row whatever its width.
    pub(crate) fn is_sure(&self) -> bool {
        match self {
            Comment::Marked { is_sure, .. } => *is_sure,
            Comment::Drawn(_) => true,
        }
    }

    /// Returns why a marked record is not a row.
    pub(crate) fn kind(&self) -> NonRowKind {
        match self {
            Comment::Marked { .. } => NonRowKind::Comment,
            Comment::Drawn(_) => NonRowKind::Rule,
        }
    }
}

/// How to distinguish other lines from rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AsideRule {
    /// The comment marker, if there are comments.
    pub comment: Option<Comment>,
    /// The records of the header as in the file, where they may repeat.
    pub header: Vec<Vec<u8>>,
    /// Totals among the rows as in the file, in byte order.
    pub totals: Vec<Vec<u8>>,
}

/// What is known about lines that are not rows.
#[derive(Debug, Default)]
pub(crate) struct NonRows {
    /// The number of each kind.
    pub counts: SkippedLines,
    /// The first of them, listed.
    pub listed: Vec<Repair>,
    /// The line on which a table below begins.
    pub table_line: Option<u64>,
    /// Byte order marks that begin a record, and so are not part of its first cell.
    pub n_marks: u64,
    /// The line of the first of them.
    pub mark_line: Option<u64>,
}

impl NonRows {
    /// Adds the records of a text without rows.
    pub(crate) fn add_all(&mut self, kind: NonRowKind, text: &[u8], syntax: Syntax) {
        for record in records(text, syntax, usize::MAX) {
            self.add(kind, u64::from(record.line), &text[record.start..record.end]);
        }
    }

    /// Adds the text below the table.
    pub(crate) fn add_below(&mut self, below: &LinesBelow, syntax: Syntax) {
        let (notes, tables) = below.text.split_at(below.n_notes);
        let (totals, notes) = notes.split_at(below.n_total);
        let mut n_lines = 0;
        for (kind, text) in [
            (NonRowKind::Total, totals),
            (NonRowKind::Footer, notes),
            (NonRowKind::OtherTable, tables),
        ] {
            let mut behind = NonRows::default();
            behind.add_all(kind, text, syntax);
            if kind == NonRowKind::OtherTable {
                behind.table_line = records(text, syntax, 1).first().map(|it| it.line.into());
            }
            self.append(behind, n_lines);
            n_lines += n_lines_of(text, syntax);
        }
    }

    /// Adds non-rows that are `n_lines` lines further on.
    pub(crate) fn append(&mut self, behind: NonRows, n_lines: u64) {
        self.counts.add(behind.counts);
        self.table_line = self.table_line.or(behind.table_line.map(|it| it + n_lines));
        let moved = behind.listed.into_iter().map(|it| Repair { line: it.line + n_lines, ..it });
        self.listed.extend(moved);
        self.n_marks += behind.n_marks;
        self.mark_line = self.mark_line.or(behind.mark_line.map(|it| it + n_lines));
    }

    /// Adds the byte order marks that were skipped.
    pub(crate) fn add_marks(&mut self, tokeniser: &Tokeniser<'_>) {
        self.n_marks += tokeniser.n_marks();
        self.mark_line = self.mark_line.or(tokeniser.mark_line().map(u64::from));
    }

    /// Adds one record.
    pub(crate) fn add(&mut self, kind: NonRowKind, line: u64, text: &[u8]) {
        let (count, reason) = match kind {
            NonRowKind::Preamble => (&mut self.counts.preamble, "preamble"),
            NonRowKind::Comment => (&mut self.counts.comments, "comment"),
            NonRowKind::Rule => (&mut self.counts.rules, "border line of a table"),
            NonRowKind::RepeatedHeader => (&mut self.counts.repeated_headers, "repeated header"),
            NonRowKind::Footer => (&mut self.counts.footer, "footer"),
            NonRowKind::Total => (&mut self.counts.totals, "total"),
            NonRowKind::OtherTable => (&mut self.counts.other_tables, "another table"),
        };
        *count += 1;
        if has_room(self.listed.len() as u64) {
            self.listed.push(Repair::new(line, format!("{reason}; no row"), text));
        }
    }
}

fn n_lines_of(text: &[u8], syntax: Syntax) -> u64 {
    let mut tokeniser = Tokeniser::new(text, syntax);
    while tokeniser.record(&mut Vec::new()).is_some() {}
    u64::from(tokeniser.n_lines())
}

/// Why a line is not a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NonRowKind {
    /// It precedes the table.
    Preamble,
    /// It begins with a comment marker.
    Comment,
    /// It is a ruling between rows.
    Rule,
    RepeatedHeader,
    /// It is below the table.
    Footer,
    /// It contains the sums of the columns.
    Total,
    /// It belongs to a table below the first.
    OtherTable,
}

impl AsideRule {
    /// Removes what is not a row from `block`; lines are those of the slice.
    pub(crate) fn set_aside(
        &self,
        slice: &[u8],
        block: &mut Block,
        width: usize,
        asides: &mut NonRows,
    ) {
        if *self == AsideRule::default() {
            return;
        }
        let kind = |row: usize| {
            let is_full = || {
                block.short.binary_search(&row).is_err()
                    && block.surplus.binary_search_by_key(&row, |it| it.row).is_err()
            };
            self.kind(block.records[row].raw(slice), is_full)
        };
        let found: Vec<(usize, NonRowKind)> =
            (0..block.n_rows()).filter_map(|row| Some((row, kind(row)?))).collect();
        for (row, kind) in &found {
            asides.add(*kind, u64::from(block.lines[*row]), block.records[*row].raw(slice));
        }
        if !found.is_empty() {
            let rows: Vec<usize> = found.into_iter().map(|it| it.0).collect();
            remove(block, &rows, width);
        }
    }

    /// Returns why a record is not a row, or `None` for a row.
    fn kind(&self, record: &[u8], is_full: impl Fn() -> bool) -> Option<NonRowKind> {
        let record = without_form_feed(record);
        if self.header.iter().any(|it| it == record) {
            return Some(NonRowKind::RepeatedHeader);
        }
        if self.totals.binary_search_by(|it| it.as_slice().cmp(record)).is_ok() {
            return Some(NonRowKind::Total);
        }
        let comment = self.comment.as_ref()?;
        let is_comment = comment.marks(record) && (comment.is_sure() || !is_full());
        is_comment.then(|| comment.kind())
    }
}

/// Removes rows from a block; `rows` are in order.
fn remove(block: &mut Block, rows: &[usize], width: usize) {
    let stays = |row: &usize| rows.binary_search(row).is_err();
    // The new index of a row, after removing the rows before it.
    let moved = |row: usize| row - rows.partition_point(|it| *it < row);
    let kept: Vec<usize> = (0..block.n_rows()).filter(stays).collect();
    for (to, from) in kept.iter().enumerate() {
        block.cells.copy_within(from * width..(from + 1) * width, to * width);
        block.lines[to] = block.lines[*from];
        block.records[to] = block.records[*from];
    }
    block.cells.truncate(kept.len() * width);
    block.lines.truncate(kept.len());
    block.records.truncate(kept.len());
    for rows in [&mut block.short, &mut block.split, &mut block.doubtful] {
        rows.retain(stays);
        for row in rows.iter_mut() {
            *row = moved(*row);
        }
    }
    block.surplus.retain(|it| stays(&it.row));
    block.surplus.iter_mut().for_each(|it| it.row = moved(it.row));
}

/// Returns whether a record is one line that begins with `marker`.
pub(crate) fn is_marked(record: &[u8], marker: &str) -> bool {
    record.trim_ascii_start().starts_with(marker.as_bytes())
        && memchr2(b'\n', b'\r', record).is_none()
}

/// The text below a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LinesBelow {
    /// Notes, then other tables.
    pub text: Vec<u8>,
    /// Where the other tables begin in it.
    pub n_notes: usize,
    /// Where the notes begin in it, after rows that may be totals.
    pub n_total: usize,
}
