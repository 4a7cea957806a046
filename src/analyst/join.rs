//! How two tables go together: the column of one that names the rows of the other.

use crate::lexicon::{Cue, Lexicon};
use crate::query::{Join, Place};
use crate::schema::{Column, Kind, Table};

/// Returns how the second table goes with the first: by columns of the same name, or by one that names
/// the other table: `customer_id` and `id` of `customers`.
pub(crate) fn join_of(tables: &[Table], of: [usize; 2], lexicon: &Lexicon) -> Option<Join> {
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

