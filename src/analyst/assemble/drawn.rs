//! What a query computes so that the chart that was asked for can be drawn.

use crate::lexicon::TimeUnit;
use crate::query::{Agg, Chart, GroupKey, Groups, LogicalForm, Part, Profile, Shape};
use crate::scene::Scene;

/// Returns a query whose result has what its chart shows.
pub(crate) fn as_drawn(scene: &Scene, mut query: LogicalForm) -> LogicalForm {
    let Some(chart) = query.chart else { return query };
    let is_plain = |it: &Groups| it.having.is_none() && it.over.is_none() && it.then.is_none();
    match &mut query.body {
        Shape::Groups(groups) if is_plain(groups) => {
            cycles(groups);
            let number = groups.measures[0]
                .place()
                .filter(|it| scene.is_number(*it) && takes_values(&groups.measures[0].agg));
            match (number, chart) {
                (Some(place), Chart::Box) if groups.keys.len() < 2 => {
                    *groups = Groups::boxes(groups.keys.clone(), place);
                }
                (Some(place), Chart::Histogram) if groups.keys.is_empty() => {
                    query.body = Shape::Profile(Profile::Distribution(place));
                }
                _ => {}
            }
        }
        // Of the rows that were listed, the numbers.
        Shape::Rows(listing) if matches!(chart, Chart::Box | Chart::Histogram) => {
            let (numbers, others): (Vec<_>, Vec<_>) =
                listing.columns.iter().partition(|it| scene.kind(**it).is_number());
            match (&numbers[..], &others[..]) {
                ([place], []) => query.body = Shape::Profile(Profile::Distribution(*place)),
                ([place], [key]) if chart == Chart::Box => {
                    let keys = vec![GroupKey::Column(*key)];
                    query.body = Shape::Groups(Groups::boxes(keys, *place));
                }
                _ => {}
            }
        }
        _ => {}
    }
    query
}

/// Returns whether a number is made of values that can be drawn one by one.
fn takes_values(agg: &Agg) -> bool {
    matches!(agg, Agg::Sum | Agg::Mean | Agg::Median | Agg::Min | Agg::Max)
}

/// Makes the smaller of two units of the same time a part of the larger: the hours of weekdays or months are those of
/// a day, and the months of years those of a year.
fn cycles(groups: &mut Groups) {
    let [one, other] = groups.keys[..] else { return };
    for (at, beside) in [(0, other), (1, one)] {
        let GroupKey::Time(place, unit) = groups.keys[at] else { continue };
        let part = match (unit, beside) {
            (TimeUnit::Hour, GroupKey::Part(..)) => Part::Hour,
            (TimeUnit::Hour, GroupKey::Time(_, larger)) if larger != unit => Part::Hour,
            (TimeUnit::Month, GroupKey::Time(_, TimeUnit::Year)) => Part::Month,
            _ => continue,
        };
        if beside.place() == place {
            groups.keys[at] = GroupKey::Part(place, part);
        }
    }
}
