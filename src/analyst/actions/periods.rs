//! Conditions on time.

use jiff::Span;
use jiff::civil::Date;

use super::{
    Action, Made, both_periods, count_of, frag, in_period, last, number_of, one, op_of, periods_of,
    place_of, side_of, test, tests_of, timed, unit_key, unit_of, with_side,
};
use crate::frag::Sem;
use crate::lexicon::{Cue, TimeUnit};
use crate::query::{GroupKey, Op, Part, Place, Test, Value};
use crate::scene::Scene;
use crate::schema::Kind;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("compare_clock", |scene, sems| {
        let clock = sems.iter().find_map(|it| match it {
            Sem::Clock(time) => Some(*time),
            _ => None,
        });
        match (place_of(sems), op_of(sems), clock) {
            (Some(place), Some(op), Some(time)) if scene.kind(place) == Kind::Clock => {
                test(Test::Is(Value::Column(place), op, Value::Clock(time)))
            }
            _ => Vec::new(),
        }
    }),
    ("from_month_to", |scene, sems| match (number_of(sems), &periods_of(sems)[..]) {
        (Some(month), [(from, to)]) => {
            #[expect(clippy::cast_possible_truncation, reason = "a month")]
            let Ok(start) = Date::new(from.year(), month as i8, 1) else { return Vec::new() };
            let Ok(end) = start.checked_add(Span::new().months(1)) else { return Vec::new() };
            from_to(scene, (start, end), (*from, *to))
        }
        _ => Vec::new(),
    }),
    ("on_day", |scene, sems| {
        let numbers: Vec<f64> = sems
            .iter()
            .filter_map(|it| match it {
                Sem::Number(it) => Some(*it),
                _ => None,
            })
            .collect();
        let [month, day] = numbers[..] else { return Vec::new() };
        if !(1.0..32.0).contains(&day) || day.fract() != 0.0 {
            return Vec::new();
        }
        timed(scene, None, |place| {
            scene.kind(place).is_time().then(|| {
                vec![
                    Test::In(Value::Part(place, Part::Month), vec![Value::Number(month)]),
                    Test::In(Value::Part(place, Part::Day), vec![Value::Number(day)]),
                ]
            })
        })
    }),
    ("before_clock", |scene, sems| clocked(scene, sems, &[Op::Lt])),
    ("after_clock", |scene, sems| clocked(scene, sems, &[Op::Gt])),
    ("since_clock", |scene, sems| clocked(scene, sems, &[Op::Ge])),
    ("between_clocks", |scene, sems| clocked(scene, sems, &[Op::Ge, Op::Le])),
    ("in_months", |scene, sems| {
        with_side(parts(scene, Part::Month, &months_of(sems)), |place| {
            Some(GroupKey::Part(place?, Part::Month))
        })
    }),
    ("months_to", |scene, sems| match months_of(sems)[..] {
        [from, to] if from < to => parts(scene, Part::Month, &(from..=to).collect::<Vec<_>>()),
        [from, to] if to < from => {
            parts(scene, Part::Month, &(from..=12).chain(1..=to).collect::<Vec<_>>())
        }
        _ => Vec::new(),
    }),
    ("in_quarter", |scene, sems| match count_of(sems).and_then(|it| i32::try_from(it).ok()) {
        Some(quarter) => parts(scene, Part::Quarter, &[quarter]),
        None => Vec::new(),
    }),
    ("last_unit_of", |scene, sems| unit_of_period(scene, sems, None)),
    ("first_unit_of", |scene, sems| unit_of_period(scene, sems, Some(1))),
    ("nth_unit_of", |scene, sems| match count_of(sems).and_then(|it| i32::try_from(it).ok()) {
        Some(n) => unit_of_period(scene, sems, Some(n)),
        None => Vec::new(),
    }),
    ("within", |scene, sems| period_with(scene, sems, |(from, to)| (Some(from), Some(to)))),
    // `the year 2024`, and not the quarter.
    ("within_named", |scene, sems| {
        let is_same = sems
            .iter()
            .any(|it| matches!(it, Sem::Period(_, _, unit) if unit_of(sems) == Some(*unit)));
        if is_same {
            period_with(scene, sems, |(from, to)| (Some(from), Some(to)))
        } else {
            Vec::new()
        }
    }),
    ("before", |scene, sems| period_with(scene, sems, |(from, _)| (None, Some(from)))),
    ("after", |scene, sems| period_with(scene, sems, |(_, to)| (Some(to), None))),
    ("since", |scene, sems| period_with(scene, sems, |(from, _)| (Some(from), None))),
    ("since_bound", |scene, sems| bounded_with(scene, sems, |(from, _)| (Some(from), None))),
    ("before_bound", |scene, sems| bounded_with(scene, sems, |(from, _)| (None, Some(from)))),
    ("after_bound", |scene, sems| bounded_with(scene, sems, |(_, to)| (Some(to), None))),
    ("through_bound", |scene, sems| bounded_with(scene, sems, |(_, to)| (None, Some(to)))),
    ("through", |scene, sems| period_with(scene, sems, |(_, to)| (None, Some(to)))),
    // With the last day. With a month or without it, that is open.
    ("until", |scene, sems| through_or(scene, sems, |(from, _)| (None, Some(from)))),
    // `through 2013` may be within that year.
    ("through_or_within", |scene, sems| {
        through_or(scene, sems, |(from, to)| (Some(from), Some(to)))
    }),
    ("from_to", |scene, sems| match periods_of(sems)[..] {
        [one, other] => from_to(scene, one, other),
        _ => Vec::new(),
    }),
    ("versus_periods", within_two),
    ("within_two", within_two),
    ("last_units", |scene, sems| match (count_of(sems), unit_of(sems)) {
        (Some(n), Some(unit)) => last(scene, n, unit),
        _ => Vec::new(),
    }),
    ("last_unit", |scene, sems| unit_of(sems).map_or_else(Vec::new, |it| last(scene, 1, it))),
    ("in_month", |scene, sems| match count_of(sems).and_then(|it| i32::try_from(it).ok()) {
        Some(month) => parts(scene, Part::Month, &[month]),
        None => Vec::new(),
    }),
    ("on_weekday", |scene, sems| match count_of(sems).and_then(|it| i32::try_from(it).ok()) {
        Some(day) => parts(scene, Part::Weekday, &[day]),
        None => Vec::new(),
    }),
    ("on_weekend", |scene, _| parts(scene, Part::Weekday, &[6, 7])),
    ("on_workday", |scene, _| parts(scene, Part::Weekday, &[1, 2, 3, 4, 5])),
    ("at_time", |_, sems| one(sems[0].clone())),
    ("column_at_time", |_, sems| {
        let (Some(place), tests) = (place_of(sems), tests_of(sems)) else { return Vec::new() };
        let is_own = tests.iter().flat_map(Test::places).all(|it| it == place);
        if is_own { one(frag(|it| it.tests = tests)) } else { Vec::new() }
    }),
];

/// Says that a time is in one of two periods, which are compared.
fn within_two(scene: &Scene, sems: &[&Sem]) -> Made {
    let [one_period, other] = periods_of(sems)[..] else { return Vec::new() };
    let made = timed(scene, None, |place| both_periods(scene, place, one_period, other));
    with_side(made, |place| unit_key(scene, place?, TimeUnit::Year))
}

/// Returns the condition on times from one period to another, which are its ends.
fn from_to(scene: &Scene, one: (Date, Date), other: (Date, Date)) -> Made {
    let made = timed(scene, None, |place| in_period(scene, place, Some(one.0), Some(other.1)));
    let ends = made.into_iter().map(|(it, cost)| {
        let place = tests_of(&[&it]).first().and_then(|it| it.places().first().copied());
        let sides =
            place.and_then(|it| Some([side_of(scene, it, one)?, side_of(scene, it, other)?]));
        let Sem::Frag(mut frag) = it else { return (it, cost) };
        frag.ends = sides.map(Box::new);
        (Sem::Frag(frag), cost)
    });
    ends.collect()
}

fn period_with(
    scene: &Scene,
    sems: &[&Sem],
    make: impl Fn((Date, Date)) -> (Option<Date>, Option<Date>),
) -> Made {
    let Some(period) = periods_of(sems).first().copied() else { return Vec::new() };
    let (from, to) = make(period);
    timed(scene, None, |place| in_period(scene, place, from, to))
}

/// Returns the condition that a time is in a period or before it. If the period is longer than a day, something else may
/// be meant as well, and a gate must not guess.
fn through_or(
    scene: &Scene,
    sems: &[&Sem],
    other: impl Fn((Date, Date)) -> (Option<Date>, Option<Date>),
) -> Made {
    let through = period_with(scene, sems, |(_, to)| (None, Some(to)));
    if sems.iter().any(|it| matches!(it, Sem::Period(_, _, TimeUnit::Day))) {
        return through;
    }
    if scene.wants_verdict {
        return Vec::new();
    }
    [through, period_with(scene, sems, other)].concat()
}

/// The same behind words for numbers: `orders over 2000` are those of no year, if they have numbers.
fn bounded_with(
    scene: &Scene,
    sems: &[&Sem],
    make: impl Fn((Date, Date)) -> (Option<Date>, Option<Date>),
) -> Made {
    let is_year = sems.iter().any(|it| matches!(it, Sem::Period(_, _, TimeUnit::Year)));
    let says_time = || scene.tokens.iter().any(|it| scene.lexicon.is(Cue::Timely, &it.lower));
    let is_amount = |it: Place| {
        let column = scene.column(it);
        column.kind.is_number() && !column.is_key && column.unit.is_none()
    };
    if is_year && !says_time() && scene.places().any(is_amount) {
        return Vec::new();
    }
    period_with(scene, sems, make)
}

/// Returns the numbers of months that were said.
fn months_of(sems: &[&Sem]) -> Vec<i32> {
    let month = |it: &&Sem| match it {
        #[expect(clippy::cast_possible_truncation, reason = "a month")]
        Sem::Number(it) => Some(*it as i32),
        _ => None,
    };
    sems.iter().filter_map(month).collect()
}

/// Returns one test for each part of a date.
fn parts(scene: &Scene, part: Part, values: &[i32]) -> Made {
    // A column may number them.
    let unit = match part {
        Part::Month => Some(TimeUnit::Month),
        Part::Quarter => Some(TimeUnit::Quarter),
        _ => None,
    };
    let numbered = scene.places().find(|it| {
        let column = scene.column(*it);
        column.kind == Kind::Whole && column.unit.is_some() && column.unit == unit
    });
    if let Some(place) = numbered {
        let values = values.iter().map(|it| Value::Number(f64::from(*it))).collect();
        return test(Test::In(Value::Column(place), values));
    }
    timed(scene, None, |place| {
        scene.kind(place).is_time().then(|| {
            let values = values.iter().map(|it| Value::Number(f64::from(*it))).collect();
            vec![Test::In(Value::Part(place, part), values)]
        })
    })
}

/// Returns conditions on a time of day.
fn clocked(scene: &Scene, sems: &[&Sem], ops: &[Op]) -> Made {
    let clocks: Vec<_> = sems
        .iter()
        .filter_map(|it| match it {
            Sem::Clock(time) => Some(*time),
            _ => None,
        })
        .collect();
    let clocked = scene.places().filter(|it| scene.kind(*it) == Kind::Clock);
    clocked
        .map(|place| {
            let tests = ops
                .iter()
                .zip(&clocks)
                .map(|(op, time)| Test::Is(Value::Column(place), *op, Value::Clock(*time)));
            (frag(|it| it.tests = tests.collect()), 0.0)
        })
        .collect()
}

/// Returns the condition that a time is in one unit of a period: `the last quarter of 2023`. None is the last.
fn unit_of_period(scene: &Scene, sems: &[&Sem], n: Option<i32>) -> Made {
    let (Some((from, to)), Some(unit)) = (periods_of(sems).first().copied(), unit_of(sems)) else {
        return Vec::new();
    };
    let span = |n: i32| match unit {
        TimeUnit::Quarter => Some(jiff::Span::new().months(3 * n)),
        TimeUnit::Month => Some(jiff::Span::new().months(n)),
        TimeUnit::Week => Some(jiff::Span::new().weeks(n)),
        TimeUnit::Day => Some(jiff::Span::new().days(n)),
        _ => None,
    };
    let ends = || match n {
        None => Some((to.checked_sub(span(1)?).ok()?, to)),
        Some(n) => Some((from.checked_add(span(n - 1)?).ok()?, from.checked_add(span(n)?).ok()?)),
    };
    let Some((start, end)) = ends().filter(|it| from <= it.0 && it.1 <= to) else {
        return Vec::new();
    };
    timed(scene, None, |place| in_period(scene, place, Some(start), Some(end)))
}
