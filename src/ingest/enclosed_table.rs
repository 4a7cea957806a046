//! Small tables between blank lines, with titles above and notes below that outnumber their rows.
//!
//! Pure. By the number of its records, such a file would be one column of text.

use super::records::texts_of;
use super::shape::is_value;
use super::syntax::Syntax;
use crate::record_shapes::RecordShape;

/// Minimum records of a table, with its header.
const RECORDS_MIN: usize = 2;

/// Returns how many records of the blocks between blank lines are tables, if all others are lines of text.
pub(crate) fn n_records(text: &[u8], shapes: &[RecordShape], syntax: Syntax) -> Option<usize> {
    let mut n_records = 0;
    for block in shapes.chunk_by(|_, below| !below.is_behind_blank) {
        let n_lines = block.iter().filter(|it| is_line(it)).count();
        // Titles may be directly above the names.
        let table = &block[block.iter().take_while(|it| is_line(it)).count()..];
        if is_table(text, table, syntax) {
            n_records += table.len();
        } else if 2 * n_lines <= block.len() {
            return None;
        }
    }
    Some(n_records).filter(|it| 0 < *it)
}

fn is_line(record: &RecordShape) -> bool {
    record.width == 1 || record.is_prose
}

/// Returns whether all records of a block have the same number of cells: names, and below them rows of
/// which some column has only values.
fn is_table(text: &[u8], block: &[RecordShape], syntax: Syntax) -> bool {
    let width = block.first().map_or(0, |it| it.width);
    let is_row = |it: &RecordShape| it.width == width && !it.is_prose;
    if width < 2 || block.len() < RECORDS_MIN || !block.iter().all(is_row) {
        return false;
    }
    let are_values = |record: &RecordShape| -> Vec<bool> {
        let cells = texts_of(&text[record.start..record.end], syntax);
        cells.iter().map(|it| is_value(it.as_bytes())).collect()
    };
    let has_names = block[0].n_filled == width && !are_values(&block[0]).contains(&true);
    let rows: Vec<Vec<bool>> = block[1..].iter().map(are_values).collect();
    has_names && (0..width).any(|at| rows.iter().all(|row| row.get(at) == Some(&true)))
}

#[cfg(test)]
mod tests {
    use super::n_records;
    use crate::record_shapes::records;
    use crate::syntax::{Delimiter, Syntax};

    #[test]
    fn tables_between_blank_lines_are_told_from_titles_and_notes() {
        let check = |text: &str, n: Option<usize>| {
            let syntax = Syntax::usual(Delimiter::new(",").unwrap());
            let shapes = records(text.as_bytes(), syntax, 100);
            assert_eq!(n_records(text.as_bytes(), &shapes, syntax), n, "{text}");
        };
        let table = "Region,Year\nA,2009\nB,2010\n";
        check(&format!("Report\nof 2009\n\n{table}\nNote: x, y\nz\n\nend\n"), Some(3));
        check(&format!("Report\nof 2009\nfor all\nx\n{table}\nz\n"), Some(3));
        check(&format!("Report\n\n{table}\nof costs\n\nKind,Cost,Unit\na,1,x\n\nz\n"), Some(5));
        // Rows that have no names or no values, or are not set apart, may be text.
        check("Results\n\n1,5\n2,5\n\nin metres\n", None);
        check("Dear Ann,\nbest,\n\nyes,no\nno,yes\n", None);
        check(&format!("Report\n{table}Note\nz\ny\nx\n"), None);
    }
}
