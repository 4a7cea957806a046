//! What takes up the question before: its parts are edits of the last query.

use crate::actions::natural;
use crate::assemble::as_drawn;
use crate::frag::Frag;
use crate::lexicon::{Concept, Cue};
use crate::query::{
    Agg, Chart, GroupKey, Groups, Listing, LogicalForm, Measure, Place, Profile, Shape, Test, Value,
};
use crate::scene::Scene;
use crate::schema::Kind;
use crate::words::Token;

/// How odd the changed query may be.
const ODD_MAX: f64 = 2.5;
/// Words of a question that takes up another.
const WORDS_MAX: usize = 12;

/// Returns whether a question may take up the one before.
pub(crate) fn may_continue(tokens: &[Token]) -> bool {
    !tokens.is_empty() && tokens.len() <= WORDS_MAX
}

/// Returns whether a question says that it takes up the one before, also if it has all that a question needs: it begins
/// with `and`, or has a word for what was answered.
pub(crate) fn takes_up(scene: &Scene) -> bool {
    let lexicon = scene.lexicon;
    let words: Vec<String> = scene.tokens.iter().map(|it| it.lower.clone()).collect();
    let joins = (1..=3).filter_map(|n| words.get(..n)).any(|it| {
        lexicon.is(Cue::Joins, &it.join(" "))
            || matches!(lexicon.phrase(it), Some(Concept::WhatAbout | Concept::Only))
    });
    // `those who left` are said here.
    let is_said = |at: usize| words.get(at + 1).is_some_and(|it| lexicon.is(Cue::Relatives, it));
    let stands_for = |at: usize| lexicon.is(Cue::Anaphors, &words[at]) && !is_said(at);
    // `median instead`
    let trails = words.split_last().is_some_and(|(last, rest)| {
        !rest.is_empty() && lexicon.phrase(std::slice::from_ref(last)) == Some(Concept::WhatAbout)
    });
    joins || trails || (0..words.len()).any(stands_for)
}

/// Returns whether a question says that it takes up the one before.
pub(crate) fn leads_on(scene: &Scene) -> bool {
    let lexicon = scene.lexicon;
    let words: Vec<String> = scene.tokens.iter().map(|it| it.lower.clone()).collect();
    let begins = |n: usize| words.get(..n).map(|it| it.join(" "));
    let leads = (1..=3)
        .filter_map(begins)
        .any(|it| lexicon.is(Cue::Leads, &it) || lexicon.is(Cue::Joins, &it));
    let asks = (1..=3)
        .filter_map(|n| words.get(..n))
        .any(|it| matches!(lexicon.phrase(it), Some(Concept::WhatAbout | Concept::Only)));
    leads || asks
}

/// Returns whether parts are no question of their own: a group, a condition, an order.
pub(crate) fn is_fragment(frag: &Frag) -> bool {
    frag.measures.is_empty()
        && !frag.has_rows
        && !frag.is_list
        && frag.target.is_none()
        && frag.body.is_none()
        && !frag.is_trend
}

/// Returns whether parts are a question of their own: what is asked for is said, and of which groups, in which order, or
/// how it is computed.
pub(crate) fn is_whole(scene: &Scene, frag: &Frag) -> bool {
    if !is_fragment(frag) {
        return true;
    }
    let is_number = |it: &&Place| scene.kind(**it).is_number();
    let n_numbers = frag.columns.iter().filter(is_number).count();
    let says_more = !frag.aggs.is_empty() || !frag.keys.is_empty() || frag.order.is_some();
    // `the 3 largest by price`: of what, was said before.
    let is_by = |it: &Token| {
        matches!(
            scene.lexicon.phrase(std::slice::from_ref(&it.lower)),
            Some(Concept::By | Concept::Sorted)
        )
    };
    let ranks = frag.by.is_some() && 1 < scene.tokens.len() && !scene.tokens.iter().any(is_by);
    0 < n_numbers && (says_more || n_numbers < frag.columns.len()) || ranks
}

/// Returns the last query with the parts in the place of its own; nothing if it has no place for them.
pub(crate) fn edit(scene: &Scene, last: &LogicalForm, frag: &Frag) -> Option<LogicalForm> {
    if frag.body.is_some() || frag.target.is_some() || frag.claim.is_some() || frag.first.is_some()
    {
        return None;
    }
    let mut query = last.clone();
    if let Some(chart) = frag.chart {
        // `on a log scale` is said of the chart that there is.
        query.chart = Some(chart).filter(|it| *it != Chart::Any).or(query.chart).or(frag.chart);
        query.look = frag.look.with(query.look);
        query = as_drawn(scene, query);
    }
    for test in &frag.tests {
        replace(&mut query.filters, test);
    }
    let numbers: Vec<Place> =
        frag.columns.iter().copied().filter(|it| scene.kind(*it).is_number()).collect();
    // `only the active ones` is a condition.
    let are_flags = frag.columns.iter().any(|it| scene.kind(*it) == Kind::Bool);
    if are_flags && frag.keys.is_empty() && frag.measures.is_empty() {
        return None;
    }
    let others = frag.columns.iter().copied().filter(|it| !scene.kind(*it).is_number());
    let is_amount = |key: &GroupKey| match key {
        GroupKey::Column(place) => {
            let column = scene.column(*place);
            column.kind.is_number()
                && column.unit.is_none()
                && column.values.is_none()
                && !column.is_key
        }
        _ => false,
    };
    if frag.keys.iter().any(is_amount) {
        return None;
    }
    let mut keys = frag.keys.clone();
    keys.extend(others.map(GroupKey::Column));
    match &mut query.body {
        Shape::Groups(groups) => edit_groups(scene, groups, frag, &numbers, keys)?,
        Shape::Rows(listing) => edit_rows(listing, frag, &numbers, &keys, &mut query.filters)
            .then_some(())
            .or_else(|| to_groups(scene, &mut query, frag, &numbers, keys))?,
        Shape::Compare(comparison) => {
            if !keys.is_empty() || frag.order.is_some() {
                return None;
            }
            if let [measure] = &frag.measures[..] {
                comparison.measure = measure.clone();
            }
        }
        // `distribution of price`, `by region`
        Shape::Profile(Profile::Distribution(place))
            if scene.is_number(*place) && keys.len() == 1 && frag.measures.is_empty() =>
        {
            query.body = Shape::Groups(Groups::boxes(keys, *place));
            query.chart = Some(Chart::Box);
        }
        Shape::Profile(_) | Shape::Check(_) => {
            let is_plain = keys.is_empty() && numbers.is_empty() && frag.measures.is_empty();
            if !is_plain || frag.order.is_some() {
                return None;
            }
        }
    }
    (query != *last && crate::sense::cost(scene, &query) < ODD_MAX).then_some(query)
}

/// Puts a condition in the place of another on the same value.
fn replace(filters: &mut Vec<Test>, test: &Test) {
    let of = |it: &Test| match it {
        Test::In(value, _) | Test::Is(value, ..) => Some(value.clone()),
        Test::Not(inner) => match &**inner {
            Test::In(value, _) => Some(value.clone()),
            _ => None,
        },
        _ => None,
    };
    let is_same = |it: &Test| of(it).is_some() && of(it) == of(test);
    filters.retain(|it| !is_same(it));
    filters.push(test.clone());
}

fn edit_groups(
    scene: &Scene,
    groups: &mut Groups,
    frag: &Frag,
    numbers: &[Place],
    keys: Vec<GroupKey>,
) -> Option<()> {
    let had_order = groups.order.is_some();
    if let [agg] = &frag.aggs[..] {
        match numbers {
            [place] => groups.measures = vec![Measure::of(agg.clone(), *place)],
            [] => {
                let place = groups.measures.first()?.place()?;
                groups.measures = vec![Measure::of(agg.clone(), place)];
            }
            _ => return None,
        }
    } else if !frag.measures.is_empty() {
        let agg = groups.measures.first().map(|it| it.agg.clone());
        groups.measures.clone_from(&frag.measures);
        // `the 5 worst by profit` is the total, where totals were asked for.
        if frag.is_by_measure
            && let (Some(agg @ (Agg::Sum | Agg::Mean)), [measure]) = (agg, &mut groups.measures[..])
        {
            measure.agg = agg;
        }
        groups.then.clone_from(&frag.then);
    } else if let [place] = numbers {
        let agg = groups.measures.first()?.agg.clone();
        let is_counted = groups.measures.first()?.is_rows();
        let measure = if is_counted {
            natural(scene, *place).into_iter().next()?.0
        } else {
            Measure::of(agg, *place)
        };
        groups.measures = vec![measure];
    } else if !numbers.is_empty() {
        return None;
    }
    if !keys.is_empty() {
        groups.keys = keys;
    }
    if let Some(order) = frag.order {
        // `and the lowest?` is as many as before.
        let n = order.n.or(groups.order.and_then(|it| it.n));
        groups.order = Some(crate::query::SortOrder { n, ..order });
    } else if had_order && groups.keys.is_empty() {
        groups.order = None;
    }
    if frag.over.is_some() {
        groups.over = frag.over;
    }
    if groups.keys.is_empty() && (groups.order.is_some() || groups.over.is_some()) {
        return None;
    }
    Some(())
}

/// Changes a list of rows. Returns whether that is all that is asked.
fn edit_rows(
    listing: &mut Listing,
    frag: &Frag,
    numbers: &[Place],
    keys: &[GroupKey],
    _filters: &mut [Test],
) -> bool {
    if !frag.measures.is_empty() || !frag.aggs.is_empty() || frag.over.is_some() {
        return false;
    }
    if let Some(order) = frag.order {
        let by = frag.by.or(numbers.first().copied()).map(Value::Column);
        let by = by.or(listing.order.as_ref().map(|it| it.0.clone()));
        let Some(by) = by else { return false };
        let n = order.n.or(listing.order.as_ref().and_then(|it| it.1.n));
        listing.order = Some((by, crate::query::SortOrder { n, ..order }));
        return true;
    }
    if frag.is_list || frag.has_rows {
        return true;
    }
    numbers.is_empty() && keys.is_empty()
}

/// Returns the number that rows were ranked by, if the first alone was asked for.
fn ranked_by(listing: &Listing) -> Option<Measure> {
    match &listing.order {
        Some((Value::Column(place), order)) if order.is_first() => {
            let agg = if order.is_ascending { Agg::Min } else { Agg::Max };
            Some(Measure::of(agg, *place))
        }
        _ => None,
    }
}

/// Counts the rows that were listed, or computes with them.
fn to_groups(
    scene: &Scene,
    query: &mut LogicalForm,
    frag: &Frag,
    numbers: &[Place],
    keys: Vec<GroupKey>,
) -> Option<()> {
    let ranked = match &query.body {
        Shape::Rows(listing) if listing.order.is_some() => Some(listing),
        _ => None,
    };
    let measures = match (&frag.measures[..], &frag.aggs[..], numbers) {
        // `heaviest penguin`, `by island`
        ([], [], []) if let Some(listing) = ranked => {
            vec![ranked_by(listing).filter(|_| frag.order.is_none())?]
        }
        ([], [], []) => vec![Measure::ROWS],
        ([], [], [place]) => vec![natural(scene, *place).into_iter().next()?.0],
        ([], aggs, [place]) => aggs.iter().map(|it| Measure::of(it.clone(), *place)).collect(),
        (measures, [], []) => measures.to_vec(),
        _ => return None,
    };
    let order = frag.order.filter(|_| !keys.is_empty());
    query.body = Shape::Groups(Groups { order, ..Groups::new(keys, measures) });
    Some(())
}
