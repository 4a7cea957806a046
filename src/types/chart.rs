//! Chart specs: what the model asks to draw, and whether it can be drawn.
//!
//! Pure: a spec and a frame go in, a chart or a reason comes out. Drawing is in ``src/chart``.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::{IntoStaticStr, VariantArray};

use crate::chart_options::{ChartOptions, LogAxis};
use crate::frame::Frame;
use crate::limits::{
    CHART_ANNOTATIONS_MAX, CHART_BINS_MAX, CHART_HEAT_ROWS_MAX, CHART_POINTS_MAX,
    CHART_REFERENCES_MAX, CHART_ROWS_MAX, CHART_SERIES_MAX, CHART_VALUES_MAX, SHOWN_TEXT_CHARS_MAX,
};

/// The columns of a histogram's frame after its values were counted.
pub const BIN_COLUMNS: [&str; 3] = ["from", "to", "rows"];
/// The columns of a box plot's frame after its values were summarised; the category comes before them.
pub const BOX_COLUMNS: [&str; 7] = ["rows", "low", "q1", "median", "q3", "high", "points"];

/// The shape of the marks.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
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
    /// Horizontal bars, with stacked series.
    StackedBar,
    /// Vertical bars of the same height: the shares of the series in each row. A single series is
    /// shared among the rows, as in a pie.
    PercentStackedColumn,
    /// Lines with the area under them filled; several series are stacked.
    Area,
    /// The number of rows in bins of the x field.
    Histogram,
    /// The quartiles of a y field for each category of the x field.
    Box,
    /// Shades of a value in a grid of the x field and the series.
    Heatmap,
}

impl ChartType {
    /// Every type, as the tool's schema lists them.
    pub const ALL: &[ChartType] = ChartType::VARIANTS;

    /// Returns the name in events and tool calls.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns whether it has bars whose series are stacked.
    pub fn is_stacked(self) -> bool {
        use ChartType::{PercentStackedColumn, StackedBar, StackedColumn};
        matches!(self, StackedColumn | StackedBar | PercentStackedColumn)
    }

    /// Returns whether rows have positions along a horizontal axis.
    pub fn is_placed(self) -> bool {
        matches!(self, ChartType::Line | ChartType::Area | ChartType::Scatter)
    }

    /// Returns whether the tool counts or summarises the values of single rows.
    pub fn is_distribution(self) -> bool {
        matches!(self, ChartType::Histogram | ChartType::Box)
    }

    fn series_max(self) -> usize {
        if self == ChartType::Heatmap { CHART_HEAT_ROWS_MAX } else { CHART_SERIES_MAX }
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// At least one, at most [`CHART_SERIES_MAX`]; none for a histogram.
    pub series: Vec<Series>,
    /// Above the chart; null for none.
    pub title: Option<String>,
    /// Below the chart; null for none.
    pub note: Option<String>,
    /// What the chart does in addition; null for nothing. Specs from before there were options lack
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Box<ChartOptions>>,
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
    /// More rows than [`ChartSpec::rows_max`].
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

    /// Returns the rows: the x field first, then each y field of the series, then the colours; or the bins
    /// or boxes of a distribution.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }
}

impl ChartSpec {
    /// Returns the column whose values become the series.
    pub fn color_by(&self) -> Option<&str> {
        self.options.as_ref()?.color_by.as_deref()
    }

    /// Returns the column whose values get a panel each.
    pub fn facet_by(&self) -> Option<&str> {
        self.options.as_ref()?.facet_by.as_deref()
    }

    /// Returns the columns of numbers beside the series: the ends of error bars, the sizes of points.
    pub fn measures(&self) -> impl Iterator<Item = &String> {
        let errors = self.options.iter().filter_map(|it| it.error_bars.as_ref());
        let ends = errors.flat_map(|it| [&it.low_field, &it.high_field]);
        ends.chain(self.options.iter().filter_map(|it| it.size_by.as_ref()))
    }

    /// Returns the columns that the chart needs, each once: the x field, each y field, the colours, the
    /// panels, and other numbers.
    pub fn fields(&self) -> Vec<String> {
        let mut fields = vec![self.x_field.clone()];
        let y_fields = self.series.iter().map(|it| &it.y_field);
        let groups = self.options.iter().flat_map(|it| [&it.color_by, &it.facet_by]).flatten();
        for field in y_fields.chain(groups).chain(self.measures()) {
            if !fields.contains(field) {
                fields.push(field.clone());
            }
        }
        fields
    }

    /// Returns how many rows a frame for the chart may have.
    pub fn rows_max(&self) -> usize {
        match self.chart_type {
            ChartType::Histogram | ChartType::Box => CHART_VALUES_MAX,
            it if it.is_placed() || it == ChartType::Heatmap => CHART_POINTS_MAX,
            _ if self.color_by().is_some() || self.facet_by().is_some() => CHART_POINTS_MAX,
            // The parts of one whole: all but the largest are one.
            ChartType::PercentStackedColumn if self.series.len() == 1 => CHART_POINTS_MAX,
            _ => CHART_ROWS_MAX,
        }
    }

    /// Checks the number of series and the options, which needs no data.
    ///
    /// # Errors
    ///
    /// Fails when there is no series, or more than [`CHART_SERIES_MAX`], or a text is longer than
    /// [`SHOWN_TEXT_CHARS_MAX`], or an option does not fit the type.
    pub fn check_series(&self) -> Result<(), ChartRejected> {
        let (n_series, n_max) = (self.series.len(), self.chart_type.series_max());
        if n_series == 0 && self.chart_type != ChartType::Histogram {
            return Err(rejected(RejectedCode::Empty, "no series; name at least one y field"));
        }
        if n_max < n_series {
            let reason = format!(
                "{n_series} series; a chart shows at most {n_max}: keep the largest and sum the rest"
            );
            return Err(bounded(RejectedCode::TooManySeries, reason, n_max, n_series as u64));
        }
        let n_references = self.options.iter().flat_map(|it| &it.references).flatten().count();
        if CHART_REFERENCES_MAX < n_references {
            let reason =
                format!("{n_references} references; a chart has at most {CHART_REFERENCES_MAX}");
            let code = RejectedCode::BadType;
            return Err(bounded(code, reason, CHART_REFERENCES_MAX, n_references as u64));
        }
        let n_texts = self.options.iter().flat_map(|it| &it.annotations).flatten().count();
        if CHART_ANNOTATIONS_MAX < n_texts {
            let reason =
                format!("{n_texts} annotations; a chart has at most {CHART_ANNOTATIONS_MAX}");
            let code = RejectedCode::BadType;
            return Err(bounded(code, reason, CHART_ANNOTATIONS_MAX, n_texts as u64));
        }
        self.check_texts()?;
        self.misfit().map_or(Ok(()), |it| Err(rejected(RejectedCode::BadType, it)))
    }

    /// Checks the lengths of texts that are written on the chart and in its description.
    fn check_texts(&self) -> Result<(), ChartRejected> {
        let own = [
            ("title", &self.title),
            ("note", &self.note),
            ("x_label", &self.x_label),
            ("y_label", &self.y_label),
        ];
        let own = own.into_iter().filter_map(|(what, it)| Some((what, it.as_ref()?)));
        let names = self.series.iter().map(|it| ("name of a series", &it.name));
        let names = names.chain([("name of the chart", &self.logical_name)]);
        let options = self.options.iter().flat_map(|it| {
            let references = it.references.iter().flatten().filter_map(|it| it.label.as_ref());
            let annotations = it.annotations.iter().flatten().map(|it| &it.text);
            let second = it.line_series.iter().filter_map(|it| it.y_label.as_ref());
            let others = it.unit.iter().chain(second).chain(annotations).chain(references);
            others.map(|it| ("text in options", it))
        });
        for (what, text) in own.chain(names).chain(options) {
            let n_chars = text.chars().count();
            if SHOWN_TEXT_CHARS_MAX < n_chars {
                let reason = format!(
                    "the {what} has {n_chars} characters; a text of a chart has at most {SHOWN_TEXT_CHARS_MAX}"
                );
                let code = RejectedCode::BadType;
                return Err(bounded(code, reason, SHOWN_TEXT_CHARS_MAX, n_chars as u64));
            }
        }
        Ok(())
    }

    /// Returns why the series or options do not fit the type.
    fn misfit(&self) -> Option<&'static str> {
        use ChartType::{Area, Box, Heatmap, Histogram, Line, Scatter};
        let options = self.options.clone().unwrap_or_default();
        let (kind, n_series) = (self.chart_type, self.series.len());
        let is_other = |it: &Series| it.y_field != self.x_field;
        let has_references = options.references.is_some_and(|it| !it.is_empty());
        if kind == Histogram && self.series.iter().any(is_other) {
            Some(
                "a histogram counts the values of x_field, which is numeric; its series must be []",
            )
        } else if kind == Box && n_series != 1 {
            Some("a box plot has one series, with x_field as the category")
        } else if kind.is_distribution() && options.color_by.is_some() {
            Some(
                "color_by does not work with a histogram or box plot; put the category in x_field of a box",
            )
        } else if options.color_by.is_some() && n_series != 1 {
            Some("color_by splits one series; give one, or one for each column without color_by")
        } else if options.color_by.is_some() && options.color_by.as_ref() == Some(&self.x_field) {
            Some("color_by and x_field are the same column; name another, or null")
        } else if options.log_axis.is_some() && !matches!(kind, Line | Scatter) {
            Some(
                "a logarithmic axis has no zero for bars and areas to begin at; use line or scatter",
            )
        } else if options.trend_line == Some(true) && kind != Scatter {
            Some("a trend line belongs to a scatter plot")
        } else if options.bin_width.is_some() && kind != Histogram {
            Some("bin_width is for a histogram")
        } else if options.bin_width.is_some_and(|it| it <= 0.0 || !it.is_finite()) {
            Some("bin_width is not a positive number")
        } else if has_references && matches!(kind, Heatmap | Area) {
            Some("references are for bars, lines, points, histograms and boxes")
        } else {
            emphasis::misfit(self)
        }
    }

    /// Returns whether a frame has the bins or boxes of the chart in place of single rows.
    pub fn is_summary(&self, frame: &Frame) -> bool {
        let columns = frame.columns.iter().map(String::as_str);
        match self.chart_type {
            ChartType::Histogram => columns.eq(BIN_COLUMNS),
            ChartType::Box => columns.skip(1).eq(BOX_COLUMNS),
            _ => false,
        }
    }

    /// Pairs the spec with the frame it draws.
    ///
    /// # Errors
    ///
    /// Fails when the series or options do not fit, `frame` has no rows or too many, a field is not a
    /// column of it, or a y field is not numeric.
    pub fn check(self, frame: Frame) -> Result<Chart, ChartRejected> {
        self.check_series()?;
        if self.is_summary(&frame) {
            return Ok(Chart { spec: self, frame });
        }
        let rows_max = self.rows_max();
        if (rows_max as u64) < frame.row_count {
            // The top rows of a scatter plot do not show its shape.
            let instead = match self.chart_type {
                ChartType::Scatter | ChartType::Histogram | ChartType::Box => {
                    format!("take a sample, such as `df.sample({rows_max}, random_state=0)`")
                }
                _ => "aggregate or take the top rows first".to_owned(),
            };
            let reason =
                format!("{} rows; a chart plots at most {rows_max}: {instead}", frame.row_count);
            let code = RejectedCode::TooManyRows;
            return Err(bounded(code, reason, rows_max, frame.row_count));
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
        let counted = (self.chart_type == ChartType::Histogram).then_some(&self.x_field);
        let y_fields = self.series.iter().map(|it| &it.y_field);
        let fields = y_fields.chain(counted).chain(self.measures());
        if let Some(field) = fields.into_iter().find(|it| !frame.is_numeric(it)) {
            let reason = format!("no numeric column `{field}`; convert it first");
            return Err(rejected(RejectedCode::NonNumericY, reason));
        }
        self.check_rows(&frame)?;
        Ok(Chart { spec: self, frame })
    }

    /// Checks that long data has one row for each x, colour and panel. Points may be at one place.
    fn check_groups(&self, frame: &Frame) -> Result<(), ChartRejected> {
        let groups: Vec<_> = [self.color_by(), self.facet_by()].into_iter().flatten().collect();
        if groups.is_empty() || self.chart_type == ChartType::Scatter {
            return Ok(());
        }
        let fields: Vec<_> = [self.x_field.as_str()].into_iter().chain(groups).collect();
        let places: Vec<_> = fields.iter().filter_map(|it| frame.index_of(it)).collect();
        let cells =
            |row: &Vec<Value>| places.iter().map(|it| row[*it].to_string()).collect::<Vec<_>>();
        let mut seen = HashSet::new();
        let Some(twice) = frame.rows.iter().map(cells).find(|it| !seen.insert(it.clone())) else {
            return Ok(());
        };
        let names = fields.iter().zip(&twice).map(|(field, cell)| format!("`{field}` {cell}"));
        let names = names.collect::<Vec<_>>().join(" and ");
        let reason = format!("several rows have {names}; aggregate them first");
        Err(rejected(RejectedCode::BadType, reason))
    }

    /// Checks what depends on the values.
    fn check_rows(&self, frame: &Frame) -> Result<(), ChartRejected> {
        let column = |field: &str| {
            let at = frame.index_of(field);
            frame.rows.iter().map(move |row| at.map_or(&Value::Null, |it| &row[it]))
        };
        if let Some(color_by) = self.color_by() {
            let n_max = self.chart_type.series_max();
            let colours: HashSet<_> = column(color_by).map(Value::to_string).collect();
            if n_max < colours.len() {
                let reason = format!(
                    "`{color_by}` has {} values; a chart shows at most {n_max} series: keep the largest \
                     and sum the rest",
                    colours.len()
                );
                let code = RejectedCode::TooManySeries;
                return Err(bounded(code, reason, n_max, colours.len() as u64));
            }
        }
        self.check_groups(frame)?;
        let is_stack = 1 < self.series.len() || self.color_by().is_some();
        let is_below = |it: &&Value| it.as_f64().is_some_and(|it| it < 0.0);
        let below = self.series.iter().find_map(|it| column(&it.y_field).find(is_below));
        if let Some(value) = below.filter(|_| self.chart_type == ChartType::PercentStackedColumn) {
            let reason = format!("{value} is below zero and has no share; use stacked_column");
            return Err(rejected(RejectedCode::BadType, reason));
        }
        if let Some(value) = below.filter(|_| self.chart_type == ChartType::Area && is_stack) {
            let reason =
                format!("{value} is below zero, and areas that are stacked add up; use line");
            return Err(rejected(RejectedCode::BadType, reason));
        }
        let log_axis = self.options.as_ref().and_then(|it| it.log_axis);
        if matches!(log_axis, Some(LogAxis::X | LogAxis::Both)) && !frame.is_numeric(&self.x_field)
        {
            let reason =
                format!("no numeric column `{}`; its axis cannot be logarithmic", self.x_field);
            return Err(rejected(RejectedCode::BadType, reason));
        }
        if let Some(width) = self.options.as_ref().and_then(|it| it.bin_width) {
            let values = || column(&self.x_field).filter_map(Value::as_f64);
            let (low, high) =
                values().fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(it), high.max(it)));
            let n_bins = (high / width).floor() - (low / width).floor() + 1.0;
            if f64::from(CHART_BINS_MAX) < n_bins {
                let reason = format!(
                    "bin_width {width} makes {n_bins} bins; a histogram has at most {CHART_BINS_MAX}"
                );
                return Err(rejected(RejectedCode::BadType, reason));
            }
        }
        emphasis::unknown(self, frame)
            .map_or(Ok(()), |reason| Err(rejected(RejectedCode::UnknownField, reason)))
    }
}

fn rejected(code: RejectedCode, reason: impl Into<String>) -> ChartRejected {
    ChartRejected { code, reason: reason.into(), limit: None, actual: None }
}

fn bounded(code: RejectedCode, reason: String, limit: usize, actual: u64) -> ChartRejected {
    ChartRejected { code, reason, limit: Some(limit as u64), actual: Some(actual) }
}

mod emphasis;
#[cfg(test)]
mod tests;
