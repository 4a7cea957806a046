//! What is asked: the kind of answer, out of what the conditions have left.

use super::{Doubt, Parser, Placed};
use crate::ground::Place;
use crate::lexicon::{Concept, Cue};
use crate::reading::{Agg, Filter, Group, Measure, Over, Rank, Shape, Test, What};

impl Parser<'_> {
    /// Finds out what is asked.
    pub(super) fn intent(
        &mut self,
        filters: &[Placed],
        shape: Option<Shape>,
    ) -> Result<What, Doubt> {
        if let Some(what) = self.check(filters)? {
            return Ok(what);
        }
        if let Some(what) = self.two_numbers(shape)? {
            return Ok(what);
        }
        if let Some(what) = self.about_data(filters)? {
            return Ok(what);
        }
        let mut groups = self.groups()?;
        if let Some(what) = self.change_between(filters, &groups)? {
            return Ok(what);
        }
        if let Some(what) = self.relation(filters, &groups)? {
            return Ok(what);
        }
        if let Some(what) = self.ratio(filters, &groups)? {
            return Ok(what);
        }
        if let Some(what) = self.share(filters, &groups)? {
            return Ok(what);
        }
        if let Some(what) = self.difference(filters)? {
            return Ok(what);
        }
        if let Some(what) = self.mean_of_groups(&groups)? {
            return Ok(what);
        }
        let over = self.over(&mut groups);
        self.compared_values(filters, &mut groups, shape);
        if let Some(what) = self.ranked(&groups)? {
            return Ok(what.with_over(over));
        }
        let sorted = self.sorting();
        let measures = self.aggregates()?;
        let what = self.plain(filters, measures, groups, sorted, shape)?;
        Ok(what.with_over(over))
    }

    /// `price vs carat`, `scatter plot of price by carat`: two numbers of each row.
    fn two_numbers(&mut self, shape: Option<Shape>) -> Result<Option<What>, Doubt> {
        let columns = self.open_columns();
        let [x, y] = columns[..] else { return Ok(None) };
        let versus =
            self.open().any(|it| x < it && it < y && self.word(it) == Some(Concept::Versus));
        let is_plain = !self.open().any(|it| {
            super::measures::agg_of(self.word(it)).is_some()
                || matches!(
                    self.word(it),
                    Some(
                        Concept::HowMany
                            | Concept::Share
                            | Concept::Correlation
                            | Concept::Difference
                            | Concept::Compare
                            | Concept::Ratio
                            | Concept::AsShare
                            | Concept::Most
                            | Concept::Least
                    )
                )
        });
        let are_numbers = [x, y].iter().all(|it| self.is_number_column(*it));
        let is_asked = shape == Some(Shape::Scatter) || versus && shape.is_some();
        if !is_asked || !is_plain || !are_numbers {
            return Ok(None);
        }
        let x = self.one(x, |it| it.kind.is_number())?;
        let y = self.one(y, |it| it.kind.is_number())?;
        self.take_all(&[Concept::Versus, Concept::By, Concept::And, Concept::Between]);
        Ok(Some(What::Rows { columns: vec![x, y], rank: None, first: None }))
    }

    /// Correlations and distributions.
    fn relation(&mut self, filters: &[Placed], groups: &[Group]) -> Result<Option<What>, Doubt> {
        if self.take_all(&[Concept::Correlation]) {
            let columns = self.open_columns();
            let mut places = self.all(&columns, |it| it.kind.is_number())?;
            // `of the school's intake with the score`: a key is no number.
            if 2 < places.len() {
                places.retain(|it| !self.column(*it).is_key);
            }
            // `riot-related victims` asks for no correlation.
            let is_of_some = places.is_empty() && !filters.is_empty();
            if is_of_some || places.iter().any(|it| !self.kind(*it).is_number()) {
                return Err(Doubt::Unasked);
            }
            self.take_all(&[Concept::Between]);
            // Which of several goes best with another is one of them.
            if self.take_all(&[Concept::Most]) && 1 < places.len() {
                return Err(Doubt::Unasked);
            }
            return Ok(Some(What::Correlation(places, groups.to_vec())));
        }
        if self.has(&[Concept::Distribution]) {
            self.take_all(&[Concept::Distribution, Concept::HowMany]);
            let Some(at) = self.open().find(|it| self.is_column(*it)) else {
                return match groups {
                    [] => Err(Doubt::Unasked),
                    groups => Ok(Some(What::counts(groups.to_vec()))),
                };
            };
            let place = self.one(at, |_| true)?;
            let spreads = self.kind(place).is_number() && groups.is_empty();
            if spreads {
                return Ok(Some(What::Distribution(place)));
            }
            let mut all = vec![Group::By(place)];
            all.extend(groups.iter().copied());
            if self.kind(place).is_number() {
                return Err(Doubt::Unasked);
            }
            return Ok(Some(What::counts(all)));
        }
        Ok(None)
    }

    /// `ratio of tip to total bill`, `construction as a percentage of goods_producing`.
    pub(super) fn ratio(
        &mut self,
        filters: &[Placed],
        groups: &[Group],
    ) -> Result<Option<What>, Doubt> {
        let numbers: Vec<usize> = self.open().filter(|it| self.is_number_column(*it)).collect();
        let is_percent = self.has(&[Concept::AsShare]) || !self.has(&[Concept::Ratio]);
        let per = self.open().find(|it| self.word(*it) == Some(Concept::By) && self.is_ratio(*it));
        let is_percent = is_percent && per.is_none();
        let is_asked = self.has(&[Concept::AsShare, Concept::Ratio])
            || per.is_some()
            || numbers.len() == 2 && self.has(&[Concept::Share]) && self.has(&[Concept::Of]);
        let [part, whole] = numbers[..] else { return Ok(None) };
        if !is_asked {
            return Ok(None);
        }
        // `what share of the seats did women have` tells the whole first, and not every verb does.
        let between = self.marks[part].end..self.marks[whole].start;
        let between = self.scene.tokens[between].iter().map(|it| it.lower.as_str());
        let is_told = |cue: Cue| between.clone().any(|it| self.scene.lexicon.is(cue, it));
        let has_verb = [Cue::YesNo, Cue::Asks, Cue::Pointers].into_iter().any(is_told);
        if self.has(&[Concept::Share]) && has_verb {
            return Err(Doubt::Unasked);
        }
        let part = self.one(part, |it| it.kind.is_number())?;
        let whole = self.one(whole, |it| it.kind.is_number())?;
        // Means of numbers that are not always there are of different rows.
        let is_missing = |it: Place| 0 < self.column(it).n_missing;
        if self.has(&[Concept::Mean]) && (is_missing(part) || is_missing(whole)) {
            return Err(Doubt::Unasked);
        }
        if let Some(per) = per {
            self.take(per);
        }
        self.take_all(&[
            Concept::AsShare,
            Concept::Ratio,
            Concept::Share,
            Concept::Mean,
            Concept::Between,
        ]);
        let mut groups = groups.to_vec();
        if let (Some(told), true) = (super::series::several(filters), groups.is_empty()) {
            groups.push(Group::By(told.filter.place));
        }
        Ok(Some(What::Ratio { part, whole, is_percent, groups }))
    }

    /// `what percentage of passengers survived`, `share of revenue by region`.
    pub(super) fn share(
        &mut self,
        filters: &[Placed],
        groups: &[Group],
    ) -> Result<Option<What>, Doubt> {
        let Some(at) = self.first_word(&[Concept::Share]) else { return Ok(None) };
        // `sharecroppers (status share)` explains a word, and a `poverty rate` is no share of what is called
        // poverty.
        let is_rate = self.scene.lexicon.is(Cue::Rates, &self.text(at))
            && at.checked_sub(1).is_some_and(|it| self.is_text_column(it) && self.touches_next(it));
        if is_rate || self.scene.tokens[self.marks[at].start].is_aside {
            return Err(Doubt::Unasked);
        }
        self.take(at);
        self.take_all(&[Concept::Share, Concept::HowMany, Concept::Sum]);
        let mut groups = groups.to_vec();
        self.take_counted(at, filters);
        let number = self.open().find(|it| self.is_number_column(*it) && !self.is_key_column(*it));
        // `what percent of girls are low weight` is no share of weights.
        if number.is_some_and(|it| filters.iter().any(|filter| at < filter.at && filter.at < it))
            && groups.is_empty()
        {
            return Err(Doubt::Unasked);
        }
        let of = number.map(|it| self.one(it, |it| it.kind.is_number())).transpose()?;
        if let Some(what) = self.share_among(filters, &groups, of)? {
            return Ok(Some(what));
        }
        if let Some(part) = self.part_behind(at, filters, &groups)? {
            return Ok(Some(What::Share { part, groups, of, rank: None }));
        }
        let rank = match self.first_word(&[Concept::Most, Concept::Least]) {
            Some(word) => {
                let is_ascending = self.word(word) == Some(Concept::Least);
                self.take(word);
                Some(Rank { n: Some(1), skip: 0, is_ascending })
            }
            None => None,
        };
        let entity = self.open_columns();
        if let Some(part) = self.part_with(&entity, filters, &groups)? {
            return Ok(Some(What::Share { part, groups, of, rank: None }));
        }
        for column in entity {
            // `what share of sales was in towns with a harbour`: of the towns nobody asks.
            let has_clause = filters.iter().any(|it| column < it.at)
                && self.follows(column, Cue::Inside)
                && !self.is_value(column + 1);
            if has_clause {
                return Err(Doubt::Unplaced(vec![self.text(column)]));
            }
            // `what share involved an associate`
            let article = self.word_before(column);
            if article.is_some_and(|it| self.scene.lexicon.is(Cue::Articles, it)) {
                return Err(Doubt::Unplaced(vec![self.text(column)]));
            }
            let before = column.checked_sub(1).and_then(|it| self.word_of(it));
            let is_group = matches!(
                before,
                Some(Concept::By | Concept::Each | Concept::And | Concept::Which | Concept::Versus)
            );
            // `what share of the breaches involved a partner`
            let is_told = is_group
                || before
                    .is_none_or(|it| matches!(it, Concept::Of | Concept::Share | Concept::Sorted));
            if !is_told {
                return Err(Doubt::Unplaced(vec![self.text(column)]));
            }
            // `what share of smokers had a premie` asks for no groups.
            // `percent of members by party` is one of rows, or of members.
            let has_other = filters.iter().any(|it| it.at < column) || !groups.is_empty();
            if !is_group && has_other {
                return Err(Doubt::Unplaced(vec![self.text(column)]));
            }
            groups.push(Group::By(self.one(column, |_| true)?));
        }
        // Of a number, groups are the parts; a period is never one.
        let is_period = |it: &Placed| {
            matches!(it.filter.test, Test::Part(..) | Test::Last(..))
                || self.is_calendar_number(it.filter.place)
        };
        let parts_are_groups =
            !groups.is_empty() && (of.is_some() || filters.iter().all(is_period));
        // The values of a column that the question also groups by are the parts.
        if parts_are_groups
            || filters.is_empty()
            || !groups.is_empty() && filters.iter().all(|it| it.at < at && !it.is_predicate)
        {
            if groups.is_empty() {
                return Err(Doubt::Unasked);
            }
            let agg = if of.is_some() { Agg::Sum } else { Agg::Count };
            let measures = vec![Measure { agg, of }];
            let over = Over::Share;
            return Ok(Some(What::Aggregate { measures, groups, rank, over, having: None }));
        }
        let mut part = self.part_of_several(at, filters);
        // Of conditions on several columns, nothing says which is the part.
        let is_one = filters.windows(2).all(|it| it[0].filter.place == it[1].filter.place);
        if part.is_empty() && !is_one && groups.is_empty() {
            return Err(Doubt::Unasked);
        }
        if part.is_empty() {
            // Two bounds of one column are one condition.
            let last = filters.iter().max_by_key(|it| it.at);
            let place = last.map(|it| it.filter.place);
            part = filters
                .iter()
                .map(|it| &it.filter)
                .filter(|it| Some(it.place) == place)
                .cloned()
                .collect();
        }
        // Of one share, none is the largest.
        if rank.is_some() && groups.is_empty() {
            return Err(Doubt::Unasked);
        }
        Ok(Some(What::Share { part, groups, of, rank }))
    }

    /// `share of rows with a note`: what has one is the part.
    fn part_with(
        &mut self,
        columns: &[usize],
        filters: &[Placed],
        groups: &[Group],
    ) -> Result<Option<Vec<Filter>>, Doubt> {
        let [column] = *columns else { return Ok(None) };
        if !self.follows(column, Cue::WithA) || !filters.is_empty() || !groups.is_empty() {
            return Ok(None);
        }
        let place = self.one(column, |_| true)?;
        Ok(Some(vec![Filter { place, test: Test::Missing, is_negated: true }]))
    }

    /// Returns which of several conditions are the part of a share: of `of the female passengers`, what stands
    /// before the noun is the whole, and what follows is the part.
    fn part_of_several(&self, at: usize, filters: &[Placed]) -> Vec<Filter> {
        if filters.len() < 2 {
            return Vec::new();
        }
        let noun = self.open().find(|it| self.is_noun(*it) && at < *it);
        let split = noun.filter(|noun| {
            filters.iter().any(|it| it.at < *noun) && filters.iter().any(|it| *noun < it.at)
        });
        if let Some(noun) = split {
            return filters.iter().filter(|it| noun < it.at).map(|it| it.filter.clone()).collect();
        }
        let predicates = filters.iter().filter(|it| it.is_predicate);
        let predicates: Vec<Filter> = predicates.map(|it| it.filter.clone()).collect();
        // What is said last is the part.
        let last_of = |is_predicate: bool| {
            filters.iter().filter(|it| it.is_predicate == is_predicate).map(|it| it.at).max()
        };
        let is_last = last_of(false) < last_of(true);
        let is_one = predicates.windows(2).all(|it| it[0].place == it[1].place);
        if is_last && is_one && predicates.len() < filters.len() { predicates } else { Vec::new() }
    }

    /// `among those who took part, the share of winners`: the whole comes first.
    fn part_behind(
        &self,
        at: usize,
        filters: &[Placed],
        groups: &[Group],
    ) -> Result<Option<Vec<Filter>>, Doubt> {
        let lexicon = self.scene.lexicon;
        let is_led = self.scene.tokens.first().is_some_and(|it| lexicon.is(Cue::Of, &it.lower));
        if !is_led || !groups.is_empty() || filters.iter().all(|it| at < it.at) {
            return Ok(None);
        }
        let behind = filters.iter().filter(|it| at < it.at);
        let part: Vec<Filter> = behind.map(|it| it.filter.clone()).collect();
        if part.is_empty() { Err(Doubt::Unasked) } else { Ok(Some(part)) }
    }

    /// Takes the column that stands for rows behind a share: the items of `share of items over 500 calories`.
    fn take_counted(&mut self, at: usize, filters: &[Placed]) {
        let mut next = at + 1;
        while matches!(self.word(next), Some(Concept::Of | Concept::Each)) {
            // `what percent had low weight` says who.
            if self.word(next) == Some(Concept::Of)
                && !self.scene.lexicon.is(Cue::Of, &self.text(next))
            {
                return;
            }
            next += 1;
        }
        let places = self.choose(next, |_| true);
        let stands_for_row = |it: &Place| {
            let is_other = !self.kind(*it).is_number() || self.column(*it).is_key;
            self.is_calendar_number(*it) || is_other && !filters.is_empty()
        };
        let is_by = (0..self.marks.len()).any(|it| self.word_of(it) == Some(Concept::By));
        if !places.is_empty() && !is_by && places.iter().all(stands_for_row) {
            self.take(next);
        }
    }

    /// `share of women among smokers`: what follows is the whole.
    fn share_among(
        &mut self,
        filters: &[Placed],
        groups: &[Group],
        of: Option<Place>,
    ) -> Result<Option<What>, Doubt> {
        let lexicon = self.scene.lexicon;
        let among = (0..self.marks.len()).find(|it| lexicon.is(Cue::Among, &self.text(*it)));
        let Some(among) = among else { return Ok(None) };
        let is_part = |it: &&Placed| it.at < among;
        let part: Vec<Filter> =
            filters.iter().filter(is_part).map(|it| it.filter.clone()).collect();
        if !groups.is_empty() || part.is_empty() || part.len() == filters.len() {
            return Err(Doubt::Unasked);
        }
        self.take(among);
        Ok(Some(What::Share { part, groups: Vec::new(), of, rank: None }))
    }

    /// `difference in mass between Adelie and Gentoo`.
    pub(super) fn difference(&mut self, filters: &[Placed]) -> Result<Option<What>, Doubt> {
        if !self.has(&[Concept::Difference]) {
            return Ok(None);
        }
        let pair = filters.iter().find_map(|it| match &it.filter.test {
            Test::In(values) if values.len() == 2 && !it.filter.is_negated => {
                Some((it.filter.place, [values[0].clone(), values[1].clone()]))
            }
            _ => None,
        });
        let Some((by, between)) = pair else { return Ok(None) };
        self.take_all(&[Concept::Difference, Concept::Between, Concept::Most, Concept::Least]);
        let measures = self.aggregates()?;
        let measure = match measures.into_iter().next() {
            Some(measure) => measure,
            None => match self.open().find(|it| self.is_number_column(*it)) {
                Some(column) => {
                    let place = self.one(column, |it| it.kind.is_number())?;
                    self.usual(place)
                }
                // `how much more is the rent in California than in Texas`
                None if self.scene.says(Cue::HowMuch) => return Err(Doubt::Unasked),
                None => Measure::ROWS,
            },
        };
        Ok(Some(What::Difference { measure, by, between }))
    }

    /// Takes `sorted by price descending`.
    pub(super) fn sorting(&mut self) -> Option<Rank> {
        let is_descending = self.take_all(&[Concept::Descending]);
        let is_ascending = self.take_all(&[Concept::Ascending]);
        let is_sorted = self.has(&[Concept::Sorted]) || is_ascending || is_descending;
        is_sorted.then_some(Rank { n: None, skip: 0, is_ascending })
    }
}
