//! The tables that a question may be about, as the instructions and the tools describe them.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use csv_agent_types::dataset_names::is_same;
use serde_json::Value;

use crate::lexicon::{Cue, Lexicon, TimeUnit, is_often};
use crate::words::{Token, TokenKind, split_name};

/// What is said of a column whose name is made up.
const UNNAMED: &str = "no name in the file";
/// Tables that are tried two by two.
pub(crate) const JOINED_MAX: usize = 12;
/// Tables that a question may be about.
const TABLES_MAX: usize = 2 * JOINED_MAX;
/// Tables with the same columns that come before any others: with only one, a question that means one of many would
/// look clear.
const ALIKE_MAX: usize = 3;
/// What goes before the names of columns whose values are kept back.
const KEPT_BACK: &str = "The user keeps back values of these columns: ";

/// A table that a question may be about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// The dataset's name.
    pub name: String,
    /// Stems of the words in it.
    pub words: Vec<String>,
    /// How many rows there are.
    pub n_rows: u64,
    /// In the order of the file.
    pub columns: Vec<Column>,
    /// How many columns there are, known or not.
    pub n_columns: usize,
}

/// A column of a table.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Exactly as the file has it.
    pub name: String,
    /// Stems of the words in it.
    pub words: Vec<String>,
    /// What it holds.
    pub kind: Kind,
    /// How many of its values are missing.
    pub n_missing: u64,
    /// Whether it numbers things, as its name says, or as it is called what rows are.
    pub is_key: bool,
    /// Whether its name says that it holds what things are called.
    pub is_title: bool,
    /// The unit of time that its name says it numbers: the year of `model_year`.
    pub unit: Option<TimeUnit>,
    /// The text that says yes, in a column of texts that say yes or no.
    pub yes: Option<String>,
    /// Whether it has numbers: also one of 0 and 1 that says yes or no.
    pub is_number: bool,
    /// All its values, if there are few and the data was looked at.
    pub values: Option<Vec<String>>,
    /// How many different values it has, if the data was looked at.
    pub n_distinct: Option<u64>,
    /// Its least and its largest number, if the data was looked at.
    pub range: Option<(f64, f64)>,
    /// Whether the file has no name for it: an index, of which nobody asks.
    pub is_unnamed: bool,
    /// Whether the user keeps its values back, so that other texts stand for them.
    pub is_kept_back: bool,
    /// Whether its name says that text in it may be dates.
    pub may_be_dated: bool,
    /// How dates are written that are text, in terms of strptime.
    pub form: Option<String>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Whole numbers.
    Whole,
    /// Numbers with a fraction.
    Real,
    Text,
    /// True or false.
    Bool,
    Day,
    /// Days with a time.
    Moment,
    /// Instants, kept in UTC.
    Instant,
    /// Times of day.
    Clock,
}

impl Kind {
    fn of(dtype: &str) -> Kind {
        match dtype {
            "int64" => Kind::Whole,
            "float64" => Kind::Real,
            "bool" => Kind::Bool,
            "date" => Kind::Day,
            "timestamp" => Kind::Moment,
            "timestamp_utc" => Kind::Instant,
            "time" => Kind::Clock,
            _ => Kind::Text,
        }
    }

    /// Returns whether values can be added up.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Kind::Whole | Kind::Real)
    }

    /// Returns whether values have a place in a calendar.
    pub(crate) fn is_time(self) -> bool {
        matches!(self, Kind::Day | Kind::Moment | Kind::Instant)
    }

    /// Returns what the type is called in SQL.
    pub(crate) fn dtype(self) -> &'static str {
        match self {
            Kind::Whole => "bigint",
            Kind::Real => "double",
            Kind::Text => "text",
            Kind::Bool => "boolean",
            Kind::Day => "date",
            Kind::Moment => "timestamp",
            Kind::Instant => "timestamptz",
            Kind::Clock => "time",
        }
    }
}

impl Column {
    /// Returns how many different values it has, if there are few and that is known.
    pub(crate) fn n_values(&self) -> Option<usize> {
        self.values.as_ref().map(Vec::len)
    }

    /// Returns whether it numbers a thing, given the stem of its name: the tests of `test_id`.
    pub(crate) fn is_key_of(&self, thing: &str) -> bool {
        matches!(&self.words[..], [of, key] if of == thing && key == "id")
    }
}

impl Table {
    /// Returns whether every column is known.
    pub(crate) fn is_whole(&self) -> bool {
        self.columns.len() == self.n_columns
    }

    /// Returns whether words are the table's name: `line items` of `lineitem`.
    pub(crate) fn is_called(&self, stems: &[String]) -> bool {
        self.words == stems || 1 < stems.len() && self.words.concat() == stems.concat()
    }

    /// Returns whether the question has the table's name in quotes.
    pub(crate) fn is_quoted(&self, token: &Token) -> bool {
        token.kind == TokenKind::Quoted && is_same(&self.name, &token.text)
    }

    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|it| it.name == name)
    }
}

/// Leaves out the first word of names when all have it: `s_name`, `s_phone`.
fn strip_common(table: &mut Table) {
    let Some(first) = table.columns.first().and_then(|it| it.words.first()).cloned() else {
        return;
    };
    let has_it = |it: &Column| 1 < it.words.len() && it.words[0] == first;
    if 2 < table.columns.len() && table.columns.iter().all(has_it) {
        for column in &mut table.columns {
            column.words.remove(0);
        }
    }
}

/// Reads the tables out of instructions: a line on each, and one on each of its columns.
pub(crate) fn of_instructions(text: &str, lexicon: &Lexicon) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for line in text.lines() {
        if let Some(table) = table(line, lexicon) {
            tables.push(table);
        } else if let (Some(column), Some(table)) = (column(line, lexicon), tables.last_mut()) {
            table.columns.push(column);
        }
    }
    for table in tables.iter_mut().filter(|it| it.is_whole()) {
        strip_common(table);
    }
    strip_owner(&mut tables);
    for table in &mut tables {
        mark_row_key(table, lexicon);
    }
    tables
}

/// Returns the tables that questions are likely about, if there are many: those that have the most of their words
/// first. Each is looked at before a question is read.
pub(crate) fn likeliest<'a>(
    mut tables: Vec<Table>,
    questions: impl Iterator<Item = &'a str>,
    lexicon: &Lexicon,
) -> Vec<Table> {
    if tables.len() <= JOINED_MAX {
        return tables;
    }
    let said: HashSet<String> = questions.flat_map(|it| lexicon.words.stems(it)).collect();
    let n_said = |table: &Table| {
        let words: HashSet<&String> =
            table.columns.iter().flat_map(|it| &it.words).chain(&table.words).collect();
        words.into_iter().filter(|it| said.contains(*it)).count()
    };
    tables.sort_by_cached_key(|it| Reverse(n_said(it)));
    let mut n_alike: HashMap<Vec<String>, usize> = HashMap::new();
    let round = |table: Table| {
        let names = table.columns.iter().map(|it| it.name.clone()).collect();
        let n = n_alike.entry(names).or_default();
        *n += 1;
        ((*n - 1) / ALIKE_MAX, table)
    };
    let mut rounds: Vec<(usize, Table)> = tables.into_iter().map(round).collect();
    rounds.sort_by_key(|it| it.0);
    rounds.into_iter().take(TABLES_MAX).map(|it| it.1).collect()
}

/// Marks the columns of which instructions say that their values are kept back.
pub(crate) fn mark_kept_back(tables: &mut [Table], text: &str) {
    let Some(mut rest) = text.lines().find_map(|it| it.strip_prefix(KEPT_BACK)) else { return };
    let mut names: Vec<String> = Vec::new();
    loop {
        let mut found = serde_json::Deserializer::from_str(rest).into_iter::<String>();
        let Some(Ok(name)) = found.next() else { break };
        rest = &rest[found.byte_offset()..];
        names.push(name);
        match rest.strip_prefix(", ") {
            Some(more) => rest = more,
            None => break,
        }
    }
    for column in tables.iter_mut().flat_map(|it| &mut it.columns) {
        column.is_kept_back = names.contains(&column.name);
    }
}

/// Puts names of tables that begin with a digit in quotes: `2024-06_sales` would be read as a month.
pub(crate) fn with_quoted_names(question: &str, tables: &[Table]) -> String {
    let is_inside = |it: char| it.is_alphanumeric() || "_-\"'`".contains(it);
    let mut text = question.to_owned();
    let names = tables.iter().map(|it| it.name.as_str());
    for name in names.filter(|it| it.starts_with(char::is_numeric) && it.contains(['_', '-'])) {
        // Positions are the same in lower case where only ASCII changes.
        let Some(at) = text.to_ascii_lowercase().find(&name.to_ascii_lowercase()) else { continue };
        let (before, behind) = (&text[..at], &text[at + name.len()..]);
        if !before.ends_with(is_inside) && !behind.starts_with(is_inside) {
            text = format!("{before}\"{name}\"{behind}");
        }
    }
    text
}

/// Takes whole numbers for keys when their column comes first and is called what rows are: the `School` of
/// `pupil_schools`.
fn mark_row_key(table: &mut Table, lexicon: &Lexicon) {
    let Some(first) = table.columns.first_mut() else { return };
    let is_row = first.words.len() == 1 && first.words.last() == table.words.last();
    let adds = lexicon.is_additive(&first.words) == Some(true);
    first.is_key |= first.kind == Kind::Whole && is_row && 1 < table.words.len() && !adds;
}

/// Leaves out the first word of tables' names when all have it: `northwind_orders`, `northwind_customers`.
fn strip_owner(tables: &mut [Table]) {
    let Some(first) = tables.first().and_then(|it| it.words.first()).cloned() else { return };
    let has_it = |it: &Table| 1 < it.words.len() && it.words[0] == first;
    if 1 < tables.len() && tables.iter().all(has_it) {
        for table in tables {
            table.words.remove(0);
        }
    }
}

/// Reads `- sales: 10 rows, 3 columns`.
fn table(line: &str, lexicon: &Lexicon) -> Option<Table> {
    let (name, size) = line.strip_prefix("- ")?.split_once(": ")?;
    let (rows, columns) = size.split_once(" rows, ").or_else(|| size.split_once(" row, "))?;
    let columns = columns.strip_suffix(" columns").or_else(|| columns.strip_suffix(" column"))?;
    Some(Table {
        name: name.to_owned(),
        words: lexicon.words.stems(name),
        n_rows: rows.parse().ok()?,
        columns: Vec::new(),
        n_columns: columns.parse().ok()?,
    })
}

/// Reads `  - "revenue" float64, 3 missing, note "decimal comma"`.
fn column(line: &str, lexicon: &Lexicon) -> Option<Column> {
    let rest = line.strip_prefix("  - ")?;
    let mut names = serde_json::Deserializer::from_str(rest).into_iter::<String>();
    let name = names.next()?.ok()?;
    let mut facts = rest[names.byte_offset()..].trim_start().split(", ");
    let dtype = facts.next()?;
    // A name that is cut cannot be used in code: `get_dataset_info` has it whole.
    let (mut n_missing, mut is_cut, mut is_unnamed) = (0, false, false);
    // What the file says of the column comes last, and may say anything.
    let is_said = |it: &&str| it.starts_with("described as") || it.starts_with("note ");
    for fact in facts.take_while(|it| !is_said(it)) {
        is_cut |= fact.starts_with("name cut");
        is_unnamed |= fact == UNNAMED;
        n_missing =
            fact.strip_suffix(" missing").and_then(|it| it.parse().ok()).unwrap_or(n_missing);
    }
    (!is_cut).then(|| Column { is_unnamed, ..new_column(name, dtype, n_missing, lexicon) })
}

/// Splits a number of several digits off the end of a word: `hits86`.
fn with_number(word: String) -> Vec<String> {
    let end = word.trim_end_matches(|it: char| it.is_ascii_digit()).len();
    if end == 0 || word.len() - end < 2 {
        return vec![word];
    }
    vec![word[..end].to_owned(), word[end..].to_owned()]
}

fn new_column(name: String, dtype: &str, n_missing: u64, lexicon: &Lexicon) -> Column {
    let kind = Kind::of(dtype);
    let mut words: Vec<String> =
        lexicon.words.stems(&name).into_iter().flat_map(with_number).collect();
    let last = words.last().filter(|_| kind == Kind::Whole);
    // `custkey` is the key of a `cust`, `foundingyear` the year of a `founding`.
    let key = last.and_then(|it| it.strip_suffix("key")).filter(|it| 3 <= it.len());
    let key = key.map(|of| [of.to_owned(), "key".to_owned()]);
    let year = last.and_then(|it| lexicon.year_within(it));
    let year = year.map(|(of, unit)| [lexicon.words.stem(of), unit]);
    let is_year = year.is_some();
    // A `statename` is the name of a `state`.
    let lower = name.to_lowercase();
    let titled = lower
        .strip_suffix("name")
        .filter(|it| kind == Kind::Text && words.len() == 1 && 4 <= it.len());
    let title = titled.map(|of| [lexicon.words.stem(of), lexicon.words.stem("name")]);
    if let Some(split) = key.or(year).or(title) {
        words.pop();
        words.extend(split);
    }
    let is_title = lexicon.has(Cue::Labels, &words);
    let is_key = match &words[..] {
        [word] => lexicon.is(Cue::Keys, word) || lexicon.is(Cue::RowKeys, &lower),
        [.., last] => {
            kind == Kind::Whole && lexicon.is(Cue::KeyEnds, last) || lexicon.has(Cue::Keys, &words)
        }
        [] => false,
    };
    // A `MonthlyIncome` is of no month, and `years` last; a `model_year` is one.
    let unit = split_name(&name)
        .into_iter()
        .map(str::to_lowercase)
        .filter(|it| !is_often(it))
        .find_map(|it| lexicon.unit(&it).filter(|_| lexicon.words.stem(&it) == it));
    let unit = unit.or_else(|| is_year.then_some(TimeUnit::Year));
    let is_dated = |it: &String| {
        lexicon.has_ending(Cue::Dates, it)
            || lexicon.unit(it) == Some(TimeUnit::Day)
            || it == "time"
    };
    let may_be_dated = kind == Kind::Text && words.iter().any(is_dated);
    Column {
        words,
        name,
        kind,
        n_missing,
        is_key,
        is_title,
        unit,
        yes: None,
        is_number: kind.is_number(),
        values: None,
        n_distinct: None,
        range: None,
        is_unnamed: false,
        is_kept_back: false,
        may_be_dated,
        form: None,
    }
}

/// Takes the whole schema of a table out of what `get_dataset_info` says.
pub(crate) fn complete(table: &mut Table, schema: &Value, lexicon: &Lexicon) {
    let Some(columns) = schema["columns"].as_array() else { return };
    let read = |it: &Value| {
        let name = it["name"].as_str()?.to_owned();
        let n_missing = it["nulls"].as_u64().unwrap_or_default();
        let is_unnamed =
            it["note"].as_str().is_some_and(|it| it.split("; ").any(|it| it == UNNAMED));
        Some(Column { is_unnamed, ..new_column(name, it["dtype"].as_str()?, n_missing, lexicon) })
    };
    table.columns = columns.iter().filter_map(read).collect();
    table.n_columns = table.columns.len();
    strip_common(table);
    mark_row_key(table, lexicon);
}

#[cfg(test)]
mod tests {
    use super::{Kind, likeliest, of_instructions, with_quoted_names};
    use crate::lexicon::ENGLISH;

    #[test]
    fn a_name_that_begins_with_a_digit_is_put_in_quotes() {
        let text = "- 2024-06_Sales: 1 row, 0 columns\n- 2024-06_Sales_b: 1 row, 0 columns\n";
        let tables = of_instructions(text, &ENGLISH);
        let check = |question: &str, expected: &str| {
            assert_eq!(with_quoted_names(question, &tables), expected);
        };
        check("total in 2024-06_sales?", "total in \"2024-06_Sales\"?");
        check("total in 2024-06_sales_b", "total in \"2024-06_Sales_b\"");
        check("total in `2024-06_sales`", "total in `2024-06_sales`");
        check("total in 2024-06", "total in 2024-06");
    }

    #[test]
    fn of_many_tables_those_come_first_that_a_question_names() {
        let months = (1..=30).map(|it| format!("- m-{it}: 1 row, 1 column\n  - \"qty\" int64\n"));
        let text = months.collect::<String>()
            + "- people: 1 row, 1 column\n  - \"city\" string\n- x: 1 row, 1 column\n  - \"y\" date\n";
        let first = |question: &str| {
            let tables = of_instructions(&text, &ENGLISH);
            let tables = likeliest(tables, [question].into_iter(), &ENGLISH);
            assert_eq!(tables.len(), 24);
            tables.into_iter().take(5).map(|it| it.name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(first("total qty by city"), "m-1 m-2 m-3 people x");
        assert_eq!(first("how many people in m-7?"), "m-7 m-1 m-2 people x");
    }

    #[test]
    fn tables_are_read_out_of_instructions() {
        let text = "Rules.\n- No table: at all.\n- sales: 10 rows, 3 columns\n  - \"the \\\"day\\\"\" date\n  \
                    - \"revenue\" float64, 2 missing, note \"a, 7 missing\"\n  - and 1 more: call get_dataset_info\n";
        let tables = of_instructions(text, &ENGLISH);
        assert_eq!(tables.len(), 1);
        assert_eq!((tables[0].n_rows, tables[0].is_whole()), (10, false));
        let found: Vec<_> =
            tables[0].columns.iter().map(|it| (it.name.as_str(), it.kind, it.n_missing)).collect();
        assert_eq!(found, [("the \"day\"", Kind::Day, 0), ("revenue", Kind::Real, 2)]);
        let one = of_instructions("- one: 1 row, 1 column\n  - \"a\" int64\n", &ENGLISH);
        assert_eq!((one[0].n_rows, one[0].is_whole()), (1, true));
    }
}
