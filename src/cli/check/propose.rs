//! `check --init`: rules that the data keeps today, each with what speaks for it.

mod samples;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;
use toml_edit::value;

use csv_agent_ingest::source_file;
use csv_agent_render::report::checks::RuleOutcome;
use csv_agent_session::Session;
use csv_agent_text::{
    digits::{count, number},
    sql::{identifier, literal},
};
use csv_agent_types::catalog::DType;
use csv_agent_types::conversation::Assessment;
use csv_agent_types::dataset_names::words;
use csv_agent_types::status::Failure;

use super::decide::{self, RuleStatement};
use super::file::{CheckRule, RuleBody};
use crate::describe::{self, Described};
use crate::options::GlobalOptions;
use crate::options::settings::Settings;

use samples::{ColumnPattern, DatasetSample, Formula};

/// Different values up to which a column has a set of them.
const VALUES_MAX: u64 = 12;
/// Rows for each of them, from which the set is likely to be complete.
const ROWS_PER_VALUE_MIN: u64 = 10;
/// Rows from which values are hardly all different by chance.
const KEY_ROWS_MIN: u64 = 1_000;
/// The same for the first column, which is the key of most tables.
const FIRST_KEY_ROWS_MIN: u64 = 10;
/// Names of coordinates, with their bounds.
const COORDINATES: [(&str, u8); 5] =
    [("lat", 90), ("latitude", 90), ("lon", 180), ("lng", 180), ("longitude", 180)];
/// Words for numbers that may be below 0, although none is today.
const SIGNED: [&str; 10] = [
    "temp", "temperature", "change", "delta", "diff", "difference", "balance", "offset", "profit",
    "return",
];
/// Words that names of keys end with.
const KEY_WORDS: [&str; 8] = ["id", "key", "code", "uuid", "guid", "number", "no", "sku"];
/// What the file begins with.
const HEADING: &str = "# Proposed by `csv-agent check --init`. The data satisfies all of these rules today. \
                       Remove those that you do not want.\n";

/// Rules of a dataset that are proposed: those that are less sure are left out.
const PROPOSALS_MAX: usize = 100;

/// A rule, and what speaks for it.
struct Proposal {
    evidence: String,
    name: String,
    sql: String,
    severity: Assessment,
}

impl Proposal {
    fn rule(&self) -> CheckRule {
        let body = RuleBody::Sql(self.sql.clone());
        CheckRule { name: self.name.clone(), body, severity: self.severity, line: 1 }
    }
}

/// Returns a file of rules for the datasets of a session, the surest rules of each dataset first, and how many
/// rows there are last. Fails when a dataset cannot be named in such a file, or nothing can be proposed.
pub(super) fn propose(
    session: &mut Session,
    settings: &Settings,
    options: &GlobalOptions,
) -> anyhow::Result<String> {
    let sources = sources(session)?;
    let described = describe::datasets_of(session, VALUES_MAX, settings)?;
    let mut proposals: Vec<Proposal> = Vec::new();
    let samples = samples::of(&described, session, settings)?;
    for (dataset, sample) in described.iter().zip(&samples) {
        let facts = ColumnsOf(dataset);
        let mut own: Vec<Proposal> = facts.keys().collect();
        own.extend(facts.references(&described));
        own.extend(facts.formulas(sample));
        own.extend(facts.dates_in_order(sample));
        own.extend(facts.patterns(sample));
        own.extend(facts.sets().chain(facts.ranges()).chain(facts.present()));
        own.truncate(PROPOSALS_MAX - 1);
        own.extend(facts.size());
        proposals.extend(own);
    }
    let rules: Vec<CheckRule> = proposals.iter().map(Proposal::rule).collect();
    let ready = |it: &Proposal| Ok(RuleStatement { sql: it.sql.clone(), reading: None });
    let rules: Vec<_> = rules.iter().zip(proposals.iter().map(ready)).collect();
    // A value that is cut in the description, for example, is in no set.
    let (reports, interrupted) = decide::decide(&rules, session, settings, options)?;
    if let Some(signal) = interrupted {
        return Err(signal.into());
    }
    let kept = proposals.iter().zip(&reports).filter(|it| it.1.outcome == RuleOutcome::Kept);
    let kept: Vec<&Proposal> = kept.map(|it| it.0).collect();
    if kept.is_empty() {
        let message =
            "no rules to propose: the data satisfies none of the rules that csv-agent tries";
        return Err(Failure::input(message).hint("write the rules yourself").into());
    }
    let mut text = format!("{HEADING}\n[data]\n");
    for (name, path) in &sources {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = {}", value(path));
    }
    for Proposal { evidence, name, sql, severity } in kept {
        let (name, sql) = (value(name), value(sql));
        // Writing to a string cannot fail.
        let _ = write!(text, "\n# {evidence}\n[[check]]\nname = {name}\nsql = {sql}\n");
        if *severity == Assessment::Warning {
            text.push_str("severity = \"warning\"\n");
        }
    }
    Ok(text)
}

/// Returns name and path of each dataset.
fn sources(session: &Session) -> anyhow::Result<Vec<(String, String)>> {
    let mut known = BTreeSet::new();
    let mut sources = Vec::new();
    for (name, dataset) in session.catalog().iter() {
        let path = source_file(dataset);
        if !PathBuf::from(&path).is_file() || !known.insert(path.clone()) {
            let message =
                format!("`{name}` comes from `{path}`, which is not a file with one table");
            let hint = "name files with one table; write rules about other data yourself";
            return Err(Failure::input(message).hint(hint).into());
        }
        sources.push((name.to_owned(), path));
    }
    Ok(sources)
}

/// Returns whether a name is that of a key: `order_id`, `OrderID`.
pub(crate) fn is_key_name(name: &str) -> bool {
    let last = name.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    KEY_WORDS.iter().any(|it| last.eq_ignore_ascii_case(it))
        || last.ends_with("Id")
        || last.ends_with("ID")
}

/// The columns of a dataset, with what they contain.
struct ColumnsOf<'a>(&'a Described);

struct ColumnToPropose<'a> {
    name: &'a str,
    dtype: DType,
    facts: &'a csv_agent_query::describe::ColumnFacts,
}

impl<'a> ColumnsOf<'a> {
    fn table(&self) -> String {
        identifier(&self.0.name)
    }

    fn n_rows(&self) -> u64 {
        self.0.dataset.row_count
    }

    fn columns(&self) -> impl Iterator<Item = ColumnToPropose<'a>> {
        let facts = self.0.description.facts().iter();
        let columns = self.0.dataset.columns.iter().zip(facts);
        columns.map(|(it, facts)| ColumnToPropose { name: &it.name, dtype: it.dtype, facts })
    }

    fn proposal(&self, evidence: String, what: &str, sql: String) -> Proposal {
        let name = format!("{}: {what}", self.0.name);
        Proposal { evidence, name, sql, severity: Assessment::Bad }
    }

    /// Returns the columns whose values are all different, and have to be: in a short table, they may be so by chance.
    fn key_columns(&self) -> impl Iterator<Item = ColumnToPropose<'a>> {
        let n_rows = self.n_rows();
        let columns = self.columns().enumerate();
        let keys = columns.filter(move |(at, it)| {
            let n_rows_min = if *at == 0 { FIRST_KEY_ROWS_MIN } else { KEY_ROWS_MIN };
            let is_key = it.facts.is_key == Some(true) && 1 < n_rows;
            is_key
                && matches!(it.dtype, DType::Int64 | DType::String | DType::Date)
                && (n_rows_min <= n_rows || is_key_name(it.name))
        });
        keys.map(|it| it.1)
    }

    fn keys(&self) -> impl Iterator<Item = Proposal> {
        self.key_columns().map(|it| {
            let column = identifier(it.name);
            let evidence = format!("{} different values in as many rows", number(self.n_rows()));
            let sql = format!(
                "select * from {} qualify count(*) over (partition by {column}) > 1",
                self.table()
            );
            self.proposal(evidence, &format!("{} is unique", it.name), sql)
        })
    }

    fn present(&self) -> impl Iterator<Item = Proposal> {
        let is_there = |it: &ColumnToPropose| 0 < self.n_rows() && it.facts.nulls == 0;
        self.columns().filter(is_there).map(|it| {
            let evidence = format!("a value in each of {}", count(self.n_rows(), "row"));
            let sql =
                format!("select * from {} where {} is null", self.table(), identifier(it.name));
            self.proposal(evidence, &format!("{} is not missing", it.name), sql)
        })
    }

    fn ranges(&self) -> impl Iterator<Item = Proposal> {
        self.columns().filter_map(|it| {
            let (min, max) = (it.facts.min.as_f64()?, it.facts.max.as_f64()?);
            if !matches!(it.dtype, DType::Int64 | DType::Float64) {
                return None;
            }
            let evidence = format!("from {} to {}", it.facts.min, it.facts.max);
            let column = identifier(it.name);
            let words = words(it.name);
            let is_share = it.dtype == DType::Float64 && max <= 1.0;
            let degrees =
                COORDINATES.iter().find(|it| words.last().is_some_and(|word| word == it.0));
            let (what, condition) = if let Some((_, n)) = degrees {
                (format!("is from -{n} to {n}"), format!("{column} not between -{n} and {n}"))
            } else if min < 0.0 || words.iter().any(|it| SIGNED.contains(&it.as_str())) {
                return None;
            } else if is_share {
                ("is from 0 to 1".to_owned(), format!("{column} not between 0 and 1"))
            } else {
                ("is not below 0".to_owned(), format!("{column} < 0"))
            };
            let sql = format!("select * from {} where {condition}", self.table());
            Some(self.proposal(evidence, &format!("{} {what}", it.name), sql))
        })
    }

    fn sets(&self) -> impl Iterator<Item = Proposal> {
        self.columns().filter_map(|it| {
            let n_values = it.facts.distinct;
            let is_set = (2..=VALUES_MAX).contains(&n_values)
                && n_values * ROWS_PER_VALUE_MIN <= self.n_rows();
            if it.dtype != DType::String || !is_set {
                return None;
            }
            let top = it.facts.top.as_ref()?;
            let values: Option<Vec<&str>> = top.iter().map(|it| it.0.as_str()).collect();
            let mut values = values.filter(|it| it.len() as u64 == n_values)?;
            values.sort_unstable();
            let listed: Vec<String> = values.iter().map(|it| literal(it)).collect();
            let evidence =
                format!("{n_values} different values in {}", count(self.n_rows(), "row"));
            let column = identifier(it.name);
            let sql = format!(
                "select * from {} where {column} not in ({})",
                self.table(),
                listed.join(", ")
            );
            Some(self.proposal(evidence, &format!("{} is one of {n_values} values", it.name), sql))
        })
    }

    /// Returns columns that have the name and the type of a key of another dataset, or its name before that of the key:
    /// `customer_id` is the `id` of `customers`.
    fn references(&self, others: &'a [Described]) -> Vec<Proposal> {
        let mut found = Vec::new();
        for other in others.iter().filter(|it| it.name != self.0.name) {
            let other = ColumnsOf(other);
            let name = other.0.name.to_lowercase();
            let prefixes = [Some(&*name), name.strip_suffix('s'), name.strip_suffix("es")];
            // Days of one table are in another by chance.
            for key in other.key_columns().filter(|it| it.dtype != DType::Date) {
                let is_named = |it: &ColumnToPropose| {
                    let own = it.name.to_lowercase();
                    let rest = prefixes.iter().flatten().find_map(|it| own.strip_prefix(*it));
                    let is_prefixed = rest.is_some_and(|it| {
                        it.trim_start_matches(['_', ' ', '.', '-']) == key.name.to_lowercase()
                    });
                    it.name == key.name || is_prefixed
                };
                let own = self.columns().find(|it| is_named(it) && it.dtype == key.dtype);
                let Some(own) = own.filter(|it| it.facts.max != Value::Null) else { continue };
                let (column, target) = (identifier(own.name), identifier(key.name));
                let evidence = format!(
                    "{} of `{}` are among the {} values of `{}` in `{}`",
                    count(own.facts.distinct, "different value"),
                    own.name,
                    number(other.n_rows()),
                    key.name,
                    other.0.name,
                );
                let sql = format!(
                    "select * from {} where {column} is not null and {column} not in (select {target} from {})",
                    self.table(),
                    other.table()
                );
                let what = format!("{} is in {}", own.name, other.0.name);
                found.push(self.proposal(evidence, &what, sql));
            }
        }
        found
    }

    /// Returns columns that are the sum, the difference or the product of two others.
    fn formulas(&self, sample: &DatasetSample) -> Vec<Proposal> {
        let formulas = sample.formulas().into_iter();
        formulas
            .map(|Formula { total, left, sign, right, n_rows }| {
                let [column, a, b] = [&total, &left, &right].map(|it| identifier(it));
                // A cent is what rounding takes.
                let sql = format!(
                    "select * from {} where abs({column} - ({a} {sign} {b})) > 0.01",
                    self.table()
                );
                let evidence = format!("so for {} in a sample", count(n_rows, "different total"));
                self.proposal(evidence, &format!("{total} is {left} {sign} {right}"), sql)
            })
            .collect()
    }

    /// Returns pairs of dates of which one is never before the other.
    fn dates_in_order(&self, sample: &DatasetSample) -> Vec<Proposal> {
        let pairs = sample.dates_in_order().into_iter();
        pairs
            .map(|(first, then, n_rows)| {
                let sql = format!(
                    "select * from {} where {} < {}",
                    self.table(),
                    identifier(&then),
                    identifier(&first)
                );
                let evidence = format!("so in {} of a sample that have both", count(n_rows, "row"));
                self.proposal(evidence, &format!("{then} is not before {first}"), sql)
            })
            .collect()
    }

    /// Returns the forms of codes.
    fn patterns(&self, sample: &DatasetSample) -> Vec<Proposal> {
        let patterns = sample.patterns.iter();
        patterns
            .map(|ColumnPattern { column, pattern, n_values }| {
                let sql = format!(
                    "select * from {} where not regexp_full_match({}, {})",
                    self.table(),
                    identifier(column),
                    literal(pattern)
                );
                let evidence = format!("{}, which is 100 % of them", count(*n_values, "value"));
                self.proposal(evidence, &format!("{column} looks like {pattern}"), sql)
            })
            .collect()
    }

    /// Returns bounds of the number of rows.
    fn size(&self) -> Option<Proposal> {
        let n_rows = self.n_rows();
        let (low, high) = (n_rows / 2, n_rows.saturating_mul(2));
        let sql = format!(
            "select * from (select count(*) as n from {}) where n not between {low} and {high}",
            self.table()
        );
        let what = format!("from {} to {} rows", number(low), number(high));
        let proposal = self.proposal(format!("{} today", count(n_rows, "row")), &what, sql);
        (0 < n_rows).then_some(Proposal { severity: Assessment::Warning, ..proposal })
    }
}
