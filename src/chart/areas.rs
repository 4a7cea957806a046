//! Filled areas under lines; those of several series are stacked.

use super::plot::Plot;
use super::scene::{Mark, PointShape};
use super::sheet::{ChartBuilder, Scale};
use super::thinning;
use crate::theme::Colour;

/// Returns the lower and the upper edge of each series in each row. Values above zero stack upwards,
/// others downwards; a missing value in a stack has no height.
pub(crate) fn edges(plot: &Plot) -> Vec<Vec<Option<(f64, f64)>>> {
    let is_stack = 1 < plot.series.len();
    let mut sums = vec![(0.0, 0.0); plot.x.len()];
    let mut layers = Vec::new();
    for series in &plot.series {
        let layer = series.values.iter().zip(&mut sums).map(|(value, (below, above))| {
            let value = if is_stack { value.unwrap_or(0.0) } else { (*value)? };
            let end = if value < 0.0 { below } else { above };
            let from = *end;
            *end += value;
            Some((from, *end))
        });
        layers.push(layer.collect());
    }
    layers
}

/// Returns the range of the stacked values.
pub(crate) fn range(plot: &Plot) -> Option<(f64, f64)> {
    plot.range()?;
    let edges = edges(plot).into_iter().flatten().flatten();
    let ends = edges.flat_map(|it| [it.0, it.1]);
    Some(ends.fold((0.0, 0.0), |(low, high), it| (f64::min(low, it), f64::max(high, it))))
}

/// Draws the areas, with a gap between two of a stack.
pub(crate) fn draw(
    sheet: &mut ChartBuilder,
    plot: &Plot,
    positions: &[Option<f64>],
    scale: &Scale,
) {
    if plot.range().is_none() {
        return;
    }
    for (series, layer) in edges(plot).into_iter().enumerate() {
        let points: Vec<_> = layer.iter().zip(positions).map(|(it, x)| (*it).zip(*x)).collect();
        for run in points.split(Option::is_none).filter(|it| !it.is_empty()) {
            let edge = |of: fn(&(f64, f64)) -> f64| {
                let points = run.iter().flatten().map(|(edges, x)| (*x, scale.at(of(edges))));
                thinning::thinned(points.collect())
            };
            let (lower, upper) = (edge(|it| it.0), edge(|it| it.1));
            if let ([(x, _)], [(_, y)]) = (lower.as_slice(), upper.as_slice()) {
                let (x, y, shape, colour) = (*x, *y, PointShape::Circle, plot.colour(series, None));
                sheet.mark(Mark::Dot { x, y, radius: 3.2, shape, colour, is_hollow: false });
                continue;
            }
            let corners = upper.iter().chain(lower.iter().rev()).copied().collect();
            sheet.mark(Mark::Area { corners, colour: plot.colour(series, None) });
            if 1 < plot.series.len() {
                sheet.mark(Mark::Line { points: lower, width: 1.0, colour: Colour::PAPER });
            }
        }
    }
}
