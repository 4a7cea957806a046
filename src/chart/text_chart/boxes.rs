//! Box plots in characters: a line for each category.

use super::grid::{Ink, shorten_all, width};
use super::sheet::{TextChartBuilder, whole};
use crate::boxes::range;
use crate::plot::BoxSummary;
use crate::plot::X;
use crate::sheet::count;
use crate::ticks::Ticks;

/// Approximate columns per tick.
const TICK_COLUMNS: usize = 14;

/// Draws as many categories as there are rows; the others are counted.
pub(super) fn draw(mut sheet: TextChartBuilder) -> TextChartBuilder {
    let plot = sheet.plot;
    let labels: Vec<_> = (0..plot.x.len()).map(|it| plot.x.full_label(it)).collect();
    let labels = shorten_all(&labels, sheet.grid.width / 3);
    let left = labels.iter().map(|it| width(it)).max().unwrap_or(0) + 2;
    let n_columns = sheet.grid.width.saturating_sub(left + 1).max(2);
    let (low, high) = range(plot);
    let n_ticks = u32::try_from((n_columns / TICK_COLUMNS).clamp(1, 8)).unwrap_or(1);
    let ticks = Ticks::cover(low, high, n_ticks).measured(plot.measure);
    let (first, last) = ticks.range();
    let column = |value: f64| {
        let share = (value / 2.0 - first / 2.0) / (last / 2.0 - first / 2.0);
        left + whole(share * count(n_columns) - 0.5).min(n_columns - 1)
    };
    sheet.axis_label(&plot.x_label.clone(), None);
    let room = sheet.rows_left(2).max(1);
    let n_shown = if labels.len() <= room { labels.len() } else { room - 1 };
    for (row, label) in labels.iter().enumerate().take(n_shown) {
        let y = sheet.grid.height();
        sheet.grid.put_before(left - 2, y, label, Ink::Plain);
        sheet.grid.set(left - 1, y, '│', Ink::Faint);
        line(&mut sheet, &plot.boxes[row], y, &column);
    }
    if n_shown < labels.len() {
        let boxes = format!("⋮ {} more not shown", labels.len() - n_shown);
        sheet.grid.put(left, sheet.grid.height(), &boxes, Ink::Faint);
    }
    let (y, mut end) = (sheet.grid.height(), 0);
    for (value, label) in ticks.values.iter().zip(&ticks.labels) {
        let x = column(*value).saturating_sub(width(label) / 2);
        let x = x.min(sheet.grid.width.saturating_sub(width(label)));
        if end <= x {
            sheet.grid.put(x, y, label, Ink::Faint);
            end = x + width(label) + 1;
        }
    }
    if let (Some(label), X::Labels(_)) = (&plot.y_label, &plot.x) {
        sheet.axis_label(label, Some(left + n_columns / 2));
    }
    sheet
}

/// Writes a box, its whiskers and the points beyond them; of few values, only these.
fn line(
    sheet: &mut TextChartBuilder,
    summary: &BoxSummary,
    y: usize,
    column: &dyn Fn(f64) -> usize,
) {
    if let (Some(ends), false) = (summary.ends, summary.is_strip()) {
        let [low, q1, median, q3, high] = ends.map(column);
        for x in low..=high {
            let char = if (q1..=q3).contains(&x) { '█' } else { '─' };
            sheet.grid.set(x, y, char, Ink::Series(0));
        }
        if low < q1 {
            sheet.grid.set(low, y, '├', Ink::Series(0));
        }
        if q3 < high {
            sheet.grid.set(high, y, '┤', Ink::Series(0));
        }
        sheet.grid.set(median, y, '┃', Ink::Strong);
    }
    for value in &summary.points {
        sheet.grid.set(column(*value), y, '•', Ink::Series(0));
    }
}
