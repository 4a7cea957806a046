//! Geometric invariants of every chart, whatever it shows.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_oneof, proptest};
use serde_json::{Value, json};

use csv_agent_testing::slow_cases;
use csv_agent_types::chart::{Chart, ChartType};

use super::bars::WIDTH_MAX;
use super::scene::{Mark, Scene};
use super::sheet::HEIGHT_MAX;
use super::{alt, gallery, plot::Plot, scene};
use crate::geometry::{covers, is_data, label, touch};
use crate::theme::Colour;

/// Returns what is wrong with a scene: a label that leaves the picture, overlaps another or covers
/// data; a mark outside; an invalid size.
pub(crate) fn check(scene: &Scene) -> Result<(), String> {
    let is_size = |it: f64, max: f64| (100.0..=max + 1.0).contains(&it);
    if !is_size(scene.width, WIDTH_MAX) || !is_size(scene.height, HEIGHT_MAX) {
        return Err(format!("it is {} × {}", scene.width, scene.height));
    }
    let labels: Vec<_> = scene.marks.iter().filter_map(label).collect();
    for (at, (text, ink, bounds)) in labels.iter().enumerate() {
        let (left, top, right, bottom) = *bounds;
        if left < 0.0 || top < 0.0 || scene.width < right || scene.height < bottom {
            return Err(format!("`{text}` leaves the picture at {bounds:?}"));
        }
        if let Some(other) = labels[at + 1..].iter().find(|it| touch(*bounds, it.2)) {
            return Err(format!("`{text}` covers `{}`", other.0));
        }
        let is_read = |it: &&Mark| shade(it).is_some_and(|it| Some(*ink) == it.on_shade());
        let is_hidden = |it: &&Mark| is_data(it) && !is_read(it) && covers(it, *bounds);
        if let Some(mark) = scene.marks.iter().find(is_hidden) {
            return Err(format!("`{text}` at {bounds:?} lies on {mark:?}"));
        }
    }
    match scene.marks.iter().find(|it| !is_inside(it, scene)) {
        Some(mark) => Err(format!("outside is {mark:?}")),
        None => Ok(()),
    }
}

/// Returns the shade of a cell of a heat map, which has its value on it.
fn shade(mark: &Mark) -> Option<Colour> {
    match mark {
        Mark::Rect { colour, .. } => Some(*colour).filter(|it| it.on_shade().is_some()),
        _ => None,
    }
}

fn is_inside(mark: &Mark, scene: &Scene) -> bool {
    let inside = |x: f64, y: f64| {
        (-1.0..=scene.width + 1.0).contains(&x) && (-1.0..=scene.height + 1.0).contains(&y)
    };
    match mark {
        Mark::Rect { x, y, width, height, .. } => {
            0.0 <= *width && 0.0 <= *height && inside(*x, *y) && inside(x + width, y + height)
        }
        Mark::Line { points, .. } => 1 < points.len() && points.iter().all(|it| inside(it.0, it.1)),
        Mark::Area { corners, .. } => {
            2 < corners.len() && corners.iter().all(|it| inside(it.0, it.1))
        }
        Mark::Dot { x, y, .. } => inside(*x, *y),
        Mark::Text(_) => true,
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        4 => (-100..1_000).prop_map(|it| json!(it)),
        4 => (0.0..1.0_f64).prop_map(|it| json!(it)),
        2 => (-1e6..1e9_f64).prop_map(|it| json!(it)),
        1 => any::<f64>().prop_map(|it| json!(it)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Z][a-z]{1,9}( [a-z]{1,9}){0,4}",
        "[a-z_]{1,60}",
        "[А-я]{1,12}( [α-ω]{1,12}){0,3}",
        "[一-龥]{1,30}",
        "[א-ת]{1,12}( [0-9]{1,3})?",
        any::<String>(),
    ]
}

fn x(n_rows: usize) -> impl Strategy<Value = Vec<Value>> {
    let each = move |it: fn(i64, i64) -> Value| {
        (1..40_i64, 1..300_000_i64).prop_map(move |(start, step)| {
            (0..).map(|at| it(start * 100, at * step)).take(n_rows).collect::<Vec<_>>()
        })
    };
    let time = |start: i64, seconds: i64| {
        let date = jiff::civil::date(1990, 1, 1).at(0, 0, 0, 0);
        json!(
            (date
                + jiff::SignedDuration::from_hours(start)
                + jiff::SignedDuration::from_secs(seconds))
            .to_string()
        )
    };
    prop_oneof![
        4 => vec(text().prop_map(|it| json!(it)), n_rows),
        2 => vec(value(), n_rows),
        1 => each(|start, step| json!(start + step)),
        2 => each(time),
        1 => each(|start, step| {
            json!((jiff::civil::date(1990, 1, 1) + jiff::ToSpan::days(start + step / 10_000)).to_string())
        }),
    ]
}

/// `options` are those of [`optioned`].
fn any_chart(options: Range<usize>) -> impl Strategy<Value = Chart> {
    let n_rows = prop_oneof![4 => 1..12_usize, 2 => 12..60_usize, 1 => 60..201_usize];
    let size = (n_rows, prop_oneof![2 => Just(1_usize), 3 => 2..11_usize]);
    let data = size.prop_flat_map(|(n_rows, n_series)| {
        let series = vec((text(), vec(value(), n_rows)), n_series);
        (x(n_rows), series)
    });
    let kind = (0..ChartType::ALL.len()).prop_map(|it| ChartType::ALL[it]);
    let wanted = (options, text());
    (kind, text(), data, wanted).prop_map(|(kind, title, (x, series), (option, words))| {
        let series: Vec<_> = series.iter().map(|it| (it.0.as_str(), it.1.clone())).collect();
        let dtype = if x.iter().any(Value::is_string) { "object" } else { "float64" };
        let made = gallery::chart(kind, &title, dtype, &x, &series);
        optioned(&made, option, &words).unwrap_or(made)
    })
}

/// Returns the chart with one of the options, if it fits.
fn optioned(chart: &Chart, option: usize, words: &str) -> Option<Chart> {
    let (mut spec, mut frame) = (chart.spec().clone(), chart.frame().clone());
    let name = spec.series.last()?.name.clone();
    let x = frame.rows.first()?.first()?.clone();
    let x = x.as_str().map_or_else(|| x.to_string(), str::to_owned);
    let field = |at: usize| frame.columns.get(at).cloned();
    let options = match option {
        0 => json!({"highlight": name}),
        1 => json!({"highlight": x}),
        2 => json!({"error_bars": {"low_field": field(2)?, "high_field": field(3)?}}),
        3 => json!({"annotations": [{"x": x, "y": null, "text": words},
            {"x": x, "y": 7.0, "text": "a few words"}]}),
        4 => json!({"line_series": {"name": name, "y_label": words}}),
        5 => json!({"line_series": {"name": name, "y_label": null}}),
        6 => json!({"facet_by": "panel"}),
        7 => json!({"size_by": field(1)?}),
        _ => return None,
    };
    if option == 1 || option == 2 {
        spec.series.truncate(1);
    }
    frame.columns.push("panel".to_owned());
    frame.dtypes.push("object".to_owned());
    for (at, row) in frame.rows.iter_mut().enumerate() {
        row.push(json!(format!("{words} {}", at % 14)));
    }
    spec.options = serde_json::from_value(options).ok();
    spec.check(frame).ok()
}

proptest! {
    #![proptest_config(slow_cases(96, 1_500))]

    #[test]
    fn every_chart_keeps_the_laws(chart in any_chart(8..9)) {
        let kept = check(&scene(&Plot::of(&chart)));
        prop_assert!(kept.is_ok(), "{kept:?}");
        prop_assert!(!alt(&chart).is_empty());
    }
}

proptest! {
    #![proptest_config(slow_cases(32, 1_200))]

    #[test]
    fn every_chart_with_options_keeps_the_laws(chart in any_chart(0..8)) {
        let kept = check(&scene(&Plot::of(&chart)));
        prop_assert!(kept.is_ok(), "{kept:?}");
        prop_assert!(!alt(&chart).is_empty());
    }
}
