//! How sure the best reading is: a logistic model of its price, of what was left out, of how near the next one of another
//! meaning is, and of the result that it has: nobody asks for nothing, nor for ten thousand rows.
//!
//! `benches/analyst_readings.py` fits the weights to questions whose answers are known.

use serde_json::Value;

use crate::answer::ResultHead;
use crate::float;
use crate::grammar::ENGLISH;
use crate::query::{Agg, Check, Groups, Listing, LogicalForm, Look, Measure, Shape};
use crate::reading::Reading;

/// From where the best reading is answered.
pub(crate) const ANSWERED: f64 = 0.85;
/// From where the best reading is run, to see its result.
const TRIED: f64 = 0.3;
/// From where the best readings are offered.
pub(crate) const OFFERED: f64 = 0.35;
/// Readings that are offered at most.
pub(crate) const OFFERED_MAX: usize = 3;
/// Margin below which another reading is near.
const NEAR: f64 = 1.0;
/// How many readings that are near make a difference.
const NEAR_COUNT_MAX: f64 = 3.0;
/// Price of what was left out, from which it makes no difference in a question that says nothing else.
const SKIPPED_MAX: f64 = 2.0;
/// Rows of a series, from which more make no difference.
const SERIES_MAX: u64 = 12;
/// Margin below which another reading may be meant as well.
const CLOSE: f64 = 0.2;
/// How sure it is at most if another reading that is close judges the opposite, asks another table, or ranks by another
/// number.
const OPPOSED_MAX: f64 = 0.5;

const BIAS: f64 = 4.00;
/// What each feature weighs.
const WEIGHTS: [(&str, f64); 14] = [
    ("skipped", -0.754),
    ("linked", -0.044),
    ("rules", -1.864),
    ("is_close", -1.127),
    ("checks", 1.977),
    ("orders", 0.115),
    ("n_near", -0.300),
    ("is_whole", 1.096),
    ("skips_all", -1.079),
    ("is_empty", -1.813),
    ("is_null", -2.796),
    ("is_zero", -0.738),
    ("is_one_row", -0.723),
    ("rows", -0.780),
];
/// What the last features, those of a result, are on average.
const UNKNOWN_RESULT: [f64; 5] = [0.1, 0.0, 0.01, 0.41, 1.45];

fn flag(it: bool) -> f64 {
    f64::from(u8::from(it))
}

/// Returns what the sureness of the first of some readings is computed from, with the names of the features; its result
/// may not be known yet.
pub(crate) fn features(
    readings: &[Reading],
    result: Option<&ResultHead>,
) -> Option<[(&'static str, f64); WEIGHTS.len()]> {
    let (best, rest) = readings.split_first()?;
    let meant = meaning(&best.query);
    let others: Vec<&Reading> = rest
        .iter()
        .filter(|it| meaning(&it.query) != meant && !are_within(&it.query, &best.query))
        .collect();
    let body = &best.query.body;
    let orders = match body {
        Shape::Groups(groups) => groups.order.is_some(),
        Shape::Rows(listing) => listing.order.is_some(),
        _ => false,
    };
    let says_nothing = match body {
        Shape::Groups(groups) => {
            groups.keys.is_empty() && groups.measures.iter().all(Measure::is_rows)
        }
        Shape::Rows(listing) => {
            listing.columns.is_empty() && listing.order.is_none() && listing.first.is_none()
        }
        _ => false,
    };
    let values = [
        best.skipped,
        best.linked,
        best.cost - best.skipped - best.linked,
        flag(others.first().is_some_and(|it| it.cost - best.cost < CLOSE)),
        flag(matches!(body, Shape::Check(_))),
        flag(orders),
        float(others.iter().filter(|it| it.cost - best.cost < NEAR).count()).min(NEAR_COUNT_MAX),
        flag(best.skipped < 0.13 && best.linked < 0.65),
        flag(says_nothing && best.query.filters.is_empty()) * best.skipped.min(SKIPPED_MAX),
    ];
    let mut rules = best.rules.iter().map(|it| ENGLISH.name(*it));
    let is_counted = rules.any(|it| it.contains("[how_many]"));
    let of_result = result.map_or(UNKNOWN_RESULT, |it| features_of(it, best, is_counted));
    let mut named = WEIGHTS;
    for (it, value) in named.iter_mut().zip(values.into_iter().chain(of_result)) {
        it.1 = value;
    }
    Some(named)
}

/// Returns the features of a result.
fn features_of(
    result: &ResultHead,
    best: &Reading,
    is_counted: bool,
) -> [f64; UNKNOWN_RESULT.len()] {
    let query = &best.query;
    let is_one = result.n_rows == 1;
    let cells = || result.head.iter().filter_map(Value::as_object).flat_map(|row| row.values());
    let is_check = matches!(query.body, Shape::Check(_));
    // One row of each says as little as none, unless that is asked.
    let counts_ones = match &query.body {
        Shape::Groups(groups) if !is_counted => {
            groups.measures.iter().all(Measure::is_rows)
                && 1 < result.n_rows
                && cells().filter(|it| it.is_number()).count() == result.head.len()
                && cells().filter_map(Value::as_f64).all(|it| it <= 1.0)
        }
        _ => false,
    };
    // A series may be as long as it is, and so may what is drawn.
    let may_be_long = best.is_series || query.chart.is_some();
    let n_rows = if may_be_long { result.n_rows.min(SERIES_MAX) } else { result.n_rows };
    [
        flag(result.n_rows == 0),
        flag(is_one && cells().all(Value::is_null) || counts_ones),
        flag(is_one && !is_check && cells().any(|it| it.as_f64() == Some(0.0))),
        flag(is_one),
        float(n_rows).ln_1p(),
    ]
}

/// Returns how likely the first of some readings is right, from 0 to 1; surer if its result is known.
pub(crate) fn sureness(readings: &[Reading], result: Option<&ResultHead>) -> f64 {
    let (Some(best), Some(features)) = (readings.first(), features(readings, result)) else {
        return 0.0;
    };
    let sum: f64 = WEIGHTS.iter().zip(features).map(|(weight, it)| weight.1 * it.1).sum();
    let own = 1.0 / (1.0 + (-BIAS - sum).exp());
    let own = if is_opposed(readings) { own.min(OPPOSED_MAX) } else { own };
    own * best.before
}

/// Returns whether the first of some readings may be sure enough once its result is known, and has to be run to see that.
pub(crate) fn may_be_sure(readings: &[Reading]) -> bool {
    TRIED <= sureness(readings, None) && !is_opposed(readings)
}

/// Returns whether a reading that is close to the first judges the opposite, asks another table, or ranks the rows by
/// another number.
fn is_opposed(readings: &[Reading]) -> bool {
    let Some((best, rest)) = readings.split_first() else { return false };
    let mut close = rest.iter().filter(|it| it.cost - best.cost < CLOSE);
    close.any(|it| are_opposed(&best.query, &it.query))
}

/// Returns whether one of two queries judges that all rows are so, and the other that none is, asks the same of another
/// table, or ranks the same rows by another number.
fn are_opposed(one: &LogicalForm, other: &LogicalForm) -> bool {
    if one.from.join.is_none() && other.from.join.is_none() && one.from.table != other.from.table {
        return true;
    }
    match (&one.body, &other.body) {
        (Shape::Check(Check::All(tests)), Shape::Check(Check::None(same)))
        | (Shape::Check(Check::None(tests)), Shape::Check(Check::All(same))) => tests == same,
        (Shape::Rows(one), Shape::Rows(other)) => match (&one.order, &other.order) {
            (Some((by, order)), Some((other, same))) => by != other && order == same,
            _ => false,
        },
        _ => false,
    }
}

/// Returns whether one of two queries tells some of what the other tells.
fn are_within(one: &LogicalForm, other: &LogicalForm) -> bool {
    is_within(one, other) || is_within(other, one)
}

/// Returns whether a query tells some of what another tells: of its numbers, or of the columns of its rows.
pub(crate) fn is_within(query: &LogicalForm, other: &LogicalForm) -> bool {
    // Rows with some of the columns.
    if let (Shape::Rows(part), Shape::Rows(whole)) = (&query.body, &other.body) {
        let has = |it| whole.columns.is_empty() || whole.columns.contains(it);
        let is_part = !part.is_distinct && !part.columns.is_empty() && part.columns.iter().all(has);
        let told = Listing { columns: whole.columns.clone(), ..part.clone() };
        return is_part && LogicalForm { body: Shape::Rows(told), ..query.clone() } == *other;
    }
    let (Shape::Groups(part), Shape::Groups(whole)) = (&query.body, &other.body) else {
        return false;
    };
    let is_part = part.measures.iter().all(|it| whole.measures.contains(it));
    let told = Groups { measures: whole.measures.clone(), ..part.clone() };
    is_part && LogicalForm { body: Shape::Groups(told), ..query.clone() } == *other
}

/// Returns a query in the form that all have that mean the same: whether a number is the total or the mean where
/// neither was said, whether numbers are told one by one, and as what they are drawn, is no other meaning.
fn meaning(query: &LogicalForm) -> LogicalForm {
    let mut query = LogicalForm { chart: None, look: Look::default(), ..query.clone() };
    query.filters.sort_by_cached_key(|it| format!("{it:?}"));
    match &mut query.body {
        Shape::Groups(groups) => {
            for measure in &mut groups.measures {
                if measure.agg == Agg::Sum {
                    measure.agg = Agg::Mean;
                }
            }
        }
        Shape::Rows(listing)
            if !listing.is_distinct && listing.order.is_none() && listing.first.is_none() =>
        {
            if let [place] = listing.columns[..] {
                query.body =
                    Shape::Groups(Groups::new(Vec::new(), vec![Measure::of(Agg::Mean, place)]));
            }
        }
        _ => {}
    }
    query
}
