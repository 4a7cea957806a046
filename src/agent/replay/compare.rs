//! Compares two tables or two texts by value.
//!
//! Numbers with a fraction are equal to nine digits, whole numbers exactly. Rows may come in any order
//! unless the question requires one; rows that tie in that order may still swap places.

use std::collections::HashMap;

use serde_json::Value;

use csv_agent_text::digits::{count, number};
use csv_agent_types::frame::{Frame, is_numeric_dtype};
use csv_agent_types::limits::{COMPARED_CELLS_MAX, DIFFERENCES_MAX};

/// Relative tolerance of equal numbers, as a part of the larger one. Sums of the same numbers in another
/// order differ by less.
const TOLERANCE: f64 = 1e-9;

/// Marks where a text was cut.
const CUT: &str = "\n… ";

/// Words of a question that requires an order.
const ORDER: [&str; 29] = [
    "alphabetical", "alphabetically", "ascending", "best", "biggest", "bottom", "descending",
    "earliest", "fewest", "greatest", "highest", "largest", "latest", "least", "longest", "lowest",
    "most", "newest", "oldest", "ordered", "rank", "ranked", "ranking", "smallest", "sort",
    "sorted", "sorting", "top", "worst",
];

/// Returns whether a question requires an order of rows. Names with `_` do not count as words.
pub fn asks_for_order(question: &str) -> bool {
    let question = question.to_lowercase();
    let words = question.split(|it: char| !it.is_alphanumeric() && it != '_');
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    let is_pair = |pair: &[&str]| match pair {
        ["order", "by"] | ["in", "order"] => true,
        ["first" | "last", count] => count.parse::<u32>().is_ok(),
        _ => false,
    };
    words.iter().any(|it| ORDER.contains(it)) || words.windows(2).any(is_pair)
}

/// Returns the differences between two tables, one sentence each; empty when they are equal.
pub fn frames(then: &Frame, now: &Frame, is_ordered: bool) -> Vec<String> {
    let mut found = columns(then, now);
    found.extend(row_counts(then.row_count, now.row_count));
    let shared: Vec<&String> = then.columns.iter().filter(|it| now.columns.contains(it)).collect();
    let (then, now) = (SharedColumns::of(then, &shared), SharedColumns::of(now, &shared));
    let mut ties = Ties::new(shared.len());
    for (old, new) in then.rows.iter().zip(&now.rows) {
        ties.add(old, new);
    }
    let by = key_columns(&then, &now);
    let rows = rows(&then, &now, by, is_ordered && !ties.is_any());
    first(found.into_iter().chain(rows.sentences).collect())
}

fn row_counts(then: u64, now: u64) -> Option<String> {
    (then != now).then(|| format!("{} then, {} now", count(then, "row"), number(now)))
}

/// Returns as many differences as are listed, and how many more there are.
fn first(mut found: Vec<String>) -> Vec<String> {
    if DIFFERENCES_MAX < found.len() {
        let n_more = found.len() - DIFFERENCES_MAX;
        found.truncate(DIFFERENCES_MAX);
        found.push(format!("{n_more} more differences"));
    }
    found
}

/// Two tables of any length that are compared part by part. In memory are the rows that are not equal to the
/// one in the same place.
pub struct Comparison {
    found: Vec<String>,
    then: Frame,
    now: Frame,
    ties: Ties,
    /// The columns that identify the first rows, and so perhaps all.
    by: Option<Vec<usize>>,
    /// Rows of both that are not equal to the one in the same place.
    n_displaced: u64,
    n_rows: u64,
    /// Cells of those rows that are kept of each table.
    cells_max: u64,
}

impl Comparison {
    /// Begins with the columns and first rows of two tables. The rows say only what identifies one.
    pub fn new(then: &Frame, now: &Frame) -> Comparison {
        let shared = |frame: &Frame| {
            let names = then.columns.iter().filter(|it| now.columns.contains(it));
            let columns: Vec<String> = names.cloned().collect();
            let dtype = |it: &String| frame.index_of(it).map(|at| frame.dtypes[at].clone());
            let dtypes = columns.iter().filter_map(dtype).collect();
            Frame { columns, dtypes, ..Frame::default() }
        };
        let (old, new) = (shared(then), shared(now));
        let ties = Ties::new(old.columns.len());
        let names: Vec<&String> = old.columns.iter().collect();
        let by = key_columns(&SharedColumns::of(then, &names), &SharedColumns::of(now, &names));
        let found = columns(then, now);
        let (n_displaced, n_rows, cells_max) = (0, 0, COMPARED_CELLS_MAX);
        Comparison { found, then: old, now: new, ties, by, n_displaced, n_rows, cells_max }
    }

    /// Returns the columns that both tables have, in the order of the rows to add.
    pub fn shared(&self) -> &[String] {
        &self.then.columns
    }

    /// Adds the next rows of both, which begin at the same place.
    pub fn add(&mut self, then: Vec<Vec<Value>>, now: Vec<Vec<Value>>) {
        self.then.row_count += then.len() as u64;
        self.now.row_count += now.len() as u64;
        self.n_rows += then.len().max(now.len()) as u64;
        let (mut then, mut now) = (then.into_iter(), now.into_iter());
        loop {
            let (old, new) = match (then.next(), now.next()) {
                (None, None) => return,
                (Some(old), Some(new)) => {
                    let cells: [Vec<&Value>; 2] = [old.iter().collect(), new.iter().collect()];
                    self.ties.add(&cells[0], &cells[1]);
                    if old.iter().zip(&new).all(|(a, b)| same(a, b)) {
                        continue;
                    }
                    (Some(old), Some(new))
                }
                other => other,
            };
            self.n_displaced += 1;
            if self.are_too_many() {
                (self.then.rows, self.now.rows) = (Vec::new(), Vec::new());
                continue;
            }
            self.then.rows.extend(old);
            self.now.rows.extend(new);
        }
    }

    fn are_too_many(&self) -> bool {
        let n_columns = self.shared().len().max(1) as u64;
        self.cells_max < self.n_displaced.saturating_mul(n_columns)
    }

    /// Returns the differences, as [`frames`] does, after how many rows differ.
    pub fn differences(self, is_ordered: bool) -> Vec<String> {
        let are_too_many = self.are_too_many();
        let Comparison { mut found, then, now, ties, by, n_displaced, n_rows, .. } = self;
        found.extend(row_counts(then.row_count, now.row_count));
        if are_too_many {
            let text =
                "differ from the row in the same place; too many to find rows that have moved";
            found.push(format!("{n_displaced} of {n_rows} rows {text}"));
            return found;
        }
        let names: Vec<&String> = then.columns.iter().collect();
        let (then, now) = (SharedColumns::of(&then, &names), SharedColumns::of(&now, &names));
        let by = by.filter(|it| identify(it, &then, &now));
        let rows = rows(&then, &now, by, is_ordered && !ties.is_any());
        if 0 < rows.n_rows {
            let differ = if rows.n_rows == 1 { "differs" } else { "differ" };
            found.push(format!("{} of {n_rows} rows {differ}", rows.n_rows));
        }
        first(found.into_iter().chain(rows.sentences).collect())
    }
}

/// Which columns the rows of both tables are sorted by, with equal values in equal places: there, rows that
/// tie may swap places.
struct Ties(Vec<Tie>);

#[derive(Clone)]
struct Tie {
    is_close: bool,
    is_ascending: bool,
    is_descending: bool,
    last: Option<f64>,
}

impl Ties {
    fn new(n_columns: usize) -> Ties {
        let tie = Tie { is_close: true, is_ascending: true, is_descending: true, last: None };
        Ties(vec![tie; n_columns])
    }

    /// Adds the rows in the next place.
    fn add(&mut self, then: &[&Value], now: &[&Value]) {
        for (tie, (old, new)) in self.0.iter_mut().zip(then.iter().zip(now)) {
            let (Some(old), Some(new)) = (old.as_f64(), new.as_f64()) else {
                tie.is_close = false;
                continue;
            };
            tie.is_close &= near(old, new);
            if let Some(last) = tie.last {
                tie.is_ascending &= last <= old;
                tie.is_descending &= old <= last;
            }
            tie.last = Some(old);
        }
    }

    fn is_any(&self) -> bool {
        // Neither only ascending nor only descending: all values are equal.
        self.0.iter().any(|it| it.is_close && it.is_ascending != it.is_descending)
    }
}

fn columns(then: &Frame, now: &Frame) -> Vec<String> {
    let missing = then.columns.iter().filter(|it| !now.columns.contains(it));
    let mut found: Vec<String> =
        missing.map(|it| format!("column `{it}` is missing now")).collect();
    let new = now.columns.iter().filter(|it| !then.columns.contains(it));
    found.extend(new.map(|it| format!("column `{it}` is new")));
    if found.is_empty() && then.columns != now.columns {
        found.push(format!(
            "the columns are in a different order: {} then, {} now",
            then.columns.join(", "),
            now.columns.join(", ")
        ));
    }
    for (name, dtype) in then.columns.iter().zip(&then.dtypes) {
        let other = now.index_of(name).map(|it| &now.dtypes[it]);
        if let Some(other) = other.filter(|it| kind(it) != kind(dtype)) {
            found.push(format!("`{name}` was {dtype}, is {other}"));
        }
    }
    found
}

/// Returns a dtype without the details that depend on the version of pandas or on missing values.
fn kind(dtype: &str) -> String {
    match dtype.to_ascii_lowercase().as_str() {
        "object" | "str" | "string" => "text".to_owned(),
        "boolean" => "bool".to_owned(),
        other => other.to_owned(),
    }
}

/// The columns that two tables share.
struct SharedColumns<'a> {
    columns: Vec<&'a str>,
    is_number: Vec<bool>,
    rows: Vec<Vec<&'a Value>>,
    /// Whether the table has one row.
    is_one_row: bool,
}

impl<'a> SharedColumns<'a> {
    fn of(frame: &'a Frame, columns: &[&'a String]) -> SharedColumns<'a> {
        let places: Vec<usize> = columns.iter().filter_map(|it| frame.index_of(it)).collect();
        let cells = |row: &'a Vec<Value>| places.iter().map(|at| &row[*at]).collect();
        let is_number = |at: &usize| {
            is_numeric_dtype(&frame.dtypes[*at]) || frame.rows.iter().any(|it| it[*at].is_f64())
        };
        SharedColumns {
            columns: columns.iter().map(|it| it.as_str()).collect(),
            is_number: places.iter().map(is_number).collect(),
            rows: frame.rows.iter().map(cells).collect(),
            is_one_row: frame.row_count == 1 && frame.rows.len() == 1,
        }
    }

    /// Returns the key of each row over some columns.
    fn keys(&self, columns: &[usize]) -> Vec<String> {
        let key = |row: &Vec<&Value>| columns.iter().map(|at| keyed(row[*at])).collect::<String>();
        self.rows.iter().map(key).collect()
    }
}

fn keyed(value: &Value) -> String {
    match value.as_f64().filter(|_| value.is_f64()) {
        Some(number) => format!("{number:.8e}\0"),
        None => format!("{value}\0"),
    }
}

/// How rows differ.
#[derive(Default)]
struct RowDifferences {
    /// Rows that are new, gone or changed.
    n_rows: usize,
    sentences: Vec<String>,
}

/// Compares rows, which some columns may identify. Their order counts where it `is_strict`.
fn rows(
    then: &SharedColumns,
    now: &SharedColumns,
    by: Option<Vec<usize>>,
    is_strict: bool,
) -> RowDifferences {
    let is_same = |(a, b): (&Vec<&Value>, &Vec<&Value>)| a.iter().zip(b).all(|(a, b)| same(a, b));
    if then.rows.len() == now.rows.len() && then.rows.iter().zip(&now.rows).all(is_same) {
        return RowDifferences::default();
    }
    let Some(by) = by else { return as_bags(then, now, is_strict) };
    let places: HashMap<String, usize> =
        now.keys(&by).into_iter().enumerate().map(|(at, key)| (key, at)).collect();
    let keys = then.keys(&by);
    let mut found = RowDifferences::default();
    let mut matched = vec![false; now.rows.len()];
    let mut order = Vec::new();
    for (row, key) in then.rows.iter().zip(&keys) {
        let Some(at) = places.get(key) else {
            found.n_rows += 1;
            found.sentences.push(format!("{}: missing now", named(then, row, &by)));
            continue;
        };
        matched[*at] = true;
        order.push(*at);
        let n_before = found.sentences.len();
        let of = if by.is_empty() { String::new() } else { named(then, row, &by) + ": " };
        for (column, (old, new)) in row.iter().zip(&now.rows[*at]).enumerate() {
            if !same(old, new) {
                let (name, old, new) = (then.columns[column], shown(old), shown(new));
                found.sentences.push(format!("{of}`{name}` was {old}, is {new}"));
            }
        }
        found.n_rows += usize::from(n_before < found.sentences.len());
    }
    let added = now.rows.iter().zip(&matched).filter(|it| !it.1);
    for (row, _) in added {
        found.n_rows += 1;
        found.sentences.push(format!("{}: new", named(now, row, &by)));
    }
    if found.n_rows == 0 && is_strict && !order.is_sorted() {
        found.sentences.push("the rows are in a different order".to_owned());
    }
    found
}

/// Returns the columns that identify the rows of both tables: those without numbers, or else the first. Nothing needs to
/// identify the only row of both.
fn key_columns(then: &SharedColumns, now: &SharedColumns) -> Option<Vec<usize>> {
    let words: Vec<usize> = (0..then.columns.len()).filter(|at| !then.is_number[*at]).collect();
    if then.is_one_row
        && now.is_one_row
        && (words.is_empty() || then.keys(&words) != now.keys(&words))
    {
        return Some(Vec::new());
    }
    let first: Vec<usize> = (0..then.columns.len().min(1)).collect();
    [words, first].into_iter().find(|it| identify(it, then, now))
}

/// Returns whether no two rows of a table are equal in these columns.
fn identify(columns: &[usize], then: &SharedColumns, now: &SharedColumns) -> bool {
    !columns.is_empty()
        && [then, now].iter().all(|part| {
            let mut keys = part.keys(columns);
            keys.sort_unstable();
            keys.windows(2).all(|it| it[0] != it[1])
        })
}

/// Compares rows without identifying columns, each as a whole.
fn as_bags(then: &SharedColumns, now: &SharedColumns, is_strict: bool) -> RowDifferences {
    let all: Vec<usize> = (0..then.columns.len()).collect();
    let mut counts: HashMap<String, i64> = HashMap::new();
    for key in now.keys(&all) {
        *counts.entry(key).or_default() += 1;
    }
    let mut sentences = Vec::new();
    for (row, key) in then.rows.iter().zip(then.keys(&all)) {
        let count = counts.entry(key).or_default();
        *count -= 1;
        if *count < 0 {
            sentences.push(format!("missing now: {}", named(then, row, &all)));
        }
    }
    for (row, key) in now.rows.iter().zip(now.keys(&all)) {
        let count = counts.entry(key).or_default();
        if 0 < *count {
            *count -= 1;
            sentences.push(format!("new: {}", named(now, row, &all)));
        }
    }
    let n_rows = sentences.len();
    if n_rows == 0 && is_strict {
        sentences.push("the rows are in a different order".to_owned());
    }
    RowDifferences { n_rows, sentences }
}

/// Returns a row's name for people, made from some of its columns.
fn named(part: &SharedColumns, row: &[&Value], by: &[usize]) -> String {
    let cell = |at: &usize| format!("`{}` {}", part.columns[*at], shown(row[*at]));
    by.iter().take(6).map(cell).collect::<Vec<_>>().join(", ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::String(text) if 60 < text.len() => {
            format!("`{}…`", &text[..text.floor_char_boundary(60)])
        }
        Value::String(text) => format!("`{text}`"),
        other => other.to_string(),
    }
}

/// Returns whether two values are equal. Whole numbers of any size are compared exactly.
fn same(then: &Value, now: &Value) -> bool {
    match (then.as_f64(), now.as_f64()) {
        (Some(old), Some(new)) if then.is_f64() || now.is_f64() => near(old, new),
        _ => then == now,
    }
}

fn near(then: f64, now: f64) -> bool {
    (then - now).abs() <= TOLERANCE * then.abs().max(now.abs()) + f64::MIN_POSITIVE
}

/// Returns the difference between two texts: the first line that differs. Numbers are compared as numbers,
/// and blanks are ignored.
pub fn texts(then: &str, now: &str) -> Option<String> {
    let (mut old, mut new) = (then.trim().lines(), now.trim().lines());
    loop {
        let (old, new) = match (old.next(), new.next()) {
            (None, None) => return None,
            (Some(old), Some(new)) if same_words(old, new) => continue,
            (old, new) => (old.unwrap_or_default(), new.unwrap_or_default()),
        };
        let [old, new] = [old, new].map(|it| shown(&Value::String(it.trim().to_owned())));
        return Some(format!("was {old}, is {new}"));
    }
}

/// Returns the difference between what code printed in a container at the provider and what it prints here,
/// as [`texts`] does. Ignores warnings, which depend on versions. Compares cut texts up to the cut.
pub fn logs(then: &str, now: &str) -> Option<String> {
    let (then, now) = (unwarned(then), unwarned(now));
    let ([then, now], [old_cut, new_cut]) = {
        let parts =
            [&then, &now].map(|it| it.split_once(CUT).map_or((&**it, false), |it| (it.0, true)));
        (parts.map(|it| it.0), parts.map(|it| it.1))
    };
    if !old_cut && !new_cut {
        return texts(then, now);
    }
    // The last line may be incomplete.
    let n_lines = |it: &str, is_cut: bool| {
        let n_lines = it.trim().lines().count();
        if is_cut { n_lines.saturating_sub(1) } else { n_lines }
    };
    let n_lines = n_lines(then, old_cut).min(n_lines(now, new_cut));
    let first = |it: &str| it.trim().lines().take(n_lines).collect::<Vec<_>>().join("\n");
    texts(&first(then), &first(now))
}

/// Returns printed text without Python's warnings and the line of code below each.
pub(crate) fn unwarned(text: &str) -> String {
    let is_class = |it: &str| {
        let word = it.rsplit([' ', ':']).next().unwrap_or_default();
        let name = word.strip_suffix("Warning").unwrap_or_default();
        !name.is_empty() && name.chars().all(char::is_alphanumeric)
    };
    let is_warning = |line: &str| {
        line.split_once(": ").is_some_and(|(it, rest)| {
            is_class(it) || rest.split_once(": ").is_some_and(|it| is_class(it.0))
        })
    };
    let mut is_below = false;
    let is_kept = |line: &&str| {
        let is_code = std::mem::take(&mut is_below) && line.starts_with("  ");
        is_below = is_warning(line);
        !is_below && !is_code
    };
    text.split_inclusive('\n').filter(is_kept).collect()
}

fn same_words(then: &str, now: &str) -> bool {
    let (then, now) = (then.split_whitespace(), now.split_whitespace());
    let number = |it: &str| {
        let bare = it.trim_matches(|it: char| "()[]{},;:'\"%".contains(it));
        let is_float = bare.contains(['.', 'e', 'E']);
        let number = bare.parse::<f64>().ok().filter(|_| is_float);
        number.map(|number| (it.replace(bare, ""), number))
    };
    then.clone().count() == now.clone().count()
        && then.zip(now).all(|(then, now)| {
            then == now
                || matches!((number(then), number(now)), (Some(then), Some(now))
                    if then.0 == now.0 && near(then.1, now.1))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Comparison, asks_for_order, frames, logs, texts};
    use csv_agent_types::frame::Frame;

    /// A table of a region, a number and a share.
    fn table(rows: &[(&str, i64, f64)]) -> Frame {
        let names = ["region", "n", "share"].map(str::to_owned).to_vec();
        Frame {
            columns: names,
            dtypes: ["object", "int64", "float64"].map(str::to_owned).to_vec(),
            rows: rows.iter().map(|(a, b, c)| vec![json!(a), json!(b), json!(c)]).collect(),
            row_count: rows.len() as u64,
        }
    }

    #[track_caller]
    fn check(then: &Frame, now: &Frame, is_ordered: bool, expected: &[&str]) {
        assert_eq!(frames(then, now, is_ordered), expected);
    }

    #[test]
    fn a_row_is_found_by_what_tells_it_apart() {
        let then = table(&[("North", 5, 0.5), ("South", 3, 0.25), ("East", 1, 0.25)]);
        let now = table(&[("South", 4, 0.25), ("North", 5, 0.5), ("West", 1, 0.25)]);
        let changed = "`region` `South`: `n` was 3, is 4";
        let others = ["`region` `East`: missing now", "`region` `West`: new"];
        check(&then, &now, false, &[changed, others[0], others[1]]);
    }

    #[test]
    fn the_only_row_of_both_needs_no_name() {
        let then = table(&[("North", 5, 0.5)]);
        check(&then, &table(&[("North", 4, 0.5)]), false, &["`region` `North`: `n` was 5, is 4"]);
        let found = ["`region` was `North`, is `South`", "`n` was 5, is 4"];
        check(&then, &table(&[("South", 4, 0.5)]), false, &found);
    }

    #[test]
    fn floats_may_differ_in_their_last_digits_and_nothing_else() {
        let one = table(&[("a", 1, 0.1 + 0.2)]);
        check(&one, &table(&[("a", 1, 0.3)]), true, &[]);
        let found = ["`region` `a`: `share` was 0.3, is 0.300001"];
        check(&table(&[("a", 1, 0.3)]), &table(&[("a", 1, 0.300_001)]), true, &found);
    }

    #[test]
    fn the_order_counts_where_the_question_asked_for_one() {
        let then = table(&[("a", 3, 0.0), ("b", 2, 0.0), ("c", 2, 0.0)]);
        let turned = table(&[("c", 2, 0.0), ("b", 2, 0.0), ("a", 3, 0.0)]);
        check(&then, &turned, false, &[]);
        check(&then, &turned, true, &["the rows are in a different order"]);
        let tied = table(&[("a", 3, 0.0), ("c", 2, 0.0), ("b", 2, 0.0)]);
        check(&then, &tied, true, &[]);
    }

    /// Compares two tables of so many rows, added in parts.
    #[track_caller]
    fn check_parts(then: &Frame, now: &Frame, is_ordered: bool, expected: &[&str]) {
        let mut comparison = Comparison::new(then, now);
        let mut parts = [then, now].map(|it| it.rows.chunks(2));
        loop {
            let [old, new] = [0, 1].map(|at| parts[at].next().map(<[_]>::to_vec));
            if old.is_none() && new.is_none() {
                break;
            }
            comparison.add(old.unwrap_or_default(), new.unwrap_or_default());
        }
        assert_eq!(comparison.differences(is_ordered), expected);
    }

    #[test]
    fn tables_are_the_same_in_parts_as_in_whole() {
        let then = table(&[("a", 5, 0.5), ("b", 3, 0.1 + 0.2), ("c", 1, 0.5), ("d", 1, 0.5)]);
        check_parts(&then, &then, true, &[]);
        let now =
            table(&[("a", 5, 0.5), ("b", 3, 0.3), ("c", 1, 0.25), ("e", 1, 0.5), ("f", 0, 0.0)]);
        let found = [
            "4 rows then, 5 now",
            "4 of 5 rows differ",
            "`region` `c`: `share` was 0.5, is 0.25",
            "`region` `d`: missing now",
            "`region` `e`: new",
            "`region` `f`: new",
        ];
        check_parts(&then, &now, false, &found);
        // Rows that have moved, and rows that may.
        let turned = table(&[("d", 1, 0.5), ("b", 3, 0.3), ("c", 1, 0.5), ("a", 5, 0.5)]);
        check_parts(&then, &turned, false, &[]);
        check_parts(&then, &turned, true, &["the rows are in a different order"]);
        let tied = table(&[("a", 5, 0.5), ("b", 3, 0.3), ("d", 1, 0.5), ("c", 1, 0.5)]);
        check_parts(&then, &tied, true, &[]);
    }

    #[test]
    fn of_too_many_rows_in_other_places_only_the_number_is_said() {
        let rows = |from: i64| (from..from + 10).map(|at| vec![json!("a"), json!(at), json!(0.5)]);
        let head = table(&[]);
        let mut comparison = Comparison::new(&head, &head);
        comparison.cells_max = 15;
        comparison.add(rows(0).collect(), rows(1).collect());
        let text = "differ from the row in the same place; too many to find rows that have moved";
        assert_eq!(comparison.differences(false), [format!("10 of 10 rows {text}")]);
    }

    #[test]
    fn words_that_name_columns_ask_for_no_order() {
        for question in ["Top 5 regions?", "the last 3 days", "sales, order by day"] {
            assert!(asks_for_order(question), "{question}");
        }
        for question in ["Sales by region", "order_id and last name of each order"] {
            assert!(!asks_for_order(question), "{question}");
        }
    }

    #[test]
    fn whole_numbers_are_exact_whatever_their_size() {
        let then = table(&[("a", 1_700_000_000_001, 0.0)]);
        let now = table(&[("a", 1_700_000_000_002, 0.0)]);
        let found = "`region` `a`: `n` was 1700000000001, is 1700000000002";
        check(&then, &now, false, &[found]);
        assert!(texts("id 1700000000001", "id 1700000000002").is_some());
    }

    #[test]
    fn rows_that_nothing_tells_apart_are_compared_as_a_whole() {
        let then = table(&[("a", 1, 0.0), ("a", 1, 0.0), ("a", 2, 0.0)]);
        let now = table(&[("a", 2, 0.0), ("a", 1, 0.0), ("a", 3, 0.0)]);
        let shown = |n: u8| format!("`region` `a`, `n` {n}, `share` 0.0");
        let found = [format!("missing now: {}", shown(1)), format!("new: {}", shown(3))];
        check(&then, &now, false, &found.each_ref().map(String::as_str));
    }

    #[test]
    fn warnings_and_what_was_cut_are_no_part_of_what_was_printed() {
        let told =
            "/tmp/ipykernel_11/1.py:2: FutureWarning: observed=False\n  df.groupby('a')\n1\n";
        assert_eq!(logs(told, "FutureWarning: observed=False\n1\n"), None);
        assert_eq!(logs(told, "2"), Some("was `1`, is `2`".to_owned()));
        let told = "was `Warning: 3 rows`, is `Warning: 4 rows`".to_owned();
        assert_eq!(logs("Warning: 3 rows", "Warning: 4 rows"), Some(told));
        assert_eq!(logs("a\nb\nc is\n… 9 bytes cut …\nz", "a\nb\nc is lo\n… 5 bytes\nz"), None);
        assert_eq!(logs("a\nb\nc\n… 9\nz", "a\nx\nc"), Some("was `b`, is `x`".to_owned()));
    }

    #[test]
    fn columns_and_types_are_part_of_a_table() {
        let then = table(&[("a", 1, 0.5)]);
        let mut now = then.clone();
        now.dtypes[1] = "float64".into();
        now.columns[2] = "part".into();
        let found =
            ["column `share` is missing now", "column `part` is new", "`n` was int64, is float64"];
        check(&then, &now, false, &found);
    }

    #[test]
    fn a_missing_value_is_no_number() {
        let then = table(&[("a", 1, 0.5)]);
        let mut now = then.clone();
        now.rows[0][2] = Value::Null;
        check(&then, &now, false, &["`region` `a`: `share` was 0.5, is nothing"]);
    }

    #[test]
    fn texts_are_compared_word_by_word_and_numbers_as_numbers() {
        assert_eq!(texts("a  0.30000000000000004\n", "a 0.3"), None);
        assert_eq!(texts("(344, 8)", "(344,  8)"), None);
        assert_eq!(texts("a\nb 1", "a\nb 2").as_deref(), Some("was `b 1`, is `b 2`"));
        assert_eq!(texts("a", "a\nb").as_deref(), Some("was ``, is `b`"));
    }
}
