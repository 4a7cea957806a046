//! Heat maps: shades of a value in a grid of columns and rows.

use super::band_scale::{AxisLabels, stride};
use super::fit;
use super::numbers::{amounts, short_amounts};
use super::plot::Plot;
use super::scene::{Mark, Scene};
use super::sheet::{ChartBuilder, LINE, MARGIN, SIZE, WIDTH, count, widest};
use super::text;
use super::ticks::Ticks;
use crate::glyphs::Weight;
use crate::text::{Anchor, TextLabel};
use crate::theme::Colour;

/// The widest and the highest cell.
const CELL_MAX: (f64, f64) = (96.0, 40.0);
/// The height of the highest picture's grid.
const GRID_MAX: f64 = 860.0;
/// The smallest cell whose value is printed.
const VALUE_HEIGHT_MIN: f64 = 16.0;
/// The narrowest picture.
const WIDTH_MIN: f64 = 640.0;
/// The longest label of a row.
const LABEL_MAX: f64 = 220.0;
/// The width and height of a shade in the legend.
const KEY: (f64, f64) = (46.0, 12.0);

/// The shades of values: steps between round numbers.
pub(crate) struct Shades {
    ticks: Ticks,
    /// One per step.
    colours: Vec<Colour>,
}

impl Shades {
    /// Chooses shades; values on both sides of zero have two colours that meet there.
    pub(crate) fn of(plot: &Plot) -> Shades {
        let (low, high) = match plot.range() {
            Some((low, high)) if low < high => (low, high),
            // Of a single value, the distance from zero is shown.
            Some((value, _)) if value != 0.0 => (value.min(0.0), value.max(0.0)),
            _ => (0.0, 1.0),
        };
        let (rising, falling) = Colour::SHADES.split_at(Colour::N_RISING);
        let far = high.max(-low);
        let is_divided = low < 0.0 && 0.0 < high;
        let ticks = |n_steps: u32| match (is_divided, plot.is_whole()) {
            (true, _) => Ticks::cover(-far, far, n_steps),
            (false, true) => Ticks::whole(low, high, n_steps),
            (false, false) => Ticks::cover(low, high, n_steps),
        };
        let n_max = if is_divided { 2 * falling.len() } else { rising.len() };
        let fits =
            |it: &Ticks| it.values.len() - 1 <= n_max && (!is_divided || it.values.contains(&0.0));
        let all = [6, 5, 4, 3, 2, 1].into_iter().map(ticks);
        // The fewest steps still are two of a divided range.
        let ticks = all.into_iter().find(fits).unwrap_or_else(|| Ticks::at(vec![-far, 0.0, far]));
        let n_steps = ticks.values.len() - 1;
        let spread = |at: usize, of: usize, shades: &[Colour]| {
            let last = shades.len() - 1;
            shades[if of < 2 { last } else { at * last / (of - 1) }]
        };
        let colour = |at: usize| {
            let half = n_steps / 2;
            match is_divided {
                false if high <= 0.0 => spread(n_steps - 1 - at, n_steps, rising),
                false => spread(at, n_steps, rising),
                true if at < half => spread(half - 1 - at, half, falling),
                true => [rising[1], rising[3], rising[5]]
                    [if half < 2 { 2 } else { (at - half) * 2 / (half - 1) }],
            }
        };
        Shades { colours: (0..n_steps).map(colour).collect(), ticks: ticks.measured(plot.measure) }
    }

    /// Returns the step that a value belongs to, and the number of steps.
    pub(crate) fn step(&self, value: f64) -> (usize, usize) {
        let after = self.ticks.values.partition_point(|it| *it <= value);
        let n_steps = self.colours.len();
        (after.saturating_sub(1).min(n_steps - 1), n_steps)
    }

    /// Returns the smallest and the largest value of the shades, as text.
    pub(crate) fn ends(&self) -> (&str, &str) {
        let labels = &self.ticks.labels;
        (labels.first().map_or("", String::as_str), labels.last().map_or("", String::as_str))
    }

    /// Returns the values between the shades, and the shades.
    pub(crate) fn scale(&self) -> (Vec<f64>, Vec<Colour>) {
        let inner = &self.ticks.values[1..self.ticks.values.len() - 1];
        (inner.to_vec(), self.colours.clone())
    }

    /// Draws the shades with the values between them.
    fn draw(&self, sheet: &mut ChartBuilder, label: Option<&str>) {
        let label = label.map(|it| fit::shorten(it, SIZE, Weight::Regular, sheet.width / 3.0));
        let label = label.unwrap_or_default();
        let mut x = MARGIN;
        let baseline = sheet.top + KEY.1 + LINE;
        if !label.is_empty() {
            sheet.text(
                TextLabel::new(label.clone(), x, sheet.top + KEY.1 - 1.0, SIZE)
                    .coloured(Colour::GREY),
            );
            x += text::width(&label, SIZE, Weight::Regular) + 16.0;
        }
        let left = x + widest(self.ticks.labels.first().into_iter()) / 2.0;
        let wide = KEY.0.max(widest(self.ticks.labels.iter()) + 12.0);
        for (at, colour) in self.colours.iter().enumerate() {
            let (x, y) = (left + wide * count(at), sheet.top);
            sheet.mark(Mark::Rect { x, y, width: wide, height: KEY.1, colour: *colour });
        }
        for (at, label) in self.ticks.labels.iter().enumerate() {
            let label = TextLabel::new(label.clone(), left + wide * count(at), baseline, SIZE);
            sheet.text(label.anchored(Anchor::Middle).coloured(Colour::GREY));
        }
        sheet.top = baseline + 14.0;
    }
}

/// Lays out a grid: a column for each row of the plot, a row for each series.
pub(crate) fn scene(plot: &Plot) -> Scene {
    let (n_columns, n_rows) = (count(plot.x.len()), count(plot.series.len()));
    let names: Vec<_> = plot.series.iter().map(|it| it.name.clone()).collect();
    let names = fit::shorten_all(&names, SIZE, Weight::Regular, LABEL_MAX);
    let left = MARGIN + widest(names.iter()) + 10.0;
    let cell_width = ((WIDTH - MARGIN - left) / n_columns).min(CELL_MAX.0);
    let right = left + cell_width * n_columns;
    // Title, legend and note need their room, however few cells there are.
    let mut sheet = ChartBuilder::new(plot, (right + MARGIN).clamp(WIDTH_MIN, WIDTH), false, None);
    let shades = Shades::of(plot);
    if plot.range().is_some() {
        shades.draw(&mut sheet, plot.y_label.as_deref());
    }
    let cell_height = (GRID_MAX / n_rows).min(CELL_MAX.1);
    let level = Some(plot.x_label.as_str());
    let below = AxisLabels::bands(&plot.x, cell_width, left, &plot.space);
    let foot = sheet.foot_height(level) + below.height + 8.0;
    let top = sheet.top;
    let bottom = top + (cell_height * n_rows).max(2.0 * LINE);
    draw_cells(&mut sheet, plot, &shades, (left, top), (cell_width, cell_height));
    for (row, name) in names.into_iter().enumerate().step_by(stride(LINE, cell_height)) {
        let y = top + cell_height * (count(row) + 0.5) + 4.5;
        sheet.text(TextLabel::new(name, left - 8.0, y, SIZE).anchored(Anchor::End));
    }
    below.draw(&mut sheet, bottom, false);
    sheet.finish(bottom + foot, level, (left, right))
}

/// Draws the cells with values, printed where all fit. A cell without a value is empty.
fn draw_cells(
    sheet: &mut ChartBuilder,
    plot: &Plot,
    shades: &Shades,
    (left, top): (f64, f64),
    (width, height): (f64, f64),
) {
    let all: Vec<_> = plot.series.iter().flat_map(|it| it.values.iter().copied()).collect();
    let has_room = plot.has_values && VALUE_HEIGHT_MIN <= height;
    let fits = |it: &Vec<String>| has_room && widest(it.iter()) + 8.0 <= width;
    let texts = Some(amounts(&all, plot.measure)).filter(fits);
    let texts = texts.or_else(|| short_amounts(&all, plot.measure).filter(fits));
    let gap = if 6.0 < width.min(height) { 1.0 } else { 0.0 };
    for (row, series) in plot.series.iter().enumerate() {
        for (column, value) in series.values.iter().enumerate() {
            let Some(value) = value else { continue };
            let (x, y) = (left + width * count(column), top + height * count(row));
            let colour = shades.colours[shades.step(*value).0];
            let (cell_width, cell_height) = (width - gap, height - gap);
            sheet.mark(Mark::Rect { x, y, width: cell_width, height: cell_height, colour });
            let text = texts.as_ref().and_then(|it| it.get(row * plot.x.len() + column));
            if let (Some(text), Some(ink)) = (text, colour.on_shade()) {
                let (x, y) = (x + cell_width / 2.0, y + cell_height / 2.0 + 4.5);
                let label = TextLabel::new(text.clone(), x, y, SIZE);
                sheet.text(label.anchored(Anchor::Middle).coloured(ink));
            }
        }
    }
}
