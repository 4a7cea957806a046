//! Geometric invariants of every chart, whatever it shows.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_oneof, proptest};
use serde_json::{Value, json};

use csv_agent_testing::slow_cases;
use csv_agent_types::chart::{Chart, ChartType};

use super::bars::{HEIGHT_MAX, WIDTH_MAX};
use super::scene::{Mark, Scene};
use super::{alt, gallery, plot::Plot, scene};
use crate::text::TextLabel;
use crate::theme::Colour;

/// Left, top, right, bottom.
type Bounds = (f64, f64, f64, f64);

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

fn label(mark: &Mark) -> Option<(&str, Colour, Bounds)> {
    match mark {
        Mark::Text(label) if !label.text.is_empty() => {
            Some((&label.text, label.colour, TextLabel::bounds(label)))
        }
        _ => None,
    }
}

fn touch(a: Bounds, b: Bounds) -> bool {
    a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3
}

/// Returns the shade of a cell of a heat map, which has its value on it.
fn shade(mark: &Mark) -> Option<Colour> {
    match mark {
        Mark::Rect { colour, .. } => Some(*colour).filter(|it| it.on_shade().is_some()),
        _ => None,
    }
}

/// Axes, gridlines and paper may be behind a label.
fn is_data(mark: &Mark) -> bool {
    match mark {
        Mark::Rect { colour, .. }
        | Mark::Line { colour, .. }
        | Mark::Area { colour, .. }
        | Mark::Dot { colour, .. } => ![Colour::PAPER, Colour::AXIS, Colour::GRID].contains(colour),
        Mark::Text(_) => false,
    }
}

fn covers(mark: &Mark, bounds: Bounds) -> bool {
    match mark {
        Mark::Rect { x, y, width, height, .. } => {
            touch((*x, *y, x + width, y + height), bounds) && 0.0 < width * height
        }
        Mark::Dot { x, y, radius, .. } => {
            touch((x - radius, y - radius, x + radius, y + radius), bounds)
        }
        Mark::Line { points, .. } => points.windows(2).any(|it| crosses(it[0], it[1], bounds)),
        Mark::Area { corners, .. } => {
            let first = corners.first().copied();
            let closed: Vec<_> = corners.iter().copied().chain(first).collect();
            closed.windows(2).any(|it| crosses(it[0], it[1], bounds))
        }
        Mark::Text(_) => false,
    }
}

/// Clips the line to the bounds, after Liang and Barsky.
fn crosses(from: (f64, f64), to: (f64, f64), (left, top, right, bottom): Bounds) -> bool {
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    let sides = [
        (to.0 - from.0, left - from.0, right - from.0),
        (to.1 - from.1, top - from.1, bottom - from.1),
    ];
    for (step, low, high) in sides {
        if step.abs() < 1e-9 {
            if low > 0.0 || high < 0.0 {
                return false;
            }
        } else {
            enter = enter.max((low / step).min(high / step));
            leave = leave.min((low / step).max(high / step));
        }
    }
    enter < leave
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

fn any_chart() -> impl Strategy<Value = Chart> {
    let n_rows = prop_oneof![4 => 1..12_usize, 2 => 12..60_usize, 1 => 60..201_usize];
    let size = (n_rows, prop_oneof![2 => Just(1_usize), 3 => 2..11_usize]);
    let data = size.prop_flat_map(|(n_rows, n_series)| {
        let series = vec((text(), vec(value(), n_rows)), n_series);
        (x(n_rows), series)
    });
    let kind = (0..ChartType::ALL.len()).prop_map(|it| ChartType::ALL[it]);
    (kind, text(), data).prop_map(|(kind, title, (x, series))| {
        let series: Vec<_> = series.iter().map(|it| (it.0.as_str(), it.1.clone())).collect();
        let dtype = if x.iter().any(Value::is_string) { "object" } else { "float64" };
        gallery::chart(kind, &title, dtype, &x, &series)
    })
}

proptest! {
    #![proptest_config(slow_cases(96, 4_000))]

    #[test]
    fn every_chart_keeps_the_laws(chart in any_chart()) {
        let kept = check(&scene(&Plot::of(&chart)));
        prop_assert!(kept.is_ok(), "{kept:?}");
        prop_assert!(!alt(&chart).is_empty());
    }
}
