//! A row or a column of cells filled by bars to an eighth of a cell.

use std::ops::Range;

use csv_agent_types::chart::ChartType;

use super::grid::Ink;
use super::sheet::whole;
use crate::numbers::{self, Measure};
use crate::plot::Plot;
use crate::sheet::count;

/// Eighths of a cell, from its lower edge.
pub(super) const UPWARDS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Eighths of a cell, from its left edge. A whole one is slightly lower, so that bars on adjacent lines
/// remain separate.
pub(super) const RIGHTWARDS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '▇'];

/// A segment of a bar: from one value to another, of a series.
pub(super) type BarSegment = (f64, f64, usize);

/// Returns whether the series are stacked.
pub(super) fn is_stacked(plot: &Plot) -> bool {
    plot.chart_type.is_stacked()
}

/// Returns the rows of each bar when `n_merged` rows share one.
pub(super) fn groups(plot: &Plot, n_merged: usize) -> Vec<Range<usize>> {
    let n_rows = plot.x.len();
    (0..n_rows).step_by(n_merged).map(|it| it..(it + n_merged).min(n_rows)).collect()
}

/// Returns the bars of some rows, each with its segments; a bar without a value has none. For several
/// rows, it is the mean.
pub(super) fn bars(plot: &Plot, rows: Range<usize>) -> Vec<Vec<BarSegment>> {
    let mean = |values: &[Option<f64>]| {
        let known: Vec<_> = values[rows.clone()].iter().flatten().collect();
        let n_known = count(known.len());
        (!known.is_empty()).then(|| known.into_iter().map(|it| it / n_known).sum::<f64>())
    };
    let values = plot.series.iter().map(|it| mean(&it.values)).enumerate();
    if !is_stacked(plot) {
        let bar = |(at, value): (usize, Option<f64>)| value.map(|it| (0.0, it, at));
        return values.map(|it| bar(it).into_iter().collect()).collect();
    }
    // Parts below zero stack downwards, so that none hides another.
    let (mut above, mut below) = (0.0, 0.0);
    let mut parts = Vec::new();
    for (at, value) in values {
        let Some(value) = value else { continue };
        let end = if value < 0.0 { &mut below } else { &mut above };
        parts.push((*end, *end + value, at));
        *end += value;
    }
    vec![parts]
}

/// Returns the ends of all bars of `n_merged` rows each; zero is between them.
pub(super) fn range(plot: &Plot, n_merged: usize) -> (f64, f64) {
    let bars = groups(plot, n_merged).into_iter().flat_map(|it| bars(plot, it)).flatten();
    let references = plot.references.iter().filter(|_| plot.chart_type != ChartType::Histogram);
    let references = references.flat_map(|it| [Some(it.from), it.to]).flatten();
    let ends = bars.map(|it| it.1).chain(references);
    let (low, high) = ends.fold((0.0_f64, 0.0_f64), |(low, high), it| (low.min(it), high.max(it)));
    if low < high { (low, high) } else { (0.0, 1.0) }
}

/// Returns the text at the end of a bar: its value, or the sum of its segments.
pub(super) fn amount(parts: &[BarSegment], measure: Measure) -> String {
    if parts.is_empty() {
        return "–".to_owned();
    }
    numbers::amount(parts.iter().map(|(from, to, _)| to - from).sum(), measure)
}

/// Cells in a line, in eighths; each eighth may belong to a series.
pub(super) struct Strip(Vec<Option<usize>>);

impl Strip {
    /// Fills `n_cells` with the segments of a bar; `share` returns the position of a value on them.
    ///
    /// Every non-zero value is visible, however small.
    pub(super) fn new(n_cells: usize, parts: &[BarSegment], share: impl Fn(f64) -> f64) -> Strip {
        let mut eighths = vec![None; n_cells * 8];
        let at = |value: f64| whole(share(value) * count(n_cells * 8)).min(n_cells * 8);
        for (from, to, series) in parts {
            let (mut start, mut end) = (at(from.min(*to)), at(from.max(*to)));
            if start == end && from < to {
                end = (end + 1).min(eighths.len());
            } else if start == end && to < from {
                start = start.saturating_sub(1);
            }
            eighths[start..end].fill(Some(*series));
        }
        Strip(eighths)
    }

    /// Returns the character in each non-empty cell, with the cell's index.
    ///
    /// `glyphs` cover a cell from the edge where the strip begins; `half` covers its far half.
    pub(super) fn cells<'a>(
        &'a self,
        glyphs: &'a [char; 8],
        half: char,
        is_coloured: bool,
    ) -> impl Iterator<Item = (usize, char, Ink)> + 'a {
        self.0.chunks(8).enumerate().filter_map(move |(at, eighths)| {
            let n_first = eighths.iter().take_while(|it| **it == eighths[0]).count();
            let second = most(&eighths[n_first..]);
            let (char, ink) = match (eighths[0], second) {
                (None, None) => return None,
                (Some(first), None) => (glyphs[n_first - 1], Ink::Series(first)),
                (Some(first), Some(second)) => (glyphs[n_first - 1], Ink::Over(first, second)),
                // Characters that begin at the far edge exist only for one half.
                (None, Some(second)) if !is_coloured => match n_first {
                    0..=2 => (glyphs[7], Ink::Series(second)),
                    3..=5 => (half, Ink::Series(second)),
                    _ => return None,
                },
                (None, Some(second)) => (glyphs[n_first - 1], Ink::Rest(second)),
            };
            Some((at, char, ink))
        })
    }
}

/// Returns the series to which most of some eighths belong.
fn most(eighths: &[Option<usize>]) -> Option<usize> {
    let size = |it: &Option<usize>| eighths.iter().filter(|other| *other == it).count();
    eighths.iter().copied().rev().max_by_key(|it| size(it)).flatten()
}
