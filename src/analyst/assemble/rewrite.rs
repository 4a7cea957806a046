//! Parts that say the same in other words: each is put in the form that the rest knows.

use crate::actions::order::merits;
use crate::frag::{AskedFor, Frag};
use crate::query::{
    Agg, Chart, GroupKey, Measure, Over, Part, Place, Profile, Shape, SortOrder, Test, Value,
};
use crate::scene::Scene;

/// What parts say in another form.
pub(super) enum Rewritten {
    /// They have it already.
    Same,
    As(Box<Frag>),
    /// They contradict each other.
    Never,
}

/// Returns parts in the form that the rest knows.
pub(super) fn rewritten(scene: &Scene, frag: &Frag) -> Rewritten {
    let rules = [
        in_percent,
        without_year_of_name,
        without_grouped_columns,
        with_unit_of_key,
        with_count,
        with_aggs,
        with_values_as_key,
        grown_by_key,
        missing_by_key,
        distribution_by_key,
    ];
    let mut told = rules.into_iter().map(|it| it(scene, frag));
    told.find(|it| !matches!(it, Rewritten::Same)).unwrap_or(Rewritten::Same)
}

/// Ratios are told in percent where that is asked: `profit in percent of sales`.
fn in_percent(_: &Scene, frag: &Frag) -> Rewritten {
    if frag.is_percent {
        let is_told = frag.over.is_some()
            || frag
                .measures
                .iter()
                .any(|it| matches!(it.agg, Agg::Share | Agg::Ratio(_) | Agg::Percent(_)));
        if !is_told {
            return Rewritten::Never;
        }
        let mut told = frag.clone();
        for measure in &mut told.measures {
            if let Agg::Ratio(whole) = measure.agg {
                measure.agg = Agg::Percent(whole);
            }
        }
        if told != *frag {
            return Rewritten::As(Box::new(told));
        }
    }
    Rewritten::Same
}

/// `sick days in 2024`, where a column has the days of that year.
fn without_year_of_name(scene: &Scene, frag: &Frag) -> Rewritten {
    let has_year = |test: &Test| match test {
        Test::In(Value::Part(_, Part::Year) | Value::Column(_), years) => match years[..] {
            [Value::Number(year)] => {
                let places = frag
                    .columns
                    .iter()
                    .copied()
                    .chain(frag.measures.iter().filter_map(Measure::place));
                let mut named = places.map(|it| scene.column(it));
                (1900.0..2100.0).contains(&year)
                    && named.any(|it| it.words.contains(&format!("{year}")))
            }
            _ => false,
        },
        _ => false,
    };
    if frag.tests.iter().any(has_year) {
        let mut told = frag.clone();
        told.tests.retain(|it| !has_year(it));
        return Rewritten::As(Box::new(told));
    }
    Rewritten::Same
}

/// `region by region`, `installed each year`
fn without_grouped_columns(_: &Scene, frag: &Frag) -> Rewritten {
    let is_grouped = |it: &Place| {
        frag.keys.iter().any(|key| match key {
            GroupKey::Column(place) | GroupKey::Time(place, _) => place == it,
            _ => false,
        })
    };
    let mut told = frag.clone();
    told.columns.retain(|it| !is_grouped(it));
    told.target = frag.target.filter(|it| match it {
        AskedFor::Key(GroupKey::Column(place)) => {
            !frag.keys.iter().any(|key| matches!(key, GroupKey::Time(of, _) if of == place))
        }
        _ => true,
    });
    if told == *frag { Rewritten::Same } else { Rewritten::As(Box::new(told)) }
}

/// `monthly spend by start date`
fn with_unit_of_key(scene: &Scene, frag: &Frag) -> Rewritten {
    if let Some(at) = frag
        .keys
        .iter()
        .position(|it| matches!(it, GroupKey::Column(place) if scene.kind(*place).is_time()))
        && let Some(unit) = frag.keys.iter().find_map(|it| match it {
            GroupKey::Time(_, unit) => Some(*unit),
            _ => None,
        })
    {
        let mut told = frag.clone();
        let place = told.keys.remove(at).place();
        for key in told.keys.iter_mut().filter(|it| matches!(it, GroupKey::Time(..))) {
            *key = GroupKey::Time(place, unit);
        }
        return Rewritten::As(Box::new(told));
    }
    Rewritten::Same
}

/// `the 3 islands`
fn with_count(_: &Scene, frag: &Frag) -> Rewritten {
    if let Some(n) = frag.n {
        let Some(order) = frag.order.filter(|it| it.n.is_none()) else { return Rewritten::Never };
        let ranked =
            Frag { order: Some(SortOrder { n: Some(n), ..order }), n: None, ..frag.clone() };
        return Rewritten::As(Box::new(ranked));
    }
    Rewritten::Same
}

/// `budget of action vs drama, mean`
fn with_aggs(scene: &Scene, frag: &Frag) -> Rewritten {
    if !frag.aggs.is_empty() {
        let mut told = frag.clone();
        let aggs = std::mem::take(&mut told.aggs);
        let (numbers, others) = told.columns.iter().partition(|it| scene.kind(**it).is_number());
        told.columns = others;
        let mut numbers: Vec<Place> = numbers;
        // `the cheapest region on average`
        if let (Some(by), true) = (told.by, numbers.is_empty()) {
            numbers.push(by);
            if let Some(order) = told.order.as_mut().filter(|_| !told.is_sorted && !told.is_list) {
                order.n = order.n.or(Some(1));
            }
        }
        // `total by customer`: of what amounts to something.
        let is_open = numbers.is_empty() && aggs == [Agg::Sum] && !told.keys.is_empty();
        if is_open && !told.has_rows && told.columns.is_empty() {
            numbers.extend(Some(merits(scene)).filter(|it| it.len() == 1).into_iter().flatten());
        }
        // `the average in spring`: of the only number that there is.
        if numbers.is_empty() && told.columns.is_empty() && !told.has_rows {
            numbers.extend(only_number(scene, &told));
        }
        if numbers.is_empty() || !told.measures.is_empty() || told.body.is_some() {
            return Rewritten::Never;
        }
        // `revenue per day on average` is that of the totals.
        if let ([Agg::Mean], [place], [GroupKey::Time(of, _) | GroupKey::Column(of)]) =
            (&aggs[..], &numbers[..], &told.keys[..])
            && scene.kind(*of).is_time()
            && scene.is_additive(*place) == Some(true)
        {
            let mut totals = told.clone();
            totals.measures.push(Measure::of(Agg::Sum, *place));
            totals.then = Some(Agg::Mean);
            return Rewritten::As(Box::new(totals));
        }
        for place in numbers {
            told.measures.extend(aggs.iter().map(|it| Measure::of(it.clone(), place)));
        }
        return Rewritten::As(Box::new(told));
    }
    Rewritten::Same
}

/// Returns the only number that a table has, apart from those that say which rows are meant.
pub(super) fn only_number(scene: &Scene, frag: &Frag) -> Option<Place> {
    let said: Vec<Place> = frag.tests.iter().flat_map(Test::places).collect();
    let is_open = |it: &Place| {
        let column = scene.column(*it);
        // `pupil` has the numbers of pupils.
        let is_thing = scene.is_additive(*it).is_none()
            && scene.lexicon.noun_cues(&column.name.to_lowercase()).is_some();
        scene.is_number(*it)
            && !column.is_key
            && !is_thing
            && column.unit.is_none()
            && !said.contains(it)
    };
    let mut numbers = scene.places().filter(is_open);
    numbers.next().filter(|_| numbers.next().is_none())
}

/// `do cats or dogs have a higher average weight`: of several values, the one with the most.
fn with_values_as_key(_: &Scene, frag: &Frag) -> Rewritten {
    let is_open = frag.keys.is_empty() && frag.target.is_none() && frag.body.is_none();
    let Some(order) = frag.order.filter(|_| is_open && !frag.measures.is_empty()) else {
        return Rewritten::Same;
    };
    let several = frag.tests.iter().find_map(|it| match it {
        Test::In(Value::Column(place), values) if 1 < values.len() => Some(*place),
        _ => None,
    });
    let Some(place) = several else { return Rewritten::Same };
    let mut told = frag.clone();
    told.keys.push(GroupKey::Column(place));
    told.order = Some(SortOrder { n: order.n.or(Some(1)), ..order });
    Rewritten::As(Box::new(told))
}

/// `which stock grew most`: each from its first time to its last, as what does not add up has one value at a time.
fn grown_by_key(scene: &Scene, frag: &Frag) -> Rewritten {
    let (Some(Over::Growth), Some(AskedFor::Key(GroupKey::Column(key)))) = (frag.over, frag.target)
    else {
        return Rewritten::Same;
    };
    let numbers = || scene.places().filter(|it| scene.is_number(*it) && !scene.column(*it).is_key);
    let of = match (&frag.measures[..], &frag.columns[..]) {
        ([measure], []) => measure.place(),
        ([], [place]) => Some(*place),
        ([], []) => numbers().next().filter(|_| numbers().count() == 1),
        _ => None,
    };
    let (Some(of), [time]) = (of, &scene.times()[..]) else { return Rewritten::Same };
    let is_series = frag.keys.is_empty() && frag.order.is_some() && key != *time;
    if !is_series || scene.is_additive(of) == Some(true) {
        return Rewritten::Same;
    }
    let measures = vec![Measure::of(Agg::Grown(*time), of)];
    let columns = Vec::new();
    Rewritten::As(Box::new(Frag { measures, columns, over: None, ..frag.clone() }))
}

/// `missing prices by region`
fn missing_by_key(_: &Scene, frag: &Frag) -> Rewritten {
    if let (Some(Shape::Profile(Profile::Missing { of, .. })), false) =
        (&frag.body, frag.keys.is_empty())
        && let [place] = of[..]
        && frag.measures.is_empty()
    {
        let only = vec![Test::Missing(place)];
        let counted =
            Frag { measures: vec![Measure { only, ..Measure::ROWS }], body: None, ..frag.clone() };
        return Rewritten::As(Box::new(counted));
    }
    Rewritten::Same
}

/// `distribution of price by region`
fn distribution_by_key(scene: &Scene, frag: &Frag) -> Rewritten {
    let (Some(Shape::Profile(Profile::Distribution(place))), [key]) = (&frag.body, &frag.keys[..])
    else {
        return Rewritten::Same;
    };
    if !frag.measures.is_empty() || key.place() == *place {
        return Rewritten::Same;
    }
    let mut told = Frag { body: None, ..frag.clone() };
    if scene.is_number(*place) {
        told.measures.push(Measure::of(Agg::Median, *place));
        told.chart = Some(Chart::Box);
    } else {
        told.keys.push(GroupKey::Column(*place));
        told.measures.push(Measure::ROWS);
    }
    Rewritten::As(Box::new(told))
}
