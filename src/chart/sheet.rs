//! The common parts of every chart: title and legend above, axis label and note below.

use csv_agent_types::chart::ChartType;

use super::fit;
use super::numbers::log10;
use super::plot::{Plot, PointText, Space};
use super::scene::{Anchored, Mark, PointShape, Scene};
use super::text;
use super::ticks::Ticks;
use crate::glyphs::Weight;
use crate::text::{Anchor, TextLabel};
use crate::theme::Colour;

/// Width of a chart without special requirements.
pub(crate) const WIDTH: f64 = 960.0;
/// Height of a chart without special requirements.
const HEIGHT: f64 = 540.0;
/// The highest picture; horizontal bars become as thin as it requires.
pub(crate) const HEIGHT_MAX: f64 = 1_200.0;
/// Minimum height of the plot area, and of that of a panel; a picture with much around it is higher.
const MARKS_HEIGHT_MIN: f64 = 260.0;
const PANEL_MARKS_HEIGHT_MIN: f64 = 90.0;
/// Free space on every side.
pub(crate) const MARGIN: f64 = 24.0;
/// Size of labels, in pixels per em.
pub(crate) const SIZE: f64 = 13.0;
/// Distance between the lines of a label.
pub(crate) const LINE: f64 = 17.0;

const TITLE_SIZE: f64 = 20.0;
const TITLE_LINE: f64 = 26.0;
const PANEL_TITLE_SIZE: f64 = 14.0;
const NOTE_SIZE: f64 = 12.0;
const LEGEND_LINE: f64 = 22.0;
const LEGEND_NAME_MAX: f64 = 260.0;
/// Maximum wrapped lines for each line of the note.
const NOTE_LINES_MAX: usize = 3;

/// A chart being built.
pub(crate) struct ChartBuilder<'a> {
    plot: &'a Plot,
    marks: Vec<Mark>,
    /// Width of the picture.
    pub width: f64,
    /// The first free pixel under title and legend.
    pub top: f64,
    /// Hints that the drawing itself requires, above the notes of the plot.
    pub hints: Vec<String>,
    /// Points with a text.
    pub anchors: Vec<Anchored>,
}

impl Space {
    /// The space of a chart without panels.
    pub(crate) const WHOLE: Space = Space {
        width: WIDTH,
        height: HEIGHT,
        height_max: HEIGHT_MAX,
        label_width: 0.0,
        title_lines: 2,
        is_panel: false,
    };

    /// Returns about how many steps a vertical axis has.
    pub(crate) fn steps(&self) -> u32 {
        if self.is_panel { 4 } else { 5 }
    }
}

impl<'a> ChartBuilder<'a> {
    /// Starts a sheet with the title, a legend if requested, and the label of the vertical axis.
    pub(crate) fn new(
        plot: &'a Plot,
        width: f64,
        has_legend: bool,
        upright: Option<&str>,
    ) -> ChartBuilder<'a> {
        let top = MARGIN - 4.0;
        let (marks, hints, anchors) = (Vec::new(), Vec::new(), Vec::new());
        let mut sheet = ChartBuilder { plot, marks, width, top, hints, anchors };
        sheet.title();
        if has_legend && !plot.space.is_panel {
            sheet.legend();
        }
        if let Some(label) = upright {
            sheet.top += LINE;
            let has_other = plot.line.as_ref().is_some_and(|it| it.y_label.is_some());
            let room = (width - 2.0 * MARGIN) * if has_other { 0.48 } else { 1.0 };
            let label = fit::shorten(label, SIZE, Weight::Regular, room);
            let baseline = sheet.top - 4.0;
            sheet.text(TextLabel::new(label, MARGIN, baseline, SIZE).coloured(Colour::GREY));
        }
        sheet.top += 16.0;
        sheet
    }

    fn title(&mut self) {
        let Some(title) = &self.plot.title else { return };
        let room = self.width - 2.0 * MARGIN;
        if self.plot.space.is_panel {
            let lines = panel_title(title, self.width);
            self.top += LINE * count(self.plot.space.title_lines - lines.len());
            for line in lines {
                self.top += LINE;
                let mut label = TextLabel::new(line, MARGIN, self.top - 4.0, PANEL_TITLE_SIZE);
                label.weight = Weight::Bold;
                self.marks.push(Mark::Text(label));
            }
            return;
        }
        for line in fit::wrap_or_cut(title, TITLE_SIZE, Weight::Bold, room, 2) {
            self.top += TITLE_LINE;
            let mut label = TextLabel::new(line, MARGIN, self.top - 7.0, TITLE_SIZE);
            label.weight = Weight::Bold;
            self.marks.push(Mark::Text(label));
        }
        self.top += 4.0;
    }

    fn legend(&mut self) {
        let mut x = MARGIN;
        self.top += LEGEND_LINE;
        let mut names: Vec<_> = self.plot.series.iter().map(|it| it.name.clone()).collect();
        let has_axis = self.plot.line.as_ref().is_some_and(|it| it.y_label.is_some());
        if let (true, Some(last)) = (has_axis, names.last_mut()) {
            last.push_str(" (right axis)");
        }
        let names = fit::shorten_all(&names, SIZE, Weight::Regular, LEGEND_NAME_MAX);
        for (at, name) in names.into_iter().enumerate() {
            let width = 18.0 + text::width(&name, SIZE, Weight::Regular);
            if MARGIN < x && self.width - MARGIN < x + width {
                x = MARGIN;
                self.top += LEGEND_LINE;
            }
            let baseline = self.top - 6.0;
            self.key(x, baseline - 4.5, at);
            self.text(TextLabel::new(name, x + 18.0, baseline, SIZE));
            x += width + 22.0;
        }
        self.top += 4.0;
    }

    fn key(&mut self, x: f64, middle: f64, series: usize) {
        let colour = self.plot.colour(series, None);
        let is_line = self.plot.line.is_some() && series + 1 == self.plot.series.len();
        let mark = match self.plot.chart_type {
            ChartType::Scatter => {
                let (x, shape) = (x + 6.0, shape(series));
                Mark::Dot { x, y: middle, radius: 5.0, shape, colour, is_hollow: false }
            }
            kind if kind == ChartType::Line || is_line => {
                Mark::Line { points: vec![(x, middle), (x + 12.0, middle)], width: 3.0, colour }
            }
            _ => Mark::Rect { x, y: middle - 6.0, width: 12.0, height: 12.0, colour },
        };
        self.marks.push(mark);
    }

    /// Returns the height of the horizontal axis label and the note, in pixels.
    pub(crate) fn foot_height(&self, level: Option<&str>) -> f64 {
        let label = if level.is_some() { LINE + 6.0 } else { 0.0 };
        let note = self.note_lines().len();
        let note =
            if 0 < note { 8.0 + LINE * f64::from(u32::try_from(note).unwrap_or(0)) } else { 0.0 };
        label + note + MARGIN - 8.0
    }

    /// Finishes the sheet: the label of the horizontal axis, centred between two pixels, then the note.
    pub(crate) fn finish(
        mut self,
        height: f64,
        level: Option<&str>,
        (left, right): (f64, f64),
    ) -> Scene {
        if self.plot.range().is_none() && self.plot.panels.is_none() {
            let (x, y) = (f64::midpoint(left, right), f64::midpoint(self.top, height) - 40.0);
            let label = TextLabel::new("no values", x, y.max(self.top + LINE), SIZE);
            self.text(label.anchored(Anchor::Middle).coloured(Colour::GREY));
        }
        let mut y = height - self.foot_height(level);
        if let Some(label) = level {
            y += LINE + 2.0;
            let label = fit::shorten(label, SIZE, Weight::Regular, right - left);
            let label = TextLabel::new(label, f64::midpoint(left, right), y, SIZE);
            self.text(label.anchored(Anchor::Middle).coloured(Colour::GREY));
            y += 4.0;
        }
        y += 8.0;
        for line in self.note_lines() {
            y += LINE;
            self.text(TextLabel::new(line, MARGIN, y - 4.0, NOTE_SIZE).coloured(Colour::GREY));
        }
        Scene {
            width: self.width.ceil(),
            height: height.ceil(),
            marks: self.marks,
            hints: self.hints,
            anchors: self.anchors,
        }
    }

    /// Returns the height of a picture whose axis labels and foot take `below` pixels.
    pub(crate) fn height(&self, below: f64) -> f64 {
        let space = self.plot.space;
        let marks = if space.is_panel { PANEL_MARKS_HEIGHT_MIN } else { MARKS_HEIGHT_MIN };
        space.height.max(self.top + marks + below)
    }

    fn note_lines(&self) -> Vec<String> {
        if self.plot.space.is_panel {
            return Vec::new();
        }
        let room = self.width - 2.0 * MARGIN;
        let lines =
            |it: &String| fit::wrap_or_cut(it, NOTE_SIZE, Weight::Regular, room, NOTE_LINES_MAX);
        self.hints.iter().chain(&self.plot.notes).flat_map(lines).collect()
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(mark);
    }

    pub(crate) fn text(&mut self, label: TextLabel) {
        self.marks.push(Mark::Text(label));
    }

    /// Adds a label on paper, which hides lines behind it.
    pub(crate) fn text_on_paper(&mut self, label: TextLabel) {
        let (left, top, right, bottom) = label.bounds();
        let (width, height) = (right - left, bottom - top);
        self.mark(Mark::Rect { x: left, y: top, width, height, colour: Colour::PAPER });
        self.text(label);
    }

    /// Adds an error bar from one point to another that is level with it or above it.
    pub(crate) fn error_bar(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        const CAP: f64 = 4.0;
        let (across, along) =
            if (from.0 - to.0).abs() < (from.1 - to.1).abs() { (CAP, 0.0) } else { (0.0, CAP) };
        let cap = |it: (f64, f64)| ((it.0 - across, it.1 - along), (it.0 + across, it.1 + along));
        for (width, colour) in [(3.5, Colour::PAPER), (1.5, colour)] {
            for (from, to) in [(from, to), cap(from), cap(to)] {
                self.mark(Mark::Line { points: vec![from, to], width, colour });
            }
        }
    }

    /// Remembers the points of a plot that have a text; `x` is the position of a row and value.
    pub(crate) fn anchor(&mut self, scale: &Scale, x: impl Fn(usize, f64) -> Option<f64>) {
        let plot = self.plot;
        let anchored = |it: &PointText| {
            Some(Anchored { x: x(it.row, it.value)?, y: scale.at(it.value), text: it.text.clone() })
        };
        self.anchors.extend(plot.annotations.iter().filter_map(anchored));
    }

    /// Adds a straight line.
    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: Colour) {
        self.marks.push(Mark::Line { points: vec![from, to], width: 1.0, colour });
    }

    /// Adds gridlines and their labels for a vertical value axis.
    pub(crate) fn upright_axis(&mut self, ticks: &Ticks, scale: &Scale, ends: (f64, f64)) {
        for (value, label) in ticks.values.iter().zip(&ticks.labels) {
            let y = scale.at(*value);
            self.line((ends.0, y), (ends.1, y), Colour::GRID);
            let label = TextLabel::new(label.clone(), ends.0 - 8.0, y + 4.5, SIZE);
            self.text(label.anchored(Anchor::End).coloured(Colour::GREY));
        }
    }

    /// Adds gridlines and their labels for a horizontal value axis below the marks, and labels above
    /// the marks too, where those are far away. A label that would touch the previous one is left out.
    pub(crate) fn level_axis(&mut self, ticks: &Ticks, scale: &Scale, (top, bottom): (f64, f64)) {
        let mut end = f64::MIN;
        for (value, label) in ticks.values.iter().zip(&ticks.labels) {
            let x = scale.at(*value);
            self.line((x, top), (x, bottom), Colour::GRID);
            let half = text::width(label, SIZE, Weight::Regular) / 2.0;
            if x - half < end {
                continue;
            }
            end = x + half;
            let upper = is_far(bottom - top).then_some(top - 6.0);
            for y in [Some(bottom + 19.0), upper].into_iter().flatten() {
                let label = TextLabel::new(label.clone(), x, y, SIZE);
                self.text(label.anchored(Anchor::Middle).coloured(Colour::GREY));
            }
        }
    }
}

/// Returns the lines of the title of a panel of this width.
pub(crate) fn panel_title(title: &str, width: f64) -> Vec<String> {
    fit::wrap_or_cut(title, PANEL_TITLE_SIZE, Weight::Bold, width - 2.0 * MARGIN, 2)
}

/// Returns whether this distance is too far to read a value from an axis.
pub(crate) fn is_far(pixels: f64) -> bool {
    HEIGHT < pixels
}

/// Returns ticks whose labels fit side by side in `room` pixels.
pub(crate) fn level_ticks(room: f64, ticks: impl Fn(u32) -> Ticks) -> Ticks {
    let fits = |it: &Ticks| {
        let n_steps = count(it.values.len() - 1);
        (widest(it.labels.iter()) + 14.0) * n_steps <= room
    };
    let all = [9, 7, 5, 4, 3, 2].into_iter().map(&ticks);
    all.into_iter().find(fits).unwrap_or_else(|| ticks(1))
}

/// A linear or logarithmic map from values to pixels.
pub(crate) struct Scale {
    from: (f64, f64),
    to: (f64, f64),
    is_log: bool,
}

impl Scale {
    /// Maps the ends of one range to those of another.
    pub(crate) fn new(from: (f64, f64), to: (f64, f64)) -> Scale {
        Scale { from, to, is_log: false }
    }

    /// Maps the ends of a range of positive numbers, with equal distances for equal factors.
    pub(crate) fn log(from: (f64, f64), to: (f64, f64)) -> Scale {
        Scale { from: (log10(from.0), log10(from.1)), to, is_log: true }
    }

    /// Returns the pixel of a value.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let value = if self.is_log { log10(value) } else { value };
        let share = (value - self.from.0) / (self.from.1 - self.from.0);
        self.to.0 + share * (self.to.1 - self.to.0)
    }
}

pub(crate) fn shape(series: usize) -> PointShape {
    PointShape::ALL[series % PointShape::ALL.len()]
}

/// Returns the width of the widest label, in pixels.
pub(crate) fn widest<'a>(labels: impl Iterator<Item = &'a String>) -> f64 {
    labels.map(|it| text::width(it, SIZE, Weight::Regular)).fold(0.0, f64::max)
}

/// Returns a count as a number of pixels or bands.
pub(crate) fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
