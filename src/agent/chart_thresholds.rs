//! Thresholds in charts: a chart of a column that has them shows where values become good or bad.

use csv_agent_types::chart::{Chart, ChartType};
use csv_agent_types::chart_options::{ChartOptions, ReferenceMark};
use csv_agent_types::event::{Shown, ToolOutput};
use csv_agent_types::limits::CHART_REFERENCES_MAX;
use csv_agent_types::thresholds::Range;

use crate::prompt::thresholds::Threshold;

/// A bound this far beyond the values, as a share of their range, would make them flat.
const BEYOND_MAX: f64 = 0.5;

/// Adds the bounds of thresholds to the charts of an output.
pub(crate) fn bound(output: &mut ToolOutput, thresholds: &[Threshold]) {
    if thresholds.is_empty() {
        return;
    }
    for shown in &mut output.shown {
        if let Shown::Chart(chart) = shown
            && let Some(bounded) = bounded(chart, thresholds)
        {
            *chart = bounded;
        }
    }
}

/// Returns the chart with a line at each bound of the columns that it shows; `None` if there is none.
fn bounded(chart: &Chart, thresholds: &[Threshold]) -> Option<Chart> {
    use ChartType::{Bar, Column, Histogram, Line, Scatter};
    let mut spec = chart.spec().clone();
    let is_kind = matches!(spec.chart_type, Bar | Column | Line | Scatter | Histogram)
        || spec.chart_type == ChartType::Box;
    let mut options = spec.options.take().map_or_else(ChartOptions::default, |it| *it);
    if !is_kind || options.line_series.is_some() {
        return None;
    }
    let fields: Vec<_> = match spec.chart_type {
        Histogram => vec![spec.x_field.clone()],
        _ => spec.series.iter().map(|it| it.y_field.clone()).collect(),
    };
    let mut references = options.references.take().unwrap_or_default();
    let n_given = references.len();
    let known = values(chart, &fields);
    for threshold in thresholds.iter().filter(|it| fields.contains(&it.column)) {
        let mut same = thresholds.iter().filter(|it| it.column == threshold.column);
        // A chart does not say which dataset its column comes from.
        if same.any(|it| it.ratings != threshold.ratings) {
            continue;
        }
        let of = if 1 < fields.len() { format!("{}: ", threshold.column) } else { String::new() };
        let ratings = threshold.ratings;
        let ranges = [("bad", ratings.bad), ("warning", ratings.warning), ("good", ratings.good)];
        for (value, label) in ranges.iter().flat_map(|(name, range)| ends(name, *range)) {
            let is_it = |it: &ReferenceMark| it.value.total_cmp(&value).is_eq() && it.to.is_none();
            let is_there = references.iter().any(is_it);
            let has_room = references.len() < CHART_REFERENCES_MAX;
            if !is_there && has_room && is_near(value, known) {
                let label = Some(format!("{of}{label}"));
                references.push(ReferenceMark { value, to: None, label });
            }
        }
    }
    if references.len() == n_given {
        return None;
    }
    options.references = Some(references);
    spec.options = Some(Box::new(options));
    spec.check(chart.frame().clone()).ok()
}

/// Returns the bounds of a range with their labels.
fn ends(name: &str, range: Option<Range>) -> Vec<(f64, String)> {
    let Some(Range { low, high }) = range else { return Vec::new() };
    let low =
        low.map(|(it, has)| (it, format!("{name} {} {it}", if has { "from" } else { "above" })));
    let high =
        high.map(|(it, has)| (it, format!("{name} {} {it}", if has { "up to" } else { "below" })));
    low.into_iter().chain(high).collect()
}

/// Returns the range of the values, with zero, where the axis has a line already.
fn values(chart: &Chart, fields: &[String]) -> (f64, f64) {
    let frame = chart.frame();
    let places: Vec<_> = fields.iter().filter_map(|it| frame.index_of(it)).collect();
    let values = frame.rows.iter().flat_map(|row| places.iter().filter_map(|it| row[*it].as_f64()));
    values.fold((0.0, 0.0), |(low, high), it| (f64::min(low, it), f64::max(high, it)))
}

fn is_near(value: f64, (low, high): (f64, f64)) -> bool {
    let beyond = (high - low) * BEYOND_MAX;
    value != 0.0 && (low - beyond..=high + beyond).contains(&value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::bounded;
    use crate::prompt::thresholds::Threshold;
    use csv_agent_types::chart::{Chart, ChartSpec};
    use csv_agent_types::frame::Frame;
    use csv_agent_types::thresholds::{Range, Ratings};

    fn chart(kind: &str) -> Chart {
        let spec: ChartSpec = serde_json::from_value(json!({"df_name": "df", "logical_name": "l",
            "chart_type": kind, "x_field": "week", "x_label": null, "y_label": null,
            "series": [{"name": "Delay", "y_field": "delay"}], "title": null, "note": null}))
        .unwrap();
        let frame = Frame {
            columns: vec!["week".into(), "delay".into()],
            dtypes: vec!["object".into(), "float64".into()],
            rows: vec![vec![json!("w1"), json!(3)], vec![json!("w2"), json!(12.5)]],
            row_count: 2,
        };
        spec.check(frame).unwrap()
    }

    fn threshold(column: &str, good: &str, bad: &str) -> Threshold {
        let [good, bad] = [good, bad].map(|it| Range::parse(it).ok());
        let ratings = Ratings { good, warning: None, bad };
        Threshold { dataset: None, column: column.into(), ratings, unit: None }
    }

    #[track_caller]
    fn check(kind: &str, thresholds: &[Threshold], lines: &[(f64, &str)]) {
        let found = bounded(&chart(kind), thresholds);
        let found = found.and_then(|it| it.spec().options.clone()?.references).unwrap_or_default();
        let found: Vec<_> =
            found.iter().map(|it| (it.value, it.label.as_deref().unwrap_or_default())).collect();
        assert_eq!(found, lines);
    }

    #[test]
    fn a_chart_of_a_column_shows_its_bounds() {
        let own = threshold("delay", "0..5", ">= 10");
        let lines = [(10.0, "bad from 10"), (5.0, "good below 5")];
        check("line", std::slice::from_ref(&own), &lines);
        check("area", std::slice::from_ref(&own), &[]);
        check("line", &[threshold("price", "0..5", ">= 10")], &[]);
        // Of two datasets with such a column, either may be meant.
        check("line", &[own, threshold("delay", "0..7", ">= 10")], &[]);
    }

    #[test]
    fn a_bound_far_beyond_the_values_is_not_shown() {
        check("column", &[threshold("delay", "< 5", "> 5000")], &[(5.0, "good below 5")]);
    }
}
