//! Numbers of rows: aggregates, shares, ratios, expressions.

use super::{
    Action, Made, aggs_of, concept_of, frag, frag_of, held_of, holds_test, measure, measure_of,
    measures, merged, number_of, one, place_of, places_of, repeated, tests_of, unit_of,
};
use crate::frag::{Frag, Sem};
use crate::lexicon::{Concept, Cue};
use crate::link::is_time;
use crate::query::{Agg, Arithmetic, Measure, Place, Test, Value};
use crate::scene::Scene;
use crate::schema::Kind;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("aggs", |_, sems| {
        let aggs = aggs_of(sems);
        let is_twice = (1..aggs.len()).any(|it| aggs[..it].contains(&aggs[it]));
        if is_twice { Vec::new() } else { one(Sem::Aggs(aggs)) }
    }),
    ("quantiles", |_, sems| {
        let aggs = aggs_of(sems);
        let are_quantiles = aggs.iter().all(|it| matches!(it, Agg::Quantile(_)));
        match number_of(sems) {
            Some(n) if are_quantiles && (1.0..100.0).contains(&n) => {
                one(Sem::Aggs([vec![Agg::Quantile(n / 100.0)], aggs].concat()))
            }
            _ => Vec::new(),
        }
    }),
    ("range", |scene, sems| match place_of(sems) {
        Some(place) if scene.is_number(place) => {
            one(frag(|it| it.measures.push(Measure::of(Agg::Range, place))))
        }
        _ => Vec::new(),
    }),
    ("times", |scene, sems| expression(scene, sems, Arithmetic::Times)),
    ("minus", |scene, sems| expression(scene, sems, Arithmetic::Minus)),
    ("plus", |scene, sems| expression(scene, sems, Arithmetic::Plus)),
    ("divided", |scene, sems| expression(scene, sems, Arithmetic::DividedBy)),
    // `the average duration in days`, which is from one time to the other.
    ("duration", |scene, _| {
        let times: Vec<Place> = scene
            .places()
            .filter(|it| {
                let words = &scene.column(*it).words;
                scene.kind(*it).is_time()
                    && !words.iter().any(|it| scene.lexicon.is(Cue::Births, it))
            })
            .collect();
        let [one_place, other] = times[..] else { return Vec::new() };
        days_between(scene, one_place, other).map_or_else(Vec::new, |it| {
            one(frag(|frag| {
                frag.measures.push(Measure { agg: Agg::Mean, of: Some(it), only: Vec::new() });
            }))
        })
    }),
    ("measure_expr", |_, sems| {
        let of =
            sems.iter().filter_map(|it| frag_of(it)).find_map(|it| it.measures.first()?.of.clone());
        match (&aggs_of(sems)[..], of) {
            ([agg], Some(of)) => one(frag(|it| {
                it.measures.push(Measure { agg: agg.clone(), of: Some(of), only: Vec::new() });
            })),
            _ => Vec::new(),
        }
    }),
    // `price * units by month`: the total of what adds up.
    ("natural_expr", |scene, sems| {
        let measure = sems.iter().filter_map(|it| frag_of(it)).find_map(|it| it.measures.first());
        let Some(Measure { of: Some(of @ Value::Arithmetic(_, sign, _)), .. }) = measure else {
            return Vec::new();
        };
        let adds = |it: &Place| scene.is_additive(*it) == Some(true);
        let is_total = *sign == Arithmetic::Times || of.places().iter().all(adds);
        let agg = if is_total { Agg::Sum } else { Agg::Mean };
        one(frag(|it| it.measures.push(Measure { agg, of: Some(of.clone()), only: Vec::new() })))
    }),
    // `the most common diet by order`
    ("mode_of", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| {
            one(frag(|frag| frag.measures.push(Measure::of(Agg::Mode, it))))
        })
    }),
    // `which of price and income is correlated with sales`
    ("correlations_each", |scene, sems| {
        let is_behind = matches!(sems.last(), Some(Sem::Column(_)));
        let mut of = places_of(sems);
        if !is_behind {
            of.reverse();
        }
        let Some(other) = of.pop() else { return Vec::new() };
        let fits = |it: &Place| *it != other && scene.kind(*it).is_number();
        if of.len() < 2 || !of.iter().all(fits) || !scene.kind(other).is_number() {
            return Vec::new();
        }
        if !is_behind {
            of.reverse();
        }
        let each = of.iter().map(|it| Measure::of(Agg::Correlation(other), *it));
        one(frag(|frag| frag.measures = each.collect()))
    }),
    ("share_of_sum", |_, sems| {
        let measure = measure_of(sems);
        let only = tests_of(&sems[2..]);
        match measure {
            Some(Measure { agg: Agg::Sum, of, .. }) if !only.is_empty() => {
                one(frag(|it| it.measures.push(Measure { agg: Agg::Share, of, only })))
            }
            _ => Vec::new(),
        }
    }),
    ("share_of_column", |scene, sems| {
        let only = tests_of(sems);
        match place_of(sems) {
            Some(place)
                if scene.kind(place).is_number()
                    && !only.is_empty()
                    && scene.is_additive(place) != Some(false) =>
            {
                one(frag(|it| {
                    it.measures.push(Measure {
                        agg: Agg::Share,
                        of: Some(Value::Column(place)),
                        only,
                    });
                }))
            }
            _ => Vec::new(),
        }
    }),
    ("share_of_column_behind", |scene, sems| match (held_of(sems), place_of(sems)) {
        (Some(held), Some(place))
            if scene.kind(place).is_number() && scene.is_additive(place) != Some(false) =>
        {
            let only = vec![holds_test(held)];
            one(frag(|it| {
                it.measures.push(Measure { agg: Agg::Share, of: Some(Value::Column(place)), only });
            }))
        }
        _ => Vec::new(),
    }),
    // What is told in a unit that each row has already, or paid in it, is no group.
    ("measure_often", |scene, sems| {
        let pays = places_of(sems)
            .iter()
            .all(|it| scene.column(*it).words.iter().any(|it| scene.lexicon.is(Cue::Pay, it)));
        let is_step = scene.times().first().is_some_and(|it| scene.step(*it) == unit_of(sems));
        let more = if pays || is_step { 0.0 } else { 0.9 };
        measure(scene, sems).into_iter().map(|(it, cost)| (it, cost + more)).collect()
    }),
    ("agg", |_, sems| {
        let aggs = concept_of(sems).map(agg_of).unwrap_or_default();
        if aggs.is_empty() { Vec::new() } else { one(Sem::Aggs(aggs)) }
    }),
    ("quantile", |_, sems| match number_of(sems) {
        Some(value) if (1.0..100.0).contains(&value) => {
            one(Sem::Aggs(vec![Agg::Quantile(value / 100.0)]))
        }
        Some(value) if 0.0 < value && value < 1.0 => one(Sem::Aggs(vec![Agg::Quantile(value)])),
        _ => Vec::new(),
    }),
    ("measure", measure),
    ("measure_of", |scene, sems| {
        let Some(made) = measure(
            scene,
            &sems
                .iter()
                .filter(|it| frag_of(it).is_none_or(|it| !it.columns.is_empty()))
                .copied()
                .collect::<Vec<_>>(),
        )
        .pop() else {
            return Vec::new();
        };
        let rest: Vec<&Sem> = sems
            .iter()
            .filter(|it| frag_of(it).is_some_and(|it| it.columns.is_empty()))
            .copied()
            .collect();
        let mut all = rest;
        all.insert(0, &made.0);
        merged(&all).map_or_else(Vec::new, |it| vec![(Sem::Frag(Box::new(it)), made.1)])
    }),
    ("count_rows", |scene, sems| {
        let cost = if repeated(scene, sems).is_some() { 1.2 } else { 0.0 };
        count(sems, cost)
    }),
    ("count_all", |_, _| one(frag(|it| it.measures.push(Measure::ROWS)))),
    ("count_where", |_, sems| count(sems, 0.0)),
    ("count_column", |scene, sems| {
        let places = places_of(sems);
        let [place] = places[..] else { return Vec::new() };
        let column = scene.column(place);
        let mut made = Vec::new();
        let rows = scene.tables[place.table].n_rows;
        if column.is_key && column.n_distinct.is_some_and(|it| it * 20 < rows * 19) {
            return one(frag(|it| it.measures.push(Measure::of(Agg::Distinct, place))));
        }
        if column.kind.is_time() {
            made.push((frag(|it| it.measures.push(Measure::of(Agg::Count, place))), 0.4));
        } else if column.kind == Kind::Text || column.is_key || column.unit.is_some() {
            made.push((frag(|it| it.measures.push(Measure::of(Agg::Distinct, place))), 0.1));
            made.push((frag(|it| it.measures.push(Measure::of(Agg::Count, place))), 1.2));
        } else if column.kind.is_number() {
            let cost = if scene.is_additive(place) == Some(true) { [0.3, 1.0] } else { [1.0, 0.7] };
            made.push((frag(|it| it.measures.push(Measure::of(Agg::Sum, place))), cost[0]));
            made.push((frag(|it| it.measures.push(Measure::ROWS)), cost[1]));
        }
        made
    }),
    ("distinct", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| {
            one(frag(|frag| frag.measures.push(Measure::of(Agg::Distinct, it))))
        })
    }),
    ("distinct_of", |scene, sems| {
        let Some(place) = place_of(sems).filter(|it| !scene.is_number(*it)) else {
            return Vec::new();
        };
        one(frag(|it| {
            it.measures.push(Measure::of(Agg::Distinct, place));
            it.tests = tests_of(sems);
        }))
    }),
    ("count_of_noun", |scene, sems| match place_of(sems) {
        Some(place)
            if scene.kind(place).is_number()
                && scene.is_additive(place) == Some(true)
                && !scene.column(place).is_key =>
        {
            one(frag(|it| it.measures.push(Measure::of(Agg::Sum, place))))
        }
        _ => Vec::new(),
    }),
    // `the cheapest and the dearest`
    ("both_ends", |scene, sems| {
        let ends: Vec<(Place, bool)> = sems
            .iter()
            .filter_map(|it| match it {
                Sem::Adjective(place, is_low) => Some((*place, *is_low)),
                _ => None,
            })
            .collect();
        let column = sems.iter().find_map(|it| match it {
            Sem::Column(place) => Some(*place),
            _ => None,
        });
        let [(one_place, low), (other, other_low)] = ends[..] else { return Vec::new() };
        if low == other_low || column.is_none() && one_place != other {
            return Vec::new();
        }
        measures(scene, &[Agg::Min, Agg::Max], &[column.unwrap_or(one_place)])
            .map_or_else(Vec::new, |(it, cost)| vec![(frag(|frag| frag.measures = it), cost)])
    }),
    ("total", |scene, sems| {
        let places = places_of(sems);
        measures(scene, &[Agg::Sum], &places)
            .map_or_else(Vec::new, |(it, cost)| vec![(frag(|frag| frag.measures = it), cost)])
    }),
    ("extent", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| one(frag(|frag| frag.columns.push(it))))
    }),
    ("share_of_rows", |_, sems| {
        let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let [rows, part] = all[..] else { return Vec::new() };
        one(frag(|it| {
            it.tests.clone_from(&rows.tests);
            it.measures.push(Measure { agg: Agg::Share, of: None, only: part.tests.clone() });
        }))
    }),
    // `share of late orders in Germany`
    ("share_within", |_, sems| {
        let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let [part, rows] = all[..] else { return Vec::new() };
        if part.tests.is_empty() {
            return Vec::new();
        }
        one(frag(|it| {
            it.tests.clone_from(&rows.tests);
            it.measures.push(Measure { agg: Agg::Share, of: None, only: part.tests.clone() });
        }))
    }),
    ("share", |_, sems| {
        let only = tests_of(sems);
        one(frag(|it| it.measures.push(Measure { agg: Agg::Share, of: None, only })))
    }),
    ("share_of_flag", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| {
            let only = vec![Test::True(it)];
            one(frag(|frag| frag.measures.push(Measure { agg: Agg::Share, of: None, only })))
        })
    }),
    ("share_rows", |_, sems| {
        let only = tests_of(sems);
        if only.is_empty() {
            return Vec::new();
        }
        one(frag(|it| it.measures.push(Measure { agg: Agg::Share, of: None, only })))
    }),
    ("ratio_percent", |scene, sems| {
        let made = ratio(scene, sems);
        let percent = made.into_iter().map(|(it, cost)| {
            let Some(Measure { agg: Agg::Ratio(whole), of, only }) = measure_of(&[&it]) else {
                return (it, cost);
            };
            (frag(|it| it.measures.push(Measure { agg: Agg::Percent(whole), of, only })), cost)
        });
        percent.collect()
    }),
    ("ratio", ratio),
    ("correlation", |scene, sems| {
        let places = places_of(sems);
        let [one_place, other] = places[..] else { return Vec::new() };
        if !scene.is_number(one_place) || !scene.is_number(other) || one_place == other {
            return Vec::new();
        }
        one(frag(|it| it.measures.push(Measure::of(Agg::Correlation(other), one_place))))
    }),
    ("mean_count", |_, sems| {
        let tests = tests_of(sems);
        one(frag(|it| {
            it.tests = tests;
            it.measures.push(Measure::ROWS);
            it.then = Some(Agg::Mean);
        }))
    }),
    ("merge_measures", |_, sems| {
        let Some(both) = merged(sems) else { return Vec::new() };
        if 4 < both.measures.len() { Vec::new() } else { one(Sem::Frag(Box::new(both))) }
    }),
    ("sum_noun", |scene, _| {
        let numbers: Vec<Place> = scene
            .places()
            .filter(|it| {
                scene.kind(*it).is_number()
                    && !scene.column(*it).is_key
                    && scene.column(*it).unit.is_none()
            })
            .collect();
        match numbers[..] {
            [place] => one(frag(|it| it.measures.push(Measure::of(Agg::Sum, place)))),
            _ => Vec::new(),
        }
    }),
    ("ratio_of_measures", |_, sems| {
        let all: Vec<&Measure> =
            sems.iter().filter_map(|it| frag_of(it)).filter_map(|it| it.measures.first()).collect();
        match all[..] {
            [
                Measure { agg: Agg::Sum, of: Some(of), .. },
                Measure { agg: Agg::Sum, of: Some(Value::Column(whole)), .. },
            ] => {
                let ratio =
                    Measure { agg: Agg::Ratio(*whole), of: Some(of.clone()), only: Vec::new() };
                one(frag(|it| it.measures.push(ratio)))
            }
            _ => Vec::new(),
        }
    }),
    ("quartiles", |_, _| {
        one(Sem::Aggs(vec![Agg::Quantile(0.25), Agg::Quantile(0.5), Agg::Quantile(0.75)]))
    }),
    ("ends_of_time", |scene, sems| {
        let place = match place_of(sems) {
            Some(place) if !is_time(scene.column(place)) => {
                return at_end(scene, place, &[Agg::First, Agg::Last]);
            }
            Some(place) => Some(place),
            None => scene.times().first().copied(),
        };
        place.map_or_else(Vec::new, |it| {
            one(frag(|frag| {
                frag.measures = vec![Measure::of(Agg::Min, it), Measure::of(Agg::Max, it)];
            }))
        })
    }),
    ("first_of_time", |scene, sems| {
        place_of(sems).map_or_else(Vec::new, |it| at_end(scene, it, &[Agg::First]))
    }),
    ("last_of_time", |scene, sems| {
        place_of(sems).map_or_else(Vec::new, |it| at_end(scene, it, &[Agg::Last]))
    }),
];

/// Returns the values of a column at one or both ends of the only time that there is.
fn at_end(scene: &Scene, place: Place, ends: &[fn(Place) -> Agg]) -> Made {
    match scene.times()[..] {
        [time] if time != place && scene.is_number(place) => one(frag(|frag| {
            frag.measures = ends.iter().map(|it| Measure::of(it(time), place)).collect();
        })),
        _ => Vec::new(),
    }
}

fn agg_of(concept: Concept) -> Vec<Agg> {
    match concept {
        Concept::Mean => vec![Agg::Mean],
        Concept::Median => vec![Agg::Median],
        Concept::Sum => vec![Agg::Sum],
        Concept::Max => vec![Agg::Max],
        Concept::Min => vec![Agg::Min],
        Concept::Std => vec![Agg::Std],
        Concept::Var => vec![Agg::Var],
        Concept::Iqr => vec![Agg::Iqr],
        Concept::Spread => vec![Agg::Min, Agg::Max],
        _ => Vec::new(),
    }
}

fn count(sems: &[&Sem], cost: f64) -> Made {
    let tests = tests_of(sems);
    vec![(
        frag(|it| {
            it.measures.push(Measure::ROWS);
            it.tests = tests;
        }),
        cost,
    )]
}

/// Returns two numbers of a row, put together.
fn expression(scene: &Scene, sems: &[&Sem], sign: Arithmetic) -> Made {
    let places = places_of(sems);
    let [one_place, other] = places[..] else { return Vec::new() };
    if sign == Arithmetic::Minus
        && let Some(days) = days_between(scene, one_place, other)
    {
        return one(frag(|it| {
            it.measures.push(Measure { agg: Agg::Mean, of: Some(days), only: Vec::new() });
        }));
    }
    if !scene.is_number(one_place) || !scene.is_number(other) {
        return Vec::new();
    }
    let value =
        Value::Arithmetic(Box::new(Value::Column(one_place)), sign, Box::new(Value::Column(other)));
    one(frag(|it| it.measures.push(Measure { agg: Agg::Mean, of: Some(value), only: Vec::new() })))
}

/// Returns the days from the earlier of two times to the later.
fn days_between(scene: &Scene, one: Place, other: Place) -> Option<Value> {
    if one == other || !scene.kind(one).is_time() || !scene.kind(other).is_time() {
        return None;
    }
    let start = |it: Place| scene.column(it).range.map_or(0.0, |it| it.0);
    let (from, to) = if start(one) <= start(other) { (one, other) } else { (other, one) };
    Some(Value::Arithmetic(
        Box::new(Value::Column(to)),
        Arithmetic::Days,
        Box::new(Value::Column(from)),
    ))
}

fn ratio(scene: &Scene, sems: &[&Sem]) -> Made {
    let places = places_of(sems);
    let [part, whole] = places[..] else { return Vec::new() };
    // `sales per store` are groups, and `sales / stores` are none.
    let is_divided = sems.contains(&&Sem::Word(Concept::Ratio));
    let is_group = scene.column(whole).unit.is_some()
        || scene.column(whole).is_key
        || scene.column(whole).values.is_some() && !is_divided;
    if !scene.is_number(part) || !scene.is_number(whole) || part == whole || is_group {
        return Vec::new();
    }
    one(frag(|it| it.measures.push(Measure::of(Agg::Ratio(whole), part))))
}
