//! What the values of several columns, and the characters of texts, suggest. The engine decides each rule afterwards.

use std::collections::BTreeMap;

use serde_json::Value;

use csv_agent_session::Session;
use csv_agent_text::sql::identifier;
use csv_agent_types::catalog::DType;

use crate::describe::Described;
use crate::engine;
use crate::options::settings::Settings;

/// Rows that suggest formulas and orders.
const ROWS_MAX: usize = 500;
/// Rows in which a formula or an order has to be true, so that it is hardly chance.
const ROWS_MIN: u64 = 10;
/// Columns of numbers, and of dates, that are compared with each other.
const COLUMNS_MAX: usize = 10;
/// Formulas and pairs of dates of a dataset.
const FOUND_MAX: usize = 10;
/// Different forms of a text up to which they may have a pattern.
const FORMS_MAX: usize = 50;
/// Texts from which a pattern is likely.
const TEXTS_MIN: u64 = 10;
/// How far a number may be from what it is computed from, as `SQL` of the rule has it.
const TOLERANCE: f64 = 0.01;

/// What values of a dataset suggest.
pub(super) struct DatasetSample {
    /// Number columns, each with the values of the first rows.
    numbers: Vec<(String, Vec<Option<f64>>)>,
    /// Date columns of one type each, with the values of the first rows as text, which is in the order of time.
    dates: Vec<(String, DType, Vec<Option<String>>)>,
    /// The forms of codes.
    pub patterns: Vec<ColumnPattern>,
}

/// The form of all texts of a column.
#[derive(Debug, PartialEq)]
pub(super) struct ColumnPattern {
    pub column: String,
    /// A regular expression.
    pub pattern: String,
    /// How many texts there are.
    pub n_values: u64,
}

/// A column that is computed from two others.
#[derive(Debug, PartialEq)]
pub(super) struct Formula {
    pub total: String,
    pub left: String,
    pub sign: char,
    pub right: String,
    /// The rows of the sample that have all three, and in which none is 0 or 1.
    pub n_rows: u64,
}

/// Returns the samples of datasets, in order.
pub(super) fn of(
    described: &[Described],
    session: &Session,
    settings: &Settings,
) -> anyhow::Result<Vec<DatasetSample>> {
    let mut samples = Vec::new();
    for it in described {
        let table = identifier(&it.name);
        let columns = || it.dataset.columns.iter();
        let is_number = |dtype| matches!(dtype, DType::Int64 | DType::Float64);
        let is_date = |dtype| matches!(dtype, DType::Date | DType::Timestamp | DType::TimestampUtc);
        let numbers = columns().filter(|it| is_number(it.dtype)).take(COLUMNS_MAX);
        let dates = columns().filter(|it| is_date(it.dtype)).take(COLUMNS_MAX);
        let compared: Vec<_> = numbers.chain(dates).collect();
        let texts: Vec<&str> =
            columns().filter(|it| it.dtype == DType::String).map(|it| it.name.as_str()).collect();
        let names: Vec<String> = compared.iter().map(|it| identifier(&it.name)).collect();
        let mut statements: Vec<String> = texts.iter().map(|it| forms(&table, it)).collect();
        if !names.is_empty() {
            statements.push(format!("select {} from {table} limit {ROWS_MAX}", names.join(", ")));
        }
        let mut frames = engine::first_rows(&statements, session, "check", settings, ROWS_MAX)?;
        let rows = if names.is_empty() {
            Vec::new()
        } else {
            frames.pop().map_or(Vec::new(), |it| it.rows)
        };
        let mut sample =
            DatasetSample { numbers: Vec::new(), dates: Vec::new(), patterns: Vec::new() };
        for (at, column) in compared.iter().enumerate() {
            let values = || rows.iter().map(|it| &it[at]);
            let name = column.name.clone();
            if is_number(column.dtype) {
                sample.numbers.push((name, values().map(Value::as_f64).collect()));
            } else {
                let texts = values().map(|it| it.as_str().map(str::to_owned));
                sample.dates.push((name, column.dtype, texts.collect()));
            }
        }
        let facts = it.description.facts().iter().zip(columns());
        let keys = facts.filter(|it| it.0.is_key == Some(true)).map(|it| it.1.name.as_str());
        let keys: Vec<&str> = keys.collect();
        for (column, frame) in texts.iter().zip(frames) {
            let forms = frame
                .rows
                .iter()
                .filter_map(|it| Some((it.first()?.as_str()?.to_owned(), it.get(1)?.as_u64()?)));
            let forms: Vec<(String, u64)> = forms.collect();
            let n_values = forms.iter().map(|it| it.1).sum();
            let is_counted = keys.contains(column);
            if let Some(pattern) = pattern(&forms, is_counted).filter(|_| TEXTS_MIN <= n_values) {
                let column = (*column).to_owned();
                sample.patterns.push(ColumnPattern { column, pattern, n_values });
            }
        }
        samples.push(sample);
    }
    Ok(samples)
}

/// Returns the statement of the forms of a column's texts: `AB-12` is `AA-99`.
fn forms(table: &str, column: &str) -> String {
    let column = identifier(column);
    let form = format!(
        "regexp_replace(regexp_replace(regexp_replace({column}, '[0-9]', '9', 'g'), '[A-Z]', 'A', 'g'), '[a-z]', 'a', 'g')"
    );
    format!(
        "select {form} as form, count(*) as n from {table} where {column} is not null group by 1 order by n desc, form \
         limit {}",
        FORMS_MAX + 1
    )
}

/// Returns the regular expression of all these forms, if they are those of a code: the same kinds of characters in the
/// same order, with digits. Keys may be counted, so their last number may get more digits.
fn pattern(forms: &[(String, u64)], is_counted: bool) -> Option<String> {
    if forms.is_empty() || FORMS_MAX < forms.len() {
        return None;
    }
    let mut parts: Vec<(char, usize, usize)> = Vec::new();
    for (at, (form, _)) in forms.iter().enumerate() {
        let runs = runs(form);
        if at == 0 {
            parts = runs.into_iter().map(|(kind, n)| (kind, n, n)).collect();
            continue;
        }
        if runs.len() != parts.len() {
            return None;
        }
        for (part, (kind, n)) in parts.iter_mut().zip(runs) {
            if part.0 != kind {
                return None;
            }
            (part.1, part.2) = (part.1.min(n), part.2.max(n));
        }
    }
    let has = |is_kind: fn(char) -> bool| parts.iter().any(|it| is_kind(it.0));
    // Of numbers alone, a code that begins with 0 is one; words alone are names.
    let is_code = has(|it| it == '9') && (1 < parts.len() || forms.len() == 1);
    if !is_code || !parts.iter().all(|it| it.0.is_ascii_graphic() || it.0 == ' ') {
        return None;
    }
    let class = |kind: char| match kind {
        '9' => "[0-9]".to_owned(),
        'A' => "[A-Z]".to_owned(),
        'a' => "[a-z]".to_owned(),
        sign if ".+*?()|[]{}^$\\".contains(sign) => format!("\\{sign}"),
        sign => sign.to_string(),
    };
    let last = parts.iter().rposition(|it| it.0 == '9').filter(|_| is_counted);
    let part = |(at, (kind, low, high)): (usize, &(char, usize, usize))| {
        let class = class(*kind);
        match (low, high) {
            (low, _) if last == Some(at) => format!("{class}{{{low},}}"),
            (1, 1) => class,
            (low, high) if low == high => format!("{class}{{{low}}}"),
            (low, high) => format!("{class}{{{low},{high}}}"),
        }
    };
    Some(parts.iter().enumerate().map(part).collect())
}

/// Returns the characters of a form, each with how often it comes in a row.
fn runs(form: &str) -> Vec<(char, usize)> {
    let mut runs: Vec<(char, usize)> = Vec::new();
    for kind in form.chars() {
        match runs.last_mut() {
            Some((last, n)) if *last == kind => *n += 1,
            _ => runs.push((kind, 1)),
        }
    }
    runs
}

impl DatasetSample {
    /// Returns columns that are computed from two others in all rows of the sample.
    pub(super) fn formulas(&self) -> Vec<Formula> {
        let mut found = Vec::new();
        let columns = &self.numbers;
        for (at, total) in columns.iter().enumerate() {
            for (a, left) in columns.iter().enumerate().filter(|it| it.0 != at) {
                for (b, right) in columns.iter().enumerate().filter(|it| it.0 != at && it.0 != a) {
                    // `a - b` is `b + c` seen from the other side, and is left to that.
                    for sign in ['+', '*'].into_iter().filter(|_| a < b) {
                        let n_rows = n_computed(&total.1, &left.1, sign, &right.1);
                        if n_rows.is_some_and(|it| ROWS_MIN <= it) && found.len() < FOUND_MAX {
                            found.push(Formula {
                                total: total.0.clone(),
                                left: left.0.clone(),
                                sign,
                                right: right.0.clone(),
                                n_rows: n_rows.unwrap_or_default(),
                            });
                        }
                    }
                }
            }
        }
        found
    }

    /// Returns dates of which the second is never before the first, and in how many rows of the sample.
    pub(super) fn dates_in_order(&self) -> Vec<(String, String, u64)> {
        let mut found = Vec::new();
        for (first, dtype, before) in &self.dates {
            for (then, other, after) in self.dates.iter().filter(|it| it.0 != *first) {
                let both: Vec<_> = before
                    .iter()
                    .zip(after)
                    .filter_map(|(a, b)| a.as_ref().zip(b.as_ref()))
                    .collect();
                let is_ordered =
                    both.iter().all(|(a, b)| a <= b) && both.iter().any(|(a, b)| a < b);
                let n_rows = both.len() as u64;
                if dtype == other && is_ordered && ROWS_MIN <= n_rows && found.len() < FOUND_MAX {
                    found.push((first.clone(), then.clone(), n_rows));
                }
            }
        }
        found
    }
}

/// Returns in how many rows a number is computed from two others, in which that says something. None if one is not.
fn n_computed(
    total: &[Option<f64>],
    left: &[Option<f64>],
    sign: char,
    right: &[Option<f64>],
) -> Option<u64> {
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    for ((total, left), right) in total.iter().zip(left).zip(right) {
        let (Some(total), Some(left), Some(right)) = (total, left, right) else { continue };
        let computed = if sign == '*' { left * right } else { left + right };
        // As the rule has it, without what floats add.
        if TOLERANCE + 1e-9 * total.abs() < (total - computed).abs() {
            return None;
        }
        let is_trivial = [total, left, right].iter().any(|it| [0.0, 1.0].contains(*it))
            || total.abs() < 10.0 * TOLERANCE;
        if !is_trivial {
            *seen.entry(total.to_bits()).or_default() += 1;
        }
    }
    // One total again and again is one case.
    Some(seen.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::{DType, DatasetSample, Formula, pattern};

    #[track_caller]
    fn check(forms: &[&str], expected: Option<&str>) {
        let forms: Vec<(String, u64)> = forms.iter().map(|it| ((*it).to_owned(), 1)).collect();
        assert_eq!(pattern(&forms, false).as_deref(), expected, "{forms:?}");
    }

    #[test]
    fn the_number_of_a_key_may_get_more_digits() {
        let forms = [("AA-9-99".to_owned(), 90), ("AA-9-9".to_owned(), 9)];
        assert_eq!(pattern(&forms, true).as_deref(), Some("[A-Z]{2}-[0-9]-[0-9]{1,}"));
    }

    #[test]
    fn codes_have_a_pattern_and_words_have_none() {
        check(&["AA-9999"], Some("[A-Z]{2}-[0-9]{4}"));
        check(&["AA-9999", "A-999"], Some("[A-Z]{1,2}-[0-9]{3,4}"));
        check(&["+99 (999) 9"], Some(r"\+[0-9]{2} \([0-9]{3}\) [0-9]"));
        check(&["99999"], Some("[0-9]{5}"));
        check(&["99999", "9999"], None);
        check(&["Aaaa"], None);
        check(&["aaa@aaa.aaa"], None);
        check(&["AA-99", "99-AA"], None);
        check(&["AA-99", "AA-99-9"], None);
        check(&["é9"], None);
        check(&[], None);
    }

    fn sample(rows: impl Iterator<Item = f64>) -> DatasetSample {
        let rows: Vec<f64> = rows.collect();
        let numbers = |of: fn(f64) -> f64| rows.iter().map(|it| Some(of(*it))).collect();
        let dates = |of: fn(f64) -> f64| {
            rows.iter().map(|it| Some(format!("2024-01-{:02}", of(*it)))).collect()
        };
        DatasetSample {
            numbers: vec![
                ("quantity".to_owned(), numbers(|it| it)),
                ("price".to_owned(), numbers(|it| it * 7.0 % 5.0 + 0.125)),
                (
                    "total".to_owned(),
                    numbers(|it| (it * (it * 7.0 % 5.0 + 0.125) * 100.0).round() / 100.0),
                ),
            ],
            dates: vec![
                ("end".to_owned(), DType::Date, dates(|it| it + it % 3.0)),
                ("start".to_owned(), DType::Date, dates(|it| it)),
                ("same".to_owned(), DType::Date, dates(|it| it)),
            ],
            patterns: Vec::new(),
        }
    }

    #[test]
    fn formulas_and_orders_are_those_of_all_rows() {
        let many = sample((2..20).map(f64::from));
        let formula = Formula {
            total: "total".to_owned(),
            left: "quantity".to_owned(),
            sign: '*',
            right: "price".to_owned(),
            n_rows: 18,
        };
        assert_eq!(many.formulas(), [formula]);
        let pair = |first: &str| (first.to_owned(), "end".to_owned(), 18);
        assert_eq!(many.dates_in_order(), [pair("start"), pair("same")]);
        let few = sample((2..6).map(f64::from));
        assert_eq!((few.formulas(), few.dates_in_order()), (Vec::new(), Vec::new()));
        let mut wrong = sample((2..20).map(f64::from));
        wrong.numbers[2].1[17] = Some(1_000.0);
        wrong.dates[0].2[17] = Some("2024-01-01".to_owned());
        assert_eq!((wrong.formulas(), wrong.dates_in_order()), (Vec::new(), Vec::new()));
    }
}
