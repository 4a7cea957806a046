//! Charts of the gallery whose types and options need data of their own.

use serde_json::{Value, json};

use csv_agent_types::chart::{Chart, ChartSpec, ChartType};
use csv_agent_types::chart_options::{ChartOptions, ChartOrder, LogAxis, ReferenceMark};

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
    all
}

/// Returns the chart with these options.
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
