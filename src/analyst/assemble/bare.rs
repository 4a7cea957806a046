//! What columns may mean of which nothing is said: groups, a number, rows.

use super::{groups, is_few, is_name, is_time_key, trend_key};
use crate::actions::natural;
use crate::actions::order::merits;
use crate::frag::{AskedFor, Frag};
use crate::query::Op;
use crate::query::{
    Agg, Chart, GroupKey, Groups, Listing, Measure, Over, Place, Profile, Shape, SortOrder, Test,
    Value,
};
use crate::scene::Scene;
use crate::schema::Kind;

pub(super) fn without_measure(scene: &Scene, frag: &Frag) -> Vec<(Shape, f64)> {
    if frag.then.is_some() || frag.over == Some(Over::Share) && frag.keys.is_empty() {
        return Vec::new();
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
    let bare = Bare { scene, frag, numbers, others, choice_cost };
    if let Some(by) = frag.by {
        bare.ranked(by)
    } else if !frag.keys.is_empty() || frag.is_trend {
        bare.grouped()
    } else if frag.over.is_some() {
        bare.along_time()
    } else if let Some((op, n)) = frag.having {
        bare.having(op, n)
    } else if let Some(order) = frag.order {
        bare.ends(order)
    } else {
        let mut made = bare.plain();
        made.extend(bare.listed());
        made
    }
}

/// Columns of which nothing is said.
struct Bare<'a> {
    scene: &'a Scene<'a>,
    frag: &'a Frag,
    /// Those with numbers that are no groups.
    numbers: Vec<Place>,
    others: Vec<Place>,
    /// What it costs not to tell which of two values it is.
    choice_cost: f64,
}

impl Bare<'_> {
    /// Returns what is the most or the least by a column: `top 5 cars by horsepower`, `the oldest passengers`.
    fn ranked(&self, by: Place) -> Vec<(Shape, f64)> {
        let Bare { scene, frag, ref numbers, ref others, choice_cost, .. } = *self;
        let mut made = Vec::new();
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
            // `compare the regions in terms of revenue`
            if frag.is_sorted {
                let told = natural(scene, by).into_iter();
                let order = Some(order);
                return told.map(|it| (groups(frag.keys.clone(), it.0, order), it.1)).collect();
            }
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
            columns.extend(numbers);
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
        made
    }

    /// Returns groups: `revenue by month`, `flights per carrier`.
    fn grouped(&self) -> Vec<(Shape, f64)> {
        // `bill length against bill depth by species`: points with a colour for each.
        if let (Some(Chart::Scatter), [y, x], [GroupKey::Column(key)]) =
            (self.frag.chart, &self.numbers[..], &self.frag.keys[..])
            && self.others.is_empty()
            && is_few(self.scene, *key)
        {
            let columns = vec![*y, *x, *key];
            let listing = Listing { columns, is_distinct: false, order: None, first: None };
            return vec![(Shape::Rows(listing), 0.1)];
        }
        let Bare { scene, frag, ref numbers, ref others, .. } = *self;
        let mut made = Vec::new();
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
            let body = Groups {
                having,
                over: frag.over,
                order: frag.order,
                ..Groups::new(keys.clone(), measures)
            };
            made.push((Shape::Groups(body), cost + costs));
        }
        made
    }

    /// Returns a number along time: `revenue growth`.
    fn along_time(&self) -> Vec<(Shape, f64)> {
        let Bare { scene, frag, ref numbers, .. } = *self;
        let mut made = Vec::new();
        // `revenue growth`
        if let (Some(key), [number]) = (trend_key(scene), &numbers[..]) {
            for (measure, cost) in natural(scene, *number) {
                let body = Groups { over: frag.over, ..Groups::new(vec![key], vec![measure]) };
                made.push((Shape::Groups(body), cost + 0.3));
            }
        }
        made
    }

    /// Returns the groups whose number of rows is so: `species with more than ten penguins`.
    fn having(&self, op: Op, n: f64) -> Vec<(Shape, f64)> {
        let [place] = self.others[..] else { return Vec::new() };
        let mut body = Groups::new(vec![GroupKey::Column(place)], vec![Measure::ROWS]);
        body.having = Some((op, Value::Number(n)));
        vec![(Shape::Groups(body), 0.2)]
    }

    /// Returns the most or the least of something: `top 5 species`, `the highest price`.
    fn ends(&self, mut order: SortOrder) -> Vec<(Shape, f64)> {
        let Bare { scene, frag, ref numbers, ref others, choice_cost, .. } = *self;
        let mut made = Vec::new();
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
        made
    }

    /// Returns what columns may mean of which nothing else is said.
    fn plain(&self) -> Vec<(Shape, f64)> {
        let Bare { scene, frag, ref numbers, ref others, .. } = *self;
        let chart_cost = if frag.chart.is_some() { 0.0 } else { 0.6 };
        let mut made = Vec::new();
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
        made
    }

    /// Returns the rows: `list the species`, `name and age of the women`.
    fn listed(&self) -> Vec<(Shape, f64)> {
        let Bare { scene, frag, .. } = *self;
        let mut made = Vec::new();
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
            let says_little =
                matches!(frag.columns[..], [place] if scene.kind(place) == Kind::Bool);
            let cost = if says_little { cost + 0.6 } else { cost };
            let listing = Listing { columns, is_distinct, order: None, first: frag.first };
            made.push((Shape::Rows(listing), cost));
        }
        made
    }
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
    // `which symbol grew most` asks for no column's values.
    if frag.over.is_some() || frag.first.is_some() {
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
        AskedFor::Key(key) => return which(scene, frag, key, others, (by, order)),
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

/// Returns what `which X` may ask for, where `X` are groups or in a column, and what they are ordered by.
fn which(
    scene: &Scene,
    frag: &Frag,
    key: GroupKey,
    others: &[Place],
    ordered: (Option<Place>, Option<SortOrder>),
) -> Vec<(Shape, f64)> {
    let mut made = Vec::new();
    let place = key.place();
    let is_column = matches!(key, GroupKey::Column(_));
    match ordered {
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
                made.extend(
                    sums.map(|it| {
                        (groups(vec![key], Measure::of(Agg::Sum, it), Some(order)), cost)
                    }),
                );
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
    made
}
