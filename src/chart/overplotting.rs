//! Overlapping points: rows at one place become one larger point, and points that would hide others are
//! hollow.

use std::collections::{HashMap, HashSet};

use super::plot::Plot;
use super::scene::Mark;
use super::sheet::{Scale, count, shape};
use super::text::to_pixel;
use super::theme::Colour;

/// A larger point would reach the axis labels.
const RADIUS_MAX: f64 = 9.0;
/// A smaller point would be invisible.
const RADIUS_MIN: f64 = 1.5;
/// Pixels by which the largest point with a size is larger.
const SIZE_PAD: f64 = 9.0;
/// Points with sizes that have room for the largest; those of more are smaller.
const SIZED_MAX: f64 = 250.0;
/// The smallest point with a size.
const SIZED_RADIUS_MIN: f64 = 2.5;
/// Maximum share of hidden places before all points become hollow.
const HIDDEN_MAX: f64 = 0.1;

/// Places beyond which those on the same pixel are drawn once.
const PLACES_MAX: usize = 1_000;

/// The places of rows in a scatter plot.
pub(crate) struct Crowd {
    /// Within a series, those with more rows first, so that the others are drawn over them.
    places: Vec<PointPlace>,
    /// Rows at the place with the most.
    n_rows_max: usize,
    /// Radius of a place with one row.
    radius: f64,
    /// The largest of the sizes of points, if they have sizes.
    size_max: Option<f64>,
}

struct PointPlace {
    series: usize,
    x: f64,
    value: f64,
    n_rows: usize,
    size: Option<f64>,
    colour: Colour,
}

/// Returns the room that large points need beyond the axes, up to the labels there.
pub(crate) fn pad(plot: &Plot) -> f64 {
    if plot.series.iter().any(|it| !it.sizes.is_empty()) { SIZE_PAD + 2.0 } else { 0.0 }
}

impl Crowd {
    /// Counts the rows at each place; `positions` are the x pixels of the rows.
    pub(crate) fn of(plot: &Plot, positions: &[Option<f64>]) -> Crowd {
        let mut places: Vec<PointPlace> = Vec::new();
        for series in plot.drawn() {
            let it = &plot.series[series];
            let first = places.len();
            let mut at = HashMap::new();
            for (row, (x, value)) in positions.iter().zip(&it.values).enumerate() {
                let (Some(x), Some(value)) = (*x, *value) else { continue };
                let size = it.sizes.get(row).copied().flatten();
                // Zero has two signs but one place. Points with sizes are not counted.
                let own = if it.sizes.is_empty() { 0 } else { row };
                let key = ((x + 0.0).to_bits(), (value + 0.0).to_bits(), own);
                let place = *at.entry(key).or_insert(places.len());
                let colour = plot.colour(series, None);
                match places.get_mut(place) {
                    Some(place) => place.n_rows += 1,
                    None => places.push(PointPlace { series, x, value, n_rows: 1, size, colour }),
                }
            }
            places[first..].sort_by(|a, b| {
                let order = b.n_rows.cmp(&a.n_rows);
                order.then(b.size.unwrap_or(0.0).total_cmp(&a.size.unwrap_or(0.0)))
            });
        }
        let sizes = plot.series.iter().flat_map(|it| it.sizes.iter().flatten());
        let size_max = sizes.copied().reduce(f64::max).filter(|it| 0.0 < *it);
        let n_rows_max = places.iter().map(|it| it.n_rows).max().unwrap_or(1);
        let radius = match places.len() {
            0..=120 => 5.0_f64,
            121..=600 => 4.0,
            _ => 3.0,
        };
        let radius = radius.min(RADIUS_MAX / count(n_rows_max).sqrt());
        Crowd { places, n_rows_max, radius, size_max }
    }

    /// Returns the note that explains the sizes, or that not every point is drawn. That of panels is the
    /// same for all.
    pub(crate) fn note(&self, is_panel: bool) -> Option<String> {
        let n_rows = self.n_rows_max;
        if self.size_max.is_some() {
            return None;
        }
        if PLACES_MAX < self.places.len() {
            return Some("Points of a series on the same pixel are drawn once.".to_owned());
        }
        let most = if is_panel { String::new() } else { format!(": up to {n_rows}") };
        (1 < n_rows).then(|| format!("The larger a point, the more rows it represents{most}."))
    }

    /// Returns the points. Their area grows with their rows.
    pub(crate) fn marks(&self, scale: &Scale) -> Vec<Mark> {
        let is_hollow = HIDDEN_MAX * count(self.places.len()) < count(self.n_hidden(scale));
        let mark = |it: &PointPlace| Mark::Dot {
            x: it.x,
            y: scale.at(it.value),
            radius: self.radius(it),
            shape: shape(it.series),
            colour: it.colour,
            is_hollow,
        };
        let mut pixels = HashSet::new();
        let pixel = |it: &PointPlace| (it.series, to_pixel(it.x), to_pixel(scale.at(it.value)));
        let is_visible =
            |it: &&PointPlace| self.places.len() <= PLACES_MAX || pixels.insert(pixel(it));
        self.places.iter().filter(is_visible).map(mark).collect()
    }

    fn radius(&self, place: &PointPlace) -> f64 {
        let Some(largest) = self.size_max else {
            return (self.radius * count(place.n_rows).sqrt()).max(RADIUS_MIN);
        };
        let share = place.size.unwrap_or(0.0).max(0.0) / largest;
        let crowding = (SIZED_MAX / count(self.places.len())).min(1.0);
        ((RADIUS_MAX + SIZE_PAD) * (share * crowding).sqrt()).max(SIZED_RADIUS_MIN)
    }

    /// Returns the number of places whose centre is under another point.
    fn n_hidden(&self, scale: &Scale) -> usize {
        let mut all: Vec<_> =
            self.places.iter().map(|it| (it.x, scale.at(it.value), self.radius(it))).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let hides = |a: &(f64, f64, f64), b: &(f64, f64, f64)| {
            (a.0 - b.0) * (a.0 - b.0) + (a.1 - b.1) * (a.1 - b.1) < a.2.max(b.2) * a.2.max(b.2)
        };
        let reach = RADIUS_MAX + SIZE_PAD;
        let is_near = |a: &(f64, f64, f64), b: &(f64, f64, f64)| (a.0 - b.0).abs() < reach;
        let is_hidden = |at: usize| {
            let after = all[at + 1..].iter().take_while(|it| is_near(&all[at], it));
            let before = all[..at].iter().rev().take_while(|it| is_near(&all[at], it));
            after.chain(before).any(|it| hides(&all[at], it))
        };
        (0..all.len()).filter(|it| is_hidden(*it)).count()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Mark, RADIUS_MAX};
    use crate::gallery::chart;
    use crate::gallery_types::with_options;
    use crate::plot::Plot;
    use crate::scene;
    use csv_agent_types::chart::ChartType;
    use csv_agent_types::chart_options::ChartOptions;

    /// Returns the radius of each point, whether the points are hollow, and the last text.
    fn points(at: &[(f64, f64)]) -> (Vec<f64>, bool, String) {
        let x: Vec<_> = at.iter().map(|it| json!(it.0)).collect();
        let y = at.iter().map(|it| json!(it.1)).collect();
        let made = chart(ChartType::Scatter, "Points", "float64", &x, &[("y", y)]);
        let (mut radii, mut are_hollow, mut text) = (Vec::new(), false, String::new());
        for mark in scene(&Plot::of(&made)).marks {
            match mark {
                Mark::Dot { radius, is_hollow, .. } => {
                    radii.push(radius);
                    are_hollow = is_hollow;
                }
                Mark::Text(label) if label.text.contains("larger") => text = label.text,
                _ => {}
            }
        }
        (radii, are_hollow, text)
    }

    #[test]
    fn rows_at_one_place_are_one_point_whose_area_counts_them() {
        let (radii, are_hollow, note) =
            points(&[(1.0, 1.0), (2.0, 2.0), (2.0, 2.0), (2.0, 2.0), (2.0, 2.0)]);
        assert_eq!(radii, [RADIUS_MAX, RADIUS_MAX / 2.0]);
        assert!(!are_hollow);
        assert_eq!(note, "The larger a point, the more rows it represents: up to 4.");
        assert_eq!(points(&[(1.0, 0.0), (1.0, -0.0), (2.0, 2.0)]).0.len(), 2);
    }

    #[test]
    fn sizes_of_many_points_leave_room_for_each() {
        let largest = |n: u32| {
            let x: Vec<_> = (0..n).map(|it| json!(it)).collect();
            let made = chart(ChartType::Scatter, "", "int64", &x, &[("y", x.clone())]);
            let options = ChartOptions { size_by: Some("y0".into()), ..ChartOptions::default() };
            let marks = scene(&Plot::of(&with_options(&made, options))).marks;
            let radius = |it: &Mark| if let Mark::Dot { radius, .. } = it { *radius } else { 0.0 };
            marks.iter().map(radius).fold(0.0, f64::max)
        };
        assert!(largest(100) > 17.0 && largest(2_000) < 7.0);
    }

    #[test]
    fn of_thousands_of_points_those_on_one_pixel_are_drawn_once() {
        let dense: Vec<_> =
            (0..4_000).map(|it| (f64::from(it / 1_000), f64::from(it % 1_000))).collect();
        let (radii, _, _) = points(&dense);
        assert!((1_000..2_000).contains(&radii.len()), "{}", radii.len());
    }

    #[test]
    fn points_that_hide_others_are_hollow_and_few_are_not() {
        let near: Vec<_> = (0..100).map(|it| (f64::from(it), f64::from(it % 2))).collect();
        assert_eq!(points(&near), (vec![5.0; 100], false, String::new()));
        let close: Vec<_> = (0..100).map(|it| (f64::from(it * it * it), f64::from(it))).collect();
        let (radii, are_hollow, _) = points(&close);
        assert!(radii.len() == 100 && are_hollow);
    }
}
