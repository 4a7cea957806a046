//! A line over columns, on their axis or on one of its own to the right.

use csv_agent_types::chart_options::LineSeries;

use super::fit;
use super::numbers::Measure;
use super::plot::{Overlay, Plot, clean};
use super::scene::{Mark, PointShape};
use super::sheet::{ChartBuilder, MARGIN, SIZE, Scale, widest};
use super::ticks::Ticks;
use crate::glyphs::Weight;
use crate::text::{Anchor, TextLabel};
use crate::theme::Colour;

impl Plot {
    /// Makes the series of this name a line. It gets an axis of its own if that has another label than the
    /// axis of the columns.
    pub(crate) fn lay_over(&mut self, line: &LineSeries) {
        let name = clean(&line.name);
        let Some(at) = self.series.iter().position(|it| it.name == name) else { return };
        let series = self.series.remove(at);
        let y_label = line.y_label.as_deref().map(clean).filter(|it| !it.trim().is_empty());
        let y_label = y_label.filter(|it| Some(it) != self.y_label.as_ref());
        let known = || series.values.iter().flatten().copied();
        let range = (known().fold(f64::MAX, f64::min), known().fold(f64::MIN, f64::max));
        let measure = Measure::of(&[y_label.as_deref().unwrap_or(&name)], range);
        self.series.push(series);
        self.line = Some(Overlay { y_label, measure });
        if self.y_label.is_none()
            && let [only, _] = self.series.as_slice()
        {
            self.y_label = Some(only.name.clone());
        }
    }
}

/// The line, with the ticks of its axis.
pub(crate) struct Overlaid {
    y_label: Option<String>,
    ticks: Option<Ticks>,
}

impl Overlaid {
    /// Returns the line of a plot.
    pub(crate) fn of(plot: &Plot) -> Option<Overlaid> {
        let (line, series) = plot.line.as_ref().zip(plot.series.last())?;
        let known = || series.values.iter().flatten().copied();
        let (low, high) = (known().fold(0.0, f64::min), known().fold(0.0, f64::max));
        let high = if high <= low { low + 1.0 } else { high };
        let is_whole = line.measure != Measure::Share && known().all(|it| it.fract() == 0.0);
        let ticks = if is_whole { Ticks::whole(low, high, 5) } else { Ticks::cover(low, high, 5) };
        let ticks = line.y_label.is_some().then(|| ticks.measured(line.measure));
        Some(Overlaid { y_label: line.y_label.clone(), ticks })
    }

    /// Returns the width of its axis.
    pub(crate) fn width(&self) -> f64 {
        self.ticks.as_ref().map_or(0.0, |it| widest(it.labels.iter()) + 8.0)
    }

    /// Returns what the axis of the columns must cover, if these reach up to `high`: the line, or as much
    /// below zero as the line has there, because both axes have the same zero.
    pub(crate) fn covers(plot: &Plot, high: f64) -> Option<(f64, f64)> {
        let (line, series) = plot.line.as_ref().zip(plot.series.last())?;
        let known = || series.values.iter().flatten().copied();
        let ends = (known().fold(0.0, f64::min), known().fold(0.0, f64::max));
        let below = if 0.0 < ends.1 { ends.0 / ends.1 * high } else { -high };
        Some(match line.y_label {
            None => ends,
            Some(_) if ends.0 < 0.0 => (below, 0.0),
            Some(_) => (0.0, 0.0),
        })
    }

    /// Returns the scale of the axis, with its zero where that of the columns is.
    fn scale(ticks: &Ticks, columns: &Scale, (bottom, top): (f64, f64)) -> Scale {
        let zero = columns.at(0.0);
        let (low, high) = ticks.range();
        let above = if 0.0 < high { (zero - top) / high } else { f64::MAX };
        let below = if low < 0.0 { (bottom - zero) / -low } else { f64::MAX };
        Scale::new((0.0, 1.0), (zero, zero - above.min(below)))
    }

    /// Returns the values at the ends of its axis, if that of the columns has these ends.
    pub(crate) fn domain(&self, columns: (f64, f64)) -> Option<(f64, f64)> {
        let columns = Scale::new(columns, (1.0, 0.0));
        let scale = Overlaid::scale(self.ticks.as_ref()?, &columns, (1.0, 0.0));
        let (zero, one) = (scale.at(0.0), scale.at(1.0));
        Some(((1.0 - zero) / (one - zero), -zero / (one - zero)))
    }

    /// Draws the line and its axis; `middle` is the position of a row.
    pub(crate) fn draw(
        &self,
        sheet: &mut ChartBuilder,
        plot: &Plot,
        columns: (&Scale, (f64, f64)),
        (right, middle): (f64, &dyn Fn(usize) -> f64),
    ) {
        let series = plot.series.len() - 1;
        let own = self.ticks.as_ref().map(|it| Overlaid::scale(it, columns.0, columns.1));
        let scale = own.as_ref().unwrap_or(columns.0);
        // A label that would touch the previous one is left out: the axis may have little of the height.
        let mut last = f64::MAX;
        for (value, label) in self.ticks.iter().flat_map(|it| it.values.iter().zip(&it.labels)) {
            let y = scale.at(*value);
            if last - y < 1.4 * SIZE {
                continue;
            }
            last = y;
            sheet.line((right, y), (right + 4.0, y), Colour::AXIS);
            let label = TextLabel::new(label.clone(), right + 8.0, y + 4.5, SIZE);
            sheet.text(label.coloured(Colour::GREY));
        }
        let values = plot.series[series].values.iter().enumerate();
        let points: Vec<_> =
            values.map(|(row, it)| it.map(|it| (middle(row), scale.at(it)))).collect();
        let colour = plot.colour(series, None);
        for run in points.split(Option::is_none).filter(|it| !it.is_empty()) {
            let points: Vec<_> = run.iter().copied().flatten().collect();
            let dots = points.clone();
            if 1 < points.len() {
                for (width, colour) in [(4.6, Colour::PAPER), (2.6, colour)] {
                    sheet.mark(Mark::Line { points: points.clone(), width, colour });
                }
            }
            for (x, y) in dots {
                let shape = PointShape::Circle;
                sheet.mark(Mark::Dot { x, y, radius: 3.6, shape, colour, is_hollow: false });
            }
        }
        if let Some(label) = &self.y_label {
            let room = (sheet.width - 2.0 * MARGIN) / 2.0;
            let label = fit::shorten(label, SIZE, Weight::Regular, room);
            let baseline = sheet.top - 20.0;
            let label = TextLabel::new(label, sheet.width - MARGIN, baseline, SIZE);
            sheet.text(label.anchored(Anchor::End).coloured(Colour::GREY));
        }
    }
}
