//! What rules make of their symbols.
//!
//! An action gets what its symbols mean and returns what their phrase may mean, each with what it costs more; nothing if
//! they do not go together. Rules name actions, so that each does one thing.

mod claims;
mod conditions;
mod contrasts;
mod groups;
mod numbers;
pub(crate) mod order;
mod parts;
mod periods;
mod values;

use jiff::civil::Date;

use crate::frag::{Frag, Sem};
use crate::lexicon::{Concept, TimeUnit};
use crate::link::{Held, is_time};
use crate::query::{Agg, GroupKey, Measure, Op, Part, Place, Side, SortOrder, Test, Value, Within};
use crate::scene::Scene;
use crate::schema::Kind;

/// Makes something of symbols.
pub(crate) type Action = fn(&Scene, &[&Sem]) -> Made;

/// What a phrase may mean, each with what it costs.
pub(crate) type Made = Vec<(Sem, f64)>;

/// Returns the action that rules call so.
pub(crate) fn find(name: &str) -> Option<Action> {
    tables().into_iter().flatten().find(|it| it.0 == name).map(|it| it.1)
}

fn tables() -> [&'static [(&'static str, Action)]; 9] {
    [
        claims::ACTIONS,
        conditions::ACTIONS,
        contrasts::ACTIONS,
        groups::ACTIONS,
        numbers::ACTIONS,
        order::ACTIONS,
        parts::ACTIONS,
        periods::ACTIONS,
        values::ACTIONS,
    ]
}

fn frag(make: impl FnOnce(&mut Frag)) -> Sem {
    let mut frag = Frag::default();
    make(&mut frag);
    Sem::Frag(Box::new(frag))
}

fn one(sem: Sem) -> Made {
    vec![(sem, 0.0)]
}

fn test(test: Test) -> Made {
    one(frag(|it| it.tests.push(test)))
}

fn frag_of(sem: &Sem) -> Option<&Frag> {
    match sem {
        Sem::Frag(frag) => Some(frag),
        _ => None,
    }
}

fn place_of(sems: &[&Sem]) -> Option<Place> {
    sems.iter().find_map(|it| match it {
        Sem::Column(place) | Sem::Adjective(place, _) => Some(*place),
        _ => None,
    })
}

fn places_of(sems: &[&Sem]) -> Vec<Place> {
    sems.iter()
        .flat_map(|it| match it {
            Sem::Column(place) | Sem::Adjective(place, _) => vec![*place],
            Sem::Frag(frag) => frag.columns.clone(),
            _ => Vec::new(),
        })
        .collect()
}

fn held_of<'a>(sems: &[&'a Sem]) -> Option<&'a Held> {
    sems.iter().find_map(|it| match it {
        Sem::Held(held) => Some(held),
        _ => None,
    })
}

fn helds_of(sems: &[&Sem]) -> Vec<Held> {
    sems.iter()
        .flat_map(|it| match it {
            Sem::Held(held) => vec![held.clone()],
            Sem::Several(all) => all.clone(),
            _ => Vec::new(),
        })
        .collect()
}

fn amounts_of(sems: &[&Sem]) -> Vec<(f64, Option<String>)> {
    sems.iter()
        .filter_map(|it| match it {
            Sem::Amount(value, unit) => Some((*value, unit.clone())),
            _ => None,
        })
        .collect()
}

fn number_of(sems: &[&Sem]) -> Option<f64> {
    sems.iter().find_map(|it| match it {
        Sem::Number(value) => Some(*value),
        _ => None,
    })
}

fn count_of(sems: &[&Sem]) -> Option<u32> {
    let value = number_of(sems)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
    (value.fract() == 0.0 && (1.0..=1000.0).contains(&value)).then_some(value as u32)
}

fn op_of(sems: &[&Sem]) -> Option<Op> {
    sems.iter().find_map(|it| match it {
        Sem::Op(op) => Some(*op),
        _ => None,
    })
}

fn texts_of(sems: &[&Sem]) -> Option<String> {
    sems.iter().find_map(|it| match it {
        Sem::Text(text) => Some(text.clone()),
        _ => None,
    })
}

fn concept_of(sems: &[&Sem]) -> Option<Concept> {
    sems.iter().find_map(|it| match it {
        Sem::Word(concept) => Some(*concept),
        _ => None,
    })
}

fn tests_of(sems: &[&Sem]) -> Vec<Test> {
    sems.iter().filter_map(|it| frag_of(it)).flat_map(|it| it.tests.clone()).collect()
}

fn measure_of(sems: &[&Sem]) -> Option<Measure> {
    sems.iter().filter_map(|it| frag_of(it)).find_map(|it| it.measures.first().cloned())
}

fn unit_of(sems: &[&Sem]) -> Option<TimeUnit> {
    sems.iter().find_map(|it| match it {
        Sem::Unit(unit) => Some(*unit),
        _ => None,
    })
}

fn is(place: Place, op: Op, value: f64) -> Test {
    Test::Is(Value::Column(place), op, Value::Number(value))
}

/// Returns the condition that a value is held.
fn holds_test(held: &Held) -> Test {
    if held.spellings.is_empty() {
        return Test::Text(held.place, Within::Contains, held.text.clone());
    }
    let values = held.spellings.iter().map(|it| Value::Text(it.clone())).collect();
    Test::In(Value::Column(held.place), values)
}

/// Returns a comparison with an amount of a number, or of a date with a year.
fn compared(scene: &Scene, place: Place, op: Op, amount: &(f64, Option<String>)) -> Option<Test> {
    if scene.kind(place).is_time() {
        #[expect(clippy::cast_possible_truncation, reason = "in range")]
        let year =
            Date::new((1000.0..2200.0).contains(&amount.0).then_some(amount.0 as i16)?, 1, 1)
                .ok()?;
        let part = Value::Part(place, Part::Year);
        return Some(Test::Is(part, op, Value::Number(f64::from(year.year()))));
    }
    let value = scene.in_unit_of(place, amount.0, amount.1.as_deref())?;
    let is_flag = scene.kind(place) == Kind::Bool && !(0.0..=1.0).contains(&value);
    (scene.is_number(place) && !is_flag).then(|| is(place, op, value))
}

fn compare_with(scene: &Scene, sems: &[&Sem], op: Option<Op>) -> Made {
    let (Some(place), Some(op), Some(amount)) = (place_of(sems), op, amounts_of(sems).pop()) else {
        return Vec::new();
    };
    // A year is hardly the amount of something else.
    let is_year =
        amount.1.is_none() && amount.0.fract() == 0.0 && (1900.0..2100.0).contains(&amount.0);
    let is_odd =
        op == Op::Eq && is_year && !is_time(scene.column(place)) && !scene.times().is_empty();
    let made = compared(scene, place, op, &amount);
    made.map_or_else(Vec::new, |it| {
        vec![(frag(|frag| frag.tests.push(it)), if is_odd { 1.0 } else { 0.0 })]
    })
}

/// Returns conditions on a time: from one day to before another.
fn in_period(
    scene: &Scene,
    place: Place,
    from: Option<Date>,
    to: Option<Date>,
) -> Option<Vec<Test>> {
    let column = scene.column(place);
    let mut tests = Vec::new();
    if column.kind.is_number() {
        // Years are numbers.
        let year = |it: Date| f64::from(it.year());
        let is_year = |it: Date| it.month() == 1 && it.day() == 1;
        // `July 2015`, where months have a column of their own.
        if let (Some(from), Some(to)) = (from, to)
            && from.day() == 1
            && from.checked_add(jiff::Span::new().months(1)).is_ok_and(|it| it == to)
            && let Some(month) = scene.places().find(|it| {
                it.table == place.table
                    && scene.column(*it).unit == Some(TimeUnit::Month)
                    && scene.kind(*it) == Kind::Whole
            })
        {
            let number =
                |place: Place, it: f64| Test::In(Value::Column(place), vec![Value::Number(it)]);
            return Some(vec![number(place, year(from)), number(month, f64::from(from.month()))]);
        }
        if !from.into_iter().chain(to).all(is_year) {
            return None;
        }
        match (from, to) {
            (Some(from), Some(to)) if to.year() - from.year() == 1 => {
                tests.push(Test::In(Value::Column(place), vec![Value::Number(year(from))]));
            }
            _ => {
                tests.extend(from.map(|it| is(place, Op::Ge, year(it))));
                tests.extend(to.map(|it| is(place, Op::Lt, year(it))));
            }
        }
        return Some(tests);
    }
    if let (Some(from), Some(to)) = (from, to)
        && from.month() == 1
        && from.day() == 1
        && to.year() == from.year() + 1
        && (to.month(), to.day()) == (1, 1)
    {
        let year = Value::Number(f64::from(from.year()));
        return Some(vec![Test::In(Value::Part(place, Part::Year), vec![year])]);
    }
    let column = Value::Column(place);
    tests.extend(from.map(|it| Test::Is(column.clone(), Op::Ge, Value::Day(it))));
    tests.extend(to.map(|it| Test::Is(column.clone(), Op::Lt, Value::Day(it))));
    Some(tests)
}

/// Returns conditions on each column of times that they may be on; the first is the likeliest.
fn timed(
    scene: &Scene,
    place: Option<Place>,
    tests_of: impl Fn(Place) -> Option<Vec<Test>>,
) -> Made {
    let places = place.map_or_else(|| scene.times(), |it| vec![it]);
    let mut cost = 0.0;
    let mut made = Vec::new();
    for place in places {
        if let Some(tests) = tests_of(place) {
            made.push((frag(|it| it.tests = tests), cost));
            cost += 0.8;
        }
    }
    made
}

fn periods_of(sems: &[&Sem]) -> Vec<(Date, Date)> {
    sems.iter()
        .filter_map(|it| match it {
            Sem::Period(from, to, _) => Some((*from, *to)),
            _ => None,
        })
        .collect()
}

fn aggs_of(sems: &[&Sem]) -> Vec<Agg> {
    sems.iter()
        .flat_map(|it| match it {
            Sem::Aggs(aggs) => aggs.clone(),
            _ => Vec::new(),
        })
        .collect()
}

/// Returns numbers of columns, with the price of what is unusual.
fn measures(scene: &Scene, aggs: &[Agg], places: &[Place]) -> Option<(Vec<Measure>, f64)> {
    let mut found = Vec::new();
    let mut cost = 0.0;
    for place in places {
        for agg in aggs {
            let kind = scene.kind(*place);
            let fits = match agg {
                Agg::Min | Agg::Max => kind.is_number() || kind.is_time() || kind == Kind::Clock,
                Agg::Mean | Agg::Sum => scene.is_number(*place),
                Agg::Count | Agg::Distinct | Agg::Mode => true,
                _ => kind.is_number(),
            };
            if !fits {
                return None;
            }
            let is_sum = *agg == Agg::Sum;
            if scene.column(*place).is_key && (is_sum || *agg == Agg::Mean) {
                return None;
            }
            cost += match (is_sum, scene.is_additive(*place)) {
                (true, Some(false)) => 1.0,
                _ => 0.0,
            };
            found.push(Measure::of(agg.clone(), *place));
        }
    }
    (!found.is_empty()).then_some((found, cost))
}

fn order_of(sems: &[&Sem]) -> Option<SortOrder> {
    sems.iter().find_map(|it| match it {
        Sem::Order(order) => Some(*order),
        _ => None,
    })
}

/// Returns whether a time would be in two periods that are apart: `2024-01-01 - 2024-01-31` is something else.
fn are_apart(tests: &[Test]) -> bool {
    let bound = |it: &Test| match it {
        Test::Is(value, op, Value::Day(day)) => Some((value.clone(), *op, *day)),
        _ => None,
    };
    let bounds: Vec<(Value, Op, Date)> = tests.iter().filter_map(bound).collect();
    let ends = bounds.iter().filter(|it| it.1 == Op::Lt);
    ends.into_iter()
        .any(|end| bounds.iter().any(|it| it.1 == Op::Ge && it.0 == end.0 && end.2 <= it.2))
}

fn merged(sems: &[&Sem]) -> Option<Frag> {
    let mut all: Option<Frag> = None;
    for sem in sems {
        let next = match sem {
            Sem::Frag(next) => (**next).clone(),
            Sem::Order(order) => Frag { order: Some(*order), ..Frag::default() },
            _ => continue,
        };
        all = Some(match all {
            None => next,
            Some(before) => before.merge(&next)?,
        });
    }
    all.filter(|it| !are_apart(&it.tests))
}

/// Returns the key of a unit of time: of a date, or a column that numbers it.
pub(crate) fn unit_key(scene: &Scene, place: Place, unit: TimeUnit) -> Option<GroupKey> {
    if scene.kind(place) == Kind::Clock {
        return (unit == TimeUnit::Hour).then_some(GroupKey::Part(place, Part::Hour));
    }
    if scene.kind(place).is_time() {
        let is_too_fine = unit == TimeUnit::Hour && scene.kind(place) == Kind::Day;
        if unit == TimeUnit::Day && scene.kind(place) == Kind::Day {
            return Some(GroupKey::Column(place));
        }
        return (!is_too_fine).then_some(GroupKey::Time(place, unit));
    }
    (scene.column(place).unit == Some(unit)).then_some(GroupKey::Column(place))
}

fn measure(scene: &Scene, sems: &[&Sem]) -> Made {
    let (aggs, places) = (aggs_of(sems), places_of(sems));
    match measures(scene, &aggs, &places) {
        Some((measures, cost)) => vec![(frag(|it| it.measures = measures), cost)],
        None => Vec::new(),
    }
}

/// Says that values of a key are compared, which depends on the place of the first condition.
fn with_side(made: Made, key_of: impl Fn(Option<Place>) -> Option<GroupKey>) -> Made {
    let with_side = |(sem, cost)| {
        let Sem::Frag(mut frag) = sem else { return (sem, cost) };
        let place = frag.tests.first().and_then(|it| it.places().first().copied());
        frag.sides.extend(key_of(place));
        (Sem::Frag(frag), cost)
    };
    made.into_iter().map(with_side).collect()
}

/// Returns the condition that a time is in one of two years.
fn both_periods(
    scene: &Scene,
    place: Place,
    one: (Date, Date),
    other: (Date, Date),
) -> Option<Vec<Test>> {
    let both: Option<Vec<Vec<Test>>> = [one, other]
        .into_iter()
        .map(|it| in_period(scene, place, Some(it.0), Some(it.1)))
        .collect();
    match &both?.concat()[..] {
        [Test::In(value, one), Test::In(same, other)] if value == same => {
            Some(vec![Test::In(value.clone(), [one.clone(), other.clone()].concat())])
        }
        _ => None,
    }
}

fn several(all: Vec<Held>) -> Made {
    let is_one = all.windows(2).all(|it| it[0].place == it[1].place);
    if is_one && 1 < all.len() { one(Sem::Several(all)) } else { Vec::new() }
}

fn holds_any(all: &[Held], place: Option<Place>) -> Made {
    let Some(first) = all.first() else { return Vec::new() };
    if place.is_some_and(|it| it != first.place) {
        return Vec::new();
    }
    if all.iter().any(|it| it.spellings.is_empty()) {
        return test(Test::Any(all.iter().map(holds_test).collect()));
    }
    let values =
        all.iter().flat_map(|it| &it.spellings).map(|it| Value::Text(it.clone())).collect();
    test(Test::In(Value::Column(first.place), values))
}

fn compare_places(scene: &Scene, places: &[Place], op: Option<Op>) -> Made {
    let ([one, other], Some(op)) = (places, op) else { return Vec::new() };
    // `the year matches the date`
    let is_year = |it: &Place| {
        scene.kind(*it) == Kind::Whole && scene.column(*it).unit == Some(TimeUnit::Year)
    };
    if let Some((year, time)) = [(one, other), (other, one)]
        .into_iter()
        .find(|it| is_year(it.0) && scene.kind(*it.1).is_time())
    {
        return test(Test::Is(Value::Column(*year), op, Value::Part(*time, Part::Year)));
    }
    let are_alike = scene.is_number(*one) && scene.is_number(*other)
        || scene.kind(*one).is_time() && scene.kind(*other).is_time()
        || scene.kind(*one) == scene.kind(*other);
    if one == other || !are_alike {
        return Vec::new();
    }
    test(Test::Is(Value::Column(*one), op, Value::Column(*other)))
}

fn sign(scene: &Scene, sems: &[&Sem], op: Op) -> Made {
    match place_of(sems) {
        Some(place) if scene.is_number(place) => test(is(place, op, 0.0)),
        _ => Vec::new(),
    }
}

fn last(scene: &Scene, n: u32, unit: TimeUnit) -> Made {
    timed(scene, None, |place| {
        let column = scene.column(place);
        (column.kind.is_time() || column.unit == Some(unit))
            .then(|| vec![Test::Last(place, n, unit)])
    })
}

fn first(sems: &[&Sem], sign: i64) -> Made {
    let Some(n) = count_of(sems) else { return Vec::new() };
    one(frag(|it| {
        it.first = Some(sign * i64::from(n));
        it.has_rows = true;
        it.tests = tests_of(sems);
    }))
}

/// Returns the key of what the rows are called, if it is in several rows: orders have a number of their own.
fn repeated(scene: &Scene, sems: &[&Sem]) -> Option<Place> {
    let mut nouns = sems.iter().filter_map(|it| frag_of(it)).filter_map(|it| it.noun.as_deref());
    nouns.find_map(|noun| {
        scene.places().find(|it| {
            let column = scene.column(*it);
            let rows = scene.tables[it.table].n_rows;
            column.is_key_of(noun) && column.n_distinct.is_some_and(|it| it * 20 < rows * 19)
        })
    })
}

/// Returns a period as a part of the rows.
fn side_of(scene: &Scene, place: Place, period: (Date, Date)) -> Option<Side> {
    let (from, to) = period;
    let is_year = (from.month(), from.day(), to.month(), to.day()) == (1, 1, 1, 1);
    let is_month = from.day() == 1 && to.day() == 1;
    let name = match (is_year, is_month) {
        (true, _) => from.year().to_string(),
        (_, true) => from.strftime("%Y-%m").to_string(),
        _ => from.to_string(),
    };
    Some(Side { name, tests: in_period(scene, place, Some(from), Some(to))? })
}

/// Returns the numbers that a bare column may stand for: totals of what adds up, means of the rest.
pub(crate) fn natural(scene: &Scene, place: Place) -> Vec<(Measure, f64)> {
    if !scene.is_number(place) || scene.column(place).is_key {
        return Vec::new();
    }
    let costs = match scene.is_additive(place) {
        Some(true) => [(Agg::Sum, 0.0), (Agg::Mean, 0.8)],
        Some(false) => [(Agg::Mean, 0.0), (Agg::Sum, 1.6)],
        None if scene.kind(place) == Kind::Whole => [(Agg::Mean, 0.45), (Agg::Sum, 0.55)],
        None => [(Agg::Mean, 0.3), (Agg::Sum, 0.7)],
    };
    costs.into_iter().map(|(agg, cost)| (Measure::of(agg, place), cost)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn every_action_has_a_name_of_its_own() {
        let mut seen = HashSet::new();
        for (name, _) in super::tables().into_iter().flatten() {
            assert!(seen.insert(name), "two actions are called `{name}`");
        }
    }
}
