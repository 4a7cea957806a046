//! How sure the best reading is: a logistic model of its price, of what was left out, and of how near the next one is.
//!
//! `benches/analyst_train.py` fits the weights to questions whose answers are known.

use crate::query::Body;
use crate::read::Reading;

/// From where the best reading is answered.
pub(crate) const ANSWERED: f64 = 0.85;
/// From where the best readings are offered.
pub(crate) const OFFERED: f64 = 0.35;
/// Readings that are offered at most.
pub(crate) const OFFERED_MAX: usize = 3;
/// Price from which a margin makes no difference.
const MARGIN_MAX: f64 = 3.0;

const BIAS: f64 = 3.11;
const SKIPPED: f64 = -0.37;
const LINKED: f64 = 0.01;
const RULES: f64 = -1.31;
const MARGIN: f64 = 0.13;
const SKIPS_MUCH: f64 = -1.2;
const IS_LOOSE: f64 = -0.61;
const IS_CLOSE: f64 = -1.19;
const LISTS_ROWS: f64 = -0.34;
const CHECKS: f64 = 0.81;
const ORDERS: f64 = 0.39;
const N_RULES: f64 = -0.016;

/// Returns how likely the first of some readings is right, from 0 to 1.
pub(crate) fn sureness(readings: &[Reading]) -> f64 {
    let Some(best) = readings.first() else { return 0.0 };
    let margin = readings.get(1).map_or(MARGIN_MAX, |it| it.cost - best.cost);
    let flag = |it: bool| f64::from(u8::from(it));
    let orders = match &best.query.body {
        Body::Groups(groups) => groups.order.is_some(),
        Body::Rows(listing) => listing.order.is_some(),
        _ => false,
    };
    let n_rules = u32::try_from(best.rules.len()).unwrap_or(u32::MAX);
    let sum = BIAS
        + SKIPPED * best.skipped
        + LINKED * best.linked
        + RULES * (best.cost - best.skipped - best.linked)
        + MARGIN * margin.min(MARGIN_MAX)
        + SKIPS_MUCH * flag(1.5 < best.skipped)
        + IS_LOOSE * flag(0.8 < best.linked)
        + IS_CLOSE * flag(margin < 0.2)
        + LISTS_ROWS * flag(matches!(best.query.body, Body::Rows(_)))
        + CHECKS * flag(matches!(best.query.body, Body::Check(_)))
        + ORDERS * flag(orders)
        + N_RULES * f64::from(n_rules);
    1.0 / (1.0 + (-sum).exp())
}
