//! From a question to its readings: what has to be looked up first, and how it may be read.

use std::collections::{BTreeMap, HashMap};

use csv_agent_types::conversation::{Item, Request, ToolChoice};
use serde_json::json;

use crate::answer::describe;
use crate::compute::Computed;
use crate::frag::Sem;
use crate::glossary::Glossary;
use crate::grammar::{ENGLISH, Phrase};
use crate::join::Joins;

use crate::lexicon::{Concept, Cue, Lexicon};
use crate::link::{Atom, Facts, Lattice, Linker};
use crate::query::{
    Agg, Check, GroupKey, Groups, Join, Listing, LogicalForm, Measure, Place, Shape, Test,
};
use crate::rank::{self, sureness};
use crate::reading::Reading;
use crate::scene::Scene;
use crate::schema::{self, JOINED_MAX, Table};
use crate::suggest::{self, Doubt};
use crate::transcript::{self, Turn, number};
use crate::words::Token;
use crate::{Call, Next, compute, counted, follow_up, values};

/// Tables whose schemas are asked for if the instructions cut them.
const SCHEMAS_MAX: usize = 8;
/// Turns before the question that it may take up.
const TURNS_MAX: usize = 8;
/// Words of a question that are read; one that asks for one thing has fewer.
const WORDS_MAX: usize = 60;
/// Characters of a word between blanks, such as a path.
const WORD_CHARS_MAX: usize = 300;
/// What a second table costs.
const JOIN_COST: f64 = 0.6;
/// What it costs to join by one of several keys that the question does not name.
const KEY_COST: f64 = 0.5;
/// What it costs that a question takes up another without saying so.
const CONTINUES_COST: f64 = 1.5;
/// What it costs to read a question without a table that it names.
const NAMED_COST: f64 = 1.5;
/// What it costs to judge what nobody asks to judge.
const UNASKED_COST: f64 = 2.0;
/// What it costs to judge nothing where that is asked for.
const JUDGES_NOT_COST: f64 = 4.0;
/// Price of words that a reading leaves out, from which it judges nothing.
const JUDGED_SKIPPED_MAX: f64 = 0.4;
/// Price of words that are left out of what takes up another question without saying so.
const TAKEN_SKIPPED_MAX: f64 = 0.4;
/// What it costs to read a question by itself that says that it takes up another.
const ALONE_COST: f64 = 1.0;
/// Price from which a whole question is rather one that takes up another.
const WHOLE_MAX: f64 = 2.0;
/// Words of a question that is only a part of one.
const PART_WORDS_MAX: usize = 6;
/// What may stand between two claims.
const BETWEEN_CLAIMS: [&str; 6] = [" and ", ", ", "; ", ". ", " but ", " & "];
/// Price above that of the first reading, up to which another one was open.
const NEAR_MAX: f64 = 1.0;
/// By how much whole rows may be less likely than their key, to be told instead.
const WHOLE_ROWS_COST: f64 = 0.35;
/// Columns that one phrase may name together.
const TWINS_MAX: usize = 3;
/// Part of the price of a phrase that names several columns, if all are told.
const TWINS_COST: f64 = 0.5;
/// Price of a word that means nothing, from which it is named.
const UNKNOWN_MIN: f64 = 1.0;

/// How the instructions say that a program reads the answer.
const WANTS_TABLE: &str = "The user's program reads the answer as a table.";

/// How far the reading of a question is.
pub(crate) enum Outcome {
    /// Something has to be looked up first, or there is nothing to read.
    Next(Next),
    /// How it may be read.
    Read(Box<Read>),
}

/// A question that was read.
#[expect(clippy::struct_excessive_bools, reason = "each is so or not, whatever else is")]
pub(crate) struct Read {
    turn: Turn,
    /// How the question before was read.
    last: Option<Last>,
    pub tables: Vec<Table>,
    joins: Joins,
    glossary: Glossary,
    /// The likeliest first.
    pub readings: Vec<Reading>,
    /// Words that mean nothing in this data.
    unknown: Vec<String>,
    /// Columns that the question names.
    said: Vec<String>,
    /// Whether it takes up a question that was not understood.
    is_lost: bool,
    /// Whether it says enough to be asked by itself, although it takes up a question that was not understood.
    is_whole: bool,
    /// Whether it judges something, and words that may turn the verdict are not sure to be read.
    may_mislead: bool,
    /// Whether it is the number of a reading that was offered.
    is_picked: bool,
    /// A column that it names, whose values it needs although they are kept back.
    kept_back: Option<String>,
    /// A column that it names, whose values are kept back, whatever is asked of them.
    names_kept_back: Option<String>,
    /// What it claims, if that is two things, each of which can be judged by itself.
    pub two: Option<[String; 2]>,
    /// What is to be said of the user's knowledge that is of no use.
    unused: Option<String>,
    /// Whether a single number is a table as well.
    wants_table: bool,
}

impl Read {
    fn offered(&self) -> Vec<Reading> {
        offered(&self.readings, &self.unknown, &self.tables)
    }

    fn asked<'a>(
        &'a self,
        turn: &'a Turn,
        last: Option<&'a Last>,
        lexicon: &'a Lexicon,
    ) -> Asked<'a> {
        let Read { tables, joins, .. } = self;
        Asked { tables, joins, lexicon, wants_verdict: false, turn, last }
    }

    /// Returns whether another question would be answered if it were asked after this one. The error is the calls
    /// that show that.
    fn is_answered(
        &self,
        question: &str,
        last: &Last,
        lexicon: &Lexicon,
    ) -> Result<bool, Vec<Call>> {
        let question = schema::with_quoted_names(question, &self.tables);
        let question = self.glossary.told(&question, lexicon);
        let turn = Turn { question, pick: None, calls: self.turn.calls.clone() };
        let asked = self.asked(&turn, Some(last), lexicon);
        let found = asked.found();
        let Some(best) = found.readings.first() else {
            return Ok(false);
        };
        if !rank::may_be_sure(&found.readings) || asked.kept_back(Some(best)).is_some() {
            return Ok(false);
        }
        let tokens = asked.tokens();
        let mut finds = values::finds(&turn.question, &tokens, &self.tables, lexicon);
        finds.retain(|it| turn.done(it.0, &it.1).is_none());
        if !finds.is_empty() {
            return Err(finds);
        }
        match compute::computed(&turn, &best.query, &self.tables) {
            Err(Next::Calls(calls)) => Err(calls),
            Err(_) => Ok(false),
            Ok(computed) => {
                let is_sure = rank::ANSWERED <= sureness(&found.readings, Some(&computed.result));
                let next = compute::next(&turn, best, computed, &self.tables, false, false);
                Ok(is_sure && !matches!(next, Next::Refuse(_)))
            }
        }
    }

    /// Returns the result of the best reading, nothing if it is too unlikely to be worth that. The
    /// error is what happens next instead: calls to make, or why a reading that is sure has no result.
    pub(crate) fn computed(&self) -> Result<Option<Computed>, Next> {
        let before = sureness(&self.readings, None);
        let is_worth_it =
            rank::may_be_sure(&self.readings) && self.two.is_none() && !self.may_mislead;
        let Some(best) = self.readings.first().filter(|_| is_worth_it) else { return Ok(None) };
        match compute::computed(&self.turn, &best.query, &self.tables) {
            Ok(computed) => Ok(Some(computed)),
            Err(Next::Refuse(_)) if before < rank::ANSWERED => Ok(None),
            Err(next) => Err(next),
        }
    }
}

/// Decides what to do next in the last turn.
pub(crate) fn next(request: &Request, lexicon: &Lexicon) -> Next {
    let wants_verdict = request.format.is_some();
    let read = match readings(&request.instructions, &request.items, wants_verdict, lexicon) {
        Outcome::Next(next) => return next,
        Outcome::Read(read) => read,
    };
    let may_call = !matches!(request.tool_choice, ToolChoice::None);
    let next = answered(&read, lexicon, wants_verdict, may_call);
    let Some(unused) = read.unused else { return next };
    let with = |text: String| format!("{text}\n\n{unused}");
    match next {
        Next::Say(text, verdict) => Next::Say(with(text), verdict),
        Next::Refuse(text) => Next::Refuse(with(text)),
        Next::Offer(text, choices) => Next::Offer(with(text), choices),
        Next::Calls(calls) => Next::Calls(calls),
    }
}

/// Answers a question that was read, or says what is needed for that.
fn answered(read: &Read, lexicon: &Lexicon, wants_verdict: bool, may_call: bool) -> Next {
    if let Some(column) = &read.kept_back {
        return refused(read, lexicon, &Doubt::KeptBack(column.clone()), may_call);
    }
    match (read.computed(), read.readings.first()) {
        (Err(next), _) => next,
        (Ok(Some(computed)), Some(best))
            if read.is_picked
                || rank::ANSWERED <= sureness(&read.readings, Some(&computed.result)) =>
        {
            if read.turn.pick.is_some() {
                return Next::Refuse(suggest::ONE_READING.to_owned());
            }
            let table = read.wants_table;
            compute::next(&read.turn, best, computed, &read.tables, wants_verdict, table)
        }
        _ => match (doubt(read), read.turn.pick) {
            (Doubt::Several(choices), None) => Next::Offer(suggest::choices(&choices), choices),
            (Doubt::Several(choices), Some(n)) => {
                let offered = read.offered();
                let Some(reading) = nth(&offered, n) else {
                    let text = suggest::choices(&choices);
                    return Next::Offer(format!("There is no reading {n}. {text}"), choices);
                };
                match compute::computed(&read.turn, &reading.query, &read.tables) {
                    Ok(computed) => {
                        let (turn, tables, table) = (&read.turn, &read.tables, read.wants_table);
                        compute::next(turn, reading, computed, tables, wants_verdict, table)
                    }
                    Err(next) => next,
                }
            }
            (doubt, _) => refused(read, lexicon, &doubt, may_call),
        },
    }
}

/// Says why there is no answer, with questions that have one, or returns the calls that show whether they have. If no
/// more calls may be made, only those that are known to have one are named.
fn refused(read: &Read, lexicon: &Lexicon, doubt: &Doubt, may_call: bool) -> Next {
    let asked = read.asked(&read.turn, read.last.as_ref(), lexicon);
    let last = asked.as_last();
    let (mut answered, mut calls) = (Vec::new(), Vec::new());
    let claims = match doubt {
        Doubt::Two(claims) => claims.to_vec(),
        _ => Vec::new(),
    };
    let n_max = suggest::EXAMPLES_MAX.saturating_sub(claims.len());
    for ways in suggest::questions(&read.tables, &read.said, lexicon) {
        // A name that is a word of the language, or a number, is understood in quotes.
        for question in ways {
            match read.is_answered(&question, &last, lexicon) {
                Ok(true) => answered.push(question),
                Ok(false) => continue,
                Err(_) if !may_call => continue,
                Err(open) => {
                    answered.push(question);
                    calls.extend(open);
                }
            }
            break;
        }
        if n_max <= answered.len() {
            break;
        }
    }
    if !calls.is_empty() {
        calls.dedup();
        return Next::Calls(calls);
    }
    let examples: Vec<String> = claims.into_iter().chain(answered).collect();
    Next::Refuse(suggest::refusal(doubt, &read.tables, &examples))
}

/// Returns why a question is not answered.
fn doubt(read: &Read) -> Doubt {
    if let Some(claims) = &read.two {
        return Doubt::Two(claims.clone());
    }
    let empty = read.tables.iter().filter(|it| 0 < it.n_rows).find_map(|table| {
        table.columns.iter().find(|it| it.n_missing == table.n_rows && read.said.contains(&it.name))
    });
    if let Some(column) = empty {
        return Doubt::Empty(column.name.clone());
    }
    if !read.unknown.is_empty() {
        return Doubt::Unknown(read.unknown.clone());
    }
    if let Some(column) = &read.names_kept_back {
        return Doubt::KeptBack(column.clone());
    }
    if read.is_lost {
        return Doubt::Lost { is_whole: read.is_whole };
    }
    match &read.offered()[..] {
        [] => Doubt::Unread,
        offered => {
            Doubt::Several(offered.iter().map(|it| describe(&it.query, &read.tables)).collect())
        }
    }
}

/// Returns the readings that are offered, if none is sure: two or more with words of their own, or none.
fn offered(readings: &[Reading], unknown: &[String], tables: &[Table]) -> Vec<Reading> {
    let is_near = rank::OFFERED <= sureness(readings, None);
    let mut told: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for reading in readings.iter().filter(|_| is_near && unknown.is_empty()) {
        let text = describe(&reading.query, tables);
        if !told.contains(&text) {
            told.push(text);
            found.push(reading.clone());
        }
        if found.len() == rank::OFFERED_MAX {
            break;
        }
    }
    if found.len() < 2 { Vec::new() } else { found }
}

/// Returns a reading that the user picked, which has left nothing open.
fn as_sure(reading: &Reading) -> Reading {
    Reading { cost: 0.0, skipped: 0.0, linked: 0.0, before: 1.0, ..reading.clone() }
}

/// Returns the reading of a number; the first is 1.
fn nth(offered: &[Reading], n: usize) -> Option<&Reading> {
    offered.get(n.checked_sub(1)?)
}

/// Returns how the last question of a conversation may be read.
pub(crate) fn readings(
    instructions: &str,
    items: &[Item],
    wants_verdict: bool,
    lexicon: &Lexicon,
) -> Outcome {
    let refuse = |text: &str| Outcome::Next(Next::Refuse(text.to_owned()));
    let mut turns = transcript::turns(items);
    let tables = schema::of_instructions(instructions, lexicon);
    for turn in &mut turns {
        turn.question = schema::with_quoted_names(&turn.question, &tables);
    }
    let mut tables = schema::likeliest(tables, turns.iter().map(|it| &*it.question), lexicon);
    if tables.is_empty() {
        return refuse("There is no data to ask about: add some with `csv-agent ingest FILE.csv`.");
    }
    let mut calls: Vec<Call> = Vec::new();
    for table in tables.iter_mut().filter(|it| !it.is_whole()) {
        let call = ("get_dataset_info", json!({"name": table.name}));
        match turns.iter().find_map(|it| it.done(call.0, &call.1)) {
            Some(done) => schema::complete(table, &done.output, lexicon),
            None if calls.len() < SCHEMAS_MAX => calls.push(call),
            None => {}
        }
    }
    if !calls.is_empty() {
        return Outcome::Next(Next::Calls(calls));
    }
    // A table whose schema nobody could get is left out.
    tables.retain(|it| !it.columns.is_empty());
    schema::mark_kept_back(&mut tables, instructions);
    let glossary = Glossary::of(instructions, &tables, lexicon);
    for turn in &mut turns {
        turn.question = glossary.told(&turn.question, lexicon);
    }
    let Some(turn) = turns.last() else { return refuse("There is no question.") };
    // Whoever picks a reading repeats the question, which does not take up itself.
    let is_repeated = |it: &[Turn]| it[1].pick.is_some() && it[0].question == it[1].question;
    let before: Vec<&Turn> =
        turns.windows(2).filter(|it| !is_repeated(it)).map(|it| &it[0]).collect();
    let tokens = lexicon.words.tokens(&turn.question);
    if let Some(reason) = excess(&turn.question, tokens.len()) {
        return refuse(&reason);
    }
    let is_open =
        |it: &Call, turns: &[Turn]| !turns.iter().any(|turn| turn.done(it.0, &it.1).is_some());
    let mut looks: Vec<Call> = tables.iter().flat_map(values::profile).collect();
    looks.retain(|it| is_open(it, &turns));
    let finds = values::finds(&turn.question, &tokens, &tables, lexicon).into_iter();
    looks.extend(finds.filter(|it| is_open(it, std::slice::from_ref(turn))));
    if !looks.is_empty() {
        return Outcome::Next(Next::Calls(looks));
    }
    for table in &mut tables {
        values::set_profile(table, &turns, lexicon);
    }
    let (joins, calls) = Joins::find(&tables, &turns, lexicon);
    if !calls.is_empty() {
        return Outcome::Next(Next::Calls(calls));
    }
    let mut last: Option<Last> = None;
    let start = before.len().saturating_sub(TURNS_MAX);
    for earlier in &before[start..] {
        let asked = Asked {
            tables: &tables,
            joins: &joins,
            lexicon,
            wants_verdict: false,
            turn: earlier,
            last: last.as_ref(),
        };
        last = Some(asked.as_last());
    }
    let asked =
        Asked { tables: &tables, joins: &joins, lexicon, wants_verdict, turn, last: last.as_ref() };
    let found = asked.found();
    let FoundReadings { readings, unknown, said, is_picked, .. } = found;
    let may_mislead = readings.first().is_some_and(|it| asked.may_mislead(it, &unknown));
    // The second claim would be a condition of the first, and broken data would pass.
    let two = readings.first().and_then(|it| asked.two_claims(&it.query));
    let kept_back = asked.kept_back(readings.first());
    let names_kept_back = asked.names_kept_back();
    Outcome::Read(Box::new(Read {
        turn: turn.clone(),
        kept_back,
        names_kept_back,
        readings,
        unknown,
        said,
        is_lost: found.is_lost,
        is_whole: found.is_whole,
        may_mislead,
        is_picked,
        two,
        unused: glossary.unused(|it| items.iter().any(|item| item.0.to_string().contains(it))),
        tables: tables.clone(),
        joins: joins.clone(),
        glossary,
        last,
        wants_table: instructions.contains(WANTS_TABLE) && !wants_verdict,
    }))
}

/// Returns why a question is too long to be read.
fn excess(question: &str, n_words: usize) -> Option<String> {
    if WORDS_MAX < n_words {
        return Some(format!(
            "The question has {n_words} words, but I read at most {WORDS_MAX}. Ask for one thing at a time."
        ));
    }
    // A word is compared with each name and value of the data, letter by letter.
    let n_chars = question.split_whitespace().map(|it| it.chars().count()).max()?;
    (WORD_CHARS_MAX < n_chars).then(|| {
        format!("The question has a word of {n_chars} characters, but I read words of at most {WORD_CHARS_MAX}.")
    })
}

/// How the question before was read.
struct Last {
    readings: Vec<Reading>,
    /// How sure the first of them is.
    sureness: f64,
    /// Whether it was answered.
    is_sure: bool,
    /// The readings that were offered instead of an answer.
    offered: Vec<Reading>,
}

impl Last {
    fn new(readings: Vec<Reading>, sureness: f64, unknown: &[String], tables: &[Table]) -> Last {
        let is_sure = rank::ANSWERED <= sureness;
        let offered = if is_sure { Vec::new() } else { offered(&readings, unknown, tables) };
        Last { readings, sureness, is_sure, offered }
    }

    /// Makes that of a question that was answered by a reading that the user picked.
    fn picked(reading: Reading) -> Last {
        Last { sureness: 1.0, is_sure: true, offered: Vec::new(), readings: vec![reading] }
    }
}

/// How a question is read after others.
#[derive(Default)]
struct FoundReadings {
    /// The likeliest first.
    readings: Vec<Reading>,
    unknown: Vec<String>,
    said: Vec<String>,
    is_picked: bool,
    /// Whether it takes up a question that was not understood, unless it can be answered by itself.
    is_lost: bool,
    /// Whether it says enough to be asked by itself, although it takes up a question that was not understood.
    is_whole: bool,
}

/// A question with all that is known while it is read.
struct Asked<'a> {
    tables: &'a [Table],
    joins: &'a Joins,
    lexicon: &'a Lexicon,
    wants_verdict: bool,
    turn: &'a Turn,
    last: Option<&'a Last>,
}

impl Asked<'_> {
    fn tokens(&self) -> Vec<Token> {
        self.lexicon.words.tokens(&self.turn.question)
    }

    /// Returns the reading whose number is said, of those that were offered.
    fn picked(&self) -> Option<Reading> {
        nth(&self.last?.offered, number(&self.turn.question)?).map(as_sure)
    }

    /// Returns how the question is read after the one before.
    fn found(&self) -> FoundReadings {
        if let Some(reading) = self.picked() {
            return FoundReadings {
                readings: vec![reading],
                is_picked: true,
                ..FoundReadings::default()
            };
        }
        let (readings, unknown, said) = self.read();
        let tokens = self.tokens();
        let best = readings.first();
        let is_part = tokens.len() <= PART_WORDS_MAX && best.is_some_and(Reading::is_part);
        let is_taken = best.is_some_and(|it| it.before < 1.0);
        let takes_up = self.takes_up() || self.begins_with_by(&tokens);
        let is_lost = self.last.is_some_and(|it| it.sureness < rank::OFFERED)
            && (takes_up || is_part)
            && !is_taken;
        let is_whole = is_lost && rank::ANSWERED <= sureness(&readings, None);
        let readings = if is_lost && takes_up { Vec::new() } else { readings };
        FoundReadings { readings, unknown, said, is_lost, is_whole, is_picked: false }
    }

    /// Returns how an earlier question was read.
    fn as_last(&self) -> Last {
        if let Some(reading) = self.picked() {
            return Last::picked(reading);
        }
        let (readings, unknown, _) = self.read();
        let best = readings.first();
        let computed =
            best.and_then(|it| compute::computed(self.turn, &it.query, self.tables).ok());
        let sureness = sureness(&readings, computed.as_ref().map(|it| &it.result));
        let last = Last::new(readings, sureness, &unknown, self.tables);
        match self.turn.pick.and_then(|n| nth(&last.offered, n)) {
            Some(reading) => Last::picked(as_sure(reading)),
            None => last,
        }
    }

    /// Returns whether a verdict may be turned by words that the reading leaves out: a gate would pass bad data.
    fn may_mislead(&self, best: &Reading, unknown: &[String]) -> bool {
        if !self.wants_verdict && !best.query.judges() {
            return false;
        }
        let tokens = self.tokens();
        let words: Vec<String> = tokens.iter().map(|it| it.lower.clone()).collect();
        let is_in_phrase = |at: usize| {
            (0..=at).any(|from| {
                (at + 1..=words.len())
                    .any(|to| 1 < to - from && self.lexicon.phrase(&words[from..to]).is_some())
            })
        };
        let negates = |it: &str| {
            let word = [it.to_owned()];
            matches!(self.lexicon.phrase(&word), Some(Concept::Not | Concept::Without))
        };
        let mut rules = best.rules.iter().map(|it| ENGLISH.name(*it));
        let is_negation_read = rules.any(|it| it.contains("[not]") || it.contains("[without]"));
        let mut rules = best.rules.iter().map(|it| ENGLISH.name(*it));
        let is_choice_read = rules.any(|it| it.contains("[or]"));
        let is_alarm = |at: usize| {
            at < 2 && 2 < words.len() && self.lexicon.is(Cue::Alarms, &words[..2].join(" "))
        };
        // `every order no` says no `no`.
        let places = best.query.places();
        let is_named = |at: usize, lattice: &Lattice| {
            lattice.links.iter().any(|it| {
                it.start <= at
                    && at < it.end
                    && 1 < it.end - it.start
                    && matches!(it.atom, Atom::Column(place) if places.contains(&place))
            })
        };
        let is_lost = |(at, it): (usize, &String)| {
            self.lexicon.is(Cue::Turns, it) && !is_alarm(at)
                || negates(it) && !is_negation_read && !is_in_phrase(at)
                || self.lexicon.is(Cue::Or, it) && !is_choice_read && !is_in_phrase(at)
        };
        // `every` says what is understood without it, and so does `fail if`.
        let facts =
            values::facts(&self.turn.question, &tokens, self.tables, self.turn, self.lexicon);
        let lattice = self.lattice(&tokens, &[best.query.from.table], &facts);
        let is_free = |at: &usize| {
            is_alarm(*at) || self.lexicon.is(Cue::Every, &words[*at]) || words[*at] == "each"
        };
        let free: f64 = (0..words.len()).filter(is_free).map(|it| lattice.skips[it]).sum();
        // A reference says which tables, and how they are joined is no word of it.
        let is_reference = matches!(best.query.body, Shape::Check(Check::Refers(_)));
        // What means nothing may be a word of a rule.
        let is_unknown_lost = !unknown.is_empty() && UNKNOWN_MIN <= best.skipped;
        is_unknown_lost
            || self.means_others(&best.query, &tokens)
            || !is_reference && JUDGED_SKIPPED_MAX + free < best.skipped
            || words.iter().enumerate().any(|it| is_lost(it) && !is_named(it.0, &lattice))
    }

    /// Returns whether a column is said by a part of its name that another has as well, of which nothing is judged: a
    /// `date` of the columns `order_date` and `ship_date`.
    fn means_others(&self, query: &LogicalForm, tokens: &[Token]) -> bool {
        let places = query.places();
        let is_said = |it: &String| {
            let says =
                |token: &Token| token.stem == *it || self.lexicon.are_synonyms(&token.stem, it);
            tokens.iter().any(says)
        };
        places.iter().any(|place| {
            let columns = &self.tables[place.table].columns;
            let words = &columns[place.column].words;
            let said: Vec<&String> = words.iter().filter(|it| is_said(it)).collect();
            let is_part = !said.is_empty() && said.len() < words.len();
            is_part
                && columns.iter().enumerate().any(|(at, other)| {
                    let is_judged =
                        places.iter().any(|it| it.table == place.table && it.column == at);
                    let own = columns[place.column].kind;
                    let is_alike = own.is_number() == other.kind.is_number()
                        && own.is_time() == other.kind.is_time();
                    is_alike && !is_judged && said.iter().all(|it| other.words.contains(it))
                })
        })
    }

    /// Returns the two claims that a question makes, if each can be judged by itself.
    fn two_claims(&self, whole: &LogicalForm) -> Option<[String; 2]> {
        if !self.wants_verdict && !matches!(whole.body, Shape::Check(_)) {
            return None;
        }
        let question = self.turn.question.trim().trim_end_matches(['.', '?', '!']);
        let is_claim = |part: &str| {
            let turn =
                Turn { question: part.to_owned(), pick: None, calls: self.turn.calls.clone() };
            let asked = Asked { turn: &turn, last: None, wants_verdict: true, ..*self };
            let (readings, _, said) = asked.read();
            let Some(best) = readings.first() else { return false };
            // `open, closed` are values of one claim, and `orders with status open` are the rows that one is about.
            let names = !said.is_empty()
                || !matches!(best.query.body, Shape::Check(Check::All(_) | Check::None(_)));
            let is_of_rows = match &best.query.body {
                Shape::Check(Check::All(tests)) => {
                    tests.iter().all(|it| whole.filters.contains(it))
                }
                _ => false,
            };
            matches!(best.query.body, Shape::Check(_))
                && names
                && !is_of_rows
                && rank::OFFERED <= sureness(&readings, None)
        };
        let splits = BETWEEN_CLAIMS.iter().flat_map(|it| question.match_indices(it));
        let parts = splits
            .map(|(at, between)| [question[..at].trim(), question[at + between.len()..].trim()]);
        let mut both = parts.filter(|it| it.iter().all(|part| !part.is_empty() && is_claim(part)));
        both.next().map(|it| it.map(str::to_owned))
    }

    /// Returns whether the question begins with `by`: what is asked of these groups, another one said.
    fn begins_with_by(&self, tokens: &[Token]) -> bool {
        let first = tokens.first().map(|it| std::slice::from_ref(&it.lower));
        first.and_then(|it| self.lexicon.phrase(it)) == Some(Concept::By)
    }

    fn takes_up(&self) -> bool {
        let tokens = self.tokens();
        let scene = self.scene(&tokens, &[0], None, HashMap::default());
        follow_up::takes_up(&scene)
    }

    /// Returns a column whose values are kept back, if the best reading computes with them, or the question names it and
    /// the reading leaves it out.
    fn kept_back(&self, best: Option<&Reading>) -> Option<String> {
        let needed = best.and_then(|it| {
            it.query.computed_with().into_iter().find(|it| self.column(*it).is_kept_back)
        });
        let is_used = |it: &Place| best.is_some_and(|best| best.query.places().contains(it));
        let unused = self.said_kept_back().filter(|it| !is_used(it));
        needed.or(unused).map(|it| self.column(it).name.clone())
    }

    /// Returns the name of a column that the question names, and whose values are kept back.
    fn names_kept_back(&self) -> Option<String> {
        self.said_kept_back().map(|it| self.column(it).name.clone())
    }

    fn said_kept_back(&self) -> Option<Place> {
        let tokens = self.tokens();
        let facts =
            values::facts(&self.turn.question, &tokens, self.tables, self.turn, self.lexicon);
        let said = |table: usize| {
            let links = self.lattice(&tokens, &[table], &facts).links;
            links.into_iter().find_map(|it| match it.atom {
                Atom::Column(place) if 0.95 <= it.score && self.column(place).is_kept_back => {
                    Some(place)
                }
                _ => None,
            })
        };
        let mut some = (0..self.tables.len())
            .filter(|it| self.tables[*it].columns.iter().any(|column| column.is_kept_back));
        some.find_map(said)
    }

    fn column(&self, place: Place) -> &schema::Column {
        &self.tables[place.table].columns[place.column]
    }

    fn scene<'b>(
        &'b self,
        tokens: &'b [Token],
        of: &'b [usize],
        join: Option<Join>,
        said: HashMap<crate::query::Place, bool>,
    ) -> Scene<'b> {
        let Asked { tables, lexicon, wants_verdict, .. } = *self;
        Scene { tokens, tables, of, join, lexicon, wants_verdict, said }
    }

    /// Returns the readings, the words that mean nothing, and the columns that are named.
    fn read(&self) -> (Vec<Reading>, Vec<String>, Vec<String>) {
        let tokens = self.tokens();
        let facts =
            values::facts(&self.turn.question, &tokens, self.tables, self.turn, self.lexicon);
        let judges = self.wants_verdict || asks_whether(&tokens, self.lexicon);
        let named = self.named(&tokens);
        let is_question =
            self.turn.question.trim_end().ends_with('?') || asks_whether(&tokens, self.lexicon);
        let quantity = quantity(&tokens, is_question, self.lexicon);
        let all: Vec<usize> = (0..self.tables.len()).collect();
        let counted = counted::counted(&self.lattice(&tokens, &all, &facts), self.tables);
        let mut best: BTreeMap<String, Reading> = BTreeMap::new();
        let mut unknown: Option<Vec<usize>> = None;
        let mut said: Vec<String> = Vec::new();
        for (of, join) in self.sources() {
            let lattice = self.lattice(&tokens, &of, &facts);
            let open = lattice
                .unknown
                .iter()
                .copied()
                .filter(|it| UNKNOWN_MIN < lattice.skips[*it])
                .collect::<Vec<_>>();
            if join.is_none() && unknown.as_ref().is_none_or(|it| open.len() < it.len()) {
                unknown = Some(open);
                said = self.said_columns(&lattice);
            }
            let scene = self.scene(&tokens, &of, join, self.additive(&tokens, &lattice));
            let mut own: Vec<Reading> = Vec::new();
            for Phrase { sem, cost, skipped, linked, rules, .. } in
                ENGLISH.read(&scene, &lattice, ENGLISH.goal)
            {
                if let Sem::Query(mut query) = sem
                    && self.needs(&query, &of, join)
                {
                    if is_of_other(&query) {
                        query.from.join = None;
                    }
                    own.push(alone(*query, [cost, skipped, linked], rules, self.tables));
                }
            }
            if let Some(last) = self.last.filter(|it| rank::OFFERED <= it.sureness) {
                let continued = self.continued(&scene, &lattice, last);
                if !continued.is_empty() && follow_up::takes_up(&scene) {
                    for reading in &mut own {
                        reading.cost += ALONE_COST;
                    }
                }
                own.extend(continued);
            }
            own.retain(|it| !counted.iter().any(|n| counted::is_mistaken(&it.query, *n)));
            for mut reading in own.into_iter().flat_map(|it| quantified(it, quantity)) {
                // Of several keys, the question says which.
                if let Some(join) = join
                    && 1 < self.joins.of([join.left.table, join.right.table]).len()
                    && !lattice
                        .links
                        .iter()
                        .any(|it| it.atom == Atom::Column(join.left) && 0.7 <= it.score)
                {
                    reading.cost += KEY_COST;
                }
                if reading.query.from.join.is_some() {
                    reading.cost += JOIN_COST;
                }
                let n_others = named.iter().filter(|it| !of.contains(it)).count();
                reading.cost += NAMED_COST * f64::from(u32::try_from(n_others).unwrap_or(u32::MAX));
                if matches!(reading.query.body, Shape::Check(_)) && !judges {
                    reading.cost += UNASKED_COST;
                }
                let key = crate::sql::statement(&reading.query, self.tables, 4).sql;
                if best.get(&key).is_none_or(|it| reading.cost < it.cost) {
                    best.insert(key, reading);
                }
            }
        }
        let mut readings: Vec<Reading> = best.into_values().collect();
        // What judges is meant, if something does.
        if self.wants_verdict && readings.iter().any(|it| it.query.judges()) {
            for reading in readings.iter_mut().filter(|it| !it.query.judges()) {
                reading.cost += JUDGES_NOT_COST;
            }
        }
        readings.sort_by(|one, other| one.cost.total_cmp(&other.cost));
        merge_twins(&mut readings, |place| {
            let words = &self.tables[place.table].columns[place.column].words;
            tokens
                .iter()
                .map(|it| it.stem.as_str())
                .filter(|it| words.iter().any(|word| word == it))
                .collect()
        });
        if !tokens.iter().any(|it| self.lexicon.is(Cue::Labels, &it.stem)) {
            prefer_whole_rows(&mut readings, self.tables);
        }
        let words = unknown.into_iter().flatten().map(|it| tokens[it].text.clone());
        (readings, words.collect(), said)
    }

    /// Returns the tables that the question names. `orders july` is no name of `orders`, where one is called so.
    fn named(&self, tokens: &[Token]) -> Vec<usize> {
        let stems: Vec<String> = tokens.iter().map(|it| it.stem.clone()).collect();
        let spans = |table: &Table| {
            let n = table.words.len().max(1);
            let quoted = (0..tokens.len()).filter(|it| table.is_quoted(&tokens[*it]));
            let mut spans: Vec<(usize, usize)> = quoted.map(|it| (it, it + 1)).collect();
            for n in [n, n + 1] {
                let called = stems.windows(n).enumerate().filter(|it| table.is_called(it.1));
                spans.extend(called.map(|it| (it.0, it.0 + n)));
            }
            spans
        };
        let spans: Vec<Vec<(usize, usize)>> = self.tables.iter().map(spans).collect();
        let is_part = |it: &(usize, usize)| {
            spans.iter().flatten().any(|of| of != it && of.0 <= it.0 && it.1 <= of.1)
        };
        (0..spans.len()).filter(|it| spans[*it].iter().any(|it| !is_part(it))).collect()
    }

    /// Returns the tables that may be asked, alone and two by two.
    fn sources(&self) -> Vec<(Vec<usize>, Option<Join>)> {
        let n = self.tables.len();
        let mut sources: Vec<(Vec<usize>, Option<Join>)> =
            (0..n).map(|it| (vec![it], None)).collect();
        for one in 0..n.min(JOINED_MAX) {
            for other in (0..n.min(JOINED_MAX)).filter(|it| *it != one) {
                let joins = self.joins.of([one, other]);
                sources.extend(joins.into_iter().map(|it| (vec![one, other], Some(it))));
            }
        }
        sources
    }

    /// Returns whether a query of two tables needs both, and counts the rows of the larger.
    fn needs(&self, query: &LogicalForm, of: &[usize], join: Option<Join>) -> bool {
        let ([one, other], Some(join)) = (of, join) else { return true };
        if matches!(query.body, Shape::Check(Check::Refers(_))) {
            return true;
        }
        let places = query.places();
        let uses = |table: usize| places.iter().any(|it| it.table == table);
        if is_of_other(query) {
            return !uses(*other);
        }
        // What both have is read from the first.
        let name = |place: Place| &self.tables[place.table].columns[place.column].name;
        let is_same = name(join.left) == name(join.right);
        let mut others = places.iter().filter(|it| it.table == *other);
        !(is_same && others.clone().all(|it| *it == join.right))
            && others.all(|it| self.joins.is_single(self.tables, join, *it))
            && uses(*other)
            && (uses(*one) || self.tables[*other].n_rows <= self.tables[*one].n_rows)
    }

    fn lattice(&self, tokens: &[Token], of: &[usize], facts: &Facts) -> Lattice {
        let linker = Linker {
            question: &self.turn.question,
            tokens,
            tables: self.tables,
            of,
            facts,
            lexicon: self.lexicon,
        };
        linker.lattice()
    }

    /// Returns whether values of columns add up, by the words that the question has for them.
    fn additive(&self, tokens: &[Token], lattice: &Lattice) -> HashMap<crate::query::Place, bool> {
        let said = lattice.links.iter().filter_map(|it| match it.atom {
            Atom::Column(place) if 0.6 <= it.score => {
                let stems: Vec<String> =
                    tokens[it.start..it.end].iter().map(|it| it.stem.clone()).collect();
                let own = self.lexicon.is_additive(&stems)?;
                // A cost center is no cost.
                let is_head =
                    stems.len() != 2 || self.lexicon.is_additive(&stems[1..]) == Some(own);
                is_head.then_some((place, own))
            }
            _ => None,
        });
        said.collect()
    }

    fn said_columns(&self, lattice: &Lattice) -> Vec<String> {
        let named = lattice.links.iter().filter_map(|it| match it.atom {
            Atom::Column(place) if 0.8 <= it.score => {
                Some(self.tables[place.table].columns[place.column].name.clone())
            }
            _ => None,
        });
        named.collect()
    }

    /// Returns the readings of a question that takes up the one before.
    fn continued(&self, scene: &Scene, lattice: &Lattice, last: &Last) -> Vec<Reading> {
        let Some(first) = last.readings.first() else { return Vec::new() };
        if !follow_up::may_continue(scene.tokens) || first.query.from != scene.source() {
            return Vec::new();
        }
        let n_near = last
            .readings
            .iter()
            .take_while(|it| it.cost - first.cost < NEAR_MAX)
            .take(rank::OFFERED_MAX)
            .count();
        let others =
            if last.is_sure { &[] } else { last.readings.get(1..n_near).unwrap_or_default() };
        let words: Vec<String> = scene.tokens.iter().map(|it| it.lower.clone()).collect();
        let is_how_many = self.lexicon.phrase(&words) == Some(Concept::HowMany);
        let takes_up = is_how_many || follow_up::takes_up(scene);
        let leads = takes_up || follow_up::leads_on(scene);
        let mut readings = Vec::new();
        let phrases = ENGLISH.read(scene, lattice, ENGLISH.parts);
        let is_whole = |it: &&Phrase| {
            it.skipped <= TAKEN_SKIPPED_MAX
                && matches!(&it.sem, Sem::Frag(frag) if follow_up::is_whole(scene, frag))
        };
        let whole_cost = phrases.iter().filter(is_whole).map(|it| it.cost).reduce(f64::min);
        for Phrase { sem, cost, skipped, linked, rules, .. } in phrases {
            let Sem::Frag(frag) = sem else { continue };
            // What says all that a question needs takes up nothing, and neither does a part of it, nor what the same
            // words say less likely.
            let is_less = whole_cost.is_some_and(|it| it <= cost);
            if !takes_up && (TAKEN_SKIPPED_MAX < skipped || is_less) {
                continue;
            }
            if let Some(query) = follow_up::edit(scene, &first.query, &frag) {
                // What was open before does not matter if the question now says it.
                let is_said = !others.is_empty()
                    && others.iter().all(|it| {
                        follow_up::edit(scene, &it.query, &frag).as_ref() == Some(&query)
                    });
                let before = if last.is_sure || is_said { 1.0 } else { last.sureness };
                // What leads on is not left out.
                let is_part = scene.tokens.len() <= PART_WORDS_MAX && follow_up::is_fragment(&frag);
                // The cheaper of those that cost nothing stays the first.
                let cost = if leads || is_part {
                    (cost - WHOLE_MAX).max(cost / 100.0)
                } else {
                    cost + CONTINUES_COST
                };
                readings.push(Reading {
                    is_series: is_series(&query, self.tables),
                    query,
                    cost,
                    skipped: skipped.min(1.0),
                    linked,
                    before,
                    rules,
                });
            }
        }
        readings
    }
}

/// Tells whole rows before their key or name alone, unless that is much likelier.
fn prefer_whole_rows(readings: &mut [Reading], tables: &[Table]) {
    let Some(part) = readings.first().cloned() else { return };
    let Shape::Rows(Listing { columns, .. }) = &part.query.body else { return };
    let [place] = columns[..] else { return };
    let column = &tables[place.table].columns[place.column];
    let is_whole = |it: &Reading| {
        matches!(&it.query.body, Shape::Rows(listing) if listing.columns.is_empty())
            && it.cost - part.cost < WHOLE_ROWS_COST
            && rank::is_within(&part.query, &it.query)
    };
    let whole = readings.iter().position(is_whole).filter(|_| column.is_key || column.is_title);
    if let Some(at) = whole {
        readings[..=at].rotate_right(1);
        readings[0].cost = part.cost;
    }
}

/// Returns the reading of a question that takes up no other, with its price, and how much of that is of words that
/// were left out and of links.
fn alone(
    query: LogicalForm,
    [cost, skipped, linked]: [f64; 3],
    rules: Vec<u16>,
    tables: &[Table],
) -> Reading {
    let is_series = is_series(&query, tables);
    Reading { query, cost, skipped, linked, is_series, before: 1.0, rules }
}

/// Returns whether a query tells a number for each time of a column.
fn is_series(query: &LogicalForm, tables: &[Table]) -> bool {
    let Shape::Groups(groups) = &query.body else { return false };
    groups.keys.iter().any(|it| match it {
        GroupKey::Time(..) => true,
        GroupKey::Column(place) => tables[place.table].columns[place.column].unit.is_some(),
        _ => false,
    })
}

/// Returns whether rows are told by those of another table.
fn is_of_other(query: &LogicalForm) -> bool {
    let is_claim = match &query.body {
        Shape::Check(Check::All(tests) | Check::None(tests)) => tests.iter().any(Test::is_of_other),
        Shape::Groups(groups) => {
            groups.measures.iter().flat_map(|it| &it.only).any(Test::is_of_other)
        }
        _ => false,
    };
    is_claim || query.filters.iter().any(Test::is_of_other)
}

/// Of how many rows something is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    /// Nothing says that.
    Unsaid,
    /// Whether it is so of one at least: `is revenue ever negative`.
    One,
    /// Of one or of all of them: `are the orders paid yet`.
    Either,
}

/// Returns of how many rows a question asks something, where its parts do not say so.
fn quantity(tokens: &[Token], is_question: bool, lexicon: &Lexicon) -> Quantity {
    let words: Vec<String> = tokens.iter().map(|it| it.lower.clone()).collect();
    let find = |is: &dyn Fn(&[String]) -> bool| {
        let mut spans = (0..words.len())
            .flat_map(|at| (1..=3.min(words.len() - at)).rev().map(move |n| (at, at + n)));
        spans.find(|it| is(&words[it.0..it.1]))
    };
    let is_cue = |cue: Cue| move |it: &[String]| lexicon.is(cue, &it.join(" "));
    let starts = |cue: Cue| (1..=3).filter_map(|n| words.get(..n)).any(is_cue(cue));
    let ever = find(&is_cue(Cue::Ever));
    // `at all` is not all of them.
    let is_every = |it: &[String]| match lexicon.phrase(it) {
        Some(Concept::Each) => !words
            .windows(it.len() + 1)
            .any(|wide| wide.ends_with(it) && lexicon.is(Cue::Ever, &wide.join(" "))),
        Some(Concept::IsAll | Concept::Only) => true,
        _ => false,
    };
    if find(&is_every).is_some() {
        return if ever.is_some() { Quantity::Either } else { Quantity::Unsaid };
    }
    let Some((start, _)) = ever else {
        return match find(&is_cue(Cue::Yet)) {
            _ if starts(Cue::Alarms) => Quantity::One,
            Some(_) if is_question => Quantity::Either,
            _ => Quantity::Unsaid,
        };
    };
    let negates =
        |it: &[String]| matches!(lexicon.phrase(it), Some(Concept::Not | Concept::Without));
    let is_not = |at: usize| {
        (1..=2).any(|n| at.checked_sub(n).is_some_and(|from| negates(&words[from..at])))
    };
    match find(&negates).filter(|it| it.0 < start) {
        // `not ever`, and `no order is ever`.
        Some(_) if is_not(start) || negates(&words[..1]) => Quantity::Unsaid,
        None if is_question || starts(Cue::Alarms) => Quantity::One,
        _ => Quantity::Either,
    }
}

/// Returns a reading as it is meant, if it judges so many rows.
fn quantified(reading: Reading, quantity: Quantity) -> Vec<Reading> {
    let Shape::Check(Check::All(tests)) = &reading.query.body else { return vec![reading] };
    let one = Reading {
        query: LogicalForm {
            body: Shape::Check(Check::None(tests.clone())),
            ..reading.query.clone()
        },
        ..reading.clone()
    };
    match quantity {
        Quantity::Unsaid => vec![reading],
        Quantity::One => vec![one],
        Quantity::Either => vec![reading, one],
    }
}

/// Puts readings into one that differ only in which of several columns a phrase names: `average bill` is that of the
/// length and that of the depth.
fn merge_twins<'a>(readings: &mut Vec<Reading>, said: impl Fn(Place) -> Vec<&'a str>) {
    let Some(first) = readings.first() else { return };
    let measure = |it: &Reading| match &it.query.body {
        Shape::Groups(Groups {
            measures,
            order: None,
            having: None,
            over: None,
            then: None,
            ..
        }) => match &measures[..] {
            [measure]
                if measure.only.is_empty()
                    && measure.place().is_some()
                    && matches!(measure.agg, Agg::Sum | Agg::Mean | Agg::Median) =>
            {
                Some(measure.clone())
            }
            _ => None,
        },
        _ => None,
    };
    let Some(own) = measure(first) else { return };
    let without = |it: &Reading| {
        let mut query = it.query.clone();
        if let Shape::Groups(groups) = &mut query.body {
            groups.measures.clear();
        }
        query
    };
    let words = own.place().map(&said).unwrap_or_default();
    let is_twin = |it: &&Reading| {
        it.cost - first.cost < 1e-6
            && (it.linked - first.linked).abs() < 1e-6
            && it.rules == first.rules
            && measure(it).is_some_and(|other| {
                other.agg == own.agg
                    && other.place() != own.place()
                    && other.place().is_some_and(|it| said(it).iter().any(|it| words.contains(it)))
            })
            && without(it) == without(first)
    };
    let mut measures: Vec<Measure> =
        readings.iter().skip(1).filter(is_twin).filter_map(measure).collect();
    measures.push(own);
    measures.sort_by_key(Measure::place);
    if !(2..=TWINS_MAX).contains(&measures.len()) || first.linked <= 0.0 {
        return;
    }
    let mut merged = first.clone();
    merged.cost -= merged.linked * TWINS_COST;
    merged.linked *= 1.0 - TWINS_COST;
    if let Shape::Groups(groups) = &mut merged.query.body {
        groups.measures = measures;
    }
    readings.insert(0, merged);
}

/// Returns whether a question is one that yes or no answers, or asks for a check.
fn asks_whether(tokens: &[Token], lexicon: &Lexicon) -> bool {
    let words: Vec<String> = tokens.iter().take(3).map(|it| it.lower.clone()).collect();
    let is_verb = words.first().is_some_and(|it| lexicon.is(Cue::YesNo, it));
    is_verb
        || (1..=words.len()).any(|n| {
            let found = lexicon.phrase(&words[..n]);
            matches!(
                found,
                Some(Concept::Check | Concept::IsAny | Concept::IsAll | Concept::Duplicate)
            )
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Asked, Joins, Last, Reading, Turn};
    use crate::lexicon::ENGLISH;
    use crate::query::{Chart, Check, Shape};
    use crate::rank::{ANSWERED, sureness};
    use crate::schema::{Kind, Table, mark_kept_back, of_instructions};
    use crate::transcript::Done;
    use crate::values;
    use csv_agent_types::chart_options::LogAxis;
    use serde_json::json;

    fn tables() -> Vec<Table> {
        let text = "- orders: 3 rows, 5 columns\n  - \"order_id\" int64\n  - \"amount\" int64\n  - \"price\" int64\n  \
                    - \"customer\" string, 1 missing\n  - \"paid\" bool\n";
        of_instructions(text, &ENGLISH)
    }

    /// Returns the two claims of a question whose values were looked up.
    fn two(question: &str) -> Option<[String; 2]> {
        let tables = tables();
        assert_eq!(tables[0].columns[4].kind, Kind::Bool);
        let turn = Turn { question: question.to_owned(), pick: None, calls: Vec::new() };
        let joins = Joins::default();
        let asked = Asked {
            tables: &tables,
            joins: &joins,
            lexicon: &ENGLISH,
            wants_verdict: true,
            turn: &turn,
            last: None,
        };
        let readings = asked.read().0;
        let best = readings.first().unwrap();
        asked.two_claims(&best.query)
    }

    /// Returns a table of sales whose profile is known.
    fn sales() -> Vec<Table> {
        let text = "- sales: 90 rows, 7 columns\n  - \"day\" date\n  - \"product\" string\n  - \"revenue\" float64\n  \
                    - \"arr_delay\" float64\n  - \"dep_delay\" float64\n  - \"sleep_hours\" float64\n  - \"OverTime\" bool\n";
        let mut tables = of_instructions(text, &ENGLISH);
        tables[0].columns[1].n_distinct = Some(5);
        tables[0].columns[5].range = Some((0.0, 100.0));
        tables
    }

    fn read(question: &str, wants_verdict: bool, last: Option<&Last>) -> Vec<Reading> {
        let tables = sales();
        let turn = Turn { question: question.to_owned(), pick: None, calls: Vec::new() };
        let joins = Joins::default();
        Asked {
            tables: &tables,
            joins: &joins,
            lexicon: &ENGLISH,
            wants_verdict,
            turn: &turn,
            last,
        }
        .read()
        .0
    }

    fn sql(reading: &Reading) -> String {
        let sql = crate::sql::statement(&reading.query, &sales(), 4).sql;
        sql.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[track_caller]
    fn says(question: &str, part: &str) {
        let readings = read(question, false, None);
        let found = readings.first().map(sql).unwrap_or_default();
        assert!(found.contains(part), "{question}: {found}");
    }

    #[test]
    fn whether_something_is_ever_so_is_asked_of_one_row() {
        for question in [
            "is revenue ever negative?",
            "has revenue ever been negative?",
            "is revenue sometimes negative?",
            "is revenue negative at all?",
            "did revenue ever drop below 0?",
            "was revenue at any point below 0?",
            "is any revenue below 0?",
            "revenue ever negative?",
            "fail if revenue is negative",
            "fail when revenue is ever negative",
            "no revenue is ever negative",
        ] {
            let readings = read(question, true, None);
            assert!(
                matches!(readings[0].query.body, Shape::Check(Check::None(_))),
                "{question}: {}",
                sql(&readings[0])
            );
            assert!(ANSWERED <= sureness(&readings, None), "{question}");
        }
        for question in [
            "is every revenue positive?",
            "are all revenues positive yet?",
            "revenue is always positive",
        ] {
            let readings = read(question, true, None);
            assert!(
                matches!(readings[0].query.body, Shape::Check(Check::All(_))),
                "{question}: {}",
                sql(&readings[0])
            );
            assert!(ANSWERED <= sureness(&readings, None), "{question}");
        }
        // Of one row or of all: a gate must not guess.
        for question in [
            "is revenue negative yet?",
            "is every revenue ever negative?",
            "revenue is sometimes negative",
        ] {
            assert!(sureness(&read(question, true, None), None) < ANSWERED, "{question}");
        }
    }

    #[test]
    fn what_is_not_positive_may_be_zero() {
        let readings = read("is revenue ever not positive?", true, None);
        assert!(sql(&readings[0]).contains("revenue <= 0"), "{}", sql(&readings[0]));
    }

    #[test]
    fn the_best_of_something_is_told_by_its_merit() {
        says("best month", "sum(revenue)");
        says("which month was the best?", "sum(revenue)");
        says("worst product", "group by product");
        says("best 2 months", "limit 2");
    }

    #[test]
    fn a_column_that_repeats_is_meant_before_the_rows() {
        says("top 3 products by revenue", "group by product");
        says("list the products", "select distinct product");
    }

    #[test]
    fn a_word_of_two_names_means_both() {
        let readings = read("average delay by product", false, None);
        let found = sql(&readings[0]);
        assert!(found.contains("avg(arr_delay)") && found.contains("avg(dep_delay)"), "{found}");
        // One of them is asked for: which, is open.
        assert!(
            !sql(&read("largest delay", false, None)[0]).contains("max(arr_delay), max(dep_delay)")
        );
    }

    #[test]
    fn every_row_has_its_own_value_of_what_is_unique() {
        let readings = read("every sale has a unique product", true, None);
        assert!(
            matches!(readings[0].query.body, Shape::Check(Check::Unique(_))),
            "{}",
            sql(&readings[0])
        );
    }

    #[test]
    fn a_clause_is_not_left_out() {
        let of = |question: &str| sureness(&read(question, false, None), None);
        let with = of("average revenue by product when there is one");
        assert!(with < ANSWERED && ANSWERED <= of("average revenue by product"), "{with}");
    }

    #[test]
    fn a_day_of_days_is_one_reading() {
        let readings = read("revenue by day", false, None);
        let days = readings
            .iter()
            .filter(|it| sql(it).contains("sum(revenue)") && it.cost < readings[0].cost + 0.2);
        assert_eq!(days.count(), 1);
    }

    #[test]
    fn any_superlative_before_a_number_is_its_end() {
        says("longest sleep_hours", "max(sleep_hours)");
        says("shortest sleep_hours", "min(sleep_hours)");
        says("how many rows with overtime", "\"OverTime\"");
    }

    #[test]
    fn what_follows_takes_up_the_first_reading_of_what_was_not_sure() {
        let readings = read("revenue", false, None);
        let of = |sureness: f64| Last::new(readings.clone(), sureness, &[], &sales());
        let unsure = read("and by month?", false, Some(&of(0.6)));
        assert!(sql(&unsure[0]).contains("sum(revenue)"), "{}", sql(&unsure[0]));
        assert!(sureness(&unsure, None) <= 0.6);
        let sure = read("and by month?", false, Some(&of(0.9)));
        assert!(ANSWERED <= sureness(&sure, None));
        // Nothing of what was hardly read.
        assert!(
            read("and by month?", false, Some(&of(0.1)))
                .iter()
                .all(|it| !sql(it).contains("revenue"))
        );
    }

    /// Returns the best reading of the last question as SQL, those before it being answered, and how sure it is.
    fn asked(tables: &[Table], questions: &[&str], wants_verdict: bool) -> (String, f64) {
        let joins = Joins::default();
        let mut last: Option<Last> = None;
        let mut found = (String::new(), 0.0);
        for (n, question) in questions.iter().enumerate() {
            let turn = Turn { question: (*question).to_owned(), pick: None, calls: Vec::new() };
            let wants_verdict = wants_verdict && n + 1 == questions.len();
            let lexicon = &ENGLISH;
            let last_one = last.as_ref();
            let asked = Asked {
                tables,
                joins: &joins,
                lexicon,
                wants_verdict,
                turn: &turn,
                last: last_one,
            };
            let readings = asked.read().0;
            let sql = readings.first().map(|it| crate::sql::statement(&it.query, tables, 4).sql);
            let words = sql.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
            found = (words, sureness(&readings, None));
            last = Some(Last::new(readings, 0.9, &[], tables));
        }
        found
    }

    fn one(name: &str, columns: &[(&str, &str)]) -> Vec<Table> {
        let mut text = format!("- {name}: 100 rows, {} columns\n", columns.len());
        for (name, dtype) in columns {
            text.extend(["  - \"", name, "\" ", dtype, "\n"]);
        }
        of_instructions(&text, &ENGLISH)
    }

    #[test]
    fn a_table_called_like_one_of_its_numbers_is_asked_for_the_number() {
        let sales = one("sales", &[("region", "string"), ("sales", "int64"), ("day", "date")]);
        for question in ["sales by region", "sales by month", "sales per region", "how many sales"]
        {
            let (sql, sureness) = asked(&sales, &[question], false);
            assert!(sql.contains("sum(sales)") && ANSWERED <= sureness, "{question}: {sql}");
        }
        let (sql, _) = asked(&sales, &["how many rows by region"], false);
        assert!(sql.contains("count(*)"), "{sql}");
        // A number of a flight is no amount.
        let flights = one("flights", &[("flight", "int64"), ("carrier", "string")]);
        let (sql, _) = asked(&flights, &["flights per carrier"], false);
        assert!(sql.contains("count(*)"), "{sql}");
    }

    #[test]
    fn a_column_may_be_said_with_its_table() {
        let weather =
            one("weather", &[("date", "date"), ("wind", "float64"), ("weather", "string")]);
        for question in [
            "weather.date is unique",
            "\"weather\".\"date\" is unique",
            "date in weather is unique",
            "is weather.date unique?",
        ] {
            let (sql, _) = asked(&weather, &[question], true);
            assert!(sql.contains("(partition by \"date\")"), "{question}: {sql}");
        }
        let (sql, _) = asked(&weather, &["average weather.wind by weather.weather"], false);
        assert!(sql.contains("avg(wind)") && sql.contains("group by weather"), "{sql}");
    }

    #[test]
    fn a_question_with_all_that_it_needs_takes_up_nothing() {
        let tips = || {
            one(
                "tips",
                &[
                    ("total_bill", "float64"),
                    ("tip", "float64"),
                    ("sex", "string"),
                    ("day", "string"),
                ],
            )
        };
        for (before, question, same) in [
            ("average tip by day", "total bill by sex", true),
            ("average tip by day", "largest bill", true),
            ("average tip by day", "top 3 tips", true),
            ("average tip by day", "average bill", true),
            ("average tip by day", "rows with tip over 5", true),
            ("average tip by day", "by sex", false),
            ("average tip by day", "and the average bill?", false),
            ("average tip by day", "median instead", false),
            ("average tip by day", "top 2", false),
        ] {
            let alone = asked(&tips(), &[question], false).0;
            let behind = asked(&tips(), &[before, question], false).0;
            assert_eq!(alone == behind, same, "{question}: {behind}");
        }
        // The heaviest of each island, and not how many there are.
        let penguins = one("penguins", &[("body_mass_g", "float64"), ("island", "string")]);
        let (sql, _) = asked(&penguins, &["heaviest penguin", "by island"], false);
        assert!(sql.contains("max(body_mass_g)") && sql.contains("group by island"), "{sql}");
    }

    #[test]
    fn a_word_that_a_value_cuts_short_is_the_value() {
        let mut salaries = one("Salaries", &[("rank", "string"), ("salary", "int64")]);
        let ranks = ["AssocProf", "AsstProf", "Prof"];
        salaries[0].columns[0].values = Some(ranks.map(str::to_owned).to_vec());
        for (question, rank) in [
            ("average salary of professors", "rank = 'Prof'"),
            ("how many professors are there", "rank = 'Prof'"),
            ("average salary of assistant professors", "rank = 'AsstProf'"),
            ("how many associate professors", "rank = 'AssocProf'"),
        ] {
            let (sql, _) = asked(&salaries, &[question], false);
            assert!(sql.contains(rank), "{question}: {sql}");
        }
        let mut tips = one("tips", &[("tip", "float64"), ("day", "string")]);
        tips[0].columns[1].values = Some(["Fri", "Sat", "Sun", "Thur"].map(str::to_owned).to_vec());
        let (sql, _) = asked(&tips, &["average tip on Sundays"], false);
        assert!(sql.contains("\"day\" = 'Sun'"), "{sql}");
        // The name of a column is no value of another.
        let mut songs = one("songs", &[("popular_or_not", "string"), ("popularity", "int64")]);
        songs[0].columns[0].values = Some(vec!["popular".to_owned(), "other".to_owned()]);
        let (sql, _) = asked(&songs, &["average popularity"], false);
        assert!(!sql.contains("where"), "{sql}");
    }

    #[test]
    fn words_are_not_dropped_to_have_an_answer() {
        let stocks = one("stocks", &[("symbol", "string"), ("date", "date"), ("price", "float64")]);
        let (sql, sureness) = asked(&stocks, &["which symbol jiggled most"], false);
        assert!(sureness < ANSWERED, "{sql}");
        let tips = one("tips", &[("tip", "float64"), ("smoker", "bool")]);
        let (sql, _) = asked(&tips, &["do smokers tip more"], false);
        assert!(sql.contains("avg(tip)") && sql.contains("group by smoker"), "{sql}");
    }

    #[test]
    fn each_group_has_a_first_and_a_last_value() {
        let stocks = one("stocks", &[("symbol", "string"), ("date", "date"), ("price", "float64")]);
        for (question, part) in [
            ("latest price per symbol", "round(arg_max(price, \"date\"), 4) as last_price"),
            ("first and last price for each symbol", "round(arg_min(price, \"date\"), 4)"),
            (
                "which symbol grew most from 2005 to 2009",
                "100.0 * (arg_max(price, \"date\") / arg_min(price, \"date\") - 1)",
            ),
        ] {
            let (sql, sureness) = asked(&stocks, &[question], false);
            assert!(sql.contains(part) && ANSWERED <= sureness, "{question}: {sureness} {sql}");
            assert!(sql.contains("group by symbol"), "{question}: {sql}");
        }
    }

    #[test]
    fn a_part_of_a_name_names_the_only_column_that_has_it() {
        let rooms = one(
            "rooms",
            &[
                ("room", "string"),
                ("co2_ppm", "float64"),
                ("screen", "int64"),
                ("approved", "date, 3 missing"),
            ],
        );
        for (question, part) in [
            ("average co2 by room", "avg(co2_ppm)"),
            ("median screen size", "median(screen)"),
            ("rooms not yet approved", "where approved is null"),
            ("average co2 month by month", "group by strftime(approved, '%Y-%m')"),
        ] {
            let (sql, _) = asked(&rooms, &[question], false);
            assert!(sql.contains(part), "{question}: {sql}");
        }
        let (sql, _) = asked(&rooms, &["how many duplicate rows are there?"], false);
        assert!(sql.ends_with("as duplicate_rows"), "{sql}");
    }

    #[test]
    fn two_numbers_against_each_other_are_points_of_each_group() {
        let mut penguins = one(
            "penguins",
            &[
                ("species", "string"),
                ("bill_length_mm", "float64"),
                ("bill_depth_mm", "float64"),
                ("sales", "float64"),
                ("budget", "float64"),
            ],
        );
        let species = ["Adelie", "Gentoo"];
        penguins[0].columns[0].values = Some(species.map(str::to_owned).to_vec());
        for (question, part) in [
            (
                "bill length versus bill depth by species",
                "select bill_length_mm, bill_depth_mm, species from penguins",
            ),
            ("bill length vs bill depth", "select bill_length_mm, bill_depth_mm from penguins"),
            ("budget vs sales by species", "sum(budget)"),
        ] {
            let (sql, _) = asked(&penguins, &[question], false);
            assert!(sql.contains(part), "{question}: {sql}");
        }
    }

    #[test]
    fn simple_claims_are_understood() {
        let penguins = one(
            "penguins",
            &[
                ("species", "string"),
                ("sex", "string, 11 missing"),
                ("year", "int64"),
                ("seen", "date"),
            ],
        );
        for (claim, part) in [
            ("penguins has at least 300 rows", "count(*) >= 300"),
            ("the file has 4 rows", "count(*) = 4"),
            ("the data contains more than 4 rows", "count(*) > 4"),
            ("at least 90% of rows have a sex", "where sex is not null) / count(*) >= 90"),
            ("species and seen together are unique", "(partition by species, seen)"),
            ("the combination of species and seen is unique", "(partition by species, seen)"),
            ("year is 2007, 2008 or 2009", "not (\"year\" in (2007, 2008, 2009))"),
            ("year is 2007", "not (\"year\" = 2007)"),
            ("year is always within 2007 to 2009", "not (\"year\" >= 2007 and \"year\" <= 2009)"),
            ("every penguin has a seen date", "where seen is null"),
            ("the values in the species column are unique", "(partition by species)"),
        ] {
            let (sql, sureness) = asked(&penguins, &[claim], true);
            assert!(sql.contains(part) && ANSWERED <= sureness, "{claim}: {sql}");
        }
    }

    /// Returns orders of which each customer has several.
    fn orders() -> Vec<Table> {
        let columns = [
            ("order_id", "int64"),
            ("customer_id", "int64"),
            ("email", "string, 9 missing"),
            ("cancelled", "bool"),
            ("open", "bool"),
            ("total", "int64"),
            ("units", "int64"),
        ];
        let mut tables = one("orders", &columns);
        tables[0].columns[1].n_distinct = Some(20);
        tables
    }

    #[test]
    fn a_number_before_a_noun_for_rows_counts_rows() {
        let orders = orders();
        for (claim, parts) in [
            ("at most 5 orders are cancelled", ["count(*) <= 5", "where cancelled"]),
            ("no more than 5 orders are cancelled", ["count(*) <= 5", "where cancelled"]),
            ("fewer than 5 orders are cancelled", ["count(*) < 5", "where cancelled"]),
            ("more than five orders are open", ["count(*) > 5", "where open"]),
            ("exactly 1 order is open", ["count(*) = 1", "where open"]),
            ("at least 2 rows that are open", ["count(*) >= 2", "where open"]),
            ("one or more orders are open", ["count(*) >= 1", "where open"]),
            ("5 or fewer orders are open", ["count(*) <= 5", "where open"]),
            ("there must be at most 70 open orders", ["count(*) <= 70", "where open"]),
            ("there are open orders", ["count(*) >= 1", "where open"]),
            ("there are cancelled ones", ["count(*) >= 1", "where cancelled"]),
            ("there must be no open orders", ["select * from", "where open"]),
            ("at most 3 orders have a total over 100", ["count(*) <= 3", "where total > 100"]),
            ("at most 3 orders have 9 units", ["count(*) <= 3", "where units = 9"]),
            (
                "at most 9 customers have no email",
                ["count(distinct customer_id) <= 9", "email is null"],
            ),
            ("no more than 10 customers are open", ["count(distinct customer_id) <= 10", "open"]),
            // A number behind the noun, or before a column, is a value.
            ("orders over 100 are open", ["select * from", "where total > 100"]),
            ("every order has at least 1 unit", ["select * from", "not (units >= 1)"]),
        ] {
            let (sql, sureness) = asked(&orders, &[claim], true);
            let has_all = parts.iter().all(|it| sql.contains(it));
            assert!(has_all && ANSWERED <= sureness, "{claim}: {sureness} {sql}");
        }
        // What is not understood is refused, and not taken for a value.
        for claim in [
            "2 orders are open",
            "only 1 order is open",
            "a maximum of 5 orders are open",
            "no customer has more than 5 orders",
            "all 5 orders are open",
            "more than half of the orders are open",
        ] {
            let (sql, sureness) = asked(&orders, &[claim], true);
            assert!(sureness < ANSWERED, "{claim}: {sureness} {sql}");
        }
    }

    #[test]
    fn what_says_of_which_rows_a_claim_is_limits_it() {
        let orders = orders();
        for (claim, part) in [
            ("total is over 50 for open orders", "where open and not (total > 50)"),
            ("total is over 50 for orders that are open", "where open and not (total > 50)"),
            ("email is missing for open orders", "where open and not (email is null)"),
            ("no open orders are over 50", "where open and total > 50"),
            ("units is at least 2 in all cancelled orders", "where cancelled and not (units >= 2)"),
            (
                "email ends with '.com' or '.org'",
                "not ((email ilike '%.com' or email ilike '%.org'))",
            ),
            ("email starts with 'a', 'b' or 'c'", "or email ilike 'b%' or email ilike 'c%'))"),
        ] {
            let (sql, sureness) = asked(&orders, &[claim], true);
            assert!(sql.contains(part) && ANSWERED <= sureness, "{claim}: {sureness} {sql}");
        }
    }

    #[test]
    fn the_last_day_of_a_period_belongs_to_it() {
        let events = one("events", &[("id", "int64"), ("seen", "timestamp")]);
        let through = "seen < date '2024-07-01'";
        for (question, part) in [
            ("how many rows until 2024-06-30", through),
            ("how many rows up to 2024-06-30", through),
            ("how many rows through 2024-06-30", through),
            ("how many rows no later than 2024-06-30", through),
            ("how many rows not after 2024-06-30", through),
            ("how many rows on or before 2024-06-30", through),
            ("how many rows from 2024-06-01 until 2024-06-30", through),
            ("how many rows not before 2024-06-30", "seen >= date '2024-06-30'"),
            ("how many rows starting 2024-06-30", "seen >= date '2024-06-30'"),
            ("how many rows after 2024-06-30", "seen >= date '2024-07-01'"),
            ("how many rows before 2024-06-30", "seen < date '2024-06-30'"),
            ("how many rows up to June 2024", through),
        ] {
            let (sql, sureness) = asked(&events, &[question], false);
            assert!(sql.contains(part) && ANSWERED <= sureness, "{question}: {sureness} {sql}");
        }
        let (sql, sureness) = asked(&events, &["seen is 2024-06-01 - 2024-06-30"], true);
        assert!(sureness < ANSWERED, "{sql}");
    }

    #[test]
    fn a_bound_that_may_be_a_number_is_no_year() {
        let columns = [("order_id", "int64"), ("day", "date"), ("total", "float64")];
        let orders = one("orders", &columns);
        for (question, part) in [
            ("how many orders over 2000", "total > 2000"),
            ("how many orders over 1999", "total > 1999"),
            ("orders under 1900", "total < 1900"),
            ("orders at most 2000", "total <= 2000"),
            ("orders later than 2000", "\"day\" >= date '2001-01-01'"),
            ("orders no later than 2000", "\"day\" < date '2001-01-01'"),
            ("how many orders with day over 2000", "year(\"day\") > 2000"),
        ] {
            let (sql, _) = asked(&orders, &[question], false);
            assert!(sql.contains(part), "{question}: {sql}");
        }
    }

    #[test]
    fn a_column_is_said_with_its_table_behind_it() {
        let mut tables = one("orders", &[("order_id", "int64"), ("amount", "float64")]);
        tables
            .extend(one("items", &[("order_id", "int64"), ("line", "int64"), ("units", "int64")]));
        for (claim, part) in [
            ("order_id is unique in orders", "from orders where order_id is not null qualify"),
            ("is order_id unique in orders", "from orders where order_id is not null qualify"),
            ("order_id is unique in items", "from items where order_id is not null qualify"),
            ("units in items is positive", "from items where not (units > 0)"),
            ("amount of the orders is positive", "from orders where not (amount > 0)"),
        ] {
            let (sql, sureness) = asked(&tables, &[claim], true);
            assert!(sql.contains(part) && ANSWERED <= sureness, "{claim}: {sureness} {sql}");
        }
    }

    #[test]
    fn values_that_are_kept_back_are_counted_and_not_computed_with() {
        let mut salaries = one("Salaries", &[("sex", "string"), ("salary", "string")]);
        let text =
            "The user keeps back values of these columns: \"sal\", \"salary\". Texts that begin";
        mark_kept_back(&mut salaries, text);
        let joins = Joins::default();
        let kept = |question: &str| {
            let turn = Turn { question: question.to_owned(), pick: None, calls: Vec::new() };
            let asked = Asked {
                tables: &salaries,
                joins: &joins,
                lexicon: &ENGLISH,
                wants_verdict: false,
                turn: &turn,
                last: None,
            };
            asked.kept_back(asked.read().0.first())
        };
        for question in ["average salary by sex", "highest salary", "salary over 100000"] {
            assert_eq!(kept(question).as_deref(), Some("salary"), "{question}");
        }
        for question in
            ["how many rows per salary", "how many rows by sex", "how many different salaries"]
        {
            assert_eq!(kept(question), None, "{question}");
        }
    }

    #[test]
    fn two_claims_are_not_read_as_one() {
        let claims = BTreeMap::from([
            (
                "no amount below 0 and no customer is missing",
                ["no amount below 0", "no customer is missing"],
            ),
            (
                "no amount below 0, no customer is missing",
                ["no amount below 0", "no customer is missing"],
            ),
            (
                "no amount below 0; no customer is missing.",
                ["no amount below 0", "no customer is missing"],
            ),
            (
                "order_id is unique and no amount below 0",
                ["order_id is unique", "no amount below 0"],
            ),
            ("order_id is unique. no amount below 0.", ["order_id is unique", "no amount below 0"]),
            (
                "order_id is never empty and amount is positive",
                ["order_id is never empty", "amount is positive"],
            ),
            ("no amount below 0 and no price below 0", ["no amount below 0", "no price below 0"]),
            (
                "there are no duplicate rows and no amount below 0",
                ["there are no duplicate rows", "no amount below 0"],
            ),
        ]);
        for (question, parts) in claims {
            assert_eq!(two(question), Some(parts.map(str::to_owned)), "{question}");
        }
        for question in [
            "every price is between -5 and 5",
            "no order is paid with a price below 0",
            "amount is 1 or 2",
        ] {
            assert_eq!(two(question), None, "{question}");
        }
    }

    #[test]
    fn ranges_of_a_number_are_groups() {
        let ten = "floor(sleep_hours / 10) * 10 as sleep_hours_from";
        says("revenue by sleep hours in bands of 10", ten);
        says("histogram of sleep hours in steps of 10", ten);
        says("how many sales per 10 hour sleep hours band", ten);
    }

    #[test]
    fn a_chart_of_single_values_computes_their_quartiles() {
        let boxes = "select product, round(median(revenue), 4)";
        for question in [
            "box plot of revenue by product",
            "boxplots of revenue per product",
            "distribution of revenue by product",
        ] {
            says(question, boxes);
        }
        let last = |question: &str| Last::new(read(question, false, None), 0.9, &[], &sales());
        for (before, question) in [
            ("average revenue by product", "as a box plot"),
            ("distribution of revenue", "by product"),
        ] {
            let readings = read(question, false, Some(&last(before)));
            assert!(sql(&readings[0]).starts_with(boxes), "{question}: {}", sql(&readings[0]));
        }
        says("histogram of sleep hours", "as \"from\"");
        let readings = read("as a heatmap", false, Some(&last("revenue by product and overtime")));
        assert_eq!(readings[0].query.chart, Some(Chart::Heat));
    }

    #[test]
    fn panels_and_a_logarithmic_axis_are_asked_of_a_chart() {
        let look = |question: &str| {
            let query = read(question, false, None).swap_remove(0).query;
            (query.chart, query.look.log_axis, query.look.panels.is_some())
        };
        let (any, line) = (Some(Chart::Any), Some(Chart::Line));
        for (question, expected) in [
            ("average revenue by product on a log scale", (any, Some(LogAxis::Y), false)),
            ("line chart of revenue by month, log axis", (line, Some(LogAxis::Y), false)),
            ("revenue by month and product, one panel per product", (any, None, true)),
            ("revenue by month, one panel per product", (any, None, true)),
            ("small multiples of revenue by month for each product", (any, None, true)),
            ("revenue by month and product in panels", (any, None, true)),
        ] {
            assert_eq!(look(question), expected, "{question}");
        }
        let of = |question: &str| sql(&read(question, false, None).swap_remove(0));
        let twice = of("revenue by month and product, one panel per product");
        assert_eq!(twice, of("revenue by month, one panel per product"));
        let query =
            read("histogram of sleep hours in steps of 10", false, None).swap_remove(0).query;
        assert_eq!(query.chart, Some(Chart::Histogram));
    }

    #[test]
    fn a_total_of_nothing_else_is_that_of_what_adds_up() {
        says("total by product", "group by product");
        says("totals by product, as a table and a chart", "sum(revenue)");
        says("revenue by product for each row", "sum(revenue)");
    }

    #[test]
    fn a_column_named_by_its_unit_is_what_is_measured() {
        let text = "- jobs: 90 rows, 3 columns\n  - \"team\" string\n  - \"hrs\" float64\n  - \"unit_price_usd\" float64\n";
        let tables = of_instructions(text, &ENGLISH);
        let first = |question: &str| {
            let turn = Turn { question: question.to_owned(), pick: None, calls: Vec::new() };
            let (joins, tables) = (Joins::default(), &tables);
            let (lexicon, turn) = (&ENGLISH, &turn);
            let asked =
                Asked { tables, joins: &joins, lexicon, wants_verdict: false, turn, last: None };
            crate::sql::statement(&asked.read().0[0].query, tables, 4).sql
        };
        assert!(
            first("total hours by team").contains("sum(hrs)"),
            "{}",
            first("total hours by team")
        );
        // What one piece costs is no total of what is spent.
        assert!(
            first("spending by team").contains("avg(unit_price_usd)"),
            "{}",
            first("spending by team")
        );
    }

    #[test]
    fn what_says_nothing_of_a_claim_does_not_stop_it() {
        for claim in [
            "no revenue below 0, right?",
            "revenue is never below 0 on every row",
            "is product unique in sales?",
            "is the combination of day and product unique?",
        ] {
            let readings = read(claim, true, None);
            let is_check = matches!(readings[0].query.body, Shape::Check(_));
            assert!(is_check && ANSWERED <= sureness(&readings, None), "{claim}");
        }
    }

    #[test]
    fn the_smaller_unit_of_a_chart_is_a_part_of_the_larger() {
        says("heatmap of revenue by month and year", "month(\"day\") as \"month\"");
        says("100 % stacked bars of revenue by product and overtime", "sum(revenue)");
        let readings = read("100 % stacked bars of revenue by product and overtime", false, None);
        assert_eq!(readings[0].query.chart, Some(Chart::Shares));
    }

    #[test]
    fn the_most_common_of_each_group_is_its_mode() {
        says("most common product by day", "mode(product)");
    }

    #[test]
    fn two_parts_are_compared_by_a_number() {
        says("ratio of revenue with overtime to without overtime", "1.0 * a / b");
        let more = "a > b as holds";
        says("is the mean revenue in 2017 higher than in 2016?", more);
        let claim = read("the mean revenue in 2017 was higher than in 2016", true, None);
        assert!(sql(&claim[0]).contains(more), "{}", sql(&claim[0]));
    }

    /// Returns the first reading of a question about a table, as SQL in one line.
    fn first(tables: &[Table], question: &str) -> String {
        asked(tables, &[question], false).0
    }

    #[test]
    fn what_is_spent_is_the_amount_of_a_table() {
        let columns = [("team", "string"), ("Line Total (USD)", "float64"), ("paid_on", "date")];
        let orders = one("orders", &columns);
        for question in ["total spend by team", "spend by team", "plot monthly spend over time"] {
            let found = first(&orders, question);
            assert!(found.contains("sum(\"Line Total (USD)\")"), "{question}: {found}");
        }
    }

    #[test]
    fn the_hottest_has_the_highest_maximum() {
        let columns = [("date", "date"), ("temp_max", "float64"), ("temp_min", "float64")];
        let found = first(&one("weather", &columns), "hottest day");
        assert!(found.contains("max(temp_max)"), "{found}");
    }

    #[test]
    fn what_is_annual_is_no_year() {
        let columns = [("team", "string"), ("annual_budget_usd", "int64")];
        let teams = one("teams", &columns);
        for question in ["total annual budget", "overall budget", "how much budget in total"] {
            let found = first(&teams, question);
            assert!(found.contains("sum(annual_budget_usd)"), "{question}: {found}");
        }
    }

    #[test]
    fn ranking_and_sorting_are_by_a_number() {
        says("rank the sales by revenue", "from sales order by revenue desc");
        says("sort the products by revenue", "order by sum(revenue) desc");
        says("revenue and delays by product in terms of sleep hours", "sleep_hours");
    }

    #[test]
    fn all_of_a_list_are_no_groups() {
        says("list all products", "select distinct product");
        says("average revenue of all products", "avg(revenue)");
    }

    #[test]
    fn what_happened_each_year_is_counted_by_its_own_time() {
        let columns = [("device", "string"), ("installed", "date"), ("checked", "date")];
        let devices = one("devices", &columns);
        let found = first(&devices, "how many devices were installed each year");
        assert!(found.contains("group by year(installed)"), "{found}");
        assert!(found.starts_with("select year(installed) as"), "{found}");
    }

    /// Returns a table of yields of two places whose values are known.
    fn yields() -> Vec<Table> {
        let mut yields =
            one("barley", &[("site", "string"), ("year", "int64"), ("yield", "float64")]);
        let column = &mut yields[0].columns[0];
        column.values = Some(vec!["Morris".to_owned(), "Waseca".to_owned()]);
        column.n_distinct = Some(2);
        yields
    }

    #[test]
    fn values_are_compared_by_the_only_number() {
        let (tables, lexicon) = (&yields(), &ENGLISH);
        let head = json!([
            {"column": "site", "value": "Morris", "found": "whole", "n": 9},
            {"column": "site", "value": "Waseca", "found": "whole", "n": 9},
        ]);
        for question in [
            "compare Morris and Waseca",
            "compare Morris and Waseca in 1932",
            "compare Morris and Waseca in terms of yield",
        ] {
            let tokens = lexicon.words.tokens(question);
            let finds = values::finds(question, &tokens, tables, lexicon).into_iter().take(1);
            let calls = finds.map(|(name, arguments)| Done {
                name: name.to_owned(),
                arguments,
                output: json!({"head": head}),
            });
            let turn = &Turn { question: question.to_owned(), pick: None, calls: calls.collect() };
            let joins = &Joins::default();
            let asked = Asked { tables, joins, lexicon, wants_verdict: false, turn, last: None };
            let found = crate::sql::statement(&asked.read().0[0].query, tables, 4).sql;
            let is_read = found.contains("avg(yield)") && found.contains("group by site");
            assert!(is_read, "{question}: {found}");
        }
    }

    #[test]
    fn two_years_are_compared_by_a_number_that_is_a_verb() {
        let found = first(&yields(), "did Morris yield more in 1932 than in 1931?");
        assert!(found.contains("a > b as holds") && found.contains("avg(yield)"), "{found}");
    }

    #[test]
    fn numbers_with_decimals_are_groups_if_they_are_few() {
        let mut trial = one("trial", &[("stage", "float64"), ("bili", "float64")]);
        let sureness = |trial: &[Table]| asked(trial, &["mean bili by stage"], false).1;
        let of_many = sureness(&trial);
        trial[0].columns[0].n_distinct = Some(4);
        assert!(of_many < ANSWERED && ANSWERED <= sureness(&trial), "{of_many}");
    }

    #[test]
    fn a_value_that_is_called_as_a_column_is_hardly_meant() {
        let mut countries = one("countries", &[("country", "string"), ("ID", "string")]);
        countries[0].columns[1].values = Some(vec!["DE".to_owned(), "ID".to_owned()]);
        let found = first(&countries, "which country has no ID?");
        assert!(found.contains("\"ID\" is null"), "{found}");
    }

    #[test]
    fn correlations_are_with_one_number_or_of_all() {
        says("what is most related to revenue?", "order by abs(correlation) desc");
        says("correlation matrix", "corr(revenue, arr_delay)");
    }
}
