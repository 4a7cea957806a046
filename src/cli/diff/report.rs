//! What a comparison has found, for people and for programs.

use std::fmt::Write as _;
use std::io::Write;

use serde_json::{Map, Value, json};

use csv_agent_render::report::checks::PlacedRow;
use csv_agent_sink::Format;
use csv_agent_text::{
    digits::{count, number},
    sanitize,
};
use csv_agent_types::catalog::DType;

use crate::listing::{Listing, frame};
use crate::options::GlobalOptions;

/// Columns of the longest word for a difference.
const WORD_CELLS: usize = "removed".len();

/// Characters of each of the two values of a changed cell: both have to fit into a cell of a report.
const CHANGED_CHARS_MAX: usize = 28;
/// Characters that are shown before the first that differs.
const EQUAL_CHARS_SHOWN: usize = 8;

/// A column whose type differs.
#[derive(Debug)]
pub(super) struct Retyped {
    pub column: String,
    pub old: DType,
    pub new: DType,
}

/// The first of some rows, and how many there are.
#[derive(Debug, Default)]
pub(super) struct RowsOf {
    pub n_rows: u64,
    pub rows: Vec<PlacedRow>,
}

/// A cell with another value.
#[derive(Debug)]
pub(super) struct ChangedCell {
    pub column: String,
    pub old: Value,
    pub new: Value,
}

/// A row with other values.
#[derive(Debug)]
pub(super) struct ChangedRow {
    /// Its key, and its place in the new version.
    pub row: PlacedRow,
    pub cells: Vec<ChangedCell>,
}

/// Where two versions of a table differ.
#[derive(Debug)]
pub(super) struct DiffReport {
    /// How many rows the old and the new one have.
    pub n_rows: [u64; 2],
    /// Columns that only one of them has.
    pub columns_removed: Vec<String>,
    pub columns_added: Vec<String>,
    pub retyped: Vec<Retyped>,
    /// The columns that identify a row; none if whole rows are compared.
    pub key: Vec<String>,
    pub removed: RowsOf,
    pub added: RowsOf,
    pub n_changed: u64,
    pub changed: Vec<ChangedRow>,
    /// Columns with other values, and in how many rows.
    pub changed_cells: Vec<(String, u64)>,
}

/// Returns whether the output is the text for people, which shows the first rows only.
pub(super) fn is_for_people(options: &GlobalOptions) -> bool {
    matches!(options.format, Format::Text | Format::Reply)
}

impl DiffReport {
    /// Returns whether nothing differs.
    pub(super) fn is_same(&self) -> bool {
        self.removed.n_rows + self.added.n_rows + self.n_changed == 0
            && self.columns_removed.is_empty()
            && self.columns_added.is_empty()
            && self.retyped.is_empty()
    }

    /// Returns the sentence about differences that are not written, if there are any for a program.
    pub(super) fn cut(&self, options: &GlobalOptions) -> Option<String> {
        let parts = [
            ("removed", self.removed.rows.len(), self.removed.n_rows),
            ("added", self.added.rows.len(), self.added.n_rows),
            ("changed", self.changed.len(), self.n_changed),
        ];
        let cut = parts.into_iter().filter(|it| (it.1 as u64) < it.2);
        let cut = cut.map(|(what, shown, all)| {
            format!("{} of {} {what} rows", number(shown as u64), number(all))
        });
        let cut: Vec<String> = cut.collect();
        (!is_for_people(options) && !cut.is_empty())
            .then(|| format!("only the first {} are written", cut.join(", ")))
    }

    /// Writes the differences.
    pub(super) fn write(&self, out: &mut dyn Write, options: &GlobalOptions) -> anyhow::Result<()> {
        if is_for_people(options) {
            let text = options.terminal.stdout.fitted(self.text(), WORD_CELLS + 2);
            return Ok(out.write_all(text.as_bytes())?);
        }
        let columns = ["change", "file", "line", "key", "column", "old", "new"];
        let (mut rows, mut documents) = (Vec::new(), Vec::new());
        for (change, column, old, new) in self.columns() {
            let mut document = document(change, &PlacedRow::default());
            (document["column"], document["old"], document["new"]) =
                (json!(column), json!(old), json!(new));
            documents.push(document);
            let none = Value::Null;
            rows.push(vec![
                json!(change),
                none.clone(),
                none.clone(),
                none,
                json!(column),
                json!(old),
                json!(new),
            ]);
        }
        for ChangedRow { row, cells } in &self.changed {
            let object =
                |it: &ChangedCell| (it.column.clone(), json!({"old": it.old, "new": it.new}));
            let cells_by_name: Map<String, Value> = cells.iter().map(object).collect();
            let mut document = document("changed", row);
            document["key"] = object_of(&row.values);
            document["cells"] = Value::Object(cells_by_name);
            documents.push(document);
            for ChangedCell { column, old, new } in cells {
                let (key, column) = (json!(self.key_text(row)), json!(column));
                let place = [json!("changed"), json!(row.file), json!(row.line)];
                rows.push(
                    place.into_iter().chain([key, column, old.clone(), new.clone()]).collect(),
                );
            }
        }
        for (change, found) in [("removed", &self.removed), ("added", &self.added)] {
            for row in &found.rows {
                let mut document = document(change, row);
                document["values"] = object_of(&row.values);
                documents.push(document);
                rows.extend(self.cells_of(change, row));
            }
        }
        Listing { frame: frame(&columns, &["line"], rows), documents }.write(out, options)
    }

    /// Returns the cells of a row that only one version has, one each, beside its key; without a key, the row alone,
    /// which is then its own key.
    fn cells_of(&self, change: &str, row: &PlacedRow) -> Vec<Vec<Value>> {
        let is_other = |it: &&(String, Value)| !self.key.is_empty() && !self.key.contains(&it.0);
        let cells = row.values.iter().filter(is_other).map(|(column, value)| {
            let (old, new) = match change {
                "removed" => (value.clone(), Value::Null),
                _ => (Value::Null, value.clone()),
            };
            [json!(column), old, new]
        });
        let mut cells: Vec<[Value; 3]> = cells.collect();
        if cells.is_empty() {
            cells.push([Value::Null, Value::Null, Value::Null]);
        }
        let place = [json!(change), json!(row.file), json!(row.line), json!(self.key_text(row))];
        cells.into_iter().map(|it| place.iter().cloned().chain(it).collect()).collect()
    }

    /// Returns the columns that differ: how, the name, and the types.
    fn columns(&self) -> Vec<(&'static str, &str, Option<&str>, Option<&str>)> {
        let removed = self.columns_removed.iter().map(|it| ("column_removed", &**it, None, None));
        let added = self.columns_added.iter().map(|it| ("column_added", &**it, None, None));
        let retyped = self
            .retyped
            .iter()
            .map(|it| ("column_type", &*it.column, Some(it.old.name()), Some(it.new.name())));
        removed.chain(added).chain(retyped).collect()
    }

    /// Returns the key of a row as text: `id=3`; without a key, all its values.
    fn key_text(&self, row: &PlacedRow) -> String {
        let is_key = |it: &&(String, Value)| self.key.is_empty() || self.key.contains(&it.0);
        let values = row.values.iter().filter(is_key).cloned().collect();
        PlacedRow { values, ..PlacedRow::default() }.text()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (change, column, old, new) in self.columns() {
            let column = sanitize::one_line(column);
            let line = match (change, old, new) {
                ("column_removed", ..) => format!("{:WORD_CELLS$}  column `{column}`\n", "removed"),
                (_, Some(old), Some(new)) => {
                    format!("{:WORD_CELLS$}  column `{column}`: {old} → {new}\n", "changed")
                }
                _ => format!("{:WORD_CELLS$}  column `{column}`\n", "added"),
            };
            text += &line;
        }
        let changed: Vec<String> = self.changed.iter().map(ChangedRow::text).collect();
        let lines = |it: &RowsOf| it.rows.iter().map(PlacedRow::text).collect::<Vec<_>>();
        for (word, lines, n_rows) in [
            ("changed", changed, self.n_changed),
            ("removed", lines(&self.removed), self.removed.n_rows),
            ("added", lines(&self.added), self.added.n_rows),
        ] {
            let n_more = n_rows.saturating_sub(lines.len() as u64);
            for line in &lines {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{word:WORD_CELLS$}  {line}");
            }
            if 0 < n_more {
                let more = count(n_more, &format!("more {word} row"));
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{:WORD_CELLS$}  and {more}", "");
            }
        }
        let space = if text.is_empty() { "" } else { "\n" };
        text + space + &self.summary() + "\n"
    }

    /// Returns how much differs, in a line or two.
    fn summary(&self) -> String {
        let by = match &self.key[..] {
            [] => "Whole rows are compared, since no column identifies them.".to_owned(),
            [key] => format!("Rows are matched by `{}`.", sanitize::one_line(key)),
            keys => format!("Rows are matched by `{}`.", sanitize::one_line(&keys.join("`, `"))),
        };
        let [old, new] = self.n_rows;
        let rows = if old == new {
            count(old, "row")
        } else {
            format!("{} → {}", number(old), count(new, "row"))
        };
        let n_cells: u64 = self.changed_cells.iter().map(|it| it.1).sum();
        let parts = [
            (self.n_changed, "changed"),
            (self.removed.n_rows, "removed"),
            (self.added.n_rows, "added"),
        ];
        let parts = parts.into_iter().filter(|it| 0 < it.0).map(|(n, word)| {
            let cells = format!(" ({})", count(n_cells, "cell"));
            format!("{} {word}{}", number(n), if word == "changed" { &*cells } else { "" })
        });
        let parts: Vec<String> = parts.collect();
        let found = if parts.is_empty() { "no row differs".to_owned() } else { parts.join(", ") };
        let cells = self.changed_cells.iter();
        let cells = cells.map(|(name, n)| format!("`{}` {}", sanitize::one_line(name), number(*n)));
        let cells: Vec<String> = cells.collect();
        let cells = if cells.is_empty() {
            String::new()
        } else {
            format!("\nChanged cells: {}.", cells.join(", "))
        };
        format!("{rows}: {found}. {by}{cells}")
    }
}

impl ChangedRow {
    /// Returns the row as one line: `orders.csv:8: id=3, total=10.0 → 12.0`.
    fn text(&self) -> String {
        let shown = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        let cells = self.cells.iter().map(|it| {
            let (old, new) = (shown(&it.old), shown(&it.new));
            (it.column.clone(), json!(format!("{} → {}", around(&old, &new), around(&new, &old))))
        });
        let values = self.row.values.iter().cloned().chain(cells).collect();
        PlacedRow { values, ..self.row.clone() }.text()
    }
}

/// Returns the part of a long value where it begins to differ from another one.
fn around(text: &str, other: &str) -> String {
    if text.chars().count() <= CHANGED_CHARS_MAX {
        return text.to_owned();
    }
    let n_equal = text.chars().zip(other.chars()).take_while(|it| it.0 == it.1).count();
    let from = n_equal.saturating_sub(EQUAL_CHARS_SHOWN);
    let part: String = text.chars().skip(from).take(CHANGED_CHARS_MAX - 2).collect();
    let end = if part.chars().count() + from < text.chars().count() { "…" } else { "" };
    format!("{}{part}{end}", if 0 < from { "…" } else { "" })
}

fn object_of(values: &[(String, Value)]) -> Value {
    Value::Object(values.iter().cloned().collect())
}

/// Returns the document of a difference, with the members that all have.
fn document(change: &str, row: &PlacedRow) -> Value {
    json!({
        "change": change, "source_file": row.file, "source_line": row.line, "source_cell": row.cell, "key": null,
        "cells": null, "values": null, "column": null, "old": null, "new": null,
    })
}

#[cfg(test)]
mod tests {
    use super::around;

    #[test]
    fn a_long_value_is_shown_where_it_differs() {
        let long = |end: &str| format!("{}{end}", "same text again and again, ".repeat(4));
        assert_eq!(around("short", "other"), "short");
        assert_eq!(around(&long("then x"), &long("then y")), "…n, then x");
        assert_eq!(around(&long("y"), "same text"), "…ame text again and again, …");
        assert_eq!(around(&"é".repeat(40), "x"), format!("{}…", "é".repeat(26)));
    }
}
