//! Vertical and horizontal bars: lengths from zero, side by side or stacked.

use csv_agent_types::chart::ChartType;

use super::band_scale::{
    AxisLabels, Bands, TURNED_BAND_MIN, TURNED_SHARE_MAX, counts, level_labels, stride,
};
use super::distribution;
use super::fit;
use super::line_labels::{GAP, SideLabel, beside};
use super::numbers::{amounts, short_amounts};
use super::overlay::Overlaid;
use super::plot::{Plot, PlotSeries, Space, X};
use super::references;
use super::scene::{Mark, Scene};
use super::sheet::{
    ChartBuilder, LINE, MARGIN, SIZE, Scale, WIDTH, count, is_far, level_ticks, widest,
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
/// ...or the picture reaches this width.
pub(crate) const WIDTH_MAX: f64 = 3_400.0;
/// The width of the bands of a histogram with few, and of the bar whose parts are named beside it.
const BIN_MAX: f64 = 80.0;
const WHOLE_MAX: f64 = 150.0;
/// The longest name beside a part.
const PART_NAME_MAX: f64 = 210.0;
/// The longest label rotated under a bar; with a longer one, bars are horizontal.
const TURNED_LABEL_MAX: f64 = 120.0;
/// The longest label next to a horizontal bar.
const LYING_LABEL_MAX: f64 = 260.0;
/// The share of the width that it may take.
const LYING_SHARE_MAX: f64 = 0.4;
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
    /// Whether the value, or the total of a stack, is at its end.
    is_end: bool,
    /// The ends of its error bar.
    ends: Option<(f64, f64)>,
    colour: Colour,
}

impl Bar {
    /// Returns the farther of the ends of the bar and of its error bar.
    fn tip(&self) -> f64 {
        let end = self.ends.map_or(self.to, |it| if self.to < 0.0 { it.0 } else { it.1 });
        if self.to < 0.0 { self.to.min(end) } else { self.to.max(end) }
    }
}

/// Bars and their bands.
struct Bars {
    all: Vec<Bar>,
    bands: Bands,
    n_slots: usize,
    /// Whether the bars of neighbouring bands touch, as in a histogram.
    are_joined: bool,
    /// Whether several series share a bar.
    is_stacked: bool,
    /// Whether there is one bar for all parts.
    is_whole: bool,
}

impl Bars {
    fn of(plot: &Plot) -> Bars {
        let is_stacked = plot.chart_type.is_stacked();
        let bands = Bands::of(&plot.x);
        let mut bars = Vec::new();
        for (row, band) in bands.of_rows.iter().copied().enumerate() {
            // Parts below zero stack downwards, so that none hides another.
            let (mut above, mut below) = (0.0, 0.0);
            for (series, it) in columns(plot).iter().enumerate() {
                let Some(value) = it.values[row] else { continue };
                let (slot, from, to) = if is_stacked {
                    let end = if value < 0.0 { &mut below } else { &mut above };
                    let from = *end;
                    *end += value;
                    if plot.chart_type == ChartType::PercentStackedColumn {
                        // Shares may exceed their whole by a rounding error.
                        *end = end.min(1.0);
                    }
                    (0, from, *end)
                } else {
                    (series, 0.0, value)
                };
                // An empty bin needs no number.
                let is_end = !is_stacked && (to != 0.0 || plot.bins.is_empty());
                let (ends, colour) = (it.ends(row), plot.colour(series, Some(row)));
                bars.push(Bar { band, row, slot, from, to, series, is_end, ends, colour });
            }
            // A stack on one side of zero has its total at its end.
            if is_stacked && (above == 0.0 || below == 0.0) {
                let last = bars.iter_mut().rev().take_while(|it| it.row == row);
                if let Some(last) = last.max_by(|a, b| a.to.abs().total_cmp(&b.to.abs())) {
                    last.is_end = true;
                }
            }
        }
        let n_slots = if is_stacked { 1 } else { columns(plot).len() };
        let are_joined = plot.chart_type == ChartType::Histogram;
        let is_whole = plot.chart_type == ChartType::PercentStackedColumn && plot.x.len() == 1;
        Bars {
            all: bars,
            bands,
            n_slots,
            are_joined,
            is_stacked: is_stacked && 1 < plot.series.len(),
            is_whole,
        }
    }

    fn n_bands(&self) -> usize {
        self.bands.x.len()
    }

    fn ticks(&self, plot: &Plot, n_steps: u32) -> Ticks {
        let is_histogram = plot.chart_type == ChartType::Histogram;
        let references = plot.references.iter().filter(|_| !is_histogram);
        let references = references.flat_map(|it| [Some(it.from), it.to]).flatten();
        let own = self.extent();
        let line = Overlaid::covers(plot, own.1).into_iter().flat_map(|it| [it.0, it.1]);
        let ends = references.chain(plot.beyond()).chain(line);
        let (low, high) = ends.fold(own, |(low, high), it| (low.min(it), high.max(it)));
        // Bars from zero to zero still need an axis.
        let high = if high <= low { 1.0 } else { high };
        let ticks = if plot.is_whole() {
            Ticks::whole(low, high, n_steps)
        } else {
            Ticks::cover(low, high, n_steps)
        };
        ticks.measured(plot.measure)
    }

    /// Returns the range of all bars, which begin at zero.
    fn extent(&self) -> (f64, f64) {
        let ends = self.all.iter().map(|it| it.to);
        ends.fold((0.0, 0.0), |(low, high), it| (low.min(it), high.max(it)))
    }

    fn is_negative(&self) -> bool {
        self.all.iter().any(|it| it.to < 0.0)
    }

    /// Returns the start and the width of a bar in a band of a given width.
    fn slot(&self, bar: &Bar, band: f64) -> (f64, f64) {
        if self.are_joined {
            // A line of paper between bars that touch.
            let gap = if 5.0 < band { 1.0 } else { 0.0 };
            return (gap / 2.0, band - gap);
        }
        let n_slots = count(self.n_slots);
        let width_max = if self.is_whole { WHOLE_MAX } else { BAR_MAX };
        let width = (band * BAR_SHARE / n_slots).min(width_max);
        let start = (band - width * n_slots) / 2.0 + width * count(bar.slot);
        let gap = if 1 < self.n_slots && 5.0 < width { 1.0 } else { 0.0 };
        (start, width - gap)
    }
}

/// The values printed at the ends of bars: series, rows.
struct BarValues(Vec<Vec<String>>);

impl BarValues {
    /// Returns values, or the totals of stacks, in a common format, if `tell` can format them.
    fn of(plot: &Plot, tell: impl Fn(&[Option<f64>]) -> Option<Vec<String>>) -> Option<BarValues> {
        if plot.chart_type == ChartType::PercentStackedColumn || !plot.has_values {
            return None;
        }
        let all: Vec<_> = if plot.chart_type.is_stacked() {
            (0..plot.x.len()).map(|row| plot.total(row)).collect()
        } else {
            columns(plot).iter().flat_map(|it| it.values.iter().copied()).collect()
        };
        let texts = tell(&all)?;
        Some(BarValues(texts.chunks(plot.x.len()).map(<[_]>::to_vec).collect()))
    }

    fn widest(&self) -> f64 {
        widest(self.0.iter().flatten())
    }

    fn of_bar(&self, bar: &Bar) -> String {
        if !bar.is_end {
            return String::new();
        }
        self.0.get(bar.series).or(self.0.first()).map_or(String::new(), |it| it[bar.row].clone())
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

/// Draws a value over the lines that run from one of its edges to the other.
fn value(
    sheet: &mut ChartBuilder,
    label: TextLabel,
    lines: &[f64],
    scale: &Scale,
    edges: (f64, f64),
) {
    let is_crossed = |it: &f64| edges.0 <= scale.at(*it) && scale.at(*it) <= edges.1;
    if lines.iter().any(is_crossed) && !label.text.is_empty() {
        sheet.text_on_paper(label);
    } else {
        sheet.text(label);
    }
}

/// Returns the series that are bars.
fn columns(plot: &Plot) -> &[PlotSeries] {
    &plot.series[..plot.series.len() - usize::from(plot.line.is_some())]
}

/// Returns the range of all bars.
pub(crate) fn extent(plot: &Plot) -> (f64, f64) {
    Bars::of(plot).extent()
}

/// Returns the range that the axis of bars covers.
pub(crate) fn covered(plot: &Plot) -> (f64, f64) {
    Bars::of(plot).ticks(plot, plot.space.steps()).range()
}

/// Returns the width of the labels of the vertical axis.
pub(crate) fn label_width(plot: &Plot) -> f64 {
    widest(Bars::of(plot).ticks(plot, plot.space.steps()).labels.iter())
}

/// Returns whether column labels fit neither horizontally nor rotated, so that the bars should be
/// horizontal.
pub(crate) fn labels_need_lines(plot: &Plot) -> bool {
    let X::Labels(labels) = &plot.x else { return false };
    let space = &plot.space;
    let band = (space.width - 2.0 * MARGIN - 60.0) / count(labels.len());
    let room = TURNED_LABEL_MAX.min(space.height * TURNED_SHARE_MAX);
    plot.line.is_none()
        && level_labels(labels, band).is_none()
        && !counts(labels)
        && (band < TURNED_BAND_MIN || room < widest(labels.iter()))
}

/// Returns the width of a picture with vertical bars: narrower for few, wider for many.
fn standing_width(plot: &Plot, bars: &Bars) -> f64 {
    let n_bands = count(bars.n_bands());
    let room = 2.0 * MARGIN + 60.0;
    if plot.space.is_panel {
        return plot.space.width;
    }
    if bars.are_joined {
        return (n_bands * BIN_MAX + room).clamp(WIDTH_MIN, WIDTH);
    }
    let wide = n_bands * count(bars.n_slots) * BAR_MIN / BAR_SHARE + room;
    let band = BAND_MAX.max(count(bars.n_slots) * 30.0);
    let narrow = (n_bands * band + room).clamp(WIDTH_MIN, WIDTH);
    let fits = match &plot.x {
        X::Labels(labels) => level_labels(labels, (narrow - room) / n_bands).is_some(),
        X::Numbers(_) | X::Times(_) => true,
    };
    if fits && narrow < WIDTH { narrow } else { wide.clamp(WIDTH, WIDTH_MAX) }
}

/// Returns the labels under vertical bars: of the bars, or of the edges between bins.
fn below(plot: &Plot, bars: &Bars, band: f64, left: f64) -> AxisLabels {
    if plot.bins.is_empty() || distribution::is_single(&plot.bins) {
        return AxisLabels::bands(&bars.bands.x, band, left, &plot.space);
    }
    let labels = distribution::edge_labels(&plot.bins);
    let every = stride(widest(labels.iter()) + 8.0, band);
    let labels = labels.into_iter().enumerate().step_by(every);
    AxisLabels::level(labels.map(|(at, label)| (left + band * count(at), vec![label])))
}

/// Returns the scale along the bins of a histogram. A bin of one whole number has it in its middle.
fn bin_scale(plot: &Plot, ends: (f64, f64)) -> Option<Scale> {
    let (first, last) = plot.bins.first().zip(plot.bins.last())?;
    let half = if distribution::is_single(&plot.bins) { 0.5 } else { 0.0 };
    Some(Scale::new((first.from - half, last.to - half), ends))
}

/// Returns the names and shares of the parts of a single bar, to stand beside it.
fn part_names(plot: &Plot, bars: &Bars) -> Option<Vec<String>> {
    let is_whole = plot.chart_type == ChartType::PercentStackedColumn && bars.n_bands() == 1;
    let values: Vec<_> = plot.series.iter().map(|it| it.values[0]).collect();
    let shares = amounts(&values, plot.measure);
    let names: Vec<_> = plot.series.iter().map(|it| it.name.clone()).collect();
    let names = fit::shorten_all(&names, SIZE, Weight::Regular, PART_NAME_MAX);
    let part = |(name, share)| if plot.has_values { format!("{name}  {share}") } else { name };
    let parts = names.into_iter().zip(shares).map(part);
    (is_whole && 1 < plot.series.len() && !plot.space.is_panel).then(|| parts.collect())
}

/// Lays out vertical bars.
pub(crate) fn standing(plot: &Plot) -> Scene {
    let bars = Bars::of(plot);
    let ticks = bars.ticks(plot, plot.space.steps());
    let width = standing_width(plot, &bars);
    let names = part_names(plot, &bars);
    let has_legend = 1 < plot.series.len() && names.is_none();
    let overlay = Overlaid::of(plot);
    let upright = plot.y_label.as_deref().or(overlay.as_ref().map(|_| ""));
    let mut sheet = ChartBuilder::new(plot, width, has_legend, upright);
    let has_label = !bars.is_whole && !plot.space.is_panel;
    let level = has_label.then_some(plot.x_label.as_str());
    let side = match &names {
        Some(names) => widest(names.iter()) + GAP,
        None if bars.are_joined => 0.0,
        None => references::width(plot),
    };
    let side = side + overlay.as_ref().map_or(0.0, Overlaid::width);
    let labels = widest(ticks.labels.iter()).max(plot.space.label_width);
    let (left, right) = (MARGIN + labels + 8.0, width - MARGIN - side);
    let band = (right - left) / count(bars.n_bands());
    let below = below(plot, &bars, band, left);
    let foot = sheet.foot_height(level) + below.height + 6.0;
    if bars.are_joined {
        sheet.top += references::height_above(plot);
    }
    let height = sheet.height(foot);
    let bottom = height - foot;
    // Panels that are compared have values in none, because they rarely fit in all.
    // Values may be as wide as their bars' slots, or a little wider than a single bar.
    let room = if bars.n_slots == 1 { band - 8.0 } else { band * BAR_SHARE / count(bars.n_slots) };
    let fits = |it: &BarValues| it.widest() <= room;
    let values = BarValues::of(plot, |it| Some(amounts(it, plot.measure)))
        .filter(fits)
        .or_else(|| BarValues::of(plot, |it| short_amounts(it, plot.measure)).filter(fits))
        .filter(|_| overlay.is_none() && plot.covers.is_none());
    let (over, under) = match &values {
        Some(_) => (12.0, if bars.is_negative() { 16.0 } else { 0.0 }),
        None => (0.0, 0.0),
    };
    let scale = Scale::new(ticks.range(), (bottom - under, sheet.top + over));
    let (ends, rows) = ((left, right), (sheet.top, bottom));
    let along = bin_scale(plot, ends);
    match &along {
        Some(along) => references::draw_upright_bands(&mut sheet, plot, along, rows),
        None => references::draw_level_bands(&mut sheet, plot, &scale, ends),
    }
    sheet.upright_axis(&ticks, &scale, ends);
    draw_standing(&mut sheet, &bars, (left, band), &scale);
    match &along {
        Some(along) => references::draw_upright(&mut sheet, plot, along, rows),
        None => references::draw_level(&mut sheet, plot, &scale, ends),
    }
    if let Some(values) = &values {
        let lines = lines(plot, &ticks);
        write_standing(&mut sheet, &bars, values, (left, band), (&lines, &scale));
    }
    let zero = scale.at(0.0);
    sheet.line((left, zero), (right, zero), Colour::AXIS);
    let middle = |row: usize| left + band * (count(bars.bands.of_rows[row]) + 0.5);
    if let Some(overlay) = &overlay {
        let rows = (bottom - under, sheet.top + over);
        overlay.draw(&mut sheet, plot, (&scale, rows), (right, &middle));
    }
    // A text is at the bar that has its value.
    sheet.anchor(&scale, |row, value| {
        let bar = bars.all.iter().find(|it| it.row == row && it.to.total_cmp(&value).is_eq());
        let at = |bar: &Bar| {
            let (start, width) = bars.slot(bar, band);
            left + band * count(bar.band) + start + width / 2.0
        };
        Some(bar.map_or_else(|| middle(row), at))
    });
    if let Some(names) = names {
        name_parts(&mut sheet, (plot, &bars), &scale, ends, names);
    } else if along.is_none() {
        references::draw_beside(&mut sheet, plot, &scale, right, rows);
    }
    below.draw(&mut sheet, bottom, false);
    sheet.finish(height, level, (left, right))
}

/// Draws vertical bars.
fn draw_standing(sheet: &mut ChartBuilder, bars: &Bars, (left, band): (f64, f64), scale: &Scale) {
    for bar in &bars.all {
        let (start, width) = bars.slot(bar, band);
        let x = left + band * count(bar.band) + start;
        let (from, to) = ends(scale, bar, !bars.is_stacked);
        let (y, height) = (from.min(to), (from - to).abs());
        sheet.mark(Mark::Rect { x, y, width, height, colour: bar.colour });
        if let Some((low, high)) = bar.ends {
            let x = x + width / 2.0;
            sheet.error_bar((x, scale.at(low)), (x, scale.at(high)), Colour::INK);
        }
    }
}

/// Writes the values of vertical bars.
fn write_standing(
    sheet: &mut ChartBuilder,
    bars: &Bars,
    values: &BarValues,
    (left, band): (f64, f64),
    (lines, scale): (&[f64], &Scale),
) {
    for bar in &bars.all {
        let (start, width) = bars.slot(bar, band);
        let x = left + band * count(bar.band) + start;
        let (_, to) = ends(scale, bar, !bars.is_stacked);
        let to = if bar.ends.is_some() { scale.at(bar.tip()) } else { to };
        let y = if bar.to < 0.0 { to + 15.0 } else { to - 5.0 };
        let label = TextLabel::new(values.of_bar(bar), x + width / 2.0, y, SIZE);
        let label = label.anchored(Anchor::Middle);
        let (_, top, _, bottom) = label.bounds();
        value(sheet, label, lines, scale, (top, bottom));
    }
}

/// Returns the values at which lines cross the area of bars.
fn lines(plot: &Plot, ticks: &Ticks) -> Vec<f64> {
    let references = plot.references.iter().filter(|_| plot.bins.is_empty());
    let references = references.flat_map(|it| [Some(it.from), it.to]).flatten();
    ticks.values.iter().copied().chain(references).collect()
}

fn name_parts(
    sheet: &mut ChartBuilder,
    (plot, bars): (&Plot, &Bars),
    scale: &Scale,
    (left, right): (f64, f64),
    names: Vec<String>,
) {
    let label = |(series, name): (usize, String)| {
        let bar = bars.all.iter().find(|it| it.series == series)?;
        let (start, width) = bars.slot(bar, right - left);
        let end = (left + start + width, scale.at(bar.from / 2.0 + bar.to / 2.0));
        Some(SideLabel { end, lines: vec![name], colour: plot.colour(series, None) })
    };
    let labels: Vec<_> = names.into_iter().enumerate().filter_map(label).collect();
    let ends = (scale.at(1.0), scale.at(0.0));
    // At most ten lines of type beside an area of at least fifteen.
    let is_drawn = beside(sheet, &labels, right, ends, f64::MAX);
    debug_assert!(is_drawn || labels.is_empty());
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
fn lying_labels(x: &X, band: f64, space: &Space) -> Vec<Vec<String>> {
    let labels: Vec<_> = (0..x.len()).map(|it| x.full_label(it)).collect();
    let n_lines = if 2.0 * LINE <= band { 2 } else { 1 };
    let room = LYING_LABEL_MAX.min(space.width * LYING_SHARE_MAX);
    let short = fit::shorten_all(&labels, SIZE, Weight::Regular, room);
    let lines = |(label, short): (&String, String)| {
        fit::wrap(label, SIZE, Weight::Regular, room, n_lines).unwrap_or_else(|| vec![short])
    };
    labels.iter().zip(short).map(lines).collect()
}

/// Lays out horizontal bars, the first row on top; the picture is as high as they require.
pub(crate) fn lying(plot: &Plot) -> Scene {
    let bars = Bars::of(plot);
    let width = plot.space.width;
    let upright = Some(plot.x_label.as_str()).filter(|_| !plot.space.is_panel);
    let mut sheet = ChartBuilder::new(plot, width, 1 < plot.series.len(), upright);
    let level = plot.y_label.as_deref();
    let foot = sheet.foot_height(level) + LINE + 8.0;
    let n_bands = count(bars.n_bands());
    let above = references::height_above(plot);
    let room = plot.space.height_max - sheet.top - above - LINE - foot;
    let band = lying_band(&bars).min(room / n_bands);
    // If there is a second axis above.
    let top = sheet.top + above + if is_far(band * n_bands) { LINE } else { 0.0 };
    let bottom = top + band * n_bands;

    let labels = lying_labels(&bars.bands.x, band, &plot.space);
    let left = MARGIN + widest(labels.iter().flatten()) + 10.0;
    let n_values = plot.series.len() * plot.x.len();
    let has_room = band * BAR_SHARE / count(bars.n_slots) >= VALUE_SLOT - 1e-9
        || (bars.n_slots == 1 && LABEL_HEIGHT <= band);
    let values = BarValues::of(plot, |it| Some(amounts(it, plot.measure)))
        .filter(|_| has_room && (bars.n_slots == 1 || n_values <= VALUES_MAX));
    let room = values.as_ref().map_or(0.0, |it| it.widest() + 8.0);
    let is_negative = bars.is_negative();
    let is_positive = bars.all.iter().any(|it| 0.0 < it.to) || !is_negative;
    let before = left + if is_negative { room } else { 0.0 };
    let after = if is_positive { room } else { 0.0 };
    let right =
        |ticks: &Ticks| width - MARGIN - after.max(widest(ticks.labels.last().into_iter()) / 2.0);
    let ticks = level_ticks(width - MARGIN - room - before, |it| bars.ticks(plot, it.min(6)));
    let right = right(&ticks);
    let scale = Scale::new(ticks.range(), (before, right));
    let rows = (sheet.top + above, bottom);
    references::draw_upright_bands(&mut sheet, plot, &scale, rows);
    sheet.level_axis(&ticks, &scale, (top, bottom));
    for bar in &bars.all {
        let (start, height) = bars.slot(bar, band);
        let y = top + band * count(bar.band) + start;
        let (from, to) = ends(&scale, bar, !bars.is_stacked);
        let (x, width) = (from.min(to), (from - to).abs());
        sheet.mark(Mark::Rect { x, y, width, height, colour: bar.colour });
        if let Some((low, high)) = bar.ends {
            let y = y + height / 2.0;
            sheet.error_bar((scale.at(low), y), (scale.at(high), y), Colour::INK);
        }
    }
    references::draw_upright(&mut sheet, plot, &scale, rows);
    if let Some(values) = &values {
        let lines = lines(plot, &ticks);
        write_lying(&mut sheet, &bars, values, (top, band), (&lines, &scale));
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

/// Writes the values of horizontal bars.
fn write_lying(
    sheet: &mut ChartBuilder,
    bars: &Bars,
    values: &BarValues,
    (top, band): (f64, f64),
    (lines, scale): (&[f64], &Scale),
) {
    for bar in &bars.all {
        let (start, height) = bars.slot(bar, band);
        let y = top + band * count(bar.band) + start + height / 2.0 + 4.5;
        let (_, to) = ends(scale, bar, !bars.is_stacked);
        let to = if bar.ends.is_some() { scale.at(bar.tip()) } else { to };
        let (x, anchor) =
            if bar.to < 0.0 { (to - 5.0, Anchor::End) } else { (to + 5.0, Anchor::Start) };
        let label = TextLabel::new(values.of_bar(bar), x, y, SIZE).anchored(anchor);
        let (left, _, right, _) = label.bounds();
        value(sheet, label, lines, scale, (left, right));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::gallery::chart;
    use crate::gallery_types::with_options;
    use crate::plot::Plot;
    use crate::scene;
    use crate::scene::Mark;
    use csv_agent_types::chart::{Chart, ChartType};
    use csv_agent_types::chart_options::ChartOptions;

    fn texts(chart: &Chart) -> Vec<String> {
        let text = |mark| match mark {
            Mark::Text(label) => Some(label.text),
            _ => None,
        };
        scene(&Plot::of(chart)).marks.into_iter().filter_map(text).collect()
    }

    #[test]
    fn values_are_left_out_on_request() {
        let x = [json!("ash"), json!("elm")];
        for kind in [ChartType::Bar, ChartType::Column, ChartType::PercentStackedColumn] {
            let made = chart(kind, "", "object", &x, &[("n", vec![json!(123), json!(77)])]);
            let has_value = |made: &Chart| {
                texts(made).iter().any(|it| it.ends_with("123") || it.contains("61.5%"))
            };
            assert!(has_value(&made), "{kind:?}: {:?}", texts(&made));
            let options = ChartOptions { value_labels: Some(false), ..ChartOptions::default() };
            assert!(!has_value(&with_options(&made, options)), "{kind:?}");
        }
    }

    #[test]
    fn edges_of_many_bins_are_labelled_at_even_steps() {
        let mut values: Vec<Value> = (0..3_000).map(|it| json!(f64::from(it) * 0.3)).collect();
        values.push(json!(36_500.5));
        let made = chart(ChartType::Histogram, "", "float64", &values, &[("n", values.clone())]);
        let edges: Vec<f64> = texts(&made)
            .iter()
            .filter_map(|it| it.strip_suffix('k').and_then(|it| it.parse().ok()))
            .filter(|it| 4.0 <= *it)
            .collect();
        let steps: Vec<_> = edges.windows(2).map(|it| it[1] - it[0]).collect();
        assert!(
            3 < steps.len() && steps.iter().all(|it| (it - steps[0]).abs() < 1e-9),
            "{edges:?}"
        );
    }
}
