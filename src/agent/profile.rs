//! A profile of a dataset as text, for a model that cannot query the data itself.
//!
//! Pure. Counts are exact for the rows that were read, and the text states which those are.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use csv_agent_types::catalog::{Column, size_in_words};
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::{
    PROFILE_DISTINCT_MAX, PROFILE_HEAD_ROWS, PROFILE_VALUE_BYTES_MAX, SHARED_ROWS_MIN,
};

use crate::egress::PROFILE_ROW;

/// Number of values listed singly: the most frequent ones.
const TOP_VALUES: usize = 5;

/// Returns the profile of a dataset whose first rows are in `frame`, in about `bytes_max` bytes. The text
/// counts what does not fit.
///
/// Where rows are withheld, the text contains no row, no minimum or maximum, and no value that few rows
/// have.
pub(crate) fn profile(
    name: &str,
    columns: &[Column],
    frame: &Frame,
    keeps_rows: bool,
    bytes_max: usize,
) -> String {
    let (n_rows, n_read) = (frame.row_count, frame.rows.len());
    let mut text = format!("- {name}: {}. ", size_in_words(n_rows, columns.len()));
    if (n_read as u64) < n_rows {
        let lead = "Missing values are counted in all rows, the rest in the first";
        let _ = writeln!(text, "{lead} {n_read}.");
    } else {
        text += "Everything is counted in all rows.\n";
    }
    let mut n_told = 0;
    for column in columns {
        let line = line(column, frame, keeps_rows);
        if bytes_max < text.len() + line.len() {
            let n = columns.len() - n_told;
            let columns = if n == 1 { "column" } else { "columns" };
            let _ = writeln!(text, "  - and {n} more {columns}");
            break;
        }
        text += &line;
        n_told += 1;
    }
    let rows = if keeps_rows { String::new() } else { first_rows(frame, n_told) };
    if text.len() + rows.len() <= bytes_max {
        text += &rows;
    }
    text
}

fn line(column: &Column, frame: &Frame, keeps_rows: bool) -> String {
    let mut text = format!("  - {:?} {}", column.name, column.dtype.name());
    if let Some(nulls) = column.nulls {
        let _ = write!(text, ", {nulls} missing");
    }
    let remarks = column.remarks();
    if !remarks.is_empty() {
        let _ = write!(text, ", note {:?}", remarks.join("; "));
    }
    if let Some(at) = frame.index_of(&column.name) {
        let values = frame.rows.iter().filter_map(|row| row.get(at)).filter(|it| !it.is_null());
        text += &facts(values, keeps_rows);
    }
    text + "\n"
}

/// Summary statistics of the values of a column.
fn facts<'a>(values: impl Iterator<Item = &'a Value>, keeps_rows: bool) -> String {
    let mut counts: HashMap<&Value, u64> = HashMap::new();
    let mut has_more = false;
    let (mut n_numbers, mut sum, mut low, mut high) =
        (0_u32, 0.0, f64::INFINITY, f64::NEG_INFINITY);
    let mut texts: Option<(&str, &str)> = None;
    for value in values {
        if counts.len() < PROFILE_DISTINCT_MAX || counts.contains_key(value) {
            *counts.entry(value).or_default() += 1;
        } else {
            has_more = true;
        }
        if let Some(number) = value.as_f64() {
            (n_numbers, sum) = (n_numbers + 1, sum + number);
            (low, high) = (low.min(number), high.max(number));
        } else if let Some(text) = value.as_str() {
            let (first, last) = texts.unwrap_or((text, text));
            texts = Some((first.min(text), last.max(text)));
        }
    }
    let mut text = String::new();
    if 0 < n_numbers {
        let mean = sum / f64::from(n_numbers);
        if !keeps_rows {
            let _ = write!(text, ", min {low}, max {high}");
        }
        // A sum over few rows reveals their values.
        if !keeps_rows || SHARED_ROWS_MIN <= u64::from(n_numbers) {
            let _ = write!(text, ", sum {sum}, mean {mean}");
        }
    }
    if let Some((first, last)) = texts.filter(|_| !keeps_rows) {
        let _ = write!(text, ", first {}, last {} in order", short(first), short(last));
    }
    let more = if has_more { "more than " } else { "" };
    let _ = write!(text, ", {more}{} distinct", counts.len());
    let least = if keeps_rows { SHARED_ROWS_MIN } else { 2 };
    let mut top: Vec<(&Value, u64)> = counts.into_iter().filter(|it| least <= it.1).collect();
    // Ties in a fixed order, so that the same data always gives the same text.
    top.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.to_string().cmp(&b.0.to_string())));
    for (at, (value, count)) in top.into_iter().take(TOP_VALUES).enumerate() {
        let lead = if at == 0 { "; most often" } else { "," };
        let value = value.as_str().map_or_else(|| value.to_string(), short);
        let _ = write!(text, "{lead} {value} ({count} times)");
    }
    text
}

fn first_rows(frame: &Frame, n_columns: usize) -> String {
    let mut text = String::new();
    for row in frame.rows.iter().take(PROFILE_HEAD_ROWS) {
        let cells = row.iter().take(n_columns);
        let cells = cells.map(|it| it.as_str().map_or_else(|| it.to_string(), short));
        let _ = writeln!(text, "{PROFILE_ROW}{}", cells.collect::<Vec<_>>().join(", "));
    }
    text
}

/// Returns a text in quotes, cut to the limit of a value.
fn short(text: &str) -> String {
    if text.len() <= PROFILE_VALUE_BYTES_MAX {
        return format!("{text:?}");
    }
    format!("{:?}…", &text[..text.floor_char_boundary(PROFILE_VALUE_BYTES_MAX)])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::profile;
    use csv_agent_types::catalog::{Column, DType};
    use csv_agent_types::frame::Frame;

    fn frame(columns: &[Column], rows: Value, row_count: u64) -> Frame {
        Frame {
            columns: columns.iter().map(|it| it.name.clone()).collect(),
            dtypes: vec![String::new(); columns.len()],
            rows: serde_json::from_value(rows).unwrap(),
            row_count,
        }
    }

    #[test]
    fn a_profile_counts_what_it_has_read_and_says_so() {
        let columns = [
            Column::new("city", DType::String, Some(1)),
            Column::new("amount", DType::Float64, Some(0)),
        ];
        let rows = json!([["Oslo", 2], ["Bergen", 1.5], ["Oslo", -1], [null, 2]]);
        assert_eq!(
            profile("t", &columns, &frame(&columns, rows.clone(), 4), false, 4096),
            "- t: 4 rows, 2 columns. Everything is counted in all rows.\n  \
             - \"city\" string, 1 missing, first \"Bergen\", last \"Oslo\" in order, 2 distinct; \
             most often \"Oslo\" (2 times)\n  \
             - \"amount\" float64, 0 missing, min -1, max 2, sum 4.5, mean 1.125, 3 distinct; most \
             often 2 (2 times)\n  \
             - row: \"Oslo\", 2\n  - row: \"Bergen\", 1.5\n  - row: \"Oslo\", -1\n"
        );
        let part = profile("t", &columns, &frame(&columns, rows.clone(), 9), false, 4096);
        assert!(part.contains("Missing values are counted in all rows, the rest in the first 4."));
        let frame = frame(&columns, rows, 4);
        assert_eq!(
            profile("t", &columns, &frame, true, 4096),
            "- t: 4 rows, 2 columns. Everything is counted in all rows.\n  \
             - \"city\" string, 1 missing, 2 distinct\n  - \"amount\" float64, 0 missing, 3 distinct\n"
        );
    }

    #[test]
    fn a_profile_is_bounded() {
        let columns: Vec<Column> = (0..500)
            .map(|it| Column::new(format!("column {it}"), DType::String, Some(0)))
            .collect();
        let frame = frame(&columns, json!([vec!["x".repeat(5_000); 500]]), 1);
        let text = profile("t", &columns, &frame, false, 2_000);
        assert!(text.len() < 2_100, "{}", text.len());
        assert!(text.ends_with("more columns\n"), "{text}");
    }
}
