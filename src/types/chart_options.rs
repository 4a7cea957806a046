//! Options of a chart: what a spec may say beyond its columns and texts.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// What a chart does in addition; everything is optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChartOptions {
    /// The column whose values become the series of long data; the rows of a heat map.
    pub color_by: Option<String>,
    /// The order of categories.
    pub order: Option<ChartOrder>,
    /// The axis with equal steps for equal factors.
    pub log_axis: Option<LogAxis>,
    /// Values to compare with, at most [`REFERENCES_MAX`].
    ///
    /// [`REFERENCES_MAX`]: crate::limits::CHART_REFERENCES_MAX
    pub references: Option<Vec<ReferenceMark>>,
    /// The straight line of least squares through the points of a scatter plot.
    pub trend_line: Option<bool>,
    /// How values are written; null to conclude it from names.
    pub number_format: Option<ValueFormat>,
    /// The unit of the values, such as USD or kg.
    pub unit: Option<String>,
    /// The column whose values get a panel each.
    pub facet_by: Option<String>,
    /// The columns with the ends of error bars.
    pub error_bars: Option<ErrorBars>,
    /// The category or series in a strong colour; the others are grey.
    pub highlight: Option<String>,
    /// Texts at points, at most [`ANNOTATIONS_MAX`].
    ///
    /// [`ANNOTATIONS_MAX`]: crate::limits::CHART_ANNOTATIONS_MAX
    pub annotations: Option<Vec<Annotation>>,
    /// The column that the area of points grows with.
    pub size_by: Option<String>,
    /// The series of a column chart that is a line.
    pub line_series: Option<LineSeries>,
    /// Whether bars, cells and parts have their values, where those fit; null for yes.
    pub value_labels: Option<bool>,
    /// The width of the bins of a histogram; null for one that suits the values.
    pub bin_width: Option<f64>,
}

/// The columns of a lower and an upper bound for each value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorBars {
    /// The column of lower bounds.
    pub low_field: String,
    /// The column of upper bounds.
    pub high_field: String,
}

/// A text at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Annotation {
    /// The x of the point, as in the data: a category, a date or a number.
    pub x: String,
    /// Its value; null for that of the first series there.
    pub y: Option<f64>,
    /// What to say of it.
    pub text: String,
}

/// A series that is a line over columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineSeries {
    /// The name of one of the series.
    pub name: String,
    /// The label of an axis of its own, if its unit differs; null for the axis of the columns.
    pub y_label: Option<String>,
}

/// The order of categories.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ChartOrder {
    /// That of the rows.
    AsGiven,
    /// The largest first.
    Value,
    /// By name, with numbers in names in their order.
    Name,
    /// Weekdays from Monday, months from January.
    Calendar,
}

impl ChartOrder {
    /// Every order, as the tool's schema lists them.
    pub const ALL: &[ChartOrder] = ChartOrder::VARIANTS;

    /// Returns the name in events and tool calls.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Which axes are logarithmic.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LogAxis {
    /// That of x.
    X,
    /// That of the values.
    Y,
    /// Both.
    Both,
}

impl LogAxis {
    /// Every choice, as the tool's schema lists them.
    pub const ALL: &[LogAxis] = LogAxis::VARIANTS;

    /// Returns the name in events and tool calls.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How values are written. It never changes a value.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, VariantArray, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ValueFormat {
    /// As numbers.
    Plain,
    /// As percentages that they are: 25 is 25%.
    Percent,
    /// As percentages of one: 0.25 is 25%.
    Share,
}

impl ValueFormat {
    /// Every format, as the tool's schema lists them.
    pub const ALL: &[ValueFormat] = ValueFormat::VARIANTS;

    /// Returns the name in events and tool calls.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A value to compare with, or a range of values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceMark {
    /// Where the line is, or the band begins.
    pub value: f64,
    /// Where the band ends; null for a line.
    pub to: Option<f64>,
    /// What it is; null for the value alone.
    pub label: Option<String>,
}
