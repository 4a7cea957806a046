//! A chart as plain wide data, for programs that draw it themselves: what the pictures show, row by row.

use serde_json::{Value, json};

use csv_agent_types::chart::{Chart, ChartSpec, Series};
use csv_agent_types::chart_options::{Annotation, ChartOptions, ChartOrder};
use csv_agent_types::frame::Frame;

use super::distribution::summarised;
use super::plot::{Plot, PointText, X};

/// Returns the chart with its rows in order and a column for each series, as the pictures show them.
///
/// Long data becomes wide, values become shares where the chart shows those, and what is left out of the
/// pictures is left out. Bins and boxes are as in [`summarised`].
pub fn arranged(chart: &Chart) -> Chart {
    let spec = chart.spec();
    if spec.chart_type.is_distribution() {
        return summarised(chart.clone());
    }
    wide(Plot::of(chart), spec).unwrap_or_else(|| chart.clone())
}

/// Returns each panel with its name, as [`arranged`] returns a chart; nothing of a chart without panels.
pub fn panels(chart: &Chart) -> Vec<(String, Chart)> {
    let plots = Plot::of(chart).panel_plots().into_iter();
    let panel = |it: Plot| Some((it.title.clone()?, wide(it, chart.spec())?));
    plots.filter_map(panel).collect()
}

/// Returns a plot as wide data: of series `y0` also the ends `y0_low` and `y0_high` of error bars, and
/// `y0_size`.
fn wide(plot: Plot, spec: &ChartSpec) -> Option<Chart> {
    let series =
        |(at, name): (usize, &str)| Series { name: name.to_owned(), y_field: format!("y{at}") };
    let names = plot.series.iter().map(|it| it.name.as_str());
    let series: Vec<_> = names.enumerate().map(series).collect();
    let mut columns = vec!["x".to_owned()];
    for (it, drawn) in series.iter().zip(&plot.series) {
        columns.push(it.y_field.clone());
        if !drawn.ends.is_empty() {
            columns.extend(["low", "high"].map(|end| format!("{}_{end}", it.y_field)));
        }
        if !drawn.sizes.is_empty() {
            columns.push(format!("{}_size", it.y_field));
        }
    }
    let row = |row: usize| {
        let mut cells = vec![plot.cell(row)];
        for it in &plot.series {
            cells.push(json!(it.values[row]));
            if let Some(ends) = it.ends.get(row) {
                cells.extend([json!(ends.map(|it| it.0)), json!(ends.map(|it| it.1))]);
            }
            cells.extend(it.sizes.get(row).map(|it| json!(it)));
        }
        cells
    };
    let x_dtype = if matches!(plot.x, X::Numbers(_)) { "float64" } else { "object" };
    let numbers = columns[1..].iter().map(|_| "float64");
    let frame = Frame {
        dtypes: [x_dtype].into_iter().chain(numbers).map(String::from).collect(),
        columns,
        rows: (0..plot.x.len()).map(row).collect(),
        row_count: plot.x.len() as u64,
    };
    let annotation = |it: &PointText| Annotation {
        x: plot.cell(it.row).as_str().map_or_else(|| plot.cell(it.row).to_string(), str::to_owned),
        y: Some(it.value),
        text: it.text.clone(),
    };
    let annotations: Vec<_> = plot.annotations.iter().map(annotation).collect();
    let options = spec.options.as_deref().map(|it| ChartOptions {
        log_axis: it.log_axis,
        references: it.references.clone(),
        trend_line: it.trend_line,
        number_format: it.number_format,
        line_series: it.line_series.clone(),
        annotations: Some(annotations).filter(|it| !it.is_empty()),
        order: Some(ChartOrder::AsGiven),
        value_labels: it.value_labels,
        ..ChartOptions::default()
    });
    let arranged = ChartSpec {
        x_field: "x".into(),
        x_label: Some(plot.x_label).filter(|it| !it.is_empty()),
        y_label: plot.y_label,
        series,
        options: options.map(Box::new),
        ..spec.clone()
    };
    arranged.check(frame).ok()
}

/// Returns the ends of the straight line through the points of a scatter plot: x and value.
pub fn trend_line(chart: &Chart) -> Option<[(f64, f64); 2]> {
    let trend = Plot::of(chart).trend?;
    Some([trend.range.0, trend.range.1].map(|x| (x, trend.at(x))))
}

impl Plot {
    /// Returns the position of a row as JSON: a number, an ISO 8601 time, or a label.
    pub(crate) fn cell(&self, row: usize) -> Value {
        match &self.x {
            X::Numbers(numbers) => json!(numbers[row]),
            X::Times(times) => json!(times[row].map(|it| it.to_string())),
            X::Labels(labels) => json!(labels[row]),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{arranged, trend_line};
    use crate::gallery::{chart, gallery};
    use crate::plot::Plot;
    use csv_agent_types::chart::ChartType;
    use csv_agent_types::chart_options::ChartOptions;

    #[test]
    fn long_data_becomes_wide_and_shares_are_shares() {
        let days = ["Tue", "Mon"].map(|it| json!(it));
        let values = [("a", vec![json!(1), json!(2)]), ("b", vec![json!(3), json!(2)])];
        let made = chart(ChartType::PercentStackedColumn, "", "object", &days, &values);
        let found = arranged(&made);
        let rows =
            [[json!("Mon"), json!(0.5), json!(0.5)], [json!("Tue"), json!(0.25), json!(0.75)]];
        assert_eq!(found.frame().rows, rows);
        assert_eq!(found.spec().y_label.as_deref(), Some("Share of revenue in EUR"));
    }

    #[test]
    fn what_is_arranged_stays_so() {
        for (name, chart) in gallery() {
            // The shares of a share are called otherwise.
            if chart.spec().chart_type == ChartType::PercentStackedColumn {
                continue;
            }
            let once = arranged(&chart);
            let (rows, series) = (Plot::of(&once).x.len(), once.spec().series.clone());
            let twice = arranged(&once);
            assert_eq!(
                (Plot::of(&twice).x.len(), twice.spec().series.clone()),
                (rows, series),
                "{name}"
            );
        }
    }

    #[test]
    fn the_trend_line_has_two_ends() {
        let x = [1.0, 2.0, 3.0].map(|it| json!(it));
        let made = chart(ChartType::Scatter, "", "float64", &x, &[("n", x.to_vec())]);
        assert_eq!(trend_line(&made), None);
        let options = ChartOptions { trend_line: Some(true), ..ChartOptions::default() };
        let made = crate::gallery_types::with_options(&made, options);
        assert_eq!(trend_line(&made), Some([(1.0, 1.0), (3.0, 3.0)]));
    }
}
