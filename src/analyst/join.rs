//! How two tables go together: the column of one that names the rows of the other.

use std::collections::HashMap;

use csv_agent_text::sql::{identifier, literal};
use serde_json::json;

use crate::Call;
use crate::float;
use crate::lexicon::{Cue, Lexicon};
use crate::query::{Join, Place};
use crate::schema::{Column, JOINED_MAX, Kind, Table};
use crate::transcript::Turn;

/// The tool that looks.
const TOOL: &str = "query_datasets";
/// Pairs of columns that one statement looks at: the tool shows as many rows.
const PAIRS_MAX: usize = 20;
/// Statements that look at pairs of columns.
const STATEMENTS_MAX: usize = 4;
/// Number below which whole numbers of two tables are equal by chance.
const NUMBER_MIN: f64 = 100.0;

/// How tables go together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Joins {
    /// From one table to another, by names or by values; several where the question says which.
    all: HashMap<[usize; 2], Vec<Join>>,
    /// The columns that have one value for each of a key that repeats.
    dependent: HashMap<Place, Vec<Place>>,
}

impl Joins {
    /// Returns how a table goes with another.
    pub(crate) fn of(&self, of: [usize; 2]) -> Vec<Join> {
        let turned = || {
            let all = self.all.get(&[of[1], of[0]]).into_iter().flatten();
            all.map(|it| Join { left: it.right, right: it.left }).collect()
        };
        self.all.get(&of).cloned().unwrap_or_else(turned)
    }

    /// Returns whether each row has one value of a column of the other table.
    pub(crate) fn is_single(&self, tables: &[Table], join: Join, place: Place) -> bool {
        let repeats = column(tables, join.right)
            .n_distinct
            .is_some_and(|it| it < n_known(tables, join.right));
        !repeats
            || place == join.right
            || self.dependent.get(&join.right).is_some_and(|it| it.contains(&place))
    }

    /// Finds out how tables go together: by names, or by values as far as they were looked up. Returns calls that look
    /// up the rest.
    pub(crate) fn find(tables: &[Table], turns: &[Turn], lexicon: &Lexicon) -> (Joins, Vec<Call>) {
        let mut joins = Joins::default();
        let n = tables.len().min(JOINED_MAX);
        let pairs = (0..n)
            .flat_map(|one| (0..n).filter(move |it| *it != one).map(move |other| [one, other]));
        let pairs: Vec<[usize; 2]> = pairs.collect();
        for of in &pairs {
            if let Some(join) = join_of(tables, *of, lexicon).or_else(|| listed(tables, *of)) {
                joins.all.insert(*of, vec![join]);
            }
        }
        let mut calls: Vec<Call> = Vec::new();
        let open: Vec<Join> = pairs
            .iter()
            .filter(|it| joins.of(**it).is_empty())
            .flat_map(|it| likely(tables, *it))
            .collect();
        let mut found: HashMap<[usize; 2], Vec<Join>> = HashMap::new();
        for pairs in open.chunks(PAIRS_MAX).take(STATEMENTS_MAX) {
            let call = (TOOL, json!({"sql": shared(tables, pairs), "result_name": null}));
            let Some(done) = turns.iter().find_map(|it| it.done(call.0, &call.1)) else {
                calls.push(call);
                continue;
            };
            let rows = done.output["head"].as_array().into_iter().flatten();
            for (row, join) in rows.zip(pairs) {
                let n_shared = row["shared"].as_f64().unwrap_or_default();
                let share =
                    n_shared / float(column(tables, join.left).n_distinct.unwrap_or(1).max(1));
                let of = [join.left.table, join.right.table];
                if 2.0 <= n_shared && 0.5 <= share {
                    found.entry(of).or_default().push(*join);
                }
            }
        }
        joins.all.extend(found);
        let keys: Vec<Place> = joins.all.values().flatten().map(|it| it.right).collect();
        for key in keys {
            let repeats =
                column(tables, key).n_distinct.is_some_and(|it| it < n_known(tables, key));
            if !repeats || joins.dependent.contains_key(&key) {
                continue;
            }
            let others = (0..tables[key.table].columns.len())
                .map(|column| Place { column, ..key })
                .filter(|it| *it != key);
            let others: Vec<Place> = others.take(PAIRS_MAX).collect();
            let call = (TOOL, json!({"sql": each(tables, key, &others), "result_name": null}));
            match turns.iter().find_map(|it| it.done(call.0, &call.1)) {
                // Of like tables, one key goes with those of all others.
                None if calls.contains(&call) => {}
                None => calls.push(call),
                Some(done) => {
                    let rows = done.output["head"].as_array().into_iter().flatten();
                    let n = column(tables, key).n_distinct;
                    let single =
                        rows.zip(&others).filter(|it| it.0["n"].as_u64() == n).map(|it| *it.1);
                    let single = single.collect();
                    joins.dependent.insert(key, single);
                }
            }
        }
        (joins, calls)
    }
}

fn column(tables: &[Table], place: Place) -> &Column {
    &tables[place.table].columns[place.column]
}

/// Returns how many rows have a value.
fn n_known(tables: &[Table], place: Place) -> u64 {
    tables[place.table].n_rows - column(tables, place).n_missing
}

/// Returns the columns of two tables that may have the same values: those of the second have each once.
fn likely(tables: &[Table], of: [usize; 2]) -> Vec<Join> {
    let places =
        |table: usize| (0..tables[table].columns.len()).map(move |column| Place { table, column });
    let mut found = Vec::new();
    for right in places(of[1]) {
        let own = column(tables, right);
        let is_key = own.n_distinct.is_some_and(|it| 1 < it && it == n_known(tables, right));
        if is_key {
            let fits = |it: &Place| {
                let other = column(tables, *it);
                can_equal(other, own) && other.n_distinct.is_some_and(|it| 1 < it)
            };
            found.extend(places(of[0]).filter(fits).map(|left| Join { left, right }));
        }
    }
    found
}

/// Returns whether values of two columns are equal by more than chance.
fn can_equal(one: &Column, other: &Column) -> bool {
    // An index numbers the rows of its own file.
    if one.is_unnamed || other.is_unnamed {
        return false;
    }
    let is_large = |it: &Column| it.range.is_some_and(|it| NUMBER_MIN <= it.0);
    match (one.kind, other.kind) {
        (Kind::Text, Kind::Text) => true,
        (Kind::Whole, Kind::Whole) => {
            is_large(one) && is_large(other) && one.unit.is_none() && other.unit.is_none()
        }
        _ => false,
    }
}

/// Returns the columns of two tables with the same few values.
fn listed(tables: &[Table], of: [usize; 2]) -> Option<Join> {
    let mut best: Option<(f64, Join)> = None;
    for (left, of_left) in tables[of[0]].columns.iter().enumerate() {
        for (right, of_right) in tables[of[1]].columns.iter().enumerate() {
            let (Some(values), Some(others)) = (&of_left.values, &of_right.values) else {
                continue;
            };
            let n_shared = values.iter().filter(|it| others.contains(it)).count();
            let share = float(n_shared) / float(values.len().max(1));
            let is_more = can_equal(of_left, of_right) && 3 <= n_shared && 0.5 <= share;
            if is_more && best.as_ref().is_none_or(|it| it.0 < share) {
                let left = Place { table: of[0], column: left };
                let right = Place { table: of[1], column: right };
                best = Some((share, Join { left, right }));
            }
        }
    }
    best.map(|it| it.1)
}

/// Writes the statement that counts the different values that pairs of columns share.
fn shared(tables: &[Table], pairs: &[Join]) -> String {
    let rows = pairs.iter().map(|it| {
        let name = |place: Place| (&tables[place.table].name, &column(tables, place).name);
        let ((left_table, left), (right_table, right)) = (name(it.left), name(it.right));
        format!(
            "select {} as one, {} as other, count(distinct {left}) as shared from {left_table} where {left} in (select \
             {right} from {right_table})",
            literal(&format!("{left_table}.{left}")),
            literal(&format!("{right_table}.{right}")),
            left = identifier(left),
            left_table = identifier(left_table),
            right = identifier(right),
            right_table = identifier(right_table),
        )
    });
    rows.collect::<Vec<_>>().join("\nunion all\n")
}

/// Writes the statement that counts the different values that columns have beside a key.
fn each(tables: &[Table], key: Place, others: &[Place]) -> String {
    let of = identifier(&column(tables, key).name);
    let table = identifier(&tables[key.table].name);
    let rows = others.iter().map(|it| {
        let name = &column(tables, *it).name;
        format!(
            "select {} as \"column\", count(*) as n from (select distinct {of}, {} from {table} where {of} is not null)",
            literal(name),
            identifier(name)
        )
    });
    rows.collect::<Vec<_>>().join("\nunion all\n")
}

/// Returns how the second table goes with the first: by columns of the same name, or by one that names
/// the other table: `customer_id` and `id` of `customers`.
fn join_of(tables: &[Table], of: [usize; 2], lexicon: &Lexicon) -> Option<Join> {
    let [one, other] = of.map(|it| &tables[it]);
    let fits = |left: &Column, right: &Column| {
        let same_kind = left.kind == right.kind || left.kind.is_number() && right.kind.is_number();
        let is_key = |words: &[String]| {
            words.iter().any(|it| lexicon.are_synonyms(it, "id") || it == "id" || it == "code")
        };
        let other_words: Vec<&String> =
            left.words.iter().filter(|it| !is_key(std::slice::from_ref(it))).collect();
        let names_table = is_key(&left.words)
            && is_key(&right.words)
            && !other_words.is_empty()
            && other_words.iter().all(|it| other.words.contains(it) || right.words.contains(it));
        let is_bare_key = left.words.iter().all(|it| is_key(std::slice::from_ref(it)));
        // Two things have names, and share none by that.
        let is_common = matches!(&left.words[..], [word] if lexicon.is(Cue::Common, word));
        let score = match () {
            () if left.is_unnamed || right.is_unnamed => 0,
            () if !same_kind || is_common && right.words == left.words => 0,
            () if left.words == right.words && is_key(&left.words) && 1 < left.words.len() => 4,
            () if left.words == other.words && is_key(&right.words) && right.words.len() == 1 => 5,
            () if is_bare_key => 0,
            () if left.name == right.name && is_key(&left.words) => 4,
            () if left.name == right.name && left.kind == Kind::Text => 3,
            () if left.words == right.words && left.kind == Kind::Text => 3,
            () if names_table => 2,
            // What comes first in a table tells its rows apart.
            () if left.name == right.name
                && left.kind == Kind::Whole
                && other.columns.first() == Some(right) =>
            {
                1
            }
            () => 0,
        };
        (0 < score).then_some(score)
    };
    let mut best: Option<(u32, Join)> = None;
    let mut is_sole = true;
    for (left, of_left) in one.columns.iter().enumerate() {
        for (right, of_right) in other.columns.iter().enumerate() {
            let Some(score) = fits(of_left, of_right) else { continue };
            if best.as_ref().is_none_or(|it| it.0 < score) {
                let left = Place { table: of[0], column: left };
                let right = Place { table: of[1], column: right };
                best = Some((score, Join { left, right }));
                is_sole = true;
            } else if best.as_ref().is_some_and(|it| it.0 == score) {
                is_sole = false;
            }
        }
    }
    // Of a season and a contestant, one alone goes with many rows.
    best.map(|it| it.1).filter(|_| is_sole)
}
