//! What is known while a question is read.

use crate::float;
use crate::frag::Sem;
use crate::lexicon::{Cue, Lexicon, TimeUnit};
use crate::link::is_time;
use crate::query::{LogicalForm, Look, Place, Shape, Source, Test};
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
        let is_birth = |it: &Place| self.lexicon.has(Cue::Births, &self.column(*it).words);
        if found.iter().all(is_birth) {
            let years = self.places().filter(|it| !self.kind(*it).is_time());
            found.extend(years.filter(|it| is_time(self.column(*it))));
        }
        found.sort_by_key(|it| (!self.speaks_of(*it), is_birth(it)));
        found
    }

    /// Returns whether a word of the question is one of the name of a time, or means the same: `shipped` of `Ship Date`.
    pub(crate) fn speaks_of(&self, place: Place) -> bool {
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
    pub(crate) fn step(&self, place: Place) -> Option<TimeUnit> {
        let column = self.column(place);
        let (least, most) = column.range?;
        let n = column.n_distinct.filter(|it| 3 <= *it)?;
        let step = (most - least) / float(n - 1);
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
        // What one piece costs is no total of what is spent.
        if self.lexicon.has(Cue::Prices, words) && self.lexicon.has(Cue::Pieces, words) {
            return Some(false);
        }
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

    pub(crate) fn query(&self, filters: Vec<Test>, body: Shape) -> Sem {
        let look = Look::default();
        Sem::Query(Box::new(LogicalForm { from: self.source(), filters, body, chart: None, look }))
    }

    /// Returns an amount in the unit of a column. Nothing if that is of another kind.
    pub(crate) fn in_unit_of(&self, place: Place, value: f64, unit: Option<&str>) -> Option<f64> {
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
    pub(crate) fn is_fraction(&self, place: Place) -> bool {
        let column = self.column(place);
        column.kind == Kind::Real
            && column.range.is_some_and(|(least, most)| -1.0 <= least && most <= 1.0)
    }

    /// Returns the numbers that an amount may be compared with, if no column is said.
    pub(crate) fn implied(&self, value: f64, unit: Option<&str>) -> Vec<(Place, f64)> {
        let is_money = |it: &str| self.lexicon.is(Cue::Money, it);
        let is_implied = |words: &[String]| {
            let stems = self.tokens.iter().map(|it| &it.stem);
            stems.flat_map(|it| self.lexicon.implied(it)).any(|of| words.contains(of))
        };
        let mut found = Vec::new();
        for place in self.places().filter(|it| self.kind(*it).is_number()) {
            let column = self.column(place);
            let words = &column.words;
            let fits = match unit {
                Some(unit) if unit.starts_with("degre") => {
                    words.iter().any(|it| it.starts_with("temp"))
                }
                Some(unit) => {
                    words.last().is_some_and(|it| {
                        it == unit
                            || self.lexicon.per_unit(it, unit).is_some()
                            || is_money(it) && is_money(unit)
                    }) || unit == "old" && words.iter().any(|it| it == "age")
                }
                None => is_implied(words),
            };
            if fits && let Some(value) = self.in_unit_of(place, value, unit) {
                found.push((place, value));
            }
        }
        // Of the amounts in dollars, an order has one of its own.
        if found.iter().any(|it| is_implied(&self.column(it.0).words)) {
            found.retain(|it| is_implied(&self.column(it.0).words));
        }
        if 2 < found.len() { Vec::new() } else { found }
    }
}
