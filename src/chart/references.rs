//! Lines and bands of values to compare with, and their labels outside of the marks.

use super::fit;
use super::line_labels::{GAP, SideLabel, beside};
use super::plot::Plot;
use super::scene::Mark;
use super::sheet::{ChartBuilder, LINE, MARGIN, SIZE, Scale, count, widest};
use crate::glyphs::Weight;
use crate::text::{Anchor, TextLabel};
use crate::theme::Colour;

/// The longest line of a label beside the marks, and above them.
const BESIDE_MAX: f64 = 130.0;
const ABOVE_MAX: f64 = 300.0;
/// Maximum lines of a label beside the marks.
const LINES_MAX: usize = 2;

/// Returns the lines of each label beside the marks.
fn lines(plot: &Plot) -> Vec<Vec<String>> {
    let lines = |text: &String| {
        let lines = fit::wrap_or_cut(text, SIZE, Weight::Regular, BESIDE_MAX, LINES_MAX);
        if lines.is_empty() { vec![String::new()] } else { lines }
    };
    plot.references.iter().map(|it| lines(&it.label)).collect()
}

/// Returns whether there are labels. Those of panels are in their common note.
fn has_labels(plot: &Plot) -> bool {
    !plot.references.is_empty() && !plot.space.is_panel
}

/// Returns the width of the labels to the right of the marks.
pub(crate) fn width(plot: &Plot) -> f64 {
    if has_labels(plot) { widest(lines(plot).iter().flatten()) + GAP } else { 0.0 }
}

/// Returns the labels to the right of the marks, for a vertical axis.
pub(crate) fn labels(plot: &Plot, scale: &Scale, right: f64) -> Vec<SideLabel> {
    let end = |at: usize| {
        let it = &plot.references[at];
        let middle = it.to.map_or(it.from, |to| it.from / 2.0 + to / 2.0);
        (right, scale.at(middle))
    };
    let label = |(at, lines)| SideLabel { end: end(at), lines, colour: Colour::AXIS };
    lines(plot).into_iter().enumerate().map(label).collect()
}

/// Draws the bands across a vertical axis, which are behind the marks.
pub(crate) fn draw_level_bands(
    sheet: &mut ChartBuilder,
    plot: &Plot,
    scale: &Scale,
    (x, right): (f64, f64),
) {
    for (from, to) in plot.references.iter().filter_map(|it| Some((it.from, it.to?))) {
        let (y, bottom) = (scale.at(to), scale.at(from));
        let (width, height) = (right - x, bottom - y);
        sheet.mark(Mark::Rect { x, y, width, height, colour: Colour::GRID });
    }
}

/// Draws the lines across a vertical axis, which are over the marks.
pub(crate) fn draw_level(sheet: &mut ChartBuilder, plot: &Plot, scale: &Scale, ends: (f64, f64)) {
    for it in plot.references.iter().filter(|it| it.to.is_none()) {
        let y = scale.at(it.from);
        dashes(sheet, (ends.0, y), (ends.1, y));
    }
}

/// Draws the labels beside the marks, where there is always room for them.
pub(crate) fn draw_beside(
    sheet: &mut ChartBuilder,
    plot: &Plot,
    scale: &Scale,
    right: f64,
    (top, bottom): (f64, f64),
) {
    let labels = labels(plot, scale, right);
    if !has_labels(plot) {
        return;
    }
    // At most ten lines of type in an area of at least fifteen.
    let is_drawn = beside(sheet, &labels, right, (top, bottom), f64::MAX);
    debug_assert!(is_drawn || labels.is_empty());
}

/// Returns the height of the labels above the marks, for a horizontal axis.
pub(crate) fn height_above(plot: &Plot) -> f64 {
    if has_labels(plot) { LINE * count(plot.references.len()) + 4.0 } else { 0.0 }
}

/// Draws the bands across a horizontal axis, which are behind the marks.
pub(crate) fn draw_upright_bands(
    sheet: &mut ChartBuilder,
    plot: &Plot,
    scale: &Scale,
    (y, bottom): (f64, f64),
) {
    for (from, to) in plot.references.iter().filter_map(|it| Some((it.from, it.to?))) {
        let (x, right) = (scale.at(from), scale.at(to));
        let (width, height) = (right - x, bottom - y);
        sheet.mark(Mark::Rect { x, y, width, height, colour: Colour::GRID });
    }
}

/// Draws the lines across a horizontal axis, which are over the marks, and all labels above these: the
/// leftmost on top, so that no line crosses a label.
pub(crate) fn draw_upright(
    sheet: &mut ChartBuilder,
    plot: &Plot,
    scale: &Scale,
    (top, bottom): (f64, f64),
) {
    let mut all: Vec<_> = plot.references.iter().collect();
    all.sort_by(|a, b| a.from.total_cmp(&b.from));
    let first = top - height_above(plot);
    let rows: Vec<_> = (1..=all.len()).map(|it| first + LINE * count(it)).collect();
    for (it, baseline) in all.iter().zip(&rows) {
        let x = scale.at(it.from);
        let start = if has_labels(plot) { baseline - LINE / 2.0 } else { top };
        dashes(sheet, (x, start), (x, if it.to.is_some() { top } else { bottom }));
    }
    if !has_labels(plot) {
        return;
    }
    for (it, baseline) in all.iter().zip(rows) {
        let x = scale.at(it.from);
        let text = fit::shorten(&it.label, SIZE, Weight::Regular, ABOVE_MAX);
        let mut label = TextLabel::new(text, x + 5.0, baseline - 4.0, SIZE);
        if sheet.width - MARGIN / 2.0 < label.bounds().2 {
            label.x = x - 5.0;
            label = label.anchored(Anchor::End);
        }
        sheet.text_on_paper(label);
    }
}

/// Draws a dashed horizontal or vertical line.
fn dashes(sheet: &mut ChartBuilder, from: (f64, f64), to: (f64, f64)) {
    const DASH: f64 = 6.0;
    if from == to {
        return;
    }
    // Paper around the dashes, so that they are seen on marks of any colour.
    sheet.mark(Mark::Line { points: vec![from, to], width: 3.5, colour: Colour::PAPER });
    let length = (to.0 - from.0).abs().max((to.1 - from.1).abs());
    let at = |along: f64| {
        let part = (along / length).min(1.0);
        (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
    };
    let mut along = 0.0;
    while along < length {
        let points = vec![at(along), at(along + DASH)];
        sheet.mark(Mark::Line { points, width: 1.5, colour: Colour::AXIS });
        along += DASH * 1.6;
    }
}
