//! A number of two parts of the rows: how far apart both are, how many times one is the other, which is the larger.

use super::{
    Action, Made, frag, frag_of, held_of, holds_test, natural, one, op_of, order_of, periods_of,
    place_of, side_of, tests_of,
};
use crate::frag::Sem;
use crate::query::{Agg, Comparison, Contrast, Measure, Op, Shape, Side, Test};
use crate::scene::Scene;
use crate::schema::Kind;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("side", |scene, sems| side(scene, sems, false)),
    ("side_not", |scene, sems| side(scene, sems, true)),
    ("figure", |scene, sems| {
        let numbers = place_of(sems).map_or_else(Vec::new, |it| natural(scene, it));
        numbers.into_iter().map(|(it, cost)| (frag(|frag| frag.measures.push(it)), cost)).collect()
    }),
    ("figure_mean", |scene, sems| {
        mean_of(scene, sems).map_or_else(Vec::new, |it| one(frag(|frag| frag.measures.push(it))))
    }),
    ("difference", |scene, sems| contrast(sems, figure_of(scene, sems), Contrast::Difference)),
    ("difference_of_counts", |_, sems| contrast(sems, Some(Measure::ROWS), Contrast::Difference)),
    ("ratio_of_sides", |scene, sems| contrast(sems, figure_of(scene, sems), Contrast::Ratio)),
    ("ratio_of_counts", |_, sems| contrast(sems, Some(Measure::ROWS), Contrast::Ratio)),
    ("side_holds", |scene, sems| holds(sems, figure_of(scene, sems))),
    ("side_holds_of_counts", |_, sems| holds(sems, Some(Measure::ROWS))),
];

/// Returns the part of the rows that a value, a period or a column says, which says yes or no.
fn side(scene: &Scene, sems: &[&Sem], is_not: bool) -> Made {
    let made = sems.iter().find_map(|it| match it {
        Sem::Side(side) => Some(side.clone()),
        _ => None,
    });
    if let Some(made) = made {
        let told = tests_of(sems);
        return if told.is_empty() { one(Sem::Side(made)) } else { Vec::new() };
    }
    let made = match (held_of(sems), place_of(sems), &periods_of(sems)[..]) {
        (Some(held), place, _) if place.is_none_or(|it| held.place == it) => Some(Side {
            name: held.spellings.first().unwrap_or(&held.text).clone(),
            tests: vec![holds_test(held)],
        }),
        (None, Some(place), _) if scene.kind(place) == Kind::Bool => {
            let name = &scene.column(place).name;
            let is_true = Test::True(place);
            Some(if is_not {
                Side { name: format!("not {name}"), tests: vec![Test::Not(Box::new(is_true))] }
            } else {
                Side { name: name.clone(), tests: vec![is_true] }
            })
        }
        (None, None, [period]) => scene.times().first().and_then(|it| side_of(scene, *it, *period)),
        _ => None,
    };
    made.map_or_else(Vec::new, |it| one(Sem::Side(it)))
}

/// Returns the mean of the column that is named, or of which an adjective speaks.
fn mean_of(scene: &Scene, sems: &[&Sem]) -> Option<Measure> {
    let mut numbers = natural(scene, place_of(sems)?).into_iter().map(|it| it.0);
    numbers.find(|it| it.agg == Agg::Mean)
}

/// Returns the number that is told of two parts: `heavier` is about means.
fn figure_of(scene: &Scene, sems: &[&Sem]) -> Option<Measure> {
    let mut told = sems.iter().filter_map(|it| frag_of(it)).flat_map(|it| &it.measures);
    match (told.next(), told.next()) {
        (Some(measure), None) => Some(measure.clone()),
        (None, _) => mean_of(scene, sems),
        _ => None,
    }
}

/// Puts a number of two parts side by side.
fn contrast(sems: &[&Sem], measure: Option<Measure>, asks: Contrast) -> Made {
    let sides: Vec<&Side> = sems
        .iter()
        .filter_map(|it| match it {
            Sem::Side(side) => Some(side),
            _ => None,
        })
        .collect();
    let [left, right] = sides[..] else { return Vec::new() };
    let places = |it: &Side| it.tests.iter().flat_map(Test::places).collect::<Vec<_>>();
    if left.tests == right.tests || places(left).first() != places(right).first() {
        return Vec::new();
    }
    let Some(measure) = measure else { return Vec::new() };
    // `by how many percent` is of what changed.
    if asks == Contrast::Difference && matches!(measure.agg, Agg::Percent(_)) {
        return Vec::new();
    }
    let comparison = Comparison { measure, sides: [left.clone(), right.clone()], asks };
    one(frag(|it| {
        it.tests = tests_of(sems);
        it.body = Some(Shape::Compare(comparison));
    }))
}

/// Says that a number of one part is larger, or smaller, than that of another.
fn holds(sems: &[&Sem], measure: Option<Measure>) -> Made {
    let is_low = sems.iter().find_map(|it| match it {
        Sem::Adjective(_, is_low) => Some(*is_low),
        _ => None,
    });
    let op = op_of(sems)
        .or_else(|| order_of(sems).map(|it| if it.is_ascending { Op::Lt } else { Op::Gt }))
        .or_else(|| is_low.map(|it| if it { Op::Lt } else { Op::Gt }));
    op.map_or_else(Vec::new, |op| contrast(sems, measure, Contrast::Holds(op)))
}
