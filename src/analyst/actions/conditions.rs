//! What must hold of a row: numbers, comparisons, columns with columns.

use super::{
    Action, Made, amounts_of, compare_places, compare_with, compared, concept_of, frag, frag_of,
    is, merged, number_of, one, op_of, order_of, place_of, places_of, sign, test, tests_of,
    texts_of, unit_of,
};
use crate::frag::{Frag, Sem};
use crate::lexicon::{Concept, TimeUnit};
use crate::query::{
    Agg, Arithmetic, GroupKey, Groups, LogicalForm, Look, Measure, Op, Place, Shape, Source, Test,
    Value,
};
use crate::scene::Scene;
use crate::schema::Kind;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("amount", |_, sems| number_of(sems).map_or_else(Vec::new, |it| one(Sem::Amount(it, None)))),
    ("amount_in", |_, sems| {
        number_of(sems).map_or_else(Vec::new, |it| one(Sem::Amount(it, texts_of(sems))))
    }),
    ("op", |_, sems| {
        let op = match concept_of(sems) {
            Some(Concept::Gt) => Op::Gt,
            Some(Concept::Ge) => Op::Ge,
            Some(Concept::Lt) => Op::Lt,
            Some(Concept::Le) => Op::Le,
            Some(Concept::Eq) => Op::Eq,
            Some(Concept::Ne) => Op::Ne,
            _ => return Vec::new(),
        };
        one(Sem::Op(op))
    }),
    ("at_least", |_, _| one(Sem::Op(Op::Ge))),
    ("aux", |_, _| one(Sem::None)),
    ("column", |_, sems| sems.first().map_or_else(Vec::new, |it| one((*it).clone()))),
    ("columns", |_, sems| one(frag(|it| it.columns = places_of(sems)))),
    ("more_columns", |_, sems| {
        let places = places_of(sems);
        let is_twice = (1..places.len()).any(|it| places[..it].contains(&places[it]));
        if is_twice { Vec::new() } else { one(frag(|it| it.columns = places)) }
    }),
    ("compare", |scene, sems| compare_with(scene, sems, op_of(sems))),
    ("compare_not", |scene, sems| compare_with(scene, sems, op_of(sems).map(Op::opposite))),
    ("compare_implied", |scene, sems| {
        op_of(sems).map_or_else(Vec::new, |op| implied_with(scene, sems, op))
    }),
    ("compare_adjective", |scene, sems| {
        let op = sems.iter().find_map(|it| match it {
            Sem::Adjective(_, is_low) => Some(if *is_low { Op::Lt } else { Op::Gt }),
            _ => None,
        });
        compare_with(scene, sems, op)
    }),
    ("compare_adjective_not", |scene, sems| {
        let low = sems.iter().any(|it| matches!(it, Sem::Adjective(_, true)));
        compare_with(scene, sems, Some(if low { Op::Ge } else { Op::Le }))
    }),
    ("at_most", |scene, sems| compare_with(scene, sems, Some(Op::Le))),
    ("match_columns", |scene, sems| compare_places(scene, &places_of(sems), Some(Op::Eq))),
    ("compare_expr", |scene, sems| {
        let of =
            sems.iter().filter_map(|it| frag_of(it)).find_map(|it| it.measures.first()?.of.clone());
        match (place_of(sems), op_of(sems), of) {
            (Some(place), Some(op), Some(of))
                if scene.is_number(place) && !of.places().contains(&place) =>
            {
                test(Test::Is(Value::Column(place), op, of))
            }
            _ => Vec::new(),
        }
    }),
    ("compare_made", |_, sems| {
        let made =
            sems.iter().filter_map(|it| frag_of(it)).find_map(|it| it.measures.first()?.of.clone());
        match (made, op_of(sems), &amounts_of(sems)[..]) {
            (Some(made), Some(op), [(value, None)]) => {
                test(Test::Is(made, op, Value::Number(*value)))
            }
            _ => Vec::new(),
        }
    }),
    ("equals", |scene, sems| {
        let made = compare_with(scene, sems, Some(Op::Eq));
        let is_whole = place_of(sems).is_some_and(|it| scene.kind(it) == Kind::Whole);
        made.into_iter().map(|(it, cost)| (it, if is_whole { cost } else { cost + 0.6 })).collect()
    }),
    ("equals_said", |scene, sems| compare_with(scene, sems, Some(Op::Eq))),
    ("equals_before", |scene, sems| {
        let is_whole = place_of(sems).is_some_and(|it| scene.kind(it) == Kind::Whole);
        if is_whole { compare_with(scene, sems, Some(Op::Eq)) } else { Vec::new() }
    }),
    ("equals_two", |_, _| Vec::new()),
    ("between", |scene, sems| {
        place_of(sems).map_or_else(Vec::new, |it| between_with(scene, it, &amounts_of(sems)))
    }),
    ("between_implied", |scene, sems| {
        let amounts = amounts_of(sems);
        let [_, (value, unit)] = &amounts[..] else { return Vec::new() };
        let found = scene.implied(*value, unit.as_deref());
        found.into_iter().flat_map(|(place, _)| between_with(scene, place, &amounts)).collect()
    }),
    ("compare_columns", |scene, sems| compare_places(scene, &places_of(sems), op_of(sems))),
    ("compare_columns_not", |scene, sems| {
        compare_places(scene, &places_of(sems), op_of(sems).map(Op::opposite))
    }),
    ("compare_adjective_column", |scene, sems| {
        let low = sems.iter().any(|it| matches!(it, Sem::Adjective(_, true)));
        compare_places(scene, &places_of(sems), Some(if low { Op::Lt } else { Op::Gt }))
    }),
    ("compare_mean", |scene, sems| compare_mean(scene, sems)),
    ("is_negative", |scene, sems| sign(scene, sems, Op::Lt)),
    ("is_positive", |scene, sems| sign(scene, sems, Op::Gt)),
    ("is_not_positive", |scene, sems| sign(scene, sems, Op::Le)),
    ("is_zero", |scene, sems| sign(scene, sems, Op::Eq)),
    ("is_nonzero", |scene, sems| sign(scene, sems, Op::Ne)),
    ("is_non_negative", |scene, sems| sign(scene, sems, Op::Ge)),
    ("is_none", |scene, sems| count_sign(scene, sems, Op::Eq)),
    ("is_some", |scene, sems| count_sign(scene, sems, Op::Gt)),
    ("amount_old", |_, sems| {
        number_of(sems).map_or_else(Vec::new, |it| one(Sem::Amount(it, Some("old".to_owned()))))
    }),
    ("any", |_, sems| {
        let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let [one_frag, other] = all[..] else { return Vec::new() };
        if let Some((_, tests)) = of_one_value(one_frag, other) {
            return one(frag(|it| it.tests = tests));
        }
        match (&one_frag.tests[..], &other.tests[..]) {
            ([last], [more]) => test(Test::Any(vec![last.clone(), more.clone()])),
            _ => Vec::new(),
        }
    }),
    ("first_of", |scene, sems| match place_of(sems) {
        Some(place) if scene.kind(place) == Kind::Whole && scene.column(place).values.is_some() => {
            test(Test::In(Value::Column(place), vec![Value::Number(1.0)]))
        }
        _ => Vec::new(),
    }),
    ("is_filled", |scene, sems| match place_of(sems) {
        Some(place) if 0 < scene.column(place).n_missing => {
            test(Test::Not(Box::new(Test::Missing(place))))
        }
        _ => Vec::new(),
    }),
    // What was never approved has no time of that.
    ("is_never", |scene, sems| match place_of(sems) {
        Some(place) if 0 < scene.column(place).n_missing && scene.kind(place).is_time() => {
            test(Test::Missing(place))
        }
        _ => Vec::new(),
    }),
    ("equals_or_more", |scene, sems| compare_with(scene, sems, Some(Op::Ge))),
    ("rows_of_unit", |scene, sems| match unit_of(sems) {
        Some(TimeUnit::Day) if scene.places().any(|it| scene.kind(it) == Kind::Day) => {
            one(frag(|it| it.has_rows = true))
        }
        _ => Vec::new(),
    }),
    ("ordinal_of", |scene, sems| match (place_of(sems), number_of(sems)) {
        (Some(place), Some(n)) if scene.kind(place) == Kind::Whole => {
            test(Test::In(Value::Column(place), vec![Value::Number(n)]))
        }
        _ => Vec::new(),
    }),
    ("equals_any", |scene, sems| {
        let values = amounts_of(sems).into_iter().map(|it| Value::Number(it.0)).collect();
        match place_of(sems) {
            Some(place) if scene.is_number(place) => test(Test::In(Value::Column(place), values)),
            _ => Vec::new(),
        }
    }),
    ("all_or_any", |_, sems| {
        let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let [one_frag, other] = all[..] else { return Vec::new() };
        // Of one column, each of several values is enough.
        match of_one_value(one_frag, other) {
            Some((value, tests)) => {
                let sides = match value {
                    Value::Column(place) if one_frag.sides.is_empty() => {
                        vec![GroupKey::Column(place)]
                    }
                    _ => one_frag.sides.clone(),
                };
                one(frag(|it| {
                    it.tests = tests;
                    it.sides = sides;
                }))
            }
            None => one_frag.merge(other).map_or_else(Vec::new, |mut it| {
                it.n_joined += 1;
                one(Sem::Frag(Box::new(it)))
            }),
        }
    }),
    ("all", |_, sems| {
        let Some(both) = merged(sems) else { return Vec::new() };
        let equals = |it: &Test| match it {
            Test::In(value, _) => Some(value.clone()),
            _ => None,
        };
        let same: Vec<Value> = both.tests.iter().filter_map(equals).collect();
        let is_twice = (1..same.len()).any(|it| same[..it].contains(&same[it]));
        if is_twice { Vec::new() } else { one(Sem::Frag(Box::new(both))) }
    }),
    ("rows", |_, sems| {
        let noun = texts_of(sems);
        one(frag(|it| {
            it.has_rows = true;
            it.noun = noun;
        }))
    }),
    ("rows_who", |_, sems| {
        one(frag(|it| {
            it.has_rows = true;
            it.tests = tests_of(sems);
        }))
    }),
    ("merge", |_, sems| merged(sems).map_or_else(Vec::new, |it| one(Sem::Frag(Box::new(it))))),
    // `in neighborhoods with an income above 80000`, where they are what joins two tables
    ("of_things", |scene, sems| match (scene.join, place_of(sems)) {
        (Some(join), Some(place)) if place == join.left || place == join.right => {
            one(frag(|it| it.tests = tests_of(sems)))
        }
        _ => Vec::new(),
    }),
    // `5xx` of a status
    ("hundreds", |scene, sems| {
        let is_code = |it: &Place| {
            let column = scene.column(*it);
            column.kind == Kind::Whole
                && column.range.is_some_and(|(least, most)| 100.0 <= least && most < 1000.0)
        };
        let codes: Vec<Place> = match place_of(sems) {
            Some(place) => vec![place],
            None => scene.places().collect(),
        };
        let codes: Vec<Place> = codes.into_iter().filter(is_code).collect();
        match (&codes[..], number_of(sems)) {
            ([place], Some(n)) if (1.0..10.0).contains(&n) => {
                let (low, high) = (n * 100.0, n * 100.0 + 99.0);
                one(frag(|it| it.tests = vec![is(*place, Op::Ge, low), is(*place, Op::Le, high)]))
            }
            _ => Vec::new(),
        }
    }),
    ("percent_over", |scene, sems| {
        let (places, mut ops) = (
            places_of(sems),
            sems.iter().filter_map(|it| match it {
                Sem::Word(concept @ (Concept::Gt | Concept::Lt | Concept::Ge | Concept::Le)) => {
                    Some(*concept)
                }
                _ => None,
            }),
        );
        let ([one_place, other], Some(last), Some(percent)) =
            (&places[..], ops.next_back(), number_of(sems))
        else {
            return Vec::new();
        };
        if !scene.is_number(*one_place) || !scene.is_number(*other) || one_place == other {
            return Vec::new();
        }
        let (op, factor) = match last {
            Concept::Gt | Concept::Ge => (Op::Gt, 1.0 + percent / 100.0),
            _ => (Op::Lt, 1.0 - percent / 100.0),
        };
        let bound = Value::Arithmetic(
            Box::new(Value::Number(factor)),
            Arithmetic::Times,
            Box::new(Value::Column(*other)),
        );
        test(Test::Is(Value::Column(*one_place), op, bound))
    }),
    ("before_column", |scene, sems| compare_places(scene, &places_of(sems), Some(Op::Lt))),
    ("after_column", |scene, sems| compare_places(scene, &places_of(sems), Some(Op::Gt))),
    ("not_before_column", |scene, sems| compare_places(scene, &places_of(sems), Some(Op::Ge))),
    ("not_after_column", |scene, sems| compare_places(scene, &places_of(sems), Some(Op::Le))),
    // `where over 30% of residents are foreign born`
    ("compare_part", |scene, sems| {
        let is_percent =
            |it: &(f64, Option<String>)| matches!(it.1.as_deref(), Some("%" | "percent" | "pct"));
        let (Some(place), Some(amount)) = (places_of(sems).pop(), amounts_of(sems).pop()) else {
            return Vec::new();
        };
        if !is_percent(&amount)
            || !scene.is_fraction(place)
                && !scene.column(place).words.iter().any(|it| scene.lexicon.is_known_unit(it))
        {
            return Vec::new();
        }
        compare_with(scene, &[&Sem::Column(place), &Sem::Amount(amount.0, amount.1)], op_of(sems))
    }),
];

/// Returns the conditions of a fragment, of which the last also takes what another one takes of the same value.
fn of_one_value(one: &Frag, other: &Frag) -> Option<(Value, Vec<Test>)> {
    let mut tests = one.tests.clone();
    let (Test::In(value, values), [Test::In(same, more)]) = (tests.pop()?, &other.tests[..]) else {
        return None;
    };
    if value != *same {
        return None;
    }
    tests.push(Test::In(value.clone(), [values, more.clone()].concat()));
    Some((value, tests))
}

fn implied_with(scene: &Scene, sems: &[&Sem], op: Op) -> Made {
    let Some((value, unit)) = amounts_of(sems).pop() else { return Vec::new() };
    let found = scene.implied(value, unit.as_deref());
    found
        .into_iter()
        .map(|(place, value)| (frag(|it| it.tests.push(is(place, op, value))), 0.0))
        .collect()
}

fn between_with(scene: &Scene, place: Place, amounts: &[(f64, Option<String>)]) -> Made {
    let [one, other] = amounts else { return Vec::new() };
    // `between 2 and 5 kg`
    let unit = one.1.clone().or(other.1.clone());
    let low = compared(scene, place, Op::Ge, &(one.0.min(other.0), unit.clone()));
    let high = compared(scene, place, Op::Le, &(one.0.max(other.0), unit));
    match (low, high) {
        (Some(low), Some(high)) => vec![(frag(|it| it.tests = vec![low, high]), 0.0)],
        _ => Vec::new(),
    }
}

fn compare_mean(scene: &Scene, sems: &[&Sem]) -> Made {
    let is_low = sems.iter().any(|it| matches!(it, Sem::Adjective(_, true)));
    // `more fibre than average`, `older than average`
    let is_less = order_of(sems).is_some_and(|it| it.is_ascending) || is_low;
    let op = op_of(sems).unwrap_or(if is_less { Op::Lt } else { Op::Gt });
    let Some(place) = place_of(sems) else { return Vec::new() };
    let places = places_of(sems);
    if !scene.is_number(place) || places.iter().any(|it| *it != place) {
        return Vec::new();
    }
    let is_median = sems.iter().any(|it| matches!(it, Sem::Word(Concept::Median)));
    let agg = if is_median { Agg::Median } else { Agg::Mean };
    let groups = Groups::new(Vec::new(), vec![Measure::of(agg, place)]);
    let from = Source { table: place.table, join: None };
    let (filters, body, look) = (Vec::new(), Shape::Groups(groups), Look::default());
    let mean = LogicalForm { from, filters, body, chart: None, look };
    test(Test::Is(Value::Column(place), op, Value::Query(Box::new(mean))))
}

/// `without siblings`, where a number says how many there are.
fn count_sign(scene: &Scene, sems: &[&Sem], op: Op) -> Made {
    match place_of(sems) {
        Some(place) if scene.column(place).n_missing == 0 => {
            let column = scene.column(place);
            let counts = column.kind == Kind::Whole
                || column.kind == Kind::Real && column.range.is_some_and(|it| it.0 == 0.0);
            if counts { test(is(place, op, 0.0)) } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}
