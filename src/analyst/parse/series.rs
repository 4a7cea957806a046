//! Numbers over time and side by side: what has changed, what runs over time, what is compared.

use super::{Doubt, Parser, Placed};
use crate::ground::{Meaning, Place};
use crate::lexicon::{Concept, Cue, TimeUnit};
use crate::reading::{Agg, Group, Measure, Over, Part, Shape, Test, What};
use crate::schema::Kind;

impl Parser<'_> {
    /// `how much did life expectancy rise between 1952 and 2007`: a number at both ends of a period.
    pub(super) fn change_between(
        &mut self,
        filters: &[Placed],
        groups: &[Group],
    ) -> Result<Option<What>, Doubt> {
        let asks = [Concept::Change, Concept::Growth, Concept::Difference];
        let is_series = self.has(&[Concept::PeriodChange, Concept::OverTime, Concept::Each]);
        let [span] = &self.spans[..] else { return Ok(None) };
        if !self.has(&asks) || is_series || !groups.is_empty() {
            return Ok(None);
        }
        let is_whole = filters.iter().filter(|it| span.whole.contains(&it.filter)).count();
        if is_whole != span.whole.len() {
            return Ok(None);
        }
        let span = span.clone();
        self.take_all(&asks);
        self.take_all(&[Concept::Share, Concept::Between, Concept::HowMany, Concept::Sum]);
        let unit = self.open().find(|it| matches!(self.meaning(*it), Some(Meaning::Unit(_))));
        let columns = self.open_columns();
        let measure = match self.aggregates()?.into_iter().next() {
            Some(measure) if measure.of.is_some() => measure,
            Some(_) => return Err(Doubt::Unasked),
            None => {
                let numbers: Vec<usize> =
                    columns.into_iter().filter(|it| self.is_number_column(*it)).collect();
                // `by how many years did it rise`: what is counted is the unit.
                let Some(at) = numbers.last().copied() else { return Err(Doubt::Unasked) };
                for it in numbers.iter().filter(|it| **it != at) {
                    let place = self.one(*it, |it| it.kind.is_number())?;
                    if !self.is_calendar_number(place) {
                        return Err(Doubt::Unplaced(vec![self.text(*it)]));
                    }
                }
                let place = self.one(at, |it| it.kind.is_number())?;
                self.usual(place)
            }
        };
        if let Some(unit) = unit {
            self.take(unit);
        }
        Ok(Some(What::Change { measure, span: span.whole, ends: span.ends, names: span.names }))
    }

    /// `average number of flights per day`, `daily revenue on average`: the mean over groups.
    pub(super) fn mean_of_groups(&mut self, groups: &[Group]) -> Result<Option<What>, Doubt> {
        let Some(mean) = self.first_word(&[Concept::Mean]) else { return Ok(None) };
        // `the average number of participants`, where that is a column.
        if self.word(mean + 1) == Some(Concept::HowMany) && self.is_number_column(mean + 2) {
            self.take(mean + 1);
        }
        if groups.is_empty() || self.has(&[Concept::Most, Concept::Least]) {
            return Ok(None);
        }
        // `the average number of visits per patient, by sex` has groups within groups.
        let groups_by = |it: &usize| self.says_group(*it);
        let is_nested = 1 < (0..self.marks.len()).filter(groups_by).count();
        let counts = self.word(mean + 1) == Some(Concept::HowMany);
        let is_time = groups.iter().all(|it| matches!(it, Group::Time(..)));
        let is_key = groups.iter().all(|it| {
            matches!(it, Group::By(place) if self.column(*place).words.last().is_some_and(|it| it == "id"))
        });
        // `daily` right behind, or the group told before.
        let is_unit = |it: usize| {
            self.used[it] && matches!(self.marks[it].meaning, Meaning::Unit(_) | Meaning::Column(_))
        };
        let is_adverb = mean + 1 < self.marks.len() && is_unit(mean + 1);
        let is_behind = (0..mean).any(is_unit);
        let number = self.open().find(|it| self.is_number_column(*it));
        let measure = if counts {
            if number.is_some() {
                return Ok(None);
            }
            if is_nested {
                return Err(Doubt::Unasked);
            }
            self.take_all(&[Concept::HowMany]);
            Measure::ROWS
        } else if let Some(at) = number
            && (is_time && (is_adverb || is_behind) || is_key)
        {
            let mut other = self.clone();
            let place = other.one(at, |it| it.kind.is_number())?;
            if other.usual(place).agg != Agg::Sum {
                return Ok(None);
            }
            self.take(at);
            Measure { agg: Agg::Sum, of: Some(place) }
        } else {
            return Ok(None);
        };
        self.take_all(&[Concept::Mean, Concept::Sum, Concept::Each, Concept::By]);
        let groups = groups.to_vec();
        Ok(Some(What::aggregate(vec![measure], groups, None).with_over(Over::Mean)))
    }

    /// Takes what is made of a series, and the time that it runs over.
    pub(super) fn over(&mut self, groups: &mut Vec<Group>) -> Over {
        let overs = [
            (Concept::Cumulative, Over::Cumulative),
            (Concept::Growth, Over::Growth),
            (Concept::PeriodChange, Over::Growth),
            (Concept::Change, Over::Change),
        ];
        let mut over = Over::Plain;
        let told = self.unit_of_phrase();
        let is_period = self.has(&[Concept::PeriodChange]);
        for (concept, kind) in overs {
            if self.take_all(&[concept]) && over == Over::Plain {
                over = kind;
            }
        }
        let runs = self.take_all(&[Concept::OverTime]) || over != Over::Plain;
        let has_time = groups
            .iter()
            .any(|it| !matches!(it, Group::By(_)) || self.is_calendar_number(it.place()));
        if runs && !has_time {
            let unit = match told {
                Some(unit) => unit,
                None if is_period => TimeUnit::Month,
                None => self.unit_of_trend(over == Over::Plain),
            };
            let is_of_unit = |it: &Place| self.column(*it).unit == told;
            let mut numbers = self.places().filter(|it| self.is_calendar_number(*it));
            let year = match told {
                Some(_) => numbers.find(is_of_unit),
                None => numbers.next(),
            };
            let group = match (self.calendar(), year) {
                (Some(place), _) => Some(Group::Time(place, unit)),
                (None, Some(place)) => Some(Group::By(place)),
                (None, None) => None,
            };
            self.may_be_months &= matches!(group, Some(Group::Time(..)));
            groups.splice(0..0, group);
        }
        over
    }

    /// Returns the unit in a phrase for a course of time: `over the years`, `month over month change`.
    fn unit_of_phrase(&self) -> Option<TimeUnit> {
        let at = self.first_word(&[Concept::OverTime, Concept::PeriodChange, Concept::Change])?;
        let mark = &self.marks[at];
        let words = &self.scene.tokens[mark.start..mark.end];
        words.iter().find_map(|it| self.scene.lexicon.unit(&it.stem))
    }

    /// Takes the unit of a series: days that may be months when nothing says so, and its points are wanted.
    fn unit_of_trend(&mut self, wants_points: bool) -> TimeUnit {
        let unit = self.open().find_map(|it| match self.meaning(it)? {
            Meaning::Unit(unit) => Some((it, *unit)),
            _ => None,
        });
        if let Some((at, unit)) = unit {
            self.take(at);
            return unit;
        }
        self.may_be_months = wants_points;
        if wants_points { TimeUnit::Day } else { TimeUnit::Month }
    }

    pub(super) fn is_calendar_number(&self, place: Place) -> bool {
        let column = self.column(place);
        column.kind == Kind::Whole && column.unit.is_some()
    }

    /// `compare A and B`: the two values are the groups.
    pub(super) fn compared_values(
        &mut self,
        filters: &[Placed],
        groups: &mut Vec<Group>,
        shape: Option<Shape>,
    ) {
        let is_comparison = self.take_all(&[Concept::Compare]) || self.said(Concept::Versus);
        let Some(several) = several(filters) else {
            if is_comparison && groups.is_empty() {
                groups.extend(compared_periods(filters));
            }
            return;
        };
        // `the median age of men and of women` is one of each.
        let has_figure = self
            .open()
            .any(|it| super::measures::agg_of(self.word(it)).is_some_and(|it| it != [Agg::Sum]));
        let are_both = self.are_both(several) && (has_figure || self.has(&[Concept::HowMany]));
        // `bar chart of life expectancy for Japan, Chad and Brazil` has one bar for each.
        let is_drawn = shape.is_some()
            && groups.is_empty()
            && matches!(self.open_columns()[..], [it] if self.is_number_column(it));
        let is_compared = is_comparison
            || are_both
            || self.are_apart(several)
            || is_drawn
            || self.has(&[Concept::Most, Concept::Least])
            || self.has(&[Concept::Which]) && self.open().any(|it| self.is_number_column(it));
        let place = several.filter.place;
        // `do Sonic or Subway items have more`: the items are rows.
        if is_compared && self.begins_yes_no() {
            for at in self.open_columns() {
                let follows = at.checked_sub(1).is_some_and(|it| self.is_value(it));
                if follows && !self.is_number_column(at) {
                    self.take(at);
                }
            }
        }
        if is_compared && groups.iter().all(|it| it.place() != place) {
            groups.push(Group::By(place));
        }
    }

    /// Returns the marks of the last two values of a condition, as they stand.
    fn last_values(&self, told: &Placed) -> Option<[usize; 2]> {
        let mut values = (told.at..self.marks.len()).rev().filter(|it| self.is_value(*it));
        let (last, before) = (values.next()?, values.next()?);
        Some([before, last])
    }

    /// Returns whether values of a condition are told with `and` between them, the last two.
    fn are_both(&self, told: &Placed) -> bool {
        let Some([before, last]) = self.last_values(told) else { return false };
        let between = &self.scene.tokens[self.marks[before].end..self.marks[last].start];
        between.iter().any(|it| self.scene.lexicon.is(Cue::Together, &it.lower))
    }

    /// Returns whether the last two values of a condition have a word for each of them: `of men and of women`.
    fn are_apart(&self, told: &Placed) -> bool {
        let Some([before, last]) = self.last_values(told) else { return false };
        let of = |it: usize| it.checked_sub(1).filter(|it| self.word_of(*it).is_some());
        of(last) != Some(before)
            && matches!((of(before), of(last)), (Some(one), Some(other)) if self.text(one) == self.text(other))
    }
}

/// Returns the condition that tells several values of a column: `in Norway, Kenya and Chad`.
pub(super) fn several(filters: &[Placed]) -> Option<&Placed> {
    filters.iter().find(|it| {
        matches!(&it.filter.test, Test::In(values) if 1 < values.len()) && !it.filter.is_negated
    })
}

/// `2012 vs 2015`: the periods are the groups.
fn compared_periods(filters: &[Placed]) -> Option<Group> {
    filters.iter().find_map(|it| match &it.filter.test {
        Test::OneOf(values) if 1 < values.len() => Some(Group::By(it.filter.place)),
        Test::Part(Part::Year, values) if 1 < values.len() => {
            Some(Group::Time(it.filter.place, TimeUnit::Year))
        }
        Test::Part(part @ (Part::Month | Part::Quarter), values) if 1 < values.len() => {
            Some(Group::Part(it.filter.place, *part))
        }
        _ => None,
    })
}
