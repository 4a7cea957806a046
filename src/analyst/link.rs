//! The lattice: everything that each span of a question may mean. Nothing is decided here.
//!
//! A span is linked to columns by their names, by values that they hold, to words of the language, amounts, times and
//! nouns for rows. Each link has a score from 0 to 1, of how well the span says it. Tokens have a price for being
//! left out.

use std::collections::HashMap;

use jiff::civil::{Date, Time};
use strsim::damerau_levenshtein;

use crate::float;
use crate::lexicon::{Concept, Cue, Lexicon, TimeUnit, is_often};
use crate::query::Place;
use crate::schema::{Column, Kind, Table};
use crate::words::{Token, TokenKind};

/// Words of the longest phrase.
const SPAN_MAX: usize = 6;
/// Columns that one span is linked to at most.
const COLUMNS_MAX: usize = 4;
/// Score below which a span does not name a column.
const NAMED_MIN: f64 = 0.5;
/// Score from which a span is a part of a name.
const PART_MIN: f64 = 0.6;
/// Score of a name that is whole.
const WHOLE: f64 = 0.95;
/// How much of what a part of a name lacks it need not say, if only one column has it.
const ONLY_PART: f64 = 0.6;
/// By how much a word says less that is a part of a name.
const PART_OF_NAME: f64 = 0.3;
/// By how much a value is less well linked where a column is called so.
const VALUE_OF_NAME: f64 = 0.05;
/// Price of a phrase that says what to compute.
const SAID_COST: f64 = 2.4;
/// Price of a noun behind a name, which says what kind of thing has it: the `size` of `screen size`.
const HEAD_COST: f64 = 0.6;
/// By how much a value is less well linked where the question names another column that has it.
const OTHERS_VALUE: f64 = 0.3;
/// Price of a word that says nothing.
const TAG_COST: f64 = 0.02;
/// By how much a noun for rows is less well linked where a value is called so.
const NOUN_OF_VALUES: f64 = 0.3;
/// By how much a unit of time is less well linked where a column is called so.
const UNIT_OF_NAME: f64 = 0.15;
/// By how much the name of a table says less where one of its numbers is called so.
const NOUN_OF_NUMBERS: f64 = 0.3;

/// A span and what it may mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Link {
    /// The first token.
    pub start: usize,
    /// Behind the last token.
    pub end: usize,
    /// What it may mean.
    pub atom: Atom,
    /// How well it says that, from 0 to 1.
    pub score: f64,
}

/// What a span may mean.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Atom {
    /// A phrase of the language.
    Word(Concept),
    Column(Place),
    /// A value of a column.
    Value(Held),
    /// A table as such.
    Table(usize),
    /// What a row is.
    Noun,
    /// An amount.
    Number(f64),
    /// A place in an order.
    Ordinal(u32),
    /// A period, from its first day to the one behind its last.
    Period(Date, Date, TimeUnit),
    /// A time of day.
    Clock(Time),
    /// A unit of time, and whether it is one of how often something is: `monthly`.
    Unit(TimeUnit, bool),
    /// A month of any year, from 1.
    Month(i8),
    /// A day of the week, from Monday as 1.
    Weekday(i8),
    /// A quarter of any year, from 1.
    Quarter(i8),
    /// A percentile: `p95`.
    Percentile(f64),
    /// A unit of measure.
    Measure,
    /// An adjective or a verb that speaks of a column.
    Adjective(Place, Degree, bool),
    /// Text between quotes.
    Quoted(String),
}

/// The form of an adjective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Degree {
    Positive,
    Comparative,
    Superlative,
}

/// A column that holds a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    /// The column.
    pub place: Place,
    /// Every spelling that is meant. None if the span is a part of values.
    pub spellings: Vec<String>,
    /// What was looked up.
    pub text: String,
    /// In how many rows it is.
    pub n_rows: u64,
}

/// What was looked up: the columns that hold a phrase in lower case.
pub(crate) type Facts = HashMap<String, Vec<Held>>;

/// All links of a question, and what each token costs that is left out.
#[derive(Debug)]
pub(crate) struct Lattice {
    pub links: Vec<Link>,
    pub skips: Vec<f64>,
    /// Tokens that mean nothing that is known.
    pub unknown: Vec<usize>,
}

/// What links are made from.
pub(crate) struct Linker<'a> {
    pub question: &'a str,
    pub tokens: &'a [Token],
    pub tables: &'a [Table],
    /// Those of the tables that are asked.
    pub of: &'a [usize],
    pub facts: &'a Facts,
    pub lexicon: &'a Lexicon,
}

impl Linker<'_> {
    /// Links all spans.
    pub(crate) fn lattice(&self) -> Lattice {
        let mut links = Vec::new();
        for start in 0..self.tokens.len() {
            for end in start + 1..=self.tokens.len().min(start + SPAN_MAX) {
                self.span(start, end, &mut links);
            }
        }
        self.superlatives(&mut links);
        self.compete(&mut links);
        self.qualify(&mut links);
        self.place(&mut links);
        let costs: Vec<(f64, bool)> =
            (0..self.tokens.len()).map(|at| self.skip(at, &links)).collect();
        let unknown = (0..costs.len()).filter(|at| costs[*at].1).collect();
        Lattice { links, skips: costs.into_iter().map(|it| it.0).collect(), unknown }
    }

    /// A superlative before a number is its largest or least, also if it speaks of another: `the longest sleep_total`.
    fn superlatives(&self, links: &mut Vec<Link>) {
        let numbers: Vec<(usize, Place)> = links
            .iter()
            .filter_map(|it| match it.atom {
                Atom::Column(place) if 0.9 <= it.score && self.column(place).kind.is_number() => {
                    Some((it.start, place))
                }
                _ => None,
            })
            .collect();
        for (start, token) in self.tokens.iter().enumerate() {
            let is_phrase = self.lexicon.phrase(std::slice::from_ref(&token.lower)).is_some();
            let Some(adjective) = self
                .lexicon
                .adjective(&token.lower)
                .filter(|_| token.lower.ends_with("est") && !is_phrase)
            else {
                continue;
            };
            let mut spoken = links.iter().filter_map(|it| match it.atom {
                Atom::Adjective(place, ..) if it.start == start => Some(place),
                _ => None,
            });
            let of: Vec<Place> =
                numbers.iter().filter(|it| it.0 == start + 1).map(|it| it.1).collect();
            if !of.is_empty() {
                let score = if spoken.all(|it| of.contains(&it)) { 0.95 } else { 0.9 };
                let concept = if adjective.low { Concept::Least } else { Concept::Most };
                links.push(Link { start, end: start + 1, atom: Atom::Word(concept), score });
            }
        }
    }

    /// Returns whether a value is said where a span starts: behind `is`, or behind a word of a column.
    fn is_value_said(&self, start: usize) -> bool {
        let Some(before) = start.checked_sub(1).map(|it| &self.tokens[it]) else { return false };
        let names = |it: Place| self.column(it).words.contains(&before.stem);
        before.lower == "=" || self.lexicon.is(Cue::Is, &before.lower) || self.places().any(names)
    }

    /// Lets `weather.date` be that column of that table, and nothing else.
    fn qualify(&self, links: &mut Vec<Link>) {
        let text = |start: usize, end: usize| {
            &self.question[self.tokens[start].start..self.tokens[end - 1].end]
        };
        let is_quote = |it: char| matches!(it, '"' | '`');
        let ends = |start: usize| start + 1..=self.tokens.len().min(start + SPAN_MAX);
        let mut found: Vec<(usize, usize, Place)> = Vec::new();
        for (start, at) in (0..self.tokens.len()).flat_map(|it| ends(it).map(move |at| (it, at))) {
            let Some(behind) = self.tokens.get(at) else { continue };
            let between = &self.question[self.tokens[at - 1].end..behind.start];
            let named = |it: &&usize| self.tables[**it].name.eq_ignore_ascii_case(text(start, at));
            let Some(table) = self.of.iter().find(named) else { continue };
            if between.trim_matches(is_quote) != "." {
                continue;
            }
            let columns = &self.tables[*table].columns;
            let called = |end: usize| {
                columns.iter().position(|it| it.name.eq_ignore_ascii_case(text(at, end)))
            };
            let longest = ends(at).rev().find_map(|end| Some((end, called(end)?)));
            if let Some((end, column)) = longest {
                found.push((start, end, Place { table: *table, column }));
            }
        }
        for (start, end, place) in found {
            links.retain(|it| it.end <= start || end <= it.start);
            links.push(Link { start, end, atom: Atom::Column(place), score: 1.0 });
        }
    }

    /// Lets `date in weather` and `date of the weather` be that column as well.
    fn place(&self, links: &mut Vec<Link>) {
        let is = |at: usize, cue: Cue| {
            self.tokens.get(at).is_some_and(|it| self.lexicon.is(cue, &it.lower))
        };
        let found = links.iter().filter_map(|it| match it.atom {
            Atom::Column(place) if 0.95 <= it.score => {
                let joint = is(it.end, Cue::Inside) || is(it.end, Cue::Of);
                let has_article = self.tokens.get(it.end + 1).is_some_and(|it| it.lower == "the");
                let start = it.end + 1 + usize::from(has_article);
                let table = Atom::Table(place.table);
                let table = links.iter().find(|it| it.start == start && it.atom == table)?;
                joint.then(|| Link { end: table.end, ..it.clone() })
            }
            _ => None,
        });
        let found: Vec<Link> = found.collect();
        links.extend(found);
    }

    /// Returns whether a table is called like one of its numbers, so that its name hardly stands for rows.
    fn is_called_like_a_number(&self, table: usize) -> bool {
        let table = &self.tables[table];
        table.columns.iter().any(|it| {
            // A `flight` numbers the flights, and `orders` say how many there are.
            let is_amount = it.name.eq_ignore_ascii_case(&table.name)
                || it.unit.is_some()
                || self.lexicon.is_additive(&it.words) == Some(true);
            it.kind.is_number() && !it.is_key && is_amount && table.is_called(&it.words)
        })
    }

    fn column(&self, place: Place) -> &Column {
        &self.tables[place.table].columns[place.column]
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        self.of.iter().flat_map(|table| {
            (0..self.tables[*table].columns.len()).map(|column| Place { table: *table, column })
        })
    }

    fn span(&self, start: usize, end: usize, links: &mut Vec<Link>) {
        let span = &self.tokens[start..end];
        let mut put = |atom: Atom, score: f64| links.push(Link { start, end, atom, score });
        let words: Vec<String> = span.iter().map(|it| it.lower.clone()).collect();
        let stems: Vec<String> = span.iter().map(|it| it.stem.clone()).collect();
        let is_plain = span.iter().all(|it| it.kind == TokenKind::Word);
        if is_plain && let Some(concept) = self.lexicon.phrase(&words) {
            put(Atom::Word(concept), 1.0);
        }
        if words.iter().any(|it| it == ",") {
            return;
        }
        for (score, place) in self.columns(span, &stems) {
            put(Atom::Column(place), score);
        }
        let text = self.question[span[0].start..span[span.len() - 1].end].to_lowercase();
        // `of` is hardly a value.
        let is_small = span.iter().all(|it| {
            self.lexicon.is_stop(&it.stem)
                && !self.lexicon.is_filler(&it.stem)
                && it.text == it.lower
                || self.lexicon.phrase(std::slice::from_ref(&it.lower)) == Some(Concept::Of)
                    && it.text == it.lower
        });
        let is_small = is_small || text == "no" && !self.is_value_said(start);
        let held = if is_small { Vec::new() } else { self.held(&text) };
        let most = held.iter().map(|it| it.n_rows).max().unwrap_or_default();
        let is_lower =
            start == 0 || span.iter().all(|it| it.kind != TokenKind::Quoted && it.text == it.lower);
        for held in held {
            let score = match held.spellings.is_empty() {
                // Any word may be somewhere in long texts.
                true if is_lower && self.is_free(held.place) => 0.5,
                true => 0.75,
                false if held.n_rows * 5 < most => 0.8,
                false if held.n_rows < most => 0.92,
                false => 1.0,
            };
            put(Atom::Value(held), score);
        }
        for table in self.of {
            let named = &self.tables[*table];
            if named.is_called(&stems) || matches!(span, [token] if named.is_quoted(token)) {
                put(Atom::Table(*table), 1.0);
            }
        }
        if let Some((from, to, unit)) = self.period(span) {
            put(Atom::Period(from, to, unit), 1.0);
        }
        match span {
            [token] => self.single(token, &mut put),
            [Token { kind: TokenKind::Number(value), .. }, scale] => {
                if let Some(scale) = self.lexicon.scale(&scale.lower) {
                    put(Atom::Number(value * scale), 1.0);
                }
            }
            _ => {}
        }
    }

    fn single(&self, token: &Token, put: &mut impl FnMut(Atom, f64)) {
        let lexicon = self.lexicon;
        match token.kind {
            TokenKind::Number(value) => put(Atom::Number(value), 1.0),
            TokenKind::Ordinal(place) => put(Atom::Ordinal(place), 1.0),
            TokenKind::Quoted => put(Atom::Quoted(token.text.clone()), 0.9),
            TokenKind::Clock(time) => put(Atom::Clock(time), 1.0),
            TokenKind::Day(_) | TokenKind::Month(_) | TokenKind::Word => {}
        }
        if token.kind != TokenKind::Word {
            return;
        }
        if let Some(value) = lexicon.number(&token.lower) {
            put(Atom::Number(value), 0.9);
        }
        if let Some(place) = lexicon.ordinal(&token.lower) {
            put(Atom::Ordinal(place), 0.9);
        }
        if let Some(unit) = lexicon.unit(&token.stem) {
            put(Atom::Unit(unit, is_often(&token.lower)), 1.0);
        }
        if let Some(time) = lexicon.clock(&token.lower) {
            put(Atom::Clock(time), 0.9);
        }
        if let Some(month) = lexicon.month(&token.lower) {
            put(Atom::Month(month), 0.9);
        }
        if let Some(day) = lexicon.weekday(&token.lower) {
            put(Atom::Weekday(day), 0.9);
        }
        if let Some(quarter) = quarter(token) {
            put(Atom::Quarter(quarter), 0.9);
        }
        if let Some(percentile) = percentile(token) {
            put(Atom::Percentile(percentile), 0.9);
        }
        if lexicon.is_measure(&token.lower) {
            put(Atom::Measure, 0.8);
        }
        let mut is_spoken_of = false;
        for adjective in lexicon.adjectives(&token.lower) {
            if is_spoken_of {
                break;
            }
            let degree = match &token.lower {
                it if it.ends_with("est") => Degree::Superlative,
                it if it.ends_with("er") => Degree::Comparative,
                _ => Degree::Positive,
            };
            let mut spoken_of = self.spoken_of(&adjective.of);
            let next = self.tokens.iter().find(|it| token.end <= it.start);
            if next.is_some_and(|it| self.is_row(it)) {
                spoken_of.extend(self.amounts(&spoken_of));
            }
            is_spoken_of = !spoken_of.is_empty();
            let end = if adjective.low { Cue::Lowest } else { Cue::Highest };
            for place in &spoken_of {
                // The hottest day has the highest `temp_max`.
                let is_end = lexicon.has(end, &self.column(*place).words);
                let score = if spoken_of.len() == 1 || is_end { 0.95 } else { 0.85 };
                put(Atom::Adjective(*place, degree, adjective.low), score);
            }
            // The oldest was born first.
            if spoken_of.is_empty()
                && adjective.of.iter().any(|it| it == "age")
                && let Some(place) = self.born()
            {
                put(Atom::Adjective(place, degree, !adjective.low), 0.9);
            }
        }
        if let Some(score) = self.noun(token, self.of) {
            put(Atom::Noun, score);
        }
        // Of two tables, a noun may speak of one.
        if let [one, other] = *self.of {
            match (self.noun(token, &[one]), self.noun(token, &[other])) {
                (Some(score), None) => put(Atom::Table(one), score),
                (None, Some(score)) => put(Atom::Table(other), score),
                _ => {}
            }
        }
        let is_known = lexicon.phrase(std::slice::from_ref(&token.lower)).is_some();
        if !is_known
            && !lexicon.is_stop(&token.stem)
            && let Some(concept) = lexicon.misspelled(&token.lower)
        {
            put(Atom::Word(concept), 0.6);
        }
    }

    /// Takes back what is said better by another link of the same span: a part of a name, where a name is whole.
    fn compete(&self, links: &mut Vec<Link>) {
        let mut best: HashMap<(usize, usize), f64> = HashMap::new();
        for link in links.iter().filter(|it| matches!(it.atom, Atom::Column(_))) {
            let most = best.entry((link.start, link.end)).or_default();
            *most = most.max(link.score);
        }
        links.retain(|it| {
            let most = best.get(&(it.start, it.end)).copied().unwrap_or_default();
            match it.atom {
                Atom::Column(_) => most - it.score < 0.16 && (most < 0.97 || 0.9 < it.score),
                _ => true,
            }
        });
        Self::compete_with_names(links);
        self.compete_with_lists(links);
        self.compete_with_values(links);
        self.compete_with_owners(links);
        // Behind an amount, a unit is hardly anything else.
        for link in links.iter_mut().filter(|it| it.atom == Atom::Measure && 0 < it.start) {
            let token = &self.tokens[link.start];
            if matches!(self.tokens[link.start - 1].kind, TokenKind::Number(_))
                && token.lower != "in"
            {
                link.score = 0.97;
            }
        }
        self.compete_with_nouns(links, &best);
    }

    fn compete_with_names(links: &mut [Link]) {
        // `bags` within `total bags` is hardly another column, where one is called so, and `rate` within `fertility
        // rate` hardly a share.
        let whole: Vec<(usize, usize, Place)> = links
            .iter()
            .filter_map(|it| match it.atom {
                Atom::Column(place) if 0.97 <= it.score && 1 < it.end - it.start => {
                    Some((it.start, it.end, place))
                }
                _ => None,
            })
            .collect();
        for link in links.iter_mut() {
            let is_within = |it: &(usize, usize, Place)| {
                it.0 <= link.start && link.end <= it.1 && it.1 - it.0 != link.end - link.start
            };
            link.score -= match link.atom {
                Atom::Column(place)
                    if link.score < 0.95
                        && whole.iter().any(|it| is_within(it) && it.2 != place) =>
                {
                    0.1
                }
                Atom::Noun | Atom::Table(_) | Atom::Word(Concept::Share)
                    if whole.iter().any(is_within) =>
                {
                    PART_OF_NAME
                }
                _ => 0.0,
            };
        }
    }

    /// `list all countries` asks for them, and for no number of each. A value that is called as a column is hardly meant.
    fn compete_with_lists(&self, links: &mut [Link]) {
        let lists: Vec<usize> = links
            .iter()
            .filter(|it| it.atom == Atom::Word(Concept::List))
            .map(|it| it.end)
            .collect();
        let called: Vec<(usize, usize)> = links
            .iter()
            .filter(|it| matches!(it.atom, Atom::Column(_)) && 0.97 <= it.score)
            .map(|it| (it.start, it.end))
            .collect();
        for link in links.iter_mut() {
            link.score -= match link.atom {
                Atom::Word(Concept::Each)
                    if lists.contains(&link.start) && self.tokens[link.start].lower == "all" =>
                {
                    PART_OF_NAME
                }
                Atom::Value(_) if called.contains(&(link.start, link.end)) => VALUE_OF_NAME,
                _ => 0.0,
            };
        }
    }

    /// `where attrition is Yes` says whose value that is, where other columns have it as well.
    fn compete_with_owners(&self, links: &mut [Link]) {
        let is_joint = |it: &Token| it.lower == "=" || self.lexicon.is(Cue::Is, &it.lower);
        let owners: Vec<(usize, Place)> = links
            .iter()
            .filter(|it| 0.9 <= it.score)
            .filter_map(|it| match it.atom {
                Atom::Column(place) => Some((it.end, place)),
                _ => None,
            })
            .collect();
        let is_owned = |it: &Link| match &it.atom {
            Atom::Value(held) => {
                let before = self.tokens[..it.start].iter().rev();
                let n_joints = before.take_while(|it| is_joint(it)).count();
                0 < n_joints && owners.contains(&(it.start - n_joints, held.place))
            }
            _ => false,
        };
        let owned: Vec<(usize, usize, Place)> = links
            .iter()
            .filter(|it| is_owned(it))
            .filter_map(|it| match &it.atom {
                Atom::Value(held) => Some((it.start, it.end, held.place)),
                _ => None,
            })
            .collect();
        for link in links.iter_mut() {
            if let Atom::Value(held) = &link.atom
                && owned
                    .iter()
                    .any(|it| (it.0, it.1) == (link.start, link.end) && it.2 != held.place)
            {
                link.score -= OTHERS_VALUE;
            }
        }
    }

    fn compete_with_values(&self, links: &mut [Link]) {
        // `errors` name `err_msg`, whatever is written there.
        let naming: Vec<(usize, usize, Place)> = links
            .iter()
            .filter_map(|it| match it.atom {
                Atom::Column(place) => Some((it.start, it.end, place)),
                _ => None,
            })
            .collect();
        let said: Vec<(usize, usize)> = links
            .iter()
            .filter(|it| match it.atom {
                Atom::Noun | Atom::Table(_) => true,
                Atom::Column(_) => 0.8 < it.score,
                _ => false,
            })
            .map(|it| (it.start, it.end))
            .collect();
        for link in links.iter_mut() {
            if let Atom::Value(held) = &link.atom
                && held.spellings.is_empty()
            {
                let span = &self.tokens[link.start..link.end];
                let is_quoted = span.iter().any(|it| it.kind == TokenKind::Quoted);
                let is_capital =
                    0 < link.start && span.iter().all(|it| it.text.starts_with(char::is_uppercase));
                if !is_quoted && !is_capital && span.iter().all(|it| is_known(it, self.lexicon)) {
                    link.score = 0.2;
                } else if said.contains(&(link.start, link.end))
                    || naming.contains(&(link.start, link.end, held.place))
                {
                    link.score -= 0.35;
                }
            }
        }
        // `hurricanes` are those that are called so, if some are.
        let held: Vec<(usize, usize)> = links
            .iter()
            .filter(|it| match &it.atom {
                Atom::Value(held) => !held.spellings.is_empty() && 0.9 < it.score,
                _ => false,
            })
            .map(|it| (it.start, it.end))
            .collect();
        for link in links.iter_mut().filter(|it| it.atom == Atom::Noun && it.score < 0.95) {
            if held.contains(&(link.start, link.end)) {
                link.score -= NOUN_OF_VALUES;
            }
        }
    }

    /// Takes back words and nouns that name a column; `best` has how well spans do that.
    fn compete_with_nouns(&self, links: &mut [Link], best: &HashMap<(usize, usize), f64>) {
        let numbers: Vec<(usize, usize)> = links
            .iter()
            .filter(|it| match it.atom {
                Atom::Column(place) => {
                    self.column(place).kind.is_number() && !self.column(place).is_key
                }
                _ => false,
            })
            .map(|it| (it.start, it.end))
            .collect();
        let named = |link: &Link| best.get(&(link.start, link.end)).is_some_and(|it| 0.9 <= *it);
        let ends: Vec<usize> = links
            .iter()
            .filter(|it| matches!(it.atom, Atom::Column(_)) && 0.8 <= it.score)
            .map(|it| it.end)
            .collect();
        // `name` behind a column is a part of what is named.
        for link in links.iter_mut().filter(|it| it.atom == Atom::Word(Concept::List)) {
            let is_behind = ends.contains(&link.start)
                && link.end == link.start + 1
                && self.lexicon.is(Cue::Labels, &self.tokens[link.start].stem);
            if named(link) || is_behind {
                link.score -= 0.3;
            }
        }
        let repeated: Vec<(usize, usize)> = links
            .iter()
            .filter(|it| match it.atom {
                Atom::Column(place) => {
                    0.97 <= it.score && self.repeats(place, &self.tokens[it.start].lower)
                }
                _ => false,
            })
            .map(|it| (it.start, it.end))
            .collect();
        // A column that numbers each row is called as the rows are.
        let rows: Vec<(usize, usize)> = links
            .iter()
            .filter(|it| match it.atom {
                Atom::Column(place) => self.numbers_rows(place),
                _ => false,
            })
            .map(|it| (it.start, it.end))
            .collect();
        let repeats = |link: &Link| repeated.contains(&(link.start, link.end));
        // `year` is the column that is called so, before the year of a date.
        for link in links.iter_mut().filter(|it| matches!(it.atom, Atom::Unit(..))) {
            let token = &self.tokens[link.start];
            let is_called = |it: Place| {
                let column = self.column(it);
                column.unit == Some(TimeUnit::Year)
                    && column.kind == Kind::Whole
                    && column.name.eq_ignore_ascii_case(&token.text)
            };
            if self.places().any(is_called) {
                link.score -= UNIT_OF_NAME;
            }
        }
        // `sales by region` adds up the column of a table that is called so too.
        for link in links.iter_mut() {
            let is_number = match link.atom {
                Atom::Table(table) => self.is_called_like_a_number(table),
                Atom::Noun => self.of.iter().any(|it| self.is_called_like_a_number(*it)),
                _ => false,
            };
            if is_number && best.get(&(link.start, link.end)).is_some_and(|it| 0.97 <= *it) {
                link.score -= NOUN_OF_NUMBERS;
            }
        }
        for link in links.iter_mut().filter(|it| it.atom == Atom::Noun) {
            match best.get(&(link.start, link.end)) {
                // `products` are those of a column that names some of them again and again, and hardly its rows.
                Some(most) if 0.97 <= *most && repeats(link) => link.score -= 0.2,
                Some(_) if rows.contains(&(link.start, link.end)) => {}
                Some(most) if 0.97 <= *most => link.score -= 0.12,
                Some(most) if 0.8 <= *most && numbers.contains(&(link.start, link.end)) => {
                    link.score -= 0.15;
                }
                _ => {}
            }
        }
    }

    /// Returns what it costs to leave a token out, and whether it means nothing that is known.
    fn skip(&self, at: usize, links: &[Link]) -> (f64, bool) {
        let (cost, is_unknown) = self.bare_skip(at, links);
        if self.is_tag(at) || self.is_source(at, links) || self.is_trade(at, links) {
            return (TAG_COST, false);
        }
        // What stands in parentheses behind words says what they are: `errors (status 500 or higher)`.
        let is_explained =
            !self.tokens[at].is_aside && self.tokens[at + 1..].iter().take(2).any(|it| it.is_aside);
        let is_column = links
            .iter()
            .any(|it| it.start <= at && at < it.end && matches!(it.atom, Atom::Column(_)));
        if is_explained && is_unknown && !is_column {
            return (cost.min(0.8), is_unknown);
        }
        if self.is_kind_of_name(at, links) || Self::says_again(at, links) {
            return (TAG_COST, false);
        }
        if is_unknown && self.is_head_of_name(at, links) {
            return (cost.min(HEAD_COST), is_unknown);
        }
        // What is a part of a phrase that says something is not left out.
        let phrase = links.iter().filter(|it| it.start <= at && at < it.end).filter_map(|it| {
            match it.atom {
                Atom::Word(concept) if says_much(concept) => {
                    Some(SAID_COST / float(it.end - it.start) * it.score)
                }
                _ => None,
            }
        });
        (phrase.fold(cost, f64::max), is_unknown)
    }

    /// Returns whether a word beside the name of a column says that it is one, or what every column of its kind is: the
    /// `name` of `company name`, the `date` of `signup date`, the `column` of `the price column`.
    fn is_kind_of_name(&self, at: usize, links: &[Link]) -> bool {
        let token = &self.tokens[at];
        let concept = self.lexicon.phrase(std::slice::from_ref(&token.lower));
        let is_column = concept == Some(Concept::Columns);
        let is_label = self.lexicon.is(Cue::Labels, &token.stem);
        let is_date = self.lexicon.is(Cue::Dates, &token.lower);
        let is_own = links.iter().any(|it| {
            it.start <= at && at < it.end && matches!(it.atom, Atom::Column(_)) && 0.9 < it.score
        });
        let names = |it: &Link| match it.atom {
            Atom::Column(place) if 0.8 < it.score => {
                let kind = self.column(place).kind;
                it.end == at
                    && (is_column || is_label && kind == Kind::Text || is_date && kind.is_time())
                    || it.start == at + 1 && is_column
            }
            _ => false,
        };
        !is_own && links.iter().any(names)
    }

    /// Returns whether a verb behind the name of a column speaks of that column: the `paid` of `fare paid`.
    fn says_again(at: usize, links: &[Link]) -> bool {
        let spoken = |place: Place| {
            links.iter().any(|it| {
                it.start == at && matches!(it.atom, Atom::Adjective(of, ..) if of == place)
            })
        };
        links.iter().any(|it| match it.atom {
            Atom::Column(place) => it.end == at && 0.8 < it.score && spoken(place),
            _ => false,
        })
    }

    /// Returns whether a noun behind the name of a column says only what kind of thing that is: `screen size`.
    fn is_head_of_name(&self, at: usize, links: &[Link]) -> bool {
        let token = &self.tokens[at];
        let names = |it: &Link| match it.atom {
            Atom::Column(place) => {
                let column = self.column(place);
                it.end == at && 0.8 < it.score && !column.is_key && !column.is_title
            }
            _ => false,
        };
        let is_noun = |it: &Link| it.end == at && matches!(it.atom, Atom::Noun | Atom::Table(_));
        token.lower.chars().all(char::is_alphabetic)
            && !self.lexicon.is_done(&token.lower)
            && links.iter().any(names)
            && !links.iter().any(is_noun)
    }

    /// Returns whether a token ends a question and says nothing: `right?`, `please`.
    fn is_tag(&self, at: usize) -> bool {
        let is = |it: &Token| self.lexicon.is(Cue::Tags, &it.lower);
        let rest = &self.tokens[at..];
        1 < at && rest.iter().all(|it| is(it) || it.lower == ",") && rest.iter().any(is)
    }

    /// Returns whether a token says that pieces are sold, where a column has how many: `the units sold`.
    fn is_trade(&self, at: usize, links: &[Link]) -> bool {
        let are_pieces = |it: &Link| match it.atom {
            Atom::Column(place) => self.lexicon.has(Cue::Quantities, &self.column(place).words),
            _ => false,
        };
        let is_name =
            |it: &Link| it.start <= at && at < it.end && matches!(it.atom, Atom::Column(_));
        self.lexicon.is(Cue::Traded, &self.tokens[at].lower)
            && links.iter().any(are_pieces)
            && !links.iter().any(is_name)
    }

    /// Returns whether a token is the name of the only table that there is, behind `in`.
    fn is_source(&self, at: usize, links: &[Link]) -> bool {
        let is_name =
            |it: &Link| matches!(it.atom, Atom::Table(_)) && it.start <= at && at < it.end;
        let Some(name) = links.iter().find(|it| is_name(it)) else { return false };
        let is_small = |it: &Token| self.lexicon.is_stop(&it.stem) && it.lower != "in";
        let mut before = self.tokens[..name.start].iter().rev().skip_while(|it| is_small(it));
        self.of.len() == 1 && before.next().is_some_and(|it| it.lower == "in")
    }

    fn bare_skip(&self, at: usize, links: &[Link]) -> (f64, bool) {
        let token = &self.tokens[at];
        let lexicon = self.lexicon;
        // What opens a question so says what is asked for.
        if at == 0 && (lexicon.is(Cue::Who, &token.lower) || lexicon.is(Cue::When, &token.lower)) {
            return (1.0, false);
        }
        let is_filler = lexicon.is_filler(&token.stem);
        let is_name = links.iter().any(|it| {
            it.start <= at
                && at < it.end
                && match &it.atom {
                    // A filler is only a word of many in `units_sold`.
                    Atom::Column(_) if is_filler => 0.9 < it.score,
                    Atom::Column(_) => 0.85 < it.score,
                    Atom::Value(held) => !held.spellings.is_empty(),
                    _ => false,
                }
        });
        let concept = lexicon.phrase(std::slice::from_ref(&token.lower));
        let is_stop = lexicon.is_stop(&token.stem);
        match token.kind {
            TokenKind::Word => {}
            _ => return (5.0, false),
        }
        // A unit is of the amount before it.
        let is_after_number = 0 < at && matches!(self.tokens[at - 1].kind, TokenKind::Number(_));
        if is_after_number && lexicon.is_measure(&token.lower) && token.lower != "in" {
            return (2.5, false);
        }
        let cost = match concept {
            _ if is_name && (!is_stop || is_filler) => 3.0,
            // `when there is one` says which are meant.
            _ if 0 < at && lexicon.is(Cue::When, &token.lower) => 1.5,
            _ if is_filler && self.is_thing(at) => 1.5,
            Some(Concept::Of | Concept::Which | Concept::And | Concept::Or) => 0.15,
            Some(Concept::Each) => 1.5,
            Some(
                Concept::List
                | Concept::Compare
                | Concept::Rows
                | Concept::Has
                | Concept::Only
                | Concept::Check
                | Concept::Sorted
                | Concept::Bins,
            ) => 0.5,
            Some(_) if !is_stop => 2.0,
            _ if is_stop && !is_filler => 0.03,
            _ if is_filler => 0.3,
            _ if links.iter().any(|it| {
                it.start == at && it.end == at + 1 && matches!(it.atom, Atom::Noun | Atom::Measure)
            }) =>
            {
                0.6
            }
            _ if links.iter().any(|it| it.start <= at && at < it.end) => 2.0,
            // `before` and `after`.
            _ if lexicon.period(std::slice::from_ref(&token.stem)).is_some() => 2.0,
            _ if token.lower.chars().all(|it| !it.is_alphanumeric()) => 0.1,
            // A verb says less than a noun.
            _ if lexicon.is_done(&token.lower) => return (1.6, true),
            _ => return (3.0, true),
        };
        (cost, false)
    }

    /// Returns whether a word is what a superlative or an aggregate before it is of: `the longest average stay`.
    fn is_thing(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let Some(before) = at.checked_sub(1).map(|it| &self.tokens[it]) else { return false };
        let concept = self.lexicon.phrase(std::slice::from_ref(&before.lower));
        let is_of = matches!(
            concept,
            Some(Concept::Most | Concept::Least | Concept::Mean | Concept::Median)
        ) || before.lower.ends_with("est")
            && self.lexicon.adjective(&before.lower).is_some();
        let is_last = self.tokens.get(at + 1).is_none_or(|it| {
            it.kind != TokenKind::Word
                || self.lexicon.is_stop(&it.stem)
                || self.lexicon.phrase(std::slice::from_ref(&it.lower)).is_some()
        });
        is_of
            && is_last
            && !self.lexicon.is_done(&token.lower)
            && !self.lexicon.is(Cue::Vague, &token.lower)
    }

    /// Returns the columns that a span names, with how well.
    fn columns(&self, span: &[Token], stems: &[String]) -> Vec<(f64, Place)> {
        let is_word = |it: &Token| {
            matches!(it.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Number(_))
        };
        if !span.iter().all(is_word)
            || span.iter().all(|it| matches!(it.kind, TokenKind::Number(_)))
        {
            return Vec::new();
        }
        let mut found: Vec<(f64, Place)> = self
            .places()
            .map(|it| (self.named(span, stems, it), it))
            .filter(|it| NAMED_MIN <= it.0)
            .collect();
        // A part of a name that no other column has says which one is meant.
        let is_row = matches!(span, [token] if self.noun(token, self.of).is_some());
        if let [(score, _)] = &mut found[..]
            && (PART_MIN..WHOLE).contains(score)
            && !is_row
        {
            *score = ONLY_PART.mul_add(WHOLE - *score, *score);
        }
        found.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        found.truncate(COLUMNS_MAX);
        found
    }

    /// Returns how well a span names a column.
    fn named(&self, span: &[Token], stems: &[String], place: Place) -> f64 {
        let by_letters = self.spelled(span, stems, place).or_else(|| self.abbreviated(span, place));
        if let Some(score) = by_letters {
            return score;
        }
        let (Some(first), Some(last)) = (span.first(), span.last()) else { return 0.0 };
        let words = &self.column(place).words[..];
        let bare = self.bare(place);
        let stands_for = |it: &Token| {
            (self.lexicon.is_filler(&it.stem) || self.is_computed(it))
                && bare.iter().any(|word| 0.0 < self.likeness(it, word))
        };
        let is_edge = |it: &Token| {
            self.lexicon.is_stop(&it.stem) && !words.contains(&it.stem) && !stands_for(it)
                || matches!(self.lexicon.phrase(std::slice::from_ref(&it.lower)), Some(concept) if !words.contains(&it.stem) && !stands_for(it) && !matches!(concept, Concept::Rows))
        };
        if let [one, other] = span
            && bare.iter().any(|it| self.is_compound(one, other, it))
        {
            return 0.94;
        }
        if is_edge(first) || is_edge(last) {
            return 0.0;
        }
        if let Some(score) = self.nearly_spelled(span, place) {
            return score;
        }
        let told: Vec<&Token> = span
            .iter()
            .filter(|it| {
                // `type of entity` is `Entity.Type`.
                let joins =
                    self.lexicon.phrase(std::slice::from_ref(&it.lower)) == Some(Concept::Of);
                !joins && !self.lexicon.is_stop(&it.stem)
                    || bare.contains(&it.stem)
                    || !joins && stands_for(it)
            })
            .collect();
        if told.is_empty() || told.len() + 1 < span.len() {
            return 0.0;
        }
        self.by_words(&told, bare)
    }

    /// Returns how well words name a column whose own these are.
    fn by_words(&self, told: &[&Token], bare: &[String]) -> f64 {
        let mut left: Vec<usize> = (0..bare.len()).collect();
        let mut sum = 0.0;
        for token in told {
            let likely = left
                .iter()
                .enumerate()
                .map(|(at, word)| (self.likeness(token, &bare[*word]), at))
                .max_by(|one, other| one.0.total_cmp(&other.0));
            let Some((likeness, at)) = likely.filter(|it| 0.0 < it.0) else { return 0.0 };
            left.remove(at);
            sum += likeness;
        }
        let n = float(told.len());
        let n_words = float(bare.len());
        let is_head = !left.contains(&self.head(bare));
        let is_label = |it: &usize| {
            let cues = [Cue::Labels, Cue::Keys, Cue::KeyEnds];
            cues.iter().any(|cue| self.lexicon.is(*cue, &bare[*it])) || bare[*it] == "id"
        };
        // Of `total_bags` and `small_bags`, bags are the first.
        let is_total = |it: &usize| self.lexicon.is(Cue::Totals, &bare[*it]);
        let coverage = match (left.iter().all(is_label), is_head) {
            (true, _) => 0.97,
            (false, true) if left.iter().all(is_total) => 0.95,
            (false, true) => 0.15f64.mul_add(n / n_words, 0.8),
            (false, false) => 0.3f64.mul_add(n / n_words, 0.58),
        };
        let headless = if is_head { 0.0 } else { 0.1 };
        (sum / n).mul_add(coverage, -headless)
    }

    /// Returns how well a span names a column by its letters, if it does.
    fn spelled(&self, span: &[Token], stems: &[String], place: Place) -> Option<f64> {
        let column = self.column(place);
        let words = &column.words[..];
        if let [token] = span
            && token.text == column.name
        {
            return Some(1.0);
        }
        if words == stems {
            return Some(1.0);
        }
        // `overtime` is `OverTime`.
        let is_letter = |it: &char| it.is_alphanumeric();
        let said: String = span.iter().flat_map(|it| it.lower.chars()).filter(is_letter).collect();
        let name: String =
            column.name.chars().flat_map(char::to_lowercase).filter(is_letter).collect();
        if 3 < said.len() && said == name {
            return Some(0.96);
        }
        let bare = self.bare(place);
        let (first, last) = (span.first()?, span.last()?);
        let says_word = |it: &Token| !self.lexicon.is_stop(&it.stem);
        if bare == stems && says_word(first) {
            return Some(0.98);
        }
        let joined = stems.concat();
        let whole = words.concat();
        if 3 < joined.len() && (joined == whole || joined == bare.concat() && 1 < bare.len()) {
            return Some(0.96);
        }
        // `7-day viewers` is `viewers_7day`.
        let sorted = |text: &str| {
            let mut letters: Vec<char> = text.chars().collect();
            letters.sort_unstable();
            letters
        };
        if 1 < span.len()
            && 6 <= joined.len()
            && joined.len() == whole.len()
            && sorted(&joined) == sorted(&whole)
        {
            return Some(0.95);
        }
        // `gdp per capita` is `gdpPercap`.
        if 1 < span.len()
            && 6 <= whole.len()
            && joined
                .strip_prefix(&whole)
                .is_some_and(|it| it.len() < last.stem.len() && it.len() < 4)
        {
            return Some(0.95);
        }
        None
    }

    /// Returns how well a span names a column by the initials that it is called.
    fn abbreviated(&self, span: &[Token], place: Place) -> Option<f64> {
        let column = self.column(place);
        let bare = self.bare(place);
        let last = span.last()?;
        // `data center` is `DC`, and `cost center name` is `CC_Name`.
        let is_acronym = |word: &str| {
            column.name.split(|it: char| !it.is_alphanumeric()).any(|it| it == word.to_uppercase())
        };
        if 1 < span.len() && !self.lexicon.is_stop(&last.stem) {
            let are_long = span.iter().all(|it| 3 < it.lower.len());
            if let [word] = bare
                && word.len() == span.len()
                && are_long
                && is_acronym(word)
                && is_initials(span, word)
            {
                return Some(0.88);
            }
            if let [word, label] = bare
                && last.stem == *label
                && is_acronym(word)
                && is_initials(&span[..span.len() - 1], word)
            {
                return Some(0.95);
            }
        }
        None
    }

    /// Returns how well a span names a column by letters of it: initials, or one letter other.
    fn nearly_spelled(&self, span: &[Token], place: Place) -> Option<f64> {
        let column = self.column(place);
        let words = &column.words[..];
        let bare = self.bare(place);
        if let [token] = span
            && 2 < words.len()
            && token.lower.len() == words.len()
            && words.iter().zip(token.lower.chars()).all(|(word, it)| word.starts_with(it))
        {
            return Some(0.93);
        }
        // `cost center` is `CC`, `date of birth` is `DOB`.
        if 1 < span.len()
            && bare.iter().any(|word| word.len() == span.len() && is_initials(span, word))
        {
            // A name says more than a number.
            return Some(if bare.len() == 1 && !column.is_title { 0.88 } else { 0.9 });
        }
        // One letter more, less or other.
        if let [token] = span
            && 6 <= token.lower.len()
            && !is_known(token, self.lexicon)
            && crate::words::split_name(&column.name).iter().any(|it| {
                let it = it.to_lowercase();
                it.chars().next() == token.lower.chars().next()
                    && damerau_levenshtein(&it, &token.lower)
                        <= if 9 <= token.lower.len() { 2 } else { 1 }
            })
            && !words.contains(&token.stem)
        {
            return Some(0.82);
        }
        None
    }

    /// Returns whether a word of a name is made of two, each cut short: `acctbal` of `account balance`.
    fn is_compound(&self, one: &Token, other: &Token, word: &str) -> bool {
        let cuts = |token: &Token, part: &str| {
            let mut letters = token.lower.chars();
            token.kind == TokenKind::Word
                && !is_known(token, self.lexicon)
                && 2 <= part.len()
                && token.lower.chars().next() == part.chars().next()
                && part.chars().all(|it| letters.any(|letter| letter == it))
                || 3 <= part.len()
                    && (token.stem == part || self.lexicon.are_synonyms(&token.stem, part))
        };
        let mut splits = (2..word.len().saturating_sub(1)).filter(|it| word.is_char_boundary(*it));
        splits.any(|at| cuts(one, &word[..at]) && cuts(other, &word[at..]))
    }

    /// Returns the words of a column's name without the unit at its end.
    fn bare(&self, place: Place) -> &[String] {
        let column = self.column(place);
        let [rest @ .., unit] = &column.words[..] else { return &column.words };
        let tells_apart = |other: &Column| {
            other.words.split_last().is_some_and(|(last, same)| same == rest && last != unit)
        };
        let table = &self.tables[place.table];
        let is_unit = !rest.is_empty()
            && self.lexicon.is_measure(unit)
            && !table.columns.iter().any(tells_apart);
        if is_unit { rest } else { &column.words }
    }

    /// Returns which word of a name says what it is.
    fn head(&self, bare: &[String]) -> usize {
        let of = bare.iter().position(|it| self.lexicon.is(Cue::NameJoints, it));
        let last = of.unwrap_or(bare.len()).saturating_sub(1);
        let is_label = bare.get(last).is_some_and(|it| self.lexicon.is(Cue::Labels, it));
        if is_label { last.saturating_sub(1) } else { last }
    }

    /// Returns how well a token stands for a word of a name.
    fn likeness(&self, token: &Token, word: &str) -> f64 {
        let (stem, lower) = (token.stem.as_str(), token.lower.as_str());
        if stem == word {
            return 1.0;
        }
        // `1st` is first.
        let place =
            self.lexicon.ordinal(lower).or_else(|| self.lexicon.is_first(lower).then_some(1));
        if place.is_some_and(|it| {
            word.starts_with(|it: char| it.is_ascii_digit()) && ordinal_of(word) == Some(it)
        }) {
            return 1.0;
        }
        if self.lexicon.are_synonyms(stem, word) {
            return 0.9;
        }
        if let Some(score) = self.lexicon.speaks_of(stem, word) {
            return score;
        }
        // `avg_price` is the average price.
        if self.is_computed(token) {
            return if is_cut(word, lower) { 0.85 } else { 0.0 };
        }
        // What carries nothing elsewhere may be what a name cuts short: `Chnl`, `loc`.
        let is_filler = self.lexicon.is_filler(&token.stem)
            && self.lexicon.phrase(std::slice::from_ref(&token.lower)).is_none()
            && self.lexicon.unit(&token.stem).is_none();
        if is_known(token, self.lexicon) && !is_filler {
            return 0.0;
        }
        let mut letters = lower.chars();
        let is_skeleton = 1 < word.len()
            && word.len() < lower.len()
            && !word.contains(['a', 'e', 'i', 'o', 'u'])
            && word.chars().next() == lower.chars().next()
            && word.chars().all(|it| letters.any(|letter| letter == it));
        if is_skeleton {
            return if word.len() == 2 { 0.75 } else { 0.82 };
        }
        if is_filler {
            let is_start = 3 <= word.len() && word.len() < lower.len() && lower.starts_with(word);
            return if is_start { 0.85 } else { 0.0 };
        }
        // `PERPOVERTY` is the poverty per something.
        let is_prefix = |it: &str| {
            it.len() <= 2
                || self.lexicon.is(Cue::NameJoints, it)
                || self.lexicon.is_measure(it)
                || self.lexicon.phrase(&[it.to_owned()]).is_some()
        };
        if 4 <= stem.len() && word.strip_suffix(stem).is_some_and(is_prefix) {
            return 0.85;
        }
        // `acctbal` is a balance.
        if 5 <= lower.len()
            && (3..lower.len()).any(|it| {
                5 < word.len() && lower.is_char_boundary(it) && word.ends_with(&lower[..it])
            })
        {
            return 0.75;
        }
        let shorter = stem.len().min(word.len());
        if 3 <= shorter && (lower.starts_with(word) || word.starts_with(stem)) {
            return 0.85;
        }
        let allowed = match stem.len() {
            0..=4 => 0,
            5..=8 => 1,
            _ => 2,
        };
        if 0 < allowed
            && damerau_levenshtein(stem, word) <= allowed
            && stem.chars().next() == word.chars().next()
        {
            return 0.82;
        }
        0.0
    }

    /// Returns whether a word says what is computed, as names also do.
    fn is_computed(&self, token: &Token) -> bool {
        let concept = self.lexicon.phrase(std::slice::from_ref(&token.lower));
        matches!(
            concept,
            Some(Concept::Mean | Concept::Median | Concept::Sum | Concept::Max | Concept::Min)
        )
    }

    /// Returns where a text is held. The name of a column is none of its own parts.
    fn held(&self, text: &str) -> Vec<Held> {
        let mut held = self.facts.get(text).cloned().unwrap_or_default();
        held.retain(|it| self.of.contains(&it.place.table));
        if held.iter().any(|it| !it.spellings.is_empty()) {
            held.retain(|it| !it.spellings.is_empty());
        }
        held.sort_by_key(|it| std::cmp::Reverse(it.n_rows));
        held.truncate(COLUMNS_MAX);
        held
    }

    /// Returns whether a column is called by this word, or its plural, and has texts that are no names of the rows of a
    /// table, which is not called so itself.
    fn repeats(&self, place: Place, said: &str) -> bool {
        let column = self.column(place);
        let table = &self.tables[place.table];
        let n = table.n_rows - column.n_missing;
        let name = column.name.to_lowercase();
        let is_label = |it: &String| {
            [Cue::Labels, Cue::Keys, Cue::KeyEnds].iter().any(|cue| self.lexicon.is(*cue, it))
        };
        // `accounts` are those of `account_id`.
        let is_key = matches!(&column.words[..], [_, rest @ ..] if !rest.is_empty() && rest.iter().all(is_label));
        let is_called = name == said || singulars(said).contains(&name) || is_key;
        is_called
            && (column.kind == Kind::Text || is_key)
            && column.n_distinct.is_some_and(|it| if is_key { it < n / 2 } else { it < n })
            && !table.is_called(&column.words)
    }

    /// Returns whether a column has a number of its own for each row.
    fn numbers_rows(&self, place: Place) -> bool {
        let column = self.column(place);
        column.is_key && column.n_distinct == Some(self.tables[place.table].n_rows)
    }

    /// Returns whether a column has texts of which hardly any two are the same, and which are no names.
    fn is_free(&self, place: Place) -> bool {
        let column = self.column(place);
        let n = self.tables[place.table].n_rows - column.n_missing;
        !column.is_title && column.values.is_none() && column.n_distinct.is_none_or(|it| n < 2 * it)
    }

    /// Returns how well a word says what a row is.
    fn noun(&self, token: &Token, of: &[usize]) -> Option<f64> {
        if is_known(token, self.lexicon) && self.lexicon.noun_cues(&token.lower).is_none() {
            return None;
        }
        // `nobody` is none of them.
        if matches!(
            self.lexicon.phrase(std::slice::from_ref(&token.lower)),
            Some(Concept::Not | Concept::Without)
        ) {
            return None;
        }
        let stem = token.stem.as_str();
        let singular = token.lower.trim_end_matches('s');
        let is_part = |word: &String| {
            word == stem
                || 4 <= word.len() && stem.starts_with(word.as_str())
                || 4 < stem.len() && word.ends_with(stem)
                || 5 < stem.len() && damerau_levenshtein(word, stem) <= 1
        };
        let is_within = |name: &str| {
            let name = name.to_lowercase();
            let name = name.trim_end_matches('s');
            3 < singular.len() && (name.ends_with(singular) || name.starts_with(singular))
        };
        let tables = || of.iter().map(|it| &self.tables[*it]);
        if tables().any(|it| it.words.iter().any(is_part) || is_within(&it.name)) {
            return Some(0.95);
        }
        let cues = self
            .lexicon
            .noun_cues(&token.lower)
            .or_else(|| self.lexicon.misspelled_noun(&token.lower))?;
        let has = |words: &[String]| words.iter().any(|word| cues.contains(word));
        tables()
            .any(|it| has(&it.words) || it.columns.iter().any(|column| has(&column.words)))
            .then_some(0.93)
    }

    /// Returns the numbers that an adjective may speak of, out of the likeliest word for them.
    fn spoken_of(&self, stems: &[String]) -> Vec<Place> {
        let mut rest = Vec::new();
        for stem in stems {
            // `Price` beside `Max.Price`.
            let named = self.places().find(|it| {
                let column = self.column(*it);
                column.kind.is_number() && column.words == [stem.as_str()]
            });
            if let Some(place) = named {
                return vec![place];
            }
            let found: Vec<Place> = self
                .places()
                .filter(|it| {
                    let column = self.column(*it);
                    column.kind.is_number()
                        && column.words.iter().any(|it| it == stem || is_cut(it, stem))
                })
                .collect();
            // A `unit price` is a price, and no unit.
            let heads: Vec<Place> = found
                .iter()
                .copied()
                .filter(|it| {
                    let words = self.column(*it).words.iter().rev();
                    let mut own = words.skip_while(|it| {
                        self.lexicon.is_measure(it)
                            || [Cue::Money, Cue::Lowest, Cue::Highest]
                                .iter()
                                .any(|cue| self.lexicon.is(*cue, it))
                    });
                    own.next().is_some_and(|it| it == stem || is_cut(it, stem))
                })
                .collect();
            if !heads.is_empty() {
                return heads;
            }
            rest.extend(found);
        }
        rest.truncate(COLUMNS_MAX);
        rest
    }

    /// Returns whether a word says what a row is, and no column is called so.
    fn is_row(&self, token: &Token) -> bool {
        let is_called = |it: Place| self.column(it).words == [token.stem.as_str()];
        self.noun(token, self.of).is_some() && !self.places().any(is_called)
    }

    /// Returns what rows of several pieces amount to, beside the price of one: the most expensive order is the largest, or
    /// that of the dearest thing.
    fn amounts(&self, prices: &[Place]) -> Vec<Place> {
        let lexicon = self.lexicon;
        let has = |it: Place, cue: Cue| lexicon.has(cue, &self.column(it).words);
        let are_prices = !prices.is_empty() && prices.iter().all(|it| has(*it, Cue::Prices));
        let of_pieces = |it: Place| self.column(it).kind.is_number() && has(it, Cue::Quantities);
        if !are_prices || !self.places().any(of_pieces) {
            return Vec::new();
        }
        let is_amount = |it: &Place| {
            let column = self.column(*it);
            let mut words = column.words.iter();
            column.kind.is_number()
                && !prices.contains(it)
                && (has(*it, Cue::Amounts)
                    || words.any(|word| lexicon.are_synonyms(word, "revenue")))
        };
        self.places().filter(is_amount).collect()
    }

    /// Returns the time from which an age counts.
    fn born(&self) -> Option<Place> {
        let times = || self.places().filter(|it| self.column(*it).kind.is_time());
        let is_birth =
            |it: &Place| self.column(*it).words.iter().any(|it| self.lexicon.is(Cue::Births, it));
        times().find(is_birth).or_else(|| times().next())
    }

    /// Returns the period that a span names: `2019`, `March 2019`, `5 March 2019`, `Q1 2019`.
    fn period(&self, span: &[Token]) -> Option<(Date, Date, TimeUnit)> {
        let year = |token: &Token| match token.kind {
            TokenKind::Number(it)
                if it.fract() == 0.0 && (1000.0..2200.0).contains(&it) && token.text.len() == 4 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "in range")]
                let year = it as i16;
                Some(year)
            }
            _ => None,
        };
        let day = |token: &Token| match token.kind {
            TokenKind::Number(it) if it.fract() == 0.0 && (1.0..32.0).contains(&it) => {
                #[expect(clippy::cast_possible_truncation, reason = "in range")]
                let day = it as i8;
                Some(day)
            }
            TokenKind::Ordinal(it) => i8::try_from(it).ok(),
            _ => None,
        };
        let month = |token: &Token| self.lexicon.month(&token.lower);
        let of_day = |date: Date| Some((date, date.tomorrow().ok()?, TimeUnit::Day));
        let of_month = |year: i16, month: i8| {
            let from = Date::new(year, month, 1).ok()?;
            Some((from, from.checked_add(jiff::Span::new().months(1)).ok()?, TimeUnit::Month))
        };
        let told: Vec<&Token> =
            span.iter().filter(|it| it.lower != "of" && it.lower != ",").collect();
        match told[..] {
            [token] => match token.kind {
                TokenKind::Day(date) => of_day(date),
                TokenKind::Month(date) => of_month(date.year(), date.month()),
                // `1990s`
                TokenKind::Word if token.lower.len() == 5 && token.lower.ends_with("0s") => {
                    let from = Date::new(token.lower[..4].parse().ok()?, 1, 1).ok()?;
                    Some((from, Date::new(from.year() + 10, 1, 1).ok()?, TimeUnit::Year))
                }
                _ => {
                    let from = Date::new(year(token)?, 1, 1).ok()?;
                    Some((from, Date::new(from.year() + 1, 1, 1).ok()?, TimeUnit::Year))
                }
            },
            [one, other] => {
                if let (Some(month), Some(year)) = (month(one), year(other)) {
                    return of_month(year, month);
                }
                let (quarter, year) = match (quarter(one), quarter(other)) {
                    (Some(quarter), None) => (quarter, year(other)?),
                    (None, Some(quarter)) => (quarter, year(one)?),
                    _ => return None,
                };
                let from = Date::new(year, quarter * 3 - 2, 1).ok()?;
                let to = from.checked_add(jiff::Span::new().months(3)).ok()?;
                Some((from, to, TimeUnit::Quarter))
            }
            [one, two, three] => {
                let year = year(three)?;
                let (month, day) = match (month(one), month(two)) {
                    (Some(month), None) => (month, day(two)?),
                    (None, Some(month)) => (month, day(one)?),
                    _ => return None,
                };
                of_day(Date::new(year, month, day).ok()?)
            }
            _ => None,
        }
    }
}

/// Returns the place that a word of a name says: `2nd`.
fn ordinal_of(word: &str) -> Option<u32> {
    ["st", "nd", "rd", "th"].iter().find_map(|it| word.strip_suffix(it)?.parse().ok())
}

/// Returns the percentile that a word says: `p95`.
fn percentile(token: &Token) -> Option<f64> {
    let n = token.lower.strip_prefix('p')?;
    let value: f64 = n.parse().ok()?;
    (n.len() == 2 && value.fract() == 0.0 && 1.0 <= value).then_some(value)
}

/// Returns whether a word of a name is another one cut short: `sal` of salary.
fn is_cut(word: &str, whole: &str) -> bool {
    3 <= word.len() && word.len() < whole.len() && whole.starts_with(word)
}

/// Returns the quarter that a word numbers: `q3`.
fn quarter(token: &Token) -> Option<i8> {
    let n = token.lower.strip_prefix('q')?;
    n.parse::<i8>().ok().filter(|it| (1..=4).contains(it))
}

/// Returns whether a word is made of the first letters of others.
fn is_initials(span: &[Token], word: &str) -> bool {
    let are_words = span
        .iter()
        .all(|it| it.kind == TokenKind::Word && it.lower.chars().all(char::is_alphabetic));
    are_words && span.iter().map(|it| it.lower.chars().next()).eq(word.chars().map(Some))
}

/// Returns whether a question says less without such a phrase.
fn says_much(concept: Concept) -> bool {
    !matches!(
        concept,
        Concept::Of
            | Concept::Which
            | Concept::And
            | Concept::Or
            | Concept::Each
            | Concept::List
            | Concept::Has
            | Concept::Rows
            | Concept::Check
            | Concept::Only
            | Concept::Compare
            | Concept::Sorted
            | Concept::Bins
            | Concept::IsAny
            | Concept::WhatAbout
    )
}

/// Returns whether a word means something in the language, and so stands for no other.
pub(crate) fn is_known(token: &Token, lexicon: &Lexicon) -> bool {
    lexicon.is_stop(&token.stem)
        || lexicon.phrase(std::slice::from_ref(&token.lower)).is_some()
        || lexicon.unit(&token.stem).is_some()
        || lexicon.adjective(&token.lower).is_some()
}

/// Returns whether a column has dates or something that numbers years.
pub(crate) fn is_time(column: &Column) -> bool {
    column.kind.is_time() || column.kind == Kind::Whole && column.unit == Some(TimeUnit::Year)
}

/// Returns what a phrase may be in the singular: `city` of cities, `movie` of movies, `box` of boxes.
pub(crate) fn singulars(phrase: &str) -> Vec<String> {
    let Some(stripped) = phrase.strip_suffix('s').filter(|it| 2 < it.len() && !it.ends_with('s'))
    else {
        return Vec::new();
    };
    let mut found = vec![stripped.to_owned()];
    if let Some(start) = stripped.strip_suffix("ie") {
        found.insert(0, format!("{start}y"));
    } else if let Some(start) = stripped.strip_suffix('e')
        && start.ends_with(['s', 'x', 'z', 'h'])
    {
        found.push(start.to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Atom, Facts, Held, Linker};
    use crate::lexicon::ENGLISH;
    use crate::query::Place;
    use crate::schema::of_instructions;

    #[test]
    fn a_value_is_that_of_the_column_before_it() {
        let text = "- hr: 9 rows, 2 columns\n  - \"overtime\" string\n  - \"attrition\" string\n";
        let tables = of_instructions(text, &ENGLISH);
        let held = |column: usize| Held {
            place: Place { table: 0, column },
            spellings: vec!["Yes".to_owned()],
            text: "yes".to_owned(),
            n_rows: 3,
        };
        let facts = Facts::from([("yes".to_owned(), vec![held(0), held(1)])]);
        let scores = |question: &str| {
            let tokens = ENGLISH.words.tokens(question);
            let (tables, facts, lexicon) = (&tables, &facts, &ENGLISH);
            let linker = Linker { question, tokens: &tokens, tables, of: &[0], facts, lexicon };
            let links = linker.lattice().links;
            [0, 1].map(|column| {
                let is_value = |it: &&super::Link| matches!(&it.atom, Atom::Value(held) if held.place.column == column);
                links.iter().find(is_value).map_or(0.0, |it| it.score)
            })
        };
        let [overtime, attrition] = scores("rows where attrition is Yes");
        assert!(overtime < attrition, "{overtime} {attrition}");
        let [overtime, attrition] = scores("rows with Yes");
        assert!((overtime - attrition).abs() < 1e-9, "{overtime} {attrition}");
    }
}
