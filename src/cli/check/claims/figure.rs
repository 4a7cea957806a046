//! Claims about numbers of rows, of different values, and about what is computed of a column.

use std::collections::BTreeSet;

use csv_agent_text::sql::{identifier, literal};
use csv_agent_types::catalog::DType;

use super::condition::RowCondition;
use super::reader::{AUXILIARIES, ClaimReader, OR_MORE, TOLERANCE};
use super::{ClaimColumn, FormClaim, ROWS};

/// What is computed of numbers, with its function and its name in results.
const OF_NUMBERS: [(&str, (&str, &str)); 20] = [
    ("average", ("avg", "average")),
    ("mean", ("avg", "average")),
    ("median", ("median", "median")),
    ("standard deviation", ("stddev", "standard_deviation")),
    ("total sum", ("sum", "total")),
    ("total", ("sum", "total")),
    ("sum", ("sum", "total")),
    ("minimum", ("min", "smallest")),
    ("min", ("min", "smallest")),
    ("smallest", ("min", "smallest")),
    ("lowest", ("min", "smallest")),
    ("maximum", ("max", "largest")),
    ("max", ("max", "largest")),
    ("largest", ("max", "largest")),
    ("highest", ("max", "largest")),
    ("biggest", ("max", "largest")),
    ("greatest", ("max", "largest")),
    ("overall average", ("avg", "average")),
    ("overall mean", ("avg", "average")),
    ("overall total", ("sum", "total")),
];
/// The same for days and times.
const OF_TIMES: [(&str, (&str, &str)); 8] = [
    ("latest", ("max", "latest")),
    ("newest", ("max", "latest")),
    ("most recent", ("max", "latest")),
    ("maximum", ("max", "latest")),
    ("max", ("max", "latest")),
    ("earliest", ("min", "earliest")),
    ("minimum", ("min", "earliest")),
    ("min", ("min", "earliest")),
];

impl<'a> ClaimReader<'a> {
    /// Reads how many, as a test of `n`: `at least 5`, `between 1 and 5`, `5 or more`, and with `is_said`, `5`.
    pub(super) fn count(&mut self, is_said: bool) -> Option<String> {
        if self.words("between") {
            let low = self.whole_number()?;
            self.words("and").then_some(())?;
            return Some(format!("n between {low} and {}", self.whole_number()?));
        }
        if self.any(&["exactly", "only"]) {
            return Some(format!("n = {}", self.whole_number()?));
        }
        let Some(op) = self.comparison() else {
            let n = self.whole_number()?;
            let op = self.one_of(&OR_MORE).or(is_said.then_some("="))?;
            return Some(format!("n {op} {n}"));
        };
        let first = format!("n {op} {}", self.whole_number()?);
        let second = self.attempt(|it| {
            it.any(&["and", "but"]).then_some(())?;
            Some(format!("n {} {}", it.comparison()?, it.whole_number()?))
        });
        Some(second.map_or(first.clone(), |second| format!("{first} and {second}")))
    }

    /// `there are at most 60 different states`, `state has at least 2 distinct values`
    pub(super) fn different(&mut self) -> Option<FormClaim> {
        const DIFFERENT: [&str; 3] = ["different", "distinct", "unique"];
        let (column, test) = self
            .attempt(|it| {
                it.words("the number of").then_some(())?;
                it.any(&DIFFERENT).then_some(())?;
                it.any(&["values of", "values in"]);
                let column = it.column()?;
                it.any(&["must be", "should be", "is"]).then_some(())?;
                Some((column, it.count(true)?))
            })
            .or_else(|| {
                self.attempt(|it| {
                    let is_said = it.any(&["there must be", "there should be", "there are"]);
                    let test = it.count(is_said)?;
                    it.any(&DIFFERENT).then_some(())?;
                    it.any(&["values of", "values in"]);
                    Some((it.column()?, test))
                })
            })
            .or_else(|| {
                self.attempt(|it| {
                    let column = it.column()?;
                    it.any(&["must have", "should have", "has", "have"]).then_some(())?;
                    let test = it.count(true)?;
                    it.any(&DIFFERENT).then_some(())?;
                    it.any(&["values", "value"]).then_some((column, test))
                })
            })?;
        let (table, name) = (&self.table.name, column.sql());
        let sql = format!(
            "select *\nfrom (select count(distinct {name}) as n from {}) as size\nwhere not ({test})",
            identifier(table)
        );
        let reading = format!("in `{table}`, the number of different `{}`: {test}", column.name);
        Some(FormClaim { sql, reading, columns: vec![format!("{table}.{}", column.name)] })
    }

    /// `age is missing in at most 2 rows`, `only two rows lack an age`
    pub(super) fn counted(&mut self) -> Option<FormClaim> {
        let (condition, test) = self
            .attempt(|it| {
                let condition =
                    it.attempt(Self::permitted).or_else(|| it.attempt(Self::condition))?;
                it.any(&["in", "for", "on"]).then_some(())?;
                let test = it.count(false)?;
                (it.any(&ROWS) || it.table_name()).then_some((condition, test))
            })
            .or_else(|| {
                self.attempt(|it| {
                    let test = it.count(false)?;
                    (it.any(&ROWS) || it.table_name()).then_some(())?;
                    Some((it.has_column()?, test))
                })
            })
            .filter(|it| !it.0.is_window)?;
        let sql = format!(
            "select *\nfrom (select count(*) filter (where {}) as n from {}) as size\nwhere not ({test})",
            condition.sql,
            identifier(&self.table.name)
        );
        let reading = format!("the number of rows in which {}: {test}", condition.words);
        Some(FormClaim { sql, reading, columns: self.named(&condition.columns) })
    }

    /// `age may be missing`, which is followed by how often
    fn permitted(&mut self) -> Option<RowCondition> {
        let column = self.column()?;
        self.any(&["may be", "can be"]).then(|| self.test(column)).flatten()
    }

    /// `the average price of a is higher than the average cost`, `the average price for MSFT is above that for IBM`
    pub(super) fn figures(&mut self) -> Option<FormClaim> {
        let (column, function, _) = self.computed()?;
        let rows = self.attempt(Self::some_rows);
        let is_negative = self.one_of(&AUXILIARIES).unwrap_or_default();
        let op = self.comparison().filter(|it| it.contains(['<', '>']) && *it != "<>")?;
        let computed = self.attempt(Self::computed);
        if computed.is_none() {
            self.words("that");
            rows.as_ref()?;
        }
        let other_rows = self.attempt(Self::some_rows);
        // `than for mode 3`: what is computed is the same.
        let (other, of_other) = match computed {
            Some((other, of_other, _)) => (other, of_other),
            None => (column, other_rows.as_ref().map(|_| function.clone())?),
        };
        column.is_like(other).then_some(())?;
        let amount = |function: &str, rows: &Option<RowCondition>| match rows {
            Some(rows) => format!("{function} filter (where {})", rows.sql),
            None => function.to_owned(),
        };
        let (first, second) = (amount(&function, &rows), amount(&of_other, &other_rows));
        let table = &self.table.name;
        let test = format!("first_figure {op} second_figure");
        let broken = if is_negative { test } else { format!("not ({test})") };
        let sql = format!(
            "select *\nfrom (select {first} as first_figure, {second} as second_figure from {}) as figures\nwhere {broken}",
            identifier(table)
        );
        let not = if is_negative { "not " } else { "" };
        let reading = format!("in `{table}`: {not}{first} {op} {second}");
        let mut columns = BTreeSet::from([column.name.clone(), other.name.clone()]);
        columns.extend(rows.into_iter().chain(other_rows).flat_map(|it| it.columns));
        Some(FormClaim { sql, reading, columns: self.named(&columns) })
    }

    /// `of MSFT`, `for mode 4`
    fn some_rows(&mut self) -> Option<RowCondition> {
        self.any(&["of the", "of", "in the", "in", "for the", "for", "from"]).then_some(())?;
        self.rows_with_value()
    }

    /// `the average price is below 100`, `the latest date of MSFT is 2010-03-01`, `total amount per symbol is at least 5`
    pub(super) fn figure(&mut self) -> Option<FormClaim> {
        let (column, function, name) = self.computed()?;
        let rows = self.attempt(|it| {
            it.any(&["of the", "of", "in the", "in", "for the", "for", "from"]).then_some(())?;
            it.only_value()
        });
        let group = self.attempt(Self::each);
        let is_negative = self.one_of(&AUXILIARIES);
        // `the maximum is 9` may mean `at most 9`.
        let is_end =
            column.is_number() && (function.starts_with("max") || function.starts_with("min"));
        let test = self.figure_test(column, &name, is_end)?;
        let group = group.or_else(|| self.attempt(Self::each));
        let table = &self.table.name;
        let mut columns = vec![column];
        let (mut wanted, mut rest, mut of) = (String::new(), String::new(), String::new());
        if let Some((other, value)) = rows {
            let value = literal(&value);
            rest = format!(" where {} = {value}", other.sql());
            of = format!(" where `{}` is {value}", other.name);
            columns.push(other);
        }
        if let Some(group) = group {
            let by = group.sql();
            let word = if rest.is_empty() { "where" } else { "and" };
            rest = format!("{rest} {word} {by} is not null group by {by}");
            wanted = format!("{by}, ");
            of = format!("{of} for each `{}`", group.name);
            columns.push(group);
        }
        let is_negative = is_negative.unwrap_or_default();
        let broken = if is_negative { test.clone() } else { format!("not ({test})") };
        let sql = format!(
            "select *\nfrom (select {wanted}{function} as {name} from {}{rest}) as figure\nwhere {broken}",
            identifier(table)
        );
        let not = if is_negative { "not " } else { "" };
        let reading = format!("in `{table}`, `{name}`{of}: {not}{test}");
        let columns = columns.iter().map(|it| it.name.clone()).collect();
        Some(FormClaim { sql, reading, columns: self.named(&columns) })
    }

    /// `for each site`
    fn each(&mut self) -> Option<&'a ClaimColumn> {
        let words = ["per", "of each", "of every", "for each", "for every", "in each", "in every"];
        self.any(&words).then(|| self.bare_column()).flatten()
    }

    /// Reads what is computed of a column, as a function and a name.
    fn computed(&mut self) -> Option<(&'a ClaimColumn, String, String)> {
        self.words("the");
        let at = self.at;
        // `max temp` may be a column of its own.
        let is_column = self.bare_column().is_some() && at + 1 < self.at;
        if is_column {
            return None;
        }
        let lists = [(&OF_NUMBERS[..], false), (&OF_TIMES[..], true)];
        lists.into_iter().find_map(|(list, is_of_times)| {
            self.at = at;
            let (function, told) = self.one_of(list)?;
            self.any(&[
                "value of the", "values of the", "value of", "of all", "of the", "of", "the",
            ]);
            let column = self.bare_column()?;
            let is_time =
                matches!(column.dtype, DType::Date | DType::Timestamp | DType::TimestampUtc);
            let is_right = if is_of_times { is_time } else { column.is_number() };
            let computed = format!("{function}({})", column.value_sql());
            let name = identifier(&format!("{told}_{}", column.name));
            is_right.then_some((column, computed, name))
        })
    }

    /// Reads how a computed number is compared, as a test of its name.
    fn figure_test(&mut self, column: &ClaimColumn, name: &str, is_end: bool) -> Option<String> {
        self.any(&["lies", "always"]);
        if self.any(&["between", "from", "in the range"]) {
            let low = self.value(column)?;
            self.any(&["and", "to"]).then_some(())?;
            return Some(format!("{name} between {low} and {}", self.value(column)?));
        }
        let mut tests = Vec::new();
        loop {
            let sign = [("positive", "> 0"), ("negative", "< 0"), ("non negative", ">= 0")];
            if column.is_number()
                && let Some(sign) = self.one_of(&sign)
            {
                return Some(format!("{name} {sign}")).filter(|_| tests.is_empty());
            }
            let op = self.comparison().or_else(|| self.words("exactly").then_some("="));
            let value = self.value(column)?;
            let op = op.or_else(|| self.one_of(&OR_MORE)).or((!is_end).then_some("="))?;
            tests.push(if op == "=" && column.is_number() {
                format!("abs({name} - {value}) <= {TOLERANCE}")
            } else {
                format!("{name} {op} {value}")
            });
            if !self.any(&["and", "but"]) {
                return Some(tests.join(" and "));
            }
        }
    }
}
