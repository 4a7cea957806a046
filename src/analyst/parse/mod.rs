//! Parsing: marks become a reading, or a doubt that is told to the user.
//!
//! Each step takes the marks that it understands off the list. What stays at the end and means something
//! was not understood, and then the question is not answered.

mod about;
mod check;
mod compare;
mod filters;
mod intent;
mod measures;
mod period;
mod plain;
mod rank;
mod sense;
mod series;
mod ellipsis;

use super::ground::{Mark, Meaning, Place};
use super::lexicon::{Concept, Cue, Lexicon, TimeUnit};
use super::reading::{Agg, Check, Filter, Join, Measure, Reading, Shape, What};
use super::schema::{Column, Kind, Table};
use super::words::Token;

/// Things that a question asks for at most: `top 100000`.
const COUNT_MAX: f64 = 100_000.0;
/// Words of a question that may go on with one that nobody understood.
const FRAGMENT_MAX: usize = 6;

/// Why a question has no reading.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Doubt {
    /// Words that could not be placed.
    Unplaced(Vec<String>),
    /// A word that may name one of several columns.
    Ambiguous(String, Vec<String>),
    /// All words are known, and together they ask nothing that is known.
    Unasked,
    /// The column that is asked about has no values.
    Empty(String),
    /// The question takes up one that nobody understood.
    Lost,
    /// The question has so many words.
    Long(usize),
    /// It claims two things, each of which can be judged by itself.
    Two([String; 2]),
}

/// What a question is read in.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'a> {
    /// The tables: one, or two to be joined.
    pub tables: &'a [&'a Table],
    /// The question's tokens.
    pub tokens: &'a [Token],
    /// The language.
    pub lexicon: &'a Lexicon,
    /// The reading that the question may take up.
    pub last: Option<&'a Reading>,
    /// Whether a verdict is asked for beside the answer.
    pub wants_verdict: bool,
    /// Whether a question before was not understood, so that nothing is known of what may be taken up.
    pub is_lost: bool,
}

impl Scene<'_> {
    /// Returns whether the question ends with a word for what was answered before: `where was that`.
    fn points_back(&self) -> bool {
        let last = self.tokens.last();
        1 < self.tokens.len() && last.is_some_and(|it| self.lexicon.is(Cue::Pointers, &it.lower))
    }

    /// Returns whether the question holds another one: `the coldest day, and where`.
    fn asks_twice(&self) -> bool {
        let asks = |it: &Token| self.lexicon.is(Cue::Asks, &it.lower);
        let n_tokens = self.tokens.len();
        let is_second = |at: usize| {
            // `how many are there, and in which states`
            let before = self.tokens[1..at].iter().rev().map(|it| it.lower.as_str());
            let mut before = before.skip_while(|it| self.lexicon.is(Cue::Inside, it));
            let is_joined = before.next().is_some_and(|it| self.lexicon.is(Cue::Together, it));
            asks(&self.tokens[at]) && (at + 1 == n_tokens || is_joined)
        };
        // `is any missing? how many`, and not `who is late? just the names`
        let ends = |at: usize| {
            let next = &self.tokens[at + 1..];
            let asks = |it: &Token| {
                let words = std::slice::from_ref(&it.lower);
                asks(it)
                    || self.lexicon.is(Cue::Hows, &it.lower)
                    || self.lexicon.is(Cue::YesNo, &it.lower)
                    || self
                        .lexicon
                        .phrase(words)
                        .is_some_and(|it| it == Concept::Which || is_figure(it))
            };
            self.tokens[at].ends_question && next.iter().take(2).any(asks)
        };
        // `second highest price: what was the weather`
        let begins = |at: usize| {
            let words = self.tokens[at..].iter().take(2).map(|it| it.lower.as_str());
            let is_apart = self.tokens[at - 1].end + 1 < self.tokens[at].start;
            let asks = |it: &Token| {
                let phrase = self.lexicon.phrase(std::slice::from_ref(&it.lower));
                phrase
                    .is_some_and(|it| is_figure(it) || matches!(it, Concept::Most | Concept::Least))
            };
            is_apart
                && self.tokens[..at].iter().any(asks)
                && self.lexicon.is(Cue::Seconds, &words.collect::<Vec<_>>().join(" "))
        };
        (1..n_tokens).any(is_second) || (2..n_tokens).any(begins) || (0..n_tokens).any(ends)
    }

    /// Returns whether a mark groups by what says nothing: `by category`, where there is none.
    fn groups_by_filler(&self, marks: &[Mark], at: usize) -> bool {
        let is_filler = |it: &Mark| {
            self.tokens[it.start..it.end].iter().all(|it| self.lexicon.is_filler(&it.stem))
        };
        let is_stop = |it: &Mark| it.meaning == Meaning::Stop;
        let ends = |it: &Mark| match it.meaning {
            Meaning::Word(Concept::And) => true,
            Meaning::Word(Concept::Of | Concept::Each | Concept::HowMany) => false,
            Meaning::Word(concept) => !is_figure(concept),
            _ => false,
        };
        let next = at + 1;
        marks[at].meaning == Meaning::Word(Concept::By)
            && marks.get(next).is_some_and(|it| is_stop(it) && is_filler(it))
            && marks[next..].iter().find(|it| !is_stop(it)).is_none_or(ends)
    }

    /// Returns whether a phrase of a cue is in the question.
    fn says(&self, cue: Cue) -> bool {
        let words: Vec<&str> = self.tokens.iter().map(|it| it.lower.as_str()).collect();
        self.lexicon.cues(cue).iter().any(|phrase| {
            let phrase: Vec<&str> = phrase.split(' ').collect();
            words.windows(phrase.len()).any(|it| it == phrase)
        })
    }

    /// Returns whether the question speaks of the rows of the one before.
    fn refers_back(&self) -> bool {
        self.says(Cue::Backs)
            || (0..self.tokens.len()).any(|at| {
                let next = self.tokens.get(at + 1).map(|it| it.lower.as_str());
                let start = at.saturating_sub(3);
                let words: Vec<&str> =
                    self.tokens[start..at].iter().map(|it| it.lower.as_str()).collect();
                // `how many of those in 2013`
                let next = next.filter(|_| !self.lexicon.is(Cue::SomeOf, &words.join(" ")));
                self.lexicon.refers_back(&self.tokens[at].lower, next)
            })
    }
}

/// Reads a question.
///
/// # Errors
///
/// Fails with what could not be placed, or read in one way only.
pub(crate) fn parse(scene: Scene, marks: &[Mark]) -> Result<Reading, Doubt> {
    let mut parser = Parser::new(scene, marks);
    let is_short = scene.tokens.len() <= FRAGMENT_MAX;
    if let Some(last) = scene.last {
        let mut follower = parser.clone();
        let chart = follower.chart();
        let filters = follower.filters();
        let taken = filters.and_then(|it| follower.take_up(last, it, chart));
        let is_sure = parser.is_led()
            || parser.is_fragment()
            // `how many rows are there` is a question of its own, `how many` is not.
            || parser.is_bare() && !parser.said(Concept::Rows)
            || scene.refers_back()
            || scene.says(Cue::InsteadOf)
            || is_short && parser.clings();
        match taken {
            Ok(reading) if is_sure || own(&mut parser.clone(), scene).is_err() => {
                return Ok(reading);
            }
            // What goes on with the question before is no question of its own.
            Err(doubt)
                if parser.goes_on()
                    || parser.word(0) == Some(Concept::Only)
                    || is_short
                        && (parser.clings() || parser.is_fragment() || parser.is_bare()) =>
            {
                return Err(doubt);
            }
            _ => {}
        }
    }
    // What was answered before is not known here, and what lies on both sides is two questions.
    if scene.points_back() || scene.asks_twice() || scene.says(Cue::BothSides) {
        return Err(Doubt::Unasked);
    }
    if scene.says(Cue::AskedBack) || scene.says(Cue::AsMany) && !parser.said(Concept::Ratio) {
        return Err(Doubt::Unasked);
    }
    let takes_up = scene.is_lost
        && (is_short
            && (parser.is_led() || parser.clings() || parser.is_fragment() || scene.refers_back())
            || parser.points_at()
            || parser.names_nothing()
                && !parser.said(Concept::Rows)
                && !own(&mut parser.clone(), scene).is_ok_and(|it| it.is_about_tables()));
    let replaces = scene.says(Cue::InsteadOf);
    if scene.last.is_none() && (replaces || parser.goes_on() || takes_up) {
        return Err(Doubt::Unasked);
    }
    let unknown: Vec<String> = (0..parser.marks.len())
        .filter(|it| parser.marks[*it].meaning == Meaning::Unknown)
        .map(|it| parser.text(it))
        .collect();
    match own(&mut parser, scene) {
        // `which is the heaviest`: of what was answered before, or of all.
        Ok(reading) if is_short && parser.may_take_up(&reading) => Err(Doubt::Unasked),
        // `how many of them are women` is about the rows of the question before.
        Ok(mut reading) if scene.refers_back() => {
            let last = scene.last.ok_or(Doubt::Unasked)?;
            let is_new = |it: &&Filter| reading.filters.iter().all(|own| own.place != it.place);
            let before: Vec<Filter> = last.filters.iter().filter(is_new).cloned().collect();
            reading.filters.splice(0..0, before);
            Ok(reading)
        }
        // What makes no sense may do so for a word that nobody knows.
        Err(Doubt::Unasked) if !unknown.is_empty() => Err(Doubt::Unplaced(unknown)),
        outcome => outcome,
    }
}

/// Reads a question by itself.
fn own(parser: &mut Parser, scene: Scene) -> Result<Reading, Doubt> {
    // `how old are the customers`, where nothing says how old.
    if let ([how, what, ..], Some(first)) = (scene.tokens, parser.marks.first())
        && scene.lexicon.is(Cue::Hows, &how.lower)
        && !scene.lexicon.is(Cue::Is, &what.lower)
        && 1 < first.start
    {
        return Err(Doubt::Unplaced(vec![what.text.clone()]));
    }
    let chart = parser.chart();
    let check = parser.aggregate_check()?;
    let filters = parser.filters()?;
    let what = match check {
        Some(check) => {
            parser.take_all(&[Concept::IsAll, Concept::IsAny, Concept::Not]);
            What::Check(check)
        }
        None => parser.intent(&filters, chart)?,
    };
    let filters = match what {
        // What is asked about is no condition on it.
        What::Check(Check::Any(_) | Check::All(_) | Check::Present(_))
        | What::Share { .. }
        | What::Change { .. } => rest_of(filters, &what),
        _ => filters.into_iter().map(|it| it.filter).collect(),
    };
    parser.asks_one_thing(&what, &filters)?;
    let what = parser.with_tallies(what)?;
    let compares = parser.begins_yes_no() || parser.says_comparative();
    let what = if compares { sense::both_sides(what, &filters) } else { what };
    parser.take_spoken(&what, &filters);
    parser.take_shown(&what);
    parser.nothing_left()?;
    if parser.count_test.is_some() {
        return Err(Doubt::Unasked);
    }
    parser.can_be_computed(&what)?;
    parser.says_something(&what, &filters)?;
    let notes = std::mem::take(&mut parser.notes);
    let join = match scene.tables {
        [_, _] if !matches!(what, What::Check(Check::Refers(_))) => {
            Some(join_of(scene.tables, scene.lexicon).ok_or(Doubt::Unasked)?)
        }
        _ => None,
    };
    Ok(Reading { join, filters, what, chart, notes, may_be_months: parser.may_be_months })
}

/// Returns how the second table goes with the first: by columns of the same name, or by one that names
/// the other table: `customer_id` and `id` of `customers`.
pub(crate) fn join_of(tables: &[&Table], lexicon: &Lexicon) -> Option<Join> {
    let [one, other] = tables else { return None };
    let fits = |left: &Column, right: &Column| {
        let same_kind = left.kind == right.kind || left.kind.is_number() && right.kind.is_number();
        let is_key = |words: &[String]| {
            words.iter().any(|it| lexicon.are_synonyms(it, "id") || it == "id" || it == "code")
        };
        let other_words: Vec<&String> =
            left.words.iter().filter(|it| !is_key(std::slice::from_ref(it))).collect();
        let names_table = is_key(&left.words)
            && is_key(&right.words)
            && !other_words.is_empty()
            && other_words.iter().all(|it| other.words.contains(it) || right.words.contains(it));
        let is_bare_key = left.words.iter().all(|it| is_key(std::slice::from_ref(it)));
        // Two things have names, and share none by that.
        let is_common = matches!(&left.words[..], [word] if lexicon.is(Cue::Common, word));
        let score = match () {
            () if !same_kind || is_common && right.words == left.words => 0,
            () if left.words == right.words && is_key(&left.words) && 1 < left.words.len() => 4,
            () if left.words == other.words && is_key(&right.words) && right.words.len() == 1 => 5,
            () if is_bare_key => 0,
            () if left.name == right.name && is_key(&left.words) => 4,
            () if left.name == right.name && left.kind == Kind::Text => 3,
            () if left.words == right.words && left.kind == Kind::Text => 3,
            () if names_table => 2,
            // What comes first in a table tells its rows apart.
            () if left.name == right.name
                && left.kind == Kind::Whole
                && other.columns.first() == Some(right) =>
            {
                1
            }
            () => 0,
        };
        (0 < score).then_some(score)
    };
    let mut best: Option<(u32, Join)> = None;
    let mut is_sole = true;
    for (left, of_left) in one.columns.iter().enumerate() {
        for (right, of_right) in other.columns.iter().enumerate() {
            let Some(score) = fits(of_left, of_right) else { continue };
            if best.as_ref().is_none_or(|it| it.0 < score) {
                let left = Place { table: 0, column: left };
                let right = Place { table: 1, column: right };
                best = Some((score, Join { left, right }));
                is_sole = true;
            } else if best.as_ref().is_some_and(|it| it.0 == score) {
                is_sole = false;
            }
        }
    }
    // Of a season and a contestant, one alone goes with many rows.
    best.map(|it| it.1).filter(|_| is_sole)
}

/// A condition and where it stood.
#[derive(Debug, Clone, PartialEq)]
struct Placed {
    filter: Filter,
    /// The first mark of it.
    at: usize,
    /// Whether it says something of rows that are otherwise described: `is over 5`, not `Adelie`.
    is_predicate: bool,
}

#[derive(Clone)]
struct Parser<'a> {
    scene: Scene<'a>,
    marks: Vec<Mark>,
    used: Vec<bool>,
    notes: Vec<String>,
    /// What must hold of the number of rows in a group: `with more than 50 flights`.
    count_test: Option<(super::reading::Op, f64)>,
    /// Periods that were told by both ends.
    spans: Vec<period::Span>,
    /// Whether nothing says how long the steps of a series are.
    may_be_months: bool,
}

impl<'a> Parser<'a> {
    /// Prepares to read marks. What means nothing by itself is left out, and so is the sign of percent
    /// behind an amount that something is compared with; a filler that something is to be grouped by is
    /// unknown, and what is no unit where it stands is kept.
    fn new(scene: Scene<'a>, marks: &[Mark]) -> Parser<'a> {
        let is_amount = |at: usize| matches!(marks[at].meaning, Meaning::Number(_));
        let compares = |at: usize| match marks[at].meaning {
            Meaning::Word(concept) => {
                compare::op_of(concept).is_some()
                    || matches!(concept, Concept::Between | Concept::And)
            }
            _ => false,
        };
        let is_percent = |at: usize| {
            let sign = scene.tokens[marks[at].start].lower.as_str();
            1 < at
                && scene.lexicon.per_unit("%", sign).is_some()
                && is_amount(at - 1)
                && compares(at - 2)
        };
        // A `college degree` is no unit of measure, and `an MI` neither.
        let is_thing = |at: usize| {
            let before = at.checked_sub(1).map(|it| &marks[it]);
            before.is_some_and(|it| {
                it.meaning == Meaning::Noun && it.end == marks[at].start
                    || scene.lexicon.is(Cue::Articles, &scene.tokens[marks[at].start - 1].lower)
            })
        };
        let is_kept = |at: &usize| match marks[*at].meaning {
            Meaning::Stop => false,
            Meaning::Measure => is_thing(*at),
            _ => !is_percent(*at),
        };
        let mut kept: Vec<Mark> = Vec::with_capacity(marks.len());
        for at in (0..marks.len()).filter(is_kept) {
            let mark = &marks[at];
            let is_column = |it: &Mark| matches!(it.meaning, Meaning::Column(_));
            let is_aside = |it: &Mark| scene.tokens[it.start].is_aside;
            // `transmission type (transmission_desc)`: what stands in parentheses says which column.
            let is_alone = is_aside(mark) && !marks.get(at + 1).is_some_and(is_aside);
            match kept.last_mut().filter(|it| is_column(it) && !is_aside(it)) {
                Some(before) if is_column(mark) && is_alone => {
                    before.meaning = mark.meaning.clone();
                }
                _ => kept.push(mark.clone()),
            }
            // `by category`, where there is none.
            if let Some(thing) = marks.get(at + 1).filter(|_| scene.groups_by_filler(marks, at)) {
                kept.push(Mark { meaning: Meaning::Unknown, ..thing.clone() });
            }
        }
        let marks = kept;
        let used = vec![false; marks.len()];
        Parser {
            scene,
            marks,
            used,
            notes: Vec::new(),
            count_test: None,
            spans: Vec::new(),
            may_be_months: false,
        }
    }

    /// Returns the unit behind an amount, where it is one: the `in` of `100 in the north` is none.
    fn unit_behind(&self, at: usize) -> Option<&'a Token> {
        let end = self.marks.get(at)?.end;
        let is_mark = self.marks.get(at + 1).is_some_and(|it| it.start == end);
        let token = self.scene.tokens.get(end).filter(|_| !is_mark)?;
        self.scene.lexicon.is_known_unit(&token.stem).then_some(token)
    }

    /// Returns an amount in the unit of the column that it is compared with.
    ///
    /// # Errors
    ///
    /// Fails when it is of another kind of unit, or the column's is not known.
    fn in_unit_of(&self, place: Place, at: usize, value: f64) -> Result<f64, Doubt> {
        let lexicon = self.scene.lexicon;
        let Some(said) = self.unit_behind(at) else { return Ok(value) };
        let words = &self.column(place).words;
        let has = |it: &&String| lexicon.is_known_unit(it);
        let own = words.last().filter(|it| has(it) && 1 < words.len());
        match own.map(|it| lexicon.per_unit(it, &said.stem)) {
            Some(Some(scale)) => Ok(value * scale),
            None if words.iter().any(|it| lexicon.per_unit("%", it).is_some()) => Ok(value),
            None | Some(None) => Err(Doubt::Unplaced(vec![said.text.clone()])),
        }
    }

    fn column(&self, place: Place) -> &'a Column {
        &self.scene.tables[place.table].columns[place.column]
    }

    fn kind(&self, place: Place) -> Kind {
        self.column(place).kind
    }

    fn places(&self) -> impl Iterator<Item = Place> + use<'a> {
        let tables = self.scene.tables;
        tables.iter().enumerate().flat_map(|(table, it)| {
            (0..it.columns.len()).map(move |column| Place { table, column })
        })
    }

    /// Returns the marks that no step has taken yet.
    fn open(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let used = self.used.clone();
        (0..used.len()).filter(move |it| !used[*it])
    }

    fn take(&mut self, at: usize) {
        self.used[at] = true;
    }

    fn meaning(&self, at: usize) -> Option<&Meaning> {
        self.marks.get(at).filter(|_| !self.used[at]).map(|it| &it.meaning)
    }

    /// Returns the amount that a mark is.
    fn amount(&self, at: usize) -> Option<f64> {
        match self.meaning(at) {
            Some(Meaning::Number(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns the number of things that a mark is.
    fn count(&self, at: usize) -> Option<u32> {
        let value =
            self.amount(at).filter(|it| it.fract() == 0.0 && (1.0..=COUNT_MAX).contains(it))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let count = value as u32;
        Some(count)
    }

    fn word(&self, at: usize) -> Option<Concept> {
        match self.meaning(at) {
            Some(Meaning::Word(concept)) => Some(*concept),
            _ => None,
        }
    }

    /// Returns the words before a mark, as far as they are no part of another that says something.
    fn word_before(&self, at: usize) -> Option<&str> {
        let start = self.marks.get(at)?.start;
        self.scene.tokens.get(start.checked_sub(1)?).map(|it| it.lower.as_str())
    }

    /// Returns the text of a mark.
    fn text(&self, at: usize) -> String {
        let mark = &self.marks[at];
        let tokens = self.scene.tokens[mark.start..mark.end].iter();
        tokens.map(|it| it.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the last word of a mark.
    fn last_token(&self, at: usize) -> &'a Token {
        &self.scene.tokens[self.marks[at].end - 1]
    }

    /// Returns whether the mark before another is a cue.
    fn follows(&self, at: usize, cue: Cue) -> bool {
        let before = at.checked_sub(1).filter(|it| *it < self.marks.len());
        before.is_some_and(|it| self.scene.lexicon.is(cue, &self.text(it)))
    }

    /// Returns whether nothing stands between a mark and the next.
    fn touches_next(&self, at: usize) -> bool {
        self.marks.get(at + 1).is_some_and(|it| it.start == self.marks[at].end)
    }

    /// Returns whether the question opens with a cue.
    fn opens(&self, cue: Cue) -> bool {
        self.scene.tokens.first().is_some_and(|it| self.scene.lexicon.is(cue, &it.lower))
    }

    /// Adds up what each row stands for, where a column says how many: the cases of a `count`.
    fn with_tallies(&mut self, mut what: What) -> Result<What, Doubt> {
        let lexicon = self.scene.lexicon;
        let is_called = self.marks.iter().any(|it| it.meaning == Meaning::Table(0));
        let is_tally = |it: &Place| {
            let column = self.column(*it);
            column.kind.is_number()
                && matches!(&column.words[..], [word]
                    if lexicon.is(Cue::CountNames, word) || is_called && lexicon.is(Cue::Totals, word))
        };
        let mut tallies = self.places().filter(is_tally);
        let (Some(tally), None) = (tallies.next(), tallies.next()) else { return Ok(what) };
        let says_rows = |it: &Mark| {
            self.scene.tokens[it.start..it.end].iter().any(|it| lexicon.is(Cue::Rows, &it.lower))
        };
        if self.marks.iter().any(says_rows) {
            return Ok(what);
        }
        match &mut what {
            What::Share { of: None, .. } => return Err(Doubt::Unasked),
            What::Aggregate { measures, .. }
                if measures.first().is_some_and(|it| it.agg == Agg::Count && it.of.is_none()) =>
            {
                measures.insert(0, Measure { agg: Agg::Sum, of: Some(tally) });
                let name = &self.column(tally).name;
                self.notes.push(format!("I added up `{name}`, and counted the rows beside it."));
            }
            _ => {}
        }
        Ok(what)
    }

    /// Returns whether a mark is of this concept, taken or not.
    fn said(&self, concept: Concept) -> bool {
        self.marks.iter().any(|it| it.meaning == Meaning::Word(concept))
    }

    fn first_word(&self, wanted: &[Concept]) -> Option<usize> {
        self.open().find(|it| self.word(*it).is_some_and(|it| wanted.contains(&it)))
    }

    fn has(&self, wanted: &[Concept]) -> bool {
        self.first_word(wanted).is_some()
    }

    /// Takes every mark of these concepts; returns whether there was one.
    fn take_all(&mut self, wanted: &[Concept]) -> bool {
        let mut is_any = false;
        while let Some(at) = self.first_word(wanted) {
            self.take(at);
            is_any = true;
        }
        is_any
    }

    /// Returns the columns of a mark that suit, or all of them when none does.
    fn choose(&self, at: usize, suits: impl Fn(&Column) -> bool) -> Vec<Place> {
        let Some(Meaning::Column(places)) = self.meaning(at) else { return Vec::new() };
        let suiting: Vec<Place> =
            places.iter().copied().filter(|it| suits(self.column(*it))).collect();
        if suiting.is_empty() { places.clone() } else { suiting }
    }

    /// Takes the one column that a mark names.
    fn one(&mut self, at: usize, suits: impl Fn(&Column) -> bool) -> Result<Place, Doubt> {
        let places = self.choose(at, suits);
        let label = self.key_and_label(&places).map(|it| it.1).or_else(|| self.joined_key(&places));
        let place = match places[..] {
            [place] => place,
            _ => label.ok_or_else(|| self.ambiguous(at, &places))?,
        };
        self.take(at);
        Ok(place)
    }

    /// Returns the column by which two tables go together, when both are meant by the same name.
    fn joined_key(&self, places: &[Place]) -> Option<Place> {
        let join = join_of(self.scene.tables, self.scene.lexicon)?;
        let are_both = matches!(places, [one, other] if *one == join.left && *other == join.right);
        are_both.then_some(join.left)
    }

    /// Returns the key and the name of a thing, when they are what columns hold: `Customer ID` and
    /// `Customer Name`.
    fn key_and_label(&self, places: &[Place]) -> Option<(Place, Place)> {
        let [one, other] = *places else { return None };
        let is_pair = |key: Place, label: Place| {
            let (key, label) = (&self.column(key).words, &self.column(label).words);
            matches!((&key[..], &label[..]), ([thing, key], [of, label])
                if thing == of && key == "id" && label == "name")
        };
        [(one, other), (other, one)].into_iter().find(|it| is_pair(it.0, it.1))
    }

    /// Takes the columns that marks name.
    fn all(
        &mut self,
        marks: &[usize],
        suits: impl Fn(&Column) -> bool,
    ) -> Result<Vec<Place>, Doubt> {
        marks.iter().map(|it| self.one(*it, &suits)).collect()
    }

    /// Returns the doubt about a mark that may name several columns.
    fn ambiguous(&self, at: usize, places: &[Place]) -> Doubt {
        let names = places.iter().map(|it| self.column(*it).name.clone()).collect();
        Doubt::Ambiguous(self.text(at), names)
    }

    /// Returns the marks of columns that no step has taken yet.
    fn open_columns(&self) -> Vec<usize> {
        self.open().filter(|it| self.is_column(*it)).collect()
    }

    fn is_column(&self, at: usize) -> bool {
        matches!(self.meaning(at), Some(Meaning::Column(_)))
    }

    fn is_number_column(&self, at: usize) -> bool {
        let Some(Meaning::Column(places)) = self.meaning(at) else { return false };
        places.iter().any(|it| self.kind(*it).is_number())
    }

    fn is_noun(&self, at: usize) -> bool {
        match self.meaning(at) {
            Some(Meaning::Noun | Meaning::Table(_) | Meaning::Word(Concept::Rows)) => true,
            // Where a row is a day, days are rows.
            Some(Meaning::Unit(TimeUnit::Day)) => {
                let is_daily = self.places().any(|it| self.kind(it) == Kind::Day);
                let before = at.checked_sub(1).map(|it| &self.marks[it].meaning);
                let is_amount = matches!(
                    before,
                    Some(
                        Meaning::Number(_)
                            | Meaning::Word(
                                Concept::By | Concept::Each | Concept::Last | Concept::Which
                            )
                    )
                );
                is_daily && !is_amount && (self.text(at) == "days" || self.text(at) == "day")
            }
            _ => false,
        }
    }

    /// Returns the shape of the chart that is asked for.
    fn chart(&mut self) -> Option<Shape> {
        let shapes = [
            (Concept::BarChart, Shape::Bar),
            (Concept::ColumnChart, Shape::Column),
            (Concept::StackedChart, Shape::Stacked),
            (Concept::LineChart, Shape::Line),
            (Concept::ScatterChart, Shape::Scatter),
        ];
        let mut found = None;
        for (concept, shape) in shapes {
            if self.take_all(&[concept]) {
                found = Some(shape);
            }
        }
        if self.take_all(&[Concept::Chart]) {
            found = found.or(Some(Shape::Any));
        }
        // A histogram is a chart by its name.
        let is_histogram = |it: &usize| {
            self.word(*it) == Some(Concept::Distribution)
                && self.scene.lexicon.is(Cue::Histogram, &self.text(*it))
        };
        if found.is_none() && self.open().any(|it| is_histogram(&it)) {
            found = Some(Shape::Column);
        }
        found
    }

    /// Takes the adjectives and verbs that speak of what is computed: `the highest fare paid`.
    fn take_spoken(&mut self, what: &What, filters: &[Filter]) {
        let mut told: Vec<Place> = match what {
            What::Aggregate { measures, .. } => measures.iter().filter_map(|it| it.of).collect(),
            What::Rows { rank: Some((place, _)), .. } => vec![*place],
            What::Difference { measure, .. } => measure.of.into_iter().collect(),
            _ => Vec::new(),
        };
        told.extend(filters.iter().map(|it| it.place));
        for at in self.open() {
            if let Some(Meaning::Adjective { of, is_superlative: false, .. }) = self.meaning(at)
                && of.iter().any(|it| told.contains(it))
            {
                self.take(at);
            }
        }
    }

    /// Takes the columns that are asked for beside whole rows, which show them: `oldest customer: name, job`.
    fn take_shown(&mut self, what: &What) {
        let What::Rows { columns, .. } = what else { return };
        if !columns.is_empty() {
            return;
        }
        self.take_all(&[Concept::Size]);
        for at in self.open_columns() {
            let before = at.checked_sub(1).and_then(|it| self.word_of(it));
            let is_listed =
                before.is_none_or(|it| matches!(it, Concept::And | Concept::Of | Concept::Which));
            if is_listed {
                self.take(at);
            }
        }
    }
}

/// Returns whether a concept makes one number of many.
pub(crate) fn is_figure(concept: Concept) -> bool {
    measures::agg_of(Some(concept)).is_some()
}

/// Returns whether a concept says on which side of an amount something is.
pub(crate) fn compares(concept: Concept) -> bool {
    compare::op_of(concept).is_some()
}

/// Returns the conditions that are not what is asked about.
fn rest_of(filters: Vec<Placed>, what: &What) -> Vec<Filter> {
    let part: &[Filter] = match what {
        What::Share { part, .. }
        | What::Check(Check::Any(part) | Check::All(part))
        | What::Change { span: part, .. } => part,
        _ => &[],
    };
    let is_present = |it: &Filter| match what {
        What::Check(Check::Present(places)) => it.is_presence() && places.contains(&it.place),
        _ => false,
    };
    let is_rest = |it: &Filter| !part.contains(it) && !is_present(it);
    filters.into_iter().map(|it| it.filter).filter(is_rest).collect()
}
