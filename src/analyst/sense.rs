//! What makes sense: constraints that a query must meet, whatever words it was read from.
//!
//! Each is a predicate of queries. What cannot be meant has an infinite price, what hardly is a high one.

use crate::assemble::{fixed, is_name};
use crate::lexicon::{Concept, Cue, TimeUnit};
use crate::link::is_time;
use crate::query::{
    Agg, Chart, Check, GroupKey, Groups, LogicalForm, Measure, Op, Over, Part, Place, Shape, Test,
    Value,
};
use crate::scene::Scene;
use crate::schema::Kind;
use crate::words::Token;

/// A constraint, and the price of not meeting it.
type Constraint = (fn(&Scene, &LogicalForm) -> bool, f64);

/// The constraints, each of which says what is wrong.
const CONSTRAINTS: &[Constraint] = &[
    (adds_up_keys, f64::INFINITY),
    (computes_with_text, f64::INFINITY),
    (ranks_by_a_key, f64::INFINITY),
    (groups_by_what_is_fixed, 2.0),
    (groups_by_its_own_number, 1.5),
    (says_twice, 2.5),
    (bounds_a_year, 2.0),
    (counts_over_nothing, 0.6),
    (grows_along_no_time, 2.5),
    (counts_sales_not_money, 0.8),
    (stacks_what_does_not_add_up, 0.8),
    (draws_boxes_of_no_values, 1.5),
    (draws_one_point, 2.0),
    (comes_from_where_it_goes, 2.5),
    (counts_names, 1.2),
    (names_the_mode_of_all, 1.5),
    (ranks_pairs, 0.5),
    (judges_by_count, 1.5),
    (judges_by_harm, 1.5),
    (ranks_by_a_comparative, 1.5),
    (counts_sales_not_pieces, 1.0),
    (ranks_hours_of_days, 1.5),
    (tells_apart_what_it_looks_for, 0.6),
    (orders_without_groups, f64::INFINITY),
    (compares_beyond_the_data, 0.8),
    (equals_beyond_the_data, 3.0),
    (looks_for_what_is_never_missing, 1.5),
];

/// Returns what a query costs for what is odd about it.
pub(crate) fn cost(scene: &Scene, query: &LogicalForm) -> f64 {
    CONSTRAINTS.iter().filter(|it| it.0(scene, query)).map(|it| it.1).sum()
}

fn measures(query: &LogicalForm) -> &[Measure] {
    match &query.body {
        Shape::Groups(groups) => &groups.measures,
        Shape::Compare(comparison) => std::slice::from_ref(&comparison.measure),
        Shape::Check(Check::Number(measure, ..)) => std::slice::from_ref(measure),
        _ => &[],
    }
}

fn groups(query: &LogicalForm) -> Option<&Groups> {
    match &query.body {
        Shape::Groups(groups) => Some(groups),
        _ => None,
    }
}

/// Returns all conditions: those of rows, and those that are claimed or a part of a number.
fn tests(query: &LogicalForm) -> Vec<&Test> {
    let mut tests: Vec<&Test> = query.filters.iter().collect();
    match &query.body {
        Shape::Check(Check::All(claim) | Check::None(claim)) => tests.extend(claim),
        Shape::Groups(groups) => tests.extend(groups.measures.iter().flat_map(|it| &it.only)),
        _ => {}
    }
    tests
}

/// A total or a mean of what numbers things.
fn adds_up_keys(scene: &Scene, query: &LogicalForm) -> bool {
    measures(query).iter().any(|it| {
        let numbers_time =
            |it: Place| matches!(scene.column(it).unit, Some(TimeUnit::Year | TimeUnit::Month));
        let adds_up = |it: Place| scene.column(it).is_key || numbers_time(it);
        match it.agg {
            Agg::Sum => it.place().is_some_and(adds_up),
            Agg::Mean => it.place().is_some_and(|it| scene.column(it).is_key),
            Agg::Ratio(other) | Agg::Percent(other) => {
                adds_up(other) || it.place().is_some_and(adds_up)
            }
            _ => false,
        }
    })
}

/// The largest of what numbers rows, of which the question does not speak: the `biggest order` is none with the largest
/// `order_id`. All rows may be in that order.
fn ranks_by_a_key(scene: &Scene, query: &LogicalForm) -> bool {
    let is_unsaid = |place: Place| {
        let column = scene.column(place);
        let is_label = |it: &&String| {
            [Cue::Keys, Cue::KeyEnds, Cue::RowKeys].iter().any(|cue| scene.lexicon.is(*cue, it))
        };
        let labels: Vec<&String> = column.words.iter().filter(is_label).collect();
        let is_said = |it: &&String| scene.tokens.iter().any(|token| token.stem == **it);
        column.is_key && !labels.iter().any(is_said)
    };
    match &query.body {
        Shape::Groups(groups) => groups
            .measures
            .iter()
            .any(|it| matches!(it.agg, Agg::Min | Agg::Max) && it.place().is_some_and(is_unsaid)),
        Shape::Rows(listing) => matches!(
            listing.order,
            Some((Value::Column(by), order)) if order.n.is_some() && is_unsaid(by)
        ),
        _ => false,
    }
}

/// How many sales there are, where a column has what they amount to.
fn counts_sales_not_money(scene: &Scene, query: &LogicalForm) -> bool {
    let words: Vec<String> = scene.tokens.iter().map(|it| it.lower.clone()).collect();
    let is_how_many = |it: &[String]| scene.lexicon.phrase(it) == Some(Concept::HowMany);
    let is_money = |it: Place| {
        scene.is_additive(it) == Some(true)
            && scene.lexicon.has(Cue::Money, &scene.column(it).words)
    };
    scene.tokens.iter().any(|it| scene.lexicon.is(Cue::Sales, &it.lower))
        && groups(query).is_some_and(|it| it.measures.iter().all(Measure::is_rows))
        && !words.windows(2).any(is_how_many)
        && scene.places().any(is_money)
}

/// Growth from one group to the next, where no time orders them.
fn grows_along_no_time(scene: &Scene, query: &LogicalForm) -> bool {
    let is_time = |it: &GroupKey| match it {
        GroupKey::Column(place) => {
            is_time(scene.column(*place)) || scene.column(*place).unit.is_some()
        }
        _ => true,
    };
    groups(query).is_some_and(|it| {
        matches!(it.over, Some(Over::Growth | Over::Change)) && !it.keys.iter().any(is_time)
    })
}

/// Points of a number of all rows.
fn draws_one_point(_: &Scene, query: &LogicalForm) -> bool {
    query.chart == Some(Chart::Scatter) && groups(query).is_some_and(|it| it.keys.is_empty())
}

fn computes_with_text(scene: &Scene, query: &LogicalForm) -> bool {
    measures(query).iter().any(|it| {
        let needs_number = !matches!(
            it.agg,
            Agg::Count
                | Agg::Distinct
                | Agg::Mode
                | Agg::Min
                | Agg::Max
                | Agg::Share
                | Agg::First(_)
                | Agg::Last(_)
        );
        needs_number && it.place().is_some_and(|it| !scene.is_number(it))
    })
}

/// Groups of one value, since a condition says which.
fn groups_by_what_is_fixed(_: &Scene, query: &LogicalForm) -> bool {
    let fixed = fixed(&query.filters);
    groups(query).is_some_and(|it| {
        it.keys.iter().any(|key| matches!(key, GroupKey::Column(place) if fixed.contains(place)))
    })
}

/// A number by its own column.
fn groups_by_its_own_number(_: &Scene, query: &LogicalForm) -> bool {
    groups(query).is_some_and(|it| {
        let places: Vec<_> = it.measures.iter().filter_map(Measure::place).collect();
        it.keys.iter().any(|key| matches!(key, GroupKey::Column(place) if places.contains(place)))
    })
}

/// The same column compared twice in one direction, or equal to two values at once.
fn says_twice(_: &Scene, query: &LogicalForm) -> bool {
    let told: Vec<_> = tests(query)
        .into_iter()
        .filter_map(|it| match it {
            Test::Is(Value::Column(place), op, _) => Some((*place, Some(*op))),
            Test::In(Value::Column(place), _) => Some((*place, None)),
            Test::In(Value::Part(place, part), _) => Some((
                Place { column: place.column + 1_000_000 * (*part as usize + 1), ..*place },
                None,
            )),
            _ => None,
        })
        .collect();
    (1..told.len()).any(|it| told[..it].contains(&told[it]))
}

/// A year, and from or up to when of the same time: `in 2017 higher than in 2016` compares both.
fn bounds_a_year(_: &Scene, query: &LogicalForm) -> bool {
    let is_of = |it: &Test| match it {
        Test::In(Value::Part(place, Part::Year), years) if years.len() == 1 => Some(*place),
        _ => None,
    };
    let years: Vec<Place> = query.filters.iter().filter_map(is_of).collect();
    query.filters.iter().any(
        |it| matches!(it, Test::Is(Value::Column(place), _, Value::Day(_)) if years.contains(place)),
    )
}

/// A number of rows of which nothing is said.
fn counts_over_nothing(_: &Scene, query: &LogicalForm) -> bool {
    query.chart.is_some() && groups(query).is_some_and(|it| it.keys.is_empty())
}

/// Parts of a whole that are no parts of it.
fn stacks_what_does_not_add_up(_: &Scene, query: &LogicalForm) -> bool {
    matches!(query.chart, Some(Chart::Stacked | Chart::Shares | Chart::Area))
        && measures(query).iter().any(|it| it.agg == Agg::Mean)
}

/// Boxes of numbers that are no values.
fn draws_boxes_of_no_values(_: &Scene, query: &LogicalForm) -> bool {
    query.chart == Some(Chart::Box) && groups(query).is_some_and(|it| it.boxed().is_none())
}

/// `from HAM to MUC`, where HAM is looked for among the destinations or MUC among the origins.
fn comes_from_where_it_goes(scene: &Scene, query: &LogicalForm) -> bool {
    let lexicon = scene.lexicon;
    let is_turned = |place: Place, text: &str| {
        let words = &scene.column(place).words;
        let [origin, destination] =
            [Cue::Origins, Cue::Destinations].map(|it| lexicon.has(it, words));
        let first = lexicon.words.tokens(text).into_iter().next();
        let is_said = |pair: &[Token]| {
            first.as_ref().is_some_and(|it| it.lower == pair[1].lower)
                && (lexicon.is(Cue::From, &pair[0].lower) && destination && !origin
                    || lexicon.is(Cue::To, &pair[0].lower) && origin && !destination)
        };
        scene.tokens.windows(2).any(is_said)
    };
    query.filters.iter().any(|it| match it {
        Test::In(Value::Column(place), values) => match &values[..] {
            [Value::Text(text)] => is_turned(*place, text),
            _ => false,
        },
        _ => false,
    })
}

/// A ranking of names by in how many rows each is, where hardly any is in two.
fn counts_names(scene: &Scene, query: &LogicalForm) -> bool {
    groups(query).is_some_and(|it| {
        it.order.is_some()
            && matches!(it.keys[..], [GroupKey::Column(place)] if is_unique(scene, place))
            && it.measures.iter().all(Measure::is_rows)
    })
}

/// The most frequent value of all rows, which groups tell with how often it is.
fn names_the_mode_of_all(_: &Scene, query: &LogicalForm) -> bool {
    groups(query)
        .is_some_and(|it| it.keys.is_empty() && it.measures.iter().any(|it| it.agg == Agg::Mode))
}

/// The one pair of values that is in the most rows, rather than the most frequent value of each group.
fn ranks_pairs(_: &Scene, query: &LogicalForm) -> bool {
    groups(query).is_some_and(|it| {
        it.order.is_some_and(|it| it.is_first())
            && 1 < it.keys.len()
            && it.measures.iter().all(Measure::is_rows)
    })
}

/// The best of groups by how many rows each has, which is hardly what makes it good.
fn judges_by_count(scene: &Scene, query: &LogicalForm) -> bool {
    groups(query).is_some_and(|it| it.order.is_some() && it.measures.iter().all(Measure::is_rows))
        && scene.tokens.iter().any(|it| scene.lexicon.is(Cue::Judging, &it.lower))
}

/// The best or the worst by a number of which less is better: which end is meant, its name says only here.
fn judges_by_harm(scene: &Scene, query: &LogicalForm) -> bool {
    let is_harm = |it: Place| scene.lexicon.has(Cue::Harms, &scene.column(it).words);
    let by = match &query.body {
        Shape::Groups(groups) if groups.order.is_some() => {
            measures(query).first().and_then(Measure::place)
        }
        Shape::Rows(listing) => match listing.order {
            Some((Value::Column(place), _)) => Some(place),
            _ => None,
        },
        _ => None,
    };
    by.is_some_and(is_harm)
        && scene.tokens.iter().any(|it| scene.lexicon.is(Cue::Judging, &it.lower))
}

/// The largest where `do smokers tip more` compares them with the rest.
fn ranks_by_a_comparative(scene: &Scene, query: &LogicalForm) -> bool {
    let is = |cue: Cue, at: usize| {
        scene.tokens.get(at).is_some_and(|it| scene.lexicon.is(cue, &it.lower))
    };
    let compares = (1..scene.tokens.len()).any(|it| is(Cue::Comparatives, it));
    let ranks = match &query.body {
        Shape::Groups(it) => {
            it.order.is_some() || it.measures.iter().any(|it| matches!(it.agg, Agg::Min | Agg::Max))
        }
        Shape::Rows(listing) => listing.order.is_some(),
        _ => false,
    };
    ranks && compares && is(Cue::YesNo, 0)
}

/// How many rows there are of what is sold, where a column has of how many pieces each is.
fn counts_sales_not_pieces(scene: &Scene, query: &LogicalForm) -> bool {
    let has_pieces = || {
        scene.places().any(|it| {
            scene.kind(it) == Kind::Whole
                && scene.lexicon.has(Cue::Quantities, &scene.column(it).words)
        })
    };
    measures(query).iter().any(Measure::is_rows)
        && scene.tokens.iter().any(|it| scene.lexicon.is(Cue::Traded, &it.lower))
        && has_pieces()
}

/// The first of the hours of all days, rather than of the hours of a day.
fn ranks_hours_of_days(_: &Scene, query: &LogicalForm) -> bool {
    groups(query).is_some_and(|it| {
        it.order.is_some()
            && it.keys.iter().any(|it| matches!(it, GroupKey::Time(_, TimeUnit::Hour)))
    })
}

/// How many different texts there are of those that contain something, rather than in how many rows.
fn tells_apart_what_it_looks_for(_: &Scene, query: &LogicalForm) -> bool {
    let of_text = |place: Place| {
        query.filters.iter().any(|it| matches!(it, Test::Text(of, ..) if *of == place))
    };
    measures(query).iter().any(|it| it.agg == Agg::Distinct && it.place().is_some_and(of_text))
}

fn is_unique(scene: &Scene, place: Place) -> bool {
    let column = scene.column(place);
    is_name(scene, place)
        && column
            .n_distinct
            .is_some_and(|it| it + column.n_missing == scene.tables[place.table].n_rows)
}

fn orders_without_groups(_: &Scene, query: &LogicalForm) -> bool {
    groups(query)
        .is_some_and(|it| it.keys.is_empty() && (it.order.is_some() || it.having.is_some()))
}

/// A comparison with a number far from all that the column has.
fn compares_beyond_the_data(scene: &Scene, query: &LogicalForm) -> bool {
    query.filters.iter().any(|it| match it {
        Test::Is(Value::Column(place), _, Value::Number(value)) => {
            let column = scene.column(*place);
            column.kind != Kind::Bool
                && column.range.is_some_and(|(least, most)| {
                    let far = most - least;
                    *value < least - far || most + far < *value
                })
        }
        _ => false,
    })
}

/// Equality with a number that the column cannot have.
fn equals_beyond_the_data(scene: &Scene, query: &LogicalForm) -> bool {
    tests(query).into_iter().any(|it| match it {
        Test::Is(Value::Column(place), Op::Eq, Value::Number(value)) => {
            let column = scene.column(*place);
            column.range.is_some_and(|(least, most)| *value < least || most < *value)
        }
        _ => false,
    })
}

/// Missing values of a column that has none, where they are not what is judged.
fn looks_for_what_is_never_missing(scene: &Scene, query: &LogicalForm) -> bool {
    let only = measures(query).iter().flat_map(|it| &it.only);
    query
        .filters
        .iter()
        .chain(only)
        .any(|it| matches!(it, Test::Missing(place) if scene.column(*place).n_missing == 0))
}
