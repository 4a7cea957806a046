//! Layers beside the marks: error bars, texts at points, a line over columns.

use serde_json::{Map, Value, json};

use super::{colours, hex, is_lying, labels, names, places};
use crate::overlay::Overlaid;
use crate::plot::{Emphasis, Plot};
use crate::theme::Colour;

/// Returns the colour of a single series, in which one row may be strong.
pub(super) fn single_colour(plot: &Plot) -> Value {
    let strong = hex(Colour::SERIES[0]);
    match plot.emphasis {
        Some(Emphasis::Row(row)) => {
            let label = &labels(plot)[row];
            json!({"condition": {"test": {"field": "x", "equal": label}, "value": strong},
                "value": hex(Colour::MUTED)})
        }
        _ => json!({"value": strong}),
    }
}

pub(super) fn error_bars(plot: &Plot) -> Option<Value> {
    if plot.series.iter().all(|it| it.ends.is_empty()) {
        return None;
    }
    let (along, across) = if is_lying(plot) { ("y", "x") } else { ("x", "y") };
    let kind = places(plot).0;
    let mut rows = json!({"field": "x", "type": kind});
    if kind == "nominal" {
        rows["sort"] = Value::Null;
    }
    let mut encoding = Map::new();
    encoding.insert(along.into(), rows);
    // The titles of an axis that layers share are joined, unless they are the same.
    let title = &plot.y_label;
    encoding.insert(across.into(), json!({"field": "low", "type": "quantitative", "title": title}));
    encoding.insert(format!("{across}2"), json!({"field": "high"}));
    if !plot.chart_type.is_placed() && 1 < plot.series.len() {
        let offset = json!({"field": "series", "type": "nominal", "sort": null});
        encoding.insert(format!("{along}Offset"), offset);
    }
    if plot.chart_type.is_placed() {
        encoding.insert("color".into(), colours(plot));
    }
    let mut mark = json!({"type": "errorbar", "ticks": {"size": 9}});
    if !plot.chart_type.is_placed() {
        mark["color"] = json!(hex(Colour::INK));
    }
    Some(json!({"mark": mark, "encoding": encoding}))
}

/// Returns the line over columns.
pub(super) fn overlay(plot: &Plot) -> Option<Value> {
    let line = plot.line.as_ref()?;
    let name = names(plot).pop()?;
    let mut y = json!({"field": "value", "type": "quantitative"});
    if let Some(label) = &line.y_label {
        y["axis"] = json!({"title": label, "orient": "right", "grid": false});
        let domain = Overlaid::of(plot)?.domain(crate::bars::covered(plot))?;
        y["scale"] = json!({"domain": [domain.0, domain.1], "nice": false});
    }
    Some(json!({
        "transform": [{"filter": {"field": "series", "equal": name}}],
        "mark": {"type": "line", "point": true},
        "encoding": {"x": {"field": "x", "type": "nominal", "sort": null}, "y": y,
            "color": colours(plot)},
    }))
}

/// Returns the texts at points, and a ring around each point.
pub(super) fn texts(plot: &Plot) -> Vec<Value> {
    if plot.annotations.is_empty() {
        return Vec::new();
    }
    let (kind, x) = places(plot);
    let row =
        |it: &crate::plot::PointText| json!({"x": x[it.row], "value": it.value, "text": it.text});
    let rows: Vec<_> = plot.annotations.iter().map(row).collect();
    let mut level = json!({"field": "x", "type": kind});
    if kind == "nominal" {
        level["sort"] = Value::Null;
    }
    let layer = |mark: Value| {
        json!({"data": {"values": rows}, "mark": mark, "encoding": {"x": level,
            "y": {"field": "value", "type": "quantitative"}}})
    };
    let ring = json!({"type": "point", "size": 130, "color": hex(Colour::INK)});
    let mut text = layer(json!({"type": "text", "dy": -14}));
    text["encoding"]["text"] = json!({"field": "text", "type": "nominal"});
    vec![layer(ring), text]
}
