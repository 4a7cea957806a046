//! From the parts of a question to queries: every way to complete them, each with its price.

mod bare;
mod drawn;
mod rewrite;

use bare::without_measure;
pub(crate) use drawn::as_drawn;
use rewrite::{Rewritten, only_number, rewritten};

use crate::actions::{natural, unit_key};
use crate::frag::{AskedFor, Claim, Frag};
use crate::lexicon::TimeUnit;
use crate::query::{
    Agg, Check, Comparison, Contrast, GroupKey, Groups, LogicalForm, Measure, Over, Place, Profile,
    Shape, Side, SortOrder, Test, Value,
};
use crate::scene::Scene;
use crate::schema::Kind;

/// Days of a series up to which each is told by itself.
const DAYS_MAX: f64 = 200.0;

/// What it costs to compare in how many rows values are, where they have a number.
const BARE_COST: f64 = 1.0;

/// Returns the queries that parts may be.
pub(crate) fn assemble(scene: &Scene, frag: &Frag) -> Vec<(LogicalForm, f64)> {
    let mut made: Vec<(Shape, f64)> = Vec::new();
    // Values side by side are groups.
    if !frag.sides.is_empty() && frag.keys.len() < 2 && frag.body.is_none() {
        let mut grouped = frag.clone();
        let sides = std::mem::take(&mut grouped.sides);
        grouped.keys.extend(sides.into_iter().filter(|it| !frag.keys.contains(it)));
        grouped.compares = false;
        let is_bare = frag.compares
            && frag.measures.is_empty()
            && frag.columns.is_empty()
            && frag.aggs.is_empty()
            && frag.by.is_none()
            && frag.order.is_none()
            && !frag.has_rows;
        let mut made = assemble(scene, &grouped);
        // `compare Spain and Italy` in the only number that there is.
        if is_bare && let Some(place) = only_number(scene, frag) {
            for it in &mut made {
                it.1 += BARE_COST;
            }
            grouped.columns.push(place);
            made.extend(assemble(scene, &grouped));
        }
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
    match rewritten(scene, frag) {
        Rewritten::Same => {}
        Rewritten::As(told) => return assemble(scene, &told),
        Rewritten::Never => return Vec::new(),
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
            let (from, chart, look) = (scene.source(), frag.chart, frag.look);
            let query = LogicalForm { from, filters, body, chart, look };
            let query = by_rows(scene, as_drawn(scene, query));
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
    // Of `denied permits are closed`, one says which rows are meant, and nothing says which one.
    let are_bounds = frag.tests.iter().all(
        |it| matches!(it, Test::Is(Value::Column(place), ..) if frag.tests[0].places() == [*place]),
    );
    let is_mixed =
        matches!(check, Check::All(_)) && frag.n_joined + 1 < frag.tests.len() && !are_bounds;
    (!is_mixed).then_some((Shape::Check(check), 0.2))
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
        let (from, chart, look) = (scene.source(), frag.chart, frag.look);
        let query = LogicalForm { from, filters, body, chart, look };
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
        // `vendors missing an email` are rows, and no number.
        Shape::Profile(Profile::Missing { of, .. })
            if is_alone && !of.is_empty() && frag.noun.is_some() =>
        {
            Some((body.clone(), 0.5))
        }
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

/// Returns a query that counts rows where that is the same: different values of which each row has its own, and values
/// of a key, as rows without one are in no group.
fn by_rows(scene: &Scene, mut query: LogicalForm) -> LogicalForm {
    let Shape::Groups(groups) = &mut query.body else { return query };
    let keys: Vec<Place> = groups.keys.iter().map(GroupKey::place).collect();
    for measure in &mut groups.measures {
        let Some(place) = measure.place() else { continue };
        let n_rows = scene.tables[place.table].n_rows;
        let is_own = scene.column(place).n_distinct == Some(n_rows) && query.from.join.is_none();
        let counts_rows = match measure.agg {
            Agg::Distinct => is_own,
            Agg::Count => keys.contains(&place),
            _ => false,
        };
        if counts_rows {
            *measure =
                Measure { agg: Agg::Count, of: None, only: std::mem::take(&mut measure.only) };
        }
    }
    // `range: minimum and maximum` says the same twice.
    let mut told: Vec<Measure> = Vec::new();
    groups.measures.retain(|it| {
        let is_new = !told.contains(it);
        told.extend(is_new.then(|| it.clone()));
        is_new
    });
    query
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

fn is_few(scene: &Scene, place: Place) -> bool {
    scene.column(place).n_values().is_some_and(|it| it <= 30)
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
