//! Chart specs: what the model asks to draw, and whether it can be drawn.
//!
//! Pure: a spec and a frame go in, a chart or a reason comes out. Drawing is in ``src/chart``.

use serde::{Deserialize, Serialize};
use strum::VariantArray;

use crate::frame::Frame;
use crate::limits::{CHART_ROWS_MAX, CHART_SERIES_MAX};

/// The shape of the marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray)]
#[serde(rename_all = "snake_case")]
pub enum ChartType {
    /// Horizontal bars, one per row.
    Bar,
    /// Vertical bars, one per row.
    Column,
    /// Vertical bars, with stacked series.
    StackedColumn,
    /// A line through the rows: in x order where x is numeric or a date, else in row order.
    Line,
    /// One point per row; x is numeric or a date.
    Scatter,
}

impl ChartType {
    /// Every type, as the tool's schema lists them.
    pub const ALL: &[ChartType] = ChartType::VARIANTS;

    /// Returns the name in events and tool calls.
    pub fn name(self) -> &'static str {
        match self {
            ChartType::Bar => "bar",
            ChartType::Column => "column",
            ChartType::StackedColumn => "stacked_column",
            ChartType::Line => "line",
            ChartType::Scatter => "scatter",
        }
    }
}

/// One series of a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// The label in the legend.
    pub name: String,
    /// The column it plots.
    pub y_field: String,
}

/// The model's request for a chart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartSpec {
    /// The REPL variable that holds the rows.
    pub df_name: String,
    /// The user's name for the chart; also its file name.
    pub logical_name: String,
    /// The shape of the marks.
    pub chart_type: ChartType,
    /// The column on the x axis (on the vertical axis of [`ChartType::Bar`]).
    pub x_field: String,
    /// The axis label; null for the column's name.
    pub x_label: Option<String>,
    /// The axis label; null for the name of a single series.
    pub y_label: Option<String>,
    /// At least one, at most [`CHART_SERIES_MAX`].
    pub series: Vec<Series>,
    /// Above the chart; null for none.
    pub title: Option<String>,
    /// Below the chart; null for none.
    pub note: Option<String>,
}

/// A spec that can be drawn, with its data. Only [`ChartSpec::check`] makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    spec: ChartSpec,
    frame: Frame,
}

/// Why a spec cannot be drawn. The model reads it and may retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartRejected {
    /// The code for programs.
    pub code: RejectedCode,
    /// One sentence with the actual value and the allowed one.
    pub reason: String,
    /// The limit that was exceeded, if any.
    pub limit: Option<u64>,
    /// The actual value.
    pub actual: Option<u64>,
}

/// The reasons why a spec cannot be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectedCode {
    /// More rows than [`CHART_ROWS_MAX`].
    TooManyRows,
    /// More series than [`CHART_SERIES_MAX`].
    TooManySeries,
    /// A y field that is not numeric.
    NonNumericY,
    /// No such variable, or it is not a frame.
    UnknownDf,
    /// No such column.
    UnknownField,
    /// No rows, or no series.
    Empty,
    /// A chart type that does not fit the data.
    BadType,
    /// The drawing itself failed.
    RenderFailed,
}

impl Chart {
    /// Returns the spec.
    pub fn spec(&self) -> &ChartSpec {
        &self.spec
    }

    /// Returns the rows: the x field first, then each y field of the series.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }
}

impl ChartSpec {
    /// Returns the columns that the chart needs: the x field, then each y field, each once.
    pub fn fields(&self) -> Vec<String> {
        let mut fields = vec![self.x_field.clone()];
        for series in &self.series {
            if !fields.contains(&series.y_field) {
                fields.push(series.y_field.clone());
            }
        }
        fields
    }

    /// Checks the number of series, which needs no data.
    ///
    /// # Errors
    ///
    /// Fails when there is no series, or more than [`CHART_SERIES_MAX`].
    pub fn check_series(&self) -> Result<(), ChartRejected> {
        let n_series = self.series.len();
        if n_series == 0 {
            return Err(rejected(RejectedCode::Empty, "no series; name at least one y field"));
        }
        if CHART_SERIES_MAX < n_series {
            let reason = format!(
                "{n_series} series; a chart shows at most {CHART_SERIES_MAX}: keep the largest and sum the rest"
            );
            let code = RejectedCode::TooManySeries;
            return Err(bounded(code, reason, CHART_SERIES_MAX, n_series as u64));
        }
        Ok(())
    }

    /// Pairs the spec with the frame it draws.
    ///
    /// # Errors
    ///
    /// Fails when there are too few or too many series, `frame` has no rows or more than
    /// [`CHART_ROWS_MAX`], a field is not a column of it, or a y field is not numeric.
    pub fn check(self, frame: Frame) -> Result<Chart, ChartRejected> {
        self.check_series()?;
        if (CHART_ROWS_MAX as u64) < frame.row_count {
            // The top rows of a scatter plot do not show its shape.
            let instead = match self.chart_type {
                ChartType::Scatter => "take a sample, such as `df.sample(200, random_state=0)`",
                _ => "aggregate or take the top rows first",
            };
            let reason = format!(
                "{} rows; a chart plots at most {CHART_ROWS_MAX}: {instead}",
                frame.row_count
            );
            let code = RejectedCode::TooManyRows;
            return Err(bounded(code, reason, CHART_ROWS_MAX, frame.row_count));
        }
        if frame.rows.is_empty() {
            let reason = format!("`{}` has no rows; there is nothing to draw", self.df_name);
            return Err(rejected(RejectedCode::Empty, reason));
        }
        if let Some(field) = self.fields().iter().find(|it| frame.index_of(it).is_none()) {
            let reason = format!(
                "no column `{field}` in `{}`; it has {}",
                self.df_name,
                frame.columns.join(", ")
            );
            return Err(rejected(RejectedCode::UnknownField, reason));
        }
        let text_y = self.series.iter().find(|it| !frame.is_numeric(&it.y_field));
        if let Some(series) = text_y {
            let reason = format!("no numeric column `{}`; convert it first", series.y_field);
            return Err(rejected(RejectedCode::NonNumericY, reason));
        }
        Ok(Chart { spec: self, frame })
    }
}

fn rejected(code: RejectedCode, reason: impl Into<String>) -> ChartRejected {
    ChartRejected { code, reason: reason.into(), limit: None, actual: None }
}

fn bounded(code: RejectedCode, reason: String, limit: usize, actual: u64) -> ChartRejected {
    ChartRejected { code, reason, limit: Some(limit as u64), actual: Some(actual) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ChartSpec, RejectedCode, Series};
    use crate::frame::Frame;

    fn spec(y_fields: &[&str]) -> ChartSpec {
        let series = y_fields.iter().map(|it| Series { name: (*it).into(), y_field: (*it).into() });
        ChartSpec {
            df_name: "df".into(),
            logical_name: "weeks".into(),
            chart_type: super::ChartType::Line,
            x_field: "week".into(),
            x_label: None,
            y_label: None,
            series: series.collect(),
            title: None,
            note: None,
        }
    }

    #[track_caller]
    fn check(y_fields: &[&str], n_rows: u64, rejected: Option<(RejectedCode, &str)>) {
        let frame = Frame {
            columns: vec!["week".into(), "sales".into()],
            dtypes: vec!["object".into(), "int64".into()],
            rows: (0..n_rows.min(201)).map(|it| vec![json!("w"), json!(it)]).collect(),
            row_count: n_rows,
        };
        let found = spec(y_fields).check(frame).err().map(|it| (it.code, it.reason));
        assert_eq!(found, rejected.map(|(code, reason)| (code, reason.to_owned())));
    }

    #[test]
    fn a_numeric_series_can_be_drawn() {
        check(&["sales"], 1, None);
        check(&["sales"], 200, None);
    }

    #[test]
    fn the_reason_names_the_column_at_fault() {
        let numeric = "no numeric column `week`; convert it first";
        check(&["week"], 1, Some((RejectedCode::NonNumericY, numeric)));
        let unknown = "no column `price` in `df`; it has week, sales";
        check(&["price"], 1, Some((RejectedCode::UnknownField, unknown)));
    }

    #[test]
    fn the_reason_gives_the_number_and_the_limit() {
        let rows = "300 rows; a chart plots at most 200: aggregate or take the top rows first";
        check(&["sales"], 300, Some((RejectedCode::TooManyRows, rows)));
        let series = "12 series; a chart shows at most 10: keep the largest and sum the rest";
        check(&["sales"; 12], 1, Some((RejectedCode::TooManySeries, series)));
    }

    #[test]
    fn nothing_to_draw_is_said() {
        check(
            &["sales"],
            0,
            Some((RejectedCode::Empty, "`df` has no rows; there is nothing to draw")),
        );
        check(&[], 1, Some((RejectedCode::Empty, "no series; name at least one y field")));
    }
}
