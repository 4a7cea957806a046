//! Periods: years, quarters, months and days in a question, and the columns that they are about.

use jiff::ToSpan;
use jiff::civil::{Date, date};

use super::Parser;
use crate::ground::{Mark, Meaning, Place};
use crate::lexicon::{Concept, Cue, PeriodWord, TimeUnit};
use crate::reading::{Filter, Op, Part, Scalar, Test};
use crate::schema::Kind;

/// A stretch of time, or a part of every year.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Period {
    /// From a day up to, and without, another.
    Days(Date, Date),
    /// A year.
    Year(i16),
    /// From a year up to, and without, another.
    Years(i16, i16),
    /// A month of every year.
    Month(i8),
    /// A day of a month of every year.
    MonthDay(i8, i8),
    /// A quarter of every year.
    Quarter(i8),
}

impl Period {
    fn of_month(year: i16, month: i8) -> Option<Period> {
        let start = date(year, month, 1);
        Some(Period::Days(start, start.checked_add(1.month()).ok()?))
    }
}

/// A period that was told by both ends, with the conditions for rows to lie in it, and in either of its
/// ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Span {
    /// The conditions of the whole.
    pub whole: Vec<Filter>,
    /// The conditions of the end that was told first, and of the other.
    pub ends: [Vec<Filter>; 2],
    /// Both ends, as they were told.
    pub names: [String; 2],
}

/// Words that say how a period lies to a date: `since the start of`.
const PERIOD_WORDS_MAX: usize = 4;
/// Years that a bare number may be.
const YEARS: std::ops::RangeInclusive<i16> = 1700..=2100;

impl Parser<'_> {
    /// Takes the conditions on time.
    pub(super) fn periods(&mut self) -> Vec<(usize, Vec<Filter>)> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < self.marks.len() {
            if self.used[at] {
                at += 1;
            } else if self.is_example_day(at) {
                self.take(at);
                at += 1;
            } else if let Some((filters, end)) = self.part_of_week(at).or_else(|| self.recent(at)) {
                let is_negated = filters.iter().any(|it| it.is_negated);
                found.push((at, filters));
                let start = if is_negated { at - 1 } else { at };
                (start..end).for_each(|it| self.take(it));
                at = end;
            } else if let Some((period, end)) = self.period_at(at) {
                let word = self.period_word(at);
                if matches!(period, Period::Year(_) | Period::Years(..)) && !self.is_year(at, word)
                {
                    at += 1;
                    continue;
                }
                let until = self.until(at, end);
                // `between October and December 2022`: the year is of both.
                let period = match (period, until) {
                    (Period::Month(month), Some((Period::Days(start, _), _))) => {
                        Period::of_month(start.year(), month).unwrap_or(period)
                    }
                    _ => period,
                };
                let filters = self.in_period(at, word, period, until.map(|it| it.0));
                let Some(mut filters) = filters else {
                    at += 1;
                    continue;
                };
                let mut end = until.map_or(end, |it| it.1);
                if let Some((last, behind)) = until {
                    self.note_span(at, [period, last], behind, &filters);
                } else if let [filter] = &mut filters[..] {
                    end = self.others(at, filter, end);
                }
                let before = self.marks[..at].len();
                if 0 < before && self.is_glue(before - 1) {
                    self.take(before - 1);
                }
                found.push((at, filters));
                (at..end).for_each(|it| self.take(it));
                at = end;
            } else {
                at += 1;
            }
        }
        found
    }

    /// Returns whether a weekday only says what days of the week are: `each weekday (monday, tuesday, …)`.
    fn is_example_day(&self, at: usize) -> bool {
        matches!(self.meaning(at), Some(Meaning::Weekday(_)))
            && self.scene.tokens[self.marks[at].start].is_aside
            && (0..at).any(|it| self.word_of(it) == Some(Concept::DayOfWeek))
    }

    /// Remembers both ends of a period, for what has changed between them.
    fn note_span(&mut self, at: usize, ends: [Period; 2], behind: usize, whole: &[Filter]) {
        let mut of = |end| {
            let n_notes = self.notes.len();
            let filters = self.in_period(at, Some(PeriodWord::During), end, None);
            self.notes.truncate(n_notes);
            filters
        };
        let (Some(start), Some(end)) = (of(ends[0]), of(ends[1])) else { return };
        let name = |marks: std::ops::Range<usize>| -> String {
            let texts: Vec<String> = marks
                .filter(|it| !matches!(self.marks[*it].meaning, Meaning::Word(_)))
                .map(|it| self.text(it))
                .collect();
            texts.join(" ")
        };
        let joint = (at..behind).find(|it| self.is_range_joint(*it)).unwrap_or(behind);
        let names = [name(at..joint), name(joint + 1..behind)];
        self.spans.push(Span { whole: whole.to_vec(), ends: [start, end], names });
    }

    /// Takes the further periods of a list: `2012 vs 2015`, `in may and june`. Returns the mark behind it.
    fn others(&mut self, at: usize, filter: &mut Filter, mut end: usize) -> usize {
        while matches!(self.word(end), Some(Concept::And | Concept::Versus)) {
            let Some((period, behind)) = self.period_at(end + 1) else { break };
            let is_year = matches!(period, Period::Year(_) | Period::Years(..));
            if is_year && !self.is_year(end + 1, self.period_word(at)) {
                break;
            }
            let other = self.in_period(at, Some(PeriodWord::During), period, None);
            let other = other.as_deref().map(|it| it.iter().map(|it| &it.test).collect::<Vec<_>>());
            let test = match (&filter.test, other.as_deref()) {
                (Test::Part(part, values), Some([Test::Part(same, more)])) if part == same => {
                    Test::Part(*part, [&values[..], more].concat())
                }
                (
                    Test::Is(Op::Eq, Scalar::Number(one)),
                    Some([Test::Is(Op::Eq, Scalar::Number(other))]),
                ) => Test::OneOf(vec![*one, *other]),
                (Test::OneOf(values), Some([Test::Is(Op::Eq, Scalar::Number(other))])) => {
                    Test::OneOf([&values[..], &[*other]].concat())
                }
                _ => break,
            };
            filter.test = test;
            end = behind;
        }
        end
    }

    pub(super) fn is_range_joint(&self, at: usize) -> bool {
        let text = &self.scene.tokens[self.marks[at].start].lower;
        let lexicon = self.scene.lexicon;
        lexicon.is(Cue::Both, text) || lexicon.is(Cue::To, text)
    }

    fn is_glue(&self, at: usize) -> bool {
        let glue = [Concept::Of, Concept::Between, Concept::Gt, Concept::Le, Concept::Lt];
        self.word(at).is_some_and(|it| glue.contains(&it))
    }

    /// Returns how the period that begins here is meant.
    pub(super) fn period_word(&self, at: usize) -> Option<PeriodWord> {
        let start = self.marks[at].start;
        let tokens = self.scene.tokens;
        for n in (1..=PERIOD_WORDS_MAX).rev() {
            let Some(from) = start.checked_sub(n) else { continue };
            let stems: Vec<String> = tokens[from..start].iter().map(|it| it.stem.clone()).collect();
            if let Some(word) = self.scene.lexicon.period(&stems) {
                // What started in January did so in it.
                let is_past = self.scene.lexicon.is_done(&tokens[from].lower);
                let begins = 1 < n && word == PeriodWord::Since && is_past;
                return Some(if begins { PeriodWord::During } else { word });
            }
        }
        match at.checked_sub(1).and_then(|it| self.word(it)) {
            Some(Concept::Between | Concept::Ge) => Some(PeriodWord::Since),
            Some(Concept::Gt) => Some(PeriodWord::After),
            Some(Concept::Lt | Concept::Le) => Some(PeriodWord::Before),
            _ => None,
        }
    }

    /// Returns whether a number is a year: a word says so, or there is nothing else that it could be.
    fn is_year(&self, at: usize, word: Option<PeriodWord>) -> bool {
        let beside = |it: usize| {
            self.is_number_column(it)
                && !self.choose(it, |_| true).iter().any(|it| self.is_year_column(*it))
        };
        let is_beside_column = at.checked_sub(1).is_some_and(beside);
        if self.is_between_years(at) {
            return true;
        }
        let is_compared = matches!(
            at.checked_sub(1).and_then(|it| self.word(it)),
            Some(Concept::Gt | Concept::Ge | Concept::Lt | Concept::Le | Concept::Between)
        );
        let has_other = self.open().any(|it| {
            self.is_number_column(it)
                && !self.choose(it, |_| true).iter().any(|it| self.is_year_column(*it))
        });
        match word {
            // `mean change since 2010`
            Some(PeriodWord::Since | PeriodWord::Before | PeriodWord::After)
                if !is_compared && self.calendar().is_some() =>
            {
                true
            }
            Some(
                PeriodWord::During | PeriodWord::Since | PeriodWord::Before | PeriodWord::After,
            ) if !is_compared => !is_beside_column || !has_other,
            // `countries 2007`: a number that nothing else takes.
            _ => {
                let takes = |it: usize| {
                    matches!(
                        self.word(it),
                        Some(
                            Concept::Most
                                | Concept::Least
                                | Concept::First
                                | Concept::Last
                                | Concept::Eq
                        )
                    )
                };
                let is_taken = at.checked_sub(1).is_some_and(takes) || takes(at + 1);
                let counts = self.is_column(at + 1) || self.is_noun(at + 1);
                !is_compared && !is_beside_column && !is_taken && (!has_other || !counts)
            }
        }
    }

    /// Returns whether a column counts years, and an amount is none.
    pub(super) fn is_no_year(&self, place: Place, value: f64) -> bool {
        let column = self.column(place);
        let most = match column.unit.filter(|_| column.kind == Kind::Whole) {
            Some(TimeUnit::Month) => 12.0,
            Some(TimeUnit::Day) if column.words.len() == 1 => 31.0,
            _ => f64::INFINITY,
        };
        let is_year = column.unit == Some(TimeUnit::Year) && column.words.len() == 1;
        is_year && year_of(value).is_none() || most < value
    }

    /// Returns whether a number behind a column may be a year instead of its value.
    pub(super) fn may_be_year(&self, column: usize, value: f64) -> bool {
        let places = self.choose(column, |it| it.kind.is_number());
        year_of(value).is_some()
            && !places.iter().any(|it| self.is_calendar_number(*it))
            && (self.calendar().is_some() || self.counted_in(TimeUnit::Year).is_some())
    }

    /// `between 1952 and 2007`, where no amount stands before it.
    fn is_between_years(&self, at: usize) -> bool {
        let Some(between) = at.checked_sub(1) else { return false };
        let is_year = |it: usize| self.amount(it).and_then(year_of).is_some();
        self.word(between) == Some(Concept::Between)
            && is_year(at)
            && is_year(at + 2)
            && self.left_column(between).is_none()
    }

    fn is_year_column(&self, place: Place) -> bool {
        let column = self.column(place);
        column.kind.is_time() || column.kind == Kind::Whole && column.unit == Some(TimeUnit::Year)
    }

    /// Returns the month behind the number of a day: `9 April`, `9th of April`.
    fn month_behind(&self, at: usize) -> Option<usize> {
        let next = if self.word(at + 1) == Some(Concept::Of) { at + 2 } else { at + 1 };
        let is_month = matches!(self.meaning(next), Some(Meaning::Month(_)));
        let day = match *self.meaning(at)? {
            Meaning::Ordinal(place) => f64::from(place),
            Meaning::Number(value) => value,
            _ => return None,
        };
        (is_month && day.fract() == 0.0 && (1.0..=31.0).contains(&day)).then_some(next)
    }

    /// Reads a period that begins at a mark. Returns the mark behind it.
    fn period_at(&self, at: usize) -> Option<(Period, usize)> {
        match *self.meaning(at)? {
            Meaning::Day(day) => Some((Period::Days(day, day.tomorrow().ok()?), at + 1)),
            Meaning::MonthOf(day) => {
                Some((Period::Days(day, day.checked_add(1.month()).ok()?), at + 1))
            }
            Meaning::Month(month) => {
                let ordinal = |at: usize| match self.meaning(at) {
                    Some(Meaning::Ordinal(value)) => Some(f64::from(*value)),
                    _ => self.amount(at),
                };
                // `March 2013`, `March 5 2013`, `5 March 2013`
                if let Some(year) = self.amount(at + 1).and_then(year_of) {
                    return Some((Period::of_month(year, month)?, at + 2));
                }
                let day = ordinal(at + 1).filter(|it| (1.0..=31.0).contains(it));
                let mut next = at + 2;
                if self.word(next) == Some(Concept::And) {
                    next += 1;
                }
                if let (Some(day), Some(year)) = (day, self.amount(next).and_then(year_of)) {
                    #[expect(clippy::cast_possible_truncation, reason = "at most 31")]
                    let start = Date::new(year, month, day as i8).ok()?;
                    return Some((Period::Days(start, start.tomorrow().ok()?), next + 1));
                }
                #[expect(clippy::cast_possible_truncation, reason = "at most 31")]
                let day = day.filter(|it| it.fract() == 0.0).map(|it| it as i8);
                Some(match day {
                    Some(day) => (Period::MonthDay(month, day), at + 2),
                    None => (Period::Month(month), at + 1),
                })
            }
            Meaning::Word(Concept::First) | Meaning::Ordinal(1..=4)
                if matches!(self.meaning(at + 1), Some(Meaning::Unit(TimeUnit::Quarter))) =>
            {
                let quarter = match *self.meaning(at)? {
                    Meaning::Ordinal(place) => i8::try_from(place).ok()?,
                    _ => 1,
                };
                self.quarter(quarter, at + 2)
            }
            Meaning::Number(_) | Meaning::Ordinal(_) if self.month_behind(at).is_some() => {
                let next = self.month_behind(at)?;
                let Some(Meaning::Month(month)) = self.meaning(next).cloned() else { return None };
                let day = match *self.meaning(at)? {
                    Meaning::Ordinal(place) => i8::try_from(place).ok()?,
                    _ => i8::try_from(self.count(at)?).ok()?,
                };
                Some(match self.amount(next + 1).and_then(year_of) {
                    Some(year) => {
                        let start = Date::new(year, month, day).ok()?;
                        (Period::Days(start, start.tomorrow().ok()?), next + 2)
                    }
                    None => (Period::MonthDay(month, day), next + 1),
                })
            }
            Meaning::Number(value) => {
                let year = year_of(value)?;
                Some((Period::Year(year), at + 1))
            }
            Meaning::Unknown => {
                let text = self.text(at).to_lowercase();
                if let Some(quarter) = text.strip_prefix('q').and_then(|it| it.parse().ok()) {
                    let quarter: i8 = Some(quarter).filter(|it| (1..=4).contains(it))?;
                    return self.quarter(quarter, at + 1);
                }
                let decade: i16 = text.strip_suffix('s')?.parse().ok()?;
                let decade = match decade {
                    20..=90 => decade + 1900,
                    _ => decade,
                };
                let is_decade = decade % 10 == 0 && YEARS.contains(&decade);
                is_decade.then_some((Period::Years(decade, decade + 10), at + 1))
            }
            _ => None,
        }
    }

    /// Reads the year of a quarter, if one is told at a mark.
    fn quarter(&self, quarter: i8, at: usize) -> Option<(Period, usize)> {
        let is_of = self.word(at) == Some(Concept::Of);
        let year_at = if is_of { at + 1 } else { at };
        let Some(year) = self.amount(year_at).and_then(year_of) else {
            return Some((Period::Quarter(quarter), at));
        };
        let start = date(year, quarter * 3 - 2, 1);
        Some((Period::Days(start, start.checked_add(3.months()).ok()?), year_at + 1))
    }

    /// Reads `to 2012` or `and 2012` behind a period. Returns the other end and the mark behind it.
    fn until(&self, at: usize, end: usize) -> Option<(Period, usize)> {
        let is_range = matches!(self.period_word(at), Some(PeriodWord::Since | PeriodWord::During))
            || at.checked_sub(1).and_then(|it| self.word(it)) == Some(Concept::Between);
        let between = at.checked_sub(1).and_then(|it| self.word(it)) == Some(Concept::Between);
        let joint = self.marks.get(end)?;
        let text = self.scene.tokens[joint.start].lower.as_str();
        let lexicon = self.scene.lexicon;
        let is_joined =
            lexicon.is(Cue::Both, text) && between || lexicon.is(Cue::To, text) && is_range;
        if !is_joined {
            return None;
        }
        self.period_at(end + 1)
    }

    /// Returns the conditions for rows to lie in a period.
    fn in_period(
        &mut self,
        at: usize,
        word: Option<PeriodWord>,
        period: Period,
        until: Option<Period>,
    ) -> Option<Vec<Filter>> {
        let place = self.time_column(at, period)?;
        let is = |op: Op, scalar: Scalar| Filter {
            place,
            test: Test::Is(op, scalar),
            is_negated: false,
        };
        if self.kind(place) == Kind::Whole {
            let number = |value: i16| Scalar::Number(f64::from(value));
            let (start, end) = match period {
                Period::Year(year) => (year, year + 1),
                Period::Years(start, end) => (start, end),
                Period::Month(month) => (i16::from(month), i16::from(month) + 1),
                Period::Quarter(quarter) => (i16::from(quarter), i16::from(quarter) + 1),
                Period::Days(..) | Period::MonthDay(..) => return None,
            };
            let until = match until {
                Some(Period::Year(year)) => Some(year),
                Some(Period::Month(month)) => Some(i16::from(month)),
                Some(_) => return None,
                None => None,
            };
            return Some(match (until, word) {
                (Some(last), _) => vec![is(Op::Ge, number(start)), is(Op::Le, number(last))],
                (None, Some(PeriodWord::Before)) => vec![is(Op::Lt, number(start))],
                (None, Some(PeriodWord::After)) => vec![is(Op::Gt, number(end - 1))],
                (None, Some(PeriodWord::Since)) if !self.says_from(at) => {
                    vec![is(Op::Ge, number(start))]
                }
                (None, _) if start + 1 == end => vec![is(Op::Eq, number(start))],
                (None, _) => vec![is(Op::Ge, number(start)), is(Op::Lt, number(end))],
            });
        }
        // What is before May of no year is not told.
        let is_yearless =
            matches!(period, Period::Month(_) | Period::MonthDay(..) | Period::Quarter(_));
        let is_side = match word {
            Some(PeriodWord::Since) => until.is_none() && !self.says_from(at),
            word => matches!(word, Some(PeriodWord::Before | PeriodWord::After)),
        };
        if is_yearless && is_side {
            return None;
        }
        let part = |part: Part, value: i64| Filter {
            place,
            test: Test::Part(part, vec![value]),
            is_negated: false,
        };
        let days = |period: Period| -> Option<(Date, Date)> {
            match period {
                Period::Days(start, end) => Some((start, end)),
                Period::Year(year) => Some((date(year, 1, 1), date(year + 1, 1, 1))),
                Period::Years(start, end) => Some((date(start, 1, 1), date(end, 1, 1))),
                Period::Month(_) | Period::MonthDay(..) | Period::Quarter(_) => None,
            }
        };
        if let (Period::MonthDay(month, day), None) = (period, until) {
            return Some(vec![
                part(Part::Month, i64::from(month)),
                part(Part::Day, i64::from(day)),
            ]);
        }
        let Some((start, end)) = days(period) else {
            let (of, value) = match period {
                Period::Month(month) => (Part::Month, month),
                Period::Quarter(quarter) => (Part::Quarter, quarter),
                _ => return None,
            };
            let values = match until {
                None => vec![i64::from(value)],
                Some(Period::Month(last)) if value <= last => {
                    (i64::from(value)..=i64::from(last)).collect()
                }
                Some(_) => return None,
            };
            return Some(vec![Filter { place, test: Test::Part(of, values), is_negated: false }]);
        };
        let end = match until {
            Some(until) => days(until)?.1,
            None => end,
        };
        Some(match word {
            Some(PeriodWord::Before) => vec![is(Op::Lt, Scalar::Day(start))],
            Some(PeriodWord::After) => vec![is(Op::Ge, Scalar::Day(end))],
            Some(PeriodWord::Since) if until.is_none() && !self.says_from(at) => {
                vec![is(Op::Ge, Scalar::Day(start))]
            }
            _ => match period {
                Period::Year(year) if until.is_none() => vec![part(Part::Year, i64::from(year))],
                _ if start.tomorrow().ok() == Some(end) && self.kind(place) == Kind::Day => {
                    vec![is(Op::Eq, Scalar::Day(start))]
                }
                _ => vec![is(Op::Ge, Scalar::Day(start)), is(Op::Lt, Scalar::Day(end))],
            },
        })
    }

    /// `from 2013` alone is in 2013; `since 2013` and `by region, from 2013` are not.
    fn says_from(&self, at: usize) -> bool {
        let lexicon = self.scene.lexicon;
        let behind = self.scene.tokens.get(self.marks[at].end);
        let goes_on = behind.is_some_and(|it| lexicon.is(Cue::Onwards, &it.lower));
        let before = self.marks[at].start.checked_sub(2).map(|it| &self.scene.tokens[it]);
        let is_apart = before.is_some_and(|it| it.text == ",");
        let is_from = self.word_before(at).is_some_and(|it| lexicon.is(Cue::From, it));
        is_from && !goes_on && !is_apart
    }

    /// Returns the column that a period is about: one that is named, else the only one.
    fn time_column(&mut self, at: usize, period: Period) -> Option<Place> {
        let unit = match period {
            Period::Year(_) | Period::Years(..) => Some(TimeUnit::Year),
            Period::Month(_) => Some(TimeUnit::Month),
            Period::Quarter(_) => Some(TimeUnit::Quarter),
            Period::Days(..) | Period::MonthDay(..) => None,
        };
        let suits = |it: &Place| {
            let column = self.column(*it);
            column.kind.is_time()
                || column.kind == Kind::Whole && unit.is_some() && column.unit == unit
        };
        let mut candidates: Vec<Place> = self.places().filter(suits).collect();
        if candidates.is_empty() {
            candidates = self.places().filter(|it| self.is_written_time(*it)).collect();
        }
        // When somebody was born is seldom when something happened.
        let is_birth = |it: &Place| self.is_birth(*it);
        let is_said = self.open().any(|it| {
            self.choose(it, |_| true).iter().any(|it| candidates.contains(it) && is_birth(it))
        });
        if !is_said && candidates.iter().any(|it| !is_birth(it)) {
            candidates.retain(|it| !is_birth(it));
        }
        let named = self.open().filter(|it| it.abs_diff(at) <= 3).find_map(|it| {
            match self.meaning(it)? {
                Meaning::Column(places) => {
                    let place = *places.iter().find(|it| candidates.contains(it))?;
                    Some((it, place))
                }
                _ => None,
            }
        });
        if let Some((mark, place)) = named {
            // `by month in 2013` names a column for the group, not for the period.
            let before = mark.checked_sub(1).and_then(|it| self.word(it));
            let is_group = before == Some(Concept::By) || before == Some(Concept::Each) && 1 < mark;
            if !is_group {
                self.take(mark);
            }
            return Some(place);
        }
        // Of a breach, the `Date_of_Breach` is meant, which may be text that nobody can compare.
        let is_own = |it: &Place| {
            let words = &self.column(*it).words;
            self.scene.tables[0].words.iter().any(|of| words.contains(of))
        };
        let place = match candidates.iter().find(|it| is_own(it)) {
            Some(own) => *own,
            None if self.places().any(|it| self.is_written_time(it) && is_own(&it)) => return None,
            None => *candidates.first()?,
        };
        if 1 < candidates.len() {
            let name = &self.column(place).name;
            self.notes.push(format!("I took the dates from `{name}`."));
        }
        Some(place)
    }

    /// Returns the first column that has a place in a calendar, and is no birth unless all are.
    pub(super) fn calendar(&self) -> Option<Place> {
        // `by month (end_date)`
        let is_aside = |it: &&Mark| self.scene.tokens[it.start].is_aside;
        let told = self.marks.iter().filter(is_aside).find_map(|it| match &it.meaning {
            Meaning::Column(places) => places.iter().find(|it| self.kind(**it).is_time()),
            _ => None,
        });
        if let Some(told) = told {
            return Some(*told);
        }
        let times: Vec<Place> = self.places().filter(|it| self.kind(*it).is_time()).collect();
        // When somebody was born is seldom when something happened.
        let real = times.iter().find(|it| !self.is_birth(**it)).or(times.first()).copied();
        real.or_else(|| self.places().find(|it| self.is_written_time(*it)))
    }

    /// Returns whether a column says when somebody was born or died.
    pub(super) fn is_birth(&self, place: Place) -> bool {
        self.scene.lexicon.has(Cue::Births, &self.column(place).words)
    }

    /// Returns whether a column of text is called a date.
    fn is_written_time(&self, place: Place) -> bool {
        let column = self.column(place);
        column.kind == Kind::Text && self.scene.lexicon.has(Cue::Dates, &column.words)
    }

    /// Reads `on weekends`, `on Mondays`.
    fn part_of_week(&self, at: usize) -> Option<(Vec<Filter>, usize)> {
        let days: Vec<i64> = match self.meaning(at)? {
            Meaning::Word(Concept::Weekend) => vec![6, 7],
            Meaning::Word(Concept::Weekday) => (1..=5).collect(),
            Meaning::Weekday(day) => vec![i64::from(*day)],
            _ => return None,
        };
        let place = self.calendar()?;
        let is_group = at.checked_sub(1).and_then(|it| self.word(it)) == Some(Concept::By);
        let (mut days, mut end) = (days, at + 1);
        // `on saturdays and sundays`
        while self.word(end) == Some(Concept::And)
            && let Some(Meaning::Weekday(day)) = self.meaning(end + 1)
        {
            days.push(i64::from(*day));
            end += 2;
        }
        // `without weekends`
        let before = at.checked_sub(1).and_then(|it| self.word(it));
        let is_negated = matches!(before, Some(Concept::Without | Concept::Not | Concept::Ne));
        let filter = Filter { place, test: Test::Part(Part::Weekday, days), is_negated };
        (!is_group).then_some((vec![filter], end))
    }

    /// Reads `in the last 7 days`, `last month`.
    fn recent(&self, at: usize) -> Option<(Vec<Filter>, usize)> {
        let is_last = self.word(at) == Some(Concept::Last);
        if !is_last && self.word(at) != Some(Concept::Latest) {
            return None;
        }
        let n = self.count(at + 1);
        let (n, unit_at) = n.map_or((1, at + 1), |it| (it, at + 2));
        // `the last quarter of 2022` is not that of the data.
        let is_of_year = self.amount(unit_at + 2).and_then(year_of).is_some();
        if self.word(unit_at + 1) == Some(Concept::Of) && is_of_year {
            return None;
        }
        // `the latest year with snow` is not the latest of all.
        if !is_last && self.word(unit_at + 1) == Some(Concept::Of) {
            return None;
        }
        let (unit, place) = match self.meaning(unit_at)? {
            Meaning::Unit(unit) => (*unit, self.calendar().or_else(|| self.counted_in(*unit))?),
            // `the latest year`, where years are a column.
            Meaning::Column(places) => {
                let place = *places.first().filter(|it| !self.kind(**it).is_time())?;
                let unit = self.column(place).unit?;
                let is_number = self.is_calendar_number(place);
                (unit, self.calendar().or(Some(place).filter(|_| is_number))?)
            }
            _ => return None,
        };
        let test = Test::Last(n, unit);
        Some((vec![Filter { place, test, is_negated: false }], unit_at + 1))
    }

    /// Returns the column of whole numbers that counts a unit of time.
    pub(super) fn counted_in(&self, unit: TimeUnit) -> Option<Place> {
        self.all_counted_in(unit).first().copied()
    }

    /// Returns the columns of numbers that count in a unit of time.
    pub(super) fn all_counted_in(&self, unit: TimeUnit) -> Vec<Place> {
        let is_of_unit = |it: &Place| {
            let column = self.column(*it);
            column.kind == Kind::Whole && column.unit == Some(unit)
        };
        self.places().filter(is_of_unit).collect()
    }
}

fn year_of(value: f64) -> Option<i16> {
    #[expect(clippy::cast_possible_truncation, reason = "compared afterwards")]
    let year = value as i16;
    (f64::from(year) - value == 0.0 && YEARS.contains(&year)).then_some(year)
}
