//! Sense: a reading that answers nothing, or another question, is no reading.

use super::{Doubt, Parser, compare, measures};
use crate::ground::{Mark, Meaning, Place};
use crate::lexicon::{Concept, Cue, PeriodWord, TimeUnit};
use crate::reading::{Agg, Check, Filter, Group, Measure, Op, Over, Part, Scalar, Test, What};
use crate::schema::Kind;
use crate::words::Token;

impl Parser<'_> {
    /// Fails when what is asked may be something else.
    pub(super) fn asks_one_thing(&self, what: &What, filters: &[Filter]) -> Result<(), Doubt> {
        // `do seniors earn more` wants yes or no, and no number.
        let is_number = match what {
            What::Aggregate { groups, .. } => groups.is_empty(),
            What::Rows { .. } | What::Distribution(_) => true,
            _ => false,
        };
        let is_series = matches!(what, What::Aggregate { over, .. } if *over != Over::Plain);
        if (is_number || is_series) && self.begins_yes_no() {
            return Err(Doubt::Unasked);
        }
        // `which levels average sales over 8` asks for levels, and no number.
        let lexicon = self.scene.lexicon;
        let tokens = self.scene.tokens;
        let which = tokens.iter().take(2).position(|it| lexicon.is(Cue::Whiches, &it.lower));
        let is_which_is = which
            .and_then(|at| tokens.get(at + 1))
            .is_some_and(|it| lexicon.is(Cue::Is, &it.lower));
        if let What::Aggregate { measures, groups, .. } = what
            && which.is_some()
            && groups.is_empty()
            && !(is_which_is && measures.iter().any(|it| matches!(it.agg, Agg::Min | Agg::Max)))
        {
            return Err(Doubt::Unasked);
        }
        // `which city has the store with the highest sales`: of a city, nothing is known.
        let stem = |it: &Mark| &self.scene.tokens[it.end - 1].stem;
        if let [which, thing, rest @ ..] = &self.marks[..]
            && which.meaning == Meaning::Word(Concept::Which)
            && thing.meaning == Meaning::Noun
            && rest.iter().any(|it| it.meaning == Meaning::Noun && stem(it) != stem(thing))
        {
            return Err(Doubt::Unplaced(vec![self.text(1)]));
        }
        // Of groups that have one value, none is the largest.
        if let What::Aggregate { groups, rank: Some(rank), .. } = what
            && let [Group::By(place)] = groups[..]
            && rank.n == Some(1)
            && filters.iter().any(|it| {
                it.place == place
                    && !it.is_negated
                    && matches!(&it.test, Test::In(values) if values.len() == 1)
            })
        {
            return Err(Doubt::Unasked);
        }
        // What is a part of itself is all or nothing.
        if let What::Share { part, groups, .. } = what
            && part.iter().any(|it| groups.iter().any(|group| group.place() == it.place))
        {
            return Err(Doubt::Unasked);
        }
        // Of a number that a condition is on, no part is asked for.
        if let What::Share { part, of: Some(of), .. } = what
            && part.iter().any(|it| it.place == *of)
        {
            return Err(Doubt::Unasked);
        }
        // `orders, in store only`: which they are, nobody knows.
        if let [.., noun, only] = &self.marks[..]
            && noun.meaning == Meaning::Noun
            && only.meaning == Meaning::Word(Concept::Only)
        {
            return Err(Doubt::Unplaced(vec![self.text(self.marks.len() - 2)]));
        }
        // `RU vs MQ` are two shares.
        if matches!(what, What::Share { .. }) && self.said(Concept::Versus) {
            return Err(Doubt::Unasked);
        }
        // A number that is asked for is no list, and no column stands for itself.
        if matches!(what, What::Rows { .. }) && self.said(Concept::HowMany) {
            return Err(Doubt::Unasked);
        }
        // When it was is no period of which something is asked.
        let is_recent = |it: &Filter| matches!(it.test, Test::Last(..));
        if self.opens(Cue::When) && filters.iter().any(is_recent) {
            return Err(Doubt::Unasked);
        }
        // Customers without a row elsewhere are no rows here.
        if (1..self.marks.len()).any(|it| {
            self.word_of(it) == Some(Concept::Rows)
                && self.word_of(it - 1) == Some(Concept::Without)
        }) {
            return Err(Doubt::Unasked);
        }
        // `callbacks for women` may be their number, or who they are.
        if *what == What::ROWS && self.is_flag(0) {
            return Err(Doubt::Unasked);
        }
        // `nobody who is homeless has a mortgage` is no claim that all others have one.
        let denies = self.word_of(0) == Some(Concept::Not) && !self.said(Concept::Missing);
        let claims = match what {
            What::Check(Check::Present(_)) => true,
            What::Check(Check::All(part)) => part.iter().any(Filter::is_presence),
            _ => filters.iter().any(Filter::is_presence),
        };
        if denies && claims {
            return Err(Doubt::Unasked);
        }
        // What is claimed of each is judged, and not listed.
        if self.scene.wants_verdict && self.claims_all() && !matches!(what, What::Check(_)) {
            return Err(Doubt::Unasked);
        }
        Ok(())
    }

    /// Fails when numbers cannot be computed so, or mean nothing.
    pub(super) fn can_be_computed(&self, what: &What) -> Result<(), Doubt> {
        if let What::Aggregate { measures, groups, .. } = what {
            // Nothing adds up by itself: `sales by salesperson` is not `sales` by `sales`.
            let is_group = |it: Place| groups.iter().any(|group| group.place() == it);
            if measures.iter().any(|it| it.of.is_some_and(is_group)) {
                return Err(Doubt::Unasked);
            }
            // What a row refers to would be added up once for each that does.
            let is_repeated =
                |it: &Measure| it.agg == Agg::Sum && it.of.is_some_and(|it| 0 < it.table);
            if measures.iter().any(is_repeated) {
                return Err(Doubt::Unasked);
            }
            // A yearly salary is what somebody has in a year, and no series.
            if self.tells_rate(measures, groups) {
                return Err(Doubt::Unasked);
            }
            let computes =
                |it: &Measure| !matches!(it.agg, Agg::Count | Agg::Distinct | Agg::Min | Agg::Max);
            let fits = |place: Place| {
                let (kind, is_key) = (self.kind(place), self.column(place).is_key);
                kind == Kind::Real || kind == Kind::Bool || kind == Kind::Whole && !is_key
            };
            if measures.iter().any(|it| computes(it) && it.of.is_some_and(|it| !fits(it))) {
                return Err(Doubt::Unasked);
            }
        }
        Ok(())
    }

    /// Fails when the answer would say nothing of what the question names.
    pub(super) fn says_something(&self, what: &What, filters: &[Filter]) -> Result<(), Doubt> {
        // `people with a job`: which they are, nobody knows.
        let told =
            |it: &usize| self.marks[*it].meaning == Meaning::Noun && self.follows(*it, Cue::WithA);
        if let Some(noun) = (0..self.marks.len()).find(told) {
            return Err(Doubt::Unplaced(vec![self.text(noun)]));
        }
        // `number of salary records` is one of rows.
        let is_record = |it: &usize| {
            self.word_of(*it) == Some(Concept::HowMany)
                && self.word_of(it + 2) == Some(Concept::Rows)
                && matches!(self.marks[it + 1].meaning, Meaning::Column(_))
                && self.touches_next(it + 1)
        };
        let counts =
            matches!(what, What::Aggregate { measures, .. } if measures[..] == [Measure::ROWS]);
        if !counts && (0..self.marks.len()).any(|it| is_record(&it)) {
            return Err(Doubt::Unasked);
        }
        // `number still alive` is no list.
        let [first, ..] = self.scene.tokens else { return Err(Doubt::Unasked) };
        let is_left_out = self.marks.first().is_some_and(|it| 0 < it.start);
        let is_number = is_left_out && self.scene.lexicon.is(Cue::Keys, &first.lower);
        if is_number && matches!(what, What::Rows { .. }) {
            return Err(Doubt::Unasked);
        }
        // `which stages are there`, of what is yes or no
        if *what == What::ROWS && filters.len() == 1 && self.opens(Cue::Whiches) && self.is_flag(1)
        {
            return Err(Doubt::Unplaced(vec![self.text(1)]));
        }
        // `cds sold in May` is a list of numbers, or what they add up to.
        let is_headed = matches!(what, What::Rows { .. }) && self.is_number_head();
        if is_headed && filters.iter().any(|it| self.kind(it.place).is_time()) {
            return Err(Doubt::Unasked);
        }
        // Points have two numbers, and no shares.
        if self.said(Concept::ScatterChart) && self.said(Concept::Share) {
            return Err(Doubt::Unasked);
        }
        let says = match what {
            What::Aggregate { measures, groups, rank, over, .. } => {
                // `films per year from 1990` are of more than one year.
                let is_of_year = |it: &Group| {
                    let is_it = |filter: &Filter| {
                        filter.place == it.place()
                            && match (&filter.test, it) {
                                (Test::Is(Op::Eq, Scalar::Number(_)), Group::By(_)) => true,
                                (Test::Part(Part::Year, years), Group::Time(_, TimeUnit::Year)) => {
                                    years.len() == 1
                                }
                                (Test::In(values), Group::By(_)) => {
                                    values.len() == 1 && measures[..] == [Measure::ROWS]
                                }
                                _ => false,
                            }
                    };
                    filters.iter().any(is_it)
                };
                // Years are averaged where somebody says so.
                let is_made_up = |it: &Measure| {
                    let is_told = match it.agg {
                        Agg::Sum | Agg::Mean => measures.len() == 1 && self.has_said(it.agg),
                        // `the highest that year`
                        Agg::Max | Agg::Min => rank.is_none(),
                        _ => true,
                    };
                    !is_told && it.of.is_some_and(|it| self.is_calendar_number(it))
                };
                if measures.iter().any(is_made_up) {
                    return Err(Doubt::Unasked);
                }
                let is_made_otherwise = *over != Over::Mean && self.is_made_otherwise(measures);
                if is_made_otherwise || self.counts_other(measures) {
                    return Err(Doubt::Unasked);
                }
                // One number compares nothing.
                let compares = self.said(Concept::Compare) && groups.is_empty();
                let is_one = measures.len() == 1;
                !(groups.iter().any(is_of_year) || compares && is_one || self.mixes_times(what))
            }
            What::Rows { columns, .. } => {
                let is_twice = (1..columns.len()).any(|it| columns[..it].contains(&columns[it]));
                // `names of the celebrities`, where nobody has one.
                let lexicon = self.scene.lexicon;
                let wants_name = columns.is_empty()
                    && self.scene.tokens.iter().any(|it| lexicon.is(Cue::Labels, &it.stem))
                    && !self.places().any(|it| self.column(it).is_title);
                !is_twice && !wants_name
            }
            _ => true,
        };
        if says { Ok(()) } else { Err(Doubt::Unasked) }
    }

    /// Returns whether a word of the question makes one number of many in this way.
    fn has_said(&self, agg: Agg) -> bool {
        let makes =
            |it: usize| measures::agg_of(self.word_of(it)).is_some_and(|it| it.contains(&agg));
        (0..self.marks.len()).any(makes)
    }

    /// Returns whether the question wants a figure that the reading has not: `the highest average number of
    /// sales`.
    fn is_made_otherwise(&self, measures: &[Measure]) -> bool {
        (0..self.marks.len()).filter_map(|it| self.word_of(it)).any(|it| {
            matches!(it, Concept::Mean | Concept::Median | Concept::Std)
                && measures::agg_of(Some(it))
                    .is_some_and(|of| measures.iter().all(|it| !of.contains(&it.agg)))
        })
    }

    /// Returns whether things are counted, and the reading adds up another number: `how many games did we win`.
    fn counts_other(&self, measures: &[Measure]) -> bool {
        let is_count = |it: &usize| self.word_of(*it) == Some(Concept::HowMany);
        let Some(at) = (0..self.marks.len()).find(is_count) else { return false };
        let adds = |it: &Measure| !matches!(it.agg, Agg::Count | Agg::Distinct);
        let is_thing = self.marks.get(at + 1).is_some_and(|it| it.meaning == Meaning::Noun)
            || self.is_flag(at + 1) && self.touches_next(at);
        is_thing && measures.iter().all(adds)
    }

    /// Returns whether one date is cut into periods where another one is named.
    fn mixes_times(&self, what: &What) -> bool {
        let What::Aggregate { measures, groups, .. } = what else { return false };
        let cut = groups.iter().find_map(|it| match it {
            Group::Time(place, _) | Group::Part(place, _) => Some(*place),
            Group::By(_) => None,
        });
        let Some(cut) = cut else { return false };
        let of = measures.iter().filter_map(|it| it.of);
        let by = groups.iter().map(Group::place);
        of.chain(by).any(|it| it != cut && self.kind(it).is_time())
    }

    /// Returns whether a comparative stands for a superlative: `who has more, men or women`.
    pub(super) fn says_comparative(&self) -> bool {
        self.marks.iter().any(|it| {
            let text = &self.scene.tokens[it.end - 1].lower;
            let is_more = matches!(it.meaning, Meaning::Word(Concept::Most | Concept::Least))
                && self.scene.lexicon.is(Cue::Comparatives, text);
            is_more || matches!(it.meaning, Meaning::Adjective { is_superlative: false, .. })
        })
    }

    /// Returns whether the question says what holds of all.
    fn claims_all(&self) -> bool {
        let first = self.marks.first().map(|it| &it.meaning);
        matches!(first, Some(Meaning::Word(Concept::Each | Concept::IsAll | Concept::IsAny)))
            || self.said(Concept::IsAll)
    }

    /// Returns whether the question begins with a number that is no part of a calendar.
    fn is_number_head(&self) -> bool {
        let head = self.marks.first().map(|it| &it.meaning);
        matches!(head, Some(Meaning::Column(places)) if places.iter().all(|it| {
            self.kind(*it).is_number() && !self.column(*it).is_key && !self.is_calendar_number(*it)
        }))
    }

    /// Returns whether a mark, taken or not, is a column that says yes or no.
    pub(super) fn is_flag(&self, at: usize) -> bool {
        let mark = self.marks.get(at).map(|it| &it.meaning);
        matches!(mark, Some(Meaning::Column(places))
            if places.iter().all(|it| self.kind(*it) == Kind::Bool))
    }

    /// Returns whether a unit of time says for how long something is paid: `yearly salary`, `pay per hour`.
    fn tells_rate(&self, measures: &[Measure], groups: &[Group]) -> bool {
        let lexicon = self.scene.lexicon;
        let is_pay =
            |it: &Measure| it.of.is_some_and(|it| lexicon.has(Cue::Pay, &self.column(it).words));
        let is_paid = measures.iter().any(is_pay)
            || self.marks.iter().any(|it| {
                let words = self.scene.tokens[it.start..it.end].iter();
                words.into_iter().any(|it| lexicon.is(Cue::Pay, &it.stem))
            });
        let is_rate = |at: usize| {
            let is_per = at.checked_sub(1).is_some_and(|it| lexicon.is(Cue::Per, &self.text(it)));
            let text = self.text(at);
            matches!(self.marks[at].meaning, Meaning::Unit(_))
                && (is_per || lexicon.is(Cue::Regular, &text))
        };
        is_paid
            && groups.iter().any(|it| matches!(it, Group::Time(..)))
            && (0..self.marks.len()).any(is_rate)
    }

    /// Returns whether a noun names some of the rows, and no condition says which: adults.
    fn restricts(&self, at: usize) -> bool {
        let is_bound = self.marks.get(at + 1).is_some_and(|it| match it.meaning {
            Meaning::Word(concept) => self.used[at + 1] && compare::op_of(concept).is_some(),
            _ => false,
        });
        let token = self.last_token(at);
        self.marks[at].meaning == Meaning::Noun
            && self.scene.lexicon.is(Cue::Restricting, &token.stem)
            && !is_bound
    }

    /// Returns whether a mark only says in other words what stands in parentheses behind it.
    pub(super) fn is_glossed(&self, at: usize) -> bool {
        let tokens = self.scene.tokens;
        let behind = self.marks[at].end;
        let aside = (behind..tokens.len().min(behind + 3)).find(|it| tokens[*it].is_aside);
        let turns = |it: &Token| self.scene.lexicon.is(Cue::Losses, &it.stem);
        if tokens[self.marks[at].start..self.marks[at].end].iter().any(turns) {
            return false;
        }
        let told = aside.and_then(|it| self.marks.iter().position(|mark| mark.start == it));
        !tokens[self.marks[at].start].is_aside
            && told.is_some_and(|it| {
                self.used[it] && matches!(self.marks[it].meaning, Meaning::Column(_))
            })
    }

    /// Returns whether a mark is no more than what rows are, though a key is named after it: the tests of
    /// `test_id`.
    pub(super) fn is_thing(&self, at: usize) -> bool {
        let Some(Meaning::Column(places)) = self.meaning(at) else { return false };
        let last = self.last_token(at);
        let is_key = |it: &Place| self.column(*it).is_key_of(&last.stem);
        self.marks[at].end - self.marks[at].start == 1
            && last.lower.ends_with('s')
            && places.iter().all(is_key)
    }

    /// Returns whether what stands on both sides of a mark was understood, and is no word of the language.
    fn is_between_two(&self, at: usize) -> bool {
        let sides = [at.checked_sub(1), Some(at + 1)];
        sides.into_iter().all(|it| {
            it.and_then(|it| Some((self.used.get(it)?, self.marks.get(it)?))).is_some_and(
                |(used, mark)| {
                    *used && !matches!(mark.meaning, Meaning::Word(_) | Meaning::Unknown)
                },
            )
        })
    }

    /// Fails when marks are left that mean something.
    pub(super) fn nothing_left(&self) -> Result<(), Doubt> {
        let glue = |concept: Concept| {
            matches!(
                concept,
                Concept::Of
                    | Concept::And
                    | Concept::Which
                    | Concept::List
                    | Concept::Rows
                    | Concept::Each
                    | Concept::By
                    | Concept::HowMany
                    | Concept::WhatAbout
                    | Concept::Only
                    | Concept::NameOf
                    | Concept::Compare
                    | Concept::Sorted
                    | Concept::Check
                    | Concept::Present
                    | Concept::Than
                    | Concept::IsAny
            )
        };
        let left: Vec<String> = self
            .open()
            .filter(|at| match &self.marks[*at].meaning {
                // `by` what, nobody found out.
                Meaning::Word(Concept::By | Concept::Each) if *at + 1 == self.marks.len() => true,
                Meaning::Word(Concept::By | Concept::Each) => {
                    self.open().any(|it| it == at + 1 && self.is_noun(it))
                        && self.word(*at) == Some(Concept::By)
                }
                Meaning::Word(Concept::Versus) => !self.is_between_two(*at),
                Meaning::Word(concept) => !glue(*concept),
                Meaning::Unknown | Meaning::Adjective { .. } if self.is_glossed(*at) => false,
                _ if self.restricts(*at) => true,
                _ => !self.is_noun(*at) && !self.is_thing(*at),
            })
            .map(|at| self.text(at))
            .collect();
        // `before the fine`: of a time that nobody knows.
        let tokens = self.scene.tokens;
        let is_side = |it: &Token| {
            matches!(
                self.scene.lexicon.period(std::slice::from_ref(&it.stem)),
                Some(PeriodWord::Before | PeriodWord::After)
            )
        };
        let is_lost = |at: usize| {
            let is_marked = self.marks.iter().any(|it| (it.start..it.end).contains(&at));
            let next = self.marks.iter().find(|it| at < it.start).map(|it| &it.meaning);
            let is_time = !matches!(next, None | Some(Meaning::Noun | Meaning::Table(_)));
            is_side(&tokens[at]) && !is_marked && !is_time
        };
        if let Some(at) = (0..tokens.len()).find(|it| is_lost(*it)) {
            return Err(Doubt::Unplaced(vec![tokens[at].text.clone()]));
        }
        if left.is_empty() { Ok(()) } else { Err(Doubt::Unplaced(left)) }
    }
}

/// Shows all that a question compares: `do men spend more than women`.
pub(super) fn both_sides(mut what: What, filters: &[Filter]) -> What {
    if let What::Aggregate { groups, rank: Some(rank), .. } = &mut what
        && let [Group::By(place)] = groups[..]
        && rank.skip == 0
    {
        let is_of_two = |it: &Filter| {
            it.place == place && matches!(&it.test, Test::In(values) if 1 < values.len())
        };
        if filters.iter().any(is_of_two) {
            rank.n = None;
        }
    }
    what
}
