//! Superlatives and orders.

use super::{
    Action, Made, concept_of, count_of, first, frag, frag_of, one, order_of, place_of, tests_of,
};
use crate::frag::{AskedFor, Frag, Sem};
use crate::lexicon::{Concept, Cue};
use crate::query::{GroupKey, Place, SortOrder};
use crate::rank::OFFERED_MAX;
use crate::scene::Scene;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("sorted_ranked", |_, sems| {
        match sems.iter().find_map(|it| frag_of(it)).map(|it| (it.by, &it.columns[..])) {
            Some((None, [place])) => sorted_by(*place, SortOrder::DESCENDING),
            _ => Vec::new(),
        }
    }),
    ("sorted_adjective", |_, sems| {
        sems.iter()
            .find_map(|it| match it {
                Sem::Adjective(place, is_low) => {
                    Some(sorted_by(*place, SortOrder { is_ascending: *is_low, n: None, skip: 0 }))
                }
                _ => None,
            })
            .unwrap_or_default()
    }),
    ("ranked_adjective_by", |scene, sems| {
        let low = sems.iter().any(|it| matches!(it, Sem::Adjective(_, true)));
        let by = sems.iter().rev().find_map(|it| match it {
            Sem::Column(place) => Some(*place),
            _ => None,
        });
        match by.filter(|it| scene.kind(*it).is_number()) {
            Some(place) => one(frag(|it| {
                it.order = Some(SortOrder { is_ascending: low, n: count_of(sems), skip: 0 });
                it.by = Some(place);
                it.has_rows = true;
                it.tests = tests_of(sems);
            })),
            None => Vec::new(),
        }
    }),
    ("most", |_, _| order_with(false, None, 0)),
    ("least", |_, _| order_with(true, None, 0)),
    ("most_n", |_, sems| count_of(sems).map_or_else(Vec::new, |n| order_with(false, Some(n), 0))),
    ("least_n", |_, sems| count_of(sems).map_or_else(Vec::new, |n| order_with(true, Some(n), 0))),
    ("most_nth", |_, sems| {
        count_of(sems).map_or_else(Vec::new, |n| order_with(false, Some(1), n - 1))
    }),
    ("least_nth", |_, sems| {
        count_of(sems).map_or_else(Vec::new, |n| order_with(true, Some(1), n - 1))
    }),
    ("sorted", |_, sems| {
        let inner = sems.iter().find_map(|it| frag_of(it));
        match inner {
            Some(inner) if inner.by.is_some() => one(Sem::Frag(Box::new(inner.clone()))),
            Some(Frag { columns, .. }) => match columns[..] {
                [place] => sorted_by(place, SortOrder::ASCENDING),
                _ => Vec::new(),
            },
            None => Vec::new(),
        }
    }),
    ("sorted_down", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| sorted_by(it, SortOrder::DESCENDING))
    }),
    ("sorted_up", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| sorted_by(it, SortOrder::ASCENDING))
    }),
    ("descending", |_, _| one(frag(|it| it.order = Some(SortOrder::DESCENDING)))),
    ("ascending", |_, _| one(frag(|it| it.order = Some(SortOrder::ASCENDING)))),
    ("ranked", |_, sems| adjective(sems, None, 0)),
    ("ranked_n", |_, sems| adjective(sems, count_of(sems), 0)),
    ("ranked_nth", |_, sems| {
        count_of(sems).map_or_else(Vec::new, |n| adjective(sems, Some(1), n - 1))
    }),
    ("ranked_by", |_, sems| adjective_by(sems, None)),
    ("ranked_n_by", |_, sems| adjective_by(sems, count_of(sems))),
    ("ranked_column", |scene, sems| match (place_of(sems), order_of(sems)) {
        (Some(place), Some(order))
            if scene.kind(place).is_number() || scene.kind(place).is_time() =>
        {
            // Hardly anybody wants the largest month.
            let cost = if scene.column(place).unit.is_some() { 1.5 } else { 0.0 };
            ranked_by(place, order).into_iter().map(|it| (it.0, cost)).collect()
        }
        _ => Vec::new(),
    }),
    // `best month`: by what tells how good it is, of which there is one.
    ("best_of", |scene, sems| {
        let (Some(order), Some([key])) =
            (order_of(sems), sems.iter().find_map(|it| frag_of(it)).map(|it| &it.keys[..]))
        else {
            return Vec::new();
        };
        let judges = scene.tokens.iter().any(|it| scene.lexicon.is(Cue::Judging, &it.lower));
        let is_unit = !matches!(key, GroupKey::Column(_));
        if !judges && !is_unit {
            return Vec::new();
        }
        let made = merits(scene).into_iter().filter(|by| *by != key.place()).map(|by| {
            frag(|it| {
                it.target = Some(AskedFor::Key(*key));
                it.order = Some(SortOrder { n: order.n.or(Some(1)), ..order });
                it.by = Some(by);
            })
        });
        made.map(|it| (it, if judges { 0.0 } else { 0.3 })).collect()
    }),
    ("ranked_rows", |scene, sems| match (place_of(sems), order_of(sems)) {
        (Some(place), Some(order))
            if scene.kind(place).is_number() || scene.kind(place).is_time() =>
        {
            one(frag(|it| {
                it.order = Some(order);
                it.by = Some(place);
                it.has_rows = true;
                it.tests = tests_of(sems);
            }))
        }
        _ => Vec::new(),
    }),
    // `the biggest order`, `the biggest customer`: by what tells how big it is.
    ("ranked_by_size", |scene, sems| {
        let has = |cue: Cue| scene.tokens.iter().any(|it| scene.lexicon.is(cue, &it.lower));
        // `the most orders` are many, and not big.
        let counts = has(Cue::Countings);
        let Some(order) = order_of(sems).filter(|_| !counts) else { return Vec::new() };
        let noun = sems.iter().find_map(|it| frag_of(it)).and_then(|it| it.noun.as_deref());
        let key = noun.and_then(|it| column_called(scene, it));
        // `the top products` are those that sell most.
        if key.is_some() && has(Cue::Tops) {
            return Vec::new();
        }
        let made = sizes(scene).into_iter().map(|by| {
            frag(|it| {
                it.order = Some(order);
                it.by = Some(by);
                it.tests = tests_of(sems);
                match key {
                    Some(place) => it.target = Some(AskedFor::Key(GroupKey::Column(place))),
                    None => it.has_rows = true,
                }
            })
        });
        made.map(|it| (it, 0.0)).collect()
    }),
    ("rank_rows", |scene, sems| {
        let by = place_of(sems).filter(|it| scene.kind(*it).is_number());
        by.map_or_else(Vec::new, |place| {
            one(frag(|it| {
                it.order = Some(SortOrder::DESCENDING);
                it.by = Some(place);
                it.is_sorted = true;
                it.has_rows = true;
                it.tests = tests_of(sems);
            }))
        })
    }),
    ("latest", |scene, sems| at_end(scene, false, count_of(sems))),
    ("earliest", |scene, sems| at_end(scene, true, count_of(sems))),
    ("first_rows", |_, sems| first(sems, 1)),
    ("last_rows", |_, sems| first(sems, -1)),
    ("preview", |_, _| {
        one(frag(|it| {
            it.first = Some(5);
            it.has_rows = true;
        }))
    }),
];

fn order_with(is_ascending: bool, n: Option<u32>, skip: u32) -> Made {
    // Hardly anybody wants the 600 smallest; at least 600 is another thing.
    let cost = if n.is_some_and(|it| 100 < it) { 1.5 } else { 0.0 };
    vec![(Sem::Order(SortOrder { is_ascending, n, skip }), cost)]
}

/// Returns all in the order of a column.
fn sorted_by(place: Place, order: SortOrder) -> Made {
    one(frag(|it| {
        it.order = Some(order);
        it.by = Some(place);
        it.is_sorted = true;
    }))
}

fn ranked_by(place: Place, order: SortOrder) -> Made {
    one(frag(|it| {
        it.order = Some(order);
        it.by = Some(place);
    }))
}

fn adjective(sems: &[&Sem], n: Option<u32>, skip: u32) -> Made {
    sems.iter()
        .find_map(|it| match it {
            Sem::Adjective(place, is_low) => Some(one(frag(|it| {
                it.order = Some(SortOrder { is_ascending: *is_low, n, skip });
                it.by = Some(*place);
                it.is_spoken = true;
            }))),
            _ => None,
        })
        .unwrap_or_default()
}

fn adjective_by(sems: &[&Sem], n: Option<u32>) -> Made {
    let is_least = concept_of(sems) == Some(Concept::Least);
    sems.iter()
        .find_map(|it| match it {
            Sem::Adjective(place, is_low) => {
                Some(ranked_by(*place, SortOrder { is_ascending: *is_low != is_least, n, skip: 0 }))
            }
            _ => None,
        })
        .unwrap_or_default()
}

fn at_end(scene: &Scene, is_ascending: bool, n: Option<u32>) -> Made {
    scene
        .times()
        .into_iter()
        .take(2)
        .enumerate()
        .flat_map(|(at, place)| {
            let made = ranked_by(place, SortOrder { is_ascending, n, skip: 0 });
            made.into_iter().map(move |(it, _)| (it, if at == 0 { 0.2 } else { 1.0 }))
        })
        .collect()
}

/// Returns the column of texts that the stem of a noun names.
fn column_called(scene: &Scene, noun: &str) -> Option<Place> {
    scene.places().find(|it| {
        let column = scene.column(*it);
        !column.kind.is_number() && !column.is_key && column.words == [noun]
    })
}

/// Returns the numbers that tell how big something is: those that add up, or else all, if they are few.
fn sizes(scene: &Scene) -> Vec<Place> {
    let is_size = |it: &Place| {
        let column = scene.column(*it);
        column.kind.is_number() && !column.is_key && column.unit.is_none()
    };
    let numbers: Vec<Place> = scene.places().filter(is_size).collect();
    let adds_up = |it: &Place| scene.is_additive(*it) == Some(true);
    let additive: Vec<Place> = numbers.iter().copied().filter(adds_up).collect();
    let found = if additive.is_empty() { numbers } else { additive };
    if found.len() <= OFFERED_MAX { found } else { Vec::new() }
}

/// Returns the numbers that tell how good something is: those of which more is better, or else what amounts to
/// something, or the only one that adds up.
pub(crate) fn merits(scene: &Scene) -> Vec<Place> {
    let numbers: Vec<Place> = scene
        .places()
        .filter(|it| scene.kind(*it).is_number() && !scene.column(*it).is_key)
        .collect();
    let of = |cue: Cue| -> Vec<Place> {
        numbers
            .iter()
            .copied()
            .filter(|it| scene.lexicon.has(cue, &scene.column(*it).words))
            .collect()
    };
    let additive: Vec<Place> =
        numbers.iter().copied().filter(|it| scene.is_additive(*it) == Some(true)).collect();
    let found = [
        of(Cue::Merits),
        of(Cue::Amounts),
        if additive.len() == 1 { additive } else { Vec::new() },
    ];
    found.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
}
