//! Lines and points: positions on two axes, gaps where a value is missing.

use super::bars::{level_labels, stride};
use super::plot::{Plot, X};
use super::scene::{Anchor, Colour, Label, Mark, Scene, Shape, Weight};
use super::sheet::{HEIGHT, LINE, MARGIN, SIZE, Scale, Sheet, WIDTH, colour, count, shape, widest};
use super::text;
use super::ticks::Ticks;
use super::time;
use crate::chart::ChartType;

/// Rows up to which the points of a line are marked.
const MARKED_MAX: usize = 40;
/// The longest label of a row.
const LABEL_MAX: f64 = 130.0;
/// Above this share of the largest value, an axis of positions need not begin at zero.
const ZERO_SHARE: f64 = 0.4;

/// Lays out a line chart or a scatter plot.
pub fn scene(plot: &Plot) -> Scene {
    let ticks = upright_ticks(plot);
    let mut sheet = Sheet::new(plot, WIDTH, plot.y_label.as_deref());
    let level = Some(plot.x_label.as_str());
    let (left, right) = (MARGIN + widest(ticks.labels.iter()) + 8.0, WIDTH - MARGIN);
    let axis = Axis::new(&plot.x, left, right);
    let bottom = HEIGHT - sheet.foot_height(level) - axis.height() - 8.0;
    let scale = Scale::new(ticks.range(), (bottom, sheet.top));
    sheet.upright_axis(&ticks, &scale, (left, right));
    axis.draw(&mut sheet, bottom, (left, right));

    let is_line = plot.chart_type == ChartType::Line;
    let is_marked = plot.x.len() <= MARKED_MAX;
    for (series, it) in plot.series.iter().enumerate() {
        let points = it.values.iter().zip(&axis.positions);
        let points: Vec<_> = points.map(|(value, x)| Some(((*x)?, scale.at((*value)?)))).collect();
        if !is_line {
            let radius = if plot.x.len() <= 60 { 5.0 } else { 4.0 };
            for (x, y) in points.into_iter().flatten() {
                sheet.mark(Mark::Dot {
                    x,
                    y,
                    radius,
                    shape: shape(series),
                    colour: colour(series),
                });
            }
            continue;
        }
        for run in points.split(Option::is_none).filter(|it| !it.is_empty()) {
            let run: Vec<_> = run.iter().copied().flatten().collect();
            let dots = if is_marked || run.len() == 1 { run.clone() } else { Vec::new() };
            if 1 < run.len() {
                sheet.mark(Mark::Line { points: run, width: 2.2, colour: colour(series) });
            }
            for (x, y) in dots {
                let (shape, colour) = (Shape::Circle, colour(series));
                sheet.mark(Mark::Dot { x, y, radius: 3.2, shape, colour });
            }
        }
    }
    sheet.finish(HEIGHT, level, (left, right))
}

fn upright_ticks(plot: &Plot) -> Ticks {
    let (low, high) = upright_range(plot);
    Ticks::cover(low, high, 5)
}

/// Returns what an axis of positions must cover: all values, and zero if it is near.
pub fn upright_range(plot: &Plot) -> (f64, f64) {
    let Some((low, high)) = plot.range() else { return (0.0, 1.0) };
    let from_zero = 0.0 <= low && low < ZERO_SHARE * high;
    let to_zero = high <= 0.0 && ZERO_SHARE * low < high;
    (if from_zero { 0.0 } else { low }, if to_zero { 0.0 } else { high })
}

/// The level axis: where rows stand, and what is written under it.
struct Axis {
    /// One a row; none where x is missing.
    positions: Vec<Option<f64>>,
    /// Pixel, lines.
    labels: Vec<(f64, Vec<String>)>,
}

impl Axis {
    fn new(x: &X, left: f64, right: f64) -> Axis {
        match x {
            X::Numbers(numbers) => Axis::of_numbers(numbers, left, right),
            X::Times(times) => {
                let mut known: Vec<_> = times.iter().flatten().copied().collect();
                known.sort_unstable();
                match (known.first(), known.last()) {
                    (Some(first), Some(last)) if first < last => {
                        let seconds = (time::seconds(*first), time::seconds(*last));
                        let scale = Scale::new(seconds, (left + 12.0, right - 12.0));
                        let at = |it: &jiff::civil::DateTime| scale.at(time::seconds(*it));
                        let (ticks, unit) = time::ticks(*first, *last, 8);
                        let mut before = None;
                        let labels = ticks.into_iter().map(|tick| {
                            let (upper, lower) = time::label(tick, before.replace(tick), unit);
                            (at(&tick), vec![upper, lower])
                        });
                        let labels = labels.collect();
                        Axis {
                            positions: times.iter().map(|it| it.as_ref().map(at)).collect(),
                            labels,
                        }
                    }
                    _ => Axis::of_labels(x, left, right),
                }
            }
            X::Labels(_) => Axis::of_labels(x, left, right),
        }
    }

    fn of_numbers(numbers: &[Option<f64>], left: f64, right: f64) -> Axis {
        let known = numbers.iter().flatten();
        let (low, high) =
            known.fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(*it), high.max(*it)));
        let (low, high) = if high < low { (0.0, 1.0) } else { (low, high) };
        let is_year = numbers.iter().flatten().all(|it| it.fract() == 0.0)
            && 1_000.0 <= low
            && high < 3_000.0;
        let mut ticks = Ticks::cover(low, high, 8);
        if is_year {
            ticks = ticks.years();
        }
        let ends = if low < high { (low, high) } else { ticks.range() };
        let scale = Scale::new(ends, (left + 12.0, right - 12.0));
        let inside = ticks.values.iter().zip(ticks.labels);
        let inside = inside.filter(|(value, _)| {
            ends.0 <= **value && **value <= ends.1 && (!is_year || value.fract() == 0.0)
        });
        Axis {
            labels: inside.map(|(value, label)| (scale.at(*value), vec![label])).collect(),
            positions: numbers.iter().map(|it| it.map(|it| scale.at(it))).collect(),
        }
    }

    fn of_labels(x: &X, left: f64, right: f64) -> Axis {
        let n_rows = x.len();
        let band = (right - left) / count(n_rows);
        let at = |row: usize| left + band * (count(row) + 0.5);
        let labels: Vec<_> = (0..n_rows).map(|it| x.full_label(it)).collect();
        let positions = (0..n_rows).map(|it| Some(at(it))).collect();
        if let Some(lines) = level_labels(&labels, band) {
            let labels = lines.into_iter().enumerate().map(|(row, lines)| (at(row), lines));
            return Axis { positions, labels: labels.collect() };
        }
        let short = |it: String| text::shorten(&it, SIZE, Weight::Regular, LABEL_MAX);
        let labels: Vec<_> = labels.into_iter().map(short).collect();
        let stride = stride(widest(labels.iter()) + 12.0, band);
        let labels = labels.into_iter().enumerate().step_by(stride);
        Axis { labels: labels.map(|(row, label)| (at(row), vec![label])).collect(), positions }
    }

    fn height(&self) -> f64 {
        LINE * count(self.labels.iter().map(|it| it.1.len()).max().unwrap_or(1))
    }

    /// Draws ticks and labels; one that would touch the one before it is left out.
    fn draw(&self, sheet: &mut Sheet, bottom: f64, (left, right): (f64, f64)) {
        let mut end = f64::MIN;
        for (x, lines) in &self.labels {
            let width = widest(lines.iter());
            let middle =
                x.clamp(MARGIN / 2.0 + width / 2.0, sheet.width - MARGIN / 2.0 - width / 2.0);
            if middle - width / 2.0 < end + 8.0 {
                continue;
            }
            end = middle + width / 2.0;
            sheet.line((*x, bottom), (*x, bottom + 5.0), Colour::AXIS);
            for (at, line) in lines.iter().enumerate().filter(|it| !it.1.is_empty()) {
                let y = bottom + 19.0 + LINE * count(at);
                sheet.text(Label::new(line.clone(), middle, y, SIZE).anchored(Anchor::Middle));
            }
        }
        sheet.line((left, bottom), (right, bottom), Colour::AXIS);
    }
}
