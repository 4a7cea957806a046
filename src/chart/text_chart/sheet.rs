//! The common parts of every character chart: title and legend above, the vertical axis, notes below.

use std::ops::RangeInclusive;

use csv_agent_types::chart::ChartType;

use super::grid::{CharGrid, Depth, Ink, shorten, shorten_all, width, wrap};
use crate::numbers::log10;
use crate::plot::Plot;
use crate::sheet::count;
use crate::text::to_pixel;
use crate::ticks::Ticks;

/// Maximum lines of a title, and of a note.
const LINES_MAX: usize = 2;
/// Maximum lines of a legend; the remaining series are counted.
const LEGEND_LINES_MAX: usize = 5;
/// Minimum rows of a useful plot.
const PLOT_ROWS_MIN: usize = 4;
/// Rows between two ticks.
const TICK_ROWS: RangeInclusive<usize> = 2..=4;
/// Approximate maximum number of steps of an axis.
const STEPS_MAX: u32 = 6;

/// A chart being built.
pub(super) struct TextChartBuilder<'a> {
    /// The content.
    pub plot: &'a Plot,
    /// The cells; initially title and legend.
    pub grid: CharGrid,
    /// Maximum rows.
    height: usize,
    notes: Vec<String>,
    /// Columns kept free to the right of an area.
    pub margin: usize,
}

impl<'a> TextChartBuilder<'a> {
    /// Starts a sheet with the title.
    pub(super) fn new(plot: &'a Plot, width: usize, height: usize) -> TextChartBuilder<'a> {
        let mut grid = CharGrid::new(width);
        if let Some(title) = &plot.title {
            for line in wrap(title, width, LINES_MAX) {
                grid.put(0, grid.height(), &line, Ink::Strong);
            }
        }
        let mut sheet = TextChartBuilder { plot, grid, height, notes: Vec::new(), margin: 0 };
        let references: Vec<_> = plot.references.iter().map(|it| it.text(plot.measure)).collect();
        if !references.is_empty() {
            let text = format!("┄ {}", references.join("; "));
            sheet.notes.extend(wrap(&text, width, LINES_MAX));
        }
        sheet.notes.extend(wrap(&plot.notes.join(" "), width, LINES_MAX));
        sheet
    }

    /// Writes the legend of series and colours.
    pub(super) fn legend(&mut self) {
        if self.plot.series.len() < 2 {
            return;
        }
        let key = match self.plot.chart_type {
            ChartType::Line => '━',
            ChartType::Scatter => '•',
            _ => '■',
        };
        let (mut x, mut y, n_series) = (0, self.grid.height(), self.plot.series.len());
        let first = y;
        let names: Vec<_> = self.plot.series.iter().map(|it| it.name.clone()).collect();
        for (at, name) in shorten_all(&names, self.grid.width / 2 - 4).iter().enumerate() {
            let wanted = 2 + width(name);
            if 0 < x && self.grid.width < x + wanted {
                (x, y) = (0, y + 1);
            }
            let is_last_line = y + 1 == first + LEGEND_LINES_MAX;
            let rest = format!("+ {} more", n_series - at);
            if is_last_line && at + 1 < n_series && self.grid.width < x + wanted + 3 + rest.len() {
                self.grid.put(x, y, &rest, Ink::Faint);
                return;
            }
            self.grid.set(x, y, key, Ink::Series(at));
            self.grid.put(x + 2, y, name, Ink::Plain);
            x += wanted + 3;
        }
    }

    /// Adds a note below, on what the drawing cannot show.
    pub(super) fn note(&mut self, text: &str) {
        self.notes.extend(wrap(text, self.grid.width, LINES_MAX));
    }

    /// Returns how many rows are left for a plot with `n_foot` rows of labels below it.
    pub(super) fn rows_left(&self, n_foot: usize) -> usize {
        let used = self.grid.height() + n_foot + self.notes.len();
        self.height.saturating_sub(used).max(PLOT_ROWS_MIN)
    }

    /// Writes an axis label on its own line.
    pub(super) fn axis_label(&mut self, text: &str, middle: Option<usize>) {
        let y = self.grid.height();
        let text = shorten(text, self.grid.width);
        let x = middle.map_or(0, |it| it.saturating_sub(width(&text) / 2));
        let x = x.min(self.grid.width - width(&text));
        self.grid.put(x, y, &text, Ink::Faint);
    }

    /// Returns the lines, with the notes below.
    pub(super) fn text(mut self, depth: Depth) -> String {
        for note in std::mem::take(&mut self.notes) {
            self.grid.put(0, self.grid.height(), &note, Ink::Faint);
        }
        self.grid.text(depth)
    }
}

/// The vertical axis and the area to its right.
///
/// A tick is at the lower edge of its row, where bars end; the topmost is on its own row above the
/// area.
pub(super) struct Area {
    /// Ends of the axis.
    pub range: (f64, f64),
    /// Whether equal factors have equal heights.
    is_log: bool,
    /// The first column.
    pub left: usize,
    /// Columns.
    pub width: usize,
    /// The row of the topmost tick, above the first row of the area.
    pub top: usize,
    /// Rows.
    pub height: usize,
}

impl Area {
    /// Returns the number of columns that an area would have.
    pub(super) fn width(sheet: &TextChartBuilder, range: (f64, f64), n_foot: usize) -> usize {
        let rows = sheet.rows_left(n_foot).saturating_sub(1);
        let used = labels_width(&ticks(range, rows, sheet.plot).0) + 1 + sheet.margin;
        sheet.grid.width.saturating_sub(used).max(1)
    }

    /// Draws the axis, with as many rows as leave `n_foot` below.
    pub(super) fn draw(sheet: &mut TextChartBuilder, range: (f64, f64), n_foot: usize) -> Area {
        let rows = sheet.rows_left(n_foot).saturating_sub(1);
        let (ticks, height) = ticks(range, rows, sheet.plot);
        let left = labels_width(&ticks) + 1;
        let top = sheet.grid.height();
        let width = sheet.grid.width.saturating_sub(left + sheet.margin).max(1);
        let is_log = sheet.plot.is_log.1;
        let area = Area { range: ticks.range(), is_log, left, width, top, height };
        let n_steps = ticks.values.len() - 1;
        for (at, label) in ticks.labels.iter().enumerate() {
            let y = top + height - at * (height / n_steps);
            sheet.grid.put_before(left - 1, y, label, Ink::Faint);
            for x in left..left + width {
                sheet.grid.set(x, y, ' ', Ink::Ruled);
            }
        }
        area
    }

    /// Draws the values to compare with, behind the marks.
    pub(super) fn draw_references(&self, sheet: &mut TextChartBuilder) {
        let plot = sheet.plot;
        for value in plot.references.iter().flat_map(|it| [Some(it.from), it.to]).flatten() {
            let y = self.row(value).clamp(self.top + 1, self.top + self.height);
            for x in self.left..self.left + self.width {
                sheet.grid.set(x, y, '┄', Ink::Faint);
            }
        }
    }

    /// Returns the height of a value above the lower edge, as a share of the area's height.
    pub(super) fn share(&self, value: f64) -> f64 {
        if self.is_log {
            let (low, high) = (log10(self.range.0), log10(self.range.1));
            return (log10(value) - low) / (high - low);
        }
        // Halved, because the range may exceed the largest float.
        (value / 2.0 - self.range.0 / 2.0) / (self.range.1 / 2.0 - self.range.0 / 2.0)
    }

    /// Returns the row whose lower edge is at a value.
    pub(super) fn row(&self, value: f64) -> usize {
        self.top + self.height - whole(self.share(value) * count(self.height)).min(self.height)
    }

    /// Returns the row below the area.
    pub(super) fn bottom(&self) -> usize {
        self.top + self.height + 1
    }
}

fn labels_width(ticks: &Ticks) -> usize {
    ticks.labels.iter().map(|it| width(it)).max().unwrap_or(0)
}

/// Returns ticks that cover a range, and the rows of an area in which all steps have the same number of
/// rows.
fn ticks((low, high): (f64, f64), rows: usize, plot: &Plot) -> (Ticks, usize) {
    let cover = |n_steps: u32| {
        if plot.is_log.1 {
            return Ticks::decades(low, high, n_steps, plot.measure);
        }
        Ticks::cover(low, high, n_steps).measured(plot.measure)
    };
    let all = (1..=STEPS_MAX).map(|it| {
        let ticks = cover(it);
        let n_steps = ticks.values.len() - 1;
        let height = n_steps * (rows / n_steps).max(1);
        (ticks, height)
    });
    // Of those with room between their ticks, the one that uses most of the rows for the values.
    let used = |(ticks, height): &(Ticks, usize)| {
        let (first, last) = ticks.range();
        count(*height) * (high / 2.0 - low / 2.0) / (last / 2.0 - first / 2.0)
    };
    let fits = all.filter(|it| TICK_ROWS.contains(&(it.1 / (it.0.values.len() - 1))));
    let found = fits.max_by(|a, b| used(a).total_cmp(&used(b)));
    found.unwrap_or_else(|| {
        let ticks = cover(1);
        let n_steps = ticks.values.len() - 1;
        (ticks, n_steps * (rows / n_steps).max(1))
    })
}

/// Rounds to whole cells, dots or eighths.
pub(super) fn whole(value: f64) -> usize {
    usize::try_from(to_pixel(value)).unwrap_or(0)
}
