//! Lines and points in braille dots, two by four in a cell.

use std::collections::BTreeMap;

use jiff::civil::DateTime;

use csv_agent_types::chart::ChartType;

use super::grid::{CharGrid, Ink, shorten_all, width};
use super::sheet::{Area, TextChartBuilder, whole};
use crate::areas;
use crate::numbers::{Measure, log10};
use crate::plot::{Plot, X};
use crate::points::upright_range;
use crate::sheet::count;
use crate::ticks::Ticks;
use crate::time;

/// Approximate columns of an axis per tick.
const TICK_COLUMNS: usize = 12;
/// Columns between two labels.
const LABEL_GAP: usize = 2;
/// The longest label of a row.
const LABEL_MAX: usize = 18;
/// The longest name at the end of a line, and the divisor of the width that limits it.
const NAME_MAX: usize = 18;
const NAMES_SHARE: usize = 4;
/// Maximum lines with names at their ends; more names would overlap.
const NAMES_MAX: usize = 6;

/// Returns the columns for names at the ends of lines; zero where a legend is better.
pub(super) fn names_width(sheet: &TextChartBuilder) -> usize {
    let plot = sheet.plot;
    let widest = plot.series.iter().map(|it| width(&it.name)).max().unwrap_or(0);
    let is_line = plot.chart_type == ChartType::Line && plot.range().is_some();
    let fits = widest <= NAME_MAX && widest * NAMES_SHARE <= sheet.grid.width;
    let n_names = 2..=NAMES_MAX;
    if is_line && fits && n_names.contains(&plot.series.len()) { widest + 1 } else { 0 }
}

/// Writes the names of lines next to their last values, moved apart where these are close.
fn names(sheet: &mut TextChartBuilder, area: &Area) {
    let plot = sheet.plot;
    let row = |value: f64| area.row(value).clamp(area.top + 1, area.top + area.height);
    let last = |at: usize| plot.series[at].values.iter().rev().flatten().next().copied();
    let mut names: Vec<_> =
        (0..plot.series.len()).map(|it| (last(it).map_or(area.bottom(), row), it)).collect();
    names.sort_by(|a, b| {
        let value = |it: usize| last(it).unwrap_or(f64::MIN);
        value(b.1).total_cmp(&value(a.1))
    });
    let mut free = area.top;
    for (y, _) in &mut names {
        *y = (*y).max(free);
        free = *y + 1;
    }
    let mut free = area.bottom();
    for (y, _) in names.iter_mut().rev() {
        *y = (*y).min(free.saturating_sub(1));
        free = *y;
    }
    for (y, series) in names {
        let x = area.left + area.width + 1;
        sheet.grid.put(x, y, &plot.series[series].name, Ink::Series(series));
    }
}

/// Draws a line for each series, or its points.
pub(super) fn draw(mut sheet: TextChartBuilder) -> TextChartBuilder {
    let plot = sheet.plot;
    if let Some(label) = &plot.y_label {
        sheet.axis_label(label, None);
    }
    let range = upright_range(plot);
    let room = Area::width(&sheet, range, 4);
    let axis = Axis::of(plot, room);
    if axis.is_named && axis.placed(room, 0, sheet.grid.width).len() < axis.labels.len() {
        sheet.note("some labels do not fit here");
    }
    let n_lines = axis.labels.iter().map(|it| it.1.len()).max().unwrap_or(1);
    let area = Area::draw(&mut sheet, range, 1 + n_lines + 1);
    let axis = if area.width == room { axis } else { Axis::of(plot, area.width) };
    axis.draw(&mut sheet, &area);
    area.draw_references(&mut sheet);
    let is_line = match plot.chart_type {
        ChartType::Scatter => false,
        ChartType::Line | ChartType::Area => true,
        // Bars that did not fit: only consecutive positions are joined.
        _ => !matches!(plot.x, X::Labels(_)),
    };
    if is_line {
        let mut canvas = Canvas::new(&area, plot.series.len());
        if plot.chart_type == ChartType::Area && plot.range().is_some() {
            for (series, edges) in areas::edges(plot).iter().enumerate() {
                canvas.fill(edges, series, &axis, &area);
            }
        }
        let n_lines = if plot.chart_type == ChartType::Area { 0 } else { plot.series.len() };
        for series in 0..n_lines {
            let points = dots(plot, series, &axis, &area);
            for run in points.split(Option::is_none) {
                canvas.polyline(&run.iter().copied().flatten().collect::<Vec<_>>(), series);
            }
        }
        canvas.draw(&mut sheet.grid, &area);
        if 0 < sheet.margin {
            names(&mut sheet, &area);
        }
    } else {
        scatter(&mut sheet, &axis, &area);
    }
    if plot.range().is_none() {
        let (x, y) = (area.left + area.width / 2, area.top + area.height / 2);
        sheet.grid.put(x.saturating_sub(5), y, "no values", Ink::Faint);
    }
    sheet.axis_label(&plot.x_label, Some(area.left + area.width / 2));
    sheet
}

/// Returns the points of a series, in dots from the upper left corner.
fn dots(plot: &Plot, series: usize, axis: &Axis, area: &Area) -> Vec<Option<(usize, usize)>> {
    let height = area.height * 4;
    let dot = |(value, x): (&Option<f64>, &Option<f64>)| {
        let up = whole(area.share((*value)?) * count(height) - 0.5).min(height - 1);
        let right = whole((*x)? * count(area.width * 2) - 0.5).min(area.width * 2 - 1);
        Some((right, height - 1 - up))
    };
    plot.series[series].values.iter().zip(&axis.positions).map(dot).collect()
}

/// Draws each point as a quarter of a cell, which is more visible than a dot.
fn scatter(sheet: &mut TextChartBuilder, axis: &Axis, area: &Area) {
    /// Quarters of a cell: upper left, upper right, lower left, lower right.
    const QUARTERS: [char; 16] =
        [' ', '▘', '▝', '▀', '▖', '▌', '▞', '▛', '▗', '▚', '▐', '▜', '▄', '▙', '▟', '█'];
    let mut cells: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    let plot = sheet.plot;
    for series in 0..plot.series.len() {
        for (x, y) in dots(plot, series, axis, area).into_iter().flatten() {
            let masks = cells.entry((x / 2, y / 4)).or_insert_with(|| vec![0; plot.series.len()]);
            masks[series] |= 1_usize << (x % 2 + y % 4 / 2 * 2);
        }
    }
    for ((x, y), masks) in cells {
        let (series, mask) = most(&masks, usize::count_ones);
        sheet.grid.set(area.left + x, area.top + 1 + y, QUARTERS[mask], Ink::Series(series));
    }
}

/// Returns the series with the largest part of a cell, and that part.
fn most<T: Copy>(masks: &[T], size: impl Fn(T) -> u32) -> (usize, T) {
    let all = masks.iter().copied().enumerate().rev();
    all.max_by_key(|it| size(it.1)).expect("a chart has a series")
}

/// The dots of all series.
struct Canvas {
    /// Cells per row.
    width: usize,
    /// For each cell and series: its dots, numbered as in braille.
    masks: Vec<Vec<u32>>,
}

impl Canvas {
    fn new(area: &Area, n_series: usize) -> Canvas {
        Canvas { width: area.width, masks: vec![vec![0; n_series]; area.width * area.height] }
    }

    fn dot(&mut self, (x, y): (usize, usize), series: usize) {
        // Source: Unicode, "Braille Patterns": the lowest two dots were added later.
        const BITS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        self.masks[y / 4 * self.width + x / 2][series] |= BITS[x % 2][y % 4];
    }

    /// Joins points by straight lines. A single point is enlarged to be visible.
    fn polyline(&mut self, points: &[(usize, usize)], series: usize) {
        if let [(x, y)] = points {
            for (x, y) in [(*x, *y), (x ^ 1, *y), (*x, y ^ 1), (x ^ 1, y ^ 1)] {
                self.dot((x, y), series);
            }
        }
        for pair in points.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let n_steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
            for step in 0..=n_steps {
                let part = count(step) / count(n_steps);
                let between =
                    |from: usize, to: usize| whole(count(from) + (count(to) - count(from)) * part);
                self.dot((between(from.0, to.0), between(from.1, to.1)), series);
            }
        }
    }

    /// Fills the area between the edges of a series.
    fn fill(&mut self, edges: &[Option<(f64, f64)>], series: usize, axis: &Axis, area: &Area) {
        let (n_columns, height) = (area.width * 2, area.height * 4);
        let rows = |it: f64| whole(area.share(it) * count(height)).min(height);
        let place = |(edges, x): (&Option<(f64, f64)>, &Option<f64>)| {
            let right = whole((*x)? * count(n_columns) - 0.5).min(n_columns - 1);
            Some((right, (*edges)?))
        };
        let points: Vec<_> = edges.iter().zip(&axis.positions).map(place).collect();
        let ends =
            points.windows(2).map(|it| (it[0], it[1])).chain(points.last().map(|it| (*it, *it)));
        for (from, to) in ends {
            let Some(from) = from else { continue };
            let to = to.unwrap_or(from);
            for x in from.0..=to.0 {
                let part = count(x - from.0) / count((to.0 - from.0).max(1));
                let between = |from: f64, to: f64| from * (1.0 - part) + to * part;
                let (one, other) = (between(from.1.0, to.1.0), between(from.1.1, to.1.1));
                for row in rows(one.min(other))..rows(one.max(other)) {
                    self.dot((x, height - 1 - row), series);
                }
            }
        }
    }

    /// Writes the dots. Where lines cross in a cell, only the one with more dots is shown, so that no
    /// dot has another line's colour.
    fn draw(&self, grid: &mut CharGrid, area: &Area) {
        for (at, masks) in self.masks.iter().enumerate() {
            let (series, mask) = most(masks, u32::count_ones);
            if mask == 0 {
                continue;
            }
            let char = char::from_u32(0x2800 + mask).unwrap_or(' ');
            let (x, y) = (area.left + at % self.width, area.top + 1 + at / self.width);
            grid.set(x, y, char, Ink::Series(series));
        }
    }
}

/// The horizontal axis.
struct Axis {
    /// One per row, as a share of the width; `None` where x is missing.
    positions: Vec<Option<f64>>,
    /// Share of the width, and lines.
    labels: Vec<(f64, Vec<String>)>,
    /// Whether the labels are those of the rows, so that a missing one matters.
    is_named: bool,
}

impl Axis {
    fn of(plot: &Plot, n_columns: usize) -> Axis {
        let n_ticks = u32::try_from((n_columns / TICK_COLUMNS).clamp(2, 10)).unwrap_or(2);
        let x = &plot.x;
        match x {
            X::Numbers(numbers) => Axis::of_numbers(numbers, n_ticks, plot.is_log.0),
            X::Times(times) => {
                let known = || times.iter().flatten().copied();
                match (known().min(), known().max()) {
                    (Some(first), Some(last)) if first < last => {
                        Axis::of_times(times, (first, last), n_ticks)
                    }
                    _ => Axis::of_labels(x, n_columns),
                }
            }
            X::Labels(_) => Axis::of_labels(x, n_columns),
        }
    }

    fn of_times(
        times: &[Option<DateTime>],
        (first, last): (DateTime, DateTime),
        n_ticks: u32,
    ) -> Axis {
        let (low, high) = (time::seconds(first), time::seconds(last));
        let share = |it: DateTime| (time::seconds(it) - low) / (high - low);
        let (ticks, unit) =
            time::ticks(first, last, n_ticks, time::unit_of(times.iter().flatten()));
        let mut before = None;
        let labels = ticks.into_iter().map(|tick| {
            let (upper, lower) = time::label(tick, before.replace(tick), unit);
            (share(tick), vec![upper, lower])
        });
        let labels = labels.collect();
        Axis { positions: times.iter().map(|it| it.map(share)).collect(), labels, is_named: false }
    }

    fn of_numbers(numbers: &[Option<f64>], n_ticks: u32, is_log: bool) -> Axis {
        let known = numbers.iter().flatten();
        let (low, high) = known
            .clone()
            .fold((f64::MAX, f64::MIN), |(low, high), it| (low.min(*it), high.max(*it)));
        let (low, high) = if high < low { (0.0, 1.0) } else { (low, high) };
        if is_log {
            let (low, high) = if low <= 0.0 { (1.0, 10.0) } else { (low, high) };
            let ticks = Ticks::log(low, high, n_ticks, Measure::Plain);
            let (first, last) = (log10(ticks.range().0), log10(ticks.range().1));
            let share = |it: f64| (log10(it) - first) / (last - first);
            let labels = ticks.values.iter().map(|it| share(*it)).zip(ticks.labels);
            return Axis {
                labels: labels.map(|(share, label)| (share, vec![label])).collect(),
                positions: numbers.iter().map(|it| it.map(share)).collect(),
                is_named: false,
            };
        }
        let is_year = known.clone().all(|it| it.fract() == 0.0) && 1_000.0 <= low && high < 3_000.0;
        let mut ticks = Ticks::cover(low, high, n_ticks);
        if is_year {
            ticks = ticks.years();
        }
        let (first, last) = if low < high { (low, high) } else { ticks.range() };
        let share = |it: f64| (it / 2.0 - first / 2.0) / (last / 2.0 - first / 2.0);
        let inside = ticks.values.iter().zip(ticks.labels);
        let inside = inside.filter(|(value, _)| {
            first <= **value && **value <= last && (!is_year || value.fract() == 0.0)
        });
        Axis {
            labels: inside.map(|(value, label)| (share(*value), vec![label])).collect(),
            positions: numbers.iter().map(|it| it.map(share)).collect(),
            is_named: false,
        }
    }

    fn of_labels(x: &X, n_columns: usize) -> Axis {
        let n_rows = x.len();
        let at = |row: usize| (count(row) + 0.5) / count(n_rows);
        let room = LABEL_MAX.min(n_columns / 2);
        let labels: Vec<_> = (0..n_rows).map(|it| x.full_label(it)).collect();
        let labels = shorten_all(&labels, room).into_iter().enumerate();
        Axis {
            positions: (0..n_rows).map(|it| Some(at(it))).collect(),
            labels: labels.map(|(row, it)| (at(row), vec![it])).collect(),
            is_named: matches!(x, X::Labels(_)),
        }
    }

    /// Returns the labels that fit under an area: the column of each, its start, its lines. A label
    /// that would touch the previous one is left out.
    fn placed(&self, n_columns: usize, left: usize, end: usize) -> Vec<(usize, usize, &[String])> {
        let mut placed: Vec<(usize, usize, &[String])> = Vec::new();
        let mut free = 0;
        for (share, lines) in &self.labels {
            let x = left + whole(share * count(n_columns) - 0.5).min(n_columns - 1);
            let wanted = lines.iter().map(|it| width(it)).max().unwrap_or(0);
            let start = x.saturating_sub(wanted / 2).min(end.saturating_sub(wanted));
            if free <= start {
                placed.push((x, start, lines));
                free = start + wanted + LABEL_GAP;
            }
        }
        placed
    }

    /// Draws the line under the area, ticks and labels.
    fn draw(&self, sheet: &mut TextChartBuilder, area: &Area) {
        let y = area.bottom();
        for x in area.left..area.left + area.width {
            sheet.grid.set(x, y, '─', Ink::Faint);
        }
        for (x, start, lines) in self.placed(area.width, area.left, sheet.grid.width) {
            let wanted = lines.iter().map(|it| width(it)).max().unwrap_or(0);
            sheet.grid.set(x, y, '┬', Ink::Faint);
            for (line, label) in lines.iter().enumerate() {
                let start = start + (wanted - width(label)) / 2;
                sheet.grid.put(start, y + 1 + line, label, Ink::Plain);
            }
        }
    }
}
