//! The content of a chart: its rows as numbers, dates and sanitised labels.

use jiff::civil::DateTime;
use serde_json::Value;

use csv_agent_text::sanitize;
use csv_agent_types::chart::{Chart, ChartSpec, ChartType};

use super::numbers::{self, Measure};
use super::time::{self, Unit};

/// Larger numbers overflow when they are added and scaled; they are drawn as gaps.
const VALUE_MAX: f64 = 1e300;
/// Characters kept at the beginning and at the end of a label. No picture shows more, and measuring
/// takes linear time.
const LABEL_CHARS_MAX: (usize, usize) = (200, 99);
/// Maximum lines of a note, before wrapping.
const NOTES_MAX: usize = 4;
/// The text for a missing label.
const MISSING: &str = "(none)";
/// The text for an invisible label.
const EMPTY: &str = "(empty)";

/// The content of a chart.
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
}

/// One series.
pub(crate) struct PlotSeries {
    /// Its name in the legend.
    pub name: String,
    /// One per row; `None` where it is missing.
    pub values: Vec<Option<f64>>,
}

/// The positions of the rows on the x axis.
#[derive(Debug, Clone)]
pub(crate) enum X {
    /// At numeric positions.
    Numbers(Vec<Option<f64>>),
    /// At times.
    Times(Vec<Option<DateTime>>),
    /// Side by side, with labels.
    Labels(Vec<String>),
}

impl Plot {
    /// Reads a chart.
    pub(crate) fn of(chart: &Chart) -> Plot {
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
        let mut plot = Plot {
            chart_type: spec.chart_type,
            title: optional(&spec.title),
            notes: notes(spec.note.as_deref().unwrap_or_default()),
            x_label: optional(&spec.x_label).unwrap_or_else(|| clean(&spec.x_field)),
            y_label: optional(&spec.y_label).or(only),
            x: X::of(&x, frame.is_numeric(&spec.x_field)),
            series,
            measure: Measure::Plain,
        };
        plot.measure = plot.range().map_or(Measure::Plain, |it| measure(spec, it));
        plot.place_rows();
        plot
    }

    /// Sorts the rows of a line by time or number, and notes those without a position.
    fn place_rows(&mut self) {
        if matches!(self.chart_type, ChartType::Line | ChartType::Scatter) {
            let n_lost = self.x.n_missing();
            if 0 < n_lost && n_lost < self.x.len() {
                let rows = if n_lost == 1 { "row has" } else { "rows have" };
                let lost = format!("{n_lost} {rows} no {} and cannot be shown.", self.x_label);
                self.notes.insert(0, lost);
            }
        }
        if self.chart_type == ChartType::Line {
            let order = self.x.order();
            self.x = self.x.taken(&order);
            for series in &mut self.series {
                series.values = order.iter().map(|it| series.values[*it]).collect();
            }
        }
    }

    /// Returns the position of a row, in words. A measured x needs no more than a few digits.
    pub(crate) fn place(&self, row: usize) -> String {
        let measured = match (&self.x, self.chart_type) {
            (X::Numbers(numbers), ChartType::Line | ChartType::Scatter) => numbers[row],
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

    /// Returns the value of a series in a row.
    pub(crate) fn value(&self, (series, row): (usize, usize)) -> Option<f64> {
        self.series[series].values[row]
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

    /// Returns the smallest and the largest value.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
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

    fn n_missing(&self) -> usize {
        match self {
            X::Numbers(numbers) => numbers.iter().filter(|it| it.is_none()).count(),
            X::Times(times) => times.iter().filter(|it| it.is_none()).count(),
            X::Labels(_) => 0,
        }
    }

    /// Returns the rows sorted by number or time, those without one last; labels keep their order.
    fn order(&self) -> Vec<usize> {
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

    fn taken(&self, rows: &[usize]) -> X {
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

/// The value label applies to all values; without one, the names of the series or their columns do.
fn measure(spec: &ChartSpec, range: (f64, f64)) -> Measure {
    if let Some(label) = &spec.y_label {
        return Measure::of(&[label.as_str()], range);
    }
    let names: Vec<_> = spec.series.iter().map(|it| it.name.as_str()).collect();
    let fields: Vec<_> = spec.series.iter().map(|it| it.y_field.as_str()).collect();
    match Measure::of(&names, range) {
        Measure::Plain => Measure::of(&fields, range),
        measure => measure,
    }
}

/// Returns the lines of a note. A source at its end gets its own line.
fn notes(note: &str) -> Vec<String> {
    let lines = note.lines().flat_map(|line| match line.rfind(". Source: ") {
        Some(at) => vec![&line[..=at], &line[at + 2..]],
        None => vec![line],
    });
    lines.map(clean).filter(|it| !it.trim().is_empty()).take(NOTES_MAX).collect()
}

/// Returns a number that can be drawn. Whole numbers beyond 2^53 arrive as digits.
fn number(cell: &Value) -> Option<f64> {
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
