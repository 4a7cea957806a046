//! Charts of every kind and size, judged by their geometry.
//!
//! `cargo test gallery -- --ignored` also draws them to files, for viewing.

use serde_json::{Value, json};

use csv_agent_types::chart::{Chart, ChartSpec, ChartType, Series};
use csv_agent_types::frame::Frame;

use super::sheet::count;
use super::{ChartStyle, alt, draw, gallery_types, invariants, plot::Plot, scene};

pub(crate) fn chart(
    chart_type: ChartType,
    title: &str,
    x_dtype: &str,
    x: &[Value],
    series: &[(&str, Vec<Value>)],
) -> Chart {
    let mut columns = vec!["x".to_owned()];
    columns.extend((0..series.len()).map(|it| format!("y{it}")));
    let mut dtypes = vec![x_dtype.to_owned()];
    dtypes.extend(vec!["float64".to_owned(); series.len()]);
    let row = |at: usize| {
        let mut row = vec![x[at].clone()];
        row.extend(series.iter().map(|it| it.1[at].clone()));
        row
    };
    let mut frame =
        Frame { columns, dtypes, rows: (0..x.len()).map(row).collect(), row_count: x.len() as u64 };
    let mut spec = ChartSpec {
        df_name: "df".into(),
        logical_name: "gallery".into(),
        chart_type,
        x_field: "x".into(),
        x_label: Some("What stands on the x axis".into()),
        y_label: Some("Revenue in EUR".into()),
        series: series
            .iter()
            .enumerate()
            .map(|(at, it)| Series { name: it.0.into(), y_field: format!("y{at}") })
            .collect(),
        title: Some(title.into()),
        note: Some(
            "Source: sales.csv, 10 rows. Values of the last quarter are preliminary.".into(),
        ),
        options: None,
    };
    match chart_type {
        ChartType::Histogram => (spec.x_field, spec.series) = ("y0".into(), Vec::new()),
        ChartType::Box => spec.series.truncate(1),
        ChartType::PercentStackedColumn | ChartType::Area => {
            for cell in frame.rows.iter_mut().flat_map(|row| &mut row[1..]) {
                if let Some(value) = cell.as_f64() {
                    *cell = json!(value.abs());
                }
            }
        }
        _ => {}
    }
    spec.check(frame).unwrap()
}

/// Returns deterministic numbers that look like data.
pub(crate) fn wave(n: usize, size: f64, phase: usize) -> Vec<Value> {
    let value = |it: usize| {
        let noise = count((it * 7_919 + phase * 104_729) % 1_000) / 1_000.0;
        let trend = count(it) / 17.0 + count(phase);
        json!(((noise * 0.5 + 0.5 + trend).rem_euclid(3.0) * size).round())
    };
    (0..n).map(value).collect()
}

pub(crate) fn names(n: usize) -> Vec<Value> {
    let words = ["Anvil", "Rocket skates", "Giant rubber band", "Bird seed", "Dehydrated boulders"];
    (0..n).map(|it| json!(format!("{} {}", words[it % 5], it / 5 + 1))).collect()
}

fn days(n: usize, step: usize) -> Vec<Value> {
    let start: jiff::civil::Date = "2023-01-01".parse().unwrap();
    let days = (0..).step_by(step).map(|it| start + jiff::ToSpan::days(it));
    days.take(n).map(|it| json!(it.to_string())).collect()
}

fn months(n: usize) -> Vec<Value> {
    (0..n).map(|it| json!(format!("{}-{:02}-01", 2022 + it / 12, it % 12 + 1))).collect()
}

pub(crate) fn many(n_series: usize, n_rows: usize, size: f64) -> Vec<(&'static str, Vec<Value>)> {
    let names = [
        "North",
        "South",
        "East",
        "West",
        "Center",
        "Overseas and other territories",
        "Online",
        "Выручка",
        "Πωλήσεις",
        "Rest",
    ];
    (0..n_series).map(|it| (names[it], wave(n_rows, size, it))).collect()
}

/// Returns charts whose x is unsorted, irregular, has gaps or is partly missing.
fn axes() -> Vec<(String, Chart)> {
    let mut all = Vec::new();
    let mut unsorted = days(30, 3);
    unsorted.reverse();
    unsorted.swap(3, 20);
    let mut unknown = days(12, 1);
    unknown[4] = Value::Null;
    let gaps = months(24).into_iter().enumerate().filter(|it| it.0 % 7 != 3);
    let cases = [
        ("unsorted", unsorted),
        ("unknown", unknown),
        ("gaps", gaps.map(|it| it.1).collect()),
        ("irregular", ["2024-01-05", "2024-01-09", "2024-02-11"].map(|it| json!(it)).to_vec()),
        ("month-ends", ["2023-01-31", "2023-02-28", "2023-03-31"].map(|it| json!(it)).to_vec()),
        ("mid-years", (1984..2024).map(|it| json!(format!("{it}-07-01"))).collect()),
        ("seconds", (0..60).map(|it| json!(format!("2024-03-09T10:00:{it:02}"))).collect()),
        ("weeks", (0..52).map(|it| json!(format!("2024-W{:02}", it + 1))).collect()),
        ("same", vec![json!("2024-03-09"); 5]),
        ("ages", [21, 22, 24, 25, 26, 31].map(|it| json!(it)).to_vec()),
        ("tiny", [1e-12, 3e-12, 4.5e-9].map(|it| json!(it)).to_vec()),
    ];
    for (name, x) in cases {
        let dtype = if x[0].is_number() { "float64" } else { "object" };
        for &kind in ChartType::ALL {
            let made = chart(kind, name, dtype, &x, &many(2, x.len(), 900.0));
            all.push((format!("{}-x-{name}", kind.name()), made));
        }
    }
    all
}

/// Returns every chart with the name of its file.
pub(crate) fn gallery() -> Vec<(String, Chart)> {
    use ChartType::{Bar, Column, Line, Scatter, StackedColumn};
    let mut all = Vec::new();
    for &kind in ChartType::ALL {
        for (n_rows, n_series) in [(1, 1), (5, 1), (12, 3), (30, 1), (200, 1), (200, 10), (8, 10)] {
            let title = format!("{} of {n_rows} rows and {n_series} series", kind.name());
            let series = many(n_series, n_rows, 40_000.0);
            let made = chart(kind, &title, "object", &names(n_rows), &series);
            all.push((format!("{}-text-{n_rows}x{n_series}", kind.name()), made));
        }
    }
    for kind in [Column, StackedColumn, Line, Scatter] {
        for (n, step) in [(7, 1), (40, 9), (200, 1)] {
            let series = many(2, n, 120.0);
            let made = chart(kind, "By day", "object", &days(n, step), &series);
            all.push((format!("{}-days-{n}x{step}", kind.name()), made));
        }
        let made = chart(kind, "By month", "object", &months(24), &many(1, 24, 3.2e6));
        all.push((format!("{}-months", kind.name()), made));
        let years: Vec<_> = (1990..2022).map(|it| json!(it)).collect();
        let made = chart(kind, "By year", "int64", &years, &many(2, 32, 0.04));
        all.push((format!("{}-years", kind.name()), made));
    }
    let values = |it: &[f64]| it.iter().map(|it| json!(it)).collect::<Vec<_>>();
    let mixed = values(&[120.0, -80.0, 45.5, -200.25, 0.0, 310.0]);
    for &kind in ChartType::ALL {
        let series = [("Change", mixed.clone()), ("Other", wave(6, -90.0, 2))];
        let made = chart(kind, "Negative values", "object", &names(6), &series[..1]);
        all.push((format!("{}-negative", kind.name()), made));
        let made = chart(kind, "Negative values, two series", "object", &names(6), &series);
        all.push((format!("{}-negative2", kind.name()), made));
        let nulls = vec![json!(3), Value::Null, json!(4), json!(5), Value::Null, json!(2)];
        let made = chart(kind, "Missing values", "object", &days(6, 30), &[("n", nulls)]);
        all.push((format!("{}-nulls", kind.name()), made));
        let made = chart(kind, "Nothing", "object", &names(3), &[("n", vec![Value::Null; 3])]);
        all.push((format!("{}-empty", kind.name()), made));
    }
    let hostile = vec![
        json!("\u{1b}[2J<script>&\"'"),
        json!("x".repeat(500)),
        json!("東京 タワー 🙂"),
        Value::Null,
        json!("שלום עולם"),
    ];
    let long = "A very long title that goes on about everything the chart shows ".repeat(6);
    for &kind in ChartType::ALL {
        let n = values(&[1e15, 2.5e14, 7e14, 1.0, 9.9e14]);
        let made = chart(
            kind,
            &long,
            "object",
            &hostile,
            &[("<b>&", n.clone()), ("y".repeat(400).leak(), n)],
        );
        all.push((format!("{}-hostile", kind.name()), made));
    }
    let tiny = values(&[1e-12, 3e-12, 2e-12]);
    all.push(("column-tiny".into(), chart(Column, "Tiny", "object", &names(3), &[("n", tiny)])));
    let equal = values(&[5.0, 5.0, 5.0]);
    all.push(("line-equal".into(), chart(Line, "Equal", "object", &names(3), &[("n", equal)])));
    let hours: Vec<_> = (0..48)
        .map(|it| json!(format!("2024-03-{:02}T{:02}:30:00", 9 + it / 24, it % 24)))
        .collect();
    all.push((
        "line-hours".into(),
        chart(Line, "By hour", "datetime64[ns]", &hours, &many(1, 48, 10.0)),
    ));
    all.extend(axes());
    let decades: Vec<_> = (0..40).map(|it| json!(format!("{}-07-01", 1984 + it))).collect();
    all.push((
        "line-decades".into(),
        chart(Line, "Forty years", "object", &decades, &many(3, 40, 1e10)),
    ));
    let heights: Vec<_> =
        (0..150).map(|it| json!(150.0 + f64::from(it * 37 % 400) / 10.0)).collect();
    let weights: Vec<_> = (0..150)
        .map(|it| json!(45.0 + f64::from(it * 37 % 400) / 9.0 + f64::from(it * 13 % 17)))
        .collect();
    all.push((
        "scatter-numbers".into(),
        chart(Scatter, "Height and weight", "float64", &heights, &[("kg", weights)]),
    ));
    let short: Vec<_> = (0..40).map(|it| json!(format!("S{it:02}"))).collect();
    all.push((
        "column-turned".into(),
        chart(
            Column,
            "Turned",
            "object",
            &(0..28).map(|it| json!(format!("Store {it:02}"))).collect::<Vec<_>>(),
            &many(1, 28, 900.0),
        ),
    ));
    all.push(("bar-codes".into(), chart(Bar, "Codes", "object", &short, &many(2, 40, 900.0))));
    all.extend(gallery_types::all());
    all
}

#[test]
fn every_chart_of_the_gallery_keeps_the_laws() {
    for (name, chart) in gallery() {
        invariants::check(&scene(&Plot::of(&chart))).unwrap_or_else(|it| panic!("{name}: {it}"));
    }
}

#[test]
fn the_same_chart_gives_the_same_bytes() {
    for (name, chart) in gallery().into_iter().filter(|it| it.0.ends_with("e-hostile")) {
        let drawing = draw(&chart, ChartStyle::default()).unwrap();
        assert_eq!(draw(&chart, ChartStyle::default()).unwrap(), drawing, "{name}");
        assert!(drawing.png.starts_with(b"\x89PNG"));
        let svg = &drawing.svg;
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
        assert!(svg.contains("<title id=\"") && svg.contains("<desc id=\""));
        assert!(!svg.contains('\u{1b}') && !svg.contains("<script") && !svg.contains("<b>"));
    }
}

#[test]
fn the_sentence_gives_the_extremes() {
    let one = chart(
        ChartType::Line,
        "Revenue",
        "object",
        &months(3),
        &[("EUR", vec![json!(98_210), json!(120_400), Value::Null])],
    );
    assert_eq!(
        alt(&one),
        "Line chart “Revenue”: EUR by What stands on the x axis, 3 rows, from 98,210 (Jan 2022) to 120,400 (Feb 2022)."
    );
    let two = chart(
        ChartType::Bar,
        "",
        "object",
        &names(1),
        &[("Q2", vec![json!(1)]), ("Q3", vec![json!(1)])],
    );
    assert_eq!(
        alt(&two),
        "Bar chart: Q2 and Q3 by What stands on the x axis, 1 row, always 1 (Q2, Anvil 1)."
    );
}

#[test]
#[ignore = "writes files to look at"]
fn gallery_is_drawn() {
    let directory = std::env::temp_dir().join("csv-agent-gallery-paint");
    std::fs::create_dir_all(&directory).unwrap();
    for (name, chart) in gallery() {
        let drawing = draw(&chart, ChartStyle::default()).unwrap();
        std::fs::write(directory.join(format!("{name}.png")), drawing.png).unwrap();
        std::fs::write(directory.join(format!("{name}.svg")), drawing.svg).unwrap();
        let spec = super::vega_lite(&chart).to_string();
        std::fs::write(directory.join(format!("{name}.vl.json")), spec).unwrap();
        let plot = Plot::of(&chart);
        let depth = super::text_chart::Depth::Monochrome;
        let mut text = super::text_chart::draw(&plot, 100, 20, depth);
        text += &super::text_summary::text(&chart, &plot, 100);
        std::fs::write(directory.join(format!("{name}.txt")), text).unwrap();
    }
}
