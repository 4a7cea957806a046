//! Tables side by side in one file: the columns of each.
//!
//! Pure. Columns without a name and a value divide the others into groups, each of which may be a
//! table. A gap may also be inside one table, so it divides tables only where its sides are clearly
//! unrelated: one has rows next to the text above the other's names, one continues below the other, or
//! their first columns have the same name. Anything else is reported as a doubt.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::header::{self, HeaderHints};
use super::records::{Cell, Tokeniser, texts_of};
use super::sniff::Windows;
use super::syntax::Syntax;
use super::totals::plain_label;
use super::type_evidence::{Nulls, TypeEvidence, classify};
use super::wrap::{Beside, Wrapping};
use crate::record_shapes::{RecordShape, records};

/// Minimum columns of a table; a single one is a list next to it.
const COLUMNS_MIN: usize = 2;
/// Groups of columns to examine; a file with more is not a sequence of tables.
const GROUPS_MAX: usize = 32;
/// Minimum number of rows that show the values of a column.
const ROWS_MIN: usize = 2;
/// Minimum rows of a table with another one continuing below it, unless keys distinguish its rows.
const ROWS_CLEAR: usize = 3;
/// Minimum words of a title; fewer may be a common heading of the names below.
const TITLE_WORDS_MIN: usize = 3;

/// Returns the columns of each of several tables that are certainly side by side, judging by the
/// windows.
pub(crate) fn find(
    windows: &Windows,
    syntax: Syntax,
    told: &HeaderHints,
    nulls: &Nulls,
) -> Vec<Range<usize>> {
    let groups = groups(windows, syntax);
    if !(2..=GROUPS_MAX).contains(&groups.len()) {
        return Vec::new();
    }
    let sides: Vec<Option<SideTable>> =
        groups.iter().map(|it| SideTable::of(windows, syntax, it, told, nulls)).collect();
    let pairs = || {
        sides.windows(2).map(|it| match it {
            [Some(left), Some(right)] => Some((left, right)),
            _ => None,
        })
    };
    let are_apart: Vec<bool> =
        pairs().map(|it| it.is_some_and(|(left, right)| left.is_apart_from(right))).collect();
    if !are_apart.contains(&true) {
        return Vec::new();
    }
    // Where one gap certainly divides tables, another gap divides possible tables too.
    let are_tables = pairs().map(|it| it.is_some_and(|it| it.0.is_keyed && it.1.is_keyed));
    let are_apart = are_apart.into_iter().zip(are_tables).map(|it| it.0 || it.1);
    let mut tables: Vec<Range<usize>> = vec![groups[0].clone()];
    for (group, is_apart) in groups[1..].iter().zip(are_apart) {
        match tables.last_mut() {
            Some(last) if !is_apart => last.end = group.end,
            _ => tables.push(group.clone()),
        }
    }
    tables
}

/// Returns whether every record has content only in the columns of tables.
pub(crate) fn hold(tables: &[Range<usize>], text: &[u8], syntax: Syntax) -> bool {
    let mut tokeniser = Tokeniser::new(text, syntax);
    let mut cells = Vec::new();
    while tokeniser.record(&mut cells).is_some() {
        let is_within = |at: &usize| tables.iter().any(|it| it.contains(at));
        let is_filled = |it: &Cell| it.is_filled(text);
        let mut filled = cells.iter().enumerate().filter(|it| is_filled(it.1)).map(|it| it.0);
        if !filled.all(|it| is_within(&it)) {
            return false;
        }
    }
    true
}

/// Returns the runs of columns in which some record has content.
fn groups(windows: &Windows, syntax: Syntax) -> Vec<Range<usize>> {
    let mut is_filled: Vec<bool> = Vec::new();
    for text in std::iter::once(windows.head(syntax)).chain(windows.others(syntax)) {
        let mut tokeniser = Tokeniser::new(text, syntax);
        let mut cells = Vec::new();
        while tokeniser.record(&mut cells).is_some() {
            is_filled.resize(is_filled.len().max(cells.len()), false);
            let filled = is_filled.iter_mut().zip(&cells);
            filled.for_each(|(is_filled, cell)| *is_filled |= cell.is_filled(text));
        }
    }
    let mut groups: Vec<Range<usize>> = Vec::new();
    for at in (0..is_filled.len()).filter(|at| is_filled[*at]) {
        match groups.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// The columns between gaps, with names and rows as in a table.
struct SideTable {
    first_name: String,
    /// The line of its names; the first line is 0.
    line: u32,
    /// The lines of the records above them, and whether each is a title: text in the first column
    /// alone.
    above: Vec<(u32, bool)>,
    /// Whether a separate title is above the names: of several words, or above a blank line.
    is_titled: bool,
    /// The lines of its rows.
    rows: BTreeSet<u32>,
    /// Whether its first column distinguishes the rows.
    is_keyed: bool,
}

impl SideTable {
    fn of(
        windows: &Windows,
        syntax: Syntax,
        columns: &Range<usize>,
        told: &HeaderHints,
        nulls: &Nulls,
    ) -> Option<SideTable> {
        if columns.len() < COLUMNS_MIN {
            return None;
        }
        let Windows { head, others, is_whole } = windows;
        let mut windows =
            Windows { head: head.clone(), others: others.clone(), is_whole: *is_whole };
        let Range { start: first, end } = *columns;
        Wrapping::Beside(Beside { syntax, first, end }).strip_windows(&mut windows);
        let header = header::find(&mut windows, syntax, told, nulls, &mut Vec::new());
        let (line, body_line) = (header.line?, header.body_line);
        if header.names.len() != columns.len() || header.is_unnamed.contains(&true) {
            return None;
        }
        let text = windows.head(syntax);
        let shapes = records(text, syntax, usize::MAX);
        let cells = |it: &RecordShape| texts_of(&text[it.start..it.end], syntax);
        let rows: Vec<(u32, Vec<String>)> = shapes
            .iter()
            .filter(|it| body_line <= it.line && 0 < it.n_filled)
            .map(|it| (it.line, cells(it)))
            .filter(|it| plain_label(&it.1).is_none())
            .collect();
        let firsts: Vec<&str> =
            rows.iter().filter_map(|it| it.1.first()).map(|it| it.trim()).collect();
        let is_title = |it: &RecordShape| it.n_filled == 1 && it.is_first_filled;
        let (above, below) = shapes.split_at(shapes.partition_point(|it| it.line < line));
        let is_behind_blank = below.first().is_some_and(|it| it.is_behind_blank);
        let n_words = |it: &RecordShape| cells(it)[0].split_whitespace().count();
        let is_titled = above
            .last()
            .is_some_and(|it| is_title(it) && (is_behind_blank || TITLE_WORDS_MIN <= n_words(it)));
        Some(SideTable {
            first_name: header.names.first()?.trim().to_lowercase(),
            line,
            above: above.iter().map(|it| (it.line, is_title(it))).collect(),
            is_titled,
            is_keyed: are_keys(&firsts, nulls),
            rows: rows.into_iter().map(|it| it.0).collect(),
        })
    }

    /// Returns whether it is certainly a different table from the one to its right.
    fn is_apart_from(&self, right: &SideTable) -> bool {
        let sides = [self, right];
        if sides.iter().any(|it| it.rows.is_empty()) {
            return false;
        }
        if self.begins_elsewhere(right) {
            return true;
        }
        let are_keyed = sides.iter().all(|it| it.is_keyed);
        let is_repeated = self.first_name == right.first_name;
        let are_titled = self.line == right.line && sides.iter().all(|it| it.is_titled);
        if are_keyed && (is_repeated || are_titled) {
            return true;
        }
        // Below its last row, a table has no keys. Cells to the right of its rows may just be unknown
        // as yet, so a right-hand table that ends first proves nothing.
        let n_below = self.n_below(right);
        let is_long = ROWS_CLEAR <= self.rows.len() && ROWS_MIN <= n_below;
        0 < n_below && (right.is_keyed || is_long)
    }

    fn last_row(&self) -> u32 {
        self.rows.last().copied().unwrap_or_default()
    }

    /// Returns whether a row of one table is next to a title of the other, or next to nothing, above
    /// its names.
    fn begins_elsewhere(&self, right: &SideTable) -> bool {
        let [upper, lower] = if self.line < right.line { [self, right] } else { [right, self] };
        // Names on several lines are one header; names with less above them are its first part.
        let is_free = lower.above.iter().all(|it| it.1 || it.0 < upper.line);
        is_free && upper.rows.iter().any(|it| *it <= lower.line && upper.line < *it)
    }

    /// Returns how many rows of another table are below its last row, if it has all of the other's rows
    /// up to there.
    fn n_below(&self, long: &SideTable) -> usize {
        let end = self.last_row();
        let mut beside = long.rows.iter().filter(|it| (self.line + 1..=end).contains(it));
        let is_table = ROWS_MIN <= self.rows.len() && beside.all(|it| self.rows.contains(it));
        if is_table { long.rows.range(end + 1..).count() } else { 0 }
    }
}

/// Returns whether values distinguish rows: names or dates, years, or numbers from 1 on, all distinct.
fn are_keys(values: &[&str], nulls: &Nulls) -> bool {
    let distinct: HashSet<&str> = values.iter().copied().collect();
    if values.len() < ROWS_MIN || distinct.len() < values.len() || distinct.contains("") {
        return false;
    }
    let numbers: Option<Vec<i64>> = values.iter().map(|it| it.parse().ok()).collect();
    if let Some(numbers) = numbers {
        let are_years = numbers.iter().all(|it| (1900..=2100).contains(it));
        return are_years || (1..).zip(&numbers).all(|it| it.0 == *it.1);
    }
    let days = TypeEvidence::DATE
        .and(TypeEvidence::TIMESTAMP)
        .and(TypeEvidence::LOCAL_DATE)
        .and(TypeEvidence::LOCAL_TIMESTAMP);
    let is_day = |it: &&str| classify(it.as_bytes(), nulls).has(days);
    values.iter().all(|it| it.contains(char::is_alphabetic) || is_day(it))
}
