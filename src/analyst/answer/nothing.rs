//! Results that answer nothing: there are no values, no rows to draw, or nothing to check.

use super::Answer;
use crate::query::{Agg, Check, GroupKey, Groups, Measure, Place, Profile, Shape, Test};

impl Answer<'_> {
    /// Returns why the result answers nothing, if it does not.
    pub(crate) fn says_nothing(&self) -> Option<String> {
        match &self.query.body {
            Shape::Check(check) => self.checks_nothing(check),
            Shape::Compare(comparison) => {
                let row = self.result.head.first();
                let missing = self.statement.measures.iter().skip(1).zip(&comparison.sides);
                let mut missing =
                    missing.filter(|it| row.is_some_and(|row| row[it.0.as_str()].is_null()));
                missing.next().map(|it| {
                    format!("There are no values for {} to calculate it from.", it.1.name)
                })
            }
            Shape::Groups(groups) => self.draws_nothing().or_else(|| self.counts_nothing(groups)),
            Shape::Rows(_) | Shape::Profile(_) => self.draws_nothing(),
        }
    }

    fn draws_nothing(&self) -> Option<String> {
        self.query.chart?;
        let is_one = self.result.n_rows == 1
            && match &self.query.body {
                Shape::Groups(it) => {
                    it.keys.is_empty() || it.order.is_some_and(|it| it.n == Some(1))
                }
                _ => false,
            };
        let found = match self.result.n_rows {
            0 => "no row matches",
            _ if is_one => "the result is one row",
            _ => return None,
        };
        Some(format!("There is nothing to draw: {found}."))
    }

    fn counts_nothing(&self, groups: &Groups) -> Option<String> {
        let Groups { keys, measures, order, .. } = groups;
        let label = self.statement.measures.first()?.as_str();
        let is_null = || self.result.head.first().is_some_and(|it| it[label].is_null());
        if (keys.is_empty() || groups.then.is_some()) && is_null() {
            return Some("There are no values to calculate it from.".to_owned());
        }
        if order.is_some_and(|it| it.n.is_some())
            && self.result.n_rows == 0
            && groups.having.is_none()
        {
            return Some("There is nothing to rank: no row matches.".to_owned());
        }
        // Of the fewest, one is a number like others.
        if groups.over.is_some() || order.is_none_or(|it| it.is_ascending) {
            return None;
        }
        let counted = measures.first()?;
        let counts = matches!(counted.agg, Agg::Count | Agg::Distinct);
        let is_flat = 1 < self.result.n_rows
            && !self.result.head.is_empty()
            && self.result.head.iter().all(|it| it[label] == 1);
        (counts && is_flat && !keys.is_empty()).then(|| {
            let plain = self.plain();
            let by: Vec<String> = keys.iter().map(|it: &GroupKey| plain.key(it)).collect();
            let what = counted.place().map_or_else(|| "row".to_owned(), |it| plain.words(it));
            let by = by.join(", ");
            format!("Each {by} has one {what}, so they cannot be ranked by how many they have.")
        })
    }

    /// Returns why a check says nothing: of a column without values, everything holds.
    fn checks_nothing(&self, check: &Check) -> Option<String> {
        let table = self.table();
        if table.n_rows == 0 {
            return Some(format!("`{}` has no rows: there is nothing to check.", table.name));
        }
        let places: Vec<Place> = match check {
            Check::None(tests) | Check::All(tests) => tests.iter().flat_map(Test::judged).collect(),
            Check::Unique(places) | Check::Inliers(places) => places.clone(),
            Check::Number(measure, ..) => measure.places(),
            Check::Groups(groups, ..) => groups.measures.iter().flat_map(Measure::places).collect(),
            Check::Refers(join) => vec![join.left],
            Check::Present(_) | Check::Varies(_) => Vec::new(),
        };
        let is_empty = |it: &&Place| {
            it.table == self.query.from.table && table.columns[it.column].n_missing == table.n_rows
        };
        if let Some(place) = places.iter().find(is_empty) {
            let name = &table.columns[place.column].name;
            return Some(format!("`{name}` has no values: there is nothing to check."));
        }
        let row = self.result.head.first()?;
        let is_null = matches!(check, Check::Number(..)) && row["holds"].is_null();
        is_null.then(|| "There are no values to check.".to_owned())
    }
}

/// Returns whether a profile has one row for each of several columns.
pub(super) fn is_of_columns(profile: &Profile) -> bool {
    match profile {
        Profile::Missing { of, .. } => of.len() != 1,
        Profile::Outliers { of, counts } => *counts || of.len() != 1,
        Profile::Correlations(of) => of.len() == 1,
        _ => false,
    }
}
