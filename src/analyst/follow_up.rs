//! From a question to its reading: which tables it is about, which values it names, what it takes up of
//! the question before.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::json;

use csv_agent_types::limits::CHART_ROWS_MAX;

use super::answer::{self, Answer};
use super::ground::{self, Facts, Held, Mark, Meaning, Place};
use super::lexicon::{Concept, Cue};
use super::parse::{self, Doubt, Scene};
use super::reading::{Check, Reading, What};
use super::schema::{Column, Kind, Table};
use super::transcript::Turn;
use super::words::Token;
use super::{Asked, Call, Next, WORDS_MAX, code, look, suggest};

/// Values that a question looks up at most: what the tool allows, and some to spare.
const FINDS_MAX: usize = 24;
/// What may stand between two claims.
const BETWEEN_CLAIMS: [&str; 6] = [" and ", ", ", "; ", ". ", " but ", " & "];
/// The pattern that all datasets match.
const ALL: &str = "*";
/// Tables that are tried two by two.
const JOINED_MAX: usize = 12;
/// Columns of text that are looked through for a misspelled value.
const LOOKED_MAX: usize = 30;
/// Rows up to which they are.
const LOOKED_ROWS_MAX: u64 = 2_000_000;

/// A question that was read.
#[derive(Debug)]
pub(crate) struct Found {
    /// The tables that it is about.
    pub tables: Vec<usize>,
    /// What it asks.
    pub reading: Reading,
    /// How much of it was placed.
    weight: usize,
}

/// What is known of a question.
pub(crate) enum Understood {
    /// What it asks.
    Read(Box<Found>),
    /// What has to be looked up first.
    Look(Vec<Call>),
    /// Why it is not understood.
    Not(Doubt),
}

impl Asked<'_> {
    /// Decides what to do next.
    pub(super) fn next(&self) -> Next {
        let found = match self.understand() {
            Understood::Look(calls) => return Next::Calls(calls),
            Understood::Not(doubt) => return self.refuse(doubt),
            Understood::Read(found) => found,
        };
        // The second claim would be a condition of the first, and broken data would pass.
        if matches!(found.reading.what, What::Check(_))
            && let Some(claims) = self.two_claims()
        {
            return self.refuse(Doubt::Two(claims));
        }
        let tables = self.of(&found.tables);
        let next = self.compute(&found.reading, &tables);
        // Groups of one row each are the rows: `summer games with more than 10,000 participants`.
        match next {
            Err(_) if found.reading.is_list() => {
                let rows = Reading { what: What::ROWS, ..found.reading };
                self.compute(&rows, &tables).unwrap_or_else(Next::Refuse)
            }
            next => next.unwrap_or_else(Next::Refuse),
        }
    }

    fn refuse(&self, doubt: Doubt) -> Next {
        let doubt = self.explained(doubt);
        let nearest = self.nearest(&doubt);
        let can_read = |question: &str| self.can_read(question);
        let nearest = nearest.as_deref();
        Next::Refuse(suggest::refusal(&doubt, nearest, self.tables, self.lexicon, &can_read))
    }

    /// Returns the two claims that a question makes, if each can be judged by itself.
    fn two_claims(&self) -> Option<[String; 2]> {
        let question = self.turn.question.trim().trim_end_matches(['.', '?', '!']);
        let is_check = |part: &str| {
            let turn = Turn { question: part.to_owned(), calls: self.turn.calls.clone() };
            let other = Asked {
                turn: &turn,
                last: None,
                last_tables: &[],
                wants_verdict: true,
                is_lost: false,
                grounded: RefCell::default(),
                ..*self
            };
            let tokens = self.lexicon.words.tokens(part);
            let Understood::Read(found) = other.read(&tokens, &self.singles()) else {
                return false;
            };
            // `open, closed` are values of one claim.
            let names = |mark: &Mark| !matches!(mark.meaning, Meaning::Value(_) | Meaning::Stop);
            let is_named = other.marks(&tokens, &found.tables).iter().any(names);
            is_named && matches!(found.reading.what, What::Check(_))
        };
        let splits = BETWEEN_CLAIMS.iter().flat_map(|it| question.match_indices(it));
        let parts = splits
            .map(|(at, between)| [question[..at].trim(), question[at + between.len()..].trim()]);
        let mut both = parts.filter(|it| it.iter().all(|part| !part.is_empty() && is_check(part)));
        both.next().map(|it| it.map(str::to_owned))
    }

    /// Returns why a question has no reading, as far as the data or the question before is the reason.
    fn explained(&self, doubt: Doubt) -> Doubt {
        let tokens = self.lexicon.words.tokens(&self.turn.question);
        let is_said = |column: &Column| {
            let says = |word: &String| tokens.iter().any(|token| token.stem == *word);
            !column.words.is_empty() && column.words.iter().all(says)
        };
        let is_name = |words: &[String], column: &Column| {
            let tokens = self.lexicon.words.tokens(&words.join(" "));
            tokens.iter().all(|token| column.words.contains(&token.stem))
        };
        let mut tables = self.tables.iter().filter(|it| 0 < it.n_rows);
        let empty = tables.find_map(|table| {
            let mut columns = table.columns.iter().filter(|it| it.n_missing == table.n_rows);
            columns.find(|it| is_said(it))
        });
        match (doubt, empty) {
            (Doubt::Unasked, Some(column)) => Doubt::Empty(column.name.clone()),
            (Doubt::Unplaced(words), Some(column)) if is_name(&words, column) => {
                Doubt::Empty(column.name.clone())
            }
            (Doubt::Unasked, None) if self.is_lost => Doubt::Lost,
            (doubt, _) => doubt,
        }
    }

    /// Returns whether a question would be answered from what is known without a look at the data.
    fn can_read(&self, question: &str) -> bool {
        let tokens = self.lexicon.words.tokens(question);
        let turn = Turn { question: question.to_owned(), calls: Vec::new() };
        let other = Asked {
            turn: &turn,
            last: None,
            last_tables: &[],
            wants_verdict: false,
            is_lost: false,
            grounded: RefCell::default(),
            ..*self
        };
        matches!(other.read(&tokens, &self.singles()), Understood::Read(_))
    }

    /// Returns the question about rows instead of things that nobody knows, when that can be answered.
    fn nearest(&self, doubt: &Doubt) -> Option<String> {
        let Doubt::Unplaced(words) = doubt else { return None };
        let [thing] = &words[..] else { return None };
        if thing.contains(' ') || !thing.ends_with('s') {
            return None;
        }
        let question = self.turn.question.replacen(thing.as_str(), "rows", 1);
        let turn = Turn { question: question.clone(), calls: self.turn.calls.clone() };
        let other = Asked { turn: &turn, grounded: RefCell::default(), ..*self };
        matches!(other.understand(), Understood::Read(_)).then_some(question)
    }

    /// Decides what to do next to compute a reading.
    ///
    /// # Errors
    ///
    /// Fails when the result answers nothing, with the reason.
    fn compute(&self, reading: &Reading, tables: &[&Table]) -> Result<Next, String> {
        let plan = code::program(reading, tables, 4);
        let mut heads = Vec::new();
        let mut calls = Vec::new();
        for load in &plan.loads {
            let name = &tables[load.table].name;
            let (tool, arguments) = if load.columns.is_empty() {
                ("load_dataset_full", json!({"name": name, "df_name": load.variable}))
            } else {
                let columns = &load.columns;
                (
                    "load_dataset_columns",
                    json!({"name": name, "columns": columns, "df_name": load.variable}),
                )
            };
            match self.turn.done(tool, &arguments) {
                Some(done) => heads.push(done),
                None => calls.push((tool, arguments)),
            }
        }
        if !calls.is_empty() {
            return Ok(Next::Calls(calls));
        }
        if let Some(error) = heads.iter().find_map(|it| it.error()) {
            return Ok(Next::Refuse(answer::failed(error)));
        }
        let decimals = answer::decimals(&heads);
        let program = code::program(reading, tables, decimals);
        let arguments = json!({"code": program.code});
        let Some(done) = self.turn.done("python_repl", &arguments) else {
            return Ok(Next::Calls(vec![("python_repl", arguments)]));
        };
        if let Some(error) = done.error() {
            return Ok(Next::Refuse(answer::failed(error)));
        }
        // More points than a chart has are told by month.
        let n_rows = done.output["row_count"].as_u64().unwrap_or_default();
        if reading.may_be_months && n_rows > CHART_ROWS_MAX as u64 {
            return self.compute(&reading.by_month(n_rows), tables);
        }
        let answer = Answer::new(reading, tables, &program, &done.output);
        if let Some(reason) = answer.says_nothing() {
            return Err(reason);
        }
        let shown = answer.shown(self.turn);
        if !shown.is_empty() {
            return Ok(Next::Calls(shown));
        }
        let rows = match answer.rows_to_name() {
            Some(code) if self.wants_verdict => {
                let call = ("python_repl", json!({"code": code}));
                let Some(done) = self.turn.done(call.0, &call.1) else {
                    return Ok(Next::Calls(vec![call]));
                };
                serde_json::from_str(done.output["stdout"].as_str().unwrap_or_default()).ok()
            }
            _ => None,
        };
        let answer = answer.finished(self.turn);
        let verdict = answer.with_verdict(&rows.unwrap_or_else(|| json!([])), self.turn);
        Ok(Next::Say(answer.text, verdict))
    }

    /// Reads the question as far as what was looked up allows.
    pub(super) fn understand(&self) -> Understood {
        let tokens = self.lexicon.words.tokens(&self.turn.question);
        if WORDS_MAX < tokens.len() {
            return Understood::Not(Doubt::Long(tokens.len()));
        }
        let singles = self.singles();
        let finds = self.finds(&tokens);
        if !finds.is_empty() {
            return Understood::Look(finds);
        }
        let flags = self.flags(&tokens);
        if !flags.is_empty() {
            return Understood::Look(flags);
        }
        let outcome = self.read(&tokens, &singles);
        let looks = self.looks(&tokens, matches!(outcome, Understood::Read(_)));
        if looks.is_empty() { outcome } else { Understood::Look(looks) }
    }

    /// Returns each table alone.
    fn singles(&self) -> Vec<Vec<usize>> {
        (0..self.tables.len()).map(|it| vec![it]).collect()
    }

    fn read(&self, tokens: &[Token], singles: &[Vec<usize>]) -> Understood {
        let mut found: Vec<Found> = Vec::new();
        let mut doubts: Vec<(usize, Doubt)> = Vec::new();
        let mut try_tables = |tables: &[usize], found: &mut Vec<Found>| {
            let (marks, outcome) = self.parsed(tokens, tables);
            let n_open = marks.iter().filter(|it| it.meaning == Meaning::Unknown).count();
            match outcome {
                Ok(_) if self.is_named_elsewhere(tokens, &marks, tables) => {
                    doubts.push((n_open, Doubt::Unasked));
                }
                Ok(reading) => {
                    let weight = weight(&marks);
                    found.push(Found { tables: tables.to_vec(), reading, weight });
                }
                Err(doubt) => doubts.push((n_open, doubt)),
            }
        };
        if self.continues(tokens) && !self.last_tables.is_empty() {
            try_tables(self.last_tables, &mut found);
        }
        if found.is_empty() {
            for tables in singles {
                try_tables(tables, &mut found);
            }
        }
        let named = self.named(tokens);
        if found.is_empty() || needs_two(&found, &named) {
            let mut joined = Vec::new();
            for one in singles.iter().take(JOINED_MAX) {
                for other in singles.iter().take(JOINED_MAX) {
                    if one != other {
                        try_tables(&[one[0], other[0]], &mut joined);
                    }
                }
            }
            // Rows are those of the larger table; what refers to another is told first.
            joined.retain(|it| {
                let [one, other] = [it.tables[0], it.tables[1]];
                match it.reading.what {
                    What::Check(Check::Refers(_)) => {
                        self.position(tokens, one) < self.position(tokens, other)
                    }
                    _ => self.tables[other].n_rows <= self.tables[one].n_rows,
                }
            });
            if !joined.is_empty() && !found.is_empty() {
                found.retain(|it| matches!(it.reading.what, What::Check(Check::Refers(_))));
                joined.retain(|it| named.iter().any(|named| it.tables.contains(named)));
            }
            found.append(&mut joined);
        }
        // What is asked of films and ratings is asked of both.
        found.retain(|it| named.iter().all(|of| self.has_part_in(*of, &it.tables)));
        found.sort_by_key(|it| {
            let n_named = it.tables.iter().filter(|it| named.contains(it)).count();
            (
                std::cmp::Reverse(n_named),
                std::cmp::Reverse(it.weight),
                self.position(tokens, it.tables[0]),
                it.tables.clone(),
            )
        });
        if let [one, other, ..] = &found[..] {
            let n_said = |it: &Found| it.tables.iter().filter(|it| named.contains(it)).count();
            if one.weight == other.weight
                && self.position(tokens, one.tables[0]) == self.position(tokens, other.tables[0])
                && n_said(one) == n_said(other)
                && one.tables.len() == other.tables.len()
            {
                let of: Vec<String> =
                    found.iter().map(|it| self.tables[it.tables[0]].name.clone()).collect();
                let last = self.last_tables.to_vec();
                if !found.iter().any(|it| it.tables == last) {
                    return Understood::Not(Doubt::Ambiguous(self.turn.question.clone(), of));
                }
                found.retain(|it| it.tables == last);
            }
        }
        if let Some(found) = found.into_iter().next() {
            if let Some(doubt) = self.held_elsewhere(tokens, &found.tables) {
                return Understood::Not(doubt);
            }
            return Understood::Read(Box::new(found));
        }
        doubts.sort_by_key(|it| it.0);
        Understood::Not(doubts.into_iter().next().map_or(Doubt::Unasked, |it| it.1))
    }

    /// Returns whether a table that the question names is one of those that it was read in, or a column of
    /// them is called so.
    fn has_part_in(&self, named: usize, tables: &[usize]) -> bool {
        let words = &self.tables[named].words;
        let is_called_so =
            |it: &usize| self.tables[*it].columns.iter().any(|it| it.words == *words);
        tables.contains(&named) || tables.iter().any(is_called_so)
    }

    /// Returns the doubt about a value that a name in another table is as well: the composer, or the artist
    /// Queen.
    fn held_elsewhere(&self, tokens: &[Token], tables: &[usize]) -> Option<Doubt> {
        let marks = self.marks(tokens, tables);
        for other in (0..self.tables.len()).filter(|it| !tables.contains(it)) {
            let facts = self.facts(tokens, &[other]);
            let join = parse::join_of(&self.of(&[tables[0], other]), self.lexicon);
            for mark in &marks {
                let Meaning::Value(held) = &mark.meaning else { continue };
                let text = &self.turn.question[tokens[mark.start].start..tokens[mark.end - 1].end];
                let is_within = held.iter().all(|it| it.spellings.is_empty());
                let is_other = |it: &&Held| {
                    let is_title = self.tables[other].columns[it.place.column].is_title;
                    let is_key = |own: &Held| {
                        join.as_ref().is_some_and(|join| {
                            join.left.column == own.place.column
                                && join.right.column == it.place.column
                        })
                    };
                    let is_same = held.iter().any(is_key);
                    !it.spellings.is_empty() && (is_title || is_within) && !is_same
                };
                let found = facts.values.get(&text.to_lowercase());
                if let Some(found) = found.into_iter().flatten().find(is_other) {
                    let name = |table: usize, column: usize| {
                        let table = &self.tables[table];
                        format!("{}.{}", table.name, table.columns[column].name)
                    };
                    let own = held.iter().map(|it| name(tables[it.place.table], it.place.column));
                    let all = own.chain([name(other, found.place.column)]).collect();
                    return Some(Doubt::Ambiguous(text.to_owned(), all));
                }
            }
        }
        None
    }

    /// Returns whether a word that names a column of another table in full was understood as less here.
    fn is_named_elsewhere(&self, tokens: &[Token], marks: &[Mark], tables: &[usize]) -> bool {
        let has = |table: usize, stems: &[&str]| {
            self.tables[table].columns.iter().any(|it| it.words == stems)
        };
        // `park names`, which are told there.
        let is_elsewhere = |stems: &[&str]| {
            !tables.iter().any(|it| has(*it, stems))
                && (0..self.tables.len()).any(|it| !tables.contains(&it) && has(it, stems))
        };
        let stems: Vec<&str> = tokens.iter().map(|it| it.stem.as_str()).collect();
        if stems.windows(2).chain(stems.windows(3)).any(is_elsewhere) {
            return true;
        }
        marks.iter().any(|mark| {
            let words = &tokens[mark.start..mark.end];
            let stems: Vec<&str> = words.iter().map(|it| it.stem.as_str()).collect();
            let is_weak = match mark.meaning {
                Meaning::Column(_)
                | Meaning::Noun
                | Meaning::Word(Concept::Share | Concept::Rows) => true,
                Meaning::Stop => stems.iter().all(|it| self.lexicon.is_filler(it)),
                _ => false,
            };
            is_weak
                && !tables.iter().any(|it| has(*it, &stems))
                && (0..self.tables.len()).any(|it| !tables.contains(&it) && has(it, &stems))
        })
    }

    /// Returns the tables that the question names. A name within a longer one is not said: `orders` in
    /// `orders-july`.
    fn named(&self, tokens: &[Token]) -> Vec<usize> {
        let spans: Vec<_> = (0..self.tables.len()).map(|it| self.span(tokens, it)).collect();
        let is_said = |span: &Range<usize>| {
            let holds = |it: &Range<usize>| {
                it.len() > span.len() && it.start <= span.start && span.end <= it.end
            };
            !spans.iter().flatten().any(holds)
        };
        (0..spans.len()).filter(|it| spans[*it].as_ref().is_some_and(is_said)).collect()
    }

    /// Returns where the question names a table; its length when it does not.
    fn position(&self, tokens: &[Token], table: usize) -> usize {
        self.span(tokens, table).map_or(tokens.len(), |it| it.start)
    }

    fn span(&self, tokens: &[Token], table: usize) -> Option<Range<usize>> {
        let table = &self.tables[table];
        let n_words = table.words.len().max(1);
        let stems: Vec<String> = tokens.iter().map(|it| it.stem.clone()).collect();
        (0..tokens.len()).find_map(|at| {
            if table.is_quoted(&tokens[at]) {
                return Some(at..at + 1);
            }
            // A name in one word may be said in two.
            (n_words..=n_words + 1)
                .map(|n| at..at + n)
                .find(|it| stems.get(it.clone()).is_some_and(|it| table.is_called(it)))
        })
    }

    /// Returns whether a question takes up the one before.
    fn continues(&self, tokens: &[Token]) -> bool {
        self.last.is_some() && tokens.len() <= 12
    }

    fn of(&self, tables: &[usize]) -> Vec<&Table> {
        tables.iter().map(|it| &self.tables[*it]).collect()
    }

    /// Grounds the question in some of the tables.
    fn marks(&self, tokens: &[Token], tables: &[usize]) -> Vec<Mark> {
        if let Some(marks) = self.grounded.borrow().get(tables) {
            return marks.clone();
        }
        let facts = self.facts(tokens, tables);
        let of = self.of(tables);
        let marks = ground::marks(&self.turn.question, tokens, &of, &facts, self.lexicon);
        self.grounded.borrow_mut().insert(tables.to_vec(), marks.clone());
        marks
    }

    fn parsed(&self, tokens: &[Token], tables: &[usize]) -> (Vec<Mark>, Result<Reading, Doubt>) {
        let marks = self.marks(tokens, tables);
        let scene = Scene {
            tables: &self.of(tables),
            tokens,
            lexicon: self.lexicon,
            last: self.last.filter(|_| self.last_tables == tables),
            wants_verdict: self.wants_verdict,
            is_lost: self.is_lost,
        };
        let outcome = parse::parse(scene, &marks);
        (marks, outcome)
    }

    /// Returns the calls that find out which columns hold what the question may name: one for each value, in all
    /// tables at once.
    fn finds(&self, tokens: &[Token]) -> Vec<Call> {
        if self.turn.calls.iter().any(|it| it.name == "find_value_columns") {
            return Vec::new();
        }
        let is_text = |it: &(usize, &Table)| it.1.columns.iter().any(|it| it.kind == Kind::Text);
        let with_text: Vec<(usize, &Table)> =
            self.tables.iter().enumerate().filter(is_text).collect();
        let mut all: Vec<String> = Vec::new();
        let share = (FINDS_MAX / with_text.len().max(1)).max(1);
        for (index, _) in &with_text {
            let marks = self.marks(tokens, &[*index]);
            let phrases = ground::phrases(&self.turn.question, tokens, &marks, self.lexicon);
            let mut wanted: Vec<String> = Vec::new();
            for phrase in phrases {
                let singulars = ground::singulars(&phrase);
                wanted.extend(self.lexicon.written(&phrase).iter().cloned());
                wanted.push(phrase);
                wanted.extend(singulars);
            }
            wanted.dedup();
            let new: Vec<String> =
                wanted.into_iter().take(share).filter(|it| !all.contains(it)).collect();
            all.extend(new);
        }
        let name = match &with_text[..] {
            [(_, only)] => only.name.as_str(),
            _ => ALL,
        };
        let call = |value: String| ("find_value_columns", json!({"name": name, "value": value}));
        all.into_iter().take(FINDS_MAX).map(call).collect()
    }

    /// Returns the calls that find out whether columns that may say yes or no do.
    fn flags(&self, tokens: &[Token]) -> Vec<Call> {
        let mut calls = Vec::new();
        if self.turn.has_loaded(look::FLAGS) {
            return calls;
        }
        for (index, table) in self.tables.iter().enumerate() {
            if table.flags().next().is_none() {
                continue;
            }
            let marks = self.marks(tokens, &[index]);
            // A group by a column is the same, whatever its values say, and an average is of a number.
            let is_no_flag = |at: usize| {
                let before = at.checked_sub(1).map(|it| &marks[it].meaning);
                let word = marks[at].start.checked_sub(1).map(|it| tokens[it].lower.as_str());
                let says_who = word.is_some_and(|it| {
                    self.lexicon.is(Cue::Among, it) || self.lexicon.is(Cue::Every, it)
                });
                !says_who
                    && matches!(
                        before,
                        Some(Meaning::Word(
                            Concept::By
                                | Concept::Each
                                | Concept::Mean
                                | Concept::Median
                                | Concept::Max
                                | Concept::Min
                                | Concept::Sum
                        ))
                    )
            };
            let is_said = |column: &usize| {
                marks.iter().enumerate().any(|(at, it)| match &it.meaning {
                    Meaning::Column(places) => {
                        !is_no_flag(at) && places.iter().any(|it| it.column == *column)
                    }
                    _ => false,
                })
            };
            let said: Vec<String> =
                table.flags().filter(is_said).map(|it| table.columns[it].name.clone()).collect();
            if said.is_empty() {
                continue;
            }
            let load = json!({"name": table.name, "columns": said, "df_name": look::FLAGS});
            calls.push(("load_dataset_columns", load));
            calls.push((
                "python_repl",
                json!({"code": code_about(table, &look::flags_code(&said))}),
            ));
        }
        calls
    }

    /// Returns the calls that find out how values are spelled; none when that is known, or of no use.
    fn looks(&self, tokens: &[Token], is_read: bool) -> Vec<Call> {
        let mut calls = Vec::new();
        if self.turn.has_loaded(look::TEXTS) {
            return calls;
        }
        for (index, table) in self.tables.iter().enumerate() {
            let held = self.held(index);
            let marks = self.marks(tokens, &[index]);
            let mut columns: Vec<String> = Vec::new();
            let mut phrases: Vec<String> = Vec::new();
            for (phrase, columns_of) in held {
                let is_used = marks.iter().any(|it| {
                    matches!(it.meaning, Meaning::Value(_)) && {
                        let text =
                            &self.turn.question[tokens[it.start].start..tokens[it.end - 1].end];
                        let text = text.to_lowercase();
                        text == phrase
                            || ground::singulars(&text).contains(&phrase)
                            || self.lexicon.written(&text).contains(&phrase)
                    }
                });
                if is_used {
                    columns.extend(columns_of.into_iter().map(|it| it.0));
                    phrases.push(phrase);
                }
            }
            if !is_read && table.n_rows <= LOOKED_ROWS_MAX {
                let unknown: Vec<String> =
                    ground::phrases(&self.turn.question, tokens, &marks, self.lexicon);
                // What the language knows is no misspelled value: `farthest away`.
                let is_known =
                    |it: &str| it.split(' ').any(|it| self.lexicon.adjective(it).is_some());
                let unknown: Vec<String> = unknown.into_iter().filter(|it| !is_known(it)).collect();
                if !unknown.is_empty() {
                    let texts = table.columns.iter().filter(|it| it.kind == Kind::Text);
                    columns.extend(texts.take(LOOKED_MAX).map(|it| it.name.clone()));
                    phrases.extend(unknown.into_iter().take(FINDS_MAX));
                }
            }
            columns.sort_unstable();
            columns.dedup();
            phrases.sort_unstable();
            phrases.dedup();
            if columns.is_empty() || phrases.is_empty() {
                continue;
            }
            let load = json!({"name": table.name, "columns": columns, "df_name": look::TEXTS});
            calls.push(("load_dataset_columns", load));
            let code = code_about(table, &look::code(&columns, &phrases));
            calls.push(("python_repl", json!({"code": code})));
        }
        calls
    }

    /// Returns the phrases that columns of text hold, and in how many rows, by what was found.
    fn held(&self, table: usize) -> BTreeMap<String, Vec<(String, u64)>> {
        let name = &self.tables[table].name;
        let mut held: BTreeMap<String, Vec<(String, u64)>> = BTreeMap::new();
        for done in &self.turn.calls {
            if done.name != "find_value_columns" {
                continue;
            }
            let found = if done.arguments["name"] == ALL {
                let datasets = done.output["datasets"].as_array().into_iter().flatten();
                datasets.into_iter().find(|it| it["name"] == name.as_str())
            } else {
                Some(&done.output).filter(|_| done.arguments["name"] == name.as_str())
            };
            let (Some(found), Some(phrase)) = (found, done.arguments["value"].as_str()) else {
                continue;
            };
            let columns = found["columns"].as_array().into_iter().flatten();
            for found in columns.filter(|it| it["dtype"] == "string") {
                if let Some(column) = found["column"].as_str() {
                    let n_rows = found["count"].as_u64().unwrap_or_default();
                    held.entry(phrase.to_owned()).or_default().push((column.to_owned(), n_rows));
                }
            }
        }
        held
    }

    /// Returns what is known of values, in terms of some of the tables.
    fn facts(&self, tokens: &[Token], tables: &[usize]) -> Facts {
        let mut facts = Facts::default();
        for (local, index) in tables.iter().enumerate() {
            let table = &self.tables[*index];
            let place =
                |column: &str| table.column(column).map(|column| Place { table: local, column });
            let mut put = |phrase: &str, column: &str, spellings: Vec<String>, n_rows: u64| {
                let Some(place) = place(column) else { return };
                let all = facts.values.entry(phrase.to_owned()).or_default();
                match all.iter_mut().find(|it| it.place == place) {
                    Some(held) => held.spellings = spellings,
                    None => all.push(Held { place, spellings, n_rows }),
                }
            };
            for (phrase, columns) in self.held(*index) {
                for (column, n_rows) in columns {
                    put(&phrase, &column, vec![phrase.clone()], n_rows);
                }
            }
            for done in self.turn.run_on(&table.name, look::TEXTS) {
                for (phrase, column, spellings) in look::spelled(&done.output) {
                    put(&phrase, &column, spellings, 0);
                }
            }
        }
        // A plural names what its singular names.
        for start in 0..tokens.len() {
            for end in start + 1..=tokens.len().min(start + 4) {
                let text =
                    self.turn.question[tokens[start].start..tokens[end - 1].end].to_lowercase();
                if facts.values.contains_key(&text) {
                    continue;
                }
                // What the data writes in another way, first as it is usual.
                let written = self.lexicon.written(&text).iter().cloned();
                let mut written = written.filter_map(|it| facts.values.get(&it)).cloned();
                let singulars = ground::singulars(&text);
                let of_one = || {
                    // Banks are nothing that is called Bank.
                    let mut held = singulars.iter().find_map(|it| facts.values.get(it))?.clone();
                    held.retain(|it| {
                        let column = &self.tables[tables[it.place.table]].columns[it.place.column];
                        !column.is_title
                    });
                    (!held.is_empty()).then_some(held)
                };
                if let Some(held) = written.next().or_else(of_one) {
                    facts.values.insert(text, held);
                }
            }
        }
        facts
    }
}

/// Returns whether a question that one table can answer may be about two: it names both, or another.
fn needs_two(found: &[Found], named: &[usize]) -> bool {
    let is_elsewhere = found.iter().all(|it| !it.tables.iter().any(|it| named.contains(it)));
    2 <= named.len() || is_elsewhere && !named.is_empty()
}

/// Returns how much of a question means something.
fn weight(marks: &[Mark]) -> usize {
    let told = marks.iter().filter(|it| {
        matches!(
            it.meaning,
            Meaning::Column(_)
                | Meaning::Value(_)
                | Meaning::Table(_)
                | Meaning::Noun
                | Meaning::Adjective { .. }
        )
    });
    told.map(|it| it.end - it.start).sum()
}

/// Returns code that says which table it is about. The same code over and over would count as a model that repeats
/// itself.
fn code_about(table: &Table, code: &str) -> String {
    format!("# of {}\n{code}", table.name)
}
