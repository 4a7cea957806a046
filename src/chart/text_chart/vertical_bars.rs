//! Vertical character bars.

use std::ops::Range;

use csv_agent_types::chart::ChartType;

use super::grid::{Depth, Ink, width, wrap};
use super::horizontal_bars;
use super::sheet::{Area, TextChartBuilder};
use super::strip::{self, Strip, UPWARDS};
use crate::plot::{Plot, X};
use crate::time;

/// The widest bar. A single one should not fill the chart.
const BAR_MAX: usize = 8;
/// Maximum lines of a label under a column.
const LABEL_LINES_MAX: usize = 2;
/// Columns between adjacent labels.
const LABEL_GAP: usize = 2;

/// Whether columns fit.
pub(super) enum BarFit {
    /// With this number of rows per column.
    Standing(usize),
    /// Horizontal bars have room for the labels.
    Lying,
    /// There are too many bars.
    Neither,
}

fn n_slots(plot: &Plot) -> usize {
    if strip::is_stacked(plot) { 1 } else { plot.series.len() }
}

/// Returns how the bars of a plot fit its sheet.
pub(super) fn fit(sheet: &TextChartBuilder) -> BarFit {
    let plot = sheet.plot;
    let (n_rows, n_slots) = (plot.x.len(), n_slots(plot));
    let is_named = matches!(plot.x, X::Labels(_));
    // Tick labels at another height may be slightly wider.
    let room = Area::width(sheet, strip::range(plot, 1), 4).saturating_sub(2);
    let wanted = n_rows * if n_slots == 1 { 1 } else { n_slots + 1 };
    if room < wanted {
        return match (n_slots, is_named) {
            (1, false) => BarFit::Standing(n_rows.div_ceil(room)),
            (_, true) => BarFit::Lying,
            (_, false) => BarFit::Neither,
        };
    }
    let labels: Vec<_> = (0..n_rows).map(|it| plot.x.full_label(it)).collect();
    if is_named
        && level(&labels, room / n_rows).is_none()
        && n_rows <= horizontal_bars::rows_max(sheet)
    {
        return BarFit::Lying;
    }
    BarFit::Standing(1)
}

/// Returns the lines of each label if all fit their bands.
fn level(labels: &[String], band: usize) -> Option<Vec<Vec<String>>> {
    let wrapped = labels.iter().map(|label| {
        let lines = wrap(label, band.saturating_sub(1), LABEL_LINES_MAX);
        let whole = label.split_whitespace().collect::<Vec<_>>().join(" ");
        (lines.join(" ") == whole).then_some(lines)
    });
    wrapped.collect()
}

/// The labels under the bands: the band, the lines.
type BandLabels = Vec<(usize, Vec<String>)>;

/// Returns the labels that fit, and the interval in bands between them.
fn band_labels(x: &X, groups: &[Range<usize>], band: usize) -> (BandLabels, usize) {
    let firsts = groups.iter().map(|it| it.start);
    if let X::Times(times) = x {
        let unit = x.unit();
        let sample = if unit < time::Unit::Minute { "30 Sep" } else { "30 Sep 2024" };
        let stride = (width(sample) + LABEL_GAP).div_ceil(band);
        let mut before = None;
        let labels = firsts.enumerate().step_by(stride).filter_map(|(at, row)| {
            let (upper, lower) = time::label(times[row]?, before.replace(times[row]?), unit);
            Some((at, vec![upper, lower]))
        });
        return (labels.collect(), stride);
    }
    let labels: Vec<_> = firsts.map(|it| x.full_label(it)).collect();
    if let Some(lines) = level(&labels, band) {
        return (lines.into_iter().enumerate().collect(), 1);
    }
    let widest = labels.iter().map(|it| width(it)).max().unwrap_or(0);
    let stride = (widest + LABEL_GAP).div_ceil(band);
    let labels = labels.into_iter().map(|it| vec![it]).enumerate().step_by(stride);
    (labels.collect(), stride)
}

/// Draws columns of `n_merged` rows each.
pub(super) fn draw(mut sheet: TextChartBuilder, n_merged: usize, depth: Depth) -> TextChartBuilder {
    let plot = sheet.plot;
    let groups = strip::groups(plot, n_merged);
    if let Some(label) = &plot.y_label {
        sheet.axis_label(label, None);
    }
    let (low, high) = strip::range(plot, n_merged);
    let room = Area::width(&sheet, (low, high), 4);
    let (_, stride) = band_labels(&plot.x, &groups, room / groups.len());
    if 1 < n_merged {
        sheet.note(&format!(
            "each bar is the mean of {n_merged} rows; the chart's files show all rows"
        ));
    } else if 1 < stride && matches!(plot.x, X::Labels(_)) {
        sheet.note(&format!("one in {stride} labels is shown"));
    }
    let bars: Vec<_> = groups.iter().map(|it| strip::bars(plot, it.clone())).collect();
    let values: Vec<_> = bars.iter().map(|it| strip::amount(&it[0], plot.measure)).collect();
    let band = room / groups.len();
    let has_values =
        n_slots(plot) == 1 && n_merged == 1 && values.iter().all(|it| width(it) < band);
    // The lowest value is written under its bar.
    let n_below = usize::from(has_values && low < 0.0);
    let (labels, _) = band_labels(&plot.x, &groups, band);
    let n_lines = labels.iter().map(|it| it.1.len()).max().unwrap_or(0);
    let area = Area::draw(&mut sheet, (low, high), n_below + n_lines + 1);
    let band = (area.width / groups.len()).max(1);
    let start = area.left + (area.width - band * groups.len().min(area.width / band)) / 2;
    let n_slots = n_slots(plot);
    let is_joined = plot.chart_type == ChartType::Histogram;
    if !is_joined {
        area.draw_references(&mut sheet);
    }
    let gap = if band == 1 || is_joined { 0 } else { (band / 4).max(1) };
    let bar_max = if is_joined { band } else { BAR_MAX };
    let bar_width = (band.saturating_sub(gap) / n_slots).clamp(1, bar_max);
    let indent = band.saturating_sub(bar_width * n_slots) / 2;
    for (at, bars) in bars.iter().enumerate() {
        for (slot, parts) in bars.iter().enumerate() {
            let left = start + band * at + indent + slot * bar_width;
            let strip = Strip::new(area.height, parts, |it| area.share(it));
            let (mut highest, mut lowest) = (area.row(0.0), area.row(0.0));
            for (cell, char, ink) in strip.cells(&UPWARDS, '▀', depth != Depth::Monochrome) {
                let y = area.top + area.height - cell;
                (highest, lowest) = (highest.min(y - 1), lowest.max(y));
                for x in left..left + bar_width {
                    sheet.grid.set(x, y, char, ink);
                }
            }
            if has_values {
                let is_below = parts.first().is_some_and(|it| it.1 < 0.0);
                let y = if is_below { lowest + 1 } else { highest };
                let middle = left + bar_width / 2;
                let label = &values[at];
                let x = middle.saturating_sub(width(label) / 2);
                sheet.grid.put(x, y, label, Ink::Plain);
            }
        }
    }
    for (at, lines) in labels {
        let middle = start + band * at + indent + bar_width * n_slots / 2;
        for (line, label) in lines.iter().enumerate() {
            let x = middle.saturating_sub(width(label) / 2);
            let x = x.min(sheet.grid.width.saturating_sub(width(label)));
            sheet.grid.put(x, area.bottom() + n_below + line, label, Ink::Plain);
        }
    }
    sheet.axis_label(&plot.x_label, Some(area.left + area.width / 2));
    sheet
}
