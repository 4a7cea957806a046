//! What changed in a table since an earlier one: the earlier value of a cell, and rows that are new.
//!
//! Rows are the same if their texts are. Without such columns, or where several rows have the same texts,
//! nothing is marked: the sentences above the table say what differs.

use std::collections::HashMap;

use serde_json::Value;

use csv_agent_types::frame::{Frame, is_numeric_dtype};

/// The share by which equal numbers may differ, as where tables are compared in words.
const TOLERANCE: f64 = 1e-9;

/// The marks of a table's cells.
#[derive(Debug, Default)]
pub(super) struct TableMarks(HashMap<(usize, usize), CellMark>);

/// How a cell differs.
#[derive(Debug, PartialEq)]
pub(super) enum CellMark {
    /// It begins a row that was not there.
    New,
    /// Its earlier value.
    Was(Value),
}

impl TableMarks {
    /// Compares the cells of two tables.
    pub(super) fn between(then: &Frame, now: &Frame) -> TableMarks {
        let is_text = |at: usize| !is_numeric_dtype(&now.dtypes[at]);
        let shared = now.columns.iter().enumerate();
        let shared = shared.filter_map(|(at, name)| Some((at, then.index_of(name)?)));
        let (keys, values): (Vec<_>, Vec<_>) = shared.partition(|it| is_text(it.0));
        let is_single = now.rows.len() == 1 && then.rows.len() == 1;
        if keys.is_empty() && !is_single {
            return TableMarks::default();
        }
        let key = |row: &[Value], of: fn(&(usize, usize)) -> usize| {
            keys.iter().map(|it| row[of(it)].to_string()).collect::<Vec<_>>()
        };
        let earlier: HashMap<_, _> = then.rows.iter().map(|it| (key(it, |it| it.1), it)).collect();
        let keys_now: Vec<_> = now.rows.iter().map(|it| key(it, |it| it.0)).collect();
        let mut distinct = keys_now.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if earlier.len() < then.rows.len() || distinct.len() < keys_now.len() {
            return TableMarks::default();
        }
        let mut marks = HashMap::new();
        for (row, (cells, key)) in now.rows.iter().zip(&keys_now).enumerate() {
            let Some(before) = earlier.get(key) else {
                marks.insert((row, 0), CellMark::New);
                continue;
            };
            for (at, then) in &values {
                if !is_same(&cells[*at], &before[*then]) {
                    marks.insert((row, *at), CellMark::Was(before[*then].clone()));
                }
            }
        }
        // Where all is new, nothing is.
        if marks.len() == now.rows.len() && marks.values().all(|it| *it == CellMark::New) {
            return TableMarks::default();
        }
        TableMarks(marks)
    }

    /// Returns the mark of a cell: its row and column.
    pub(super) fn of(&self, place: (usize, usize)) -> Option<&CellMark> {
        self.0.get(&place)
    }
}

fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CellMark, TableMarks};
    use csv_agent_types::frame::Frame;

    fn frame(rows: &[(&str, f64)]) -> Frame {
        Frame {
            columns: vec!["region".into(), "amount".into()],
            dtypes: vec!["str".into(), "float64".into()],
            rows: rows.iter().map(|it| vec![json!(it.0), json!(it.1)]).collect(),
            row_count: rows.len() as u64,
        }
    }

    /// Returns the marks of the amounts, then those of the regions.
    #[track_caller]
    fn check(then: &[(&str, f64)], now: &[(&str, f64)], was: &[Option<f64>], new: &[usize]) {
        let marks = TableMarks::between(&frame(then), &frame(now));
        for (row, was) in was.iter().enumerate() {
            let was = was.map(|it| CellMark::Was(Value::from(it)));
            assert_eq!(marks.of((row, 1)), was.as_ref(), "{row}");
            let is_new = marks.of((row, 0)) == Some(&CellMark::New);
            assert_eq!(is_new, new.contains(&row), "{row}");
        }
    }

    #[test]
    fn the_earlier_value_is_that_of_the_row_with_the_same_texts() {
        let then = [("North", 1.0), ("South", 2.0)];
        let now = [("South", 2.0), ("West", 5.0), ("North", 3.0)];
        check(&then, &now, &[None, None, Some(1.0)], &[1]);
        check(&then, &[("South", 2.0 + 1e-12)], &[None], &[]);
    }

    #[test]
    fn rows_that_cannot_be_told_apart_have_no_marks() {
        check(&[("North", 1.0), ("North", 2.0)], &[("North", 3.0)], &[None], &[]);
        check(&[("North", 1.0)], &[("East", 1.0), ("West", 2.0)], &[None, None], &[]);
    }
}
