//! What is counted, added up or averaged, and by what.

use super::{Doubt, Parser};
use crate::ground::{Meaning, Place};
use crate::lexicon::{Concept, Cue, TimeUnit};
use crate::reading::{Agg, Group, Measure, Part};
use crate::schema::Kind;

impl Parser<'_> {
    /// Takes the groups: `by cut and color`, `per month`, `in each region`, `monthly`.
    pub(super) fn groups(&mut self) -> Result<Vec<Group>, Doubt> {
        let mut groups = Vec::new();
        for at in 0..self.marks.len() {
            match self.word(at) {
                // `women per man` are as many times as many.
                Some(Concept::By | Concept::Each)
                    if self.is_value(at + 1) && self.says_each(at) =>
                {
                    return Err(Doubt::Unplaced(vec![self.text(at + 1)]));
                }
                Some(Concept::By) if !self.is_rank_by(at) && !self.is_ratio(at) => {
                    groups.extend(self.groups_by(at)?);
                }
                Some(Concept::Each) => groups.extend(self.group_of_each(at)?),
                _ => {}
            }
        }
        for at in 0..self.marks.len() {
            let is_adverb = matches!(self.meaning(at), Some(Meaning::Unit(_)))
                && (self.text(at).ends_with("ly") || self.text(at).eq_ignore_ascii_case("annual"));
            // `median daily value per page`: whether days are rows or sums is not said.
            let figure = at.checked_sub(1).map(|it| &self.marks[it].meaning);
            let is_of_figure = matches!(
                figure,
                Some(Meaning::Word(Concept::Median | Concept::Max | Concept::Min | Concept::Std))
            );
            // `the month with the highest average daily births`: what is averaged, nobody knows.
            let is_of_mean = figure == Some(&Meaning::Word(Concept::Mean)) && self.opens(Cue::Asks);
            if is_adverb && (is_of_figure && !groups.is_empty() || is_of_mean) {
                return Err(Doubt::Unasked);
            }
            if is_adverb && let Some(group) = self.group_at(at)? {
                groups.push(group);
            }
        }
        // `by weekday` is one phrase.
        for at in 0..self.marks.len() {
            let is_part =
                self.word(at).is_some_and(|it| part_of(it).is_some() && it != Concept::Weekday);
            if is_part && let Some(group) = self.group_at(at)? {
                groups.push(group);
            }
        }
        groups.dedup();
        // `monthly average by end date` takes the months of that date.
        if let [one, other] = groups[..] {
            for (named, told) in [(one, other), (other, one)] {
                if let Group::By(place) | Group::Time(place, TimeUnit::Day) = named
                    && let Group::Time(of, unit) = told
                    && place != of
                    && self.kind(place).is_time()
                {
                    groups = vec![Group::Time(place, unit)];
                }
            }
        }
        Ok(groups)
    }

    /// Returns whether a word for groups is one for each thing of a kind: `per`, `for each`.
    fn says_each(&self, at: usize) -> bool {
        let text = self.text(at).to_lowercase();
        let mut words = text.split(' ');
        let is_each = |it: &str| {
            self.scene.lexicon.is(Cue::Per, it)
                || self.scene.lexicon.phrase(&[it.to_owned()]) == Some(Concept::Each)
        };
        words.any(is_each)
    }

    /// Takes the group behind `each`, or what says that all are one.
    fn group_of_each(&mut self, at: usize) -> Result<Option<Group>, Doubt> {
        let next = at + 1;
        let of_all = self.is_of_all(at);
        let is_text = self.is_column(next) && !self.is_number_column(next);
        // `deaths of all causes per quarter` are those of no cause by itself.
        let groups = |it: usize| self.says_group(it);
        let is_one =
            self.said(Concept::Sum) || (0..self.marks.len()).any(|it| it != at && groups(it));
        let is_no_cause = of_all && is_text && is_one && !self.has(&[Concept::Share]);
        // `the mean over all years` is one number.
        let is_over_all = self.is_across(at) && self.is_column(next) && self.is_plural(next);
        // `the sum of all balances`
        let figure = at.checked_sub(1).and_then(|it| self.word_of(it));
        let is_of_figure = figure.is_some_and(super::is_figure) && self.is_number_column(next);
        if is_no_cause || is_of_figure || is_over_all {
            self.take(at);
            if !is_of_figure {
                self.take(next);
            }
            return Ok(None);
        }
        // `every applicant`, where their number is a column.
        let is_number = self.scene.lexicon.is(Cue::Every, &self.text(at))
            && self.is_number_column(next)
            && !self.choose(next, |_| true).iter().any(|it| self.is_calendar_number(*it));
        if is_number {
            return Err(Doubt::Unplaced(vec![self.text(next)]));
        }
        let group = if self.can_group(next) && !of_all { self.group_at(next)? } else { None };
        if group.is_some() {
            self.take(at);
        }
        Ok(group)
    }

    /// Takes the groups behind `by`.
    fn groups_by(&mut self, at: usize) -> Result<Vec<Group>, Doubt> {
        let mut groups = Vec::new();
        let mut next = at + 1;
        let has_other = || {
            let groups = |it: usize| self.says_group(it);
            (0..self.marks.len()).any(|it| it != at && groups(it))
        };
        // `the average across the areas` may be one number.
        let is_of_all = self.said(Concept::Mean) && self.is_column(next) && self.is_plural(next);
        if self.is_across(at) && (has_other() || is_of_all) {
            return Err(Doubt::Unplaced(vec![self.text(at)]));
        }
        // `seats held by others`
        if self.is_number_column(next) && self.is_agent(at) {
            return Err(Doubt::Unplaced(vec![self.text(next)]));
        }
        if self.is_noun(next) && self.is_agent(at) {
            self.take(at);
            self.take(next);
            return Ok(groups);
        }
        // Those among whom something is counted are some of the rows.
        if self.scene.lexicon.is(Cue::Among, &self.text(at)) && self.is_number_column(next) {
            return Err(Doubt::Unplaced(vec![self.text(next)]));
        }
        // `how many dramas per romance`, where both are yes or no
        let is_of_flag = (0..at).any(|it| self.is_flag(it));
        if self.says_each(at) && self.is_flag_column(next) && is_of_flag {
            return Err(Doubt::Unplaced(vec![self.text(next)]));
        }
        if self.is_doer(next) {
            return Err(Doubt::Unplaced(vec![self.text(next)]));
        }
        // `films by director Spielberg` says whose they are.
        if self.tells_whose(next) {
            self.take(at);
            self.take(next);
            return Ok(groups);
        }
        // `the biggest district by students` is not the largest number of a district, and the `top 3
        // seasons by viewers` are told in numbers that group nothing.
        if self.is_number_column(next) && (self.tells_extent(at) || self.tells_top(at)) {
            return Err(Doubt::Unplaced(vec![self.text(next)]));
        }
        while matches!(self.word(next), Some(Concept::Each | Concept::HowMany)) {
            self.take(next);
            next += 1;
        }
        // `revenue per order`, where each row is one.
        let is_of_row = self.is_row(next)
            && self.says_each(at)
            && self.open().any(|it| {
                agg_of(self.word(it)).is_some() || self.word(it) == Some(Concept::Quantile)
            });
        if is_of_row {
            self.take(at);
            self.take(next);
            return Ok(groups);
        }
        // `month by month`
        if let Some(before) = at.checked_sub(1)
            && matches!(self.meaning(before), Some(Meaning::Unit(_)))
            && self.meaning(before) == self.meaning(next)
        {
            self.take(before);
        }
        // `by school type` is by the type.
        if self.is_key_column(next) && self.is_column(next + 1) && self.touches_next(next) {
            self.take(next);
            next += 1;
        }
        while let Some(group) = self.group_at(next)? {
            groups.push(group);
            self.take(at);
            next += 1;
            let is_more = self.word(next) == Some(Concept::And)
                && self.can_group(next + 1)
                && !self.is_measured(next + 1);
            if !is_more {
                break;
            }
            self.take(next);
            next += 1;
        }
        Ok(groups)
    }

    /// `a share of all deaths` is one of a sum, and one of all items is one of rows.
    fn is_of_all(&self, at: usize) -> bool {
        self.scene.lexicon.is(Cue::All, &self.text(at))
            && at
                .checked_sub(1)
                .and_then(|it| self.word_of(it))
                .is_some_and(|it| matches!(it, Concept::Of | Concept::Share))
    }

    /// Returns whether a mark ends with a plural.
    pub(super) fn is_plural(&self, at: usize) -> bool {
        self.last_token(at).lower.ends_with('s')
    }

    /// `across series` is over all of them.
    fn is_across(&self, at: usize) -> bool {
        self.scene.lexicon.is(Cue::Across, &self.text(at))
    }

    /// `delivered by suppliers` says who did it.
    fn is_agent(&self, at: usize) -> bool {
        let before = self.marks[at].start.checked_sub(1).map(|it| &self.scene.tokens[it]);
        let is_left_out =
            at.checked_sub(1).is_none_or(|it| self.marks[it].end < self.marks[at].start);
        let lexicon = self.scene.lexicon;
        is_left_out
            && self.scene.lexicon.is(Cue::By, &self.text(at))
            && before.is_some_and(|it| lexicon.is_done(&it.lower))
    }

    /// Returns whether a column behind `by` is who did something: `owned by a society`.
    pub(super) fn is_doer(&self, column: usize) -> bool {
        let (Some(by), Some(mark)) = (column.checked_sub(1), self.marks.get(column)) else {
            return false;
        };
        let lexicon = self.scene.lexicon;
        let between = &self.scene.tokens[self.marks[by].end..mark.start];
        lexicon.is(Cue::By, &self.text(by))
            && between.iter().any(|it| lexicon.is(Cue::Articles, &it.lower))
    }

    /// Returns whether a column behind `by` is that of the value behind it, and nothing is made of groups.
    fn tells_whose(&self, at: usize) -> bool {
        let is_told = |it: usize| self.used.get(it) == Some(&true) && self.is_value(it);
        let is_ne = self.word_of(at + 1) == Some(Concept::Ne) && self.used[at + 1];
        let makes = self.marks.iter().any(|it| match it.meaning {
            Meaning::Word(it) => {
                super::is_figure(it)
                    || matches!(it, Concept::HowMany | Concept::Share | Concept::Distribution)
            }
            _ => false,
        });
        let is_text = !self.choose(at, |_| true).is_empty() && !self.is_number_column(at);
        is_text && !makes && (is_told(at + 1) || is_ne && is_told(at + 2))
    }

    /// Returns whether a superlative before a mark is about how large things are.
    fn tells_extent(&self, at: usize) -> bool {
        (0..at).any(|it| self.scene.lexicon.is(Cue::Extents, &self.text(it)))
    }

    /// Returns whether the largest few of a number stand before a mark: `top 3 seasons by`.
    fn tells_top(&self, at: usize) -> bool {
        let [Some(most), Some(amount), Some(thing)] = [3, 2, 1].map(|it| at.checked_sub(it)) else {
            return false;
        };
        matches!(self.word(most), Some(Concept::Most | Concept::Least))
            && matches!(self.meaning(amount), Some(Meaning::Number(_)))
            && self.is_number_column(thing)
    }

    /// Returns whether a noun is what a row is, and not a thing that has its own key.
    fn is_row(&self, at: usize) -> bool {
        if !self.is_noun(at)
            || matches!(self.meaning(at), Some(Meaning::Table(table)) if *table == 1)
        {
            return false;
        }
        let stem = &self.last_token(at).stem;
        if self.scene.tables.iter().any(|it| it.words.contains(stem)) {
            return false;
        }
        let is_its_key = |it: Place| self.column(it).words.contains(stem) && self.column(it).is_key;
        !self.places().any(is_its_key)
    }

    /// Returns whether a column is what an aggregate before it is taken of.
    fn is_measured(&self, at: usize) -> bool {
        self.is_number_column(at)
            && self.choose(at, |_| true).iter().all(|it| self.kind(*it) == Kind::Real)
    }

    /// `price per square foot`: one number by another, for which nothing else says what to make of it.
    pub(super) fn is_ratio(&self, at: usize) -> bool {
        let is_amount = |it: usize| {
            let places = self.choose(it, |it| it.kind.is_number());
            self.is_number_column(it) && !places.iter().any(|it| self.is_calendar_number(*it))
        };
        let adds = |it: Place| self.scene.lexicon.is_additive(&self.column(it).words) == Some(true);
        let by_amount = self.choose(at + 1, |it| it.kind.is_number()).iter().all(|it| adds(*it));
        let is_agg = |it: usize| match self.word(it) {
            Some(Concept::Mean) => !by_amount,
            concept => agg_of(concept).is_some(),
        };
        self.scene.lexicon.is(Cue::Per, &self.text(at))
            && !self.open().any(is_agg)
            && !self.has(&[Concept::HowMany, Concept::Share, Concept::Quantile])
            && at.checked_sub(1).is_some_and(is_amount)
            && is_amount(at + 1)
    }

    /// `by revenue` behind `top 5` is no group.
    fn is_rank_by(&self, at: usize) -> bool {
        let ranks = [Concept::Most, Concept::Least, Concept::First, Concept::Last, Concept::Sorted];
        let is_ranked = (0..at).any(|it| {
            self.word(it).is_some_and(|it| ranks.contains(&it))
                || matches!(self.meaning(it), Some(Meaning::Adjective { is_superlative: true, .. }))
        });
        let has_target = (0..at).any(|it| self.is_number_column(it))
            || (0..at).any(|it| agg_of(self.word(it)).is_some());
        let is_number = self.is_number_column(at + 1)
            || agg_of(self.word(at + 1)).is_some()
            || self.word(at + 1) == Some(Concept::HowMany);
        is_ranked && is_number && !has_target
    }

    pub(super) fn can_group(&self, at: usize) -> bool {
        match self.meaning(at) {
            Some(Meaning::Column(_) | Meaning::Unit(_)) => true,
            Some(Meaning::Table(table)) => *table == 1,
            Some(Meaning::Word(concept)) => part_of(*concept).is_some(),
            _ => false,
        }
    }

    /// Returns the date beside a column of texts for days: days may be those of the week, or of the calendar.
    pub(super) fn other_day(&self, place: Place) -> Option<Place> {
        let column = self.column(place);
        let is_day = column.words.len() == 1 && column.unit == Some(TimeUnit::Day);
        let date = self.calendar().filter(|it| *it != place);
        date.filter(|_| is_day && column.kind == Kind::Text)
    }

    /// Returns the column of texts for the days of the week: `wday`.
    fn weekday_column(&self) -> Option<Place> {
        self.places().find(|it| {
            let column = self.column(*it);
            let phrase = self.scene.lexicon.phrase(&column.words);
            column.kind == Kind::Text
                && matches!(phrase, Some(Concept::DayOfWeek | Concept::Weekday))
        })
    }

    /// Takes the group that a mark names.
    pub(super) fn group_at(&mut self, at: usize) -> Result<Option<Group>, Doubt> {
        let group = match self.meaning(at) {
            Some(Meaning::Column(_)) => {
                let place = self.one(at, |it| !it.kind.is_number())?;
                if let Some(date) = self.other_day(place) {
                    return Err(self.ambiguous(at, &[place, date]));
                }
                let is_hour = self.kind(place) == Kind::Moment;
                return Ok(Some(if is_hour {
                    Group::Time(place, TimeUnit::Day)
                } else {
                    Group::By(place)
                }));
            }
            Some(Meaning::Table(table)) if *table == 1 => {
                // A table that is joined is told by its names, unless a column of it is named.
                let of = *table;
                let is_of_it = |it: &Place| it.table == of;
                let named = self.choose(at + 1, |_| true);
                if let [place] = named.into_iter().filter(is_of_it).collect::<Vec<_>>()[..]
                    && !self.kind(place).is_number()
                {
                    self.take(at);
                    self.take(at + 1);
                    return Ok(Some(Group::By(place)));
                }
                // By the group of `country_groups`, where that is a column.
                let last = self.scene.tables[of].words.last();
                let own = self.places().find(|it| {
                    let words = &self.column(*it).words;
                    it.table == of && words.len() == 1 && words.last() == last
                });
                let label = own.or_else(|| {
                    self.places().find(|it| it.table == of && self.column(*it).words == ["name"])
                });
                let text = self.places().find(|it| {
                    let column = self.column(*it);
                    it.table == of
                        && column.kind == Kind::Text
                        && !column.words.iter().any(|it| it == "id" || it == "code")
                });
                match label.or(text) {
                    Some(place) => Group::By(place),
                    None => return Ok(None),
                }
            }
            Some(Meaning::Unit(unit)) => {
                let unit = *unit;
                // `by year of ship date`
                let named = self.choose(at + 2, |it| it.kind.is_time());
                if self.word(at + 1) == Some(Concept::Of)
                    && let [place] = named[..]
                    && self.kind(place).is_time()
                    && (unit != TimeUnit::Hour || self.kind(place) != Kind::Day)
                {
                    (at..at + 3).for_each(|it| self.take(it));
                    return Ok(Some(Group::Time(place, unit)));
                }
                let clock = self.places().find(|it| self.kind(*it) == Kind::Clock);
                let has_hours = self.calendar().is_some_and(|it| self.kind(it) != Kind::Day);
                if unit == TimeUnit::Hour && !has_hours {
                    let Some(clock) = clock else { return Ok(None) };
                    self.take(at);
                    return Ok(Some(Group::Part(clock, Part::Hour)));
                }
                if self.calendar().is_none() {
                    let of_unit = self.all_counted_in(unit);
                    if 1 < of_unit.len() {
                        return Err(self.ambiguous(at, &of_unit));
                    }
                }
                match (self.calendar(), self.counted_in(unit)) {
                    (Some(born), Some(place)) if self.is_birth(born) => Group::By(place),
                    (Some(place), _) => Group::Time(place, unit),
                    (None, Some(place)) => Group::By(place),
                    (None, None) => return Ok(None),
                }
            }
            // Days of the week that a column has are called as it calls them.
            Some(Meaning::Word(concept))
                if part_of(*concept) == Some(Part::Weekday)
                    && let Some(place) = self.weekday_column() =>
            {
                Group::By(place)
            }
            Some(Meaning::Word(concept)) => match (part_of(*concept), self.calendar()) {
                (Some(Part::Hour), place) if place.is_none_or(|it| self.kind(it) == Kind::Day) => {
                    match self.places().find(|it| self.kind(*it) == Kind::Clock) {
                        Some(clock) => Group::Part(clock, Part::Hour),
                        None => return Ok(None),
                    }
                }
                (Some(part), Some(place)) => Group::Part(place, part),
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        self.take(at);
        Ok(Some(group))
    }

    /// Takes aggregates with the columns they are of: `min and max price`, `average of x and y`.
    pub(super) fn aggregates(&mut self) -> Result<Vec<Measure>, Doubt> {
        let mut pending: Vec<Agg> = Vec::new();
        let mut has_columns = false;
        let mut found: Vec<Measure> = Vec::new();
        for at in 0..self.marks.len() {
            let quantile = self.quantile_at(at);
            if let Some(aggs) = quantile.or_else(|| agg_of(self.word(at))) {
                // `the sum of the minimum prices` makes one number of others.
                if at.checked_sub(1).and_then(|it| self.word_of(it)).is_some_and(super::is_figure) {
                    return Err(Doubt::Unasked);
                }
                if has_columns {
                    pending.clear();
                }
                has_columns = false;
                // `the range of x: minimum and maximum` says it twice.
                let is_found = |agg: &Agg| found.iter().any(|it| it.agg == *agg);
                let is_said = 1 < aggs.len() && aggs.iter().all(is_found);
                if !is_said {
                    pending.extend(aggs);
                }
                self.take(at);
            } else if self.is_column(at) && !pending.is_empty() {
                let is_group = at.checked_sub(1).and_then(|it| self.word(it)) == Some(Concept::By);
                if is_group {
                    continue;
                }
                let counts = pending.iter().all(|it| matches!(it, Agg::Count | Agg::Distinct));
                let places = self.choose(at, |it| counts || it.kind.is_number());
                let fit = places.iter().all(|it| {
                    counts
                        || self.kind(*it).is_number()
                        || self.kind(*it).is_time()
                        || self.kind(*it) == Kind::Bool
                });
                let key = self.key_and_label(&places).map(|it| it.0).filter(|_| counts);
                let places = key.map_or(places, |it| vec![it]);
                if !fit || has_columns && !self.is_joined(at) {
                    continue;
                }
                self.take(at);
                // Names that fit equally well are all meant, as far as that can be read.
                if 3 < places.len() || counts && 1 < places.len() {
                    return Err(self.ambiguous(at, &places));
                }
                for place in places {
                    let made = pending.iter().map(|agg| Measure { agg: *agg, of: Some(place) });
                    let new: Vec<Measure> = made.filter(|it| !found.contains(it)).collect();
                    found.extend(new);
                }
                has_columns = true;
            }
        }
        // `the spread of price, std` says by which number.
        if found.iter().any(|it| matches!(it.agg, Agg::Std | Agg::Var | Agg::Iqr))
            || pending.iter().any(|it| matches!(it, Agg::Std | Agg::Var | Agg::Iqr))
        {
            let is_end = |it: &Agg| matches!(it, Agg::Min | Agg::Max);
            let of_ends = found.iter().filter(|it| is_end(&it.agg)).count();
            if of_ends == 2 && self.said(Concept::Spread) {
                let of = found.iter().find_map(|it| it.of);
                found.retain(|it| !is_end(&it.agg));
                found.extend(pending.drain(..).map(|agg| Measure { agg, of }));
                return Ok(found);
            }
        }
        if !has_columns {
            found.extend(pending.into_iter().map(|agg| Measure { agg, of: None }));
        }
        Ok(found)
    }

    /// Returns whether a column goes on a list of columns: `price and carat`.
    fn is_joined(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|it| {
            matches!(self.marks[it].meaning, Meaning::Word(Concept::And | Concept::Versus))
        })
    }

    /// Takes `90th percentile`, `percentile 90`, `0.9 quantile`.
    fn quantile_at(&mut self, at: usize) -> Option<Vec<Agg>> {
        if self.word(at) != Some(Concept::Quantile) {
            let text =
                self.meaning(at).filter(|it| **it == Meaning::Unknown).map(|_| self.text(at))?;
            let percent: f64 = text.to_lowercase().strip_prefix('p')?.parse().ok()?;
            return (0.0..=100.0).contains(&percent).then(|| vec![Agg::Quantile(percent / 100.0)]);
        }
        let in_quarters = self.scene.lexicon.is(Cue::Quarters, &self.text(at));
        let share_at = |it: usize| {
            let value = match self.meaning(it)? {
                Meaning::Ordinal(place) if in_quarters => 25.0 * f64::from(*place),
                Meaning::Word(Concept::First) if in_quarters => 25.0,
                Meaning::Number(value) if in_quarters => 25.0 * *value,
                Meaning::Ordinal(place) => f64::from(*place),
                Meaning::Number(value) => *value,
                _ => return None,
            };
            let share = if value <= 1.0 && value.fract() != 0.0 { value } else { value / 100.0 };
            Some(share).filter(|it| (0.0..=1.0).contains(it))
        };
        // `10th, 50th and 90th percentile`
        let mut taken = Vec::new();
        let mut before = at;
        while let Some(it) = before.checked_sub(1) {
            match share_at(it) {
                Some(share) => taken.push((it, Some(share))),
                None if self.word(it) == Some(Concept::And) && !taken.is_empty() => {
                    taken.push((it, None));
                }
                None => break,
            }
            before = it;
        }
        taken.reverse();
        if taken.is_empty() {
            let behind =
                [at + 1, at + 2].into_iter().find_map(|it| Some((it, Some(share_at(it)?))));
            taken.extend(behind);
        }
        for (at, _) in &taken {
            self.take(*at);
        }
        let shares: Vec<Agg> = taken.into_iter().filter_map(|it| it.1).map(Agg::Quantile).collect();
        (!shares.is_empty()).then_some(shares)
    }

    /// Returns what a number of a column is when nothing says, and notes the other.
    pub(super) fn usual(&mut self, place: Place) -> Measure {
        let agg = self.usual_agg(place);
        let read = match agg {
            Agg::Sum => Some(("total", "average")),
            Agg::Mean => Some(("average", "total")),
            _ => None,
        };
        if let Some((read, other)) = read {
            let name = &self.column(place).name;
            self.notes.push(format!(
                "The question does not say how to combine the values of `{name}`. I took the {read}, \
                 not the {other}."
            ));
        }
        Measure { agg, of: Some(place) }
    }

    /// Returns what is usually made of a column: a total where values add up, else a mean.
    pub(super) fn usual_agg(&self, place: Place) -> Agg {
        let column = self.column(place);
        // `revenue` adds up, though the column that it is may be called `price`.
        let lexicon = self.scene.lexicon;
        let said: Vec<String> = self
            .marks
            .iter()
            .filter(|it| matches!(&it.meaning, Meaning::Column(places) if places.contains(&place)))
            .flat_map(|it| self.scene.tokens[it.start..it.end].iter().map(|it| it.stem.clone()))
            .collect();
        let end = said.iter().find_map(|it| match lexicon.phrase(std::slice::from_ref(it))? {
            Concept::Max => Some(Agg::Max),
            Concept::Min => Some(Agg::Min),
            _ => None,
        });
        if let Some(agg) = end {
            return agg;
        }
        let is_additive = lexicon.is_additive(&said).or_else(|| lexicon.is_additive(&column.words));
        match is_additive {
            Some(true) => Agg::Sum,
            // What runs adds up.
            _ if self.said(Concept::Cumulative) => Agg::Sum,
            _ => Agg::Mean,
        }
    }
}

/// Returns the part of a date that a concept names.
pub(super) fn part_of(concept: Concept) -> Option<Part> {
    Some(match concept {
        Concept::DayOfWeek | Concept::Weekday => Part::Weekday,
        Concept::MonthOfYear => Part::Month,
        Concept::HourOfDay => Part::Hour,
        Concept::DayOfMonth => Part::Day,
        _ => return None,
    })
}

/// Returns how a concept makes one of many values.
pub(super) fn agg_of(concept: Option<Concept>) -> Option<Vec<Agg>> {
    Some(match concept? {
        Concept::Distinct => vec![Agg::Distinct],
        Concept::Sum => vec![Agg::Sum],
        Concept::Max => vec![Agg::Max],
        Concept::Min => vec![Agg::Min],
        Concept::Mean => vec![Agg::Mean],
        Concept::Median => vec![Agg::Median],
        Concept::Std => vec![Agg::Std],
        Concept::Var => vec![Agg::Var],
        Concept::Spread => vec![Agg::Min, Agg::Max],
        Concept::Iqr => vec![Agg::Iqr],
        Concept::Quartiles => vec![Agg::Quantile(0.25), Agg::Quantile(0.5), Agg::Quantile(0.75)],
        _ => return None,
    })
}
