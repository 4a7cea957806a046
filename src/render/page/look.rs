//! The format of a column's cells: as on a terminal, numbers with enough decimals to distinguish them,
//! times without the parts that all share.
//!
//! The displayed text may be rounded or shortened; the value itself is then attached as JSON.

use std::borrow::Cow;

use serde_json::Value;

use csv_agent_types::frame::is_numeric_dtype;
use csv_agent_types::limits::PAGE_CELL_CHARS_MAX;

use super::words::{beginning, shown};
use crate::table::moment::MomentFormat;
use crate::table::number::NumberFormat;

/// How a column is sorted and aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// Unchanged.
    Text,
    /// True before false.
    Truth,
    /// Right-aligned.
    Number(NumberFormat),
    /// A date, or a date and time.
    Time(MomentFormat),
}

/// A cell on the page.
pub(super) struct CellView<'a> {
    /// The displayed text.
    pub text: Cow<'a, str>,
    /// The value as JSON, where the displayed text differs in more than separators and the minus sign.
    pub exact: Option<String>,
    /// Whether it is the beginning of a longer text, and `exact` is missing too.
    pub is_cut: bool,
}

impl Look {
    /// Chooses the format of a column.
    pub(super) fn of<'a>(
        name: &str,
        dtype: &str,
        cells: &(impl Iterator<Item = &'a Value> + Clone),
    ) -> Look {
        let known = || cells.clone().filter(|it| !it.is_null());
        let is_any = known().next().is_some();
        if is_numeric_dtype(dtype) || is_any && known().all(Value::is_number) {
            return Look::Number(NumberFormat::of(name, known()));
        }
        if is_any && known().all(Value::is_boolean) {
            return Look::Truth;
        }
        let format = dtype.starts_with("datetime64").then(|| MomentFormat::of(known()));
        format.flatten().map_or(Look::Text, Look::Time)
    }

    /// Returns the keyword by which the page's script sorts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Look::Text => "text",
            Look::Truth => "truth",
            Look::Number(_) => "number",
            Look::Time(_) => "time",
        }
    }

    /// Returns a cell that is not null.
    pub(super) fn show(self, cell: &Value) -> CellView<'_> {
        match (self, cell) {
            (Look::Number(format), cell) => {
                let text = format.write(cell);
                let exact = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
                let is_exact = text.replace(',', "") == exact;
                let text = match text.strip_prefix('-') {
                    Some(digits) => format!("\u{2212}{digits}"),
                    None => text,
                };
                let exact = (!is_exact).then(|| cell.to_string());
                CellView { text: Cow::Owned(text), exact, is_cut: false }
            }
            (Look::Time(format), Value::String(time)) => {
                let text = Cow::Owned(format.write(time));
                CellView { text, exact: Some(cell.to_string()), is_cut: false }
            }
            (_, Value::String(text)) => text_shown(text, cell),
            (_, other) => {
                CellView { text: Cow::Owned(other.to_string()), exact: None, is_cut: false }
            }
        }
    }
}

fn text_shown<'a>(text: &'a str, cell: &Value) -> CellView<'a> {
    let (head, n_chars) = beginning(text, PAGE_CELL_CHARS_MAX);
    let is_cut = n_chars.is_some();
    let safe = shown(head);
    let exact = (!is_cut && safe != text).then(|| cell.to_string());
    CellView { text: Cow::Owned(safe), exact, is_cut }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Look;

    /// Shows a column and compares what is seen, and the values that go with it.
    #[track_caller]
    fn check(name: &str, dtype: &str, cells: &[Value], seen: &[&str], exact: &[Option<&str>]) {
        let look = Look::of(name, dtype, &cells.iter());
        let shown: Vec<_> = cells.iter().map(|it| look.show(it)).collect();
        assert_eq!(shown.iter().map(|it| &*it.text).collect::<Vec<_>>(), seen);
        let found = shown.iter().map(|it| it.exact.as_deref());
        assert_eq!(found.collect::<Vec<_>>(), exact);
    }

    #[test]
    fn numbers_that_are_rounded_or_padded_come_with_what_they_are() {
        let cells = [json!(1_234_567.5), json!(-2.25)];
        check("sum", "float64", &cells, &["1,234,567.50", "−2.25"], &[Some("1234567.5"), None]);
        let cells = [json!(2.0), json!(3)];
        check("share", "object", &cells, &["2", "3"], &[Some("2.0"), None]);
        check("revenue", "int64", &[json!(12_000), json!(7)], &["12,000", "7"], &[None, None]);
        check("year", "int64", &[json!(20_240)], &["20240"], &[None]);
        let digits = json!("9007199254740993");
        check("n", "int64", &[digits], &["9007199254740993"], &[None]);
    }

    #[test]
    fn times_are_as_short_as_their_column_allows() {
        let days = [json!("2024-01-01T00:00:00"), json!("2024-01-02T00:00:00")];
        let exact = [Some("\"2024-01-01T00:00:00\""), Some("\"2024-01-02T00:00:00\"")];
        check("day", "datetime64[us]", &days, &["2024-01-01", "2024-01-02"], &exact);
        let time = json!("2024-01-01T09:30:00");
        let exact = [Some("\"2024-01-01T09:30:00\"")];
        check("at", "datetime64[us]", &[time], &["2024-01-01 09:30"], &exact);
    }

    #[test]
    fn text_is_as_it_is_or_comes_with_what_it_is() {
        check("t", "str", &[json!("007"), json!("<b>")], &["007", "<b>"], &[None, None]);
        check(
            "t",
            "str",
            &[json!("a\0\u{202e}")],
            &["a\\x00\\u{202e}"],
            &[Some("\"a\\u0000\u{202e}\"")],
        );
        let look = Look::of("t", "str", &[json!("x")].iter());
        let long = json!("ä".repeat(5_000));
        let shown = look.show(&long);
        assert_eq!((shown.text.chars().count(), shown.is_cut), (2_000, true));
    }
}
