//! Claims, and questions whether something is so.

use super::{
    Action, Made, amounts_of, frag_of, number_of, one, op_of, place_of, places_of, repeated,
    tests_of,
};
use crate::frag::{Frag, Sem};
use crate::lexicon::Concept;
use crate::query::{
    Agg, Check, GroupKey, Groups, LogicalForm, Look, Measure, Op, Shape, Source, Test, Value,
};
use crate::scene::Scene;
use crate::words::Token;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("check_none", |scene, sems| {
        let tests = tests_of(sems);
        if tests.is_empty() {
            return Vec::new();
        }
        one(scene.query(Vec::new(), Shape::Check(Check::None(tests))))
    }),
    ("check_all", |scene, sems| {
        let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        match all[..] {
            [claim] if !claim.tests.is_empty() => {
                one(scene.query(Vec::new(), Shape::Check(Check::All(claim.tests.clone()))))
            }
            [rows, claim] if !claim.tests.is_empty() => {
                one(scene.query(rows.tests.clone(), Shape::Check(Check::All(claim.tests.clone()))))
            }
            _ => Vec::new(),
        }
    }),
    // `no paid order is late` says nothing of those that are not paid.
    (
        "claim_all",
        |scene, sems| {
            if is_none(scene, 0) { Vec::new() } else { claim(scene, sems, Check::All) }
        },
    ),
    ("claim_none", |scene, sems| claim(scene, sems, Check::None)),
    // What only those do is done by none but them.
    ("claim_only", |scene, sems| claim_before(scene, sems)),
    // `the total is over 50 for paid orders`
    ("claim_of", |scene, sems| {
        let is_of_some =
            sems.last().and_then(|it| frag_of(it)).is_some_and(|it| !it.tests.is_empty());
        if is_of_some { claim_before(scene, sems) } else { Vec::new() }
    }),
    ("claim_unique", |scene, sems| {
        if !scene.wants_verdict {
            return Vec::new();
        }
        one(scene.query(Vec::new(), Shape::Check(Check::Unique(places_of(sems)))))
    }),
    // `there are at least 5 orders`
    ("check_count", |scene, sems| {
        // Half of the rows are a share.
        let Some(n) = number_of(sems).filter(|it| it.fract() == 0.0) else { return Vec::new() };
        count_holds(scene, sems, op_of(sems).unwrap_or(Op::Eq), n)
    }),
    // `there are open orders`
    ("check_some", |scene, sems| {
        if tests_of(sems).is_empty() || says_none(scene) {
            return Vec::new();
        }
        count_holds(scene, sems, Op::Ge, 1.0)
    }),
    // `at least 90% of rows have a customer`
    ("check_share_present", |scene, sems| {
        let present = places_of(sems).into_iter().map(|it| Test::Not(Box::new(Test::Missing(it))));
        share_holds(scene, sems, Vec::new(), present.collect())
    }),
    // `at least 90% of orders are paid`
    ("check_share", |scene, sems| {
        let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let [rows, claim] = all[..] else { return Vec::new() };
        share_holds(scene, sems, rows.tests.clone(), claim.tests.clone())
    }),
    // `every country has 12 years`
    ("check_groups", |scene, sems| {
        let places = places_of(sems);
        let measure = match places[..] {
            [_] => Measure::ROWS,
            [key, of] if key != of => Measure::of(Agg::Distinct, of),
            _ => return Vec::new(),
        };
        let (key, Some(n)) = (places[0], number_of(sems)) else { return Vec::new() };
        let is_amount = scene.kind(key).is_number()
            && !scene.column(key).is_key
            && scene.column(key).unit.is_none();
        if is_amount || !tests_of(sems).is_empty() {
            return Vec::new();
        }
        let groups = Groups::new(vec![GroupKey::Column(key)], vec![measure]);
        let op = op_of(sems).unwrap_or(Op::Eq);
        one(scene.query(Vec::new(), Shape::Check(Check::Groups(groups, op, Value::Number(n)))))
    }),
    ("check_all_column", |scene, sems| {
        let tests = tests_of(sems);
        one(scene.query(Vec::new(), Shape::Check(Check::All(tests))))
    }),
    ("check_unique_rows", |scene, sems| {
        one(scene.query(Vec::new(), Shape::Check(Check::Unique(places_of(sems)))))
    }),
    // `the sku is unique in products`
    ("check_unique_in", |scene, sems| {
        let (of, Some(table)) = (places_of(sems), table_of(sems)) else { return Vec::new() };
        if scene.join.is_some() || of.iter().any(|it| it.table != table) {
            return Vec::new();
        }
        one(scene.query(Vec::new(), Shape::Check(Check::Unique(of))))
    }),
    ("check_present", |scene, sems| {
        one(scene.query(tests_of(sems), Shape::Check(Check::Present(places_of(sems)))))
    }),
    ("check_inliers", |scene, sems| {
        let of = places_of(sems);
        if of.iter().any(|it| !scene.is_number(*it)) {
            return Vec::new();
        }
        one(scene.query(Vec::new(), Shape::Check(Check::Inliers(of))))
    }),
    ("check_varies", |scene, _| {
        one(scene.query(Vec::new(), Shape::Check(Check::Varies(Vec::new()))))
    }),
    ("check_number", |scene, sems| {
        let Some(frag) = sems.iter().find_map(|it| frag_of(it)) else { return Vec::new() };
        let ([measure], Some(op), Some((value, unit))) =
            (&frag.measures[..], op_of(sems), amounts_of(sems).pop())
        else {
            return Vec::new();
        };
        let value = match measure.place() {
            Some(place) => scene.in_unit_of(place, value, unit.as_deref()),
            None => Some(value),
        };
        let Some(value) = value else { return Vec::new() };
        let check = Check::Number(measure.clone(), op, Value::Number(value));
        one(scene.query(frag.tests.clone(), Shape::Check(check)))
    }),
    ("check_refers_before", |scene, sems| {
        let turned: Vec<&Sem> = sems.iter().rev().copied().collect();
        refers(scene, &turned)
    }),
    ("check_refers", refers),
];

fn table_of(sems: &[&Sem]) -> Option<usize> {
    sems.iter().find_map(|it| match it {
        Sem::Table(table) => Some(*table),
        _ => None,
    })
}

/// Judges whether every row of a table has one in another.
fn refers(scene: &Scene, sems: &[&Sem]) -> Made {
    let tables: Vec<usize> = sems
        .iter()
        .filter_map(|it| match it {
            Sem::Table(table) => Some(*table),
            _ => None,
        })
        .collect();
    let (Some(join), Some(last)) = (scene.join, tables.last()) else { return Vec::new() };
    let is_left = match tables[..] {
        [one, _] => one == join.left.table,
        _ => true,
    };
    let is_column = place_of(sems).is_none_or(|it| it == join.left);
    match (is_left && is_column).then_some(last) {
        Some(table) if join.right.table == *table => Vec::from([(
            Sem::Query(Box::new(LogicalForm {
                from: Source { table: join.left.table, join: None },
                filters: Vec::new(),
                body: Shape::Check(Check::Refers(join)),
                chart: None,
                look: Look::default(),
            })),
            0.0,
        )]),
        _ => Vec::new(),
    }
}

/// Returns whether a question is one of `there are no open orders`, which `not open` would be a part of.
fn says_none(scene: &Scene) -> bool {
    let words: Vec<&str> = scene.tokens.iter().map(|it| it.lower.as_str()).collect();
    let behind = words.iter().position(|it| *it == "there").map(|it| match words[it + 1..] {
        ["must" | "should", "be", ..] => it + 3,
        _ => it + 2,
    });
    behind.is_some_and(|it| is_none(scene, it))
}

/// Returns whether the word here is `no`, or another that says that there is none.
fn is_none(scene: &Scene, at: usize) -> bool {
    let phrase = |it: &Token| scene.lexicon.phrase(std::slice::from_ref(&it.lower));
    let found = scene.tokens.get(at).and_then(phrase);
    matches!(found, Some(Concept::Not | Concept::Without))
}

/// Judges how many rows there are, or how many things, where each of these may be in several rows.
fn count_holds(scene: &Scene, sems: &[&Sem], op: Op, n: f64) -> Made {
    let judged = |measure: Measure| {
        let check = Check::Number(measure, op, Value::Number(n));
        scene.query(tests_of(sems), Shape::Check(check))
    };
    match repeated(scene, sems) {
        Some(key) => {
            vec![(judged(Measure::of(Agg::Distinct, key)), 0.3), (judged(Measure::ROWS), 0.4)]
        }
        None => one(judged(Measure::ROWS)),
    }
}

/// Judges of how many percent of the rows something holds.
fn share_holds(scene: &Scene, sems: &[&Sem], rows: Vec<Test>, only: Vec<Test>) -> Made {
    let (Some(op), Some(percent)) = (op_of(sems), number_of(sems)) else { return Vec::new() };
    if only.is_empty() {
        return Vec::new();
    }
    let share = Measure { agg: Agg::Share, of: None, only };
    one(scene.query(rows, Shape::Check(Check::Number(share, op, Value::Number(percent)))))
}

/// Judges rows of the kind that the last part says.
fn claim_before(scene: &Scene, sems: &[&Sem]) -> Made {
    let turned: Vec<&Sem> = sems.iter().rev().copied().collect();
    claim(scene, &turned, Check::All)
}

/// Judges rows, those of a kind if the first part says of which.
fn claim(scene: &Scene, sems: &[&Sem], check: fn(Vec<Test>) -> Check) -> Made {
    let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
    let [rows, claim] = all[..] else { return Vec::new() };
    let is_same = |it: &Test| rows.tests.contains(it);
    if !scene.wants_verdict || claim.tests.is_empty() || claim.tests.iter().any(is_same) {
        return Vec::new();
    }
    one(scene.query(rows.tests.clone(), Shape::Check(check(claim.tests.clone()))))
}
