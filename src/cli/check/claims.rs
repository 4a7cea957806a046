//! Claims of fixed forms, which are read word by word: conditions with `or`, `if … then …`, shares, formulas,
//! patterns, keys of several columns, and references.
//!
//! Pure. A claim has a form only if each of its words has a place in it, and only for one table. All others are left to
//! those who understand more.

mod condition;
mod figure;
mod groups;
mod reader;
mod text;
mod tokens;

use std::collections::BTreeSet;

use csv_agent_text::sql::{identifier, literal};
use csv_agent_types::catalog::DType;
use csv_agent_types::dataset_names::words;

use condition::RowCondition;
use reader::ClaimReader;
pub(super) use reader::NUMBERS;
use tokens::{ClaimToken, tokens};

/// Words for rows.
const ROWS: [&str; 6] = ["rows", "row", "records", "record", "entries", "lines"];
/// What is said of values that come more than once.
const TWICE: [&str; 9] = [
    "is used twice",
    "is used more than once",
    "appears twice",
    "occurs twice",
    "appears more than once",
    "occurs more than once",
    "comes twice",
    "is repeated",
    "is duplicated",
];
/// What may come after a condition, and says no more than it.
const IN_ALL_ROWS: [&str; 6] =
    ["in every row", "in each row", "in all rows", "for every row", "for each row", "for all rows"];
/// Words before the columns in whose groups a value is unique. `unique per customer` may mean one for each.
const WITHIN: [&str; 7] = [
    "within each", "within every", "within the same", "within one", "within an", "within a",
    "within",
];
/// Words before the columns in whose groups a value does not come twice.
const IN_ONE: [&str; 8] =
    ["in the same", "in one", "in an", "in a", "for the same", "for one", "for an", "per"];
/// How often values come that come once.
const ONCE: [&str; 5] = ["exactly once", "only once", "at most once", "no more than once", "once"];

/// A dataset that claims may be about.
#[derive(Debug)]
pub(super) struct ClaimTable {
    pub name: String,
    pub columns: Vec<ClaimColumn>,
}

#[derive(Debug)]
pub(super) struct ClaimColumn {
    pub name: String,
    pub dtype: DType,
    words: Vec<String>,
    /// Its texts, as far as they are known.
    values: Vec<String>,
}

/// The statement of a claim.
#[derive(Debug, PartialEq)]
pub(super) struct FormClaim {
    pub sql: String,
    pub reading: String,
    /// The columns that it reads, as `orders.total`.
    pub columns: Vec<String>,
}

impl ClaimColumn {
    pub(super) fn new(name: &str, dtype: DType, values: Vec<String>) -> ClaimColumn {
        ClaimColumn { name: name.to_owned(), dtype, words: words(name), values }
    }
}

/// Reads a claim, for each table that it may be about. Returns nothing where it has no such form.
pub(super) fn read<'a>(claim: &str, tables: &'a [ClaimTable]) -> Vec<(&'a str, FormClaim)> {
    let Some(tokens) = tokens(claim) else { return Vec::new() };
    if let Some(found) = reference(claim, &tokens, tables) {
        return vec![found];
    }
    let mut found: Vec<(bool, &str, FormClaim)> = Vec::new();
    for table in tables {
        let mut reader = ClaimReader { claim, tokens: &tokens, at: 0, table, names_table: false };
        let forms = [
            ClaimReader::share,
            ClaimReader::size,
            ClaimReader::different,
            ClaimReader::counted,
            ClaimReader::often,
            ClaimReader::one_value,
            ClaimReader::figures,
            ClaimReader::figure,
            ClaimReader::key,
            ClaimReader::rule,
        ];
        let read = forms.into_iter().find_map(|form| {
            (reader.at, reader.names_table) = (0, false);
            form(&mut reader).filter(|_| reader.is_at_end())
        });
        found.extend(read.map(|it| (reader.names_table, table.name.as_str(), it)));
    }
    if found.iter().any(|it| it.0) {
        found.retain(|it| it.0);
    }
    found.into_iter().map(|it| (it.1, it.2)).collect()
}

impl ClaimReader<'_> {
    /// `COND`, `if COND then COND`, `COND if COND`, `COND unless COND`, `COND only if COND`, `COND implies COND`
    fn rule(&mut self) -> Option<FormClaim> {
        let found = self
            .attempt(|it| {
                it.any(&["if", "whenever", "when", "where", "wherever"]).then_some(())?;
                let first = it.condition()?;
                it.sign(",");
                it.words("then");
                first.implies(it.condition()?)
            })
            .or_else(|| self.attempt(Self::only_if))
            .or_else(|| {
                self.attempt(|it| {
                    let then = it
                        .attempt(Self::never)
                        .or_else(|| it.attempt(Self::allowed_values))
                        .or_else(|| it.attempt(Self::of_value))
                        .or_else(|| it.attempt(Self::either))
                        .or_else(|| it.condition())?;
                    if it.words("implies") {
                        return then.implies(it.condition()?);
                    }
                    if it.any(&["if and only if", "exactly if", "exactly when"]) {
                        return then.equals(it.condition()?);
                    }
                    if it.words("only for") {
                        return then.implies(it.rows_with_value()?);
                    }
                    if let Some(rows) =
                        it.attempt(|it| it.words("for").then(|| it.rows_with_value()).flatten())
                    {
                        return rows.implies(then);
                    }
                    if it.any(&IN_ALL_ROWS) {
                        return Some(then);
                    }
                    if it.any(&["only if", "only when", "only where"]) {
                        return then.implies(it.condition()?);
                    }
                    if it.words("unless") {
                        let unless = it.condition()?;
                        return unless.not().implies(then);
                    }
                    if it.any(&["if", "whenever", "when", "where", "wherever"]) {
                        return it.condition()?.implies(then);
                    }
                    Some(then)
                })
            })?;
        Some(self.of_rows(&found))
    }

    /// `no date is in the future`
    fn never(&mut self) -> Option<RowCondition> {
        self.words("no").then_some(())?;
        let column = self.bare_column()?;
        let (found, is_negative) = self.forbidden(column)?;
        // `no a is not missing` and `no id is unique` are hardly meant.
        (!is_negative && !found.is_window).then(|| found.not())
    }

    /// `price of MSFT is below 100`: those rows only
    fn of_value(&mut self) -> Option<RowCondition> {
        let column = self.column()?;
        self.any(&["of the", "of", "in the", "in", "for the", "for", "from the", "from"])
            .then_some(())?;
        let rows = self.rows_with_value()?;
        (!rows.columns.contains(&column.name)).then_some(())?;
        rows.implies(self.predicate(column)?.0)
    }

    /// Reads a value, with the column or where only one has it: `MSFT`, `mode 4`.
    fn rows_with_value(&mut self) -> Option<RowCondition> {
        let named = self.attempt(|it| {
            let column = it.bare_column()?;
            Some((column, it.value(column)?))
        });
        let (column, value) = match named {
            Some(named) => named,
            None => self.only_value().map(|it| (it.0, literal(&it.1)))?,
        };
        let words = format!("is {value}");
        Some(column.condition(&format!("{} = {value}", column.value_sql()), &words))
    }

    /// `either a is 0 or b is 'x'`
    fn either(&mut self) -> Option<RowCondition> {
        self.words("either").then_some(())?;
        self.condition().filter(|it| it.sql.contains(") or ("))
    }

    /// `state is only set when country is US`
    fn only_if(&mut self) -> Option<RowCondition> {
        let column = self.column()?;
        self.any(&["is", "are", "must be", "may be", "can be", "should be"]).then_some(())?;
        self.words("only").then_some(())?;
        let first = self.test(column)?;
        self.any(&["if", "when", "where"]).then_some(())?;
        first.implies(self.condition()?)
    }

    fn of_rows(&self, condition: &RowCondition) -> FormClaim {
        let table = &self.table.name;
        let clause = if condition.is_window { "qualify" } else { "where" };
        let sql = format!("select *\nfrom {}\n{clause} {}", identifier(table), condition.broken());
        let reading = format!("in every row of `{table}`: {}", condition.words);
        FormClaim { sql, reading, columns: self.named(&condition.columns) }
    }

    fn named(&self, columns: &BTreeSet<String>) -> Vec<String> {
        columns.iter().map(|it| format!("{}.{it}", self.table.name)).collect()
    }

    /// `at most 5 % of emails are missing`, `email is at least 95% complete`
    fn share(&mut self) -> Option<FormClaim> {
        let (test, of, condition) = self
            .attempt(Self::share_of)
            .or_else(|| self.attempt(Self::part))
            .or_else(|| self.attempt(Self::in_share))?;
        let table = identifier(&self.table.name);
        let all = match &of {
            Some(column) => format!("count({})", identifier(column)),
            None => "count(*)".to_owned(),
        };
        let share = format!(
            "select 100.0 * count(*) filter (where {}) / nullif({all}, 0) as percent from {table}",
            condition.sql
        );
        let sql = format!("select *\nfrom ({share}) as share\nwhere not (percent {test})");
        let rows = match &of {
            Some(column) => format!("the rows of `{}` that have `{column}`", self.table.name),
            None => format!("the rows of `{}`", self.table.name),
        };
        let reading = format!("the share of {rows} in which {} is {test} %", condition.words);
        Some(FormClaim { sql, reading, columns: self.named(&condition.columns) })
    }

    /// `at most 5 % of emails are missing`, `at least 90% of orders have a customer`
    fn share_of(&mut self) -> Option<(String, Option<String>, RowCondition)> {
        let test = self.percentage()?;
        self.words("of").then_some(())?;
        self.any(&["all the", "all", "the"]);
        if self.table_name() || self.any(&ROWS) {
            let condition = self
                .attempt(Self::has_column)
                .or_else(|| self.attempt(Self::are_value))
                .or_else(|| self.words("where").then(|| self.condition()).flatten())
                .filter(|it| !it.is_window)?;
            return Some((test, None, condition));
        }
        let column = self.column()?;
        let (condition, _) = self.predicate(column)?;
        if condition.columns.len() != 1 || condition.is_window {
            return None;
        }
        // Values that are missing are no part of the values, unless it is about these.
        let is_of_all =
            condition.sql.contains(" is null") || condition.sql.contains(" is not null");
        let of = (!is_of_all).then(|| column.name.clone());
        Some((test, of, condition))
    }

    /// `email is at least 95% complete`
    fn part(&mut self) -> Option<(String, Option<String>, RowCondition)> {
        let column = self.column()?;
        self.any(&["must be", "should be", "is", "are"]).then_some(())?;
        let test = self.percentage()?;
        let condition = self.test(column)?;
        condition.is_presence.then_some((test, None, condition))
    }

    /// `a is above b in at least half of all rows`
    fn in_share(&mut self) -> Option<(String, Option<String>, RowCondition)> {
        let condition = self.condition().filter(|it| !it.is_window)?;
        self.any(&["in", "for"]).then_some(())?;
        let test = self.percentage()?;
        self.words("of").then_some(())?;
        self.any(&["all the", "all", "the"]);
        (self.any(&ROWS) || self.table_name()).then_some((test, None, condition))
    }

    /// `at most 5 %`, `between 40% and 60%`, `more than half`
    fn percentage(&mut self) -> Option<String> {
        if self.words("between") {
            let low = self.number()?;
            let _ = self.sign("%");
            self.words("and").then_some(())?;
            return Some(format!("between {low} and {}", self.percent()?));
        }
        let op = self.comparison()?;
        Some(format!("{op} {}", self.percent()?))
    }

    fn percent(&mut self) -> Option<String> {
        let part = self.one_of(&[
            ("half", "50"),
            ("a third", "100.0 / 3"),
            ("one third", "100.0 / 3"),
            ("two thirds", "200.0 / 3"),
            ("a quarter", "25"),
            ("one quarter", "25"),
            ("three quarters", "75"),
        ]);
        if let Some(part) = part {
            return Some(part.to_owned());
        }
        let percent = self.number()?;
        (self.sign("%") || self.any(&["percent", "per cent"])).then_some(percent)
    }

    /// `have a customer_id`, `have no email`, `are missing an email`
    fn has_column(&mut self) -> Option<RowCondition> {
        let is_none = self.any(&["have no", "has no"]);
        let is_missing = is_none || self.any(&["are missing", "lack"]);
        if !is_missing {
            self.any(&["have", "has"]).then_some(())?;
        }
        self.any(&["an", "a", "the", "its", "their"]);
        let column = self.column()?;
        // `have choice 1`, `have a price of at least 5`
        let test = self.attempt(|it| {
            if it.words("of") {
                return it.test(column);
            }
            let value = it.attempt(|it| it.value(column));
            value.map(|it| column.compared("=", &it)).or_else(|| it.bounds(column))
        });
        if let Some(test) = test {
            return (!is_missing).then_some(test);
        }
        // `have no discount` may be that it is 0.
        let is_open = is_none && column.is_number();
        (!is_open).then(|| RowCondition::of_presence(&column.name, !is_missing))
    }

    /// `are cancelled`, which is a value of one column
    fn are_value(&mut self) -> Option<RowCondition> {
        self.any(&["are in", "is in", "are from", "come from", "are", "is"]).then_some(())?;
        self.words("the");
        let (column, value) = self.only_value()?;
        let value = literal(&value);
        let sql = format!("{} = {value}", column.sql());
        Some(column.condition(&sql, &format!("is {value}")))
    }

    /// `orders has between 100 and 1000 rows`, `fewer than 5000 rows`
    fn size(&mut self) -> Option<FormClaim> {
        self.any(&["the table", "the file", "the data", "the number of rows of", "the"]);
        let is_before = self.table_name();
        let is_said = if is_before {
            self.any(&["must have", "should have", "has", "have", "contains"]).then_some(())?;
            true
        } else {
            self.any(&["there must be", "there should be", "there are", "has", "have", "contains"])
        };
        let test = self.count(is_said)?;
        if self.any(&ROWS) {
            if !is_before && self.any(&["in", "of"]) {
                self.table_name().then_some(())?;
            }
        } else {
            (!is_before && self.table_name()).then_some(())?;
        }
        let table = &self.table.name;
        let sql = format!(
            "select *\nfrom (select count(*) as n from {}) as size\nwhere not ({test})",
            identifier(table)
        );
        let test = test.strip_prefix("n ").unwrap_or(&test);
        let reading = format!("the number of rows of `{table}` is {test}");
        Some(FormClaim { sql, reading, columns: Vec::new() })
    }

    /// `order_id and sku together are unique`, `no email is used twice`, `there are no missing values in a, b and c`
    fn key(&mut self) -> Option<FormClaim> {
        let is_presence = self.any(&[
            "there are no missing values in",
            "there are no nulls in",
            "no missing values in",
            "no null values in",
            "no nulls in",
        ]);
        if is_presence {
            let (columns, _) = self.columns()?;
            let present = columns.iter().map(|it| RowCondition::of_presence(&it.name, true));
            let condition = RowCondition::joined(present.collect(), "and")?;
            return Some(self.of_rows(&condition));
        }
        if let Some(found) = self.attempt(Self::primary_key) {
            return Some(found);
        }
        let columns = self
            .attempt(|it| {
                it.words("no").then_some(())?;
                let is_combined = it.any(&["combination of", "pairing of", "pair of"]);
                let mut columns = if is_combined {
                    let (columns, "and") = it.columns()? else { return None };
                    columns
                } else {
                    vec![it.column()?]
                };
                it.any(&TWICE).then_some(())?;
                let groups = it.attempt(|it| it.within(&WITHIN).or_else(|| it.within(&IN_ONE)));
                columns.extend(groups.unwrap_or_default());
                Some(columns)
            })
            .or_else(|| {
                self.attempt(|it| {
                    let mut columns = vec![it.column()?];
                    it.any(&["must be unique", "should be unique", "is unique", "are unique"])
                        .then_some(())?;
                    columns.extend(it.within(&WITHIN)?);
                    Some(columns)
                })
            })
            .or_else(|| {
                self.attempt(|it| {
                    it.words("no two").then_some(())?;
                    let is_of_rows = it.any(&ROWS) || it.table_name();
                    let is_same =
                        it.any(&["have the same", "share the same", "share a", "share an"]);
                    (is_of_rows && is_same).then_some(())?;
                    Some(it.columns()?.0)
                })
            })
            .or_else(|| {
                self.attempt(|it| {
                    let is_combined = it.any(&[
                        "the combinations of",
                        "combinations of",
                        "the combination of",
                        "each combination of",
                        "every combination of",
                        "combination of",
                        "the pair of",
                    ]);
                    let (columns, "and") = it.columns()? else { return None };
                    let is_together = it.any(&["together", "combined", "in combination"]);
                    let is_unique = if it.any(&["identify", "uniquely identify"]) {
                        it.any(&["a", "each", "every", "one"]);
                        it.any(&ROWS) || it.table_name()
                    } else if it.any(&["occurs", "appears"]) {
                        it.any(&ONCE)
                    } else {
                        it.any(&["must be", "should be", "is", "are"]).then_some(())?;
                        it.any(&["always unique", "unique"])
                    };
                    let is_after = it.any(&["together", "in combination"]);
                    if it.words("in") {
                        it.table_name().then_some(())?;
                    }
                    let is_whole = 1 < columns.len() && (is_combined || is_together || is_after);
                    (is_unique && is_whole).then_some(columns)
                })
            })?;
        Some(self.in_one_row(&columns))
    }

    /// Returns the claim that no two rows have the same values.
    fn in_one_row(&self, columns: &[&ClaimColumn]) -> FormClaim {
        let names: Vec<String> = columns.iter().map(|it| it.sql()).collect();
        let present: Vec<String> = names.iter().map(|it| format!("{it} is not null")).collect();
        let table = &self.table.name;
        let sql = format!(
            "select *\nfrom {}\nwhere {}\nqualify count(*) over (partition by {}) > 1",
            identifier(table),
            present.join(" and "),
            names.join(", ")
        );
        let told: Vec<String> = columns.iter().map(|it| format!("`{}`", it.name)).collect();
        let reading = format!("no two rows of `{table}` have the same {}", told.join(" and "));
        let columns = columns.iter().map(|it| it.name.clone()).collect();
        FormClaim { sql, reading, columns: self.named(&columns) }
    }
}

impl<'a> ClaimReader<'a> {
    /// Reads the columns in whose groups values are looked at: `within the same day and shop`.
    fn within(&mut self, words: &[&str]) -> Option<Vec<&'a ClaimColumn>> {
        self.any(words).then_some(())?;
        let (columns, "and") = self.columns()? else { return None };
        Some(columns)
    }

    /// `order_id is the primary key`, `order_id and line form a primary key`
    fn primary_key(&mut self) -> Option<FormClaim> {
        let (columns, "and") = self.columns()? else { return None };
        self.any(&["must be", "should be", "is", "are", "form", "forms", "make up"])
            .then_some(())?;
        self.any(&["the primary key", "a primary key", "the key", "a key", "primary key"])
            .then_some(())?;
        if self.any(&["of", "in"]) {
            self.table_name().then_some(())?;
        }
        let names: Vec<String> = columns.iter().map(|it| it.sql()).collect();
        let missing: Vec<String> = names.iter().map(|it| format!("{it} is null")).collect();
        let (table, names) = (&self.table.name, names.join(", "));
        let sql = format!(
            "select *\nfrom {}\nqualify {} or count(*) over (partition by {names}) > 1",
            identifier(table),
            missing.join(" or ")
        );
        let reading = format!("in every row of `{table}`: {names} is present, and in no other row");
        let columns = columns.iter().map(|it| it.name.clone()).collect();
        Some(FormClaim { sql, reading, columns: self.named(&columns) })
    }
}

/// `every customer_id in orders is in customers`, `orders.customer_id exists in customers.id`
fn reference<'a>(
    claim: &str,
    tokens: &[ClaimToken],
    tables: &'a [ClaimTable],
) -> Option<(&'a str, FormClaim)> {
    let mut found: Vec<(&str, FormClaim)> = Vec::new();
    for table in tables {
        let mut left = ClaimReader { claim, tokens, at: 0, table, names_table: false };
        let Some(column) = left.column() else { continue };
        let verbs = [
            "must exist in", "should exist in", "must be in", "should be in", "is in", "are in",
            "exists in", "exist in", "refers to", "references", "occurs in", "appears in",
            "is found in", "also appears in", "also exists in", "also occurs in", "is also in",
            "is listed in", "are listed in", "must appear in",
        ];
        if !left.any(&verbs) {
            continue;
        }
        for other in tables.iter().filter(|it| it.name != table.name) {
            let mut right = ClaimReader { table: other, names_table: false, ..left };
            right.words("the");
            let named = right.attempt(|it| it.column().filter(|_| it.names_table));
            let target = match named {
                Some(target) => Some(target),
                None if right.table_name() => {
                    other.columns.iter().find(|it| it.name == column.name)
                }
                None => None,
            };
            let Some(target) = target.filter(|it| it.dtype == column.dtype && right.is_at_end())
            else {
                continue;
            };
            let (own, key) = (column.sql(), target.sql());
            let sql = format!(
                "select *\nfrom {}\nwhere {own} is not null and {own} not in (select {key} from {} where {key} is not null)",
                identifier(&table.name),
                identifier(&other.name)
            );
            let form = FormClaim {
                sql,
                reading: format!(
                    "every `{}` of `{}` is a `{}` of `{}`",
                    column.name, table.name, target.name, other.name
                ),
                columns: vec![
                    format!("{}.{}", table.name, column.name),
                    format!("{}.{}", other.name, target.name),
                ],
            };
            found.push((&table.name, form));
        }
    }
    if found.len() == 1 { found.pop() } else { None }
}

#[cfg(test)]
mod tests;
