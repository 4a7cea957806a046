//! A Markdown table: a grid with wrapped cells, or a list of its rows where a grid does not fit.
//!
//! Unlike a data table, it hides nothing: everything in a reply must be readable.

use std::iter::repeat_n;

use pulldown_cmark::Alignment;

use super::inline::{Ink, Span, StyledLine, dimmed, extent, wrap};

/// The width below which a column is not reduced.
const COLUMN_WIDTH_MIN: usize = 6;

/// A table being read.
#[derive(Debug)]
pub(super) struct MarkdownTable {
    alignments: Vec<Alignment>,
    /// The header first; every row has as many cells as the header.
    rows: Vec<Vec<Vec<Span>>>,
}

impl MarkdownTable {
    pub(super) fn new(alignments: &[Alignment]) -> MarkdownTable {
        MarkdownTable { alignments: alignments.to_vec(), rows: Vec::new() }
    }

    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self, cell: Vec<Span>) {
        if let Some(row) = self.rows.last_mut() {
            row.push(cell);
        }
    }

    /// Appends to the last cell.
    pub(super) fn add(&mut self, span: Span) {
        if let Some(cell) = self.rows.last_mut().and_then(|it| it.last_mut()) {
            cell.push(span);
        }
    }

    /// Returns the width of each column, if the grid fits into `room`.
    fn widths(&self, room: usize) -> Option<Vec<usize>> {
        let n_columns = self.alignments.len();
        let extents = (0..n_columns).map(|at| {
            let cells = self.rows.iter().filter_map(|it| it.get(at)).map(|it| extent(it));
            cells.fold((1, 1), |most: (usize, usize), it| (most.0.max(it.0), most.1.max(it.1)))
        });
        let (words, mut widths): (Vec<usize>, Vec<usize>) = extents.unzip();
        let room = room.checked_sub(3 * n_columns + 1)?;
        // Words are broken only where a column of whole words would leave no room for the others.
        for floor in [words, widths.iter().map(|it| *it.min(&COLUMN_WIDTH_MIN)).collect()] {
            if floor.iter().sum::<usize>() <= room {
                squeeze(&mut widths, &floor, room);
                return Some(widths);
            }
        }
        None
    }
}

/// Narrows the widest columns until the table fits.
fn squeeze(widths: &mut [usize], floor: &[usize], room: usize) {
    let mut excess = widths.iter().sum::<usize>().saturating_sub(room);
    while 0 < excess {
        let may_shrink = (0..widths.len()).filter(|it| floor[*it] < widths[*it]);
        let Some(widest) = may_shrink.max_by_key(|it| widths[*it]) else { return };
        widths[widest] -= 1;
        excess -= 1;
    }
}

/// Returns the lines of a table in `room` cells.
pub(super) fn lines(grid: &MarkdownTable, room: usize, colour: bool) -> Vec<String> {
    match grid.widths(room) {
        Some(widths) => drawn(grid, &widths, colour),
        None => listed(grid, room, colour),
    }
}

fn drawn(grid: &MarkdownTable, widths: &[usize], colour: bool) -> Vec<String> {
    let border = |left: char, line: char, cross: char, right: char| {
        let columns: Vec<String> =
            widths.iter().map(|it| repeat_n(line, it + 2).collect()).collect();
        format!("{left}{}{right}", columns.join(&cross.to_string()))
    };
    let mut lines = vec![border('┌', '─', '┬', '┐')];
    let cells = |row: &[Vec<Span>], ink: Ink| -> Vec<Vec<StyledLine>> {
        let wrapped = widths.iter().enumerate().map(|(at, width)| {
            let spans = row.get(at).map_or(&[][..], Vec::as_slice);
            wrap(&with_ink(spans, ink), *width, colour)
        });
        wrapped.collect()
    };
    for (at, row) in grid.rows.iter().enumerate() {
        let cells = cells(row, if at == 0 { Ink::BOLD } else { Ink::PLAIN });
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        for n in 0..height {
            let columns = cells
                .iter()
                .zip(widths)
                .enumerate()
                .map(|(at, (cell, width))| aligned(cell.get(n), *width, grid.alignments[at]));
            let columns: Vec<String> = columns.collect();
            lines.push(format!("│ {} │", columns.join(" │ ")));
        }
        if at == 0 {
            lines.push(border('╞', '═', '╪', '╡'));
        }
    }
    lines.push(border('└', '─', '┴', '┘'));
    lines
}

/// Returns the rows one below the other, each cell with its column's name.
fn listed(grid: &MarkdownTable, room: usize, colour: bool) -> Vec<String> {
    let Some((header, rows)) = grid.rows.split_first() else { return Vec::new() };
    let mut lines = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if 0 < at {
            lines.push(dimmed(&repeat_n('─', room.min(8)).collect::<String>(), colour));
        }
        for (name, cell) in header.iter().zip(row) {
            let mut spans = with_ink(name, Ink::BOLD);
            spans.push(Span { text: ": ".to_owned(), ink: Ink::PLAIN });
            spans.extend(cell.iter().cloned());
            lines.extend(wrap(&spans, room, colour).into_iter().map(|it| it.text));
        }
    }
    if rows.is_empty() {
        let names = header.iter().flat_map(|it| wrap(&with_ink(it, Ink::BOLD), room, colour));
        lines.extend(names.map(|it| it.text));
    }
    lines
}

fn with_ink(spans: &[Span], ink: Ink) -> Vec<Span> {
    spans.iter().map(|it| Span { text: it.text.clone(), ink: it.ink.and(ink) }).collect()
}

fn aligned(line: Option<&StyledLine>, width: usize, alignment: Alignment) -> String {
    let (text, used) = line.map_or(("", 0), |it| (it.text.as_str(), it.width));
    let free = width.saturating_sub(used);
    let left = match alignment {
        Alignment::Right => free,
        Alignment::Center => free / 2,
        Alignment::Left | Alignment::None => 0,
    };
    format!("{}{text}{}", " ".repeat(left), " ".repeat(free - left))
}
