//! Questions that take up the one before: `and by month?`, `only Europe`, `as a chart`, `top 3`.

use super::{Doubt, Parser, Placed};
use crate::ground::{Mark, Meaning, Place};
use crate::lexicon::{Concept, Cue};
use crate::reading::{Agg, Filter, Group, Measure, Over, Rank, Reading, Shape, Test, What};
use crate::schema::Kind;

impl Parser<'_> {
    /// Returns whether the question makes no sense without one before.
    pub(super) fn goes_on(&self) -> bool {
        self.begins_with(Cue::Joins) || self.word(0) == Some(Concept::By)
    }

    /// Returns whether the question is no more than a condition: `sunny ones?`
    pub(super) fn is_fragment(&self) -> bool {
        let says = |it: &Mark| match it.meaning {
            Meaning::Value(_)
            | Meaning::Number(_)
            | Meaning::Noun
            | Meaning::Month(_)
            | Meaning::MonthOf(_)
            | Meaning::Day(_) => true,
            // `of students`, where a column says who is one.
            Meaning::Column(ref places) => {
                1 < self.marks.len() && places.iter().all(|it| self.kind(*it) == Kind::Bool)
            }
            Meaning::Word(concept) => {
                matches!(
                    concept,
                    Concept::Of
                        | Concept::And
                        | Concept::Rows
                        | Concept::Not
                        | Concept::Ne
                        | Concept::Than
                )
            }
            // `taller than 72?`
            Meaning::Adjective { is_superlative: false, .. } => 1 < self.marks.len(),
            _ => false,
        };
        self.marks.len() <= 3 && self.marks.iter().all(says)
    }

    /// Returns whether the question begins like one that goes on.
    pub(super) fn is_led(&self) -> bool {
        self.begins_with(Cue::Leads)
    }

    /// Returns whether the question may be one that goes on: `boys only`, `for all regions`.
    pub(super) fn clings(&self) -> bool {
        let lexicon = self.scene.lexicon;
        let trails = match self.scene.tokens {
            // `how many rows are there` asks what there is.
            [.., is, _] if lexicon.is(Cue::Is, &is.lower) => false,
            [.., last] => lexicon.is(Cue::Trails, &last.lower),
            [] => false,
        };
        self.begins_with(Cue::Clings) || trails
    }

    /// Returns whether the question begins with what is to be done with an answer: `sort it by rate`.
    pub(super) fn points_at(&self) -> bool {
        let second = self.scene.tokens.get(1);
        let lexicon = self.scene.lexicon;
        self.begins_with(Cue::Clings)
            && second.is_some_and(|it| {
                lexicon.is(Cue::Pointers, &it.lower) || lexicon.is(Cue::Trails, &it.lower)
            })
    }

    /// Returns whether the question names nothing but times: `how many are there in 2016`.
    pub(super) fn names_nothing(&self) -> bool {
        self.marks.iter().all(|it| {
            matches!(
                it.meaning,
                Meaning::Word(_)
                    | Meaning::Number(_)
                    | Meaning::Month(_)
                    | Meaning::MonthOf(_)
                    | Meaning::Day(_)
            )
        })
    }

    /// Returns whether the question names nothing in the data: `how many are there`.
    pub(super) fn is_bare(&self) -> bool {
        self.marks.iter().all(|it| matches!(it.meaning, Meaning::Word(_)))
    }

    /// Returns whether a superlative that names no rows may be about those of the question before.
    pub(super) fn may_take_up(&self, reading: &Reading) -> bool {
        let filters = match self.scene.last {
            Some(last) if last.filters.is_empty() => return false,
            Some(last) => &last.filters[..],
            None if self.scene.is_lost => &[],
            None => return false,
        };
        let is_superlative = match &reading.what {
            What::Rows { rank, .. } => rank.is_some(),
            What::Aggregate { measures, rank, .. } => {
                let is_end = |it: &Measure| matches!(it.agg, Agg::Min | Agg::Max);
                rank.is_some() || measures.iter().all(is_end)
            }
            _ => false,
        };
        let names_rows = (0..self.marks.len()).any(|it| {
            matches!(self.marks[it].meaning, Meaning::Noun | Meaning::Table(_))
                || self.word_of(it) == Some(Concept::Rows)
        });
        is_superlative
            && !names_rows
            && reading.what.groups().is_empty()
            && reading.filters.iter().all(|it| filters.contains(it))
    }

    fn begins_with(&self, cue: Cue) -> bool {
        let words: Vec<&str> = self.scene.tokens.iter().map(|it| it.lower.as_str()).collect();
        let begins = |lead: &String| words.starts_with(&lead.split(' ').collect::<Vec<_>>());
        self.scene.lexicon.cues(cue).iter().any(begins)
    }

    /// Reads the question as a change of the one before.
    pub(super) fn take_up(
        &mut self,
        last: &Reading,
        filters: Vec<Placed>,
        chart: Option<Shape>,
    ) -> Result<Reading, Doubt> {
        self.take_all(&[Concept::WhatAbout, Concept::Only, Concept::And]);
        let mut reading = last.clone();
        reading.notes.clear();
        let mut is_changed = chart.is_some() || !filters.is_empty();
        let is_flagged = filters.iter().any(|it| it.filter.test == Test::True);
        reading.chart = chart;
        let new: Vec<Filter> = filters.into_iter().map(|it| it.filter).collect();
        // What is said of a column takes the place of all of its kind that was said of it.
        let is_replaced = |old: &Filter| new.iter().any(|it| it.replaces(old));
        reading.filters.retain(|old| !is_replaced(old));
        for filter in new {
            add_filter(&mut reading, filter);
        }
        let mut groups = self.groups()?;
        // `split by gender` is beside the groups that there are.
        if self.scene.says(Cue::Adds) && !groups.is_empty() {
            let old = last.what.groups().iter().filter(|it| !groups.contains(it));
            let old: Vec<Group> = old.copied().collect();
            groups.splice(0..0, old);
        }
        // A series stays what it runs over.
        let before = last.what.groups();
        let mut under = if groups.is_empty() { before.to_vec() } else { groups.clone() };
        let over = self.over(&mut under);
        if !groups.is_empty() || under != before {
            groups = under;
        }
        let order = self.sorting();
        let share = self.take_all(&[Concept::Share]);
        let rank = self.rank_of_follow_up().or(order);
        self.take_all(&[Concept::Each]);
        let mut aggs: Vec<Agg> = Vec::new();
        for at in 0..self.marks.len() {
            if let Some(of) = super::measures::agg_of(self.word(at)) {
                self.take(at);
                aggs.extend(of);
            }
        }
        if self.take_all(&[Concept::HowMany]) {
            aggs.push(Agg::Count);
        }
        let mut place = None;
        if let Some(at) = self.open().find(|it| self.is_number_column(*it)) {
            let named = self.one(at, |it| it.kind.is_number())?;
            if self.is_calendar_number(named) {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            place = Some(named);
        }
        is_changed |= !groups.is_empty() || share || rank.is_some() || !aggs.is_empty();
        is_changed |= place.is_some() || over != Over::Plain;
        if !is_changed {
            return Err(Doubt::Unasked);
        }
        let over = if share && over == Over::Plain { Over::Share } else { over };
        let change = Change { groups, aggs, place, rank, over };
        // `same for cd`, where a share is of `premium`, is a share of the other, or with it.
        if matches!(last.what, What::Share { .. }) && self.said(Concept::WhatAbout) && is_flagged {
            return Err(Doubt::Unasked);
        }
        change.apply(&mut reading.what)?;
        self.can_be_computed(&reading.what)?;
        // What was drawn is drawn again, as far as it can be.
        if chart.is_none() && !reading.what.groups().is_empty() {
            reading.chart = last.chart;
        }
        self.take_all(&[Concept::By, Concept::Each, Concept::Sorted, Concept::List]);
        self.nothing_left()?;
        reading.notes = std::mem::take(&mut self.notes);
        let is_same_series = reading.what.groups() == last.what.groups();
        reading.may_be_months = self.may_be_months || last.may_be_months && is_same_series;
        Ok(reading)
    }

    fn rank_of_follow_up(&mut self) -> Option<Rank> {
        let at = self.open().find(|it| {
            matches!(
                self.meaning(*it),
                Some(Meaning::Word(
                    Concept::Most | Concept::Least | Concept::First | Concept::Last
                ))
            )
        })?;
        let is_ascending = matches!(self.word(at), Some(Concept::Least | Concept::Last));
        let n = self.amount_beside(at);
        self.take(at);
        Some(Rank { n: n.or(Some(1)), skip: 0, is_ascending })
    }
}

/// What a question changes of the one before.
struct Change {
    groups: Vec<Group>,
    aggs: Vec<Agg>,
    place: Option<Place>,
    rank: Option<Rank>,
    over: Over,
}

impl Change {
    /// Changes what is computed.
    ///
    /// # Errors
    ///
    /// Fails when that cannot be changed so.
    fn apply(self, what: &mut What) -> Result<(), Doubt> {
        let numbers_stay = self.aggs.is_empty() && self.place.is_none();
        match what {
            What::Aggregate { .. } => self.of_aggregate(what),
            What::Rows { .. } => self.of_rows(what),
            What::Share { groups, rank, .. } if numbers_stay => {
                if !self.groups.is_empty() {
                    *groups = self.groups;
                }
                *rank = self.rank.or(*rank);
                Ok(())
            }
            What::Correlation(_, groups) | What::Missing { groups, .. }
                if numbers_stay && self.rank.is_none() && self.over == Over::Plain =>
            {
                if !self.groups.is_empty() {
                    *groups = self.groups;
                }
                Ok(())
            }
            What::Distribution(of) if self.place.is_some() && self.is_only_place() => {
                *of = self.place.unwrap_or(*of);
                Ok(())
            }
            _ if numbers_stay && self.is_only_place() => Ok(()),
            _ => Err(Doubt::Unasked),
        }
    }

    fn is_only_place(&self) -> bool {
        self.groups.is_empty()
            && self.aggs.is_empty()
            && self.rank.is_none()
            && self.over == Over::Plain
    }

    fn of_aggregate(self, what: &mut What) -> Result<(), Doubt> {
        let What::Aggregate { measures, groups, rank, over, .. } = what else { return Ok(()) };
        if !self.groups.is_empty() {
            *groups = self.groups;
            if rank.is_some_and(|it| it.n == Some(1)) {
                *rank = None;
            }
        }
        if self.aggs == [Agg::Count] {
            // `how many of them had an accident`, where that is a number.
            if self.place.is_some() {
                return Err(Doubt::Unasked);
            }
            *measures = vec![Measure::ROWS];
        } else if !self.aggs.is_empty() || self.place.is_some() {
            let old = measures[0].clone();
            let of = self.place.or(old.of);
            if of.is_none() {
                return Err(Doubt::Unasked);
            }
            let aggs = if self.aggs.is_empty() { vec![old.agg] } else { self.aggs };
            // A count has no column; of one, the mean is meant.
            let usual = |agg| if agg == Agg::Count { Agg::Mean } else { agg };
            *measures = aggs.into_iter().map(|agg| Measure { agg: usual(agg), of }).collect();
            measures.dedup();
        }
        if (self.rank.is_some() || self.over != Over::Plain) && groups.is_empty() {
            return Err(Doubt::Unasked);
        }
        *rank = self.rank.or(*rank);
        if self.over != Over::Plain {
            *over = self.over;
        }
        Ok(())
    }

    fn of_rows(self, what: &mut What) -> Result<(), Doubt> {
        let What::Rows { rank, first, .. } = what else { return Ok(()) };
        let count = Measure::ROWS;
        let measures = match (&self.aggs[..], self.place) {
            ([], None) if !self.groups.is_empty() => vec![count],
            ([Agg::Count], None) => vec![count],
            ([], None) if self.rank.is_none() => return Ok(()),
            ([], place) if self.groups.is_empty() => {
                let by = place.or(rank.map(|it| it.0)).ok_or(Doubt::Unasked)?;
                *rank = Some((by, self.rank.ok_or(Doubt::Unasked)?));
                *first = None;
                return Ok(());
            }
            ([], _) | (_, None) => return Err(Doubt::Unasked),
            (aggs, of) => aggs.iter().map(|agg| Measure { agg: *agg, of }).collect(),
        };
        let groups = self.groups;
        *what = What::aggregate(measures, groups, None);
        Ok(())
    }
}

/// Adds a condition.
fn add_filter(reading: &mut Reading, filter: Filter) {
    // A group that has one value only says nothing.
    if let (What::Aggregate { groups, .. }, Test::In(values)) = (&mut reading.what, &filter.test)
        && values.len() == 1
        && 1 < groups.len()
    {
        groups.retain(|it| it.place() != filter.place);
    }
    reading.filters.push(filter);
}
