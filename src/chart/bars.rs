//! Vertical and horizontal bars: lengths from zero, side by side or stacked.

use csv_agent_types::chart::ChartType;

use super::band_scale::{AxisLabels, Bands, TURNED_BAND_MIN, counts, level_labels, stride};
use super::fit;
use super::numbers::{amounts, short_amounts};
use super::plot::{Plot, X};
use super::scene::{Mark, Scene};
use super::sheet::{
    ChartBuilder, LINE, MARGIN, SIZE, Scale, WIDTH, colour, count, is_far, level_ticks, widest,
};
use super::ticks::Ticks;
use crate::glyphs::Weight;
use crate::text::{Anchor, TextLabel};
use crate::theme::Colour;

/// The widest bar. A single one should not fill the picture.
const BAR_MAX: f64 = 72.0;
/// The share of a band that its bars take.
const BAR_SHARE: f64 = 0.78;
/// Minimum width of a picture with few vertical bars.
const WIDTH_MIN: f64 = 600.0;
/// Maximum width of a vertical bar's band.
const BAND_MAX: f64 = 130.0;
/// A picture grows until bars have this width...
const BAR_MIN: f64 = 2.0;
/// ...or the picture reaches this length.
pub(crate) const LENGTH_MAX: f64 = 3_400.0;
/// The longest label rotated under a bar; with a longer one, bars are horizontal.
const TURNED_LABEL_MAX: f64 = 120.0;
/// The longest label next to a horizontal bar.
const LYING_LABEL_MAX: f64 = 260.0;
/// The thickness of a horizontal bar with room for its value.
const VALUE_SLOT: f64 = 14.5;
/// The height of a label that touches the one below it.
const LABEL_HEIGHT: f64 = 13.0;
/// Maximum number of grouped bars with printed values; more would turn the chart into a table.
const VALUES_MAX: usize = 48;
/// Minimum visible length of a non-zero value.
const LENGTH_MIN: f64 = 1.0;

/// A bar: from one value to another, in one of the slots of a row's band.
struct Bar {
    band: usize,
    row: usize,
    slot: usize,
    from: f64,
    to: f64,
    series: usize,
}

/// Bars and their bands.
struct Bars {
    all: Vec<Bar>,
    bands: Bands,
    n_slots: usize,
}

impl Bars {
    fn of(plot: &Plot) -> Bars {
        let is_stacked = plot.chart_type == ChartType::StackedColumn;
        let bands = Bands::of(&plot.x);
        let mut bars = Vec::new();
        for (row, band) in bands.of_rows.iter().copied().enumerate() {
            // Parts below zero stack downwards, so that none hides another.
            let (mut above, mut below) = (0.0, 0.0);
            for (series, it) in plot.series.iter().enumerate() {
                let Some(value) = it.values[row] else { continue };
                let (slot, from, to) = if is_stacked {
                    let end = if value < 0.0 { &mut below } else { &mut above };
                    let from = *end;
                    *end += value;
                    (0, from, *end)
                } else {
                    (series, 0.0, value)
                };
                bars.push(Bar { band, row, slot, from, to, series });
            }
        }
        Bars { all: bars, bands, n_slots: if is_stacked { 1 } else { plot.series.len() } }
    }

    fn n_bands(&self) -> usize {
        self.bands.x.len()
    }

    fn ticks(&self, plot: &Plot, n_steps: u32) -> Ticks {
        let low = self.all.iter().fold(0.0_f64, |it, bar| it.min(bar.to));
        let high = self.all.iter().fold(0.0_f64, |it, bar| it.max(bar.to));
        // Bars from zero to zero still need an axis.
        let high = if high <= low { 1.0 } else { high };
        let ticks = if plot.is_whole() {
            Ticks::whole(low, high, n_steps)
        } else {
            Ticks::cover(low, high, n_steps)
        };
        ticks.measured(plot.measure)
    }

    fn is_negative(&self) -> bool {
        self.all.iter().any(|it| it.to < 0.0)
    }

    /// Returns the start and the width of a bar in a band of a given width.
    fn slot(&self, bar: &Bar, band: f64) -> (f64, f64) {
        let n_slots = count(self.n_slots);
        let width = (band * BAR_SHARE / n_slots).min(BAR_MAX);
        let start = (band - width * n_slots) / 2.0 + width * count(bar.slot);
        let gap = if 1 < self.n_slots && 5.0 < width { 1.0 } else { 0.0 };
        (start, width - gap)
    }
}

/// The values printed at the ends of bars: series, rows.
struct BarValues(Vec<Vec<String>>);

impl BarValues {
    /// Returns values in a common format, if `tell` can format them.
    fn of(plot: &Plot, tell: impl Fn(&[Option<f64>]) -> Option<Vec<String>>) -> Option<BarValues> {
        if plot.chart_type == ChartType::StackedColumn && 1 < plot.series.len() {
            return None;
        }
        let all: Vec<_> = plot.series.iter().flat_map(|it| it.values.iter().copied()).collect();
        let texts = tell(&all)?;
        Some(BarValues(texts.chunks(plot.x.len()).map(<[_]>::to_vec).collect()))
    }

    fn widest(&self) -> f64 {
        widest(self.0.iter().flatten())
    }

    fn of_bar(&self, bar: &Bar) -> String {
        self.0[bar.series][bar.row].clone()
    }
}

/// Returns the visible ends of a bar.
fn ends(scale: &Scale, bar: &Bar, is_alone: bool) -> (f64, f64) {
    let (from, to) = (scale.at(bar.from), scale.at(bar.to));
    if !is_alone || bar.to == 0.0 || LENGTH_MIN <= (to - from).abs() {
        return (from, to);
    }
    let away = (scale.at(bar.from + 1.0) - from).signum() * bar.to.signum();
    (from, from + away * LENGTH_MIN)
}

/// Draws a value over the gridline that runs from one of its edges to the other.
fn value(
    sheet: &mut ChartBuilder,
    label: TextLabel,
    ticks: &Ticks,
    scale: &Scale,
    edges: (f64, f64),
) {
    let is_crossed = |it: &f64| edges.0 <= scale.at(*it) && scale.at(*it) <= edges.1;
    if ticks.values.iter().any(is_crossed) && !label.text.is_empty() {
        sheet.text_on_paper(label);
    } else {
        sheet.text(label);
    }
}

/// Returns whether column labels fit neither horizontally nor rotated, so that the bars should be
/// horizontal.
pub(crate) fn labels_need_lines(plot: &Plot) -> bool {
    let X::Labels(labels) = &plot.x else { return false };
    let band = (WIDTH - 2.0 * MARGIN - 60.0) / count(labels.len());
    level_labels(labels, band).is_none()
        && !counts(labels)
        && (band < TURNED_BAND_MIN || TURNED_LABEL_MAX < widest(labels.iter()))
}

/// Returns the width of a picture with vertical bars: narrower for few, wider for many.
fn standing_width(plot: &Plot, bars: &Bars) -> f64 {
    let n_bands = count(bars.n_bands());
    let room = 2.0 * MARGIN + 60.0;
    let wide = n_bands * count(bars.n_slots) * BAR_MIN / BAR_SHARE + room;
    let band = BAND_MAX.max(count(bars.n_slots) * 30.0);
    let narrow = (n_bands * band + room).clamp(WIDTH_MIN, WIDTH);
    let fits = match &plot.x {
        X::Labels(labels) => level_labels(labels, (narrow - room) / n_bands).is_some(),
        X::Numbers(_) | X::Times(_) => true,
    };
    if fits && narrow < WIDTH { narrow } else { wide.clamp(WIDTH, LENGTH_MAX) }
}

/// Lays out vertical bars.
pub(crate) fn standing(plot: &Plot) -> Scene {
    let bars = Bars::of(plot);
    let ticks = bars.ticks(plot, 5);
    let width = standing_width(plot, &bars);
    let mut sheet = ChartBuilder::new(plot, width, 1 < plot.series.len(), plot.y_label.as_deref());
    let level = Some(plot.x_label.as_str());
    let (left, right) = (MARGIN + widest(ticks.labels.iter()) + 8.0, width - MARGIN);
    let band = (right - left) / count(bars.n_bands());
    let below = AxisLabels::bands(&bars.bands.x, band, left);
    let foot = sheet.foot_height(level) + below.height + 6.0;
    let height = sheet.height(foot);
    let bottom = height - foot;
    // Values may be as wide as their bars' slots, or a little wider than a single bar.
    let room = if bars.n_slots == 1 { band - 8.0 } else { band * BAR_SHARE / count(bars.n_slots) };
    let fits = |it: &BarValues| it.widest() <= room;
    let values = BarValues::of(plot, |it| Some(amounts(it, plot.measure)))
        .filter(fits)
        .or_else(|| BarValues::of(plot, |it| short_amounts(it, plot.measure)).filter(fits));
    let (over, under) = match &values {
        Some(_) => (12.0, if bars.is_negative() { 16.0 } else { 0.0 }),
        None => (0.0, 0.0),
    };
    let scale = Scale::new(ticks.range(), (bottom - under, sheet.top + over));
    sheet.upright_axis(&ticks, &scale, (left, right));
    for bar in &bars.all {
        let (start, width) = bars.slot(bar, band);
        let x = left + band * count(bar.band) + start;
        let (from, to) = ends(&scale, bar, bars.n_slots == plot.series.len());
        let (y, height) = (from.min(to), (from - to).abs());
        sheet.mark(Mark::Rect { x, y, width, height, colour: colour(bar.series) });
        if let Some(values) = &values {
            let y = if bar.to < 0.0 { to + 15.0 } else { to - 5.0 };
            let label = TextLabel::new(values.of_bar(bar), x + width / 2.0, y, SIZE);
            let label = label.anchored(Anchor::Middle);
            let (_, top, _, bottom) = label.bounds();
            value(&mut sheet, label, &ticks, &scale, (top, bottom));
        }
    }
    let zero = scale.at(0.0);
    sheet.line((left, zero), (right, zero), Colour::AXIS);
    below.draw(&mut sheet, bottom, false);
    sheet.finish(height, level, (left, right))
}

/// Returns the band height of horizontal bars: the fewer, the higher, with room for each bar.
fn lying_band(bars: &Bars) -> f64 {
    let one = match bars.n_bands() {
        0..=6 => 40.0,
        7..=12 => 32.0,
        13..=30 => 24.0,
        31..=60 => 19.0,
        _ => 16.0,
    };
    (count(bars.n_slots) * VALUE_SLOT / BAR_SHARE).max(one)
}

/// Returns the lines of the labels next to horizontal bars.
fn lying_labels(x: &X, band: f64) -> Vec<Vec<String>> {
    let labels: Vec<_> = (0..x.len()).map(|it| x.full_label(it)).collect();
    let n_lines = if 2.0 * LINE <= band { 2 } else { 1 };
    let short = fit::shorten_all(&labels, SIZE, Weight::Regular, LYING_LABEL_MAX);
    let lines = |(label, short): (&String, String)| {
        fit::wrap(label, SIZE, Weight::Regular, LYING_LABEL_MAX, n_lines)
            .unwrap_or_else(|| vec![short])
    };
    labels.iter().zip(short).map(lines).collect()
}

/// Lays out horizontal bars, the first row on top; the picture is as high as they require.
pub(crate) fn lying(plot: &Plot) -> Scene {
    let bars = Bars::of(plot);
    let mut sheet =
        ChartBuilder::new(plot, WIDTH, 1 < plot.series.len(), Some(plot.x_label.as_str()));
    let level = plot.y_label.as_deref();
    let foot = sheet.foot_height(level) + LINE + 8.0;
    let n_bands = count(bars.n_bands());
    let band = lying_band(&bars).min((LENGTH_MAX - sheet.top - LINE - foot) / n_bands);
    // If there is a second axis above.
    let top = sheet.top + if is_far(band * n_bands) { LINE } else { 0.0 };
    let bottom = top + band * n_bands;

    let labels = lying_labels(&bars.bands.x, band);
    let left = MARGIN + widest(labels.iter().flatten()) + 10.0;
    let n_values = plot.series.len() * plot.x.len();
    let has_room = band * BAR_SHARE / count(bars.n_slots) >= VALUE_SLOT - 1e-9
        || (bars.n_slots == 1 && LABEL_HEIGHT <= band);
    let values = BarValues::of(plot, |it| Some(amounts(it, plot.measure)))
        .filter(|_| has_room && (plot.series.len() == 1 || n_values <= VALUES_MAX));
    let room = values.as_ref().map_or(0.0, |it| it.widest() + 8.0);
    let is_negative = bars.is_negative();
    let is_positive = bars.all.iter().any(|it| 0.0 < it.to) || !is_negative;
    let before = left + if is_negative { room } else { 0.0 };
    let after = if is_positive { room } else { 0.0 };
    let right =
        |ticks: &Ticks| WIDTH - MARGIN - after.max(widest(ticks.labels.last().into_iter()) / 2.0);
    let ticks = level_ticks(WIDTH - MARGIN - room - before, |it| bars.ticks(plot, it.min(6)));
    let right = right(&ticks);
    let scale = Scale::new(ticks.range(), (before, right));
    sheet.level_axis(&ticks, &scale, (top, bottom));
    for bar in &bars.all {
        let (start, height) = bars.slot(bar, band);
        let y = top + band * count(bar.band) + start;
        let (from, to) = ends(&scale, bar, bars.n_slots == plot.series.len());
        let (x, width) = (from.min(to), (from - to).abs());
        sheet.mark(Mark::Rect { x, y, width, height, colour: colour(bar.series) });
        if let Some(values) = &values {
            let y = y + height / 2.0 + 4.5;
            let (x, anchor) =
                if bar.to < 0.0 { (to - 5.0, Anchor::End) } else { (to + 5.0, Anchor::Start) };
            let label = TextLabel::new(values.of_bar(bar), x, y, SIZE).anchored(anchor);
            let (left, _, right, _) = label.bounds();
            value(&mut sheet, label, &ticks, &scale, (left, right));
        }
    }
    let zero = scale.at(0.0);
    sheet.line((zero, top), (zero, bottom), Colour::AXIS);
    for (row, lines) in labels.into_iter().enumerate().step_by(stride(LABEL_HEIGHT, band)) {
        let first = top + band * (count(row) + 0.5) - LINE * (count(lines.len()) - 1.0) / 2.0 + 4.5;
        for (at, line) in lines.into_iter().enumerate() {
            let label = TextLabel::new(line, left - 10.0, first + LINE * count(at), SIZE);
            sheet.text(label.anchored(Anchor::End));
        }
    }
    sheet.finish(bottom + foot, level, (left, right))
}
