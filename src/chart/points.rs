//! Lines and points: positions on two axes, with gaps where a value is missing.

use csv_agent_types::chart::ChartType;

use super::areas;
use super::band_scale::{AxisLabels, time_room};
use super::line_labels::{Names, SHIFT_MAX, beside};
use super::numbers::{self, Measure};
use super::overplotting::{self, Crowd};
use super::plot::{Plot, X};
use super::references;
use super::scene::{Mark, PointShape, Scene};
use super::sheet::{ChartBuilder, MARGIN, Scale, count, level_ticks, widest};
use super::text;
use super::thinning;
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
    let mut sheet = ChartBuilder::new(plot, plot.space.width, has_legend, plot.y_label.as_deref());
    let level = Some(plot.x_label.as_str()).filter(|_| !plot.space.is_panel);
    let left = MARGIN + widest(ticks.labels.iter()).max(plot.space.label_width) + 8.0;
    let side = names.map_or(0.0, Names::width).max(references::width(plot));
    let right = plot.space.width - MARGIN - side;
    // Large points need room beyond the axes.
    let pad = overplotting::pad(plot);
    let axis = Axis::new(plot, left + pad, right - pad);
    let crowd = (plot.chart_type == ChartType::Scatter).then(|| Crowd::of(plot, &axis.positions));
    let is_raised = is_raised(plot, &ticks);
    sheet.hints.extend(crowd.as_ref().and_then(|it| it.note(plot.space.is_panel)));
    sheet.hints.extend(thinning::note(plot));
    if is_raised {
        sheet.hints.push(format!("The vertical axis begins at {}, not at zero.", ticks.labels[0]));
    }
    let foot = sheet.foot_height(level) + axis.below.height + 8.0;
    let height = sheet.height(foot);
    let bottom = height - foot;
    let scale = upright_scale(plot, &ticks, (bottom - pad, sheet.top + pad));
    references::draw_level_bands(&mut sheet, plot, &scale, (left, right));
    sheet.upright_axis(&ticks, &scale, (left, right));
    if plot.chart_type == ChartType::Scatter && !matches!(plot.x, X::Labels(_)) {
        // Both coordinates of a point matter.
        for x in axis.below.places() {
            sheet.line((x, sheet.top), (x, bottom), Colour::GRID);
        }
    }
    sheet.line((left, bottom), (right, bottom), Colour::AXIS);
    if is_raised {
        broken_axis(&mut sheet, (left, bottom));
    }
    let (lowest, highest) = ticks.range();
    if lowest < 0.0 && 0.0 < highest {
        sheet.line((left, scale.at(0.0)), (right, scale.at(0.0)), Colour::AXIS);
    }
    axis.below.draw(&mut sheet, bottom, true);
    references::draw_level(&mut sheet, plot, &scale, (left, right));

    if plot.chart_type == ChartType::Area {
        areas::draw(&mut sheet, plot, &axis.positions, &scale);
    }
    let all = plot.series.iter().map(|it| {
        let points = it.values.iter().zip(&axis.positions);
        points.map(|(value, x)| Some(((*x)?, scale.at((*value)?)))).collect()
    });
    let all: Vec<Vec<Option<(f64, f64)>>> = all.collect();
    let ends: Vec<_> = all.iter().map(|it| it.iter().rev().flatten().next().copied()).collect();
    let top = sheet.top;
    if let Some(names) = names {
        let mut labels = names.at(plot, &ends, (left, right))?;
        labels.extend(references::labels(plot, &scale, right));
        if !beside(&mut sheet, &labels, right, (top, bottom), SHIFT_MAX) {
            return None;
        }
    } else {
        references::draw_beside(&mut sheet, plot, &scale, right, (top, bottom));
    }
    for series in plot.drawn() {
        error_bars(&mut sheet, plot, series, (&axis.positions, &scale));
        if plot.chart_type == ChartType::Line {
            line(&mut sheet, plot, series, &all[series]);
        }
        if let (Some(_), Some((x, y))) = (names, ends[series]) {
            dot(&mut sheet, plot, series, (x, y));
        }
    }
    for mark in crowd.iter().flat_map(|it| it.marks(&scale)) {
        sheet.mark(mark);
    }
    trend(&mut sheet, plot, &axis.positions, &scale, ticks.range());
    sheet.anchor(&scale, |row, _| axis.positions[row]);
    Some(sheet.finish(height, level, (left, right)))
}

/// Returns whether an axis of lines begins elsewhere than at zero, which a reader should know.
fn is_raised(plot: &Plot, ticks: &Ticks) -> bool {
    let (lowest, highest) = ticks.range();
    plot.chart_type == ChartType::Line && !plot.is_log.1 && (0.0 < lowest || highest < 0.0)
}

/// Draws the sign of an axis that leaves out its beginning.
fn broken_axis(sheet: &mut ChartBuilder, (left, bottom): (f64, f64)) {
    let sign = [(0.0, 0.0), (0.0, -4.0), (-4.0, -6.5), (4.0, -11.5), (0.0, -14.0), (0.0, -18.0)];
    let points = sign.iter().map(|it| (left + it.0, bottom + it.1)).collect();
    sheet.mark(Mark::Line { points, width: 1.5, colour: Colour::AXIS });
}

/// Draws the straight line through points, as far as the axis of the values reaches.
fn trend(
    sheet: &mut ChartBuilder,
    plot: &Plot,
    positions: &[Option<f64>],
    scale: &Scale,
    (lowest, highest): (f64, f64),
) {
    let (Some(trend), X::Numbers(numbers)) = (plot.trend, &plot.x) else { return };
    let (low, high) = trend.range;
    let pixel = |x: f64| numbers.iter().position(|it| *it == Some(x)).and_then(|it| positions[it]);
    let (Some(left), Some(right)) = (pixel(low), pixel(high)) else { return };
    // The parts of the line at which it leaves the axis below and above.
    let (from, to) = (trend.at(low), trend.at(high));
    let part = |value: f64| (value - from) / (to - from);
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    if 0.0 < (from - to).abs() {
        let (one, other) = (part(lowest), part(highest));
        (start, end) = (start.max(one.min(other)), end.min(one.max(other)));
    }
    if start < end {
        let at = |part: f64| (left + (right - left) * part, scale.at(from + (to - from) * part));
        let line = |width, colour| Mark::Line { points: vec![at(start), at(end)], width, colour };
        sheet.mark(line(4.5, Colour::PAPER));
        sheet.mark(line(2.0, Colour::INK));
    }
}

/// Draws the error bars of a series, which its points are over.
fn error_bars(
    sheet: &mut ChartBuilder,
    plot: &Plot,
    series: usize,
    (positions, scale): (&[Option<f64>], &Scale),
) {
    for (row, ends) in plot.series[series].ends.iter().enumerate() {
        if let Some(((low, high), x)) = ends.zip(positions[row]) {
            let colour = plot.colour(series, Some(row));
            sheet.error_bar((x, scale.at(low)), (x, scale.at(high)), colour);
        }
    }
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
        let run = thinning::thinned(run.iter().copied().flatten().collect());
        let dots = if is_marked || run.len() == 1 { run.clone() } else { Vec::new() };
        if 1 < run.len() {
            sheet.mark(Mark::Line { points: run, width, colour: plot.colour(series, None) });
        }
        for point in dots {
            dot(sheet, plot, series, point);
        }
    }
}

fn dot(sheet: &mut ChartBuilder, plot: &Plot, series: usize, (x, y): (f64, f64)) {
    let (shape, colour) = (PointShape::Circle, plot.colour(series, None));
    sheet.mark(Mark::Dot { x, y, radius: 3.2, shape, colour, is_hollow: false });
}

/// Returns the width of the labels of the vertical axis.
pub(crate) fn label_width(plot: &Plot) -> f64 {
    widest(upright_ticks(plot).labels.iter())
}

fn upright_ticks(plot: &Plot) -> Ticks {
    let (low, high) = upright_range(plot);
    if plot.is_log.1 {
        return Ticks::log(low, high, 6, plot.measure);
    }
    let n_steps = plot.space.steps();
    let ticks = if plot.is_whole() {
        Ticks::whole(low, high, n_steps)
    } else {
        Ticks::cover(low, high, n_steps)
    };
    ticks.measured(plot.measure)
}

fn upright_scale(plot: &Plot, ticks: &Ticks, ends: (f64, f64)) -> Scale {
    if plot.is_log.1 { Scale::log(ticks.range(), ends) } else { Scale::new(ticks.range(), ends) }
}

/// Returns the range that an axis of positions must cover: all values and references, and zero if it is
/// near.
pub(crate) fn upright_range(plot: &Plot) -> (f64, f64) {
    let range = match plot.chart_type {
        ChartType::Area => areas::range(plot),
        _ => plot.range(),
    };
    let references = plot.references.iter().flat_map(|it| [Some(it.from), it.to]).flatten();
    let known = references.chain(range.map(|it| it.0)).chain(range.map(|it| it.1));
    let known = known.chain(plot.beyond());
    let (low, high) =
        known.fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(it), high.max(it)));
    if high < low {
        return if plot.is_log.1 { (1.0, 10.0) } else { (0.0, 1.0) };
    }
    if plot.is_log.1 {
        return (low, high);
    }
    // If all values are the same, only their size is informative. An area begins at zero.
    let is_zero_based = high <= low || plot.chart_type == ChartType::Area;
    let from_zero = 0.0 <= low && (low < ZERO_SHARE * high || is_zero_based);
    let to_zero = high <= 0.0 && (ZERO_SHARE * low < high || is_zero_based);
    let (low, high) = (if from_zero { 0.0 } else { low }, if to_zero { 0.0 } else { high });
    // Of an area of zeros, the axis is as high as its label.
    if low < high { (low, high) } else { (0.0, 1.0) }
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
                let is_line = plot.chart_type != ChartType::Scatter;
                Axis::of_numbers(numbers, inner, is_line, plot.is_log.0)
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
                    _ => Axis::of_bands(plot, left, right),
                }
            }
            X::Labels(_) => Axis::of_bands(plot, left, right),
        }
    }

    fn of_numbers(
        numbers: &[Option<f64>],
        (left, right): (f64, f64),
        is_line: bool,
        is_log: bool,
    ) -> Axis {
        let known = || numbers.iter().flatten().copied();
        let (low, high) = (known().fold(f64::MAX, f64::min), known().fold(f64::MIN, f64::max));
        let (low, high) = if high < low { (0.0, 1.0) } else { (low, high) };
        if is_log {
            let (low, high) = if low <= 0.0 { (1.0, 10.0) } else { (low, high) };
            let ticks = level_ticks(right - left, |n| Ticks::log(low, high, n, Measure::Plain));
            let scale = Scale::log(ticks.range(), (left, right));
            let labels = ticks.values.iter().zip(ticks.labels);
            return Axis {
                below: AxisLabels::level(labels.map(|(it, label)| (scale.at(*it), vec![label]))),
                positions: numbers.iter().map(|it| it.map(|it| scale.at(it))).collect(),
            };
        }
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

    fn of_bands(plot: &Plot, left: f64, right: f64) -> Axis {
        let x = &plot.x;
        let band = (right - left) / count(x.len());
        let at = |row: usize| Some(left + band * (count(row) + 0.5));
        let below = AxisLabels::bands(x, band, left, &plot.space);
        Axis { positions: (0..x.len()).map(at).collect(), below }
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
