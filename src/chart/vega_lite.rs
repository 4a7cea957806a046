//! A chart as a Vega-Lite specification with its data, which draws what our pictures show.
//!
//! Source: Vega-Lite 5, "View Specification". Types are always explicit, because a reader would take
//! codes for numbers. Colours are those of the light theme.

use serde_json::{Map, Value, json};

use csv_agent_types::chart::{Chart, ChartType};

use super::heat::Shades;
use super::numbers::Measure;
use super::plot::{Plot, X};
use super::theme::{Colour, Theme};

const SCHEMA: &str = "https://vega.github.io/schema/vega-lite/v5.json";
/// Width and height of the marks, in pixels.
const SIZE: (u32, u32) = (720, 360);
/// The height of the marks of a panel, in pixels.
const PANE_HEIGHT: u32 = 160;
/// The height of a horizontal bar or box, in pixels.
const STEP: u32 = 26;

/// Returns the chart as a Vega-Lite specification.
pub fn vega_lite(chart: &Chart) -> Value {
    let mut plot = Plot::of(chart);
    if plot.panels.is_some() {
        let references: Vec<_> = super::panels::references(&plot).collect();
        plot.notes.splice(..0, references);
    }
    let mut spec = json!({"$schema": SCHEMA, "description": super::sentence(&plot)});
    if plot.title.is_some() || !plot.notes.is_empty() {
        spec["title"] = json!({"text": plot.title.as_deref().unwrap_or_default(),
            "subtitle": plot.notes, "anchor": "start"});
    }
    let plots = plot.panel_plots();
    match &plot.panels {
        None => put(&mut spec, view(&plot, SIZE)),
        Some(panels) if panels.share_scale => put(&mut spec, facets(&plots, &plot)),
        Some(_) => spec["vconcat"] = plots.into_iter().map(|it| pane(it, &plot)).collect(),
    }
    spec
}

/// Adds members to an object.
fn put(spec: &mut Value, members: Value) {
    if let (Value::Object(spec), Value::Object(members)) = (spec, members) {
        spec.extend(members);
    }
}

/// Returns the marks of a plot with their data, size and axes.
fn view(plot: &Plot, size: (u32, u32)) -> Value {
    let mut layers = bands(plot);
    let errors = emphasis::error_bars(plot);
    match plot.chart_type {
        ChartType::Histogram => layers.push(bins(plot)),
        ChartType::Box => layers.extend(boxes(plot)),
        ChartType::Heatmap => layers.push(cells(plot)),
        kind if kind.is_placed() => layers.extend(errors.into_iter().chain([points(plot)])),
        _ => layers.extend([bars(plot)].into_iter().chain(errors)),
    }
    layers.extend(lines(plot));
    layers.extend(trend(plot));
    layers.extend(emphasis::overlay(plot));
    layers.extend(emphasis::texts(plot));
    let height = if is_lying(plot) { json!({"step": STEP}) } else { size.1.into() };
    let mut spec = json!({"width": size.0, "height": height});
    if !plot.chart_type.is_distribution() && plot.chart_type != ChartType::Heatmap {
        spec["data"] = json!({"values": long(plot, &places(plot).1)});
    }
    if plot.line.as_ref().is_some_and(|it| it.y_label.is_some()) {
        spec["resolve"] = json!({"scale": {"y": "independent"}});
    }
    if layers.len() == 1 {
        put(&mut spec, layers.remove(0));
    } else {
        spec["layer"] = layers.into();
    }
    spec
}

/// Returns panels that share their data, scales and axes.
fn facets(plots: &[Plot], whole: &Plot) -> Value {
    let n_columns = super::panels::n_columns(plots.len());
    let width = SIZE.0 / u32::try_from(n_columns).unwrap_or(1);
    let titles = plots.iter().map(|it| it.title.clone().unwrap_or_default());
    let titles = distinct(titles.collect());
    let labelled = |it: &Plot| Plot {
        x_label: whole.x_label.clone(),
        y_label: whole.y_label.clone(),
        ..it.clone()
    };
    let mut views: Vec<_> =
        plots.iter().map(|it| view(&labelled(it), (width, PANE_HEIGHT))).collect();
    let mut rows = Vec::new();
    for (view, title) in views.iter_mut().zip(&titles) {
        let data = view.as_object_mut().and_then(|it| it.remove("data")).unwrap_or_default();
        for row in data["values"].as_array().into_iter().flatten() {
            let mut row = row.clone();
            row["panel"] = json!(title);
            rows.push(row);
        }
    }
    let header = json!({"title": null, "labelFontWeight": "bold", "labelAnchor": "start"});
    json!({"data": {"values": rows}, "columns": n_columns, "spec": views.first(),
        "facet": {"field": "panel", "type": "nominal", "sort": titles, "header": header}})
}

/// Returns a panel with its own scale.
fn pane(pane: Plot, whole: &Plot) -> Value {
    let title = json!({"text": pane.title, "anchor": "start"});
    let mut view = view(&Plot { x_label: whole.x_label.clone(), ..pane }, (SIZE.0, PANE_HEIGHT));
    view["title"] = title;
    view
}

/// Returns whether the rows are along the vertical axis.
fn is_lying(plot: &Plot) -> bool {
    matches!(plot.chart_type, ChartType::Bar | ChartType::StackedBar | ChartType::Box)
}

fn hex(colour: Colour) -> String {
    let [red, green, blue] = Theme::Light.rgb(colour);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn value_axis(plot: &Plot) -> Value {
    let mut axis = json!({"title": plot.y_label});
    match plot.measure {
        Measure::Plain => {}
        Measure::Share => axis["format"] = json!(".0%"),
        Measure::Percent => axis["labelExpr"] = json!("datum.label + '%'"),
    }
    axis
}

/// Returns the colours of the series, in their order.
fn colours(plot: &Plot) -> Value {
    let names: Vec<_> = names(plot);
    if names.len() < 2 {
        return emphasis::single_colour(plot);
    }
    let range: Vec<_> = (0..names.len()).map(|it| hex(plot.colour(it, None))).collect();
    json!({"field": "series", "type": "nominal", "sort": null, "title": null,
        "scale": {"domain": names, "range": range}})
}

/// Returns the names of the series; equal ones are numbered, because they would share a colour.
fn names(plot: &Plot) -> Vec<String> {
    distinct(plot.series.iter().map(|it| it.name.clone()).collect())
}

fn distinct(names: Vec<String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        let numbered = (2..).map(|it| format!("{name} ({it})"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|it| !seen.contains(it));
        seen.extend(free);
    }
    seen
}

/// Returns a row for each value: its place in `x`, its `series` and its `value`.
fn long(plot: &Plot, x: &[Value]) -> Vec<Value> {
    let series = plot.series.iter().zip(names(plot)).enumerate();
    let rows = series.flat_map(|(at, (series, name))| {
        let rows = x.iter().zip(&series.values).enumerate();
        rows.map(move |(row, (x, value))| {
            let mut cells = json!({"x": x, "series": name, "order": at, "value": value});
            if let Some((low, high)) = series.ends(row) {
                put(&mut cells, json!({"low": low, "high": high}));
            }
            if let Some(size) = series.sizes.get(row) {
                cells["size"] = json!(size.unwrap_or(0.0).max(0.0));
            }
            cells
        })
    });
    rows.collect()
}

/// Returns the type of the positions of rows, and the positions.
fn places(plot: &Plot) -> (&'static str, Vec<Value>) {
    let cells = || (0..plot.x.len()).map(|it| plot.cell(it)).collect();
    match plot.x {
        X::Numbers(_) if plot.chart_type.is_placed() => ("quantitative", cells()),
        X::Times(_) if plot.chart_type.is_placed() => ("temporal", cells()),
        _ => ("nominal", labels(plot)),
    }
}

fn labels(plot: &Plot) -> Vec<Value> {
    let labels = (0..plot.x.len()).map(|it| plot.x.full_label(it)).collect();
    distinct(labels).into_iter().map(Value::from).collect()
}

fn bars(plot: &Plot) -> Value {
    let is_stacked = plot.chart_type.is_stacked();
    let stack = if is_stacked { json!("zero") } else { Value::Null };
    let mut values = json!({"field": "value", "type": "quantitative", "stack": stack,
        "axis": value_axis(plot)});
    if plot.chart_type == ChartType::PercentStackedColumn {
        values["scale"] = json!({"domain": [0, 1]});
    } else if plot.covers.is_some() || plot.line.is_some() || !plot.annotations.is_empty() {
        let (low, high) = super::bars::covered(plot);
        values["scale"] = json!({"domain": [low, high], "nice": false});
    }
    let rows = json!({"field": "x", "type": "nominal", "sort": null,
        "axis": {"title": Some(&plot.x_label).filter(|_| plot.parts().is_none())}});
    let (along, across) = if is_lying(plot) { ("y", "x") } else { ("x", "y") };
    let mut encoding = Map::new();
    encoding.insert(along.into(), rows);
    encoding.insert(across.into(), values);
    encoding.insert("color".into(), colours(plot));
    if is_stacked {
        encoding.insert("order".into(), json!({"field": "order", "type": "quantitative"}));
    } else if 1 < plot.series.len() {
        let offset = json!({"field": "series", "type": "nominal", "sort": null});
        encoding.insert(format!("{along}Offset"), offset);
    }
    let mut bars = json!({"mark": {"type": "bar"}, "encoding": encoding});
    if let (Some(_), Some(line)) = (&plot.line, names(plot).last()) {
        bars["transform"] = json!([{"filter": {"not": {"field": "series", "equal": line}}}]);
    }
    bars
}

fn points(plot: &Plot) -> Value {
    let kind = places(plot).0;
    let mut level = json!({"field": "x", "type": kind, "axis": {"title": plot.x_label}});
    match kind {
        "quantitative" if plot.is_log.0 => level["scale"] = json!({"type": "log"}),
        "quantitative" => level["scale"] = json!({"zero": false}),
        "nominal" => level["sort"] = Value::Null,
        _ => {}
    }
    let (low, high) = super::points::upright_range(plot);
    let mut values = json!({"field": "value", "type": "quantitative", "axis": value_axis(plot)});
    values["scale"] = if plot.is_log.1 {
        json!({"type": "log"})
    } else {
        json!({"domain": [low, high], "nice": true, "zero": false})
    };
    let mut encoding = json!({"x": level, "y": values, "color": colours(plot)});
    let mark = match plot.chart_type {
        ChartType::Scatter => {
            if 1 < plot.series.len() {
                // With the title of the colours, both have one legend.
                encoding["shape"] = json!({"field": "series", "type": "nominal", "sort": null,
                    "title": null, "scale": {"domain": names(plot)}});
            }
            if 0.0 < super::overplotting::pad(plot) {
                let range = json!({"range": [20, 1000]});
                encoding["size"] = json!({"field": "size", "type": "quantitative", "scale": range,
                    "legend": null});
            }
            json!({"type": "point"})
        }
        ChartType::Area => {
            encoding["y"]["stack"] = json!("zero");
            encoding["order"] = json!({"field": "order", "type": "quantitative"});
            json!({"type": "area"})
        }
        // A missing value is a gap.
        _ => json!({"type": "line", "invalid": "break-paths-show-domains"}),
    };
    json!({"mark": mark, "encoding": encoding})
}

fn bins(plot: &Plot) -> Value {
    let rows = plot.bins.iter().zip(&plot.series[0].values);
    let rows: Vec<_> =
        rows.map(|(bin, n)| json!({"from": bin.from, "to": bin.to, "rows": n})).collect();
    json!({"data": {"values": rows}, "mark": {"type": "bar"}, "encoding": {
        "x": {"field": "from", "type": "quantitative", "bin": {"binned": true},
            "axis": {"title": plot.x_label}},
        "x2": {"field": "to"},
        "y": {"field": "rows", "type": "quantitative", "axis": value_axis(plot)},
        "color": {"value": hex(Colour::SERIES[0])},
    }})
}

/// Returns whiskers, boxes, medians, and points beyond; of few values only these.
fn boxes(plot: &Plot) -> Vec<Value> {
    let labels = labels(plot);
    let boxes = || labels.iter().zip(&plot.boxes);
    let summary = |(label, it): (&Value, &super::plot::BoxSummary)| {
        let [low, q1, median, q3, high] =
            it.ends.filter(|_| !it.is_strip()).map(|it| it.map(Some)).unwrap_or_default();
        json!({"x": label, "low": low, "q1": q1, "median": median, "q3": q3, "high": high})
    };
    let summaries: Vec<_> = boxes().map(summary).collect();
    let points = boxes().flat_map(|(label, it)| {
        it.points.iter().map(move |value| json!({"x": label, "value": value}))
    });
    let points: Vec<_> = points.collect();
    let y = json!({"field": "x", "type": "nominal", "sort": null, "axis": {"title": plot.x_label}});
    let x = |field: &str| {
        json!({"field": field, "type": "quantitative", "axis": value_axis(plot),
            "scale": {"zero": false}})
    };
    let layer = |mark: Value, encoding: Value| {
        let mut layer = json!({"data": {"values": summaries}, "mark": mark, "encoding": encoding});
        layer["encoding"]["y"] = y.clone();
        layer
    };
    let blue = hex(Colour::SERIES[0]);
    let mut dots = layer(json!({"type": "point", "color": blue}), json!({"x": x("value")}));
    dots["data"] = json!({"values": points});
    vec![
        layer(
            json!({"type": "rule", "color": hex(Colour::AXIS)}),
            json!({"x": x("low"), "x2": {"field": "high"}}),
        ),
        layer(
            json!({"type": "bar", "size": 14, "color": blue}),
            json!({"x": x("q1"), "x2": {"field": "q3"}}),
        ),
        layer(
            json!({"type": "tick", "size": 14, "thickness": 2, "color": "white"}),
            json!({"x": x("median")}),
        ),
        dots,
    ]
}

fn cells(plot: &Plot) -> Value {
    let (domain, range) = Shades::of(plot).scale();
    let range: Vec<_> = range.into_iter().map(hex).collect();
    let axis = |title: Value| json!({"title": title});
    json!({"data": {"values": long(plot, &labels(plot))}, "mark": {"type": "rect"}, "encoding": {
        "x": {"field": "x", "type": "nominal", "sort": null, "axis": axis(plot.x_label.clone().into())},
        "y": {"field": "series", "type": "nominal", "sort": null, "axis": axis(Value::Null)},
        "color": {"field": "value", "type": "quantitative", "title": plot.y_label,
            "scale": {"type": "threshold", "domain": domain, "range": range}},
    }})
}

/// Returns the axis along which references are, and the scale they share with the marks.
fn along(plot: &Plot) -> &'static str {
    if is_lying(plot) || plot.chart_type == ChartType::Histogram { "x" } else { "y" }
}

/// Returns the bands to compare with.
fn bands(plot: &Plot) -> Vec<Value> {
    let bands = plot.references.iter().filter_map(|it| Some((it.from, it.to?)));
    let band = |(from, to): (f64, f64)| {
        let along = along(plot);
        let mut encoding = Map::new();
        encoding.insert(along.into(), json!({"datum": from, "type": "quantitative"}));
        encoding.insert(format!("{along}2"), json!({"datum": to}));
        json!({"data": {"values": [{}]}, "mark": {"type": "rect", "color": hex(Colour::GRID)},
            "encoding": encoding})
    };
    bands.map(band).collect()
}

/// Returns the lines to compare with, and the labels of lines and bands.
fn lines(plot: &Plot) -> Vec<Value> {
    let along = along(plot);
    let layer = |mark: Value, value: f64| {
        let mut encoding = Map::new();
        encoding.insert(along.into(), json!({"datum": value, "type": "quantitative"}));
        json!({"data": {"values": [{}]}, "mark": mark, "encoding": encoding})
    };
    let rule = json!({"type": "rule", "strokeDash": [6, 4], "color": hex(Colour::AXIS)});
    let lines = plot.references.iter().filter(|it| it.to.is_none());
    let mut layers: Vec<_> = lines.map(|it| layer(rule.clone(), it.from)).collect();
    // The note of panels says it once.
    for it in plot.references.iter().filter(|_| plot.covers.is_none()) {
        let mark = if along == "x" {
            json!({"type": "text", "y": -6, "align": "left", "text": it.label})
        } else {
            json!({"type": "text", "x": "width", "dx": 4, "align": "left", "text": it.label})
        };
        layers.push(layer(mark, it.to.map_or(it.from, |to| it.from / 2.0 + to / 2.0)));
    }
    layers
}

fn trend(plot: &Plot) -> Option<Value> {
    let trend = plot.trend?;
    let ends = [trend.range.0, trend.range.1].map(|x| json!({"x": x, "value": trend.at(x)}));
    Some(json!({"data": {"values": ends}, "mark": {"type": "line", "color": hex(Colour::INK)},
        "encoding": {"x": {"field": "x", "type": "quantitative"},
            "y": {"field": "value", "type": "quantitative"}}}))
}

mod emphasis;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::vega_lite;
    use crate::gallery::{chart, gallery};
    use csv_agent_types::chart::ChartType;

    #[test]
    fn a_specification_has_its_data_and_colours() {
        let x = [json!("Anvil"), json!("Anvil")];
        let values = [("Q2", vec![json!(1), Value::Null]), ("Q3", vec![json!(2), json!(4)])];
        let spec = vega_lite(&chart(ChartType::StackedBar, "Sales", "object", &x, &values));
        assert_eq!(spec["title"]["text"], "Sales");
        assert_eq!(
            spec["data"]["values"][1],
            json!({"x": "Anvil (2)", "series": "Q2", "order": 0, "value": null})
        );
        assert_eq!(spec["encoding"]["y"]["field"], "x");
        assert_eq!(spec["encoding"]["color"]["scale"]["domain"], json!(["Q2", "Q3"]));
    }

    #[test]
    fn colours_and_shapes_of_points_have_one_legend() {
        let x = [json!(1), json!(2)];
        let series = [("a", x.to_vec()), ("b", x.to_vec())];
        let encoding =
            vega_lite(&chart(ChartType::Scatter, "", "int64", &x, &series))["encoding"].clone();
        let (colour, shape) = (&encoding["color"], &encoding["shape"]);
        assert_eq!(colour["scale"]["domain"], shape["scale"]["domain"]);
        assert!(colour["title"].is_null() && shape.as_object().unwrap().contains_key("title"));
    }

    #[test]
    fn every_chart_has_marks_and_a_description() {
        for (name, chart) in gallery() {
            let spec = vega_lite(&chart);
            let views = spec["vconcat"].as_array().cloned();
            let facet = spec["spec"].is_object().then(|| spec["spec"].clone());
            let views = views.or_else(|| Some(vec![facet?])).unwrap_or_else(|| vec![spec.clone()]);
            for view in views {
                let marks = view["layer"].as_array().map_or(1, Vec::len);
                assert!(0 < marks && (view["mark"].is_object() || 1 < marks), "{name}");
            }
            assert!(spec["description"].as_str().is_some_and(|it| !it.is_empty()), "{name}");
        }
    }
}
