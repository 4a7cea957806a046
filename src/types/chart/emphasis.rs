//! What a chart shows beyond its series: panels, error bars, and what is highlighted or annotated.

use serde_json::Value;

use super::{ChartSpec, ChartType};
use crate::chart_options::{ChartOptions, LineSeries};
use crate::frame::Frame;

/// Returns why an option does not fit the type or the other options.
pub(super) fn misfit(spec: &ChartSpec) -> Option<&'static str> {
    use ChartType::{Area, Bar, Column, Line, PercentStackedColumn, Scatter};
    let options = spec.options.as_deref()?;
    let (kind, n_series) = (spec.chart_type, spec.series.len());
    let is_plain = matches!(kind, Bar | Column | Line | Scatter);
    if let Some(reason) = panels_misfit(spec, options) {
        Some(reason)
    } else if options.error_bars.is_some() && !(is_plain && n_series == 1) {
        Some("error_bars are for one series of bar, column, line or scatter")
    } else if options.highlight.is_some() && !is_plain {
        Some("highlight is for bar, column, line and scatter")
    } else if has_texts(options) && !matches!(kind, Column | Line | Area | Scatter) {
        Some("annotations are for column, line, area and scatter")
    } else if options.size_by.is_some() && kind != Scatter {
        Some("size_by is for scatter")
    } else if let Some(line) = &options.line_series {
        line_misfit(spec, options, line)
    } else if kind == PercentStackedColumn && options.facet_by.is_some() && n_series == 1 {
        let reason = "panels of shares need several series, or color_by";
        Some(reason).filter(|_| options.color_by.is_none())
    } else {
        None
    }
}

fn line_misfit(
    spec: &ChartSpec,
    options: &ChartOptions,
    line: &LineSeries,
) -> Option<&'static str> {
    let has_references = options.references.as_ref().is_some_and(|it| !it.is_empty());
    let has_others = options.error_bars.is_some() || options.highlight.is_some() || has_references;
    let is_series = spec.series.iter().any(|it| it.name == line.name);
    if spec.chart_type != ChartType::Column || options.color_by.is_some() {
        Some("line_series is for a column chart of wide data, without color_by")
    } else if spec.series.len() < 2 || !is_series {
        Some(
            "line_series.name must be the name of one of the series, besides which others are columns",
        )
    } else if has_others {
        Some("line_series does not work with error_bars, highlight or references")
    } else {
        None
    }
}

fn panels_misfit(spec: &ChartSpec, options: &ChartOptions) -> Option<&'static str> {
    let facet_by = options.facet_by.as_ref()?;
    if spec.chart_type.is_distribution() || spec.chart_type == ChartType::Heatmap {
        Some(
            "facet_by is for bars, columns, lines, areas and points; compare distributions with a box plot",
        )
    } else if *facet_by == spec.x_field || Some(facet_by) == options.color_by.as_ref() {
        Some("facet_by is the same column as x_field or color_by; name another, or null")
    } else if has_texts(options)
        || options.trend_line == Some(true)
        || options.line_series.is_some()
    {
        Some("facet_by does not work with annotations, trend_line or line_series")
    } else {
        None
    }
}

fn has_texts(options: &ChartOptions) -> bool {
    options.annotations.as_ref().is_some_and(|it| !it.is_empty())
}

/// Returns why the ends of error bars, or what is highlighted, do not belong to the data.
pub(super) fn unknown(spec: &ChartSpec, frame: &Frame) -> Option<String> {
    distances(spec, frame).or_else(|| unknown_highlight(spec, frame))
}

/// Returns that the ends of error bars are distances, as no value is between its ends.
fn distances(spec: &ChartSpec, frame: &Frame) -> Option<String> {
    let bars = spec.options.as_ref()?.error_bars.as_ref()?;
    let value = &spec.series.first()?.y_field;
    let at = |field: &String| frame.index_of(field);
    let (value, low, high) = (at(value)?, at(&bars.low_field)?, at(&bars.high_field)?);
    let number = |row: &[Value], at: usize| row[at].as_f64();
    let is_between = |row: &Vec<Value>| {
        let (low, high) = (number(row, low)?, number(row, high)?);
        let value = number(row, value)?;
        Some(low.min(high) <= value && value <= low.max(high))
    };
    let known: Vec<bool> = frame.rows.iter().filter_map(is_between).collect();
    let is_none = !known.is_empty() && !known.contains(&true);
    is_none.then(|| {
        format!(
            "no value is between its `{}` and `{}`; error bars need the ends, such as mean - error and \
             mean + error, and not the distances",
            bars.low_field, bars.high_field
        )
    })
}

fn unknown_highlight(spec: &ChartSpec, frame: &Frame) -> Option<String> {
    let name = spec.options.as_ref()?.highlight.as_ref()?;
    let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    let has = |field: &str| {
        let at = frame.index_of(field);
        frame.rows.iter().any(|row| at.is_some_and(|it| text(&row[it]) == *name))
    };
    let is_series = 1 < spec.series.len() && spec.series.iter().any(|it| it.name == *name);
    if is_series || spec.color_by().is_some_and(has) {
        return None;
    }
    let is_bar = matches!(spec.chart_type, ChartType::Bar | ChartType::Column);
    let has_rows = is_bar && spec.series.len() == 1 && spec.color_by().is_none();
    if has_rows && has(&spec.x_field) {
        return None;
    }
    let where_to = match (spec.color_by(), has_rows) {
        (Some(color_by), _) => format!("a value of `{color_by}`"),
        (None, true) => format!("a value of `{}`", spec.x_field),
        (None, false) => "the name of one of several series".to_owned(),
    };
    Some(format!("cannot highlight `{name}`: it must be {where_to}"))
}
