//! A framed table for a terminal.
//!
//! comfy-table draws it. Only [`fit`] measures cell widths: a cell with non-ASCII text is drawn as a
//! filler of its width, which is then replaced.

use std::collections::VecDeque;

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table, Width,
    presets::UTF8_FULL_CONDENSED,
};

use csv_agent_text::{direction::isolated, fit};
use csv_agent_types::limits::TABLE_TTY_LINES_MAX;

use super::column::ColumnLayout;

/// A noncharacter, which text never contains: [`fit::safe_line`] replaces it.
const FILLER: char = '\u{fdd0}';

/// A table ready for drawing.
pub(crate) struct Grid<'a> {
    /// The columns, including the mark for hidden ones.
    pub columns: Vec<&'a ColumnLayout>,
    /// Width of each column.
    pub widths: Vec<usize>,
    /// Maximum number of lines in a row.
    pub lines_max: usize,
    /// Whether rules separate rows where one has several lines.
    pub has_rules: bool,
    /// The row before which a mark shows that rows are left out.
    pub gap_at: Option<usize>,
    /// Whether the header is bold.
    pub colour: bool,
}

impl Grid<'_> {
    /// Returns the table, without a final line feed.
    pub(crate) fn draw(&self) -> String {
        let mut fillings = VecDeque::new();
        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED);
        table.set_content_arrangement(ContentArrangement::Disabled);
        let headers = self.columns.iter().zip(&self.widths);
        let header: Vec<_> =
            headers.map(|(it, width)| fit::wrap(&it.header, *width, TABLE_TTY_LINES_MAX)).collect();
        let n_header_lines = header.iter().map(Vec::len).max().unwrap_or(0);
        table.set_header(self.row(header, &mut fillings));
        let n_rows = self.columns.iter().map(|it| it.cells.len()).max().unwrap_or(0);
        let mut has_tall = false;
        for at in 0..n_rows {
            if self.gap_at == Some(at) {
                table.add_row(
                    self.row(vec![vec!["…".to_owned()]; self.columns.len()], &mut fillings),
                );
            }
            let cells: Vec<_> =
                (0..self.columns.len()).map(|column| self.cell(column, at)).collect();
            has_tall |= cells.iter().any(|it| 1 < it.len());
            table.add_row(self.row(cells, &mut fillings));
        }
        if self.gap_at == Some(n_rows) {
            table.add_row(self.row(vec![vec!["…".to_owned()]; self.columns.len()], &mut fillings));
        }
        table.style_mut().header_lines.junction = Some('│');
        table.style_mut().content_lines.junction = Some('│');
        if has_tall && self.has_rules {
            // Where rows have several lines, each must show where it ends.
            table.style_mut().row_separator = LineStyle::new('├', '─', '┼', '┤');
        }
        for (column, width) in table.column_iter_mut().zip(&self.widths) {
            let cells = u16::try_from(width + 2).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(cells)));
        }
        let mut lines: Vec<String> = table.lines().collect();
        if self.colour {
            // The first line is the frame.
            lines.iter_mut().skip(1).take(n_header_lines).for_each(|it| *it = with_bold_cells(it));
        }
        filled(&lines.join("\n"), fillings)
    }

    fn cell(&self, column: usize, at: usize) -> Vec<String> {
        let (it, width) = (self.columns[column], self.widths[column]);
        let text = it.cells.get(at).map_or("", String::as_str);
        fit::wrap(text, width, if it.is_text { self.lines_max } else { 1 })
    }

    /// Builds a row of multi-line cells, and queues the texts for the fillers in drawing order.
    fn row(&self, cells: Vec<Vec<String>>, fillings: &mut VecDeque<String>) -> Row {
        let n_lines = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..n_lines {
            fillings.extend(
                cells.iter().filter_map(|it| it.get(line)).filter(|it| !it.is_ascii()).cloned(),
            );
        }
        let cells = cells.into_iter().zip(&self.columns).map(|(lines, column)| {
            let lines: Vec<String> = lines.iter().map(|it| drawn(it)).collect();
            let alignment =
                if column.is_right { CellAlignment::Right } else { CellAlignment::Left };
            Cell::new(lines.join("\n")).set_alignment(alignment)
        });
        Row::from(cells.collect::<Vec<_>>())
    }
}

/// Makes the cells of a drawn line bold, with the blanks around their texts.
fn with_bold_cells(line: &str) -> String {
    let cells = line.trim_matches('│').split('│').map(|it| format!("\x1b[1m{it}\x1b[0m"));
    format!("│{}│", cells.collect::<Vec<_>>().join("│"))
}

fn drawn(line: &str) -> String {
    if line.is_ascii() { line.to_owned() } else { FILLER.to_string().repeat(fit::width(line)) }
}

/// Replaces the fillers with their texts.
fn filled(table: &str, mut fillings: VecDeque<String>) -> String {
    let mut text = String::with_capacity(table.len());
    let mut was_filler = false;
    for char in table.chars() {
        if char != FILLER {
            text.push(char);
        } else if !was_filler {
            text.push_str(&isolated(&fillings.pop_front().unwrap_or_default()));
        }
        was_filler = char == FILLER;
    }
    text
}
