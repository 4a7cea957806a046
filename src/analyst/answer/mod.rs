//! The answer: what is shown, and the sentences that go with it.

mod chart;
mod claims;
mod comparison;
mod correlation;
mod describe;
mod ends;
mod figure;
mod head;
mod groups;
mod listing;
mod names;
mod nothing;
mod pivot;
mod plain;
mod plots;
mod profile;
mod quality;
mod quantity;
mod terms;
mod title;
mod verdict;

#[cfg(test)]
mod tests;

use std::fmt::Write;

use csv_agent_text::sql::{identifier, literal};

pub(crate) use chart::Drawing;
pub(crate) use describe::describe;
pub(crate) use head::ResultHead;

use crate::query::{
    Agg, Check, Contrast, GroupKey, Groups, LogicalForm, Measure, Op, Place, Profile, Shape, Test,
    Value,
};
use crate::schema::{Column, Table};
use crate::sql::{Statement, column_label, slug};
use figure::{capital, grouped};
use plain::Plain;

/// The name of the result that is shown, unless a dataset has it.
const RESULT: &str = "result";
/// How many groups have the same number, in a result of its ends.
const EQUAL: &str = "_equal";
/// Groups that share an end and are named.
const EQUALS_MAX: usize = 3;
/// Texts that often mean that a value is missing.
const BLANKS: [&str; 7] = ["NA", "N/A", "n/a", "NaN", "null", "NULL", "None"];
/// The column of how many rows have such a text.
const BLANK: &str = "rows";
/// Columns that are looked at for such texts.
const BLANK_COLUMNS_MAX: usize = 5;
/// Letters of conditions that a sentence repeats.
const WHERE_CHARS_MAX: usize = 100;

#[derive(Debug)]
pub(crate) struct Answer<'a> {
    /// What was asked.
    pub query: &'a LogicalForm,
    /// The tables.
    pub tables: &'a [Table],
    /// What computed it.
    pub statement: &'a Statement,
    /// What came out.
    pub result: ResultHead,
    /// Its first and last row and those at the ends, if the first rows are not all.
    pub ends: Option<ResultHead>,
    /// The words of the question.
    pub question: &'a str,
}

impl<'a> Answer<'a> {
    fn plain(&self) -> Plain<'a> {
        Plain { query: self.query, tables: self.tables }
    }

    fn result(&self) -> String {
        result_name(self.tables)
    }

    /// Writes the whole text.
    pub(crate) fn text(&self, notes: &[String]) -> String {
        let reading = describe(self.query, self.tables);
        let mut text = format!("{}\n\nI read this as: {}", self.finding(), ended(&reading));
        for note in notes.iter().chain(&self.notes()) {
            let _ = write!(text, " {note}");
        }
        text
    }

    /// Writes what was found, in a sentence or two.
    pub(crate) fn finding(&self) -> String {
        let text = match &self.query.body {
            Shape::Groups(groups) => self.groups(groups),
            Shape::Rows(listing) => self.rows(listing),
            Shape::Compare(comparison) => self.comparison(comparison),
            Shape::Profile(profile) => self.profile(profile),
            Shape::Check(check) => self.checked(check),
        };
        capital(ended(text.trim_end_matches('.')).as_str())
    }

    /// Returns the statement that finds the ends of a result of which only the first rows are known.
    pub(crate) fn ends_sql(&self) -> Option<String> {
        let Shape::Groups(groups) = &self.query.body else { return None };
        let is_limited = groups.order.is_some_and(|it| it.n.is_some());
        let is_limited = is_limited || groups.having.is_some();
        if self.result.is_complete() || is_limited || groups.keys.is_empty() {
            return None;
        }
        let measure = identifier(self.statement.measures.first()?);
        let equal = format!("count(*) over (partition by {measure}) as \"{EQUAL}\"");
        let result = self.result();
        let known = format!("select *, {equal}\nfrom {result}\nwhere {measure} is not null");
        let end = |way: &str| {
            let order = format!("over (order by {measure}{way})");
            format!("rank() {order} = 1 and row_number() {order} <= {EQUALS_MAX}")
        };
        let ends = format!("{} or {}", end(" desc"), end(""));
        // Of series, the last values are compared.
        if let Some(at) = self.running(groups) {
            let time = identifier(&self.statement.keys[at]);
            let last = format!("(select max({time}) from {result} where {measure} is not null)");
            return Some(format!("{known} and {time} = {last}\nqualify {ends}"));
        }
        Some(format!(
            "{known}\nqualify {ends} or row_number() over () = 1 or row_number() over () = count(*) over ()"
        ))
    }

    /// Returns the statement that counts texts like `NA` where it is asked which values are missing.
    pub(crate) fn blanks_sql(&self) -> Option<String> {
        let of = match &self.query.body {
            Shape::Check(Check::Present(of)) | Shape::Profile(Profile::Missing { of, .. }) => {
                of.clone()
            }
            Shape::Check(Check::None(tests) | Check::All(tests)) => {
                let asked = tests.iter().filter_map(|it| match it {
                    Test::Missing(place) => Some(*place),
                    Test::Not(inner) => match **inner {
                        Test::Missing(place) => Some(place),
                        _ => None,
                    },
                    _ => None,
                });
                let asked: Vec<Place> = asked.collect();
                if asked.is_empty() {
                    return None;
                }
                asked
            }
            _ => return None,
        };
        let table = self.table();
        let is_asked = |at: &usize| {
            of.is_empty() || of.contains(&Place { table: self.query.from.table, column: *at })
        };
        let texts = (0..table.columns.len()).filter(is_asked).flat_map(|at| {
            let column = &table.columns[at];
            let values = column.values.as_deref().unwrap_or_default();
            let blanks = values.iter().filter(|it| BLANKS.contains(&it.as_str()));
            blanks.map(move |it| (&column.name, it))
        });
        let counts = texts.take(BLANK_COLUMNS_MAX).map(|(column, text)| {
            format!(
                "select {} as \"column\", {} as \"text\", count(*) as \"{BLANK}\" from {} where {} = {1}",
                literal(column),
                literal(text),
                identifier(&table.name),
                identifier(column)
            )
        });
        let counts: Vec<String> = counts.collect();
        (!counts.is_empty() && self.is_of_all()).then(|| counts.join("\nunion all\n"))
    }

    /// Says in how many rows there are such texts.
    pub(crate) fn blanks(found: &ResultHead) -> Vec<String> {
        let each = found.head.iter().filter_map(|it| {
            let (column, text) = (it["column"].as_str()?, it["text"].as_str()?);
            let n = it[BLANK].as_u64()?;
            let have = if n == 1 { "row has" } else { "rows have" };
            Some(format!(
                "{} {have} the text `{text}` in `{column}`, which does not count as missing.",
                grouped(n)
            ))
        });
        each.collect()
    }

    /// Returns what the table and the chart are called.
    pub(crate) fn logical_name(&self) -> String {
        let table = slug(&self.tables[self.query.from.table].name);
        let keys: Vec<String> = self.statement.keys.iter().map(|it| slug(it)).collect();
        match self.statement.measures.first().map(|it| slug(it)) {
            Some(_) if matches!(&self.query.body, Shape::Compare(it) if matches!(it.asks, Contrast::Holds(_))) =>
            {
                format!("{table}_comparison")
            }
            _ if let Shape::Profile(Profile::Distribution(place)) = &self.query.body => {
                format!("distribution_of_{}", slug(&self.plain().label(*place)))
            }
            _ if matches!(self.query.body, Shape::Check(_)) => format!("{table}_check"),
            Some(measure) if keys.is_empty() => measure,
            Some(measure) => format!("{measure}_by_{}", keys.join("_and_")),
            None => table,
        }
    }

    /// Says of which rows something is: `where sex is male, `. Nothing where it would be long.
    fn ahead(&self) -> String {
        let filters: Vec<Test> = self.filters_to_say().into_iter().cloned().collect();
        self.clauses(&filters).map(|it| format!("{it}, ")).unwrap_or_default()
    }

    /// Returns the conditions that are not seen by the names of the groups.
    fn filters_to_say(&self) -> Vec<&'a Test> {
        let keys: &[GroupKey] = match &self.query.body {
            Shape::Groups(groups) if groups.then.is_none() => &groups.keys,
            _ => &[],
        };
        let is_seen = |it: &&Test| match it {
            Test::In(Value::Column(place), _) => keys.contains(&GroupKey::Column(*place)),
            _ => false,
        };
        self.query.filters.iter().filter(|it| !is_seen(it)).collect()
    }

    /// The same behind a noun: ` where sex is male`.
    fn behind(&self) -> String {
        self.clauses(&self.query.filters).map(|it| format!(" {it}")).unwrap_or_default()
    }

    fn clauses(&self, filters: &[Test]) -> Option<String> {
        let plain = self.plain();
        let year = match filters {
            [Test::Is(value, Op::Eq, year)] if plain.is_year(value) => Some(year),
            [Test::In(value, years)] if plain.is_year(value) && years.len() == 1 => years.first(),
            _ => None,
        };
        let text = match (filters, year) {
            ([], _) => String::new(),
            (_, Some(year @ Value::Number(_))) => format!("in {}", plain.year(year)),
            (tests, _) => format!("where {}", plain.clauses(tests)),
        };
        (!text.is_empty() && text.chars().count() <= WHERE_CHARS_MAX).then_some(text)
    }

    /// Returns whether the rows are all those of one table.
    fn is_of_all(&self) -> bool {
        self.query.filters.is_empty() && self.query.from.join.is_none()
    }

    fn table(&self) -> &'a Table {
        &self.tables[self.query.from.table]
    }

    /// Returns what the user should know of how it was computed.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut told = Vec::new();
        self.tell_left_out(&mut notes, &mut told);
        let Shape::Groups(Groups { keys, measures, .. }) = &self.query.body else { return notes };
        let is_own = |it: &Place| it.table == self.query.from.table;
        let is_tested = |it| self.query.filters.iter().flat_map(Test::judged).any(|one| one == it);
        for place in keys.iter().map(GroupKey::place).filter(is_own) {
            let column = &self.tables[place.table].columns[place.column];
            if 0 < column.n_missing && !told.contains(&place) && !is_tested(place) {
                told.push(place);
                let n = grouped(column.n_missing);
                notes.push(format!("Rows without `{}` ({n} in all) are in no group.", column.name));
            }
            let label = column_label(self.query, self.tables, place);
            let is_shown =
                |text: &&&str| self.rows_known().iter().any(|it| it[label.as_str()] == ***text);
            if let Some(text) = BLANKS.iter().find(is_shown) {
                notes.push(format!(
                    "The group `{text}` has the rows in which `{}` is the text `{text}`, which may mean that the value is \
                     missing.",
                    column.name
                ));
            }
        }
        if !keys.is_empty() {
            return notes;
        }
        // Where a value is missing, a share counts the row, but not in its part.
        let read = |it: &Measure| {
            let places = it.places().into_iter();
            let is_counted = |place: &Place| {
                it.agg == Agg::Share && it.of.iter().all(|of| !of.places().contains(place))
            };
            places.filter(|it| !is_counted(it)).collect::<Vec<_>>()
        };
        for place in measures.iter().flat_map(read).filter(is_own) {
            let column = &self.tables[place.table].columns[place.column];
            if 0 < column.n_missing && !told.contains(&place) && !is_tested(place) {
                told.push(place);
                let which = self.missing_in_table(column, self.is_of_all());
                notes.push(format!("{which}; these are not counted."));
            }
        }
        notes
    }
}

impl Answer<'_> {
    /// Says which rows a negation leaves out without a word: those in which the value is missing.
    fn tell_left_out(&self, notes: &mut Vec<String>, told: &mut Vec<Place>) {
        let what = match &self.query.body {
            Shape::Groups(_) => "counted",
            Shape::Rows(_) => "listed",
            _ => return,
        };
        let negated = self.query.filters.iter().flat_map(|it| match it {
            Test::Not(test) if !matches!(**test, Test::Missing(_)) => test.places(),
            Test::Is(value, Op::Ne, _) => value.places(),
            _ => Vec::new(),
        });
        for place in negated.filter(|it| it.table == self.query.from.table) {
            let column = &self.tables[place.table].columns[place.column];
            if 0 < column.n_missing && !told.contains(&place) {
                told.push(place);
                let which = self.missing_in_table(column, self.query.filters.len() == 1);
                notes.push(format!("{which}; these are not {what}."));
            }
        }
    }

    /// Says in how many rows of the table a value is missing. If the question is not about all of them, the number of
    /// its rows is not known here, so the sentence names the table.
    fn missing_in_table(&self, column: &Column, is_of_all: bool) -> String {
        let [n, of] = [column.n_missing, self.table().n_rows].map(grouped);
        let (name, table) = (&column.name, &self.table().name);
        if is_of_all {
            format!("`{name}` is missing in {n} of {of} rows")
        } else {
            format!("In all of `{table}`, `{name}` is missing in {n} of {of} rows")
        }
    }
}

/// Ends a sentence: also one whose last word has a full stop.
fn ended(text: &str) -> String {
    if text.ends_with('.') { text.to_owned() } else { format!("{text}.") }
}

/// Returns the name of the result that is shown.
pub(crate) fn result_name(tables: &[Table]) -> String {
    free_name(RESULT, tables)
}

/// Returns a name that no dataset has.
fn free_name(name: &str, tables: &[Table]) -> String {
    let mut name = name.to_owned();
    while tables.iter().any(|it| it.name == name) {
        name.push('_');
    }
    name
}

/// Writes how many of something there are: `1 row`, `2,000 rows`, the number in bold.
fn counted(n: u64, plural: &str) -> String {
    let noun = if n == 1 { singular(plural) } else { plural.to_owned() };
    format!("**{}** {noun}", grouped(n))
}

/// Returns the singular of what is counted: of rows, or of different things.
fn singular(plural: &str) -> String {
    match plural.strip_prefix("rows") {
        Some(rest) => format!("row{rest}"),
        None => match plural.strip_prefix("different ") {
            Some(things) => format!("value of {things}"),
            None => plural.to_owned(),
        },
    }
}
