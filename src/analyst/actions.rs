//! What rules make of their symbols.
//!
//! An action gets what its symbols mean and returns what their phrase may mean, each with what it costs more; nothing if
//! they do not go together. Rules name actions, so that each does one thing.

use jiff::civil::Date;

use crate::frag::{AskedFor, Claim, Frag, Sem};
use crate::lexicon::{Concept, Cue, Lexicon, TimeUnit};
use crate::link::{Held, is_time};
use crate::query::{
    Agg, Arithmetic, Chart, Check, Comparison, Contrast, GroupKey, Groups, LogicalForm, Measure,
    Op, Over, Part, Place, Profile, Shape, Side, SortOrder, Source, Test, Told, Value, Within,
};
use crate::schema::{Column, Kind, Table};
use crate::words::Token;

/// What actions know of.
pub(crate) struct Scene<'a> {
    pub tokens: &'a [Token],
    pub tables: &'a [Table],
    /// The tables that are asked; a second one is joined.
    pub of: &'a [usize],
    /// How the second one is joined.
    pub join: Option<crate::query::Join>,
    pub lexicon: &'a Lexicon,
    /// Whether a claim is judged.
    pub wants_verdict: bool,
    /// Whether values of columns add up, by the words that the question has for them.
    pub said: std::collections::HashMap<Place, bool>,
}

/// Makes something of symbols.
pub(crate) type Action = fn(&Scene, &[&Sem]) -> Made;
/// What a phrase may mean, each with what it costs.
pub(crate) type Made = Vec<(Sem, f64)>;

impl Scene<'_> {
    pub(crate) fn column(&self, place: Place) -> &Column {
        &self.tables[place.table].columns[place.column]
    }

    pub(crate) fn kind(&self, place: Place) -> Kind {
        self.column(place).kind
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        self.of.iter().flat_map(|table| {
            (0..self.tables[*table].columns.len()).map(|column| Place { table: *table, column })
        })
    }

    /// Returns the columns that have times: first those of which the question speaks, last days of birth.
    pub(crate) fn times(&self) -> Vec<Place> {
        let mut found: Vec<Place> = self.places().filter(|it| self.kind(*it).is_time()).collect();
        if found.is_empty() {
            found = self.places().filter(|it| is_time(self.column(*it))).collect();
        }
        found.sort_by_key(|it| {
            let words = &self.column(*it).words;
            let is_birth = words.iter().any(|it| self.lexicon.is(Cue::Births, it));
            (!self.speaks_of(*it), is_birth)
        });
        found
    }

    /// Returns whether a word of the question is one of the name of a time, or means the same: `shipped` of `Ship Date`.
    fn speaks_of(&self, place: Place) -> bool {
        let words = &self.column(place).words;
        let own = words
            .iter()
            .filter(|it| !self.lexicon.is(Cue::Dates, it) && self.lexicon.unit(it).is_none());
        let says = |word: &String| {
            self.tokens
                .iter()
                .any(|it| it.stem == *word || self.lexicon.are_synonyms(&it.stem, word))
        };
        own.into_iter().any(says)
    }

    /// Returns the unit of time between two values of a column that has one for each.
    fn step(&self, place: Place) -> Option<TimeUnit> {
        let column = self.column(place);
        let (least, most) = column.range?;
        let n = column.n_distinct.filter(|it| 3 <= *it)?;
        let step = (most - least) / (n - 1) as f64;
        match step {
            it if column.kind.is_number() => (it <= 1.01).then_some(TimeUnit::Year),
            it if it < 1.2 => Some(TimeUnit::Day),
            it if (6.0..8.5).contains(&it) => Some(TimeUnit::Week),
            it if (28.0..33.0).contains(&it) => Some(TimeUnit::Month),
            it if (85.0..95.0).contains(&it) => Some(TimeUnit::Quarter),
            it if (360.0..370.0).contains(&it) => Some(TimeUnit::Year),
            _ => None,
        }
    }

    /// Returns whether a column has numbers that can be computed with.
    pub(crate) fn is_number(&self, place: Place) -> bool {
        let column = self.column(place);
        column.kind.is_number() || column.is_number
    }

    /// Returns whether values of a column add up: nothing if its name does not say so.
    pub(crate) fn is_additive(&self, place: Place) -> Option<bool> {
        let words = &self.column(place).words;
        let own = self.lexicon.is_additive(words);
        // Money of which nothing else is said.
        let is_money = words.iter().any(|it| self.lexicon.is(Cue::Money, it));
        let is_mean = words.iter().any(|it| self.lexicon.is(Cue::Means, it));
        if is_mean && own != Some(true) {
            return Some(false);
        }
        let is_neither = own.is_none() && !self.lexicon.has(Cue::Intensive, words);
        self.said.get(&place).copied().or(own).or((is_money && is_neither).then_some(true))
    }

    pub(crate) fn source(&self) -> Source {
        Source { table: self.of[0], join: self.join }
    }

    fn query(&self, filters: Vec<Test>, body: Shape) -> Sem {
        Sem::Query(Box::new(LogicalForm { from: self.source(), filters, body, chart: None }))
    }

    /// Returns an amount in the unit of a column. Nothing if that is of another kind.
    fn in_unit_of(&self, place: Place, value: f64, unit: Option<&str>) -> Option<f64> {
        let Some(said) = unit else { return Some(value) };
        let words = &self.column(place).words;
        let own = words.last().filter(|it| 1 < words.len() && self.lexicon.is_known_unit(it));
        let is_percent = matches!(said, "%" | "percent" | "pct");
        if is_percent && self.is_fraction(place) {
            return Some(value / 100.0);
        }
        if said.starts_with("degre") || is_percent || said == "old" {
            return Some(value);
        }
        match own {
            Some(own) => Some(value * self.lexicon.per_unit(own, said)?),
            // A name that has no unit may be in any, also in the one of its own word.
            None => Some(value),
        }
    }

    /// Returns whether a column has fractions of one, which are told in percent.
    fn is_fraction(&self, place: Place) -> bool {
        let column = self.column(place);
        column.kind == Kind::Real
            && column.range.is_some_and(|(least, most)| -1.0 <= least && most <= 1.0)
    }

    /// Returns the numbers that an amount may be compared with, if no column is said.
    fn implied(&self, value: f64, unit: Option<&str>) -> Vec<(Place, f64)> {
        let mut found = Vec::new();
        for place in self.places().filter(|it| self.kind(*it).is_number()) {
            let column = self.column(place);
            let words = &column.words;
            let fits =
                match unit {
                    Some(unit) if unit.starts_with("degre") => {
                        words.iter().any(|it| it.starts_with("temp"))
                    }
                    Some(unit) => {
                        words.last().is_some_and(|it| {
                            it == unit || self.lexicon.per_unit(it, unit).is_some()
                        }) || unit == "old" && words.iter().any(|it| it == "age")
                    }
                    None => self.tokens.iter().any(|it| {
                        self.lexicon.implied(&it.stem).iter().any(|of| words.contains(of))
                    }),
                };
            if fits && let Some(value) = self.in_unit_of(place, value, unit) {
                found.push((place, value));
            }
        }
        if 2 < found.len() { Vec::new() } else { found }
    }
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
    scene.is_number(place).then(|| is(place, op, value))
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
            (Some(from), Some(to)) if year(to) - year(from) == 1.0 => {
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
fn timed(scene: &Scene, place: Option<Place>, make: impl Fn(Place) -> Option<Vec<Test>>) -> Made {
    let places = place.map_or_else(|| scene.times(), |it| vec![it]);
    let mut cost = 0.0;
    let mut made = Vec::new();
    for place in places {
        if let Some(tests) = make(place) {
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

fn period_with(
    scene: &Scene,
    sems: &[&Sem],
    make: impl Fn((Date, Date)) -> (Option<Date>, Option<Date>),
) -> Made {
    let Some(period) = periods_of(sems).first().copied() else { return Vec::new() };
    let (from, to) = make(period);
    timed(scene, None, |place| in_period(scene, place, from, to))
}

/// Returns one test for each part of a date.
fn parts(scene: &Scene, part: Part, values: Vec<i32>) -> Made {
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

fn negated(tests: Vec<Test>) -> Test {
    match <[Test; 1]>::try_from(tests) {
        Ok([Test::Not(test)]) => *test,
        Ok([test]) => Test::Not(Box::new(test)),
        Err(tests) => Test::Any(tests.into_iter().map(|it| Test::Not(Box::new(it))).collect()),
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

fn order_with(is_ascending: bool, n: Option<u32>, skip: u32) -> Made {
    // Hardly anybody wants the 600 smallest; at least 600 is another thing.
    let cost = if n.is_some_and(|it| 100 < it) { 1.5 } else { 0.0 };
    vec![(Sem::Order(SortOrder { is_ascending, n, skip }), cost)]
}

fn order_of(sems: &[&Sem]) -> Option<SortOrder> {
    sems.iter().find_map(|it| match it {
        Sem::Order(order) => Some(*order),
        _ => None,
    })
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

fn body(make: Shape) -> Made {
    one(frag(|it| it.body = Some(make)))
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
    all
}

fn key_at(scene: &Scene, make: impl Fn(Place) -> Option<GroupKey>) -> Made {
    let mut cost = 0.0;
    let mut made = Vec::new();
    let numbered = scene.places().filter(|it| scene.column(*it).unit.is_some());
    let clocks = scene.places().filter(|it| scene.kind(*it) == Kind::Clock);
    let mut places: Vec<Place> = numbered.chain(clocks).chain(scene.times()).collect();
    places.dedup();
    for place in places {
        if let Some(key) = make(place) {
            made.push((frag(|it| it.keys.push(key)), cost));
            cost += 0.8;
        }
    }
    made
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

/// The actions, by the names that rules call them.
pub(crate) const ACTIONS: &[(&str, Action)] = &[
    ("same", |_, sems| {
        sems.iter().rev().find(|it| !matches!(it, Sem::Word(_) | Sem::None)).map_or_else(
            Vec::new,
            |it| match it {
                Sem::Order(order) => one(frag(|frag| frag.order = Some(*order))),
                it => one((*it).clone()),
            },
        )
    }),
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
    ("compare_before", |scene, sems| compare_with(scene, sems, op_of(sems))),
    ("compare_not", |scene, sems| compare_with(scene, sems, op_of(sems).map(Op::opposite))),
    ("compare_behind", |scene, sems| compare_with(scene, sems, op_of(sems))),
    ("compare_behind_before", |scene, sems| compare_with(scene, sems, op_of(sems))),
    ("compare_implied", |scene, sems| {
        op_of(sems).map_or_else(Vec::new, |op| implied_with(scene, sems, op))
    }),
    ("compare_behind_implied", |scene, sems| {
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
    ("between_to", |scene, sems| {
        place_of(sems).map_or_else(Vec::new, |it| between_with(scene, it, &amounts_of(sems)))
    }),
    ("between_before", |scene, sems| {
        place_of(sems).map_or_else(Vec::new, |it| between_with(scene, it, &amounts_of(sems)))
    }),
    ("between_implied", |scene, sems| {
        let amounts = amounts_of(sems);
        let [_, (value, unit)] = &amounts[..] else { return Vec::new() };
        let found = scene.implied(*value, unit.as_deref());
        found.into_iter().flat_map(|(place, _)| between_with(scene, place, &amounts)).collect()
    }),
    ("compare_columns", |scene, sems| compare_places(scene, &places_of(sems), op_of(sems))),
    ("compare_columns_before", |scene, sems| compare_places(scene, &places_of(sems), op_of(sems))),
    ("compare_adjective_column", |scene, sems| {
        let low = sems.iter().any(|it| matches!(it, Sem::Adjective(_, true)));
        compare_places(scene, &places_of(sems), Some(if low { Op::Lt } else { Op::Gt }))
    }),
    ("compare_mean", |scene, sems| compare_mean(scene, sems)),
    ("compare_mean_before", |scene, sems| compare_mean(scene, sems)),
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
    ("is_negative", |scene, sems| sign(scene, sems, Op::Lt)),
    ("is_positive", |scene, sems| sign(scene, sems, Op::Gt)),
    ("is_not_positive", |scene, sems| sign(scene, sems, Op::Le)),
    ("is_zero", |scene, sems| sign(scene, sems, Op::Eq)),
    ("is_nonzero", |scene, sems| sign(scene, sems, Op::Ne)),
    ("is_non_negative", |scene, sems| sign(scene, sems, Op::Ge)),
    ("is_none", |scene, sems| count_sign(scene, sems, Op::Eq)),
    ("is_some", |scene, sems| count_sign(scene, sems, Op::Gt)),
    ("holds", |_, sems| held_of(sems).map_or_else(Vec::new, |it| test(holds_test(it)))),
    ("holds_in", |_, sems| match (place_of(sems), held_of(sems)) {
        (Some(place), Some(held)) if held.place == place => test(holds_test(held)),
        _ => Vec::new(),
    }),
    ("holds_before", |_, sems| match (place_of(sems), held_of(sems)) {
        (Some(place), Some(held)) if held.place == place => test(holds_test(held)),
        _ => Vec::new(),
    }),
    ("two_values", |_, sems| several(helds_of(sems))),
    ("both_values", |_, sems| {
        let all = helds_of(sems);
        let made = several(all.clone());
        if made.is_empty() {
            return made;
        }
        holds_any(&all, None)
            .into_iter()
            .map(|(it, cost)| (with_side(it, GroupKey::Column(all[0].place)), cost))
            .collect()
    }),
    ("both_values_of", |_, sems| {
        let all = helds_of(sems);
        let made = holds_any(&all, place_of(sems));
        made.into_iter()
            .map(|(it, cost)| (with_side(it, GroupKey::Column(all[0].place)), cost))
            .collect()
    }),
    ("both_flags", |_, sems| {
        place_of(sems)
            .map_or_else(Vec::new, |it| one(frag(|frag| frag.sides.push(GroupKey::Column(it)))))
    }),
    ("amount_old", |_, sems| {
        number_of(sems).map_or_else(Vec::new, |it| one(Sem::Amount(it, Some("old".to_owned()))))
    }),
    ("from_month_to", |scene, sems| match (number_of(sems), &periods_of(sems)[..]) {
        (Some(month), [(from, to)]) => {
            #[expect(clippy::cast_possible_truncation, reason = "a month")]
            let Ok(start) = Date::new(from.year(), month as i8, 1) else { return Vec::new() };
            timed(scene, None, |place| in_period(scene, place, Some(start), Some(*to)))
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
    ("asked_columns", |scene, sems| {
        let places = places_of(sems);
        let is_key = |it: &Place| !scene.kind(*it).is_number() || scene.column(*it).unit.is_some();
        if places.iter().all(is_key) {
            one(frag(|it| {
                it.columns = places;
                it.has_rows = true;
            }))
        } else {
            Vec::new()
        }
    }),
    ("sorted_ranked", |_, sems| {
        match sems.iter().find_map(|it| frag_of(it)).map(|it| (it.by, &it.columns[..])) {
            Some((None, [place])) => sorted_by(*place, SortOrder::DESCENDING),
            _ => Vec::new(),
        }
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
                    })
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
                it.measures.push(Measure { agg: Agg::Share, of: Some(Value::Column(place)), only })
            }))
        }
        _ => Vec::new(),
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
    ("by_measure", |_, sems| {
        let Some(inner) = sems.iter().find_map(|it| frag_of(it)) else { return Vec::new() };
        let mut inner = inner.clone();
        inner.is_by_measure = true;
        one(Sem::Frag(Box::new(inner)))
    }),
    ("names", |scene, _| {
        let titles: Vec<Place> = scene.places().filter(|it| scene.column(*it).is_title).collect();
        if titles.len() == 1 {
            one(frag(|it| {
                it.columns = titles;
                it.is_list = true;
            }))
        } else {
            Vec::new()
        }
    }),
    ("asks_any", |_, _| one(frag(|it| it.claim = Some(Claim::Any)))),
    ("asks_all", |_, _| one(frag(|it| it.claim = Some(Claim::All)))),
    ("asks_none", |_, _| one(frag(|it| it.claim = Some(Claim::None)))),
    ("asks_yes_no", |_, _| one(frag(|it| it.claim = Some(Claim::YesNo)))),
    ("more_values", |_, sems| several(helds_of(sems))),
    ("compared", |_, _| one(frag(|it| it.compares = true))),
    ("any", |_, sems| {
        let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let [one_frag, other] = all[..] else { return Vec::new() };
        match (one_frag.tests.last(), &other.tests[..]) {
            (Some(Test::In(value, values)), [Test::In(same, more)]) if value == same => {
                let mut tests = one_frag.tests.clone();
                tests.pop();
                tests.push(Test::In(value.clone(), [values.clone(), more.clone()].concat()));
                one(frag(|it| it.tests = tests))
            }
            (Some(last), [more]) if one_frag.tests.len() == 1 => {
                test(Test::Any(vec![last.clone(), more.clone()]))
            }
            _ => Vec::new(),
        }
    }),
    ("in_months", |scene, sems| {
        let months: Vec<i32> = sems
            .iter()
            .filter_map(|it| match it {
                #[expect(clippy::cast_possible_truncation, reason = "a month")]
                Sem::Number(it) => Some(*it as i32),
                _ => None,
            })
            .collect();
        let made = parts(scene, Part::Month, months);
        made.into_iter()
            .map(|(it, cost)| {
                let place = tests_of(&[&it]).first().and_then(|it| it.places().first().copied());
                (
                    match place {
                        Some(place) => with_side(it, GroupKey::Part(place, Part::Month)),
                        None => it,
                    },
                    cost,
                )
            })
            .collect()
    }),
    ("months_to", |scene, sems| {
        let months: Vec<i32> = sems
            .iter()
            .filter_map(|it| match it {
                #[expect(clippy::cast_possible_truncation, reason = "a month")]
                Sem::Number(it) => Some(*it as i32),
                _ => None,
            })
            .collect();
        match months[..] {
            [from, to] if from < to => parts(scene, Part::Month, (from..=to).collect()),
            [from, to] if to < from => {
                parts(scene, Part::Month, (from..=12).chain(1..=to).collect())
            }
            _ => Vec::new(),
        }
    }),
    ("in_quarter", |scene, sems| match count_of(sems).and_then(|it| i32::try_from(it).ok()) {
        Some(quarter) => parts(scene, Part::Quarter, vec![quarter]),
        None => Vec::new(),
    }),
    ("last_unit_of", |scene, sems| unit_of_period(scene, sems, None)),
    ("first_unit_of", |scene, sems| unit_of_period(scene, sems, Some(1))),
    ("nth_unit_of", |scene, sems| match count_of(sems).and_then(|it| i32::try_from(it).ok()) {
        Some(n) => unit_of_period(scene, sems, Some(n)),
        None => Vec::new(),
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
    // What is told in a unit that each row has already, or paid in it, is no group.
    ("measure_often", |scene, sems| {
        let pays = places_of(sems)
            .iter()
            .all(|it| scene.column(*it).words.iter().any(|it| scene.lexicon.is(Cue::Pay, it)));
        let is_step = scene.times().first().is_some_and(|it| scene.step(*it) == unit_of(sems));
        let more = if pays || is_step { 0.0 } else { 0.9 };
        measure(scene, sems).into_iter().map(|(it, cost)| (it, cost + more)).collect()
    }),
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
    ("versus_periods", |scene, sems| {
        let periods = periods_of(sems);
        let [one_period, other] = periods[..] else { return Vec::new() };
        timed(scene, None, |place| both_periods(scene, place, one_period, other))
            .into_iter()
            .map(|(it, cost)| {
                let place = tests_of(&[&it]).first().and_then(|it| it.places().first().copied());
                (
                    match place.and_then(|it| unit_key(scene, it, TimeUnit::Year)) {
                        Some(key) => with_side(it, key),
                        None => it,
                    },
                    cost,
                )
            })
            .collect()
    }),
    ("equals_or_more", |scene, sems| compare_with(scene, sems, Some(Op::Ge))),
    ("rows_of_unit", |scene, sems| match unit_of(sems) {
        Some(TimeUnit::Day) if scene.places().any(|it| scene.kind(it) == Kind::Day) => {
            one(frag(|it| it.has_rows = true))
        }
        _ => Vec::new(),
    }),
    ("count_outliers", |scene, sems| {
        let of = places_of(sems);
        if of.iter().any(|it| !scene.is_number(*it)) {
            return Vec::new();
        }
        body(Shape::Profile(Profile::Outliers { of, counts: true }))
    }),
    ("holds_any", |_, sems| holds_any(&helds_of(sems), None)),
    ("holds_any_in", |_, sems| holds_any(&helds_of(sems), place_of(sems))),
    ("holds_any_before", |_, sems| holds_any(&helds_of(sems), place_of(sems))),
    ("holds_none", |_, sems| {
        let made = holds_any(&helds_of(sems), None);
        made.into_iter()
            .map(|(it, cost)| (frag(|frag| frag.tests = vec![negated(tests_of(&[&it]))]), cost))
            .collect()
    }),
    ("holds_not", |_, sems| {
        held_of(sems).map_or_else(Vec::new, |it| test(Test::Not(Box::new(holds_test(it)))))
    }),
    ("holds_not_in", |_, sems| match (place_of(sems), held_of(sems)) {
        (Some(place), Some(held)) if held.place == place => {
            test(Test::Not(Box::new(holds_test(held))))
        }
        _ => Vec::new(),
    }),
    ("is_true", |_, sems| place_of(sems).map_or_else(Vec::new, |it| test(Test::True(it)))),
    ("is_false", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| test(Test::Not(Box::new(Test::True(it)))))
    }),
    ("contains", |scene, sems| text_test(scene, place_of(sems), Within::Contains, sems)),
    ("contains_implied", |scene, sems| {
        let titles: Vec<Place> = scene.places().filter(|it| scene.column(*it).is_title).collect();
        if titles.len() == 1 {
            text_test(scene, titles.first().copied(), Within::Contains, sems)
        } else {
            Vec::new()
        }
    }),
    ("contains_value", |scene, sems| text_test(scene, place_of(sems), Within::Contains, sems)),
    // One of several, of values that are lists.
    ("contains_any", |_, sems| {
        held_of(sems).map_or_else(Vec::new, |it| {
            test(Test::Text(it.place, Within::Contains, it.text.clone()))
        })
    }),
    ("contains_held", |_, sems| held_of(sems).map_or_else(Vec::new, |it| test(holds_test(it)))),
    ("starts", |scene, sems| text_test(scene, place_of(sems), Within::Starts, sems)),
    ("ends", |scene, sems| text_test(scene, place_of(sems), Within::Ends, sems)),
    ("equals_quoted", |scene, sems| match (place_of(sems), texts_of(sems)) {
        (Some(place), Some(text)) if scene.kind(place) == Kind::Text => {
            test(Test::In(Value::Column(place), vec![Value::Text(text)]))
        }
        _ => Vec::new(),
    }),
    ("is_missing", |scene, sems| {
        let Some(place) = place_of(sems) else { return Vec::new() };
        // A value may say that there is none.
        let none = scene
            .column(place)
            .values
            .iter()
            .flatten()
            .find(|it| matches!(it.to_lowercase().as_str(), "none" | "no" | "nothing"));
        match none {
            Some(none) => test(Test::In(Value::Column(place), vec![Value::Text(none.clone())])),
            None => test(Test::Missing(place)),
        }
    }),
    ("is_present", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| test(Test::Not(Box::new(Test::Missing(it)))))
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
    ("from_to", |scene, sems| {
        let periods = periods_of(sems);
        let [one, other] = periods[..] else { return Vec::new() };
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
    ("over_percent", |_, sems| {
        let over =
            if sems.iter().any(|it| matches!(it, Sem::Word(Concept::Share | Concept::Growth))) {
                Over::Growth
            } else {
                Over::Change
            };
        one(frag(|it| it.over = Some(over)))
    }),
    ("in_percent", |_, _| one(frag(|it| it.is_percent = true))),
    ("key_most", |scene, sems| {
        let frags: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let (Some(Frag { keys, .. }), Some(order)) = (frags.first(), order_of(sems)) else {
            return Vec::new();
        };
        let [key] = keys[..] else { return Vec::new() };
        let rest = match (frags.get(1), place_of(sems)) {
            (Some(rest), None) => (*rest).clone(),
            (None, Some(place)) if scene.kind(place).is_number() => {
                Frag { by: Some(place), ..Frag::default() }
            }
            _ => return Vec::new(),
        };
        one(Sem::Frag(Box::new(Frag {
            target: Some(AskedFor::Key(key)),
            order: Some(SortOrder { n: order.n.or(Some(1)), ..order }),
            ..rest
        })))
    }),
    ("within_two", |scene, sems| {
        let periods = periods_of(sems);
        let [one_period, other] = periods[..] else { return Vec::new() };
        let made = timed(scene, None, |place| both_periods(scene, place, one_period, other));
        made.into_iter()
            .map(|(it, cost)| {
                let place = tests_of(&[&it]).first().and_then(|it| it.places().first().copied());
                (
                    match place.and_then(|it| unit_key(scene, it, TimeUnit::Year)) {
                        Some(key) => with_side(it, key),
                        None => it,
                    },
                    cost,
                )
            })
            .collect()
    }),
    ("last_units", |scene, sems| match (count_of(sems), unit_of(sems)) {
        (Some(n), Some(unit)) => last(scene, n, unit),
        _ => Vec::new(),
    }),
    ("last_unit", |scene, sems| unit_of(sems).map_or_else(Vec::new, |it| last(scene, 1, it))),
    ("in_month", |scene, sems| match count_of(sems).and_then(|it| i32::try_from(it).ok()) {
        Some(month) => parts(scene, Part::Month, vec![month]),
        None => Vec::new(),
    }),
    ("on_weekday", |scene, sems| match count_of(sems).and_then(|it| i32::try_from(it).ok()) {
        Some(day) => parts(scene, Part::Weekday, vec![day]),
        None => Vec::new(),
    }),
    ("on_weekend", |scene, _| parts(scene, Part::Weekday, vec![6, 7])),
    ("on_workday", |scene, _| parts(scene, Part::Weekday, vec![1, 2, 3, 4, 5])),
    ("at_time", |_, sems| one(sems[0].clone())),
    ("column_at_time", |_, sems| {
        let (Some(place), tests) = (place_of(sems), tests_of(sems)) else { return Vec::new() };
        let is_own = tests.iter().flat_map(Test::places).all(|it| it == place);
        if is_own { one(frag(|it| it.tests = tests)) } else { Vec::new() }
    }),
    ("all_or_any", |_, sems| {
        let all: Vec<&Frag> = sems.iter().filter_map(|it| frag_of(it)).collect();
        let [one_frag, other] = all[..] else { return Vec::new() };
        // Of one column, each of several values is enough.
        match (one_frag.tests.last(), &other.tests[..]) {
            (Some(Test::In(value, values)), [Test::In(same, more)]) if value == same => {
                let mut tests = one_frag.tests.clone();
                tests.pop();
                tests.push(Test::In(value.clone(), [values.clone(), more.clone()].concat()));
                let sides = match value {
                    Value::Column(place) if one_frag.sides.is_empty() => {
                        vec![GroupKey::Column(*place)]
                    }
                    _ => one_frag.sides.clone(),
                };
                one(frag(|it| {
                    it.tests = tests;
                    it.sides = sides;
                }))
            }
            _ => one_frag.merge(other).map_or_else(Vec::new, |mut it| {
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
    ("measure_behind", measure),
    ("measure_two", measure),
    ("count_rows", |scene, sems| {
        // Orders are what has a number of its own, in several rows.
        let nouns = sems.iter().filter_map(|it| frag_of(it)).filter_map(|it| it.noun.as_deref());
        let repeats = |noun: &str| {
            scene.places().any(|it| {
                let column = scene.column(it);
                let rows = scene.tables[it.table].n_rows;
                column.is_key_of(noun) && column.n_distinct.is_some_and(|it| it * 20 < rows * 19)
            })
        };
        let cost = if nouns.into_iter().any(repeats) { 1.2 } else { 0.0 };
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
    ("percent_over", |scene, sems| {
        let (places, ops) = (
            places_of(sems),
            sems.iter().filter_map(|it| match it {
                Sem::Word(concept @ (Concept::Gt | Concept::Lt | Concept::Ge | Concept::Le)) => {
                    Some(*concept)
                }
                _ => None,
            }),
        );
        let ([one_place, other], Some(last), Some(percent)) =
            (&places[..], ops.last(), number_of(sems))
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
    ("holds_same", |_, sems| match &helds_of(sems)[..] {
        [one_held, other]
            if one_held.place == other.place
                && one_held.spellings == other.spellings
                && !other.spellings.is_empty() =>
        {
            test(holds_test(one_held))
        }
        _ => Vec::new(),
    }),
    ("mode_top", |_, sems| match order_of(sems) {
        Some(order) if order.n.is_some() => {
            let mut made = mode(sems, false);
            for (it, _) in &mut made {
                if let Sem::Frag(frag) = it {
                    frag.order = Some(order);
                }
            }
            made
        }
        _ => Vec::new(),
    }),
    ("compared_flags", |scene, sems| {
        let places = places_of(sems);
        let (Some(flag), Some(number)) = (
            places.iter().find(|it| scene.kind(**it) == Kind::Bool),
            places.iter().find(|it| scene.kind(**it) != Kind::Bool && scene.is_number(**it)),
        ) else {
            return Vec::new();
        };
        one(frag(|it| {
            it.keys.push(GroupKey::Column(*flag));
            it.measures.push(Measure::of(Agg::Mean, *number));
        }))
    }),
    ("ratio", ratio),
    ("ratio_per", ratio),
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
    ("key", |scene, sems| {
        let Some(place) = place_of(sems) else { return Vec::new() };
        let column = scene.column(place);
        let cost = match column.kind {
            Kind::Real => 1.5,
            Kind::Whole
                if column.unit.is_none() && column.n_values().is_none() && !column.is_key =>
            {
                1.2
            }
            _ => 0.0,
        };
        vec![(frag(|it| it.keys.push(GroupKey::Column(place))), cost)]
    }),
    ("key_unit", |scene, sems| {
        unit_of(sems).map_or_else(Vec::new, |unit| key_at(scene, |it| unit_key(scene, it, unit)))
    }),
    ("by_unit", |scene, sems| {
        unit_of(sems).map_or_else(Vec::new, |unit| key_at(scene, |it| unit_key(scene, it, unit)))
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
    ("target_n", |_, sems| {
        match (count_of(sems), sems.iter().find_map(|it| frag_of(it)).map(|it| &it.keys[..])) {
            (Some(n), Some([key])) => one(frag(|it| {
                it.target = Some(AskedFor::Key(*key));
                it.n = Some(n);
            })),
            _ => Vec::new(),
        }
    }),
    ("target_n_most", |_, sems| {
        match (
            count_of(sems),
            order_of(sems),
            sems.iter().find_map(|it| frag_of(it)).map(|it| &it.keys[..]),
        ) {
            (Some(n), Some(order), Some([key])) => one(frag(|it| {
                it.target = Some(AskedFor::Key(*key));
                it.order = Some(SortOrder { n: Some(n), ..order });
            })),
            _ => Vec::new(),
        }
    }),
    ("n_rows_most", |scene, sems| match (count_of(sems), order_of(sems), place_of(sems)) {
        (Some(n), Some(order), Some(place)) if scene.kind(place).is_number() => one(frag(|it| {
            it.order = Some(SortOrder { n: Some(n), ..order });
            it.by = Some(place);
            it.has_rows = true;
            it.tests = tests_of(sems);
        })),
        _ => Vec::new(),
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
    ("before_column", |scene, sems| compare_places(scene, &places_of(sems), Some(Op::Lt))),
    ("after_column", |scene, sems| compare_places(scene, &places_of(sems), Some(Op::Gt))),
    ("quartiles", |_, _| {
        one(Sem::Aggs(vec![Agg::Quantile(0.25), Agg::Quantile(0.5), Agg::Quantile(0.75)]))
    }),
    ("by_number", |scene, sems| {
        let Some(place) = place_of(sems)
            .filter(|it| scene.kind(*it).is_number() && scene.column(*it).unit.is_none())
        else {
            return Vec::new();
        };
        natural(scene, place)
            .into_iter()
            .map(|(measure, cost)| {
                (
                    frag(|it| {
                        it.measures.push(measure);
                        it.is_by_measure = true;
                    }),
                    cost,
                )
            })
            .collect()
    }),
    ("compared_by", |scene, sems| {
        let (helds, Some(place)) = (helds_of(sems), place_of(sems)) else { return Vec::new() };
        let [one_held, other] = &helds[..] else { return Vec::new() };
        if one_held.place != other.place || one_held.place == place || !scene.is_number(place) {
            return Vec::new();
        }
        let Some((Sem::Frag(tests), _)) = holds_any(&helds, None).pop() else { return Vec::new() };
        let mut numbers = natural(scene, place).into_iter();
        let Some(mean) = numbers.find(|it| it.0.agg == Agg::Mean) else { return Vec::new() };
        let mut made = (*tests).clone();
        made.measures.push(mean.0);
        made.keys.push(GroupKey::Column(one_held.place));
        vec![(Sem::Frag(Box::new(made)), 0.1)]
    }),
    ("per_row", |_, _| one(frag(|_| {}))),
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
    // `which has the higher income: Seward or Longfellow`
    ("chosen", |scene, sems| {
        let helds = match helds_of(sems) {
            helds if helds.is_empty() => return Vec::new(),
            helds => helds,
        };
        let tests = match tests_of(sems) {
            tests if tests.is_empty() => {
                holds_any(&helds, None).pop().map(|it| tests_of(&[&it.0])).unwrap_or_default()
            }
            tests => tests,
        };
        match (place_of(sems), order_of(sems)) {
            (Some(by), Some(order)) if scene.is_number(by) && 1 < helds.len() => one(frag(|it| {
                it.target = Some(AskedFor::Key(GroupKey::Column(helds[0].place)));
                it.order = Some(SortOrder { n: Some(1), ..order });
                it.by = Some(by);
                it.tests = tests;
            })),
            _ => Vec::new(),
        }
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
    ("rows_missing", |scene, sems| {
        let tests: Vec<Test> = scene
            .places()
            .filter(|it| 0 < scene.column(*it).n_missing)
            .map(Test::Missing)
            .collect();
        if tests.is_empty() {
            return Vec::new();
        }
        one(frag(|it| {
            it.tests = tests_of(sems);
            it.tests.push(Test::Any(tests));
            it.has_rows = true;
            it.is_list = true;
        }))
    }),
    ("ends_of_time", |scene, sems| {
        let place = place_of(sems)
            .filter(|it| is_time(scene.column(*it)))
            .or_else(|| scene.times().first().copied());
        place.map_or_else(Vec::new, |it| {
            one(frag(|frag| {
                frag.measures = vec![Measure::of(Agg::Min, it), Measure::of(Agg::Max, it)];
            }))
        })
    }),
    ("agg_open", |_, sems| one(frag(|it| it.aggs = aggs_of(sems)))),
    ("any_compare", |scene, sems| {
        let places = places_of(sems);
        let made = match places[..] {
            [_, _] => compare_places(scene, &places, op_of(sems)),
            _ => compare_with(scene, sems, op_of(sems)),
        };
        any_of(made)
    }),
    ("any_before", |scene, sems| any_of(compare_places(scene, &places_of(sems), Some(Op::Lt)))),
    ("any_after", |scene, sems| any_of(compare_places(scene, &places_of(sems), Some(Op::Gt)))),
    ("in_order", |scene, sems| {
        let key = sems.iter().find_map(|it| frag_of(it)).and_then(|it| it.keys.first().copied());
        let is_time_key = match key {
            Some(GroupKey::Column(place)) => {
                is_time(scene.column(place)) || scene.column(place).unit.is_some()
            }
            _ => true,
        };
        if is_time_key { one(frag(|_| {})) } else { Vec::new() }
    }),
    ("most_missing", |_, _| {
        body(Shape::Profile(Profile::Missing { of: Vec::new(), told: Told::Most }))
    }),
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
    ("most_flag", |_, sems| match (place_of(sems), order_of(sems)) {
        (Some(place), Some(order)) => {
            let only = vec![Test::True(place)];
            one(frag(|it| {
                it.order = Some(order);
                it.measures.push(Measure { agg: Agg::Share, of: None, only });
            }))
        }
        _ => Vec::new(),
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
    ("target", |_, sems| match sems.iter().find_map(|it| frag_of(it)).map(|it| &it.keys[..]) {
        Some([key]) => one(frag(|it| it.target = Some(AskedFor::Key(*key)))),
        _ => Vec::new(),
    }),
    ("target_who", |_, _| one(frag(|it| it.target = Some(AskedFor::Row)))),
    ("target_when", |_, _| one(frag(|it| it.target = Some(AskedFor::Time)))),
    ("bare", |_, sems| one(sems[0].clone())),
    ("list", |_, _| one(frag(|it| it.is_list = true))),
    ("chart", |_, sems| {
        let chart = match concept_of(sems) {
            Some(Concept::BarChart) => Chart::Bar,
            Some(Concept::ColumnChart) => Chart::Column,
            Some(Concept::StackedChart) => Chart::Stacked,
            Some(Concept::LineChart) => Chart::Line,
            Some(Concept::ScatterChart) => Chart::Scatter,
            _ => Chart::Any,
        };
        one(frag(|it| it.chart = Some(chart)))
    }),
    ("over", |_, sems| {
        let over = match concept_of(sems) {
            Some(Concept::Growth | Concept::PeriodChange) => Over::Growth,
            Some(Concept::Cumulative) => Over::Cumulative,
            _ => Over::Change,
        };
        one(frag(|it| it.over = Some(over)))
    }),
    ("over_share", |_, _| one(frag(|it| it.over = Some(Over::Share)))),
    ("having", |_, sems| match (op_of(sems), number_of(sems)) {
        (Some(op), Some(n)) => one(frag(|it| {
            it.having = Some((op, n));
            it.has_rows = true;
            it.tests = tests_of(sems);
        })),
        _ => Vec::new(),
    }),
    ("mode", |_, sems| mode(sems, false)),
    ("mode_n", |_, sems| mode(sems, false)),
    ("rarest", |_, sems| mode(sems, true)),
    ("mode_open", |_, sems| {
        let is_ascending = concept_of(sems) == Some(Concept::Rarest);
        one(frag(|it| {
            it.order = Some(SortOrder { is_ascending, n: Some(1), skip: 0 });
            it.measures.push(Measure::ROWS);
        }))
    }),
    ("distribution", |_, sems| {
        place_of(sems).map_or_else(Vec::new, |it| body(Shape::Profile(Profile::Distribution(it))))
    }),
    ("outliers", |scene, sems| {
        let of = places_of(sems);
        if of.iter().any(|it| !scene.is_number(*it)) {
            return Vec::new();
        }
        let counts = of.len() != 1;
        body(Shape::Profile(Profile::Outliers { of, counts }))
    }),
    ("duplicates", |_, sems| body(Shape::Profile(Profile::Duplicates(places_of(sems))))),
    ("missing_values", |_, sems| {
        let of = places_of(sems);
        body(Shape::Profile(Profile::Missing { of, told: Told::Each }))
    }),
    ("columns_of", |_, _| body(Shape::Profile(Profile::Columns))),
    ("missing_columns", |_, _| {
        body(Shape::Profile(Profile::Missing { of: Vec::new(), told: Told::Some }))
    }),
    ("constant", |_, _| body(Shape::Profile(Profile::Constant))),
    ("describe", |_, sems| body(Shape::Profile(Profile::Describe(places_of(sems))))),
    ("size", |_, _| body(Shape::Profile(Profile::Size))),
    ("versus", |scene, sems| {
        let places = places_of(sems);
        let [one_place, other] = places[..] else { return Vec::new() };
        if !scene.is_number(one_place) || !scene.is_number(other) {
            return Vec::new();
        }
        one(frag(|it| it.columns = places))
    }),
    ("versus_values", |_, sems| {
        let helds = helds_of(sems);
        let [one_held, other] = &helds[..] else { return Vec::new() };
        if one_held.place != other.place {
            return Vec::new();
        }
        let made = holds_any(&helds, None);
        let place = one_held.place;
        made.into_iter()
            .map(|(it, cost)| {
                (
                    frag(|frag| {
                        frag.tests = tests_of(&[&it]);
                        frag.keys.push(GroupKey::Column(place));
                    }),
                    cost,
                )
            })
            .collect()
    }),
    ("difference", |_, sems| {
        measure_of(sems)
            .map_or_else(Vec::new, |it| difference(it, &helds_of(sems), &tests_of(sems)))
    }),
    ("difference_column", |scene, sems| difference_in(scene, sems)),
    ("difference_behind", |scene, sems| match measure_of(sems) {
        Some(measure) => difference(measure, &helds_of(sems), &tests_of(sems)),
        None => difference_in(scene, sems),
    }),
    ("change", |scene, sems| measure_of(sems).map_or_else(Vec::new, |it| change(scene, &it, sems))),
    ("change_column", |scene, sems| {
        place_of(sems).map_or_else(Vec::new, |it| {
            natural(scene, it)
                .into_iter()
                .flat_map(|(measure, _)| change(scene, &measure, sems))
                .collect()
        })
    }),
    ("assemble", |scene, sems| match sems.first() {
        Some(Sem::Frag(frag)) => crate::assemble::assemble(scene, frag)
            .into_iter()
            .map(|(query, cost)| (Sem::Query(Box::new(query)), cost))
            .collect(),
        _ => Vec::new(),
    }),
    ("check_none", |scene, sems| {
        let tests = tests_of(sems);
        if tests.is_empty() {
            return Vec::new();
        }
        one(scene.query(Vec::new(), Shape::Check(Check::None(tests))))
    }),
    ("check_none_rows", |scene, sems| {
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
    ("claim_all", |scene, sems| claim(scene, sems, Check::All)),
    ("claim_none", |scene, sems| claim(scene, sems, Check::None)),
    // What only those do is done by none but them.
    ("claim_only", |scene, sems| {
        let turned: Vec<&Sem> = sems.iter().rev().copied().collect();
        claim(scene, &turned, Check::All)
    }),
    ("claim_unique", |scene, sems| {
        if !scene.wants_verdict {
            return Vec::new();
        }
        one(scene.query(Vec::new(), Shape::Check(Check::Unique(places_of(sems)))))
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
    ("check_unique", |scene, sems| {
        one(scene.query(Vec::new(), Shape::Check(Check::Unique(places_of(sems)))))
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
    ("lacks", |scene, sems| {
        exists(scene, sems).map_or_else(Vec::new, |it| test(Test::Not(Box::new(it))))
    }),
    ("has_any", |scene, sems| exists(scene, sems).map_or_else(Vec::new, test)),
    ("check_refers_before", |scene, sems| {
        let turned: Vec<&Sem> = sems.iter().rev().copied().collect();
        refers(scene, &turned)
    }),
    ("check_refers", refers),
];

/// Returns the condition that the other table has a row.
fn exists(scene: &Scene, sems: &[&Sem]) -> Option<Test> {
    let join = scene.join?;
    let is_other = |it: &&Sem| matches!(it, Sem::Table(table) if *table == join.right.table);
    sems.iter().any(is_other).then_some(Test::Exists(join))
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
            })),
            0.0,
        )]),
        _ => Vec::new(),
    }
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

fn measure(scene: &Scene, sems: &[&Sem]) -> Made {
    let (aggs, places) = (aggs_of(sems), places_of(sems));
    match measures(scene, &aggs, &places) {
        Some((measures, cost)) => vec![(frag(|it| it.measures = measures), cost)],
        None => Vec::new(),
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

/// Returns two numbers of a row, put together.
fn expression(scene: &Scene, sems: &[&Sem], sign: Arithmetic) -> Made {
    let places = places_of(sems);
    let [one_place, other] = places[..] else { return Vec::new() };
    if sign == Arithmetic::Minus
        && let Some(days) = days_between(scene, one_place, other)
    {
        return one(frag(|it| {
            it.measures.push(Measure { agg: Agg::Mean, of: Some(days), only: Vec::new() })
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

/// Asks whether there are such rows.
fn any_of(made: Made) -> Made {
    made.into_iter()
        .map(|(it, cost)| {
            let tests = tests_of(&[&it]);
            (
                frag(|frag| {
                    frag.tests = tests;
                    frag.claim = Some(Claim::Any);
                }),
                cost,
            )
        })
        .collect()
}

/// Says that values of a key are compared.
fn with_side(sem: Sem, key: GroupKey) -> Sem {
    match sem {
        Sem::Frag(mut frag) => {
            frag.sides.push(key);
            Sem::Frag(frag)
        }
        sem => sem,
    }
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

fn text_test(scene: &Scene, place: Option<Place>, within: Within, sems: &[&Sem]) -> Made {
    let text = texts_of(sems).or_else(|| held_of(sems).map(|it| it.text.clone()));
    match (place, text) {
        (Some(place), Some(text)) if scene.kind(place) == Kind::Text => {
            test(Test::Text(place, within, text))
        }
        _ => Vec::new(),
    }
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
    let mean = LogicalForm { from, filters: Vec::new(), body: Shape::Groups(groups), chart: None };
    test(Test::Is(Value::Column(place), op, Value::Query(Box::new(mean))))
}

fn sign(scene: &Scene, sems: &[&Sem], op: Op) -> Made {
    match place_of(sems) {
        Some(place) if scene.is_number(place) => test(is(place, op, 0.0)),
        _ => Vec::new(),
    }
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

fn last(scene: &Scene, n: u32, unit: TimeUnit) -> Made {
    timed(scene, None, |place| {
        let column = scene.column(place);
        (column.kind.is_time() || column.unit == Some(unit))
            .then(|| vec![Test::Last(place, n, unit)])
    })
}

fn ratio(scene: &Scene, sems: &[&Sem]) -> Made {
    let places = places_of(sems);
    let [part, whole] = places[..] else { return Vec::new() };
    let is_group = scene.column(whole).unit.is_some()
        || scene.column(whole).is_key
        || scene.column(whole).values.is_some();
    if !scene.is_number(part) || !scene.is_number(whole) || part == whole || is_group {
        return Vec::new();
    }
    one(frag(|it| it.measures.push(Measure::of(Agg::Ratio(whole), part))))
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

fn adjective(sems: &[&Sem], n: Option<u32>, skip: u32) -> Made {
    sems.iter()
        .find_map(|it| match it {
            Sem::Adjective(place, is_low) => {
                Some(ranked_by(*place, SortOrder { is_ascending: *is_low, n, skip }))
            }
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

fn first(sems: &[&Sem], sign: i64) -> Made {
    let Some(n) = count_of(sems) else { return Vec::new() };
    one(frag(|it| {
        it.first = Some(sign * i64::from(n));
        it.has_rows = true;
        it.tests = tests_of(sems);
    }))
}

fn mode(sems: &[&Sem], is_ascending: bool) -> Made {
    let n = count_of(sems).unwrap_or(1);
    let Some(keys) = sems.iter().find_map(|it| frag_of(it)).map(|it| it.keys.clone()) else {
        return Vec::new();
    };
    one(frag(|it| {
        it.keys = keys;
        it.measures.push(Measure::ROWS);
        it.order = Some(SortOrder { is_ascending, n: Some(n), skip: 0 });
    }))
}

fn difference(measure: Measure, helds: &[Held], tests: &[Test]) -> Made {
    let [one_held, other] = helds else { return Vec::new() };
    if one_held.place != other.place {
        return Vec::new();
    }
    let side = |held: &Held| Side {
        name: held.spellings.first().unwrap_or(&held.text).clone(),
        tests: vec![holds_test(held)],
    };
    let comparison =
        Comparison { measure, sides: [side(one_held), side(other)], asks: Contrast::Difference };
    one(frag(|it| {
        it.tests = tests.to_vec();
        it.body = Some(Shape::Compare(comparison));
    }))
}

fn difference_in(scene: &Scene, sems: &[&Sem]) -> Made {
    let Some(place) = place_of(sems) else { return Vec::new() };
    natural(scene, place)
        .into_iter()
        .flat_map(|(measure, cost)| {
            let made = difference(measure, &helds_of(sems), &tests_of(sems));
            made.into_iter().map(move |(it, _)| (it, cost))
        })
        .collect()
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

fn change(scene: &Scene, measure: &Measure, sems: &[&Sem]) -> Made {
    let periods = periods_of(sems);
    let [one_period, other] = periods[..] else { return Vec::new() };
    let Some(place) = scene.times().first().copied() else { return Vec::new() };
    let side = |period: (Date, Date)| side_of(scene, place, period);
    let (Some(before), Some(after)) = (side(one_period), side(other)) else { return Vec::new() };
    let comparison =
        Comparison { measure: measure.clone(), sides: [before, after], asks: Contrast::Change };
    body(Shape::Compare(comparison))
}

/// Returns the numbers that tell how good something is: those of which more is better, or else what amounts to
/// something, or the only one that adds up.
fn merits(scene: &Scene) -> Vec<Place> {
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
