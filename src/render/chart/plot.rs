//! What a chart plots: its rows as numbers, dates and labels that are safe to print.

use jiff::civil::DateTime;
use serde_json::Value;

use super::time::{self, Unit};
use crate::chart::{Chart, ChartType};
use crate::render::sanitize;

/// Larger numbers overflow where they are added and scaled; they are drawn as gaps.
const VALUE_MAX: f64 = 1e300;
/// Characters of a label. No picture shows more, and measuring is linear.
const LABEL_CHARS_MAX: usize = 300;
/// What stands for a missing label.
const MISSING: &str = "(none)";

/// The content of a chart.
pub struct Plot {
    /// The shape of the marks.
    pub chart_type: ChartType,
    /// Above.
    pub title: Option<String>,
    /// Below.
    pub note: Option<String>,
    /// Of the x axis.
    pub x_label: String,
    /// Of the value axis.
    pub y_label: Option<String>,
    /// As many rows as each of the series.
    pub x: X,
    /// At least one.
    pub series: Vec<PlotSeries>,
}

/// One series.
pub struct PlotSeries {
    /// In the legend.
    pub name: String,
    /// One a row; none where it is missing.
    pub values: Vec<Option<f64>>,
}

/// Where the rows stand on the x axis.
pub enum X {
    /// At numbers.
    Numbers(Vec<Option<f64>>),
    /// At times.
    Times(Vec<Option<DateTime>>),
    /// Side by side.
    Labels(Vec<String>),
}

impl Plot {
    /// Reads a chart.
    pub fn of(chart: &Chart) -> Plot {
        let (spec, frame) = (chart.spec(), chart.frame());
        let column = |field: &str| {
            let at = frame.index_of(field);
            frame.rows.iter().map(move |row| at.and_then(|it| row.get(it)).unwrap_or(&Value::Null))
        };
        let series = spec.series.iter().map(|it| PlotSeries {
            name: clean(&it.name),
            values: column(&it.y_field).map(number).collect(),
        });
        let x: Vec<_> = column(&spec.x_field).collect();
        let optional =
            |it: &Option<String>| it.as_deref().map(clean).filter(|it| !it.trim().is_empty());
        let series: Vec<_> = series.collect();
        let only = series.first().filter(|_| series.len() == 1).map(|it| it.name.clone());
        Plot {
            chart_type: spec.chart_type,
            title: optional(&spec.title),
            note: optional(&spec.note),
            x_label: optional(&spec.x_label).unwrap_or_else(|| clean(&spec.x_field)),
            y_label: optional(&spec.y_label).or(only),
            x: X::of(&x, frame.is_numeric(&spec.x_field)),
            series,
        }
    }

    /// Returns the value at a series and a row.
    pub fn value(&self, (series, row): (usize, usize)) -> Option<f64> {
        self.series[series].values[row]
    }

    /// Returns where the smallest and the largest value are: series, row.
    pub fn extremes(&self) -> Option<((usize, usize), (usize, usize))> {
        let all = self.series.iter().enumerate().flat_map(|(series, it)| {
            it.values.iter().enumerate().filter_map(move |(row, it)| Some(((series, row), (*it)?)))
        });
        let all: Vec<_> = all.collect();
        let low = all.iter().min_by(|a, b| a.1.total_cmp(&b.1))?.0;
        let high = all.iter().max_by(|a, b| a.1.total_cmp(&b.1))?.0;
        Some((low, high))
    }

    /// Returns the smallest and the largest value.
    pub fn range(&self) -> Option<(f64, f64)> {
        let (low, high) = self.extremes()?;
        Some((self.value(low)?, self.value(high)?))
    }
}

impl X {
    fn of(cells: &[&Value], is_numeric: bool) -> X {
        if is_numeric {
            return X::Numbers(cells.iter().map(|it| number(it)).collect());
        }
        let time = |it: &&Value| it.as_str().and_then(time::parse);
        let times: Vec<_> = cells.iter().map(time).collect();
        let is_time = |(cell, time): (&&Value, &Option<DateTime>)| cell.is_null() || time.is_some();
        if cells.iter().zip(&times).all(is_time) && times.iter().any(Option::is_some) {
            return X::Times(times);
        }
        let label = |it: &&Value| match it {
            Value::Null => MISSING.to_owned(),
            Value::String(text) => clean(text),
            other => clean(&other.to_string()),
        };
        X::Labels(cells.iter().map(label).collect())
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            X::Numbers(numbers) => numbers.len(),
            X::Times(times) => times.len(),
            X::Labels(labels) => labels.len(),
        }
    }

    /// Returns what the times tell; of no use for anything else.
    pub fn unit(&self) -> Unit {
        match self {
            X::Times(times) => time::unit_of(times.iter().flatten()),
            X::Numbers(_) | X::Labels(_) => Unit::Year,
        }
    }

    /// Returns the label of a row by itself.
    pub fn full_label(&self, row: usize) -> String {
        match self {
            X::Numbers(numbers) => {
                numbers[row].map_or(MISSING.into(), |it| it.to_string().replace('-', "−"))
            }
            X::Times(times) => {
                times[row].map_or(MISSING.into(), |it| time::full_label(it, self.unit()))
            }
            X::Labels(labels) => labels[row].clone(),
        }
    }
}

/// Returns a number that can be drawn. Whole numbers beyond 2^53 come as digits.
fn number(cell: &Value) -> Option<f64> {
    let number = match cell {
        Value::Number(number) => number.as_f64(),
        Value::String(digits) => digits.parse().ok(),
        _ => None,
    };
    number.filter(|it: &f64| it.abs() <= VALUE_MAX)
}

/// Returns text as one line that terminals and XML take.
pub fn clean(text: &str) -> String {
    let short: String = text.chars().take(LABEL_CHARS_MAX).collect();
    sanitize::one_line(&short).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
