//! What a chart emphasises: a series or category in a strong colour, and texts at points.
//!
//! A text gets its place when everything else is drawn: near its point, on no label and no data.

use csv_agent_types::chart_options::Annotation;

use super::fit;
use super::geometry::{Bounds, covers, crosses, is_data, label, touch};
use super::numbers::amount;
use super::plot::{Emphasis, Plot, PointText, VALUE_MAX, X, clean};
use super::scene::{Anchored, Mark, PointShape, Scene};
use super::sheet::{LINE, MARGIN, SIZE, count, widest};
use super::time;
use crate::glyphs::Weight;
use crate::text::TextLabel;
use crate::theme::Colour;

/// The longest line of a text, and its lines.
const TEXT_MAX: f64 = 200.0;
const LINES_MAX: usize = 3;
/// Distances between a point and its text that are tried.
const DISTANCES: [f64; 7] = [13.0, 22.0, 34.0, 50.0, 72.0, 100.0, 140.0];
/// Directions from a point to its text that are tried.
const DIRECTIONS: [(f64, f64); 8] = [
    (0.7, -0.7),
    (-0.7, -0.7),
    (0.0, -1.0),
    (1.0, 0.0),
    (-1.0, 0.0),
    (0.7, 0.7),
    (-0.7, 0.7),
    (0.0, 1.0),
];
/// The ring around a point with a text.
const RING: f64 = 6.5;

impl Plot {
    /// Makes a series or, with a single one, a category strong. One that is left out changes nothing.
    pub(crate) fn emphasise(&mut self, name: Option<&str>) {
        let Some(name) = name else { return };
        let cleaned = clean(name);
        let names: Vec<_> = match &self.panels {
            Some(panels) => panels.series.clone(),
            None => self.series.iter().map(|it| it.name.clone()).collect(),
        };
        let series = names.iter().position(|it| *it == cleaned).filter(|_| 1 < names.len());
        let row = || self.row_at(name).filter(|_| names.len() == 1);
        self.emphasis = series.map(Emphasis::Series).or_else(|| row().map(Emphasis::Row));
    }

    /// Finds the points of texts; a text without a point becomes a note.
    pub(crate) fn annotate(&mut self, annotations: &[Annotation]) {
        for it in annotations {
            let text = clean(&it.text);
            let row = self.row_at(&it.x).or_else(|| self.nearest(&it.x));
            let known = |row: &usize| self.series.iter().find_map(|it| it.values[*row]);
            let value = it.y.or_else(|| row.as_ref().and_then(known));
            match (row, value.filter(|it| it.abs() <= VALUE_MAX && (!self.is_log.1 || 0.0 < *it))) {
                (Some(row), Some(value)) => {
                    self.annotations.push(PointText { row, value, text });
                }
                _ => self.notes.insert(0, format!("{}: {text}", clean(&it.x))),
            }
        }
    }

    fn row_at(&self, x: &str) -> Option<usize> {
        let cleaned = clean(x);
        let is_label = |row: &usize| self.x.full_label(*row) == cleaned;
        let label = || (0..self.x.len()).find(is_label);
        match &self.x {
            X::Numbers(numbers) => {
                let wanted: f64 = x.trim().parse().ok()?;
                numbers.iter().position(|it| {
                    it.is_some_and(|it| (it - wanted).abs() <= f64::EPSILON * wanted.abs())
                })
            }
            X::Times(times) => {
                let wanted = time::parse(x.trim());
                let same =
                    wanted.and_then(|wanted| times.iter().position(|it| *it == Some(wanted)));
                same.or_else(label)
            }
            X::Labels(_) => label(),
        }
    }

    /// Returns the row with the nearest number or time.
    fn nearest(&self, x: &str) -> Option<usize> {
        let positions: Vec<_> = match &self.x {
            X::Numbers(numbers) => numbers.clone(),
            X::Times(times) => times.iter().map(|it| it.map(time::seconds)).collect(),
            X::Labels(_) => return None,
        };
        let wanted = match &self.x {
            X::Times(_) => time::seconds(time::parse(x.trim())?),
            _ => x.trim().parse().ok()?,
        };
        let known = || positions.iter().copied().flatten();
        let (low, high) = (known().fold(f64::MAX, f64::min), known().fold(f64::MIN, f64::max));
        let far = |row: &usize| positions[*row].map_or(f64::MAX, |it| (it - wanted).abs());
        let rows = (0..positions.len()).filter(|it| positions[*it].is_some());
        let nearest = rows.min_by(|a, b| far(a).total_cmp(&far(b)));
        nearest.filter(|_| low <= wanted && wanted <= high)
    }

    /// Moves a text from its point to the note.
    pub(crate) fn note_text(&mut self, text: &str) {
        let is_it = |it: &PointText| it.text == text;
        let Some(at) = self.annotations.iter().position(is_it) else { return };
        let it = self.annotations.remove(at);
        let place = format!("{}, {}", self.place(it.row), amount(it.value, self.measure));
        self.notes.insert(0, format!("{place}: {}", it.text));
    }
}

/// Places the texts of a scene. Fails with the first text that has no place.
pub(crate) fn placed(mut scene: Scene) -> Result<Scene, String> {
    let anchors = std::mem::take(&mut scene.anchors);
    // A ring may not cover the label of a value.
    let reach = RING + 1.0;
    let bounds = |it: &Anchored| (it.x - reach, it.y - reach, it.x + reach, it.y + reach);
    let labels: Vec<Bounds> = scene.marks.iter().filter_map(|it| Some(label(it)?.2)).collect();
    let radius_of = |it: &Anchored| {
        if labels.iter().any(|label| touch(bounds(it), *label)) { 0.0 } else { RING }
    };
    for it in anchors.iter().filter(|it| 0.0 < radius_of(it)) {
        let (x, y, radius, shape) = (it.x, it.y, RING, PointShape::Circle);
        scene.marks.push(Mark::Dot { x, y, radius, shape, colour: Colour::INK, is_hollow: true });
    }
    for anchor in anchors {
        let lines = fit::wrap(&anchor.text, SIZE, Weight::Regular, TEXT_MAX, LINES_MAX);
        let Some(lines) = lines else { return Err(anchor.text) };
        let size = (widest(lines.iter()), LINE * count(lines.len()) - 4.0);
        let centre = |(x, y): (f64, f64), distance: f64| {
            let reach = (x * (distance + size.0 / 2.0), y * (distance + size.1 / 2.0));
            (anchor.x + reach.0, anchor.y + reach.1)
        };
        let candidates = DISTANCES.iter().flat_map(|far| DIRECTIONS.map(|it| centre(it, *far)));
        let bounds = candidates
            .map(|(x, y)| (x - size.0 / 2.0, y - size.1 / 2.0, x + size.0 / 2.0, y + size.1 / 2.0));
        let mut bounds = bounds.filter(|it| is_free(&scene, &anchor, *it));
        let Some(found) = bounds.next() else { return Err(anchor.text) };
        let end = (anchor.x.clamp(found.0, found.2), anchor.y.clamp(found.1, found.3));
        let points = vec![edge(&anchor, radius_of(&anchor), end), end];
        scene.marks.push(Mark::Line { points, width: 1.0, colour: Colour::AXIS });
        for (at, line) in lines.into_iter().enumerate() {
            let baseline = found.1 + 10.0 + LINE * count(at);
            scene.marks.push(Mark::Text(TextLabel::new(line, found.0, baseline, SIZE)));
        }
    }
    Ok(scene)
}

/// Returns the point of the ring, of this radius, that is nearest to the end of the line to its text.
fn edge(anchor: &Anchored, radius: f64, end: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (end.0 - anchor.x, end.1 - anchor.y);
    let length = (dx * dx + dy * dy).sqrt().max(RING);
    (anchor.x + dx / length * radius, anchor.y + dy / length * radius)
}

/// Returns whether a text in these bounds covers nothing, and its line no label.
fn is_free(scene: &Scene, anchor: &Anchored, bounds: Bounds) -> bool {
    let (left, top, right, bottom) =
        (bounds.0 - 4.0, bounds.1 - 3.0, bounds.2 + 4.0, bounds.3 + 3.0);
    let edge = MARGIN / 2.0;
    let is_inside =
        edge <= left && edge <= top && right <= scene.width - edge && bottom <= scene.height - edge;
    let roomy = (left, top, right, bottom);
    let end = (anchor.x.clamp(bounds.0, bounds.2), anchor.y.clamp(bounds.1, bounds.3));
    let is_in_way = |mark: &Mark| match label(mark) {
        Some((_, _, other)) => touch(roomy, other) || crosses((anchor.x, anchor.y), end, other),
        None => is_data(mark) && covers(mark, roomy),
    };
    is_inside && !scene.marks.iter().any(is_in_way)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::gallery::{chart, many};
    use crate::gallery_types::with_options;
    use crate::plot::{Emphasis, Plot};
    use crate::scene;
    use crate::scene::Mark;
    use csv_agent_types::chart::ChartType;
    use csv_agent_types::chart_options::{Annotation, ChartOptions};

    fn plot(kind: ChartType, x: &[&str], options: ChartOptions) -> Plot {
        let x: Vec<_> = x.iter().map(|it| json!(it)).collect();
        let made = chart(kind, "", "object", &x, &many(1, x.len(), 90.0));
        Plot::of(&with_options(&made, options))
    }

    #[test]
    fn a_category_is_found_where_it_is_drawn() {
        let highlight = |kind, x: &[&str], name: &str| {
            let options = ChartOptions { highlight: Some(name.into()), ..ChartOptions::default() };
            plot(kind, x, options).emphasis
        };
        let months = ["Mar", "Jan", "Feb"];
        assert_eq!(highlight(ChartType::Bar, &months, "Mar"), Some(Emphasis::Row(2)));
        let days = ["2024-01-01", "2024-02-01"];
        assert_eq!(highlight(ChartType::Column, &days, "2024-02-01"), Some(Emphasis::Row(1)));
    }

    #[test]
    fn a_text_is_at_its_point_or_in_the_note() {
        let note = |x: &str, y, text: &str| Annotation { x: x.into(), y, text: text.into() };
        let texts = [
            note("2024-02-10", None, "nearest"),
            note("2024-03-01", Some(7.0), "word ".repeat(60).trim()),
            note("2031-01-01", None, "beyond"),
        ];
        let options = ChartOptions { annotations: Some(texts.to_vec()), ..ChartOptions::default() };
        let days = ["2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"];
        let plot = plot(ChartType::Line, &days, options);
        let rows: Vec<_> = plot.annotations.iter().map(|it| it.row).collect();
        assert_eq!(rows, [1, 2]);
        assert_eq!(plot.notes[0], "2031-01-01: beyond");
        let scene = scene(&plot);
        let has = |text: &str| {
            let is_it = |it: &Mark| matches!(it, Mark::Text(label) if label.text.starts_with(text));
            scene.marks.iter().any(is_it)
        };
        assert!(has("nearest") && has("Mar 2024, 7: word word"));
    }
}
