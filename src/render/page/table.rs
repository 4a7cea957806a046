//! A table on the page. All of its rows are HTML; the script only hides, sorts and searches them.

use maud::{Markup, html};
use serde_json::Value;

use csv_agent_text::digits::number;
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{PAGE_CELL_CHARS_MAX, PAGE_ROWS_MIN, PAGE_TABLES_BYTES_MAX};

use super::look::Look;
use super::table_marks::{CellMark, TableMarks};
use super::words::line;

/// Bytes of the markup around a cell.
const MARKUP_BYTES: usize = 24;
/// Characters of a cell shown initially; the rest is shown on request.
const GLANCE_CHARS: usize = 160;

/// Bytes left for the tables of a page.
pub(super) struct PageBudget(usize);

impl PageBudget {
    /// Creates the budget of a page.
    pub(super) fn new() -> PageBudget {
        PageBudget(PAGE_TABLES_BYTES_MAX)
    }

    /// Returns how many of the rows fit the budget, and spends it.
    fn take(&mut self, frame: &Frame) -> usize {
        let bytes = |row: &Vec<Value>| row.iter().map(cell_bytes).sum::<usize>();
        let mut n_rows = 0;
        for row in &frame.rows {
            let bytes = bytes(row);
            if self.0 < bytes && PAGE_ROWS_MIN <= n_rows {
                break;
            }
            self.0 = self.0.saturating_sub(bytes);
            n_rows += 1;
        }
        n_rows
    }
}

fn cell_bytes(cell: &Value) -> usize {
    MARKUP_BYTES + cell.as_str().map_or(8, |it| it.len().min(PAGE_CELL_CHARS_MAX))
}

/// A table on the page.
pub(super) struct TableView {
    /// The element.
    pub markup: Markup,
    /// Number of its rows on the page.
    pub n_rows: usize,
    /// Whether cells were cut.
    pub is_cut: bool,
}

/// Draws a table.
pub(super) fn table(name: &str, frame: &Frame, room: &mut PageBudget) -> TableView {
    marked_table(name, frame, &TableMarks::default(), room)
}

/// Draws a table with what changed in it.
pub(super) fn marked_table(
    name: &str,
    frame: &Frame,
    marks: &TableMarks,
    room: &mut PageBudget,
) -> TableView {
    let n_rows = room.take(frame);
    let rows = &frame.rows[..n_rows];
    let column = |at: usize| rows.iter().map(move |row| row.get(at).unwrap_or(&Value::Null));
    let looks: Vec<Look> = (frame.columns.iter().zip(&frame.dtypes).enumerate())
        .map(|(at, (name, dtype))| Look::of(name, dtype, &column(at)))
        .collect();
    let mut is_cut = false;
    let markup = html! {
        // The names unchanged: the header shows them made safe.
        table data-columns=(Value::from(frame.columns.clone())) {
            caption.vh { (line(name)) }
            thead { tr {
                @for (column, look) in frame.columns.iter().zip(&looks) {
                    th scope="col" class=[class(*look)] data-sort=(look.name()) { (head(&line(column))) }
                }
            } }
            tbody {
                @for (at, row) in rows.iter().enumerate() {
                    tr {
                        @for (column, (cell, look)) in row.iter().zip(&looks).enumerate() {
                            (td(cell, *look, marks.of((at, column)), &mut is_cut))
                        }
                    }
                }
            }
        }
    };
    TableView { markup, n_rows, is_cut }
}

fn is_number(look: Look) -> bool {
    matches!(look, Look::Number(_))
}

fn class(look: Look) -> Option<&'static str> {
    is_number(look).then_some("n")
}

/// Draws a column's name, or a placeholder: the sort control needs a label. A long one has lines.
fn head(name: &str) -> Markup {
    html! {
        @if name.is_empty() { span.e { "no name" } }
        @for (at, word) in name.split_inclusive('_').enumerate() { @if 0 < at { wbr; } (word) }
    }
}

fn td(cell: &Value, look: Look, mark: Option<&CellMark>, is_cut: &mut bool) -> Markup {
    let mark = mark.map(|it| {
        let text = match it {
            CellMark::New => "new".to_owned(),
            CellMark::Was(Value::Null) => "was missing".to_owned(),
            CellMark::Was(then) => format!("was {}", look.show(then).text),
        };
        html! { " " span.was { (text) } }
    });
    if cell.is_null() {
        return html! { td class=(if is_number(look) { "n x" } else { "x" }) { @if let Some(mark) = mark { (mark) } } };
    }
    let shown = look.show(cell);
    *is_cut |= shown.is_cut;
    let is_long = GLANCE_CHARS < shown.text.len();
    // The script reads the value of a cell from its text, unless that is more than the value.
    let exact = shown.exact.or_else(|| mark.is_some().then(|| cell.to_string()));
    html! {
        td class=[class(look)] data-v=[exact] {
            @if cell == "" { span.e { "empty" } }
            @else if is_long { div.long tabindex="0" { (shown.text) } }
            @else { (shown.text) }
            @if shown.is_cut { span.cut { "cut at " (number(PAGE_CELL_CHARS_MAX)) " characters" } }
            @if let Some(mark) = mark { (mark) }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{PageBudget, table};
    use csv_agent_types::frame::Frame;

    fn frame(rows: Vec<Vec<Value>>) -> Frame {
        Frame {
            columns: vec!["a<b".into(), "n".into()],
            dtypes: vec!["str".into(), "int64".into()],
            row_count: rows.len() as u64,
            rows,
        }
    }

    #[test]
    fn null_and_empty_and_markup_are_told_apart() {
        let rows = vec![vec![json!("<i>"), Value::Null], vec![json!(""), json!(10_000)]];
        let found = table("t", &frame(rows), &mut PageBudget::new());
        let body = found.markup.0.split_once("<tbody>").unwrap().1.to_owned();
        assert_eq!(
            body,
            "<tr><td>&lt;i&gt;</td><td class=\"n x\"></td></tr>\
             <tr><td><span class=\"e\">empty</span></td><td class=\"n\">10,000</td></tr></tbody></table>"
        );
        assert!(found.markup.0.contains("<th scope=\"col\" data-sort=\"text\">a&lt;b</th>"));
    }

    #[test]
    fn a_column_without_a_name_says_so() {
        let columns = vec![" ".into(), "n".into()];
        let nameless = Frame { columns, ..frame(Vec::new()) };
        let found = table("t", &nameless, &mut PageBudget::new()).markup.0;
        assert!(found.contains("<span class=\"e\">no name</span></th>"), "{found}");
        assert!(found.contains("data-columns=\"[&quot; &quot;,&quot;n&quot;]\""), "{found}");
    }

    #[test]
    fn a_page_has_room_for_the_beginning_of_each_table() {
        let rows = vec![vec![json!("x".repeat(1_000)), json!(1)]; 2_000];
        let mut room = PageBudget::new();
        let found: Vec<usize> =
            (0..20).map(|_| table("t", &frame(rows.clone()), &mut room).n_rows).collect();
        assert_eq!((found[0], found[19]), (2_000, 25));
        assert!(found.is_sorted_by(|a, b| b <= a), "{found:?}");
    }
}
