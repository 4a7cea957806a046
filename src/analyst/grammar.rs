//! The grammar: rules that put links together to phrases, and a chart of all that they make of a question.
//!
//! The rules are data (`grammar/en.txt`). Items are made from the end of the question to its beginning, so that what a
//! rule takes behind its first symbol is complete. Tokens between two symbols may be left out at their price. In each
//! cell only the cheapest items stay.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::rc::Rc;
use std::sync::LazyLock;

use crate::actions::{self, Action};
use crate::frag::Sem;
use crate::lexicon::{Concept, Cue, PeriodWord};
use crate::link::{Atom, Lattice};
use crate::scene::Scene;

/// Items of one span and category that stay.
const BEAM: usize = 10;
/// Tokens that may be left out between two symbols of a rule.
const GAP_MAX: usize = 4;
/// What may be left out between the symbols of a rule.
const GAP_COST_MAX: f64 = 6.0;
/// Items of one question.
const ITEMS_MAX: usize = 20_000;
/// What a link costs for each tenth that its score lacks.
const LINK_COST: f64 = 4.0;

/// The rules of English.
pub(crate) static ENGLISH: LazyLock<Grammar> =
    LazyLock::new(|| Grammar::parse(include_str!("grammar/en.txt")));

/// Rules by their first symbol.
pub(crate) struct Grammar {
    rules: Vec<Rule>,
    symbols: HashMap<Symbol, u16>,
    by_first: Vec<Vec<usize>>,
    /// The category of a whole question.
    pub goal: u16,
    /// The category of parts that take up another question.
    pub parts: u16,
}

#[derive(Debug)]
struct Rule {
    makes: u16,
    symbols: Vec<u16>,
    action: Action,
    cost: f64,
    name: String,
}

/// What a rule is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Symbol {
    /// A phrase that rules make.
    Category(String),
    /// A kind of link.
    Atom(&'static str),
    /// A phrase of the language.
    Concept(Concept),
    /// A single word that is a cue.
    Cue(Cue),
    /// How a period lies to what follows.
    Period(PeriodWord),
    /// This very word.
    Word(String),
}

/// A phrase that was found.
#[derive(Debug, Clone)]
pub(crate) struct Phrase {
    pub end: usize,
    pub sem: Sem,
    pub cost: f64,
    /// How much of the price is of tokens that were left out.
    pub skipped: f64,
    /// How much of it is of links.
    pub linked: f64,
    /// The rules that made it, for those who train.
    pub rules: Vec<u16>,
}

/// All items that begin at one token, by their symbol.
type Starting = Vec<Vec<Rc<Phrase>>>;

/// What a rule has found so far: the items, and what was left out between them.
struct Found<'a> {
    items: Vec<Rc<Phrase>>,
    skipped: f64,
    cells: &'a [Starting],
}

const ATOMS: [&str; 21] = [
    "COL", "VAL", "TABLE", "NOUN", "NUM", "ORD", "PERIOD", "CLOCK", "UNIT", "OFTEN", "MONTH",
    "WDAY", "QTR", "PCTL", "MEASURE", "ADJ", "CMPADJ", "SUPADJ", "QUOTED", "FLAG", "ANY",
];

impl Grammar {
    /// Reads rules: `Cond @0.2 = COL Op Amount : compare`. A symbol with `?` may be missing.
    fn parse(text: &str) -> Grammar {
        let mut symbols: HashMap<Symbol, u16> = HashMap::new();
        let mut rules = Vec::new();
        for line in text.lines() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let rule = rule(line, &mut symbols);
            #[expect(clippy::panic, reason = "a part of the program, read by tests")]
            let Some(variants) = rule else { panic!("a rule cannot be read: {line}") };
            rules.extend(variants);
        }
        let goal = id(Symbol::Category("Question".to_owned()), &mut symbols);
        let parts = id(Symbol::Category("Parts".to_owned()), &mut symbols);
        let mut by_first: Vec<Vec<usize>> = vec![Vec::new(); symbols.len()];
        for (index, rule) in rules.iter().enumerate() {
            by_first[usize::from(rule.symbols[0])].push(index);
        }
        Grammar { rules, symbols, by_first, goal, parts }
    }

    pub(crate) fn name(&self, rule: u16) -> &str {
        self.rules.get(usize::from(rule)).map_or("", |it| &it.name)
    }

    /// Returns what the question may be as a whole, in the category `goal`, the cheapest first.
    pub(crate) fn read(&self, scene: &Scene, lattice: &Lattice, goal: u16) -> Vec<Phrase> {
        let n = scene.tokens.len();
        let mut cells: Vec<Starting> = vec![vec![Vec::new(); self.symbols.len()]; n + 1];
        let mut n_items = 0;
        for start in (0..n).rev() {
            let mut agenda: Agenda = BinaryHeap::new();
            for (symbol, item) in atoms(scene, lattice, start) {
                if let Some(symbol) = self.symbols.get(&symbol) {
                    agenda.push(Pending { symbol: *symbol, item: Rc::new(item) });
                }
            }
            while let Some(Pending { symbol, item }) = agenda.pop() {
                if ITEMS_MAX <= n_items {
                    break;
                }
                if !keep(&mut cells[start][usize::from(symbol)], &item) {
                    continue;
                }
                n_items += 1;
                for rule in &self.by_first[usize::from(symbol)] {
                    let mut found =
                        Found { items: vec![Rc::clone(&item)], skipped: 0.0, cells: &cells };
                    self.finish(*rule, scene, lattice, &mut found, &mut agenda);
                }
            }
        }
        let mut found: Vec<Phrase> = Vec::new();
        let mut before = 0.0;
        for (start, starting) in cells.iter().take(n).enumerate() {
            for item in &starting[usize::from(goal)] {
                let behind: f64 = lattice.skips[item.end..].iter().sum();
                found.push(Phrase {
                    cost: item.cost + before + behind,
                    skipped: item.skipped + before + behind,
                    ..(**item).clone()
                });
            }
            before += lattice.skips[start];
        }
        found.sort_by(|one, other| one.cost.total_cmp(&other.cost));
        found
    }

    /// Extends a rule whose first symbols were found, in all ways.
    fn finish(
        &self,
        index: usize,
        scene: &Scene,
        lattice: &Lattice,
        found: &mut Found,
        agenda: &mut Agenda,
    ) {
        let rule = &self.rules[index];
        let Some(next) = rule.symbols.get(found.items.len()) else {
            let sems: Vec<&Sem> = found.items.iter().map(|it| &it.sem).collect();
            let sum = |of: fn(&Phrase) -> f64| found.items.iter().map(|it| of(it)).sum::<f64>();
            for (sem, more) in (rule.action)(scene, &sems) {
                let mut rules: Vec<u16> =
                    found.items.iter().flat_map(|it| it.rules.iter().copied()).collect();
                rules.push(u16::try_from(index).unwrap_or(u16::MAX));
                let item = Phrase {
                    end: found.items.last().map_or(0, |it| it.end),
                    sem,
                    cost: sum(|it| it.cost) + found.skipped + rule.cost + more,
                    skipped: sum(|it| it.skipped) + found.skipped,
                    linked: sum(|it| it.linked),
                    rules,
                };
                agenda.push(Pending { symbol: rule.makes, item: Rc::new(item) });
            }
            return;
        };
        let at = found.items.last().map_or(0, |it| it.end);
        let before = found.skipped;
        for gap in 0..=GAP_MAX {
            let Some(cell) = found.cells.get(at + gap) else { break };
            for item in &cell[usize::from(*next)] {
                found.items.push(Rc::clone(item));
                self.finish(index, scene, lattice, found, agenda);
                found.items.pop();
            }
            match lattice.skips.get(at + gap) {
                Some(cost) if found.skipped + cost < GAP_COST_MAX => found.skipped += cost,
                _ => break,
            }
        }
        found.skipped = before;
    }
}

/// An item that was made and not looked at yet.
struct Pending {
    symbol: u16,
    item: Rc<Phrase>,
}

/// The cheapest first.
type Agenda = BinaryHeap<Pending>;

impl Ord for Pending {
    fn cmp(&self, other: &Pending) -> Ordering {
        other.item.cost.total_cmp(&self.item.cost)
    }
}

impl PartialOrd for Pending {
    fn partial_cmp(&self, other: &Pending) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Pending {
    fn eq(&self, other: &Pending) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Pending {}

fn id(symbol: Symbol, symbols: &mut HashMap<Symbol, u16>) -> u16 {
    let next = u16::try_from(symbols.len()).unwrap_or(u16::MAX);
    *symbols.entry(symbol).or_insert(next)
}

/// Keeps an item unless there are enough cheaper ones, or the same.
fn keep(items: &mut Vec<Rc<Phrase>>, item: &Rc<Phrase>) -> bool {
    let mut n_cheaper = 0;
    // Items come the cheapest first.
    for other in items.iter().filter(|it| it.end == item.end) {
        n_cheaper += 1;
        if BEAM <= n_cheaper || other.sem == item.sem {
            return false;
        }
    }
    items.push(Rc::clone(item));
    true
}

/// Returns the items that links are.
fn atoms(scene: &Scene, lattice: &Lattice, start: usize) -> Vec<(Symbol, Phrase)> {
    let mut items = Vec::new();
    for link in lattice.links.iter().filter(|it| it.start == start) {
        let cost = (1.0 - link.score) * LINK_COST;
        let mut put = |symbol: Symbol, sem: Sem| {
            items.push((
                symbol,
                Phrase { end: link.end, sem, cost, skipped: 0.0, linked: cost, rules: Vec::new() },
            ));
        };
        match &link.atom {
            Atom::Word(concept) => put(Symbol::Concept(*concept), Sem::Word(*concept)),
            Atom::Column(place) => {
                put(Symbol::Atom("COL"), Sem::Column(*place));
                if scene.column(*place).kind == crate::schema::Kind::Bool {
                    put(Symbol::Atom("FLAG"), Sem::Column(*place));
                }
            }
            Atom::Value(held) => put(Symbol::Atom("VAL"), Sem::Held(held.clone())),
            Atom::Table(table) => put(Symbol::Atom("TABLE"), Sem::Table(*table)),
            Atom::Noun => put(Symbol::Atom("NOUN"), Sem::Text(scene.tokens[start].stem.clone())),
            Atom::Number(value) => put(Symbol::Atom("NUM"), Sem::Number(*value)),
            Atom::Ordinal(place) => put(Symbol::Atom("ORD"), Sem::Number(f64::from(*place))),
            Atom::Period(from, to, unit) => {
                put(Symbol::Atom("PERIOD"), Sem::Period(*from, *to, *unit));
            }
            Atom::Clock(time) => put(Symbol::Atom("CLOCK"), Sem::Clock(*time)),
            Atom::Unit(unit, is_often) => {
                put(Symbol::Atom(if *is_often { "OFTEN" } else { "UNIT" }), Sem::Unit(*unit));
            }
            Atom::Month(month) => put(Symbol::Atom("MONTH"), Sem::Number(f64::from(*month))),
            Atom::Weekday(day) => put(Symbol::Atom("WDAY"), Sem::Number(f64::from(*day))),
            Atom::Quarter(quarter) => put(Symbol::Atom("QTR"), Sem::Number(f64::from(*quarter))),
            Atom::Percentile(value) => put(Symbol::Atom("PCTL"), Sem::Number(*value)),
            Atom::Measure => {
                put(Symbol::Atom("MEASURE"), Sem::Text(scene.tokens[start].stem.clone()));
            }
            Atom::Adjective(place, degree, is_low) => {
                let name = match degree {
                    crate::link::Degree::Positive => "ADJ",
                    crate::link::Degree::Comparative => "CMPADJ",
                    crate::link::Degree::Superlative => "SUPADJ",
                };
                put(Symbol::Atom(name), Sem::Adjective(*place, *is_low));
            }
            Atom::Quoted(text) => put(Symbol::Atom("QUOTED"), Sem::Text(text.clone())),
        }
    }
    let token = &scene.tokens[start];
    let one = |sem: Sem| Phrase {
        end: start + 1,
        sem,
        cost: 0.0,
        skipped: 0.0,
        linked: 0.0,
        rules: Vec::new(),
    };
    for cue in CUES {
        // A question that yes or no answers begins so; `are there` asks for any.
        let is_any = || scene.tokens.get(1).is_some_and(|it| it.lower == "there");
        let may_be = *cue != Cue::YesNo || start == 0 && !is_any();
        if scene.lexicon.is(*cue, &token.lower) && may_be {
            items.push((Symbol::Cue(*cue), one(Sem::None)));
        }
    }
    items.push((Symbol::Word(token.lower.clone()), one(Sem::None)));
    items.push((Symbol::Atom("ANY"), one(Sem::Text(token.text.clone()))));
    let mut stems = Vec::new();
    for (n, token) in scene.tokens[start..].iter().take(5).enumerate() {
        stems.push(token.stem.clone());
        if let Some(word) = scene.lexicon.period(&stems) {
            items.push((Symbol::Period(word), Phrase { end: start + n + 1, ..one(Sem::None) }));
        }
    }
    items
}

/// Cues that rules use.
const CUES: &[Cue] = &[
    Cue::Who,
    Cue::Every,
    Cue::To,
    Cue::From,
    Cue::Per,
    Cue::Inside,
    Cue::Onwards,
    Cue::HowMuch,
    Cue::Hows,
    Cue::When,
    Cue::Whiches,
    Cue::YesNo,
];

/// Reads a rule, once for each way to leave out what may be missing.
fn rule(line: &str, ids: &mut HashMap<Symbol, u16>) -> Option<Vec<Rule>> {
    let (head, rest) = line.split_once(" = ")?;
    let (body, action) = rest.rsplit_once(" : ")?;
    let mut head = head.split_whitespace();
    let makes = id(Symbol::Category(head.next()?.to_owned()), ids);
    let cost = match head.next() {
        Some(cost) => cost.strip_prefix('@')?.parse().ok()?,
        None => 0.0,
    };
    let action = actions::find(action.trim())?;
    let mut all = Vec::new();
    for variant in body.split(" | ") {
        let symbols: Vec<(Symbol, bool)> =
            variant.split_whitespace().map(symbol).collect::<Option<_>>()?;
        all.push(symbols);
    }
    let mut rules = Vec::new();
    for symbols in all {
        let optional: Vec<usize> = (0..symbols.len()).filter(|it| symbols[*it].1).collect();
        for mask in 0..1usize << optional.len() {
            let is_left_out = |at: usize| {
                optional.iter().position(|it| *it == at).is_some_and(|it| mask >> it & 1 == 1)
            };
            let kept = symbols.iter().enumerate().filter(|(at, _)| !is_left_out(*at));
            let symbols: Vec<u16> = kept.map(|it| id(it.1.0.clone(), ids)).collect();
            if !symbols.is_empty() {
                rules.push(Rule { makes, symbols, action, cost, name: line.to_owned() });
            }
        }
    }
    Some(rules)
}

fn symbol(text: &str) -> Option<(Symbol, bool)> {
    let (text, is_optional) = match text.strip_suffix('?') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let quoted = |open: char, close: char| text.strip_prefix(open)?.strip_suffix(close);
    let named = |text: &str| serde_json::Value::String(text.to_owned());
    let symbol = if let Some(concept) = quoted('[', ']') {
        Symbol::Concept(serde_json::from_value(named(concept)).ok()?)
    } else if let Some(cue) = quoted('{', '}') {
        Symbol::Cue(serde_json::from_value(named(cue)).ok().filter(|it| CUES.contains(it))?)
    } else if let Some(period) = quoted('<', '>') {
        Symbol::Period(serde_json::from_value(named(period)).ok()?)
    } else if let Some(word) = quoted('"', '"') {
        Symbol::Word(word.to_owned())
    } else if let Some(atom) = ATOMS.iter().find(|it| **it == text) {
        Symbol::Atom(atom)
    } else {
        Symbol::Category(text.to_owned())
    };
    Some((symbol, is_optional))
}
