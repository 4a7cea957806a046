//! The first sentence of an answer: the numbers that carry it.

use serde_json::Value;

use csv_agent_text::digits;

use super::describe::word;
use super::{Answer, capital, grouped};
use crate::code::number;
use crate::ground::Place;
use crate::reading::{Check, Filter, Over, Rank, Told, What};
use crate::schema::{Column, Kind};

/// Columns that tell what a row is called: a first name and a last.
const NAMES_MAX: usize = 2;
/// Groups that one sentence names.
const TOLD_MAX: usize = 10;

impl Answer<'_> {
    /// Returns the first sentence: the numbers that answer.
    pub(super) fn sentence(&self) -> String {
        let first = self.head.first();
        let measure = self.program.measures.first();
        let value = |row: &Value, column: &str| shown(&row[column]);
        match (&self.reading.what, first, measure) {
            (What::Outliers(..), None, _) => "There are no outliers.".to_owned(),
            (What::Missing { .. }, None, _) => "No column has missing values.".to_owned(),
            (What::Check(_), ..) | (_, None, _) => "No rows match.".to_owned(),
            (What::Aggregate { measures, groups, over: Over::Plain, .. }, Some(row), _)
                if groups.is_empty() =>
            {
                let parts: Vec<String> = measures
                    .iter()
                    .zip(&self.program.measures)
                    .map(|(measure, label)| {
                        format!("{} is **{}**", self.measure(measure), value(row, label))
                    })
                    .collect();
                let text = parts.join(", ");
                format!("{}.", capital(&text))
            }
            (What::Share { groups, .. }, Some(row), _) if groups.is_empty() => {
                let part =
                    if row["count"].is_null() { value(row, "part") } else { value(row, "count") };
                format!("**{}%**: {part} of {}.", value(row, "share_percent"), value(row, "of"))
            }
            (What::Ratio { groups, .. }, Some(row), Some(label)) if groups.is_empty() => format!(
                "**{}** of the totals; {} as the mean over rows.",
                value(row, label),
                value(row, &format!("mean_{label}"))
            ),
            (What::Difference { between, .. }, Some(row), _) => format!(
                "{} has {}, {} has {}: the difference is **{}**.",
                between[0],
                value(row, &between[0]),
                between[1],
                value(row, &between[1]),
                value(row, "difference")
            ),
            (What::Change { names, .. }, Some(row), _) => format!(
                "From {} in {} to {} in {}: **{}**, or {}%.",
                value(row, &names[0]),
                names[0],
                value(row, &names[1]),
                names[1],
                value(row, "change"),
                value(row, "change_percent")
            ),
            (What::Aggregate { over: Over::Mean, .. }, Some(row), Some(label)) => {
                format!("**{}** on average.", value(row, label))
            }
            (What::Correlation(places, _), Some(row), _)
                if places.len() == 2 && self.n_rows == 1 =>
            {
                format!(
                    "The correlation of {} is **{}**.",
                    self.named(places),
                    value(row, "correlation")
                )
            }
            (What::Missing { told: Told::Total, .. }, Some(row), _) => {
                format!("**{}** values are missing.", value(row, "missing"))
            }
            (What::Missing { of: places, .. }, Some(row), _)
                if places.len() == 1 && self.n_rows == 1 =>
            {
                format!(
                    "**{}** values of {} are missing.",
                    value(row, "missing"),
                    self.named(places)
                )
            }
            (What::Size, Some(row), _) => {
                format!(
                    "**{}** rows and **{}** columns.",
                    value(row, "rows"),
                    value(row, "columns")
                )
            }
            (What::Duplicates(places), Some(row), _) if places.is_empty() => {
                format!("**{}** rows repeat an earlier one.", value(row, "duplicate_rows"))
            }
            (_, Some(row), Some(measure)) if !self.program.groups.is_empty() => {
                self.sentence_of_groups(row, measure)
            }
            (What::Rows { rank: Some((place, _)), .. }, Some(row), _) if self.n_rows == 1 => {
                self.sentence_of_row(row, *place)
            }
            (What::Outliers(places, true), Some(row), _) if places.len() == 1 => {
                format!("**{}** outliers in {}.", value(row, "outliers"), self.named(places))
            }
            (What::Outliers(places, false), _, _) if places.len() == 1 => {
                format!("**{}** outliers, in the table.", grouped(self.n_rows))
            }
            (What::Distribution(_), ..) => {
                format!("**{}** bins, in the table.", grouped(self.n_rows))
            }
            _ if self.n_rows == 1 => "One row, in the table.".to_owned(),
            _ => format!("**{}** rows, in the table.", grouped(self.n_rows)),
        }
    }

    /// Says what the one row is called, and the number for which it was chosen.
    fn sentence_of_row(&self, row: &Value, ranked: Place) -> String {
        let columns = &self.tables[ranked.table].columns;
        let is_text = |it: &&Column| it.kind == Kind::Text && row[it.name.as_str()].is_string();
        let titles = columns.iter().filter(is_text).filter(|it| it.is_title).take(NAMES_MAX);
        let told: Vec<String> = titles.map(|it| shown(&row[it.name.as_str()])).collect();
        let number = self.name(ranked);
        let value = shown(&row[number.as_str()]);
        if told.is_empty() {
            format!("The row in the table has `{number}` **{value}**.")
        } else {
            format!("**{}**: `{number}` {value}.", told.join(" "))
        }
    }

    /// Returns the order of which only the first few groups are asked for.
    fn few(&self) -> Option<Rank> {
        match self.reading.what {
            What::Aggregate { rank, .. } | What::Share { rank, .. } => {
                rank.filter(|it| it.n.is_some())
            }
            _ => None,
        }
    }

    /// Says which group is at either end.
    fn sentence_of_groups(&self, row: &Value, measure: &str) -> String {
        let value = |row: &Value, column: &str| shown(&row[column]);
        let key = |row: &Value| {
            let name = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
            let groups = self.program.groups.iter();
            let keys: Vec<String> = groups.map(|it| name(&row[it.as_str()])).collect();
            keys.join(", ")
        };
        if self.n_rows == 1 {
            return format!(
                "**{}**: {} {}.",
                key(row),
                measure.replace('_', " "),
                value(row, measure)
            );
        }
        let complete = self.head.len() as u64 == self.n_rows;
        let number = |it: &Value| it[measure].as_f64().unwrap_or_default();
        let known = || self.head.iter().filter(|it| it[measure].is_number());
        let most = known().max_by(|one, other| number(one).total_cmp(&number(other)));
        let least = known().min_by(|one, other| number(one).total_cmp(&number(other)));
        let without = self.head.iter().filter(|it| it[measure].is_null()).map(key);
        let without: Vec<String> = without.collect();
        let empty = match &without[..] {
            [] => String::new(),
            names => format!(" Without one: {}.", few(names)),
        };
        match (most, least) {
            (Some(most), Some(least)) if complete && most[measure] == least[measure] => {
                let keys: Vec<String> = known().map(key).collect();
                let (all, name) = (few(&keys), measure.replace('_', " "));
                let value = value(most, measure);
                if keys.len() == 1 {
                    format!("Only **{all}** has a {name}: {value}.")
                } else {
                    format!("**{all}** are equal: {name} {value}.{empty}")
                }
            }
            // Of the first few, the last is at no end of all.
            (Some(_), Some(_)) if let Some(rank) = self.few() => {
                let end = if rank.is_ascending { "smallest" } else { "largest" };
                let (name, value) = (measure.replace('_', " "), value(row, measure));
                let all = grouped(self.n_rows);
                format!(
                    "**{}** has the {end} {name}, {value}. The table has the {all} {end}.",
                    key(row)
                )
            }
            (Some(most), Some(least)) if complete => format!(
                "**{}** has the largest {}, {}; {} has the smallest, {}. The table has all {}.{empty}",
                key(most),
                measure.replace('_', " "),
                value(most, measure),
                key(least),
                value(least, measure),
                grouped(self.n_rows)
            ),
            _ => format!(
                "{} groups, in the table; the first is {} ({}).",
                grouped(self.n_rows),
                key(row),
                value(row, measure)
            ),
        }
    }

    /// Returns whether the rows are all those of one table.
    fn is_of_all(&self) -> bool {
        self.reading.filters.is_empty() && self.reading.join.is_none()
    }

    /// Says which rows a condition is judged in, when some have no value.
    fn known(&self, filters: &[Filter]) -> String {
        let mut places: Vec<Place> = Vec::new();
        for place in filters.iter().flat_map(Filter::judged) {
            let is_missing = 0 < self.tables[place.table].columns[place.column].n_missing;
            if is_missing && !places.contains(&place) {
                places.push(place);
            }
        }
        match &places[..] {
            [] => String::new(),
            [place] if self.is_of_all() => {
                let table = self.tables[0];
                let n = table.n_rows - table.columns[place.column].n_missing;
                let of = grouped(table.n_rows);
                format!(" that has `{}` ({} of {of})", self.name(*place), grouped(n))
            }
            places => format!(" that has {}", self.named(places)),
        }
    }

    /// Returns whether a check holds, and one sentence on it.
    pub(super) fn judge(&self, check: &Check) -> (bool, String) {
        let (n, of) = (self.n_rows, self.tables[0].n_rows);
        let rows =
            |n: u64| if n == 1 { "1 row".to_owned() } else { format!("{} rows", grouped(n)) };
        let table = &self.tables[0].name;
        let is_good = match check {
            Check::Number(..) => self.head.first().is_some_and(|it| it["holds"] == true),
            _ => n == 0,
        };
        let message = match check {
            Check::Number(measure, op, limit) => {
                let value = self.columns.first().and_then(|it| Some(&self.head.first()?[it]));
                format!(
                    "{} is {}, {} {} {}.",
                    capital(&self.measure(measure)),
                    value.map(shown).unwrap_or_default(),
                    if is_good { "which is" } else { "not" },
                    word(*op),
                    number(*limit)
                )
            }
            Check::Any(filters) if is_good => {
                format!("No row of `{table}` has {}.", self.conditions(filters))
            }
            Check::Any(filters) => {
                format!("{} of {} have {}.", grouped(n), rows(of), self.conditions(filters))
            }
            Check::All(filters) if is_good => {
                let known = self.known(filters);
                format!("Every row of `{table}`{known} has {}.", self.conditions(filters))
            }
            Check::All(filters) => {
                format!("{} of {} do not have {}.", grouped(n), rows(of), self.conditions(filters))
            }
            Check::Unique(places) if places.is_empty() && is_good => {
                format!("No row of `{table}` comes twice.")
            }
            Check::Unique(places) if places.is_empty() => {
                format!("{} of {} are duplicates of each other.", grouped(n), rows(of))
            }
            Check::Unique(places) if is_good => {
                let named = self.named(places);
                match &places[..] {
                    [place] if place.table == 0 && self.is_of_all() => {
                        let n_missing = self.tables[0].columns[place.column].n_missing;
                        let which = if 0 < n_missing { " with a value" } else { "" };
                        format!("{named} is unique in {}{which}.", rows(of - n_missing))
                    }
                    _ => format!("No two rows have the same {named}."),
                }
            }
            Check::Unique(places) => format!(
                "There are duplicates: {} of {} share their {} with another row.",
                grouped(n),
                rows(of),
                self.named(places)
            ),
            Check::Present(places) => {
                let what =
                    if places.is_empty() { "any column".to_owned() } else { self.named(places) };
                if is_good {
                    format!("Nothing is missing in {what} of {}.", rows(of))
                } else {
                    format!("{} of {} have missing values in {what}.", grouped(n), rows(of))
                }
            }
            Check::Refers(join) => {
                let other = &self.tables[1].name;
                if is_good {
                    format!("Every {} is in `{other}`.", self.named(&[join.left]))
                } else {
                    format!(
                        "{} of {} have a {} that is not in `{other}`.",
                        grouped(n),
                        rows(of),
                        self.named(&[join.left])
                    )
                }
            }
            Check::Varies(_) if is_good => "No column has one value only.".to_owned(),
            Check::Varies(_) => {
                let names: Vec<String> = self
                    .head
                    .iter()
                    .filter_map(|it| it["column"].as_str())
                    .map(|it| format!("`{it}`"))
                    .collect();
                format!("One value only: {}.", names.join(", "))
            }
            Check::Inliers(places) => {
                let what =
                    if places.is_empty() { "its numbers".to_owned() } else { self.named(places) };
                if is_good {
                    format!("No value of {what} is an outlier.")
                } else {
                    format!("{} of {} have an outlier in {what}.", grouped(n), rows(of))
                }
            }
        };
        (is_good, message)
    }
}

/// Writes the first few names of a list, and how many more there are.
fn few(names: &[String]) -> String {
    match names.len().checked_sub(TOLD_MAX) {
        Some(more) if 0 < more => format!("{} and {more} more", names[..TOLD_MAX].join(", ")),
        _ => names.join(", "),
    }
}

/// Writes a cell for people.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(it) if it.is_i64() => digits::grouped(&it.to_string()),
        Value::Number(it) => it.as_f64().map_or_else(|| it.to_string(), fraction),
        other => other.to_string(),
    }
}

fn fraction(value: f64) -> String {
    let decimals = match value.abs() {
        it if 1000.0 <= it => 2,
        it if 0.01 <= it => 4,
        _ => return format!("{value}"),
    };
    let text = format!("{value:.decimals$}");
    digits::grouped(text.trim_end_matches('0').trim_end_matches('.'))
}
