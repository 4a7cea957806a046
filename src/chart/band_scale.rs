//! Rows side by side: a band for each, with the labels under them.

use std::collections::HashMap;

use jiff::civil::DateTime;

use super::fit;
use super::plot::{Space, X};
use super::sheet::{ChartBuilder, LINE, MARGIN, SIZE, count, widest};
use super::text;
use super::time::{self, Unit};
use crate::glyphs::Weight;
use crate::text::{Anchor, TextLabel};
use crate::theme::Colour;

/// Maximum number of bands, for rows and for gaps in the data.
const BANDS_MAX: usize = 300;
/// The longest rotated label.
const TURNED_LABEL_MAX: f64 = 170.0;
/// The share of the height that rotated labels may take.
pub(crate) const TURNED_SHARE_MAX: f64 = 0.32;
/// The band width that a rotated label requires.
pub(crate) const TURNED_BAND_MIN: f64 = 16.0;
/// The band width below which some of the counting labels are left out and the others remain
/// horizontal, as plain numbers always do.
const COUNTING_BAND_MIN: f64 = 22.0;
/// Maximum lines of a horizontal label.
const LABEL_LINES_MAX: usize = 3;
/// The longest label when it is not the only one.
const LABEL_MAX: f64 = 150.0;
/// With more labels than this, some of those that only count may be left out.
const COUNTING_MIN: usize = 20;
/// Pixels between the labels of an axis.
const GAP: f64 = 12.0;

/// The bands of rows whose values are drawn as lengths.
pub(crate) struct Bands {
    /// One entry per band.
    pub x: X,
    /// The band of each row.
    pub of_rows: Vec<usize>,
}

impl Bands {
    /// Assigns a band to each row. Where x ascends in regular steps, a step without a row becomes a
    /// band without bars: a month without sales should be visible.
    pub(crate) fn of(x: &X) -> Bands {
        let plain = || Bands { x: x.clone(), of_rows: (0..x.len()).collect() };
        match x {
            X::Times(times) => {
                let known: Option<Vec<DateTime>> = times.iter().copied().collect();
                let Some(known) = known else { return plain() };
                let Some(all) = time::filled(&known, BANDS_MAX) else { return plain() };
                let of_rows = places(&known, &all);
                Bands { x: X::Times(all.into_iter().map(Some).collect()), of_rows }
            }
            X::Numbers(numbers) => {
                let whole = |it: &Option<f64>| it.filter(|it| it.fract() == 0.0).and_then(exact);
                let known: Option<Vec<i64>> = numbers.iter().map(whole).collect();
                let all = known.as_ref().and_then(|it| time::regular(it, BANDS_MAX));
                let (Some(known), Some(all)) = (known, all) else { return plain() };
                let of_rows = places(&known, &all);
                let number = |it: i64| it.to_string().parse().ok();
                Bands { x: X::Numbers(all.into_iter().map(number).collect()), of_rows }
            }
            X::Labels(_) => plain(),
        }
    }
}

fn places<T: Eq + std::hash::Hash>(rows: &[T], all: &[T]) -> Vec<usize> {
    let at: HashMap<&T, usize> = all.iter().zip(0..).collect();
    rows.iter().filter_map(|it| at.get(it).copied()).collect()
}

/// Returns the whole number equal to an `f64`.
fn exact(value: f64) -> Option<i64> {
    (value.abs() < 9e15).then(|| value.to_string().parse().ok()).flatten()
}

/// The labels under an axis.
pub(crate) struct AxisLabels {
    /// The pixel of each label's centre, and its lines.
    labels: Vec<(f64, Vec<String>)>,
    is_turned: bool,
    /// In pixels.
    pub height: f64,
}

impl AxisLabels {
    /// Labels bands of width `band`, the first of which begins at `left`.
    pub(crate) fn bands(x: &X, band: f64, left: f64, space: &Space) -> AxisLabels {
        let at = |it: usize| left + band * (count(it) + 0.5);
        if let X::Times(times) = x {
            return AxisLabels::times(&band_times(times, x.unit(), band), x.unit(), at);
        }
        let labels: Vec<_> = (0..x.len()).map(|it| x.full_label(it)).collect();
        if let Some(lines) = level_labels(&labels, band) {
            return AxisLabels::level(
                lines.into_iter().enumerate().map(|(it, lines)| (at(it), lines)),
            );
        }
        let room = match &labels {
            labels if !counts(labels) => TURNED_BAND_MIN,
            labels if labels.iter().all(|it| it.chars().all(char::is_numeric)) => f64::MAX,
            _ => COUNTING_BAND_MIN,
        };
        let is_turned = room <= band && matches!(x, X::Labels(_));
        if is_turned {
            let room = TURNED_LABEL_MAX.min(space.height * TURNED_SHARE_MAX);
            let labels = fit::shorten_all(&labels, SIZE, Weight::Regular, room);
            let height = widest(labels.iter());
            let labels = labels.into_iter().enumerate().map(|(it, label)| (at(it), vec![label]));
            return AxisLabels { labels: labels.collect(), is_turned, height };
        }
        let labels = fit::shorten_all(&labels, SIZE, Weight::Regular, LABEL_MAX);
        let stride = stride(widest(labels.iter()) + GAP, band);
        let labels = labels.into_iter().enumerate().step_by(stride);
        AxisLabels::level(labels.map(|(it, label)| (at(it), vec![label])))
    }

    /// Labels positions, horizontally.
    pub(crate) fn level(labels: impl Iterator<Item = (f64, Vec<String>)>) -> AxisLabels {
        let labels: Vec<_> = labels.collect();
        let used =
            |it: &Vec<String>| it.iter().rposition(|it| !it.is_empty()).map_or(0, |it| it + 1);
        let n_lines = labels.iter().map(|it| used(&it.1)).max().unwrap_or(1).max(1);
        AxisLabels { labels, is_turned: false, height: LINE * count(n_lines) }
    }

    /// Labels times, each in the context of the previous one.
    pub(crate) fn times<T>(times: &[(T, DateTime)], unit: Unit, at: impl Fn(T) -> f64) -> AxisLabels
    where
        T: Copy,
    {
        let mut before = None;
        let labels = times.iter().map(|(place, time)| {
            let (upper, lower) = time::label(*time, before.replace(*time), unit);
            (at(*place), vec![upper, lower])
        });
        AxisLabels::level(labels)
    }

    /// Returns the x pixels of the labels.
    pub(crate) fn places(&self) -> impl Iterator<Item = f64> {
        self.labels.iter().map(|it| it.0)
    }

    /// Draws the labels under `bottom`, with a tick for each if `has_ticks`. A label that would touch
    /// the previous one is left out.
    pub(crate) fn draw(&self, sheet: &mut ChartBuilder, bottom: f64, has_ticks: bool) {
        // The right end of each line so far.
        let mut ends = vec![f64::MIN; LABEL_LINES_MAX];
        for (x, lines) in &self.labels {
            if self.is_turned {
                for line in lines {
                    let mut label = TextLabel::new(line.clone(), x + 4.5, bottom + 7.0, SIZE);
                    label.is_turned = true;
                    sheet.text(label.anchored(Anchor::End));
                }
                continue;
            }
            let half = widest(lines.iter()) / 2.0;
            let (first, last) = (MARGIN / 2.0 + half, sheet.width - MARGIN / 2.0 - half);
            let middle = x.min(last).max(first);
            let half = |it: &String| text::width(it, SIZE, Weight::Regular) / 2.0;
            let touches = |(line, end): (&String, &f64)| middle - half(line) < end + GAP / 2.0;
            if lines.iter().zip(&ends).any(|it| !it.0.is_empty() && touches(it)) {
                continue;
            }
            if has_ticks {
                sheet.line((*x, bottom), (*x, bottom + 5.0), Colour::AXIS);
            }
            for (at, line) in lines.iter().enumerate().filter(|it| !it.1.is_empty()) {
                ends[at] = middle + half(line);
                let y = bottom + 19.0 + LINE * count(at);
                sheet.text(TextLabel::new(line.clone(), middle, y, SIZE).anchored(Anchor::Middle));
            }
        }
    }
}

/// Returns the bands to label: all, those at round times, or every n-th.
fn band_times(times: &[Option<DateTime>], unit: Unit, band: f64) -> Vec<(usize, DateTime)> {
    let known = times.iter().enumerate().filter_map(|(at, time)| Some((at, (*time)?)));
    let known: Vec<_> = known.collect();
    let room = time_room(unit);
    if room <= band {
        return known;
    }
    let is_ascending = known.is_sorted_by(|a, b| a.1 < b.1);
    if let (true, Some(first), Some(last)) = (is_ascending, known.first(), known.last()) {
        let n_steps = text::to_pixel(band * count(times.len()) / room);
        let n_steps = u32::try_from(n_steps).unwrap_or(1).max(1);
        let (round, _) = time::ticks(first.1, last.1, n_steps, unit);
        let is_round = |it: &&(usize, DateTime)| round.contains(&it.1);
        let labelled: Vec<_> = known.iter().filter(is_round).copied().collect();
        let is_apart = |it: &[(usize, DateTime)]| room <= count(it[1].0 - it[0].0) * band;
        if 2 < labelled.len() && labelled.windows(2).all(is_apart) {
            return labelled;
        }
    }
    known.into_iter().step_by(stride(room, band)).collect()
}

/// Returns the width that time labels require.
pub(crate) fn time_room(unit: Unit) -> f64 {
    let sample = match unit {
        Unit::Year | Unit::Month => "2024",
        Unit::Day => "30 Sep",
        Unit::Minute | Unit::Second => "00:00:00",
    };
    text::width(sample, SIZE, Weight::Regular) + GAP
}

/// Returns the lines of each label if all fit their bands.
pub(crate) fn level_labels(labels: &[String], band: f64) -> Option<Vec<Vec<String>>> {
    let lines = |it: &String| fit::wrap(it, SIZE, Weight::Regular, band - 8.0, LABEL_LINES_MAX);
    labels.iter().map(lines).collect()
}

/// Returns whether many labels differ only in ascending numbers, so that some may be left out: between
/// `Week 4` and `Week 6` is `Week 5`.
pub(crate) fn counts(labels: &[String]) -> bool {
    let parts = |label: &String| {
        let is_digit = |it: char| it.is_ascii_digit();
        let words: Vec<_> = label.split(is_digit).filter(|it| !it.is_empty()).collect();
        let numbers: Option<Vec<u64>> = label
            .split(|it| !is_digit(it))
            .filter(|it| !it.is_empty())
            .map(|it| it.parse().ok())
            .collect();
        (words.join("0"), numbers)
    };
    let parts: Vec<_> = labels.iter().map(parts).collect();
    let is_next = |it: &[(String, Option<Vec<u64>>)]| {
        it[0].0 == it[1].0 && it[0].1.is_some() && it[0].1 < it[1].1
    };
    COUNTING_MIN < labels.len() && parts.windows(2).all(is_next)
}

/// Returns the interval in bands at which labels of that width fit.
pub(crate) fn stride(room: f64, band: f64) -> usize {
    usize::try_from(text::to_pixel((room / band).ceil())).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::{AxisLabels, Space, X, counts};

    #[test]
    fn labels_that_only_count_are_told_from_names() {
        let many = |it: fn(u32) -> String| (1..40).map(it).collect::<Vec<_>>();
        assert!(counts(&many(|it| format!("Week {it}"))));
        assert!(counts(&many(|it| format!("{}-W{:02}", 2020 + it / 13, it % 13 + 1))));
        assert!(!counts(&many(|it| format!("Week {}", 50 - it))));
        assert!(!counts(&many(|it| format!("{} {it}", ["Anvil", "Rope"][it as usize % 2]))));
        assert!(!counts(&[String::from("Week 1"), String::from("Week 2")]));
    }

    #[test]
    fn numbers_stay_level_and_names_that_count_are_turned() {
        let below = |it: fn(u32) -> String| {
            AxisLabels::bands(&X::Labels((2000..2024).map(it).collect()), 36.0, 0.0, &Space::WHOLE)
        };
        let years = below(|it| it.to_string());
        assert!(!years.is_turned && years.labels.len() == 12);
        let stores = below(|it| format!("Store {it}"));
        assert!(stores.is_turned && stores.labels.len() == 24);
    }
}
