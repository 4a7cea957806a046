//! Numbers of rows: `at most 5 orders` counts orders. Such a number is no value of a column that is not named.

use crate::lexicon::Concept;
use crate::link::{Atom, Lattice, Link};
use crate::query::{Agg, Check, LogicalForm, Measure, Shape, Test, Value};
use crate::schema::{Kind, Table};

/// Values that may stand between a number and the noun: `5 open orders`.
const BETWEEN_MAX: usize = 3;
/// Words before a bound.
const BOUNDS: [Concept; 4] = [Concept::Gt, Concept::Ge, Concept::Lt, Concept::Le];
/// From where a link names a column.
const NAMED_MIN: f64 = 0.6;

/// Returns the numbers of a question that stand before a noun for rows.
pub(crate) fn counted(lattice: &Lattice, tables: &[Table]) -> Vec<f64> {
    let numbers = || {
        lattice.links.iter().filter_map(|it| match it.atom {
            Atom::Number(value) => Some((it, value)),
            _ => None,
        })
    };
    let counts = |it: &Link| {
        !names_number(lattice, tables, |column| column.end == it.start)
            && !is_period(lattice, it)
            && is_before_rows(lattice, tables, it)
    };
    let found = numbers().filter(|it| counts(it.0));
    let is_elsewhere =
        |value: f64| numbers().any(|it| it.1.total_cmp(&value).is_eq() && !counts(it.0));
    found.map(|it| it.1).filter(|it| !is_elsewhere(*it)).collect()
}

/// Returns whether one of these links names a column of numbers, such as `units` in `5 units`.
fn names_number(lattice: &Lattice, tables: &[Table], is_meant: impl Fn(&Link) -> bool) -> bool {
    lattice.links.iter().filter(|it| NAMED_MIN <= it.score && is_meant(it)).any(|it| {
        matches!(it.atom, Atom::Column(place) if {
            let column = &tables[place.table].columns[place.column];
            column.kind.is_number() && !column.is_key
        })
    })
}

/// Returns whether a number is a year, and not a bound: `2024 orders`.
fn is_period(lattice: &Lattice, number: &Link) -> bool {
    let is_bound = lattice.links.iter().any(|it| {
        it.end == number.start && matches!(it.atom, Atom::Word(it) if BOUNDS.contains(&it))
    });
    let covers = |it: &Link| it.start <= number.start && number.end <= it.end;
    !is_bound && lattice.links.iter().any(|it| matches!(it.atom, Atom::Period(..)) && covers(it))
}

/// Returns whether a noun for rows stands here, or behind values of them.
fn is_before_rows(lattice: &Lattice, tables: &[Table], number: &Link) -> bool {
    let start = number.end;
    let is_first = lattice.links.iter().any(|it| {
        it.start == 0
            && it.end == number.start
            && matches!(it.atom, Atom::Word(it) if BOUNDS.contains(&it))
    });
    let mut at = start;
    for _ in 0..=BETWEEN_MAX {
        let here = || lattice.links.iter().filter(|it| it.start == at);
        let is_measured = here().any(|it| matches!(it.atom, Atom::Measure | Atom::Unit(..)));
        if is_measured || names_number(lattice, tables, |it| it.start == at) {
            return false;
        }
        let is_rows =
            |it: &Link| matches!(it.atom, Atom::Noun | Atom::Table(_) | Atom::Word(Concept::Rows));
        if here().any(is_rows) {
            return true;
        }
        let may_be_between = |it: &&Link| match it.atom {
            Atom::Value(_) => true,
            Atom::Word(it) => matches!(it, Concept::Or | Concept::Ge | Concept::Not),
            Atom::Column(place) => tables[place.table].columns[place.column].kind == Kind::Bool,
            _ => false,
        };
        match here().filter(may_be_between).map(|it| it.end).max() {
            Some(end) => at = end,
            // `at least 100 women survived`
            None => return start < at && is_first,
        }
    }
    false
}

/// Returns whether a query takes a number of rows for something else.
pub(crate) fn is_mistaken(query: &LogicalForm, n: f64) -> bool {
    let is_compared = query.filters.iter().any(|it| compares(it, n));
    is_compared
        || match &query.body {
            Shape::Check(check) => !counts(check, n),
            Shape::Groups(groups) => {
                groups.measures.iter().flat_map(|it| &it.only).any(|it| compares(it, n))
            }
            _ => false,
        }
}

/// Returns whether what is claimed is how many rows there are, of which this is the number.
fn counts(check: &Check, n: f64) -> bool {
    let counts = |it: &Measure| matches!(it.agg, Agg::Count | Agg::Distinct);
    match check {
        Check::Number(measure, _, value) => counts(measure) && *value == Value::Number(n),
        Check::Groups(groups, _, value) => {
            groups.measures.iter().all(counts) && *value == Value::Number(n)
        }
        // `no two orders have the same number`
        Check::Unique(_) => n <= 2.0,
        Check::Refers(_) => n <= 1.0,
        _ => false,
    }
}

/// Returns whether a condition compares something with this number.
fn compares(test: &Test, n: f64) -> bool {
    let number = Value::Number(n);
    match test {
        Test::Is(one, _, other) => *one == number || *other == number,
        Test::In(_, values) => values.contains(&number),
        Test::Not(test) => compares(test, n),
        Test::Any(tests) => tests.iter().any(|it| compares(it, n)),
        _ => false,
    }
}
