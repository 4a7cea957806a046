//! Sentences on which groups are at either end, and on the course of a series.

use std::cmp::Ordering;
use std::fmt::Write;

use serde_json::Value as Json;

use super::figure::{few, grouped, listed};
use super::groups::{Figure, TOLD_MAX};
use super::head::number;
use super::quantity::Quantity;
use super::{Answer, EQUAL, EQUALS_MAX};
use crate::query::{Groups, Over, SortOrder};

/// Groups of a ranking that a sentence names with their numbers.
const RANKED_MAX: usize = 5;

impl Answer<'_> {
    pub(super) fn only_one(&self, groups: &Groups, figure: &Figure<'_>, row: &Json) -> String {
        let (quantity, label) = figure;
        let (name, value) = (self.group_name(groups, row), quantity.told(&row[*label]));
        let parts = self.parts(row, groups);
        match groups.order {
            Some(order) if order.n.is_some() => {
                let place = place_word(order.skip);
                let end = quantity.end(order.is_ascending);
                format!("**{name}** has the {place}{end} {}, {value}{parts}.", quantity.bare())
            }
            _ if quantity.is_count => {
                format!("**{name}** has {value} {}.", quantity.noun)
            }
            _ => format!("the {} of **{name}** is {value}{parts}.", quantity.noun),
        }
    }

    /// Says how a number went over time.
    pub(super) fn course(&self, groups: &Groups, figure: &Figure<'_>, known: &[&Json]) -> String {
        let (quantity, label) = figure;
        let at = |row: &Json| self.group_name(groups, row);
        let told = |row: &Json| quantity.told(&row[*label]);
        let [first, .., last] = known else {
            return self.only_one(groups, figure, known[0]);
        };
        let (high, low) = ends(known, label);
        if groups.over == Some(Over::Cumulative) {
            let within = groups.keys.first().map_or("in", |it| self.plain().within(it));
            return format!(
                "the {} reaches **{}** {within} {}.",
                quantity.whole(),
                told(last),
                at(last)
            );
        }
        let (whole, one, other) = (quantity.whole(), number(first, label), number(last, label));
        let within = groups.keys.first().map_or("in", |it| self.plain().within(it));
        let ends = [first, last].map(|it| (told(it), format!("{within} {}", at(it))));
        let [(start, from), (end, to)] = ends;
        let mut text = match one.partial_cmp(&other) {
            Some(Ordering::Less) => {
                format!("the {whole} rose from {start} {from} to **{end}** {to}")
            }
            Some(Ordering::Greater) => {
                format!("the {whole} fell from {start} {from} to **{end}** {to}")
            }
            _ => format!("the {whole} was **{end}** both {from} and {to}"),
        };
        let is_new = |row: &Json| ![one, other].contains(&number(row, label));
        let at_end = |row: &Json, end: &str| format!("{end} {within} {}, {}", at(row), told(row));
        match (is_new(high), is_new(low)) {
            (true, true) => {
                let _ = write!(
                    text,
                    "; it was {}, and {}",
                    at_end(high, "highest"),
                    at_end(low, "lowest")
                );
            }
            (true, false) => _ = write!(text, "; it was {}", at_end(high, "highest")),
            (false, true) => _ = write!(text, "; it was {}", at_end(low, "lowest")),
            (false, false) => {}
        }
        text + "."
    }

    pub(super) fn ranking(
        &self,
        groups: &Groups,
        figure: &Figure<'_>,
        known: &[&Json],
        order: SortOrder,
    ) -> String {
        let (quantity, label) = figure;
        let (place, end) = (place_word(order.skip), quantity.end(order.is_ascending));
        let mut text = format!(
            "**{}** has the {place}{end} {}, {}{}",
            self.group_name(groups, known[0]),
            quantity.bare(),
            quantity.told(&known[0][*label]),
            self.parts(known[0], groups)
        );
        let rest: Vec<String> = known[1..]
            .iter()
            .take(RANKED_MAX - 1)
            .map(|it| format!("{} ({})", self.group_name(groups, it), quantity.told(&it[*label])))
            .collect();
        if !rest.is_empty() {
            let _ = write!(text, ", then {}", few(&rest, rest.len() as u64, RANKED_MAX));
        }
        text += ".";
        if RANKED_MAX < known.len() {
            let _ = write!(text, " The table has all {}.", grouped(self.result.n_rows));
        }
        text
    }

    pub(super) fn both_ends(
        &self,
        groups: &Groups,
        figure: &Figure<'_>,
        known: &[&Json],
        is_least_first: bool,
        name: &dyn Fn(&Json) -> String,
        things: &str,
    ) -> String {
        let (quantity, label) = figure;
        let (most, least) = ends(known, label);
        let (top, bottom) = if is_least_first { (least, most) } else { (most, least) };
        let value = |row: &Json| number(row, label);
        // How many have this number, and their names.
        let equals = |end: &Json| -> (u64, String) {
            let rows = known.iter().filter(|it| value(it) == value(end));
            let names: Vec<String> = rows.map(|it| name(it)).collect();
            let n = end[EQUAL].as_u64().unwrap_or(names.len() as u64);
            if n == names.len() as u64 && names.len() <= EQUALS_MAX {
                (n, listed(&names, "and"))
            } else {
                (n, format!("{} {things}", grouped(n)))
            }
        };
        if value(most) == value(least) {
            let value = quantity.told(&most[*label]);
            let (n, some) = equals(most);
            return match (n, known) {
                (1, _) => {
                    format!("only **{some}** has a value: the {} is {value}.", quantity.whole())
                }
                (n, known) if n == known.len() as u64 => {
                    let names: Vec<String> = known.iter().map(|it| name(it)).collect();
                    let all = few(&names, n, TOLD_MAX);
                    format!("**{all}** have the same {}, {value}.", quantity.whole())
                }
                _ => format!("**All {some}** have the same {}, {value}.", quantity.whole()),
            };
        }
        let ((n_top, top_name), (n_bottom, bottom_name)) = (equals(top), equals(bottom));
        let (mut one, mut other) = told_apart(quantity, &top[*label], &bottom[*label]);
        for (told, n, row) in [(&mut one, n_top, top), (&mut other, n_bottom, bottom)] {
            if n == 1 {
                *told += &self.parts(row, groups);
            }
        }
        if known.len() == 2 && self.ends.is_none() && !is_least_first {
            let noun = quantity.more();
            return format!("**{top_name}** has {noun}, {one}, than {bottom_name}, {other}.");
        }
        format!(
            "**{top_name}** {} the {} {}, {one}; {bottom_name} {}the {}, {other}.",
            if n_top == 1 { "has" } else { "have" },
            quantity.end(is_least_first),
            quantity.bare(),
            if n_bottom == 1 { "" } else { "have " },
            quantity.end(!is_least_first),
        )
    }
}

impl Quantity {
    /// Returns the noun behind a superlative: the highest of the highest prices.
    pub(super) fn bare(&self) -> String {
        let noun = self.noun.strip_prefix("highest ").map(|it| format!("maximum {it}"));
        noun.or_else(|| self.noun.strip_prefix("lowest ").map(|it| format!("minimum {it}")))
            .unwrap_or_else(|| self.noun.clone())
    }

    /// Returns the noun with its comparative: `more rows`, `a higher average price`.
    pub(super) fn more(&self) -> String {
        match (self.is_count, self.is_time) {
            (true, _) => format!("more {}", self.noun),
            (_, true) => format!("a later {}", self.noun),
            _ => format!("a higher {}", self.bare()),
        }
    }
}

/// Returns the rows with the most and the least, the first of equals.
fn ends<'a>(rows: &[&'a Json], label: &str) -> (&'a Json, &'a Json) {
    let value = |it: &Json| number(it, label).unwrap_or_default();
    let (mut most, mut least) = (rows[0], rows[0]);
    for row in rows {
        if value(most) < value(row) {
            most = row;
        }
        if value(row) < value(least) {
            least = row;
        }
    }
    (most, least)
}

pub(super) fn place_word(skip: u32) -> String {
    match skip {
        0 => String::new(),
        1 => "second ".to_owned(),
        2 => "third ".to_owned(),
        3 => "fourth ".to_owned(),
        4 => "fifth ".to_owned(),
        n => {
            let n = n + 1;
            let end = match (n % 100, n % 10) {
                (11..=13, _) => "th",
                (_, 1) => "st",
                (_, 2) => "nd",
                (_, 3) => "rd",
                _ => "th",
            };
            format!("{n}{end} ")
        }
    }
}

/// Writes two numbers with as many digits as tell them apart.
fn told_apart(quantity: &Quantity, one: &Json, other: &Json) -> (String, String) {
    let told = (quantity.told(one), quantity.told(other));
    if told.0 != told.1 || one == other {
        return told;
    }
    let exact = |it: &Json| match quantity.unit.as_deref() {
        Some("%") => format!("{it} %"),
        unit => super::figure::with_unit(&it.to_string(), unit),
    };
    (exact(one), exact(other))
}
