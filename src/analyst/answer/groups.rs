//! Sentences on numbers of groups: who is at either end, or where a series has come to.

use std::cmp::Ordering;
use std::fmt::Write;

use serde_json::Value as Json;

use super::figure::{few, grouped, listed};
use super::head::number;
use super::names::plural;
use super::quantity::Quantity;
use super::{Answer, EQUAL, counted};
use crate::query::{Agg, Groups, Op, Over, Value};

/// Groups that one sentence names.
pub(super) const TOLD_MAX: usize = 10;
/// Numbers of groups that a sentence is about.
const MEASURES_MAX: usize = 3;
/// Groups in a row from which a series has a course.
pub(super) const TREND_MIN: u64 = 3;

/// A number of groups and the column that has it.
pub(super) type Figure<'a> = (Quantity, &'a str);

impl Answer<'_> {
    /// Says what came out of groups.
    pub(super) fn groups(&self, groups: &Groups) -> String {
        let figures = self.figures(groups);
        if groups.then.is_some() {
            return self.ahead() + &self.of_groups(groups, &figures);
        }
        if groups.keys.is_empty() {
            return self.totals(groups, &figures);
        }
        if self.result.n_rows == 0 {
            return match &groups.having {
                Some((op, value)) => {
                    let what = self.passes(&figures[0].0, *op, value, true);
                    format!("{}no {} {what}.", self.ahead(), self.one_key(groups))
                }
                None => format!("there are no rows{}.", self.behind()),
            };
        }
        let is_one =
            groups.over.is_some() || groups.boxed().is_some() || !self.result.is_complete();
        let n_told = if is_one { 1 } else { MEASURES_MAX };
        let told: Vec<String> =
            figures.iter().take(n_told).map(|it| self.sentence(groups, it)).collect();
        let sentences: Vec<String> = told.iter().map(|it| super::capital(it)).collect();
        let ahead = self.ahead();
        let rest = if ahead.is_empty() {
            sentences.join(" ")
        } else {
            [&told[..1], &sentences[1..]].concat().join(" ")
        };
        ahead + &rest
    }

    fn figures(&self, groups: &Groups) -> Vec<Figure<'_>> {
        let plain = self.plain();
        let over = groups.over.zip(groups.measures.first());
        let over = over.map(|(over, measure)| plain.over(over, groups, measure));
        let quantities =
            over.into_iter().chain(groups.measures.iter().map(|it| plain.quantity(it)));
        if groups.then.is_some() {
            let measures = self.statement.measures.first().into_iter();
            return quantities.zip(measures.map(String::as_str)).collect();
        }
        quantities.zip(self.statement.measures.iter().map(String::as_str)).collect()
    }

    /// Says one number of all groups: the mean of their counts.
    fn of_groups(&self, groups: &Groups, figures: &[Figure<'_>]) -> String {
        let Some((quantity, label)) = figures.first() else { return String::new() };
        let value = &self.result.head.first().unwrap_or(&Json::Null)[*label];
        let word = match &groups.then {
            Some(Agg::Count) | None => {
                let mut text = match value.as_u64().unwrap_or_default() {
                    1 => format!("there is **1** {}", self.one_key(groups)),
                    n => format!("there are **{}** {}", grouped(n), self.keys_noun(groups)),
                };
                if let Some((op, value)) = &groups.having {
                    let _ = write!(text, " with {}", self.bound(quantity, *op, value));
                }
                return text + ".";
            }
            Some(Agg::Median) => "median",
            Some(Agg::Min) => "lowest",
            Some(Agg::Max) => "highest",
            Some(Agg::Sum) => "total",
            Some(Agg::Std) => "standard deviation of the",
            Some(_) => "average",
        };
        let of = if groups
            .measures
            .iter()
            .all(|it| matches!(it.agg, Agg::Count | Agg::Distinct | Agg::Sum))
        {
            ""
        } else {
            "of the "
        };
        let (whole, key) = (quantity.whole(), self.one_key(groups));
        format!("the {word} {of}{whole} per {key} is **{}**.", quantity.told(value))
    }

    /// Says numbers of all rows.
    fn totals(&self, groups: &Groups, figures: &[Figure<'_>]) -> String {
        let null = Json::Null;
        let row = self.result.head.first().unwrap_or(&null);
        if let ([(quantity, label)], true) = (figures, groups.measures[0].agg != Agg::Share)
            && quantity.is_count
        {
            let n = row[*label].as_u64().unwrap_or_default();
            let is = if n == 1 { "is" } else { "are" };
            let at = match self.behind() {
                it if !it.is_empty() => it,
                _ => format!(" in {}", self.table().name),
            };
            return format!("there {is} {}{at}.", counted(n, &quantity.noun));
        }
        let parts = figures.iter().map(|(quantity, label)| {
            let value = quantity.told(&row[*label]);
            format!("the {} is **{value}**{}", quantity.whole(), self.parts(row, groups))
        });
        let parts: Vec<String> = parts.collect();
        format!("{}{}.", self.ahead(), listed(&parts, "and"))
    }

    /// Says of which numbers a share is.
    pub(super) fn parts(&self, row: &Json, groups: &Groups) -> String {
        let [measure] = &groups.measures[..] else { return String::new() };
        if measure.agg != Agg::Share
            || groups.over.is_some()
            || row["part"].is_null()
            || row["of"].is_null()
        {
            return String::new();
        }
        let plain = self.plain();
        let whole =
            crate::query::Measure { agg: Agg::Sum, only: Vec::new(), of: measure.of.clone() };
        let quantity = plain.quantity(&whole);
        let [part, of] = [&row["part"], &row["of"]].map(|it| quantity.told(it));
        let rows = if measure.of.is_none() { " rows" } else { "" };
        format!(" ({part} of {of}{rows})")
    }

    /// Says what is to be said of one number of the groups.
    fn sentence(&self, groups: &Groups, figure: &Figure<'_>) -> String {
        let (quantity, label) = figure;
        if let Some((op, value)) = &groups.having
            && groups.order.is_none_or(|it| it.n.is_none())
        {
            return self.passing(groups, figure, *op, value);
        }
        let rows = self.rows_known();
        let known: Vec<&Json> = rows.iter().filter(|it| !it[*label].is_null()).collect();
        let Some(first) = known.first() else {
            return format!("no {} has a value.", self.one_key(groups));
        };
        if !self.result.is_number(label) {
            return self.named_each(groups, figure, &known);
        }
        if let ([key], None) = (&groups.keys[..], groups.order)
            && self.plain().runs(key)
            && TREND_MIN <= self.result.n_rows
            && !matches!(groups.over, Some(Over::Growth | Over::Change))
        {
            return self.course(groups, figure, &known);
        }
        if self.result.n_rows == 1 {
            return self.only_one(groups, figure, first);
        }
        match groups.order {
            Some(order) if order.is_first() => {
                let (names, value) = (self.names(groups, &known), quantity.told(&first[*label]));
                let all = few(&names, self.result.n_rows, TOLD_MAX);
                let (end, noun) = (quantity.end(order.is_ascending), quantity.bare());
                format!("**{all}** have the {end} {noun}, {value} each.")
            }
            Some(order) if order.n.is_some() => self.ranking(groups, figure, &known, order),
            order => {
                let is_least_first = order.is_some_and(|it| it.is_ascending);
                if let Some(text) = self.last_of_series(groups, figure, &known) {
                    return text;
                }
                let name = |row: &Json| self.group_name(groups, row);
                let things = self.keys_noun(groups);
                let text = self.both_ends(groups, figure, &known, is_least_first, &name, &things);
                text + &self.without(groups, label)
            }
        }
    }

    /// Returns the rows that are known: those at the ends, if the first are not all.
    pub(super) fn rows_known(&self) -> &[Json] {
        self.ends.as_ref().map_or(&self.result.head, |it| &it.head)
    }

    /// Returns which of two keys runs in time, if one does, and the other makes series along it.
    pub(super) fn running(&self, groups: &Groups) -> Option<usize> {
        let plain = self.plain();
        let [first, second] = &groups.keys[..] else { return None };
        let is_plain = groups.order.is_none() && groups.having.is_none() && groups.then.is_none();
        match (plain.runs(first), plain.runs(second)) {
            (true, false) if is_plain => Some(0),
            (false, true) if is_plain => Some(1),
            _ => None,
        }
    }

    /// Says who is at either end in the last period of series.
    fn last_of_series(
        &self,
        groups: &Groups,
        figure: &Figure<'_>,
        known: &[&Json],
    ) -> Option<String> {
        let plain = self.plain();
        let at = self.running(groups)?;
        let time = self.statement.keys[at].as_str();
        let order = |it: &Json| {
            (number(it, time).unwrap_or_default(), it[time].as_str().map(str::to_owned))
        };
        let last = known.iter().max_by(|one, other| {
            order(one).partial_cmp(&order(other)).unwrap_or(Ordering::Equal)
        })?;
        let rows: Vec<&Json> = known.iter().copied().filter(|it| it[time] == last[time]).collect();
        let other = 1 - at;
        let name = |row: &Json| {
            plain.group(&groups.keys[other], &row[self.statement.keys[other].as_str()])
        };
        let things = plural(&plain.key(&groups.keys[other]));
        let period = plain.group(&groups.keys[at], &last[time]);
        let when = format!("{} {period}", plain.within(&groups.keys[at]));
        let is_several = 1 < rows.len() || last[EQUAL].as_u64().is_some_and(|it| 1 < it);
        if is_several {
            return Some(format!(
                "{when}, {}",
                self.both_ends(groups, figure, &rows, false, &name, &things)
            ));
        }
        // Of the others, only the last is known.
        let (quantity, label) = figure;
        self.ends.as_ref().map(|_| {
            let (name, value) = (name(last), quantity.told(&last[*label]));
            format!(
                "the last value is that of **{name}**, {when}: the {} is {value}.",
                quantity.whole()
            )
        })
    }

    /// Writes what a group is called.
    pub(super) fn group_name(&self, groups: &Groups, row: &Json) -> String {
        let plain = self.plain();
        let (mut names, mut times, mut within) = (Vec::new(), Vec::new(), "in");
        for (key, label) in groups.keys.iter().zip(&self.statement.keys) {
            let name = plain.group(key, &row[label.as_str()]);
            if plain.runs(key) {
                within = plain.within(key);
                times.push(name);
            } else {
                names.push(name);
            }
        }
        let time = times.join(", ");
        match (names.is_empty(), times.is_empty()) {
            (false, false) => format!("{} {within} {time}", names.join(", ")),
            (false, true) => names.join(", "),
            _ => time,
        }
    }

    pub(super) fn names(&self, groups: &Groups, rows: &[&Json]) -> Vec<String> {
        rows.iter().map(|it| self.group_name(groups, it)).collect()
    }

    /// Returns what a group is: `species`, `group`.
    fn one_key(&self, groups: &Groups) -> String {
        let plain = self.plain();
        let keys: Vec<String> = groups.keys.iter().map(|it| plain.key(it)).collect();
        listed(&keys, "and")
    }

    pub(super) fn keys_noun(&self, groups: &Groups) -> String {
        match &groups.keys[..] {
            [key] => plural(&self.plain().key(key)),
            _ => "groups".to_owned(),
        }
    }

    /// Says what a number is: `over 4,000 g`.
    fn bound(&self, quantity: &Quantity, op: Op, value: &Value) -> String {
        let limit = self.plain().limit(value, quantity);
        if !quantity.is_count {
            return format!("{} {} {limit}", quantity.noun, super::terms::op_word(op));
        }
        let word = match op {
            Op::Gt => "more than",
            Op::Ge => "at least",
            Op::Lt => "fewer than",
            Op::Le => "at most",
            Op::Eq => "exactly",
            Op::Ne => "other than",
        };
        format!("{word} {limit} {}", quantity.noun)
    }

    /// Says that groups have such a number.
    fn passes(&self, quantity: &Quantity, op: Op, value: &Value, is_one: bool) -> String {
        let has = if is_one { "has" } else { "have" };
        let article = match quantity.noun.chars().next() {
            _ if quantity.is_count => "",
            _ if quantity.noun.ends_with('s') && !quantity.noun.ends_with("ss") => "",
            Some('a' | 'e' | 'i' | 'o' | 'u') => "an ",
            _ => "a ",
        };
        format!("{has} {article}{}", self.bound(quantity, op, value))
    }

    /// Says which groups have such a number.
    fn passing(&self, groups: &Groups, figure: &Figure<'_>, op: Op, value: &Value) -> String {
        let (quantity, label) = figure;
        let n = self.result.n_rows;
        let head = self.result.head.iter().take(TOLD_MAX);
        let names: Vec<String> = head
            .map(|it| format!("{} ({})", self.group_name(groups, it), quantity.told(&it[*label])))
            .collect();
        let noun = if n == 1 { self.one_key(groups) } else { self.keys_noun(groups) };
        let what = self.passes(quantity, op, value, n == 1);
        format!("**{}** {noun} {what}: {}.", grouped(n), few(&names, n, TOLD_MAX))
    }

    /// Says which value each group has, where these are no numbers.
    fn named_each(&self, groups: &Groups, figure: &Figure<'_>, known: &[&Json]) -> String {
        let (quantity, label) = figure;
        let each: Vec<String> = known
            .iter()
            .take(TOLD_MAX)
            .map(|it| format!("{} ({})", quantity.told(&it[*label]), self.group_name(groups, it)))
            .collect();
        format!("the {} is {}.", quantity.noun, few(&each, self.result.n_rows, TOLD_MAX))
    }

    /// Says which groups have no value.
    fn without(&self, groups: &Groups, label: &str) -> String {
        let rows: Vec<&Json> = self.result.head.iter().filter(|it| it[label].is_null()).collect();
        // There is nothing before the first group.
        let has_none = matches!(groups.over, Some(Over::Growth | Over::Change));
        if rows.is_empty() || has_none || !self.result.is_complete() {
            return String::new();
        }
        let names = self.names(groups, &rows);
        format!(" Without a value: {}.", few(&names, names.len() as u64, TOLD_MAX))
    }
}
