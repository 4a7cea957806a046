//! Names at the ends of lines, where a reader looks for them.

use csv_agent_types::chart::ChartType;

use super::fit;
use super::plot::Plot;
use super::scene::Mark;
use super::sheet::{ChartBuilder, LINE, SIZE, count, widest};
use crate::glyphs::Weight;
use crate::text::TextLabel;
use crate::theme::Colour;

/// The widest line of a name.
const NAME_MAX: f64 = 150.0;
/// Maximum lines of a name.
const NAME_LINES_MAX: usize = 2;
/// Maximum distance of a name from its line's end, upwards or downwards.
pub(crate) const SHIFT_MAX: f64 = 34.0;
/// Maximum share of the axis by which a line may end before the others.
const EARLY_MAX: f64 = 0.03;
/// Distance from the end of the axis to the names.
pub(crate) const GAP: f64 = 10.0;

/// The names of a chart's lines, if they fit at the ends.
pub(crate) struct Names {
    /// One per series.
    lines: Vec<Vec<String>>,
}

impl Names {
    /// Returns the names of several lines if they are short; otherwise there is a legend.
    pub(crate) fn of(plot: &Plot) -> Option<Names> {
        let is_wanted = plot.chart_type == ChartType::Line
            && !plot.space.is_panel
            && 1 < plot.series.len()
            && plot.series.iter().all(|it| !it.name.trim().is_empty());
        let lines =
            |name: &String| fit::wrap(name, SIZE, Weight::Regular, NAME_MAX, NAME_LINES_MAX);
        let names = plot.series.iter().map(|it| lines(&it.name));
        Some(Names { lines: is_wanted.then(|| names.collect::<Option<_>>()).flatten()? })
    }

    /// Returns the width of the names to the right of the lines, in pixels.
    pub(crate) fn width(&self) -> f64 {
        widest(self.lines.iter().flatten()) + GAP
    }

    /// Returns the names at the ends of the lines, if those are where a reader looks for them. `ends` has
    /// the last point of each series.
    pub(crate) fn at(
        &self,
        plot: &Plot,
        ends: &[Option<(f64, f64)>],
        (left, right): (f64, f64),
    ) -> Option<Vec<SideLabel>> {
        let ends = ends.iter().copied().collect::<Option<Vec<_>>>()?;
        let latest = ends.iter().fold(f64::MIN, |it, end| it.max(end.0));
        if ends.iter().any(|it| it.0 < latest - (right - left) * EARLY_MAX) {
            return None;
        }
        let labels = ends.into_iter().zip(&self.lines).enumerate();
        let label = |(series, (end, lines)): (usize, ((f64, f64), &Vec<String>))| SideLabel {
            end,
            lines: lines.clone(),
            colour: plot.colour(series, None),
        };
        Some(labels.map(label).collect())
    }
}

/// A label to the right of the marks, joined to one of them by a line.
pub(crate) struct SideLabel {
    /// What it is the label of.
    pub end: (f64, f64),
    /// Its text.
    pub lines: Vec<String>,
    /// The colour of the line.
    pub colour: Colour,
}

/// Draws labels to the right of the marks without overlap, if each is at most `shift_max` pixels away
/// from what it names.
#[must_use]
pub(crate) fn beside(
    sheet: &mut ChartBuilder,
    labels: &[SideLabel],
    right: f64,
    (top, bottom): (f64, f64),
    shift_max: f64,
) -> bool {
    let heights: Vec<_> = labels.iter().map(|it| LINE * count(it.lines.len())).collect();
    let wanted: Vec<_> = labels.iter().map(|it| it.end.1).collect();
    let Some(middles) = spread(&wanted, &heights, (top - LINE, bottom + LINE / 2.0)) else {
        return false;
    };
    let shifts = middles.iter().zip(&wanted).map(|(middle, wanted)| (middle - wanted).abs());
    if shifts.fold(0.0, f64::max) > shift_max {
        return false;
    }
    for (label, middle) in labels.iter().zip(middles) {
        let x = right + GAP;
        let points = vec![(label.end.0 + 5.0, label.end.1), (x - 5.0, middle)];
        sheet.mark(Mark::Line { points, width: 1.0, colour: label.colour });
        let first = middle - LINE * (count(label.lines.len()) - 1.0) / 2.0 + 4.5;
        for (at, line) in label.lines.iter().enumerate() {
            sheet.text(TextLabel::new(line.clone(), x, first + LINE * count(at), SIZE));
        }
    }
    true
}

/// Returns non-overlapping centres near the wanted ones for items of these heights, in the same order;
/// `None` where they do not fit.
fn spread(wanted: &[f64], heights: &[f64], (top, bottom): (f64, f64)) -> Option<Vec<f64>> {
    if bottom - top < heights.iter().sum() {
        return None;
    }
    let mut order: Vec<_> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    // Blocks of touching neighbours: the index of each block's first item in `order`, its height, its
    // upper edge.
    let mut blocks: Vec<(usize, f64, f64)> = Vec::new();
    for (at, it) in order.iter().enumerate() {
        blocks.push((at, heights[*it], 0.0));
        loop {
            let (from, height, _) = *blocks.last()?;
            let until = at + 1;
            let mut above = 0.0;
            let mut total = 0.0;
            for it in &order[from..until] {
                total += wanted[*it] - above - heights[*it] / 2.0;
                above += heights[*it];
            }
            let edge = (total / count(until - from)).min(bottom - height).max(top);
            blocks.last_mut()?.2 = edge;
            let Some(before) = blocks.len().checked_sub(2).map(|it| blocks[it]) else { break };
            if before.2 + before.1 <= edge {
                break;
            }
            blocks.pop();
            *blocks.last_mut()? = (before.0, before.1 + height, before.2);
        }
    }
    let mut middles = vec![0.0; wanted.len()];
    for (at, (from, _, edge)) in blocks.iter().enumerate() {
        let until = blocks.get(at + 1).map_or(order.len(), |it| it.0);
        let mut edge = *edge;
        for it in &order[*from..until] {
            middles[*it] = edge + heights[*it] / 2.0;
            edge += heights[*it];
        }
    }
    Some(middles)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::spread;
    use csv_agent_testing::cases;

    #[track_caller]
    fn check(wanted: &[f64], middles: Option<&[f64]>) {
        let heights = vec![10.0; wanted.len()];
        assert_eq!(spread(wanted, &heights, (0.0, 100.0)).as_deref(), middles);
    }

    #[test]
    fn names_move_no_further_than_they_must() {
        check(&[50.0, 20.0], Some(&[50.0, 20.0]));
        check(&[50.0, 50.0, 80.0], Some(&[45.0, 55.0, 80.0]));
        check(&[99.0, 98.0, 1.0], Some(&[95.0, 85.0, 5.0]));
        check(&[5.0; 11], None);
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn names_are_apart_and_inside(wanted in proptest::collection::vec(0.0..300.0_f64, 1..9)) {
            let heights: Vec<_> = wanted.iter().map(|it| if *it < 90.0 { 34.0 } else { 17.0 }).collect();
            let middles = spread(&wanted, &heights, (0.0, 300.0)).unwrap();
            for (at, middle) in middles.iter().enumerate() {
                let half = heights[at] / 2.0 - 1e-9;
                prop_assert!(0.0 <= middle - half && middle + half <= 300.0);
                for other in at + 1..middles.len() {
                    let apart = (middle - middles[other]).abs();
                    prop_assert!(half + heights[other] / 2.0 - 1e-9 <= apart, "{middles:?}");
                }
            }
        }
    }
}
