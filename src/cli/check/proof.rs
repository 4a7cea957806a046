//! Proof that a rule can be broken: its statement is run on tables that are made to break it.
//!
//! Each table is made from the first rows of the data: with missing values, with values out of the range, with equal
//! values, with more and fewer rows. A statement that finds the same number of rows in all of them checks nothing.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use csv_agent_ingest::rows;
use csv_agent_query::{TableSchema, prepare};
use csv_agent_session::Session;
use csv_agent_text::{
    digits::number,
    lists::all_names,
    sql::{identifier, literal},
};
use csv_agent_types::catalog::{Column, DType, Dataset};
use csv_agent_types::status::{BUILTIN, FailureKind};
use csv_agent_worker::engine::table_of;

use super::lock::CompiledClaim;
use crate::engine::{self, EachRun};
use crate::options::settings::Settings;

/// Rows of a dataset that its examples are made from.
const ROWS_MAX: u64 = 10_000;
/// Rows of them that get other values in two columns at once.
const CHANGED_ROWS_MAX: u32 = 20;
/// Columns that get other values.
const COLUMNS_MAX: usize = 8;
/// Rows up to which an example may have more than a bound.
const BOUND_MAX: u64 = 10_000_000;
/// Numbers of a series in SQL.
const SERIES_MAX: u64 = 100_000;
/// Rows from which it is suspicious that all of them break a rule.
const SUSPICIOUS_ROWS_MIN: u64 = 3;

/// Returns for each statement why it is not a rule, if it is not. Where a statement reads only datasets without
/// rows, nothing can be tried. Fails when no query can be run.
pub(super) fn refusals(
    claims: &[&CompiledClaim],
    session: &Session,
    settings: &Settings,
) -> anyhow::Result<Vec<Option<String>>> {
    let tables: Vec<TableSchema> =
        session.catalog().iter().map(|(name, it)| table_of(name, it)).collect();
    let mut trials: Vec<Trial> =
        claims.iter().map(|it| Trial::of(it, session, &tables)).collect::<Vec<_>>();
    for examples in [Examples::Many, Examples::One] {
        let experiments: Vec<(usize, usize, String)> = trials
            .iter()
            .enumerate()
            .filter(|it| it.1.refusal.is_none() && !it.1.is_proved)
            .flat_map(|(at, it)| {
                it.experiments(examples).into_iter().map(move |it| (at, it.0, it.1))
            })
            .collect();
        let counts = counts(&experiments, &tables, session, settings)?;
        for ((at, place, _), found) in experiments.iter().zip(counts) {
            trials[*at].add(*place, found);
        }
    }
    Ok(trials.into_iter().map(Trial::ended).collect())
}

/// Runs statements that return one number. Returns None for those that fail.
fn counts(
    experiments: &[(usize, usize, String)],
    tables: &[TableSchema],
    session: &Session,
    settings: &Settings,
) -> anyhow::Result<Vec<Option<u64>>> {
    let now = Timestamp::now().as_microsecond();
    let prepared = experiments.iter().map(|it| prepare(&it.2, tables, now));
    let prepared: Vec<_> = prepared.collect();
    let queries = prepared.iter().flatten().map(|it| it.query.clone());
    let files = engine::files_of(session.dir(), session.catalog(), "check")?;
    let EachRun { results, outcomes, interrupted } = engine::run_each(queries, files, settings)?;
    if let Some(signal) = interrupted {
        return Err(signal.into());
    }
    let mut results = results.paths.iter().zip(outcomes);
    let mut counts = Vec::new();
    for prepared in prepared {
        counts.push(match prepared.ok().and_then(|_| results.next()) {
            Some((_, Err(failure))) if failure.kind == FailureKind::Sandbox => {
                return Err(failure.into());
            }
            Some((path, Ok(_))) => {
                let frame = rows(path, 0, 1)?;
                frame.rows.first().and_then(|it| it.first()).and_then(Value::as_u64)
            }
            Some((_, Err(_))) | None => None,
        });
    }
    Ok(counts)
}

/// How an example differs from the data.
#[derive(Clone, Copy, PartialEq)]
enum Examples {
    /// In many rows.
    Many,
    /// In one row, or in all rows in the same way: for totals, which many changes may leave as they are.
    One,
}

/// What is tried with a statement.
struct Trial<'a> {
    sql: &'a str,
    /// The datasets that it reads and that have rows, with the columns that matter.
    inputs: Vec<(&'a str, &'a Dataset, Vec<&'a Column>)>,
    /// The rows that it finds in the first rows of each dataset.
    before: Vec<Option<u64>>,
    /// Whether a model wrote it.
    is_guess: bool,
    is_proved: bool,
    refusal: Option<String>,
}

impl<'a> Trial<'a> {
    fn of(claim: &'a CompiledClaim, session: &'a Session, tables: &[TableSchema]) -> Trial<'a> {
        let read = prepare(&claim.sql, tables, 0).map(|it| it.tables);
        let (read, refusal) = match read {
            Ok(read) => (read, None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let columns: BTreeSet<&str> = claim.columns.iter().map(String::as_str).collect();
        let inputs = session.catalog().iter().filter(|it| read.iter().any(|name| name == it.0));
        let inputs = inputs.filter(|it| 0 < it.1.row_count).map(|(name, dataset)| {
            let is_read = |it: &&Column| columns.contains(&*format!("{name}.{}", it.name));
            (name, dataset, dataset.columns.iter().filter(is_read).take(COLUMNS_MAX).collect())
        });
        let inputs: Vec<_> = inputs.collect();
        Trial {
            sql: claim.sql.trim().trim_end_matches(';'),
            before: vec![None; inputs.len()],
            is_guess: claim.by != BUILTIN,
            is_proved: refusal.is_none() && inputs.is_empty(),
            inputs,
            refusal,
        }
    }

    /// Returns statements that count the rows that break the rule in each example, with the number of the input.
    fn experiments(&self, examples: Examples) -> Vec<(usize, String)> {
        let inputs = self.inputs.iter().enumerate();
        inputs
            .flat_map(|(at, (name, _, columns))| {
                let table = identifier(name);
                let variants = match examples {
                    Examples::Many => many(&table, columns),
                    Examples::One if columns.is_empty() => larger(&table, columns, self.sql),
                    Examples::One
                        if ["count(distinct", "filter ("]
                            .iter()
                            .any(|it| self.sql.contains(it)) =>
                    {
                        let larger = larger(&table, columns, self.sql);
                        one(&table, columns, self.sql).into_iter().chain(larger).collect()
                    }
                    Examples::One => one(&table, columns, self.sql),
                };
                let count = move |it: String| {
                    let sql = self.sql;
                    (
                        at,
                        format!(
                            "with {table} as ({it})\nselect count(*) from (\n{sql}\n) as found"
                        ),
                    )
                };
                variants.into_iter().map(count).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Takes the number of rows that break the rule in an example. The first of each input is the data as it is.
    fn add(&mut self, input: usize, found: Option<u64>) {
        match (self.before[input], found) {
            (None, Some(n)) => {
                let n_rows = self.inputs[input].1.row_count.min(ROWS_MAX);
                if self.is_guess && n == n_rows && SUSPICIOUS_ROWS_MIN <= n {
                    let n = number(n);
                    self.refusal = Some(format!(
                        "its statement finds all {n} rows, so it may say the opposite"
                    ));
                }
                self.before[input] = Some(n);
            }
            // The reason may quote a value, and a model may get to read this.
            (None, None) => {
                self.refusal = Some("its statement fails at a value of the data".to_owned());
            }
            // An example may be out of what a statement can compute.
            (Some(_), None) => {}
            (Some(before), Some(n)) => self.is_proved |= n != before,
        }
    }

    fn ended(self) -> Option<String> {
        if self.refusal.is_some() || self.is_proved {
            return self.refusal;
        }
        let columns: Vec<&str> =
            self.inputs.iter().flat_map(|it| &it.2).map(|it| it.name.as_str()).collect();
        let tried = match &columns[..] {
            [] => "more and fewer rows".to_owned(),
            columns => format!(
                "missing values, other values and equal values in {}, and more and fewer rows",
                all_names(columns)
            ),
        };
        let sql = self.sql.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("nothing that was tried breaks it: {tried}. The statement was `{sql}`"))
    }
}

/// Returns the first rows of a dataset, and examples that differ from them in many rows.
fn many(table: &str, columns: &[&Column]) -> Vec<String> {
    let base = base(table);
    let mut examples = vec![
        base.clone(),
        format!("select * from {table} limit 0"),
        format!("select * from {table} limit 1"),
        format!("({base}) union all ({base})"),
    ];
    let mut pairs: Vec<[&Column; 2]> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        let name = identifier(&column.name);
        for value in [format!("nullif({name}, {name})"), format!("max({name}) over ()")] {
            examples.push(format!("select * replace ({value} as {name}) from ({base}) as base"));
        }
        pairs.extend(columns[at + 1..].iter().map(|it| [*column, *it]));
    }
    if let [column] = columns {
        pairs.push([column, column]);
    }
    let changed = |[a, b]: &[&Column; 2]| {
        let (name, other) = (identifier(&a.name), identifier(&b.name));
        let (values, others) = (values(&base, a), values(&base, b));
        let replaced = if name == other {
            format!("v.v as {name}")
        } else {
            format!("v.v as {name}, w.v as {other}")
        };
        format!(
            "select one.* replace ({replaced}) from (select * from {table} limit {CHANGED_ROWS_MAX}) as one \
             cross join ({values}) as v cross join ({others}) as w"
        )
    };
    let added = pairs.iter().map(|it| format!("({base}) union all ({})", changed(it)));
    examples.extend(added);
    examples
}

/// Returns examples that differ from the first rows of a dataset in one row, or in one value for all rows.
fn one(table: &str, columns: &[&Column], sql: &str) -> Vec<String> {
    let base = base(table);
    let mut examples = Vec::new();
    for column in columns {
        let name = identifier(&column.name);
        let range = range(&base, &name);
        let literals = literals(sql, column.dtype);
        for value in values_of(column.dtype).iter().copied().chain(literals.iter().map(|it| &**it))
        {
            let value = format!("(select {value} as v from {range}) as v");
            let changed = |rows: &str| {
                format!(
                    "select one.* replace (v.v as {name}) from ({rows}) as one cross join {value}"
                )
            };
            examples.push(changed(&base));
            let row = changed(&format!("select * from {table} limit 1"));
            examples.push(format!("({base}) union all ({row})"));
        }
    }
    examples
}

/// Returns examples with as many rows as each number of a statement, which may be a bound of the number of rows, and
/// with one row more. The numbers and texts of the columns are different in all of them, or missing.
fn larger(table: &str, columns: &[&Column], sql: &str) -> Vec<String> {
    let numbered = columns
        .iter()
        .filter_map(|it| {
            let dtype = match it.dtype {
                DType::Int64 => "bigint",
                DType::Float64 => "double",
                DType::String => "varchar",
                _ => return None,
            };
            Some(format!("cast(row_number() over () as {dtype}) as {}", identifier(&it.name)))
        })
        .collect::<Vec<_>>();
    let names = columns.iter().map(|it| identifier(&it.name));
    let missing = names.map(|it| format!("nullif({it}, {it}) as {it}")).collect::<Vec<_>>();
    let words = sql.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
    let bounds = words.filter_map(|it| it.parse::<u64>().ok()).filter(|it| *it <= BOUND_MAX);
    let example = |n_rows: u64| {
        let (n, times) = (SERIES_MAX.min(n_rows), n_rows.saturating_sub(1) / SERIES_MAX + 1);
        let rows = format!(
            "select one.* from (select * from {table} limit 1) as one \
             cross join generate_series(1, {n}) as a cross join generate_series(1, {times}) as b limit {n_rows}"
        );
        [&numbered, &missing].map(|changed| match &changed[..] {
            [] => rows.clone(),
            changed => format!("select * replace ({}) from ({rows}) as more", changed.join(", ")),
        })
    };
    let mut examples: Vec<String> =
        bounds.take(COLUMNS_MAX).flat_map(|it| [it, it + 1]).flat_map(example).collect();
    examples.dedup();
    examples
}

fn base(table: &str) -> String {
    format!("select * from {table} limit {ROWS_MAX}")
}

/// Returns a query of the smallest and the largest value of a column.
fn range(base: &str, name: &str) -> String {
    format!("(select min({name}) as lo, max({name}) as hi from ({base}) as base) as span")
}

/// Returns a query of values of a column, one a row.
fn values(base: &str, column: &Column) -> String {
    let range = range(base, &identifier(&column.name));
    let values = values_of(column.dtype);
    let arms: Vec<String> =
        values.iter().map(|it| format!("select {it} as v from {range}")).collect();
    arms.join(" union all ")
}

/// Returns values of a type, computed from the smallest and the largest of a column: these themselves, none, those
/// just outside, and those far away.
fn values_of(dtype: DType) -> &'static [&'static str] {
    match dtype {
        DType::Int64 => &[
            "lo",
            "hi",
            "nullif(lo, lo)",
            "lo - 1",
            "hi + 1",
            "cast(0 as bigint)",
            "cast(-1000000000000 as bigint)",
            "cast(1000000000000 as bigint)",
        ],
        DType::Float64 => &[
            "lo",
            "hi",
            "nullif(lo, lo)",
            "lo - 1",
            "hi + 1",
            "hi + 0.5",
            "cast(0 as double)",
            "cast(-1000000000000 as double)",
            "cast(1000000000000 as double)",
        ],
        DType::Date => &[
            "lo",
            "hi",
            "nullif(lo, lo)",
            "cast(lo - interval 1 day as date)",
            "cast(hi + interval 1 day as date)",
            "date '1000-01-01'",
            "date '9999-12-31'",
        ],
        DType::Timestamp => &[
            "lo",
            "hi",
            "nullif(lo, lo)",
            "lo - interval 1 day",
            "hi + interval 1 day",
            "timestamp '1000-01-01 00:00:00'",
            "timestamp '9999-12-31 00:00:00'",
        ],
        DType::TimestampUtc => {
            &["lo", "hi", "nullif(lo, lo)", "lo - interval 1 day", "hi + interval 1 day"]
        }
        DType::Time => &["lo", "hi", "nullif(lo, lo)", "time '00:00:00'", "time '23:59:59'"],
        DType::Bool => &["lo", "hi", "nullif(lo, lo)", "not lo"],
        DType::String => &[
            "lo",
            "hi",
            "nullif(lo, lo)",
            "''",
            "'?'",
            "concat(hi, '?')",
            "upper(hi)",
            "lower(hi)",
            "concat(' ', hi)",
            "concat('1', hi, '1')",
            "concat(hi, ' ')",
            "repeat('x', 1000)",
        ],
    }
}

/// Returns the texts or numbers of a statement, as values for a column of this type.
fn literals(sql: &str, dtype: DType) -> Vec<String> {
    // Every second part is in quotes.
    let parts: Vec<&str> = sql.split('\'').collect();
    let mut found: Vec<String> = match dtype {
        DType::String => parts.iter().skip(1).step_by(2).map(|it| literal(it)).collect(),
        DType::Int64 | DType::Float64 => {
            let outside = parts.iter().step_by(2);
            let words =
                outside.flat_map(|it| it.split(|it: char| !it.is_alphanumeric() && it != '.'));
            let numbers = words.filter(|it| it.parse::<f64>().is_ok_and(f64::is_finite));
            let cast = if dtype == DType::Int64 { "bigint" } else { "double" };
            numbers.map(|it| format!("cast({it} as {cast})")).collect()
        }
        _ => Vec::new(),
    };
    found.dedup();
    found.truncate(COLUMNS_MAX);
    found
}
