//! Conditions: which rows count.

use std::cmp::Ordering;

use super::compare::{is, op_of_period};
use super::{Doubt, Parser, Placed};
use crate::code::opposite;
use crate::ground::{Held, Meaning, Place};
use crate::lexicon::{Concept, Cue, PeriodWord};
use crate::reading::{Filter, Op, Scalar, Test, Within};
use crate::schema::{Column, Kind};
use crate::words::TokenKind;

/// How much more often a column holds a value than another, to be meant by it alone.
const MORE_OFTEN: u64 = 10;

impl Parser<'_> {
    /// Takes every condition off the list.
    pub(super) fn filters(&mut self) -> Result<Vec<Placed>, Doubt> {
        // `exactly six times`
        let lexicon = self.scene.lexicon;
        let is_times = |it: &usize| {
            let behind = self.scene.tokens.get(self.marks[*it].end);
            self.amount(*it).is_some() && behind.is_some_and(|it| lexicon.is(Cue::Times, &it.lower))
        };
        if let Some(at) = self.open().find(is_times) {
            return Err(Doubt::Unplaced(vec![self.text(at)]));
        }
        let mut found: Vec<Placed> = Vec::new();
        for (at, filters) in self.periods() {
            let placed = |filter| Placed { filter, at, is_predicate: false };
            found.extend(filters.into_iter().map(placed));
        }
        self.clocks(&mut found);
        self.comparisons(&mut found)?;
        self.signs(&mut found);
        self.texts(&mut found)?;
        self.values(&mut found)?;
        self.equalities(&mut found)?;
        self.flags(&mut found)?;
        self.absences(&mut found)?;
        found.sort_by_key(|it| it.at);
        if self.has_alternatives(&found) {
            return Err(Doubt::Unasked);
        }
        found.dedup_by(|one, other| one.filter == other.filter);
        let n_recent = found.iter().filter(|it| matches!(it.filter.test, Test::Last(..))).count();
        // The last week and the last 7 days are two things, and no day is in two years.
        let is_one = |it: &Filter| {
            matches!(&it.test, Test::Part(..) | Test::Is(Op::Eq, _)) && !it.is_negated
        };
        let contradicts = found.iter().enumerate().any(|(at, it)| {
            let others = found[at + 1..].iter().map(|it| &it.filter);
            is_one(&it.filter)
                && others.into_iter().any(|other| {
                    let same_part = match (&it.filter.test, &other.test) {
                        (Test::Part(one, _), Test::Part(two, _)) => one == two,
                        (Test::Is(..), Test::Is(..)) => true,
                        _ => false,
                    };
                    is_one(other) && other.place == it.filter.place && same_part
                })
        });
        let is_both = found.iter().any(|it| {
            let is_other = |other: &Placed| {
                other.filter.test == Test::True
                    && other.filter.place == it.filter.place
                    && other.filter.is_negated != it.filter.is_negated
            };
            it.filter.test == Test::True && found.iter().any(is_other)
        });
        let is_empty =
            found.iter().any(|low| found.iter().any(|high| excludes(&low.filter, &high.filter)));
        if 1 < n_recent || contradicts || is_both || is_empty {
            Err(Doubt::Unasked)
        } else {
            Ok(found)
        }
    }

    /// Returns whether one of two conditions is enough: `over 25 or none at all`.
    fn has_alternatives(&self, found: &[Placed]) -> bool {
        self.open().any(|it| {
            self.scene.lexicon.is(Cue::Or, &self.text(it))
                && found.iter().any(|one| one.at < it)
                && found.iter().any(|other| it < other.at)
        })
    }

    /// `title contains star`, `names starting with A`.
    fn texts(&mut self, found: &mut Vec<Placed>) -> Result<(), Doubt> {
        let hows = [
            (Concept::Contains, Within::Contains),
            (Concept::StartsWith, Within::Starts),
            (Concept::EndsWith, Within::Ends),
        ];
        for at in 0..self.marks.len() {
            let Some((_, how)) = hows.iter().find(|it| self.word(at) == Some(it.0)) else {
                continue;
            };
            // What is a unit of measure elsewhere is text here: `starts with L`.
            let behind = self.scene.tokens.get(self.marks[at].end);
            let is_dropped = self.marks.get(at + 1).map(|it| it.start) != Some(self.marks[at].end);
            let dropped = behind.filter(|_| is_dropped).map(|it| it.text.clone());
            let said_before = at.checked_sub(1).filter(|it| {
                self.text(at).contains(' ')
                    && matches!(self.meaning(*it), Some(Meaning::Text(_) | Meaning::Value(_)))
            });
            if let Some(before) = said_before {
                // `with "chair" in the name`
                let Some(place) = self.named_text() else { continue };
                let test = Test::Text(*how, self.text(before));
                self.take(at);
                self.take(before);
                found.push(Placed {
                    filter: Filter { place, test, is_negated: false },
                    at,
                    is_predicate: true,
                });
                continue;
            }
            // `contains an @`: the sign was not read.
            if behind.is_some_and(|it| {
                let may_be_letter = 1 == it.lower.len() && *how != Within::Contains;
                is_dropped && !may_be_letter && self.scene.lexicon.is_stop(&it.stem)
            }) {
                continue;
            }
            let text = match self.meaning(at + 1) {
                _ if dropped.is_some() => dropped.clone().unwrap_or_default(),
                Some(Meaning::Text(text)) => text.clone(),
                Some(Meaning::Unknown | Meaning::Value(_)) => self.text(at + 1),
                Some(_)
                    if self.marks[at + 1].end - self.marks[at + 1].start == 1
                        && !self.is_column(at + 1) =>
                {
                    self.text(at + 1)
                }
                _ => continue,
            };
            let is_text = |it: &usize| {
                self.is_column(*it)
                    && self
                        .choose(*it, |it| it.kind == Kind::Text)
                        .iter()
                        .all(|it| self.kind(*it) == Kind::Text)
            };
            let left = (0..at).rev().filter(|it| !self.used[*it]).find(is_text);
            let right = (at + 2..self.marks.len()).filter(|it| !self.used[*it]).find(is_text);
            let place = if let Some(column) = left.or(right) {
                self.one(column, |it| it.kind == Kind::Text)?
            } else {
                let mut texts = self.places().filter(|it| self.kind(*it) == Kind::Text);
                match (texts.next(), texts.next()) {
                    (Some(only), None) => only,
                    _ => continue,
                }
            };
            let is_negated = at.checked_sub(1).is_some_and(|it| {
                matches!(self.word(it), Some(Concept::Not | Concept::Ne | Concept::Without))
            });
            if is_negated {
                self.take(at - 1);
            }
            self.take(at);
            if dropped.is_none() {
                self.take(at + 1);
            }
            let filter = Filter { place, test: Test::Text(*how, text), is_negated };
            found.push(Placed { filter, at, is_predicate: true });
        }
        Ok(())
    }

    /// Takes the column of names that a question speaks of, or returns the only one.
    fn named_text(&mut self) -> Option<Place> {
        let is_name = |it: &Column| it.kind == Kind::Text && it.is_title;
        let said = self
            .open_columns()
            .into_iter()
            .find(|it| self.choose(*it, is_name).iter().all(|it| is_name(self.column(*it))));
        if let Some(said) = said {
            return self.one(said, is_name).ok();
        }
        let mut names = self.places().filter(|it| is_name(self.column(*it)));
        let only = names.next()?;
        names.next().is_none().then_some(only)
    }

    /// `Adelie`, `from JFK`, `not in Europe`, `species Adelie`.
    fn values(&mut self, found: &mut Vec<Placed>) -> Result<(), Doubt> {
        let mut last: Option<(usize, Place)> = None;
        for at in 0..self.marks.len() {
            let Some(Meaning::Value(held)) = self.meaning(at) else { continue };
            let mut held = held.clone();
            // A value in full says more than a word of others.
            if held.iter().any(|it| !it.spellings.is_empty()) {
                held.retain(|it| !it.spellings.is_empty());
            }
            if let Some(other) = self.named_elsewhere(at, &held) {
                let places: Vec<Place> = held.iter().map(|it| it.place).chain([other]).collect();
                return Err(self.ambiguous(at, &places));
            }
            // `bobcat instead of coyote`: the one is no condition, and was one before.
            if self.is_replaced(at) {
                if self.scene.last.is_none() {
                    return Err(Doubt::Unasked);
                }
                self.take(at);
                continue;
            }
            // `by league`, though somebody has that name.
            if self.is_common_word(at) && self.is_grouped(at) {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            // `the largest after Japan` is the next one.
            if self.is_after(at) {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            // `by dead or alive` groups by both.
            if self.is_said_as_group(at, &held) {
                self.take(at);
                self.take(at - 1);
                continue;
            }
            let place = self.chosen(at, &held, last)?;
            let spellings = held.into_iter().find(|it| it.place == place).map(|it| it.spellings);
            let Some(mut spellings) = spellings else { continue };
            let is_exact = self.keep_exact(at, &mut spellings);
            let is_within = self.is_within(at, place);
            spellings.retain(|_| !is_within);
            // `not UA or DL` is neither.
            let goes_on = last.filter(|(before, it)| at - before <= 2 && *it == place);
            let is_excluded = |place: Place| {
                found.iter().any(|it| it.filter.place == place && it.filter.is_negated)
            };
            // `except vans and the Mustang`: whether that is one of the exceptions, nobody knows.
            if let Some((before, other)) = last
                && at - before <= 2
                && other != place
                && is_excluded(other)
            {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            let was_negated = goes_on.is_some() && is_excluded(place);
            let is_negated = self.negation(at) || was_negated;
            self.take(at);
            if let Some(before) = at.checked_sub(1)
                && self.word(before) == Some(Concept::Eq)
            {
                self.take(before);
            }
            let predicate = at.checked_sub(1).is_some_and(|it| {
                matches!(self.marks[it].meaning, Meaning::Word(Concept::Which | Concept::Ne))
            });
            if spellings.is_empty() {
                let filter = self.within(at, place, is_negated, is_within)?;
                if is_within {
                    self.take(at + 1);
                    self.take(at + 2);
                }
                found.push(Placed { filter, at, is_predicate: predicate });
                continue;
            }
            if last.is_some_and(|(before, it)| it == place && self.is_range(before, at)) {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            let merges = found.iter_mut().find(|it| {
                it.filter.place == place
                    && it.filter.is_negated == is_negated
                    && matches!(it.filter.test, Test::In(_))
            });
            if let Some(Test::In(values)) = merges.map(|it| &mut it.filter.test) {
                // `did it only rain, so events = Rain` says it twice, the second time exactly.
                if is_exact && spellings.iter().all(|it| values.contains(it)) {
                    values.clear();
                }
                spellings.retain(|it| !values.contains(it));
                values.extend(spellings);
            } else {
                let filter = Filter { place, test: Test::In(spellings), is_negated };
                found.push(Placed { filter, at, is_predicate: predicate });
            }
            if let Some((before, _)) = last.filter(|(before, it)| at - before == 2 && *it == place)
                && matches!(self.word(before + 1), Some(Concept::And))
            {
                self.take(before + 1);
            }
            last = Some((at, place));
            self.take_literals(at + 1, found);
        }
        Ok(())
    }

    /// Chooses the column that a value is of, given the value before it, and takes what names it.
    fn chosen(
        &mut self,
        at: usize,
        held: &[Held],
        last: Option<(usize, Place)>,
    ) -> Result<Place, Doubt> {
        if let Some((mark, place)) = self.named_beside(at, held) {
            self.take(mark);
            if mark == at + 2 {
                self.take(at + 1);
            }
            return Ok(place);
        }
        if let [only] = held {
            return Ok(only.place);
        }
        // `JFK or LGA` are of one column.
        let same = last.filter(|(before, _)| at - before <= 2).map(|it| it.1);
        let same = same.filter(|place| held.iter().any(|it| it.place == *place));
        let told = self.preposed(at, held).or(same).or(self.of_named_table(at, held));
        let places: Vec<Place> = held.iter().map(|it| it.place).collect();
        told.or_else(|| self.likeliest(at, held)).ok_or_else(|| self.ambiguous(at, &places))
    }

    /// Returns whether a value is told as a part of what a column has: `paper in the medium`.
    fn is_within(&self, at: usize, place: Place) -> bool {
        self.word(at + 1) == Some(Concept::Of)
            && self.scene.lexicon.is(Cue::Inside, &self.text(at + 1))
            && self.choose(at + 2, |_| true) == [place]
    }

    /// Reads a word within values where a name stands: `Ford`, `ford cars`, `have ford in the name`.
    fn within(
        &self,
        at: usize,
        place: Place,
        is_negated: bool,
        is_said: bool,
    ) -> Result<Filter, Doubt> {
        let first = self.text(at).chars().next();
        let is_name = first.is_some_and(char::is_uppercase) && 0 < self.marks[at].start;
        let is_quoted = self.scene.tokens[self.marks[at].start].kind == TokenKind::Quoted;
        let is_of_noun = self.is_noun(at + 1) && self.column(place).is_title;
        if !is_name && !is_quoted && !is_of_noun && !is_said {
            return Err(Doubt::Unplaced(vec![self.text(at)]));
        }
        let test = Test::Text(Within::Contains, self.text(at));
        Ok(Filter { place, test, is_negated })
    }

    /// Returns whether a value is a name that the question writes like a word.
    fn is_common_word(&self, at: usize) -> bool {
        let Some(Meaning::Value(held)) = self.meaning(at) else { return false };
        let is_lower = self.text(at).starts_with(char::is_lowercase);
        let exact: Vec<&Held> = held.iter().filter(|it| !it.spellings.is_empty()).collect();
        is_lower && !exact.is_empty() && exact.iter().all(|it| self.column(it.place).is_title)
    }

    /// Returns whether a mark is told as a group, or behind one: `per throwing hand`.
    fn is_grouped(&self, at: usize) -> bool {
        let groups = |it: usize| self.says_group(it);
        let before = at.checked_sub(1);
        let behind = before.filter(|it| self.is_column(*it) && self.touches_next(*it));
        before.is_some_and(groups) || behind.and_then(|it| it.checked_sub(1)).is_some_and(groups)
    }

    /// Returns whether a value only ends the list of those that a group has: `by dead or alive`.
    fn is_said_as_group(&self, at: usize, held: &[Held]) -> bool {
        let Some(by) = at.checked_sub(3) else { return false };
        self.word(by) == Some(Concept::By)
            && self.scene.lexicon.is(Cue::Or, &self.text(at - 1))
            && self.choose(at - 2, |_| true).iter().any(|it| held.iter().any(|of| of.place == *it))
    }

    /// Leaves out cells that hold more than the value, where just that is asked for, and returns whether it is:
    /// `events = Rain` is no `Rain, Thunderstorm`.
    fn keep_exact(&self, at: usize, spellings: &mut Vec<String>) -> bool {
        let text = self.text(at).to_lowercase();
        let is_told = at
            .checked_sub(1)
            .is_some_and(|it| matches!(self.word(it), Some(Concept::Eq | Concept::Only)));
        let is_exact = is_told && spellings.iter().any(|it| it.to_lowercase() == text);
        if is_exact {
            spellings.retain(|it| it.to_lowercase() == text);
        }
        is_exact
    }

    /// Returns whether two values are told as ends: of an order among texts nothing is known.
    fn is_range(&self, from: usize, to: usize) -> bool {
        let between = &self.scene.tokens[self.marks[from].end..self.marks[to].start];
        between.iter().any(|it| self.scene.lexicon.is(Cue::To, &it.lower))
    }

    /// Returns whether a value is told as one that another takes the place of.
    fn is_replaced(&self, at: usize) -> bool {
        let start = self.marks[at].start;
        let before = &self.scene.tokens[start.saturating_sub(2)..start];
        let words: Vec<&str> = before.iter().map(|it| it.lower.as_str()).collect();
        self.scene.lexicon.is(Cue::InsteadOf, &words.join(" "))
    }

    /// Returns whether a value is told as a place in an order.
    fn is_after(&self, at: usize) -> bool {
        let start = self.marks[at].start;
        let before = self.scene.tokens[start.saturating_sub(2)..start].iter().rev();
        let mut words = before.filter(|it| !self.scene.lexicon.is_stop(&it.stem));
        let is_ranked = self.marks.iter().any(|it| {
            matches!(
                it.meaning,
                Meaning::Word(Concept::Most | Concept::Least)
                    | Meaning::Adjective { is_superlative: true, .. }
            )
        });
        is_ranked
            && words.next().is_some_and(|it| {
                let period = self.scene.lexicon.period(std::slice::from_ref(&it.stem));
                matches!(period, Some(PeriodWord::After))
            })
    }

    /// `orders of customers in Germany`, `German customers`: the table beside a value says whose column is
    /// meant.
    fn of_named_table(&self, at: usize, held: &[Held]) -> Option<Place> {
        let table = |it: usize| match self.marks.get(it)?.meaning {
            Meaning::Table(table) => Some(table),
            _ => None,
        };
        let beside = [Some(at + 1), at.checked_sub(1), at.checked_sub(2)];
        let named = beside.into_iter().flatten().find_map(table);
        let mut places = held.iter().map(|it| it.place).filter(|it| Some(it.table) == named);
        let only = places.next()?;
        (1 < self.scene.tables.len() && places.next().is_none()).then_some(only)
    }

    /// Returns the column that holds a value in far more rows than every other.
    fn likeliest(&mut self, at: usize, held: &[Held]) -> Option<Place> {
        let most = held.iter().max_by_key(|it| it.n_rows)?;
        let others: Vec<Place> =
            held.iter().filter(|it| it.place != most.place).map(|it| it.place).collect();
        let is_far = |it: &Held| it.place == most.place || it.n_rows * MORE_OFTEN <= most.n_rows;
        if most.n_rows == 0 || !held.iter().all(is_far) {
            return None;
        }
        let names: Vec<String> =
            others.iter().map(|it| format!("`{}`", self.column(*it).name)).collect();
        let note = format!("“{}” is a value of {} as well.", self.text(at), names.join(", "));
        self.notes.push(note);
        Some(most.place)
    }

    /// Takes the values of a list that the data does not hold: `is one of S, M, XXL` in a check.
    fn take_literals(&mut self, from: usize, found: &mut [Placed]) {
        let is_list = self.has(&[Concept::Eq, Concept::IsAll, Concept::Check]);
        let Some(Test::In(values)) = found.last_mut().map(|it| &mut it.filter.test) else { return };
        let mut at = from;
        if !is_list {
            return;
        }
        loop {
            let next = if self.word(at) == Some(Concept::And) { at + 1 } else { at };
            if !matches!(self.meaning(next), Some(Meaning::Unknown)) {
                break;
            }
            values.push(self.text(next));
            (at..=next).for_each(|it| self.take(it));
            at = next + 1;
        }
    }

    /// Takes a negation before a value: `not Adelie`, `excluding the Adelie`.
    fn negation(&mut self, at: usize) -> bool {
        // `people who do not smoke (never)` says what that is called.
        if self.scene.tokens[self.marks[at].start].is_aside {
            return false;
        }
        let mut before = at;
        for _ in 0..2 {
            let Some(it) = before.checked_sub(1) else { return false };
            match self.word(it) {
                // `there was no snow` says that there is no such row, and is checked so.
                Some(Concept::Without) if self.scene.wants_verdict => return false,
                // States without polio are not states that have something else.
                Some(Concept::Without) if (0..it).any(|it| self.is_text_column(it)) => {
                    return false;
                }
                Some(concept @ (Concept::Ne | Concept::Not | Concept::Without)) => {
                    self.take(it);
                    // `no education (none)` says it twice.
                    let is_none = self.scene.lexicon.is(Cue::Nothing, &self.text(at));
                    return concept != Concept::Without || !is_none;
                }
                Some(Concept::Of | Concept::Eq | Concept::By) | None
                    if self.used[it] || self.word(it).is_some() =>
                {
                    before = it;
                }
                _ => return false,
            }
        }
        false
    }

    /// Returns the column that holds the value and whose name stands beside it.
    fn named_beside(&self, at: usize, held: &[Held]) -> Option<(usize, Place)> {
        let is_near = |it: &usize| {
            let (low, high) = (at.min(*it), at.max(*it));
            (low + 1..high).all(|it| {
                let joins = [
                    Concept::Which,
                    Concept::IsAll,
                    Concept::Eq,
                    Concept::Ne,
                    Concept::Not,
                    Concept::By,
                    Concept::Of,
                ];
                self.word(it).is_some_and(|it| joins.contains(&it))
            })
        };
        let near = (at.saturating_sub(3)..self.marks.len().min(at + 2)).filter(is_near);
        // `NY among the states`
        let among = Some(at + 2).filter(|_| {
            self.word(at + 1) == Some(Concept::By)
                && self.scene.lexicon.is(Cue::Among, &self.text(at + 1))
        });
        near.filter(|it| *it != at).chain(among).find_map(|it| match self.meaning(it)? {
            Meaning::Column(places) => {
                let is_group = it.checked_sub(1).is_some_and(|it| {
                    self.word(it) == Some(Concept::By)
                        && !self.scene.lexicon.is(Cue::Among, &self.text(it))
                });
                let place = places.iter().find(|it| held.iter().any(|held| held.place == **it))?;
                (!is_group).then_some((it, *place))
            }
            _ => None,
        })
    }

    /// Returns a column that has a value of another in its name: `deaths`, of a `death_date`.
    fn named_elsewhere(&self, at: usize, held: &[Held]) -> Option<Place> {
        let mark = &self.marks[at];
        let token = self.scene.tokens.get(mark.start).filter(|_| mark.end == mark.start + 1)?;
        let is_plural = token.lower.ends_with('s') && token.text == token.lower;
        let is_other = |it: &Place| {
            held.iter().all(|held| held.place != *it)
                && self.kind(*it).is_time()
                && self.column(*it).words.contains(&token.stem)
        };
        self.places().find(is_other).filter(|_| is_plural)
    }

    /// Returns the column that a preposition before the value speaks of.
    fn preposed(&self, at: usize, held: &[Held]) -> Option<Place> {
        let word = self.word_before(at)?;
        let stems = self.scene.lexicon.preposition(word)?;
        let found = held
            .iter()
            .find(|it| self.column(it.place).words.iter().any(|word| stems.contains(word)));
        found.map(|it| it.place)
    }

    /// Reads `3rd class` at its ordinal.
    fn nth(&mut self, at: usize) -> Result<Option<Placed>, Doubt> {
        let value = match self.meaning(at) {
            Some(Meaning::Ordinal(place)) => *place,
            Some(Meaning::Word(Concept::First)) => 1,
            _ => return Ok(None),
        };
        let next = at + 1;
        let places = self.choose(next, |_| true);
        let is_whole = places.iter().all(|it| self.kind(*it) == Kind::Whole);
        let is_calendar = places.iter().all(|it| self.is_calendar_number(*it));
        if places.is_empty() || !is_whole || is_calendar {
            return Ok(None);
        }
        let column = self.one(next, |_| true)?;
        self.take(at);
        Ok(Some(is(column, Op::Eq, Scalar::Number(f64::from(value)), at)))
    }

    /// `with 8 cylinders`, `cylinders = 8`, `class 3`.
    fn equalities(&mut self, found: &mut Vec<Placed>) -> Result<(), Doubt> {
        for at in 0..self.marks.len() {
            // `3rd class`, `first class`
            if let Some(placed) = self.nth(at)? {
                found.push(placed);
                continue;
            }
            let Some(value) = self.amount(at) else { continue };
            let before = at.checked_sub(1).and_then(|it| self.word(it));
            // `per 100,000 inhabitants`
            if before == Some(Concept::By) {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            let ranks =
                [Concept::Most, Concept::Least, Concept::First, Concept::Last, Concept::Mode];
            // `the most profit 3`
            let leads = at.checked_sub(2).and_then(|it| self.word(it));
            let is_rank = before.is_some_and(|it| ranks.contains(&it))
                || leads.is_some_and(|it| matches!(it, Concept::Most | Concept::Least))
                    && at.checked_sub(1).is_some_and(|it| self.is_number_column(it))
                || self.word(at + 1).is_some_and(|it| ranks.contains(&it))
                || matches!(
                    self.meaning(at + 1),
                    Some(Meaning::Adjective { is_superlative: true, .. })
                )
                || matches!(self.word(at + 1), Some(Concept::Quantile));
            if is_rank {
                continue;
            }
            let right = self.is_number_column(at + 1)
                // `the 3 months with most rain` are no third month.
                && !(self.is_plural(at + 1)
                    && self.choose(at + 1, |_| true).iter().all(|it| self.is_calendar_number(*it)))
                && self
                    .choose(at + 1, |it| it.kind.is_number())
                    .iter()
                    .any(|it| self.kind(*it) == Kind::Whole && !self.column(*it).is_key);
            // `is 0 or 1` of a column of flags
            let is_list = self.word(at + 1) == Some(Concept::And) && self.amount(at + 2).is_some();
            let left = [at.checked_sub(1), at.checked_sub(2)];
            let left = left.into_iter().flatten().find(|it| {
                (self.is_number_column(*it) || is_list && self.is_flag_column(*it))
                    && (it + 1..at).all(|it| match self.word(it) {
                        // `rank for 162 games` is no rank of 162.
                        Some(Concept::Of) => self.scene.lexicon.is(Cue::Of, &self.text(it)),
                        concept => {
                            matches!(concept, Some(Concept::Which | Concept::Eq | Concept::IsAll))
                        }
                    })
            });
            let column = match (left, right) {
                (Some(left), _) if left + 1 < at || !right => left,
                (_, true) => at + 1,
                (Some(left), false) => left,
                (None, false) => continue,
            };
            // `each belongs to one`, `revenue 2021`: no value is told.
            let is_spelled = self.scene.tokens[self.marks[at].start].kind == TokenKind::Word;
            let is_said = left.is_some_and(|it| it + 1 < at);
            if is_spelled && column < at
                || !is_said && column < at && self.may_be_year(column, value)
            {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            // `every center must have 20 rows`
            if column < at && self.word(at + 1) == Some(Concept::Rows) {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            let (low, high) = (column.min(at), column.max(at));
            let is_negated = (low.saturating_sub(1)..high)
                .any(|it| matches!(self.word(it), Some(Concept::Not | Concept::Ne)));
            let Some(op) = self.side_of(low, high + 1) else {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            };
            let place = self.one(column, |it| it.kind.is_number())?;
            let value = self.in_unit_of(place, at, value)?;
            if self.is_no_year(place, value) {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            for it in low.saturating_sub(1)..=high {
                if low <= it || matches!(self.word(it), Some(Concept::Not | Concept::Ne)) {
                    self.take(it);
                }
            }
            let others = self.more_amounts(at + 1);
            if op == Op::Eq && !others.is_empty() {
                let values = [&[value][..], &others].concat();
                let filter = Filter { place, test: Test::OneOf(values), is_negated };
                found.push(Placed { filter, at, is_predicate: true });
                continue;
            }
            let op = if is_negated { opposite(op) } else { op };
            found.push(is(place, op, Scalar::Number(value), at));
        }
        Ok(())
    }

    /// Returns whether a mark can name no other numbers than keys.
    pub(super) fn is_key_column(&self, at: usize) -> bool {
        let places = self.choose(at, |it| it.kind.is_number());
        !places.is_empty() && places.iter().all(|it| self.column(*it).is_key)
    }

    pub(super) fn is_text_column(&self, at: usize) -> bool {
        let places = self.choose(at, |_| true);
        !places.is_empty() && places.iter().all(|it| self.kind(*it) == Kind::Text)
    }

    pub(super) fn is_flag_column(&self, at: usize) -> bool {
        let places = self.choose(at, |_| true);
        !places.is_empty() && places.iter().all(|it| self.kind(*it) == Kind::Bool)
    }

    /// Takes the further amounts of a list: `should be 0 or 1`.
    fn more_amounts(&mut self, mut at: usize) -> Vec<f64> {
        let mut found = Vec::new();
        while self.word(at) == Some(Concept::And)
            && let Some(value) = self.amount(at + 1)
            && !self.is_column(at + 2)
        {
            self.take(at);
            self.take(at + 1);
            found.push(value);
            at += 2;
        }
        found
    }

    /// Returns on which side of a number a word before its column puts values: `after day 100`, `from day
    /// 100 on`.
    fn side_of(&self, start: usize, end: usize) -> Option<Op> {
        let tokens = self.scene.tokens;
        let before = self.marks[start].start.checked_sub(1);
        let word = before.map(|it| std::slice::from_ref(&tokens[it].stem));
        // `founded before 1900`
        let between = &tokens[self.marks[start].end..self.marks[end - 1].start];
        let inside = between.iter().rev().find_map(|it| {
            let word = self.scene.lexicon.period(std::slice::from_ref(&it.stem))?;
            let says_from = self.scene.lexicon.is(Cue::From, &it.lower);
            op_of_period(word).filter(|it| *it != Op::Ge || !says_from)
        });
        if inside.is_some() {
            return inside;
        }
        let behind = self.marks.get(end - 1).and_then(|it| tokens.get(it.end));
        let goes_on = behind.is_some_and(|it| self.scene.lexicon.is(Cue::Onwards, &it.lower));
        match word.and_then(|it| self.scene.lexicon.period(it)).and_then(op_of_period) {
            Some(op) if op != Op::Ge || goes_on => Some(op),
            _ if goes_on => None,
            _ => Some(Op::Eq),
        }
    }

    /// `who survived`, `non smokers`: columns that are true or false, said as a condition.
    fn flags(&mut self, found: &mut Vec<Placed>) -> Result<(), Doubt> {
        // Bars are stacked by what is true and what is not.
        if self.said(Concept::StackedChart) {
            return Ok(());
        }
        for at in 0..self.marks.len() {
            let Some(Meaning::Column(places)) = self.meaning(at) else { continue };
            let [place] = places[..] else { continue };
            if self.kind(place) != Kind::Bool {
                continue;
            }
            // A `housing loan` may be a `housing`, a `loan`, or both.
            let is_next = self.touches_next(at);
            if let (true, [other]) = (is_next, &self.choose(at + 1, |_| true)[..])
                && self.kind(*other) == Kind::Bool
            {
                return Err(self.ambiguous(at, &[place, *other]));
            }
            let before = at.checked_sub(1).and_then(|it| self.word(it));
            // `among members` says who counts.
            let among = at.checked_sub(1).filter(|it| {
                self.scene.lexicon.is(Cue::Among, &self.text(*it)) && self.scene.last.is_some()
            });
            if let Some(among) = among {
                self.take(among);
            }
            // `all transplanted patients` are those who were.
            let is_of_noun = before == Some(Concept::Each) && self.is_noun(at + 1);
            if is_of_noun {
                self.take(at - 1);
            }
            let is_doer = self.is_doer(at);
            let is_only = self.word_of(at + 1) == Some(Concept::Only);
            let is_group = among.is_none()
                && !is_of_noun
                && !is_doer
                && !is_only
                && matches!(
                    before,
                    Some(Concept::By | Concept::Each | Concept::Missing | Concept::Distinct)
                )
                || at.checked_sub(1).is_some_and(|it| {
                    self.word(it) == Some(Concept::And) && 1 < it && self.is_column(it - 1)
                }) && !is_only
                || matches!(self.word(at + 1), Some(Concept::Missing))
                || self.said(Concept::Missing) && self.open_columns() == [at]
                || self.has(&[Concept::Distribution, Concept::Describe]);
            if is_group {
                continue;
            }
            let mut is_negated = self.negation(at);
            if is_doer {
                self.take(at - 1);
            }
            self.take(at);
            let mut next = at + 1;
            while matches!(self.word(next), Some(Concept::Which | Concept::Eq)) {
                next += 1;
            }
            if let Some(concept @ (Concept::True | Concept::False)) = self.word(next) {
                is_negated ^= concept == Concept::False;
                self.take(next);
            }
            let filter = Filter { place, test: Test::True, is_negated };
            found.push(Placed { filter, at, is_predicate: true });
        }
        Ok(())
    }

    /// `with missing age`, `without an email`: when the question is not about what is missing.
    fn absences(&mut self, found: &mut Vec<Placed>) -> Result<(), Doubt> {
        for at in 0..self.marks.len() {
            let (is_missing, joint) = match self.word(at) {
                Some(Concept::Without | Concept::Missing) => (true, at),
                Some(Concept::Present | Concept::Has) => (false, at),
                _ => continue,
            };
            // `which rows have a missing price`
            if self.word(at) == Some(Concept::Has) && self.word(at + 1) == Some(Concept::Missing) {
                self.take(at);
                continue;
            }
            // `states with no polio`: nothing is said of the states.
            if self.word(at) == Some(Concept::Without) && self.is_value(at + 1) {
                continue;
            }
            // `years since 2000 with a missing price` are listed as well.
            let is_head = matches!(self.marks[0].meaning, Meaning::Column(_))
                && at
                    .checked_sub(1)
                    .is_some_and(|it| 0 < it && self.word_of(it) == Some(Concept::Of));
            let has_noun = is_head || (0..at).any(|it| self.is_noun(it) || self.is_value(it));
            let is_about = self.word(at) == Some(Concept::Missing)
                && !has_noun
                && !self.opens(Cue::Places)
                && !self.opens(Cue::Who);
            let right = (at + 1..self.marks.len().min(at + 3))
                .find(|it| self.is_column(*it))
                .filter(|it| (at + 1..*it).all(|it| self.is_glue_word(it)));
            let may_follow = matches!(self.word(at), Some(Concept::Missing | Concept::Present));
            let left =
                (at.saturating_sub(2)..at).rev().find(|it| may_follow && self.is_column(*it));
            let Some(column) = right.or(left) else { continue };
            let is_led = self.word(0) == Some(Concept::Each)
                || (0..at).all(|it| matches!(self.meaning(it), Some(Meaning::Word(_))));
            let is_claim = self.has(&[Concept::IsAny, Concept::IsAll])
                || self.scene.wants_verdict && (is_led || self.has_no_missing());
            if is_about || is_claim {
                continue;
            }
            // `missing values per column` asks about what is missing.
            let is_group = column.checked_sub(1).and_then(|it| self.word(it)) == Some(Concept::By);
            if is_group {
                continue;
            }
            let place = self.one(column, |_| true)?;
            (joint..column.max(joint + 1)).for_each(|it| self.take(it));
            // `players without a salary record` are in no row.
            if self.word_of(column + 1) == Some(Concept::Rows) && self.touches_next(column) {
                return Err(Doubt::Unplaced(vec![self.text(column)]));
            }
            // `countries without emissions`, which are rows of `emissions`
            let words = &self.column(place).words;
            if 1 < self.scene.tables.len() && self.scene.tables.iter().any(|it| it.words == *words)
            {
                return Err(Doubt::Unplaced(vec![self.text(column)]));
            }
            // `no discount` of a column that always has a number is a discount of nothing.
            let is_nothing = self.word_of(at) == Some(Concept::Without)
                && self.kind(place).is_number()
                && self.column(place).n_missing == 0;
            // `revenue without tax` is not the revenue of what has no tax.
            if is_nothing && !has_noun && !self.said(Concept::HowMany) {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            if is_nothing {
                found.push(is(place, Op::Eq, Scalar::Number(0.0), at));
                continue;
            }
            // None recorded, or a number of none?
            if self.word_of(at) == Some(Concept::Without)
                && self.kind(place).is_number()
                && self.scene.lexicon.is_additive(&self.column(place).words) != Some(false)
                && self.kind(place) == Kind::Whole
            {
                return Err(Doubt::Unplaced(vec![self.text(at)]));
            }
            // `no hair` may be a value that says so.
            let says_none = self.word_of(at) == Some(Concept::Without)
                && self.kind(place) == Kind::Text
                && !self.column(place).is_title;
            let test = match self.scene.lexicon.cues(Cue::Nothing) {
                words if says_none => Test::Absent(words.to_vec()),
                _ => Test::Missing,
            };
            let filter = Filter { place, test, is_negated: !is_missing };
            found.push(Placed { filter, at, is_predicate: true });
            // `without a country or a time`
            let mut next = column + 1;
            while right.is_some()
                && self.word(next) == Some(Concept::And)
                && self.is_column(next + 1)
            {
                if !is_missing {
                    return Err(Doubt::Unplaced(vec![self.text(next + 1)]));
                }
                let place = self.one(next + 1, |_| true)?;
                self.take(next);
                let filter = Filter { place, test: Test::Missing, is_negated: false };
                found.push(Placed { filter, at: next, is_predicate: true });
                next += 2;
            }
        }
        Ok(())
    }

    /// `beijing has no missing rain`
    fn has_no_missing(&self) -> bool {
        self.has(&[Concept::Missing]) && self.has(&[Concept::Without])
    }

    /// Returns the concept of a mark, taken or not.
    /// Returns whether a mark is a word for groups, taken or not.
    pub(super) fn says_group(&self, at: usize) -> bool {
        matches!(self.word_of(at), Some(Concept::By | Concept::Each))
    }

    pub(super) fn word_of(&self, at: usize) -> Option<Concept> {
        match self.marks.get(at)?.meaning {
            Meaning::Word(concept) => Some(concept),
            _ => None,
        }
    }

    fn is_glue_word(&self, at: usize) -> bool {
        matches!(
            self.word(at),
            Some(Concept::Of | Concept::Missing | Concept::Present | Concept::Each)
        )
    }
}

/// Returns whether no value is within two bounds.
fn excludes(low: &Filter, high: &Filter) -> bool {
    let (Test::Is(from_op @ (Op::Gt | Op::Ge), from), Test::Is(to_op @ (Op::Lt | Op::Le), to)) =
        (&low.test, &high.test)
    else {
        return false;
    };
    let order = match (from, to) {
        (Scalar::Number(from), Scalar::Number(to)) => to.partial_cmp(from),
        (Scalar::Day(from), Scalar::Day(to)) => Some(to.cmp(from)),
        (Scalar::Clock(from), Scalar::Clock(to)) => Some(to.cmp(from)),
        _ => None,
    };
    let is_strict = *from_op == Op::Gt || *to_op == Op::Lt;
    let is_past = order == Some(Ordering::Less) || is_strict && order == Some(Ordering::Equal);
    low.place == high.place && !low.is_negated && !high.is_negated && is_past
}
