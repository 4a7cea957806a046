//! A reply as blocks: its text, then its charts as Plotly specs.

use serde_json::{Map, Value, json};

use crate::chart::{ChartType, Series};
use crate::event::ChartDrawn;

/// Returns `{"type": "text" | "chart", "content", "chart"}` objects: the text, then each chart.
///
/// A chart is `{"data": [traces], "layout": {…}}` as Plotly reads it. Data that is not plain JSON
/// gives traces without points.
pub fn blocks(text: &str, charts: &[ChartDrawn]) -> Vec<Value> {
    let mut blocks = vec![json!({"type": "text", "content": text, "chart": null})];
    let drawn = charts.iter().map(|chart| {
        let traces: Vec<_> = chart.series.iter().map(|it| trace(chart, it)).collect();
        let spec = json!({"data": traces, "layout": layout(chart)});
        json!({"type": "chart", "content": null, "chart": spec})
    });
    blocks.extend(drawn);
    blocks
}

fn trace(chart: &ChartDrawn, series: &Series) -> Value {
    let x = column(&chart.data, &chart.x_field);
    let y = column(&chart.data, &series.y_field);
    let name = &series.name;
    match chart.chart_type {
        ChartType::Bar => {
            json!({"type": "bar", "orientation": "h", "name": name, "x": y, "y": x})
        }
        ChartType::Column | ChartType::StackedColumn => {
            json!({"type": "bar", "name": name, "x": x, "y": y})
        }
        ChartType::Line => {
            json!({"type": "scatter", "mode": "lines+markers", "name": name, "x": x, "y": y})
        }
        ChartType::Scatter => {
            json!({"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y})
        }
    }
}

fn layout(chart: &ChartDrawn) -> Value {
    let x_label = chart.x_label.as_ref().unwrap_or(&chart.x_field);
    let only = (chart.series.len() == 1).then(|| &chart.series[0].name);
    let mut category = json!({"title": {"text": x_label}, "automargin": true});
    let mut amount =
        json!({"title": {"text": chart.y_label.as_ref().or(only)}, "automargin": true});
    let mut layout = Map::new();
    if let Some(title) = &chart.title {
        layout.insert("title".into(), json!({"text": title}));
    }
    if matches!(chart.chart_type, ChartType::Bar) {
        // The first row is the top one, as in a table.
        category["autorange"] = json!("reversed");
        amount["rangemode"] = json!("tozero");
        layout.insert("xaxis".into(), amount);
        layout.insert("yaxis".into(), category);
    } else {
        layout.insert("xaxis".into(), category);
        layout.insert("yaxis".into(), amount);
    }
    match chart.chart_type {
        ChartType::Bar | ChartType::Column => {
            layout.insert("barmode".into(), json!("group"));
        }
        ChartType::StackedColumn => {
            // Parts below zero stack downwards.
            layout.insert("barmode".into(), json!("relative"));
        }
        ChartType::Line | ChartType::Scatter => {}
    }
    layout.insert("showlegend".into(), json!(1 < chart.series.len()));
    if let Some(note) = &chart.note {
        let note = json!({
            "text": note, "showarrow": false, "align": "left",
            "xref": "paper", "yref": "paper", "x": 0, "y": -0.2,
        });
        layout.insert("annotations".into(), json!([note]));
    }
    Value::Object(layout)
}

fn column(data: &Value, field: &str) -> Vec<Value> {
    let rows = data.as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(|row| row.get(field).cloned().unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::blocks;
    use crate::chart::{ChartType, Series};
    use crate::event::{ChartDrawn, Encoding};

    fn chart(chart_type: ChartType) -> ChartDrawn {
        ChartDrawn {
            call_id: "c1".into(),
            df_name: "df".into(),
            logical_name: "q".into(),
            chart_type,
            title: Some("Revenue".into()),
            x_field: "product".into(),
            x_label: None,
            y_label: Some("EUR".into()),
            series: vec![
                Series { name: "Q2".into(), y_field: "q2".into() },
                Series { name: "Q3".into(), y_field: "q3".into() },
            ],
            note: None,
            data: json!([{"product": "Anvil", "q2": 1, "q3": 2}, {"product": "Rope", "q2": null, "q3": 4}]),
            row_count: 2,
            encoding: Encoding::Json,
            alt: String::new(),
            files: Vec::new(),
        }
    }

    #[test]
    fn the_text_comes_first_and_charts_are_plotly_specs() {
        let found = blocks("Only Anvil fell.", &[chart(ChartType::StackedColumn)]);
        assert_eq!(
            found,
            [
                json!({"type": "text", "content": "Only Anvil fell.", "chart": null}),
                json!({"type": "chart", "content": null, "chart": {
                    "data": [
                        {"type": "bar", "name": "Q2", "x": ["Anvil", "Rope"], "y": [1, null]},
                        {"type": "bar", "name": "Q3", "x": ["Anvil", "Rope"], "y": [2, 4]},
                    ],
                    "layout": {
                        "title": {"text": "Revenue"},
                        "xaxis": {"title": {"text": "product"}, "automargin": true},
                        "yaxis": {"title": {"text": "EUR"}, "automargin": true},
                        "barmode": "relative",
                        "showlegend": true,
                    },
                }}),
            ]
        );
    }

    #[test]
    fn bars_lie_and_start_at_the_top() {
        let found = blocks("", &[chart(ChartType::Bar)]);
        let spec = &found[1]["chart"];
        assert_eq!(spec["data"][0]["orientation"], "h");
        assert_eq!(spec["data"][0]["y"], json!(["Anvil", "Rope"]));
        assert_eq!(spec["layout"]["yaxis"]["autorange"], "reversed");
        assert_eq!(spec["layout"]["xaxis"]["title"]["text"], "EUR");
    }
}
