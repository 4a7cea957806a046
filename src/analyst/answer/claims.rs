//! Sentences on what a check found.

use serde_json::Value as Json;

use csv_agent_text::digits;

use super::Answer;
use super::figure::{few, grouped, listed};
use super::quantity::Quantity;
use super::terms::op_word;
use crate::query::{Check, Groups, Measure, Op, Place, Test, Value};

/// Values that a sentence names.
const TOLD_MAX: usize = 5;

impl Answer<'_> {
    /// Says what a check found, without yes or no.
    pub(super) fn judged(&self, check: &Check) -> String {
        let plain = self.plain();
        let (is_good, n) = (self.holds(check), self.result.n_rows);
        let ahead = self.ahead();
        match check {
            Check::Number(measure, op, limit) => self.number_judged(measure, *op, limit, is_good),
            Check::Groups(groups, op, limit) => self.groups_judged(groups, *op, limit),
            Check::None(tests) => self.none_judged(tests),
            Check::All(tests) => self.all_judged(tests),
            Check::Unique(places) if places.is_empty() => {
                if is_good {
                    format!("{ahead}no row occurs twice.")
                } else {
                    format!(
                        "{ahead}{} {} equal to another row.",
                        self.rows_of_all(n),
                        if n == 1 { "is" } else { "are" }
                    )
                }
            }
            Check::Unique(places) if is_good => {
                format!("{ahead}no {} occurs twice.", plain.listed(places))
            }
            Check::Unique(places) => {
                let share = if n == 1 { "shares its" } else { "share their" };
                let values = self.values_of(places);
                format!(
                    "{ahead}{} {share} {} with another row{values}.",
                    self.rows_of_all(n),
                    plain.listed(places)
                )
            }
            Check::Present(places) => {
                let has = if n == 1 { "has" } else { "have" };
                match (places.is_empty(), is_good) {
                    (true, true) => format!("{ahead}no value is missing."),
                    (true, false) => {
                        format!("{ahead}{} {has} missing values.", self.rows_of_all(n))
                    }
                    (false, true) => {
                        format!("{ahead}no value of {} is missing.", plain.listed(places))
                    }
                    (false, false) => {
                        let names: Vec<String> = places.iter().map(|it| plain.words(*it)).collect();
                        let names = listed(&names, "or");
                        format!("{ahead}{} {has} no {names}.", self.rows_of_all(n))
                    }
                }
            }
            Check::Refers(join) => {
                let (words, other) = (plain.words(join.left), &self.tables[join.right.table].name);
                if is_good {
                    format!("{ahead}every {words} is in {other}.")
                } else {
                    let values = self.values_of(&[join.left]);
                    format!(
                        "{ahead}in {}, the {words} is not in {other}{values}.",
                        self.rows_of_all(n)
                    )
                }
            }
            Check::Varies(places) => match (is_good, &places[..]) {
                (true, []) => format!("{ahead}every column has more than one value."),
                (true, places) => {
                    format!("{ahead}{} has more than one value.", plain.listed(places))
                }
                (false, _) => {
                    let names = self.column_names();
                    let has = if n == 1 { "has" } else { "have" };
                    format!("{ahead}{} {has} only one value.", few(&names, n, TOLD_MAX * 2))
                }
            },
            Check::Inliers(places) => {
                let of = if places.is_empty() {
                    String::new()
                } else {
                    format!(" in {}", plain.listed(places))
                };
                if is_good {
                    format!("{ahead}there are no outliers{of}.")
                } else {
                    let (has, an) =
                        if n == 1 { ("has", "an outlier") } else { ("have", "an outlier") };
                    format!("{ahead}{} {has} {an}{of}.", self.rows_of_all(n))
                }
            }
        }
    }

    fn none_judged(&self, tests: &[Test]) -> String {
        let what = self.plain().clauses(&[&self.query.filters[..], tests].concat());
        match self.result.n_rows {
            0 => format!("there is no row where {what}."),
            n => format!("in {}, {what}.", self.rows_of_all(n)),
        }
    }

    fn all_judged(&self, tests: &[Test]) -> String {
        let (plain, which) = (self.plain(), self.behind());
        let n = self.result.n_rows;
        if n == 0 {
            let known = self.known(tests);
            return format!("in every row{which}{known}, {}.", plain.clauses(tests));
        }
        let not = match tests {
            [test] => plain.clause(test, true),
            tests => format!("it is not true that {}", plain.clauses(tests)),
        };
        format!("in {}{which}, {not}.", self.rows_of_all(n))
    }

    fn number_judged(&self, measure: &Measure, op: Op, limit: &Value, is_good: bool) -> String {
        let quantity = self.plain().quantity(measure);
        let label = self.statement.measures.first().map_or("", String::as_str);
        let value = &self.result.head.first().unwrap_or(&Json::Null)[label];
        let which = if is_good { "which is" } else { "which is not" };
        let limit = self.plain().limit(limit, &quantity);
        format!(
            "{}the {} is {}, {which} {} {limit}.",
            self.ahead(),
            quantity.whole(),
            quantity.told(value),
            op_word(op)
        )
    }

    fn groups_judged(&self, groups: &Groups, op: Op, limit: &Value) -> String {
        let plain = self.plain();
        let keys: Vec<String> = groups.keys.iter().map(|it| plain.key(it)).collect();
        let key = listed(&keys, "and");
        let over = groups.over.zip(groups.measures.first());
        let quantity: Quantity = match over {
            Some((over, measure)) => plain.over(over, groups, measure),
            None => plain.quantity(&groups.measures[0]),
        };
        let limit = plain.limit(limit, &quantity);
        let (whole, n) = (quantity.whole(), self.result.n_rows);
        if n == 0 {
            return format!(
                "{}for every {key}, the {whole} is {} {limit}.",
                self.ahead(),
                op_word(op)
            );
        }
        let noun = match &keys[..] {
            [_] if n == 1 => key,
            [key] => super::names::plural(key),
            _ => "groups".to_owned(),
        };
        let label = self.statement.measures.first().map_or("", String::as_str);
        let names: Vec<String> = self
            .result
            .head
            .iter()
            .take(TOLD_MAX)
            .map(|it| format!("{} ({})", self.group_name(groups, it), quantity.told(&it[label])))
            .collect();
        let n_told = grouped(n);
        let names = few(&names, n, TOLD_MAX);
        format!(
            "{}for {n_told} {noun}, the {whole} is not {} {limit}: {names}.",
            self.ahead(),
            op_word(op)
        )
    }

    /// Writes how many rows of all there are: `2 of 344 rows`.
    fn rows_of_all(&self, n: u64) -> String {
        let of = self.table().n_rows;
        if self.is_of_all() && 1 < n && n == of {
            format!("all {} rows", grouped(n))
        } else if self.is_of_all() {
            format!("{} of {}", grouped(n), digits::count(of, "row"))
        } else {
            digits::count(n, "row")
        }
    }

    /// Says in which rows a condition is judged, when some have no value.
    fn known(&self, tests: &[Test]) -> String {
        let plain = self.plain();
        let mut places: Vec<Place> = Vec::new();
        for place in tests.iter().flat_map(Test::judged) {
            if 0 < plain.column(place).n_missing && !places.contains(&place) {
                places.push(place);
            }
        }
        match &places[..] {
            [] => String::new(),
            [place] if self.is_of_all() => {
                let of = self.table().n_rows;
                let n = of.saturating_sub(plain.column(*place).n_missing);
                format!(" that has {} ({} of {})", plain.words(*place), grouped(n), grouped(of))
            }
            places => format!(" that has {}", plain.listed(places)),
        }
    }

    /// Writes the first values of columns in the rows that were found.
    fn values_of(&self, places: &[Place]) -> String {
        let plain = self.plain();
        let mut names: Vec<String> = Vec::new();
        for row in &self.result.head {
            let cells = places.iter().map(|it| plain.cell(*it, &row[plain.label(*it).as_str()]));
            let name = cells.collect::<Vec<_>>().join(", ");
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let is_all = self.result.is_complete() && names.len() <= TOLD_MAX;
        if names.is_empty() {
            String::new()
        } else if is_all {
            format!(": {}", few(&names, names.len() as u64, TOLD_MAX))
        } else {
            format!(", such as {}", listed(&names[..names.len().min(2)], "and"))
        }
    }
}
