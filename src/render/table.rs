//! Tables as text: for a terminal, as GitHub Markdown, as CSV and TSV.
//!
//! The first is for eyes and fits the width; the others are exact and complete.

use std::borrow::Cow;

use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width,
    presets::UTF8_FULL_CONDENSED,
};
use serde_json::Value;

use crate::frame::{Frame, is_numeric_dtype};
use crate::limits::{TABLE_TTY_LINES_MAX, TABLE_TTY_ROWS_MAX};
use crate::render::sanitize;

/// Cells of a text column below which it is not squeezed. Numbers are never squeezed.
const TEXT_WIDTH_MIN: usize = 8;
/// Of the rows that a terminal shows of a long table, those from its end.
const TAIL_ROWS: usize = 5;

/// How a table meets a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableStyle {
    /// Cells of a line; none for no bound.
    pub width: Option<u16>,
    /// Whether the header is bold.
    pub colour: bool,
}

/// Returns the table for a terminal, without a final line feed, no line wider than the style allows.
///
/// Columns that do not fit are named under the table; the middle of a long table is left out. Cells
/// are made safe.
pub fn text(frame: &Frame, style: &TableStyle) -> String {
    let cells = Cells::of(frame);
    let n_shown = match style.width {
        Some(width) => cells.columns_that_fit(usize::from(width)),
        None => frame.columns.len(),
    };
    let mut table = Table::new();
    // comfy-table looks at stdout by itself otherwise, and writes `ESC[m` even without styles.
    table.force_no_tty().load_style(UTF8_FULL_CONDENSED);
    table.style_mut().header_lines.junction = Some('│');
    table.style_mut().content_lines.junction = Some('│');
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = style.width {
        table.set_width(width);
    }
    if style.colour {
        table.enforce_styling();
    }
    let header = cells.header.iter().take(n_shown).enumerate().map(|(at, name)| {
        let cell = Cell::new(name).set_alignment(cells.alignment(at));
        if style.colour { cell.add_attribute(Attribute::Bold) } else { cell }
    });
    let mut header = Row::from(header.collect::<Vec<_>>());
    header.max_height(TABLE_TTY_LINES_MAX);
    table.set_header(header);
    for line in &cells.lines {
        let line = line.iter().take(n_shown).enumerate();
        let mut row = Row::from(
            line.map(|(at, it)| Cell::new(it).set_alignment(cells.alignment(at)))
                .collect::<Vec<_>>(),
        );
        row.max_height(TABLE_TTY_LINES_MAX);
        table.add_row(row);
    }
    let widths = cells.widths_min();
    for (at, column) in table.column_iter_mut().enumerate() {
        if style.width.is_some_and(|it| usize::from(it) < widths[at] + 4) {
            continue; // Not even one column fits: let it be cut.
        }
        let width = u16::try_from(widths[at] + 2).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
    }
    let mut text = table.to_string();
    if n_shown < frame.columns.len() {
        let names = cells.header[n_shown..].join(", ");
        let note = format!("\n {} more: {names}", frame.columns.len() - n_shown);
        text.push_str(&shorten(&note, style.width.map_or(usize::MAX, usize::from)));
    }
    text
}

/// Returns the table as GitHub Markdown, every row on one line, with a final line feed.
///
/// Numeric columns are aligned right. Cells are made safe; pipes, line feeds and backslashes that
/// would swallow the next character are escaped.
pub fn markdown(frame: &Frame) -> String {
    let mut text = String::new();
    markdown_line(frame.columns.iter().map(|it| markdown_cell(it)), &mut text);
    for dtype in &frame.dtypes {
        text.push_str(if is_numeric_dtype(dtype) { "|---:" } else { "|---" });
    }
    text.push_str("|\n");
    for row in &frame.rows {
        markdown_line(row.iter().map(|it| markdown_cell(&plain(it))), &mut text);
    }
    text
}

fn markdown_line(cells: impl Iterator<Item = String>, text: &mut String) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&cell);
        text.push_str(" |");
    }
    text.push('\n');
}

/// Returns the table as RFC 4180 with line feeds: `,` for CSV, a tab for TSV.
///
/// Null is an empty field and empty text is `""`, so the two can be told apart.
pub fn delimited(frame: &Frame, delimiter: u8) -> String {
    let delimiter = char::from(delimiter);
    let mut text = String::new();
    let header = frame.columns.iter().map(|it| Some(Cow::Borrowed(it.as_str())));
    delimited_line(header, delimiter, &mut text);
    for row in &frame.rows {
        let fields = row.iter().map(|it| (!it.is_null()).then(|| plain(it)));
        delimited_line(fields, delimiter, &mut text);
    }
    text
}

fn delimited_line<'a>(
    fields: impl ExactSizeIterator<Item = Option<Cow<'a, str>>>,
    delimiter: char,
    text: &mut String,
) {
    let is_alone = fields.len() == 1;
    for (at, field) in fields.enumerate() {
        if 0 < at {
            text.push(delimiter);
        }
        match field {
            // Readers skip an empty line, and the row with it.
            None if is_alone => text.push_str("\"\""),
            None => {}
            Some(field) if field.is_empty() || field.contains([delimiter, '"', '\r', '\n']) => {
                text.push('"');
                text.push_str(&field.replace('"', "\"\""));
                text.push('"');
            }
            Some(field) => text.push_str(&field),
        }
    }
    text.push('\n');
}

/// Returns a cell as text: null as nothing, numbers and truth values as JSON writes them.
fn plain(cell: &Value) -> Cow<'_, str> {
    match cell {
        Value::Null => Cow::Borrowed(""),
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

fn markdown_cell(text: &str) -> String {
    let text = sanitize::for_terminal(text);
    if !text.contains(['|', '\\', '\n', '\t']) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '|' => escaped.push_str("\\|"),
            '\n' => escaped.push_str("<br>"),
            '\t' => escaped.push(' '),
            '\\' if rest.peek().is_none_or(char::is_ascii_punctuation) => escaped.push_str("\\\\"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// The cells of a frame as a terminal shows them.
struct Cells {
    header: Vec<String>,
    lines: Vec<Vec<String>>,
    is_numeric: Vec<bool>,
}

impl Cells {
    fn of(frame: &Frame) -> Cells {
        let line = |row: &Vec<Value>| row.iter().map(shown_cell).collect::<Vec<_>>();
        let n_rows = frame.rows.len();
        let mut lines: Vec<Vec<String>>;
        if n_rows <= TABLE_TTY_ROWS_MAX {
            lines = frame.rows.iter().map(line).collect();
        } else {
            lines = frame.rows[..TABLE_TTY_ROWS_MAX - TAIL_ROWS].iter().map(line).collect();
            lines.push(vec!["…".to_owned(); frame.columns.len()]);
            lines.extend(frame.rows[n_rows - TAIL_ROWS..].iter().map(line));
        }
        Cells {
            header: frame.columns.iter().map(|it| sanitize::one_line(it)).collect(),
            lines,
            is_numeric: frame.dtypes.iter().map(|it| is_numeric_dtype(it)).collect(),
        }
    }

    fn alignment(&self, at: usize) -> CellAlignment {
        if self.is_numeric[at] { CellAlignment::Right } else { CellAlignment::Left }
    }

    /// Returns for each column how many cells wide it must be: numbers whole, text so that a word or
    /// two can be read.
    fn widths_min(&self) -> Vec<usize> {
        let widths = (0..self.header.len()).map(|at| {
            let cells = self.lines.iter().filter_map(|line| line.get(at));
            let content = cells.map(|it| display_width(it)).max().unwrap_or(0);
            let header = display_width(&self.header[at]);
            if self.is_numeric[at] {
                content.max(header.min(TEXT_WIDTH_MIN))
            } else {
                content.max(header).min(TEXT_WIDTH_MIN)
            }
        });
        widths.collect()
    }

    /// Returns how many columns from the left fit; at least one.
    fn columns_that_fit(&self, width: usize) -> usize {
        let mut used = 1;
        let fits = self.widths_min().into_iter().take_while(|it| {
            used += it + 3;
            used <= width
        });
        fits.count().max(1)
    }
}

fn shown_cell(cell: &Value) -> String {
    match cell {
        // A line feed in a cell would start a line of the table.
        Value::String(text) => sanitize::one_line(text),
        other => plain(other).into_owned(),
    }
}

fn display_width(text: &str) -> usize {
    unicode_width::UnicodeWidthStr::width(text)
}

/// Returns the text, cut to a width with an ellipsis.
fn shorten(text: &str, width: usize) -> String {
    if display_width(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 1;
    for char in text.chars() {
        used += unicode_width::UnicodeWidthChar::width(char).unwrap_or(0);
        if width < used {
            break;
        }
        short.push(char);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use serde_json::{Value, json};

    use super::{TableStyle, delimited, display_width, markdown, text};
    use crate::cases::cases;
    use crate::frame::Frame;

    fn frame(columns: &[(&str, &str)], rows: Vec<Vec<Value>>) -> Frame {
        Frame {
            columns: columns.iter().map(|it| it.0.to_owned()).collect(),
            dtypes: columns.iter().map(|it| it.1.to_owned()).collect(),
            row_count: rows.len() as u64,
            rows,
        }
    }

    fn products() -> Frame {
        frame(
            &[("product", "object"), ("Q2", "int64"), ("change", "float64")],
            vec![
                vec![json!("Anvil"), json!(120_400), json!(-18.4)],
                vec![json!("東京タワー"), json!(7), Value::Null],
            ],
        )
    }

    #[test]
    fn a_terminal_gets_a_grid_with_numbers_on_the_right() {
        let style = TableStyle { width: Some(80), colour: false };
        insta::assert_snapshot!(text(&products(), &style), @r"
        ┌────────────┬────────┬────────┐
        │ product    │     Q2 │ change │
        ╞════════════╪════════╪════════╡
        │ Anvil      │ 120400 │  -18.4 │
        │ 東京タワー │      7 │        │
        └────────────┴────────┴────────┘
        ");
    }

    #[test]
    fn colour_is_written_only_when_asked_for() {
        let plain = text(&products(), &TableStyle { width: None, colour: false });
        assert!(!plain.contains('\x1b'));
        let coloured = text(&products(), &TableStyle { width: None, colour: true });
        assert!(coloured.contains("\x1b["));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let names: Vec<_> = (0..30).map(|it| format!("column number {it}")).collect();
        let columns: Vec<_> = names.iter().map(|it| (it.as_str(), "object")).collect();
        let cell =
            json!("some words of 東京 that go on and on, withoutanyspaceatsomepoint".repeat(20));
        let wide = frame(&columns, vec![vec![cell; 30]]);
        for width in [1, 10, 20, 40, 79, 80, 200] {
            let text = text(&wide, &TableStyle { width: Some(width), colour: false });
            let widest = text.lines().map(display_width).max().unwrap();
            // A table cannot be narrower than one column of one character.
            assert!(widest <= usize::from(width.max(6)), "{widest} of {width}\n{text}");
            assert!(text.lines().count() < 20, "{text}");
        }
    }

    #[test]
    fn the_middle_of_a_long_table_is_left_out() {
        let long = frame(&[("n", "int64")], (0..2_000).map(|it| vec![json!(it)]).collect());
        let text = text(&long, &TableStyle { width: Some(80), colour: false });
        assert!(text.lines().count() < 60);
        assert!(text.contains(" 0 ") && text.contains('…') && text.contains(" 1999 "));
    }

    #[test]
    fn a_pipe_gets_markdown_without_truncation() {
        let rows = vec![vec![json!("a|b"), json!(1)], vec![json!("x\ny \\| z\\"), Value::Null]];
        let frame = frame(&[("na|me", "object"), ("n", "Int64")], rows);
        insta::assert_snapshot!(markdown(&frame), @r"
        | na\|me | n |
        |---|---:|
        | a\|b | 1 |
        | x<br>y \\\| z\\ |  |
        ");
    }

    #[test]
    fn nothing_in_a_cell_steers_a_terminal() {
        let frame = frame(&[("a\nb", "object")], vec![vec![json!("\x1b[2J\n\x1b]0;x\x07")]]);
        let style = TableStyle { width: Some(80), colour: false };
        assert!(!text(&frame, &style).contains('\x1b'));
        assert!(!markdown(&frame).contains('\x1b'));
    }

    #[test]
    fn delimited_text_is_exact() {
        let rows = vec![
            vec![json!("say \"hi\""), json!(1.5), json!(true)],
            vec![json!(""), Value::Null, json!("9007199254740993")],
            vec![json!("two\nlines"), json!(-2), json!("tab\there")],
        ];
        let frame = frame(&[("a,b", "object"), ("n", "float64"), ("x", "object")], rows);
        assert_eq!(
            delimited(&frame, b','),
            "\"a,b\",n,x\n\"say \"\"hi\"\"\",1.5,true\n\"\",,9007199254740993\n\"two\nlines\",-2,tab\there\n"
        );
        assert!(delimited(&frame, b'\t').starts_with("a,b\tn\tx\n"));
        assert!(delimited(&frame, b'\t').ends_with("-2\t\"tab\there\"\n"));
    }

    /// Reads what [`delimited`] writes; null and empty text are told apart by the quotes.
    fn read_back(text: &str, delimiter: char) -> Vec<Vec<Option<String>>> {
        let mut rows = vec![vec![]];
        let mut field: Option<String> = None;
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let row = rows.last_mut().unwrap();
            match char {
                '"' => {
                    let quoted = field.get_or_insert_default();
                    while let Some(char) = chars.next() {
                        if char != '"' {
                            quoted.push(char);
                        } else if chars.next_if_eq(&'"').is_some() {
                            quoted.push('"');
                        } else {
                            break;
                        }
                    }
                }
                '\n' => {
                    row.push(field.take());
                    rows.push(vec![]);
                }
                other if other == delimiter => row.push(field.take()),
                other => field.get_or_insert_default().push(other),
            }
        }
        assert_eq!(rows.pop(), Some(vec![]), "the last line ends");
        rows
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn what_is_written_reads_back_equal(
            cells in vec(vec(any::<Option<String>>(), 3), 0..6),
            is_tsv in any::<bool>(),
        ) {
            let value = |it: &Option<String>| it.as_ref().map_or(Value::Null, |text| json!(text));
            let rows = cells.iter().map(|row| row.iter().map(value).collect()).collect();
            let table = frame(&[("a", "object"), ("b", "object"), ("c", "object")], rows);
            let delimiter = if is_tsv { '\t' } else { ',' };
            let back = read_back(&delimited(&table, delimiter as u8), delimiter);
            prop_assert_eq!(&back[1..], &cells[..]);
        }

        #[test]
        fn a_markdown_row_is_one_line_of_as_many_cells(cells in vec(any::<String>(), 3)) {
            let row = cells.iter().map(|it| json!(it)).collect();
            let table = frame(&[("a", "object"), ("b", "object"), ("c", "object")], vec![row]);
            let written = markdown(&table);
            prop_assert_eq!(written.lines().count(), 3);
            let line = written.lines().last().unwrap();
            // As GitHub's parser does: a backslash takes the next character with it.
            let mut bars = 0;
            let mut chars = line.chars();
            while let Some(char) = chars.next() {
                match char {
                    '\\' => drop(chars.next()),
                    '|' => bars += 1,
                    _ => {}
                }
            }
            prop_assert_eq!(bars, 4);
        }
    }
}
