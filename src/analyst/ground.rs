//! Grounding: which words of a question name a column, a value or a table of this data, and which mean
//! something in the language.
//!
//! Every span of words gets a weight for what it may mean; the spans that cover the question best win.
//! A word that nothing covers stays unknown, and the question is then not answered.

use std::collections::HashMap;

use strsim::damerau_levenshtein;

use super::lexicon::{Concept, Cue, Lexicon, TimeUnit};
use super::schema::{Column, Kind, Table};
use super::words::{Token, TokenKind, split_name};

/// Words of the longest phrase.
const SPAN_MAX: usize = 7;
/// How far a column's score may be from the best for both to be meant.
const TIE: f64 = 0.045;
/// The same for names that are only said in part: how long they are decides nothing.
const PART_TIE: f64 = 0.075;
/// What a name loses whose main word is not said: the last, or the one before `of`.
const HEADLESS: f64 = 0.08;
/// What is left of the likeness to a word when another name has the very word that is said.
const INEXACT: f64 = 0.7;
/// Letters of a name of which a longer one may be the whole.
const JOINED_MIN: usize = 6;
/// Words between a value that says that nothing is known, and the name of its column.
const NEAR: usize = 3;
/// Letters up to which the name of a column that says yes or no stands for no longer word.
const FLAG_SHORT: usize = 3;
/// Whole numbers up to which each is told from the next: those of 53 bits.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
/// Score from which a name counts as said in full.
const FULL: f64 = 0.93;

/// A column of one of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    /// Which table.
    pub table: usize,
    /// Which of its columns.
    pub column: usize,
}

/// A part of a question and what it means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    /// The first token.
    pub start: usize,
    /// Behind the last token.
    pub end: usize,
    /// What it means.
    pub meaning: Meaning,
}

/// What a part of a question means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Meaning {
    /// A phrase of the language.
    Word(Concept),
    /// A column, or one of several whose names fit as well.
    Column(Vec<Place>),
    /// A value, in the columns that hold it.
    Value(Vec<Held>),
    /// A table as such.
    Table(usize),
    /// What a row of the table is.
    Noun,
    /// A unit of time.
    Unit(TimeUnit),
    /// A month, from 1.
    Month(i8),
    /// A day of the week, from Monday as 1.
    Weekday(i8),
    /// An adjective or a verb that speaks of a column.
    Adjective {
        /// The columns it may speak of.
        of: Vec<Place>,
        /// Whether its superlative is the least.
        low: bool,
        /// Whether it is one: `cheapest`.
        is_superlative: bool,
    },
    /// An amount.
    Number(f64),
    /// A place in an order.
    Ordinal(u32),
    /// A day.
    Day(jiff::civil::Date),
    /// A month of a year, as its first day.
    MonthOf(jiff::civil::Date),
    /// A time of day.
    Clock(jiff::civil::Time),
    /// A unit of measure.
    Measure,
    /// A word for what lies below zero: the loss of a profit.
    Loss(Place),
    /// Text between quotes that no column holds.
    Text(String),
    /// Nothing by itself.
    Stop,
    /// Nobody knows.
    Unknown,
}

/// A column that holds a value, and how the value is spelled there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    /// The column.
    pub place: Place,
    /// Every spelling that is meant; none when it is a word within values.
    pub spellings: Vec<String>,
    /// Rows that hold the value; none when only a look told of it.
    pub n_rows: u64,
}

/// What tools have told about values.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Facts {
    /// Columns that hold a phrase, by the phrase in lower case.
    pub values: HashMap<String, Vec<Held>>,
}

/// Returns the marks that cover the question best, in its order.
pub(crate) fn marks(
    question: &str,
    tokens: &[Token],
    tables: &[&Table],
    facts: &Facts,
    lexicon: &Lexicon,
) -> Vec<Mark> {
    let ground = Ground::new(question, tokens, tables, facts, lexicon);
    // The best way to cover the tokens from each on: its weight, and the first mark.
    let mut best: Vec<(f64, Mark)> = Vec::with_capacity(tokens.len());
    for start in (0..tokens.len()).rev() {
        let mut found: Option<(f64, Mark)> = None;
        for end in (start + 1..=tokens.len().min(start + SPAN_MAX)).rev() {
            let rest = tokens.len() - end;
            let behind = if rest == 0 { 0.0 } else { best[rest - 1].0 };
            for (weight, meaning) in ground.meanings(start, end) {
                let weight = weight + behind;
                if found.as_ref().is_none_or(|(most, _)| *most < weight) {
                    found = Some((weight, Mark { start, end, meaning }));
                }
            }
        }
        let unknown = Mark { start, end: start + 1, meaning: Meaning::Unknown };
        let behind = best.last().map_or(0.0, |it| it.0);
        best.push(found.filter(|it| behind < it.0).unwrap_or((behind, unknown)));
    }
    let mut marks = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let mark = best[tokens.len() - 1 - at].1.clone();
        at = mark.end;
        marks.push(mark);
    }
    marks
}

struct Ground<'a> {
    question: &'a str,
    tokens: &'a [Token],
    tables: &'a [&'a Table],
    facts: &'a Facts,
    lexicon: &'a Lexicon,
    named: Vec<Named<'a>>,
    /// How well each token stands for each word of a name: tokens × words.
    likeness: Vec<Vec<f64>>,
}

/// A column with what its name is compared by: tables may have hundreds.
struct Named<'a> {
    place: Place,
    column: &'a Column,
    /// The words without the unit at their end.
    bare: &'a [String],
    /// All words in one.
    whole: String,
    /// The words without the unit in one.
    bare_whole: String,
    /// Where the words without the unit are among all words of names.
    ids: Vec<usize>,
    /// Which of them says what it is: the origin in `origin`, the country in `country_of_origin`.
    head: usize,
    /// Whether it is a price beside quantities: then revenue is something else.
    is_unit_price: bool,
}

/// Words of a question that may name a column.
struct Said<'a> {
    tokens: &'a [Token],
    stems: Vec<&'a str>,
    /// The stems in one.
    joined: String,
    /// Where those of them that say something are among the tokens of the question.
    told: Vec<usize>,
    /// Whether a word at its edge says nothing, or too many do: it is then no name in other words.
    is_loose: bool,
}

impl<'a> Ground<'a> {
    fn new(
        question: &'a str,
        tokens: &'a [Token],
        tables: &'a [&'a Table],
        facts: &'a Facts,
        lexicon: &'a Lexicon,
    ) -> Ground<'a> {
        let mut words: HashMap<&str, usize> = HashMap::new();
        let mut named = Vec::new();
        for (index, table) in tables.iter().enumerate() {
            let is_quantity = |it: &String| {
                lexicon.cues(Cue::Quantities).iter().any(|word| lexicon.are_synonyms(it, word))
            };
            let has_quantity = table.columns.iter().any(|it| it.words.iter().any(is_quantity));
            for (at, column) in table.columns.iter().enumerate() {
                let bare = without_unit(table, &column.words, lexicon);
                let ids = bare.iter().map(|it| {
                    let next = words.len();
                    *words.entry(it.as_str()).or_insert(next)
                });
                let of = bare.iter().position(|it| lexicon.is(Cue::NameJoints, it));
                named.push(Named {
                    head: head(bare, of, lexicon),
                    place: Place { table: index, column: at },
                    column,
                    bare,
                    whole: column.words.concat(),
                    bare_whole: bare.concat(),
                    ids: ids.collect(),
                    is_unit_price: has_quantity && lexicon.has(Cue::Prices, &column.words),
                });
            }
        }
        let likeness = tokens
            .iter()
            .map(|token| {
                let is_known = is_known(token, lexicon);
                let mut row = vec![0.0; words.len()];
                for (word, id) in &words {
                    row[*id] = likeness(token, word, is_known, lexicon);
                }
                // A word that a name has as it is seldom is another one cut short.
                if words.contains_key(token.stem.as_str()) {
                    row.iter_mut().filter(|it| **it < 0.9).for_each(|it| *it *= INEXACT);
                }
                row
            })
            .collect();
        Ground { question, tokens, tables, facts, lexicon, named, likeness }
    }
}

impl Ground<'_> {
    /// Returns what a span may mean, each with its weight.
    fn meanings(&self, start: usize, end: usize) -> Vec<(f64, Meaning)> {
        let span = &self.tokens[start..end];
        #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
        let n = span.len() as f64;
        let mut found = Vec::new();
        let stems: Vec<String> = span.iter().map(|it| it.stem.clone()).collect();
        let is_plain = span.iter().all(|it| it.kind == TokenKind::Word);
        let words: Vec<String> = span.iter().map(|it| it.lower.clone()).collect();
        let phrase =
            self.lexicon.phrase(&words).filter(|it| is_plain && !self.is_no_share(*it, start, end));
        if let Some(concept) = phrase {
            // What is said in several words is seldom meant word by word.
            let each = if n < 3.0 { 1.05 } else { 1.15 };
            found.push((n.mul_add(each, -0.05), Meaning::Word(concept)));
        }
        let text = self.question[span[0].start..span[span.len() - 1].end].to_lowercase();
        let is_noun = matches!(span, [token] if self.is_noun(token));
        let is_of =
            start.checked_sub(1).is_some_and(|it| self.lexicon.is(Cue::Of, &self.tokens[it].lower));
        let held = self.held(&text, &stems, is_noun, is_of);
        let is_value = held.iter().flatten().any(|it| !it.spellings.is_empty());
        if let Some(held) = held {
            let is_written_so =
                self.question[span[0].start..].starts_with(char::is_uppercase) && 0 < start;
            let is_near = self.is_near(start, end, &held, 1);
            // A result may be called positive.
            let is_sign = matches!(phrase, Some(Concept::Positive | Concept::Negative));
            // A cell may say that something is unknown.
            let is_sure = match phrase {
                Some(Concept::Missing) => is_value && self.is_near(start, end, &held, NEAR),
                Some(Concept::Outliers) => is_value,
                None => true,
                Some(_) => is_written_so || is_near || is_sign && is_value,
            };
            found.push((if is_sure { 1.25 * n } else { 0.9 * n }, Meaning::Value(held)));
        }
        // `from` is a column only where it is quoted.
        let is_joint = matches!(span, [token] if token.kind == TokenKind::Word
            && (self.lexicon.is(Cue::From, &token.lower)
                || self.lexicon.is(Cue::To, &token.lower)
                || matches!(phrase, Some(Concept::Of | Concept::By | Concept::And | Concept::Not))));
        let (score, places) = if is_joint { (0.0, Vec::new()) } else { self.columns(start, end) };
        if !places.is_empty() {
            // `list` is no `listings`, though they have one stem.
            // Before a column, `total` is what is made of it, though another may be called so.
            let is_share = phrase == Some(Concept::Share)
                && self.tokens.get(end).is_some_and(|it| self.lexicon.is(Cue::Of, &it.lower));
            let is_figure = n <= 1.0
                && (phrase.is_some_and(super::parse::is_figure) && self.begins_column(end)
                    || is_share);
            // `the number of players`, where each has a number.
            let is_count = n <= 1.0
                && self.tokens.get(end).is_some_and(|it| {
                    let phrase = [span[0].lower.clone(), it.lower.clone()];
                    self.lexicon.phrase(&phrase) == Some(Concept::HowMany)
                });
            let is_said = !is_figure
                && !is_count
                && (phrase.is_none() || 1.0 < n || places.iter().any(|it| self.says(span, *it)));
            let bonus = if FULL <= score && is_said { 0.3 * n } else { 0.0 };
            let score = if is_said { score } else { score.min(0.9) };
            // A stem that stands for a unit as well is the column only when it has its full name.
            found.push((score.mul_add(n, bonus), Meaning::Column(places)));
        }
        if let Some(held) = self.own_value(start, end, &text, &stems) {
            found.push((1.5 * n, Meaning::Value(held)));
        }
        if let Some(table) = self.table(span, &stems) {
            // A table is what is meant by its name, unless a column of it has the very same, or it holds that
            // as a value; a fraction of it is what is measured: a `tip` of `tips`.
            let is_table = self.tables[table].name.to_lowercase() == text;
            // `by team` is by a column of `teams`.
            let before = start.checked_sub(1).map(|it| &self.tokens[it].lower);
            let before = before.and_then(|it| self.lexicon.phrase(std::slice::from_ref(it)));
            let is_by = before == Some(Concept::By);
            let is_column = self.places().any(|it| {
                let column = self.column(it);
                let is_amount = column.kind == Kind::Real
                    || column.kind == Kind::Whole && self.lexicon.has(Cue::Pay, &column.words);
                column.name.to_lowercase() == text && (is_table || is_amount || is_by)
            });
            // Beside another table, its whole name is the table.
            let is_named = is_table && 1 < self.tables.len();
            // The banking crises of `bank_crises` may be one kind of several.
            let holds_value = 1 < span.len()
                && span.iter().any(|it| {
                    let held = self.facts.values.get(&it.lower).into_iter().flatten();
                    held.into_iter().any(|it| !it.spellings.is_empty())
                });
            let is_other = is_column || holds_value || is_value && 0 < start && !is_named;
            let weight = if is_other { 0.9 } else { 1.65 };
            found.push((weight * n, Meaning::Table(table)));
        }
        if let [token] = span {
            self.single(token, is_noun, &mut found);
        }
        // `2 million`
        if let [Token { kind: TokenKind::Number(value), is_aside, .. }, scale] = span
            && *is_aside == scale.is_aside
            && let Some(scale) = self.lexicon.scale(&scale.lower)
        {
            found.push((2.1, Meaning::Number(value * scale)));
        }
        found
    }

    fn single(&self, token: &Token, is_noun: bool, found: &mut Vec<(f64, Meaning)>) {
        match token.kind {
            // What is read as another number is none.
            TokenKind::Number(value) if value.abs() <= EXACT_MAX => {
                found.push((1.0, Meaning::Number(value)));
            }
            TokenKind::Ordinal(place) => found.push((1.0, Meaning::Ordinal(place))),
            TokenKind::Quoted => found.push((0.5, Meaning::Text(token.text.clone()))),
            TokenKind::Day(day) => found.push((1.0, Meaning::Day(day))),
            TokenKind::Month(day) => found.push((1.0, Meaning::MonthOf(day))),
            TokenKind::Clock(time) => found.push((1.0, Meaning::Clock(time))),
            TokenKind::Word | TokenKind::Number(_) => {}
        }
        if token.kind != TokenKind::Word {
            return;
        }
        let lexicon = self.lexicon;
        if let Some(value) = lexicon.number(&token.lower) {
            found.push((0.8, Meaning::Number(value)));
        }
        if let Some(place) = lexicon.ordinal(&token.lower) {
            found.push((0.85, Meaning::Ordinal(place)));
        }
        if let Some(unit) = lexicon.unit(&token.stem) {
            found.push((0.97, Meaning::Unit(unit)));
        }
        if let Some(time) = lexicon.clock(&token.lower) {
            found.push((0.9, Meaning::Clock(time)));
        }
        if let Some(month) = lexicon.month(&token.lower) {
            found.push((0.96, Meaning::Month(month)));
        }
        if let Some(day) = lexicon.weekday(&token.lower) {
            found.push((0.96, Meaning::Weekday(day)));
        }
        if lexicon.is_measure(&token.lower) {
            found.push((0.31, Meaning::Measure));
        }
        if let Some(adjective) = lexicon.adjective(&token.lower) {
            let of = self.spoken_of(&adjective.of);
            if !of.is_empty() {
                let (low, is_superlative) = (adjective.low, token.lower.ends_with("est"));
                found.push((1.06, Meaning::Adjective { of, low, is_superlative }));
            }
        }
        if lexicon.period(std::slice::from_ref(&token.stem)).is_some() {
            found.push((0.4, Meaning::Stop));
        }
        if lexicon.is(Cue::Losses, &token.stem)
            && let [gain] = self.spoken_of(lexicon.cues(Cue::Gains))[..]
        {
            found.push((0.9, Meaning::Loss(gain)));
        }
        if is_noun {
            // A part of the table's name that a column has as well is more likely the column.
            let is_part =
                self.tables.iter().any(|it| 1 < it.words.len() && it.words.contains(&token.stem));
            let is_column = self.named.iter().any(|it| it.column.words.contains(&token.stem));
            // The polls of `polls_2016` are its rows, and no `pollster`; so are the inspections of
            // `restaurant_inspections`, whatever score they have.
            let is_plural = token.lower.ends_with('s');
            let may_be = |it: &Named| {
                let words = &it.column.words;
                let is_amount =
                    it.column.kind.is_number() && self.lexicon.is_additive(words) != Some(false);
                !words.contains(&token.stem)
                    || it.column.kind.is_time()
                    || is_plural && 1 < words.len() && !is_amount
            };
            let is_head = self.ends_table_name(&token.stem) && self.named.iter().all(may_be);
            let weight = match (is_part, is_column) {
                (true, true) if !is_head => 0.5,
                (true, _) => 0.95,
                (false, _) => 0.7,
            };
            found.push((weight, Meaning::Noun));
        }
        let is_of_name = || self.named.iter().any(|it| it.column.words.contains(&token.stem));
        // Purchases are things, though `purchased` says nothing.
        let is_thing = lexicon.is_filler(&token.stem) && !lexicon.is_filler_form(&token.lower);
        // `US` is no `us`.
        let is_name = 1 < token.text.len()
            && token.text.chars().all(char::is_uppercase)
            && self.question.chars().any(char::is_lowercase);
        let is_filler = lexicon.is_filler(&token.stem);
        let means = is_thing || is_name || is_filler && is_of_name();
        if lexicon.is_stop(&token.stem) && !means {
            found.push((0.3, Meaning::Stop));
        }
        if found.is_empty()
            && let Some(concept) = lexicon.misspelled(&token.lower)
        {
            found.push((0.5, Meaning::Word(concept)));
        }
    }

    /// Returns whether a word for a share is none: who rates something, a rate that is compared, or what a
    /// column is called.
    fn is_no_share(&self, concept: Concept, start: usize, end: usize) -> bool {
        let lexicon = self.lexicon;
        let [token, rest @ ..] = &self.tokens[start..end] else { return false };
        if concept != Concept::Share || !lexicon.is(Cue::Rates, &token.lower) {
            return false;
        }
        // `the rate of all`, where that is what a column is called.
        if !rest.is_empty() {
            return self.named.iter().any(|it| it.column.words == [token.stem.as_str()]);
        }
        let word = |at: usize| self.tokens.get(at).map(|it| it.lower.as_str());
        let before = start.checked_sub(1).and_then(word);
        let rates = before.is_some_and(|it| lexicon.is(Cue::Relatives, it));
        let has_rate = || self.named.iter().any(|it| it.column.words.contains(&token.stem));
        let is_amount =
            matches!(self.tokens.get(end), Some(Token { kind: TokenKind::Number(_), .. }));
        let next: Vec<String> =
            self.tokens[end..].iter().take(3).map(|it| it.lower.clone()).collect();
        let compares = (1..=next.len())
            .any(|n| lexicon.phrase(&next[..n]).is_some_and(super::parse::compares));
        rates || (is_amount || compares) && has_rate()
    }

    /// Returns whether a word is the last of several in a table's name.
    fn ends_table_name(&self, stem: &String) -> bool {
        self.tables.iter().any(|it| 1 < it.words.len() && it.words.last() == Some(stem))
    }

    /// Returns where a value is held. A word of some values is none when it is of the column's name, or what
    /// rows are.
    fn held(&self, text: &str, stems: &[String], is_noun: bool, is_of: bool) -> Option<Vec<Held>> {
        let mut held = self.facts.values.get(text)?.clone();
        // The uses of force in `police_force` are its rows, whatever an offence is called; the rent of
        // `us_rent` may be one of several.
        let is_row = is_noun && matches!(stems, [stem] if self.ends_table_name(stem));
        let is_row = |it: &Held| is_row && (is_of || it.spellings.is_empty());
        held.retain(|it| {
            let words = &self.column(it.place).words;
            // `title` is the column `current_title`, though somebody wrote that in a cell.
            let is_name = stems.iter().all(|stem| words.contains(stem));
            !is_name && !is_row(it) && (!it.spellings.is_empty() || !is_noun)
        });
        (!held.is_empty()).then_some(held)
    }

    /// Returns where the name of a column is one of its values, and is said as one: `dead occupants`, `with an
    /// airbag`.
    fn own_value(
        &self,
        start: usize,
        end: usize,
        text: &str,
        stems: &[String],
    ) -> Option<Vec<Held>> {
        let mut held = self.facts.values.get(text)?.clone();
        held.retain(|it| self.column(it.place).words == stems && !it.spellings.is_empty());
        let with: Vec<&str> = self.tokens[start.saturating_sub(2)..start]
            .iter()
            .map(|it| it.lower.as_str())
            .collect();
        let is_said = self.tokens.get(end).is_some_and(|it| self.is_noun(it))
            || self.lexicon.is(Cue::WithA, &with.join(" "))
            || with
                .last()
                .is_some_and(|it| self.lexicon.is(Cue::Is, it) || self.lexicon.is(Cue::Trails, it))
            || self.tokens.get(end).is_some_and(|it| self.lexicon.is(Cue::Restricting, &it.stem));
        (is_said && !held.is_empty()).then_some(held)
    }

    /// Returns whether the name of a column that holds the value stands within so many words of it.
    fn is_near(&self, start: usize, end: usize, held: &[Held], n_words: usize) -> bool {
        let before = &self.tokens[start.saturating_sub(n_words)..start];
        let behind = &self.tokens[end..self.tokens.len().min(end + n_words)];
        before
            .iter()
            .chain(behind)
            .any(|token| held.iter().any(|it| self.column(it.place).words.contains(&token.stem)))
    }

    fn column(&self, place: Place) -> &Column {
        &self.tables[place.table].columns[place.column]
    }

    fn places(&self) -> impl Iterator<Item = Place> {
        self.tables.iter().enumerate().flat_map(|(table, it)| {
            (0..it.columns.len()).map(move |column| Place { table, column })
        })
    }

    /// Returns whether a column is named in full from a token on.
    fn begins_column(&self, start: usize) -> bool {
        let mut ends = start + 1..=self.tokens.len().min(start + 2);
        ends.any(|end| FULL <= self.columns(start, end).0)
    }

    /// Returns whether one word is a word of a column's name as it stands there, or in the plural.
    fn says(&self, span: &[Token], place: Place) -> bool {
        let singular = |it: &str| it.to_lowercase().trim_end_matches('s').to_owned();
        let mut words = split_name(&self.column(place).name).into_iter().map(singular);
        words.any(|it| span.iter().any(|token| it == singular(&token.lower)))
    }

    /// Returns the columns whose names fit a span best, and how well.
    fn columns(&self, start: usize, end: usize) -> (f64, Vec<Place>) {
        let span = &self.tokens[start..end];
        let is_word = |it: &Token| {
            matches!(it.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Number(_))
        };
        let is_number = |it: &Token| matches!(it.kind, TokenKind::Number(_));
        if !span.iter().all(is_word) || span.iter().all(is_number) {
            return (0.0, Vec::new());
        }
        let says = |at: usize| !self.lexicon.is_stop(&self.tokens[at].stem);
        let stems: Vec<&str> = span.iter().map(|it| it.stem.as_str()).collect();
        // Stop words within a name may be left out, and must not carry it alone.
        // `years of college` is `years_college`.
        let joins = |at: usize| {
            start < at && at + 1 < end && self.lexicon.is(Cue::Of, &self.tokens[at].lower)
        };
        let told: Vec<usize> = (start..end).filter(|it| says(*it) && !joins(*it)).collect();
        let is_edge_stop = !says(start) || !says(end - 1);
        let is_loose = told.is_empty()
            || told.len() + 1 < span.len()
            || is_edge_stop && told.len() < span.len();
        let said = Said { tokens: span, joined: stems.concat(), stems, told, is_loose };
        let scored: Vec<(f64, Place)> = self
            .named
            .iter()
            .map(|it| (self.score(&said, it), it.place))
            .filter(|(score, _)| 0.5 <= *score)
            .collect();
        let best = scored.iter().map(|it| it.0).fold(0.0, f64::max);
        let tie = if best < 0.9 { PART_TIE } else { TIE };
        let fit = scored.into_iter().filter(|it| best - tie < it.0);
        (best, fit.map(|it| it.1).collect())
    }

    /// Returns how well words name a column: from 0 to 1, not at all below 0.5.
    fn score(&self, said: &Said, named: &Named) -> f64 {
        let name = &named.column.words[..];
        if let [token] = said.tokens
            && token.text == named.column.name
        {
            return 1.0;
        }
        if said.stems == name {
            return 1.0;
        }
        let speaks_of_price = |it: &&str| {
            self.lexicon.cues(Cue::Prices).iter().any(|word| self.lexicon.may_speak_of(it, word))
        };
        if named.is_unit_price && said.stems.iter().any(speaks_of_price) {
            return 0.0;
        }
        if said.stems == named.bare
            && (1 < said.tokens.len() || self.says(said.tokens, named.place))
        {
            return 0.97;
        }
        let joined = said.joined.as_str();
        // Retweets are what `retweet_count` counts, and what `is_retweet` says.
        if let ([said], [one, other]) = (&said.stems[..], name) {
            let counts = |it: &String| {
                self.lexicon.is(Cue::CountNames, it) || self.lexicon.are_synonyms(it, "number")
            };
            if other == said && (counts(one) || self.lexicon.is(Cue::YesNo, one))
                || one == said && counts(other)
            {
                return 0.95;
            }
        }
        let is_bare = joined == named.bare_whole && 1 < named.bare.len();
        if 3 < joined.len() && (joined == named.whole || is_bare) {
            return 0.96;
        }
        // `last name` is `fake_last_name`.
        if 1 < said.stems.len()
            && name.iter().rev().zip(said.stems.iter().rev()).all(|it| it.0 == it.1)
            && said.stems.len() < name.len()
        {
            return 0.94;
        }
        // `gdp per capita` is `gdpPercap`.
        if 1 < said.tokens.len()
            && JOINED_MIN <= named.whole.len()
            && said
                .stems
                .last()
                .zip(joined.strip_prefix(&named.whole))
                .is_some_and(|(last, rest)| rest.len() < last.len() && rest.len() < 4)
        {
            return 0.95;
        }
        if let [token] = said.tokens
            && 2 < name.len()
            && token.lower.len() == name.len()
            && name.iter().zip(token.lower.chars()).all(|(word, it)| word.starts_with(it))
        {
            return 0.95;
        }
        if let ([one, other], [word]) = (said.tokens, name)
            && self.is_compound(one, other, word)
        {
            return 0.94;
        }
        if said.is_loose {
            return 0.0;
        }
        // `bills` are no `billingDays`, though both are of a `bill`.
        let is_other_form = |token: &Token| {
            1 < name.len()
                && !named.column.kind.is_time()
                && !self.lexicon.has(Cue::Dates, name)
                && name.contains(&token.stem)
                && !self.says(said.tokens, named.place)
                && named.column.words.last() != Some(&token.stem)
        };
        match said.tokens {
            [token] if is_other_form(token) => 0.0,
            _ => self.covered(&said.told, named),
        }
    }

    /// Returns how well words name a column, each standing for one of its words.
    fn covered(&self, told: &[usize], named: &Named) -> f64 {
        let mut left: Vec<usize> = (0..named.ids.len()).collect();
        let (mut sum, mut n_found) = (0.0, 0.0);
        for token in told {
            let best = left
                .iter()
                .enumerate()
                .map(|(at, word)| (self.likeness[*token][named.ids[*word]], at))
                .max_by(|one, other| one.0.total_cmp(&other.0))
                .filter(|it| 0.0 < it.0);
            let Some((likeness, at)) = best else { return 0.0 };
            // What says yes or no is hardly `rep` for representatives.
            let is_short = named.bare[left[at]].len() <= FLAG_SHORT && likeness < 0.9;
            if named.column.kind == Kind::Bool && (is_short || likeness < 0.83) {
                return 0.0;
            }
            left.remove(at);
            sum += likeness;
            n_found += 1.0;
        }
        #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
        let n_words = named.ids.len() as f64;
        let mean = sum / n_found;
        // The words of a name that were not said cost something, its main word most.
        let coverage = if left.is_empty() { 1.0 } else { 0.35f64.mul_add(n_found / n_words, 0.5) };
        let has_head = !left.contains(&named.head);
        mean * coverage * 0.95 - if has_head { 0.0 } else { HEADLESS }
    }

    /// Returns whether a word of a name is made of two, each cut short: `acctbal` of `account balance`.
    fn is_compound(&self, one: &Token, other: &Token, word: &str) -> bool {
        let cuts = |token: &Token, part: &str| {
            let mut letters = token.lower.chars();
            token.kind == TokenKind::Word
                && !self.lexicon.is_stop(&token.stem)
                && self.lexicon.phrase(std::slice::from_ref(&token.lower)).is_none()
                && 2 <= part.len()
                && token.lower.chars().next() == part.chars().next()
                && part.chars().all(|it| letters.any(|letter| letter == it))
        };
        let mut splits = (2..word.len().saturating_sub(1)).filter(|it| word.is_char_boundary(*it));
        splits.any(|at| cuts(one, &word[..at]) && cuts(other, &word[at..]))
    }

    /// Returns the table that a span names.
    fn table(&self, span: &[Token], stems: &[String]) -> Option<usize> {
        let is_quoted = |it: &Table| matches!(span, [token] if it.is_quoted(token));
        self.tables.iter().position(|it| it.is_called(stems) || is_quoted(it))
    }

    /// Returns whether a word may say what a row is.
    fn is_noun(&self, token: &Token) -> bool {
        let stem = token.stem.as_str();
        let is_part = |word: &String| {
            word == stem
                || 4 < stem.len() && word.ends_with(stem)
                || 5 < stem.len() && damerau_levenshtein(word, stem) <= 1
        };
        // Who voted for it is no row of `vote`.
        let is_verb = self.lexicon.is_done(&token.lower);
        let is_whole = |it: &&Table| it.name.to_lowercase().contains(&token.lower);
        if is_verb && !self.tables.iter().any(is_whole) {
            return false;
        }
        let singular = token.lower.trim_end_matches('s');
        // What a column of numbers is called after is what it counts: the nights of `stays_in_week_nights`.
        let counts = |it: &Column| {
            let is_last = it.words.last().is_some_and(|word| word == stem);
            it.kind.is_number() && 1 < it.words.len() && is_last && !it.is_key
        };
        let is_table_word = self.tables.iter().any(|it| it.words.iter().any(is_part));
        if !is_table_word && self.named.iter().any(|it| counts(it.column)) {
            return false;
        }
        let is_within = |name: &str| {
            let name = name.to_lowercase();
            let name = name.trim_end_matches('s');
            3 < singular.len() && (name.ends_with(singular) || name.starts_with(singular))
        };
        if self.tables.iter().any(|it| it.words.iter().any(is_part) || is_within(&it.name)) {
            return true;
        }
        let Some(cues) = self.lexicon.noun_cues(&token.lower) else { return false };
        let has = |words: &[String]| words.iter().any(|word| cues.contains(word));
        self.tables
            .iter()
            .any(|it| has(&it.words) || it.columns.iter().any(|column| has(&column.words)))
    }

    /// Returns the numbers that an adjective may speak of, out of the likeliest word for them.
    fn spoken_of(&self, stems: &[String]) -> Vec<Place> {
        for stem in stems {
            let found: Vec<Place> = self
                .places()
                .filter(|it| {
                    let column = self.column(*it);
                    column.kind.is_number() && column.words.contains(stem)
                })
                .collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }
}

/// Returns which word of a name says what it is: the last, or the one before `of`; of what something is
/// called, the thing.
fn head(bare: &[String], of: Option<usize>, lexicon: &Lexicon) -> usize {
    let last = of.unwrap_or(bare.len()).saturating_sub(1);
    let is_label = bare.get(last).is_some_and(|it| lexicon.is(Cue::Labels, it));
    if is_label { last.saturating_sub(1) } else { last }
}

/// Leaves out the unit at the end of a name: it is seldom said, unless it tells two columns apart, as
/// the minutes of `temp_min` and `temp_max` are none.
fn without_unit<'a>(table: &Table, name: &'a [String], lexicon: &Lexicon) -> &'a [String] {
    let [rest @ .., unit] = name else { return name };
    let tells_apart = |other: &Column| {
        let last = other.words.split_last();
        last.is_some_and(|(last, same)| same == rest && last != unit)
    };
    let is_unit =
        !rest.is_empty() && lexicon.is_measure(unit) && !table.columns.iter().any(tells_apart);
    if is_unit { rest } else { name }
}

/// Returns whether a word means something in the language, and so stands for no other.
fn is_known(token: &Token, lexicon: &Lexicon) -> bool {
    lexicon.phrase(std::slice::from_ref(&token.lower)).is_some()
        || lexicon.is_stop(&token.stem)
        || lexicon.unit(&token.stem).is_some()
        || lexicon.adjective(&token.lower).is_some()
}

/// Returns how well a word stands for a word of a name: from 0 to 1.
fn likeness(token: &Token, word: &str, is_known: bool, lexicon: &Lexicon) -> f64 {
    let (stem, lower) = (token.stem.as_str(), token.lower.as_str());
    if stem == word {
        return 1.0;
    }
    if lexicon.are_synonyms(stem, word) {
        return 0.9;
    }
    let shorter = stem.len().min(word.len());
    if is_known {
        return 0.0;
    }
    // `trq` is `torque` without its vowels.
    let mut letters = stem.chars();
    let is_skeleton = 2 < word.len()
        && word.len() < stem.len()
        && !word.contains(['a', 'e', 'i', 'o', 'u'])
        && word.chars().next() == stem.chars().next()
        && word.chars().all(|it| letters.any(|letter| letter == it));
    if is_skeleton {
        return 0.8;
    }
    if lexicon.may_speak_of(stem, word) {
        return 0.65;
    }
    // `class` of `pclass`.
    if 4 <= stem.len() && word.len() <= stem.len() + 2 && word.ends_with(stem) {
        return 0.85;
    }
    if 3 <= shorter && (abbreviates(word, lower, lexicon) || word.starts_with(stem)) {
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

/// Returns whether a word of a name is the beginning of a longer one, which is no compound of it:
/// `emp` of `employees`, not `sales` of `salesperson`.
fn abbreviates(word: &str, lower: &str, lexicon: &Lexicon) -> bool {
    let Some(rest) = lower.strip_prefix(word) else { return false };
    // Who smokes is not whether somebody does.
    if lexicon.is(Cue::Doers, rest) {
        return false;
    }
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    let stem = lexicon.words.stem(rest);
    rest.len() < 4 || lexicon.noun_cues(rest).is_none() && lexicon.unit(&stem).is_none()
}

/// Returns the phrases of a question that may be values, to be looked up; the likelier first.
pub(crate) fn phrases(
    question: &str,
    tokens: &[Token],
    marks: &[Mark],
    lexicon: &Lexicon,
) -> Vec<String> {
    let at = |token: usize| marks.iter().find(|it| (it.start..it.end).contains(&token));
    let is_open = |token: usize| {
        let mark = at(token);
        let is_capital = 0 < token && tokens[token].text.starts_with(char::is_uppercase);
        match mark.map(|it| &it.meaning) {
            Some(Meaning::Stop | Meaning::Measure) => {
                let token = &tokens[token];
                // `previous` may be one of several values.
                let is_long = 5 < token.lower.len();
                is_capital
                    || lexicon.is_filler(&token.stem)
                    || is_long && lexicon.period(std::slice::from_ref(&token.stem)).is_some()
            }
            // What only looks like a word of the language may be a value.
            Some(Meaning::Word(_))
                if mark.is_some_and(|it| it.end - it.start == 1)
                    && lexicon.phrase(std::slice::from_ref(&tokens[token].lower)).is_none() =>
            {
                true
            }
            Some(Meaning::Word(concept)) => {
                is_capital
                    || matches!(
                        concept,
                        Concept::First
                            | Concept::Last
                            | Concept::True
                            | Concept::False
                            | Concept::Positive
                            | Concept::Negative
                            | Concept::Missing
                            | Concept::Outliers
                            // `never married` may be what it is called.
                            | Concept::Not
                            | Concept::Without
                    )
            }
            Some(Meaning::Number(_) | Meaning::Unit(_) | Meaning::Day(_) | Meaning::MonthOf(_)) => {
                false
            }
            None | Some(_) => true,
        }
    };
    let is_unknown = |token: usize| {
        at(token).is_none_or(|it| matches!(it.meaning, Meaning::Unknown | Meaning::Text(_)))
    };
    let mut found: Vec<(u32, String)> = Vec::new();
    for start in 0..tokens.len() {
        for end in start + 1..=tokens.len().min(start + 4) {
            if !(is_open(start) && is_open(end - 1))
                || tokens[start..end].iter().any(|it| it.lower == ",")
            {
                continue;
            }
            // `no` and `not` are values as little as they are words of some.
            let is_negation = |token: usize| {
                matches!(
                    at(token).map(|it| &it.meaning),
                    Some(Meaning::Word(Concept::Not | Concept::Without))
                )
            };
            if is_negation(end - 1) {
                continue;
            }
            let n_unknown = (start..end).filter(|it| is_unknown(*it)).count();
            let is_single = end - start == 1;
            // `full time employees` may be one value.
            let begins_idly = lexicon.is_filler(&tokens[start].stem);
            if !is_single
                && n_unknown == 0
                && !begins_idly
                && !tokens[start].text.starts_with(char::is_uppercase)
            {
                continue;
            }
            let rank = match (n_unknown, is_single) {
                (0, _) => 2,
                (_, true) => 0,
                _ => 1,
            };
            let text = &question[tokens[start].start..tokens[end - 1].end];
            found.push((rank, text.to_lowercase()));
        }
    }
    found.sort_by_key(|it| it.0);
    let mut phrases: Vec<String> = Vec::new();
    for (_, phrase) in found {
        if !phrases.contains(&phrase) {
            phrases.push(phrase);
        }
    }
    phrases
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
    use super::singulars;

    #[test]
    fn a_plural_may_have_several_singulars() {
        assert_eq!(singulars("movies"), ["movy", "movie"]);
        assert_eq!(singulars("boxes"), ["boxe", "box"]);
        assert_eq!(singulars("lamps"), ["lamp"]);
        assert_eq!(singulars("glass"), [""; 0]);
    }
}
