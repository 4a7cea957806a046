//! Box plots: a horizontal box for each category, or its values if they are few.

use super::band_scale::stride;
use super::fit;
use super::plot::{Plot, X};
use super::references;
use super::scene::{Mark, PointShape, Scene};
use super::sheet::{
    ChartBuilder, HEIGHT_MAX, LINE, MARGIN, SIZE, Scale, WIDTH, count, level_ticks, widest,
};
use super::ticks::Ticks;
use crate::glyphs::Weight;
use crate::plot::BoxSummary;
use crate::text::{Anchor, TextLabel};
use crate::theme::Colour;

/// The height of a category.
const BAND: f64 = 34.0;
/// The height of a single box's band.
const BAND_MAX: f64 = 90.0;
/// The share of a band that a box takes.
const BOX_SHARE: f64 = 0.56;
/// The longest label of a category.
const LABEL_MAX: f64 = 260.0;
/// The share of the height that the end of a whisker takes.
const CAP_SHARE: f64 = 0.5;

/// Returns the range of all boxes, with their points and what they are compared with.
pub(crate) fn range(plot: &Plot) -> (f64, f64) {
    let ends = plot.boxes.iter().filter_map(BoxSummary::range).flat_map(|it| [it.0, it.1]);
    let references = plot.references.iter().flat_map(|it| [Some(it.from), it.to]).flatten();
    let all = ends.chain(references);
    let (low, high) = all.fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(it), high.max(it)));
    if high < low { (0.0, 1.0) } else { (low, high) }
}

/// Lays out boxes, the first category on top. Their axis need not begin at zero: positions, not lengths,
/// are compared.
pub(crate) fn scene(plot: &Plot) -> Scene {
    let X::Labels(labels) = &plot.x else { return super::bars::lying(plot) };
    let mut sheet = ChartBuilder::new(plot, WIDTH, false, Some(plot.x_label.as_str()));
    if plot.boxes.iter().any(|it| !it.is_strip()) {
        let legend = "Box: the middle half of the values, divided at the median. Whiskers: the other values up to 1.5 boxes away.";
        sheet.hints.push(legend.to_owned());
    }
    let level = plot.y_label.as_deref();
    let foot = sheet.foot_height(level) + LINE + 8.0;
    let band = if labels.len() <= 3 { BAND_MAX - 14.0 * count(labels.len()) } else { BAND };
    let top = sheet.top + references::height_above(plot);
    let band = band.min((HEIGHT_MAX - top - foot) / count(labels.len()));
    let bottom = top + band * count(labels.len());

    let short = fit::shorten_all(labels, SIZE, Weight::Regular, LABEL_MAX);
    let counts: Vec<_> = plot
        .boxes
        .iter()
        .map(|it| format!("n = {}", csv_agent_text::digits::grouped(&it.n.to_string())))
        .collect();
    let left = MARGIN + widest(short.iter()) + 12.0;
    let right = WIDTH - MARGIN - widest(counts.iter()) - 14.0;
    let (low, high) = range(plot);
    let ticks = level_ticks(right - left, |n_steps| {
        Ticks::cover(low, high, n_steps).measured(plot.measure)
    });
    let scale = Scale::new(ticks.range(), (left + 10.0, right - 10.0));
    references::draw_upright_bands(&mut sheet, plot, &scale, (top, bottom));
    sheet.level_axis(&ticks, &scale, (top, bottom));
    sheet.line((left, top), (left, bottom), Colour::AXIS);
    let every = stride(LINE, band);
    for (row, summary) in plot.boxes.iter().enumerate() {
        let middle = top + band * (count(row) + 0.5);
        draw(&mut sheet, summary, &scale, middle, band * BOX_SHARE);
        if row % every != 0 {
            continue;
        }
        let label = TextLabel::new(short[row].clone(), left - 10.0, middle + 4.5, SIZE);
        sheet.text(label.anchored(Anchor::End));
        let n = TextLabel::new(counts[row].clone(), WIDTH - MARGIN, middle + 4.5, SIZE);
        sheet.text(n.anchored(Anchor::End).coloured(Colour::GREY));
    }
    references::draw_upright(&mut sheet, plot, &scale, (top, bottom));
    sheet.finish(bottom + foot, level, (left, right))
}

/// Draws a box with its whiskers and the points beyond them, or all values if they are few.
fn draw(sheet: &mut ChartBuilder, summary: &BoxSummary, scale: &Scale, y: f64, height: f64) {
    if let (Some(ends), false) = (summary.ends, summary.is_strip()) {
        let [low, q1, median, q3, high] = ends.map(|it| scale.at(it));
        let mut line = |from: (f64, f64), to: (f64, f64), width, colour| {
            sheet.mark(Mark::Line { points: vec![from, to], width, colour });
        };
        for (end, edge) in [(low, q1), (high, q3)] {
            line((end, y), (edge, y), 1.5, Colour::AXIS);
            let cap = height * CAP_SHARE / 2.0;
            line((end, y - cap), (end, y + cap), 1.5, Colour::AXIS);
        }
        let width = (q3 - q1).max(2.0);
        let (x, upper) = (q1.min(q3 - width), y - height / 2.0);
        sheet.mark(Mark::Rect { x, y: upper, width, height, colour: Colour::SERIES[0] });
        let over = if width < 8.0 { 4.0 } else { 0.0 };
        let points = vec![(median, upper - over), (median, upper + height + over)];
        let ink = if width < 8.0 { Colour::INK } else { Colour::PAPER };
        sheet.mark(Mark::Line { points, width: 3.0, colour: ink });
    }
    for value in &summary.points {
        let (x, shape, colour) = (scale.at(*value), PointShape::Circle, Colour::SERIES[0]);
        sheet.mark(Mark::Dot { x, y, radius: 3.6, shape, colour, is_hollow: true });
    }
}
