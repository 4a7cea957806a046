//! The content of a chart: its rows as numbers, dates and sanitised labels.

use jiff::civil::DateTime;
use serde_json::Value;

use csv_agent_text::sanitize;
use csv_agent_types::chart::ChartType;

use super::numbers::{self, Measure};
use super::theme::Colour;
use super::time::{self, Unit};

/// Larger numbers overflow when they are added and scaled; they are drawn as gaps.
pub(crate) const VALUE_MAX: f64 = 1e300;
/// Characters kept at the beginning and at the end of a label. No picture shows more, and measuring
/// takes linear time.
const LABEL_CHARS_MAX: (usize, usize) = (200, 99);
/// The text for a missing label.
const MISSING: &str = "(none)";
/// The text for an invisible label.
const EMPTY: &str = "(empty)";

/// The content of a chart.
#[derive(Debug, Clone)]
pub(crate) struct Plot {
    /// The shape of the marks.
    pub chart_type: ChartType,
    /// The title above the chart.
    pub title: Option<String>,
    /// The lines below: the chart's own notes, the note, the source.
    pub notes: Vec<String>,
    /// The label of the x axis.
    pub x_label: String,
    /// The label of the value axis.
    pub y_label: Option<String>,
    /// As many rows as each of the series has.
    pub x: X,
    /// The series, at least one.
    pub series: Vec<PlotSeries>,
    /// How values are displayed.
    pub measure: Measure,
    /// The bins of a histogram, one per row; empty for other types.
    pub bins: Vec<Bin>,
    /// The boxes of a box plot, one per row; empty for other types.
    pub boxes: Vec<BoxSummary>,
    /// Values to compare with, on the axis of the values; on that of the bins for a histogram.
    pub references: Vec<Reference>,
    /// Whether the axes of x and of the values are logarithmic.
    pub is_log: (bool, bool),
    /// The straight line through the points.
    pub trend: Option<Trend>,
    /// The panels that the series are in; `None` for a single one.
    pub panels: Option<Panels>,
    /// The space for the drawing.
    pub space: Space,
    /// Values that the axis shows besides its own, because other panels have them.
    pub covers: Option<(f64, f64)>,
    /// What has a strong colour; everything else is grey.
    pub emphasis: Option<Emphasis>,
    /// Texts at points.
    pub annotations: Vec<PointText>,
    /// Whether bars, cells and parts have their values.
    pub has_values: bool,
    /// What is over the columns, whose series is the last one.
    pub line: Option<Overlay>,
}

/// The space for a drawing, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Space {
    /// The usual width; many bars require more.
    pub width: f64,
    /// The usual height.
    pub height: f64,
    /// The greatest height.
    pub height_max: f64,
    /// The least width of the labels of a vertical axis, so that the panels above each other align.
    pub label_width: f64,
    /// Lines of the title of a panel, as many as the longest has.
    pub title_lines: usize,
    /// Whether it is one of several panels, which have a common legend and note.
    pub is_panel: bool,
}

/// The panels of a chart, which have the same x and the same series.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panels {
    /// The name of each panel. Its series are as many of the plot as there are `series`.
    pub names: Vec<String>,
    /// The names of the series within a panel.
    pub series: Vec<String>,
    /// Whether their values have the same scale.
    pub share_scale: bool,
}

/// What has a strong colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Emphasis {
    /// A series, counted within a panel.
    Series(usize),
    Row(usize),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PointText {
    /// The row of the point.
    pub row: usize,
    pub value: f64,
    /// What to say of it.
    pub text: String,
}

/// A line over columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Overlay {
    /// The label of its own axis; `None` if it is on that of the columns.
    pub y_label: Option<String>,
    /// How its values are displayed.
    pub measure: Measure,
}

/// A value to compare with, or a range of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reference {
    /// Where the line is, or the band begins.
    pub from: f64,
    /// Where the band ends.
    pub to: Option<f64>,
    /// What it is.
    pub label: String,
}

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bin {
    /// The lower edge, which belongs to it.
    pub from: f64,
    /// The upper edge, which belongs to the next bin, or to this one if it is the last.
    pub to: f64,
}

/// The summary of the values of one category.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct BoxSummary {
    /// The number of values.
    pub n: usize,
    /// The end of the lower whisker, the quartiles, the end of the upper whisker; `None` without values.
    pub ends: Option<[f64; 5]>,
    /// The values outside the whiskers, or all if they are few.
    pub points: Vec<f64>,
}

impl BoxSummary {
    /// With fewer values, a box plot shows each.
    pub(crate) const FEW: usize = 8;

    /// Returns whether the values are so few that each is shown.
    pub(crate) fn is_strip(&self) -> bool {
        self.n < BoxSummary::FEW
    }

    /// Returns the smallest and the largest value.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let [low, .., high] = self.ends?;
        let all = || self.points.iter().copied();
        Some((all().fold(low, f64::min), all().fold(high, f64::max)))
    }
}

/// A straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    /// The value at an x of zero.
    pub start: f64,
    /// The change of the value when x grows by one.
    pub slope: f64,
    /// The share of the variance that the line explains.
    pub r2: f64,
    /// The smallest and the largest x.
    pub range: (f64, f64),
}

impl Trend {
    pub(crate) fn at(&self, x: f64) -> f64 {
        self.start + self.slope * x
    }
}

impl Reference {
    pub(crate) fn text(&self, measure: Measure) -> String {
        let amounts = [Some(self.from), self.to].into_iter().flatten();
        let amounts: Vec<_> = amounts.map(|it| numbers::amount(it, measure)).collect();
        let place = amounts.join(" to ");
        if self.label.contains(&place) {
            self.label.clone()
        } else {
            format!("{}: {place}", self.label)
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct PlotSeries {
    /// Its name in the legend.
    pub name: String,
    /// One per row; `None` where it is missing.
    pub values: Vec<Option<f64>>,
    /// The ends of the error bar of each row; empty for a chart without them.
    pub ends: Vec<Option<(f64, f64)>>,
    /// What the area of each point grows with; empty for a chart whose points have one size.
    pub sizes: Vec<Option<f64>>,
}

impl PlotSeries {
    /// Returns a series of values alone.
    pub(crate) fn new(name: impl Into<String>, values: Vec<Option<f64>>) -> PlotSeries {
        PlotSeries { name: name.into(), values, ends: Vec::new(), sizes: Vec::new() }
    }

    /// Keeps these rows, in this order.
    fn take(&mut self, rows: &[usize]) {
        fn taken<T: Copy>(items: &mut Vec<T>, rows: &[usize]) {
            if !items.is_empty() {
                *items = rows.iter().map(|it| items[*it]).collect();
            }
        }
        taken(&mut self.values, rows);
        taken(&mut self.ends, rows);
        taken(&mut self.sizes, rows);
    }

    /// Returns the ends of the error bar of a row.
    pub(crate) fn ends(&self, row: usize) -> Option<(f64, f64)> {
        self.ends.get(row).copied().flatten()
    }
}

/// The positions of the rows on the x axis.
#[derive(Debug, Clone)]
pub(crate) enum X {
    /// At numeric positions.
    Numbers(Vec<Option<f64>>),
    Times(Vec<Option<DateTime>>),
    /// Side by side, with labels.
    Labels(Vec<String>),
}

impl Plot {
    /// Returns the position of a row, in words. A measured x needs no more than a few digits.
    pub(crate) fn place(&self, row: usize) -> String {
        let measured = match (&self.x, self.chart_type) {
            (X::Numbers(numbers), kind) if kind.is_placed() => numbers[row],
            _ => None,
        };
        let measured = measured.filter(|it| it.fract() != 0.0);
        let short = measured.map(|it| numbers::amount(it, Measure::Plain));
        short.unwrap_or_else(|| self.x.full_label(row))
    }

    /// Returns whether every value is a whole number, as in counts.
    pub(crate) fn is_whole(&self) -> bool {
        let mut values = self.series.iter().flat_map(|it| it.values.iter().flatten());
        self.measure != Measure::Share && values.all(|it| it.fract() == 0.0)
    }

    pub(crate) fn value(&self, (series, row): (usize, usize)) -> Option<f64> {
        self.series[series].values[row]
    }

    /// Returns the parts of a whole as bars, for forms that show one bar with all parts badly.
    pub(crate) fn parts(&self) -> Option<Plot> {
        let is_whole = self.chart_type == ChartType::PercentStackedColumn
            && self.x.len() == 1
            && 1 < self.series.len()
            && self.panels.is_none();
        let values = || self.series.iter().map(|it| it.values[0]).collect();
        is_whole.then(|| Plot {
            chart_type: ChartType::Bar,
            x: X::Labels(self.series.iter().map(|it| it.name.clone()).collect()),
            series: vec![PlotSeries::new(self.x.full_label(0), values())],
            ..self.clone()
        })
    }

    /// Returns the sum of a row; `None` without a value.
    pub(crate) fn total(&self, row: usize) -> Option<f64> {
        let known: Vec<_> = self.series.iter().filter_map(|it| it.values[row]).collect();
        (!known.is_empty()).then(|| known.iter().sum())
    }

    /// Returns the positions of the smallest and the largest value: series, row.
    pub(crate) fn extremes(&self) -> Option<((usize, usize), (usize, usize))> {
        let all = self.series.iter().enumerate().flat_map(|(series, it)| {
            it.values.iter().enumerate().filter_map(move |(row, it)| Some(((series, row), (*it)?)))
        });
        let all: Vec<_> = all.collect();
        let low = all.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
        let high = all.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
        Some((low, high))
    }

    /// Keeps these rows, in this order.
    pub(crate) fn take(&mut self, rows: &[usize]) {
        self.x = self.x.taken(rows);
        for series in &mut self.series {
            series.take(rows);
        }
        if !self.boxes.is_empty() {
            self.boxes = rows.iter().map(|it| self.boxes[*it].clone()).collect();
        }
    }

    pub(crate) fn colour(&self, series: usize, row: Option<usize>) -> Colour {
        let is_strong = match self.emphasis {
            None => return Colour::SERIES[series % Colour::SERIES.len()],
            Some(Emphasis::Series(it)) => it == series,
            Some(Emphasis::Row(it)) => row.is_none_or(|row| row == it),
        };
        if is_strong { Colour::SERIES[0] } else { Colour::MUTED }
    }

    /// Returns the series in the order of drawing: the strong one is on top.
    pub(crate) fn drawn(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.series.len()).collect();
        order.sort_by_key(|it| self.emphasis == Some(Emphasis::Series(*it)));
        order
    }

    /// Returns what an axis shows besides its values: the ends of error bars, the places of texts, and what
    /// other panels have.
    pub(crate) fn beyond(&self) -> impl Iterator<Item = f64> {
        let ends = self.series.iter().flat_map(|it| it.ends.iter().flatten());
        let texts = self.annotations.iter().map(|it| it.value);
        let covers = self.covers.iter();
        ends.chain(covers).flat_map(|it| [it.0, it.1]).chain(texts)
    }

    /// Returns the smallest and the largest value.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = self.extremes()?;
        Some((self.value(low)?, self.value(high)?))
    }
}

impl X {
    pub(crate) fn of(cells: &[&Value], is_numeric: bool) -> X {
        if is_numeric {
            return X::Numbers(cells.iter().map(|it| number(it)).collect());
        }
        let time = |it: &&Value| it.as_str().and_then(time::parse);
        let times: Vec<_> = cells.iter().map(time).collect();
        let is_time = |(cell, time): (&&Value, &Option<DateTime>)| cell.is_null() || time.is_some();
        if cells.iter().zip(&times).all(is_time) && times.iter().any(Option::is_some) {
            return X::Times(time::periods(times));
        }
        let label = |it: &&Value| match it {
            Value::Null => MISSING.to_owned(),
            Value::String(text) if text.trim().is_empty() => EMPTY.to_owned(),
            Value::String(text) => clean(text),
            other => clean(&other.to_string()),
        };
        X::Labels(cells.iter().map(label).collect())
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        match self {
            X::Numbers(numbers) => numbers.len(),
            X::Times(times) => times.len(),
            X::Labels(labels) => labels.len(),
        }
    }

    /// Returns the number of rows without a position.
    pub(crate) fn n_missing(&self) -> usize {
        match self {
            X::Numbers(numbers) => numbers.iter().filter(|it| it.is_none()).count(),
            X::Times(times) => times.iter().filter(|it| it.is_none()).count(),
            X::Labels(_) => 0,
        }
    }

    /// Returns the rows sorted by number or time, those without one last; labels keep their order.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.len()).collect();
        match self {
            X::Numbers(numbers) => order.sort_by(|a, b| {
                let key = |it: usize| numbers[it].unwrap_or(f64::MAX);
                key(*a).total_cmp(&key(*b))
            }),
            X::Times(times) => order.sort_by_key(|it| (times[*it].is_none(), times[*it])),
            X::Labels(_) => {}
        }
        order
    }

    pub(crate) fn taken(&self, rows: &[usize]) -> X {
        match self {
            X::Numbers(numbers) => X::Numbers(rows.iter().map(|it| numbers[*it]).collect()),
            X::Times(times) => X::Times(rows.iter().map(|it| times[*it]).collect()),
            X::Labels(labels) => X::Labels(rows.iter().map(|it| labels[*it].clone()).collect()),
        }
    }

    /// Returns the unit of the times; meaningless for other positions.
    pub(crate) fn unit(&self) -> Unit {
        match self {
            X::Times(times) => time::unit_of(times.iter().flatten()),
            X::Numbers(_) | X::Labels(_) => Unit::Year,
        }
    }

    /// Returns the label of a row on its own.
    pub(crate) fn full_label(&self, row: usize) -> String {
        match self {
            X::Numbers(numbers) => numbers[row].map_or(MISSING.into(), numbers::name),
            X::Times(times) => {
                times[row].map_or(MISSING.into(), |it| time::full_label(it, self.unit()))
            }
            X::Labels(labels) => labels[row].clone(),
        }
    }
}

/// Returns a number that can be drawn. Whole numbers beyond 2^53 arrive as digits.
pub(crate) fn number(cell: &Value) -> Option<f64> {
    let number = match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    };
    number.filter(|it: &f64| it.abs() <= VALUE_MAX)
}

/// Returns text as one line that is valid in terminals and XML.
pub(crate) fn clean(text: &str) -> String {
    let (head, tail) = LABEL_CHARS_MAX;
    let n_chars = text.chars().count();
    let short: String = if n_chars <= head + tail {
        text.to_owned()
    } else {
        let tail = text.chars().skip(n_chars - tail);
        text.chars().take(head).chain(['…']).chain(tail).collect()
    };
    sanitize::one_line(&short).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
