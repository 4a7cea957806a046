//! Sentences on numbers that go together.

use serde_json::Value as Json;

use super::Answer;
use super::figure::{listed, number as figure};
use super::head::number;
use crate::query::Place;

/// Correlations from which they are called strong, and moderate.
const STRONG: f64 = 0.7;
const MODERATE: f64 = 0.4;

impl Answer<'_> {
    /// Says how numbers go together.
    pub(super) fn correlations(&self, places: &[Place], row: &Json) -> String {
        let plain = self.plain();
        let value = |row: &Json| number(row, "correlation");
        match places {
            [one, other] => match value(row) {
                Some(r) => format!(
                    "{}the correlation of {} and {} is **{}**, {}.",
                    self.ahead(),
                    plain.words(*one),
                    plain.words(*other),
                    figure(r),
                    strength(r)
                ),
                None => format!(
                    "{} and {} have no correlation that can be calculated.",
                    plain.words(*one),
                    plain.words(*other)
                ),
            },
            [one] => {
                let known: Vec<(&str, f64)> = self
                    .result
                    .head
                    .iter()
                    .filter_map(|it| Some((it["column"].as_str()?, value(it)?)))
                    .collect();
                let Some((name, r)) = known.first() else {
                    return format!("no number has a correlation with {}.", plain.words(*one));
                };
                let rest: Vec<String> = known[1..]
                    .iter()
                    .take(2)
                    .map(|(name, r)| format!("{} ({})", self.said(name), figure(*r)))
                    .collect();
                let then = if rest.is_empty() {
                    String::new()
                } else {
                    format!(", then with {}", listed(&rest, "and"))
                };
                format!(
                    "{}{} correlates most with **{}**, {}{then}.",
                    self.ahead(),
                    plain.words(*one),
                    self.said(name),
                    figure(*r)
                )
            }
            _ => self.strongest(),
        }
    }

    /// Says which of all pairs correlates most.
    fn strongest(&self) -> String {
        let mut best: Option<(&str, &str, f64)> = None;
        for (n, row) in self.result.head.iter().enumerate() {
            let Some(one) = row["column"].as_str() else { continue };
            for other in self.result.columns.iter().skip(n + 2) {
                let Some(r) = number(row, other).filter(|_| one != other) else { continue };
                if best.is_none_or(|it| it.2.abs() < r.abs()) {
                    best = Some((one, other, r));
                }
            }
        }
        match best {
            Some((one, other, r)) => format!(
                "{}the strongest correlation is **{}**, of {} and {}.",
                self.ahead(),
                figure(r),
                self.said(one),
                self.said(other)
            ),
            None => "there are no two numbers that correlate.".to_owned(),
        }
    }
}

/// Says how strong a correlation is.
fn strength(r: f64) -> &'static str {
    match (STRONG <= r.abs(), MODERATE <= r.abs(), r < 0.0) {
        (true, _, false) => "a strong positive one",
        (true, _, true) => "a strong negative one",
        (_, true, false) => "a moderate positive one",
        (_, true, true) => "a moderate negative one",
        _ => "a weak one",
    }
}
