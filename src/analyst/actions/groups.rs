//! What rows are grouped by.

use super::{Action, Made, frag, merged, number_of, one, place_of, unit_key, unit_of};
use crate::frag::Sem;
use crate::lexicon::TimeUnit;
use crate::query::{GroupKey, Part, Place};
use crate::scene::Scene;
use crate::schema::Kind;
use crate::sql::bin_width;

/// Bins of groups of numbers, unless the question says how wide they are.
const BINS: u32 = 10;

/// Different values that numbers have at most which are groups, if they have decimals.
const FEW_MAX: u64 = 12;

/// The actions, by the names that rules call them.
pub(super) const ACTIONS: &[(&str, Action)] = &[
    ("events", |scene, sems| match (place_of(sems), unit_of(sems)) {
        (Some(place), Some(unit)) if scene.kind(place).is_time() => unit_key(scene, place, unit)
            .map_or_else(Vec::new, |key| {
                one(frag(|it| {
                    it.keys.push(key);
                    it.has_rows = true;
                }))
            }),
        _ => Vec::new(),
    }),
    ("key", |scene, sems| {
        let Some(place) = place_of(sems) else { return Vec::new() };
        let column = scene.column(place);
        let cost = match column.kind {
            // Numbers of which some are missing are often written with decimals.
            Kind::Real if column.n_distinct.is_some_and(|it| it <= FEW_MAX) => 0.2,
            Kind::Real => 1.5,
            Kind::Whole
                if column.unit.is_none() && column.n_values().is_none() && !column.is_key =>
            {
                1.2
            }
            _ => 0.0,
        };
        // A `year` of dates a year apart.
        let step = scene.step(place).filter(|it| column.kind.is_time() && column.unit == Some(*it));
        let key = step.and_then(|it| unit_key(scene, place, it));
        vec![(frag(|it| it.keys.push(key.unwrap_or(GroupKey::Column(place)))), cost)]
    }),
    // `price by number of beds`
    ("key_counted", |scene, sems| match place_of(sems) {
        Some(place)
            if scene.kind(place) == Kind::Whole && scene.column(place).n_values().is_some() =>
        {
            one(frag(|it| it.keys.push(GroupKey::Column(place))))
        }
        _ => Vec::new(),
    }),
    ("key_decade", |scene, _| {
        key_at(scene, |it| {
            let column = scene.column(it);
            let is_year = column.kind == Kind::Whole && column.unit == Some(TimeUnit::Year);
            is_year.then_some(GroupKey::Bin(it, 10.0))
        })
    }),
    ("key_unit", |scene, sems| {
        let Some(unit) = unit_of(sems) else { return Vec::new() };
        let mut made = key_at(scene, |it| unit_key(scene, it, unit));
        if unit == TimeUnit::Hour {
            let parts = key_part(scene, Part::Hour).into_iter();
            made.extend(parts.map(|(it, cost)| (it, cost + HOUR_OF_DAY_COST)));
        }
        made
    }),
    // `month by month`
    ("key_unit_by_unit", |scene, sems| match *sems {
        [Sem::Unit(unit), _, Sem::Unit(same)] if unit == same => {
            key_at(scene, |it| unit_key(scene, it, *unit))
        }
        _ => Vec::new(),
    }),
    ("key_unit_of", |scene, sems| match (unit_of(sems), place_of(sems)) {
        (Some(unit), Some(place)) if scene.kind(place).is_time() => unit_key(scene, place, unit)
            .map_or_else(Vec::new, |it| one(frag(|frag| frag.keys.push(it)))),
        _ => Vec::new(),
    }),
    ("key_weekday_of", |scene, sems| match place_of(sems) {
        Some(place) if scene.kind(place).is_time() => {
            one(frag(|it| it.keys.push(GroupKey::Part(place, Part::Weekday))))
        }
        _ => Vec::new(),
    }),
    // `salary in bands of 10000`, `age groups`
    ("bins", |scene, sems| {
        let Some(place) = place_of(sems) else { return Vec::new() };
        let column = scene.column(place);
        let (true, false, Some((least, most))) =
            (column.kind.is_number(), column.is_key, column.range)
        else {
            return Vec::new();
        };
        let width = number_of(sems).unwrap_or_else(|| bin_width(least, most, BINS));
        if width <= 0.0 || most - least < width {
            return Vec::new();
        }
        one(frag(|it| it.keys.push(GroupKey::Bin(place, width))))
    }),
    ("per_row", |_, _| one(frag(|_| {}))),
    ("key_weekday", |scene, _| key_part(scene, Part::Weekday)),
    ("key_month", |scene, _| key_part(scene, Part::Month)),
    ("key_hour", |scene, _| key_part(scene, Part::Hour)),
    ("key_day", |scene, _| key_part(scene, Part::Day)),
    ("over_time", |_, _| one(frag(|it| it.is_trend = true))),
    ("over_time_by", |_, sems| {
        let mut made = merged(sems).unwrap_or_default();
        made.is_trend = true;
        one(Sem::Frag(Box::new(made)))
    }),
];

/// What it costs that an hour is that of any day.
const HOUR_OF_DAY_COST: f64 = 0.4;

fn key_at(scene: &Scene, key_of: impl Fn(Place) -> Option<GroupKey>) -> Made {
    let mut cost = 0.0;
    let mut made = Vec::new();
    let numbered = scene.places().filter(|it| scene.column(*it).unit.is_some());
    let clocks = scene.places().filter(|it| scene.kind(*it) == Kind::Clock);
    let mut places: Vec<Place> = numbered.chain(clocks).chain(scene.times()).collect();
    places.dedup();
    let mut keys: Vec<GroupKey> = places.into_iter().filter_map(key_of).collect();
    // A column that numbers the unit says it before a date that has it.
    keys.sort_by_key(|it| !matches!(it, GroupKey::Column(_)));
    for key in keys {
        made.push((frag(|it| it.keys.push(key)), cost));
        cost += 0.8;
    }
    made
}

fn key_part(scene: &Scene, part: Part) -> Made {
    key_at(scene, |it| {
        let kind = scene.kind(it);
        let column = scene.column(it);
        let numbers = match part {
            Part::Day => column.unit == Some(TimeUnit::Day),
            Part::Hour => column.unit == Some(TimeUnit::Hour),
            Part::Month => column.unit == Some(TimeUnit::Month),
            _ => false,
        };
        if numbers && kind == Kind::Whole {
            return Some(GroupKey::Column(it));
        }
        let fits = match part {
            Part::Hour => kind == Kind::Clock || kind.is_time() && kind != Kind::Day,
            _ => kind.is_time(),
        };
        fits.then_some(GroupKey::Part(it, part))
    })
}
