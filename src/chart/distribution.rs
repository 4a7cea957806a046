//! Distributions: values counted in bins, or summarised by quartiles, before anything is drawn.
//!
//! The summary replaces the rows of a chart, so that an event has a few bins and not 100,000 values.

use std::collections::HashMap;

use serde_json::{Value, json};

use csv_agent_types::chart::{BIN_COLUMNS, BOX_COLUMNS, Chart, ChartType};
use csv_agent_types::frame::Frame;
use csv_agent_types::limits::CHART_ROWS_MAX;

use super::plot::{Bin, BoxSummary, PlotSeries, X, number};
use super::sheet::count;
use super::text::to_pixel;
use super::ticks::Ticks;

/// Bins of a histogram, before their edges are rounded.
const BINS: (usize, usize) = (5, 30);
/// Values drawn as points at either end of a box.
const OUTLIERS_MAX: usize = 20;
/// The furthest distance of a whisker's end from the box, in heights of the box (Source: Tukey 1977).
const REACH: f64 = 1.5;

/// Returns the chart with bins or boxes in place of single rows, if it shows those.
#[must_use]
pub fn summarised(chart: Chart) -> Chart {
    let frame = match chart.spec().chart_type {
        _ if chart.spec().is_summary(chart.frame()) => return chart,
        ChartType::Histogram => binned(&chart),
        ChartType::Box => boxed(&chart),
        _ => return chart,
    };
    let spec = chart.spec().clone();
    spec.check(frame).unwrap_or(chart)
}

fn cells<'a>(frame: &'a Frame, field: &str) -> impl Iterator<Item = &'a Value> {
    let at = frame.index_of(field);
    frame.rows.iter().map(move |row| at.and_then(|it| row.get(it)).unwrap_or(&Value::Null))
}

fn binned(chart: &Chart) -> Frame {
    let mut values: Vec<_> =
        cells(chart.frame(), &chart.spec().x_field).filter_map(number).collect();
    values.sort_by(f64::total_cmp);
    let width = chart.spec().options.as_ref().and_then(|it| it.bin_width);
    let (edges, counts) = match width {
        Some(width) if !values.is_empty() => bins_of(&values, width),
        _ => {
            let edges = edges(&values);
            let mut counts = vec![0_usize; edges.len() - 1];
            for value in &values {
                let after = edges.partition_point(|it| it <= value);
                counts[after.saturating_sub(1).min(edges.len() - 2)] += 1;
            }
            (edges, counts)
        }
    };
    let bins = edges.windows(2).zip(counts);
    let row = |(edges, n): (&[f64], usize)| vec![json!(edges[0]), json!(edges[1]), json!(n)];
    Frame {
        columns: BIN_COLUMNS.map(String::from).to_vec(),
        dtypes: ["float64", "float64", "int64"].map(String::from).to_vec(),
        rows: bins.map(row).collect(),
        row_count: (edges.len() - 1) as u64,
    }
}

/// Returns edges at multiples of a width, and how many of some ascending values are between them: a value at an edge is
/// in the bin above it.
fn bins_of(values: &[f64], width: f64) -> (Vec<f64>, Vec<usize>) {
    let decimals = width.to_string().split_once('.').map_or(0, |it| it.1.len());
    let edge = |it: f64| format!("{:.decimals$}", it * width).parse().unwrap_or(it * width);
    let (mut edges, mut counts) = (Vec::new(), Vec::new());
    let mut bin = (values[0] / width).floor();
    let mut rest = values;
    while !rest.is_empty() {
        let n = rest.partition_point(|it| (it / width).floor() <= bin);
        edges.push(edge(bin));
        counts.push(n);
        rest = &rest[n..];
        bin += 1.0;
    }
    edges.push(edge(bin));
    (edges, counts)
}

/// Returns round edges of bins for ascending values: few whole numbers get a bin each.
fn edges(values: &[f64]) -> Vec<f64> {
    let (Some(low), Some(high)) = (values.first(), values.last()) else { return vec![0.0, 1.0] };
    let n_bins = n_bins(values);
    if values.iter().any(|it| it.fract() != 0.0) {
        return Ticks::cover(*low, *high, n_bins).values;
    }
    let each = Ticks::whole(*low, high + 1.0, n_bins).values;
    let is_one = each.windows(2).all(|it| (it[1] - it[0] - 1.0).abs() < 1e-9);
    if is_one { each } else { Ticks::whole(*low, *high, n_bins).values }
}

/// Returns how many bins suit ascending values. Source: Freedman and Diaconis 1981.
fn n_bins(values: &[f64]) -> u32 {
    let n = values.len();
    let cube_root = (1..n).find(|it| n <= it * it * it).unwrap_or(1);
    let spread = quantile(values, 3) / 2.0 - quantile(values, 1) / 2.0;
    let range = values[n - 1] / 2.0 - values[0] / 2.0;
    let wanted = if 0.0 < spread { range * count(cube_root) / (2.0 * spread) } else { 0.0 };
    let wanted = usize::try_from(to_pixel(wanted.min(1e6).ceil())).unwrap_or(0);
    // Few values have few bins, whatever their spread.
    let most = (2 * cube_root).clamp(BINS.0, BINS.1);
    u32::try_from(wanted.clamp(BINS.0, most)).unwrap_or(1)
}

/// Returns a quartile of ascending values, between the nearest two.
fn quantile(values: &[f64], quarter: usize) -> f64 {
    let at = (values.len() - 1) * quarter;
    let (before, part) = (values[at / 4], count(at % 4) / 4.0);
    let after = values[(at / 4 + 1).min(values.len() - 1)];
    before * (1.0 - part) + after * part
}

fn boxed(chart: &Chart) -> Frame {
    let (spec, frame) = (chart.spec(), chart.frame());
    let field = spec.series.first().map(|it| it.y_field.as_str()).unwrap_or_default();
    // One column in both places is one box of all its values.
    let is_one = spec.x_field == field;
    let name = Value::from(spec.series.first().map(|it| it.name.clone()));
    let mut at: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<(&Value, Vec<f64>)> = Vec::new();
    for (category, value) in cells(frame, &spec.x_field).zip(cells(frame, field)) {
        let category = if is_one { &name } else { category };
        let place = *at.entry(category.to_string()).or_insert(groups.len());
        if place == groups.len() {
            groups.push((category, Vec::new()));
        }
        groups[place].1.extend(number(value));
    }
    let n_groups = groups.len() as u64;
    if CHART_ROWS_MAX < groups.len() {
        let mut sizes: Vec<_> = groups.iter().map(|it| it.1.len()).collect();
        sizes.sort_by_key(|it| std::cmp::Reverse(*it));
        groups.retain(|it| sizes[CHART_ROWS_MAX - 1] <= it.1.len());
        groups.truncate(CHART_ROWS_MAX);
    }
    let row = |(category, mut values): (&Value, Vec<f64>)| {
        values.sort_by(f64::total_cmp);
        let summary = summary(&values);
        let ends = summary.ends.map_or([None; 5], |it| it.map(Some));
        let mut row = vec![category.clone(), json!(summary.n)];
        row.extend(ends.iter().map(|it| json!(it)));
        row.push(json!(summary.points));
        row
    };
    let numeric = BOX_COLUMNS.map(|it| if it == "points" { "object" } else { "float64" });
    let x_dtype = frame.index_of(&spec.x_field).filter(|_| !is_one).map(|it| &frame.dtypes[it]);
    let x_dtype = x_dtype.map_or("object", String::as_str);
    Frame {
        columns: [spec.x_field.as_str()].into_iter().chain(BOX_COLUMNS).map(String::from).collect(),
        dtypes: [x_dtype].into_iter().chain(numeric).map(String::from).collect(),
        rows: groups.into_iter().map(row).collect(),
        row_count: n_groups,
    }
}

fn summary(values: &[f64]) -> BoxSummary {
    if values.is_empty() {
        return BoxSummary::default();
    }
    let [q1, median, q3] = [1, 2, 3].map(|it| quantile(values, it));
    let reach = (q3 - q1) * REACH;
    let inside = || values.iter().copied().filter(|it| q1 - reach <= *it && *it <= q3 + reach);
    let (low, high) = (inside().fold(q1, f64::min), inside().fold(q3, f64::max));
    let mut points: Vec<_> = if values.len() < BoxSummary::FEW {
        values.to_vec()
    } else {
        values.iter().copied().filter(|it| *it < low || high < *it).collect()
    };
    if 2 * OUTLIERS_MAX < points.len() {
        points.drain(OUTLIERS_MAX..points.len() - OUTLIERS_MAX);
    }
    BoxSummary { n: values.len(), ends: Some([low, q1, median, q3, high]), points }
}

/// Returns the bins of a summary, their names and their counts.
pub(crate) fn bins(frame: &Frame) -> (Vec<Bin>, Vec<String>, PlotSeries) {
    let edge = |row: &Vec<Value>, at: usize| row.get(at).and_then(number).unwrap_or(0.0);
    let bins: Vec<_> =
        frame.rows.iter().map(|row| Bin { from: edge(row, 0), to: edge(row, 1) }).collect();
    let values = frame.rows.iter().map(|row| row.get(2).and_then(number)).collect();
    (bins.clone(), names(&bins), PlotSeries::new("rows", values))
}

/// Returns what bins are called: `20 to 30`, or the number if it is the only one.
fn names(bins: &[Bin]) -> Vec<String> {
    let Some((first, last)) = bins.first().zip(bins.last()) else { return Vec::new() };
    if is_single(bins) {
        return bins.iter().map(|it| super::numbers::name(it.from)).collect();
    }
    let labels = edge_labels(bins);
    debug_assert!(first.from <= last.to);
    labels.windows(2).map(|it| format!("{} to {}", it[0], it[1])).collect()
}

/// Returns whether each bin has one whole number.
pub(crate) fn is_single(bins: &[Bin]) -> bool {
    bins.iter().all(|it| it.from.fract() == 0.0 && (it.to - it.from - 1.0).abs() < 1e-9)
}

/// Returns the labels of the edges: one more than there are bins.
pub(crate) fn edge_labels(bins: &[Bin]) -> Vec<String> {
    let edges = bins.iter().map(|it| it.from).chain(bins.last().map(|it| it.to));
    Ticks::at(edges.collect()).labels
}

/// Returns the boxes of a summary, with the categories as positions: numbers and times in their order.
pub(crate) fn boxes(frame: &Frame, x_field: &str) -> (Vec<BoxSummary>, X) {
    let summary = |row: &Vec<Value>| {
        let value = |at: usize| row.get(at).and_then(number);
        let ends: Option<Vec<f64>> = (2..7).map(value).collect();
        let points = row.get(7).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        BoxSummary {
            n: value(1).and_then(|it| usize::try_from(to_pixel(it)).ok()).unwrap_or(0),
            ends: ends.and_then(|it| it.try_into().ok()),
            points: points.iter().filter_map(number).collect(),
        }
    };
    let categories: Vec<_> = cells(frame, x_field).collect();
    let x = X::of(&categories, frame.is_numeric(x_field));
    let order = x.order();
    let labels = order.iter().map(|it| x.full_label(*it)).collect();
    (order.iter().map(|it| summary(&frame.rows[*it])).collect(), X::Labels(labels))
}

#[cfg(test)]
mod tests {
    use super::{bins_of, edges, quantile, summary};

    #[track_caller]
    fn check(values: &[f64], expected: &[f64]) {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        assert_eq!(edges(&values), expected);
    }

    #[test]
    fn edges_are_round_and_a_few_whole_numbers_have_a_bin_each() {
        check(&[], &[0.0, 1.0]);
        check(&[1.0, 2.0, 2.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        check(&[0.12, 0.4, 0.73, 0.99], &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        check(&[0.0, 37.0, 100.0], &[0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        check(&[7.0; 9], &[7.0, 8.0]);
    }

    #[test]
    fn bins_of_a_width_begin_at_its_multiples_and_may_be_empty() {
        let (edges, counts) = bins_of(&[0.15, 0.3, 0.65, 0.7], 0.1);
        let counted: Vec<_> = edges.iter().zip(counts).filter(|it| it.1 != 0).collect();
        // As in SQL, where `floor(0.3 / 0.1)` is 2 and `floor(0.7 / 0.1)` is 6.
        assert_eq!(counted, [(&0.1, 1), (&0.2, 1), (&0.6, 2)]);
        assert_eq!(edges, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
        assert_eq!(bins_of(&[-3.0, 5.0], 5.0), (vec![-5.0, 0.0, 5.0, 10.0], vec![1, 0, 1]));
    }

    #[test]
    fn quartiles_are_those_of_numpy() {
        let values = [1.0, 2.0, 4.0, 8.0];
        let found = [1, 2, 3].map(|it| quantile(&values, it).to_string());
        assert_eq!(found, ["1.75", "3", "5"]);
    }

    #[test]
    fn a_whisker_ends_at_a_value_and_what_is_beyond_is_a_point() {
        let mut values: Vec<_> = (1..=20).map(f64::from).collect();
        values.push(90.0);
        let summary = summary(&values);
        assert_eq!(summary.ends, Some([1.0, 6.0, 11.0, 16.0, 20.0]));
        assert_eq!((summary.n, summary.points), (21, vec![90.0]));
    }

    #[test]
    fn few_values_are_all_shown() {
        let summary = summary(&[1.0, 2.0, 3.0]);
        assert!(summary.is_strip() && summary.points.len() == 3);
        assert_eq!(super::summary(&[]).range(), None);
    }
}
