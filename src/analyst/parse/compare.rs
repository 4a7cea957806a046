//! Comparisons: columns with amounts, with each other, with times of day and with nothing.

use jiff::civil::Time;

use super::{Doubt, Parser, Placed};
use crate::ground::{Meaning, Place};
use crate::lexicon::{Concept, Cue, PeriodWord};
use crate::reading::{Filter, Op, Scalar, Test};
use crate::schema::{Column, Kind};

/// Marks between a column and what it is compared with.
const REACH: usize = 3;

impl Parser<'_> {
    /// `after 9 pm`, `before 12:30`, `between 9 am and 5 pm`.
    pub(super) fn clocks(&mut self, found: &mut Vec<Placed>) {
        for at in 0..self.marks.len() {
            let Some(Meaning::Clock(time)) = self.meaning(at) else { continue };
            let time = *time;
            let of_day = self.places().find(|it| self.kind(*it) == Kind::Clock);
            let moment = || self.calendar().filter(|it| self.kind(*it) != Kind::Day);
            let Some(place) = of_day.or_else(moment) else { continue };
            let joins = at.checked_sub(1).is_some_and(|it| self.is_range_joint(it));
            let start = found.last().filter(|it| joins && at <= it.at + 3).and_then(|it| match it
                .filter
                .test
            {
                Test::Is(Op::Ge, Scalar::Clock(start)) => Some(start),
                _ => None,
            });
            let side = if start.is_some() {
                Some(Op::Le)
            } else {
                self.period_word(at).and_then(op_of_period)
            };
            let Some(op) = side else { continue };
            // `between 6 pm and midnight`
            let is_midnight = start.is_some() && time == Time::midnight();
            // No time lies between 10 pm and 6 am of one day.
            if start.is_some_and(|it| time < it) && !is_midnight {
                continue;
            }
            for it in at.saturating_sub(1)..=at {
                let is_glue = self.word(it).is_some_and(|it| {
                    matches!(it, Concept::Between | Concept::And) || op_of(it).is_some()
                });
                if it == at || is_glue {
                    self.take(it);
                }
            }
            if !is_midnight {
                found.push(is(place, op, Scalar::Clock(time), at));
            }
        }
    }

    /// `price over 100`, `at least 4 cylinders`, `heavier than 4000`, `between 10 and 20`.
    pub(super) fn comparisons(&mut self, found: &mut Vec<Placed>) -> Result<(), Doubt> {
        for at in 0..self.marks.len() {
            let opens = self.word(at) == Some(Concept::Between)
                || self.word(at) == Some(Concept::Of)
                    && self.scene.lexicon.is(Cue::From, &self.text(at));
            if opens && self.range(at, found)? {
                continue;
            }
            if let Some(placed) = self.dates_compared(at)? {
                found.push(placed);
                continue;
            }
            if matches!(self.meaning(at), Some(Meaning::Adjective { is_superlative: false, .. })) {
                found.extend(self.adjective_compared(at)?);
                continue;
            }
            // `fewer murders than Wyoming` compares with a row that has to be looked up.
            if self.word(at) == Some(Concept::Than)
                && self.is_value(at + 1)
                && !(0..at).any(|it| self.is_value(it))
            {
                return Err(Doubt::Unplaced(vec![self.text(at), self.text(at + 1)]));
            }
            let Some(op) = self.word(at).and_then(op_of) else { continue };
            // `more than half of the price`
            if self.amount(at + 1).is_some()
                && self.word(at + 2) == Some(Concept::Of)
                && self.scene.lexicon.is(Cue::Of, &self.text(at + 2))
                && self.is_number_column(at + 3)
            {
                return Err(Doubt::Unplaced(vec![self.text(at + 1)]));
            }
            if let Some(placed) = self.flag_equals(at, op)? {
                found.push(placed);
                continue;
            }
            if let Some(value) = self.amount(at + 1) {
                let before = (0..at).rev().find(|it| self.word(*it) != Some(Concept::Which));
                let negated = before.filter(|it| self.word(*it) == Some(Concept::Not));
                // `each has exactly 4 rows`, `ages with more than 30 workers` are no numbers of something else.
                let counts = self.counts_behind(at, at + 1);
                let place = if counts { None } else { self.compared(at, at + 1)? };
                if let Some(place) = place {
                    if self.is_no_year(place, value) {
                        return Err(Doubt::Unplaced(vec![self.text(at + 1)]));
                    }
                    let value = self.in_unit_of(place, at + 1, value)?;
                    self.take(at);
                    self.take(at + 1);
                    let mut placed = is(place, op, Scalar::Number(value), at);
                    if let Some(not) = negated {
                        self.take(not);
                        placed.filter.is_negated = true;
                    }
                    found.push(placed);
                } else if self.is_noun(at + 2) && !self.is_percent(at + 1) {
                    self.take(at);
                    self.take(at + 1);
                    self.take(at + 2);
                    self.count_test = Some((op, value));
                }
            } else if let Some(value) = at.checked_sub(1).and_then(|it| self.amount(it))
                && matches!(op, Op::Ge | Op::Le | Op::Gt | Op::Lt)
            {
                // `100 or more`
                if self.counts_behind(at - 1, at) {
                    // `teams with 29 or more players`
                    return Err(Doubt::Unplaced(vec![self.text(at - 1)]));
                }
                if let Some(place) = self.compared(at - 1, at)? {
                    let value = self.in_unit_of(place, at - 1, value)?;
                    self.take(at);
                    self.take(at - 1);
                    found.push(is(place, op, Scalar::Number(value), at - 1));
                }
            } else if self.is_number_column(at + 1)
                && let Some(left) = self.left_column(at)
            {
                let not = (left + 1..at).find(|it| self.word(*it) == Some(Concept::Not));
                let left = self.one(left, |it| it.kind.is_number())?;
                let right = self.one(at + 1, |it| it.kind.is_number())?;
                self.take(at);
                if let Some(not) = not {
                    self.take(not);
                }
                let is_negated = not.is_some();
                let filter = Filter { place: left, test: Test::IsTo(op, right), is_negated };
                found.push(Placed { filter, at, is_predicate: true });
            }
        }
        Ok(())
    }

    /// Reads `heavier than 4000` at its adjective.
    fn adjective_compared(&mut self, at: usize) -> Result<Option<Placed>, Doubt> {
        let Some(Meaning::Adjective { of, low, .. }) = self.meaning(at) else { return Ok(None) };
        let (of, low) = (of.clone(), *low);
        let mut next = at + 1;
        if matches!(self.word(next), Some(Concept::Than)) {
            next += 1;
        }
        let op = self.word(next).and_then(op_of);
        let number_at = if op.is_some() { next + 1 } else { next };
        let is_than = next == at + 2 || op.is_some();
        let Some(value) = self.amount(number_at).filter(|_| is_than) else { return Ok(None) };
        let op = op.unwrap_or(if low { Op::Lt } else { Op::Gt });
        let place = self.only(at, &of)?;
        let value = self.in_unit_of(place, number_at, value)?;
        (at..=number_at).for_each(|it| self.take(it));
        Ok(Some(is(place, op, Scalar::Number(value), at)))
    }

    /// Reads `surgery = 1` at its sign, where that says yes or no.
    fn flag_equals(&mut self, at: usize, op: Op) -> Result<Option<Placed>, Doubt> {
        let (Op::Eq, Some(value), Some(flag)) = (op, self.amount(at + 1), at.checked_sub(1)) else {
            return Ok(None);
        };
        if !self.is_flag_column(flag) {
            return Ok(None);
        }
        if value != 0.0 && (value - 1.0).abs() > f64::EPSILON {
            return Err(Doubt::Unplaced(vec![self.text(at + 1)]));
        }
        let place = self.one(flag, |_| true)?;
        self.take(at);
        self.take(at + 1);
        let filter = Filter { place, test: Test::True, is_negated: value == 0.0 };
        Ok(Some(Placed { filter, at, is_predicate: true }))
    }

    /// Returns whether an amount from mark `start` to `end` is a number of what stands behind it: nothing
    /// before it is compared.
    fn counts_behind(&self, start: usize, end: usize) -> bool {
        let is_next = self.touches_next(end);
        if self.word(end + 1) == Some(Concept::Rows) {
            return true;
        }
        let names = self.is_column(end + 1) && !self.is_number_column(end + 1);
        let is_thing =
            self.is_noun(end + 1) || self.is_value(end + 1) || names || self.is_called_so(end + 1);
        // `exactly one winner`
        let is_one = (start..=end).any(|it| self.amount(it) == Some(1.0));
        let is_plural = end + 1 < self.marks.len() && (self.is_plural(end + 1) || is_one);
        // `1500 pupils (Size)` says what is compared.
        let is_told =
            self.is_number_column(end + 2) && self.scene.tokens[self.marks[end + 2].start].is_aside;
        // `cars over 100 hp` compares, `with a tip over 5 dollars` too.
        let is_compared = start
            .checked_sub(1)
            .is_some_and(|it| self.is_number_column(it) && self.touches_next(it));
        is_next && is_thing && is_plural && !is_told && !is_compared
    }

    /// Returns whether a column is called what the table's rows are: the ratings of `film_ratings`.
    pub(super) fn is_called_so(&self, at: usize) -> bool {
        let name = self.scene.tables[0].words.last();
        self.is_column(at) && self.is_plural(at) && name == Some(&self.last_token(at).stem)
    }

    /// Returns whether a mark names a value, taken or not.
    pub(super) fn is_value(&self, at: usize) -> bool {
        self.marks.get(at).is_some_and(|it| matches!(it.meaning, Meaning::Value(_)))
    }

    /// Returns whether a sign of percent follows an amount.
    pub(super) fn is_percent(&self, at: usize) -> bool {
        let sign = self.scene.tokens.get(self.marks[at].end);
        sign.is_some_and(|it| self.scene.lexicon.per_unit("%", &it.stem).is_some())
    }

    /// Reads `ship date before order date` at its first column.
    fn dates_compared(&mut self, at: usize) -> Result<Option<Placed>, Doubt> {
        let is_time = |it: &Column| it.kind.is_time() || it.kind == Kind::Clock;
        let of_time = |it: usize| {
            self.is_column(it)
                && self.choose(it, is_time).iter().all(|it| is_time(self.column(*it)))
        };
        let joint = (at + 1..self.marks.len().min(at + REACH + 1)).find(|it| !self.is_joint(*it));
        let Some(joint) = joint.filter(|_| of_time(at)) else { return Ok(None) };
        let said = &self.scene.tokens[self.marks[at].end..];
        let (op, right) = match self.word(joint).and_then(op_of) {
            // `is not before`
            Some(Op::Ne | Op::Eq) if self.has_period_word(joint, joint + 1) => {
                return Err(Doubt::Unplaced(vec![self.text(joint)]));
            }
            Some(op) if of_time(joint + 1) => (op, joint + 1),
            None if of_time(joint) => {
                let n_between = self.marks[joint].start - self.marks[at].end;
                let words = said[..n_between].iter();
                let periods = words
                    .filter_map(|it| self.scene.lexicon.period(std::slice::from_ref(&it.stem)));
                let mut op = periods.filter_map(op_of_period).filter(|it| *it != Op::Ge);
                match op.next_back() {
                    Some(op) => (op, joint),
                    None => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let left = self.one(at, is_time)?;
        let place = self.one(right, is_time)?;
        let before = at.checked_sub(1);
        let is_negated = (before.into_iter().chain(at + 1..right)).any(|it| {
            let negates =
                matches!(self.word(it), Some(Concept::Not | Concept::Without | Concept::Ne));
            negates && {
                self.take(it);
                true
            }
        });
        for it in at..=right {
            // `is the end ever before the start`
            if self.word(it) != Some(Concept::IsAny) {
                self.take(it);
            }
        }
        let filter = Filter { place: left, test: Test::IsTo(op, place), is_negated };
        Ok(Some(Placed { filter, at, is_predicate: true }))
    }

    /// Returns whether a word between two marks says how times lie to each other.
    fn has_period_word(&self, from: usize, to: usize) -> bool {
        let Some(behind) = self.marks.get(to) else { return false };
        self.scene.tokens[self.marks[from].end..behind.start].iter().any(|it| {
            let word = self.scene.lexicon.period(std::slice::from_ref(&it.stem));
            matches!(word, Some(PeriodWord::Before | PeriodWord::After | PeriodWord::Since))
        })
    }

    /// Reads `between 10 and 20` at a mark.
    fn range(&mut self, at: usize, found: &mut Vec<Placed>) -> Result<bool, Doubt> {
        let is_from = self.word(at) == Some(Concept::Of);
        let lexicon = self.scene.lexicon;
        if self.marks.len() <= at + 2 {
            return Ok(false);
        }
        let joint = self.text(at + 2);
        if !lexicon.is(Cue::To, &joint) && (is_from || !lexicon.is(Cue::Both, &joint)) {
            return Ok(false);
        }
        let ends = self.amount(at + 1).zip(self.amount(at + 3));
        let Some((low, high)) = ends else { return Ok(false) };
        let Some(place) = self.compared(at, at + 3)? else { return Ok(false) };
        (at..=at + 3).for_each(|it| self.take(it));
        let low = self.in_unit_of(place, at + 1, low)?;
        let high = self.in_unit_of(place, at + 3, high)?;
        let (low, high) = (low.min(high), low.max(high));
        found.push(is(place, Op::Ge, Scalar::Number(low), at));
        found.push(is(place, Op::Le, Scalar::Number(high), at));
        Ok(true)
    }

    /// Finds and takes the column that a comparison from mark `start` to `end` is about.
    fn compared(&mut self, start: usize, end: usize) -> Result<Option<Place>, Doubt> {
        let right = (end + 1..self.marks.len().min(end + 2))
            .filter(|it| !self.names_key_in_plural(*it) && !self.is_unit(*it))
            .find(|it| self.is_number_column(*it) || self.speaks_of_number(*it))
            .or_else(|| self.glossed_behind(end));
        let left = self.left_column(start);
        // `with over 100 horsepower` has its column behind it, `horsepower over 100` before.
        let chosen = match (left, right) {
            (Some(left), Some(right)) => {
                let is_bound = (left + 1..start).all(|it| self.used[it] || self.is_joint(it))
                    && left + 1 == start
                    || (left + 1..start).any(|it| self.word(it) == Some(Concept::Which));
                // `most protein under 500 calories`
                let is_ranked = left.checked_sub(1).is_some_and(|it| {
                    matches!(self.word_of(it), Some(Concept::Most | Concept::Least))
                });
                let is_of_right = is_ranked
                    || (left + 1..start).any(|it| {
                        matches!(self.word(it), Some(Concept::Of | Concept::And | Concept::By))
                    });
                if is_bound && !is_of_right { left } else { right }
            }
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => {
                // `tips over 10` of the table `tips`, which has a column `tip`.
                let of_noun = start.checked_sub(1).and_then(|it| self.size_of_noun(it));
                let place = self.measured_in(start..=end).or(of_noun);
                // `fewer than 100 routes` counts them.
                if place.is_some() || self.is_noun(end + 1) {
                    return Ok(place);
                }
                return Ok(self.implied(start).or_else(|| self.only_number()));
            }
        };
        let place = match self.meaning(chosen) {
            Some(Meaning::Adjective { of, .. }) => {
                let of = of.clone();
                let place = self.only(chosen, &of)?;
                self.take(chosen);
                place
            }
            _ => self.one(chosen, |it| it.kind.is_number())?,
        };
        Ok(Some(place))
    }

    /// `more than 2 siblings (sibsp)`: the column that unknown words are explained by.
    fn glossed_behind(&self, end: usize) -> Option<usize> {
        let column = (end + 1..self.marks.len().min(end + REACH + 1)).find(|it| {
            self.is_number_column(*it) && self.scene.tokens[self.marks[*it].start].is_aside
        })?;
        let is_unknown = |it: usize| matches!(self.meaning(it), Some(Meaning::Unknown));
        (end + 1..column).all(is_unknown).then_some(column)
    }

    /// `under 150 cm`: the only column that is measured so, when the question names none.
    fn measured_in(&self, mut marks: std::ops::RangeInclusive<usize>) -> Option<Place> {
        let lexicon = self.scene.lexicon;
        let unit = marks.find_map(|it| self.unit_behind(it))?.stem.as_str();
        let mut found = self.places().filter(|it| {
            let words = &self.column(*it).words;
            self.kind(*it).is_number()
                && 1 < words.len()
                && words.last().is_some_and(|it| lexicon.per_unit(it, unit).is_some())
        });
        let only = found.next()?;
        found.next().is_none().then_some(only)
    }

    fn is_joint(&self, at: usize) -> bool {
        let joints = [
            Concept::Which,
            Concept::Of,
            Concept::And,
            Concept::Not,
            Concept::IsAll,
            Concept::IsAny,
            Concept::Eq,
        ];
        self.word(at).is_some_and(|it| joints.contains(&it))
    }

    /// Returns whether a mark is a unit of measure, though a column has it in its name: `30 m2`.
    fn is_unit(&self, at: usize) -> bool {
        let mark = &self.marks[at];
        mark.end == mark.start + 1 && self.scene.lexicon.is_known_unit(&self.last_token(at).stem)
    }

    /// Returns whether a mark names things by their key, of which no amount is told: `at least 4 customers`.
    pub(super) fn names_key_in_plural(&self, at: usize) -> bool {
        let lexicon = self.scene.lexicon;
        let says_key = |at: usize| lexicon.is(Cue::Keys, &self.last_token(at).stem);
        self.is_key_column(at) && !says_key(at)
    }

    fn speaks_of_number(&self, at: usize) -> bool {
        matches!(self.meaning(at), Some(Meaning::Adjective { is_superlative: false, .. }))
    }

    /// Returns the column before a mark, with nothing between them but what joins them.
    pub(super) fn left_column(&self, at: usize) -> Option<usize> {
        for it in (at.saturating_sub(REACH)..at).rev() {
            // `schools smaller than 200`, of which the `School` is a key
            if self.names_key_in_plural(it) {
                return None;
            }
            if self.is_number_column(it) || self.speaks_of_number(it) {
                return Some(it);
            }
            if !self.used[it] && !self.is_joint(it) {
                return None;
            }
        }
        None
    }

    /// Returns the column that a noun before a bare number implies: the age of people.
    fn implied(&self, at: usize) -> Option<Place> {
        let noun = (0..at).rev().find(|it| self.is_noun(*it))?;
        let stem = &self.last_token(noun).stem;
        let wanted = self.scene.lexicon.implied(stem);
        let mut found = wanted.iter().filter_map(|word| {
            self.places().find(|it| {
                let column = self.column(*it);
                column.kind.is_number() && column.words == [word.clone()]
            })
        });
        found.next()
    }

    /// Returns the only column of numbers, when the question names none.
    fn only_number(&self) -> Option<Place> {
        let mut numbers =
            self.places().filter(|it| self.kind(*it).is_number() && !self.column(*it).is_key);
        let only = numbers.next()?;
        let is_named = self.open().any(|it| self.is_number_column(it));
        (numbers.next().is_none() && !is_named).then_some(only)
    }

    /// Returns the one column that an adjective speaks of; a column beside it decides between several.
    pub(super) fn only(&self, at: usize, of: &[Place]) -> Result<Place, Doubt> {
        match of {
            [place] => Ok(*place),
            [] => Err(Doubt::Unplaced(vec![self.text(at)])),
            of => self.by_direction(at, of).ok_or_else(|| self.ambiguous(at, of)),
        }
    }

    /// `negative profit`, `profit is below zero`.
    pub(super) fn signs(&mut self, found: &mut Vec<Placed>) {
        let signs = [
            (Concept::Negative, Op::Lt),
            (Concept::NonNegative, Op::Ge),
            (Concept::Positive, Op::Gt),
            (Concept::Zero, Op::Eq),
            (Concept::Nonzero, Op::Ne),
        ];
        for at in 0..self.marks.len() {
            if let Some(Meaning::Loss(place)) = self.meaning(at) {
                let place = *place;
                self.take(at);
                found.push(is(place, Op::Lt, Scalar::Number(0.0), at));
                continue;
            }
            let Some((_, op)) = signs.iter().find(|it| self.word(at) == Some(it.0)) else {
                continue;
            };
            let near = self.left_column(at).or_else(|| {
                (at + 1 < self.marks.len() && self.is_number_column(at + 1)).then_some(at + 1)
            });
            let Some(near) = near else { continue };
            let Ok(place) = self.one(near, |it| it.kind.is_number()) else { continue };
            self.take(at);
            let before = at
                .checked_sub(1)
                .filter(|it| matches!(self.word(*it), Some(Concept::Not | Concept::Ne)));
            let mut placed = is(place, *op, Scalar::Number(0.0), at);
            if let Some(before) = before {
                self.take(before);
                placed.filter.is_negated = true;
            }
            found.push(placed);
        }
    }
}

/// Returns how a concept compares.
pub(super) fn op_of(concept: Concept) -> Option<Op> {
    Some(match concept {
        Concept::Gt => Op::Gt,
        Concept::Ge => Op::Ge,
        Concept::Lt => Op::Lt,
        Concept::Le => Op::Le,
        Concept::Eq => Op::Eq,
        Concept::Ne => Op::Ne,
        _ => return None,
    })
}

/// Returns how a word for a period compares with it: `since`.
pub(super) fn op_of_period(word: PeriodWord) -> Option<Op> {
    match word {
        PeriodWord::Before => Some(Op::Lt),
        PeriodWord::After => Some(Op::Gt),
        PeriodWord::Since => Some(Op::Ge),
        _ => None,
    }
}

pub(super) fn is(place: Place, op: Op, scalar: Scalar, at: usize) -> Placed {
    let filter = Filter { place, test: Test::Is(op, scalar), is_negated: false };
    Placed { filter, at, is_predicate: true }
}
