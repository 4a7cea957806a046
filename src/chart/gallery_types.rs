//! Charts of the gallery whose types and options need data of their own.

use serde_json::{Value, json};

use csv_agent_types::chart::{Chart, ChartSpec, ChartType};
use csv_agent_types::chart_options::{
    Annotation, ChartOptions, ChartOrder, ErrorBars, LineSeries, LogAxis, ReferenceMark,
};

use super::gallery::{chart, many, names, wave};
use super::sheet::count;

/// Returns every such chart with the name of its file.
pub(crate) fn all() -> Vec<(String, Chart)> {
    let mut all = distributions();
    let values = [("Delay", skewed(200, 1.0))];
    let delays = chart(ChartType::Histogram, "Delays", "object", &names(200), &values);
    let references = [(9.0, None, "Mean"), (20.0, Some(30.0), "Late"), (30.5, None, "Very late")];
    let references =
        references.map(|(value, to, label)| ReferenceMark { value, to, label: Some(label.into()) });
    let options = ChartOptions { references: Some(references.to_vec()), ..ChartOptions::default() };
    all.push(("histogram-means".into(), with_options(&delays, options)));
    all.extend(grids());
    all.extend(optional());
    all.extend(faceted());
    all.extend(emphasised());
    all.extend(scripts());
    all
}

/// Returns charts whose labels are in many scripts.
fn scripts() -> Vec<(String, Chart)> {
    let labels = [
        "बिक्री क्षेत्र (दिल्ली)",
        "ยอดขายที่กรุงเทพฯ",
        "বিক্রয় ২০২৪",
        "விற்பனை தமிழ்",
        "مبيعات الربع الثالث 2024",
        "שלום עולם (12)",
        "東京都の売上高",
        "서울특별시 매출",
        "ગુજરાતી",
        "🚀 Rocket 👍🏽",
    ];
    let labels = labels.map(|it| json!(it));
    let kinds = [ChartType::Bar, ChartType::Column, ChartType::Heatmap];
    let charts = kinds.map(|kind| {
        let made = chart(
            kind,
            "क्षेत्र के अनुसार बिक्री – ยอดขายตามภูมิภาค",
            "object",
            &labels,
            &many(2, 10, 900.0),
        );
        (format!("{}-scripts", kind.name()), made)
    });
    charts.into()
}

pub(crate) fn with_options(chart: &Chart, options: ChartOptions) -> Chart {
    let spec = ChartSpec { options: Some(Box::new(options)), ..chart.spec().clone() };
    spec.check(chart.frame().clone()).unwrap()
}

/// Returns deterministic values of a skewed distribution.
fn skewed(n: usize, step: f64) -> Vec<Value> {
    let value = |it: usize| {
        let part = |salt: usize| count((it * 7_919 + salt * 104_729) % 1_009) / 1_009.0;
        let value = part(1) * part(2) * part(3) * 100.0;
        json!((value / step).round() * step)
    };
    (0..n).map(value).collect()
}

/// Returns histograms and box plots of values that are few, equal, whole, far or partly missing.
fn distributions() -> Vec<(String, Chart)> {
    let mut far = skewed(300, 0.1);
    far.extend([json!(2_500.0), json!(-900.0), Value::Null]);
    let cases = [
        ("skewed", skewed(900, 0.01)),
        ("whole", skewed(400, 1.0)),
        ("scores", (0..60).map(|it| json!(it * 7 % 5 + 1)).collect()),
        ("far", far),
        ("equal", vec![json!(5.5); 40]),
        ("few", vec![json!(1.5), json!(3.25), json!(9.0)]),
        ("huge", vec![json!(-1e300), json!(1e300), json!(1e-300), json!(0.0), json!(7.0)]),
        ("many", skewed(20_000, 0.001)),
    ];
    let mut all = Vec::new();
    for (name, values) in cases {
        let teams = ["Anvil", "Rocket skates", "Giant rubber band", "東京 タワー", "שלום"];
        let x: Vec<_> = (0..values.len()).map(|it| json!(teams[it * it % 5])).collect();
        for kind in [ChartType::Histogram, ChartType::Box] {
            let made = chart(kind, name, "object", &x, &[("Delay in minutes", values.clone())]);
            all.push((format!("{}-of-{name}", kind.name()), made));
        }
    }
    let many: Vec<_> = (0..600).map(|it| json!(format!("Carrier {}", it * 31 % 40))).collect();
    let made = chart(ChartType::Box, "Forty carriers", "object", &many, &[("n", skewed(600, 0.1))]);
    all.push(("box-forty".into(), made));
    all
}

/// Returns a chart of long data: a row for each pair.
fn long(kind: ChartType, x: &[&str], colours: &[&str], size: f64) -> Chart {
    let rows = x.iter().flat_map(|x| colours.iter().map(move |it| (*x, *it)));
    let values = wave(x.len() * colours.len(), size, 3);
    let rows: Vec<_> = rows.zip(values).filter(|it| it.0.0 != it.0.1).collect();
    let x: Vec<_> = rows.iter().map(|it| json!(it.0.0)).collect();
    let values: Vec<_> = rows.iter().map(|it| it.1.clone()).collect();
    let made = chart(kind, "Long data", "object", &x, &[("n", values)]);
    let (spec, mut frame) = (made.spec().clone(), made.frame().clone());
    frame.columns.push("colour".into());
    frame.dtypes.push("object".into());
    for (row, it) in frame.rows.iter_mut().zip(rows) {
        row.push(json!(it.0.1));
    }
    let options = ChartOptions { color_by: Some("colour".into()), ..ChartOptions::default() };
    ChartSpec { options: Some(Box::new(options)), ..spec }.check(frame).unwrap()
}

/// Returns heat maps and other charts of long data.
fn grids() -> Vec<(String, Chart)> {
    let days = ["Wed", "Mon", "Sun", "Tue", "Fri", "Thu", "Sat"];
    let hours: Vec<_> = (0..24).map(|it| format!("{it:02}:00")).collect();
    let hours: Vec<_> = hours.iter().map(String::as_str).collect();
    let months = ["Apr", "Jan", "Dec", "Mar", "Jul"];
    let long_names =
        ["Department of administrative affairs, northern region", "東京 タワー", "x", "שלום עולם"];
    let mut all = Vec::new();
    for &kind in ChartType::ALL {
        if !kind.is_distribution() {
            let name = format!("{}-long", kind.name());
            all.push((name, long(kind, &months, &days[..4], 9_000.0)));
        }
    }
    let heat = ChartType::Heatmap;
    all.push(("heatmap-week".into(), long(heat, &hours, &days, 90.0)));
    all.push(("heatmap-names".into(), long(heat, &long_names, &long_names, 0.01)));
    let series: Vec<_> = (0..40).map(|it| ("Row", wave(31, 10.0, it))).collect();
    all.push(("heatmap-large".into(), chart(heat, "Large", "object", &names(31), &series)));
    let below = |it: Value| json!(it.as_f64().unwrap() - 12.0);
    let change = (0..6).map(|it| wave(12, 8.0, it).into_iter().map(below).collect::<Vec<_>>());
    let change: Vec<_> = change.map(|it| ("Year", it)).collect();
    all.push(("heatmap-change".into(), chart(heat, "Change", "object", &names(12), &change)));
    let parts = [("Orders", wave(7, 400.0, 5))];
    let whole = ChartType::PercentStackedColumn;
    all.push(("percent-whole".into(), chart(whole, "Whole", "object", &names(7), &parts)));
    let parts = [("Orders", wave(30, 400.0, 5))];
    all.push(("percent-many".into(), chart(whole, "Whole", "object", &names(30), &parts)));
    all
}

/// Returns charts with options.
fn optional() -> Vec<(String, Chart)> {
    let mut all = Vec::new();
    let reference = |value: f64, to: Option<f64>, label: &str| ReferenceMark {
        value,
        to,
        label: Some(label.to_owned()).filter(|it| !it.is_empty()),
    };
    let references = Some(vec![
        reference(20_000.0, Some(40_000.0), "Usual range"),
        reference(61_000.0, None, "Target of the department of administrative affairs"),
        reference(62_000.0, None, "Last year"),
        reference(-5_000.0, None, ""),
    ]);
    for &kind in ChartType::ALL {
        if matches!(kind, ChartType::Heatmap | ChartType::Area) {
            continue;
        }
        let made = chart(kind, "References", "object", &names(9), &many(3, 9, 40_000.0));
        let options = ChartOptions {
            references: references.clone(),
            order: Some(ChartOrder::Value),
            unit: Some("EUR".into()),
            ..ChartOptions::default()
        };
        all.push((format!("{}-references", kind.name()), with_options(&made, options)));
    }
    let size = |it: i32| json!(2.0_f64.powi(it % 30) * (1.0 + f64::from(it) / 200.0));
    let x: Vec<_> = (0..200).map(size).collect();
    let mut y: Vec<_> = x.iter().rev().cloned().collect();
    y[7] = json!(-4);
    for (name, axis) in [("x", LogAxis::X), ("y", LogAxis::Y), ("both", LogAxis::Both)] {
        for kind in [ChartType::Line, ChartType::Scatter] {
            let made = chart(kind, "Factors", "float64", &x, &[("n", y.clone())]);
            let options = ChartOptions { log_axis: Some(axis), ..ChartOptions::default() };
            all.push((format!("{}-log-{name}", kind.name()), with_options(&made, options)));
        }
    }
    let x: Vec<_> = (0..5_000).map(|it| json!(it)).collect();
    for kind in [ChartType::Line, ChartType::Scatter, ChartType::Area] {
        let made = chart(kind, "Five thousand", "int64", &x, &many(1, 5_000, 90.0));
        let options = ChartOptions {
            trend_line: (kind == ChartType::Scatter).then_some(true),
            ..ChartOptions::default()
        };
        all.push((format!("{}-5000", kind.name()), with_options(&made, options)));
    }
    all
}

/// Returns the chart with another column of text or numbers.
pub(crate) fn with_column(chart: &Chart, name: &str, cells: &[Value]) -> Chart {
    let (spec, mut frame) = (chart.spec().clone(), chart.frame().clone());
    frame.columns.push(name.to_owned());
    frame.dtypes.push(if cells[0].is_number() { "float64" } else { "object" }.to_owned());
    for (row, cell) in frame.rows.iter_mut().zip(cells) {
        row.push(cell.clone());
    }
    spec.check(frame).unwrap()
}

/// Returns a chart with a panel for each of `panels`.
pub(crate) fn panelled(kind: ChartType, x: &[Value], n_series: usize, panels: &[&str]) -> Chart {
    let rows: Vec<_> =
        panels.iter().flat_map(|panel| x.iter().map(move |x| (x.clone(), json!(panel)))).collect();
    let x: Vec<_> = rows.iter().map(|it| it.0.clone()).collect();
    let dtype = if x[0].is_number() { "float64" } else { "object" };
    let made = chart(kind, "Panels", dtype, &x, &many(n_series, x.len(), 9_000.0));
    let names: Vec<_> = rows.into_iter().map(|it| it.1).collect();
    let made = with_column(&made, "panel", &names);
    let options = ChartOptions { facet_by: Some("panel".into()), ..ChartOptions::default() };
    with_options(&made, options)
}

/// Returns charts with panels.
fn faceted() -> Vec<(String, Chart)> {
    let regions =
        ["North", "South", "East", "West", "Department of administrative affairs, northern region"];
    let many_names: Vec<_> = (1..=20).map(|it| format!("Store {it}")).collect();
    let many_names: Vec<_> = many_names.iter().map(String::as_str).collect();
    let months: Vec<_> = (1..=12).map(|it| json!(format!("2024-{it:02}-01"))).collect();
    let numbers: Vec<_> = (0..20).map(|it| json!(f64::from(it * 37 % 101) / 3.0)).collect();
    let mut all = Vec::new();
    for &kind in ChartType::ALL {
        if kind.is_distribution() || kind == ChartType::Heatmap {
            continue;
        }
        let n_series = if kind.is_stacked() { 3 } else { 1 };
        let mut add =
            |name: &str, chart| all.push((format!("{}-panels-{name}", kind.name()), chart));
        add("months", panelled(kind, &months, n_series, &regions));
        add("two", panelled(kind, &months, 3, &regions[..2]));
        add("one", panelled(kind, &names(6), 2, &regions[4..]));
        add("names", panelled(kind, &names(9), n_series, &regions[..4]));
        add("many", panelled(kind, &names(4), n_series, &many_names));
        add("numbers", panelled(kind, &numbers, n_series, &many_names[..7]));
        if kind == ChartType::Bar {
            let x = ["a", "a", "a"].map(|it| json!(it));
            let values = vec![json!(4.77e128), json!(-1.22e257), json!(55)];
            let made = chart(kind, "Far apart", "object", &x, &[("n", values)]);
            let panels = ["North", "South", "West"].map(|it| json!(it));
            let options =
                ChartOptions { facet_by: Some("panel".into()), ..ChartOptions::default() };
            add("far", with_options(&with_column(&made, "panel", &panels), options));
        }
        if matches!(kind, ChartType::Line | ChartType::Column) {
            let series = [("Revenue in EUR", wave(12, 90_000.0, 1)), ("Orders", wave(12, 70.0, 2))];
            add("scales", chart(kind, "Two scales", "object", &months, &series));
        }
        if kind != ChartType::Area {
            let made = panelled(kind, &months, n_series, &regions);
            let reference = |value, to| ReferenceMark { value, to, label: Some("Target".into()) };
            let options = ChartOptions {
                references: Some(vec![reference(7_000.0, None), reference(2_000.0, Some(3_000.0))]),
                ..made.spec().options.as_deref().unwrap().clone()
            };
            add("references", with_options(&made, options));
        }
    }
    all
}

/// Returns charts with error bars, highlights, texts, sizes, and lines over columns.
fn emphasised() -> Vec<(String, Chart)> {
    let mut all = Vec::new();
    let months: Vec<_> = (1..=12).map(|it| json!(format!("2024-{it:02}-01"))).collect();
    let plain = ChartOptions::default();
    let note = |x: &str, text: &str| Annotation { x: x.into(), y: None, text: text.into() };
    for kind in [ChartType::Bar, ChartType::Column, ChartType::Line, ChartType::Scatter] {
        let values = wave(12, 900.0, 4);
        let end = |by: f64| {
            let end = |it: &Value| json!(it.as_f64().unwrap_or(0.0) + by);
            values.iter().map(end).collect::<Vec<_>>()
        };
        let made = chart(kind, "Means", "object", &months, &[("Mean", values.clone())]);
        let made = with_column(&with_column(&made, "low", &end(-180.0)), "high", &end(230.0));
        let bars = ErrorBars { low_field: "low".into(), high_field: "high".into() };
        let options = ChartOptions { error_bars: Some(bars), ..plain.clone() };
        all.push((format!("{}-errors", kind.name()), with_options(&made, options)));

        let made = chart(kind, "Highlight", "object", &months, &many(5, 12, 900.0));
        let options = ChartOptions { highlight: Some("East".into()), ..plain.clone() };
        all.push((format!("{}-highlight", kind.name()), with_options(&made, options)));
        if kind != ChartType::Bar {
            let texts = [
                note("2024-03-01", "Strike at the port"),
                note(
                    "2024-09-15",
                    "New prices in all regions, except overseas and other territories",
                ),
                note("2031", "Never"),
            ];
            let made = chart(kind, "Texts", "object", &months, &many(2, 12, 900.0));
            let options = ChartOptions { annotations: Some(texts.to_vec()), ..plain.clone() };
            all.push((format!("{}-texts", kind.name()), with_options(&made, options)));
        }
    }
    for kind in [ChartType::Bar, ChartType::Column] {
        let made = chart(kind, "One of nine", "object", &names(9), &many(1, 9, 900.0));
        let options = ChartOptions { highlight: Some("Bird seed 1".into()), ..plain.clone() };
        all.push((format!("{}-highlight-row", kind.name()), with_options(&made, options)));
    }
    for (name, n_series, n_rows) in [("one", 1, 60), ("three", 3, 40), ("same", 1, 3)] {
        let x: Vec<_> = (0..n_rows).map(|it| json!(it * 37 % 101)).collect();
        let n = x.len();
        let made = chart(ChartType::Scatter, "Sizes", "float64", &x, &many(n_series, n, 90.0));
        let mut sizes = skewed(n, 0.1);
        sizes[1] = Value::Null;
        let made = with_column(&made, "population", &sizes);
        let options = ChartOptions { size_by: Some("population".into()), ..plain.clone() };
        all.push((format!("scatter-sizes-{name}"), with_options(&made, options)));
    }
    let below = |it: Value| json!(it.as_f64().unwrap() - 30.0);
    let margin: Vec<_> = wave(12, 40.0, 7).into_iter().map(below).collect();
    for (name, label, values) in [
        ("own", Some("Margin in %"), margin.clone()),
        ("same", None, wave(12, 30_000.0, 7)),
        (
            "below",
            Some("Change"),
            margin.iter().map(|it| json!(-it.as_f64().unwrap().abs())).collect(),
        ),
    ] {
        let mut series = many(2, 12, 40_000.0);
        series.insert(0, ("Line", values));
        let made = chart(ChartType::Column, "Line over columns", "object", &months, &series);
        let line = LineSeries { name: "Line".into(), y_label: label.map(String::from) };
        let options = ChartOptions { line_series: Some(line), ..plain.clone() };
        all.push((format!("column-line-{name}"), with_options(&made, options)));
    }
    all
}
