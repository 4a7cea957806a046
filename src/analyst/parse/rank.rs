//! Superlatives: which is the largest, the top five, the second cheapest, the most common.

use super::{Doubt, Parser};
use crate::ground::{Meaning, Place};
use crate::lexicon::{Concept, Cue, TimeUnit};
use crate::reading::{Agg, Group, Measure, Rank, What};
use crate::schema::Kind;

/// A superlative, taken off the list.
struct Superlative {
    at: usize,
    rank: Rank,
    /// The columns that it speaks of.
    of: Vec<Place>,
}

impl Parser<'_> {
    /// Reads a question with a superlative.
    pub(super) fn ranked(&mut self, groups: &[Group]) -> Result<Option<What>, Doubt> {
        if let Some(what) = self.most_common(groups)? {
            return Ok(Some(what));
        }
        let Some(superlative) = self.superlative() else { return self.ordered(groups) };
        let Superlative { at, mut rank, of } = superlative;
        // `cheapest first` is an order.
        if rank.n.is_none() && self.word(at + 1) == Some(Concept::First) {
            self.take(at + 1);
            let place = self.only(at, &of)?;
            let rank = Some((place, rank));
            return Ok(Some(What::Rows { columns: Vec::new(), rank, first: None }));
        }
        self.check_next(at, &of)?;
        self.take_all(&[Concept::Sorted]);
        rank.n = if 0 < rank.skip { rank.n } else { rank.n.or_else(|| self.amount_of_thing()) };
        if self.is_thing(at + 1) {
            return self.most_of(at + 1, rank, groups).map(Some);
        }
        self.check_amount(at, &of, rank)?;
        let given = self.aggregates()?;
        // Of two columns that fit as well, none decides.
        let mut of_given: Vec<Place> = given.iter().filter_map(|it| it.of).collect();
        of_given.dedup();
        if 1 < of_given.len() {
            return Err(self.ambiguous(at, &of_given));
        }
        let measure = match given.first() {
            Some(Measure { agg, of: None }) => {
                let place = self.measured(at, &of)?;
                place.map(|place| Measure { agg: *agg, of: Some(place) })
            }
            given => given.cloned(),
        };
        // Customers of orders are no rows, though what they are called is no column.
        if self.open().any(|it| self.has_other_key(it)) {
            return Err(Doubt::Unasked);
        }
        let entity = self.entity()?;
        let has_noun = self.open().any(|it| self.is_noun(it));
        let asks_rows = (has_noun
            || self.is_asked_which(at)
            || self.opens(Cue::Who)
            || self.opens(Cue::When)
            || self.is_of_value(at))
            && !self.counts_rows(at)
            // `how old was the youngest patient`
            && !self.opens(Cue::Hows);
        // The price of the largest house is of the one that is largest by something else.
        if self.is_of_largest(at) && self.size_of_noun(at + 1).is_none() {
            return Err(Doubt::Unasked);
        }
        let plain = match measure {
            Some(_) => None,
            None => self.measured(at, &of)?,
        };
        if plain.is_some_and(|it| self.judges(at) && !self.is_merit(it)) {
            return Err(Doubt::Unasked);
        }
        // `the worst day of the week` asks for one of them.
        let groups_by = |it: usize| self.says_group(it);
        let is_asked = groups.iter().all(|it| matches!(it, Group::Part(..)))
            && !(0..self.marks.len()).any(groups_by);
        if entity.is_none()
            && !groups.is_empty()
            && !is_asked
            && let Some(what) = self.ranked_within(plain, measure.as_ref(), groups, rank)
        {
            return Ok(Some(what));
        }
        let mut groups = groups.to_vec();
        // `the best school in each county` is one for each.
        if let (Some(entity), false) = (&entity, groups.is_empty())
            && !groups.contains(entity)
            && self.said(Concept::By)
        {
            return Err(Doubt::Unasked);
        }
        groups.extend(entity);
        if let Some(measure) = measure {
            if groups.is_empty() {
                return Err(Doubt::Unasked);
            }
            return Ok(Some(What::aggregate(vec![measure], groups, Some(rank.or_one()))));
        }
        let Some(place) = plain else {
            return self.ranked_by_count(at, groups, rank.or_one()).map(Some);
        };
        if !groups.is_empty() {
            if self.may_add_up(at, place) {
                return Err(Doubt::Unasked);
            }
            return Ok(Some(self.ranked_by(place, groups, rank.or_one())));
        }
        if asks_rows || rank.n.is_some_and(|it| 1 < it) || 0 < rank.skip {
            let rank = Some((place, rank.or_one()));
            return Ok(Some(What::Rows { columns: Vec::new(), rank, first: None }));
        }
        let agg = if rank.is_ascending { Agg::Min } else { Agg::Max };
        let mut measures = vec![Measure { agg, of: Some(place) }];
        // `the lowest and the highest price`
        if let Some(other) = self.superlative() {
            let agg = if other.rank.is_ascending { Agg::Min } else { Agg::Max };
            let place = self.measured(other.at, &other.of)?.unwrap_or(place);
            measures.push(Measure { agg, of: Some(place) });
        }
        Ok(Some(What::aggregate(measures, Vec::new(), None)))
    }

    /// Returns whether nothing says if the largest of a group is a number or a sum of them: `the month with
    /// the most miles` may be that of the longest run.
    fn may_add_up(&self, at: usize, place: Place) -> bool {
        let is_open = self.scene.lexicon.is_additive(&self.column(place).words).is_none();
        // What stands before the thing says how it is: `the most populous countries`.
        let is_manner = self.touches_next(at + 1)
            && self.marks.get(at + 2).is_some_and(|it| matches!(it.meaning, Meaning::Column(_)));
        let is_amount =
            self.may_count(at) && self.touches_next(at) && self.is_plural(at + 1) && !is_manner;
        is_amount && is_open && !self.says_mean(place)
    }

    /// Returns whether a superlative says what is good or bad: the worst air is that of the largest index.
    fn judges(&self, at: usize) -> bool {
        self.text(at).split(' ').any(|it| self.scene.lexicon.is(Cue::Judging, it))
    }

    /// Returns whether more of a number is better.
    fn is_merit(&self, place: Place) -> bool {
        self.scene.lexicon.has(Cue::Merits, &self.column(place).words)
    }

    /// Fails when what there is most of is no number of rows: `who served the most days`, `the top of the
    /// inning`, `the biggest weekly volume`, `the most 1-room flats`.
    fn check_amount(&self, at: usize, of: &[Place], rank: Rank) -> Result<(), Doubt> {
        let is_unit = matches!(self.meaning(at + 1), Some(Meaning::Unit(_)))
            && self.touches_next(at)
            && rank.n.is_none();
        let next = self.marks.get(at + 1).map(|it| (&it.meaning, self.text(at + 1)));
        let lexicon = self.scene.lexicon;
        let is_odd = next.is_some_and(|(meaning, text)| match meaning {
            Meaning::Unit(_) => lexicon.is(Cue::Regular, &text),
            Meaning::Number(_) => {
                lexicon.is(Cue::Fews, self.text(at).rsplit(' ').next().unwrap_or_default())
            }
            _ => false,
        });
        // `the most ratings`, where each row is one and has one.
        if is_odd || self.may_count(at) && self.is_called_so(at + 1) {
            return Err(Doubt::Unasked);
        }
        let is_part = self.word(at + 1) == Some(Concept::Of)
            && self.scene.lexicon.is(Cue::Of, &self.text(at + 1));
        if of.is_empty() && self.may_count(at) && (is_unit || is_part && rank.n.is_none()) {
            return Err(Doubt::Unasked);
        }
        Ok(())
    }

    /// Fails when an adjective stands before another column than it speaks of: `the longest description`,
    /// `the oldest model year` are not of the longest and oldest thing.
    fn check_next(&self, at: usize, of: &[Place]) -> Result<(), Doubt> {
        let is_other = self.is_number_column(at + 1)
            && self.touches_next(at)
            && !self.choose(at + 1, |_| true).iter().any(|it| of.contains(it));
        if of.is_empty() || !is_other {
            return Ok(());
        }
        Err(Doubt::Unplaced(vec![self.text(at + 1)]))
    }

    /// Ranks groups that are told, or finds the largest of each.
    fn ranked_within(
        &mut self,
        plain: Option<Place>,
        measure: Option<&Measure>,
        groups: &[Group],
        rank: Rank,
    ) -> Option<What> {
        let groups = groups.to_vec();
        if let Some(place) = plain {
            // `sales per country, top 5` ranks the countries.
            if rank.n.is_some_and(|it| 1 < it) {
                let usual = self.usual(place);
                return Some(What::aggregate(vec![usual], groups, Some(rank)));
            }
            // `the highest price by cut` is one for each cut.
            let agg = match rank.is_ascending {
                // `is the price higher in the north` compares what is usual.
                _ if self.begins_yes_no() => Agg::Mean,
                true => Agg::Min,
                false => Agg::Max,
            };
            let measures = vec![Measure { agg, of: Some(place) }];
            return Some(What::aggregate(measures, groups, None));
        }
        let rank = rank.or_one();
        Some(What::aggregate(vec![measure?.clone()], groups, Some(rank)))
    }

    /// `which carrier has the most flights`, `top 5 carriers`.
    fn ranked_by_count(
        &mut self,
        at: usize,
        groups: Vec<Group>,
        rank: Rank,
    ) -> Result<What, Doubt> {
        let thing = self.first_word(&[Concept::HowMany]).filter(|it| self.is_thing(it + 1));
        let measures = match thing {
            Some(at) => self.counts_of(at + 1)?,
            None => self.counted_things(&groups),
        };
        let counts = self.take_all(&[Concept::HowMany]) || self.takes_noun_by();
        // `which season has the most`: of what, the question before has said.
        let is_last = at + 1 == self.marks.len() && self.opens(Cue::Asks);
        if groups.is_empty() || !counts && (!self.may_count(at) || is_last) {
            return Err(Doubt::Unasked);
        }
        Ok(What::aggregate(measures, groups, Some(rank)))
    }

    /// Ranks groups by a number of which nothing says what to make.
    fn ranked_by(&mut self, place: Place, groups: Vec<Group>, rank: Rank) -> What {
        let agg = match self.scene.lexicon.is_additive(&self.column(place).words) {
            Some(true) => Agg::Sum,
            // The price is highest in the year of the highest `AveragePrice` of all, on average.
            _ if self.says_mean(place) => Agg::Mean,
            _ if rank.is_ascending => Agg::Min,
            _ => Agg::Max,
        };
        let name = &self.column(place).name;
        let by = &self.column(groups[0].place()).name;
        let (read, other) = match agg {
            Agg::Sum => ("total", "largest single value"),
            Agg::Mean => ("average", "largest single value"),
            Agg::Min => ("smallest single value", "average"),
            _ => ("largest single value", "average"),
        };
        self.notes.push(format!(
            "Where a `{by}` has several rows I took the {read} of `{name}`, not the {other}."
        ));
        What::aggregate(vec![Measure { agg, of: Some(place) }], groups, Some(rank))
    }

    /// Returns whether a column has means, by its name.
    fn says_mean(&self, place: Place) -> bool {
        let lexicon = self.scene.lexicon;
        self.column(place)
            .words
            .iter()
            .any(|it| lexicon.phrase(std::slice::from_ref(it)) == Some(Concept::Mean))
    }

    /// Counts a thing by its key, and the rows beside it.
    fn counts_of(&mut self, thing: usize) -> Result<Vec<Measure>, Doubt> {
        let of = Some(self.one(thing, |_| true)?);
        Ok(vec![Measure { agg: Agg::Distinct, of }, Measure::ROWS])
    }

    /// `on which day were the most tests`, where tests have a key.
    fn most_of(&mut self, thing: usize, rank: Rank, groups: &[Group]) -> Result<What, Doubt> {
        let measures = self.counts_of(thing)?;
        let mut groups = groups.to_vec();
        let asked = self.open().find(|it| {
            it.checked_sub(1).and_then(|it| self.word_of(it)) == Some(Concept::Which)
                && self.can_group(*it)
        });
        if let Some(asked) = asked {
            groups.extend(self.group_at(asked)?);
        } else {
            groups.extend(self.entity()?);
        }
        if groups.is_empty() {
            return Err(Doubt::Unasked);
        }
        let rank = rank.or_one();
        Ok(What::aggregate(measures, groups, Some(rank)))
    }

    /// Returns whether a noun has a key that is not the table's own, which comes first.
    fn has_other_key(&self, at: usize) -> bool {
        if !matches!(self.meaning(at), Some(Meaning::Noun)) {
            return false;
        }
        let stem = &self.last_token(at).stem;
        self.places().find(|it| self.column(*it).is_key_of(stem)).is_some_and(|it| 0 < it.column)
    }

    /// Takes `by bookings`, where each row is one.
    fn takes_noun_by(&mut self) -> bool {
        let is_by = |it: &usize| self.word(*it) == Some(Concept::By) && self.is_noun(it + 1);
        let Some(at) = self.open().find(is_by) else { return false };
        self.take(at);
        self.take(at + 1);
        true
    }

    /// Returns what there is most of: rows, or what the table is called after, each once.
    fn counted_things(&mut self, groups: &[Group]) -> Vec<Measure> {
        let rows = Measure::ROWS;
        let label = self.label_of_table();
        match label.filter(|it| groups.iter().all(|group| group.place() != *it)) {
            Some(place) => {
                let name = &self.column(place).name;
                self.notes.push(format!("I counted each `{name}` once; `count` has the rows."));
                vec![Measure { agg: Agg::Distinct, of: Some(place) }, rows]
            }
            None => vec![rows],
        }
    }

    /// `rank the days by total bill`: groups in the order of a number.
    fn ordered(&mut self, groups: &[Group]) -> Result<Option<What>, Doubt> {
        if !self.has(&[Concept::Sorted]) || !groups.is_empty() {
            return Ok(None);
        }
        let has_noun = self
            .open()
            .any(|it| matches!(self.meaning(it), Some(Meaning::Noun | Meaning::Table(_))));
        let is_counted = self.has(&[Concept::HowMany]);
        let has_entity = self.open().any(|it| self.is_column(it) && !self.is_number_column(it));
        if !has_entity || has_noun && !is_counted {
            return Ok(None);
        }
        self.take_all(&[Concept::Sorted, Concept::By]);
        let is_ascending = self.take_all(&[Concept::Ascending]);
        self.take_all(&[Concept::Descending]);
        let given = self.aggregates()?;
        let Some(entity) = self.entity()? else { return Err(Doubt::Unasked) };
        let measure = if let Some(measure) = given.into_iter().find(|it| it.of.is_some()) {
            measure
        } else if self.take_all(&[Concept::HowMany]) {
            Measure::ROWS
        } else {
            let Some(at) = self.open().find(|it| self.is_number_column(*it)) else {
                return Err(Doubt::Unasked);
            };
            let place = self.one(at, |it| it.kind.is_number())?;
            self.usual(place)
        };
        let rank = Rank { n: None, skip: 0, is_ascending };
        Ok(Some(What::aggregate(vec![measure], vec![entity], Some(rank))))
    }

    /// Takes the number of things that a superlative is about: `3 clarities with the highest price`.
    fn amount_of_thing(&mut self) -> Option<u32> {
        let (at, n) = self.open().find_map(|it| Some((it, self.count(it)?)))?;
        let names_thing = self.is_noun(at + 1)
            || self.is_column(at + 1)
            || matches!(self.meaning(at + 1), Some(Meaning::Unit(_)));
        if !names_thing {
            return None;
        }
        self.take(at);
        Some(n)
    }

    /// `most common species`, `the 3 most frequent destinations`.
    fn most_common(&mut self, groups: &[Group]) -> Result<Option<What>, Doubt> {
        let Some(at) = self.first_word(&[Concept::Mode, Concept::Rarest]) else { return Ok(None) };
        let is_ascending = self.word(at) == Some(Concept::Rarest);
        let n = self.amount_beside(at).or(Some(1));
        let skip = self.ordinal_before(at);
        let rank = Rank { n, skip, is_ascending };
        self.take(at);
        let has_noun = self.open().any(|it| self.is_noun(it));
        let groups = match self.entity()? {
            // The most common of each group is no count of groups.
            Some(entity) if !groups.is_empty() && groups != [entity] => {
                return Err(Doubt::Unasked);
            }
            Some(entity) => vec![entity],
            None => match self.open().find(|it| self.is_column(*it)) {
                // `which players were caught stealing most often`, where that is a number of each.
                Some(column) if self.is_number_column(column) && has_noun => {
                    return Err(Doubt::Unplaced(vec![self.text(column)]));
                }
                Some(column) => vec![Group::By(self.one(column, |_| true)?)],
                None => groups.to_vec(),
            },
        };
        if groups.is_empty() {
            return Err(Doubt::Unasked);
        }
        let count = Measure::ROWS;
        Ok(Some(What::aggregate(vec![count], groups, Some(rank))))
    }

    /// Takes a superlative with its number: `top 5`, `second highest`, `3 most expensive`.
    fn superlative(&mut self) -> Option<Superlative> {
        let is_superlative = |it: &usize| match self.meaning(*it) {
            Some(Meaning::Word(Concept::Most | Concept::Least)) => true,
            Some(Meaning::Word(Concept::Max | Concept::Min)) => self.asks_for_thing(),
            Some(Meaning::Adjective { is_superlative, .. }) => *is_superlative,
            _ => false,
        };
        let at = self.open().find(is_superlative)?;
        let n = self.amount_beside(at);
        let skip = self.ordinal_before(at);
        let (mut of, mut is_ascending) = match self.meaning(at)? {
            Meaning::Word(concept) => {
                (Vec::new(), matches!(concept, Concept::Least | Concept::Min))
            }
            Meaning::Adjective { of, low, .. } => (of.clone(), *low),
            _ => return None,
        };
        // `which cohort buys the most`: of what, a verb says that nobody read.
        let word = self.marks[at].start.checked_sub(1).map(|it| &self.scene.tokens[it]);
        let is_read = at.checked_sub(1).is_some_and(|it| self.touches_next(it));
        let is_verb = word.is_some_and(|it| self.scene.lexicon.is_filler(&it.stem));
        if is_verb && !is_read && self.marks.len() == at + 1 {
            return None;
        }
        self.take(at);
        // `most expensive`, `top 5 heaviest`
        let spoken_at =
            if n.is_some() && self.used.get(at + 1) == Some(&true) { at + 2 } else { at + 1 };
        if let Some(Meaning::Adjective { of: spoken, low, .. }) = self.meaning(spoken_at) {
            is_ascending ^= *low;
            of.clone_from(spoken);
            self.take(spoken_at);
        }
        // `earned the most`
        let verb = at.checked_sub(1);
        if let (true, Some(verb)) = (of.is_empty(), verb)
            && let Some(Meaning::Adjective { of: spoken, low, .. }) = self.meaning(verb)
        {
            is_ascending ^= *low;
            of.clone_from(spoken);
            self.take(verb);
        }
        let n = if 0 < skip { Some(1) } else { n };
        Some(Superlative { at, rank: Rank { n, skip, is_ascending }, of })
    }

    /// `which car has the maximum power` asks for a car, `the maximum power of a car` for a number.
    fn asks_for_thing(&self) -> bool {
        self.opens(Cue::Asks)
            && self.open().any(|it| {
                self.is_noun(it)
                    || self.is_column(it) && !self.is_number_column(it)
                    || matches!(self.meaning(it), Some(Meaning::Unit(_)))
            })
    }

    /// Takes the number before or behind a superlative.
    pub(super) fn amount_beside(&mut self, at: usize) -> Option<u32> {
        for it in [Some(at + 1), at.checked_sub(1)].into_iter().flatten() {
            if let Some(n) = self.count(it) {
                self.take(it);
                return Some(n);
            }
        }
        None
    }

    /// Takes `second` before a superlative; returns how many come before.
    fn ordinal_before(&mut self, at: usize) -> u32 {
        let Some(before) = at.checked_sub(1) else { return 0 };
        let Some(Meaning::Ordinal(place)) = self.meaning(before) else { return 0 };
        let skip = place - 1;
        self.take(before);
        skip
    }

    /// Takes the column of numbers that a superlative is about.
    fn measured(&mut self, at: usize, of: &[Place]) -> Result<Option<Place>, Doubt> {
        let is_calendar =
            |it: usize| self.choose(it, |_| true).iter().all(|it| self.is_calendar_number(*it));
        let mut near: Vec<usize> =
            self.open().filter(|it| self.is_measure_column(*it) && !is_calendar(*it)).collect();
        // `the zip code where most customers live` is about how many there are.
        let is_amount = |it: &usize| {
            matches!(self.marks.get(*it).map(|it| &it.meaning), Some(Meaning::Number(_)))
        };
        let next = Some(at + 1).filter(|it| !is_amount(it)).unwrap_or(at + 2);
        let is_thing = match self.marks.get(next).map(|it| &it.meaning) {
            Some(Meaning::Noun | Meaning::Table(_) | Meaning::Value(_)) => true,
            Some(Meaning::Column(_)) => self.used[next],
            _ => false,
        };
        if self.may_count(at) && of.is_empty() && is_thing && self.size_of_noun(at + 1).is_none() {
            near.retain(|it| at < *it);
        }
        // `top 3 wages with age` shows the age.
        near.retain(|it| {
            *it < at || !self.follows(*it, Cue::With) || !(at..*it).any(|it| self.is_noun(it))
        });
        // What stands behind it comes first.
        near.sort_by_key(|it| (*it < at, it.abs_diff(at)));
        let Some(mark) = near.first().copied() else {
            return match of {
                [] => Ok(self.size_of_noun(at + 1)),
                of => Ok(Some(self.only(at, of)?)),
            };
        };
        // `the longest flipper`: the column decides between those that the adjective may speak of.
        let places = self.choose(mark, |it| it.kind.is_number());
        let both: Vec<Place> = places.iter().copied().filter(|it| of.contains(it)).collect();
        if let ([place], false) = (&both[..], of.is_empty()) {
            self.take(mark);
            return Ok(Some(*place));
        }
        let named = self.open().find(|it| self.choose(*it, |_| true).iter().any(|it| of == [*it]));
        if let (Some(mark), [place]) = (named, of) {
            self.take(mark);
            return Ok(Some(*place));
        }
        if let ([place], true) = (of, both.is_empty() && !of.is_empty()) {
            // `the cheapest 8 cylinder car`: the column is about something else.
            return Ok(Some(*place));
        }
        Ok(Some(self.one(mark, |it| it.kind.is_number())?))
    }

    /// Of a highest and a lowest, the hottest is about the highest.
    pub(super) fn by_direction(&self, at: usize, of: &[Place]) -> Option<Place> {
        let is_low = match &self.marks[at].meaning {
            Meaning::Adjective { low, .. } => *low,
            Meaning::Word(concept) => *concept == Concept::Least,
            _ => return None,
        };
        let lexicon = self.scene.lexicon;
        // The total of several costs is the cost.
        let of_all = of.iter().filter(|it| lexicon.has(Cue::Totals, &self.column(**it).words));
        if let [total] = of_all.collect::<Vec<_>>()[..] {
            return Some(*total);
        }
        // Of several prices, the price is the price.
        let is_price = |it: &&Place| match &self.column(**it).words[..] {
            [word] => lexicon.is(Cue::Prices, word),
            _ => false,
        };
        if let Some(price) = of.iter().find(is_price) {
            return Some(*price);
        }
        let wanted = if is_low { Cue::Lowest } else { Cue::Highest };
        let mut found = of.iter().filter(|it| lexicon.has(wanted, &self.column(**it).words));
        let first = found.next()?;
        found.next().is_none().then_some(*first)
    }

    fn is_measure_column(&self, at: usize) -> bool {
        let is_group = at.checked_sub(1).is_some_and(|it| {
            matches!(self.marks[it].meaning, Meaning::Word(Concept::Which))
                && !self.scene.lexicon.is(Cue::Is, &self.text(it))
                && self.text(it).split(' ').count() == 1
                && self.choose(at, |_| true).iter().all(|it| self.kind(*it) == Kind::Whole)
                && self.open().filter(|it| self.is_number_column(*it)).count() > 1
        });
        let is_key = self.choose(at, |_| true).iter().all(|it| self.column(*it).is_key);
        self.is_number_column(at) && !is_group && !is_key
    }

    /// Takes what the question asks for by name: a column that is no measure, or a unit of time.
    fn entity(&mut self) -> Result<Option<Group>, Doubt> {
        // `top 3 auctions by price, with title` shows the title.
        let is_shown = |it: usize| {
            let has_thing = |of: usize| self.is_noun(of) || self.is_number_column(of);
            self.follows(it, Cue::With) && self.open().any(|of| of < it && has_thing(of))
        };
        let is_entity = |it: &usize| match self.meaning(*it) {
            Some(Meaning::Column(_)) if is_shown(*it) => false,
            // `the lowest price on a day with rain` is no day.
            Some(Meaning::Column(_))
                if self
                    .word_before(*it)
                    .is_some_and(|it| self.scene.lexicon.is(Cue::Articles, it)) =>
            {
                false
            }
            Some(Meaning::Column(places)) => {
                places.iter().all(|it| !self.kind(*it).is_number() || self.is_calendar_number(*it))
                    || self.is_entity_number(*it)
            }
            Some(Meaning::Unit(_)) => true,
            Some(Meaning::Table(table)) => *table == 1,
            Some(Meaning::Word(concept)) => super::measures::part_of(*concept).is_some(),
            _ => false,
        };
        let Some(at) = self.open().find(is_entity) else { return Ok(None) };
        // The 19th is many days: of a date, the day is meant.
        if let [place] = self.choose(at, |_| true)[..]
            && self.is_calendar_number(place)
            && let Some(date) = self.calendar()
            && self.column(place).unit == Some(TimeUnit::Day)
        {
            self.take(at);
            return Ok(Some(Group::Time(date, TimeUnit::Day)));
        }
        self.group_at(at)
    }

    /// `which year has the most …`: a column of whole numbers that is asked for.
    fn is_entity_number(&self, at: usize) -> bool {
        let is_asked = at
            .checked_sub(1)
            .is_some_and(|it| matches!(self.marks[it].meaning, Meaning::Word(Concept::Which)));
        let is_whole = self.choose(at, |_| true).iter().all(|it| self.kind(*it) == Kind::Whole);
        let has_other =
            self.open().any(|it| it != at && (self.is_number_column(it) || self.is_noun(it)))
                || self.has(&[Concept::HowMany]);
        let text = at.checked_sub(1).map(|it| self.text(it)).unwrap_or_default();
        let is_verb = text.rsplit(' ').next().is_some_and(|it| self.scene.lexicon.is(Cue::Is, it));
        is_asked && is_whole && has_other && !is_verb
    }

    /// `the largest loan` is that of the largest `Loan Amount`.
    pub(super) fn size_of_noun(&self, at: usize) -> Option<Place> {
        let mark = self.marks.get(at).filter(|_| self.is_noun(at))?;
        let stem = &self.scene.tokens[mark.end - 1].stem;
        let of_noun = |it: &Place| {
            let column = self.column(*it);
            column.kind.is_number() && column.words.contains(stem) && !column.is_key
        };
        let mut sizes = self.places().filter(of_noun);
        let only = sizes.next()?;
        sizes.next().is_none().then_some(only)
    }

    /// `the longest comedy` is a row of this value, `the highest price of comedies` a number.
    fn is_of_value(&self, at: usize) -> bool {
        let speaks = matches!(self.marks[at].meaning, Meaning::Adjective { .. });
        // The oldest survivor is one who survived.
        let is_value = self.marks.get(at + 1).is_some_and(|it| match &it.meaning {
            Meaning::Value(_) => true,
            Meaning::Column(of) => of.iter().all(|it| self.kind(*it) == Kind::Bool),
            _ => false,
        });
        let is_number = self.marks.get(at + 2).is_some_and(|it| {
            matches!(it.meaning, Meaning::Column(_)) && !self.scene.tokens[it.start].is_aside
        });
        speaks && is_value && !is_number
    }

    /// Returns whether a superlative may be about how many there are.
    fn may_count(&self, at: usize) -> bool {
        self.text(at).split(' ').any(|it| self.scene.lexicon.is(Cue::Countable, it))
    }

    /// `the price of the largest house`
    fn is_of_largest(&self, at: usize) -> bool {
        let is_extent = matches!(self.marks[at].meaning, Meaning::Word(_)) && !self.may_count(at);
        let before = at.checked_sub(2);
        is_extent
            && self.is_noun(at + 1)
            && before.is_some_and(|it| {
                self.is_number_column(it) && self.word(it + 1) == Some(Concept::Of)
            })
    }

    /// `which is the heaviest` asks for a row.
    fn is_asked_which(&self, at: usize) -> bool {
        self.opens(Cue::Whiches) && matches!(self.marks[at].meaning, Meaning::Adjective { .. })
    }

    /// Returns whether rows are what there is most of: `the most flights`.
    fn counts_rows(&self, at: usize) -> bool {
        self.is_noun(at + 1)
            && self.open().any(|it| self.is_column(it) && it != at + 1)
            && !self.open().any(|it| self.is_number_column(it))
    }
}
