//! Traces and layouts of Plotly for the types of charts whose marks are not their rows.

use serde_json::{Value, json};

use csv_agent_types::chart::{ChartType, Series};
use csv_agent_types::chart_options::{Annotation, LogAxis};
use csv_agent_types::event::ChartDrawn;

/// The colours of what is highlighted and of what is not.
const STRONG: &str = "#3273e2";
const MUTED: &str = "#a09088";
/// The diameter of the largest point with a size.
const LARGEST: f64 = 36.0;
/// Panels side by side.
const PANEL_COLUMNS_MAX: usize = 3;
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

/// Adds error bars, sizes and a strong or muted colour to a trace, and makes it a line over columns.
pub(crate) fn emphasise(trace: &mut Value, chart: &ChartDrawn, series: &Series) {
    let Some(options) = chart.options.as_deref() else { return };
    let of = |what: &str| column(&chart.data, &format!("{}_{what}", series.y_field));
    let (low, high) = (of("low"), of("high"));
    if low.iter().chain(&high).any(Value::is_number) {
        let values = column(&chart.data, &series.y_field);
        let distance = |ends: &[Value]| {
            let pairs = ends.iter().zip(&values);
            let distance =
                |(end, value): (&Value, &Value)| Some((end.as_f64()? - value.as_f64()?).abs());
            json!(pairs.map(distance).collect::<Vec<_>>())
        };
        let along = if is_lying(chart.chart_type) { "error_x" } else { "error_y" };
        trace[along] = json!({"type": "data", "symmetric": false, "array": distance(&high),
            "arrayminus": distance(&low)});
    }
    let sizes: Vec<_> = of("size").iter().map(|it| it.as_f64().unwrap_or(0.0).max(0.0)).collect();
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    if 0.0 < largest {
        let reference = 2.0 * largest / (LARGEST * LARGEST);
        trace["marker"] = json!({"size": sizes, "sizemode": "area", "sizeref": reference,
            "sizemin": 2});
    }
    if let Some(name) = &options.highlight {
        let colour = |is_strong: bool| if is_strong { STRONG } else { MUTED };
        trace["marker"]["color"] = if 1 < chart.series.len() {
            colour(series.name == *name).into()
        } else {
            let rows = column(&chart.data, &chart.x_field);
            let is_it = |it: &Value| {
                let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
                // A day is the midnight that it begins with.
                text == *name || text.starts_with(&format!("{name}T"))
            };
            rows.iter().map(|it| colour(is_it(it))).collect()
        };
    }
    if let Some(line) = options.line_series.as_ref().filter(|it| it.name == series.name) {
        trace["type"] = json!("scatter");
        trace["mode"] = json!("lines+markers");
        if line.y_label.is_some() {
            trace["yaxis"] = json!("y2");
        }
    }
}

/// Returns the axis of a line over columns.
pub(crate) fn second_axis(chart: &ChartDrawn) -> Option<Value> {
    let label = chart.options.as_ref()?.line_series.as_ref()?.y_label.as_deref()?;
    Some(json!({"title": {"text": escaped(label)}, "overlaying": "y", "side": "right",
        "rangemode": "tozero", "showgrid": false, "automargin": true}))
}

/// Returns the texts at points.
pub(crate) fn texts(chart: &ChartDrawn) -> Vec<Value> {
    let all = chart.options.iter().flat_map(|it| &it.annotations).flatten();
    let is_number = column(&chart.data, &chart.x_field).iter().any(Value::is_number);
    let text = |it: &Annotation| {
        let number = it.x.parse::<f64>().ok().filter(|_| is_number);
        let x = number.map_or_else(|| json!(it.x), |it| json!(it));
        json!({"x": x, "y": it.y, "text": escaped(&it.text), "showarrow": true})
    };
    all.map(text).collect()
}

/// Returns figures side by side, with a title over each.
pub(crate) fn panels(title: Option<&str>, figures: Vec<(&str, Value)>, is_shared: bool) -> Value {
    let n_columns = if is_shared { figures.len().min(PANEL_COLUMNS_MAX) } else { 1 };
    let (mut traces, mut titles, mut layout) = (Vec::new(), Vec::new(), Value::Null);
    let grid = json!({"rows": figures.len().div_ceil(n_columns), "columns": n_columns,
        "pattern": "independent"});
    for (at, (name, mut figure)) in (1..).zip(figures) {
        let number = if at == 1 { String::new() } else { at.to_string() };
        let [x, y] = ["x", "y"].map(|it| format!("{it}{number}"));
        for trace in figure["data"].as_array_mut().into_iter().flatten() {
            trace["xaxis"] = json!(x);
            trace["yaxis"] = json!(y);
            trace["showlegend"] = json!(at == 1);
            trace["legendgroup"] = trace["name"].clone();
            traces.push(trace.take());
        }
        let text = format!("<b>{}</b>", escaped(name));
        titles.push(json!({"text": text, "showarrow": false, "xanchor": "left", "x": 0, "y": 1.12,
            "xref": format!("{x} domain"), "yref": format!("{y} domain")}));
        let mut axes = figure["layout"].take();
        let [x_axis, y_axis] = ["xaxis", "yaxis"].map(|it| axes[it].take());
        if at == 1 {
            layout = axes;
        }
        for (name, along, mut axis) in [("xaxis", "x", x_axis), ("yaxis", "y", y_axis)] {
            if is_shared && 1 < at {
                axis["matches"] = json!(along);
            }
            layout[format!("{name}{number}")] = axis;
        }
    }
    if let Some(title) = title {
        layout["title"] = json!({"text": escaped(title)});
    }
    layout["grid"] = grid;
    layout["annotations"] = titles.into();
    json!({"data": traces, "layout": layout})
}

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
