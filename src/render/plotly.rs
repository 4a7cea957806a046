//! Traces and layouts of Plotly for the types of charts whose marks are not their rows.

use serde_json::{Value, json};

use csv_agent_types::chart::ChartType;
use csv_agent_types::chart_options::LogAxis;
use csv_agent_types::event::ChartDrawn;

/// Label for a missing value.
const MISSING: &str = "(none)";

/// Returns the bars of a histogram, at the middles of its bins.
pub(crate) fn bins(data: &Value) -> Value {
    let edge =
        |field| column(data, field).iter().map(|it| it.as_f64().unwrap_or(0.0)).collect::<Vec<_>>();
    let bins = || edge("from").into_iter().zip(edge("to"));
    let middles: Vec<f64> = bins().map(|(from, to)| from / 2.0 + to / 2.0).collect();
    let widths: Vec<f64> = bins().map(|(from, to)| to - from).collect();
    json!({"type": "bar", "x": middles, "width": widths, "y": column(data, "rows")})
}

/// Returns horizontal boxes from their quartiles, with the points beyond the whiskers.
pub(crate) fn boxes(chart: &ChartDrawn) -> Value {
    let of = |field| column(&chart.data, field);
    let labels: Vec<String> = of(&chart.x_field).iter().map(label).collect();
    json!({"type": "box", "orientation": "h", "y": labels, "lowerfence": of("low"), "q1": of("q1"),
        "median": of("median"), "q3": of("q3"), "upperfence": of("high"), "x": of("points"),
        "boxpoints": "all", "jitter": 0, "pointpos": 0})
}

/// Returns a grid of shades: a column for each row, a row for each series.
pub(crate) fn heat(chart: &ChartDrawn, at: &[Value]) -> Value {
    let z: Vec<_> = chart.series.iter().map(|it| column(&chart.data, &it.y_field)).collect();
    let names: Vec<_> = chart.series.iter().map(|it| escaped(&it.name)).collect();
    json!({"type": "heatmap", "x": at, "y": names, "z": z, "colorscale": "Blues",
        "colorbar": {"title": {"text": chart.y_label.as_deref().map(escaped)}}})
}

/// Returns a straight line between two points.
pub(crate) fn line(ends: [(f64, f64); 2]) -> Value {
    json!({"type": "scatter", "mode": "lines", "name": "trend", "x": ends.map(|it| it.0),
        "y": ends.map(|it| it.1), "line": {"color": "#222"}})
}

/// Returns whether the rows are along the vertical axis.
pub(crate) fn is_lying(chart_type: ChartType) -> bool {
    matches!(chart_type, ChartType::Bar | ChartType::StackedBar | ChartType::Box)
}

/// Returns the types of the axes of x and of the values, where they are not the default.
pub(crate) fn scales(chart: &ChartDrawn) -> (Option<Value>, Option<Value>) {
    let log = || Some(json!("log"));
    match chart.options.as_ref().and_then(|it| it.log_axis) {
        Some(LogAxis::X) => (log(), None),
        Some(LogAxis::Y) => (None, log()),
        Some(LogAxis::Both) => (log(), log()),
        None => (None, None),
    }
}

/// Returns the shapes and the labels of lines and bands to compare with.
pub(crate) fn references(chart: &ChartDrawn) -> (Vec<Value>, Vec<Value>) {
    // The values are along the horizontal axis, as are the bins of a histogram.
    let is_level = is_lying(chart.chart_type) || chart.chart_type == ChartType::Histogram;
    let (along, across) = if is_level { ("x", "y") } else { ("y", "x") };
    let log = scales(chart).1.is_some();
    let all = chart.options.iter().flat_map(|it| &it.references).flatten();
    let each = all.map(|it| {
        let to = it.to.unwrap_or(it.value);
        let kind = if it.to.is_some() { "rect" } else { "line" };
        let mut shape = json!({"type": kind, "layer": "below", "fillcolor": "#ddd",
            "line": {"dash": "dash", "width": 1, "color": "#777"}});
        shape[format!("{along}0")] = json!(it.value);
        shape[format!("{along}1")] = json!(to);
        shape[format!("{across}ref")] = json!("paper");
        shape[format!("{across}0")] = json!(0);
        shape[format!("{across}1")] = json!(1);
        let text = it.label.as_deref().map_or_else(|| it.value.to_string(), escaped);
        let mut note = json!({"text": text, "showarrow": false, "xanchor": "left"});
        // Annotations of a logarithmic axis are placed by exponents.
        note[along] = json!(if log { it.value.log10() } else { it.value });
        note[format!("{across}ref")] = json!("paper");
        note[across] = json!(1);
        (shape, note)
    });
    each.unzip()
}

/// Returns a cell as text.
pub(crate) fn label(cell: &Value) -> String {
    match cell {
        Value::Null => MISSING.to_owned(),
        Value::String(text) => escaped(text),
        other => escaped(&other.to_string()),
    }
}

/// Plotly interprets tags, including links; text from a file or a model is shown literally.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the cells of a column, in the order of the rows.
pub(crate) fn column(data: &Value, field: &str) -> Vec<Value> {
    let rows = data.as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(|row| row.get(field).cloned().unwrap_or_default()).collect()
}
