//! Quantities: what the numbers of a result are called, and how they are written.

use std::fmt::Write;

use serde_json::Value as Json;

use super::figure::{grouped, listed, number, percent, with_unit};
use super::names::plural;
use super::plain::{Plain, cell};
use crate::query::{Agg, Arithmetic, GroupKey, Groups, Measure, Over, Place, Test, Value};

/// Values that say yes.
const YES: &[&str] = &["yes", "y", "true", "t"];
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantity {
    /// `average body mass`; of what is counted, a plural: `rows`.
    pub noun: String,
    /// Whether it counts.
    pub is_count: bool,
    /// Of the number; `%` for a percentage.
    pub unit: Option<String>,
    /// Whether the most is the latest.
    pub is_time: bool,
    /// Whether its numbers are names: years, keys.
    pub is_name: bool,
}

impl Quantity {
    pub(super) fn new(noun: String, unit: Option<String>) -> Quantity {
        Quantity { noun, is_count: false, unit, is_time: false, is_name: false }
    }

    fn count(noun: String) -> Quantity {
        Quantity { is_count: true, ..Quantity::new(noun, None) }
    }

    /// Returns it in the singular: `number of rows`.
    pub(super) fn whole(&self) -> String {
        if self.is_count { format!("number of {}", self.noun) } else { self.noun.clone() }
    }

    /// Returns the superlative.
    pub(super) fn end(&self, is_least: bool) -> &'static str {
        match (self.is_count, self.is_time, is_least) {
            (true, _, false) => "most",
            (true, _, true) => "fewest",
            (_, true, false) => "latest",
            (_, true, true) => "earliest",
            (_, _, false) => "highest",
            (_, _, true) => "lowest",
        }
    }

    /// Writes a value of it.
    pub(super) fn told(&self, value: &Json) -> String {
        match value.as_f64() {
            Some(it) if self.unit.as_deref() == Some("%") => percent(it),
            Some(_) if self.is_name => value.to_string(),
            Some(it) => {
                let figure = value.as_i64().map_or_else(|| number(it), grouped_signed);
                with_unit(&figure, self.unit.as_deref())
            }
            None => cell(value),
        }
    }

    /// Writes it as the label of an axis: `Average body mass (g)`.
    pub(super) fn label(&self) -> String {
        match &self.unit {
            Some(unit) => format!("{} ({unit})", self.whole()),
            None => self.whole(),
        }
    }
}

impl Plain<'_> {
    /// Writes a cell of a column, with its unit.
    pub(super) fn cell(&self, place: Place, value: &Json) -> String {
        let column = Quantity {
            is_name: self.is_name(place),
            ..Quantity::new(String::new(), self.name(place).unit)
        };
        column.told(value)
    }

    /// Writes a limit of a number.
    pub(super) fn limit(&self, value: &Value, quantity: &Quantity) -> String {
        match value {
            Value::Number(it) if quantity.is_name => crate::sql::number(*it),
            Value::Number(it) => with_unit(&number(*it), quantity.unit.as_deref()),
            value => self.value(value),
        }
    }

    /// Returns what a number is called.
    pub(super) fn quantity(&self, measure: &Measure) -> Quantity {
        let of = measure.of.as_ref();
        let noun = of.map(|it| self.value(it)).unwrap_or_default();
        let unit = of.and_then(|it| self.unit(it));
        let mut quantity = match &measure.agg {
            Agg::Share => return self.share(measure),
            Agg::Count if of.is_none() => Quantity::count("rows".to_owned()),
            Agg::Count => Quantity::count(format!("rows with {}", article(&noun))),
            Agg::Distinct => Quantity::count(format!("different {}", plural(&noun))),
            Agg::Var | Agg::Correlation(_) | Agg::Ratio(_) | Agg::Percent(_) => {
                Quantity::new(String::new(), None)
            }
            Agg::Grown(_) => Quantity::new(String::new(), Some("%".to_owned())),
            _ => Quantity::new(String::new(), unit),
        };
        let noun = match &measure.agg {
            Agg::Count | Agg::Distinct | Agg::Share => quantity.noun.clone(),
            Agg::Sum if noun == "total" || noun.starts_with("total ") => noun,
            Agg::Sum => format!("total {noun}"),
            Agg::Mean => format!("average {noun}"),
            Agg::Median => format!("median {noun}"),
            Agg::Min | Agg::Max if of.is_some_and(|it| self.is_time(it)) => {
                quantity.is_time = true;
                format!("{} {noun}", if measure.agg == Agg::Min { "first" } else { "last" })
            }
            Agg::Min => format!("lowest {noun}"),
            Agg::Max => format!("highest {noun}"),
            Agg::Std => format!("standard deviation of {noun}"),
            Agg::Var => format!("variance of {noun}"),
            Agg::Iqr => format!("interquartile range of {noun}"),
            Agg::Range => format!("range of {noun}"),
            Agg::Quantile(share) => format!("{} percentile of {noun}", ordinal(share * 100.0)),
            Agg::Mode => format!("most frequent {noun}"),
            Agg::First(_) => format!("first {noun}"),
            Agg::Last(_) => format!("last {noun}"),
            Agg::Grown(_) => format!("growth of {noun}"),
            Agg::Correlation(other) => {
                format!("correlation of {noun} and {}", self.words(*other))
            }
            Agg::Percent(other) => format!("{noun} in percent of {}", self.words(*other)),
            Agg::Ratio(other) => format!("{noun} per {}", self.words(*other)),
        };
        quantity.noun = noun;
        let place = measure.place();
        let keeps =
            matches!(measure.agg, Agg::Min | Agg::Max | Agg::Median | Agg::Mode | Agg::Quantile(_));
        quantity.is_name = keeps && place.is_some_and(|it| self.is_name(it));
        if !measure.only.is_empty() {
            let with =
                if measure.agg == Agg::Count && of.is_none() { "where" } else { "of rows where" };
            let _ = write!(quantity.noun, " {with} {}", self.clauses(&measure.only));
        }
        quantity
    }

    /// Returns what a share is called: `attrition rate` of rows where attrition is yes.
    fn share(&self, measure: &Measure) -> Quantity {
        let whole = measure.of.as_ref().map_or_else(|| "rows".to_owned(), |it| self.value(it));
        let noun = match (&measure.only[..], &measure.of) {
            ([Test::True(place)], None) => rate(&self.words(*place)),
            ([Test::In(Value::Column(place), values)], None) if self.says_yes(*place, values) => {
                rate(&self.words(*place))
            }
            ([Test::In(_, values)], Some(_)) => {
                let values: Vec<String> = values.iter().map(|it| self.value(it)).collect();
                format!("share of {} in the {whole}", listed(&values, "or"))
            }
            (only, _) => format!("share of {whole} where {}", self.clauses(only)),
        };
        Quantity::new(noun, Some("%".to_owned()))
    }

    fn says_yes(&self, place: Place, values: &[Value]) -> bool {
        let [Value::Text(one)] = values else { return false };
        match &self.column(place).yes {
            Some(yes) => one == yes,
            None => YES.contains(&one.to_lowercase().as_str()),
        }
    }

    /// Returns what is made of a number along groups.
    pub(super) fn over(&self, over: Over, groups: &Groups, measure: &Measure) -> Quantity {
        let quantity = self.quantity(measure);
        let percent = Some("%".to_owned());
        let whole = quantity.whole();
        match over {
            Over::Cumulative => {
                let of =
                    if measure.agg == Agg::Sum { whole.replacen("total ", "", 1) } else { whole };
                Quantity::new(format!("running total of {of}"), quantity.unit)
            }
            Over::Growth => Quantity::new(format!("growth in {whole}"), percent),
            Over::Change => Quantity::new(format!("change in {whole}"), quantity.unit),
            Over::Share => {
                let of = match (quantity.is_count, self.known(groups)) {
                    (true, known) if known.is_empty() => format!("all {}", quantity.noun),
                    (true, known) => format!("the {}{known}", quantity.noun),
                    (false, known) if known.is_empty() => format!("the {whole}"),
                    (false, known) => format!("the {whole} of rows{known}"),
                };
                Quantity::new(format!("share of {of}"), percent)
            }
        }
    }

    /// Says which rows are in groups, if some are in none: ` with a country`.
    fn known(&self, groups: &Groups) -> String {
        let mut names: Vec<String> = Vec::new();
        for place in groups.keys.iter().map(GroupKey::place) {
            let name = article(&self.words(place));
            if 0 < self.column(place).n_missing && !names.contains(&name) {
                names.push(name);
            }
        }
        if names.is_empty() { String::new() } else { format!(" with {}", listed(&names, "and")) }
    }

    pub(super) fn unit(&self, value: &Value) -> Option<String> {
        match value {
            Value::Column(place) => self.name(*place).unit,
            Value::Arithmetic(_, Arithmetic::Days, _) => Some("days".to_owned()),
            Value::Arithmetic(one, Arithmetic::Plus | Arithmetic::Minus, other) => {
                self.unit(one).filter(|it| Some(it) == self.unit(other).as_ref())
            }
            _ => None,
        }
    }

    pub(super) fn is_time(&self, value: &Value) -> bool {
        matches!(value, Value::Column(place) if self.column(*place).kind.is_time())
    }
}

/// Returns a rate of what a column says yes to: `attrition rate`, `share that is active`.
fn rate(words: &str) -> String {
    let verbs = ["is ", "has ", "was ", "had ", "can "];
    match words {
        it if verbs.iter().any(|verb| it.starts_with(verb)) => format!("share that {it}"),
        it if it.ends_with("ed") => format!("share of {it}"),
        it if it.ends_with("rate") => it.to_owned(),
        it => format!("{it} rate"),
    }
}

/// Returns a noun with its article, unless it is a plural.
fn article(noun: &str) -> String {
    let is_vowel = noun.starts_with(|it: char| "aeiouAEIOU".contains(it));
    if noun.ends_with('s') && !noun.ends_with("ss") {
        noun.to_owned()
    } else {
        format!("{} {noun}", if is_vowel { "an" } else { "a" })
    }
}

fn ordinal(n: f64) -> String {
    let text = crate::sql::number((n * 100.0).round() / 100.0);
    let end = match text.as_str() {
        it if it.ends_with("11") || it.ends_with("12") || it.ends_with("13") => "th",
        it if it.ends_with('1') => "st",
        it if it.ends_with('2') => "nd",
        it if it.ends_with('3') => "rd",
        _ => "th",
    };
    text + end
}

fn grouped_signed(value: i64) -> String {
    let text = grouped(value.unsigned_abs());
    if value < 0 { format!("-{text}") } else { text }
}
