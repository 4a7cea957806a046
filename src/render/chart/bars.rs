//! Bars that stand and bars that lie: lengths from zero, side by side or on top of each other.

use super::plot::{Plot, X};
use super::scene::{Anchor, Colour, Label, Mark, Scene, Weight};
use super::sheet::{HEIGHT, LINE, MARGIN, SIZE, Scale, Sheet, WIDTH, colour, count, widest};
use super::text;
use super::ticks::{Ticks, amount};
use super::time;
use crate::chart::ChartType;

/// The widest bar. One alone should not fill the picture.
const BAR_MAX: f64 = 56.0;
/// Of a band, the share that its bars take.
const BAR_SHARE: f64 = 0.78;
/// Rows up to which bars carry their values.
const VALUES_MAX: usize = 40;
/// A picture grows until bars are this wide...
const BAR_MIN: f64 = 2.0;
/// ...or it is this long.
const LENGTH_MAX: f64 = 3_000.0;
/// The longest label beside a lying bar.
const LYING_LABEL_MAX: f64 = 260.0;
/// The longest label that is turned under a standing bar.
const TURNED_LABEL_MAX: f64 = 110.0;
/// Lines of a label under a standing bar.
const LABEL_LINES_MAX: usize = 3;
/// The room that a turned label needs.
const TURNED_BAND_MIN: f64 = 16.0;

/// A bar: from one value to another, in one of the slots of a row's band.
struct Bar {
    row: usize,
    slot: usize,
    from: f64,
    to: f64,
    series: usize,
}

fn is_stacked(plot: &Plot) -> bool {
    plot.chart_type == ChartType::StackedColumn
}

fn n_slots(plot: &Plot) -> usize {
    if is_stacked(plot) { 1 } else { plot.series.len() }
}

fn bars(plot: &Plot) -> Vec<Bar> {
    let mut bars = Vec::new();
    for row in 0..plot.x.len() {
        // Parts below zero stack downwards, so that none hides another.
        let (mut above, mut below) = (0.0, 0.0);
        for (series, it) in plot.series.iter().enumerate() {
            let Some(value) = it.values[row] else { continue };
            if is_stacked(plot) {
                let end = if value < 0.0 { &mut below } else { &mut above };
                let from = *end;
                *end += value;
                bars.push(Bar { row, slot: 0, from, to: *end, series });
            } else {
                bars.push(Bar { row, slot: series, from: 0.0, to: value, series });
            }
        }
    }
    bars
}

fn ticks(bars: &[Bar]) -> Ticks {
    let low = bars.iter().fold(0.0_f64, |it, bar| it.min(bar.to));
    let high = bars.iter().fold(0.0_f64, |it, bar| it.max(bar.to));
    // Bars from zero to zero still need an axis.
    if high <= low { Ticks::cover(0.0, 1.0, 5) } else { Ticks::cover(low, high, 5) }
}

/// Returns the values to print at the bars' ends: of one series, when the rows are few.
fn values(plot: &Plot) -> Option<Vec<String>> {
    if 1 < plot.series.len() || VALUES_MAX < plot.x.len() {
        return None;
    }
    Some(plot.series[0].values.iter().map(|it| it.map_or(String::new(), amount)).collect())
}

/// Returns the start and the width of a bar in a band of a given width.
fn slot(plot: &Plot, bar: &Bar, band: f64) -> (f64, f64) {
    let n_slots = count(n_slots(plot));
    let width = (band * BAR_SHARE / n_slots).min(BAR_MAX);
    let start = (band - width * n_slots) / 2.0 + width * count(bar.slot);
    let gap = if 1.0 < n_slots && 5.0 < width { 1.0 } else { 0.0 };
    (start, width - gap)
}

/// Returns whether column labels fit neither level nor turned, so that the bars should lie.
pub fn labels_need_lines(plot: &Plot) -> bool {
    let X::Labels(labels) = &plot.x else { return false };
    let band = (WIDTH - 2.0 * MARGIN - 60.0) / count(labels.len());
    level_labels(labels, band).is_none()
        && (band < TURNED_BAND_MIN || TURNED_LABEL_MAX < widest(labels.iter()))
}

/// Returns the lines of each label when all fit their bands.
pub fn level_labels(labels: &[String], band: f64) -> Option<Vec<Vec<String>>> {
    let room = band - 8.0;
    let wrapped = labels.iter().map(|label| {
        let lines = text::wrap(label, SIZE, Weight::Regular, room, LABEL_LINES_MAX);
        let words: usize = lines.iter().map(|it| it.split_whitespace().count()).sum();
        let is_cut = lines.iter().any(|it| it.ends_with('…')) && !label.ends_with('…');
        (!is_cut && words == label.split_whitespace().count()).then_some(lines)
    });
    wrapped.collect()
}

/// The labels under a row of bands.
struct BandLabels {
    /// Row, lines.
    labels: Vec<(usize, Vec<String>)>,
    is_turned: bool,
    height: f64,
}

fn band_labels(x: &X, band: f64) -> BandLabels {
    let rows = 0..x.len();
    if let X::Times(times) = x {
        let unit = x.unit();
        let sample =
            |it: &time::Unit| if *it < time::Unit::Minute { "30 Sep" } else { "30 Sep 2024" };
        let room = text::width(sample(&unit), SIZE, Weight::Regular) + 12.0;
        let mut before = None;
        let labels = rows.step_by(stride(room, band)).filter_map(|row| {
            let (upper, lower) = time::label(times[row]?, before.replace(times[row]?), unit);
            Some((row, vec![upper, lower]))
        });
        return BandLabels { labels: labels.collect(), is_turned: false, height: 2.0 * LINE };
    }
    let labels: Vec<_> = rows.map(|it| x.full_label(it)).collect();
    if let Some(lines) = level_labels(&labels, band) {
        let n_lines = lines.iter().map(Vec::len).max().unwrap_or(1);
        let labels = lines.into_iter().enumerate().collect();
        return BandLabels { labels, is_turned: false, height: LINE * count(n_lines) };
    }
    let is_turned = matches!(x, X::Labels(_));
    let room = if is_turned { TURNED_BAND_MIN } else { widest(labels.iter()) + 12.0 };
    let height = if is_turned { widest(labels.iter()).min(TURNED_LABEL_MAX) } else { LINE };
    let labels = labels.into_iter().enumerate().step_by(stride(room, band));
    let labels = labels.map(|(row, label)| {
        (row, vec![text::shorten(&label, SIZE, Weight::Regular, TURNED_LABEL_MAX)])
    });
    BandLabels { labels: labels.collect(), is_turned, height }
}

/// Returns every how many bands a label of that size has room.
pub fn stride(room: f64, band: f64) -> usize {
    usize::try_from(text::to_pixel((room / band).ceil())).unwrap_or(1).max(1)
}

/// Lays out bars that stand.
pub fn standing(plot: &Plot) -> Scene {
    let bars = bars(plot);
    let ticks = ticks(&bars);
    let n_rows = count(plot.x.len());
    let wanted = n_rows * count(n_slots(plot)) * BAR_MIN / BAR_SHARE;
    let width = (wanted + 120.0).clamp(WIDTH, LENGTH_MAX);
    let mut sheet = Sheet::new(plot, width, plot.y_label.as_deref());
    let level = Some(plot.x_label.as_str());
    let (left, right) = (MARGIN + widest(ticks.labels.iter()) + 8.0, width - MARGIN);
    let band = (right - left) / n_rows;
    let labels = band_labels(&plot.x, band);
    let bottom = HEIGHT - sheet.foot_height(level) - labels.height - 6.0;
    let values = values(plot).filter(|it| widest(it.iter()) + 4.0 <= band);
    let (above, below) = match &values {
        Some(_) => (12.0, if bars.iter().any(|it| it.to < 0.0) { 16.0 } else { 0.0 }),
        None => (0.0, 0.0),
    };
    let scale = Scale::new(ticks.range(), (bottom - below, sheet.top + above));
    sheet.upright_axis(&ticks, &scale, (left, right));
    for bar in &bars {
        let (start, width) = slot(plot, bar, band);
        let x = left + band * count(bar.row) + start;
        let (from, to) = (scale.at(bar.from), scale.at(bar.to));
        let (y, height) = (from.min(to), (from - to).abs());
        sheet.mark(Mark::Rect { x, y, width, height, colour: colour(bar.series) });
        if let Some(values) = &values {
            let y = if bar.to < 0.0 { to + 15.0 } else { to - 5.0 };
            let label = Label::new(values[bar.row].clone(), x + width / 2.0, y, SIZE);
            sheet.text(label.anchored(Anchor::Middle));
        }
    }
    let zero = scale.at(0.0);
    sheet.line((left, zero), (right, zero), Colour::AXIS);
    for (row, lines) in labels.labels {
        let x = left + band * (count(row) + 0.5);
        for (at, line) in lines.into_iter().enumerate().filter(|it| !it.1.is_empty()) {
            let y = bottom + 6.0 + LINE * count(at);
            let mut label = if labels.is_turned {
                Label::new(line, x + 4.5, y, SIZE).anchored(Anchor::End)
            } else {
                Label::new(line, x, y + 13.0, SIZE).anchored(Anchor::Middle)
            };
            label.is_turned = labels.is_turned;
            sheet.text(label);
        }
    }
    sheet.finish(HEIGHT, level, (left, right))
}

/// Lays out bars that lie, the first row on top; the picture is as high as they need.
pub fn lying(plot: &Plot) -> Scene {
    let bars = bars(plot);
    let ticks = ticks(&bars);
    let n_rows = plot.x.len();
    let mut sheet = Sheet::new(plot, WIDTH, Some(plot.x_label.as_str()));
    let level = plot.y_label.as_deref();
    let foot = sheet.foot_height(level) + LINE + 8.0;
    let top = sheet.top;
    let one = match n_rows {
        0..=8 => 44.0,
        9..=20 => 28.0,
        21..=60 => 20.0,
        _ => 16.0,
    };
    let wanted = (count(n_slots(plot)) * 9.0 / BAR_SHARE).max(one);
    let band = wanted.min((LENGTH_MAX - top - foot) / count(n_rows));
    let bottom = top + band * count(n_rows);

    let label =
        |row| text::shorten(&plot.x.full_label(row), SIZE, Weight::Regular, LYING_LABEL_MAX);
    let labels: Vec<_> = (0..n_rows).map(label).collect();
    let left = MARGIN + widest(labels.iter()) + 10.0;
    let right = WIDTH - MARGIN - widest(ticks.labels.last().into_iter()) / 2.0;
    let values = values(plot);
    let room = values.as_ref().map_or(0.0, |it| widest(it.iter()) + 8.0);
    let is_negative = bars.iter().any(|it| it.to < 0.0);
    let is_positive = bars.iter().any(|it| 0.0 < it.to) || !is_negative;
    let ends = (
        if is_negative { left + room } else { left },
        if is_positive { right - room } else { right },
    );
    let scale = Scale::new(ticks.range(), ends);
    for (value, label) in ticks.values.iter().zip(&ticks.labels) {
        let x = scale.at(*value);
        sheet.line((x, top), (x, bottom), Colour::GRID);
        let label = Label::new(label.clone(), x, bottom + 6.0 + 13.0, SIZE);
        sheet.text(label.anchored(Anchor::Middle).coloured(Colour::GREY));
    }
    for bar in &bars {
        let (start, height) = slot(plot, bar, band);
        let y = top + band * count(bar.row) + start;
        let (from, to) = (scale.at(bar.from), scale.at(bar.to));
        let (x, width) = (from.min(to), (from - to).abs());
        sheet.mark(Mark::Rect { x, y, width, height, colour: colour(bar.series) });
        if let Some(values) = &values {
            let y = y + height / 2.0 + 4.5;
            let (x, anchor) =
                if bar.to < 0.0 { (to - 5.0, Anchor::End) } else { (to + 5.0, Anchor::Start) };
            sheet.text(Label::new(values[bar.row].clone(), x, y, SIZE).anchored(anchor));
        }
    }
    let zero = scale.at(0.0);
    sheet.line((zero, top), (zero, bottom), Colour::AXIS);
    for (row, label) in labels.into_iter().enumerate().step_by(stride(14.0, band)) {
        let y = top + band * (count(row) + 0.5) + 4.5;
        sheet.text(Label::new(label, left - 10.0, y, SIZE).anchored(Anchor::End));
    }
    sheet.finish(bottom + foot, level, (left, right))
}
