//! Heat maps in characters: a darker cell is a larger value.

use super::grid::{Ink, shorten, shorten_all, width};
use super::sheet::TextChartBuilder;
use crate::heat::Shades;
use crate::numbers::short_amounts;
use crate::plot::Plot;

/// From small to large.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
/// The widest cell.
const CELL_MAX: usize = 8;

/// Draws as many rows and columns as fit; the others are counted.
pub(super) fn draw(mut sheet: TextChartBuilder) -> TextChartBuilder {
    let plot = sheet.plot;
    let names: Vec<_> = plot.series.iter().map(|it| it.name.clone()).collect();
    let names = shorten_all(&names, sheet.grid.width / 4);
    let left = names.iter().map(|it| width(it)).max().unwrap_or(0) + 1;
    let room = sheet.grid.width.saturating_sub(left).max(1);
    let texts = texts(plot);
    let widest = texts.iter().flatten().map(|it| width(it)).max().unwrap_or(0);
    let wanted = if widest == 0 { CELL_MAX } else { (widest + 3).max(4) };
    let cell = (room / plot.x.len()).clamp(1, wanted.min(CELL_MAX.max(widest + 3)));
    let has_values = 0 < widest && widest + 2 < cell;
    let n_columns = plot.x.len().min(room / cell);
    if n_columns < plot.x.len() {
        sheet.note(&format!("{} of {} columns fit here", n_columns, plot.x.len()));
    }
    let shades = Shades::of(plot);
    if let Some(label) = &plot.y_label {
        sheet.axis_label(label, None);
    }
    let (low, high) = shades.ends();
    let key = format!("{} {low} to {} {high}", SHADES[0], SHADES[4]);
    sheet.axis_label(&key, None);
    let room = sheet.rows_left(2).max(2);
    let n_rows = if names.len() <= room { names.len() } else { room - 1 };
    for (row, name) in names.iter().enumerate().take(n_rows) {
        let y = sheet.grid.height();
        sheet.grid.put_before(left - 1, y, name, Ink::Plain);
        for column in 0..n_columns {
            let Some(value) = plot.series[row].values[column] else { continue };
            let (step, n_steps) = shades.step(value);
            let shade = if n_steps < 2 { 4 } else { step * 4 / (n_steps - 1) };
            let start = left + column * cell;
            let n_signs = if has_values { 1 } else { cell.saturating_sub(1).max(1) };
            for x in start..start + n_signs {
                sheet.grid.set(x, y, SHADES[shade], Ink::Series(0));
            }
            if let (true, Some(texts)) = (has_values, &texts) {
                sheet.grid.put(start + 2, y, &texts[row * plot.x.len() + column], Ink::Plain);
            }
        }
    }
    if n_rows < names.len() {
        let rest = format!("⋮ {} rows not shown", names.len() - n_rows);
        sheet.grid.put(left, sheet.grid.height(), &rest, Ink::Faint);
    }
    let (y, mut end) = (sheet.grid.height(), 0);
    for column in 0..n_columns {
        let start = left + column * cell;
        if end <= start {
            let label = shorten(&plot.x.full_label(column), (2 * cell).max(6));
            sheet.grid.put(start, y, &label, Ink::Plain);
            end = start + width(&label) + 1;
        }
    }
    sheet.axis_label(&plot.x_label, Some(left + n_columns * cell / 2));
    sheet
}

/// Returns the values as text, series by series, if short ones are true.
fn texts(plot: &Plot) -> Option<Vec<String>> {
    let all: Vec<_> = plot.series.iter().flat_map(|it| it.values.iter().copied()).collect();
    short_amounts(&all, plot.measure)
}
