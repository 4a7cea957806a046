//! Words of sentences and titles: quantities, conditions and groups as a person would name them.

use serde_json::Value as Json;

use super::figure::{listed, number, with_unit};
use super::names::{self, Name};
use super::terms::{clock, name_of_part, op_word, part_of, part_word, sign_word, units};
use crate::lexicon::TimeUnit;
use crate::query::{Arithmetic, GroupKey, LogicalForm, Op, Part, Place, Test, Value, Within};
use crate::schema::{Column, Kind, Table};
use crate::sql::{column_label, unit_name};

/// Letters of a value in a sentence.
const VALUE_CHARS_MAX: usize = 80;

/// What says things about a query in plain words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plain<'a> {
    pub query: &'a LogicalForm,
    pub tables: &'a [Table],
}

impl<'a> Plain<'a> {
    pub(super) fn column(&self, place: Place) -> &'a Column {
        &self.tables[place.table].columns[place.column]
    }

    /// Returns the name of a column in the result.
    pub(super) fn label(&self, place: Place) -> String {
        column_label(self.query, self.tables, place)
    }

    /// Returns how people say a column.
    pub(super) fn name(&self, place: Place) -> Name {
        names::name(&self.tables[place.table], self.column(place))
    }

    pub(super) fn words(&self, place: Place) -> String {
        self.name(place).words
    }

    /// Returns columns in a list: `sex and island`.
    pub(super) fn listed(&self, places: &[Place]) -> String {
        listed(&places.iter().map(|it| self.words(*it)).collect::<Vec<_>>(), "and")
    }

    /// Returns whether the numbers of a column are names: years, keys.
    pub(super) fn is_name(&self, place: Place) -> bool {
        let column = self.column(place);
        column.is_key || column.unit.is_some() && column.kind == Kind::Whole
    }

    pub(super) fn is_year(&self, value: &Value) -> bool {
        match value {
            Value::Column(place) => {
                let column = self.column(*place);
                column.unit == Some(TimeUnit::Year) && column.kind == Kind::Whole
            }
            Value::Part(_, part) => *part == Part::Year,
            _ => false,
        }
    }

    /// Writes a year.
    pub(super) fn year(&self, value: &Value) -> String {
        match value {
            Value::Number(it) => crate::sql::number(*it),
            value => self.value(value),
        }
    }

    /// Returns what groups are told apart by: `species`, `month`.
    pub(super) fn key(&self, key: &GroupKey) -> String {
        match key {
            GroupKey::Column(place) | GroupKey::Bin(place, _) => self.words(*place),
            GroupKey::Time(_, unit) => unit_name(*unit).to_owned(),
            GroupKey::Part(_, part) => part_word(*part).to_owned(),
        }
    }

    /// Returns whether groups follow each other in time.
    pub(super) fn runs(&self, key: &GroupKey) -> bool {
        match key {
            GroupKey::Time(..) | GroupKey::Part(_, Part::Year) => true,
            GroupKey::Column(place) => {
                let column = self.column(*place);
                column.kind.is_time()
                    || column.kind == Kind::Whole && column.unit == Some(TimeUnit::Year)
            }
            GroupKey::Part(..) | GroupKey::Bin(..) => false,
        }
    }

    /// Returns the word before a period: in a year, on a day.
    pub(super) fn within(&self, key: &GroupKey) -> &'static str {
        match key {
            GroupKey::Time(_, TimeUnit::Day | TimeUnit::Hour) => "on",
            GroupKey::Column(place) if self.column(*place).kind.is_time() => "on",
            _ => "in",
        }
    }

    /// Returns whether groups follow each other as in a course: the hours of a day.
    pub(super) fn is_course(&self, key: &GroupKey) -> bool {
        match key {
            GroupKey::Part(_, part) => matches!(part, Part::Hour | Part::Month),
            GroupKey::Column(place) => {
                let column = self.column(*place);
                column.kind == Kind::Whole && !column.is_key && column.unit.is_some()
            }
            GroupKey::Time(..) | GroupKey::Bin(..) => false,
        }
    }

    /// Returns whether groups have an order of their own.
    pub(super) fn is_ordinal(&self, key: &GroupKey) -> bool {
        match key {
            GroupKey::Column(place) => {
                let column = self.column(*place);
                let counts = column.kind.is_number() && !column.is_key;
                self.runs(key) || counts || column.kind == Kind::Clock
            }
            _ => true,
        }
    }

    /// Writes what a group is called.
    pub(super) fn group(&self, key: &GroupKey, value: &Json) -> String {
        match (key, value.as_f64()) {
            (GroupKey::Part(_, part @ Part::Month), Some(n)) => {
                name_of_part(*part, n).unwrap_or_else(|| value.to_string())
            }
            (GroupKey::Part(_, Part::Hour), Some(n)) => format!("{n:02}:00"),
            (GroupKey::Part(_, Part::Quarter), Some(n)) => format!("Q{n}"),
            (GroupKey::Part(_, Part::Day), Some(n)) => format!("day {n}"),
            (GroupKey::Bin(place, width), Some(from)) => {
                let range = format!("{} to {}", number(from), number(from + width));
                with_unit(&range, self.name(*place).unit.as_deref())
            }
            (GroupKey::Time(_, TimeUnit::Week), _) => format!("the week of {}", cell(value)),
            (GroupKey::Column(place), Some(n))
                if self.column(*place).unit == Some(TimeUnit::Month) =>
            {
                name_of_part(Part::Month, n).unwrap_or_else(|| value.to_string())
            }
            (GroupKey::Column(place), Some(_)) if !self.runs(key) => {
                format!("{} {}", self.words(*place), self.cell(*place, value))
            }
            (GroupKey::Column(place), None) if value.is_boolean() => {
                format!("{} {value}", self.words(*place))
            }
            (_, Some(_)) => value.to_string(),
            _ => cell(value),
        }
    }

    /// Writes conditions as a clause: `sex is male and body mass is over 5,000 g`.
    pub(super) fn clauses(&self, tests: &[Test]) -> String {
        let clause = |test: &Test| match test {
            Test::Any(each) if 1 < tests.len() && 1 < each.len() => {
                format!("({})", self.clause(test, false))
            }
            test => self.clause(test, false),
        };
        tests.iter().map(clause).collect::<Vec<_>>().join(" and ")
    }

    /// Writes a condition, or that it is not met.
    pub(super) fn clause(&self, test: &Test, is_not: bool) -> String {
        let not = if is_not { "not " } else { "" };
        match test {
            Test::Is(one, op, other) => {
                let op = if is_not { op.opposite() } else { *op };
                let other = self.beside(other, one);
                let one = self.subject(one);
                match op {
                    Op::Eq => format!("{one} is {other}"),
                    Op::Ne => format!("{one} is not {other}"),
                    op => format!("{one} is {} {other}", op_word(op)),
                }
            }
            Test::In(value, values) => {
                let values: Vec<String> = values.iter().map(|it| self.beside(it, value)).collect();
                format!("{} is {not}{}", self.subject(value), listed(&values, "or"))
            }
            Test::Text(place, within, wanted) => {
                let verb = match (within, is_not) {
                    (Within::Contains, false) => "contains",
                    (Within::Contains, true) => "does not contain",
                    (Within::Starts, false) => "starts with",
                    (Within::Starts, true) => "does not start with",
                    (Within::Ends, false) => "ends with",
                    (Within::Ends, true) => "does not end with",
                };
                format!("{} {verb} “{wanted}”", self.words(*place))
            }
            Test::True(place) => {
                let column = self.column(*place);
                match &column.yes {
                    Some(yes) => format!("{} is {not}{yes}", self.words(*place)),
                    None => format!("{} is {not}true", self.words(*place)),
                }
            }
            Test::Missing(place) => format!("{} is {not}missing", self.words(*place)),
            Test::Last(place, n, unit) => {
                format!(
                    "{} is {not}in the last {} of the data",
                    self.words(*place),
                    units(*n, *unit)
                )
            }
            Test::Exists(join) => {
                format!(
                    "{} is {not}in {}",
                    self.words(join.left),
                    self.tables[join.right.table].name
                )
            }
            Test::Not(test) => self.clause(test, !is_not),
            Test::Any(tests) => {
                let each: Vec<String> = tests.iter().map(|it| self.clause(it, is_not)).collect();
                each.join(if is_not { " and " } else { " or " })
            }
        }
    }

    /// Writes what a condition is about: `the month of day`.
    fn subject(&self, value: &Value) -> String {
        match value {
            Value::Part(..) => format!("the {}", self.value(value)),
            value => self.value(value),
        }
    }

    /// Writes a value.
    pub(super) fn value(&self, value: &Value) -> String {
        match value {
            Value::Number(it) => number(*it),
            Value::Day(day) => day.to_string(),
            Value::Clock(time) => clock(*time),
            Value::Text(text) => text.clone(),
            Value::Column(place) => self.words(*place),
            Value::Part(place, part) => format!("{} of {}", part_word(*part), self.words(*place)),
            Value::Arithmetic(one, Arithmetic::Days, other) => {
                format!("days from {} to {}", self.value(other), self.value(one))
            }
            Value::Arithmetic(one, sign, other) => {
                format!("{} {} {}", self.value(one), sign_word(*sign), self.value(other))
            }
            Value::Query(query) => {
                let inner = Plain { query, tables: self.tables };
                match &query.body {
                    crate::query::Shape::Groups(groups) => {
                        let measure = groups.measures.first().map(|it| inner.quantity(it).whole());
                        format!("the {}", measure.unwrap_or_default())
                    }
                    _ => super::describe::describe(query, self.tables),
                }
            }
        }
    }

    /// Writes a value that another is compared with: with the unit of that, or as the name of a day.
    pub(super) fn beside(&self, value: &Value, other: &Value) -> String {
        if let Some(name) = part_of(value, other) {
            return name;
        }
        match (value, other) {
            (Value::Number(it), Value::Column(place)) if self.is_name(*place) => {
                crate::sql::number(*it)
            }
            (Value::Number(it), Value::Part(..)) => crate::sql::number(*it),
            (Value::Number(it), other) => with_unit(&number(*it), self.unit(other).as_deref()),
            _ => self.value(value),
        }
    }
}

/// Writes a value that is no number.
pub(super) fn cell(value: &Json) -> String {
    match value {
        Json::Null => "no value".to_owned(),
        Json::String(text) => {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = moment(&text).unwrap_or(text);
            csv_agent_text::fit::cut(&text, VALUE_CHARS_MAX).into_owned()
        }
        Json::Number(it) => it.as_f64().map_or_else(|| it.to_string(), number),
        other => other.to_string(),
    }
}

/// Writes an instant as people do: `2024-05-06 09:30 UTC` for `2024-05-06T09:30:00Z`.
fn moment(text: &str) -> Option<String> {
    let (day, time) = text.split_once('T')?;
    day.parse::<jiff::civil::Date>().ok()?;
    let (time, zone) = match time.strip_suffix('Z') {
        Some(time) => (time, " UTC"),
        None => (time, ""),
    };
    time.parse::<jiff::civil::Time>().ok()?;
    let time = time.strip_suffix(":00").filter(|it| it.contains(':')).unwrap_or(time);
    Some(if time == "00:00" && zone.is_empty() {
        day.to_owned()
    } else {
        format!("{day} {time}{zone}")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::cell;

    #[test]
    fn a_cell_is_written_for_people() {
        for (value, text) in [
            (json!("2024-05-06T09:30:00Z"), "2024-05-06 09:30 UTC"),
            (json!("2024-05-06T09:30:15"), "2024-05-06 09:30:15"),
            (json!("2024-05-06T00:00:00"), "2024-05-06"),
            (json!("T-shirt"), "T-shirt"),
            (json!(" two\nlines "), "two lines"),
            (json!(null), "no value"),
            (json!(true), "true"),
            (json!(0.5), "0.5"),
        ] {
            assert_eq!(cell(&value), text);
        }
    }
}
