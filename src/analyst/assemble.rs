//! From the parts of a question to queries: every way to complete them, each with its price.

use crate::actions::order::merits;
use crate::actions::{natural, unit_key};
use crate::frag::{AskedFor, Claim, Frag};
use crate::lexicon::TimeUnit;
use crate::query::{
    Agg, Chart, Check, Comparison, Contrast, GroupKey, Groups, Listing, LogicalForm, Measure, Over,
    Place, Profile, Shape, Side, SortOrder, Test, Value,
};
use crate::scene::Scene;
use crate::schema::Kind;

/// Days of a series up to which each is told by itself.
const DAYS_MAX: f64 = 200.0;

/// Returns the queries that parts may be.
pub(crate) fn assemble(scene: &Scene, frag: &Frag) -> Vec<(LogicalForm, f64)> {
    let mut made: Vec<(Shape, f64)> = Vec::new();
    // Values side by side are groups.
    if !frag.sides.is_empty() && frag.keys.len() < 2 && frag.body.is_none() {
        let mut grouped = frag.clone();
        let sides = std::mem::take(&mut grouped.sides);
        grouped.keys.extend(sides.into_iter().filter(|it| !frag.keys.contains(it)));
        grouped.compares = false;
        let mut made = assemble(scene, &grouped);
        let mut plain = frag.clone();
        plain.sides.clear();
        let more = if frag.compares { 2.5 } else { 0.6 };
        made.extend(assemble(scene, &plain).into_iter().map(|(it, cost)| (it, cost + more)));
        return made;
    }
    made.extend(claimed(scene, frag));
    // `how did sales grow from 2019 to 2021`
    if let (Some(ends), Some(Over::Growth | Over::Change), true) =
        (&frag.ends, frag.over, frag.keys.is_empty())
        && frag.body.is_none()
        && frag.order.is_none()
        && frag.target.is_none()
    {
        return changed(scene, frag, ends);
    }
    if frag.is_percent {
        let is_told = frag.over.is_some()
            || frag
                .measures
                .iter()
                .any(|it| matches!(it.agg, Agg::Share | Agg::Ratio(_) | Agg::Percent(_)));
        if !is_told {
            return Vec::new();
        }
        let mut told = frag.clone();
        for measure in &mut told.measures {
            if let Agg::Ratio(whole) = measure.agg {
                measure.agg = Agg::Percent(whole);
            }
        }
        if told != *frag {
            return assemble(scene, &told);
        }
    }
    // `sick days in 2024`, where a column has the days of that year.
    let has_year = |test: &Test| match test {
        Test::In(Value::Part(_, crate::query::Part::Year) | Value::Column(_), years) => {
            match years[..] {
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
            }
        }
        _ => false,
    };
    if frag.tests.iter().any(has_year) {
        let mut told = frag.clone();
        told.tests.retain(|it| !has_year(it));
        return assemble(scene, &told);
    }
    // `region by region`
    if frag.columns.iter().any(|it| frag.keys.contains(&GroupKey::Column(*it))) {
        let mut told = frag.clone();
        told.columns.retain(|it| !frag.keys.contains(&GroupKey::Column(*it)));
        return assemble(scene, &told);
    }
    // `monthly spend by start date`
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
        return assemble(scene, &told);
    }
    // `the 3 islands`
    if let Some(n) = frag.n {
        let Some(order) = frag.order.filter(|it| it.n.is_none()) else { return Vec::new() };
        let ranked =
            Frag { order: Some(SortOrder { n: Some(n), ..order }), n: None, ..frag.clone() };
        return assemble(scene, &ranked);
    }
    // `budget of action vs drama, mean`
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
        if numbers.is_empty() || !told.measures.is_empty() || told.body.is_some() {
            return Vec::new();
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
            return assemble(scene, &totals);
        }
        for place in numbers {
            told.measures.extend(aggs.iter().map(|it| Measure::of(it.clone(), place)));
        }
        return assemble(scene, &told);
    }
    // `missing prices by region`
    if let (Some(Shape::Profile(Profile::Missing { of, .. })), false) =
        (&frag.body, frag.keys.is_empty())
        && let [place] = of[..]
        && frag.measures.is_empty()
    {
        let only = vec![Test::Missing(place)];
        let counted =
            Frag { measures: vec![Measure { only, ..Measure::ROWS }], body: None, ..frag.clone() };
        return assemble(scene, &counted);
    }
    if let Some(body) = &frag.body {
        made.extend(with_body(frag, body));
    } else if frag.measures.is_empty() {
        made.extend(without_measure(scene, frag));
    } else {
        made.extend(with_measures(scene, frag));
    }
    made.into_iter()
        .map(|(body, cost)| {
            let filters = match &body {
                Shape::Check(Check::All(claim) | Check::None(claim)) if *claim == frag.tests => {
                    Vec::new()
                }
                _ => frag.tests.clone(),
            };
            // `no` says something of what is claimed only.
            let is_ignored = frag.claim == Some(Claim::None) && !matches!(body, Shape::Check(_));
            let query = LogicalForm { from: scene.source(), filters, body, chart: frag.chart };
            let sense = crate::sense::cost(scene, &query) + if is_ignored { 1.5 } else { 0.0 };
            (query, cost + sense)
        })
        .filter(|it| it.1.is_finite())
        .collect()
}

/// Returns what is claimed, where something is judged, or asked so that yes or no answers.
fn claimed(scene: &Scene, frag: &Frag) -> Option<(Shape, f64)> {
    let is_plain = frag.measures.is_empty()
        && frag.keys.is_empty()
        && frag.columns.is_empty()
        && frag.order.is_none()
        && frag.target.is_none()
        && frag.first.is_none()
        && frag.having.is_none()
        && frag.over.is_none()
        && frag.by.is_none()
        && frag.aggs.is_empty()
        && !frag.is_list
        && frag.chart.is_none();
    if !is_plain || !scene.wants_verdict && frag.claim.is_none() {
        return None;
    }
    let check = match &frag.body {
        None if !frag.tests.is_empty() => match frag.claim {
            Some(Claim::Any | Claim::None) => Check::None(frag.tests.clone()),
            Some(Claim::YesNo) if frag.tests.iter().all(|it| matches!(it, Test::Missing(_))) => {
                Check::None(frag.tests.clone())
            }
            Some(Claim::All | Claim::YesNo) | None => Check::All(frag.tests.clone()),
        },
        Some(Shape::Profile(Profile::Duplicates(of))) => Check::Unique(of.clone()),
        Some(Shape::Profile(Profile::Missing { of, .. })) => Check::Present(of.clone()),
        Some(Shape::Profile(Profile::Outliers { of, .. })) => Check::Inliers(of.clone()),
        Some(Shape::Profile(Profile::Constant)) => Check::Varies(Vec::new()),
        _ => return None,
    };
    // Of `denied permits are closed`, one says which rows are meant.
    let are_bounds = frag.tests.iter().all(
        |it| matches!(it, Test::Is(Value::Column(place), ..) if frag.tests[0].places() == [*place]),
    );
    let is_mixed =
        matches!(check, Check::All(_)) && frag.n_joined + 1 < frag.tests.len() && !are_bounds;
    Some((Shape::Check(check), if is_mixed { 1.2 } else { 0.2 }))
}

/// Returns how a number has changed from one end of a period to the other.
fn changed(scene: &Scene, frag: &Frag, ends: &[Side; 2]) -> Vec<(LogicalForm, f64)> {
    let measures: Vec<(Measure, f64)> = match (&frag.measures[..], &frag.columns[..]) {
        ([measure], []) => vec![(measure.clone(), 0.0)],
        ([], [place]) => natural(scene, *place),
        ([], []) if frag.has_rows => vec![(Measure::ROWS, 0.1)],
        _ => return Vec::new(),
    };
    let places: Vec<Place> = ends[0].tests.iter().flat_map(Test::places).collect();
    let is_span = |it: &Test| it.places().iter().all(|it| places.contains(it));
    let filters: Vec<Test> = frag.tests.iter().filter(|it| !is_span(it)).cloned().collect();
    let made = measures.into_iter().map(|(measure, cost)| {
        let comparison = Comparison { measure, sides: ends.clone(), asks: Contrast::Change };
        let body = Shape::Compare(comparison);
        let filters = filters.clone();
        let query = LogicalForm { from: scene.source(), filters, body, chart: frag.chart };
        let sense = crate::sense::cost(scene, &query);
        (query, cost + 0.1 + sense)
    });
    made.filter(|it| it.1.is_finite()).collect()
}

fn with_body(frag: &Frag, body: &Shape) -> Option<(Shape, f64)> {
    let is_alone = frag.measures.is_empty()
        && frag.columns.is_empty()
        && frag.order.is_none()
        && frag.target.is_none()
        && frag.over.is_none()
        && frag.having.is_none()
        && frag.keys.is_empty();
    match body {
        // `missing values by region` are of no column.
        // `patients who came twice` are in several rows, which are not the same.
        Shape::Profile(Profile::Duplicates(of))
            if is_alone && of.is_empty() && frag.noun.is_some() =>
        {
            Some((body.clone(), 1.5))
        }
        _ if is_alone => Some((body.clone(), 0.0)),
        _ => None,
    }
}

/// Returns the key of a trend, and what it costs.
fn trend_key(scene: &Scene) -> Option<GroupKey> {
    let place = scene.times().first().copied()?;
    if scene.kind(place).is_number() {
        return Some(GroupKey::Column(place));
    }
    let days = scene.column(place).range.map(|(from, to)| to - from);
    let unit = match days {
        Some(days) if DAYS_MAX < days => TimeUnit::Month,
        _ => TimeUnit::Day,
    };
    unit_key(scene, place, unit)
}

fn is_time_key(scene: &Scene, key: &GroupKey) -> bool {
    match key {
        GroupKey::Time(..) | GroupKey::Part(..) => true,
        GroupKey::Column(place) => {
            scene.kind(*place).is_time() || scene.column(*place).unit.is_some()
        }
        GroupKey::Bin(..) => false,
    }
}

fn with_measures(scene: &Scene, frag: &Frag) -> Vec<(Shape, f64)> {
    let mut cost = 0.0;
    let mut keys = frag.keys.clone();
    let mut order = frag.order;
    match frag.target {
        Some(AskedFor::Key(key)) => {
            if keys.contains(&key) {
                return Vec::new();
            }
            keys.insert(0, key);
            match &mut order {
                Some(order) => order.n = order.n.or(Some(1)),
                // `which regions have more than ten orders`
                None if frag.having.is_some() => {}
                None => cost += 1.2,
            }
        }
        Some(AskedFor::Time) => {
            let Some(key) = trend_key(scene) else { return Vec::new() };
            keys.insert(0, key);
            match &mut order {
                Some(order) => order.n = order.n.or(Some(1)),
                None => return Vec::new(),
            }
        }
        Some(AskedFor::Row) => return Vec::new(),
        None => {}
    }
    if frag.is_trend && !keys.iter().any(|it| is_time_key(scene, it)) {
        let Some(key) = trend_key(scene) else { return Vec::new() };
        keys.insert(0, key);
    }
    // `the windiest by average wind` is ordered by what is told.
    let is_by_told = |by: Place| frag.measures.iter().all(|it| it.place() == Some(by));
    if frag.by.is_some_and(|it| !is_by_told(it)) || frag.first.is_some() {
        return Vec::new();
    }
    // Columns of which nothing is said: a group, or another number.
    let mut measures = frag.measures.clone();
    // `the busiest day by sessions`
    if frag.is_by_measure && 1 < measures.len() {
        measures.retain(|it| !it.is_rows());
    }
    if frag.is_by_measure && order.is_none() {
        return Vec::new();
    }
    for place in &frag.columns {
        let numbers_groups = scene.column(*place).unit.is_none()
            && scene.kind(*place) == Kind::Whole
            && is_few(scene, *place);
        if numbers_groups {
            keys.push(GroupKey::Column(*place));
            cost += 1.3;
        } else if scene.is_number(*place) {
            cost += 2.0;
        } else {
            keys.push(GroupKey::Column(*place));
            // `top 3 clinics by number of tests`
            cost += if frag.is_by_measure { 0.0 } else { 1.0 };
        }
    }
    for measure in &mut measures {
        if measure.agg == Agg::Share && measure.only.is_empty() {
            return Vec::new();
        }
    }
    let mut over = frag.over;
    if over == Some(Over::Share) && keys.is_empty() {
        return Vec::new();
    }
    if over.is_some_and(|it| it != Over::Share) && keys.is_empty() {
        let Some(key) = trend_key(scene) else { return Vec::new() };
        keys.push(key);
        cost += 0.3;
    }
    // A number of all rows has no order; of them it is the largest.
    if keys.is_empty() && order.is_some() {
        return Vec::new();
    }
    if frag.then.is_some() && keys.is_empty() {
        return Vec::new();
    }
    if frag.then.is_some() && order.is_some() {
        return Vec::new();
    }
    if frag.is_list && keys.is_empty() {
        cost += 0.2;
    }
    if 2 < keys.len() {
        cost += 1.0;
    }
    if over == Some(Over::Change) && !keys.first().is_some_and(|it| is_time_key(scene, it)) {
        over = None;
        cost += 1.5;
    }
    if order.is_some_and(|it| it.n.is_none()) && frag.target.is_none() {
        // `by region, largest first`, or the largest of them.
        cost += 0.1;
    }
    let having = frag.having.map(|(op, n)| (op, Value::Number(n)));
    let groups = Groups { keys, measures, having, over, then: frag.then.clone(), order };
    match mean_of_totals(scene, &groups) {
        Some(mean) => vec![(Shape::Groups(mean), cost), (Shape::Groups(groups), cost + 0.1)],
        None => vec![(Shape::Groups(groups), cost)],
    }
}

/// Returns one number in place of the means of groups, if each is one of many of a kind: `the average spend per guest`.
fn mean_of_totals(scene: &Scene, groups: &Groups) -> Option<Groups> {
    let ([GroupKey::Column(key)], [measure]) = (&groups.keys[..], &groups.measures[..]) else {
        return None;
    };
    let column = scene.column(*key);
    let are_many = (column.is_key || column.is_title) && column.values.is_none();
    let is_plain = groups.having.is_none()
        && groups.over.is_none()
        && groups.order.is_none()
        && groups.then.is_none();
    let is_mean = measure.agg == Agg::Mean
        && measure.place().is_some_and(|it| scene.is_additive(it) == Some(true));
    (are_many && is_plain && is_mean).then(|| Groups {
        measures: vec![Measure { agg: Agg::Sum, ..measure.clone() }],
        then: Some(Agg::Mean),
        ..groups.clone()
    })
}

fn groups(keys: Vec<GroupKey>, measure: Measure, order: Option<SortOrder>) -> Shape {
    Shape::Groups(Groups { order, ..Groups::new(keys, vec![measure]) })
}

/// Returns whether values of a column hardly repeat: the rows have their names there.
pub(crate) fn is_name(scene: &Scene, place: Place) -> bool {
    let column = scene.column(place);
    let rows = scene.tables[place.table].n_rows - column.n_missing;
    let is_unique = column.n_distinct.is_some_and(|it| it == rows && 1 < it);
    is_unique
        || (column.is_title || column.is_key)
            && column.values.is_none()
            && column.n_distinct.is_none_or(|it| rows < 2 * it)
}

fn without_measure(scene: &Scene, frag: &Frag) -> Vec<(Shape, f64)> {
    let mut made = Vec::new();
    if frag.then.is_some() || frag.over == Some(Over::Share) && frag.keys.is_empty() {
        return made;
    }
    // `top 5 products by revenue`
    if let (Some(_), [GroupKey::Column(by)], None) = (frag.order, &frag.keys[..], frag.by)
        && scene.kind(*by).is_number()
        && scene.column(*by).unit.is_none()
        && frag.target.is_none()
    {
        let mut ranked = frag.clone();
        ranked.keys.clear();
        ranked.by = Some(*by);
        return without_measure(scene, &ranked);
    }
    let order = frag.order.map(|it| SortOrder { n: it.n, ..it });
    // `the 10 deadliest years`
    let is_group =
        |it: &Place| frag.by.is_some() && frag.by != Some(*it) && scene.column(*it).unit.is_some();
    let (numbers, others): (Vec<Place>, Vec<Place>) =
        frag.columns.iter().partition(|it| scene.kind(**it).is_number() && !is_group(it));
    if let Some(target) = frag.target {
        return targeted(scene, frag, target, &numbers, &others);
    }
    // `the 10 deadliest years` are groups, or rows that have one each.
    let are_times = frag.by.is_some()
        && others.is_empty()
        && matches!(numbers[..], [it] if scene.column(it).unit.is_some());
    let (numbers, others) = if are_times { (others, numbers) } else { (numbers, others) };
    // `Seward or Longfellow`: which of them.
    let is_choice = frag
        .tests
        .iter()
        .any(|it| matches!(it, Test::In(Value::Column(_), values) if values.len() == 2));
    let choice_cost = if is_choice { 1.0 } else { 0.0 };
    let chart_cost = if frag.chart.is_some() { 0.0 } else { 0.6 };
    // `top 5 cars by horsepower`, `the oldest passengers`
    if let Some(by) = frag.by {
        // `the longest (running time)` says the same twice.
        if frag.columns.contains(&by) {
            let mut told = frag.clone();
            told.columns.retain(|it| *it != by);
            return without_measure(scene, &told);
        }
        // `the lowest battery for each sensor`
        if let (Some(order), false) = (frag.order, frag.keys.is_empty())
            && order.n.is_none()
            && frag.columns.is_empty()
            && frag.over.is_none()
            && frag.having.is_none()
        {
            let agg = if order.is_ascending { Agg::Min } else { Agg::Max };
            return vec![(groups(frag.keys.clone(), Measure::of(agg, by), None), 0.1)];
        }
        if !frag.keys.is_empty() || frag.over.is_some() || frag.having.is_some() {
            return made;
        }
        let mut order = frag.order.unwrap_or(SortOrder::ASCENDING);
        let is_single =
            !frag.is_sorted && !frag.has_rows && others.is_empty() && numbers.is_empty();
        let is_of_something = frag.is_spoken
            && frag.tests.iter().any(|it| matches!(it, Test::In(Value::Column(_), _)));
        if is_single && order.n.is_none() && !frag.is_list {
            // `the highest price`
            let agg = if order.is_ascending { Agg::Min } else { Agg::Max };
            // `the heaviest human` is somebody.
            let more = if is_of_something { 0.8 } else { 0.0 };
            made.push((groups(Vec::new(), Measure::of(agg, by), None), 0.2 + choice_cost + more));
        }
        if frag.has_rows || frag.is_list || order.n.is_some() || !others.is_empty() || is_single {
            let is_sorted = frag.is_sorted || frag.is_list && frag.has_rows && order.n.is_none();
            if order.n.is_none()
                && !is_sorted
                && !(frag.has_rows && frag.is_list)
                && (frag.has_rows || !others.is_empty() || is_single)
            {
                order.n = Some(1);
            }
            let mut columns = others.clone();
            columns.extend(&numbers);
            let is_of_groups = match others[..] {
                [place] => numbers.is_empty() && !is_name(scene, place),
                _ => false,
            };
            if !columns.is_empty() && !columns.contains(&by) {
                columns.push(by);
            }
            if is_of_groups {
                for (measure, cost) in natural(scene, by) {
                    let key = GroupKey::Column(others[0]);
                    made.push((groups(vec![key], measure, Some(order)), cost + 0.1));
                }
            }
            let cost = if is_of_groups { 0.9 } else { 0.1 };
            // The number alone says not which.
            let cost = if columns == [by] { cost + 0.6 } else { cost };
            let cost =
                cost + if is_single && !frag.has_rows && !is_of_something { 0.8 } else { 0.0 };
            let listing = Listing {
                columns,
                is_distinct: false,
                order: Some((Value::Column(by), order)),
                first: frag.first,
            };
            made.push((Shape::Rows(listing), cost));
        }
        return made;
    }
    // `list the games by opening ceremony`
    if frag.is_list
        && frag.has_rows
        && !frag.is_trend
        && frag.columns.is_empty()
        && let [GroupKey::Column(place)] = frag.keys[..]
    {
        let listing = Listing {
            columns: Vec::new(),
            is_distinct: false,
            order: Some((Value::Column(place), frag.order.unwrap_or(SortOrder::ASCENDING))),
            first: frag.first,
        };
        made.push((
            Shape::Rows(listing),
            if scene.column(place).values.is_some() { 0.9 } else { 0.2 },
        ));
    }
    // `revenue by month`, `flights per carrier`
    if !frag.keys.is_empty() || frag.is_trend {
        let mut keys = frag.keys.clone();
        if frag.is_trend && !keys.iter().any(|it| is_time_key(scene, it)) {
            let Some(key) = trend_key(scene) else { return made };
            keys.insert(0, key);
        }
        let extra: Vec<GroupKey> = others.iter().map(|it| GroupKey::Column(*it)).collect();
        let mut costs = if extra.is_empty() { 0.0 } else { 0.4 };
        keys.extend(extra);
        let mut measured: Vec<(Vec<Measure>, f64)> = Vec::new();
        if numbers.is_empty() {
            let cost = if frag.has_rows { 0.1 } else { 0.4 };
            measured.push((vec![Measure::ROWS], cost));
        } else {
            for (first, cost) in natural(scene, numbers[0]) {
                let rest = numbers[1..].iter().map(|it| Measure::of(first.agg.clone(), *it));
                measured.push(([first.clone()].into_iter().chain(rest).collect(), cost));
            }
        }
        if 2 < keys.len() {
            costs += 1.0;
        }
        for (measures, cost) in measured {
            let having = frag.having.map(|(op, n)| (op, Value::Number(n)));
            let body =
                Groups { having, over: frag.over, order, ..Groups::new(keys.clone(), measures) };
            made.push((Shape::Groups(body), cost + costs));
        }
        return made;
    }
    if frag.over.is_some() {
        // `revenue growth`
        if let (Some(key), [number]) = (trend_key(scene), &numbers[..]) {
            for (measure, cost) in natural(scene, *number) {
                let body = Groups { over: frag.over, ..Groups::new(vec![key], vec![measure]) };
                made.push((Shape::Groups(body), cost + 0.3));
            }
        }
        return made;
    }
    if let Some((op, n)) = frag.having {
        if let [place] = others[..] {
            let mut body = Groups::new(vec![GroupKey::Column(place)], vec![Measure::ROWS]);
            body.having = Some((op, Value::Number(n)));
            made.push((Shape::Groups(body), 0.2));
        }
        return made;
    }
    // `top 5 species`, `the highest price`
    if let Some(mut order) = frag.order {
        match (&numbers[..], &others[..]) {
            ([number], []) if order.n.is_none() && !frag.has_rows => {
                let agg = if order.is_ascending { Agg::Min } else { Agg::Max };
                made.push((groups(Vec::new(), Measure::of(agg, *number), None), 0.2 + choice_cost));
            }
            ([number], []) => {
                order.n = order.n.or(Some(1));
                let listing = Listing {
                    columns: Vec::new(),
                    is_distinct: false,
                    order: Some((Value::Column(*number), order)),
                    first: None,
                };
                made.push((Shape::Rows(listing), 0.4));
            }
            ([], [place]) => {
                order.n = order.n.or(Some(1));
                made.push((
                    groups(vec![GroupKey::Column(*place)], Measure::ROWS, Some(order)),
                    0.6,
                ));
            }
            ([number], [place]) => {
                order.n = order.n.or(Some(1));
                for (measure, cost) in natural(scene, *number) {
                    made.push((
                        groups(vec![GroupKey::Column(*place)], measure, Some(order)),
                        cost + 0.6,
                    ));
                }
            }
            _ => {}
        }
        return made;
    }
    match (&numbers[..], &others[..]) {
        ([], []) => {
            let says = frag.has_rows || !frag.tests.is_empty();
            if says {
                let cost = match (frag.is_list, frag.has_rows) {
                    (true, _) => 0.1,
                    (false, true) if !frag.tests.is_empty() => 0.5,
                    (false, true) => 1.5,
                    (false, false) => 1.2,
                };
                let cost = if frag.first.is_some() { 0.0 } else { cost };
                let listing = Listing {
                    columns: Vec::new(),
                    is_distinct: false,
                    order: None,
                    first: frag.first,
                };
                made.push((Shape::Rows(listing), cost));
            }
        }
        ([number], []) if frag.chart.is_some() => {
            made.push((Shape::Profile(Profile::Distribution(*number)), 0.3));
        }
        ([y, x], []) if frag.chart.is_some() => {
            let is_scatter = matches!(frag.chart, Some(Chart::Any | Chart::Scatter));
            let listing =
                Listing { columns: vec![*y, *x], is_distinct: false, order: None, first: None };
            made.push((Shape::Rows(listing), if is_scatter { 0.1 } else { 1.2 }));
            if is_few(scene, *x) {
                for (measure, cost) in natural(scene, *y) {
                    made.push((groups(vec![GroupKey::Column(*x)], measure, None), cost + 0.5));
                }
            }
        }
        ([], [place]) if frag.chart.is_some() || !frag.is_list && !frag.has_rows => {
            let key = GroupKey::Column(*place);
            made.push((groups(vec![key], Measure::ROWS, None), 0.4 + 2.0 * chart_cost));
        }
        ([], [x, y]) if frag.chart.is_some() => {
            made.push((
                groups(vec![GroupKey::Column(*x), GroupKey::Column(*y)], Measure::ROWS, None),
                0.5,
            ));
        }
        ([number], [place]) if !frag.has_rows && (frag.chart.is_some() || !frag.is_list) => {
            let key = if scene.kind(*place).is_time() {
                match trend_key(scene) {
                    Some(key) => key,
                    None => return made,
                }
            } else {
                GroupKey::Column(*place)
            };
            for (measure, cost) in natural(scene, *number) {
                made.push((groups(vec![key], measure, None), cost + 0.4 + chart_cost));
            }
        }
        ([number], []) if !frag.is_list => {
            // `sales in March` is their total.
            let is_total = scene.is_additive(*number) == Some(true) && !frag.tests.is_empty();
            let more = if is_total { 0.5 } else { 1.2 };
            for (measure, cost) in natural(scene, *number) {
                made.push((groups(Vec::new(), measure, None), cost + more));
            }
        }
        _ => {}
    }
    // `list the species`, `name and age of the women`
    if !frag.columns.is_empty() && frag.chart.is_none() {
        let is_distinct = match frag.columns[..] {
            [place] => !scene.kind(place).is_number(),
            _ => false,
        };
        let is_unique = match frag.columns[..] {
            [place] => is_name(scene, place),
            _ => false,
        };
        // The rows that have these names say more.
        let columns = if is_distinct && is_unique { Vec::new() } else { frag.columns.clone() };
        let is_distinct = is_distinct && !is_unique;
        let cost = match (frag.is_list, frag.has_rows || !frag.tests.is_empty()) {
            (true, _) => 0.2,
            (false, true) => 0.9,
            (false, false) => 1.6,
        };
        let compares = frag.tests.iter().any(|it| matches!(it, Test::Is(..)));
        let cost = if is_distinct && compares { cost + 0.8 } else { cost };
        let says_little = matches!(frag.columns[..], [place] if scene.kind(place) == Kind::Bool);
        let cost = if says_little { cost + 0.6 } else { cost };
        let listing = Listing { columns, is_distinct, order: None, first: frag.first };
        made.push((Shape::Rows(listing), cost));
    }
    made
}

fn is_few(scene: &Scene, place: Place) -> bool {
    scene.column(place).n_values().is_some_and(|it| it <= 30)
}

/// Returns what `which X` may ask for.
fn targeted(
    scene: &Scene,
    frag: &Frag,
    target: AskedFor,
    numbers: &[Place],
    others: &[Place],
) -> Vec<(Shape, f64)> {
    let mut made = Vec::new();
    if frag.over.is_some() && frag.order.is_none() || frag.first.is_some() {
        return made;
    }
    let order = frag.order.map(|it| SortOrder { n: it.n.or(Some(1)), ..it });
    let by = frag.by.or(match numbers {
        [number] if frag.order.is_some() => Some(*number),
        _ => None,
    });
    let rest: Vec<Place> = numbers.iter().copied().filter(|it| Some(*it) != by).collect();
    if !rest.is_empty() {
        return made;
    }
    match target {
        AskedFor::Key(key) => {
            let place = key.place();
            let is_column = matches!(key, GroupKey::Column(_));
            match (by, order) {
                (Some(by), Some(order)) => {
                    let name = is_column && is_name(scene, place);
                    if by == place {
                        return made;
                    }
                    if others.is_empty() && frag.keys.is_empty() && is_column {
                        let listing = Listing {
                            columns: vec![place, by],
                            is_distinct: false,
                            order: Some((Value::Column(by), order)),
                            first: None,
                        };
                        made.push((Shape::Rows(listing), if name { 0.1 } else { 1.0 }));
                    }
                    for (measure, cost) in natural(scene, by) {
                        let mut keys = vec![key];
                        keys.extend(&frag.keys);
                        let cost = cost + if name { 0.8 } else { 0.2 };
                        made.push((groups(keys, measure, Some(order)), cost));
                    }
                    // `which species has the longest flipper`: of one.
                    if is_column && !name {
                        let agg = if order.is_ascending { Agg::Min } else { Agg::Max };
                        made.push((groups(vec![key], Measure::of(agg, by), Some(order)), 1.1));
                    }
                }
                // `which island has the most penguins`
                (None, Some(order)) if others.is_empty() => {
                    let cost = if frag.has_rows { 0.1 } else { 0.8 };
                    made.push((groups(vec![key], Measure::ROWS, Some(order)), cost));
                    // `which customer bought the most`: of what, is open.
                    if !frag.has_rows && !frag.tests.is_empty() {
                        let sums = merits(scene)
                            .into_iter()
                            .filter(|it| *it != place && scene.is_additive(*it) == Some(true));
                        made.extend(sums.map(|it| {
                            (groups(vec![key], Measure::of(Agg::Sum, it), Some(order)), cost)
                        }));
                    }
                }
                (None, None) if let Some((op, n)) = frag.having => {
                    let mut body = Groups::new(vec![key], vec![Measure::ROWS]);
                    body.having = Some((op, Value::Number(n)));
                    made.push((Shape::Groups(body), 0.1));
                }
                // `which species are on Dream`
                (None, None) if !frag.tests.is_empty() && is_column && frag.keys.is_empty() => {
                    let name = is_name(scene, place);
                    let says_little = scene.kind(place) == Kind::Bool;
                    let mut columns = vec![place];
                    columns.extend(others);
                    let listing = Listing { columns, is_distinct: !name, order: None, first: None };
                    made.push((Shape::Rows(listing), if says_little { 1.2 } else { 0.4 }));
                }
                (None, None) if is_column && others.is_empty() && frag.keys.is_empty() => {
                    let listing = Listing {
                        columns: vec![place],
                        is_distinct: !is_name(scene, place),
                        order: None,
                        first: None,
                    };
                    made.push((Shape::Rows(listing), if frag.has_rows { 1.0 } else { 0.8 }));
                }
                _ => {}
            }
        }
        AskedFor::Row => {
            let order = match (by, order) {
                (Some(by), Some(order)) => Some((Value::Column(by), order)),
                (None, None) if !frag.tests.is_empty() => None,
                _ => return made,
            };
            let listing =
                Listing { columns: others.to_vec(), is_distinct: false, order, first: None };
            made.push((Shape::Rows(listing), 0.3));
        }
        AskedFor::Time => {
            let Some(time) = scene.times().first().copied() else { return made };
            if let (Some(by), Some(order)) = (by, order) {
                let listing = Listing {
                    columns: vec![time, by],
                    is_distinct: false,
                    order: Some((Value::Column(by), order)),
                    first: None,
                };
                made.push((Shape::Rows(listing), 0.4));
            }
        }
    }
    made
}

/// Returns the columns of which conditions say that they have one value.
pub(crate) fn fixed(tests: &[Test]) -> Vec<Place> {
    tests
        .iter()
        .filter_map(|it| match it {
            Test::In(Value::Column(place), values) if values.len() == 1 => Some(*place),
            _ => None,
        })
        .collect()
}
