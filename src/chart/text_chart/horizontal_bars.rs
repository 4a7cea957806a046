//! Horizontal character bars, each with its label before it and its value after it; one per line, in as
//! many panels as fit the terminal.

use super::grid::{Depth, Ink, shorten, shorten_all, width};
use super::sheet::{TextChartBuilder, whole};
use super::strip::{self, BarSegment, RIGHTWARDS, Strip};
use crate::sheet::count;
use crate::ticks::Ticks;

/// Minimum terminal columns of a panel.
const PANEL_MIN: usize = 38;
/// Minimum columns of bars for their lengths to be informative.
const BARS_MIN: usize = 8;
/// Columns between two panels.
const PANEL_GAP: usize = 3;
/// Lines between the rows of several series.
const ROW_GAP: usize = 1;

/// How rows are laid out.
struct Layout {
    /// Lines of a row.
    n_lines: usize,
    /// Empty lines between rows.
    gap: usize,
    /// Rows of a panel.
    per_panel: usize,
    n_panels: usize,
    /// Whether the values of a row are dots on one line.
    has_dots: bool,
}

impl Layout {
    fn of(sheet: &TextChartBuilder) -> Layout {
        let plot = sheet.plot;
        let n_rows = plot.x.len();
        let n_slots = if strip::is_stacked(plot) { 1 } else { plot.series.len() };
        // A line of labels is above, and one of ticks is below dots.
        let room = sheet.rows_left(1);
        let panels_max = ((sheet.grid.width + PANEL_GAP) / (PANEL_MIN + PANEL_GAP)).max(1);
        let layout = |n_lines: usize, gap: usize, has_dots: bool| {
            let room = room - usize::from(has_dots);
            let rows = ((room + gap) / (n_lines + gap)).max(1);
            let n_panels = n_rows.div_ceil(rows).clamp(1, panels_max);
            let per_panel = rows.min(n_rows.div_ceil(n_panels));
            Layout { n_lines, gap, per_panel, n_panels, has_dots }
        };
        if n_slots == 1 {
            return layout(1, 0, false);
        }
        let all = [layout(n_slots, ROW_GAP, false), layout(n_slots, 0, false)];
        let fits = all.into_iter().find(|it| n_rows <= it.capacity());
        fits.unwrap_or_else(|| layout(1, 0, true))
    }

    fn capacity(&self) -> usize {
        self.per_panel * self.n_panels
    }
}

/// Returns how many rows fit a sheet.
pub(super) fn rows_max(sheet: &TextChartBuilder) -> usize {
    Layout::of(sheet).capacity()
}

/// Draws bars, or dots where the bars of several series would not fit.
pub(super) fn draw(mut sheet: TextChartBuilder, depth: Depth) -> TextChartBuilder {
    let layout = Layout::of(&sheet);
    let n_rows = sheet.plot.x.len();
    let n_shown = if n_rows <= layout.capacity() { n_rows } else { layout.capacity() - 1 };
    // The beginning is most informative; the end shows the outcome.
    let n_tail = if n_shown < n_rows { n_shown / 4 } else { 0 };
    let gap = (n_shown < n_rows).then_some(None);
    let entries =
        (0..n_shown - n_tail).map(Some).chain(gap).chain((n_rows - n_tail..n_rows).map(Some));
    let entries: Vec<_> = entries.collect();
    let panel = Panel::of(&sheet, &layout);
    let top = sheet.grid.height();
    for (at, rows) in entries.chunks(layout.per_panel).enumerate() {
        let left = at * (panel.width + PANEL_GAP);
        panel.head(&mut sheet, left, top);
        for (line, row) in rows.iter().enumerate() {
            let y = top + 1 + line * (layout.n_lines + layout.gap);
            match row {
                None => {
                    let rows = csv_agent_text::digits::count((n_rows - n_shown) as u64, "row");
                    let text = format!("⋮ {rows} not shown");
                    let text = shorten(&text, panel.width);
                    let x = panel.axis.min(panel.width - width(&text));
                    sheet.grid.put(left + x, y, &text, Ink::Faint);
                }
                Some(row) if layout.has_dots => panel.dots(&mut sheet, *row, (left, y)),
                Some(row) => panel.bars(&mut sheet, *row, (left, y), depth),
            }
        }
        if layout.has_dots {
            panel.foot(&mut sheet, left, top + 1 + layout.per_panel);
        }
    }
    sheet
}

/// A panel: labels, the line that bars start from, bars, and values at their ends.
struct Panel {
    width: usize,
    /// The column of the zero line.
    axis: usize,
    /// Columns to its left and right that bars may fill.
    below: usize,
    above: usize,
    /// Whether the values of negative bars are also to its right.
    has_all_behind: bool,
    /// Width of a label, in columns.
    label: usize,
    /// One per row.
    labels: Vec<String>,
    ends: (f64, f64),
    ticks: Option<Ticks>,
}

impl Panel {
    fn of(sheet: &TextChartBuilder, layout: &Layout) -> Panel {
        let plot = sheet.plot;
        let gaps = PANEL_GAP * (layout.n_panels - 1);
        let panel_width = (sheet.grid.width - gaps) / layout.n_panels;
        let labels: Vec<_> = (0..plot.x.len()).map(|it| plot.x.full_label(it)).collect();
        let labels = shorten_all(&labels, panel_width * 2 / 5);
        let label = labels.iter().map(|it| width(it)).max().unwrap_or(0);
        let mut ends = strip::range(plot, 1);
        let mut ticks = None;
        let (mut before, mut behind) = (0, 0);
        if layout.has_dots {
            let covering = Ticks::cover(ends.0, ends.1, 4).measured(plot.measure);
            ends = covering.range();
            behind = covering.labels.last().map_or(0, |it| width(it) / 2);
            ticks = Some(covering);
        } else {
            for parts in (0..plot.x.len()).flat_map(|it| strip::bars(plot, it..it + 1)) {
                let room = 1 + width(&strip::amount(&parts, plot.measure));
                let is_below = parts.first().is_some_and(|it| it.1 < 0.0);
                let side = if is_below { &mut before } else { &mut behind };
                *side = room.max(*side);
            }
        }
        let mut room = panel_width.saturating_sub(label + 2 + before + behind);
        let has_all_behind = room < BARS_MIN;
        if has_all_behind {
            behind = behind.max(before);
            before = 0;
            room = panel_width.saturating_sub(label + 2 + behind);
        }
        let below = whole(count(room) * (-ends.0 / 2.0) / (ends.1 / 2.0 - ends.0 / 2.0));
        Panel {
            width: panel_width,
            axis: label + 1 + before + below,
            below,
            above: room - below,
            has_all_behind,
            label,
            labels,
            ends,
            ticks,
        }
    }

    /// Writes the headings of the labels and the bars.
    fn head(&self, sheet: &mut TextChartBuilder, left: usize, y: usize) {
        let plot = sheet.plot;
        let label = shorten(&plot.x_label, self.label.max(self.width / 2 - 1));
        let end = self.label.max(width(&label));
        sheet.grid.put_before(left + end, y, &label, Ink::Faint);
        if let Some(label) = &plot.y_label {
            let x = (left + self.axis + 1).max(left + end + 2);
            let room = (left + self.width).saturating_sub(x);
            sheet.grid.put(x, y, &shorten(label, room), Ink::Faint);
        }
    }

    fn label(&self, sheet: &mut TextChartBuilder, row: usize, (left, y): (usize, usize)) {
        sheet.grid.put_before(left + self.label, y, &self.labels[row], Ink::Plain);
    }

    fn bars(
        &self,
        sheet: &mut TextChartBuilder,
        row: usize,
        (left, y): (usize, usize),
        depth: Depth,
    ) {
        self.label(sheet, row, (left, y));
        for (line, parts) in strip::bars(sheet.plot, row..row + 1).iter().enumerate() {
            let (y, axis) = (y + line, left + self.axis);
            sheet.grid.set(axis, y, '│', Ink::Faint);
            let is_below = |it: &&BarSegment| it.1 < it.0;
            let lower: Vec<_> = parts.iter().filter(is_below).copied().collect();
            let upper: Vec<_> = parts.iter().filter(|it| !is_below(it)).copied().collect();
            let (low, high) = self.ends;
            let sides = [
                Strip::new(self.below, &lower, |it| 1.0 - if low < 0.0 { it / low } else { 0.0 }),
                Strip::new(self.above, &upper, |it| if 0.0 < high { it / high } else { 0.0 }),
            ];
            let (mut first, mut last) = (axis, axis);
            for (strip, start) in sides.iter().zip([axis - self.below, axis + 1]) {
                for (at, char, ink) in strip.cells(&RIGHTWARDS, '▐', depth != Depth::Monochrome) {
                    sheet.grid.set(start + at, y, char, ink);
                    (first, last) = (first.min(start + at), last.max(start + at));
                }
            }
            let value = strip::amount(parts, sheet.plot.measure);
            if !parts.is_empty() && upper.is_empty() && !self.has_all_behind {
                sheet.grid.put_before(first.saturating_sub(1), y, &value, Ink::Plain);
            } else {
                let ink = if parts.is_empty() { Ink::Faint } else { Ink::Plain };
                sheet.grid.put(last + 2, y, &value, ink);
            }
        }
    }

    fn column(&self, value: f64) -> usize {
        let (low, high) = self.ends;
        let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        self.axis - self.below + whole(share * count(self.below + self.above))
    }

    /// Writes a row as one dot per series, on a line from its label to the last dot.
    fn dots(&self, sheet: &mut TextChartBuilder, row: usize, (left, y): (usize, usize)) {
        self.label(sheet, row, (left, y));
        let plot = sheet.plot;
        let values = plot.series.iter().map(|it| it.values[row]).enumerate();
        let dots = values.filter_map(|(at, value)| Some((at, left + self.column(value?))));
        let dots: Vec<_> = dots.collect();
        let ends = dots.iter().map(|it| it.1);
        let axis = left + self.axis;
        let (first, last) = (ends.clone().min(), ends.max());
        for x in first.unwrap_or(axis).min(axis)..=last.unwrap_or(axis).max(axis) {
            sheet.grid.set(x, y, if x == axis { '│' } else { '┈' }, Ink::Faint);
        }
        for (series, x) in dots {
            sheet.grid.set(x, y, '●', Ink::Series(series));
        }
    }

    /// Writes the axis values under dots.
    fn foot(&self, sheet: &mut TextChartBuilder, left: usize, y: usize) {
        let Some(ticks) = &self.ticks else { return };
        let mut end = 0;
        for (value, label) in ticks.values.iter().zip(&ticks.labels) {
            let x = (left + self.column(*value)).saturating_sub(width(label) / 2);
            if end <= x {
                sheet.grid.put(x, y, label, Ink::Faint);
                end = x + width(label) + 1;
            }
        }
    }
}
