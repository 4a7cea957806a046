//! A reply as blocks: its text, then its charts as Plotly specs.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::plotly::{self, column, escaped, label};
use csv_agent_chart::time;
use csv_agent_types::chart::{Chart, ChartType, Series};
use csv_agent_types::chart_options::ChartOptions;
use csv_agent_types::event::ChartDrawn;

/// Characters in a line of a note; Plotly does not wrap it.
const NOTE_CHARS: usize = 90;

/// Returns `{"type": "text" | "chart", "content", "chart"}` objects: the text, then each chart.
///
/// A chart is `{"data": [traces], "layout": {…}}` in Plotly's format. Data that is not plain JSON
/// yields traces without points.
pub fn blocks(text: &str, charts: &[ChartDrawn]) -> Vec<Value> {
    let mut blocks = vec![json!({"type": "text", "content": text, "chart": null})];
    let drawn = charts.iter().map(|chart| {
        let panels = panels(chart);
        let spec = if panels.is_empty() {
            let arranged = arranged(chart);
            let mut spec = figure(arranged.as_ref().unwrap_or(chart));
            let trend = chart.chart().and_then(|it| csv_agent_chart::trend_line(&it));
            if let (Some(trend), Value::Array(traces)) = (trend, &mut spec["data"]) {
                traces.push(plotly::line(trend));
            }
            spec
        } else {
            let is_shared = chart.options.as_ref().is_some_and(|it| it.facet_by.is_some());
            let figures = panels.iter().map(|(name, it)| (name.as_str(), figure(it)));
            plotly::panels(chart.title.as_deref(), figures.collect(), is_shared)
        };
        json!({"type": "chart", "content": null, "chart": spec})
    });
    blocks.extend(drawn);
    blocks
}

/// Returns the traces and the layout of a chart without panels.
fn figure(chart: &ChartDrawn) -> Value {
    let rows = RowAxis::of(chart);
    let traces: Vec<_> = match chart.chart_type {
        ChartType::Histogram => vec![plotly::bins(&chart.data)],
        ChartType::Box => vec![plotly::boxes(chart)],
        ChartType::Heatmap => vec![plotly::heat(chart, &rows.at)],
        _ => chart.series.iter().map(|it| trace(chart, &rows.at, it)).collect(),
    };
    json!({"data": traces, "layout": layout(chart, rows.axis)})
}

fn panels(chart: &ChartDrawn) -> Vec<(String, ChartDrawn)> {
    let panels = chart.chart().map(|it| csv_agent_chart::panels(&it)).unwrap_or_default();
    panels.into_iter().map(|(name, panel)| (name, drawn(chart, &panel))).collect()
}

/// Returns a chart with options, or of a type whose rows are not its marks, as the pictures show it.
fn arranged(chart: &ChartDrawn) -> Option<ChartDrawn> {
    use ChartType::{Bar, Column, Line, Scatter, StackedColumn};
    let is_plain = matches!(chart.chart_type, Bar | Column | StackedColumn | Line | Scatter);
    if is_plain && chart.options.is_none() {
        return None;
    }
    Some(drawn(chart, &csv_agent_chart::arranged(&chart.chart()?)))
}

/// Returns the event of a chart with its rows in another form.
fn drawn(chart: &ChartDrawn, arranged: &Chart) -> ChartDrawn {
    let spec = arranged.spec().clone();
    let highlight = chart.options.as_ref().and_then(|it| it.highlight.clone());
    let options = spec.options.map(|it| Box::new(ChartOptions { highlight, ..*it }));
    ChartDrawn {
        x_field: spec.x_field,
        x_label: spec.x_label,
        y_label: spec.y_label,
        series: spec.series,
        data: Value::Array(arranged.frame().objects()),
        options: options.or_else(|| chart.options.clone()),
        ..chart.clone()
    }
}

/// The positions of a chart's rows on the axis that is not for amounts.
struct RowAxis {
    /// One per row.
    at: Vec<Value>,
    /// Members of the axis. Its type is always explicit, because Plotly would treat codes as numbers.
    axis: Value,
}

impl RowAxis {
    fn of(chart: &ChartDrawn) -> RowAxis {
        let cells = column(&chart.data, &chart.x_field);
        let labels: Vec<String> = cells.iter().map(label).collect();
        let are_distinct = labels.iter().collect::<BTreeSet<_>>().len() == labels.len();
        let known = || cells.iter().filter(|it| !it.is_null());
        if chart.chart_type == ChartType::Histogram {
            return RowAxis { at: Vec::new(), axis: json!({"type": "linear"}) };
        }
        let is_bar = !chart.chart_type.is_placed();
        // Each bar has its own position, whatever its neighbours are.
        let is_time = |it: &Value| it.as_str().and_then(time::parse).is_some();
        let has_places = !is_bar || (are_distinct && !cells.iter().any(Value::is_null));
        if has_places && known().next().is_some() && known().all(is_time) {
            return RowAxis { at: cells, axis: json!({"type": "date"}) };
        }
        if !is_bar && known().all(Value::is_number) {
            return RowAxis { at: cells, axis: json!({"type": "linear"}) };
        }
        if are_distinct {
            let text = |(cell, label): (&Value, String)| match cell {
                Value::Number(_) | Value::Bool(_) => cell.clone(),
                _ => label.into(),
            };
            let at = cells.iter().zip(labels).map(text).collect();
            return RowAxis { at, axis: json!({"type": "category"}) };
        }
        // A repeated category would share one position, where one mark hides the other.
        let at: Vec<Value> = (0..labels.len()).map(Value::from).collect();
        let axis = json!({"type": "linear", "tickmode": "array", "tickvals": at, "ticktext": labels,
            "zeroline": false});
        RowAxis { at, axis }
    }
}

fn trace(chart: &ChartDrawn, at: &[Value], series: &Series) -> Value {
    let amounts = column(&chart.data, &series.y_field);
    let name = escaped(&series.name);
    let mut trace = match chart.chart_type {
        ChartType::Bar | ChartType::StackedBar => {
            json!({"type": "bar", "orientation": "h", "name": name, "x": amounts, "y": at})
        }
        ChartType::Area => json!({"type": "scatter", "mode": "lines", "stackgroup": "one",
            "name": name, "x": at, "y": amounts}),
        ChartType::Column
        | ChartType::StackedColumn
        | ChartType::PercentStackedColumn
        | ChartType::Histogram
        | ChartType::Box
        | ChartType::Heatmap => {
            json!({"type": "bar", "name": name, "x": at, "y": amounts})
        }
        ChartType::Line => {
            json!({"type": "scatter", "mode": "lines+markers", "name": name, "x": at, "y": amounts})
        }
        ChartType::Scatter => {
            json!({"type": "scatter", "mode": "markers", "name": name, "x": at, "y": amounts})
        }
    };
    plotly::emphasise(&mut trace, chart, series);
    trace
}

fn layout(chart: &ChartDrawn, axis: Value) -> Value {
    let only = (chart.series.len() == 1).then(|| &chart.series[0].name);
    let mut level = axis;
    let mut amount = json!({"type": "linear"});
    let level_title = escaped(chart.x_label.as_ref().unwrap_or(&chart.x_field));
    let amount_title = chart.y_label.as_ref().or(only).map(|it| escaped(it));
    let mut layout = Map::new();
    if let Some(title) = &chart.title {
        layout.insert("title".into(), json!({"text": escaped(title)}));
    }
    let note = chart.note.as_deref();
    let scales = plotly::scales(chart);
    if let Some(log) = scales.0 {
        level["type"] = log;
    }
    if let Some(log) = scales.1 {
        amount["type"] = log;
    }
    let is_lying = plotly::is_lying(chart.chart_type);
    if chart.chart_type == ChartType::PercentStackedColumn {
        amount["tickformat"] = json!(",.0%");
    }
    if is_lying {
        // The first row is at the top, as in a table.
        level["autorange"] = json!("reversed");
        if chart.chart_type != ChartType::Box {
            amount["rangemode"] = json!("tozero");
        }
        layout.insert("xaxis".into(), titled(amount, with_note(amount_title, note)));
        layout.insert("yaxis".into(), titled(level, Some(level_title)));
    } else {
        layout.insert("xaxis".into(), titled(level, with_note(Some(level_title), note)));
        layout.insert("yaxis".into(), titled(amount, amount_title));
    }
    match chart.chart_type {
        ChartType::Bar | ChartType::Column => {
            layout.insert("barmode".into(), json!("group"));
        }
        it if it.is_stacked() => {
            // Parts below zero stack downwards.
            layout.insert("barmode".into(), json!("relative"));
        }
        ChartType::Histogram => {
            layout.insert("bargap".into(), json!(0.02));
        }
        ChartType::Heatmap => {
            layout["yaxis"] =
                json!({"type": "category", "autorange": "reversed", "automargin": true});
        }
        _ => {}
    }
    let references = plotly::references(chart);
    let mut texts = references.1;
    texts.extend(plotly::texts(chart));
    if !references.0.is_empty() {
        layout.insert("shapes".into(), references.0.into());
    }
    if !texts.is_empty() {
        layout.insert("annotations".into(), texts.into());
    }
    if let Some(axis) = plotly::second_axis(chart) {
        layout.insert("yaxis2".into(), axis);
    }
    let has_legend = 1 < chart.series.len() && chart.chart_type != ChartType::Heatmap;
    layout.insert("showlegend".into(), json!(has_legend));
    Value::Object(layout)
}

fn titled(mut axis: Value, title: Option<String>) -> Value {
    axis["title"]["text"] = title.into();
    axis["automargin"] = json!(true);
    axis
}

/// Puts a note under the title of the lower axis, the only place below a chart that labels never reach.
fn with_note(title: Option<String>, note: Option<&str>) -> Option<String> {
    let Some(note) = note else { return title };
    let mut lines = vec![String::new()];
    for word in note.split_whitespace() {
        let line = lines.last_mut().expect("there is a line from the beginning on");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + word.chars().count() < NOTE_CHARS {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    let lines: Vec<String> = lines.iter().map(|it| escaped(it)).collect();
    let note = format!("<span style=\"font-size:11px\">{}</span>", lines.join("<br>"));
    Some(title.map_or(note.clone(), |it| format!("{it}<br>{note}")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::blocks;
    use csv_agent_types::chart::{ChartType, Series};
    use csv_agent_types::chart_options::{ChartOptions, ReferenceMark};
    use csv_agent_types::event::{ChartDrawn, Encoding};

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
            options: None,
            vega_lite: None,
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
                        "xaxis": {"type": "category", "title": {"text": "product"}, "automargin": true},
                        "yaxis": {"type": "linear", "title": {"text": "EUR"}, "automargin": true},
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

    /// Draws rows of `x` and compares where they stand and what kind of axis that is.
    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "`json!({…})` reads better without a `&`")]
    fn check(chart_type: ChartType, x: Value, at: Value, axis: Value) {
        let rows = x.as_array().unwrap().iter();
        let data = rows.map(|it| json!({"product": it, "q2": 1, "q3": 2})).collect();
        let spec = blocks("", &[ChartDrawn { data, ..chart(chart_type) }])[1]["chart"].clone();
        assert_eq!(spec["data"][0]["x"], at);
        let found = &spec["layout"]["xaxis"];
        for (member, value) in axis.as_object().unwrap() {
            assert_eq!(&found[member], value, "{found}");
        }
    }

    #[test]
    fn what_kind_of_axis_it_is_is_not_left_to_plotly() {
        let [category, linear, date] = ["category", "linear", "date"].map(|it| json!({"type": it}));
        let codes = json!(["007", "1e5"]);
        check(ChartType::Column, codes.clone(), codes, category.clone());
        check(ChartType::Column, json!([101, 999]), json!([101, 999]), category.clone());
        check(ChartType::Line, json!([101, null]), json!([101, null]), linear);
        let days = json!(["2026-01-01", "2026-02-01"]);
        check(ChartType::Column, days.clone(), days, date.clone());
        let gap = json!(["2026-01-01", null]);
        check(ChartType::Line, gap.clone(), gap, date);
        check(ChartType::Column, json!(["a", null]), json!(["a", "(none)"]), category);
        let twice = json!({"type": "linear", "tickmode": "array", "tickvals": [0, 1, 2],
            "ticktext": ["a", "a", "b"]});
        check(ChartType::Column, json!(["a", "a", "b"]), json!([0, 1, 2]), twice);
    }

    #[test]
    fn text_of_others_is_no_markup() {
        let mut chart = chart(ChartType::Bar);
        chart.title = Some("<b>R&D</b>".into());
        chart.note = Some(format!("<a href='x'>y</a> {}", "word ".repeat(30)));
        chart.series[0].name = "<i>".into();
        chart.data = json!([{"product": "A <br> & B", "q2": 1, "q3": 2}]);
        let found = blocks("", &[chart])[1]["chart"].clone();
        assert_eq!(found["data"][0]["name"], "&lt;i&gt;");
        assert_eq!(found["data"][0]["y"], json!(["A &lt;br&gt; &amp; B"]));
        assert_eq!(found["layout"]["title"]["text"], "&lt;b&gt;R&amp;D&lt;/b&gt;");
        let lower = found["layout"]["xaxis"]["title"]["text"].as_str().unwrap();
        let head = "EUR<br><span style=\"font-size:11px\">&lt;a href='x'&gt;y&lt;/a&gt; word";
        assert!(lower.starts_with(head), "{lower}");
        assert_eq!(lower.matches("<br>").count(), 2, "{lower}");
    }

    #[test]
    fn types_that_count_or_shade_have_traces_of_their_own() {
        let of = |chart_type, data: &Value| {
            blocks("", &[ChartDrawn { data: data.clone(), ..chart(chart_type) }])[1]["chart"]
                .clone()
        };
        let data = json!([{"product": "Anvil", "q2": 1, "q3": 3}]);
        let shares = of(ChartType::PercentStackedColumn, &data);
        assert_eq!(
            (&shares["data"][0]["y"], &shares["data"][1]["y"]),
            (&json!([0.25]), &json!([0.75]))
        );
        assert_eq!(shares["layout"]["yaxis"]["tickformat"], ",.0%");
        let heat = of(ChartType::Heatmap, &data);
        assert_eq!(heat["data"][0]["z"], json!([[1.0], [3.0]]));
        assert_eq!(heat["data"][0]["y"], json!(["Q2", "Q3"]));
        let area = of(ChartType::Area, &data);
        assert_eq!(area["data"][1]["stackgroup"], "one");
        let bins = json!([{"from": 0, "to": 5, "rows": 2}, {"from": 5, "to": 10, "rows": 1}]);
        let mut histogram = ChartDrawn { data: bins, ..chart(ChartType::Histogram) };
        histogram.series.clear();
        let found = blocks("", &[histogram])[1]["chart"]["data"][0].clone();
        assert_eq!(
            (&found["x"], &found["width"], &found["y"]),
            (&json!([2.5, 7.5]), &json!([5.0, 5.0]), &json!([2, 1]))
        );
    }

    #[test]
    fn long_data_has_a_trace_for_each_colour_and_references_are_shapes() {
        let mut long = chart(ChartType::Column);
        long.series.truncate(1);
        long.data = json!([{"product": "Anvil", "q2": 1, "by": "<x>"}, {"product": "Anvil", "q2": 2, "by": "y"}]);
        let reference = ReferenceMark { value: 1.5, to: None, label: Some("a & b".into()) };
        long.options = Some(Box::new(ChartOptions {
            color_by: Some("by".into()),
            references: Some(vec![reference]),
            ..ChartOptions::default()
        }));
        let found = blocks("", &[long])[1]["chart"].clone();
        assert_eq!(found["data"][0]["name"], "&lt;x&gt;");
        assert_eq!(found["data"][1]["y"], json!([2.0]));
        assert_eq!(found["layout"]["shapes"][0]["y0"], 1.5);
        assert_eq!(found["layout"]["annotations"][0]["text"], "a &amp; b");
    }

    #[test]
    fn panels_have_axes_of_their_own_with_the_same_scale() {
        let mut chart = chart(ChartType::Column);
        chart.series.truncate(1);
        chart.data = json!([{"product": "Anvil", "q2": 1, "shop": "<a>"}, {"product": "Anvil", "q2": 2, "shop": "b"}]);
        let options = ChartOptions { facet_by: Some("shop".into()), ..ChartOptions::default() };
        chart.options = Some(Box::new(options));
        let found = blocks("", &[chart])[1]["chart"].clone();
        let second = &found["data"][1];
        assert_eq!((&second["xaxis"], &second["yaxis"]), (&json!("x2"), &json!("y2")));
        assert_eq!(second["y"], json!([2.0]));
        assert_eq!(found["layout"]["yaxis2"]["matches"], "y");
        assert_eq!(found["layout"]["grid"]["columns"], 2);
        assert_eq!(found["layout"]["annotations"][0]["text"], "<b>&lt;a&gt;</b>");
    }

    #[test]
    fn error_bars_highlights_texts_and_a_line_over_columns_are_shown() {
        let with = |chart_type, options: Value| {
            let mut chart = chart(chart_type);
            chart.data = json!([{"product": "Anvil", "q2": 5, "q3": 9, "low": 4}, {"product": "Saw", "q2": 6, "q3": 8, "low": 5}]);
            chart.options = Some(Box::new(serde_json::from_value(options.clone()).unwrap()));
            if options["error_bars"].is_object() {
                chart.series.truncate(1);
            }
            blocks("", &[chart])[1]["chart"].clone()
        };
        let ends = json!({"error_bars": {"low_field": "low", "high_field": "q3"}});
        let bars = with(ChartType::Bar, ends)["data"][0]["error_x"].clone();
        assert_eq!((&bars["array"], &bars["arrayminus"]), (&json!([4.0, 2.0]), &json!([1.0, 1.0])));
        let strong = with(ChartType::Line, json!({"highlight": "Q3"}));
        assert_ne!(strong["data"][0]["marker"]["color"], strong["data"][1]["marker"]["color"]);
        let note = json!([{"x": "Saw", "y": null, "text": "a < b"}]);
        let texts = with(ChartType::Column, json!({"annotations": note}))["layout"].clone();
        let text = &texts["annotations"][0];
        assert_eq!((&text["x"], &text["y"]), (&json!("Saw"), &json!(6.0)));
        assert_eq!(text["text"], "a &lt; b");
        let line = json!({"line_series": {"name": "Q2", "y_label": "Rate"}});
        let line = with(ChartType::Column, line);
        assert_eq!(
            (&line["data"][1]["name"], &line["data"][1]["yaxis"]),
            (&json!("Q2"), &json!("y2"))
        );
        assert_eq!(line["layout"]["yaxis2"]["title"]["text"], "Rate");
    }
}
