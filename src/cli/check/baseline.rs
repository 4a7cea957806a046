//! `checks.baseline.json`: how the data was when somebody accepted it, and what has changed since.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use csv_agent_render::report::checks::{PlacedRow, RuleOutcome, RuleReport};
use csv_agent_session::Session;
use csv_agent_text::{bars::bars, sql::identifier};
use csv_agent_types::catalog::{Column, DType, Dataset};
use csv_agent_types::conversation::Assessment;
use csv_agent_types::limits::CHECKS_BYTES_MAX;
use csv_agent_types::named_file::{self, NotRead};
use csv_agent_types::status::Failure;

use super::lock::beside;
use super::propose::is_key_name;
use crate::engine;
use crate::options::briefing::text;
use crate::options::settings::Settings;
use crate::stdout::answer_to;

/// The form that this version writes.
const VERSION: u32 = 1;
/// Different values up to which a column has categories.
const CATEGORIES_MAX: usize = 50;
/// Parts of equal size that numbers are divided into.
const N_PARTS: u32 = 10;
/// Share of missing values by which it may grow or shrink.
const MISSING_MOVE_MAX: f64 = 0.05;
/// Population stability index from which a distribution has moved, by the usual rule of thumb.
const PSI_MIN: f64 = 0.25;
/// Standard deviations of chance that a distribution may move: one in a thousand moves further.
const CHANCE_DEVIATIONS: f64 = 3.09;
/// Rows below which a distribution says nothing.
const ROWS_MIN: u64 = 30;

/// How the data was.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Baseline {
    version: u32,
    datasets: Vec<DatasetThen>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DatasetThen {
    name: String,
    rows: u64,
    columns: Vec<ColumnThen>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnThen {
    name: String,
    dtype: String,
    missing: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    parts: Option<ValueParts>,
}

/// How the values of a column are distributed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum ValueParts {
    /// Each value with its count, the most frequent first.
    Categories(Vec<(String, u64)>),
    /// Numbers between which parts of about equal size were, and how many values were below the first, between two, and
    /// from the last on.
    Numbers { edges: Vec<f64>, counts: Vec<u64> },
}

/// What is compared of each dataset, and how severe a difference is.
const RULES: [(&str, Assessment); 4] = [
    ("columns", Assessment::Bad),
    ("number of rows", Assessment::Warning),
    ("missing values", Assessment::Warning),
    ("distributions", Assessment::Warning),
];

impl Baseline {
    /// Returns the path of the baseline of a file of rules, which is beside it.
    pub(super) fn path_of(checks: &Path) -> PathBuf {
        beside(checks, "baseline.json")
    }

    /// Reads a baseline. Returns None without a file. Fails with `FailureKind::Input` when it cannot be read,
    /// or this version did not write it.
    pub(super) fn read(path: &Path, accept: &str) -> anyhow::Result<Option<Baseline>> {
        let bytes = match named_file::read(path, CHECKS_BYTES_MAX) {
            Err(NotRead::Failed(error)) if error.kind() == ErrorKind::NotFound => return Ok(None),
            bytes => bytes,
        };
        let wrong = |reason: String| {
            let message = format!("cannot read `{}`: {reason}", path.display());
            let hint = format!("create it again with `{accept}`");
            Failure::input(message).hint(hint)
        };
        let text = text(path, bytes)?;
        let baseline: Baseline =
            serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if baseline.version != VERSION {
            return Err(wrong(format!("its version is {}, not {VERSION}", baseline.version)).into());
        }
        if let Some(name) = baseline.datasets.iter().find(|it| !it.is_valid()).map(|it| &it.name) {
            return Err(wrong(format!("the numbers of `{name}` do not fit together")).into());
        }
        Ok(Some(baseline))
    }

    pub(super) fn write(&self, path: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        answer_to(Some(path), |out: &mut dyn Write| Ok(out.write_all(text.as_bytes())?))
    }

    /// Describes the datasets of a session.
    pub(super) fn of(session: &Session, settings: &Settings) -> anyhow::Result<Baseline> {
        let mut datasets = Vec::new();
        for (name, dataset) in session.catalog().iter() {
            let table = TableNow { name, dataset, session, settings };
            datasets.push(table.described(&table.edges()?)?);
        }
        Ok(Baseline { version: VERSION, datasets })
    }

    /// Returns what has changed in the datasets of a session, as results of rules.
    pub(super) fn changes(
        &self,
        session: &Session,
        settings: &Settings,
        accept: &str,
    ) -> anyhow::Result<Vec<RuleReport>> {
        let mut reports = Vec::new();
        for (name, dataset) in session.catalog().iter() {
            let Some(then) = self.datasets.iter().find(|it| it.name == name) else {
                let reason = format!("the baseline has no dataset `{name}`");
                let hint = format!("`{accept}` adds it");
                let outcome = RuleOutcome::Undecided(reason, Some(hint));
                reports.push(report(name, "columns", Assessment::Bad, outcome));
                continue;
            };
            let table = TableNow { name, dataset, session, settings };
            let edges = dataset.columns.iter().map(|it| then.edges_of(it)).collect::<Vec<_>>();
            let now = table.described(&edges)?;
            let differences = [
                then.other_columns(&now),
                then.other_size(&now),
                then.other_missing(&now),
                then.other_distributions(&now),
            ];
            reports.extend(RULES.iter().zip(differences).map(|((what, severity), rows)| {
                let outcome = match rows.len() {
                    0 => RuleOutcome::Kept,
                    n => RuleOutcome::Broken(n as u64, rows),
                };
                report(name, what, *severity, outcome)
            }));
        }
        Ok(reports)
    }

    /// Returns the results where the data was not compared.
    pub(super) fn undecided(&self, outcome: &RuleOutcome) -> Vec<RuleReport> {
        let rules = self.datasets.iter().flat_map(|it| RULES.iter().map(move |rule| (it, rule)));
        rules.map(|(it, rule)| report(&it.name, rule.0, rule.1, outcome.clone())).collect()
    }
}

/// Returns the result of a rule that the baseline makes.
fn report(dataset: &str, what: &str, severity: Assessment, outcome: RuleOutcome) -> RuleReport {
    let name = format!("{dataset}: {what} as accepted");
    let duration = Duration::ZERO;
    RuleReport {
        name,
        claim: None,
        reading: None,
        compiled_by: None,
        sql: None,
        severity,
        line: None,
        duration,
        outcome,
    }
}

/// Returns a row of a result.
fn row<const N: usize>(values: [(&str, Value); N]) -> PlacedRow {
    let values = values.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
    PlacedRow { values, ..PlacedRow::default() }
}

#[expect(clippy::cast_precision_loss, reason = "shares need no more")]
fn share(part: u64, of: u64) -> f64 {
    part as f64 / (of.max(1)) as f64
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

impl DatasetThen {
    /// Returns whether the numbers of a file may be those of a dataset.
    fn is_valid(&self) -> bool {
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.map(u128::from).sum::<u128>();
        let is_unique = |(at, it): (usize, &ColumnThen)| {
            self.columns[..at].iter().all(|other| other.name != it.name)
        };
        self.rows <= i64::MAX.unsigned_abs()
            && self.columns.iter().enumerate().all(is_unique)
            && self.columns.iter().all(|it| {
                let n_values = match &it.parts {
                    None => 0,
                    Some(ValueParts::Categories(parts)) => sum(&mut parts.iter().map(|it| it.1)),
                    Some(ValueParts::Numbers { edges, counts }) => {
                        let is_in_order = edges.is_sorted_by(|one, other| one < other)
                            && counts.len() == edges.len() + 1;
                        if !is_in_order {
                            return false;
                        }
                        sum(&mut counts.iter().copied())
                    }
                };
                n_values + u128::from(it.missing) <= u128::from(self.rows)
            })
    }

    fn column(&self, name: &str) -> Option<&ColumnThen> {
        self.columns.iter().find(|it| it.name == name)
    }

    /// Returns the numbers that a column is divided at, if it still has numbers.
    fn edges_of(&self, now: &Column) -> Option<Vec<f64>> {
        match &self.column(&now.name)?.parts {
            Some(ValueParts::Numbers { edges, .. }) if is_number(now.dtype) => Some(edges.clone()),
            _ => None,
        }
    }

    fn other_columns(&self, now: &DatasetThen) -> Vec<PlacedRow> {
        let of = |it: Option<&ColumnThen>| json!(it.map(|it| &it.dtype));
        // Without values, the type of a column says nothing.
        let has_values = |then: &ColumnThen, new: &ColumnThen| {
            then.missing < self.rows && new.missing < now.rows
        };
        let is_other =
            |it: &ColumnThen, new: &ColumnThen| new.dtype != it.dtype && has_values(it, new);
        let changed = |it: &&ColumnThen| now.column(&it.name).is_none_or(|new| is_other(it, new));
        let gone = self.columns.iter().filter(changed).map(|it| {
            row([
                ("column", json!(it.name)),
                ("was", json!(it.dtype)),
                ("is", of(now.column(&it.name))),
            ])
        });
        let new = now.columns.iter().filter(|it| self.column(&it.name).is_none()).map(|it| {
            row([("column", json!(it.name)), ("was", json!(null)), ("is", json!(it.dtype))])
        });
        gone.chain(new).collect()
    }

    fn other_size(&self, now: &DatasetThen) -> Vec<PlacedRow> {
        let is_near =
            now.rows <= self.rows.saturating_mul(2) && self.rows <= now.rows.saturating_mul(2);
        let moved = row([("rows_were", json!(self.rows)), ("rows_are", json!(now.rows))]);
        if is_near { Vec::new() } else { vec![moved] }
    }

    /// Returns pairs of the same column, then and now.
    fn pairs<'a>(
        &'a self,
        now: &'a DatasetThen,
    ) -> impl Iterator<Item = (&'a ColumnThen, &'a ColumnThen)> {
        self.columns.iter().filter_map(|it| Some((it, now.column(&it.name)?)))
    }

    fn other_missing(&self, now: &DatasetThen) -> Vec<PlacedRow> {
        if self.rows == 0 || now.rows == 0 {
            return Vec::new();
        }
        let shares = self.pairs(now).map(|(then, new)| {
            (&then.name, share(then.missing, self.rows), share(new.missing, now.rows))
        });
        let moved = shares.filter(|(_, then, new)| MISSING_MOVE_MAX < (then - new).abs());
        let moved = moved.map(|(name, then, new)| {
            row([
                ("column", json!(name)),
                ("was", json!(percent(then))),
                ("is", json!(percent(new))),
            ])
        });
        moved.collect()
    }

    fn other_distributions(&self, now: &DatasetThen) -> Vec<PlacedRow> {
        self.pairs(now).filter_map(|(then, new)| moved(then, new)).collect()
    }
}

/// Returns how the distribution of a column has moved, if it has by more than chance.
fn moved(then: &ColumnThen, now: &ColumnThen) -> Option<PlacedRow> {
    let counts: Vec<(String, u64, u64)> = match (then.parts.as_ref()?, now.parts.as_ref()) {
        (ValueParts::Categories(then), Some(ValueParts::Categories(now))) => {
            let count_in = |of: &[(String, u64)], name: &str| {
                of.iter().find(|it| it.0 == name).map_or(0, |it| it.1)
            };
            let known = then.iter().map(|(name, n)| (name.clone(), *n, count_in(now, name)));
            let new = now.iter().filter(|it| count_in(then, &it.0) == 0);
            known.chain(new.map(|(name, n)| (name.clone(), 0, *n))).collect()
        }
        (ValueParts::Numbers { edges, counts }, Some(ValueParts::Numbers { counts: now, .. }))
            if counts.len() == now.len() =>
        {
            let name = |at: usize| match (at.checked_sub(1).map(|it| edges[it]), edges.get(at)) {
                (None, Some(to)) => format!("below {}", readable(*to)),
                (Some(from), Some(to)) => format!("{} to {}", readable(from), readable(*to)),
                (Some(from), None) => format!("above {}", readable(from.next_down())),
                (None, None) => "all".to_owned(),
            };
            (0..counts.len()).map(|at| (name(at), counts[at], now[at])).collect()
        }
        // Too many different values to be categories any more: the number of them says it.
        (ValueParts::Categories(then), None) => {
            let more = format!("more than {CATEGORIES_MAX}");
            let (column, n) = (json!(now.name), json!(then.len()));
            return Some(row([
                ("column", column),
                ("values_were", n),
                ("values_are", json!(more)),
            ]));
        }
        _ => return None,
    };
    let (n_then, n_now) = (counts.iter().map(|it| it.1).sum(), counts.iter().map(|it| it.2).sum());
    if n_then < ROWS_MIN || n_now < ROWS_MIN {
        return None;
    }
    let psi = stability_index(&counts, n_then, n_now);
    if psi <= PSI_MIN.max(psi_by_chance(counts.len(), n_then, n_now)) {
        return None;
    }
    let shares = |it: &(String, u64, u64)| (share(it.1, n_then), share(it.2, n_now));
    let most = counts.iter().max_by(|one, other| {
        let by = |it| {
            let (then, now) = shares(it);
            (then - now).abs()
        };
        by(*one).total_cmp(&by(*other))
    })?;
    let (was, is) = shares(most);
    let (mut below, mut ks) = (0.0, 0.0_f64);
    for it in &counts {
        let (then, now) = shares(it);
        below += now - then;
        ks = ks.max(below.abs());
    }
    // Bars of the same scale and width, so that both can be compared in any font.
    let largest = counts.iter().map(|it| shares(it).0.max(shares(it).1)).fold(0.0, f64::max);
    let before = bars(counts.iter().map(|it| shares(it).0), largest, '▁');
    let after = bars(counts.iter().map(|it| shares(it).1), largest, '▁');
    let mut moved = row([
        ("column", json!(now.name)),
        ("psi", json!(rounded(psi))),
        ("was", json!(before)),
        ("is", json!(after)),
        ("most", json!(format!("{}: {} → {}", most.0, percent(was), percent(is)))),
    ]);
    if matches!(then.parts, Some(ValueParts::Numbers { .. })) {
        moved.values.push(("ks".to_owned(), json!(rounded(ks))));
    }
    Some(moved)
}

/// Returns a number without the digits that computing it has added: 82.85 for 82.85000000000001.
fn readable(number: f64) -> f64 {
    format!("{number:.12e}").parse().unwrap_or(number)
}

fn rounded(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

/// Returns the population stability index: the sum of (p − q) · ln(p / q) over the parts.
#[expect(clippy::cast_precision_loss, reason = "shares need no more")]
fn stability_index(counts: &[(String, u64, u64)], n_then: u64, n_now: u64) -> f64 {
    let n_parts = counts.len() as f64;
    // Half a value more in each part, since the index of an empty one has no end.
    let part = |n: u64, of: u64| (n as f64 + 0.5) / (of as f64 + 0.5 * n_parts);
    let terms = counts.iter().map(|it| {
        let (then, now) = (part(it.1, n_then), part(it.2, n_now));
        (now - then) * (now / then).ln()
    });
    terms.sum()
}

/// Returns an index that one in a thousand samples of the same distribution exceeds: the index of two samples is about
/// (1/n + 1/m) times a chi-square value of as many degrees of freedom as there are parts but one, which the formula of
/// Wilson and Hilferty gives.
#[expect(clippy::cast_precision_loss, reason = "shares need no more")]
fn psi_by_chance(n_parts: usize, n_then: u64, n_now: u64) -> f64 {
    let freedom = n_parts.saturating_sub(1).max(1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    let chi_square = freedom * (1.0 - spread + CHANCE_DEVIATIONS * spread.sqrt()).powi(3);
    chi_square * (1.0 / n_then.max(1) as f64 + 1.0 / n_now.max(1) as f64)
}

fn is_number(dtype: DType) -> bool {
    matches!(dtype, DType::Int64 | DType::Float64)
}

/// A dataset that is described.
struct TableNow<'a> {
    name: &'a str,
    dataset: &'a Dataset,
    session: &'a Session,
    settings: &'a Settings<'a>,
}

impl TableNow<'_> {
    /// Returns for each column of numbers where it is divided into parts of about equal size. Keys are not divided:
    /// next month's are others.
    fn edges(&self) -> anyhow::Result<Vec<Option<Vec<f64>>>> {
        let numbers = self.dataset.columns.iter().filter(|it| is_number(it.dtype));
        let quantiles = numbers.flat_map(|it| {
            let name = identifier(&it.name);
            let is_unique = format!("count(distinct {name}) = count({name})");
            let ends = [format!("min({name})"), format!("max({name})")];
            let quantiles = (1..N_PARTS).map(move |at| format!("quantile_cont({name}, 0.{at})"));
            std::iter::once(is_unique).chain(ends).chain(quantiles)
        });
        let quantiles: Vec<String> = quantiles.collect();
        if quantiles.is_empty() {
            return Ok(vec![None; self.dataset.columns.len()]);
        }
        let sql = format!("select {} from {}", named(&quantiles), identifier(self.name));
        let found = engine::first_rows(&[sql], self.session, "check", self.settings, 1)?;
        let row = found.into_iter().next().and_then(|it| it.rows.into_iter().next());
        let mut row = row.unwrap_or_default().into_iter();
        let n_edges = N_PARTS as usize - 1;
        let edges = self.dataset.columns.iter().map(|it| {
            if !is_number(it.dtype) {
                return None;
            }
            let is_unique = row.next() == Some(json!(true));
            let mut ends = row.by_ref().take(2).map(|it| it.as_f64());
            let (least, most) = (ends.next().flatten(), ends.next().flatten());
            let within = row.by_ref().take(n_edges).filter_map(|it| it.as_f64());
            // What is above the largest is a part of its own, and so is what is below the smallest.
            let edges = least.into_iter().chain(within).chain(most.map(f64::next_up));
            let mut edges: Vec<f64> = edges.filter(|it| it.is_finite()).collect();
            edges.sort_by(f64::total_cmp);
            edges.dedup();
            let is_key = it.dtype == DType::Int64 && (is_unique || is_key_name(&it.name));
            (!is_key).then_some(edges)
        });
        Ok(edges.collect())
    }

    /// Describes the dataset; numbers are divided at these places.
    fn described(&self, edges: &[Option<Vec<f64>>]) -> anyhow::Result<DatasetThen> {
        let table = identifier(self.name);
        let mut counts: Vec<String> = Vec::new();
        let mut statements: Vec<String> = Vec::new();
        for (column, edges) in self.dataset.columns.iter().zip(edges) {
            let name = identifier(&column.name);
            counts.push(format!("count({name})"));
            for at in 0..edges.as_ref().map_or(0, |it| it.len() + 1) {
                let edges = edges.as_deref().unwrap_or_default();
                let from = at.checked_sub(1).map(|it| format!("{name} >= {:?}", edges[it]));
                let to = edges.get(at).map(|it| format!("{name} < {it:?}"));
                let within: Vec<String> = from.into_iter().chain(to).collect();
                let within = if within.is_empty() {
                    format!("{name} is not null")
                } else {
                    within.join(" and ")
                };
                counts.push(format!("count(*) filter (where {within})"));
            }
            if matches!(column.dtype, DType::String | DType::Bool) {
                statements.push(format!(
                    "select cast({name} as text), count(*) from {table} where {name} is not null group by {name} \
                     order by 2 desc, 1 limit {}",
                    CATEGORIES_MAX + 1
                ));
            }
        }
        statements.push(format!("select {} from {table}", named(&counts)));
        let mut found = engine::first_rows(
            &statements,
            self.session,
            "check",
            self.settings,
            CATEGORIES_MAX + 1,
        )?;
        let counts = found.pop().and_then(|it| it.rows.into_iter().next()).unwrap_or_default();
        let mut counts = counts.into_iter().map(|it| it.as_u64().unwrap_or_default());
        let mut categories = found.into_iter();
        let columns = self.dataset.columns.iter().zip(edges).map(|(column, edges)| {
            let n_values = counts.next().unwrap_or_default();
            let parts = match edges {
                Some(edges) => {
                    let counts: Vec<u64> = counts.by_ref().take(edges.len() + 1).collect();
                    Some(ValueParts::Numbers { edges: edges.clone(), counts })
                }
                None if matches!(column.dtype, DType::String | DType::Bool) => {
                    let found = categories.next().map(|it| it.rows).unwrap_or_default();
                    (found.len() <= CATEGORIES_MAX).then(|| {
                        ValueParts::Categories(found.iter().map(|it| category(it)).collect())
                    })
                }
                None => None,
            };
            let missing = self.dataset.row_count.saturating_sub(n_values);
            let (name, dtype) = (column.name.clone(), column.dtype.name().to_owned());
            ColumnThen { name, dtype, missing, parts }
        });
        let columns = columns.collect();
        Ok(DatasetThen { name: self.name.to_owned(), rows: self.dataset.row_count, columns })
    }
}

/// Returns a value and its count.
fn category(row: &[Value]) -> (String, u64) {
    let value = row.first().and_then(Value::as_str).unwrap_or_default();
    (value.to_owned(), row.get(1).and_then(Value::as_u64).unwrap_or_default())
}

/// Returns expressions with names that differ.
fn named(expressions: &[String]) -> String {
    let named = expressions.iter().enumerate().map(|(at, it)| format!("{it} as c{at}"));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{ColumnThen, ValueParts, moved, psi_by_chance, stability_index};

    fn counts(pairs: &[(u64, u64)]) -> Vec<(String, u64, u64)> {
        pairs.iter().map(|it| (String::new(), it.0, it.1)).collect()
    }

    #[test]
    fn the_index_is_that_of_the_formula() {
        let pairs = counts(&[(500_000, 400_000), (500_000, 600_000)]);
        let index = stability_index(&pairs, 1_000_000, 1_000_000);
        let expected = -0.1 * 0.8_f64.ln() + 0.1 * 1.2_f64.ln();
        assert!((index - expected).abs() < 1e-5, "{index} {expected}");
        assert!(stability_index(&counts(&[(5, 5), (7, 7)]), 12, 12).abs() < 1e-12);
    }

    #[test]
    fn chance_moves_small_samples_more() {
        // The quantile of chi-square at 0.999: 27.88 for 9 degrees of freedom, by tables.
        let by_chance = psi_by_chance(10, 100, 100);
        assert!((by_chance - 27.88 * 0.02).abs() < 0.01, "{by_chance}");
        assert!(psi_by_chance(10, 100_000, 100_000) < 0.001);
    }

    #[test]
    fn categories_move_when_one_gains_from_the_others() {
        let column = |parts: &[(&str, u64)]| ColumnThen {
            name: "c".to_owned(),
            dtype: "string".to_owned(),
            missing: 0,
            parts: Some(ValueParts::Categories(
                parts.iter().map(|it| (it.0.to_owned(), it.1)).collect(),
            )),
        };
        let then = column(&[("a", 500), ("b", 500)]);
        assert_eq!(moved(&then, &column(&[("b", 520), ("a", 480)])), None);
        let found = moved(&then, &column(&[("c", 500), ("a", 500)])).unwrap();
        assert!(found.text().starts_with("column=c, psi="), "{}", found.text());
        assert!(
            found.text().ends_with("most=c: 0.0 % → 50.0 %")
                || found.text().ends_with("most=b: 50.0 % → 0.0 %")
        );
        assert_eq!(moved(&column(&[("a", 5)]), &column(&[("b", 5)])), None, "too few");
    }
}
