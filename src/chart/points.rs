//! Lines and points: positions on two axes, with gaps where a value is missing.

use csv_agent_types::chart::ChartType;

use super::band_scale::{AxisLabels, time_room};
use super::line_labels::Names;
use super::numbers;
use super::overplotting::Crowd;
use super::plot::{Plot, X};
use super::scene::{Mark, PointShape, Scene};
use super::sheet::{ChartBuilder, MARGIN, Scale, WIDTH, colour, count, level_ticks, widest};
use super::text;
use super::ticks::Ticks;
use super::time;
use crate::theme::Colour;

/// Maximum points, and rows, of a line chart with marked points.
const MARKED_MAX: (usize, usize) = (120, 40);
/// Above this share of the largest value, an axis of positions need not begin at zero.
const ZERO_SHARE: f64 = 0.5;
/// Distance from the ends of the horizontal axis to the first and last positions.
const INSET: f64 = 12.0;
/// Whole numbers below this are shown without separators.
const NAMED_MAX: f64 = 10_000.0;
/// Whole numbers in this range are years.
const YEARS: (f64, f64) = (1_000.0, 3_000.0);

/// Lays out a line chart or a scatter plot, with names at the ends of the lines where they fit.
pub(crate) fn scene(plot: &Plot) -> Scene {
    let named = Names::of(plot).and_then(|it| lay_out(plot, Some(&it)));
    // A legend always fits.
    named.or_else(|| lay_out(plot, None)).expect("only names may find no place")
}

fn lay_out(plot: &Plot, names: Option<&Names>) -> Option<Scene> {
    let ticks = upright_ticks(plot);
    let has_legend = 1 < plot.series.len() && names.is_none();
    let mut sheet = ChartBuilder::new(plot, WIDTH, has_legend, plot.y_label.as_deref());
    let level = Some(plot.x_label.as_str());
    let left = MARGIN + widest(ticks.labels.iter()) + 8.0;
    let right = WIDTH - MARGIN - names.map_or(0.0, Names::width);
    let axis = Axis::new(plot, left, right);
    let crowd = (plot.chart_type == ChartType::Scatter).then(|| Crowd::of(plot, &axis.positions));
    sheet.hint = crowd.as_ref().and_then(Crowd::note);
    let foot = sheet.foot_height(level) + axis.below.height + 8.0;
    let height = sheet.height(foot);
    let bottom = height - foot;
    let scale = Scale::new(ticks.range(), (bottom, sheet.top));
    sheet.upright_axis(&ticks, &scale, (left, right));
    if plot.chart_type == ChartType::Scatter && !matches!(plot.x, X::Labels(_)) {
        // Both coordinates of a point matter.
        for x in axis.below.places() {
            sheet.line((x, sheet.top), (x, bottom), Colour::GRID);
        }
    }
    sheet.line((left, bottom), (right, bottom), Colour::AXIS);
    let (lowest, highest) = ticks.range();
    if lowest < 0.0 && 0.0 < highest {
        sheet.line((left, scale.at(0.0)), (right, scale.at(0.0)), Colour::AXIS);
    }
    axis.below.draw(&mut sheet, bottom, true);

    let all = plot.series.iter().map(|it| {
        let points = it.values.iter().zip(&axis.positions);
        points.map(|(value, x)| Some(((*x)?, scale.at((*value)?)))).collect()
    });
    let all: Vec<Vec<Option<(f64, f64)>>> = all.collect();
    let ends: Vec<_> = all.iter().map(|it| it.iter().rev().flatten().next().copied()).collect();
    let top = sheet.top;
    if names.is_some_and(|it| !it.draw(&mut sheet, &ends, (left, right), (top, bottom))) {
        return None;
    }
    for (series, points) in all.iter().enumerate() {
        if plot.chart_type == ChartType::Line {
            line(&mut sheet, plot, series, points);
        }
        if let (Some(_), Some((x, y))) = (names, ends[series]) {
            dot(&mut sheet, series, (x, y));
        }
    }
    for mark in crowd.iter().flat_map(|it| it.marks(&scale)) {
        sheet.mark(mark);
    }
    Some(sheet.finish(height, level, (left, right)))
}

/// Draws a line with gaps; a value between two gaps becomes a point.
fn line(sheet: &mut ChartBuilder, plot: &Plot, series: usize, points: &[Option<(f64, f64)>]) {
    let n_points = plot.x.len() * plot.series.len();
    let is_marked = n_points <= MARKED_MAX.0 && plot.x.len() <= MARKED_MAX.1;
    let width = match n_points {
        0..=400 => 2.2,
        401..=1_000 => 1.8,
        _ => 1.4,
    };
    for run in points.split(Option::is_none).filter(|it| !it.is_empty()) {
        let run: Vec<_> = run.iter().copied().flatten().collect();
        let dots = if is_marked || run.len() == 1 { run.clone() } else { Vec::new() };
        if 1 < run.len() {
            sheet.mark(Mark::Line { points: run, width, colour: colour(series) });
        }
        for point in dots {
            dot(sheet, series, point);
        }
    }
}

fn dot(sheet: &mut ChartBuilder, series: usize, (x, y): (f64, f64)) {
    let (shape, colour) = (PointShape::Circle, colour(series));
    sheet.mark(Mark::Dot { x, y, radius: 3.2, shape, colour, is_hollow: false });
}

fn upright_ticks(plot: &Plot) -> Ticks {
    let (low, high) = upright_range(plot);
    let ticks =
        if plot.is_whole() { Ticks::whole(low, high, 5) } else { Ticks::cover(low, high, 5) };
    ticks.measured(plot.measure)
}

/// Returns the range that an axis of positions must cover: all values, and zero if it is near.
pub(crate) fn upright_range(plot: &Plot) -> (f64, f64) {
    let Some((low, high)) = plot.range() else { return (0.0, 1.0) };
    // If all values are the same, only their size is informative.
    let is_flat = high <= low;
    let from_zero = 0.0 <= low && (low < ZERO_SHARE * high || is_flat);
    let to_zero = high <= 0.0 && (ZERO_SHARE * low < high || is_flat);
    (if from_zero { 0.0 } else { low }, if to_zero { 0.0 } else { high })
}

/// The horizontal axis: the positions of rows, and the labels under it.
struct Axis {
    /// One per row; `None` where x is missing.
    positions: Vec<Option<f64>>,
    below: AxisLabels,
}

impl Axis {
    fn new(plot: &Plot, left: f64, right: f64) -> Axis {
        let inner = (left + INSET, right - INSET);
        let x = &plot.x;
        match x {
            X::Numbers(numbers) => {
                Axis::of_numbers(numbers, inner, plot.chart_type == ChartType::Line)
            }
            X::Times(times) => {
                let known = || times.iter().flatten().copied();
                match (known().min(), known().max()) {
                    (Some(first), Some(last)) if first < last => {
                        let seconds = (time::seconds(first), time::seconds(last));
                        let scale = Scale::new(seconds, inner);
                        let at = |it: &jiff::civil::DateTime| scale.at(time::seconds(*it));
                        let room = inner.1 - inner.0;
                        let n_steps = text::to_pixel(room / (time_room(x.unit()) + 30.0));
                        let n_steps = u32::try_from(n_steps).unwrap_or(1).clamp(1, 12);
                        let (ticks, unit) = match few(known().collect(), time_room(x.unit()), at) {
                            Some(known) => (known, x.unit()),
                            None => time::ticks(first, last, n_steps, x.unit()),
                        };
                        let ticks: Vec<_> = ticks.iter().map(|it| (at(it), *it)).collect();
                        Axis {
                            positions: times.iter().map(|it| it.as_ref().map(at)).collect(),
                            below: AxisLabels::times(&ticks, unit, |it| it),
                        }
                    }
                    _ => Axis::of_bands(x, left, right),
                }
            }
            X::Labels(_) => Axis::of_bands(x, left, right),
        }
    }

    fn of_numbers(numbers: &[Option<f64>], (left, right): (f64, f64), is_line: bool) -> Axis {
        let known = || numbers.iter().flatten().copied();
        let (low, high) = (known().fold(f64::MAX, f64::min), known().fold(f64::MIN, f64::max));
        let (low, high) = if high < low { (0.0, 1.0) } else { (low, high) };
        let is_whole = known().all(|it| it.fract() == 0.0);
        let is_year = is_whole && YEARS.0 <= low && high < YEARS.1;
        let ticks = level_ticks(right - left, |n_steps| {
            let ticks = if is_whole {
                Ticks::whole(low, high, n_steps)
            } else {
                Ticks::cover(low, high, n_steps)
            };
            if is_year { ticks.years() } else { ticks }
        });
        let has_room = |it: &[f64]| it.iter().all(|it| it.abs() < NAMED_MAX) && is_whole;
        if is_line && low < high && has_room(&known().collect::<Vec<_>>()) {
            let scale = Scale::new((low, high), (left, right));
            let names: Vec<_> = known().map(numbers::name).collect();
            let room = widest(names.iter()) + 16.0;
            if let Some(known) = few(known().collect(), room, |it| scale.at(*it)) {
                let labels = known.iter().map(|it| (scale.at(*it), vec![numbers::name(*it)]));
                let positions = numbers.iter().map(|it| it.map(|it| scale.at(it))).collect();
                return Axis { below: AxisLabels::level(labels), positions };
            }
        }
        // A line fills the axis; points are not placed at its ends.
        let ends = if low < high && is_line { (low, high) } else { ticks.range() };
        let scale = Scale::new(ends, (left, right));
        let inside = ticks.values.iter().zip(ticks.labels);
        let inside = inside.filter(|(value, _)| ends.0 <= **value && **value <= ends.1);
        Axis {
            below: AxisLabels::level(inside.map(|(value, label)| (scale.at(*value), vec![label]))),
            positions: numbers.iter().map(|it| it.map(|it| scale.at(it))).collect(),
        }
    }

    fn of_bands(x: &X, left: f64, right: f64) -> Axis {
        let band = (right - left) / count(x.len());
        let at = |row: usize| Some(left + band * (count(row) + 0.5));
        Axis { positions: (0..x.len()).map(at).collect(), below: AxisLabels::bands(x, band, left) }
    }
}

/// Returns the distinct row positions, ascending, if all can be labelled: a reader looks for those.
fn few<T: PartialOrd + PartialEq + Copy>(
    mut known: Vec<T>,
    room: f64,
    at: impl Fn(&T) -> f64,
) -> Option<Vec<T>> {
    known.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    known.dedup();
    known.windows(2).all(|it| room <= at(&it[1]) - at(&it[0])).then_some(known)
}
